//! Names and texts in generated files.
//!
//! RTL may come from anyone, and escaped identifiers of Verilog contain any character. Generated
//! code is compiled and runs without a sandbox. So templates receive names only as a [`Word`], an
//! [`Ident`] or a [`Text`], none of which can end the identifier, literal or comment around it.

use cosim_base::text;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// Names of fields to which `bindgen` appends an underscore.
const KEYWORDS: &str = "abstract alignof as async await become box break const continue crate do dyn else enum \
    extern false final fn for gen if impl in let loop macro match mod move mut offsetof override priv proc pub pure ref \
    return Self self sizeof static struct super trait true try type typeof unsafe unsized use virtual where while yield \
    str bool f32 f64 usize isize u128 i128 u64 i64 u32 i32 u16 i16 u8 i8 _";

/// Whether a name is none of a field in Rust, or of one that `bindgen` generates.
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.split_whitespace().any(|keyword| keyword == name)
}

/// Fields beside the channels in what `channels!` generates.
const FIELDS: &str = "clocks longest_setting noise raw_cycles_per_packet reset settings";
/// Values of the prelude. A tuple struct of this name would hide them.
const VALUES: &str = "Err None Ok Some";

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// A name of ASCII letters, digits and `_`, as it is shown. Every literal, comment and page can
/// hold it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Word(String);

impl Word {
    /// The name; other characters become `_`.
    pub fn new(name: &str) -> Self {
        Self(name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect())
    }
}

