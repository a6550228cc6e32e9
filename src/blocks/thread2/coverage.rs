//! What a regression of `thread2` is to have seen, beside its rows.

use super::Thread2;
use super::golden::{Golden, TableWrites};
use super::layout::opcode;
use super::rows::{self, Effect, ROWS, State, fix};
use super::rtl::Inputs;
use cosim_core::harness::{self, Axis, Bins, Covergroup, Edge, Parameters, Place, Value};

macro_rules! values {
    ($( $name:literal: $meaning:literal, )*) => { &[$( Value { name: $name, meaning: $meaning }, )*] };
}

const OPCODE: Axis = Axis::new(
    "opcode",
    values! {
        "SEND_FIRST": "first packet of a SEND", "SEND_MIDDLE": "middle packet of a SEND",
        "SEND_LAST": "last packet of a SEND", "SEND_LAST_WITH_IMM": "last packet of a SEND, with immediate",
        "SEND_ONLY": "SEND of one packet", "SEND_ONLY_WITH_IMM": "SEND of one packet, with immediate",
        "WRITE_FIRST": "first packet of an RDMA WRITE", "WRITE_MIDDLE": "middle packet of an RDMA WRITE",
        "WRITE_LAST": "last packet of an RDMA WRITE",
        "WRITE_LAST_WITH_IMM": "last packet of an RDMA WRITE, with immediate",
        "WRITE_ONLY": "RDMA WRITE of one packet",
        "WRITE_ONLY_WITH_IMM": "RDMA WRITE of one packet, with immediate",
        "READ_FIRST": "first packet of an RDMA READ request",
        "READ_MIDDLE": "middle packet of an RDMA READ request",
        "READ_LAST": "last packet of an RDMA READ request",
        "READ_ONLY": "RDMA READ request of one packet",
        "not a request": "a response, an acknowledge, or a code of the NIC's own",
        "no opcode": "a code without meaning",
    },
);
const SERVICE: Axis = Axis::new(
    "service",
    values! {
        "RC": "reliable connection", "UC": "unreliable connection", "RD": "reliable datagram",
        "UD": "unreliable datagram", "CNP": "congestion notification",
        "XRC": "extended reliable connection", "6": "a code without meaning",
        "7": "the other code without meaning",
    },
);
const QP_STATE: Axis = Axis::new(
    "QP state",
    values! {
        "processes": "it processes messages: RTR, RTS, SQD, SQE",
        "refuses": "it is another state, or a code without meaning",
    },
);
const OUTCOME: Axis = Axis::new(
    "outcome",
    values! {
        "unknown": "T06: its opcode asks for nothing", "refused": "F7: its QP processes no messages",
        "lost": "T08: RecvQueueMgt was not ready", "read": "T38, F4: passed on to be answered",
        "silent": "F6: its service is not acknowledged", "acknowledged": "T44: an acknowledge was asked for",
        "reset": "a reset ended it",
    },
);
const POSITION: Axis = Axis::new(
    "packet",
    values! {
        "FIRST": "SEND_FIRST", "MIDDLE": "SEND_MIDDLE", "LAST": "SEND_LAST",
        "LAST_WITH_IMM": "SEND_LAST_WITH_IMM", "ONLY": "SEND_ONLY",
        "ONLY_WITH_IMM": "SEND_ONLY_WITH_IMM",
    },
);
const CONTINUES: Axis = Axis::new(
    "packet",
    values! {
        "MIDDLE": "SEND_MIDDLE", "LAST": "SEND_LAST", "LAST_WITH_IMM": "SEND_LAST_WITH_IMM",
    },
);
const STEP: Axis = Axis::new("step", values! { "any": "it stays where it is, or begins anew", });
const UNITS: Axis = Axis::new(
    "pieces",
    values! {
        "0": "nothing of the packet is placed", "1": "it is placed in one piece", "2": "in two",
        "3": "in three", "4 to 7": "in four to seven", "8 or more": "in eight or more",
    },
);
const SPLIT: Axis = Axis::new(
    "piece",
    values! {
        "unit goes on": "the packet ends inside of the unit",
        "packet goes on": "the unit ends inside of the packet",
        "both end": "unit and packet end together",
    },
);
const PART: Axis = Axis::new(
    "unit",
    values! {
        "from its beginning": "nothing of it was used before",
        "rest": "earlier packets have used a part of it",
    },
);
const OPERATION: Axis = Axis::new(
    "operation",
    values! { "SEND": "a SEND", "WRITE": "an RDMA WRITE", "READ": "an RDMA READ request", },
);
const LENGTH: Axis = Axis::new(
    "bytes",
    values! {
        "0": "no payload", "1": "one byte", "2 to 255": "2 to 255 bytes",
        "256 to 4095": "256 to 4095 bytes", "4096": "4096 bytes, the largest MTU",
        "more": "more than any MTU",
    },
);
const WAITING: Axis = Axis::new(
    "state",
    values! {
        "WQE_REQ_s": "the WQE request", "NEXT_UNIT_s": "the NextUnit", "DATA_UNIT_s": "a DataUnit",
        "CQ_REQ_s": "the CQ request", "CQ_RESP_s": "the CQ's address", "EQ_REQ_s": "the EQ request",
        "EQ_RESP_s": "the EQ's address", "MR_FOR_SEND_s": "the MR request of a piece",
        "MR_FOR_WRITE_s": "the MR request of an RDMA WRITE",
        "MR_FOR_READ_s": "the MR request of an RDMA READ", "MR_FOR_CQ_s": "the MR request of a CQE",
        "MR_FOR_EQ_s": "the MR request of an event", "GEN_ACK_s": "the acknowledge",
    },
);
const WAITS: [State; 13] = [
    State::WQE_REQ_s,
    State::NEXT_UNIT_s,
    State::DATA_UNIT_s,
    State::CQ_REQ_s,
    State::CQ_RESP_s,
    State::EQ_REQ_s,
    State::EQ_RESP_s,
    State::MR_FOR_SEND_s,
    State::MR_FOR_WRITE_s,
    State::MR_FOR_READ_s,
    State::MR_FOR_CQ_s,
    State::MR_FOR_EQ_s,
    State::GEN_ACK_s,
];
const CYCLES: Axis = Axis::new(
    "cycles",
    values! {
        "0": "it does not wait", "1": "one cycle", "2 or 3": "two or three cycles",
        "4 to 15": "4 to 15 cycles", "16 or more": "16 cycles or more",
    },
);
const ENTRY: Axis = Axis::new(
    "RQ entry",
    values! {
        "64": "64 bytes", "128": "128 bytes", "256": "256 bytes", "512": "512 bytes",
        "1024": "1024 bytes",
    },
);
const WRAP: Axis = Axis::new(
    "RQ offset",
    values! { "goes on": "the next entry fits behind this one", "wraps": "the RQ begins anew", },
);
const RELEASE: Axis = Axis::new(
    "cell",
    values! {
        "kept": "the next WQE is in the cell",
        "behind": "released: the next WQE is before this one",
        "no next": "released: there is no next WQE",
        "beyond": "released: the next WQE ends beyond the cell",
    },
);
const OWNER: Axis = Axis::new(
    "owner",
    values! { "itself": "the QP's index", "nobody": "0, and the QP's index is another", "another": "another one", },
);
const EVENT: Axis = Axis::new(
    "event",
    values! { "no": "no event follows the CQE", "yes": "F1: an event follows", },
);
const ERROR: Axis = Axis::new(
    "length error",
    values! { "F5a": "the WQE ends with a used-up unit", "F5d": "the WQE ends before the packet", },
);
const FOLLOWS: Axis = Axis::new(
    "QP",
    values! {
        "same": "the QP of the packet before",
        "another": "another QP, and no message is open",
        "between": "another QP, while a message of some QP is open",
    },
);
const KIND: Axis = Axis::new(
    "operation",
    values! { "SEND": "a SEND", "WRITE": "an RDMA WRITE", "READ": "an RDMA READ request", "other": "none of these", },
);
const OFFSET: Axis = Axis::new(
    "offset",
    values! {
        "begun": "it leaves 0", "resumed": "a packet goes on after one of another QP",
        "cleared": "it returns to 0",
        "cleared beside": "it returns to 0, and that of another QP is not 0",
    },
);
/// Every index of the table of message offsets.
const INDEX: Axis = Axis::new("index", &INDICES);
const INDICES: [Value; 256] = {
    const NAMES: [[u8; 2]; 256] = {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut names = [[0; 2]; 256];
        let mut index = 0;
        while index < 256 {
            names[index] = [DIGITS[index / 16], DIGITS[index % 16]];
            index += 1;
        }
        names
    };
    let mut values = [Value { name: "", meaning: "its entry of the table" }; 256];
    let mut index = 0;
    while index < 256 {
        // Digits are ASCII.
        if let Ok(name) = std::str::from_utf8(&NAMES[index]) {
            values[index].name = name;
        }
        index += 1;
    }
    values
};
const FOUND: Axis = Axis::new(
    "state",
    values! {
        "IDLE_s": "no packet is there", "JUDGE_s": "a packet was taken", "WQE_REQ_s": "a WQE is asked for",
        "NEXT_UNIT_s": "the NextUnit is waited for", "DATA_UNIT_s": "DataUnits are parsed",
        "CQ_REQ_s": "the CQ is asked for", "CQ_RESP_s": "the CQ's address is waited for",
        "EQ_REQ_s": "the EQ is asked for", "EQ_RESP_s": "the EQ's address is waited for",
        "UPDATE_RQ_s": "the tables are written", "MR_FOR_SEND_s": "a piece is placed",
        "MR_FOR_WRITE_s": "an RDMA WRITE is checked", "MR_FOR_READ_s": "an RDMA READ is checked",
        "MR_FOR_CQ_s": "a CQE is placed", "MR_FOR_EQ_s": "an event is placed",
        "GEN_ACK_s": "an acknowledge is asked for",
    },
);

