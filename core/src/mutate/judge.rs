//! The formal judge of mutations that no case has found: does any input make them differ from the RTL?

use super::aig::{Aig, Interface, Question};
use super::mutation::Mutation;
use super::netlist::{Unknown, cut};
use super::report::Proof;
use super::yosys::{BASE, Workshop, abc};
use crate::error::Error;
use crate::harness::Block;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The netlist with mutations, flat; without memories; as an and-inverter graph.
const FILES: [&str; 3] = ["flat.il", "cut.il", "judge.aag"];
/// From a netlist without memories to a graph.
const TO_GRAPH: &str = "setundef -undriven -zero\ndffunmap\nopt_expr\nopt_clean\nsimplemap\ntechmap\n\
                        setundef -zero\nopt_expr\nopt_clean\naigmap\nopt_clean\nwrite_aiger -ascii -symbols";
/// Bits of memories that a search takes as registers, at most.
const MEMORY: u64 = 1 << 16;
/// The input that switches mutations on.
const SELECT: &str = "cosim_select";
/// Frames of the bounded search, and conflicts that a call of its solver may have.
const BOUNDED: [u32; 2] = [40, 20_000];
/// The same of a search with memories as they are, in which a frame is much larger.
const SEARCHED: [u32; 2] = [20, 5_000];
/// Frames of the proof.
const FRAMES: u32 = 500;
/// Seconds after which either is given up; limits on the work come first, so that verdicts are the same everywhere.
const SECONDS: u32 = 60;

/// What the judge says of a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It never makes a difference; how that was shown.
    Equivalent(Proof),
    /// Inputs that make a difference, if memories gave what the trace says: for each cycle behind the one in reset
    /// the names of the bits that are 1.
    Differs(Vec<Vec<String>>),
    /// Nothing was shown.
    Open(String),
}

/// An RTL with mutations, as the judge sees it.
#[derive(Debug)]
pub struct Judge<'a> {
    workshop: &'a Workshop,
    aig: Aig,
    reset: Option<(&'static str, bool)>,
    /// Numbers of mutations, and the values that switch them on.
    selected: BTreeMap<u32, u32>,
}

impl<'a> Judge<'a> {
    /// Reads the RTL with these mutations.
    ///
    /// # Errors
    /// The reason why it cannot be judged, or [`Error`] for what Yosys cannot do.
    pub fn new<B: Block>(
        workshop: &'a Workshop,
        mutations: &[Mutation],
    ) -> Result<Result<Self, String>, Error> {
        let [flat, cut_open, graph] = FILES;
        let width = (mutations.len() + 1).ilog2() + 1;
        let mut script = format!("read_ilang {BASE}\n");
        for (mutation, value) in mutations.iter().zip(1..) {
            let command = mutation.command();
            script += &format!("mutate -ctrl {SELECT} {width} {value} {command}\n");
        }
        script += &format!("flatten\nasync2sync\nopt_clean\nwrite_ilang {flat}\n");
        workshop.script(&script)?;
        let text = match cut(&workshop.text(flat)?, B::RTL.clock) {
            Ok(text) => text,
            Err(Unknown(what)) => return Ok(Err(what)),
        };
        workshop.write(cut_open, &text)?;
        workshop.script(&format!("read_ilang {cut_open}\n{TO_GRAPH} {graph}\n"))?;
        let Some(aig) = Aig::parse(&workshop.text(graph)?) else {
            return Ok(Err("its network has a loop without a register".to_owned()));
        };
        let selected = mutations.iter().map(|mutation| mutation.id).zip(1..).collect();
        let reset = B::RESET.map(|pin| pin.name_and_level());
        Ok(Ok(Self { workshop, aig, reset, selected }))
    }

    /// Judges a mutation by what can be seen at once; `None` if that does not do.
    pub fn at_once(&self, id: u32) -> Option<Ruling> {
        match self.question(id, &self.aig, false) {
            Question::Same => Some(Ruling::Equivalent(Proof::Structure)),
            Question::Open { .. } => None,
        }
    }

    /// Judges mutations, so many at a time. Memories are cut out.
    ///
    /// # Errors
    /// [`Error::Environment`] if there is no ABC; [`Error::Interrupted`].
    pub fn all(&self, ids: &[u32], threads: usize) -> Result<BTreeMap<u32, Ruling>, Error> {
        each(ids, threads, |id| {
            let [frames, conflicts] = BOUNDED;
            let engines = format!(
                "bmc3 -F {frames} -C {conflicts} -T {SECONDS}; scorr; dc2; pdr -F {FRAMES} -T {SECONDS}"
            );
            self.judge(id, &self.aig, false, &engines)
        })
    }

