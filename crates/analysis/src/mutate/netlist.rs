//! Inserts all mutations into one netlist, each enabled by its number.
//!
//! Yosys's own `mutate -ctrl` splits a signal into single bits, which Verilator reports as
//! combinational loops, and the model becomes ten times slower. Here, each mutated port goes
//! through a module that inverts the bits of the enabled mutation, as one word. The mutations mean
//! the same as in Yosys: `docs/how-to/mutation.md`.

use cosim_formats::mutation::{Mode, Mutation};
use cosim_rtl::rtlil::{
    Cell, Line, Unknown, Widths, bits, cells_and_connections, digits, plain, width, widths, wires,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Prefix of all inserted names.
const PREFIX: &str = "cosim_mutation";

/// A mutated port: module, cell and port.
type Port<'a> = (&'a str, &'a str, &'a str);

/// A netlist in RTLIL with mutations inserted.
#[derive(Debug)]
pub struct Woven {
    pub netlist: String,
    /// The inserted mutation modules, in SystemVerilog.
    pub modules: String,
}

/// Inserts mutations into a netlist whose top module is `top`.
///
/// # Errors
/// The mutation or netlist line that cannot be parsed.
pub fn weave(netlist: &str, top: &str, mutations: &[Mutation]) -> Result<Woven, Unknown> {
    let mut at: BTreeMap<Port<'_>, Vec<&Mutation>> = BTreeMap::new();
    for mutation in mutations {
        let Mutation { module, cell, port, .. } = mutation;
        at.entry((module, cell, port)).or_default().push(mutation);
    }
    let widths = widths(netlist);
    let initial = InitialValues::new(netlist, &widths, &at);
    let mut woven = String::new();
    let mut modules = selector();
    let (mut module, mut cell, mut kind) = ("", "", "");
    let mut placed = 0;
    // Lines to insert after the current cell, and at the beginning of the module because wires must
    // be declared first.
    let (mut behind, mut declared, mut begin) = (String::new(), String::new(), 0);
    for line in netlist.lines() {
        let statement = Line::parse_line(line);
        if let Line::Attribute { name: INITIAL, .. } = statement {
            continue;
        } else if let Line::Module(name) = statement {
            module = plain(name);
            begin = woven.len() + line.len() + 1;
        } else if let Line::Wire(wire) = statement {
            woven += &initial.remaining_attribute(module, wire.name);
        } else if let Line::Cell { kind: its_kind, name } = statement {
            (kind, cell) = (its_kind, plain(name));
        } else if let Line::Connect { left: port, right: signal } = statement
            && !cell.is_empty()
            && let Some(here) = at.get(&(module, cell, plain(port)))
        {
            let width = width(signal, widths.get(module))
                .ok_or_else(|| Unknown(format!("the width of {signal} in {module}")))?;
            if here.iter().any(|m| m.bit >= width || m.control.is_some_and(|bit| bit >= width)) {
                return Err(Unknown(format!("a mutation beyond {port} of {cell}")));
            }
            placed += here.len();
            let name = format!("{PREFIX}_{}", here[0].id);
            let is_output = is_output(kind, port, netlist);
            let (from, to) = match is_output {
                true => (format!("\\{name}_signal"), signal.to_owned()),
                false => (signal.to_owned(), format!("\\{name}_signal")),
            };
            if is_output {
                declared += &initial.moved(module, signal, widths.get(module));
            }
            let _ = writeln!(declared, "  wire width {width} \\{name}_signal");
            let _ = writeln!(behind, "  cell \\{name} \\{name}_cell");
            let _ = writeln!(behind, "    connect \\i {from}\n    connect \\o {to}\n  end");
            modules += &text(&name, width, here);
            let _ = writeln!(woven, "    connect {port} \\{name}_signal");
            continue;
        } else if statement == Line::End {
            if !cell.is_empty() {
                cell = "";
                woven += line;
                woven += "\n";
                woven += &std::mem::take(&mut behind);
                continue;
            }
            woven.insert_str(begin, &std::mem::take(&mut declared));
            if line == "end" && module == top {
                let _ = writeln!(woven, "  cell \\{PREFIX}_select \\{PREFIX}_select_cell\n  end");
            }
        }
        woven += line;
        woven += "\n";
    }
    if placed < mutations.len() {
        return Err(Unknown("the cell of a mutation does not exist".to_owned()));
    }
    Ok(Woven { netlist: woven, modules })
}

