// Generated around a design. Its inputs are registers here: at one rising edge of both clocks the design
// takes its next state from the inputs of one cycle and is shown those of the next. So one evaluation
// does for a cycle where two are needed if inputs change between the edges.

module cosim_registered (
@PORTS@
  input wire cosim_load,
  input wire @CLOCK@
);

@REGISTERS@

  always @(posedge cosim_load) begin
@LOADS@
  end

  @TOP@ @PARAMETERS@ dut (
@PINS@
    .@CLOCK@(@CLOCK@)
  );

endmodule
