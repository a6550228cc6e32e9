//! Recognizes channels among the ports of a module by their names, for `cosim new`.
//!
//! Names are compared in lower case, with `_` between the words, and without a prefix or an ending
//! that only says the direction of the port.

use std::collections::BTreeSet;
use verilated_build::{Port, Ports};

/// Vectors of handshakes with more bits are no channels.
const MOST_LANES: u32 = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    pub name: String,
    /// Whether the environment offers items.
    pub is_source: bool,
    /// The handshake that offers an item.
    pub valid: Handshake,
    pub ready: Option<Handshake>,
    /// The ports of the payload, each with the name of its field.
    pub payload: Vec<(String, Port)>,
    /// The lane of a channel whose ports are shared by several, and their number.
    lane: Option<(u32, u32)>,
    /// Ports that belong to this lane alone.
    own: Vec<String>,
    /// The beginning or ending of its ports.
    stem: Stem,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    pub port: String,
    /// Whether a low pin means yes, as in `full`.
    pub is_inverted: bool,
}

impl Handshake {
    /// As the `channels!` macro writes it.
    pub fn text(&self) -> String {
        format!("{}{}", if self.is_inverted { "!" } else { "" }, self.port)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Channels {
    /// The channels, in the order of their names.
    pub channels: Vec<Channel>,
    pub other_inputs: Vec<Port>,
    pub other_outputs: Vec<Port>,
}

/// What the ports of a channel have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stem {
    /// The beginning, as in `req_valid`; empty if there is none.
    Begin(String),
    /// The end, as in `valid_req`.
    End(String),
}

/// What the names of a handshake say about the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing but its name.
    Plain,
    Write,
    Read,
}

/// Names of handshakes, without the name of the channel.
struct Words {
    kind: Kind,
    /// Names of the pin that offers an item. The driver of the data drives it.
    offers: &'static [&'static str],
    /// Whether they are low while there is an item.
    is_low_offer: bool,
    /// Names of the pin that takes the item.
    takes: &'static [&'static str],
    /// Whether they are low while the item is taken.
    is_low_take: bool,
}

impl Words {
    const fn new(offers: &'static [&'static str], takes: &'static [&'static str]) -> Self {
        Self { kind: Kind::Plain, offers, is_low_offer: false, takes, is_low_take: false }
    }

    const fn low_take(self) -> Self {
        Self { is_low_take: true, ..self }
    }

    const fn low_offer(self) -> Self {
        Self { is_low_offer: true, ..self }
    }

    const fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }
}

const PUSHES: &[&str] = &[
    "push", "winc", "wr_en", "w_en", "wen", "wren", "write_en", "we", "write", "wr", "wrreq", "enq",
];
const POPS: &[&str] =
    &["pop", "rinc", "rd_en", "r_en", "ren", "rden", "read_en", "re", "read", "rd", "rdreq", "deq"];

/// The handshakes, the surest first.
const HANDSHAKES: [Words; 13] = [
    Words::new(
        &["valid", "vld", "tvalid", "val", "v", "data_valid"],
        &["ready", "rdy", "tready", "accept", "ack", "yumi", "grant", "gnt", "taken"],
    ),
    Words::new(&["valid", "vld", "val"], &["stall", "busy", "wait", "hold", "full"]).low_take(),
    Words::new(&["stb", "strobe"], &["stall", "busy", "wait"]).low_take(),
    Words::new(
        &["req", "request"],
        &["gnt", "grant", "ack", "acknowledge", "ready", "rdy", "accept"],
    ),
    Words::new(&["stb", "strobe"], &["ack", "ready", "rdy"]),
    Words::new(&["src_rdy"], &["dst_rdy"]),
    Words::new(&["en"], &["rdy"]),
    Words::new(PUSHES, &["full", "wfull", "w_full", "wr_full", "fifo_full", "wrfull"])
        .low_take()
        .of_kind(Kind::Write),
    Words::new(PUSHES, &["full_n"]).of_kind(Kind::Write),
    Words::new(&["empty", "rempty", "r_empty", "rd_empty", "fifo_empty", "rdempty"], POPS)
        .low_offer()
        .of_kind(Kind::Read),
    Words::new(&["empty_n"], POPS).of_kind(Kind::Read),
    Words::new(&["valid", "vld"], POPS).of_kind(Kind::Read),
    Words::new(&["wr", "we", "write", "wr_en", "push", "start"], &["busy"]).low_take(),
];
/// Names of an offer that is taken in each cycle, if the channel has data.
const VALID_ALONE: [&str; 5] = ["valid", "vld", "tvalid", "dv", "strobe"];

