//! What the text of a module declares before Verilator can elaborate it: parameters with their
//! defaults, and ports that are interfaces.
//!
//! A module with an interface port elaborates only inside of one that connects it, and Verilator's
//! messages do not always say which interface a port is. The text is scanned, not parsed: what is
//! not recognized is left out, and Verilator says what is wrong.

use super::given::UserRtl;
use super::{candidates, verilator};
use cosim_base::error::Error;
use cosim_base::files::{LARGEST_INPUT, read_input};
use cosim_block::rtl::Rtl;
use std::path::{Path, PathBuf};
use verilated_build::sources::Declarations;
use verilated_build::{Design, VerilatorOption};
use verilated_lexer::{Kind, Token, closing, is_keyword, outside_directives};

/// What a module declares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    pub imports: String,
    /// Parameters, in their order.
    pub parameters: Vec<HeaderParameter>,
    pub interfaces: Vec<InterfacePort>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderParameter {
    /// The declaration up to the value, without `parameter`: `int unsigned N`, or `type T`.
    pub declaration: String,
    pub name: String,
    /// The default.
    pub value: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfacePort {
    /// The interface, or a type of that name.
    pub interface: String,
    pub port: String,
    /// The range of an array, as written.
    pub range: String,
    pub has_modport: bool,
    /// Whether the interface has no name.
    pub is_generic: bool,
}

/// Directives but `define`, whose lines are no code. Other words behind a back quote are macros.
const DIRECTIVES: &str = "undef undefineall ifdef ifndef elsif else endif include timescale default_nettype \
    resetall celldefine endcelldefine begin_keywords end_keywords unconnected_drive nounconnected_drive";

impl Header {
    /// Finds the module in the RTL. A header that is not found declares nothing.
    ///
    /// # Errors
    /// As for RTL that is examined.
    pub fn find_module(top: &str, rtl: &Rtl, options: &[VerilatorOption]) -> Result<Self, Error> {
        let given = UserRtl::find(rtl)?;
        let endings = [".v", ".sv"].map(str::to_owned);
        let endings = || endings.iter().chain(&given.extensions);
        let folders = given.folders.iter().map(|folder| &folder.path);
        let beside = folders
            .clone()
            .flat_map(|folder| endings().map(move |end| folder.join(format!("{top}{end}"))));
        let named = given.sources.iter().chain(&given.libraries).cloned();
        for path in named.chain(beside.filter(|path| path.is_file())) {
            let text = read_input(&path, LARGEST_INPUT)?;
            let text = String::from_utf8_lossy(&text);
            if !Declarations::scan_text(&text).declares(top) {
                continue;
            }
            let design = Design {
                top: top.to_owned(),
                include: folders.cloned().collect(),
                defines: given.defines.clone(),
                options: options.to_vec(),
                ..Design::default()
            };
            // Macros may be defined in other files: then the preprocessor does not get that far.
            let expanded = preprocessed(design, path)?;
            let found = Self::parse(&expanded, top).or_else(|| Self::parse(&text, top));
            return Ok(found.unwrap_or_default());
        }
        Ok(Self::default())
    }

    pub fn is_string(&self, name: &str) -> bool {
        self.parameters.iter().filter(|own| own.name == name).any(|own| {
            own.declaration.split_whitespace().any(|word| word == "string")
                || own.value.as_ref().is_some_and(|value| value.starts_with('"'))
        })
    }

    /// The parameters for a message about a name that is none.
    pub fn parameter_names(&self, wanted: &str) -> String {
        let names: Vec<&str> = self.parameters.iter().map(|own| own.name.as_str()).collect();
        candidates(wanted, "parameters", &names)
    }

    fn parse(text: &str, top: &str) -> Option<Self> {
        let tokens = code(text, false);
        let is = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.text == word);
        let mut at = (0..tokens.len()).find(|at| {
            let name = at + 1 + usize::from(is(at + 1, "automatic") || is(at + 1, "static"));
            (is(*at, "module") || is(*at, "macromodule")) && is(name, top)
        })?;
        at += (at..tokens.len()).position(|at| is(at, top))? + 1;
        let slice = |tokens: &[Token<'_>]| match tokens {
            [] => String::new(),
            [first, .., last] | [first @ last] => text[first.start..last.range().end].to_owned(),
        };
        let mut found = Self::default();
        while is(at, "import") {
            let end = at + (at..tokens.len()).position(|at| is(at, ";"))?;
            found.imports.push_str(&slice(&tokens[at..=end]));
            found.imports.push(' ');
            at = end + 1;
        }
        if is(at, "#") {
            let end = closing(&tokens, at + 1)?;
            found.add_parameters(&tokens[at + 2..end], &slice);
            at = end + 1;
        }
        let mut bare = Vec::new();
        if is(at, "(") {
            let end = closing(&tokens, at)?;
            bare = found.add_ports(&tokens[at + 1..end], &slice);
            at = end + 1;
        }
        // Declarations in the body.
        let body = tokens.get(at + 1..)?;
        let end = body.iter().position(|token| token.text == "endmodule").unwrap_or(body.len());
        for statement in body[..end].split(|token| token.text == ";") {
            match statement {
                [first, rest @ ..] if first.text == "parameter" => {
                    found.add_parameters(rest, &slice);
                }
                [first, rest @ ..] if is_name(first.text) && !is_keyword(first.text) => {
                    let name = rest.iter().position(|token| bare.contains(&token.text));
                    let is_port = |at| at == 0 || (at == 2 && rest[0].text == ".");
                    if name.is_some_and(is_port) {
                        found.add_ports(statement, &slice);
                    }
                }
                _ => {}
            }
        }
        Some(found)
    }

    fn add_parameters(&mut self, tokens: &[Token<'_>], slice: &dyn Fn(&[Token<'_>]) -> String) {
        let mut kind = String::new();
        for piece in split(tokens) {
            let is_keyword = |token: &Token<'_>| ["parameter", "localparam"].contains(&token.text);
            let own = if piece.first().is_some_and(is_keyword) { &piece[1..] } else { piece };
            let equal = own.iter().position(|token| token.text == "=");
            let (declared, value) = own.split_at(equal.unwrap_or(own.len()));
            // The name is the last word outside of ranges.
            let mut depth = 0;
            let name = declared.iter().rposition(|token| {
                depth += i32::from(token.text == "]") - i32::from(token.text == "[");
                depth == 0 && is_name(token.text)
            });
            let Some(name) = name else { continue };
            let own_kind = slice(&declared[..name]);
            if own.len() < piece.len() || !own_kind.is_empty() {
                kind = own_kind;
            }
            self.parameters.push(HeaderParameter {
                declaration: format!("{kind} {}", slice(&declared[name..])).trim_start().to_owned(),
                name: declared[name].text.trim_start_matches('\\').to_owned(),
                value: value.get(1..).map(slice).filter(|value| !value.is_empty()),
            });
        }
    }

    /// Adds ports with a name before theirs, and returns the names of those without a type.
    fn add_ports<'a>(
        &mut self,
        tokens: &[Token<'a>],
        slice: &dyn Fn(&[Token<'_>]) -> String,
    ) -> Vec<&'a str> {
        let mut bare = Vec::new();
        // Interface, and whether it has a modport.
        let mut kind: Option<(&str, bool)> = None;
        let mut has_direction = false;
        for piece in split(tokens) {
            let (mut at, word) = (0, |at: usize| piece.get(at).map_or("", |token| token.text));
            let names = piece.iter().take_while(|token| is_name(token.text)).count();
            match word(0) {
                "interface" => {
                    kind = Some(("interface", word(1) == "."));
                    at = if word(1) == "." { 3 } else { 1 };
                }
                first if is_keyword(first) || word(1) == "::" => {
                    (kind, has_direction) = (None, true);
                    continue;
                }
                first if word(1) == "." => {
                    kind = Some((first, true));
                    at = 3;
                }
                first if names >= 2 => {
                    kind = Some((first, false));
                    at = 1;
                }
                first if kind.is_none() && !has_direction && is_name(first) => bare.push(first),
                _ => {}
            }
            let Some((interface, has_modport)) = kind else { continue };
            if is_name(word(at)) {
                let end = piece.iter().position(|token| token.text == "=").unwrap_or(piece.len());
                self.interfaces.push(InterfacePort {
                    interface: interface.to_owned(),
                    port: word(at).to_owned(),
                    range: slice(&piece[at + 1..end]),
                    has_modport,
                    is_generic: interface == "interface",
                });
            }
        }
        bare
    }
}

