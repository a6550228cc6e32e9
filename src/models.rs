//! Where a model comes from: linked in, or compiled at run time from built-in or given RTL.

use crate::error::Error;
use crate::harness::{Block, Parameters};
use regex_lite::Regex;
use sha2::{Digest, Sha256};
use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use verilated::{Library, ModelKind, Pins, Port};
use verilated_build::{Design, LibraryCache, Tracing, Verilator};
use walkdir::WalkDir;

/// The RTL a command works on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Rtl {
    /// The RTL the program was built with.
    #[default]
    BuiltIn,
    /// A Verilog file, or a folder of them.
    Path(PathBuf),
}

impl Rtl {
    /// A hash of the names and texts of all files of the RTL, included ones too, to tell two of them
    /// apart: a copy of the built-in RTL has the same as that.
    ///
    /// # Errors
    /// As [`Rtl::model`]; the files are those that Verilator read for it.
    pub fn identity<B: Block>(&self, parameters: &Parameters) -> Result<String, Error> {
        let mut files: Vec<(String, Vec<u8>)> = match self {
            Self::BuiltIn => return Ok(built_in_identity::<B>()),
            Self::Path(_) => {
                let (cache, design) = self.design::<B>(parameters, View::Bare)?;
                let read = |path: PathBuf| {
                    let text = fs::read(&path).map_err(|error| Error::unreadable(&path, &error))?;
                    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    Ok((name, text))
                };
                cache.files(&design)?.into_iter().map(read).collect::<Result<_, Error>>()?
            }
        };
        files.sort();
        Ok(identity_of(files.iter().map(|(name, text)| (name.as_str(), text.as_slice()))))
    }

    /// The model of this RTL with these parameters. Compiled at run time unless it is linked in.
    ///
    /// # Errors
    /// [`Error::Build`] with Verilator's or the compiler's message; [`Error::Model`] if the ports
    /// differ from those the program was built with.
    pub fn model<B: Block>(
        &self,
        parameters: &Parameters,
    ) -> Result<ModelKind<B::Inputs, B::Outputs>, Error> {
        if *self == Self::BuiltIn
            && let Some(kind) = B::RTL.linked(parameters)
        {
            return Ok(kind);
        }
        self.compile::<B>(parameters, View::Bare)
    }

    /// The model of this RTL inside a top that also holds the golden model's outputs, state and rule,
    /// for traces of both.
    ///
    /// # Errors
    /// As [`Rtl::model`].
    pub fn observed<B: Block>(
        &self,
        parameters: &Parameters,
        tracing: Tracing,
    ) -> Result<ModelKind<B::Inputs, B::Outputs>, Error> {
        // First without the top around it, so that wrong ports are reported as what they are.
        self.model::<B>(parameters)?;
        self.compile::<B>(parameters, View::Observed(tracing))
    }

    fn compile<B: Block>(
        &self,
        parameters: &Parameters,
        view: View,
    ) -> Result<ModelKind<B::Inputs, B::Outputs>, Error> {
        let (cache, design) = self.design::<B>(parameters, view)?;
        Ok(Library::load(&cache.library(&design)?)?.kind()?)
    }

    /// What is to be verilated, and where what comes of it is kept.
    fn design<B: Block>(
        &self,
        parameters: &Parameters,
        view: View,
    ) -> Result<(LibraryCache, Design), Error> {
        let folder = cache_folder()?;
        let built_in = write_built_in::<B>(&folder)?;
        let (mut sources, mut include) = match self {
            Self::BuiltIn => (Vec::new(), Vec::new()),
            Self::Path(path) => given::<B>(path)?,
        };
        // A part of the block stands for the block with that part replaced.
        if !sources.iter().any(|source| source.modules.iter().any(|module| module == B::RTL.top)) {
            let path = built_in.join(format!("{}.v", B::RTL.top));
            sources.push(Source { path, modules: Vec::new() });
        }
        let mut sources: Vec<PathBuf> = sources.into_iter().map(|source| source.path).collect();
        include.push(built_in);
        let (name, tracing) = match view {
            View::Bare => (B::RTL.top, Tracing::Off),
            View::Observed(tracing) => {
                let text = observing_top::<B>();
                let hash = short_hex(Sha256::new_with_prefix(&text));
                let folder = folder.join(format!("observer-{hash}"));
                fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
                let path = folder.join(format!("{OBSERVING_TOP}.sv"));
                write_whole(&path, &text)?;
                sources.insert(0, path);
                (OBSERVING_TOP, tracing)
            }
        };
        let design = Design {
            top: name.to_owned(),
            sources,
            include,
            parameters: parameters.verilog(B::RTL.mask_parameter),
            prefix: "Vmodel".to_owned(),
            tracing,
            coverage: false,
        };
        Ok((LibraryCache::new(Verilator::find()?, env!("COSIM_TARGET"), folder), design))
    }
}

