// First-in first-out queue of DEPTH items between two clocks. The specification is README.md.
//
// The pointers cross the clock domains in Gray code, through two registers each.

module AsyncFifo #(
  parameter integer DEPTH = 4,  // a power of two, at least 4
  parameter integer WIDTH = 8
) (
  // ---- Domain of the writer ------------------------------------------------------------------
  input  logic             wclk,
  input  logic             wrst_n,
  input  logic             push_valid,
  output logic             push_ready,
  input  logic [WIDTH-1:0] push_data,
  output logic [7:0]       pushed,

  // ---- Domain of the reader ------------------------------------------------------------------
  input  logic             rclk,
  input  logic             rrst_n,
  output logic             pop_valid,
  input  logic             pop_ready,
  output logic [WIDTH-1:0] pop_data,
  output logic [7:0]       popped
);

  localparam integer BITS = $clog2(DEPTH);

  logic [WIDTH-1:0] items [DEPTH];

  // Binary and Gray pointers have one bit more than an index, so that full and empty differ.
  logic [BITS:0] wbin_q, wbin_d, wgray_q, wgray_d;
  logic [BITS:0] rbin_q, rbin_d, rgray_q, rgray_d;
  logic [BITS:0] rgray_meta_q, rgray_sync_q;
  logic [BITS:0] wgray_meta_q, wgray_sync_q;

  function automatic logic [BITS:0] gray(input logic [BITS:0] value);
    gray = value ^ (value >> 1);
  endfunction

  // ---- Writer --------------------------------------------------------------------------------
  logic push, full;
  assign full       = wgray_q == {~rgray_sync_q[BITS:BITS-1], rgray_sync_q[BITS-2:0]};
  assign push_ready = wrst_n && !full;
  assign push       = push_valid && push_ready;
  assign wbin_d     = wbin_q + (BITS + 1)'(push);
  assign wgray_d    = gray(wbin_d);

  always_ff @(posedge wclk or negedge wrst_n) begin
    if (!wrst_n) begin
      wbin_q       <= '0;
      wgray_q      <= '0;
      rgray_meta_q <= '0;
      rgray_sync_q <= '0;
      pushed       <= '0;
    end else begin
      wbin_q       <= wbin_d;
      wgray_q      <= wgray_d;
      rgray_meta_q <= rgray_q;
      rgray_sync_q <= rgray_meta_q;
      pushed       <= pushed + 8'(push);
    end
  end

  always_ff @(posedge wclk) if (push) items[wbin_q[BITS-1:0]] <= push_data;

  // ---- Reader --------------------------------------------------------------------------------
  logic pop;
  assign pop_valid = rrst_n && rgray_q != wgray_sync_q;
  assign pop_data  = items[rbin_q[BITS-1:0]];
  assign pop       = pop_valid && pop_ready;
  assign rbin_d    = rbin_q + (BITS + 1)'(pop);
  assign rgray_d   = gray(rbin_d);

  always_ff @(posedge rclk or negedge rrst_n) begin
    if (!rrst_n) begin
      rbin_q       <= '0;
      rgray_q      <= '0;
      wgray_meta_q <= '0;
      wgray_sync_q <= '0;
      popped       <= '0;
    end else begin
      rbin_q       <= rbin_d;
      rgray_q      <= rgray_d;
      wgray_meta_q <= wgray_q;
      wgray_sync_q <= wgray_meta_q;
      popped       <= popped + 8'(pop);
    end
  end

endmodule
