//! The registers of a design, as Verilator elaborates it: what a case says they hold before reset.

use crate::elaborate::{END_OF_XML, check_whole};
use crate::{Design, Error, Verilator};
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Class name in what Verilator writes here.
const PREFIX: &str = "Vask";

/// A variable that a design's processes assign, and that nothing sets when the simulation begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    /// Its name below the top module, as in `lane[0].fifo.head`.
    pub path: String,
    /// The name a model keeps it under: of an output of an instance, that of the net it drives.
    pub kept_as: String,
    /// Bits of an element.
    pub width: u32,
    /// Lowest and highest index of each unpacked dimension, the outermost first; empty if it is no memory.
    pub dimensions: Vec<(i64, i64)>,
}

impl Design {
    /// Asks Verilator for the design's registers; `out` is a folder for its answer. Parameters count.
    ///
    /// # Errors
    /// [`Error::Verilate`] with Verilator's message, or if it has no XML.
    pub fn registers(&self, verilator: &Verilator, out: &Path) -> Result<Vec<Register>, Error> {
        let mut command = self.command(verilator);
        command.args(["--xml-only", "-Wno-lint", "-Wno-style", "--prefix", PREFIX, "--Mdir"]);
        command.arg(out);
        for (name, value) in &self.parameters {
            command.arg(format!("-G{name}={value}"));
        }
        self.run(command).map_err(|error| match error {
            Error::Verilate { top, output } if output.contains("Invalid option: --xml-only") => {
                let output = "registers are found in Verilator's XML, and this version writes none; set \
                              VERILATOR to an older one, from 5.006 on";
                Error::Verilate { top, output: output.to_owned() }
            }
            error => error,
        })?;
        let path = out.join(format!("{PREFIX}.xml"));
        let text = fs::read_to_string(&path).map_err(Error::io(path))?;
        check_whole(&self.top, &text, END_OF_XML)?;
        registers(&text).ok_or_else(|| Error::Verilate {
            top: self.top.clone(),
            output: "its description of the design is not understood".to_owned(),
        })
    }
}

/// The elements below a node.
fn elements<'a, 'i>(node: Node<'a, 'i>) -> impl DoubleEndedIterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

fn registers(xml: &str) -> Option<Vec<Register>> {
    let document = Document::parse(xml).ok()?;
    let netlist = elements(document.root_element()).find(|node| node.has_tag_name("netlist"))?;
    let modules: BTreeMap<&str, Node<'_, '_>> = elements(netlist)
        .filter(|node| node.has_tag_name("module"))
        .filter_map(|node| Some((node.attribute("name")?, node)))
        .collect();
    let table = elements(netlist).find(|node| node.has_tag_name("typetable"))?;
    let types = elements(table).filter_map(|node| Some((node.attribute("id")?, node))).collect();
    let top = modules.values().find(|module| module.attribute("topModule").is_some())?;
    let mut walk = Walk { modules: &modules, types: Types(types), found: Vec::new() };
    walk.scope(*top, Place::default(), &BTreeMap::new());
    Some(walk.found)
}

