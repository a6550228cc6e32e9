// Widths and codes of the glue of RxSystem. Rules CR1.., FI1.., RQ1.., PK1.., EV1..: docs/blocks/rx.md.

`ifndef RX_SYSTEM_VH
`define RX_SYSTEM_VH

// Fields of a descriptor, msb:lsb. Bits 4 and 31:24 are ignored.
`define RX_DESC_W            32
`define RX_DESC_REQUEST      0      // 1: request packet, 0: message packet
`define RX_DESC_CONSUMES_WQE 1      // request packet
`define RX_DESC_ERROR        2      // request packet
`define RX_DESC_LAST         3      // message packet
`define RX_DESC_KIND         7:5    // message packet
`define RX_DESC_HANDLE       15:8
`define RX_DESC_QPN          23:16  // request packet

`define RX_HANDLE_W 8

// The ingress FIFO: one credit for each entry.
`define RX_FIFO_DEPTH 16
`define RX_FIFO_PTR_W 4
`define RX_COUNT_W    5             // 0 to RX_FIFO_DEPTH

// Contexts and header, as thread2 has them.
`define RX_CXT_HEAD_W 416
`define RX_CXT_DATA_W 488

// The QP state in the contexts: what is above and below it is handed on.
`define RX_CXT_ABOVE_STATE 415:38
`define RX_CXT_BELOW_STATE 34:0

// Fields of thread2's MR request that tell a length error, and their values.
`define RX_MR_HEAD_W         224
`define RX_MR_DATA_W         256
`define RX_MR_QPN            7:0
`define RX_MR_OPCODE         60:56
`define RX_MR_STATUS         159:157
`define RX_OPCODE_GEN_CQE    5'd26
`define RX_STATUS_LEN_ERROR  3'd1

// Other widths of thread2's pins.
`define RX_WQE_HEAD_W     576
`define RX_WQE_DATA_W     128
`define RX_CACHE_OFFSET_W 8
`define RX_CACHE_CELL_W   7
`define RX_RQ_OFFSET_W    24
`define RX_QUEUE_REQ_W    64
`define RX_QUEUE_RESP_W   96

// What becomes of a request packet.
`define RX_FATE_W       2
`define RX_FATE_TAKEN   2'd0
`define RX_FATE_REFUSED 2'd1
`define RX_FATE_DROPPED 2'd2

`endif
