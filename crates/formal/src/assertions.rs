//! Reads the properties of a block from `NAME_sva.sv`, through Yosys.
//!
//! Each immediate assertion becomes an output of the module `NAME_sva`, which is 1 while the
//! assertion fails. The monitor ([`monitor`](crate::monitor)) holds this module beside the RTL. The
//! `bind` of the file, which Yosys does not read, says which signals of the RTL the module's ports
//! are connected to.

use cosim_base::error::{Code, Error, codes};
use cosim_harness::harness::{BlockInfo, Parameters};
use cosim_rtl::models::AssertionFile;
use cosim_rtl::rtlil::{Cell, Line, Wire, plain, rest_of_cell};
use cosim_rtl::yosys::YosysSession;
use std::fmt::Write as _;
use std::path::PathBuf;
use verilated_lexer::{Kind, Token, closing, tokens};

/// The netlist of the module, as Yosys wrote it.
const NETLIST: &str = "assertions.il";
/// The same with an output for each assertion and each wire.
pub const OUTPUTS: &str = "assertions-outputs.il";
/// How the names of the outputs of assertions begin.
const FAILS: &str = "cosim_fails_";
/// How the comment with the words of a property begins.
const WORDS: &str = "property:";
/// From what was read to a netlist. Wires stay, since other properties may use them. A clocked
/// assertion is checked in the cycle before its edge.
const TO_NETLIST: &str = "proc\nflatten\nchformal -early\nchformal -cover -remove\nwrite_rtlil";

/// A signal of the RTL that properties use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    pub name: String,
    /// Its path below the top of the RTL, as in `device.count`.
    pub path: String,
    /// Its width in bits.
    pub width: u32,
    /// The line of the file that names it.
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assertion {
    pub label: String,
    /// The property in words.
    pub text: String,
}

/// The module with the properties of a block, with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assertions {
    pub module: String,
    /// Its file, as typed.
    pub path: PathBuf,
    /// Whether the file belongs to the RTL, so that each signal must be there.
    pub is_of_rtl: bool,
    /// Ports that are connected to the clock and the pins of the block, and these.
    pub pins: Vec<(String, String)>,
    /// Ports that are connected to other signals of the RTL.
    pub signals: Vec<Signal>,
    /// Wires and registers of the module, and their widths.
    pub wires: Vec<(String, u32)>,
    /// The assertions, in the order of the file.
    pub all: Vec<Assertion>,
    /// The netlist of the module, with outputs.
    pub netlist: String,
}

impl Assertions {
    /// Reads the assertions of an RTL with these parameters; `None` if there is no file. The RTL
    /// itself is known to be one that Yosys reads.
    ///
    /// # Errors
    /// [`Error::Input`] or [`Error::File`] if the file cannot be used; [`Error::Environment`] if
    /// there is no Yosys.
    pub fn read(
        session: &YosysSession,
        info: &'static BlockInfo,
        parameters: &Parameters,
    ) -> Result<Option<Self>, Error> {
        let pins = info.inputs.iter().chain(info.outputs).map(|port| port.name);
        let pins: Vec<&str> = std::iter::once(info.rtl.clock).chain(pins).collect();
        Self::with(session, &pins, &info.verilog(parameters, session.parameters()))
    }

    /// As [`Assertions::read`], of an RTL with these pins and values of parameters.
    fn with(
        session: &YosysSession,
        pins: &[&str],
        parameters: &[(String, String)],
    ) -> Result<Option<Self>, Error> {
        let Some(file) = session.assertions() else { return Ok(None) };
        let text = SourceText::new(file);
        let mut values = parameters.to_vec();
        values.retain(|(name, _)| text.declares_parameter(name));
        let path = session.path(NETLIST);
        session.read_assertions(file, &values, &format!("{TO_NETLIST} \"{}\"", path.display()))?;
        // Yosys puts the path of the file into names. Without the temporary folder, the same
        // assertions give the same text, and the answers of later queries are found in the cache.
        let folder = format!("{}/", session.path("").display());
        let folder = folder.replace("//", "/");
        let netlist = session.text(NETLIST)?.replace(&folder, "");
        Self::from_netlist(&text, &netlist, pins).map(Some)
    }

