//! The tokens of Verilog and SystemVerilog text, each with its place.
//!
//! The tokens cover the text: each byte belongs to exactly one token, also in text that no tool
//! accepts. Reading takes linear time and never fails. Nothing is preprocessed: macros and
//! directives are tokens.
//!
//! Where Verilator and the standard let blanks decide, a token is as long as possible. Two texts
//! with the same tokens therefore mean the same, apart from comments that a tool obeys: `& &` is
//! not `&&`, and `10 ns` is not `10ns`.
//!
//! No crate serves. `sv-parser` (0.13) has no lexer of its own: its rules read characters, and the
//! first syntax error ends everything. The lexer of `moore-svlog-syntax` (0.14) interns names in
//! global tables, drops blanks and stops at what it does not know. `logos` generates lexers, but
//! what is difficult here (attributes, sizes with blanks, strings over lines) would be code of ours
//! in its callbacks, and each build script of a user would wait for its derive macro.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Blanks, tabs, form feeds and ends of lines.
    Blank,
    /// A comment up to the end of its line, without that end.
    LineComment,
    /// A comment up to `*/`, or to the end of the text.
    BlockComment,
    /// An identifier or a keyword.
    Word,
    /// An escaped identifier, from `\` on, without the blank that ends it.
    EscapedName,
    /// `$` and a word.
    SystemName,
    /// A number with its size, base, digits and unit, and the blanks inside: `8 'h ff`, `'0`,
    /// `1.5e-3`, `10ns`.
    Number,
    /// A string with its quotes. It ends at the end of its line at the latest, unless `\` stands
    /// before that end or the string begins with three quotes.
    String,
    /// `` ` `` and a word, or one of the marks of macro texts.
    Directive,
    /// `` `line `` or `` `pragma `` up to the end of its line.
    LineDirective,
    /// `\` at the end of a line.
    Continuation,
    /// An operator, a bracket, or other punctuation. `(*` and `*)` are those of attributes.
    Sign,
    /// A character that Verilog does not know here.
    Unknown,
}

/// A token and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its text.
    pub text: &'a str,
    /// The byte of the whole text at which it begins.
    pub start: usize,
    /// Its line, from 1.
    pub line: u32,
    /// The byte of the line at which it begins, from 1.
    pub column: u32,
}

impl<'a> Token<'a> {
    /// Its bytes in the whole text.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Whether it is a comment.
    pub const fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::BlockComment)
    }

    /// Whether it is neither a blank nor a comment.
    pub const fn is_code(&self) -> bool {
        !self.is_comment() && !matches!(self.kind, Kind::Blank)
    }

    /// How much deeper in brackets the text behind it is.
    pub fn depth(&self) -> i32 {
        match self.text {
            "(" | "[" | "{" | "'{" => 1,
            ")" | "]" | "}" => -1,
            _ => 0,
        }
    }

    /// The text of a comment without its marks and the blanks beside them.
    pub fn comment(&self) -> Option<&'a str> {
        self.is_comment().then(|| {
            let inner = self.text.get(2..).unwrap_or_default();
            let is_block = self.kind == Kind::BlockComment;
            let end = if is_block { inner.strip_suffix("*/") } else { None };
            end.unwrap_or(inner).trim()
        })
    }
}

/// The keywords of Verilog and SystemVerilog (IEEE 1800-2017).
const KEYWORDS: &str = "accept_on alias always always_comb always_ff always_latch and assert assign assume automatic \
    before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking \
    cmos config const constraint context continue cover covergroup coverpoint cross deassign default defparam design \
    disable dist do edge else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup \
    endinterface endmodule endpackage endprimitive endprogram endproperty endspecify endsequence endtable endtask enum \
    event eventually expect export extends extern final first_match for force foreach forever fork forkjoin function \
    generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include \
    initial inout input inside instance int integer interconnect interface intersect join join_any join_none large let \
    liblist library local localparam logic longint macromodule matches medium modport module nand negedge nettype new \
    nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive \
    priority program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand \
    randc randcase randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran \
    rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal \
    showcancelled signed small soft solve specify specparam static string strong strong0 strong1 struct super supply0 \
    supply1 sync_accept_on sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 \
    tranif1 tri tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use \
    uwire var vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor";

/// Whether a word is a keyword.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.split_whitespace().any(|keyword| keyword == word)
}

/// The tokens of a text, in order.
pub const fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, start: 0, line: 1, line_start: 0, is_event: false, is_attribute: false }
}

/// Number, file and level of a directive such as `` `line 3 "a.v" 1``.
pub fn line_directive(text: &str) -> Option<(u32, &str, &str)> {
    let (number, rest) = text.strip_prefix("`line ")?.split_once('"')?;
    let (file, level) = rest.rsplit_once('"')?;
    Some((number.trim().parse().ok()?, file, level.trim()))
}

