//! A block for a module that has none: a crate in the cache, with an environment that drives any
//! values into all inputs.

use crate::blocks::library::Library;
use crate::blocks::located;
use crate::blocks::trust::finish_new;
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_base::text;
use cosim_block::rtl::Rtl;
use cosim_new::{CrateName, Reset, Skeleton};
use cosim_rtl::models::{Examined, model_cache};
use std::fs::{self, File};
use std::path::Path;
use verilated_files::{Hash, trust};

/// The folder of the crates in the cache.
const FOLDER: &str = "tops";
/// The file in it that is locked while a crate is used.
const LOCK: &str = "lock";

/// A module to compare.
pub struct Top<'a> {
    pub module: &'a str,
    pub clock: &'a [String],
    pub reset: Option<&'a Reset>,
    pub rtl: &'a Rtl,
}

impl Top<'_> {
    /// Writes and builds the crate, unless that was done before, and sets the program with its
    /// block. The module cannot be compared by another command until the result is dropped.
    ///
    /// # Errors
    /// The module is not in the RTL or cannot be driven, or the crate cannot be written or built.
    pub fn set(&self) -> Result<File, Error> {
        let Self { module, clock, reset, rtl } = self;
        let examined = Examined::of_top(module, &format!("{module} dut();"), rtl, &[])?;
        let mut hash = Hash::default();
        for part in [located::SOURCES, module, &examined.identity] {
            hash.add(part);
        }
        hash.add(format!("{clock:?} {reset:?} {:?}", rtl.defines));
        // Building a crate runs its code, so no other user may write here.
        let tops = trust::folder(model_cache()?.folder())?.join(FOLDER);
        let tops = std::path::absolute(&tops).map_err(Error::write(&tops))?;
        fs::create_dir_all(&tops).map_err(Error::write(&tops))?;
        // All crates share what they compile of the library. Two programs may have one name.
        let lock = tops.join(LOCK);
        let held = File::create(&lock).and_then(|file| file.lock().map(|()| file));
        let held = held.map_err(Error::write(&lock))?;
        let folder = tops.join(hash.short());
        fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
        let name = crate_name(module)?;
        let of_crate = folder.join(name.to_string());
        if !of_crate.exists() {
            let skeleton = Skeleton {
                name,
                top: (*module).to_owned(),
                rtl: Rtl::clone(rtl),
                files: Library::from_program()?.map_or_else(Vec::new, |own| own.files_of_crate()),
                clocks: clock.to_vec(),
                reset: reset.cloned(),
                parameters: Vec::new(),
                options: Vec::new(),
                is_of_pins: true,
            };
            let made = skeleton.write(&folder)?;
            finish_new(&made.folder);
            for warning in made.warnings {
                program::warn(format_args!("{warning}"));
            }
        }
        located::set_crate(&of_crate, &tops.join("target"))?;
        program::print_note(format_args!(
            "module {module} has the block in {}; commands with its vectors work there",
            text::path(&of_crate)
        ));
        Ok(held)
    }
}

/// Removes all crates of a cache, unless one is used.
///
/// # Errors
/// [`Error::Write`] if they cannot be removed.
pub fn clear(cache: &Path) -> Result<(), Error> {
    let tops = cache.join(FOLDER);
    match File::open(tops.join(LOCK)) {
        Ok(lock) if lock.try_lock().is_ok() => {
            fs::remove_dir_all(&tops).map_err(Error::write(&tops))
        }
        _ => Ok(()),
    }
}

fn crate_name(module: &str) -> Result<CrateName, Error> {
    let words: Vec<String> = module
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let name = words.join("-");
    // Some names are reserved, and some begin with a digit.
    let parsed = name.parse().or_else(|_| format!("top-{name}").parse());
    parsed.map_err(|error: String| Error::Usage(codes::COMMAND_LINE, format!("--top: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_module_has_a_name_for_its_crate() {
        for (module, name) in [
            ("Fifo", "fifo"),
            ("AXI_lite__v2", "axi-lite-v2"),
            ("test", "top-test"),
            ("_9x", "top-9x"),
        ] {
            assert_eq!(crate_name(module).unwrap().to_string(), name);
        }
        assert!(crate_name(&"a".repeat(90)).is_err() && crate_name("___").is_err());
    }
}
