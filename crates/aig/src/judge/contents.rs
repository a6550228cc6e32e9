//! The contents of a memory that is cut out, in each case of a simulation.

use super::super::simulation::Known;
use crate::CutMemory;
use std::collections::HashMap;

pub struct Contents<'a> {
    memory: &'a CutMemory,
    /// Words that are not unknown in all cases.
    words: HashMap<u64, Vec<Known>>,
}

/// What an address leads to in one case.
enum Place {
    Word(u64),
    Outside,
    Unknown,
}

impl<'a> Contents<'a> {
    pub fn new(memory: &'a CutMemory) -> Self {
        let known = |bit: &Option<bool>| bit.map_or(Known::default(), Known::repeat_bit);
        let word = |(word, bits): (&u64, &Vec<Option<bool>>)| {
            let mut bits: Vec<Known> = bits.iter().map(known).collect();
            bits.resize(memory.width, Known::default());
            (*word, bits)
        };
        Self { memory, words: memory.initial.iter().map(word).collect() }
    }

    fn place(&self, address: &[Known], lane: u64) -> Place {
        let mut value = 0_i128;
        for (bit, known) in address.iter().enumerate() {
            match (known.is_one & lane != 0, known.is_zero & lane != 0) {
                (true, _) if bit >= 64 => return Place::Outside,
                (true, _) => value |= 1 << bit,
                (_, true) => {}
                (false, false) => return Place::Unknown,
            }
        }
        match u64::try_from(value - i128::from(self.memory.offset)) {
            Ok(place) if place < self.memory.size => Place::Word(place),
            _ => Place::Outside,
        }
    }

    /// The word at an address. It is unknown where the address is, or where no word is.
    pub fn read(&self, address: &[Known]) -> Vec<Known> {
        let mut data = vec![Known::default(); self.memory.width];
        for lane in (0..64).map(|lane| 1 << lane) {
            let Place::Word(place) = self.place(address, lane) else { continue };
            let Some(word) = self.words.get(&place) else { continue };
            for (data, bit) in data.iter_mut().zip(word) {
                data.is_one |= bit.is_one & lane;
                data.is_zero |= bit.is_zero & lane;
            }
        }
        data
    }

    /// Writes bits: enable, bit and data of each.
    pub fn write(&mut self, address: &[Known], bits: &[(Known, usize, Known)]) {
        let may_write = bits.iter().fold(0, |may, (enable, ..)| may | !enable.is_zero);
        for lane in (0..64).map(|lane| 1 << lane).filter(|lane| may_write & lane != 0) {
            let (words, is_sure): (Vec<&mut Vec<Known>>, bool) = match self.place(address, lane) {
                Place::Outside => continue,
                // Any word may have been written.
                Place::Unknown => (self.words.values_mut().collect(), false),
                Place::Word(place) => {
                    let width = self.memory.width;
                    let word = self.words.entry(place);
                    (vec![word.or_insert_with(|| vec![Known::default(); width])], true)
                }
            };
            for word in words {
                for (enable, bit, data) in bits {
                    let Some(held) = word.get_mut(*bit) else { continue };
                    if enable.is_zero & lane != 0 {
                        continue;
                    }
                    if enable.is_one & lane != 0 && is_sure {
                        held.is_one = held.is_one & !lane | data.is_one & lane;
                        held.is_zero = held.is_zero & !lane | data.is_zero & lane;
                    } else {
                        // What it holds stays known only if the data is the same.
                        held.is_one &= !lane | data.is_one;
                        held.is_zero &= !lane | data.is_zero;
                    }
                }
            }
        }
    }
}
