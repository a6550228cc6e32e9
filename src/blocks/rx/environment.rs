//! The environment of the system: the sender, the link, the fetch unit for descriptors, and the
//! environments of the inner blocks.
//!
//! It follows the lists of the traffic, with the handshakes of the golden model.

use super::rtl::{Bits1, Bits16, Bits32, Bits416, Bits488, Inputs, Outputs};
use super::rules::descriptor::{self, Descriptor};
use super::rules::parameters::{of_dll, of_recv};
use super::rules::pins;
use super::traffic::{Request, Traffic, takes_wqe};
use crate::blocks::dll::environment::{self as dll, Link, SourceState};
use crate::blocks::recv::environment::{self as recv, Host, Sender};
use crate::blocks::recv::traffic::DP;
use crate::blocks::thread2::environment::{self as thread2, Modules};
use crate::blocks::thread2::traffic::{Packet, PacketCursor};
use crate::blocks::{dll as dll_block, qp, recv as recv_block, thread2 as thread2_block};
use cosim_core::harness::{self, Delays, Noise, Pace, Parameters, longest};
use std::collections::VecDeque;

/// Idle cycles at the end, in which nothing else may happen.
const DRAIN: u64 = 8;
/// Capacity of the FIFO.
const PLACES: usize = 16;
const HANDLES: usize = 256;
/// Words of all payloads, and three for flags, lengths and descriptors.
const NOISE_WORDS: usize = 3 + 2 + thread2::PAYLOAD_WORDS + 13 + 16;

#[derive(Debug, Clone)]
pub struct Environment<'a> {
    noise: Noise,
    source: Source<'a>,
    link: Link<'a>,
    fetcher: Fetcher<'a>,
    software: qp::Environment<'a>,
    modules: Modules<'a>,
    host: Host<'a>,
    pace: Pace,
}

/// Offers the descriptors of requests and of messages, alternately if both are due.
#[derive(Debug, Clone)]
struct Source<'a> {
    requests: &'a [Request],
    /// The next request.
    place: PacketCursor,
    /// Cycles before the next request is offered.
    gap: u64,
    messages: Sender<'a>,
    /// The descriptor on offer, and whether it is that of a request.
    offer: Option<(bool, Bits32)>,
    /// The last descriptor was that of a request.
    last: bool,
    taken: u64,
}

impl<'a> Source<'a> {
    fn new(requests: &'a [Request], messages: Sender<'a>) -> Self {
        let gap = requests.first().map_or(0, |request| request.packet.gap.get());
        let place = PacketCursor::default();
        Self { requests, place, gap, messages, offer: None, last: false, taken: 0 }
    }

    #[inline]
    fn is_used_up(&self) -> bool {
        self.place.index == self.requests.len() && self.messages.is_done()
    }

    /// The descriptor of the next request, if it is due.
    #[inline]
    fn request(&self) -> Option<Descriptor> {
        let index = self.place.index;
        let Request { packet, error } = self.requests.get(index).filter(|_| self.gap == 0)?;
        Some(Descriptor::Request(descriptor::Request {
            consumes_wqe: takes_wqe(packet.header.net_opcode.get()),
            error: error.get() == 1,
            handle: (index % HANDLES) as u8,
            qpn: packet.header.local_qpn.get() as u8,
        }))
    }

    /// The descriptor of the next message packet, if it is due. `clear`: recv waits for no earlier
    /// packet.
    #[inline]
    fn message(&self, clear: bool) -> Option<Descriptor> {
        let packet = self.messages.packet.filter(|_| self.messages.is_due())?;
        // recv would take a lone DP for one of the posted message before it.
        let waits = self.messages.begins().is_some() && packet.kind == DP && !clear;
        let (kind, handle) = (packet.kind as u8, packet.id as u8);
        let message = descriptor::Message { last: packet.last, kind, handle };
        (!waits).then_some(Descriptor::Message(message))
    }

