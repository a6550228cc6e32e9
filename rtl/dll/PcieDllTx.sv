// Device A of the Ack/Nak data link layer: numbers new TLPs, keeps them in the replay buffer until
// they are acknowledged, and sends them again after a Nak or when REPLAY_TIMER expires.
// Rules A1..A17: docs/blocks/dll.md, section 5. Every output is a register.

`default_nettype none

module PcieDllTx #(
  parameter int REPLAY_DEPTH = 16,  // entries of the replay buffer, a power of two, 2 to 2048
  parameter int REPLAY_LIMIT = 64   // cycles without progress until all is sent again, 2 to 65535
) (
  // ---- Clock and reset -------------------------------------------------------------------------
  input  wire                              clk,
  input  wire                              rst,          // asynchronous, active high

  // ---- New TLPs --------------------------------------------------------------------------------
  input  wire                              tlp_valid,
  output logic                             tlp_ready,
  input  wire  [dll_pkg::DATA_W-1:0]       tlp_data,

  // ---- TLPs to the link: the offer -------------------------------------------------------------
  output logic                             link_valid,
  input  wire                              link_ready,
  output logic [dll_pkg::SEQ_W-1:0]        link_seq,
  output logic [dll_pkg::DATA_W-1:0]       link_data,

  // ---- DLLPs from the link ---------------------------------------------------------------------
  input  wire                              dllp_valid,
  input  wire                              dllp_nak,     // 1: Nak, 0: Ack
  input  wire  [dll_pkg::SEQ_W-1:0]        dllp_seq,
  input  wire                              dllp_crc_ok,  // 0: damaged on the way

  // ---- State -----------------------------------------------------------------------------------
  output logic [dll_pkg::SEQ_W-1:0]        ackd_seq,     // newest sequence number acknowledged
  output logic [dll_pkg::SEQ_W-1:0]        next_seq,     // number of the next new TLP
  output logic [dll_pkg::REPLAY_NUM_W-1:0] replay_num,
  output logic                             retrain,      // pulse: replay_num rolled over
  output logic                             dl_error      // pulse: a DLLP out of range
);

  // ---- Ranges of the parameters ----------------------------------------------------------------
  generate
    if (REPLAY_DEPTH < 2 || REPLAY_DEPTH > 2048
      || REPLAY_DEPTH != 1 << $clog2(REPLAY_DEPTH)) begin : check_replay_depth
      initial $fatal(1, "REPLAY_DEPTH is %0d, expected a power of two, 2 to 2048", REPLAY_DEPTH);
    end
    if (REPLAY_LIMIT < 2 || REPLAY_LIMIT > 65535) begin : check_replay_limit
      initial $fatal(1, "REPLAY_LIMIT is %0d, expected 2 to 65535", REPLAY_LIMIT);
    end
  endgenerate

  localparam int ENTRY_W = $clog2(REPLAY_DEPTH);
  localparam int TIMER_W = $clog2(REPLAY_LIMIT);

  // The distance from ackd_seq to next_seq is the entries in use plus one: up to this one, there is
  // room for one more.
  localparam logic [dll_pkg::SEQ_W-1:0]        SPAN_WITH_ROOM  = REPLAY_DEPTH[dll_pkg::SEQ_W-1:0];
  localparam logic [TIMER_W-1:0]               TIMER_ZERO      = {TIMER_W{1'b0}};
  localparam logic [TIMER_W-1:0]               TIMER_ONE       = 1;
  localparam logic [TIMER_W-1:0]               TIMER_LAST      = TIMER_W'(REPLAY_LIMIT - 1);
  localparam logic [dll_pkg::SEQ_W-1:0]        SEQ_ONE         = 1;
  localparam logic [dll_pkg::REPLAY_NUM_W-1:0] REPLAY_NUM_ZERO = {dll_pkg::REPLAY_NUM_W{1'b0}};
  localparam logic [dll_pkg::REPLAY_NUM_W-1:0] REPLAY_NUM_ONE  = 1;
  localparam logic [dll_pkg::REPLAY_NUM_W-1:0] REPLAY_NUM_LAST = {dll_pkg::REPLAY_NUM_W{1'b1}};

  // ---- State that is not a pin -----------------------------------------------------------------
  logic [dll_pkg::SEQ_W-1:0] send_seq;       // entry to be offered next
  logic [dll_pkg::SEQ_W-1:0] last_sent_seq;  // newest sequence number ever handed to the link
  logic [TIMER_W-1:0]        replay_timer;

  // The ring. The entry of a sequence number is its low bits, so the three pointers are
  // ackd_seq + 1 (oldest), send_seq (next to send) and next_seq (next free).
  logic [dll_pkg::DATA_W-1:0]  replay_mem [0:REPLAY_DEPTH-1];
  wire [dll_pkg::DATA_W-1:0] send_data = replay_mem[send_seq[ENTRY_W-1:0]];

  // ---- What happens at this edge ---------------------------------------------------------------
  wire tlp_taken  = tlp_valid && tlp_ready;    // A1
  wire link_taken = link_valid && link_ready;  // A2

  // Distances ahead of ackd_seq, modulo the sequence space.
  wire [dll_pkg::SEQ_W-1:0] dllp_dist = dllp_seq - ackd_seq;
  wire [dll_pkg::SEQ_W-1:0] sent_dist = last_sent_seq - ackd_seq;
  wire [dll_pkg::SEQ_W-1:0] send_dist = send_seq - ackd_seq;

  wire unacked       = last_sent_seq != ackd_seq;
  wire dllp_good     = dllp_valid && dllp_crc_ok;  // else A8
  wire dllp_in_range = dllp_dist <= sent_dist;
  wire dllp_is_new   = dllp_seq != ackd_seq;

  // An Ack in range that is not new is A6: nothing happens.
  wire ack_progress  = dllp_good && dllp_in_range && !dllp_nak && dllp_is_new;   // A3
  wire nak_progress  = dllp_good && dllp_in_range && dllp_nak && dllp_is_new;    // A4
  wire nak_accepted  = dllp_good && dllp_in_range && dllp_nak;                   // A4, A5
  wire dllp_stray    = dllp_good && !dllp_in_range;                              // A7

  // A good DLLP at the limit wins over the expiry.
  wire timer_expired = unacked && replay_timer == TIMER_LAST
                    && !ack_progress && !nak_accepted;                           // A9
  wire ack_overtakes = ack_progress && send_dist <= dllp_dist;                   // A14
  wire rewind        = nak_accepted || timer_expired;                            // A4, A5, A9

  // The offer may change only when it is empty or taken (A13). While send_seq is being moved
  // nothing is loaded: the buffer is read at the register send_seq alone.
  wire load_offer    = (!link_valid || link_taken) && send_seq != next_seq
                    && !rewind && !ack_overtakes;                                // A12

  // ---- Next state ------------------------------------------------------------------------------
  logic [dll_pkg::SEQ_W-1:0]        ackd_seq_d;
  logic [dll_pkg::SEQ_W-1:0]        next_seq_d;
  logic [dll_pkg::SEQ_W-1:0]        send_seq_d;
  logic [dll_pkg::SEQ_W-1:0]        last_sent_seq_d;
  logic [TIMER_W-1:0]               replay_timer_d;
  logic [dll_pkg::REPLAY_NUM_W-1:0] replay_num_d;
  logic                             retrain_d;
  logic                             link_valid_d;
  logic [dll_pkg::SEQ_W-1:0]        link_seq_d;
  logic [dll_pkg::DATA_W-1:0]       link_data_d;

  always_comb begin
    ackd_seq_d      = ackd_seq;
    next_seq_d      = next_seq;
    send_seq_d      = send_seq;
    last_sent_seq_d = last_sent_seq;
    replay_timer_d  = replay_timer;
    replay_num_d    = replay_num;
    retrain_d       = 1'b0;
    link_valid_d    = link_valid;
    link_seq_d      = link_seq;
    link_data_d     = link_data;

    // A1: a new TLP; the write into the buffer is in the clocked block below.
    if (tlp_taken) next_seq_d = next_seq + SEQ_ONE;

    // A2: the offer is used up; a repeat does not move last_sent_seq.
    if (link_taken) begin
      link_valid_d = 1'b0;
      if (link_seq == last_sent_seq + SEQ_ONE) last_sent_seq_d = link_seq;
    end

    // A12: the next TLP goes on offer.
    if (load_offer) begin
      link_valid_d = 1'b1;
      link_seq_d   = send_seq;
      link_data_d  = send_data;
      send_seq_d   = send_seq + SEQ_ONE;
    end

    // A3, A4: everything up to the DLLP's number is free.
    if (ack_progress || nak_progress) ackd_seq_d = dllp_seq;

    // A4, A5, A14: sending goes on after the DLLP's number. A9: at the oldest entry.
    if (nak_accepted || ack_overtakes) send_seq_d = dllp_seq + SEQ_ONE;
    else if (timer_expired)            send_seq_d = ackd_seq + SEQ_ONE;

    // A3, A4, A5, A9 restart the timer, A16 rests it, A15 counts.
    if (ack_progress || rewind || !unacked) replay_timer_d = TIMER_ZERO;
    else                                    replay_timer_d = replay_timer + TIMER_ONE;

    // A3 resets the count of replays, a rewind increments it; A10: roll-over.
    if (ack_progress) begin
      replay_num_d = REPLAY_NUM_ZERO;
    end else if (rewind) begin
      replay_num_d = replay_num + REPLAY_NUM_ONE;
      retrain_d    = replay_num == REPLAY_NUM_LAST;
    end
  end

  // A11: exact after this edge, with the TLP just taken and the entries just freed. The second term
  // is the sequence number rule; REPLAY_DEPTH up to 1024 implies it.
  wire [dll_pkg::SEQ_W-1:0] span_d      = next_seq_d - ackd_seq_d;
  wire                      tlp_ready_d = span_d <= SPAN_WITH_ROOM && span_d < dll_pkg::SEQ_HALF;

  // ---- Registers -------------------------------------------------------------------------------
  always_ff @(posedge clk or posedge rst) begin
    if (rst) begin  // A17
      ackd_seq      <= dll_pkg::SEQ_BEFORE_FIRST;
      next_seq      <= dll_pkg::SEQ_FIRST;
      send_seq      <= dll_pkg::SEQ_FIRST;
      last_sent_seq <= dll_pkg::SEQ_BEFORE_FIRST;
      replay_timer  <= TIMER_ZERO;
      replay_num    <= REPLAY_NUM_ZERO;
      retrain       <= 1'b0;
      dl_error      <= 1'b0;
      tlp_ready     <= 1'b0;
      link_valid    <= 1'b0;
      link_seq      <= {dll_pkg::SEQ_W{1'b0}};
      link_data     <= {dll_pkg::DATA_W{1'b0}};
    end else begin
      ackd_seq      <= ackd_seq_d;
      next_seq      <= next_seq_d;
      send_seq      <= send_seq_d;
      last_sent_seq <= last_sent_seq_d;
      replay_timer  <= replay_timer_d;
      replay_num    <= replay_num_d;
      retrain       <= retrain_d;
      dl_error      <= dllp_stray;  // A7
      tlp_ready     <= tlp_ready_d;
      link_valid    <= link_valid_d;
      link_seq      <= link_seq_d;
      link_data     <= link_data_d;
    end
  end

  // The buffer has no reset: an entry is written (A1) before it can be read (A12). In reset
  // tlp_ready is 0, so nothing is written.
  always_ff @(posedge clk) begin
    if (tlp_taken) replay_mem[next_seq[ENTRY_W-1:0]] <= tlp_data;
  end

endmodule

`default_nettype wire
