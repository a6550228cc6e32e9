//! The environment: the sender, posted receives, the pool of buffers, and the reader of kept
//! packets.
//!
//! It follows the lists of the traffic, with the handshakes of the golden model.

use super::kind_name;
use super::rtl::{Bits1, Bits3, Bits8, Bits16, Bits32, Inputs, Outputs};
use super::rules::parameters::{self, HIGH};
use super::traffic::{DP, EAGER, Message, RNDV_DATA, Traffic};
use cosim_core::harness::{self, Delays, Noise, Pace, Parameters, longest, longest_reset};
use cosim_core::value::Uint;

/// Idle cycles at the end, in which the last choice is made and nothing else may happen.
const DRAIN: u64 = 6;
/// Cycles without progress to tolerate in addition to the delays of the traffic.
const SLACK: u64 = 64;

#[derive(Debug, Clone)]
pub struct Environment<'a> {
    noise: Noise,
    sender: Sender<'a>,
    host: Host<'a>,
    pace: Pace,
}

/// The environment without the sender: posted receives, the pool, and the consumers of credits and
/// kept packets.
#[derive(Debug, Clone)]
pub(crate) struct Host<'a> {
    open: Option<Open<'a>>,
    /// The answer to a request for a temporary buffer.
    temp_ok: bool,
    /// Free buffers at the beginning and after a reset, and now.
    pool: u64,
    free: u64,
    receiver: Receiver<'a>,
    credits: Delays<'a>,
    high: u64,
    /// Number of buffers in the ring in the next cycle.
    ring_level: u64,
    /// Number of handshakes so far.
    pub(crate) progress: u64,
}

/// Which packets have reached the block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArrivalProgress {
    /// The message of the next packet.
    pub(crate) message: usize,
    /// That packet is on offer and is the last one of its message.
    pub(crate) last_waits: bool,
}

/// Reads kept packets one after the other.
#[derive(Debug, Clone)]
pub(super) struct Receiver<'a> {
    /// Number of kept packets that are not read yet.
    pub(super) kept: u64,
    waits: Delays<'a>,
}

impl<'a> Receiver<'a> {
    pub(super) fn new(reads: &'a [Uint<12>]) -> Self {
        Self { kept: 0, waits: Delays::new(reads) }
    }

    /// Advances one cycle. Returns whether a buffer becomes free.
    #[inline]
    pub(super) fn clock(&mut self, keeps: bool) -> bool {
        let returns = self.kept > 0 && self.waits.clock();
        self.kept = self.kept + u64::from(keeps) - u64::from(returns);
        returns
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer {
    pub(crate) kind: u64,
    pub(crate) id: u64,
    pub(crate) len: u64,
    pub(crate) msg_len: u64,
    pub(crate) last: bool,
}

/// Iterates over the packets of the messages.
#[derive(Debug, Clone)]
pub(crate) struct Sender<'a> {
    messages: &'a [Message],
    /// The message of the next packet.
    pub(crate) at: usize,
    /// The current entry of its data; `None` for its CP.
    entry: Option<usize>,
    /// Packets of the entry that were accepted.
    inside: u64,
    /// Cycles before the packet is offered.
    gap: u64,
    taken: u64,
    /// The packet that is on offer or comes next.
    pub(crate) packet: Option<Offer>,
}

impl<'a> Sender<'a> {
    pub(crate) fn new(messages: &'a [Message]) -> Self {
        let (entry, packet) = (None, None);
        let mut sender = Self { messages, at: 0, entry, inside: 0, gap: 0, taken: 0, packet };
        sender.start_message(0);
        sender
    }

    fn start_message(&mut self, at: usize) {
        (self.at, self.entry, self.inside) = (at, None, 0);
        self.gap = self.messages.get(at).map_or(0, |message| message.gap.get());
        self.packet = self.next_packet();
    }

    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.at == self.messages.len()
    }

