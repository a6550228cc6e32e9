//! Builds the model that contains all mutations of an RTL.

use super::netlist::{Woven, weave};
use cosim_base::error::{Error, codes};
use cosim_formal::cut::{enabled, fixed};
use cosim_formal::rtlil::Unknown;
use cosim_formats::mutation::Mutation;
use cosim_harness::harness::{BlockInfo, Parameters};
use cosim_rtl::answers::Answers;
use cosim_rtl::models::{Built, Pragmas, Rtl, kept, ports, verilator};
use cosim_rtl::yosys::YosysSession;
use std::path::PathBuf;
use verilated_build::{Design, Kept, LibraryCache, SourceFile};

/// The netlist of the RTL.
pub const BASE: &str = "base.il";
/// From what was read to a netlist that means the same to whoever reads it. Assertions are no part of the design.
/// What is unknown is 0, also what lies beyond a signal that is indexed (`$shiftx`): Yosys and Verilator each
/// choose a value of their own.
const TO_NETLIST: &str = "proc\nopt_clean\nchformal -remove\nchtype -set $shift t:$shiftx\n\
                          setundef -undriven -zero\ncheck";
/// What is chosen, one command of Yosys a line.
const LIST: &str = "list.txt";
/// The netlist with all mutations.
const WOVEN: &str = "woven.il";
/// Mutations that Yosys is asked for beyond what is wanted, at least.
const SPARE: u32 = 8;
/// The RTL with one mutation.
const ONE: &str = "one.v";
/// What is compiled.
const SOURCE: &str = "mutated.sv";

/// An RTL with one set of parameters, and the mutations that were chosen in it.
#[derive(Debug)]
pub struct Mutants {
    /// Where Yosys works on it.
    pub workshop: YosysSession,
    /// The parameters.
    pub parameters: Parameters,
    /// The mutations; the one with the number 1 comes first.
    pub mutations: Vec<Mutation>,
}

impl Mutants {
    /// Chooses mutations over the whole design, as `seed` says.
    ///
    /// # Errors
    /// As [`YosysSession::read`].
    pub fn choose(
        info: &'static BlockInfo,
        rtl: &Rtl,
        parameters: &Parameters,
        mutations: u32,
        seed: u64,
    ) -> Result<Self, Error> {
        let known = rtl.examined(info)?;
        let values = info.verilog(parameters, &known.parameters);
        let workshop = YosysSession::new(&known, Pragmas::Ignored)?;
        begin(&workshop, &values)?;
        let mutations = chosen(&workshop, mutations, seed)?;
        Ok(Self { workshop, parameters: *parameters, mutations })
    }

    /// The same with a judge that asks nothing that `answers` has.
    #[must_use]
    pub fn with_answers(self, answers: Answers) -> Self {
        Self { workshop: self.workshop.with_answers(answers), ..self }
    }

    /// The RTL with one mutation in it, as Yosys puts it in and writes it.
    ///
    /// # Errors
    /// As [`YosysSession::script`].
    pub fn rtl_with(&self, mutation: &Mutation) -> Result<String, Error> {
        let command = mutation.command();
        self.workshop.script(&format!(
            "read_ilang {BASE}\nmutate {command}\nwrite_verilog -noattr {ONE}\n"
        ))?;
        self.workshop.text(ONE)
    }

    /// Builds a model with these mutations in it, unless it is among the kept ones; it is not loaded.
    ///
    /// # Errors
    /// [`Error::Environment`] if the netlist is none that is understood; as [`Rtl::build`].
    pub fn build(&self, info: &'static BlockInfo, mutations: &[Mutation]) -> Result<Built, Error> {
        let top = info.rtl.top;
        let base = self.workshop.text(BASE)?;
        let Woven { netlist, modules } =
            weave(&base, top, mutations).map_err(|Unknown(what)| {
                Error::Environment(
                    codes::NETLIST_NOT_UNDERSTOOD,
                    format!(
                        "cannot parse the netlist of Yosys: {what}; use the version of Yosys \
                         that docs/gates.md names"
                    ),
                )
            })?;
        self.workshop.write(WOVEN, &netlist)?;
        // A package comes before what uses it.
        let text = format!("{modules}\n{}", self.workshop.verilog(WOVEN)?);
        selectable(info, &text, Design::default(), kept()?)
    }
}

