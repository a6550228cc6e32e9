//! The rules of Wishbone B4, and the coverage of an interface.

use super::{WishbonePins, WishboneTermination};
use crate::interface::Interface;
use crate::memory_check::MemoryCheck;
use crate::names::violate_port;
use crate::transfer::transfer;
use cosim_harness::channels::{STALL, cycles_index};
use cosim_harness::harness::{Covergroup, Transfer, Violation, check_list};
use std::collections::VecDeque;
use std::fmt;
use verilated::Pins;

// ANCHOR: transfer
/// A complete transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WishboneTransfer {
    /// Whether it is a write.
    pub is_write: bool,
    /// The address, in units of the port.
    pub address: u64,
    /// The data of all bytes of the bus: that of the write, or that which was read.
    pub data: u64,
    /// The bytes that take part.
    pub select: u64,
    /// The termination.
    pub termination: WishboneTermination,
}
// ANCHOR_END: transfer

impl fmt::Display for WishboneTransfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, data, select, termination, .. } = self;
        match self.is_write {
            true => write!(f, "write {data:#x} select {select:#x} to {address:#x}")?,
            false => write!(f, "read {data:#x} from {address:#x}")?,
        }
        match termination {
            WishboneTermination::Ack => Ok(()),
            _ => write!(f, ": {termination}"),
        }
    }
}

/// What a manager drives in a request. The data of a read is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Request {
    is_write: bool,
    address: u64,
    data: u64,
    select: u64,
}

/// Checks the rules of Wishbone in every cycle, and returns complete transfers.
#[derive(Debug, Clone)]
pub struct WishboneMonitor<M, S> {
    pins: WishbonePins<M, S>,
    /// The request of the cycle before, if it was not taken.
    held: Option<Request>,
    /// Requests of the pipelined mode without a termination.
    waiting: VecDeque<Request>,
    was_reset: bool,
    permits_idle_ack: bool,
    /// The writes that a reset ended in this cycle.
    dropped: Vec<Request>,
}

impl<M: Pins, S: Pins> WishboneMonitor<M, S> {
    /// B4, "Transfer cycle initiation": `CYC` is asserted for the whole bus cycle, so also while
    /// `STB` is.
    pub const STB_WITHOUT_CYC: &'static str = "wishbone-stb-without-cyc";
    /// B4, "Reset operation": `CYC` and `STB` are negated in reset.
    pub const ACTIVE_IN_RESET: &'static str = "wishbone-active-in-reset";
    /// B4, "Handshaking protocol": `STB` remains asserted until the termination, or until `STALL`
    /// is low in the pipelined mode.
    pub const STB_HELD: &'static str = "wishbone-stb-held";
    /// B4, "Use of STB": `ADR`, `WE`, `SEL` and the data of a write are valid while `STB` is
    /// asserted, so they do not change while a request waits.
    pub const REQUEST_HELD: &'static str = "wishbone-request-held";
    /// B4, "Transfer cycle initiation": `CYC` is asserted until the last transfer is terminated.
    pub const CYC_HELD: &'static str = "wishbone-cyc-held";
    /// B4, "Handshaking protocol": at most one of `ACK`, `ERR` and `RTY` is asserted.
    pub const TWO_TERMINATIONS: &'static str = "wishbone-two-terminations";
    /// B4, "Handshaking protocol": a termination responds to a request.
    pub const NO_REQUEST: &'static str = "wishbone-no-request";
    /// B4, "Handshaking protocol": the subordinate terminates each transfer; here, before the case
    /// ends.
    pub const NOT_TERMINATED: &'static str = "wishbone-not-terminated";

    /// The checks that a manager can break.
    pub fn manager_checks() -> Vec<String> {
        check_list(&[
            Self::STB_WITHOUT_CYC,
            Self::ACTIVE_IN_RESET,
            Self::STB_HELD,
            Self::REQUEST_HELD,
            Self::CYC_HELD,
        ])
    }

    /// The checks that a subordinate can break.
    pub fn subordinate_checks() -> Vec<String> {
        check_list(&[Self::TWO_TERMINATIONS, Self::NO_REQUEST, Self::NOT_TERMINATED])
    }

    /// A monitor of an idle interface.
    pub fn new(pins: WishbonePins<M, S>) -> Self {
        let (held, waiting) = (None, VecDeque::new());
        let dropped = Vec::new();
        Self { pins, held, waiting, was_reset: false, permits_idle_ack: false, dropped }
    }

    /// The same monitor for a classic subordinate that holds `ACK` asserted, which B4 permits for
    /// one that is always ready ("Handshaking protocol").
    #[must_use]
    pub fn permit_idle_ack(self) -> Self {
        Self { permits_idle_ack: true, ..self }
    }