/// Every group.
const GROUPS: [Covergroup; 16] = [
    Covergroup::new("services", "packets taken: opcode, service", &[OPCODE, SERVICE]),
    Covergroup::new("qp-states", "packets taken: opcode, state of their QP", &[OPCODE, QP_STATE]),
    Covergroup::new("outcomes", "packets: opcode, how they end", &[OPCODE, OUTCOME])
        .unless(|at, parameters| no_such_outcome(at[0] as u64, at[1], parameters.fixes())),
    Covergroup::new(
        "pieces",
        "packets of SENDs: opcode, DataUnits that they use",
        &[POSITION, UNITS],
    ),
    Covergroup::new(
        "splits",
        "pieces of SENDs: opcode, where unit and packet end",
        &[POSITION, SPLIT],
    ),
    Covergroup::new(
        "resumed",
        "pieces of packets that continue a SEND: opcode, where unit and packet end, whether the unit was used before",
        &[CONTINUES, SPLIT, PART],
    ),
    Covergroup::new("lengths", "packets taken: operation, payload", &[OPERATION, LENGTH]),
    Covergroup::new("waits", "waits: what for, how long", &[WAITING, CYCLES])
        .unless(|at, parameters| no_such_wait(WAITS[at[0]], at[1], parameters.fixes())),
    Covergroup::new("ring", "steps of the RQ: entry size, where it goes", &[ENTRY, WRAP]),
    Covergroup::new("illegal-entries", "steps of an RQ whose entry size is not legal", &[STEP]),
    Covergroup::new(
        "cell",
        "steps of the RQ: what becomes of the cache cell, whose it is",
        &[RELEASE, OWNER],
    ),
    Covergroup::new("events", "CQEs: service, whether an event follows", &[SERVICE, EVENT])
        .unless(|at, parameters| (at[1] == 1 && !fixed(parameters, 1)).then_some("needs F1")),
    Covergroup::new(
        "length-errors",
        "WQEs that are too short: opcode, how they end",
        &[POSITION, ERROR],
    )
    .unless(|_, parameters| (!fixed(parameters, 5)).then_some("needs F5")),
    Covergroup::new(
        "order",
        "packets taken: operation, and the QP of the one before",
        &[KIND, FOLLOWS],
    ),
    Covergroup::new("offsets", "message offsets: index, what becomes of it", &[INDEX, OFFSET]),
    Covergroup::new("resets", "resets: the state they find", &[FOUND]).unless(|at, parameters| {
        let of_eq = matches!(FOUND.values[at[0]].name, "EQ_REQ_s" | "EQ_RESP_s" | "MR_FOR_EQ_s");
        (of_eq && !fixed(parameters, 1)).then_some("nothing enters EQ_REQ_s without F1")
    }),
];

