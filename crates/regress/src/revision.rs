//! RTL by name: a path, or `REF:PATH` in a commit of git.
//!
//! The repository may be anyone's. Only plumbing commands run, which start no hook, filter or pager
//! of its configuration, and no protocol is allowed, so that nothing is fetched either.

use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_base::text;
use cosim_block::rtl::Rtl;
use cosim_formats::run;
use cosim_rtl::models::REVISION;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use verilated_lexer::Kind;

/// Largest total of the files of a revision, in bytes, and largest number of them.
const MOST: [usize; 2] = [256 << 20, 20_000];
/// The ending of file lists.
const LIST: &str = "f";

/// RTL that an argument names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    BuiltIn,
    /// A file, a folder or a file list.
    Path(PathBuf),
    /// Files of a commit.
    Revision {
        commit: String,
        /// The hash of the folder or file in the repository.
        object: String,
        /// The name of the file or folder.
        name: String,
    },
}

/// What an argument names. A path that exists is a path.
///
/// # Errors
/// [`Error::File`] if it is neither a path nor `REF:PATH`.
pub fn named(argument: &str) -> Result<Named, Error> {
    let path = Path::new(argument);
    if argument == Rtl::BUILT_IN {
        return Ok(Named::BuiltIn);
    }
    if path.exists() {
        return Ok(Named::Path(path.to_owned()));
    }
    if argument.split_once(':').is_none_or(|(reference, _)| reference.is_empty()) {
        return Err(Error::File {
            code: codes::RTL_NOT_FOUND,
            path: path.to_owned(),
            message:
                "does not exist; expected a file or folder with RTL, REF:PATH of git, or `built-in`"
                    .to_owned(),
        });
    }
    Named::revision(argument)
}

impl Named {
    /// The files of `REF:PATH`.
    ///
    /// # Errors
    /// [`Error::Usage`] if the repository here does not have it.
    fn revision(argument: &str) -> Result<Self, Error> {
        let (reference, inside) = argument.split_once(':').unwrap_or((argument, ""));
        let wrong = |what: &str| {
            Error::Usage(codes::BAD_REVISION, format!("{}: {what}", text::line(argument)))
        };
        if reference.starts_with('-') {
            return Err(wrong("a revision does not begin with `-`"));
        }
        let hash = |what: &str| -> Result<String, Error> {
            let printed = git(&["rev-parse", "--verify", "--quiet", what], None)?;
            let hash = String::from_utf8_lossy(&printed.unwrap_or_default()).trim().to_owned();
            let is_hash = hash.len() >= 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hash.then_some(hash).ok_or_else(|| {
                wrong("is no path, and git finds no such revision and path in the repository here")
            })
        };
        let commit = hash(&format!("{reference}^{{commit}}"))?;
        let object = hash(argument)?;
        let name = Path::new(inside).file_name().and_then(|name| name.to_str());
        let name = name.unwrap_or("rtl").to_owned();
        Ok(Self::Revision { commit, object, name })
    }

    pub fn commit(&self) -> Option<&str> {
        match self {
            Self::Revision { commit, .. } => Some(commit),
            _ => None,
        }
    }

    /// The RTL, with these include folders and macros. Files of a revision, and the data files of
    /// its commit, are written to the new folder `below`.
    ///
    /// # Errors
    /// [`Error::Usage`] if a revision has unusable files; [`Error::Write`].
    pub fn rtl(&self, below: &Path, like: &Rtl) -> Result<Rtl, Error> {
        let path = match self {
            Self::BuiltIn => return Ok(Rtl { paths: Vec::new(), ..like.clone() }),
            Self::Path(path) => path.clone(),
            Self::Revision { commit, object, name } => {
                write(commit, object, name, &like.defines, below)?;
                below.to_owned()
            }
        };
        let is_list = path.extension().is_some_and(|ending| ending == LIST) && path.is_file();
        let (paths, lists) = if is_list { (vec![], vec![path]) } else { (vec![path], vec![]) };
        Ok(Rtl { paths, lists, ..like.clone() })
    }
}

/// A file of the repository.
struct Entry {
    mode: String,
    hash: String,
    size: usize,
    path: PathBuf,
}

