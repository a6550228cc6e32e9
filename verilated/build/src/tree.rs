//! Verilator's description of a design as one kind of tree, whether it came as XML or as JSON.
//!
//! Elements have the names and attributes of the XML, which older versions write. What this crate
//! reads is translated from JSON; no other file knows either format.

use crate::elaborate::Description;
use crate::{Design, Error};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;
use verilated_runtime::Verilator;

/// An element of the description.
#[derive(Debug, Clone, Default)]
pub struct Element {
    /// The kind, such as `contassign`.
    pub kind: String,
    attributes: BTreeMap<&'static str, String>,
    /// The elements in it, in the order of the XML.
    pub children: Vec<Element>,
}

/// The attributes that are kept.
const ATTRIBUTES: [&str; 23] = [
    "filename",
    "name",
    "origName",
    "loc",
    "dtype_id",
    "id",
    "sub_dtype_id",
    "dir",
    "direction",
    "vartype",
    "param",
    "localparam",
    "packed",
    "left",
    "right",
    "signed",
    "modportname",
    "defName",
    "edgeType",
    "dotted",
    "topModule",
    "pinIndex",
    "portIndex",
];

impl Element {
    /// An attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// The name; empty without one.
    pub fn name(&self) -> &str {
        self.get("name").unwrap_or_default()
    }

    /// The first child of a kind.
    pub fn child(&self, kind: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.kind == kind)
    }

    /// The children of a kind.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.kind == kind)
    }

    /// The child that JSON has in this role, and XML at this place.
    pub(crate) fn part(&self, role: &str, place: usize) -> Option<&Self> {
        if self.has_roles() {
            self.children.iter().find(|child| child.get("role") == Some(role))
        } else {
            self.children.get(place)
        }
    }

    /// The children that JSON has in this role. XML has them in a block at this place.
    pub(crate) fn block(&self, role: &str, place: usize) -> Vec<&Self> {
        if self.has_roles() {
            return self.children.iter().filter(|one| one.get("role") == Some(role)).collect();
        }
        match self.children.get(place) {
            Some(block) if block.kind == "begin" => block.children.iter().collect(),
            other => other.into_iter().collect(),
        }
    }

    /// Whether the description says what each child is for.
    pub(crate) fn has_roles(&self) -> bool {
        self.children.iter().any(|child| child.get("role").is_some())
    }

    /// Whether it is the top module.
    pub fn is_top(&self) -> bool {
        self.kind == "module" && self.get("topModule").is_some()
    }

    /// Calls `f` with this element and all below it.
    pub fn each<'a>(&'a self, f: &mut dyn FnMut(&'a Self)) {
        f(self);
        self.children.iter().for_each(|child| child.each(f));
    }

    fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.attributes.insert(name, value.into());
    }
}

/// A design: its modules, packages and interfaces, its types, and its files by their letters.
#[derive(Debug, Default)]
pub struct Tree {
    /// Modules, packages and interfaces.
    pub modules: Vec<Element>,
    /// The types.
    pub types: Vec<Element>,
    /// What is neither a module nor a type.
    pub rest: Vec<Element>,
    /// The names of the files, by the letters of locations.
    pub files: BTreeMap<String, String>,
}

impl Design {
    /// Describes the design with its parameters, and hands the description to `read`. Expressions
    /// are as in the RTL: no optimization shares them. `out` is a folder for Verilator's output.
    ///
    /// # Errors
    /// [`Error::Verilate`] with Verilator's message.
    pub fn with_tree<T: Send>(
        &self,
        verilator: &Verilator,
        out: &Path,
        read: impl FnOnce(&Tree) -> T + Send,
    ) -> Result<T, Error> {
        let mut options = self.semantics();
        options.retain(|option| option != "--assert");
        options.push("-fno-dfg".to_owned());
        let description = self.describe(verilator, out, &options)?;
        with_tree(&description, |tree| Some(read(tree))).ok_or_else(|| self.not_understood())
    }
}

/// Reads a description and hands it to `read`. Long chains of `else if` are nested deeper than an
/// ordinary stack allows.
pub(crate) fn with_tree<T: Send>(
    description: &Description,
    read: impl FnOnce(&Tree) -> Option<T> + Send,
) -> Option<T> {
    const STACK: usize = 256 << 20;
    let parse = || {
        let tree = match description {
            Description::Xml(text) => from_xml(text),
            Description::Json { tree, meta } => from_json(tree, meta),
        }?;
        read(&tree)
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, parse).ok()?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

fn from_xml(text: &str) -> Option<Tree> {
    let mut reader = Reader::from_str(text);
    // The elements that have begun, each inside the one before it.
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => open.push(xml_element(&tag)?),
            Event::Empty(tag) => {
                let element = xml_element(&tag)?;
                open.last_mut()?.children.push(element);
            }
            Event::End(_) => {
                let element = open.pop()?;
                open.last_mut()?.children.push(element);
            }
            Event::Eof => break,
            _ => {}
        }
    }
    let [document] = &mut open[..] else { return None };
    let mut tree = Tree::default();
    for section in document.children.pop()?.children {
        for element in section.children {
            match (&*section.kind, &*element.kind) {
                ("files", _) => {
                    let (id, name) = (element.get("id")?, element.get("filename")?);
                    tree.files.insert(id.to_owned(), name.to_owned());
                }
                ("netlist", "typetable") => tree.types = element.children,
                ("netlist", _) => tree.modules.push(element),
                _ => {}
            }
        }
    }
    Some(tree)
}

