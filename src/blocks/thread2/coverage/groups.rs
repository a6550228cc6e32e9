//! The covergroups of `thread2`, and the reasons for unreachable bins.

use super::super::rules::layout::opcode;
use super::super::rules::{self, State, fix};
use cosim_core::harness::{Axis, CORNERS, Parameters, Value};

cosim_core::coverage! {
    axis OPCODE = "opcode" {
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
    }
    axis SERVICE = "service" {
        "RC": "reliable connection", "UC": "unreliable connection", "RD": "reliable datagram",
        "UD": "unreliable datagram", "CNP": "congestion notification",
        "XRC": "extended reliable connection", "6": "a code without meaning",
        "7": "the other code without meaning",
    }
    axis OUTCOME = "outcome" {
        "unknown": "T06: its opcode asks for nothing", "refused": "F7: its QP processes no messages",
        "lost": "T08: RecvQueueMgt was not ready", "read": "T38, F4: passed on to be answered",
        "silent": "F6: its service is not acknowledged", "acknowledged": "T44: an acknowledge was asked for",
        "reset": "a reset ended it",
    }
    axis POSITION = "packet" {
        "FIRST": "SEND_FIRST", "MIDDLE": "SEND_MIDDLE", "LAST": "SEND_LAST",
        "LAST_WITH_IMM": "SEND_LAST_WITH_IMM", "ONLY": "SEND_ONLY",
        "ONLY_WITH_IMM": "SEND_ONLY_WITH_IMM",
    }
    axis SPLIT = "piece" {
        "unit goes on": "the packet ends inside of the unit",
        "packet goes on": "the unit ends inside of the packet",
        "both end": "unit and packet end together",
    }
    axis PART = "unit" {
        "from its beginning": "nothing of it was used before",
        "rest": "earlier packets have used a part of it",
    }
    axis pub(super) OPERATION = "operation" { "SEND": "a SEND", "WRITE": "an RDMA WRITE", "READ": "an RDMA READ request" }
    axis CYCLES = "cycles" {
        "0": "it does not wait", "1": "one cycle", "2 or 3": "two or three cycles",
        "4 to 15": "4 to 15 cycles", "16 or more": "16 cycles or more",
    }
    axis ENTRY = "RQ entry" {
        "64": "64 bytes", "128": "128 bytes", "256": "256 bytes", "512": "512 bytes",
        "1024": "1024 bytes", "illegal": "its size is not legal",
    }
    axis WRAP = "RQ offset" { "goes on": "the next entry fits behind this one", "wraps": "the RQ begins anew" }
    axis RELEASE = "cell" {
        "kept": "the next WQE is in the cell",
        "behind": "released: the next WQE is before this one",
        "no next": "released: there is no next WQE",
        "beyond": "released: the next WQE ends beyond the cell",
    }
    axis OWNER = "owner" {
        "itself": "the QP's index", "nobody": "0, and the QP's index is another", "another": "another one",
    }
    axis EVENT = "event" { "no": "no event follows the CQE", "yes": "F1: an event follows" }
    axis ERROR = "length error" {
        "F5a": "the WQE ends with a used-up unit", "F5d": "the WQE ends before the packet",
    }
    axis OFFSET = "offset" {
        "begun": "it leaves 0", "resumed": "a packet continues after one of another QP",
        "cleared": "it returns to 0",
        "cleared beside": "it returns to 0, and that of another QP is not 0",
    }
}

const STATES: &[Value] = State::VALUES;
/// The state that a reset finds.
const FOUND: Axis = Axis::new("state", STATES.split_at(1).1);
/// The states that wait: all but IDLE_s, JUDGE_s and UPDATE_RQ_s.
const WAITING: Axis = Axis::new("state", WAITS);
const WAITS: &[Value] = &[
    STATES[3], STATES[4], STATES[5], STATES[6], STATES[7], STATES[8], STATES[9], STATES[11],
    STATES[12], STATES[13], STATES[14], STATES[15], STATES[16],
];
/// Packets that continue a SEND.
const CONTINUES: Axis = Axis::new("packet", POSITION.values.split_at(4).0.split_at(1).1);

/// The place of a number in the range of its field.
const NUMBER: Axis = Axis::new("number", CORNERS);
/// As [`NUMBER`], for numbers that do not reach the end of their range: it would take messages of
/// gigabytes.
const USED: Axis = Axis::new("bytes", CORNERS.split_at(5).0);

