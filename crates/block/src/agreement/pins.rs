//! Random pins from power-on.
//!
//! Pins that are random in every bit and cycle keep most designs in reset or far from their states.
//! So each run has its own probability of a reset, and each port its own way to change.

use super::RandomPins;
use cosim_harness::harness::CaseRng;
use rand::{RngExt as _, SeedableRng as _};
use verilated::Port;

/// How a port changes.
#[derive(Clone, Copy)]
enum Style {
    /// Each bit is random.
    Uniform,
    /// Few bits are 1.
    Sparse,
    /// Few bits are 0.
    Dense,
    /// Only the lowest bits may be 1.
    Small,
}

/// The bytes of the inputs of a run, for a struct of `size` bytes. `reset` is the name of the reset
/// and its active level.
pub fn random(
    ports: &[Port],
    size: usize,
    reset: Option<(&str, bool)>,
    pins: RandomPins,
    run: u32,
) -> Vec<u8> {
    let mut rng = CaseRng::seed_from_u64(u64::from(pins.seed) << 32 | u64::from(run));
    // Some runs begin in reset, and some never reset.
    let resets: u32 = [0, 1, 8, 128][rng.random_range(0..4)];
    let begins_in_reset = rng.random();
    let holds: u32 = [0, 128, 224][rng.random_range(0..3)];
    let styles = [Style::Uniform, Style::Sparse, Style::Dense, Style::Small];
    let styles: Vec<Style> = ports.iter().map(|_| styles[rng.random_range(0..4)]).collect();
    let mut now = vec![0; size];
    let mut all = Vec::with_capacity(size * pins.cycles as usize);
    for cycle in 0..pins.cycles {
        for (port, style) in ports.iter().zip(&styles) {
            if let Some((_, level)) = reset.filter(|(name, _)| *name == port.name) {
                let is_active =
                    rng.random_range(0..256) < resets || (cycle == 0 && begins_in_reset);
                now[port.offset] = u8::from(is_active == level);
                continue;
            }
            if cycle > 0 && rng.random_range(0..256) < holds {
                continue;
            }
            for byte in 0..port.width.div_ceil(8) {
                let [one, other]: [u8; 2] = rng.random();
                let value = match style {
                    Style::Uniform => one,
                    Style::Sparse => one & other,
                    Style::Dense => one | other,
                    Style::Small if byte == 0 => one & 3,
                    Style::Small => 0,
                };
                let used = (port.width - 8 * byte).min(8);
                now[port.offset + byte as usize] = value & (0xff >> (8 - used));
            }
        }
        all.extend_from_slice(&now);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_reset_in_some_runs_only_and_stay_within_their_widths() {
        let ports =
            [Port { name: "rst_n", width: 1, offset: 0 }, Port { name: "d", width: 11, offset: 2 }];
        let pins = RandomPins { seed: 1, runs: 64, cycles: 100 };
        let (mut never, mut at_power_on, mut values) = (0, 0, [0_u8; 2]);
        for run in 0..pins.runs {
            let bytes = random(&ports, 4, Some(("rst_n", false)), pins, run);
            assert_eq!(bytes.len(), 400);
            assert_eq!(bytes, random(&ports, 4, Some(("rst_n", false)), pins, run));
            never += u32::from(bytes.chunks(4).all(|cycle| cycle[0] == 1));
            at_power_on += u32::from(bytes[0] == 0);
            for cycle in bytes.chunks(4) {
                assert!(cycle[0] <= 1 && cycle[1] == 0 && cycle[3] < 8, "{cycle:?}");
                values = [values[0] | cycle[2], values[1] | cycle[3]];
            }
        }
        assert!(never > 0 && never < 32 && at_power_on > 16 && at_power_on < 64);
        assert_eq!(values, [0xff, 7], "each bit is 1 in some cycle");
    }
}
