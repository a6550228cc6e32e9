//! Pairs of RTL for the lines of the list.

/// A line of the list: RTL that is refused, and similar RTL that is accepted.
pub(super) struct Pair {
    pub(super) line: &'static str,
    pub(super) before: &'static str,
    pub(super) refused: &'static str,
    pub(super) accepted: &'static str,
}

pub(super) const fn pair(
    line: &'static str,
    refused: &'static str,
    accepted: &'static str,
) -> Pair {
    Pair { line, before: "", refused, accepted }
}

/// A pair with modules before both.
pub(super) const fn with(
    line: &'static str,
    before: &'static str,
    refused: &'static str,
    accepted: &'static str,
) -> Pair {
    Pair { line, before, refused, accepted }
}

pub(super) const PROCESSES: &[Pair] = &[
    pair(
        "sensitivity lists have all that is read",
        "always @(a) y = a ^ b;",
        "always @(a or b) y = a ^ b;",
    ),
    pair(
        "a function reads what is in the list",
        "function [7:0] f(input [7:0] x); f = x ^ b; endfunction\nalways @(a) y = f(a);",
        "function [7:0] f(input [7:0] x); f = x ^ 8'd1; endfunction\nalways @(a) y = f(a);",
    ),
    pair("levels of a clock", "always @(clk) y <= a;", "always @(posedge clk) y <= a;"),
    pair(
        "both edges of a clock",
        "always @(posedge clk or negedge clk) y <= a;",
        "always @(negedge clk) y <= a;",
    ),
    pair(
        "edges and levels",
        "always @(posedge clk or a) y <= a;",
        "always @(posedge clk or posedge rst) if (rst) y <= 0; else y <= a;",
    ),
    pair(
        "an asynchronous reset sets constants",
        "always @(posedge clk or posedge rst) if (rst) y <= b; else y <= a;",
        "always @(posedge clk or negedge rst) if (!rst) y <= 8'h17; else y <= a;",
    ),
    pair(
        "an asynchronous reset sets all",
        "logic [7:0] q; always @(posedge clk or posedge rst) if (rst) y <= 0; \
         else begin y <= q; q <= a; end",
        "logic [7:0] q; always @(posedge clk or posedge rst) if (rst) begin y <= 0; q <= 1; end \
         else begin y <= q; q <= a; end",
    ),
    pair(
        "an edge of what is no reset",
        "always @(posedge clk or posedge rst) y <= a;",
        "always @(posedge clk) if (rst) y <= 0; else y <= a;",
    ),
    pair(
        "three edges",
        "always @(posedge clk or posedge rst or posedge go) \
         if (rst) y <= 0; else if (go) y <= 1; else y <= a;",
        "always @(posedge clk or posedge rst) if (rst) y <= 0; else if (go) y <= 1; else y <= a;",
    ),
    pair(
        "a reset from registers and inputs",
        "logic q; always @(posedge clk) q <= go; wire r = q & rst; \
         always @(posedge clk or posedge r) if (r) y <= 0; else y <= a;",
        "logic q; always @(posedge clk) q <= go; wire r = rst | go; \
         always @(posedge clk or posedge r) if (r) y <= 0; else y <= {7'd0, q};",
    ),
    pair(
        "a reset by two registers",
        "logic p, q; always @(posedge clk) begin p <= a[0]; q <= a[1]; end wire r = p & q; \
         always @(posedge clk or posedge r) if (r) y <= 0; else y <= a;",
        "logic p, q; always @(posedge clk or posedge rst) if (rst) {p, q} <= 3; \
         else begin p <= q; q <= 0; end wire r = ~p; \
         always @(posedge clk or negedge r) if (!r) y <= 0; else y <= a;",
    ),
    pair("a latch", "always @* if (go) y = a;", "always @* if (go) y = a; else y = b;"),
    pair(
        "a latch that reads itself",
        "always_latch if (go) y = y ^ a;",
        "always_latch if (go) y = a;",
    ),
    pair(
        "a latch in a case",
        "always @* case (a[1:0]) 0: y = 1; 1: y = 2; 3: y = 3; endcase",
        "always @* case (a[1:0]) 0: y = 1; 1: y = 2; 2: y = 4; 3: y = 3; endcase",
    ),
    pair(
        "signs in a case",
        "wire signed [3:0] s = a[3:0]; \
         always @* case (s) -1: y = 1; 3: y = 2; default: y = 0; endcase",
        "wire signed [3:0] s = a[3:0]; \
         always @* case (s) 4'd15: y = 1; -4'sd3: y = 2; default: y = 0; endcase",
    ),
    pair(
        "signed patterns",
        "always @* case (a) -4'sd1: y = 1; 8'd15: y = 2; default: y = 0; endcase",
        "always @* case (a) 8'd255: y = 1; 8'sd3: y = 2; default: y = 0; endcase",
    ),
    pair(
        "a latch of some bits",
        "always @* for (int i = 0; i < 7; i++) y[i] = a[i]; always @* if (go) y[7] = a[7];",
        "always @* for (int i = 0; i < 7; i++) y[i] = a[i]; assign y[7] = go;",
    ),
    pair(
        "a value of before",
        "always @* begin y = y ^ a; end",
        "always @* begin y = a; y = y ^ b; end",
    ),
    pair(
        "one process for a register",
        "always @(posedge clk) y <= a; always @(posedge clk) if (go) y[0] <= 1;",
        "always @(posedge clk) y[7:1] <= a[7:1]; always @(posedge clk) if (go) y[0] <= 1;",
    ),
    pair(
        "one process for a memory",
        "logic [7:0] m [0:3]; always @(posedge clk) if (go) m[a[1:0]] <= b; \
         always @(posedge clk) if (rst) m[0] <= 0; assign y = m[b[1:0]];",
        "logic [7:0] m [0:3]; always @(posedge clk) begin if (go) m[a[1:0]] <= b; \
         if (rst) m[0] <= 0; end assign y = m[b[1:0]];",
    ),
    pair(
        "a process and an assignment",
        "logic [7:0] q; always @(posedge clk) q <= a; assign q[0] = go; assign y = q;",
        "logic [7:0] q; always @* q[7:1] = a[7:1]; assign q[0] = go; assign y = q;",
    ),
    pair(
        "generated processes",
        "for (genvar i = 0; i < 8; i++) begin : g always @(posedge clk) y[i / 2] <= a[i]; \
         assign y[7:4] = 0; end",
        "for (genvar i = 0; i < 8; i++) begin : g always @(posedge clk) y[i] <= a[i]; end",
    ),
    pair(
        "a loop variable of two processes",
        "integer i; logic [7:0] q; always @* for (i = 0; i < 8; i = i + 1) q[i] = a[i]; \
         always @(posedge clk) begin y <= q + i[7:0]; i = 3; end",
        "integer i; logic [7:0] q; always @* for (i = 0; i < 8; i = i + 1) q[i] = a[i]; \
         always @(posedge clk) for (i = 0; i < 8; i = i + 1) y[i] <= q[7 - i];",
    ),
    pair(
        "`=` in a clocked process, for another one",
        "logic [7:0] q; always @(posedge clk) q = a; always @(posedge clk) y <= q;",
        "logic [7:0] q; always @(posedge clk) begin q = a; y <= q; end",
    ),
    pair(
        "`=` in a clocked process, for an output",
        "always @(posedge clk) y = a;",
        "logic [7:0] q; always @(posedge clk) begin q = q + a; y <= q; end",
    ),
    pair(
        "`=` in a clocked process, for an instance",
        "logic [7:0] q; always @(posedge clk) q = a; assign y = q;",
        "logic [7:0] q; always @(posedge clk) q <= a; assign y = q;",
    ),
    pair("`<=` without a clock", "always @* y <= a;", "always @* y = a;"),
    pair(
        "the clock as data",
        "always @(posedge clk) y <= {7'd0, clk};",
        "always @(posedge clk) y <= {7'd0, rst};",
    ),
    pair(
        "the clock in an assignment",
        "logic q; always @(posedge clk) q <= go; assign y = {8{clk & q}};",
        "logic q; always @(posedge clk) q <= go; assign y = {8{rst & q}};",
    ),
    with(
        "the clock as data of an instance",
        "module s(input wire i, output wire o); assign o = ~i; endmodule",
        "logic q; always @(posedge clk) q <= go; wire w; s s(clk, w); assign y = {7'd0, w ^ q};",
        "logic q; always @(posedge clk) q <= go; wire w; s s(rst, w); assign y = {7'd0, w ^ q};",
    ),
    pair(
        "a gated clock",
        "wire c = clk & go; always @(posedge c) y <= a;",
        "always @(posedge clk) if (go) y <= a;",
    ),
    with(
        "a gated clock of an instance",
        "module s(input wire c, input wire [7:0] d, output reg [7:0] q); \
         always @(posedge c) q <= d; endmodule",
        "s s(clk & go, a, y);",
        "s s(clk, a, y);",
    ),
    pair(
        "a divided clock",
        "logic c; always @(posedge clk) c <= ~c; always @(posedge c) y <= a;",
        "logic c; always @(posedge clk) c <= ~c; always @(posedge clk) if (c) y <= a;",
    ),
    pair(
        "a delay of a net",
        "wire #2 w = go; assign y = {8{w}};",
        "wire w = go; assign y = {8{w}};",
    ),
    pair("a delay of an assignment", "assign #2 y = a;", "assign y = a;"),
    pair(
        "a delay in an assignment",
        "always @(posedge clk) y <= #1 a;",
        "always @(posedge clk) y <= a;",
    ),
    pair("a delay in a process", "always #5 y = a;", "always @* y = a;"),
    pair(
        "an event in a process",
        "always @(posedge clk) begin @(posedge clk); y <= a; end",
        "always @(posedge clk) begin y <= a; end",
    ),
    pair(
        "a wait in a process",
        "always @(posedge clk) begin wait (go); y <= a; end",
        "always @(posedge clk) begin if (go) y <= a; end",
    ),
    pair(
        "threads",
        "always @(posedge clk) fork y <= a; join",
        "always @(posedge clk) begin y <= a; end",
    ),
    pair(
        "forced values",
        "assign y = a; always @(posedge clk) if (go) force y = b; else release y;",
        "assign y = go ? b : a;",
    ),
    pair(
        "continuous assignments in a process",
        "logic [7:0] q; always @(posedge clk) begin assign q = a; y <= q; end",
        "logic [7:0] q; always @(posedge clk) begin q = a; y <= q; end",
    ),
    pair(
        "loops with an end",
        "always @* begin y = 0; for (int i = 0; i < 32'(a); i++) y = y + b; end",
        "always @* begin y = 0; for (int i = 0; i < 4; i++) if (a == 8'(i)) y = y + b; end",
    ),
];

