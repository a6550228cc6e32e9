//! The cache of compiled models: ownership, contents, and what remains after an interruption.

use crate::common::{assert_code, assert_error_at, code, files, models, program, project, text};
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A replay with fixes that no linked model has, so that one is compiled.
fn replay(cache: &Path, set: &[(&str, &str)]) -> Output {
    let mut command = program();
    command.env("COSIM_CACHE", cache).envs(set.iter().copied());
    command.args(["replay", "--fixes", "0x01"]);
    command.arg(&files(&project().join("vectors/thread2"), "json")[0]).output().unwrap()
}

/// Regression test: a library compiled with other options was reused, and a library of zeros was
/// loaded. The rest of the environment must not matter.
#[test]
fn a_library_is_that_of_its_compiler_whole_and_no_more_are_kept_than_may() {
    let cache = TempDir::new().unwrap();
    let first = replay(cache.path(), &[("UNRELATED", "1")]);
    let libraries = files(cache.path(), "so");
    assert_eq!(libraries.len(), 1, "{}", text(&first));
    let again = replay(cache.path(), &[("UNRELATED", "2")]);
    assert_eq!(code(&again), code(&first), "{}", text(&again));
    assert_eq!(files(cache.path(), "so"), libraries, "it is used again");
    let other = replay(cache.path(), &[("CXXFLAGS", "-O0 -DOTHER")]);
    assert_eq!(code(&other), code(&first), "{}", text(&other));
    assert_eq!(files(cache.path(), "so").len(), 2, "other options, another library");
    let library = fs::File::options().write(true).open(&libraries[0]).unwrap();
    let size = library.metadata().unwrap().len();
    library.set_len(0).and_then(|()| library.set_len(size)).unwrap();
    drop(library);
    let again = replay(cache.path(), &[("COSIM_CACHE_LIMIT", "1K")]);
    assert_eq!(code(&again), code(&first), "{}", text(&again));
    assert_eq!(files(cache.path(), "so"), libraries, "the other one was too much");
    assert!(fs::read(&libraries[0]).unwrap().iter().any(|byte| *byte != 0), "it was made again");
    let wrong = replay(cache.path(), &[("COSIM_CACHE_LIMIT", "much")]);
    assert_error_at(&wrong, "E0111", "COSIM_CACHE_LIMIT: `much`");
}

/// Regression test: an interruption had no effect until the compiler ended.
#[test]
fn an_interruption_ends_compiling_at_once_and_says_so() {
    let folder = TempDir::new().unwrap();
    let [cache, pid, script] = ["cache", "pid", "verilator"].map(|name| folder.path().join(name));
    // This Verilator never ends, so the timing of the interruption does not matter.
    let text_of_script = "#!/bin/sh\nfor word; do\n  if [ \"$word\" = --cc ]; then\n    echo $$ >\"$PID.new\"\n    \
                          mv \"$PID.new\" \"$PID\"\n    exec sleep 1000\n  fi\ndone\nexec \"$REAL\" \"$@\"\n";
    fs::write(&script, text_of_script).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let real = env::var_os("VERILATOR").unwrap_or_else(|| "verilator".into());
    let child = program()
        .envs([("COSIM_CACHE", &cache), ("PID", &pid), ("VERILATOR", &script)])
        .env("REAL", real)
        .args(["replay", "--fixes", "0x01"])
        .arg(&files(&project().join("vectors/thread2"), "json")[0])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !pid.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "Verilator was never asked");
        std::thread::yield_now();
    }
    let signal = |what: &str, pid: &str| {
        Command::new("kill").args([what, pid]).stderr(Stdio::null()).status().unwrap().success()
    };
    assert!(signal("-INT", &child.id().to_string()));
    let interrupted = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(interrupted.elapsed() < Duration::from_secs(30), "{:?}", interrupted.elapsed());
    assert_code(&output, 130);
    assert!(text(&output).to_lowercase().contains("interrupted"), "{}", text(&output));
    assert!(!signal("-0", fs::read_to_string(&pid).unwrap().trim()), "Verilator was left behind");
    assert!(files(&cache, "so").is_empty());
}

/// Tests start the program in one place (`common::program`, which clippy enforces), and models
/// built in their process use the same cache.
#[test]
fn the_tests_leave_the_users_cache_alone() {
    let user = TempDir::new().unwrap();
    let folder = |forget: bool| {
        let mut command = program();
        command.env_remove("XDG_CACHE_HOME").env("HOME", user.path());
        if forget {
            command.env_remove("COSIM_CACHE");
        }
        let output = command.args(["cache", "--format", "json"]).output().unwrap();
        let shown: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        Path::new(shown["folder"].as_str().unwrap()).to_owned()
    };
    assert_eq!(folder(false), models());
    assert_eq!(folder(true), user.path().join(".cache/cosim"), "where it would be");
}

/// Regression test: a user without a cache folder could not run the built-in models.
#[test]
fn models_of_the_program_need_no_cache() {
    let mut command = program();
    for name in ["COSIM_CACHE", "XDG_CACHE_HOME", "HOME"] {
        command.env_remove(name);
    }
    let vector = files(&project().join("vectors/thread2"), "json").remove(0);
    assert_code(&command.args(["replay", "--fixes", "spec"]).arg(&vector).output().unwrap(), 0);
}

/// Regression test: in a folder with mode 1777, a library of another user was executed.
#[test]
fn a_cache_that_others_can_write_is_used_in_parts_or_refused() {
    let cache = TempDir::new().unwrap();
    let set = |mode| fs::set_permissions(&cache, fs::Permissions::from_mode(mode)).unwrap();
    let shown = || {
        let mut command = program();
        command.env("COSIM_CACHE", cache.path()).args(["cache", "--format", "json"]);
        command.output().unwrap()
    };
    set(0o777);
    for output in [shown(), replay(cache.path(), &[])] {
        assert_error_at(&output, "E0606", "set COSIM_CACHE");
    }
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 0, "nothing is written");
    // Each user has a private folder; files of others beside it are ignored.
    set(0o1777);
    let reported: serde_json::Value = serde_json::from_slice(&shown().stdout).unwrap();
    let own = Path::new(reported["folder"].as_str().unwrap());
    assert_eq!(own.parent(), Some(cache.path()));
    assert_eq!(fs::metadata(own).unwrap().permissions().mode() & 0o777, 0o700);
}
