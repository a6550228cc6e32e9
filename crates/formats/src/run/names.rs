//! Names of the files of failures.

use verilated_build::Hash;

/// Suffix of the explanation of a failure, which lies beside its vector.
pub const EXPLAINED: &str = ".explained.json";
/// Number of vectors written per signature; further cases are only counted.
pub const VECTORS_PER_GROUP: u64 = 20;
/// Maximum length of a file stem in bytes. File systems allow 255, with extensions and partial
/// names.
const LONGEST_STEM: usize = 160;

/// Converts a text to a file stem of letters, digits, `-`, `_` and `.` with limited length. A
/// truncated stem gets a hash, so that it stays unique.
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
