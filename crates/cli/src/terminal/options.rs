//! Options that several commands share. Each has one definition and one help text.

use crate::running::summary::Detail;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_base::text;
use cosim_block::rtl::{Rtl, Simulator, command_line};
use cosim_block::vector::Origin;
use cosim_block::worker::sandbox::Sandbox;
use cosim_formal::certificate::{self, solver};
use cosim_formats::started::RunRtl;
use cosim_harness::harness::{self, BlockInfo, Overrides, Profile, ProfileError};
use cosim_regress::blocks::{self, BlockHandle};
use cosim_regress::loaded::LoadedVector;
use cosim_regress::worker::{Limits, WorkerProgram};
use cosim_rtl::answers::Answers;
use cosim_rtl::backend::RtlModels as _;
use cosim_rtl::{models, yosys};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

pub mod heading {
    /// Cases, blocks and profiles.
    pub const WHAT: &str = "What to run";
    pub const RTL: &str = "User RTL";
    /// Limits and goals.
    pub const STOP: &str = "When to stop";
    /// What is counted, and what it must reach.
    pub const COVERAGE: &str = "Coverage";
    /// Files and printing.
    pub const OUTPUT: &str = "Output";
    pub const REPRODUCE: &str = "Reproduce";
    pub const CHECK: &str = "When to fail";
    /// Threads, memory, caches and the sandbox.
    pub const RESOURCES: &str = "Resources";
}

/// The fixes and parameters of the RTL.
#[derive(Debug, Clone, Default, Args)]
pub struct Choice {
    /// Enable fixes of errata: a profile, a mask like 0x5a, or several of them with commas between
    /// them. `random:N` draws N legal parameter sets from the seed (run, plans) [default: all, or
    /// the profiles of the vector].
    #[arg(long, value_name = "PROFILE|MASK|all|random:N", help_heading = heading::WHAT)]
    pub fixes: Option<String>,
    /// Override an RTL parameter in every profile; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", help_heading = heading::WHAT, hide_short_help = true)]
    parameter: Vec<String>,
}

impl Choice {
    /// The overrides of parameters.
    ///
    /// # Errors
    /// [`Error::Usage`] if one is not NAME=VALUE.
    pub fn overrides(&self) -> Result<Overrides, Error> {
        harness::overrides(self.parameter.iter().map(String::as_str))
            .map_err(|error| Error::Usage(codes::BAD_PARAMETER, format!("--parameter: {error}")))
    }
}

/// The block and the profiles that vectors run under.
#[derive(Debug, Clone, Default, Args)]
pub struct VectorTarget {
    /// Fail if a vector is of another block.
    #[arg(long, value_name = "NAME", help_heading = heading::WHAT)]
    pub block: Option<String>,
    #[command(flatten)]
    pub choice: Choice,
}

/// Waves of one case or vector.
#[derive(Debug, Clone, Args)]
pub struct TraceOptions {
    /// Write waves of RTL and golden model to FILE: 50 cycles before the end and 10 after a
    /// mismatch.
    #[arg(long, value_name = "FILE.fst|FILE.vcd", value_parser = path, help_heading = heading::OUTPUT)]
    pub trace: Option<PathBuf>,
    /// Trace every cycle.
    #[arg(long, requires = "trace", help_heading = heading::OUTPUT, hide_short_help = true)]
    pub trace_all: bool,
}

/// The form of printed results.
#[derive(Debug, Clone, Copy, Args)]
pub struct Formatting {
    /// Print as text or JSON.
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// Whether less is printed.
#[derive(Debug, Clone, Copy, Args)]
pub struct Quietness {
    /// Print the failures and the result only, without progress.
    #[arg(long, help_heading = heading::OUTPUT)]
    pub quiet: bool,
}

/// How much a run prints, and in which form.
#[derive(Debug, Clone, Args)]
pub struct OutputOptions {
    #[command(flatten)]
    formatting: Formatting,
    #[command(flatten)]
    quietness: Quietness,
    /// Print tables of all scenarios, rules and uncovered bins.
    #[arg(long, alias = "verbose", conflicts_with = "quiet", help_heading = heading::OUTPUT)]
    pub details: bool,
}

impl OutputOptions {
    pub fn format(&self) -> Format {
        self.formatting.format
    }

