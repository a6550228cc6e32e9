//! The constrained-random generator of legal traffic (spec, "What the environment guarantees").

pub(crate) mod chaos;
pub mod scenarios;
mod units;

use self::units::next_entry;
use super::rtl::{Bits128, Bits416, Bits488};
use super::rules::layout::{
    Context, DataUnit, Header, NextUnit, SLOT_BYTES, opcode, qp_state, service,
};
use super::rules::{self, fix};
use super::traffic::{Entry, LONGEST_MESSAGE, Packet, Queue, Tables, Traffic, Unit, Wqe};
use cosim_core::harness::{CaseRng, Draw, Parameters, Percent};
use cosim_core::value::Uint;
use rand::RngExt;
use scenarios::Weights;

/// Number of slots in a cell of the WQE cache.
const CELL_SLOTS: u64 = 256;
/// Number of slots that an RQ offset can address.
const RQ_SLOTS: u64 = 1 << 24;
/// Maximum number of bytes in a unit.
const UNIT: u64 = Uint::<31>::MAX;
/// Corners among numbers that are drawn seldom.
const SELDOM: Percent = Percent::new(50);
/// A reset follows its packet within this number of cycles.
const RESET_WITHIN: u64 = 40;

/// Draws traffic of `packets` packets that is legal under `mask`.
pub fn traffic(
    weights: &Weights,
    parameters: &Parameters,
    packets: u32,
    rng: &mut CaseRng,
) -> Traffic {
    let mut generator = Generator { weights, mask: parameters.fixes(), count: packets, rng };
    let mut pairs = generator.pairs();
    let tables = Tables {
        rq_offset: pairs.iter().map(|qp| entry(qp.index(), qp.rq_offset)).collect(),
        cache_offset: pairs.iter().map(|qp| entry(qp.index(), qp.cache_offset)).collect(),
        cache_owned: pairs
            .iter()
            .filter(|_| generator.rng.chance(weights.new_owner))
            .map(|qp| entry(qp.index() & 0x7f, qp.index()))
            .collect(),
    };
    let noise = Uint::new(generator.rng.random());
    let (mut all, mut left) = (Vec::new(), u64::from(packets));
    while left > 0 {
        let chosen = generator.rng.random_range(0..pairs.len());
        let packet = generator.packet(&mut pairs[chosen], left - 1);
        left -= 1 + packet.again.get();
        all.push(packet);
    }
    Traffic { noise, tables, packets: all }
}

fn entry<const ADDRESS: u32, const VALUE: u32>(address: u64, value: u64) -> Entry<ADDRESS, VALUE> {
    Entry { address: Uint::new(address), value: Uint::new(value) }
}

/// A queue pair as the environment sees it.
struct Pair {
    qpn: u64,
    context: Context,
    service: u64,
    /// Offset in the RQ of the next WQE, in slots.
    rq_offset: u64,
    /// Offset of that WQE in the cache cell, in slots.
    cache_offset: u64,
    message: Option<Message>,
}

impl Pair {
    fn index(&self) -> u64 {
        self.qpn & 0xff
    }

    /// Bytes of an RQ entry; 0 if its size is illegal.
    fn entry_bytes(&self) -> u64 {
        match self.context.rq_entry_sz_log.get() {
            log @ 6..=10 => 1 << log,
            _ => 0,
        }
    }
}

/// The rest of a message.
struct Message {
    /// Opcodes of the packets in reverse order.
    opcodes: Vec<u64>,
    /// The WQE's units. Every packet of a SEND gets all of them.
    units: Vec<DataUnit>,
    next: NextUnit,
    /// Number of bytes of a SEND placed so far.
    placed: u64,
    /// Bytes of each packet, and its number of repetitions.
    payloads: Vec<(u64, u64)>,
}

impl Message {
    /// Capacity of the units in bytes.
    fn room(&self) -> u64 {
        self.units.iter().map(|unit| unit.byte_cnt.get()).sum()
    }
}

struct Generator<'a> {
    weights: &'a Weights,
    mask: u8,
    /// Number of packets in the case.
    count: u32,
    rng: &'a mut CaseRng,
}

