//! AXI4 (ARM IHI 0022, part A): bursts, and responses out of order between IDs.
//!
//! [`Axi4Manager`] drives a subordinate DUT, [`Axi4Subordinate`] answers a manager DUT, and
//! [`Axi4Monitor`] checks the rules of the protocol. Exclusive accesses ("Exclusive accesses") are
//! refused: the agents do not start them, and the monitor reports them.
//!
//! [AXI4-Lite](crate::axi_lite) is the subset with single beats, without IDs, and with at most 64
//! bits of data. `WORDS` is the size of the data in 32-bit words, and 2 stands for that subset.

mod coverage;
mod manager;
mod memory_check;
mod monitor;
mod subordinate;
mod traffic;

pub use manager::Axi4Manager;
pub use monitor::{Axi4Events, Axi4Monitor, Axi4ReadBeat, Axi4WriteBeat};
pub use subordinate::{Axi4Subordinate, Axi4SubordinateTraffic, Axi4SubordinateWeights};
pub use traffic::{Axi4Access, Axi4Beat, Axi4Operation, Axi4Traffic, Axi4Weights};

use crate::ports::{Finder, PortRule, Ports};
use crate::target::Response;
use crate::transfer::without;
use crate::wide::{Lanes, Wide, check_bus};
use cosim_harness::harness::Naming;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use verilated::{Pin, PinName, Pins};

/// The naming rules of ports like `s_axi_awvalid`, for
/// [`Block::NAMING`](cosim_harness::harness::Block::NAMING). Its channel is `s_axi_aw`.
pub const NAMING: Naming = Naming {
    valid: &["awvalid", "wvalid", "bvalid", "arvalid", "rvalid"],
    ready: &["awready", "wready", "bready", "arready", "rready"],
    joined: &["aw", "w", "b", "ar", "r"],
    ..Naming::DEFAULT
};

/// The ports of the protocol.
pub const PORTS: &[PortRule] = &[
    PortRule::manager(&["awvalid"], "the manager offers a write address").bit(),
    PortRule::subordinate(&["awready"], "the subordinate takes it").bit(),
    PortRule::manager(&["awaddr"], "the byte address of the first beat"),
    PortRule::manager(&["awid"], "the ID").optional(),
    PortRule::manager(&["awlen"], "the number of beats minus 1; one beat without it").optional(),
    PortRule::manager(
        &["awsize"],
        "the logarithm of the bytes of a beat; that of the data without it",
    )
    .optional(),
    PortRule::manager(&["awburst"], "FIXED, INCR or WRAP; INCR without it").optional(),
    PortRule::manager(&["awlock"], "exclusive access; always 0").optional(),
    PortRule::manager(&["awcache"], "memory attributes").optional(),
    PortRule::manager(&["awprot"], "protection type").optional(),
    PortRule::manager(&["awqos"], "quality of service").optional(),
    PortRule::manager(&["awregion"], "region").optional(),
    PortRule::manager(&["awuser"], "sideband bits").optional(),
    PortRule::manager(&["wvalid"], "the manager offers a beat of write data").bit(),
    PortRule::subordinate(&["wready"], "the subordinate takes it").bit(),
    PortRule::manager(&["wdata"], "the write data, 8 to 1024 bits"),
    PortRule::manager(&["wstrb"], "one bit for each byte: whether it is written").optional(),
    PortRule::manager(&["wlast"], "the beat is the last one of its burst").bit(),
    PortRule::subordinate(&["bvalid"], "the subordinate offers a write response").bit(),
    PortRule::manager(&["bready"], "the manager takes it").bit(),
    PortRule::subordinate(&["bid"], "the ID of the write").optional(),
    PortRule::subordinate(&["bresp"], "the write response").optional(),
    PortRule::manager(&["arvalid"], "the manager offers a read address").bit(),
    PortRule::subordinate(&["arready"], "the subordinate takes it").bit(),
    PortRule::manager(&["araddr"], "the byte address of the first beat"),
    PortRule::manager(&["arid"], "the ID").optional(),
    PortRule::manager(&["arlen"], "the number of beats minus 1; one beat without it").optional(),
    PortRule::manager(
        &["arsize"],
        "the logarithm of the bytes of a beat; that of the data without it",
    )
    .optional(),
    PortRule::manager(&["arburst"], "FIXED, INCR or WRAP; INCR without it").optional(),
    PortRule::manager(&["arlock"], "exclusive access; always 0").optional(),
    PortRule::manager(&["arcache"], "memory attributes").optional(),
    PortRule::manager(&["arprot"], "protection type").optional(),
    PortRule::manager(&["arqos"], "quality of service").optional(),
    PortRule::manager(&["arregion"], "region").optional(),
    PortRule::manager(&["aruser"], "sideband bits").optional(),
    PortRule::subordinate(&["rvalid"], "the subordinate offers a beat of read data").bit(),
    PortRule::manager(&["rready"], "the manager takes it").bit(),
    PortRule::subordinate(&["rid"], "the ID of the read").optional(),
    PortRule::subordinate(&["rdata"], "the read data, 8 to 1024 bits"),
    PortRule::subordinate(&["rresp"], "the response of the beat").optional(),
    PortRule::subordinate(&["rlast"], "the beat is the last one of its burst").bit(),
];

