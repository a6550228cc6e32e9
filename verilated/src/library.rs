//! Models loaded from shared libraries.

use crate::model::same_abi;
use crate::shim::vl_model_api;
use crate::{Error, ModelKind, Pins};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use verilated_files::BuiltLibrary;

/// The function that returns the model's table in a shared library.
const SYMBOL: &[u8] = b"vl_model_in_library\0";

/// All libraries loaded from a path.
static LOADED: Mutex<Vec<libloading::Library>> = Mutex::new(Vec::new());
/// All libraries loaded from an open file, by device and inode. The file stays open, because the
/// loader identifies a library by the name of its descriptor and would mistake another file with
/// the same number for it.
static OPEN: Mutex<BTreeMap<(u64, u64), Opened>> = Mutex::new(BTreeMap::new());

/// A library and its open file.
struct Opened {
    library: libloading::Library,
    _file: Arc<File>,
}

/// A shared library with one model.
///
/// It stays loaded until the process ends, because destructors of its thread-local C++ state would
/// run after unloading.
#[derive(Debug)]
pub struct Library {
    api: &'static vl_model_api,
}

impl Library {
    /// Loads a library that `verilated-build` built or found in its cache. It is loaded from the
    /// open, verified file, whatever its path now refers to.
    ///
    /// # Errors
    /// As [`Library::load_from`].
    pub fn load(library: &BuiltLibrary) -> Result<Self, Error> {
        let fail = |reason: String| Error::Library { path: library.path().to_owned(), reason };
        let file = library.file();
        let metadata = file.metadata().map_err(|error| fail(error.to_string()))?;
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (metadata.dev(), metadata.ino());
        if let Some(Opened { library, .. }) = open.get(&key) {
            // SAFETY: as below, and it is loaded already.
            return Ok(Self { api: unsafe { table_of(library) }.map_err(fail)? });
        }
        let descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: `verilated-build` built a `BuiltLibrary` from code that it and Verilator
        // generated, in a file that only this user or root can write. C++ code in the RTL itself
        // (`$c`, DPI) is as much a part of the program as linked C++: the user who names the RTL is
        // responsible for it.
        let loaded = unsafe { open_library(Path::new(&descriptor)) };
        let (library, api) = loaded.map_err(fail)?;
        open.insert(key, Opened { library, _file: Arc::clone(file) });
        Ok(Self { api })
    }

    /// Loads the library of a model from a file.
    ///
    /// # Safety
    /// `verilated-build` must have built the file, because its initialisers run and its table of
    /// functions is trusted.
    ///
    /// # Errors
    /// [`Error::Library`] if it cannot be loaded, contains no model, or belongs to another version.
    pub unsafe fn load_from(path: &Path) -> Result<Self, Error> {
        // SAFETY: the caller guarantees that the file is a library of `verilated-build`.
        let (library, api) = unsafe { open_library(path) }
            .map_err(|reason| Error::Library { path: path.to_owned(), reason })?;
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

/// Opens a library, which must stay loaded, and returns its table or the reason why it cannot be
/// used.
///
/// # Safety
/// As [`Library::load_from`].
unsafe fn open_library(
    path: &Path,
) -> Result<(libloading::Library, &'static vl_model_api), String> {
    // SAFETY: as for the caller. The initialisers of such a library only construct statics of the
    // runtime.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| error.to_string())?;
    // SAFETY: as above.
    let api = unsafe { table_of(&library) }?;
    Ok((library, api))
}

/// The table of a library, which must stay loaded.
///
/// # Safety
/// As [`Library::load_from`].
unsafe fn table_of(library: &libloading::Library) -> Result<&'static vl_model_api, String> {
    // SAFETY: the symbol has this type in every library of the shim's generator.
    let table = unsafe {
        library
            .get::<unsafe extern "C" fn() -> *const vl_model_api>(SYMBOL)
            .map_err(|error| error.to_string())?()
    };
    // SAFETY: the table is a constant of the library, which is never unloaded.
    let api = unsafe { table.as_ref() }.ok_or_else(|| "it contains no model".to_owned())?;
    if !same_abi(api) {
        return Err("another version of the program made it; delete it".to_owned());
    }
    Ok(api)
}
