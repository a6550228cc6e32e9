//! Parts of the tests of this crate: structs of pins, and random numbers.

use cosim_harness::agent::{Agent, Pace};
use cosim_harness::channels::{SinkWeights, SourceWeights};
use cosim_harness::harness::{CaseRng, Noise};
use rand::{RngExt, SeedableRng};
use verilated::Pins;

/// Declares a packed struct of pins: names, widths and storage, as generated code does.
macro_rules! pins {
    ($name:ident { $( $pin:ident: $width:literal $storage:ty, )* }) => {
        #[derive(Clone, Copy, Default)]
        #[repr(C, packed)]
        pub struct $name {
            $( pub $pin: verilated::Bits<$width, $storage>, )*
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }

        // SAFETY: the table lists the fields, with their offsets.
        unsafe impl verilated::Pins for $name {
            const PORTS: &'static [verilated::Port] = &[
                $( verilated::Port {
                    name: stringify!($pin),
                    width: $width,
                    offset: std::mem::offset_of!($name, $pin),
                }, )*
            ];
        }
    };
}
pub(crate) use pins;

/// Runs an agent for 400 cycles with random values on the pins of the DUT, with resets.
pub fn runs_with_any_outputs<'a, I: Pins, O: Pins, A: Agent<'a, I, O>>(
    pins: A::Pins,
    traffic: &'a A::Traffic,
) {
    let (rng, mut noise) = (&mut rng(1), Noise::new(1));
    let mut agent = A::new(pins, traffic);
    let mut handshakes = 0;
    let (mut inputs, mut bytes) = (I::default(), vec![0; size_of::<O>()]);
    for cycle in 0..400 {
        let in_reset = cycle % 100 > 97;
        rng.fill(&mut bytes[..]);
        agent.drive(in_reset, &mut noise, &mut inputs);
        let progress = agent.clock(in_reset, &inputs, &O::from_bytes(&bytes));
        handshakes = progress.counts.handshakes;
        agent.in_flight();
    }
    assert!(handshakes > 0);
}

/// The random numbers of a seed.
pub fn rng(seed: u64) -> CaseRng {
    CaseRng::seed_from_u64(seed)
}

/// A pace without gaps and stalls.
pub fn full_speed() -> Pace {
    let (source, sink) = (SourceWeights::new(0, 0), SinkWeights::new(0, 0));
    Pace { source, sink, errors: None }
}
