//! `--rtl`: exactly the user RTL runs.

use crate::common::{
    assert_code, assert_error, assert_error_at, changed_rtl, code, cosim, files, json, patched_rtl,
    project, run, text,
};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;
use walkdir::WalkDir;

/// A short run with an RTL.
fn with_rtl(rtl: &Path, more: &[&str]) -> Output {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let arguments = ["run", "--cases", "3", "--scenario", "ring", "--fixes", "spec", "--no-shrink"];
    let paths = ["--no-waves", "--rtl", rtl.to_str().unwrap(), "--out", out.to_str().unwrap()];
    run(arguments.iter().chain(&paths).chain(more))
}

/// A folder with the block's files and a bug that every short run of `ring` finds.
fn wrong_rtl() -> TempDir {
    patched_rtl(&project().join("tests/bad_rtl/thread2/43-rq-wrap-one-late.patch"))
}

fn refused(rtl: &Path, number: &str, words: &str) {
    assert_error_at(&with_rtl(rtl, &[]), number, words);
}

#[test]
fn a_file_is_used_by_its_declarations_not_its_name() {
    let wrong = wrong_rtl();
    let folder = TempDir::new().unwrap();
    for file in files(&wrong.path().join("rtl/thread2"), "vh") {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let top = wrong.path().join("rtl/thread2/ReqRecvCore_Thread_2.v");
    let renamed = folder.path().join("recv_core.SV");
    fs::copy(&top, &renamed).unwrap();
    for rtl in [folder.path(), &renamed] {
        let output = with_rtl(rtl, &[]);
        assert_eq!(code(&output), 1, "{rtl:?}: {}", text(&output));
    }
}

/// Few cases run on a model that is compiled in less time, until there is an optimised one.
#[test]
fn few_cases_have_the_same_result_on_either_model() {
    let same = "assign protocol_error = !rst && misfits;";
    let rtl = changed_rtl("RecvSideFsm.sv", same, "assign protocol_error = misfits && !rst;");
    let folder = TempDir::new().unwrap();
    let cache = folder.path().join("cache");
    let results = |name: &str, cases: &str| {
        let out = folder.path().join(name);
        let mut command = cosim();
        command.env("COSIM_CACHE", &cache).env_remove("CXXFLAGS").arg("run");
        command.args(["--block", "recv", "--fixes", "spec", "--cases", cases, "--rtl"]);
        assert_code(&command.arg(rtl.path()).arg("--out").arg(&out).output().unwrap(), 0);
        (fs::read(out.join("results.json")).unwrap(), files(&cache, "so").len())
    };
    let (quick, models) = results("quick", "5");
    assert_eq!(models, 1);
    assert_eq!(results("many", "400").1, 2, "many cases run on an optimised model");
    let (optimised, models) = results("optimised", "5");
    assert_eq!((optimised == quick, models), (true, 2));
}

#[test]
fn a_project_is_searched_below_its_folder() {
    let wrong = wrong_rtl();
    fs::write(wrong.path().join("bench.v"), "module bench; endmodule\n").unwrap();
    assert_code(&with_rtl(wrong.path(), &[]), 1);
}

#[test]
fn rtl_of_something_else_is_refused() {
    let folder = TempDir::new().unwrap();
    let other = folder.path().join("other.v");
    fs::write(&other, "module other; endmodule // module ReqRecvCore_Thread_2\n").unwrap();
    refused(&other, "E0303", "thread2");
    refused(folder.path(), "E0303", "thread2");
    refused(&project().join("rtl/dll/PcieDllTx.sv"), "E0303", "ReqRecvCore_Thread_2");
    refused(Path::new("/nowhere"), "E0301", "/nowhere: ");
}

#[test]
fn a_module_declared_twice_is_refused() {
    let wrong = wrong_rtl();
    let rtl = wrong.path().join("rtl/thread2");
    // Two equal files are no obstacle.
    write(&rtl.join("backup.v"), &format!("{}// An older state.\n", built_in(TOP)));
    refused(&rtl, "E0304", "backup.v");
}

#[test]
fn a_module_declared_in_two_folders_is_refused_and_both_are_named() {
    let folder = TempDir::new().unwrap();
    for name in ["new", "old"] {
        write(&folder.path().join(name).join(TOP), &format!("{}// {name}\n", built_in(TOP)));
    }
    for name in ["new", "old"] {
        refused(
            folder.path(),
            "E0304",
            &format!("{}:", folder.path().join(name).join(TOP).display()),
        );
    }
}

/// Paths need no escaping for Verilator, a shell or string literals.
#[test]
fn a_path_may_have_spaces_quotes_and_a_dash_and_a_text_a_byte_order_mark() {
    let folder = TempDir::new().unwrap();
    let rtl = "-a \"b\" 'c' $HOME";
    let below = folder.path().join(rtl).join("x y");
    write(&below.join(TOP), &format!("\u{feff}{}", built_in(TOP)));
    write(&below.join(HEADER), &wrong_header());
    let run = |more: &[&str]| {
        let arguments =
            ["run", "--block", "thread2", "--cases", "3", "--scenario", "ring", "--fixes", "spec"];
        let mut command = cosim();
        command.current_dir(folder.path()).args(arguments);
        command.args(["--no-shrink", "--no-waves", "--out", "out"]);
        command.args(more).output().unwrap()
    };
    let output = run(&[&format!("--rtl={rtl}")]);
    assert_code(&output, 1);
    assert!(text(&output).contains(&format!("{rtl}/x y/{HEADER}")), "{}", text(&output));
    // The vector records the path unchanged.
    let vector = files(&folder.path().join("out/failures"), "json").remove(0);
    let mut replay = cosim();
    replay.current_dir(folder.path()).args(["replay", "--recorded-rtl"]).arg(&vector);
    assert_code(&replay.output().unwrap(), 1);
    // A name that Verilator does not support is refused first.
    write(&folder.path().join("odd/a\"b.v"), &built_in(TOP));
    let output = run(&["--rtl", "odd", "--force"]);
    assert_error_at(&output, "E0302", "b.v");
}

#[test]
fn an_included_file_in_a_folder_below_is_part_of_the_model() {
    let folder = TempDir::new().unwrap();
    let header: PathBuf = folder.path().join("sub/settings.inc");
    fs::create_dir(folder.path().join("sub")).unwrap();
    for file in files(&project().join("rtl/thread2"), "vh") {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let top = fs::read_to_string(project().join("rtl/thread2/ReqRecvCore_Thread_2.v")).unwrap();
    let top = format!("`include \"sub/settings.inc\"\n{top}");
    fs::write(folder.path().join("ReqRecvCore_Thread_2.v"), top).unwrap();
    fs::write(&header, "// nothing\n").unwrap();
    assert_eq!(code(&with_rtl(folder.path(), &[])), 0);
    fs::write(&header, "`no_such_macro here\n").unwrap();
    let output = with_rtl(folder.path(), &[]);
    assert_error_at(&output, "E0307", "settings.inc:1");
    fs::write(&header, "// nothing\n").unwrap();
    assert_eq!(code(&with_rtl(folder.path(), &[])), 0);
}

#[test]
fn a_copy_of_the_rtl_has_the_identity_of_the_rtl() {
    let identity = |more: &[&str]| {
        let folder = TempDir::new().unwrap();
        let out = folder.path().to_str().unwrap();
        let arguments = ["run", "--cases", "1", "--packets", "1", "--out", out];
        assert_code(&run(arguments.iter().chain(more)), 0);
        json(&folder.path().join("results.json"))["run"]["rtl"].as_str().unwrap().to_owned()
    };
    let rtl = project().join("rtl");
    assert_eq!(identity(&[]), identity(&["--rtl", rtl.to_str().unwrap()]));
}

#[test]
fn a_function_of_c_is_refused_by_name() {
    let folder = TempDir::new().unwrap();
    for file in files(&project().join("rtl/thread2"), "vh") {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let top = fs::read_to_string(project().join("rtl/thread2/ReqRecvCore_Thread_2.v")).unwrap();
    let call =
        "import \"DPI-C\" function void nobody(); always @(posedge clk) nobody();\nendmodule";
    let top = top.replace("endmodule", call);
    fs::write(folder.path().join("ReqRecvCore_Thread_2.sv"), top).unwrap();
    let output = with_rtl(folder.path(), &[]);
    assert_error_at(&output, "E0310", "`nobody`");
}

/// The first mismatch occurs before the model hangs: the run must not wait for the waveform.
#[test]
fn a_model_that_hangs_after_a_mismatch_does_not_hang_the_run() {
    let folder = TempDir::new().unwrap();
    for file in files(&project().join("rtl/thread2"), "vh") {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let top = fs::read_to_string(project().join("rtl/thread2/ReqRecvCore_Thread_2.v")).unwrap();
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
    assert_code(&output, 1);
    assert!(
        text(&output).contains("no waves: hang: the model did not return"),
        "{}",
        text(&output)
    );
    let vectors = files(&out.join("failures"), "json");
    assert_eq!(vectors.len(), 2, "the shrunk one and the original: {vectors:?}");

    // A trace requested by name leaves no files, either.
    let traces = TempDir::new().unwrap();
    let trace = traces.path().join("stuck.vcd");
    let (vector, rtl) = (vectors[0].to_str().unwrap(), folder.path().to_str().unwrap());
    let arguments = ["replay", vector, "--rtl", rtl, "--stuck-after", "2s", "--trace"];
    let output = run(arguments.iter().chain(&[trace.to_str().unwrap()]));
    assert_code(&output, 1);
    assert!(text(&output).contains("did not return"), "{}", text(&output));
    assert_eq!(fs::read_dir(traces.path()).unwrap().count(), 0);
}

const TOP: &str = "ReqRecvCore_Thread_2.v";
const HEADER: &str = "ReqRecvCore_Thread_2.vh";

fn built_in(name: &str) -> String {
    fs::read_to_string(project().join("rtl/thread2").join(name)).unwrap()
}

/// The block's header with one constant changed, so that every short run of `ring` fails.
fn wrong_header() -> String {
    let text = built_in(HEADER);
    // A cell of the cache has half as many slots.
    let line = text.lines().find(|line| line.contains("CACHE_CELL_SLOTS")).unwrap();
    text.replace(line, "  localparam [26:0] CACHE_CELL_SLOTS = 27'd3;")
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Regression test: the built-in header was used without a message.
#[test]
fn a_header_in_another_given_folder_is_the_one_that_is_read() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("src").join(TOP), &built_in(TOP));
    write(&folder.path().join("inc").join(HEADER), &wrong_header());
    let output = with_rtl(folder.path(), &[]);
    assert_code(&output, 1);
    let printed = text(&output);
    assert!(printed.contains(&format!("inc/{HEADER}")), "{printed}");
    assert!(printed.contains("built-in: none"), "{printed}");
    // A single file does not include the header, so the summary names the one used.
    let alone = with_rtl(&folder.path().join("src").join(TOP), &[]);
    assert_code(&alone, 0);
    let own = format!("built-in: {HEADER}");
    assert!(text(&alone).contains(&own), "{}", text(&alone));
    // -I selects another header.
    let include = format!("-I{}", folder.path().join("inc").display());
    assert_code(&with_rtl(&folder.path().join("src").join(TOP), &[&include]), 1);
}

#[test]
fn a_header_that_was_given_twice_is_an_error_that_names_both() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("src").join(TOP), &built_in(TOP));
    write(&folder.path().join("new").join(HEADER), &wrong_header());
    write(&folder.path().join("old").join(HEADER), &built_in(HEADER));
    let output = with_rtl(folder.path(), &[]);
    for name in ["new", "old"] {
        assert_error_at(&output, "E0305", &format!("{name}/{HEADER}"));
    }
    // The header beside its includer takes precedence, and so does one in a folder of -I.
    let include = format!("-I{}", folder.path().join("old").display());
    assert_eq!(code(&with_rtl(folder.path(), &[&include])), 0);
    write(&folder.path().join("src").join(HEADER), &wrong_header());
    assert_eq!(code(&with_rtl(folder.path(), &[])), 1);
}

#[test]
fn the_working_directory_is_not_searched() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join(HEADER), &wrong_header());
    write(&folder.path().join("rtl").join(TOP), &built_in(TOP));
    write(&folder.path().join("rtl").join(HEADER), &built_in(HEADER));
    assert_code(
        &cosim()
            .current_dir(folder.path())
            .args(["run", "--block", "thread2", "--cases", "3", "--scenario", "ring"])
            .args(["--fixes", "spec", "--rtl", "rtl"])
            .output()
            .unwrap(),
        0,
    );
}

