//! Finds delays (`#5`) in RTL. Verilator ignores them, most without a message.

use super::Examined;
use super::header::{is_known, is_name, tokens};

/// A delay.
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
fn delays_in(text: &str) -> Vec<(usize, bool)> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut is_process = false;
    let (mut counted, mut line) = (0, 1);
    for (at, token) in tokens.iter().enumerate() {
        let next = |of: usize| tokens.get(at + of).map_or("", |token| token.text);
        let last = at.checked_sub(1).map_or("", |at| tokens[at].text);
        match token.text {
            "always" | "forever" => is_process = next(1) != "@",
            "initial" | "final" | "always_comb" | "always_ff" | "always_latch" | "endmodule" => {
                is_process = false;
            }
            "#" if next(1) != "#" && last != "#" && is_delay(last, next(1)) => {
                line += text[counted..token.at].matches('\n').count();
                counted = token.at;
                found.push((line, is_process));
            }
            _ => {}
        }
    }
    found
}

/// Whether `#` between two words is a delay. Else it is in front of parameters.
fn is_delay(last: &str, next: &str) -> bool {
    const BEFORE: [&str; 10] =
        ["assign", "=", "<", "always", "initial", "forever", "begin", "else", "fork", "do"];
    let is_value = next.starts_with(|letter: char| letter.is_ascii_digit()) || is_name(next);
    match next {
        "(" => BEFORE.contains(&last) || last == "<=" || last == ")",
        _ => is_value && (!is_name(last) || is_known(last) || BEFORE.contains(&last)),
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
            ("and #2 g(a, b, c);", &[]),
        ] {
            assert_eq!(delays_in(text), expected, "{text}");
        }
    }
}
