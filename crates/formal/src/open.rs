//! What keeps a query open: the registers of a state in which an induction begins and fails. No
//! cycle may ever reach the state, but nothing that is known says so.

use crate::answer::NamedQuery;
use crate::certificate::cnf::Cnf;
use crate::certificate::network::Network;
use crate::certificate::solver::{Solved, Solver};
use cosim_aig::EquivalenceQuery;
use cosim_base::error::Error;
use cosim_rtl::yosys::YosysSession;
use std::collections::{BTreeMap, BTreeSet};

const CYCLES: usize = 2;
const NAMED: usize = 4;

/// A bit that may be unknown.
type Bit = Option<bool>;

/// A course of a network: the output is 1 in the last of its cycles, and in no other.
struct Course<'a> {
    network: &'a Network,
    state: Vec<Bit>,
    inputs: Vec<Vec<Bit>>,
}

/// What keeps a query open, and what to try, if that is known. `words` is the `-vmap` file of
/// the graph.
///
/// # Errors
/// [`Error::Interrupted`], or a file cannot be written.
pub fn because(
    session: &YosysSession,
    named_query: &NamedQuery,
    words: &str,
) -> Result<Option<String>, Error> {
    let EquivalenceQuery::Open { file, latches, .. } = &named_query.query else {
        return Ok(None);
    };
    let names = names(words);
    let (Some(solver), Some(network)) = (Solver::find(), Network::parse(file)) else {
        return Ok(None);
    };
    let path = session.path(&format!("{}-open.cnf", named_query.name));
    let Some(mut course) = Course::find(&network, |cnf| solver.solve(&path, cnf))? else {
        return Ok(None);
    };
    // The latches of each register.
    let mut registers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, latch) in latches.iter().enumerate() {
        if let Some(name) = latch.and_then(|latch| names.get(&latch)) {
            registers.entry(name).or_default().push(place);
        }
    }
    let left: BTreeSet<&str> = registers
        .into_iter()
        .filter(|(_, bits)| !course.free_latches(bits))
        .map(|(name, _)| name)
        .collect();
    if left.is_empty() {
        return Ok(None);
    }
    let more = match left.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named: Vec<&str> = left.into_iter().take(NAMED).collect();
    Ok(Some(format!(
        "an induction fails for values of {}{more} that may never occur together: an assertion \
         in NAME_sva.sv that says so helps",
        named.join(", ")
    )))
}

/// The register of each latch.
fn names(words: &str) -> BTreeMap<usize, &str> {
    let latch = |line| {
        let mut fields = str::strip_prefix(line, "latch ")?.splitn(3, ' ');
        let (latch, _, name) = (fields.next()?, fields.next()?, fields.next()?);
        Some((latch.parse().ok()?, name))
    };
    words.lines().filter_map(latch).filter(|(_, name)| !name.starts_with('$')).collect()
}

impl<'a> Course<'a> {
    /// A course through cycles of an induction that fails, from any state.
    fn find(
        network: &'a Network,
        solve: impl FnOnce(&Cnf) -> Result<Solved, Error>,
    ) -> Result<Option<Self>, Error> {
        let mut cnf = Cnf::new();
        let begin = cnf.variables(network.latches.len());
        let (mut state, mut inputs) = (begin.clone(), Vec::new());
        for cycle in 0..=CYCLES {
            let frame = cnf.frame(network, &state);
            let sign = if cycle == CYCLES { 1 } else { -1 };
            cnf.clause(&[sign * frame.bad]);
            inputs.push(frame.inputs(network).to_vec());
            state = frame.next;
        }
        let Solved::Satisfiable(model) = solve(&cnf)? else { return Ok(None) };
        let bits = |literals: Vec<i32>| -> Vec<Bit> {
            literals.into_iter().map(|literal| Some(model.is_true(literal))).collect()
        };
        let inputs = inputs.into_iter().map(bits).collect();
        Ok(Some(Self { network, state: bits(begin), inputs }))
    }

    /// Makes latches unknown at the beginning, if the course stays one. Returns whether it does.
    fn free_latches(&mut self, latches: &[usize]) -> bool {
        let known: Vec<Bit> = latches.iter().map(|latch| self.state[*latch].take()).collect();
        let stays = self.is_one();
        if !stays {
            latches.iter().zip(known).for_each(|(latch, bit)| self.state[*latch] = bit);
        }
        stays
    }

    /// Whether it is a course whatever the unknown bits are.
    fn is_one(&self) -> bool {
        let mut state = self.state.clone();
        let cycles = self.inputs.iter().enumerate();
        let expected = |cycle| Some(cycle == self.inputs.len() - 1);
        cycles.into_iter().all(|(cycle, inputs)| {
            let mut values = vec![Some(false)];
            values.extend_from_slice(inputs);
            values.extend_from_slice(&state);
            for [left, right] in &self.network.gates {
                values.push(match (value(&values, *left), value(&values, *right)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), other) | (other, Some(true)) => other,
                    (None, None) => None,
                });
            }
            state = self.network.latches.iter().map(|next| value(&values, *next)).collect();
            value(&values, self.network.bad) == expected(cycle)
        })
    }
}

fn value(values: &[Bit], literal: u32) -> Bit {
    values[(literal / 2) as usize].map(|value| value != (literal & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_aig::{Aig, Interface, Reads};

    /// Two counters are always equal, which no induction sees; the third has no part in it.
    #[test]
    fn registers_that_keep_a_question_open_are_named() {
        let session = YosysSession::from_verilog("module top; endmodule");
        let text = "module top(input clk, input go, output bad); reg [2:0] a = 0, b = 0, c = 0;
            always @(posedge clk) begin
              c <= c + go; a <= a == 4 ? 0 : a + 1; b <= b == 4 ? 0 : b + 1;
            end
            assign bad = a == 2 & b == 3; endmodule";
        session.write("top.v", text).unwrap();
        let script = "read_verilog top.v\nproc\nopt_clean\ntechmap\naigmap\nopt_clean\n\
                      write_aiger -ascii -symbols -vmap top.map top.aag\n";
        session.script(script).unwrap();
        let aig = Aig::parse(&session.text("top.aag").unwrap()).unwrap();
        let query = aig.property(&Interface::OURS, "bad", Reads::Anything).unwrap();
        let named_query = NamedQuery { name: "question".to_owned(), query };
        let because = because(&session, &named_query, &session.text("top.map").unwrap());
        let because = because.unwrap().unwrap();
        assert!(because.contains("values of a, b that"), "{because}");
        let nothing = NamedQuery { query: EquivalenceQuery::Same, ..named_query };
        assert_eq!(super::because(&session, &nothing, "").unwrap(), None);
    }
}