/// Builds a model of a text with mutations, each switched on by its number, unless it is among the kept ones; it is not
/// loaded. `design` says what is to be done otherwise than usual.
///
/// # Errors
/// As [`Rtl::build`].
fn selectable(
    info: &'static BlockInfo,
    text: &str,
    design: Design,
    kept: Kept,
) -> Result<Built, Error> {
    let name = PathBuf::from(SOURCE);
    let files = [SourceFile { name: name.clone(), text: text.as_bytes().into() }];
    let design = Design {
        top: info.rtl.top.to_owned(),
        clock: info.rtl.clock.into(),
        sources: vec![name],
        prefix: "Vmodel".to_owned(),
        registered: true,
        ..design
    };
    let cache = LibraryCache::new(verilator()?, cosim_rtl::models::TARGET, kept);
    let library = cache.library(&design, &files, Some(&ports(info)))?;
    Ok(Built::from(&library))
}

/// Builds a model of a text in which bugs can be switched on, to be compiled quickly and to run some cases; does not
/// load it.
///
/// # Errors
/// As [`Rtl::build`].
pub fn woven_model(
    info: &'static BlockInfo,
    parameters: &Parameters,
    text: &str,
    kept: Kept,
) -> Result<Built, Error> {
    let parameters = parameters.verilog(info.rtl.mask_parameter);
    selectable(info, text, Design { parameters, quick: true, ..Design::default() }, kept)
}

/// Builds a model of a netlist in Verilog, to run a few cases; does not load it.
///
/// # Errors
/// As [`Rtl::build`].
pub fn netlist_model(info: &'static BlockInfo, netlist: &str) -> Result<Built, Error> {
    selectable(info, netlist, Design { quick: true, ..Design::default() }, kept()?)
}

/// Lets Yosys read the RTL: its netlist is in [`BASE`].
///
/// # Errors
/// As [`YosysSession::read`].
pub fn begin(workshop: &YosysSession, parameters: &[(String, String)]) -> Result<(), Error> {
    let base = workshop.path(BASE);
    workshop.read(parameters, &format!("{TO_NETLIST}\nwrite_ilang \"{}\"", base.display()))?;
    workshop.write(BASE, &enabled(&workshop.text(BASE)?))
}

/// Yosys's choice of mutations: its commands, without a selector.
fn choose(workshop: &YosysSession, mutations: u32, seed: u64) -> Result<String, Error> {
    // What it takes is an `int`.
    let seed = seed % i32::MAX as u64;
    workshop
        .script(&format!("read_ilang {BASE}\nmutate -list {mutations} -seed {seed} -o {LIST}\n"))?;
    workshop.text(LIST)
}

/// So many mutations over the whole design, as `seed` says, numbered from 1.
///
/// # Errors
/// As [`YosysSession::script`].
pub fn chosen(workshop: &YosysSession, mutations: u32, seed: u64) -> Result<Vec<Mutation>, Error> {
    let typed = |place: &str| workshop.typed(place);
    // Some are left out.
    let list = choose(workshop, mutations + mutations / 8 + SPARE, seed)?;
    let base = workshop.text(BASE)?;
    let fixed = fixed(&base);
    let parse = |line: &str| {
        Mutation::parse(0, line, &typed).ok_or_else(|| {
            Error::Environment(
                codes::NETLIST_NOT_UNDERSTOOD,
                format!(
                    "cannot parse a mutation that Yosys lists: `{line}`; use the version of \
                     Yosys that docs/gates.md names"
                ),
            )
        })
    };
    let lines = list.lines().filter(|line| !line.trim().is_empty());
    let mut all = lines.map(parse).collect::<Result<Vec<Mutation>, Error>>()?;
    all.retain(|Mutation { module, cell, port, .. }| {
        !fixed.contains(&(module.as_str(), cell.as_str(), port.as_str()))
    });
    all.truncate(mutations as usize);
    let numbered = |(mutation, id)| Mutation { id, ..mutation };
    Ok(all.into_iter().zip(1..).map(numbered).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Yosys asserts that ports of a memory which follow one another have one clock, and ends itself if not.
    #[test]
    fn a_memory_that_is_written_twice_can_be_written_with_all_its_mutations() {
        let workshop = YosysSession::of_verilog(
            "module top(input clk, input [1:0] a, b, input v, w, output [1:0] y);
             reg [1:0] m [0:3];
             always @(posedge clk) begin if (v) m[a] <= b; if (w) m[b] <= a; end
             assign y = m[a];
             endmodule",
        );
        begin(&workshop, &[]).unwrap();
        let mutations = chosen(&workshop, 1000, 1).unwrap();
        assert!(mutations.iter().any(|mutation| mutation.port == "ADDR"));
        let base = workshop.text(BASE).unwrap();
        workshop.write("all.il", &weave(&base, "top", &mutations).unwrap().netlist).unwrap();
        workshop.script("read_ilang all.il\nwrite_verilog -noattr all.v\n").unwrap();
        assert!(workshop.text("all.v").unwrap().contains("cosim_mutation"));
    }
}