pub(super) const FUNCTIONS: &[Pair] = &[
    pair(
        "a local variable that is kept",
        "function [7:0] f(input [7:0] x); reg [7:0] k; begin if (x[0]) k = x; f = k; end \
         endfunction assign y = f(a);",
        "function [7:0] f(input [7:0] x); reg [7:0] k; begin k = 0; if (x[0]) k = x; f = k; end \
         endfunction assign y = f(a);",
    ),
    pair(
        "an initial value of a static variable",
        "function [7:0] f(input [7:0] x); int k = 3; k = k + 32'(x); f = k[7:0]; endfunction \
         assign y = f(a);",
        "function automatic [7:0] f(input [7:0] x);\nint k = 3; k = k + 32'(x); return k[7:0]; \
         endfunction assign y = f(a);",
    ),
    pair(
        "an initial value in a process",
        "always @(posedge clk) begin static logic [7:0] t = 0; t = t + a; y <= t; end",
        "always @(posedge clk) begin automatic logic [7:0] t = a; t = t + b; y <= t; end",
    ),
    pair(
        "a result on each path",
        "function [7:0] f(input [7:0] x); case (x[1:0]) 0: f = 1; 1: f = 2; endcase endfunction \
         assign y = f(a);",
        "function [7:0] f(input [7:0] x); case (x[1:0]) 0: f = 1; 1: f = 2; default: f = 3; \
         endcase endfunction assign y = f(a);",
    ),
    pair(
        "returns",
        "function automatic [7:0] f(input [7:0] x); if (x[0]) return 8'd3; endfunction \
         assign y = f(a);",
        "function automatic [7:0] f(input [7:0] x); if (x[0]) return 8'd3; return x; endfunction \
         assign y = f(a);",
    ),
    pair(
        "a variable outside",
        "logic [7:0] q; task t; input [7:0] x; q = x; endtask always @* begin t(a); y = q; end",
        "logic [7:0] q; task t; input [7:0] x; output [7:0] r; r = x; endtask \
         always @* begin t(a, q); y = q; end",
    ),
    pair(
        "only functions that are called",
        "function [7:0] f(input [7:0] x); integer i; begin f = 0; \
         for (i = 0; i < x; i = i + 1) f = f + 1; end endfunction assign y = f(a);",
        "function [7:0] f(input [7:0] x); integer i; begin f = 0; \
         for (i = 0; i < x; i = i + 1) f = f + 1; end endfunction localparam N = f(5); \
         assign y = N;",
    ),
    pair(
        "a local variable of a block",
        "always @(posedge clk) begin : k reg [7:0] q; y <= q; q = a; end",
        "always @(posedge clk) begin : k reg [7:0] q; q = a; y <= q; end",
    ),
];

