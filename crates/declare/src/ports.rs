//! The ports of the RTL, and how a declaration uses them.

use crate::parse::{Bit, Channel, Declaration, Kind, Pins, Place, known_words};
use proc_macro2::Span;
use std::path::{Path, PathBuf};
use std::{env, fs};
use syn::{Error, Ident, LitStr};

#[derive(Debug)]
pub struct Port {
    name: String,
    width: u32,
    /// The bits that the declaration drives or reads.
    used: Vec<bool>,
    /// Whether its name is one that an agent may look for.
    is_of_agent: bool,
}

impl Port {
    /// Whether a name in Rust is that of the port. A `_` follows a keyword.
    fn has_name(&self, name: &str) -> bool {
        let name = name.strip_prefix("r#").unwrap_or(name);
        name.strip_suffix('_') == Some(&self.name) || name == self.name
    }
}

#[derive(Debug, Default)]
pub struct Ports {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

/// Some bits of a port in a declaration.
struct Bits<'a> {
    port: &'a Ident,
    lsb: Option<u32>,
    width: u32,
    /// Where the width is written.
    span: Span,
}

impl Pins {
    pub fn file(&self) -> PathBuf {
        match self {
            Self::Block(block) => {
                let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
                out.join("cosim").join(block.value()).join("ports")
            }
            Self::Given { file, .. } => {
                let folder = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
                folder.unwrap_or_default().join(file.value())
            }
        }
    }

    fn span(&self) -> Span {
        match self {
            Self::Block(block) => block.span(),
            Self::Given { file, .. } => file.span(),
        }
    }

    /// Reads the ports.
    ///
    /// # Errors
    /// At the name of the block, if the build script does not build it.
    pub fn ports(&self) -> syn::Result<Ports> {
        let file = self.file();
        let Ok(text) = fs::read_to_string(&file) else {
            return Err(Error::new(self.span(), self.missing(&file)));
        };
        let mut ports = Ports::default();
        for line in text.lines() {
            let mut words = line.split(' ');
            if let (Some(side), Some(width), Some(name)) =
                (words.next(), words.next().and_then(|width| width.parse().ok()), words.next())
            {
                let used = vec![false; width as usize];
                let port = Port { name: name.to_owned(), width, used, is_of_agent: false };
                if side == "input" { &mut ports.inputs } else { &mut ports.outputs }.push(port);
            }
        }
        Ok(ports)
    }

    fn missing(&self, file: &Path) -> String {
        let block = match self {
            Self::Block(block) => block,
            Self::Given { file, .. } => return format!("the file {} cannot be read", file.value()),
        };
        let folder = file.parent().and_then(Path::parent).unwrap_or(file);
        let blocks = fs::read_dir(folder).into_iter().flatten().flatten();
        let blocks: Vec<String> =
            blocks.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        let hint = known_words(&block.value(), blocks.iter().map(String::as_str));
        format!("build.rs builds no block `{}`; {hint}", block.value())
    }
}

