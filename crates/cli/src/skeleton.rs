//! Generates a crate for a new block from the ports of its RTL.
//!
//! The files are templates in `templates/skeleton`. The crate is written to a temporary folder,
//! which is renamed when it is complete. Templates see the fields of [`Context`] only.

mod names;
mod types;

use crate::channels::{Channel, Channels, Handshake};
use crate::library::{LOCK, Library};
use crate::wrapper::{Wishes, Wrapping, wrapper_name};
use cosim_base::error::{Error, codes};
use cosim_base::files::{check_free, write_below};
use cosim_block::rtl::Rtl;
use cosim_rtl::models::{Copies, Examined, copied_data};
use minijinja::value::ValueKind;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, escape_formatter};
pub use names::is_keyword as is_field_keyword;
#[cfg(test)]
pub use names::tests::names as hostile_names;
pub use names::toml_string;
use names::{Ident, Scope, Text, Word, is_keyword};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::{Builder, TempDir};
use types::{EnumText, StructText, Types};
use verilated_build::module::{self, ModuleDescription};
use verilated_build::{Clock, Design, Error as BuildError, Port, Ports, Wrapper};
use verilated_files::foreign::lay_out;
use verilated_runtime::Verilator;

/// The description of a new crate.
#[derive(Debug, Clone)]
pub struct Skeleton {
    /// The name of the crate, and of its folder.
    pub name: CrateName,
    /// The top module.
    pub top: String,
    /// The RTL.
    pub rtl: Rtl,
    /// The source of `cosim-core` and `cosim-build`.
    pub library: Option<Library>,
    /// The clocks, if they were named.
    pub clocks: Vec<String>,
    /// The reset, if it was named.
    pub reset: Option<Reset>,
    /// Values of parameters.
    pub parameters: Vec<GivenParameter>,
    /// Whether the environment drives pins even if channels are recognized.
    pub is_of_pins: bool,
}

/// The reset, and its level in reset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    /// The input.
    pub port: String,
    /// Whether it is active high. Derived from its name if the user did not say.
    pub is_high: Option<bool>,
}

impl Reset {
    /// Default names of the reset input, in any case.
    const USUAL: [&str; 18] = [
        "rst",
        "reset",
        "rst_n",
        "reset_n",
        "rstn",
        "resetn",
        "rst_ni",
        "rst_i",
        "reset_i",
        "reset_ni",
        "i_rst",
        "i_reset",
        "i_rst_n",
        "i_reset_n",
        "arst",
        "arst_n",
        "nrst",
        "aresetn",
    ];

    /// The level in reset: as it was said, else as the name says.
    pub fn level(&self) -> bool {
        let port = self.port.to_ascii_lowercase();
        let is_low =
            ["_n", "_ni", "_b", "_l", "rstn", "resetn"].iter().any(|end| port.ends_with(end))
                || ["nrst", "nreset", "n_rst", "n_reset"].iter().any(|part| port.contains(part));
        self.is_high.unwrap_or(!is_low)
    }
}

impl std::str::FromStr for Reset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (port, level) =
            text.split_once('=').map_or((text, None), |(port, level)| (port, Some(level)));
        let is_high = match level {
            None => None,
            Some("0") => Some(false),
            Some("1") => Some(true),
            Some(_) => return Err("expected NAME, NAME=1 or NAME=0".to_owned()),
        };
        Ok(Self { port: port.to_owned(), is_high })
    }
}

/// A valid name for a crate, a folder and a block: lower-case letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct CrateName(String);

impl CrateName {
    const MAX_LENGTH: usize = 64;
    /// Names that are reserved by cargo or are dependencies of the crate.
    const TAKEN: [&str; 16] = [
        "alloc",
        "build",
        "core",
        "cosim-build",
        "cosim-core",
        "deps",
        "examples",
        "incremental",
        "proc-macro",
        "rand",
        "rtl",
        "schemars",
        "serde",
        "std",
        "test",
        "worker",
    ];

    /// The identifier of the library and of the block.
    fn identifier(&self) -> String {
        self.0.replace('-', "_")
    }

    /// The name of the block's type. The suffix `Block` avoids conflicts with other types.
    fn type_name(&self) -> String {
        let capital = |word: &str| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| {
                first.to_ascii_uppercase().to_string() + letters.as_str()
            })
        };
        let words = self.0.strip_suffix("block").and_then(|rest| rest.strip_suffix(['-', '_']));
        let words = words.unwrap_or(&self.0).split(['-', '_']);
        words.map(capital).chain(["Block".to_owned()]).collect()
    }
}

impl std::str::FromStr for CrateName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_word = |word: &str| {
            !word.is_empty()
                && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
        };
        let begins = text.starts_with(|letter: char| letter.is_ascii_lowercase());
        if !begins || !text.split(['-', '_']).all(is_word) || text.len() > Self::MAX_LENGTH {
            return Err(format!(
                "expected a name for a crate: at most {} lower-case letters and digits, with single - or _ \
                 between words",
                Self::MAX_LENGTH
            ));
        }
        if is_keyword(text) || Self::TAKEN.contains(&text.replace('_', "-").as_str()) {
            return Err(
                "is reserved, so no crate can have it as its name; choose another".to_owned()
            );
        }
        Ok(Self(text.to_owned()))
    }
}

/// Default names of the clock input.
const USUAL_CLOCKS: [&str; 6] = ["clk", "clk_i", "i_clk", "clock", "aclk", "sys_clk"];

/// The first usual name of a clock among inputs of one bit.
pub fn usual_clock<'a>(inputs: impl Iterator<Item = &'a str>) -> Option<String> {
    let inputs: Vec<&str> = inputs.collect();
    let upper = USUAL_CLOCKS.map(str::to_ascii_uppercase);
    let mut usual = USUAL_CLOCKS.into_iter().chain(upper.iter().map(String::as_str));
    usual.find(|name| inputs.contains(name)).map(str::to_owned)
}

