//! Runs the instruction-set model in step with the transfers on the memory port.
//!
//! The core may fetch the instruction behind the one that it executes, so a fetch does not say how
//! far it is. The follower therefore executes an instruction as late as possible: when a transfer
//! or a trap follows that only a later instruction explains. Scoreboard and coverage each have a
//! follower; it reads nothing but pins.
//!
//! It relies on this order of transfers, for instructions A, B, C in the order of execution:
//!
//! - A is fetched, word by word. The core keeps a half-word that A leaves over.
//! - If A is no jump, the instruction behind it may be fetched, and is B if A is no taken branch.
//! - Behind a jump or a taken branch, every word of B is fetched again. Behind a taken branch, the
//!   core may fetch all words of B a second time.
//! - A loads or stores before C is fetched.

use crate::instructions::{self, Instruction};
use crate::isa::{Cpu, Effect, Store, Trap};
use crate::stimulus::PROGRAM;
use cosim_core::harness::Violation;
use std::fmt;

/// Words that are fetched but not executed: at most the rest of one instruction and the next one.
const WORDS: usize = 4;

/// A transfer on the memory port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// It is a fetch.
    pub is_fetch: bool,
    /// The address of the word.
    pub address: u32,
    /// The bytes that it writes; 0: it reads.
    pub strobes: u8,
    /// The word that it writes.
    pub written: u32,
    /// The word that it reads.
    pub read: u32,
}

impl fmt::Display for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_fetch, address, strobes, written, read } = *self;
        match (is_fetch, strobes) {
            (true, _) => write!(f, "fetch from {address:#x}"),
            (false, 0) => write!(f, "load of {read:#x} from {address:#x}"),
            _ => write!(f, "store of {written:#x} to {address:#x}, bytes {strobes:04b}"),
        }
    }
}

/// The effect of an instruction, for messages.
struct Expected<'a>(&'a Effect, &'a Option<Instruction>, u32);

impl fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(effect, instruction, pc) = self;
        match effect {
            Effect::Load(address) => write!(f, "load from {:#x}", address & !3)?,
            Effect::Store(Store { address, strobes, data }) => {
                write!(f, "store of {data:#x} to {address:#x}, bytes {strobes:04b}")?;
            }
            Effect::Trap(_) => f.write_str("trap")?,
            Effect::Next | Effect::Taken => f.write_str("no transfer")?,
        }
        match instruction {
            Some(instruction) => write!(f, ", `{instruction}` at {pc:#x}"),
            None => write!(f, ", illegal instruction at {pc:#x}"),
        }
    }
}

/// A fetch follows the program.
pub const FETCH: &str = "fetch";
/// A load or store is that of its instruction.
pub const ACCESS: &str = "access";
/// A trap is at its instruction, and stays.
pub const TRAP: &str = "trap";

/// An instruction that was executed, for coverage.
#[derive(Debug, Clone, Copy)]
pub struct Executed {
    /// The instruction; `None` if it is illegal.
    pub instruction: Option<Instruction>,
    /// Its length in bytes.
    pub length: u32,
    /// Its effect.
    pub effect: Effect,
}

/// Follows the core.
#[derive(Debug, Clone)]
pub struct Follower {
    model: Model,
    /// The model if a fetch that has two explanations repeated that of a target.
    alternative: Option<Model>,
}

impl Follower {
    /// A follower after reset.
    pub const fn new(has_compressed: bool) -> Self {
        Self { model: Model::new(has_compressed), alternative: None }
    }

    /// Follows a transfer.
    ///
    /// # Errors
    /// If the model does not explain it.
    pub fn transfer(
        &mut self,
        transfer: &Transfer,
        mut executed: impl FnMut(Executed),
    ) -> Result<(), Violation> {
        self.alternative = self.alternative.take().and_then(|model| model.after(transfer));
        if let Some(repeated) = self.model.repeated(transfer) {
            if self.model.clone().after(transfer).is_none() {
                self.model = repeated;
                return Ok(());
            }
            self.alternative = Some(repeated);
        }
        let result = self.model.transfer(transfer, &mut executed);
        self.or_alternative(result)
    }

    /// Follows a trap of the core.
    ///
    /// # Errors
    /// If the model has no trap here.
    pub fn trap(&mut self, mut executed: impl FnMut(Executed)) -> Result<(), Violation> {
        let result = self.model.trap(&mut executed);
        let is_wrong = result.is_err();
        self.or_alternative(result)?;
        if is_wrong { self.model.trap(&mut executed) } else { Ok(()) }
    }