impl Generator<'_> {
    fn fixed(&self, n: u32) -> bool {
        self.mask & fix(n) != 0
    }

    /// A random index with these relative weights, of which at least one is not 0.
    #[inline]
    fn weighted(&mut self, weights: &[u64]) -> usize {
        let total: u64 = weights.iter().sum();
        let mut point = self.rng.random_range(0..total);
        for (index, weight) in weights.iter().enumerate() {
            if point < *weight {
                return index;
            }
            point -= weight;
        }
        0
    }

    /// Makes a field a corner half of the time.
    fn corner<const WIDTH: u32>(&mut self, field: &mut Uint<WIDTH>) {
        if self.rng.random() {
            *field = Uint::new(self.rng.corner(Uint::<WIDTH>::MAX));
        }
    }

    #[inline]
    fn gap(&mut self) -> Uint<12> {
        self.rng.wait(self.weights.gap, self.weights.longest_gap)
    }

    #[inline]
    fn stall(&mut self) -> Uint<12> {
        self.rng.wait(self.weights.stall, self.weights.longest_stall)
    }

    /// Queue pairs with distinct low bytes: pairs with equal ones would share a message offset.
    fn pairs(&mut self) -> Vec<Pair> {
        let mut taken = [false; 256];
        let mut pairs: Vec<Pair> = Vec::new();
        let count = self.weights.qps.draw(self.rng);
        for _ in 0..count {
            let drawn = self.rng.bits_or_corner::<24>(self.weights.corners).get();
            let mut index = drawn & 0xff;
            if let Some(other) = pairs.last().map(Pair::index)
                && self.rng.chance(self.weights.shared_cell)
            {
                index = other ^ 0x80;
            }
            if self.rng.chance(self.weights.zero_index) {
                index = 0;
            }
            while taken[index as usize] {
                index = (index + 1) % 256;
            }
            taken[index as usize] = true;
            pairs.push(self.pair(drawn & !0xff | index));
        }
        pairs
    }

    fn pair(&mut self, qpn: u64) -> Pair {
        let mut context = Context {
            qp_state: Uint::new(self.qp_state()),
            rq_entry_sz_log: Uint::new(self.rng.random_range(6..=10)),
            cq_log_size: self.queue_log(),
            eq_log_size: self.queue_log(),
            ..self.context()
        };
        let entry_bytes = 1 << context.rq_entry_sz_log.get();
        let entry_slots = entry_bytes / SLOT_BYTES;
        let entries = self.entries(entry_slots);
        let rest = match self.rng.chance(self.weights.ring_rest) {
            true => self.rng.corner(entry_bytes - 1),
            false => 0,
        };
        context.rq_length = Uint::new(entries * entry_bytes + rest);
        let at = if self.rng.chance(self.weights.near_wrap) {
            (entries - 1).saturating_sub(self.rng.random_range(0..2))
        } else {
            self.rng.random_range(0..entries)
        };
        let mut rq_offset = at * entry_slots;
        if self.rng.chance(self.weights.illegal_entry) {
            let log = if self.rng.random() { 5 } else { 11 };
            context.rq_entry_sz_log = match self.rng.random_range(0..4) {
                0 => self.rng.bits_or_corner(SELDOM),
                1 => self.illegal_log(),
                _ => Uint::new(log),
            };
            // The offset stays constant, so it may be any, and any space is legal. Often it is just
            // enough for an entry of that size.
            if self.rng.random() {
                rq_offset = self.rng.corner(RQ_SLOTS - 1);
            }
            let size = 1 << context.rq_entry_sz_log.get().min(10);
            let slack = match self.rng.random() {
                true => size - self.rng.random_range(0..=1),
                false => self.rng.random_range(0..=(2 * SLOT_BYTES) << log.min(10)),
            };
            context.rq_length = match self.rng.random_range(0..4) {
                0 => Uint::new(self.rng.corner(Uint::<32>::MAX)),
                _ => Uint::new(rq_offset * SLOT_BYTES + slack),
            };
        }
        // The codes of the service types are 0 to 5; the two above have no meaning.
        let service = match self.weighted(&self.weights.services.all_weights()) as u64 {
            code @ service::RC..=service::XRC => code,
            reserved => reserved + self.rng.random_range(0..2),
        };
        Pair {
            qpn,
            context,
            service,
            rq_offset,
            cache_offset: self.rng.bits_or_corner::<8>(SELDOM).get(),
            message: None,
        }
    }

    /// Number of entries of an RQ. Of large ones half are as long as offsets can address: the end
    /// of their last entry needs one more bit.
    fn entries(&mut self, entry_slots: u64) -> u64 {
        let is_large = self.rng.chance(self.weights.large_ring);
        let most = if is_large { RQ_SLOTS / entry_slots } else { 16 };
        match self.rng.random_range(0..4) {
            0 | 1 if is_large => most,
            0 => self.rng.corner(most).max(1),
            _ => self.rng.random_range(1..=most),
        }
    }

    /// Contexts with any numbers.
    fn context(&mut self) -> Context {
        let mut context = Context::decode(&Bits416::from_words(self.rng.words()));
        if self.rng.chance(self.weights.corners) {
            self.corner(&mut context.rcv_cqn);
            self.corner(&mut context.cq_comp_eqn);
            self.corner(&mut context.eq_msix);
            let domains = [&mut context.qp_pd, &mut context.cq_pd, &mut context.eq_pd];
            let keys = [&mut context.rq_lkey, &mut context.cq_lkey, &mut context.eq_lkey];
            domains.into_iter().chain(keys).for_each(|field| self.corner(field));
        }
        context
    }

    /// A header with any numbers.
    fn header(&mut self) -> Header {
        let mut header = Header::decode(&Bits488::from_words(self.rng.words()));
        if self.rng.chance(self.weights.corners) {
            self.corner(&mut header.remote_qpn);
            self.corner(&mut header.raddr);
            self.corner(&mut header.pkt_start_addr);
            let words = [&mut header.rkey, &mut header.immediate, &mut header.dip, &mut header.sip];
            words.into_iter().for_each(|field| self.corner(field));
        }
        header
    }

    /// log2 of an illegal entry size: a legal one with one bit flipped, or too small.
    fn illegal_log(&mut self) -> Uint<8> {
        let legal: u64 = self.rng.random_range(6..=10);
        match self.rng.random_range(0..5) {
            0 => Uint::new(self.rng.random_range(0..6)),
            bit => Uint::new(legal ^ 1 << (3 + bit)),
        }
    }

    /// Changes the parts of a context that may change while a QP is in use: all except for its RQ.
    fn renew(&mut self, context: &mut Context) {
        *context = Context {
            qp_state: Uint::new(self.qp_state()),
            rq_entry_sz_log: context.rq_entry_sz_log,
            rq_lkey: context.rq_lkey,
            rq_length: context.rq_length,
            cq_log_size: self.queue_log(),
            eq_log_size: self.queue_log(),
            ..self.context()
        };
    }

    fn qp_state(&mut self) -> u64 {
        if self.rng.chance(self.weights.idle_qp) {
            [qp_state::RESET, qp_state::INIT, qp_state::ERR, 7][self.rng.random_range(0..4)]
        } else {
            self.rng.random_range(qp_state::RTR..=qp_state::SQE)
        }
    }

    /// log2 of a queue's entries: mostly plausible, sometimes around or beyond what fits 32 bits.
    fn queue_log(&mut self) -> Uint<8> {
        match self.rng.random_range(0..8) {
            0 => Uint::new(self.rng.random_range(25..=28)),
            1 => self.rng.bits_or_corner(SELDOM),
            _ => Uint::new(self.rng.random_range(0..=20)),
        }
    }

    /// The next packet of a pair, from its current message or a new one. It is repeated at most
    /// `most` times.
    fn packet(&mut self, pair: &mut Pair, most: u64) -> Packet {
        if self.rng.chance(self.weights.new_context) {
            self.renew(&mut pair.context);
        }
        let mut message = match pair.message.take() {
            Some(message) => message,
            None => self.message(pair),
        };
        let net_opcode = message.opcodes.pop().unwrap_or(opcode::SEND_ONLY);
        let (length, again) = message.payloads.pop().unwrap_or_default();
        let again = again.min(most).min(match rules::is_in(rules::SENDS, net_opcode) {
            // The packet with a length error must be the last one of its message.
            true => (message.room() - message.placed).checked_div(length).unwrap_or(most),
            false => most,
        });
        let reset = self.rng.reset(self.weights.reset, RESET_WITHIN);
        // If the last packet of a SEND is lost, its partial state stays for the next message of the
        // QP.
        let ends_long_send = matches!(net_opcode, opcode::SEND_LAST | opcode::SEND_LAST_WITH_IMM);
        let may_be_lost = !ends_long_send || reset.is_some();
        let again = if reset.is_some() { 0 } else { again };
        let packet = Packet {
            gap: self.gap(),
            again: Uint::new(again),
            context: pair.context,
            header: Header {
                net_opcode: Uint::new(net_opcode),
                service_type: Uint::new(pair.service),
                local_qpn: Uint::new(pair.qpn),
                solicited: Uint::new(u64::from(self.rng.chance(self.weights.solicited))),
                pkt_length: Uint::new(length),
                ..self.header()
            },
            wqe: rules::is_in(rules::WITH_WQE, net_opcode).then(|| Wqe {
                // Without F0 a stall loses the packet.
                stall: if self.fixed(0) || may_be_lost { self.stall() } else { Uint::new(0) },
                gap: self.gap(),
                next: message.next,
                units: message.units.iter().map(|&data| Unit { gap: self.gap(), data }).collect(),
            }),
            cq: self.queue(),
            eq: self.queue(),
            mr_stalls: (0..message.units.len() + 4).map(|_| self.stall()).collect(),
            cell_owner: self.rng.chance(self.weights.new_owner).then(|| self.owner(pair)),
            reset,
        };
        let lost = !self.fixed(0) && packet.wqe.as_ref().is_some_and(|wqe| wqe.stall.get() > 0);
        let refused = self.fixed(7) && !rules::processes_messages(pair.context.qp_state.get());
        if lost || refused {
            // No bytes were placed. The message continues, or is over.
        } else {
            self.account(pair, &mut message, net_opcode, length * (1 + again));
        }
        if !message.opcodes.is_empty() {
            pair.message = Some(message);
        }
        packet
    }

    /// Updates the state for a packet and its repetitions: bytes placed, and a step of the RQ at
    /// the end of a message.
    fn account(&mut self, pair: &mut Pair, message: &mut Message, net_opcode: u64, length: u64) {
        let mut completes = rules::is_in(rules::SEND_ENDS, net_opcode)
            || rules::is_in(rules::WRITES_WITH_IMM, net_opcode);
        if rules::is_in(rules::SENDS, net_opcode) {
            message.placed += length;
            if message.placed > message.room() {
                // A length error completes the message, so the remaining packets are not sent.
                message.opcodes.clear();
                completes = true;
            }
        }
        if completes {
            let advance = message.next.next_wqe_addr.get().checked_sub(pair.rq_offset);
            let size = message.next.next_wqe_size.get();
            pair.cache_offset = match advance {
                Some(advance) if size > 0 && pair.cache_offset + advance + size <= CELL_SLOTS => {
                    (pair.cache_offset + advance) % CELL_SLOTS
                }
                _ => 0,
            };
            pair.rq_offset = next_entry(pair, message.next.cur_wqe_size.get());
        }
    }

    #[inline]
    fn queue(&mut self) -> Queue {
        let laddr = self.rng.bits_or_corner(self.weights.corners);
        Queue { stall: self.stall(), gap: self.gap(), laddr }
    }

    /// The new owner of a pair's cache cell: the pair, its neighbour in the cell, or none.
    fn owner(&mut self, pair: &Pair) -> Uint<8> {
        let owners = [pair.index(), pair.index(), pair.index() ^ 0x80, 0];
        Uint::new(owners[self.rng.random_range(0..owners.len())])
    }

    fn message(&mut self, pair: &Pair) -> Message {
        let several = self.weights.message_packets.draw(self.rng) as usize;
        let immediate: bool = self.rng.random();
        let pick = |with, without| if immediate { with } else { without };
        let long = |first, middle, last| {
            let mut opcodes = vec![last];
            opcodes.resize(several - 1, middle);
            opcodes.push(first);
            opcodes
        };
        let opcodes = match self.weighted(&self.weights.operations.all_weights()) {
            0 => vec![pick(opcode::SEND_ONLY_WITH_IMM, opcode::SEND_ONLY)],
            1 => long(
                opcode::SEND_FIRST,
                opcode::SEND_MIDDLE,
                pick(opcode::SEND_LAST_WITH_IMM, opcode::SEND_LAST),
            ),
            2 => vec![pick(opcode::RDMA_WRITE_ONLY_WITH_IMM, opcode::RDMA_WRITE_ONLY)],
            3 => long(
                opcode::RDMA_WRITE_FIRST,
                opcode::RDMA_WRITE_MIDDLE,
                pick(opcode::RDMA_WRITE_LAST_WITH_IMM, opcode::RDMA_WRITE_LAST),
            ),
            4 => vec![
                self.rng
                    .random_range(opcode::RDMA_READ_REQUEST_FIRST..=opcode::RDMA_READ_REQUEST_ONLY),
            ],
            _ => vec![self.rng.random_range(opcode::RDMA_READ_RESPONSE_FIRST..32)],
        };
        let middle = 1..opcodes.len().saturating_sub(1);
        let mut left = LONGEST_MESSAGE;
        let payloads: Vec<(u64, u64)> = (0..opcodes.len())
            .map(|index| {
                let length = self.payload().min(left);
                let again =
                    if middle.contains(&index) { self.repetitions(middle.len()) } else { 0 };
                let again = again.min((left - length).checked_div(length).unwrap_or(again));
                left -= length * (1 + again);
                (length, again)
            })
            .collect();
        let units = self.units(&payloads);
        let next = self.next_unit(pair, units.len() as u64);
        Message { opcodes, units, next, placed: 0, payloads }
    }

    fn payload(&mut self) -> u64 {
        if self.rng.chance(self.weights.empty) {
            0
        } else if self.rng.chance(self.weights.jumbo) {
            self.rng.random_range(0..=Uint::<16>::MAX)
        } else if self.rng.chance(self.weights.corners) {
            self.rng.corner(Uint::<16>::MAX)
        } else {
            self.weights.payload.draw(self.rng)
        }
    }

    /// The number of repetitions of a packet that is one of `middle`, so that the message is as
    /// long as the case.
    fn repetitions(&mut self, middle: usize) -> u64 {
        if !self.rng.chance(self.weights.again) {
            return 0;
        }
        let most = 2 * u64::from(self.count) / middle as u64;
        self.rng.random_range(0..=most.min(Uint::<16>::MAX))
    }
}

#[cfg(test)]
mod tests;
