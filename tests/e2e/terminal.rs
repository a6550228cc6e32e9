//! The command line as people see it: progress, colours, suggestions, completions, and viewers.

use crate::common::{
    assert_code, assert_error, assert_error_at, changed_rtl, code, files, json, patched_rtl,
    program, project, run, run_in, text, typed_in, write_record,
};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use wellen::simple::read;

/// Runs the program on a terminal of 60 columns. It succeeds.
fn on_a_terminal(words: &str, variables: &[(&str, &str)]) -> String {
    let (code, shown) = on_a_terminal_of(60, words, variables);
    assert_eq!(code, 0, "{shown}");
    shown
}

/// Runs the program on a terminal and returns its exit code and what the terminal got.
fn on_a_terminal_of(columns: u32, words: &str, variables: &[(&str, &str)]) -> (i32, String) {
    let program = program();
    let line = format!("stty rows 24 cols {columns}; {} {words}", program.get_program().display());
    let mut command = Command::new("script");
    let set = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(set).envs(variables.iter().copied()).current_dir(project());
    let output = command.args(["-qec", &line, "/dev/null"]).output().unwrap();
    (code(&output), String::from_utf8(output.stdout).unwrap())
}

/// A line that moves the cursor back shows what a long wait does, and fits the terminal.
#[test]
fn a_long_wait_shows_on_a_terminal_what_is_done() {
    let folder = TempDir::new().unwrap();
    let cache = folder.path().join("cache");
    let out = folder.path().join("run");
    let words =
        format!("run --block qp --rtl rtl/qp --cases 1 --packets 1 --out {}", out.display());
    // Nothing is cached, so the model is compiled, with optimisation: longer than a second.
    let cache = [("COSIM_CACHE", cache.to_str().unwrap()), ("CXXFLAGS", "-O2")];
    let shown = on_a_terminal(&words, &cache);
    let progress: Vec<String> = shown
        .split(['\r', '\n'])
        .map(|line| anstream::adapter::strip_str(line).to_string())
        .filter(|line| line.contains("building QpStateCtrl"))
        .collect();
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
    let folder = TempDir::new().unwrap();
    let words = |name: &str| {
        let out = folder.path().join(name);
        format!("run --block qp --cases 1 --scenario default --out {}", out.display())
    };
    let coloured = on_a_terminal(&words("a"), &[("TERM", "xterm"), ("NO_COLOR", "")]);
    assert!(
        coloured.contains("\u{1b}[32mPASS") || coloured.contains("\u{1b}[1m\u{1b}[32mPASS"),
        "{coloured:?}"
    );
    let plain = on_a_terminal(&words("b"), &[("TERM", "xterm"), ("NO_COLOR", "1")]);
    assert!(plain.contains("PASS") && !plain.contains("[32m"), "{plain:?}");
    let piped = run(words("c").split(' '));
    assert!(!text(&piped).contains('\u{1b}'), "{}", text(&piped));
}

/// A misspelt name is answered with the similar one.
#[test]
fn misspelt_names_get_a_suggestion() {
    for (words, number, expected) in [
        ("rnu", "E0101", "`run`"),
        ("run --blok qp", "E0101", "'--block'"),
        ("run --block tread2", "E0102", "did you mean `thread2`?"),
        ("run --scenario smok", "E0105", "did you mean `smoke`?"),
        ("run --fixes spce", "E0103", "did you mean `spec`?"),
        ("run --case qp/spc/smoke/0", "E0103", "did you mean `spec`?"),
        ("mutate --mutants x", "E0101", "expected a whole number"),
    ] {
        let output = run(words.split(' '));
        assert_error_at(&output, number, expected);
    }
    // Nothing is similar.
    let output = run(["run", "--block", "zzzzzz"]);
    assert!(!text(&output).contains("did you mean"), "{}", text(&output));
}

