//! Rejects files that Verilator must not open: pipes and devices, which never end, and files that
//! are too large.
//!
//! Verilator finds files by the names of modules and by the paths in includes. So this module
//! checks the files with Verilog extensions in each searched folder, and the files that texts
//! include.

use super::given::{UserRtl, folder_of};
use cosim_base::error::Error;
use cosim_base::files::{LARGEST_INPUT, open_input, read_input};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Extensions of files that Verilator may open although nobody named them.
pub const ENDINGS: [&str; 7] = ["v", "sv", "vh", "svh", "h", "inc", "vlt"];
const INCLUDE: &str = "`include";

/// Checks everything that Verilator may open.
///
/// # Errors
/// [`Error::File`] for the first pipe, device or file that is too large.
pub fn check(given: &UserRtl) -> Result<(), Error> {
    for folder in &given.folders {
        for entry in fs::read_dir(&folder.path).into_iter().flatten().flatten() {
            check_entry(&entry.path(), &given.extensions)?;
        }
    }
    let mut texts: Vec<PathBuf> = given.sources.iter().chain(&given.libraries).cloned().collect();
    let mut known: BTreeSet<PathBuf> = texts.iter().cloned().collect();
    let mut words_known = BTreeSet::new();
    while let Some(path) = texts.pop() {
        let text = read_input(&path, LARGEST_INPUT)?;
        for words in included(&String::from_utf8_lossy(&text)) {
            let beside = folder_of(&path).join(&words);
            let elsewhere = match words_known.insert(words.clone()) {
                true => given.folders.iter().map(|folder| folder.path.join(&words)).collect(),
                false => Vec::new(),
            };
            for path in [beside].into_iter().chain(elsewhere) {
                if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_dir())
                    && known.insert(path.clone())
                {
                    texts.push(path);
                }
            }
        }
    }
    Ok(())
}

/// Checks an entry of a folder, if it has a Verilog extension or one of `others`.
///
/// # Errors
/// [`Error::File`] if it is a pipe or a device.
pub fn check_entry(path: &Path, others: &[String]) -> Result<(), Error> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let name = path.to_string_lossy();
    let counts = ENDINGS.iter().any(|known| ending == *known)
        || others.iter().any(|other| name.ends_with(other.as_str()));
    match fs::metadata(path) {
        Ok(metadata) if counts && !metadata.is_file() && !metadata.is_dir() => {
            open_input(path).map(drop)
        }
        _ => Ok(()),
    }
}

/// The files that a text may include, even in comments. If an include uses a macro, every string of
/// the text is returned.
fn included(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut has_macro = false;
    for (at, _) in text.match_indices(INCLUDE) {
        let rest = text[at + INCLUDE.len()..].trim_start();
        let end = match rest.chars().next() {
            Some('"') => '"',
            Some('<') => '>',
            Some('`') => {
                has_macro = true;
                continue;
            }
            _ => continue,
        };
        words.extend(rest[1..].split(end).next().map(str::to_owned));
    }
    if has_macro {
        // A macro that makes a string of its argument ends with a back quote.
        let strings = text.split('"').skip(1).step_by(2);
        words.extend(strings.map(|word| word.trim_end_matches('`').to_owned()));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::included;

    #[test]
    fn what_a_text_includes() {
        assert_eq!(included("`include \"a.vh\"\n  `include<b/c.vh> // x"), ["a.vh", "b/c.vh"]);
        assert!(included("`include_x \"a\" `include").is_empty());
        assert_eq!(included("`define H \"h.vh\"\n`include `H"), ["h.vh"]);
        assert_eq!(included("`define H `\"h.vh`\"\n`include `H"), ["h.vh"]);
    }
}
