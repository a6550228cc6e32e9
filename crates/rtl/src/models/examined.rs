//! Examines RTL with Verilator: which files belong to it, and which of them are user RTL.

mod folder;
mod names;

use super::expanded::PreprocessedRtl;
use super::verilator;
use cosim_base::error::{Error, codes};
use cosim_base::text;
use cosim_block::rtl::Rtl;
use cosim_harness::harness::{self, BlockInfo, BuiltInRtl};
use folder::examine;
use names::Names;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;
use verilated_build::{
    DataFile, Design, Error as BuildError, SourceFile, Unprovable, VerilatorOption, Wrapper,
};
use verilated_files::Hash;
use verilated_files::foreign::lay_out;

/// Folder of the built-in RTL, as Verilator sees it.
const BUILT_IN: &str = "@built-in";
/// The temporary folder of the files that Verilator sees.
const FILES: &str = "files";

/// A file that Verilator read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRead {
    /// The path as typed or relative to what was typed; for built-in files the name only.
    pub path: String,
    /// Whether the file is built in.
    pub built_in: bool,
}

/// The examined RTL. Its texts are a snapshot, and models are compiled from them.
#[derive(Debug, Clone, Default)]
pub struct Examined {
    /// A hash of the names and texts of all files and of the macros. A copy of the built-in RTL has
    /// the same hash as the original.
    pub identity: String,
    /// The files that were read; data files come last.
    pub files: Vec<FileRead>,
    /// The texts of the source files, by the names that the design uses.
    pub texts: Vec<SourceFile>,
    /// The design, without parameters.
    pub design: Design,
    /// The parameters of the top module.
    pub parameters: Vec<String>,
    /// Places where the RTL opens files with computed names, which are not part of the RTL.
    pub computed: Vec<String>,
    /// Files that were read through a link out of what the user named, by their paths.
    pub left: Vec<PathBuf>,
    /// The file with the properties as assertions, if the block has one.
    pub assertions: Option<AssertionFile>,
    /// What names of the design stand for.
    names: Names,
    /// The preprocessed texts for Yosys, computed on demand: with pragmas ignored, and obeyed.
    expanded: OnceLock<Arc<PreprocessedRtl>>,
}

/// A file with the properties of a block as assertions, `NAME_sva.sv`. It is no part of the design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssertionFile {
    /// Its module, `NAME_sva`.
    pub module: String,
    /// Its path, as typed; its name alone if it is the program's own.
    pub path: PathBuf,
    pub text: String,
    /// Whether it belongs to the RTL: the built-in file does not belong to user RTL.
    pub is_of_rtl: bool,
    /// Its name in the design, if it is compiled into a model.
    pub(super) name: PathBuf,
}

/// The module with the assertions of a block, whose name may have hyphens.
fn assertion_module(block: &str) -> String {
    format!("{}_sva", block.replace('-', "_"))
}

impl AssertionFile {
    /// A file of a block, `rtl/NAME_sva.sv`. For tests.
    #[doc(hidden)]
    pub fn from_text(block: &str, text: &str) -> Self {
        let module = assertion_module(block);
        let path = PathBuf::from(format!("rtl/{module}.sv"));
        Self { module, name: path.clone(), path, text: text.to_owned(), is_of_rtl: true }
    }
}

/// What is asked for: a top module, and what stands in for files that are not given.
#[derive(Debug, Clone, Copy)]
struct TopRequest<'a> {
    /// Describes the top to the user, as in "block arbiter".
    what: &'a str,
    top: &'a str,
    /// What the user can do if Verilator rejects a file that the block does not need.
    hint: &'a str,
    /// Built-in source files, as (name, text).
    own: &'a [(&'a str, &'a str)],
    /// Built-in data files, as (name, contents).
    data: &'a [(&'a str, &'a [u8])],
    /// Built-in macros.
    defines: &'a [&'a str],
    options: &'a [VerilatorOption],
    wrapper: Option<harness::Wrapper>,
    /// The module that asks for the top: its declarations, and the instance.
    ask: &'a str,
    /// The name of the block, for its assertions.
    block: Option<&'a str>,
    /// The program's own file of assertions.
    assertions: Option<(&'a str, &'a str)>,
}

