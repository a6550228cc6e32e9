//! Cuts parts out of SystemVerilog that Yosys cannot read as a whole. The text is preprocessed, so
//! it has no comments.

/// What is between two keywords, with them, and everything else. A name behind the second keyword,
/// as in `endfunction : name`, is left out.
pub fn parts(text: &str, begin: &str, end: &str) -> (String, String) {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_$`\\".contains(letter);
    let find = |from: usize, word: &str| {
        let found = text[from..].match_indices(word).map(|(at, _)| from + at);
        let is_word = |at: &usize| {
            !text[..*at].ends_with(is_name) && !text[at + word.len()..].starts_with(is_name)
        };
        found.into_iter().find(is_word)
    };
    let (mut inside, mut outside, mut from) = (String::new(), String::new(), 0);
    while let Some(first) = find(from, begin) {
        let Some(last) = find(first, end).map(|last| last + end.len()) else { break };
        outside.push_str(&text[from..first]);
        inside.push_str(&text[first..last]);
        inside.push('\n');
        let rest = text[last..].trim_start();
        let named = rest.strip_prefix(':').map(str::trim_start);
        from = text.len() - named.map_or(rest, |rest| rest.trim_start_matches(is_name)).len();
    }
    outside.push_str(&text[from..]);
    (inside, outside)
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn parts_are_whole_words_and_lose_their_name() {
        let text = "module my_package; endmodule\npackage p; localparam A = 1;\nfunction f; \
                    endfunction : f\nendpackage : p\npackage q; endpackage\npackage open;";
        let (inside, outside) = parts(text, "package", "endpackage");
        let p = "package p; localparam A = 1;\nfunction f; endfunction : f\nendpackage";
        assert_eq!(inside, format!("{p}\npackage q; endpackage\n"));
        assert_eq!(outside, "module my_package; endmodule\n\npackage open;");
        let (_, outside) = parts(p, "function", "endfunction");
        assert_eq!(outside, "package p; localparam A = 1;\n\nendpackage");
        assert_eq!(parts("", "package", "endpackage"), (String::new(), String::new()));
    }
}
