// Properties of QpStateCtrl: docs/blocks/qp.md. `cosim prove` proves them, and the wires here are
// the words of its rules in Verilog; `cosim run --assertions` checks them in simulation.

`default_nettype none

module qp_sva (
  input wire       clk,
  input wire       rst,

  // ---- Pins ------------------------------------------------------------------------------------
  input wire       cmd_valid,
  input wire       cmd_ready,
  input wire [7:0] cmd_qpn,
  input wire       rsp_valid,
  input wire [7:0] rsp_qpn,
  input wire [1:0] rsp_code,
  input wire       hw_valid,
  input wire       hw_ready,
  input wire [7:0] hw_qpn,
  input wire       msg_valid,
  input wire       evt_valid,
  input wire       evt_ready,

  // ---- Registers and wires: words of QPs as they are read and written, the answer, the queue ---
  input wire       cmd_taken,
  input wire       cmd_writes,
  input wire [6:0] cmd_word,
  input wire [2:0] cmd_state,
  input wire [2:0] cmd_old_service,
  input wire       cmd_flag,
  input wire [2:0] cmd_state_d,
  input wire [2:0] cmd_service_d,
  input wire       cmd_flag_d,
  input wire       hw_taken,
  input wire [2:0] hw_state,
  input wire [2:0] hw_service,
  input wire       hw_notify,
  input wire [2:0] hw_state_d,
  input wire       hw_notify_d,
  input wire [1:0] hw_code,
  input wire [2:0] msg_state,
  input wire [2:0] msg_service,
  input wire [2:0] asked_state,
  input wire       answer_valid,
  input wire [7:0] answer_qpn,
  input wire [1:0] answer_code,
  input wire [4:0] evt_count
);

  localparam [2:0] SQD     = 3'd4;
  localparam [2:0] NO_CODE = 3'd7;

  // ---- Facts that rules look at ----------------------------------------------------------------
  // What the memory of QPs gives is anything in a proof, but what is proved of its words: they have
  // no code 7. So what is said of reads is said of the other codes.
  wire cmd_known   = cmd_taken && cmd_state != NO_CODE;
  wire cmd_code_7  = cmd_taken && cmd_state == NO_CODE;
  wire hw_known    = hw_taken && hw_state != NO_CODE;
  wire hw_code_7   = hw_taken && hw_state == NO_CODE;
  wire msg_known   = msg_valid && msg_state != NO_CODE;
  wire msg_code_7  = msg_valid && msg_state == NO_CODE;
  wire asked_known = asked_state != NO_CODE;

  // X1: an event of hardware and a command at one edge are about one QP.
  wire same_qp = hw_taken && cmd_taken && hw_qpn == cmd_qpn;

  wire       evt_full   = evt_count == 5'd16;
  wire       evt_leaves = evt_count != 5'd0 && evt_ready;
  // Events that are left behind the one that leaves.
  wire [4:0] evt_left   = evt_count - {4'd0, evt_leaves};
  wire       hw_offered = hw_valid && evt_full && hw_state != NO_CODE;
  wire       cmd_offered = cmd_valid && evt_full;

  // ---- Progress --------------------------------------------------------------------------------
  wire cmd_waits = cmd_valid && !cmd_ready;
  wire hw_waits  = hw_valid && !hw_ready;
  wire evt_waits = evt_valid && !evt_ready;

  // ---- Properties ------------------------------------------------------------------------------
  always @(posedge clk) begin
    if (!rst) begin
      // property: the event queue has at most 16 events
      events_at_most_16: assert (evt_count <= 5'd16);

      // property: the answer is shown
      answer_shown: assert ({rsp_valid, rsp_qpn, rsp_code}
                            == {answer_valid, answer_qpn, answer_code});

      // property: an event is shown while there is one
      event_shown: assert (evt_valid == (evt_count != 5'd0));

      // property: a command is taken unless the queue is full
      command_taken: assert (cmd_ready == !evt_full && cmd_taken == (cmd_valid && cmd_ready));

      // property: an event is taken with hw_ready
      hardware_event_taken: assert (hw_taken == (hw_valid && hw_ready));

      // property: the word that an event of hardware reads has no code 7, and owes no event outside
      // of SQD
      word_of_hardware: assert (hw_state != NO_CODE && (!hw_notify || hw_state == SQD));

      // property: the word that a command reads has no code 7, and owes no event outside of SQD
      word_of_command: assert (cmd_word[2:0] != NO_CODE
                               && (!cmd_word[6] || cmd_word[2:0] == SQD));

      // property: the word that a request packet reads has no code 7
      word_of_packet: assert (msg_state != NO_CODE);

      // property: the word that a query reads has no code 7
      word_of_query: assert (asked_state != NO_CODE);
    end
  end

endmodule

// Yosys does not read `bind`.
`ifndef YOSYS
bind QpStateCtrl qp_sva qp_sva_i (.*);
`endif

`default_nettype wire
