//! Ports of channels: whole ports or some of their bits, of any width.

use crate::harness::{CaseRng, Draw, Noise};
use crate::value::{Uint, WideUint};
use verilated::{Bits, Field, Port};

/// The number of 32-bit words of a field.
#[doc(hidden)]
pub const fn words(width: u32) -> usize {
    if width > 64 { width.div_ceil(32) as usize } else { 0 }
}

/// Selects the type of a field by its width.
#[doc(hidden)]
#[derive(Debug)]
pub struct Width<const WIDTH: u32, const WORDS: usize, const IS_WIDE: bool>;

/// The type of a field.
#[doc(hidden)]
pub trait FieldOf {
    /// A number of this width.
    type Value: FieldValue;
}

impl<const WIDTH: u32, const WORDS: usize> FieldOf for Width<WIDTH, WORDS, false> {
    type Value = Uint<WIDTH>;
}

impl<const WIDTH: u32, const WORDS: usize> FieldOf for Width<WIDTH, WORDS, true> {
    type Value = WideUint<WIDTH, WORDS>;
}

/// The value of a field.
pub trait FieldValue: Copy {
    /// A value of random bits.
    fn any(rng: &mut CaseRng) -> Self;

    /// The value after this one: another random one, or for a single bit its inverse if `toggles`.
    #[must_use]
    fn next(self, toggles: bool, rng: &mut CaseRng) -> Self;
}

impl<const WIDTH: u32> FieldValue for Uint<WIDTH> {
    #[inline]
    fn any(rng: &mut CaseRng) -> Self {
        rng.bits()
    }

    fn next(self, toggles: bool, rng: &mut CaseRng) -> Self {
        if WIDTH == 1 { Self::new(self.get() ^ u64::from(toggles)) } else { Self::any(rng) }
    }
}

impl<const WIDTH: u32, const WORDS: usize> FieldValue for WideUint<WIDTH, WORDS> {
    #[inline]
    fn any(rng: &mut CaseRng) -> Self {
        Self::from_words(rng.words())
    }

    fn next(self, _: bool, rng: &mut CaseRng) -> Self {
        Self::any(rng)
    }
}

/// A port of an environment.
pub trait DrivenPort {
    /// The port with this value; bits beyond 64 are 0.
    fn of(value: u64) -> Self;

    /// Drives noise.
    fn fill(&mut self, noise: &mut Noise);
}

/// A port with a field that begins at a bit.
pub trait PortBits<F> {
    /// Reads the field.
    fn read(&self, lsb: u32) -> F;

    /// Writes the field.
    fn put(&mut self, lsb: u32, field: F);
}

macro_rules! narrow {
    ($($storage:ty)*) => {$(
        impl<const PORT: u32> DrivenPort for Bits<PORT, $storage> {
            #[inline]
            fn of(value: u64) -> Self {
                Self::new(value)
            }

            #[inline]
            fn fill(&mut self, noise: &mut Noise) {
                let [low, high] = noise.words();
                *self = Self::new(u64::from(high) << 32 | u64::from(low));
            }
        }

        impl<const PORT: u32, const WIDTH: u32> PortBits<Uint<WIDTH>> for Bits<PORT, $storage> {
            #[inline]
            fn read(&self, lsb: u32) -> Uint<WIDTH> {
                Uint::new(self.get() >> lsb)
            }

            #[inline]
            fn put(&mut self, lsb: u32, field: Uint<WIDTH>) {
                let others = self.get() & !(Uint::<WIDTH>::MAX << lsb);
                *self = Self::new(others | field.get() << lsb);
            }
        }
    )*};
}
narrow!(u8 u16 u32 u64);

/// Words of noise that are taken at once.
const PIECE: usize = 32;

impl<const PORT: u32, const WORDS: usize> DrivenPort for Bits<PORT, [u32; WORDS]> {
    fn of(value: u64) -> Self {
        Self::ZERO.with(Field::new(63, 0), value)
    }

