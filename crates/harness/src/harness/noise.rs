//! Values of idle pins: a fixed function of a key, which is part of the vector format.

use crate::value::Uint;
use std::hint::black_box;
use verilated::Bits;

/// Bytes of noise; a power of two.
const SIZE: usize = 1 << 13;
/// The widest slice, in bytes.
const WIDEST: usize = 128;
/// Words of the pool. It is longer than the largest position by the widest slice.
const WORDS: usize = (SIZE + WIDEST) / 4;
/// Words that are computed at once: more than two slices, so that the next slice is always
/// available.
const PIECE: usize = 256;

/// A pool of noise from which idle payload pins are filled.
///
/// The pool is SplitMix64 over the key. A vector stores only the key, and a replay draws no
/// random number. Key 0 gives zeros. The pool is computed piece by piece, because a short case
/// needs little of it.
#[derive(Debug, Clone)]
pub struct Noise {
    /// The state of SplitMix64 after the computed part.
    state: u64,
    /// The pool; zeros from `computed` on.
    words: Box<[u32; WORDS]>,
    computed: usize,
    next: usize,
}

impl Noise {
    /// The noise of `key`.
    pub fn new(key: u64) -> Self {
        let computed = if key == 0 { WORDS } else { 0 };
        Self { state: key, words: Box::new([0; WORDS]), computed, next: 0 }
    }

    /// Computes the next piece of the pool. It is inlined to get the optimisation level of the
    /// block.
    #[inline]
    #[cold]
    fn compute(&mut self) {
        let begin = self.computed;
        self.computed = WORDS.min(begin + PIECE);
        for word in &mut self.words[begin..self.computed] {
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            // `black_box` prevents vectorisation: vectors of 64-bit products take twice as long.
            let mut z = black_box(self.state);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *word = ((z ^ (z >> 31)) >> 16) as u32;
        }
    }

    /// The next `N` words.
    #[inline]
    fn slice<const N: usize>(&mut self) -> &[u32; N] {
        const { assert!(N * 4 <= WIDEST && PIECE * 4 >= 2 * WIDEST) };
        self.next = (self.next + N) % (SIZE / 4);
        if self.next + N > self.computed {
            self.compute();
        }
        // The pool is longer than any place in it by the widest slice.
        self.words[self.next % (SIZE / 4)..].first_chunk().unwrap_or(&[0; N])
    }

    /// The next `N` words.
    #[inline]
    pub fn words<const N: usize>(&mut self) -> [u32; N] {
        *self.slice()
    }

    /// The next two words as bits for the payloads of a cycle.
    #[inline]
    pub fn idle(&mut self) -> IdleBits<2> {
        IdleBits::new(self.words())
    }

    /// Drives a payload: the given value while valid is high, else noise.
    #[inline]
    pub fn drive<const WIDTH: u32, const N: usize>(
        &mut self,
        pins: &mut Bits<WIDTH, [u32; N]>,
        valid: bool,
        held: &Bits<WIDTH, [u32; N]>,
    ) {
        pins.set_words(if valid { held.words() } else { self.slice() });
    }
}

/// Words of noise, whose bits go to the idle payload pins of a cycle one after the other.
#[derive(Debug, Clone, Copy)]
pub struct IdleBits<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> IdleBits<WORDS> {
    /// The bits of these words.
    #[inline]
    pub fn new(words: [u32; WORDS]) -> Self {
        Self(words.map(u64::from))
    }

    /// The next `WIDTH` bits of a word. A number of more bits than are left ends in zeros.
    #[inline]
    pub fn take<const WIDTH: u32>(&mut self, word: usize) -> Uint<WIDTH> {
        let bits = Uint::new(self.0[word]);
        self.0[word] = self.0[word].checked_shr(WIDTH).unwrap_or(0);
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of SplitMix64 are fixed: vectors depend on them.
    #[test]
    fn the_noise_of_a_key_never_changes() {
        // SplitMix64(1) begins with 0x910a2dec89025cc1, 0xbeeb8da1658eec67.
        let mut noise = Noise::new(1);
        noise.compute();
        assert_eq!(noise.words[..2], [0x2dec_8902, 0x8da1_658e]);
    }

    /// The values depend neither on when parts of the pool are computed nor on its end.
    #[test]
    fn words_follow_from_their_place_in_the_pool() {
        let word = |place: u64| {
            let mut z = 7_u64.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(place + 1));
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 16) as u32
        };
        let mut noise = Noise::new(7);
        let mut place = 0;
        for _ in 0..3 * SIZE / 4 / 31 {
            place = (place + 31) % 2048;
            let expected: [u32; 31] = std::array::from_fn(|index| word(place + index as u64));
            assert_eq!(noise.words::<31>(), expected, "{place}");
        }
        assert_eq!(noise.computed, WORDS);
    }

    #[test]
    fn idle_bits_follow_one_another() {
        let mut idle = IdleBits([0x1234, 0b101]);
        assert_eq!((idle.take::<4>(0).get(), idle.take::<8>(0).get()), (4, 0x23));
        assert_eq!(
            [idle.take::<1>(1), idle.take::<1>(1), idle.take::<1>(1)].map(Uint::get),
            [1, 0, 1]
        );
    }

    #[test]
    fn key_zero_is_silence() {
        assert_eq!(Noise::new(0).words::<18>(), [0; 18]);
    }
}
