// Widths and codes of QpStateCtrl. Rules C1.., H1.., M1.., E1..: docs/blocks/qp.md.

`ifndef QP_STATE_CTRL_VH
`define QP_STATE_CTRL_VH

// Field widths.
`define QP_QPN_W     8
`define QP_STATE_W   3
`define QP_SERVICE_W 3
`define QP_KIND_W    2
`define QP_CODE_W    2

// QPs, and entries of the event queue.
`define QP_COUNT       256
`define QP_EVT_DEPTH   16
`define QP_EVT_PTR_W   4
`define QP_EVT_COUNT_W 5

// States; the last one is no state, but Destroy QP as the next one of a command.
`define QP_RESET   3'd0
`define QP_INIT    3'd1
`define QP_RTR     3'd2
`define QP_RTS     3'd3
`define QP_SQD     3'd4
`define QP_SQE     3'd5
`define QP_ERR     3'd6
`define QP_DESTROY 3'd7

// Service types; all others behave as UD.
`define QP_SERVICE_RC  3'd0
`define QP_SERVICE_UC  3'd1
`define QP_SERVICE_RD  3'd2
`define QP_SERVICE_XRC 3'd5

// Answers to commands.
`define QP_RSP_DONE          2'd0
`define QP_RSP_ILLEGAL       2'd1
`define QP_RSP_NOT_PERMITTED 2'd2

// Kinds of hardware events.
`define QP_HW_FIRST_PACKET 2'd0
`define QP_HW_SQ_DRAINED   2'd1
`define QP_HW_SQ_ERROR     2'd2
`define QP_HW_FATAL        2'd3

// Events to software.
`define QP_EVT_SQ_DRAINED  2'd0
`define QP_EVT_ESTABLISHED 2'd1
`define QP_EVT_FATAL       2'd2

`endif
