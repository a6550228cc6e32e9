use cosim_core::agents::handshake::{HandshakePins, HandshakeSink, HandshakeSource};
use cosim_core::agents::{Data, InputDriver};
use cosim_core::harness::{self, Parameters, Violation};
use cosim_core::verilated::Pin;
use rtl::{Inputs, Outputs};
use std::collections::VecDeque;

const COMMAND: HandshakePins<Inputs, Outputs> = HandshakePins {
    valid: Pin::of("", "cmd_valid"),
    is_valid_low: false,
    ready: Some(Pin::of("", "cmd_ready")),
    is_ready_low: false,
    payload: &[Pin::of("", "cmd_count")],
};
const ANSWER: HandshakePins<Outputs, Inputs> = HandshakePins {
    valid: Pin::of("", "empty"),
    is_valid_low: true,
    ready: Some(Pin::of("", "pop")),
    is_ready_low: false,
    payload: &[Pin::of("", "dout")],
};

cosim_core::agents::agents! {
    pins Inputs, Outputs;
    reset rst high;
    agent command: HandshakeSource on COMMAND;
    agent answer: HandshakeSink on ANSWER;
    agent mode: InputDriver on Pin::of("", "mode");
    block Queue = "queue": "answers commands", Scoreboard;
}

/// Each command comes out as it went in.
pub struct Scoreboard {
    expected: VecDeque<Vec<Data>>,
    compared: u64,
}

impl harness::Scoreboard<'_, Queue> for Scoreboard {
    const CHECKS: &'static [&'static str] = &["answer", "missing"];

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self { expected: VecDeque::new(), compared: 0 }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        if in_reset(inputs) {
            self.expected.clear();
            return Ok(());
        }
        self.expected.extend(COMMAND.taken(inputs, outputs));
        if let Some(answer) = ANSWER.taken(outputs, inputs) {
            if self.expected.pop_front().as_ref() != Some(&answer) {
                return Err(Violation::new("answer", format_args!("{answer:?}")));
            }
            self.compared += 1;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        match self.expected.front() {
            Some(command) => Err(Violation::new("missing", format_args!("{command:?}"))),
            None => Ok(()),
        }
    }

    fn compared(&self) -> u64 {
        self.compared
    }
}