    /// The option --quiet, for a command that this one continues.
    pub fn quietness(&self) -> Quietness {
        self.quietness
    }

    /// Whether the user requests only the result and the failures.
    pub fn is_quiet(&self) -> bool {
        self.quietness.quiet
    }

    pub fn detail(&self) -> Detail {
        match (self.is_quiet(), self.details) {
            (true, _) => Detail::Result,
            (false, true) => Detail::Tables,
            (false, false) => Detail::Covered,
        }
    }
}

const ALL: &str = "all";

/// The blocks, profiles and RTL of a command.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// Select blocks, with commas between them, or `all`; may be repeated [default: the only block
    /// of the program].
    #[arg(long, value_name = "NAME|all", value_delimiter = ',', help_heading = heading::WHAT)]
    block: Vec<String>,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    rtl: UserRtlOptions,
}

fn simulator() -> impl TypedValueParser<Value = Simulator> {
    PossibleValuesParser::new(Simulator::ALL.map(Simulator::name)).map(|name| {
        let named = |simulator: &Simulator| simulator.name() == name;
        Simulator::ALL.into_iter().find(named).unwrap_or_default()
    })
}

/// The options for user RTL, as Verilator has them.
#[derive(Debug, Clone, Default, Args)]
pub struct UserRtlOptions {
    /// Replace the built-in RTL by a Verilog file or all files below a folder; may be repeated.
    /// `built-in` selects the built-in RTL [default: built-in].
    #[arg(long, value_name = "DIR|FILE", allow_hyphen_values = true, value_parser = path, help_heading = heading::RTL)]
    rtl: Vec<PathBuf>,
    #[command(flatten)]
    pub verilog: Verilog,
    /// Simulate with Verilator, or with Icarus in four values, where an X at a compared output is a
    /// failure [default: verilator, or as recorded].
    #[arg(long, value_name = "verilator|icarus", hide_possible_values = true, value_parser = simulator(), help_heading = heading::RTL)]
    simulator: Option<Simulator>,
    /// Check the assertions of NAME_sva.sv and of the RTL in simulation; one that fails is a
    /// failure of the case [default: as recorded].
    #[arg(long, help_heading = heading::RTL, hide_short_help = true)]
    assertions: bool,
}

/// How to read Verilog files.
#[derive(Debug, Clone, Default, Args)]
pub struct Verilog {
    /// Search DIR first for included files and modules; may be repeated.
    #[arg(short = 'I', value_name = "DIR", allow_hyphen_values = true, value_parser = path, help_heading = heading::RTL)]
    pub include: Vec<PathBuf>,
    /// Define a Verilog macro; may be repeated.
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = heading::RTL)]
    pub define: Vec<String>,
    /// Read a Verilog file list; may be repeated.
    #[arg(short = 'f', value_name = "FILE", allow_hyphen_values = true, value_parser = path, help_heading = heading::RTL)]
    pub list: Vec<PathBuf>,
}

/// Parses a path. It must be UTF-8, so that a vector can record it.
pub fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("is empty".to_owned()) } else { Ok(PathBuf::from(text)) }
}

impl UserRtlOptions {
    /// The RTL that the user named, if any.
    ///
    /// # Errors
    /// [`Error::Usage`] if `built-in` is not alone.
    pub fn named(&self) -> Result<Option<Rtl>, Error> {
        let rtl = Rtl {
            paths: self.rtl.clone(),
            include: self.verilog.include.clone(),
            defines: self.verilog.define.clone(),
            lists: self.verilog.list.clone(),
            simulator: self.simulator.unwrap_or_default(),
            assertions: self.assertions,
        };
        let is_word = |path: &PathBuf| path == Path::new(Rtl::BUILT_IN);
        if !rtl.paths.iter().any(is_word) {
            return Ok((!rtl.is_built_in()).then_some(rtl));
        }
        if rtl.paths.len() > 1 || !rtl.lists.is_empty() {
            let message = "--rtl built-in takes no other RTL options; for a file of this name \
                 write ./built-in";
            return Err(Error::Usage(codes::OPTIONS_CONFLICT, message.to_owned()));
        }
        Ok(Some(Rtl { paths: Vec::new(), ..rtl }))
    }
}