/// Types by their numbers.
struct Types<'a, 'i>(BTreeMap<&'a str, Node<'a, 'i>>);

impl Types<'_, '_> {
    /// Width and unpacked dimensions of a type; `None` if it is not made of bits.
    fn shape(&self, id: &str) -> Option<(u32, Vec<(i64, i64)>)> {
        let node = self.0.get(id)?;
        let inner = || self.shape(node.attribute("sub_dtype_id")?);
        let bounds = || {
            let range = elements(*node).find(|node| node.has_tag_name("range"))?;
            let mut ends = elements(range).map(|end| number(end.attribute("name")?));
            let (left, right) = (ends.next()??, ends.next()??);
            Some((left.min(right), left.max(right)))
        };
        match node.tag_name().name() {
            "basicdtype" => {
                let is_bits =
                    ["logic", "bit", "integer", "int", "byte", "shortint", "longint", "reg"];
                is_bits.contains(&node.attribute("name")?).then_some(())?;
                let end = |name| node.attribute(name).and_then(|end: &str| end.parse::<i64>().ok());
                let width = match (end("left"), end("right")) {
                    (Some(left), Some(right)) => left.abs_diff(right) + 1,
                    _ => 1,
                };
                Some((u32::try_from(width).ok()?, Vec::new()))
            }
            "refdtype" | "enumdtype" | "memberdtype" => inner(),
            "packarraydtype" => {
                let ((low, high), (width, dimensions)) = (bounds()?, inner()?);
                let width = width.checked_mul(u32::try_from(high - low + 1).ok()?)?;
                dimensions.is_empty().then_some((width, dimensions))
            }
            "structdtype" => {
                let members = elements(*node).map(|member| self.shape(member.attribute("id")?));
                let width = members.map(|member| Some(member?.0)).sum::<Option<u32>>()?;
                Some((width, Vec::new()))
            }
            "uniondtype" => {
                let members = elements(*node).map(|member| self.shape(member.attribute("id")?));
                let widths = members.map(|member| Some(member?.0)).collect::<Option<Vec<u32>>>()?;
                Some((widths.into_iter().max()?, Vec::new()))
            }
            "unpackarraydtype" => {
                let (width, mut dimensions) = inner()?;
                dimensions.insert(0, bounds()?);
                Some((width, dimensions))
            }
            _ => None,
        }
    }
}

/// A number as Verilator writes constants: `32'sh1f`.
fn number(text: &str) -> Option<i64> {
    let digits = text.split_once('h').map_or(text, |(_, digits)| digits);
    let value = u32::from_str_radix(digits, 16).ok()?;
    // Ends of ranges have 32 bits and may be below 0.
    Some(i64::from(value.cast_signed()))
}

/// Goes down the hierarchy.
struct Walk<'a, 'i, 'm> {
    modules: &'m BTreeMap<&'a str, Node<'a, 'i>>,
    types: Types<'a, 'i>,
    found: Vec<Register>,
}

/// A place in the hierarchy: paths that are empty or end with a dot.
#[derive(Clone, Default)]
struct Place {
    module: String,
    /// From the module to a generated block in it.
    block: String,
}

impl Place {
    fn path(&self, name: &str) -> String {
        format!("{}{}{name}", self.module, self.block)
    }
}

/// What the processes of a module assign.
#[derive(Default)]
struct Assigned<'a> {
    by_processes: BTreeSet<&'a str>,
    at_the_beginning: BTreeSet<&'a str>,
}

impl<'a, 'i> Walk<'a, 'i, '_> {
    /// A module, or a generated block in one. `nets` are the names under which its outputs are kept.
    fn scope(&mut self, node: Node<'a, 'i>, place: Place, nets: &BTreeMap<&str, String>) {
        let mut assigned = Assigned::default();
        for process in elements(node) {
            match process.tag_name().name() {
                "always" => targets(process, &mut assigned.by_processes),
                "initial" | "initialstatic" | "initialautomatic" => {
                    targets(process, &mut assigned.at_the_beginning);
                }
                _ => {}
            }
        }
        // Processes of generated blocks assign what is declared around them.
        for process in elements(node).filter(|node| node.has_tag_name("begin")) {
            for inner in process.descendants().filter(|node| node.has_tag_name("always")) {
                targets(inner, &mut assigned.by_processes);
            }
        }
        for child in elements(node) {
            match child.tag_name().name() {
                "var" => self.variable(child, &place, nets, &assigned),
                "begin" => {
                    let mut inside = place.clone();
                    if let Some(name) = child.attribute("name") {
                        inside.block += &format!("{name}.");
                    }
                    self.scope(child, inside, &BTreeMap::new());
                }
                "instance" => self.instance(child, &place, nets),
                _ => {}
            }
        }
    }

    fn instance(&mut self, instance: Node<'a, 'i>, place: &Place, nets: &BTreeMap<&str, String>) {
        let (Some(instance_name), Some(module)) = (
            instance.attribute("name"),
            instance.attribute("defName").and_then(|name| self.modules.get(name).copied()),
        ) else {
            return;
        };
        let outputs = elements(instance).filter(|port| port.attribute("direction") == Some("out"));
        let kept = outputs.filter_map(|port| {
            let (name, net) = (port_name(port, module)?, elements(port).next()?);
            let kept_as = match net.attribute("name").filter(|_| net.has_tag_name("varref")) {
                Some(net) => nets.get(net).cloned().unwrap_or_else(|| place.path(net)),
                // Verilator makes a net of it, with such a name.
                None => {
                    let Place { module, block } = place;
                    format!("{module}__Vcellout__{block}{instance_name}__{name}")
                }
            };
            Some((name, kept_as))
        });
        let kept = kept.collect();
        let inside =
            Place { module: place.path(&format!("{instance_name}.")), block: String::new() };
        self.scope(module, inside, &kept);
    }

    fn variable(
        &mut self,
        variable: Node<'a, 'i>,
        place: &Place,
        nets: &BTreeMap<&str, String>,
        assigned: &Assigned<'_>,
    ) {
        let Some(name) = variable.attribute("name") else { return };
        let is_set = assigned.at_the_beginning.contains(name);
        let shape = variable.attribute("dtype_id").and_then(|id| self.types.shape(id));
        if let Some((width, dimensions)) = shape
            && assigned.by_processes.contains(name)
            && !is_set
        {
            let path = place.path(name);
            let kept_as = nets.get(name).cloned().unwrap_or_else(|| path.clone());
            self.found.push(Register { path, kept_as, width, dimensions });
        }
    }
}

