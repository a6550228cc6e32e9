//! Parts of the tests of this crate: structs of pins, and random numbers.

use cosim_harness::harness::CaseRng;
use rand::SeedableRng;

/// Declares a packed struct of pins: names, widths and storage, as generated code does.
macro_rules! pins {
    ($name:ident { $( $pin:ident: $width:literal $storage:ty, )* }) => {
        #[derive(
            Clone, Copy, Default, zerocopy::IntoBytes, zerocopy::Immutable,
            zerocopy::KnownLayout,
        )]
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

/// The random numbers of a seed.
pub fn rng(seed: u64) -> CaseRng {
    CaseRng::seed_from_u64(seed)
}
