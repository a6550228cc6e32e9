//! Reads Verilog file lists (`-f`) as Verilator does.

use cosim_base::error::{Error, codes};
use cosim_base::files::{LARGEST_INPUT, read_input};
use std::env;
use std::path::{Path, PathBuf};

/// Maximum nesting of file lists.
const DEEPEST: usize = 16;
/// The supported entries, for messages.
const ALLOWED: &str = "is not supported in a file list; use files, -f, -F, -I, -D, -y, -v, +incdir+, +define+ and \
     +libext+";

/// The contents of file lists, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileListContents {
    pub sources: Vec<PathBuf>,
    /// Folders to search (`-I`, `-y`).
    pub include: Vec<PathBuf>,
    pub libraries: Vec<PathBuf>,
    pub defines: Vec<String>,
    /// Extensions of files that are searched for modules.
    pub extensions: Vec<String>,
}

/// A word of a list and its position, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    text: String,
    line: usize,
    column: usize,
}

impl FileListContents {
    /// Reads a list. Paths in it are relative to the working directory.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read. [`Error::Input`] for unsupported entries.
    pub fn read(&mut self, list: &Path) -> Result<(), Error> {
        self.read_below(list, None, 0)
    }

    /// `base` is the folder that paths are relative to: a list named by `-F` is relative to itself.
    fn read_below(&mut self, list: &Path, base: Option<&Path>, depth: usize) -> Result<(), Error> {
        if depth == DEEPEST {
            let message = "file lists include each other in a loop or are nested too deeply";
            return Err(Error::File {
                code: codes::BAD_FILE_LIST,
                path: list.to_owned(),
                message: message.to_owned(),
            });
        }
        let bytes = read_input(list, LARGEST_INPUT)?;
        let text = String::from_utf8_lossy(&bytes);
        let wrong = |word: &Word, message: String| Error::Input {
            code: codes::BAD_FILE_LIST,
            path: list.to_owned(),
            line: word.line,
            column: word.column,
            message,
        };
        let at = |path: &str| base.map_or_else(|| PathBuf::from(path), |base| base.join(path));
        let mut words = words(text.trim_start_matches('\u{feff}')).into_iter();
        while let Some(word) = words.next() {
            let option = word.text.clone();
            // The rest of the word, or else the next word.
            let mut value = |name: &str| match option.strip_prefix(name) {
                Some("") => words
                    .next()
                    .map(|word| word.text)
                    .ok_or_else(|| wrong(&word, format!("`{name}` needs a value"))),
                Some(rest) => Ok(rest.to_owned()),
                None => Ok(String::new()),
            };
            let each = |name: &str| -> Vec<String> {
                let values = option.strip_prefix(name).unwrap_or_default().split('+');
                values.filter(|value| !value.is_empty()).map(str::to_owned).collect()
            };
            if option.starts_with("+incdir+") {
                self.include.extend(each("+incdir+").iter().map(|path| at(path)));
            } else if option.starts_with("+define+") {
                self.defines.extend(each("+define+"));
            } else if option.starts_with("+libext+") {
                self.extensions.extend(each("+libext+"));
            } else if option.starts_with("-I") {
                self.include.push(at(&value("-I")?));
            } else if option.starts_with("-D") {
                self.defines.push(value("-D")?);
            } else if option == "-y" {
                self.include.push(at(&value("-y")?));
            } else if option == "-v" {
                self.libraries.push(at(&value("-v")?));
            } else if option == "-f" {
                let list = at(&value("-f")?);
                self.read_below(&list, base, depth + 1)?;
            } else if option == "-F" {
                let list = at(&value("-F")?);
                let folder = list.parent().map(Path::to_owned).unwrap_or_default();
                self.read_below(&list, Some(&folder), depth + 1)?;
            } else if option.starts_with(['-', '+']) {
                return Err(wrong(&word, format!("`{option}`: {ALLOWED}")));
            } else {
                self.sources.push(at(&option));
            }
        }
        Ok(())
    }
}

