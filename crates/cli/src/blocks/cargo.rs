//! Starts programs that obey files of the working directory and of each folder above it, as Cargo
//! and rustfmt do: `.cargo/config.toml` names programs, and `rust-toolchain.toml` a toolchain.
//! Anybody may have written such a file. So they start in the root of the file system, with the
//! toolchain that is the user's default. What a trusted crate configures is passed on the command
//! line.

use cosim_base::files::find_program;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder in which tools start. Only root can write it, and it has no folder above it.
pub const ROOT: &str = "/";
/// The variable that fixes the toolchain of all programs of rustup.
const TOOLCHAIN: &str = "RUSTUP_TOOLCHAIN";

/// Variables of Cargo with folders, which count from the working directory of the user.
const FOLDERS: [&str; 3] = ["CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"];
/// Variables of Cargo with programs, in the same way unless they are looked for.
const PROGRAMS: [&str; 3] = ["RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"];

/// A program in the root of the file system. Its arguments must not have relative paths.
pub fn at_root(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(absolute(program.as_ref()));
    command.current_dir(ROOT);
    command
}

/// A program of the Rust toolchain. `toolchain` is used unless the user's environment
/// names one.
pub fn command(program: impl AsRef<OsStr>, toolchain: Option<&OsStr>) -> Command {
    let mut command = at_root(program);
    for name in FOLDERS.into_iter().chain(PROGRAMS) {
        let Some(value) = env::var_os(name).filter(|value| !value.is_empty()) else { continue };
        let is_path = FOLDERS.contains(&name) || Path::new(&value).components().count() > 1;
        if let Some(path) = std::path::absolute(&value).ok().filter(|_| is_path) {
            command.env(name, path);
        }
    }
    if env::var_os(TOOLCHAIN).is_none_or(|named| named.is_empty()) {
        let toolchain = match toolchain {
            None => default_toolchain(),
            named => named,
        };
        command.envs(toolchain.map(|toolchain| (TOOLCHAIN, toolchain)));
    }
    command
}

/// The path of a program: a relative one would be found from another folder.
fn absolute(program: &OsStr) -> PathBuf {
    let found = find_program(program).and_then(|path| std::path::absolute(path).ok());
    found.unwrap_or_else(|| program.into())
}

/// The user's default toolchain, if rustup is installed. Without it, a compiler that Cargo starts
/// in the folder of a crate would look for a toolchain there.
fn default_toolchain() -> Option<&'static OsStr> {
    static KNOWN: OnceLock<Option<OsString>> = OnceLock::new();
    let find = || {
        find_program("rustup")?;
        let mut rustup = at_root("rustup");
        rustup.args(["show", "active-toolchain"]);
        let output = verilated_build::messages(rustup).ok()?;
        let name = String::from_utf8(output.stdout).ok()?.split_whitespace().next()?.to_owned();
        output.status.success().then(|| name.into())
    };
    KNOWN.get_or_init(find).as_deref()
}

/// The folder of the user's own configuration of Cargo, which Cargo always reads.
pub fn home() -> Option<PathBuf> {
    let named = env::var_os("CARGO_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cargo")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_start_in_a_folder_of_root_with_an_absolute_path() {
        for program in ["cargo", "rustfmt"] {
            let command = command(program, Some(OsStr::new("given")));
            assert_eq!(command.get_current_dir(), Some(Path::new(ROOT)));
            assert!(Path::new(command.get_program()).is_absolute(), "{command:?}");
            let toolchain = command.get_envs().find(|(name, _)| *name == TOOLCHAIN);
            // Under Cargo the variable is set already.
            let is_set = env::var_os(TOOLCHAIN).is_some();
            let given = (OsStr::new(TOOLCHAIN), Some(OsStr::new("given")));
            assert_eq!(toolchain, (!is_set).then_some(given));
        }
        assert_eq!(command("no-such-tool", None).get_program(), "no-such-tool");
    }
}