#[test]
fn a_file_list_and_macros_say_what_the_rtl_is() {
    let folder = TempDir::new().unwrap();
    let top = format!("`ifdef BROKEN\n`no_such_macro\n`endif\n{}", built_in(TOP));
    write(&folder.path().join("a folder's").join(TOP), &top);
    write(&folder.path().join("inc").join(HEADER), &built_in(HEADER));
    let list = folder.path().join("files.f");
    write(&list, &format!("\"a folder's/{TOP}\" // the top\n+incdir+inc\n"));
    let run = |more: &[&str]| {
        cosim()
            .current_dir(folder.path())
            .args(["run", "--block", "thread2", "--cases", "1", "--scenario", "ring"])
            .args(["--fixes", "spec", "-ffiles.f", "--out", "out"])
            .args(more)
            .output()
            .unwrap()
    };
    let output = run(&[]);
    assert_code(&output, 0);
    assert!(text(&output).contains(&format!("a folder's/{TOP}")), "{}", text(&output));
    assert_error(&run(&["-DBROKEN"]), "E0307");
    write(&list, "--exe x");
    let output = run(&[]);
    assert_error_at(&output, "E0306", "files.f:1:1");
}

#[test]
fn rtl_without_the_parameter_of_fixes_has_the_behaviour_that_is_claimed() {
    let folder = TempDir::new().unwrap();
    let top = built_in(TOP);
    let line = top.lines().find(|line| line.contains("parameter") && line.contains("FIXES"));
    let line = line.expect("the RTL has the parameter");
    let end = ");\n";
    let top = top.replace(line, "  parameter UNUSED = 0").replacen(
        end,
        ");\n  localparam [7:0] FIXES = 8'hff;\n",
        1,
    );
    write(&folder.path().join(TOP), &top);
    write(&folder.path().join(HEADER), &built_in(HEADER));
    let out = folder.path().join("out");
    let run = |fixes: &str| {
        let rtl = folder.path().to_str().unwrap();
        let out = out.to_str().unwrap();
        let more = ["--fixes", fixes, "--out", out, "--force", "--no-shrink"];
        run(["run", "--cases", "3", "--rtl", rtl].iter().chain(&more))
    };
    let output = run("all");
    assert_error_at(&output, "E0312", "FIXES");
    assert_eq!(code(&run("repaired")), 0);
    assert_eq!(code(&run("spec")), 1);
}

