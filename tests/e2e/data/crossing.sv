// A stream that crosses from one clock to another, and a memory on the second one.
module crossing (
    input  logic        s_axis_aclk,
    input  logic        s_axis_aresetn,
    input  logic        s_axis_tvalid,
    output logic        s_axis_tready,
    input  logic [15:0] s_axis_tdata,
    input  logic        s_axis_tlast,
    input  logic        m_axis_aclk,
    input  logic        m_axis_aresetn,
    output logic        m_axis_tvalid,
    input  logic        m_axis_tready,
    output logic [15:0] m_axis_tdata,
    output logic        m_axis_tlast,
    input  logic        m_apb_psel,
    input  logic        m_apb_penable,
    input  logic        m_apb_pwrite,
    input  logic [ 7:0] m_apb_paddr,
    input  logic [31:0] m_apb_pwdata,
    output logic        m_apb_pready,
    output logic [31:0] m_apb_prdata
);
    logic [16:0] items[8];
    logic [3:0] wbin, rbin, wgray, rgray, w1, w2, r1, r2;
    wire [3:0] wnext = wbin + 1'b1, rnext = rbin + 1'b1;
    assign s_axis_tready = wgray != {~w2[3:2], w2[1:0]};
    assign m_axis_tvalid = rgray != r2;
    assign {m_axis_tlast, m_axis_tdata} = items[rbin[2:0]];

    always_ff @(posedge s_axis_aclk or negedge s_axis_aresetn)
        if (!s_axis_aresetn) {wbin, wgray, w2, w1} <= '0;
        else begin
            {w2, w1} <= {w1, rgray};
            if (s_axis_tvalid && s_axis_tready) begin
                items[wbin[2:0]] <= {s_axis_tlast, s_axis_tdata};
                {wbin, wgray} <= {wnext, wnext ^ (wnext >> 1)};
            end
        end

    always_ff @(posedge m_axis_aclk or negedge m_axis_aresetn)
        if (!m_axis_aresetn) {rbin, rgray, r2, r1} <= '0;
        else begin
            {r2, r1} <= {r1, wgray};
            if (m_axis_tready && m_axis_tvalid)
                {rbin, rgray} <= {rnext, rnext ^ (rnext >> 1)};
        end

    logic [31:0] words[64];
    assign m_apb_pready = 1;
    assign m_apb_prdata = words[m_apb_paddr[7:2]];
    always_ff @(posedge m_axis_aclk)
        if (m_apb_psel && m_apb_penable && m_apb_pwrite) words[m_apb_paddr[7:2]] <= m_apb_pwdata;
endmodule
