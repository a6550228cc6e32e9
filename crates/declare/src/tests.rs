//! Each mistake in a declaration is one error, at its token, and says what to write.

use super::*;
use std::fmt::Write as _;
use std::fs;

const RIGHT: &str = r#"
pins Inputs, Outputs from "tests/ports/queue";
reset rst high;
tie wclk = 0;
tie mode = 2;
source push: Push { data: push_data[8] } on push_valid, push_ready;
sink pop: Pop { data: pop_data[8] } on pop_valid, pop_ready;
parameter DEPTH = 4 in 1..=64, "items";
profile "four" {}
golden Golden;
scoreboard Scoreboard;
block Queue = "queue": "a queue";
"#;

/// The declaration with a statement in the place of those that begin so.
fn with(statement: &str, without: Option<&str>) -> String {
    let stays = |line: &&str| without.is_none_or(|begin| !line.starts_with(begin));
    let others: Vec<&str> = RIGHT.lines().filter(stays).collect();
    format!("{}\n{statement}\n", others.join("\n"))
}

/// The errors of a declaration: the token, and the message.
fn errors(text: &str) -> Vec<(String, String)> {
    let tokens: TokenStream = text.parse().unwrap();
    let declaration = checked(syn::parse2(tokens).unwrap());
    let shown = |error: &syn::Error| {
        let token = error.span().source_text().unwrap_or_default();
        (token, error.to_string())
    };
    declaration.errors.iter().map(shown).collect()
}

/// Each paragraph of `tests/mistakes.txt` has a statement with a mistake, then its token and the
/// message. A line with `-` before it says which statement it replaces. To write the messages
/// again, set `COSIM_WRITE_MISTAKES`.
#[test]
fn each_mistake_is_one_error_at_its_token() {
    assert_eq!(errors(RIGHT), []);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mistakes.txt");
    let expected = fs::read_to_string(file).unwrap();
    let (mut found, mut count) = (String::new(), 0);
    for paragraph in expected.trim_end().split("\n\n") {
        let (begin, others) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        let without = begin.strip_prefix("- ");
        let statement = if without.is_some() { others } else { paragraph };
        let statement = statement.lines().take_while(|line| !line.starts_with("  "));
        let statement = statement.collect::<Vec<_>>().join("\n");
        let all = errors(&with(&statement, without));
        assert_eq!(all.len(), 1, "{statement}: {all:?}");
        let (token, message) = &all[0];
        if let Some(without) = without {
            let _ = writeln!(found, "- {without}");
        }
        let _ = writeln!(found, "{statement}\n  `{token}`: {message}\n");
        count += 1;
    }
    let found = found.trim_end().to_owned() + "\n";
    if std::env::var_os("COSIM_WRITE_MISTAKES").is_some() {
        fs::write(file, &found).unwrap();
    }
    assert_eq!(found, expected);
    assert!(count >= 40, "{count} mistakes");
}
