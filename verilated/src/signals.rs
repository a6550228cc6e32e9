//! Signals that would end the process where an error is wanted.

use std::ffi::c_int;

unsafe extern "C" {
    fn signal(number: c_int, handler: usize) -> usize;
}

/// `SIGXFSZ`, as on all platforms of Linux but MIPS and PA-RISC.
const SIGXFSZ: c_int = 25;
/// `SIG_IGN`.
const IGNORE: usize = 1;

/// Makes a write beyond the limit of file sizes (`ulimit -f`) an error, `EFBIG`, for this process and the programs that it
/// starts. By default the signal `SIGXFSZ` ends them.
pub fn ignore_file_size_signal() {
    // SAFETY: no handler is installed: the signal is ignored.
    unsafe { signal(SIGXFSZ, IGNORE) };
}
