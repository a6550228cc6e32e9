// Properties of Arbiter. `cargo run -- prove` proves them; `cargo run -- run --assertions` checks
// them in simulation.

`default_nettype none

module arbiter_sva #(
  parameter int MAX_BEATS = 8
) (
  input wire        clk,
  input wire        rst,
  input wire [3:0]  req_ready,
  input wire        out_valid,
  input wire        out_last,
  input wire        out_cut,
  input wire [1:0]  out_src,
  input wire [15:0] out_data,
  input wire        out_ready,

  // ---- Registers -------------------------------------------------------------------------------
  input wire        state,
  input wire [7:0]  beats
);

  localparam [7:0] LIMIT  = MAX_BEATS[7:0];
  localparam       LOCKED = 1'b1;

  wire [20:0] offer = {out_valid, out_last, out_cut, out_src, out_data};

  always @(posedge clk) begin
    if (!rst) begin
      // property: at most one requester is ready
      one_ready: assert ((req_ready & (req_ready - 4'd1)) == 4'd0);

      // property: a packet that holds the output has fewer beats than MAX_BEATS
      beats_below_limit: assert (state != LOCKED || beats != 8'd0 && beats < LIMIT);

      // property: a beat on offer stays until out_ready
      offer_stays: assert (!$past(out_valid && !out_ready) || offer == $past(offer));

      // property: a packet that was cut ends
      cut_is_last: assert (!out_cut || out_last);
    end
  end

endmodule

// Yosys does not read `bind`.
`ifndef YOSYS
bind Arbiter arbiter_sva #(.MAX_BEATS(MAX_BEATS)) arbiter_sva_i (.*);
`endif

`default_nettype wire