/// Names of the data of a FIFO.
const WRITE_DATA: [&str; 10] = [
    "wdata",
    "data_in",
    "din",
    "push_data",
    "wr_data",
    "w_data",
    "write_data",
    "data",
    "d",
    "wr_din",
];
const READ_DATA: [&str; 10] = [
    "rdata",
    "data_out",
    "dout",
    "pop_data",
    "rd_data",
    "r_data",
    "read_data",
    "data",
    "q",
    "rd_dout",
];

/// A port with the form of its name that is compared.
struct Named<'a> {
    port: &'a Port,
    /// In lower case, with `_` between the words.
    whole: String,
    /// Without its direction.
    bare: String,
}

/// Lower case, with `_` where a capital letter begins a word.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    let mut before = '_';
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && before.is_ascii_lowercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
        before = letter;
    }
    snake
}

const DIRECTIONS: [[&str; 2]; 2] = [["i", "o"], ["in", "out"]];

/// Names of the ports of both sides. A word stands for the direction if only ports of that
/// direction have it: `i_ready` as an output belongs to a channel `i`.
fn named<'a>(sides: [&[&'a Port]; 2]) -> [Vec<Named<'a>>; 2] {
    let wholes =
        sides.map(|ports| -> Vec<String> { ports.iter().map(|port| snake(&port.name)).collect() });
    let has = |side: usize, affix: &dyn Fn(&str) -> bool| wholes[side].iter().any(|n| affix(n));
    let mut begins: Vec<[String; 2]> = Vec::new();
    let mut ends = begins.clone();
    for words in DIRECTIONS {
        let [begin, end] =
            [words.map(|word| format!("{word}_")), words.map(|word| format!("_{word}"))];
        let is_mixed = |affix: &dyn Fn(&str, usize) -> bool| {
            has(1, &|name| affix(name, 0)) || has(0, &|name| affix(name, 1))
        };
        // `in_data` is the data of the channel `in`.
        if words[0] == "i" && !is_mixed(&|name, side| name.starts_with(&begin[side])) {
            begins.push(begin);
        }
        if !is_mixed(&|name, side| name.ends_with(&end[side])) {
            ends.push(end);
        }
    }
    let bare = |whole: &str, side: usize| {
        // The direction is before the number of a lane, as in `data_i_0`.
        let name = whole.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let (whole, lane) = match name.strip_suffix('_') {
            Some(name) => (name, &whole[name.len()..]),
            None => (whole, ""),
        };
        let started = begins.iter().find_map(|begin| whole.strip_prefix(&begin[side]));
        let ended = ends.iter().find_map(|end| whole.strip_suffix(&end[side]));
        let bare = started.or(ended).filter(|bare| !bare.is_empty()).unwrap_or(whole);
        format!("{bare}{lane}")
    };
    let mut named = [0, 1].map(|side| {
        let names = sides[side].iter().zip(&wholes[side]);
        names
            .map(|(port, whole)| Named { port, whole: whole.clone(), bare: bare(whole, side) })
            .collect()
    });
    number_channels(&mut named);
    named
}