#[test]
fn a_vector_knows_its_rtl() {
    let wrong = wrong_rtl();
    let rtl = wrong.path().join("rtl/thread2");
    let out = wrong.path().join("out");
    let arguments = ["run", "--cases", "3", "--scenario", "ring", "--fixes", "spec", "--no-shrink"];
    let paths = ["--no-waves", "--rtl", rtl.to_str().unwrap(), "--out", out.to_str().unwrap()];
    assert_eq!(code(&run(arguments.iter().chain(&paths))), 1);
    let vector = files(&out.join("failures"), "json").remove(0);
    let vector = vector.to_str().unwrap();
    let named = rtl.display().to_string();
    for command in ["replay", "explain"] {
        let output = run([command, "--recorded-rtl", vector]);
        assert_eq!(code(&output), 1, "{command}: {}", text(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains(&named), "it is shown");
    }
    // Without a decision of the user nothing runs: a match of the built-in RTL is no verdict on it.
    let failures = out.join("failures");
    let (failures, corpus) = (failures.to_str().unwrap(), "vectors/thread2");
    let (bench, small) = (wrong.path().join("bench"), wrong.path().join("small.json"));
    let [bench, small] = [&bench, &small].map(|path| path.to_str().unwrap());
    for arguments in [
        &["replay", vector][..],
        &["replay", "--expect-recorded", vector],
        &["replay", "--simulator", "icarus", vector],
        // These name no RTL.
        &["replay", "-I", ".", vector],
        &["replay", "-D", "X", vector],
        &["replay", out.to_str().unwrap()],
        &["replay", "-I", ".", out.to_str().unwrap()],
        &["replay", "--expect-recorded", out.to_str().unwrap()],
        // A folder with this vector, too.
        &["replay", failures, corpus],
        &["explain", vector],
        &["shrink", vector, "--out", small],
        &["export", vector, "-o", bench],
    ] {
        let output = run(arguments);
        assert_error_at(&output, "E0211", &named);
        assert!(output.stdout.is_empty(), "{}", text(&output));
        let printed = String::from_utf8_lossy(&output.stderr);
        let command = format!("{} --recorded-rtl", arguments[0]);
        assert!(printed.contains(&command) && printed.contains("--rtl built-in"), "{printed}");
    }
    assert!(!Path::new(bench).exists() && !Path::new(small).exists());
    assert_error(&run(["replay", "--recorded-rtl", "--rtl", "built-in", vector]), "E0101");
    let output = run(["explain", "--recorded-rtl", vector, "--format", "json"]);
    let reported: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let reported = reported.as_array().map_or(&reported, |all| &all[0]);
    let read = reported["rtl_files"].as_array().unwrap_or_else(|| panic!("{reported}"));
    let paths: Vec<&str> = read.iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, [TOP, HEADER].map(|name| rtl.join(name).display().to_string()));
    assert!(read.iter().all(|file| file["built_in"] == false));
    assert_eq!(code(&run(["replay", vector, "--rtl", "built-in"])), 0);
    fs::copy(project().join("rtl/thread2").join(TOP), rtl.join(TOP)).unwrap();
    let output = run(["replay", "--recorded-rtl", vector]);
    assert_code(&output, 0);
    assert!(text(&output).contains("has changed since"), "{}", text(&output));
    fs::remove_dir_all(&rtl).unwrap();
    let output = run(["replay", "--recorded-rtl", vector]);
    assert_error_at(&output, "E0211", "--rtl built-in");
}