/// Whether an input is called like a reset.
pub fn is_reset_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut words = name.split('_').map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()));
    // As in `wrst`, `nreset` and `arstn`; `first` and `burst` are other words.
    let is_reset = |word: &str| {
        let ends = ["rst", "rstn", "reset", "resetn"].iter().find_map(|end| word.strip_suffix(end));
        ends.is_some_and(|before| before.len() <= 1)
    };
    words.any(is_reset)
}

/// A port, for templates.
#[derive(Debug, Clone, Serialize)]
struct PortText {
    name: Word,
    field: Ident,
    width: u32,
    /// Whether it is stored in words.
    words: bool,
}

impl PortText {
    fn new(port: &Port) -> Self {
        let (name, field) = (Word::new(&port.name), Ident::field(&port.name));
        Self { name, field, width: port.width, words: port.width > 64 }
    }
}

/// A channel, for templates.
#[derive(Debug, Clone, Serialize)]
struct ChannelText {
    name: Word,
    field: Ident,
    #[serde(rename = "type")]
    type_name: Ident,
    is_source: bool,
    payload: Vec<FieldText>,
    /// Valid and ready.
    pins: Vec<HandshakeText>,
    /// The clock of a module with several.
    clock: Option<Ident>,
}

/// A field of a channel's payload, for templates.
#[derive(Debug, Clone, Serialize)]
struct FieldText {
    name: Ident,
    pin: Ident,
    width: u32,
}

/// A pin of a handshake, for templates.
#[derive(Debug, Clone, Serialize)]
struct HandshakeText {
    field: Ident,
    is_inverted: bool,
}

/// The identifiers of channels and of their types.
struct ChannelScopes {
    fields: Scope,
    types: Scope,
}

impl ChannelText {
    fn new(channel: &Channel, clocks: &[String], scopes: &mut ChannelScopes) -> Self {
        let mut names = Scope::default();
        let field = |(name, port): &(String, Port)| FieldText {
            name: names.unique(Ident::field(name)),
            pin: Ident::field(&port.name),
            width: port.width,
        };
        let payload = channel.payload.iter().map(field).collect();
        let name = channel.name.to_ascii_lowercase();
        let camel = Ident::camel(&name);
        let is_free = scopes.types.has_free(&camel);
        let type_name = if is_free { camel } else { Ident::camel(&format!("{name}_item")) };
        let pin = |handshake: &Handshake| HandshakeText {
            field: Ident::field(&handshake.port),
            is_inverted: handshake.is_inverted,
        };
        // The writer's clock is often the one with a w, or the first.
        let sides: [&[&str]; 2] = [&["w", "s", "i"], &["r", "d", "m", "o"]];
        let begins = |clock: &&String| {
            let name = clock.to_ascii_lowercase();
            sides[usize::from(!channel.is_source)].iter().any(|letter| name.starts_with(letter))
        };
        let by_place = if channel.is_source { clocks.first() } else { clocks.last() };
        let clock = clocks.iter().find(begins).or(by_place);
        Self {
            name: Word::new(&name),
            field: scopes.fields.unique(Ident::field(&name)),
            type_name: scopes.types.unique(type_name),
            is_source: channel.is_source,
            payload,
            pins: [Some(&channel.valid), channel.ready.as_ref()]
                .into_iter()
                .flatten()
                .map(pin)
                .collect(),
            clock: clock.map(|clock| Ident::field(clock)),
        }
    }
}

/// A parameter of the block, for templates.
#[derive(Debug, Serialize)]
struct ParameterText {
    name: Text,
    default: u64,
    least: u64,
    most: u64,
}

/// Everything that templates see. A text of the RTL, of a path or of the command line is a [`Word`],
/// an [`Ident`] or a [`Text`] here, and never a string.
#[derive(Debug, Serialize)]
struct Context {
    /// The name of the crate.
    name: CrateName,
    #[serde(rename = "crate")]
    library: Ident,
    block: Ident,
    #[serde(rename = "type")]
    type_name: Ident,
    top: Word,
    clock: Word,
    /// The version of the library for blocks.
    version: Text,
    folder: Option<Text>,
    sources: Vec<Text>,
    defines: Vec<Text>,
    wrapper: Option<Text>,
    parameters: Vec<Text>,
    block_parameters: Vec<ParameterText>,
    profiles: Vec<ProfileText>,
    inputs: Vec<PortText>,
    outputs: Vec<PortText>,
    reset: Option<ResetText>,
    resets: Vec<ResetText>,
    clocks: Vec<PortText>,
    combinational: bool,
    exhaustive: bool,
    bits: u32,
    cases: u64,
    vectors: u64,
    first_bits: u32,
    axi_lite: Option<Word>,
    channels: Vec<ChannelText>,
    source_channels: Vec<ChannelText>,
    sink_channels: Vec<ChannelText>,
    channel_outputs: Vec<Word>,
    other_inputs: Vec<PortText>,
    other_outputs: Vec<PortText>,
    structs: Vec<StructText>,
    enums: Vec<EnumText>,
    fields: Vec<(Word, Ident)>,
    meanings: Vec<(Word, Ident)>,
    /// Whether a data input is stored in words, and whether one is not.
    wide: bool,
    narrow: bool,
}

/// The engine of the templates.
fn templates() -> Environment<'static> {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_keep_trailing_newline(true);
    templates.set_trim_blocks(true);
    templates.set_lstrip_blocks(true);
    templates.set_formatter(|out, state, value| match value.kind() {
        // A text has no form without a place.
        ValueKind::Map | ValueKind::Seq => {
            let message = "a text needs a place: write `.rust`, `.markdown` or `.toml` behind it";
            Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
        }
        _ => escape_formatter(out, state, value),
    });
    templates
}

