use cosim_core::agents;
use cosim_core::agents::interrupt::{InterruptKind, InterruptMonitor, InterruptPins, InterruptSource};
use cosim_core::harness::{self, Parameters, Violation};
use rtl::{Inputs, Outputs};

const IRQ: InterruptPins<Inputs, Outputs> = InterruptPins::of("", InterruptKind::Level);

cosim_core::agents::agents! {
    pins Inputs, Outputs;
    reset rst high;
    agent irq: InterruptSource on IRQ;
    block Controller = "controller": "a controller that acknowledges interrupts", Scoreboard;
}

/// Each line is acknowledged, and no other.
pub struct Scoreboard {
    irq: InterruptMonitor<Inputs, Outputs>,
    risen: u64,
}

impl harness::Scoreboard<'_, Controller> for Scoreboard {
    const CHECKS: &'static [&'static str] =
        agents::checks![InterruptMonitor::<Inputs, Outputs>::RECEIVER_CHECKS];

    fn new(_: &Traffic, _: &Parameters) -> Self {
        Self { irq: InterruptMonitor::new(IRQ), risen: 0 }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let lines = self.irq.observe(in_reset(inputs), inputs, outputs)?;
        self.risen += u64::from(lines.count_ones());
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.irq.finish()
    }

    fn compared(&self) -> u64 {
        self.risen
    }
}
