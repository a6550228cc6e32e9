//! The compiled text of the RTL, to show coverage beside its lines.

use cosim_base::error::Error;
use cosim_base::files::{LARGEST_INPUT, Sync, write_whole};
use cosim_base::run_file::open_plain;
use cosim_block::points::Point;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Component, Path};
use std::sync::Arc;
use verilated_build::SourceFile;

pub const SOURCES: &str = "sources";
/// Allowed file extensions; other files get the first one.
pub const SOURCE_ENDINGS: [&str; 4] = ["v", "vh", "sv", "svh"];
/// Folders of Verilator's names that mean nothing to users, if there is only one.
const PLAIN: [&str; 2] = ["@rtl", "@built-in"];

/// RTL files by the names shown to users.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    texts: BTreeMap<String, Arc<[u8]>>,
    /// The shown name, by the name that Verilator sees.
    names: BTreeMap<String, String>,
}

impl Sources {
    /// The compiled files, as far as they have points.
    pub fn new(files: &[SourceFile], points: &[Vec<Point>]) -> Self {
        let used: BTreeSet<&str> =
            points.iter().flatten().map(|point| point.file.as_str()).collect();
        let mut all = Self::default();
        for SourceFile { name, text } in files {
            let compiled = name.to_string_lossy();
            if used.contains(&*compiled) {
                let mut name = plain(name);
                // Files of different folders may have the same name.
                while all.texts.contains_key(&name) {
                    name.insert(0, '_');
                }
                all.names.insert(compiled.into_owned(), name.clone());
                all.texts.insert(name, Arc::clone(text));
            }
        }
        all
    }

    /// Replaces file names of points by those shown to users.
    pub fn rename(&self, points: &mut [Point]) {
        for point in points {
            if let Some(name) = self.names.get(&point.file) {
                point.file.clone_from(name);
            }
        }
    }

    /// Reads the sources of a run directory.
    ///
    /// # Errors
    /// [`Error::File`] if they cannot be read.
    pub fn read(run: &Path) -> Result<Self, Error> {
        let folder = run.join(SOURCES);
        let unreadable = |error: std::io::Error| Error::unreadable(&folder, &error);
        let mut all = Self::default();
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name();
            let unreadable = |error| Error::unreadable(&folder.join(&name), &error);
            // The run may come from another person: links are not followed.
            let file = open_plain(run, SOURCES, &name).map_err(unreadable)?;
            let mut text = Vec::new();
            file.take(LARGEST_INPUT).read_to_end(&mut text).map_err(unreadable)?;
            all.texts.insert(name.to_string_lossy().into_owned(), text.into());
        }
        Ok(all)
    }

    /// Writes the sources into a run directory.
    ///
    /// # Errors
    /// [`Error::Write`] if a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let folder = folder.join(SOURCES);
        fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
        for (name, text) in &self.texts {
            write_whole(&folder.join(name), text, Sync::Lazy)?;
        }
        Ok(())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    pub fn lines(&self, name: &str) -> Vec<String> {
        let text = self.texts.get(name).map(|text| String::from_utf8_lossy(text));
        text.map_or_else(Vec::new, |text| text.lines().map(str::to_owned).collect())
    }
}

/// Most bytes of a name, so that a system accepts it and a few more.
const LONGEST: usize = 200;

/// A name without folders.
fn plain(name: &Path) -> String {
    let parts = name.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_string_lossy()),
        _ => None,
    });
    let parts = parts.filter(|part| !PLAIN.contains(&&**part));
    let parts: Vec<String> = parts.map(|part| part.trim_start_matches('@').to_owned()).collect();
    let mut name = parts.join("-");
    let excess = name.len().saturating_sub(LONGEST);
    let start = (excess..=name.len()).find(|at| name.is_char_boundary(*at));
    name.drain(..start.unwrap_or_default());
    let ending = Path::new(&name).extension().and_then(|ending| ending.to_str());
    match ending.is_some_and(|ending| SOURCE_ENDINGS.contains(&ending)) {
        true => name,
        false => format!("{name}.{}", SOURCE_ENDINGS[0]),
    }
}

#[cfg(test)]
mod tests {
    use super::plain;
    use std::path::Path;

    #[test]
    fn a_source_lies_in_one_folder_under_a_name_that_says_where_it_was() {
        for (name, expected) in [
            ("@built-in/QpStateCtrl.sv", "QpStateCtrl.sv"),
            ("@rtl/sub/a.sv", "sub-a.sv"),
            ("@rtl2/a.svh", "rtl2-a.svh"),
            ("@rtl/../../a.inc", "a.inc.v"),
            ("/etc/x.vh", "etc-x.vh"),
        ] {
            assert_eq!(plain(Path::new(name)), expected);
        }
        let long = format!("{}é/a.sv", "é/".repeat(300));
        let name = plain(Path::new(&long));
        assert!(name.len() <= 200 && name.ends_with("é-a.sv"), "{name}");
    }
}
