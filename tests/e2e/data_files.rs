//! Files that RTL opens at run time, or includes from folders beside its own, are part of the RTL
//! for every command. They stay inside copies, and none of the ports vanishes.

use crate::common::{Place, assert_code, assert_contains, source, vector_of};
use crate::export::icarus;

/// RTL of block `qp` that inverts an output if its table says so. A parameter names the table.
fn with_table(table: &str) -> Place {
    let good = "assign msg_ack      = msg_taken && msg_reliable && !msg_naked;";
    let from_table = "localparam TABLE = \"flip.hex\";\n  reg flip [0:0];\n  initial $readmemh(TABLE, flip);\n  \
                      assign msg_ack = (msg_taken && msg_reliable && !msg_naked) ^ flip[0];";
    let place = Place::with_change("QpStateCtrl.sv", good, from_table);
    place.write("rtl/flip.hex", table);
    place
}

/// A short run. Icarus compiles fast; `new` tests a table with Verilator.
const SHORT: &str = "run --block qp --scenario default --cases 2 --packets 20 --no-shrink \
                     --no-waves --simulator icarus --rtl";

#[test]
fn a_table_is_part_of_the_rtl() {
    let place = with_table("0\n");
    let identity = |run: &str| place.results(run)["run"]["rtl"].clone();
    place.exits(0, &format!("{SHORT} rtl --out green"));
    // The table is among the files.
    assert!(place.text("green/results.json").contains("rtl/flip.hex"));
    place.exits(0, &format!("{SHORT} rtl --shard 1/2 --out one"));

    place.write("rtl/flip.hex", "1\n");
    place.exits(1, &format!("{SHORT} rtl --out red"));
    assert_ne!(identity("green"), identity("red"));
    // The hashed table is the one that is read, whatever is in a worker's working directory.
    let mut inside = place.command(&format!("{SHORT} . --out ../inside"));
    assert_code(&inside.current_dir(place.path("rtl")).output().unwrap(), 1);
    assert_eq!(identity("red"), identity("inside"));
    place.exits(1, &format!("{SHORT} rtl --shard 2/2 --out two"));
    place.exits(2, "merge one two --out both");

    let vector = &place.vectors("red")[0];
    let replay = format!("replay {vector} --simulator icarus --rtl rtl");
    place.exits(1, &replay);
    place.write("rtl/flip.hex", "0\n");
    place.exits(0, &replay);
    // The run directory has a copy of its table.
    place.exits(0, "replay red --recorded-rtl --expect-recorded");
    place.prints(0, &[", it was "], "replay red --rtl rtl");
    place.exits(0, &format!("export {vector} -o bench --rtl rtl"));
    assert_eq!(place.text("bench/flip.hex"), "0\n");
}

#[test]
fn a_computed_name_is_reported() {
    let from = "assign msg_nak      = msg_naked;";
    let computed = "reg [8*4:1] name;\n  reg flip [0:0];\n  initial begin\n    name = \"flip\";\n    \
                    if (name[1]) $readmemh({name, \".hex\"}, flip);\n  end\n  assign msg_nak = msg_naked;";
    let place = Place::with_change("QpStateCtrl.sv", from, computed);
    place.prints(0, &["warning: ", "QpStateCtrl.sv:208: "], &format!("{SHORT} rtl --out out"));
}

/// A project whose top includes a header of the folder beside its own, and prints odd characters.
#[test]
fn an_include_beside_the_rtl_works_in_copies() {
    let place = Place::new();
    let top = source("rtl/thread2/ReqRecvCore_Thread_2.v");
    let header = "../inc/../inc/ReqRecvCore_Thread_2.vh";
    let top = top.replace("\"ReqRecvCore_Thread_2.vh\"", &format!("\"{header}\""));
    assert!(top.contains(header));
    let (body, _) = top.rsplit_once("endmodule").unwrap();
    let odd = "initial $display(\"\\033[31mred \\001 \u{e9}\");";
    place.write("core/ReqRecvCore_Thread_2.v", &format!("{body}{odd}\nendmodule\n"));
    let header = source("rtl/thread2/ReqRecvCore_Thread_2.vh");
    place.write("inc/ReqRecvCore_Thread_2.vh", &header);
    let words = format!("--fixes spec --rtl core {}", vector_of("thread2"));
    place.exits(0, &format!("export -o bench {words}"));
    assert_eq!(place.text("bench/rtl/inc/ReqRecvCore_Thread_2.vh"), header);
    assert!(place.has_file("bench/rtl/core/ReqRecvCore_Thread_2.v"));
    assert_contains(&place.text("bench/files.f"), &["+incdir+rtl/core\n"]);
    assert_contains(&icarus(&place.path("bench")), &["PASS  "]);
    place.exits(0, &format!("replay --simulator icarus {words}"));
}