/// A given file and the modules it declares.
struct Source {
    path: PathBuf,
    modules: Vec<String>,
}

/// The files of `--rtl PATH` that declare modules of the block, and the folders in which further
/// modules and headers are.
///
/// # Errors
/// [`Error::File`] if there is no such file, or if two declare the same module: what would be run is not
/// what was given.
fn given<B: Block>(path: &Path) -> Result<(Vec<Source>, Vec<PathBuf>), Error> {
    let object = |message: String| Err(Error::File { path: path.to_owned(), message });
    let ours: Vec<String> = B::RTL.sources.iter().flat_map(|(_, text)| modules(text)).collect();
    let mut sources: Vec<Source> = Vec::new();
    for file in verilog_below(path)? {
        let text = fs::read(&file).map_err(|error| Error::unreadable(&file, &error))?;
        let modules = modules(&String::from_utf8_lossy(&text));
        if !modules.iter().any(|module| ours.contains(module)) {
            continue;
        }
        let is_here = |module: &&String| modules.contains(*module);
        for other in &sources {
            if let Some(module) = other.modules.iter().find(is_here) {
                let (first, second) = (other.path.display(), file.display());
                return object(format!("module {module} is declared in both {first} and {second}"));
            }
        }
        sources.push(Source { path: file, modules });
    }
    if sources.is_empty() {
        return object(format!(
            "declares none of the modules of block {}: expected {}",
            B::NAME,
            ours.join(", ")
        ));
    }
    let mut folders = Vec::new();
    let parents = sources.iter().filter_map(|source| source.path.parent());
    for folder in path.is_dir().then_some(path).into_iter().chain(parents) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if !folders.iter().any(|known| known == folder) {
            folders.push(folder.to_owned());
        }
    }
    Ok((sources, folders))
}

/// The modules that a Verilog text declares.
fn modules(text: &str) -> Vec<String> {
    let [comment, module] = [
        r#"(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*""#,
        r"\b(?:macro)?module\s+(?:automatic\s+|static\s+)?([A-Za-z_][A-Za-z0-9_$]*)",
    ]
    .map(|pattern| Regex::new(pattern).expect("a pattern that is always the same"));
    let bare = comment.replace_all(text, " ");
    module.captures_iter(&bare).map(|found| found[1].to_owned()).collect()
}

