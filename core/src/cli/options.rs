//! Options that mean the same everywhere.

use super::summary::Detail;
use crate::answers::Answers;
use crate::engine::{AnyBlock, LoadedVector};
use crate::error::{Error, codes};
use crate::harness::{self, Overrides, Profile};
use crate::models::{self, Rtl, Simulator};
use crate::program;
use crate::text;
use crate::vector::Origin;
use crate::worker::{Limits, Program, Sandbox};
use clap::{Args, ValueEnum};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Under which fixes, and with which other parameters of the RTL.
#[derive(Debug, Clone, Default, Args)]
pub struct Choice {
    /// Fixes of the source's errata, as a profile (spec, repaired, ...), several with commas between them, all
    /// profiles, or a mask like 0x5a. `cosim run` and plans know random:N, too: N legal sets of parameters, drawn by the
    /// seed [default: all, or what the vector names].
    #[arg(long, value_name = "PROFILE|MASK|all|random:N")]
    pub fixes: Option<String>,
    /// Another value of a parameter of the RTL, in each of the profiles; may be given more than once.
    #[arg(long, value_name = "NAME=VALUE")]
    parameter: Vec<String>,
}

impl Choice {
    /// The other values of parameters.
    ///
    /// # Errors
    /// [`Error::Usage`] if one is not NAME=VALUE.
    pub fn overrides(&self) -> Result<Overrides, Error> {
        harness::overrides(self.parameter.iter().map(String::as_str))
            .map_err(|error| Error::Usage(codes::BAD_PARAMETER, format!("--parameter: {error}")))
    }
}

/// How much a run tells of itself, and in which form.
#[derive(Debug, Clone, Args)]
pub struct Told {
    /// How to print the summary.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print the result and the failures only.
    #[arg(long)]
    pub quiet: bool,
    /// Print tables of all scenarios and rules, and why some cannot be hit.
    #[arg(long, alias = "verbose", conflicts_with = "quiet")]
    details: bool,
}

impl Told {
    /// How much the summary says.
    pub fn detail(&self) -> Detail {
        match (self.quiet, self.details) {
            (true, _) => Detail::Result,
            (false, true) => Detail::Tables,
            (false, false) => Detail::Covered,
        }
    }
}

/// What stands for every block.
const ALL: &str = "all";

/// Which blocks, under which fixes, from which RTL.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// A block, several with commas between them, or `all`; may be given more than once [default: the first
    /// of `cosim list`].
    #[arg(long, value_name = "NAME|all", value_delimiter = ',')]
    block: Vec<String>,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    rtl: GivenRtl,
}

/// Another RTL than the built-in one, as every user of Verilator names it.
#[derive(Debug, Clone, Default, Args)]
pub struct GivenRtl {
    /// Another RTL of the block, compiled and loaded at run time: a Verilog file, or a folder with all
    /// below it; may be given more than once. `built-in` is the program's own [default: built-in].
    #[arg(long, value_name = "DIR|FILE", allow_hyphen_values = true, value_parser = path)]
    rtl: Vec<PathBuf>,
    /// A folder that is searched first for included files and modules; may be given more than once.
    #[arg(short = 'I', value_name = "DIR", allow_hyphen_values = true, value_parser = path)]
    include: Vec<PathBuf>,
    /// A Verilog macro; may be given more than once.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,
    /// A Verilog file list; may be given more than once.
    #[arg(short = 'f', value_name = "FILE", allow_hyphen_values = true, value_parser = path)]
    list: Vec<PathBuf>,
    /// What simulates the RTL: `icarus` has four values, and an X that is seen is a failure
    /// [default: verilator, or the simulator that the vector was recorded with].
    #[arg(long, value_enum, value_name = "verilator|icarus", hide_possible_values = true)]
    simulator: Option<Simulator>,
    /// Run what Yosys synthesises of the RTL in its place: a netlist of generic gates, whose area and depth are
    /// told [default: as the vector was recorded].
    #[arg(long)]
    netlist: bool,
}

/// A path that can be written down in a vector, too.
pub fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("is empty".to_owned()) } else { Ok(PathBuf::from(text)) }
}

