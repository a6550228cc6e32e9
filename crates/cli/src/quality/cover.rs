//! `cosim cover`: coverage databases of many runs.

mod close;
mod vectors;

use crate::terminal::options::{heading, path};
use crate::{counted, print_text};
use clap::{Args, Subcommand, ValueEnum};
use cosim_base::error::{Error, codes};
use cosim_base::files::{Sync, write_whole};
use cosim_base::program;
use cosim_base::text;
use cosim_block::points::Point;
use cosim_formats::answers::{AnswerRecord, ProverCommand};
use cosim_formats::coverage::code::{CodeHits, lcov};
use cosim_formats::coverage::{ContributingCase, Database, rank, ucis};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// What to do with databases.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Merge databases; no case counts twice.
    Merge(Merge),
    /// Report covered and uncovered bins.
    Report(Report),
    /// List the smallest set of cases with the same coverage.
    Rank(Rank),
    /// Close the coverage of a run: find inputs that hit what no case hit, or prove that none do.
    Close(Box<close::Arguments>),
}

#[derive(Debug, Args)]
struct Merge {
    /// Coverage databases or run directories.
    #[arg(value_parser = path, required = true)]
    databases: Vec<PathBuf>,
    /// Write the database to FILE.
    #[arg(long, short, value_name = "FILE", value_parser = path, help_heading = heading::OUTPUT)]
    out: PathBuf,
}

#[derive(Debug, Args)]
struct Report {
    /// Coverage databases or run directories; several are merged.
    #[arg(value_parser = path, required = true)]
    databases: Vec<PathBuf>,
    /// Print as text, JSON, LCOV or UCIS.
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    format: Format,
    /// Do not count the points that the proofs in FILE show to be unreachable; FILE is a result of
    /// `cover close`; may be repeated.
    #[arg(long, value_name = "FILE|DIR", value_parser = path, help_heading = heading::COVERAGE)]
    closed: Vec<PathBuf>,
    /// Write to FILE instead of standard output.
    #[arg(long, short, value_name = "FILE", value_parser = path, help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Rank {
    /// Coverage databases or run directories; several are merged.
    #[arg(value_parser = path, required = true)]
    databases: Vec<PathBuf>,
    #[command(flatten)]
    formatting: crate::terminal::options::Formatting,
    /// Also write the cases as vectors for `cosim replay` to DIR, a new or empty folder.
    #[arg(long, short, value_name = "DIR", value_parser = path, help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Format {
    /// Text for the terminal.
    #[default]
    Text,
    /// JSON for programs.
    Json,
    /// Lines and branches of the RTL as `genhtml` reads them, beside the sources of a run.
    Lcov,
    /// UCIS XML, the exchange format of coverage databases.
    Ucis,
}

