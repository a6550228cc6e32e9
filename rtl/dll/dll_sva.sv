// Properties of PcieAckNak: docs/blocks/dll.md. `cosim prove` proves them, and the wires here are
// the words of its rules in Verilog; `cosim run --assertions` checks them in simulation.

`default_nettype none

module dll_sva #(
  parameter int REPLAY_DEPTH   = 16,
  parameter int REPLAY_LIMIT   = 64,
  parameter int ACKNAK_LATENCY = 16
) (
  input wire                              clk,
  input wire                              rst,

  // ---- Pins ------------------------------------------------------------------------------------
  input wire                              a_link_valid,
  input wire [11:0]                       a_dllp_seq,
  input wire                              b_link_valid,
  input wire [11:0]                       b_link_seq,
  input wire                              b_link_crc_ok,
  input wire                              b_dllp_ready,

  // ---- Registers of device A -------------------------------------------------------------------
  input wire                              device_a_tlp_ready,
  input wire                              device_a_link_valid,
  input wire [11:0]                       device_a_link_seq,
  input wire [11:0]                       device_a_ackd_seq,
  input wire [11:0]                       device_a_next_seq,
  input wire [11:0]                       device_a_send_seq,
  input wire [11:0]                       device_a_last_sent_seq,
  input wire [$clog2(REPLAY_LIMIT)-1:0]   device_a_replay_timer,
  input wire [1:0]                        device_a_replay_num,
  input wire                              device_a_retrain,
  input wire                              device_a_dl_error,

  // ---- Registers of device B -------------------------------------------------------------------
  input wire [11:0]                       device_b_next_rcv_seq,
  input wire                              device_b_nak_scheduled,
  input wire                              device_b_acknak_timer_on,
  input wire [$clog2(ACKNAK_LATENCY)-1:0] device_b_acknak_timer,
  input wire                              device_b_deliver_valid,
  input wire [31:0]                       device_b_deliver_data,
  input wire                              device_b_dllp_valid,
  input wire                              device_b_dllp_nak,
  input wire [11:0]                       device_b_dllp_seq
);

  localparam REPLAY_W = $clog2(REPLAY_LIMIT);
  localparam ACKNAK_W = $clog2(ACKNAK_LATENCY);

  localparam [11:0]         DEPTH       = REPLAY_DEPTH[11:0];
  localparam [REPLAY_W-1:0] REPLAY_LAST = REPLAY_LIMIT[REPLAY_W-1:0] - 1'b1;
  localparam [ACKNAK_W-1:0] ACKNAK_LAST = ACKNAK_LATENCY[ACKNAK_W-1:0] - 1'b1;

  // ---- Device A: facts that its rules look at --------------------------------------------------
  // Distances ahead of ackd_seq, modulo the sequence space.
  wire [11:0] next_dist = device_a_next_seq - device_a_ackd_seq;
  wire [11:0] sent_dist = device_a_last_sent_seq - device_a_ackd_seq;
  wire [11:0] send_dist = device_a_send_seq - device_a_ackd_seq;
  wire [11:0] dllp_dist = a_dllp_seq - device_a_ackd_seq;

  // The number behind the newest one that was ever sent, and whether it is on offer.
  wire [11:0] new_seq   = device_a_last_sent_seq + 12'd1;
  wire        is_new    = device_a_link_seq == new_seq;
  wire        offers_new = device_a_link_valid && is_new;
  wire [11:0] offer_age = new_seq - device_a_link_seq;

  wire in_range       = dllp_dist <= sent_dist;
  wire is_progress    = a_dllp_seq != device_a_ackd_seq;
  wire unacknowledged = device_a_last_sent_seq != device_a_ackd_seq;
  wire replay_due     = device_a_replay_timer == REPLAY_LAST;
  wire last_replay    = device_a_replay_num == 2'd3;
  wire to_send        = device_a_send_seq != device_a_next_seq;
  wire overtaken      = send_dist <= dllp_dist;

  // ---- Device B: facts that its rules look at --------------------------------------------------
  wire [11:0] tlp_dist     = b_link_seq - device_b_next_rcv_seq;
  wire        is_next      = b_link_seq == device_b_next_rcv_seq;
  wire        is_ahead     = tlp_dist != 12'd0 && tlp_dist < 12'd2048;
  wire        unusable     = b_link_valid && (!b_link_crc_ok || is_ahead);
  wire        ack_due      = device_b_acknak_timer == ACKNAK_LAST;
  wire        answer_waits = device_b_dllp_valid && !b_dllp_ready;

  // ---- Progress --------------------------------------------------------------------------------
  // A TLP for the link, while none is on offer.
  wire tlp_waits = to_send && !a_link_valid;

  // A good TLP that is not ahead came, and neither Ack nor Nak was due since. A DLLP that is due at
  // the same edge covers it.
  wire came     = b_link_valid && b_link_crc_ok && !is_ahead;
  wire dllp_due = unusable && !device_b_nak_scheduled || device_b_acknak_timer_on && ack_due;
  reg  unanswered;
  always @(posedge clk or posedge rst) begin
    if (rst) unanswered <= 1'b0;
    else     unanswered <= !dllp_due && (unanswered || came);
  end

  // F0: a duplicate came while a Nak was out, and nothing answers it.
  wire silent = unanswered && device_b_nak_scheduled && !device_b_acknak_timer_on;

  // ---- Properties ------------------------------------------------------------------------------
  // One conjunction: a step of it alone shows the next one.
  wire in_order = next_dist != 12'd0 && next_dist <= DEPTH + 12'd1
               && (!device_a_tlp_ready || next_dist <= DEPTH)
               && sent_dist < next_dist && (!offers_new || sent_dist + 12'd1 < next_dist)
               && send_dist != 12'd0 && send_dist <= next_dist
               && send_dist <= sent_dist + 12'd1 + {11'd0, offers_new}
               && (!device_a_link_valid || offer_age <= DEPTH);

  always @(posedge clk) begin
    if (!rst) begin
      // property: A's numbers are in order, as many as its buffer holds
      numbers_in_order: assert (in_order);
    end
  end

  // A limit that is a power of two is more than the timer holds.
  generate
    if (REPLAY_LIMIT != 1 << $clog2(REPLAY_LIMIT)) begin : limit
      always @(posedge clk) begin
        if (!rst) begin
          // property: A's timer is below its limit
          timer_below_limit: assert (device_a_replay_timer <= REPLAY_LAST);
        end
      end
    end
  endgenerate

endmodule

// Yosys does not read `bind`; cosim reads the connections of the ports from it.
`ifndef YOSYS
bind PcieAckNak dll_sva #(
  .REPLAY_DEPTH   (REPLAY_DEPTH),
  .REPLAY_LIMIT   (REPLAY_LIMIT),
  .ACKNAK_LATENCY (ACKNAK_LATENCY)
) dll_sva_i (
  .*,
  .device_a_tlp_ready       (device_a.tlp_ready),
  .device_a_link_valid      (device_a.link_valid),
  .device_a_link_seq        (device_a.link_seq),
  .device_a_ackd_seq        (device_a.ackd_seq),
  .device_a_next_seq        (device_a.next_seq),
  .device_a_send_seq        (device_a.send_seq),
  .device_a_last_sent_seq   (device_a.last_sent_seq),
  .device_a_replay_timer    (device_a.replay_timer),
  .device_a_replay_num      (device_a.replay_num),
  .device_a_retrain         (device_a.retrain),
  .device_a_dl_error        (device_a.dl_error),
  .device_b_next_rcv_seq    (device_b.next_rcv_seq),
  .device_b_nak_scheduled   (device_b.nak_scheduled),
  .device_b_acknak_timer_on (device_b.acknak_timer_on),
  .device_b_acknak_timer    (device_b.acknak_timer),
  .device_b_deliver_valid   (device_b.deliver_valid),
  .device_b_deliver_data    (device_b.deliver_data),
  .device_b_dllp_valid      (device_b.dllp_valid),
  .device_b_dllp_nak        (device_b.dllp_nak),
  .device_b_dllp_seq        (device_b.dllp_seq)
);
`endif

`default_nettype wire
