//! `docs/reference/protocol.md` is generated from the types of the messages.

use crate::common::project;
use regex::Regex;
use std::fmt::Write as _;
use std::{env, fs};

/// Set to write the page instead of comparing it.
const BLESS: &str = "COSIM_BLESS";
const PAGE: &str = "docs/reference/protocol.md";
const HEAD: &str = "\
# Protocol

`cosim` and the program with the blocks are two programs. `cosim` starts the other one, reads its
description, and sends it work through pipes. This page is generated from the types of the messages
(`COSIM_BLESS=1 cargo test --test e2e protocol::`). Users never see the messages; who writes another
program with blocks, or another tool, needs them.

- `PROGRAM cosim-block-program describe` writes a line with the versions on standard output, and
  then a `Description`. The first line is `cosim-protocol 1, V, H`: the version of the protocol,
  that of the library, and a hash of its sources. `cosim` reads the rest only if the line equals its
  own, and otherwise ends with E0913.
- `PROGRAM cosim-block-program serve` is a worker. It reads each `Request` from standard input and
  writes each `Reply` to standard output. It restricts itself first, so its first message is
  `Started` or `NotReady`.
- `PROGRAM cosim-block-program schema` prints the JSON schema of vectors, and `rounds BLOCK PROFILE
  N,N,N,N` runs each part of the cycle loop, so that `cosim bench` can count instructions.

A message is a frame: its length in 4 bytes, little endian, and that many bytes of
[postcard](https://postcard.jamesmunns.com). Both sides check each message when it arrives: a frame
that is too long, cannot be decoded, or was not asked for counts as the loss of the worker.
";
/// The types of the messages, by file.
const TYPES: [(&str, &[&str]); 7] = [
    ("program.rs", &["Description"]),
    ("worker/wire.rs", &["Request", "Work", "Reply", "Answer", "Refusal"]),
    ("worker/task.rs", &["Task", "Action"]),
    ("engine.rs", &["SessionSetup"]),
    ("engine/query.rs", &["Query", "CaseVector", "RawVector"]),
    ("built.rs", &["Built"]),
    ("mutate/kill.rs", &["MutationJob", "KillAttempt"]),
];

/// A comment as Markdown: links to items become their texts.
fn plain(comment: &str) -> String {
    let link =
        Regex::new(r"\[([^\]]+)\](\([A-Za-z_:]+\))?").expect("a pattern that is always the same");
    link.replace_all(comment, "$1").into_owned()
}

/// The comments and lines of a type. The depth of a line is that of its item.
fn section(source: &str, name: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let is_type = |line: &&str| {
        ["struct", "enum"].iter().any(|kind| {
            let rest = line.strip_prefix(&format!("pub {kind} {name}"));
            rest.is_some_and(|rest| rest.starts_with([' ', '<']))
        })
    };
    let begin = lines.iter().position(is_type).unwrap_or_else(|| panic!("no type {name}"));
    let is_comment = |line: &&&str| line.starts_with("///") || line.starts_with("#[");
    let head = lines[..begin].iter().rev().take_while(is_comment).count();
    let mut page = format!("\n## {name}\n\n");
    let mut comment = Vec::new();
    for line in &lines[begin - head..begin] {
        comment.extend(line.strip_prefix("///").map(str::trim));
    }
    page += &wrapped(&plain(&comment.join(" ")), "");
    page.push('\n');
    comment.clear();
    for line in lines[begin + 1..].iter().take_while(|line| **line != "}") {
        let depth = (line.len() - line.trim_start().len()) / 4 - 1;
        let line = line.trim();
        if let Some(text) = line.strip_prefix("///") {
            comment.push(text.trim());
        } else if !line.starts_with("#[") && !["}", "},", ")", "),"].contains(&line) {
            let item = line.trim_end_matches([',', '{', ' ']).trim_start_matches("pub ");
            let item = item.trim_start_matches("#[serde(with = \"cosim_base::path_bytes\")] ");
            let text = format!("`{item}`: {}", plain(&comment.join(" ")));
            let indent = "  ".repeat(depth);
            page += &wrapped(&format!("{indent}- {text}"), &format!("{indent}  "));
            comment.clear();
        }
    }
    page
}

/// A paragraph in lines of 100 characters.
fn wrapped(text: &str, indent: &str) -> String {
    let mut page = String::new();
    let begin = &text[..text.len() - text.trim_start().len()];
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.len() + 1 + word.len() > 100 {
            let _ = writeln!(page, "{line}");
            line = String::new();
        }
        match (line.is_empty(), page.is_empty()) {
            (true, true) => line += begin,
            (true, false) => line += indent,
            (false, _) => line.push(' '),
        }
        line += word;
    }
    let _ = writeln!(page, "{line}");
    page
}

#[test]
fn the_page_is_that_of_the_messages() {
    let mut page = HEAD.to_owned();
    for (file, types) in TYPES {
        let path = project().join("crates/block/src").join(file);
        let source = fs::read_to_string(path).unwrap();
        types.iter().for_each(|name| page += &section(&source, name));
    }
    let path = project().join(PAGE);
    if env::var_os(BLESS).is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{PAGE} is not that of the messages; set {BLESS}=1 to write it");
}
