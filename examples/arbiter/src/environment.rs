//! The environment: four sources of packets, and the consumer of beats.

use crate::rtl::{Bits1, Bits4, Bits64, Inputs, Outputs};
use crate::stimulus::{Packet, Traffic};
use crate::{Arbiter, REQUESTERS};
use cosim_core::harness::{self, Noise, Parameters, Reset, ResetTimer};
use cosim_core::value::Uint;

/// Idle cycles at the end, in which no beat may come out.
const DRAIN: u64 = 4;
/// Cycles without a handshake to tolerate in addition to the delays of the traffic.
const SLACK: u64 = 16;

/// The environment of one case.
#[derive(Debug, Clone)]
pub struct Environment<'a> {
    noise: Noise,
    sources: [Source<'a>; REQUESTERS],
    /// Stalls of the beats after the current one.
    stalls: std::slice::Iter<'a, Uint<12>>,
    /// Cycles that the current beat still waits.
    stall: u64,
    reset: ResetTimer,
    idle: u64,
    handshakes: u64,
    packets: u64,
    progress_timeout: u64,
}

/// Offers the packets of a requester.
#[derive(Debug, Clone)]
struct Source<'a> {
    /// Packets that are not finished; the first one is in progress.
    rest: &'a [Packet],
    /// Number of its beats that were accepted.
    taken: u64,
    /// Cycles until the next beat is offered.
    wait: u64,
}

impl<'a> Source<'a> {
    fn new(packets: &'a [Packet]) -> Self {
        let wait = packets.first().map_or(0, |packet| packet.gap.get());
        Self { rest: packets, taken: 0, wait }
    }

    /// The beat on offer, as (last, payload).
    #[inline]
    fn offer(&self) -> Option<(bool, u64)> {
        let packet = self.rest.first().filter(|_| self.wait == 0)?;
        let is_last = self.taken + 1 == packet.beats.get();
        Some((is_last, packet.data.get().wrapping_add(self.taken) & 0xffff))
    }

    /// Advances one cycle. Returns the packet if its last beat is accepted.
    #[inline]
    fn clock(&mut self, ready: bool) -> Option<&'a Packet> {
        if self.wait > 0 {
            self.wait -= 1;
            return None;
        }
        let packet = self.rest.first().filter(|_| ready)?;
        self.taken += 1;
        if self.taken < packet.beats.get() {
            self.wait = packet.delay.get();
            return None;
        }
        *self = Self::new(&self.rest[1..]);
        Some(packet)
    }

    /// A packet that a reset interrupts is not repeated.
    fn reset(&mut self) {
        if self.taken > 0 {
            *self = Self::new(&self.rest[1..]);
        }
    }
}

impl Environment<'_> {
    /// Describes the current packet of each requester.
    pub fn in_flight(&self) -> Vec<String> {
        let says = |(n, source): (usize, &Source<'_>)| {
            let packet = source.rest.first()?;
            let (taken, beats) = (source.taken, packet.beats.get());
            let left = source.rest.len();
            Some(format!("requester {n}: {taken} of {beats} beats taken, {left} packets to go"))
        };
        self.sources.iter().enumerate().filter_map(says).collect()
    }
}

fn longest<T>(items: impl IntoIterator<Item = T>, cycles: impl Fn(T) -> u64) -> u64 {
    items.into_iter().map(cycles).max().unwrap_or(0)
}

impl<'a> harness::Environment<'a, Arbiter> for Environment<'a> {
    fn new(traffic: &'a Traffic, _: &Parameters) -> Self {
        let packets = || traffic.requesters.iter().flatten();
        let progress_timeout = SLACK
            + longest(packets(), |packet| packet.gap.get())
            + longest(packets(), |packet| packet.delay.get())
            + longest(packets(), |packet| packet.reset.as_ref().map_or(0, Reset::total))
            + longest(&traffic.out_stalls, |stall| stall.get());
        let mut stalls = traffic.out_stalls.iter();
        Self {
            noise: Noise::new(traffic.noise.get()),
            sources: std::array::from_fn(|n| Source::new(&traffic.requesters[n])),
            stall: stalls.next().map_or(0, |stall| stall.get()),
            stalls,
            reset: ResetTimer::default(),
            idle: 0,
            handshakes: 0,
            packets: 0,
            progress_timeout,
        }
    }

    #[inline]
    fn drive(&mut self, inputs: &mut Inputs) {
        // Exhaustive, so that a changed port list of the RTL does not compile.
        let Inputs { rst, req_valid, req_last, req_data, out_ready, padding: _ } = inputs;
        let [low, high, flags] = self.noise.words();
        let (mut valid, mut last) = (0, u64::from(flags) & 0xf);
        let mut data = u64::from(high) << 32 | u64::from(low);
        for (n, source) in self.sources.iter().enumerate() {
            if let Some((is_last, payload)) = source.offer() {
                valid |= 1 << n;
                last = last & !(1 << n) | u64::from(is_last) << n;
                data = data & !(0xffff << (16 * n)) | payload << (16 * n);
            }
        }
        *rst = Bits1::from(self.reset.asserted());
        *req_valid = Bits4::new(valid);
        *req_last = Bits4::new(last);
        *req_data = Bits64::new(data);
        *out_ready = Bits1::from(self.stall == 0);
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        if inputs.rst.get() == 1 {
            self.sources.iter_mut().for_each(Source::reset);
            self.reset.clock();
            return;
        }
        let ready = outputs.req_ready.get();
        self.handshakes += u64::from((inputs.req_valid.get() & ready).count_ones());
        for (n, source) in self.sources.iter_mut().enumerate() {
            if let Some(packet) = source.clock(ready >> n & 1 == 1) {
                self.packets += 1;
                if let Some(reset) = packet.reset {
                    self.reset.start(reset);
                }
            }
        }
        let is_out = outputs.out_valid.get() == 1;
        if is_out && self.stall > 0 {
            self.stall -= 1;
        } else if is_out {
            self.handshakes += 1;
            self.stall = self.stalls.next().map_or(0, |stall| stall.get());
        }
        let is_idle = !is_out && self.sources.iter().all(|source| source.rest.is_empty());
        self.idle = if is_idle { self.idle + 1 } else { 0 };
        self.reset.clock();
    }

    #[inline]
    fn finished(&self) -> bool {
        self.idle >= DRAIN && self.reset.is_over()
    }

    #[inline]
    fn handshakes(&self) -> u64 {
        self.handshakes
    }

    #[inline]
    fn progress_timeout(&self) -> u64 {
        self.progress_timeout
    }

    fn packets(&self) -> u64 {
        self.packets
    }
}
