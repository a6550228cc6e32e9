//! A mutant as a change of a source line.
//!
//! Yosys mutates a bit of a cell and says which text the cell comes from. Where that text is one
//! expression with the cell's operator, the change is written as Verilog. Elsewhere, as for a
//! register or a macro, a comment beside the line says it.

use cosim_formats::mutation::{Mode, Mutation, Source};
use serde::Serialize;
use verilated_lexer::{Kind, Token, tokens};

/// Cells with two operands, their operators, and whether the result is one bit.
const BINARY: [(&str, &str, bool); 18] = [
    ("logic_and", "&&", true),
    ("logic_or", "||", true),
    ("eq", "==", true),
    ("ne", "!=", true),
    ("eqx", "===", true),
    ("nex", "!==", true),
    ("lt", "<", true),
    ("le", "<=", true),
    ("gt", ">", true),
    ("ge", ">=", true),
    ("add", "+", false),
    ("sub", "-", false),
    ("mul", "*", false),
    ("and", "&", false),
    ("or", "|", false),
    ("xor", "^", false),
    ("shl", "<<", false),
    ("shr", ">>", false),
];
const UNARY: [(&str, &str, bool); 5] = [
    ("logic_not", "!", true),
    ("not", "~", false),
    ("reduce_and", "&", true),
    ("reduce_or", "|", true),
    ("reduce_xor", "^", true),
];

/// A line before and after a mutation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MutantDiff {
    /// The place of the line, as `file:line`.
    pub at: String,
    pub before: String,
    pub after: String,
}