/// Every shell reads its completions, and every command has a manual page.
#[test]
fn completions_and_manual_pages_cover_every_command() {
    let completions = run(["completions", "bash"]);
    assert_eq!(code(&completions), 0);
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("cosim.bash");
    fs::write(&file, &completions.stdout).unwrap();
    let checked = Command::new("bash").arg("-n").arg(&file).output().unwrap();
    assert!(checked.status.success(), "{}", text(&checked));
    for shell in ["zsh", "fish"] {
        let printed = text(&run(["completions", shell]));
        assert!(printed.contains("COSIM_COMPLETE"), "{shell}: {printed}");
    }
    // What bash offers behind the words of a command line, in a folder with a run.
    fs::create_dir(folder.path().join("bin")).unwrap();
    symlink(program().get_program(), folder.path().join("bin/cosim")).unwrap();
    let rtl = changed_rtl("ReqRecvCore_Thread_2.v", "mr_bypass = 1'b1", "mr_bypass = 1'b0");
    let rtl = rtl.path().to_str().unwrap();
    let words = ["run", "--quiet", "--cases", "3", "--fixes", "spec", "--no-waves", "--rtl", rtl];
    assert_eq!(code(&run_in(folder.path(), &words)), 1);
    let offered = |words: &str| -> Vec<String> {
        let script = format!(
            "PATH=$PWD/bin:$PATH; source cosim.bash; COMP_WORDS=({words}); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_TYPE=9; \
             _clap_complete_cosim cosim \"${{COMP_WORDS[-1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let output = typed_in(folder.path(), &script);
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    };
    let has = |words: &str, expected: &str| {
        let offered = offered(words);
        assert!(offered.iter().any(|word| word.trim() == expected), "{words}: {offered:?}");
    };
    has("cosim ru", "run");
    has("cosim run --until-c", "--until-coverage");
    has("cosim run --block th", "thread2");
    has("cosim run --block qp,th", "qp,thread2");
    has("cosim run --fixes rep", "repaired");
    has("cosim run --scenario smo", "smoke");
    has("cosim run --case thread2/spec/smo", "thread2/spec/smoke/0");
    has("cosim explain ''", "1");
    has("cosim error E01", "E0101");
    // A run of others offers no word that a shell would execute.
    let results = folder.path().join("runs/latest/results.json");
    let hostile = fs::read_to_string(&results).unwrap().replace("\"smoke\"", "\"smo$(id)\"");
    write_record(&results, &hostile);
    assert!(!offered("cosim run --scenario smo").iter().any(|word| word.contains('$')));
    let man = folder.path().join("man");
    fs::create_dir(&man).unwrap();
    assert_eq!(code(&run(["man", "--out", man.to_str().unwrap()])), 0);
    let pages: BTreeSet<String> = files(&man, "1")
        .iter()
        .map(|page| page.file_stem().unwrap().display().to_string())
        .collect();
    for page in ["cosim", "cosim-run", "cosim-cover-merge", "cosim-doctor"] {
        assert!(pages.contains(page), "{page}: {pages:?}");
    }
    assert!(!pages.contains("cosim-worker"), "{pages:?}");
    let missing = folder.path().join("missing");
    assert_error(&run(["man", "--out", missing.to_str().unwrap()]), "E0601");
}

/// Types keys in an interactive Bash with the completions, in a folder with `bin/cosim`.
fn typed_keys(folder: &Path, keys: &str) -> String {
    let program = program();
    let set = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
    // A shell that waits for more keys is a failure, not a hang.
    let mut command = Command::new("timeout");
    command.args(["60", "script", "-qec", "bash --norc --noprofile -i", "/dev/null"]);
    command
        .current_dir(folder)
        .envs(set)
        .env("HISTFILE", "/dev/null")
        .env("TERM", "dumb")
        .env("NO_COLOR", "1")
        .env("INPUTRC", "/dev/null");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let source = "PATH=$PWD/bin:$PATH; eval \"$(cosim completions bash)\"";
    writeln!(child.stdin.as_mut().unwrap(), "{source}\n{keys}\nexit 0").unwrap();
    text(&child.wait_with_output().unwrap())
}

/// The name of a file may come from anyone: after Tab and Enter no shell executes any of it.
#[test]
fn completions_offer_no_name_of_a_file_that_a_shell_would_execute() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    symlink(program().get_program(), folder.path().join("bin/cosim")).unwrap();
    fs::create_dir(folder.path().join("d")).unwrap();
    for name in ["$(touch PWNED).json", "b`touch PWNED`.json", "c;touch PWNED", "d/$(touch PWNED)"]
    {
        fs::write(folder.path().join(name), "").unwrap();
    }
    for command in ["replay", "report", "resume", "run --rtl", "run --plan", "cover report"] {
        for begin in ["$", "b", "c", "d/"] {
            let keys = format!("cosim {command} {begin}\t");
            let shown = typed_keys(folder.path(), &keys);
            assert!(!folder.path().join("PWNED").exists(), "{keys:?}: {shown}");
        }
    }
    // Other names are still completed: plain ones by the program, the others by Bash.
    fs::write(folder.path().join("plain.json"), "{").unwrap();
    fs::write(folder.path().join("two words.json"), "{").unwrap();
    for (begin, name) in [("pl", "plain.json"), ("tw", "two words.json")] {
        let shown = typed_keys(folder.path(), &format!("cosim replay {begin}\t"));
        assert!(shown.contains(&format!("error[E0204]: {name}:1:")), "{shown}");
    }
}

