//! Cuts parts out of SystemVerilog that Yosys cannot read as a whole. The text is preprocessed, so
//! it has no macros.

use verilated_lexer::{Token, tokens};

/// What is between two keywords, with them, and everything else. A name behind the second keyword,
/// as in `endfunction : name`, is left out.
pub fn split_between(text: &str, begin: &str, end: &str) -> (String, String) {
    let tokens: Vec<Token<'_>> = tokens(text).collect();
    let find = |from: usize, word: &str| (from..tokens.len()).find(|at| tokens[*at].text == word);
    let (mut inside, mut outside, mut from) = (String::new(), String::new(), 0);
    while let Some(first) = find(from, begin) {
        let Some(last) = find(first, end) else { break };
        outside.extend(tokens[from..first].iter().map(|token| token.text));
        inside.extend(tokens[first..=last].iter().map(|token| token.text));
        inside.push('\n');
        let mut code = (last + 1..tokens.len()).filter(|at| tokens[*at].is_code());
        let is_named = code.next().is_some_and(|at| tokens[at].text == ":");
        from = code.next().filter(|_| is_named).unwrap_or(last) + 1;
    }
    outside.extend(tokens[from..].iter().map(|token| token.text));
    (inside, outside)
}

#[cfg(test)]
mod tests {
    use super::split_between;

    #[test]
    fn parts_are_whole_words_and_lose_their_name() {
        let text = "module my_package; endmodule\npackage p; localparam A = 1;\nfunction f; \
                    endfunction : f\nendpackage : p\npackage q; endpackage\npackage open;";
        let (inside, outside) = split_between(text, "package", "endpackage");
        let p = "package p; localparam A = 1;\nfunction f; endfunction : f\nendpackage";
        assert_eq!(inside, format!("{p}\npackage q; endpackage\n"));
        assert_eq!(outside, "module my_package; endmodule\n\n\npackage open;");
        let (_, outside) = split_between(p, "function", "endfunction");
        assert_eq!(outside, "package p; localparam A = 1;\n\nendpackage");
        for one in [
            "package a; string s = \"endpackage\"; endpackage",
            "package a; wire \\endpackage ; endpackage",
            "package a; /*verilator endpackage */ endpackage",
        ] {
            assert_eq!(
                split_between(one, "package", "endpackage"),
                (format!("{one}\n"), String::new())
            );
        }
        assert_eq!(split_between("", "package", "endpackage"), (String::new(), String::new()));
    }
}
