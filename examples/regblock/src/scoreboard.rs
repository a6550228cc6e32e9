//! The scoreboard: each transfer on the bus is one access of a register, and returns its value.

use crate::registers::{Access, Bits, Field, Registers, Strobes};
use crate::rtl::{Inputs, Outputs};
use crate::types::{HwifIn, HwifOut};
use crate::{AXI, Traffic, in_reset};
use cosim_core::agents::axi_lite::{AxiLiteMonitor, AxiResponse};
use cosim_core::harness::{self, Parameters, Violation, check_list, require};
use std::collections::VecDeque;

/// An access is not the oldest transfer on the bus.
const ACCESS: &str = "access";
/// `swmod` or `swacc` does not follow the access.
const STROBE: &str = "strobe";
/// A response is an error although the access is legal, or the reverse.
const RESPONSE: &str = "response";
/// A read returns another value than that of its register.
const READ_DATA: &str = "read-data";

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    monitor: AxiLiteMonitor<Inputs, Outputs>,
    registers: Registers,
    /// Transfers on the bus without an access.
    writes: VecDeque<Access>,
    reads: VecDeque<Access>,
    /// Accesses without a response: whether they are legal, and what they read.
    written: VecDeque<bool>,
    read: VecDeque<(bool, Field)>,
    compared: u64,
}

/// The bits that the strobes of a write enable.
fn enabled(strobe: u64) -> u32 {
    (0..4).filter(|byte| strobe >> byte & 1 == 1).map(|byte| 0xff << (8 * byte)).sum()
}

impl Scoreboard {
    fn access(&mut self, hardware: &HwifIn, access: Access) -> Result<(), Violation> {
        let queue = if access.write.is_some() { &mut self.writes } else { &mut self.reads };
        let oldest = queue.pop_front();
        require!(oldest == Some(access), ACCESS, "{access:x?}, expected {oldest:x?}")?;
        match access.write {
            Some(_) => self.written.push_back(access.is_legal()),
            None => {
                let value = self.registers.read(hardware, access.address);
                self.read.push_back((access.is_legal(), value));
            }
        }
        Ok(())
    }
}

/// Whether a response is an error as it should be. The documentation does not name the error.
fn check_response(is_legal: bool, response: AxiResponse) -> Result<(), Violation> {
    let is_error = response != AxiResponse::Okay;
    require!(is_legal != is_error, RESPONSE, "{response}, legal access: {is_legal}")
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        let protocol = AxiLiteMonitor::<Inputs, Outputs>::subordinate_checks();
        [protocol, check_list(&[ACCESS, STROBE, RESPONSE, READ_DATA])].concat()
    }

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self {
            monitor: AxiLiteMonitor::new(AXI),
            registers: Registers::new(),
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            written: VecDeque::new(),
            read: VecDeque::new(),
            compared: 0,
        }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let hardware = HwifIn::decode(&{ inputs.hwif_in });
        let events = self.monitor.observe(in_reset(inputs), inputs, outputs)?;
        let access = Access::from_outputs(outputs);
        if in_reset(inputs) {
            self.writes.clear();
            self.reads.clear();
            self.written.clear();
            self.read.clear();
            self.registers.clock(true, &hardware, access);
            return Ok(());
        }
        if let Some(write) = events.write_start {
            let bits = Bits { value: write.data as u32, mask: enabled(write.strobe) };
            self.writes.push_back(Access { address: write.address & !3, write: Some(bits) });
        }
        if let Some((address, _)) = events.read_start {
            self.reads.push_back(Access { address: address & !3, write: None });
        }
        if let Some(access) = access {
            self.access(&hardware, access)?;
        }
        let strobes = Strobes::for_access(access);
        let pins = self.registers.outputs(&hardware, &strobes, |field| field.value);
        let open = self.registers.outputs(&hardware, &strobes, |field| field.open);
        let shown = |pins: &HwifOut| {
            let HwifOut { control_enable_swmod, status_load_swacc, flags_seen_swmod, .. } = pins;
            let overflow = &pins.counters_events_overflow;
            [control_enable_swmod, status_load_swacc, flags_seen_swmod, overflow]
                .map(|bit| bit.get())
        };
        let actual = shown(&HwifOut::decode(&{ outputs.hwif_out }));
        let is_right =
            |((actual, expected), open): ((u64, u64), u64)| actual | open == expected | open;
        let expected = shown(&pins);
        let is_right = actual.into_iter().zip(expected).zip(shown(&open)).all(is_right);
        require!(is_right, STROBE, "swmod, swacc, swmod, overflow {actual:?}, not {expected:?}")?;
        if let Some(write) = events.write {
            let is_legal = self.written.pop_front();
            let is_legal = is_legal.ok_or_else(|| Violation::new(RESPONSE, "of no access"))?;
            check_response(is_legal, write.response)?;
            self.compared += 1;
        }
        if let Some(read) = events.read {
            let expected = self.read.pop_front();
            let (is_legal, value) =
                expected.ok_or_else(|| Violation::new(RESPONSE, "of no access"))?;
            check_response(is_legal, read.response)?;
            let differs = (read.data as u32 ^ value.value) & !value.open;
            require!(!is_legal || differs == 0, READ_DATA, "{read}, expected {value:x?}")?;
            self.compared += 1;
        }
        self.registers.clock(false, &hardware, access);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.monitor.finish()
    }

    fn compared(&self) -> u64 {
        self.compared
    }
}