/// The templates, by output file.
const TEMPLATES: [(&str, &str); 12] = [
    (".gitignore", include_str!("../templates/skeleton/gitignore.j2")),
    ("Cargo.toml", include_str!("../templates/skeleton/Cargo.toml.j2")),
    ("README.md", include_str!("../templates/skeleton/README.md.j2")),
    ("build.rs", include_str!("../templates/skeleton/build.rs.j2")),
    ("src/environment.rs", include_str!("../templates/skeleton/src/environment.rs.j2")),
    ("src/golden.rs", include_str!("../templates/skeleton/src/golden.rs.j2")),
    ("src/lib.rs", include_str!("../templates/skeleton/src/lib.rs.j2")),
    ("src/main.rs", include_str!("../templates/skeleton/src/main.rs.j2")),
    ("src/scenarios.rs", include_str!("../templates/skeleton/src/scenarios.rs.j2")),
    ("src/scenarios.toml", include_str!("../templates/skeleton/src/scenarios.toml.j2")),
    ("src/scoreboard.rs", include_str!("../templates/skeleton/src/scoreboard.rs.j2")),
    ("src/stimulus.rs", include_str!("../templates/skeleton/src/stimulus.rs.j2")),
];
/// As above, if ports have structs or enums as types.
const TYPES: (&str, &str) = ("src/types.rs", include_str!("../templates/skeleton/src/types.rs.j2"));
/// The templates of a module with channels, in the place of those for pins.
const OF_CHANNELS: [(&str, &str); 2] = [
    ("src/golden.rs", include_str!("../templates/skeleton/channels/golden.rs.j2")),
    ("src/scoreboard.rs", include_str!("../templates/skeleton/channels/scoreboard.rs.j2")),
];
/// The scoreboard of a module with an AXI4-Lite interface and no other channel.
const OF_AXI_LITE: (&str, &str) =
    ("src/scoreboard.rs", include_str!("../templates/skeleton/axi_lite/scoreboard.rs.j2"));
/// The templates that a module with channels does not need.
const OF_PINS: [&str; 5] = [
    "src/environment.rs",
    "src/golden.rs",
    "src/scenarios.rs",
    "src/scenarios.toml",
    "src/stimulus.rs",
];
/// The template of the folder of vectors.
const VECTORS: (&str, &str) =
    ("vectors/README.md", include_str!("../templates/skeleton/vectors/README.md.j2"));

/// The generated crate.
#[derive(Debug, Clone)]
pub struct GeneratedCrate {
    /// The crate's folder.
    pub folder: PathBuf,
    /// Its ports.
    pub ports: Ports,
    /// The resets that were found, with their levels in reset. The first is the main one.
    pub resets: Vec<(String, bool)>,
    /// The inputs that say which clocks rise, if there are several clocks.
    pub clocks: Vec<String>,
    /// Whether nothing in it waits for an edge.
    pub is_combinational: bool,
    /// The wrapper, if the top needs one.
    pub wrapper: Option<PathBuf>,
    /// The channels that the crate declares.
    pub channels: Vec<Channel>,
    /// The prefix of the ports of an AXI4-Lite interface, if the channels are those of one.
    pub axi_lite: Option<String>,
}

/// The prefix of an AXI4-Lite interface that the crate declares with an agent. Agents have one clock.
fn axi_lite(channels: Option<&Channels>, clocks: &[String]) -> Option<String> {
    channels.filter(|_| clocks.is_empty())?.axi_lite()
}

/// What the texts of a crate are made of.
struct Rendered<'a> {
    examined: &'a Examined,
    copies: &'a Copies,
    ports: &'a Ports,
    resets: &'a [(String, bool)],
    wrapping: &'a Wrapping,
    wrapper: Option<&'a Path>,
    description: &'a ModuleDescription,
    channels: Option<&'a Channels>,
}

/// The module that was asked for, and how.
struct Question {
    examined: Examined,
    asked: AskingModule,
    /// Whether it has parameters without values.
    lacks_parameters: bool,
}

/// What a module around the top declares to elaborate it.
#[derive(Debug, Clone, Default)]
struct AskingModule {
    top: String,
    parameters: Vec<(String, String)>,
    /// Interface, port, and the text of the range of an array.
    interfaces: Vec<(String, String, String)>,
}

impl AskingModule {
    fn text(&self) -> String {
        let values = |of: &str| -> String {
            let own = |(name, value): &(String, String)| match (name.split_once('.'), of) {
                (None, "") => Some(format!(".{name}({value})")),
                (Some((port, name)), of) if port == of => Some(format!(".{name}({value})")),
                _ => None,
            };
            let all: Vec<String> = self.parameters.iter().filter_map(own).collect();
            if all.is_empty() { String::new() } else { format!(" #({})", all.join(", ")) }
        };
        let mut text = String::new();
        let mut pins = Vec::new();
        for (interface, port, range) in &self.interfaces {
            let _ = write!(text, "{interface}{} {port}{range}(); ", values(port));
            pins.push(format!(".{port}({port})"));
        }
        let _ = write!(text, "{}{} dut({});", self.top, values(""), pins.join(", "));
        text
    }

