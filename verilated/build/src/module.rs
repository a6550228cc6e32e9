//! What Verilator says of one module of a design: its parameters, its ports with their types, and
//! the inputs whose edges its registers wait for.

mod edges;

use crate::ports::name_of;
use crate::tree::{Element, Tree, with_tree};
use crate::{Design, Error};
use edges::{instances, leaves};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use verilated_lexer::{Token, tokens};
use verilated_runtime::Verilator;

/// A module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModuleDescription {
    /// Its parameters, those local to it left out.
    pub parameters: Vec<ModuleParameter>,
    /// Its ports, in the order of their declaration.
    pub ports: Vec<ModulePort>,
    /// The inputs whose edges something in it waits for, by [leaf](ModulePort).
    pub edges: BTreeMap<String, EdgeKind>,
}

/// A parameter of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleParameter {
    /// Its name.
    pub name: String,
    /// Its value as a literal, unless it is of a type that has none.
    pub value: Option<String>,
    /// Whether it is a number: neither real nor a string, an enum or a struct.
    pub is_number: bool,
    /// Whether the value is written as a literal, so it depends on nothing else.
    pub is_literal: bool,
}

/// What waits for the edge of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// Registers take their next values.
    Clock,
    /// Registers are reset, with this level.
    Reset(bool),
}

/// A port of a module. A leaf of it is what an edge can come from: the port itself, or
/// `port.signal` of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModulePort {
    /// Its name, without the backslash of an escaped one.
    pub name: String,
    /// What it is.
    pub kind: PortKind,
}

/// What a port is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortKind {
    /// A value of some type.
    Value(Direction, Type),
    /// An interface.
    Interface(InterfacePort),
}

/// The direction of a port, seen from the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Driven from outside.
    Input,
    /// Driven by the module.
    Output,
    /// Both.
    Inout,
}

/// A port that is an interface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InterfacePort {
    /// The name of the interface.
    pub definition: String,
    /// Its modport; empty if it has none.
    pub modport: String,
    /// The bounds of an array of interfaces.
    pub bounds: Option<(i64, i64)>,
    /// The ports of the interface itself.
    pub ports: Vec<(String, Direction, Type)>,
    /// The signals that the module may use.
    pub signals: Vec<(String, Direction, Type)>,
}

/// The type of a port or signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// Bits.
    Bits(BitsType),
    /// An unpacked array.
    Array {
        /// The left and the right bound.
        bounds: (i64, i64),
        /// Its elements.
        element: Box<Type>,
    },
    /// An unpacked struct.
    Struct {
        /// The type as it can be written outside of the module, if it can.
        text: Option<String>,
        /// Its members.
        members: Vec<(String, Type)>,
    },
    /// Something without bits, as `real`; empty if the type is not understood.
    Other(String),
}

/// A type of bits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BitsType {
    /// Its width.
    pub width: u32,
    /// The type as it can be written outside of the module.
    pub text: String,
    /// Its name without a package, if it has one.
    pub name: Option<String>,
    /// Its fields, if it is a packed struct; the first is in the most significant bits.
    pub fields: Vec<TypeField>,
    /// The names of its values, if it is an enum.
    pub values: Vec<(String, u64)>,
}

/// A field of a packed struct. The names of fields of inner structs have a point, those of arrays
/// of structs the index, as in `lane.0.valid`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeField {
    /// Its name.
    pub name: String,
    /// Its least significant bit.
    pub lsb: u32,
    /// Its width.
    pub width: u32,
    /// The name of its type, if that is an enum.
    pub enumeration: Option<String>,
    /// The names of its values, if it is an enum.
    pub values: Vec<(String, u64)>,
}

