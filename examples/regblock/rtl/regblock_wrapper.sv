// `regblock` as the top of a block. It shows the requests of the internal CPU interface, which the
// documentation of PeakRDL-regblock describes, because the cycle of an access is free on the bus.
module regblock_wrapper (
  input  wire        clk,
  input  wire        rst,

  output wire        s_axil_awready,
  input  wire        s_axil_awvalid,
  input  wire [5:0]  s_axil_awaddr,
  input  wire [2:0]  s_axil_awprot,
  output wire        s_axil_wready,
  input  wire        s_axil_wvalid,
  input  wire [31:0] s_axil_wdata,
  input  wire [3:0]  s_axil_wstrb,
  input  wire        s_axil_bready,
  output wire        s_axil_bvalid,
  output wire [1:0]  s_axil_bresp,
  output wire        s_axil_arready,
  input  wire        s_axil_arvalid,
  input  wire [5:0]  s_axil_araddr,
  input  wire [2:0]  s_axil_arprot,
  input  wire        s_axil_rready,
  output wire        s_axil_rvalid,
  output wire [31:0] s_axil_rdata,
  output wire [1:0]  s_axil_rresp,

  input  regblock_pkg::regblock__in_t  hwif_in,
  output regblock_pkg::regblock__out_t hwif_out,

  // The access that takes place in this cycle.
  output wire        cpuif_access,
  output wire        cpuif_is_write,
  output wire [5:0]  cpuif_addr,
  output wire [31:0] cpuif_wr_data,
  output wire [31:0] cpuif_wr_biten
);

  regblock dut (.*);

  // A request that is stalled is repeated.
  wire is_stalled = dut.cpuif_req_is_wr ? dut.cpuif_req_stall_wr : dut.cpuif_req_stall_rd;
  assign cpuif_access   = dut.cpuif_req && !is_stalled;
  assign cpuif_is_write = dut.cpuif_req_is_wr;
  assign cpuif_addr     = dut.cpuif_addr;
  assign cpuif_wr_data  = dut.cpuif_wr_data;
  assign cpuif_wr_biten = dut.cpuif_wr_biten;

endmodule