const SERVICES: Place<2> = Place::of(&GROUPS, "services");
const QP_STATES: Place<2> = Place::of(&GROUPS, "qp-states");
const OUTCOMES: Place<2> = Place::of(&GROUPS, "outcomes");
const PIECES: Place<2> = Place::of(&GROUPS, "pieces");
const SPLITS: Place<2> = Place::of(&GROUPS, "splits");
const RESUMED: Place<3> = Place::of(&GROUPS, "resumed");
const ILLEGAL: Place<1> = Place::of(&GROUPS, "illegal-entries");
const LENGTHS: Place<2> = Place::of(&GROUPS, "lengths");
const WAITED: Place<2> = Place::of(&GROUPS, "waits");
const RING: Place<2> = Place::of(&GROUPS, "ring");
const CELL: Place<2> = Place::of(&GROUPS, "cell");
const EVENTS: Place<2> = Place::of(&GROUPS, "events");
const LENGTH_ERRORS: Place<2> = Place::of(&GROUPS, "length-errors");
const ORDER: Place<2> = Place::of(&GROUPS, "order");
const OFFSETS: Place<2> = Place::of(&GROUPS, "offsets");
const RESETS: Place<1> = Place::of(&GROUPS, "resets");

fn fixed(parameters: &Parameters, n: u32) -> bool {
    parameters.fixes() & fix(n) != 0
}