/// The code of a text without directives. Each directive ends with its line, unless `\` stands
/// before that end, also in a comment.
pub fn outside_directives<'a>(
    text: &'a str,
    is_directive: impl Fn(&Token<'a>) -> bool,
) -> impl Iterator<Item = Token<'a>> {
    let (mut is_inside, mut is_continued) = (false, false);
    tokens(text).filter(move |token| {
        let is_end = token.kind == Kind::Blank && token.text.contains('\n') && !is_continued;
        is_continued = token.kind == Kind::LineComment && token.text.ends_with('\\');
        is_inside = is_inside && !is_end || is_directive(token);
        token.is_code() && !is_inside
    })
}

/// The place of the bracket that closes the one at `open`. `open` itself, if that is no bracket.
pub fn closing(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0;
    let is_end = |token: &Token<'_>| {
        depth += token.depth();
        depth == 0
    };
    tokens.iter().skip(open).position(is_end).map(|end| open + end)
}

/// An iterator over the tokens of a text.
#[derive(Debug, Clone)]
pub struct Tokens<'a> {
    text: &'a str,
    /// Where the next token begins.
    start: usize,
    line: u32,
    line_start: usize,
    /// Whether the last token was `@`, behind which there is no attribute.
    is_event: bool,
    /// Whether the next token is inside of `(* *)`.
    is_attribute: bool,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let rest = &self.text[self.start..];
        let (kind, length) = self.kind_and_length(rest)?;
        let text = &rest[..length];
        match kind {
            Kind::Blank | Kind::LineComment | Kind::BlockComment => {}
            Kind::Directive | Kind::LineDirective => {}
            Kind::Sign => {
                self.is_event = text == "@";
                self.is_attribute = text == "(*" || self.is_attribute && text != "*)";
            }
            _ => self.is_event = false,
        }
        let column = narrow(self.start - self.line_start + 1);
        let token = Token { kind, text, start: self.start, line: self.line, column };
        for (at, _) in text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n') {
            self.line = self.line.saturating_add(1);
            self.line_start = self.start + at + 1;
        }
        self.start += length;
        Some(token)
    }
}

impl Tokens<'_> {
    /// The kind and the length of the token at the start of a text.
    fn kind_and_length(&self, rest: &str) -> Option<(Kind, usize)> {
        let first = rest.chars().next()?;
        let second = rest.as_bytes().get(1).copied().unwrap_or_default();
        Some(match first {
            _ if is_blank(first) => (Kind::Blank, count(rest, is_blank)),
            '/' if second == b'/' => (Kind::LineComment, line(rest)),
            '/' if second == b'*' => (Kind::BlockComment, block_comment(rest)),
            '"' => (Kind::String, string(rest)),
            '\\' => escaped(rest),
            '`' => directive(rest),
            '0'..='9' => (Kind::Number, number(rest)),
            '\'' => match based(rest).or_else(|| unbased(rest)) {
                Some(length) => (Kind::Number, length),
                None => (Kind::Sign, if second == b'{' { 2 } else { 1 }),
            },
            '$' => match count(&rest[1..], is_of_word) {
                0 => (Kind::Sign, 1),
                length => (Kind::SystemName, 1 + length),
            },
            '(' if second == b'*' && !self.is_event && !begins_with_bracket(&rest[2..]) => {
                (Kind::Sign, 2)
            }
            '*' if second == b')' && self.is_attribute => (Kind::Sign, 2),
            _ if is_of_word(first) => (Kind::Word, count(rest, is_of_word)),
            _ if SIGNS.contains(first) => (Kind::Sign, sign(rest)),
            _ => (Kind::Unknown, first.len_utf8()),
        })
    }
}

/// All characters of signs.
const SIGNS: &str = "!#%&()*+,-./:;<=>?@[]^{|}~";
/// The signs of more than one character, without `(*`, `*)` and `'{`.
const LONG_SIGNS: [&[&str]; 3] = [
    &["<<<=", ">>>="],
    &[
        "<<<", ">>>", "<<=", ">>=", "===", "!==", "==?", "!=?", "&&&", "->>", "<->", "|->", "|=>",
        "#-#", "#=#", "+/-", "+%-",
    ],
    &[
        "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "**", "++", "--", "+=", "-=", "*=", "/=",
        "%=", "&=", "|=", "^=", "~&", "~|", "~^", "^~", "->", "=>", "*>", "+:", "-:", "::", ":=",
        ":/", "##", ".*",
    ],
];

fn sign(rest: &str) -> usize {
    // What follows `:` is a comment.
    if rest.starts_with("://") || rest.starts_with(":/*") {
        return 1;
    }
    let mut long = LONG_SIGNS.iter().flat_map(|signs| signs.iter());
    long.find(|sign| rest.starts_with(**sign)).map_or(1, |sign| sign.len())
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

const fn is_blank(letter: char) -> bool {
    letter.is_ascii_whitespace()
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

const fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit() || letter == '_'
}

/// Whether a character may be a digit of a number with a base.
const fn is_based_digit(letter: char) -> bool {
    letter.is_ascii_hexdigit() || matches!(letter, 'x' | 'X' | 'z' | 'Z' | '_' | '?')
}

/// The length of the longest beginning of such characters.
fn count(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !is(letter)).unwrap_or(text.len())
}

