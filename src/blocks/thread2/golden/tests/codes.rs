//! Codes in the ports, copied from "Layouts" of the specification.

pub const SEND_FIRST: u64 = 0;
pub const SEND_MIDDLE: u64 = 1;
pub const SEND_LAST: u64 = 2;
pub const SEND_LAST_WITH_IMM: u64 = 3;
pub const SEND_ONLY: u64 = 4;
pub const SEND_ONLY_WITH_IMM: u64 = 5;
pub const RDMA_WRITE_FIRST: u64 = 6;
pub const RDMA_WRITE_MIDDLE: u64 = 7;
pub const RDMA_WRITE_LAST: u64 = 8;
pub const RDMA_WRITE_LAST_WITH_IMM: u64 = 9;
pub const RDMA_WRITE_ONLY: u64 = 10;
pub const RDMA_WRITE_ONLY_WITH_IMM: u64 = 11;
pub const RDMA_READ_REQUEST_FIRST: u64 = 12;
pub const RDMA_READ_REQUEST_ONLY: u64 = 15;

pub const RC: u64 = 0;
pub const UC: u64 = 1;
pub const RD: u64 = 2;
pub const UD: u64 = 3;
pub const CNP: u64 = 4;
pub const XRC: u64 = 5;

/// Service types that are acknowledged; of the others, 6 and 7 have no name.
pub const RELIABLE: [u64; 3] = [RC, RD, XRC];
pub const UNRELIABLE: [u64; 5] = [UC, UD, CNP, 6, 7];

/// RESET, INIT, ERR and the code without a name.
pub const NOT_RECEIVING: [u64; 4] = [0, 1, 6, 7];
