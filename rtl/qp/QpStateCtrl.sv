// QP state controller: the states of 256 queue pairs, moved by Modify QP and by hardware events.
// Rules C1..C13, H1..H9, M1..M4, Q1, E1..E4, X1: docs/blocks/qp.md.

`default_nettype none

module QpStateCtrl (
  // ---- Clock and reset -------------------------------------------------------------------------
  input  wire                          clk,
  input  wire                          rst,  // asynchronous, active high

  // ---- Modify QP -------------------------------------------------------------------------------
  input  wire                          cmd_valid,
  output logic                         cmd_ready,
  input  wire  [qp_pkg::QPN_W-1:0]     cmd_qpn,
  input  wire  [qp_pkg::STATE_W-1:0]   cmd_next,
  input  wire  [qp_pkg::SERVICE_W-1:0] cmd_service,
  input  wire                          cmd_notify,

  // ---- Its answer, one cycle later -------------------------------------------------------------
  output logic                         rsp_valid,
  output logic [qp_pkg::QPN_W-1:0]     rsp_qpn,
  output logic [qp_pkg::CODE_W-1:0]    rsp_code,

  // ---- Hardware events -------------------------------------------------------------------------
  input  wire                          hw_valid,
  output logic                         hw_ready,
  input  wire  [qp_pkg::QPN_W-1:0]     hw_qpn,
  input  wire  [qp_pkg::KIND_W-1:0]    hw_kind,

  // ---- Request packets, answered in the same cycle ---------------------------------------------
  input  wire                          msg_valid,
  input  wire  [qp_pkg::QPN_W-1:0]     msg_qpn,
  input  wire                          msg_consumes_wqe,
  input  wire                          msg_error,
  output logic                         msg_accept,
  output logic                         msg_take_wqe,
  output logic                         msg_ack,
  output logic                         msg_nak,

  // ---- Query, answered in the same cycle -------------------------------------------------------
  input  wire  [qp_pkg::QPN_W-1:0]     query_qpn,
  output logic [qp_pkg::STATE_W-1:0]   query_state,
  output logic                         query_sq_post,
  output logic                         query_rq_post,
  output logic                         query_sq_run,
  output logic                         query_rq_run,

  // ---- Events to software ----------------------------------------------------------------------
  output logic                         evt_valid,
  input  wire                          evt_ready,
  output logic [qp_pkg::QPN_W-1:0]     evt_qpn,
  output logic [qp_pkg::CODE_W-1:0]    evt_code
);

  localparam int EVT_W = qp_pkg::QPN_W + qp_pkg::CODE_W;

  localparam logic [qp_pkg::EVT_COUNT_W-1:0] COUNT_FULL = qp_pkg::EVT_DEPTH;
  localparam logic [qp_pkg::EVT_COUNT_W-1:0] COUNT_ONE  = 1;
  localparam logic [qp_pkg::EVT_PTR_W-1:0]   PTR_ONE    = 1;

  // ---- Registers -------------------------------------------------------------------------------
  // Each QP has one word: notify (event 0 is owed once the SQ has drained), service type, state. A
  // memory has no reset: a word that was not written since then reads as 0, which is RESET.
  localparam int WORD_W = 1 + qp_pkg::SERVICE_W + qp_pkg::STATE_W;

  logic [WORD_W-1:0]        qp_words [0:qp_pkg::COUNT-1];
  logic [qp_pkg::COUNT-1:0] qp_written;

  localparam logic [WORD_W-1:0] WORD_RESET = {WORD_W{1'b0}};

  logic                      answer_valid;
  logic [qp_pkg::QPN_W-1:0]  answer_qpn;
  logic [qp_pkg::CODE_W-1:0] answer_code;

  // The event queue: a ring, oldest entry at evt_head.
  logic [EVT_W-1:0]               evt_ring [0:qp_pkg::EVT_DEPTH-1];
  logic [qp_pkg::EVT_PTR_W-1:0]   evt_head;
  logic [qp_pkg::EVT_PTR_W-1:0]   evt_tail;
  logic [qp_pkg::EVT_COUNT_W-1:0] evt_count;

  wire evt_full = evt_count == COUNT_FULL;

  // ---- Service types ---------------------------------------------------------------------------
  // Answers request packets with Ack or Nak.
  function is_reliable;
    input [qp_pkg::SERVICE_W-1:0] service;
    is_reliable = service == qp_pkg::SERVICE_RC || service == qp_pkg::SERVICE_RD
               || service == qp_pkg::SERVICE_XRC;
  endfunction

  // Goes to RTS by itself on the first request packet.
  function is_connected;
    input [qp_pkg::SERVICE_W-1:0] service;
    is_connected = is_reliable(service) || service == qp_pkg::SERVICE_UC;
  endfunction

  // ---- Hardware events: H1..H9 -----------------------------------------------------------------
  wire [qp_pkg::STATE_W-1:0]   hw_state;
  wire [qp_pkg::SERVICE_W-1:0] hw_service;
  wire                         hw_notify;
  assign {hw_notify, hw_service, hw_state} = qp_written[hw_qpn] ? qp_words[hw_qpn] : WORD_RESET;

  logic [qp_pkg::STATE_W-1:0] hw_state_d;  // the QP's state after the event
  logic                       hw_notify_d;
  logic                       hw_tells;    // it needs an entry in the event queue
  logic [qp_pkg::CODE_W-1:0]  hw_code;

  always_comb begin
    hw_state_d  = hw_state;
    hw_notify_d = hw_notify;
    hw_tells    = 1'b0;
    hw_code     = qp_pkg::EVT_SQ_DRAINED;
    case (hw_kind)
      qp_pkg::HW_FIRST_PACKET:
        if (hw_state == qp_pkg::RTR && is_connected(hw_service)) begin  // H1
          hw_state_d = qp_pkg::RTS;
          hw_tells   = 1'b1;
          hw_code    = qp_pkg::EVT_ESTABLISHED;
        end
      qp_pkg::HW_SQ_DRAINED:
        if (hw_state == qp_pkg::SQD && hw_notify) begin             // H3
          hw_notify_d = 1'b0;
          hw_tells    = 1'b1;
        end
      qp_pkg::HW_SQ_ERROR:
        if (hw_state == qp_pkg::RTS)                                // H5, H6
          hw_state_d = is_reliable(hw_service) ? qp_pkg::ERR : qp_pkg::SQE;
      default:  // qp_pkg::HW_FATAL
        if (hw_state != qp_pkg::RESET) begin                        // H8
          hw_state_d  = qp_pkg::ERR;
          hw_notify_d = 1'b0;
          hw_tells    = 1'b1;
          hw_code     = qp_pkg::EVT_FATAL;
        end
    endcase
  end

  assign hw_ready = !rst && !(hw_valid && hw_tells && evt_full);    // E4
  wire   hw_taken = hw_valid && hw_ready;

  // ---- Modify QP: C1..C13 ----------------------------------------------------------------------
  assign cmd_ready = !rst && !evt_full;                             // E3
  wire   cmd_taken = cmd_valid && cmd_ready;

  // The event goes first (X1).
  wire                         cmd_after_hw = hw_taken && hw_qpn == cmd_qpn;
  wire [WORD_W-1:0]            cmd_word     = qp_written[cmd_qpn] ? qp_words[cmd_qpn] : WORD_RESET;
  wire [qp_pkg::STATE_W-1:0]   cmd_state;
  wire [qp_pkg::SERVICE_W-1:0] cmd_old_service;
  wire                         cmd_flag;
  assign {cmd_flag, cmd_old_service, cmd_state} =
    cmd_after_hw ? {hw_notify_d, hw_service, hw_state_d} : cmd_word;

  logic cmd_legal;

  always_comb begin
    case (cmd_next)
      qp_pkg::INIT: cmd_legal = cmd_state == qp_pkg::RESET || cmd_state == qp_pkg::INIT;  // C1, C2
      qp_pkg::RTR:  cmd_legal = cmd_state == qp_pkg::INIT;                    // C3
      qp_pkg::RTS:  cmd_legal = cmd_state == qp_pkg::RTR || cmd_state == qp_pkg::SQD  // C4, C6
                             || cmd_state == qp_pkg::SQE;                         // C8
      qp_pkg::SQD:  cmd_legal = cmd_state == qp_pkg::RTS || cmd_state == qp_pkg::SQD;  // C5, C7
      qp_pkg::SQE:  cmd_legal = 1'b0;
      default:      cmd_legal = 1'b1;                                         // C9, C10, C11
    endcase
  end

  wire cmd_drains  = cmd_state == qp_pkg::RTS && cmd_next == qp_pkg::SQD;
  wire cmd_refused = cmd_notify && !cmd_drains;                               // C13
  wire cmd_done    = cmd_legal && !cmd_refused;
  wire cmd_destroys = cmd_next == qp_pkg::DESTROY;

  wire [qp_pkg::STATE_W-1:0] cmd_state_d = cmd_destroys ? qp_pkg::RESET : cmd_next;
  // C5 loads the flag, C7 keeps it; wherever else a command leads, it is not in SQD.
  wire cmd_flag_d = cmd_drains ? cmd_notify : cmd_flag && cmd_next == qp_pkg::SQD;

  logic [qp_pkg::SERVICE_W-1:0] cmd_service_d;

  always_comb begin
    cmd_service_d = cmd_old_service;
    if (cmd_destroys) cmd_service_d = {qp_pkg::SERVICE_W{1'b0}};
    else if (cmd_state == qp_pkg::RESET && cmd_next == qp_pkg::INIT) cmd_service_d = cmd_service;
  end

  wire [qp_pkg::CODE_W-1:0] cmd_code = !cmd_legal  ? qp_pkg::RSP_ILLEGAL
                                     : cmd_refused ? qp_pkg::RSP_NOT_PERMITTED
                                                   : qp_pkg::RSP_DONE;

  // ---- Request packets: M1..M4 -----------------------------------------------------------------
  wire [qp_pkg::STATE_W-1:0]   msg_state;
  wire [qp_pkg::SERVICE_W-1:0] msg_service;
  wire                         msg_notify_unused;
  assign {msg_notify_unused, msg_service, msg_state} =
    qp_written[msg_qpn] ? qp_words[msg_qpn] : WORD_RESET;

  wire msg_reliable = is_reliable(msg_service);

  wire msg_taken = !rst && msg_valid
                && (msg_state == qp_pkg::RTR || msg_state == qp_pkg::RTS
                 || msg_state == qp_pkg::SQD || msg_state == qp_pkg::SQE);
  wire msg_naked = msg_taken && msg_reliable && msg_error;

  assign msg_accept   = msg_taken;
  assign msg_nak      = msg_naked;
  assign msg_ack      = msg_taken && msg_reliable && !msg_naked;
  assign msg_take_wqe = msg_taken && msg_consumes_wqe && !msg_naked;

  // ---- Query: Q1 -------------------------------------------------------------------------------
  wire [qp_pkg::STATE_W-1:0]        asked_state;
  wire [WORD_W-qp_pkg::STATE_W-1:0] asked_rest_unused;
  assign {asked_rest_unused, asked_state} =
    qp_written[query_qpn] ? qp_words[query_qpn] : WORD_RESET;

  assign query_state   = rst ? qp_pkg::RESET : asked_state;
  assign query_sq_post = !rst && (asked_state == qp_pkg::RTS || asked_state == qp_pkg::SQD
                               || asked_state == qp_pkg::SQE || asked_state == qp_pkg::ERR);
  assign query_rq_post = !rst && asked_state != qp_pkg::RESET;
  assign query_sq_run  = !rst && asked_state == qp_pkg::RTS;
  assign query_rq_run  = !rst && (asked_state == qp_pkg::RTR || asked_state == qp_pkg::RTS
                               || asked_state == qp_pkg::SQD || asked_state == qp_pkg::SQE);

  // ---- Answers and events shown ----------------------------------------------------------------
  assign rsp_valid = answer_valid;
  assign rsp_qpn   = answer_qpn;
  assign rsp_code  = answer_code;

  wire [EVT_W-1:0] evt_oldest = evt_ring[evt_head];

  assign evt_valid = evt_count != {qp_pkg::EVT_COUNT_W{1'b0}};
  assign evt_qpn   = evt_valid ? evt_oldest[EVT_W-1:qp_pkg::CODE_W] : {qp_pkg::QPN_W{1'b0}};
  assign evt_code  = evt_valid ? evt_oldest[qp_pkg::CODE_W-1:0]     : {qp_pkg::CODE_W{1'b0}};

  wire evt_enters = hw_taken && hw_tells;                           // E1
  wire evt_leaves = evt_valid && evt_ready;                         // E2

  wire cmd_writes = cmd_taken && cmd_done;

  // ---- Registers -------------------------------------------------------------------------------
  always_ff @(posedge clk or posedge rst) begin
    if (rst) begin
      qp_written   <= {qp_pkg::COUNT{1'b0}};
      answer_valid <= 1'b0;
      answer_qpn   <= {qp_pkg::QPN_W{1'b0}};
      answer_code  <= {qp_pkg::CODE_W{1'b0}};
      evt_head     <= {qp_pkg::EVT_PTR_W{1'b0}};
      evt_tail     <= {qp_pkg::EVT_PTR_W{1'b0}};
      evt_count    <= {qp_pkg::EVT_COUNT_W{1'b0}};
    end else begin
      if (hw_taken)   qp_written[hw_qpn]  <= 1'b1;
      if (cmd_writes) qp_written[cmd_qpn] <= 1'b1;
      answer_valid <= cmd_taken;
      answer_qpn   <= cmd_taken ? cmd_qpn  : {qp_pkg::QPN_W{1'b0}};
      answer_code  <= cmd_taken ? cmd_code : {qp_pkg::CODE_W{1'b0}};
      if (evt_enters) evt_tail <= evt_tail + PTR_ONE;
      if (evt_leaves) evt_head <= evt_head + PTR_ONE;
      if (evt_enters && !evt_leaves) evt_count <= evt_count + COUNT_ONE;
      if (evt_leaves && !evt_enters) evt_count <= evt_count - COUNT_ONE;
    end
  end

  // Memories have no reset: qp_written and the queue's pointers say what counts. In reset nothing
  // is taken, so nothing is written.
  always_ff @(posedge clk) begin
    if (hw_taken)   qp_words[hw_qpn]   <= {hw_notify_d, hw_service, hw_state_d};
    // Behind the event: for the same QP the command's word is the one that stays.
    if (cmd_writes) qp_words[cmd_qpn]  <= {cmd_flag_d, cmd_service_d, cmd_state_d};
    if (evt_enters) evt_ring[evt_tail] <= {hw_qpn, hw_code};
  end

endmodule

`default_nettype wire