impl Design {
    /// Asks Verilator about the module of the only instance `instance` in the top of the design;
    /// `out` is a folder for its answer.
    ///
    /// # Errors
    /// [`Error::Verilate`] with Verilator's message.
    pub fn describe_instance(
        &self,
        verilator: &Verilator,
        out: &Path,
        instance: &str,
    ) -> Result<ModuleDescription, Error> {
        let description = self.describe(verilator, out, &[])?;
        let folder = self.folder.clone().unwrap_or_default();
        let read = |tree: &Tree| Reader::new(tree, &folder).module(&self.top, instance);
        with_tree(&description, read).ok_or_else(|| self.not_understood())
    }
}

/// Packed arrays with more structs are fields of bits.
const MOST_ELEMENTS: i64 = 16;

/// The fields of the structs in a packed array with these bounds. Their names begin with the index.
fn element_fields(element: &BitsType, left: i64, right: i64) -> Vec<TypeField> {
    let count = (left - right).abs() + 1;
    if count > MOST_ELEMENTS {
        return Vec::new();
    }
    let of_element = |place: i64| {
        let index = if left < right { left + place } else { left - place };
        let lsb = element.width * (count - 1 - place) as u32;
        element.fields.iter().map(move |field| TypeField {
            name: format!("{index}.{}", field.name),
            lsb: lsb + field.lsb,
            ..field.clone()
        })
    };
    (0..count).flat_map(of_element).collect()
}

/// Reads modules and types of a tree.
struct Reader<'a> {
    tree: &'a Tree,
    /// Where names of files begin.
    folder: &'a Path,
    modules: BTreeMap<&'a str, &'a Element>,
    types: BTreeMap<&'a str, &'a Element>,
}

/// The widest type that is followed: nested deeper than any design, so a circle ends.
const DEPTH: u32 = 64;

impl<'a> Reader<'a> {
    fn new(tree: &'a Tree, folder: &'a Path) -> Self {
        let modules = tree.modules.iter().map(|module| (module.name(), module)).collect();
        let types = tree.types.iter().filter_map(|kind| Some((kind.get("id")?, kind))).collect();
        Self { tree, folder, modules, types }
    }

