//! The scripts: do they see what is missing?

use crate::common::project;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Whether `scripts/setup.sh` takes what `folder` holds for the libclang that bindgen needs.
fn has_libclang(folder: &Path) -> bool {
    Command::new("bash")
        .args(["-c", ". scripts/setup.sh && has_libclang"])
        .env("LIBCLANG_PATH", folder)
        .current_dir(project())
        .status()
        .expect("bash runs")
        .success()
}

#[test]
fn the_cxx_library_of_clang_is_not_taken_for_libclang() {
    let folder = TempDir::new().expect("a temporary folder");
    assert!(!has_libclang(folder.path()), "an empty folder");
    fs::write(folder.path().join("libclang-cpp.so.14"), "").expect("a file");
    assert!(!has_libclang(folder.path()), "libclang-cpp only");
    fs::write(folder.path().join("libclang-14.so.14.0.6"), "").expect("a file");
    assert!(has_libclang(folder.path()), "libclang");
}
