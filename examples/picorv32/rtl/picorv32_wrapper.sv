// `picorv32` as the top of a block: its native memory port and `trap`. Interrupts, the co-processor
// interface and the trace are not used. The registers begin at 0, because the specification leaves
// their values after reset open.
module picorv32_wrapper #(
  parameter COMPRESSED_ISA  = 1,
  parameter BARREL_SHIFTER  = 0,
  parameter ENABLE_FAST_MUL = 0
) (
  input  wire        clk,
  input  wire        resetn,
  output wire        trap,

  output wire        mem_valid,
  output wire        mem_instr,
  input  wire        mem_ready,
  output wire [31:0] mem_addr,
  output wire [31:0] mem_wdata,
  output wire [3:0]  mem_wstrb,
  input  wire [31:0] mem_rdata,

  // With the address of a read one cycle ahead the memory can answer without a wait.
  output wire        mem_la_read,
  output wire        mem_la_write,
  output wire [31:0] mem_la_addr
);

  picorv32 #(
    .ENABLE_COUNTERS(0),
    .ENABLE_COUNTERS64(0),
    .BARREL_SHIFTER(BARREL_SHIFTER[0]),
    .COMPRESSED_ISA(COMPRESSED_ISA[0]),
    .CATCH_MISALIGN(1),
    .CATCH_ILLINSN(1),
    .ENABLE_MUL(1),
    .ENABLE_FAST_MUL(ENABLE_FAST_MUL[0]),
    .ENABLE_DIV(1),
    .REGS_INIT_ZERO(1),
    .PROGADDR_RESET(32'h2000)
  ) dut (
    .clk(clk),
    .resetn(resetn),
    .trap(trap),
    .mem_valid(mem_valid),
    .mem_instr(mem_instr),
    .mem_ready(mem_ready),
    .mem_addr(mem_addr),
    .mem_wdata(mem_wdata),
    .mem_wstrb(mem_wstrb),
    .mem_rdata(mem_rdata),
    .mem_la_read(mem_la_read),
    .mem_la_write(mem_la_write),
    .mem_la_addr(mem_la_addr),
    .mem_la_wdata(),
    .mem_la_wstrb(),
    .pcpi_valid(),
    .pcpi_insn(),
    .pcpi_rs1(),
    .pcpi_rs2(),
    .pcpi_wr(1'b0),
    .pcpi_rd(32'b0),
    .pcpi_wait(1'b0),
    .pcpi_ready(1'b0),
    .irq(32'b0),
    .eoi(),
    .trace_valid(),
    .trace_data()
  );

endmodule