/// Gives each element of an array of channels a name of its own: `req_valid_0`, `req_ready_0` and
/// `req_data_0` are of the channel `req_0`.
fn number_channels(sides: &mut [Vec<Named<'_>>; 2]) {
    /// What is before a word and a number, and the number.
    fn before<'a>(named: &'a Named<'_>, word: &str) -> Option<(&'a str, u32)> {
        let (name, number) = lane_of(&named.bare).filter(|_| named.port.width == 1)?;
        let stem = name.strip_suffix(word)?;
        let stem = if stem.is_empty() { stem } else { stem.strip_suffix('_')? };
        Some((stem, number))
    }
    let mut found: BTreeSet<(String, u32)> = BTreeSet::new();
    for (from, to) in [(&sides[0], &sides[1]), (&sides[1], &sides[0])] {
        for words in &HANDSHAKES {
            let all = |side: &[Named<'_>], words: &[&str]| -> BTreeSet<(String, u32)> {
                let all = side.iter().flat_map(|named| words.iter().map(move |word| (named, word)));
                let all = all.filter_map(|(named, word)| before(named, word));
                all.map(|(stem, number)| (stem.to_owned(), number)).collect()
            };
            let (offers, takes) = (all(from, words.offers), all(to, words.takes));
            found.extend(offers.intersection(&takes).cloned());
        }
    }
    for named in sides.iter_mut().flatten() {
        let Some((name, number)) = lane_of(&named.bare) else { continue };
        let of = found.iter().rev().filter(|(_, of)| *of == number).find_map(|(stem, _)| {
            let rest =
                if stem.is_empty() { name } else { name.strip_prefix(stem)?.strip_prefix('_')? };
            Some((if stem.is_empty() { "lane" } else { stem.as_str() }, rest))
        });
        if let Some((stem, rest)) = of {
            named.bare = format!("{stem}_{number}_{rest}");
        }
    }
}

/// The fields of channels whose ports have a letter or two before the word, as in `awaddr`.
const FIELDS: [&str; 26] = [
    "addr", "atop", "be", "burst", "cache", "data", "dest", "err", "error", "id", "keep", "last",
    "len", "lock", "mask", "op", "prot", "qos", "region", "resp", "size", "strb", "tag", "user",
    "we", "write",
];

/// Whether the last word of a stem is a letter or two, as in `s_axi_aw`.
fn is_letter(stem: &str) -> bool {
    ["r", "w", "b", "ar", "aw", "t", "rd", "wr"].contains(&stem.rsplit('_').next().unwrap_or(stem))
}

/// The stem of a channel, if a port is the `word` of a handshake, as in `rsp_valid` or `valid_rsp`.
fn stem_of(name: &str, word: &str) -> Option<Stem> {
    if let Some(stem) = name.strip_suffix(word) {
        // In `s_axis_tvalid`, `t` belongs to the names of the pins.
        let stem = match stem.strip_suffix("_t").unwrap_or(stem) {
            "" | "t" => "",
            // `awvalid` has no underscore before the word.
            stem => match stem.strip_suffix('_') {
                Some(stem) => stem,
                None if word.len() < 3 => return None,
                None => stem,
            },
        };
        // `x_ap_vld` belongs to `x`.
        let stem = stem.strip_suffix("_ap").unwrap_or(stem);
        return Some(Stem::Begin(stem.to_owned()));
    }
    let stem = name.strip_prefix(word)?.strip_prefix('_')?;
    Some(Stem::End(stem.to_owned()))
}

