//! Finds cells that Yosys and Verilator interpret differently or that cannot be checked, and cuts
//! the memories out of a netlist.

mod paired;

use crate::rtlil::{Unknown, plain, width, widths};
pub use paired::cut_pair;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Register cells that equivalence checks support.
const REGISTERS: [&str; 5] = ["$dff", "$dffe", "$sdff", "$sdffe", "$sdffce"];
/// Register cells that they do not support.
const OTHERS: [&str; 12] = [
    "$ff",
    "$sr",
    "$adff",
    "$adffe",
    "$aldff",
    "$aldffe",
    "$dffsr",
    "$dffsre",
    "$dlatch",
    "$adlatch",
    "$dlatchsr",
    "$fsm",
];
/// Dividers: Yosys and Verilator treat a division by zero differently.
const DIVIDERS: [&str; 5] = ["$div", "$mod", "$divfloor", "$modfloor", "$pow"];

/// Separates the number of a memory port from that of its memory, if the memory can be followed.
pub const OF: &str = "_of_";

/// A port of a cell: module, cell and port.
pub type PortOf<'a> = (&'a str, &'a str, &'a str);

/// A cell of a netlist.
pub struct Cell<'a> {
    /// The module that contains the cell.
    pub module: &'a str,
    /// The cell type.
    pub kind: &'a str,
    /// The cell name.
    pub name: &'a str,
    /// The lines between `cell` and `end`.
    pub inside: Vec<&'a str>,
}

impl<'a> Cell<'a> {
    fn find(&self, what: &str, name: &str) -> Option<&'a str> {
        let beginning = format!("{what} {name} ");
        self.inside.iter().find_map(|line| line.trim().strip_prefix(&beginning))
    }

    /// The ports and the signals connected to them.
    pub fn ports(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let connections =
            self.inside.iter().filter_map(|line| line.trim().strip_prefix("connect "));
        connections.filter_map(|words| words.split_once(' '))
    }

    /// The memory that the cell is a port of.
    fn memory(&self) -> Option<String> {
        let quoted = self.find("parameter", "\\MEMID")?;
        Some(quoted.trim_matches('"').replace("\\\\", "\\"))
    }

    /// Whether the cell is clocked by its port `CLK`.
    fn waits(&self) -> bool {
        let has_clock = || !is_off(self.find("parameter", "\\CLK_ENABLE"));
        is_register(self.kind)
            || (self.kind.starts_with("$mem") && !self.kind.starts_with("$meminit") && has_clock())
    }

    /// Whether the divisor may be zero or negative, or the result may overflow.
    fn may_divide_by_zero(&self) -> bool {
        if !DIVIDERS.contains(&self.kind) {
            return false;
        }
        let divisor = self.find("connect", "\\B").unwrap_or_default();
        let is_positive = match divisor.split_once('\'') {
            Some((_, bits)) => {
                let is_signed = !is_off(self.find("parameter", "\\B_SIGNED"));
                bits.contains('1')
                    && bits.bytes().all(|bit| matches!(bit, b'0' | b'1'))
                    && !(is_signed && bits.starts_with('1'))
            }
            None => divisor.parse::<i32>().is_ok_and(|number| number > 0),
        };
        self.kind == "$pow" || !is_positive
    }
}

fn is_register(kind: &str) -> bool {
    REGISTERS.contains(&kind) || OTHERS.contains(&kind)
}

/// The cells of a netlist, and its connections outside of cells: module, left side, right side.
pub fn parts(netlist: &str) -> (Vec<Cell<'_>>, Vec<(&str, &str, &str)>) {
    let (mut cells, mut connections) = (Vec::new(), Vec::new());
    let mut module = "";
    let mut lines = netlist.lines();
    while let Some(line) = lines.next() {
        let words = line.trim_start();
        if let Some(name) = words.strip_prefix("module ") {
            module = plain(name);
        } else if let Some(rest) = words.strip_prefix("cell ") {
            let (kind, name) = rest.split_once(' ').unwrap_or((rest, ""));
            let inside = lines.by_ref().take_while(|line| line.trim() != "end").collect();
            cells.push(Cell { module, kind, name: plain(name), inside });
        } else if let Some((left, right)) =
            words.strip_prefix("connect ").and_then(|rest| rest.split_once(' '))
        {
            connections.push((module, left, right));
        }
    }
    (cells, connections)
}

