//! The parameters of the RTL beside its mask of fixes, and the profiles.

use super::Dll;
use cosim_core::harness::{Parameter, Parameters, Profile};

/// Index of the entries of the replay buffer.
pub const REPLAY_DEPTH: usize = 0;
/// Index of the cycles until A replays all unacknowledged TLPs.
pub const REPLAY_LIMIT: usize = 1;
/// Index of the cycles from a good TLP to its Ack.
pub const ACKNAK_LATENCY: usize = 2;

/// The parameters, as the specification's section 1 has them.
pub const PARAMETERS: [Parameter; 3] = [
    Parameter {
        name: "REPLAY_DEPTH",
        default: 16,
        least: 2,
        most: 2048,
        power_of_two: true,
        about: "entries of the replay buffer",
    },
    Parameter {
        name: "REPLAY_LIMIT",
        default: 64,
        least: 2,
        most: 65_535,
        power_of_two: false,
        about: "cycles until A replays all unacknowledged TLPs",
    },
    Parameter {
        name: "ACKNAK_LATENCY",
        default: 16,
        least: 2,
        most: 65_535,
        power_of_two: false,
        about: "cycles from a good TLP to its Ack",
    },
];

const fn parameters(fixes: u8, depth: u64, limit: u64, latency: u64) -> Parameters {
    Parameters::of::<Dll>(fixes)
        .with(REPLAY_DEPTH, depth)
        .with(REPLAY_LIMIT, limit)
        .with(ACKNAK_LATENCY, latency)
}

/// The profiles of the specification's section 1.
///
/// Of the mask only F0 does anything: `small` has all other bits, `large` F0 alone, so that RTL that looks at
/// another bit is seen.
pub const PROFILES: [Profile; 4] = [
    Profile::new("spec", Parameters::of::<Dll>(0x00)),
    Profile::new("repaired", Parameters::of::<Dll>(0xff)),
    Profile::new("small", parameters(0xfe, 2, 12, 2)),
    Profile::new("large", parameters(0x01, 128, 500, 120)),
];

/// Cycles that a replay takes beyond one for each entry: those in which the rewind and the first load
/// are seen, and the beat that was on offer.
const REPLAY_OVERHEAD: u64 = 4;

/// Whether a replay over a link that is always ready comes to the buffer's end before the timer
/// expires again. If it does not, `spec` may not deliver all it took (specification, section 10).
pub fn replays_end(parameters: &Parameters) -> bool {
    parameters.get(REPLAY_DEPTH) + REPLAY_OVERHEAD <= parameters.get(REPLAY_LIMIT)
}