impl Channels {
    /// Recognizes the channels of a module. `own` are inputs that the harness drives by itself:
    /// clocks and resets.
    pub fn recognize(ports: &Ports, own: &[&str]) -> Self {
        let is_free = |port: &&Port| !own.contains(&port.name.as_str());
        let inputs: Vec<&Port> = ports.inputs.iter().filter(is_free).collect();
        let outputs: Vec<&Port> = ports.outputs.iter().collect();
        let sides = named([&inputs, &outputs]);
        let mut taken = BTreeSet::new();
        let mut channels = Vec::new();
        for words in &HANDSHAKES {
            for offer in words.offers {
                for take in words.takes {
                    pairs(&sides, words, [offer, take], &mut taken, &mut channels);
                }
            }
        }
        // The longest names first: `s_axi_aw` before `s_axi`.
        channels.sort_by_key(|channel| std::cmp::Reverse(channel.stem.text().len()));
        for channel in &mut channels {
            channel.add_payload(&sides[usize::from(!channel.is_source)], &mut taken);
        }
        let has_data = [true, false].map(|is_source| {
            let is_it =
                |channel: &Channel| channel.is_source == is_source && channel.may_have_any_data();
            channels.iter().any(is_it)
        });
        for word in VALID_ALONE {
            for (side, is_source) in [(&sides[0], true), (&sides[1], false)] {
                for port in side.iter().filter(|named| named.port.width == 1) {
                    if taken.contains(&port.port.name) {
                        continue;
                    }
                    let Some(stem) = stem_of(&port.bare, word) else { continue };
                    let is_word = port.bare.strip_suffix(word).is_none_or(|rest| {
                        // `invalid` is no valid.
                        rest.is_empty() || rest.ends_with('_') || is_letter(rest)
                    });
                    let is_unnamed = stem.text().is_empty();
                    if !is_word || is_unnamed && has_data[usize::from(!is_source)] {
                        continue;
                    }
                    let mut channel = Channel::new(stem, Kind::Plain, is_source, pin(port, false));
                    taken.insert(port.port.name.clone());
                    channel.add_payload(side, &mut taken);
                    // Without data it may mean anything.
                    match channel.payload.is_empty() && !channel.may_have_any_data() {
                        true => drop(taken.remove(&port.port.name)),
                        false => channels.push(channel),
                    }
                }
            }
        }
        for (side, is_source) in [(&sides[0], true), (&sides[1], false)] {
            // A module with one channel in each direction often names its data without a prefix.
            let is_it = |channel: &&mut Channel| {
                channel.is_source == is_source && channel.may_have_any_data()
            };
            let mut of_side: Vec<&mut Channel> = channels.iter_mut().filter(is_it).collect();
            if let [channel] = of_side.as_mut_slice() {
                let is_data = |named: &&Named<'_>| {
                    !taken.contains(&named.port.name)
                        && (!is_source || held_value(named.port).is_none())
                        && channel.lane.is_none_or(|(_, lanes)| {
                            named.port.width.is_multiple_of(lanes) || lane_of(&named.bare).is_some()
                        })
                };
                for named in side.iter().filter(is_data) {
                    channel.payload.push((named.bare.clone(), named.port.clone()));
                }
                taken.extend(channel.payload.iter().map(|(_, port)| port.name.clone()));
            }
        }
        let is_empty = |channel: &Channel| channel.payload.is_empty() && channel.ready.is_none();
        for channel in channels.iter().filter(|channel| is_empty(channel)) {
            taken.remove(&channel.valid.port);
        }
        channels.retain(|channel| !is_empty(channel));
        let mut channels: Vec<Channel> = channels.into_iter().flat_map(Channel::lanes).collect();
        channels.sort_by(|left, right| {
            (!left.is_source, &left.name, left.lane).cmp(&(
                !right.is_source,
                &right.name,
                right.lane,
            ))
        });
        set_apart(&mut channels);
        let free = |ports: &[&Port]| -> Vec<Port> {
            let free = ports.iter().filter(|port| !taken.contains(&port.name));
            free.map(|port| (*port).clone()).collect()
        };
        let (other_inputs, other_outputs) = (free(&inputs), free(&outputs));
        Self { channels, other_inputs, other_outputs }
    }

    /// Inputs of no channel that a test bench holds by default, each with its value: an enable is
    /// on, and what stops or clears the block is off. The others vary.
    pub fn held_inputs(&self) -> Vec<(&Port, u64)> {
        let held = |port| self.held_at(port).map(|value| (port, value));
        self.other_inputs.iter().filter_map(held).collect()
    }

    /// The value at which an input of no channel is held. The environment does not drive a
    /// bidirectional port of the module: `pad_enable` beside `pad_in` and `pad_out` is off.
    fn held_at(&self, port: &Port) -> Option<u64> {
        let pad = port.name.strip_suffix("_enable");
        let has = |ports: &[Port], name: &str| ports.iter().any(|port| port.name == name);
        let is_of_pad = pad.is_some_and(|pad| {
            has(&self.other_inputs, &format!("{pad}_in"))
                && has(&self.other_outputs, &format!("{pad}_out"))
        });
        if is_of_pad { Some(0) } else { held_value(port) }
    }

    /// The other inputs of no channel.
    pub fn varied(&self) -> Vec<&Port> {
        self.other_inputs.iter().filter(|port| self.held_at(port).is_none()).collect()
    }

    /// Whether the module can be declared by its channels: the environment offers items on one. A
    /// module that only delivers items does so for its other inputs, or without end.
    pub fn is_usable(&self) -> bool {
        self.channels.iter().any(|channel| channel.is_source)
    }
}

/// Words for inputs that let the block run, and for those that stop or clear it.
const ENABLES: [&str; 10] =
    ["en", "ena", "enable", "enabled", "ce", "cke", "clken", "power", "vdd", "vcc"];
const DISABLES: [&str; 18] = [
    "flush", "clear", "clr", "abort", "cancel", "kill", "scan", "test", "testmode", "dft", "bist",
    "isolate", "sleep", "rst", "reset", "srst", "vss", "gnd",
];

