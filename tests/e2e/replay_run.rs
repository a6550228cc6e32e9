//! `cosim replay RUN_DIR`: the failures of a run, on other RTL or from the run directory alone,
//! which may come from anyone.

use crate::common::{
    Place, THREAD2_TOP as TOP, assert_contains, members, project, source, text, vector_of,
};
use std::fs;

const DAMAGED: &str = "E0219";
const UNREADABLE: &str = "E0201";
const RUN: &str = "run --cases 3 --fixes repaired --no-waves --quiet";
const REPRODUCE: &str = "replay run --recorded-rtl --expect-recorded";

/// A folder with a failing run of RTL that is no longer there.
fn failing_run(more: &str) -> Place {
    let place = Place::without_bypass();
    fs::create_dir(place.path("top")).unwrap();
    fs::rename(place.path("rtl").join(TOP), place.path("top").join(TOP)).unwrap();
    place.exits(1, &format!("{RUN} --rtl top -DUNUSED=1 --out run {more}"));
    place.remove("top");
    place
}

#[test]
fn failures_are_replayed_from_the_run_directory_alone() {
    let (here, there) = (failing_run(""), Place::new());
    // The page shows the command.
    let page = here.text("run/report.html");
    let (_, shown) = page.split_once("id=\"reproduce-all\">").expect("the command");
    let (shown, _) = shown.split_once('<').unwrap();
    here.typed(1, &shown.replace("&#x2f;", "/"));
    fs::rename(here.path("run"), there.path("run")).unwrap();
    let printed = there.exits(0, REPRODUCE);
    let results = there.results("run");
    // The same RTL, under another path.
    let rtl = results["run"]["rtl"].as_str().unwrap();
    assert!(printed.contains(&format!("RTL {rtl},")) && !printed.contains("warning"), "{printed}");
    // Each vector that the results name has failed as recorded.
    let report = there.json_of(0, REPRODUCE);
    let failures = results["failures"].as_array().unwrap().len() as u64;
    assert!(report["still_fails"].as_u64().unwrap() >= failures, "{report}");
    assert_eq!([&report["fixed"], &report["different"], &report["not_run"]], [0, 0, 0], "{report}");
    // The RTL can be kept, and the command that is printed explains the first failure on it.
    let keep = format!("{REPRODUCE} --rtl-out kept/rtl");
    let printed = there.exits(0, &keep);
    let next = printed.lines().find_map(|line| line.strip_prefix("next: ")).unwrap();
    there.typed(1, next);
    // It is not written over, and a repaired copy matches.
    there.exits(2, &keep);
    there.edit(&format!("kept/rtl/{TOP}"), "mr_bypass = 1'b0", "mr_bypass = 1'b1");
    there.typed(0, next);
}

/// A link in RTL of others may lead to a private file of the user, and a run directory is passed
/// on.
#[test]
fn no_file_behind_a_link_out_of_the_rtl_is_copied() {
    const SECRET: &str = "// password 1234\n";
    let place = Place::without_bypass();
    let opens = "initial begin : opens integer f; f = $fopen(\"x.hex\", \"r\"); end\nendmodule";
    let top = place.text(&format!("rtl/{TOP}")).replacen("endmodule", opens, 1);
    place.write("private/secret", SECRET);
    let run = |name: &str| place.exits(1, &format!("{RUN} --rtl {name} --out run-{name}"));
    let header = format!("`include \"y.vh\"\n{top}");
    for (name, top, link, target) in [
        ("data", &top, "x.hex", "../private/secret"),
        ("header", &header, "y.vh", "../private/secret"),
    ] {
        place.write(&format!("{name}/{TOP}"), top);
        place.link(target, &format!("{name}/{link}"));
        let warning = "warning: `replay --recorded-rtl` will not find the RTL";
        assert_contains(&run(name), &[warning]);
        assert!(!place.has_file(&format!("run-{name}/rtl.json")), "{name}");
    }
    // A link inside of the folder, and a link to the folder itself.
    place.write(&format!("whole/{TOP}"), &header);
    place.write("whole/z.vh", SECRET);
    place.link("z.vh", "whole/y.vh");
    place.link("whole", "link");
    run("link");
    assert_contains(&place.text("run-link/rtl.json"), &["password 1234"]);
}