/// The ports of a write address or read address channel. The ports without a description have the
/// meaning of IHI 0022, "Write address channel signals" and "Read address channel signals".
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Axi4AddressPins<M, S> {
    /// The manager offers an address.
    pub valid: Pin<M>,
    /// The subordinate takes the address.
    pub ready: Pin<S>,
    /// The byte address of the first beat.
    pub addr: Pin<M>,
    pub id: Option<Pin<M>>,
    /// The number of beats minus 1; one beat without it.
    pub len: Option<Pin<M>>,
    /// The logarithm of the bytes of a beat; the width of the data without it.
    pub size: Option<Pin<M>>,
    /// The kind of the burst; INCR without it.
    pub burst: Option<Pin<M>>,
    pub lock: Option<Pin<M>>,
    pub cache: Option<Pin<M>>,
    pub prot: Option<Pin<M>>,
    pub qos: Option<Pin<M>>,
    pub region: Option<Pin<M>>,
    pub user: Option<Pin<M>>,
}

/// The ports of an AXI4 interface. `M` holds the ports that the manager drives, `S` those of the
/// subordinate.
#[derive(Debug, Clone, Copy)]
pub struct Axi4Pins<M, S, const WORDS: usize = 32> {
    /// The write address channel.
    pub aw: Axi4AddressPins<M, S>,
    /// The manager offers a beat of write data.
    pub wvalid: Pin<M>,
    /// The subordinate takes the beat.
    pub wready: Pin<S>,
    /// The write data, 8 to 1024 bits.
    pub wdata: Pin<M>,
    /// One bit for each byte of write data: whether it is written.
    pub wstrb: Option<Pin<M>>,
    /// The beat is the last one of its burst.
    pub wlast: Pin<M>,
    /// The subordinate offers a write response.
    pub bvalid: Pin<S>,
    /// The manager takes the write response.
    pub bready: Pin<M>,
    /// The ID of the write.
    pub bid: Option<Pin<S>>,
    /// The write response.
    pub bresp: Option<Pin<S>>,
    /// The read address channel.
    pub ar: Axi4AddressPins<M, S>,
    /// The subordinate offers a beat of read data.
    pub rvalid: Pin<S>,
    /// The manager takes the beat.
    pub rready: Pin<M>,
    /// The ID of the read.
    pub rid: Option<Pin<S>>,
    /// The read data.
    pub rdata: Pin<S>,
    /// The response of the beat.
    pub rresp: Option<Pin<S>>,
    /// The beat is the last one of its burst.
    pub rlast: Pin<S>,
}

