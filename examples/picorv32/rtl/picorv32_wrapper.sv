// `picorv32` as the top of a block: its native memory port, `trap`, and the RISC-V formal
// interface, which shows each instruction that retires. Interrupts, the co-processor interface and
// the trace are not used. The registers begin at 0, because the specification leaves their values
// after reset open.
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
  output wire [31:0] mem_la_addr,

  output wire        rvfi_valid,
  output wire        rvfi_trap,
  output wire [31:0] rvfi_insn,
  output wire [31:0] rvfi_pc_rdata,
  output wire [31:0] rvfi_pc_wdata,
  output wire [4:0]  rvfi_rd_addr,
  output wire [31:0] rvfi_rd_wdata
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
    .pcpi_wr(1'b0),
    .pcpi_rd(32'b0),
    .pcpi_wait(1'b0),
    .pcpi_ready(1'b0),
    .irq(32'b0),
    .mem_la_wdata(), .mem_la_wstrb(), .pcpi_valid(), .pcpi_insn(), .pcpi_rs1(), .pcpi_rs2(), .eoi(),
    .trace_valid(), .trace_data(), .rvfi_order(), .rvfi_halt(), .rvfi_intr(), .rvfi_mode(),
    .rvfi_ixl(), .rvfi_rs1_addr(), .rvfi_rs2_addr(), .rvfi_rs1_rdata(), .rvfi_rs2_rdata(),
    .rvfi_mem_addr(), .rvfi_mem_rmask(), .rvfi_mem_wmask(), .rvfi_mem_rdata(), .rvfi_mem_wdata(),
    .rvfi_csr_mcycle_rmask(), .rvfi_csr_mcycle_wmask(), .rvfi_csr_mcycle_rdata(),
    .rvfi_csr_mcycle_wdata(), .rvfi_csr_minstret_rmask(), .rvfi_csr_minstret_wmask(),
    .rvfi_csr_minstret_rdata(), .rvfi_csr_minstret_wdata(),
    .*
  );

endmodule
