//! `--rtl`: exactly the user RTL runs.

use crate::common::{
    Place, THREAD2_TOP as TOP, assert_code, assert_error_at, files, json, members, project, source,
    text, vector_of,
};
use serde_json::json;
use std::fs;
use walkdir::WalkDir;

const HEADER: &str = "ReqRecvCore_Thread_2.vh";

const SHORT: &str = "run --cases 3 --scenario ring --fixes spec --no-shrink --no-waves --force \
                     --out out --rtl";

/// A bug that every short run finds.
const BUG: &str = "thread2/43-rq-wrap-one-late";

fn built_in(name: &str) -> String {
    source(format!("rtl/thread2/{name}"))
}

/// The block's header with one constant changed, so that every short run fails.
fn wrong_header() -> String {
    let text = built_in(HEADER);
    // A cell of the cache has half as many slots.
    let line = text.lines().find(|line| line.contains("CACHE_CELL_SLOTS")).unwrap();
    text.replace(line, "  localparam [26:0] CACHE_CELL_SLOTS = 27'd3;")
}

/// A project is searched below its folder.
#[test]
fn a_file_is_used_by_its_declarations_not_its_name() {
    let place = Place::with_bug(BUG);
    place.write("rtl/bench.v", "module bench; endmodule\n");
    place.write(&format!("flat/{HEADER}"), &place.text(&format!("rtl/thread2/{HEADER}")));
    place.write("flat/recv_core.SV", &place.text(&format!("rtl/thread2/{TOP}")));
    for rtl in ["rtl", "flat", "flat/recv_core.SV"] {
        place.exits(1, &format!("{SHORT} {rtl}"));
    }
}

/// Few cases run on a model that is compiled in less time, until there is an optimised one.
#[test]
fn few_cases_have_the_same_result_on_either_model() {
    let same = "assign protocol_error = !rst && misfits;";
    let other = "assign protocol_error = misfits && !rst;";
    let place = Place::with_change("RecvSideFsm.sv", same, other);
    let cache = place.path("cache");
    let results = |cases: u32| {
        let run = "run --block recv --fixes spec --rtl rtl --out out --force --cases";
        let mut command = place.command(&format!("{run} {cases}"));
        command.env("COSIM_CACHE", &cache).env_remove("CXXFLAGS");
        assert_code(&command.output().unwrap(), 0);
        (place.text("out/results.json"), files(&cache, "so").len())
    };
    let (quick, models) = results(5);
    assert_eq!(models, 1);
    assert_eq!(results(400).1, 2, "many cases run on an optimised model");
    let (optimised, models) = results(5);
    assert_eq!((optimised == quick, models), (true, 2));
}

#[test]
fn rtl_of_something_else_or_that_is_there_twice_is_refused() {
    let other = "module other; endmodule // module ReqRecvCore_Thread_2\n";
    let call =
        "import \"DPI-C\" function void nobody(); always @(posedge clk) nobody();\nendmodule";
    let dpi = built_in(TOP).replace("endmodule", call);
    let place = Place::with_files(&[("other/other.v", other), ("dpi/top.sv", &dpi)]);
    // Two equal files are no obstacle.
    for name in [&*format!("one/{TOP}"), "one/old.v", &format!("a/{TOP}"), &format!("b/c/{TOP}")] {
        place.write(&format!("twice/{name}"), &format!("{}// {name}\n", built_in(TOP)));
    }
    place.fails("E0304", "one/old.v", &format!("{SHORT} twice/one"));
    place.remove("twice/one");
    let both = ["a", "b/c"].map(|folder| format!("{folder}/{TOP}:"));
    assert_error_at(&place.run(&format!("{SHORT} twice")), "E0304", &[&both[0], &both[1]]);
    let dll = project().join("rtl/dll/PcieDllTx.sv").display().to_string();
    let rows = [
        ("E0303", "thread2", "other/other.v"),
        ("E0310", "`nobody`", "dpi"),
        ("E0303", "ReqRecvCore_Thread_2", &dll),
        ("E0301", "/nowhere: ", "/nowhere"),
    ];
    place.refuses(SHORT, &rows);
}

