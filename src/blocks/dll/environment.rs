//! The environment: the source of TLPs at A, and the link between A and B.
//!
//! It follows the lists of the traffic, with the handshakes of the golden model. A ready without
//! a stall is high before its valid. A stalled ready rises after the given number of cycles of
//! valid.

mod link;

use super::rtl::{Bits1, Bits12, Bits32, Inputs, Outputs};
use super::rules::parameters::{ACKNAK_LATENCY, REPLAY_LIMIT, replays_end};
use super::traffic::{self, DllpDamage, LinkEffect, TlpDamage, Tlps, Traffic};
use cosim_core::harness::{self, Noise, Parameters, Reset, ResetTimer, longest, longest_reset};
use cosim_core::value::Uint;
use link::{CAPACITY, Lane, LinkEffects};

/// Idle cycles at the end, after the last Ack is due. Nothing may happen in them.
const DRAIN: u64 = 8;
/// Cycles to wait after a duplicate, beyond the latency of an Ack, to be sure that B does not
/// answer it.
const SILENCE: u64 = 4;
/// Cycles without progress to tolerate in addition to the delays of the traffic.
const SLACK: u64 = 64;
/// Number of replays and answers that may follow without progress after the end of the lists.
const ROUNDS: u64 = 4;

/// The environment of one case.
#[derive(Debug, Clone)]
pub struct Environment<'a> {
    noise: Noise,
    source: Source<'a>,
    link: Link<'a>,
    reset: ResetTimer,
    progress_timeout: u64,
}

/// The link between A and B.
#[derive(Debug, Clone)]
pub(crate) struct Link<'a> {
    tlps: Lane<'a, Tlp>,
    tlp_effects: LinkEffects<'a, TlpDamage>,
    dllps: Lane<'a, Dllp>,
    ack_effects: LinkEffects<'a, DllpDamage>,
    nak_effects: LinkEffects<'a, DllpDamage>,
    /// Cycles of the stall of section 10 of the specification since a duplicate arrived that B has
    /// not answered. B has every TLP that A holds and answers no more, and A gets no new TLP.
    /// Without F0 the stall is permanent, so the case ends.
    silent_cycles: Option<u64>,
    /// Number of such cycles after which the stall is certain.
    certain_after: u64,
    /// A replay may restart before it reaches the TLP that B expects, so that B stays silent.
    replays_may_not_end: bool,
    drain: u64,
    drained: u64,
    ackd_seq: u64,
    progress: u64,
}

/// The state of the source, as the link needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceState {
    /// A has accepted all TLPs.
    pub(crate) is_used_up: bool,
    /// A gets more TLPs, whatever B does.
    pub(crate) goes_on: bool,
}

#[derive(Debug, Clone, Copy)]
struct Tlp {
    seq: Bits12,
    data: Bits32,
    crc_ok: bool,
}

