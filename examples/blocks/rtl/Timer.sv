// A timer behind a register bus. Address 0: enable. 1: limit. 2: count, read only. 3: expired, which
// writing 1 clears. Reads are combinational.
module Timer (
    input  logic        clk, rst, cs, we,
    input  logic [1:0]  address,
    input  logic [15:0] write_data,
    output logic [15:0] read_data,
    output logic        irq
);
    logic        enable;
    logic [15:0] limit, count;
    always_comb begin
        case (address)
            0: read_data = 16'(enable);
            1: read_data = limit;
            2: read_data = count;
            default: read_data = 16'(irq);
        endcase
    end
    always_ff @(posedge clk) begin
        if (cs && we && address == 3 && write_data[0]) irq <= 0;
        if (enable) count <= count >= limit ? 0 : count + 1;
        if (enable && count >= limit) irq <= 1;
        if (cs && we && address == 0) enable <= write_data[0];
        if (cs && we && address == 1) limit <= write_data;
        if (rst) {enable, limit, count, irq} <= 0;
    end
endmodule