    #[inline]
    fn fill(&mut self, noise: &mut Noise) {
        let mut words = [0; WORDS];
        for piece in words.chunks_mut(PIECE) {
            match piece.len() {
                ..=4 => piece.copy_from_slice(&noise.words::<4>()[..piece.len()]),
                5..=16 => piece.copy_from_slice(&noise.words::<16>()[..piece.len()]),
                _ => piece.copy_from_slice(&noise.words::<PIECE>()[..piece.len()]),
            }
        }
        self.set_words(&words);
    }
}

impl<const PORT: u32, const WORDS: usize, const WIDTH: u32> PortBits<Uint<WIDTH>>
    for Bits<PORT, [u32; WORDS]>
{
    #[inline]
    fn read(&self, lsb: u32) -> Uint<WIDTH> {
        Uint::new(self.field(Field { lsb, width: WIDTH }))
    }

    #[inline]
    fn put(&mut self, lsb: u32, field: Uint<WIDTH>) {
        *self = self.with(Field { lsb, width: WIDTH }, field.get());
    }
}

impl<const PORT: u32, const WORDS: usize, const WIDTH: u32, const N: usize>
    PortBits<WideUint<WIDTH, N>> for Bits<PORT, [u32; WORDS]>
{
    #[inline]
    fn read(&self, lsb: u32) -> WideUint<WIDTH, N> {
        let (first, shift) = ((lsb / 32) as usize, lsb % 32);
        let word = |at: usize| u64::from(self.words().get(at).copied().unwrap_or(0));
        WideUint::from_words(std::array::from_fn(|at| {
            ((word(first + at) | word(first + at + 1) << 32) >> shift) as u32
        }))
    }

    #[inline]
    fn put(&mut self, lsb: u32, field: WideUint<WIDTH, N>) {
        if WIDTH == PORT
            && let Some(words) = field.words().first_chunk()
        {
            return self.set_words(words);
        }
        let mut bits = *self;
        for (word, value) in (0..).zip(field.words()) {
            let width = (WIDTH - 32 * word).min(32);
            bits = bits.with(Field { lsb: lsb + 32 * word, width }, u64::from(*value));
        }
        *self = bits;
    }
}

/// The pins of a handshake: the bit of each lane.
#[doc(hidden)]
#[inline]
pub fn lanes<const LANES: u32>(port: &impl PortBits<Uint<LANES>>, lsb: u32) -> u64 {
    port.read(lsb).get()
}

/// Drives the pins of a handshake.
#[doc(hidden)]
#[inline]
pub fn put_lanes<const LANES: u32>(port: &mut impl PortBits<Uint<LANES>>, lsb: u32, bits: u64) {
    port.put(lsb, Uint::new(bits));
}

/// Bits of a port in a declaration.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct PinUse {
    /// The field of the port.
    pub name: &'static str,
    /// The first bit.
    pub lsb: u32,
    /// The number of bits; 0: as many as the port has.
    pub width: u32,
    /// Whether they are the whole port.
    pub is_whole: bool,
}

impl PinUse {
    /// The whole port.
    pub const fn whole(name: &'static str, width: u32) -> Self {
        Self { name, lsb: 0, width, is_whole: true }
    }

    /// A part of a port.
    pub const fn part(name: &'static str, lsb: u32, width: u32) -> Self {
        Self { name, lsb, width, is_whole: false }
    }

    /// Whether it is of a port. A `_` follows a keyword in the name of a field.
    const fn is_of(&self, port: &Port) -> bool {
        let (field, name) = (self.name.as_bytes(), port.name.as_bytes());
        let mut same = 0;
        while same < field.len() && same < name.len() && field[same] == name[same] {
            same += 1;
        }
        let is_keyword = field.len() == name.len() + 1 && field[name.len()] == b'_';
        same == name.len() && (field.len() == name.len() || is_keyword)
    }
}

/// Does not compile in a constant if a port differs from its bits in the declaration. With
/// `is_complete`, every bit of every port is in the declaration.
///
/// # Panics
/// With the name of the port.
#[doc(hidden)]
pub const fn check_pins(ports: &[Port], pins: &[&[PinUse]], is_complete: bool) {
    let mut index = 0;
    while index < ports.len() {
        let (port, mut list, mut bits) = (&ports[index], 0, 0);
        while list < pins.len() {
            let mut pin = 0;
            while pin < pins[list].len() {
                bits += bits_of(port, &pins[list][pin]);
                pin += 1;
            }
            list += 1;
        }
        if is_complete && bits == 0 {
            fail(port.name, ": the declaration lacks this port");
        }
        if is_complete && bits > port.width {
            fail(port.name, ": two places of the declaration drive this port");
        }
        if is_complete && bits < port.width {
            fail(port.name, ": the declaration lacks some bits of this port");
        }
        index += 1;
    }
}

