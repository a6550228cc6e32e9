//! Named fields of wide ports.

use verilated::Field;

/// A struct that [`layout!`](crate::layout) declares.
pub trait Layout {
    /// The fields' names and bit ranges.
    const FIELDS: &'static [(&'static str, Field)];
}

/// Declares a struct of the named fields of a wide port, with their bit ranges as in the
/// specification, and conversions from and to the port's bits.
///
/// Ranges that are not listed are reserved: `decode` ignores them, `encode` leaves them as they are in
/// its argument.
#[macro_export]
macro_rules! layout {
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $bits:ty {
            $( $(#[$field_meta:meta])* $field:ident [$msb:literal : $lsb:literal], )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[derive(::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $crate::value::Uint<{ $msb - $lsb + 1 }>, )*
        }

        impl $crate::harness::Layout for $name {
            const FIELDS: &'static [(&'static str, $crate::verilated::Field)] = Self::FIELDS;
        }

        impl $name {
            /// The fields' names and bit ranges.
            pub const FIELDS: &'static [(&'static str, $crate::verilated::Field)] =
                &[ $( (stringify!($field), $crate::verilated::Field::new($msb, $lsb)), )* ];

            /// The fields in `bits`.
            #[inline]
            pub fn decode(bits: &$bits) -> Self {
                Self {
                    $( $field: $crate::value::Uint::new(
                        bits.field(const { $crate::verilated::Field::new($msb, $lsb) })
                    ), )*
                }
            }

            /// `bits` with the fields replaced.
            #[inline]
            pub fn encode(&self, bits: $bits) -> $bits {
                bits $( .with(
                    const { $crate::verilated::Field::new($msb, $lsb) },
                    self.$field.get(),
                ) )*
            }
        }
    };
}
