//! A UART receiver: its agent, and its scoreboard.

use cosim_core::agent::{Agent, NoCoverage, Progress};
use cosim_core::agents::{Item, Items, Queue};
use cosim_core::harness::{self, CaseRng, Draw, Noise, Parameters, Percent, Violation};
use cosim_core::value::Uint;
use cosim_core::verilated::{Pin, Pins};
use rtl::{Inputs, Outputs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::marker::PhantomData;

/// Cycles of a bit.
const BIT: u32 = 8;
/// Bits of a frame, with one more stop bit behind it.
const BITS: u32 = 11;

/// What the agent sends: a byte, and whether its stop bit is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// The byte.
    pub byte: Uint<8>,
    /// Whether the stop bit is 0.
    #[serde(default)]
    pub is_broken: bool,
}

impl Item for Frame {
    const CYCLES: u64 = (BIT * BITS) as u64;

    fn draw(rng: &mut CaseRng) -> Self {
        Self { byte: rng.bits(), is_broken: rng.chance(Percent::new(10)) }
    }
}

/// Sends frames on a line.
#[derive(Debug, Clone)]
pub struct UartDriver<'a, I, O> {
    line: Pin<I>,
    queue: Queue<'a, Frame>,
    /// The bits of the frame on the line, and its cycle.
    frame: Option<(u32, u32)>,
    outputs: PhantomData<fn() -> O>,
}

impl<'a, I: Pins, O: Pins> Agent<'a, I, O> for UartDriver<'a, I, O> {
    type Pins = Pin<I>;
    type Traffic = Items<Frame>;
    type Coverage = NoCoverage;

    fn new(line: Self::Pins, traffic: &'a Self::Traffic) -> Self {
        Self { line, queue: Queue::new(traffic), frame: None, outputs: PhantomData }
    }

    fn drive(&mut self, in_reset: bool, _: &mut Noise, inputs: &mut I) {
        let bit = match self.frame {
            Some((bits, cycle)) if !in_reset => bits >> (cycle / BIT) & 1,
            _ => 1,
        };
        self.line.set(inputs, bit.into());
    }

    fn clock(&mut self, in_reset: bool, _: &I, _: &O) -> Progress {
        self.frame = match self.frame {
            _ if in_reset => None,
            Some((bits, cycle)) if cycle + 1 < BIT * BITS => Some((bits, cycle + 1)),
            _ => self.queue.start().map(|frame| {
                let stop = if frame.is_broken { 0b10 } else { 0b11 };
                (stop << 9 | (frame.byte.get() as u32) << 1, 0)
            }),
        };
        self.queue.progress(self.frame.is_some())
    }
}

cosim_core::declare! {
    rtl "uart_rx";
    reset rst high;
    agent line: UartDriver on rxd;
    scoreboard Scoreboard;
    transactions;
    block UartRx = "uart_rx": "a UART receiver";
}

/// Reads the line on its own, in the middle of each bit, and compares the bytes.
pub struct Scoreboard {
    /// Whether the line was high, and the cycles since it fell.
    was_high: bool,
    since: Option<u32>,
    bits: u32,
    expected: VecDeque<(u64, bool)>,
    compared: u64,
}

impl Scoreboard {
    /// A cycle of the line.
    fn read(&mut self, is_high: bool) {
        let falls = self.was_high && !is_high;
        self.was_high = is_high;
        self.since = self.since.map(|cycle| cycle + 1).or(falls.then_some(0));
        let Some(cycle) = self.since.filter(|cycle| cycle % BIT == BIT / 2) else { return };
        let bit = cycle / BIT;
        self.bits = if bit == 0 { 0 } else { self.bits | u32::from(is_high) << (bit - 1) };
        if bit == 9 {
            self.expected.push_back((u64::from(self.bits & 0xff), !is_high));
            self.since = None;
        }
    }
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        harness::check_list(&["byte", "missing"])
    }

    fn new(_: &Traffic, _: &Parameters) -> Self {
        let expected = VecDeque::new();
        Self { was_high: false, since: None, bits: 0, expected, compared: 0 }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        if in_reset(inputs) {
            (self.was_high, self.since) = (false, None);
            self.expected.clear();
            return Ok(());
        }
        if outputs.valid.is_high() {
            let byte = (outputs.data.get(), outputs.frame_error.is_high());
            let expected = self.expected.pop_front();
            if expected != Some(byte) {
                let [byte, expected] = [Some(byte), expected].map(|it| format!("{it:x?}"));
                return Err(Violation::differs("byte", byte, expected).with_subject("data"));
            }
            self.compared += 1;
        }
        self.read(inputs.rxd.is_high());
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        match self.expected.front() {
            Some(byte) => Err(Violation::new("missing", format_args!("{byte:x?}"))),
            None => Ok(()),
        }
    }

    fn compared(&self) -> u64 {
        self.compared
    }
}