/// `doctor` finds what is there, and a machine without a compiler cannot run user RTL.
#[test]
fn doctor_says_what_is_missing() {
    let doctor = |output: Output| -> serde_json::Value {
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", text(&output)))
    };
    let output = run(["doctor", "--format", "json"]);
    assert_code(&output, 0);
    let found = doctor(output);
    assert_eq!(found["works"], true);
    let named = |found: &serde_json::Value, name: &str| -> serde_json::Value {
        let checks = found["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).unwrap()["found"].clone()
    };
    assert!(named(&found, "Verilator").as_str().unwrap().starts_with("5."), "{found}");
    assert!(named(&found, "Yosys").is_string(), "{found}");
    let output = program()
        .args(["doctor", "--format", "json"])
        .env("PATH", "/nowhere")
        .env_remove("VERILATOR")
        .env_remove("CXX")
        .env_remove("YOSYS")
        .output()
        .unwrap();
    assert_code(&output, 3);
    let found = doctor(output);
    assert_eq!(found["works"], false);
    for name in ["Verilator", "C++ compiler", "Yosys"] {
        assert!(named(&found, name).is_null(), "{name}: {found}");
    }
}

/// A failing run of qp, in which the ready for commands stays high in reset.
fn failing(out: &Path, more: &[&str]) -> Output {
    let rtl = patched_rtl(&project().join("tests/bad_rtl/qp/05-ready-in-reset.patch"));
    let words = ["run", "--block", "qp", "--cases", "4", "--scenario", "default", "--rtl"];
    let out = ["--out", out.to_str().unwrap()];
    run(words
        .iter()
        .copied()
        .chain([rtl.path().join("rtl/qp").to_str().unwrap()])
        .chain(out)
        .chain(more.iter().copied()))
}

/// The viewer gets the failing waves, the differing signals first, and the cursor at the failure.
#[test]
fn open_shows_the_page_and_the_waves_of_a_failure() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    assert_eq!(code(&failing(&out, &[])), 1);
    let out = out.to_str().unwrap();
    let page = text(&run(["open", out, "--print"]));
    assert!(page.trim_end().ends_with("/run/report.html"), "{page}");
    let results = json(&Path::new(out).join("results.json"));
    let failure = &results["failures"][0];
    let (port, cycle) =
        (failure["verdict"]["port"].as_str().unwrap(), failure["verdict"]["cycle"].as_u64());

    let printed = text(&run(["open", out, "--waves", port, "--viewer", "gtkwave", "--print"]));
    let words: Vec<&str> = printed.split_whitespace().collect();
    let ["gtkwave", waves, save] = words[..] else { panic!("{printed}") };
    let save = fs::read_to_string(save).unwrap();
    assert!(save.contains(&format!("*-2.000000 {} ", cycle.unwrap() * 2)), "{save}");
    let wave = read(waves).unwrap();
    let signals: Vec<&str> = save.lines().filter_map(|line| line.strip_prefix("TOP.")).collect();
    for signal in &signals {
        let name = signal.split('[').next().unwrap();
        let mut path: Vec<&str> = std::iter::once("TOP").chain(name.split('.')).collect();
        let name = path.pop().unwrap();
        assert!(wave.hierarchy().lookup_var(&path, name).is_some(), "{signal}");
    }
    let place = |name: &str| signals.iter().position(|signal| *signal == name);
    let dut = place(&format!("cosim_top.dut.{port}")).expect("the RTL's output");
    assert!(dut < place("cosim_top.dut.rst").unwrap(), "{signals:?}");
    assert_eq!(place(&format!("cosim_top.golden.{port}")), Some(dut + 1));

    let printed = text(&run(["open", out, "--waves", "--viewer", "surfer", "--print"]));
    let commands = printed.split_whitespace().last().unwrap();
    let commands = fs::read_to_string(commands).unwrap();
    assert!(commands.contains(&format!("cursor_set {}\n", cycle.unwrap() * 2)), "{commands}");

    assert_error(&run(["open", out, "--waves", "no-such-failure", "--print"]), "E0109");
    let missing = program()
        .args(["open", out, "--waves", "--viewer", "surfer"])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    assert_error(&missing, "E0908");
}

