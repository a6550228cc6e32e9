//! The rules as data: the transitions, with their guards and the outcome of packets.
//!
//! The golden model executes the row whose guard holds in its state. A test enumerates all cases
//! and checks that exactly one does. The rules of the ring and of the credits are arithmetic and
//! are in the golden model.

pub mod parameters;

use cosim_core::harness::RuleSet;

cosim_core::rules! {
    P0: "no state has this code: to AWAIT_CP";
    P1: "no control packet waits";
    P2: "a control packet waits";
    P3: "no packet is taken";
    P4: "flow: released";
    P5: "rndv_rts: released";
    P6: "rndv_cts: released";
    P7: "short: released";
    P8: "eager: is it posted?";
    P9: "rndv_data: copied to its place and released";
    P10: "no control packet: released, protocol error";
    P11: "the answer is not there";
    P12: "posted: the CP is copied to its place and released";
    P13: "not posted";
    P14: "the unexpected message is complete, a packet waits";
    P15: "the unexpected message is complete, no packet waits";
    P16: "unexpected data, a packet waits";
    P17: "unexpected data, no packet waits";
    P18: "no unexpected DP waits";
    P19: "a packet waits";
    P20: "unexpected DP: copied and released";
    P21: "unexpected DP: kept";
    P22: "no DP: released, protocol error";
    P23: "a packet waits for the ring";
    P24: "more DPs to come";
    P25: "all DPs are there, a packet waits";
    P26: "all DPs are there, no packet waits";
    P27: "posted DP: copied to its place and released";
    P28: "posted DP and finished";
    P29: "nothing is taken, not finished";
    P30: "finished";
    U1: "the pool is low and a temporary buffer granted: the message is copied";
    U2: "the pool is low, but there is no temporary buffer: the message is kept";
    U3: "the pool is not low: the message is kept";
    G1: "a packet leaves the ring, which holds enough";
    G2: "a packet leaves the ring, which is refilled";
    G3: "a packet leaves the ring, which cannot be refilled";
    G4: "the empty ring is refilled";
    O1: "no refill: the pending credit would be too large";
    K1: "new credits";
    K2: "new credits as the older ones are taken";
    K3: "the credits are taken";
    F0: "the CP was the whole message: no DP is waited for";
    R1: "reset";
}

cosim_core::rules! {
    pub enum State {
        AwaitCp = "AWAIT_CP": "no message is open",
        DetermineCpType = "DETERMINE_CP_TYPE": "a CP is taken when there is one",
        CheckPosted = "CHECK_POSTED": "is the eager message posted?",
        ProcUnexpCp = "PROC_UNEXP_CP": "it is not: copy or keep",
        AwaitUnexpDp = "AWAIT_UNEXP_DP": "a DP is waited for",
        ProcUnexpDp = "PROC_UNEXP_DP": "DPs are taken",
        RecvPostedData = "RECV_POSTED_DATA": "DPs go to their place",
        None = "NONE": "code 7",
    }
}

use State::{
    AwaitCp, AwaitUnexpDp, CheckPosted, DetermineCpType, ProcUnexpCp, ProcUnexpDp, RecvPostedData,
};

use PacketOutcome::{Choose, CopyCp, CopyPacket, Keep, Nothing, Release};

impl State {
    /// Whether the state accepts a packet while the ring has a buffer. `is_dp`: it is a DP.
    #[inline]
    pub const fn takes(self, complete: bool, is_dp: bool) -> bool {
        match self {
            DetermineCpType => true,
            ProcUnexpDp => !complete,
            RecvPostedData => is_dp,
            _ => false,
        }
    }
}

/// The conditions of guards, as bits.
pub mod ask {
    conditions! {
        u16;
        VALID = 0: "`pkt_valid`";
        TAKEN = 1: "A packet is accepted";
        COMPLETE = 2: "`complete`";
        OVER = 3: "`complete`, and F0 is on";
        COPYING = 4: "`copying`";
        ANSWER = 5: "`match_rsp`";
        FOUND = 6: "`match_found`";
        DONE = 7: "`posted_done`";
    }
}

use ask::{ANSWER, COMPLETE, COPYING, DONE, FOUND, OVER, TAKEN, VALID};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketOutcome {
    Nothing,
    Release,
    /// Its data is copied and its buffer is released.
    CopyPacket,
    /// So are those of the latched CP.
    CopyCp,
    Keep,
    /// The latched packet is copied or kept, depending on the choice.
    Choose,
}

