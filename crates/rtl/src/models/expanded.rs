//! The preprocessed text of an RTL, from Verilator, for Yosys.
//!
//! Yosys defines macros of its own (`SYNTHESIS`, `YOSYS`). It also obeys comments and attributes
//! that Verilator ignores (`translate_off`, `full_case`). If both tools read the files, they could
//! see two different designs.

use super::{Examined, verilator};
use cosim_base::error::{Error, codes};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use verilated_build::{Design, SourceFile};
use verilated_files::foreign::lay_out;

/// The first words of synthesis comments.
const TOOLS: [&str; 2] = ["synopsys", "synthesis"];
/// Folder of the files.
const FILES: &str = "files";
/// Replaces blanks in file names, which Yosys cannot quote.
const NO_BREAK: &str = "\u{a0}";

/// How Yosys treats attributes such as `(* full_case *)` and the same words in comments. All other
/// comments are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pragmas {
    /// Ignores them, as a simulator does.
    Ignored,
    /// Obeys them, as synthesis does.
    Obeyed,
}

/// Words in comments that change the meaning of a `case`, and their markers. A marker survives the
/// preprocessor, which removes comments.
const WORDS: [(&str, &str); 2] =
    [("full_case", "cosim_pragma_full_case"), ("parallel_case", "cosim_pragma_parallel_case")];

/// The preprocessed texts of an RTL.
#[derive(Debug, Clone, Default)]
pub struct PreprocessedRtl {
    /// Texts of library modules, which count only where no source declares the module.
    pub libraries: Vec<String>,
    /// The other texts, in order.
    pub sources: Vec<String>,
}

impl PreprocessedRtl {
    /// Runs Verilator's preprocessor.
    pub(super) fn new(examined: &Examined, pragmas: Pragmas) -> Result<Self, Error> {
        let temporary =
            TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let marked = |file: &SourceFile| match (pragmas, std::str::from_utf8(&file.text)) {
            (Pragmas::Obeyed, Ok(text)) => Some(marked(text)).filter(|marked| marked != text),
            _ => None,
        };
        let marked: Vec<Option<String>> = examined.texts.iter().map(marked).collect();
        let files = examined.texts.iter().zip(&marked);
        // A file with an absolute name is read in place, so nothing can be marked in it.
        let is_absolute =
            |(file, marked): &(&SourceFile, &_)| file.name.is_absolute() && Option::is_some(marked);
        if let Some((file, _)) = files.clone().find(is_absolute) {
            return Err(Error::File {
                code: codes::CANNOT_COPY,
                path: file.name.clone(),
                message: "is included by an absolute path and has comments for synthesis; include \
                          it by a relative path"
                    .to_owned(),
            });
        }
        let files = files.map(|(file, marked)| {
            let text = marked.as_ref().map_or(&*file.text, String::as_bytes);
            (file.name.as_path(), text)
        });
        let folder = lay_out(&temporary.path().join(FILES), files)
            .map_err(|error| examined.plain(error.into()))?;
        let verilator = verilator()?;
        let own = &examined.design;
        let design = |sources: Vec<PathBuf>| Design {
            sources,
            libraries: Vec::new(),
            folder: Some(folder.clone()),
            ..own.clone()
        };
        // Verilator reads the sources, then the libraries, then the files of modules that it finds
        // by name.
        let given: Vec<PathBuf> = [&own.sources[..], &own.libraries].concat();
        let is_given = |name: &Path| given.iter().any(|given| given == name);
        let names = examined.texts.iter().map(|file| &file.name);
        let mut found: Vec<PathBuf> =
            names.filter(|name| !is_given(name) && may_be_found(own, name)).cloned().collect();
        if !found.is_empty() {
            let all = design([&given[..], &found].concat());
            let includes = all.preprocess(&verilator).map_err(|error| examined.plain(error))?;
            let included: BTreeSet<PathBuf> =
                includes.includes.into_iter().map(|include| include.file).collect();
            found.retain(|name| !included.contains(name));
        }
        let all = design([given, found].concat());
        let texts = all.expand(&verilator).map_err(|error| examined.plain(error))?;
        let texts = texts.iter().map(|text| match pragmas {
            Pragmas::Ignored => named(&without_attributes(text)).replace("`default_nettype", "//"),
            Pragmas::Obeyed => named(&unmarked(text)),
        });
        let mut sources: Vec<String> = texts.collect();
        let libraries = sources.split_off(own.sources.len());
        Ok(Self { libraries, sources })
    }

