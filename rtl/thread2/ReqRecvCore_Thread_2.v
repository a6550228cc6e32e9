// ReqRecvCore_Thread_2: second stage of the RDMA receive path.
//
// One packet at a time: take its QP/CQ/EQ context and header, consume a receive WQE when the
// opcode needs one, send the MR (memory region) requests that place or fetch the payload, complete
// it to CQ and EQ, acknowledge it. Binding text: spec thread2. Comments cite its rows (T01..T46),
// fixes (F0..F7) and decisions (D1..D4); constants are in ReqRecvCore_Thread_2.vh.
//
// In this file, from the top:
//   ports, registers, packet and context fields, opcode classes, DataUnit arithmetic,
//   RQ update arithmetic, state machine, output payloads, register updates, message-offset table.

`default_nettype none

module ReqRecvCore_Thread_2 #(
  parameter logic [7:0] FIXES = 8'h00  // bit n switches fix Fn on; 8'h00: S0 as specified
) (
  // ---- Clock and reset (asynchronous, active high) ---------------------------------------------
  input  wire         clk,
  input  wire         rst,

  // ---- OoOStation: context response and packet header, one beat per packet ---------------------
  input  wire         fetch_cxt_egress_valid,
  input  wire [415:0] fetch_cxt_egress_head,
  input  wire [487:0] fetch_cxt_egress_data,
  // Unused: one beat per context, so start and last say nothing (section 2).
  // verilator lint_off UNUSEDSIGNAL
  input  wire         fetch_cxt_egress_start,
  input  wire         fetch_cxt_egress_last,
  // verilator lint_on UNUSEDSIGNAL
  output reg          fetch_cxt_egress_ready,

  // ---- OoOStation: MR request ------------------------------------------------------------------
  output reg          fetch_mr_ingress_valid,
  output reg  [223:0] fetch_mr_ingress_head,
  output reg  [255:0] fetch_mr_ingress_data,
  output wire         fetch_mr_ingress_start,
  output wire         fetch_mr_ingress_last,
  input  wire         fetch_mr_ingress_ready,

  // ---- RecvQueueMgt: WQE request ---------------------------------------------------------------
  output reg          wqe_req_valid,
  output reg  [575:0] wqe_req_head,
  output wire         wqe_req_start,
  output wire         wqe_req_last,
  input  wire         wqe_req_ready,

  // ---- RecvQueueMgt: WQE response, one NextUnit beat, then DataUnit beats ----------------------
  input  wire         wqe_resp_valid,
  // Unused: head and start are carried for the interface only (section 2).
  // verilator lint_off UNUSEDSIGNAL
  input  wire [575:0] wqe_resp_head,
  input  wire [127:0] wqe_resp_data,
  input  wire         wqe_resp_start,
  // verilator lint_on UNUSEDSIGNAL
  input  wire         wqe_resp_last,
  output reg          wqe_resp_ready,

  // ---- Cache Offset Table: slot of the QP's next WQE in its cache cell -------------------------
  output reg          cache_offset_wen,
  output wire [7:0]   cache_offset_addr,
  output wire [7:0]   cache_offset_din,
  input  wire [7:0]   cache_offset_dout,

  // ---- CacheOwnedTable: QP that owns a cache cell ----------------------------------------------
  output reg          cache_owned_wen,
  output wire [6:0]   cache_owned_addr,
  output wire [7:0]   cache_owned_din,
  input  wire [7:0]   cache_owned_dout,

  // ---- RQHeadRecord: consumer pointer of the RQ, in slots (D3) ---------------------------------
  output reg          rq_offset_wen,
  output wire [7:0]   rq_offset_addr,
  output wire [23:0]  rq_offset_din,
  input  wire [23:0]  rq_offset_dout,

  // ---- CompletionQueueMgt: request and response ------------------------------------------------
  output reg          cq_req_valid,
  output reg  [63:0]  cq_req_head,
  input  wire         cq_req_ready,
  input  wire         cq_resp_valid,
  // Unused: 31:0 is ignored (section 3).
  // verilator lint_off UNUSEDSIGNAL
  input  wire [95:0]  cq_resp_head,
  // verilator lint_on UNUSEDSIGNAL
  output reg          cq_resp_ready,

  // ---- EventQueueMgt: request and response -----------------------------------------------------
  output reg          eq_req_valid,
  output reg  [63:0]  eq_req_head,
  input  wire         eq_req_ready,
  input  wire         eq_resp_valid,
  // Unused: 31:0 is ignored (section 3).
  // verilator lint_off UNUSEDSIGNAL
  input  wire [95:0]  eq_resp_head,
  // verilator lint_on UNUSEDSIGNAL
  output reg          eq_resp_ready
);

  `include "ReqRecvCore_Thread_2.vh"

  // ---- Registers -------------------------------------------------------------------------------
  // Those the state machine computes have a next value (*_d), those that only take an input
  // have a load enable (*_load).
  reg [5:0]   cur_state,  next_state;
  reg [31:0]  pkt_left,   pkt_left_d;      // bytes of this packet not yet requested
  reg [31:0]  parsed,     parsed_d;        // bytes of the DataUnits consumed for this packet
  reg         len_error,  len_error_d;     // the WQE ended before the packet (F5)

  // Unused bits: both are latched whole, some fields are reserved or only others read them.
  // verilator lint_off UNUSEDSIGNAL
  reg [415:0] cxt;
  reg [487:0] hdr;
  // verilator lint_on UNUSEDSIGNAL
  reg         cxt_load;

  reg [25:0]  next_wqe_addr;               // slots
  reg [5:0]   next_wqe_size;               // slots, 0: there is no next WQE
  reg [7:0]   cur_wqe_size;                // slots
  reg [23:0]  wqe_addr;                    // slots, where the WQE being consumed starts
  reg         next_unit_load;

  reg [63:0]  cq_laddr;
  reg         cq_laddr_load;
  reg [63:0]  eq_laddr;
  reg         eq_laddr_load;

  // Message-offset table, see the end of the file.
  reg         msg_offset_advance;          // entry of qp += chunk
  reg         msg_offset_clear;            // entry of qp = 0
  wire [31:0] msg_offset;                  // entry of qp: message bytes placed by earlier packets

  // ---- Fields of the latched context and header ------------------------------------------------
  wire [2:0]  qp_state        = cxt[CXT_QP_STATE +: 3];
  wire [7:0]  rq_entry_sz_log = cxt[CXT_RQ_ENTRY_SZ_LOG +: 8];
  wire [31:0] qp_pd           = cxt[CXT_QP_PD +: 32];
  wire [31:0] rq_length       = cxt[CXT_RQ_LENGTH +: 32];

  wire [4:0]  net_opcode      = hdr[HDR_NET_OPCODE +: 5];
  wire [2:0]  service_type    = hdr[HDR_SERVICE_TYPE +: 3];
  wire [23:0] local_qpn       = hdr[HDR_LOCAL_QPN +: 24];
  wire        solicited       = hdr[HDR_SOLICITED];
  wire [15:0] pkt_length      = hdr[HDR_PKT_LENGTH +: 16];
  wire [7:0]  qp              = local_qpn[7:0];

  // ---- Opcode classes and what follows from packet and QP --------------------------------------
  wire op_send_part   = net_opcode == SEND_FIRST || net_opcode == SEND_MIDDLE;
  wire op_send_end    = net_opcode == SEND_LAST  || net_opcode == SEND_LAST_WITH_IMM
                     || net_opcode == SEND_ONLY  || net_opcode == SEND_ONLY_WITH_IMM;
  wire op_write_plain = net_opcode == RDMA_WRITE_FIRST || net_opcode == RDMA_WRITE_MIDDLE
                     || net_opcode == RDMA_WRITE_LAST  || net_opcode == RDMA_WRITE_ONLY;
  wire op_write_imm   = net_opcode == RDMA_WRITE_LAST_WITH_IMM
                     || net_opcode == RDMA_WRITE_ONLY_WITH_IMM;
  wire op_read        = net_opcode == RDMA_READ_REQUEST_FIRST
                     || net_opcode == RDMA_READ_REQUEST_MIDDLE
                     || net_opcode == RDMA_READ_REQUEST_LAST
                     || net_opcode == RDMA_READ_REQUEST_ONLY;

  wire qp_receives    = qp_state == QP_RTR || qp_state == QP_RTS
                     || qp_state == QP_SQD || qp_state == QP_SQE;
  wire acknowledges   = service_type == SERVICE_RC
                     || service_type == SERVICE_RD
                     || service_type == SERVICE_XRC;

  // Where a transition into GEN_ACK_s goes (F6), and where a packet goes whose payload is placed
  // and whose WQE is read to its end (T13, T14, T15, T16; T17).
  wire [5:0] ack_state =
    (FIXES[F6_ACK_RELIABLE_ONLY] && !acknowledges) ? IDLE_s : GEN_ACK_s;
  wire [5:0] placed_state = op_send_end ? UPDATE_RQ_s : ack_state;

  wire [2:0] final_status = len_error ? STATUS_LOCAL_LENGTH_ERROR : STATUS_GOOD;

  // ---- DataUnit arithmetic, for the unit on offer ----------------------------------------------
  // avail = max(0, parsed + byte_cnt - msg_offset), chunk = min(pkt_left, avail).
  wire [30:0] byte_cnt     = wqe_resp_data[DATA_UNIT_BYTE_CNT +: 31];
  wire [32:0] parsed_after = {1'b0, parsed} + {2'd0, byte_cnt};
  wire        unit_used_up = parsed_after <= {1'b0, msg_offset};             // avail = 0
  wire [32:0] avail        = unit_used_up ? 33'd0 : parsed_after - {1'b0, msg_offset};
  wire [31:0] chunk        = (avail < {1'b0, pkt_left}) ? avail[31:0] : pkt_left;
  wire        all_placed   = pkt_left == 32'd0;
  wire        unit_covers  = chunk == pkt_left;            // this unit takes the rest of the packet
  wire [63:0] unit_addr    = wqe_resp_data[DATA_UNIT_LADDR +: 64]
                           + {32'd0, msg_offset} - {32'd0, parsed};

  // ---- RQ update arithmetic: consumer pointer and cache slot after the WQE just consumed -------
  wire        entry_legal = rq_entry_sz_log >= RQ_ENTRY_SZ_LOG_MIN
                         && rq_entry_sz_log <= RQ_ENTRY_SZ_LOG_MAX;
  wire [10:0] entry_bytes = entry_legal ? 11'd1 << rq_entry_sz_log : 11'd0;
  // A power of two less one: rounding up to a multiple of the entry is adding and masking it.
  wire [8:0]  entry_mask  = {2'd0, entry_bytes[10:SLOT_BYTES_LOG]} - 9'd1;  // slots
  wire [8:0]  wqe_aligned =
    entry_legal ? ({1'b0, cur_wqe_size} + entry_mask) & ~entry_mask : 9'd0;

  wire [24:0] rq_next     = {1'b0, rq_offset_dout} + {16'd0, wqe_aligned};
  wire [31:0] rq_next_end = ({7'd0, rq_next} << SLOT_BYTES_LOG) + {21'd0, entry_bytes};  // bytes
  wire [23:0] rq_offset_new = (rq_next_end > rq_length) ? 24'd0 : rq_next[23:0];

  wire        rq_wraps    = next_wqe_addr < {2'd0, rq_offset_dout};
  wire [25:0] wqe_stride  = next_wqe_addr - {2'd0, rq_offset_dout};    // meaningless if rq_wraps
  wire [26:0] cache_next  = {19'd0, cache_offset_dout} + {1'b0, wqe_stride};
  wire        cell_crossed = cache_next + {21'd0, next_wqe_size} > CACHE_CELL_SLOTS;
  wire        cell_release = next_wqe_size == 6'd0 || rq_wraps || cell_crossed;
  wire [7:0]  cache_offset_new = cell_release ? 8'd0 : cache_next[7:0];

  // ---- State machine: next values, valid/ready/wen outputs, fields of the MR request -----------
  // Under reset every output is 0, so nothing but the defaults applies.
  reg         mr_bypass;
  reg [31:0]  mr_flags, mr_pd, mr_key, mr_length;
  reg [63:0]  mr_addr;
  reg [4:0]   mr_opcode;
  reg [7:0]   mr_tail;
  reg [2:0]   mr_status;
  reg         mr_has_wqe;                  // wqe_addr and net_opcode go along (CQ request only)

  always @* begin
    next_state     = cur_state;
    pkt_left_d     = pkt_left;
    parsed_d       = parsed;
    len_error_d    = len_error;

    cxt_load           = 1'b0;
    next_unit_load     = 1'b0;
    cq_laddr_load      = 1'b0;
    eq_laddr_load      = 1'b0;
    msg_offset_advance = 1'b0;
    msg_offset_clear   = 1'b0;

    fetch_cxt_egress_ready = 1'b0;
    fetch_mr_ingress_valid = 1'b0;
    wqe_req_valid    = 1'b0;
    wqe_resp_ready   = 1'b0;
    cache_offset_wen = 1'b0;
    cache_owned_wen  = 1'b0;
    rq_offset_wen    = 1'b0;
    cq_req_valid     = 1'b0;
    cq_resp_ready    = 1'b0;
    eq_req_valid     = 1'b0;
    eq_resp_ready    = 1'b0;

    mr_bypass  = 1'b0;
    mr_flags   = 32'd0;
    mr_pd      = 32'd0;
    mr_key     = 32'd0;
    mr_addr    = 64'd0;
    mr_length  = 32'd0;
    mr_opcode  = net_opcode;
    mr_tail    = TAIL_LAST;
    mr_status  = STATUS_GOOD;
    mr_has_wqe = 1'b0;

    if (!rst) case (cur_state)
      // Waits for a packet: its context and header.
      IDLE_s: begin
        fetch_cxt_egress_ready = 1'b1;
        if (fetch_cxt_egress_valid) begin                                      // T01, else T02
          cxt_load   = 1'b1;
          next_state = JUDGE_s;
        end
      end

      // Waits for nothing: the opcode picks the path.
      JUDGE_s: begin
        pkt_left_d     = {16'd0, pkt_length};
        parsed_d       = 32'd0;
        len_error_d    = 1'b0;
        if (FIXES[F7_QP_STATE_CHECKED] && !qp_receives)        next_state = IDLE_s;         // F7
        else if (op_send_part || op_send_end || op_write_imm)   next_state = WQE_REQ_s;      // T03
        else if (op_write_plain)                                next_state = MR_FOR_WRITE_s; // T04
        else if (op_read)                                       next_state = MR_FOR_READ_s;  // T05
        else                                                    next_state = IDLE_s;         // T06
      end

      // Waits for RecvQueueMgt to take the WQE request; S0 gives the packet up at once (T08, F0).
      WQE_REQ_s: begin
        wqe_req_valid = 1'b1;
        if (wqe_req_ready)                    next_state = NEXT_UNIT_s;       // T07
        else if (!FIXES[F0_WQE_REQ_WAITS])   next_state = IDLE_s;            // T08
      end

      // Waits for the first beat of the WQE.
      NEXT_UNIT_s: begin
        wqe_resp_ready = 1'b1;
        if (wqe_resp_valid) begin                                              // T09, else T10
          next_unit_load = 1'b1;
          next_state     = DATA_UNIT_s;
        end
      end

      // Waits for a DataUnit; one with room for this packet stays on offer for MR_FOR_SEND_s.
      DATA_UNIT_s: begin
        wqe_resp_ready = op_write_imm || all_placed || unit_used_up;
        if (wqe_resp_valid) begin                                              // else T19
          if (op_write_imm) begin                                              // not last: stay, D1
            if (wqe_resp_last) next_state = UPDATE_RQ_s;                      // T11, T12
          end else if (all_placed) begin
            if (wqe_resp_last) next_state = placed_state;                      // T13..T17, else T20
          end else if (unit_used_up) begin                                     // T21
            parsed_d    = parsed_after[31:0];
            if (FIXES[F5_LAST_UNIT_ENDS] && wqe_resp_last) begin
              len_error_d    = 1'b1;
              next_state     = UPDATE_RQ_s;
            end
          end else begin
            next_state = MR_FOR_SEND_s;                                       // T18
          end
        end
      end

      // Waits for OoOStation to take the request for this DataUnit, which is consumed with it.
      MR_FOR_SEND_s: begin
        fetch_mr_ingress_valid = 1'b1;
        mr_bypass      = wqe_resp_data[DATA_UNIT_INLINE];
        mr_flags       = MR_FLAG_ABS_ADDR | MR_FLAG_LOCAL_WRITE;
        mr_pd          = qp_pd;
        mr_key         = wqe_resp_data[DATA_UNIT_LKEY +: 32];
        mr_addr        = unit_addr;
        mr_length      = chunk;
        mr_tail        = unit_covers ? TAIL_LAST : TAIL_NONE;
        wqe_resp_ready = fetch_mr_ingress_ready;
        if (fetch_mr_ingress_ready) begin                                      // else T34
          parsed_d           = parsed_after[31:0];
          pkt_left_d         = pkt_left - chunk;
          msg_offset_advance = 1'b1;
          if (!FIXES[F5_LAST_UNIT_ENDS] || !wqe_resp_last) begin
            next_state = DATA_UNIT_s;                                         // T33
          end else if (unit_covers) begin                                      // F5, as T13..T17
            next_state = placed_state;
          end else begin                                                       // F5, WQE too short
            len_error_d    = 1'b1;
            next_state     = UPDATE_RQ_s;
          end
        end
      end

      // Waits for nothing: the tables take their new values in this one cycle.
      UPDATE_RQ_s: begin
        rq_offset_wen    = 1'b1;
        cache_offset_wen = 1'b1;
        cache_owned_wen  = cell_release && cache_owned_dout == qp;             // D4
        msg_offset_clear = 1'b1;
        if (len_error || op_send_end)   next_state = CQ_REQ_s;                // F5, T30, D2
        else if (op_write_imm)          next_state = MR_FOR_WRITE_s;          // T31
        else                            next_state = IDLE_s;                  // T32
      end

      // Waits for OoOStation to take the request that checks and places an RDMA_WRITE.
      MR_FOR_WRITE_s: begin
        fetch_mr_ingress_valid = 1'b1;
        mr_flags  = MR_FLAG_ABS_ADDR | MR_FLAG_REMOTE_WRITE;
        mr_pd     = qp_pd;
        mr_key    = hdr[HDR_RKEY +: 32];
        mr_addr   = hdr[HDR_RADDR +: 64];
        mr_length = {16'd0, pkt_length};
        if (fetch_mr_ingress_ready) begin                                      // else T37
          if (FIXES[F3_WRITE_IMM_COMPLETES] && op_write_imm)   next_state = CQ_REQ_s;  // F3
          else if (op_write_plain || op_write_imm)              next_state = ack_state;  // T35
          else                                                  next_state = IDLE_s;    // T36
        end
      end

      // Waits for OoOStation to take the request that checks and fetches an RDMA_READ.
      MR_FOR_READ_s: begin
        fetch_mr_ingress_valid = 1'b1;
        mr_bypass = !FIXES[F4_READ_KEY_CHECKED];
        mr_flags  = MR_FLAG_ABS_ADDR | MR_FLAG_REMOTE_READ;
        mr_pd     = qp_pd;
        mr_key    = hdr[HDR_RKEY +: 32];
        mr_addr   = hdr[HDR_RADDR +: 64];
        mr_length = {16'd0, pkt_length};
        mr_opcode = net_opcode + READ_REQUEST_TO_RESPONSE;
        if (fetch_mr_ingress_ready) next_state = IDLE_s;                      // T38, else T39
      end

      // Waits for CompletionQueueMgt to take the request for the CQ's address.
      CQ_REQ_s: begin
        cq_req_valid = 1'b1;
        if (cq_req_ready) next_state = CQ_RESP_s;                             // T22, else T23
      end

      // Waits for the CQ's address.
      CQ_RESP_s: begin
        cq_resp_ready = 1'b1;
        if (cq_resp_valid) begin                                               // T24, else T25
          cq_laddr_load = 1'b1;
          next_state    = MR_FOR_CQ_s;
        end
      end

      // Waits for OoOStation to take the request that places the completion.
      MR_FOR_CQ_s: begin
        fetch_mr_ingress_valid = 1'b1;
        mr_flags   = MR_FLAG_REL_ADDR | MR_FLAG_LOCAL_WRITE;
        mr_pd      = cxt[CXT_CQ_PD +: 32];
        mr_key     = cxt[CXT_CQ_LKEY +: 32];
        mr_addr    = cq_laddr;
        mr_length  = CQE_BYTES;
        mr_opcode  = GEN_CQE;
        mr_status  = final_status;
        mr_has_wqe = 1'b1;
        if (fetch_mr_ingress_ready) begin                                      // else T41
          if (FIXES[F1_SOLICITED_EVENT] && solicited)   next_state = EQ_REQ_s;    // F1
          else                                           next_state = ack_state;    // T40
        end
      end

      // Waits for EventQueueMgt to take the request for the EQ's address. Entered by F1 only.
      EQ_REQ_s: begin
        eq_req_valid = 1'b1;
        if (eq_req_ready) next_state = EQ_RESP_s;                             // T26, else T27
      end

      // Waits for the EQ's address.
      EQ_RESP_s: begin
        eq_resp_ready = 1'b1;
        if (eq_resp_valid) begin                                               // T28, else T29
          eq_laddr_load = 1'b1;
          next_state    = MR_FOR_EQ_s;
        end
      end

      // Waits for OoOStation to take the request that places the event; S0 goes back to the
      // completion instead of waiting (T43, F2).
      MR_FOR_EQ_s: begin
        fetch_mr_ingress_valid = 1'b1;
        mr_flags  = MR_FLAG_REL_ADDR | MR_FLAG_LOCAL_WRITE;
        mr_pd     = cxt[CXT_EQ_PD +: 32];
        mr_key    = cxt[CXT_EQ_LKEY +: 32];
        mr_addr   = eq_laddr;
        mr_length = EQE_BYTES;
        mr_opcode = GEN_EVENT;
        if (fetch_mr_ingress_ready)         next_state = ack_state;            // T42
        else if (!FIXES[F2_EQ_MR_WAITS])   next_state = MR_FOR_CQ_s;         // T43
      end

      // Waits for OoOStation to take the acknowledgement.
      GEN_ACK_s: begin
        fetch_mr_ingress_valid = 1'b1;
        mr_bypass = 1'b1;
        mr_opcode = ACKNOWLEDGE;
        mr_status = final_status;
        if (fetch_mr_ingress_ready) next_state = IDLE_s;                      // T44, else T45
      end

      // A code that is no state.
      default: next_state = IDLE_s;                                           // T46
    endcase
  end

  // ---- Output payloads: 0 while their valid or wen is 0 ----------------------------------------
  assign fetch_mr_ingress_start = fetch_mr_ingress_valid;
  assign fetch_mr_ingress_last  = fetch_mr_ingress_valid;
  assign wqe_req_start          = wqe_req_valid;
  assign wqe_req_last           = wqe_req_valid;

  always @* begin
    fetch_mr_ingress_head = 224'd0;
    fetch_mr_ingress_data = 256'd0;
    if (fetch_mr_ingress_valid) begin
      fetch_mr_ingress_head[MR_HEAD_QP +: 8]             = qp;
      fetch_mr_ingress_head[MR_HEAD_SLOT_COUNT +: 7]     = MR_ONE_SLOT;
      fetch_mr_ingress_head[MR_HEAD_BYPASS]         = mr_bypass;
      fetch_mr_ingress_head[MR_HEAD_FLAGS +: 32]          = mr_flags;
      fetch_mr_ingress_head[MR_HEAD_PD +: 32]             = mr_pd;
      fetch_mr_ingress_head[MR_HEAD_KEY +: 32]            = mr_key;
      fetch_mr_ingress_head[MR_HEAD_ADDR +: 64]           = mr_addr;
      fetch_mr_ingress_head[MR_HEAD_LENGTH +: 32]         = mr_length;
      fetch_mr_ingress_data[MR_DATA_LOCAL_QPN +: 24]      = local_qpn;
      fetch_mr_ingress_data[MR_DATA_TAIL +: 8]           = mr_tail;
      fetch_mr_ingress_data[MR_DATA_REMOTE_QPN +: 24]     = hdr[HDR_REMOTE_QPN +: 24];
      fetch_mr_ingress_data[MR_DATA_OPCODE +: 5]         = mr_opcode;
      fetch_mr_ingress_data[MR_DATA_SERVICE_TYPE +: 3]   = service_type;
      fetch_mr_ingress_data[MR_DATA_IMMEDIATE +: 32]      = hdr[HDR_IMMEDIATE +: 32];
      fetch_mr_ingress_data[MR_DATA_PKT_LENGTH +: 16]     = pkt_length;
      fetch_mr_ingress_data[MR_DATA_PKT_START_ADDR +: 16] = hdr[HDR_PKT_START_ADDR +: 16];
      fetch_mr_ingress_data[MR_DATA_STATUS +: 3]         = mr_status;
      fetch_mr_ingress_data[MR_DATA_SIP +: 32]            = hdr[HDR_SIP +: 32];
      fetch_mr_ingress_data[MR_DATA_DIP +: 32]            = hdr[HDR_DIP +: 32];
      if (mr_has_wqe) begin
        fetch_mr_ingress_data[MR_DATA_WQE_ADDR +: 24]     = wqe_addr;
        fetch_mr_ingress_data[MR_DATA_NET_OPCODE +: 5]   = net_opcode;
      end
    end
  end

  always @* begin
    wqe_req_head = 576'd0;
    if (wqe_req_valid) begin
      wqe_req_head[WQE_REQ_LOCAL_QPN +: 24]       = local_qpn;
      wqe_req_head[WQE_REQ_RQ_ENTRY_SZ_LOG +: 8] = rq_entry_sz_log;
      wqe_req_head[WQE_REQ_RQ_LKEY +: 32]         = cxt[CXT_RQ_LKEY +: 32];
      wqe_req_head[WQE_REQ_RQ_LENGTH +: 32]       = rq_length;
      wqe_req_head[WQE_REQ_QP_PD +: 32]           = qp_pd;
    end
  end

  // A log size that shifts the 1 out of the 32 bits gives length 0 (spec section 3).
  always @* begin
    cq_req_head = 64'd0;
    eq_req_head = 64'd0;
    if (cq_req_valid) begin
      cq_req_head[CQ_REQ_CQN +: 16]    = cxt[CXT_RCV_CQN +: 16];
      cq_req_head[CQ_REQ_LENGTH +: 32] = CQE_BYTES << cxt[CXT_CQ_LOG_SIZE +: 8];
    end
    if (eq_req_valid) begin
      eq_req_head[EQ_REQ_EQN +: 24]    = cxt[CXT_CQ_COMP_EQN +: 24];
      eq_req_head[EQ_REQ_LENGTH +: 32] = EQE_BYTES << cxt[CXT_EQ_LOG_SIZE +: 8];
    end
  end

  wire tables_addressed = !rst && cur_state != IDLE_s;
  assign rq_offset_addr    = tables_addressed ? qp : 8'd0;
  assign cache_offset_addr = tables_addressed ? qp : 8'd0;
  assign cache_owned_addr  = tables_addressed ? qp[6:0] : 7'd0;
  assign rq_offset_din     = rq_offset_wen ? rq_offset_new : 24'd0;
  assign cache_offset_din  = cache_offset_wen ? cache_offset_new : 8'd0;
  assign cache_owned_din   = 8'd0;         // free: this module only releases cells (D4)

  // ---- Register updates ------------------------------------------------------------------------
  always @(posedge clk or posedge rst) begin
    if (rst) begin
      cur_state     <= IDLE_s;
      pkt_left      <= 32'd0;
      parsed        <= 32'd0;
      len_error     <= 1'b0;
      cxt           <= 416'd0;
      hdr           <= 488'd0;
      next_wqe_addr <= 26'd0;
      next_wqe_size <= 6'd0;
      cur_wqe_size  <= 8'd0;
      wqe_addr      <= 24'd0;
      cq_laddr      <= 64'd0;
      eq_laddr      <= 64'd0;
    end else begin
      cur_state <= next_state;
      pkt_left  <= pkt_left_d;
      parsed    <= parsed_d;
      len_error <= len_error_d;
      if (cxt_load) begin
        cxt <= fetch_cxt_egress_head;
        hdr <= fetch_cxt_egress_data;
      end
      if (next_unit_load) begin
        next_wqe_addr <= wqe_resp_data[NEXT_UNIT_NEXT_WQE_ADDR +: 26];
        next_wqe_size <= wqe_resp_data[NEXT_UNIT_NEXT_WQE_SIZE +: 6];
        cur_wqe_size  <= wqe_resp_data[NEXT_UNIT_CUR_WQE_SIZE +: 8];
        wqe_addr      <= rq_offset_dout;
      end
      if (cq_laddr_load) cq_laddr <= cq_resp_head[RESP_LADDR +: 64];
      if (eq_laddr_load) eq_laddr <= eq_resp_head[RESP_LADDR +: 64];
    end
  end

  // ---- Message-offset table, one entry per qp --------------------------------------------------
  // A memory has no reset, so each entry has a used bit that has one: an unused entry reads 0.
  reg [31:0]          msg_offset_mem [0:QP_COUNT-1];
  reg [QP_COUNT-1:0] msg_offset_used;

  assign msg_offset = msg_offset_used[qp] ? msg_offset_mem[qp] : 32'd0;

  always @(posedge clk) begin
    if (msg_offset_advance) msg_offset_mem[qp] <= msg_offset + chunk;
  end

  always @(posedge clk or posedge rst) begin
    if (rst)                     msg_offset_used     <= {QP_COUNT{1'b0}};
    else if (msg_offset_clear)   msg_offset_used[qp] <= 1'b0;
    else if (msg_offset_advance) msg_offset_used[qp] <= 1'b1;
  end

endmodule

`default_nettype wire
