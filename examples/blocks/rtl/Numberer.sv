// An AXI4-Stream register that adds to each byte the number of its beat in the packet.
module Numberer (
    input  logic       clk, rst_n,
    input  logic       s_axis_tvalid, s_axis_tlast,
    input  logic [7:0] s_axis_tdata,
    output logic       s_axis_tready,
    output logic       m_axis_tvalid, m_axis_tlast,
    output logic [7:0] m_axis_tdata,
    input  logic       m_axis_tready
);
    logic [7:0] number;
    assign s_axis_tready = !m_axis_tvalid || m_axis_tready;
    always_ff @(posedge clk) begin
        if (s_axis_tready) m_axis_tvalid <= s_axis_tvalid;
        if (s_axis_tready && s_axis_tvalid) begin
            m_axis_tdata <= s_axis_tdata + number;
            m_axis_tlast <= s_axis_tlast;
            number <= s_axis_tlast ? 0 : number + 1;
        end
        if (!rst_n) {m_axis_tvalid, number} <= 0;
    end
endmodule