    /// Offers the next descriptor, if nothing is on offer and one is due.
    fn choose(&mut self, clear: bool, noise: &mut Noise) {
        if self.offer.is_some() {
            return;
        }
        let (request, message) = (self.request(), self.message(clear));
        let is_request = request.is_some() && (message.is_none() || !self.last);
        if let Some(descriptor) = if is_request { request } else { message } {
            let [ignored] = noise.words();
            self.offer = Some((is_request, descriptor.encode(ignored)));
        }
    }

    fn clock(&mut self, ready: bool) {
        let taken = self.offer.take_if(|_| ready).map(|(is_request, _)| is_request);
        self.last = taken.unwrap_or(self.last);
        self.taken += u64::from(taken.is_some());
        match taken {
            Some(false) => self.messages.advance(),
            _ => self.messages.wait(),
        }
        if taken != Some(true) {
            self.gap = self.gap.saturating_sub(1);
            return;
        }
        if let Some(sent) = self.requests.get(self.place.index) {
            self.place.step(&sent.packet);
        }
        let next = self.requests.get(self.place.index);
        self.gap = next.map_or(0, |request| request.packet.gap.get());
    }

    /// The request with a handle that was sent last. Fewer requests are in flight than there are
    /// handles; one that comes again keeps its handle.
    fn newest(&self, handle: u8) -> Option<&'a Packet> {
        let last = self.place.last()?;
        let back = last.wrapping_sub(usize::from(handle)) % HANDLES;
        self.requests.get(last.checked_sub(back)?).map(|request| &request.packet)
    }

    /// Handles a reset: the rest of a partly sent message is dropped.
    fn forget(&mut self) {
        self.offer = None;
        self.messages.drop_message();
    }
}

/// Follows the deliveries of B, and fetches context or lengths for the head of the FIFO.
#[derive(Debug, Clone)]
struct Fetcher<'a> {
    /// The expected contents of the FIFO.
    fifo: VecDeque<Bits32>,
    /// Context and header of the head, if it is a request packet.
    context: Option<Context<'a>>,
    /// The next packet for recv.
    expected: Sender<'a>,
    waits: Delays<'a>,
}

/// The context that belongs to the handle of a request packet.
#[derive(Debug, Clone)]
struct Context<'a> {
    packet: &'a Packet,
    head: Bits416,
    data: Bits488,
}

impl<'a> Fetcher<'a> {
    fn new(messages: Sender<'a>, waits: Delays<'a>) -> Self {
        let fifo = VecDeque::with_capacity(PLACES);
        Self { fifo, context: None, expected: messages, waits }
    }

    fn head(&self) -> Option<Descriptor> {
        self.fifo.front().copied().map(Descriptor::decode)
    }

    #[inline]
    fn context(&self) -> Option<&Context<'a>> {
        self.context.as_ref().filter(|_| self.waits.is_over())
    }

    /// The lengths of the head, if it is a message packet and they are available.
    #[inline]
    fn lengths(&self) -> Option<recv::Offer> {
        let is_message = matches!(self.head(), Some(Descriptor::Message(_)));
        self.expected.packet.filter(|_| is_message && self.waits.is_over())
    }

    fn start_fetch(&mut self, source: &Source<'a>, noise: &mut Noise) {
        let packet = match self.head() {
            Some(Descriptor::Request(request)) => source.newest(request.handle),
            _ => None,
        };
        self.context = packet.map(|packet| {
            let (head, data) = thread2::context(packet, noise);
            Context { packet, head, data }
        });
    }

    /// Advances one cycle. Returns the packet of a request that leaves.
    fn clock(
        &mut self,
        outputs: &Outputs,
        source: &Source<'a>,
        noise: &mut Noise,
    ) -> Option<&'a Packet> {
        let request_leaves = outputs.req_valid.is_high();
        let message_leaves = outputs.x_pkt_valid.is_high() && outputs.x_pkt_ready.is_high();
        let leaves = request_leaves || message_leaves;
        let was_empty = self.fifo.is_empty();
        if outputs.x_b_deliver_valid.is_high() && self.fifo.len() < PLACES {
            self.fifo.push_back(outputs.x_b_deliver_data);
        }
        let packet = self.context.as_ref().map(|context| context.packet);
        if leaves {
            self.fifo.pop_front();
            self.waits.next();
        } else if !was_empty {
            self.waits.wait();
        }
        if leaves || was_empty {
            self.start_fetch(source, noise);
        }
        packet.filter(|_| request_leaves)
    }

    /// Handles a reset: everything in flight is lost.
    fn forget(&mut self, messages: &Sender<'a>) {
        self.fifo.clear();
        self.context = None;
        self.expected = messages.clone();
    }
}

