//! The files of a new crate, from templates. They see the fields of [`Context`] only.

use super::agent_texts::Agents;
use super::types::{EnumText, StructText, Types};
use super::{CrateName, GivenParameter, Skeleton};
use crate::agents::Interfaces;
use crate::channels::{Channel, Channels, Handshake};
use crate::names::{Ident, Scope, Text, Word};
use crate::wrapper::Wrapping;
use cosim_base::error::{Error, codes};
use cosim_rtl::models::{Copies, Examined};
use minijinja::value::ValueKind;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, escape_formatter};
use serde::Serialize;
use std::path::Path;
use verilated_build::module::ModuleDescription;
use verilated_build::{Port, Ports};

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

#[derive(Debug, Clone, Serialize)]
struct ChannelText {
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

#[derive(Debug, Clone, Serialize)]
struct FieldText {
    name: Ident,
    pin: Ident,
    /// Its bits in the pin: a width, or `msb:lsb`.
    bits: Word,
}

#[derive(Debug, Clone, Serialize)]
struct HandshakeText {
    field: Ident,
    is_inverted: bool,
    bit: Option<u32>,
}

/// The fields of a channel's payload. A port that is a packed struct gives its fields.
fn payload(channel: &Channel, types: &Types) -> Vec<FieldText> {
    let mut names = Scope::default();
    let mut all = Vec::new();
    for (name, port) in &channel.payload {
        let pin = Ident::field(&port.name);
        let mut push = |name: &str, bits| {
            all.push(FieldText { name: names.unique(Ident::field(name)), pin: pin.clone(), bits });
        };
        match (channel.part(port), types.fields_of(port)) {
            (Some((msb, lsb)), _) => push(name, Word::range(msb, lsb)),
            (None, Some(fields)) => fields.iter().for_each(|(field, msb, lsb)| {
                let is_alone = channel.payload.len() == 1;
                push(&field.member(name, is_alone), Word::range(*msb, *lsb));
            }),
            (None, None) => push(name, Word::new(&port.width.to_string())),
        }
    }
    all
}

/// The clock of an interface or a channel of a module with several: the one whose name has most
/// words in common, else the one that looks like that of a writer or a reader.
pub(super) fn clock_of(name: &str, is_received: bool, clocks: &[String]) -> Option<Ident> {
    let name = name.to_ascii_lowercase();
    let common = |clock: &String| {
        let clock = clock.to_ascii_lowercase();
        let parts = clock.split('_').map(|part| {
            let stem = ["aclk", "clock", "clk"]
                .iter()
                .find_map(|word| part.strip_suffix(word).or_else(|| part.strip_prefix(word)));
            stem.unwrap_or(part)
        });
        parts.filter(|part| !part.is_empty() && name.split('_').any(|own| own == *part)).count()
    };
    let most = clocks.iter().map(common).max().filter(|most| *most > 0);
    let mut named = clocks.iter().filter(|clock| Some(common(clock)) == most);
    let named = named.next().filter(|_| named.next().is_none());
    // The writer's clock is often the one with a w, or the first.
    let letters = if is_received { ["w", "s", "i", "i"] } else { ["r", "d", "m", "o"] };
    let begins = |clock: &&String| {
        let clock = clock.to_ascii_lowercase();
        letters.iter().any(|letter| clock.starts_with(letter))
    };
    let by_place = if is_received { clocks.first() } else { clocks.last() };
    let found = named.or_else(|| clocks.iter().find(begins)).or(by_place);
    found.map(|clock| Ident::field(clock))
}

/// The identifiers of channels and of their types.
struct ChannelScopes {
    fields: Scope,
    types: Scope,
}

impl ChannelText {
    fn new(
        channel: &Channel,
        clocks: &[String],
        types: &Types,
        scopes: &mut ChannelScopes,
    ) -> Self {
        let pin = |handshake: &Handshake| HandshakeText {
            field: Ident::field(&handshake.port),
            is_inverted: handshake.is_inverted,
            bit: channel.bit(),
        };
        Self {
            field: scopes.fields.unique(Ident::field(&channel.name)),
            type_name: scopes.types.unique(Ident::item(&channel.name)),
            is_source: channel.is_source,
            payload: payload(channel, types),
            pins: [Some(&channel.valid), channel.ready.as_ref()]
                .into_iter()
                .flatten()
                .map(pin)
                .collect(),
            clock: clock_of(&channel.name, channel.is_source, clocks),
        }
    }
}

#[derive(Debug, Serialize)]
struct ParameterText {
    name: Text,
    field: Word,
    default: u64,
    least: u64,
    most: u64,
}

/// Everything that templates see. A text of the RTL, of a path or of the command line is a
/// [`Word`], an [`Ident`] or a [`Text`] here, and never a string.
#[derive(Debug, Serialize)]
struct Context {
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
    verilator_options: Vec<Text>,
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
    agents: Option<Agents>,
    /// Whether agents or channels drive the pins.
    transactions: bool,
    channels: Vec<ChannelText>,
    source_channels: Vec<ChannelText>,
    sink_channels: Vec<ChannelText>,
    channel_outputs: Vec<Word>,
    /// Inputs of no channel: those with a fixed value, and the others.
    held: Vec<(PortText, u64)>,
    varied: Vec<PortText>,
    other_outputs: Vec<PortText>,
    structs: Vec<StructText>,
    enums: Vec<EnumText>,
    fields: Vec<(Word, Ident)>,
    meanings: Vec<(Word, Ident)>,
    /// Whether a data input is stored in words, and whether one is not.
    wide: bool,
    narrow: bool,
}

pub fn templates() -> Environment<'static> {
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
    (".gitignore", include_str!("../../templates/gitignore.j2")),
    ("Cargo.toml", include_str!("../../templates/Cargo.toml.j2")),
    ("README.md", include_str!("../../templates/README.md.j2")),
    ("build.rs", include_str!("../../templates/build.rs.j2")),
    ("src/environment.rs", include_str!("../../templates/src/environment.rs.j2")),
    ("src/golden.rs", include_str!("../../templates/src/golden.rs.j2")),
    ("src/lib.rs", include_str!("../../templates/src/lib.rs.j2")),
    ("src/main.rs", include_str!("../../templates/src/main.rs.j2")),
    ("src/scenarios.rs", include_str!("../../templates/src/scenarios.rs.j2")),
    ("src/scenarios.toml", include_str!("../../templates/src/scenarios.toml.j2")),
    ("src/scoreboard.rs", include_str!("../../templates/src/scoreboard.rs.j2")),
    ("src/stimulus.rs", include_str!("../../templates/src/stimulus.rs.j2")),
];

