//! Decides whether a model can run nothing but RTL: no C++ of the RTL's author, no foreign
//! function, no program, no file that it opens to write.
//!
//! The decision is made on Verilator's own tree of the elaborated design, after macros, parameters
//! and `generate`, and by a list of what is allowed. A kind of node that is not listed, such as one
//! of a newer Verilator, makes a design impure. Text would not do: macros can spell `$c` in many
//! ways.

use crate::elaborate::Description;
use crate::tree::{Element, Tree, with_tree};
use crate::{Design, Error, registered};
use std::path::{Path, PathBuf};
use verilated_runtime::Verilator;

/// The kinds of nodes of RTL that only computes. Classes, dynamic arrays and `$fopen` are missing:
/// through `/proc/self/fd`, `$fopen` writes to every pipe of the process.
const ALLOWED: &[&str] = &[
    // Structure.
    "module",
    "package",
    "packageimport",
    "packageexport",
    "packageexportstarstar",
    "iface",
    "modport",
    "modportvarref",
    "modportftaskref",
    "intfref",
    "instance",
    "port",
    "primitive",
    "udptable",
    "udptableline",
    "udptablelineval",
    "var",
    "typedef",
    "typedeffwd",
    "range",
    "pragma",
    "stmtpragma",
    "scopename",
    "comment",
    "sentree",
    "senitem",
    "begin",
    "genblock",
    "func",
    "task",
    "always",
    "alwayspublic",
    "alwaysobserved",
    "alwayspostponed",
    "alwaysreactive",
    "initial",
    "initialautomatic",
    "initialautomaticstmt",
    "initialstatic",
    "initialstaticstmt",
    "final",
    // Types.
    "basicdtype",
    "constdtype",
    "defimplicitdtype",
    "enumdtype",
    "enumitem",
    "enumitemref",
    "ifacerefdtype",
    "memberdtype",
    "packarraydtype",
    "paramtypedtype",
    "refdtype",
    "structdtype",
    "uniondtype",
    "unpackarraydtype",
    "voiddtype",
    // Statements.
    "alias",
    "assign",
    "assignalias",
    "assigncont",
    "assigncompound",
    "assigndly",
    "assignforce",
    "contassign",
    "release",
    "if",
    "case",
    "caseitem",
    "foreach",
    "foreachheader",
    "loop",
    "looptest",
    "repeat",
    "while",
    "break",
    "continue",
    "disable",
    "jumpblock",
    "jumpgo",
    "jumplabel",
    "return",
    "stmtexpr",
    "exprstmt",
    "funcref",
    "taskref",
    "arg",
    "coverdecl",
    "coverinc",
    "coverotherdecl",
    "covertoggle",
    "covertoggledecl",
    "display",
    "elabdisplay",
    "finish",
    "monitoroff",
    "printtimescale",
    "readmem",
    "sformat",
    "sformatarg",
    "sformatf",
    "stop",
    "time",
    "timed",
    "timeformat",
    "timeimport",
    "timeprecision",
    "timeunit",
    "testplusargs",
    "valueplusargs",
    "rand",
    "randrng",
    "urandomrange",
    // Expressions.
    "add",
    "and",
    "arraysel",
    "attrof",
    "bufif1",
    "cast",
    "castsize",
    "castwrap",
    "clog2",
    "concat",
    "cond",
    "condbound",
    "conspackmember",
    "conspackuorstruct",
    "const",
    "countbits",
    "countones",
    "cvtarraytopacked",
    "cvtpackedtoarray",
    "cvtpackstring",
    "div",
    "divs",
    "eq",
    "eqcase",
    "eqwild",
    "extend",
    "extends",
    "gatepin",
    "gt",
    "gte",
    "gtes",
    "gts",
    "initarray",
    "inititem",
    "inside",
    "insiderange",
    "isunbounded",
    "isunknown",
    "logand",
    "logeq",
    "logif",
    "lognot",
    "logor",
    "lt",
    "lte",
    "ltes",
    "lts",
    "moddiv",
    "moddivs",
    "mul",
    "muls",
    "negate",
    "neq",
    "neqcase",
    "neqwild",
    "not",
    "onehot",
    "onehot0",
    "or",
    "postadd",
    "postdec",
    "postinc",
    "postsub",
    "pow",
    "powss",
    "powsu",
    "powus",
    "preadd",
    "predec",
    "preinc",
    "presub",
    "pull",
    "redand",
    "redor",
    "redxor",
    "replicate",
    "sampled",
    "sel",
    "shiftl",
    "shiftlovr",
    "shiftr",
    "shiftrovr",
    "shiftrs",
    "shiftrsovr",
    "signed",
    "slicesel",
    "streaml",
    "streamr",
    "structsel",
    "sub",
    "unbounded",
    "unsigned",
    "varref",
    "varxref",
    "wordsel",
    "xor",
    // Reals.
    "addd",
    "bitstoreald",
    "ceild",
    "divd",
    "eqd",
    "expd",
    "floord",
    "gtd",
    "gted",
    "istord",
    "itord",
    "log10d",
    "logd",
    "ltd",
    "lted",
    "muld",
    "negated",
    "neqd",
    "powd",
    "realtobits",
    "rtoirounds",
    "rtois",
    "sqrtd",
    "subd",
    // Strings.
    "concatn",
    "eqn",
    "getcn",
    "gten",
    "gtn",
    "lenn",
    "lten",
    "ltn",
    "neqn",
    "replicaten",
    "substrn",
    "tolowern",
    "touppern",
];

