//! The golden model of `RecvSideFsm`, written from the specification, sections 3 to 7.
//!
//! The table of [`rules`] has the transitions. This file has the registers and the arithmetic of
//! the ring and of the credits.

use super::rtl::{Bits1, Bits3, Bits8, Bits16, Bits32, Inputs, Outputs};
use super::rules::parameters::{HIGH, KEEP, LOW, is_repaired};
use super::rules::{
    self, F0, G1, G2, G3, G4, K1, K2, K3, Load, O1, PacketOutcome, R1, Row, State, U1, U2, U3, ask,
};
use cosim_core::harness::{self, Parameters, Rule, RuleSet};

const MOST_PENDING: u64 = 255;

/// The registers of section 4.
#[derive(Debug, Clone, Copy)]
pub(super) struct Registers {
    pub(super) state: State,
    pub(super) ring_level: u64,
    pub(super) credit_pending: u64,
    cp_id: Bits8,
    cp_len: Bits16,
    cp_msg_len: Bits32,
    pub(super) complete: bool,
    pub(super) copying: bool,
}

#[derive(Debug, Clone)]
pub struct Golden {
    low: u64,
    high: u64,
    keep: u64,
    repaired: bool,
    pub(super) registers: Registers,
}

pub struct Cycle {
    row: &'static Row,
    ready: bool,
    taken: bool,
    /// Number of buffers that the ring gets.
    refill: u64,
    /// A refill is wanted and possible, but the pending credit would overflow.
    too_much: bool,
    requests_temp: bool,
    /// The latched CP is copied, in the cycle of the choice.
    copies: bool,
}

/// A handle, or 0 if it is not valid.
#[inline]
fn handle(valid: bool, id: Bits8) -> Bits8 {
    if valid { id } else { Bits8::new(0) }
}

impl Registers {
    fn reset(ring_level: u64) -> Self {
        Self {
            state: State::AwaitCp,
            ring_level,
            credit_pending: 0,
            cp_id: Bits8::new(0),
            cp_len: Bits16::new(0),
            cp_msg_len: Bits32::new(0),
            complete: false,
            copying: false,
        }
    }
}

impl harness::Golden<Inputs, Outputs> for Golden {
    const RULES: &'static [Rule] = &rules::RULES;

    fn unreachable(rule: usize, parameters: &Parameters) -> Option<String> {
        let repaired = is_repaired(parameters);
        let [low, high, keep] = [LOW, HIGH, KEEP].map(|index| parameters.get(index));
        let reason = match Self::RULES[rule].name {
            "P0" => "nothing leads to code 7",
            "P14" | "P15" | "F0" if !repaired => "needs F0",
            "U1" | "U2" if keep == 0 => "with KEEP = 0 the pool is never low",
            // The CP occupies one of 255 buffers.
            "U3" if keep == 255 => "with KEEP = 255 the pool is always low",
            "G1" if low >= high => "with LOW = HIGH each packet is replaced",
            _ => return None,
        };
        Some(reason.to_owned())
    }

    fn new(parameters: &Parameters) -> Self {
        Self {
            low: parameters.get(LOW),
            high: parameters.get(HIGH),
            keep: parameters.get(KEEP),
            repaired: is_repaired(parameters),
            registers: Registers::reset(parameters.get(HIGH)),
        }
    }

    type Cycle = Cycle;

    #[inline]
    fn cycle(&self, inputs: &Inputs) -> Cycle {
        let registers = &self.registers;
        // Section 7, `pkt_ready`.
        let is_dp = inputs.pkt_valid.is_high() && inputs.pkt_kind.get() == 6;
        let ready = registers.state.takes(registers.complete, is_dp) && registers.ring_level > 0;
        let taken = ready && inputs.pkt_valid.is_high();

        let requested = [
            (inputs.pkt_valid.is_high(), ask::VALID),
            (taken, ask::TAKEN),
            (registers.complete, ask::COMPLETE),
            (registers.complete && self.repaired, ask::OVER),
            (registers.copying, ask::COPYING),
            (inputs.match_rsp.is_high(), ask::ANSWER),
            (inputs.match_found.is_high(), ask::FOUND),
            (inputs.posted_done.is_high(), ask::DONE),
        ];
        let requested =
            requested.iter().fold(0, |all, (holds, bit)| all | (u16::from(*holds) * bit));
        let row = rules::the_row(registers.state, requested, inputs.pkt_kind.get() as u8);

        // Section 6: the level without the packet that is taken, and the number of missing buffers.
        let left = registers.ring_level - u64::from(taken);
        let lacks = match (taken, registers.ring_level) {
            (true, _) if left < self.low => self.high - left,
            (false, 0) => self.high,
            _ => 0,
        };
        let wanted = lacks.min(inputs.pool_free.get());
        let fits = registers.credit_pending + wanted <= MOST_PENDING;

        // Section 7, the choice.
        let requests_temp =
            row.outcome == PacketOutcome::Choose && inputs.pool_free.get() < self.keep;
        Cycle {
            row,
            ready,
            taken,
            refill: if fits { wanted } else { 0 },
            too_much: !fits,
            requests_temp,
            copies: requests_temp && inputs.temp_alloc_ok.is_high(),
        }
    }

