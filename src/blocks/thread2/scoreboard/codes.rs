//! The codes of packets, copied from sections 3 and 6 of the specification for the scoreboard only:
//! errors in the tables of golden model and generator must not reach it.

/// Opcodes of the requests that complete a packet.
pub const ACKNOWLEDGE: u64 = 20;
pub const GEN_CQE: u64 = 26;
pub const GEN_EVENT: u64 = 27;

/// Status of a complete message, and of one that was longer than its WQE.
pub const GOOD: u64 = 0;
pub const LOCAL_LENGTH_ERROR: u64 = 1;

/// Difference of opcodes between the response and the request of an RDMA READ.
pub const READ_RESPONSE: u64 = 4;

/// The operation of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A packet of a SEND other than the last one.
    Send,
    /// The last or only packet of a SEND.
    SendEnd,
    Write,
    WriteWithImmediate,
    Read,
    /// An operation that this block does not serve.
    None,
}

impl Operation {
    /// By net_opcode.
    pub const fn from_opcode(net_opcode: u64) -> Self {
        match net_opcode {
            // FIRST, MIDDLE.
            0 | 1 => Self::Send,
            // LAST, LAST_WITH_IMM, ONLY, ONLY_WITH_IMM.
            2..=5 => Self::SendEnd,
            // FIRST, MIDDLE, LAST, ONLY.
            6 | 7 | 8 | 10 => Self::Write,
            // LAST_WITH_IMM, ONLY_WITH_IMM.
            9 | 11 => Self::WriteWithImmediate,
            // Requests FIRST, MIDDLE, LAST, ONLY.
            12..=15 => Self::Read,
            _ => Self::None,
        }
    }

    pub const fn is_send(self) -> bool {
        matches!(self, Self::Send | Self::SendEnd)
    }

    pub const fn takes_wqe(self) -> bool {
        self.is_send() || matches!(self, Self::WriteWithImmediate)
    }
}

/// Whether a service acknowledges packets: RC, RD, XRC.
pub const fn is_reliable(service_type: u64) -> bool {
    matches!(service_type, 0 | 2 | 5)
}

/// Whether a QP in a state processes messages: RTR, RTS, SQD, SQE.
pub const fn receives(qp_state: u64) -> bool {
    matches!(qp_state, 2..=5)
}