/// Checks a declaration against the ports. Adds the errors to it.
pub fn check(declaration: &mut Declaration, mut ports: Ports) {
    let mut errors = Vec::new();
    declaration.all_outputs = ports.outputs.iter().map(|port| port.name.clone()).collect();
    let mut check = Checks { ports: &mut ports, errors: &mut errors };
    for (pin, what) in declaration.clocks.iter().map(|pin| (pin, "clock")) {
        check.input(&Bits { port: pin, lsb: None, width: 1, span: pin.span() }, what);
    }
    for (pin, _) in &declaration.resets {
        check.input(&Bits { port: pin, lsb: None, width: 1, span: pin.span() }, "reset");
    }
    for (pin, value) in &declaration.ties {
        let width = check.ports.width(pin);
        let fits = |value: u64| width >= u64::BITS || value >> width == 0;
        if !value.base10_parse().is_ok_and(fits) {
            let message = format!("{value} does not fit into the {width} bits of `{pin}`");
            check.error(value.span(), message);
        }
        check.input(&Bits { port: pin, lsb: None, width, span: pin.span() }, "tie");
    }
    for (pin, width, span) in &declaration.varied {
        check.input(&Bits { port: pin, lsb: None, width: *width, span: *span }, "vary");
    }
    let mut is_open = false;
    for member in &declaration.members {
        match &member.kind {
            Kind::Channel(channel) => check.channel(channel),
            Kind::Agent(agent) => match &agent.place {
                Place::Port(port) => check.agent_port(port),
                Place::Pattern(pattern) => check.pattern(pattern),
                Place::Value(_) => is_open = true,
            },
        }
    }
    for pin in declaration.outputs.iter().flatten() {
        let width = check.ports.width(pin);
        check.output(&Bits { port: pin, lsb: None, width, span: pin.span() }, "outputs");
    }
    // What an agent with ports of its own drives is known to the agent alone.
    let place = declaration.pins.as_ref().map_or_else(Span::call_site, Pins::span);
    if !is_open && errors.is_empty() {
        errors.extend(undriven(&ports.inputs, place));
        if declaration.outputs.is_some() {
            let is_other = |port: &&Port| !port.is_of_agent && !port.used.contains(&true);
            let others: Vec<&Port> = ports.outputs.iter().filter(is_other).collect();
            if let Some(message) = unlisted(&others) {
                errors.push(Error::new(place, message));
            }
        }
    }
    declaration.errors.append(&mut errors);
}

fn undriven(inputs: &[Port], place: Span) -> Option<Error> {
    let missing = inputs.iter().filter_map(|port| {
        let open = port.used.iter().filter(|used| !**used).count();
        match open {
            0 => None,
            _ if port.is_of_agent => None,
            _ if open == port.used.len() => Some(format!("`{}[{open}]`", port.name)),
            _ => Some(format!("{open} bits of `{}`", port.name)),
        }
    });
    let missing: Vec<String> = missing.collect();
    let names = missing.join(", ");
    (!missing.is_empty()).then(|| {
        let message = format!(
            "nothing drives {names}: add a channel, an agent, `vary PIN[WIDTH];` or `tie PIN = 0;`"
        );
        Error::new(place, message)
    })
}

fn unlisted(others: &[&Port]) -> Option<String> {
    let names: Vec<String> = others.iter().map(|port| format!("`{}`", port.name)).collect();
    let names = names.join(", ");
    (!others.is_empty()).then(|| format!("`outputs` lacks {names}, which no channel has either"))
}

impl Ports {
    fn width(&self, pin: &Ident) -> u32 {
        let name = pin.to_string();
        let mut all = self.inputs.iter().chain(&self.outputs);
        all.find(|port| port.has_name(&name)).map_or(1, |port| port.width)
    }
}

struct Checks<'a> {
    ports: &'a mut Ports,
    errors: &'a mut Vec<Error>,
}

