//! Ports of an interface by the names of its protocol.
//!
//! A pattern says what is around the names of the protocol: `s_axi_` before them, or `*_s0` behind
//! them. Names are compared without underscores and case, and without an `i_`, `o_`, `_i` or `_o`
//! that only says the direction: `S_AXI_AWVALID`, `s_axi_aw_valid_i` and `i_s_axi_awvalid` are
//! `awvalid` with the pattern `s_axi_`. So are those of Chisel, which has `bits` before a payload:
//! `s_axi_aw_bits_addr` is `awaddr`.

use verilated::{Field, Pin, Pins};

/// A port of a protocol.
#[derive(Debug, Clone, Copy)]
pub struct PortRule {
    /// Its names; the first one is that of the specification.
    pub names: &'static [&'static str],
    /// What it is for.
    pub about: &'static str,
    /// Whether the manager, or the transmitter of a stream, drives it.
    pub is_of_manager: bool,
    /// Whether an interface has it in any case.
    pub is_required: bool,
    /// Whether it has one bit.
    pub is_bit: bool,
}

impl PortRule {
    /// A port that the manager drives.
    pub(crate) const fn manager(names: &'static [&'static str], about: &'static str) -> Self {
        Self { names, about, is_of_manager: true, is_required: true, is_bit: false }
    }

    /// A port that the subordinate drives.
    pub(crate) const fn subordinate(names: &'static [&'static str], about: &'static str) -> Self {
        Self { is_of_manager: false, ..Self::manager(names, about) }
    }

    /// The same port with one bit.
    pub(crate) const fn bit(self) -> Self {
        Self { is_bit: true, ..self }
    }

    pub(crate) const fn optional(self) -> Self {
        Self { is_required: false, ..self }
    }
}

/// The bytes of a name from the end of its direction to the beginning of one.
#[derive(Clone, Copy)]
struct Name<'a> {
    bytes: &'a [u8],
    begin: usize,
    end: usize,
}

impl<'a> Name<'a> {
    const fn whole_name(name: &'a str) -> Self {
        Self { bytes: name.as_bytes(), begin: 0, end: name.len() }
    }

    /// The name without a direction at its beginning.
    const fn without_begin(self) -> Option<Self> {
        let Self { bytes, begin, end } = self;
        let is_direction = end - begin > 2
            && matches!(bytes[begin], b'i' | b'o' | b'I' | b'O')
            && bytes[begin + 1] == b'_';
        if is_direction { Some(Self { begin: begin + 2, ..self }) } else { None }
    }

    /// The name without a direction at its end.
    const fn without_end(self) -> Option<Self> {
        let Self { bytes, begin, end } = self;
        let is_direction = end - begin > 2
            && matches!(bytes[end - 1], b'i' | b'o' | b'I' | b'O')
            && bytes[end - 2] == b'_';
        if is_direction { Some(Self { end: end - 2, ..self }) } else { None }
    }

    /// The next letter in lower case, without underscores and `bits` between them; 0 at the end.
    const fn next(&mut self) -> u8 {
        while self.begin < self.end {
            let letter = self.bytes[self.begin];
            self.begin += 1;
            if letter != b'_' {
                return letter.to_ascii_lowercase();
            }
            let (_, rest) = self.bytes.split_at(self.begin);
            if let [b'b', b'i', b't', b's', b'_', ..] = rest
                && self.begin + 4 < self.end
            {
                self.begin += 4;
            }
        }
        0
    }
}

/// The parts of a pattern before and behind the name.
const fn split_pattern(pattern: &str) -> (Name<'_>, Name<'_>) {
    let name = Name::whole_name(pattern);
    let mut star = 0;
    while star < pattern.len() {
        if name.bytes[star] == b'*' {
            return (Name { end: star, ..name }, Name { begin: star + 1, ..name });
        }
        star += 1;
    }
    (name, Name { begin: name.end, ..name })
}

/// Whether a name is that of a pattern, letter by letter.
const fn is_it(mut name: Name<'_>, pattern: &str, word: &str) -> bool {
    let (mut before, mut behind) = split_pattern(pattern);
    let mut word = Name::whole_name(word);
    loop {
        let mut expected = before.next();
        if expected == 0 {
            expected = word.next();
        }
        if expected == 0 {
            expected = behind.next();
        }
        let letter = name.next();
        if letter != expected {
            return false;
        }
        if letter == 0 {
            return true;
        }
    }
}

/// Whether a port is the `word` of the interface with this pattern.
pub const fn is_port(port: &str, pattern: &str, word: &str) -> bool {
    let name = Name::whole_name(port);
    if is_it(name, pattern, word) {
        return true;
    }
    if let Some(bare) = name.without_begin()
        && is_it(bare, pattern, word)
    {
        return true;
    }
    matches!(name.without_end(), Some(bare) if is_it(bare, pattern, word))
}

