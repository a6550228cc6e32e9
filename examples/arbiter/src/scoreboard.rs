//! The checks at transaction level. The scoreboard follows beats from the requesters to the output
//! and keeps its own order of turns. It shares nothing with the golden model.

use crate::rtl::{Inputs, Outputs};
use crate::stimulus::Traffic;
use crate::{Arbiter, MAX_BEATS, REQUESTERS};
use cosim_core::harness::{self, Counter, Parameters, Violation};
use std::fmt;

/// In reset nothing is offered and nothing is accepted.
const QUIET: &str = "quiet-in-reset";
/// At most one requester has ready.
const ONE: &str = "one-at-a-time";
/// No requester has ready while the output is stalled.
const STALLED: &str = "stalled-takes-nothing";
/// While the output can take a beat, an offered beat that may be accepted is accepted.
const WORKS: &str = "never-idle";
/// Packets are not interleaved.
const WHOLE: &str = "not-interleaved";
/// The winner is the first requester in turn.
const TURN: &str = "in-turn";
/// An accepted beat is on the output in the next cycle, unchanged.
const SENT: &str = "sent-as-taken";
/// An offer stays until it is accepted.
const HELD: &str = "offer-held";
/// Each beat on the output was accepted before.
const NOWHERE: &str = "nothing-from-nowhere";
/// A packet ends with its last beat, or is cut at the limit.
const ENDS: &str = "ends-as-it-should";
/// At the end every packet was accepted.
const COMPLETE: &str = "complete";

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    max_beats: u64,
    /// Number of beats in the traffic.
    beats: u64,
    was_reset: bool,
    /// Requesters in the order of their turns.
    row: [u64; REQUESTERS],
    /// The requester of the current packet, and the number of its beats accepted so far.
    under_way: Option<(u64, u64)>,
    /// The beat that the output must show, and whether it was shown before.
    inside: Option<(Beat, bool)>,
    counted: RequestCounts,
}

/// A beat inside the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Beat {
    src: u64,
    data: u64,
    ends: bool,
    cut: bool,
}

impl fmt::Display for Beat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x} of requester {}", self.data, self.src)?;
        let flags = [(self.ends, "out_last"), (self.cut, "out_cut")];
        flags.iter().filter(|(is_set, _)| *is_set).try_for_each(|(_, name)| write!(f, ", {name}"))
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct RequestCounts {
    packets: u64,
    beats: u64,
    cut: u64,
    contended: u64,
    lost: u64,
}

fn require(holds: bool, check: &str, message: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation::new(check, message())) }
}

impl Scoreboard {
    fn reset(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        let (ready, valid) = (outputs.req_ready.get(), outputs.out_valid.get());
        require(ready == 0 && valid == 0, QUIET, || {
            format!("req_ready is {ready:#x} and out_valid {valid} in reset")
        })?;
        self.counted.lost += u64::from(self.inside.is_some());
        self.row = [0, 1, 2, 3];
        (self.under_way, self.inside) = (None, None);
        Ok(())
    }

    /// Checks the output against the accepted beat.
    fn output(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        let shown = (outputs.out_valid.get() == 1).then(|| Beat {
            src: outputs.out_src.get(),
            data: outputs.out_data.get(),
            ends: outputs.out_last.get() == 1,
            cut: outputs.out_cut.get() == 1,
        });
        let seen_now = || shown.map_or("nothing".to_owned(), |shown| shown.to_string());
        let Some((beat, seen)) = self.inside else {
            return require(shown.is_none(), NOWHERE, || format!("{} was not taken", seen_now()));
        };
        let says = || format!("expected {beat}, seen {}", seen_now());
        require(!seen || shown == Some(beat), HELD, says)?;
        let same = shown.is_some_and(|shown| (shown.src, shown.data) == (beat.src, beat.data));
        require(same, SENT, says)?;
        require(shown == Some(beat), ENDS, says)?;
        self.inside = Some((beat, true));
        Ok(())
    }

    /// Checks which requesters have ready.
    fn ready(&self, valid: u64, ready: u64, room: bool) -> Result<(), Violation> {
        let says = || format!("req_ready is {ready:#06b}, req_valid {valid:#06b}");
        require(ready.count_ones() <= 1, ONE, says)?;
        if !room {
            return require(ready == 0, STALLED, says);
        }
        if let Some((owner, _)) = self.under_way {
            require(ready & !(1 << owner) == 0, WHOLE, says)?;
            return require(ready == 1 << owner, WORKS, says);
        }
        require((valid & ready != 0) == (valid != 0), WORKS, says)?;
        let next = self.row.iter().find(|n| valid >> *n & 1 == 1);
        require(next.is_none_or(|n| ready == 1 << n), TURN, || {
            format!("{}; the row is {:?}", says(), self.row)
        })
    }

    /// Applies the accepted beat of requester `n`.
    fn take(&mut self, inputs: &Inputs, n: u64) {
        let beats = self.under_way.map_or(0, |(_, beats)| beats) + 1;
        let is_last = inputs.req_last.get() >> n & 1 == 1;
        let cut = !is_last && beats == self.max_beats;
        let data = inputs.req_data.get() >> (16 * n) & 0xffff;
        let ends = is_last || cut;
        self.inside = Some((Beat { src: n, data, ends, cut }, false));
        self.counted.contended += u64::from(beats == 1 && inputs.req_valid.get().count_ones() > 1);
        self.counted.beats += 1;
        self.counted.cut += u64::from(cut);
        self.counted.packets += u64::from(is_last);
        self.under_way = (!ends).then_some((n, beats));
        if ends {
            while self.row[REQUESTERS - 1] != n {
                self.row.rotate_left(1);
            }
        }
    }
}

impl<'a> harness::Scoreboard<'a, Arbiter> for Scoreboard {
    const CHECKS: &'static [&'static str] =
        &[QUIET, ONE, STALLED, WORKS, WHOLE, TURN, SENT, HELD, NOWHERE, ENDS, COMPLETE];

    fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        Self {
            max_beats: parameters.get(MAX_BEATS),
            beats: traffic.requesters.iter().flatten().map(|packet| packet.beats.get()).sum(),
            was_reset: traffic.requesters.iter().flatten().any(|packet| packet.reset.is_some()),
            row: [0, 1, 2, 3],
            under_way: None,
            inside: None,
            counted: RequestCounts::default(),
        }
    }

    #[inline]
    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        if inputs.rst.get() == 1 {
            return self.reset(outputs);
        }
        let (valid, ready) = (inputs.req_valid.get(), outputs.req_ready.get());
        self.output(outputs)?;
        let room = self.inside.is_none() || inputs.out_ready.get() == 1;
        self.ready(valid, ready, room)?;
        if inputs.out_ready.get() == 1 {
            self.inside = None;
        }
        if valid & ready != 0 {
            self.take(inputs, u64::from((valid & ready).trailing_zeros()));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        let RequestCounts { beats, .. } = self.counted;
        // A reset drops the rest of interrupted packets.
        require(self.was_reset || beats == self.beats, COMPLETE, || {
            format!("{beats} of {} beats were taken", self.beats)
        })?;
        require(self.inside.is_none(), COMPLETE, || "a beat did not come out".to_owned())
    }

    fn counters() -> Vec<Counter<Self>> {
        vec![
            Counter::sum("packets", |board| board.counted.packets),
            Counter::sum("beats", |board| board.counted.beats),
            Counter::sum("packets cut", |board| board.counted.cut),
            Counter::sum("contended wins", |board| board.counted.contended),
            Counter::sum("beats lost to resets", |board| board.counted.lost),
        ]
    }
}

#[cfg(test)]
mod tests;