impl Environment<'_> {
    /// Describes what is sent next, the head of the FIFO, and the state of recv and of software.
    pub(super) fn in_flight(&self) -> Vec<String> {
        let Self { source, fetcher, host, software, .. } = self;
        let (sent, all) = (source.place.index, source.requests.len());
        let head = fetcher.fifo.front().map(|head| format!("head of the FIFO: {}", words(*head)));
        let sent = format!("{sent} of {all} requests and {} packets sent", source.taken);
        let blocks = host.in_flight(None).into_iter().chain(software.in_flight());
        [sent].into_iter().chain(head).chain(blocks).collect()
    }

    #[inline]
    fn arrived(&self) -> recv::ArrivalProgress {
        self.fetcher.expected.arrived(self.fetcher.lengths().is_some())
    }
}

/// Describes a descriptor.
pub(super) fn words(bits: Bits32) -> String {
    match Descriptor::decode(bits) {
        Descriptor::Request(request) => {
            let descriptor::Request { consumes_wqe, error, handle, qpn } = request;
            let wqe = if consumes_wqe { ", takes a WQE" } else { "" };
            let error = if error { ", error" } else { "" };
            format!("request {handle:#04x} for QP {qpn}{wqe}{error}")
        }
        Descriptor::Message(descriptor::Message { last, kind, handle }) => {
            let last = if last { ", last" } else { "" };
            let kind = recv_block::kind_name(u64::from(kind));
            format!("message packet {handle:#04x}: {kind}{last}")
        }
    }
}

