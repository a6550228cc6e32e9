// Widths and codes of the glue of RxSystem. Rules CR1.., FI1.., RQ1.., PK1.., EV1..:
// docs/blocks/rx.md.

package rx_pkg;

  // Fields of a descriptor, msb:lsb. Bits 4 and 31:24 are ignored.
  localparam int DESC_W            = 32;
  localparam int DESC_REQUEST      = 0;   // 1: request packet, 0: message packet
  localparam int DESC_CONSUMES_WQE = 1;   // request packet
  localparam int DESC_ERROR        = 2;   // request packet
  localparam int DESC_LAST         = 3;   // message packet
  localparam int DESC_KIND_MSB     = 7;   // message packet
  localparam int DESC_KIND_LSB     = 5;
  localparam int DESC_HANDLE_MSB   = 15;
  localparam int DESC_HANDLE_LSB   = 8;
  localparam int DESC_QPN_MSB      = 23;  // request packet
  localparam int DESC_QPN_LSB      = 16;

  localparam int HANDLE_W = 8;

  // The ingress FIFO: one credit for each entry.
  localparam int FIFO_PTR_W = 4;
  localparam int COUNT_W    = 5;  // 0 to FIFO_DEPTH
  localparam logic [COUNT_W-1:0] FIFO_DEPTH = 5'd16;

  // Contexts and header, as thread2 has them.
  localparam int CXT_HEAD_W = 416;
  localparam int CXT_DATA_W = 488;

  // The QP state in the contexts: what is above and below it is handed on.
  localparam int CXT_ABOVE_STATE_MSB = 415;
  localparam int CXT_ABOVE_STATE_LSB = 38;
  localparam int CXT_BELOW_STATE_MSB = 34;
  localparam int CXT_BELOW_STATE_LSB = 0;

  // Fields of thread2's MR request that tell a length error, and their values.
  localparam int         MR_HEAD_W        = 224;
  localparam int         MR_DATA_W        = 256;
  localparam int         MR_QPN_MSB       = 7;
  localparam int         MR_QPN_LSB       = 0;
  localparam int         MR_OPCODE_MSB    = 60;
  localparam int         MR_OPCODE_LSB    = 56;
  localparam int         MR_STATUS_MSB    = 159;
  localparam int         MR_STATUS_LSB    = 157;
  localparam logic [4:0] OPCODE_GEN_CQE   = 5'd26;
  localparam logic [2:0] STATUS_LEN_ERROR = 3'd1;

  // Other widths of thread2's pins.
  localparam int WQE_HEAD_W     = 576;
  localparam int WQE_DATA_W     = 128;
  localparam int CACHE_OFFSET_W = 8;
  localparam int CACHE_CELL_W   = 7;
  localparam int RQ_OFFSET_W    = 24;
  localparam int QUEUE_REQ_W    = 64;
  localparam int QUEUE_RESP_W   = 96;

  // What becomes of a request packet.
  localparam int         FATE_W       = 2;
  localparam logic [1:0] FATE_TAKEN   = 2'd0;
  localparam logic [1:0] FATE_REFUSED = 2'd1;
  localparam logic [1:0] FATE_DROPPED = 2'd2;

endpackage