impl Tlp {
    fn damaged(self, damage: &TlpDamage) -> Self {
        Self {
            seq: Bits12::new(self.seq.get() ^ damage.seq.get()),
            data: Bits32::new(self.data.get() ^ damage.data.get()),
            crc_ok: false,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Dllp {
    nak: bool,
    seq: Bits12,
    crc_ok: bool,
}

impl Dllp {
    fn damaged(self, damage: &DllpDamage) -> Self {
        Self {
            nak: self.nak != (damage.nak.get() == 1),
            seq: Bits12::new(self.seq.get() ^ damage.seq.get()),
            crc_ok: false,
        }
    }
}

/// Offers TLPs.
#[derive(Debug, Clone)]
struct Source<'a> {
    all: &'a [Tlps],
    /// Entries that are not used up; the first one is in progress.
    rest: &'a [Tlps],
    /// Number of TLPs of the first entry that A accepted.
    inside: u64,
    gap: u64,
    offered: bool,
    taken: u64,
}

impl<'a> Source<'a> {
    fn new(tlps: &'a [Tlps]) -> Self {
        let mut source =
            Self { all: tlps, rest: tlps, inside: 0, gap: 0, offered: false, taken: 0 };
        source.begin_entry();
        source
    }

    #[inline]
    fn begin_entry(&mut self) {
        self.inside = 0;
        self.gap = self.rest.first().map_or(0, |tlps| tlps.gap.get());
        self.offered = self.gap == 0 && !self.rest.is_empty();
    }

    #[inline]
    fn is_used_up(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    fn data(&self) -> u64 {
        self.rest.first().map_or(0, |tlps| tlps.data.get().wrapping_add(self.inside))
    }

    /// Advances one cycle. Returns the reset that follows the accepted TLP, if there is one.
    #[inline]
    fn clock(&mut self, ready: bool) -> Option<Reset> {
        if !self.offered {
            self.gap = self.gap.saturating_sub(1);
            self.offered = self.gap == 0 && !self.rest.is_empty();
            return None;
        }
        if !ready {
            return None;
        }
        self.taken += 1;
        self.inside += 1;
        let (entry, rest) = self.rest.split_first()?;
        if self.inside < entry.count() {
            return None;
        }
        self.rest = rest;
        self.begin_entry();
        entry.reset
    }
}

/// The longest delay in a list of link effects, in cycles.
fn longest_delay<Damage>(effects: &[LinkEffect<Damage>]) -> u64 {
    let effects = effects.iter().map(|effect| [effect.delay, effect.again]);
    effects.map(|delays| delays.into_iter().flatten().map(Uint::get).sum()).max().unwrap_or(0)
}

/// Cycles without progress that the traffic can cause.
#[inline]
pub(crate) fn progress_timeout(traffic: &Traffic, parameters: &Parameters) -> u64 {
    let waits = longest(traffic.tlps.iter().map(|tlps| tlps.gap))
        + longest_reset(traffic.tlps.iter().map(|tlps| tlps.reset))
        + longest(traffic.link_stalls.iter().copied())
        + longest(traffic.dllp_stalls.iter().copied());
    SLACK + waits + ROUNDS * round(traffic, parameters) + 2 * CAPACITY as u64
}

/// Maximum number of cycles from a transmission to its answer or repetition if the link is ready.
fn round(traffic: &Traffic, parameters: &Parameters) -> u64 {
    let tlps = traffic.tlp_delay.get().max(longest_delay(&traffic.tlp_link));
    let naks = longest_delay(&traffic.nak_link);
    let dllps = traffic.dllp_delay.get().max(longest_delay(&traffic.ack_link)).max(naks);
    parameters.get(REPLAY_LIMIT) + parameters.get(ACKNAK_LATENCY) + tlps + dllps
}

impl<'a> Link<'a> {
    pub(crate) fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        let latency = parameters.get(ACKNAK_LATENCY);
        let replays_may_not_end = !replays_end(parameters);
        // If replays may not end, only many replays in a row prove a stall.
        let certain_after = match replays_may_not_end {
            true => 2 * round(traffic, parameters) + 2 * CAPACITY as u64,
            false => latency + SILENCE,
        };
        Self {
            tlps: Lane::new(traffic.tlp_delay, &traffic.link_stalls),
            tlp_effects: LinkEffects::new(&traffic.tlp_link),
            dllps: Lane::new(traffic.dllp_delay, &traffic.dllp_stalls),
            ack_effects: LinkEffects::new(&traffic.ack_link),
            nak_effects: LinkEffects::new(&traffic.nak_link),
            silent_cycles: None,
            certain_after,
            replays_may_not_end,
            drain: latency + DRAIN,
            drained: 0,
            ackd_seq: 0,
            progress: 0,
        }
    }

    /// Drives the link's pins; `noise` is for idle payload.
    #[inline]
    pub(crate) fn drive(&self, noise: [u32; 2], inputs: &mut Inputs) {
        // Two sequence numbers of 12 bits, then flags.
        let [link_data, seqs] = noise;
        let flag = |index: u32| seqs >> (24 + index) & 1 == 1;
        inputs.a_link_ready = Bits1::from(self.tlps.ready());

        let dllp = self.dllps.arriving();
        inputs.a_dllp_valid = Bits1::from(dllp.is_some());
        let idle = Dllp { nak: flag(0), seq: Bits12::new(u64::from(seqs)), crc_ok: flag(1) };
        let Dllp { nak, seq, crc_ok } = dllp.unwrap_or(idle);
        inputs.a_dllp_nak = Bits1::from(nak);
        inputs.a_dllp_seq = seq;
        inputs.a_dllp_crc_ok = Bits1::from(crc_ok);

        let tlp = self.tlps.arriving();
        inputs.b_link_valid = Bits1::from(tlp.is_some());
        let seq = Bits12::new(u64::from(seqs >> 12));
        let idle = Tlp { seq, data: Bits32::new(u64::from(link_data)), crc_ok: flag(2) };
        let Tlp { seq, data, crc_ok } = tlp.unwrap_or(idle);
        inputs.b_link_seq = seq;
        inputs.b_link_data = data;
        inputs.b_link_crc_ok = Bits1::from(crc_ok);
        inputs.b_dllp_ready = Bits1::from(self.dllps.ready());
    }

    /// Advances one cycle. `steady`: no reset is active or planned.
    #[inline]
    pub(crate) fn clock(
        &mut self,
        inputs: &Inputs,
        outputs: &Outputs,
        supply: SourceState,
        steady: bool,
    ) {
        if inputs.rst.is_high() {
            // The link is reset together with the devices.
            self.tlps.flush();
            self.dllps.flush();
            self.silent_cycles = None;
            return;
        }
        let a_has = outputs.a_next_seq != outputs.b_next_rcv_seq;
        let never_comes = match self.replays_may_not_end {
            // As long as the link loses or delays TLPs, a later replay may reach further.
            true => self.tlps.is_steady() && self.tlp_effects.is_used_up(),
            false => !a_has && !supply.goes_on,
        };
        let stuck = outputs.b_nak_scheduled.is_high()
            && never_comes
            && steady
            && !outputs.b_dllp_valid.is_high()
            && self.dllps.is_empty();
        let unacknowledged = outputs.a_next_seq.get() != (outputs.a_ackd_seq.get() + 1) % 4096;
        let duplicate = inputs.b_link_valid.is_high() && inputs.b_link_crc_ok.is_high();
        let wanted = inputs.b_link_valid.is_high() && inputs.b_link_seq == outputs.b_next_rcv_seq;
        self.silent_cycles = match self.silent_cycles {
            _ if !stuck || !unacknowledged || wanted => None,
            Some(cycles) => Some(cycles + 1),
            None => duplicate.then_some(0),
        };

        let idle = supply.is_used_up
            && !unacknowledged
            && !outputs.a_link_valid.is_high()
            && !outputs.b_dllp_valid.is_high()
            && self.tlps.is_empty()
            && self.dllps.is_empty();
        self.drained = if idle { self.drained + 1 } else { 0 };

        self.progress += u64::from(outputs.b_deliver_valid.is_high());
        if outputs.a_ackd_seq.get() != self.ackd_seq {
            self.ackd_seq = outputs.a_ackd_seq.get();
            self.progress += 1;
        }
        if self.tlps.clock(outputs.a_link_valid.is_high()) {
            let (seq, data) = (outputs.a_link_seq, outputs.a_link_data);
            let tlp = Tlp { seq, data, crc_ok: true };
            self.tlps.send(tlp, self.tlp_effects.next_effect(), Tlp::damaged);
        }
        if self.dllps.clock(outputs.b_dllp_valid.is_high()) {
            let nak = outputs.b_dllp_nak.is_high();
            let dllp = Dllp { nak, seq: outputs.b_dllp_seq, crc_ok: true };
            let effects = if nak { &mut self.nak_effects } else { &mut self.ack_effects };
            self.dllps.send(dllp, effects.next_effect(), Dllp::damaged);
        }
    }

    /// Whether B is silent permanently although A waits for it.
    #[inline]
    pub(crate) fn is_stalled(&self) -> bool {
        self.silent_cycles.is_some_and(|cycles| cycles > self.certain_after)
    }

    /// Whether nothing more can happen on the link.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.drained >= self.drain || self.is_stalled()
    }

    /// Counts all movement so far. Only finite lists count, so that endless replays are not
    /// progress.
    #[inline]
    pub(crate) fn progress(&self) -> u64 {
        self.progress + self.tlps.used + self.dllps.used
    }
}

impl Environment<'_> {
    /// Describes the TLP that A accepted last and the next one.
    pub(super) fn in_flight(&self) -> Vec<String> {
        traffic::in_flight(self.source.all, self.source.taken)
    }
}

