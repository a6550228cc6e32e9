//! The rules of APB, and the coverage of an interface.

use super::ApbPins;
use crate::interface::Interface;
use crate::memory_check::MemoryCheck;
use crate::names::violate_port;
use crate::ports::Optional;
use crate::transfer::transfer;
use cosim_harness::channels::{STALL, cycles_index};
use cosim_harness::harness::{Covergroup, Transfer, Violation, check_list};
use std::fmt;
use verilated::Pins;

// ANCHOR: transfer
/// A complete transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApbTransfer {
    /// Whether it is a write.
    pub is_write: bool,
    /// The byte address.
    pub address: u64,
    /// The protection type.
    pub prot: u64,
    /// The data of all bytes of the bus: that of the write, or that which was read.
    pub data: u64,
    /// The bytes that are written.
    pub strobe: u64,
    /// Whether the subordinate reports an error.
    pub is_error: bool,
}
// ANCHOR_END: transfer

impl fmt::Display for ApbTransfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, data, strobe, .. } = self;
        match self.is_write {
            true => write!(f, "write {data:#x} strobe {strobe:#x} to {address:#x}")?,
            false => write!(f, "read {data:#x} from {address:#x}")?,
        }
        f.write_str(if self.is_error { ": error" } else { "" })
    }
}

/// What a manager drives in a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Request {
    address: u64,
    is_write: bool,
    data: u64,
    strobe: u64,
    prot: u64,
}

/// Checks the rules of APB in every cycle, and returns complete transfers.
#[derive(Debug, Clone)]
pub struct ApbMonitor<M, S> {
    pins: ApbPins<M, S>,
    /// The transfer that continues in this cycle.
    open: Option<Request>,
    /// Whether it has been in its access phase.
    is_access: bool,
    was_reset: bool,
    /// The write that a reset ended in this cycle.
    dropped: Option<Request>,
}

impl<M: Pins, S: Pins> ApbMonitor<M, S> {
    /// IHI 0024, "Operating states": the access phase, in which `PENABLE` is high, only occurs
    /// while `PSEL` is high.
    pub const ENABLE_WITHOUT_SELECT: &'static str = "apb-enable-without-select";
    /// IHI 0024, "Operating states": a transfer begins with a setup phase, in which `PENABLE` is
    /// low.
    pub const NO_SETUP: &'static str = "apb-no-setup";
    /// IHI 0024, "Operating states": the setup phase lasts one cycle, and the access phase follows.
    pub const NO_ACCESS: &'static str = "apb-no-access";
    /// IHI 0024, "Write transfers" and "Operating states": while `PREADY` is low, `PSEL` and
    /// `PENABLE` remain high.
    pub const WITHDRAWN: &'static str = "apb-withdrawn";
    /// IHI 0024, "Write transfers" and "Read transfers": `PADDR` does not change in a transfer.
    pub const ADDRESS_HELD: &'static str = "apb-address-held";
    /// IHI 0024, "Write transfers" and "Read transfers": `PWRITE` does not change in a transfer.
    pub const WRITE_HELD: &'static str = "apb-write-held";
    /// IHI 0024, "Write transfers": `PWDATA` does not change in a write.
    pub const DATA_HELD: &'static str = "apb-data-held";
    /// IHI 0024, "Write transfers": `PSTRB` does not change in a transfer.
    pub const STROBE_HELD: &'static str = "apb-strobe-held";
    /// IHI 0024, "Write transfers" and "Read transfers": `PPROT` does not change in a transfer.
    pub const PROT_HELD: &'static str = "apb-prot-held";
    /// IHI 0024, "Write strobes": all bits of `PSTRB` are low in a read.
    pub const STROBE_IN_READ: &'static str = "apb-strobe-in-read";
    /// IHI 0024, "Operating states": the state after a reset is idle, in which `PSEL` is low.
    pub const SELECT_IN_RESET: &'static str = "apb-select-in-reset";
    /// IHI 0024, "Write transfers": the subordinate completes each transfer with `PREADY`; here,
    /// before the case ends.
    pub const NOT_COMPLETE: &'static str = "apb-not-complete";