/// The package with the number of the enabled mutation, and the module that sets it, which the top
/// instantiates. Without a plusarg, no mutation is enabled.
fn selector() -> String {
    format!(
        "package {PREFIX};\n  int selected;\n  function automatic int number();\n    \
         if (!$value$plusargs(\"{PREFIX}=%d\", number)) number = 0;\n  endfunction\nendpackage\n\n\
         module {PREFIX}_select;\n  initial {PREFIX}::selected = {PREFIX}::number();\nendmodule\n"
    )
}

/// The module that applies the mutations of one port.
fn text(name: &str, width: u32, mutations: &[&Mutation]) -> String {
    let mut bits: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for mutation in mutations {
        let Mutation { id, bit, .. } = mutation;
        let is_on = format!("{PREFIX}::selected == {id}");
        // The term that inverts the bit.
        let when = match (mutation.mode, mutation.control) {
            (Mode::Const0, _) => format!("({is_on}) & i[{bit}]"),
            (Mode::Const1, _) => format!("({is_on}) & ~i[{bit}]"),
            (Mode::Cnot0, Some(control)) => format!("({is_on}) & ~i[{control}]"),
            (Mode::Cnot1, Some(control)) => format!("({is_on}) & i[{control}]"),
            _ => format!("({is_on})"),
        };
        bits.entry(*bit).or_default().push(when);
    }
    // From the most significant bit down.
    let mut parts = Vec::new();
    let mut above = width;
    for (bit, terms) in bits.iter().rev() {
        if above > bit + 1 {
            parts.push(format!("{}'b0", above - bit - 1));
        }
        parts.push(format!("1'({})", terms.join(" | ")));
        above = *bit;
    }
    if above > 0 {
        parts.push(format!("{above}'b0"));
    }
    format!(
        "\nmodule {name} (input wire [{high}:0] i, output wire [{high}:0] o);\n  assign o = i ^ {{{}}};\n\
         endmodule\n",
        parts.join(", "),
        high = width - 1
    )
}

/// Whether a port of a cell drives its signal.
fn is_output(kind: &str, port: &str, netlist: &str) -> bool {
    if kind.starts_with('$') && !kind.starts_with("$paramod") {
        let is_read = kind.starts_with("$memrd") && port == "\\DATA";
        return is_read || ["\\Y", "\\Q", "\\X", "\\CO", "\\RD_DATA"].contains(&port);
    }
    // For an instance, the module declares the direction.
    let mut ports = wires(netlist).filter(|(module, _)| *module == plain(kind));
    ports.any(|(_, wire)| wire.name == port && wire.is_output)
}

/// The attribute with the initial value of a wire.
const INITIAL: &str = "\\init";

/// Initial values of wires by module and name, lowest bit first. An initial value belongs to the
/// register that drives the wire. Where a mutation is inserted between them, it moves to the
/// register's output.
struct InitialValues<'a> {
    values: BTreeMap<(&'a str, &'a str), Vec<char>>,
    /// Bits of wires that a mutation drives.
    behind: BTreeSet<(&'a str, &'a str, u32)>,
}

impl<'a> InitialValues<'a> {
    fn new(
        netlist: &'a str,
        widths: &BTreeMap<&str, Widths<'_>>,
        at: &BTreeMap<Port<'_>, Vec<&Mutation>>,
    ) -> Self {
        let mut values = BTreeMap::new();
        let (mut module, mut value) = ("", None);
        for line in netlist.lines() {
            match Line::parse_line(line) {
                Line::Module(name) => module = plain(name),
                Line::Attribute { name: INITIAL, value: number } => value = digits(number),
                Line::Attribute { .. } => {}
                Line::Wire(wire) => {
                    values.extend(value.take().map(|value| ((module, wire.name), value)));
                }
                // These are attributes of something else than a wire.
                _ => value = None,
            }
        }
        let mut behind = BTreeSet::new();
        for cell in cells_and_connections(netlist).0 {
            let Cell { module, kind, name, .. } = cell;
            for (port, signal) in cell.ports() {
                let is_mutated = at.contains_key(&(module, name, plain(port)));
                if is_mutated && is_output(kind, port, netlist) {
                    let bits = bits(signal, widths.get(module)).unwrap_or_default();
                    behind
                        .extend(bits.into_iter().flatten().map(|(wire, bit)| (module, wire, bit)));
                }
            }
        }
        Self { values, behind }
    }

    /// The attribute of a wire without the bits that moved.
    fn remaining_attribute(&self, module: &str, wire: &str) -> String {
        let Some(value) = self.values.get(&(module, wire)) else { return String::new() };
        let is_behind = |bit: u32| self.behind.contains(&(module, wire, bit));
        attribute(
            value.iter().zip(0..).map(|(digit, bit)| if is_behind(bit) { 'x' } else { *digit }),
        )
    }

