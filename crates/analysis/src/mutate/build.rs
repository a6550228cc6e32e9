//! Builds the model that contains all mutations of an RTL.

use super::netlist::{Woven, weave};
use cosim_base::error::{Error, codes};
use cosim_block::built::Built;
use cosim_block::rtl::Rtl;
use cosim_formal::cut::{enabled, fixed};
use cosim_formats::mutation::{ChangedLines, Mutation, Source};
use cosim_harness::harness::{BlockInfo, Parameters};
use cosim_rtl::answers::Answers;
use cosim_rtl::backend::RtlModels as _;
use cosim_rtl::models::{model_cache, ports, verilator};
use cosim_rtl::rtlil::{Line, Unknown};
use cosim_rtl::yosys::YosysSession;
use std::collections::BTreeSet;
use std::path::PathBuf;
use verilated_build::{Design, LibraryCache, SourceFile};

/// The netlist of the RTL.
pub const BASE: &str = "base.il";
/// Yosys commands that convert the RTL to a netlist. They remove assertions and replace unknown
/// bits with 0, also those beyond an indexed signal (`$shiftx`), because Yosys and Verilator would
/// choose different values.
const TO_NETLIST: &str = "proc\nopt_clean\nchformal -remove\nchtype -set $shift t:$shiftx\n\
                          setundef -undriven -zero";
/// The chosen mutations, one Yosys command per line.
const LIST: &str = "list.txt";
/// The netlist with all mutations.
const WOVEN: &str = "woven.il";
/// Minimum number of extra mutations requested from Yosys at first, because some are discarded.
const SPARE: u32 = 8;
/// The RTL with one mutation.
const ONE: &str = "one.v";
/// The source file of the model.
const SOURCE: &str = "mutated.sv";

/// An RTL with one set of parameters, and the mutations chosen in it.
#[derive(Debug)]
pub struct Mutants {
    pub session: YosysSession,
    pub parameters: Parameters,
    /// The mutations, numbered from 1.
    pub mutations: Vec<Mutation>,
}

impl Mutants {
    /// Chooses mutations over the whole design or in some lines, using `seed`.
    pub fn choose(
        info: &'static BlockInfo,
        rtl: &Rtl,
        parameters: &Parameters,
        mutations: u32,
        seed: u64,
        within: Option<&ChangedLines>,
    ) -> Result<Self, Error> {
        let known = rtl.examined(info)?;
        let values = info.verilog(parameters, &known.parameters);
        let session = YosysSession::new(&known)?;
        write_base_netlist(&session, &values)?;
        let mutations = chosen(&session, mutations, seed, within)?;
        Ok(Self { session, parameters: *parameters, mutations })
    }

    #[must_use]
    pub fn with_answers(self, answers: Answers) -> Self {
        Self { session: self.session.with_answers(answers), ..self }
    }

    /// The RTL with one mutation, as Yosys inserts and writes it.
    pub fn rtl_with(&self, mutation: &Mutation) -> Result<String, Error> {
        let command = mutation.command();
        self.session.script(&format!(
            "read_rtlil {BASE}\nmutate {command}\nwrite_verilog -noattr {ONE}\n"
        ))?;
        self.session.text(ONE)
    }

    /// Builds a model with these mutations, unless it is cached. Does not load it.
    ///
    /// # Errors
    /// [`Error::Environment`] if the netlist cannot be parsed. As [`Rtl::build`].
    pub fn build(&self, info: &'static BlockInfo, mutations: &[Mutation]) -> Result<Built, Error> {
        let top = info.rtl.top;
        let base = self.session.text(BASE)?;
        let Woven { netlist, modules } =
            weave(&base, top, mutations).map_err(|Unknown(what)| {
                Error::Environment(
                    codes::NETLIST_NOT_UNDERSTOOD,
                    format!(
                        "cannot parse the netlist of Yosys: {what}; use the version of Yosys \
                         that docs/how-to/proof.md names"
                    ),
                )
            })?;
        self.session.write(WOVEN, &netlist)?;
        // The package must precede its uses.
        let text = format!("{modules}\n{}", self.session.verilog(WOVEN)?);
        let name = PathBuf::from(SOURCE);
        let files = [SourceFile { name: name.clone(), text: text.as_bytes().into() }];
        let design = Design {
            top: top.to_owned(),
            clock: info.rtl.clock.into(),
            sources: vec![name],
            prefix: "Vmodel".to_owned(),
            registered: true,
            ..Design::default()
        };
        let cache = LibraryCache::new(verilator()?, cosim_rtl::models::TARGET, model_cache()?);
        let library = cache.library(&design, &files, Some(&ports(info)))?;
        Ok(Built::library(&library))
    }
}

