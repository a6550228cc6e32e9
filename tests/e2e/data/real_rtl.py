"""Writes RTL of PyPI packages: FIFOs of amaranth and register blocks of PeakRDL-regblock, below the folder that is named."""
import pathlib
import sys

from amaranth.back import verilog
from amaranth.hdl import ClockDomain, Module
from amaranth.lib.fifo import AsyncFIFO, SyncFIFO, SyncFIFOBuffered

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def fifo(name, dut, domains):
    top = Module()
    ports = [dut.w_data, dut.w_rdy, dut.w_en, dut.r_data, dut.r_rdy, dut.r_en]
    for domain in domains:
        clocks = ClockDomain(domain)
        top.domains += clocks
        ports += [clocks.clk, clocks.rst]
    top.submodules.dut = dut
    (folder / f"{name}.v").write_text(verilog.convert(top, name=name, ports=ports))


fifo("sync_fifo", SyncFIFO(width=8, depth=5), ["sync"])
fifo("buffered_fifo", SyncFIFOBuffered(width=12, depth=4), ["sync"])
fifo("async_fifo", AsyncFIFO(width=8, depth=4), ["read", "write"])

from peakrdl_regblock import RegblockExporter
from peakrdl_regblock.cpuif.apb4 import APB4_Cpuif
from peakrdl_regblock.cpuif.axi4lite import AXI4Lite_Cpuif, AXI4Lite_Cpuif_flattened
from peakrdl_regblock.udps import ALL_UDPS
from systemrdl import RDLCompiler

RDL = """
addrmap NAME {
  reg { field { sw = rw; hw = r; } enable[0:0] = 0; field { sw = rw; hw = rw; we; } mode[7:4] = 3; } control @ 0;
  reg { field { sw = r; hw = w; } value[31:0]; } status @ 4;
  reg { field { sw = rw; hw = r; onwrite = woclr; hwset; } done[0:0] = 0; } flags @ 8;
};
"""
for name, cpuif in [
    ("axil_regs", AXI4Lite_Cpuif),
    ("axil_flat_regs", AXI4Lite_Cpuif_flattened),
    ("apb_regs", APB4_Cpuif),
]:
    rdl = folder / f"{name}.rdl"
    rdl.write_text(RDL.replace("NAME", name))
    compiler = RDLCompiler()
    for udp in ALL_UDPS:
        compiler.register_udp(udp)
    compiler.compile_file(str(rdl))
    RegblockExporter().export(compiler.elaborate().top, str(folder / name), cpuif_cls=cpuif)

# The interfaces that PeakRDL-regblock leaves to the project.
(folder / "axi4lite_intf.sv").write_text("""
interface axi4lite_intf #(parameter DATA_WIDTH = 32, parameter ADDR_WIDTH = 4);
  logic AWREADY, AWVALID, WREADY, WVALID, BREADY, BVALID, ARREADY, ARVALID, RREADY, RVALID;
  logic [ADDR_WIDTH-1:0] AWADDR, ARADDR;
  logic [2:0] AWPROT, ARPROT;
  logic [DATA_WIDTH-1:0] WDATA, RDATA;
  logic [DATA_WIDTH/8-1:0] WSTRB;
  logic [1:0] BRESP, RRESP;
  modport slave (
    output AWREADY, input AWVALID, AWADDR, AWPROT, output WREADY, input WVALID, WDATA, WSTRB,
    input BREADY, output BVALID, BRESP, output ARREADY, input ARVALID, ARADDR, ARPROT,
    input RREADY, output RVALID, RDATA, RRESP
  );
endinterface
""")
(folder / "apb4_intf.sv").write_text("""
interface apb4_intf #(parameter DATA_WIDTH = 32, parameter ADDR_WIDTH = 4);
  logic PSEL, PENABLE, PWRITE, PREADY, PSLVERR;
  logic [2:0] PPROT;
  logic [ADDR_WIDTH-1:0] PADDR;
  logic [DATA_WIDTH-1:0] PWDATA, PRDATA;
  logic [DATA_WIDTH/8-1:0] PSTRB;
  modport slave (
    input PSEL, PENABLE, PWRITE, PPROT, PADDR, PWDATA, PSTRB, output PRDATA, PREADY, PSLVERR
  );
endinterface
""")
# The cell that OpenTitan selects for a technology when it is built.
(folder / "prim_flop_2sync.sv").write_text("""
module prim_flop_2sync #(parameter int Width = 16, parameter logic [Width-1:0] ResetValue = '0) (
  input clk_i, input rst_ni, input [Width-1:0] d_i, output logic [Width-1:0] q_o
);
  logic [Width-1:0] first;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {q_o, first} <= {ResetValue, ResetValue};
    else {q_o, first} <= {first, d_i};
endmodule
""")