    fn or_alternative(&mut self, result: Result<(), Violation>) -> Result<(), Violation> {
        if let Err(violation) = result {
            self.model = self.alternative.take().ok_or(violation)?;
        }
        Ok(())
    }

    /// Whether a misaligned access or jump used the port before its trap.
    pub const fn has_used_port(&self) -> bool {
        self.model.has_used_port
    }
}

/// The model and the words that were fetched for it.
#[derive(Debug, Clone)]
struct Model {
    cpu: Cpu,
    has_compressed: bool,
    /// The address of the first word.
    start: u32,
    words: [u32; WORDS],
    count: usize,
    /// The trap of the instruction at `pc`, which the model does not pass.
    trap: Option<Trap>,
    /// The port showed a transfer of the instruction that traps.
    has_used_port: bool,
    /// The instruction at `pc` is the target of a taken branch, fetched at most once.
    is_target: bool,
}

impl Model {
    const fn new(has_compressed: bool) -> Self {
        Self {
            cpu: Cpu::new(PROGRAM),
            has_compressed,
            start: PROGRAM,
            words: [0; WORDS],
            count: 0,
            trap: None,
            has_used_port: false,
            is_target: false,
        }
    }

    /// The model after a transfer; `None` if it does not explain it.
    fn after(mut self, transfer: &Transfer) -> Option<Self> {
        self.transfer(transfer, &mut |_| ()).is_ok().then_some(self)
    }

    /// The model if a transfer repeats the fetch of the target at `pc`.
    fn repeated(&self, transfer: &Transfer) -> Option<Self> {
        let is_first = transfer.is_fetch && transfer.address == self.cpu.pc & !3;
        if !self.is_target || !is_first || self.instruction(self.cpu.pc).is_err() {
            return None;
        }
        Self { is_target: false, count: 0, ..self.clone() }.after(transfer)
    }

    /// The half-word at an address, if it was fetched.
    fn half(&self, address: u32) -> Option<u32> {
        let index = (address.wrapping_sub(self.start) / 4) as usize;
        (index < self.count).then(|| self.words[index] >> (8 * (address & 2)) & 0xffff)
    }

    /// The instruction at an address with its length, or the word that is still to be fetched.
    fn instruction(&self, address: u32) -> Result<(u32, u32), u32> {
        let first = self.half(address).ok_or(address & !3)?;
        let length = instructions::length(first, self.has_compressed);
        if length == 2 {
            return Ok((first, length));
        }
        let behind = address.wrapping_add(2);
        let second = self.half(behind).ok_or(behind & !3)?;
        Ok((second << 16 | first, length))
    }

    /// Executes the instruction at `pc`, which is fetched. A trap stays where it is.
    fn execute(
        &mut self,
        word: u32,
        length: u32,
        executed: &mut impl FnMut(Executed),
    ) -> (Option<Instruction>, Effect) {
        self.is_target = false;
        let instruction = instructions::decode(word, self.has_compressed);
        let effect = match (&instruction, self.trap) {
            (_, Some(trap)) => Effect::Trap(trap),
            (Some(instruction), None) => self.cpu.execute(instruction, length, self.has_compressed),
            (None, None) => Effect::Trap(Trap::Illegal),
        };
        if self.trap.is_none() {
            executed(Executed { instruction, length, effect });
        }
        match effect {
            Effect::Trap(trap) => self.trap = Some(trap),
            Effect::Taken => {
                self.count = 0;
                self.is_target = instruction.is_some_and(|instruction| instruction.op.is_branch());
            }
            _ => {}
        }
        self.drop_words();
        (instruction, effect)
    }

    /// Forgets the words before `pc`.
    fn drop_words(&mut self) {
        let done = (self.cpu.pc.wrapping_sub(self.start) / 4) as usize;
        if self.count == 0 || done >= self.count {
            (self.start, self.count) = (self.cpu.pc & !3, 0);
        } else if done > 0 {
            self.words.copy_within(done..self.count, 0);
            self.start = self.cpu.pc & !3;
            self.count -= done;
        }
    }

    fn push(&mut self, word: u32) {
        if self.count < WORDS {
            self.words[self.count] = word;
            self.count += 1;
        }
    }

    fn transfer(
        &mut self,
        transfer: &Transfer,
        executed: &mut impl FnMut(Executed),
    ) -> Result<(), Violation> {
        if transfer.is_fetch {
            self.fetch(transfer, executed)
        } else {
            self.access(transfer, executed)
        }
    }