/// Paths need no escaping for Verilator, a shell or string literals.
#[test]
fn a_path_may_have_spaces_quotes_and_a_dash_and_a_text_a_byte_order_mark() {
    let rtl = "-a \"b\" 'c' $HOME";
    let place = Place::with_files(&[
        (&format!("{rtl}/x y/{TOP}"), &format!("\u{feff}{}", built_in(TOP))),
        (&format!("{rtl}/x y/{HEADER}"), &wrong_header()),
        // A name that Verilator does not support is refused first.
        ("odd/a\"b.v", &built_in(TOP)),
    ]);
    let quoted = shlex::try_quote(rtl).unwrap();
    place.prints(1, &[&format!("{rtl}/x y/{HEADER}")], &format!("{SHORT}={quoted}"));
    // The vector records the path unchanged.
    place.exits(1, &format!("replay --recorded-rtl {}", place.vectors("out")[0]));
    place.fails("E0302", "b.v", &format!("{SHORT} odd"));
}

#[test]
fn an_included_file_in_a_folder_below_is_part_of_the_model() {
    let top = format!("`include \"sub/settings.inc\"\n{}", built_in(TOP));
    let place = Place::with_files(&[
        (&format!("rtl/{TOP}"), &top),
        (&format!("rtl/{HEADER}"), &built_in(HEADER)),
    ]);
    let (run, settings) = (format!("{SHORT} rtl"), "rtl/sub/settings.inc");
    place.write(settings, "// nothing\n");
    place.exits(0, &run);
    place.write(settings, "`no_such_macro here\n");
    place.fails("E0307", "settings.inc:1", &run);
    place.write(settings, "// nothing\n");
    place.exits(0, &run);
}

/// The first mismatch occurs before the model hangs: the run must not wait for the waveform.
#[test]
fn a_model_that_hangs_after_a_mismatch_does_not_hang_the_run() {
    let spin = "reg [31:0] turns; reg [3:0] edges;\n\
                always @(posedge clk or posedge rst)\n\
                  if (rst) edges <= 4'd0; else if (edges != 4'd15) edges <= edges + 4'd1;\n\
                always @(posedge clk) begin\n  turns = 32'd1;\n\
                  if (edges == 4'd9) while (turns != 32'd0) turns = turns | 32'd1;\nend\nendmodule";
    let mut top = built_in(TOP).replace("endmodule", spin);
    for (level, relation) in [("0", "=="), ("1", "!=")] {
        let from = format!("fetch_cxt_egress_ready = 1'b{level};");
        let to = format!(
            "fetch_cxt_egress_ready = (edges {relation} 4'd5) ^ (edges == 4'd9 && turns[1]);"
        );
        assert!(top.contains(&from), "the RTL says it in other words now");
        top = top.replace(&from, &to);
    }
    let place = Place::with_files(&[(&format!("rtl/{TOP}"), &top), ("traces/nothing", "")]);
    let stuck = "--rtl rtl --stuck-after 2s";
    let run = "run --cases 1 --scenario smoke --fixes spec --out out";
    place.prints(1, &["no waves: hang: the model did not return"], &format!("{run} {stuck}"));
    let vectors = place.vectors("out");
    assert_eq!(vectors.len(), 2, "the shrunk one and the original: {vectors:?}");
    // A trace requested by name leaves no files, either.
    let replay = format!("replay {} {stuck} --trace traces/stuck.vcd", vectors[0]);
    place.prints(1, &["did not return"], &replay);
    assert_eq!(place.names("traces"), ["nothing"]);
}

