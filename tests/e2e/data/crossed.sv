// A sum that crosses from one clock to another, through a synchronizer.
module crossed (
  input  logic       wclk, wrst_n,
  input  logic [7:0] wdata,
  output logic [7:0] sent,
  input  logic       rclk, rrst_n,
  output logic [7:0] seen
);
  logic [7:0] meta;
  always_ff @(posedge wclk or negedge wrst_n)
    if (!wrst_n) sent <= '0; else sent <= sent + wdata;
  always_ff @(posedge rclk or negedge rrst_n)
    if (!rrst_n) {seen, meta} <= '0; else {seen, meta} <= {meta, sent};
endmodule
