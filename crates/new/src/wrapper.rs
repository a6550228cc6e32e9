//! Wraps a module whose ports the harness cannot drive: writes a module with plain packed ports and
//! one clock around it.
//!
//! `cosim new` uses it. Several clocks become inputs that say which of them rise at the end of a
//! step. Arrays and interfaces become a port for each element or signal. docs/how-to/wrap-rtl.md
//! explains the result.

mod verilog;

use crate::names::is_keyword;
use crate::resets::{Reset, is_reset_name, usual_clock};
use cosim_base::error::{Error, codes};
use cosim_base::text;
use cosim_rtl::models::candidates;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use verilated_build::module::{
    BitsType, Direction, EdgeKind, InterfacePort, ModuleDescription, PortKind, Type,
};

/// Arrays with more elements become one port.
const MOST_ELEMENTS: i64 = 16;
/// Arrays of interfaces have at most so many.
const MOST_INTERFACES: i64 = 64;
/// Names for the clock of the harness, if several clocks or none are the module's own.
const HARNESS_CLOCKS: [&str; 4] = ["clk", "step_clk", "harness_clk", "step_of_harness"];
/// Names of ports that C++, its macros, Verilator's model, the harness or generated code have for
/// something else.
const TAKEN: &str = "abort alignas alignof and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bit_vector \
    bitand bitor bool catch cdecl char char16_t char32_t char8_t class co_await co_return co_yield \
    compl complex concept const_cast const_iterator consteval constexpr constinit decltype delete \
    deque double dynamic_cast explicit false far float friend goto huge inline int interrupt list \
    long map mutable namespace near new noexcept not_eq nullptr operator or_eq override pascal \
    private protected public queue register reinterpret_cast requires sc_clock sc_in sc_inout \
    sc_out sc_signal sensitive sensitive_neg sensitive_pos set short signed sizeof stack \
    static_assert static_cast switch synchronized template this thread_local throw \
    transaction_safe_dynamic true try type_info typeid typename uint16_t uint32_t uint8_t unsigned \
    using vector virtual void volatile wchar_t xor_eq BUFSIZ EOF EXIT_FAILURE EXIT_SUCCESS M_PI \
    NULL RAND_MAX SEEK_CUR SEEK_END SEEK_SET errno linux unix CData EData IData QData SData \
    VerilatedContext atClone contextp eval eval_end_step eval_step eventsPending final hierName \
    modelName name nextTimeSlot prepareClone rootp std threads trace vlSymsp dut padding";

const HAS_INTERFACES: &str = "it has interfaces as ports";
/// Surrounds a pin that is replaced later. No name contains it.
const PIN: char = '\u{1}';

#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Its clocks, if they were named.
    pub clocks: Vec<String>,
    /// Values of parameters, as typed: the first ones. Those of an interface have its port and a
    /// point before them.
    pub parameters: Vec<(String, String)>,
    /// Whether the module cannot be a top by itself.
    pub is_needed: bool,
}

/// A port of the wrapper, or of the module itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    pub name: String,
    /// Whether the harness drives it.
    pub is_input: bool,
    pub bits: BitsType,
    /// What it is to the module: `port` or `port.signal`.
    pub leaf: String,
}

/// How a module becomes the top of a block.
#[derive(Debug, Clone, Default)]
pub struct Wrapping {
    /// The wrapper's text; none if the module can be the top itself.
    pub text: Option<String>,
    /// The clock that the harness drives.
    pub clock: String,
    /// The inputs that say which clocks rise, if there are several clocks.
    pub clocks: Vec<String>,
    /// Resets that registers have in their sensitivity, and inputs with names of resets: with their
    /// levels.
    pub resets: Vec<(String, bool)>,
    /// Whether nothing in the module waits for an edge.
    pub is_combinational: bool,
    pub pins: Vec<Pin>,
}

pub fn wrapper_name(top: &str) -> String {
    format!("{top}_wrapper")
}

/// What stands for one port of the module.
#[derive(Debug, Default)]
struct Connection {
    /// Declarations and assignments.
    text: String,
    expression: String,
}

