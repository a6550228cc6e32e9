//! The environment: the memory of the core. It answers each transfer after the stall that the
//! traffic says.

use crate::rtl::{Bits1, Bits32, Inputs, Outputs};
use crate::stimulus::{Memory, Traffic};
use cosim_core::harness::{self, Noise, Parameters};
use cosim_core::value::Uint;

/// Cycles after the trap, in which the core must be quiet.
const DRAIN: u64 = 8;
/// Transfers after which a case ends, because a program may have an endless loop.
const MOST_TRANSFERS: u64 = 2000;
/// Cycles without a transfer that an instruction takes at most: a division, a trap after the
/// co-processors do not answer.
const SLACK: u64 = 150;
/// Cycles in reset behind the harness's one. The multiplier starts by itself after a shorter reset,
/// and its result can take the place of that of a later instruction.
const RESET: u64 = 1;

/// The environment of one case.
#[derive(Debug, Clone)]
pub struct Environment<'a> {
    noise: Noise,
    memory: Memory,
    stalls: std::slice::Iter<'a, Uint<12>>,
    longest_stall: u64,
    /// A transfer that is not answered: the cycles until then, and the word that it reads.
    pending: Option<(u64, Option<u32>)>,
    transfers: u64,
    instructions: u64,
    /// Cycles that the reset still lasts.
    reset: u64,
    /// Cycles since the trap.
    trapped: u64,
}

impl<'a> harness::Environment<'a, Inputs, Outputs, Traffic> for Environment<'a> {
    fn new(traffic: &'a Traffic, _: &Parameters) -> Self {
        Self {
            noise: Noise::new(traffic.noise.get()),
            memory: Memory::new(traffic),
            stalls: traffic.stalls.iter(),
            longest_stall: traffic.stalls.iter().map(|stall| stall.get()).max().unwrap_or(0),
            pending: None,
            transfers: 0,
            instructions: 0,
            reset: RESET,
            trapped: 0,
        }
    }

    #[inline]
    fn drive(&mut self, inputs: &mut Inputs) {
        // Exhaustive, so that a changed port list of the RTL does not compile.
        let Inputs { resetn, mem_ready, mem_rdata, padding: _ } = inputs;
        let [noise] = self.noise.words();
        let answered = self.pending.filter(|(wait, _)| *wait == 0);
        let word = answered.and_then(|(_, word)| word).unwrap_or(noise);
        *resetn = Bits1::from(self.reset == 0);
        *mem_ready = Bits1::from(answered.is_some());
        *mem_rdata = Bits32::new(word.into());
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        if self.reset > 0 {
            self.reset -= 1;
            return;
        }
        let (is_valid, is_ready) = (outputs.mem_valid.is_high(), inputs.mem_ready.is_high());
        let (address, strobes) = (outputs.mem_addr.get() as u32, outputs.mem_wstrb.get() as u8);
        if is_valid && is_ready {
            self.transfers += 1;
            self.memory.write(address, strobes, outputs.mem_wdata.get() as u32);
        }
        let is_write = outputs.mem_la_write.is_high();
        self.pending = match self.pending {
            // The transfer waits.
            Some((wait, word)) if is_valid && !is_ready => Some((wait.saturating_sub(1), word)),
            // A transfer begins in the next cycle.
            _ if is_write || outputs.mem_la_read.is_high() => {
                let word = self.memory.read(outputs.mem_la_addr.get() as u32 & !3);
                let wait = self.stalls.next().map_or(0, |stall| stall.get());
                Some((wait, Some(word).filter(|_| !is_write)))
            }
            // A transfer that the core did not announce.
            None if is_valid => Some((0, None)),
            _ => None,
        };
        self.instructions += outputs.rvfi_valid.get();
        self.trapped += outputs.trap.get();
    }

    #[inline]
    fn finished(&self) -> bool {
        self.trapped >= DRAIN + self.longest_stall || self.transfers >= MOST_TRANSFERS
    }

    #[inline]
    fn handshakes(&self) -> u64 {
        self.transfers
    }

    #[inline]
    fn progress_timeout(&self) -> u64 {
        SLACK + 2 * self.longest_stall
    }

    fn packets(&self) -> u64 {
        self.instructions
    }
}