impl Arguments {
    /// Whether the command needs blocks, and not the databases alone.
    pub const fn has_blocks(&self) -> bool {
        match &self.command {
            Command::Close(_) => true,
            Command::Rank(Rank { out, .. }) => out.is_some(),
            Command::Merge(_) | Command::Report(_) => false,
        }
    }
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    match &arguments.command {
        Command::Merge(Merge { databases, out }) => drop(merged(databases)?.write(out)?),
        Command::Report(Report { databases, format, closed, out }) => {
            let mut database = merged(databases)?;
            for path in closed {
                let file = text::path(path).to_string();
                for line in AnswerRecord::read_of(ProverCommand::Close, path)?
                    .apply_to(&file, &mut database)
                    .lines()
                {
                    program::print_note(format_args!("{line}"));
                }
            }
            let text = match format {
                Format::Text => report(&database),
                Format::Json => json_text(&report_json(&database))?,
                Format::Lcov => lcov_of(&database)?,
                Format::Ucis => ucis::text(&database)?,
            };
            match out {
                Some(out) => write_whole(out, text.as_bytes(), Sync::OnDisk)?,
                None => print_text(&text)?,
            }
        }
        Command::Close(arguments) => return close::execute(arguments),
        Command::Rank(Rank { databases, formatting, out }) => {
            let database = merged(databases)?;
            let ranked = rank(&database);
            if let Some(out) = out {
                let written = vectors::write(out, &ranked)?;
                program::print_note(format_args!(
                    "wrote {} to {}",
                    counted(written as u64, "vector"),
                    out.display()
                ));
            }
            match formatting.format {
                crate::terminal::options::Format::Text => print_text(&ranking(&database, &ranked))?,
                crate::terminal::options::Format::Json => {
                    print_text(&json_text(&ranking_json(&ranked))?)?
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn merged(paths: &[PathBuf]) -> Result<Database, Error> {
    let mut all: Option<Database> = None;
    for path in paths {
        let database = Database::read(path)?;
        all = Some(match all {
            None => database,
            Some(before) => before.merge(database).map_err(|error| Error::File {
                code: codes::COVERAGE_MISMATCH,
                path: path.clone(),
                message: format!("cannot be merged with the databases named before it: {error}"),
            })?,
        });
    }
    all.ok_or_else(|| {
        Error::Usage(
            codes::NOTHING_SELECTED,
            "no coverage database was named; name \
         one or more databases or run directories"
                .to_owned(),
        )
    })
}

fn json_text(value: &Value) -> Result<String, Error> {
    serde_json::to_string_pretty(value)
        .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))
}

/// A text report: each profile with its groups, uncovered bins and unreachable bins.
fn report(database: &Database) -> String {
    let mut text = String::new();
    for (name, profile) in &database.profiles {
        let covered = database.covered(name);
        let (block, share, hit) = (&database.block, covered.percent(), covered.hit);
        let _ = writeln!(
            text,
            "{block} {name}: {share}, {hit} of {} reachable bins, {}",
            covered.reachable,
            counted(profile.unreachable.len() as u64, "other bin"),
        );
        let mut first = 0;
        for group in &database.groups {
            let bins = first..first + group.bins() as u32;
            first = bins.end;
            let can_be = |bin: &u32| !profile.unreachable.contains_key(bin);
            let reachable = bins.clone().filter(can_be).count();
            let is_hit = |bin: &u32| covered.hits[*bin as usize] > 0;
            let hit = bins.clone().filter(can_be).filter(is_hit).count();
            let _ = writeln!(text, "  {:16} {hit:5} of {reachable:5}  {}", group.name, group.about);
        }
        for bin in database.uncovered(name, &covered) {
            let meaning = database.group_of(bin).map(|(group, bin)| group.bin_meaning(bin));
            let meaning = meaning.unwrap_or_default();
            let _ = writeln!(text, "  not hit: {} ({meaning})", database.bin_name(bin));
        }
        for (bin, reason) in &profile.unreachable {
            let _ = writeln!(text, "  unreachable: {} ({reason})", database.bin_name(*bin));
        }
    }
    for reached in database.reached() {
        let (rtl, profile) = (reached.rtl, reached.profile);
        let _ = writeln!(text, "RTL {rtl} {profile}: {}", reached.shares().text());
        for point in reached.uncovered() {
            let _ = writeln!(text, "  not reached: {}", point.place());
        }
        for (point, hits, reason) in reached.points() {
            let Some(reason) = reason else { continue };
            let label = if hits > 0 { "waived but reached" } else { "waived" };
            let _ = writeln!(text, "  {label}: {} ({reason})", point.place());
        }
    }
    let _ = writeln!(text, "cases that hit bins which no earlier case of their run hit:");
    for find in &database.finds {
        let ContributingCase { name, new, run, .. } = find;
        let _ = writeln!(text, "  {name}, seed {}: {}", run.seed, counted(u64::from(*new), "bin"));
    }
    text
}

fn report_json(database: &Database) -> Value {
    let profiles = database.profiles.iter().map(|(name, profile)| {
        let covered = database.covered(name);
        let bins: Vec<Value> = (0..covered.hits.len() as u32)
            .map(|bin| {
                let (group, of_group) = match database.group_of(bin) {
                    Some((group, at)) => (group.name.clone(), group.bin_name(at)),
                    None => (String::new(), String::new()),
                };
                json!({
                    "group": group,
                    "bin": of_group,
                    "hits": covered.hits[bin as usize],
                    "unreachable": profile.unreachable.get(&bin),
                })
            })
            .collect();
        let (reachable, hit) = (covered.reachable, covered.hit);
        (name.clone(), json!({ "reachable": reachable, "hit": hit, "bins": bins }))
    });
    let finds = database.finds.iter().map(|find| {
        json!({ "case": find.name, "seed": find.run.seed, "cycles": find.cycles, "new": find.new })
    });
    let code = database.reached().into_iter().map(|reached| {
        let uncovered: Vec<String> = reached.uncovered().map(Point::place).collect();
        let waived = reached.points().filter_map(|(point, hits, reason)| {
            Some(json!({ "point": point.place(), "reason": reason?, "cases": hits }))
        });
        json!({
            "rtl": reached.rtl,
            "profile": reached.profile,
            "shares": reached.shares(),
            "uncovered": uncovered,
            "waived": waived.collect::<Vec<_>>(),
        })
    });
    json!({
        "block": database.block,
        "profiles": Value::Object(profiles.collect()),
        "code": code.collect::<Vec<_>>(),
        "finds": finds.collect::<Vec<_>>(),
    })
}

/// The code coverage of a database.
///
/// # Errors
/// [`Error::Usage`] if no run counted it.
fn reached_code(database: &Database) -> Result<Vec<CodeHits<'_>>, Error> {
    let reached = database.reached();
    if reached.is_empty() {
        let block = &database.block;
        let message = format!(
            "the run of block {block} has no line coverage; repeat it with `{} run --block {block} \
             --coverage`",
            program::called()
        );
        return Err(Error::Usage(codes::COVERAGE_MISMATCH, message));
    }
    Ok(reached)
}

/// Lines and branches of all runs, which must have the same RTL.
fn lcov_of(database: &Database) -> Result<String, Error> {
    let reached = reached_code(database)?;
    let first = &reached[0];
    if let Some(other) = reached.iter().find(|other| other.rtl != first.rtl) {
        return Err(Error::Usage(
            codes::COVERAGE_MISMATCH,
            format!(
                "the runs are of different RTL, {} and {}, so their lines cannot be combined; name \
                 databases of one RTL",
                first.rtl, other.rtl
            ),
        ));
    }
    Ok(lcov::text(&reached))
}

/// The ranked cases, each with the command that runs it.
fn ranking(database: &Database, ranked: &[(&ContributingCase, u32)]) -> String {
    let cycles: u64 = ranked.iter().map(|(find, _)| find.cycles).sum();
    let cases = counted(ranked.len() as u64, "case");
    let mut text = format!("{}: {cases}, {}\n", database.block, counted(cycles, "cycle"));
    for (find, adds) in ranked {
        let _ = writeln!(text, "  {:4} {}", adds, command(find));
    }
    text
}

fn ranking_json(ranked: &[(&ContributingCase, u32)]) -> Value {
    let one = |(find, adds): &(&ContributingCase, u32)| {
        json!({
            "case": find.name,
            "seed": find.run.seed,
            "packets": find.run.packets,
            "cycles": find.cycles,
            "adds": adds,
            "command": command(find),
        })
    };
    ranked.iter().map(one).collect()
}

fn command(find: &ContributingCase) -> String {
    let packets = find.run.packets.map(|packets| format!(" --packets {packets}"));
    let packets = packets.unwrap_or_default();
    let name = program::name();
    format!("{name} run --seed {}{packets} --case {}", find.run.seed, find.name)
}
