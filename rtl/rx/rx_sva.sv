// Properties of the logic between the blocks of RxSystem, of pins alone, and the order of dll's
// numbers, on which the proofs inside of dll depend: docs/blocks/rx.md. `cosim prove` proves them;
// `cosim run --assertions` checks them in simulation.

`default_nettype none

module rx_sva #(
  parameter int REPLAY_DEPTH = 16
) (
  input wire       clk,
  input wire       rst,

  // ---- Pins ------------------------------------------------------------------------------------
  input wire       a_tlp_valid,
  input wire       x_a_tlp_valid,
  input wire [4:0] x_credits_used,
  input wire       x_b_deliver_valid,
  input wire [4:0] x_fifo_level,
  input wire       fetch_valid,
  input wire       fetch_request,
  input wire       cxt_valid,
  input wire       len_valid,
  input wire       x_msg_valid,
  input wire       x_msg_accept,
  input wire       x_msg_take_wqe,
  input wire       x_msg_ack,
  input wire       x_msg_nak,
  input wire       x_hw_valid,
  input wire       x_hw_ready,
  input wire       qp_hw_ready,
  input wire       x_cxt_valid,
  input wire       x_cxt_ready,
  input wire       x_pkt_valid,
  input wire       x_pkt_ready,
  input wire       req_valid,
  input wire [1:0] req_fate,
  input wire       req_ack,
  input wire       req_take_wqe,

  // ---- Registers of device A of dll ------------------------------------------------------------
  input wire        dll_a_tlp_ready,
  input wire        dll_a_link_valid,
  input wire [11:0] dll_a_link_seq,
  input wire [11:0] dll_a_ackd_seq,
  input wire [11:0] dll_a_next_seq,
  input wire [11:0] dll_a_send_seq,
  input wire [11:0] dll_a_last_sent_seq
);

  // FI1 to FI3: the level behind what is delivered and what leaves.
  wire      enters = x_b_deliver_valid && x_fifo_level != 5'd16;
  wire      leaves = req_valid || x_pkt_valid && x_pkt_ready;
  reg [4:0] expected_level;
  always @(posedge clk or posedge rst) begin
    if (rst) expected_level <= 5'd0;
    else     expected_level <= x_fifo_level + {4'd0, enters} - {4'd0, leaves};
  end

  // As in dll_sva.sv: distances ahead of ackd_seq, modulo the sequence space, and the age of the
  // number on offer.
  localparam [11:0] DEPTH = REPLAY_DEPTH[11:0];
  wire [11:0] next_dist  = dll_a_next_seq - dll_a_ackd_seq;
  wire [11:0] sent_dist  = dll_a_last_sent_seq - dll_a_ackd_seq;
  wire [11:0] send_dist  = dll_a_send_seq - dll_a_ackd_seq;
  wire [11:0] new_seq    = dll_a_last_sent_seq + 12'd1;
  wire        offers_new = dll_a_link_valid && dll_a_link_seq == new_seq;
  wire [11:0] offer_age  = new_seq - dll_a_link_seq;

  wire in_order = next_dist != 12'd0 && next_dist <= DEPTH + 12'd1
               && (!dll_a_tlp_ready || next_dist <= DEPTH)
               && sent_dist < next_dist && (!offers_new || sent_dist + 12'd1 < next_dist)
               && send_dist != 12'd0 && send_dist <= next_dist
               && send_dist <= sent_dist + 12'd1 + {11'd0, offers_new}
               && (!dll_a_link_valid || offer_age <= DEPTH);

  always @(posedge clk) begin
    if (!rst) begin
      // property: dll: A's numbers are in order, as many as its buffer holds
      numbers_in_order: assert (in_order);

      // property: CR: at most 16 credits are in use
      credits_at_most_16: assert (x_credits_used <= 5'd16);

      // property: FI: the FIFO has at most 16 entries
      entries_at_most_16: assert (x_fifo_level <= 5'd16);

      // property: FI: there is a head while the FIFO is not empty
      head_shown: assert (fetch_valid == (x_fifo_level != 5'd0));

      // property: CR5: A sees a descriptor that has a credit
      descriptor_with_credit: assert (!x_a_tlp_valid || a_tlp_valid);

      // property: the head goes to thread2 or to recv
      one_way: assert (!(x_cxt_valid && x_pkt_valid));

      // property: thread2 is offered what qp accepts without a Nak
      accepted_offered: assert (x_cxt_valid == (x_msg_accept && !x_msg_nak));

      // property: RQ4: what thread2 takes leaves with fate 0
      rq4_fate_0: assert (!(x_cxt_valid && x_cxt_ready)
                          || req_valid && req_fate == 2'd0 && req_ack == x_msg_ack
                             && req_take_wqe == x_msg_take_wqe);

      // property: RQ5: what qp refuses with a Nak leaves with fate 1
      rq5_fate_1: assert (!(x_msg_valid && x_msg_nak)
                          || req_valid && req_fate == 2'd1 && !req_ack && !req_take_wqe);

      // property: RQ6: what qp does not accept leaves with fate 2
      rq6_fate_2: assert (!(x_msg_valid && !x_msg_accept)
                          || req_valid && req_fate == 2'd2 && !req_ack && !req_take_wqe);

      // property: RQ3: what waits for thread2 does not leave
      rq3_waits: assert (!(x_cxt_valid && !x_cxt_ready) || !req_valid);

      // property: FI, RQ, PK: the head is offered to thread2 or recv, or leaves, or waits for its
      // context, its lengths or an event
      head_moves: assert (!fetch_valid || x_cxt_valid || x_pkt_valid || req_valid
                          || (fetch_request ? !cxt_valid || x_hw_valid : !len_valid));

      // property: FI1 to FI3: what is delivered goes into the FIFO, and what leaves makes room
      level_counts: assert (x_fifo_level == expected_level);

      // property: EV6: an event from outside waits for those of the system
      ev6_outside_waits: assert (!qp_hw_ready || x_hw_ready);
    end
  end

endmodule

// Yosys does not read `bind`; cosim reads the connections of the ports from it.
`ifndef YOSYS
bind RxSystem rx_sva #(
  .REPLAY_DEPTH (REPLAY_DEPTH)
) rx_sva_i (
  .*,
  .dll_a_tlp_ready     (dll.device_a.tlp_ready),
  .dll_a_link_valid    (dll.device_a.link_valid),
  .dll_a_link_seq      (dll.device_a.link_seq),
  .dll_a_ackd_seq      (dll.device_a.ackd_seq),
  .dll_a_next_seq      (dll.device_a.next_seq),
  .dll_a_send_seq      (dll.device_a.send_seq),
  .dll_a_last_sent_seq (dll.device_a.last_sent_seq)
);
`endif

`default_nettype wire
