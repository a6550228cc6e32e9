//! Synthesises RTL with Yosys: a netlist of generic gates in Verilog that replaces the RTL.
//!
//! Simulation and synthesis can interpret a construct differently. A passing regression then says
//! nothing about the chip. `docs/how-to/gates.md` lists such constructs.

use crate::models::{Examined, FileRead, Pragmas, PreprocessedRtl};
use crate::rtlil;
use crate::yosys::{YosysSession, version};
use cosim_base::error::{Error, codes};
use cosim_harness::harness::{BlockInfo, Parameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::path::Path;
use verilated_build::{Design, Kept, SourceFile};
use verilated_files::{Hash, KeptFile};

/// The Yosys commands for synthesis. They keep the codes of the state machine, so that the state
/// register keeps its meaning. They keep memories, as a RAM compiler would, and remove assertions.
const SYNTHESIS: &str = "chformal -remove\nsynth -nofsm -flatten -run begin:fine\nopt -fast -full\n\
                         opt -undriven -fine\nopt -full\ntechmap\nopt -fast\nabc -fast\nopt -fast\nclean";
/// The files that Yosys writes: RTLIL, Verilog, and the longest path.
const WRITTEN: [&str; 3] = ["gates.il", "gates.v", "depth.txt"];
/// The folder of the netlist, as simulators see it.
const FOLDER: &str = "@netlist";
/// Prefix of the first line of a cached netlist, which holds the area.
const MARK: &str = "// cosim ";

/// The size of a netlist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Area {
    /// Number of cells, including registers but not memories.
    pub cells: u64,
    /// Number of flip-flops.
    pub flip_flops: u64,
    /// Number of latches.
    pub latches: u64,
    /// Total bits of memories.
    pub memory_bits: u64,
    /// Number of cells on the longest combinational path.
    pub depth: u64,
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cells, flip_flops, latches, memory_bits, depth } = self;
        write!(f, "{cells} cells, {flip_flops} of them flip-flops")?;
        if *latches > 0 {
            write!(f, " and {latches} {}", if *latches == 1 { "latch" } else { "latches" })?;
        }
        if *memory_bits > 0 {
            write!(f, ", {memory_bits} bits of memory")?;
        }
        write!(f, ", depth {depth}")
    }
}

/// A netlist.
#[derive(Debug, Clone)]
pub struct Netlist {
    /// The size of the netlist.
    pub area: Area,
    top: String,
    text: String,
    identity: String,
}

/// Synthesises an RTL with these parameters, or finds the netlist in the cache.
///
/// # Errors
/// [`Error::Environment`] if Yosys is missing or cannot read the RTL.
pub fn netlist(
    info: &'static BlockInfo,
    examined: &Examined,
    parameters: &Parameters,
    kept: &Kept,
) -> Result<Netlist, Error> {
    let values = info.verilog(parameters, &examined.parameters);
    let top = &examined.design.top;
    let version = version()?;
    let mut hash = Hash::default();
    hash.add(&version);
    hash.add(SYNTHESIS);
    hash.add(format!("{top} {values:?}"));
    // The key covers exactly what Yosys reads.
    let PreprocessedRtl { libraries, sources, .. } = &*examined.expanded(Pragmas::Obeyed)?;
    for texts in [libraries, sources] {
        hash.add(texts.len().to_le_bytes());
        texts.iter().for_each(|text| hash.add(text));
    }
    for file in &examined.design.data {
        hash.add(&file.name);
        hash.add(file.text.as_deref().unwrap_or_default());
    }
    let words: Vec<String> =
        values.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let about = format!("netlist of {top}{}, {version}", words.concat());
    let name = format!("{top}-{}.v", hash.hex());
    let kept: KeptFile = kept.obtain(&name, &about, |_, result| {
        let text = synthesise(examined, &values)?;
        fs::write(result, text).map_err(Error::write(result))
    })?;
    let path = kept.path().to_owned();
    let wrong = |message: &str| Error::File {
        code: codes::DAMAGED,
        path: path.clone(),
        message: message.to_owned(),
    };
    let text = fs::read_to_string(&path).map_err(|error| Error::unreadable(&path, &error))?;
    let (first, _) = text.split_once('\n').ok_or_else(|| wrong("is not a netlist"))?;
    let area = first.strip_prefix(MARK).and_then(|area| serde_json::from_str(area).ok());
    let area = area.ok_or_else(|| wrong("is a netlist without recorded area"))?;
    Ok(Netlist { area, top: top.clone(), text, identity: examined.identity.clone() })
}

