//! The scoreboard: each transfer and each trap is the one that the instruction-set model expects.

use crate::COMPRESSED_ISA;
use crate::environment::MOST_TRANSFERS;
use crate::follower::{ACCESS, Executed, FETCH, Follower, TRAP, Transfer};
use crate::isa::Effect;
use crate::rtl::{Inputs, Outputs};
use crate::stimulus::Traffic;
use cosim_core::channels::{Monitor, Protocol};
use cosim_core::harness::{self, Counter, Parameters, Violation, check_list};

/// Registers are open until the first edge in reset, so the port may be active there.
const HELD: Protocol = Protocol { quiet_in_reset: None, ..Protocol::for_channel("mem") };
/// After a trap no transfer begins.
const QUIET: &str = "quiet-after-trap";
/// The look-ahead port announces each transfer in the cycle before it.
const ANNOUNCED: &str = "announced";
/// Fetches do not write, and addresses are those of words.
const LEGAL: &str = "legal-transfer";
/// The case ends with a trap or after the largest number of transfers.
const COMPLETE: &str = "complete";

/// The transfer that the core offers.
type Offer = (bool, u32, u8, u32);

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    follower: Follower,
    monitor: Monitor<Offer>,
    /// The address and direction that the look-ahead port announced in the cycle before.
    announced: Option<(u32, bool)>,
    is_waiting: bool,
    has_trapped: bool,
    transfers: u64,
    counted: Counted,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    instructions: u64,
    traps: u64,
    early: u64,
}

fn offer(outputs: &Outputs) -> Option<Offer> {
    let strobes = outputs.mem_wstrb.get() as u8;
    // The data of a read is not used.
    let written = if strobes == 0 { 0 } else { outputs.mem_wdata.get() as u32 };
    let offer = (outputs.mem_instr.get() == 1, outputs.mem_addr.get() as u32, strobes, written);
    (outputs.mem_valid.get() == 1).then_some(offer)
}

/// The transfer of a cycle, if valid and ready are high.
pub fn transfer(inputs: &Inputs, outputs: &Outputs) -> Option<Transfer> {
    let (is_fetch, address, strobes, written) = offer(outputs)?;
    let read = inputs.mem_rdata.get() as u32;
    (inputs.mem_ready.get() == 1).then_some(Transfer { is_fetch, address, strobes, written, read })
}

fn require(holds: bool, check: &str, message: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation::new(check, message())) }
}

impl Scoreboard {
    /// Checks that a transfer which begins was announced.
    fn announce(&mut self, outputs: &Outputs, is_ready: bool) -> Result<(), Violation> {
        let is_valid = outputs.mem_valid.get() == 1;
        if is_valid && !self.is_waiting {
            let begins = (outputs.mem_addr.get() as u32, outputs.mem_wstrb.get() != 0);
            require(!self.has_trapped, QUIET, || format!("{begins:x?} begins after a trap"))?;
            require(self.announced == Some(begins), ANNOUNCED, || {
                format!("{begins:x?} begins, announced {:x?}", self.announced)
            })?;
        }
        self.is_waiting = is_valid && !is_ready;
        let (read, write) = (outputs.mem_la_read.get() == 1, outputs.mem_la_write.get() == 1);
        self.announced = (read || write).then_some((outputs.mem_la_addr.get() as u32, write));
        Ok(())
    }
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        let own = [FETCH, ACCESS, TRAP, QUIET, ANNOUNCED, LEGAL, COMPLETE];
        [HELD.checks(), check_list(&own)].concat()
    }

    fn new(_: &Traffic, parameters: &Parameters) -> Self {
        Self {
            follower: Follower::new(parameters.get(COMPRESSED_ISA) == 1),
            monitor: Monitor::new(HELD),
            announced: None,
            is_waiting: false,
            has_trapped: false,
            transfers: 0,
            counted: Counted::default(),
        }
    }

    #[inline]
    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let in_reset = inputs.resetn.get() == 0;
        let is_ready = inputs.mem_ready.get() == 1;
        self.monitor.observe(in_reset, offer(outputs), is_ready)?;
        if in_reset {
            return Ok(());
        }
        self.announce(outputs, is_ready)?;
        let counted = &mut self.counted;
        let mut count = |executed: Executed| {
            counted.instructions += 1;
            counted.traps += u64::from(matches!(executed.effect, Effect::Trap(_)));
        };
        if let Some(transfer) = transfer(inputs, outputs) {
            let Transfer { is_fetch, address, strobes, .. } = transfer;
            let is_legal = address & 3 == 0 && !(is_fetch && strobes != 0);
            require(is_legal, LEGAL, || transfer.to_string())?;
            self.follower.transfer(&transfer, &mut count)?;
            self.transfers += 1;
        }
        let is_trap = outputs.trap.get() == 1;
        require(is_trap || !self.has_trapped, TRAP, || "the trap ended".to_owned())?;
        if is_trap && !self.has_trapped {
            self.follower.trap(&mut count)?;
            self.has_trapped = true;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.counted.early = u64::from(self.follower.has_used_port());
        let transfers = self.transfers;
        require(self.has_trapped || transfers >= MOST_TRANSFERS, COMPLETE, || {
            format!("no trap after {transfers} transfers")
        })
    }

    fn compared(&self) -> u64 {
        self.transfers
    }

    fn counters() -> Vec<Counter<Self>> {
        vec![
            Counter::sum("instructions", |board| board.counted.instructions),
            Counter::sum("transfers", |board| board.transfers),
            Counter::sum("traps", |board| board.counted.traps),
            Counter::sum("misaligned accesses on the port", |board| board.counted.early),
        ]
    }
}