/// Regression test: the built-in header was used without a message. The working directory is not
/// searched.
#[test]
fn a_header_in_another_given_folder_is_the_one_that_is_read() {
    let wrong = &wrong_header();
    let top = format!("rtl/src/{TOP}");
    let inc = format!("rtl/inc/{HEADER}");
    let place = Place::with_files(&[(&top, &built_in(TOP)), (&inc, wrong), (HEADER, wrong)]);
    place.prints(1, &[&inc, "built-in: none"], &format!("{SHORT} rtl"));
    // A single file does not include the header, so the summary names the one used.
    place.prints(0, &[&format!("built-in: {HEADER}")], &format!("{SHORT} {top}"));
    // -I selects another header.
    place.exits(1, &format!("{SHORT} {top} -Irtl/inc"));
    // A header that was given twice is an error that names both.
    place.write(&format!("rtl/old/{HEADER}"), &built_in(HEADER));
    let both = ["inc", "old"].map(|name| format!("{name}/{HEADER}"));
    assert_error_at(&place.run(&format!("{SHORT} rtl")), "E0305", &[&both[0], &both[1]]);
    // The header beside its includer takes precedence, and so does one in a folder of -I.
    place.exits(0, &format!("{SHORT} rtl -Irtl/old"));
    place.write(&format!("rtl/src/{HEADER}"), wrong);
    place.exits(1, &format!("{SHORT} rtl"));
}

#[test]
fn a_file_list_and_macros_say_what_the_rtl_is() {
    let top = format!("`ifdef BROKEN\n`no_such_macro\n`endif\n{}", built_in(TOP));
    let place = Place::with_files(&[
        (&format!("a folder's/{TOP}"), &top),
        (&format!("inc/{HEADER}"), &built_in(HEADER)),
        ("files.f", &format!("\"a folder's/{TOP}\" // the top\n+incdir+inc\n")),
    ]);
    let run = "run --cases 1 --scenario ring --fixes spec --out out -ffiles.f";
    place.prints(0, &[&format!("a folder's/{TOP}")], run);
    place.fails("E0307", "", &format!("{run} -DBROKEN"));
    place.write("files.f", "--exe x");
    place.fails("E0306", "files.f:1:1", run);
}

#[test]
fn rtl_without_the_parameter_of_fixes_has_the_behaviour_that_is_claimed() {
    let top = built_in(TOP);
    let line = top.lines().find(|line| line.contains("parameter") && line.contains("FIXES"));
    let top = top
        .replace(line.expect("the RTL has the parameter"), "  parameter UNUSED = 0")
        .replacen(");\n", ");\n  localparam [7:0] FIXES = 8'hff;\n", 1);
    let place = Place::with_files(&[(&format!("rtl/{TOP}"), &top)]);
    let run = "run --cases 3 --rtl rtl --out out --force --no-shrink --fixes";
    place.fails("E0312", "FIXES", &format!("{run} all"));
    place.exits(0, &format!("{run} repaired"));
    place.exits(1, &format!("{run} spec"));
}

