//! The transition table as data: S0's rows T01 to T46, the decision D1 and the fixes F0 to F7.
//!
//! S0's rows are numbered from the top. A fix that adds a transition to several states has one row
//! for each, with a letter. Exactly one row applies in every cycle; a test checks that by
//! enumeration.

mod conditions;
pub mod layout;

use ask::*;
use conditions::{ANY, PLAIN_WRITES};
pub use conditions::{
    Conditions, CycleInputs, Opcodes, PacketConditions, READS, SEND_ENDS, SENDS, WITH_WQE, WRITES,
    WRITES_WITH_IMM, ask, fix, is_acknowledged, is_in, processes_messages,
};
use layout::opcode;

cosim_core::rules! {
    /// States of the block; the codes are S0's encodings.
    #[derive(Hash)]
    #[allow(non_camel_case_types)]
    #[repr(u8)]
    pub enum State {
        Undefined = "undefined": "a code that is not a state; S0's `default` (T46)",
        IDLE_s = "IDLE_s": "waits for a packet's context and header",
        JUDGE_s = "JUDGE_s": "selects the next state by opcode",
        WQE_REQ_s = "WQE_REQ_s": "requests the WQE from RecvQueueMgt",
        NEXT_UNIT_s = "NEXT_UNIT_s": "accepts the WQE's NextUnit",
        DATA_UNIT_s = "DATA_UNIT_s": "accepts the WQE's DataUnits",
        CQ_REQ_s = "CQ_REQ_s": "requests the CQ's address",
        CQ_RESP_s = "CQ_RESP_s": "receives the CQ's address",
        EQ_REQ_s = "EQ_REQ_s": "requests the EQ's address",
        EQ_RESP_s = "EQ_RESP_s": "receives the EQ's address",
        UPDATE_RQ_s = "UPDATE_RQ_s": "steps the RQ and writes the tables",
        MR_FOR_SEND_s = "MR_FOR_SEND_s": "MR request for a piece of a SEND",
        MR_FOR_WRITE_s = "MR_FOR_WRITE_s": "MR request for an RDMA WRITE",
        MR_FOR_READ_s = "MR_FOR_READ_s": "MR request for an RDMA READ",
        MR_FOR_CQ_s = "MR_FOR_CQ_s": "MR request for the CQE",
        MR_FOR_EQ_s = "MR_FOR_EQ_s": "MR request for the event",
        GEN_ACK_s = "GEN_ACK_s": "requests an acknowledge from the next stage",
    }
}

use State::*;

/// When a row applies: all conditions of `on`, none of `off`, and one of `opcodes`.
#[derive(Debug, Clone, Copy)]
struct Guard {
    on: Conditions,
    off: Conditions,
    opcodes: Opcodes,
}

const fn on(conditions: Conditions) -> Guard {
    Guard { on: conditions, off: 0, opcodes: ANY }
}

const fn off(conditions: Conditions) -> Guard {
    Guard { on: 0, off: conditions, opcodes: ANY }
}

impl Guard {
    const fn and(self, conditions: Conditions) -> Self {
        Self { on: self.on | conditions, ..self }
    }

    const fn off(self, conditions: Conditions) -> Self {
        Self { off: self.off | conditions, ..self }
    }

    const fn opcodes(self, opcodes: Opcodes) -> Self {
        Self { opcodes: self.opcodes & opcodes, ..self }
    }

    const fn opcode(self, opcode: u64) -> Self {
        self.opcodes(1 << opcode)
    }

    #[cfg(test)]
    const fn holds(&self, conditions: Conditions, opcode: Opcodes) -> bool {
        conditions & (self.on | self.off) == self.on && self.opcodes & opcode != 0
    }
}

/// The register and table updates of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Only the state changes.
    None,
    /// Context and header are latched.
    TakePacket,
    /// pkt_left is loaded; parsed and the length-error flag are cleared.
    BeginPacket,
    /// The NextUnit and the RQ offset are latched.
    TakeNextUnit,
    /// A used-up unit is skipped.
    SkipUnit,
    /// As `SkipUnit`, and the length-error flag is set (F5).
    SkipUnitTooShort,
    /// The unit on offer is placed.
    TakeUnit,
    /// As `TakeUnit`, and the length-error flag is set (F5).
    TakeUnitTooShort,
    /// The CQ's address is latched.
    TakeCqAddress,
    /// The EQ's address is latched.
    TakeEqAddress,
    /// The tables are written and the message offset is cleared.
    StepQueue,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The current state.
    pub from: State,
    /// The next state.
    pub to: State,
    /// The updates at the edge.
    pub effect: Effect,
    guard: Guard,
}

