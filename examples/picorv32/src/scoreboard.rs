//! The scoreboard: each instruction that the core retires is that of the instruction-set model,
//! with its result and its load or store.

use crate::COMPRESSED_ISA;
use crate::instructions::disassemble;
use crate::isa::{Access, Machine, Step};
use crate::rtl::{Inputs, Outputs};
use crate::stimulus::{Memory, Traffic, mask};
use cosim_core::channels::{Monitor, Protocol};
use cosim_core::harness::{self, Parameters, Violation, check_list, require};

/// Registers are open until the first edge in reset, so the port may be active there.
const HELD: Protocol = Protocol { quiet_in_reset: None, ..Protocol::for_channel("mem") };

cosim_core::check_names! {
    CHECKS;
    /// A fetch is of the executed instruction, of the one behind it, or of the next one.
    FETCH = "fetch";
    /// A load or store is that of its instruction.
    ACCESS = "access";
    /// Each instruction is the next one of the program.
    INSTRUCTION = "instruction";
    /// An instruction writes its result to its register.
    RESULT = "result";
    /// A trap is at its instruction, and stays.
    TRAP = "trap";
    /// After a trap no transfer begins.
    QUIET = "quiet-after-trap";
    /// The look-ahead port announces each transfer in the cycle before it.
    ANNOUNCED = "announced";
}

/// A transfer: whether it is a fetch, its address, strobes and written data.
type Transfer = (bool, u32, u8, u32);

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    machine: Machine,
    /// The instruction that the core executes. Its access is removed when the port shows it.
    current: Step,
    monitor: Monitor<Transfer>,
    /// The address and direction that the look-ahead port announced in the cycle before.
    announced: Option<(u32, bool)>,
    is_waiting: bool,
    /// `trap` in the cycle before.
    was_trap: bool,
    has_trapped: bool,
    instructions: u64,
}

impl Scoreboard {
    /// Checks a transfer that begins, and notes which one is announced.
    fn announce(&mut self, outputs: &Outputs, is_ready: bool) -> Result<(), Violation> {
        let is_valid = outputs.mem_valid.is_high();
        if is_valid && !self.is_waiting {
            let begins = (outputs.mem_addr.get() as u32, outputs.mem_wstrb.get() != 0);
            require!(!self.was_trap, QUIET, "{begins:x?} begins after a trap")?;
            let announced = self.announced;
            require!(announced == Some(begins), ANNOUNCED, "{begins:x?}, not {announced:x?}")?;
        }
        self.is_waiting = is_valid && !is_ready;
        let (read, write) = (outputs.mem_la_read.is_high(), outputs.mem_la_write.is_high());
        self.announced = (read || write).then_some((outputs.mem_la_addr.get() as u32, write));
        Ok(())
    }

    /// Checks an instruction that is complete or traps.
    fn retire(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        let Step { pc, word, next, written, ref access, traps, .. } = self.current;
        let at = (outputs.rvfi_pc_rdata.get() as u32, outputs.rvfi_insn.get() as u32);
        let is_next = at == (pc, word) && !self.has_trapped;
        require!(is_next, INSTRUCTION, "(pc, word) {at:x?} retired")?;
        self.has_trapped = outputs.rvfi_trap.is_high();
        require!(self.has_trapped == traps, TRAP, "trap {}", self.has_trapped)?;
        self.instructions += 1;
        if traps {
            return Ok(());
        }
        require!(access.is_none(), ACCESS, "missing {access:x?}")?;
        let actual = outputs.rvfi_pc_wdata.get() as u32;
        require!(actual == next, INSTRUCTION, "next {actual:#x}, expected {next:#x}")?;
        let result = (outputs.rvfi_rd_addr.get() as u8, outputs.rvfi_rd_wdata.get() as u32);
        require!(result == written, RESULT, "(rd, value) {result:x?}, expected {written:x?}")?;
        self.current = self.machine.step();
        Ok(())
    }

    /// Checks a transfer that is complete.
    fn transfer(
        &mut self,
        (is_fetch, address, strobes, written): Transfer,
    ) -> Result<(), Violation> {
        if is_fetch {
            let Step { pc, behind, next, .. } = self.current;
            let is_at = |pc: &u32| [*pc, pc.wrapping_add(2)].iter().any(|at| at & !3 == address);
            let is_near = [pc, behind, next].iter().any(is_at);
            return require!(is_near && strobes == 0, FETCH, "fetch {address:#x}");
        }
        let actual = Access { address, strobes, data: written & mask(strobes) };
        let expected = self.current.access.take();
        require!(Some(actual) == expected, ACCESS, "{actual:x?}, expected {expected:x?}")
    }

    fn check(
        &mut self,
        outputs: &Outputs,
        is_ready: bool,
        transfer: Option<Transfer>,
    ) -> Result<(), Violation> {
        self.announce(outputs, is_ready)?;
        if outputs.rvfi_valid.is_high() {
            self.retire(outputs)?;
        }
        // The core shows an instruction that traps in the cycle after `trap` rises.
        require!(self.was_trap == self.has_trapped, TRAP, "trap {}", self.was_trap)?;
        self.was_trap = outputs.trap.is_high();
        transfer.map_or(Ok(()), |transfer| self.transfer(transfer))
    }
}

impl harness::Scoreboard<'_, Inputs, Outputs, Traffic> for Scoreboard {
    fn checks() -> Vec<String> {
        [HELD.checks(), check_list(CHECKS)].concat()
    }

    fn new(traffic: &Traffic, parameters: &Parameters) -> Self {
        let has_compressed = parameters.get(COMPRESSED_ISA) == 1;
        let mut machine = Machine::new(Memory::new(traffic), has_compressed);
        Self {
            current: machine.step(),
            machine,
            monitor: Monitor::new(HELD),
            announced: None,
            is_waiting: false,
            was_trap: false,
            has_trapped: false,
            instructions: 0,
        }
    }

    #[inline]
    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let (in_reset, is_ready) = (!inputs.resetn.is_high(), inputs.mem_ready.is_high());
        let strobes = outputs.mem_wstrb.get() as u8;
        // The data of a read is not used.
        let written = if strobes == 0 { 0 } else { outputs.mem_wdata.get() as u32 };
        let (is_fetch, address) = (outputs.mem_instr.is_high(), outputs.mem_addr.get() as u32);
        let offer = (is_fetch, address, strobes, written);
        let offer = outputs.mem_valid.is_high().then_some(offer);
        let transfer = self.monitor.observe(in_reset, offer, is_ready)?;
        if in_reset {
            return Ok(());
        }
        let result = self.check(outputs, is_ready, transfer);
        result.map_err(|violation| {
            let Step { pc, word, .. } = self.current;
            let text = disassemble(word, self.machine.has_compressed);
            violation.inside(format_args!("`{text}` at {pc:#x}"))
        })
    }

    fn finish(&mut self) -> Result<(), Violation> {
        Ok(())
    }

    fn compared(&self) -> u64 {
        self.instructions
    }
}
