//! Finds cells that Yosys and Verilator interpret differently or that cannot be checked, and cuts
//! the memories out of a netlist.

mod memories;
mod paired;

use cosim_aig::{CutMemory, FREE, OF};
use cosim_rtl::rtlil::{
    self, Cell, Line, Unknown, Widths, cells_and_connections, plain, width, widths,
};
use memories::CutMemories;
pub use paired::cut_pair;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Register cells that equivalence checks support.
const REGISTERS: [&str; 5] = ["$dff", "$dffe", "$sdff", "$sdffe", "$sdffce"];
/// Register cells that they do not support.
const OTHERS: [&str; 12] = [
    LATCH,
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
/// What holds the value of a latch after Yosys's `async2sync`.
const LATCH: &str = "$ff";
/// Dividers: Yosys and Verilator treat a division by zero differently.
const DIVIDERS: [&str; 5] = ["$div", "$mod", "$divfloor", "$modfloor", "$pow"];

/// Cells without a second input: their output is a clock if their input is one.
const INVERTERS: [&str; 3] = ["$not", "$pos", "$logic_not"];

/// A port of a cell: module, cell and port.
pub type PortOf<'a> = (&'a str, &'a str, &'a str);

/// What the checks ask about a cell.
trait Kind {
    /// The memory that the cell is a port of.
    fn memory(&self) -> Option<String>;
    /// Whether the cell is clocked by its port `CLK`.
    fn waits(&self) -> bool;
    /// Whether the divisor may be zero or negative, or the result may overflow.
    fn may_divide_by_zero(&self) -> bool;
}

impl Kind for Cell<'_> {
    fn memory(&self) -> Option<String> {
        Some(self.parameter("\\MEMID")?.trim_matches('"').replace("\\\\", "\\"))
    }

    fn waits(&self) -> bool {
        let has_clock = || !is_off(self.parameter("\\CLK_ENABLE"));
        REGISTERS.contains(&self.kind)
            || OTHERS.contains(&self.kind)
            || (self.kind.starts_with("$mem") && !self.kind.starts_with("$meminit") && has_clock())
    }

    fn may_divide_by_zero(&self) -> bool {
        if !DIVIDERS.contains(&self.kind) {
            return false;
        }
        let divisor = self.port("\\B").unwrap_or_default();
        let digits = rtlil::digits(divisor).unwrap_or_default();
        let is_signed = !is_off(self.parameter("\\B_SIGNED"));
        let is_positive = digits.contains(&'1')
            && digits.iter().all(|digit| matches!(digit, '0' | '1'))
            && !divisor.starts_with('-')
            && !(is_signed && digits.last() == Some(&'1'));
        self.kind == "$pow" || !is_positive
    }
}

/// Cell ports that must stay as they are: the controls of unclocked memory read ports, all ports of
/// memory initialisations, and [clocks](clock_ports).
pub fn fixed(netlist: &str) -> BTreeSet<PortOf<'_>> {
    let is_fixed = |cell: &Cell<'_>, port: &str| {
        let [begins, reads, writes] =
            ["$meminit", "$memrd", "$memwr"].map(|kind| cell.kind.starts_with(kind));
        let is_control = ["EN", "ARST", "SRST"].contains(&port);
        begins || ((reads || writes) && port == "CLK") || (reads && !cell.waits() && is_control)
    };
    let mut all = clock_ports(netlist);
    for cell in &cells_and_connections(netlist).0 {
        let ports = cell.ports().map(|(port, _)| plain(port));
        let ports = ports.filter(|port| is_fixed(cell, port));
        all.extend(ports.map(|port| (cell.module, cell.name, port)));
    }
    all
}

/// Cell ports that a clock passes: the clock ports of registers and clocked memories, the ports of
/// instances that lead to or from them, and what drives or inverts a clock. A mutation there
/// changes the edge of a register: no equivalence check decides it, and Yosys cannot write a memory
/// whose ports have different clocks.
fn clock_ports(netlist: &str) -> BTreeSet<PortOf<'_>> {
    let (cells, connections) = cells_and_connections(netlist);
    // Clock signals by module.
    let mut clocks: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut ports = BTreeSet::new();
    loop {
        let before = (clocks.len(), ports.len());
        for (module, left, right) in &connections {
            if clocks.contains(&(*module, *left)) || clocks.contains(&(*module, *right)) {
                clocks.extend([(*module, *left), (*module, *right)]);
            }
        }
        for cell in &cells {
            let is_instance = !cell.kind.starts_with('$') || cell.kind.starts_with("$paramod");
            let is_clock = |signal| clocks.contains(&(cell.module, signal));
            let inverts_clock =
                INVERTERS.contains(&cell.kind) && cell.port("\\Y").is_some_and(is_clock);
            for (port, signal) in cell.ports() {
                let inside = (plain(cell.kind), port);
                let drives = is_instance || port == "\\Y" || port == "\\Q";
                let is_clock = (port == "\\CLK" && cell.waits())
                    || (is_instance && clocks.contains(&inside))
                    || (drives && clocks.contains(&(cell.module, signal)))
                    || inverts_clock;
                if is_clock {
                    clocks.insert((cell.module, signal));
                    clocks.extend(is_instance.then_some(inside));
                    ports.insert((cell.module, cell.name, plain(port)));
                }
            }
        }
        if (clocks.len(), ports.len()) == before {
            return ports;
        }
    }
}

