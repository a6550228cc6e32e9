//! The functional coverage of `thread2` in addition to its rows.

mod groups;

use super::Thread2;
use super::golden::{Cycle, Golden, Offer, TableWrites};
use super::rtl::Inputs;
use super::rules::layout::{DataUnit, MrHead, NextUnit};
use super::rules::{self, Effect, ROWS, State};
use cosim_core::harness::{
    self, Bins, Covergroup, Document, Edge, Parameters, Place, RuleSet, class, corner_class,
};
use cosim_core::value::Uint;
use groups::{
    BYTES, CARRIES, CELL, CELL_ENDS, DISTANCES, EVENTS, GROUPS, LENGTH_ERRORS, OFFSETS, OPERATION,
    OUTCOMES, PACKET_FIELDS, QUEUE_FIELDS, REGIONS, RESETS, RESUMED, RING, RING_EDGES, RING_ENDS,
    SPLITS, STEP_FIELDS, UNIT_BYTES, USED_BYTES, WAITED, WQE_FIELDS,
};

/// The state of coverage collection for a packet.
#[derive(Debug, Clone)]
pub struct Coverage {
    /// The state before the edge.
    state: State,
    /// Position of the packet's opcode on its axis.
    opcode: usize,
    /// Cycles in the state so far, without this one.
    waited: u64,
    /// The unit of the piece that is placed at this edge, and the bytes that its packet has left.
    piece: Option<(Offer, u32)>,
    /// The QP of the packet before.
    last_qp: Option<usize>,
    /// QPs whose message offset is not 0.
    open: [u64; 4],
    in_reset: bool,
}

#[inline]
fn opcode_at(net_opcode: u64) -> usize {
    match net_opcode {
        0..=15 => net_opcode as usize,
        16..=20 | 26 | 27 => 16,
        _ => 17,
    }
}

/// The position of a state on the axis of waiting states: all but IDLE_s, JUDGE_s and UPDATE_RQ_s.
#[inline]
const fn waiting_at(state: State) -> Option<usize> {
    match state as usize {
        code @ 3..=9 => Some(code - 3),
        code @ 11..=16 => Some(code - 4),
        _ => None,
    }
}

impl Coverage {
    const AT_FIRST: Self = Self {
        state: State::IDLE_s,
        opcode: 0,
        waited: 0,
        piece: None,
        last_qp: None,
        open: [0; 4],
        in_reset: false,
    };

    #[inline]
    fn is_open(&self, qp: usize) -> bool {
        self.open[qp / 64] >> (qp % 64) & 1 == 1
    }

    /// Counts a packet that continues the SEND of its QP after one of another QP.
    fn count_packet(&mut self, golden: &Golden, bins: &mut Bins<'_>) {
        let qp = golden.qp();
        let is_after_another = self.last_qp.is_some_and(|last| last != qp);
        if is_after_another
            && self.is_open(qp)
            && rules::is_in(rules::SENDS, golden.header.net_opcode.get())
        {
            bins.record(OFFSETS.bin([qp, 1]));
        }
        self.last_qp = Some(qp);
    }

    fn count_piece(&mut self, golden: &Golden, bins: &mut Bins<'_>) {
        let Some((Offer { unit, available, .. }, left)) = self.piece else { return };
        // Earlier packets used a part of the unit.
        let is_rest = available < unit.byte_cnt.get();
        let position = opcode_at(golden.header.net_opcode.get());
        let split = match available.cmp(&u64::from(left)) {
            std::cmp::Ordering::Greater => 0,
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => 2,
        };
        bins.record(SPLITS.bin([position, split]));
        // SEND_MIDDLE, SEND_LAST, SEND_LAST_WITH_IMM.
        if (1..=3).contains(&position) {
            bins.record(RESUMED.bin([position - 1, split, usize::from(is_rest)]));
        }
        let qp = golden.qp();
        let bit = 1 << (qp % 64);
        match (self.is_open(qp), golden.msg_offset[qp] != 0) {
            (false, true) => {
                bins.record(OFFSETS.bin([qp, 0]));
                self.open[qp / 64] |= bit;
            }
            // The offset has wrapped around.
            (true, false) => self.open[qp / 64] &= !bit,
            _ => {}
        }
    }

    /// Counts a step of the RQ.
    fn count_step(&mut self, golden: &Golden, inputs: &Inputs, bins: &mut Bins<'_>) {
        let qp = golden.qp();
        if self.is_open(qp) {
            self.open[qp / 64] &= !(1 << (qp % 64));
            bins.record(OFFSETS.bin([qp, 2]));
            if self.open != [0; 4] {
                bins.record(OFFSETS.bin([qp, 3]));
            }
        }
        let TableWrites { wraps, cell, next_end, cell_end, .. } = golden.table_writes(inputs);
        count_step_numbers(golden, inputs, (next_end, cell_end), bins);
        let entry = match golden.context.rq_entry_sz_log.get() {
            log @ 6..=10 => log as usize - 6,
            _ => 5,
        };
        bins.record(RING.bin([entry, usize::from(wraps)]));
        let owner = match inputs.cache_owned_dout.get() {
            owner if owner == qp as u64 => 0,
            0 => 1,
            _ => 2,
        };
        bins.record(CELL.bin([cell as usize, owner]));
    }
}