/// The text of a file behind the preprocessor.
fn preprocessed(design: Design, path: PathBuf) -> Result<String, Error> {
    let design = Design { sources: vec![path.clone()], ..design };
    let answer = design.preprocess(&verilator()?)?;
    Ok(answer.texts.get(Path::new(&path)).cloned().unwrap_or_default())
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_' || letter == '\\')
}

/// The code without attributes and directives, with or without definitions of macros.
pub(super) fn code(text: &str, with_macros: bool) -> Vec<Token<'_>> {
    let is_directive = |token: &Token<'_>| {
        let is_it = |known| token.text.strip_prefix('`') == Some(known);
        token.kind == Kind::LineDirective
            || !with_macros && is_it("define")
            || DIRECTIVES.split_whitespace().any(is_it)
    };
    let mut in_attribute = false;
    let code = outside_directives(text, is_directive).filter(|token| {
        in_attribute = token.text == "(*" || in_attribute && token.text != "*)";
        !in_attribute && token.text != "*)"
    });
    code.collect()
}

/// The parts between commas outside of brackets.
fn split<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut inside = 0;
    let is_end = move |token: &Token<'_>| {
        inside += token.depth();
        inside == 0 && token.text == ","
    };
    tokens.split(is_end).filter(|piece| !piece.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_and_parameters_are_found_in_headers() {
        let text = "module other(bus.x y); endmodule
/* module m(bus a); */
module automatic m import p::*, q::C; import r::D; #(parameter int N = 2, M = N*f(1, 2), localparam [3:0] X[2] = '{1, 2},
  parameter type T = logic [N-1:0], parameter string S = \"a,b\\\"\", NAME = \"x\", parameter Z)
 (input logic clk, word_t d, (* keep *) bus.sink s [N], s2 [M-1:0], bus t, // bus.no c,
  interface g, interface.mp g2, output p::word_t q, other_t e, stream.out \\odd-name );
 parameter DEPTH = 4, MODE = \"FAST\"; bus.sink inner(); logic x;
endmodule";
        let found = Header::parse(text, "m").unwrap();
        assert_eq!(found.imports, "import p::*, q::C; import r::D; ");
        let parameters: Vec<(&str, Option<&str>)> = found
            .parameters
            .iter()
            .map(|own| (own.declaration.as_str(), own.value.as_deref()))
            .collect();
        let expected = [
            ("int N", Some("2")),
            ("int M", Some("N*f(1, 2)")),
            ("[3:0] X[2]", Some("'{1, 2}")),
            ("type T", Some("logic [N-1:0]")),
            ("string S", Some("\"a,b\\\"\"")),
            ("string NAME", Some("\"x\"")),
            ("Z", None),
            ("DEPTH", Some("4")),
            ("MODE", Some("\"FAST\"")),
        ];
        assert_eq!(parameters, expected);
        let strings = |name: &&HeaderParameter| found.is_string(&name.name);
        let strings: Vec<&str> =
            found.parameters.iter().filter(strings).map(|own| own.name.as_str()).collect();
        assert_eq!(strings, ["S", "NAME", "MODE"]);
        let ports: Vec<String> = found
            .interfaces
            .iter()
            .map(|port| {
                let InterfacePort { interface, port, range, has_modport, .. } = port;
                format!("{interface}{} {port}{range}", if *has_modport { ".x" } else { "" })
            })
            .collect();
        // `word_t d` and `other_t e` may be interfaces as far as the text says.
        let expected = [
            "word_t d",
            "bus.x s[N]",
            "bus.x s2[M-1:0]",
            "bus t",
            "interface g",
            "interface.x g2",
            "other_t e",
            "stream.x \\odd-name",
        ];
        assert_eq!(ports, expected);
    }

    #[test]
    fn ports_may_be_declared_in_the_body() {
        let text =
            "module m(clk, b, c, q); input clk; bus.sink b [2], c; output q; other x(); endmodule";
        let found = Header::parse(text, "m").unwrap();
        let ports: Vec<(&str, &str)> =
            found.interfaces.iter().map(|port| (port.port.as_str(), port.range.as_str())).collect();
        assert_eq!(ports, [("b", "[2]"), ("c", "")]);
        let text =
            "`ifdef X\nmodule m #(parameter W = `WIDTH) (bus.a b [`N(2)]);\n`endif\nendmodule";
        let found = Header::parse(text, "m").unwrap();
        assert_eq!(found.parameters[0].value.as_deref(), Some("`WIDTH"));
        assert_eq!(found.interfaces[0].range, "[`N(2)]");
        for text in ["module m", "module m #(", "module m import", "", "`module m(); endmodule"] {
            assert!(Header::parse(text, "m").is_none(), "{text}");
        }
        // What is no code.
        let text = "`define BUS(x) bus b, \\\n module m(bus x); \n\
                    module m((* a = \"*)\" *) bus.x s /* , bus t */); string s = \"a\n\
                    endmodule\n";
        let found = Header::parse(text, "m").unwrap();
        let ports: Vec<&str> = found.interfaces.iter().map(|port| &*port.port).collect();
        assert_eq!(ports, ["s"]);
        assert_eq!(Header::parse("module m; endmodule", "m"), Some(Header::default()));
    }
}
