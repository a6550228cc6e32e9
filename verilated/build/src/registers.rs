//! The registers of a design elaborated by Verilator, whose values before reset a case defines.

use crate::netlist::{Netlist, Type, length};
use crate::tree::with_tree;
use crate::{Design, Error};
use std::collections::BTreeMap;
use std::path::Path;
use verilated_runtime::Verilator;

/// A variable that processes assign and that no initial process sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    /// Its path below the top module, such as `lane[0].fifo.head`.
    pub path: String,
    /// Its name in a model: for an output of an instance, the name of the net that it drives.
    pub kept_as: String,
    /// Bits per element.
    pub width: u32,
    /// Lowest and highest index of each unpacked dimension, outermost first. Empty if it is no
    /// memory.
    pub dimensions: Vec<(i64, i64)>,
}

impl Design {
    /// The registers of the design with its parameters. `out` is a folder for Verilator's output.
    ///
    /// # Errors
    /// [`Error::Verilate`] with Verilator's message. [`Error::VerilatorFailed`] if its output
    /// cannot be parsed.
    pub fn registers(&self, verilator: &Verilator, out: &Path) -> Result<Vec<Register>, Error> {
        let parameters = self.parameters.iter().map(|(name, value)| format!("-G{name}={value}"));
        let parameters: Vec<String> = parameters.collect();
        let description = self.describe(verilator, out, &parameters)?;
        with_tree(&description, |tree| registers(&Netlist::from_tree(tree)?))
            .ok_or_else(|| self.not_understood())
    }
}

/// The most levels of a type. Names of types that mean each other would have no end.
const DEEPEST: u32 = 500;

fn registers(netlist: &Netlist) -> Option<Vec<Register>> {
    let mut found = Vec::new();
    add_registers(netlist, &netlist.top, "", &BTreeMap::new(), &mut found)?;
    Some(found)
}

/// Adds the registers of a module and of all modules below it. `place` is the module's path with a
/// trailing dot, empty for the top. `nets` maps its outputs to the names of the nets that they
/// drive.
fn add_registers(
    netlist: &Netlist,
    module: &str,
    place: &str,
    nets: &BTreeMap<&str, String>,
    found: &mut Vec<Register>,
) -> Option<()> {
    let module = netlist.modules.get(module)?;
    let kept_as = |path: &str| nets.get(path).cloned().unwrap_or_else(|| format!("{place}{path}"));
    for path in module.assigned.difference(&module.initialized) {
        if let Some((width, dimensions)) = shape(&netlist.types, module.variables.get(path)?) {
            let (kept_as, path) = (kept_as(path), format!("{place}{path}"));
            found.push(Register { path, kept_as, width, dimensions });
        }
    }
    for instance in module.instances.iter().filter(|one| netlist.modules.contains_key(&one.module))
    {
        let kept = instance.outputs.iter().map(|output| {
            let net = output.net.as_ref().map(|net| kept_as(net));
            // Verilator creates a net with this name for an output that does not drive a whole net.
            let made = || format!("{place}__Vcellout__{}__{}", instance.path, output.pin);
            (output.port.as_str(), net.unwrap_or_else(made))
        });
        let below = format!("{place}{}.", instance.path);
        add_registers(netlist, &instance.module, &below, &kept.collect(), found)?;
    }
    Some(())
}

/// Width and unpacked dimensions of a type, or `None` if it does not consist of bits.
pub(crate) fn shape(types: &BTreeMap<String, Type>, id: &str) -> Option<(u32, Vec<(i64, i64)>)> {
    shape_within(types, id, DEEPEST)
}

