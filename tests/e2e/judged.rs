//! Cases whose golden side is cached: a run that skips scoreboard and coverage gives the same
//! results.

use crate::common::{QUICKLY, code, copy_rtl, cosim, json, models, patched_rtl, project, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// Runs some cases of every scenario. Returns the folder of the run, and the number of cached
/// cases.
fn run(folder: &Path, out: &str, expected: i32, more: &[&str]) -> (PathBuf, u64) {
    run_with(&folder.join("cache"), &folder.join(out), expected, more)
}

fn run_with(cache: &Path, out: &Path, expected: i32, more: &[&str]) -> (PathBuf, u64) {
    let fixed = [
        "run",
        "--block",
        "dll",
        "--fixes",
        "spec",
        "--cases",
        "10",
        "--quiet",
        "--no-waves",
        "--out",
    ];
    let output = cosim()
        .args(fixed)
        .arg(out)
        .args(more)
        .env("COSIM_CACHE", cache)
        .env(QUICKLY.0, QUICKLY.1)
        .output()
        .unwrap();
    assert_eq!(code(&output), expected, "{}", text(&output));
    let judged = json(&out.join("timing.json"))["judged_before"].as_u64().unwrap();
    (out.to_owned(), judged)
}

/// Checks that so many of `cached` cases took their counts from the cache: all but one of each 64.
#[track_caller]
fn is_cached(judged: u64, cached: u64) {
    let again = cached.checked_sub(judged).expect("not more than there are");
    assert!((cached / 64..=cached.div_ceil(64)).contains(&again), "{judged} of {cached}");
}

#[track_caller]
fn are_same(one: &Path, other: &Path) {
    for file in ["results.json", "coverage.json"] {
        let [one, other] = [one, other].map(|run| fs::read(run.join(file)).unwrap());
        assert!(one == other, "{file} differs");
    }
}

/// A second run of the same cases has the same bytes, on good and bad RTL, with and without
/// coverage.
#[test]
fn a_run_of_cases_that_were_judged_before_has_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let (first, judged) = run(folder.path(), "first", 0, &[]);
    assert_eq!(judged, 0);
    let cases = json(&first.join("results.json"))["totals"]["cases"].as_u64().unwrap();
    assert!(cases >= 30, "{cases}");
    let (second, judged) = run(folder.path(), "second", 0, &[]);
    // Raw pins, too.
    is_cached(judged, cases);
    are_same(&first, &second);
    let (all, judged) = run(folder.path(), "all", 0, &["--no-cache"]);
    assert_eq!(judged, 0);
    are_same(&first, &all);
    // Another length means other cases.
    assert_eq!(run(folder.path(), "short", 0, &["--packets", "9"]).1, 0);

    // Failing cases run in full, the others use the cache.
    let rtl = patched_rtl(&project().join("tests/bad_rtl/dll/15-skip-without-modulo.patch"));
    let rtl = rtl.path().to_str().unwrap();
    let given = ["--rtl", rtl, "--no-shrink"];
    let (known, judged) = run(folder.path(), "known", 1, &given);
    let totals = json(&known.join("results.json"))["totals"].clone();
    let matched = totals["matched"].as_u64().unwrap();
    assert!(matched > 0 && matched < cases, "{totals}");
    // A case that is judged again may be one that fails.
    assert!(judged <= matched && judged + cases.div_ceil(64) >= matched, "{judged} {totals}");
    let (full, _) = run(folder.path(), "full", 1, &[&given[..], &["--no-cache"]].concat());
    are_same(&known, &full);
}

