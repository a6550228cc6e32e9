//! Checks the documents: rules of the book, links, and commands; and the length of comments.
//!
//! `docs/SUMMARY.md` is the table of contents. Each check is a function from a text to the problems
//! in it. The last tests give each check a text with a problem.

use crate::common::{program, project, run, text};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex::Regex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use walkdir::WalkDir;

/// Maximum length of a line of prose.
const COLUMNS: usize = 100;

/// The rows of `tests/words.tsv` for a place: refused phrases, each with its replacement.
fn refused(place: &str) -> Vec<(&'static str, &'static str)> {
    let rows = include_str!("../words.tsv").lines().filter(|row| !row.starts_with('#'));
    let rows = rows.map(|row| row.split('\t').collect::<Vec<_>>());
    let here = rows.filter(|row| row[0] == place || row[0] == "all");
    here.map(|row| (row[1], row[2])).collect()
}

/// Folders with Rust.
const CODE: [&str; 8] =
    ["benches", "core", "crates", "examples", "fuzz", "src", "tests", "verilated"];

/// Documents outside of the book.
const BESIDE: [&str; 13] = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "vectors/README.md",
    "examples/arbiter/README.md",
    "examples/async_fifo/README.md",
    "examples/axi_lite_memory/README.md",
    "examples/fifo/README.md",
    "examples/picorv32/README.md",
    "examples/regblock/README.md",
    "tests/bad_rtl/README.md",
    "tests/bad_gates/README.md",
    "tests/bad_unknown/README.md",
];

/// Options that `--help` does not list, with the command that takes them.
const HIDDEN: [(&str, &str); 1] = [("error", "--markdown")];

/// A part of a line: prose, or code in backticks.
#[derive(Debug, PartialEq)]
enum Part<'a> {
    Prose(&'a str),
    Code(&'a str),
}

/// A line of a document, without its line break.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    text: &'a str,
    is_code: bool,
}

/// The lines of a document, and whether each belongs to a block of code.
fn lines(text: &str) -> Vec<Line<'_>> {
    let blocks = Parser::new(text).into_offset_iter();
    let blocks = blocks.filter(|(event, _)| matches!(event, Event::Start(Tag::CodeBlock(_))));
    let blocks: Vec<_> = blocks.map(|(_, range)| range).collect();
    let (mut lines, mut start) = (Vec::new(), 0);
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let end = start + whole.len();
        let is_code = blocks.iter().any(|block| block.start < end && start < block.end);
        lines.push(Line { number: index + 1, text: whole.trim_end_matches('\n'), is_code });
        start = end;
    }
    lines
}

/// Prose and code of a line.
fn parts(line: &str) -> impl Iterator<Item = Part<'_>> {
    let part = |(index, part)| if index % 2 == 0 { Part::Prose(part) } else { Part::Code(part) };
    line.split('`').enumerate().map(part)
}

/// Lines of prose that are too long. Tables, code and lines of one link are exempt.
fn long_lines(text: &str) -> Vec<String> {
    let is_long = |line: &Line| {
        let text = line.text.trim_start();
        let is_link = text.trim_start_matches("- ").starts_with('[') && text.ends_with(')');
        !line.is_code && !text.starts_with('|') && !is_link && text.chars().count() > COLUMNS
    };
    let problem = |line: Line| format!("{}: longer than {COLUMNS} columns", line.number);
    lines(text).into_iter().filter(is_long).map(problem).collect()
}

/// Comments of Rust that are too long: rustfmt wraps code only.
fn long_comments(text: &str) -> Vec<String> {
    let is_long =
        |line: &str| line.trim_start().starts_with("//") && line.chars().count() > COLUMNS;
    let lines = text.lines().enumerate().filter(|(_, line)| is_long(line));
    lines.map(|(index, _)| format!("{}: longer than {COLUMNS} columns", index + 1)).collect()
}

/// Refused phrases in prose.
fn old_phrases(text: &str) -> Vec<String> {
    let word = |phrase: &str| Regex::new(&format!(r"(?i)\b{}\b", regex::escape(phrase)));
    let patterns = refused("text").into_iter();
    let patterns: Vec<_> =
        patterns.map(|(old, new)| (word(old).expect("a pattern"), old, new)).collect();
    let mut problems = Vec::new();
    for line in lines(text).into_iter().filter(|line| !line.is_code) {
        for prose in parts(line.text) {
            let Part::Prose(prose) = prose else { continue };
            let found = patterns.iter().filter(|(pattern, ..)| pattern.is_match(prose));
            problems.extend(
                found.map(|(_, old, new)| format!("{}: `{old}`: write `{new}`", line.number)),
            );
        }
    }
    problems
}