/// The patterns with which a port is this word, the likeliest first.
pub fn patterns(port: &str, word: &str) -> Vec<String> {
    let name = Name::whole_name(port);
    let bare = [name.without_begin(), name.without_end(), Some(name)];
    let mut all = Vec::new();
    for Name { begin, end, .. } in bare.into_iter().flatten() {
        let name = &port[begin..end];
        let cuts = (0..=name.len()).filter(|at| name.is_char_boundary(*at));
        for at in cuts {
            let (left, right) = name.split_at(at);
            // `m_cyc`, and `mcyc` of a crossbar.
            let role = left.rsplit('_').next().unwrap_or_default();
            let is_role = ["s", "m", "S", "M"].contains(&role) && !right.starts_with('_');
            if (role.is_empty() || is_role) && is_it(Name::whole_name(right), "", word) {
                all.push(left.to_owned());
            }
            // `addr_a`, and `addra` of a memory with two ports.
            let is_same_name = right.len() == 1 && !left.ends_with('_');
            if (right.starts_with('_') || is_same_name) && is_it(Name::whole_name(left), "", word) {
                all.push(format!("*{right}"));
            }
        }
    }
    all.sort();
    all.dedup();
    // Of the same name with and without a direction, the shorter one is common to both sides.
    all.sort_by_key(String::len);
    all
}

