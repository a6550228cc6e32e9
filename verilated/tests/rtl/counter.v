// A counter with a narrow and a wide output, for the tests of the bindings.
`default_nettype none
module counter (
`include "ports.vh"
);
  reg not_reset;
  assign wide = {not_reset, 61'd0, count};

  always @(posedge clk or posedge rst) begin
    if (rst) count <= 8'd0;
    else if (enable) count <= count + 8'd1;
  end

  always @(posedge clk) begin
    if (misbehave == 3'd1) $finish;
    if (misbehave == 3'd2) $stop;
    if (misbehave == 3'd3) $fatal(1, "told to");
    if (misbehave == 3'd4) not_reset <= enable;
  end
endmodule
`default_nettype wire
