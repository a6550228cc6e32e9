//! Names of the files of failures.

use verilated_build::Hash;

/// How the name of a failure's explanation ends, which lies beside its vector.
pub const EXPLAINED: &str = ".explained.json";
/// Vectors written for one signature; further cases are counted only.
pub const VECTORS_PER_GROUP: u64 = 20;
/// Bytes of a file's name before its endings; file systems allow 255, and endings and partial names follow.
const LONGEST_STEM: usize = 160;

/// A text as the beginning of a file's name: letters, digits, `-`, `_` and `.`, and of a bounded length. Where
/// that takes something away, a hash tells it from others.
pub fn file_stem(text: &str) -> String {
    let simple = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = text.chars().map(simple).collect();
    if name.len() <= LONGEST_STEM {
        return name;
    }
    let mut hash = Hash::default();
    hash.add(text);
    let hash = hash.short();
    format!("{}-{hash}", &name[..LONGEST_STEM - hash.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_legal_bounded_and_different() {
        assert_eq!(file_stem("hang-S0-thread2/spec/smoke/0"), "hang-S0-thread2-spec-smoke-0");
        assert_eq!(file_stem("a\u{e9} \n\0*"), "a-----");
        let long = |last: &str| file_stem(&format!("{}/{last}", "x".repeat(5000)));
        assert_eq!(long("1").len(), LONGEST_STEM);
        assert_ne!(long("1"), long("2"));
    }
}
