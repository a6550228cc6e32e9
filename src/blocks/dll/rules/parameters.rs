//! The parameters of the RTL beside its mask of fixes, and the profiles.

use crate::blocks::dll::Dll;
use cosim_core::harness::{Parameter, Parameters, Profile};

/// Index of the number of replay buffer entries.
pub const REPLAY_DEPTH: usize = 0;
/// Index of the number of cycles until A replays all unacknowledged TLPs.
pub const REPLAY_LIMIT: usize = 1;
/// Index of the number of cycles from a good TLP to its Ack.
pub const ACKNAK_LATENCY: usize = 2;

/// The parameters of section 1 of the specification.
pub const PARAMETERS: [Parameter; 3] = [
    Parameter::new("REPLAY_DEPTH", 16, 2..=2048, "entries of the replay buffer").power_of_two(),
    Parameter::new(
        "REPLAY_LIMIT",
        64,
        2..=65_535,
        "cycles until A replays all unacknowledged TLPs",
    ),
    Parameter::new("ACKNAK_LATENCY", 16, 2..=65_535, "cycles from a good TLP to its Ack"),
];

const fn parameters(fixes: u8, depth: u64, limit: u64, latency: u64) -> Parameters {
    Parameters::with_fixes::<Dll>(fixes)
        .with(REPLAY_DEPTH, depth)
        .with(REPLAY_LIMIT, limit)
        .with(ACKNAK_LATENCY, latency)
}

/// The profiles of section 1 of the specification.
///
/// Only F0 of the mask has an effect. `small` sets all other bits and `large` sets only F0, so that
/// RTL that uses a wrong bit fails.
pub const PROFILES: [Profile; 4] = [
    Profile::new("spec", Parameters::with_fixes::<Dll>(0x00)),
    Profile::new("repaired", Parameters::with_fixes::<Dll>(0xff)),
    Profile::new("small", parameters(0xfe, 2, 12, 2)),
    Profile::new("large", parameters(0x01, 128, 500, 120)),
];

/// Cycles of a replay in addition to one per entry: for the rewind, the first load, and the TLP
/// that was on offer.
const REPLAY_OVERHEAD: u64 = 4;

/// Whether a replay over an always ready link reaches the end of the buffer before the timer
/// expires again. If not, `spec` may never deliver some TLPs (specification, section 10).
pub fn replays_end(parameters: &Parameters) -> bool {
    parameters.get(REPLAY_DEPTH) + REPLAY_OVERHEAD <= parameters.get(REPLAY_LIMIT)
}
