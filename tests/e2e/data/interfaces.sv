// Interfaces of all protocols, on both sides: what a manager asks for is answered by a subordinate
// on the other side of the module, or by a memory in it.
module interfaces (
    input  logic        clk,
    input  logic        rst_n,
    input  logic [1:0]  mode,
    // AXI4, in upper case.
    input  logic [3:0]  S_AXI_AWID,    output logic [3:0]  M_AXI_AWID,
    input  logic [15:0] S_AXI_AWADDR,  output logic [15:0] M_AXI_AWADDR,
    input  logic [7:0]  S_AXI_AWLEN,   output logic [7:0]  M_AXI_AWLEN,
    input  logic [2:0]  S_AXI_AWSIZE,  output logic [2:0]  M_AXI_AWSIZE,
    input  logic [1:0]  S_AXI_AWBURST, output logic [1:0]  M_AXI_AWBURST,
    input  logic        S_AXI_AWVALID, output logic        M_AXI_AWVALID,
    output logic        S_AXI_AWREADY, input  logic        M_AXI_AWREADY,
    input  logic [31:0] S_AXI_WDATA,   output logic [31:0] M_AXI_WDATA,
    input  logic [3:0]  S_AXI_WSTRB,   output logic [3:0]  M_AXI_WSTRB,
    input  logic        S_AXI_WLAST,   output logic        M_AXI_WLAST,
    input  logic        S_AXI_WUSER,   output logic        M_AXI_WUSER,
    input  logic        S_AXI_WVALID,  output logic        M_AXI_WVALID,
    output logic        S_AXI_WREADY,  input  logic        M_AXI_WREADY,
    output logic [3:0]  S_AXI_BID,     input  logic [3:0]  M_AXI_BID,
    output logic [1:0]  S_AXI_BRESP,   input  logic [1:0]  M_AXI_BRESP,
    output logic        S_AXI_BVALID,  input  logic        M_AXI_BVALID,
    input  logic        S_AXI_BREADY,  output logic        M_AXI_BREADY,
    input  logic [3:0]  S_AXI_ARID,    output logic [3:0]  M_AXI_ARID,
    input  logic [15:0] S_AXI_ARADDR,  output logic [15:0] M_AXI_ARADDR,
    input  logic [7:0]  S_AXI_ARLEN,   output logic [7:0]  M_AXI_ARLEN,
    input  logic [2:0]  S_AXI_ARSIZE,  output logic [2:0]  M_AXI_ARSIZE,
    input  logic [1:0]  S_AXI_ARBURST, output logic [1:0]  M_AXI_ARBURST,
    input  logic        S_AXI_ARVALID, output logic        M_AXI_ARVALID,
    output logic        S_AXI_ARREADY, input  logic        M_AXI_ARREADY,
    output logic [3:0]  S_AXI_RID,     input  logic [3:0]  M_AXI_RID,
    output logic [31:0] S_AXI_RDATA,   input  logic [31:0] M_AXI_RDATA,
    output logic [1:0]  S_AXI_RRESP,   input  logic [1:0]  M_AXI_RRESP,
    output logic        S_AXI_RLAST,   input  logic        M_AXI_RLAST,
    output logic        S_AXI_RVALID,  input  logic        M_AXI_RVALID,
    input  logic        S_AXI_RREADY,  output logic        M_AXI_RREADY,
    // AXI4-Lite; writes and reads of the subordinate side have names of their own.
    input  logic [11:0] s_axil_wr_awaddr,  output logic [11:0] m_axil_awaddr,
    input  logic        s_axil_wr_awvalid, output logic        m_axil_awvalid,
    output logic        s_axil_wr_awready, input  logic        m_axil_awready,
    input  logic [31:0] s_axil_wr_wdata,   output logic [31:0] m_axil_wdata,
    input  logic [3:0]  s_axil_wr_wstrb,   output logic [3:0]  m_axil_wstrb,
    input  logic        s_axil_wr_wvalid,  output logic        m_axil_wvalid,
    output logic        s_axil_wr_wready,  input  logic        m_axil_wready,
    output logic [1:0]  s_axil_wr_bresp,   input  logic [1:0]  m_axil_bresp,
    output logic        s_axil_wr_bvalid,  input  logic        m_axil_bvalid,
    input  logic        s_axil_wr_bready,  output logic        m_axil_bready,
    input  logic [11:0] s_axil_rd_araddr,  output logic [11:0] m_axil_araddr,
    input  logic        s_axil_rd_arvalid, output logic        m_axil_arvalid,
    output logic        s_axil_rd_arready, input  logic        m_axil_arready,
    output logic [31:0] s_axil_rd_rdata,   input  logic [31:0] m_axil_rdata,
    output logic [1:0]  s_axil_rd_rresp,   input  logic [1:0]  m_axil_rresp,
    output logic        s_axil_rd_rvalid,  input  logic        m_axil_rvalid,
    input  logic        s_axil_rd_rready,  output logic        m_axil_rready,
    // AXI4-Stream.
    input  logic [23:0] s_axis_tdata,  output logic [23:0] m_axis_tdata,
    input  logic        s_axis_tlast,  output logic        m_axis_tlast,
    input  logic        s_axis_tvalid, output logic        m_axis_tvalid,
    output logic        s_axis_tready, input  logic        m_axis_tready,
    // APB.
    input  logic        psel,    output logic        m_apb_psel,
    input  logic        penable, output logic        m_apb_penable,
    input  logic        pwrite,  output logic        m_apb_pwrite,
    input  logic [9:0]  paddr,   output logic [9:0]  m_apb_paddr,
    input  logic [31:0] pwdata,  output logic [31:0] m_apb_pwdata,
    output logic [31:0] prdata,  input  logic [31:0] m_apb_prdata,
    output logic        pready,  input  logic        m_apb_pready,
    output logic        pslverr, input  logic        m_apb_pslverr,
    // Wishbone: classic, and the names of ZipCPU.
    input  logic        i_wb_cyc,  output logic        wbm_cyc_o,
    input  logic        i_wb_stb,  output logic        wbm_stb_o,
    input  logic        i_wb_we,   output logic        wbm_we_o,
    input  logic [9:0]  i_wb_addr, output logic [9:0]  wbm_adr_o,
    input  logic [31:0] i_wb_data, output logic [31:0] wbm_dat_o,
    output logic [31:0] o_wb_data, input  logic [31:0] wbm_dat_i,
    output logic        o_wb_ack,  input  logic        wbm_ack_i,
    // A memory with two ports, a memory outside, and a bus of registers.
    input  logic        ena, enb, wea, web,
    input  logic [4:0]  addra, addrb,
    input  logic [7:0]  dina, dinb,
    output logic [7:0]  douta, doutb,
    output logic        ram_en, ram_we,
    output logic [5:0]  ram_addr,
    output logic [7:0]  ram_wdata,
    input  logic [7:0]  ram_rdata,
    input  logic        cs, we,
    input  logic [3:0]  address,
    input  logic [15:0] write_data,
    output logic [15:0] read_data,
    // Channels beside the interfaces.
    input  logic        cmd_valid, rsp_ready,
    output logic        cmd_ready, rsp_valid,
    input  logic [6:0]  cmd_count,
    input  logic [8:0]  cmd_tag,
    output logic [6:0]  rsp_count
);
    assign {M_AXI_AWID, M_AXI_AWADDR, M_AXI_AWLEN, M_AXI_AWSIZE, M_AXI_AWBURST} =
        {S_AXI_AWID, S_AXI_AWADDR, S_AXI_AWLEN, S_AXI_AWSIZE, S_AXI_AWBURST};
    assign {M_AXI_ARID, M_AXI_ARADDR, M_AXI_ARLEN, M_AXI_ARSIZE, M_AXI_ARBURST} =
        {S_AXI_ARID, S_AXI_ARADDR, S_AXI_ARLEN, S_AXI_ARSIZE, S_AXI_ARBURST};
    assign {M_AXI_WDATA, M_AXI_WSTRB, M_AXI_WLAST, M_AXI_WUSER} =
        {S_AXI_WDATA, S_AXI_WSTRB, S_AXI_WLAST, S_AXI_WUSER};
    assign {M_AXI_AWVALID, M_AXI_WVALID, M_AXI_ARVALID, M_AXI_BREADY, M_AXI_RREADY} =
        {S_AXI_AWVALID, S_AXI_WVALID, S_AXI_ARVALID, S_AXI_BREADY, S_AXI_RREADY};
    assign {S_AXI_AWREADY, S_AXI_WREADY, S_AXI_ARREADY, S_AXI_BVALID, S_AXI_RVALID} =
        {M_AXI_AWREADY, M_AXI_WREADY, M_AXI_ARREADY, M_AXI_BVALID, M_AXI_RVALID};
    assign {S_AXI_BID, S_AXI_BRESP, S_AXI_RID, S_AXI_RDATA, S_AXI_RRESP, S_AXI_RLAST} =
        {M_AXI_BID, M_AXI_BRESP, M_AXI_RID, M_AXI_RDATA, M_AXI_RRESP, M_AXI_RLAST};

    assign {m_axil_awaddr, m_axil_awvalid, m_axil_wdata, m_axil_wstrb, m_axil_wvalid,
            m_axil_bready} = {s_axil_wr_awaddr, s_axil_wr_awvalid, s_axil_wr_wdata,
            s_axil_wr_wstrb, s_axil_wr_wvalid, s_axil_wr_bready};
    assign {m_axil_araddr, m_axil_arvalid, m_axil_rready} =
        {s_axil_rd_araddr, s_axil_rd_arvalid, s_axil_rd_rready};
    assign {s_axil_wr_awready, s_axil_wr_wready, s_axil_wr_bresp, s_axil_wr_bvalid} =
        {m_axil_awready, m_axil_wready, m_axil_bresp, m_axil_bvalid};
    assign {s_axil_rd_arready, s_axil_rd_rdata, s_axil_rd_rresp, s_axil_rd_rvalid} =
        {m_axil_arready, m_axil_rdata, m_axil_rresp, m_axil_rvalid};

    assign {m_axis_tdata, m_axis_tlast, m_axis_tvalid} =
        {s_axis_tdata, s_axis_tlast, s_axis_tvalid};
    assign s_axis_tready = m_axis_tready;

    assign {m_apb_psel, m_apb_penable, m_apb_pwrite, m_apb_paddr, m_apb_pwdata} =
        {psel, penable, pwrite, paddr, pwdata};
    assign {prdata, pready, pslverr} = {m_apb_prdata, m_apb_pready, m_apb_pslverr};

    assign {wbm_cyc_o, wbm_stb_o, wbm_we_o, wbm_adr_o, wbm_dat_o} =
        {i_wb_cyc, i_wb_stb, i_wb_we, i_wb_addr, i_wb_data};
    assign {o_wb_data, o_wb_ack} = {wbm_dat_i, wbm_ack_i};

    logic [7:0]  memory [32];
    logic [15:0] registers [16];
    assign read_data = registers[address];
    always_ff @(posedge clk) begin
        if (ena && wea) memory[addra] <= dina;
        if (ena && !wea) douta <= memory[addra];
        if (enb && web) memory[addrb] <= dinb;
        if (enb && !web) doutb <= memory[addrb];
        if (cs && we) registers[address] <= write_data;
    end

    assign cmd_ready = rsp_ready;
    assign rsp_valid = cmd_valid;
    assign rsp_count = cmd_count + cmd_tag[6:0];
    assign {ram_en, ram_we} = {cmd_valid && rsp_ready && rst_n, cmd_tag[0]};
    assign {ram_addr, ram_wdata} = {cmd_count[5:0], cmd_tag[8:1] ^ ram_rdata};
endmodule