/// The Verilog files at or below a path, headers not counted.
fn verilog_below(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    if !path.is_dir() {
        let message = "is neither a Verilog file nor a folder with some".to_owned();
        return Err(Error::File { path: path.to_owned(), message });
    }
    let mut files = Vec::new();
    for entry in WalkDir::new(path).follow_links(true).sort_by_file_name() {
        let entry = entry.map_err(|error| Error::File {
            path: error.path().unwrap_or(path).to_owned(),
            message: error.io_error().map_or_else(|| error.to_string(), ToString::to_string),
        })?;
        let extension = entry.path().extension().unwrap_or_default().to_ascii_lowercase();
        if entry.file_type().is_file() && (extension == "v" || extension == "sv") {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

fn built_in_identity<B: Block>() -> String {
    let mut files = B::RTL.sources.to_vec();
    files.sort_unstable();
    identity_of(files.into_iter().map(|(name, text)| (name, text.as_bytes())))
}

fn identity_of<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut hash = Sha256::new();
    for (name, text) in files {
        hash.update(name);
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    short_hex(hash)
}

/// Where compiled models are kept: `COSIM_CACHE`, else `cosim` in the user's cache folder.
fn cache_folder() -> Result<PathBuf, Error> {
    let from = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    from("COSIM_CACHE")
        .or_else(|| from("XDG_CACHE_HOME").map(|folder| folder.join("cosim")))
        .or_else(|| from("HOME").map(|folder| folder.join(".cache/cosim")))
        .ok_or_else(|| {
            let message = "no folder for compiled models: set COSIM_CACHE to one";
            Error::Environment(message.to_owned())
        })
}

/// Writes the built-in RTL to a folder of the cache named by its content.
fn write_built_in<B: Block>(cache: &Path) -> Result<PathBuf, Error> {
    let folder = cache.join(format!("rtl-{}", built_in_identity::<B>()));
    fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
    for (name, text) in B::RTL.sources {
        let path = folder.join(name);
        write_whole(&path, text)?;
    }
    Ok(folder)
}

/// Writes a file unless it is there already. It appears whole: another thread or process may be
/// reading it.
fn write_whole(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder).map_err(Error::write(folder))?;
    file.write_all(text.as_bytes()).map_err(Error::write(path))?;
    file.persist(path).map_err(|error| Error::write(path)(error.error))?;
    Ok(())
}

/// How a model is built.
#[derive(Debug, Clone, Copy)]
enum View {
    /// As it is.
    Bare,
    /// Inside an observing top, with waves.
    Observed(Tracing),
}

/// Module name of the observing top.
const OBSERVING_TOP: &str = "cosim_top";
/// Bits of a text in a trace.
const TEXT_BITS: u32 = 192;

/// A Verilog top that holds the DUT as `dut` and, in a scope `golden`, the golden model's outputs.
fn observing_top<B: Block>() -> String {
    let (inputs, outputs) = (B::Inputs::PORTS, B::Outputs::PORTS);
    let declare = |direction: &str, prefix: &str, port: &Port| {
        format!("  {direction} wire [{}:0] {prefix}{}", port.width - 1, port.name)
    };
    let texts = |prefix: &str| {
        ["state", "rule"].map(|name| format!("  input wire [{}:0] {prefix}{name}", TEXT_BITS - 1))
    };
    let mut ports = vec!["  input wire clk".to_owned()];
    ports.extend(inputs.iter().map(|port| declare("input", "", port)));
    ports.extend(outputs.iter().map(|port| declare("output", "", port)));
    ports.extend(outputs.iter().map(|port| declare("input", "cosim_golden_", port)));
    ports.extend(texts("cosim_golden_"));
    ports.push("  output wire [63:0] cosim_dut_state".to_owned());
    let names = || inputs.iter().chain(outputs).map(|port| port.name);
    let mut dut_pins = vec!["    .clk(clk)".to_owned()];
    dut_pins.extend(names().map(|name| format!("    .{name}({name})")));
    let golden_names = || outputs.iter().map(|port| port.name).chain(["state", "rule"]);
    let golden_pins: Vec<String> =
        golden_names().map(|name| format!("    .{name}(cosim_golden_{name})")).collect();
    let mut golden_ports: Vec<String> =
        outputs.iter().map(|port| declare("input", "", port)).collect();
    golden_ports.extend(texts(""));
    let mask = B::RTL.mask_parameter.map(|name| (format!("[7:0] {name} = 8'h00"), name));
    let others = B::PARAMETERS
        .iter()
        .map(|parameter| (format!("{} = {}", parameter.name, parameter.default), parameter.name));
    let (parameters, arguments): (Vec<String>, Vec<String>) = mask
        .into_iter()
        .chain(others)
        .map(|(declared, name)| (format!("parameter {declared}"), format!(".{name}({name})")))
        .unzip();
    let list = |list: Vec<String>| match list.is_empty() {
        true => String::new(),
        false => format!(" #({})", list.join(", ")),
    };
    let (parameter, argument) = (list(parameters), list(arguments));
    let state = B::STATE_REGISTER.map_or("64'd0".to_owned(), |name| format!("64'(dut.{name})"));
    format!(
        "module {OBSERVING_TOP}{parameter} (\n{}\n);\n  {}{argument} dut (\n{}\n  );\n  golden golden \
         (\n{}\n  );\n  assign cosim_dut_state = {state};\nendmodule\n\nmodule golden (\n{}\n);\n\
         endmodule\n",
        ports.join(",\n"),
        B::RTL.top,
        dut_pins.join(",\n"),
        golden_pins.join(",\n"),
        golden_ports.join(",\n"),
    )
}

/// The first 12 hex digits of a hash.
pub fn short_hex(hash: Sha256) -> String {
    hash.finalize()[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}