/// The RTL of a vector or of a run: built-in or named by the user. The file chooses it only if the
/// user asks for that.
#[derive(Debug, Clone, Default, Args)]
pub struct VectorRtl {
    #[command(flatten)]
    given: UserRtlOptions,
    /// Compile and execute the RTL that the vector or run directory names. Use it only for files
    /// that you trust.
    #[arg(long, conflicts_with_all = RTL_OPTIONS, help_heading = heading::RTL)]
    recorded_rtl: bool,
}

const RTL_OPTIONS: [&str; 4] = ["rtl", "include", "define", "list"];

impl VectorRtl {
    pub fn is_recorded(&self) -> bool {
        self.recorded_rtl
    }

    pub fn is_named(&self) -> bool {
        !self.given.rtl.is_empty() || !self.given.verilog.list.is_empty()
    }

    /// The sources of `rtl`, with the simulator and assertions of the record unless the user
    /// chooses them, since a failure may show with them only.
    pub fn chosen(&self, recorded: &Rtl, rtl: Rtl) -> Rtl {
        Rtl {
            simulator: self.given.simulator.unwrap_or(recorded.simulator),
            assertions: self.given.assertions || recorded.assertions,
            ..rtl
        }
    }
}

impl From<Rtl> for VectorRtl {
    /// Treats this RTL as named by the user.
    fn from(rtl: Rtl) -> Self {
        let Rtl { paths, include, defines, lists, simulator, assertions } = rtl;
        let given = UserRtlOptions {
            rtl: paths,
            verilog: Verilog { include, define: defines, list: lists },
            simulator: Some(simulator),
            assertions,
        };
        Self { given, recorded_rtl: false }
    }
}

impl VectorRtl {
    /// The RTL for what the file `path` recorded on the RTL `recorded`: the RTL that the user
    /// named, or with --recorded-rtl the recorded one. Compiling RTL runs code of its author, and a
    /// file may come from anyone, so a file alone never selects user RTL, except for exactly the
    /// text that this user ran in this folder with these options. Nor does the built-in RTL take
    /// its place unless the user names it: the result would look like a verdict on the recorded
    /// RTL.
    ///
    /// # Errors
    /// [`Error::File`] if the user has to decide, or if the recorded RTL no longer exists.
    pub fn for_recorded(
        &self,
        path: &Path,
        info: &'static BlockInfo,
        recorded: RunRtl<'_>,
    ) -> Result<Rtl, Error> {
        let given = recorded.given;
        // Folders and macros alone name no RTL: with them, the built-in RTL would run.
        let is_named = self.is_named() || given.is_built_in();
        if let Some(named) = self.given.named()?.filter(|_| is_named) {
            return Ok(self.chosen(given, named));
        }
        let rtl = self.chosen(given, given.clone());
        if given.is_built_in() {
            return Ok(rtl);
        }
        // Options without sources mean other RTL, and the recorded one does not obey them.
        let Verilog { include, define, .. } = &self.given.verilog;
        let has_options = !include.is_empty() || !define.is_empty();
        let own = recorded.recorded_hash().filter(|_| !has_options);
        if self.recorded_rtl || own.is_some() {
            check_recorded(&rtl, path)?;
        }
        let why = match own {
            _ if self.recorded_rtl => None,
            None => Some("and no RTL is named"),
            // The texts that are hashed are compiled later.
            Some(own) => {
                let now = rtl.examined(info)?.whole_hash();
                (own != now).then_some("which has changed since")
            }
        };
        let words = given.command_line();
        let words = text::line(&words);
        let Some(why) = why else {
            let path = text::path(path);
            program::print_note(format_args!("{path} runs on its recorded RTL: {words}"));
            return Ok(rtl);
        };
        let command = |words: &[&str]| text::line(&command_with(words)).into_owned();
        Err(Error::File {
            code: codes::RECORDED_RTL_MISSING,
            path: path.to_owned(),
            message: format!(
                "was recorded on user RTL ({words}), {why}. To use that RTL, type `{}`; to use the \
                 built-in RTL, type `{}`; other RTL is named by --rtl PATH",
                command(&["--recorded-rtl"]),
                command(&["--rtl", Rtl::BUILT_IN]),
            ),
        })
    }