#[test]
fn a_run_without_its_rtl_or_without_failures_is_refused() {
    let place = failing_run("--no-sources");
    assert!(!place.has_file("run/rtl.json"));
    place.fails("E0223", "rtl.json", REPRODUCE);
    place.exits(0, "run --cases 1 --scenario smoke --quiet --out green");
    assert!(!place.has_file("green/rtl.json"));
    place.fails("E0210", "", "replay green --recorded-rtl --expect-recorded");
}

/// The RTL of a run directory has no more rights than RTL that the user names.
#[test]
fn a_hostile_run_directory_stays_in_the_sandbox_and_in_its_folder() {
    let place = failing_run("");
    let good = place.text("run/rtl.json");
    // RTL that starts a program.
    let mark = place.path("mark");
    let harm =
        format!("endmodule\\nmodule harm; initial $system(\\\"touch {}\\\");", mark.display());
    let module = good.rfind("endmodule").unwrap();
    let harmful = format!("{}harm harm(); {harm} {}", &good[..module], &good[module..]);
    place.write_record("run/rtl.json", &harmful);
    let printed = text(&place.run(REPRODUCE));
    assert_contains(&printed, &["warning: the RTL of the run was"]);
    assert!(!mark.exists(), "the sandbox holds: {printed}");
    place.run(&format!("{REPRODUCE} --no-sandbox"));
    assert!(mark.exists(), "without it, the RTL does harm: {printed}");
    // A name that leads out of the copy, and edited or linked records.
    let name = format!("\"{TOP}\": {{");
    place.write("run/rtl.json", &good);
    place.edit_record("run/rtl.json", &name, "\"../x.v\": {");
    place.fails(DAMAGED, "rtl.json", &format!("{REPRODUCE} --rtl-out kept"));
    assert!(!place.has_file("kept"));
    place.write("run/rtl.json", &good.replacen(&name, "\"other.v\": {", 1));
    place.fails(DAMAGED, "rtl.json", REPRODUCE);
    place.write("run/rtl.json", &good);
    // A record and a vector that are links.
    let results = place.results("run");
    for linked in ["rtl.json", results["failures"][0]["vector"].as_str().unwrap()] {
        let (file, victim) = (place.path("run").join(linked), place.path("victim.json"));
        fs::rename(&file, &victim).unwrap();
        place.link(&victim, &format!("run/{linked}"));
        place.fails(UNREADABLE, linked, REPRODUCE);
        fs::rename(&victim, &file).unwrap();
    }
}