    fn fetch(
        &mut self,
        transfer: &Transfer,
        executed: &mut impl FnMut(Executed),
    ) -> Result<(), Violation> {
        let Transfer { address, read, .. } = *transfer;
        loop {
            let pc = self.cpu.pc;
            let (word, length) = match self.instruction(pc) {
                Ok(complete) => complete,
                Err(missing) if missing == address => {
                    self.push(read);
                    return Ok(());
                }
                Err(missing) => {
                    let message = format!("{transfer}, expected {missing:#x}");
                    return Err(Violation::new(FETCH, message));
                }
            };
            let is_jump = instructions::decode(word, self.has_compressed)
                .is_some_and(|instruction| instruction.op.is_jump());
            if !is_jump && self.instruction(pc.wrapping_add(length)) == Err(address) {
                self.push(read);
                return Ok(());
            }
            let (instruction, effect) = self.execute(word, length, executed);
            let expected = Expected(&effect, &instruction, pc);
            let wrong =
                |check| Err(Violation::new(check, format!("{transfer}, expected {expected}")));
            match effect {
                Effect::Next | Effect::Taken => {}
                // The core fetches from the target before it finds that it is misaligned.
                Effect::Trap(Trap::MisalignedTarget(target))
                    if target & !3 == address && !self.has_used_port =>
                {
                    self.has_used_port = true;
                    return Ok(());
                }
                Effect::Trap(_) => return wrong(TRAP),
                Effect::Load(_) | Effect::Store(_) => return wrong(ACCESS),
            }
        }
    }

    /// Executes until an instruction needs the port or traps. Returns it, its effect and its
    /// address. Messages begin with `what`.
    fn settle(
        &mut self,
        check: &str,
        what: &dyn fmt::Display,
        executed: &mut impl FnMut(Executed),
    ) -> Result<(Option<Instruction>, Effect, u32), Violation> {
        loop {
            let pc = self.cpu.pc;
            let Ok((word, length)) = self.instruction(pc) else {
                let message = format!("{what}, but the instruction at {pc:#x} is not fetched");
                return Err(Violation::new(check, message));
            };
            let (instruction, effect) = self.execute(word, length, executed);
            if !matches!(effect, Effect::Next | Effect::Taken) {
                return Ok((instruction, effect, pc));
            }
        }
    }

    fn access(
        &mut self,
        transfer: &Transfer,
        executed: &mut impl FnMut(Executed),
    ) -> Result<(), Violation> {
        let (instruction, effect, pc) = self.settle(ACCESS, transfer, executed)?;
        let is_expected = match (effect, instruction) {
            (Effect::Load(address), Some(instruction)) => {
                self.cpu.load(&instruction, address, transfer.read);
                transfer.address == address & !3 && transfer.strobes == 0
            }
            (Effect::Store(Store { address, strobes, data }), _) => {
                let mask = (0..4).filter(|byte| strobes >> byte & 1 == 1);
                let mask = mask.map(|byte| 0xff << (8 * byte)).sum::<u32>();
                transfer.address == address
                    && transfer.strobes == strobes
                    && transfer.written & mask == data
            }
            // The core finds a misaligned address only after it began the transfer.
            (Effect::Trap(Trap::MisalignedData(address)), _) if !self.has_used_port => {
                self.has_used_port = true;
                transfer.address == address & !3
            }
            _ => false,
        };
        let expected = Expected(&effect, &instruction, pc);
        let message = || Violation::new(ACCESS, format!("{transfer}, expected {expected}"));
        if is_expected { Ok(()) } else { Err(message()) }
    }

    fn trap(&mut self, executed: &mut impl FnMut(Executed)) -> Result<(), Violation> {
        let (instruction, effect, pc) = self.settle(TRAP, &"a trap", executed)?;
        let expected = Expected(&effect, &instruction, pc);
        let message = || Violation::new(TRAP, format!("a trap, expected {expected}"));
        if matches!(effect, Effect::Trap(_)) { Ok(()) } else { Err(message()) }
    }
}