const fn row(from: State, to: State, guard: Guard) -> Row {
    Row { from, to, effect: default_effect(from), guard }
}

/// The effect that all rows of a state share.
const fn default_effect(from: State) -> Effect {
    match from {
        JUDGE_s => Effect::BeginPacket,
        UPDATE_RQ_s => Effect::StepQueue,
        _ => Effect::None,
    }
}

impl Row {
    /// The bits of [`ask`] that must and must not hold, and the opcodes.
    pub const fn guard(&self) -> (Conditions, Conditions, Opcodes) {
        (self.guard.on, self.guard.off, self.guard.opcodes)
    }

    const fn does(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }
}

/// A beat is on offer in DATA_UNIT_s, for a packet that parses DataUnits (all except for RDMA WRITE
/// with immediate).
const UNIT: Guard = on(WQE_RESP_VALID).opcodes(!WRITES_WITH_IMM);
const PACKET_PLACED: Guard = UNIT.and(NOTHING_LEFT);
const WQE_AND_PACKET_END: Guard = PACKET_PLACED.and(WQE_RESP_LAST);
/// F5: the MR request of the WQE's last unit is accepted, and the unit holds the rest of the
/// packet.
const LAST_UNIT_TAKEN: Guard = on(MR_READY | WQE_ENDS | REST_FITS);

