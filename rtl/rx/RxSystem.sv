// The receive system: dll carries descriptors of packets into a FIFO, qp judges those of request
// packets, thread2 executes what a QP takes, recv has the message layer beside them.
// Rules of the glue, CR1..CR5, FI1..FI3, RQ1..RQ6, PK1..PK3, EV1..EV6: docs/blocks/rx.md. Ports
// stand in the order of the boundaries there; those with x_ are between the blocks.

`default_nettype none

module RxSystem #(
  parameter int         REPLAY_DEPTH   = 16,    // dll: entries of the replay buffer
  parameter int         REPLAY_LIMIT   = 64,    // dll: cycles until everything is sent again
  parameter int         ACKNAK_LATENCY = 16,    // dll: cycles from a good TLP to its Ack
  parameter int         LOW            = 4,     // recv: the ring is refilled below this level
  parameter int         HIGH           = 16,    // recv: up to this level
  parameter int         KEEP           = 8,     // recv: with fewer free buffers, it copies
  parameter logic [7:0] FIXES          = 8'h00  // of dll, thread2 and recv alike
) (
  // ---- Clock and reset -------------------------------------------------------------------------
  input  wire                               clk,
  input  wire                               rst,              // asynchronous, active high

  // ---- 1: descriptors from the sender, and what device A sees of them --------------------------
  input  wire                               a_tlp_valid,
  output logic                              a_tlp_ready,
  input  wire  [rx_pkg::DESC_W-1:0]         a_tlp_data,
  output logic                              x_a_tlp_valid,
  output logic                              x_a_tlp_ready,
  output logic [rx_pkg::COUNT_W-1:0]        x_credits_used,

  // ---- 2: device A and the link ----------------------------------------------------------------
  output logic                              a_link_valid,
  input  wire                               a_link_ready,
  output logic [dll_pkg::SEQ_W-1:0]         a_link_seq,
  output logic [dll_pkg::DATA_W-1:0]        a_link_data,
  input  wire                               a_dllp_valid,
  input  wire                               a_dllp_nak,
  input  wire  [dll_pkg::SEQ_W-1:0]         a_dllp_seq,
  input  wire                               a_dllp_crc_ok,
  output logic [dll_pkg::SEQ_W-1:0]         a_ackd_seq,
  output logic [dll_pkg::SEQ_W-1:0]         a_next_seq,
  output logic [dll_pkg::REPLAY_NUM_W-1:0]  a_replay_num,
  output logic                              a_retrain,
  output logic                              a_dl_error,

  // ---- 3: the link and device B ----------------------------------------------------------------
  input  wire                               b_link_valid,
  input  wire  [dll_pkg::SEQ_W-1:0]         b_link_seq,
  input  wire  [dll_pkg::DATA_W-1:0]        b_link_data,
  input  wire                               b_link_crc_ok,
  output logic                              b_dllp_valid,
  input  wire                               b_dllp_ready,
  output logic                              b_dllp_nak,
  output logic [dll_pkg::SEQ_W-1:0]         b_dllp_seq,
  output logic [dll_pkg::SEQ_W-1:0]         b_next_rcv_seq,
  output logic                              b_nak_scheduled,

  // ---- 4: deliveries of device B ---------------------------------------------------------------
  output logic                              x_b_deliver_valid,
  output logic [dll_pkg::DATA_W-1:0]        x_b_deliver_data,

  // ---- 5: ingress FIFO, and the fetch by its head's handle -------------------------------------
  output logic                              x_fifo_overflow,  // a delivery is lost
  output logic [rx_pkg::COUNT_W-1:0]        x_fifo_level,
  output logic [rx_pkg::DESC_W-1:0]         x_fifo_head,
  output logic                              fetch_valid,
  output logic                              fetch_request,    // of a request packet
  output logic [rx_pkg::HANDLE_W-1:0]       fetch_handle,
  input  wire                               cxt_valid,
  // Unused: the state in memory, bits 37:35; qp has the one that counts.
  // verilator lint_off UNUSEDSIGNAL
  input  wire  [rx_pkg::CXT_HEAD_W-1:0]     cxt_head,
  // verilator lint_on UNUSEDSIGNAL
  input  wire  [rx_pkg::CXT_DATA_W-1:0]     cxt_data,
  input  wire                               len_valid,
  input  wire  [recv_pkg::LEN_W-1:0]        len_pkt,
  input  wire  [recv_pkg::MSG_LEN_W-1:0]    len_msg,

  // ---- 6: the question to qp, and events for it ------------------------------------------------
  output logic                              x_msg_valid,
  output logic [qp_pkg::QPN_W-1:0]          x_msg_qpn,
  output logic                              x_msg_consumes_wqe,
  output logic                              x_msg_error,
  output logic [qp_pkg::QPN_W-1:0]          x_query_qpn,
  output logic                              x_hw_valid,
  output logic [qp_pkg::QPN_W-1:0]          x_hw_qpn,
  output logic [qp_pkg::KIND_W-1:0]         x_hw_kind,

  // ---- 7: its answer, and its other pins -------------------------------------------------------
  output logic                              x_msg_accept,
  output logic                              x_msg_take_wqe,
  output logic                              x_msg_ack,
  output logic                              x_msg_nak,
  output logic                              x_hw_ready,
  input  wire                               qp_hw_valid,
  output logic                              qp_hw_ready,
  input  wire  [qp_pkg::QPN_W-1:0]          qp_hw_qpn,
  input  wire  [qp_pkg::KIND_W-1:0]         qp_hw_kind,
  input  wire                               qp_cmd_valid,
  output logic                              qp_cmd_ready,
  input  wire  [qp_pkg::QPN_W-1:0]          qp_cmd_qpn,
  input  wire  [qp_pkg::STATE_W-1:0]        qp_cmd_next,
  input  wire  [qp_pkg::SERVICE_W-1:0]      qp_cmd_service,
  input  wire                               qp_cmd_notify,
  output logic                              qp_rsp_valid,
  output logic [qp_pkg::QPN_W-1:0]          qp_rsp_qpn,
  output logic [qp_pkg::CODE_W-1:0]         qp_rsp_code,
  input  wire  [qp_pkg::QPN_W-1:0]          qp_query_qpn,
  output logic [qp_pkg::STATE_W-1:0]        qp_query_state,
  output logic                              qp_query_sq_post,
  output logic                              qp_query_rq_post,
  output logic                              qp_query_sq_run,
  output logic                              qp_query_rq_run,
  output logic                              qp_evt_valid,
  input  wire                               qp_evt_ready,
  output logic [qp_pkg::QPN_W-1:0]          qp_evt_qpn,
  output logic [qp_pkg::CODE_W-1:0]         qp_evt_code,

  // ---- 8: contexts and header to thread2 -------------------------------------------------------
  output logic                              x_cxt_valid,
  output logic [rx_pkg::CXT_HEAD_W-1:0]     x_cxt_head,
  output logic [rx_pkg::CXT_DATA_W-1:0]     x_cxt_data,

  // ---- 9: thread2 ------------------------------------------------------------------------------
  output logic                              x_cxt_ready,
  output logic                              t2_fetch_mr_ingress_valid,
  output logic [rx_pkg::MR_HEAD_W-1:0]      t2_fetch_mr_ingress_head,
  output logic [rx_pkg::MR_DATA_W-1:0]      t2_fetch_mr_ingress_data,
  output logic                              t2_fetch_mr_ingress_start,
  output logic                              t2_fetch_mr_ingress_last,
  input  wire                               t2_fetch_mr_ingress_ready,
  output logic                              t2_wqe_req_valid,
  output logic [rx_pkg::WQE_HEAD_W-1:0]     t2_wqe_req_head,
  output logic                              t2_wqe_req_start,
  output logic                              t2_wqe_req_last,
  input  wire                               t2_wqe_req_ready,
  input  wire                               t2_wqe_resp_valid,
  input  wire  [rx_pkg::WQE_HEAD_W-1:0]     t2_wqe_resp_head,
  input  wire  [rx_pkg::WQE_DATA_W-1:0]     t2_wqe_resp_data,
  input  wire                               t2_wqe_resp_start,
  input  wire                               t2_wqe_resp_last,
  output logic                              t2_wqe_resp_ready,
  output logic                              t2_cache_offset_wen,
  output logic [qp_pkg::QPN_W-1:0]          t2_cache_offset_addr,
  output logic [rx_pkg::CACHE_OFFSET_W-1:0] t2_cache_offset_din,
  input  wire  [rx_pkg::CACHE_OFFSET_W-1:0] t2_cache_offset_dout,
  output logic                              t2_cache_owned_wen,
  output logic [rx_pkg::CACHE_CELL_W-1:0]   t2_cache_owned_addr,
  output logic [qp_pkg::QPN_W-1:0]          t2_cache_owned_din,
  input  wire  [qp_pkg::QPN_W-1:0]          t2_cache_owned_dout,
  output logic                              t2_rq_offset_wen,
  output logic [qp_pkg::QPN_W-1:0]          t2_rq_offset_addr,
  output logic [rx_pkg::RQ_OFFSET_W-1:0]    t2_rq_offset_din,
  input  wire  [rx_pkg::RQ_OFFSET_W-1:0]    t2_rq_offset_dout,
  output logic                              t2_cq_req_valid,
  output logic [rx_pkg::QUEUE_REQ_W-1:0]    t2_cq_req_head,
  input  wire                               t2_cq_req_ready,
  input  wire                               t2_cq_resp_valid,
  input  wire  [rx_pkg::QUEUE_RESP_W-1:0]   t2_cq_resp_head,
  output logic                              t2_cq_resp_ready,
  output logic                              t2_eq_req_valid,
  output logic [rx_pkg::QUEUE_REQ_W-1:0]    t2_eq_req_head,
  input  wire                               t2_eq_req_ready,
  input  wire                               t2_eq_resp_valid,
  input  wire  [rx_pkg::QUEUE_RESP_W-1:0]   t2_eq_resp_head,
  output logic                              t2_eq_resp_ready,

  // ---- 10: message packets to recv -------------------------------------------------------------
  output logic                              x_pkt_valid,
  output logic [recv_pkg::KIND_W-1:0]       x_pkt_kind,
  output logic [recv_pkg::ID_W-1:0]         x_pkt_id,
  output logic [recv_pkg::LEN_W-1:0]        x_pkt_len,
  output logic [recv_pkg::MSG_LEN_W-1:0]    x_pkt_msg_len,
  output logic                              x_pkt_last,

  // ---- 11: recv --------------------------------------------------------------------------------
  output logic                              x_pkt_ready,
  output logic                              rv_match_req,
  output logic [recv_pkg::ID_W-1:0]         rv_match_id,
  input  wire                               rv_match_rsp,
  input  wire                               rv_match_found,
  input  wire                               rv_posted_done,
  input  wire  [recv_pkg::COUNT_W-1:0]      rv_pool_free,
  output logic                              rv_alloc_valid,
  output logic [recv_pkg::COUNT_W-1:0]      rv_alloc_count,
  output logic [recv_pkg::COUNT_W-1:0]      rv_ring_level,
  output logic                              rv_credit_valid,
  input  wire                               rv_credit_ready,
  output logic [recv_pkg::COUNT_W-1:0]      rv_credit_count,
  output logic                              rv_copy_valid,
  output logic [recv_pkg::ID_W-1:0]         rv_copy_id,
  output logic [recv_pkg::LEN_W-1:0]        rv_copy_len,
  output logic                              rv_keep_valid,
  output logic [recv_pkg::ID_W-1:0]         rv_keep_id,
  output logic                              rv_release_valid,
  output logic [recv_pkg::ID_W-1:0]         rv_release_id,
  output logic                              rv_temp_alloc_valid,
  output logic [recv_pkg::MSG_LEN_W-1:0]    rv_temp_alloc_len,
  input  wire                               rv_temp_alloc_ok,
  output logic                              rv_protocol_error,
  output logic [recv_pkg::STATE_W-1:0]      rv_state,

  // ---- 12: what becomes of a request packet ----------------------------------------------------
  output logic                              req_valid,        // it leaves the FIFO
  output logic [rx_pkg::FATE_W-1:0]         req_fate,
  output logic [qp_pkg::QPN_W-1:0]          req_qpn,
  output logic [rx_pkg::HANDLE_W-1:0]       req_handle,
  output logic                              req_ack,
  output logic                              req_take_wqe
);

  localparam logic [rx_pkg::COUNT_W-1:0]    COUNT_ZERO = {rx_pkg::COUNT_W{1'b0}};
  localparam logic [rx_pkg::COUNT_W-1:0]    COUNT_ONE  = 1;
  localparam logic [rx_pkg::COUNT_W-1:0]    COUNT_FULL = rx_pkg::FIFO_DEPTH;
  localparam logic [rx_pkg::FIFO_PTR_W-1:0] PTR_ONE    = 1;
  localparam logic [qp_pkg::QPN_W-1:0]      NO_QPN     = {qp_pkg::QPN_W{1'b0}};

  // ---- Registers -------------------------------------------------------------------------------
  // The ingress FIFO: a ring, oldest entry at fifo_first.
  logic [rx_pkg::DESC_W-1:0]     fifo_ring [0:rx_pkg::FIFO_DEPTH-1];
  logic [rx_pkg::FIFO_PTR_W-1:0] fifo_first;
  logic [rx_pkg::FIFO_PTR_W-1:0] fifo_free;
  logic [rx_pkg::COUNT_W-1:0]    fifo_level;

  logic [rx_pkg::COUNT_W-1:0]    credits_used;  // taken by A, not yet out of the FIFO

  // Events that are owed to qp.
  logic                     est_pending;    // first request packet
  logic [qp_pkg::QPN_W-1:0] est_qpn;
  logic                     fatal_pending;  // fatal error
  logic [qp_pkg::QPN_W-1:0] fatal_qpn;

  // ---- Credits: CR1..CR5 -----------------------------------------------------------------------
  wire has_credit = !rst && credits_used != COUNT_FULL;

  assign x_a_tlp_valid  = a_tlp_valid && has_credit;
  assign a_tlp_ready    = x_a_tlp_ready && has_credit;
  assign x_credits_used = rst ? COUNT_ZERO : credits_used;

  wire tlp_taken = a_tlp_valid && a_tlp_ready;

  // ---- Ingress FIFO: FI1..FI3 ------------------------------------------------------------------
  wire fifo_full = fifo_level == COUNT_FULL;
  wire has_head  = !rst && fifo_level != COUNT_ZERO;

  wire [rx_pkg::DESC_W-1:0] head = has_head ? fifo_ring[fifo_first] : {rx_pkg::DESC_W{1'b0}};

  wire                        head_request = head[rx_pkg::DESC_REQUEST];
  wire [rx_pkg::HANDLE_W-1:0] head_handle  = head[rx_pkg::DESC_HANDLE_MSB:rx_pkg::DESC_HANDLE_LSB];

  assign x_fifo_overflow = !rst && x_b_deliver_valid && fifo_full;
  assign x_fifo_level    = rst ? COUNT_ZERO : fifo_level;
  assign x_fifo_head     = head;

  assign fetch_valid   = has_head;
  assign fetch_request = head_request;
  assign fetch_handle  = head_handle;

  // ---- The question: RQ1, RQ2 ------------------------------------------------------------------
  // It does not wait for thread2: the answer of the cycle in which the packet leaves counts.
  wire event_pending = est_pending || fatal_pending;

  assign x_msg_valid        = head_request && cxt_valid && !event_pending;
  assign x_msg_qpn          = x_msg_valid ? head[rx_pkg::DESC_QPN_MSB:rx_pkg::DESC_QPN_LSB]
                                          : NO_QPN;
  assign x_msg_consumes_wqe = x_msg_valid && head[rx_pkg::DESC_CONSUMES_WQE];
  assign x_msg_error        = x_msg_valid && head[rx_pkg::DESC_ERROR];

  // qp has one query port: software has it while no packet needs it.
  assign x_query_qpn = rst ? NO_QPN : x_msg_valid ? x_msg_qpn : qp_query_qpn;

  // ---- The answer: RQ3..RQ6 --------------------------------------------------------------------
  assign x_cxt_valid = x_msg_accept && !x_msg_nak;
  // The state in memory is a copy; qp's is the one that has decided.
  wire [rx_pkg::CXT_HEAD_W-1:0] judged_head =
    {cxt_head[rx_pkg::CXT_ABOVE_STATE_MSB:rx_pkg::CXT_ABOVE_STATE_LSB], qp_query_state,
     cxt_head[rx_pkg::CXT_BELOW_STATE_MSB:rx_pkg::CXT_BELOW_STATE_LSB]};

  assign x_cxt_head  = x_cxt_valid ? judged_head : {rx_pkg::CXT_HEAD_W{1'b0}};
  assign x_cxt_data  = x_cxt_valid ? cxt_data : {rx_pkg::CXT_DATA_W{1'b0}};

  wire request_taken   = x_cxt_valid && x_cxt_ready;      // RQ4
  wire request_refused = x_msg_valid && x_msg_nak;        // RQ5
  wire request_dropped = x_msg_valid && !x_msg_accept;    // RQ6

  assign req_valid    = request_taken || request_refused || request_dropped;
  assign req_fate     = request_refused ? rx_pkg::FATE_REFUSED
                      : request_dropped ? rx_pkg::FATE_DROPPED
                                        : rx_pkg::FATE_TAKEN;
  assign req_qpn      = req_valid ? x_msg_qpn : NO_QPN;
  assign req_handle   = req_valid ? head_handle : {rx_pkg::HANDLE_W{1'b0}};
  assign req_ack      = request_taken && x_msg_ack;
  assign req_take_wqe = request_taken && x_msg_take_wqe;

  // ---- Message packets: PK1..PK3 ---------------------------------------------------------------
  assign x_pkt_valid   = has_head && !head_request && len_valid;
  assign x_pkt_kind    = x_pkt_valid ? head[rx_pkg::DESC_KIND_MSB:rx_pkg::DESC_KIND_LSB]
                                     : {recv_pkg::KIND_W{1'b0}};
  assign x_pkt_id      = x_pkt_valid ? head_handle : {recv_pkg::ID_W{1'b0}};
  assign x_pkt_len     = x_pkt_valid ? len_pkt : {recv_pkg::LEN_W{1'b0}};
  assign x_pkt_msg_len = x_pkt_valid ? len_msg : {recv_pkg::MSG_LEN_W{1'b0}};
  assign x_pkt_last    = x_pkt_valid && head[rx_pkg::DESC_LAST];

  wire head_leaves = req_valid || (x_pkt_valid && x_pkt_ready);  // FI3
  wire head_enters = x_b_deliver_valid && !fifo_full;            // FI1

  // ---- Events for qp: EV1..EV6 -----------------------------------------------------------------
  wire est_due   = (request_taken || request_refused) && qp_query_state == qp_pkg::RTR;
  wire fatal_due = t2_fetch_mr_ingress_valid && t2_fetch_mr_ingress_ready
                && t2_fetch_mr_ingress_data[rx_pkg::MR_OPCODE_MSB:rx_pkg::MR_OPCODE_LSB]
                     == rx_pkg::OPCODE_GEN_CQE
                && t2_fetch_mr_ingress_data[rx_pkg::MR_STATUS_MSB:rx_pkg::MR_STATUS_LSB]
                     == rx_pkg::STATUS_LEN_ERROR;

  assign x_hw_valid  = !rst && (event_pending || qp_hw_valid);
  assign x_hw_qpn    = !x_hw_valid   ? NO_QPN
                     : est_pending   ? est_qpn
                     : fatal_pending ? fatal_qpn
                                     : qp_hw_qpn;
  assign x_hw_kind   = !x_hw_valid   ? {qp_pkg::KIND_W{1'b0}}
                     : est_pending   ? qp_pkg::HW_FIRST_PACKET
                     : fatal_pending ? qp_pkg::HW_FATAL
                                     : qp_hw_kind;
  assign qp_hw_ready = x_hw_ready && !event_pending;

  wire est_told   = est_pending && x_hw_ready;
  wire fatal_told = fatal_pending && !est_pending && x_hw_ready;

  // ---- Register updates ------------------------------------------------------------------------
  always_ff @(posedge clk or posedge rst) begin
    if (rst) begin
      fifo_first    <= {rx_pkg::FIFO_PTR_W{1'b0}};
      fifo_free     <= {rx_pkg::FIFO_PTR_W{1'b0}};
      fifo_level    <= COUNT_ZERO;
      credits_used  <= COUNT_ZERO;
      est_pending   <= 1'b0;
      est_qpn       <= NO_QPN;
      fatal_pending <= 1'b0;
      fatal_qpn     <= NO_QPN;
    end else begin
      if (head_enters) fifo_free  <= fifo_free + PTR_ONE;
      if (head_leaves) fifo_first <= fifo_first + PTR_ONE;
      if (head_enters && !head_leaves) fifo_level <= fifo_level + COUNT_ONE;
      if (head_leaves && !head_enters) fifo_level <= fifo_level - COUNT_ONE;

      if (tlp_taken && !head_leaves) credits_used <= credits_used + COUNT_ONE;    // CR1
      if (head_leaves && !tlp_taken && credits_used != COUNT_ZERO)                // CR3, CR4
        credits_used <= credits_used - COUNT_ONE;

      if (est_told) est_pending <= 1'b0;
      if (est_due) begin
        est_pending <= 1'b1;
        est_qpn     <= x_msg_qpn;
      end

      if (fatal_told) fatal_pending <= 1'b0;
      if (fatal_due) begin
        fatal_pending <= 1'b1;
        fatal_qpn     <= t2_fetch_mr_ingress_data[rx_pkg::MR_QPN_MSB:rx_pkg::MR_QPN_LSB];
      end
    end
  end

  // A memory has no reset: the level says what counts.
  always_ff @(posedge clk) begin
    if (head_enters) fifo_ring[fifo_free] <= x_b_deliver_data;
  end

  // ---- The blocks ------------------------------------------------------------------------------
  PcieAckNak #(
    .REPLAY_DEPTH   (REPLAY_DEPTH),
    .REPLAY_LIMIT   (REPLAY_LIMIT),
    .ACKNAK_LATENCY (ACKNAK_LATENCY),
    .FIXES          (FIXES)
  ) dll (
    .clk             (clk),
    .rst             (rst),
    .a_tlp_valid     (x_a_tlp_valid),
    .a_tlp_ready     (x_a_tlp_ready),
    .a_tlp_data      (a_tlp_data),
    .a_link_valid    (a_link_valid),
    .a_link_ready    (a_link_ready),
    .a_link_seq      (a_link_seq),
    .a_link_data     (a_link_data),
    .a_dllp_valid    (a_dllp_valid),
    .a_dllp_nak      (a_dllp_nak),
    .a_dllp_seq      (a_dllp_seq),
    .a_dllp_crc_ok   (a_dllp_crc_ok),
    .a_ackd_seq      (a_ackd_seq),
    .a_next_seq      (a_next_seq),
    .a_replay_num    (a_replay_num),
    .a_retrain       (a_retrain),
    .a_dl_error      (a_dl_error),
    .b_link_valid    (b_link_valid),
    .b_link_seq      (b_link_seq),
    .b_link_data     (b_link_data),
    .b_link_crc_ok   (b_link_crc_ok),
    .b_deliver_valid (x_b_deliver_valid),
    .b_deliver_data  (x_b_deliver_data),
    .b_dllp_valid    (b_dllp_valid),
    .b_dllp_ready    (b_dllp_ready),
    .b_dllp_nak      (b_dllp_nak),
    .b_dllp_seq      (b_dllp_seq),
    .b_next_rcv_seq  (b_next_rcv_seq),
    .b_nak_scheduled (b_nak_scheduled)
  );

  QpStateCtrl qp (
    .clk              (clk),
    .rst              (rst),
    .cmd_valid        (qp_cmd_valid),
    .cmd_ready        (qp_cmd_ready),
    .cmd_qpn          (qp_cmd_qpn),
    .cmd_next         (qp_cmd_next),
    .cmd_service      (qp_cmd_service),
    .cmd_notify       (qp_cmd_notify),
    .rsp_valid        (qp_rsp_valid),
    .rsp_qpn          (qp_rsp_qpn),
    .rsp_code         (qp_rsp_code),
    .hw_valid         (x_hw_valid),
    .hw_ready         (x_hw_ready),
    .hw_qpn           (x_hw_qpn),
    .hw_kind          (x_hw_kind),
    .msg_valid        (x_msg_valid),
    .msg_qpn          (x_msg_qpn),
    .msg_consumes_wqe (x_msg_consumes_wqe),
    .msg_error        (x_msg_error),
    .msg_accept       (x_msg_accept),
    .msg_take_wqe     (x_msg_take_wqe),
    .msg_ack          (x_msg_ack),
    .msg_nak          (x_msg_nak),
    .query_qpn        (x_query_qpn),
    .query_state      (qp_query_state),
    .query_sq_post    (qp_query_sq_post),
    .query_rq_post    (qp_query_rq_post),
    .query_sq_run     (qp_query_sq_run),
    .query_rq_run     (qp_query_rq_run),
    .evt_valid        (qp_evt_valid),
    .evt_ready        (qp_evt_ready),
    .evt_qpn          (qp_evt_qpn),
    .evt_code         (qp_evt_code)
  );

  ReqRecvCore_Thread_2 #(
    .FIXES (FIXES)
  ) thread2 (
    .clk                    (clk),
    .rst                    (rst),
    .fetch_cxt_egress_valid (x_cxt_valid),
    .fetch_cxt_egress_head  (x_cxt_head),
    .fetch_cxt_egress_data  (x_cxt_data),
    .fetch_cxt_egress_start (x_cxt_valid),
    .fetch_cxt_egress_last  (x_cxt_valid),
    .fetch_cxt_egress_ready (x_cxt_ready),
    .fetch_mr_ingress_valid (t2_fetch_mr_ingress_valid),
    .fetch_mr_ingress_head  (t2_fetch_mr_ingress_head),
    .fetch_mr_ingress_data  (t2_fetch_mr_ingress_data),
    .fetch_mr_ingress_start (t2_fetch_mr_ingress_start),
    .fetch_mr_ingress_last  (t2_fetch_mr_ingress_last),
    .fetch_mr_ingress_ready (t2_fetch_mr_ingress_ready),
    .wqe_req_valid          (t2_wqe_req_valid),
    .wqe_req_head           (t2_wqe_req_head),
    .wqe_req_start          (t2_wqe_req_start),
    .wqe_req_last           (t2_wqe_req_last),
    .wqe_req_ready          (t2_wqe_req_ready),
    .wqe_resp_valid         (t2_wqe_resp_valid),
    .wqe_resp_head          (t2_wqe_resp_head),
    .wqe_resp_data          (t2_wqe_resp_data),
    .wqe_resp_start         (t2_wqe_resp_start),
    .wqe_resp_last          (t2_wqe_resp_last),
    .wqe_resp_ready         (t2_wqe_resp_ready),
    .cache_offset_wen       (t2_cache_offset_wen),
    .cache_offset_addr      (t2_cache_offset_addr),
    .cache_offset_din       (t2_cache_offset_din),
    .cache_offset_dout      (t2_cache_offset_dout),
    .cache_owned_wen        (t2_cache_owned_wen),
    .cache_owned_addr       (t2_cache_owned_addr),
    .cache_owned_din        (t2_cache_owned_din),
    .cache_owned_dout       (t2_cache_owned_dout),
    .rq_offset_wen          (t2_rq_offset_wen),
    .rq_offset_addr         (t2_rq_offset_addr),
    .rq_offset_din          (t2_rq_offset_din),
    .rq_offset_dout         (t2_rq_offset_dout),
    .cq_req_valid           (t2_cq_req_valid),
    .cq_req_head            (t2_cq_req_head),
    .cq_req_ready           (t2_cq_req_ready),
    .cq_resp_valid          (t2_cq_resp_valid),
    .cq_resp_head           (t2_cq_resp_head),
    .cq_resp_ready          (t2_cq_resp_ready),
    .eq_req_valid           (t2_eq_req_valid),
    .eq_req_head            (t2_eq_req_head),
    .eq_req_ready           (t2_eq_req_ready),
    .eq_resp_valid          (t2_eq_resp_valid),
    .eq_resp_head           (t2_eq_resp_head),
    .eq_resp_ready          (t2_eq_resp_ready)
  );

  RecvSideFsm #(
    .LOW   (LOW),
    .HIGH  (HIGH),
    .KEEP  (KEEP),
    .FIXES (FIXES)
  ) recv (
    .clk              (clk),
    .rst              (rst),
    .pkt_valid        (x_pkt_valid),
    .pkt_ready        (x_pkt_ready),
    .pkt_kind         (x_pkt_kind),
    .pkt_id           (x_pkt_id),
    .pkt_len          (x_pkt_len),
    .pkt_msg_len      (x_pkt_msg_len),
    .pkt_last         (x_pkt_last),
    .match_req        (rv_match_req),
    .match_id         (rv_match_id),
    .match_rsp        (rv_match_rsp),
    .match_found      (rv_match_found),
    .posted_done      (rv_posted_done),
    .pool_free        (rv_pool_free),
    .alloc_valid      (rv_alloc_valid),
    .alloc_count      (rv_alloc_count),
    .ring_level       (rv_ring_level),
    .credit_valid     (rv_credit_valid),
    .credit_ready     (rv_credit_ready),
    .credit_count     (rv_credit_count),
    .copy_valid       (rv_copy_valid),
    .copy_id          (rv_copy_id),
    .copy_len         (rv_copy_len),
    .keep_valid       (rv_keep_valid),
    .keep_id          (rv_keep_id),
    .release_valid    (rv_release_valid),
    .release_id       (rv_release_id),
    .temp_alloc_valid (rv_temp_alloc_valid),
    .temp_alloc_len   (rv_temp_alloc_len),
    .temp_alloc_ok    (rv_temp_alloc_ok),
    .protocol_error   (rv_protocol_error),
    .state            (rv_state)
  );

endmodule

`default_nettype wire