/// Refused words in the identifiers of sources, each source with its name.
fn old_names(sources: &[(String, String)]) -> Vec<String> {
    let tokens =
        r##"(?s)//[^\n]*|r#".*?"#|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'|([A-Za-z_][A-Za-z0-9_]*)"##;
    let tokens = Regex::new(tokens).expect("a pattern");
    let parts = Regex::new("[A-Z]?[a-z]+|[A-Z]+").expect("a pattern");
    let refused: BTreeMap<_, _> = refused("names").into_iter().collect();
    let mut problems = BTreeSet::new();
    for (file, text) in sources {
        for name in tokens.captures_iter(text).filter_map(|token| token.get(1)) {
            for part in parts.find_iter(name.as_str()) {
                let new = refused.get(&*part.as_str().to_lowercase());
                let problem = |new| format!("{file}: `{}`: write `{new}`", name.as_str());
                problems.extend(new.map(problem));
            }
        }
    }
    problems.into_iter().collect()
}

/// The targets of the links in a document to its neighbours, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let in_html = Regex::new(r"(?:src|srcset|href)=\x22([^\x22]+)\x22").expect("a pattern");
    let mut links = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let line = text[..range.start].matches('\n').count() + 1;
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                links.push((line, dest_url.to_string()));
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let found = in_html.captures_iter(&html).map(|found| (line, found[1].to_owned()));
                links.extend(found);
            }
            _ => {}
        }
    }
    links.retain(|(_, target)| !target.contains("://"));
    links
}

/// The anchors of a document: its headings, as Markdown renderers name them, and explicit ones.
fn anchors(text: &str) -> BTreeSet<String> {
    let explicit = Regex::new(r#"<a id="([^"]+)">"#).expect("a pattern");
    let mut anchors: BTreeSet<String> =
        explicit.captures_iter(text).map(|found| found[1].to_owned()).collect();
    let mut title: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => title = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => anchors.extend(title.take().map(|title| {
                let kept = |letter: &char| letter.is_alphanumeric() || " -_".contains(*letter);
                let slug: String = title.to_lowercase().chars().filter(kept).collect();
                slug.replace(' ', "-")
            })),
            Event::Text(text) | Event::Code(text) => {
                title.iter_mut().for_each(|title| title.push_str(&text));
            }
            _ => {}
        }
    }
    anchors
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

/// Links of a document that lead to no file or anchor.
fn dead_links(path: &Path, text: &str) -> Vec<String> {
    let folder = path.parent().expect("a file is in a folder");
    let mut problems = Vec::new();
    for (line, target) in links(text) {
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let to = normal(&folder.join(file));
        if !file.is_empty() && !to.exists() {
            problems.push(format!("{line}: no file {target}"));
        } else if !anchor.is_empty() {
            let text = if file.is_empty() { text.to_owned() } else { read(&to) };
            if !anchors(&text).contains(anchor) {
                problems.push(format!("{line}: no anchor {target}"));
            }
        }
    }
    problems
}

/// Paths of this repository in backticks that do not exist. Those with a placeholder are exempt.
fn dead_paths(text: &str) -> Vec<String> {
    let pattern = r"^(\.ci|benches|core|crates|docs|examples|scripts|tests|verilated)/[\w./-]+$";
    let pattern = Regex::new(pattern).expect("a pattern");
    let has_placeholder = |path: &str| Regex::new("[A-Z]{4}").expect("a pattern").is_match(path);
    let mut problems = Vec::new();
    for line in lines(text).into_iter().filter(|line| !line.is_code) {
        for part in parts(line.text) {
            let Part::Code(path) = part else { continue };
            let is_path = pattern.is_match(path) && !has_placeholder(path);
            // The tutorial names files of a user's crate by those of the example.
            let exists =
                ["", "examples/arbiter"].map(|root| project().join(root).join(path).exists());
            if is_path && exists == [false; 2] {
                problems.push(format!("{}: no path {path}", line.number));
            }
        }
    }
    problems
}

/// Pages that a summary does not list, lists twice, or that are not written.
fn summary_problems(docs: &Path, summary: &str, written: &BTreeSet<PathBuf>) -> Vec<String> {
    let mut listed = BTreeSet::new();
    let mut problems = Vec::new();
    for page in links(summary).into_iter().map(|(_, page)| docs.join(page)) {
        if !written.contains(&page) {
            problems.push(format!("{}: not written", page.display()));
        }
        if let Some(page) = listed.replace(page) {
            problems.push(format!("{}: listed twice", page.display()));
        }
    }
    let missing = written.difference(&listed);
    problems.extend(missing.map(|page| format!("{}: not listed", page.display())));
    problems
}

