//! Functions on the JSON tree of a stimulus, with JSON pointers.

use serde_json::Value;

/// Selects lists by their nesting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Lists not inside another list.
    Outer,
    /// Lists inside lists.
    Inner,
}

/// Whether the name of a number contains one of the words for delays that a traffic declares.
pub fn is_wait(waits: &[&str], name: &str) -> bool {
    waits.iter().any(|wait| name.contains(wait))
}

/// The number of leaves of a value.
pub fn size(value: &Value) -> u64 {
    match value {
        Value::Array(list) => list.iter().map(size).sum(),
        Value::Object(map) => map.values().map(size).sum(),
        _ => 1,
    }
}

/// A value inside a stimulus.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub value: &'a Value,
    /// The field of the nearest object; empty if there is none.
    pub name: &'a str,
    /// The number of lists around the value.
    pub lists: usize,
    /// Whether it is a field of an object, and not an element of a list.
    pub is_field: bool,
}

impl Place<'_> {
    /// Whether it is a list of a depth.
    pub fn is_list(&self, depth: Depth) -> bool {
        self.value.is_array() && (self.lists > 0) == (depth == Depth::Inner)
    }

    /// Whether it is a number or hex string that is not 0.
    pub fn is_above_zero(&self) -> bool {
        let is_zero = matches!(self.value.as_u64(), Some(0)) || self.value.as_str() == Some("0x0");
        (self.value.is_number() || self.value.is_string()) && !is_zero
    }
}

/// JSON pointers to the wanted values, each before those inside it.
pub fn find(value: &Value, wanted: &dyn Fn(Place<'_>) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let whole = Place { value, name: "", lists: 0, is_field: false };
    find_inside(whole, String::new(), wanted, &mut found);
    found
}

fn find_inside(
    place: Place<'_>,
    at: String,
    wanted: &dyn Fn(Place<'_>) -> bool,
    found: &mut Vec<String>,
) {
    if wanted(place) {
        found.push(at.clone());
    }
    let Place { value, name, lists, .. } = place;
    match value {
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                let inside = Place { value, name, lists: lists + 1, is_field: false };
                find_inside(inside, format!("{at}/{index}"), wanted, found);
            }
        }
        Value::Object(map) => {
            for (name, value) in map {
                let inside = Place { value, name, lists, is_field: true };
                find_inside(inside, format!("{at}/{name}"), wanted, found);
            }
        }
        _ => {}
    }
}

/// Another value of the same kind, with a number of at most `width` bits.
pub fn drawn(value: &Value, width: u32, random: u64) -> Value {
    match value {
        Value::Bool(value) => Value::from(!value),
        value => with_number(value, random >> (64 - width)),
    }
}

/// Candidates for one element that replaces two adjacent ones: either of them, with one number
/// increased by that of the other, or to the largest 2^n - 1 below that sum.
pub fn joined(left: &Value, right: &Value, waits: &[&str]) -> Vec<Value> {
    let mut all = Vec::new();
    for (base, other) in [(left, right), (right, left)] {
        let is_number = |place: Place<'_>| place.is_above_zero() && !is_wait(waits, place.name);
        for pointer in find(base, &is_number) {
            let number = |value: &Value| value.pointer(&pointer).and_then(number);
            let (Some(base_number), Some(other_number)) = (number(base), number(other)) else {
                continue;
            };
            let Some(sum) = base_number.checked_add(other_number) else { continue };
            let ones = u64::MAX >> (sum | 1).leading_zeros() >> 1;
            for raised in [sum, ones] {
                let mut joined = base.clone();
                if raised > base_number
                    && let Some(value) = joined.pointer_mut(&pointer)
                {
                    *value = with_number(value, raised);
                    all.push(joined);
                }
            }
        }
    }
    all
}

/// The value of a JSON number or hex string.
pub fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => u64::from_str_radix(text.strip_prefix("0x")?, 16).ok(),
        value => value.as_u64(),
    }
}

/// A number in the format of `value`.
pub fn with_number(value: &Value, number: u64) -> Value {
    if value.is_string() { Value::from(format!("{number:#x}")) } else { Value::from(number) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn joined_elements_have_one_number_of_both() {
        let (left, right) =
            (json!({"gap": 3, "bytes": 5, "at": "0x10"}), json!({"gap": 1, "bytes": 2}));
        // 5 + 2 = 7 is 2^3 - 1, and the next smaller such number is 3. Delays are not added.
        let expected = [
            json!({"gap": 3, "bytes": 7, "at": "0x10"}),
            json!({"gap": 1, "bytes": 7}),
            json!({"gap": 1, "bytes": 3}),
        ];
        assert_eq!(joined(&left, &right, &["gap"]), expected);
    }

    #[test]
    fn hex_strings_stay_hex_strings() {
        let joined = joined(&json!({"at": "0xf0"}), &json!({"at": "0x20"}), &["gap"]);
        assert_eq!(joined[0], json!({"at": "0x110"}));
        assert_eq!(joined[1], json!({"at": "0xff"}));
    }

    #[test]
    fn lists_are_found_by_their_depth() {
        let value = json!({"packets": [{"units": [1, 2]}], "stalls": []});
        let find = |depth| find(&value, &|place| place.is_list(depth));
        assert_eq!(find(Depth::Outer), ["/packets", "/stalls"]);
        assert_eq!(find(Depth::Inner), ["/packets/0/units"]);
    }
}
