//! Reads the ports of a model from the header that Verilator generates.

use crate::{Clock, Error, Verilated, written_text};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

/// Prefix of the observing top's own ports.
const OBSERVER: &str = "cosim_";

/// Module name of the observing top. Only it may have ports with its prefix.
pub const OBSERVING_TOP: &str = "cosim_top";

/// Instance name of the design in generated tops.
pub(crate) const INSTANCE: &str = "dut";

/// A name for an object of an observing top that is not a port. Adds a prefix that no port has if
/// `is_taken` reports a port of that name.
pub fn own_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if is_taken(name) { format!("{OBSERVER}{name}") } else { name.to_owned() }
}

/// One port of the top module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// The name in the RTL.
    pub name: String,
    /// Width in bits.
    pub width: u32,
}

/// Verilator's C++ name of a signal. Verilator encodes characters that are invalid in C++, and
/// double underscores, in hex.
pub(crate) fn member(name: &str) -> String {
    let mut member = String::new();
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '_' if letters.next_if_eq(&'_').is_some() => member.push_str("___05F"),
            letter if letter == '_' || letter.is_ascii_alphanumeric() => member.push(letter),
            letter => {
                let mut bytes = [0; 4];
                for byte in letter.encode_utf8(&mut bytes).bytes() {
                    member.push_str(&format!("__0{byte:02x}"));
                }
            }
        }
    }
    member
}

/// The name in the RTL of what Verilator's C++ calls `member`.
pub(crate) fn name_of(member: &str) -> String {
    let mut name = Vec::new();
    let mut rest = member.as_bytes();
    while let [letter, behind @ ..] = rest {
        let digits = rest.strip_prefix(b"__0").and_then(|digits| digits.get(..2));
        let byte = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                name.push(byte);
                rest = &rest[5..];
            }
            None => {
                name.push(*letter);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&name).into_owned()
}

/// Verilator's prefix for names that are C++ keywords.
const WORD_OF_C: &str = "__SYM__";

/// Whether a name needs no escape in Verilog, C and Rust.
fn is_plain(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    name.starts_with(is_letter)
        && name.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit())
}

/// The direction of a port, seen from the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Input,
    Output,
    /// Neither, such as `inout`.
    Other,
}

impl Direction {
    /// The direction of this name in Verilator's description.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "input" => Self::Input,
            "output" => Self::Output,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Other => "inout",
        })
    }
}

/// Storage of a port: one unsigned integer, or 32-bit words, least significant first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    /// An integer of 8, 16, 32 or 64 bits.
    Integer(u32),
    /// A number of 32-bit words.
    Words(u32),
}

impl Storage {
    pub(crate) fn from_width(width: u32) -> Self {
        match width {
            0..=8 => Self::Integer(8),
            9..=16 => Self::Integer(16),
            17..=32 => Self::Integer(32),
            33..=64 => Self::Integer(64),
            _ => Self::Words(width.div_ceil(32)),
        }
    }

    /// Alignment in bytes. Integers are aligned to their size.
    pub(crate) fn alignment(self) -> u32 {
        match self {
            Self::Integer(bits) => bits / 8,
            Self::Words(_) => 4,
        }
    }

    /// Size in bytes.
    pub(crate) fn size(self) -> u32 {
        match self {
            Self::Integer(bits) => bits / 8,
            Self::Words(words) => words * 4,
        }
    }
}

/// The ports of a top module by direction, without the clock.
///
/// Within a direction, they have the order of the packed struct: by falling alignment, so that the
/// struct has no gaps, then by name, so that the order of declaration does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ports {
    /// The clock's name. The shim drives it, so it is not among the inputs.
    pub clock: String,
    /// Driven by the harness.
    pub inputs: Vec<Port>,
    /// Driven by the model.
    pub outputs: Vec<Port>,
    /// Whether the top is an observing one. It then has ports named `cosim_...`, which are not
    /// listed here.
    pub observing: bool,
}

