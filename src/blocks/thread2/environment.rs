//! The modules around the block: OoOStation, RecvQueueMgt, CompletionQueueMgt, EventQueueMgt and
//! the three tables.
//!
//! Each follows a list of the traffic, with the handshakes of the golden model. A ready without a
//! stall is high before its valid. A stalled ready rises after the given number of cycles of
//! valid.

use super::rtl::{
    Bits1, Bits8, Bits24, Bits96, Bits128, Bits416, Bits488, Bits576, Inputs, Outputs,
};
use super::rules::layout::QueueResponse;
use super::traffic::{self, Packet, PacketCursor, Queue, Traffic, Unit};
use cosim_core::harness::{self, CycleNoise, Noise, Pace, Parameters, longest};
use cosim_core::value::Uint;

/// Idle cycles after the last packet, in which nothing else may happen.
const DRAIN: u64 = 4;
/// Cycles without a handshake to tolerate in addition to the delays of the traffic.
const SLACK: u64 = 64;
/// Number of waits that may follow without a handshake: one that a reset cuts short, the reset, and
/// the gap of the next packet.
const WAITS: u64 = 3;
/// Words of the modules' payloads.
pub(crate) const PAYLOAD_WORDS: usize = 18 + 4 + 3 + 3;
/// Words of all payloads, and one for flags.
const NOISE_WORDS: usize = 1 + 13 + 16 + PAYLOAD_WORDS;

/// The environment of one case.
#[derive(Debug, Clone)]
pub struct Environment<'a> {
    packets: &'a [Packet],
    noise: Noise,
    /// The packet that is on offer or comes next.
    place: PacketCursor,
    station: HeaderSource,
    modules: Modules<'a>,
    pace: Pace,
}

/// All modules except for OoOStation. They answer for the packet that was accepted last.
#[derive(Debug, Clone)]
pub(crate) struct Modules<'a> {
    tables: Tables,
    current: Option<&'a Packet>,
    /// Cycles that the next MR request waits.
    mr_stall: u64,
    /// Number of MR requests of the packet so far.
    mr_served: usize,
    wqe: Responder<Bits128>,
    /// Number of beats of the current WQE response that were offered.
    beat: usize,
    beat_last: bool,
    beat_head: Bits576,
    cq: Responder<Bits96>,
    eq: Responder<Bits96>,
    handshakes: u64,
}

/// Offers contexts and headers.
#[derive(Debug, Clone)]
struct HeaderSource {
    gap: u64,
    offered: bool,
    head: Bits416,
    data: Bits488,
}

/// Accepts a request after a stall and offers a response after a gap.
#[derive(Debug, Clone, Default)]
struct Responder<Payload> {
    stall: u64,
    gap: u64,
    pending: bool,
    payload: Payload,
}

impl<Payload: Copy> Responder<Payload> {
    #[inline]
    fn ready(&self) -> bool {
        self.stall == 0
    }

    #[inline]
    fn valid(&self) -> bool {
        self.pending && self.gap == 0
    }

    /// Advances the request channel by one cycle. Returns whether there is a handshake.
    #[inline]
    fn clock_request(&mut self, valid: bool) -> bool {
        let taken = valid && self.ready();
        if valid && !taken {
            self.stall -= 1;
        }
        taken
    }

    #[inline]
    fn offer(&mut self, gap: u64, payload: Payload) {
        self.pending = true;
        self.gap = gap;
        self.payload = payload;
    }

    /// Advances the response channel by one cycle. Returns whether there is a handshake.
    #[inline]
    fn clock_response(&mut self, ready: bool) -> bool {
        let taken = self.valid() && ready;
        if taken {
            self.pending = false;
        } else if self.pending && self.gap > 0 {
            self.gap -= 1;
        }
        taken
    }
}

/// The three tables. Data follows the address by one cycle; a read returns data that is written in
/// the same cycle.
#[derive(Debug, Clone)]
struct Tables {
    rq_offset: [u32; 256],
    cache_offset: [u8; 256],
    cache_owned: [u8; 128],
    rq_offset_dout: u32,
    cache_offset_dout: u8,
    cache_owned_dout: u8,
}