    #[inline]
    fn outputs(&self, inputs: &Inputs, cycle: &Cycle, outputs: &mut Outputs) {
        // R1: the reset is asynchronous.
        if inputs.rst.is_high() {
            *outputs = Outputs::default();
            return;
        }
        let registers = &self.registers;
        let (copies, keeps, releases) = match cycle.row.outcome {
            PacketOutcome::Nothing => (false, false, false),
            PacketOutcome::Release => (false, false, true),
            PacketOutcome::CopyPacket | PacketOutcome::CopyCp => (true, false, true),
            PacketOutcome::Keep => (false, true, false),
            PacketOutcome::Choose => (cycle.copies, !cycle.copies, cycle.copies),
        };
        let (id, len) = match cycle.row.outcome {
            PacketOutcome::CopyCp | PacketOutcome::Choose => (registers.cp_id, registers.cp_len),
            _ => (inputs.pkt_id, inputs.pkt_len),
        };
        let requests_match = registers.state == State::CheckPosted;
        // Exhaustive, so that a changed port list of the RTL does not compile.
        *outputs = Outputs {
            pkt_ready: Bits1::from(cycle.ready),
            match_req: Bits1::from(requests_match),
            match_id: handle(requests_match, registers.cp_id),
            alloc_valid: Bits1::from(cycle.refill > 0),
            alloc_count: Bits8::new(cycle.refill),
            ring_level: Bits8::new(registers.ring_level),
            credit_valid: Bits1::from(registers.credit_pending > 0),
            credit_count: Bits8::new(registers.credit_pending),
            copy_valid: Bits1::from(copies),
            copy_id: handle(copies, id),
            copy_len: if copies { len } else { Bits16::new(0) },
            keep_valid: Bits1::from(keeps),
            keep_id: handle(keeps, id),
            release_valid: Bits1::from(releases),
            release_id: handle(releases, id),
            temp_alloc_valid: Bits1::from(cycle.requests_temp),
            temp_alloc_len: if cycle.requests_temp { registers.cp_msg_len } else { Bits32::new(0) },
            protocol_error: Bits1::from(cycle.row.error),
            state: Bits3::new(registers.state as u64),
            padding: [0; _],
        };
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, cycle: &Cycle) -> RuleSet {
        if inputs.rst.is_high() {
            self.registers = Registers::reset(self.high);
            return R1;
        }
        let Cycle { row, taken, refill, .. } = *cycle;
        let registers = &mut self.registers;
        let left = registers.ring_level - u64::from(taken);
        let sent = registers.credit_pending > 0 && inputs.credit_ready.is_high();
        let mut fired = row.rule;
        let mut fires = |rule: RuleSet, holds: bool| fired = fired.with(rule.only_if(holds));
        let is_low = left < self.low;
        fires(F0, row.outcome == PacketOutcome::Choose && registers.complete && self.repaired);
        fires(G1, taken && !is_low);
        fires(G2, taken && is_low && refill > 0);
        fires(G3, taken && is_low && refill == 0);
        fires(G4, !taken && refill > 0);
        fires(O1, cycle.too_much);
        fires(K1, refill > 0 && !sent);
        fires(K2, refill > 0 && sent);
        fires(K3, refill == 0 && sent);
        if row.outcome == PacketOutcome::Choose {
            fires(U1, cycle.copies);
            fires(U2, cycle.requests_temp && !cycle.copies);
            fires(U3, !cycle.requests_temp);
            registers.copying = cycle.copies;
        }
        registers.ring_level = left + refill;
        registers.credit_pending = refill + if sent { 0 } else { registers.credit_pending };
        match row.load {
            Load::Nothing => {}
            Load::Complete => registers.complete = inputs.pkt_last.is_high(),
            Load::Cp => {
                registers.cp_id = inputs.pkt_id;
                registers.cp_len = inputs.pkt_len;
                registers.cp_msg_len = inputs.pkt_msg_len;
                registers.complete = inputs.pkt_last.is_high();
            }
        }
        registers.state = row.to;
        fired
    }

    #[inline]
    fn state(&self) -> &'static str {
        self.registers.state.name()
    }
}

#[cfg(test)]
mod tests;
