//! The rules of AXI4.

use super::{Axi4Address, Axi4Pins, AxiResponse};
use crate::channel::{Channel, ChannelRules};
use crate::names::at;
use crate::wide::{Data, Lanes, Wide, check_bus};
use cosim_harness::harness::Violation;
use std::collections::VecDeque;
use verilated::Pins;

/// A beat of a write, with its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axi4WriteBeat {
    /// The burst.
    pub burst: Axi4Address,
    /// The number of the beat, from 0.
    pub beat: u32,
    /// The data of all bytes of the bus.
    pub data: Data,
    /// The bytes that are written.
    pub strobe: Lanes,
}

/// A beat of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axi4ReadBeat {
    /// The burst.
    pub burst: Axi4Address,
    /// The number of the beat, from 0.
    pub beat: u32,
    /// The data of all bytes of the bus. Only the lanes of the beat have a meaning
    /// ([`Axi4Address::lanes`]).
    pub data: Data,
    /// The response.
    pub response: AxiResponse,
}

/// What happens on an interface in a cycle. Beats of writes are in
/// [`Axi4Monitor::pop_write_beat`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axi4Events {
    /// A write address that is taken.
    pub write_start: Option<Axi4Address>,
    /// A write whose response is taken.
    pub write: Option<(Axi4Address, AxiResponse)>,
    /// A read address that is taken.
    pub read_start: Option<Axi4Address>,
    /// A beat of a read that is taken.
    pub read: Option<Axi4ReadBeat>,
}

/// What the manager offers on the write data channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WriteData {
    data: Data,
    strobe: Lanes,
    is_last: bool,
}

/// What the subordinate offers on the read data channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ReadData {
    id: u64,
    data: Data,
    response: AxiResponse,
    is_last: bool,
}

/// A write in flight, and whether its last beat was taken.
#[derive(Debug, Clone, Copy)]
struct Write {
    address: Axi4Address,
    is_complete: bool,
}

/// Checks the rules of AXI4 in every cycle, and returns beats and responses.
#[derive(Debug, Clone)]
pub struct Axi4Monitor<M, S> {
    pins: Axi4Pins<M, S>,
    aw: Channel<Axi4Address>,
    w: Channel<WriteData>,
    b: Channel<(u64, AxiResponse)>,
    ar: Channel<Axi4Address>,
    r: Channel<ReadData>,
    /// Beats without an address.
    data: VecDeque<WriteData>,
    /// Beats of the first write that is not complete.
    beat: u32,
    writes: VecDeque<Write>,
    /// Reads in flight, each with the beats that came.
    reads: VecDeque<(Axi4Address, u32)>,
    /// Beats that have an address, for the user.
    beats: VecDeque<Axi4WriteBeat>,
}

/// Declares the names of the rules of a channel.
macro_rules! channel_rules {
    ($channel:literal $( , $after_reset:literal )?) => {
        ChannelRules {
            valid_held: Some(concat!("axi4-", $channel, "valid-held")),
            payload_held: Some(concat!("axi4-", $channel, "-payload-held")),
            quiet_in_reset: Some(concat!("axi4-", $channel, "valid-in-reset")),
            quiet_after_reset: None $( .or(Some(concat!("axi4-", $channel, $after_reset))) )?,
        }
    };
}

/// The names of the rules of an address channel.
#[derive(Debug, Clone, Copy)]
struct AddressRules {
    burst: &'static str,
    size: &'static str,
    fixed_length: &'static str,
    wrap_length: &'static str,
    wrap_alignment: &'static str,
    boundary: &'static str,
    exclusive: &'static str,
    cache: &'static str,
}

macro_rules! address_rules {
    ($channel:literal) => {
        AddressRules {
            burst: concat!("axi4-", $channel, "-burst-reserved"),
            size: concat!("axi4-", $channel, "-size"),
            fixed_length: concat!("axi4-", $channel, "-fixed-length"),
            wrap_length: concat!("axi4-", $channel, "-wrap-length"),
            wrap_alignment: concat!("axi4-", $channel, "-wrap-alignment"),
            boundary: concat!("axi4-", $channel, "-4k-boundary"),
            exclusive: concat!("axi4-", $channel, "-exclusive"),
            cache: concat!("axi4-", $channel, "-cache-reserved"),
        }
    };
}