/// How packets of an opcode cannot end.
fn no_such_outcome(opcode: u64, outcome: usize, fixes: u8) -> Option<&'static str> {
    let means = opcode <= opcode::RDMA_READ_REQUEST_ONLY;
    let is_read = means && rows::is_read(opcode);
    let fixed = |n| fixes & fix(n) != 0;
    match OUTCOME.values[outcome].name {
        "unknown" if means => Some("T03 to T05 have its opcode"),
        "unknown" | "reset" => None,
        "refused" => (!fixed(7)).then_some("needs F7"),
        _ if !means => Some("T06: the opcode asks for nothing"),
        "lost" if !rows::consumes_wqe(opcode) => Some("T08: it takes no WQE"),
        "lost" => fixed(0).then_some("replaced by F0"),
        "read" => (!is_read).then_some("T05: it is no RDMA READ request"),
        _ if is_read => Some("T38, F4: an RDMA READ request is answered by the next stage"),
        "silent" => (!fixed(6)).then_some("needs F6"),
        _ => None,
    }
}

/// Which waits there are not.
fn no_such_wait(state: State, cycles: usize, fixes: u8) -> Option<&'static str> {
    let fixed = |n| fixes & fix(n) != 0;
    match state {
        State::EQ_REQ_s | State::EQ_RESP_s | State::MR_FOR_EQ_s if !fixed(1) => {
            Some("nothing enters EQ_REQ_s without F1")
        }
        State::WQE_REQ_s if cycles > 0 && !fixed(0) => {
            Some("T08: without F0 the packet is lost at once")
        }
        State::MR_FOR_EQ_s if cycles > 0 && !fixed(2) => {
            Some("T43: without F2 it goes back to the CQE")
        }
        _ => None,
    }
}