    /// Learns which ports are interfaces from Verilator's errors: it names the interface and the place of the declaration.
    fn add_interfaces(&mut self, output: &str) -> Result<(), Error> {
        for line in output.lines() {
            let Some((at, message)) = line
                .strip_prefix("%Error")
                .and_then(|rest| rest.split_once(": ").and_then(|(_, rest)| rest.split_once(": ")))
            else {
                continue;
            };
            let mut place = at.rsplitn(3, ':');
            let (column, line, path) = (place.next(), place.next(), place.next());
            let (Some(column), Some(line), Some(path)) = (
                column.and_then(|text| text.parse::<usize>().ok()),
                line.and_then(|text| text.parse::<usize>().ok()),
                path,
            ) else {
                continue;
            };
            let declaration = || {
                let text = fs::read(path).ok()?;
                let text = String::from_utf8_lossy(&text).into_owned();
                let skipped: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
                text.get(skipped + column - 1..).map(str::to_owned)
            };
            if message.contains("generic interfaces")
                || (message.starts_with("Interface port") && message.contains("not connected"))
            {
                let text = declaration().unwrap_or_default();
                let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
                let mut words = text.split(|c| !is_letter(c)).filter(|word| !word.is_empty());
                let port = words.find(|word| *word != "interface").unwrap_or("?").to_owned();
                if self.interfaces.iter().any(|(_, known, _)| *known == port) {
                    continue;
                }
                return Err(Error::Usage(
                    codes::BAD_PORT,
                    format!(
                        "port `{port}` of {}: generic interfaces are not supported; wrap the \
                         module in one that names the interface",
                        self.top
                    ),
                ));
            }
            let is_interface = ["Parent instance's interface is not found: '", "Interface '"];
            let name = is_interface
                .iter()
                .find_map(|before| message.strip_prefix(before)?.split('\'').next());
            let (Some(interface), Some(text)) = (name, declaration()) else { continue };
            for (port, range) in declared_ports(&text) {
                if !self.interfaces.iter().any(|(_, known, _)| *known == port) {
                    self.interfaces.push((interface.to_owned(), port, range));
                }
            }
        }
        Ok(())
    }
}

/// The ports of a declaration like `bus.sink a, b [2], input c`, with the ranges of arrays.
fn declared_ports(text: &str) -> Vec<(String, String)> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    fn word(text: &str, is_letter: impl Fn(char) -> bool) -> (&str, &str) {
        let text = text.trim_start();
        text.split_at(text.find(|letter| !is_letter(letter)).unwrap_or(text.len()))
    }
    let (_, mut rest) = word(text, is_letter);
    if let Some(behind) = rest.trim_start().strip_prefix('.') {
        (_, rest) = word(behind, is_letter);
    }
    let mut found = Vec::new();
    loop {
        let (name, behind) = word(rest, is_letter);
        if name.is_empty() {
            return found;
        }
        let mut behind = behind.trim_start();
        let mut range = String::new();
        while behind.starts_with('[')
            && let Some(end) = behind.find(']')
        {
            range.push_str(&behind[..=end]);
            behind = behind[end + 1..].trim_start();
        }
        match behind.chars().next() {
            Some(',') => rest = &behind[1..],
            Some(')' | ';' | '/') => {
                found.push((name.to_owned(), range));
                return found;
            }
            // The type of the next port.
            _ => return found,
        }
        found.push((name.to_owned(), range));
    }
}

/// The parameter that Verilator says has no value.
fn missing_parameter(output: &str) -> Option<&str> {
    output.lines().find_map(|line| {
        let (_, name) = line.split_once("Missing type parameter: '").or_else(|| {
            line.split_once("is never given value").and_then(|(_, rest)| rest.split_once('\''))
        })?;
        name.split('\'').next()
    })
}

/// The parameter that the module has not, as Verilator says.
fn unknown_parameter(output: &str) -> Option<&str> {
    let line = output.lines().find(|line| {
        line.contains("Parameter not found: '") || line.contains("Parameter pin not found: '")
    })?;
    line.split_once("not found: '")?.1.split('\'').next()
}

/// A parameter of the top with the values that were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenParameter {
    /// Its name; that of an interface has its port and a point before it.
    pub name: String,
    /// Its values, as typed.
    pub values: Vec<String>,
}

impl GivenParameter {
    /// The values, if all are numbers.
    fn numbers(&self) -> Option<Vec<u64>> {
        self.values.iter().map(|value| module::number(value)).collect()
    }
}

impl std::str::FromStr for GivenParameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected NAME=VALUE, or NAME=VALUE,VALUE for several profiles".to_owned();
        let (name, values) = text.split_once('=').ok_or_else(wrong)?;
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        if !name.split('.').all(is_name) || values.iter().any(String::is_empty) {
            return Err(wrong());
        }
        let given = Self { name: name.to_owned(), values };
        if given.values.len() > 1 && given.numbers().is_none() {
            return Err("several values must be numbers, as in N=4,8".to_owned());
        }
        Ok(given)
    }
}