impl TopRequest<'_> {
    /// The program's own file of assertions; whether it belongs to the RTL.
    fn own_assertions(&self, is_of_rtl: bool) -> Option<AssertionFile> {
        let ((name, text), block) = (self.assertions?, self.block?);
        Some(AssertionFile {
            module: assertion_module(block),
            path: name.into(),
            text: text.to_owned(),
            is_of_rtl,
            name: Path::new(BUILT_IN).join(name),
        })
    }
}

impl Examined {
    /// Examines the RTL of a top module for which there is no block yet.
    ///
    /// # Errors
    /// As [`Examined::new`].
    pub fn of_top(
        top: &str,
        ask: &str,
        rtl: &Rtl,
        options: &[VerilatorOption],
    ) -> Result<Self, Error> {
        let hint = "If a file is not meant to be compiled, leave it out, or name the others in a file list (-f).";
        let what = format!("module {top}");
        let request = TopRequest {
            what: &what,
            top,
            hint,
            own: &[],
            data: &[],
            defines: &[],
            options,
            wrapper: None,
            ask,
            block: None,
            assertions: None,
        };
        examine(&request, rtl)
    }

    /// Examines an RTL of a block.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Input`] or [`Error::Usage`] if the user RTL does not contain the
    /// block or is ambiguous. [`Error::Build`] with Verilator's message.
    pub fn new(info: &'static BlockInfo, rtl: &Rtl) -> Result<Self, Error> {
        let BuiltInRtl { top, sources, data, defines, wrapper, assertions, .. } = info.rtl;
        let what = format!("block {}", info.name);
        let hint = "If a file is not meant to be compiled, name the others with --rtl FILE, or in a file list (-f).";
        let block = Some(info.name);
        let ask = &format!("{top} dut();");
        let own = sources;
        let wanted = TopRequest {
            what: &what,
            top,
            hint,
            own,
            data,
            defines,
            options: &options(info)?,
            wrapper,
            ask,
            block,
            assertions,
        };
        match rtl.is_built_in() {
            true => Ok(Self { assertions: wanted.own_assertions(true), ..Self::built_in(info)? }),
            false => examine(&wanted, rtl),
        }
    }

    /// The whole hash of what is compiled. [`Self::identity`] is for people, and so short that
    /// another text with the same one can be found.
    pub fn whole_hash(&self) -> String {
        let mut hash = Hash::default();
        for SourceFile { name, text } in &self.texts {
            hash.add(name.as_os_str().as_encoded_bytes());
            hash.add(text);
        }
        for DataFile { name, text } in &self.design.data {
            hash.add(name);
            text.iter().for_each(|text| hash.add(text));
        }
        hash.hex()
    }

    /// The same with assertions that simulation checks, which make it another RTL.
    pub(crate) fn with_assertions(mut self, block: &str) -> Result<Self, Error> {
        let refuse = |message: &str| {
            Err(Error::Usage(codes::OPTIONS_CONFLICT, format!("--assertions: {message}")))
        };
        let Some(AssertionFile { name, text, .. }) = &self.assertions else {
            let file = assertion_module(block);
            return refuse(&format!("block {block} has no file {file}.sv beside its RTL"));
        };
        let text = text.as_bytes();
        self.identity =
            identity([("rtl", self.identity.as_bytes()), ("assertions", text)].into_iter(), &[]);
        self.texts.push(SourceFile { name: name.clone(), text: text.into() });
        self.design.sources.push(name.clone());
        self.design.assertions = true;
        Ok(self)
    }

    fn built_in(info: &'static BlockInfo) -> Result<Self, Error> {
        let name = |name: &str| Path::new(BUILT_IN).join(name);
        let texts = info.rtl.sources.iter();
        let defines: Vec<String> = info.rtl.defines.iter().copied().map(str::to_owned).collect();
        let files = || {
            let sources = info.rtl.sources.iter().map(|(name, text)| (*name, text.as_bytes()));
            sources.chain(info.rtl.data.iter().copied())
        };
        let data = info
            .rtl
            .data
            .iter()
            .map(|(name, text)| DataFile { name: (*name).to_owned(), text: Some((*text).into()) });
        let options = options(info)?;
        Ok(Self {
            identity: identity(files(), &words(&defines, &options)),
            files: files()
                .map(|(name, _)| FileRead { path: name.to_owned(), built_in: true })
                .collect(),
            texts: texts
                .map(|(file, text)| SourceFile { name: name(file), text: text.as_bytes().into() })
                .collect(),
            design: Design {
                top: info.rtl.top.to_owned(),
                wrapper: info.rtl.wrapper.map(design_wrapper),
                sources: info.rtl.roots.iter().map(|root| name(root)).collect(),
                include: vec![BUILT_IN.into()],
                defines,
                options,
                data: data.collect(),
                ..Design::default()
            },
            parameters: info
                .rtl
                .mask_parameter
                .into_iter()
                .chain(info.parameters.iter().map(|parameter| parameter.name))
                .map(str::to_owned)
                .collect(),
            computed: Vec::new(),
            left: Vec::new(),
            assertions: None,
            names: Names::default(),
            expanded: Default::default(),
        })
    }