cosim_core::coverage! {
    axis REQUEST = "request" {
        "SEND": "MR_FOR_SEND", "WRITE": "MR_FOR_WRITE", "READ": "MR_FOR_READ", "CQE": "MR_FOR_CQ",
        "event": "MR_FOR_EQ",
    }
    axis REGION = "field" {
        "pd": "the protection domain", "key": "the key of the region", "address": "the address",
    }
    axis PACKET_FIELD = "field" {
        "local_qpn": "the receiving QP", "remote_qpn": "the sending QP", "immediate": "immediate data",
        "pkt_start_addr": "where the payload is", "sip": "source address", "dip": "destination address",
    }
    axis WQE_FIELD = "field" {
        "rq_entry_sz_log": "log2 of the bytes of an RQ entry", "rq_lkey": "the key of the RQ",
        "rq_length": "the bytes of the RQ", "qp_pd": "the protection domain of the QP",
    }
    axis QUEUE_FIELD = "field" {
        "rcv_cqn": "the CQ's number", "cq_log_size": "log2 of its entries",
        "cq_comp_eqn": "the EQ's number", "eq_log_size": "log2 of its entries",
    }
    axis STEP_FIELD = "field" {
        "rq_offset": "offset of the WQE in the RQ", "cache_offset": "offset of the WQE in the cell",
        "next_wqe_addr": "where the next WQE is", "next_wqe_size": "its slots",
        "cur_wqe_size": "the slots of this WQE",
    }
    axis UNIT = "unit" {
        "placed": "MR_FOR_SEND: a piece of the packet is in it",
        "behind": "T20, T13 to T17: the packet is placed already",
        "of a WRITE": "D1, T11, T12: it is of an RDMA WRITE with immediate",
    }
    axis CARRY = "carry" {
        "none": "no carry, or nothing is added", "below 32": "the highest one is into bits 1 to 31",
        "32 to 63": "the highest one is into bits 32 to 63", "out of 64": "out of the address",
    }
    axis RING_END = "end" {
        "far below": "the next entry ends at least two bytes before rq_length",
        "one below": "one byte before it", "equal": "there", "one above": "one byte behind it",
        "far above": "at least two bytes behind it",
    }
    axis RING_ORDER = "end" {
        "before": "the next entry ends before rq_length", "equal": "there", "behind": "behind it",
    }
    axis RING_SIZE = "size" {
        "below 2^16": "the next entry ends below 2^16 bytes", "below 2^28": "below 2^28 bytes",
        "2^28 and up": "there or above: the sum needs more bits than the offset",
    }
    axis CELL_END = "end" {
        "below 255": "the next WQE ends below slot 255", "255": "there", "256": "at the end of the cell",
        "257": "one slot beyond it", "beyond": "further",
    }
    axis NEXT = "next WQE" {
        "behind": "at least two slots before this one", "one behind": "one slot", "same": "at its place",
        "one ahead": "one slot ahead", "below 2^8": "further ahead, below 2^8 slots",
        "below 2^16": "below 2^16 slots", "below 2^24": "below 2^24 slots", "2^24 and up": "further",
    }
}

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