impl GivenRtl {
    /// The RTL that was named, if one was.
    ///
    /// # Errors
    /// [`Error::Usage`] if `built-in` is not alone.
    pub fn named(&self) -> Result<Option<Rtl>, Error> {
        let rtl = Rtl {
            paths: self.rtl.clone(),
            include: self.include.clone(),
            defines: self.define.clone(),
            lists: self.list.clone(),
            simulator: self.simulator.unwrap_or_default(),
            netlist: self.netlist,
        };
        let is_word = |path: &PathBuf| path == Path::new(Rtl::BUILT_IN);
        if !rtl.paths.iter().any(is_word) {
            return Ok((!rtl.is_built_in()).then_some(rtl));
        }
        if rtl.paths.len() > 1 || !rtl.lists.is_empty() {
            let message = "--rtl built-in is the program's own RTL, and nothing goes with it; a path of that \
                           name is ./built-in";
            return Err(Error::Usage(codes::OPTIONS_CONFLICT, message.to_owned()));
        }
        Ok(Some(Rtl { paths: Vec::new(), ..rtl }))
    }
}

/// The RTL of a vector: built-in or named by the user. The vector chooses it only if the user asks for that.
#[derive(Debug, Clone, Default, Args)]
pub struct VectorRtl {
    #[command(flatten)]
    given: GivenRtl,
    /// Run the RTL that the vector names in origin.given: its files, macros and file lists are printed, compiled and
    /// executed. Use it for vectors that you trust.
    #[arg(long, conflicts_with_all = RTL_OPTIONS)]
    recorded_rtl: bool,
}

/// The options that name the RTL.
pub const RTL_OPTIONS: [&str; 4] = ["rtl", "include", "define", "list"];

/// The RTL that a command runs a vector on.
#[derive(Debug, Clone)]
pub struct ChosenRtl {
    /// The RTL.
    pub rtl: Rtl,
    /// The vector was recorded on user RTL, and runs on the built-in RTL.
    pub replaces_recorded: bool,
}

impl From<Rtl> for VectorRtl {
    /// This RTL, as if the user had named it.
    fn from(rtl: Rtl) -> Self {
        let Rtl { paths, include, defines, lists, simulator, netlist } = rtl;
        let given = GivenRtl {
            rtl: paths,
            include,
            define: defines,
            list: lists,
            simulator: Some(simulator),
            netlist,
        };
        Self { given, recorded_rtl: false }
    }
}

impl VectorRtl {
    /// The RTL that the user named, else the built-in RTL; with --recorded-rtl, the RTL that the vector names. A
    /// vector may come from anyone, and compiling RTL runs code of its author: a vector that names RTL changes
    /// nothing by itself. It says only how its RTL is simulated.
    ///
    /// # Errors
    /// [`Error::File`] if the recorded RTL is not there any more.
    pub fn of_vector(&self, path: &Path, vector: &dyn LoadedVector) -> Result<ChosenRtl, Error> {
        if let Some(rtl) = self.given.named()? {
            return Ok(ChosenRtl { rtl, replaces_recorded: false });
        }
        let Origin { given, rtl: recorded, .. } = vector.origin();
        let rtl = Rtl {
            simulator: self.given.simulator.unwrap_or(given.simulator),
            netlist: self.given.netlist || given.netlist,
            ..given.clone()
        };
        if rtl.is_built_in() {
            return Ok(ChosenRtl { rtl, replaces_recorded: false });
        }
        if !self.recorded_rtl {
            program::say(format_args!(
                "warning: {} was recorded on user RTL ({}) and runs on the built-in RTL; name the RTL with --rtl, or \
                 use the recorded RTL with --recorded-rtl",
                text::path(path),
                text::line(&rtl.command_line()),
            ));
            return Ok(ChosenRtl { rtl: rtl.built_in(), replaces_recorded: true });
        }
        show_recorded(&rtl, path)?;
        let now = vector.examine(&rtl)?.identity.clone();
        if let Some(recorded) = recorded
            && *recorded != now
        {
            program::say(format_args!(
                "warning: {}: the recorded RTL has changed since: RTL {recorded} then, {now} now",
                text::path(path)
            ));
        }
        Ok(ChosenRtl { rtl, replaces_recorded: false })
    }
}

/// Prints the RTL that a file names, before anything of it is read; `path` is the file.
///
/// # Errors
/// [`Error::File`] if it is not there any more.
pub fn show_recorded(rtl: &Rtl, path: &Path) -> Result<(), Error> {
    let command = rtl.command_line();
    let words = text::line(&command);
    program::say(format_args!("{} runs on its recorded RTL: {words}", text::path(path)));
    rtl.check_there().map_err(|error| Error::File { code: codes::RECORDED_RTL_MISSING,
        path: path.to_owned(),
        message: format!(
            "was recorded on {words}, and that RTL is not here ({error}); name the RTL with --rtl PATH or --rtl \
             built-in"
        ),
    })
}