/// Every word of the Rust code of the repository, for [`dead_names`].
fn words_of_the_code() -> BTreeSet<String> {
    let word = Regex::new(r"\w+").expect("a pattern");
    let mut words = BTreeSet::new();
    for path in CODE.iter().flat_map(|root| below(&project().join(root), "rs")) {
        words.extend(word.find_iter(&read(&path)).map(|found| found.as_str().to_owned()));
    }
    words
}

/// Rust names in backticks, such as `Type::name`, with a part that is no word of the code.
fn dead_names(text: &str, words: &BTreeSet<String>) -> Vec<String> {
    let pattern = Regex::new(r"^\w+(::\w+)+$").expect("a pattern");
    let mut problems = Vec::new();
    for line in lines(text).into_iter().filter(|line| !line.is_code) {
        for part in parts(line.text) {
            let Part::Code(name) = part else { continue };
            let is_dead = |name: &str| name.split("::").any(|part| !words.contains(part));
            if pattern.is_match(name) && is_dead(name) {
                problems.push(format!("{}: no {name} in the code", line.number));
            }
        }
    }
    problems
}

/// The arguments of `cosim` in a command of a document, if it runs `cosim`.
fn arguments(command: &str) -> Option<Vec<&str>> {
    let command = command.trim_start().trim_start_matches("$ ");
    // A comment follows a `#`, or two spaces in a list of commands.
    let command = command.split(" #").next().unwrap_or_default();
    let command = command.split("   ").next().unwrap_or_default();
    // Another command follows a `|` or a `&&`.
    let words = command.split_whitespace().take_while(|word| !["|", "&&", ";"].contains(word));
    let mut words: Vec<&str> = words.collect();
    match *words.first()? {
        "cosim" => drop(words.remove(0)),
        program if program.ends_with("/cosim") => drop(words.remove(0)),
        "scripts/run" => words[0] = "run",
        "cargo" => {
            let end = words.iter().position(|word| *word == "--")?;
            (*words.get(1)? == "run").then(|| words.drain(..=end))?;
        }
        _ => return None,
    }
    Some(words)
}

/// The `--help` of each command, cached.
#[derive(Default)]
struct Help(BTreeMap<String, String>);

impl Help {
    fn of(&mut self, command: &[&str]) -> &str {
        let ask = || text(&run(command.iter().copied().chain(["--help"])));
        self.0.entry(command.join(" ")).or_insert_with(ask)
    }

    /// The error in arguments of `cosim`, if any: an unknown command or option.
    fn objection(&mut self, arguments: &[&str]) -> Option<String> {
        let is_name = |word: &&&str| word.starts_with(|letter: char| letter.is_ascii_lowercase());
        let command = arguments.first().filter(is_name)?;
        let listed = |help: &str, command: &str| {
            let mut rows = help.lines().skip_while(|line| *line != "Commands:").skip(1);
            rows.any(|row| row.split_whitespace().next() == Some(command))
        };
        if !listed(self.of(&[]), command) {
            return Some(format!("no command `{command}`"));
        }
        let mut path = vec![*command];
        if let Some(part) = arguments.get(1).filter(is_name)
            && listed(self.of(&path), part)
        {
            path.push(part);
        }
        let help = self.of(&path);
        let is_known = |option: &str| {
            let pattern = format!(r"(?m)^ +(-\w, )?{}([ =,\[<]|$)", regex::escape(option));
            Regex::new(&pattern).expect("a pattern").is_match(help)
                || HIDDEN.contains(&(command, option))
        };
        // `--` ends the options of cosim.
        let words = arguments[1..].iter().take_while(|word| **word != "--");
        let options = words.filter(|word| word.starts_with('-') && word.len() > 1);
        let names = options.map(|word| word.split('=').next().unwrap_or(word));
        let unknown = names.filter(|name| !is_known(name)).map(|name| (*name).to_owned());
        let unknown: Vec<String> = unknown.collect();
        (!unknown.is_empty()).then(|| format!("`cosim {command}` has no {}", unknown.join(", ")))
    }

