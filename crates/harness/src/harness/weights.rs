//! Weights and scenarios as data: the `weights!` macro declares a struct of weights, and a TOML
//! text holds the scenarios of a block.

use super::checked::Checked;
use super::draw::Percent;
use super::generator::Scenario;
use super::span::Span;
use crate::json::{self, Misread, Tree};
use crate::value::Uint;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// A weight whose default `weights!` writes as a `Text`: a number, a range, or a value of its own
/// type.
pub trait Weight<Text> {
    /// The weight of this text.
    fn from_text(text: Text) -> Self;
}

impl Weight<u64> for Percent {
    fn from_text(percent: u64) -> Self {
        Self::new(percent)
    }
}

impl<const WIDTH: u32> Weight<u64> for Uint<WIDTH> {
    fn from_text(value: u64) -> Self {
        Self::new(value)
    }
}

impl<const WIDTH: u32, const LEAST: u64> Weight<RangeInclusive<u64>> for Span<WIDTH, LEAST> {
    fn from_text(range: RangeInclusive<u64>) -> Self {
        Self::new(*range.start(), *range.end())
    }
}

impl<W: Checked> Weight<W> for W {
    fn from_text(weights: W) -> Self {
        weights
    }
}

/// Declares structs of weights: for each field its type and its default, which is a number, a
/// range, or another struct of weights.
///
/// Each struct gets `Default`, `Serialize`, `Deserialize` and
/// [`Checked`](crate::harness::Checked). A file may leave out fields, and must not have others.
/// `check` rejects values that are wrong together; it runs whenever the struct is read.
///
/// ```
/// use cosim_harness::harness::{Percent, Span, beyond_all};
///
/// cosim_harness::weights! {
///     /// What the generator draws how often.
///     pub struct Weights {
///         /// Queue pairs of a case.
///         qps: Span<8, 1> = 1..=4,
///         /// Packets that are lost.
///         lost: Percent = 10,
///         /// Packets that are damaged.
///         damaged: Percent = 5,
///     }
///     check |weights| beyond_all(&[("lost", weights.lost), ("damaged", weights.damaged)]);
/// }
///
/// let weights: Weights = serde_json::from_str(r#"{ "lost": 20 }"#).unwrap();
/// assert_eq!((weights.lost.get(), weights.damaged.get()), (20, 5));
/// assert!(serde_json::from_str::<Weights>(r#"{ "lost": 96 }"#).is_err());
/// ```
#[macro_export]
macro_rules! weights {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* $field:ident: $ty:ty = $default:expr, )*
        }
        $( check $check:expr; )?
    )*) => { $(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        // `remote` derives plain functions, so that `Deserialize` below can call them and check.
        #[serde(deny_unknown_fields, default, remote = "Self")]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $ty, )*
        }

        impl ::core::default::Default for $name {
            fn default() -> Self {
                Self { $( $field: $crate::harness::Weight::from_text($default), )* }
            }
        }

        impl $crate::harness::Checked for $name {
            $( fn objection(&self) -> ::core::option::Option<::std::string::String> {
                let check: fn(&Self) -> ::core::option::Option<::std::string::String> = $check;
                check(self)
            } )?
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::harness::without_objection(Self::deserialize(deserializer)?)
            }
        }
    )* };
}

/// The scenarios of a TOML text: `[[scenario]]`, each with `name`, `about`, `weights` and maybe
/// `long`.
///
/// A weight that a scenario leaves out has its default, also inside another struct of weights.
///
/// # Panics
/// If the text is no list of scenarios. It is part of the program, so the authors of the block see
/// it: the check `scenarios_can_be_read_again` reads the scenarios of a block.
pub fn scenarios_from<W: Checked + Serialize + DeserializeOwned>(text: &str) -> Vec<Scenario<W>> {
    let read = |scenario: Map<String, Value>| {
        with_defaults::<W>(scenario).read().unwrap_or_else(|Misread { place, message, .. }| {
            panic!("a built-in scenario cannot be read: {place}: {message}")
        })
    };
    scenarios_in(text).into_iter().map(read).collect()
}

fn scenarios_in(text: &str) -> Vec<Map<String, Value>> {
    let file = toml::from_str::<File>(text);
    file.unwrap_or_else(|error| panic!("built-in scenarios cannot be read: {error}")).scenario
}

fn scenario_in(text: &str) -> Result<Map<String, Value>, toml::de::Error> {
    toml::from_str(text)
}

