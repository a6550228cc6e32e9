//! The variables and instances of each module, and the types, in a design elaborated by Verilator.
//!
//! [`Register`](crate::Register)s are found in it.

use crate::tree::{Element, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// A design.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Netlist {
    /// The key of the top module.
    pub top: String,
    /// Modules by key.
    pub modules: BTreeMap<String, Module>,
    /// Types by key. Types that do not consist of bits are missing.
    pub types: BTreeMap<String, Type>,
}

/// A module. Paths are relative to the module: the names of generate blocks, each followed by a
/// dot, then the variable's name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Module {
    /// The type key of each variable.
    pub variables: BTreeMap<String, String>,
    /// Variables assigned in always processes.
    pub assigned: BTreeSet<String>,
    /// Variables set in initial processes.
    pub initialized: BTreeSet<String>,
    pub instances: Vec<Instance>,
}

/// An instance of a module.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Instance {
    pub path: String,
    /// Key of its module, which is missing from [`Netlist::modules`] if it is an interface.
    pub module: String,
    /// The connected outputs.
    pub outputs: Vec<Output>,
}

/// An output of an instance.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// The path of the port variable in the instance's module.
    pub port: String,
    /// Verilator's name of the connection: the port, or a number for a connection by position.
    pub pin: String,
    /// The path of the connected net, if the output drives a whole net.
    pub net: Option<String>,
}

/// A type. It refers to other types by key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Bits(u32),
    Alias(String),
    Struct(Vec<String>),
    Union(Vec<String>),
    /// Lowest and highest index, and the type of an element.
    Packed((i64, i64), String),
    Unpacked((i64, i64), String),
}

/// Built-in types that consist of bits.
const BITS: [&str; 12] = [
    "logic",
    "bit",
    "integer",
    "int",
    "byte",
    "shortint",
    "longint",
    "reg",
    "time",
    "wire",
    "logic_implicit",
    "LOGIC_IMPLICIT",
];

/// The number of indices from the lowest to the highest.
pub(crate) fn length((low, high): (i64, i64)) -> Option<u32> {
    u32::try_from(high.abs_diff(low)).ok()?.checked_add(1)
}

fn sorted(left: i64, right: i64) -> (i64, i64) {
    (left.min(right), left.max(right))
}

impl Netlist {
    /// The variables, instances and types of a design. `None` if something is missing.
    pub(crate) fn from_tree(tree: &Tree) -> Option<Self> {
        let nodes = tree.modules.iter().filter(|node| node.kind == "module");
        let nodes: BTreeMap<&str, &Element> = nodes.map(|node| (node.name(), node)).collect();
        let top = nodes.values().find(|node| node.is_top())?.name().to_owned();
        let mut modules = BTreeMap::new();
        for (name, node) in &nodes {
            let mut module = Module::default();
            add_variables(node, "", &mut module)?;
            add_scope(node, "", &nodes, &mut module)?;
            modules.insert((*name).to_owned(), module);
        }
        Some(Self { top, modules, types: types(tree)? })
    }
}

/// The types that consist of bits, by key.
pub(crate) fn types(tree: &Tree) -> Option<BTreeMap<String, Type>> {
    let mut types = BTreeMap::new();
    for node in &tree.types {
        if let Some(r#type) = type_of(node)? {
            types.insert(node.get("id")?.to_owned(), r#type);
        }
    }
    Some(types)
}

/// The generate blocks in a scope, with their paths.
fn blocks<'a>(scope: &'a Element, path: &str) -> impl Iterator<Item = (&'a Element, String)> {
    let is_block = |node: &&Element| matches!(&*node.kind, "begin" | "genblock");
    scope.children.iter().filter(is_block).map(move |block| match block.name() {
        "" => (block, path.to_owned()),
        name => (block, format!("{path}{name}.")),
    })
}