/// What a packet has done so far.
#[derive(Debug, Clone)]
pub struct Coverage {
    /// The state before the edge.
    state: State,
    /// The packet's place on the axis of opcodes.
    opcode: usize,
    /// Cycles in it so far, this one not counted.
    waited: u32,
    /// The piece that is placed at the edge.
    piece: Option<Piece>,
    /// Pieces of the packet so far.
    pieces: usize,
    /// The QP of the packet before.
    last_qp: Option<usize>,
    /// QPs whose offset is not 0.
    open: [u64; 4],
    in_reset: bool,
}

/// Where a piece of a SEND ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// Bytes of the unit that are left for it.
    pub(super) available: u64,
    /// Bytes of the packet that are left.
    pub(super) left: u64,
    /// Earlier packets have used a part of the unit.
    pub(super) is_rest: bool,
}

/// The place of an opcode on its axis.
#[inline]
fn opcode_at(net_opcode: u64) -> usize {
    match net_opcode {
        0..=15 => net_opcode as usize,
        16..=20 | 26 | 27 => 16,
        _ => 17,
    }
}

/// The place of a number of pieces on its axis.
#[inline]
const fn pieces_at(pieces: usize) -> usize {
    match pieces {
        0..=3 => pieces,
        4..=7 => 4,
        _ => 5,
    }
}

/// The place of a number of cycles on its axis.
#[inline]
const fn cycles_at(cycles: u32) -> usize {
    match cycles {
        0 | 1 => cycles as usize,
        2 | 3 => 2,
        4..=15 => 3,
        _ => 4,
    }
}

/// The place of a state on the axis of those that wait.
#[inline]
const fn waiting_at(state: State) -> Option<usize> {
    Some(match state {
        State::WQE_REQ_s => 0,
        State::NEXT_UNIT_s => 1,
        State::DATA_UNIT_s => 2,
        State::CQ_REQ_s => 3,
        State::CQ_RESP_s => 4,
        State::EQ_REQ_s => 5,
        State::EQ_RESP_s => 6,
        State::MR_FOR_SEND_s => 7,
        State::MR_FOR_WRITE_s => 8,
        State::MR_FOR_READ_s => 9,
        State::MR_FOR_CQ_s => 10,
        State::MR_FOR_EQ_s => 11,
        State::GEN_ACK_s => 12,
        State::Undefined | State::IDLE_s | State::JUDGE_s | State::UPDATE_RQ_s => return None,
    })
}

const fn operation_at(net_opcode: u64) -> usize {
    match () {
        () if rows::is_send(net_opcode) => 0,
        () if rows::is_write(net_opcode) => 1,
        () if rows::is_read(net_opcode) => 2,
        () => 3,
    }
}

impl Coverage {
    const AT_FIRST: Self = Self {
        state: State::IDLE_s,
        opcode: 0,
        waited: 0,
        piece: None,
        pieces: 0,
        last_qp: None,
        open: [0; 4],
        in_reset: false,
    };

    #[inline]
    fn is_open(&self, qp: usize) -> bool {
        self.open[qp / 64] >> (qp % 64) & 1 == 1
    }

    #[inline]
    fn is_any_open(&self) -> bool {
        self.open.iter().any(|word| *word != 0)
    }

