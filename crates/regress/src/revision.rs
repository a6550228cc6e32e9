//! RTL by name: a path, or `REF:PATH` in a commit of git.
//!
//! The repository may be anyone's. Only plumbing commands run, which start no hook, filter or pager
//! of its configuration, and no protocol is allowed, so that nothing is fetched either.

use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_base::text;
use cosim_block::rtl::Rtl;
use cosim_formats::run;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// Largest total of the files of a revision, in bytes, and largest number of them.
const MOST: [usize; 2] = [256 << 20, 20_000];
/// The ending of file lists.
const LIST: &str = "f";

/// RTL that an argument names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// The built-in RTL.
    BuiltIn,
    /// A file, a folder or a file list.
    Path(PathBuf),
    /// Files of a commit.
    Revision {
        /// The commit.
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
    pub fn revision(argument: &str) -> Result<Self, Error> {
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

    /// The hash of the folder or file, if it is a revision.
    pub fn object(&self) -> Option<&str> {
        match self {
            Self::Revision { object, .. } => Some(object),
            _ => None,
        }
    }

    /// The commit, if it is a revision.
    pub fn commit(&self) -> Option<&str> {
        match self {
            Self::Revision { commit, .. } => Some(commit),
            _ => None,
        }
    }

    /// The RTL, with these include folders and macros. Files of a revision are written to the new
    /// folder `below`.
    ///
    /// # Errors
    /// [`Error::Usage`] if a revision has unusable files; [`Error::Write`].
    pub fn rtl(&self, below: &Path, like: &Rtl) -> Result<Rtl, Error> {
        let path = match self {
            Self::BuiltIn => return Ok(Rtl { paths: Vec::new(), ..like.clone() }),
            Self::Path(path) => path.clone(),
            Self::Revision { object, name, .. } => {
                write(object, name, below)?;
                below.to_owned()
            }
        };
        let is_list = path.extension().is_some_and(|ending| ending == LIST) && path.is_file();
        let (paths, lists) = if is_list { (vec![], vec![path]) } else { (vec![path], vec![]) };
        Ok(Rtl { paths, lists, ..like.clone() })
    }
}

/// Writes a folder or a file of the repository.
fn write(object: &str, name: &str, below: &Path) -> Result<(), Error> {
    let wrong = |what: String| Error::Usage(codes::BAD_REVISION, what);
    let read = |arguments: &[&str], input: Option<&Path>| {
        git(arguments, input)?.ok_or_else(|| wrong(format!("git cannot read {object}")))
    };
    let kind = read(&["cat-file", "-t", object], None)?;
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    let mut total = 0_usize;
    if kind.starts_with(b"blob") {
        files.push((PathBuf::from(name), object.to_owned()));
    } else {
        let listed = read(&["ls-tree", "-r", "-z", "--long", "--full-tree", object], None)?;
        for entry in listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let entry = std::str::from_utf8(entry)
                .map_err(|_| wrong("a name in the revision is not UTF-8".to_owned()))?;
            let (facts, path) = entry.split_once('\t').unwrap_or((entry, ""));
            let facts: Vec<&str> = facts.split_whitespace().collect();
            let [mode, "blob" | "commit", hash, size] = facts[..] else {
                return Err(wrong(format!("git lists an unknown entry: {}", text::line(entry))));
            };
            if !mode.starts_with("100") {
                let what = if mode == "160000" { "submodule" } else { "symbolic link" };
                program::warn(format_args!("{}: a {what} is left out", text::line(path)));
                continue;
            }
            let is_plain =
                |part: Component<'_>| matches!(part, Component::Normal(name) if name != ".git");
            if path.is_empty() || !Path::new(path).components().all(is_plain) {
                return Err(wrong(format!(
                    "the name {} leads out of the folder",
                    text::line(path)
                )));
            }
            total = total.saturating_add(size.parse().unwrap_or(usize::MAX));
            files.push((PathBuf::from(path), hash.to_owned()));
        }
    }
    if total > MOST[0] || files.len() > MOST[1] {
        return Err(wrong(format!(
            "the folder has {} files with {total} bytes, more than {} files or {} bytes; name the folder with the RTL alone",
            files.len(),
            MOST[1],
            MOST[0]
        )));
    }
    fs::create_dir_all(below).map_err(Error::write(below))?;
    let mut wanted = tempfile::NamedTempFile::new().map_err(Error::write("a temporary file"))?;
    for (_, hash) in &files {
        writeln!(wanted, "{hash}").map_err(Error::write(wanted.path()))?;
    }
    let texts = read(&["cat-file", "--batch"], Some(wanted.path()))?;
    let mut rest = &texts[..];
    for (path, hash) in files {
        let content = next_blob(&mut rest, &hash)
            .ok_or_else(|| wrong(format!("git cannot read {}", text::path(&path))))?;
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
pub(crate) fn git(arguments: &[&str], input: Option<&Path>) -> Result<Option<Vec<u8>>, Error> {
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
