//! The modules around the block: OoOStation, RecvQueueMgt, CompletionQueueMgt, EventQueueMgt and the
//! three tables.
//!
//! Each follows the traffic's explicit list; handshakes are those of the golden model. A ready that is
//! not stalled is high before its valid, a stalled one rises after that many cycles of valid.

use super::Thread2;
use super::layout::QueueResponse;
use super::rtl::{
    Bits1, Bits8, Bits24, Bits96, Bits128, Bits416, Bits488, Bits576, Inputs, Outputs,
};
use super::stimulus::{self, Packet, Queue, Traffic, Unit};
use cosim_core::harness::{self, Noise, Parameters, ResetTimer};
use cosim_core::value::Uint;

/// Idle cycles after the last packet, in which nothing more may happen.
const DRAIN: u32 = 4;
/// Cycles without a handshake beyond what the traffic explains.
const SLACK: u64 = 64;
/// Waits that can follow one another without a handshake: a reset cuts one short, lasts, and the next
/// packet has a gap of its own.
const WAITS: u64 = 3;

/// The environment of one case.
#[derive(Debug, Clone)]
pub struct Environment<'a> {
    packets: &'a [Packet],
    noise: Noise,
    tables: Tables,
    /// Packets offered and taken.
    taken: usize,
    station: Station,
    mr: Requests,
    wqe: Responder<Bits128>,
    /// Beats of the present WQE response already offered.
    beat: usize,
    beat_last: bool,
    beat_head: Bits576,
    cq: Responder<Bits96>,
    eq: Responder<Bits96>,
    reset: ResetTimer,
    drained: u32,
    handshakes: u64,
    patience: u64,
}

/// Offers contexts and headers.
#[derive(Debug, Clone)]
struct Station {
    gap: u64,
    offered: bool,
    head: Bits416,
    data: Bits488,
}

/// Takes requests after a stall.
#[derive(Debug, Clone, Default)]
struct Requests {
    stall: u64,
    /// MR requests of the packet so far.
    served: usize,
}

/// Takes a request after a stall and offers a response after a gap.
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

    /// The edge on the request's side; true on a handshake.
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

    /// The edge on the response's side; true on a handshake.
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

/// The three tables: address in one cycle, data in the next, write-first.
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
    fn new(traffic: &Traffic) -> Self {
        let mut tables = Self {
            rq_offset: [0; 256],
            cache_offset: [0; 256],
            cache_owned: [0; 128],
            rq_offset_dout: 0,
            cache_offset_dout: 0,
            cache_owned_dout: 0,
        };
        for entry in &traffic.tables.rq_offset {
            tables.rq_offset[entry.address.get() as usize] = entry.value.get() as u32;
        }
        for entry in &traffic.tables.cache_offset {
            tables.cache_offset[entry.address.get() as usize] = entry.value.get() as u8;
        }
        for entry in &traffic.tables.cache_owned {
            tables.cache_owned[entry.address.get() as usize] = entry.value.get() as u8;
        }
        tables
    }

    #[inline]
    fn clock(&mut self, outputs: &Outputs) {
        let rq_offset = outputs.rq_offset_addr.get() as usize;
        let cache_offset = outputs.cache_offset_addr.get() as usize;
        let cache_owned = outputs.cache_owned_addr.get() as usize;
        if outputs.rq_offset_wen.get() == 1 {
            self.rq_offset[rq_offset] = outputs.rq_offset_din.get() as u32;
        }
        if outputs.cache_offset_wen.get() == 1 {
            self.cache_offset[cache_offset] = outputs.cache_offset_din.get() as u8;
        }
        if outputs.cache_owned_wen.get() == 1 {
            self.cache_owned[cache_owned] = outputs.cache_owned_din.get() as u8;
        }
        self.rq_offset_dout = self.rq_offset[rq_offset];
        self.cache_offset_dout = self.cache_offset[cache_offset];
        self.cache_owned_dout = self.cache_owned[cache_owned];
    }
}

impl<'a> Environment<'a> {
    /// What is processed and what waits, in words.
    pub(super) fn in_flight(&self) -> Vec<String> {
        stimulus::in_flight(self.packets, self.taken)
    }

