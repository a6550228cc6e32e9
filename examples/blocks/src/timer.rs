//! A timer behind a register bus: a model of its registers.

use cosim_core::agent::{CasePlan, DrawnTraffic as _};
use cosim_core::agents;
use cosim_core::agents::memory_port::{
    MemoryPortManager, MemoryPortMonitor, MemoryPortOperationKind, MemoryPortPins,
    MemoryPortTraffic,
};
use cosim_core::harness::{self, CaseRng, Draw, Parameters, Violation};
use cosim_core::value::Uint;
use rtl::{Inputs, Outputs};

/// The bus: `cs`, `we`, `address`, `write_data` and `read_data`, which is there in the same cycle.
const BUS: MemoryPortPins<Inputs, Outputs> = MemoryPortPins::named("").with_latency(0);

cosim_core::declare! {
    rtl "timer";
    reset rst high;
    weights {
        /// Largest limit of the timer, so that it expires.
        most: Uint<16> = 20,
    }
    agent bus: MemoryPortManager on BUS drawn by draw;
    scoreboard Scoreboard;
    transactions;
    block Timer = "timer": "a timer behind a register bus";
}

/// Random accesses, with small limits.
fn draw(
    weights: &Weights,
    _: &Parameters,
    operations: u32,
    rng: &mut CaseRng,
) -> MemoryPortTraffic {
    let plan = CasePlan { operations, reset: weights.reset, rng: &mut *rng };
    let mut traffic = MemoryPortTraffic::draw(&weights.bus, &BUS, plan);
    for operation in &mut traffic.operations {
        if let MemoryPortOperationKind::Write { address, data, .. } = &mut operation.access
            && address.get() == 1
        {
            *data = agents::Wide::new(rng.bits::<16>().get() % (weights.most.get() + 1));
        }
    }
    traffic
}

/// The registers.
#[derive(Debug, Clone, Default)]
struct Registers {
    enable: bool,
    limit: u64,
    count: u64,
    expired: bool,
}

impl Registers {
    fn read(&self, address: u64) -> u64 {
        match address {
            0 => u64::from(self.enable),
            1 => self.limit,
            2 => self.count,
            _ => u64::from(self.expired),
        }
    }

    /// A cycle, and the write in it. Expiry wins over a write that clears it.
    fn clock(&mut self, write: Option<(u64, u64)>) {
        let expires = self.enable && self.count >= self.limit;
        if self.enable {
            self.count = if expires { 0 } else { self.count + 1 };
        }
        match write {
            Some((0, data)) => self.enable = data & 1 == 1,
            Some((1, data)) => self.limit = data,
            Some((3, data)) => self.expired &= data & 1 == 0,
            _ => {}
        }
        self.expired |= expires;
    }
}

/// Compares each read, and the interrupt in each cycle.
pub struct Scoreboard {
    bus: MemoryPortMonitor<Inputs, Outputs>,
    registers: Registers,
    compared: u64,
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        harness::check_list(&["read-data", "irq"])
    }

    fn new(_: &Traffic, _: &Parameters) -> Self {
        let bus = MemoryPortMonitor::new(BUS).without_memory();
        Self { bus, registers: Registers::default(), compared: 0 }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let events = self.bus.observe(in_reset(inputs), inputs, outputs)?;
        if in_reset(inputs) {
            self.registers = Registers::default();
            return Ok(());
        }
        if outputs.irq.is_high() != self.registers.expired {
            let expected = u8::from(self.registers.expired);
            return Err(Violation::differs("irq", outputs.irq.get(), expected));
        }
        if let Some(read) = events.read {
            let expected = self.registers.read(read.address);
            if read.data.get() != expected {
                let wrong = Violation::differs("read-data", read.data, format!("{expected:#x}"));
                return Err(wrong.with_subject(BUS.rdata.name()));
            }
            self.compared += 1;
        }
        let write = events.access.filter(|access| access.is_write);
        self.registers.clock(write.map(|write| (write.address, write.data.get())));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        Ok(())
    }

    fn compared(&self) -> u64 {
        self.compared
    }
}