    /// The module of an instance. Its name is written as C++ has it, or as the module has it.
    fn defined(&self, cell: &Element) -> Option<&'a Element> {
        let name = cell.get("defName")?;
        self.modules.get(name).or_else(|| self.modules.get(name_of(name).as_str())).copied()
    }

    fn module(&self, top: &str, instance: &str) -> Option<ModuleDescription> {
        let around = *self.modules.get(top)?;
        let is_it = |cell: &&Element| cell.name() == instance;
        let module = self.defined(around.of_kind("instance").find(is_it)?)?;
        let mut found = ModuleDescription::default();
        for var in module.of_kind("var") {
            if var.get("param") == Some("true") {
                found.parameters.push(self.parameter(var));
            } else if var.get("vartype") == Some("ifaceref") {
                // An interface that the module itself instantiates has a variable, too.
                let own = var.name().trim_end_matches("__Viftop");
                if !module.of_kind("instance").any(|cell| cell.name() == own) {
                    let kind = PortKind::Interface(self.interface(around, module, var)?);
                    found.ports.push(ModulePort { name: var.name().to_owned(), kind });
                }
            } else if let Some(direction) = var.get("dir") {
                let direction = match direction {
                    "input" => Direction::Input,
                    "output" => Direction::Output,
                    _ => Direction::Inout,
                };
                let kind = PortKind::Value(direction, self.type_of(var));
                found.ports.push(ModulePort { name: var.name().to_owned(), kind });
            }
        }
        found.edges = edges::edges_of_module(self, module.name());
        Some(found)
    }

    fn parameter(&self, var: &Element) -> ModuleParameter {
        let value = var.child("const");
        let kind = self.type_of(var);
        let is_number = matches!(
            &kind,
            Type::Bits(bits) if bits.values.is_empty() && bits.fields.is_empty()
        );
        let literal = |value: &Element| {
            let text = value.name().replace("\\\"", "\"");
            // Real numbers are written as short as can be.
            let is_whole = text.chars().all(|letter| letter.is_ascii_digit() || letter == '-');
            if kind == Type::Other("real".to_owned()) && is_whole { text + ".0" } else { text }
        };
        let is_literal = value.and_then(|value| self.is_literal(value.get("loc")?)) == Some(true);
        let name = var.name().to_owned();
        ModuleParameter { name, value: value.map(literal), is_number, is_literal }
    }

    /// Whether the text at a place like `d,2,8,2,11` or `d,2:8,2:11` is a literal that is the whole
    /// of a default.
    fn is_literal(&self, text: &str) -> Option<bool> {
        let parts: Vec<&str> = text.split([',', ':']).collect();
        let [file, line, from, last, to] = parts[..] else { return None };
        let file = self.tree.files.get(file)?.clone();
        (line == last).then_some(())?;
        let (line, from, to): (usize, usize, usize) =
            (line.parse().ok()?, from.parse().ok()?, to.parse().ok()?);
        let source = fs::read(self.folder.join(file)).ok()?;
        let source = String::from_utf8_lossy(&source);
        let line = source.lines().nth(line.checked_sub(1)?)?;
        let before = line.get(..from.checked_sub(1)?)?.trim_end();
        let (word, behind) = (line.get(from - 1..to - 1)?, line.get(to - 1..)?.trim_start());
        let is_digit = |letter: char| letter.is_ascii_digit() || letter == '\'';
        let ends = behind.is_empty() || behind.starts_with([',', ')', ';', '/']);
        Some(word.starts_with(is_digit) && before.ends_with('=') && ends)
    }

    fn interface(
        &self,
        around: &'a Element,
        module: &'a Element,
        var: &'a Element,
    ) -> Option<InterfacePort> {
        let mut kind = self.resolved(var.get("dtype_id")?)?;
        let mut found = InterfacePort::default();
        if kind.kind == "unpackarraydtype" {
            found.bounds = Some(bounds(kind)?);
            kind = self.resolved(kind.get("sub_dtype_id")?)?;
        }
        found.modport = kind.get("modportname").unwrap_or_default().to_owned();
        let cell = around.of_kind("instance").find(|cell| cell.name() == var.name())?;
        let interface = self.defined(cell)?;
        let name = interface.get("origName").filter(|name| !name.is_empty());
        found.definition = name.unwrap_or(interface.name()).to_owned();
        let of = |name: &str| interface.of_kind("var").find(|var| var.name() == name);
        for var in interface.of_kind("var") {
            if let Some(direction) = var.get("dir") {
                let direction =
                    if direction == "input" { Direction::Input } else { Direction::Output };
                found.ports.push((var.name().to_owned(), direction, self.type_of(var)));
            }
        }
        let modport = interface.of_kind("modport").find(|port| port.name() == found.modport);
        let is_port = |name: &str| found.ports.iter().any(|(port, ..)| port == name);
        let mut signals = Vec::new();
        match modport {
            Some(modport) => {
                for signal in modport.of_kind("modportvarref") {
                    let direction = match signal.get("direction") {
                        Some("in") => Direction::Input,
                        Some("out") => Direction::Output,
                        _ => Direction::Inout,
                    };
                    let Some(var) = of(signal.name()) else { continue };
                    if !is_port(signal.name()) {
                        signals.push((signal.name().to_owned(), direction, self.type_of(var)));
                    }
                }
            }
            // Without a modport the module drives what it assigns.
            None => {
                let driven = self.driven(module, var.name(), 0);
                let is_signal = |var: &&Element| {
                    var.get("param") != Some("true")
                        && var.get("vartype") != Some("ifaceref")
                        && !is_port(var.name())
                };
                for var in interface.of_kind("var").filter(is_signal) {
                    let is_driven = driven.contains(var.name());
                    let direction = if is_driven { Direction::Output } else { Direction::Input };
                    signals.push((var.name().to_owned(), direction, self.type_of(var)));
                }
            }
        }
        found.signals = signals;
        Some(found)
    }

    /// The signals of an interface that a module drives.
    fn driven(&self, module: &'a Element, port: &str, depth: u32) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        module.each(&mut |element| {
            if element.kind.contains("assign")
                && let Some(target) = element.children.last()
            {
                target.each(&mut |target| {
                    if target.kind == "varxref" && target.get("dotted") == Some(port) {
                        found.insert(target.name());
                    }
                });
            }
        });
        for cell in instances(module) {
            let Some(inner) = self.defined(cell) else { continue };
            for pin in cell.of_kind("port") {
                let is_it = |leaf: &String| leaf == port;
                if depth < DEPTH && leaves(pin).iter().any(is_it) {
                    found.extend(self.driven(inner, pin.name(), depth + 1));
                }
            }
        }
        found
    }

    fn resolved(&self, id: &str) -> Option<&'a Element> {
        let mut kind = *self.types.get(id)?;
        for _ in 0..DEPTH {
            match kind.kind.as_str() {
                "refdtype" | "paramtypedtype" | "constdtype" => {
                    kind = *self.types.get(kind.get("sub_dtype_id")?)?;
                }
                _ => return Some(kind),
            }
        }
        None
    }

    fn type_of(&self, var: &Element) -> Type {
        let unknown = || Type::Other(String::new());
        let Some(id) = var.get("dtype_id") else { return unknown() };
        let mut kind = self.type_by_id(id, 0).unwrap_or_else(unknown);
        // The XML has the type below an enum; its name says which enum it is.
        if let (Type::Bits(bits), Some(name)) = (&mut kind, var.get("vartype"))
            && bits.values.is_empty()
            && bits.fields.is_empty()
        {
            self.name_enum(bits, id, name);
        }
        kind
    }

    /// Notes that a type is the enum of this name, if one has it.
    fn name_enum(&self, bits: &mut BitsType, id: &str, name: &str) {
        let is_it = |kind: &&Element| {
            let full = kind.name();
            kind.kind == "enumdtype"
                && kind.get("sub_dtype_id") == Some(id)
                && (full == name || full.rsplit("::").next() == Some(name))
        };
        if let Some(found) = self.tree.types.iter().find(is_it) {
            *bits = enumeration(found, bits);
        }
    }

    fn type_by_id(&self, id: &str, depth: u32) -> Option<Type> {
        if depth > DEPTH {
            return None;
        }
        let kind = *self.types.get(id)?;
        let sub = || self.type_by_id(kind.get("sub_dtype_id")?, depth + 1);
        Some(match kind.kind.as_str() {
            "refdtype" | "paramtypedtype" | "constdtype" => {
                let mut found = sub()?;
                if let Type::Bits(bits) = &mut found
                    && bits.values.is_empty()
                    && bits.fields.is_empty()
                {
                    self.name_enum(bits, kind.get("sub_dtype_id")?, kind.name());
                }
                found
            }
            "enumdtype" => match sub()? {
                Type::Bits(bits) => Type::Bits(enumeration(kind, &bits)),
                other => other,
            },
            "basicdtype" => {
                let name = kind.name();
                let has_bits = [
                    "logic",
                    "bit",
                    "int",
                    "integer",
                    "byte",
                    "shortint",
                    "longint",
                    "time",
                    "reg",
                    "wire",
                    "logic_implicit",
                    "LOGIC_IMPLICIT",
                ];
                if !has_bits.contains(&name) {
                    return Some(Type::Other(name.to_owned()));
                }
                let signed = if kind.get("signed") == Some("true") { " signed" } else { "" };
                match (kind.get("left"), kind.get("right")) {
                    (Some(left), Some(right)) => {
                        let (left, right): (i64, i64) = (left.parse().ok()?, right.parse().ok()?);
                        let width = u32::try_from((left - right).abs() + 1).ok()?;
                        let text = format!("logic{signed} [{left}:{right}]");
                        Type::Bits(BitsType { width, text, ..BitsType::default() })
                    }
                    _ => {
                        let text = format!("logic{signed}");
                        Type::Bits(BitsType { width: 1, text, ..BitsType::default() })
                    }
                }
            }
            "packarraydtype" => {
                let (left, right) = bounds(kind)?;
                let Type::Bits(element) = sub()? else { return None };
                let width = element.width * u32::try_from((left - right).abs() + 1).ok()?;
                let fields = element_fields(&element, left, right);
                // The ranges of an array come before that of its elements, names of types after
                // none.
                let text = match element.text.find('[') {
                    Some(at) if element.name.is_none() => {
                        let (base, ranges) = element.text.split_at(at);
                        format!("{base}[{left}:{right}]{ranges}")
                    }
                    _ => format!("{} [{left}:{right}]", element.text),
                };
                Type::Bits(BitsType { width, text, fields, ..BitsType::default() })
            }
            "structdtype" | "uniondtype" => {
                let mut all = Vec::new();
                for member in kind.of_kind("memberdtype") {
                    let id = member.get("sub_dtype_id")?;
                    let mut of_member = self.type_by_id(id, depth + 1)?;
                    if let Type::Bits(bits) = &mut of_member
                        && bits.values.is_empty()
                        && bits.fields.is_empty()
                        && let Some(name) = self.type_before(member, id)
                    {
                        self.name_enum(bits, id, name);
                    }
                    all.push((member.name(), of_member));
                }
                let has_bits = all.iter().all(|(_, kind)| matches!(kind, Type::Bits(_)));
                if !has_bits || !self.is_packed(kind) {
                    if kind.kind == "uniondtype" {
                        return Some(Type::Other("unpacked union".to_owned()));
                    }
                    let (text, _) = named(kind, "");
                    let text = Some(text).filter(|text| !text.is_empty());
                    let members =
                        all.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
                    return Some(Type::Struct { text, members });
                }
                let bits = |(name, kind)| match kind {
                    Type::Bits(bits) => Some((name, bits)),
                    _ => None,
                };
                let members: Vec<(&str, BitsType)> = all.into_iter().filter_map(bits).collect();
                let is_union = kind.kind == "uniondtype";
                let widths = members.iter().map(|(_, bits)| bits.width);
                let width: u32 = if is_union { widths.max()? } else { widths.sum() };
                let mut fields = Vec::new();
                let mut lsb = width;
                for (name, bits) in members.iter().filter(|_| !is_union) {
                    lsb -= bits.width;
                    match bits.fields.as_slice() {
                        [] => fields.push(TypeField {
                            name: (*name).to_owned(),
                            lsb,
                            width: bits.width,
                            enumeration: bits.name.clone().filter(|_| !bits.values.is_empty()),
                            values: bits.values.clone(),
                        }),
                        inner => fields.extend(inner.iter().map(|field| TypeField {
                            name: format!("{name}.{}", field.name),
                            lsb: lsb + field.lsb,
                            ..field.clone()
                        })),
                    }
                }
                let (text, name) = named(kind, &format!("logic [{}:0]", width - 1));
                Type::Bits(BitsType { width, text, name, fields, values: Vec::new() })
            }
            "unpackarraydtype" => Type::Array { bounds: bounds(kind)?, element: Box::new(sub()?) },
            other => Type::Other(other.trim_end_matches("dtype").to_owned()),
        })
    }

    /// Whether a struct is packed. The XML does not say so, but where it is declared.
    fn is_packed(&self, kind: &Element) -> bool {
        if let Some(packed) = kind.get("packed") {
            return packed == "true";
        }
        let declared = || {
            let parts: Vec<&str> = kind.get("loc")?.split([',', ':']).collect();
            let file = self.tree.files.get(*parts.first()?)?;
            let (line, column): (usize, usize) =
                (parts.get(1)?.parse().ok()?, parts.get(2)?.parse().ok()?);
            let source = fs::read(self.folder.join(file)).ok()?;
            let source = String::from_utf8_lossy(&source);
            let text: Vec<&str> = source.lines().skip(line.checked_sub(1)?).collect();
            let text = text.join("\n");
            let mut words = tokens(text.get(column.checked_sub(1)?..)?).filter(Token::is_code);
            let word = words.next()?.text;
            // Behind a macro the place is that of the macro.
            ["struct", "union"]
                .contains(&word)
                .then(|| words.next().is_some_and(|next| next.text == "packed"))
        };
        declared().unwrap_or(true)
    }

    /// The name of the type that stands before a member, on its line or above it.
    fn type_before(&self, member: &Element, id: &str) -> Option<&'a str> {
        let place = |element: &Element| {
            let parts: Vec<&str> = element.get("loc")?.split([',', ':']).collect();
            Some((
                parts.first()?.to_string(),
                parts.get(1)?.parse::<u32>().ok()?,
                parts.get(2)?.parse::<u32>().ok()?,
            ))
        };
        let at = place(member)?;
        let mut best: Option<((String, u32, u32), &str)> = None;
        for kind in &self.tree.types {
            if kind.kind == "refdtype"
                && kind.get("sub_dtype_id") == Some(id)
                && let Some(here) = place(kind)
                && here.0 == at.0
                && here < at
                && best.as_ref().is_none_or(|(known, _)| *known < here)
            {
                best = Some((here, kind.name()));
            }
        }
        best.map(|(_, name)| name)
    }
}

