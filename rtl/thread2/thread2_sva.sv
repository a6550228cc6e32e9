// Properties of ReqRecvCore_Thread_2: docs/blocks/thread2.md. `cosim prove` proves them, and the
// wires here are the words of its rules in Verilog; `cosim run --assertions` checks them in
// simulation.

`default_nettype none

module thread2_sva (
  input wire         clk,
  input wire         rst,

  // ---- Pins ------------------------------------------------------------------------------------
  input wire         fetch_mr_ingress_valid,
  input wire         fetch_mr_ingress_ready,
  input wire         wqe_req_valid,
  input wire         wqe_req_ready,
  input wire         wqe_resp_valid,
  input wire [127:0] wqe_resp_data,
  input wire         wqe_resp_last,
  input wire         wqe_resp_ready,
  input wire         cq_req_valid,
  input wire         cq_req_ready,
  input wire         cq_resp_valid,
  input wire         cq_resp_ready,
  input wire         eq_req_valid,
  input wire         eq_req_ready,
  input wire         eq_resp_valid,
  input wire         eq_resp_ready,

  // ---- Registers, and what the message-offset table gives --------------------------------------
  input wire [5:0]   cur_state,
  input wire [31:0]  pkt_left,
  input wire [31:0]  parsed,
  input wire         len_error,
  input wire [415:0] cxt,
  input wire [487:0] hdr,
  input wire [25:0]  next_wqe_addr,
  input wire [5:0]   next_wqe_size,
  input wire [7:0]   cur_wqe_size,
  input wire [23:0]  wqe_addr,
  input wire [63:0]  cq_laddr,
  input wire [63:0]  eq_laddr,
  input wire [31:0]  msg_offset
);

  localparam [5:0] IDLE        = 6'd1;
  localparam [5:0] WQE_REQ     = 6'd3;
  localparam [5:0] NEXT_UNIT   = 6'd4;
  localparam [5:0] DATA_UNIT   = 6'd5;
  localparam [5:0] MR_FOR_SEND = 6'd11;
  localparam [5:0] MR_FOR_EQ   = 6'd15;

  // ---- Fields ----------------------------------------------------------------------------------
  wire [4:0]  net_opcode   = hdr[28:24];
  wire [2:0]  service_type = hdr[31:29];
  wire        solicited    = hdr[56];
  wire [15:0] pkt_length   = hdr[383:368];
  wire [7:0]  local_qp     = hdr[39:32];
  wire [2:0]  qp_state     = cxt[37:35];
  wire [30:0] byte_cnt     = wqe_resp_data[30:0];

  // RDMA WRITE with immediate data, the last packet or the only one: it consumes a WQE only.
  wire is_write_with_imm = net_opcode == 5'd9 || net_opcode == 5'd11;

  // ---- Arithmetic of a unit, in 33 bits --------------------------------------------------------
  wire        nothing_left   = pkt_left == 32'd0;
  wire [32:0] parsed_after   = {1'b0, parsed} + {2'd0, byte_cnt};
  wire        none_available = parsed_after <= {1'b0, msg_offset};
  wire [32:0] available      = parsed_after - {1'b0, msg_offset};
  wire        rest_fits      = nothing_left
                            || !none_available && available >= {1'b0, pkt_left};
  wire [32:0] left_after     = rest_fits      ? 33'd0
                             : none_available ? {1'b0, pkt_left}
                             :                  {1'b0, pkt_left} - available;
  wire        passes_unit    = is_write_with_imm || nothing_left || none_available;

  // ---- Progress --------------------------------------------------------------------------------
  wire is_busy   = cur_state != IDLE;
  wire unit_used = wqe_resp_valid && wqe_resp_ready;
  wire is_in_wqe = cur_state == NEXT_UNIT || cur_state == DATA_UNIT;
  wire for_event = cur_state == MR_FOR_EQ;

  // Beats of the present WQE are still to come: its request was taken, and its last beat was not.
  reg wqe_owed;
  always @(posedge clk or posedge rst) begin
    if (rst) wqe_owed <= 1'b0;
    else     wqe_owed <= wqe_req_valid && wqe_req_ready
                      || wqe_owed && !(unit_used && wqe_resp_last);
  end

  // T43: the request for the event was not taken at once.
  reg went_back;
  always @(posedge clk or posedge rst) begin
    if (rst)            went_back <= 1'b0;
    else if (for_event) went_back <= !fetch_mr_ingress_ready;
  end

  // The environment owes an answer.
  wire partner_waits = is_in_wqe && !wqe_resp_valid && wqe_owed
                    || wqe_req_valid && !wqe_req_ready
                    || fetch_mr_ingress_valid && !fetch_mr_ingress_ready
                    || cq_req_valid && !cq_req_ready
                    || cq_resp_ready && !cq_resp_valid
                    || eq_req_valid && !eq_req_ready
                    || eq_resp_ready && !eq_resp_valid;

  // F5: the WQE's last unit is used, and another one is waited for.
  wire waits_for_no_unit = cur_state == DATA_UNIT && !wqe_owed;
  // That request is taken at once.
  wire event_taken       = for_event && fetch_mr_ingress_ready;

  // Assumptions: a WQE's beats come after its request, up to its last; a unit is behind its
  // NextUnit.
  wire beats_are_owed = !wqe_resp_valid || wqe_owed;
  wire has_units      = !(cur_state == NEXT_UNIT && wqe_resp_valid && wqe_resp_last);

  // ---- Properties ------------------------------------------------------------------------------
  wire is_before = cur_state == WQE_REQ || cur_state == NEXT_UNIT;
  wire is_inside = cur_state == DATA_UNIT || cur_state == MR_FOR_SEND;

  always @(posedge clk) begin
    if (!rst) begin
      // property: in MR_FOR_SEND_s a unit is on offer
      unit_on_offer: assert (cur_state != MR_FOR_SEND || wqe_resp_valid);

      // property: units that were passed are no longer than what is placed, as long as bytes are to
      // be placed
      passed_units: assert ((!is_before || parsed == 32'd0)
                            && (!is_inside || is_write_with_imm || nothing_left
                                || parsed <= msg_offset));
    end
  end

endmodule

// Yosys does not read `bind`.
`ifndef YOSYS
bind ReqRecvCore_Thread_2 thread2_sva thread2_sva_i (.*);
`endif

`default_nettype wire