impl Skeleton {
    /// Writes the crate into a folder of its name below `place`.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Usage`] if the folder exists or the RTL has unsupported ports.
    /// [`Error::Build`] with Verilator's messages.
    pub fn write(&self, place: &Path) -> Result<GeneratedCrate, Error> {
        let folder = match place {
            here if here == Path::new(".") => PathBuf::from(&self.name.0),
            place => place.join(&self.name.0),
        };
        check_free(&folder)?;
        self.check_combinations()?;
        let question = self.question()?;
        let examined = &question.examined;
        let mut copies = Copies::new(examined)?;
        let temporary =
            Builder::new().prefix(".cosim-").tempdir_in(place).map_err(Error::write(place))?;
        let made = temporary.path().join(&self.name.0);
        // The block opens its data files in its folder.
        let data = copied_data(examined)?.into_iter();
        let data: Vec<_> = data.map(|(name, text)| (copies.folder.join(name), text)).collect();
        let files = copies.files.iter().map(|(name, text)| (name.as_path(), text.as_slice()));
        let all = files.chain(data.iter().map(|(name, text)| (name.as_path(), *text)));
        fs::create_dir(&made).map_err(Error::write(&made))?;
        lay_out(&made.join("rtl"), all)?;
        let description = self.description(&made, &copies, &question)?;
        let wishes = Wishes {
            clocks: self.clocks.clone(),
            parameters: self.first_values(),
            is_needed: question.lacks_parameters || self.passes_other_values(&description),
        };
        let wrapping = Wrapping::new(&self.top, &description, &wishes)?;
        let mut top = self.top.clone();
        let mut wrapper = None;
        if let Some(text) = &wrapping.text {
            top = wrapper_name(&self.top);
            let name = PathBuf::from(format!("{top}.sv"));
            let place = copies.folder.join(&name);
            if copies.files.contains_key(&place) {
                let message = "the RTL has a file of that name already; rename it".to_owned();
                let path = Path::new("rtl").join(place);
                return Err(Error::File { code: codes::CANNOT_COPY, path, message });
            }
            write_below(&made.join("rtl").join(place), text.as_bytes())?;
            copies.sources.push(name.clone());
            wrapper = Some(name);
        }
        let ports = self.ports(&made, &copies, examined, &top, &wrapping)?;
        let resets = self.resets(&ports, &wrapping)?;
        let channels = self.channels(&ports, &resets, &wrapping);
        let texts = self.render(&Rendered {
            examined,
            copies: &copies,
            ports: &ports,
            resets: &resets,
            wrapping: &wrapping,
            wrapper: wrapper.as_deref(),
            description: &description,
            channels: channels.as_ref(),
        })?;
        for (name, text) in texts {
            write_below(&made.join(name), text.as_bytes())?;
        }
        if let Some(library) = &self.library {
            write_below(&made.join(".cargo/config.toml"), library.configuration().as_bytes())?;
            if let Some(lock) = library.lock() {
                write_below(&made.join(LOCK), &lock)?;
            }
        }
        format(&made);
        // An empty folder is taken over; one that was filled meanwhile is not.
        fs::rename(&made, &folder).map_err(Error::write(&folder))?;
        let Wrapping { clocks, is_combinational, .. } = wrapping;
        let wrapper = wrapper.map(|name| copies.searched(folder.join("rtl")).join(name));
        let axi_lite = axi_lite(channels.as_ref(), &clocks);
        let channels = channels.map_or_else(Vec::new, |channels| channels.channels);
        Ok(GeneratedCrate {
            folder,
            ports,
            resets,
            clocks,
            is_combinational,
            wrapper,
            channels,
            axi_lite,
        })
    }

    /// The channels of the module, if the crate declares them.
    fn channels(
        &self,
        ports: &Ports,
        resets: &[(String, bool)],
        wrapping: &Wrapping,
    ) -> Option<Channels> {
        let resets = resets.iter().map(|(name, _)| name);
        let own: Vec<&str> = resets.chain(&wrapping.clocks).map(String::as_str).collect();
        let channels = Channels::of(ports, &own);
        let is_declared = !self.is_of_pins && !wrapping.is_combinational && channels.is_usable();
        is_declared.then_some(channels)
    }

    /// The first value of each parameter that was given.
    fn first_values(&self) -> Vec<(String, String)> {
        self.combinations().into_iter().next().unwrap_or_default()
    }

    /// The parameter sets that were given: every combination of values.
    fn combinations(&self) -> Vec<Vec<(String, String)>> {
        let mut all = vec![Vec::new()];
        for GivenParameter { name, values } in &self.parameters {
            let extend = |set: &Vec<(String, String)>| -> Vec<Vec<(String, String)>> {
                let with = |value: &String| {
                    let mut set = set.clone();
                    set.push((name.clone(), value.clone()));
                    set
                };
                values.iter().map(with).collect()
            };
            all = all.iter().flat_map(extend).collect();
        }
        all
    }

    /// Refuses more parameter sets than a crate can have profiles: each is a model.
    fn check_combinations(&self) -> Result<(), Error> {
        let number = |all: usize, given: &GivenParameter| all.saturating_mul(given.values.len());
        match self.parameters.iter().fold(1, number) {
            0..=MOST_PROFILES => Ok(()),
            number => Err(Error::Usage(
                codes::COMMAND_LINE,
                format!("--parameter: {number} profiles, and a crate has at most {MOST_PROFILES}"),
            )),
        }
    }

    /// Whether a parameter was given that the build script cannot set, as a type.
    fn passes_other_values(&self, description: &ModuleDescription) -> bool {
        let is_number =
            |name: &str| description.parameters.iter().any(|own| own.name == name && own.is_number);
        self.parameters.iter().any(|given| !is_number(&given.name) || given.numbers().is_none())
    }

    /// Asks Verilator about the top: as it is, then with the parameters and the interfaces that it lacks.
    fn question(&self) -> Result<Question, Error> {
        const MOST_ATTEMPTS: usize = 12;
        let mut asked = AskingModule { top: self.top.clone(), ..AskingModule::default() };
        let mut lacks_parameters = false;
        for _ in 0..MOST_ATTEMPTS {
            let error = match Examined::of_top(&self.top, &asked.text(), &self.rtl) {
                Ok(examined) if asked.parameters.is_empty() && !self.parameters.is_empty() => {
                    asked.parameters = self.first_values();
                    drop(examined);
                    continue;
                }
                Ok(examined) => return Ok(Question { examined, asked, lacks_parameters }),
                Err(error) => error,
            };
            if error.code() != codes::VERILATOR_REJECTED {
                return Err(error);
            }
            let output = &error.to_string();
            if let Some(name) = unknown_parameter(output) {
                return Err(Error::Usage(
                    codes::NO_SUCH_PARAMETER,
                    format!("--parameter: module {} has no parameter {name}", self.top),
                ));
            }
            let interfaces = asked.interfaces.len();
            match missing_parameter(output) {
                Some(_) if asked.parameters.is_empty() && !self.parameters.is_empty() => {
                    lacks_parameters = true;
                    asked.parameters = self.first_values();
                }
                Some(name) => {
                    return Err(Error::Usage(
                        codes::PARAMETER_MISSING,
                        format!(
                            "parameter {name} of module {} has no default; give it a value with \
                             --parameter {name}=VALUE",
                            self.top
                        ),
                    ));
                }
                None => {
                    asked.add_interfaces(output)?;
                    if asked.interfaces.len() == interfaces {
                        return Err(self.no_top(error));
                    }
                }
            }
        }
        let message = format!("module {}: cannot find out what its interface ports are", self.top);
        Err(Error::Usage(codes::BAD_PORT, message))
    }

