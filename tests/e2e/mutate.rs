//! `cosim mutate`: faults that the testbench finds, and their report.

use crate::common::{
    Place, assert_contains, assert_is_for_anyone, copy_rtl, interrupted, is_longer, looked_at,
    schema, wait_until,
};
use crate::merge::shards;
use serde_json::{Value, json};

/// A mutation analysis that takes seconds, on a block with fast equivalence checks.
const MUTATE: &str = "mutate --block recv --fixes repaired";

/// One case leaves some survivors with counterexamples and some that are proved equivalent.
const FEW: &str = "--mutants 24 --cases 1 --scenario default --seed 5";

fn mutants(place: &Place, out: &str) -> Vec<Value> {
    let report = place.json(&format!("{out}/mutate.json"));
    report["profiles"][0]["mutants"].as_array().expect("mutants").clone()
}

fn count(mutants: &[Value], verdict: &str) -> usize {
    mutants.iter().filter(|mutant| mutant["verdict"] == verdict).count()
}

/// Checks that the page lists survivors and shows the RTL with the mutants of each line.
fn assert_page(place: &Place, out: &str, mutants: &[Value]) {
    let survivors = count(mutants, "survived");
    let left = survivors + count(mutants, "undecided");
    let seen = looked_at(&place.path(out), "survived");
    assert!(seen["title"].as_str().unwrap().starts_with("Mutation: recv, "), "{}", seen["title"]);
    assert!(seen["verdict"].as_str().unwrap().ends_with(" %"), "{}", seen["verdict"]);
    assert_eq!(seen["tone"], "open");
    assert_eq!(seen["facts"][0], format!("{survivors} survived"));
    let list = &seen["lists"]["left"];
    assert_eq!(list["count"], format!("{left} of {left}"));
    assert_eq!(list["searched"], format!("{survivors} of {left}"));
    // Each of them leads to its line.
    assert!(seen["anchors"]["kinds"].as_array().unwrap().contains(&"code".into()), "{seen}");
    assert_is_for_anyone(&seen);
    let text = place.text(&format!("{out}/report.html"));
    assert!(text.contains("RecvSideFsm.sv <span class="), "the RTL is shown");
    // A killed mutant is listed at its line.
    let killed = mutants.iter().find(|mutant| mutant["verdict"] == "killed").unwrap();
    let line = format!("<b>{:5} ", killed["sources"][0]["line"].as_u64().unwrap());
    let mut parts = text.lines().flat_map(|line| line.split("<span class="));
    let reported = parts.find(|part| part.contains(&line));
    assert!(reported.is_some_and(|part| part.contains(" killed")), "{killed}: {reported:?}");
}

/// Runs the command of a survivor as the page shows it: it must survive again.
fn assert_commands_of_survivors(place: &Place, out: &str) {
    let mutants = mutants(place, out);
    let survivor = mutants.iter().find(|mutant| mutant["verdict"] == "survived");
    let survivor = survivor.expect("one case leaves survivors");
    let page = place.text(&format!("{out}/report.html"));
    let shown = page.split("<code class=\"run\">").map(|rest| rest.split('<').next().unwrap());
    let only = format!(" --only {} ", survivor["id"]);
    let command = shown.into_iter().find(|command| command.contains(&only)).expect("its command");
    let printed = Place::new().exits(1, command.split_once(' ').unwrap().1);
    let [file, line] = ["file", "line"].map(|name| &survivor["sources"][0][name]);
    let at = format!("{}:{line}", file.as_str().unwrap());
    assert_contains(&printed, &[&format!("mutant {} of recv", survivor["id"]), "survived", &at]);
}

#[test]
#[ignore = "slow: five mutation analyses"]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads_and_the_parts() {
    let place = Place::new();
    place.exits(0, &format!("{MUTATE} {FEW} --threads 1 --out one"));
    shards(&place, 2, &format!("{MUTATE} {FEW} --threads 3"), &[0]);
    place.prints(0, &[" of 24 mutants killed"], "merge 2of2 1of2 --out three");
    let one = mutants(&place, "one");
    for verdict in ["killed", "survived", "equivalent"] {
        assert!(count(&one, verdict) > 0, "none is {verdict}: choose another seed");
    }
    let vectors = one.iter().filter(|mutant| mutant["vector"].is_string()).count();
    assert_eq!(place.names("one/mutants").len(), vectors, "a vector for each survivor");
    place.same_run("one", "three");
    assert_page(&place, "one", &one);
    let page = |out: &str| place.text(&format!("{out}/report.html"));
    assert_eq!(page("one"), page("three"), "the parts have another page than the whole");
    // Parts that are incomplete or foreign are refused by name.
    let rows = [("E0222", "2/2", "1of2"), ("E0222", "1/2", "1of2 1of2"), ("E0221", "", "1of2 one")];
    place.refuses("merge --out refused", &rows);
    place.exits(0, &format!("{MUTATE} --mutants 24 --cases 1 --seed 6 --no-judge --out other"));
    let other = mutants(&place, "other");
    let places = |all: &[Value]| all.iter().map(|one| one["does"].to_string()).collect::<Vec<_>>();
    assert_ne!(places(&one), places(&other), "another seed, another list");
}

