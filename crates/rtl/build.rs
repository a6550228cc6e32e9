//! Names the target, for which models are compiled at run time.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=COSIM_TARGET={}", env::var("TARGET").unwrap_or_default());
}
