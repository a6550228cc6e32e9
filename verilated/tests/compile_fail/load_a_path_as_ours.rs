// Only the build knows which libraries are its own.
fn main() {
    let library = verilated_build::BuiltLibrary { path: "any.so".into() };
    let _ = verilated::Library::load(&library);
}