    /// The packet that was taken last.
    #[inline]
    fn current(&self) -> Option<&'a Packet> {
        self.packets.get(self.taken.checked_sub(1)?)
    }

    /// The station's side: waits out the gap while the block is idle, then offers.
    #[inline]
    fn clock_station(&mut self, ready: bool) {
        if self.station.offered {
            if !ready {
                return;
            }
            self.station.offered = false;
            self.take_packet();
        } else if ready {
            self.station.gap = self.station.gap.saturating_sub(1);
        }
        self.offer_packet();
    }

    /// Offers the next packet once its gap is over.
    fn offer_packet(&mut self) {
        if let Some(packet) = self.packets.get(self.taken)
            && self.station.gap == 0
        {
            self.station.head = packet.context.encode(Bits416::from_words(self.noise.words()));
            self.station.data = packet.header.encode(Bits488::from_words(self.noise.words()));
            self.station.offered = true;
        }
    }

    /// The packet on offer was taken: its answers are the ones that count from now on.
    fn take_packet(&mut self) {
        let packet = &self.packets[self.taken];
        self.wqe.stall = packet.wqe.as_ref().map_or(0, |wqe| wqe.stall.get());
        self.cq.stall = packet.cq.stall.get();
        self.eq.stall = packet.eq.stall.get();
        self.mr.served = 0;
        self.mr.stall = stall(packet, 0);
        if let Some(owner) = packet.cell_owner {
            let cell = (packet.header.local_qpn.get() & 0x7f) as usize;
            self.tables.cache_owned[cell] = owner.get() as u8;
        }
        if let Some(reset) = packet.reset {
            self.reset.start(reset);
        }
        self.taken += 1;
        self.station.gap = self.packets.get(self.taken).map_or(0, |packet| packet.gap.get());
    }

    /// Offers the next beat of the present WQE response, if there is one.
    fn offer_beat(&mut self) {
        let Some(wqe) = self.packets.get(self.taken.wrapping_sub(1)).and_then(|p| p.wqe.as_ref())
        else {
            return;
        };
        let reserved = Bits128::from_words(self.noise.words());
        let (gap, payload) = match self.beat.checked_sub(1) {
            None => (wqe.gap, wqe.next.encode(reserved)),
            Some(index) => match wqe.units.get(index) {
                Some(Unit { gap, data }) => (*gap, data.encode(reserved)),
                None => return,
            },
        };
        self.beat_last = self.beat == wqe.units.len();
        self.beat_head = Bits576::from_words(self.noise.words());
        self.wqe.offer(gap.get(), payload);
        self.beat += 1;
    }

    fn queue_response(&mut self, queue: fn(&Packet) -> Queue) -> (u64, Bits96) {
        let Queue { gap, laddr, .. } = self.current().map_or_else(Queue::default, queue);
        let reserved = Bits96::from_words(self.noise.words());
        (gap.get(), QueueResponse { laddr }.encode(reserved))
    }

    /// A reset reaches the surroundings, too: what they owed to the lost packet is void.
    fn flush(&mut self) {
        self.wqe = Responder::default();
        self.cq = Responder::default();
        self.eq = Responder::default();
        self.mr.stall = 0;
    }
}

fn stall(packet: &Packet, index: usize) -> u64 {
    packet.mr_stalls.get(index).copied().map_or(0, Uint::get)
}

/// Waiting in the longest gap, stall or time to reset of a packet, in cycles.
fn longest_wait(packet: &Packet) -> u64 {
    let queue = |queue: &Queue| queue.stall.get().max(queue.gap.get());
    let wqe = packet.wqe.as_ref().map_or(0, |wqe| {
        let units = wqe.units.iter().map(|unit| unit.gap.get()).max().unwrap_or(0);
        wqe.stall.get().max(wqe.gap.get()).max(units)
    });
    let mr = packet.mr_stalls.iter().map(|stall| stall.get()).max().unwrap_or(0);
    let reset = packet.reset.map_or(0, |reset| reset.total());
    [packet.gap.get(), queue(&packet.cq), queue(&packet.eq), wqe, mr, reset]
        .into_iter()
        .max()
        .unwrap_or(0)
}

