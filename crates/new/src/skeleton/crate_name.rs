//! Names of new crates.

use crate::names::is_keyword;
use serde::Serialize;

/// A valid name for a crate, a folder and a block: lower-case letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct CrateName(pub(super) String);

impl CrateName {
    const MAX_LENGTH: usize = 64;
    /// Names that are reserved by cargo or are dependencies of the crate.
    const TAKEN: [&str; 16] = [
        "alloc",
        "build",
        "core",
        "cosim-build",
        "cosim-core",
        "deps",
        "examples",
        "incremental",
        "proc-macro",
        "rand",
        "rtl",
        "schemars",
        "serde",
        "std",
        "test",
        "worker",
    ];

    /// The identifier of the library and of the block.
    pub(super) fn identifier(&self) -> String {
        self.0.replace('-', "_")
    }

    /// The name of the block's type. The suffix `Block` avoids conflicts with other types.
    pub(super) fn type_name(&self) -> String {
        let capital = |word: &str| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| {
                first.to_ascii_uppercase().to_string() + letters.as_str()
            })
        };
        let words = self.0.strip_suffix("block").and_then(|rest| rest.strip_suffix(['-', '_']));
        let words = words.unwrap_or(&self.0).split(['-', '_']);
        words.map(capital).chain(["Block".to_owned()]).collect()
    }
}

impl std::fmt::Display for CrateName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for CrateName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_word = |word: &str| {
            !word.is_empty()
                && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
        };
        let begins = text.starts_with(|letter: char| letter.is_ascii_lowercase());
        if !begins || !text.split(['-', '_']).all(is_word) || text.len() > Self::MAX_LENGTH {
            return Err(format!(
                "expected a name for a crate: at most {} lower-case letters and digits, with single - or _ \
                 between words",
                Self::MAX_LENGTH
            ));
        }
        if is_keyword(text) || Self::TAKEN.contains(&text.replace('_', "-").as_str()) {
            return Err(
                "is reserved, so no crate can have it as its name; choose another".to_owned()
            );
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_names_can_a_crate_have() {
        for good in ["arbiter", "my-block", "my_block", "b2", "fifo-v2"] {
            assert!(good.parse::<CrateName>().is_ok(), "{good}");
        }
        let long = "a".repeat(65);
        for bad in [
            "",
            "-a",
            "a-",
            "a--b",
            "a_-b",
            "2b",
            "_a",
            "Arbiter",
            "a b",
            "a/b",
            "..",
            "a.b",
            "é",
            "fn",
            "test",
            "std",
            "cosim-core",
            "cosim_core",
            "serde",
            &long,
        ] {
            assert!(bad.parse::<CrateName>().is_err(), "{bad}");
        }
        let name: CrateName = "my-block_2".parse().unwrap();
        assert_eq!(name.identifier(), "my_block_2");
        assert_eq!(name.type_name(), "MyBlock2Block");
        for (name, expected) in [("wide-block", "WideBlock"), ("block", "BlockBlock")] {
            assert_eq!(name.parse::<CrateName>().unwrap().type_name(), expected);
        }
    }
}
