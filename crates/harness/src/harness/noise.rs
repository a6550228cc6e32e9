//! Values of idle pins: a fixed function of a key, which is part of the vector format.

use crate::value::Uint;
use std::hint::black_box;
use verilated::Bits;

/// Bytes of noise; a power of two.
const SIZE: usize = 1 << 12;
/// The widest slice, in bytes.
const WIDEST: usize = 256;
/// Words of the pool. It is longer than the largest position by the widest slice.
const WORDS: usize = (SIZE + WIDEST) / 4;
/// Words that are computed at once: more than two slices, so that the next slice is always
/// available.
const PIECE: usize = 256;

/// A pool of noise from which idle payload pins are filled.
///
/// The pool is SplitMix64 over the key: two words of each number, the low one first. A vector
/// stores only the key, and a replay draws no random number. Key 0 gives zeros. The pool grows
/// piece by piece, because a short case needs little of it.
#[derive(Debug, Clone)]
pub struct Noise {
    /// The state of SplitMix64 after the computed part.
    state: u64,
    /// The computed part of the pool.
    words: Vec<u32>,
    next: usize,
}

impl Noise {
    /// The noise of `key`.
    pub fn new(key: u64) -> Self {
        let words = if key == 0 { vec![0; WORDS] } else { Vec::with_capacity(WORDS) };
        Self { state: key, words, next: 0 }
    }

    /// Computes the next piece of the pool. It is inlined to get the optimisation level of the
    /// block.
    #[inline]
    #[cold]
    fn compute(&mut self) {
        let mut piece = [0; PIECE];
        for [low, high] in piece.as_chunks_mut().0 {
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            // `black_box` prevents vectorisation: vectors of 64-bit products take twice as long.
            let mut z = black_box(self.state);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
            (*low, *high) = (z as u32, (z >> 32) as u32);
        }
        let left = WORDS - self.words.len();
        self.words.extend_from_slice(&piece[..PIECE.min(left)]);
    }

    /// The next `N` words, as a slice of the pool.
    #[inline]
    fn slice<const N: usize>(&mut self) -> &[u32; N] {
        const { assert!(N * 4 <= WIDEST && PIECE * 4 >= 2 * WIDEST) };
        self.next = (self.next + N) % (SIZE / 4);
        if self.next + N > self.words.len() {
            self.compute();
        }
        // The pool is longer than any place in it by the widest slice.
        self.words.get(self.next..).and_then(<[u32]>::first_chunk).unwrap_or(&[0; N])
    }

    /// The next `N` words.
    #[inline]
    pub fn words<const N: usize>(&mut self) -> [u32; N] {
        *self.slice()
    }

    /// The next `N` words, for all idle ports of a cycle.
    #[inline]
    pub fn cycle<const N: usize>(&mut self) -> CycleNoise<'_> {
        CycleNoise(self.slice::<N>())
    }

    /// The next two words as bits for the payloads of a cycle.
    #[inline]
    pub fn idle(&mut self) -> IdleBits<2> {
        IdleBits::new(self.words())
    }
}

/// The noise of a cycle, whose words go to the idle ports one after the other.
#[derive(Debug)]
pub struct CycleNoise<'a>(&'a [u32]);

impl<'a> CycleNoise<'a> {
    /// These words.
    #[inline]
    pub fn new<const N: usize>(words: &'a [u32; N]) -> Self {
        Self(words)
    }

    /// The next `N` words. A cycle must have as many as its ports need; zeros follow otherwise.
    #[inline]
    pub fn next_words<const N: usize>(&mut self) -> &'a [u32; N] {
        debug_assert!(self.0.len() >= N, "the ports of a cycle need more words than it has");
        let (words, rest) = self.0.split_first_chunk().unwrap_or((&[0; N], &[]));
        self.0 = rest;
        words
    }

    /// Drives a payload: the given value while valid is high, else the next words.
    #[inline]
    pub fn drive<const WIDTH: u32, const N: usize>(
        &mut self,
        pins: &mut Bits<WIDTH, [u32; N]>,
        valid: bool,
        held: &Bits<WIDTH, [u32; N]>,
    ) {
        let words = self.next_words();
        pins.set_words(if valid { held.words() } else { words });
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
    pub fn next_bits<const WIDTH: u32>(&mut self, word: usize) -> Uint<WIDTH> {
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
        assert_eq!(noise.words[..3], [0x8902_5cc1, 0x910a_2dec, 0x658e_ec67]);
    }

    /// The values depend neither on when parts of the pool are computed nor on its end.
    #[test]
    fn words_follow_from_their_place_in_the_pool() {
        let word = |place: u64| {
            let number = place / 2 + 1;
            let mut z = 7_u64.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number));
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> (32 * (place % 2))) as u32
        };
        let mut noise = Noise::new(7);
        let mut place = 0;
        for _ in 0..3 * SIZE / 4 / 31 {
            place = (place + 31) % 1024;
            let expected: [u32; 31] = std::array::from_fn(|index| word(place + index as u64));
            assert_eq!(noise.words::<31>(), expected, "{place}");
        }
        assert_eq!(noise.words.len(), WORDS);
    }

    #[test]
    fn the_words_of_a_cycle_go_to_its_ports_in_turn() {
        let held = Bits::<40, [u32; 2]>::from_words([8, 9]);
        let mut pins = [held; 3];
        let mut noise = CycleNoise::new(&[1, 2, 3, 4, 5, 0x5ff, 0]);
        assert_eq!(noise.next_words(), &[1]);
        for (pins, valid) in pins.iter_mut().zip([false, true, false]) {
            noise.drive(pins, valid, &held);
        }
        // The words of a port that is not idle are not given to the next one.
        assert_eq!(pins.map(|pins| *pins.words()), [[2, 3], [8, 9], [0x5ff, 0]]);
        let mut pool = Noise::new(1);
        let first = Noise::new(1).words::<4>();
        assert_eq!(pool.cycle::<4>().next_words(), &first);
    }

    #[test]
    fn idle_bits_follow_one_another() {
        let mut idle = IdleBits([0x1234, 0b101]);
        assert_eq!((idle.next_bits::<4>(0).get(), idle.next_bits::<8>(0).get()), (4, 0x23));
        assert_eq!(
            [idle.next_bits::<1>(1), idle.next_bits::<1>(1), idle.next_bits::<1>(1)].map(Uint::get),
            [1, 0, 1]
        );
    }

    #[test]
    fn key_zero_is_silence() {
        assert_eq!(Noise::new(0).words::<18>(), [0; 18]);
    }
}