#[test]
fn a_vector_knows_its_rtl() {
    let place = Place::with_bug(BUG);
    let rtl = place.path("rtl/thread2");
    let named = rtl.display().to_string();
    place.exits(1, &format!("{SHORT} {named}"));
    let vector = &place.vectors("out")[0];
    place.prints(1, &[&named], &format!("replay --recorded-rtl {vector}"));
    place.prints(1, &[&named], &format!("explain --recorded-rtl {vector}"));
    // This user ran this text here. A copy of the run directory names the same text.
    let line = format!("replay {vector}");
    for line in [line.as_str(), "explain", "explain 1", "shrink 1 --out own.json"] {
        assert!(text(&place.run(line)).contains("note: "), "{line}");
    }
    // A stranger's does not decide what runs: a match of the built-in RTL is no verdict on it.
    let stranger = format!("COSIM_CACHE={}", place.path("other").display());
    let corpus = project().join("vectors/thread2").display().to_string();
    for line in [
        &*format!("replay {vector}"),
        &format!("replay --expect-recorded {vector}"),
        &format!("replay --simulator icarus {vector}"),
        // This names no RTL.
        &format!("replay -I . -D X {vector}"),
        "replay --expect-recorded out",
        // A folder with this vector, too.
        &format!("replay out/failures {corpus}"),
        &format!("explain {vector}"),
        &format!("shrink {vector} --out small.json"),
        &format!("export {vector} -o bench"),
    ] {
        let output = place.run(&format!("{stranger} {line}"));
        let command = line.split(' ').next().unwrap();
        let words = [&*named, &format!("{command} --recorded-rtl"), "--rtl built-in"];
        assert_error_at(&output, "E0211", &words);
        assert!(output.stdout.is_empty(), "{}", text(&output));
    }
    assert!(!place.has_file("bench") && !place.has_file("small.json"));
    place.fails("E0101", "", &format!("replay --recorded-rtl --rtl built-in {vector}"));
    let reported = place.json_of(1, &format!("explain --recorded-rtl {vector}"));
    let read = &reported[0]["rtl_files"];
    let expected = [TOP, HEADER].map(|name| rtl.join(name).display().to_string());
    assert_eq!(members(read, "path"), expected);
    assert!(read.as_array().unwrap().iter().all(|file| file["built_in"] == false));
    place.exits(0, &format!("replay {vector} --rtl built-in"));
    // An edited record names other RTL, also under the same hash, and a link does not help.
    let sent = place.text(vector);
    place.link(&rtl, "link");
    for edited in ["link".to_owned(), format!("{named}/{TOP}")] {
        place.write("edited.json", &sent.replace(&*named, &edited));
        place.fails("E0211", "", "explain edited.json");
    }
    let top = place.text(&format!("rtl/thread2/{TOP}"));
    place.write(&format!("rtl/thread2/{TOP}"), &format!("{top} "));
    for line in ["explain 1", "replay 1", "replay out", "shrink"] {
        place.fails("E0211", "has changed since", line);
    }
    place.write(&format!("rtl/thread2/{TOP}"), &built_in(TOP));
    place.prints(0, &["has changed since"], &format!("replay --recorded-rtl {vector}"));
    fs::remove_dir_all(&rtl).unwrap();
    place.fails("E0211", "--rtl built-in", &format!("replay --recorded-rtl {vector}"));
    place.fails("E0211", "--rtl built-in", "explain 1");
}

/// A vector may come from anyone, so the RTL that it names is neither compiled nor copied.
#[test]
fn a_vector_never_chooses_what_is_compiled() {
    let place = Place::new();
    let [mark, rtl, list] = ["mark", "rtl", "evil.f"].map(|name| place.path(name));
    let evil = format!("initial $system(\"touch '{}'\");", mark.display());
    place.write("rtl/evil.v", &format!("module evil; {evil} endmodule\n"));
    place.write("evil.f", &rtl.join("evil.v").display().to_string());
    for given in [
        json!({ "defines": [format!("endmodule={evil} endmodule")] }),
        json!({ "paths": [rtl] }),
        json!({ "include": [rtl] }),
        json!({ "lists": [list] }),
    ] {
        let mut vector = json(vector_of("qp"));
        vector["fixes"] = "spec".into();
        vector["origin"]["given"] = given.clone();
        place.write("sent.json", &vector.to_string());
        for (line, expected) in [
            ("explain sent.json", 0),
            // It matches, so there is nothing to shrink.
            ("shrink sent.json", 2),
            ("export sent.json -o bench", 0),
        ] {
            place.fails("E0211", "", line);
            place.exits(expected, &format!("{line} --rtl built-in"));
        }
        place.fails("E0211", "", "replay sent.json");
        let reported = place.json_of(0, "replay sent.json --rtl built-in");
        let read = reported[0]["rtl_files"].as_array().unwrap();
        assert!(read.iter().all(|file| file["built_in"] == true), "{reported}");
        for file in WalkDir::new(place.path("bench")) {
            let path = file.unwrap().into_path();
            let has = |word: &str| fs::read_to_string(&path).is_ok_and(|text| text.contains(word));
            assert!(!has("evil") && !has("touch"), "{given}: {path:?}");
        }
        place.remove("bench");
        assert!(!mark.exists(), "{given}");
    }
}

#[test]
fn a_missing_tool_is_named() {
    let place = Place::with_files(&[("file", "")]);
    let replay = |cache: &str, more: &str| {
        let cache = place.path(cache).display().to_string();
        format!("COSIM_CACHE={cache} {more} replay --fixes 0x02 {}", vector_of("thread2"))
    };
    place.fails("E0605", "set COSIM_CACHE", &replay("file/below", ""));
    place.fails("E0904", "apt-get install g++", &replay("cache", "CXX=/nowhere/g++"));
}