cosim_core::rules! {
    /// The table, in S0's order. Decisions and fixes follow the rows that they belong to.
    pub const ROWS: [Row];
    T01: "context received, decide by opcode",
        row(IDLE_s, JUDGE_s, on(CXT_VALID)).does(Effect::TakePacket);
    T02: "no context, stay idle", row(IDLE_s, IDLE_s, off(CXT_VALID));
    T03: "the operation consumes a receive WQE",
        row(JUDGE_s, WQE_REQ_s, off(REFUSED).opcodes(WITH_WQE));
    T04: "RDMA WRITE, check the MR at once",
        row(JUDGE_s, MR_FOR_WRITE_s, off(REFUSED).opcodes(PLAIN_WRITES));
    T05: "RDMA READ request, check the MR",
        row(JUDGE_s, MR_FOR_READ_s, off(REFUSED).opcodes(READS));
    T06: "unknown opcode, back to idle",
        row(JUDGE_s, IDLE_s, off(REFUSED).opcodes(!(SENDS | WRITES | READS)));
    F7: "the QP's state does not process messages", row(JUDGE_s, IDLE_s, on(REFUSED));
    T07: "WQE request accepted", row(WQE_REQ_s, NEXT_UNIT_s, on(WQE_REQ_READY));
    T08: "WQE request not accepted, the packet is lost",
        row(WQE_REQ_s, IDLE_s, off(WQE_REQ_READY | ask::F0));
    F0: "WQE request waits", row(WQE_REQ_s, WQE_REQ_s, on(ask::F0).off(WQE_REQ_READY));
    T09: "NextUnit received",
        row(NEXT_UNIT_s, DATA_UNIT_s, on(WQE_RESP_VALID)).does(Effect::TakeNextUnit);
    T10: "no WQE response, wait", row(NEXT_UNIT_s, NEXT_UNIT_s, off(WQE_RESP_VALID));
    T11: "RDMA WRITE LAST with immediate only consumes its WQE",
        row(DATA_UNIT_s, UPDATE_RQ_s, on(WQE_RESP_VALID | WQE_RESP_LAST).opcode(opcode::RDMA_WRITE_LAST_WITH_IMM));
    T12: "RDMA WRITE ONLY with immediate only consumes its WQE",
        row(DATA_UNIT_s, UPDATE_RQ_s, on(WQE_RESP_VALID | WQE_RESP_LAST).opcode(opcode::RDMA_WRITE_ONLY_WITH_IMM));
    D1: "RDMA WRITE with immediate skips a beat that is not the last",
        row(DATA_UNIT_s, DATA_UNIT_s, on(WQE_RESP_VALID).off(WQE_RESP_LAST).opcodes(WRITES_WITH_IMM));
    T13: "SEND LAST complete",
        row(DATA_UNIT_s, UPDATE_RQ_s, WQE_AND_PACKET_END.opcode(opcode::SEND_LAST));
    T14: "SEND ONLY complete",
        row(DATA_UNIT_s, UPDATE_RQ_s, WQE_AND_PACKET_END.opcode(opcode::SEND_ONLY));
    T15: "SEND LAST with immediate complete",
        row(DATA_UNIT_s, UPDATE_RQ_s, WQE_AND_PACKET_END.opcode(opcode::SEND_LAST_WITH_IMM));
    T16: "SEND ONLY with immediate complete",
        row(DATA_UNIT_s, UPDATE_RQ_s, WQE_AND_PACKET_END.opcode(opcode::SEND_ONLY_WITH_IMM));
    T17: "a middle packet of a SEND is placed, acknowledge it",
        row(DATA_UNIT_s, GEN_ACK_s, WQE_AND_PACKET_END.opcodes(!SEND_ENDS).off(UNACKED));
    F6a: "a middle packet of a SEND is placed, its service does not acknowledge",
        row(DATA_UNIT_s, IDLE_s, WQE_AND_PACKET_END.and(UNACKED).opcodes(!SEND_ENDS));
    T18: "the unit has room for this packet, request its memory",
        row(DATA_UNIT_s, MR_FOR_SEND_s, UNIT.off(NOTHING_LEFT | NOTHING_AVAILABLE));
    T19: "no WQE response, wait", row(DATA_UNIT_s, DATA_UNIT_s, off(WQE_RESP_VALID));
    T20: "the packet is placed, skip the WQE's other units",
        row(DATA_UNIT_s, DATA_UNIT_s, PACKET_PLACED.off(WQE_RESP_LAST));
    T21: "the unit was used up by earlier packets, skip it",
        row(DATA_UNIT_s, DATA_UNIT_s, UNIT.and(NOTHING_AVAILABLE).off(NOTHING_LEFT | WQE_ENDS)).does(Effect::SkipUnit);
    F5a: "the WQE ends with a used-up unit: length error",
        row(DATA_UNIT_s, UPDATE_RQ_s, UNIT.and(NOTHING_AVAILABLE | WQE_ENDS).off(NOTHING_LEFT)).does(Effect::SkipUnitTooShort);
    T22: "CQ request accepted", row(CQ_REQ_s, CQ_RESP_s, on(CQ_REQ_READY));
    T23: "CQ request waits", row(CQ_REQ_s, CQ_REQ_s, off(CQ_REQ_READY));
    T24: "CQ address received",
        row(CQ_RESP_s, MR_FOR_CQ_s, on(CQ_RESP_VALID)).does(Effect::TakeCqAddress);
    T25: "no CQ address, wait", row(CQ_RESP_s, CQ_RESP_s, off(CQ_RESP_VALID));
    T26: "EQ request accepted", row(EQ_REQ_s, EQ_RESP_s, on(EQ_REQ_READY));
    T27: "EQ request waits", row(EQ_REQ_s, EQ_REQ_s, off(EQ_REQ_READY));
    T28: "EQ address received",
        row(EQ_RESP_s, MR_FOR_EQ_s, on(EQ_RESP_VALID)).does(Effect::TakeEqAddress);
    T29: "no EQ address, wait", row(EQ_RESP_s, EQ_RESP_s, off(EQ_RESP_VALID));
    T30: "the message is complete, its CQE follows",
        row(UPDATE_RQ_s, CQ_REQ_s, off(LENGTH_ERROR).opcodes(SEND_ENDS));
    T31: "RDMA WRITE with immediate continues with its MR check",
        row(UPDATE_RQ_s, MR_FOR_WRITE_s, off(LENGTH_ERROR).opcodes(WRITES_WITH_IMM));
    T32: "nothing follows, back to idle",
        row(UPDATE_RQ_s, IDLE_s, off(LENGTH_ERROR).opcodes(!(SEND_ENDS | WRITES_WITH_IMM)));
    F5e: "a length error is completed, too", row(UPDATE_RQ_s, CQ_REQ_s, on(LENGTH_ERROR));
    T33: "MR request taken, next DataUnit",
        row(MR_FOR_SEND_s, DATA_UNIT_s, on(MR_READY).off(WQE_ENDS)).does(Effect::TakeUnit);
    T34: "MR request waits", row(MR_FOR_SEND_s, MR_FOR_SEND_s, off(MR_READY));
    F5b: "the WQE's last unit ends the message",
        row(MR_FOR_SEND_s, UPDATE_RQ_s, LAST_UNIT_TAKEN.opcodes(SEND_ENDS)).does(Effect::TakeUnit);
    F5c: "the WQE's last unit ends a middle packet",
        row(MR_FOR_SEND_s, GEN_ACK_s, LAST_UNIT_TAKEN.opcodes(!SEND_ENDS).off(UNACKED)).does(Effect::TakeUnit);
    F6b: "the WQE's last unit ends a middle packet, its service does not acknowledge",
        row(MR_FOR_SEND_s, IDLE_s, LAST_UNIT_TAKEN.and(UNACKED).opcodes(!SEND_ENDS)).does(Effect::TakeUnit);
    F5d: "the WQE ends before the packet: length error",
        row(MR_FOR_SEND_s, UPDATE_RQ_s, on(MR_READY | WQE_ENDS).off(REST_FITS)).does(Effect::TakeUnitTooShort);
    T35: "RDMA WRITE checked, acknowledge it",
        row(MR_FOR_WRITE_s, GEN_ACK_s, on(MR_READY).off(WRITE_COMPLETES | UNACKED).opcodes(WRITES));
    F3: "RDMA WRITE with immediate is completed",
        row(MR_FOR_WRITE_s, CQ_REQ_s, on(MR_READY | WRITE_COMPLETES));
    F6c: "RDMA WRITE checked, its service does not acknowledge",
        row(MR_FOR_WRITE_s, IDLE_s, on(MR_READY | UNACKED).off(WRITE_COMPLETES).opcodes(WRITES));
    T36: "MR request taken but the opcode is no RDMA WRITE",
        row(MR_FOR_WRITE_s, IDLE_s, on(MR_READY).opcodes(!WRITES));
    T37: "MR request waits", row(MR_FOR_WRITE_s, MR_FOR_WRITE_s, off(MR_READY));
    T38: "RDMA READ passed on unchecked, the next stage answers it",
        row(MR_FOR_READ_s, IDLE_s, on(MR_READY).off(ask::F4));
    F4: "RDMA READ passed on with its rkey checked",
        row(MR_FOR_READ_s, IDLE_s, on(MR_READY | ask::F4));
    T39: "MR request waits", row(MR_FOR_READ_s, MR_FOR_READ_s, off(MR_READY));
    T40: "CQE done, acknowledge", row(MR_FOR_CQ_s, GEN_ACK_s, on(MR_READY).off(EVENT | UNACKED));
    F1: "CQE done, the packet asks for an event", row(MR_FOR_CQ_s, EQ_REQ_s, on(MR_READY | EVENT));
    F6d: "CQE done, the service does not acknowledge",
        row(MR_FOR_CQ_s, IDLE_s, on(MR_READY | UNACKED).off(EVENT));
    T41: "MR request waits", row(MR_FOR_CQ_s, MR_FOR_CQ_s, off(MR_READY));
    T42: "event done, acknowledge", row(MR_FOR_EQ_s, GEN_ACK_s, on(MR_READY).off(UNACKED));
    F6e: "event done, the service does not acknowledge",
        row(MR_FOR_EQ_s, IDLE_s, on(MR_READY | UNACKED));
    T43: "MR request not taken, S0 goes back to the CQE",
        row(MR_FOR_EQ_s, MR_FOR_CQ_s, off(MR_READY | ask::F2));
    F2: "MR request waits", row(MR_FOR_EQ_s, MR_FOR_EQ_s, on(ask::F2).off(MR_READY));
    T44: "acknowledge taken, back to idle", row(GEN_ACK_s, IDLE_s, on(MR_READY));
    T45: "acknowledge waits", row(GEN_ACK_s, GEN_ACK_s, off(MR_READY));
    T46: "no state, fall back to idle", row(Undefined, IDLE_s, on(0));
}