fn shape_within(
    types: &BTreeMap<String, Type>,
    id: &str,
    depth: u32,
) -> Option<(u32, Vec<(i64, i64)>)> {
    let depth = depth.checked_sub(1)?;
    let shape = |types, id: &str| shape_within(types, id, depth);
    let widths = |members: &[String]| {
        members.iter().map(|id| Some(shape(types, id)?.0)).collect::<Option<Vec<u32>>>()
    };
    match types.get(id)? {
        Type::Bits(width) => Some((*width, Vec::new())),
        Type::Alias(id) => shape(types, id),
        Type::Struct(members) => {
            Some((widths(members)?.into_iter().try_fold(0, u32::checked_add)?, Vec::new()))
        }
        Type::Union(members) => Some((widths(members)?.into_iter().max()?, Vec::new())),
        Type::Packed(bounds, id) => {
            let (width, dimensions) = shape(types, id)?;
            let width = width.checked_mul(length(*bounds)?)?;
            dimensions.is_empty().then_some((width, dimensions))
        }
        Type::Unpacked(bounds, id) => {
            let (width, mut dimensions) = shape(types, id)?;
            dimensions.insert(0, *bounds);
            Some((width, dimensions))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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

    const TYPES: &str = r#"
package p;
  typedef enum logic [1:0] { A, B, C } state_t;
  typedef struct packed { logic [3:0] x; state_t s; logic y; } fields_t;
  typedef union packed { logic [6:0] bits; fields_t fields; } either_t;
  typedef logic [3:0][7:0] bytes_t;
endpackage
module leaf import p::*; (input clk, input [3:0] d, output fields_t q, output state_t s);
  always_ff @(posedge clk) begin q <= '{x: d, s: A, y: d[0]}; s <= q.s; end
endmodule
module t import p::*; (input clk, input [3:0] d, output logic [7:0] z);
  state_t state, net; either_t either; bytes_t bytes [2][3:-1];
  logic [-1:-4] below; longint long; real number; logic latch; logic [7:0] parts;
  struct packed { logic a; logic [2:0] b; } [1:0] structs;
  logic [3:0] loaded [0:1], shadow, never;
  initial $readmemh("loaded.hex", loaded);
  assign shadow = d;
  always_latch if (d[0]) latch = d[1];
  always_ff @(posedge clk) begin : process
    logic [3:0] never;
    never = d;
    state <= d[0] ? A : B; either.fields.s <= C; bytes[d[0]][d[1:0]][1] <= 8'(never);
    below[-2] <= d[0]; long <= 64'(d); number <= 1.0; structs[0].b <= d[2:0]; loaded[d[0]] <= d;
  end
  if (1) begin : outer
    fields_t q [1:0];
    leaf named (.clk, .d, .q(q[1]), .s(net));
    leaf open (.clk, .d, .q(), .s());
    for (genvar g = 0; g < 2; ++g) begin : inner
      logic shadow;
      always_ff @(posedge clk) begin shadow <= d[g]; parts[g] <= d[g]; end
    end
  end
  assign z = {net, 2'(state), never};
endmodule
"#;

    /// The registers of a design with top `t`, one per line.
    fn registers_in(text: &str, parameters: Vec<(String, String)>) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.sv");
        fs::write(&file, text).unwrap();
        let design =
            Design { top: "t".to_owned(), sources: vec![file], parameters, ..Design::default() };
        let verilator = Verilator::find().unwrap();
        let mut found = design.registers(&verilator, &folder.path().join("out")).unwrap();
        found.sort_by(|one, other| one.path.cmp(&other.path));
        let line = |register: &Register| {
            let Register { path, kept_as, width, dimensions } = register;
            format!("{path} {kept_as} {width} {dimensions:?}")
        };
        found.iter().map(line).collect()
    }

    #[test]
    fn registers_are_found_with_shape_and_path() {
        let expected = [
            "high high 1 []",
            "lane[0].r lane[0].r 4 []",
            "lane[1].r lane[1].r 4 []",
            "left left 8 []",
            "low low 1 []",
            "mem mem 8 [(0, 2), (1, 4)]",
            "part.q __Vcellout__part____pinNumber3 2 []",
            "whole.q net 2 []",
            "y y 8 []",
        ];
        assert_eq!(registers_in(DESIGN, vec![("DEPTH".to_owned(), "3".to_owned())]), expected);
    }

    #[test]
    fn types_and_generate_blocks_are_understood() {
        let expected = [
            "below below 4 []",
            "bytes bytes 32 [(0, 1), (-1, 3)]",
            "either either 7 []",
            "latch latch 1 []",
            "long long 64 []",
            "outer.inner[0].shadow outer.inner[0].shadow 1 []",
            "outer.inner[1].shadow outer.inner[1].shadow 1 []",
            "outer.named.q __Vcellout__outer.named__q 7 []",
            "outer.named.s net 2 []",
            "outer.open.q outer.open.q 7 []",
            "outer.open.s outer.open.s 2 []",
            "parts parts 8 []",
            "state state 2 []",
            "structs structs 8 []",
        ];
        assert_eq!(registers_in(TYPES, Vec::new()), expected);
    }
}