/// A type as it can be written outside, and its short name. What has no name that is known
/// everywhere is as wide as `otherwise`.
fn named(kind: &Element, otherwise: &str) -> (String, Option<String>) {
    let full = kind.name();
    let is_name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let short = full.rsplit(['.', ':']).next().filter(|name| is_name(name));
    let text = match full.split_once("::") {
        Some((package, name)) if is_name(package) && is_name(name) => full,
        _ => otherwise,
    };
    (text.to_owned(), short.map(str::to_owned))
}

fn enumeration(kind: &Element, base: &BitsType) -> BitsType {
    let item = |item: &Element| {
        let value = item.child("const")?.name().to_owned();
        Some((item.name().to_owned(), number(&value)?))
    };
    let values = kind.of_kind("enumitem").filter_map(item).collect();
    let (text, name) = named(kind, &base.text);
    BitsType { width: base.width, text, name, fields: Vec::new(), values }
}

/// The bounds of an array.
fn bounds(kind: &Element) -> Option<(i64, i64)> {
    let range = kind.child("range")?;
    let mut ends = range.of_kind("const").map(|end| number(end.name()));
    // A bound is an `int`, which may be negative.
    let (left, right) = (ends.next()?? as i32, ends.next()?? as i32);
    Some((left.into(), right.into()))
}

