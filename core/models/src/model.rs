//! Builds one model: from RTL to an archive that is linked into the program.

use crate::{Block, Error};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use verilated_build::{
    DataFile, DataNames, Design, Driving, Ports, Verilated, choose, codegen, compile, opens_files,
};
use verilated_files::Hash;
use verilated_runtime::{Of, Tracing, Verilator};

pub struct Model {
    pub ports: Ports,
    /// The RTL files that it was built from.
    pub files: Vec<PathBuf>,
    /// The files that it reads at run time, relative to the block's folder.
    pub data: Vec<String>,
}

/// The class name of a block's model with these parameters; also the name of its archive.
pub fn prefix(block: &Block, values: &BTreeMap<String, u64>) -> String {
    let values = values.values().map(|value| format!("_{value}"));
    format!("V{}{}", block.name, values.collect::<String>())
}

/// Verilates and compiles one model, unless nothing it depends on has changed.
pub fn build(
    block: &Block,
    values: &BTreeMap<String, u64>,
    out: &Path,
    verilator: &Verilator,
) -> Result<Model, Error> {
    let prefix = prefix(block, values);
    let parameters = values.iter().map(|(name, value)| (name.clone(), block.verilog(name, *value)));
    let mut design = Design {
        top: block.outer_top(),
        wrapper: block.wrapper_of_design(),
        clock: block.clock.as_str().into(),
        sources: block.files(),
        include: block.folders().cloned().collect(),
        defines: block.defines.clone(),
        options: block.options()?,
        parameters: parameters.collect(),
        prefix: prefix.clone(),
        registered: true,
        ..Design::default()
    };
    let dir = out.join(&prefix);
    design.data = data(block, &design, verilator, &out.join(format!("{prefix}_data")))?;
    let data = design.data.iter().filter(|file| file.text.is_some());
    let data: Vec<String> = data.map(|file| file.name.clone()).collect();
    let stamp_file = out.join(format!("{prefix}.stamp"));
    let known = Verilated {
        dir: dir.clone(),
        prefix: prefix.clone(),
        sources: Vec::new(),
        warnings: String::new(),
    };
    let is_built = out.join(format!("lib{prefix}.a")).is_file()
        && fs::read_to_string(&stamp_file)
            .is_ok_and(|old| stamp(&known, block, &design, verilator).is_ok_and(|new| new == old));
    if is_built {
        let ports = design.ports(verilator, &known)?;
        return Ok(Model { ports, files: known.files_read(verilator)?, data });
    }
    let verilated = design.verilate(verilator, &dir)?;
    for warning in verilated.warnings.lines() {
        println!("cargo:warning={warning}");
    }
    let ports = design.ports(verilator, &verilated)?;
    let files = verilated.files_read(verilator)?;
    let stamp = stamp(&verilated, block, &design, verilator)?;
    compile_archive(block, &design, verilated, &ports, verilator, out)?;
    fs::write(&stamp_file, stamp).map_err(Error::io(&stamp_file))?;
    Ok(Model { ports, files, data })
}

/// The files that the RTL opens by constant names. `out` is a folder for Verilator's output.
fn data(
    block: &Block,
    design: &Design,
    verilator: &Verilator,
    out: &Path,
) -> Result<Vec<DataFile>, Error> {
    let preprocessed = design.preprocess(verilator)?;
    // Skip the elaboration, because most RTL opens no files.
    if !preprocessed.texts.values().any(|text| opens_files(text)) {
        return Ok(Vec::new());
    }
    let names = DataNames::from_design(&preprocessed, &design.elaborate(verilator, out)?);
    for opened in &names.computed {
        println!(
            "cargo:warning={}:{}: the RTL computes the name of a file that it opens, so that file \
             is not part of the model",
            opened.file.display(),
            opened.line
        );
    }
    let mut files = Vec::new();
    for (name, opened) in names.constant {
        let path = block.folder.join(&name);
        let is_inside =
            !Path::new(&name).is_absolute() && !name.split('/').any(|part| part == "..");
        let text = match is_inside && path.is_file() {
            true => Some(fs::read(&path).map_err(Error::io(&path))?.into()),
            false => None,
        };
        match opened {
            Some(opened) if text.is_none() && opened.is_required => {
                return Err(Error::Data {
                    block: block.name.clone(),
                    name,
                    at: format!("{}:{}", opened.file.display(), opened.line),
                    folder: block.folder.clone(),
                });
            }
            None if text.is_none() => {}
            _ => files.push(DataFile { name, text }),
        }
    }
    Ok(files)
}

fn compile_archive(
    block: &Block,
    design: &Design,
    verilated: Verilated,
    ports: &Ports,
    verilator: &Verilator,
    out: &Path,
) -> Result<(), Error> {
    let dir = verilated.dir.clone();
    let prefix = &design.prefix;
    let symbol = format!("vl_model_{prefix}");
    let (verilated, driving) = choose(design, verilated, None, ports, verilator)?;
    // A gated clock is what a wrapper of several clocks is made of.
    if let Driving::TwoEvaluations(reason) = &driving
        && design.wrapper.is_none()
    {
        println!("cargo:warning={}: two evaluations per cycle: {reason}", block.name);
    }
    let model = codegen::ModelFile {
        verilated: &verilated,
        ports,
        top: &design.top,
        tracing: Tracing::Off,
        coverage: false,
        assertions: false,
        driving: &driving,
        data: &design.data,
        symbol: &symbol,
    };
    let sources = model.write(&format!("{prefix}_model"))?;
    let shim = dir.join("shim");
    verilated_runtime::write_shim(&shim)?;
    let mut build = verilated_runtime::compiler(verilator, &shim, Of::Model);
    verilated_runtime::define_features(&mut build, Tracing::Off, false);
    build.cargo_metadata(false).include(&verilated.dir);
    let objects = compile::objects(&build, &sources, &dir)?;
    compile::archive(build, &objects, out, prefix)?;
    Ok(())
}

/// A hash of everything a model was built from: the design, the files that Verilator read, the
/// names of all files in the folders because a new file may shadow an old one, the tool and the
/// generator.
fn stamp(
    model: &Verilated,
    block: &Block,
    design: &Design,
    verilator: &Verilator,
) -> Result<String, Error> {
    let mut hash = Hash::default();
    hash.add(verilator.version());
    hash.add(verilator.root().as_os_str().as_encoded_bytes());
    hash.add(format!("{design:?}"));
    for folder in block.folders() {
        hash.add_names(folder)?;
    }
    for file in model.files_read(verilator)? {
        hash.add_file(&file)?;
    }
    for text in verilated_build::generator_text() {
        hash.add(text);
    }
    Ok(hash.hex())
}
