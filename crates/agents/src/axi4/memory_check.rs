//! The reference memory behind AXI4.

use super::{Axi4Address, Axi4Events, Axi4Monitor, Axi4WriteBeat};
use crate::memory_check::MemoryCheck;
use cosim_harness::harness::Violation;
use verilated::Pins;

/// The parts of the lanes of a beat: the address, the first lane, and at most 8 lanes.
fn parts(burst: &Axi4Address, beat: u32, bus: u32) -> impl Iterator<Item = (u64, u32, u32)> {
    let (first, count) = burst.lanes(beat, bus);
    let base = burst.beat_address(beat) & !u64::from(bus - 1);
    (0..count).step_by(8).map(move |part| {
        let lane = first + part;
        (base + u64::from(lane), lane, (count - part).min(8))
    })
}

impl MemoryCheck {
    /// Observes the events of a cycle on the interface with this number. Call
    /// [`MemoryCheck::reset`] in reset.
    ///
    /// # Errors
    /// If a byte of a read has a value that no write explains.
    pub fn axi4<M: Pins, S: Pins, const WORDS: usize>(
        &mut self,
        port: u32,
        monitor: &mut Axi4Monitor<M, S, WORDS>,
        events: &Axi4Events<WORDS>,
    ) -> Result<(), Violation> {
        let bus = monitor.pins.bytes();
        let id = |burst: &Axi4Address| u64::from(port) << 32 | burst.id;
        while let Some(Axi4WriteBeat { burst, beat, data, strobe }) = monitor.pop_write_beat() {
            for (address, lane, lanes) in parts(&burst, beat, bus) {
                let byte = |n| u64::from(data.byte(lane + n)) << (8 * n);
                let bit = |n| u64::from(strobe.bit(lane + n)) << n;
                let (data, strobe) = ((0..lanes).map(byte).sum(), (0..lanes).map(bit).sum());
                self.start_write(id(&burst), address, data, strobe);
            }
        }
        if let Some(burst) = &events.read_start {
            for beat in 0..burst.beats() {
                for (address, ..) in parts(burst, beat, bus) {
                    self.start_read(id(burst), address);
                }
            }
        }
        if let Some((burst, response)) = &events.write {
            for beat in 0..burst.beats() {
                for _ in parts(burst, beat, bus) {
                    self.finish_write(id(burst), response.code() == 0);
                }
            }
        }
        let Some(read) = &events.read else { return Ok(()) };
        for (_, lane, lanes) in parts(&read.burst, read.beat, bus) {
            let byte = |n| u64::from(read.data.byte(lane + n)) << (8 * n);
            let data = (0..lanes).map(byte).sum();
            let lanes = if read.response.code() == 0 { lanes } else { 0 };
            self.finish_read(id(&read.burst), data, lanes)
                .map_err(|violation| violation.with_subject(monitor.pins.rdata.name()))?;
        }
        Ok(())
    }
}