    fn from_netlist(text: &SourceText<'_>, netlist: &str, pins: &[&str]) -> Result<Self, Error> {
        let file = text.file;
        let connected = text.connections()?;
        let mut found = Self {
            module: file.module.clone(),
            path: file.path.clone(),
            is_of_rtl: file.is_of_rtl,
            pins: Vec::new(),
            signals: Vec::new(),
            wires: Vec::new(),
            all: Vec::new(),
            netlist: String::new(),
        };
        let mut cells = Vec::new();
        let mut lines = netlist.lines();
        // Attributes of the next cell, and the line of the file that it comes from.
        let (mut attributes, mut source) = (String::new(), None);
        while let Some(line) = lines.next() {
            match Line::parse_line(line) {
                Line::Wire(wire) => found.wire(wire, text, &connected, pins)?,
                Line::Cell { kind, name }
                    if ["$assert", "$assume", "$live", "$fair"].contains(&kind) =>
                {
                    let inside = rest_of_cell(&mut lines);
                    let cell = Cell { module: "", kind, name, inside };
                    cells.push((text.assertion(kind, name, source)?, cell));
                    attributes.clear();
                    continue;
                }
                Line::Attribute { name, value } if line.starts_with(' ') => {
                    if name == "\\src" {
                        source = text.line_of_source(value);
                    }
                    attributes.push_str(line);
                    attributes.push('\n');
                    continue;
                }
                _ => {}
            }
            found.netlist += &std::mem::take(&mut attributes);
            found.netlist.push_str(line);
            found.netlist.push('\n');
        }
        cells.sort_by_key(|((line, _), _)| *line);
        let mut outputs = String::new();
        for (place, ((_, assertion), cell)) in cells.into_iter().enumerate() {
            let port = |name: &str| cell.port(name).unwrap_or("1'1");
            let _ = write!(
                outputs,
                "  wire $cosim_not_{place}\n  wire output {0} \\{FAILS}{place}\n\
                 \x20 cell $not $cosim_not_cell_{place}\n    parameter \\A_SIGNED 0\n    parameter \\A_WIDTH 1\n    \
                 parameter \\Y_WIDTH 1\n    connect \\A {1}\n    connect \\Y $cosim_not_{place}\n  end\n\
                 \x20 cell $and $cosim_and_cell_{place}\n    parameter \\A_SIGNED 0\n    parameter \\A_WIDTH 1\n    \
                 parameter \\B_SIGNED 0\n    parameter \\B_WIDTH 1\n    parameter \\Y_WIDTH 1\n    \
                 connect \\A $cosim_not_{place}\n    connect \\B {2}\n    connect \\Y \\{FAILS}{place}\n  end\n",
                10_000 + place,
                port("\\A"),
                port("\\EN"),
            );
            found.all.push(assertion);
        }
        let mut rewritten = String::new();
        let mut is_inside = false;
        let mut count = 20_000;
        for line in found.netlist.lines() {
            let statement = Line::parse_line(line);
            if is_inside && line == "end" {
                rewritten.push_str(&outputs);
                is_inside = false;
            }
            is_inside |= matches!(statement, Line::Module(name) if plain(name) == file.module);
            match statement {
                Line::Wire(Wire { name, width, .. })
                    if is_inside && found.wires.iter().any(|(wire, _)| plain(name) == wire) =>
                {
                    count += 1;
                    let _ = writeln!(rewritten, "  wire width {width} output {count} {name}");
                }
                _ => {
                    rewritten.push_str(line);
                    rewritten.push('\n');
                }
            }
        }
        found.netlist = rewritten;
        Ok(found)
    }