    /// The preprocessed texts for Yosys. The preprocessor runs once.
    ///
    /// # Errors
    /// [`Error::Build`] with Verilator's message.
    pub fn expanded(&self) -> Result<Arc<PreprocessedRtl>, Error> {
        if let Some(expanded) = self.expanded.get() {
            return Ok(Arc::clone(expanded));
        }
        let expanded = Arc::new(PreprocessedRtl::new(self)?);
        Ok(Arc::clone(self.expanded.get_or_init(|| expanded)))
    }

    /// Replaces names in a message of Verilator by the user's paths.
    pub fn text(&self, text: &str) -> String {
        self.names.text(text)
    }

    /// A place in the RTL with the user's path; built-in files by name only.
    pub fn typed(&self, place: &str) -> String {
        self.text(place).replace("the built-in ", "")
    }

    /// Replaces names in a build error by the user's paths.
    pub fn plain(&self, error: BuildError) -> Error {
        self.names.plain(error)
    }

    /// The constructs of the RTL, with these parameters, that Yosys may read otherwise than
    /// Verilator simulates them, each with its place; empty if all are on the list of what may be
    /// proved (see [`Design::unprovable`]).
    ///
    /// # Errors
    /// [`Error::Write`] if a temporary folder cannot be written; [`Error::Build`].
    pub fn unprovable(&self, parameters: &[(String, String)]) -> Result<Vec<String>, Error> {
        let temporary =
            TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let texts = self.texts.iter().map(SourceFile::named);
        let folder = lay_out(&temporary.path().join(FILES), texts)
            .map_err(|error| self.plain(error.into()))?;
        let design =
            Design { folder: Some(folder), parameters: parameters.to_vec(), ..self.design.clone() };
        let out = temporary.path().join("tree");
        let found = design.unprovable(&verilator()?, &out).map_err(|error| self.plain(error))?;
        let text = |Unprovable { what, place }: Unprovable| match place {
            Some((file, line, _)) => self.typed(&format!("{}:{line}: {what}", file.display())),
            None => what,
        };
        Ok(found.into_iter().map(text).collect())
    }

    /// The real folder that the first component of a name stands for; an empty path if it is none
    /// of the user.
    pub(super) fn folder_of(&self, name: &Path) -> PathBuf {
        self.names.link_of(name).map_or_else(PathBuf::new, |(link, _)| link.real.clone())
    }
}

/// Names to choose from: the one that is meant, or the first ones.
pub fn candidates(wanted: &str, what: &str, known: &[&str]) -> String {
    const MOST: usize = 12;
    let hint = text::suggestion(wanted, known.iter().copied());
    if !hint.is_empty() || known.is_empty() {
        return hint;
    }
    let shown = known.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    let more = if known.len() > MOST { ", ..." } else { "" };
    format!("; its {what} are {shown}{more}")
}

fn design_wrapper(wrapper: harness::Wrapper) -> Wrapper {
    Wrapper { file: wrapper.file.into(), module: wrapper.module.to_owned() }
}

fn options(info: &BlockInfo) -> Result<Vec<VerilatorOption>, Error> {
    Ok(info.rtl.options.iter().map(|option| option.parse()).collect::<Result<_, BuildError>>()?)
}

/// What a model depends on besides its files.
fn words(defines: &[String], options: &[VerilatorOption]) -> Vec<String> {
    defines.iter().cloned().chain(options.iter().map(ToString::to_string)).collect()
}

fn identity<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>, defines: &[String]) -> String {
    let mut files: Vec<_> = files.collect();
    files.sort_unstable();
    let mut hash = Hash::default();
    for (name, text) in files {
        hash.add(name);
        hash.add(text);
    }
    defines.iter().for_each(|define| hash.add(define));
    hash.short()
}