fn xml_element(tag: &BytesStart<'_>) -> Option<Element> {
    let mut element = Element {
        kind: str::from_utf8(tag.name().as_ref()).ok()?.to_owned(),
        ..Element::default()
    };
    for attribute in tag.attributes() {
        let attribute = attribute.ok()?;
        let name = str::from_utf8(attribute.key.as_ref()).ok()?;
        if let Some(name) = ATTRIBUTES.iter().find(|kept| **kept == name) {
            // A string of the RTL may hold what is no reference of XML.
            let value = str::from_utf8(&attribute.value).ok()?;
            element.set(name, unescape(value).unwrap_or(value.into()));
        }
    }
    Some(element)
}

fn from_json(text: &str, meta: &str) -> Option<Tree> {
    // A member of a struct has two names, of which the second one is encoded.
    let text = text.replace(r#""MEMBERDTYPE","name":"#, r#""MEMBERDTYPE","memberName":"#);
    let mut parser = serde_json::Deserializer::from_str(&text);
    parser.disable_recursion_limit();
    let value = Value::deserialize(&mut parser).ok()?;
    parser.end().ok()?;
    let meta: Value = serde_json::from_str(meta).ok()?;
    let mut tree = Tree::default();
    for (id, file) in meta["files"].as_object()? {
        tree.files.insert(id.clone(), file["filename"].as_str()?.to_owned());
    }
    let modules = value["modulesp"].as_array()?;
    let mut names = Names::new();
    modules.iter().for_each(|module| add_names(module, &mut names));
    tree.modules = modules.iter().map(|module| json_element(module, &names)).collect();
    for misc in value["miscsp"].as_array()? {
        match misc["type"].as_str() {
            Some("TYPETABLE") => {
                let types = misc["typesp"].as_array()?;
                tree.types.extend(types.iter().map(|kind| json_element(kind, &names)));
            }
            Some("CONSTPOOL") => {}
            _ => tree.rest.push(json_element(misc, &names)),
        }
    }
    let files = value["filesp"].as_array().into_iter().flatten();
    tree.rest.extend(files.map(|file| json_element(file, &names)));
    Some(tree)
}

/// The names and directions of modules and variables, by their addresses.
type Names<'a> = HashMap<&'a str, (String, &'a str)>;

/// A name of the RTL, or a string in it: Verilator escapes these before JSON does.
fn unescaped(name: &str) -> String {
    let mut letters = name.chars();
    let mut plain = String::with_capacity(name.len());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => plain.extend(letters.next().map(|escaped| match escaped {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            })),
            letter => plain.push(letter),
        }
    }
    plain
}

fn add_names<'a>(node: &'a Value, names: &mut Names<'a>) {
    match node {
        Value::Array(nodes) => nodes.iter().for_each(|node| add_names(node, names)),
        Value::Object(fields) => {
            if let (true, Some(address), Some(name)) = (
                matches!(node["type"].as_str(), Some("VAR" | "MODULE" | "IFACE" | "PACKAGE")),
                node["addr"].as_str(),
                node["name"].as_str(),
            ) {
                names.insert(address, (unescaped(name), direction(node)));
            }
            fields.values().for_each(|node| add_names(node, names));
        }
        _ => {}
    }
}

/// The direction of a port, as the XML has it at connections; empty for anything else.
fn direction(node: &Value) -> &'static str {
    match node["direction"].as_str() {
        Some("INPUT") => "in",
        Some("OUTPUT") => "out",
        Some("INOUT") => "inout",
        _ => "",
    }
}

