//! RTL of others: its names of files stay inside copies, and none of its ports vanishes.

use crate::common::{Place, assert_code, project, vector_of};
use crate::export::icarus;

fn built_in(name: &str) -> String {
    std::fs::read_to_string(project().join("rtl").join(name)).unwrap()
}

/// A project whose top includes a header of the folder beside its own, and prints odd characters.
#[test]
fn an_include_beside_the_rtl_works_in_copies() {
    let place = Place::new();
    let top = built_in("thread2/ReqRecvCore_Thread_2.v");
    let header = "../inc/../inc/ReqRecvCore_Thread_2.vh";
    let top = top.replace("\"ReqRecvCore_Thread_2.vh\"", &format!("\"{header}\""));
    assert!(top.contains(header));
    let (body, _) = top.rsplit_once("endmodule").unwrap();
    let odd = "initial $display(\"\\033[31mred \\001 \u{e9}\");";
    place.write("core/ReqRecvCore_Thread_2.v", &format!("{body}{odd}\nendmodule\n"));
    let header = built_in("thread2/ReqRecvCore_Thread_2.vh");
    place.write("inc/ReqRecvCore_Thread_2.vh", &header);
    let words = format!("--fixes spec --rtl core {}", vector_of("thread2"));
    place.exits(0, &format!("export -o bench {words}"));
    assert_eq!(place.text("bench/rtl/inc/ReqRecvCore_Thread_2.vh"), header);
    assert!(place.has("bench/rtl/core/ReqRecvCore_Thread_2.v"));
    assert!(place.text("bench/files.f").contains("+incdir+rtl/core\n"));
    let printed = icarus(&place.path("bench"));
    assert!(printed.contains("PASS  "), "{printed}");
    place.exits(0, &format!("replay --simulator icarus {words}"));
}

#[test]
fn a_new_crate_keeps_the_folders_of_its_rtl() {
    let place = Place::new();
    let top = "`include \"../inc/w.vh\"\nmodule a(input clk, input [`W-1:0] d, output reg [`W-1:0] q);\n\
               initial $readmemh(\"t.hex\", m); reg [3:0] m [0:1];\n\
               always @(posedge clk) q <= d ^ m[0]; endmodule\n";
    let texts = [("core/a.v", top), ("inc/w.vh", "`define W 4\n"), ("core/t.hex", "1 2\n")];
    for (name, text) in texts {
        place.write(name, text);
    }
    place.exits(0, "new mine --top a core/a.v");
    for (name, text) in texts {
        assert_eq!(place.text(&format!("mine/rtl/{name}")), text);
    }
    let build = place.text("mine/build.rs");
    for words in [".folder(\"rtl/core\")", ".source(\"a.v\")"] {
        assert!(build.contains(words), "{build}");
    }
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
    let top = built_in("recv/RecvSideFsm.sv");
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
    let place = Place::new();
    let module = "module fx #(parameter W = 0) (input logic clk, input logic [3:-4] a, input logic c,\n\
                  input logic [-1:-8] e, input logic [-4:3] f, input logic [W-1:0] g,\n\
                  output logic [3:-4] b, output logic d);\n\
                  always_ff @(posedge clk) begin b <= a; d <= ^{c, e, f, g}; end endmodule\n";
    place.write("fx.sv", module);
    place.prints(0, &["5 inputs and 2 outputs of module fx"], "new fx --top fx fx.sv");
}

/// Icarus connects ports by name and only warns if their widths differ.
#[test]
fn other_ports_are_refused_in_icarus() {
    let place = Place::with_change("QpStateCtrl.sv", " clk", " clk, output wire [1:-1] another");
    let replay = "replay --simulator icarus --fixes spec --rtl rtl";
    place.fails("E0308", "", &format!("{replay} {}", vector_of("qp")));
}