/// Splits a list into words: removes comments, handles quotes and backslashes as a shell does, and
/// substitutes environment variables.
fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    let mut quote = None;
    let mut in_comment = false;
    for (line, row) in text.lines().enumerate() {
        let row: Vec<char> = row.chars().collect();
        let is = |at: usize, pair: &str| row[at..].iter().take(2).copied().eq(pair.chars());
        let mut at = 0;
        let mut continued = false;
        while at < row.len() {
            let c = row[at];
            let starts = at == 0 || row[at - 1].is_whitespace();
            if in_comment {
                in_comment = !is(at, "*/");
                at += if in_comment { 1 } else { 2 };
                continue;
            }
            let is_first = row[..at].iter().all(|c| c.is_whitespace());
            if quote.is_none() && ((starts && is(at, "//")) || (is_first && c == '#')) {
                break;
            }
            if quote.is_none() && starts && is(at, "/*") {
                in_comment = true;
                at += 2;
                continue;
            }
            at += 1;
            if quote.is_none() && c.is_whitespace() {
                words.extend(word.take());
                continue;
            }
            if c == '\\' && at == row.len() {
                continued = true;
                continue;
            }
            let current = word.get_or_insert_with(|| Word {
                text: String::new(),
                line: line + 1,
                column: at,
            });
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                (_, '\\') if quote != Some('\'') => {
                    current.text.push(row[at]);
                    at += 1;
                }
                _ => current.text.push(c),
            }
        }
        if quote.is_none() && !continued {
            words.extend(word.take());
        } else if let (Some(word), false) = (&mut word, continued) {
            word.text.push('\n');
        }
    }
    words.extend(word);
    for word in &mut words {
        word.text = substituted(&word.text);
    }
    words
}

/// Substitutes `$NAME`, `${NAME}` and `$(NAME)`. A variable that is not set stays as it is.
fn substituted(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        result.push_str(before);
        let (name, behind) = match after.chars().next() {
            Some('{') => after[1..].split_once('}').unwrap_or(("", after)),
            Some('(') => after[1..].split_once(')').unwrap_or(("", after)),
            _ => {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                after.split_at(after.find(|c| !is_name(c)).unwrap_or(after.len()))
            }
        };
        match env::var(name) {
            Ok(value) if !name.is_empty() => {
                result.push_str(&value);
                rest = behind;
            }
            _ => {
                result.push('$');
                rest = after;
            }
        }
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    fn texts(list: &str) -> Vec<String> {
        words(list).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_are_taken_apart_as_verilator_does() {
        assert_eq!(texts("a.v b.v // c.v\n# d.v\n  # e.v\nf.v"), ["a.v", "b.v", "f.v"]);
        assert_eq!(texts("a.v /* b.v\n c.v */ d.v"), ["a.v", "d.v"]);
        assert_eq!(texts("http://x a//b.v"), ["http://x", "a//b.v"]);
        assert_eq!(texts("\"a b.v\" 'c d.v' e\\ f.v"), ["a b.v", "c d.v", "e f.v"]);
        assert_eq!(texts("+define+A=\"x y\" \\\n b.v"), ["+define+A=x y", "b.v"]);
    }

    #[test]
    fn variables_of_the_environment_are_in_place() {
        let folder = env::var("CARGO_MANIFEST_DIR").unwrap();
        for list in ["$CARGO_MANIFEST_DIR/a", "${CARGO_MANIFEST_DIR}/a", "$(CARGO_MANIFEST_DIR)/a"]
        {
            assert_eq!(texts(list), [format!("{folder}/a")]);
        }
        assert_eq!(texts("$NO_SUCH_VARIABLE_/a $"), ["$NO_SUCH_VARIABLE_/a", "$"]);
    }

    #[test]
    fn a_list_names_files_folders_macros_and_lists() {
        let folder = TempDir::new().unwrap();
        let [outer, inner] = ["outer.f", "inner.f"].map(|name| folder.path().join(name));
        fs::write(&inner, "b.v\n-y lib -v cells.v").unwrap();
        let text = format!(
            "a.v +incdir+x+y -Iz\n+define+A+B=2 -DC=3 +libext+.vlib\n-f {0} -F {0}",
            inner.display()
        );
        fs::write(&outer, text).unwrap();
        let mut listed = FileListContents::default();
        listed.read(&outer).unwrap();
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let below = |name: &str| folder.path().join(name);
        assert_eq!(listed.sources, [paths(&["a.v", "b.v"]), vec![below("b.v")]].concat());
        assert_eq!(listed.include, [paths(&["x", "y", "z", "lib"]), vec![below("lib")]].concat());
        assert_eq!(listed.libraries, [paths(&["cells.v"]), vec![below("cells.v")]].concat());
        assert_eq!(listed.defines, ["A", "B=2", "C=3"]);
        assert_eq!(listed.extensions, [".vlib"]);
    }

    #[test]
    fn what_a_list_may_not_hold_is_reported_with_its_place() {
        let folder = TempDir::new().unwrap();
        let list = folder.path().join("list.f");
        fs::write(&list, "a.v\n  --top x\n").unwrap();
        let error = FileListContents::default().read(&list).unwrap_err().to_string();
        assert!(error.contains("list.f:2:3: `--top`"), "{error}");
        fs::write(&list, format!("-f {}", list.display())).unwrap();
        assert!(FileListContents::default().read(&list).is_err());
    }
}