fn json_element(node: &Value, names: &Names<'_>) -> Element {
    let text = |name: &str| node[name].as_str().unwrap_or_default();
    let kind = text("type").to_ascii_lowercase();
    let kind = match kind.as_str() {
        "cell" => "instance",
        "pin" => "port",
        "assignw" => "contassign",
        other => other,
    };
    let mut element = Element { kind: kind.to_owned(), ..Element::default() };
    for (name, key) in [
        ("name", "name"),
        ("name", "memberName"),
        ("origName", "origName"),
        ("loc", "loc"),
        ("dtype_id", "dtypep"),
        ("id", "addr"),
        ("edgeType", "edgeType"),
        ("dotted", "dotted"),
        ("modportname", "modportName"),
        ("keyword", "keyword"),
        ("keyword", "kwd"),
        ("varp", "varp"),
    ] {
        match node[key].as_str() {
            Some(value) if name == "name" => element.set(name, unescaped(value)),
            Some(value) => element.set(name, value),
            None => {}
        }
    }
    let target = if matches!(kind, "refdtype" | "paramtypedtype") { "dtypep" } else { "refDTypep" };
    element.set("sub_dtype_id", text(target));
    // A connection has the direction of its port.
    let port = node["modVarp"].as_str().and_then(|address| names.get(address));
    if let Some((name, _)) = port {
        element.set("portName", name.as_str());
    }
    let direction = port.map_or_else(|| direction(node), |(_, direction)| *direction);
    if !direction.is_empty() {
        let long =
            if direction == "inout" { "inout".to_owned() } else { format!("{direction}put") };
        element.set("direction", direction);
        // Whatever its `varType`: that of `input wire a` is WIRE. What a function returns has a
        // direction in the scope of the function.
        if kind == "var" {
            element.set("dir", long);
        }
    }
    if kind == "var" {
        let is_interface = text("varType") == "IFACEREF";
        element.set("vartype", if is_interface { "ifaceref" } else { text("dtypeName") });
    }
    if let Some(width) = node["widthConst"].as_u64() {
        element.set("widthConst", width.to_string());
    }
    for (name, key) in [("param", "isGParam"), ("localparam", "isParam"), ("signed", "signed")] {
        if node[key] == true {
            element.set(name, "true");
        }
    }
    if kind.starts_with("struct") || kind.starts_with("union") {
        element.set("packed", if node["packed"] == true { "true" } else { "false" });
    }
    if let Some((left, right)) = text("range").split_once(':') {
        element.set("left", left);
        element.set("right", right);
    }
    if let Some((module, _)) = node["modp"].as_str().and_then(|address| names.get(address)) {
        element.set("defName", module.as_str());
    }
    if kind == "module" && node["level"] == 1 {
        element.set("topModule", "1");
    }
    if kind == "always" && node["keyword"] == "cont_assign" {
        element.set("isContinuous", "true");
    }
    if kind == "varref" {
        element.set("access", text("access"));
    }
    if let Value::Object(map) = node {
        // What is assigned comes last, as in XML.
        let (lists, last): (Vec<_>, Vec<_>) = map.iter().partition(|(key, _)| *key != "lhsp");
        for (role, list) in lists.into_iter().chain(last) {
            let nodes = list.as_array().into_iter().flatten().filter(|node| node.is_object());
            element.children.extend(nodes.map(|node| {
                let mut child = json_element(node, names);
                child.set("role", role.as_str());
                child
            }));
        }
    }
    element
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are names and strings those of the RTL, as they are in XML?
    #[test]
    fn names_in_json_are_escaped_twice() {
        let json = r#"{"modulesp":[{"type":"MODULE","name":"m","stmtsp":[
            {"type":"MEMBERDTYPE","name":"a+b","loc":"e,1:2,1:3","name":"a__02bb"},
            {"type":"VAR","name":"n\\\\m\\\"%;"},{"type":"CONST","name":"\\\"a.hex\\\""}]}],"miscsp":[]}"#;
        let tree = from_json(json, r#"{"files":{}}"#).unwrap();
        let names: Vec<_> = tree.modules[0].children.iter().map(Element::name).collect();
        assert_eq!(names, ["a+b", r#"n\m"%;"#, r#""a.hex""#]);
    }

    /// What newer Verilators write: `varType` is that of the net.
    #[test]
    fn a_variable_with_a_direction_is_a_port() {
        let var = |name: &str, of: &str, direction: &str| {
            format!(
                r#"{{"type":"VAR","name":"{name}","varType":"{of}","direction":"{direction}"}}"#
            )
        };
        let vars = [
            var("a", "PORT", "INPUT"),
            var("b", "WIRE", "INPUT"),
            var("c", "TRIWIRE", "INOUT"),
            var("d", "VAR", "OUTPUT"),
            var("e", "WIRE", "NONE"),
        ];
        let tree = format!(
            r#"{{"modulesp":[{{"type":"MODULE","name":"m","stmtsp":[{}]}}],"miscsp":[]}}"#,
            vars.join(",")
        );
        let tree = from_json(&tree, r#"{"files":{}}"#).unwrap();
        let found: Vec<_> = tree.modules[0].of_kind("var").map(|var| var.get("dir")).collect();
        assert_eq!(found, [Some("input"), Some("input"), Some("inout"), Some("output"), None]);
    }
}
