//! The rules of AXI4-Lite.

use super::{AxiLitePins, AxiResponse};
use crate::channel::{Channel, ChannelRules};
use cosim_harness::harness::Violation;
use std::collections::VecDeque;
use std::fmt;
use verilated::Pins;

/// A complete write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxiLiteWrite {
    /// The byte address.
    pub address: u64,
    /// The protection type.
    pub prot: u64,
    /// The data of all bytes of the bus.
    pub data: u64,
    /// The bytes that are written.
    pub strobe: u64,
    /// The response.
    pub response: AxiResponse,
}

impl fmt::Display for AxiLiteWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, data, strobe, response, .. } = self;
        write!(f, "write {data:#x} strobe {strobe:#x} to {address:#x}: {response}")
    }
}

/// A complete read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxiLiteRead {
    /// The byte address.
    pub address: u64,
    /// The protection type.
    pub prot: u64,
    /// The data of all bytes of the bus.
    pub data: u64,
    /// The response.
    pub response: AxiResponse,
}

impl fmt::Display for AxiLiteRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, data, response, .. } = self;
        write!(f, "read {data:#x} from {address:#x}: {response}")
    }
}

/// What happens on an interface in a cycle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AxiLiteEvents {
    /// A write of which both address and data are taken as of this cycle, with `OKAY` in place of
    /// its response.
    pub write_start: Option<AxiLiteWrite>,
    /// A write whose response is taken.
    pub write: Option<AxiLiteWrite>,
    /// The byte address and the protection type of a read whose address is taken.
    pub read_start: Option<(u64, u64)>,
    /// A read whose data is taken.
    pub read: Option<AxiLiteRead>,
}

/// Checks the rules of AXI4-Lite in every cycle, and returns complete reads and writes.
#[derive(Debug, Clone)]
pub struct AxiLiteMonitor<M, S> {
    pins: AxiLitePins<M, S>,
    aw: Channel<(u64, u64)>,
    w: Channel<(u64, u64)>,
    b: Channel<AxiResponse>,
    ar: Channel<(u64, u64)>,
    r: Channel<(u64, AxiResponse)>,
    /// Write addresses without data, and write data without an address.
    addresses: VecDeque<(u64, u64)>,
    data: VecDeque<(u64, u64)>,
    /// Writes and reads without a response.
    writes: VecDeque<AxiLiteWrite>,
    reads: VecDeque<(u64, u64)>,
}

/// Declares the names of the rules of a channel.
macro_rules! channel_rules {
    ($channel:literal $( , $after_reset:literal )?) => {
        ChannelRules {
            valid_held: Some(concat!("axi-lite-", $channel, "valid-held")),
            payload_held: Some(concat!("axi-lite-", $channel, "-payload-held")),
            quiet_in_reset: Some(concat!("axi-lite-", $channel, "valid-in-reset")),
            quiet_after_reset: None $( .or(Some(concat!("axi-lite-", $channel, $after_reset))) )?,
        }
    };
}

impl<M: Pins, S: Pins> AxiLiteMonitor<M, S> {
    /// IHI 0022, "Dependencies between channel handshake signals": the subordinate waits for
    /// address and data of a write before it asserts `BVALID`.
    pub const B_WITHOUT_WRITE: &'static str = "axi-lite-b-without-write";
    /// IHI 0022, "Dependencies between channel handshake signals": the subordinate waits for
    /// `ARVALID` and `ARREADY` before it asserts `RVALID`.
    pub const R_WITHOUT_READ: &'static str = "axi-lite-r-without-read";
    /// IHI 0022, "Definition of AXI4-Lite": `BRESP` is not `EXOKAY`.
    pub const B_EXOKAY: &'static str = "axi-lite-b-exokay";
    /// IHI 0022, "Definition of AXI4-Lite": `RRESP` is not `EXOKAY`.
    pub const R_EXOKAY: &'static str = "axi-lite-r-exokay";
    /// IHI 0022, "Dependencies between channel handshake signals": each write has a response; here,
    /// before the case ends.
    pub const B_MISSING: &'static str = "axi-lite-b-missing";
    /// IHI 0022, "Dependencies between channel handshake signals": each read has its data; here,
    /// before the case ends.
    pub const R_MISSING: &'static str = "axi-lite-r-missing";

