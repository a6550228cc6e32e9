//! The command-line program.

fn main() -> std::process::ExitCode {
    cosim_core::main(cosim_core::program!(arbiter::Arbiter))
}