/// Reads the RTL with Yosys and writes its netlist to [`BASE`].
pub fn write_base_netlist(
    session: &YosysSession,
    parameters: &[(String, String)],
) -> Result<(), Error> {
    let base = session.path(BASE);
    session.read(parameters, &format!("{TO_NETLIST}\nwrite_rtlil \"{}\"", base.display()))?;
    session.write(BASE, &enabled(&session.text(BASE)?))
}

/// Lets Yosys choose mutations, of these places if any are given. Returns one command per line,
/// without a selector. A wrapper is left out: a mutant of its lines says nothing about the RTL
/// inside.
fn choose(
    session: &YosysSession,
    mutations: u32,
    seed: u64,
    places: &[&str],
) -> Result<String, Error> {
    // Yosys parses the seed as an `int`.
    let seed = seed % i32::MAX as u64;
    let inside = match session.wrapper() {
        Some(wrapper) => format!(" * {wrapper} %d"),
        None => String::new(),
    };
    let places: String = places.iter().map(|place| format!(" -src {place}")).collect();
    session.script(&format!(
        "read_rtlil {BASE}\nmutate -list {mutations} -seed {seed} -o {LIST}{places}{inside}\n"
    ))?;
    session.text(LIST)
}

/// Whether a letter means nothing else in a script of Yosys.
fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || "@/._-:+\u{a0}".contains(letter)
}

/// The places of cells that have a changed line. Yosys takes them as words of a script, so a place
/// in a file with another name is left out.
fn places_within<'a>(
    netlist: &'a str,
    within: &ChangedLines,
    typed: &impl Fn(&str) -> String,
) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut place = "";
    for line in netlist.lines() {
        match Line::parse_line(line) {
            Line::Attribute { name: "\\src", value } => place = value.trim_matches('"'),
            Line::Attribute { .. } => {}
            Line::Cell { .. } => {
                let is_word = |part: &&str| part.chars().all(is_of_word);
                let parts = std::mem::take(&mut place).split('|').filter(is_word);
                found.extend(parts.filter(|part| {
                    Source::parse(part, typed).iter().any(|source| within.contains(source))
                }));
            }
            _ => place = "",
        }
    }
    found
}

