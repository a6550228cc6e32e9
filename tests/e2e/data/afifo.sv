// A FIFO between two clocks, with Gray pointers and two synchronizers.
module afifo #(parameter int BITS = 2, parameter int WIDTH = 8) (
  input  logic             wclk, wrst_n, winc,
  input  logic [WIDTH-1:0] wdata,
  output logic             wfull,
  input  logic             rclk, rrst_n, rinc,
  output logic [WIDTH-1:0] rdata,
  output logic             rempty
);
  logic [WIDTH-1:0] mem [0:(1<<BITS)-1];
  logic [BITS:0] wbin, wgray, rbin, rgray, w1, w2, r1, r2;
  wire [BITS:0] wnext = wbin + (BITS+1)'(winc && !wfull);
  wire [BITS:0] rnext = rbin + (BITS+1)'(rinc && !rempty);
  wire [BITS:0] wgraynext = wnext ^ (wnext >> 1);
  wire [BITS:0] rgraynext = rnext ^ (rnext >> 1);
  always_ff @(posedge wclk or negedge wrst_n)
    if (!wrst_n) for (int n = 0; n < 1 << BITS; n++) mem[n] <= '0;
    else if (winc && !wfull) mem[wbin[BITS-1:0]] <= wdata;
  assign rdata = rempty ? '0 : mem[rbin[BITS-1:0]];
  always_ff @(posedge wclk or negedge wrst_n)
    if (!wrst_n) {wbin, wgray, w1, w2, wfull} <= '0;
    else begin
      wbin <= wnext; wgray <= wgraynext;
      {w2, w1} <= {w1, rgray};
      wfull <= wgraynext == {~w2[BITS:BITS-1], w2[BITS-2:0]};
    end
  always_ff @(posedge rclk or negedge rrst_n)
    if (!rrst_n) begin {rbin, rgray, r1, r2} <= '0; rempty <= 1; end
    else begin
      rbin <= rnext; rgray <= rgraynext;
      {r2, r1} <= {r1, wgray};
      rempty <= rgraynext == r2;
    end
endmodule