/// The ports of an address channel.
macro_rules! address_pins {
    ($find:ident, $more:ident, $channel:literal) => {
        Axi4AddressPins {
            valid: $find.find_pin(concat!($channel, "valid")),
            ready: $find.find_pin(concat!($channel, "ready")),
            addr: $find.find_pin(concat!($channel, "addr")),
            id: $more.find(concat!($channel, "id")),
            len: $more.find(concat!($channel, "len")),
            size: $more.find(concat!($channel, "size")),
            burst: $more.find(concat!($channel, "burst")),
            lock: $more.find(concat!($channel, "lock")),
            cache: $more.find(concat!($channel, "cache")),
            prot: $find.find(concat!($channel, "prot")),
            qos: $more.find(concat!($channel, "qos")),
            region: $more.find(concat!($channel, "region")),
            user: $more.find(concat!($channel, "user")),
        }
    };
}

impl<M: Pins, S: Pins, const WORDS: usize> Axi4Pins<M, S, WORDS> {
    pub(crate) const IS_LITE: bool = WORDS == 2;

    /// The ports whose names are `pattern` and the names of the specification, as in
    /// `s_axi_awvalid` ([`ports`](crate::ports)). An interface may have the channels of writes or
    /// those of reads alone. `wuser`, `buser` and `ruser` are not known.
    ///
    /// # Panics
    /// If a port is missing that is not optional, or the data is too wide; in a constant, this does
    /// not compile.
    pub const fn named(pattern: &str) -> Self {
        Self::from_ports(Ports::new(pattern))
    }

    /// The ports of an interface whose channels of writes have another pattern than those of reads.
    ///
    /// # Panics
    /// As [`Axi4Pins::named`].
    pub const fn from_two_interfaces(writes: &str, reads: &str) -> Self {
        Self::from_halves(Ports::new(writes), Ports::new(reads))
    }

    /// The ports at these places.
    ///
    /// # Panics
    /// As [`Axi4Pins::named`].
    pub const fn from_ports(ports: Ports<'_>) -> Self {
        Self::from_halves(ports, ports)
    }

    const fn from_halves(writes: Ports<'_>, reads: Ports<'_>) -> Self {
        let w = Finder::new(PORTS, writes).with::<M>("awvalid");
        let r = Finder::new(PORTS, reads).with::<M>("arvalid");
        assert!(w.is_there() || r.is_there(), "the block has no awvalid or arvalid of this name");
        let (more_w, more_r) = (w.only_if(!Self::IS_LITE), r.only_if(!Self::IS_LITE));
        let pins = Self {
            aw: address_pins!(w, more_w, "aw"),
            wvalid: w.find_pin("wvalid"),
            wready: w.find_pin("wready"),
            wdata: w.find_pin("wdata"),
            wstrb: w.find("wstrb"),
            wlast: more_w.find_pin("wlast"),
            bvalid: w.find_pin("bvalid"),
            bready: w.find_pin("bready"),
            bid: more_w.find("bid"),
            bresp: w.find("bresp"),
            ar: address_pins!(r, more_r, "ar"),
            rvalid: r.find_pin("rvalid"),
            rready: r.find_pin("rready"),
            rid: more_r.find("rid"),
            rdata: r.find_pin("rdata"),
            rresp: r.find("rresp"),
            rlast: more_r.find_pin("rlast"),
        };
        check_bus::<WORDS>(8 * pins.bytes());
        pins
    }

    /// An address channel that the interface has.
    pub(crate) const fn address(&self) -> &Axi4AddressPins<M, S> {
        if self.aw.valid.is_present() { &self.aw } else { &self.ar }
    }

    /// The width of the data in bytes.
    pub const fn bytes(&self) -> u32 {
        (if self.wdata.is_present() { self.wdata.width() } else { self.rdata.width() }) / 8
    }

    /// The logarithm of the width of the data in bytes.
    pub(crate) const fn full_size(&self) -> u64 {
        self.bytes().trailing_zeros() as u64
    }

    #[inline]
    pub(crate) fn offered(&self, channel: &Axi4AddressPins<M, S>, m: &M) -> Option<Axi4Address> {
        if !channel.valid.is_high(m) {
            return None;
        }
        let number = |pin: Option<Pin<M>>, absent| pin.map_or(absent, |pin| pin.get(m));
        Some(Axi4Address {
            id: number(channel.id, 0),
            address: channel.addr.get(m),
            len: number(channel.len, 0) as u32,
            size: number(channel.size, self.full_size()) as u32,
            burst: number(channel.burst, Axi4Burst::Incr as u64),
            lock: number(channel.lock, 0),
            cache: number(channel.cache, 0),
            prot: number(channel.prot, 0),
            qos: number(channel.qos, 0),
            region: number(channel.region, 0),
            user: number(channel.user, 0),
        })
    }