    /// The RTL for a vector, as [`VectorRtl::for_recorded`]. Warns if the recorded RTL has changed.
    pub fn of_vector(&self, path: &Path, vector: &LoadedVector) -> Result<Rtl, Error> {
        let Origin { given, rtl: recorded, .. } = vector.origin();
        let (info, identity) = (vector.block().info(), recorded.as_deref().unwrap_or_default());
        let rtl = self.for_recorded(path, info, RunRtl { block: info.name, given, identity })?;
        if self.recorded_rtl
            && let Some(recorded) = recorded
            && !given.is_built_in()
        {
            let now = vector.examine(&rtl)?.identity.clone();
            if *recorded != now {
                program::warn(format_args!(
                    "{}: the recorded RTL has changed since: RTL {recorded} then, {now} now",
                    text::path(path)
                ));
            }
        }
        Ok(rtl)
    }
}

/// The command line of this process with further options, quoted for a shell.
pub fn command_with(options: &[&str]) -> String {
    let mut words = program::command();
    let place = words.len().min(2);
    words.splice(place..place, options.iter().map(|word| (*word).to_owned()));
    command_line(&words)
}

/// Checks that the RTL that the file `path` names still exists.
///
/// # Errors
/// [`Error::File`] if it does not.
fn check_recorded(rtl: &Rtl, path: &Path) -> Result<(), Error> {
    rtl.check_there().map_err(|error| Error::File {
        code: codes::RECORDED_RTL_MISSING,
        path: path.to_owned(),
        message: format!(
            "was recorded on {}, and that RTL is not here ({error}); name the RTL with --rtl PATH \
             or --rtl built-in",
            text::line(&rtl.command_line())
        ),
    })
}

impl Target {
    /// These blocks and profiles, with the built-in RTL.
    pub fn built_in(block: &[String], choice: &Choice) -> Self {
        let (block, choice) = (block.to_vec(), choice.clone());
        Self { block, choice, rtl: UserRtlOptions::default() }
    }

    /// The selected blocks without duplicates, in the given order. Among several, one must be
    /// selected: a result of another one than the user means would look like an answer.
    ///
    /// # Errors
    /// [`Error::Usage`] if no block has a given name, or if none is named and there are several.
    pub fn blocks(&self) -> Result<Vec<&'static BlockHandle>, Error> {
        let named = blocks_of(&self.block)?;
        match (named.is_empty(), blocks::all_blocks()) {
            (false, _) => Ok(named),
            (true, [only]) => Ok(vec![*only]),
            (true, all) => Err(unnamed(all)),
        }
    }

    /// The selection as given, for the name of a run directory.
    pub fn name(&self, blocks: &[&BlockHandle]) -> String {
        if blocks.len() > 1 && blocks.len() == blocks::all_blocks().len() {
            return ALL.to_owned();
        }
        blocks.iter().map(|block| block.info().name).collect::<Vec<_>>().join("+")
    }

    /// The block and the profile of a case's name.
    ///
    /// # Errors
    /// [`Error::Usage`] if they do not exist, or if options contradict them.
    pub fn of_case(
        &self,
        block: &str,
        profile: &str,
    ) -> Result<(&'static BlockHandle, Vec<Profile>), Error> {
        let clash = |option: &str, given: &Option<String>, named: &str| match given {
            Some(given) if given != named => {
                let message =
                    format!("--case names {named}, and {option} names {given}; leave {option} out");
                Err(Error::Usage(codes::BAD_CASE_NAME, message))
            }
            _ => Ok(()),
        };
        clash("--fixes", &self.choice.fixes, profile)?;
        if !self.block.is_empty() && !self.blocks()?.iter().any(|other| other.info().name == block)
        {
            clash("--block", &Some(self.block.join(",")), block)?;
        }
        if !self.choice.parameter.is_empty() {
            let message = "--case names the parameters; leave --parameter out";
            return Err(Error::Usage(codes::BAD_CASE_NAME, message.to_owned()));
        }
        let block = find_block(block)?;
        let profiles = Profile::parse(profile, block.info().profiles)
            .map_err(|error| unknown_profile("--case", &error))?;
        Ok((block, profiles))
    }

    /// The selected profiles of a block.
    ///
    /// # Errors
    /// [`Error::Usage`] if the block lacks a named profile or parameter.
    pub fn profiles(&self, block: &BlockHandle) -> Result<Vec<Profile>, Error> {
        let all = block.info().profiles;
        let chosen = Profile::parse(self.choice.fixes.as_deref().unwrap_or("all"), all)
            .map_err(|error| unknown_profile("--fixes", &error))?;
        Profile::with_overrides(&chosen, &self.choice.overrides()?, all)
            .map_err(|error| Error::Usage(codes::BAD_PARAMETER, format!("--parameter: {error}")))
    }

    /// The profiles of a run. The seed draws random ones.
    pub fn drawn_profiles(&self, block: &BlockHandle, seed: u64) -> Result<Vec<Profile>, Error> {
        let (text, all) = (self.choice.fixes.as_deref().unwrap_or("all"), block.info().profiles);
        let chosen = Profile::choose(text, all, block.info().name, seed)
            .map_err(|error| unknown_profile("--fixes", &error))?;
        Profile::with_overrides(&chosen, &self.choice.overrides()?, all)
            .map_err(|error| Error::Usage(codes::BAD_PARAMETER, format!("--parameter: {error}")))
    }

    pub fn rtl(&self) -> Result<Rtl, Error> {
        let usual = Rtl {
            simulator: self.rtl.simulator.unwrap_or_default(),
            assertions: self.rtl.assertions,
            ..Rtl::default()
        };
        Ok(self.rtl.named()?.unwrap_or(usual))
    }
}