impl Checks<'_> {
    fn error(&mut self, span: Span, message: String) {
        self.errors.push(Error::new(span, message));
    }

    fn input(&mut self, bits: &Bits<'_>, what: &str) {
        self.uses(bits, what, true);
    }

    fn output(&mut self, bits: &Bits<'_>, what: &str) {
        self.uses(bits, what, false);
    }

    /// Notes the use of bits of a port by `what`.
    fn uses(&mut self, bits: &Bits<'_>, what: &str, is_input: bool) {
        let name = bits.port.to_string();
        let (own, other) = match is_input {
            true => (&mut self.ports.inputs, &self.ports.outputs),
            false => (&mut self.ports.outputs, &self.ports.inputs),
        };
        let [side, opposite] = if is_input { ["input", "output"] } else { ["output", "input"] };
        let Some(port) = own.iter_mut().find(|port| port.has_name(&name)) else {
            let message = match other.iter().any(|port| port.has_name(&name)) {
                true => format!("`{name}` is an {opposite}; {what} needs an {side}"),
                false => {
                    let all = own.iter().map(|port| port.name.as_str());
                    format!("the RTL has no {side} `{name}`; {}", known_words(&name, all))
                }
            };
            return self.error(bits.port.span(), message);
        };
        let (lsb, end) = (bits.lsb.unwrap_or(0), bits.lsb.unwrap_or(0) + bits.width);
        if bits.lsb.is_none() && bits.width != port.width || end > port.width {
            let plural = if port.width == 1 { "" } else { "s" };
            let has = format!("`{name}` has {} bit{plural}", port.width);
            let message = match bits.lsb {
                None => format!("{has}, not {}", bits.width),
                Some(_) => format!("{has}; there is no bit {}", end - 1),
            };
            return self.error(bits.span, message);
        }
        let used = &mut port.used[lsb as usize..end as usize];
        // Two sinks may show the same output.
        if is_input && used.iter().any(|used| *used) {
            let message = format!("`{name}` is driven twice; each bit of an input has one driver");
            return self.error(bits.port.span(), message);
        }
        used.fill(true);
    }

    /// Notes the pins of a channel; one error is enough, such as a wrong number of lanes.
    fn channel(&mut self, channel: &Channel) {
        let Channel { is_source, lanes, .. } = *channel;
        let before = self.errors.len();
        let handshake = |bit: &Bit| (bit.pin.clone(), bit.bit);
        let valid = handshake(&channel.valid);
        self.uses(
            &Bits { port: &valid.0, lsb: valid.1, width: lanes, span: valid.0.span() },
            if is_source { "the valid of a source" } else { "the valid of a sink" },
            is_source,
        );
        if let Some((port, lsb)) = channel.ready.as_ref().map(handshake) {
            self.uses(
                &Bits { port: &port, lsb, width: lanes, span: port.span() },
                if is_source { "the ready of a source" } else { "the ready of a sink" },
                !is_source,
            );
        }
        for field in &channel.fields {
            if field.has_list && field.pins.len() != lanes as usize {
                let message = format!(
                    "`{}` has {} ports, and the channel {lanes} lanes",
                    field.name,
                    field.pins.len()
                );
                self.error(field.name.span(), message);
            }
            let width = if field.has_list { field.width } else { field.width * lanes };
            for port in &field.pins {
                let what = if is_source { "a field of a source" } else { "a field of a sink" };
                let bits = Bits { port, lsb: field.lsb, width, span: field.bits };
                self.uses(&bits, what, is_source);
            }
        }
        self.errors.truncate(before + 1);
    }

    /// An agent of one port drives it, or reads it.
    fn agent_port(&mut self, port: &Ident) {
        let name = port.to_string();
        let is_output = self.ports.outputs.iter().any(|port| port.has_name(&name));
        let width = self.ports.width(port);
        let bits = Bits { port, lsb: None, width, span: port.span() };
        self.uses(&bits, "the agent", !is_output);
    }

    /// The ports with a pattern around their names belong to an agent.
    fn pattern(&mut self, pattern: &LitStr) {
        let text = pattern.value();
        let (before, behind) = text.split_once('*').unwrap_or((&text, ""));
        let plain = |text: &str| text.to_ascii_lowercase().replace('_', "");
        let (before, behind) = (plain(before), plain(behind));
        let is_of = |port: &Port| {
            // A direction before or behind the name says nothing.
            let name = port.name.to_ascii_lowercase();
            let begin = name.strip_prefix("i_").or(name.strip_prefix("o_")).unwrap_or(&name);
            let end = begin.strip_suffix("_i").or(begin.strip_suffix("_o")).unwrap_or(begin);
            let all = [name.as_str(), begin, end].map(plain);
            all.iter().any(|name| name.starts_with(&before) && name.ends_with(&behind))
        };
        let all = self.ports.inputs.iter_mut().chain(&mut self.ports.outputs);
        if all.filter(|port| is_of(port)).map(|port| port.is_of_agent = true).count() == 0 {
            self.error(
                pattern.span(),
                format!("the RTL has no port with `{text}` around its name"),
            );
        }
    }
}
