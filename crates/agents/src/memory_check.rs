//! A reference memory for scoreboards, whose reads and writes overlap.

use cosim_harness::harness::Violation;
use std::collections::{BTreeMap, VecDeque};

/// Eight bytes of the memory.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    bytes: [u8; 8],
    /// The bytes whose value is known.
    known: u8,
}

/// A write that started.
#[derive(Debug, Clone, Copy)]
struct Write {
    id: u64,
    address: u64,
    data: [u8; 8],
    strobe: u8,
    /// Bytes that a write of another ID changed meanwhile, so that either may be the last.
    unordered: u8,
    is_done: bool,
    has_failed: bool,
}

/// A read that started.
#[derive(Debug, Clone, Copy)]
struct Read {
    id: u64,
    address: u64,
    /// What the memory held when the read started.
    before: Word,
    /// Number of the first write that may be visible in addition.
    first: u64,
}

/// Checks the data of a memory with overlapping reads and writes.
///
/// A read returns, for each byte, what the last write that was complete before its start left
/// there, or the byte of a write that overlaps the read. Bytes that were never written are
/// unknown until the first read, and then constant. Accesses have at most 8 bytes. Those of one
/// ID complete in order. Bytes to which writes of different IDs overlap become unknown.
///
/// [`MemoryCheck::axi_lite`], [`MemoryCheck::axi4`], [`MemoryCheck::apb`] and
/// [`MemoryCheck::wishbone`] take the events of a monitor. Several interfaces may share the memory,
/// each with a number of its own.
#[derive(Debug, Clone)]
pub struct MemoryCheck {
    /// The name of the check.
    differs: &'static str,
    words: BTreeMap<u64, Word>,
    /// Writes that some read can see, or that are not complete.
    writes: VecDeque<Write>,
    /// The number of the first one of them.
    first: u64,
    reads: VecDeque<Read>,
    compared: u64,
}

impl MemoryCheck {
    /// A memory whose bytes are unknown. `differs` is the name of its check.
    pub fn new(differs: &'static str) -> Self {
        let (writes, reads) = (VecDeque::new(), VecDeque::new());
        Self { differs, words: BTreeMap::new(), writes, first: 0, reads, compared: 0 }
    }

    /// A write starts: it may be visible from now on. Bit `n` of `strobe` belongs to the byte at
    /// `address + n`, which is byte `n` of `data`. `address` is that of the first byte of the data
    /// bus.
    pub fn start_write(&mut self, id: u64, address: u64, data: u64, strobe: u64) {
        let (data, strobe) = (data.to_le_bytes(), strobe as u8);
        self.writes.push_back(Write {
            id,
            address,
            data,
            strobe,
            unordered: 0,
            is_done: false,
            has_failed: false,
        });
    }

    /// The first incomplete write of an ID completes. A write without `success` leaves its bytes
    /// unknown.
    pub fn finish_write(&mut self, id: u64, success: bool) {
        let is_it = |write: &&mut Write| write.id == id && !write.is_done;
        let Some(write) = self.writes.iter_mut().find(is_it) else { return };
        (write.is_done, write.has_failed) = (true, !success);
        let mut write = *write;
        for other in self.writes.iter_mut().filter(|other| other.id != id && !other.is_done) {
            let ahead = other.address.wrapping_sub(write.address);
            let behind = write.address.wrapping_sub(other.address);
            let shared = match (ahead, behind) {
                (0..8, _) => write.strobe & other.strobe << ahead,
                (_, 0..8) => write.strobe & other.strobe >> behind,
                _ => 0,
            };
            write.unordered |= shared;
            other.unordered |= if ahead < 8 { shared >> ahead } else { shared << behind.min(7) };
        }
        for byte in (0..8).filter(|byte| write.strobe >> byte & 1 == 1) {
            let address = write.address.wrapping_add(byte);
            let is_known = success && write.unordered >> byte & 1 == 0;
            self.set(address, is_known.then_some(write.data[byte as usize]));
        }
        self.drop_hidden_writes();
    }

    /// All incomplete writes of an ID complete.
    pub fn finish_writes(&mut self, id: u64) {
        while self.writes.iter().any(|write| write.id == id && !write.is_done) {
            self.finish_write(id, true);
        }
    }

    /// A read starts.
    pub fn start_read(&mut self, id: u64, address: u64) {
        let mut before = Word::default();
        for byte in 0..8 {
            if let Some(value) = self.get(address.wrapping_add(byte)) {
                before.bytes[byte as usize] = value;
                before.known |= 1 << byte;
            }
        }
        let open = self.writes.iter().position(|write| !write.is_done);
        let first = self.first + open.unwrap_or(self.writes.len()) as u64;
        self.reads.push_back(Read { id, address, before, first });
    }

    /// The first incomplete read of an ID completes, with the low `bytes` bytes of `data`.
    ///
    /// # Errors
    /// If a byte has a value that no write explains.
    pub fn finish_read(&mut self, id: u64, data: u64, bytes: u32) -> Result<(), Violation> {
        let Some(place) = self.reads.iter().position(|read| read.id == id) else { return Ok(()) };
        let Some(read) = self.reads.remove(place) else { return Ok(()) };
        for (byte, value) in data.to_le_bytes().into_iter().enumerate().take(bytes as usize) {
            let address = read.address.wrapping_add(byte as u64);
            let is_known = read.before.known >> byte & 1 == 1;
            let skipped = (read.first - self.first) as usize;
            let mut visible = self.writes.iter().skip(skipped).filter_map(|write| {
                let at = address.wrapping_sub(write.address);
                let is_hit = at < 8 && write.strobe >> at & 1 == 1;
                is_hit.then(|| (write.data[at as usize], write.has_failed))
            });
            if is_known && read.before.bytes[byte] != value {
                if !visible.any(|(data, has_failed)| data == value || has_failed) {
                    return Err(self.wrong_byte(&read, byte, data, bytes));
                }
            } else if !is_known && visible.next().is_none() {
                self.set(address, Some(value));
            }
        }
        self.compared += u64::from(bytes > 0);
        self.drop_hidden_writes();
        Ok(())
    }

