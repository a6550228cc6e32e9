//! The bindings of the shim, which are checked in so that a build needs no libclang, are those of
//! its header.

use snapbox::assert_data_eq;
use snapbox::data::{Data, DataFormat};
use std::path::Path;
use verilated_build::load_libclang;

/// `SNAPSHOTS=overwrite` writes them.
#[test]
fn the_bindings_are_those_of_the_header() {
    let folder = tempfile::tempdir().unwrap();
    let header = verilated_runtime::write_shim(folder.path()).unwrap();
    load_libclang().unwrap();
    let bindings = bindgen::builder()
        .header(header.display().to_string())
        .allowlist_type("vl_(context|model|port|point|runtime_api|model_api)")
        .allowlist_var("VL_SHIM_ABI|VL_TEXT_WORDS")
        .allowlist_function("vl_runtime")
        .derive_default(false)
        // Of this platform only.
        .layout_tests(false)
        .disable_header_comment()
        .formatter(bindgen::Formatter::Prettyplease)
        .raw_line(
            "//! Bindings of `verilated_shim.h`, which a test compares with those of bindgen.",
        )
        .generate()
        .unwrap();
    let checked_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/shim.rs");
    assert_data_eq!(
        bindings.to_string(),
        Data::read_from(&checked_in, Some(DataFormat::Text)).raw()
    );
}
