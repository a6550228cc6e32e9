//! What users install: the release archive, the image and the action.

use crate::common::{assert_code, assert_error_at, code, program, project, python, text};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn script(name: &str, out: &Path) -> Command {
    let program = program();
    let mut command = Command::new(project().join("scripts").join(name));
    let set = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(set).arg(program.get_program()).env("COSIM_PACKAGES", out);
    command
}

/// The program of the archive works where nothing else of the checkout is.
#[test]
fn the_archive_has_all_that_is_needed_at_run_time() {
    let folder = TempDir::new().unwrap();
    let made = script("package", folder.path()).output().unwrap();
    assert_code(&made, 0);
    let archive = String::from_utf8(made.stdout).unwrap();
    let archive = Path::new(archive.trim());
    let first = fs::read(archive).unwrap();
    let place = folder.path().join("place");
    fs::create_dir(&place).unwrap();
    let unpacked = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&place).output();
    assert!(unpacked.unwrap().status.success());
    let name = archive.file_name().unwrap().to_str().unwrap().trim_end_matches(".tar.gz");
    let root = place.join(name);
    for file in [
        "share/man/man1/cosim-run.1",
        "share/bash-completion/completions/cosim",
        "share/zsh/site-functions/_cosim",
        "share/doc/cosim/README.md",
        "share/doc/cosim/LICENSE-MIT",
        "share/cosim/vectors/schema.json",
    ] {
        assert!(root.join(file).is_file(), "{file}");
    }
    let run = |words: &[&str]| {
        let mut command = Command::new(root.join("bin/cosim"));
        command.args(words).current_dir(&place).env("COSIM_CACHE", place.join("cache"));
        command.env("COSIM_STATE", place.join("state"));
        command.output().unwrap()
    };
    let short = ["run", "--cases", "1", "--packets", "1", "--scenario", "smoke"];
    // Outside of a crate nothing runs that is not named.
    assert_error_at(&run(&short), "E0109", "--block thread2");
    assert_code(&run(&[&short[..], &["--block", "thread2"]].concat()), 0);
    let vectors = root.join("share/cosim/vectors/qp");
    assert_code(&run(&["replay", "--expect-recorded", "--quiet", vectors.to_str().unwrap()]), 0);
    // The program brings the library that its crates are compiled from, and mends a changed copy.
    fs::copy(project().join("examples/fifo/rtl/Fifo.sv"), place.join("Fifo.sv")).unwrap();
    let output = run(&["new", "queue", "--top", "Fifo", "Fifo.sv"]);
    assert_code(&output, 0);
    let config = fs::read_to_string(place.join("queue/.cargo/config.toml")).unwrap();
    let config: toml::Table = toml::from_str(&config).unwrap();
    let core = config["patch"]["crates-io"]["cosim-core"]["path"].as_str().unwrap();
    let library = Path::new(core).parent().unwrap();
    assert!(library.starts_with(place.join("cache")), "{core}");
    let own = fs::read(project().join("core/src/lib.rs")).unwrap();
    fs::write(library.join("core/src/lib.rs"), "// other code").unwrap();
    fs::write(library.join("crates/base/build.rs"), "fn main() {}").unwrap();
    assert_eq!(code(&run(&["doctor"])), 0);
    assert_eq!(fs::read(library.join("core/src/lib.rs")).unwrap(), own);
    assert!(!library.join("crates/base/build.rs").exists(), "a build script of others");
    // The same program gives the same bytes.
    assert_code(&script("package", folder.path()).output().unwrap(), 0);
    assert!(fs::read(archive).unwrap() == first, "two archives differ");
}

/// The commands of the image are those of the README, and its files exist.
#[test]
fn the_image_runs_scripts_of_the_checkout() {
    let text = fs::read_to_string(project().join("packaging/Containerfile")).unwrap();
    let scripts: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || "\"[],".contains(c))
        .filter(|word| word.starts_with("scripts/"))
        .collect();
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
    let [action, workflow] = ["action.yml", "docs/how-to/ci/user-block.yml"];
    let output = python()
        .args(["-c", STEPS])
        .args([project().join(action), project().join(workflow)])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let steps: Vec<String> = serde_json::from_slice(&output.stdout).unwrap();
    let folder = TempDir::new().unwrap();
    for tool in ["cargo", "cosim", "sudo"] {
        let file = folder.path().join(tool);
        let script = format!("#!/bin/sh\nprintf '<%s>' {tool} \"$@\"\necho\nexit ${{CODE:-0}}\n");
        fs::write(&file, script).unwrap();
        assert!(Command::new("chmod").arg("+x").arg(&file).status().unwrap().success());
    }
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let outputs = folder.path().join("outputs");
    let summary = folder.path().join("summary");
    let mut printed = String::new();
    let shell = |step: &str, outputs: &Path, exit: &str| {
        Command::new("bash")
            .args(["-eo", "pipefail", "-c", step])
            .env("PATH", &path)
            .env("CODE", exit)
            .env("GITHUB_OUTPUT", outputs)
            .env("GITHUB_STEP_SUMMARY", &summary)
            .env("RUNNER_TEMP", folder.path())
            .env("BASE", "main:rtl")
            .env("GITHUB_ACTION_PATH", "/action")
            .env("OUT", "/out dir")
            .env("RTL", "my rtl")
            .env("ARGUMENTS", "--seed random --time 10m")
            .output()
            .unwrap()
    };
    for step in &steps {
        let ran = shell(step, &outputs, "0");
        assert!(ran.status.success(), "{step}: {}", text(&ran));
        printed += &text(&ran);
    }
    assert!(
        printed.contains("<sudo><apt-get><install>")
            && printed.contains("<cargo><install><--locked>"),
        "{printed}"
    );
    let run = "<cosim><run><--out></out dir><--force><--rtl><my rtl><--block><all><--seed><random><--time><10m>";
    assert!(printed.contains(run), "{printed}");
    let diff = "<cosim><diff><--block><all><--out></out dir><--><main:rtl><my rtl>";
    assert!(printed.contains(diff), "{printed}");
    let expected = "diff=/out dir\nresult=equivalent\nrun=/out dir\n";
    assert_eq!(fs::read_to_string(&outputs).unwrap(), expected);
    assert_eq!(fs::read_to_string(&summary).unwrap(), format!("~~~~text\n{diff}\n~~~~\n"));
    // A difference leaves the decision to the regression; an error ends the job.
    let step = steps.iter().find(|step| step.contains("cosim diff")).unwrap();
    for (exit, result) in [("1", "different"), ("4", "undecided"), ("2", "")] {
        fs::write(&outputs, "").unwrap();
        let ran = shell(step, &outputs, exit);
        assert_eq!(ran.status.success(), !result.is_empty(), "{exit}");
        let written = fs::read_to_string(&outputs).unwrap();
        assert_eq!(
            written.contains(&format!("result={result}\n")),
            !result.is_empty(),
            "{written}"
        );
    }
}
