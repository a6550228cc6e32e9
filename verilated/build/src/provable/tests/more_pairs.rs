//! Pairs of RTL for nets, expressions and references.

use super::pairs::{Pair, pair, with};

pub(super) const NETS: &[Pair] = &[
    pair(
        "several drivers",
        "wire [7:0] w; assign w = a; assign w = b; assign y = w;",
        "wire [7:0] w; assign w[3:0] = a[3:0]; assign w[7:4] = b[3:0]; assign y = w;",
    ),
    pair(
        "constants drive, too",
        "wire [7:0] w; assign w = 3; assign w = b; assign y = w;",
        "wire [7:0] w; assign w = 3; assign y = w ^ b;",
    ),
    with(
        "two instances",
        "module s(input wire i, output wire o); assign o = ~i; endmodule",
        "wire w; s p(go, w); s q(rst, w); assign y = {8{w}};",
        "wire [1:0] w; s p(go, w[0]); s q(rst, w[1]); assign y = {4{w}};",
    ),
    with("an input that is set", "", "assign a = b; assign y = a;", "assign y = a ^ b;"),
    pair("undriven nets", "wire [7:0] w; assign y = w;", "wire [7:0] w; assign y = a;"),
    pair(
        "undriven bits",
        "wire [7:0] w; assign w[6:0] = a[6:0]; assign y = w;",
        "wire [7:0] w; assign w[6:0] = a[6:0]; assign y = {1'b0, w[6:0]};",
    ),
    pair("undriven outputs", "assign y[6:0] = a[6:0];", "assign y = {1'b0, a[6:0]};"),
    pair(
        "undriven words",
        "logic [7:0] m [0:3]; always @(posedge clk) begin m[0] <= a; m[1] <= b; m[3] <= 0; end \
         assign y = m[a[1:0]];",
        "logic [7:0] m [0:3]; always @(posedge clk) begin m[0] <= a; m[1] <= b; m[3] <= 0; end \
         assign y = m[1] ^ m[3];",
    ),
    with(
        "open inputs",
        "module s(input wire i, input wire j, output wire o); assign o = ~i; endmodule",
        "s s(.i(), .j(go), .o(y[0])); assign y[7:1] = 0;",
        "s s(.i(go), .j(), .o(y[0])); assign y[7:1] = 0;",
    ),
    with(
        "widths of ports",
        "module s(input wire [7:0] i, output wire [7:0] o); assign o = ~i; endmodule",
        "wire [8:0] w; s s(a, w); assign y = w[7:0];",
        "wire [7:0] w; s s(a, w); assign y = w;",
    ),
    pair("tri-state", "assign y = go ? a : 8'bz;", "assign y = go ? a : 8'd0;"),
    pair("tri0", "tri0 [7:0] w; assign y = w;", "tri [7:0] w; assign w = a; assign y = w;"),
    pair("supplies", "supply1 w; assign y = {8{w}};", "wire w = 1; assign y = {8{w}};"),
    pair("strengths", "assign (strong0, weak1) y = a;", "assign y = a;"),
    pair(
        "switches",
        "bufif1 (y[0], go, rst); assign y[7:1] = 0;",
        "and (y[0], go, rst); assign y[7:1] = 0;",
    ),
    pair(
        "pull-ups",
        "wire w; pullup (w); assign y = {8{w}};",
        "wire w; buf (w, go); assign y = {8{w}};",
    ),
    with(
        "arrays of instances",
        "module s(input wire i, output wire o); assign o = ~i; endmodule",
        "s s [7:0] (a, y);",
        "for (genvar i = 0; i < 8; i++) s s(a[i], y[i]);",
    ),
    with(
        "inout",
        "module s(inout wire t, input wire i); assign t = i; endmodule\n\
         module r(output wire t, input wire i); assign t = i; endmodule",
        "wire w; s s(w, go); assign y = {8{w}};",
        "wire w; r r(w, go); assign y = {8{w}};",
    ),
    with(
        "user-defined primitives",
        "primitive p(o, i); output o; input i; table 0 : 1; 1 : 0; endtable endprimitive\n\
         module s(output wire o, input wire i); assign o = ~i; endmodule",
        "p p(y[0], go); assign y[7:1] = 0;",
        "s s(y[0], go); assign y[7:1] = 0;",
    ),
];

