// Widths and constants shared by the modules of PcieAckNak. Rules A1.., B1.., F0: docs/blocks/dll.md.

`ifndef PCIE_ACK_NAK_VH
`define PCIE_ACK_NAK_VH

// Field widths.
`define PCIE_SEQ_W        12  // sequence number
`define PCIE_DATA_W       32  // TLP payload
`define PCIE_REPLAY_NUM_W 2   // REPLAY_NUM

// The first TLP after reset, and the one before it: "acknowledged" and "sent" start there.
`define PCIE_SEQ_FIRST        12'd0
`define PCIE_SEQ_BEFORE_FIRST 12'd4095

// Half of the sequence space. A distance below it is ahead, from it on behind.
`define PCIE_SEQ_HALF 12'd2048

// Values of dllp_nak.
`define PCIE_DLLP_ACK 1'b0
`define PCIE_DLLP_NAK 1'b1

// Fixes: bit of FIXES that switches each one on. Bits 7:1 do nothing.
`define PCIE_F0_DUPLICATE_ACKED 0

`endif