    /// The next packet, from the lists of the traffic.
    fn next_packet(&self) -> Option<Offer> {
        let message = self.messages.get(self.at)?;
        let msg_len = message.msg_len.get();
        let Some(entry) = self.entry else {
            let (kind, id, len) = (message.kind.get(), message.id.get(), message.len.get());
            return Some(Offer { kind, id, len, msg_len, last: message.data.is_empty() });
        };
        let data = &message.data[entry];
        let is_last = entry + 1 == message.data.len() && self.inside + 1 == data.count();
        Some(Offer {
            kind: data.stray.map_or(DP, |stray| stray.kind.get()),
            id: data.id.get().wrapping_add(self.inside) & 0xff,
            len: data.len.get(),
            msg_len,
            last: data.stray.map_or(is_last, |stray| stray.last.get() == 1),
        })
    }

    /// Whether the packet is on offer now.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.gap == 0
    }

    /// Advances one cycle in which no packet is accepted.
    #[inline]
    pub(crate) fn wait(&mut self) {
        self.gap = self.gap.saturating_sub(1);
    }

    /// The message and its index, if the next packet is a CP.
    #[inline]
    pub(crate) fn begins(&self) -> Option<(usize, &'a Message)> {
        let message = self.messages.get(self.at).filter(|_| self.entry.is_none())?;
        Some((self.at, message))
    }

    /// Whether the data of the packet has a destination: an eager CP, a CP with rendezvous data, or
    /// their DPs.
    #[inline]
    pub(crate) fn carries_data(&self) -> bool {
        let message = self.messages.get(self.at);
        message.is_some_and(|message| match self.entry {
            None => matches!(message.kind.get(), EAGER | RNDV_DATA),
            Some(entry) => message.data[entry].stray.is_none(),
        })
    }

    /// The progress that the receiving side sees. `on_offer`: the packet is on the pins.
    #[inline]
    pub(crate) fn arrived(&self, on_offer: bool) -> ArrivalProgress {
        let is_last = |packet: Offer| packet.kind == DP && packet.last;
        let last_waits = on_offer && self.packet.is_some_and(is_last);
        ArrivalProgress { message: self.at, last_waits }
    }

    /// Advances after the packet was accepted.
    pub(crate) fn advance(&mut self) {
        self.taken += 1;
        let Some(message) = self.messages.get(self.at) else { return };
        let next = self.entry.map_or(0, |entry| entry + 1);
        match (self.entry, message.data.get(next)) {
            (Some(entry), _) if self.inside + 1 < message.data[entry].count() => self.inside += 1,
            (_, Some(data)) => {
                (self.entry, self.inside, self.gap) = (Some(next), 0, data.gap.get())
            }
            (_, None) => return self.start_message(self.at + 1),
        }
        self.packet = self.next_packet();
    }

    /// Handles a reset of the block: the rest of a partly sent message is dropped.
    pub(crate) fn drop_message(&mut self) {
        if self.entry.is_some() {
            self.start_message(self.at + 1);
        }
    }
}

/// A message whose CP was accepted, until the block needs only packets from the environment.
#[derive(Debug, Clone, Copy)]
struct Open<'a> {
    number: usize,
    message: &'a Message,
    phase: Phase,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// The block asks whether it is posted; cycles until the answer.
    Requested(u64),
    /// Its data is received; cycles of additional delay until it is finished.
    Receiving(u64),
}

/// Cycles without progress that the traffic can cause.
pub(crate) fn progress_timeout(traffic: &Traffic) -> u64 {
    let most = |of: fn(&Message) -> Uint<12>| longest(traffic.messages.iter().map(of));
    SLACK
        + most(|message| message.gap)
        + longest(traffic.messages.iter().flat_map(|message| &message.data).map(|data| data.gap))
        + most(|message| message.match_wait)
        + most(|message| message.done_wait)
        + longest_reset(traffic.messages.iter().map(|message| message.reset))
        + longest(traffic.credit_stalls.iter().copied())
        + longest(traffic.reads.iter().copied())
}