    /// Searches for differences with memories as they are: registers, many of them. It proves nothing.
    ///
    /// # Errors
    /// As [`Judge::all`].
    pub fn search(&self, ids: &[u32], threads: usize) -> Result<BTreeMap<u32, Ruling>, Error> {
        let open = |because: &str| {
            Ok(ids.iter().map(|id| (*id, Ruling::Open(because.to_owned()))).collect())
        };
        let [flat, _, graph] = FILES;
        if memory_bits(&self.workshop.text(flat)?) > MEMORY {
            return open("its memories are too large to be searched");
        }
        self.workshop.script(&format!(
            "read_ilang {flat}\nmemory_collect\nmemory_map\nopt_clean\n{TO_GRAPH} {graph}\n"
        ))?;
        let Some(aig) = Aig::parse(&self.workshop.text(graph)?) else {
            return open("its network has a loop without a register");
        };
        each(ids, threads, |id| {
            let [frames, conflicts] = SEARCHED;
            let engine = format!("bmc3 -F {frames} -C {conflicts} -T {SECONDS}");
            Ok(match self.judge(id, &aig, true, &engine)? {
                Ruling::Equivalent(_) | Ruling::Open(_) => Ruling::Open(format!(
                    "with memories as they are no difference was found in {frames} cycles, and no proof"
                )),
                differs => differs,
            })
        })
    }

    fn question(&self, id: u32, aig: &Aig, filled: bool) -> Question {
        let interface = Interface {
            reset: self.reset,
            filled,
            select: SELECT,
            read: "cosim_read_",
            write: ["cosim_enable_", "cosim_data_", "cosim_address_"],
        };
        aig.question(&interface, self.selected.get(&id).copied().unwrap_or(0))
    }

    fn judge(&self, id: u32, aig: &Aig, filled: bool, engines: &str) -> Result<Ruling, Error> {
        let (file, inputs) = match self.question(id, aig, filled) {
            Question::Same => return Ok(Ruling::Equivalent(Proof::Structure)),
            Question::Open { file, inputs } => (file, inputs),
        };
        let [name, trace] = ["aig", "trace"].map(|ending| format!("question-{id}.{ending}"));
        let [path, trace] = [name, trace].map(|name| self.workshop.path(&name));
        fs::write(&path, file).map_err(Error::write(&path))?;
        let said = abc(&format!(
            "read_aiger {0}; {engines}; print_status; write_cex -a {1}",
            path.display(),
            trace.display()
        ))?;
        let _ = fs::remove_file(&path);
        let status = said
            .lines()
            .rev()
            .find_map(|line| line.split_once("Status =")?.1.split_whitespace().next());
        Ok(match status {
            Some("1") => Ruling::Equivalent(Proof::Induction),
            Some("0") => {
                let text = fs::read_to_string(&trace)
                    .map_err(|error| Error::unreadable(&trace, &error))?;
                let _ = fs::remove_file(&trace);
                match read_trace(&text, &inputs) {
                    Some(cycles) => Ruling::Differs(cycles),
                    None => Ruling::Open("ABC's trace is not understood".to_owned()),
                }
            }
            _ => Ruling::Open("neither a difference nor a proof was found".to_owned()),
        })
    }
}

/// Asks for each of some mutations, so many at a time.
fn each(
    ids: &[u32],
    threads: usize,
    ask: impl Fn(u32) -> Result<Ruling, Error> + Sync,
) -> Result<BTreeMap<u32, Ruling>, Error> {
    let next = AtomicUsize::new(0);
    let rulings = Mutex::new(BTreeMap::new());
    let work = || -> Result<(), Error> {
        while let Some(id) = ids.get(next.fetch_add(1, Ordering::Relaxed)) {
            let ruling = ask(*id)?;
            if let Ok(mut rulings) = rulings.lock() {
                rulings.insert(*id, ruling);
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let hands: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let lost = || Err(Error::Environment("a thread of the judge is gone".to_owned()));
        hands.into_iter().try_for_each(|hand| hand.join().unwrap_or_else(|_| lost()))
    })?;
    Ok(rulings.into_inner().unwrap_or_default())
}

/// Bits of the memories of a flat netlist.
fn memory_bits(netlist: &str) -> u64 {
    let memories = netlist.lines().filter_map(|line| line.trim().strip_prefix("memory "));
    let bits = |memory: &str| {
        let words: Vec<&str> = memory.split(' ').collect();
        let number = |name: &str| {
            let place = words.iter().position(|word| *word == name)?;
            words.get(place + 1)?.parse::<u64>().ok()
        };
        number("width").unwrap_or(1) * number("size").unwrap_or(0)
    };
    memories.map(bits).sum()
}

/// The bits that are 1 in each cycle behind the one in reset; `None` if it is no trace.
fn read_trace(text: &str, inputs: &[String]) -> Option<Vec<Vec<String>>> {
    // First what registers begin with, then a line for each cycle, the one in reset first.
    let mut rows = text.lines().map(|line| line.split(['#', ' ']).next().unwrap_or_default());
    rows.next()?;
    let row = |row: &str| -> Option<Vec<String>> {
        let bits = row.bytes().zip(inputs).filter(|(bit, _)| *bit == b'1');
        (row.len() == inputs.len()).then(|| bits.map(|(_, name)| name.clone()).collect())
    };
    rows.filter(|text| !text.is_empty()).skip(1).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As ABC writes it.
    #[test]
    fn a_trace_begins_behind_the_cycle_in_reset() {
        let inputs = ["rst", "a[0]", "a[1]"].map(str::to_owned);
        let text = "000000\n100\n010\n011# DONE\n";
        let expected: [&[&str]; 2] = [&["a[0]"], &["a[0]", "a[1]"]];
        assert_eq!(read_trace(text, &inputs).unwrap(), expected);
        assert_eq!(read_trace("0\n1000\n0000\n", &inputs), None);
    }
}
