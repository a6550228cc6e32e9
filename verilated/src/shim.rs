//! The C interface, as bindgen sees it.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs, dead_code)]
#![allow(clippy::all, clippy::undocumented_unsafe_blocks)]

include!(concat!(env!("OUT_DIR"), "/shim.rs"));