/// The value at which an input of no channel is held, if it is.
fn held_value(port: &Port) -> Option<u64> {
    let name = snake(&port.name);
    let words: Vec<&str> = name.split('_').collect();
    let has = |all: &[&str]| words.iter().any(|word| all.contains(word));
    let is_low = ["n", "ni", "b"].iter().any(|end| words.last() == Some(end));
    let value = if has(&DISABLES) { false } else { has(&ENABLES) };
    let is_held = port.width == 1 && (has(&DISABLES) || has(&ENABLES));
    is_held.then_some(u64::from(value != is_low))
}

/// The name of a port without the lane at its end, and the lane.
fn lane_of(name: &str) -> Option<(&str, u32)> {
    let (name, lane) = name.rsplit_once('_')?;
    Some((name, lane.parse().ok()?))
}

fn pin(named: &Named<'_>, is_inverted: bool) -> Handshake {
    Handshake { port: named.port.name.clone(), is_inverted }
}

/// Finds the channels whose handshakes have these two names.
fn pairs(
    [inputs, outputs]: &[Vec<Named<'_>>; 2],
    words: &Words,
    [offer, take]: [&str; 2],
    taken: &mut BTreeSet<String>,
    channels: &mut Vec<Channel>,
) {
    for (from, to, is_source) in [(inputs, outputs, true), (outputs, inputs, false)] {
        for offers in from.iter().filter(|named| (1..=MOST_LANES).contains(&named.port.width)) {
            let Some(stem) = stem_of(&offers.bare, offer) else { continue };
            let is_it = |other: &&Named<'_>| {
                other.port.width == offers.port.width
                    && !taken.contains(&other.port.name)
                    && stem_of(&other.bare, take).as_ref() == Some(&stem)
            };
            let Some(takes) = to.iter().find(is_it) else { continue };
            if taken.contains(&offers.port.name) {
                continue;
            }
            taken.extend([offers.port.name.clone(), takes.port.name.clone()]);
            // A reader that enables takes the item of the block: the data is an output.
            let has_data = |side: &[Named<'_>], own: &Named<'_>| {
                let begins = |named: &&Named<'_>| match &stem {
                    Stem::Begin(stem) => named.bare.starts_with(&format!("{stem}_")),
                    Stem::End(stem) => named.bare.ends_with(&format!("_{stem}")),
                };
                side.iter().filter(begins).any(|named| named.port.name != own.port.name)
            };
            let is_taken =
                offer == "en" && is_source && has_data(to, takes) && !has_data(from, offers);
            let [offers, takes] = if is_taken { [takes, offers] } else { [offers, takes] };
            let valid = pin(offers, words.is_low_offer);
            let mut channel = Channel::new(stem, words.kind, is_source && !is_taken, valid);
            channel.ready = Some(pin(takes, words.is_low_take));
            if offers.port.width > 1 {
                channel.lane = Some((0, offers.port.width));
            }
            channels.push(channel);
        }
    }
}

/// Gives channels of one name different ones.
fn set_apart(channels: &mut [Channel]) {
    let names: Vec<String> = channels.iter().map(|channel| channel.name.clone()).collect();
    let mut used = BTreeSet::new();
    for channel in channels {
        let count = names.iter().filter(|name| **name == channel.name).count();
        if count > 1 {
            channel.name.push_str(if channel.is_source { "_in" } else { "_out" });
        }
        let name = channel.name.clone();
        for number in 2.. {
            if used.insert(channel.name.clone()) {
                break;
            }
            channel.name = format!("{name}_{number}");
        }
    }
}

impl Stem {
    fn text(&self) -> &str {
        match self {
            Self::Begin(text) | Self::End(text) => text,
        }
    }
}

impl Channel {
    fn new(stem: Stem, kind: Kind, is_source: bool, valid: Handshake) -> Self {
        let name = match (stem.text(), kind) {
            ("", Kind::Plain) => if is_source { "input" } else { "output" }.to_owned(),
            (text, Kind::Plain) => text.to_owned(),
            ("", Kind::Write) => "push".to_owned(),
            ("", Kind::Read) => "pop".to_owned(),
            (text, Kind::Write) => format!("{text}_push"),
            (text, Kind::Read) => format!("{text}_pop"),
        };
        let (ready, payload, lane, own) = (None, Vec::new(), None, Vec::new());
        Self { name, is_source, valid, ready, payload, lane, own, stem, kind }
    }