/// Adds the name of the block to an error if several blocks are selected.
pub fn of_block(
    block: &BlockHandle,
    blocks: &[&'static BlockHandle],
) -> impl Fn(Error) -> Error + use<> {
    let name = (blocks.len() > 1).then(|| block.info().name);
    move |error| match (name, error) {
        (Some(name), Error::Usage(code, message)) => {
            Error::Usage(code, format!("block {name}: {message}"))
        }
        (_, error) => error,
    }
}

/// The blocks with these names without duplicates, in the given order.
///
/// # Errors
/// [`Error::Usage`] if no block has a given name.
pub fn blocks_of(names: &[String]) -> Result<Vec<&'static BlockHandle>, Error> {
    let mut blocks: Vec<&'static BlockHandle> = Vec::new();
    for name in names {
        match name.as_str() {
            ALL => blocks.extend(blocks::all_blocks()),
            name => blocks.push(blocks::find(name).ok_or_else(|| unknown_block(name, &[ALL]))?),
        }
    }
    let mut known = BTreeSet::new();
    blocks.retain(|block| known.insert(block.info().name));
    Ok(blocks)
}

/// The single profile of a vector, for commands that support only one.
///
/// # Errors
/// [`Error::Usage`] if there are several.
pub fn only(profiles: &[Profile]) -> Result<&Profile, Error> {
    match profiles {
        [profile] => Ok(profile),
        several => {
            let names: Vec<&str> = several.iter().map(|profile| &*profile.name).collect();
            Err(Error::Usage(
                codes::CHOOSE_ONE,
                format!(
                    "the vector names several profiles: choose one with --fixes, as in --fixes {}",
                    names.join(", --fixes ")
                ),
            ))
        }
    }
}

fn unknown_profile(option: &str, error: &ProfileError) -> Error {
    let hint = match error {
        ProfileError::Unknown { text, expected } => text::suggestion(text, expected.split(", ")),
        _ => String::new(),
    };
    Error::Usage(codes::UNKNOWN_PROFILE, format!("{option}: {error}{hint}"))
}

pub fn find_block(name: &str) -> Result<&'static BlockHandle, Error> {
    blocks::find(name).ok_or_else(|| unknown_block(name, &[]))
}

