// Faults that the memory checkers must see.
`default_nettype none
module counter (
`include "ports.vh"
);
  assign wide = {69'd0, enable};
  always @(posedge clk) begin
    if (rst) count <= 8'd0;
    if (misbehave == 3'd1)
      $c("{ int *volatile few = new int[1]; const volatile int beyond = few[1]; (void)beyond; ",
         "delete[] few; }");
    if (misbehave == 3'd2)
      $c("{ volatile int large = 0x7fffffff; large = large + 1; }");
    if (misbehave == 3'd3)
      $c("{ int *volatile lost = new int[100]; lost = nullptr; }");
  end
endmodule
`default_nettype wire
