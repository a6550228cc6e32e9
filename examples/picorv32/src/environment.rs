//! The environment: the memory of the core. It answers each transfer after the stall that the
//! traffic says.

use crate::COMPRESSED_ISA;
use crate::instructions::disassemble;
use crate::rtl::{Bits1, Bits32, Inputs, Outputs};
use crate::stimulus::{MEMORY, PROGRAM, Traffic, addresses};
use cosim_core::harness::{self, Noise, Parameters};
use cosim_core::value::Uint;

/// Cycles after the trap, in which the core must be quiet.
const DRAIN: u64 = 8;
/// Transfers after which a case ends, because a program may have an endless loop.
pub const MOST_TRANSFERS: u64 = 2000;
/// Cycles without a transfer that an instruction takes at most: a division, a trap after the
/// co-processors do not answer.
const SLACK: u64 = 150;
/// Cycles in reset behind the harness's one. The multiplier starts by itself after a shorter reset,
/// and its result can take the place of that of a later instruction.
const RESET: u64 = 1;

/// A transfer that is not answered.
#[derive(Debug, Clone, Copy)]
struct Pending {
    address: u32,
    is_write: bool,
    /// Cycles until it is answered.
    wait: u64,
}

/// The environment of one case.
#[derive(Debug, Clone)]
pub struct Environment<'a> {
    traffic: &'a Traffic,
    has_compressed: bool,
    noise: Noise,
    memory: Vec<u16>,
    stalls: std::slice::Iter<'a, Uint<12>>,
    longest_stall: u64,
    pending: Option<Pending>,
    transfers: u64,
    /// The address of each instruction, and whether it was fetched.
    addresses: Vec<u32>,
    fetched: Vec<bool>,
    last_fetch: u32,
    /// Cycles that the reset still lasts.
    reset: u64,
    /// Cycles since the trap.
    trapped: u64,
}

fn index(address: u32) -> usize {
    ((address & !3) % MEMORY / 2) as usize
}

impl Environment<'_> {
    fn read(&self, address: u32) -> u32 {
        let first = index(address);
        u32::from(self.memory[first]) | u32::from(self.memory[first + 1]) << 16
    }

    fn write(&mut self, address: u32, strobes: u8, word: u32) {
        let mask = (0..4).filter(|byte| strobes >> byte & 1 == 1);
        let mask = mask.map(|byte| 0xff << (8 * byte)).sum::<u32>();
        let word = self.read(address) & !mask | word & mask;
        let first = index(address);
        self.memory[first] = word as u16;
        self.memory[first + 1] = (word >> 16) as u16;
    }

    /// The instructions around the last fetch.
    pub fn in_flight(&self) -> Vec<String> {
        let at = self.addresses.partition_point(|address| *address <= self.last_fetch);
        let shown = at.saturating_sub(3)..self.addresses.len().min(at + 2);
        let line = |index: usize| {
            let address = self.addresses[index];
            let half = |address: u32| {
                u32::from(self.memory.get(address as usize / 2).copied().unwrap_or(0))
            };
            let word = half(address) | half(address + 2) << 16;
            let name = match index < self.traffic.program.len() {
                true => format!("program[{index}]"),
                false => "the end".to_owned(),
            };
            format!("{address:#06x}: {} ({name})", disassemble(word, self.has_compressed))
        };
        shown.map(line).collect()
    }
}

impl<'a> harness::Environment<'a, Inputs, Outputs, Traffic> for Environment<'a> {
    fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        let addresses = addresses(&traffic.program);
        Self {
            traffic,
            has_compressed: parameters.get(COMPRESSED_ISA) == 1,
            noise: Noise::new(traffic.noise.get()),
            memory: traffic.memory(),
            stalls: traffic.stalls.iter(),
            longest_stall: traffic.stalls.iter().map(|stall| stall.get()).max().unwrap_or(0),
            pending: None,
            transfers: 0,
            fetched: vec![false; addresses.len()],
            addresses,
            last_fetch: PROGRAM,
            reset: RESET,
            trapped: 0,
        }
    }

    #[inline]
    fn drive(&mut self, inputs: &mut Inputs) {
        // Exhaustive, so that a changed port list of the RTL does not compile.
        let Inputs { resetn, mem_ready, mem_rdata, padding: _ } = inputs;
        let [noise] = self.noise.words();
        let answered = self.pending.filter(|pending| pending.wait == 0);
        let read = answered.filter(|pending| !pending.is_write);
        *resetn = Bits1::from(self.reset == 0);
        *mem_ready = Bits1::from(answered.is_some());
        *mem_rdata = Bits32::new(u64::from(read.map_or(noise, |read| self.read(read.address))));
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        if self.reset > 0 {
            self.reset -= 1;
            return;
        }
        let is_valid = outputs.mem_valid.get() == 1;
        let (address, strobes) = (outputs.mem_addr.get() as u32, outputs.mem_wstrb.get() as u8);
        let is_ready = inputs.mem_ready.get() == 1;
        if is_valid && is_ready {
            self.transfers += 1;
            self.write(address, strobes, outputs.mem_wdata.get() as u32);
            if outputs.mem_instr.get() == 1 {
                self.last_fetch = address;
                let place = self.addresses.partition_point(|start| *start < address);
                for index in place..self.addresses.len().min(place + 2) {
                    self.fetched[index] |= self.addresses[index] < address.wrapping_add(4);
                }
            }
        }
        let is_write = outputs.mem_la_write.get() == 1;
        self.pending = match self.pending {
            // The transfer waits.
            Some(pending) if is_valid && !is_ready => {
                Some(Pending { wait: pending.wait.saturating_sub(1), ..pending })
            }
            // A transfer begins in the next cycle.
            _ if is_write || outputs.mem_la_read.get() == 1 => Some(Pending {
                address: outputs.mem_la_addr.get() as u32,
                is_write,
                wait: self.stalls.next().map_or(0, |stall| stall.get()),
            }),
            // A transfer that the core did not announce.
            None if is_valid => Some(Pending { address, is_write: strobes != 0, wait: 0 }),
            _ => None,
        };
        self.trapped += u64::from(outputs.trap.get() == 1);
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
        let program = &self.fetched[..self.traffic.program.len()];
        program.iter().filter(|fetched| **fetched).count() as u64
    }
}
