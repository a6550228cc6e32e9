//! A reference memory for scoreboards of AXI4.

use super::{Axi4Address, Axi4Events, Axi4ReadBeat, Axi4WriteBeat};
use crate::memory_check::MemoryCheck;
use cosim_harness::harness::Violation;
use std::collections::VecDeque;

/// Checks the data of a memory behind AXI4, as [`MemoryCheck`] does. Writes with different IDs to
/// the same bytes must not overlap, because AXI4 does not order them.
#[derive(Debug, Clone)]
pub struct Axi4MemoryCheck {
    check: MemoryCheck,
    bus: u32,
    /// Parts of writes without a response: the ID, and the number of parts.
    writes: VecDeque<(u64, u32)>,
}

impl Axi4MemoryCheck {
    /// A memory whose bytes are unknown, behind a bus of `bus` bytes. `differs` is the name of its
    /// check.
    pub fn new(differs: &'static str, bus: u32) -> Self {
        Self { check: MemoryCheck::new(differs), bus, writes: VecDeque::new() }
    }

    /// The parts of the lanes of a beat: the address, the first lane, and at most 8 lanes.
    fn parts(
        &self,
        burst: &Axi4Address,
        beat: u32,
    ) -> impl Iterator<Item = (u64, u32, u32)> + use<> {
        let (first, count) = burst.lanes(beat, self.bus);
        let base = burst.beat_address(beat) & !u64::from(self.bus - 1);
        (0..count).step_by(8).map(move |part| {
            let lane = first + part;
            (base + u64::from(lane), lane, (count - part).min(8))
        })
    }

    /// Observes the events of a cycle. Call [`Axi4MemoryCheck::write_beat`] for its beats of
    /// writes before it.
    ///
    /// # Errors
    /// If a byte of a read has a value that no write explains.
    pub fn observe<const WORDS: usize>(
        &mut self,
        events: &Axi4Events<WORDS>,
    ) -> Result<(), Violation> {
        if let Some(burst) = &events.read_start {
            for beat in 0..burst.beats() {
                for (address, ..) in self.parts(burst, beat) {
                    self.check.start_read(burst.id, address);
                }
            }
        }
        if let Some((burst, response)) = &events.write {
            let place = self.writes.iter().position(|(id, _)| *id == burst.id);
            let parts = place.and_then(|place| self.writes.remove(place)).map_or(0, |of| of.1);
            for _ in 0..parts {
                self.check.finish_write(burst.id, response.code() == 0);
            }
        }
        match &events.read {
            Some(beat) => self.read_beat(beat),
            None => Ok(()),
        }
    }

    /// A beat of a write is there, with its address.
    pub fn write_beat<const WORDS: usize>(&mut self, beat: &Axi4WriteBeat<WORDS>) {
        let id = beat.burst.id;
        let mut count = 0;
        for (address, lane, lanes) in self.parts(&beat.burst, beat.beat) {
            let byte = |n| u64::from(beat.data.byte(lane + n)) << (8 * n);
            let strobe = |n| u64::from(beat.strobe.bit(lane + n)) << n;
            let data = (0..lanes).map(byte).sum();
            self.check.start_write(id, address, data, (0..lanes).map(strobe).sum());
            count += 1;
        }
        match self.writes.iter_mut().rev().find(|(of, _)| *of == id && beat.beat > 0) {
            Some((_, parts)) => *parts += count,
            None => self.writes.push_back((id, count)),
        }
    }

    fn read_beat<const WORDS: usize>(
        &mut self,
        beat: &Axi4ReadBeat<WORDS>,
    ) -> Result<(), Violation> {
        for (_, lane, lanes) in self.parts(&beat.burst, beat.beat) {
            let byte = |n| u64::from(beat.data.byte(lane + n)) << (8 * n);
            let data = (0..lanes).map(byte).sum();
            let lanes = if beat.response.code() == 0 { lanes } else { 0 };
            self.check.finish_read(beat.burst.id, data, lanes)?;
        }
        Ok(())
    }

    /// A reset ends all reads and writes in flight.
    pub fn reset(&mut self) {
        self.check.reset();
        self.writes.clear();
    }

    /// Parts of reads that were compared.
    pub fn compared(&self) -> u64 {
        self.check.compared()
    }
}