    #[inline]
    pub(crate) fn response(pin: Option<Pin<S>>, s: &S) -> AxiResponse {
        AxiResponse::from_code(pin.map_or(0, |pin| pin.get(s)))
    }

    #[inline]
    pub(crate) fn is_last<P: Pins>(pin: Pin<P>, pins: &P) -> bool {
        Self::IS_LITE || pin.is_high(pins)
    }

    #[inline]
    pub(crate) fn strobe(&self, m: &M) -> Lanes {
        self.wstrb.map_or_else(|| Lanes::ones(self.bytes()), |pin| Wide(pin.words(m)))
    }

    /// The lanes of a beat as strobes. A beat of AXI4-Lite has all lanes, whatever its address.
    #[inline]
    pub(crate) fn lanes(&self, burst: &Axi4Address, beat: u32) -> Lanes {
        match Self::IS_LITE {
            true => Lanes::ones(self.bytes()),
            false => burst.strobes(beat, self.bytes()),
        }
    }

    /// Valid and ready of `aw`, `w`, `b`, `ar` and `r`.
    #[inline]
    pub(crate) fn handshakes(&self, m: &M, s: &S) -> [(bool, bool); 5] {
        [
            (self.aw.valid.is_high(m), self.aw.ready.is_high(s)),
            (self.wvalid.is_high(m), self.wready.is_high(s)),
            (self.bvalid.is_high(s), self.bready.is_high(m)),
            (self.ar.valid.is_high(m), self.ar.ready.is_high(s)),
            (self.rvalid.is_high(s), self.rready.is_high(m)),
        ]
    }

    /// The names of the ports of their valids.
    pub(crate) fn valids(&self) -> [PinName; 5] {
        let [aw, ar, w] = [self.aw.valid, self.ar.valid, self.wvalid].map(|pin| pin.name());
        [aw, w, self.bvalid.name(), ar, self.rvalid.name()]
    }

    /// The payload of a channel in a cycle with a high valid, for
    /// [`Explain::words`](cosim_harness::harness::Explain::words).
    pub fn words(&self, channel: &str, manager: &M, subordinate: &S) -> Option<String> {
        let is_it = |valid: &PinName| without(valid.port, "valid") == Some(channel);
        let place = self.valids().iter().position(is_it)?;
        Some(self.item(place, manager, subordinate))
    }

    /// The payload of the channel at this place of [`Self::valids`].
    pub(crate) fn item(&self, place: usize, m: &M, s: &S) -> String {
        let id = |pin: Option<Pin<S>>| {
            pin.map_or_else(String::new, |pin| format!(" id {:#x}", pin.get(s)))
        };
        let last = |is_last| if is_last && !Self::IS_LITE { " last" } else { "" };
        let address = |kind, channel| match self.offered(channel, m) {
            Some(address) if Self::IS_LITE => format!("{kind} {:#x}", address.address),
            Some(address) => format!("{kind} {address}"),
            None => String::new(),
        };
        match place {
            0 => address("write", &self.aw),
            1 => {
                let strobe = |pin| format!(" strobe {}", Lanes::read_pin(pin, m));
                let strobe = self.wstrb.map_or_else(String::new, strobe);
                let data = Wide::<WORDS>::read_pin(self.wdata, m);
                format!("{data}{strobe}{}", last(self.wlast.is_high(m)))
            }
            2 => format!("{}{}", Self::response(self.bresp, s), id(self.bid)),
            3 => address("read", &self.ar),
            _ => {
                let (data, response) =
                    (Wide::<WORDS>::read_pin(self.rdata, s), Self::response(self.rresp, s));
                format!("{data} {response}{}{}", id(self.rid), last(self.rlast.is_high(s)))
            }
        }
    }
}