impl Netlist {
    /// The netlist in place of its RTL: one file without parameters.
    pub fn examined(self) -> Examined {
        let name = Path::new(FOLDER).join(format!("{}.v", self.top));
        let mut examined = Examined::default();
        examined.identity = self.identity;
        examined.files = vec![FileRead { path: format!("{}.v", self.top), built_in: true }];
        examined.design =
            Design { top: self.top, sources: vec![name.clone()], ..Design::default() };
        examined.texts = vec![SourceFile { name, text: self.text.into_bytes().into() }];
        examined
    }
}

/// The netlist in Verilog, with its area in the first line.
fn synthesise(examined: &Examined, parameters: &[(String, String)]) -> Result<String, Error> {
    let session = YosysSession::new(examined, Pragmas::Obeyed)?;
    gates(&session, parameters)
}

fn gates(session: &YosysSession, parameters: &[(String, String)]) -> Result<String, Error> {
    let [il, verilog, depth] = WRITTEN;
    let at = |name: &str| format!("\"{}\"", session.path(name).display());
    session.read(
        parameters,
        &format!("{SYNTHESIS}\nwrite_rtlil {}\nwrite_verilog -noattr {}", at(il), at(verilog)),
    )?;
    session.script(&format!("read_rtlil {il}\ntee -q -o {depth} ltp -noff\n"))?;
    let mut area = area(&session.text(il)?);
    area.depth = depth_of(&session.text(depth)?).unwrap_or(0);
    let area = serde_json::to_string(&area)
        .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
    // The header names the version of Yosys, which differs between machines.
    let text = session.text(verilog)?;
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with("/*")).collect();
    Ok(format!("{MARK}{area}\n{}\n", text.join("\n")))
}

/// The size of a flat netlist.
fn area(netlist: &str) -> Area {
    let mut area = Area::default();
    for cell in rtlil::parts(netlist).0 {
        let kind = cell.kind;
        if kind.starts_with("$mem") {
            let value = |name| cell.parameter(name).and_then(rtlil::number).unwrap_or(0);
            area.memory_bits += value("\\SIZE") * value("\\WIDTH");
            continue;
        }
        area.cells += 1;
        let is = |kinds: &[&str]| kinds.iter().any(|known| kind.starts_with(known));
        area.flip_flops += u64::from(is(&["$_DFF", "$_SDFF", "$_ALDFF", "$_FF_"]));
        area.latches += u64::from(is(&["$_DLATCH", "$_SR_"]));
    }
    area
}

/// The length of the longest path, from the output of `ltp`.
fn depth_of(printed: &str) -> Option<u64> {
    printed.split_once("(length=")?.1.split_once(')')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_netlist_is_counted() {
        let session = YosysSession::of_verilog(
            "module top(input clk, input [1:0] a, input [3:0] d, output reg [3:0] q, output [3:0] r, output reg l);
             reg [3:0] memory [0:3];
             always @(posedge clk) begin q <= d; memory[a] <= d; end
             always @* if (a[0]) l = d[0];
             assign r = memory[a];
             endmodule",
        );
        let text = gates(&session, &[]).unwrap();
        let area = text.lines().next().unwrap().strip_prefix(MARK).unwrap();
        let Area { cells, flip_flops, latches, memory_bits, .. } =
            serde_json::from_str(area).unwrap();
        assert_eq!((flip_flops, latches, memory_bits), (4, 1, 16), "{text}");
        assert_eq!(cells, 5, "{text}");
        assert!(text.contains("module top"), "{text}");
    }

    #[test]
    fn the_longest_path_is_read() {
        assert_eq!(
            depth_of("\nLongest topological path in top (length=61):\n    0: \\a\n"),
            Some(61)
        );
        assert_eq!(depth_of("nothing"), None);
    }

    #[test]
    fn an_area_is_printed_in_words() {
        let area = Area { cells: 9, flip_flops: 2, depth: 3, ..Area::default() };
        assert_eq!(area.to_string(), "9 cells, 2 of them flip-flops, depth 3");
        let area = Area { latches: 1, memory_bits: 16, ..area };
        assert_eq!(
            area.to_string(),
            "9 cells, 2 of them flip-flops and 1 latch, 16 bits of memory, depth 3"
        );
    }
}