/// A struct port: its name, and its members.
pub type Struct = (&'static str, &'static [(&'static str, Field)]);

/// Where the ports of an interface are.
///
/// ```ignore
/// // The second of four interfaces in ports like `s_axil_awaddr[4*32-1:0]`.
/// const AXI: AxiLitePins<Inputs, Outputs> =
///     AxiLitePins::from_ports(Ports::new("s_axil_").lane(1, 4));
/// // Members of packed structs, as in `req.aw_valid` and `resp.aw_ready`.
/// const BUS: AxiLitePins<Inputs, Outputs> =
///     AxiLitePins::from_ports(
///         Ports::new("").with_structs(&[("req", Req::FIELDS), ("resp", Resp::FIELDS)]),
///     );
/// ```
#[derive(Clone, Copy)]
pub struct Ports<'a> {
    pattern: &'a str,
    lane: (u32, u32),
    structs: &'a [Struct],
}

impl<'a> Ports<'a> {
    /// The ports whose names are `pattern` and those of the protocol.
    pub const fn new(pattern: &'a str) -> Self {
        Self { pattern, lane: (0, 1), structs: &[] }
    }

    /// One of several interfaces whose ports have an equal part for each, from the low end on.
    #[must_use]
    pub const fn lane(self, lane: u32, lanes: u32) -> Self {
        Self { lane: (lane, lanes), ..self }
    }

    /// The members of packed structs, in place of ports. A member has at most 64 bits.
    #[must_use]
    pub const fn with_structs(self, structs: &'a [Struct]) -> Self {
        Self { structs, ..self }
    }

    /// The port or the member with a name of the protocol.
    const fn find<P: Pins>(&self, word: &str) -> Option<Pin<P>> {
        let mut port = 0;
        while port < P::PORTS.len() && self.structs.is_empty() {
            if is_port(P::PORTS[port].name, self.pattern, word) {
                return Pin::find("", P::PORTS[port].name);
            }
            port += 1;
        }
        let mut index = 0;
        while index < self.structs.len() {
            let (port, members) = self.structs[index];
            if let Some(pin) = Pin::<P>::find("", port) {
                let mut member = 0;
                while member < members.len() {
                    let (name, Field { lsb, width }) = members[member];
                    if is_port(name, self.pattern, word) {
                        return Some(pin.bits(lsb, width));
                    }
                    member += 1;
                }
            }
            index += 1;
        }
        None
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Finder<'a> {
    rules: &'a [PortRule],
    ports: Ports<'a>,
    is_there: bool,
}

impl<'a> Finder<'a> {
    pub(crate) const fn new(rules: &'a [PortRule], ports: Ports<'a>) -> Self {
        Self { rules, ports, is_there: true }
    }

    /// Finds no port, unless there is this one.
    pub(crate) const fn with<P: Pins>(self, name: &str) -> Self {
        self.only_if(self.find::<P>(name).is_some())
    }

    /// Finds no port, unless this holds.
    pub(crate) const fn only_if(self, is_there: bool) -> Self {
        Self { is_there: self.is_there && is_there, ..self }
    }

    /// Whether the interface has this half.
    pub(crate) const fn is_there(&self) -> bool {
        self.is_there
    }

    /// The port with this name of the specification, if there is one.
    pub(crate) const fn find<P: Pins>(&self, name: &str) -> Option<Pin<P>> {
        if !self.is_there {
            return None;
        }
        let mut rule = 0;
        while !is_it(Name::whole_name(self.rules[rule].names[0]), "", name) {
            rule += 1;
        }
        let (names, mut index) = (self.rules[rule].names, 0);
        while index < names.len() {
            if let Some(pin) = self.ports.find::<P>(names[index]) {
                return Some(pin.lane(self.ports.lane.0, self.ports.lane.1));
            }
            index += 1;
        }
        None
    }

    /// The port with this name of the specification; absent with its half.
    ///
    /// # Panics
    /// If there is none; in a constant, this does not compile.
    pub(crate) const fn find_pin<P: Pins>(&self, name: &str) -> Pin<P> {
        match self.find(name) {
            Some(pin) => pin,
            None if !self.is_there => Pin::absent(),
            None => panic!("the block has no port of this name and direction"),
        }
    }
}

/// A port that may be missing.
pub type Optional<P> = Option<Pin<P>>;

pub(crate) trait DriveOptional<P> {
    /// Drives the port with a number, if it exists.
    fn set(&self, pins: &mut P, value: u64);

    /// Drives the port with words, if it exists.
    fn set_words(&self, pins: &mut P, words: &[u32]);
}

impl<P: Pins> DriveOptional<P> for Optional<P> {
    #[inline]
    fn set(&self, pins: &mut P, value: u64) {
        if let Some(pin) = self {
            pin.set(pins, value);
        }
    }

    #[inline]
    fn set_words(&self, pins: &mut P, words: &[u32]) {
        if let Some(pin) = self {
            pin.set_words(pins, words);
        }
    }
}

/// A port that is 0 if it is missing.
pub type OrZero<P> = Pin<P>;

/// The ports of a protocol, in one list: `PORTS`, and the struct with a [`Pin`] for each. A line
/// has the name of the port, `Pin`, or `Optional` or `OrZero` if it may be missing, the side that
/// drives it, `bit` if it has one bit, its names, and what it is for. Other fields follow in
/// `with`, with their defaults.
macro_rules! interface_pins {
    (
        $(#[$meta:meta])*
        $pins:ident<$first:ident, $second:ident> {
            $(
                $field:ident: $kind:ident<$side:ident> $($bit:ident)?
                    [$($name:literal),+] $about:literal;
            )+
        }
        $( with { $( $(#[$other_meta:meta])* $other:ident: $type:ty = $default:expr; )* } )?
    ) => {
        /// The ports of the protocol.
        pub const PORTS: &[crate::ports::PortRule] = &[$(
            crate::ports::PortRule {
                names: &[$($name),+],
                about: $about,
                is_of_manager: crate::ports::is_same_name(
                    stringify!($side),
                    stringify!($first),
                ),
                is_required: crate::ports::is_same_name(stringify!($kind), "Pin"),
                is_bit: !stringify!($($bit)?).is_empty(),
            }
        ),+];

        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        pub struct $pins<$first, $second> {
            $( #[doc = $about] pub $field: $kind<$side>, )+
            $( $( $(#[$other_meta])* pub $other: $type, )* )?
        }

        impl<$first: Pins, $second: Pins> $pins<$first, $second> {
            const fn find(ports: crate::ports::Ports<'_>) -> Self {
                let finder = crate::ports::Finder::new(PORTS, ports);
                Self {
                    $( $field: crate::ports::interface_pins!(# $kind finder, $($name),+), )+
                    $( $( $other: $default, )* )?
                }
            }
        }
    };
    (# Pin $finder:ident, $name:literal $(, $other:literal)*) => { $finder.find_pin($name) };
    (# Optional $finder:ident, $name:literal $(, $other:literal)*) => {
        $finder.find($name)
    };
    (# OrZero $finder:ident, $name:literal $(, $other:literal)*) => {
        match $finder.find($name) {
            Some(pin) => pin,
            None => verilated::Pin::absent(),
        }
    };
}
pub(crate) use interface_pins;

/// Whether two names are equal, for [`interface_pins!`].
pub(crate) const fn is_same_name(left: &str, right: &str) -> bool {
    is_it(Name::whole_name(left), "", right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case_underscores_and_direction() {
        for port in ["S_AXI_AWVALID", "s_axi_aw_valid_i", "i_s_axi_awvalid", "s_axi_awvalid"] {
            assert!(is_port(port, "s_axi_", "awvalid"), "{port}");
            assert!(is_port(port, "S_AXI_", "awvalid"), "{port}");
            assert!(patterns(port, "awvalid")[0].eq_ignore_ascii_case("s_axi_"), "{port}");
        }
        assert!(is_port("awvalid_s0", "*_s0", "awvalid"));
        assert_eq!(patterns("awvalid_s0", "awvalid"), ["*_s0"]);
        assert_eq!(patterns("wea", "we"), ["*a"]);
        assert_eq!(patterns("awvalid", "awvalid"), [""]);
        assert_eq!(patterns("i_wb_cyc", "cyc"), ["wb_", "i_wb_"]);
        assert_eq!(patterns("wb_cyc_i", "cyc"), ["wb_", "wb_*_i"][..1]);
        for (port, word) in [("invalid", "valid"), ("s_axi_awvalidx", "awvalid"), ("", "cyc")] {
            assert!(patterns(port, word).is_empty(), "{port}");
        }
        assert!(!is_port("m_axi_awvalid", "s_axi_", "awvalid"));
        assert!(!is_port("s_axi_awvali", "s_axi_", "awvalid"));
    }
}