/// A response (IHI 0022, "Read and write response structure").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AxiResponse {
    /// `OKAY`: the access succeeded.
    #[default]
    Okay,
    /// `EXOKAY`: the exclusive access succeeded. AXI4-Lite does not have it.
    ExOkay,
    /// `SLVERR`: the subordinate reports an error.
    SlvErr,
    /// `DECERR`: there is no subordinate at the address.
    DecErr,
}

impl AxiResponse {
    /// The response with a code, of which the low two bits count.
    #[inline]
    pub const fn from_code(code: u64) -> Self {
        match code & 3 {
            0 => Self::Okay,
            1 => Self::ExOkay,
            2 => Self::SlvErr,
            _ => Self::DecErr,
        }
    }

    /// The code.
    #[inline]
    pub const fn code(self) -> u64 {
        self as u64
    }
}

impl From<Response> for AxiResponse {
    fn from(response: Response) -> Self {
        match response {
            Response::Okay => Self::Okay,
            Response::DecodeError => Self::DecErr,
            Response::Error | Response::Retry => Self::SlvErr,
        }
    }
}

impl fmt::Display for AxiResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["OKAY", "EXOKAY", "SLVERR", "DECERR"][*self as usize])
    }
}

/// The kind of a burst (IHI 0022).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axi4Burst {
    /// Every beat has the same address.
    Fixed,
    /// The address increments.
    #[default]
    Incr,
    /// The address increments, and wraps at a boundary of the size of the burst.
    Wrap,
}

/// A transfer of an address channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axi4Address {
    /// The ID.
    pub id: u64,
    /// The byte address of the first beat.
    pub address: u64,
    /// The number of beats minus 1.
    pub len: u32,
    /// The logarithm of the bytes of a beat.
    pub size: u32,
    /// The code of the burst: 0 is FIXED, 1 INCR, 2 WRAP.
    pub burst: u64,
    /// Whether the access is exclusive.
    pub lock: u64,
    /// The memory attributes.
    pub cache: u64,
    /// The protection type.
    pub prot: u64,
    /// The quality of service.
    pub qos: u64,
    /// The region.
    pub region: u64,
    /// The low 64 sideband bits.
    pub user: u64,
}

impl Axi4Address {
    /// The number of beats.
    #[inline]
    pub fn beats(&self) -> u32 {
        self.len + 1
    }

    /// The address of a beat (IHI 0022, "Address structure").
    #[inline]
    pub fn beat_address(&self, beat: u32) -> u64 {
        let bytes = 1_u64 << self.size;
        let aligned = self.address & !(bytes - 1);
        match self.burst {
            _ if beat == 0 => self.address,
            0 => self.address,
            2 => {
                let total = bytes * u64::from(self.beats());
                let boundary = self.address / total * total;
                boundary.wrapping_add((aligned - boundary + bytes * u64::from(beat)) % total)
            }
            _ => aligned.wrapping_add(bytes * u64::from(beat)),
        }
    }

    /// The byte lanes of a beat on a bus of `bus` bytes: the first lane, and their number (IHI
    /// 0022, "Data read and write structure").
    #[inline]
    pub fn lanes(&self, beat: u32, bus: u32) -> (u32, u32) {
        let address = self.beat_address(beat);
        let bytes = 1_u64 << self.size;
        let first = (address % u64::from(bus)) as u32;
        let end = ((address & !(bytes - 1)) % u64::from(bus) + bytes) as u32;
        (first, end.min(bus).saturating_sub(first))
    }

    /// The lanes as strobes.
    #[inline]
    pub(crate) fn strobes(&self, beat: u32, bus: u32) -> Lanes {
        let (first, count) = self.lanes(beat, bus);
        let (low, high) = (Lanes::ones(first), Lanes::ones(first + count));
        Wide(std::array::from_fn(|word| high.0[word] & !low.0[word]))
    }
}

impl fmt::Display for Axi4Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let burst = ["FIXED", "INCR", "WRAP", "reserved"][self.burst as usize & 3];
        let (beats, bytes, id) = (self.beats(), 1 << self.size, self.id);
        write!(f, "{:#x}, {beats} beats of {bytes} bytes, {burst}, id {id:#x}", self.address)
    }
}