    /// The attribute of the inserted wire, with the bits that moved.
    fn moved(&self, module: &str, signal: &str, wires: Option<&Widths<'_>>) -> String {
        let digit = |bit: Option<(&str, u32)>| {
            let (wire, bit) = bit?;
            self.values.get(&(module, wire))?.get(bit as usize).copied()
        };
        let bits = bits(signal, wires).unwrap_or_default();
        attribute(bits.into_iter().map(|bit| digit(bit).unwrap_or('x')))
    }
}

/// The attribute line for an initial value, or an empty string if all bits are unknown.
fn attribute(lowest_first: impl Iterator<Item = char>) -> String {
    let digits: Vec<char> = lowest_first.collect();
    if digits.iter().all(|digit| *digit == 'x') {
        return String::new();
    }
    format!("  attribute {INITIAL} {}'{}\n", digits.len(), digits.iter().rev().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETLIST: &str = "\
module \\top
  wire width 8 input 1 \\a
  wire width 8 output 2 \\y
  wire $b
  cell $and $and$1
    parameter \\A_WIDTH 8
    connect \\A \\a
    connect \\B { 4'0000 \\a [6:4] $b }
    connect \\Y \\y
  end
  connect $b \\a [0]
end
";

    fn mutation(id: u32, mode: Mode, port: &str, bit: u32) -> Mutation {
        Mutation {
            id,
            mode,
            module: "top".to_owned(),
            cell: "$and$1".to_owned(),
            port: port.to_owned(),
            bit,
            control: None,
            signal: None,
            sources: Vec::new(),
        }
    }

    #[test]
    fn inputs_are_mutated_before_the_cell_and_outputs_after_it() {
        let mutations = [mutation(1, Mode::Const0, "B", 2), mutation(2, Mode::Inv, "Y", 7)];
        let Woven { netlist, modules } = weave(NETLIST, "top", &mutations).unwrap();
        for part in [
            "    connect \\B \\cosim_mutation_1_signal\n",
            "    connect \\i { 4'0000 \\a [6:4] $b }\n    connect \\o \\cosim_mutation_1_signal\n",
            "    connect \\Y \\cosim_mutation_2_signal\n",
            "    connect \\i \\cosim_mutation_2_signal\n    connect \\o \\y\n",
            "  cell \\cosim_mutation_select \\cosim_mutation_select_cell\n  end\nend\n",
        ] {
            assert!(netlist.contains(part), "{part} is not in\n{netlist}");
        }
        assert!(
            modules.contains(
                "assign o = i ^ {5'b0, 1'((cosim_mutation::selected == 1) & i[2]), 2'b0};"
            )
        );
        assert!(modules.contains("assign o = i ^ {1'((cosim_mutation::selected == 2)), 7'b0};"));
    }

    /// A register that starts as 4'1010, whose middle bits have another name. Yosys orders
    /// attributes arbitrarily.
    const REGISTERS: &str = "\
module \\top
  attribute \\init 4'1010
  attribute \\src \"top.v:1.2-3.4\"
  attribute \\keep 1
  wire width 4 output 1 \\a
  attribute \\src \"top.v:2.2-3.4\"
  attribute \\init 3
  wire width 32 output 2 \\b
  cell $dff $one
    connect \\Q { \\a [2:1] \\b [1] }
  end
  cell $dff $two
    connect \\Q \\b [0]
  end
end
";

    #[test]
    fn an_initial_value_stays_with_its_register() {
        let mutation = Mutation { cell: "$one".to_owned(), ..mutation(1, Mode::Inv, "Q", 2) };
        let Woven { netlist, .. } = weave(REGISTERS, "top", &[mutation]).unwrap();
        let b = format!("{}x1", "0".repeat(30));
        for part in [
            "  attribute \\init 3'011\n  wire width 3 \\cosim_mutation_1_signal\n",
            "  attribute \\init 4'1xx0\n  wire width 4 output 1 \\a\n",
            &format!("  attribute \\init 32'{b}\n  wire width 32 output 2 \\b\n"),
        ] {
            assert!(netlist.contains(part), "{part} is not in\n{netlist}");
        }
        assert_eq!(weave(REGISTERS, "top", &[]).unwrap().netlist.matches("init").count(), 2);
    }

    #[test]
    fn a_mutation_of_an_unknown_port_is_refused() {
        for mutation in [mutation(1, Mode::Inv, "Z", 0), mutation(1, Mode::Inv, "Y", 8)] {
            assert!(weave(NETLIST, "top", &[mutation]).is_err());
        }
    }
}