    /// The module as Verilator elaborates it in the new crate. Other parameter values must leave its ports as they are.
    fn description(
        &self,
        made: &Path,
        copies: &Copies,
        question: &Question,
    ) -> Result<ModuleDescription, Error> {
        let answer = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let mut first: Option<ModuleDescription> = None;
        for values in self.combinations() {
            let asked = AskingModule { parameters: values, ..question.asked.clone() };
            let ask = answer.path().join("cosim_ask.sv");
            let text = format!("module cosim_ask; {} endmodule\n", asked.text());
            fs::write(&ask, text).map_err(Error::write(&ask))?;
            let searched = copies.searched("rtl");
            let sources = copies.sources.iter().map(|name| searched.join(name));
            let design = Design {
                top: "cosim_ask".to_owned(),
                sources: sources.chain([ask]).collect(),
                include: vec![searched.clone()],
                defines: question.examined.design.defines.clone(),
                folder: Some(made.to_owned()),
                ..Design::default()
            };
            let verilator = Verilator::find()?;
            let found = design
                .describe_instance(&verilator, &answer.path().join("described"), "dut")
                .map_err(|error| question.examined.plain(error))?;
            if let Some(first) = &first
                && let Some((one, _)) =
                    first.ports.iter().zip(&found.ports).find(|(one, other)| one != other)
            {
                return Err(Error::Usage(
                    codes::PORTS_DIFFER,
                    format!(
                        "port `{}` of {} depends on the parameters; write a separate block for \
                         each set of ports",
                        one.name, self.top
                    ),
                ));
            }
            first.get_or_insert(found);
        }
        Ok(first.unwrap_or_default())
    }

    /// The error if no file contains the top module.
    fn no_top(&self, error: Error) -> Error {
        let missing = format!("module: '{}'", self.top);
        if error.code() == codes::VERILATOR_REJECTED && error.to_string().contains(&missing) {
            let message = format!("--top: the RTL has no module {}", self.top);
            return Error::Usage(codes::TOP_MISSING, message);
        }
        error
    }

    /// The ports, as the crate's build will find them: by its files alone.
    fn ports(
        &self,
        made: &Path,
        copies: &Copies,
        examined: &Examined,
        top: &str,
        wrapping: &Wrapping,
    ) -> Result<Ports, Error> {
        let answer = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let is_wrapped = wrapping.text.is_some();
        let searched = copies.searched("rtl");
        let design = Design {
            top: top.to_owned(),
            clock: Clock::from(wrapping.clock.as_str()),
            sources: copies.sources.iter().map(|name| searched.join(name)).collect(),
            include: vec![searched],
            defines: examined.design.defines.clone(),
            parameters: if is_wrapped { Vec::new() } else { self.first_values() },
            wrapper: is_wrapped
                .then(|| Wrapper { file: format!("{top}.sv").into(), module: self.top.clone() }),
            folder: Some(made.to_owned()),
            prefix: "Vnew".to_owned(),
            ..Design::default()
        };
        let verilator = Verilator::find()?;
        let verilated = design.verilate(&verilator, &answer.path().join("new"))?;
        let ports = design.ports(&verilator, &verilated).map_err(|error| match error {
            BuildError::Port { port, reason, .. } => {
                let error = BuildError::Port { top: self.top.clone(), port, reason };
                Error::Usage(codes::BAD_PORT, error.to_string())
            }
            error @ BuildError::Foreign { .. } => {
                Error::Usage(codes::FOREIGN_CODE, error.to_string())
            }
            other => other.into(),
        })?;
        for (side, what) in
            [(&ports.inputs, "input other than the clock"), (&ports.outputs, "output")]
        {
            if side.is_empty() {
                return Err(Error::Usage(
                    codes::BAD_PORT,
                    format!("module {}: has no {what}, so there is nothing to compare", self.top),
                ));
            }
        }
        Ok(ports)
    }

    /// The resets: the one that was named, else an input of one bit with a usual name, else one that registers wait for; then
    /// those of other clocks.
    fn resets(&self, ports: &Ports, wrapping: &Wrapping) -> Result<Vec<(String, bool)>, Error> {
        let mut all: Vec<(String, bool)> = self.reset(ports)?.into_iter().collect();
        let has_several = !wrapping.clocks.is_empty();
        for reset in &wrapping.resets {
            let is_known = all.iter().any(|(name, _)| *name == reset.0);
            if !is_known && reset.0 != wrapping.clock && (has_several || all.is_empty()) {
                all.push(reset.clone());
            }
        }
        Ok(all)
    }

    /// The named reset, otherwise a 1-bit input with a default name.
    fn reset(&self, ports: &Ports) -> Result<Option<(String, bool)>, Error> {
        let is_input =
            |name: &str| ports.inputs.iter().any(|port| port.name == name && port.width == 1);
        if let Some(reset) = &self.reset {
            if !is_input(&reset.port) {
                let message =
                    format!("--reset: module {} has no 1-bit input {}", self.top, reset.port);
                return Err(Error::Usage(codes::BAD_PORT, message));
            }
            return Ok(Some((reset.port.clone(), reset.level())));
        }
        let named = |usual: &str| {
            let mut names = ports.inputs.iter().map(|port| port.name.as_str());
            names.find(|name| name.eq_ignore_ascii_case(usual) && is_input(name))
        };
        let usual = Reset::USUAL.into_iter().find_map(named);
        let usual = usual.map(|name| Reset { port: name.to_owned(), is_high: None });
        Ok(usual.map(|reset| (reset.port.clone(), reset.level())))
    }