impl Entry {
    /// An entry of `git ls-tree`.
    fn new(line: &[u8]) -> Result<Self, Error> {
        let line = std::str::from_utf8(line)
            .map_err(|_| revision_error("a name in the revision is not UTF-8".to_owned()))?;
        let (facts, path) = line.split_once('\t').unwrap_or((line, ""));
        let facts: Vec<&str> = facts.split_whitespace().collect();
        let [mode, "blob" | "commit", hash, ref size @ ..] = facts[..] else {
            return Err(revision_error(format!(
                "git lists an unknown entry: {}",
                text::line(line)
            )));
        };
        let size = size.first().and_then(|size| size.parse().ok()).unwrap_or(usize::MAX);
        Ok(Self { mode: mode.to_owned(), hash: hash.to_owned(), size, path: path.into() })
    }

    fn is_file(&self) -> bool {
        self.mode.starts_with("100")
    }
}

fn revision_error(what: String) -> Error {
    Error::Usage(codes::BAD_REVISION, what)
}

/// The output of git about an object.
fn read(object: &str, arguments: &[&str], input: Option<&Path>) -> Result<Vec<u8>, Error> {
    git(arguments, input)?.ok_or_else(|| revision_error(format!("git cannot read {object}")))
}

/// The entries of a folder and of the folders in it, by `git ls-tree` with these options.
fn list(folder: &str, options: &[&str]) -> Result<Vec<Result<Entry, Error>>, Error> {
    let command = ["ls-tree", "-r", "-z", "--full-tree"];
    let listed = read(folder, &[&command[..], options].concat(), None)?;
    let entries = listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    Ok(entries.map(Entry::new).collect())
}

/// Whether a path from git stays in its folder.
fn is_inside(path: &Path) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(name) if name != ".git");
    path.iter().next().is_some() && path.components().all(is_plain)
}

/// Writes a folder or a file of a commit, and the data files that these texts or macros name by
/// their path from the root of the repository.
fn write(
    commit: &str,
    object: &str,
    name: &str,
    defines: &[String],
    below: &Path,
) -> Result<(), Error> {
    let kind = read(object, &["cat-file", "-t", object], None)?;
    let mut files: Vec<Entry> = Vec::new();
    if kind.starts_with(b"blob") {
        let (mode, hash) = ("100644".to_owned(), object.to_owned());
        files.push(Entry { mode, hash, size: 0, path: name.into() });
    } else {
        for entry in list(object, &["--long", object])? {
            let entry = entry?;
            let shown = text::path(&entry.path);
            if !entry.is_file() {
                let what = if entry.mode == "160000" { "submodule" } else { "symbolic link" };
                program::warn(format_args!("{shown}: a {what} is left out"));
            } else if !is_inside(&entry.path) {
                return Err(revision_error(format!("the name {shown} leads out of the folder")));
            } else if !entry.path.starts_with(REVISION) {
                files.push(entry);
            }
        }
    }
    let mut named: BTreeSet<PathBuf> =
        defines.iter().flat_map(|define| names_in(define.as_bytes())).collect();
    write_files(object, &files, below, |text| named.extend(names_in(text)))?;
    // The folder says that no data file comes from elsewhere, so it is there without files, too.
    let root = below.join(REVISION);
    fs::create_dir_all(&root).map_err(Error::write(&root))?;
    if named.is_empty() {
        return Ok(());
    }
    let is_named = |entry: &Entry| entry.is_file() && named.contains(&entry.path);
    // Names of other files need not be UTF-8, and a clone need not have these files.
    let all = list(commit, &[commit])?.into_iter().filter_map(Result::ok).filter(is_named);
    let paths: Vec<String> = all.map(|entry| entry.path.display().to_string()).collect();
    if paths.is_empty() {
        return Ok(());
    }
    let paths: Vec<&str> =
        ["--long", commit, "--"].into_iter().chain(paths.iter().map(String::as_str)).collect();
    let data = list(commit, &paths)?.into_iter().collect::<Result<Vec<_>, _>>()?;
    write_files(commit, &data, &root, |_| {})
}

/// The strings in a text that can be paths inside of a folder.
fn names_in(text: &[u8]) -> Vec<PathBuf> {
    let Ok(text) = std::str::from_utf8(text) else { return Vec::new() };
    let strings = verilated_lexer::tokens(text).filter(|token| token.kind == Kind::String);
    let inner = strings.filter_map(|token| token.text.strip_prefix('"')?.strip_suffix('"'));
    // `./` before a name is the same file.
    let plain = inner.map(|name| Path::new(name).components().collect::<PathBuf>());
    let relative = plain.map(|name| name.strip_prefix(".").map(Path::to_owned).unwrap_or(name));
    relative.filter(|name| is_inside(name)).collect()
}

