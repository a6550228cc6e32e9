// Widths and constants shared by the modules of PcieAckNak. Rules A1.., B1.., F0:
// docs/blocks/dll.md.

package dll_pkg;

  // Field widths.
  localparam int SEQ_W        = 12;  // sequence number
  localparam int DATA_W       = 32;  // TLP payload
  localparam int REPLAY_NUM_W = 2;   // REPLAY_NUM

  // The first TLP after reset, and the one before it: "acknowledged" and "sent" start there.
  localparam logic [11:0] SEQ_FIRST        = 12'd0;
  localparam logic [11:0] SEQ_BEFORE_FIRST = 12'd4095;

  // Half of the sequence space. A distance below it is ahead, from it on behind.
  localparam logic [11:0] SEQ_HALF = 12'd2048;

  // Values of dllp_nak.
  localparam logic DLLP_ACK = 1'b0;
  localparam logic DLLP_NAK = 1'b1;

  // Fixes: bit of FIXES that switches each one on. Bits 7:1 do nothing.
  localparam int F0_DUPLICATE_ACKED = 0;

endpackage
