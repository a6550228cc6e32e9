//! Copies the files of an RTL into one folder, for exports and new crates.

use super::Examined;
use cosim_base::error::{Error, codes};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use verilated_build::{DataFile, Design};

/// Copies of the files of an RTL, by their names relative to the target folder.
#[derive(Debug)]
pub struct Copies {
    /// Their contents.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// The sources for the command line, in order. Simulators find the other files by name.
    pub sources: Vec<PathBuf>,
}

impl Copies {
    /// Names each file as Verilator found it: by its module, or by the path in its `include`.
    ///
    /// # Errors
    /// [`Error::File`] if two files would have the same name, or if a simulator would not find one.
    pub fn new(examined: &Examined) -> Result<Self, Error> {
        let mut files: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
        let mut shown: BTreeMap<PathBuf, &str> = BTreeMap::new();
        // `files` lists the data files after the sources.
        for (file, read) in examined.texts.iter().zip(&examined.files) {
            let name = below(&file.name).ok_or_else(|| Error::File {
                code: codes::CANNOT_COPY,
                path: PathBuf::from(&read.path),
                message: "is included by a path that leaves its folder, so a copy would not find \
                     it; name its folder with -I, and include it by its name"
                    .to_owned(),
            })?;
            if let Some(other) = files.get(&name)
                && *other != *file.text
            {
                let message = format!(
                    "and {} differ but would have the same name in a copy; rename one",
                    shown[&name]
                );
                return Err(Error::File {
                    code: codes::CANNOT_COPY,
                    path: PathBuf::from(&read.path),
                    message,
                });
            }
            shown.insert(name.clone(), &read.path);
            files.insert(name, file.text.to_vec());
        }
        let Design { sources, libraries, extensions, .. } = &examined.design;
        let has_ending = |name: &&PathBuf| {
            extensions.iter().any(|ending| name.to_string_lossy().ends_with(ending.as_str()))
        };
        let given = sources.iter().chain(libraries).filter_map(|name| below(name));
        let found = files.keys().filter(has_ending).cloned();
        let mut known = BTreeSet::new();
        let sources = given.chain(found).filter(|name| known.insert(name.clone())).collect();
        Ok(Self { files, sources })
    }
}

/// The data files that an RTL reads at run time, by their names relative to the folder in which the
/// copy is simulated.
///
/// # Errors
/// [`Error::Usage`] if a name leads out of that folder.
pub fn data(examined: &Examined) -> Result<Vec<(PathBuf, &[u8])>, Error> {
    let files = examined.design.data.iter().filter_map(|file| Some((file, file.text.as_deref()?)));
    let named = |(file, text): (&DataFile, _)| {
        let name = below(&Path::new("@").join(&file.name)).ok_or_else(|| {
            Error::Usage(codes::CANNOT_COPY, format!(
                "the RTL opens {:?}, which is outside of the copied folder; use a relative path \
                 inside of it, as in \"rom.hex\"",
                file.name
            ))
        })?;
        Ok((name, text))
    };
    files.map(named).collect()
}

/// A name without its first folder; `None` if it leads out of that folder.
fn below(name: &Path) -> Option<PathBuf> {
    let mut parts = name.components();
    let is_plain = |part: &Component<'_>| matches!(part, Component::Normal(_));
    parts.next().filter(is_plain)?;
    let name: PathBuf =
        parts.as_path().components().filter(|part| *part != Component::CurDir).collect();
    let inside = name.components().all(|part| is_plain(&part)) && name.to_str().is_some();
    (inside && name.components().next().is_some()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_stays_inside() {
        let below = |name: &str| below(Path::new(name));
        assert_eq!(below("@rtl/a.v"), Some("a.v".into()));
        assert_eq!(below("@rtl2/sub/./a.vh"), Some("sub/a.vh".into()));
        for out in ["@rtl/../a.vh", "/tmp/a.vh", "@rtl", "@rtl/"] {
            assert_eq!(below(out), None, "{out}");
        }
    }
}
