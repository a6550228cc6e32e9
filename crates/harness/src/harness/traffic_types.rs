//! The `traffic!` macro, which declares the types that a vector stores.

use super::environment::TrafficError;
use super::reset::Reset;

/// Declares the types of a traffic: structs with the derives that a vector needs. A file must not
/// have other fields. A field with `= default` may be left out, and is left out when it has the
/// default of its type.
///
/// ```
/// use cosim_harness::value::Uint;
///
/// cosim_harness::traffic! {
///     /// A packet.
///     pub struct Packet {
///         /// Cycles before it is offered.
///         gap: Uint<12> = default,
///         /// Its data.
///         data: Uint<8>,
///     }
/// }
/// let packet: Packet = serde_json::from_str(r#"{"data":7}"#).unwrap();
/// assert_eq!(packet, Packet { gap: Uint::new(0), data: Uint::new(7) });
/// assert_eq!(serde_json::to_string(&packet).unwrap(), r#"{"data":7}"#);
/// ```
#[macro_export]
macro_rules! traffic {
    ($( $(#[$meta:meta])* $visible:vis struct $name:ident {
        $( $(#[$field_meta:meta])* $field:ident: $ty:ty $(= $default:ident)?, )*
    } )+) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Default, PartialEq, Eq,
                     ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
            #[serde(deny_unknown_fields)]
            $visible struct $name {
                $(
                    $(#[$field_meta])*
                    $( #[serde($default, skip_serializing_if = "is_default")] )?
                    $visible $field: $ty,
                )*
            }
        )+

        /// Whether a vector leaves out a field.
        #[allow(dead_code)]
        fn is_default<T: Default + PartialEq>(value: &T) -> bool {
            *value == T::default()
        }
    };
}

/// Checks the resets that follow the entries of the list `name`.
///
/// # Errors
/// The first reset without a cycle.
pub fn check_resets(
    name: &str,
    resets: impl IntoIterator<Item = Option<Reset>>,
) -> Result<(), TrafficError> {
    let is_empty = |reset: Option<Reset>| reset.is_some_and(|reset| reset.cycles.get() == 0);
    match resets.into_iter().position(is_empty) {
        None => Ok(()),
        Some(index) => Err(TrafficError {
            path: format!("{name}[{index}].reset.cycles"),
            message: "0; a reset lasts at least one cycle".to_owned(),
        }),
    }
}
