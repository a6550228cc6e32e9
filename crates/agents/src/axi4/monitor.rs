//! The rules of AXI4 and AXI4-Lite.

use super::{Axi4Address, Axi4Pins, AxiResponse};
use crate::names::violate_port;
use crate::wide::{Lanes, Wide, check_bus};
use cosim_harness::channels::{Monitor, Protocol};
use cosim_harness::harness::Violation;
use std::collections::VecDeque;
use std::fmt;
use verilated::{Pin, Pins};

// ANCHOR: events
/// A beat of a write, with its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axi4WriteBeat<const WORDS: usize = 32> {
    /// The burst.
    pub burst: Axi4Address,
    /// The number of the beat, from 0.
    pub beat: u32,
    /// The data of all bytes of the bus.
    pub data: Wide<WORDS>,
    /// The bytes that are written.
    pub strobe: Lanes,
}

/// A beat of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axi4ReadBeat<const WORDS: usize = 32> {
    /// The burst.
    pub burst: Axi4Address,
    /// The number of the beat, from 0.
    pub beat: u32,
    /// The data of all bytes of the bus. Only the lanes of the beat have a meaning
    /// ([`Axi4Address::lanes`]).
    pub data: Wide<WORDS>,
    /// The response.
    pub response: AxiResponse,
}