    /// The packet that was taken at the edge.
    fn count_packet(&mut self, golden: &Golden, bins: &mut Bins<'_>) {
        let (header, context) = golden.packet();
        let net_opcode = header.net_opcode.get();
        let at = opcode_at(net_opcode);
        bins.hit(SERVICES.bin([at, header.service_type.get() as usize]));
        let refuses = !rows::processes_messages(context.qp_state.get());
        bins.hit(QP_STATES.bin([at, usize::from(refuses)]));
        let operation = operation_at(net_opcode);
        if operation < OPERATION.values.len() {
            let length = match header.pkt_length.get() {
                0 => 0,
                1 => 1,
                2..=255 => 2,
                256..=4095 => 3,
                4096 => 4,
                _ => 5,
            };
            bins.hit(LENGTHS.bin([operation, length]));
        }
        let qp = golden.qp();
        if let Some(last) = self.last_qp {
            let follows = match () {
                () if last == qp => 0,
                () if self.is_any_open() => 2,
                () => 1,
            };
            bins.hit(ORDER.bin([operation, follows]));
            if last != qp && self.is_open(qp) && operation == 0 {
                bins.hit(OFFSETS.bin([qp, 1]));
            }
        }
        self.last_qp = Some(qp);
        self.pieces = 0;
    }

    /// The end of a wait.
    #[inline]
    fn count_wait(&self, bins: &mut Bins<'_>) {
        if let Some(waiting) = waiting_at(self.state) {
            bins.hit(WAITED.bin([waiting, cycles_at(self.waited)]));
        }
    }

    fn count_piece(&mut self, golden: &Golden, bins: &mut Bins<'_>) {
        let Some(Piece { available, left, is_rest }) = self.piece else { return };
        let position = opcode_at(golden.packet().0.net_opcode.get());
        let split = match available.cmp(&left) {
            std::cmp::Ordering::Greater => 0,
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => 2,
        };
        bins.hit(SPLITS.bin([position, split]));
        // SEND_MIDDLE, SEND_LAST, SEND_LAST_WITH_IMM.
        if (1..=3).contains(&position) {
            bins.hit(RESUMED.bin([position - 1, split, usize::from(is_rest)]));
        }
        self.pieces += 1;
        let qp = golden.qp();
        let bit = 1 << (qp % 64);
        match (self.is_open(qp), golden.placed(qp) != 0) {
            (false, true) => {
                bins.hit(OFFSETS.bin([qp, 0]));
                self.open[qp / 64] |= bit;
            }
            // It has gone round.
            (true, false) => self.open[qp / 64] &= !bit,
            _ => {}
        }
    }

    /// A step of the RQ.
    fn count_step(&mut self, golden: &Golden, inputs: &Inputs, bins: &mut Bins<'_>) {
        let qp = golden.qp();
        if self.is_open(qp) {
            self.open[qp / 64] &= !(1 << (qp % 64));
            let beside = usize::from(self.is_any_open());
            bins.hit(OFFSETS.bin([qp, 2]));
            if beside == 1 {
                bins.hit(OFFSETS.bin([qp, 3]));
            }
        }
        let TableWrites { wraps, cell, .. } = golden.table_writes(inputs);
        match golden.packet().1.rq_entry_sz_log.get() {
            log @ 6..=10 => bins.hit(RING.bin([log as usize - 6, usize::from(wraps)])),
            _ => bins.hit(ILLEGAL.bin([0])),
        }
        let owner = match inputs.cache_owned_dout.get() {
            owner if owner == qp as u64 => 0,
            0 => 1,
            _ => 2,
        };
        bins.hit(CELL.bin([cell as usize, owner]));
    }

    /// The packet is done with.
    #[inline]
    fn count_outcome(&self, golden: &Golden, outcome: usize, bins: &mut Bins<'_>) {
        let at = opcode_at(golden.packet().0.net_opcode.get());
        bins.hit(OUTCOMES.bin([at, outcome]));
    }
}