impl Ports {
    /// Reads the ports of a verilated model. [`Design::ports`](crate::Design::ports) checks them.
    ///
    /// # Errors
    /// [`Error::Port`] for an unsupported port, or if `clock` is no 1-bit input. [`Error::Foreign`]
    /// if the RTL imports C functions. [`Error::Io`].
    pub(crate) fn read(verilated: &Verilated, top: &str, clock: &Clock) -> Result<Self, Error> {
        let read = |path: PathBuf| written_text(&path);
        let foreign = verilated.dir.join(format!("{}__Dpi.h", verilated.prefix));
        if foreign.is_file()
            && let Some((place, function)) = imported(&read(foreign)?)
        {
            return Err(Error::Foreign { place, function });
        }
        Self::parse(&read(verilated.header())?, top, clock)
    }

    /// Whether a port is one that an observing top adds.
    pub(crate) fn is_observer(&self, name: &str) -> bool {
        self.observing && name.starts_with(OBSERVER)
    }

    /// A name in the observing top around a block with these ports.
    pub(crate) fn own_name(&self, name: &str) -> String {
        let is_port = |name: &str| {
            name == self.clock
                || self.inputs.iter().chain(&self.outputs).any(|port| port.name == name)
        };
        own_name(name, is_port)
    }

    /// A name in the scope of the golden model.
    pub(crate) fn golden_name(&self, name: &str) -> String {
        own_name(name, |name| self.outputs.iter().any(|port| port.name == name))
    }

