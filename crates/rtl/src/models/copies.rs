//! Copies the files of an RTL into one folder, for exports and new crates.

use super::Examined;
use super::messages::{advice, without_asking_top};
use cosim_base::error::{Error, codes};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use verilated_build::{DataFile, Design, Error as BuildError};
use verilated_files::foreign::{ForeignName, last_folders};
use verilated_runtime::Verilator;

/// Copies of the files of an RTL, by their names relative to the target folder.
#[derive(Debug)]
pub struct Copies {
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// The folder in which simulators search for files, relative to the target folder. It is the
    /// target folder itself, unless an `include` leaves the folder of its file.
    pub folder: PathBuf,
    /// The sources for the command line, in order, relative to `folder`. Simulators find the other
    /// files by name.
    pub sources: Vec<PathBuf>,
    typed: BTreeMap<PathBuf, String>,
}

impl Copies {
    /// Names each file as Verilator found it: by its module, or by the path in its `include`. A
    /// path with `..` means the same file in the copy, because the copy keeps as many folders of
    /// the sources as the paths leave.
    ///
    /// # Errors
    /// [`Error::File`] if two files would have the same name, or if a simulator would not find one.
    pub fn new(examined: &Examined) -> Result<Self, Error> {
        // `files` lists the data files after the sources.
        let named = examined.texts.iter().zip(&examined.files);
        let named = named.map(|(file, read)| {
            let cannot_copy = |message: &str| Error::File {
                code: codes::CANNOT_COPY,
                path: PathBuf::from(&read.path),
                message: message.to_owned(),
            };
            let name = below(&file.name).and_then(|name| Some((ForeignName::new(&name)?, name)));
            let (resolved, name) = name.ok_or_else(|| {
                cannot_copy(
                    "is included by an absolute path, so a copy would not find it; name its folder \
                     with -I, and include it by its name",
                )
            })?;
            match name.to_str().is_some() {
                true => Ok((file, read, resolved)),
                false => Err(cannot_copy("has a name that is not UTF-8; rename it")),
            }
        });
        let named: Vec<_> = named.collect::<Result<_, _>>()?;
        let farthest = named.iter().max_by_key(|(.., name)| name.ups);
        let folder = farthest.map_or_else(PathBuf::new, |(file, _, name)| {
            last_folders(&examined.folder_of(&file.name), name.ups)
        });
        let mut files: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
        let mut typed: BTreeMap<PathBuf, String> = BTreeMap::new();
        for (file, read, name) in &named {
            // No name leaves more folders than `folder` has.
            let Some(name) = name.below(&folder) else { continue };
            if let Some(other) = files.get(&name)
                && *other != *file.text
            {
                let message = format!(
                    "and {} differ but would have the same name in a copy; rename one",
                    typed[&name]
                );
                return Err(Error::File {
                    code: codes::CANNOT_COPY,
                    path: PathBuf::from(&read.path),
                    message,
                });
            }
            typed.insert(name.clone(), read.path.clone());
            files.insert(name, file.text.to_vec());
        }
        for (file, read, _) in &named {
            let passed = below(&file.name).map_or_else(Vec::new, |name| passed(&folder.join(name)));
            if !passed.iter().all(|folder| files.keys().any(|file| file.starts_with(folder))) {
                return Err(Error::File {
                    code: codes::CANNOT_COPY,
                    path: PathBuf::from(&read.path),
                    message:
                        "is included by a path through a folder that a copy lacks, because no \
                              file of it is read; include it by a shorter path"
                            .to_owned(),
                });
            }
        }
        let Design { sources, libraries, extensions, .. } = &examined.design;
        let has_ending = |name: &&PathBuf| {
            extensions.iter().any(|ending| name.to_string_lossy().ends_with(ending.as_str()))
        };
        let given = sources.iter().chain(libraries).filter_map(|name| below(name));
        let inside = |name: &PathBuf| Some(name.strip_prefix(&folder).ok()?.to_owned());
        let found = files.keys().filter(has_ending).filter_map(inside);
        let mut known = BTreeSet::new();
        let sources = given.chain(found).filter(|name| known.insert(name.clone())).collect();
        Ok(Self { files, folder, sources, typed })
    }

    /// The places as `file:line` of the messages that begin with `kind`, with the user's paths.
    pub fn typed_places(&self, messages: &str, kind: &str) -> Vec<String> {
        let place = |line: &str| {
            let (place, _) = line.strip_prefix(kind)?.split_once(": ")?;
            let mut parts = place.rsplitn(3, ':').skip(1);
            let (line, path) = (parts.next()?, parts.next()?);
            let name = Path::new(path).strip_prefix("rtl").ok()?;
            Some(format!("{}:{line}", self.typed.get(name)?))
        };
        messages.lines().filter_map(place).collect()
    }