/// Chooses up to `mutations` mutations over the whole design or in some lines, numbered from 1.
pub fn chosen(
    session: &YosysSession,
    mutations: u32,
    seed: u64,
    within: Option<&ChangedLines>,
) -> Result<Vec<Mutation>, Error> {
    let typed = |place: &str| session.typed(place);
    let base = session.text(BASE)?;
    let mut places = Vec::new();
    if let Some(within) = within {
        places.extend(places_within(&base, within, &typed));
        if places.is_empty() {
            return Ok(Vec::new());
        }
    }
    let fixed = fixed(&base);
    let parse = |line: &str| {
        Mutation::parse(0, line, &typed).ok_or_else(|| {
            Error::Environment(
                codes::NETLIST_NOT_UNDERSTOOD,
                format!(
                    "cannot parse a mutation that Yosys lists: `{line}`; use the version of \
                     Yosys that docs/how-to/proof.md names"
                ),
            )
        })
    };
    let mut requested = mutations.saturating_add(mutations / 8).saturating_add(SPARE);
    let mut all = loop {
        let list = choose(session, requested, seed, &places)?;
        let lines = list.lines().filter(|line| !line.trim().is_empty());
        let mut all = lines.map(parse).collect::<Result<Vec<Mutation>, Error>>()?;
        let listed = all.len();
        all.retain(|Mutation { module, cell, port, .. }| {
            !fixed.contains(&(module.as_str(), cell.as_str(), port.as_str()))
        });
        // Fewer than asked for are all that there are.
        if all.len() >= mutations as usize || listed < requested as usize {
            break all;
        }
        requested = requested.saturating_mul(2);
    };
    all.truncate(mutations as usize);
    let numbered = |(mutation, id)| Mutation { id, ..mutation };
    Ok(all.into_iter().zip(1..).map(numbered).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file names are data of others: none of them ends a command of the script.
    #[test]
    fn mutations_are_restricted_to_changed_lines_in_files_with_plain_names() {
        let netlist = "module \\top\n  attribute \\src \"a b;!x.v:3.1-3.4|a.v:3.1-3.4|a.v:9.1-30.2\"\n  \
                       cell $and $and$1\n    connect \\A \\a\n  end\n  attribute \\src \"a.v:4.1\"\n  \
                       wire \\w\n  cell $not $2\n  end\nend\n";
        let lines = ["a b;!x.v:3", "a.v:3", "a.v:4", "a.v:10"].map(str::to_owned).into();
        let within = ChangedLines { old: String::new(), lines };
        let found = places_within(netlist, &within, &str::to_owned);
        // A place of many lines is the process of a register, and a wire is no cell.
        assert_eq!(found, BTreeSet::from(["a.v:3.1-3.4"]));
    }

    /// Half of the netlist's ports are clocks. The others are still found.
    #[test]
    fn no_mutation_is_at_a_clock_and_the_wanted_number_is_elsewhere() {
        let session = YosysSession::from_verilog(
            "module part(input c, input d, output reg q);
             always @(posedge c) q <= d;
             endmodule
             module top(input clk, input [7:0] a, output [7:0] y);
             wire k = ~clk;
             genvar i;
             for (i = 0; i < 8; i = i + 1) part p (.c(i < 4 ? clk : k), .d(a[i]), .q(y[i]));
             endmodule",
        );
        write_base_netlist(&session, &[]).unwrap();
        let all = chosen(&session, 10_000, 1, None).unwrap();
        let carries_clock = |mutation: &Mutation| {
            ["CLK", "c"].contains(&mutation.port.as_str()) || mutation.cell.contains("not")
        };
        let at_clocks: Vec<String> =
            all.iter().filter(|mutation| carries_clock(mutation)).map(Mutation::words).collect();
        assert_eq!(at_clocks, Vec::<String>::new());
        for port in ["D", "Q", "d", "q"] {
            assert!(all.iter().any(|mutation| mutation.port == port), "none is at {port}");
        }
        // However few are asked for, so many there are, with ids without gaps.
        for count in [1, all.len() / 2, all.len() - 1, all.len()] {
            let some = chosen(&session, count as u32, 1, None).unwrap();
            let ids: Vec<u32> = some.iter().map(|mutation| mutation.id).collect();
            assert_eq!(ids, (1..=count as u32).collect::<Vec<_>>());
        }
    }

    /// Yosys aborts if adjacent ports of a memory have different clocks.
    #[test]
    fn a_memory_that_is_written_twice_can_be_written_with_all_its_mutations() {
        let session = YosysSession::from_verilog(
            "module top(input clk, input [1:0] a, b, input v, w, output [1:0] y);
             reg [1:0] m [0:3];
             always @(posedge clk) begin if (v) m[a] <= b; if (w) m[b] <= a; end
             assign y = m[a];
             endmodule",
        );
        write_base_netlist(&session, &[]).unwrap();
        let mutations = chosen(&session, 1000, 1, None).unwrap();
        assert!(mutations.iter().any(|mutation| mutation.port == "ADDR"));
        let base = session.text(BASE).unwrap();
        session.write("all.il", &weave(&base, "top", &mutations).unwrap().netlist).unwrap();
        session.script("read_rtlil all.il\nwrite_verilog -noattr all.v\n").unwrap();
        assert!(session.text("all.v").unwrap().contains("cosim_mutation"));
    }
}
