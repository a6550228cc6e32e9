//! Layouts of the wide ports and the codes in them (spec, "Layouts"). Widths are in bits.

use crate::blocks::thread2::rtl::{
    Bits64, Bits96, Bits128, Bits224, Bits256, Bits416, Bits488, Bits576,
};
use cosim_core::layout;
use cosim_core::verilated::Field;

layout! {
    /// `fetch_cxt_egress_head`: the contexts of QP, CQ and EQ.
    pub struct Context in Bits416 {
        /// Service type of the QP. The packet's own service type is used instead.
        qp_service_type [34:32],
        /// See [`qp_state`].
        qp_state [37:35],
        /// log2 of the bytes of an RQ entry; 6 to 10 are legal.
        rq_entry_sz_log [47:40],
        /// Completion queue of received messages.
        rcv_cqn [63:48],
        /// Protection domain of the QP.
        qp_pd [95:64],
        /// Key of the RQ's memory region.
        rq_lkey [127:96],
        /// Bytes of the RQ.
        rq_length [159:128],
        /// log2 of the CQ's entries of 32 bytes.
        cq_log_size [167:160],
        /// Event queue of the CQ.
        cq_comp_eqn [223:192],
        /// Protection domain of the CQ.
        cq_pd [255:224],
        /// Key of the CQ's memory region.
        cq_lkey [287:256],
        /// log2 of the EQ's entries of 32 bytes.
        eq_log_size [295:288],
        /// Interrupt vector of the EQ.
        eq_msix [311:296],
        /// Protection domain of the EQ.
        eq_pd [351:320],
        /// Key of the EQ's memory region.
        eq_lkey [383:352],
    }
}

layout! {
    /// `fetch_cxt_egress_data`: the packet's header.
    pub struct Header in Bits488 {
        /// QP of the sender.
        remote_qpn [23:0],
        /// See [`opcode`].
        net_opcode [28:24],
        /// See [`service`].
        service_type [31:29],
        /// QP of the receiver; its low 8 bits index the tables.
        local_qpn [55:32],
        /// The sender asks for an event.
        solicited [56:56],
        /// Remote key of an RDMA operation.
        rkey [95:64],
        /// Remote address of an RDMA operation.
        raddr [159:96],
        /// Immediate data.
        immediate [191:160],
        /// Destination MAC address.
        dmac [239:192],
        /// Source MAC address.
        smac [287:240],
        /// Destination IP address.
        dip [319:288],
        /// Source IP address.
        sip [351:320],
        /// Where the payload lies in the packet buffer.
        pkt_start_addr [367:352],
        /// Bytes of payload.
        pkt_length [383:368],
    }
}

layout! {
    /// First beat of a WQE: where the next one is. Addresses and sizes in slots of 16 bytes.
    pub struct NextUnit in Bits128 {
        /// Opcode of the next WQE.
        next_opcode [4:0],
        /// Where the next WQE begins.
        next_wqe_addr [31:6],
        /// Slots of the next WQE; 0: there is none.
        next_wqe_size [37:32],
        /// Slots of this WQE.
        cur_wqe_size [77:70],
    }
}

layout! {
    /// Further beats of a WQE: a piece of memory to receive into.
    pub struct DataUnit in Bits128 {
        /// Bytes of the piece.
        byte_cnt [30:0],
        /// The data is in the WQE itself.
        inline [31:31],
        /// Key of the memory region.
        lkey [63:32],
        /// Address of the piece.
        laddr [127:64],
    }
}

layout! {
    /// `wqe_req_head`.
    pub struct WqeRequest in Bits576 {
        /// QP whose WQE is wanted.
        local_qpn [23:0],
        /// From the context.
        rq_entry_sz_log [31:24],
        /// From the context.
        rq_lkey [63:32],
        /// From the context.
        rq_length [95:64],
        /// From the context.
        qp_pd [127:96],
    }
}

/// `cq_req_head` and `eq_req_head`: queue number in 23:0, bytes of the queue in 63:32.
pub fn queue_request(number: u64, log_size: u64) -> Bits64 {
    let bytes = if log_size < 27 { 32u64 << log_size } else { 0 };
    Bits64::new(bytes << 32 | number & 0xff_ffff)
}

layout! {
    /// `cq_resp_head` and `eq_resp_head`.
    pub struct QueueResponse in Bits96 {
        /// Local address of the queue's entry.
        laddr [95:32],
    }
}

layout! {
    /// `fetch_mr_ingress_head`.
    pub struct MrHead in Bits224 {
        /// Low byte of the local QPN.
        local_qpn [7:0],
        /// Slots of the request; always 1.
        slot_count [30:24],
        /// No translation, no check.
        bypass [31:31],
        /// See [`mr_flag`].
        flags [63:32],
        /// Protection domain.
        pd [95:64],
        /// Key of the memory region.
        key [127:96],
        /// Absolute or relative address.
        address [191:128],
        /// Bytes.
        length [223:192],
    }
}

layout! {
    /// `fetch_mr_ingress_data`: what the next stage needs to know.
    pub struct MrData in Bits256 {
        /// Receiving QP.
        local_qpn [23:0],
        /// 0xFF: the packet's last request of its kind; else 0.
        tail [31:24],
        /// Sending QP.
        remote_qpn [55:32],
        /// Operation, in the codes of [`opcode`].
        opcode [60:56],
        /// From the packet.
        service_type [63:61],
        /// From the packet.
        immediate [95:64],
        /// From the packet.
        pkt_length [111:96],
        /// From the packet.
        pkt_start_addr [127:112],
        /// Offset of the consumed WQE in slots; CQ request only.
        wqe_addr [151:128],
        /// The packet's opcode; CQ request only.
        net_opcode [156:152],
        /// See [`status`].
        status [159:157],
        /// From the packet.
        sip [191:160],
        /// From the packet.
        dip [223:192],
    }
}

