//! RTL of others: its names of files stay inside copies, and none of its ports vanishes.

use crate::common::{assert_code, assert_error, code, files, project, run, run_in, text};
use crate::export::icarus;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn built_in(name: &str) -> String {
    read(&project().join("rtl").join(name))
}

/// The first vector of a block.
fn vector(block: &str) -> String {
    files(&project().join("vectors").join(block), "json")[0].display().to_string()
}

/// A project whose top includes a header of the folder beside its own, and prints odd characters.
fn neighbours(folder: &Path) -> PathBuf {
    let top = built_in("thread2/ReqRecvCore_Thread_2.v");
    let header = "../inc/../inc/ReqRecvCore_Thread_2.vh";
    let top = top.replace("\"ReqRecvCore_Thread_2.vh\"", &format!("\"{header}\""));
    assert!(top.contains(header));
    let (body, _) = top.rsplit_once("endmodule").unwrap();
    let odd = "initial $display(\"\\033[31mred \\001 \u{e9}\");";
    let rtl = folder.join("core");
    write(&rtl.join("ReqRecvCore_Thread_2.v"), &format!("{body}{odd}\nendmodule\n"));
    let header = built_in("thread2/ReqRecvCore_Thread_2.vh");
    write(&folder.join("inc/ReqRecvCore_Thread_2.vh"), &header);
    rtl
}

#[test]
fn an_include_beside_the_rtl_works_in_copies() {
    let folder = TempDir::new().unwrap();
    let rtl = neighbours(folder.path());
    let rtl = rtl.to_str().unwrap();
    let out = folder.path().join("bench");
    let out_text = out.to_str().unwrap();
    let vector = vector("thread2");
    assert_code(&run(["export", &vector, "--fixes", "spec", "--rtl", rtl, "-o", out_text]), 0);
    let header = out.join("rtl/inc/ReqRecvCore_Thread_2.vh");
    assert_eq!(read(&header), built_in("thread2/ReqRecvCore_Thread_2.vh"));
    assert!(out.join("rtl/core/ReqRecvCore_Thread_2.v").is_file());
    assert!(read(&out.join("files.f")).contains("+incdir+rtl/core\n"));
    let printed = icarus(&out);
    assert!(printed.contains("PASS  "), "{printed}");
    let options = ["replay", "--simulator", "icarus", "--fixes", "spec", "--rtl", rtl, &vector];
    assert_code(&run(options), 0);
}

#[test]
fn a_new_crate_keeps_the_folders_of_its_rtl() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(&at("inc/w.vh"), "`define W 4\n");
    let top = "`include \"../inc/w.vh\"\nmodule a(input clk, input [`W-1:0] d, output reg [`W-1:0] q);\n\
               initial $readmemh(\"t.hex\", m); reg [3:0] m [0:1];\n\
               always @(posedge clk) q <= d ^ m[0]; endmodule\n";
    write(&at("core/a.v"), top);
    write(&at("core/t.hex"), "1 2\n");
    assert_code(&run_in(folder.path(), &["new", "mine", "--top", "a", "core/a.v"]), 0);
    for (name, expected) in
        [("core/a.v", top), ("inc/w.vh", "`define W 4\n"), ("core/t.hex", "1 2\n")]
    {
        assert_eq!(read(&at("mine/rtl").join(name)), expected);
    }
    let build = read(&at("mine/build.rs"));
    assert!(
        build.contains(".folder(\"rtl/core\")") && build.contains(".source(\"a.v\")"),
        "{build}"
    );
}

/// The RTL lies so deep that its `..` mean a file of its author from there, but a file of the user
/// from every folder in which a tool works on a copy.
#[test]
fn rtl_overwrites_no_file_of_the_user() {
    let folder = TempDir::new().unwrap();
    let victim = folder.path().join("home/profile");
    write(&victim, "mine\n");
    let base = folder.path().join("checkout");
    let deep = base.join(["d"; 30].join("/"));
    let rest = &victim.to_str().unwrap()[1..];
    write(&base.join(rest), "// text of the author\n");
    let include = format!("`include \"{}{rest}\"\n", "../".repeat(30));
    let data = format!("{}{rest}", "../".repeat(30));
    let top = built_in("recv/RecvSideFsm.sv");
    let (body, _) = top.rsplit_once("endmodule").unwrap();
    let table = format!(
        "reg [7:0] table_of_bytes [0:0];\ninitial $readmemh(\"{data}\", table_of_bytes);\n"
    );
    write(&deep.join("RecvSideFsm.sv"), &format!("{include}{body}{table}endmodule\n"));
    let (rtl, out) = (deep.to_str().unwrap(), folder.path().join("run"));
    let arguments =
        ["--block", "recv", "--fixes", "repaired", "--scenario", "default", "--cases", "1"];
    let last = ["--no-waves", "--quiet", "--force", "--rtl", rtl, "--out", out.to_str().unwrap()];
    for more in [&[][..], &["--simulator", "icarus"]] {
        // Data files are searched in the working directory, too.
        let output = run_in(&deep, &[&["run"][..], &arguments, &last, more].concat());
        assert_eq!(code(&output), 0, "{more:?}: {}", text(&output));
        assert_eq!(read(&victim), "mine\n", "{more:?}");
    }
}

#[test]
fn ports_with_negative_bounds_are_ports() {
    let folder = TempDir::new().unwrap();
    let module = "module fx #(parameter W = 0) (input logic clk, input logic [3:-4] a, input logic c,\n\
                  input logic [-1:-8] e, input logic [-4:3] f, input logic [W-1:0] g,\n\
                  output logic [3:-4] b, output logic d);\n\
                  always_ff @(posedge clk) begin b <= a; d <= ^{c, e, f, g}; end endmodule\n";
    write(&folder.path().join("fx.sv"), module);
    let output = run_in(folder.path(), &["new", "fx", "--top", "fx", "fx.sv"]);
    assert_code(&output, 0);
    let printed = text(&output);
    assert!(printed.contains("5 inputs and 2 outputs of module fx"), "{printed}");
}

/// Icarus connects ports by name and only warns if their widths differ.
#[test]
fn other_ports_are_refused_in_icarus() {
    let vector = vector("qp");
    let top = built_in("qp/QpStateCtrl.sv");
    let (before, behind) = top.split_once(" clk").unwrap();
    let folder = TempDir::new().unwrap();
    let rtl = folder.path().join("QpStateCtrl.sv");
    write(&rtl, &format!("{before} clk, output wire [1:-1] another{behind}"));
    let rtl = rtl.to_str().unwrap();
    for more in [&[][..], &["--simulator", "icarus"]] {
        let arguments = ["replay", "--fixes", "spec", "--rtl", rtl, &vector];
        assert_error(&run(arguments.iter().chain(more)), "E0308");
    }
}
