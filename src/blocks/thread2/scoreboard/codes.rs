//! The codes of packets, typed from the specification, sections 3 and 6, for the scoreboard alone: a
//! slip in the tables that golden model and generator share must not reach the judge.

/// Opcodes of the requests that complete a packet.
pub const ACKNOWLEDGE: u64 = 20;
pub const GEN_CQE: u64 = 26;
pub const GEN_EVENT: u64 = 27;

/// Status of a message that was received whole, and of one that was longer than its WQE.
pub const GOOD: u64 = 0;
pub const LOCAL_LENGTH_ERROR: u64 = 1;

/// The request of an RDMA READ has the opcode of the response: that much more.
pub const READ_RESPONSE: u64 = 4;

/// What a packet asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A piece of a SEND that goes on.
    Send,
    /// The last or only piece of a SEND.
    SendEnd,
    Write,
    WriteWithImmediate,
    Read,
    /// Nothing that this block serves.
    None,
}

impl Operation {
    /// By net_opcode.
    pub const fn of(net_opcode: u64) -> Self {
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
