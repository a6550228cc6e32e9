//! Counts instructions per cycle with valgrind. The result does not depend on the load of the
//! machine.

use crate::blocks::cargo::at_root;
use cosim_base::error::{Error, codes};
use cosim_block::engine::InstructionScope;
use cosim_block::program::ENTRY;
use cosim_regress::blocks::{self, BlockHandle};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::absolute;

/// Additional rounds of a part. The count of all parts with one round each is subtracted, which
/// cancels the cost of the rest of the process.
const ROUNDS: u32 = 2;
const INSTALL: &str = "install it with `apt-get install valgrind`";

/// Instructions per cycle of a block.
#[derive(Debug, Serialize)]
pub struct Instructions {
    block: &'static str,
    profile: String,
    per_cycle: BTreeMap<&'static str, f64>,
}

/// Whether valgrind is installed.
pub fn can_count() -> bool {
    at_root("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Counts the instructions of a profile's linked model and of the harness.
///
/// # Errors
/// [`Error::Environment`] if valgrind cannot run this program.
pub fn count(block: &BlockHandle, profile: &str) -> Result<Instructions, Error> {
    let once = [1; InstructionScope::ALL.len()];
    let (all, cycles) = run(block, profile, once)?;
    let mut per_cycle = BTreeMap::new();
    for (index, part) in InstructionScope::ALL.into_iter().enumerate() {
        let mut rounds = once;
        rounds[index] += ROUNDS;
        let (more, _) = run(block, profile, rounds)?;
        let of_part = more.saturating_sub(all) as f64 / (u64::from(ROUNDS) * cycles) as f64;
        per_cycle.insert(part.name(), of_part.round());
    }
    Ok(Instructions { block: block.info().name, profile: profile.to_owned(), per_cycle })
}

/// The instructions of the program with the blocks for these numbers of rounds, and the cycles of a
/// round.
fn run(
    block: &BlockHandle,
    profile: &str,
    rounds: [u32; InstructionScope::ALL.len()],
) -> Result<(u64, u64), Error> {
    let failed = |why: &str| {
        let message = format!("valgrind cannot count instructions: {why}; {INSTALL}");
        Error::Environment(codes::PROGRAM_FAILED, message)
    };
    let rounds = rounds.map(|rounds| rounds.to_string()).join(",");
    let program = blocks::program().ok_or_else(blocks::missing)?;
    let path = absolute(&program.path).map_err(|error| failed(&error.to_string()))?;
    // Elsewhere valgrind would obey a `.valgrindrc`.
    let output = at_root("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(path)
        .args([ENTRY, "rounds", block.info().name, profile, &rounds])
        .output()
        .map_err(|error| failed(&error.to_string()))?;
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    let counted = stderr.lines().find_map(|line| line.split_once("refs:")).map(|(_, number)| {
        number.chars().filter(char::is_ascii_digit).collect::<String>().parse::<u64>()
    });
    match (output.status.success(), counted, stdout.trim().parse::<u64>()) {
        (true, Some(Ok(counted)), Ok(cycles)) if cycles > 0 => Ok((counted, cycles)),
        _ => Err(failed(stderr.lines().last().unwrap_or("it printed nothing"))),
    }
}

impl Instructions {
    pub fn line(&self) -> String {
        let parts: Vec<String> =
            self.per_cycle.iter().map(|(part, number)| format!("{part} {number}")).collect();
        format!("  {}: instructions per cycle: {}\n", self.profile, parts.join(", "))
    }

    /// Table rows of block, profile, part and count, separated by tabs.
    pub fn rows(&self) -> String {
        let Self { block, profile, per_cycle } = self;
        let row = |(part, number)| format!("{block}\t{profile}\t{part}\t{number}\n");
        per_cycle.iter().map(row).collect()
    }
}