    /// An error about the copies in `rtl`, with the user's paths and without the module around the
    /// top.
    pub fn plain(&self, error: BuildError, top: &str, verilator: &Verilator) -> Error {
        match error {
            BuildError::Verilate { top: _, output } => {
                let mut output = without_asking_top(&output, top);
                // Longer names first: one may end with another.
                let mut typed: Vec<_> = self.typed.iter().collect();
                typed.sort_by_key(|(name, _)| std::cmp::Reverse(name.as_os_str().len()));
                for (name, path) in typed {
                    let copy = Path::new("rtl").join(name);
                    output = output.replace(&format!("{}:", copy.display()), &format!("{path}:"));
                }
                let advice = advice(&output, "", verilator);
                let output = format!("{}\n{advice}", output.trim_end()).trim_end().to_owned();
                BuildError::Verilate { top: top.to_owned(), output }.into()
            }
            other => other.into(),
        }
    }

    /// The folder in which simulators search for files, if `root` is the target folder.
    pub fn searched(&self, root: impl AsRef<Path>) -> PathBuf {
        // Without a slash at its end: in a file list, `//` begins a comment.
        root.as_ref().join(&self.folder).components().collect()
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
        let name = ForeignName::new(Path::new(&file.name));
        let name = name.and_then(|name| name.below(Path::new(""))).ok_or_else(|| {
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

/// The folders that a path enters and leaves again by `..`.
fn passed(path: &Path) -> Vec<PathBuf> {
    let (mut passed, mut place) = (Vec::new(), PathBuf::new());
    for part in path.components() {
        match part {
            Component::ParentDir => {
                passed.push(place.clone());
                place.pop();
            }
            part => place.push(part),
        }
    }
    passed
}

/// A name without its first folder, which stands for a folder of the user. `None` if it has none.
fn below(name: &Path) -> Option<PathBuf> {
    let mut parts = name.components();
    parts.next().filter(|part| matches!(part, Component::Normal(_)))?;
    Some(parts.as_path().to_owned()).filter(|name| !name.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::FileRead;
    use crate::yosys;
    use verilated_build::SourceFile;

    /// The copies of files in `@rtl`, by their names there; each contains its name.
    fn copies(names: &[&str]) -> Result<Copies, Error> {
        let mut examined = yosys::verilog("");
        let texts = names.iter().map(|name| SourceFile {
            name: Path::new("@rtl").join(name),
            text: name.as_bytes().into(),
        });
        examined.texts = texts.collect();
        let read = |name: &&str| FileRead { path: (*name).to_owned(), built_in: false };
        examined.files = names.iter().map(read).collect();
        examined.design.sources = vec![Path::new("@rtl").join(names[0])];
        Copies::new(&examined)
    }

    fn placed(names: &[&str]) -> (String, Vec<String>) {
        let copies = copies(names).unwrap();
        assert_eq!(copies.sources, [Path::new(names[0])]);
        let files = copies.files.keys().map(|name| name.display().to_string()).collect();
        (copies.folder.display().to_string(), files)
    }

    #[test]
    fn a_copy_keeps_the_folders_that_includes_leave() {
        let files = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        for (names, folder, expected) in [
            (&["a.v", "sub/./a.vh"][..], "", files(&["a.v", "sub/a.vh"])),
            (&["a.v", "sub/../b.vh", "sub/c.vh"], "", files(&["a.v", "b.vh", "sub/c.vh"])),
            (&["a.v", "../inc/x.vh"], "rtl", files(&["inc/x.vh", "rtl/a.v"])),
            (&["a.v", "../../x.vh", "../y.vh"], "rtl/rtl", {
                files(&["rtl/rtl/a.v", "rtl/y.vh", "x.vh"])
            }),
        ] {
            assert_eq!(placed(names), (folder.to_owned(), expected), "{names:?}");
        }
    }

    #[test]
    fn a_copy_stays_inside() {
        let far = format!("{}etc/x.vh", "../".repeat(40));
        let copies = copies(&["a.v", &far]).unwrap();
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        assert!(copies.files.keys().all(|name| name.components().all(is_plain)));
        for out in ["/tmp/a.vh", "..", "sub/..", "sub/../b.vh"] {
            assert!(self::copies(&["a.v", out]).is_err(), "{out}");
        }
    }
}
