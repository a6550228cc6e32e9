//! The conditions of guards: on the packet, on the cycle, on the opcode.

use super::layout::{Context, Header, opcode, qp_state, service};
use ask::*;

/// Bit n of the mask of fixes.
pub const fn fix(n: u32) -> u8 {
    1 << n
}

/// A set of conditions. From `EVENT` on, a condition includes the fix that it depends on, so that a
/// row needs no disjunction.
pub type Conditions = u32;

/// Declares the values of a cycle and their conditions.
macro_rules! cycle_inputs {
    ($( $field:ident, $name:ident = $bit:literal: $meaning:literal; )+) => {
        /// Values for guards in one cycle.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct CycleInputs { $( #[doc = $meaning] pub $field: bool, )+ }

        impl CycleInputs {
            #[inline]
            fn conditions(&self) -> Conditions {
                0 $( | flag(self.$field, $name) )+
            }
        }

        /// The conditions of guards.
        pub mod ask {
            use super::Conditions;

            conditions! {
                Conditions;
                $( $name = $bit: $meaning; )+
                F0 = 13: "F0 is on";
                F2 = 14: "F2 is on";
                F4 = 15: "F4 is on";
                EVENT = 16: "F1 and the packet is solicited";
                WRITE_COMPLETES = 17: "F3 and the packet is an RDMA WRITE with immediate";
                WQE_ENDS = 18: "F5 and the beat on offer is the WQE's last";
                UNACKED = 19: "F6 and the service is not acknowledged";
                REFUSED = 20: "F7 and the QP does not process messages";
            }
        }
    };
}

cycle_inputs! {
    cxt_valid, CXT_VALID = 0: "fetch_cxt_egress_valid";
    wqe_req_ready, WQE_REQ_READY = 1: "wqe_req_ready";
    wqe_resp_valid, WQE_RESP_VALID = 2: "wqe_resp_valid";
    wqe_resp_last, WQE_RESP_LAST = 3: "wqe_resp_last";
    nothing_left, NOTHING_LEFT = 4: "pkt_left = 0";
    nothing_available, NOTHING_AVAILABLE = 5: "avail = 0: earlier packets used up the unit on offer";
    rest_fits, REST_FITS = 6: "pkt_left − chunk = 0: the unit on offer holds the rest of the packet";
    cq_req_ready, CQ_REQ_READY = 7: "cq_req_ready";
    cq_resp_valid, CQ_RESP_VALID = 8: "cq_resp_valid";
    eq_req_ready, EQ_REQ_READY = 9: "eq_req_ready";
    eq_resp_valid, EQ_RESP_VALID = 10: "eq_resp_valid";
    mr_ready, MR_READY = 11: "fetch_mr_ingress_ready";
    length_error, LENGTH_ERROR = 12: "The length-error flag (F5)";
}

/// Sets of opcodes: bit n is net_opcode n.
pub type Opcodes = u32;

/// Last and only packets of SENDs.
pub const SEND_ENDS: Opcodes = 1 << opcode::SEND_LAST
    | 1 << opcode::SEND_ONLY
    | 1 << opcode::SEND_LAST_WITH_IMM
    | 1 << opcode::SEND_ONLY_WITH_IMM;
/// All packets of SENDs.
pub const SENDS: Opcodes = SEND_ENDS | 1 << opcode::SEND_FIRST | 1 << opcode::SEND_MIDDLE;
/// RDMA WRITEs with immediate.
pub const WRITES_WITH_IMM: Opcodes =
    1 << opcode::RDMA_WRITE_LAST_WITH_IMM | 1 << opcode::RDMA_WRITE_ONLY_WITH_IMM;
pub(super) const PLAIN_WRITES: Opcodes = 1 << opcode::RDMA_WRITE_FIRST
    | 1 << opcode::RDMA_WRITE_MIDDLE
    | 1 << opcode::RDMA_WRITE_LAST
    | 1 << opcode::RDMA_WRITE_ONLY;
/// All packets of RDMA WRITEs.
pub const WRITES: Opcodes = PLAIN_WRITES | WRITES_WITH_IMM;
/// Packets that consume a receive WQE.
pub const WITH_WQE: Opcodes = SENDS | WRITES_WITH_IMM;
/// RDMA READ requests.
pub const READS: Opcodes = 1 << opcode::RDMA_READ_REQUEST_FIRST
    | 1 << opcode::RDMA_READ_REQUEST_MIDDLE
    | 1 << opcode::RDMA_READ_REQUEST_LAST
    | 1 << opcode::RDMA_READ_REQUEST_ONLY;
pub(super) const ANY: Opcodes = u32::MAX;

/// Whether a set has an opcode.
pub const fn is_in(set: Opcodes, net_opcode: u64) -> bool {
    set >> net_opcode & 1 == 1
}

/// Whether a service acknowledges packets (S1).
pub const fn is_acknowledged(service_type: u64) -> bool {
    matches!(service_type, service::RC | service::RD | service::XRC)
}

/// Whether a QP in a state processes messages (S1).
pub const fn processes_messages(state: u64) -> bool {
    matches!(state, qp_state::RTR | qp_state::RTS | qp_state::SQD | qp_state::SQE)
}

/// `condition` if it holds, else none.
#[inline]
const fn flag(holds: bool, condition: Conditions) -> Conditions {
    condition * holds as Conditions
}

/// The conditions that hold for a packet, and its opcode.
#[derive(Debug, Clone, Copy)]
pub struct PacketConditions {
    conditions: Conditions,
    pub(super) opcode: Opcodes,
}

impl PacketConditions {
    /// The conditions that hold for a packet under a mask of fixes.
    #[inline]
    pub fn from_packet(fixes: u8, header: &Header, context: &Context) -> Self {
        let fixed = |n| fixes & fix(n) != 0;
        let net_opcode = header.net_opcode.get();
        let with_imm = is_in(WRITES_WITH_IMM, net_opcode);
        let conditions = flag(fixed(0), F0)
            | flag(fixed(2), F2)
            | flag(fixed(4), F4)
            | flag(fixed(5), WQE_ENDS)
            | flag(fixed(1) && header.solicited.get() == 1, EVENT)
            | flag(fixed(3) && with_imm, WRITE_COMPLETES)
            | flag(fixed(6) && !is_acknowledged(header.service_type.get()), UNACKED)
            | flag(fixed(7) && !processes_messages(context.qp_state.get()), REFUSED);
        Self { conditions, opcode: 1 << net_opcode }
    }

    /// The conditions that hold in a cycle.
    #[inline]
    pub(super) fn with(self, cycle: &CycleInputs) -> Conditions {
        // WQE_ENDS combines F5 of the packet with the last beat of the cycle.
        let ends = if cycle.wqe_resp_last { Conditions::MAX } else { !WQE_ENDS };
        self.conditions & ends | cycle.conditions()
    }
}