cosim_core::coverage! {
    groups pub(super) GROUPS;
    OUTCOMES = "outcomes": "packets: opcode, how they end" [OPCODE, OUTCOME]
        unless |at, parameters| no_such_outcome(at[0] as u64, at[1], parameters);
    SPLITS = "splits": "pieces of SENDs: opcode, where unit and packet end" [POSITION, SPLIT];
    RESUMED = "resumed": "pieces of packets that continue a SEND: opcode, where unit and packet end, whether the unit was used before"
        [CONTINUES, SPLIT, PART];
    WAITED = "waits": "waits: what for, how long" [WAITING, CYCLES]
        unless |at, parameters| no_such_wait(WAITING.values[at[0]].name, at[1], parameters);
    RING = "ring": "steps of the RQ: entry size, where it goes" [ENTRY, WRAP];
    CELL = "cell": "steps of the RQ: change of the cache cell, its owner" [RELEASE, OWNER];
    EVENTS = "events": "CQEs: service, whether an event follows" [SERVICE, EVENT]
        unless |at, parameters| (at[1] == 1 && !fixed(parameters, 1)).then_some("needs F1");
    LENGTH_ERRORS = "length-errors": "WQEs that are too short: opcode, how they end" [POSITION, ERROR]
        unless |_, parameters| (!fixed(parameters, 5)).then_some("needs F5");
    OFFSETS = "offsets": "message offsets: index, change" [INDEX, OFFSET];
    RESETS = "resets": "resets: the state they find" [FOUND]
        unless |at, parameters| no_event(matches!(at[0], 7 | 8 | 14), parameters);
    REGIONS = "regions": "MR requests taken: fields of their head" [REQUEST, REGION, NUMBER]
        unless |at, parameters| no_event(at[0] == 4, parameters);
    BYTES = "bytes": "MR requests of packets taken: bytes" [OPERATION, NUMBER]
        unless |at, _| (at == [0, 0]).then_some("T18: there is payload left, and a place for it");
    PACKET_FIELDS = "packet-fields": "MR requests taken: fields of the packet in their data"
        [PACKET_FIELD, NUMBER];
    WQE_FIELDS = "wqe-requests": "WQE requests taken: fields" [WQE_FIELD, NUMBER];
    QUEUE_FIELDS = "queue-requests": "requests to CQ and EQ taken: fields" [QUEUE_FIELD, NUMBER]
        unless |at, parameters| no_event(at[0] > 1, parameters);
    STEP_FIELDS = "step-fields": "steps of the RQ: what they read" [STEP_FIELD, NUMBER];
    UNIT_BYTES = "units": "DataUnits consumed: byte_cnt" [UNIT, NUMBER]
        unless |at, _| (at == [0, 0]).then_some("T18: there is room in it");
    USED_BYTES = "used-units": "DataUnits that earlier packets used up (T21, F5a): byte_cnt" [USED];
    CARRIES = "carries": "MR requests of SENDs: carries of laddr + (msg_offset - parsed)" [CARRY];
    RING_ENDS = "ring-ends": "steps of the RQ: where the next entry ends, before or behind the RQ"
        [RING_SIZE, RING_ORDER];
    RING_EDGES = "ring-edges": "steps of the RQ: bytes from the end of the next entry to the RQ's"
        [RING_END];
    CELL_ENDS = "cell-ends": "steps of the RQ: end of the next WQE in the cell" [CELL_END];
    DISTANCES = "distances": "steps of the RQ: distance of the next WQE" [NEXT];
}

fn fixed(parameters: &Parameters, n: u32) -> bool {
    parameters.fixes() & fix(n) != 0
}

fn no_such_outcome(opcode: u64, outcome: usize, parameters: &Parameters) -> Option<&'static str> {
    let means = opcode <= opcode::RDMA_READ_REQUEST_ONLY;
    let is_read = means && rules::is_in(rules::READS, opcode);
    match OUTCOME.values[outcome].name {
        "unknown" if means => Some("T03 to T05 have its opcode"),
        "unknown" | "reset" => None,
        "refused" => (!fixed(parameters, 7)).then_some("needs F7"),
        _ if !means => Some("T06: the opcode asks for nothing"),
        "lost" if !rules::is_in(rules::WITH_WQE, opcode) => Some("T08: it takes no WQE"),
        "lost" => fixed(parameters, 0).then_some("replaced by F0"),
        "read" => (!is_read).then_some("T05: it is no RDMA READ request"),
        _ if is_read => Some("T38, F4: an RDMA READ request is answered by the next stage"),
        "silent" => (!fixed(parameters, 6)).then_some("needs F6"),
        _ => None,
    }
}

fn no_such_wait(state: &str, cycles: usize, parameters: &Parameters) -> Option<&'static str> {
    match state {
        "EQ_REQ_s" | "EQ_RESP_s" | "MR_FOR_EQ_s" if !fixed(parameters, 1) => {
            no_event(true, parameters)
        }
        "WQE_REQ_s" if cycles > 0 && !fixed(parameters, 0) => {
            Some("T08: without F0 the packet is lost at once")
        }
        "MR_FOR_EQ_s" if cycles > 0 && !fixed(parameters, 2) => {
            Some("T43: without F2 it goes back to the CQE")
        }
        _ => None,
    }
}

/// A reason if the bin needs an event and there is none.
fn no_event(needs_one: bool, parameters: &Parameters) -> Option<&'static str> {
    (needs_one && !fixed(parameters, 1)).then_some("nothing enters EQ_REQ_s without F1")
}