/// Whether an operation reads the register that `before` writes.
pub fn depends(on: u8, instruction: &Instruction) -> bool {
    let [first, second] = instruction.op.reads();
    on != 0 && (first && instruction.rs1 == on || second && instruction.rs2 == on)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fetch from an address relative to the program.
    fn fetch(address: u32, read: u32) -> Transfer {
        let address = PROGRAM + address;
        Transfer { is_fetch: true, address, strobes: 0, written: 0, read }
    }

    fn follow(transfers: &[Transfer]) -> (Follower, Result<(), String>) {
        let mut follower = Follower::new(true);
        for transfer in transfers {
            if let Err(violation) = follower.transfer(transfer, |_| ()) {
                return (follower, Err(violation.check));
            }
        }
        (follower, Ok(()))
    }

    const NOP: u32 = 0x13;
    const EBREAK: u32 = 0x10_0073;
    /// `beq x0, x0, 8`, `jal x0, 8`, `sw x0, 64(x0)`.
    const BRANCH: u32 = 0x0000_0463;
    const JUMP: u32 = 0x0080_006f;
    const STORE: u32 = 0x0400_2023;
    /// Two `c.nop`.
    const SHORT: u32 = 0x0001_0001;

    #[test]
    fn an_instruction_behind_may_be_fetched_or_not() {
        let (_, result) = follow(&[fetch(0, BRANCH), fetch(4, NOP), fetch(8, NOP)]);
        assert_eq!(result, Ok(()));
        let (_, result) = follow(&[fetch(0, BRANCH), fetch(8, NOP), fetch(12, NOP)]);
        assert_eq!(result, Ok(()));
        let (_, result) = follow(&[fetch(0, JUMP), fetch(4, NOP)]);
        assert_eq!(result.unwrap_err(), FETCH);
        let (_, result) = follow(&[fetch(0, NOP), fetch(8, NOP)]);
        assert_eq!(result.unwrap_err(), FETCH);
    }

    #[test]
    fn a_target_is_fetched_again() {
        // A branch to the second half of the next word.
        let branch = 0x0000_0363;
        let (mut follower, result) = follow(&[fetch(0, branch), fetch(4, SHORT)]);
        assert_eq!((follower.model.cpu.pc - PROGRAM, result), (0, Ok(())));
        assert!(follower.transfer(&fetch(4, SHORT), |_| ()).is_ok());
        assert_eq!(follower.model.cpu.pc - PROGRAM, 6);
        assert!(follower.transfer(&fetch(8, SHORT), |_| ()).is_ok());
    }

    #[test]
    fn a_target_of_a_branch_may_be_fetched_twice() {
        // A branch to the third word, whose halves are a jump to the second half and a nop.
        let (branch, jump) = (0x0000_0463, 0x0001_a009);
        let begin = [fetch(0, branch), fetch(4, NOP)];
        let go = |rest: &[Transfer]| follow(&[&begin[..], rest].concat()).1;
        assert_eq!(go(&[fetch(8, NOP), fetch(8, NOP), fetch(12, NOP)]), Ok(()));
        assert!(go(&[fetch(8, NOP), fetch(8, NOP), fetch(8, NOP)]).is_err());
        // The second fetch is the repetition, or that of the jump's target.
        let short = [fetch(8, jump), fetch(8, jump), fetch(12, NOP)];
        assert_eq!(go(&short), Ok(()));
        assert_eq!(go(&[&short[..1], &short].concat()), Ok(()));
        // A jump is not repeated.
        let begin = [fetch(0, JUMP), fetch(8, NOP), fetch(8, NOP)];
        assert!(follow(&begin).1.is_err());
    }

    #[test]
    fn a_store_comes_before_the_next_but_one_instruction() {
        let store =
            |written| Transfer { is_fetch: false, address: 64, strobes: 0b1111, written, read: 0 };
        let begin = [fetch(0, STORE), fetch(4, NOP)];
        assert_eq!(follow(&[&begin[..], &[store(0), fetch(8, NOP)]].concat()).1, Ok(()));
        for wrong in [store(1), fetch(8, NOP)] {
            let result = follow(&[&begin[..], &[wrong]].concat()).1;
            assert_eq!(result.unwrap_err(), ACCESS);
        }
    }

    #[test]
    fn a_trap_is_at_its_instruction() {
        let (mut follower, _) = follow(&[fetch(0, NOP), fetch(4, EBREAK)]);
        assert!(follower.trap(|_| ()).is_ok());
        assert_eq!(follower.model.cpu.pc - PROGRAM, 4);
        let (mut follower, _) = follow(&[fetch(0, NOP), fetch(4, NOP)]);
        assert_eq!(follower.trap(|_| ()).unwrap_err().check, TRAP);
        let result = follow(&[fetch(0, EBREAK), fetch(4, NOP), fetch(8, NOP)]).1;
        assert_eq!(result.unwrap_err(), TRAP);
    }
}