/// Cell ports that must stay constant: the controls of unclocked memory read ports and all ports of
/// memory initialisations. Also the clocks of memories: Yosys cannot write a memory whose ports
/// have different clocks.
pub fn fixed(netlist: &str) -> BTreeSet<PortOf<'_>> {
    let is_fixed = |cell: &Cell<'_>, port: &str| {
        let [begins, reads, writes] =
            ["$meminit", "$memrd", "$memwr"].map(|kind| cell.kind.starts_with(kind));
        let is_control = ["EN", "ARST", "SRST"].contains(&port);
        begins || ((reads || writes) && port == "CLK") || (reads && !cell.waits() && is_control)
    };
    let mut all = BTreeSet::new();
    for cell in &parts(netlist).0 {
        let ports = cell.ports().map(|(port, _)| plain(port));
        let ports = ports.filter(|port| is_fixed(cell, port));
        all.extend(ports.map(|port| (cell.module, cell.name, port)));
    }
    all
}

/// The netlist with all unclocked memory read ports enabled. Yosys leaves their enables undefined,
/// and a later pass would set them to 0.
pub fn enabled(netlist: &str) -> String {
    let (mut text, mut is_read) = (String::with_capacity(netlist.len()), false);
    for line in netlist.lines() {
        match line.trim_start() {
            words if words.starts_with("cell ") => is_read = words.starts_with("cell $memrd "),
            words if words.starts_with("parameter \\CLK_ENABLE ") => is_read &= is_off(Some(words)),
            "connect \\EN 1'0" if is_read => {
                text += "    connect \\EN 1'1\n";
                continue;
            }
            _ => {}
        }
        text += line;
        text += "\n";
    }
    text
}

/// Cell ports at which a mutation cannot be checked, and why. Mutations at other ports can.
pub fn unjudged(netlist: &str) -> BTreeMap<PortOf<'_>, &'static str> {
    let (cells, connections) = parts(netlist);
    // Clock signals by module. A signal that is connected to a clock port of an instance is a
    // clock.
    let mut clocks: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut ports = BTreeMap::new();
    loop {
        let before = clocks.len();
        for (module, left, right) in &connections {
            if clocks.contains(&(*module, *left)) || clocks.contains(&(*module, *right)) {
                clocks.extend([(*module, *left), (*module, *right)]);
            }
        }
        for cell in &cells {
            for (port, signal) in cell.ports() {
                let is_clock =
                    (port == "\\CLK" && cell.waits()) || clocks.contains(&(plain(cell.kind), port));
                if is_clock {
                    clocks.insert((cell.module, signal));
                    ports.insert((cell.module, cell.name, plain(port)), "its clock is mutated");
                } else if port == "\\B" && DIVIDERS.contains(&cell.kind) {
                    let because = "it divides, and Yosys and Verilator treat a division by zero \
                         differently";
                    ports.insert((cell.module, cell.name, plain(port)), because);
                }
            }
        }
        if clocks.len() == before {
            return ports;
        }
    }
}

/// Cuts the memories out of a flat netlist: their inputs become outputs of the design, their
/// outputs become inputs.
///
/// # Errors
/// [`Unknown`] if the netlist cannot be checked: several clocks or edges, a latch, or a division.
pub fn cut(netlist: &str, clock: &str) -> Result<String, Unknown> {
    let followed = followed(netlist);
    cut_as(
        netlist,
        clock,
        &|cell, count| match cell.memory().and_then(|name| followed.get(&name)) {
            Some(memory) => format!("{count}{OF}{memory}"),
            None => count.to_string(),
        },
    )
}

/// As [`cut`]; `named` gives the stem of the names of a memory cell's ports, from the cell and the
/// number of memory cells so far.
fn cut_as(
    netlist: &str,
    clock: &str,
    named: &dyn Fn(&Cell<'_>, usize) -> String,
) -> Result<String, Unknown> {
    let clock = format!("\\{clock}");
    let widths = widths(netlist);
    let wires = widths.values().next();
    let (mut text, mut declared, mut begin) = (String::new(), String::new(), 0);
    let mut attributes = String::new();
    let mut lines = netlist.lines();
    let mut cuts = 0;
    while let Some(line) = lines.next() {
        let words = line.trim_start();
        if words.starts_with("attribute ") {
            attributes += line;
            attributes += "\n";
            continue;
        }
        let mut kept = line.to_owned() + "\n";
        if let Some(rest) = words.strip_prefix("cell ") {
            let (kind, name) = rest.split_once(' ').unwrap_or((rest, ""));
            let inside = lines.by_ref().take_while(|line| line.trim() != "end").collect();
            let cell = Cell { module: "", kind, name, inside };
            check(&cell, &clock)?;
            if let Some(ports) = memory_ports(&cell)? {
                attributes.clear();
                cuts += 1;
                let cut = named(&cell, cuts);
                open(&cell, ports, (cuts, &cut), wires, (&mut declared, &mut text))?;
                continue;
            }
            kept.extend(cell.inside.iter().flat_map(|line| [line, "\n"]));
            kept += "  end\n";
        }
        if words == "end" {
            text.insert_str(begin, &std::mem::take(&mut declared));
        }
        text += &std::mem::take(&mut attributes);
        text += &kept;
        if words.starts_with("module ") {
            begin = text.len();
        }
    }
    Ok(text)
}

/// The ports at which a memory cell is cut, and the stems of their new names; `None` for other
/// cells.
fn memory_ports(
    cell: &Cell<'_>,
) -> Result<Option<&'static [(&'static str, &'static str)]>, Unknown> {
    Ok(Some(match cell.kind {
        kind if kind.starts_with("$memrd") && !cell.waits() => {
            &[("\\DATA", "read"), ("\\ADDR", "where")]
        }
        // A clocked read port keeps its last data, so the enable is compared, too.
        "$memrd" => &[("\\DATA", "read"), ("\\ADDR", "where"), ("\\EN", "when")],
        "$memrd_v2" => &[
            ("\\DATA", "read"),
            ("\\ADDR", "where"),
            ("\\EN", "when"),
            ("\\ARST", "cleared"),
            ("\\SRST", "reset"),
        ],
        kind if kind.starts_with("$memwr") => {
            &[("\\EN", "enable"), ("\\DATA", "data"), ("\\ADDR", "address")]
        }
        kind if kind.starts_with("$meminit") => &[],
        kind if kind.starts_with("$mem") => {
            return Err(Unknown("it has a memory of an unknown kind".to_owned()));
        }
        _ => return Ok(None),
    }))
}