    /// The checks that a manager can break.
    pub fn manager_checks() -> Vec<String> {
        check_list(&[
            Self::ENABLE_WITHOUT_SELECT,
            Self::NO_SETUP,
            Self::NO_ACCESS,
            Self::WITHDRAWN,
            Self::ADDRESS_HELD,
            Self::WRITE_HELD,
            Self::DATA_HELD,
            Self::STROBE_HELD,
            Self::PROT_HELD,
            Self::STROBE_IN_READ,
            Self::SELECT_IN_RESET,
        ])
    }

    /// The checks that a subordinate can break.
    pub fn subordinate_checks() -> Vec<String> {
        check_list(&[Self::NOT_COMPLETE])
    }

    /// A monitor of an idle interface.
    pub fn new(pins: ApbPins<M, S>) -> Self {
        Self { pins, open: None, is_access: false, was_reset: false, dropped: None }
    }

    /// Observes a cycle. Returns the transfer that completes.
    ///
    /// # Errors
    /// The rule that the cycle breaks.
    #[inline]
    pub fn observe(
        &mut self,
        in_reset: bool,
        m: &M,
        s: &S,
    ) -> Result<Option<ApbTransfer>, Violation> {
        let port = || self.pins.psel.name();
        let pins = &self.pins;
        let name = |pin: Optional<M>| pin.unwrap_or(pins.psel).name();
        let (select, enable) = (pins.psel.is_high(m), pins.penable.is_high(m));
        let was_reset = std::mem::replace(&mut self.was_reset, in_reset);
        if in_reset {
            self.dropped = self.open.take().filter(|open| open.is_write);
            if was_reset && select {
                return violate_port(port(), Self::SELECT_IN_RESET, "psel is high in reset");
            }
            return Ok(None);
        }
        if enable && !select && self.open.is_none() {
            let message = "it is high while psel is low";
            return violate_port(pins.penable.name(), Self::ENABLE_WITHOUT_SELECT, message);
        }
        if !select && self.open.is_none() {
            return Ok(None);
        }
        let request = Request {
            address: pins.paddr.get(m),
            is_write: pins.pwrite.is_high(m),
            data: pins.pwdata.get(m),
            strobe: pins.pstrb.map_or(0, |pin| pin.get(m)),
            prot: pins.pprot.map_or(0, |pin| pin.get(m)),
        };
        let Some((open, is_access)) = self.open.map(|open| (open, self.is_access)) else {
            if enable {
                let message = "it is high in the first cycle of a transfer";
                return violate_port(pins.penable.name(), Self::NO_SETUP, message);
            }
            if !request.is_write && request.strobe != 0 {
                let message = format_args!("it is {:#x} in a read", request.strobe);
                return violate_port(name(pins.pstrb), Self::STROBE_IN_READ, message);
            }
            (self.open, self.is_access) = (Some(request), false);
            return Ok(None);
        };
        if !(select && enable) {
            let check = if is_access { Self::WITHDRAWN } else { Self::NO_ACCESS };
            let message = format_args!("{open:x?}: psel is {select}, penable is {enable}");
            return violate_port(port(), check, message);
        }
        let changed = if open.address != request.address {
            Some((pins.paddr.name(), Self::ADDRESS_HELD))
        } else if open.is_write != request.is_write {
            Some((pins.pwrite.name(), Self::WRITE_HELD))
        } else if open.is_write && open.data != request.data {
            Some((pins.pwdata.name(), Self::DATA_HELD))
        } else if open.strobe != request.strobe {
            Some((name(pins.pstrb), Self::STROBE_HELD))
        } else {
            (open.prot != request.prot).then(|| (name(pins.pprot), Self::PROT_HELD))
        };
        if let Some((port, check)) = changed {
            return violate_port(port, check, format_args!("{open:x?} becomes {request:x?}"));
        }
        self.is_access = true;
        let complete = self.pins.complete(m, s);
        if complete.is_some() {
            self.open = None;
        }
        Ok(complete)
    }

