// A combinational loop that does not settle while `enable` is high.
`default_nettype none
module counter (
`include "ports.vh"
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
