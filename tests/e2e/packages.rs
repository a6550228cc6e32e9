//! What users install: the release archive, the image and the action.

use crate::common::{
    Place, assert_code, assert_contains, assert_error_at, program, project, python, script, source,
    text,
};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The program of the archive works where nothing else of the checkout is.
#[test]
fn the_archive_has_all_that_is_needed_at_run_time() {
    let folder = Place::new();
    let package = || {
        let program = program();
        let mut command = Command::new(project().join("scripts/package"));
        let set = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.envs(set).arg(program.get_program()).env("COSIM_PACKAGES", folder.path(""));
        let made = command.output().unwrap();
        assert_code(&made, 0);
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    };
    let archive = package();
    let first = fs::read(&archive).unwrap();
    let place = folder.path("place");
    fs::create_dir(&place).unwrap();
    let mut tar = Command::new("tar");
    assert_code(&tar.args(["-xzf", &archive, "-C"]).arg(&place).output().unwrap(), 0);
    let name = Path::new(&archive).file_name().unwrap().to_str().unwrap();
    let root = place.join(name.trim_end_matches(".tar.gz"));
    for file in [
        "share/man/man1/cosim-run.1",
        "share/bash-completion/completions/cosim",
        "share/zsh/site-functions/_cosim",
        "share/doc/cosim/book.html",
        "README.md",
        "LICENSE-MIT",
        "tests/bad_rtl/qp/09-rts-from-init.patch",
    ] {
        assert!(root.join(file).is_file(), "{file}");
    }
    let run = |words: &str| {
        let mut command = Command::new(root.join("bin/cosim"));
        command.args(words.split(' ')).current_dir(&place);
        command.env("COSIM_CACHE", place.join("cache")).env("COSIM_STATE", place.join("state"));
        command.output().unwrap()
    };
    let short = "run --cases 1 --packets 1 --scenario smoke";
    // Outside of a crate nothing runs that is not named.
    assert_error_at(&run(short), "E0109", &["--block thread2"]);
    assert_code(&run(&format!("{short} --block thread2")), 0);
    // A command of README, for which the archive has the RTL.
    let bug = root.join("examples/bug");
    let bug = format!("run --block dll --rtl {} --max-failures 1 --out red", bug.display());
    assert_code(&run(&bug), 1);
    let vectors = root.join("vectors/qp");
    assert_code(&run(&format!("replay --expect-recorded --quiet {}", vectors.display())), 0);
    // The program brings the library that its crates are compiled from, and mends a changed copy.
    fs::copy(project().join("examples/fifo/rtl/Fifo.sv"), place.join("Fifo.sv")).unwrap();
    assert_code(&run("new queue --top Fifo Fifo.sv"), 0);
    let config = fs::read_to_string(place.join("queue/.cargo/config.toml")).unwrap();
    let config: toml::Table = toml::from_str(&config).unwrap();
    let core = config["patch"]["crates-io"]["cosim-core"]["path"].as_str().unwrap();
    let library = Path::new(core).parent().unwrap();
    assert!(library.starts_with(place.join("cache")), "{core}");
    let own = fs::read(project().join("core/src/lib.rs")).unwrap();
    fs::write(library.join("core/src/lib.rs"), "// other code").unwrap();
    fs::write(library.join("crates/base/build.rs"), "fn main() {}").unwrap();
    assert_code(&run("doctor"), 0);
    assert_eq!(fs::read(library.join("core/src/lib.rs")).unwrap(), own);
    assert!(!library.join("crates/base/build.rs").exists(), "a build script of others");
    // The same program gives the same bytes.
    assert!(fs::read(package()).unwrap() == first, "two archives differ");
}

/// The commands of the image are those of the README, and its files exist.
#[test]
fn the_image_runs_scripts_of_the_checkout() {
    let text = source("packaging/Containerfile");
    let words = text.split(|c: char| c.is_whitespace() || "\"[],".contains(c));
    let scripts: Vec<&str> = words.filter(|word| word.starts_with("scripts/")).collect();
    assert!(scripts.contains(&"scripts/run") && scripts.contains(&"scripts/test"), "{text}");
    for script in scripts {
        assert!(project().join(script).is_file(), "{script}");
    }
}

/// The steps of the action in a shell, with `cargo` and `sudo` that print their words.
#[test]
fn the_action_builds_the_crate_and_keeps_the_run() {
    const STEPS: &str = "
import json, sys, yaml
action = yaml.safe_load(open(sys.argv[1]))
assert action['runs']['using'] == 'composite'
steps = action['runs']['steps']
print(json.dumps([step.get('run', '') for step in steps]))
assert all('shell' in step for step in steps if 'run' in step), steps
assert any('upload-artifact' in step.get('uses', '') for step in steps)
workflow = yaml.safe_load(open(sys.argv[2]))
uses = [s for job in workflow['jobs'].values() for s in job['steps'] if 'OWNER/cosim' in s.get('uses', '')]
assert uses and set(uses[0]['with']) <= set(action['inputs']), uses
";
    let files = ["action.yml", "docs/how-to/ci/user-block.yml"].map(|name| project().join(name));
    let output = python().args(["-c", STEPS]).args(files).output().unwrap();
    assert_code(&output, 0);
    let steps: Vec<String> = serde_json::from_slice(&output.stdout).unwrap();
    let place = Place::new();
    for tool in ["cargo", "cosim", "sudo"] {
        let text = format!("printf '<%s>' {tool} \"$@\"\necho\nexit ${{CODE:-0}}");
        script(&place.path(tool), &text);
    }
    let path = format!("{}:{}", place.path("").display(), std::env::var("PATH").unwrap());
    let shell = |step: &str, exit: &str| -> Output {
        let mut bash = Command::new("bash");
        bash.args(["-eo", "pipefail", "-c", step]);
        bash.env("GITHUB_OUTPUT", place.path("outputs")).env("RUNNER_TEMP", place.path(""));
        bash.env("GITHUB_STEP_SUMMARY", place.path("summary"));
        bash.envs([("PATH", &*path), ("CODE", exit), ("BASE", "main:rtl"), ("RTL", "my rtl")]);
        bash.envs([("GITHUB_ACTION_PATH", "/action"), ("OUT", "/out dir")]);
        bash.env("ARGUMENTS", "--seed random --time 10m").output().unwrap()
    };
    let mut printed = String::new();
    for step in &steps {
        let ran = shell(step, "0");
        assert_code(&ran, 0);
        printed += &text(&ran);
    }
    let diff = "<cosim><diff><--block><all><--out></out dir><--><main:rtl><my rtl>";
    let expected = [
        "<sudo><apt-get><install>",
        "<cargo><install><--locked>",
        "<cosim><run><--out></out dir><--force><--rtl><my rtl><--block><all><--seed><random><--time><10m>",
        diff,
    ];
    assert_contains(&printed, &expected);
    let expected = "diff=/out dir\nresult=equivalent\nrun=/out dir\n";
    assert_eq!(place.text("outputs"), expected);
    assert_eq!(place.text("summary"), format!("~~~~text\n{diff}\n~~~~\n"));
    // A difference leaves the decision to the regression; an error ends the job.
    let step = steps.iter().find(|step| step.contains("cosim diff")).unwrap();
    for (exit, result) in [("1", "different"), ("4", "undecided"), ("2", "")] {
        place.write("outputs", "");
        let continues = !result.is_empty();
        assert_eq!(shell(step, exit).status.success(), continues, "{exit}");
        let outputs = place.text("outputs");
        assert_eq!(outputs.contains(&format!("result={result}\n")), continues, "{outputs}");
    }
}
