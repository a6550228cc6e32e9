// Device B of the Ack/Nak data link layer: delivers the TLP it wants next, drops every other one,
// and answers with at most one pending Ack or Nak.
// Rules B1..B14 and F0: docs/blocks/dll.md, section 7. Every output is a register.

`default_nettype none

module PcieDllRx #(
  parameter int         ACKNAK_LATENCY = 16,    // cycles from a good TLP to its Ack, 2 to 65535
  parameter logic [7:0] FIXES          = 8'h00  // bit n switches fix Fn on; 8'h00: S3 as specified
) (
  // ---- Clock and reset -------------------------------------------------------------------------
  input  wire                        clk,
  input  wire                        rst,            // asynchronous, active high

  // ---- TLPs from the link ----------------------------------------------------------------------
  input  wire                        link_valid,
  input  wire  [dll_pkg::SEQ_W-1:0]  link_seq,
  input  wire  [dll_pkg::DATA_W-1:0] link_data,
  input  wire                        link_crc_ok,    // 0: damaged on the way

  // ---- TLPs delivered, always accepted ---------------------------------------------------------
  output logic                       deliver_valid,
  output logic [dll_pkg::DATA_W-1:0] deliver_data,

  // ---- DLLPs to the link: the pending DLLP -----------------------------------------------------
  output logic                       dllp_valid,
  input  wire                        dllp_ready,
  output logic                       dllp_nak,       // 1: Nak, 0: Ack
  output logic [dll_pkg::SEQ_W-1:0]  dllp_seq,

  // ---- State -----------------------------------------------------------------------------------
  output logic [dll_pkg::SEQ_W-1:0]  next_rcv_seq,   // sequence number wanted next
  output logic                       nak_scheduled   // a Nak is out, its TLP has not come
);

  // ---- Ranges of the parameters ----------------------------------------------------------------
  generate
    if (ACKNAK_LATENCY < 2 || ACKNAK_LATENCY > 65535) begin : check_acknak_latency
      initial $fatal(1, "ACKNAK_LATENCY is %0d, expected 2 to 65535", ACKNAK_LATENCY);
    end
  endgenerate

  localparam int TIMER_W = $clog2(ACKNAK_LATENCY);

  localparam logic [TIMER_W-1:0]        TIMER_ZERO = {TIMER_W{1'b0}};
  localparam logic [TIMER_W-1:0]        TIMER_ONE  = 1;
  localparam logic [TIMER_W-1:0]        TIMER_LAST = ACKNAK_LATENCY[TIMER_W-1:0] - TIMER_ONE;
  localparam logic [dll_pkg::SEQ_W-1:0] SEQ_ONE    = 1;

  // ---- State that is not a pin -----------------------------------------------------------------
  logic               acknak_timer_on;  // AckNak_LATENCY_TIMER runs
  logic [TIMER_W-1:0] acknak_timer;     // its count, 0 whenever it is stopped

  // ---- What happens at this edge ---------------------------------------------------------------
  // How far the TLP is ahead of the wanted one, modulo the sequence space.
  wire [dll_pkg::SEQ_W-1:0] tlp_dist = link_seq - next_rcv_seq;

  wire tlp_good      = link_valid;
  wire tlp_bad       = link_valid && !link_crc_ok;
  wire tlp_wanted    = tlp_good && link_seq == next_rcv_seq;       // B1
  wire tlp_duplicate = tlp_good && tlp_dist >= dll_pkg::SEQ_HALF;  // B2, B3, F0
  wire tlp_ahead     = tlp_good && !tlp_wanted && !tlp_duplicate;  // B5, B6

  // With nak_scheduled set, everything but the wanted TLP is met with silence (B2, B6). With F0 on,
  // a duplicate is heard even then: it may mean that an Ack was lost.
  wire duplicate_heard = tlp_duplicate
                      && (!nak_scheduled || FIXES[dll_pkg::F0_DUPLICATE_ACKED]);  // B3, F0
  wire nak_due         = (tlp_bad || tlp_ahead) && !nak_scheduled;              // B4, B5
  wire ack_due         = acknak_timer_on && acknak_timer == TIMER_LAST
                      && !nak_due;                                              // B7

  wire nak_waits = dllp_valid && !dllp_ready && dllp_nak == dll_pkg::DLLP_NAK;

  // ---- Next state ------------------------------------------------------------------------------
  logic                       deliver_valid_d;
  logic [dll_pkg::DATA_W-1:0] deliver_data_d;
  logic [dll_pkg::SEQ_W-1:0]  next_rcv_seq_d;
  logic                       nak_scheduled_d;
  logic                       acknak_timer_on_d;
  logic [TIMER_W-1:0]         acknak_timer_d;
  logic                       dllp_valid_d;
  logic                       dllp_nak_d;
  logic [dll_pkg::SEQ_W-1:0]  dllp_seq_d;

  always_comb begin
    deliver_valid_d   = 1'b0;
    deliver_data_d    = deliver_data;
    next_rcv_seq_d    = next_rcv_seq;
    nak_scheduled_d   = nak_scheduled;
    acknak_timer_on_d = acknak_timer_on;
    acknak_timer_d    = acknak_timer;
    dllp_valid_d      = dllp_valid;
    dllp_nak_d        = dllp_nak;
    dllp_seq_d        = dllp_seq;

    // B1: delivered, and a Nak that was out is answered.
    if (tlp_wanted) begin
      deliver_valid_d = 1'b1;
      deliver_data_d  = link_data;
      next_rcv_seq_d  = next_rcv_seq + SEQ_ONE;
      nak_scheduled_d = 1'b0;
    end

    // B4, B5: the first error since the last wanted TLP.
    if (nak_due) nak_scheduled_d = 1'b1;

    // B4, B5, B7 stop the timer; a TLP of the same edge is covered by the DLLP now due. Otherwise
    // it counts (B13), or stands at 0 until B1, B3 or F0 starts it.
    if (nak_due || ack_due) begin
      acknak_timer_on_d = 1'b0;
      acknak_timer_d    = TIMER_ZERO;
    end else if (acknak_timer_on) begin
      acknak_timer_d    = acknak_timer + TIMER_ONE;
    end else if (tlp_wanted || duplicate_heard) begin
      acknak_timer_on_d = 1'b1;
    end

    // B11: the link has the pending DLLP.
    if (dllp_valid && dllp_ready) dllp_valid_d = 1'b0;

    // B8, B12 for an Ack; B9, B12 for a Nak; B10: a waiting Nak stays. The number is that of the
    // newest TLP delivered, one of this edge included.
    if ((nak_due || ack_due) && !nak_waits) begin
      dllp_valid_d = 1'b1;
      dllp_nak_d   = nak_due ? dll_pkg::DLLP_NAK : dll_pkg::DLLP_ACK;
      dllp_seq_d   = next_rcv_seq_d - SEQ_ONE;
    end
  end

  // ---- Registers -------------------------------------------------------------------------------
  always_ff @(posedge clk or posedge rst) begin
    if (rst) begin  // B14
      deliver_valid   <= 1'b0;
      deliver_data    <= {dll_pkg::DATA_W{1'b0}};
      next_rcv_seq    <= dll_pkg::SEQ_FIRST;
      nak_scheduled   <= 1'b0;
      acknak_timer_on <= 1'b0;
      acknak_timer    <= TIMER_ZERO;
      dllp_valid      <= 1'b0;
      dllp_nak        <= dll_pkg::DLLP_ACK;
      dllp_seq        <= {dll_pkg::SEQ_W{1'b0}};
    end else begin
      deliver_valid   <= deliver_valid_d;
      deliver_data    <= deliver_data_d;
      next_rcv_seq    <= next_rcv_seq_d;
      nak_scheduled   <= nak_scheduled_d;
      acknak_timer_on <= acknak_timer_on_d;
      acknak_timer    <= acknak_timer_d;
      dllp_valid      <= dllp_valid_d;
      dllp_nak        <= dllp_nak_d;
      dllp_seq        <= dllp_seq_d;
    end
  end

endmodule

`default_nettype wire