/// As above, if ports have structs or enums as types.
pub const TYPES: (&str, &str) = ("src/types.rs", include_str!("../../templates/src/types.rs.j2"));

/// The templates of a module with channels, in the place of those for pins.
const OF_CHANNELS: [(&str, &str); 2] = [
    ("src/golden.rs", include_str!("../../templates/channels/golden.rs.j2")),
    ("src/scoreboard.rs", include_str!("../../templates/channels/scoreboard.rs.j2")),
];

const OF_AGENTS: (&str, &str) =
    ("src/scoreboard.rs", include_str!("../../templates/agents/scoreboard.rs.j2"));
/// The templates that a module with channels does not need.
const OF_PINS: [&str; 5] = [
    "src/environment.rs",
    "src/golden.rs",
    "src/scenarios.rs",
    "src/scenarios.toml",
    "src/stimulus.rs",
];

const VECTORS: (&str, &str) =
    ("vectors/README.md", include_str!("../../templates/vectors/README.md.j2"));

/// What the texts of a crate are made of.
pub struct Rendered<'a> {
    pub examined: &'a Examined,
    pub copies: &'a Copies,
    pub ports: &'a Ports,
    pub resets: &'a [(String, bool)],
    pub wrapping: &'a Wrapping,
    pub wrapper: Option<&'a Path>,
    pub description: &'a ModuleDescription,
    pub interfaces: &'a Interfaces,
    pub channels: Option<&'a Channels>,
}

#[derive(Debug, Clone, Serialize)]
struct ResetText {
    name: Word,
    field: Ident,
    level: u8,
    idle: u8,
}

#[derive(Debug, Clone, Serialize)]
struct ProfileText {
    name: Text,
    /// Name, value and index of each parameter, and the name as a word.
    values: Vec<(Text, u64, usize, Word)>,
}

