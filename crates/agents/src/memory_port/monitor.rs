//! The rules of a memory port, and its coverage.

use super::MemoryPortPins;
use crate::interface::Interface;
use crate::memory_check::MemoryCheck;
use crate::names::violate_port;
use crate::transfer::transfer;
use crate::wide::{Data, Lanes, Wide};
use cosim_harness::channels::{GAP, cycles_index};
use cosim_harness::harness::{Covergroup, Transfer, Violation, check_list};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use verilated::{PinName, Pins};

// ANCHOR: events
/// An access, or a read with its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPortAccess {
    /// Whether it is a write.
    pub is_write: bool,
    /// The address in words.
    pub address: u64,
    /// The data that is written or was read.
    pub data: Data,
    /// The bytes that take part; all of a read.
    pub lanes: Lanes,
}

impl fmt::Display for MemoryPortAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, data, lanes, .. } = self;
        match self.is_write {
            true => write!(f, "write {data} lanes {lanes} to {address:#x}"),
            false => write!(f, "read {address:#x}"),
        }
    }
}

/// What happens at a memory port in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPortEvents {
    /// The access that starts.
    pub access: Option<MemoryPortAccess>,
    /// A read whose data is on `rdata`.
    pub read: Option<MemoryPortAccess>,
}
// ANCHOR_END: events

/// Checks the rules of a memory port in every cycle, among them the data of reads.
#[derive(Debug, Clone)]
pub struct MemoryPortMonitor<M, S> {
    pins: MemoryPortPins<M, S>,
    /// The words that were written, with the bytes that are known.
    words: BTreeMap<u64, (Data, Lanes)>,
    /// Reads: the cycle of their data, the address, the expected word.
    reads: VecDeque<(u64, u64, (Data, Lanes))>,
    time: u64,
    was_reset: bool,
    compared: u64,
    is_memory: bool,
}

impl<M: Pins, S: Pins> MemoryPortMonitor<M, S> {
    /// The address of an access is below the depth of the memory.
    pub const ADDRESS_RANGE: &'static str = "memory-address-range";
    /// `en` is low in reset, because a memory without a reset would take the access.
    pub const ENABLE_IN_RESET: &'static str = "memory-enable-in-reset";
    /// A read returns the bytes of the last writes, after the latency. Bytes that were never
    /// written, or not since a reset, are not checked.
    pub const READ_DATA: &'static str = "memory-read-data";

    /// The checks that a manager can break.
    pub fn manager_checks() -> Vec<String> {
        check_list(&[Self::ADDRESS_RANGE, Self::ENABLE_IN_RESET])
    }

    /// The checks that a memory can break.
    pub fn subordinate_checks() -> Vec<String> {
        check_list(&[Self::READ_DATA])
    }

    /// A monitor of an idle port.
    pub fn new(pins: MemoryPortPins<M, S>) -> Self {
        let (words, reads) = (BTreeMap::new(), VecDeque::new());
        Self { pins, words, reads, time: 0, was_reset: false, compared: 0, is_memory: true }
    }

    /// The same monitor without [`Self::READ_DATA`]: for registers that are no memory, and for a
    /// memory with several ports ([`MemoryCheck::memory_port`]).
    #[must_use]
    pub fn without_memory(self) -> Self {
        Self { is_memory: false, ..self }
    }

    /// Observes a cycle.
    ///
    /// # Errors
    /// The rule that the cycle breaks.
    #[inline]
    pub fn observe(&mut self, in_reset: bool, m: &M, s: &S) -> Result<MemoryPortEvents, Violation> {
        let now = self.time;
        self.time += 1;
        let was_reset = std::mem::replace(&mut self.was_reset, in_reset);
        let mut access = self.pins.access(m);
        if in_reset {
            // A memory may lose its contents.
            self.words.clear();
            self.reads.clear();
            if was_reset && access.is_some() && self.pins.is_quiet_when_idle() {
                return violate_port(self.port(), Self::ENABLE_IN_RESET, "en is high in reset");
            }
            access = None;
        }
        if let Some(access) = &access {
            let address = access.address;
            if address >= self.pins.depth {
                let message = format_args!("{address:#x}, expected below {:#x}", self.pins.depth);
                return violate_port(self.port(), Self::ADDRESS_RANGE, message);
            }
            if access.is_write {
                if self.is_memory {
                    let (word, known) = self.words.entry(address).or_default();
                    for lane in (0..self.pins.bytes()).filter(|lane| access.lanes.bit(*lane)) {
                        word.set_byte(lane, access.data.byte(lane));
                        known.0[lane as usize / 32] |= 1 << (lane % 32);
                    }
                }
            } else {
                let word = self.words.get(&address).copied();
                let due = now + u64::from(self.pins.latency);
                self.reads.push_back((due, address, word.unwrap_or((Wide::ZERO, Lanes::ZERO))));
            }
        }
        let read = match self.reads.front() {
            Some((due, address, expected)) if *due == now => {
                let data = Wide(self.pins.rdata.words(s));
                self.check(*address, expected, &data)?;
                let lanes = Lanes::ones(self.pins.bytes());
                Some(MemoryPortAccess { is_write: false, address: *address, data, lanes })
            }
            _ => None,
        };
        if read.is_some() {
            self.reads.pop_front();
            self.compared += 1;
        }
        Ok(MemoryPortEvents { access, read })
    }

