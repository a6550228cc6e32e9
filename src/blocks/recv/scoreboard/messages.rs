//! The progress of the latest message, and the states of the block that fit it.

use super::super::rules::State;
use super::super::traffic::DP;

/// A CP that was accepted and is not processed yet.
#[derive(Debug, Clone, Copy)]
pub struct Cp {
    pub id: u64,
    pub len: u64,
    pub msg_len: u64,
    pub last: bool,
}

/// The state of the latest message.
#[derive(Debug, Clone, Copy)]
pub enum MessageState {
    /// It is over; the block may be in one of these states.
    Over(u8),
    /// The block asks whether it is posted.
    Requested(Cp),
    /// It is not posted; the block chooses whether to copy.
    Chosen(Cp),
    /// Its DPs are copied or kept.
    Unexpected { copies: bool },
    /// Its DPs are received by a posted receive.
    Posted,
}

const AWAIT_CP: u8 = 1 << State::AwaitCp as u8;
pub const DETERMINE_CP_TYPE: u8 = 1 << State::DetermineCpType as u8;
const CHECK_POSTED: u8 = 1 << State::CheckPosted as u8;
const PROC_UNEXP_CP: u8 = 1 << State::ProcUnexpCp as u8;
pub const AWAIT_UNEXP_DP: u8 = 1 << State::AwaitUnexpDp as u8;
pub const PROC_UNEXP_DP: u8 = 1 << State::ProcUnexpDp as u8;
pub const RECV_POSTED_DATA: u8 = 1 << State::RecvPostedData as u8;

/// The states in which the next message can begin.
pub const BETWEEN: u8 = AWAIT_CP | DETERMINE_CP_TYPE;

impl MessageState {
    /// The set of states that fit.
    #[inline]
    pub fn states(self) -> u8 {
        match self {
            Self::Over(states) => states,
            Self::Requested(_) => CHECK_POSTED,
            Self::Chosen(_) => PROC_UNEXP_CP,
            Self::Unexpected { .. } => AWAIT_UNEXP_DP | PROC_UNEXP_DP,
            Self::Posted => RECV_POSTED_DATA,
        }
    }

    /// Whether a packet of this kind can be accepted.
    #[inline]
    pub fn can_take(self, kind: u64) -> bool {
        match self {
            Self::Over(_) | Self::Unexpected { .. } => true,
            Self::Requested(_) | Self::Chosen(_) => false,
            Self::Posted => kind == DP,
        }
    }
}