struct Builder<'a> {
    top: &'a str,
    wishes: &'a Wishes,
    names: BTreeSet<String>,
    pins: Vec<Pin>,
    /// Why the module cannot be the top itself.
    reasons: BTreeSet<&'static str>,
    /// The only clock among the ports that are no interfaces.
    clock: Option<String>,
}

impl Wrapping {
    /// Decides how a module becomes a top.
    ///
    /// # Errors
    /// [`Error::Usage`] for a port that no wrapper can drive.
    pub fn new(top: &str, description: &ModuleDescription, wishes: &Wishes) -> Result<Self, Error> {
        let is_clock = |leaf: &&String| {
            !leaf.contains('.') && description.edges.get(*leaf) == Some(&EdgeKind::Clock)
        };
        let mut own = description.edges.keys().filter(is_clock);
        let clock = own.next().filter(|_| own.next().is_none()).cloned();
        let mut builder = Builder {
            top,
            wishes,
            names: BTreeSet::new(),
            pins: Vec::new(),
            reasons: BTreeSet::new(),
            clock,
        };
        if wishes.is_needed {
            builder.reasons.insert("a parameter has no default");
        }
        // Plain names stay as they are, so other names must not take them.
        for port in &description.ports {
            builder.names.insert(port.name.clone());
        }
        let mut connections = Vec::new();
        for port in &description.ports {
            let connection = match &port.kind {
                PortKind::Value(Direction::Inout, Type::Bits(bits)) => {
                    builder.inout(&port.name, bits)
                }
                PortKind::Value(Direction::Inout, _) => {
                    return Err(builder.refuse(
                        &port.name,
                        "inout ports that are no bit vectors are not supported; split it into an \
                         input and an output",
                    ));
                }
                PortKind::Value(direction, kind) => {
                    let is_input = *direction == Direction::Input;
                    builder.value(&port.name, is_input, kind)?
                }
                PortKind::Interface(interface) => builder.interface(&port.name, interface)?,
            };
            connections.push((port.name.clone(), connection));
        }
        builder.finish(description, connections)
    }
}