/// What a function without a statement consists of.
const DECLARATIONS: [&str; 2] = ["var", "scopename"];

impl Design {
    /// Whether the model of this design can run nothing but RTL, and the files of the design that
    /// Verilator read, as it names them. `out` is a folder for Verilator's output. The model may be
    /// that of the registered top, to which RTL can bind what is nowhere in the plain design, so
    /// both are examined.
    ///
    /// # Errors
    /// As [`Design::elaborate`].
    pub(crate) fn is_pure(
        &self,
        verilator: &Verilator,
        out: &Path,
    ) -> Result<(bool, Vec<PathBuf>), Error> {
        let description = self.describe(verilator, out, &self.semantics())?;
        let (is_pure, mut files) = examine(&description).ok_or_else(|| self.not_understood())?;
        files.retain(|file| !file.starts_with(verilator.root()));
        Ok((is_pure && self.is_pure_registered(verilator, out)?, files))
    }

    /// Whether the design is pure in its registered top, if a model may have one.
    fn is_pure_registered(&self, verilator: &Verilator, out: &Path) -> Result<bool, Error> {
        if !self.registered {
            return Ok(true);
        }
        let folder = std::path::absolute(out).map_err(Error::io(out))?;
        let ports = self.described_ports(verilator, &folder.join("ports"))?;
        let registered = registered::registered(self, &ports, &folder)?;
        match registered.describe(verilator, &folder.join("registered"), &registered.semantics()) {
            Ok(description) => Ok(examine(&description).is_some_and(|(is_pure, _)| is_pure)),
            // A model is then that of the plain design.
            Err(Error::Verilate { .. }) => Ok(true),
            Err(other) => Err(other),
        }
    }
}

fn examine(description: &Description) -> Option<(bool, Vec<PathBuf>)> {
    with_tree(description, |tree| {
        let files = tree.files.values().filter(|name| !name.starts_with('<'));
        Some((is_pure(tree), files.map(PathBuf::from).collect()))
    })
}

fn is_pure(tree: &Tree) -> bool {
    // `line` names files as it likes. Verilator writes the names into C++, as literals.
    let is_plain = |name: &String| !name.contains(['"', '\\']) && !name.contains(char::is_control);
    let mut is_pure = tree.rest.is_empty() && tree.files.values().all(is_plain);
    for element in tree.modules.iter().chain(&tree.types) {
        element.each(&mut |element| is_pure &= is_allowed(element));
    }
    is_pure
}

/// Whether a node is of RTL that only computes. A function without a statement may be imported from
/// C: the XML does not say which are, and their bodies are never there.
fn is_allowed(element: &Element) -> bool {
    let is_declared = |child: &Element| DECLARATIONS.contains(&child.kind.as_str());
    match element.kind.as_str() {
        "func" | "task" => !element.children.iter().all(is_declared),
        "readmem" => has_constant_name(element),
        kind => ALLOWED.contains(&kind),
    }
}