    fn wire(
        &mut self,
        Wire { name, width, is_input, is_output }: Wire<'_>,
        text: &SourceText<'_>,
        connected: &[(String, String, usize)],
        pins: &[&str],
    ) -> Result<(), Error> {
        let Some(name) = name.strip_prefix('\\') else { return Ok(()) };
        if is_output {
            let message = format!("`{name}` is an output; a module of assertions has inputs only");
            return Err(text.error_at_line(codes::BAD_ASSERTIONS, text.line_of(name), message));
        }
        if !is_input {
            if name.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'_') {
                self.wires.push((name.to_owned(), width));
            }
            return Ok(());
        }
        let found = connected.iter().find(|(port, ..)| port == name);
        let (path, line) = match found {
            Some((_, path, line)) => (path.clone(), *line),
            None => (name.to_owned(), text.line_of(name)),
        };
        match pins.contains(&path.as_str()) {
            true => self.pins.push((name.to_owned(), path)),
            false => self.signals.push(Signal { name: name.to_owned(), path, width, line }),
        }
        Ok(())
    }

    /// The instance of the module in a monitor. `used` are expressions that may name its wires.
    pub fn instance(&self, used: &str) -> String {
        let is_used = |name: &str| tokens(used).any(|token| token.text == name);
        let mut text = String::new();
        let pins = self.pins.iter().map(|(name, pin)| (name, pin));
        let all = pins.chain(self.signals.iter().map(|signal| (&signal.name, &signal.name)));
        let mut connections: Vec<String> =
            all.map(|(name, wire)| format!(".{name}({wire})")).collect();
        for (name, width) in self.wires.iter().filter(|(name, _)| is_used(name)) {
            let _ = writeln!(text, "  wire [{}:0] {name};", width - 1);
            connections.push(format!(".{name}({name})"));
        }
        for place in 0..self.all.len() {
            let _ = writeln!(text, "  wire {FAILS}{place};");
            connections.push(format!(".{FAILS}{place}({FAILS}{place})"));
        }
        let _ = writeln!(text, "  {} cosim_assertions ({});", self.module, connections.join(", "));
        text
    }

    /// The width of a signal or wire in expressions.
    pub fn width(&self, name: &str) -> Option<u32> {
        let signals = self.signals.iter().map(|signal| (&signal.name, signal.width));
        let mut all = signals.chain(self.wires.iter().map(|(name, width)| (name, *width)));
        all.find(|(known, _)| *known == name).map(|(_, width)| width)
    }

    /// The wire that is 1 while an assertion fails, by its place.
    pub fn fails(place: usize) -> String {
        format!("{FAILS}{place}")
    }

    pub fn lacks(&self, top: &str, signal: &Signal) -> Error {
        let bits =
            if signal.width == 1 { "1 bit".to_owned() } else { format!("{} bits", signal.width) };
        Error::Input {
            code: codes::UNKNOWN_SIGNAL,
            path: self.path.clone(),
            line: signal.line,
            column: 1,
            message: format!("module {top} of the RTL has no signal `{}` of {bits}", signal.path),
        }
    }
}

struct SourceText<'a> {
    file: &'a AssertionFile,
    /// The text without comments.
    code: Vec<Token<'a>>,
}

impl<'a> SourceText<'a> {
    fn new(file: &'a AssertionFile) -> Self {
        Self { file, code: tokens(&file.text).filter(Token::is_code).collect() }
    }

    fn error_at_line(&self, code: Code, line: usize, message: String) -> Error {
        Error::Input { code, path: self.file.path.clone(), line, column: 1, message }
    }

    fn line_at(&self, place: usize) -> usize {
        self.code[place].line as usize
    }

    fn is_token(&self, place: Option<usize>, text: &str) -> bool {
        place.and_then(|place| self.code.get(place)).is_some_and(|token| token.text == text)
    }

    /// Where the text has a name, escaped or not.
    fn places(&self, name: &str) -> impl Iterator<Item = usize> {
        let is_name =
            move |token: &Token<'_>| token.text.strip_prefix('\\').unwrap_or(token.text) == name;
        (0..self.code.len()).filter(move |place| is_name(&self.code[*place]))
    }

    fn line_of(&self, name: &str) -> usize {
        self.places(name).next().map_or(1, |place| self.line_at(place))
    }

    /// The line of a place as Yosys writes it, as in `"/tmp/a/top_sva.sv:13.5-13.20"`.
    fn line_of_source(&self, place: &str) -> Option<usize> {
        let rest = place.split(&format!("{}.sv:", self.file.module)).nth(1)?;
        rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
    }

    fn declares_parameter(&self, name: &str) -> bool {
        let is_head = |place: &usize| {
            self.is_token(place.checked_sub(1), "module") && self.is_token(Some(place + 1), "#")
        };
        let head = self.places(&self.file.module).find(is_head);
        let head = head.and_then(|place| in_parentheses(&self.code[place + 2..]));
        head.is_some_and(|(head, _)| head.iter().any(|token| token.text == name))
    }