/// Writes files of the repository, and calls `seen` with the text of each.
fn write_files(
    object: &str,
    files: &[Entry],
    below: &Path,
    mut seen: impl FnMut(&[u8]),
) -> Result<(), Error> {
    let total = files.iter().fold(0_usize, |total, file| total.saturating_add(file.size));
    if total > MOST[0] || files.len() > MOST[1] {
        return Err(revision_error(format!(
            "the folder has {} files with {total} bytes, more than {} files or {} bytes; name the folder with the RTL alone",
            files.len(),
            MOST[1],
            MOST[0]
        )));
    }
    fs::create_dir_all(below).map_err(Error::write(below))?;
    let mut wanted = tempfile::NamedTempFile::new().map_err(Error::write("a temporary file"))?;
    for file in files {
        writeln!(wanted, "{}", file.hash).map_err(Error::write(wanted.path()))?;
    }
    let texts = read(object, &["cat-file", "--batch"], Some(wanted.path()))?;
    let mut rest = &texts[..];
    for Entry { path, hash, .. } in files {
        let content = next_blob(&mut rest, hash)
            .ok_or_else(|| revision_error(format!("git cannot read {}", text::path(path))))?;
        seen(content);
        let path = below.join(path);
        let folder = path.parent().unwrap_or(below);
        fs::create_dir_all(folder).map_err(Error::write(folder))?;
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(content));
        written.map_err(Error::write(&path))?;
    }
    Ok(())
}

/// The next file in the output of `git cat-file --batch`.
fn next_blob<'a>(rest: &mut &'a [u8], hash: &str) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&rest[..end]).ok()?;
    let size: usize = head.strip_prefix(hash)?.strip_prefix(" blob ")?.parse().ok()?;
    let content = rest.get(end + 1..end + 1 + size)?;
    *rest = rest.get(end + 2 + size..)?;
    Some(content)
}

/// Maximum number of files whose commit is checked.
const MOST_CHECKED: usize = 500;

/// The commit of the working directory; with `-dirty` behind it if one of these files is not in it
/// as it is. No filter of the repository runs. Files outside of it, or too many, are not checked.
pub fn commit_of(files: &[&str]) -> Option<String> {
    let commit = run::commit()?;
    let is_dirty = (1..=MOST_CHECKED).contains(&files.len()) && is_changed(files) == Some(true);
    Some(if is_dirty { format!("{commit}-dirty") } else { commit })
}

/// Whether a file differs from the last commit; `None` if git cannot say.
fn is_changed(files: &[&str]) -> Option<bool> {
    let with = |arguments: &[&str]| git(&[arguments, &["--"], files].concat(), None).ok()?;
    let hashes = with(&["hash-object", "--no-filters"])?;
    let listed = with(&["ls-tree", "-z", "HEAD"])?;
    let listed = String::from_utf8_lossy(&listed);
    let known: Vec<&str> =
        listed.split('\0').filter_map(|entry| entry.split(['\t', ' ']).nth(2)).collect();
    let hashes = String::from_utf8_lossy(&hashes);
    Some(!hashes.lines().all(|hash| known.contains(&hash)))
}

/// Runs git; `None` if it fails.
fn git(arguments: &[&str], input: Option<&Path>) -> Result<Option<Vec<u8>>, Error> {
    let mut command = Command::new("git");
    command.args(["--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    let variables = [
        ("GIT_ALLOW_PROTOCOL", "none"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_OPTIONAL_LOCKS", "0"),
    ];
    command.envs(variables);
    if let Some(path) = input {
        let file = fs::File::open(path).map_err(|error| Error::unreadable(path, &error))?;
        command.stdin(file);
    }
    let output = command.output().map_err(|error| {
        Error::Environment(
            codes::PROGRAM_FAILED,
            format!("cannot run `git` ({error}); install it with `apt-get install git`"),
        )
    })?;
    Ok(output.status.success().then_some(output.stdout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_data_files_are_the_strings_of_a_text() {
        let text = r#"`include "a.vh" // "no.hex"
            parameter INIT = "./data/a.hex"; initial $readmemh("b.hex", m);
            initial $display("/etc/passwd", "../up.hex", "", ".git/config", "a\"b");"#;
        let names: BTreeSet<PathBuf> = names_in(text.as_bytes()).into_iter().collect();
        assert_eq!(names, ["a.vh", "data/a.hex", "b.hex", "a\\\"b"].map(PathBuf::from).into());
        assert_eq!(names_in(b"INIT=\"c.hex\""), [PathBuf::from("c.hex")]);
        assert!(names_in(b"\xff\"c.hex\"").is_empty());
    }
}
