// `AsyncFifo` as the top of a block, because it has several clocks.
// Written by `cosim new`, and yours to edit: docs/how-to/wrap-rtl.md.
// In each step inputs change while clk is low, outputs are compared, then clk rises. A clock input that is
// 1 in a step rises with it.
module AsyncFifo_wrapper #(
  parameter DEPTH = 32'sh4,
  parameter WIDTH = 32'sh8
) (
  input  wire clk,
  input  wire wclk,
  input  wire wrst_n,
  input  wire push_valid,
  output wire push_ready,
  input  wire [7:0] push_data,
  output wire [7:0] pushed,
  input  wire rclk,
  input  wire rrst_n,
  output wire pop_valid,
  input  wire pop_ready,
  output wire [7:0] pop_data,
  output wire [7:0] popped
);
  // verilator lint_on WIDTH
  logic wclk_on;
  always_latch if (!clk) wclk_on = wclk;
  wire wclk_i = clk & wclk_on;
  logic rclk_on;
  always_latch if (!clk) rclk_on = rclk;
  wire rclk_i = clk & rclk_on;
  AsyncFifo #(.DEPTH(DEPTH), .WIDTH(WIDTH)) dut (
    .wclk(wclk_i),
    .wrst_n(wrst_n),
    .push_valid(push_valid),
    .push_ready(push_ready),
    .push_data(push_data),
    .pushed(pushed),
    .rclk(rclk_i),
    .rrst_n(rrst_n),
    .pop_valid(pop_valid),
    .pop_ready(pop_ready),
    .pop_data(pop_data),
    .popped(popped)
  );
endmodule
