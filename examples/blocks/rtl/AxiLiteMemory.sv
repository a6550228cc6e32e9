// Memory of WORDS words of 32 bits behind an AXI4-Lite interface. The specification is README.md.

module AxiLiteMemory #(
  parameter int unsigned WORDS        = 64,
  parameter int unsigned ADDRESS_BITS = 9
) (
  input  logic                    clk,
  input  logic                    rst_n,

  input  logic                    s_axi_awvalid,
  output logic                    s_axi_awready,
  input  logic [ADDRESS_BITS-1:0] s_axi_awaddr,
  input  logic [2:0]              s_axi_awprot,

  input  logic                    s_axi_wvalid,
  output logic                    s_axi_wready,
  input  logic [31:0]             s_axi_wdata,
  input  logic [3:0]              s_axi_wstrb,

  output logic                    s_axi_bvalid,
  input  logic                    s_axi_bready,
  output logic [1:0]              s_axi_bresp,

  input  logic                    s_axi_arvalid,
  output logic                    s_axi_arready,
  input  logic [ADDRESS_BITS-1:0] s_axi_araddr,
  input  logic [2:0]              s_axi_arprot,

  output logic                    s_axi_rvalid,
  input  logic                    s_axi_rready,
  output logic [31:0]             s_axi_rdata,
  output logic [1:0]              s_axi_rresp
);

  localparam int unsigned INDEX_BITS = ADDRESS_BITS - 2;
  localparam int unsigned WORD_BITS  = $clog2(WORDS);

  localparam logic [1:0] OKAY   = 2'b00;
  localparam logic [1:0] DECERR = 2'b11;

  // ---- State ---------------------------------------------------------------------------------
  logic [31:0]           words [WORDS];
  // A write address and write data that wait for each other.
  logic                  address_full_d, address_full_q;
  logic [INDEX_BITS-1:0] address_d, address_q;
  logic                  data_full_d, data_full_q;
  logic [31:0]           data_d, data_q;
  logic [3:0]            strobe_d, strobe_q;
  // The responses on offer.
  logic                  bvalid_d, bvalid_q;
  logic [1:0]            bresp_d, bresp_q;
  logic                  rvalid_d, rvalid_q;
  logic [31:0]           rdata_d, rdata_q;
  logic [1:0]            rresp_d, rresp_q;

  function automatic logic exists(input logic [INDEX_BITS-1:0] index);
    exists = 32'(index) < WORDS;
  endfunction

  // ---- Handshakes ----------------------------------------------------------------------------
  logic aw_taken, w_taken, b_taken, ar_taken, r_taken, write;
  assign s_axi_awready = rst_n && !address_full_q;
  assign s_axi_wready  = rst_n && !data_full_q;
  assign s_axi_arready = rst_n && (!rvalid_q || s_axi_rready);
  assign s_axi_bvalid  = bvalid_q;
  assign s_axi_bresp   = bresp_q;
  assign s_axi_rvalid  = rvalid_q;
  assign s_axi_rdata   = rdata_q;
  assign s_axi_rresp   = rresp_q;
  assign aw_taken      = s_axi_awvalid && s_axi_awready;
  assign w_taken       = s_axi_wvalid && s_axi_wready;
  assign b_taken       = bvalid_q && s_axi_bready;
  assign ar_taken      = s_axi_arvalid && s_axi_arready;
  assign r_taken       = rvalid_q && s_axi_rready;
  assign write         = address_full_q && data_full_q && (!bvalid_q || s_axi_bready);

  // ---- Write ---------------------------------------------------------------------------------
  always_comb begin
    address_full_d = aw_taken || (address_full_q && !write);
    address_d      = aw_taken ? s_axi_awaddr[ADDRESS_BITS-1:2] : address_q;
    data_full_d    = w_taken || (data_full_q && !write);
    data_d         = w_taken ? s_axi_wdata : data_q;
    strobe_d       = w_taken ? s_axi_wstrb : strobe_q;
    bvalid_d       = write || (bvalid_q && !b_taken);
    bresp_d        = write ? (exists(address_q) ? OKAY : DECERR) : bresp_q;
  end

  always_ff @(posedge clk) begin
    if (rst_n && write && exists(address_q)) begin
      for (int lane = 0; lane < 4; lane++) begin
        if (strobe_q[lane]) words[WORD_BITS'(address_q)][8*lane +: 8] <= data_q[8*lane +: 8];
      end
    end
  end

  // ---- Read ----------------------------------------------------------------------------------
  logic [INDEX_BITS-1:0] index;
  assign index = s_axi_araddr[ADDRESS_BITS-1:2];

  always_comb begin
    rvalid_d = ar_taken || (rvalid_q && !r_taken);
    rdata_d  = rdata_q;
    rresp_d  = rresp_q;
    if (ar_taken) begin
      rdata_d = exists(index) ? words[WORD_BITS'(index)] : '0;
      rresp_d = exists(index) ? OKAY : DECERR;
    end
  end

  // ---- Registers -----------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    if (!rst_n) begin
      address_full_q <= 1'b0;
      data_full_q    <= 1'b0;
      bvalid_q       <= 1'b0;
      rvalid_q       <= 1'b0;
    end else begin
      address_full_q <= address_full_d;
      data_full_q    <= data_full_d;
      bvalid_q       <= bvalid_d;
      rvalid_q       <= rvalid_d;
    end
  end

  always_ff @(posedge clk) begin
    address_q <= address_d;
    data_q    <= data_d;
    strobe_q  <= strobe_d;
    bresp_q   <= bresp_d;
    rdata_q   <= rdata_d;
    rresp_q   <= rresp_d;
  end

  // The protection type and the byte within a word have no meaning here.
  logic unused;
  assign unused = ^{s_axi_awprot, s_axi_arprot, s_axi_awaddr[1:0], s_axi_araddr[1:0]};

endmodule