    /// What the `bind` connects by name, as (port, path in the RTL, line).
    fn connections(&self) -> Result<Vec<(String, String, usize)>, Error> {
        let mut all = Vec::new();
        let Some(begin) = self.places("bind").next() else { return Ok(all) };
        let line = self.line_at(begin);
        let unclear = |line| {
            let message = "expected `bind TOP NAME_sva #(...) INSTANCE (.PORT(SIGNAL), .*);`";
            self.error_at_line(codes::BAD_ASSERTIONS, line, message.to_owned())
        };
        let find = |code: &[Token<'_>], text| {
            code.iter().position(|token| token.text == text).ok_or_else(|| unclear(line))
        };
        let pair = |code| in_parentheses(code).ok_or_else(|| unclear(line));
        let bind = &self.code[begin..];
        let mut rest = &bind[..find(bind, ";")?];
        let mut open = find(rest, "(")?;
        if rest[open - 1].text == "#" {
            (_, rest) = pair(&rest[open..])?;
            open = find(rest, "(")?;
        }
        for part in pair(&rest[open..])?.0.split(|token| token.text == ",") {
            let line = part.first().map_or(line, |first| first.line as usize);
            let texts: Vec<&str> = part.iter().map(|token| token.text).collect();
            let (port, path) = match texts[..] {
                [".*"] | [".", _] => continue,
                [".", port, "(", .., ")"] => (port, 3..texts.len() - 1),
                _ => return Err(unclear(line)),
            };
            let mut names = part[path.clone()].split(|token| token.text == ".");
            let is_path = names.all(|name| matches!(name, [one] if one.kind == Kind::Word));
            let path = texts[path].concat();
            if !is_path {
                let message = format!(
                    "port `{port}` is connected to the expression `{path}`; connect a signal of the RTL"
                );
                return Err(self.error_at_line(codes::BAD_ASSERTIONS, line, message));
            }
            all.push((port.to_owned(), path, line));
        }
        Ok(all)
    }

    /// The assertion of a cell: its line, its label and its words.
    fn assertion(
        &self,
        kind: &str,
        name: &str,
        source: Option<usize>,
    ) -> Result<(usize, Assertion), Error> {
        let label = name.strip_prefix('\\').filter(|_| kind == "$assert");
        let Some(label) = label else {
            let message = match kind {
                "$assert" => "an assertion needs a label, as in `name: assert (...);`".to_owned(),
                _ => format!("`{}` is not supported; use `assert`", &kind[1..]),
            };
            // For a statement without a label, Yosys names the line of the block around it.
            let first = source.unwrap_or(1);
            let mut bare = self
                .places(&kind[1..])
                .filter(|place| !self.is_token(place.checked_sub(1), ":"))
                .map(|place| self.line_at(place));
            let line = bare.find(|line| *line >= first).unwrap_or(first);
            return Err(self.error_at_line(codes::BAD_ASSERTIONS, line, message));
        };
        let word = label.rsplit('.').next().unwrap_or(label);
        let mut labels = self.places(word).filter(|place| self.is_token(Some(place + 1), ":"));
        let line = labels.next().map(|place| self.line_at(place));
        let line = line.or(source).unwrap_or(1);
        let text = self.words_before(line).unwrap_or_else(|| label.to_owned());
        Ok((line, Assertion { label: label.to_owned(), text }))
    }

    /// The words of the property in the comment before a line.
    fn words_before(&self, line: usize) -> Option<String> {
        let lines: Vec<&str> = self.file.text.lines().take(line - 1).collect();
        let mut words: Vec<&str> = Vec::new();
        for line in lines.iter().rev() {
            let comment = line.trim().strip_prefix("//")?.trim();
            match comment.strip_prefix(WORDS) {
                Some(first) => {
                    words.push(first.trim());
                    words.reverse();
                    return Some(words.join(" "));
                }
                None => words.push(comment),
            }
        }
        None
    }
}

/// What is in the parentheses that a code begins with, and the rest.
fn in_parentheses<'t, 'a>(code: &'t [Token<'a>]) -> Option<(&'t [Token<'a>], &'t [Token<'a>])> {
    let end = closing(code, 0).filter(|end| *end > 0)?;
    Some((&code[1..end], &code[end + 1..]))
}

#[cfg(test)]
mod tests;
