// Widths and codes of RecvSideFsm. Rules P0.., G1.., K1.., F0: docs/blocks/recv.md.

`ifndef RECV_SIDE_FSM_VH
`define RECV_SIDE_FSM_VH

// Field widths.
`define RECV_STATE_W   3
`define RECV_KIND_W    3
`define RECV_ID_W      8
`define RECV_LEN_W     16
`define RECV_MSG_LEN_W 32
`define RECV_COUNT_W   8   // buffers: levels, counts, credits

// States.
`define RECV_AWAIT_CP          3'd0
`define RECV_DETERMINE_CP_TYPE 3'd1
`define RECV_CHECK_POSTED      3'd2
`define RECV_PROC_UNEXP_CP     3'd3
`define RECV_AWAIT_UNEXP_DP    3'd4
`define RECV_PROC_UNEXP_DP     3'd5
`define RECV_POSTED_DATA       3'd6

// Kinds of packets.
`define RECV_KIND_FLOW      3'd0
`define RECV_KIND_RNDV_RTS  3'd1
`define RECV_KIND_RNDV_CTS  3'd2
`define RECV_KIND_SHORT     3'd3
`define RECV_KIND_EAGER     3'd4
`define RECV_KIND_RNDV_DATA 3'd5
`define RECV_KIND_DP        3'd6

// Fixes: bit of FIXES that switches each one on. Bits 7:1 do nothing.
`define RECV_F0_COMPLETE_AFTER_CP 0

`endif
