//! Tests that codes are unique and used, and that the page lists all of them.

use super::{ALL, Code, GROUPS, WIDTH, page};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The sources of all crates that construct errors, without spaces.
fn sources() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = WalkDir::new(folder).into_iter().map(|entry| entry.unwrap().into_path());
    let is_counted = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "rs")
            && !path.to_string_lossy().contains("error/codes")
            && !path.ends_with("tests.rs")
    };
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let text = text.split_once("#[cfg(test)]\nmod tests {").map_or(&*text, |(code, _)| code);
        (path, text.split_whitespace().collect())
    };
    files.filter(is_counted).map(read).collect()
}

#[test]
fn codes_are_unique_sorted_and_in_a_group() {
    assert!(ALL.is_sorted_by(|a, b| a.number() < b.number()));
    let names: BTreeSet<&str> = ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), ALL.len());
    for code in ALL {
        let digits = code.number().strip_prefix('E').unwrap();
        assert!(digits.len() == 4 && digits.parse::<u16>().is_ok(), "{code:?}");
        assert!(GROUPS.iter().any(|(prefix, _)| code.number().starts_with(prefix)), "{code:?}");
        assert_eq!(Code::find(code.number()), Some(*code));
        assert_eq!(Code::find(&code.name().to_lowercase()), Some(*code));
    }
    assert_eq!(Code::find("E0000"), None);
}

#[test]
fn a_code_crosses_the_wire() {
    for code in ALL {
        let bytes = postcard::to_stdvec(code).unwrap();
        assert_eq!(postcard::from_bytes::<Code>(&bytes).unwrap(), *code);
    }
}

#[test]
fn each_code_is_used() {
    let sources = sources();
    for code in ALL {
        let word = format!("codes::{}", code.name());
        let is_used = |text: &str| {
            text.match_indices(&word).any(|(at, _)| {
                !text[at + word.len()..].starts_with(|c: char| c == '_' || c.is_alphanumeric())
            })
        };
        assert!(sources.iter().any(|(_, text)| is_used(text)), "{code:?} is not used");
    }
}

/// The class of a code must match the variant of `Error` that uses it.
#[test]
fn the_class_of_a_code_fits_the_variant() {
    let variants =
        [("Usage(", 2), ("File{code:", 2), ("Input{code:", 2), ("Lost(", 1), ("Environment(", 3)];
    let mut checked = 0;
    for (path, text) in sources() {
        for (variant, exit) in variants {
            for (at, word) in text.match_indices(&format!("Error::{variant}codes::")) {
                let name: String = text[at + word.len()..]
                    .chars()
                    .take_while(|c| *c == '_' || c.is_ascii_uppercase() || c.is_ascii_digit())
                    .collect();
                let code = Code::find(&name).unwrap_or_else(|| panic!("{path:?}: {name}"));
                assert_eq!(code.exit(), exit, "{path:?}: {variant}{code:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn the_page_explains_each_code_in_lines_that_fit() {
    let text = page();
    for code in ALL {
        assert!(text.contains(&format!("### {code}: ")), "{code:?}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= WIDTH, "{line}");
    }
}