impl Word {
    /// The bits `msb:lsb`.
    pub fn range(msb: u32, lsb: u32) -> Self {
        Self(format!("{msb}:{lsb}"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Ident(String);

impl Ident {
    /// The name of a field: other characters than ASCII letters, digits and `_` become `_`, and `_`
    /// follows a keyword, as `bindgen` writes it.
    pub fn field(name: &str) -> Self {
        let Word(mut name) = Word::new(name);
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            name.insert_str(0, "element_");
        }
        if is_keyword(&name) {
            name.push('_');
        }
        Self(name)
    }

    /// The name of a type or of a variant: the words of a name, each with a capital letter.
    pub fn camel(name: &str) -> Self {
        let is_mixed = name.chars().any(char::is_lowercase);
        let word = |word: &str| -> String {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            let rest = letters.as_str();
            let rest = if is_mixed { rest.to_owned() } else { rest.to_ascii_lowercase() };
            first.into_iter().collect::<String>() + &rest
        };
        let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
        let mut name: String = words.map(word).collect();
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || name == "Self" {
            name.insert(0, 'V');
        }
        Self(name)
    }

    /// The name of the constant with the ports of an agent, as `declare!` writes it.
    pub fn constant(field: &Self) -> Self {
        Self(field.0.to_uppercase())
    }

    #[cfg(test)]
    pub fn has_end(&self, end: &str) -> bool {
        self.0.trim_end_matches(|letter: char| letter.is_ascii_digit()).ends_with(end)
    }

    /// The name as a member of something, which is left out if it is the only one.
    pub fn member(&self, of: &str, is_only: bool) -> String {
        if is_only { self.0.clone() } else { format!("{of}_{}", self.0) }
    }

    pub fn word(&self) -> Word {
        Word(self.0.clone())
    }

    /// The name of the items of a channel. Nothing else in generated code ends in `Item`.
    pub fn item(channel: &str) -> Self {
        Self(format!("{}Item", Self::camel(channel).0))
    }

    pub fn joined(&self, other: &Self) -> Self {
        Self(format!("{}Of{}", self.0, other.0))
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Default)]
pub struct Scope(BTreeSet<String>);

impl Scope {
    /// The scope of the structs of ports, in a module of their own.
    pub fn for_types() -> Self {
        Self(VALUES.split_whitespace().map(str::to_owned).collect())
    }

    pub fn for_channels() -> Self {
        Self(FIELDS.split_whitespace().map(str::to_owned).collect())
    }

    pub fn has_free(&self, name: &Ident) -> bool {
        !self.0.contains(&name.0)
    }

    /// Takes the name, with a number behind it if it is not free.
    pub fn unique(&mut self, name: Ident) -> Ident {
        let mut free = name.clone();
        for number in 2.. {
            if self.0.insert(free.0.clone()) {
                break;
            }
            // `a_2`, but `A2`.
            let separator = if name.0.starts_with(char::is_uppercase) { "" } else { "_" };
            free = Ident(format!("{}{separator}{number}", name.0));
        }
        free
    }
}

/// Any text, in the form of each place that can hold it. It has no form without a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Text {
    rust: String,
    /// A code span of Markdown on one line, for pages and for doc comments.
    markdown: String,
    toml: String,
}

impl Text {
    pub fn new(text: &str) -> Self {
        Self { rust: format!("{text:?}"), markdown: text::markdown(text), toml: toml_string(text) }
    }
}

pub fn toml_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    /// Names that Verilog permits as escaped identifiers, and worse ones.
    pub const HOSTILE: [&str; 22] = [
        "A\"),};std::process::Command::new(\"x\")",
        "\"",
        "\\",
        "\\\"",
        "*/fn/*",
        "//",
        "`",
        "```",
        "{{x}}",
        "{%x%}",
        "#]",
        "a\nb",
        "a\rb",
        "\u{202e}x",
        "\u{e4}",
        "",
        "_",
        "0",
        "Self",
        "self",
        "r#type",
        "\u{0}\u{7f}",
    ];

    /// A name of random characters, most of which mean something in some format.
    pub fn random(rng: &mut StdRng) -> String {
        const LETTERS: &str = "aZ_0 \"'\\/*`{}%#()[]<>;:,.!$&|\n\r\t\u{7f}\u{e4}\u{2028}\u{1f600}";
        let letters: Vec<char> = LETTERS.chars().collect();
        (0..rng.random_range(0..12)).map(|_| letters[rng.random_range(0..letters.len())]).collect()
    }

    /// Hostile names, then random ones.
    pub fn names() -> impl Iterator<Item = String> {
        let mut rng = StdRng::seed_from_u64(44);
        let all = HOSTILE.map(str::to_owned).into_iter();
        all.chain((0..2000).map(move |_| random(&mut rng)))
    }

    #[test]
    fn each_identifier_is_legal_and_unique_in_its_scope() {
        let is_legal = |Ident(name): &Ident| {
            name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && name.chars().all(is_plain)
                && !is_keyword(name)
        };
        let (mut fields, mut types) = (Scope::default(), Scope::for_types());
        let mut known = [BTreeSet::new(), BTreeSet::new()];
        for name in names() {
            let new = [fields.unique(Ident::field(&name)), types.unique(Ident::camel(&name))];
            for (ident, known) in new.into_iter().zip(&mut known) {
                assert!(is_legal(&ident), "{name:?}: {ident:?}");
                assert!(known.insert(ident.clone()), "{name:?}: {ident:?} twice");
            }
            assert!(Word::new(&name).0.chars().all(is_plain), "{name:?}");
        }
    }

    #[test]
    fn names_of_usual_rtl_stay_as_they_are() {
        for (name, field, camel) in [
            ("data", "data", "Data"),
            ("IDLE_STATE", "IDLE_STATE", "IdleState"),
            ("lane.0.valid", "lane_0_valid", "Lane0Valid"),
            ("0.valid", "element_0_valid", "V0Valid"),
            ("type", "type_", "Type"),
            ("Self", "Self_", "VSelf"),
            ("op_t", "op_t", "OpT"),
            ("a$b", "a_b", "AB"),
        ] {
            assert_eq!((Ident::field(name).0, Ident::camel(name).0), (field.into(), camel.into()));
        }
    }

    #[test]
    fn each_text_comes_back_from_its_literal() {
        for name in names() {
            let Text { rust, markdown, toml } = Text::new(&name);
            assert!(!rust.contains(['\n', '\r']) && rust.starts_with('"'), "{rust}");
            assert!(!markdown.contains(['\n', '\r']), "{markdown}");
            let table: toml::Table = toml::from_str(&format!("a = {toml}")).expect(&toml);
            assert_eq!(table["a"].as_str(), Some(name.as_str()));
        }
    }
}
