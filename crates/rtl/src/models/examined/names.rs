//! The names that Verilator sees of the user's files.

use super::BUILT_IN;
use cosim_base::error::{Error, codes};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use verilated_build::Error as BuildError;
use verilated_files::Error as FilesError;

/// Names that Verilator sees, and the user's folders that they stand for.
///
/// Each searched folder has a symbolic link with a fixed name. So the names that Verilator sees do
/// not depend on the user's paths. The name of a file that it read is that of the folder, followed
/// by the words of the `include`.
#[derive(Debug, Clone, Default)]
pub struct Names {
    pub links: BTreeMap<String, Link>,
}

/// A folder of the user.
#[derive(Debug, Clone)]
pub struct Link {
    pub typed: PathBuf,
    /// The path without links.
    pub real: PathBuf,
}

impl Names {
    pub fn link(&mut self, folder: &Path, at: &Path) -> Result<PathBuf, Error> {
        // The name is visible only in messages of a running model, as the place in the RTL.
        let name = match self.links.len() {
            0 => "@rtl".to_owned(),
            n => format!("@rtl{}", n + 1),
        };
        let real = fs::canonicalize(folder).map_err(|error| Error::unreadable(folder, &error))?;
        symlink(&real, at.join(&name)).map_err(Error::write(at))?;
        self.links.insert(name.clone(), Link { typed: folder.to_owned(), real });
        Ok(name.into())
    }

    /// The folder at the start of a name, and the rest of the name.
    pub fn link_of<'a>(&self, name: &'a Path) -> Option<(&Link, &'a Path)> {
        let mut parts = name.components();
        let link = self.links.get(parts.next()?.as_os_str().to_str()?)?;
        Some((link, parts.as_path()))
    }

    /// The path as typed of a file that Verilator read.
    pub fn typed(&self, name: &Path) -> PathBuf {
        match self.link_of(name) {
            Some((link, rest)) if link.typed == Path::new(".") => rest.to_owned(),
            Some((link, rest)) => link.typed.join(rest),
            None => name.to_owned(),
        }
    }

    /// Replaces names in a message by the user's paths.
    pub fn text(&self, text: &str) -> String {
        // Longest names first: `@rtl` is a prefix of the others.
        let mut text = text.to_owned();
        for (name, link) in self.links.iter().rev() {
            let folder = match link.typed.to_string_lossy() {
                folder if folder == "." => String::new(),
                folder => format!("{folder}/"),
            };
            text = text.replace(&format!("{name}/"), &folder);
        }
        text.replace(&format!("{BUILT_IN}/"), "the built-in ")
    }

    pub fn plain(&self, error: BuildError) -> Error {
        match error {
            BuildError::Twice { module, first, second } if first == second => Error::Usage(
                codes::DECLARED_TWICE,
                format!(
                    "{} declares {module} and is read more than once, because other files include \
                     it; add an include guard (`ifndef)",
                    self.text(&first)
                ),
            ),
            BuildError::Twice { module, first, second } => {
                let [first, second] = [first, second].map(|place| self.text(&place));
                Error::Usage(
                    codes::DECLARED_TWICE,
                    BuildError::Twice { module, first, second }.to_string(),
                )
            }
            BuildError::Verilate { top, output } => {
                BuildError::Verilate { top, output: self.text(&output) }.into()
            }
            BuildError::Compile { what, message } => {
                BuildError::Compile { what, message: self.text(&message) }.into()
            }
            BuildError::Files(FilesError::Name { name, reason }) => {
                FilesError::Name { name: self.typed(&name), reason }.into()
            }
            BuildError::Files(FilesError::Changed { path }) => {
                FilesError::Changed { path: self.typed(&path) }.into()
            }
            other => other.into(),
        }
    }
}
