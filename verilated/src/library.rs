//! Models loaded from shared libraries.

use crate::model::same_abi;
use crate::shim::vl_model_api;
use crate::{Error, ModelKind, Pins};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use verilated_build::BuiltLibrary;

/// Name of the function that returns the model's table in a shared library.
const SYMBOL: &[u8] = b"vl_model_in_library\0";

/// Every library loaded so far.
static LOADED: Mutex<Vec<libloading::Library>> = Mutex::new(Vec::new());

/// A shared library with one model.
///
/// It stays loaded until the process ends: the C++ runtime in it has thread-local state whose
/// destructors would be called after an unload.
#[derive(Debug)]
pub struct Library {
    api: &'static vl_model_api,
}

impl Library {
    /// Loads a library that `verilated-build` made in this process, or found to be what it would make.
    ///
    /// # Errors
    /// As [`Library::load_from`].
    pub fn load(library: &BuiltLibrary) -> Result<Self, Error> {
        // SAFETY: only `verilated-build` makes a `BuiltLibrary`, of code that it and Verilator
        // generated. What the RTL itself brings along (`$c`, DPI) is as much a part of the program as
        // C++ that is linked in: whoever gives the RTL answers for it, as for a file of the cache that
        // is changed behind the program's back.
        unsafe { Self::load_from(library.path()) }
    }

    /// Loads the library of a model from a file.
    ///
    /// # Safety
    /// The file must be a library that `verilated-build` made: its initialisers run, and the table of
    /// functions in it is believed.
    ///
    /// # Errors
    /// [`Error::Library`] if it cannot be loaded, holds no model, or was made by another version.
    pub unsafe fn load_from(path: &Path) -> Result<Self, Error> {
        let fail = |reason: String| Error::Library { path: path.to_owned(), reason };
        // SAFETY: the caller vouches for the file; the initialisers of such a library only construct
        // statics of the runtime.
        let library = unsafe { libloading::Library::new(path) };
        let library = library.map_err(|error| fail(error.to_string()))?;
        // SAFETY: the symbol has this type in every library the shim's generator writes.
        let table = unsafe {
            library
                .get::<unsafe extern "C" fn() -> *const vl_model_api>(SYMBOL)
                .map_err(|error| fail(error.to_string()))?()
        };
        // SAFETY: the table is a constant of the library, which is never unloaded.
        let api = unsafe { table.as_ref() }.ok_or_else(|| fail("it has no model".to_owned()))?;
        if !same_abi(api) {
            return Err(fail("it was made by another version; delete it".to_owned()));
        }
        LOADED.lock().unwrap_or_else(PoisonError::into_inner).push(library);
        Ok(Self { api })
    }

    /// The library's model, if its ports are those of `I` and `O`.
    ///
    /// # Errors
    /// [`Error::Ports`] with every difference.
    pub fn kind<I: Pins, O: Pins>(&self) -> Result<ModelKind<I, O>, Error> {
        ModelKind::checked(self.api)
    }
}
