//! Drives two DUTs of one block with the same inputs and finds the first cycle in which they
//! differ.
//!
//! The environment follows the golden model, so both DUTs receive the whole stimulus. To compare
//! a DUT with the golden model, use [`run`](super::run).

use super::block::{Block, reset_inputs};
use super::case::{Dut, RawPins, Source, Traffic, Watch};
use super::comparison::{follows_dut, is_written};
use super::golden::Golden;
use super::parameters::Parameters;
use super::stimulus::{Drive, Stimulus};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use verilated::{Error, Pins};

const MOST_CYCLES: u64 = 20_000;

/// A cycle in which two DUTs differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The cycle, counted from 0, the reset cycle.
    pub cycle: u64,
    /// The first port that differs; `None` if a DUT stopped by itself.
    pub port: Option<String>,
    /// The values of both DUTs, or their messages when they stopped.
    pub values: [String; 2],
}

/// Finds the first cycle, from `first` on, in which two DUTs differ.
pub fn first_difference<B: Block, D: Dut<B>>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    duts: [&mut D; 2],
    first: u64,
    watch: &Watch,
) -> Option<Difference> {
    watch.during(|| {
        let end = match &stimulus.drive {
            Drive::Traffic(traffic) => {
                let mut source = Traffic::<B>::new(traffic, parameters);
                side_by_side(&mut source, parameters, duts, first, watch)
            }
            Drive::Cycles(cycles) => {
                let mut source = RawPins::<B>::new(cycles);
                side_by_side(&mut source, parameters, duts, first, watch)
            }
        };
        end.break_value().flatten()
    })
}

/// Drives raw pins into two DUTs from power-on, without the reset cycle that a stimulus begins
/// with, and finds the first cycle in which the DUTs differ. `pins` has the bytes of the inputs of
/// all cycles.
pub fn first_difference_from_power_on<B: Block, D: Dut<B>>(
    pins: &[u8],
    [left, right]: [&mut D; 2],
    watch: &Watch,
) -> Option<Difference> {
    let mut drive = || -> ControlFlow<Option<Difference>> {
        let mut outputs = [B::Outputs::new_zeroed(), B::Outputs::new_zeroed()];
        go_on(0, [left.power_up(), right.power_up()])?;
        for (cycle, bytes) in (0..).zip(pins.chunks_exact(size_of::<B::Inputs>().max(1))) {
            let inputs = B::Inputs::from_bytes(bytes);
            let [one, other] = &mut outputs;
            go_on(cycle, [left.settle(&inputs, one), right.settle(&inputs, other)])?;
            compare(cycle, &outputs)?;
            go_on(cycle, [left.edge(), right.edge()])?;
            if !watch.goes_on(cycle + 1) {
                break;
            }
        }
        ControlFlow::Continue(())
    };
    watch.during(|| drive().break_value().flatten())
}

/// Breaks with the difference, or with `None` if both DUTs stopped.
fn side_by_side<B: Block, D: Dut<B>>(
    source: &mut impl Source<B>,
    parameters: &Parameters,
    [left, right]: [&mut D; 2],
    first: u64,
    watch: &Watch,
) -> ControlFlow<Option<Difference>> {
    let mut golden = B::Golden::new(parameters);
    let mut expected = B::Outputs::new_zeroed();
    let mut outputs = [B::Outputs::new_zeroed(), B::Outputs::new_zeroed()];
    go_on(0, [left.power_up(), right.power_up()])?;
    let mut inputs = reset_inputs::<B>();
    for cycle in 0..MOST_CYCLES {
        let settled =
            [left.settle(&inputs, &mut outputs[0]), right.settle(&inputs, &mut outputs[1])];
        go_on(cycle, settled)?;
        if cycle >= first {
            compare(cycle, &outputs)?;
        }
        let decided = golden.cycle(&inputs);
        golden.outputs(&inputs, &decided, &mut expected);
        // Otherwise the environment follows the outputs that were just compared.
        let is_led = is_written::<B>() && !follows_dut::<B>();
        let seen = if is_led { &expected } else { &outputs[0] };
        if follows_dut::<B>() {
            golden.observe(&inputs, &decided, &outputs[0]);
        }
        let hangs = cycle > 0 && source.clock(&inputs, seen, cycle);
        golden.clock(&inputs, &decided);
        go_on(cycle, [left.edge(), right.edge()])?;
        if hangs || !watch.goes_on(cycle + 1) || !source.next(&mut inputs) {
            break;
        }
    }
    ControlFlow::Continue(())
}

/// Continues if the outputs of both DUTs are equal.
fn compare<P: Pins>(cycle: u64, outputs: &[P; 2]) -> ControlFlow<Option<Difference>> {
    let Some(port) = outputs[0].first_difference(&outputs[1]) else {
        return ControlFlow::Continue(());
    };
    let values = outputs.each_ref().map(|outputs| port.show(outputs.as_bytes()));
    let port = Some(port.name.to_owned());
    ControlFlow::Break(Some(Difference { cycle, port, values }))
}

/// Continues if both DUTs do.
fn go_on(cycle: u64, ended: [Result<(), Error>; 2]) -> ControlFlow<Option<Difference>> {
    let described = |ended: &Result<(), Error>| match ended {
        Ok(()) => "goes on".to_owned(),
        Err(error) => error.to_string(),
    };
    match &ended {
        [Ok(()), Ok(())] => ControlFlow::Continue(()),
        [Err(_), Err(_)] => ControlFlow::Break(None),
        _ => ControlFlow::Break(Some(Difference {
            cycle,
            port: None,
            values: ended.each_ref().map(described),
        })),
    }
}
