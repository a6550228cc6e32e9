// Packet receive-side state machine: control packets, posted and unexpected messages, the receive
// ring with its refill, and flow control credits. Rules P0..P30, U1..U3, G1..G4, O1, K1..K3, F0:
// docs/blocks/recv.md.

`default_nettype none

module RecvSideFsm #(
  parameter int         LOW   = 4,     // the ring is refilled below this level, 1 to 255
  parameter int         HIGH  = 16,    // up to this level; it holds so many after reset; 1 to 255
  parameter int         KEEP  = 8,     // with fewer free buffers, messages are copied; 0 to 255
  parameter logic [7:0] FIXES = 8'h00  // bit n switches fix Fn on; 8'h00: S2 as specified
) (
  // ---- Clock and reset -------------------------------------------------------------------------
  input  wire                            clk,
  input  wire                            rst,            // asynchronous, active high

  // ---- Packets ---------------------------------------------------------------------------------
  input  wire                            pkt_valid,
  output logic                           pkt_ready,
  input  wire  [recv_pkg::KIND_W-1:0]    pkt_kind,
  input  wire  [recv_pkg::ID_W-1:0]      pkt_id,
  input  wire  [recv_pkg::LEN_W-1:0]     pkt_len,
  input  wire  [recv_pkg::MSG_LEN_W-1:0] pkt_msg_len,
  input  wire                            pkt_last,       // the last packet of its message

  // ---- Posted receives -------------------------------------------------------------------------
  output logic                           match_req,
  output logic [recv_pkg::ID_W-1:0]      match_id,
  input  wire                            match_rsp,
  input  wire                            match_found,
  input  wire                            posted_done,    // all data of the posted receive is placed

  // ---- Ring and pool ---------------------------------------------------------------------------
  input  wire  [recv_pkg::COUNT_W-1:0]   pool_free,
  output logic                           alloc_valid,
  output logic [recv_pkg::COUNT_W-1:0]   alloc_count,
  output logic [recv_pkg::COUNT_W-1:0]   ring_level,

  // ---- Flow control ----------------------------------------------------------------------------
  output logic                           credit_valid,
  input  wire                            credit_ready,
  output logic [recv_pkg::COUNT_W-1:0]   credit_count,

  // ---- What becomes of a packet ----------------------------------------------------------------
  output logic                           copy_valid,
  output logic [recv_pkg::ID_W-1:0]      copy_id,
  output logic [recv_pkg::LEN_W-1:0]     copy_len,
  output logic                           keep_valid,
  output logic [recv_pkg::ID_W-1:0]      keep_id,
  output logic                           release_valid,
  output logic [recv_pkg::ID_W-1:0]      release_id,
  output logic                           temp_alloc_valid,
  output logic [recv_pkg::MSG_LEN_W-1:0] temp_alloc_len,
  input  wire                            temp_alloc_ok,  // granted, in the same cycle

  // ---- State -----------------------------------------------------------------------------------
  output logic                           protocol_error,
  output logic [recv_pkg::STATE_W-1:0]   state
);

  // ---- Ranges of the parameters ----------------------------------------------------------------
  generate
    if (LOW < 1 || LOW > 255) begin : check_low
      initial $fatal(1, "LOW is %0d, expected 1 to 255", LOW);
    end
    if (HIGH < 1 || HIGH > 255) begin : check_high
      initial $fatal(1, "HIGH is %0d, expected 1 to 255", HIGH);
    end
    if (KEEP < 0 || KEEP > 255) begin : check_keep
      initial $fatal(1, "KEEP is %0d, expected 0 to 255", KEEP);
    end
  endgenerate

  // The parameters in the width of what they are compared with.
  localparam logic [7:0] LOW_N  = LOW[7:0];
  localparam logic [7:0] HIGH_N = HIGH[7:0];
  localparam logic [7:0] KEEP_N = KEEP[7:0];

  localparam logic [recv_pkg::COUNT_W-1:0] COUNT_ZERO = {recv_pkg::COUNT_W{1'b0}};
  localparam logic [recv_pkg::COUNT_W-1:0] COUNT_ONE  = 1;

  // ---- Registers -------------------------------------------------------------------------------
  logic [recv_pkg::STATE_W-1:0]   cur_state;
  logic [recv_pkg::COUNT_W-1:0]   level;           // buffers in the ring
  logic [recv_pkg::COUNT_W-1:0]   credit_pending;  // credits not yet sent
  logic [recv_pkg::ID_W-1:0]      cp_id;           // the last CP taken
  logic [recv_pkg::LEN_W-1:0]     cp_len;
  logic [recv_pkg::MSG_LEN_W-1:0] cp_msg_len;
  logic                           complete;        // the message's last packet has been taken
  logic                           copying;         // the unexpected message is copied, not kept

  // ---- Taking packets --------------------------------------------------------------------------
  wire ring_empty = level == COUNT_ZERO;
  wire is_dp      = pkt_kind == recv_pkg::KIND_DP;

  always_comb begin
    case (cur_state)
      recv_pkg::DETERMINE_CP_TYPE: pkt_ready = !rst && !ring_empty;
      recv_pkg::PROC_UNEXP_DP:     pkt_ready = !rst && !ring_empty && !complete;
      // What is no DP waits for AWAIT_CP.
      recv_pkg::POSTED_DATA:       pkt_ready = !rst && !ring_empty && pkt_valid && is_dp;
      default:                     pkt_ready = 1'b0;
    endcase
  end

  wire taken = pkt_valid && pkt_ready;

  // ---- The ring: G1..G4 ------------------------------------------------------------------------
  // The level without this cycle's refill; an empty ring tries a refill in every cycle.
  wire [recv_pkg::COUNT_W-1:0] level_left = taken ? level - COUNT_ONE : level;
  wire                         refills    = (taken && level_left < LOW_N) || ring_empty;
  wire [recv_pkg::COUNT_W-1:0] room       = HIGH_N - level_left;
  wire [recv_pkg::COUNT_W-1:0] wanted     = room < pool_free ? room : pool_free;
  // No credit may be lost in the 8 bits of credit_count.
  wire [recv_pkg::COUNT_W-1:0] credit_room = {recv_pkg::COUNT_W{1'b1}} - credit_pending;
  wire                         allocs     = !rst && refills && wanted != COUNT_ZERO
                                         && wanted <= credit_room;
  wire [recv_pkg::COUNT_W-1:0] alloced    = allocs ? wanted : COUNT_ZERO;

  assign alloc_valid = allocs;
  assign alloc_count = alloced;
  assign ring_level  = rst ? COUNT_ZERO : level;

  // ---- Flow control: K1..K3 --------------------------------------------------------------------
  assign credit_valid = !rst && credit_pending != COUNT_ZERO;
  assign credit_count = rst ? COUNT_ZERO : credit_pending;

  wire                         credit_taken = credit_valid && credit_ready;
  wire [recv_pkg::COUNT_W-1:0] credit_left  = credit_taken ? COUNT_ZERO : credit_pending;

  // ---- Transitions: P0..P30 --------------------------------------------------------------------
  logic [recv_pkg::STATE_W-1:0] next_state;
  logic                         copies_cp;   // what becomes of the latched CP
  logic                         releases_cp;
  logic                         keeps_cp;
  logic                         copies_pkt;  // what becomes of the packet on the pins
  logic                         releases_pkt;
  logic                         keeps_pkt;
  logic                         misfits;
  logic                         latches_cp;
  logic                         complete_d;
  logic                         copying_d;

  // Copy when the pool is low and a temporary buffer is granted, else keep.
  wire asks_temp = !rst && cur_state == recv_pkg::PROC_UNEXP_CP && pool_free < KEEP_N;
  wire copy_it   = asks_temp && temp_alloc_ok;

  wire cp_was_all = complete && FIXES[recv_pkg::F0_COMPLETE_AFTER_CP];

  always_comb begin
    next_state    = cur_state;
    copies_cp     = 1'b0;
    releases_cp   = 1'b0;
    keeps_cp      = 1'b0;
    copies_pkt    = 1'b0;
    releases_pkt  = 1'b0;
    keeps_pkt     = 1'b0;
    misfits       = 1'b0;
    latches_cp    = 1'b0;
    complete_d    = complete;
    copying_d     = copying;
    case (cur_state)
      // Waits for a packet; takes none (P1, P2).
      recv_pkg::AWAIT_CP:
        if (pkt_valid) next_state = recv_pkg::DETERMINE_CP_TYPE;

      // Waits for a packet that it can take (P3 to P10).
      recv_pkg::DETERMINE_CP_TYPE:
        if (taken) begin
          latches_cp    = 1'b1;
          complete_d    = pkt_last;
          releases_pkt  = 1'b1;
          next_state    = recv_pkg::AWAIT_CP;
          case (pkt_kind)
            recv_pkg::KIND_FLOW, recv_pkg::KIND_RNDV_RTS, recv_pkg::KIND_RNDV_CTS,
            recv_pkg::KIND_SHORT: ;
            recv_pkg::KIND_EAGER: begin
              releases_pkt = 1'b0;
              next_state   = recv_pkg::CHECK_POSTED;
            end
            recv_pkg::KIND_RNDV_DATA: begin
              copies_pkt = 1'b1;
              next_state = recv_pkg::POSTED_DATA;
            end
            default: misfits = 1'b1;
          endcase
        end

      // Waits for the answer whether a receive was posted (P11 to P13).
      recv_pkg::CHECK_POSTED:
        if (match_rsp) begin
          copies_cp   = match_found;
          releases_cp = match_found;
          next_state  = match_found ? recv_pkg::POSTED_DATA : recv_pkg::PROC_UNEXP_CP;
        end

      // Decides for the whole message; waits for nothing (P14 to P17).
      recv_pkg::PROC_UNEXP_CP: begin
        copies_cp    = copy_it;
        releases_cp  = copy_it;
        keeps_cp     = !copy_it;
        copying_d    = copy_it;
        if (cp_was_all) next_state = pkt_valid ? recv_pkg::DETERMINE_CP_TYPE : recv_pkg::AWAIT_CP;
        else next_state = pkt_valid ? recv_pkg::PROC_UNEXP_DP : recv_pkg::AWAIT_UNEXP_DP;
      end

      // Waits for a packet; takes none (P18, P19).
      recv_pkg::AWAIT_UNEXP_DP:
        if (pkt_valid) next_state = recv_pkg::PROC_UNEXP_DP;

      // Takes what is there until the message is complete (P20 to P26).
      recv_pkg::PROC_UNEXP_DP:
        if (complete) begin
          next_state = pkt_valid ? recv_pkg::DETERMINE_CP_TYPE : recv_pkg::AWAIT_CP;
        end else if (!pkt_valid) begin
          next_state = recv_pkg::AWAIT_UNEXP_DP;
        end else if (taken && is_dp) begin
          copies_pkt    = copying;
          releases_pkt  = copying;
          keeps_pkt     = !copying;
          complete_d    = pkt_last;
        end else if (taken) begin
          releases_pkt = 1'b1;
          misfits      = 1'b1;
        end

      // Waits for the end of the posted receive (P27 to P30).
      recv_pkg::POSTED_DATA: begin
        copies_pkt   = taken;
        releases_pkt = taken;
        if (posted_done) next_state = recv_pkg::AWAIT_CP;
      end

      default: next_state = recv_pkg::AWAIT_CP;  // P0
    endcase
  end

  // ---- Outputs ---------------------------------------------------------------------------------
  localparam logic [recv_pkg::ID_W-1:0] NO_ID = {recv_pkg::ID_W{1'b0}};

  // In reset nothing is in a state that does any of this, but the registers need not be there yet.
  assign copy_valid    = !rst && (copies_cp || copies_pkt);
  assign copy_id       = !copy_valid ? NO_ID : copies_cp ? cp_id : pkt_id;
  assign copy_len      = !copy_valid ? {recv_pkg::LEN_W{1'b0}} : copies_cp ? cp_len : pkt_len;
  assign keep_valid    = !rst && (keeps_cp || keeps_pkt);
  assign keep_id       = !keep_valid ? NO_ID : keeps_cp ? cp_id : pkt_id;
  assign release_valid = !rst && (releases_cp || releases_pkt);
  assign release_id    = !release_valid ? NO_ID : releases_cp ? cp_id : pkt_id;

  assign temp_alloc_valid = asks_temp;
  assign temp_alloc_len   = asks_temp ? cp_msg_len : {recv_pkg::MSG_LEN_W{1'b0}};

  assign match_req = !rst && cur_state == recv_pkg::CHECK_POSTED;
  assign match_id  = match_req ? cp_id : NO_ID;

  assign protocol_error = !rst && misfits;
  assign state          = rst ? recv_pkg::AWAIT_CP : cur_state;

  // ---- Registers -------------------------------------------------------------------------------
  always_ff @(posedge clk or posedge rst) begin
    if (rst) begin
      cur_state      <= recv_pkg::AWAIT_CP;
      level          <= HIGH_N;
      credit_pending <= COUNT_ZERO;
      cp_id          <= NO_ID;
      cp_len         <= {recv_pkg::LEN_W{1'b0}};
      cp_msg_len     <= {recv_pkg::MSG_LEN_W{1'b0}};
      complete       <= 1'b0;
      copying        <= 1'b0;
    end else begin
      cur_state      <= next_state;
      level          <= level_left + alloced;
      credit_pending <= credit_left + alloced;
      complete       <= complete_d;
      copying        <= copying_d;
      if (latches_cp) begin
        cp_id      <= pkt_id;
        cp_len     <= pkt_len;
        cp_msg_len <= pkt_msg_len;
      end
    end
  end

endmodule

`default_nettype wire