impl Tables {
    fn new(first: &traffic::Tables) -> Self {
        let mut tables = Self {
            rq_offset: [0; 256],
            cache_offset: [0; 256],
            cache_owned: [0; 128],
            rq_offset_dout: 0,
            cache_offset_dout: 0,
            cache_owned_dout: 0,
        };
        for entry in &first.rq_offset {
            tables.rq_offset[entry.address.get() as usize] = entry.value.get() as u32;
        }
        for entry in &first.cache_offset {
            tables.cache_offset[entry.address.get() as usize] = entry.value.get() as u8;
        }
        for entry in &first.cache_owned {
            tables.cache_owned[entry.address.get() as usize] = entry.value.get() as u8;
        }
        tables
    }

    #[inline]
    fn clock(&mut self, outputs: &Outputs) {
        let rq_offset = outputs.rq_offset_addr.get() as usize;
        let cache_offset = outputs.cache_offset_addr.get() as usize;
        let cache_owned = outputs.cache_owned_addr.get() as usize;
        if outputs.rq_offset_wen.is_high() {
            self.rq_offset[rq_offset] = outputs.rq_offset_din.get() as u32;
        }
        if outputs.cache_offset_wen.is_high() {
            self.cache_offset[cache_offset] = outputs.cache_offset_din.get() as u8;
        }
        if outputs.cache_owned_wen.is_high() {
            self.cache_owned[cache_owned] = outputs.cache_owned_din.get() as u8;
        }
        self.rq_offset_dout = self.rq_offset[rq_offset];
        self.cache_offset_dout = self.cache_offset[cache_offset];
        self.cache_owned_dout = self.cache_owned[cache_owned];
    }
}

impl<'a> Environment<'a> {
    /// Describes the packet that is processed and the one that waits.
    pub(super) fn in_flight(&self) -> Vec<String> {
        traffic::in_flight(self.packets, self.place)
    }

    /// Advances OoOStation: waits for the gap while the block is idle, then offers.
    #[inline]
    fn clock_station(&mut self, ready: bool) {
        if self.station.offered {
            if !ready {
                return;
            }
            self.station.offered = false;
            if let Some(packet) = self.packets.get(self.place.index) {
                self.take_packet(packet);
            }
        } else if ready {
            self.station.gap = self.station.gap.saturating_sub(1);
        }
        self.offer_packet();
    }

    /// Offers the next packet once its gap is over.
    fn offer_packet(&mut self) {
        if let Some(packet) = self.packets.get(self.place.index)
            && self.station.gap == 0
        {
            (self.station.head, self.station.data) = context(packet, &mut self.noise);
            self.station.offered = true;
        }
    }

    fn take_packet(&mut self, packet: &'a Packet) {
        self.modules.start_answers(packet);
        self.pace.start(packet.reset);
        self.pace.packets += 1;
        self.place.step(packet);
        self.station.gap = self.packets.get(self.place.index).map_or(0, |packet| packet.gap.get());
    }
}

/// The pins of OoOStation for a packet, with noise in reserved bits.
pub(crate) fn context(packet: &Packet, noise: &mut Noise) -> (Bits416, Bits488) {
    let head = packet.context.encode(Bits416::from_words(noise.words()));
    (head, packet.header.encode(Bits488::from_words(noise.words())))
}

impl<'a> Modules<'a> {
    pub(crate) fn new(tables: &traffic::Tables) -> Self {
        Self {
            tables: Tables::new(tables),
            current: None,
            mr_stall: 0,
            mr_served: 0,
            wqe: Responder::default(),
            beat: 0,
            beat_last: false,
            beat_head: Bits576::ZERO,
            cq: Responder::default(),
            eq: Responder::default(),
            handshakes: 0,
        }
    }

    /// Begins to answer for a packet that was accepted.
    pub(crate) fn start_answers(&mut self, packet: &'a Packet) {
        self.current = Some(packet);
        self.wqe.stall = packet.wqe.as_ref().map_or(0, |wqe| wqe.stall.get());
        self.cq.stall = packet.cq.stall.get();
        self.eq.stall = packet.eq.stall.get();
        self.mr_served = 0;
        self.mr_stall = stall(packet, 0);
        if let Some(owner) = packet.cell_owner {
            let cell = (packet.header.local_qpn.get() & 0x7f) as usize;
            self.tables.cache_owned[cell] = owner.get() as u8;
        }
    }

