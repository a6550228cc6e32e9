//! Loads libclang for bindgen.

use crate::Error;

/// Loads libclang. Without it, bindgen panics.
///
/// # Errors
/// [`Error::LibclangMissing`] with the package to install.
pub fn load_libclang() -> Result<(), Error> {
    if clang_sys::is_loaded() {
        return Ok(());
    }
    clang_sys::load().map_err(|reason| Error::LibclangMissing { reason })
}
