//! What idle pins carry: a fixed function of a key, part of the vector format.

use verilated::Bits;

/// Bytes of noise; a power of two.
const SIZE: usize = 1 << 13;
/// The widest slice that is taken at once, in bytes.
const WIDEST: usize = 128;

/// A pool of noise from which idle payload pins are filled.
///
/// The pool is SplitMix64 over the key, so a vector names its noise with one number and replays draw no
/// random number. Key 0 is silence: all zeros.
#[derive(Debug, Clone)]
pub struct Noise {
    words: Vec<u32>,
    next: usize,
}

impl Noise {
    /// The noise of `key`.
    pub fn new(key: u64) -> Self {
        let mut words = vec![0; (SIZE + WIDEST) / 4];
        if key != 0 {
            let mut state = key;
            for word in &mut words {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = state;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                *word = ((z ^ (z >> 31)) >> 16) as u32;
            }
        }
        Self { words, next: 0 }
    }

    /// The next `N` words.
    #[inline]
    fn slice<const N: usize>(&mut self) -> &[u32; N] {
        const { assert!(N * 4 <= WIDEST) };
        self.next = (self.next + N) % (SIZE / 4);
        // The pool is longer than any place in it by the widest slice.
        self.words[self.next..].first_chunk().unwrap_or(&[0; N])
    }

    /// The next `N` words.
    #[inline]
    pub fn words<const N: usize>(&mut self) -> [u32; N] {
        *self.slice()
    }

    /// Puts a payload on its pins: the one that is held while valid is high, else noise.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of SplitMix64 are fixed: vectors depend on them.
    #[test]
    fn the_noise_of_a_key_never_changes() {
        // SplitMix64(1) begins with 0x910a2dec89025cc1, 0xbeeb8da1658eec67.
        let noise = Noise::new(1);
        assert_eq!(noise.words[..2], [0x2dec_8902, 0x8da1_658e]);
    }

    #[test]
    fn key_zero_is_silence() {
        assert_eq!(Noise::new(0).words::<18>(), [0; 18]);
    }
}