/// The name of the port that an instance connects; where it connects by place, Verilator gives a number for a name.
fn port_name<'a>(port: Node<'a, '_>, module: Node<'a, '_>) -> Option<&'a str> {
    let name = port.attribute("name")?;
    if !name.starts_with("__pinNumber") {
        return Some(name);
    }
    let index = port.attribute("portIndex")?;
    let mut variables = elements(module).filter(|node| node.has_tag_name("var"));
    variables.find(|node| node.attribute("pinIndex") == Some(index))?.attribute("name")
}

/// The variables that a process assigns.
fn targets<'a>(process: Node<'a, '_>, into: &mut BTreeSet<&'a str>) {
    for assign in process.descendants() {
        if assign.has_tag_name("assign") || assign.has_tag_name("assigndly") {
            // The target follows the value.
            if let Some(target) = elements(assign).next_back() {
                names(target, into);
            }
        }
    }
}

/// The variables of a target, not of the indices in it.
fn names<'a>(target: Node<'a, '_>, into: &mut BTreeSet<&'a str>) {
    match target.tag_name().name() {
        "varref" => into.extend(target.attribute("name")),
        "concat" | "replicate" | "streaml" | "streamr" => {
            elements(target).for_each(|part| names(part, into));
        }
        _ => elements(target).take(1).for_each(|base| names(base, into)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESIGN: &str = r"
module sub #(parameter W = 4) (input clk, input [W-1:0] d, output reg [W-1:0] q);
  always @(posedge clk) q <= d;
endmodule
module t #(parameter DEPTH = 2) (input clk, input [7:0] d, output wire [3:0] z, output reg [7:0] y);
  reg [7:0] mem [0:DEPTH-1][1:4];
  reg set = 1'b1;
  reg [0:7] left;
  reg high, low;
  wire [1:0] net;
  always @* y = mem[d[0]][d[2:1] + 1] ^ left ^ {6'b0, high, low} ^ {7'b0, set};
  genvar g;
  generate for (g = 0; g < 2; g = g + 1) begin : lane
    reg [3:0] r;
    always @(posedge clk) r <= d[3:0];
  end endgenerate
  sub #(2) whole (clk, d[1:0], net);
  sub #(2) part (clk, d[1:0], z[1:0]);
  assign z[3:2] = net;
  always @(posedge clk) begin : named
    integer k;
    for (k = 0; k < DEPTH; k = k + 1) mem[k][1][3:0] <= d[3:0];
    {high, low} <= d[1:0];
    left[0] <= d[0];
    set <= d[1];
  end
endmodule
";

    #[test]
    fn what_processes_assign_is_found_with_its_shape_and_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.v");
        fs::write(&file, DESIGN).unwrap();
        let design = Design {
            top: "t".to_owned(),
            sources: vec![file],
            parameters: vec![("DEPTH".to_owned(), "3".to_owned())],
            ..Design::default()
        };
        let verilator = Verilator::find().unwrap();
        let mut found = match design.registers(&verilator, &folder.path().join("out")) {
            // The newest versions have no XML, which is what is said.
            Err(Error::Verilate { output, .. }) if output.contains("this version writes none") => {
                return;
            }
            found => found.unwrap(),
        };
        found.sort_by(|one, other| one.path.cmp(&other.path));
        let line = |register: &Register| {
            let Register { path, kept_as, width, dimensions } = register;
            format!("{path} {kept_as} {width} {dimensions:?}")
        };
        let seen: Vec<String> = found.iter().map(line).collect();
        let expected = [
            "high high 1 []",
            "lane[0].r lane[0].r 4 []",
            "lane[1].r lane[1].r 4 []",
            "left left 8 []",
            "low low 1 []",
            "mem mem 8 [(0, 2), (1, 4)]",
            "part.q __Vcellout__part__q 2 []",
            "whole.q net 2 []",
            "y y 8 []",
        ];
        assert_eq!(seen, expected);
    }
}