/// The position of a number on an axis of corners.
#[inline]
fn corner<const WIDTH: u32>(number: Uint<WIDTH>) -> usize {
    corner_class(number.get(), Uint::<WIDTH>::MAX)
}

/// Counts fields, by their positions on their axis, starting at `first`.
#[inline]
fn count_fields<const COUNT: usize>(
    place: &Place<2>,
    first: usize,
    fields: [usize; COUNT],
    bins: &mut Bins<'_>,
) {
    for (field, number) in fields.into_iter().enumerate() {
        bins.record(place.bin([first + field, number]));
    }
}

/// Counts the numbers that a step of the RQ reads, and the ends of the next entry in the RQ and of
/// the next WQE in the cell.
fn count_step_numbers(
    golden: &Golden,
    inputs: &Inputs,
    (next_end, cell_end): (u64, Option<u64>),
    bins: &mut Bins<'_>,
) {
    let (rq_offset, cache_offset) = (inputs.rq_offset_dout.get(), inputs.cache_offset_dout.get());
    let NextUnit { next_wqe_addr, next_wqe_size, cur_wqe_size, .. } = golden.next;
    let next_addr = next_wqe_addr.get();
    let fields = [
        corner(Uint::<24>::new(rq_offset)),
        corner(Uint::<8>::new(cache_offset)),
        corner(next_wqe_addr),
        corner(next_wqe_size),
        corner(cur_wqe_size),
    ];
    count_fields(&STEP_FIELDS, 0, fields, bins);
    // Two is added: a length of 0 has no byte before it.
    let end = class(next_end + 2, [1, 2, 3, 4].map(|from| golden.context.rq_length.get() + from));
    bins.record(RING_EDGES.bin([end]));
    let order = [0, 0, 1, 2, 2][end];
    bins.record(RING_ENDS.bin([class(next_end, [1 << 16, 1 << 28]), order]));
    if let Some(end) = cell_end {
        bins.record(CELL_ENDS.bin([class(end, [255, 256, 257, 258])]));
    }
    let distance = match next_addr.checked_sub(rq_offset) {
        Some(ahead) => 2 + class(ahead, [1, 2, 1 << 8, 1 << 16, 1 << 24]),
        None => usize::from(next_addr + 1 == rq_offset),
    };
    bins.record(DISTANCES.bin([distance]));
}

/// Counts the numbers of a request that was taken, or of a unit that was consumed, when the block
/// leaves a state or skips a unit.
#[inline]
fn count_numbers(row: &rules::Row, edge: &Edge<'_, Thread2>, bins: &mut Bins<'_>) {
    let Golden { header, context, .. } = edge.golden;
    let request = match row.from {
        State::WQE_REQ_s if row.to == State::NEXT_UNIT_s => {
            let fields = [
                corner(context.rq_entry_sz_log),
                corner(context.rq_lkey),
                corner(context.rq_length),
                corner(context.qp_pd),
            ];
            return count_fields(&WQE_FIELDS, 0, fields, bins);
        }
        State::CQ_REQ_s => {
            let fields = [corner(context.rcv_cqn), corner(context.cq_log_size)];
            return count_fields(&QUEUE_FIELDS, 0, fields, bins);
        }
        State::EQ_REQ_s => {
            let fields = [corner(context.cq_comp_eqn), corner(context.eq_log_size)];
            return count_fields(&QUEUE_FIELDS, 2, fields, bins);
        }
        State::DATA_UNIT_s if row.to != State::MR_FOR_SEND_s => {
            let bytes = corner(DataUnit::decode(&edge.inputs.wqe_resp_data).byte_cnt);
            return match row.effect {
                // The largest ones take messages of gigabytes.
                Effect::SkipUnit | Effect::SkipUnitTooShort if bytes > 4 => {}
                Effect::SkipUnit | Effect::SkipUnitTooShort => bins.record(USED_BYTES.bin([bytes])),
                _ => {
                    let is_write = rules::is_in(rules::WRITES, header.net_opcode.get());
                    bins.record(UNIT_BYTES.bin([1 + usize::from(is_write), bytes]));
                }
            };
        }
        State::MR_FOR_SEND_s => 0,
        State::MR_FOR_WRITE_s => 1,
        State::MR_FOR_READ_s => 2,
        State::MR_FOR_CQ_s => 3,
        State::MR_FOR_EQ_s => 4,
        _ => return,
    };
    // T43 withdraws an event.
    if edge.inputs.fetch_mr_ingress_ready.is_high() {
        count_request(request, edge, bins);
    }
}

