//! A register of an AXI4-Stream that numbers the beats of a packet.

use cosim_core::agents::Wide;
use cosim_core::agents::stream::{StreamBeat, StreamMonitor, StreamSink, StreamSource};
use cosim_core::channels::{InOrder, transaction_checks};
use cosim_core::harness::{self, Parameters, Violation};
use rtl::{Inputs, Outputs};

cosim_core::declare! {
    rtl "numberer";
    reset rst_n low;
    agent s_axis: StreamSource on "s_axis_";
    agent m_axis: StreamSink on "m_axis_";
    scoreboard Scoreboard;
    transactions;
    block Numberer = "numberer": "a stream register that numbers beats";
}

/// Compares each beat that leaves with those that came.
pub struct Scoreboard {
    s_axis: StreamMonitor<Inputs, Outputs>,
    m_axis: StreamMonitor<Outputs, Inputs>,
    beats: InOrder<StreamBeat>,
    number: u64,
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        [StreamMonitor::<Outputs, Inputs>::checks(), transaction_checks("m_axis")].concat()
    }

    fn new(_: &Traffic, _: &Parameters) -> Self {
        let (s_axis, m_axis) = (StreamMonitor::new(S_AXIS), StreamMonitor::new(M_AXIS));
        Self { s_axis, m_axis, beats: InOrder::new("m_axis", None), number: 0 }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let in_reset = in_reset(inputs);
        let came = self.s_axis.observe(in_reset, inputs, outputs)?;
        let left = self.m_axis.observe(in_reset, outputs, inputs)?;
        if in_reset {
            self.beats.clear();
            self.number = 0;
        }
        if let Some(beat) = left {
            self.beats.check(&beat)?;
        }
        if let Some(beat) = came {
            let data = Wide::new((beat.data.get() + self.number) & 0xff);
            self.beats.expect(StreamBeat { data, ..beat });
            self.number = if beat.last { 0 } else { self.number + 1 };
        }
        self.beats.clock()
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.beats.finish()
    }

    fn compared(&self) -> u64 {
        self.beats.compared()
    }
}
