//! Vector files: which files of a folder are vectors, and what is refused before it is read.

use crate::common::{assert_code, code, files, project, run, text};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A matching vector of the corpus.
fn vector() -> PathBuf {
    files(&project().join("vectors/qp"), "json").remove(0)
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// The number of replayed vectors, and the other output.
#[track_caller]
fn replayed<P: AsRef<Path>>(vectors: &[P]) -> (usize, String) {
    let options = ["replay", "--fixes", "spec", "--format", "json"].map(Path::new);
    let output = run(options.into_iter().chain(vectors.iter().map(AsRef::as_ref)));
    assert_code(&output, 0);
    let reports: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    (reports.len(), String::from_utf8(output.stderr).unwrap())
}

#[track_caller]
fn refused(path: &Path, expected: &str) {
    let output = run([Path::new("replay"), path]);
    assert_code(&output, 2);
    assert!(text(&output).contains(expected), "{}", text(&output));
    assert!(output.stdout.is_empty(), "nothing was replayed: {}", text(&output));
}

/// Regression test: a dangling link and `A.JSON` were skipped silently.
#[test]
fn every_vector_of_a_folder_is_replayed_and_skipped_files_are_listed() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["corpus", "elsewhere"] {
        fs::create_dir(at(name)).unwrap();
    }
    fs::copy(vector(), at("corpus/a.json")).unwrap();
    fs::copy(vector(), at("corpus/B.JSON")).unwrap();
    fs::copy(vector(), at("elsewhere/d.json")).unwrap();
    symlink(at("elsewhere/d.json"), at("corpus/c.json")).unwrap();
    symlink(at("elsewhere"), at("corpus/linked")).unwrap();
    fs::write(at("corpus/schema.json"), "{}").unwrap();
    fs::write(at("corpus/README.md"), "").unwrap();
    let (count, printed) = replayed(&[at("corpus")]);
    assert_eq!(count, 4, "{printed}");
    assert!(printed.contains("corpus/schema.json"), "{printed}");
    // A pattern also matches folders.
    assert_eq!(replayed(&[at("corp*")]).0, 4);

    for (name, expected) in [("gone.json", "gone.json"), ("gone", "corpus/gone")] {
        symlink(at("nowhere"), at("corpus").join(name)).unwrap();
        refused(&at("corpus"), expected);
        fs::remove_file(at("corpus").join(name)).unwrap();
    }
    symlink(at("nowhere"), at("corpus/gone.json")).unwrap();
    refused(&at("corpus/*.json"), "gone.json");
    refused(&at("corpus/gone.json"), "gone.json");
    fs::remove_file(at("corpus/gone.json")).unwrap();
    symlink(at("corpus"), at("corpus/loop")).unwrap();
    refused(&at("corpus"), "corpus/loop");
}

#[test]
fn pipes_and_devices_are_refused_as_vectors() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    pipe(&at("pipe.json"));
    symlink("/dev/zero", at("zero.json")).unwrap();
    for name in ["pipe.json", "zero.json"] {
        refused(&at(name), name);
        for command in ["explain", "shrink"] {
            let output = run([Path::new(command), &at(name)]);
            assert_eq!(code(&output), 2, "{command}: {}", text(&output));
        }
    }
    refused(folder.path(), "pipe.json");
    for (option, name) in [("--scenario", "pipe"), ("--plan", "pipe.toml"), ("-f", "pipe.f")] {
        pipe(&at(name));
        let output = run([Path::new("run"), Path::new(option), &at(name)]);
        assert_eq!(code(&output), 2, "{option}: {}", text(&output));
    }
}

/// Regression test: explanations of failures, which are beside their vectors, were read as vectors.
#[test]
fn the_failures_of_a_run_are_replayed_and_exported() {
    let folder = TempDir::new().unwrap();
    let failures = folder.path().join("failures");
    fs::create_dir(&failures).unwrap();
    for name in ["x.json", "x.original.json"] {
        fs::copy(vector(), failures.join(name)).unwrap();
    }
    let explained = failures.join("x.explained.json");
    fs::write(&explained, "{\"fixes\": \"spec\"}").unwrap();
    let named = files(&failures, "json");
    assert_eq!(named.len(), 3, "as a shell gives them");
    for given in [vec![failures.clone()], vec![failures.join("*.json")], named] {
        let (count, printed) = replayed(&given);
        assert_eq!(count, 2, "{given:?}: {printed}");
        assert!(printed.contains("x.explained.json"), "{given:?}: {printed}");
        let out = folder.path().join("bench");
        let options = ["export", "--fixes", "spec", "-o"].map(Path::new);
        let options = options.into_iter().chain([out.as_path()]);
        let output = run(options.chain(given.iter().map(PathBuf::as_path)));
        assert_eq!(code(&output), 0, "{given:?}: {}", text(&output));
        assert_eq!(fs::read_dir(&out).unwrap().count(), 2);
        fs::remove_dir_all(&out).unwrap();
    }
    refused(&explained, "x.explained.json");
}

/// Verilator would read them forever.
#[test]
fn pipes_and_devices_are_refused_as_rtl() {
    let top = fs::read_to_string(project().join("rtl/qp/QpStateCtrl.sv")).unwrap();
    let refused_with = |name: &str, expected: &str, make: &dyn Fn(&Path)| {
        let folder = TempDir::new().unwrap();
        make(folder.path());
        let rtl = folder.path().join(name);
        let output = run(["run", "--block", "qp", "--cases", "1", "--rtl", rtl.to_str().unwrap()]);
        assert_eq!(code(&output), 2, "{name} {expected}: {}", text(&output));
        assert!(text(&output).contains(expected), "{expected}: {}", text(&output));
    };
    let including = |folder: &Path, words: &str| {
        fs::write(folder.join("top.v"), format!("`include {words}\n{top}")).unwrap();
    };
    for rtl in ["", "top.v"] {
        refused_with(rtl, "endless.vh", &|folder| {
            including(folder, "\"endless.vh\"");
            symlink("/dev/zero", folder.join("endless.vh")).unwrap();
        });
        refused_with(rtl, "below/endless", &|folder| {
            including(folder, "\"below/endless\"");
            fs::create_dir(folder.join("below")).unwrap();
            pipe(&folder.join("below/endless"));
        });
        refused_with(rtl, "/dev/zero", &|folder| including(folder, "\"/dev/zero\""));
        refused_with(rtl, "/dev/zero", &|folder| including(folder, "`H\n`define H \"/dev/zero\""));
    }
    refused_with("", "pipe.v", &|folder| {
        including(folder, "\"nothing.vh\"");
        pipe(&folder.join("pipe.v"));
    });
    refused_with("top.v", "too large", &|folder| {
        fs::File::create(folder.join("top.v")).unwrap().set_len(1 << 40).unwrap();
    });
    // A link to the folder itself adds nothing.
    refused_with("", "nothing.vh", &|folder| {
        including(folder, "\"nothing.vh\"");
        symlink(folder, folder.join("loop")).unwrap();
    });
}