/// A vector may come from anyone, so the RTL that it names is neither compiled nor copied.
#[test]
fn a_vector_never_chooses_what_is_compiled() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let corpus = files(&project().join("vectors/qp"), "json").remove(0);
    let mark = at("mark");
    let evil = format!("initial $system(\"touch '{}'\");", mark.display());
    let module = format!("module evil; {evil} endmodule\n");
    write(&at("rtl/evil.v"), &module);
    write(&at("evil.f"), &at("rtl/evil.v").display().to_string());
    for given in [
        json!({ "defines": [format!("endmodule={evil} endmodule")] }),
        json!({ "paths": [at("rtl")] }),
        json!({ "include": [at("rtl")] }),
        json!({ "lists": [at("evil.f")] }),
    ] {
        let mut vector = json(&corpus);
        vector["fixes"] = "spec".into();
        vector["origin"]["given"] = given.clone();
        fs::write(at("sent.json"), vector.to_string()).unwrap();
        let sent = at("sent.json").display().to_string();
        let bench = at("bench").display().to_string();
        for (arguments, expected) in [
            (&["replay", "--format", "json", &sent][..], 0),
            (&["explain", &sent], 0),
            // It matches, so there is nothing to shrink.
            (&["shrink", &sent], 2),
            (&["export", &sent, "-o", &bench], 0),
        ] {
            assert_error(&run(arguments), "E0211");
            let output = run(arguments.iter().chain(&["--rtl", "built-in"]));
            assert_eq!(code(&output), expected, "{given} {arguments:?}: {}", text(&output));
            if arguments[0] == "replay" {
                let reported: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                let read = reported[0]["rtl_files"].as_array().unwrap();
                assert!(read.iter().all(|file| file["built_in"] == true), "{reported}");
            }
        }
        for file in WalkDir::new(at("bench")) {
            let path = file.unwrap().into_path();
            let has = |word: &str| fs::read_to_string(&path).is_ok_and(|text| text.contains(word));
            assert!(!has("evil") && !has("touch"), "{given}: {path:?}");
        }
        fs::remove_dir_all(at("bench")).unwrap();
        assert!(!mark.exists(), "{given}");
    }
}