impl<'a> Host<'a> {
    pub(crate) fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        let pool = parameters::pool(traffic.pool.get(), parameters);
        let high = parameters.get(HIGH);
        Self {
            open: None,
            temp_ok: false,
            pool,
            free: pool,
            receiver: Receiver::new(&traffic.reads),
            credits: Delays::new(&traffic.credit_stalls),
            high,
            ring_level: high,
            progress: 0,
        }
    }

    /// Whether it waits for nothing from the block.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.open.is_none() && self.receiver.kept == 0
    }

    #[inline]
    pub(crate) fn awaits_posted_data(&self) -> bool {
        self.open.is_some_and(|open| open.message.is_posted())
    }

    /// Whether `posted_done` may be 1 in this cycle.
    #[inline]
    fn may_finish(&self, number: usize, arrived: ArrivalProgress) -> bool {
        let takes_last = arrived.last_waits && self.ring_level > 0;
        arrived.message > number || arrived.message == number && takes_last
    }

    #[inline]
    fn finishes(&self, arrived: ArrivalProgress) -> bool {
        matches!(self.open, Some(Open { number, phase: Phase::Receiving(0), .. })
            if self.may_finish(number, arrived))
    }

    #[inline]
    fn answers(&self) -> bool {
        matches!(self.open, Some(Open { phase: Phase::Requested(0), .. }))
    }

    /// Advances the open message by one cycle. Returns whether there was progress.
    #[inline]
    fn clock_open(&mut self, arrived: ArrivalProgress) -> bool {
        let Some(open) = self.open else { return false };
        let phase = match open.phase {
            Phase::Requested(0) if open.message.is_posted() => {
                Some(Phase::Receiving(open.message.done_wait.get()))
            }
            Phase::Requested(0) => None,
            Phase::Requested(wait) => Some(Phase::Requested(wait - 1)),
            Phase::Receiving(_) if !self.may_finish(open.number, arrived) => Some(open.phase),
            Phase::Receiving(0) => None,
            Phase::Receiving(wait) => Some(Phase::Receiving(wait - 1)),
        };
        let progress = self.answers() || self.finishes(arrived);
        self.open = phase.map(|phase| Open { phase, ..open });
        progress
    }

    /// Handles a reset of the block.
    pub(crate) fn forget(&mut self) {
        self.open = None;
        self.free = self.pool;
        self.receiver.kept = 0;
        self.ring_level = self.high;
    }

    /// Drives the host's pins; `flag` is noise.
    #[inline]
    pub(crate) fn drive(&self, arrived: ArrivalProgress, flag: u64, inputs: &mut Inputs) {
        let answers = self.answers();
        inputs.match_rsp = Bits1::from(answers);
        inputs.match_found = match self.open {
            Some(open) if answers => Bits1::from(open.message.is_posted()),
            _ => Bits1::new(flag),
        };
        inputs.posted_done = Bits1::from(self.finishes(arrived));
        inputs.pool_free = Bits8::new(self.free);
        inputs.credit_ready = Bits1::from(self.credits.is_over());
        inputs.temp_alloc_ok = Bits1::from(self.temp_ok);
    }

    /// Advances one cycle. `begins` is the message whose CP is accepted, if there is one.
    #[inline]
    pub(crate) fn clock(
        &mut self,
        arrived: ArrivalProgress,
        begins: Option<(usize, &'a Message)>,
        inputs: &Inputs,
        outputs: &Outputs,
    ) {
        let taken = inputs.pkt_valid.is_high() && outputs.pkt_ready.is_high();
        let mut progress = u64::from(self.clock_open(arrived)) + u64::from(taken);
        if let Some((number, message)) = begins {
            let phase = match message.kind.get() {
                EAGER => Some(Phase::Requested(message.match_wait.get())),
                _ => message.is_posted().then(|| Phase::Receiving(message.done_wait.get())),
            };
            self.open = phase.map(|phase| Open { number, message, phase });
            self.temp_ok = message.temp_ok.get() == 1;
        }
        if outputs.credit_valid.is_high() {
            progress += u64::from(self.credits.clock());
        }
        let returned = u64::from(self.receiver.clock(outputs.keep_valid.is_high()));
        let free = self.free + outputs.release_valid.get() + returned;
        // A faulty block may take more than there is.
        self.free = free.saturating_sub(outputs.alloc_count.get());
        self.ring_level =
            (outputs.ring_level.get() + outputs.alloc_count.get()).saturating_sub(u64::from(taken));
        self.progress += progress + returned;
    }

    /// Describes the open message, the next packet and the buffers.
    pub(crate) fn in_flight(&self, next: Option<String>) -> Vec<String> {
        let open = self.open.map(|open| {
            let what = match open.phase {
                Phase::Requested(_) => "asked for a posted receive",
                Phase::Receiving(_) => "receiving posted data",
            };
            format!("messages[{}]: {what}", open.number)
        });
        let kept = self.receiver.kept;
        let buffers = format!("{} buffers free, {kept} kept", self.free);
        open.into_iter().chain(next).chain([buffers]).collect()
    }
}