    /// The texts of all files but the RTL.
    fn render(&self, rendered: &Rendered<'_>) -> Result<Vec<(&'static str, String)>, Error> {
        let Rendered { examined, copies, ports, resets, wrapping, wrapper, description, channels } =
            rendered;
        let templates = templates();
        let texts = |ports: &[Port]| ports.iter().map(PortText::new).collect::<Vec<_>>();
        let inputs = texts(&ports.inputs);
        let reset_texts: Vec<ResetText> = resets
            .iter()
            .filter_map(|(name, is_high)| {
                let name = Word::new(name);
                let port = inputs.iter().find(|port| port.name == name)?.clone();
                let level = u8::from(*is_high);
                Some(ResetText { name: port.name, field: port.field, level, idle: 1 - level })
            })
            .collect();
        let clock = |clock: &String| {
            let name = Word::new(clock);
            inputs.iter().find(|port| port.name == name).cloned()
        };
        let clocks: Vec<PortText> = wrapping.clocks.iter().filter_map(clock).collect();
        let is_reset = |port: &PortText| reset_texts.iter().any(|reset| reset.name == port.name);
        let is_clock = |port: &PortText| clocks.iter().any(|clock| clock.name == port.name);
        let is_data = |port: &&PortText| !is_reset(port) && !is_clock(port);
        let data: Vec<&PortText> = inputs.iter().filter(is_data).collect();
        let bits: u32 = data.iter().map(|port| port.width).sum();
        let exhaustive = wrapping.is_combinational && resets.is_empty() && bits <= MOST_BITS;
        let vectors = bits.min(BITS_OF_CASE);
        let types = Types::of(ports, wrapping);
        let type_name = Ident::camel(&self.name.type_name());
        let mut scopes = ChannelScopes { fields: Scope::default(), types: Scope::of_types() };
        scopes.types.unique(type_name.clone());
        let channel_texts: Vec<ChannelText> = channels
            .iter()
            .flat_map(|channels| &channels.channels)
            .map(|channel| ChannelText::new(channel, &wrapping.clocks, &mut scopes))
            .collect();
        let no_channels = Channels::default();
        let others = channels.unwrap_or(&no_channels);
        let of_side = |is_source: bool| {
            let of_side =
                channel_texts.iter().filter(move |channel| channel.is_source == is_source);
            of_side.cloned().collect::<Vec<_>>()
        };
        let channel_outputs: Vec<Word> = ports
            .outputs
            .iter()
            .filter(|port| !others.other_outputs.contains(port))
            .map(|port| Word::new(&port.name))
            .collect();
        let numbers: Vec<_> =
            self.parameters.iter().filter(|given| is_number(given, description)).collect();
        let block_parameters = numbers.iter().filter_map(|given| {
            let values = given.numbers()?;
            let (least, most) = (*values.iter().min()?, *values.iter().max()?);
            Some(ParameterText { name: Text::new(&given.name), default: values[0], least, most })
        });
        let has_types = !types.structs.is_empty() || !types.enums.is_empty();
        let identifier = Ident::field(&self.name.identifier());
        let context = Context {
            name: self.name.clone(),
            library: identifier.clone(),
            block: identifier,
            type_name,
            top: Word::new(&self.top),
            clock: Word::new(&ports.clock),
            version: Text::new(env!("CARGO_PKG_VERSION")),
            folder: (!copies.folder.as_os_str().is_empty())
                .then(|| Text::new(&copies.searched("rtl").to_string_lossy())),
            sources: copies.sources.iter().map(|name| Text::new(&name.to_string_lossy())).collect(),
            defines: examined.design.defines.iter().map(|define| Text::new(define)).collect(),
            wrapper: wrapper.map(|wrapper| Text::new(&wrapper.to_string_lossy())),
            parameters: description.parameters.iter().map(|own| Text::new(&own.name)).collect(),
            block_parameters: block_parameters.collect(),
            profiles: self.profiles(&numbers),
            outputs: texts(&ports.outputs),
            reset: reset_texts.first().cloned(),
            combinational: wrapping.is_combinational,
            exhaustive,
            bits,
            cases: if exhaustive { 1_u64 << (bits - vectors) } else { 0 },
            vectors: 1_u64 << vectors,
            first_bits: bits.max(1),
            axi_lite: axi_lite(*channels, &wrapping.clocks).map(|prefix| Word::new(&prefix)),
            source_channels: of_side(true),
            sink_channels: of_side(false),
            channel_outputs,
            other_inputs: texts(&others.other_inputs),
            other_outputs: texts(&others.other_outputs),
            structs: types.structs,
            enums: types.enums,
            fields: types.fields,
            meanings: types.meanings,
            wide: data.iter().any(|port| port.words),
            narrow: data.iter().any(|port| !port.words),
            resets: reset_texts,
            clocks,
            channels: channel_texts,
            inputs,
        };
        let mut files = TEMPLATES.to_vec();
        if channels.is_some() {
            let is_replaced = |name: &str| OF_CHANNELS.iter().any(|(other, _)| *other == name);
            files.retain(|(name, _)| !OF_PINS.contains(name) && !is_replaced(name));
            let is_needed =
                |name: &str| name != "src/golden.rs" || !others.other_outputs.is_empty();
            files.extend(OF_CHANNELS.iter().filter(|(name, _)| is_needed(name)));
            if axi_lite(*channels, &wrapping.clocks).is_some() {
                files.retain(|(name, _)| *name != OF_AXI_LITE.0);
                files.push(OF_AXI_LITE);
            }
        }
        files.push(VECTORS);
        if has_types {
            files.push(TYPES);
        }
        let render = |(name, template): (&'static str, &str)| {
            let text = templates.render_named_str(name, template, &context);
            let text = text.map_err(|error| {
                Error::Environment(codes::INTERNAL, format!("{name}: {error:#}"))
            })?;
            Ok((name, text))
        };
        files.into_iter().map(render).collect()
    }

