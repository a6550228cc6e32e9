// A round-robin arbiter of four requesters; see README.md for its specification.

module Arbiter #(
  parameter integer MAX_BEATS = 8
) (
  input  wire        clk,
  input  wire        rst,

  input  wire [3:0]  req_valid,
  input  wire [3:0]  req_last,
  input  wire [63:0] req_data,
  output wire [3:0]  req_ready,

  output reg         out_valid,
  output reg         out_last,
  output reg         out_cut,
  output reg  [1:0]  out_src,
  output reg  [15:0] out_data,
  input  wire        out_ready
);

  localparam [0:0] FREE   = 1'b0;
  localparam [0:0] LOCKED = 1'b1;
  localparam [7:0] LIMIT  = MAX_BEATS[7:0];

  reg       state;
  reg [1:0] owner;
  reg [7:0] beats;
  reg [1:0] last_won;

  wire room = !out_valid || out_ready;

  // The requests, turned so that the one whose turn comes first is bit 0.
  wire [1:0] first  = last_won + 2'd1;
  wire [3:0] turned = first == 2'd0 ? req_valid
                    : first == 2'd1 ? {req_valid[0], req_valid[3:1]}
                    : first == 2'd2 ? {req_valid[1:0], req_valid[3:2]}
                    :                 {req_valid[2:0], req_valid[3]};
  wire [1:0] offset = turned[0] ? 2'd0
                    : turned[1] ? 2'd1
                    : turned[2] ? 2'd2
                    :             2'd3;
  wire [1:0] winner = first + offset;

  wire [1:0] chosen = state == LOCKED ? owner : winner;
  wire       offers = room && (state == LOCKED || req_valid != 4'd0);
  wire       takes  = offers && req_valid[chosen];

  wire [7:0] count  = state == LOCKED ? beats + 8'd1 : 8'd1;
  wire       cut    = !req_last[chosen] && count == LIMIT;
  wire       ends   = req_last[chosen] || cut;

  assign req_ready = offers && !rst ? 4'b0001 << chosen : 4'd0;

  always @(posedge clk or posedge rst) begin
    if (rst) begin
      state     <= FREE;
      owner     <= 2'd0;
      beats     <= 8'd0;
      last_won  <= 2'd3;
      out_valid <= 1'b0;
      out_last  <= 1'b0;
      out_cut   <= 1'b0;
      out_src   <= 2'd0;
      out_data  <= 16'd0;
    end else if (takes) begin
      state     <= ends ? FREE : LOCKED;
      owner     <= chosen;
      beats     <= count;
      if (ends) last_won <= chosen;
      out_valid <= 1'b1;
      out_last  <= ends;
      out_cut   <= cut;
      out_src   <= chosen;
      out_data  <= req_data[{chosen, 4'd0} +: 16];
    end else if (out_ready) begin
      out_valid <= 1'b0;
    end
  end

endmodule
