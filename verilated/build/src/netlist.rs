//! The variables and instances of each module, and the types, in a design elaborated by Verilator.
//!
//! Older Verilators describe a design in XML, newer ones in JSON. Either becomes the same
//! [`Netlist`], in which [`Register`](crate::Register)s are found.

use crate::elaborate::from_deep_json;
use roxmltree::{Document, Node};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A design.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Netlist {
    /// The key of the top module.
    pub top: String,
    /// Modules by key. The key depends on the format.
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
    /// Parses Verilator's XML. `None` if something is missing.
    pub(crate) fn from_xml(text: &str) -> Option<Self> {
        let document = Document::parse(text).ok()?;
        let netlist = child(document.root_element(), "netlist")?;
        let nodes = elements(netlist).filter(|node| node.has_tag_name("module"));
        let nodes: BTreeMap<&str, Node<'_, '_>> =
            nodes.map(|node| Some((node.attribute("name")?, node))).collect::<Option<_>>()?;
        let (top, _) = nodes.iter().find(|(_, node)| node.attribute("topModule").is_some())?;
        let mut modules = BTreeMap::new();
        for (name, node) in &nodes {
            let mut module = Module::default();
            xml_variables(*node, "", &mut module)?;
            xml_scope(*node, "", &nodes, &mut module)?;
            modules.insert((*name).to_owned(), module);
        }
        let mut types = BTreeMap::new();
        for node in elements(child(netlist, "typetable")?) {
            if let Some(r#type) = xml_type(node)? {
                types.insert(node.attribute("id")?.to_owned(), r#type);
            }
        }
        Some(Self { top: (*top).to_owned(), modules, types })
    }

    /// Parses Verilator's JSON. `None` if something is missing.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        from_deep_json(text, Self::from_json_tree)
    }

    fn from_json_tree(tree: &Value) -> Option<Self> {
        let nodes = || list(tree, "modulesp").filter(|node| node["type"] == "MODULE");
        let top = nodes().find(|node| node["level"] == 1)?;
        let mut variables = BTreeMap::new();
        let mut modules = BTreeMap::new();
        for node in nodes() {
            let mut module = Module::default();
            json_variables(node, "", &mut module, &mut variables)?;
            modules.insert(text_of(node, "addr")?, module);
        }
        for node in nodes() {
            let module = modules.get_mut(node["addr"].as_str()?)?;
            json_scope(node, "", &variables, module)?;
        }
        let mut types = BTreeMap::new();
        let table = list(tree, "miscsp").find(|node| node["type"] == "TYPETABLE")?;
        for node in list(table, "typesp") {
            if let Some(r#type) = json_type(node)? {
                types.insert(text_of(node, "addr")?, r#type);
            }
        }
        Some(Self { top: text_of(top, "addr")?, modules, types })
    }
}

/// The child elements of a node.
pub(crate) fn elements<'a, 'i>(
    node: Node<'a, 'i>,
) -> impl DoubleEndedIterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

fn child<'a, 'i>(node: Node<'a, 'i>, tag: &str) -> Option<Node<'a, 'i>> {
    elements(node).find(|node| node.has_tag_name(tag))
}

/// The generate blocks in a scope, with their paths.
fn xml_blocks<'a, 'i>(
    scope: Node<'a, 'i>,
    path: &str,
) -> impl Iterator<Item = (Node<'a, 'i>, String)> {
    let blocks =
        elements(scope).filter(|node| node.has_tag_name("begin") || node.has_tag_name("genblock"));
    blocks.map(move |block| match block.attribute("name") {
        Some(name) => (block, format!("{path}{name}.")),
        None => (block, path.to_owned()),
    })
}

fn xml_variables(scope: Node<'_, '_>, path: &str, module: &mut Module) -> Option<()> {
    for variable in elements(scope).filter(|node| node.has_tag_name("var")) {
        let (name, r#type) = (variable.attribute("name")?, variable.attribute("dtype_id")?);
        module.variables.insert(format!("{path}{name}"), r#type.to_owned());
    }
    xml_blocks(scope, path).try_for_each(|(block, path)| xml_variables(block, &path, module))
}

/// Reads the processes and instances of a module or of a generate block.
fn xml_scope(
    scope: Node<'_, '_>,
    path: &str,
    modules: &BTreeMap<&str, Node<'_, '_>>,
    module: &mut Module,
) -> Option<()> {
    for node in elements(scope) {
        match node.tag_name().name() {
            "always" => {
                let targets = xml_targets(node, path, module);
                module.assigned.extend(targets);
            }
            "initial" | "initialstatic" | "initialautomatic" => {
                let targets = xml_targets(node, path, module);
                module.initialized.extend(targets);
            }
            "instance" => {
                let (name, of) = (node.attribute("name")?, node.attribute("defName")?);
                let mut outputs = Vec::new();
                for port in elements(node).filter(|port| port.attribute("direction") == Some("out"))
                {
                    let (Some(net), Some(of)) = (elements(port).next(), modules.get(of)) else {
                        continue;
                    };
                    let net = net.attribute("name").filter(|_| net.has_tag_name("varref"));
                    let net = net.and_then(|net| resolve(net, path, module));
                    let (pin, port) = (port.attribute("name")?, xml_port(port, *of)?);
                    outputs.push(Output { port: port.to_owned(), pin: pin.to_owned(), net });
                }
                let (path, module_key) = (format!("{path}{name}"), of.to_owned());
                module.instances.push(Instance { path, module: module_key, outputs });
            }
            _ => {}
        }
    }
    xml_blocks(scope, path).try_for_each(|(block, path)| xml_scope(block, &path, modules, module))
}

/// The port of a connection. For a connection by position, the XML has a number instead of a name.
fn xml_port<'a>(port: Node<'a, '_>, module: Node<'a, '_>) -> Option<&'a str> {
    let name = port.attribute("name")?;
    if !name.starts_with("__pinNumber") {
        return Some(name);
    }
    let index = port.attribute("portIndex")?;
    let mut variables = elements(module).filter(|node| node.has_tag_name("var"));
    variables.find(|node| node.attribute("pinIndex") == Some(index))?.attribute("name")
}

/// The variables that a process assigns.
fn xml_targets(process: Node<'_, '_>, path: &str, module: &Module) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for node in process.descendants() {
        match node.tag_name().name() {
            // The target is the last child, after the value and the file name.
            "assign" | "assigndly" => {
                elements(node).next_back().iter().for_each(|target| xml_names(*target, &mut names));
            }
            "readmem" => {
                elements(node).nth(1).iter().for_each(|target| xml_names(*target, &mut names));
            }
            _ => {}
        }
    }
    for local in process.descendants().filter(|node| node.has_tag_name("var")) {
        local.attribute("name").map(|name| names.remove(name));
    }
    names.iter().filter_map(|name| resolve(name, path, module)).collect()
}

/// The variables in an assignment target, without those in indices.
fn xml_names<'a>(target: Node<'a, '_>, into: &mut BTreeSet<&'a str>) {
    match target.tag_name().name() {
        "varref" => into.extend(target.attribute("name")),
        "concat" | "replicate" | "streaml" | "streamr" => {
            elements(target).for_each(|part| xml_names(part, into));
        }
        _ => elements(target).take(1).for_each(|base| xml_names(base, into)),
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
pub(crate) fn xml_type(node: Node<'_, '_>) -> Option<Option<Type>> {
    let inner = |node: Node<'_, '_>| Some(node.attribute("sub_dtype_id")?.to_owned());
    let members = || elements(node).map(inner).collect::<Option<Vec<_>>>();
    let bounds = || {
        let mut ends = elements(child(node, "range")?).map(|end| number(end.attribute("name")?));
        Some(sorted(ends.next()??, ends.next()??))
    };
    let end = |name| Some(node.attribute(name)?.parse::<i64>().ok());
    Some(Some(match node.tag_name().name() {
        "basicdtype" if BITS.contains(&node.attribute("name")?) => {
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

/// The nodes in a list field of a node.
pub(crate) fn list<'a>(node: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    node[name].as_array().into_iter().flatten()
}

fn text_of(node: &Value, name: &str) -> Option<String> {
    node[name].as_str().map(str::to_owned)
}

/// The items of a module or generate block.
pub(crate) fn json_items(scope: &Value) -> impl Iterator<Item = &Value> {
    ["declsp", "itemsp", "stmtsp"].into_iter().flat_map(|name| list(scope, name))
}

/// The generate blocks in a scope, with their paths.
fn json_blocks<'a>(scope: &'a Value, path: &str) -> impl Iterator<Item = (&'a Value, String)> {
    let blocks =
        json_items(scope).filter(|node| node["type"] == "GENBLOCK" || node["type"] == "BEGIN");
    blocks.map(move |block| match block["name"].as_str() {
        Some(name) if !name.is_empty() => (block, format!("{path}{name}.")),
        _ => (block, path.to_owned()),
    })
}

/// A variable of any module.
struct Declared {
    path: String,
    is_output: bool,
}

/// Variables of all modules, by node address.
type Addresses<'a> = BTreeMap<&'a str, Declared>;

fn json_variables<'a>(
    scope: &'a Value,
    path: &str,
    module: &mut Module,
    variables: &mut Addresses<'a>,
) -> Option<()> {
    for node in json_items(scope).filter(|node| node["type"] == "VAR") {
        let path = format!("{path}{}", node["name"].as_str()?);
        module.variables.insert(path.clone(), text_of(node, "dtypep")?);
        let declared = Declared { path, is_output: node["direction"] == "OUTPUT" };
        variables.insert(node["addr"].as_str()?, declared);
    }
    json_blocks(scope, path)
        .try_for_each(|(block, path)| json_variables(block, &path, module, variables))
}

/// Reads the processes and instances of a module or of a generate block.
fn json_scope(
    scope: &Value,
    path: &str,
    variables: &Addresses<'_>,
    module: &mut Module,
) -> Option<()> {
    for node in json_items(scope) {
        match node["type"].as_str()? {
            // In JSON, a continuous assignment is also an ALWAYS node.
            "ALWAYS" if node["keyword"] != "cont_assign" => {
                json_targets(node, variables, &mut module.assigned)?;
            }
            "INITIAL" | "INITIALSTATIC" | "INITIALAUTOMATIC" => {
                json_targets(node, variables, &mut module.initialized)?;
            }
            "CELL" => {
                let mut outputs = Vec::new();
                for pin in list(node, "pinsp") {
                    let port = pin["modVarp"].as_str().and_then(|port| variables.get(port));
                    let (Some(port), Some(net)) = (port, list(pin, "exprp").next()) else {
                        continue;
                    };
                    if port.is_output {
                        let net = net["varp"].as_str().filter(|_| net["type"] == "VARREF");
                        let net = net.and_then(|net| Some(variables.get(net)?.path.clone()));
                        let (port, pin) = (port.path.clone(), text_of(pin, "name")?);
                        outputs.push(Output { port, pin, net });
                    }
                }
                let path = format!("{path}{}", node["name"].as_str()?);
                module.instances.push(Instance { path, module: text_of(node, "modp")?, outputs });
            }
            _ => {}
        }
    }
    json_blocks(scope, path)
        .try_for_each(|(block, path)| json_scope(block, &path, variables, module))
}

/// The variables that a process writes. In JSON, each reference has its access mode.
fn json_targets(
    node: &Value,
    variables: &Addresses<'_>,
    into: &mut BTreeSet<String>,
) -> Option<()> {
    match node {
        Value::Array(nodes) => {
            nodes.iter().try_for_each(|node| json_targets(node, variables, into))
        }
        Value::Object(fields) => {
            if node["type"] == "VARREF" && node["access"].as_str()? != "RD" {
                into.extend(variables.get(node["varp"].as_str()?).map(|found| found.path.clone()));
            }
            fields.values().try_for_each(|node| json_targets(node, variables, into))
        }
        _ => Some(()),
    }
}

/// A type, or `Some(None)` if it does not consist of bits.
pub(crate) fn json_type(node: &Value) -> Option<Option<Type>> {
    let inner = |node| text_of(node, "refDTypep");
    let members = || list(node, "membersp").map(inner).collect::<Option<Vec<_>>>();
    let range = |text: &str| {
        let (left, right) = text.split_once(':')?;
        Some(sorted(left.parse().ok()?, right.parse().ok()?))
    };
    let bounds = || range(node["declRange"].as_str()?.strip_prefix('[')?.strip_suffix(']')?);
    Some(Some(match node["type"].as_str()? {
        "BASICDTYPE" if BITS.contains(&node["keyword"].as_str()?) => match &node["range"] {
            Value::Null => Type::Bits(1),
            text => Type::Bits(length(range(text.as_str()?)?)?),
        },
        "REFDTYPE" | "ENUMDTYPE" | "CONSTDTYPE" => Type::Alias(inner(node)?),
        "PARAMTYPEDTYPE" => Type::Alias(text_of(node, "dtypep")?),
        "STRUCTDTYPE" => Type::Struct(members()?),
        "UNIONDTYPE" => Type::Union(members()?),
        "PACKARRAYDTYPE" => Type::Packed(bounds()?, inner(node)?),
        "UNPACKARRAYDTYPE" => Type::Unpacked(bounds()?, inner(node)?),
        _ => return Some(None),
    }))
}
