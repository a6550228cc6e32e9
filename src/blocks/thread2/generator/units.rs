//! The WQE of a message: its units, and where the next WQE is.

use super::*;

impl Generator<'_> {
    /// Units for a message with these payloads, in reverse order: the number is from the weights,
    /// the sizes are uneven. Without F5 they hold the whole message and end with a terminator.
    pub fn units(&mut self, payloads: &[(u64, u64)]) -> Vec<DataUnit> {
        let total = payloads.iter().map(|(length, again)| length * (1 + again)).sum();
        let count = self.weights.units.draw(self.rng);
        let room = if self.fixed(5) && self.rng.chance(self.weights.short_wqe) {
            self.rng.random_range(0..=total)
        } else if self.rng.random_range(0..3) == 0 {
            total + self.rng.random_range(0..256)
        } else {
            total
        };
        let mut cuts: Vec<u64> = (1..count).map(|_| self.cut(payloads, room)).collect();
        cuts.extend([0, room]);
        cuts.sort_unstable();
        let mut place = 1;
        while place < cuts.len() {
            if cuts[place] - cuts[place - 1] > UNIT {
                cuts.insert(place, cuts[place - 1] + UNIT);
            }
            place += 1;
        }
        if self.rng.chance(self.weights.large_unit) && room >= total {
            // The end of the last unit, which no payload reaches.
            let (last, least) = (cuts.len() - 1, room - cuts[cuts.len() - 2]);
            let bytes = match self.rng.random_range(0..4) {
                0 => self.rng.corner(UNIT).max(least),
                _ => self.rng.random_range(least..=UNIT),
            };
            cuts[last] = cuts[last - 1] + bytes;
        }
        let mut units: Vec<DataUnit> = cuts
            .windows(2)
            .map(|cut| {
                let mut unit = DataUnit::decode(&Bits128::from_words(self.rng.words()));
                if self.rng.chance(self.weights.corners) {
                    self.corner(&mut unit.lkey);
                    self.corner(&mut unit.laddr);
                }
                DataUnit {
                    byte_cnt: Uint::new(cut[1] - cut[0]),
                    inline: Uint::new(u64::from(self.rng.chance(self.weights.inline))),
                    laddr: self.address(unit.laddr),
                    ..unit
                }
            })
            .collect();
        if !self.fixed(5) || self.rng.random_range(0..4) == 0 {
            units.push(DataUnit {
                lkey: self.rng.bits(),
                laddr: self.rng.bits(),
                ..DataUnit::default()
            });
        }
        units
    }

    /// The end of a unit: random, or within a byte of the end of a packet.
    fn cut(&mut self, payloads: &[(u64, u64)], room: u64) -> u64 {
        if !self.rng.chance(self.weights.packet_edge) {
            return self.rng.random_range(0..=room);
        }
        let later = self.rng.random_range(0..payloads.len());
        let mut edge: u64 =
            payloads[later..].iter().map(|(length, again)| length * (1 + again)).sum();
        let (length, again) = payloads[later];
        if again > 0 {
            edge -= length * self.rng.random_range(0..=again);
        }
        match self.rng.random_range(0..4) {
            0 => edge + 1,
            1 => edge.saturating_sub(1),
            _ => edge,
        }
        .min(room)
    }

    /// The address, or one just below a carry out of its low 32 or of all 64 bits.
    fn address(&mut self, address: Uint<64>) -> Uint<64> {
        if !self.rng.chance(self.weights.address_edge) {
            return address;
        }
        let below = |bits: u32| u64::MAX >> (64 - bits) & !0xffff;
        let edge = if self.rng.random() { below(32) } else { below(64) };
        Uint::new(address.get() | edge)
    }

    /// The NextUnit of a WQE with this number of units: mostly the next entry of the RQ, sometimes
    /// near the edges of ring and cache cell.
    pub fn next_unit(&mut self, pair: &Pair, units: u64) -> NextUnit {
        let cur_wqe_size = match self.rng.random_range(0..10) {
            0 => self.rng.bits_or_corner::<8>(SELDOM).get(),
            _ => units + 1,
        };
        let mut next_wqe_addr = next_entry(pair, cur_wqe_size);
        let mut next_wqe_size = match self.rng.random_range(0..16) {
            0 | 1 => 0,
            2 => self.rng.corner(Uint::<6>::MAX),
            _ => units + 1,
        };
        if self.rng.chance(self.weights.far_next) {
            next_wqe_addr = match self.rng.random_range(0..8) {
                1 => self.rng.corner(Uint::<26>::MAX),
                0 => (pair.rq_offset + self.rng.random_range(0..3)).saturating_sub(1),
                _ => self.far_from(pair.rq_offset),
            };
        } else if self.rng.chance(self.weights.cell_edge) {
            let edge = self.rng.random_range(0..3);
            if self.rng.random_range(0..4) == 0 {
                next_wqe_addr = (pair.rq_offset + edge).saturating_sub(1);
            }
            let advance = next_wqe_addr.saturating_sub(pair.rq_offset);
            next_wqe_size = (CELL_SLOTS - 1 + edge).saturating_sub(pair.cache_offset + advance);
            if next_wqe_size > Uint::<6>::MAX {
                // The end of the cell is too far for one WQE: move the next WQE there.
                next_wqe_size = self.rng.random_range(1..=Uint::<6>::MAX);
                next_wqe_addr =
                    pair.rq_offset + CELL_SLOTS - 1 + edge - pair.cache_offset - next_wqe_size;
            }
        }
        NextUnit {
            next_opcode: self.rng.bits(),
            next_wqe_addr: Uint::new(next_wqe_addr),
            next_wqe_size: Uint::new(next_wqe_size.min(Uint::<6>::MAX)),
            cur_wqe_size: Uint::new(cur_wqe_size),
        }
    }

    /// A slot at a distance of a power of two, approximately, ahead or behind.
    pub fn far_from(&mut self, slot: u64) -> u64 {
        let distance: u64 = 1 << self.rng.random_range(8..26);
        let near = self.rng.random_range(0..16);
        let behind = slot.checked_sub(distance - near);
        match behind.filter(|_| self.rng.random()) {
            Some(behind) => behind,
            None => (slot + distance + near) & Uint::<26>::MAX,
        }
    }
}

/// The slot after a WQE of `size` slots in the pair's ring, rounded up to an entry.
pub fn next_entry(pair: &Pair, size: u64) -> u64 {
    let bytes = pair.entry_bytes();
    if bytes == 0 {
        return pair.rq_offset;
    }
    let next = pair.rq_offset + size.next_multiple_of(bytes / SLOT_BYTES);
    if next * SLOT_BYTES + bytes > pair.context.rq_length.get() { 0 } else { next }
}