/// The same mutants with a solver and without it. What is equivalent by more than its structure
/// is then only believed to be so.
#[test]
fn without_a_certificate_a_mutant_is_only_believed_equivalent() {
    let place = Place::new();
    let solver = place.without_solver(false);
    let statuses = |solver: &str, option: &str, exit: i32| -> Vec<(String, String)> {
        let line = format!("{solver} {MUTATE} {FEW} --force --out out {option}");
        let printed = place.exits(exit, &line);
        let is_named = printed.contains("; believed equivalent, not certified: ");
        assert_eq!(is_named, !solver.is_empty(), "{printed}");
        let status = |one: &Value| {
            let by = one["certificate"]["by"].as_str().unwrap_or_default();
            (one["verdict"].as_str().unwrap().to_owned(), by.to_owned())
        };
        mutants(&place, "out").iter().map(status).collect()
    };
    let (with, without) = (statuses("", "", 0), statuses(&solver, "", 4));
    let expected = with.iter().cloned().map(|(verdict, by)| match by.as_str() {
        "" | "structure" => (verdict, by),
        _ => ("believed".to_owned(), "nothing".to_owned()),
    });
    assert_eq!(without, expected.collect::<Vec<_>>());
    assert_ne!(with, without, "choose another seed");
    assert_eq!(statuses(&solver, "--accept-believed", 0), without);
}

#[test]
fn an_output_that_is_inverted_is_found_at_that_output() {
    let place = Place::new();
    place.exits(0, &format!("{MUTATE} --mutants 300 --cases 4 --no-judge --out out"));
    let report = place.json("out/mutate.json");
    let schema = schema("mutate");
    schema.validate(&report).unwrap();
    assert!(!schema.is_valid(&serde_json::json!({ "format": "cosim-mutation" })));

    // Outputs that accompany a valid signal, wrong in every cycle or never valid.
    let outputs = "pkt_ready match_req alloc_valid credit_valid copy_valid keep_valid \
                   release_valid temp_alloc_valid protocol_error";
    let mutants = mutants(&place, "out");
    let inverted = mutants.iter().filter(|mutant| {
        let signal = mutant["signal"].as_str().unwrap_or_default();
        let name = signal.split('[').next().unwrap();
        let drives = ["Y", "Q"].contains(&mutant["port"].as_str().unwrap());
        mutant["mode"] == "inv" && drives && outputs.split(' ').any(|output| output == name)
    });
    let inverted = inverted.inspect(|mutant| assert_eq!(mutant["verdict"], "killed", "{mutant}"));
    assert!(inverted.count() > 0, "no output is inverted: choose another seed");
    assert_eq!(mutants.len(), 300);
    let (score, killed) = (&report["profiles"][0]["score"], count(&mutants, "killed"));
    assert_eq!(score["killed"], killed);
    assert!(killed >= 200, "{score}");
    for mutant in &mutants {
        for source in mutant["sources"].as_array().unwrap() {
            assert_eq!(source["file"], "RecvSideFsm.sv", "{mutant}");
        }
    }
}

#[test]
fn a_score_below_the_goal_is_a_failure() {
    let place = Place::new();
    let few = "--mutants 60 --cases 1 --seed 5 --min-score 100 --no-judge --out alone";
    place.prints(1, &["below 100 %"], &format!("{MUTATE} {few}"));
    assert_commands_of_survivors(&place, "alone");
    // The goal of a plan applies to all shards together.
    place.write(
        "plan.toml",
        "format = \"cosim-plan\"\nversion = 1\n[[run]]\nblocks = [\"dll\"]\n\
         [[run]]\nname = \"score\"\nblocks = [\"recv\"]\nfixes = \"repaired\"\ncases = 1\n\
         mutants = 60\nmin_score = 100\n",
    );
    let parts = shards(&place, 2, "mutate --no-judge --seed 5 --plan plan.toml", &[0]);
    place.prints(1, &["below 100 %"], &format!("merge {parts} --out whole"));
    let run = &place.json("whole/mutate.json")["run"];
    let of_plan = (&run["block"], &run["mutants"], &run["cases"]);
    assert_eq!(of_plan, (&"recv".into(), &60.into(), &1.into()));
}

/// The goal applies to each shard. The second shard of one mutant has none.
#[test]
fn a_shard_without_mutants_is_a_failure_and_the_merged_analysis_is_not() {
    let place = Place::new();
    for (exit, part) in [(0, "1"), (1, "2")] {
        let one = "--mutants 1 --cases 1 --no-judge --min-score 90 --shard";
        place.exits(exit, &format!("{MUTATE} {one} {part}/2 --out {part}"));
    }
    place.exits(0, "merge 1 2 --out whole");
}

