//! The second solver: CaDiCaL, a program that reads DIMACS.

use super::cnf::Cnf;
use crate::limits::{guard, starved};
use cosim_base::error::Error;
use cosim_base::files::find_program;
use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use verilated_build::answer_within;

/// The environment variable that names the program.
pub const VARIABLE: &str = "CADICAL";
/// The program, unless the environment names another one.
pub const PROGRAM: &str = "cadical";
/// Why nothing is certified without it.
pub const MISSING: &str =
    "CaDiCaL is missing; install it with `apt-get install cadical`, or set CADICAL to it";
/// Processor seconds for one query.
const SECONDS: u64 = 60;
/// Exit codes that solvers agree on.
const SATISFIABLE: i32 = 10;
const UNSATISFIABLE: i32 = 20;

#[derive(Debug, Clone)]
pub(crate) struct Solver {
    program: PathBuf,
}

/// An assignment: the variables that are 1.
#[derive(Default)]
pub(crate) struct Model(HashSet<i32>);

impl Model {
    pub(crate) fn is_true(&self, literal: i32) -> bool {
        self.0.contains(&literal.abs()) == (literal > 0)
    }
}

pub(crate) enum Solved {
    Unsatisfiable,
    Satisfiable(Model),
    /// The solver gave no answer, with the reason.
    Unknown(String),
}

impl Solver {
    /// The program, if it is installed.
    pub(crate) fn find() -> Option<Self> {
        let named = env::var_os(VARIABLE).filter(|name| !name.is_empty());
        find_program(named.unwrap_or_else(|| PROGRAM.into())).map(|program| Self { program })
    }

    /// Decides a formula, which is written to `path`.
    pub(crate) fn solve(&self, path: &Path, cnf: &Cnf) -> Result<Solved, Error> {
        self.solve_within(path, cnf, SECONDS)
    }

    /// As [`Solver::solve`], within so many processor seconds.
    pub(crate) fn solve_within(
        &self,
        path: &Path,
        cnf: &Cnf,
        seconds: u64,
    ) -> Result<Solved, Error> {
        fs::write(path, cnf.dimacs()).map_err(Error::write(path))?;
        let mut command = Command::new(&self.program);
        command.arg("-q").arg(path);
        let output = match answer_within(seconds, Some(guard(seconds)), command) {
            Ok(output) => output,
            Err(verilated_build::Error::Late { .. }) => return Err(starved("CaDiCaL", seconds)),
            Err(verilated_build::Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => return Ok(Solved::Unknown(format!("CaDiCaL cannot be run: {error}"))),
        };
        let stdout = String::from_utf8_lossy(&output.stdout);
        let has_line = |answer: &str| stdout.lines().any(|line| line.trim() == answer);
        Ok(match output.status.code() {
            Some(UNSATISFIABLE) if has_line("s UNSATISFIABLE") => Solved::Unsatisfiable,
            Some(SATISFIABLE) if has_line("s SATISFIABLE") => Solved::Satisfiable(model(&stdout)),
            _ => Solved::Unknown(format!(
                "CaDiCaL gave no answer within {seconds} s of processor time ({})",
                output.status
            )),
        })
    }
}

/// The assignment in the lines of values.
fn model(stdout: &str) -> Model {
    let values = stdout.lines().filter_map(|line| line.strip_prefix("v "));
    let literals = values.flat_map(str::split_whitespace).filter_map(|word| word.parse().ok());
    Model(literals.filter(|literal: &i32| *literal > 0).collect())
}

/// The version of the program; `None` if it is not installed.
pub fn version() -> Option<String> {
    let mut command = Command::new(Solver::find()?.program);
    command.arg("--version");
    let output = answer_within(10, Some(guard(10)), command).ok()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    Some(format!("CaDiCaL {}", stdout.lines().next().unwrap_or_default().trim()))
}
