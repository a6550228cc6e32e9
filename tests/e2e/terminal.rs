//! The command line as people see it: progress, colours, suggestions, completions, and viewers.

use crate::common::{Place, assert_code, assert_contains, program, source, text, typed_in};
use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::{fs, iter};
use wellen::simple::read;

/// Runs a line on a terminal, with the folder and the variables of a program, and types keys.
pub fn typed_on_a_terminal(program: &Command, line: &str, keys: &str) -> Output {
    // A program that waits for more keys is a failure, not a hang.
    let mut command = Command::new("timeout");
    command.args(["300", "script", "-qec", line, "/dev/null"]);
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(program.get_current_dir().unwrap());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{keys}").unwrap();
    child.wait_with_output().unwrap()
}

/// What a terminal got from a run of the program that must end with `expected`.
#[track_caller]
fn on_a_terminal(expected: i32, columns: u32, words: &str, variables: &[(&str, &str)]) -> String {
    let mut program = program();
    program.envs(variables.iter().copied());
    let line = format!("stty rows 24 cols {columns}; {} {words}", program.get_program().display());
    let output = typed_on_a_terminal(&program, &line, "");
    assert_code(&output, expected);
    String::from_utf8(output.stdout).unwrap()
}

/// A line that moves the cursor back shows what a long wait does, and fits the terminal.
#[test]
fn a_long_wait_shows_on_a_terminal_what_is_done() {
    let place = Place::new();
    let out = place.path("run");
    let words =
        format!("run --block qp --rtl rtl/qp --cases 1 --packets 1 --out {}", out.display());
    // Nothing is cached, so the model is compiled, with optimisation: longer than a second.
    let cache = place.path("cache");
    let cache = [("COSIM_CACHE", cache.to_str().unwrap()), ("CXXFLAGS", "-O2")];
    let shown = on_a_terminal(0, 60, &words, &cache);
    let lines = shown.split(['\r', '\n']);
    let lines = lines.map(|line| anstream::adapter::strip_str(line).to_string());
    let progress: Vec<_> = lines.filter(|line| line.contains("building QpStateCtrl")).collect();
    assert!(!progress.is_empty(), "{shown:?}");
    for line in &progress {
        assert!(line.trim_end().chars().count() <= 60, "{line:?}");
    }
    // The last line is the summary, and nothing of the progress is behind it.
    let (_, after) = shown.rsplit_once("PASS").expect("the verdict");
    assert!(!after.contains("building"), "{after:?}");
}

/// Colours appear on a terminal, and neither with `NO_COLOR` nor in a pipe.
#[test]
fn verdicts_have_colours_on_a_terminal_only() {
    let place = Place::new();
    let run = "run --block qp --cases 1 --scenario default --out";
    let shown = |name: &str, no_color: &str| {
        let words = format!("{run} {}", place.path(name).display());
        on_a_terminal(0, 60, &words, &[("TERM", "xterm"), ("NO_COLOR", no_color)])
    };
    let coloured = shown("a", "");
    let green = ["\u{1b}[32mPASS", "\u{1b}[1m\u{1b}[32mPASS"];
    assert!(green.iter().any(|pass| coloured.contains(pass)), "{coloured:?}");
    let plain = shown("b", "1");
    assert!(plain.contains("PASS") && !plain.contains("[32m"), "{plain:?}");
    let piped = place.exits(0, &format!("{run} c"));
    assert!(!piped.contains('\u{1b}'), "{piped}");
}