/// Changes the last count of every cached case, and seals the entries again.
fn poison(cache: &Path) {
    let answers = walkdir::WalkDir::new(cache.join("answers")).into_iter();
    let mut poisoned = 0;
    for entry in answers.map(Result::unwrap).filter(|entry| entry.file_type().is_file()) {
        let path = entry.path();
        let bytes = fs::read(path).unwrap();
        let (mut value, mut at) = (bytes[blake3::OUT_LEN..].to_vec(), 0);
        // Postcard: the number of cases, then the seed, the length and the bytes of each.
        let number = |value: &[u8], at: &mut usize| {
            let (mut number, mut shift) = (0u64, 0);
            loop {
                let byte = value[*at];
                *at += 1;
                number |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return number;
                }
            }
        };
        for _ in 0..number(&value, &mut at) {
            number(&value, &mut at);
            at += number(&value, &mut at) as usize;
            value[at - 1] ^= 1;
            poisoned += 1;
        }
        assert_eq!(at, value.len(), "{path:?}");
        let [folder, file] = [path.parent().unwrap(), path].map(|path| path.file_name().unwrap());
        let key = format!("{}{}", folder.to_str().unwrap(), file.to_str().unwrap());
        let key = blake3::Hash::from_hex(key).unwrap();
        let mut hash = blake3::Hasher::new();
        hash.update(key.as_bytes()).update(&value);
        fs::write(path, [hash.finalize().as_bytes(), &value[..]].concat()).unwrap();
    }
    assert!(poisoned >= 30, "{poisoned}");
}

/// A run finds wrong counts in the cache, empties it and begins again: its results do not depend on
/// what was there.
#[test]
fn a_poisoned_cache_changes_no_result() {
    let folder = TempDir::new().unwrap();
    let saved = ["--save-vectors", "2"];
    let (first, _) = run(folder.path(), "first", 0, &saved);
    poison(&folder.path().join("cache"));
    let (second, judged) = run(folder.path(), "second", 0, &saved);
    assert_eq!(judged, 0, "no count of the cache is in the results");
    are_same(&first, &second);
    let names = |run: &Path| -> Vec<_> {
        fs::read_dir(run.join("saved")).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    assert_eq!(names(&second).len(), names(&first).len());
    // The cache has the right counts again.
    let (third, judged) = run(folder.path(), "third", 0, &saved);
    is_cached(judged, json(&first.join("results.json"))["totals"]["cases"].as_u64().unwrap());
    are_same(&first, &third);
    // Failures of a run that begins again are those of a run without a cache.
    let rtl = patched_rtl(&project().join("tests/bad_rtl/dll/15-skip-without-modulo.patch"));
    let given = ["--rtl", rtl.path().to_str().unwrap(), "--no-shrink"];
    let (full, _) = run(folder.path(), "full", 1, &[&given[..], &["--no-cache"]].concat());
    poison(&folder.path().join("cache"));
    let (failing, judged) = run(folder.path(), "failing", 1, &given);
    assert_eq!(judged, 0);
    are_same(&full, &failing);
}

/// RTL that runs C++, however it is spelled, stores no counts; other user RTL does.
#[test]
fn only_pure_rtl_stores_counts() {
    let folder = TempDir::new().unwrap();
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 >> 1;
    for (index, (text, stores)) in
        [("", true), ("`define C c\n  initial $`C(\"\");", false)].into_iter().enumerate()
    {
        let at = folder.path().join(index.to_string());
        copy_rtl(&at);
        let top = at.join("dll/PcieAckNak.sv");
        let module = fs::read_to_string(&top).unwrap();
        let (module, rest) = module.rsplit_once("endmodule").unwrap();
        fs::write(&top, format!("{module}{text}\nendmodule{rest}")).unwrap();
        let seed = (seed + index as u64).to_string();
        let given = ["--seed", &seed, "--rtl", at.join("dll").to_str().unwrap()].map(str::to_owned);
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let (one, judged) = run_with(&models(), &at.join("one"), 0, &given);
        assert_eq!(judged, 0, "{text}");
        let (other, judged) = run_with(&models(), &at.join("other"), 0, &given[..2]);
        assert_eq!(judged > 0, stores, "{text}");
        let counts = |run: &Path| json(&run.join("results.json"))["profiles"].clone();
        assert_eq!(counts(&one), counts(&other));
    }
}