    /// The differences of `found`, one line per port. An observing top is not compared with a bare
    /// one.
    pub fn differences(&self, found: &Self) -> String {
        let all = |ports: &Self| -> BTreeMap<String, (&'static str, u32)> {
            let sides = [("input", &ports.inputs), ("output", &ports.outputs)];
            let entry = |direction| move |port: &Port| (port.name.clone(), (direction, port.width));
            sides.iter().flat_map(|(side, ports)| ports.iter().map(entry(*side))).collect()
        };
        let (expected, found) = (all(self), all(found));
        let names: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
        let show = |(direction, width): &(&str, u32)| format!("{direction} of {width} bits");
        let lines =
            names.into_iter().filter_map(|name| match (expected.get(name), found.get(name)) {
                (Some(expected), Some(found)) if expected == found => None,
                (Some(e), Some(f)) => Some(format!("  {name}: {}, expected {}", show(f), show(e))),
                (Some(expected), None) => {
                    Some(format!("  {name}: missing, expected {}", show(expected)))
                }
                (None, Some(found)) => Some(format!("  {name}: not expected, {}", show(found))),
                (None, None) => None,
            });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn parse(header: &str, top: &str, clock: &Clock) -> Result<Self, Error> {
        let mut ports =
            Self { clock: clock.to_string(), observing: top == OBSERVING_TOP, ..Self::default() };
        let mut clocked = false;
        let refuse = |port: &str, reason: &str| Error::Port {
            top: top.to_owned(),
            port: port.to_owned(),
            reason: reason.to_owned(),
        };
        for line in declarations(header) {
            let (direction, port) = match Declaration::parse_line(line) {
                Declaration::Vector(direction, port) => (direction, port),
                Declaration::Array(name) => {
                    let reason = "arrays of ports are not supported; declare separate ports, or \
                                  pack them into one";
                    return Err(refuse(&name, reason));
                }
                Declaration::OtherType(name) => {
                    let reason = "ports of type real or string are not supported; wrap the module \
                                  in one with bit vectors";
                    return Err(refuse(&name, reason));
                }
                Declaration::Unknown => {
                    let reason = "Verilator declares it in a way that is not understood; wrap the \
                                  module in one with bit vectors";
                    return Err(refuse(line, reason));
                }
            };
            match direction {
                _ if port.name.starts_with(WORD_OF_C) => {
                    let reason = "its name is a keyword of C++; wrap the module in one with \
                                  another port name";
                    return Err(refuse(&port.name[WORD_OF_C.len()..], reason));
                }
                _ if !is_plain(&port.name) => {
                    let reason = "its name has characters other than letters, digits and _; wrap \
                                  the module in one with another port name";
                    return Err(refuse(&format!("\\{} ", port.name), reason));
                }
                _ if ports.is_observer(&port.name) => {}
                _ if port.name.starts_with(OBSERVER) || port.name == INSTANCE => {
                    let reason = "the name is reserved for generated modules; wrap the module in \
                                  one with another port name";
                    return Err(refuse(&port.name, reason));
                }
                Direction::Input if port.name == ports.clock => clocked = port.width == 1,
                Direction::Input => ports.inputs.push(port),
                Direction::Output => ports.outputs.push(port),
                Direction::Other => {
                    let reason =
                        "inout ports are not supported; split it into an input and an output";
                    return Err(refuse(&port.name, reason));
                }
            }
        }
        if !clocked {
            return Err(Error::Port {
                top: top.to_owned(),
                port: ports.clock,
                reason: "there is no 1-bit input of that name to use as the clock; name another \
                     clock in build.rs, as in .clock(\"clk_i\")"
                    .to_owned(),
            });
        }
        for direction in [&mut ports.inputs, &mut ports.outputs] {
            direction.sort_by(|left, right| {
                let alignment = |port: &Port| Storage::from_width(port.width).alignment();
                alignment(right).cmp(&alignment(left)).then_with(|| left.name.cmp(&right.name))
            });
        }
        Ok(ports)
    }
}

/// The lines of a header that declare ports.
fn declarations(header: &str) -> impl Iterator<Item = &str> {
    let (_, ports) = header.split_once("// PORTS").unwrap_or_default();
    let (ports, _) = ports.split_once("// CELLS").unwrap_or((ports, ""));
    ports.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

/// The declaration of a port in a header.
#[derive(Debug, PartialEq, Eq)]
enum Declaration {
    /// `VL_OUTW(&name,msb,lsb,words);`. Bounds may be negative.
    Vector(Direction, Port),
    /// `VL_IN8((&name)[4],7,0);`.
    Array(String),
    /// `double &name;`.
    OtherType(String),
    Unknown,
}

impl Declaration {
    fn parse_line(line: &str) -> Self {
        Self::vector(line).or_else(|| Self::parse_other(line)).unwrap_or(Self::Unknown)
    }

    fn vector(line: &str) -> Option<Self> {
        let (kind, arguments) = line.strip_prefix("VL_")?.strip_suffix(");")?.split_once('(')?;
        let direction = match kind.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'W') {
            "IN" => Direction::Input,
            "OUT" => Direction::Output,
            "INOUT" => Direction::Other,
            _ => return None,
        };
        if let Some(array) = arguments.strip_prefix("(&") {
            return Some(Self::Array(name_of(array.split(')').next()?)));
        }
        let mut parts = arguments.strip_prefix('&')?.split(',');
        let name = name_of(parts.next()?);
        let (msb, lsb): (i64, i64) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let width = u32::try_from(msb.checked_sub(lsb)?.checked_add(1)?).ok()?;
        (width > 0).then_some(Self::Vector(direction, Port { name, width }))
    }

    fn parse_other(line: &str) -> Option<Self> {
        if line.starts_with("VL_") {
            return None;
        }
        let name = line.strip_suffix(';')?.rsplit(['&', ' ']).next()?;
        Some(Self::OtherType(name_of(name)))
    }
}

/// The place and the name of the first C function that a design imports, from Verilator's DPI
/// header.
fn imported(header: &str) -> Option<(String, String)> {
    let mut lines = header.lines().map(|line| line.split_once("// DPI import at "));
    let (_, place) = lines.find_map(|line| line)?;
    let declaration = header.split_once(place)?.1.trim_start().split('(').next()?;
    let name = declaration.rsplit([' ', '*']).next()?;
    Some((place.to_owned(), name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "
    // PORTS
    // The application code writes and reads these signals
    VL_IN8(&clk,0,0);
    VL_IN8(&rst,0,0);
    VL_INW(&wide,415,0,13);
    VL_OUT(&middle,23,0);
    VL_OUT8(&narrow,7,0);
    VL_OUT8(&early,1,0);
    VL_OUT64(&big,40,0);
    // VL_OUT8 is mentioned here only
";

    fn port(name: &str, width: u32) -> Port {
        Port { name: name.to_owned(), width }
    }

    #[test]
    fn ports_are_sorted_by_alignment_then_name_and_the_clock_is_left_out() {
        let ports = Ports::parse(HEADER, "t", &Clock::default()).unwrap();
        assert_eq!(ports.inputs, [port("wide", 416), port("rst", 1)]);
        assert_eq!(
            ports.outputs,
            [port("big", 41), port("middle", 24), port("early", 2), port("narrow", 8)]
        );
    }

    #[test]
    fn only_an_observing_top_has_ports_of_its_own() {
        let header = "// PORTS\n VL_IN8(&clk,0,0);\n VL_OUT64(&cosim_dut_state,63,0);\n";
        let ports = Ports::parse(header, OBSERVING_TOP, &Clock::default()).unwrap();
        assert!(ports.observing && ports.outputs.is_empty());
        assert!(Ports::parse(header, "t", &Clock::default()).is_err());
    }

    #[test]
    fn a_module_without_the_clock_is_refused_and_with_another_it_is_taken() {
        let header = "// PORTS\n    VL_IN8(&clk_i,0,0);\n    VL_IN8(&clk,0,0);\n";
        let ports = Ports::parse(header, "t", &Clock::from("clk_i")).unwrap();
        assert_eq!(ports.inputs, [port("clk", 1)], "any other name is that of an input");
        let error = Ports::parse("// PORTS\n    VL_IN8(&clock,0,0);\n", "t", &Clock::default())
            .unwrap_err();
        assert!(error.to_string().contains("port `clk` of t"), "{error}");
        assert!(error.to_string().contains(".clock("), "what to do: {error}");
    }

    #[test]
    fn names_are_those_of_the_rtl() {
        for (name, in_c) in [
            ("clk", "clk"),
            ("a_b", "a_b"),
            ("__x", "___05Fx"),
            ("a__b", "a___05Fb"),
            ("a___b", "a___05F_b"),
            ("a____b", "a___05F___05Fb"),
            ("odd-name", "odd__02dname"),
        ] {
            assert_eq!(member(name), in_c);
            assert_eq!(name_of(in_c), name);
        }
    }

    #[test]
    fn unsupported_ports_are_refused_by_name() {
        let refused = |line: &str| {
            let header = format!(
                "    // PORTS\n    VL_IN8(&clk,0,0);\n    {line}\n\n    // CELLS\n    V* rootp;\n"
            );
            match Ports::parse(&header, "t", &Clock::default()) {
                Err(Error::Port { port, .. }) => port,
                other => panic!("{line}: {other:?}"),
            }
        };
        assert_eq!(refused("double &level;"), "level");
        assert_eq!(refused("double &___05Flevel;"), "__level");
        assert_eq!(refused("std::string& text;"), "text");
        assert_eq!(refused("VL_IN8(&odd__02dname,0,0);"), "\\odd-name ");
        assert_eq!(refused("VL_OUT8(&__SYM__template,0,0);"), "template");
        assert_eq!(refused("VL_OUT8(&cosim_state,0,0);"), "cosim_state");
        assert_eq!(refused("VL_INOUT8(&pad,0,0);"), "pad");
        assert_eq!(refused("VL_OUT8((&lanes)[4],7,0);"), "lanes");
        for unknown in [
            "VL_OUT8(&a,x,0);",
            "VL_OUT8(&a,0);",
            "VL_OUT8(&a,0,2);",
            "VL_SIG8(&a,0,0);",
            "VL_OUT8(a,0,0);",
            "something new",
        ] {
            assert_eq!(refused(unknown), unknown);
        }
    }

    #[test]
    fn an_imported_function_is_found() {
        let header = "    // DPI IMPORTS\n    // DPI import at p.sv:1:29\n    extern const char* text_of(int a);\n";
        assert_eq!(imported(header).unwrap(), ("p.sv:1:29".to_owned(), "text_of".to_owned()));
        let exports =
            "    // DPI EXPORTS\n    // DPI export at p.sv:1:29\n    extern int mine(int a);\n";
        assert_eq!(imported(exports), None);
    }

    #[test]
    fn storage_is_what_verilator_uses() {
        assert_eq!(Storage::from_width(1), Storage::Integer(8));
        assert_eq!(Storage::from_width(9), Storage::Integer(16));
        assert_eq!(Storage::from_width(24), Storage::Integer(32));
        assert_eq!(Storage::from_width(64), Storage::Integer(64));
        assert_eq!(Storage::from_width(65), Storage::Words(3));
    }
}