fn add_variables(scope: &Element, path: &str, module: &mut Module) -> Option<()> {
    for variable in scope.of_kind("var") {
        let (name, r#type) = (variable.get("name")?, variable.get("dtype_id")?);
        module.variables.insert(format!("{path}{name}"), r#type.to_owned());
    }
    blocks(scope, path).try_for_each(|(block, path)| add_variables(block, &path, module))
}

/// Reads the processes and instances of a module or of a generate block.
fn add_scope(
    scope: &Element,
    path: &str,
    modules: &BTreeMap<&str, &Element>,
    module: &mut Module,
) -> Option<()> {
    for node in &scope.children {
        match &*node.kind {
            "always" if node.get("isContinuous").is_none() => {
                let targets = targets(node, path, module);
                module.assigned.extend(targets);
            }
            "initial" | "initialstatic" | "initialautomatic" => {
                let targets = targets(node, path, module);
                module.initialized.extend(targets);
            }
            "instance" => {
                let (name, of) = (node.get("name")?, node.get("defName")?);
                let mut outputs = Vec::new();
                let is_output = |port: &&Element| port.get("direction") == Some("out");
                for port in node.of_kind("port").filter(is_output) {
                    let (Some(net), Some(of)) = (port.children.first(), modules.get(of)) else {
                        continue;
                    };
                    let net = net.get("name").filter(|_| net.kind == "varref");
                    let net = net.and_then(|net| resolve(net, path, module));
                    let (pin, port) = (port.get("name")?.to_owned(), port_name(port, of)?);
                    outputs.push(Output { port: port.to_owned(), pin, net });
                }
                let (path, module_key) = (format!("{path}{name}"), of.to_owned());
                module.instances.push(Instance { path, module: module_key, outputs });
            }
            _ => {}
        }
    }
    blocks(scope, path).try_for_each(|(block, path)| add_scope(block, &path, modules, module))
}

/// The port of a connection. For a connection by position, Verilator has a number instead of a
/// name.
pub(crate) fn port_name<'a>(port: &'a Element, module: &'a Element) -> Option<&'a str> {
    let name = port.get("portName").or(port.get("name"))?;
    if !name.starts_with("__pinNumber") {
        return Some(name);
    }
    let index = port.get("portIndex")?;
    module.of_kind("var").find(|node| node.get("pinIndex") == Some(index))?.get("name")
}

/// The variables that a process assigns.
fn targets(process: &Element, path: &str, module: &Module) -> BTreeSet<String> {
    let (mut names, mut locals) = (BTreeSet::new(), BTreeSet::new());
    process.each(&mut |node| match &*node.kind {
        "varref" if node.get("access").is_some_and(|access| access != "RD") => {
            names.insert(node.name());
        }
        // References without an access: the target is the last child, after the value.
        "assign" | "assigndly" => {
            node.children.last().iter().for_each(|target| add_targets(target, &mut names));
        }
        "readmem" => node.children.get(1).iter().for_each(|target| add_targets(target, &mut names)),
        "var" => drop(locals.insert(node.name())),
        _ => {}
    });
    names.difference(&locals).filter_map(|name| resolve(name, path, module)).collect()
}

/// The variables in an assignment target, without those in indices.
fn add_targets<'a>(target: &'a Element, into: &mut BTreeSet<&'a str>) {
    match &*target.kind {
        "varref" if target.get("access").is_none() => into.extend(target.get("name")),
        "varref" => {}
        "concat" | "replicate" | "streaml" | "streamr" => {
            target.children.iter().for_each(|part| add_targets(part, into));
        }
        _ => target.children.first().iter().for_each(|base| add_targets(base, into)),
    }
}

/// Resolves a name inside a generate block to the path of a variable.
fn resolve(name: &str, mut block: &str, module: &Module) -> Option<String> {
    loop {
        let path = format!("{block}{name}");
        if module.variables.contains_key(&path) {
            return Some(path);
        }
        let outer = block.strip_suffix('.')?;
        block = &block[..outer.rfind('.').map_or(0, |dot| dot + 1)];
    }
}

/// A type, or `Some(None)` if it does not consist of bits.
fn type_of(node: &Element) -> Option<Option<Type>> {
    let inner = |node: &Element| Some(node.get("sub_dtype_id")?.to_owned());
    let members = || node.children.iter().map(inner).collect::<Option<Vec<_>>>();
    let bounds = || {
        let mut ends = node.child("range")?.children.iter().map(|end| number(end.get("name")?));
        Some(sorted(ends.next()??, ends.next()??))
    };
    let end = |name| Some(node.get(name)?.parse::<i64>().ok());
    Some(Some(match &*node.kind {
        "basicdtype" if BITS.contains(&node.get("name")?) => {
            // A 1-bit type has no range.
            match (end("left"), end("right")) {
                (Some(left), Some(right)) => Type::Bits(length(sorted(left?, right?))?),
                _ => Type::Bits(1),
            }
        }
        "refdtype" | "enumdtype" | "paramtypedtype" | "constdtype" => Type::Alias(inner(node)?),
        "structdtype" => Type::Struct(members()?),
        "uniondtype" => Type::Union(members()?),
        "packarraydtype" => Type::Packed(bounds()?, inner(node)?),
        "unpackarraydtype" => Type::Unpacked(bounds()?, inner(node)?),
        _ => return Some(None),
    }))
}

/// Parses a constant in Verilator's format: `32'sh1f`.
fn number(text: &str) -> Option<i64> {
    let digits = text.split_once('h').map_or(text, |(_, digits)| digits);
    let value = u32::from_str_radix(digits, 16).ok()?;
    // Range bounds are 32-bit and may be negative.
    Some(i64::from(value.cast_signed()))
}