/// The place on its axis of how a row ends a packet.
const fn outcome_of(row: &rows::Row) -> Option<usize> {
    if !matches!(row.to, State::IDLE_s) {
        return None;
    }
    Some(match row.from {
        State::JUDGE_s => match row.name.as_bytes() {
            b"F7" => 1,
            _ => 0,
        },
        State::WQE_REQ_s => 2,
        State::MR_FOR_READ_s => 3,
        State::DATA_UNIT_s
        | State::MR_FOR_SEND_s
        | State::MR_FOR_WRITE_s
        | State::MR_FOR_CQ_s
        | State::MR_FOR_EQ_s => 4,
        State::GEN_ACK_s => 5,
        _ => return None,
    })
}

/// By row.
const OUTCOME_OF: [Option<usize>; ROWS.len()] = {
    let mut outcomes = [None; ROWS.len()];
    let mut row = 0;
    while row < ROWS.len() {
        outcomes[row] = outcome_of(&ROWS[row]);
        row += 1;
    }
    outcomes
};
const RESET: usize = 6;

/// Whether a row waits for something that is not there; by row.
const IS_WAIT: [bool; ROWS.len()] = {
    let mut waits = [false; ROWS.len()];
    let mut index = 0;
    while index < ROWS.len() {
        let row = &ROWS[index];
        let stays = row.from as u8 == row.to as u8 && matches!(row.effect, Effect::None);
        // These two pass over a beat.
        waits[index] = stays && !matches!(row.name.as_bytes(), b"T20" | b"D1");
        index += 1;
    }
    waits
};

impl harness::Coverage<Thread2> for Coverage {
    const GROUPS: &'static [Covergroup] = &GROUPS;

    fn new(_: &Parameters) -> Self {
        Self::AT_FIRST
    }

    #[inline]
    fn before(&mut self, golden: &Golden, inputs: &Inputs) {
        self.state = golden.present();
        self.opcode = opcode_at(golden.packet().0.net_opcode.get());
        if self.state == State::MR_FOR_SEND_s {
            self.piece = Some(golden.piece(inputs));
        }
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, Thread2>, bins: &mut Bins<'_>) {
        let Edge { golden, inputs, rules, .. } = *edge;
        if inputs.rst.get() == 1 {
            if !self.in_reset {
                bins.hit(RESETS.bin([self.state as usize - State::IDLE_s as usize]));
                if self.state != State::IDLE_s {
                    bins.hit(OUTCOMES.bin([self.opcode, RESET]));
                }
            }
            *self = Self { in_reset: true, ..Self::AT_FIRST };
            return;
        }
        self.in_reset = false;
        let row = rules.bits().trailing_zeros() as usize;
        let Some(rows::Row { from, to, effect, .. }) = ROWS.get(row) else { return };
        if IS_WAIT[row] {
            self.waited += 1;
            return;
        }
        self.count_wait(bins);
        self.waited = 0;
        match effect {
            Effect::TakePacket => self.count_packet(golden, bins),
            Effect::TakeUnit | Effect::TakeUnitTooShort => self.count_piece(golden, bins),
            Effect::StepQueue => self.count_step(golden, inputs, bins),
            _ => {}
        }
        let net_opcode = golden.packet().0.net_opcode.get();
        if matches!(effect, Effect::SkipUnitTooShort | Effect::TakeUnitTooShort) {
            let kind = usize::from(*effect == Effect::TakeUnitTooShort);
            bins.hit(LENGTH_ERRORS.bin([opcode_at(net_opcode), kind]));
        }
        if matches!(from, State::DATA_UNIT_s | State::MR_FOR_SEND_s)
            && !matches!(to, State::DATA_UNIT_s | State::MR_FOR_SEND_s)
            && rows::is_send(net_opcode)
        {
            bins.hit(PIECES.bin([opcode_at(net_opcode), pieces_at(self.pieces)]));
        }
        if *from == State::MR_FOR_CQ_s {
            let service = golden.packet().0.service_type.get() as usize;
            bins.hit(EVENTS.bin([service, usize::from(*to == State::EQ_REQ_s)]));
        }
        if let Some(outcome) = OUTCOME_OF[row] {
            self.count_outcome(golden, outcome, bins);
        }
    }
}

#[cfg(test)]
mod tests;
