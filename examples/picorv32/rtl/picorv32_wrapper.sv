// The native memory port of `picorv32`, `trap`, and the RISC-V formal interface, which shows each
// instruction that retires. The registers begin at 0: the specification leaves them open.
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

  // verilator lint_off PINMISSING
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
    .clk, .resetn, .trap,
    .mem_valid, .mem_instr, .mem_ready, .mem_addr, .mem_wdata, .mem_wstrb, .mem_rdata,
    .mem_la_read, .mem_la_write, .mem_la_addr,
    .pcpi_wr(1'b0), .pcpi_rd(32'b0), .pcpi_wait(1'b0), .pcpi_ready(1'b0), .irq(32'b0),
    .rvfi_valid, .rvfi_trap, .rvfi_insn, .rvfi_pc_rdata, .rvfi_pc_wdata, .rvfi_rd_addr,
    .rvfi_rd_wdata
  );

endmodule
