//! `--rtl`: is what runs what was given, and nothing else?

use crate::common::{code, files, json, patched_rtl, project, run, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// A short run with an RTL.
fn with_rtl(rtl: &Path, more: &[&str]) -> Output {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let arguments = ["run", "--cases", "3", "--scenario", "ring", "--fixes", "spec", "--no-shrink"];
    let paths = ["--no-waves", "--rtl", rtl.to_str().unwrap(), "--out", out.to_str().unwrap()];
    run(arguments.iter().chain(&paths).chain(more))
}

/// A folder with the block's files, with a bug that every short run of `ring` finds.
fn wrong_rtl() -> TempDir {
    patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"))
}

fn refused(rtl: &Path, expected: &str) {
    let output = with_rtl(rtl, &[]);
    assert_eq!(code(&output), 2, "{}", text(&output));
    assert!(text(&output).contains(expected), "{}", text(&output));
}

#[test]
fn a_file_is_what_it_declares_whatever_its_name() {
    let wrong = wrong_rtl();
    let folder = TempDir::new().unwrap();
    for file in files(&wrong.path().join("rtl"), "vh") {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let top = wrong.path().join("rtl/ReqRecvCore_Thread_2.v");
    let renamed = folder.path().join("recv_core.SV");
    fs::copy(&top, &renamed).unwrap();
    for rtl in [folder.path(), &renamed] {
        let output = with_rtl(rtl, &[]);
        assert_eq!(code(&output), 1, "{rtl:?}: {}", text(&output));
    }
}

#[test]
fn a_project_is_searched_below_its_folder() {
    let wrong = wrong_rtl();
    fs::write(wrong.path().join("bench.v"), "module bench; endmodule\n").unwrap();
    let output = with_rtl(wrong.path(), &[]);
    assert_eq!(code(&output), 1, "{}", text(&output));
}

#[test]
fn rtl_of_something_else_is_refused() {
    let folder = TempDir::new().unwrap();
    let other = folder.path().join("other.v");
    fs::write(&other, "module other; endmodule // module ReqRecvCore_Thread_2\n").unwrap();
    refused(&other, "declares none of the modules of block thread2");
    refused(folder.path(), "declares none of the modules of block thread2");
    refused(&project().join("rtl/PcieDllTx.v"), "expected ReqRecvCore_Thread_2");
    refused(Path::new("/nowhere"), "neither a Verilog file nor a folder");
}

#[test]
fn a_module_declared_twice_is_refused() {
    let wrong = wrong_rtl();
    let rtl = wrong.path().join("rtl");
    fs::copy(rtl.join("ReqRecvCore_Thread_2.v"), rtl.join("backup.v")).unwrap();
    refused(&rtl, "is declared in both");
}

#[test]
fn an_included_file_in_a_folder_below_is_part_of_the_model() {
    let folder = TempDir::new().unwrap();
    let header: PathBuf = folder.path().join("sub/settings.inc");
    fs::create_dir(folder.path().join("sub")).unwrap();
    for file in files(&project().join("rtl"), "vh") {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let top = fs::read_to_string(project().join("rtl/ReqRecvCore_Thread_2.v")).unwrap();
    let top = format!("`include \"sub/settings.inc\"\n{top}");
    fs::write(folder.path().join("ReqRecvCore_Thread_2.v"), top).unwrap();
    fs::write(&header, "// nothing\n").unwrap();
    assert_eq!(code(&with_rtl(folder.path(), &[])), 0);
    fs::write(&header, "`no_such_macro here\n").unwrap();
    let output = with_rtl(folder.path(), &[]);
    assert_eq!(code(&output), 3, "{}", text(&output));
    assert!(text(&output).contains("settings.inc:1"), "{}", text(&output));
    fs::write(&header, "// nothing\n").unwrap();
    assert_eq!(code(&with_rtl(folder.path(), &[])), 0);
}

#[test]
fn a_copy_of_the_rtl_has_the_identity_of_the_rtl() {
    let identity = |more: &[&str]| {
        let folder = TempDir::new().unwrap();
        let out = folder.path().to_str().unwrap();
        let arguments = ["run", "--cases", "1", "--packets", "1", "--out", out];
        let output = run(arguments.iter().chain(more));
        assert_eq!(code(&output), 0, "{}", text(&output));
        json(&folder.path().join("results.json"))["run"]["rtl"].as_str().unwrap().to_owned()
    };
    let rtl = project().join("rtl");
    assert_eq!(identity(&[]), identity(&["--rtl", rtl.to_str().unwrap()]));
}

#[test]
fn a_function_that_nobody_defines_is_an_error_of_the_build() {
    let folder = TempDir::new().unwrap();
    for file in files(&project().join("rtl"), "vh") {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let top = fs::read_to_string(project().join("rtl/ReqRecvCore_Thread_2.v")).unwrap();
    let call =
        "import \"DPI-C\" function void nobody(); always @(posedge clk) nobody();\nendmodule";
    let top = top.replace("endmodule", call);
    fs::write(folder.path().join("ReqRecvCore_Thread_2.sv"), top).unwrap();
    let output = with_rtl(folder.path(), &[]);
    assert_eq!(code(&output), 3, "{}", text(&output));
    assert!(text(&output).contains("nobody"), "{}", text(&output));
}

/// The first mismatch is found before the model is lost: the run must not wait for its waves for ever.
#[test]
fn a_model_that_never_returns_after_a_mismatch_does_not_hang_the_run() {
    let folder = TempDir::new().unwrap();
    for file in files(&project().join("rtl"), "vh") {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let top = fs::read_to_string(project().join("rtl/ReqRecvCore_Thread_2.v")).unwrap();
    let spin = "reg [31:0] turns; reg [3:0] edges;\n\
                always @(posedge clk or posedge rst)\n\
                  if (rst) edges <= 4'd0; else if (edges != 4'd15) edges <= edges + 4'd1;\n\
                always @(posedge clk) begin\n  turns = 32'd1;\n\
                  if (edges == 4'd9) while (turns != 32'd0) turns = turns | 32'd1;\nend\nendmodule";
    let [low, high] = ["fetch_cxt_egress_ready = 1'b0;", "fetch_cxt_egress_ready = 1'b1;"];
    assert!(top.contains(low) && top.contains(high), "the RTL says it in other words now");
    let top = top
        .replace("endmodule", spin)
        .replace(low, "fetch_cxt_egress_ready = (edges == 4'd5) ^ (edges == 4'd9 && turns[1]);")
        .replace(high, "fetch_cxt_egress_ready = (edges != 4'd5) ^ (edges == 4'd9 && turns[1]);");
    fs::write(folder.path().join("ReqRecvCore_Thread_2.v"), top).unwrap();
    let out = folder.path().join("run");
    let output = run([
        "run",
        "--cases",
        "1",
        "--scenario",
        "smoke",
        "--fixes",
        "spec",
        "--stuck-after",
        "2s",
        "--rtl",
        folder.path().to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(code(&output), 1, "{}", text(&output));
    assert!(
        text(&output).contains("no waves: the model did not return for 2 s"),
        "{}",
        text(&output)
    );
    assert_eq!(files(&out.join("failures"), "json").len(), 1);
}
