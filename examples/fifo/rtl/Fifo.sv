// First-in first-out queue of DEPTH items. The specification is README.md.

module Fifo #(
  parameter integer DEPTH = 4,
  parameter integer WIDTH = 8
) (
  input  logic             clk,
  input  logic             rst,

  input  logic             push_valid,
  output logic             push_ready,
  input  logic [WIDTH-1:0] push_data,

  output logic             pop_valid,
  input  logic             pop_ready,
  output logic [WIDTH-1:0] pop_data
);

  localparam integer INDEX_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam integer COUNT_BITS = $clog2(DEPTH + 1);

  // ---- State ---------------------------------------------------------------------------------
  logic [WIDTH-1:0]      items [DEPTH];
  logic [INDEX_BITS-1:0] first_d, first_q;
  logic [INDEX_BITS-1:0] free_d, free_q;
  logic [COUNT_BITS-1:0] count_d, count_q;

  function automatic logic [INDEX_BITS-1:0] next(input logic [INDEX_BITS-1:0] index);
    next = index == INDEX_BITS'(DEPTH - 1) ? '0 : index + 1'b1;
  endfunction

  // ---- Handshakes ----------------------------------------------------------------------------
  logic pushed, popped;
  assign push_ready = !rst && count_q != COUNT_BITS'(DEPTH);
  assign pop_valid  = !rst && count_q != '0;
  assign pop_data   = pop_valid ? items[first_q] : '0;
  assign pushed     = push_valid && push_ready;
  assign popped     = pop_valid && pop_ready;

  // ---- Next state ----------------------------------------------------------------------------
  always_comb begin
    first_d = popped ? next(first_q) : first_q;
    free_d  = pushed ? next(free_q) : free_q;
    count_d = count_q + COUNT_BITS'(pushed) - COUNT_BITS'(popped);
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      first_q <= '0;
      free_q  <= '0;
      count_q <= '0;
    end else begin
      first_q <= first_d;
      free_q  <= free_d;
      count_q <= count_d;
    end
  end

  always_ff @(posedge clk) if (pushed) items[free_q] <= push_data;

endmodule