    /// Observes a cycle. Returns the transfer that is terminated.
    ///
    /// # Errors
    /// The rule that the cycle breaks.
    #[inline]
    pub fn observe(
        &mut self,
        in_reset: bool,
        m: &M,
        s: &S,
    ) -> Result<Option<WishboneTransfer>, Violation> {
        let pins = &self.pins;
        let (cyc, stb) = (pins.cyc.is_high(m), pins.stb.is_high(m));
        let was_reset = std::mem::replace(&mut self.was_reset, in_reset);
        if in_reset {
            self.dropped.clear();
            let ended = self.held.take().into_iter().chain(self.waiting.drain(..));
            self.dropped.extend(ended.filter(|ended| ended.is_write));
            if was_reset && (cyc || stb) {
                let port = if cyc { pins.cyc.name() } else { pins.stb.name() };
                let message = format_args!("cyc is {cyc}, stb is {stb} in reset");
                return violate_port(port, Self::ACTIVE_IN_RESET, message);
            }
            return Ok(None);
        }
        if !cyc && (self.held.is_some() || !self.waiting.is_empty()) {
            let message = format_args!(
                "cyc falls while {} transfers wait for a termination",
                self.waiting.len() + usize::from(self.held.is_some())
            );
            return violate_port(pins.cyc.name(), Self::CYC_HELD, message);
        }
        if stb && !cyc {
            return violate_port(
                pins.stb.name(),
                Self::STB_WITHOUT_CYC,
                "stb is high while cyc is low",
            );
        }
        let is_write = pins.we.is_high(m);
        let request = stb.then(|| Request {
            is_write,
            address: pins.adr.get(m),
            data: if is_write { pins.write_data.get(m) } else { 0 },
            select: pins.sel.map_or((1 << pins.bytes()) - 1, |pin| pin.get(m)),
        });
        match (self.held, request) {
            (Some(held), None) => {
                let message = format_args!("stb falls while {held:x?} waits");
                return violate_port(pins.stb.name(), Self::STB_HELD, message);
            }
            (Some(held), Some(request)) if held != request => {
                let port = if held.is_write != request.is_write {
                    pins.we.name()
                } else if held.address != request.address {
                    pins.adr.name()
                } else if held.data != request.data {
                    pins.write_data.name()
                } else {
                    pins.sel.unwrap_or(pins.stb).name()
                };
                let message = format_args!("{held:x?} becomes {request:x?}");
                return violate_port(port, Self::REQUEST_HELD, message);
            }
            _ => {}
        }
        let terminations = pins.terminations(s);
        let termination = match terminations {
            [false, false, false] => None,
            [true, false, false] => Some(WishboneTermination::Ack),
            [false, true, false] => Some(WishboneTermination::Err),
            [false, false, true] => Some(WishboneTermination::Rty),
            [ack, err, rty] => {
                let message = format_args!("ack is {ack}, err is {err}, rty is {rty}");
                let pin = pins.err.filter(|_| err).or(pins.rty).unwrap_or(pins.ack);
                return violate_port(pin.name(), Self::TWO_TERMINATIONS, message);
            }
        };
        let ended = if pins.is_pipelined() {
            let is_taken = pins.is_taken(s);
            self.held = request.filter(|_| !is_taken);
            self.waiting.extend(request.filter(|_| is_taken));
            termination.and_then(|_| self.waiting.pop_front())
        } else {
            self.held = request.filter(|_| termination.is_none());
            request.filter(|_| termination.is_some())
        };
        let (termination, ended) = match (termination, ended) {
            (None, _) => return Ok(None),
            (Some(termination), Some(ended)) => (termination, ended),
            (Some(WishboneTermination::Ack), None) if self.permits_idle_ack => return Ok(None),
            (Some(termination), None) => {
                let [_, err, rty] = terminations;
                let pin = pins.err.filter(|_| err).or(pins.rty.filter(|_| rty));
                let port = pin.unwrap_or(pins.ack).name();
                let message = format_args!("{termination:?}, but no transfer waits for it");
                return violate_port(port, Self::NO_REQUEST, message);
            }
        };
        let Request { is_write, address, select, .. } = ended;
        let data = if is_write { ended.data } else { pins.read_data.get(s) };
        Ok(Some(WishboneTransfer { is_write, address, data, select, termination }))
    }

    /// Checks the end of the case.
    ///
    /// # Errors
    /// If a transfer is not terminated.
    pub fn finish(&self) -> Result<(), Violation> {
        let port = || self.pins.ack.name();
        match self.held.as_ref().or(self.waiting.front()) {
            None => Ok(()),
            Some(first) => violate_port(port(), Self::NOT_TERMINATED, format_args!("{first:x?}")),
        }
    }
}

