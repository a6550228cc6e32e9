//! Checks the documents: rules of the book, links, and commands; and the length of comments.
//!
//! `docs/SUMMARY.md` is the table of contents. Each check is a function from a text to the problems
//! in it. The last tests give each check a text with a problem.

use crate::common::{Place, project, run, source, text};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
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
const BESIDE: [&str; 12] = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "vectors/README.md",
    "examples/arbiter/README.md",
    "examples/blocks/README.md",
    "examples/fifo/README.md",
    "examples/picorv32/README.md",
    "examples/regblock/README.md",
    "tests/bad_rtl/README.md",
    "tests/bad_gates/README.md",
    "tests/bad_unknown/README.md",
];

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

/// The parts of prose in backticks, or those outside of them, with their lines.
fn parts(text: &str, in_backticks: bool) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for line in lines(text).into_iter().filter(|line| !line.is_code) {
        let parts = line.text.split('`').skip(usize::from(in_backticks)).step_by(2);
        found.extend(parts.map(|part| (line.number, part)));
    }
    found
}

fn too_long<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<String> {
    let lines = lines.filter(|(_, text)| text.chars().count() > COLUMNS);
    lines.map(|(number, _)| format!("{number}: longer than {COLUMNS} columns")).collect()
}

/// Lines of prose that are too long. Tables, code and lines of one link are exempt.
fn long_lines(text: &str) -> Vec<String> {
    let is_prose = |line: &Line| {
        let text = line.text.trim_start();
        let is_link = text.trim_start_matches("- ").starts_with('[') && text.ends_with(')');
        !line.is_code && !text.starts_with('|') && !is_link
    };
    too_long(lines(text).into_iter().filter(is_prose).map(|line| (line.number, line.text)))
}

/// Comments of Rust that are too long: rustfmt wraps code only.
fn long_comments(text: &str) -> Vec<String> {
    too_long((1..).zip(text.lines()).filter(|(_, line)| line.trim_start().starts_with("//")))
}

/// Refused phrases in prose.
fn old_phrases(text: &str) -> Vec<String> {
    let word = |phrase: &str| Regex::new(&format!(r"(?i)\b{}\b", regex::escape(phrase)));
    let prose = parts(text, false);
    let mut problems = Vec::new();
    for (old, new) in refused("text") {
        let pattern = word(old).expect("a pattern");
        let found = prose.iter().filter(|(_, prose)| pattern.is_match(prose));
        problems.extend(found.map(|(line, _)| format!("{line}: `{old}`: write `{new}`")));
    }
    problems
}

