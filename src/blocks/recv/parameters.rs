//! The parameters of the RTL beside its mask of fixes, and the profiles.

use super::Recv;
use cosim_core::harness::{Parameter, Parameters, Profile};

/// Index of the number of buffers below which the ring is refilled.
pub const LOW: usize = 0;
/// Index of the number of buffers up to which it is refilled.
pub const HIGH: usize = 1;
/// Index of the number of free buffers below which unexpected messages are copied.
pub const KEEP: usize = 2;

/// Whether F0, bit 0 of the mask of fixes, is on.
pub const fn is_repaired(parameters: &Parameters) -> bool {
    parameters.fixes() & 1 == 1
}

/// The parameters, as the specification's section 1 has them.
pub const PARAMETERS: [Parameter; 3] = [
    Parameter {
        name: "LOW",
        default: 4,
        least: 1,
        most: 255,
        power_of_two: false,
        about: "the ring is refilled when it holds fewer buffers",
    },
    Parameter {
        name: "HIGH",
        default: 16,
        least: 1,
        most: 255,
        power_of_two: false,
        about: "buffers of the full ring",
    },
    Parameter {
        name: "KEEP",
        default: 8,
        least: 0,
        most: 255,
        power_of_two: false,
        about: "with fewer free buffers unexpected messages are copied",
    },
];

const fn parameters(fixes: u8, low: u64, high: u64, keep: u64) -> Parameters {
    Parameters::of::<Recv>(fixes).with(LOW, low).with(HIGH, high).with(KEEP, keep)
}

/// The profiles of the specification's section 1.
///
/// Of the mask only F0 does anything: `small` has all other bits, `large` F0 alone, so that RTL that looks at
/// another bit is seen.
pub const PROFILES: [Profile; 5] = [
    Profile::new("spec", Parameters::of::<Recv>(0x00)),
    Profile::new("repaired", Parameters::of::<Recv>(0xff)),
    Profile::new("small", parameters(0xfe, 1, 2, 3)),
    Profile::new("large", parameters(0x01, 120, 200, 40)),
    Profile::new("inverted", parameters(0x01, 9, 5, 6)),
];

/// Buffers that a case has at most.
const BUFFERS: u64 = 255;

/// Buffers in the pool at the beginning, if a traffic wants `wanted`: all buffers can be counted with 8 bits.
pub fn pool(wanted: u64, parameters: &Parameters) -> u64 {
    wanted.min(BUFFERS - parameters.get(HIGH))
}
