// Receives bytes: a start bit, eight data bits from the lowest on, a stop bit.
module UartRx #(parameter int BIT = 8) (
    input  logic       clk, rst, rxd,
    output logic       valid, frame_error,
    output logic [7:0] data
);
    logic       busy, armed;
    logic [3:0] index;
    logic [7:0] count;
    always_ff @(posedge clk) begin
        valid <= 0;
        if (!busy) begin
            // A frame begins with a falling edge.
            armed <= rxd;
            if (armed && !rxd) begin
                {busy, armed} <= 2'b10;
                {index, count} <= {4'd0, 8'(BIT / 2 - 1)};
            end
        end else if (count != 0) begin
            count <= count - 1;
        end else begin
            {index, count} <= {index + 4'd1, 8'(BIT - 1)};
            if (index inside {[1:8]}) data <= {rxd, data[7:1]};
            if (index == 9) {busy, valid, frame_error} <= {2'b01, !rxd};
        end
        if (rst) {busy, armed, valid} <= 0;
    end
endmodule