impl AddressRules {
    /// Checks an address.
    #[inline]
    fn check(&self, address: &Axi4Address, bus: u32) -> Result<(), Violation> {
        let beats = address.beats();
        let aligned = address.address & !((1 << address.size) - 1);
        let end = aligned % 4096 + (u64::from(beats) << address.size);
        let check = if address.burst > 2 {
            self.burst
        } else if 1 << address.size > bus {
            self.size
        } else if address.burst == 0 && beats > 16 {
            self.fixed_length
        } else if address.burst == 2 && ![2, 4, 8, 16].contains(&beats) {
            self.wrap_length
        } else if address.burst == 2 && aligned != address.address {
            self.wrap_alignment
        } else if address.burst == 1 && end > 4096 {
            self.boundary
        } else if address.lock != 0 {
            self.exclusive
        } else if address.cache & 0b10 == 0 && address.cache & 0b1100 != 0 {
            self.cache
        } else {
            return Ok(());
        };
        Err(Violation::new(check, format_args!("{address}, cache {:#x}", address.cache)))
    }
}

impl<M: Pins, S: Pins> Axi4Monitor<M, S> {
    /// IHI 0022, "Address structure": `WLAST` is asserted with the last beat of a burst, and with
    /// no other.
    pub const W_LAST: &'static str = "axi4-w-last";
    /// IHI 0022, "Data read and write structure": strobes are only asserted for the byte lanes of a
    /// beat.
    pub const W_STROBE: &'static str = "axi4-w-strobe";
    /// IHI 0022, "Address structure": a burst is not terminated early; here, its beats come before
    /// the case ends.
    pub const W_MISSING: &'static str = "axi4-w-missing";
    /// IHI 0022, "Dependencies between channel handshake signals" and "Transaction ordering": a
    /// write response follows the address and the last beat of a write with its ID.
    pub const B_WITHOUT_WRITE: &'static str = "axi4-b-without-write";
    /// IHI 0022, "Exclusive accesses": `EXOKAY` only responds to an exclusive write, which is
    /// refused.
    pub const B_EXOKAY: &'static str = "axi4-b-exokay";
    /// IHI 0022, "Dependencies between channel handshake signals": each write has a response; here,
    /// before the case ends.
    pub const B_MISSING: &'static str = "axi4-b-missing";
    /// IHI 0022, "Dependencies between channel handshake signals" and "Transaction ordering": read
    /// data follows the address of a read with its ID.
    pub const R_WITHOUT_READ: &'static str = "axi4-r-without-read";
    /// IHI 0022, "Address structure": `RLAST` is asserted with the last beat of a burst, and with
    /// no other.
    pub const R_LAST: &'static str = "axi4-r-last";
    /// IHI 0022, "Exclusive accesses": `EXOKAY` only responds to an exclusive read, which is
    /// refused.
    pub const R_EXOKAY: &'static str = "axi4-r-exokay";
    /// IHI 0022, "Dependencies between channel handshake signals": each read has its beats; here,
    /// before the case ends.
    pub const R_MISSING: &'static str = "axi4-r-missing";

    /// The rules of the address channels.
    const AW: AddressRules = address_rules!("aw");
    const AR: AddressRules = address_rules!("ar");