/// Number of rows that are evaluated in parallel.
const ABREAST: usize = 4;
/// Maximum number of rows of a state.
const MOST_ROWS: usize = 16;

/// Guards of a state's rows as arrays, so that the compiler evaluates them in parallel and without
/// branches. Unused elements never apply.
#[derive(Clone, Copy)]
struct GuardTable {
    on: [Conditions; ABREAST],
    /// The conditions that are tested, high or low.
    looked_at: [Conditions; ABREAST],
    opcodes: [Opcodes; ABREAST],
    /// The row's index in [`ROWS`], plus one.
    row: [u32; ABREAST],
}

/// The guards of a state. Most states have few, so only used tables are evaluated.
#[derive(Clone, Copy)]
struct StateGuards {
    guards: [GuardTable; MOST_ROWS / ABREAST],
    /// Number of tables that have rows.
    filled: usize,
}

static GUARDS: [StateGuards; State::ALL.len()] = {
    let none = [0; ABREAST];
    // Without opcodes a guard never applies.
    let empty = GuardTable { on: none, looked_at: none, opcodes: none, row: none };
    let empty = StateGuards { guards: [empty; MOST_ROWS / ABREAST], filled: 0 };
    let mut states = [empty; State::ALL.len()];
    let mut rows = [0; State::ALL.len()];
    let mut index = 0;
    while index < ROWS.len() {
        let Row { from, guard, .. } = ROWS[index];
        let state = &mut states[from as usize];
        let place = rows[from as usize] % ABREAST;
        if place == 0 {
            state.filled += 1;
        }
        let guards = &mut state.guards[state.filled - 1];
        guards.on[place] = guard.on;
        guards.looked_at[place] = guard.on | guard.off;
        guards.opcodes[place] = guard.opcodes;
        guards.row[place] = index as u32 + 1;
        rows[from as usize] += 1;
        index += 1;
    }
    states
};