    fn has_underscore(&self) -> bool {
        let valid = snake(&self.valid.port);
        let rest = valid.split_once(self.stem.text()).map(|(_, rest)| rest);
        rest.is_some_and(|rest| rest.starts_with('_'))
    }

    fn may_have_any_data(&self) -> bool {
        let is_unnamed = self.stem.text().is_empty() && self.kind == Kind::Plain;
        let is_of_data = ["", "data", "din", "dout", "d"].contains(&self.stem.text());
        is_unnamed || self.payload.is_empty() && is_of_data
    }

    /// The field of the payload for a port, if its name belongs to the channel.
    fn field(&self, named: &Named<'_>) -> Option<String> {
        let stem = self.stem.text();
        if self.kind != Kind::Plain {
            let names = if self.kind == Kind::Write { WRITE_DATA } else { READ_DATA };
            let is_data = |name: &str| {
                let own = match stem {
                    "" => Some(name),
                    stem => name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('_')),
                };
                own.is_some_and(|own| names.contains(&own))
            };
            return (self.payload.is_empty() && (is_data(&named.bare) || is_data(&named.whole)))
                .then(|| "data".to_owned());
        }
        if stem.is_empty() {
            return None;
        }
        let rest = |name: &str| match &self.stem {
            // `awaddr` belongs to `awvalid`, but `big` does not belong to `b_valid`.
            Stem::Begin(stem) => name
                .strip_prefix(stem.as_str())
                .filter(|rest| {
                    let is_word = !is_letter(stem) || FIELDS.contains(rest);
                    rest.is_empty() || rest.starts_with('_') || !self.has_underscore() && is_word
                })
                .map(str::to_owned),
            Stem::End(stem) => match name.strip_suffix(stem.as_str()) {
                Some("") => Some(String::new()),
                rest => rest.and_then(|rest| rest.strip_suffix('_')).map(str::to_owned),
            },
        };
        let rest = rest(&named.bare).or_else(|| rest(&named.whole))?;
        // Data may have the name of its channel.
        Some(match rest.trim_start_matches('_') {
            "" => "data".to_owned(),
            field => field.to_owned(),
        })
    }

    /// Takes the ports that belong to the channel by their names.
    fn add_payload(&mut self, side: &[Named<'_>], taken: &mut BTreeSet<String>) {
        for named in side {
            if let Some(field) = self.field(named).filter(|_| !taken.contains(&named.port.name)) {
                taken.insert(named.port.name.clone());
                self.payload.push((field, named.port.clone()));
            }
        }
    }

    /// Most and least significant bit of the part of a payload port, if lanes share it.
    pub fn part(&self, port: &Port) -> Option<(u32, u32)> {
        let (lane, lanes) = self.lane.filter(|_| !self.own.contains(&port.name))?;
        let width = port.width / lanes;
        Some(((lane + 1) * width - 1, lane * width))
    }

    /// The bit of its handshakes, if lanes share them.
    pub fn bit(&self) -> Option<u32> {
        self.lane.map(|(lane, _)| lane)
    }

    /// One channel for each bit of its handshakes.
    fn lanes(self) -> Vec<Self> {
        let Some((_, lanes)) = self.lane else { return vec![self] };
        let lane = |number: u32| {
            let mut lane = self.clone();
            lane.name = format!("{}_{number}", self.name);
            lane.lane = Some((number, lanes));
            // A port is shared, or is that of the lane, as in `data_i_0`.
            let of_lane = &mut lane.own;
            lane.payload.retain_mut(|(field, port)| {
                let own = lane_of(field).filter(|(_, own)| *own < lanes);
                let own = own.map(|(name, own)| (name.to_owned(), own));
                match own {
                    Some((name, own)) => {
                        *field = name;
                        of_lane.push(port.name.clone());
                        own == number
                    }
                    None if port.width.is_multiple_of(lanes) => true,
                    None => {
                        of_lane.push(port.name.clone());
                        number == 0
                    }
                }
            });
            lane
        };
        (0..lanes).map(lane).collect()
    }
}

#[cfg(test)]
mod tests;
