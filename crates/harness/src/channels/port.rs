//! Ports of channels: whole ports or some of their bits, of any width.

use crate::harness::{CaseRng, Draw, Noise};
use crate::value::{Uint, WideUint};
use verilated::{Bits, Field};

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
    fn from_u64(value: u64) -> Self;

    /// Drives noise.
    fn fill(&mut self, noise: &mut Noise);
}

/// A port with a field that begins at a bit.
pub trait PortBits<F> {
    /// Reads the field.
    fn read(&self, lsb: u32) -> F;

    /// Writes the field.
    fn write_field(&mut self, lsb: u32, field: F);
}

macro_rules! narrow {
    ($($storage:ty)*) => {$(
        impl<const PORT: u32> DrivenPort for Bits<PORT, $storage> {
            #[inline]
            fn from_u64(value: u64) -> Self {
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
            fn write_field(&mut self, lsb: u32, field: Uint<WIDTH>) {
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
    fn from_u64(value: u64) -> Self {
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
    fn write_field(&mut self, lsb: u32, field: Uint<WIDTH>) {
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
    fn write_field(&mut self, lsb: u32, field: WideUint<WIDTH, N>) {
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
    port.write_field(lsb, Uint::new(bits));
}

/// Drives a payload port of a source: noise, and the field of each lane with an item on offer. Lane
/// n has the n-th part.
#[doc(hidden)]
#[inline]
pub fn put_port<F, P: PortBits<F> + DrivenPort>(
    port: &mut P,
    noise: &mut Noise,
    width: u32,
    fields: impl Iterator<Item = Option<F>>,
) {
    port.fill(noise);
    for (lane, field) in (0..).zip(fields) {
        if let Some(field) = field {
            port.write_field(width * lane, field);
        }
    }
}

/// The same for a part of a port, which begins at `lsb`. Other bits stay.
#[doc(hidden)]
#[inline]
pub fn put_part<F, P: PortBits<F> + DrivenPort + Copy>(
    port: &mut P,
    noise: &mut Noise,
    [lsb, width]: [u32; 2],
    fields: impl Iterator<Item = Option<F>>,
) {
    let mut idle = *port;
    idle.fill(noise);
    for (lane, field) in (0..).zip(fields) {
        let lsb = lsb + width * lane;
        port.write_field(lsb, field.unwrap_or_else(|| idle.read(lsb)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_any_width_are_read_and_written_at_any_bit() {
        let mut noise = Noise::new(7);
        let mut narrow = Bits::<12, u16>::default();
        narrow.write_field(4, Uint::<5>::new(0x1f));
        assert_eq!((narrow.get(), PortBits::<Uint<3>>::read(&narrow, 7).get()), (0x1f0, 3));
        let mut wide = Bits::<200, [u32; 7]>::default();
        let value = WideUint::<100, 4>::from_words([1, 2, 3, 0xf]);
        wide.write_field(37, value);
        assert_eq!(PortBits::<WideUint<100, 4>>::read(&wide, 37), value);
        assert_eq!(wide.words(), &[0, 1 << 5, 2 << 5, 3 << 5, 0xf << 5, 0, 0]);
        wide.write_field(36, Uint::<2>::new(1));
        assert_eq!(wide.words()[1], 1 << 4);
        let mut all = Bits::<2048, [u32; 64]>::default();
        all.fill(&mut noise);
        assert!(all.words().iter().filter(|word| **word == 0).count() < 2);
        let field: WideUint<2048, 64> = all.read(0);
        let mut copy = Bits::<2048, [u32; 64]>::default();
        copy.write_field(0, field);
        assert_eq!(copy, all);
    }
}