    /// The checks that a manager can break:
    ///
    /// - `valid-held`: a valid remains asserted until the handshake (IHI 0022, "Handshake
    ///   process").
    /// - `payload-held`: the payload does not change until the handshake ("Handshake process").
    /// - `valid-in-reset`: valids are low in reset ("Reset").
    /// - `valid-after-reset`: a valid may only rise after an edge at which the reset is inactive
    ///   ("Reset").
    pub const MANAGER_CHECKS: &'static [&'static str] = &[
        "axi-lite-awvalid-held",
        "axi-lite-aw-payload-held",
        "axi-lite-awvalid-in-reset",
        "axi-lite-awvalid-after-reset",
        "axi-lite-wvalid-held",
        "axi-lite-w-payload-held",
        "axi-lite-wvalid-in-reset",
        "axi-lite-wvalid-after-reset",
        "axi-lite-arvalid-held",
        "axi-lite-ar-payload-held",
        "axi-lite-arvalid-in-reset",
        "axi-lite-arvalid-after-reset",
    ];

    /// The checks that a subordinate can break: those of its channels, as of a manager, and the
    /// constants of this type.
    pub const SUBORDINATE_CHECKS: &'static [&'static str] = &[
        "axi-lite-bvalid-held",
        "axi-lite-b-payload-held",
        "axi-lite-bvalid-in-reset",
        "axi-lite-rvalid-held",
        "axi-lite-r-payload-held",
        "axi-lite-rvalid-in-reset",
        Self::B_WITHOUT_WRITE,
        Self::R_WITHOUT_READ,
        Self::B_EXOKAY,
        Self::R_EXOKAY,
        Self::B_MISSING,
        Self::R_MISSING,
    ];

    /// A monitor of an idle interface.
    pub fn new(pins: AxiLitePins<M, S>) -> Self {
        Self {
            aw: Channel::new(channel_rules!("aw", "valid-after-reset"), pins.awvalid.port().name),
            w: Channel::new(channel_rules!("w", "valid-after-reset"), pins.wvalid.port().name),
            b: Channel::new(channel_rules!("b"), pins.bvalid.port().name),
            ar: Channel::new(channel_rules!("ar", "valid-after-reset"), pins.arvalid.port().name),
            r: Channel::new(channel_rules!("r"), pins.rvalid.port().name),
            pins,
            addresses: VecDeque::new(),
            data: VecDeque::new(),
            writes: VecDeque::new(),
            reads: VecDeque::new(),
        }
    }

    /// The width of the data in bytes.
    pub(super) fn bytes(&self) -> u32 {
        self.pins.bytes()
    }

    /// Observes a cycle.
    ///
    /// # Errors
    /// The rule that the cycle breaks.
    #[inline]
    pub fn observe(&mut self, in_reset: bool, m: &M, s: &S) -> Result<AxiLiteEvents, Violation> {
        let pins = &self.pins;
        let (bvalid, rvalid) = (pins.bvalid.is_high(s), pins.rvalid.is_high(s));
        let aw = pins
            .awvalid
            .is_high(m)
            .then(|| (pins.awaddr.get(m), pins.awprot.map_or(0, |pin| pin.get(m))));
        let w = pins.wvalid.is_high(m).then(|| {
            let all = (1 << pins.bytes()) - 1;
            (pins.wdata.get(m), pins.wstrb.map_or(all, |pin| pin.get(m)))
        });
        let ar = pins
            .arvalid
            .is_high(m)
            .then(|| (pins.araddr.get(m), pins.arprot.map_or(0, |pin| pin.get(m))));
        let b = bvalid.then(|| AxiResponse::of(pins.bresp.map_or(0, |pin| pin.get(s))));
        let r = rvalid
            .then(|| (pins.rdata.get(s), AxiResponse::of(pins.rresp.map_or(0, |pin| pin.get(s)))));
        let aw = self.aw.observe(in_reset, aw, pins.awready.is_high(s))?;
        let w = self.w.observe(in_reset, w, pins.wready.is_high(s))?;
        let ar = self.ar.observe(in_reset, ar, pins.arready.is_high(s))?;
        let b = self.b.observe(in_reset, b, pins.bready.is_high(m))?;
        let r = self.r.observe(in_reset, r, pins.rready.is_high(m))?;
        if in_reset {
            self.addresses.clear();
            self.data.clear();
            self.writes.clear();
            self.reads.clear();
            return Ok(AxiLiteEvents::default());
        }
        // The queues hold what was taken in earlier cycles.
        if bvalid {
            self.check_b(AxiResponse::of(pins.bresp.map_or(0, |pin| pin.get(s))))?;
        }
        if rvalid {
            self.check_r(AxiResponse::of(pins.rresp.map_or(0, |pin| pin.get(s))))?;
        }
        let write = b.and_then(|response| {
            self.writes.pop_front().map(|write| AxiLiteWrite { response, ..write })
        });
        let read = r.and_then(|(data, response)| {
            let (address, prot) = self.reads.pop_front()?;
            Some(AxiLiteRead { address, prot, data, response })
        });
        self.addresses.extend(aw);
        self.data.extend(w);
        self.reads.extend(ar);
        let mut write_start = None;
        if !self.addresses.is_empty()
            && !self.data.is_empty()
            && let Some((address, prot)) = self.addresses.pop_front()
            && let Some((data, strobe)) = self.data.pop_front()
        {
            let response = AxiResponse::Okay;
            let write = AxiLiteWrite { address, prot, data, strobe, response };
            self.writes.push_back(write);
            write_start = Some(write);
        }
        Ok(AxiLiteEvents { write_start, write, read_start: ar, read })
    }

    #[inline]
    fn check_b(&self, response: AxiResponse) -> Result<(), Violation> {
        let (addresses, data) = (self.addresses.len(), self.data.len());
        if self.writes.is_empty() {
            return Err(Violation::new(
                Self::B_WITHOUT_WRITE,
                format_args!(
                    "{}: no write waits for a response; {addresses} addresses wait for data, {data} \
                     data for an address",
                    self.pins.bvalid.port().name
                ),
            ));
        }
        if response == AxiResponse::ExOkay {
            let valid = self.pins.bvalid.port().name;
            return Err(Violation::new(Self::B_EXOKAY, format_args!("{valid}: EXOKAY")));
        }
        Ok(())
    }

    #[inline]
    fn check_r(&self, response: AxiResponse) -> Result<(), Violation> {
        if self.reads.is_empty() {
            let message = format_args!("{}: no read waits for data", self.pins.rvalid.port().name);
            return Err(Violation::new(Self::R_WITHOUT_READ, message));
        }
        if response == AxiResponse::ExOkay {
            let valid = self.pins.rvalid.port().name;
            return Err(Violation::new(Self::R_EXOKAY, format_args!("{valid}: EXOKAY")));
        }
        Ok(())
    }

    /// Checks the end of the case.
    ///
    /// # Errors
    /// If a response is missing.
    pub fn finish(&self) -> Result<(), Violation> {
        let writes = self.writes.len();
        if writes > 0 {
            let valid = self.pins.bvalid.port().name;
            let message = format_args!("{valid}: {writes} writes have no response");
            return Err(Violation::new(Self::B_MISSING, message));
        }
        let reads = self.reads.len();
        if reads > 0 {
            let valid = self.pins.rvalid.port().name;
            let message = format_args!("{valid}: {reads} reads have no data");
            return Err(Violation::new(Self::R_MISSING, message));
        }
        Ok(())
    }
}