/// Refused words in the identifiers of sources, each source with its name.
fn old_names(sources: &[(String, String)]) -> Vec<String> {
    let tokens =
        r##"(?s)//[^\n]*|r#".*?"#|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'|([A-Za-z_][A-Za-z0-9_]*)"##;
    let tokens = Regex::new(tokens).expect("a pattern");
    let parts = Regex::new("[A-Z]?[a-z]+|[A-Z]+").expect("a pattern");
    let functions: BTreeMap<_, _> = refused("functions").into_iter().collect();
    let refused: BTreeMap<_, _> = refused("names").into_iter().collect();
    let function = Regex::new(r"\bfn ([a-z]+)[(<]").expect("a pattern");
    let mut problems = BTreeSet::new();
    for (file, text) in sources {
        for found in function.captures_iter(text) {
            let new = functions.get(&found[1]);
            problems.extend(new.map(|new| format!("{file}: `fn {}`: write {new}", &found[1])));
        }
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

/// Links of a document that lead to no file or anchor.
fn dead_links(path: &Path, text: &str) -> Vec<String> {
    let folder = path.parent().expect("a file is in a folder");
    let mut problems = Vec::new();
    for (line, target) in links(text) {
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let to = folder.join(file);
        if !file.is_empty() && !to.exists() {
            problems.push(format!("{line}: no file {target}"));
        } else if !anchor.is_empty() {
            let text = if file.is_empty() { text.to_owned() } else { source(&to) };
            if !anchors(&text).contains(anchor) {
                problems.push(format!("{line}: no anchor {target}"));
            }
        }
    }
    problems
}

/// Includes of a document that lead to no part of a file between `ANCHOR: NAME` and `ANCHOR_END`.
fn dead_includes(path: &Path, text: &str) -> Vec<String> {
    let include = Regex::new(r"\{\{#include ([^:}]+):?(\w*)\}\}").expect("a pattern");
    let folder = path.parent().expect("a file is in a folder");
    let is_dead = |line: &str| {
        let Some(found) = include.captures(line) else { return line.contains("{{#") };
        let part = |at: &str| format!("{at}: {}\n", &found[2]);
        let text = std::fs::read_to_string(folder.join(&found[1])).unwrap_or_default();
        if found[2].is_empty() {
            return text.is_empty();
        }
        let begin = text.find(&part("ANCHOR"));
        begin.is_none_or(|begin| !text[begin..].contains(&part("ANCHOR_END")))
    };
    let dead = (1..).zip(text.lines()).filter(|(_, line)| is_dead(line));
    dead.map(|(number, line): (usize, _)| format!("{number}: no part {line}")).collect()
}

/// Paths of this repository in backticks that do not exist. Those with a placeholder are exempt.
fn dead_paths(text: &str) -> Vec<String> {
    let pattern = r"^(\.ci|benches|core|crates|docs|examples|scripts|tests|verilated)/[\w./-]+$";
    let pattern = Regex::new(pattern).expect("a pattern");
    let placeholder = Regex::new("[A-Z]{4}").expect("a pattern");
    // The tutorial names files of a user's crate by those of the example.
    let roots = ["", "examples/arbiter"].map(|root| project().join(root));
    let is_dead = |path: &str| {
        let is_path = pattern.is_match(path) && !placeholder.is_match(path);
        is_path && !roots.iter().any(|root| root.join(path).exists())
    };
    let paths = parts(text, true).into_iter().filter(|(_, path)| is_dead(path));
    paths.map(|(line, path)| format!("{line}: no path {path}")).collect()
}

/// The Rust code of the repository, with the name of each file.
fn sources() -> Vec<(String, String)> {
    let paths = CODE.iter().flat_map(|root| below(&project().join(root), "rs"));
    paths.map(|path| (name(&path), source(&path))).collect()
}

/// Rust names in backticks, such as `Type::name`, with a part that is no word of the code.
fn dead_names(text: &str, words: &BTreeSet<&str>) -> Vec<String> {
    let pattern = Regex::new(r"^\w+(::\w+)+$").expect("a pattern");
    let is_dead =
        |name: &str| pattern.is_match(name) && name.split("::").any(|part| !words.contains(part));
    let names = parts(text, true).into_iter().filter(|(_, name)| is_dead(name));
    names.map(|(line, name)| format!("{line}: no {name} in the code")).collect()
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
    fn help_of(&mut self, command: &[&str]) -> &str {
        let ask = || text(&run(command.iter().copied().chain(["--help"])));
        self.0.entry(command.join(" ")).or_insert_with(ask)
    }

    /// The error in arguments of `cosim`, if any: an unknown command or option.
    fn objection(&mut self, arguments: &[&str]) -> Option<String> {
        let is_name = |word: &&&str| word.starts_with(|letter: char| letter.is_ascii_lowercase());
        let command = arguments.first().filter(is_name)?;
        let listed = |help: &str, command: &str| {
            help.contains("<COMMAND>")
                && help.lines().any(|row| row.starts_with(&format!("  {command} ")))
        };
        if !listed(self.help_of(&[]), command) {
            return Some(format!("no command `{command}`"));
        }
        let mut path = vec![*command];
        if let Some(part) = arguments.get(1).filter(is_name)
            && listed(self.help_of(&path), part)
        {
            path.push(part);
        }
        let help = self.help_of(&path);
        let is_known = |option: &str| {
            let pattern = format!(r"(?m)^ +(-\w, )?{}([ =,\[<]|$)", regex::escape(option));
            Regex::new(&pattern).expect("a pattern").is_match(help)
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
        let blocks = lines(text).into_iter().filter(|line| line.is_code);
        let blocks = blocks.map(|line| (line.number, line.text));
        let commands = parts(text, true).into_iter().chain(blocks);
        let problem = |(line, command): (usize, &str)| {
            let objection = self.objection(&arguments(command)?)?;
            Some(format!("{line}: {objection}"))
        };
        commands.filter_map(problem).collect()
    }
}

/// The name of a file of the project.
fn name(path: &Path) -> String {
    path.strip_prefix(project()).expect("a file of the project").display().to_string()
}

pub fn below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let paths = WalkDir::new(folder).into_iter().map(|entry| entry.expect("an entry").into_path());
    paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

/// The pages of the book, and those of [`BESIDE`].
fn documents() -> Vec<PathBuf> {
    let mut documents = below(&project().join("docs"), "md");
    documents.extend(BESIDE.map(|beside| project().join(beside)));
    assert!(documents.len() > 20, "{documents:?}");
    documents
}

/// Lines of documents fit the columns, use the words of the field, and name what exists.
#[test]
fn documents_have_no_problems() {
    let word = Regex::new(r"\w+").expect("a pattern");
    let sources = sources();
    let words = sources.iter().flat_map(|(_, text)| word.find_iter(text));
    let words: BTreeSet<&str> = words.map(|found| found.as_str()).collect();
    let mut help = Help::default();
    let mut problems = Vec::new();
    for path in documents() {
        let text = source(&path);
        let mut found = [long_lines(&text), old_phrases(&text), dead_links(&path, &text)].concat();
        found.extend(dead_includes(&path, &text));
        // The changelog and decisions name things of their time, which may no longer exist.
        let is_decision = path.components().any(|part| part.as_os_str() == "adr");
        if !is_decision && !path.ends_with("CHANGELOG.md") {
            found.extend(dead_paths(&text));
            found.extend(dead_names(&text, &words));
            found.extend(help.unknown_commands(&text));
        }
        problems.extend(found.iter().map(|what| format!("{}:{what}", name(&path))));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn comments_fit_the_columns_and_identifiers_use_the_words_of_the_field() {
    let sources = sources();
    let mut problems = old_names(&sources);
    for (name, text) in &sources {
        problems.extend(long_comments(text).iter().map(|what| format!("{name}:{what}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let text = "let workshop_of = ToldAt::new(\"hole\"); // said\nr#\"a \"told\"#;";
    let text = ["fn", " of() {} ", text].concat();
    let names = [
        "`ToldAt`: write `reported`",
        "`fn of`: write from what, as from_rtl",
        "`workshop_of`: write `Yosys session`",
    ];
    let expected = names.map(|problem| format!("a.rs: {problem}"));
    assert_eq!(old_names(&[("a.rs".to_owned(), text)]), expected);
}

/// A page that is listed twice or not written is a difference, too.
#[test]
fn the_summary_lists_every_page() {
    let docs = project().join("docs");
    let summary = docs.join("SUMMARY.md");
    let links = links(&source(&summary)).into_iter();
    let mut listed: Vec<PathBuf> = links.map(|(_, page)| docs.join(page)).collect();
    listed.push(summary);
    listed.sort();
    let mut written = below(&docs, "md");
    written.sort();
    assert_eq!(listed, written);
}

#[test]
fn the_book_has_each_page_with_what_it_includes_and_what_the_program_prints() {
    let place = Place::new();
    place.exits(0, "doc --out book.html");
    let book = place.text("book.html");
    for expected in [
        "<h3 id=\"reference-commands--cosim-history-add\">cosim history add</h3>",
        "--until-coverage &lt;",
        "<h3 id=\"reference-errors--e0213-",
        "agent bus: MemoryPortManager on BUS drawn by draw;",
    ] {
        assert!(book.contains(expected), "{expected} is not in the book");
    }
    let ids: BTreeSet<&str> = between(&book, " id=\"");
    let dead: Vec<_> = between(&book, "href=\"#").difference(&ids).copied().collect();
    assert_eq!(dead, [""; 0], "links to nothing");
    for left in ["{{#include", "<!-- generated", "ANCHOR"] {
        assert!(!book.contains(left), "{left} is in the book");
    }
    place.prints(2, &["no page has `nowhere`"], "doc nowhere");
    place.prints(2, &["E0602", "book.html"], "doc --out book.html");
}

/// What stands between `begin` and the next quotation mark.
fn between<'a>(text: &'a str, begin: &str) -> BTreeSet<&'a str> {
    text.split(begin).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Long tables and code, old phrases in code, and placeholders are no problems.
#[test]
fn problems_of_documents_are_found() {
    let long = "word ".repeat(30);
    let text = format!(
        "# Title\n{long}\n\n    {long}\n    - {long}\n    {long}\n\n| {long} |\n- {long}\n```\n{long}\n```\n"
    );
    assert_eq!(long_lines(&text), ["2: longer than 100 columns", "9: longer than 100 columns"]);
    let text = format!("    /// {long}\nlet a = \"{long}\";\n//! short\n// {long}\n");
    assert_eq!(long_comments(&text), ["1: longer than 100 columns", "4: longer than 100 columns"]);
    let text = "a hole, and `a hole`\n\n    the given RTL\n\nThe whole workshop\n";
    let phrases = ["5: `workshop`: write `Yosys session`", "1: `hole`: write `uncovered bin`"];
    assert_eq!(old_phrases(text), phrases);
    let path = project().join("docs/page.md");
    let text = "# One title: `a.b`\n[a](#one-title-ab) [b](#two) [c](SUMMARY.md#summary)\n\
                – [d](nothing.md)\n[e](https://example.org)\n";
    assert_eq!(dead_links(&path, text), ["2: no anchor #two", "3: no file nothing.md"]);
    let text = "{{#include ../examples/arbiter/build.rs:build}}\n\
                {{#include ../examples/arbiter/build.rs:nothing}}\n{{#include nothing.rs}}\n";
    assert_eq!(
        dead_includes(&path, text),
        [
            "2: no part {{#include ../examples/arbiter/build.rs:nothing}}",
            "3: no part {{#include nothing.rs}}"
        ]
    );
    let text = "`tests/nothing.rs`, `tests/e2e/main.rs`, `docs/blocks/NAME.md` and `src/mine.rs`\n";
    assert_eq!(dead_paths(text), ["1: no path tests/nothing.rs"]);
    let text = "`Block::NAMING` and `Block::NOTHING`\n";
    let words = ["Block", "NAMING"].into();
    assert_eq!(dead_names(text, &words), ["1: no Block::NOTHING in the code"]);
    let text = "Text with `cosim run --nothing` and `cosim list`.\n\n    cosim nothing\n    \
                $ cosim cover merge a -o b  # joins\n    scripts/run --sed 1\n    \
                cargo run --release -- run --seed 1\n    cargo run -- replay --seed 1\n    \
                cosim export v -o d --no=1\n\n\
                - item\n  with `cosim mutate --block qp --in-diff`\n";
    let commands = [
        "1: `cosim run` has no --nothing",
        "3: no command `nothing`",
        "5: `cosim run` has no --sed",
        "7: `cosim replay` has no --seed",
        "8: `cosim export` has no --no",
    ];
    assert_eq!(Help::default().unknown_commands(text), commands);
}
