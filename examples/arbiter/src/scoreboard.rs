//! The checks at transaction level. The scoreboard follows beats from the requesters to the output.
//! It shares nothing with the golden model.

use crate::rtl::{Inputs, Outputs};
use crate::{Beat, MAX_BEATS, Out, Traffic};
use cosim_core::channels::{Delivery, RoundRobin, SinkItem as _, SourceItem as _, grant_checks};
use cosim_core::harness::{self, Parameters, Violation};
use cosim_core::value::Uint;

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    max_beats: u64,
    /// Beats of the current packet accepted so far; 0 between packets.
    beats: u64,
    requests: RoundRobin<4>,
    out: Delivery<Out>,
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        [grant_checks("req"), Delivery::<Out>::checks("out")].concat()
    }

    fn new(_: &Traffic, parameters: &Parameters) -> Self {
        Self {
            max_beats: parameters.get(MAX_BEATS),
            beats: 0,
            requests: RoundRobin::new("req"),
            out: Delivery::new("out", Some(1)),
        }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let (in_reset, shown) = (crate::in_reset(inputs), Out::offered(outputs));
        let leaves = self.out.observe(in_reset, shown, Out::is_ready(inputs))?;
        if in_reset {
            self.requests.reset();
            self.beats = 0;
        }
        let (valid, ready) = (inputs.req_valid.get(), outputs.req_ready.get());
        let has_room = !in_reset && (shown.is_none() || leaves);
        if let Some(n) = self.requests.observe(valid, ready, has_room)?
            && let Some(Beat { data, last }) = Beat::offered_at(n, inputs)
        {
            let is_cut = !last.is_high() && self.beats + 1 == self.max_beats;
            let ends = last.is_high() || is_cut;
            let src = Uint::new(u64::from(n));
            self.out.expect(Out { data, src, last: ends.into(), cut: is_cut.into() });
            self.beats = if ends { 0 } else { self.beats + 1 };
            self.requests.record_item(n, ends);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.out.finish()
    }
}