/// What happens on an interface in a cycle. Beats of writes are in
/// [`Axi4Monitor::pop_write_beat`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axi4Events<const WORDS: usize = 32> {
    /// A write address that is taken.
    pub write_start: Option<Axi4Address>,
    /// A write whose response is taken.
    pub write: Option<(Axi4Address, AxiResponse)>,
    /// A read address that is taken.
    pub read_start: Option<Axi4Address>,
    /// A beat of a read that is taken.
    pub read: Option<Axi4ReadBeat<WORDS>>,
}
// ANCHOR_END: events

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WriteData<const WORDS: usize> {
    data: Wide<WORDS>,
    strobe: Lanes,
    is_last: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ReadData<const WORDS: usize> {
    id: u64,
    data: Wide<WORDS>,
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
pub struct Axi4Monitor<M, S, const WORDS: usize = 32> {
    pub(crate) pins: Axi4Pins<M, S, WORDS>,
    aw: Monitor<Axi4Address>,
    w: Monitor<WriteData<WORDS>>,
    b: Monitor<(u64, AxiResponse)>,
    ar: Monitor<Axi4Address>,
    r: Monitor<ReadData<WORDS>>,
    /// Beats without an address.
    data: VecDeque<WriteData<WORDS>>,
    /// Beats of the first write that is not complete.
    beat: u32,
    writes: VecDeque<Write>,
    /// Reads in flight, each with the beats that came.
    reads: VecDeque<(Axi4Address, u32)>,
    /// Beats that have an address, for the user.
    beats: VecDeque<Axi4WriteBeat<WORDS>>,
}

/// The rules of both address channels that [`broken_rule`] finds.
const ADDRESS_RULES: [&str; 8] = [
    "burst-reserved",
    "size",
    "fixed-length",
    "wrap-length",
    "wrap-alignment",
    "4k-boundary",
    "exclusive",
    "cache-reserved",
];

/// The rule of both address channels that an address breaks.
#[inline]
fn broken_rule(address: &Axi4Address, bus: u32) -> Option<&'static str> {
    let beats = address.beats();
    let aligned = address.address & !((1 << address.size) - 1);
    let end = aligned % 4096 + (u64::from(beats) << address.size);
    let is_reserved = address.cache & 0b10 == 0 && address.cache & 0b1100 != 0;
    match address.burst {
        3.. => Some("burst-reserved"),
        _ if 1 << address.size > bus => Some("size"),
        0 if beats > 16 => Some("fixed-length"),
        2 if ![2, 4, 8, 16].contains(&beats) => Some("wrap-length"),
        2 if aligned != address.address => Some("wrap-alignment"),
        1 if end > 4096 => Some("4k-boundary"),
        _ if address.lock != 0 => Some("exclusive"),
        _ => is_reserved.then_some("cache-reserved"),
    }
}

impl<M: Pins, S: Pins, const WORDS: usize> Axi4Monitor<M, S, WORDS> {
    const IS_LITE: bool = Axi4Pins::<M, S, WORDS>::IS_LITE;
    const PROTOCOL: &'static str = if Self::IS_LITE { "axi-lite" } else { "axi4" };

    /// The protocol of a channel, whose valid the manager drives or not.
    const fn protocol(channel: usize) -> Protocol {
        const NAMES: [[&str; 5]; 2] = [
            ["axi4-aw", "axi4-w", "axi4-b", "axi4-ar", "axi4-r"],
            ["axi-lite-aw", "axi-lite-w", "axi-lite-b", "axi-lite-ar", "axi-lite-r"],
        ];
        let is_of_manager = matches!(channel, 0 | 1 | 3);
        Protocol {
            prefix: NAMES[Self::IS_LITE as usize][channel],
            valid_held: Some("valid-held"),
            item_held: Some("-payload-held"),
            quiet_in_reset: Some("valid-in-reset"),
            quiet_after_reset: if is_of_manager { Some("valid-after-reset") } else { None },
        }
    }

    /// The checks of some channels, and others.
    fn checks(channels: &[usize], rules: &[&str]) -> Vec<String> {
        let channels = channels.iter().flat_map(|channel| Self::protocol(*channel).checks());
        let rules = rules.iter().map(|rule| format!("{}-{rule}", Self::PROTOCOL));
        channels.chain(rules).collect()
    }

    /// The checks that a manager can break. `docs/reference/agents/axi4.md` explains them.
    pub fn manager_checks() -> Vec<String> {
        if Self::IS_LITE {
            return Self::checks(&[0, 1, 3], &[]);
        }
        let addresses =
            ["aw", "ar"].map(|of| ADDRESS_RULES.map(|rule| format!("axi4-{of}-{rule}")));
        let own = Self::checks(&[0, 1, 3], &["w-missing", "w-last", "w-strobe"]);
        own.into_iter().chain(addresses.into_iter().flatten()).collect()
    }

    /// The checks that a subordinate can break.
    pub fn subordinate_checks() -> Vec<String> {
        let rules =
            ["b-without-write", "b-exokay", "b-missing", "r-without-read", "r-exokay", "r-missing"];
        let last: &[&str] = if Self::IS_LITE { &[] } else { &["r-last"] };
        Self::checks(&[2, 4], &[&rules, last].concat())
    }

    /// A violation of the check with this name behind the name of the protocol, at the pin that
    /// breaks it, or else the valid of the channel with which the name begins.
    #[cold]
    #[inline(never)]
    fn violate<T>(
        pins: &Axi4Pins<M, S, WORDS>,
        name: &str,
        message: impl fmt::Display,
    ) -> Result<T, Violation> {
        let channels = ["aw-", "w-", "b-", "ar-", "r-"];
        let place = channels.iter().position(|channel| name.starts_with(channel));
        let pin = match name {
            "w-last" => Some(pins.wlast.name()),
            "w-strobe" => pins.wstrb.map(|pin| pin.name()),
            "b-exokay" => pins.bresp.map(|pin| pin.name()),
            "r-last" => Some(pins.rlast.name()),
            "r-exokay" => pins.rresp.map(|pin| pin.name()),
            _ => None,
        };
        let port = pin.unwrap_or(pins.valids()[place.unwrap_or_default()]);
        violate_port(port, &format!("{}-{name}", Self::PROTOCOL), message)
    }

    /// A monitor of an idle interface.
    pub fn new(pins: Axi4Pins<M, S, WORDS>) -> Self {
        check_bus::<WORDS>(8 * pins.bytes());
        let [aw, w, b, ar, r] = pins.valids();
        Self {
            aw: Monitor::from_port(Self::protocol(0), aw),
            w: Monitor::from_port(Self::protocol(1), w),
            b: Monitor::from_port(Self::protocol(2), b),
            ar: Monitor::from_port(Self::protocol(3), ar),
            r: Monitor::from_port(Self::protocol(4), r),
            pins,
            data: VecDeque::new(),
            beat: 0,
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            beats: VecDeque::new(),
        }
    }

    /// The next beat of a write whose address is known, in the order of the addresses.
    #[inline]
    pub fn pop_write_beat(&mut self) -> Option<Axi4WriteBeat<WORDS>> {
        self.beats.pop_front()
    }

    /// Observes a cycle.
    ///
    /// # Errors
    /// The rule that the cycle breaks.
    #[inline]
    pub fn observe(
        &mut self,
        in_reset: bool,
        m: &M,
        s: &S,
    ) -> Result<Axi4Events<WORDS>, Violation> {
        let pins = self.pins;
        let w = pins.wvalid.is_high(m).then(|| WriteData {
            data: Wide::read_pin(pins.wdata, m),
            strobe: pins.strobe(m),
            is_last: Axi4Pins::<M, S, WORDS>::is_last(pins.wlast, m),
        });
        let response = |pin| Axi4Pins::<M, S, WORDS>::response(pin, s);
        let id = |pin: Option<Pin<S>>| pin.map_or(0, |pin| pin.get(s));
        let b = pins.bvalid.is_high(s).then(|| (id(pins.bid), response(pins.bresp)));
        let r = pins.rvalid.is_high(s).then(|| ReadData {
            id: id(pins.rid),
            data: Wide::read_pin(pins.rdata, s),
            response: response(pins.rresp),
            is_last: Axi4Pins::<M, S, WORDS>::is_last(pins.rlast, s),
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
        for (channel, address) in [("aw", &aw), ("ar", &ar)] {
            if let Some(address) = address
                && let Some(rule) = broken_rule(address, pins.bytes())
            {
                let message = format_args!("{address}, cache {:#x}", address.cache);
                return Self::violate(&self.pins, &format!("{channel}-{rule}"), message);
            }
        }
        // The queues hold what was taken in earlier cycles.
        if let Some(response) = b {
            let place = self.check_b(response)?;
            if b_taken.is_some() {
                let write = self.writes.remove(place);
                events.write = write.map(|write| (write.address, response.1));
            }
        }
        if let Some(data) = r {
            events.read = self.read(&data, r_taken.is_some())?;
        }
        (events.write_start, events.read_start) = (aw_taken, ar_taken);
        self.writes.extend(aw_taken.map(|address| Write { address, is_complete: false }));
        self.reads.extend(ar_taken.map(|address| (address, 0)));
        self.data.extend(w_taken);
        self.match_data()?;
        Ok(events)
    }

    /// Assigns beats to their addresses.
    #[inline]
    fn match_data(&mut self) -> Result<(), Violation> {
        while !self.data.is_empty() {
            let open = self.writes.iter_mut().find(|write| !write.is_complete);
            let Some(write) = open else { return Ok(()) };
            let Some(data) = self.data.pop_front() else { return Ok(()) };
            let (burst, beat) = (write.address, self.beat);
            let is_last = beat + 1 == burst.beats();
            if data.is_last != is_last {
                let message = format_args!("wlast is {} in beat {beat} of {burst}", data.is_last);
                return Self::violate(&self.pins, "w-last", message);
            }
            let lanes = self.pins.lanes(&burst, beat);
            if data.strobe.exceeds(&lanes) {
                let message = format_args!(
                    "{} in beat {beat} of {burst}, which has the lanes {lanes}",
                    data.strobe
                );
                return Self::violate(&self.pins, "w-strobe", message);
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
            return Self::violate(&self.pins, "b-without-write", message);
        };
        if response == AxiResponse::ExOkay {
            return Self::violate(&self.pins, "b-exokay", format_args!("id {id:#x}"));
        }
        Ok(place)
    }

    /// Checks a beat of a read. Returns it if it is taken.
    #[inline]
    fn read(
        &mut self,
        read: &ReadData<WORDS>,
        is_taken: bool,
    ) -> Result<Option<Axi4ReadBeat<WORDS>>, Violation> {
        let ReadData { id, data, response, is_last } = *read;
        let Some(place) = self.reads.iter().position(|(address, _)| address.id == id) else {
            let message = format_args!("no read with id {id:#x} waits for data");
            return Self::violate(&self.pins, "r-without-read", message);
        };
        let (burst, beat) = self.reads[place];
        if is_last != (beat + 1 == burst.beats()) {
            let message = format_args!("rlast is {is_last} in beat {beat} of {burst}");
            return Self::violate(&self.pins, "r-last", message);
        }
        if response == AxiResponse::ExOkay {
            return Self::violate(&self.pins, "r-exokay", format_args!("id {id:#x}"));
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
        // A subordinate of AXI4-Lite that takes one part of a write and never the other one leaves
        // its manager waiting, which the end of the case reports.
        if let Some(data) = self.data.front().filter(|_| !Self::IS_LITE) {
            let message = format_args!("{data:x?} has no address");
            return Self::violate(&self.pins, "w-missing", message);
        }
        let mut open = self.writes.iter().filter(|write| !write.is_complete);
        if let Some(write) = open.next().filter(|_| !Self::IS_LITE) {
            let message = format_args!("{} has {} beats", write.address, self.beat);
            return Self::violate(&self.pins, "w-missing", message);
        }
        if let Some(write) = self.writes.iter().find(|write| write.is_complete) {
            let message = format_args!("{} has no response", write.address);
            return Self::violate(&self.pins, "b-missing", message);
        }
        if let Some((address, beats)) = self.reads.front() {
            let message = format_args!("{address} has {beats} beats");
            return Self::violate(&self.pins, "r-missing", message);
        }
        Ok(())
    }
}
