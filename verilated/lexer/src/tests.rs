//! Tokens of short texts, read off the standard by hand, and properties of all texts.

use super::Kind::*;
use super::*;
use proptest::prelude::*;

/// Kinds and texts of the code of a text.
fn code(text: &str) -> Vec<(Kind, &str)> {
    let code = tokens(text).filter(Token::is_code);
    code.map(|token| (token.kind, token.text)).collect()
}

fn texts(text: &str) -> Vec<&str> {
    code(text).into_iter().map(|(_, text)| text).collect()
}

#[test]
fn operators_are_as_long_as_possible() {
    // Tokens with a blank between them.
    for (text, expected) in [
        ("two && two", "two && two"),
        ("two & &two", "two & & two"),
        ("a||b|| |c", "a || b || | c"),
        ("a<<<=b>>>=c<<<d", "a <<<= b >>>= c <<< d"),
        ("a===b!==c==?d!=?e", "a === b !== c ==? d !=? e"),
        ("a&&&b&& &c", "a &&& b && & c"),
        ("->>e->e a<->b x|->y|=>z", "->> e -> e a <-> b x |-> y |=> z"),
        ("##1 #1 # # 2", "## 1 # 1 # # 2"),
        ("a[i+:4][j-:2]", "a [ i +: 4 ] [ j -: 2 ]"),
        ("a=~^b;c=^~b;d=~&b", "a = ~^ b ; c = ^~ b ; d = ~& b"),
        ("'{a:1}", "'{ a : 1 }"),
        ("p::t'(a)", "p :: t ' ( a )"),
        ("q[$:$-1]", "q [ $ : $ - 1 ]"),
        ("a?b:/*c*/d", "a ? b : d"),
        ("M u(.*);", "M u ( .* ) ;"),
    ] {
        assert_eq!(texts(text), expected.split(' ').collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn attributes_are_not_sensitivity_lists() {
    for (text, expected) in [
        ("(* a = 2 *) b", &["(*", "a", "=", "2", "*)", "b"][..]),
        ("@(*) a", &["@", "(", "*", ")", "a"]),
        ("@( * ) a", &["@", "(", "*", ")", "a"]),
        ("@(* ) a", &["@", "(", "*", ")", "a"]),
        ("@(*/* c */) a", &["@", "(", "*", ")", "a"]),
        ("@(*// )\n) a", &["@", "(", "*", ")", "a"]),
        ("(*\n`line 3 \"a\" 1\n)", &["(", "*", "`line 3 \"a\" 1", ")"]),
        ("@ `celldefine (* `x *)", &["@", "`celldefine", "(", "*", "`x", "*", ")"]),
        ("(b *c)", &["(", "b", "*", "c", ")"]),
        ("(* a = \"*)\" *)", &["(*", "a", "=", "\"*)\"", "*)"]),
        ("\\a(*b *)", &["\\a(*b", "*", ")"]),
    ] {
        assert_eq!(texts(text), expected, "{text}");
    }
}

#[test]
fn numbers_have_their_size_base_and_unit() {
    for one in [
        "8'hff",
        "8 'h ff",
        "4'b1?xz_0",
        "'sd5",
        "'0",
        "'1",
        "'x",
        "'Z",
        "12_000",
        "1.5e-3",
        "1e+3",
        "10ns",
        "1.5us",
        "1step",
        "3'o7",
        "8\n'd\t9",
        "'dx",
        "4'hF_f",
    ] {
        assert_eq!(code(one), [(Number, one)]);
    }
    for (text, expected) in [
        ("10 ns", &["10", "ns"][..]),
        ("8'd`N+1", &["8'd", "`N", "+", "1"]),
        ("`W'd5", &["`W", "'d5"]),
        ("5'(a)", &["5", "'", "(", "a", ")"]),
        ("a==5?b:c", &["a", "==", "5", "?", "b", ":", "c"]),
        ("a[3:0]", &["a", "[", "3", ":", "0", "]"]),
        ("8'h", &["8'h"]),
        ("8'h ; 'b", &["8'h", ";", "'b"]),
        ("1 '{", &["1", "'{"]),
        ("u.q", &["u", ".", "q"]),
        ("1..2", &["1", ".", ".", "2"]),
    ] {
        assert_eq!(texts(text), expected, "{text}");
    }
}

#[test]
fn strings_are_exact_also_over_lines() {
    for one in [
        r#""a \" b""#,
        r#""a\\""#,
        "\"a\\\n  b\"",
        "\"a\\\r\n  b\"",
        r#""// no /* comment""#,
        "\"\"\"a\n\"b\" c\"\"\"",
        r#""é\é""#,
    ] {
        assert_eq!(code(one), [(String, one)]);
    }
    for (text, expected) in [
        // It ends at the end of its line.
        ("\"a\nb\"c", &["\"a", "b", "\"c"][..]),
        ("\"a\\\\\nb", &["\"a\\\\", "b"]),
        ("\"\"\"a", &["\"\"", "\"a"]),
        ("{\"\",\"b\"}", &["{", "\"\"", ",", "\"b\"", "}"]),
        ("\"a\\", &["\"a\\"]),
    ] {
        assert_eq!(texts(text), expected, "{text}");
    }
}

#[test]
fn names_directives_and_comments_differ() {
    let text = "module \\a+b ;\r\n`line 3 \"a b.v\" 1\r\n`default_nettype none // x */\n$display(`X) /* \" */ é §";
    let expected = [
        (Word, "module"),
        (EscapedName, "\\a+b"),
        (Sign, ";"),
        (LineDirective, "`line 3 \"a b.v\" 1"),
        (Directive, "`default_nettype"),
        (Word, "none"),
        (SystemName, "$display"),
        (Sign, "("),
        (Directive, "`X"),
        (Sign, ")"),
        (Word, "é"),
        (Unknown, "§"),
    ];
    assert_eq!(code(text), expected);
    let comments: Vec<_> = tokens(text).filter_map(|token| token.comment()).collect();
    assert_eq!(comments, ["x */", "\""]);
    assert_eq!(
        texts("`define A(x) `\"x`\" b``x \\\n c"),
        ["`define", "A", "(", "x", ")", "`\"", "x", "`\"", "b", "``", "x", "\\\n", "c"]
    );
    assert_eq!(texts("/*/ a */ b // c"), ["b"]);
    assert_eq!(tokens("//").next().unwrap().comment(), Some(""));
    assert_eq!(tokens("/*").next().unwrap().comment(), Some(""));
}

#[test]
fn directives_end_with_their_lines() {
    for (text, expected) in [
        ("`define A(x) x \\\n + 1\nb `C\nd", "b d"),
        ("`define A 1 // x \\\n + 1\nb", "b"),
        ("`define A 1 /* x\n y */ + 1\nb", "b"),
        ("a\n`line 3 \"b\" 1\n\"`c\"", "a \"`c\""),
    ] {
        let is_directive = |token: &Token<'_>| matches!(token.kind, Directive | LineDirective);
        let code = outside_directives(text, is_directive);
        assert_eq!(code.map(|token| token.text).collect::<Vec<_>>().join(" "), expected);
    }
}

#[test]
fn places_are_counted_from_1() {
    let places: Vec<_> = tokens("a /*\n\n*/ é b\n  \"c\\\nd\" e")
        .filter(Token::is_code)
        .map(|token| (token.text, token.start, token.line, token.column))
        .collect();
    let expected = [
        ("a", 0, 1, 1),
        ("é", 9, 3, 4),
        ("b", 12, 3, 7),
        ("\"c\\\nd\"", 16, 4, 3),
        ("e", 23, 5, 4),
    ];
    assert_eq!(places, expected);
}

/// Pieces of Verilog between which blanks decide.
const PIECES: [&str; 46] = [
    "a", "b_1", "e3", "h", "1", "23", "4'b", "'h", "'d", "'s", "'0", "'", "\"s\"", "\"\"", "\"",
    "(", "*", ")", "(*", "*)", "&", "|", "<", ">", "=", "!", "~", "^", "-", "+", ":", "?", "#",
    "/", ".", "[", "{", "$", "$x", "`m", "`line", "\\e+", "x", "%", ",", "@",
];

/// Checks what holds for each text.
fn check(text: &str) -> Result<(), TestCaseError> {
    let (mut start, mut line, mut line_start) = (0, 1_u32, 0);
    for token in tokens(text) {
        prop_assert!(!token.text.is_empty());
        prop_assert_eq!(token.range(), start..start + token.text.len());
        prop_assert_eq!(&text[token.range()], token.text);
        prop_assert_eq!((token.line, token.column as usize), (line, start - line_start + 1));
        start += token.text.len();
        line += u32::try_from(token.text.matches('\n').count()).unwrap();
        line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    }
    prop_assert_eq!(start, text.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn tokens_cover_random_bytes(bytes: Vec<u8>) {
        check(&std::string::String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn tokens_cover_random_verilog(pieces in prop::collection::vec(0..PIECES.len() + 4, 0..40)) {
        let more = [" ", "\n", "/*", "//"];
        let text: std::string::String =
            pieces.into_iter().map(|at| PIECES.get(at).unwrap_or_else(|| &more[at - PIECES.len()])).copied().collect();
        check(&text)?;
    }

    /// Blanks between tokens do not matter.
    #[test]
    fn tokens_on_lines_of_their_own_are_the_same(pieces in prop::collection::vec(0..PIECES.len(), 0..20)) {
        let text: std::string::String =
            pieces.into_iter().map(|at| [PIECES[at], if at % 3 == 0 { "\n" } else { "" }].concat()).collect();
        // A comment between two tokens keeps them apart.
        prop_assume!(!tokens(&text).any(|token| token.is_comment()));
        let apart = texts(&text).join("\n");
        prop_assert_eq!(texts(&apart), texts(&text), "{}", text);
    }
}

/// Each would take minutes in quadratic time.
#[test]
fn long_texts_take_linear_time() {
    for piece in [
        "(*",
        "(*/**/",
        "5 ",
        "5 'h ",
        "\"\"\"",
        "\"",
        "\\",
        "`",
        "/*",
        "/",
        "'",
        "\"\"\"\\\n",
        "a\n",
        "(* \"",
        "`\"",
        "*)",
        "//\n",
        "1e+",
        "`line ",
        "\"\\",
    ] {
        let text = piece.repeat(400_000);
        let length: usize = tokens(&text).map(|token| token.text.len()).sum();
        assert_eq!(length, text.len(), "{piece}");
    }
}