impl<'a> harness::Environment<'a, Thread2> for Environment<'a> {
    fn new(traffic: &'a Traffic, _: &Parameters) -> Self {
        let mut environment = Self {
            packets: &traffic.packets,
            noise: Noise::new(traffic.noise.get()),
            tables: Tables::new(traffic),
            taken: 0,
            station: Station {
                gap: traffic.packets.first().map_or(0, |packet| packet.gap.get()),
                offered: false,
                head: Bits416::ZERO,
                data: Bits488::ZERO,
            },
            mr: Requests::default(),
            wqe: Responder::default(),
            beat: 0,
            beat_last: false,
            beat_head: Bits576::ZERO,
            cq: Responder::default(),
            eq: Responder::default(),
            reset: ResetTimer::default(),
            drained: 0,
            handshakes: 0,
            patience: SLACK + WAITS * traffic.packets.iter().map(longest_wait).max().unwrap_or(0),
        };
        environment.offer_packet();
        environment
    }

    #[inline]
    fn drive(&mut self, inputs: &mut Inputs) {
        // No `..`: a port that the RTL gains or loses does not compile here.
        let Inputs {
            rst,
            fetch_cxt_egress_valid,
            fetch_cxt_egress_head,
            fetch_cxt_egress_data,
            fetch_cxt_egress_start,
            fetch_cxt_egress_last,
            fetch_mr_ingress_ready,
            wqe_req_ready,
            wqe_resp_valid,
            wqe_resp_head,
            wqe_resp_data,
            wqe_resp_start,
            wqe_resp_last,
            cache_offset_dout,
            cache_owned_dout,
            rq_offset_dout,
            cq_req_ready,
            cq_resp_valid,
            cq_resp_head,
            eq_req_ready,
            eq_resp_valid,
            eq_resp_head,
            padding: _,
        } = inputs;
        let Self { noise, station, wqe, cq, eq, tables, .. } = self;
        let bit = |high: bool| Bits1::new(u64::from(high));
        let [flags] = noise.words();
        let flag = |index: u32, valid: bool, high: bool| {
            bit(if valid { high } else { flags >> index & 1 == 1 })
        };
        *rst = bit(self.reset.asserted());

        *fetch_cxt_egress_valid = bit(station.offered);
        noise.drive(fetch_cxt_egress_head, station.offered, &station.head);
        noise.drive(fetch_cxt_egress_data, station.offered, &station.data);
        *fetch_cxt_egress_start = flag(0, station.offered, true);
        *fetch_cxt_egress_last = flag(1, station.offered, true);
        *fetch_mr_ingress_ready = bit(self.mr.stall == 0);

        *wqe_req_ready = bit(wqe.ready());
        *wqe_resp_valid = bit(wqe.valid());
        noise.drive(wqe_resp_head, wqe.valid(), &self.beat_head);
        noise.drive(wqe_resp_data, wqe.valid(), &wqe.payload);
        *wqe_resp_start = flag(2, wqe.valid(), self.beat == 1);
        *wqe_resp_last = flag(3, wqe.valid(), self.beat_last);

        *cache_offset_dout = Bits8::new(u64::from(tables.cache_offset_dout));
        *cache_owned_dout = Bits8::new(u64::from(tables.cache_owned_dout));
        *rq_offset_dout = Bits24::new(u64::from(tables.rq_offset_dout));

        *cq_req_ready = bit(cq.ready());
        *cq_resp_valid = bit(cq.valid());
        noise.drive(cq_resp_head, cq.valid(), &cq.payload);
        *eq_req_ready = bit(eq.ready());
        *eq_resp_valid = bit(eq.valid());
        noise.drive(eq_resp_head, eq.valid(), &eq.payload);
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let high = |pin: Bits1| pin.get() == 1;
        self.tables.clock(outputs);
        if high(inputs.rst) {
            self.flush();
            self.reset.clock();
            return;
        }
        let ready = high(outputs.fetch_cxt_egress_ready);
        let idle = ready && !self.station.offered && self.taken == self.packets.len();
        self.drained = if idle { self.drained + 1 } else { 0 };

        if high(outputs.fetch_mr_ingress_valid) {
            if self.mr.stall > 0 {
                self.mr.stall -= 1;
            } else {
                self.mr.served += 1;
                self.mr.stall = self.current().map_or(0, |packet| stall(packet, self.mr.served));
                self.handshakes += 1;
            }
        }
        if self.wqe.clock_response(high(outputs.wqe_resp_ready)) {
            self.handshakes += 1;
            self.offer_beat();
        }
        if self.wqe.clock_request(high(outputs.wqe_req_valid)) {
            self.handshakes += 1;
            self.beat = 0;
            self.offer_beat();
        }
        self.handshakes += u64::from(self.cq.clock_response(high(outputs.cq_resp_ready)));
        if self.cq.clock_request(high(outputs.cq_req_valid)) {
            self.handshakes += 1;
            let (gap, payload) = self.queue_response(|packet| packet.cq);
            self.cq.offer(gap, payload);
        }
        self.handshakes += u64::from(self.eq.clock_response(high(outputs.eq_resp_ready)));
        if self.eq.clock_request(high(outputs.eq_req_valid)) {
            self.handshakes += 1;
            let (gap, payload) = self.queue_response(|packet| packet.eq);
            self.eq.offer(gap, payload);
        }
        self.handshakes += u64::from(self.station.offered && ready);
        self.clock_station(ready);
        self.reset.clock();
    }

    #[inline]
    fn finished(&self) -> bool {
        self.drained >= DRAIN && self.reset.is_over()
    }

    #[inline]
    fn handshakes(&self) -> u64 {
        self.handshakes
    }

    #[inline]
    fn patience(&self) -> u64 {
        self.patience
    }

    fn packets(&self) -> u64 {
        self.taken as u64
    }
}