    #[inline]
    pub(crate) fn handshakes(&self) -> u64 {
        self.handshakes
    }

    /// Offers the next beat of the current WQE response, if there is one.
    fn offer_beat(&mut self, noise: &mut Noise) {
        let Some(wqe) = self.current.and_then(|packet| packet.wqe.as_ref()) else {
            return;
        };
        let reserved = Bits128::from_words(noise.words());
        let (gap, payload) = match self.beat.checked_sub(1) {
            None => (wqe.gap, wqe.next.encode(reserved)),
            Some(index) => match wqe.units.get(index) {
                Some(Unit { gap, data }) => (*gap, data.encode(reserved)),
                None => return,
            },
        };
        self.beat_last = self.beat == wqe.units.len();
        self.beat_head = Bits576::from_words(noise.words());
        self.wqe.offer(gap.get(), payload);
        self.beat += 1;
    }

    /// Handles a reset: pending answers for the lost packet are dropped.
    fn flush(&mut self) {
        self.wqe = Responder::default();
        self.cq = Responder::default();
        self.eq = Responder::default();
        self.mr_stall = 0;
    }

    /// Drives the modules' pins; `noise` and `flags` are for idle ones.
    #[inline]
    pub(crate) fn drive(&self, noise: &[u32; PAYLOAD_WORDS], flags: u32, inputs: &mut Inputs) {
        let Self { wqe, cq, eq, tables, .. } = self;
        let mut noise = CycleNoise::new(noise);
        inputs.fetch_mr_ingress_ready = Bits1::from(self.mr_stall == 0);

        inputs.wqe_req_ready = Bits1::from(wqe.ready());
        inputs.wqe_resp_valid = Bits1::from(wqe.valid());
        noise.drive(&mut inputs.wqe_resp_head, wqe.valid(), &self.beat_head);
        noise.drive(&mut inputs.wqe_resp_data, wqe.valid(), &wqe.payload);
        inputs.wqe_resp_start = flag(flags, 2, wqe.valid(), self.beat == 1);
        inputs.wqe_resp_last = flag(flags, 3, wqe.valid(), self.beat_last);

        inputs.cache_offset_dout = Bits8::new(u64::from(tables.cache_offset_dout));
        inputs.cache_owned_dout = Bits8::new(u64::from(tables.cache_owned_dout));
        inputs.rq_offset_dout = Bits24::new(u64::from(tables.rq_offset_dout));

        inputs.cq_req_ready = Bits1::from(cq.ready());
        inputs.cq_resp_valid = Bits1::from(cq.valid());
        noise.drive(&mut inputs.cq_resp_head, cq.valid(), &cq.payload);
        inputs.eq_req_ready = Bits1::from(eq.ready());
        inputs.eq_resp_valid = Bits1::from(eq.valid());
        noise.drive(&mut inputs.eq_resp_head, eq.valid(), &eq.payload);
    }

    #[inline]
    pub(crate) fn clock(&mut self, noise: &mut Noise, inputs: &Inputs, outputs: &Outputs) {
        let high = Bits1::is_high;
        self.tables.clock(outputs);
        if high(inputs.rst) {
            self.flush();
            return;
        }
        if high(outputs.fetch_mr_ingress_valid) {
            if self.mr_stall > 0 {
                self.mr_stall -= 1;
            } else {
                self.mr_served += 1;
                self.mr_stall = self.current.map_or(0, |packet| stall(packet, self.mr_served));
                self.handshakes += 1;
            }
        }
        if self.wqe.clock_response(high(outputs.wqe_resp_ready)) {
            self.handshakes += 1;
            self.offer_beat(noise);
        }
        if self.wqe.clock_request(high(outputs.wqe_req_valid)) {
            self.handshakes += 1;
            self.beat = 0;
            self.offer_beat(noise);
        }
        let of_cq: fn(&Packet) -> Queue = |packet| packet.cq;
        let queues = [
            (&mut self.cq, outputs.cq_resp_ready, outputs.cq_req_valid, of_cq),
            (&mut self.eq, outputs.eq_resp_ready, outputs.eq_req_valid, |packet| packet.eq),
        ];
        for (queue, ready, valid, answer) in queues {
            self.handshakes += u64::from(queue.clock_response(high(ready)));
            if queue.clock_request(high(valid)) {
                self.handshakes += 1;
                let Queue { gap, laddr, .. } = self.current.map_or_else(Queue::default, answer);
                let reserved = Bits96::from_words(noise.words());
                queue.offer(gap.get(), QueueResponse { laddr }.encode(reserved));
            }
        }
    }
}