/// The registers that a row loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    Nothing,
    /// The fields of the CP on the pins.
    Cp,
    /// `complete` takes `pkt_last`.
    Complete,
}

#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub rule: RuleSet,
    pub from: State,
    /// The bits of [`ask`] that must hold.
    pub all: u16,
    /// The bits of [`ask`] that must not hold.
    pub none: u16,
    /// Allowed kinds of the packet on the pins, as bits.
    pub kinds: u8,
    pub to: State,
    pub outcome: PacketOutcome,
    pub load: Load,
    pub error: bool,
}

const FLOW: u8 = 1 << 0;
const RNDV_RTS: u8 = 1 << 1;
const RNDV_CTS: u8 = 1 << 2;
const SHORT: u8 = 1 << 3;
const EAGER: u8 = 1 << 4;
const RNDV_DATA: u8 = 1 << 5;
const DP: u8 = 1 << 6;
const KIND_7: u8 = 1 << 7;

/// A row that accepts no packet and gives no packet an outcome.
const fn row(rule: RuleSet, from: State, all: u16, none: u16, to: State) -> Row {
    let (outcome, load) = (Nothing, Load::Nothing);
    Row { rule, from, all, none, kinds: 0xff, to, outcome, load, error: false }
}

impl Row {
    const fn for_kinds(self, kinds: u8) -> Self {
        Self { kinds, ..self }
    }

    const fn outcome(self, outcome: PacketOutcome) -> Self {
        Self { outcome, ..self }
    }

    const fn load(self, load: Load) -> Self {
        Self { load, ..self }
    }

    const fn error(self) -> Self {
        Self { error: true, ..self }
    }

    /// Whether the guard holds. `requested`: bits of [`ask`]; `kind`: the packet on the pins.
    #[inline]
    pub const fn applies(&self, requested: u16, kind: u8) -> bool {
        let Self { all, none, kinds, .. } = *self;
        requested & all == all && requested & none == 0 && kinds >> kind & 1 == 1
    }
}

/// A row that accepts a control packet.
const fn cp(rule: RuleSet, kinds: u8, to: State, outcome: PacketOutcome) -> Row {
    row(rule, DetermineCpType, TAKEN, 0, to).for_kinds(kinds).outcome(outcome).load(Load::Cp)
}

/// A row that accepts a DP of an unexpected message.
const fn dp(rule: RuleSet, all: u16, none: u16, outcome: PacketOutcome) -> Row {
    let row = row(rule, ProcUnexpDp, TAKEN | all, COMPLETE | none, ProcUnexpDp);
    row.for_kinds(DP).outcome(outcome).load(Load::Complete)
}

/// Section 7 of the specification, state by state.
pub const ROWS: [Row; 31] = [
    row(P1, AwaitCp, 0, VALID, AwaitCp),
    row(P2, AwaitCp, VALID, 0, DetermineCpType),
    row(P3, DetermineCpType, 0, TAKEN, DetermineCpType),
    cp(P4, FLOW, AwaitCp, Release),
    cp(P5, RNDV_RTS, AwaitCp, Release),
    cp(P6, RNDV_CTS, AwaitCp, Release),
    cp(P7, SHORT, AwaitCp, Release),
    cp(P8, EAGER, CheckPosted, Nothing),
    cp(P9, RNDV_DATA, RecvPostedData, CopyPacket),
    cp(P10, DP | KIND_7, AwaitCp, Release).error(),
    row(P11, CheckPosted, 0, ANSWER, CheckPosted),
    row(P12, CheckPosted, ANSWER | FOUND, 0, RecvPostedData).outcome(CopyCp),
    row(P13, CheckPosted, ANSWER, FOUND, ProcUnexpCp),
    row(P14, ProcUnexpCp, OVER | VALID, 0, DetermineCpType).outcome(Choose),
    row(P15, ProcUnexpCp, OVER, VALID, AwaitCp).outcome(Choose),
    row(P16, ProcUnexpCp, VALID, OVER, ProcUnexpDp).outcome(Choose),
    row(P17, ProcUnexpCp, 0, OVER | VALID, AwaitUnexpDp).outcome(Choose),
    row(P18, AwaitUnexpDp, 0, VALID, AwaitUnexpDp),
    row(P19, AwaitUnexpDp, VALID, 0, ProcUnexpDp),
    dp(P20, COPYING, 0, CopyPacket),
    dp(P21, 0, COPYING, Keep),
    row(P22, ProcUnexpDp, TAKEN, COMPLETE, ProcUnexpDp).for_kinds(!DP).outcome(Release).error(),
    row(P23, ProcUnexpDp, VALID, COMPLETE | TAKEN, ProcUnexpDp),
    row(P24, ProcUnexpDp, 0, COMPLETE | VALID, AwaitUnexpDp),
    row(P25, ProcUnexpDp, COMPLETE | VALID, 0, DetermineCpType),
    row(P26, ProcUnexpDp, COMPLETE, VALID, AwaitCp),
    row(P27, RecvPostedData, TAKEN, DONE, RecvPostedData).outcome(CopyPacket),
    row(P28, RecvPostedData, TAKEN | DONE, 0, AwaitCp).outcome(CopyPacket),
    row(P29, RecvPostedData, 0, TAKEN | DONE, RecvPostedData),
    row(P30, RecvPostedData, DONE, TAKEN, AwaitCp),
    row(P0, State::None, 0, 0, AwaitCp),
];