impl Target {
    /// The blocks, each once, in the order in which they are named.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no block of a name.
    pub fn blocks(&self) -> Result<Vec<&'static dyn AnyBlock>, Error> {
        let Some(first) = program::blocks().first() else {
            return Err(Error::Environment(
                codes::INTERNAL,
                "this program has no blocks".to_owned(),
            ));
        };
        let blocks = blocks_of(&self.block)?;
        Ok(if blocks.is_empty() { vec![*first] } else { blocks })
    }

    /// How the blocks were named, for a run's directory.
    pub fn name(&self, blocks: &[&dyn AnyBlock]) -> String {
        if blocks.len() > 1 && blocks.len() == program::blocks().len() {
            return ALL.to_owned();
        }
        blocks.iter().map(|block| block.name()).collect::<Vec<_>>().join("+")
    }

    /// The RTL that was named, if one was.
    ///
    /// # Errors
    /// As [`GivenRtl::named`].
    pub fn named_rtl(&self) -> Result<Option<Rtl>, Error> {
        self.rtl.named()
    }

    /// The block and the profiles of a case's name.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are none of that name, or if the options say otherwise.
    pub fn of_case(
        &self,
        block: &str,
        profile: &str,
    ) -> Result<(&'static dyn AnyBlock, Vec<Profile>), Error> {
        let clash = |option: &str, given: &Option<String>, named: &str| match given {
            Some(given) if given != named => {
                let message =
                    format!("--case names {named}, {option} says {given}; leave {option} out");
                Err(Error::Usage(codes::BAD_CASE_NAME, message))
            }
            _ => Ok(()),
        };
        clash("--fixes", &self.choice.fixes, profile)?;
        if !self.block.is_empty() && !self.blocks()?.iter().any(|other| other.name() == block) {
            clash("--block", &Some(self.block.join(",")), block)?;
        }
        if !self.choice.parameter.is_empty() {
            let message = "--case names the parameters; leave --parameter out";
            return Err(Error::Usage(codes::BAD_CASE_NAME, message.to_owned()));
        }
        let block = find_block(block)?;
        let profiles = Profile::parse(profile, block.profiles())
            .map_err(|error| Error::Usage(codes::UNKNOWN_PROFILE, format!("--case: {error}")))?;
        Ok((block, profiles))
    }

    /// The profiles, as the block knows them.
    ///
    /// # Errors
    /// [`Error::Usage`] if it knows none of that name, or no such parameters.
    pub fn profiles(&self, block: &dyn AnyBlock) -> Result<Vec<Profile>, Error> {
        let all = block.profiles();
        let chosen = Profile::parse(self.choice.fixes.as_deref().unwrap_or("all"), all)
            .map_err(|error| Error::Usage(codes::UNKNOWN_PROFILE, format!("--fixes: {error}")))?;
        Profile::with_overrides(&chosen, &self.choice.overrides()?, all)
            .map_err(|error| Error::Usage(codes::BAD_PARAMETER, format!("--parameter: {error}")))
    }

    /// The profiles of a run with a seed, which draws those that are random.
    ///
    /// # Errors
    /// As [`Target::profiles`].
    pub fn drawn_profiles(&self, block: &dyn AnyBlock, seed: u64) -> Result<Vec<Profile>, Error> {
        let (text, all) = (self.choice.fixes.as_deref().unwrap_or("all"), block.profiles());
        let chosen = Profile::choose(text, all, block.name(), seed)
            .map_err(|error| Error::Usage(codes::UNKNOWN_PROFILE, format!("--fixes: {error}")))?;
        Profile::with_overrides(&chosen, &self.choice.overrides()?, all)
            .map_err(|error| Error::Usage(codes::BAD_PARAMETER, format!("--parameter: {error}")))
    }

    /// The RTL.
    ///
    /// # Errors
    /// As [`GivenRtl::named`].
    pub fn rtl(&self) -> Result<Rtl, Error> {
        let usual = Rtl {
            simulator: self.rtl.simulator.unwrap_or_default(),
            netlist: self.rtl.netlist,
            ..Rtl::default()
        };
        Ok(self.rtl.named()?.unwrap_or(usual))
    }
}