pub(super) const EXPRESSIONS: &[Pair] = &[
    pair("X", "assign y = go ? a : 8'hx;", "assign y = go ? a : 8'h0;"),
    pair("X of some bits", "assign y = go ? a : 8'b0000_00x0;", "assign y = go ? a : 8'b10;"),
    pair("comparison with X", "assign y = {8{a === 8'hx}};", "assign y = {8{a === 8'h3}};"),
    pair(
        "wildcards that vary",
        "assign y = {8{a ==? b}};",
        "assign y = {8{a ==? 8'b1?0x_0000}} | {8{a !=? 8'b1?}};",
    ),
    pair(
        "sets",
        "assign y = {8{a inside {b, 3}}};",
        "assign y = {8{a inside {8'd1, 8'd3, [8'd7:8'd9], 8'b1?}}};",
    ),
    pair(
        "Z in a case",
        "always @* case (a) 8'bz1: y = 1; default: y = 0; endcase",
        "always @* casez (a) 8'b1???_???1: y = 1; default: y = 0; endcase",
    ),
    pair(
        "X in a casez",
        "always @* casez (a) 8'bx1: y = 1; default: y = 0; endcase",
        "always @* casex (a) 8'bx1: y = 1; default: y = 0; endcase",
    ),
    pair(
        "patterns that vary",
        "always @* casez (a) 8'bx1: y = 1; b: y = 0; endcase",
        "always @* case (1'b1) a[0]: y = 1; b[0]: y = 2; default: y = 0; endcase",
    ),
    pair("divisors", "assign y = a / b;", "assign y = a / 8'd5;"),
    pair("remainders", "assign y = a % b;", "assign y = a % 8'd5;"),
    pair("powers", "assign y = a ** b;", "localparam N = 2 ** 3; assign y = a & N[7:0];"),
    pair(
        "words of a memory",
        "logic [7:0] m [0:4]; always @(posedge clk) m[3] <= a; assign y = m[b[2:0]];",
        "logic [7:0] m [0:7]; always @(posedge clk) m[b[5:3]] <= a; assign y = m[b[2:0]];",
    ),
    pair(
        "words that are written",
        "logic [7:0] m [0:4]; always @(posedge clk) m[b[2:0]] <= a; assign y = m[3];",
        "logic [7:0] m [0:4]; always @(posedge clk) m[b % 5] <= a; assign y = m[3];",
    ),
    pair(
        "guarded words",
        "logic [7:0] m [0:4]; always @(posedge clk) if (b[2:0] <= 5) m[b[2:0]] <= a; \
         assign y = m[3];",
        "logic [7:0] m [0:4]; always @(posedge clk) if (b[2:0] < 5 && go) m[b[2:0]] <= a; \
         assign y = a[2:0] >= 5 ? 0 : m[a[2:0]];",
    ),
    pair(
        "guards that have gone",
        "logic [7:0] m [0:4]; logic [2:0] i; always @* begin i = b[2:0]; y = 0; \
         if (i < 5) begin i = a[2:0]; y = m[i]; end end always @(posedge clk) m[b % 5] <= a;",
        "logic [7:0] m [0:4]; logic [2:0] i; always @* begin i = b[2:0]; y = 0; \
         if (i < 5) begin y = m[i]; end end always @(posedge clk) m[b % 5] <= a;",
    ),
    pair("indices that are cut", "assign y = {8{a[b]}};", "assign y = {8{a[b[2:0]]}};"),
    pair(
        "sums that are cut",
        "logic [7:0] m [0:7]; always @(posedge clk) m[b[2:0] + 1] <= a; assign y = m[a[2:0]];",
        "logic [7:0] m [0:7]; always @(posedge clk) m[b[2:0] + 3'd1] <= a; assign y = m[a[2:0]];",
    ),
    pair(
        "casts of indices",
        "logic [7:0] m [0:7]; always @(posedge clk) m[ b ] <= a; assign y = m[4'(a)];",
        "localparam W = 3; logic [7:0] m [0:7]; always @(posedge clk) m[W'(b)] <= a; \
         assign y = m[3'(a)];",
    ),
    pair(
        "joined indices",
        "logic [7:0] m [0:7]; always @(posedge clk) m[{a, b[2:0]}] <= a; assign y = m[{a, 3'd2}];",
        "logic [7:0] m [0:7]; always @(posedge clk) m[{a[0], b[1:0]}] <= a; \
         assign y = m[{1'b0, b[1:0]}];",
    ),
    pair(
        "sums of joined indices",
        "logic [7:0] m [0:7]; always @(posedge clk) m[a[2:0]] <= a; \
         assign y = m[{a, b[2:0]} + {b, a[2:0]}];",
        "`define I b[2:0]\nlogic [7:0] m [0:7]; always @(posedge clk) m[a[2:0]] <= a; \
         /* [{ */ assign y = m[`I] ^ m[3'(a)] ^ {7'd0, a[3]};",
    ),
    pair(
        "operands that are cut off",
        "logic [7:0] m [0:7]; always @(posedge clk) m[b[2:0] | 8] <= a; assign y = m[a[2:0]];",
        "logic [7:0] m [0:7]; always @(posedge clk) m[b[2:0] | 3'd2] <= a; assign y = m[a[2:0]];",
    ),
    pair(
        "sums whose operands are cut off",
        "logic [7:0] m [0:7]; always @(posedge clk) m[7] <= a; always @* begin y = 0; \
         if (a < 3) y = m[a + 8]; end",
        "logic [7:0] m [0:7]; always @(posedge clk) m[b[2:0]] <= a; always @* begin y = 0; \
         if (a < 3) y = m[a]; end",
    ),
    pair(
        "words whose number is cut to a constant",
        "logic [7:0] m [0:7]; always @(posedge clk) m[a[2:0]] <= a; assign y = m[(b << 3) | 2];",
        "localparam N = 7; logic [7:0] m [0:7]; always @(posedge clk) m[a[2:0]] <= a; \
         assign y = m[N - 1];",
    ),
    pair(
        "indices of macros",
        "`define I {a, b[2:0]}\nlogic [7:0] m [0:7]; always @(posedge clk) m[a[2:0]] <= a; \
         assign y = m[`I];",
        "`define I {a[2], b[1:0]}\nlogic [7:0] m [0:7]; always @(posedge clk) m[a[2:0]] <= a; \
         assign y = m[`I];",
    ),
    pair(
        "shifted indices",
        "assign y = {8{a[b >> 4]}};",
        "assign y = {8{a[b >> 5]}} ^ {8{a[b / 32]}};",
    ),
    pair(
        "parts",
        "assign y = {4'd0, a[b[2:0] +: 4]};",
        "assign y = {4'd0, a[b[1:0] +: 4]} ^ {a[{b[0], 2'b0} +: 4], 4'd0};",
    ),
    pair(
        "parts downwards",
        "assign y = {6'd0, a[b[2:0] -: 2]};",
        "assign y = {6'd0, a[{b[1:0], 1'b1} +: 1], go};",
    ),
    pair(
        "several dimensions",
        "logic [3:0] m [0:2][0:3]; always @(posedge clk) m[a[1:0]][b[1:0]] <= a[3:0]; \
         assign y = {4'd0, m[2][b[1:0]]};",
        "logic [3:0] m [0:1][0:3]; always @(posedge clk) m[a[0]][b[1:0]] <= a[3:0]; \
         assign y = {4'd0, m[1][b[1:0]]};",
    ),
    pair(
        "packed arrays",
        "logic [2:0][7:0] p; assign p = {a, b, a}; assign y = p[a[1:0]];",
        "logic [3:0][7:0] p; assign p = {a, b, a, b}; logic [3:0][4:0] q; \
         assign q = {a, b, a[3:0]}; assign y = p[a[1:0]] ^ 8'(q[b[1:0]]);",
    ),
    pair(
        "constant indices",
        "logic [7:0] m [0:3]; always @(posedge clk) m[b[1:0]] <= a; assign y = m[4];",
        "logic [7:0] m [0:3]; always @(posedge clk) m[b[1:0]] <= a; assign y = m[3];",
    ),
    pair(
        "indices in loops",
        "always @* for (int i = 0; i < 8; i++) y[i] = a[i + 1];",
        "always @* for (int i = 0; i < 8; i++) y[i] = i < 7 ? a[i + 1] : a[7 - i];",
    ),
    pair(
        "shift registers of words",
        "logic [7:0] m [0:3]; always @(posedge clk) begin m[0] <= a; \
         for (int i = 0; i < 4; i++) m[i + 1] <= m[i]; end assign y = m[3];",
        "logic [7:0] m [0:3]; always @(posedge clk) begin m[0] <= a; \
         for (int i = 0; i < 3; i++) m[i + 1] <= m[i]; end assign y = m[3];",
    ),
    pair("reals", "real r; always @* r = 0.5 * a; assign y = 8'(int'(r));", "assign y = a >> 1;"),
    pair(
        "strings",
        "string s; always @(posedge clk) s = \"a\"; assign y = 8'(s.len());",
        "assign y = \"a\";",
    ),
    pair(
        "queues",
        "logic [7:0] q [$]; always @(posedge clk) q.push_back(a); assign y = b;",
        "logic [7:0] q [0:1]; always @(posedge clk) q[0] <= a; assign y = b;",
    ),
    pair("time", "assign y = 8'($time);", "assign y = 8'($clog2(77));"),
    pair(
        "random numbers",
        "assign y = 8'($random);",
        "assign y = 8'($countones(a)) ^ 8'($onehot(b)) ^ 8'($onehot0(b));",
    ),
    pair(
        "plusargs",
        "assign y = {8{1'($test$plusargs(\"x\"))}};",
        "assign y = $unsigned($signed(a) >>> 1);",
    ),
];