/// The scenario of a TOML text: `name`, `about`, `weights` and maybe `long`.
///
/// # Errors
/// With line and column, unless weights are only wrong together with defaults.
pub fn scenario_from<W: Checked + Serialize + DeserializeOwned>(
    text: &str,
) -> Result<Scenario<W>, toml::de::Error> {
    with_defaults::<W>(scenario_in(text)?).read().map_err(|misread| {
        // Nodes of the text have a place.
        let in_text = Tree::from_toml(text)
            .and_then(|tree| tree.read::<Scenario<W>>().map_err(|misread| misread.in_toml(text)));
        in_text.err().unwrap_or_else(|| toml::de::Error::custom(misread.message))
    })
}

/// The built-in scenarios of a block, as text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    scenario: Vec<Map<String, Value>>,
}

/// A scenario, of which the weights that it leaves out are those of an empty file.
fn with_defaults<W: Serialize + DeserializeOwned>(scenario: Map<String, Value>) -> Tree {
    let defaults = json::from_value::<W>(&Value::Object(Map::new())).ok();
    // Weights without defaults are none.
    let defaults = defaults.and_then(|weights| json::to_text(&weights).ok());
    merged(defaults.as_deref().unwrap_or("{}"), scenario)
}

/// A scenario whose weights replace defaults, which are JSON.
fn merged(defaults: &str, mut scenario: Map<String, Value>) -> Tree {
    let mut weights = serde_json::from_str(defaults).unwrap_or_default();
    if let Some(given) = scenario.remove("weights") {
        replace(&mut weights, given);
    }
    scenario.insert("weights".to_owned(), weights);
    Tree::from_value(&Value::Object(scenario))
}

/// Replaces what `given` has, field by field.
fn replace(value: &mut Value, given: Value) {
    match (value, given) {
        (Value::Object(fields), Value::Object(given)) => {
            for (name, given) in given {
                replace(fields.entry(name).or_insert(Value::Null), given);
            }
        }
        (value, given) => *value = given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::beyond_all;

    crate::weights! {
        /// Faults of a link.
        pub struct Faults {
            /// Lost.
            lost: Percent = 5,
            /// Damaged.
            damaged: Percent = 0,
        }
        check |faults| beyond_all(&[("lost", faults.lost), ("damaged", faults.damaged)]);

        /// All weights.
        pub struct Weights {
            /// Queue pairs.
            qps: Span<8, 1> = 1..=4,
            /// Longest gap.
            longest_gap: Uint<12> = 9,
            /// Faults, other ones than usual.
            faults: Faults = Faults { damaged: Percent::new(60), ..Faults::default() },
        }
    }

    #[test]
    fn scenarios_have_the_defaults_of_the_struct_around_them() {
        let read = scenarios_from::<Weights>(
            r#"
            [[scenario]]
            name = "default"
            about = "as it is"
            [[scenario]]
            name = "lossy"
            about = "losses"
            long = { percent = 3, packets = [4, 5] }
            [scenario.weights]
            qps = [2, 0x10]
            faults.lost = 20
            "#,
        );
        assert_eq!(read[0], Scenario::new("default", "as it is", Weights::default()));
        let faults = Faults { lost: Percent::new(20), damaged: Percent::new(60) };
        let weights = Weights { qps: Span::new(2, 16), faults, ..Weights::default() };
        let lossy = Scenario::new("lossy", "losses", weights);
        assert_eq!(read[1], lossy.with_long(3, Span::new(4, 5)));
    }

    /// The message about weights in the third line, and its place in the text.
    fn weights_error(weights: &str) -> (String, Option<std::ops::Range<usize>>) {
        let text = format!("name = 'x'\nabout = 'x'\nweights = {weights}");
        let error = scenario_from::<Weights>(&text).unwrap_err();
        (error.message().to_owned(), error.span())
    }

    #[test]
    fn errors_have_a_place() {
        let (message, place) = weights_error("{ gap = 1 }");
        assert!(message.contains("unknown field `gap`"), "{message}");
        assert_eq!(place, Some(35..38));
        let (message, place) = weights_error("{ faults = { lost = 101 } }");
        assert!(message.contains("a percentage from 0 to 100"), "{message}");
        assert_eq!(place, Some(53..56));
        let (message, _) = weights_error("{ faults = { lost = 50, damaged = 51 } }");
        assert!(message.contains("lost and damaged exclude each other"), "{message}");
        // Too much with the default of 60 percent damaged alone.
        let (message, _) = weights_error("{ faults = { lost = 50 } }");
        assert!(message.contains("are 110 percent"), "{message}");
        assert!(scenario_from::<Weights>("name = 'x").is_err());
    }
}
