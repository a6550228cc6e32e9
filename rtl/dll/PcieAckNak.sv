// PCIe Ack/Nak data link layer: device A (transmitter) and device B (receiver) side by side. The
// link between them is outside: both ends of it are pins, so that it can delay, lose and corrupt.
// Spec: docs/blocks/dll.md. Every output is a register; no path leads from one device to the other.

`default_nettype none

module PcieAckNak #(
  parameter int         REPLAY_DEPTH   = 16,    // A: entries to replay, a power of two, 2 to 2048
  parameter int         REPLAY_LIMIT   = 64,    // A: cycles until all is sent again, 2 to 65535
  parameter int         ACKNAK_LATENCY = 16,    // B: cycles from a good TLP to its Ack, 2 to 65535
  parameter logic [7:0] FIXES          = 8'h00  // B: bit n switches Fn on; 8'h00: S3 as specified
) (
  // ---- Clock and reset -------------------------------------------------------------------------
  input  wire                              clk,
  input  wire                              rst,              // asynchronous, active high

  // ---- Device A: new TLPs ----------------------------------------------------------------------
  input  wire                              a_tlp_valid,
  output logic                             a_tlp_ready,
  input  wire  [dll_pkg::DATA_W-1:0]       a_tlp_data,

  // ---- Device A: TLPs to the link --------------------------------------------------------------
  output logic                             a_link_valid,
  input  wire                              a_link_ready,
  output logic [dll_pkg::SEQ_W-1:0]        a_link_seq,
  output logic [dll_pkg::DATA_W-1:0]       a_link_data,

  // ---- Device A: DLLPs from the link -----------------------------------------------------------
  input  wire                              a_dllp_valid,
  input  wire                              a_dllp_nak,       // 1: Nak, 0: Ack
  input  wire  [dll_pkg::SEQ_W-1:0]        a_dllp_seq,
  input  wire                              a_dllp_crc_ok,    // 0: damaged on the way

  // ---- Device A: state -------------------------------------------------------------------------
  output logic [dll_pkg::SEQ_W-1:0]        a_ackd_seq,       // newest sequence number acknowledged
  output logic [dll_pkg::SEQ_W-1:0]        a_next_seq,       // number of the next new TLP
  output logic [dll_pkg::REPLAY_NUM_W-1:0] a_replay_num,
  output logic                             a_retrain,        // pulse: a_replay_num rolled over
  output logic                             a_dl_error,       // pulse: a DLLP out of range

  // ---- Device B: TLPs from the link ------------------------------------------------------------
  input  wire                              b_link_valid,
  input  wire  [dll_pkg::SEQ_W-1:0]        b_link_seq,
  input  wire  [dll_pkg::DATA_W-1:0]       b_link_data,
  input  wire                              b_link_crc_ok,    // 0: damaged on the way

  // ---- Device B: TLPs delivered, always accepted -----------------------------------------------
  output logic                             b_deliver_valid,
  output logic [dll_pkg::DATA_W-1:0]       b_deliver_data,

  // ---- Device B: DLLPs to the link -------------------------------------------------------------
  output logic                             b_dllp_valid,
  input  wire                              b_dllp_ready,
  output logic                             b_dllp_nak,       // 1: Nak, 0: Ack
  output logic [dll_pkg::SEQ_W-1:0]        b_dllp_seq,

  // ---- Device B: state -------------------------------------------------------------------------
  output logic [dll_pkg::SEQ_W-1:0]        b_next_rcv_seq,   // sequence number wanted next
  output logic                             b_nak_scheduled   // a Nak is out, its TLP has not come
);

  PcieDllTx #(
    .REPLAY_DEPTH (REPLAY_DEPTH),
    .REPLAY_LIMIT (REPLAY_LIMIT)
  ) device_a (
    .clk         (clk),
    .rst         (rst),
    .tlp_valid   (a_tlp_valid),
    .tlp_ready   (a_tlp_ready),
    .tlp_data    (a_tlp_data),
    .link_valid  (a_link_valid),
    .link_ready  (a_link_ready),
    .link_seq    (a_link_seq),
    .link_data   (a_link_data),
    .dllp_valid  (a_dllp_valid),
    .dllp_nak    (a_dllp_nak),
    .dllp_seq    (a_dllp_seq),
    .dllp_crc_ok (a_dllp_crc_ok),
    .ackd_seq    (a_ackd_seq),
    .next_seq    (a_next_seq),
    .replay_num  (a_replay_num),
    .retrain     (a_retrain),
    .dl_error    (a_dl_error)
  );

  PcieDllRx #(
    .ACKNAK_LATENCY (ACKNAK_LATENCY),
    .FIXES          (FIXES)
  ) device_b (
    .clk           (clk),
    .rst           (rst),
    .link_valid    (b_link_valid),
    .link_seq      (b_link_seq),
    .link_data     (b_link_data),
    .link_crc_ok   (b_link_crc_ok),
    .deliver_valid (b_deliver_valid),
    .deliver_data  (b_deliver_data),
    .dllp_valid    (b_dllp_valid),
    .dllp_ready    (b_dllp_ready),
    .dllp_nak      (b_dllp_nak),
    .dllp_seq      (b_dllp_seq),
    .next_rcv_seq  (b_next_rcv_seq),
    .nak_scheduled (b_nak_scheduled)
  );

endmodule

`default_nettype wire
