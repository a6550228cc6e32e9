//! Reads RTLIL, the netlist language of Yosys, line by line. Yosys writes one statement a line.
//!
//! Names are as written, with the prefix `\` of public names; [`plain`] takes it off.

use std::collections::{BTreeMap, BTreeSet};

/// A construct of a netlist that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown(pub String);

/// Width of each wire of a module in bits.
pub type Widths<'a> = BTreeMap<&'a str, u32>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    Module(&'a str),
    Wire(Wire<'a>),
    Memory(Memory<'a>),
    Cell {
        kind: &'a str,
        name: &'a str,
    },
    Parameter {
        name: &'a str,
        value: &'a str,
    },
    /// A port of the cell and its signal, or two signals of the module.
    Connect {
        left: &'a str,
        right: &'a str,
    },
    /// An attribute of the next statement.
    Attribute {
        name: &'a str,
        value: &'a str,
    },
    /// The end of a cell, of a module, or of a part of a process.
    End,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wire<'a> {
    pub name: &'a str,
    pub width: u32,
    pub is_input: bool,
    /// An output, or a port of both directions.
    pub is_output: bool,
}

/// A memory: words, their width, and the lowest address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory<'a> {
    pub name: &'a str,
    pub width: u64,
    pub size: u64,
    pub offset: i64,
}

impl<'a> Line<'a> {
    pub fn parse_line(line: &'a str) -> Self {
        let (keyword, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let pair = || rest.split_once(' ').unwrap_or((rest, ""));
        let (options, last) = rest.rsplit_once(' ').unwrap_or(("", rest));
        let has = |word| options.split(' ').any(|option| option == word);
        let option = |word| {
            options.split(' ').skip_while(|option| *option != word).nth(1)?.parse::<i64>().ok()
        };
        let number = |word| option(word).and_then(|value| u64::try_from(value).ok());
        match keyword {
            "module" => Self::Module(rest),
            "wire" => Self::Wire(Wire {
                name: last,
                width: number("width").and_then(|width| width.try_into().ok()).unwrap_or(1),
                is_input: has("input"),
                is_output: has("output") || has("inout"),
            }),
            "memory" => Self::Memory(Memory {
                name: last,
                width: number("width").unwrap_or(1),
                size: number("size").unwrap_or(0),
                offset: option("offset").unwrap_or(0),
            }),
            "cell" => Self::Cell { kind: pair().0, name: pair().1 },
            "parameter" => {
                let typed = ["signed ", "real "].iter().find_map(|word| rest.strip_prefix(word));
                let (name, value) = typed.unwrap_or(rest).split_once(' ').unwrap_or((rest, ""));
                Self::Parameter { name, value }
            }
            "connect" => {
                let (left, right) = rest.split_at(end_of_signal(rest));
                Self::Connect { left, right: right.trim_start() }
            }
            "attribute" => Self::Attribute { name: pair().0, value: pair().1 },
            "end" => Self::End,
            _ => Self::Other,
        }
    }
}

/// Where the first signal of a text ends: a concatenation or a word, and the ranges behind it.
fn end_of_signal(text: &str) -> usize {
    let mut end = match text.starts_with('{') {
        true => text.find('}').map_or(text.len(), |at| at + 1),
        false => text.find(' ').unwrap_or(text.len()),
    };
    while text[end..].starts_with(" [") {
        end += text[end..].find(']').map_or(text.len() - end, |at| at + 1);
    }
    end
}

/// A name without the prefix of public names, `\`.
pub fn plain(name: &str) -> &str {
    name.strip_prefix('\\').unwrap_or(name)
}

#[derive(Debug, Clone)]
pub struct Cell<'a> {
    /// The plain name of the module that contains the cell.
    pub module: &'a str,
    pub kind: &'a str,
    pub name: &'a str,
    /// The lines between `cell` and `end`.
    pub inside: Vec<&'a str>,
}

impl<'a> Cell<'a> {
    pub fn parameter(&self, wanted: &str) -> Option<&'a str> {
        self.parameters().find_map(|(name, value)| (name == wanted).then_some(value))
    }

    pub fn port(&self, wanted: &str) -> Option<&'a str> {
        self.ports().find_map(|(port, signal)| (port == wanted).then_some(signal))
    }

    pub fn parameters(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.inside.iter().filter_map(|line| match Line::parse_line(line) {
            Line::Parameter { name, value } => Some((name, value)),
            _ => None,
        })
    }

    /// The ports and the signals connected to them.
    pub fn ports(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.inside.iter().filter_map(|line| match Line::parse_line(line) {
            Line::Connect { left, right } => Some((left, right)),
            _ => None,
        })
    }
}

/// The lines until the end of a cell, which `lines` has just begun.
pub fn rest_of_cell<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    lines.take_while(|line| Line::parse_line(line) != Line::End).collect()
}