impl Builder<'_> {
    fn refuse(&self, port: &str, reason: &str) -> Error {
        Error::Usage(codes::BAD_PORT, format!("port `{port}` of {}: {reason}", self.top))
    }

    /// A name for a pin: letters, digits and _, and none that something else has.
    fn pin_name(&mut self, wanted: &str) -> String {
        let mut name = verilog::plain(wanted);
        // The field of a keyword has a `_` behind it.
        let is_field_taken =
            |name: &str| is_keyword(name) && self.names.contains(&format!("{name}_"));
        let is_taken = |name: &str| {
            TAKEN.split_whitespace().any(|taken| taken == name)
                || verilated_lexer::is_keyword(name)
                || is_field_taken(name)
        };
        if name.starts_with(|letter: char| letter.is_ascii_digit()) {
            name.insert(0, 'p');
        }
        if is_taken(&name) || name.starts_with("cosim_") {
            name = format!("{}_pin", name.trim_start_matches("cosim_"));
        }
        self.free(&name)
    }

    /// A name of letters, digits and _ that nothing has yet.
    fn free(&mut self, wanted: &str) -> String {
        let mut name = verilog::plain(wanted);
        if name.starts_with(|letter: char| letter.is_ascii_digit()) {
            name.insert(0, 'n');
        }
        while self.names.contains(&name) {
            name.push('_');
        }
        self.names.insert(name.clone());
        name
    }

    fn pin(&mut self, wanted: &str, leaf: &str, is_input: bool, bits: &BitsType) -> String {
        // The name of a port is taken by itself.
        let own = leaf == wanted && self.names.remove(leaf);
        let name = self.pin_name(wanted);
        if own && name != wanted {
            self.names.insert(leaf.to_owned());
            self.reasons.insert("the names of its ports cannot be used");
        }
        let pin = Pin { name: name.clone(), is_input, bits: bits.clone(), leaf: leaf.to_owned() };
        self.pins.push(pin);
        name
    }

    fn value(&mut self, port: &str, is_input: bool, kind: &Type) -> Result<Connection, Error> {
        match kind {
            Type::Bits(bits) => {
                let pin = self.pin(port, port, is_input, bits);
                Ok(Connection { text: String::new(), expression: cast(&pin, is_input, bits) })
            }
            Type::Array { .. } | Type::Struct { .. } => {
                self.reasons.insert(match kind {
                    Type::Array { .. } => "it has arrays as ports",
                    _ => "it has unpacked structs as ports",
                });
                let net = self.free(&format!("{port}_i"));
                let mut text = format!("  {};\n", self.declaration(port, &net, kind)?);
                text.push_str(&self.elements(port, port, &net, is_input, kind)?);
                Ok(Connection { text, expression: net })
            }
            Type::Other(what) => Err(self.refuse(port, &reason_not_bits(what))),
        }
    }

    /// Connects a bidirectional port: to what the environment drives, to what says which bits it
    /// drives, and to what is on the net. A bit that nothing drives is 0 in every simulator.
    fn inout(&mut self, port: &str, bits: &BitsType) -> Connection {
        self.reasons.insert("it has inout ports");
        let net = self.free(&format!("{port}_i"));
        let flat = BitsType { width: bits.width, ..BitsType::default() };
        let mut pin = |end: &str, is_input| {
            self.pin(
                &format!("{port}_{end}"),
                port,
                is_input,
                if end == "enable" { &flat } else { bits },
            )
        };
        let (driven, enable, seen) = (pin("in", true), pin("enable", true), pin("out", false));
        let label = self.free(&format!("bits_of_{port}"));
        let (range, each) = match bits.width {
            1 => (String::new(), ""),
            width => (format!("[{}:0] ", width - 1), "[n]"),
        };
        let mut text = format!(
            "  // The environment drives the bits of {net} that are 1 in {enable}. It must not drive those that the module\n  \
             // drives: their values are combined.\n  wire {range}{net};\n"
        );
        let assignments = format!(
            "assign {net}{each} = {enable}{each} ? {driven}{each} : 1'bz;\n    \
             assign {seen}{each} = ({net}{each} === 1'bz) ? 1'b0 : {net}{each};"
        );
        let _ = match bits.width {
            1 => writeln!(text, "  {}", assignments.replace("\n    ", "\n  ")),
            width => writeln!(
                text,
                "  for (genvar n = 0; n < {width}; n++) begin : {label}\n    {assignments}\n  end"
            ),
        };
        Connection { text, expression: net }
    }

    fn declaration(&self, port: &str, net: &str, kind: &Type) -> Result<String, Error> {
        let mut ranges = String::new();
        let mut kind = kind;
        loop {
            match kind {
                Type::Array { bounds: (left, right), element } => {
                    let _ = write!(ranges, "[{left}:{right}]");
                    kind = element;
                }
                Type::Bits(bits) => {
                    let ranges = if ranges.is_empty() { ranges } else { format!(" {ranges}") };
                    return Ok(format!("{} {net}{ranges}", verilog::type_text(&bits.text)));
                }
                Type::Struct { text, .. } => {
                    let text = text.as_ref().ok_or_else(|| {
                        self.refuse(
                            port,
                            "its type is not declared in a package, so no wrapper can use it",
                        )
                    })?;
                    let ranges = if ranges.is_empty() { ranges } else { format!(" {ranges}") };
                    return Ok(format!("{} {net}{ranges}", verilog::type_text(text)));
                }
                Type::Other(what) => return Err(self.refuse(port, &reason_not_bits(what))),
            }
        }
    }

    /// Connects the elements of an array to pins: one for each, or one for all if there are many.
    fn elements(
        &mut self,
        wanted: &str,
        leaf: &str,
        net: &str,
        is_input: bool,
        kind: &Type,
    ) -> Result<String, Error> {
        // Members of a struct, and of each element of an array of structs.
        match kind {
            Type::Struct { members, .. } => {
                let mut text = String::new();
                for (member, kind) in members {
                    let wanted = format!("{wanted}_{member}");
                    let net = format!("{net}.{}", verilog::name(member));
                    let leaf = format!("{leaf}.{member}");
                    text.push_str(&self.elements(&wanted, &leaf, &net, is_input, kind)?);
                }
                return Ok(text);
            }
            Type::Array { bounds: (left, right), element } if has_structs(element) => {
                let mut text = String::new();
                for n in *left.min(right)..=*left.max(right) {
                    let (wanted, net) = (format!("{wanted}_{n}"), format!("{net}[{n}]"));
                    text.push_str(&self.elements(&wanted, leaf, &net, is_input, element)?);
                }
                return Ok(text);
            }
            Type::Bits(bits) => {
                let pin = self.pin(wanted, leaf, is_input, bits);
                return Ok(match is_input {
                    true => format!("  assign {net} = {};\n", cast(&pin, true, bits)),
                    false => format!("  assign {pin} = {net};\n"),
                });
            }
            _ => {}
        }
        let mut all = Vec::new();
        let bits = indices(kind, String::new(), String::new(), &mut all);
        let Some(bits) = bits else {
            return Err(self.refuse(leaf, &reason_not_bits("an array of those")));
        };
        let mut text = String::new();
        if all.len() as i64 <= MOST_ELEMENTS {
            for (select, suffix) in all {
                let pin = self.pin(&format!("{wanted}{suffix}"), leaf, is_input, &bits);
                let element = format!("{net}{select}");
                let _ = match is_input {
                    true => writeln!(text, "  assign {element} = {};", cast(&pin, true, &bits)),
                    false => writeln!(text, "  assign {pin} = {element};"),
                };
            }
            return Ok(text);
        }
        let width = bits.width * all.len() as u32;
        let flat = BitsType { width, ..BitsType::default() };
        let pin = self.pin(wanted, leaf, is_input, &flat);
        let width = bits.width;
        if let Type::Array { bounds: (left, right), element } = kind
            && matches!(**element, Type::Bits(_))
        {
            let (least, most) = (left.min(right), left.max(right));
            let n = if *least == 0 { "n".to_owned() } else { format!("(n - {least})") };
            let (part, element) = (format!("{pin}[{n} * {width} +: {width}]"), format!("{net}[n]"));
            let assignment = match is_input {
                true => format!("{element} = {}", cast(&part, true, &bits)),
                false => format!("{part} = {element}"),
            };
            let label = self.free(&format!("all_of_{pin}"));
            let _ = writeln!(
                text,
                "  for (genvar n = {least}; n <= {most}; n++) begin : {label}\n    assign {assignment};\n  end"
            );
            return Ok(text);
        }
        let _ = writeln!(
            text,
            "  // Element n of {} is in the bits n * {width} +: {width}.",
            all.len()
        );
        for (place, (select, _)) in all.into_iter().enumerate() {
            let part = format!(
                "{pin}[{}:{}]",
                (place as u32 + 1) * bits.width - 1,
                place as u32 * bits.width
            );
            let element = format!("{net}{select}");
            let _ = match is_input {
                true => writeln!(text, "  assign {element} = {};", cast(&part, true, &bits)),
                false => writeln!(text, "  assign {part} = {element};"),
            };
        }
        Ok(text)
    }

    fn interface(&mut self, port: &str, interface: &InterfacePort) -> Result<Connection, Error> {
        self.reasons.insert(HAS_INTERFACES);
        let net = self.free(&format!("{port}_i"));
        let mut connections = Vec::new();
        let mut text = String::new();
        for (name, direction, kind) in &interface.ports {
            let leaf = format!("{port}.{name}");
            let Type::Bits(bits) = kind else {
                return Err(
                    self.refuse(&leaf, "ports of interfaces that are no bits are not supported")
                );
            };
            let is_input = *direction == Direction::Input;
            // One clock for module and interface, as a project has it.
            let is_it = |pin: &&Pin| {
                pin.leaf == *name || (self.clock.as_ref() == Some(&pin.leaf) && is_clock_name(name))
            };
            let shared = self.pins.iter().filter(|pin| is_input && pin.is_input).find(is_it);
            let pin = match shared.map(|pin| pin.name.clone()) {
                Some(pin) => pin,
                None => self.pin(&format!("{port}_{name}"), &leaf, is_input, bits),
            };
            connections.push(format!(".{}({PIN}{pin}{PIN})", verilog::name(name)));
        }
        let places: Vec<(String, String)> = match interface.bounds {
            None => vec![(String::new(), String::new())],
            Some((left, right)) => {
                let range = if left <= right { left..=right } else { right..=left };
                if range.end() - range.start() >= MOST_INTERFACES {
                    let limit = format!(
                        "[{left}:{right}] is an array of more than {MOST_INTERFACES} interfaces"
                    );
                    return Err(self.refuse(port, &limit));
                }
                range.map(|n| (format!("[{n}]"), format!("_{n}"))).collect()
            }
        };
        let ports: Vec<(String, String)> = places
            .iter()
            .map(|(select, suffix)| (format!("{net}{select}"), format!("{port}{suffix}")))
            .collect();
        for (element, wanted) in &ports {
            for (signal, direction, kind) in &interface.signals {
                let leaf = format!("{port}.{signal}");
                if *direction == Direction::Inout {
                    return Err(self.refuse(&leaf, "inout signals are not supported"));
                }
                let is_input = *direction == Direction::Input;
                let signal_net = format!("{element}.{}", verilog::name(signal));
                let wanted = format!("{wanted}_{signal}");
                match kind {
                    Type::Bits(bits) => {
                        let pin = self.pin(&wanted, &leaf, is_input, bits);
                        let _ = match is_input {
                            true => writeln!(
                                text,
                                "  assign {signal_net} = {};",
                                cast(&pin, true, bits)
                            ),
                            false => writeln!(text, "  assign {pin} = {signal_net};"),
                        };
                    }
                    Type::Array { .. } | Type::Struct { .. } => {
                        text.push_str(&self.elements(
                            &wanted,
                            &leaf,
                            &signal_net,
                            is_input,
                            kind,
                        )?);
                    }
                    Type::Other(what) => return Err(self.refuse(&leaf, &reason_not_bits(what))),
                }
            }
        }
        let prefix = format!("{port}.");
        let values =
            self.wishes.parameters.iter().filter_map(|(name, value)| {
                Some(format!(".{}({value})", name.strip_prefix(&prefix)?))
            });
        let values: Vec<String> = values.collect();
        let values =
            if values.is_empty() { String::new() } else { format!("#({}) ", values.join(", ")) };
        let range =
            interface.bounds.map_or_else(String::new, |(left, right)| format!(" [{left}:{right}]"));
        let declaration = format!(
            "  {} {values}{net}{range} ({});\n",
            verilog::name(&interface.definition),
            connections.join(", ")
        );
        Ok(Connection { text: declaration + &text, expression: net })
    }

    /// The clocks and resets, and the text.
    fn finish(
        mut self,
        description: &ModuleDescription,
        connections: Vec<(String, Connection)>,
    ) -> Result<Wrapping, Error> {
        let edge = |pin: &Pin| description.edges.get(&pin.leaf).copied();
        let is_bit = |pin: &&Pin| pin.is_input && pin.bits.width == 1;
        let bits = || self.pins.iter().filter(is_bit);
        let clocks: Vec<String> = match self.wishes.clocks.as_slice() {
            [] => {
                let is_clock =
                    |pin: &&Pin| edge(pin) == Some(EdgeKind::Clock) && !is_reset_name(&pin.name);
                bits().filter(is_clock).map(|pin| pin.name.clone()).collect()
            }
            named => {
                for name in named {
                    if !bits().any(|pin| pin.name == *name || pin.leaf == *name) {
                        let known: Vec<&str> = bits().map(|pin| pin.name.as_str()).collect();
                        return Err(Error::Usage(
                            codes::BAD_PORT,
                            format!(
                                "--clock: module {} has no 1-bit input {name}{}",
                                self.top,
                                candidates(name, "1-bit inputs", &known)
                            ),
                        ));
                    }
                }
                let is_named = |pin: &&Pin| named.contains(&pin.name) || named.contains(&pin.leaf);
                bits().filter(is_named).map(|pin| pin.name.clone()).collect()
            }
        };
        let mut resets = Vec::new();
        for pin in bits().filter(|pin| !clocks.contains(&pin.name)) {
            match edge(pin) {
                Some(EdgeKind::Reset(is_high)) => resets.push((pin.name.clone(), is_high)),
                _ if is_reset_name(&pin.name) => {
                    let reset = Reset { port: pin.name.clone(), is_high: None };
                    resets.push((pin.name.clone(), reset.level()));
                }
                _ => {}
            }
        }
        let usual = usual_clock(bits().map(|pin| pin.name.as_str()));
        let has_edges = !description.edges.is_empty();
        let mut found = Wrapping { resets, ..Wrapping::default() };
        match clocks.as_slice() {
            [] => match usual {
                Some(clock) => found.clock = clock,
                None => {
                    found.is_combinational = !has_edges;
                    self.reasons.insert("it has no clock");
                    found.clock = self.harness_clock();
                }
            },
            [clock] => found.clock.clone_from(clock),
            _ => {
                self.reasons.insert("it has several clocks");
                found.clock = self.harness_clock();
                found.clocks.clone_from(&clocks);
            }
        }
        // The pins of the harness are a struct, which is not empty.
        if !self.pins.iter().any(|pin| pin.is_input && pin.name != found.clock) {
            self.reasons.insert("it has no input besides the clock");
            let name = self.free("unused");
            let bits = BitsType { width: 1, ..BitsType::default() };
            self.pins.push(Pin { name, is_input: true, bits, leaf: String::new() });
        }
        if !self.reasons.is_empty() {
            found.text = Some(self.text(description, &connections, &found));
        }
        found.pins = self.pins;
        Ok(found)
    }

    fn harness_clock(&mut self) -> String {
        let free = HARNESS_CLOCKS.into_iter().find(|name| !self.names.contains(*name));
        self.free(free.unwrap_or("clk"))
    }

    fn text(
        &mut self,
        description: &ModuleDescription,
        connections: &[(String, Connection)],
        found: &Wrapping,
    ) -> String {
        let name = wrapper_name(self.top);
        let reasons: Vec<&str> = self.reasons.iter().copied().collect();
        let mut text = format!(
            "// `{}` as the top of a block, because {}.\n// Written by `cosim new`, and yours to edit: docs/how-to/wrap-rtl.md.\n",
            self.top,
            reasons.join(", and ")
        );
        if !found.clocks.is_empty() {
            let _ = writeln!(
                text,
                "// In each step inputs change while {} is low, outputs are compared, then {0} rises. A clock input that is\n// 1 in a step rises with it.",
                found.clock
            );
        }
        let (passed, left): (Vec<_>, Vec<_>) = parameters(description, self.wishes);
        if !left.is_empty() {
            let _ = writeln!(
                text,
                "// Parameters that keep the values of the module: {}.",
                text::verilog_comment(&left.join(", "))
            );
        }
        let _ = write!(text, "module {name}");
        let declared: Vec<String> = passed
            .iter()
            .filter(|parameter| parameter.is_declared)
            .map(|parameter| {
                format!("  parameter {} = {}", verilog::name(&parameter.name), parameter.value)
            })
            .collect();
        if !declared.is_empty() {
            let _ = write!(text, " #(\n{}\n)", declared.join(",\n"));
        }
        let is_new = !self.pins.iter().any(|pin| pin.name == found.clock);
        let clock = is_new.then(|| format!("  input  wire {}", found.clock));
        let pins = self.pins.iter().map(|pin| {
            let direction = if pin.is_input { "input " } else { "output" };
            let range = match pin.bits.width {
                1 => String::new(),
                width => format!("[{}:0] ", width - 1),
            };
            format!("  {direction} wire {range}{}", pin.name)
        });
        let pins: Vec<String> = clock.into_iter().chain(pins).collect();
        let _ = writeln!(text, " (\n{}\n);", pins.join(",\n"));
        // Differences of widths are errors in this file, whatever files before it say.
        text.push_str("  // verilator lint_on WIDTH\n");
        if reasons.contains(&HAS_INTERFACES) {
            // An enum that is declared in an interface has no name for a cast.
            text.push_str("  // verilator lint_off ENUMVALUE\n");
        }
        let mut gated: BTreeMap<&str, String> = BTreeMap::new();
        for clock in &found.clocks {
            let net = self.free(&format!("{clock}_i"));
            let enable = self.free(&format!("{clock}_on"));
            // A simulator may change inputs while the clock is still high, as for waves: then no
            // clock may rise.
            let _ = writeln!(
                text,
                "  logic {enable};\n  always_latch if (!{0}) {enable} = {clock};\n  wire {net} = {0} & {enable};",
                found.clock
            );
            gated.insert(clock, net);
        }
        let of = |pin: &str| gated.get(pin).cloned().unwrap_or_else(|| pin.to_owned());
        let mut wires = Vec::new();
        for (port, Connection { text: inside, expression }) in connections {
            // Interfaces are connected to clocks, too.
            let mut inside = inside.clone();
            for pin in &self.pins {
                inside = inside.replace(&format!("{PIN}{}{PIN}", pin.name), &of(&pin.name));
            }
            text.push_str(&inside);
            wires.push(format!("    .{}({})", verilog::name(port), of(expression)));
        }
        let values: Vec<String> = passed
            .iter()
            .map(|parameter| {
                let name = verilog::name(&parameter.name);
                let value = if parameter.is_declared { &name } else { &parameter.value };
                format!(".{name}({value})")
            })
            .collect();
        let values =
            if values.is_empty() { String::new() } else { format!("#({}) ", values.join(", ")) };
        let _ =
            write!(text, "  {} {values}dut (\n{}\n  );\nendmodule\n", self.top, wires.join(",\n"));
        text
    }
}

