// Draws random numbers in every way, opens a file, and has registers that nothing resets.
`default_nettype none
module counter (
`include "ports.vh"
);
  reg [5:0]  not_reset;
  reg [31:0] signed_draw;
  reg [31:0] unsigned_draw;
  integer    file;
  assign wide = {not_reset, signed_draw, unsigned_draw};

  always @(posedge clk) begin
    if (rst) begin
      count <= 8'd0;
      signed_draw <= 32'd0;
      unsigned_draw <= 32'd0;
    end else if (misbehave == 3'd5) begin
      signed_draw <= $urandom(32'd7);
    end else if (misbehave == 3'd6) begin
      file = $fopen("/dev/null", "w");
      count <= file[7:0];
    end else if (enable) begin
      count <= 8'($urandom_range(200, 100));
      signed_draw <= $random;
      unsigned_draw <= $urandom;
    end
  end
endmodule
`default_nettype wire