/// The index in [`ROWS`] of the row that applies in a state. A test shows that exactly one does.
#[inline]
pub fn select(state: State, packet: PacketConditions, cycle: &CycleInputs) -> Option<usize> {
    row_of(state, packet.with(cycle), packet.opcode)
}

#[inline]
fn row_of(state: State, conditions: Conditions, opcode: Opcodes) -> Option<usize> {
    let StateGuards { guards, filled } = &GUARDS[state as usize];
    let mut applies = [0; ABREAST];
    for guards in guards.iter().take(*filled) {
        for (place, applies) in applies.iter_mut().enumerate() {
            let by_conditions = conditions & guards.looked_at[place] == guards.on[place];
            let by_opcode = guards.opcodes[place] & opcode == opcode;
            // A mask instead of a branch.
            *applies |= guards.row[place] & u32::from(by_conditions & by_opcode).wrapping_neg();
        }
    }
    let applies = applies.iter().fold(0, |any, row| any | row);
    (applies as usize).checked_sub(1)
}

/// Why a row is unreachable under a mask of fixes; `None` if it is reachable.
pub fn unreachable(index: usize, fixes: u8) -> Option<String> {
    let row = &ROWS[index];
    let fixed = |n| fixes & fix(n) != 0;
    let needs = [
        (ask::F0, 0),
        (EVENT, 1),
        (ask::F2, 2),
        (WRITE_COMPLETES, 3),
        (ask::F4, 4),
        (WQE_ENDS | LENGTH_ERROR, 5),
        (UNACKED, 6),
        (REFUSED, 7),
    ];
    let missing = needs.iter().find(|(condition, n)| row.guard.on & condition != 0 && !fixed(*n));
    if let Some((_, n)) = missing {
        return Some(format!("needs F{n}"));
    }
    let replaced = [(ask::F0, 0), (ask::F2, 2), (ask::F4, 4)];
    if let Some((_, n)) = replaced.iter().find(|(bit, n)| row.guard.off & bit != 0 && fixed(*n)) {
        return Some(format!("replaced by F{n}"));
    }
    match RULES[index].name {
        "T32" => Some("only messages that complete enter UPDATE_RQ_s".to_owned()),
        "T36" => Some("only RDMA WRITEs enter MR_FOR_WRITE_s".to_owned()),
        "T46" => Some("the state register never holds a code that is not a state".to_owned()),
        _ if matches!(row.from, EQ_REQ_s | EQ_RESP_s | MR_FOR_EQ_s) && !fixed(1) => {
            Some("nothing enters EQ_REQ_s without F1".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