/// Whether a memory is read from a file of a constant name: one that RTL computes could be that of
/// a pipe of the process. The only variable is then the memory.
fn has_constant_name(readmem: &Element) -> bool {
    let (mut variables, mut is_constant) = (0, true);
    for child in &readmem.children {
        child.each(&mut |element| match element.kind.as_str() {
            "varref" | "varxref" => variables += 1,
            kind => is_constant &= ["const", "cvtpackstring"].contains(&kind),
        });
    }
    is_constant && variables == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// Whether a module with these ports and this text is pure.
    fn pure(before: &str, text: &str, change: impl Fn(&mut Design)) -> bool {
        let folder = TempDir::new().unwrap();
        let ports = "input logic clk, input logic [7:0] a, output logic [7:0] b, output int c";
        let text = format!(
            "{before}\nmodule t #(parameter N = 1) ({ports});\nalways_ff @(posedge clk) b <= a + 8'd1;\n{text}\nendmodule\n"
        );
        fs::write(folder.path().join("t.sv"), text).unwrap();
        let mut design = Design {
            top: "t".to_owned(),
            sources: vec!["t.sv".into()],
            folder: Some(folder.path().to_owned()),
            ..Design::default()
        };
        change(&mut design);
        let verilator = Verilator::find().unwrap();
        let (is_pure, files) = design.is_pure(&verilator, &folder.path().join("out")).unwrap();
        assert!(files.contains(&PathBuf::from("t.sv")), "{files:?}");
        is_pure
    }

    #[test]
    fn rtl_that_only_computes_is_pure() {
        for text in [
            "",
            "always_comb begin c = 0; for (int i = 0; i < 8; i++) if (a[i]) c += 32'd1 << i; end",
            "function automatic int f(int x); return x * 3; endfunction\nassign c = f(int'(a));",
            "typedef enum logic [1:0] {A, B, C} e;\ntypedef struct packed {e x; logic [5:0] y;} s;\n\
             s p; assign p = s'(a); assign c = p.x == B ? 32'(p.y) : '1;",
            "logic [31:0] m [0:15]; always_ff @(posedge clk) m[a[3:0]] <= m[~a[3:0]] ^ 32'(a);\nassign c = m[1];",
            "assign c = $clog2(N) + int'($signed(a) >>> 1);",
            "initial $display(\"$c(1) DPI-C %d\", a);\nassign c = $random;",
            "string s = \"`systemc_header\"; initial $write(\"%s\", s);\nassign c = 0;",
            "// $c(\"x();\"); import \"DPI-C\"\nassign c = 0;",
        ] {
            assert!(pure("", text, |_| {}), "{text}");
        }
    }

    /// However it is spelled, and whatever it depends on.
    #[test]
    fn rtl_that_can_run_other_code_is_not_pure() {
        for (before, text) in [
            ("", "always @(posedge clk) $c(\"x();\");"),
            ("", "assign c = $c32(\"x()\");"),
            ("`define C c", "always @(posedge clk) $`C(\"x();\");"),
            ("`define J(a, b) a``b", "always @(posedge clk) `J($, c)(\"x();\");"),
            ("import \"DPI-C\" function int getpid();", "assign c = getpid();"),
            ("import \"DPI-C\" context task sync();", "always @(posedge clk) sync();"),
            ("import \"DPI-C\" pure function int f(input int x);", "assign c = f(2);"),
            ("", "import \"DPI-C\" g = function void h();\ninitial h();"),
            ("", "`systemc_header\nint x;\n`verilog"),
            ("", "`systemc_ctor\nx();\n`verilog"),
            ("", "`systemc_implementation\nint x;\n`verilog"),
            ("", "initial $system(\"id\");"),
            ("", "assign c = $system(\"id\");"),
            ("", "int f; initial f = $fopen(\"/proc/self/fd/4\", \"w\");"),
            ("", "int f; initial f = $fopen(\"/proc/self/fd/4\");"),
            ("", "logic [7:0] m [0:3]; initial $writememh(\"/proc/self/fd/4\", m);"),
            ("", "initial $dumpfile(\"/proc/self/fd/4\");"),
        ] {
            assert!(!pure(before, text, |_| {}), "{before} {text}");
        }
    }

    #[test]
    fn memories_are_read_from_files_of_constant_names() {
        let memory = "logic [7:0] m [0:3];";
        let read = |name: &str| format!("{memory} initial $readmemh({name}, m);");
        assert!(pure("", &read("\"m.hex\""), |_| {}));
        assert!(pure("", &format!("localparam FILE = \"m.hex\"; {}", read("FILE")), |_| {}));
        let computed =
            "string f; initial begin f = {\"/proc/self/fd/\", \"3\"}; $readmemh(f, m); end";
        assert!(!pure("", &format!("{memory} {computed}"), |_| {}));
        assert!(!pure("", &read("$sformatf(\"/proc/self/fd/%0d\", a)"), |_| {}));
    }

    /// RTL binds to the top that cosim generates, and gives Verilator a module of that name for the
    /// plain design.
    #[test]
    fn what_is_bound_to_the_registered_top_counts() {
        let bound = "module cosim_registered; endmodule\nmodule evil; initial $c(\"x();\"); endmodule\n\
                     bind cosim_registered evil evil_i();";
        assert!(pure(bound, "", |_| {}), "the plain design has it nowhere");
        assert!(!pure(bound, "", |design| design.registered = true));
        assert!(pure("", "", |design| design.registered = true));
    }

    #[test]
    fn parameters_macros_and_assertions_are_those_of_the_model() {
        let generated = "generate if (N == 5) begin initial $c(\"x();\"); end endgenerate";
        let with_n = |value: &str| {
            let value = value.to_owned();
            move |design: &mut Design| design.parameters = vec![("N".to_owned(), value.clone())]
        };
        assert!(pure("", generated, |_| {}));
        assert!(pure("", generated, with_n("4")));
        assert!(!pure("", generated, with_n("5")));
        let called = "initial $display(\"x\");\n`ifdef CC initial `CC(\"x();\");\n`endif";
        assert!(pure("", called, |_| {}));
        assert!(!pure("", called, |design| design.defines = vec!["CC=$c".to_owned()]));
        let asserted = "assert property (@(posedge clk) a != 3) else $c(\"x();\");";
        assert!(pure("", asserted, |_| {}), "it is not compiled");
        assert!(!pure("", asserted, |design| design.assertions = true));
    }

    /// RTL names files as it likes with `line`. Some Verilators drop such a name themselves.
    #[test]
    fn a_design_with_a_file_that_is_no_c_literal_is_not_pure() {
        for (name, expected) in [("x", true), ("x\\", false), ("x\"", false), ("x\n", false)] {
            let meta = serde_json::json!({"files": {"a": {"filename": name}}}).to_string();
            let tree = r#"{"modulesp":[],"miscsp":[]}"#.to_owned();
            let (is_pure, _) = examine(&Description::Json { tree, meta }).unwrap();
            assert_eq!(is_pure, expected, "{name:?}");
        }
    }

    /// The shape of newer Verilators, which name the nodes of C otherwise.
    #[test]
    fn a_json_tree_is_read_by_the_same_list() {
        let tree = |statement: &str, misc: &str| {
            let tree = format!(
                r#"{{"type":"NETLIST","modulesp":[{{"type":"MODULE","name":"t","addr":"(E)","loc":"e,1:1,1:2",
                "stmtsp":[{{"type":"ALWAYS","stmtsp":[{statement}]}}]}}],
                "miscsp":[{{"type":"TYPETABLE","typesp":[{{"type":"BASICDTYPE","name":"logic"}}]}},{{"type":"CONSTPOOL"}}{misc}]}}"#
            );
            let meta = r#"{"files":{"a":{"filename":"<built-in>"},"e":{"filename":"t.sv"}}}"#;
            examine(&Description::Json { tree, meta: meta.to_owned() }).unwrap()
        };
        let add = r#"{"type":"ASSIGNDLY","rhsp":[{"type":"ADD"}],"lhsp":[{"type":"VARREF"}]}"#;
        assert_eq!(tree(add, ""), (true, vec!["t.sv".into()]));
        for other in ["CSTMTUSER", "CEXPRUSER", "CEXPR", "TEXT", "SYSTEMCSECTION", "NEVERSEEN"] {
            assert!(!tree(&format!(r#"{{"type":"{other}"}}"#), "").0, "{other}");
        }
        let import = r#"{"type":"FUNC","dpiImport":true,"fvarp":[{"type":"VAR"}],"stmtsp":[{"type":"VAR"}]}"#;
        assert!(!tree(import, "").0);
        assert!(!tree(add, r#",{"type":"CFILE"}"#).0);
    }
}