    /// The profiles: one for each combination of values, called after those that differ.
    fn profiles(&self, numbers: &[&GivenParameter]) -> Vec<ProfileText> {
        let mut all = vec![(String::new(), Vec::new())];
        for (index, given) in numbers.iter().enumerate() {
            let values = given.numbers().unwrap_or_default();
            let is_varied = values.len() > 1;
            let extend = |(name, set): &(String, Vec<(Text, u64, usize)>)| {
                let with = |value: &u64| {
                    let (mut name, mut set) = (name.clone(), set.clone());
                    if is_varied {
                        let separator = if name.is_empty() { "" } else { "-" };
                        let of = given.name.to_ascii_lowercase().replace('_', "-");
                        name = format!("{name}{separator}{of}-{value}");
                    }
                    set.push((Text::new(&given.name), *value, index));
                    (name, set)
                };
                values.iter().map(with).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(extend).collect();
        }
        let text = |(name, values): (String, Vec<(Text, u64, usize)>)| {
            let name = if name.is_empty() { "spec" } else { &name };
            ProfileText { name: Text::new(name), values }
        };
        all.into_iter().map(text).collect()
    }
}

/// Formats the sources as the user's toolchain does, if it can: what they hold decides where lines break.
fn format(made: &Path) {
    for file in ["build.rs", "src/lib.rs"] {
        let mut command = Command::new("rustfmt");
        command.args(["--quiet", "--edition", "2024"]).arg(made.join(file));
        let _ = verilated_build::messages(command);
    }
}

/// Whether a parameter is one that the build script can set.
fn is_number(given: &GivenParameter, description: &ModuleDescription) -> bool {
    let is_own = description.parameters.iter().any(|own| own.name == given.name && own.is_number);
    is_own && given.numbers().is_some()
}

/// The most profiles of a new crate.
const MOST_PROFILES: usize = 64;
/// The most input bits of a block without registers that is compared for every value of them.
const MOST_BITS: u32 = 24;
/// The bits whose values one case drives.
const BITS_OF_CASE: u32 = 12;

/// A reset, for templates.
#[derive(Debug, Clone, Serialize)]
struct ResetText {
    name: Word,
    field: Ident,
    level: u8,
    idle: u8,
}

/// A profile, for templates.
#[derive(Debug, Clone, Serialize)]
struct ProfileText {
    name: Text,
    /// Name, value and index of each parameter.
    values: Vec<(Text, u64, usize)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_names_can_a_crate_have() {
        for good in ["arbiter", "my-block", "my_block", "b2", "fifo-v2"] {
            assert!(good.parse::<CrateName>().is_ok(), "{good}");
        }
        let long = "a".repeat(65);
        for bad in [
            "",
            "-a",
            "a-",
            "a--b",
            "a_-b",
            "2b",
            "_a",
            "Arbiter",
            "a b",
            "a/b",
            "..",
            "a.b",
            "é",
            "fn",
            "test",
            "std",
            "cosim-core",
            "cosim_core",
            "serde",
            &long,
        ] {
            assert!(bad.parse::<CrateName>().is_err(), "{bad}");
        }
        let name: CrateName = "my-block_2".parse().unwrap();
        assert_eq!(name.identifier(), "my_block_2");
        assert_eq!(name.type_name(), "MyBlock2Block");
        for (name, expected) in [("wide-block", "WideBlock"), ("block", "BlockBlock")] {
            assert_eq!(name.parse::<CrateName>().unwrap().type_name(), expected);
        }
    }

    #[test]
    fn resets_of_several_clocks_are_found_by_their_names() {
        for name in
            ["rst", "wrst_n", "rst_wr_ni", "arstn", "nRST", "read_rst", "rst_n1", "s_axi_aresetn"]
        {
            assert!(is_reset_name(name), "{name}");
        }
        for name in ["first", "instr_first_cycle_i", "burst", "worst", "restart", "prestart"] {
            assert!(!is_reset_name(name), "{name}");
        }
    }

    #[test]
    fn ports_of_a_declaration_with_an_interface() {
        let ports = |text: &str| -> Vec<String> {
            declared_ports(text).into_iter().map(|(name, range)| name + &range).collect()
        };
        assert_eq!(ports("bus.s a, b, bus2.s c[2], output q);"), ["a", "b"]);
        assert_eq!(ports("bus2 . s c [2][N], bus z);"), ["c[2][N]"]);
        assert_eq!(ports("bus a,\n  logic [7:0] d);"), ["a"]);
        assert_eq!(ports("bus.s a; output q;"), ["a"]);
    }

    #[test]
    fn parameters_have_one_value_or_several_numbers() {
        let given = |text: &str| text.parse::<GivenParameter>();
        assert_eq!(given("N=4,0x10").unwrap_err(), "several values must be numbers, as in N=4,8");
        assert_eq!(given("N=4,8'h10").unwrap().numbers(), Some(vec![4, 16]));
        assert_eq!(given("b.T=logic [7:0]").unwrap().values, ["logic [7:0]"]);
        for bad in ["N", "=4", "N=", "N=4,", "a-b=1"] {
            assert!(given(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_reset_is_low_if_its_name_says_so_or_the_user() {
        for (text, level) in [
            ("rst", true),
            ("rst_n", false),
            ("aresetn", false),
            ("rst_ni", false),
            ("reset_in", true),
            ("rst_main", true),
            ("RST_N", false),
            ("ARESETN", false),
            ("Reset_L", false),
            ("nRST", false),
            ("i_rst_n", false),
            ("i_rst", true),
            ("RST", true),
            ("rst_n=1", true),
            ("rst=0", false),
        ] {
            assert_eq!(text.parse::<Reset>().unwrap().level(), level, "{text}");
        }
        assert!("rst=2".parse::<Reset>().is_err());
    }
}
