// A library runs code when it is loaded, and its table is believed.
fn main() {
    let _ = verilated::Library::load_from(std::path::Path::new("any.so"));
}