/// Codes of a field, and their names by code; an empty name is a code without meaning.
macro_rules! codes {
    ($(#[$meta:meta])* $visible:vis mod $module:ident of $count:literal {
        $( $name:ident = $code:literal ),+ $(,)?
    }) => {
        $(#[$meta])*
        $visible mod $module {
            $( #[doc = stringify!($name)] pub const $name: u64 = $code; )+

            /// Names by code.
            pub const NAMES: [&str; $count] = {
                let mut names = [""; $count];
                $( names[$code] = stringify!($name); )+
                names
            };
        }
    };
}

codes! {
    /// Operations of packets and of MR requests.
    pub mod opcode of 32 {
        SEND_FIRST = 0, SEND_MIDDLE = 1, SEND_LAST = 2, SEND_LAST_WITH_IMM = 3, SEND_ONLY = 4,
        SEND_ONLY_WITH_IMM = 5, RDMA_WRITE_FIRST = 6, RDMA_WRITE_MIDDLE = 7, RDMA_WRITE_LAST = 8,
        RDMA_WRITE_LAST_WITH_IMM = 9, RDMA_WRITE_ONLY = 10, RDMA_WRITE_ONLY_WITH_IMM = 11,
        RDMA_READ_REQUEST_FIRST = 12, RDMA_READ_REQUEST_MIDDLE = 13, RDMA_READ_REQUEST_LAST = 14,
        RDMA_READ_REQUEST_ONLY = 15, RDMA_READ_RESPONSE_FIRST = 16, RDMA_READ_RESPONSE_MIDDLE = 17,
        RDMA_READ_RESPONSE_LAST = 18, RDMA_READ_RESPONSE_ONLY = 19, ACKNOWLEDGE = 20, GEN_CQE = 26,
        GEN_EVENT = 27,
    }
}

codes! {
    /// Service types of packets.
    pub mod service of 8 { RC = 0, UC = 1, RD = 2, UD = 3, CNP = 4, XRC = 5 }
}

codes! {
    /// States of a queue pair.
    pub mod qp_state of 8 { RESET = 0, INIT = 1, RTR = 2, RTS = 3, SQD = 4, SQE = 5, ERR = 6 }
}

/// Bits of [`MrHead::flags`].
pub mod mr_flag {
    /// The address is absolute.
    pub const ABSOLUTE: u64 = 1 << 26;
    /// The address is relative to the region.
    pub const RELATIVE: u64 = 1 << 25;
    /// The region must allow remote reads.
    pub const REMOTE_READ: u64 = 1 << 2;
    /// The region must allow remote writes.
    pub const REMOTE_WRITE: u64 = 1 << 1;
    /// The region must allow local writes.
    pub const LOCAL_WRITE: u64 = 1 << 0;
}

/// Values of [`MrData::status`].
pub mod status {
    /// The message was received whole.
    pub const GOOD: u64 = 0;
    /// The message was longer than the WQE (fix F5).
    pub const LOCAL_LENGTH_ERROR: u64 = 1;
}

/// Bytes of a slot, the unit of offsets in the RQ.
pub const SLOT_BYTES: u64 = 16;

/// The named fields of a wide port.
pub fn fields(port: &str) -> &'static [(&'static str, Field)] {
    const QUEUE_REQUEST: &[(&str, Field)] =
        &[("queue_number", Field::new(23, 0)), ("queue_bytes", Field::new(63, 32))];
    match port {
        "fetch_cxt_egress_head" => Context::FIELDS,
        "fetch_cxt_egress_data" => Header::FIELDS,
        "fetch_mr_ingress_head" => MrHead::FIELDS,
        "fetch_mr_ingress_data" => MrData::FIELDS,
        "wqe_req_head" => WqeRequest::FIELDS,
        "wqe_resp_data" => DataUnit::FIELDS,
        "cq_req_head" | "eq_req_head" => QUEUE_REQUEST,
        "cq_resp_head" | "eq_resp_head" => QueueResponse::FIELDS,
        _ => &[],
    }
}

/// What a value of a field stands for.
pub fn meaning(field: &str, value: u64) -> Option<String> {
    let of = |names: &[&str]| {
        names.get(value as usize).filter(|name| !name.is_empty()).map(|name| (*name).to_owned())
    };
    match field {
        "net_opcode" | "opcode" => of(&opcode::NAMES),
        "service_type" | "qp_service_type" => of(&service::NAMES),
        "qp_state" => of(&qp_state::NAMES),
        "status" => of(&["good", "local length error"]),
        "flags" => {
            let names = [
                (mr_flag::ABSOLUTE, "absolute"),
                (mr_flag::RELATIVE, "relative"),
                (mr_flag::REMOTE_READ, "remote read"),
                (mr_flag::REMOTE_WRITE, "remote write"),
                (mr_flag::LOCAL_WRITE, "local write"),
            ];
            let set: Vec<&str> =
                names.iter().filter(|(bit, _)| value & bit != 0).map(|(_, name)| *name).collect();
            (!set.is_empty()).then(|| set.join(", "))
        }
        _ => None,
    }
}
