//! The parameters of the RTL beside its mask of fixes, and the profiles.

use super::super::Recv;
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

/// The parameters of section 1 of the specification.
pub const PARAMETERS: [Parameter; 3] = [
    Parameter::new("LOW", 4, 1..=255, "the ring is refilled when it holds fewer buffers"),
    Parameter::new("HIGH", 16, 1..=255, "buffers of the full ring"),
    Parameter::new("KEEP", 8, 0..=255, "with fewer free buffers unexpected messages are copied"),
];

const fn parameters(fixes: u8, low: u64, high: u64, keep: u64) -> Parameters {
    Parameters::with_fixes::<Recv>(fixes).with(LOW, low).with(HIGH, high).with(KEEP, keep)
}

/// The profiles of section 1 of the specification.
///
/// Only F0 of the mask has an effect. `small` sets all other bits and `large` sets only F0, so that
/// RTL that uses a wrong bit fails.
pub const PROFILES: [Profile; 5] = [
    Profile::new("spec", Parameters::with_fixes::<Recv>(0x00)),
    Profile::new("repaired", Parameters::with_fixes::<Recv>(0xff)),
    Profile::new("small", parameters(0xfe, 1, 2, 3)),
    Profile::new("large", parameters(0x01, 120, 200, 40)),
    Profile::new("inverted", parameters(0x01, 9, 5, 6)),
];

const BUFFERS: u64 = 255;

/// Initial number of free buffers. `wanted` is reduced so that 8 bits can count all buffers.
pub fn pool(wanted: u64, parameters: &Parameters) -> u64 {
    wanted.min(BUFFERS - parameters.get(HIGH))
}
