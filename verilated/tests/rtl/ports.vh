// The ports of every design here, as the tests of the bindings know them.
  input  wire        clk,
  input  wire        rst,
  input  wire        enable,
  input  wire [2:0]  misbehave,
  output reg  [7:0]  count,
  output wire [69:0] wide
