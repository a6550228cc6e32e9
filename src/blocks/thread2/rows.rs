//! The transition table as data: S0's rows T01 to T46, the decision D1 and the fixes F0 to F7.
//!
//! S0's rows are numbered from the top. A fix that adds a transition to several states has one row
//! for each, with a letter. Exactly one row applies in every cycle; a test checks that by
//! enumeration.

mod conditions;

use super::layout::opcode;
use ask::*;
use conditions::{ANY, PLAIN_WRITES, READS, SEND_ENDS, SENDS, WRITES, WRITES_WITH_IMM};
pub use conditions::{
    Conditions, CycleInputs, Opcodes, PacketConditions, PacketInputs, ask, consumes_wqe, ends_send,
    fix, is_acknowledged, is_read, is_send, is_write, is_write_with_imm, processes_messages,
};

cosim_core::states! {
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
    /// The name in reports: `T18`, `D1`, `F5b`.
    pub name: &'static str,
    /// The current state.
    pub from: State,
    /// The next state.
    pub to: State,
    /// The meaning from S0 or the fix.
    pub meaning: &'static str,
    /// The updates at the edge.
    pub effect: Effect,
    guard: Guard,
}

const fn row(
    name: &'static str,
    from: State,
    to: State,
    guard: Guard,
    meaning: &'static str,
) -> Row {
    Row { name, from, to, meaning, effect: default_effect(from), guard }
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

cosim_core::transitions! {
    /// The table, in S0's order. Decisions and fixes follow the rows that they belong to.
    pub const ROWS: Row = row;
    T01: IDLE_s => JUDGE_s, on(CXT_VALID),
        "context received, decide by opcode", does(Effect::TakePacket);
    T02: IDLE_s => IDLE_s, off(CXT_VALID), "no context, stay idle";
    T03: JUDGE_s => WQE_REQ_s, off(REFUSED).opcodes(SENDS | WRITES_WITH_IMM),
        "the operation consumes a receive WQE";
    T04: JUDGE_s => MR_FOR_WRITE_s, off(REFUSED).opcodes(PLAIN_WRITES),
        "RDMA WRITE, check the MR at once";
    T05: JUDGE_s => MR_FOR_READ_s, off(REFUSED).opcodes(READS), "RDMA READ request, check the MR";
    T06: JUDGE_s => IDLE_s, off(REFUSED).opcodes(!(SENDS | WRITES | READS)),
        "unknown opcode, back to idle";
    F7: JUDGE_s => IDLE_s, on(REFUSED), "the QP's state does not process messages";
    T07: WQE_REQ_s => NEXT_UNIT_s, on(WQE_REQ_READY), "WQE request accepted";
    T08: WQE_REQ_s => IDLE_s, off(WQE_REQ_READY | F0),
        "WQE request not accepted, the packet is lost";
    F0: WQE_REQ_s => WQE_REQ_s, on(F0).off(WQE_REQ_READY), "WQE request waits";
    T09: NEXT_UNIT_s => DATA_UNIT_s, on(WQE_RESP_VALID),
        "NextUnit received", does(Effect::TakeNextUnit);
    T10: NEXT_UNIT_s => NEXT_UNIT_s, off(WQE_RESP_VALID), "no WQE response, wait";
    T11: DATA_UNIT_s => UPDATE_RQ_s, on(WQE_RESP_VALID | WQE_RESP_LAST).opcode(opcode::RDMA_WRITE_LAST_WITH_IMM),
        "RDMA WRITE LAST with immediate only consumes its WQE";
    T12: DATA_UNIT_s => UPDATE_RQ_s, on(WQE_RESP_VALID | WQE_RESP_LAST).opcode(opcode::RDMA_WRITE_ONLY_WITH_IMM),
        "RDMA WRITE ONLY with immediate only consumes its WQE";
    D1: DATA_UNIT_s => DATA_UNIT_s, on(WQE_RESP_VALID).off(WQE_RESP_LAST).opcodes(WRITES_WITH_IMM),
        "RDMA WRITE with immediate skips a beat that is not the last";
    T13: DATA_UNIT_s => UPDATE_RQ_s, WQE_AND_PACKET_END.opcode(opcode::SEND_LAST),
        "SEND LAST complete";
    T14: DATA_UNIT_s => UPDATE_RQ_s, WQE_AND_PACKET_END.opcode(opcode::SEND_ONLY),
        "SEND ONLY complete";
    T15: DATA_UNIT_s => UPDATE_RQ_s, WQE_AND_PACKET_END.opcode(opcode::SEND_LAST_WITH_IMM),
        "SEND LAST with immediate complete";
    T16: DATA_UNIT_s => UPDATE_RQ_s, WQE_AND_PACKET_END.opcode(opcode::SEND_ONLY_WITH_IMM),
        "SEND ONLY with immediate complete";
    T17: DATA_UNIT_s => GEN_ACK_s, WQE_AND_PACKET_END.opcodes(!SEND_ENDS).off(UNACKED),
        "a middle packet of a SEND is placed, acknowledge it";
    F6a: DATA_UNIT_s => IDLE_s, WQE_AND_PACKET_END.and(UNACKED).opcodes(!SEND_ENDS),
        "a middle packet of a SEND is placed, its service does not acknowledge";
    T18: DATA_UNIT_s => MR_FOR_SEND_s, UNIT.off(NOTHING_LEFT | NOTHING_AVAILABLE),
        "the unit has room for this packet, request its memory";
    T19: DATA_UNIT_s => DATA_UNIT_s, off(WQE_RESP_VALID), "no WQE response, wait";
    T20: DATA_UNIT_s => DATA_UNIT_s, PACKET_PLACED.off(WQE_RESP_LAST),
        "the packet is placed, skip the WQE's other units";
    T21: DATA_UNIT_s => DATA_UNIT_s, UNIT.and(NOTHING_AVAILABLE).off(NOTHING_LEFT | WQE_ENDS),
        "the unit was used up by earlier packets, skip it", does(Effect::SkipUnit);
    F5a: DATA_UNIT_s => UPDATE_RQ_s, UNIT.and(NOTHING_AVAILABLE | WQE_ENDS).off(NOTHING_LEFT),
        "the WQE ends with a used-up unit: length error", does(Effect::SkipUnitTooShort);
    T22: CQ_REQ_s => CQ_RESP_s, on(CQ_REQ_READY), "CQ request accepted";
    T23: CQ_REQ_s => CQ_REQ_s, off(CQ_REQ_READY), "CQ request waits";
    T24: CQ_RESP_s => MR_FOR_CQ_s, on(CQ_RESP_VALID),
        "CQ address received", does(Effect::TakeCqAddress);
    T25: CQ_RESP_s => CQ_RESP_s, off(CQ_RESP_VALID), "no CQ address, wait";
    T26: EQ_REQ_s => EQ_RESP_s, on(EQ_REQ_READY), "EQ request accepted";
    T27: EQ_REQ_s => EQ_REQ_s, off(EQ_REQ_READY), "EQ request waits";
    T28: EQ_RESP_s => MR_FOR_EQ_s, on(EQ_RESP_VALID),
        "EQ address received", does(Effect::TakeEqAddress);
    T29: EQ_RESP_s => EQ_RESP_s, off(EQ_RESP_VALID), "no EQ address, wait";
    T30: UPDATE_RQ_s => CQ_REQ_s, off(LENGTH_ERROR).opcodes(SEND_ENDS),
        "the message is complete, its CQE follows";
    T31: UPDATE_RQ_s => MR_FOR_WRITE_s, off(LENGTH_ERROR).opcodes(WRITES_WITH_IMM),
        "RDMA WRITE with immediate continues with its MR check";
    T32: UPDATE_RQ_s => IDLE_s, off(LENGTH_ERROR).opcodes(!(SEND_ENDS | WRITES_WITH_IMM)),
        "nothing follows, back to idle";
    F5e: UPDATE_RQ_s => CQ_REQ_s, on(LENGTH_ERROR), "a length error is completed, too";
    T33: MR_FOR_SEND_s => DATA_UNIT_s, on(MR_READY).off(WQE_ENDS),
        "MR request taken, next DataUnit", does(Effect::TakeUnit);
    T34: MR_FOR_SEND_s => MR_FOR_SEND_s, off(MR_READY), "MR request waits";
    F5b: MR_FOR_SEND_s => UPDATE_RQ_s, LAST_UNIT_TAKEN.opcodes(SEND_ENDS),
        "the WQE's last unit ends the message", does(Effect::TakeUnit);
    F5c: MR_FOR_SEND_s => GEN_ACK_s, LAST_UNIT_TAKEN.opcodes(!SEND_ENDS).off(UNACKED),
        "the WQE's last unit ends a middle packet", does(Effect::TakeUnit);
    F6b: MR_FOR_SEND_s => IDLE_s, LAST_UNIT_TAKEN.and(UNACKED).opcodes(!SEND_ENDS),
        "the WQE's last unit ends a middle packet, its service does not acknowledge", does(Effect::TakeUnit);
    F5d: MR_FOR_SEND_s => UPDATE_RQ_s, on(MR_READY | WQE_ENDS).off(REST_FITS),
        "the WQE ends before the packet: length error", does(Effect::TakeUnitTooShort);
    T35: MR_FOR_WRITE_s => GEN_ACK_s, on(MR_READY).off(WRITE_COMPLETES | UNACKED).opcodes(WRITES),
        "RDMA WRITE checked, acknowledge it";
    F3: MR_FOR_WRITE_s => CQ_REQ_s, on(MR_READY | WRITE_COMPLETES),
        "RDMA WRITE with immediate is completed";
    F6c: MR_FOR_WRITE_s => IDLE_s, on(MR_READY | UNACKED).off(WRITE_COMPLETES).opcodes(WRITES),
        "RDMA WRITE checked, its service does not acknowledge";
    T36: MR_FOR_WRITE_s => IDLE_s, on(MR_READY).opcodes(!WRITES),
        "MR request taken but the opcode is no RDMA WRITE";
    T37: MR_FOR_WRITE_s => MR_FOR_WRITE_s, off(MR_READY), "MR request waits";
    T38: MR_FOR_READ_s => IDLE_s, on(MR_READY).off(F4),
        "RDMA READ passed on unchecked, the next stage answers it";
    F4: MR_FOR_READ_s => IDLE_s, on(MR_READY | F4), "RDMA READ passed on with its rkey checked";
    T39: MR_FOR_READ_s => MR_FOR_READ_s, off(MR_READY), "MR request waits";
    T40: MR_FOR_CQ_s => GEN_ACK_s, on(MR_READY).off(EVENT | UNACKED), "CQE done, acknowledge";
    F1: MR_FOR_CQ_s => EQ_REQ_s, on(MR_READY | EVENT), "CQE done, the packet asks for an event";
    F6d: MR_FOR_CQ_s => IDLE_s, on(MR_READY | UNACKED).off(EVENT),
        "CQE done, the service does not acknowledge";
    T41: MR_FOR_CQ_s => MR_FOR_CQ_s, off(MR_READY), "MR request waits";
    T42: MR_FOR_EQ_s => GEN_ACK_s, on(MR_READY).off(UNACKED), "event done, acknowledge";
    F6e: MR_FOR_EQ_s => IDLE_s, on(MR_READY | UNACKED),
        "event done, the service does not acknowledge";
    T43: MR_FOR_EQ_s => MR_FOR_CQ_s, off(MR_READY | F2),
        "MR request not taken, S0 goes back to the CQE";
    F2: MR_FOR_EQ_s => MR_FOR_EQ_s, on(F2).off(MR_READY), "MR request waits";
    T44: GEN_ACK_s => IDLE_s, on(MR_READY), "acknowledge taken, back to idle";
    T45: GEN_ACK_s => GEN_ACK_s, off(MR_READY), "acknowledge waits";
    T46: Undefined => IDLE_s, on(0), "no state, fall back to idle";
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

/// The guards of every state.
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
    let (conditions, opcode) = (packet.with(cycle), packet.opcode);
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
        (F0, 0),
        (EVENT, 1),
        (F2, 2),
        (WRITE_COMPLETES, 3),
        (F4, 4),
        (WQE_ENDS | LENGTH_ERROR, 5),
        (UNACKED, 6),
        (REFUSED, 7),
    ];
    let missing = needs.iter().find(|(condition, n)| row.guard.on & condition != 0 && !fixed(*n));
    if let Some((_, n)) = missing {
        return Some(format!("needs F{n}"));
    }
    let replaced = [(F0, 0), (F2, 2), (F4, 4)];
    if let Some((_, n)) = replaced.iter().find(|(bit, n)| row.guard.off & bit != 0 && fixed(*n)) {
        return Some(format!("replaced by F{n}"));
    }
    match row.name {
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
