use cosim_core::agents::stream::{StreamBeat, StreamMonitor, StreamPins, StreamSink, StreamSource};
use cosim_core::agents;
use cosim_core::harness::{self, Parameters, Violation};
use rtl::{Inputs, Outputs};
use std::collections::VecDeque;

const IN: StreamPins<Inputs, Outputs> = StreamPins::of("s_axis_");
const OUT: StreamPins<Outputs, Inputs> = StreamPins::of("m_axis_");

cosim_core::agents::agents! {
    pins Inputs, Outputs;
    reset rst high;
    agent input: StreamSource on IN;
    agent output: StreamSink on OUT;
    block Buffer = "buffer": "a buffer of a stream", Scoreboard;
}

/// Each beat comes out as it went in.
pub struct Scoreboard {
    output: StreamMonitor<Outputs, Inputs>,
    expected: VecDeque<StreamBeat>,
    compared: u64,
}

impl harness::Scoreboard<'_, Buffer> for Scoreboard {
    const CHECKS: &'static [&'static str] =
        agents::checks![StreamMonitor::<Outputs, Inputs>::CHECKS, &["beat", "missing"]];

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self { output: StreamMonitor::new(OUT), expected: VecDeque::new(), compared: 0 }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let taken = self.output.observe(in_reset(inputs), outputs, inputs)?;
        if in_reset(inputs) {
            self.expected.clear();
            return Ok(());
        }
        self.expected.extend(IN.taken(inputs, outputs));
        if let Some(beat) = taken {
            let expected = self.expected.pop_front();
            if expected != Some(beat) {
                return Err(Violation::new("beat", format_args!("{beat}, expected {expected:?}")));
            }
            self.compared += 1;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        match self.expected.front() {
            Some(beat) => Err(Violation::new("missing", format_args!("{beat}"))),
            None => Ok(()),
        }
    }

    fn compared(&self) -> u64 {
        self.compared
    }
}
