//! The graph of an RTL with its monitor: without its memories, and with them when that is needed.

use crate::answer::Undecidable;
use crate::cut::Cut;
use crate::graph::{Graph, UndefinedBits, memory_bits};
use crate::judge::find_doubt;
use cosim_aig::{Aig, CutMemory};
use cosim_block::agreement::RecordedInputs;
use cosim_harness::harness::BlockInfo;
use cosim_rtl::rtlil::Unknown;
use cosim_rtl::yosys::YosysSession;
use std::sync::{Mutex, OnceLock, PoisonError};

pub const LOOP: &str = "its network has a combinational loop";

/// The graph of a netlist. Several threads may share it.
#[derive(Debug)]
pub struct Circuit {
    /// The graph without memories.
    pub aig: Aig,
    /// Its `-vmap` file, which assigns latches to registers.
    pub words: String,
    pub memory_bits: u64,
    memories: Vec<CutMemory>,
    undefined: UndefinedBits,
    /// The graph with memories as registers, or why there is none, once it was needed.
    exact: OnceLock<Result<Aig, &'static str>>,
    /// Held while it is made.
    making: Mutex<()>,
}

impl Circuit {
    /// The graph of a file of the session.
    ///
    /// # Errors
    /// [`Undecidable`]: a cell or a loop that no graph can have, or Yosys fails.
    pub fn new(
        session: &YosysSession,
        netlist: &str,
        undefined: UndefinedBits,
        cut: impl FnOnce(&str) -> Result<Cut, Unknown>,
    ) -> Result<Self, Undecidable> {
        let text = session.text(netlist)?;
        let memory_bits = memory_bits(&text);
        let Cut { text, memories } = cut(&text)?;
        let without = format!("cut-{netlist}");
        session.write(&without, &text)?;
        let Graph { text, words } = undefined.graph(session, &without, false)?;
        let aig = Aig::parse(&text).ok_or(LOOP)?;
        let (exact, making) = (OnceLock::new(), Mutex::default());
        Ok(Self { aig, words, memory_bits, memories, undefined, exact, making })
    }

    /// The graph of the same file with memories as registers.
    ///
    /// # Errors
    /// As [`Circuit::new`].
    pub fn exact(&self, session: &YosysSession, netlist: &str) -> Result<&Aig, Undecidable> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if self.exact.get().is_none() {
            let graph = self.undefined.graph(session, netlist, true)?;
            let _ = self.exact.set(Aig::parse(&graph.text).ok_or(LOOP));
        }
        let made = self.exact.get().map_or(Err(LOOP), |made| made.as_ref().map_err(|why| *why));
        Ok(made?)
    }

    /// Why no answer counts, if Verilator's model did something else in these cases (see
    /// [`find_doubt`](crate::judge::find_doubt)).
    pub fn find_doubt(
        &self,
        info: &BlockInfo,
        cases: &[RecordedInputs],
        assumed: &str,
    ) -> Option<String> {
        find_doubt(&self.aig, &self.memories, info, cases, assumed)
    }

    /// As [`Circuit::find_doubt`], while an input is low that the RTL does not have.
    pub fn doubt_without(
        &self,
        input: &str,
        info: &BlockInfo,
        cases: &[RecordedInputs],
        assumed: &str,
    ) -> Option<String> {
        let unmodified = self.aig.clone().with_low(input);
        find_doubt(&unmodified, &self.memories, info, cases, assumed)
    }
}
