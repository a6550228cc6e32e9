//! A mutation, as Yosys lists it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The effect of a mutation on one bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The bit is inverted.
    Inv,
    /// The bit is 0.
    Const0,
    /// The bit is 1.
    Const1,
    /// The bit is inverted while another bit is 0.
    Cnot0,
    /// The bit is inverted while another bit is 1.
    Cnot1,
}

/// A source location in the RTL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The file name.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The location as Yosys prints it: `12.3-14.6`, lines and columns.
    pub place: String,
}

/// A mutation: a fault in one bit of a port of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mutation {
    /// Its number, from 1.
    pub id: u32,
    /// The kind of fault.
    pub mode: Mode,
    /// The module.
    pub module: String,
    /// The cell, in the naming of Yosys.
    pub cell: String,
    /// The cell's port.
    pub port: String,
    /// The port's bit.
    pub bit: u32,
    /// The controlling bit of the same port, for modes that need one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<u32>,
    /// The signal of the RTL and its bit, if it has a name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Source locations in the RTL.
    pub sources: Vec<Source>,
}

impl Mutation {
    /// Parses a line of `mutate -list`; `None` if it is malformed.
    pub fn parse(id: u32, line: &str, typed: &impl Fn(&str) -> String) -> Option<Self> {
        let mut words = line.split_whitespace();
        (words.next() == Some("mutate")).then_some(())?;
        let mut mutation = Self {
            id,
            mode: Mode::Inv,
            module: String::new(),
            cell: String::new(),
            port: String::new(),
            bit: 0,
            control: None,
            signal: None,
            sources: Vec::new(),
        };
        let mut has_mode = false;
        let mut wire = None;
        while let Some(option) = words.next() {
            let value = words.next()?;
            match option {
                "-mode" => {
                    has_mode = true;
                    mutation.mode = match value {
                        "inv" => Mode::Inv,
                        "const0" => Mode::Const0,
                        "const1" => Mode::Const1,
                        "cnot0" => Mode::Cnot0,
                        "cnot1" => Mode::Cnot1,
                        _ => return None,
                    };
                }
                "-module" => mutation.module = value.to_owned(),
                "-cell" => mutation.cell = value.to_owned(),
                "-port" => mutation.port = value.to_owned(),
                "-portbit" => mutation.bit = value.parse().ok()?,
                "-ctrlbit" => mutation.control = Some(value.parse().ok()?),
                "-wire" => wire = Some(value),
                "-wirebit" => mutation.signal = wire.map(|wire| format!("{wire}[{value}]")),
                "-src" => mutation.sources.extend(Source::parse(value, typed)),
                _ => return None,
            }
        }
        let needs_control = matches!(mutation.mode, Mode::Cnot0 | Mode::Cnot1);
        let is_whole = has_mode && !mutation.cell.is_empty() && !mutation.port.is_empty();
        (is_whole && needs_control == mutation.control.is_some()).then_some(mutation)
    }

    /// The Yosys command that applies it.
    pub fn command(&self) -> String {
        let Self { mode, module, cell, port, bit, .. } = self;
        let mode = match mode {
            Mode::Inv => "inv",
            Mode::Const0 => "const0",
            Mode::Const1 => "const1",
            Mode::Cnot0 => "cnot0",
            Mode::Cnot1 => "cnot1",
        };
        let control = self.control.map_or_else(String::new, |bit| format!(" -ctrlbit {bit}"));
        format!("-mode {mode} -module {module} -cell {cell} -port {port} -portbit {bit}{control}")
    }

    /// Describes it for users.
    pub fn words(&self) -> String {
        let Self { port, bit, .. } = self;
        let kind = self.kind();
        let place = match &self.signal {
            Some(signal) => format!("{signal} ({kind}, {port}[{bit}])"),
            None => format!("bit {bit} of {port} of a {kind}"),
        };
        match (self.mode, self.control) {
            (Mode::Const0, _) => format!("{place} is 0"),
            (Mode::Const1, _) => format!("{place} is 1"),
            (Mode::Cnot0, Some(control)) => {
                format!("{place} is inverted while bit {control} is 0")
            }
            (Mode::Cnot1, Some(control)) => {
                format!("{place} is inverted while bit {control} is 1")
            }
            _ => format!("{place} is inverted"),
        }
    }

    /// The first place in the RTL, as `file:line`.
    pub fn first_place(&self) -> String {
        match self.sources.first() {
            Some(source) => format!("{}:{}", source.file, source.line),
            None => self.module.clone(),
        }
    }

    /// The kind of its cell: the prefix of Yosys's name, in front of the first `$`.
    fn kind(&self) -> &str {
        let name = self.cell.trim_start_matches(['$', '\\']);
        let end = name.find('$').unwrap_or(name.len());
        match &name[..end] {
            "procdff" => "register",
            "procmux" | "ternary" => "multiplexer",
            "memrd" => "read port",
            kind if kind.starts_with("auto") && name.contains("memwr") => "write port",
            "" => "cell",
            kind => kind,
        }
    }
}

impl Source {
    /// Parses Yosys's `file:line.column-line.column`; several are separated by bars.
    pub fn parse(text: &str, typed: &impl Fn(&str) -> String) -> Vec<Self> {
        let place = |text: &str| {
            let (file, place) = text.rsplit_once(':')?;
            // Yosys places generated cells at line 0.
            let line = place.split(['.', '-']).next()?.parse().ok().filter(|line| *line > 0)?;
            Some(Self { file: typed(file), line, place: place.to_owned() })
        };
        text.split('|').filter_map(place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "mutate -mode cnot1 -module top -cell $procdff$12 -port Q -portbit 55 -ctrlbit 49 \
                        -wire laddr -wirebit 55 -src a/top.v:121.15-121.23 -src a/top.v:517.3-549.6";

    #[test]
    fn a_line_of_yosys_is_read_and_written_again() {
        let mutation = Mutation::parse(7, LINE, &str::to_owned).unwrap();
        assert_eq!(mutation.first_place(), "a/top.v:121");
        assert_eq!(mutation.words(), "laddr[55] (register, Q[55]) is inverted while bit 49 is 1");
        assert_eq!(
            mutation.command(),
            "-mode cnot1 -module top -cell $procdff$12 -port Q -portbit 55 -ctrlbit 49"
        );
    }

    #[test]
    fn what_is_no_mutation_is_none() {
        for line in [
            "",
            "mutate -mode none",
            "mutate -mode odd -module top -cell c -port Y -portbit 1",
            "mutate -mode cnot1 -module top -cell c -port Y -portbit 1",
            "mutate -mode inv -module top -cell c -port Y -portbit x",
            "stat -mode inv -module top -cell c -port Y -portbit 1",
        ] {
            assert_eq!(Mutation::parse(1, line, &str::to_owned), None, "{line}");
        }
    }
}