/// The index of the row for each state, bits of [`ask`] and packet kind. A test shows that exactly
/// one guard holds for each.
static ROW_OF: [u8; 8 << 11] = {
    let mut row_of = [0; 8 << 11];
    let mut index = 0;
    while index < ROWS.len() {
        let row = &ROWS[index];
        let mut requested_and_kind = 0;
        while requested_and_kind < 1 << 11 {
            if row.applies(requested_and_kind >> 3, (requested_and_kind & 7) as u8) {
                row_of[(row.from as usize) << 11 | requested_and_kind as usize] = index as u8;
            }
            requested_and_kind += 1;
        }
        index += 1;
    }
    row_of
};

/// The row that applies. `requested`: 8 bits of [`ask`]; `kind`: the packet on the pins, 3 bits.
#[inline]
pub fn the_row(state: State, requested: u16, kind: u8) -> &'static Row {
    let case = (state as usize) << 11 | usize::from(requested & 0xff) << 3 | usize::from(kind & 7);
    &ROWS[usize::from(ROW_OF[case])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::{recv::Recv, testing};

    #[test]
    fn every_rule_of_the_specification_is_there_and_no_other() {
        testing::rules_are_those_of_the_specification::<Recv>("PUGOKF", &["R1"]);
    }

    #[test]
    fn each_row_leads_where_the_specification_says() {
        for row in &ROWS {
            let cells =
                testing::rows::<Recv>().find(|cells| cells[0] == row.rule.names(&RULES)).unwrap();
            let from = if cells[1] == "code 7" { "NONE" } else { cells[1] };
            let to = if cells[3] == "stays" { from } else { cells[3] };
            assert_eq!([row.from, row.to].map(State::name), [from, to], "{cells:?}");
            assert_eq!(row.error, cells[4].contains("`protocol_error` = 1"), "{cells:?}");
            let outcome = match cells[4].split([';', ',']).next().unwrap() {
                "copy and release the packet" => CopyPacket,
                "copy and release CP" => CopyCp,
                "release the packet" => Release,
                "keep the packet" => Keep,
                "as below" => Choose,
                _ => Nothing,
            };
            assert_eq!(row.outcome, outcome, "{cells:?}");
        }
    }

    /// Whether the conditions are consistent: an accepted packet is valid, and the state accepts
    /// it.
    fn is_possible(state: State, requested: u16, kind: u8) -> bool {
        let takes = state.takes(requested & COMPLETE != 0, kind == 6);
        (requested & TAKEN == 0 || takes && requested & VALID != 0)
            && (requested & OVER == 0 || requested & COMPLETE != 0)
    }

    /// Evaluates every guard for every case. Exactly one holds.
    #[test]
    fn exactly_one_row_applies_to_each_case() {
        for state in State::ALL {
            let all = (0..256_u16).flat_map(|requested| (0..8).map(move |kind| (requested, kind)));
            for (requested, kind) in
                all.filter(|(requested, kind)| is_possible(state, *requested, *kind))
            {
                let holds = |row: &&Row| row.from == state && row.applies(requested, kind);
                let holding: Vec<&Row> = ROWS.iter().filter(holds).collect();
                assert_eq!(holding.len(), 1, "{state:?} {requested:#010b} {kind}");
                assert_eq!(the_row(state, requested, kind).rule, holding[0].rule);
            }
        }
    }
}