/// The length up to the end of the line.
fn line(text: &str) -> usize {
    let end = text.find('\n').unwrap_or(text.len());
    if text[..end].ends_with('\r') && end < text.len() { end - 1 } else { end }
}

/// The length of the comment at the start of a text.
fn block_comment(text: &str) -> usize {
    text[2..].find("*/").map_or(text.len(), |end| end + 4)
}

/// Whether `)` is the next token apart from blanks, comments and directives of lines, so that `(*`
/// before it is the beginning of `(*)`.
fn begins_with_bracket(mut text: &str) -> bool {
    loop {
        text = text.trim_start_matches(is_blank);
        text = match text.as_bytes() {
            [b'/', b'/', ..] => &text[line(text)..],
            [b'/', b'*', ..] => &text[block_comment(text)..],
            [b'`', ..] if directive(text).0 == Kind::LineDirective => &text[line(text)..],
            _ => return text.starts_with(')'),
        };
    }
}

/// The length of the string at the start of a text.
fn string(text: &str) -> usize {
    const LONG: &str = "\"\"\"";
    if text.starts_with(LONG) {
        // Without its end, it is an empty string that another one follows.
        return end_of_string(text, LONG)
            .filter(|(_, is_ended)| *is_ended)
            .map_or(2, |(end, _)| end);
    }
    end_of_string(text, "\"").map_or(text.len(), |(end, _)| end)
}

/// Where the string at the start of a text ends, and whether it ends with its quotes.
fn end_of_string(text: &str, quotes: &str) -> Option<(usize, bool)> {
    let bytes = text.as_bytes();
    let mut at = quotes.len();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if bytes[at + 1..].starts_with(b"\r\n") => at += 3,
            b'\\' => at += 2,
            b'"' if bytes[at..].starts_with(quotes.as_bytes()) => {
                return Some((at + quotes.len(), true));
            }
            b'\n' if quotes.len() == 1 => return Some((at, false)),
            _ => at += 1,
        }
    }
    None
}

/// The token that begins with `\`.
fn escaped(text: &str) -> (Kind, usize) {
    match count(&text[1..], |letter| !is_blank(letter)) {
        0 if text[1..].starts_with('\n') => (Kind::Continuation, 2),
        0 if text[1..].starts_with("\r\n") => (Kind::Continuation, 3),
        0 => (Kind::Unknown, 1),
        length => (Kind::EscapedName, 1 + length),
    }
}

/// The token that begins with `` ` ``.
fn directive(text: &str) -> (Kind, usize) {
    const MARKS: [&str; 3] = ["``", "`\"", "`\\`\""];
    if let Some(mark) = MARKS.iter().find(|mark| text.starts_with(**mark)) {
        return (Kind::Directive, mark.len());
    }
    match count(&text[1..], is_of_word) {
        0 if text[1..].starts_with('\\') => match escaped(&text[1..]) {
            (Kind::EscapedName, length) => (Kind::Directive, 1 + length),
            _ => (Kind::Unknown, 1),
        },
        0 => (Kind::Unknown, 1),
        length if ["line", "pragma"].contains(&&text[1..=length]) => {
            (Kind::LineDirective, line(text))
        }
        length => (Kind::Directive, 1 + length),
    }
}

/// The length of the number that begins with a digit.
fn number(text: &str) -> usize {
    let digits = count(text, is_digit);
    let behind = digits + count(&text[digits..], is_blank);
    if let Some(length) = based(&text[behind..]) {
        return behind + length;
    }
    let is_digit_at = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let mut end = digits;
    if text[end..].starts_with('.') && is_digit_at(end + 1) {
        end += 1 + count(&text[end + 1..], is_digit);
    }
    let exponent = text[end..].strip_prefix(['e', 'E']).unwrap_or_default();
    if exponent.starts_with(['+', '-']) && is_digit_at(end + 2) {
        end += 2;
    }
    end + count(&text[end..], is_of_word)
}

/// The length of the base and the digits at the start of a text. The digits may come from a macro.
fn based(text: &str) -> Option<usize> {
    let base = text.strip_prefix('\'')?;
    let base = base.strip_prefix(['s', 'S']).unwrap_or(base);
    let digits = base.strip_prefix(['b', 'B', 'o', 'O', 'd', 'D', 'h', 'H'])?;
    let end = text.len() - digits.len();
    let blanks = count(digits, is_blank);
    if !digits[blanks..].starts_with(is_based_digit) {
        return Some(end + if blanks == 0 { count(digits, is_of_word) } else { 0 });
    }
    let is_of_number = |letter| is_based_digit(letter) || is_of_word(letter);
    Some(end + blanks + count(&digits[blanks..], is_of_number))
}

/// The length of `'0`, `'1`, `'x` or `'z` at the start of a text.
fn unbased(text: &str) -> Option<usize> {
    let digit = text.strip_prefix('\'')?;
    let is_value = digit.starts_with(['0', '1', 'x', 'X', 'z', 'Z']);
    is_value.then(|| 1 + count(digit, is_of_word))
}

#[cfg(test)]
mod tests;