    /// The checks that a manager can break:
    ///
    /// - `valid-held`: a valid remains asserted until the handshake (IHI 0022, "Handshake
    ///   process").
    /// - `payload-held`: the payload does not change until the handshake ("Handshake process").
    /// - `valid-in-reset`: valids are low in reset ("Reset").
    /// - `valid-after-reset`: a valid may only rise after an edge at which the reset is inactive
    ///   ("Reset").
    /// - `burst-reserved`: the burst is FIXED, INCR or WRAP ("Address structure").
    /// - `size`: a beat is not wider than the data bus ("Address structure").
    /// - `fixed-length`: a FIXED burst has at most 16 beats ("Address structure").
    /// - `wrap-length`: a WRAP burst has 2, 4, 8 or 16 beats ("Address structure").
    /// - `wrap-alignment`: the address of a WRAP burst is a multiple of its size ("Address
    ///   structure").
    /// - `4k-boundary`: a burst does not cross a 4 KB boundary ("Address structure").
    /// - `exclusive`: the access is not exclusive (a limit of this monitor, not of "Exclusive
    ///   accesses").
    /// - `cache-reserved`: `AxCACHE` has no reserved encoding ("Memory types").
    pub const MANAGER_CHECKS: &'static [&'static str] = &[
        "axi4-awvalid-held",
        "axi4-aw-payload-held",
        "axi4-awvalid-in-reset",
        "axi4-awvalid-after-reset",
        "axi4-wvalid-held",
        "axi4-w-payload-held",
        "axi4-wvalid-in-reset",
        "axi4-wvalid-after-reset",
        "axi4-arvalid-held",
        "axi4-ar-payload-held",
        "axi4-arvalid-in-reset",
        "axi4-arvalid-after-reset",
        Self::AW.burst,
        Self::AW.size,
        Self::AW.fixed_length,
        Self::AW.wrap_length,
        Self::AW.wrap_alignment,
        Self::AW.boundary,
        Self::AW.exclusive,
        Self::AW.cache,
        Self::AR.burst,
        Self::AR.size,
        Self::AR.fixed_length,
        Self::AR.wrap_length,
        Self::AR.wrap_alignment,
        Self::AR.boundary,
        Self::AR.exclusive,
        Self::AR.cache,
        Self::W_LAST,
        Self::W_STROBE,
        Self::W_MISSING,
    ];

    /// The checks that a subordinate can break: those of its channels, as of a manager, and the
    /// constants of this type.
    pub const SUBORDINATE_CHECKS: &'static [&'static str] = &[
        "axi4-bvalid-held",
        "axi4-b-payload-held",
        "axi4-bvalid-in-reset",
        "axi4-rvalid-held",
        "axi4-r-payload-held",
        "axi4-rvalid-in-reset",
        Self::B_WITHOUT_WRITE,
        Self::B_EXOKAY,
        Self::B_MISSING,
        Self::R_WITHOUT_READ,
        Self::R_LAST,
        Self::R_EXOKAY,
        Self::R_MISSING,
    ];

    /// A monitor of an idle interface.
    pub fn new(pins: Axi4Pins<M, S>) -> Self {
        check_bus::<32>(8 * pins.bytes());
        let valid = [pins.aw.valid, pins.wvalid, pins.ar.valid].map(|pin| pin.port().name);
        Self {
            aw: Channel::new(channel_rules!("aw", "valid-after-reset"), valid[0]),
            w: Channel::new(channel_rules!("w", "valid-after-reset"), valid[1]),
            b: Channel::new(channel_rules!("b"), pins.bvalid.port().name),
            ar: Channel::new(channel_rules!("ar", "valid-after-reset"), valid[2]),
            r: Channel::new(channel_rules!("r"), pins.rvalid.port().name),
            pins,
            data: VecDeque::new(),
            beat: 0,
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            beats: VecDeque::new(),
        }
    }

    /// The width of the data in bytes.
    pub(super) fn bytes(&self) -> u32 {
        self.pins.bytes()
    }

    /// The next beat of a write whose address is known, in the order of the addresses.
    #[inline]
    pub fn pop_write_beat(&mut self) -> Option<Axi4WriteBeat> {
        self.beats.pop_front()
    }

    /// Observes a cycle.
    ///
    /// # Errors
    /// The rule that the cycle breaks.
    #[inline]
    pub fn observe(&mut self, in_reset: bool, m: &M, s: &S) -> Result<Axi4Events, Violation> {
        let pins = self.pins;
        let w = pins.wvalid.is_high(m).then(|| WriteData {
            data: Wide(pins.wdata.words(m)),
            strobe: match pins.wstrb {
                Some(pin) => Wide(pin.words(m)),
                None => Lanes::ones(pins.bytes()),
            },
            is_last: pins.wlast.is_high(m),
        });
        let b = pins.bvalid.is_high(s).then(|| {
            let response = AxiResponse::of(pins.bresp.map_or(0, |pin| pin.get(s)));
            (pins.bid.map_or(0, |pin| pin.get(s)), response)
        });
        let r = pins.rvalid.is_high(s).then(|| ReadData {
            id: pins.rid.map_or(0, |pin| pin.get(s)),
            data: Wide(pins.rdata.words(s)),
            response: AxiResponse::of(pins.rresp.map_or(0, |pin| pin.get(s))),
            is_last: pins.rlast.is_high(s),
        });
        let (aw, ar) = (pins.offered(&pins.aw, m), pins.offered(&pins.ar, m));
        let aw_taken = self.aw.observe(in_reset, aw, pins.aw.ready.is_high(s))?;
        let w_taken = self.w.observe(in_reset, w, pins.wready.is_high(s))?;
        let b_taken = self.b.observe(in_reset, b, pins.bready.is_high(m))?;
        let ar_taken = self.ar.observe(in_reset, ar, pins.ar.ready.is_high(s))?;
        let r_taken = self.r.observe(in_reset, r, pins.rready.is_high(m))?;
        let mut events =
            Axi4Events { write_start: None, write: None, read_start: None, read: None };
        if in_reset {
            self.data.clear();
            self.beat = 0;
            self.writes.clear();
            self.reads.clear();
            self.beats.clear();
            return Ok(events);
        }
        if let Some(address) = &aw {
            let check = Self::AW.check(address, pins.bytes());
            check.map_err(|violation| at(pins.aw.valid.port().name, violation))?;
        }
        if let Some(address) = &ar {
            let check = Self::AR.check(address, pins.bytes());
            check.map_err(|violation| at(pins.ar.valid.port().name, violation))?;
        }
        // The queues hold what was taken in earlier cycles.
        if let Some(response) = b {
            let check = self.check_b(response);
            let place = check.map_err(|violation| at(pins.bvalid.port().name, violation))?;
            if b_taken.is_some() {
                let write = self.writes.remove(place);
                events.write = write.map(|write| (write.address, response.1));
            }
        }
        if let Some(data) = r {
            let read = self.read(&data, r_taken.is_some());
            events.read = read.map_err(|violation| at(pins.rvalid.port().name, violation))?;
        }
        (events.write_start, events.read_start) = (aw_taken, ar_taken);
        self.writes.extend(aw_taken.map(|address| Write { address, is_complete: false }));
        self.reads.extend(ar_taken.map(|address| (address, 0)));
        self.data.extend(w_taken);
        self.match_data().map_err(|violation| at(pins.wvalid.port().name, violation))?;
        Ok(events)
    }

    /// Assigns beats to their addresses.
    #[inline]
    fn match_data(&mut self) -> Result<(), Violation> {
        let bus = self.pins.bytes();
        while !self.data.is_empty() {
            let open = self.writes.iter_mut().find(|write| !write.is_complete);
            let Some(write) = open else { return Ok(()) };
            let Some(data) = self.data.pop_front() else { return Ok(()) };
            let (burst, beat) = (write.address, self.beat);
            let is_last = beat + 1 == burst.beats();
            if data.is_last != is_last {
                let message = format_args!("wlast is {} in beat {beat} of {burst}", data.is_last);
                return Err(Violation::new(Self::W_LAST, message));
            }
            let lanes = burst.strobes(beat, bus);
            if data.strobe.0.iter().zip(&lanes.0).any(|(strobe, lanes)| strobe & !lanes != 0) {
                let message = format_args!(
                    "{} in beat {beat} of {burst}, which has the lanes {lanes}",
                    data.strobe
                );
                return Err(Violation::new(Self::W_STROBE, message));
            }
            write.is_complete = is_last;
            self.beat = if is_last { 0 } else { beat + 1 };
            let WriteData { data, strobe, .. } = data;
            self.beats.push_back(Axi4WriteBeat { burst, beat, data, strobe });
        }
        Ok(())
    }

    /// The place of the write that a response belongs to.
    #[inline]
    fn check_b(&self, (id, response): (u64, AxiResponse)) -> Result<usize, Violation> {
        let place = self.writes.iter().position(|write| write.address.id == id);
        let Some(place) = place.filter(|place| self.writes[*place].is_complete) else {
            let message = format_args!("no complete write with id {id:#x} waits for a response");
            return Err(Violation::new(Self::B_WITHOUT_WRITE, message));
        };
        if response == AxiResponse::ExOkay {
            return Err(Violation::new(Self::B_EXOKAY, format_args!("id {id:#x}")));
        }
        Ok(place)
    }

    /// Checks a beat of a read. Returns it if it is taken.
    #[inline]
    fn read(&mut self, read: &ReadData, is_taken: bool) -> Result<Option<Axi4ReadBeat>, Violation> {
        let ReadData { id, data, response, is_last } = *read;
        let Some(place) = self.reads.iter().position(|(address, _)| address.id == id) else {
            let message = format_args!("no read with id {id:#x} waits for data");
            return Err(Violation::new(Self::R_WITHOUT_READ, message));
        };
        let (burst, beat) = self.reads[place];
        if is_last != (beat + 1 == burst.beats()) {
            let message = format_args!("rlast is {is_last} in beat {beat} of {burst}");
            return Err(Violation::new(Self::R_LAST, message));
        }
        if response == AxiResponse::ExOkay {
            return Err(Violation::new(Self::R_EXOKAY, format_args!("id {id:#x}")));
        }
        if !is_taken {
            return Ok(None);
        }
        if is_last {
            self.reads.remove(place);
        } else {
            self.reads[place].1 += 1;
        }
        Ok(Some(Axi4ReadBeat { burst, beat, data, response }))
    }

    /// Checks the end of the case.
    ///
    /// # Errors
    /// If data or a response is missing.
    pub fn finish(&self) -> Result<(), Violation> {
        let pins = &self.pins;
        let (w, b, r) = (pins.wvalid.port(), pins.bvalid.port(), pins.rvalid.port());
        if let Some(data) = self.data.front() {
            let message = format_args!("{}: {data:x?} has no address", w.name);
            return Err(Violation::new(Self::W_MISSING, message));
        }
        if let Some(write) = self.writes.iter().find(|write| !write.is_complete) {
            let message = format_args!("{}: {} has {} beats", w.name, write.address, self.beat);
            return Err(Violation::new(Self::W_MISSING, message));
        }
        if let Some(write) = self.writes.front() {
            let message = format_args!("{}: {} has no response", b.name, write.address);
            return Err(Violation::new(Self::B_MISSING, message));
        }
        if let Some((address, beats)) = self.reads.front() {
            let message = format_args!("{}: {address} has {beats} beats", r.name);
            return Err(Violation::new(Self::R_MISSING, message));
        }
        Ok(())
    }
}