impl<'a> harness::Environment<'a, Inputs, Outputs, Traffic> for Environment<'a> {
    fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        let messages = Sender::new(&traffic.receive.messages);
        let software = qp::Environment::new(&traffic.software, parameters);
        let timeout = software.progress_timeout()
            + longest(traffic.fetch_waits.iter().copied())
            + dll::progress_timeout(&traffic.link, &of_dll(parameters))
            + recv::progress_timeout(&traffic.receive)
            + thread2::progress_timeout(traffic.packets());
        let mut environment = Self {
            noise: Noise::new(traffic.noise.get()),
            source: Source::new(&traffic.requests, messages.clone()),
            link: Link::new(&traffic.link, &of_dll(parameters)),
            fetcher: Fetcher::new(messages, Delays::new(&traffic.fetch_waits)),
            software,
            modules: Modules::new(&traffic.tables),
            host: Host::new(&traffic.receive, &of_recv(parameters)),
            pace: Pace::new(DRAIN, timeout),
        };
        environment.source.choose(true, &mut environment.noise);
        environment
    }

    #[inline]
    fn drive(&mut self, inputs: &mut Inputs) {
        let mut to_dll = dll_block::rtl::Inputs::default();
        let mut to_qp = qp::rtl::Inputs::default();
        let mut to_thread2 = thread2_block::rtl::Inputs::default();
        let mut to_recv = recv_block::rtl::Inputs::default();
        let arrived = self.arrived();
        let Self { noise, source, link, fetcher, software, modules, host, pace, .. } = self;
        let mut noise = noise.cycle::<NOISE_WORDS>();
        let &[flags, lengths, descriptor] = noise.next_words();
        link.drive(*noise.next_words(), &mut to_dll);
        software.drive(&mut to_qp);
        modules.drive(noise.next_words(), flags, &mut to_thread2);
        host.drive(arrived, u64::from(flags >> 4), &mut to_recv);

        let offer = source.offer.map(|(_, descriptor)| descriptor);
        let context = fetcher.context();
        let packet = fetcher.lengths();
        let idle = u64::from(lengths);
        let (idle_head, idle_data) = (noise.next_words(), noise.next_words());
        let held = context.map(|held| (held.head.words(), held.data.words()));
        let (head, data) = held.unwrap_or((idle_head, idle_data));
        system_inputs!(
            inputs {
                rst: Bits1::from(pace.reset.asserted() || to_qp.rst.is_high()),
                a_tlp_valid: Bits1::from(offer.is_some()),
                a_tlp_data: offer.unwrap_or(Bits32::new(u64::from(descriptor))),
                cxt_valid: Bits1::from(context.is_some()),
                cxt_head: Bits416::from_words(*head),
                cxt_data: Bits488::from_words(*data),
                len_valid: Bits1::from(packet.is_some()),
                len_pkt: Bits16::new(packet.map_or(idle >> 16, |packet| packet.len)),
                len_msg: Bits32::new(packet.map_or(idle, |packet| packet.msg_len)),
            }
            dll from to_dll
            qp from to_qp
            software from to_qp
            thread2 from to_thread2
            recv from to_recv
        );
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let in_reset = inputs.rst.is_high();
        let is_used_up = self.source.is_used_up();
        // A descriptor that waits for a credit gets one: B has delivered everything that A no
        // longer holds.
        let goes_on = outputs.x_a_tlp_ready.is_high() && !is_used_up;
        let steady = self.pace.reset.is_over() && self.software.is_steady();
        let (to, from) = pins::dll(inputs, outputs);
        self.link.clock(&to, &from, SourceState { is_used_up, goes_on }, steady);
        let (to, from) = pins::thread2(inputs, outputs);
        self.modules.clock(&mut self.noise, &to, &from);
        let (to, from) = pins::software(inputs, outputs);
        self.software.clock(&to, &from);
        if in_reset {
            self.source.forget();
            self.fetcher.forget(&self.source.messages);
            self.host.forget();
            self.source.choose(true, &mut self.noise);
            self.pace.clock(false);
            return;
        }

        let message_taken = outputs.x_pkt_valid.is_high() && outputs.x_pkt_ready.is_high();
        let begins = self.fetcher.expected.begins().filter(|_| message_taken);
        let arrived = self.arrived();
        let (to, from) = pins::recv(inputs, outputs);
        self.host.clock(arrived, begins, &to, &from);
        if message_taken {
            self.pace.start(begins.and_then(|(_, message)| message.reset));
            self.fetcher.expected.advance();
        }
        if let Some(packet) = self.fetcher.clock(outputs, &self.source, &mut self.noise) {
            if outputs.x_cxt_valid.is_high() && outputs.x_cxt_ready.is_high() {
                self.modules.start_answers(packet);
            }
            self.pace.start(packet.reset);
        }
        self.source.clock(outputs.a_tlp_ready.is_high());
        let clear =
            self.source.messages.at == self.fetcher.expected.at && !self.host.awaits_posted_data();
        self.source.choose(clear, &mut self.noise);

        let idle = self.fetcher.fifo.is_empty()
            && !outputs.x_b_deliver_valid.is_high()
            && !outputs.fetch_valid.is_high()
            && !outputs.x_hw_valid.is_high()
            && outputs.x_cxt_ready.is_high()
            // recv gets no more packets over a stalled link.
            && (self.host.is_done() || self.link.is_stalled())
            && !outputs.rv_credit_valid.is_high();
        self.pace.clock(idle);
    }

    #[inline]
    fn finished(&self) -> bool {
        self.pace.is_over() && self.software.finished() && self.link.is_done()
    }

    #[inline]
    fn handshakes(&self) -> u64 {
        self.source.taken
            + self.link.progress()
            + self.software.handshakes()
            + self.modules.handshakes()
            + self.host.progress
    }

    #[inline]
    fn progress_timeout(&self) -> u64 {
        self.pace.timeout()
    }

    fn packets(&self) -> u64 {
        self.source.taken
    }
}

#[cfg(test)]
mod tests;