/// Replaces a cell by ports of the design that are connected to the signals of the cell.
fn open(
    cell: &Cell<'_>,
    ports: &[(&str, &str)],
    (count, cut): (usize, &str),
    wires: Option<&BTreeMap<&str, u32>>,
    (declared, text): (&mut String, &mut String),
) -> Result<(), Unknown> {
    for (place, (port, name)) in ports.iter().enumerate() {
        let signal = cell
            .find("connect", port)
            .ok_or_else(|| Unknown(format!("it has a memory without {port}")))?;
        let width =
            width(signal, wires).ok_or_else(|| Unknown(format!("the width of {signal}")))?;
        // Port numbers far above those of the design.
        let number = 100_000 + 10 * count + place;
        let full = format!("\\cosim_{name}_{cut}");
        let (direction, connection) = match *name {
            "read" => ("input", format!("  connect {signal} {full}\n")),
            _ => ("output", format!("  connect {full} {signal}\n")),
        };
        let _ = writeln!(declared, "  wire width {width} {direction} {number} {full}");
        *text += &connection;
    }
    Ok(())
}

/// Numbers the memories of which a word can be followed. They have a power-of-two size from address
/// 0, only unclocked read ports, and at most two write ports, so that each read is exact and the
/// order of two writes does not matter.
pub fn followed(netlist: &str) -> BTreeMap<String, usize> {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for line in netlist.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["memory", options @ .., name] = &words[..] else { continue };
        let option = |name: &str| {
            let mut pairs = options.chunks_exact(2);
            pairs.find_map(|pair| (pair[0] == name).then(|| pair[1].parse().ok())).flatten()
        };
        let (size, offset) = (option("size").unwrap_or(1_u64), option("offset").unwrap_or(0));
        if size.is_power_of_two() && offset == 0 {
            sizes.insert((*name).to_owned(), size);
        }
    }
    let cells = parts(netlist).0;
    sizes.retain(|name, size| {
        let mut writes = 0;
        cells.iter().filter(|cell| cell.memory().as_ref() == Some(name)).all(|cell| {
            let is_write = cell.kind.starts_with("$memwr");
            writes += u32::from(is_write);
            let bits = cell.find("parameter", "\\ABITS").and_then(|bits| bits.parse().ok());
            (is_write
                || (cell.kind == "$memrd" && !cell.waits())
                || cell.kind.starts_with("$meminit"))
                && writes <= 2
                && bits.is_some_and(|bits: u32| bits <= size.ilog2())
        })
    });
    sizes.into_keys().zip(1..).collect()
}

/// Whether a one-bit parameter is 0 or missing.
fn is_off(value: Option<&str>) -> bool {
    value.is_none_or(|value| !value.ends_with('1'))
}

/// Rejects unsupported registers, possible divisions by zero and clocks other than the rising edge
/// of `clock`.
fn check(cell: &Cell<'_>, clock: &str) -> Result<(), Unknown> {
    let kind = cell.kind;
    if OTHERS.contains(&kind) {
        return Err(Unknown(format!("it has a register of the unsupported kind {kind}")));
    }
    if cell.may_divide_by_zero() {
        return Err(Unknown(
            "it divides, and Yosys and Verilator treat a division by zero differently".to_owned(),
        ));
    }
    if cell.waits() {
        let signal = cell.find("connect", "\\CLK").unwrap_or_default();
        if signal != clock || is_off(cell.find("parameter", "\\CLK_POLARITY")) {
            return Err(Unknown(format!(
                "it has a register that is not clocked by the rising edge of {clock}"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
