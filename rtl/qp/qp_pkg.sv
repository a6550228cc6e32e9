// Widths and codes of QpStateCtrl. Rules C1.., H1.., M1.., E1..: docs/blocks/qp.md.

package qp_pkg;

  // Field widths.
  localparam int QPN_W     = 8;
  localparam int STATE_W   = 3;
  localparam int SERVICE_W = 3;
  localparam int KIND_W    = 2;
  localparam int CODE_W    = 2;

  // QPs, and entries of the event queue.
  localparam int COUNT       = 256;
  localparam int EVT_PTR_W   = 4;
  localparam int EVT_COUNT_W = 5;  // 0 to EVT_DEPTH
  localparam logic [EVT_COUNT_W-1:0] EVT_DEPTH = 5'd16;

  // States; the last one is no state, but Destroy QP as the next one of a command.
  localparam logic [2:0] RESET   = 3'd0;
  localparam logic [2:0] INIT    = 3'd1;
  localparam logic [2:0] RTR     = 3'd2;
  localparam logic [2:0] RTS     = 3'd3;
  localparam logic [2:0] SQD     = 3'd4;
  localparam logic [2:0] SQE     = 3'd5;
  localparam logic [2:0] ERR     = 3'd6;
  localparam logic [2:0] DESTROY = 3'd7;

  // Service types; all others behave as UD.
  localparam logic [2:0] SERVICE_RC  = 3'd0;
  localparam logic [2:0] SERVICE_UC  = 3'd1;
  localparam logic [2:0] SERVICE_RD  = 3'd2;
  localparam logic [2:0] SERVICE_XRC = 3'd5;

  // Answers to commands.
  localparam logic [1:0] RSP_DONE          = 2'd0;
  localparam logic [1:0] RSP_ILLEGAL       = 2'd1;
  localparam logic [1:0] RSP_NOT_PERMITTED = 2'd2;

  // Kinds of hardware events.
  localparam logic [1:0] HW_FIRST_PACKET = 2'd0;
  localparam logic [1:0] HW_SQ_DRAINED   = 2'd1;
  localparam logic [1:0] HW_SQ_ERROR     = 2'd2;
  // verilator lint_off UNUSEDPARAM
  localparam logic [1:0] HW_FATAL        = 2'd3;  // what no other case of QpStateCtrl takes
  // verilator lint_on UNUSEDPARAM

  // Events to software.
  localparam logic [1:0] EVT_SQ_DRAINED  = 2'd0;
  localparam logic [1:0] EVT_ESTABLISHED = 2'd1;
  localparam logic [1:0] EVT_FATAL       = 2'd2;

endpackage
