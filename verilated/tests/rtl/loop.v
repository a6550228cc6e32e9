// A combinational loop that does not settle while `enable` is high.
`default_nettype none
module counter (
  input  wire        clk,
  input  wire        rst,
  input  wire        enable,
  input  wire [2:0]  misbehave,
  output reg  [7:0]  count,
  output wire [69:0] wide
);
  /* verilator lint_off UNOPTFLAT */
  reg spin;
  /* verilator lint_on UNOPTFLAT */
  assign wide = {spin, 69'd0};
  always @* spin = enable & ~spin & ~clk;
  always @(posedge clk or posedge rst)
    if (rst) count <= 8'd0;
    else count <= {5'd0, misbehave};
endmodule
`default_nettype wire
