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

/// The children of a value with their names.
fn children(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Array(list) => {
            list.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), value)).collect(),
        _ => Vec::new(),
    }
}

/// Collects pointers to the lists of a depth. `inside` counts the lists around `value`, which is at
/// `at`.
pub fn find_lists(value: &Value, at: String, inside: u32, depth: Depth, found: &mut Vec<String>) {
    let is_list = value.is_array();
    if is_list && (inside > 0) == (depth == Depth::Inner) {
        found.push(at.clone());
    }
    for (name, child) in children(value) {
        find_lists(child, format!("{at}/{name}"), inside + u32::from(is_list), depth, found);
    }
}

/// Collects pointers to numbers and hex strings. `name` is the field of the nearest object.
pub fn find_values(
    value: &Value,
    at: String,
    name: &str,
    wanted: &dyn Fn(&str) -> bool,
    found: &mut Vec<String>,
) {
    let is_zero = matches!(value.as_u64(), Some(0)) || value.as_str() == Some("0x0");
    if (value.is_number() || value.is_string()) && !is_zero && wanted(name) {
        found.push(at.clone());
    }
    for (key, child) in children(value) {
        let name = if value.is_object() { &key } else { name };
        find_values(child, format!("{at}/{key}"), name, wanted, found);
    }
}

/// Collects pointers to numbers, hex strings and booleans.
pub fn find_leaves(value: &Value, at: String, found: &mut Vec<String>) {
    if value.is_boolean() || number(value).is_some() {
        found.push(at.clone());
    }
    for (name, child) in children(value) {
        find_leaves(child, format!("{at}/{name}"), found);
    }
}

/// Another value of the same kind, with a number of at most `width` bits.
pub fn drawn(value: &Value, width: u32, random: u64) -> Value {
    match value {
        Value::Bool(value) => Value::from(!value),
        value => with_number(value, random >> (64 - width)),
    }
}

/// Collects pointers to fields of objects that are no lists.
pub fn find_objects(value: &Value, at: String, found: &mut Vec<String>) {
    for (name, child) in children(value) {
        let place = format!("{at}/{name}");
        if value.is_object() && !child.is_array() {
            found.push(place.clone());
        }
        find_objects(child, place, found);
    }
}

/// Candidates for one element that replaces two adjacent ones: either of them, with one number
/// increased by that of the other, or to the largest 2^n - 1 below that sum.
pub fn joined(left: &Value, right: &Value, waits: &[&str]) -> Vec<Value> {
    let mut all = Vec::new();
    for (base, other) in [(left, right), (right, left)] {
        let mut pointers = Vec::new();
        find_values(base, String::new(), "", &|name| !is_wait(waits, name), &mut pointers);
        for pointer in pointers {
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
        let find = |depth| {
            let mut found = Vec::new();
            find_lists(&value, String::new(), 0, depth, &mut found);
            found
        };
        assert_eq!(find(Depth::Outer), ["/packets", "/stalls"]);
        assert_eq!(find(Depth::Inner), ["/packets/0/units"]);
    }
}
