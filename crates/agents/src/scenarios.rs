//! The scenarios that a block of agents has without any of its own.

use cosim_harness::channels::{self, ChannelScenario, SinkWeights, SourceWeights};
use cosim_harness::harness::{Percent, Scenario, Span};
use cosim_harness::value::Uint;

/// Operations of a long case. About half of them are writes, so that a bug behind a counter of ten
/// bits shows in it, whatever is counted.
const LONG: Span<20, 1> = Span::new(2_300, 2_800);

/// How a scenario changes the weights of each agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pace {
    /// Gaps of those who send.
    pub source: SourceWeights,
    /// Stalls of those who receive.
    pub sink: SinkWeights,
    /// Chance that an operation asks for an error, or that an answer is one. `None`: as the weights
    /// have it.
    pub errors: Option<Percent>,
}

impl Pace {
    /// The latency of an agent that answers.
    pub fn latency(&self) -> SourceWeights {
        SourceWeights { gap: self.sink.stall, longest_gap: self.sink.longest_stall }
    }
}

/// The default scenarios. `adapt` gives the weights of the block for a pace, the chance of a
/// reset in percent, and cycles of unconstrained stimulus per operation. Gaps and stalls are
/// `slowness` times as long as those of channels.
pub fn default_scenarios<W: PartialEq>(
    has_reset: bool,
    has_raw: bool,
    slowness: u64,
    adapt: impl Fn(&Pace, u64, u64) -> W,
) -> Vec<Scenario<W>> {
    let slower = |cycles: Uint<12>| {
        let limit = (1 << 12) - 1;
        Uint::new(cycles.get().saturating_mul(slowness).min(limit))
    };
    let scenario = |of: &ChannelScenario, errors| {
        let SourceWeights { gap, longest_gap } = of.source;
        let SinkWeights { stall, longest_stall } = of.sink;
        let source = SourceWeights { gap, longest_gap: slower(longest_gap) };
        let sink = SinkWeights { stall, longest_stall: slower(longest_stall) };
        Scenario::new(of.name, of.about, adapt(&Pace { source, sink, errors }, of.reset, of.raw))
    };
    let all = channels::default_scenarios(has_reset, has_raw);
    let mut scenarios: Vec<_> = all.iter().map(|of| scenario(of, None)).collect();
    let more = |name, about, [gap, longest_gap]: [u64; 2], [stall, longest_stall]: [u64; 2]| {
        let source = SourceWeights::new(gap, longest_gap);
        let sink = SinkWeights::new(stall, longest_stall);
        ChannelScenario { name, about, source, sink, reset: 0, raw: 0 }
    };
    let about = "rare stalls that outlast a slow protocol and fill its buffers";
    scenarios.push(scenario(&more("long-stalls", about, [20, 6], [1, 4000]), None));
    let long = more("long-runs", "a share of cases with over 2,000 transfers", [20, 4], [20, 4]);
    scenarios.push(scenario(&long, None).with_long(10, LONG));
    // Without agents that know errors, the scenario would be one that exists.
    let errors = more("errors", "error responses, asked for and given", [40, 12], [40, 12]);
    let [with, without] = [Some(Percent::new(20)), None].map(|chance| scenario(&errors, chance));
    if with.weights != without.weights {
        scenarios.push(with);
    }
    scenarios
}