/// The bits of a port that the declaration has here.
const fn bits_of(port: &Port, pin: &PinUse) -> u32 {
    if !pin.is_of(port) {
        return 0;
    }
    let width = if pin.width == 0 { port.width } else { pin.width };
    if pin.is_whole && width != port.width || pin.lsb + width > port.width {
        fail(port.name, ": the port has another width than the declaration");
    }
    width
}

/// Panics with both texts.
const fn fail(name: &str, text: &str) -> ! {
    let mut bytes = [b' '; 256];
    let (name, text) = (name.as_bytes(), text.as_bytes());
    let mut index = 0;
    while index < name.len() + text.len() && index < bytes.len() {
        bytes[index] = if index < name.len() { name[index] } else { text[index - name.len()] };
        index += 1;
    }
    match std::str::from_utf8(bytes.split_at(index).0) {
        Ok(message) => panic!("{}", message),
        Err(_) => panic!("a port differs from its declaration"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_any_width_are_read_and_written_at_any_bit() {
        let mut noise = Noise::new(7);
        let mut narrow = Bits::<12, u16>::default();
        narrow.put(4, Uint::<5>::new(0x1f));
        assert_eq!((narrow.get(), PortBits::<Uint<3>>::read(&narrow, 7).get()), (0x1f0, 3));
        let mut wide = Bits::<200, [u32; 7]>::default();
        let value = WideUint::<100, 4>::from_words([1, 2, 3, 0xf]);
        wide.put(37, value);
        assert_eq!(PortBits::<WideUint<100, 4>>::read(&wide, 37), value);
        assert_eq!(wide.words(), &[0, 1 << 5, 2 << 5, 3 << 5, 0xf << 5, 0, 0]);
        wide.put(36, Uint::<2>::new(1));
        assert_eq!(wide.words()[1], 1 << 4);
        let mut all = Bits::<2048, [u32; 64]>::default();
        all.fill(&mut noise);
        assert!(all.words().iter().filter(|word| **word == 0).count() < 2);
        let field: WideUint<2048, 64> = all.read(0);
        let mut copy = Bits::<2048, [u32; 64]>::default();
        copy.put(0, field);
        assert_eq!(copy, all);
    }

    const PORTS: [Port; 2] =
        [Port { name: "type", width: 4, offset: 0 }, Port { name: "bus", width: 16, offset: 1 }];

    /// The message of a declaration that does not compile.
    fn refused(pins: &[PinUse]) -> Option<String> {
        let result = std::panic::catch_unwind(|| check_pins(&PORTS, &[pins], true));
        result.err().and_then(|message| {
            message
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| message.downcast_ref::<String>().cloned())
        })
    }

    #[test]
    fn each_bit_of_each_input_is_in_the_declaration() {
        const TYPE: PinUse = PinUse::whole("type_", 4);
        assert_eq!(refused(&[TYPE, PinUse::whole("bus", 16)]), None);
        assert_eq!(refused(&[TYPE, PinUse::part("bus", 8, 8), PinUse::part("bus", 0, 8)]), None);
        assert_eq!(refused(&[TYPE, PinUse::whole("bus", 0)]), None);
        for (pins, message) in [
            (&[TYPE][..], "bus: the declaration lacks this port"),
            (
                &[TYPE, PinUse::part("bus", 8, 8)],
                "bus: the declaration lacks some bits of this port",
            ),
            (
                &[TYPE, PinUse::whole("bus", 8)],
                "bus: the port has another width than the declaration",
            ),
            (&[TYPE, TYPE], "type: two places of the declaration drive this port"),
            (
                &[PinUse::part("type_", 1, 4)],
                "type: the port has another width than the declaration",
            ),
        ] {
            assert_eq!(refused(pins).as_deref(), Some(message));
        }
    }
}