impl MemoryCheck {
    /// Observes the transfer that is terminated in a cycle on the interface with this number.
    ///
    /// # Errors
    /// If a byte of a read has a value that no write explains.
    pub fn wishbone<M: Pins, S: Pins>(
        &mut self,
        port: u32,
        monitor: &WishboneMonitor<M, S>,
        transfer: Option<&WishboneTransfer>,
    ) -> Result<(), Violation> {
        let (id, pins) = (u64::from(port), &monitor.pins);
        let first = |address: u64| {
            let address = address.wrapping_mul(u64::from(pins.address_step));
            address & !u64::from(pins.bytes() - 1)
        };
        for write in monitor.dropped.iter().filter(|_| monitor.was_reset) {
            self.start_write(id, first(write.address), 0, write.select);
            self.finish_write(id, false);
        }
        let Some(transfer) = transfer else { return Ok(()) };
        let WishboneTransfer { is_write, address, data, select, termination } = *transfer;
        let succeeds = termination == WishboneTermination::Ack;
        let address = first(address);
        if is_write {
            self.start_write(id, address, data, select);
            self.finish_write(id, succeeds);
            return Ok(());
        }
        self.start_read(id, address);
        // Lanes that are not selected have no meaning: a read up to the first of them.
        let bytes = select.trailing_ones().min(pins.read_data.width() / 8);
        self.finish_read(id, data, if succeeds { bytes } else { 0 })
            .map_err(|violation| violation.with_subject(pins.read_data.name()))
    }
}

cosim_harness::coverage! {
    /// The kind of a transfer.
    axis KIND = "kind" { "write": "a write", "read": "a read" }
    /// The termination of a transfer.
    axis TERMINATION = "termination" {
        "ack": "it succeeded", "err": "it failed", "rty": "the manager should retry it"
    }
    /// Whether a request follows the request before in the next cycle.
    axis FOLLOWS = "follows" {
        "apart": "a cycle or more without a request before",
        "back-to-back": "in the cycle after the request before it"
    }
    /// Transfers in flight.
    axis IN_FLIGHT = "in flight" { "1": "one transfer", "2": "two", "3+": "three or more" }
}

const TRANSFERS: usize = 0;
const REQUESTS: usize = 1;
const OUTSTANDING: usize = 2;

/// The state of the coverage.
#[derive(Debug, Clone, Default)]
pub struct WishboneState {
    /// Whether the cycle before had a request.
    follows: bool,
    /// Cycles of the request so far.
    stall: u64,
    in_flight: u64,
}

impl<M: Pins, S: Pins> Interface<M, S> for WishbonePins<M, S> {
    type State = WishboneState;

    const GROUPS: &'static [Covergroup] = &[
        Covergroup::new("transfers", "transfers, by termination", &[TERMINATION]),
        Covergroup::new(
            "requests",
            "requests, by kind, distance to the one before, and cycles until they are taken",
            &[KIND, FOLLOWS, STALL],
        ),
        Covergroup::new("outstanding", "transfers in flight when a request is taken", &[IN_FLIGHT]),
    ];

    fn transfers(&self, m: &M, s: &S) -> Vec<Transfer> {
        let cyc = self.cyc.name();
        let name = cyc.port.rfind("cyc").map_or("", |place| &cyc.port[place..]);
        let is_taken = match self.is_pipelined() {
            true => self.is_taken(s),
            false => self.terminations(s).contains(&true),
        };
        vec![transfer::<M, S>(cyc, name, self.words(m, s), [true, is_taken])]
    }

    #[inline]
    fn sample(
        &self,
        state: &mut WishboneState,
        in_reset: bool,
        m: &M,
        s: &S,
        mut hit: impl FnMut(usize, &[usize]),
    ) {
        if in_reset || !self.cyc.is_high(m) {
            *state = WishboneState::default();
            return;
        }
        let termination = self.terminations(s).iter().position(|is_high| *is_high);
        let is_taken = match self.is_pipelined() {
            true => self.is_taken(s),
            false => termination.is_some(),
        };
        match (self.stb.is_high(m), is_taken) {
            (false, _) => state.follows = false,
            (true, false) => state.stall += 1,
            (true, true) => {
                let stall = cycles_index(std::mem::take(&mut state.stall));
                let follows = usize::from(std::mem::replace(&mut state.follows, true));
                hit(REQUESTS, &[usize::from(!self.we.is_high(m)), follows, stall]);
                state.in_flight += 1;
                hit(OUTSTANDING, &[state.in_flight.min(3) as usize - 1]);
            }
        }
        if let Some(termination) = termination.filter(|_| state.in_flight > 0) {
            hit(TRANSFERS, &[termination]);
            state.in_flight -= 1;
        }
    }
}