/// The value of a literal like `32'sh1f`.
pub fn number(literal: &str) -> Option<u64> {
    let Some((_, digits)) = literal.split_once('\'') else { return literal.parse().ok() };
    let digits = digits.trim_start_matches('s');
    let base = match digits.chars().next()? {
        'h' => 16,
        'd' => 10,
        'b' => 2,
        'o' => 8,
        _ => return None,
    };
    u64::from_str_radix(&digits[1..].replace('_', ""), base).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// What Verilator says of the module `m` in a text, instantiated by `ask`.
    fn described(text: &str, ask: &str) -> ModuleDescription {
        let folder = TempDir::new().unwrap();
        let source = folder.path().join("m.sv");
        fs::write(&source, format!("{text}\nmodule ask; {ask} endmodule\n")).unwrap();
        let design = Design { top: "ask".to_owned(), sources: vec![source], ..Design::default() };
        let verilator = Verilator::find().unwrap();
        design.describe_instance(&verilator, &folder.path().join("out"), "dut").unwrap()
    }

    fn port<'a>(module: &'a ModuleDescription, name: &str) -> &'a PortKind {
        &module.ports.iter().find(|port| port.name == name).unwrap().kind
    }

    fn bits(module: &ModuleDescription, name: &str) -> BitsType {
        match port(module, name) {
            PortKind::Value(_, Type::Bits(bits)) => bits.clone(),
            other => panic!("{name}: {other:?}"),
        }
    }

    const TYPES: &str = "