#[test]
fn a_truncated_library_is_rebuilt() {
    let cache = TempDir::new().unwrap();
    let replay = || {
        let vector = "vectors/thread2/opcode-send-only.json";
        let vectors = files(&project().join("vectors/thread2"), "json");
        let vector = vectors.iter().find(|path| path.ends_with(vector)).unwrap_or(&vectors[0]);
        let mut command = cosim();
        command.env("COSIM_CACHE", cache.path()).args(["replay", "--fixes", "0x01"]);
        command.arg(vector).output().unwrap()
    };
    let first = code(&replay());
    let library = files(cache.path(), "so").remove(0);
    let whole = fs::read(&library).unwrap();
    fs::write(&library, &whole[..5000]).unwrap();
    assert_eq!(code(&replay()), first);
    assert_eq!(fs::metadata(&library).unwrap().len(), whole.len() as u64);
    let cache_command = |action: &str| {
        let mut command = cosim();
        command.env("COSIM_CACHE", cache.path()).args(["cache", action, "--format", "json"]);
        serde_json::from_slice::<serde_json::Value>(&command.output().unwrap().stdout).unwrap()
    };
    // The library, Verilator's runtime and, with GCC, its precompiled headers.
    let entries = cache_command("show")["entries"].as_array().unwrap().len();
    assert!((2..=3).contains(&entries), "{entries}");
    assert_eq!(cache_command("clear")["removed"], entries);
    assert!(files(cache.path(), "so").is_empty());
}

#[test]
fn a_missing_tool_is_named() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let vectors = files(&project().join("vectors/thread2"), "json");
    let replay = |name: &str, value: &Path| {
        let mut command = cosim();
        command.env("COSIM_CACHE", folder.path().join("cache")).env(name, value);
        command.args(["replay", "--fixes", "0x02"]).arg(&vectors[0]).output().unwrap()
    };
    let output = replay("COSIM_CACHE", &file.join("below"));
    assert_error_at(&output, "E0605", "set COSIM_CACHE");
    let output = replay("CXX", Path::new("/nowhere/g++"));
    assert_error_at(&output, "E0904", "apt-get install g++");
}