/// A flag while its valid is 1, else noise.
#[inline]
fn flag(flags: u32, index: u32, valid: bool, high: bool) -> Bits1 {
    Bits1::from(if valid { high } else { flags >> index & 1 == 1 })
}

fn stall(packet: &Packet, index: usize) -> u64 {
    packet.mr_stalls.get(index).copied().map_or(0, Uint::get)
}

/// The longest gap, stall or time to reset of a packet, in cycles.
#[inline]
fn longest_wait(packet: &Packet) -> u64 {
    let Packet { gap, cq, eq, mr_stalls, .. } = packet;
    let alone = longest([*gap, cq.stall, cq.gap, eq.stall, eq.gap]);
    let wqe = packet.wqe.as_ref().map_or(0, |wqe| {
        let units = longest(wqe.units.iter().map(|unit| unit.gap));
        units.max(wqe.stall.get()).max(wqe.gap.get())
    });
    let reset = packet.reset.map_or(0, |reset| reset.total());
    alone.max(longest(mr_stalls.iter().copied())).max(wqe).max(reset)
}

/// Cycles without a handshake that the traffic can cause.
pub(crate) fn progress_timeout<'a>(packets: impl Iterator<Item = &'a Packet>) -> u64 {
    SLACK + WAITS * packets.map(longest_wait).max().unwrap_or(0)
}

impl<'a> harness::Environment<'a, Inputs, Outputs, Traffic> for Environment<'a> {
    fn new(traffic: &'a Traffic, _: &Parameters) -> Self {
        let mut environment = Self {
            packets: &traffic.packets,
            noise: Noise::new(traffic.noise.get()),
            place: PacketCursor::default(),
            station: HeaderSource {
                gap: traffic.packets.first().map_or(0, |packet| packet.gap.get()),
                offered: false,
                head: Bits416::ZERO,
                data: Bits488::ZERO,
            },
            modules: Modules::new(&traffic.tables),
            pace: Pace::new(DRAIN, progress_timeout(traffic.packets.iter())),
        };
        environment.offer_packet();
        environment
    }

    #[inline]
    fn drive(&mut self, inputs: &mut Inputs) {
        let Self { noise, station, .. } = self;
        let mut noise = noise.cycle::<NOISE_WORDS>();
        let &[flags] = noise.next_words();
        inputs.rst = Bits1::from(self.pace.reset.asserted());
        inputs.fetch_cxt_egress_valid = Bits1::from(station.offered);
        noise.drive(&mut inputs.fetch_cxt_egress_head, station.offered, &station.head);
        noise.drive(&mut inputs.fetch_cxt_egress_data, station.offered, &station.data);
        inputs.fetch_cxt_egress_start = flag(flags, 0, station.offered, true);
        inputs.fetch_cxt_egress_last = flag(flags, 1, station.offered, true);
        self.modules.drive(noise.next_words(), flags, inputs);
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        self.modules.clock(&mut self.noise, inputs, outputs);
        if inputs.rst.is_high() {
            self.pace.reset.clock();
            return;
        }
        let ready = outputs.fetch_cxt_egress_ready.is_high();
        let idle = ready && !self.station.offered && self.place.index == self.packets.len();
        self.pace.handshakes += u64::from(self.station.offered && ready);
        self.clock_station(ready);
        self.pace.clock(idle);
    }

    #[inline]
    fn handshakes(&self) -> u64 {
        self.pace.handshakes + self.modules.handshakes()
    }

    #[inline]
    fn finished(&self) -> bool {
        self.pace.is_over()
    }

    #[inline]
    fn progress_timeout(&self) -> u64 {
        self.pace.timeout()
    }

    fn packets(&self) -> u64 {
        self.pace.packets
    }
}