package p;
  typedef enum logic [1:0] {IDLE, RUN, STOP = 3} st_t;
  typedef struct packed {
    logic [3:0] a;
    st_t s;
    struct packed { logic x; logic [1:0] y; } n;
  } req_t;
  typedef struct packed { logic v; struct packed { logic [2:0] a; st_t s; } [1:0] lane; logic [0:3][1:0] m; } arr_t;
  typedef struct { logic [2:0] v; req_t r; } un_t;
endpackage
interface bus #(parameter W = 8) (input logic clk);
  logic valid, ready; logic [W-1:0] data;
  modport src (output valid, data, input ready);
endinterface
module m import p::*; #(
  parameter int N = 4, parameter D = N * 2, parameter type T = logic [N-1:0], parameter string S = \"x\"
) (
  input req_t q, input arr_t ar, output st_t st, input T t, input logic signed [7:0] arr [4], output un_t u,
  bus.src b, bus.src bs [2], bus any, input real level, inout pad, input logic \\odd-name
);
  assign any.ready = q.a[0];
endmodule";

    #[test]
    fn ports_have_types() {
        let requested = "bus b(); bus bs[2](); bus #(.W(16)) any(); \
                     m #(.T(logic [2:0])) dut(.b(b), .bs(bs), .any(any));";
        let module = described(TYPES, requested);
        let q = bits(&module, "q");
        assert_eq!((q.width, q.text.as_str(), q.name.as_deref()), (9, "p::req_t", Some("req_t")));
        let fields: Vec<(&str, u32, u32)> =
            q.fields.iter().map(|field| (field.name.as_str(), field.lsb, field.width)).collect();
        assert_eq!(fields, [("a", 5, 4), ("s", 3, 2), ("n.x", 2, 1), ("n.y", 0, 2)]);
        assert_eq!(q.fields[1].enumeration.as_deref(), Some("st_t"));
        let ar = bits(&module, "ar");
        let fields: Vec<(&str, u32, u32)> =
            ar.fields.iter().map(|field| (field.name.as_str(), field.lsb, field.width)).collect();
        let lanes =
            [("lane.1.a", 15, 3), ("lane.1.s", 13, 2), ("lane.0.a", 10, 3), ("lane.0.s", 8, 2)];
        assert_eq!(fields, [&[("v", 18, 1)], &lanes[..], &[("m", 0, 8)]].concat());
        assert_eq!(ar.fields[2].enumeration.as_deref(), Some("st_t"));
        let st = bits(&module, "st");
        let values = [("IDLE", 0), ("RUN", 1), ("STOP", 3)];
        assert_eq!(st.values, values.map(|(name, value)| (name.to_owned(), value)));
        assert_eq!((st.width, st.text.as_str()), (2, "p::st_t"));
        assert_eq!(bits(&module, "t").width, 3);
        assert_eq!(bits(&module, "odd-name").width, 1);
        let PortKind::Value(Direction::Input, Type::Array { bounds, element }) =
            port(&module, "arr")
        else {
            panic!("{module:?}")
        };
        assert_eq!(*bounds, (0, 3));
        assert!(matches!(&**element, Type::Bits(bits) if bits.text == "logic signed [7:0]"));
        let PortKind::Value(_, Type::Struct { text, members }) = port(&module, "u") else {
            panic!("{module:?}")
        };
        assert_eq!((text.as_deref(), members.len()), (Some("p::un_t"), 2));
        for name in ["b", "bs", "any"] {
            let PortKind::Interface(found) = port(&module, name) else { panic!("{module:?}") };
            assert_eq!((found.definition.as_str(), found.ports.len()), ("bus", 1));
            assert_eq!(found.bounds, (name == "bs").then_some((0, 1)));
            let outputs: Vec<&str> = found
                .signals
                .iter()
                .filter(|(_, direction, _)| *direction == Direction::Output)
                .map(|(signal, ..)| signal.as_str())
                .collect();
            let expected: &[&str] = if name == "any" { &["ready"] } else { &["valid", "data"] };
            assert_eq!(outputs, expected, "{name}");
            let data = found.signals.iter().find(|(signal, ..)| signal == "data").unwrap();
            let width = if name == "any" { 16 } else { 8 };
            assert!(matches!(&data.2, Type::Bits(bits) if bits.width == width), "{name}");
        }
        assert!(matches!(port(&module, "level"), PortKind::Value(_, Type::Other(_))));
        assert!(matches!(port(&module, "pad"), PortKind::Value(Direction::Inout, _)));
        let parameter = |name: &str| {
            let found = module.parameters.iter().find(|parameter| parameter.name == name).unwrap();
            (found.value.as_deref().and_then(number), found.is_number, found.is_literal)
        };
        assert_eq!(parameter("N"), (Some(4), true, true));
        assert_eq!(parameter("D"), (Some(8), true, false), "it follows N");
        assert!(!parameter("S").1);
    }

    #[test]
    fn bounds_may_be_negative() {
        let text =
            "module m #(int N = 0)(input logic [N-1:0] a, input logic [N-2:0][N-2:0] b); endmodule";
        let module = described(text, "m dut();");
        assert_eq!((bits(&module, "a").width, bits(&module, "b").width), (2, 9));
    }

    #[test]
    fn clocks_and_resets_are_followed_to_inputs() {
        let text = "
module ff(input ck, input rn, input d, output reg q);
  always @(posedge ck or negedge rn) if (!rn) q <= 0; else q <= d;
endmodule
module gate(input clk_i, input en, output clk_o);
  reg on; always @* if (!clk_i) on = en; assign clk_o = clk_i & on;
endmodule
interface bus(input logic clk); logic d; modport s(input clk, d); endinterface
module deep(bus.s b, output reg q); always @(posedge b.clk) q <= b.d; endmodule
module m(input wclk, rclk, xclk, rst, en, d, output a, b, c, bus.s own, output e, input [1:0] gclk, output [1:0] f);
  wire g, n = ~rst, x2 = xclk;
  ff one(.ck(wclk), .rn(n), .d, .q(a));
  gate gg(.clk_i(rclk), .en, .clk_o(g));
  ff two(.ck(g), .rn(n), .d, .q(b));
  bus inner(.clk(x2)); assign inner.d = d;
  deep deep(.b(inner), .q(c));
  deep other(.b(own), .q(e));
  for (genvar k = 0; k < 2; k++) begin : gen
    wire inner; assign inner = gclk[k];
    if (k < 9) begin : deeper ff three(.ck(inner), .rn(1'b1), .d, .q(f[k])); end
  end
endmodule";
        let module = described(text, "bus own(); m dut(.own(own));");
        let clocks =
            ["wclk", "rclk", "xclk", "own.clk", "gclk"].map(|leaf| (leaf, EdgeKind::Clock));
        let expected: BTreeMap<String, EdgeKind> = clocks
            .into_iter()
            .chain([("rst", EdgeKind::Reset(true))])
            .map(|(leaf, kind)| (leaf.to_owned(), kind))
            .collect();
        assert_eq!(module.edges, expected);
    }

    #[test]
    fn literals_have_values() {
        for (text, value) in
            [("4", Some(4)), ("32'sh1f", Some(31)), ("8'b1010", Some(10)), ("x", None)]
        {
            assert_eq!(number(text), value, "{text}");
        }
    }
}
