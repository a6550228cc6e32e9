//! The cache of compiled models: ownership, contents, and what remains after an interruption.

use crate::common::{
    Place, assert_code, assert_error_at, code, files, interrupted, program, script, source,
    vector_of, wait_until,
};
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn cached(place: &Place, line: &str) -> String {
    format!("COSIM_CACHE={} {line}", place.path("cache").display())
}

/// A replay with fixes that no linked model has, so that one is compiled.
fn replay(place: &Place, variables: &str) -> Output {
    place.run(&replay_line(place, variables))
}

fn replay_line(place: &Place, variables: &str) -> String {
    cached(place, &format!("{variables} replay --fixes 0x01 {}", vector_of("thread2")))
}

/// Regression test: a library compiled with other options was reused, and a library of zeros was
/// loaded. The rest of the environment must not matter.
#[test]
fn a_library_is_that_of_its_compiler_whole_and_no_more_are_kept_than_may() {
    let place = Place::new();
    let libraries = || files(&place.path("cache"), "so");
    let first = code(&replay(&place, "UNRELATED=1"));
    let kept = libraries();
    assert_eq!(kept.len(), 1);
    // The library, Verilator's runtime and, with GCC, its precompiled headers.
    let shown = |words: &str| place.json_of(0, &cached(&place, words));
    let entries = shown("cache show")["entries"].as_array().unwrap().len();
    assert!((2..=3).contains(&entries), "{entries}");
    assert_code(&replay(&place, "UNRELATED=2"), first);
    assert_eq!(libraries(), kept, "it is used again");
    assert_code(&replay(&place, "'CXXFLAGS=-O0 -DOTHER'"), first);
    assert_eq!(libraries().len(), 2, "other options, another library");
    let library = fs::File::options().write(true).open(&kept[0]).unwrap();
    let size = library.metadata().unwrap().len();
    library.set_len(0).and_then(|()| library.set_len(size)).unwrap();
    drop(library);
    assert_code(&replay(&place, "COSIM_CACHE_LIMIT=1K"), first);
    assert_eq!(libraries(), kept, "the other one was too much");
    assert!(fs::read(&kept[0]).unwrap().iter().any(|byte| *byte != 0), "it was made again");
    let wrong = replay(&place, "COSIM_CACHE_LIMIT=much");
    assert_error_at(&wrong, "E0111", &["COSIM_CACHE_LIMIT: `much`"]);
    let entries = shown("cache show")["entries"].as_array().unwrap().len();
    assert_eq!(shown("cache clear")["removed"], entries);
    assert!(libraries().is_empty());
}

/// Regression test: an interruption had no effect until the compiler ended.
#[test]
fn an_interruption_ends_compiling_at_once_and_says_so() {
    let place = Place::new();
    let [cache, pid] = ["cache", "pid"].map(|name| place.path(name));
    // This Verilator never ends, so the timing of the interruption does not matter.
    let never_ends = "for word; do\n  if [ \"$word\" = --cc ]; then\n    echo $$ >\"$PID.new\"\n    \
                      mv \"$PID.new\" \"$PID\"\n    exec sleep 1000\n  fi\ndone\nexec \"$REAL\" \"$@\"";
    let verilator = script(&place.path("verilator"), never_ends).display().to_string();
    let real = env::var("VERILATOR").unwrap_or_else(|_| "verilator".to_owned());
    let variables = format!("PID={} VERILATOR={verilator} REAL={real}", pid.display());
    let mut child = place.start_with_pipes(&replay_line(&place, &variables));
    wait_until(&mut child, || pid.exists());
    let begin = Instant::now();
    let printed = interrupted(child);
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    assert!(printed.to_lowercase().contains("interrupted"), "{printed}");
    let pid = source(&pid);
    let alive = Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status();
    assert!(!alive.unwrap().success(), "Verilator was left behind");
    assert!(files(&cache, "so").is_empty());
}

#[test]
fn the_cache_is_below_the_folder_of_the_user() {
    let place = Place::new();
    let mut command = place.command("cache --format json");
    command.env_remove("COSIM_CACHE").env_remove("XDG_CACHE_HOME").env("HOME", place.path(""));
    let shown: serde_json::Value =
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    let folder = std::path::Path::new(shown["folder"].as_str().unwrap());
    assert_eq!(folder, place.path(".cache/cosim"));
}

/// Regression test: a user without a cache folder could not run the built-in models.
#[test]
fn models_of_the_program_need_no_cache() {
    let mut command = program();
    for name in ["COSIM_CACHE", "XDG_CACHE_HOME", "HOME"] {
        command.env_remove(name);
    }
    command.args(["replay", "--fixes", "spec", &vector_of("thread2")]);
    assert_code(&command.output().unwrap(), 0);
}

#[test]
fn a_cache_that_others_can_write_is_refused() {
    let place = Place::new();
    let cache = place.path("cache");
    fs::create_dir(&cache).unwrap();
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).unwrap();
    assert_error_at(&place.run(&cached(&place, "cache")), "E0606", &["set COSIM_CACHE"]);
    assert_error_at(&replay(&place, ""), "E0606", &["set COSIM_CACHE"]);
    assert!(place.names("cache").is_empty(), "nothing is written");
}