/// Every shell reads its completions, and every command has a manual page.
#[test]
fn completions_and_manual_pages_cover_every_command() {
    let place = Place::without_bypass();
    place.link_program();
    place.write("cosim.bash", &place.exits(0, "completions bash"));
    place.typed(0, "bash -n cosim.bash");
    place.prints(0, &["COSIM_COMPLETE"], "completions zsh");
    place.prints(0, &["COSIM_COMPLETE"], "completions fish");
    // What bash offers behind the words of a command line, in a folder with a run.
    place.exits(1, "run --quiet --cases 3 --fixes spec --no-waves --rtl rtl");
    let offered = |words: &str| -> Vec<String> {
        let script = format!(
            "PATH=$PWD/bin:$PATH; source cosim.bash; COMP_WORDS=({words}); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_TYPE=9; \
             _clap_complete_cosim cosim \"${{COMP_WORDS[-1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let output = typed_in(&place.path(""), &script);
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    };
    for (words, expected) in [
        ("ru", "run"),
        ("run --until-c", "--until-coverage"),
        ("run --block th", "thread2"),
        ("run --block qp,th", "qp,thread2"),
        ("run --fixes rep", "repaired"),
        ("run --scenario smo", "smoke"),
        ("run --case thread2/spec/smo", "thread2/spec/smoke/0"),
        ("explain ''", "1"),
        ("error E01", "E0101"),
    ] {
        let offered = offered(&format!("cosim {words}"));
        assert!(offered.iter().any(|word| word.trim() == expected), "{words}: {offered:?}");
    }
    // A run of others offers no word that a shell would execute.
    place.edit_record("runs/latest/results.json", "\"smoke\"", "\"smo$(id)\"");
    assert!(!offered("cosim run --scenario smo").iter().any(|word| word.contains('$')));
    fs::create_dir(place.path("man")).unwrap();
    place.exits(0, "man --out man");
    for page in ["cosim", "cosim-run", "cosim-cover-merge", "cosim-doctor"] {
        assert!(place.has_file(&format!("man/{page}.1")), "{page}");
    }
    assert!(!place.has_file("man/cosim-worker.1"));
    place.fails("E0601", "", "man --out missing");
}

/// Types keys in an interactive Bash with the completions.
fn typed_keys(place: &Place, keys: &str) -> String {
    let mut program = program();
    program.current_dir(place.path("")).env("TERM", "dumb").env("NO_COLOR", "1");
    program.env("HISTFILE", "/dev/null").env("INPUTRC", "/dev/null");
    let source = "PATH=$PWD/bin:$PATH; eval \"$(cosim completions bash)\"";
    let keys = format!("{source}\n{keys}\nexit 0");
    text(&typed_on_a_terminal(&program, "bash --norc --noprofile -i", &keys))
}

/// The name of a file may come from anyone: after Tab and Enter no shell executes any of it.
#[test]
fn completions_offer_no_name_of_a_file_that_a_shell_would_execute() {
    let place = Place::new();
    place.link_program();
    for name in ["$(touch PWNED).json", "b`touch PWNED`.json", "c;touch PWNED", "d/$(touch PWNED)"]
    {
        place.write(name, "");
    }
    for command in ["replay", "report", "resume", "run --rtl", "run --plan", "cover report"] {
        for begin in ["$", "b", "c", "d/"] {
            let shown = typed_keys(&place, &format!("cosim {command} {begin}\t"));
            assert!(!place.has_file("PWNED"), "{command} {begin}: {shown}");
        }
    }
    // Other names are still completed: plain ones by the program, the others by Bash.
    for (begin, name) in [("pl", "plain.json"), ("tw", "two words.json")] {
        place.write(name, "{");
        let shown = typed_keys(&place, &format!("cosim replay {begin}\t"));
        assert!(shown.contains(&format!("error[E0204]: {name}:1:")), "{shown}");
    }
}

/// `doctor` finds what is there, and a machine without a compiler cannot run user RTL.
#[test]
fn doctor_says_what_is_missing() {
    let place = Place::new();
    let named = |found: &Value, name: &str| -> Value {
        let checks = found["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).unwrap()["found"].clone()
    };
    let found = place.json_of(0, "doctor");
    assert_eq!(found["works"], true);
    assert!(named(&found, "Verilator").as_str().unwrap().starts_with("5."), "{found}");
    assert!(named(&found, "Yosys").is_string(), "{found}");
    let mut command = place.command("PATH=/nowhere doctor --format json");
    for variable in ["VERILATOR", "CXX", "YOSYS"] {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    assert_code(&output, 3);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["works"], false);
    for name in ["Verilator", "C++ compiler", "Yosys"] {
        assert!(named(&found, name).is_null(), "{name}: {found}");
    }
}

/// A bug of qp: the ready for commands stays high in reset.
const BUG: &str = "qp/05-ready-in-reset";
const FAILING: &str = "run --block qp --cases 4 --scenario default --rtl rtl/qp";

/// The viewer gets the failing waves, the differing signals first, and the cursor at the failure.
#[test]
fn open_shows_the_page_and_the_waves_of_a_failure() {
    let place = Place::with_bug(BUG);
    place.exits(1, &format!("{FAILING} --out run"));
    let page = place.exits(0, "open run --print");
    assert!(page.trim_end().ends_with("/run/report.html"), "{page}");
    let verdict = place.results("run")["failures"][0]["verdict"].clone();
    let (port, cycle) = (verdict["port"].as_str().unwrap(), verdict["cycle"].as_u64().unwrap());

    let printed = place.exits(0, &format!("open run --waves {port} --viewer gtkwave --print"));
    let words: Vec<&str> = printed.split_whitespace().collect();
    let ["gtkwave", waves, save] = words[..] else { panic!("{printed}") };
    let save = source(save);
    assert!(save.contains(&format!("*-2.000000 {} ", cycle * 2)), "{save}");
    let wave = read(waves).unwrap();
    let signals: Vec<&str> = save.lines().filter_map(|line| line.strip_prefix("TOP.")).collect();
    for signal in &signals {
        let name = signal.split('[').next().unwrap();
        let mut path: Vec<&str> = iter::once("TOP").chain(name.split('.')).collect();
        let name = path.pop().unwrap();
        assert!(wave.hierarchy().lookup_var(&path, name).is_some(), "{signal}");
    }
    let at = |name: &str| signals.iter().position(|signal| *signal == name);
    let dut = at(&format!("cosim_top.dut.{port}")).expect("the RTL's output");
    assert!(dut < at("cosim_top.dut.rst").unwrap(), "{signals:?}");
    assert_eq!(at(&format!("cosim_top.golden.{port}")), Some(dut + 1));

    let printed = place.exits(0, "open run --waves --viewer surfer --print");
    let commands = source(printed.split_whitespace().last().unwrap());
    assert!(commands.contains(&format!("cursor_set {}\n", cycle * 2)), "{commands}");

    place.fails("E0109", "", "open run --waves no-such-failure --print");
    place.fails("E0908", "", "PATH=/nowhere open run --waves --viewer surfer");

    // Uncovered bins of a run that ended early say nothing of the stimulus.
    let early = format!("{FAILING} --out early --max-failures 1 --details");
    let early = place.prints(1, &["--max-failures"], &early);
    let one = place.prints(0, &["uncovered bins"], "run --case qp/spec/default/0 --out one");
    assert!(!(early + &one).contains("    not hit:"));
}

/// The numbers of the summary are those of the page and of the commands, and the command at the end
/// of the summary works as it is shown.
#[test]
fn a_failure_is_named_by_its_number() {
    let place = Place::with_bug(BUG);
    place.fails("E0218", "", "explain 1");
    place.fails("E0201", "", "open");
    let failed = place.run(&format!("{FAILING} --quiet"));
    assert_code(&failed, 1);
    let printed = String::from_utf8(failed.stdout).unwrap();
    let next = printed.trim_end().lines().last().unwrap().strip_prefix("  next: ").unwrap();
    assert!(next.ends_with(" explain 1"), "{next}");
    let signature = printed.lines().find_map(|line| line.strip_prefix("  1. ")).unwrap();
    let signature = signature.split(": ").next().unwrap();
    let shown = place.typed(1, next);
    assert_contains(&shown, &[&format!("signature: {signature}\n")]);
    let page = place.text("runs/latest/report.html");
    let (_, first) = page.split_once("id=\"failure-1\"").unwrap();
    assert!(first.contains(&format!("<h3>1. {signature}</h3>")), "{signature}");

    place.exits(1, "replay 1 --rtl rtl/qp");
    place.exits(0, "shrink 1 --rtl rtl/qp --out small.json");
    let open = place.exits(0, "open 1 --print");
    assert!(open.trim_end().ends_with("/report.html#failure-1'"), "{open}");
    let waves = place.exits(0, "open 1 --waves --viewer surfer --print");
    assert!(waves.starts_with("surfer "), "{waves}");
    for (line, number) in [
        ("explain 0 --rtl rtl/qp", "E0109"),
        ("open 99 --print", "E0109"),
        ("open 1 --waves rq --print", "E0107"),
        ("explain small.json --run runs/latest --rtl rtl/qp", "E0107"),
        ("open runs/latest --run runs/latest --print", "E0107"),
    ] {
        place.fails(number, "", line);
    }

    // A number of the vector that is marked may have another value, and the failure stays.
    let results = place.results("runs/latest");
    let failures = results["failures"].as_array().unwrap();
    let main = failures.iter().find(|group| group["signature"] == signature).unwrap();
    let vector = place.json(&format!("runs/latest/{}", main["vector"].as_str().unwrap()));
    let any = vector["origin"]["any"].as_array().expect("some numbers do not matter");
    assert!(first.contains("Values that do not matter"), "{signature}");
    for pointer in any.iter().map(|pointer| pointer.as_str().unwrap()) {
        let name = pointer.rsplit('/').next().unwrap();
        let mut marked = shown.lines().filter(|line| line.starts_with("  any: /"));
        assert!(marked.any(|line| line.contains(name)), "{pointer}: {shown}");
        let mut other = vector.clone();
        let value = other["stimulus"]["traffic"].pointer_mut(pointer).unwrap();
        *value = match &*value {
            Value::Bool(bit) => (!bit).into(),
            Value::String(_) => "0x3".into(),
            _ => 1.into(),
        };
        place.write("other.json", &other.to_string());
        let replayed = text(&place.run("replay other.json --rtl rtl/qp --quiet"));
        let port = main["verdict"]["port"].as_str().unwrap();
        assert!(replayed.contains(&format!(": {port} is ")), "{pointer}: {replayed}");
    }

    // They are those of the latest run that this user began here, wherever it wrote. Others get
    // runs/latest.
    place.exits(1, &format!("{FAILING} --quiet --out elsewhere"));
    place.prints(1, &["elsewhere/failures/"], "explain");
    place.prints(0, &["elsewhere/report.html"], "open 1 --print");
    let stranger = format!("COSIM_CACHE={}", place.path("other").display());
    place.prints(0, &["runs/latest/report.html"], &format!("{stranger} open --print"));
    place.fails("E0211", "", &format!("{stranger} explain 1"));
    fs::remove_dir_all(place.path("elsewhere")).unwrap();
    place.prints(1, &["runs/latest/failures/"], "explain 1");

    // The numbers belong to the latest run, and to a run that is named.
    let latest = fs::read_link(place.path("runs/latest")).unwrap();
    let red = format!("runs/{}", latest.display());
    place.exits(0, "run --case qp/spec/default/0 --quiet");
    place.fails("E0109", "", "explain 1 --rtl rtl/qp");
    let by_number = format!("explain 1 --rtl rtl/qp --run {red}");
    place.exits(1, &by_number);

    // Nothing leads out of a run directory, and an edited one counts for nothing.
    let vector = place.vector(&red);
    place.remove(&vector);
    place.link(place.path("small.json"), &vector);
    place.fails("E0201", "", &by_number);
    place.edit(&format!("{red}/results.json"), "\"seed\":1", "\"seed\":2");
    place.fails("E0219", "", &by_number);
}

/// A bug that breaks nearly every rule fits on a screen, and no line is wider than the terminal.
#[test]
#[ignore = "slow: shrinks a wide bug at three widths"]
fn the_summary_of_a_wide_bug_fits_the_terminal() {
    let place = Place::with_bug("qp/01-reset-keeps-states");
    for columns in [40, 80, 120] {
        let words = format!(
            "run --block qp --cases 60 --no-waves --rtl {} --out {}",
            place.path("rtl/qp").display(),
            place.path(&columns.to_string()).display()
        );
        let shown = on_a_terminal(1, columns, &words, &[("NO_COLOR", "1")]);
        let (_, summary) = shown.rsplit_once("FAIL  ").expect("the verdict");
        // What the progress drew is gone: it ends with a return and an erased line.
        let summary = anstream::adapter::strip_str(summary).to_string();
        let lines: Vec<&str> =
            summary.lines().map(|line| line.rsplit('\r').next().unwrap_or_default()).collect();
        for line in &lines[1..] {
            assert!(line.trim_end().chars().count() <= columns as usize, "{columns}: {line:?}");
        }
        let first = lines.iter().position(|line| line.starts_with("  1.")).expect("a failure");
        let cause = lines[first..].iter().take_while(|line| !line.trim().is_empty());
        assert!(cause.clone().count() <= 10, "{columns}: {:?}", cause.collect::<Vec<_>>());
        assert!(columns < 80 || lines.len() < 60, "{columns}: {shown}");
    }
}