/// Counts the numbers of an MR request that was taken.
fn count_request(request: usize, edge: &Edge<'_, Thread2>, bins: &mut Bins<'_>) {
    let header = &edge.golden.header;
    let MrHead { pd, key, address, length, .. } =
        MrHead::decode(&edge.outputs.fetch_mr_ingress_head);
    for (field, number) in [corner(pd), corner(key), corner(address)].into_iter().enumerate() {
        bins.record(REGIONS.bin([request, field, number]));
    }
    if request < OPERATION.values.len() {
        bins.record(BYTES.bin([request, corner(Uint::<16>::new(length.get()))]));
    }
    let fields = [
        corner(header.local_qpn),
        corner(header.remote_qpn),
        corner(header.immediate),
        corner(header.pkt_start_addr),
        corner(header.sip),
        corner(header.dip),
    ];
    count_fields(&PACKET_FIELDS, 0, fields, bins);
    if request == 0 {
        let unit = DataUnit::decode(&edge.inputs.wqe_resp_data);
        bins.record(UNIT_BYTES.bin([0, corner(unit.byte_cnt)]));
        let (from, to) = (unit.laddr.get(), address.get());
        // Where a sum differs from the sum without carries.
        let carries = from ^ to ^ to.wrapping_sub(from);
        let carry = if to < from { 3 } else { class(carries, [1, 1 << 32]) };
        bins.record(CARRIES.bin([carry]));
    }
}

/// The position on the axis of outcomes, if a row ends a packet.
#[inline]
fn outcome_of(row: &rules::Row, rules: RuleSet) -> Option<usize> {
    if row.to != State::IDLE_s {
        return None;
    }
    Some(match row.from {
        State::JUDGE_s => usize::from(rules.contains_any(rules::F7)),
        State::WQE_REQ_s => 2,
        State::MR_FOR_READ_s => 3,
        State::GEN_ACK_s => 5,
        State::IDLE_s | State::UPDATE_RQ_s | State::Undefined => return None,
        _ => 4,
    })
}

const RESET: usize = 6;

impl harness::Coverage<Thread2> for Coverage {
    const GROUPS: &'static [Covergroup] = GROUPS;
    const SOURCE: Option<Document> = Some(cosim_core::document!("coverage/groups.rs"));

    fn new(_: &Parameters) -> Self {
        Self::AT_FIRST
    }

    #[inline]
    fn before(&mut self, golden: &Golden, _: &Inputs, cycle: &Cycle) {
        self.state = golden.state;
        self.opcode = opcode_at(golden.header.net_opcode.get());
        if self.state == State::MR_FOR_SEND_s {
            self.piece = Some((cycle.offer, golden.pkt_left));
        }
    }

    #[inline]
    fn after(&mut self, edge: &Edge<'_, Thread2>, bins: &mut Bins<'_>) {
        let Edge { golden, inputs, rules, .. } = *edge;
        if inputs.rst.is_high() {
            if !self.in_reset {
                bins.record(RESETS.bin([self.state as usize - State::IDLE_s as usize]));
                if self.state != State::IDLE_s {
                    bins.record(OUTCOMES.bin([self.opcode, RESET]));
                }
            }
            *self = Self { in_reset: true, ..Self::AT_FIRST };
            return;
        }
        self.in_reset = false;
        let row = rules.bits().trailing_zeros() as usize;
        let Some(the_row @ rules::Row { from, to, effect, .. }) = ROWS.get(row) else { return };
        // T20 and D1 skip a beat.
        if from == to && *effect == Effect::None && !rules.contains_any(rules::T20.with(rules::D1))
        {
            self.waited += 1;
            return;
        }
        count_numbers(the_row, edge, bins);
        if let Some(waiting) = waiting_at(self.state) {
            bins.record(WAITED.bin([waiting, class(self.waited, [1, 2, 4, 16])]));
        }
        self.waited = 0;
        match effect {
            Effect::TakePacket => self.count_packet(golden, bins),
            Effect::TakeUnit | Effect::TakeUnitTooShort => self.count_piece(golden, bins),
            Effect::StepQueue => self.count_step(golden, inputs, bins),
            _ => {}
        }
        let net_opcode = golden.header.net_opcode.get();
        if matches!(effect, Effect::SkipUnitTooShort | Effect::TakeUnitTooShort) {
            let kind = usize::from(*effect == Effect::TakeUnitTooShort);
            bins.record(LENGTH_ERRORS.bin([opcode_at(net_opcode), kind]));
        }
        if *from == State::MR_FOR_CQ_s {
            let service = golden.header.service_type.get() as usize;
            bins.record(EVENTS.bin([service, usize::from(*to == State::EQ_REQ_s)]));
        }
        if let Some(outcome) = outcome_of(the_row, rules) {
            bins.record(OUTCOMES.bin([opcode_at(net_opcode), outcome]));
        }
    }
}

#[cfg(test)]
mod tests;
