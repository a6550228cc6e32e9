//! `cosim new`.

use crate::blocks::library::Library;
use crate::blocks::trust;
use crate::terminal::options::{Verilog, path};
use crate::{counted, interruption, print_text};
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_base::files::{LARGEST_INPUT, read_input_text};
use cosim_base::program;
use cosim_block::rtl::Rtl;
use cosim_new::{
    Channel, Channels, CrateName, GeneratedCrate, GivenParameter, Interfaces, Protocol, Reset,
    Skeleton, is_clock_name, is_reset_name,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tempfile::TempDir;
use verilated_build::activity::Activity;
use verilated_build::sources::Declarations;

/// What to write.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Name of the crate, of its block and of the new folder.
    name: CrateName,
    /// Top module of the RTL [default: the only module of the files].
    #[arg(long, value_name = "MODULE", value_parser = module)]
    top: Option<String>,
    /// Verilog files, folders with Verilog files, +incdir+DIR or +libext+EXT.
    #[arg(required_unless_present_any = ["list", "list_beside", "new_rtl"], value_name = "RTL", value_parser = path)]
    files: Vec<PathBuf>,
    /// Verilog file or folder; only files that the top needs are copied; may be repeated.
    #[arg(id = "new_rtl", long = "rtl", value_name = "PATH", value_parser = path)]
    rtl: Vec<PathBuf>,
    /// Read a Verilog file list whose paths are relative to the list; may be repeated.
    #[arg(short = 'F', value_name = "FILE", value_parser = path)]
    list_beside: Vec<PathBuf>,
    #[command(flatten)]
    verilog: Verilog,
    /// Clock input, active on its rising edge; may be repeated [default: the inputs whose edges
    /// registers wait for].
    #[arg(long, value_name = "NAME")]
    clock: Vec<String>,
    /// Reset input and its value in reset [default: rst, reset, rst_n or similar, if any; 0 if the
    /// name ends in n].
    #[arg(long, value_name = "NAME[=VALUE]")]
    reset: Option<Reset>,
    /// Value of a parameter of the top; several values make a profile of each; may be repeated.
    #[arg(id = "new_parameter", long = "parameter", value_name = "NAME=VALUE[,VALUE...]")]
    parameter: Vec<GivenParameter>,
    /// Option for Verilator that the RTL needs, as '--unroll-count 512'; may be repeated.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    verilator_option: Vec<String>,
    /// Generate an environment of pins, even if channels are recognized by their names.
    #[arg(long)]
    pins: bool,
    /// Checkout of cosim whose library the crate uses on this machine [default: the library of this
    /// program].
    #[arg(long, value_name = "DIR", value_parser = path)]
    cosim: Option<PathBuf>,
}

/// Parses a module name that is valid in Verilog and Rust.
pub fn module(text: &str) -> Result<String, String> {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let is_name = text.starts_with(is_letter)
        && text.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit());
    let message = "expected a module name of letters, digits and _";
    if is_name { Ok(text.to_owned()) } else { Err(message.to_owned()) }
}

/// The only module of the files.
///
/// # Errors
/// [`Error::Usage`] if there are none or several.
fn only_module(paths: &[PathBuf]) -> Result<String, Error> {
    let mut modules = BTreeSet::new();
    for path in paths.iter().filter(|path| path.is_file()) {
        let declared = Declarations::scan_text(&read_input_text(path, LARGEST_INPUT)?);
        modules.extend(declared.modules().map(str::to_owned));
    }
    if let (Some(module), 1) = (modules.first(), modules.len()) {
        return Ok(module.clone());
    }
    let found = modules.into_iter().collect::<Vec<_>>().join(", ");
    let found = if found.is_empty() { "none" } else { &found };
    let message = format!("name the top module with --top MODULE; modules of the files: {found}");
    Err(Error::Usage(codes::CHOOSE_ONE, message))
}