    #[inline]
    fn check(
        &self,
        address: u64,
        (expected, known): &(Data, Lanes),
        data: &Data,
    ) -> Result<(), Violation> {
        let is_wrong = |lane: &u32| known.bit(*lane) && expected.byte(*lane) != data.byte(*lane);
        let Some(lane) = (0..self.pins.bytes()).find(is_wrong) else { return Ok(()) };
        let message =
            format_args!("{data} from {address:#x}, expected {expected}: byte {lane} differs");
        violate_port(self.pins.rdata.name(), Self::READ_DATA, message)
    }

    /// The port that messages name.
    #[cold]
    fn port(&self) -> PinName {
        self.pins.en.unwrap_or(self.pins.addr).name()
    }

    /// Reads that were compared.
    pub fn compared(&self) -> u64 {
        self.compared
    }
}

impl MemoryCheck {
    /// Observes the events of a cycle on the port with this number. A write takes effect with the
    /// next access of the port.
    ///
    /// # Errors
    /// If a byte of a read has a value that no write explains.
    pub fn memory_port<M: Pins, S: Pins>(
        &mut self,
        port: u32,
        monitor: &MemoryPortMonitor<M, S>,
        events: &MemoryPortEvents,
    ) -> Result<(), Violation> {
        let (id, bytes) = (u64::from(port), monitor.pins.bytes());
        let parts = |address: u64| {
            let base = address.wrapping_mul(u64::from(bytes));
            (0..bytes)
                .step_by(8)
                .map(move |lane| (base.wrapping_add(u64::from(lane)), lane, (bytes - lane).min(8)))
        };
        self.finish_writes(id);
        if let Some(MemoryPortAccess { is_write, address, data, lanes }) = &events.access {
            for (address, lane, count) in parts(*address) {
                let byte = |n| u64::from(data.byte(lane + n)) << (8 * n);
                let bit = |n| u64::from(lanes.bit(lane + n)) << n;
                match is_write {
                    true => {
                        let strobe = (0..count).map(bit).sum();
                        self.start_write(id, address, (0..count).map(byte).sum(), strobe);
                    }
                    false => self.start_read(id, address),
                }
            }
        }
        let Some(read) = &events.read else { return Ok(()) };
        for (_, lane, count) in parts(read.address) {
            let byte = |n| u64::from(read.data.byte(lane + n)) << (8 * n);
            self.finish_read(id, (0..count).map(byte).sum(), count)
                .map_err(|violation| violation.with_subject(monitor.pins.rdata.name()))?;
        }
        Ok(())
    }
}

cosim_harness::coverage! {
    /// The kind of an access.
    axis KIND = "kind" { "write": "a write", "read": "a read" }
    /// The address in relation to the one before.
    axis ADDRESS = "address" {
        "other": "another address than the access before", "same": "the same address"
    }
}

const ACCESSES: usize = 0;
const PAIRS: usize = 1;

/// The state of the coverage.
#[derive(Debug, Clone)]
pub struct MemoryPortState {
    gap: u64,
    /// Kind and address of the access of the cycle before.
    before: Option<(usize, u64)>,
}

impl Default for MemoryPortState {
    fn default() -> Self {
        Self { gap: 1, before: None }
    }
}

impl<M: Pins, S: Pins> Interface<M, S> for MemoryPortPins<M, S> {
    type State = MemoryPortState;

    const GROUPS: &'static [Covergroup] = &[
        Covergroup::new("accesses", "accesses: kind and gap before", &[KIND, GAP]),
        Covergroup::new(
            "pairs",
            "two accesses in a row: kinds and addresses",
            &[KIND, KIND, ADDRESS],
        ),
    ];

    fn transfers(&self, m: &M, _: &S) -> Vec<Transfer> {
        let first = self.en.map_or((self.addr.name(), "addr"), |en| (en.name(), "en"));
        vec![transfer::<M, S>(first.0, first.1, self.words(m), [false, true])]
    }

    #[inline]
    fn sample(
        &self,
        state: &mut MemoryPortState,
        in_reset: bool,
        m: &M,
        _: &S,
        mut hit: impl FnMut(usize, &[usize]),
    ) {
        if in_reset {
            *state = MemoryPortState::default();
            return;
        }
        if !self.has_access(m) {
            *state = MemoryPortState { gap: state.gap + 1, before: None };
            return;
        }
        let kind = usize::from(!self.we.is_some_and(|pin| pin.is_high(m)));
        let address = self.addr.get(m);
        hit(ACCESSES, &[kind, cycles_index(state.gap)]);
        if let Some((before, at)) = state.before {
            hit(PAIRS, &[before, kind, usize::from(at == address)]);
        }
        *state = MemoryPortState { gap: 0, before: Some((kind, address)) };
    }
}
