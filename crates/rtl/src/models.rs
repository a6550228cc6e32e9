//! What models are compiled from: examined RTL, its ports and Verilator; and the cache of models.

mod copies;
mod data;
mod delays;
mod examined;
mod expanded;
mod file_list;
mod given;
mod header;
mod messages;
mod observer;
mod on_disk;
mod special;

use crate::answers::store::Store;
pub use copies::{Copies, data as copied_data};
use cosim_base::error::{Error, codes};
use cosim_harness::harness::BlockInfo;
pub use data::REVISION;
pub use delays::{Delay, delays};
pub use examined::{AssertionFile, Examined, FileRead, candidates};
pub use expanded::PreprocessedRtl;
pub use given::unwalkable;
pub use header::{Header, HeaderParameter, InterfacePort};
pub(crate) use observer::observing_top;
pub use observer::{OBSERVING_TOP, TEXT_BITS, observed_name};
pub use on_disk::OnDisk;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;
use verilated::Port;
use verilated_build::{Kept, Port as BuildPort, Ports};
use verilated_files::trust;
use verilated_runtime::Verilator;

/// The target triple that models are compiled for.
pub const TARGET: &str = env!("COSIM_TARGET");
/// Default of `COSIM_CACHE_LIMIT`, in bytes.
const CACHE_LIMIT: u64 = 2 << 30;
/// Subfolder of the cache for answers of Yosys and ABC.
const ANSWERS: &str = "answers";
/// Subfolder of the cache for records of begun run directories.
const STARTED: &str = "begun";
/// Subfolder of the cache for the library for blocks.
const LIBRARY: &str = "library";
/// Answers get 1/8 of the cache limit, compiled models the rest.
const ANSWERS_PART: u64 = 8;

/// The ports that the program was built with.
pub fn ports(info: &'static BlockInfo) -> Ports {
    let all = |ports: &[Port]| -> Vec<BuildPort> {
        let port = |port: &Port| BuildPort { name: port.name.to_owned(), width: port.width };
        ports.iter().map(port).collect()
    };
    Ports {
        clock: info.rtl.clock.to_owned(),
        inputs: all(info.inputs),
        outputs: all(info.outputs),
        observing: false,
    }
}

/// Finds the Verilator that the environment names, once: it takes as long as a small regression.
///
/// # Errors
/// As [`Verilator::find`].
pub fn verilator() -> Result<Verilator, Error> {
    static FOUND: OnceLock<Verilator> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found.clone());
    }
    let found = Verilator::find()?;
    Ok(FOUND.get_or_init(|| found).clone())
}

/// The user's cache of compiled models: `COSIM_CACHE`, or else `cosim` in the user's cache folder.
/// Only the program uses it: other users of this library choose their own folder.
///
/// # Errors
/// [`Error::Environment`] if there is no such folder. [`Error::Usage`] if `COSIM_CACHE_LIMIT` is
/// not a size.
pub fn model_cache() -> Result<Kept, Error> {
    kept_in(cache_folder()?.ok_or_else(|| {
        let message = "there is no folder for compiled models; set COSIM_CACHE to one";
        Error::Environment(codes::CACHE_UNWRITABLE, message.to_owned())
    })?)
}

/// A cache of compiled models in `folder`, with their share of the size limit.
///
/// # Errors
/// [`Error::Usage`] if `COSIM_CACHE_LIMIT` is not a size.
pub fn kept_in(folder: PathBuf) -> Result<Kept, Error> {
    let limit = cache_limit()?;
    Ok(Kept::new(folder, limit - limit / ANSWERS_PART))
}

/// The user's store of answers of Yosys and ABC, below the folder of [cached](model_cache) models.
///
/// # Errors
/// As [`model_cache`].
pub fn answer_store() -> Result<Option<Store>, Error> {
    let limit = cache_limit()?;
    Ok(cache_folder()?.map(|folder| Store::new(folder.join(ANSWERS), limit / ANSWERS_PART)))
}

/// An environment variable, unless it is empty.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The cache folder, if the environment names one. The program executes models and trusts answers
/// in it, so no other user may be able to write there.
///
/// # Errors
/// As [`trust::folder`].
fn cache_folder() -> Result<Option<PathBuf>, Error> {
    let from = |name: &str| variable(name).map(PathBuf::from);
    let folder = from("COSIM_CACHE")
        .or_else(|| from("XDG_CACHE_HOME").map(|folder| folder.join("cosim")))
        .or_else(|| from("HOME").map(|folder| folder.join(".cache/cosim")));
    if let Some(folder) = folder.as_ref().filter(|folder| folder.to_str().is_none()) {
        let message = format!(
            "{}: the folder for compiled models is not UTF-8; set COSIM_CACHE to another",
            folder.display()
        );
        return Err(Error::Usage(codes::BAD_VARIABLE, message));
    }
    Ok(folder.map(|folder| trust::folder(&folder)).transpose()?)
}

/// The folder in the cache with records of the run directories that this user began.
///
/// # Errors
/// As [`model_cache`].
pub fn started_folder() -> Result<Option<PathBuf>, Error> {
    Ok(cache_folder()?.map(|folder| folder.join(STARTED)))
}

/// The folder in the cache for the library for blocks.
///
/// # Errors
/// As [`model_cache`].
pub fn library_folder() -> Result<Option<PathBuf>, Error> {
    Ok(cache_folder()?.map(|folder| folder.join(LIBRARY)))
}

/// The size limit of the cache in bytes.
fn cache_limit() -> Result<u64, Error> {
    match variable("COSIM_CACHE_LIMIT") {
        None => Ok(CACHE_LIMIT),
        Some(text) => bytes(&text.to_string_lossy()).ok_or_else(|| {
            let text = text.to_string_lossy();
            Error::Usage(
                codes::BAD_VARIABLE,
                format!(
                    "COSIM_CACHE_LIMIT: `{text}` is not a size; expected for example 500M or 2G"
                ),
            )
        }),
    }
}

/// Parses a size such as `500`, `64K`, `500M`, `2G` or `1T`, in bytes.
pub fn bytes(text: &str) -> Option<u64> {
    let units = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];
    let unit = units.into_iter().find_map(|(unit, shift)| {
        Some((text.strip_suffix([unit, unit.to_ascii_lowercase()])?, shift))
    });
    let (number, shift) = unit.unwrap_or((text, 0));
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn a_size_has_a_unit() {
        for (text, expected) in [
            ("0", Some(0)),
            ("500", Some(500)),
            ("64K", Some(65_536)),
            ("500m", Some(524_288_000)),
            ("2G", Some(2_147_483_648)),
            ("", None),
            ("G", None),
            ("-1", None),
            ("2T", Some(2_199_023_255_552)),
            ("2X", None),
            ("99999999999G", None),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }
}
