//! Ignores signals that would end the process instead of causing an error.

use std::ffi::c_int;

unsafe extern "C" {
    fn signal(number: c_int, handler: usize) -> usize;
}

/// `SIGXFSZ` on all Linux platforms except MIPS and PA-RISC.
const SIGXFSZ: c_int = 25;
/// `SIG_IGN`.
const IGNORE: usize = 1;

/// Makes a write beyond the file size limit (`ulimit -f`) fail with `EFBIG` in this process and its
/// children. By default, `SIGXFSZ` ends them.
pub fn ignore_file_size_signal() {
    // SAFETY: the signal is ignored, so no handler is installed.
    unsafe { signal(SIGXFSZ, IGNORE) };
}
