// Memories of 128 words of 32 bits, each behind another bus.
// The last sixteen words of the first two do not exist: an access fails and changes nothing.

module ApbMemory (
    input  logic        clk, rst_n, psel, penable, pwrite,
    input  logic [8:0]  paddr,
    input  logic [31:0] pwdata,
    input  logic [3:0]  pstrb,
    output logic        pready, pslverr,
    output logic [31:0] prdata
);
    logic [31:0] words [128];
    logic [6:0]  index;
    assign index = paddr[8:2];
    assign pslverr = index >= 112;
    assign prdata = words[index];
    always_ff @(posedge clk) begin
        pready <= rst_n && psel && !pready;
        if (psel && penable && pready && pwrite && !pslverr)
            for (int i = 0; i < 4; i++) if (pstrb[i]) words[index][8*i+:8] <= pwdata[8*i+:8];
    end
endmodule

module WishboneMemory (
    input  logic        clk, rst, wb_cyc, wb_stb, wb_we,
    input  logic [8:0]  wb_adr,
    input  logic [31:0] wb_dat_w,
    input  logic [3:0]  wb_sel,
    output logic        wb_ack, wb_err,
    output logic [31:0] wb_dat_r
);
    logic [31:0] words [128];
    logic [6:0]  index;
    logic        request;
    assign index = wb_adr[8:2];
    assign request = wb_cyc && wb_stb && !wb_ack && !wb_err;
    always_ff @(posedge clk) begin
        wb_ack <= !rst && request && index < 112;
        wb_err <= !rst && request && index >= 112;
        wb_dat_r <= words[index];
        if (request && wb_we && index < 112)
            for (int i = 0; i < 4; i++) if (wb_sel[i]) words[index][8*i+:8] <= wb_dat_w[8*i+:8];
    end
endmodule

// One burst at a time. A write goes before a read.
module Axi4Memory (
    input  logic        clk, rst_n,
    input  logic        s_axi_awvalid, s_axi_wvalid, s_axi_bready, s_axi_arvalid, s_axi_rready,
    output logic        s_axi_awready, s_axi_wready, s_axi_bvalid, s_axi_arready, s_axi_rvalid,
    input  logic [3:0]  s_axi_awid, s_axi_arid,
    input  logic [8:0]  s_axi_awaddr, s_axi_araddr,
    input  logic [7:0]  s_axi_awlen, s_axi_arlen,
    input  logic [2:0]  s_axi_awsize, s_axi_arsize,
    input  logic [1:0]  s_axi_awburst, s_axi_arburst,
    input  logic [31:0] s_axi_wdata,
    input  logic [3:0]  s_axi_wstrb,
    input  logic        s_axi_wlast,
    output logic [3:0]  s_axi_bid, s_axi_rid,
    output logic [1:0]  s_axi_bresp, s_axi_rresp,
    output logic [31:0] s_axi_rdata,
    output logic        s_axi_rlast
);
    typedef enum logic [1:0] {IDLE, WRITE, ANSWER, READ} state_t;
    state_t      state;
    logic [31:0] words [128];
    logic [3:0]  id;
    logic [8:0]  address, step, next, wrapped;
    logic [7:0]  left;
    logic [2:0]  size;
    logic [1:0]  burst;

    assign {s_axi_awready, s_axi_wready} = {rst_n && state == IDLE, state == WRITE};
    assign {s_axi_bvalid, s_axi_bid, s_axi_bresp} = {state == ANSWER, id, 2'b00};
    assign s_axi_arready = rst_n && state == IDLE && !s_axi_awvalid;
    assign {s_axi_rvalid, s_axi_rid, s_axi_rresp} = {state == READ, id, 2'b00};
    assign {s_axi_rdata, s_axi_rlast} = {words[address[8:2]], left == 0};

    // The beats of FIXED have one address, those of WRAP return to the start of its bytes.
    assign step = 9'd1 << size;
    always_comb begin
        next = (address & ~(step - 9'd1)) + step;
        if (burst == 2'b00) next = address;
        if (burst == 2'b10) next = (address & ~wrapped) | (next & wrapped);
    end

    always_ff @(posedge clk) begin
        if (s_axi_awvalid && s_axi_awready) begin
            {state, id, address, left} <= {WRITE, s_axi_awid, s_axi_awaddr, s_axi_awlen};
            {size, burst} <= {s_axi_awsize, s_axi_awburst};
            wrapped <= ((9'(s_axi_awlen) + 9'd1) << s_axi_awsize) - 9'd1;
        end
        if (s_axi_arvalid && s_axi_arready) begin
            {state, id, address, left} <= {READ, s_axi_arid, s_axi_araddr, s_axi_arlen};
            {size, burst} <= {s_axi_arsize, s_axi_arburst};
            wrapped <= ((9'(s_axi_arlen) + 9'd1) << s_axi_arsize) - 9'd1;
        end
        if (s_axi_wvalid && s_axi_wready) begin
            for (int i = 0; i < 4; i++)
                if (s_axi_wstrb[i]) words[address[8:2]][8*i+:8] <= s_axi_wdata[8*i+:8];
            {address, state} <= {next, s_axi_wlast ? ANSWER : WRITE};
        end
        if (s_axi_rvalid && s_axi_rready)
            {address, left, state} <= {next, left - 8'd1, s_axi_rlast ? IDLE : READ};
        if (s_axi_bvalid && s_axi_bready) state <= IDLE;
        if (!rst_n) state <= IDLE;
    end
endmodule
