//! Paths of pages, for links and commands.

use std::path::{Component, Path, PathBuf};

/// The folder as an absolute path, for links to other runs.
pub fn absolute(folder: &Path) -> PathBuf {
    std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// A path relative to a folder. Both are absolute.
pub fn relative(folder: &Path, path: &Path) -> PathBuf {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (folder.components().collect(), path.components().collect());
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from[common..].iter().map(|_| Component::ParentDir);
    up.chain(to[common..].iter().copied()).collect()
}

/// A path as a word of a command, which is no option even if its name begins with `-`.
pub fn word(path: &Path) -> String {
    match path.display().to_string() {
        name if name.starts_with('-') => format!("./{name}"),
        name => name,
    }
}

pub fn href(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' | b'~' | b'+' => {
                text.push(char::from(byte));
            }
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_and_escaped() {
        let relative = |from: &str, to: &str| href(&relative(Path::new(from), Path::new(to)));
        assert_eq!(relative("/a/b", "/a/c/report.html"), "../c/report.html");
        assert_eq!(relative("/a", "/a/b/report.html"), "b/report.html");
        assert_eq!(relative("/a", "/a/b #1?/r.html"), "b%20%231%3F/r.html");
    }
}