/// Says what the inputs do that belong to no channel and to no interface.
fn others(interfaces: &Interfaces, channels: &Channels) -> String {
    if channels.channels.is_empty() && interfaces.interfaces.is_empty() {
        return String::new();
    }
    let held = interfaces.held_inputs(channels).into_iter();
    let held: Vec<String> = held.map(|(port, value)| format!("{} = {value}", port.name)).collect();
    let varied = interfaces.varied(channels).into_iter();
    let varied: Vec<String> = varied.map(|port| port.name.clone()).collect();
    let line = |names: &[String], what: &str| match names {
        [] => String::new(),
        names => format!("inputs in no channel, {what} in src/lib.rs: {}\n", names.join(", ")),
    };
    line(&held, "held by `tie`") + &line(&varied, "with random values by `vary`")
}

/// What may keep the block from moving, or make its traffic illegal: a line for each kind.
fn doubts(made: &GeneratedCrate) -> Vec<String> {
    let GeneratedCrate { interfaces, channels, ports, clocks, resets, .. } = made;
    let is_of_pins = channels.channels.is_empty() && interfaces.interfaces.is_empty();
    let held = interfaces.held_inputs(channels);
    let free: Vec<&str> = match is_of_pins {
        true => ports.inputs.iter().map(|port| port.name.as_str()).collect(),
        false => {
            let held = held.iter().map(|(port, _)| port.name.as_str());
            held.chain(interfaces.varied(channels).iter().map(|port| port.name.as_str())).collect()
        }
    };
    let is_own = |name: &str| {
        clocks.iter().any(|clock| clock == name) || resets.iter().any(|(reset, _)| reset == name)
    };
    let free: Vec<&str> = free.into_iter().filter(|name| !is_own(name)).collect();
    let moves = |name: &&str| {
        let name = name.to_ascii_lowercase();
        // As in `tvalid` and `awready`; `freq` and `back` are other words.
        let is_offer = |word: &str| OFFERS.iter().any(|offer| word.ends_with(offer));
        name.split('_').any(|word| MOVES.contains(&word) || is_offer(word))
    };
    let named = |names: Vec<&str>, says: &str| {
        (!names.is_empty()).then(|| format!("{}: {says}", names.join(", ")))
    };
    let of_kind =
        |is_it: &dyn Fn(&str) -> bool| free.iter().copied().filter(|name| is_it(name)).collect();
    let varied = interfaces.varied(channels).into_iter();
    let varied = varied.map(|port| port.name.as_str()).filter(|name| free.contains(name));
    let low = held.iter().filter(|(_, value)| *value == 0).map(|(port, _)| port.name.as_str());
    let answers = channels.channels.iter().filter(|channel| {
        channel.is_source
            && channel.ready.is_none()
            && channel.valid.port.replace('_', "").contains("rvalid")
    });
    [
        named(of_kind(&is_clock_name), "called a clock, and no register waits for it; if it is one, name all clocks with --clock"),
        named(of_kind(&is_reset_name), "called a reset, and is not driven as one; name it with --reset if it is"),
        named(low.filter(moves).collect(), "held at 0, which may keep the block from moving; drive it in src/lib.rs"),
        named(
            varied.filter(moves).collect(),
            "random, and may belong to a protocol that is not recognized; drive it in src/lib.rs",
        ),
        named(
            answers.map(|channel| channel.name.as_str()).collect(),
            "offers answers that nothing asked for; let src/lib.rs offer one for each request",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Words of inputs without which a block does not move, and ends of such words.
const MOVES: [&str; 8] = ["rdy", "vld", "grant", "gnt", "ack", "enable", "req", "request"];
const OFFERS: [&str; 2] = ["valid", "ready"];

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let _interrupted = interruption()?;
    let library = match &arguments.cosim {
        Some(checkout) => Some(Library::checkout(checkout)?),
        None => Library::from_program()?,
    };
    // Words of a file list that stand on the command line.
    let (words, files): (Vec<_>, Vec<_>) =
        arguments.files.iter().partition(|file| file.to_string_lossy().starts_with('+'));
    let mut lists = arguments.verilog.list.clone();
    let written = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
    if !words.is_empty() || !arguments.list_beside.is_empty() {
        let words = words.into_iter().map(|word| word.display().to_string());
        let beside = arguments.list_beside.iter().map(|list| format!("-F {}", list.display()));
        let text: Vec<String> = words.chain(beside).collect();
        let list = written.path().join("command-line.f");
        fs::write(&list, text.join("\n") + "\n").map_err(Error::write(&list))?;
        lists.push(list);
    }
    let paths: Vec<PathBuf> = files.into_iter().chain(&arguments.rtl).cloned().collect();
    let top = arguments.top.clone().map_or_else(|| only_module(&paths), Ok)?;
    let skeleton = Skeleton {
        name: arguments.name.clone(),
        top: top.clone(),
        rtl: Rtl {
            paths,
            include: arguments.verilog.include.clone(),
            defines: arguments.verilog.define.clone(),
            lists,
            ..Rtl::default()
        },
        files: library.map_or_else(Vec::new, |library| library.files_of_crate()),
        clocks: arguments.clock.clone(),
        reset: arguments.reset.clone(),
        parameters: arguments.parameter.clone(),
        options: arguments
            .verilator_option
            .iter()
            .map(|option| option.parse().map_err(Error::from))
            .collect::<Result<_, Error>>()?,
        is_of_pins: arguments.pins,
    };
    let activity = Activity::start(format!("asking Verilator about {top}"));
    let made = skeleton.write(Path::new("."))?;
    trust::finish_new(&made.folder);
    drop(activity);
    let doubts = doubts(&made);
    let GeneratedCrate {
        folder,
        ports,
        resets,
        clocks,
        is_combinational,
        wrapper,
        channels,
        interfaces,
        warnings,
    } = made;
    let reset = match resets.as_slice() {
        [] if is_combinational => "no reset".to_owned(),
        [] => "no reset; see its README.md".to_owned(),
        resets => {
            let text = |(name, is_high): &(String, bool)| {
                format!("reset {name}, {} in reset", u8::from(*is_high))
            };
            resets.iter().map(text).collect::<Vec<_>>().join(", ")
        }
    };
    let clock = match clocks.as_slice() {
        [] if is_combinational => "no clock".to_owned(),
        [] => format!("clock {}", ports.clock),
        clocks => format!("clocks {}", clocks.join(", ")),
    };
    let wrapper = wrapper.map_or_else(String::new, |wrapper| {
        format!("wrapper: {}, which cosim wrote and you may edit\n", wrapper.display())
    });
    let channel = |channel: &Channel| {
        let side = if channel.is_source { "source" } else { "sink" };
        let bit = channel.bit().map_or_else(String::new, |bit| format!("[{bit}]"));
        let ready = channel.ready.as_ref().map(|ready| format!(", {}{bit}", ready.text()));
        let (valid, ready) = (channel.valid.text(), ready.unwrap_or_default());
        format!("{side} {} ({valid}{bit}{ready})", channel.name)
    };
    let mut interface_lines = String::new();
    for of in &interfaces.interfaces {
        let side = match (of.protocol, of.is_manager) {
            (Protocol::Stream, true) => "transmitter",
            (Protocol::Stream, false) => "receiver",
            (_, true) => "manager",
            (_, false) => "subordinate",
        };
        let reads = of.reads.as_ref().map_or_else(String::new, |reads| format!(", reads {reads}*"));
        let title = of.protocol.title();
        let pattern = if of.pattern.is_empty() { of.first_port() } else { &of.pattern };
        let star = if of.pattern.contains('*') || of.pattern.is_empty() { "" } else { "*" };
        let lane =
            of.lane.map_or_else(String::new, |(lane, all)| format!(", lane {lane} of {all}"));
        let line = format!(
            "interface: {title} {side} {pattern}{star}{reads}{lane}, with an agent in src/lib.rs\n"
        );
        interface_lines.push_str(&line);
    }
    let listed = match channels.channels.as_slice() {
        [] => String::new(),
        all => {
            let all: Vec<String> = all.iter().map(channel).collect();
            format!("channels: {}; check them in src/lib.rs\n", all.join(", "))
        }
    };
    for warning in warnings.into_iter().chain(doubts) {
        program::warn(format_args!("{warning}"));
    }
    let others = others(&interfaces, &channels);
    print_text(&format!(
        "wrote {}: {clock}, {reset}, {} and {} of module {}\n\
         {wrapper}{interface_lines}{listed}{others}next: cd {} && cosim run; README.md says what to write",
        folder.display(),
        counted(ports.inputs.len() as u64, "input"),
        counted(ports.outputs.len() as u64, "output"),
        top,
        folder.display(),
    ))?;
    Ok(ExitCode::SUCCESS)
}
