//! Drives two DUTs of one block with the same inputs and finds the first cycle in which they differ.
//!
//! The environment follows the golden model, so both DUTs see the whole stimulus. This module does not compare a DUT with
//! the golden model: see [`run`](super::run).

use super::case::{Dut, RawPins, Source, Traffic, Watch};
use super::contract::{Block, Golden, reset_inputs};
use super::parameters::Parameters;
use super::stimulus::{Drive, Stimulus};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use verilated::{Error, Pins};
use zerocopy::IntoBytes;

/// Cycles of a stimulus at most.
const MOST_CYCLES: u64 = 20_000;

/// A cycle in which two DUTs differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The cycle, counted from 0, the reset cycle.
    pub cycle: u64,
    /// The first port that differs; `None` if one of them stopped by itself.
    pub port: Option<String>,
    /// The values of both, or what they said when they stopped.
    pub values: [String; 2],
}

/// The first cycle in which two DUTs differ, if there is one.
pub fn first_difference<B: Block, D: Dut<B>>(
    stimulus: &Stimulus<B>,
    parameters: &Parameters,
    duts: [&mut D; 2],
    watch: &Watch,
) -> Option<Difference> {
    watch.during(|| {
        let end = match &stimulus.drive {
            Drive::Traffic(traffic) => {
                side_by_side(&mut Traffic::<B>::new(traffic, parameters), parameters, duts, watch)
            }
            Drive::Cycles(cycles) => {
                side_by_side(&mut RawPins::<B, true>::new(cycles), parameters, duts, watch)
            }
        };
        end.break_value().flatten()
    })
}

/// Breaks with the difference, or with nothing where both stop.
fn side_by_side<B: Block, D: Dut<B>>(
    source: &mut impl Source<B>,
    parameters: &Parameters,
    [left, right]: [&mut D; 2],
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
        if let Some(port) = outputs[0].first_difference(&outputs[1]) {
            let values = [0, 1].map(|side: usize| port.show(outputs[side].as_bytes()));
            let port = Some(port.name.to_owned());
            return ControlFlow::Break(Some(Difference { cycle, port, values }));
        }
        let decided = golden.cycle(&inputs);
        golden.outputs(&inputs, &decided, &mut expected);
        // Where there is no golden model yet, the environment follows what was just compared.
        let seen = if B::Golden::IS_WRITTEN { &expected } else { &outputs[0] };
        let hangs = cycle > 0 && source.clock(&inputs, seen, cycle);
        golden.clock(&inputs, &decided);
        go_on(cycle, [left.edge(), right.edge()])?;
        if hangs || !watch.goes_on(cycle + 1) || !source.next(&mut inputs) {
            break;
        }
    }
    ControlFlow::Continue(())
}

/// Goes on if both do.
fn go_on(cycle: u64, ended: [Result<(), Error>; 2]) -> ControlFlow<Option<Difference>> {
    let told = |ended: &Result<(), Error>| match ended {
        Ok(()) => "goes on".to_owned(),
        Err(error) => error.to_string(),
    };
    match &ended {
        [Ok(()), Ok(())] => ControlFlow::Continue(()),
        [Err(_), Err(_)] => ControlFlow::Break(None),
        _ => ControlFlow::Break(Some(Difference {
            cycle,
            port: None,
            values: ended.each_ref().map(told),
        })),
    }
}
