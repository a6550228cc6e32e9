//! Several clocks: which of them rise at the end of each step.
//!
//! RTL with several clocks has a wrapper (docs/how-to/wrap-rtl.md) with an input for each clock,
//! which says that this clock rises at the end of the step. [`Clocks`] derives those inputs from
//! periods, phases and jitter in integer units of time. A step ends at the next time at which any
//! clock rises, so no step is empty, and clocks with the same edge rise together.

use super::draw::Draw;
use super::environment::TrafficError;
use super::rng::CaseRng;
use crate::value::Uint;
use rand::{RngExt, SeedableRng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The times at which a clock rises, in units that all clocks of a case share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockTiming {
    /// Time from one edge to the next, at least 1.
    pub period: Uint<12>,
    /// Time of the first edge.
    #[serde(default)]
    pub phase: Uint<12>,
    /// Most time by which an edge is late, less than the period.
    #[serde(default)]
    pub jitter: Uint<12>,
}

impl Default for ClockTiming {
    fn default() -> Self {
        Self::new(1, 0)
    }
}

impl ClockTiming {
    /// A clock without jitter.
    pub const fn new(period: u64, phase: u64) -> Self {
        Self { period: Uint::new(period), phase: Uint::new(phase), jitter: Uint::new(0) }
    }

    /// Draws the timing of all clocks of a case: the same clock, the same period with other phases,
    /// a whole ratio, or any periods, phases and jitter.
    pub fn draw<const N: usize>(rng: &mut CaseRng) -> [Self; N] {
        let kind = rng.random_range(0..6);
        let base = rng.random_range(1..=8);
        std::array::from_fn(|_| match kind {
            0 => Self::new(1, 0),
            1 => Self::new(base, rng.random_range(0..base)),
            2 => Self::new(base * rng.one_of(&[1, 2, 3, 4, 8]), rng.random_range(0..base)),
            _ => {
                let period = rng.random_range(3..=100);
                let jitter = if kind == 5 { rng.random_range(0..=period / 3) } else { 0 };
                Self { jitter: Uint::new(jitter), ..Self::new(period, rng.random_range(0..period)) }
            }
        })
    }

    /// Checks the timing of all clocks of a traffic; `path` is their place in it.
    ///
    /// # Errors
    /// The first clock that cannot be generated.
    pub fn check(clocks: &[Self], path: &str) -> Result<(), TrafficError> {
        for (index, clock) in clocks.iter().enumerate() {
            let wrong = |field: &str, message: &str| {
                let path = format!("{path}[{index}].{field}");
                Err(TrafficError { path, message: message.to_owned() })
            };
            if clock.period.get() == 0 {
                return wrong("period", "0; a period is at least 1");
            }
            if clock.jitter.get() >= clock.period.get() {
                return wrong("jitter", "not less than the period, so edges would change places");
            }
        }
        Ok(())
    }
}

/// The clocks that rise at the end of a step, by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RisingClocks(u64);

impl RisingClocks {
    /// Whether a clock rises.
    pub const fn contains(self, clock: usize) -> bool {
        self.0 >> clock & 1 == 1
    }

    /// How many rise.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }
}

#[derive(Debug, Clone)]
struct RunningClock {
    timing: ClockTiming,
    /// The time of the next edge without its jitter.
    nominal: u64,
    /// The time of the next edge.
    next: u64,
    rng: CaseRng,
}

impl RunningClock {
    fn late(&mut self) -> u64 {
        match self.timing.jitter.get() {
            0 => 0,
            most => self.rng.random_range(0..=most),
        }
    }
}

/// The clocks of a case. The same timing and seed give the same steps.
#[derive(Debug, Clone)]
pub struct Clocks {
    clocks: Vec<RunningClock>,
    now: u64,
}

impl Clocks {
    /// The largest number of clocks.
    pub const CAPACITY: usize = 64;

    /// Clocks with these timings; `seed` decides their jitter.
    ///
    /// # Panics
    /// If there are more than [`Clocks::CAPACITY`].
    pub fn new(timings: &[ClockTiming], seed: u64) -> Self {
        assert!(timings.len() <= Self::CAPACITY, "a block has at most 64 clocks");
        let start = |(index, timing): (usize, &ClockTiming)| {
            let nominal = timing.phase.get();
            let rng = CaseRng::seed_from_u64(seed ^ (index as u64 + 1));
            let mut clock = RunningClock { timing: *timing, nominal, next: nominal, rng };
            clock.next += clock.late();
            clock
        };
        Self { clocks: timings.iter().enumerate().map(start).collect(), now: 0 }
    }

    /// Goes to the next time at which a clock rises, and returns all clocks that rise then.
    pub fn step(&mut self) -> RisingClocks {
        let mut rising = 0;
        let Some(now) = self.clocks.iter().map(|clock| clock.next).min() else {
            return RisingClocks(0);
        };
        self.now = now;
        for (index, clock) in self.clocks.iter_mut().enumerate() {
            if clock.next == now {
                rising |= 1 << index;
                // A period of 0 is no legal timing; its clock rises in every unit of time.
                clock.nominal += clock.timing.period.get().max(1);
                clock.next = (clock.nominal + clock.late()).max(now + 1);
            }
        }
        RisingClocks(rising)
    }

    /// The time of the last step.
    pub const fn now(&self) -> u64 {
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(timings: &[ClockTiming], seed: u64, count: usize) -> Vec<u64> {
        let mut clocks = Clocks::new(timings, seed);
        (0..count).map(|_| clocks.step().0).collect()
    }

    #[test]
    fn the_same_clock_rises_in_every_step() {
        assert_eq!(steps(&[ClockTiming::default(); 3], 1, 4), [0b111; 4]);
    }

    #[test]
    fn ratio_and_phase_say_which_clocks_rise() {
        let timings = [ClockTiming::new(2, 0), ClockTiming::new(3, 1)];
        // At the times 0, 1, 2, 4, 6, 7, 8, 10: the second clock rises at 1, 4, 7, 10.
        let expected = [0b01, 0b10, 0b01, 0b11, 0b01, 0b10, 0b01, 0b11];
        assert_eq!(steps(&timings, 1, 8), expected);
        let mut clocks = Clocks::new(&timings, 1);
        let times: Vec<u64> = (0..8)
            .map(|_| {
                clocks.step();
                clocks.now()
            })
            .collect();
        assert_eq!(times, [0, 1, 2, 4, 6, 7, 8, 10]);
    }

    #[test]
    fn jitter_is_bounded_and_keeps_the_number_of_edges() {
        let jitter = Uint::new(9);
        let timings = [ClockTiming { jitter, ..ClockTiming::new(10, 3) }];
        let times = |seed| {
            let mut clocks = Clocks::new(&timings, seed);
            (0..500).map(|_| (clocks.step().count(), clocks.now()).1).collect::<Vec<u64>>()
        };
        let late: Vec<u64> =
            times(1).iter().enumerate().map(|(edge, time)| time - (3 + 10 * edge as u64)).collect();
        assert!(late.iter().all(|late| *late <= 9), "{late:?}");
        assert!(late.contains(&0) && late.contains(&9), "{late:?}");
        assert_eq!(times(1), times(1), "the same seed gives the same steps");
        assert_ne!(times(1), times(2));
    }

    #[test]
    fn no_step_is_empty_and_every_clock_rises() {
        for seed in 0..200 {
            let mut rng = CaseRng::seed_from_u64(seed);
            let timings: [ClockTiming; 2] = ClockTiming::draw(&mut rng);
            ClockTiming::check(&timings, "clocks").unwrap();
            let all = steps(&timings, seed, 400);
            assert!(all.iter().all(|rising| *rising != 0), "{timings:?}");
            assert_eq!(all.iter().fold(0, |one, other| one | other), 0b11, "{timings:?}");
        }
    }

    #[test]
    fn drawn_timings_are_of_all_kinds() {
        let mut rng = CaseRng::seed_from_u64(1);
        let drawn: Vec<[ClockTiming; 2]> = (0..100).map(|_| ClockTiming::draw(&mut rng)).collect();
        let some = |is: &dyn Fn(&[ClockTiming; 2]) -> bool| drawn.iter().any(is);
        assert!(some(&|[a, b]| a == b));
        assert!(some(&|[a, b]| a.period == b.period && a.phase != b.phase));
        assert!(some(&|[a, b]| a.period.get() > 2 * b.period.get()));
        assert!(some(&|[a, b]| b.period.get() > 2 * a.period.get()));
        assert!(some(&|[a, _]| a.jitter.get() > 0));
    }

    #[test]
    fn timings_that_cannot_be_generated_are_refused() {
        let check = |clock| ClockTiming::check(&[ClockTiming::default(), clock], "clocks");
        let error = check(ClockTiming::new(0, 0)).unwrap_err();
        assert_eq!(error.path, "clocks[1].period");
        let error = check(ClockTiming { jitter: Uint::new(4), ..ClockTiming::new(4, 0) });
        assert_eq!(error.unwrap_err().path, "clocks[1].jitter");
        assert!(check(ClockTiming { jitter: Uint::new(3), ..ClockTiming::new(4, 0) }).is_ok());
    }
}