/// Whether a parameter is one that the build script can set.
fn is_number(given: &GivenParameter, description: &ModuleDescription) -> bool {
    let is_own = description.parameters.iter().any(|own| own.name == given.name && own.is_number);
    is_own && given.numbers().is_some()
}

/// The most input bits of a block without registers that is compared for every value of them.
const MOST_BITS: u32 = 24;

/// The bits whose values one case drives.
const BITS_OF_CASE: u32 = 12;

impl Skeleton {
    /// The texts of all files but the RTL.
    pub(super) fn render(
        &self,
        rendered: &Rendered<'_>,
    ) -> Result<Vec<(&'static str, String)>, Error> {
        let Rendered {
            examined,
            copies,
            ports,
            resets,
            wrapping,
            wrapper,
            description,
            interfaces,
            channels,
        } = rendered;
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
        let types = Types::from_ports(ports, wrapping);
        let type_name = Ident::camel(&self.name.type_name());
        let mut scopes = ChannelScopes { fields: Scope::for_channels(), types: Scope::default() };
        let channel_texts: Vec<ChannelText> = channels
            .iter()
            .flat_map(|channels| &channels.channels)
            .map(|channel| ChannelText::new(channel, &wrapping.clocks, &types, &mut scopes))
            .collect();
        let no_channels = Channels::default();
        let others = channels.unwrap_or(&no_channels);
        let of_side = |is_source: bool| {
            let of_side =
                channel_texts.iter().filter(move |channel| channel.is_source == is_source);
            of_side.cloned().collect::<Vec<_>>()
        };
        let agents = (!interfaces.interfaces.is_empty())
            .then(|| Agents::new(interfaces, &wrapping.clocks, &mut scopes.fields));
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
            let (name, field) = (Text::new(&given.name), Word::new(&given.name));
            Some(ParameterText { name, field, default: values[0], least, most })
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
            verilator_options: self
                .options
                .iter()
                .map(|option| Text::new(&option.to_string()))
                .collect(),
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
            agents,
            transactions: channels.is_some(),
            source_channels: of_side(true),
            sink_channels: of_side(false),
            channel_outputs,
            held: interfaces
                .held_inputs(others)
                .into_iter()
                .map(|(port, value)| (PortText::new(port), value))
                .collect(),
            varied: interfaces.varied(others).into_iter().map(PortText::new).collect(),
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
            if !interfaces.interfaces.is_empty() {
                files.retain(|(name, _)| *name != OF_AGENTS.0);
                files.push(OF_AGENTS);
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
            let extend = |(name, set): &(String, Vec<(Text, u64, usize, Word)>)| {
                let with = |value: &u64| {
                    let (mut name, mut set) = (name.clone(), set.clone());
                    if is_varied {
                        let separator = if name.is_empty() { "" } else { "-" };
                        let of = given.name.to_ascii_lowercase().replace('_', "-");
                        name = format!("{name}{separator}{of}-{value}");
                    }
                    set.push((Text::new(&given.name), *value, index, Word::new(&given.name)));
                    (name, set)
                };
                values.iter().map(with).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(extend).collect();
        }
        let text = |(name, values): (String, Vec<(Text, u64, usize, Word)>)| {
            let name = if name.is_empty() { "spec" } else { &name };
            ProfileText { name: Text::new(name), values }
        };
        all.into_iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::tests::random;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};
    use std::collections::BTreeSet;

    /// Words of which names are made: those of handshakes, of generated code and of Rust.
    const WORDS: &str = "valid ready vld rdy req ack gnt stb stall busy accept push pop wr_en rd_en full empty data wdata \
        rdata i o in out 0 1 2 option result vec string default some none ok err self Self type box dyn u8 str noise \
        clocks reset settings raw_cycles_per_packet longest_setting traffic weights coverage environment scoreboard \
        golden rtl types program block monitor item inputs outputs parameters profile Explain Push S_AXI tvalid \
        tdata aw w v";

    fn name(rng: &mut StdRng, words: &[&str]) -> String {
        if rng.random_bool(0.05) {
            return random(rng);
        }
        let word = |rng: &mut StdRng| words[rng.random_range(0..words.len())];
        (0..rng.random_range(1..4)).map(|_| word(rng)).collect::<Vec<_>>().join("_")
    }

    /// Which clock do an interface and a channel of a module with several get?
    #[test]
    fn interfaces_get_the_clock_with_their_name() {
        for (name, is_received, clocks, expected) in [
            ("s_axis", true, "m_axis_aclk s_axis_aclk", "s_axis_aclk"),
            ("m_axis", false, "s_axis_aclk m_axis_aclk", "m_axis_aclk"),
            ("s_axil", true, "clk s_axil_clk", "s_axil_clk"),
            ("m_apb", true, "s_axis_aclk m_axis_aclk", "m_axis_aclk"),
            ("axis", false, "s_axis_aclk m_axis_aclk", "m_axis_aclk"),
            ("cmd", true, "clk_rsp clk_cmd", "clk_cmd"),
            ("a", false, "clka clkb", "clka"),
            ("b", true, "clka clkb", "clkb"),
            ("w", true, "rclk wclk", "wclk"),
            ("data", true, "rclk wclk", "wclk"),
            ("data", false, "wclk rclk", "rclk"),
            ("x", true, "clk_1 clk_2", "clk_1"),
            ("x", false, "clk_1 clk_2", "clk_2"),
        ] {
            let clocks: Vec<String> = clocks.split(' ').map(str::to_owned).collect();
            let found = clock_of(name, is_received, &clocks);
            assert_eq!(found, Some(Ident::field(expected)), "{name} of {clocks:?}");
        }
        assert_eq!(clock_of("x", true, &[]), None);
    }

    #[test]
    fn generated_names_collide_for_no_ports() {
        let mut rng = StdRng::seed_from_u64(50);
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        let mut channels_seen = 0;
        for _ in 0..300 {
            let mut names = BTreeSet::new();
            let mut side = |rng: &mut StdRng| -> Vec<Port> {
                let count = rng.random_range(2..40);
                let names: Vec<String> = (0..count)
                    .map(|_| name(rng, &words))
                    .filter(|name| names.insert(Ident::field(name)))
                    .collect();
                let width = |rng: &mut StdRng| [1, 1, 1, 2, 4, 8, 512][rng.random_range(0..7)];
                names.into_iter().map(|name| Port { name, width: width(rng) }).collect()
            };
            let (inputs, outputs) = (side(&mut rng), side(&mut rng));
            let ports = Ports { inputs, outputs, ..Ports::default() };
            let channels = Channels::recognize(&ports, &[]);
            let types = Types::default();
            let mut scopes =
                ChannelScopes { fields: Scope::for_channels(), types: Scope::default() };
            let texts: Vec<ChannelText> = channels
                .channels
                .iter()
                .map(|channel| ChannelText::new(channel, &[], &types, &mut scopes))
                .collect();
            channels_seen += texts.len();
            let (mut fields, mut types) = (BTreeSet::new(), BTreeSet::new());
            // Each bit of each input is driven once.
            let mut driven: Vec<(Ident, Option<String>)> =
                channels.other_inputs.iter().map(|port| (Ident::field(&port.name), None)).collect();
            for (channel, text) in channels.channels.iter().zip(&texts) {
                assert!(fields.insert(text.field.clone()), "{ports:?}");
                assert!(types.insert(text.type_name.clone()), "{ports:?}");
                assert!(text.type_name.has_end("Item"), "{ports:?}");
                let of_item: BTreeSet<&Ident> =
                    text.payload.iter().map(|field| &field.name).collect();
                assert_eq!(of_item.len(), text.payload.len(), "{ports:?}");
                let bit = text.pins[0].bit.map(|bit| bit.to_string());
                let side = usize::from(!channel.is_source);
                driven.extend(text.pins.get(side).map(|pin| (pin.field.clone(), bit)));
                if channel.is_source {
                    let parts = text.payload.iter().zip(&channel.payload);
                    driven.extend(parts.map(|(field, (_, port))| {
                        let part = channel.part(port).map(|part| format!("{part:?}"));
                        (field.pin.clone(), part)
                    }));
                }
            }
            let unique: BTreeSet<_> = driven.iter().collect();
            assert_eq!(unique.len(), driven.len(), "{ports:?}: {driven:?}");
            let pins: BTreeSet<&Ident> = driven.iter().map(|(pin, _)| pin).collect();
            assert_eq!(pins.len(), ports.inputs.len(), "{ports:?}: {driven:?}");
        }
        assert!(channels_seen > 100, "{channels_seen}");
    }
}