    /// Checks the end of the case.
    ///
    /// # Errors
    /// If a transfer is not complete.
    pub fn finish(&self) -> Result<(), Violation> {
        let port = || self.pins.psel.name();
        match &self.open {
            None => Ok(()),
            Some(open) => violate_port(port(), Self::NOT_COMPLETE, format_args!("{open:x?}")),
        }
    }
}

impl MemoryCheck {
    /// Observes the transfer that completes in a cycle on the interface with this number.
    ///
    /// # Errors
    /// If a byte of a read has a value that no write explains.
    pub fn apb<M: Pins, S: Pins>(
        &mut self,
        port: u32,
        monitor: &ApbMonitor<M, S>,
        transfer: Option<&ApbTransfer>,
    ) -> Result<(), Violation> {
        let (id, pins) = (u64::from(port), &monitor.pins);
        if let Some(write) = monitor.dropped.filter(|_| monitor.was_reset) {
            self.start_write(id, pins.first_byte(write.address), 0, u64::MAX);
            self.finish_write(id, false);
        }
        let Some(transfer) = transfer else { return Ok(()) };
        let ApbTransfer { is_write, address, data, strobe, is_error, .. } = *transfer;
        let address = pins.first_byte(address);
        if is_write {
            self.start_write(id, address, data, strobe);
            self.finish_write(id, !is_error);
            return Ok(());
        }
        self.start_read(id, address);
        self.finish_read(id, data, if is_error { 0 } else { pins.bytes() })
            .map_err(|violation| violation.with_subject(pins.prdata.name()))
    }
}

cosim_harness::coverage! {
    /// The kind of a transfer.
    axis KIND = "kind" { "write": "a write", "read": "a read" }
    /// The response of a transfer.
    axis RESPONSE = "response" { "okay": "no error", "error": "pslverr" }
    /// Whether the setup phase follows the transfer before without an idle cycle.
    axis FOLLOWS = "follows" {
        "apart": "an idle cycle or more before", "back-to-back": "no idle cycle before"
    }
}

const TRANSFERS: usize = 0;
const WAITS: usize = 1;

/// The state of the coverage.
#[derive(Debug, Clone, Default)]
pub struct ApbState {
    /// Whether the cycle before had a transfer.
    follows: bool,
    /// Cycles of the transfer so far.
    length: u64,
}

impl<M: Pins, S: Pins> Interface<M, S> for ApbPins<M, S> {
    type State = ApbState;

    const GROUPS: &'static [Covergroup] = &[
        Covergroup::new(
            "transfers",
            "transfers, by kind, response, and distance to the one before",
            &[KIND, RESPONSE, FOLLOWS],
        ),
        Covergroup::new("waits", "transfers, by kind and wait states", &[KIND, STALL]),
    ];

    fn transfers(&self, m: &M, s: &S) -> Vec<Transfer> {
        let waits = || match self.pwrite.is_high(m) {
            true => format!("write {:#x} to {:#x}", self.pwdata.get(m), self.paddr.get(m)),
            false => format!("read {:#x}", self.paddr.get(m)),
        };
        let item = self.psel.is_high(m).then(|| self.words(m, s).unwrap_or_else(waits));
        let is_ready = self.penable.is_high(m) && self.is_ready(s);
        vec![transfer::<M, S>(self.psel.name(), "sel", item, [true, is_ready])]
    }

    #[inline]
    fn sample(
        &self,
        state: &mut ApbState,
        in_reset: bool,
        m: &M,
        s: &S,
        mut hit: impl FnMut(usize, &[usize]),
    ) {
        if in_reset || !self.psel.is_high(m) {
            *state = ApbState { length: if in_reset { 0 } else { state.length }, follows: false };
            return;
        }
        state.length += 1;
        let Some(transfer) = self.complete(m, s) else { return };
        let kind = usize::from(!transfer.is_write);
        let response = usize::from(transfer.is_error);
        hit(TRANSFERS, &[kind, response, usize::from(state.follows)]);
        hit(WAITS, &[kind, cycles_index(state.length.saturating_sub(2))]);
        *state = ApbState { follows: true, length: 0 };
    }
}