/// Uncovered bins of a run that ended early say nothing of the stimulus.
#[test]
fn a_run_that_ended_early_lists_no_uncovered_bins() {
    let folder = TempDir::new().unwrap();
    let (early, one) = (folder.path().join("early"), folder.path().join("one"));
    let output = text(&failing(&early, &["--max-failures", "1", "--details"]));
    assert!(output.contains("--max-failures") && !output.contains("    not hit:"), "{output}");
    let case = ["run", "--case", "qp/spec/default/0", "--out", one.to_str().unwrap()];
    let output = text(&run(case));
    assert!(output.contains("uncovered bins") && !output.contains("    not hit:"), "{output}");
}

/// The numbers of the summary are those of the page and of the commands, and the command at the end
/// of the summary works as it is shown.
#[test]
fn a_failure_is_named_by_its_number() {
    let rtl = patched_rtl(&project().join("tests/bad_rtl/qp/05-ready-in-reset.patch"));
    let folder = TempDir::new().unwrap();
    let here = |words: &str| run_in(folder.path(), &words.split(' ').collect::<Vec<_>>());
    assert_error(&here("explain 1"), "E0218");
    assert_error(&here("open"), "E0201");
    std::os::unix::fs::symlink(rtl.path().join("rtl/qp"), folder.path().join("bad")).unwrap();
    let failed = here("run --block qp --cases 4 --scenario default --rtl bad --quiet");
    assert_code(&failed, 1);
    let printed = String::from_utf8(failed.stdout).unwrap();
    let next = printed.trim_end().lines().last().unwrap().strip_prefix("  next: ").unwrap();
    assert!(next.ends_with(" explain 1 --rtl bad"), "{next}");
    let signature = printed.lines().find_map(|line| line.strip_prefix("  1. ")).unwrap();
    let signature = signature.split(": ").next().unwrap();
    let shown = typed_in(folder.path(), next);
    assert_code(&shown, 1);
    assert!(text(&shown).contains(&format!("signature: {signature}\n")), "{}", text(&shown));
    let page = fs::read_to_string(folder.path().join("runs/latest/report.html")).unwrap();
    let (_, first) = page.split_once("id=\"failure-1\"").unwrap();
    assert!(first.contains(&format!("<h3>1. {signature}</h3>")), "{signature}");

    assert_eq!(code(&here("replay 1 --rtl bad")), 1);
    assert_eq!(code(&here("shrink 1 --rtl bad --out small.json")), 0);
    let open = text(&here("open 1 --print"));
    assert!(open.trim_end().ends_with("/report.html#failure-1'"), "{open}");
    let waves = text(&here("open 1 --waves --viewer surfer --print"));
    assert!(waves.starts_with("surfer "), "{waves}");
    for (words, number) in [
        // The failure is one of user RTL: nothing is said of the built-in one.
        ("explain 1", "E0211"),
        ("replay 1", "E0211"),
        ("shrink 1", "E0211"),
        ("explain 0 --rtl bad", "E0109"),
        ("explain 99 --rtl bad", "E0109"),
        ("replay 99999999999999999999999 --rtl bad", "E0109"),
        ("open 99 --print", "E0109"),
        ("open 1 --waves rq --print", "E0107"),
        ("explain 1 --run nowhere --rtl bad", "E0218"),
        ("explain 1 --run bad --rtl bad", "E0218"),
        ("explain 1 --run runs --rtl bad", "E0108"),
        ("explain small.json --run runs/latest --rtl bad", "E0107"),
        ("open runs/latest --run runs/latest --print", "E0107"),
    ] {
        assert_error(&here(words), number);
    }

    // A number of the vector that is marked may have another value, and the failure stays.
    let results = json(&folder.path().join("runs/latest/results.json"));
    let failures = results["failures"].as_array().unwrap();
    let main = failures.iter().find(|group| first_of(&printed, group)).unwrap();
    let vector = json(&folder.path().join("runs/latest").join(main["vector"].as_str().unwrap()));
    let any = vector["origin"]["any"].as_array().expect("some numbers do not matter");
    assert!(first.contains("Values that do not matter"), "{signature}");
    for pointer in any.iter().map(|pointer| pointer.as_str().unwrap()) {
        let name = pointer.rsplit('/').next().unwrap();
        let marked = text(&shown);
        let mut marked = marked.lines().filter(|line| line.starts_with("  any: /"));
        assert!(marked.any(|line| line.contains(name)), "{pointer}: {}", text(&shown));
        let mut other = vector.clone();
        let place = other["stimulus"]["traffic"].pointer_mut(pointer).unwrap();
        *place = match &*place {
            serde_json::Value::Bool(bit) => (!bit).into(),
            serde_json::Value::String(_) => "0x3".into(),
            _ => 1.into(),
        };
        fs::write(folder.path().join("other.json"), other.to_string()).unwrap();
        let replayed = text(&here("replay other.json --rtl bad --quiet"));
        let port = main["verdict"]["port"].as_str().unwrap();
        assert!(replayed.contains(&format!(": {port} is ")), "{pointer}: {replayed}");
    }

    // The numbers belong to the latest run, and to a run that is named.
    let latest = fs::canonicalize(folder.path().join("runs/latest")).unwrap();
    let red = format!("runs/{}", latest.file_name().unwrap().to_str().unwrap());
    assert_eq!(code(&here("run --case qp/spec/default/0 --quiet")), 0);
    assert_error(&here("explain 1 --rtl bad"), "E0109");
    assert_eq!(code(&here(&format!("explain 1 --rtl bad --run {red}"))), 1);

    // Nothing leads out of a run directory, and an edited one counts for nothing.
    let results = json(&latest.join("results.json"));
    let first = &results["failures"].as_array().unwrap()[0]["vector"];
    let vector = latest.join(first.as_str().unwrap());
    fs::remove_file(&vector).unwrap();
    std::os::unix::fs::symlink(folder.path().join("small.json"), &vector).unwrap();
    let by_number = here(&format!("explain 1 --rtl bad --run {red}"));
    assert_error(&by_number, "E0201");
    let path = latest.join("results.json");
    let edited = fs::read_to_string(&path).unwrap().replacen("\"seed\":1", "\"seed\":2", 1);
    fs::write(&path, edited).unwrap();
    assert_error(&here(&format!("explain 1 --rtl bad --run {red}")), "E0219");
}