#[test]
fn a_new_crate_keeps_the_folders_of_its_rtl() {
    let top = "`include \"../inc/w.vh\"\nmodule a(input clk, input [`W-1:0] d, output reg [`W-1:0] q);\n\
               initial $readmemh(\"t.hex\", m); reg [3:0] m [0:1];\n\
               always @(posedge clk) q <= d ^ m[0]; endmodule\n";
    let texts = [("core/a.v", top), ("inc/w.vh", "`define W 4\n"), ("core/t.hex", "1 2\n")];
    let place = Place::with_files(&texts);
    place.exits(0, "new mine --top a core/a.v");
    for (name, text) in texts {
        assert_eq!(place.text(&format!("mine/rtl/{name}")), text);
    }
    let words = [".folder(\"rtl/core\")", ".source(\"a.v\")"];
    assert_contains(&place.text("mine/build.rs"), &words);
}

/// The RTL lies so deep that its `..` mean a file of its author from there, but a file of the user
/// from every folder in which a tool works on a copy.
#[test]
fn rtl_overwrites_no_file_of_the_user() {
    let place = Place::new();
    place.write("home/profile", "mine\n");
    let victim = place.path("home/profile").display().to_string();
    let deep = format!("checkout/{}", ["d"; 30].join("/"));
    place.write(&format!("checkout{victim}"), "// text of the author\n");
    let from_deep = format!("{}{}", "../".repeat(30), &victim[1..]);
    let top = source("rtl/recv/RecvSideFsm.sv");
    let (body, _) = top.rsplit_once("endmodule").unwrap();
    let table = format!(
        "reg [7:0] table_of_bytes [0:0];\ninitial $readmemh(\"{from_deep}\", table_of_bytes);\n"
    );
    let rtl = format!("`include \"{from_deep}\"\n{body}{table}endmodule\n");
    place.write(&format!("{deep}/RecvSideFsm.sv"), &rtl);
    let [rtl, out] = [&*deep, "run"].map(|name| place.path(name).display().to_string());
    for more in ["", "--simulator icarus"] {
        let mut command = place.command(&format!(
            "run --block recv --fixes repaired --scenario default --cases 1 --no-waves --quiet \
             --force --rtl {rtl} --out {out} {more}"
        ));
        // Data files are searched in the working directory, too.
        assert_code(&command.current_dir(&rtl).output().unwrap(), 0);
        assert_eq!(place.text("home/profile"), "mine\n", "{more:?}");
    }
}

#[test]
fn ports_with_negative_bounds_are_ports() {
    let module = "module fx #(parameter W = 0) (input logic clk, input logic [3:-4] a, input logic c,\n\
                  input logic [-1:-8] e, input logic [-4:3] f, input logic [W-1:0] g,\n\
                  output logic [3:-4] b, output logic d);\n\
                  always_ff @(posedge clk) begin b <= a; d <= ^{c, e, f, g}; end endmodule\n";
    let place = Place::with_files(&[("fx.sv", module)]);
    let words = ["5 inputs and 2 outputs of module fx", "warning: port `g` of fx has a range"];
    place.prints(0, &words, "new fx --top fx fx.sv");
}

/// Icarus connects ports by name and only warns if their widths differ.
#[test]
fn other_ports_are_refused_in_icarus() {
    let place = Place::with_change("QpStateCtrl.sv", " clk", " clk, output wire [1:-1] another");
    let replay = "replay --simulator icarus --fixes spec --rtl rtl";
    place.fails("E0308", "", &format!("{replay} {}", vector_of("qp")));
}
