//! The golden model: the registers, in step with the accesses that the RTL shows.

use crate::AXI;
use crate::registers::{self, Access, Field, Registers, Strobes};
use crate::rtl::{Inputs, Outputs};
use crate::types::HwifIn;
use cosim_core::harness::{self, Parameters, Rule, RuleSet};
use cosim_core::verilated::Bits;

/// The registers.
#[derive(Debug, Clone)]
pub struct Golden {
    registers: Registers,
    /// Whether an edge was in reset. Before, all outputs are open.
    is_known: bool,
    /// The access of this cycle.
    access: Option<Access>,
    /// Addresses that were taken on the bus and not accessed.
    pending: i64,
    /// Those that are taken in this cycle.
    taken: i64,
}

impl Golden {
    /// The strobes: low if no access can take place, otherwise open.
    fn strobes(&self, inputs: &Inputs) -> Strobes {
        let offers = AXI.aw.valid.is_high(inputs) || AXI.ar.valid.is_high(inputs);
        if self.pending > 0 || offers { Strobes::open() } else { Strobes::for_access(None) }
    }

    fn hwif_out(&self, inputs: &Inputs, part: fn(Field) -> u32) -> Bits<143, [u32; 5]> {
        let hardware = HwifIn::decode(&{ inputs.hwif_in });
        let pins = self.registers.outputs(&hardware, &self.strobes(inputs), part);
        pins.encode(Bits::default())
    }
}

impl harness::Golden<Inputs, Outputs> for Golden {
    const RULES: &'static [Rule] = registers::RULES;
    const HAS_DONT_CARES: bool = true;

    type Cycle = ();

    fn unreachable(rule: usize, _: &Parameters) -> Option<String> {
        registers::unreachable(rule)
    }

    fn new(_: &Parameters) -> Self {
        let registers = Registers::new();
        Self { registers, is_known: false, access: None, pending: 0, taken: 0 }
    }

    fn cycle(&self, _: &Inputs) {}

    fn outputs(&self, inputs: &Inputs, (): &(), outputs: &mut Outputs) {
        *outputs = Outputs::default();
        outputs.hwif_out = self.hwif_out(inputs, |field| field.value);
    }

    fn dont_care(&self, inputs: &Inputs, (): &(), open: &mut Outputs) {
        open.hwif_out = match self.is_known {
            true => self.hwif_out(inputs, |field| field.open),
            false => Bits::from_words([u32::MAX; 5]),
        };
    }

    fn observe(&mut self, inputs: &Inputs, (): &(), outputs: &Outputs) {
        let is_taken = |valid: bool, ready: bool| i64::from(valid && ready);
        self.access = Access::from_outputs(outputs);
        self.taken = is_taken(AXI.aw.valid.is_high(inputs), AXI.aw.ready.is_high(outputs))
            + is_taken(AXI.ar.valid.is_high(inputs), AXI.ar.ready.is_high(outputs));
    }

    fn clock(&mut self, inputs: &Inputs, (): &()) -> RuleSet {
        let in_reset = crate::in_reset(inputs);
        let hardware = HwifIn::decode(&{ inputs.hwif_in });
        self.is_known |= in_reset;
        self.pending += self.taken - i64::from(self.access.is_some());
        if in_reset {
            self.pending = 0;
        }
        self.registers.clock(in_reset, &hardware, self.access)
    }

    fn state(&self) -> &'static str {
        if self.is_known { "running" } else { "unknown" }
    }
}