/// The cells of a netlist, and its connections outside of cells: module, left side, right side.
pub fn cells_and_connections(netlist: &str) -> (Vec<Cell<'_>>, Vec<(&str, &str, &str)>) {
    let (mut cells, mut connections) = (Vec::new(), Vec::new());
    let mut module = "";
    let mut lines = netlist.lines();
    while let Some(line) = lines.next() {
        match Line::parse_line(line) {
            Line::Module(name) => module = plain(name),
            Line::Cell { kind, name } => {
                let inside = rest_of_cell(&mut lines);
                cells.push(Cell { module, kind, name: plain(name), inside });
            }
            Line::Connect { left, right } => connections.push((module, left, right)),
            _ => {}
        }
    }
    (cells, connections)
}

/// The wires of all modules: plain name of the module, wire.
pub fn wires(netlist: &str) -> impl Iterator<Item = (&str, Wire<'_>)> {
    let mut module = "";
    netlist.lines().filter_map(move |line| match Line::parse_line(line) {
        Line::Module(name) => {
            module = plain(name);
            None
        }
        Line::Wire(wire) => Some((module, wire)),
        _ => None,
    })
}

/// An instance of a module in a netlist that is not flat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// Its path below the top, as in `device.tx`.
    pub path: String,
    /// The input ports of its module.
    pub inputs: Vec<String>,
}

/// The instances below the modules that nothing instantiates; those of a module come behind it.
pub fn instances(netlist: &str) -> Vec<Instance> {
    let mut inputs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in netlist.lines() {
        if let Line::Module(name) = Line::parse_line(line) {
            inputs.insert(plain(name), Vec::new());
        }
    }
    for (module, wire) in wires(netlist).filter(|(_, wire)| wire.is_input) {
        inputs.entry(module).or_default().push(plain(wire.name).to_owned());
    }
    let mut inside: BTreeMap<&str, Vec<(String, &str)>> = BTreeMap::new();
    for cell in cells_and_connections(netlist).0 {
        if inputs.contains_key(plain(cell.kind)) {
            let instance = (cell.name.to_owned(), plain(cell.kind));
            inside.entry(cell.module).or_default().push(instance);
        }
    }
    let used: BTreeSet<&str> = inside.values().flatten().map(|(_, module)| *module).collect();
    let tops = inputs.keys().filter(|module| !used.contains(*module));
    let mut left: Vec<(String, &str)> = tops.map(|module| (String::new(), *module)).collect();
    let mut all = Vec::new();
    while let Some((path, module)) = left.pop() {
        for (name, module) in inside.get(module).into_iter().flatten().rev() {
            let dot = if path.is_empty() { "" } else { "." };
            left.push((format!("{path}{dot}{name}"), module));
        }
        if !path.is_empty() {
            all.push(Instance { path, inputs: inputs[module].clone() });
        }
    }
    all
}

/// Width of each wire in bits, by module and name.
pub fn widths(netlist: &str) -> BTreeMap<&str, Widths<'_>> {
    let mut all: BTreeMap<&str, Widths<'_>> = BTreeMap::new();
    for (module, wire) in wires(netlist) {
        all.entry(module).or_default().insert(wire.name, wire.width);
    }
    all
}

pub fn memories(netlist: &str) -> impl Iterator<Item = Memory<'_>> {
    netlist.lines().filter_map(|line| match Line::parse_line(line) {
        Line::Memory(memory) => Some(memory),
        _ => None,
    })
}

/// The widest constant that is read; Verilator's widest signal is narrower.
const MAX_WIDTH: usize = 1 << 24;

/// The digits of a constant, the lowest first; `None` if it is no constant.
pub fn digits(constant: &str) -> Option<Vec<char>> {
    match constant.split_once('\'') {
        Some((width, digits)) => {
            let width = width.parse::<usize>().ok().filter(|width| *width <= MAX_WIDTH)?;
            // New versions of Yosys write `s` for a signed constant, and `x` once for all digits.
            let mut all: Vec<char> = digits.trim_start_matches('s').chars().rev().collect();
            let above = all.last().copied().filter(|digit| !matches!(digit, '0' | '1'));
            all.resize(width, above.unwrap_or('0'));
            Some(all)
        }
        // Yosys writes 32-bit integers without a width.
        None => {
            let number = constant.parse::<i32>().ok()?;
            Some((0..32).map(|bit| if number >> bit & 1 == 1 { '1' } else { '0' }).collect())
        }
    }
}

/// The value of a constant without unknown digits, of at most 64 bits.
pub fn number(constant: &str) -> Option<u64> {
    let digits = digits(constant)?;
    let digits: String = digits.into_iter().rev().collect();
    u64::from_str_radix(&digits, 2).ok()
}