impl Environment<'_> {
    #[inline]
    fn offer(&self) -> Option<Offer> {
        let packet = self.sender.packet.filter(|_| self.sender.is_due())?;
        // The block would take a lone DP for one of the posted message before it.
        let waits =
            self.sender.begins().is_some() && packet.kind == DP && self.host.awaits_posted_data();
        (!waits).then_some(packet)
    }

    pub(super) fn in_flight(&self) -> Vec<String> {
        let next = self.sender.packet.map(|packet| {
            let entry = self.sender.entry.map_or(String::new(), |entry| format!(".data[{entry}]"));
            let (kind, at) = (kind_name(packet.kind), self.sender.at);
            format!("next packet: {kind} {:#04x}, from messages[{at}]{entry}", packet.id)
        });
        self.host.in_flight(next)
    }
}

impl<'a> harness::Environment<'a, Inputs, Outputs, Traffic> for Environment<'a> {
    fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        Self {
            noise: Noise::new(traffic.noise.get()),
            sender: Sender::new(&traffic.messages),
            host: Host::new(traffic, parameters),
            pace: Pace::new(DRAIN, progress_timeout(traffic)),
        }
    }

    #[inline]
    fn drive(&mut self, inputs: &mut Inputs) {
        let [packet, msg_len] = self.noise.words();
        let [packet, msg_len] = [u64::from(packet), u64::from(msg_len)];
        inputs.rst = Bits1::from(self.pace.reset.asserted());

        let offer = self.offer();
        inputs.pkt_valid = Bits1::from(offer.is_some());
        let Offer { kind, id, len, msg_len, last } = offer.unwrap_or(Offer {
            kind: packet,
            id: packet >> 3,
            len: packet >> 11,
            msg_len,
            last: packet >> 27 & 1 == 1,
        });
        inputs.pkt_kind = Bits3::new(kind);
        inputs.pkt_id = Bits8::new(id);
        inputs.pkt_len = Bits16::new(len);
        inputs.pkt_msg_len = Bits32::new(msg_len);
        inputs.pkt_last = Bits1::from(last);
        let arrived = self.sender.arrived(self.sender.is_due());
        self.host.drive(arrived, packet >> 28, inputs);
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        if inputs.rst.is_high() {
            self.host.forget();
            self.sender.drop_message();
            self.pace.clock(false);
            return;
        }
        let taken = inputs.pkt_valid.is_high() && outputs.pkt_ready.is_high();
        let begins = self.sender.begins().filter(|_| taken);
        self.pace.start(begins.and_then(|(_, message)| message.reset));
        let arrived = self.sender.arrived(self.sender.is_due());
        self.host.clock(arrived, begins, inputs, outputs);
        match taken {
            true => self.sender.advance(),
            false => self.sender.wait(),
        }
        let idle = self.sender.is_done() && self.host.is_done() && !outputs.credit_valid.is_high();
        self.pace.clock(idle);
    }

    #[inline]
    fn finished(&self) -> bool {
        self.pace.is_over()
    }

    #[inline]
    fn handshakes(&self) -> u64 {
        self.host.progress
    }

    #[inline]
    fn progress_timeout(&self) -> u64 {
        self.pace.timeout()
    }

    fn packets(&self) -> u64 {
        self.sender.taken
    }
}

#[cfg(test)]
mod tests;
