//! Where a model comes from: linked in, or compiled at run time from built-in or given RTL.

use crate::error::Error;
use crate::harness::Block;
use sha2::{Digest, Sha256};
use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use verilated::{Library, ModelKind, Pins, Port};
use verilated_build::{Design, LibraryCache, Tracing, Verilator, verilog_files};

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
    /// A hash of the RTL's text, to tell two of them apart.
    ///
    /// # Errors
    /// [`Error::File`] if the given RTL cannot be read.
    pub fn identity<B: Block>(&self) -> Result<String, Error> {
        let mut hash = Sha256::new();
        match self {
            Self::BuiltIn => {
                for (name, text) in B::RTL.sources {
                    hash.update(name);
                    hash.update(text);
                }
            }
            Self::Path(path) => {
                for file in given_files(path)? {
                    let text = fs::read(&file).map_err(|error| Error::unreadable(&file, &error))?;
                    hash.update(file.file_name().unwrap_or_default().as_encoded_bytes());
                    hash.update(text);
                }
            }
        }
        Ok(short_hex(hash))
    }

    /// The model of this RTL for a mask. Compiled at run time unless it is linked in.
    ///
    /// # Errors
    /// [`Error::Build`] with Verilator's or the compiler's message; [`Error::Model`] if the ports
    /// differ from those the program was built with.
    pub fn model<B: Block>(&self, mask: u8) -> Result<ModelKind<B::Inputs, B::Outputs>, Error> {
        if *self == Self::BuiltIn
            && let Some(kind) = (B::RTL.model)(mask)
        {
            return Ok(kind);
        }
        self.compile::<B>(mask, View::Bare)
    }

    /// The model of this RTL inside a top that also holds the golden model's outputs, state and rule,
    /// for traces of both.
    ///
    /// # Errors
    /// As [`Rtl::model`].
    pub fn observed<B: Block>(
        &self,
        mask: u8,
        tracing: Tracing,
    ) -> Result<ModelKind<B::Inputs, B::Outputs>, Error> {
        // First without the top around it, so that wrong ports are reported as what they are.
        self.model::<B>(mask)?;
        self.compile::<B>(mask, View::Observed(tracing))
    }

    fn compile<B: Block>(
        &self,
        mask: u8,
        view: View,
    ) -> Result<ModelKind<B::Inputs, B::Outputs>, Error> {
        let cache = cache_folder()?;
        let built_in = write_built_in::<B>(&cache)?;
        let top = built_in.join(format!("{}.v", B::RTL.top));
        let (mut sources, include) = match self {
            Self::BuiltIn => (vec![top], vec![built_in]),
            Self::Path(path) if path.is_dir() => {
                let given = path.join(format!("{}.v", B::RTL.top));
                let given = if given.is_file() { given } else { given.with_extension("sv") };
                // A folder with some of the modules stands for the block with those replaced.
                let source = if given.is_file() { given } else { top };
                (vec![source], vec![path.clone(), built_in])
            }
            Self::Path(path) => {
                given_files(path)?;
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = folder.unwrap_or(Path::new(".")).to_owned();
                let is_top = path.file_stem().is_some_and(|stem| stem == B::RTL.top);
                let sources = if is_top { vec![path.clone()] } else { vec![path.clone(), top] };
                (sources, vec![folder, built_in])
            }
        };
        let (name, tracing) = match view {
            View::Bare => (B::RTL.top, Tracing::Off),
            View::Observed(tracing) => {
                let text = observing_top::<B>();
                let hash = short_hex(Sha256::new_with_prefix(&text));
                let folder = cache.join(format!("observer-{hash}"));
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
            parameters: B::RTL
                .mask_parameter
                .iter()
                .map(|name| ((*name).to_owned(), format!("8'h{mask:02x}")))
                .collect(),
            prefix: "Vmodel".to_owned(),
            tracing,
            coverage: false,
        };
        let library =
            LibraryCache::new(Verilator::find()?, env!("COSIM_TARGET"), cache).library(&design)?;
        Ok(Library::load(&library)?.kind()?)
    }
}

/// The Verilog files of `--rtl PATH`.
fn given_files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let files = if path.is_dir() { verilog_files(path)? } else { Vec::new() };
    if files.is_empty() {
        let message = "is neither a Verilog file nor a folder with some".to_owned();
        return Err(Error::File { path: path.to_owned(), message });
    }
    Ok(files)
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
    let folder = cache.join(format!("rtl-{}", Rtl::BuiltIn.identity::<B>()?));
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
    let (parameter, argument) = match B::RTL.mask_parameter {
        Some(name) => {
            (format!(" #(parameter [7:0] {name} = 8'h00)"), format!(" #(.{name}({name}))"))
        }
        None => (String::new(), String::new()),
    };
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