/// Registers with initial values, as is usual in FPGAs: with a synchronous reset, and without one.
#[test]
fn rtl_with_initial_values_passes_without_a_mutation() {
    let output = "assign match_req = ";
    let registers = "reg works = 1'b1, stays = 1'b1;\nalways @(posedge clk) if (rst) works <= 1'b1;\n\
                     always @(posedge clk) stays <= stays;\n";
    let place = Place::with_change(
        "RecvSideFsm.sv",
        output,
        &format!("{registers}{output}works && stays && "),
    );
    let few = "--mutants 20 --cases 1 --no-judge --rtl rtl --out out";
    place.exits(0, &format!("{MUTATE} {few}"));
}

#[test]
fn an_interrupted_analysis_resumes_to_the_same_result() {
    let place = Place::new();
    let line = format!("{MUTATE} --mutants 60 --cases 200 --seed 5 --no-judge --out");
    place.exits(0, &format!("{line} whole"));
    let mut child = place.start_with_pipes(&format!("{line} parts"));
    let partial = place.path("parts/mutate.json.partial");
    let is_at_work =
        || std::fs::read_to_string(&partial).is_ok_and(|text| text.contains("cases_run"));
    wait_until(&mut child, is_at_work);
    assert_contains(&interrupted(child), &["resume"]);
    assert_eq!(place.json("parts/mutate.json.partial")["complete"], false);
    assert!(!place.has_file("parts/mutate.json"));
    // The page shows the mutants so far, and the command as it was given.
    let page = place.text("parts/report.html");
    assert_contains(&page, &["The analysis was interrupted", " --no-judge"]);
    place.remove("parts/report.html");
    place.exits(0, "report parts");
    assert!(place.has_file("parts/report.html"));
    // A skipped equivalence check was reported at the start and is not repeated.
    for again in ["--no-judge", "--min-score 1", "--stuck-after 1s"] {
        place.exits(2, &format!("resume parts {again}"));
    }
    place.exits(0, "resume parts");
    assert_eq!(place.text("whole/mutate.json"), place.text("parts/mutate.json"));
    assert!(!partial.exists());
    place.exits(2, "resume parts");
}

/// Resumes analyses of several blocks, including those not started, with the original relative
/// paths, from any folder.
#[test]
#[ignore = "slow: mutation analyses of three blocks"]
fn a_killed_analysis_of_several_blocks_resumes_all_of_them() {
    let place = Place::new();
    let line = "mutate --block qp,recv --mutants 6 --cases 2 --fixes spec --seed 5 --no-judge \
                --quiet --out";
    place.exits(0, &format!("{line} whole"));
    let mut child = place.start(&format!("{line} killed"));
    let partial = place.path("killed/recv/mutate.json.partial");
    wait_until(&mut child, || is_longer(&partial, 0));
    child.kill().unwrap();
    child.wait().unwrap();
    Place::new().exits(0, &format!("resume {}", place.path("killed").display()));
    for block in ["qp", "recv"] {
        let result = |out: &str| place.text(&format!("{out}/{block}/mutate.json"));
        assert!(result("whole") == result("killed"), "{block} is another one");
        assert!(!place.has_file(&format!("killed/{block}/mutate.json.partial")));
    }
}

/// A testbench that fails without mutants cannot be graded.
#[test]
fn rtl_with_a_bug_is_not_graded() {
    let place = Place::with_bug("recv/46-kept-dp-released");
    let few = "--mutants 10 --cases 100 --rtl rtl/recv/RecvSideFsm.sv --out out";
    place.fails("E0404", "", &format!("{MUTATE} {few}"));
}

/// `--in-diff`: mutants only in lines that a change touches.
#[test]
#[ignore = "slow: compiles a model with mutants"]
fn each_mutant_is_in_a_line_that_changed() {
    let place = Place::new();
    for folder in ["old", "sum", "comment"] {
        copy_rtl(&place.path(folder));
    }
    let file = "qp/QpStateCtrl.sv";
    place.edit(&format!("sum/{file}"), "evt_tail + PTR_ONE", "PTR_ONE + evt_tail");
    place.edit(&format!("comment/{file}"), "case (hw_kind)", "case (hw_kind) // changed\n");
    let mutate = |new: &str| {
        let mutate = "mutate --block qp --mutants 6 --cases 2 --no-judge --out mutants --force";
        place.json_of(0, &format!("{mutate} --in-diff old/qp --rtl {new}/qp"))
    };
    let report = mutate("sum");
    let lines = report["run"]["in_diff"]["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let mutants = report["profiles"][0]["mutants"].as_array().unwrap();
    assert_eq!(mutants.len(), 6);
    let at = |source: &Value| format!("{}:{}", source["file"].as_str().unwrap(), source["line"]);
    for mutant in mutants {
        let sources = mutant["sources"].as_array().unwrap();
        assert!(sources.iter().any(|source| lines.contains(&at(source).into())), "{mutant}");
    }
    assert_eq!(mutate("comment"), json!([]), "no mutant is in a changed line");
}