/// The bits of a signal as wire and bit index, lowest first. A constant bit is `None`.
///
/// A signal is a name, a constant, a concatenation in braces, or a range of one of them.
pub fn bits<'a>(
    signal: &'a str,
    wires: Option<&Widths<'_>>,
) -> Option<Vec<Option<(&'a str, u32)>>> {
    let mut words = signal.split_whitespace().peekable();
    let mut all = Vec::new();
    while let Some(word) = words.next() {
        if matches!(word, "{" | "}") {
            continue;
        }
        let mut part: Vec<Option<(&str, u32)>> = if word.starts_with(['\\', '$']) {
            (0..*wires?.get(word)?).map(|bit| Some((word, bit))).collect()
        } else {
            vec![None; digits(word)?.len()]
        };
        while let Some(range) = words.peek().and_then(|word| word.strip_prefix('[')) {
            let range = range.trim_end_matches(']');
            let (high, low) = range.split_once(':').unwrap_or((range, range));
            let [high, low]: [usize; 2] = [high.parse().ok()?, low.parse().ok()?];
            part = part.get(low..=high)?.to_vec();
            words.next();
        }
        // A concatenation lists its highest part first.
        part.append(&mut all);
        all = part;
    }
    Some(all)
}

/// Width in bits of a signal.
pub fn width(signal: &str, wires: Option<&Widths<'_>>) -> Option<u32> {
    bits(signal, wires)?.len().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETLIST: &str = "\
module \\top
  wire width 8 input 1 \\a
  wire width 8 upto inout 2 \\y
  wire $b
  memory width 4 size 16 offset -2 \\words
  attribute \\src \"top.v:1.2-3.4\"
  cell $and $and$1
    parameter \\A_WIDTH 8
    parameter signed \\A_SIGNED 1
    connect \\A \\a
    connect \\B { 4'0000 \\a [6:4] $b }
  end
  connect { $b \\a [0] } [1] \\a [0]
end
";

    #[test]
    fn statements_are_read() {
        let lines: Vec<Line<'_>> = NETLIST.lines().map(Line::parse_line).collect();
        let wire = |name, width, is_input, is_output| {
            Line::Wire(Wire { name, width, is_input, is_output })
        };
        let expected = [
            Line::Module("\\top"),
            wire("\\a", 8, true, false),
            wire("\\y", 8, false, true),
            wire("$b", 1, false, false),
            Line::Memory(Memory { name: "\\words", width: 4, size: 16, offset: -2 }),
            Line::Attribute { name: "\\src", value: "\"top.v:1.2-3.4\"" },
            Line::Cell { kind: "$and", name: "$and$1" },
            Line::Parameter { name: "\\A_WIDTH", value: "8" },
            Line::Parameter { name: "\\A_SIGNED", value: "1" },
            Line::Connect { left: "\\A", right: "\\a" },
            Line::Connect { left: "\\B", right: "{ 4'0000 \\a [6:4] $b }" },
            Line::End,
            Line::Connect { left: "{ $b \\a [0] } [1]", right: "\\a [0]" },
            Line::End,
        ];
        assert_eq!(lines, expected);
        for line in ["", "process $1", "connect", "wire", "connect { \\a", "\\x [", "parameter"] {
            Line::parse_line(line);
        }
    }

    #[test]
    fn instances_have_paths_and_input_ports() {
        let netlist = "\
module \\leaf
  wire input 1 \\a
  wire width 2 inout 2 \\b
  wire output 3 \\y
end
module \\middle
  wire input 1 \\c
  cell \\leaf \\one
  end
  cell $and $and$1
  end
end
module \\top
  cell \\middle \\m
  end
  cell \\leaf \\two
  end
end
";
        let shown: Vec<String> = instances(netlist)
            .iter()
            .map(|instance| format!("{} {}", instance.path, instance.inputs.join(",")))
            .collect();
        assert_eq!(shown, ["m c", "m.one a", "two a"]);
    }

    #[test]
    fn a_cell_has_its_parameters_and_ports() {
        let (cells, connections) = cells_and_connections(NETLIST);
        let [cell] = &cells[..] else { panic!("{cells:?}") };
        assert_eq!((cell.module, cell.kind, cell.name), ("top", "$and", "$and$1"));
        assert_eq!(cell.parameter("\\A_SIGNED"), Some("1"));
        assert_eq!((cell.port("\\A"), cell.port("\\C")), (Some("\\a"), None));
        assert_eq!(connections, [("top", "{ $b \\a [0] } [1]", "\\a [0]")]);
    }

    #[test]
    fn the_width_of_a_signal_is_that_of_its_parts() {
        let all = widths(NETLIST);
        for (signal, expected) in [
            ("\\a", Some(8)),
            ("$b", Some(1)),
            ("\\a [3]", Some(1)),
            ("\\a [6:4]", Some(3)),
            ("\\a [8:4]", None),
            ("12'000000000000", Some(12)),
            ("{ 4'0000 \\a [6:4] $b }", Some(8)),
            ("-3", Some(32)),
            ("\\unknown", None),
        ] {
            assert_eq!(width(signal, all.get("top")), expected, "{signal}");
        }
    }

    #[test]
    fn constants_have_values() {
        for (constant, expected) in [
            ("4'1010", Some(10)),
            ("7", Some(7)),
            ("2'1x", None),
            ("8'x", None),
            ("8's00000011", Some(3)),
            ("99999999999'0", None),
            ("\\a", None),
        ] {
            assert_eq!(number(constant), expected, "{constant}");
        }
    }
}