pub(super) const START: &[Pair] = &[
    pair(
        "initial values that are not constant",
        "logic [7:0] q; initial q = a; always @(posedge clk) q <= b; assign y = q;",
        "logic [7:0] q = 7; logic [7:0] m [0:3]; initial for (int i = 0; i < 4; i++) m[i] = 8'(i); \
         always @(posedge clk) q <= b; assign y = q ^ m[a[1:0]];",
    ),
    pair(
        "initial values of what is no register",
        "initial y = 1; always @* y = a;",
        "initial y = 1; always @(posedge clk) y <= a;",
    ),
    pair(
        "two initial values",
        "initial y = 1; initial y = 2; always @(posedge clk) y <= a;",
        "initial y[3:0] = 1; initial y[7:4] = 2; always @(posedge clk) y <= a;",
    ),
    pair(
        "initial X",
        "initial y = 'x; always @(posedge clk) y <= a;",
        "initial y = '1; always @(posedge clk) y <= a;",
    ),
    pair(
        "files of memories",
        "logic [7:0] m [0:3]; always @(posedge clk) $readmemh(\"m.hex\", m); assign y = m[a[1:0]];",
        "logic [7:0] m [0:3]; initial $readmemh(\"m.hex\", m); assign y = m[a[1:0]];",
    ),
    pair(
        "an unknown name of a file",
        "logic [7:0] m [0:3]; string s; initial $readmemh(s, m); assign y = m[a[1:0]];",
        "logic [7:0] m [0:3]; localparam S = \"m.hex\"; initial $readmemh(S, m); \
         assign y = m[a[1:0]];",
    ),
    pair(
        "what has an effect",
        "int f; initial f = $fopen(\"x\"); always @(posedge clk) $fwrite(f, \"x\"); assign y = a;",
        "always @(posedge clk) $display(\"%d %t\", a, $time); assign y = a; \
         assert property (@(posedge clk) a == 1 |=> $past(b) == 1); \
         always @* assert (a != 3) else $error(\"x\");",
    ),
    pair(
        "messages that compute",
        "function automatic [7:0] f(input [7:0] x); return x; endfunction \
         always @(posedge clk) $display(\"%d\", f(a)); assign y = a;",
        "always @(posedge clk) if (go) $display(\"%d %m\", a + 8'd1); assign y = a;",
    ),
    pair(
        "large tables",
        "logic [7:0] m [0:4095]; initial for (int i = 0; i < 4097; i++) m[i] = 8'(i); \
         assign y = m[{a, b[3:0]}];",
        "logic [7:0] m [0:4095]; initial for (int i = 0; i < 4096; i++) m[i] = 8'(i * 3); \
         assign y = m[{a, b[3:0]}];",
    ),
    pair(
        "values of assertions",
        "always @(posedge clk) y <= $past(a);",
        "always @(posedge clk) y <= a; always @(posedge clk) assert ($past(a) == y);",
    ),
];