/// The netlist with all unclocked memory read ports enabled. Yosys leaves their enables undefined,
/// and a later pass would set them to 0.
pub fn enabled(netlist: &str) -> String {
    let (mut text, mut is_read) = (String::with_capacity(netlist.len()), false);
    for line in netlist.lines() {
        match Line::parse_line(line) {
            Line::Cell { kind, .. } => is_read = kind == "$memrd",
            Line::Parameter { name: "\\CLK_ENABLE", value } => is_read &= is_off(Some(value)),
            Line::Connect { left: "\\EN", right: "1'0" | "1'x" } if is_read => {
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
    let clocks = clock_ports(netlist);
    let mut ports: BTreeMap<_, _> =
        clocks.into_iter().map(|port| (port, "its clock is mutated")).collect();
    for cell in cells_and_connections(netlist).0 {
        if DIVIDERS.contains(&cell.kind) && cell.port("\\B").is_some() {
            let because =
                "it divides, and Yosys and Verilator treat a division by zero differently";
            ports.insert((cell.module, cell.name, "B"), because);
        }
    }
    ports
}

/// A netlist whose memories are cut out.
#[derive(Debug, Default)]
pub struct Cut {
    pub text: String,
    pub memories: Vec<CutMemory>,
}

/// Cuts the memories out of a flat netlist: their inputs become outputs of the design, their
/// outputs become inputs.
///
/// # Errors
/// [`Unknown`] if the netlist cannot be checked: several clocks or edges, a latch, or a division.
pub fn cut(netlist: &str, clock: &str) -> Result<Cut, Unknown> {
    cut_as(netlist, clock, Latches::Refused, &name_of(&followed(netlist)))
}

/// As [`cut`], with latches. While one is closed, it holds any value in each cycle: more than the
/// RTL can do, so that a proof holds for it.
///
/// # Errors
/// As [`cut`].
pub fn cut_with_latches(netlist: &str, clock: &str) -> Result<Cut, Unknown> {
    cut_as(netlist, clock, Latches::Free, &name_of(&followed(netlist)))
}

/// The stem of the names of a memory cell's ports.
fn name_of(followed: &BTreeMap<String, usize>) -> impl Fn(&Cell<'_>, usize) -> String {
    |cell, count| match cell.memory().and_then(|name| followed.get(&name)) {
        Some(memory) => format!("{count}{OF}{memory}"),
        None => count.to_string(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Latches {
    Refused,
    /// What they hold is an input.
    Free,
}

/// As [`cut`]; `named` gives the stem of the names of a memory cell's ports, from the cell and the
/// number of memory cells so far.
fn cut_as(
    netlist: &str,
    clock: &str,
    latches: Latches,
    named: &dyn Fn(&Cell<'_>, usize) -> String,
) -> Result<Cut, Unknown> {
    let clock = format!("\\{clock}");
    let widths = widths(netlist);
    let wires = widths.values().next();
    let (mut text, mut declared, mut begin) = (String::new(), String::new(), 0);
    let mut attributes = String::new();
    let mut lines = netlist.lines();
    let mut cuts = 0;
    let mut memories = CutMemories::from_netlist(netlist);
    while let Some(line) = lines.next() {
        let statement = Line::parse_line(line);
        if let Line::Attribute { .. } = statement {
            attributes += line;
            attributes += "\n";
            continue;
        }
        let mut kept = line.to_owned() + "\n";
        if let Line::Cell { kind, name } = statement {
            let cell = Cell { module: "", kind, name, inside: rtlil::rest_of_cell(&mut lines) };
            if kind == LATCH && latches == Latches::Free {
                attributes.clear();
                cuts += 1;
                hold(&cell, cuts, &mut declared, &mut text)?;
                continue;
            }
            check(&cell, &clock)?;
            if let Some(ports) = memory_ports(&cell)? {
                attributes.clear();
                cuts += 1;
                let cut = named(&cell, cuts);
                memories.add(&cell, &cut);
                open(&cell, ports, cuts, &cut, wires, &mut declared, &mut text)?;
                continue;
            }
            kept.extend(cell.inside.iter().flat_map(|line| [line, "\n"]));
            kept += "  end\n";
        }
        if statement == Line::End {
            text.insert_str(begin, &std::mem::take(&mut declared));
        }
        text += &std::mem::take(&mut attributes);
        text += &kept;
        if let Line::Module(_) = statement {
            begin = text.len();
        }
    }
    Ok(Cut { text, memories: memories.finish() })
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

/// The netlist with an input in place of each `$anyseq` cell, which stands for undefined bits.
///
/// # Errors
/// [`Unknown`] if such a cell has an unknown form.
pub fn with_free_inputs(netlist: &str) -> Result<String, Unknown> {
    let (mut text, mut declared, mut begin) = (String::new(), String::new(), 0);
    let mut lines = netlist.lines();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let statement = Line::parse_line(line);
        if let Line::Cell { kind: "$anyseq", name } = statement {
            let inside = rtlil::rest_of_cell(&mut lines);
            let cell = Cell { module: "", kind: "$anyseq", name, inside };
            let (Some(width), Some(signal)) = (cell.parameter("\\WIDTH"), cell.port("\\Y")) else {
                return Err(Unknown(format!("the undefined bits {} have no width", plain(name))));
            };
            count += 1;
            let number = 1_000_000 + count;
            let _ = writeln!(declared, "  wire width {width} input {number} \\{FREE}x_{count}");
            let _ = writeln!(text, "  connect {signal} \\{FREE}x_{count}");
            continue;
        }
        if statement == Line::End {
            text.insert_str(begin, &std::mem::take(&mut declared));
        }
        text.push_str(line);
        text.push('\n');
        match statement {
            Line::Module(_) => begin = text.len(),
            Line::Cell { .. } => {
                for line in rtlil::rest_of_cell(&mut lines) {
                    text.push_str(line);
                    text.push('\n');
                }
                text += "  end\n";
            }
            _ => {}
        }
    }
    Ok(text)
}

/// The netlist in which a read of a word that its memory does not have is undefined, and such a
/// write changes nothing: mapped to registers, it would be another word. `None` if a port of such a
/// memory has another form.
pub fn with_words_alone(netlist: &str) -> Option<String> {
    let memories: BTreeMap<&str, rtlil::Memory<'_>> =
        rtlil::memories(netlist).map(|memory| (memory.name, memory)).collect();
    let (mut text, mut declared, mut begin) = (String::new(), String::new(), 0);
    let mut lines = netlist.lines();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let statement = Line::parse_line(line);
        if statement == Line::End {
            text.insert_str(begin, &std::mem::take(&mut declared));
        }
        text.push_str(line);
        text.push('\n');
        let Line::Cell { kind, name } = statement else {
            if let Line::Module(_) = statement {
                begin = text.len();
            }
            continue;
        };
        let cell = Cell { module: "", kind, name, inside: rtlil::rest_of_cell(&mut lines) };
        let memory = cell.memory();
        let guarded = match memory.as_deref().and_then(|name| memories.get(name)) {
            Some(memory) => guarded(&cell, memory)?.map(|port| (port, memory.size)),
            None => None,
        };
        for line in &cell.inside {
            match (Line::parse_line(line), guarded) {
                (Line::Connect { left, .. }, Some((port, _))) if left == port => {
                    let _ = writeln!(text, "    connect {port} $cosim_word_{count}");
                }
                _ => {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        text += "  end\n";
        if let Some((port, size)) = guarded {
            guard(&cell, count, port, size, &mut declared, &mut text)?;
            count += 1;
        }
    }
    Some(text)
}

/// The port of a memory cell that needs a guard, if one does; the outer `None` if it has none.
fn guarded(cell: &Cell<'_>, memory: &rtlil::Memory<'_>) -> Option<Option<&'static str>> {
    let is_there = |address: u64| memory.offset == 0 && address < memory.size;
    let bits = cell.parameter("\\ABITS").and_then(rtlil::number)?;
    let highest = 1_u64.checked_shl(u32::try_from(bits).ok()?).map(|words| words - 1);
    let address = cell.port("\\ADDR").and_then(rtlil::number).or(highest);
    match cell.kind {
        kind if kind.starts_with("$meminit") => Some(None),
        _ if address.is_some_and(is_there) => Some(None),
        _ if memory.offset != 0 => None,
        "$memrd" if !cell.waits() => Some(Some("\\DATA")),
        kind if kind.starts_with("$memwr") => Some(Some("\\EN")),
        _ => None,
    }
}

/// Adds the guard of a port, between it and its wire `$cosim_word_COUNT`.
fn guard(
    cell: &Cell<'_>,
    count: usize,
    port: &str,
    size: u64,
    declared: &mut String,
    text: &mut String,
) -> Option<()> {
    let (signal, address) = (cell.port(port)?, cell.port("\\ADDR")?);
    let bits = cell.parameter("\\ABITS")?;
    let width = usize::try_from(cell.parameter("\\WIDTH").and_then(rtlil::number)?).ok()?;
    let word = format!("$cosim_word_{count}");
    let (digit, from, to) = match port {
        "\\DATA" => ("x", word.as_str(), signal),
        _ => ("0", signal, word.as_str()),
    };
    let _ = write!(declared, "  wire width {width} {word}\n  wire $cosim_has_{count}\n");
    let _ = write!(
        text,
        "  cell $lt $cosim_has_cell_{count}\n    parameter \\A_SIGNED 0\n    parameter \\A_WIDTH {bits}\n    \
         parameter \\B_SIGNED 0\n    parameter \\B_WIDTH 64\n    parameter \\Y_WIDTH 1\n    \
         connect \\A {address}\n    connect \\B 64'{size:064b}\n    connect \\Y $cosim_has_{count}\n  end\n  \
         cell $mux $cosim_word_cell_{count}\n    parameter \\WIDTH {width}\n    \
         connect \\A {width}'{}\n    connect \\B {from}\n    connect \\S $cosim_has_{count}\n    \
         connect \\Y {to}\n  end\n",
        digit.repeat(width)
    );
    Some(())
}

/// Replaces what a latch holds by an input.
fn hold(
    cell: &Cell<'_>,
    count: usize,
    declared: &mut String,
    text: &mut String,
) -> Result<(), Unknown> {
    let [width, held] = [cell.parameter("\\WIDTH"), cell.port("\\Q")];
    let (Some(width), Some(held)) = (width, held) else {
        return Err(Unknown(format!("it has the latch {} of an unknown form", plain(cell.name))));
    };
    let number = 100_000 + 10 * count;
    let _ = writeln!(declared, "  wire width {width} input {number} \\{FREE}held_{count}");
    let _ = writeln!(text, "  connect {held} \\{FREE}held_{count}");
    Ok(())
}

/// Replaces a cell by ports of the design that are connected to the signals of the cell.
fn open(
    cell: &Cell<'_>,
    ports: &[(&str, &str)],
    count: usize,
    cut: &str,
    wires: Option<&Widths<'_>>,
    declared: &mut String,
    text: &mut String,
) -> Result<(), Unknown> {
    for (place, (port, name)) in ports.iter().enumerate() {
        let signal =
            cell.port(port).ok_or_else(|| Unknown(format!("it has a memory without {port}")))?;
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
    let mut sizes: BTreeMap<String, u64> = rtlil::memories(netlist)
        .filter(|memory| memory.size.is_power_of_two() && memory.offset == 0)
        .map(|memory| (memory.name.to_owned(), memory.size))
        .collect();
    let cells = cells_and_connections(netlist).0;
    sizes.retain(|name, size| {
        let mut writes = 0;
        cells.iter().filter(|cell| cell.memory().as_ref() == Some(name)).all(|cell| {
            let is_write = cell.kind.starts_with("$memwr");
            writes += u32::from(is_write);
            let bits = cell.parameter("\\ABITS").and_then(rtlil::number);
            (is_write
                || (cell.kind == "$memrd" && !cell.waits())
                || cell.kind.starts_with("$meminit"))
                && writes <= 2
                && bits.is_some_and(|bits| bits <= u64::from(size.ilog2()))
        })
    });
    sizes.into_keys().zip(1..).collect()
}

/// The place of a port among those of its memory and kind. A later write wins.
fn rank(cell: &Cell<'_>) -> u64 {
    let number = |name| cell.parameter(name).and_then(rtlil::number);
    number("\\PORTID").or_else(|| number("\\PRIORITY")).unwrap_or(0)
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
        let signal = cell.port("\\CLK").unwrap_or_default();
        if signal != clock || is_off(cell.parameter("\\CLK_POLARITY")) {
            return Err(Unknown(format!(
                "it has a register that is not clocked by the rising edge of {clock}"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