    #[cold]
    fn wrong_byte(&self, read: &Read, byte: usize, data: u64, bytes: u32) -> Violation {
        let address = read.address.wrapping_add(byte as u64);
        let (value, expected) = (data >> (8 * byte) & 0xff, read.before.bytes[byte]);
        let [value, expected] = [value, expected.into()].map(|byte| format!("{byte:#04x}"));
        let message = format!(
            "read {data:#0width$x} from {:#x}: the byte at {address:#x} is {value}, \
             expected {expected}",
            read.address,
            width = 2 + 2 * bytes as usize,
        );
        Violation { message, ..Violation::differs(self.differs, value, expected) }
    }

    /// A reset ends all reads and writes in flight. Bytes of incomplete writes become unknown.
    pub fn reset(&mut self) {
        self.reads.clear();
        while let Some(write) = self.writes.pop_front() {
            self.first += 1;
            if write.is_done {
                continue;
            }
            for byte in (0..8).filter(|byte| write.strobe >> byte & 1 == 1) {
                self.set(write.address.wrapping_add(byte), None);
            }
        }
    }

    /// Reads that were compared.
    pub fn compared(&self) -> u64 {
        self.compared
    }

    fn get(&self, address: u64) -> Option<u8> {
        let word = self.words.get(&(address / 8))?;
        (word.known >> (address % 8) & 1 == 1).then(|| word.bytes[(address % 8) as usize])
    }

    fn set(&mut self, address: u64, value: Option<u8>) {
        let word = self.words.entry(address / 8).or_default();
        let byte = address % 8;
        match value {
            Some(value) => {
                word.bytes[byte as usize] = value;
                word.known |= 1 << byte;
            }
            None => word.known &= !(1 << byte),
        }
    }

    /// Forgets complete writes that no read can see.
    fn drop_hidden_writes(&mut self) {
        let needed = self.reads.iter().map(|read| read.first).min().unwrap_or(u64::MAX);
        while self.first < needed && self.writes.front().is_some_and(|write| write.is_done) {
            self.writes.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check() -> MemoryCheck {
        let mut check = MemoryCheck::new("data");
        check.start_write(0, 0x10, 0x4433_2211, 0xf);
        check.finish_write(0, true);
        check
    }

    fn read(check: &mut MemoryCheck, address: u64, data: u64) -> bool {
        check.start_read(0, address);
        check.finish_read(0, data, 4).is_ok()
    }

    #[test]
    fn a_read_returns_the_last_complete_write() {
        let mut check = check();
        assert!(read(&mut check, 0x10, 0x4433_2211));
        assert!(!read(&mut check, 0x10, 0x4433_2200));
        check.start_write(0, 0x10, 0xff00, 2);
        check.finish_write(0, true);
        assert!(read(&mut check, 0x10, 0x4433_ff11));
        assert!(!read(&mut check, 0x10, 0x4433_2211), "the write is complete");
        assert_eq!(check.compared(), 2);
    }

    #[test]
    fn a_read_sees_overlapping_writes_or_not() {
        for data in [0x4433_2211, 0x4433_22aa, 0x4433_22bb, 0x4433_22cc] {
            let mut check = check();
            check.start_write(0, 0x10, 0xaa, 1);
            check.start_read(0, 0x10);
            check.start_write(0, 0x10, 0xbb, 1);
            check.finish_write(0, true);
            check.finish_write(0, true);
            assert_eq!(check.finish_read(0, data, 4).is_ok(), data != 0x4433_22cc, "{data:x}");
            assert!(check.writes.is_empty() || data == 0x4433_22cc);
        }
    }

    #[test]
    fn unknown_bytes_are_learned_and_a_reset_makes_bytes_unknown() {
        let mut check = check();
        assert!(read(&mut check, 0x20, 5));
        assert!(!read(&mut check, 0x20, 6));
        check.start_write(0, 0x10, 0xaa, 1);
        check.reset();
        assert!(read(&mut check, 0x10, 0x4433_22aa), "the write may have taken effect");
        assert!(!read(&mut check, 0x10, 0x4433_2211));
    }

    /// Is a byte unknown when writes of two IDs to it overlap, and only that byte?
    #[test]
    fn unordered_writes_leave_their_bytes_unknown() {
        for (first, second) in [(0x10, 0x12), (0x12, 0x10)] {
            let mut check = check();
            check.start_write(1, first, 0x0a0a_0a0a, 0xf);
            check.start_write(2, second, 0x0b0b_0b0b, 0xf);
            check.finish_write(2, true);
            check.finish_write(1, true);
            let low = if first == 0x10 { 0x0a0a } else { 0x0b0b };
            let mut wrong = check.clone();
            assert!(!read(&mut wrong, 0x10, 0x1234_1234));
            assert!(read(&mut check, 0x10, 0x1234_0000 | low));
            assert!(!read(&mut check, 0x10, 0x1235_0000 | low), "the read is known from now on");
        }
    }

    #[test]
    fn ids_complete_in_any_order() {
        let mut check = check();
        check.start_write(1, 0x18, 1, 1);
        check.start_write(2, 0x19, 2, 1);
        check.finish_write(2, true);
        assert!(!read(&mut check, 0x19, 0x0000_0003));
        check.finish_write(1, true);
        assert!(read(&mut check, 0x18, 0x0000_0201));
    }
}