struct PassedParameter {
    name: String,
    value: String,
    is_declared: bool,
}

/// The parameters that the wrapper passes on, and the names of the others.
fn parameters(
    description: &ModuleDescription,
    wishes: &Wishes,
) -> (Vec<PassedParameter>, Vec<String>) {
    let mut passed = Vec::new();
    let mut left = Vec::new();
    let given: BTreeMap<&str, &str> =
        wishes.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    for parameter in &description.parameters {
        let name = parameter.name.clone();
        let given = given.get(name.as_str());
        match (given, &parameter.value) {
            (Some(value), _) => passed.push(PassedParameter {
                name,
                value: (*value).to_owned(),
                is_declared: parameter.is_number,
            }),
            // A default that is computed of other parameters follows them only in the module.
            (None, Some(value)) if parameter.is_number && parameter.is_literal => {
                passed.push(PassedParameter { name, value: value.clone(), is_declared: true });
            }
            _ => left.push(name),
        }
    }
    // Types are no parameters of the description.
    for (name, value) in &wishes.parameters {
        if !name.contains('.') && !passed.iter().any(|passed| passed.name == *name) {
            passed.push(PassedParameter {
                name: name.clone(),
                value: value.clone(),
                is_declared: false,
            });
        }
    }
    (passed, left)
}

