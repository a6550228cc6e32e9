//! Channels in one cycle, as reports show them.

/// A channel in one cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// The name of the channel.
    pub channel: String,
    /// Its pins.
    pub pins: Vec<&'static str>,
    /// The item on offer, in words; `None` while there is none.
    pub item: Option<String>,
    /// Whether the receiver can let an item wait.
    pub has_ready: bool,
    /// Whether the receiver takes the item in this cycle.
    pub is_taken: bool,
}

impl Transfer {
    /// A channel of a declaration. `lane` is given if it has several, and `item` is as `Debug`
    /// shows it.
    #[doc(hidden)]
    pub fn new(
        channel: &'static str,
        lane: Option<u32>,
        pins: &[&'static str],
        item: Option<String>,
        [has_ready, is_ready]: [bool; 2],
    ) -> Self {
        let is_taken = is_ready && item.is_some();
        Self {
            channel: lane.map_or(channel.to_owned(), |lane| format!("{channel}[{lane}]")),
            pins: pins.to_vec(),
            item: item.map(|item| in_words(&item)),
            has_ready,
            is_taken,
        }
    }
}

/// The name of an identifier.
fn plain(identifier: &str) -> &str {
    identifier.strip_prefix("r#").unwrap_or(identifier)
}

/// An item as `Debug` shows it, without its type: `0x1` for `Push { data: 0x1 }`, and
/// `data 0x1, last 0x0` for two fields.
pub fn in_words(debug: &str) -> String {
    let Some((name, fields)) = debug.strip_suffix(" }").and_then(|text| text.split_once(" { "))
    else {
        let is_name = debug.starts_with(|c: char| c.is_ascii_uppercase());
        return if is_name && !debug.contains([' ', '(']) {
            String::new()
        } else {
            debug.to_owned()
        };
    };
    if name.contains(|c: char| !c.is_alphanumeric() && c != '_') || fields.contains('{') {
        return debug.to_owned();
    }
    // A comma inside of brackets belongs to a value.
    let mut depth = 0;
    let is_end = |letter: char| {
        depth += i32::from("[(".contains(letter)) - i32::from("])".contains(letter));
        letter == ',' && depth == 0
    };
    let fields = fields.split(is_end);
    let fields: Vec<(&str, &str)> =
        fields.filter_map(|field| field.trim_start().split_once(": ")).collect();
    match fields.as_slice() {
        [(_, value)] => (*value).to_owned(),
        fields => {
            let words = fields.iter().map(|(name, value)| format!("{} {value}", plain(name)));
            words.collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_its_value_or_the_values_of_its_fields() {
        for (debug, words) in [
            ("Push { data: 0x1 }", "0x1"),
            ("Beat { data: 0x1, last: 0x0 }", "data 0x1, last 0x0"),
            ("Beat { r#type: 0x1, last: 0x0 }", "type 0x1, last 0x0"),
            ("Beat { data: [0x1, 0x2] }", "[0x1, 0x2]"),
            ("0x7", "0x7"),
            ("Empty", ""),
            ("Some(0x1)", "Some(0x1)"),
            ("Outer { inner: Inner { data: 0x1 } }", "Outer { inner: Inner { data: 0x1 } }"),
        ] {
            assert_eq!(in_words(debug), words, "{debug}");
        }
    }
}