/// Whether a group is the main one of the first failure of a summary.
fn first_of(summary: &str, group: &serde_json::Value) -> bool {
    let verdict = summary.lines().skip_while(|line| !line.starts_with("  1. ")).nth(1).unwrap();
    let cycle = format!(" at cycle {} in ", group["verdict"]["cycle"]);
    let port = format!(": {} is ", group["verdict"]["port"].as_str().unwrap_or_default());
    verdict.contains(&cycle) && verdict.contains(&port)
}

/// A bug that breaks nearly every rule fits on a screen, and no line is wider than the terminal.
#[test]
#[ignore = "slow: shrinks a wide bug at three widths"]
fn the_summary_of_a_wide_bug_fits_the_terminal() {
    let rtl = patched_rtl(&project().join("tests/bad_rtl/qp/01-reset-keeps-states.patch"));
    let folder = TempDir::new().unwrap();
    for columns in [40, 80, 120] {
        let words = format!(
            "run --block qp --cases 60 --no-waves --rtl {} --out {}",
            rtl.path().join("rtl/qp").display(),
            folder.path().join(columns.to_string()).display()
        );
        let (code, shown) = on_a_terminal_of(columns, &words, &[("NO_COLOR", "1")]);
        assert_eq!(code, 1, "{shown}");
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