/// A pin as the value of a type: the values of an enum need a cast.
fn cast(pin: &str, is_input: bool, bits: &BitsType) -> String {
    match is_input && !bits.values.is_empty() && bits.text.contains("::") {
        true => format!("{}'({pin})", verilog::type_text(&bits.text)),
        false => pin.to_owned(),
    }
}

/// The elements of an array with their selections and the ends of their names, and their type.
fn indices(
    kind: &Type,
    select: String,
    suffix: String,
    all: &mut Vec<(String, String)>,
) -> Option<BitsType> {
    match kind {
        Type::Bits(bits) => {
            all.push((select, suffix));
            Some(bits.clone())
        }
        Type::Array { bounds: (left, right), element } => {
            let mut bits = None;
            for n in *left.min(right)..=*left.max(right) {
                bits = indices(element, format!("{select}[{n}]"), format!("{suffix}_{n}"), all);
            }
            bits
        }
        Type::Struct { .. } | Type::Other(_) => None,
    }
}

/// Whether an array has unpacked structs in it.
fn has_structs(kind: &Type) -> bool {
    match kind {
        Type::Struct { .. } => true,
        Type::Array { element, .. } => has_structs(element),
        Type::Bits(_) | Type::Other(_) => false,
    }
}

pub fn is_clock_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["clk", "clock", "aclk", "pclk", "hclk"].iter().any(|word| name.contains(word))
}

fn reason_not_bits(what: &str) -> String {
    if what.is_empty() {
        return "cosim does not understand its type; if the type depends on parameters, give them \
                values with --parameter, else wrap the module in one with bit vectors"
            .to_owned();
    }
    format!(
        "ports of type {what} are not supported; wrap the module in one with bit vectors, and run `cosim new` on that"
    )
}
