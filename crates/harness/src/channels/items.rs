//! Items: structs whose fields are the payload pins of a channel.

/// Declares the items of channels: a struct for each, with a field for each payload pin. Use it
/// where a block needs an environment of its own, so that `declare!` does not fit.
///
/// ```ignore
/// cosim_core::items! {
///     pins Inputs { rst, cmd_notify };
///     /// A Modify QP.
///     pub struct Command on cmd_valid {
///         /// The QP.
///         qpn: cmd_qpn[8],
///         /// Service type.
///         service: cmd_service[3] of 1 = default,
///     }
/// }
/// ```
///
/// - `pins` names the struct of the pins with the valid of each item, and the pins that belong to
///   no item. A pin that is missing does not compile.
/// - `= default` leaves a field out of vectors, as in [`traffic!`](crate::traffic).
/// - `of N` takes the value of the idle pin from word N instead of word 0 of
///   [`IdleBits`](crate::harness::IdleBits). The order of the fields is the order of the bits.
///
/// An item has the functions `offered`, which reads it from the pins, and `drive`, which writes it.
#[macro_export]
macro_rules! items {
    (pins $pins:ident { $( $other:ident ),* }; $( $(#[$meta:meta])* pub struct $item:ident on $valid:ident {
        $( $(#[$field_meta:meta])*
            $field:ident: $pin:ident[$width:literal] $(of $word:literal)? $(= $default:ident)?, )+
    } )+) => {
        // No `..`: a pin that is in no item does not compile here.
        const _: fn(&$pins) = |pins| {
            let $pins { $( $valid: _, $( $pin: _, )+ )+ $( $other: _, )* padding: _ } = pins;
        };

        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq,
                     ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
            #[serde(deny_unknown_fields)]
            pub struct $item {
                $(
                    $(#[$field_meta])*
                    $( #[serde($default, skip_serializing_if = "is_default")] )?
                    pub $field: $crate::value::Uint<$width>,
                )+
            }

            #[allow(dead_code)]
            impl $item {
                /// The item on offer.
                #[inline]
                pub fn offered(pins: &$pins) -> ::core::option::Option<Self> {
                    pins.$valid.is_high().then(|| Self::pins(pins))
                }

                /// The payload pins, whether valid is high or not.
                #[inline]
                pub fn pins(pins: &$pins) -> Self {
                    Self { $( $field: $crate::value::Uint::new(pins.$pin.get()), )+ }
                }

                /// Drives an offer and its payload, or idle pins.
                #[inline]
                pub fn drive<const WORDS: usize>(
                    offer: ::core::option::Option<Self>,
                    idle: &mut $crate::harness::IdleBits<WORDS>,
                    pins: &mut $pins,
                ) {
                    pins.$valid = $crate::verilated::Bits::from(offer.is_some());
                    let noise = Self { $( $field: idle.take(0 $(+ $word)?), )+ };
                    let Self { $( $field, )+ } = offer.unwrap_or(noise);
                    $(
                        let pin: &mut $crate::verilated::Bits<$width, _> = &mut pins.$pin;
                        *pin = $crate::verilated::Bits::new($field.get());
                    )+
                }
            }
        )+
    };
}
