//! Finds delays (`#5`) in RTL. Verilator ignores them, most without a message.

use super::Examined;
use super::header::{code, is_name};
use verilated_lexer::{Kind, Token, is_keyword};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delay {
    /// Its file, as typed, and its line.
    pub place: String,
    /// Whether it is in a process that waits for nothing else.
    pub is_process: bool,
}

/// The delays of all files, in their order.
pub fn delays(examined: &Examined) -> Vec<Delay> {
    let files = examined.texts.iter().zip(&examined.files);
    let of_file = files.flat_map(|(file, read)| {
        let found = delays_in(&String::from_utf8_lossy(&file.text));
        found
            .into_iter()
            .map(|(line, is_process)| Delay { place: format!("{}:{line}", read.path), is_process })
    });
    of_file.collect()
}

/// The lines of delays, and whether each is in a process that waits for nothing else.
fn delays_in(text: &str) -> Vec<(u32, bool)> {
    let tokens = code(text, true);
    let mut found = Vec::new();
    let mut is_process = false;
    for (at, token) in tokens.iter().enumerate() {
        let last = at.checked_sub(1).map_or("", |at| tokens[at].text);
        let next = tokens.get(at + 1);
        match token.text {
            "always" | "forever" => is_process = next.is_none_or(|next| next.text != "@"),
            "module" | "initial" | "final" | "always_comb" | "always_ff" | "always_latch"
            | "endmodule" => is_process = false,
            "#" if next.is_some_and(|next| is_delay(last, next)) => {
                found.push((token.line, is_process));
            }
            _ => {}
        }
    }
    found
}

/// Whether `#` between two words is a delay. Else it is in front of parameters.
fn is_delay(last: &str, next: &Token<'_>) -> bool {
    const BEFORE: [&str; 10] =
        ["assign", "=", "<=", "always", "initial", "forever", "begin", "else", "fork", "do"];
    match next.kind {
        Kind::Number | Kind::Word | Kind::EscapedName | Kind::Directive => {
            !is_name(last) || is_keyword(last)
        }
        _ => next.text == "(" && (BEFORE.contains(&last) || last == ")"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_found_and_parameters_are_none() {
        for (text, expected) in [
            ("assign #2 q = d;", &[(1, false)][..]),
            ("always @(posedge clk) r <= #1 d;\nwire #(3) w;", &[(1, false)]),
            ("always @(posedge clk)\n  r <= #(T) d;", &[(2, false)]),
            ("always #5 c = ~c;", &[(1, true)]),
            ("always begin\n#5 c = 0;\n#T c = 1;\nend", &[(2, true), (3, true)]),
            ("initial begin c = 0; forever #5 c = ~c; end", &[(1, true)]),
            ("initial begin #5 c = 0; end", &[(1, false)]),
            ("always @* if (a) #5 c = 0;", &[(1, false)]),
            (
                "module m import p::*; #(parameter N = 1) (input a); fifo #(.N(2)) f(); x #(3) y();",
                &[],
            ),
            ("assert property (@(posedge clk) a |-> ##1 b); // #5", &[]),
            ("fifo #(8) f(); fifo #16 g(); pkg::c #(T)::type_id x;", &[]),
            ("/*\n#5*/ q <= #`D \"#5\";", &[(2, false)]),
            ("`define A(x) \\\n q <= #5 x\n", &[(2, false)]),
            ("`define A always #5 c = ~c\nmodule m; task t; #5; endtask", &[(1, true), (2, false)]),
            (
                "and #2 g(a, b, c); initial case (a) 1: b = 1; endcase\n#5 c = 0;",
                &[(1, false), (2, false)],
            ),
        ] {
            assert_eq!(delays_in(text), expected, "{text}");
        }
    }
}