/// The error for a name that is neither a block nor one of the `other` words.
fn unknown_block(name: &str, other: &[&str]) -> Error {
    let blocks = blocks::all_blocks().iter().map(|block| block.info().name);
    let known: Vec<&str> = blocks.chain(other.iter().copied()).collect();
    let hint = text::suggestion(name, known.iter().copied());
    let message = format!("unknown block `{name}`; expected {}{hint}", known.join(", "));
    Error::Usage(codes::UNKNOWN_BLOCK, message)
}

/// The error for a command that names none of several blocks.
fn unnamed(all: &[&BlockHandle]) -> Error {
    let options: Vec<String> =
        all.iter().map(|block| format!("--block {}", block.info().name)).collect();
    let message = format!(
        "no block is named, and there are several: add {}, or --block {ALL}; in the folder of a crate \
         with one block, that is the default",
        options.join(", ")
    );
    Error::Usage(codes::NOTHING_SELECTED, message)
}

/// Limits of models.
#[derive(Debug, Clone, Copy, Args)]
pub struct ModelLimits {
    /// Count a simulation without progress as hung after DURATION.
    #[arg(long, value_name = "DURATION", default_value = "10s",
          value_parser = duration, help_heading = heading::STOP, hide_short_help = true)]
    stuck_after: Duration,
    /// Limit the address space of each process with models to SIZE, such as 512M or 8G, or `none`.
    #[arg(long, value_name = "SIZE", default_value = "4G", help_heading = heading::RESOURCES, hide_short_help = true)]
    memory_limit: MemoryLimit,
    #[command(flatten)]
    sandboxing: Sandboxing,
}

/// Whether models run in a sandbox.
#[derive(Debug, Clone, Copy, Args)]
pub struct Sandboxing {
    /// Run models without the sandbox, so that the RTL can write files, start programs and use the
    /// network.
    #[arg(long, help_heading = heading::RESOURCES, hide_short_help = true)]
    no_sandbox: bool,
}

impl ModelLimits {
    pub fn with_sandbox(self, sandboxing: Sandboxing) -> Self {
        Self { sandboxing, ..self }
    }

    /// The executable of workers with these limits.
    ///
    /// # Errors
    /// [`Error::Environment`] if this program cannot be started again.
    pub fn program(&self) -> Result<WorkerProgram, Error> {
        let memory = self.memory_limit.0;
        let sandbox = if self.sandboxing.no_sandbox { Sandbox::Off } else { Sandbox::On };
        let program = blocks::program().ok_or_else(blocks::missing)?;
        Ok(WorkerProgram::from_path(
            program.start(),
            Limits { stuck_after: self.stuck_after, memory, sandbox },
        ))
    }
}

/// A parser of whole numbers in a range. Its error names the range, whatever the text is.
pub fn whole_number<N: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.and_then(|number| N::try_from(number).ok()).ok_or_else(|| {
            format!("expected a whole number from {} to {}", range.start(), range.end())
        })
    }
}

/// The longest duration of an option: a year. Sums of times then fit every clock.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

pub fn duration(text: &str) -> Result<Duration, String> {
    let bound = "expected a duration up to 365days, as in 90s or 10m";
    match humantime::parse_duration(text) {
        Ok(duration) if duration <= LONGEST => Ok(duration),
        Ok(_) => Err(bound.to_owned()),
        Err(error) => Err(format!("{error}; {bound}")),
    }
}

pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim_end().parse();
    within_percent(number.map_err(|_| "expected percent, a number from 0 to 100".to_owned())?)
}

pub fn within_percent(percent: f64) -> Result<f64, String> {
    match (0.0..=100.0).contains(&percent) {
        true => Ok(percent),
        false => Err(format!("{percent:?} is not a percentage: expected a number from 0 to 100")),
    }
}

/// The number of threads.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Threads {
    /// Use N threads [default: all cores].
    #[arg(long, alias = "jobs", short_alias = 'j', value_name = "N", allow_negative_numbers = true,
          value_parser = whole_number::<u16>(1..=1024), help_heading = heading::RESOURCES)]
    threads: Option<u16>,
}

