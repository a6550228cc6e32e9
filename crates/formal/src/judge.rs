//! Whether answers about a graph count: Verilator's model of the RTL must do the same in simulated
//! cases, and the assumptions about the environment must be possible.

use cosim_aig::{Aig, CutMemory, Pins};
use cosim_block::agreement::RecordedInputs;
use cosim_harness::harness::BlockInfo;

/// Cycles in which the assumptions must hold together in a legal case.
const ASSUMED: usize = 30;

/// Why no answer about a graph counts, if it does not do what Verilator's model did in these cases.
/// Outputs whose names begin with `assumed` are 1 where an assumption is violated.
pub fn find_doubt(
    aig: &Aig,
    memories: &[CutMemory],
    info: &BlockInfo,
    cases: &[RecordedInputs],
    assumed: &str,
) -> Option<String> {
    let sizes = [info.power_up.len(), info.output_size];
    let pins = Pins { inputs: info.inputs, outputs: info.outputs, sizes };
    match aig.judge(memories, pins, cases) {
        Err(contradiction) => return Some(contradiction.to_string()),
        Ok(compared) if compared.values().all(|bits| *bits == 0) => {
            return Some(
                "no output of the netlist has a known value in any simulated cycle, so that nothing \
                 could be compared with Verilator's model"
                    .to_owned(),
            );
        }
        Ok(_) => {}
    }
    let assumes = aig.outputs().any(|output| output.starts_with(assumed));
    let size = info.power_up.len();
    let is_possible = |case: &RecordedInputs| {
        let Some(cycles) = case.cycles.get(..ASSUMED * size) else { return false };
        let case = RecordedInputs { cycles: cycles.to_vec(), ..RecordedInputs::default() };
        aig.violations(&[assumed], info.inputs, size, &[case]).is_empty()
    };
    let mut legal = cases.iter().filter(|case| !case.is_raw);
    (assumes && !legal.any(is_possible))
        .then(|| format!("no legal case keeps all assumptions for {ASSUMED} cycles"))
}

#[cfg(test)]
mod tests;