    /// A place in a message of Yosys, with the real file name.
    pub fn place(text: &str) -> String {
        text.replace(NO_BREAK, " ")
    }
}

/// Whether Verilator may have found the file by the name of a module.
fn may_be_found(design: &Design, name: &Path) -> bool {
    let is = |ending: &str| {
        name.extension().and_then(OsStr::to_str) == Some(ending.trim_start_matches('.'))
    };
    name.extension().is_none()
        || ["v", "sv"].into_iter().any(is)
        || design.extensions.iter().any(|ending| is(ending))
}

/// Replaces blanks in the file names of `line` directives.
fn named(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("`line ").and_then(|rest| rest.split_once('"'))
    {
        Some((number, rest)) => {
            format!("`line {number}\"{}\n", rest.replacen(' ', NO_BREAK, blanks(rest)))
        }
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Number of blanks in a file name, which ends at the last quote.
fn blanks(rest: &str) -> usize {
    rest.rsplit_once('"').map_or(0, |(name, _)| name.matches(' ').count())
}

/// Removes attributes, `(* name = value *)`, but keeps line numbers.
fn without_attributes(text: &str) -> String {
    rewritten(text, |token| {
        let is_attribute = token.starts_with("(*") && token.len() > 2;
        is_attribute.then(|| format!(" {}", "\n".repeat(token.matches('\n').count())))
    })
}

/// Replaces synthesis comments by markers.
fn marked(text: &str) -> String {
    rewritten(text, |token| {
        let (begin, comment) = token.split_at_checked(2)?;
        let mut words = comment.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let is_pragma = ["//", "/*"].contains(&begin)
            && words.find(|word| !word.is_empty()).is_some_and(|first| TOOLS.contains(&first));
        let marks: String = words
            .filter_map(|word| WORDS.iter().find(|(known, _)| *known == word))
            .map(|(_, mark)| format!(" {mark} "))
            .collect();
        (is_pragma && !marks.is_empty()).then(|| marks + &"\n".repeat(token.matches('\n').count()))
    })
}

/// Replaces markers by synthesis comments.
fn unmarked(text: &str) -> String {
    WORDS.iter().fold(text.to_owned(), |text, (word, mark)| {
        text.replace(mark, &format!("/* synopsys {word} */"))
    })
}

/// Applies `other` to each string, comment, escaped name and attribute of a text.
fn rewritten(text: &str, other: impl Fn(&str) -> Option<String>) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(['"', '/', '\\', '(']) {
        kept.push_str(&rest[..place]);
        rest = &rest[place..];
        let length = match rest.as_bytes() {
            [b'"', ..] => string(rest),
            [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            // An escaped name ends at a blank.
            [b'\\', ..] => rest.find(char::is_whitespace).unwrap_or(rest.len()),
            [b'(', b'*', ..] => attribute(rest).unwrap_or(2),
            _ => 1,
        };
        let (token, behind) = rest.split_at(length);
        match other(token) {
            Some(other) => kept.push_str(&other),
            None => kept.push_str(token),
        }
        rest = behind;
    }
    kept.push_str(rest);
    kept
}

/// The length of the string at the start of a text. A string ends at the end of its line at the
/// latest.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = ['"', '\n'].contains(c) && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(end, _)| end + 1)
}

/// The length of the attribute at the start of a text; `None` for `(*)`, a sensitivity list.
fn attribute(text: &str) -> Option<usize> {
    if text[2..].trim_start().starts_with(')') {
        return None;
    }
    let mut place = 2;
    loop {
        place += text[place..].find(['"', '*'])?;
        match &text[place..] {
            quoted if quoted.starts_with('"') => place += string(quoted),
            end if end.starts_with("*)") => return Some(place + 2),
            _ => place += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yosys::{self, YosysSession};
    use std::fs;
    use verilated_build::DataFile;

    /// A file outside of the temporary folder, and a name that leads to it from anywhere.
    fn victim(folder: &TempDir) -> (PathBuf, String) {
        let victim = folder.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        let far = format!("{}{}", "../".repeat(40), &victim.to_str().unwrap()[1..]);
        (victim, far)
    }

    #[test]
    fn names_of_the_rtl_write_no_file_of_others() {
        let folder = TempDir::new().unwrap();
        let (victim, far) = victim(&folder);
        let mut examined = yosys::verilog(&format!("`include \"{far}\"\nmodule top; endmodule\n"));
        let (name, text) = (Path::new(&far).to_owned(), b"wire of_the_include;\n");
        examined.texts.push(SourceFile { name, text: text[..].into() });
        let data = |name: &str| DataFile { name: name.to_owned(), text: Some(b"1"[..].into()) };
        examined.design.data = vec![data(&far), data("../a.hex"), data("sub/../b.hex")];
        YosysSession::new(&examined, Pragmas::Ignored).unwrap();
        let texts = examined.expanded(Pragmas::Ignored).unwrap();
        assert!(texts.sources[0].contains("of_the_include"), "{texts:?}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    }

    #[test]
    fn a_file_with_an_absolute_name_is_never_written() {
        let folder = TempDir::new().unwrap();
        let (victim, _) = victim(&folder);
        let text = "// synopsys full_case\n";
        fs::write(&victim, text).unwrap();
        let include = format!("`include \"{}\"\nmodule top; endmodule\n", victim.display());
        let mut examined = yosys::verilog(&include);
        examined.texts.push(SourceFile { name: victim.clone(), text: text.as_bytes().into() });
        examined.expanded(Pragmas::Ignored).unwrap();
        let error = examined.expanded(Pragmas::Obeyed).unwrap_err();
        assert_eq!(error.code(), codes::CANNOT_COPY, "the comment cannot be marked: {error}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), text);
    }

    #[test]
    fn attributes_are_left_out_and_nothing_else() {
        for (text, expected) in [
            ("(* full_case, parallel_case *) case (a)", "  case (a)"),
            ("(* a = \"*)\" *)wire b;", " wire b;"),
            ("(* a,\n b *)\nwire c;", " \n\nwire c;"),
            ("always @(*) a = b * (c);", "always @(*) a = b * (c);"),
            ("always @( * ) a = (b *c) * d;", "always @( * ) a = (b *c) * d;"),
            ("always @(* ) a = b; // (* keep *)", "always @(* ) a = b; // (* keep *)"),
            ("$display(\"(* x *)\\\"(* y *)\");", "$display(\"(* x *)\\\"(* y *)\");"),
            ("wire \\a(*b ; (* c *) wire d;", "wire \\a(*b ;   wire d;"),
            ("/* (* */ wire a; /* *) */", "/* (* */ wire a; /* *) */"),
            ("(* never ended", "(* never ended"),
        ] {
            assert_eq!(without_attributes(text), expected);
        }
    }

    #[test]
    fn comments_to_synthesis_survive_the_preprocessor_and_other_comments_do_not() {
        for (text, expected) in [
            (
                "case (a) // synopsys full_case parallel_case\n",
                "case (a)  cosim_pragma_full_case  cosim_pragma_parallel_case \n",
            ),
            ("case (a) /*synthesis\nfull_case*/;", "case (a)  cosim_pragma_full_case \n;"),
            (
                "// a full_case\n// synopsys translate_off",
                "// a full_case\n// synopsys translate_off",
            ),
            ("x = \"// synopsys full_case\";", "x = \"// synopsys full_case\";"),
            ("it's \"odd\n// synopsys full_case", "it's \"odd\n cosim_pragma_full_case "),
        ] {
            assert_eq!(marked(text), expected);
        }
        let text = "case (a) cosim_pragma_full_case\n";
        assert_eq!(unmarked(text), "case (a) /* synopsys full_case */\n");
    }

    #[test]
    fn a_name_with_a_blank_is_one_word() {
        let text = "`line 3 \"@rtl/a b.v\" 1\nwire a b;\n";
        let named = named(text);
        assert_eq!(named, "`line 3 \"@rtl/a\u{a0}b.v\" 1\nwire a b;\n");
        assert_eq!(PreprocessedRtl::place(&named), text);
    }
}