impl MutantDiff {
    /// The change of a mutant; `line` returns the text of a line. `None` if there is no line.
    pub fn from_mutation(
        mutation: &Mutation,
        line: &dyn Fn(&str, u32) -> Option<String>,
    ) -> Option<Self> {
        // The last place is that of the cell, the first one that of a signal.
        let lines = mutation.sources.iter().rev();
        let lines = lines.filter_map(|source| Some((source, line(&source.file, source.line)?)));
        let lines: Vec<_> = lines.collect();
        let written =
            |(source, before): &(&'_ Source, String)| rewritten(before, &source.place, mutation);
        let found = lines.iter().find_map(|one| Some((one, written(one)?)));
        let ((source, before), after) = found.or_else(|| {
            let one = lines.last()?;
            Some((one, format!("{}  // {}", one.1.trim_end(), mutation.words())))
        })?;
        let at = format!("{}:{}", source.file, source.line);
        Some(Self { at, before: before.trim().to_owned(), after: after.trim().to_owned() })
    }
}

/// The line with the mutation, if the place is one expression of the cell's kind.
fn rewritten(line: &str, place: &str, mutation: &Mutation) -> Option<String> {
    let (from, to) = place.split_once('-')?;
    let ((first, from), (last, to)) = (from.split_once('.')?, to.split_once('.')?);
    if first != last || !line.is_ascii() {
        return None;
    }
    let column = |text: &str| text.parse::<usize>().ok()?.checked_sub(1);
    let (from, to) = (column(from)?, column(to)?);
    let code: Vec<Token<'_>> = tokens(line).filter(Token::is_code).collect();
    // Yosys 0.23 counts `::NAME` twice.
    let shifted = |column: usize| {
        let mut excess = 0;
        for scope in code.windows(2).filter(|pair| pair[0].text == "::") {
            let length = scope[0].text.len() + scope[1].text.len();
            if scope[0].start + length + excess < column {
                excess += length;
            }
        }
        column.checked_sub(excess)
    };
    let exact = Some((from, to));
    let corrected = shifted(from).zip(shifted(to));
    [exact, corrected].into_iter().flatten().find_map(|(from, to)| {
        let (before, rest) = code.split_at(code.iter().position(|token| token.start == from)?);
        rest.iter().find(|token| token.range().end == to)?;
        let text = changed(&line[from..to], before, mutation)?;
        Some(format!("{}{text}{}", &line[..from], &line[to..]))
    })
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '$'
}

/// The expression of the cell, behind these tokens, with the mutation.
fn changed(text: &str, before: &[Token<'_>], mutation: &Mutation) -> Option<String> {
    let top = outside_brackets(text)?;
    let name = mutation.cell.trim_start_matches(['$', '\\']);
    let kind = &name[..name.find('$').unwrap_or(name.len())];
    let port = mutation.port.as_str();
    if kind == "procmux" {
        let is_if = matches!(before, [.., word, open] if word.text == "if" && open.text == "(");
        return (port == "S" && is_if).then(|| effect(text, true, mutation));
    }
    if kind == "ternary" {
        let first = top.iter().position(|token| token.text == "?")?;
        let mut depth = 0;
        let is_end = |token: &&Token<'_>| {
            depth += i32::from(token.text == "?") - i32::from(token.text == ":");
            depth == 0
        };
        let (question, colon) = (top[first].start, top[first..].iter().find(is_end)?.start);
        let parts = (&text[..question], &text[question + 1..colon], &text[colon + 1..]);
        let (condition, yes, no) = (parts.0.trim(), parts.1.trim(), parts.2.trim());
        let on = |part: &str, is_it: bool| match is_it {
            true => effect(part, false, mutation),
            false => part.to_owned(),
        };
        return match port {
            "Y" => Some(effect(text, false, mutation)),
            "S" => Some(format!("{} ? {yes} : {no}", effect(condition, true, mutation))),
            "A" | "B" => {
                Some(format!("{condition} ? {} : {}", on(yes, port == "B"), on(no, port == "A")))
            }
            _ => None,
        };
    }
    if let Some((_, operator, one_bit)) = UNARY.iter().find(|(known, ..)| *known == kind) {
        let operand = text.strip_prefix(operator)?.trim_start();
        return match port {
            "Y" => Some(effect(text, *one_bit, mutation)),
            "A" => Some(format!("{operator}({})", effect(operand, false, mutation))),
            _ => None,
        };
    }
    let (_, operator, one_bit) = BINARY.iter().find(|(known, ..)| *known == kind)?;
    let is_operand =
        |token: &Token<'_>| token.kind != Kind::Sign || ["(", "[", "{"].contains(&token.text);
    let is_it = |three: &&[Token<'_>]| is_operand(&three[0]) && three[1].text == *operator;
    let place = top.windows(3).rfind(is_it)?[1].range();
    let (left, right) = (text[..place.start].trim_end(), text[place.end..].trim_start());
    match port {
        "Y" => Some(effect(text, *one_bit, mutation)),
        "A" => Some(format!("{} {operator} {right}", effect(left, false, mutation))),
        "B" => Some(format!("{left} {operator} {}", effect(right, false, mutation))),
        _ => None,
    }
}

/// An expression with the fault.
fn effect(text: &str, one_bit: bool, mutation: &Mutation) -> String {
    let is_name = text.chars().all(|letter| is_of_name(letter) || letter == ':');
    let inner = if is_name { text.to_owned() } else { format!("({text})") };
    let bit = mutation.bit;
    match (mutation.mode, mutation.control) {
        (Mode::Const0, _) if one_bit => "1'b0".to_owned(),
        (Mode::Const1, _) if one_bit => "1'b1".to_owned(),
        (Mode::Inv, _) if one_bit => format!("!{inner}"),
        (Mode::Const0, _) => format!("({inner} & ~(1 << {bit}))"),
        (Mode::Const1, _) => format!("({inner} | (1 << {bit}))"),
        (Mode::Cnot0, Some(control)) => {
            format!("({inner} ^ ((~({inner} >> {control}) & 1) << {bit}))")
        }
        (Mode::Cnot1, Some(control)) => {
            format!("({inner} ^ ((({inner} >> {control}) & 1) << {bit}))")
        }
        _ => format!("({inner} ^ (1 << {bit}))"),
    }
}

/// The tokens of an expression without what is inside of brackets. `None` if it has a bracket
/// without the other one, a comment or a string.
fn outside_brackets(text: &str) -> Option<Vec<Token<'_>>> {
    let (mut outside, mut open) = (Vec::new(), Vec::new());
    for token in tokens(text) {
        if token.is_comment() || token.kind == Kind::String || token.text == ";" {
            return None;
        }
        if open.is_empty() && token.is_code() {
            outside.push(token);
        }
        match token.text {
            "(" => open.push(")"),
            "[" => open.push("]"),
            "{" | "'{" => open.push("}"),
            ")" | "]" | "}" if open.pop() != Some(token.text) => return None,
            _ => {}
        }
    }
    open.is_empty().then_some(outside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutated(line: &str, cell: &str, effect: &str, part: &str) -> String {
        let from = line.find(part).expect("the part") + 1;
        let place = format!("7.{from}-7.{}", from + part.len());
        mutant_text(line, cell, effect, &place)
    }

    fn mutant_text(line: &str, cell: &str, effect: &str, place: &str) -> String {
        let command = format!("mutate -module top -cell {cell} {effect} -src a.v:{place}");
        let mutation = Mutation::parse(1, &command, &str::to_owned).expect("a mutation");
        let text = |file: &str, number| (file == "a.v" && number == 7).then(|| line.to_owned());
        let diff = MutantDiff::from_mutation(&mutation, &text).expect("a line");
        assert_eq!((&*diff.at, &*diff.before), ("a.v:7", line.trim()));
        diff.after
    }

    #[test]
    fn a_mutant_of_an_expression_is_written_as_verilog() {
        let line = "  assign x = a - b;";
        let of = |effect: &str| mutated(line, "$sub$a.v:7$1", effect, "a - b");
        assert_eq!(of("-mode inv -port Y -portbit 2"), "assign x = ((a - b) ^ (1 << 2));");
        assert_eq!(of("-mode const0 -port B -portbit 4"), "assign x = a - (b & ~(1 << 4));");
        assert_eq!(of("-mode const1 -port A -portbit 0"), "assign x = (a | (1 << 0)) - b;");
        assert_eq!(
            of("-mode cnot1 -port Y -portbit 3 -ctrlbit 1"),
            "assign x = ((a - b) ^ ((((a - b) >> 1) & 1) << 3));"
        );
        let line = "assign y = (p && q[1]) && !r || s;";
        let of = |cell: &str, effect: &str, part: &str| mutated(line, cell, effect, part);
        let inv = "-mode inv -port Y -portbit 0";
        assert_eq!(
            of("$logic_and$a.v:7$2", inv, "(p && q[1]) && !r"),
            "assign y = !((p && q[1]) && !r) || s;"
        );
        // The last operator at the top is that of the cell.
        assert_eq!(
            of("$logic_and$a.v:7$2", "-mode const1 -port B -portbit 0", "(p && q[1]) && !r"),
            "assign y = (p && q[1]) && ((!r) | (1 << 0)) || s;"
        );
        let constant = "-mode const0 -port Y -portbit 0";
        assert_eq!(of("$logic_or$a.v:7$3", constant, "(p && q[1]) && !r || s"), "assign y = 1'b0;");
        let line = "assign z = c ? f[3:0] : g;";
        let of = |effect: &str| mutated(line, "$ternary$a.v:7$4", effect, "c ? f[3:0] : g");
        let [port_a, port_b, port_s] =
            ["A", "B", "S"].map(|port| of(&format!("-mode inv -port {port} -portbit 0")));
        assert_eq!(port_a, "assign z = c ? f[3:0] : (g ^ (1 << 0));");
        assert_eq!(port_b, "assign z = c ? ((f[3:0]) ^ (1 << 0)) : g;");
        assert_eq!(port_s, "assign z = !c ? f[3:0] : g;");
        let line = "if (go) q <= d;";
        let of = |effect: &str| mutated(line, "$procmux$5", effect, "go");
        assert_eq!(of("-mode const1 -port S -portbit 0"), "if (1'b1) q <= d;");
    }

    #[test]
    fn operators_are_whole_and_have_two_operands() {
        for (before, cell, after) in [
            ("a - -b", "sub", "a - ((-b) ^ (1 << 0))"),
            ("a&&!b", "logic_and", "a && ((!b) ^ (1 << 0))"),
            ("{a} & &b", "and", "{a} & ((&b) ^ (1 << 0))"),
            ("a ? b ? c : d : e", "ternary", "a ? ((b ? c : d) ^ (1 << 0)) : e"),
            ("a == 4'b1? ? b : c", "ternary", "a == 4'b1? ? (b ^ (1 << 0)) : c"),
        ] {
            let cell = format!("${cell}$1");
            assert_eq!(mutated(before, &cell, "-mode inv -port B -portbit 0", before), after);
        }
        let other = mutated("verif(go);", "$procmux$5", "-mode inv -port S -portbit 0", "go");
        assert!(other.starts_with("verif(go);  // "), "{other}");
    }

    /// The columns are those of Yosys 0.23: each `::NAME` counts twice.
    #[test]
    fn names_of_packages_move_the_columns() {
        let line = "assign x = !rst && (s == p_pkg::RTR || s == p_pkg::RTS);";
        let of =
            |place: &str| mutant_text(line, "$eq$a.v:7$1", "-mode inv -port Y -portbit 0", place);
        let expected = "assign x = !rst && (s == p_pkg::RTR || !(s == p_pkg::RTS));";
        // "s == p_pkg::RTS" begins in column 40 and ends before 55.
        assert_eq!(of("7.45-7.65"), expected);
        assert_eq!(of("7.40-7.55"), expected);
    }

    #[test]
    fn what_is_no_expression_of_the_cell_is_a_comment() {
        let line = "  reg [3:0] q; // state";
        let register = mutated(line, "$procdff$9", "-mode inv -port Q -portbit 3", "q");
        assert_eq!(register, "reg [3:0] q; // state  // bit 3 of Q of a register is inverted");
        let line = "assign x = `SUM(a, b);";
        for part in ["`SUM(a, b)", "SUM(a", "a, b"] {
            let after = mutated(line, "$add$1", "-mode inv -port Y -portbit 0", part);
            assert!(after.ends_with("// bit 0 of Y of a add is inverted"), "{after}");
        }
        // Places that do not exist, cut names, and other lines.
        let line = "assign x = abc + d;";
        for place in ["7.13-7.19", "7.0-7.3", "7.5-7.500", "7.12-9.3", "7.x-7.y", "7.18-7.12"] {
            let after = mutant_text(line, "$add$1", "-mode inv -port Y -portbit 0", place);
            assert!(after.contains("  // "), "{place}: {after}");
        }
    }
}