impl Threads {
    /// The number of threads; all cores by default.
    pub fn count(self) -> usize {
        match self.threads {
            Some(threads) => usize::from(threads),
            None => thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// This number, or that of `others` if the user gave none.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self { threads: self.threads.or(others.threads) }
    }
}

/// Whether cached results of earlier commands are used.
#[derive(Debug, Clone, Copy, Args)]
pub struct Caching {
    /// Compute everything again instead of using cached results of earlier commands.
    #[arg(long, help_heading = heading::RESOURCES, hide_short_help = true)]
    no_cache: bool,
}

impl Caching {
    pub fn is_off(self) -> bool {
        self.no_cache
    }

    /// The cache of answers of Yosys and ABC.
    pub fn answers(self) -> Result<Answers, Error> {
        let store = if self.no_cache { None } else { models::answer_store()? };
        let Some(store) = store else { return Ok(Answers::none()) };
        let programs = yosys::identity()?;
        Ok(programs.map_or_else(Answers::none, |programs| Answers::new(store, programs)))
    }
}

/// Whether results count that no second solver certified.
#[derive(Debug, Clone, Copy, Args)]
pub struct Certainty {
    /// Exit with 0 although a result is only believed: an engine proved it, but CaDiCaL did not
    /// certify the proof.
    #[arg(long, help_heading = heading::CHECK)]
    pub accept_believed: bool,
}

impl Certainty {
    /// Warns if the second solver is missing, without which results are only believed.
    pub fn warn_without(solver: Option<&str>) {
        if solver.is_none() {
            let (word, missing) = (certificate::BELIEVED, solver::MISSING);
            program::warn(format_args!("proofs are only {word}: {missing}"));
        }
    }
}

/// A limit in bytes, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MemoryLimit(Option<u64>);

/// The smallest limit in bytes, roughly what the program and a model need.
const LEAST_MEMORY: u64 = 256 << 20;

impl FromStr for MemoryLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        match models::bytes(text) {
            Some(bytes) if bytes >= LEAST_MEMORY => Ok(Self(Some(bytes))),
            Some(_) => Err("expected 256M or more".to_owned()),
            None => Err("expected a number of bytes, as in 512M or 8G, or `none`".to_owned()),
        }
    }
}

/// Checks that a file is writable, before the work that produces it.
///
/// # Errors
/// [`Error::File`] with the reason.
pub fn check_output(path: &Path) -> Result<(), Error> {
    let refuse = |message: &str| {
        Err(Error::File {
            code: codes::BAD_OUTPUT,
            path: path.to_owned(),
            message: message.to_owned(),
        })
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() {
        return refuse("is a folder; name a file to write");
    }
    match folder {
        Some(folder) if !folder.is_dir() => refuse("cannot be written: its folder does not exist"),
        _ => Ok(()),
    }
}

/// The format of printed results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// Text for the terminal.
    #[default]
    Text,
    /// JSON for programs.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_finite_or_huge_are_refused_with_the_bound() {
        let parse = whole_number::<u16>(1..=1024);
        for text in ["0", "-1", "1025", "1e308", "inf", "nan", "18446744073709551616", "", "1 "] {
            assert!(parse(text).unwrap_err().contains("from 1 to 1024"), "{text}");
        }
        assert_eq!((parse("1"), parse("1024")), (Ok(1), Ok(1024)));
        // The type is narrower than the range.
        assert!(whole_number::<u8>(0..=256)("256").is_err());
        assert_eq!(whole_number::<u64>(0..=u64::MAX)("18446744073709551615"), Ok(u64::MAX));
        for text in ["-1s", "1e308", "inf", "nan", "366days", "584542046090y", "9e18s", ""] {
            assert!(duration(text).unwrap_err().contains("up to 365days"), "{text}");
        }
        assert_eq!(duration("365days"), Ok(LONGEST));
        for text in ["-1", "101", "1e308", "inf", "-inf", "nan", ""] {
            assert!(percent(text).unwrap_err().contains("from 0 to 100"), "{text}");
        }
        for text in ["-1", "1e308", "inf", "nan", "18446744073709551616", "17179869184G", "1M"] {
            assert!(text.parse::<MemoryLimit>().is_err(), "{text}");
        }
    }
}