#[test]
fn failures_are_repeated_and_are_fixed_still_red_or_different() {
    // Wrong for one QP in four.
    let place =
        Place::with_change(TOP, "? rq_offset_new :", "? rq_offset_new ^ {23'd0, &qp[1:0]} :");
    let few = "run --fixes repaired --scenario default --cases 80 --rtl rtl --out run";
    place.exits(1, &format!("{few} --no-shrink --no-waves --quiet"));
    let results = place.results("run");
    let totals = &results["totals"];
    let cases = totals["cases"].as_u64().unwrap();
    let failed = cases - totals["matched"].as_u64().unwrap();
    // More failures than are listed individually.
    assert!(failed > 20 && failed < cases, "{totals}");

    // This user ran that RTL here, and its text is the same. All failures occur again: of the
    // vectors, and of each failed case.
    let same = place.json_of(1, "replay run");
    let all = members(&same["replays"], "name");
    assert_eq!(same["still_fails"], all.len(), "{same}");
    let of_cases: Vec<_> = all.iter().filter(|name| name.starts_with("thread2/")).collect();
    assert_eq!(of_cases.len() as u64, failed);
    assert_eq!(*of_cases[0], results["failures"][0]["case"]);
    assert!(all.len() > of_cases.len(), "{all:?}");

    let good = place.json_of(0, "replay run --rtl built-in");
    assert_eq!(good["fixed"], all.len(), "{good}");
    assert_eq!(members(&good["replays"], "name"), all);

    let [from, to] = ["1'b1", "1'b0"].map(|bit| format!("fetch_cxt_egress_ready = {bit}"));
    let other = Place::with_change(TOP, &from, &to);
    let other = format!("replay run --rtl {}", other.path("rtl").display());
    let different = place.json_of(1, &other);
    assert_eq!(different["still_fails"], 0, "{different}");
    assert!(different["different"].as_u64().unwrap() > 0, "{different}");

    // One line for each cause, with the number that `explain` takes.
    let printed = place.exits(0, "replay run --rtl built-in");
    assert!(printed.lines().any(|line| line.starts_with("fixed        1. mismatch-")), "{printed}");

    // Without their scenarios, the cases do not run, and that is no pass.
    let weights = format!("\"weights\":{}", results["run"]["weights"]);
    place.edit_record("run/results.json", &weights, "\"weights\":\"0\"");
    let left = place.json_of(1, "replay run --rtl built-in");
    assert_eq!(left["not_run"], failed, "{left}");
    assert_eq!(left["fixed"], all.len() as u64 - failed, "{left}");
}

#[test]
fn a_failure_without_a_vector_is_repeated() {
    let place = failing_run("");
    let case = place.results("run")["failures"][0]["case"].clone();
    let record = place.text("run/results.json");
    let mut parts = record.split("\"vector\":\"");
    let first = parts.next().unwrap().to_owned();
    let record = parts
        .fold(first, |record, part| record + "\"vector\":null" + part.split_once('"').unwrap().1);
    place.write_record("run/results.json", &record);
    let report = place.json_of(0, REPRODUCE);
    assert_eq!(report["passed"], true, "{report}");
    let replays = members(&report["replays"], "name");
    let is_case = |name: &&str| name.starts_with("thread2/");
    assert!(!replays.is_empty() && replays.iter().all(is_case), "{report}");
    // Nor can it be claimed to be fixed without running.
    let other = "thread2/repaired/default/999999";
    place.edit_record("run/results.json", case.as_str().unwrap(), other);
    let report = place.json_of(1, REPRODUCE);
    assert_eq!((&report["passed"], &report["not_run"]), (&false.into(), &1.into()), "{report}");
}

#[test]
fn what_is_no_whole_run_with_failures_is_refused() {
    let place = failing_run("");
    let vectors = project().join("vectors");
    let rows = [
        ("E0107", "", "--trace x.fst"),
        ("E0107", "", "--fixes spec"),
        ("E0107", "", "--parameter X=1"),
        ("E0107", "", "--run run"),
        ("E0108", "", vectors.to_str().unwrap()),
        ("E0209", "", "--block qp"),
    ];
    place.refuses(REPRODUCE, &rows);
    // A vector of another failure.
    let case = place.results("run")["failures"][0]["case"].clone();
    let vector = place.vector("run");
    let one = place.text(&vector);
    let green = source(vector_of("thread2"));
    let other = one.replace(case.as_str().unwrap(), "thread2/repaired/default/77");
    for other in [green, other] {
        place.write(&vector, &other);
        place.fails(DAMAGED, "failures/", REPRODUCE);
    }
    place.write(&vector, &one);
    // A killed run.
    place.write("killed/run.journal", "");
    place.fails("E0218", "resume", "replay killed --recorded-rtl --expect-recorded");
    place.exits(2, "replay none --recorded-rtl --expect-recorded");
}
