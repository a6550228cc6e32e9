//! Verilates every block of `rtl/blocks.json` and links the models into the program.
//!
//! For each block: the ports Verilator reports become packed structs in C and, through bindgen, in
//! Rust; each embedded model is compiled with its shim into an archive. A block's RTL text goes into
//! the program, too, so that other masks can be compiled at run time. What did not change since the
//! last build is not made again.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use verilated_build::{
    Design, Driving, Ports, Tracing, Verilated, Verilator, choose, codegen, compile, load_libclang,
    registered,
};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// One entry of `rtl/blocks.json`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    /// The name on the command line.
    name: String,
    /// The top module, in the file of the same name.
    top: String,
    /// The 8-bit parameter that takes the mask of fixes, if the block has errata.
    mask: Option<String>,
    /// Parameters of the models that are linked into the program: every one by its name, the mask
    /// included.
    embedded: Vec<BTreeMap<String, u64>>,
}

impl Block {
    /// A parameter's value in Verilog: the mask has a width, the others are integers.
    fn verilog(&self, name: &str, value: u64) -> String {
        match self.mask.as_deref() {
            Some(mask) if mask == name => format!("8'h{value:02x}"),
            _ => value.to_string(),
        }
    }
}

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<()> {
    for name in ["VERILATOR", "VERILATOR_ROOT"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let watched = ["Cargo.lock", "build.rs", "rtl", "src", "verilated"];
    for path in watched {
        println!("cargo:rerun-if-changed={path}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    // Relative to the package's root, where build scripts run: so are Verilator's messages.
    let rtl = Path::new("rtl");
    let verilator = Verilator::find()?;
    let blocks: Vec<Block> = serde_json::from_str(&fs::read_to_string(rtl.join("blocks.json"))?)?;
    for block in &blocks {
        build_block(block, rtl, &out, &verilator)?;
    }
    let id = identity(&watched, &verilator)?;
    println!("cargo:rustc-env=COSIM_BUILD={id}");
    println!("cargo:rustc-env=COSIM_VERILATOR={}", verilator.version());
    println!("cargo:rustc-env=COSIM_TARGET={}", env::var("TARGET")?);
    Ok(())
}

/// Builds the models of a block and writes its Rust module to `<out>/<name>.rs`.
fn build_block(block: &Block, rtl: &Path, out: &Path, verilator: &Verilator) -> Result<()> {
    let models: Vec<Result<Model>> = thread::scope(|scope| {
        let builds: Vec<_> = block
            .embedded
            .iter()
            .map(|values| scope.spawn(move || build_model(block, values, rtl, out, verilator)))
            .collect();
        builds.into_iter().map(|build| build.join().expect("no build panics")).collect()
    });
    let models = models.into_iter().collect::<Result<Vec<Model>>>()?;
    let model = models.first().ok_or_else(|| format!("{}: nothing is embedded", block.name))?;
    if models.iter().any(|other| other.ports != model.ports) {
        return Err(format!("{}: the ports depend on the parameters", block.name).into());
    }
    write_bindings(block, model, rtl, out)
}

/// A built model.
struct Model {
    ports: Ports,
    /// The RTL it was built from.
    files: Vec<PathBuf>,
}

/// The class of a block's model with these parameters; also the name of its archive.
fn prefix(block: &Block, values: &BTreeMap<String, u64>) -> String {
    let values = values.values().map(|value| format!("_{value}"));
    format!("V{}{}", block.name, values.collect::<String>())
}

/// Verilates and compiles one model unless nothing it depends on has changed.
fn build_model(
    block: &Block,
    values: &BTreeMap<String, u64>,
    rtl: &Path,
    out: &Path,
    verilator: &Verilator,
) -> Result<Model> {
    let prefix = prefix(block, values);
    let design = Design {
        top: block.top.clone(),
        sources: vec![rtl.join(format!("{}.v", block.top))],
        include: vec![rtl.to_owned()],
        parameters: values
            .iter()
            .map(|(name, value)| (name.clone(), block.verilog(name, *value)))
            .collect(),
        prefix: prefix.clone(),
        registered: true,
        ..Design::default()
    };
    let dir = out.join(&prefix);
    let archive = out.join(format!("lib{prefix}.a"));
    let stamp_file = out.join(format!("{prefix}.stamp"));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static={prefix}");
    let fresh = Verilated {
        dir: dir.clone(),
        prefix: prefix.clone(),
        sources: Vec::new(),
        warnings: String::new(),
    };
    if archive.is_file()
        && fs::read_to_string(&stamp_file)
            .is_ok_and(|old| stamp(&fresh, rtl, verilator).is_ok_and(|new| new == old))
    {
        let ports = Ports::read(&fresh, &block.top)?;
        return Ok(Model { ports, files: fresh.files_read(verilator)? });
    }
    let verilated = design.verilate(verilator, &dir)?;
    for warning in verilated.warnings.lines() {
        println!("cargo:warning={warning}");
    }
    let ports = Ports::read(&verilated, &block.top)?;
    let symbol = format!("vl_model_{prefix}");
    let files = verilated.files_read(verilator)?;
    let stamp = stamp(&verilated, rtl, verilator)?;
    let (verilated, driving) = choose(&design, verilated, &ports, verilator)?;
    if let Driving::TwoEvaluations(reason) = &driving {
        println!("cargo:warning={}: two evaluations for each cycle: {reason}", block.name);
    }
    let off = Tracing::Off;
    let text = codegen::model_cpp(&verilated, &ports, &block.top, off, false, &driving, &symbol);
    let source = verilated.dir.join(format!("{prefix}_model.cc"));
    fs::write(&source, text)?;
    fs::write(verilated.dir.join("pins.h"), codegen::c_header(&ports))?;
    let shim = dir.join("shim");
    compile::write_shim(&shim)?;
    let mut build = compile::compiler(verilator, &shim);
    compile::define_features(&mut build, Tracing::Off, false);
    build.cargo_metadata(false).include(&verilated.dir);
    let objects = compile::objects(&build, &[source], &dir)?;
    build.objects(objects).try_compile(&prefix)?;
    fs::write(stamp_file, stamp)?;
    Ok(Model { ports, files })
}

/// A hash of everything a model was built from: the files Verilator says it read, the names of all
/// RTL files (a new one may shadow an old one), the tool and the generator.
fn stamp(model: &Verilated, rtl: &Path, verilator: &Verilator) -> Result<String> {
    let mut hash = Sha256::new();
    hash.update(verilator.version());
    hash.update(verilator.root().as_os_str().as_encoded_bytes());
    let mut names: Vec<PathBuf> = Vec::new();
    collect(rtl, &mut names)?;
    names.sort();
    for name in names {
        hash.update(name.as_os_str().as_encoded_bytes());
    }
    for file in model.files_read(verilator)? {
        hash.update(fs::read(file)?);
    }
    for text in compile::shim_text().chain(registered::text()).chain([
        include_str!("verilated/build/src/codegen.rs"),
        include_str!("verilated/build/src/compile.rs"),
        include_str!("verilated/build/src/verilate.rs"),
    ]) {
        hash.update(text);
    }
    Ok(hex(hash))
}

/// Writes the block's Rust module: bindings of its pins, its port tables, its models, its RTL.
fn write_bindings(block: &Block, model: &Model, rtl: &Path, out: &Path) -> Result<()> {
    let Model { ports, files } = model;
    let rtl = std::path::absolute(rtl)?;
    let header = out.join(format!("{}_pins.h", block.name));
    fs::write(&header, codegen::c_header(ports))?;
    load_libclang()?;
    let mut builder = bindgen::builder()
        .header(header.display().to_string())
        .allowlist_type("Inputs|Outputs")
        .blocklist_type("Bits[0-9]+")
        .derive_copy(false)
        .derive_debug(false)
        .parse_callbacks(Box::new(PinDerives));
    for alias in codegen::rust_aliases(ports) {
        builder = builder.raw_line(alias);
    }
    let mut text = builder.generate()?.to_string();
    text.push_str(&codegen::rust_tables(ports));
    writeln!(text, "/// The RTL and its models.")?;
    writeln!(
        text,
        "pub const RTL: crate::harness::LinkedRtl<Inputs, Outputs> = crate::harness::LinkedRtl {{"
    )?;
    writeln!(
        text,
        "    top: {:?},\n    mask_parameter: {:?},\n    sources: &[",
        block.top, block.mask
    )?;
    for file in files {
        let name = file.strip_prefix(&rtl)?;
        writeln!(
            text,
            "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/rtl/\", {name:?}))),"
        )?;
    }
    writeln!(
        text,
        "    ],
    embedded: &["
    )?;
    for values in &block.embedded {
        let values: Vec<(&String, &u64)> = values.iter().collect();
        writeln!(text, "        &{values:?},")?;
    }
    writeln!(
        text,
        "    ],
    model,
}};
unsafe extern \"C\" {{"
    )?;
    for values in &block.embedded {
        let prefix = prefix(block, values);
        writeln!(text, "    fn vl_model_{prefix}() -> *const ::core::ffi::c_void;")?;
    }
    writeln!(
        text,
        "}}
/// The linked model with an index."
    )?;
    writeln!(text, "fn model(index: usize) -> Option<::verilated::ModelKind<Inputs, Outputs>> {{")?;
    writeln!(text, "    let function: ::verilated::ModelFunction = match index {{")?;
    for (index, values) in block.embedded.iter().enumerate() {
        writeln!(text, "        {index} => vl_model_{},", prefix(block, values))?;
    }
    writeln!(text, "        _ => return None,\n    }};")?;
    writeln!(text, "    // SAFETY: defined by the generated shim and linked into this program.")?;
    writeln!(text, "    unsafe {{ ::verilated::ModelKind::linked(function) }}.ok()\n}}")?;
    fs::write(out.join(format!("{}.rs", block.name)), text)?;
    Ok(())
}

/// Makes the structs of pins plain bytes, so that they are compared and copied as such. They are not
/// made of bytes: a port has no value beyond its width.
#[derive(Debug)]
struct PinDerives;

impl bindgen::callbacks::ParseCallbacks for PinDerives {
    fn add_derives(&self, _: &bindgen::callbacks::DeriveInfo<'_>) -> Vec<String> {
        let plain = ["Clone", "Copy", "Debug", "Default", "PartialEq", "Eq"].map(str::to_owned);
        let bytes = ["IntoBytes", "Immutable", "KnownLayout"];
        plain.into_iter().chain(bytes.map(|name| format!("::zerocopy::{name}"))).collect()
    }
}

/// Names this build: a hash of every source that decides its behaviour, and of the tool.
fn identity(watched: &[&str], verilator: &Verilator) -> Result<String> {
    let mut files = Vec::new();
    for path in watched {
        collect(Path::new(path), &mut files)?;
    }
    files.sort();
    let mut hash = Sha256::new();
    hash.update(verilator.version());
    for file in files {
        hash.update(file.as_os_str().as_encoded_bytes());
        hash.update(fs::read(file)?);
    }
    Ok(hex(hash)[..12].to_owned())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
