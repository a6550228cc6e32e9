//! Open files of the process.

use std::ffi::c_int;
use std::fs;

unsafe extern "C" {
    fn fcntl(file: c_int, command: c_int, ...) -> c_int;
}

/// `F_SETFD`.
const SET_FLAGS: c_int = 2;
/// `FD_CLOEXEC`.
const CLOSED_BY_EXEC: c_int = 1;
/// Standard input, output and error.
const STANDARD: c_int = 2;

/// Closes the files that this process has inherited in each program that it starts from now on. A
/// shell, `make` or a batch system may leave files open, which a model could change.
pub fn keep_inherited_files() {
    let files = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let files = files.filter_map(|file| file.file_name().to_str()?.parse().ok());
    for file in files.filter(|file: &c_int| *file > STANDARD) {
        // SAFETY: the flag changes nothing in this process, whoever owns the file.
        unsafe { fcntl(file, SET_FLAGS, CLOSED_BY_EXEC) };
    }
}