impl<'a> harness::Environment<'a, Inputs, Outputs, Traffic> for Environment<'a> {
    fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        Self {
            noise: Noise::new(traffic.noise.get()),
            source: Source::new(&traffic.tlps),
            link: Link::new(traffic, parameters),
            reset: ResetTimer::default(),
            progress_timeout: progress_timeout(traffic, parameters),
        }
    }

    #[inline]
    fn drive(&mut self, inputs: &mut Inputs) {
        let [data, link @ ..] = self.noise.words::<3>();
        let offered = self.source.offered;
        inputs.rst = Bits1::from(self.reset.asserted());
        inputs.a_tlp_valid = Bits1::from(offered);
        let data = if offered { self.source.data() } else { u64::from(data) };
        inputs.a_tlp_data = Bits32::new(data);
        self.link.drive(link, inputs);
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let ready = outputs.a_tlp_ready.is_high();
        let is_used_up = self.source.is_used_up();
        let supply = SourceState { is_used_up, goes_on: ready && !is_used_up };
        self.link.clock(inputs, outputs, supply, self.reset.is_over());
        if !inputs.rst.is_high()
            && let Some(reset) = self.source.clock(ready)
        {
            self.reset.start(reset);
        }
        self.reset.clock();
    }

    #[inline]
    fn finished(&self) -> bool {
        self.reset.is_over() && self.link.is_done()
    }

    #[inline]
    fn handshakes(&self) -> u64 {
        self.source.taken + self.link.progress()
    }

    #[inline]
    fn progress_timeout(&self) -> u64 {
        self.progress_timeout
    }

    fn packets(&self) -> u64 {
        self.source.taken
    }
}

#[cfg(test)]
mod tests;