    /// Invalid `cosim` commands of a document, in code blocks and in backticks.
    fn unknown_commands(&mut self, text: &str) -> Vec<String> {
        let mut problems = Vec::new();
        for line in lines(text) {
            let in_backticks = parts(line.text).filter_map(|part| match part {
                Part::Code(code) if !line.is_code => Some(code),
                _ => None,
            });
            let commands = in_backticks.chain(line.is_code.then_some(line.text));
            for arguments in commands.filter_map(arguments) {
                let objection = self.objection(&arguments);
                problems.extend(objection.map(|what| format!("{}: {what}", line.number)));
            }
        }
        problems
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// The files below a folder with this ending.
fn below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let paths = WalkDir::new(folder).into_iter().map(|entry| entry.expect("an entry").into_path());
    paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

/// The pages of the book, and those of [`BESIDE`].
fn documents() -> Vec<PathBuf> {
    let mut documents = below(&project().join("docs"), "md");
    for beside in BESIDE {
        documents.push(project().join(beside));
    }
    assert!(documents.len() > 20, "{documents:?}");
    documents
}

/// Checks that no document has the problems that `check` finds.
#[track_caller]
fn assert_clean(mut check: impl FnMut(&Path, &str) -> Vec<String>) {
    let mut problems = Vec::new();
    for path in documents() {
        let name = path.strip_prefix(project()).expect("a document").display();
        problems.extend(check(&path, &read(&path)).iter().map(|what| format!("{name}:{what}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn lines_of_documents_fit_the_columns() {
    assert_clean(|_, text| long_lines(text));
}

#[test]
fn comments_of_rust_fit_the_columns() {
    let mut problems = Vec::new();
    for path in CODE.iter().flat_map(|root| below(&project().join(root), "rs")) {
        let name = path.strip_prefix(project()).expect("a file of the project").display();
        problems.extend(long_comments(&read(&path)).iter().map(|what| format!("{name}:{what}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn identifiers_use_the_words_of_the_field() {
    let name = |path: &Path| path.strip_prefix(project()).expect("a file").display().to_string();
    let files = CODE.iter().flat_map(|root| below(&project().join(root), "rs"));
    let sources: Vec<_> = files.map(|path| (name(&path), read(&path))).collect();
    let problems = old_names(&sources);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let text = "let workshop_of = ToldAt::new(\"hole\"); // said\nlet asking = r#\"a \"told\"#;";
    let problems = old_names(&[("a.rs".to_owned(), text.to_owned())]);
    let expected =
        ["a.rs: `ToldAt`: write `reported`", "a.rs: `workshop_of`: write `Yosys session`"];
    assert_eq!(problems, expected);
}

#[test]
fn documents_use_the_words_of_the_field() {
    assert_clean(|_, text| old_phrases(text));
}

#[test]
fn links_of_documents_lead_somewhere() {
    assert_clean(dead_links);
}

/// The changelog and decisions name things of their time, which may no longer exist.
fn is_of_the_past(path: &Path) -> bool {
    path.ends_with("CHANGELOG.md") || path.components().any(|part| part.as_os_str() == "adr")
}

#[test]
fn paths_of_documents_exist() {
    assert_clean(|path, text| if is_of_the_past(path) { Vec::new() } else { dead_paths(text) });
}

#[test]
fn the_code_has_the_names_of_documents() {
    let words = words_of_the_code();
    assert_clean(|path, text| match is_of_the_past(path) {
        true => Vec::new(),
        false => dead_names(text, &words),
    });
}

#[test]
fn cosim_knows_the_commands_of_documents() {
    let mut help = Help::default();
    assert_clean(|path, text| match is_of_the_past(path) {
        true => Vec::new(),
        false => help.unknown_commands(text),
    });
}

#[test]
fn the_summary_lists_every_page() {
    let docs = project().join("docs");
    let summary = docs.join("SUMMARY.md");
    let mut written: BTreeSet<PathBuf> = below(&docs, "md").into_iter().collect();
    assert!(written.remove(&summary));
    assert_eq!(summary_problems(&docs, &read(&summary), &written), [""; 0]);
}

/// mdbook sends context and book; each chapter has its text in `content`.
#[test]
fn the_book_has_the_lists_that_the_program_prints() {
    let names = ["commands", "errors", "scenarios", "protocol"];
    let page = |name: &&str| read(&project().join(format!("docs/reference/{name}.md")));
    let chapter = |text: String| json!({ "Chapter": { "content": text, "sub_items": [] } });
    let book = json!({ "sections": names.each_ref().map(page).map(chapter) });
    let output = assert_cmd::Command::new(project().join("scripts/book-pages"))
        .env("COSIM", program().get_program())
        .write_stdin(json!([{}, book]).to_string())
        .output()
        .expect("python runs");
    let book: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!("{}", String::from_utf8_lossy(&output.stderr));
    });
    let texts = [0, 1, 2, 3].map(|at| book["sections"][at]["Chapter"]["content"].as_str());
    let [commands, errors, scenarios, protocol] = texts.map(|text| text.expect("a text"));
    for (text, expected) in [
        (commands, "\n### cosim history add\n\n```text\nAdd runs to"),
        (commands, "--until-coverage <"),
        (errors, "\n### E0213: "),
        (scenarios, "\n## Block `rx`\n\n| scenario | traffic |\n|---|---|\n| `plain` | "),
        (protocol, "\n## Reply\n\nA message from a worker.\n\n- `Ready`: The session is open.\n"),
        (protocol, "\n- `Done`: An item of work is complete.\n  - `place: u64`: "),
    ] {
        assert!(text.contains(expected), "{expected:?} is not in\n{text}");
    }
    assert!(!texts.iter().any(|text| text.is_some_and(|text| text.contains("<!-- generated"))));
}

#[test]
fn a_page_that_the_summary_lacks_repeats_or_invents_is_found() {
    let docs = Path::new("docs");
    let written = ["a.md", "b.md"].map(|page| docs.join(page)).into();
    let problems = |summary| summary_problems(docs, summary, &written);
    assert_eq!(problems("- [A](a.md)\n- [B](b.md)\n"), [""; 0]);
    assert_eq!(problems("- [A](a.md)\n"), ["docs/b.md: not listed"]);
    assert_eq!(problems("- [A](a.md)\n- [B](b.md)\n- [C](c.md)\n"), ["docs/c.md: not written"]);
    assert_eq!(problems("- [A](a.md)\n- [B](b.md)\n- [A](a.md)\n"), ["docs/a.md: listed twice"]);
}

#[test]
fn a_long_line_is_found_and_a_long_table_is_not() {
    let long = "word ".repeat(30);
    let text = format!(
        "# Title\n{long}\n\n    {long}\n    - {long}\n    {long}\n\n| {long} |\n- {long}\n```\n{long}\n```\n"
    );
    assert_eq!(long_lines(&text), ["2: longer than 100 columns", "9: longer than 100 columns"]);
}

#[test]
fn a_long_comment_is_found_and_long_code_is_not() {
    let long = "word ".repeat(30);
    let text = format!("    /// {long}\nlet a = \"{long}\";\n//! short\n// {long}\n");
    assert_eq!(long_comments(&text), ["1: longer than 100 columns", "4: longer than 100 columns"]);
}

#[test]
fn an_old_phrase_is_found_in_prose_and_not_in_code() {
    let text = "a hole, and `a hole`\n\n    the given RTL\n\nThe whole workshop\n";
    assert_eq!(
        old_phrases(text),
        ["1: `hole`: write `uncovered bin`", "5: `workshop`: write `Yosys session`"]
    );
}

#[test]
fn a_dead_link_and_a_dead_anchor_are_found() {
    let path = project().join("docs/page.md");
    let text = "# One title: `a.b`\n[a](#one-title-ab) [b](#two) [c](SUMMARY.md#summary)\n\
                – [d](nothing.md)\n[e](https://example.org)\n";
    assert_eq!(dead_links(&path, text), ["2: no anchor #two", "3: no file nothing.md"]);
}

#[test]
fn a_dead_path_is_found_and_a_placeholder_is_not() {
    let text = "`tests/nothing.rs`, `tests/e2e/main.rs`, `docs/blocks/NAME.md` and `src/mine.rs`\n";
    assert_eq!(dead_paths(text), ["1: no path tests/nothing.rs"]);
}

#[test]
fn a_dead_name_is_found() {
    let words = ["Block", "NAMING"].map(str::to_owned).into();
    let text = "`Block::NAMING` and `Block::NOTHING`\n";
    assert_eq!(dead_names(text, &words), ["1: no Block::NOTHING in the code"]);
}

#[test]
fn unknown_commands_and_options_are_found() {
    let text = "Text with `cosim run --nothing` and `cosim list`.\n\n    cosim nothing\n    \
                $ target/release/cosim cover merge a -o b  # joins\n    scripts/run --sed 1\n    \
                cargo run --release -- run --seed 1\n    cargo run -- replay --seed 1\n    \
                cosim export v -o d --no=1\n\n\
                - item\n  with `cosim mutate --block qp --golden`\n";
    assert_eq!(
        Help::default().unknown_commands(text),
        [
            "1: `cosim run` has no --nothing",
            "3: no command `nothing`",
            "5: `cosim run` has no --sed",
            "7: `cosim replay` has no --seed",
            "8: `cosim export` has no --no",
        ]
    );
}
