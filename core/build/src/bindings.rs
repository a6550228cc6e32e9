//! The Rust module of a block: bindings of its pins, its port tables, its models, its RTL.

use crate::model::{Model, prefix};
use crate::{Block, Error};
use bindgen::callbacks::{AttributeInfo, DeriveInfo, ParseCallbacks};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use verilated_build::{codegen, load_libclang};

/// Where generated code finds what it uses: the program's crate depends on one crate only.
const CORE: &str = "::cosim_core";
const VERILATED: &str = "::cosim_core::verilated";

/// What says which RTL and which models there are.
const LINKED: &str = include_str!("../templates/linked.rs");

/// Writes the module of a block to `<out>/mod.rs`.
pub fn write(block: &Block, model: &Model, out: &Path) -> Result<(), Error> {
    let mut text = pins(block, model, out)?;
    text.push_str(&linked_rtl(block, model)?);
    let path = out.join("mod.rs");
    fs::write(&path, text).map_err(Error::io(&path))
}

/// The structs of pins, by bindgen from their C header, and their tables.
fn pins(block: &Block, model: &Model, out: &Path) -> Result<String, Error> {
    let header = out.join(format!("{}_pins.h", block.name));
    fs::write(&header, codegen::c_header(&model.ports)?).map_err(Error::io(&header))?;
    load_libclang()?;
    let mut builder = bindgen::builder()
        .header(header.display().to_string())
        .allowlist_type("Inputs|Outputs")
        .blocklist_type("Bits[0-9]+")
        .derive_copy(false)
        .derive_debug(false)
        .parse_callbacks(Box::new(Plain));
    for alias in codegen::rust_aliases(&model.ports, VERILATED) {
        builder = builder.raw_line(alias);
    }
    let bindings = builder.generate()?.to_string();
    Ok(bindings + &codegen::rust_tables(&model.ports, VERILATED)?)
}

/// The constant that names the RTL's files and its models.
fn linked_rtl(block: &Block, model: &Model) -> Result<String, Error> {
    let Block { top, clock, mask, folder, defines, .. } = block;
    let absolute = |path: &Path| std::path::absolute(path).map_err(Error::io(path));
    let folders: Vec<(&PathBuf, PathBuf)> = block
        .folders()
        .map(|folder| Ok((folder, absolute(folder)?)))
        .collect::<Result<_, Error>>()?;
    let mut sources = String::new();
    let mut names = BTreeMap::new();
    for file in &model.files {
        let file = absolute(file)?;
        let inside = folders
            .iter()
            .find_map(|(folder, inside)| Some((*folder, file.strip_prefix(inside).ok()?)));
        let (folder, name) = inside.ok_or_else(|| Error::Outside {
            block: block.name.clone(),
            file: file.clone(),
            folder: folder.clone(),
        })?;
        let path: PathBuf = Path::new("/").join(folder).join(name);
        if let Some(other) = names.insert(name.to_owned(), file.clone()) {
            return Err(Error::SameName { block: block.name.clone(), file: file.clone(), other });
        }
        let _ = writeln!(
            sources,
            "        ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),"
        );
    }
    let mut data = String::new();
    for name in &model.data {
        let path: PathBuf = Path::new("/").join(folder).join(name);
        let _ = writeln!(
            data,
            "        ({name:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),"
        );
    }
    let assertions = match block.assertions() {
        None => "None".to_owned(),
        Some((name, path)) => {
            let path = Path::new("/").join(path);
            format!(
                "Some(({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))))"
            )
        }
    };
    let (mut embedded, mut declared, mut arms) = (String::new(), String::new(), String::new());
    for (index, values) in block.models().iter().enumerate() {
        let list: Vec<(&String, &u64)> = values.iter().collect();
        let function = format!("vl_model_{}", prefix(block, values));
        let _ = writeln!(embedded, "        &{list:?},");
        let _ = writeln!(declared, "    fn {function}() -> *const ::core::ffi::c_void;");
        let _ = writeln!(arms, "        {index} => {function},");
    }
    Ok(LINKED
        .replace("CORE", CORE)
        .replace("VERILATED", VERILATED)
        .replace("TOP", &format!("{top:?}"))
        .replace("CLOCK", &format!("{:?}", clock.to_string()))
        .replace("MASK", &format!("{mask:?}"))
        .replace("SOURCES", &sources)
        .replace("DATA", &data)
        .replace("ROOTS", &format!("{:?}", block.names()))
        .replace("DEFINES", &format!("{defines:?}"))
        .replace("ASSERTIONS", &assertions)
        .replace("EMBEDDED", &embedded)
        .replace("DECLARED", &declared)
        .replace("ARMS", &arms))
}

/// Makes the structs of pins plain bytes, so that they are compared and copied as such. They are not made
/// of bytes: a port has no value beyond its width.
#[derive(Debug)]
struct Plain;

impl ParseCallbacks for Plain {
    fn add_derives(&self, _: &DeriveInfo<'_>) -> Vec<String> {
        let plain = ["Clone", "Copy", "Debug", "Default", "PartialEq", "Eq"].map(str::to_owned);
        let bytes = ["IntoBytes", "Immutable", "KnownLayout"];
        let bytes = bytes.map(|name| format!("{VERILATED}::zerocopy::{name}"));
        plain.into_iter().chain(bytes).collect()
    }

    fn add_attributes(&self, _: &AttributeInfo<'_>) -> Vec<String> {
        vec![format!("#[zerocopy(crate = \"{VERILATED}::zerocopy\")]")]
    }
}