pub(super) const SCOPE: &[Pair] = &[
    with(
        "references down",
        "module s(input wire c, input wire d); logic q; always @(posedge c) q <= d; endmodule",
        "s s(clk, go); assign y = {8{s.q}};",
        "for (genvar i = 0; i < 8; i++) begin : g wire q = a[i]; end assign y = {8{g[3].q}};",
    ),
    with(
        "references up",
        "module s(input wire c, output reg q); always @(posedge c) q <= t.k; endmodule\n\
         module r(input wire c, output reg q, input wire k); always @(posedge c) q <= k; endmodule",
        "wire k = go; s s(clk, y[0]); assign y[7:1] = 0;",
        "wire k = go; r r(clk, y[0], k); assign y[7:1] = 0;",
    ),
    with(
        "functions of packages",
        "package p; logic [7:0] v; function automatic [7:0] f(input [7:0] x); return x ^ v; \
         endfunction function automatic [7:0] g(input [7:0] x); return x ^ 8'd3; endfunction \
         endpackage",
        "assign y = p::f(a);",
        "assign y = p::g(a);",
    ),
    with(
        "variables of packages",
        "package p; logic [7:0] v; localparam N = 3; endpackage",
        "assign y = p::v;",
        "assign y = p::N;",
    ),
    with(
        "interfaces",
        "interface i; logic [7:0] v; endinterface",
        "i i(); assign i.v = a; assign y = i.v;",
        "wire [7:0] v; assign v = a; assign y = v;",
    ),
    pair(
        "classes",
        "class c; int v; endclass c k; initial k = new; assign y = a;",
        "typedef struct packed {logic [3:0] h; logic [3:0] l;} s; s k; assign k = a; \
         assign y = {k.l, k.h};",
    ),
];