/// Says which block an argument does not fit, where there are several.
pub fn of_block(
    block: &dyn AnyBlock,
    blocks: &[&'static dyn AnyBlock],
) -> impl Fn(Error) -> Error + use<> {
    let name = (blocks.len() > 1).then(|| block.name());
    move |error| match (name, error) {
        (Some(name), Error::Usage(code, message)) => {
            Error::Usage(code, format!("block {name}: {message}"))
        }
        (_, error) => error,
    }
}

/// The blocks of some names, each once, in the order in which they are named.
///
/// # Errors
/// [`Error::Usage`] if there is no block of a name.
pub fn blocks_of(names: &[String]) -> Result<Vec<&'static dyn AnyBlock>, Error> {
    let mut blocks: Vec<&'static dyn AnyBlock> = Vec::new();
    for name in names {
        match name.as_str() {
            ALL => blocks.extend(program::blocks()),
            name => blocks.push(find_block(name).map_err(|error| match error {
                Error::Usage(code, message) => Error::Usage(code, format!("{message}, or {ALL}")),
                other => other,
            })?),
        }
    }
    let mut known = BTreeSet::new();
    blocks.retain(|block| known.insert(block.name()));
    Ok(blocks)
}

/// The one profile of a vector that is worked on under one alone.
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

/// The block of a name.
pub fn find_block(name: &str) -> Result<&'static dyn AnyBlock, Error> {
    program::find(name).ok_or_else(|| {
        let names: Vec<&str> = program::blocks().iter().map(|block| block.name()).collect();
        Error::Usage(
            codes::UNKNOWN_BLOCK,
            format!("unknown block `{name}`; expected {}", names.join(", ")),
        )
    })
}

/// What a model may take.
#[derive(Debug, Clone, Copy, Args)]
pub struct Patience {
    /// A model that does not return for so long hangs.
    #[arg(long, value_name = "DURATION", default_value = "10s",
          value_parser = humantime::parse_duration)]
    stuck_after: Duration,
    /// Address space of a process with models, as in 512M or 8G; `none` for no limit.
    #[arg(long, value_name = "SIZE", default_value = "4G")]
    memory_limit: MemoryLimit,
    /// Run models without a sandbox: the RTL can then write files, start programs and use the network, as you can.
    #[arg(long)]
    no_sandbox: bool,
}

impl Patience {
    /// The sandbox of a command that was begun before is the choice of who resumes it: a run directory may come from
    /// somebody else.
    pub fn with_sandbox_of(self, now: &Self) -> Self {
        Self { no_sandbox: now.no_sandbox, ..self }
    }

    /// Starts processes for models, with these limits.
    ///
    /// # Errors
    /// [`Error::Environment`] if this program cannot be started again.
    pub fn program(&self) -> Result<Program, Error> {
        let memory = self.memory_limit.0;
        let sandbox = if self.no_sandbox { Sandbox::Off } else { Sandbox::On };
        Program::this(Limits { stuck_after: self.stuck_after, memory, sandbox })
    }
}

/// Whether answers of earlier commands are used.
#[derive(Debug, Clone, Copy, Args)]
pub struct Caching {
    /// Ask Yosys and ABC every question, instead of using the answers that earlier commands kept.
    #[arg(long)]
    no_cache: bool,
}

impl Caching {
    /// Whether no answer of an earlier command is used.
    pub fn is_off(self) -> bool {
        self.no_cache
    }

    /// The answers that may be used.
    ///
    /// # Errors
    /// As [`models::answers`].
    pub fn answers(self) -> Result<Answers, Error> {
        models::answers(self.no_cache)
    }
}

/// Bytes, if there is a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MemoryLimit(Option<u64>);

/// The program and a model need about so much to begin with.
const LEAST_MEMORY: u64 = 256 << 20;

impl FromStr for MemoryLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        let units = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
        let unit = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)));
        let (number, shift) = unit.unwrap_or((text, 0));
        let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
        match bytes {
            Some(bytes) if bytes >= LEAST_MEMORY => Ok(Self(Some(bytes))),
            Some(_) => Err("expected 256M or more".to_owned()),
            None => Err("expected a number of bytes, as in 512M or 8G, or `none`".to_owned()),
        }
    }
}

/// A file that is to be written can be: checked before the work that leads to it.
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
        return refuse("is a folder, expected the name of a file to write");
    }
    match folder {
        Some(folder) if !folder.is_dir() => refuse("cannot be written: its folder does not exist"),
        _ => Ok(()),
    }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}
