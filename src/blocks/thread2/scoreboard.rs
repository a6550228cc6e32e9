//! The judge at transaction level: what a packet owes, and whether it was paid exactly once.
//!
//! It walks the WQE's units with a cursor and counts requests, from the traffic and the mask of fixes
//! alone; it shares no arithmetic with the golden model, and judges both models alike.

use super::Thread2;
use super::layout::{MrData, MrHead, SLOT_BYTES, opcode, status};
use super::rows::{self, fix};
use super::rtl::{Bits1, Inputs, Outputs};
use super::stimulus::{Packet, Traffic};
use crate::harness::{self, Violation};

/// Every byte of a SEND's payload is requested once, in order, inside its units.
const PAYLOAD: &str = "payload-once-in-order";
/// One CQE for each completing message, none for others, with the right status.
const CQE: &str = "cqe-per-message";
/// One step of the RQ for each consumed WQE.
const RQ_STEP: &str = "rq-step-per-message";
/// One event for each solicited completion, if the profile has events.
const EVENT: &str = "event-per-message";
/// One acknowledge for each packet of a service that has them.
const ACK: &str = "ack-by-service";
/// One MR check for each RDMA operation.
const REMOTE: &str = "remote-access-once";
/// Data, RDMA check, CQE, event and acknowledge come in this order.
const ORDER: &str = "request-order";
/// The RQ offset stays a multiple of the entry size.
const ALIGNED: &str = "rq-offset-aligned";
/// The RQ offset stays inside the ring.
const INSIDE: &str = "rq-offset-inside";
/// Nothing is requested before the first packet.
const UNASKED: &str = "unasked-request";

/// What the scoreboard counts without judging.
pub const COUNTERS: &[&str] = &[
    "packets lost to T08",
    "packets dropped",
    "payload bytes",
    "CQEs",
    "events",
    "acknowledges",
    "RQ steps",
];

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard<'a> {
    packets: &'a [Packet],
    mask: u8,
    /// Packets taken so far.
    taken: usize,
    account: Option<Account>,
    /// Bytes of the current message of each QP that earlier packets placed.
    placed: Vec<u64>,
    counts: Counts,
}

/// What is counted without being judged.
#[derive(Debug, Clone, Default)]
struct Counts {
    lost: u64,
    dropped: u64,
    payload_bytes: u64,
    cqes: u64,
    events: u64,
    acks: u64,
    rq_steps: u64,
}

/// How often something must happen for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Owed {
    payload_bytes: u64,
    remote: u64,
    rq_steps: u64,
    cqes: u64,
    events: u64,
    acks: u64,
}

/// The packet in flight: what it owes, what was paid, where its payload goes next.
#[derive(Debug, Clone)]
struct Account {
    packet: usize,
    owed: Owed,
    paid: Owed,
    /// The message ends with this packet, well or not.
    completes: bool,
    length_error: bool,
    /// Bytes of the WQE before the next payload byte.
    cursor: u64,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Data,
    Remote,
    Cqe,
    Event,
    Ack,
}

impl Scoreboard<'_> {
    fn fixed(&self, n: u32) -> bool {
        self.mask & fix(n) != 0
    }

    /// S0 repeats the CQE while the event's MR request is not taken (T43).
    fn repeats_cqes(&self) -> bool {
        self.fixed(1) && !self.fixed(2)
    }

    fn open(&mut self, index: usize) -> Account {
        let packet = &self.packets[index];
        let header = &packet.header;
        let net_opcode = header.net_opcode.get();
        let refused = self.fixed(7) && !rows::processes_messages(packet.context.qp_state.get());
        let wqe = packet.wqe.as_ref();
        let lost = rows::consumes_wqe(net_opcode)
            && !self.fixed(0)
            && wqe.is_some_and(|wqe| wqe.stall.get() > 0);
        let placed = self.placed[qp(packet)];
        let mut account = Account {
            packet: index,
            owed: Owed::default(),
            paid: Owed::default(),
            completes: false,
            length_error: false,
            cursor: placed,
            stage: Stage::Data,
        };
        if refused
            || !(rows::consumes_wqe(net_opcode)
                || rows::is_write(net_opcode)
                || rows::is_read(net_opcode))
        {
            self.counts.dropped += 1;
            return account;
        }
        if lost {
            self.counts.lost += 1;
            return account;
        }
        let owed = &mut account.owed;
        if rows::is_send(net_opcode) {
            let room: u64 = wqe.map_or(0, |wqe| {
                wqe.units.iter().map(|unit| unit.data.byte_cnt.get()).sum::<u64>()
            });
            let length = header.pkt_length.get();
            owed.payload_bytes = length.min(room.saturating_sub(placed));
            account.length_error = owed.payload_bytes < length;
            account.completes = rows::ends_send(net_opcode) || account.length_error;
            owed.cqes = u64::from(account.completes);
            owed.rq_steps = owed.cqes;
        } else {
            owed.remote = 1;
            account.completes = rows::is_write_with_imm(net_opcode);
            owed.rq_steps = u64::from(account.completes);
            owed.cqes = u64::from(account.completes && self.mask & fix(3) != 0);
        }
        if self.mask & fix(1) != 0 && header.solicited.get() == 1 {
            owed.events = owed.cqes;
        }
        let acknowledged =
            self.mask & fix(6) == 0 || rows::is_acknowledged(header.service_type.get());
        owed.acks = u64::from(!rows::is_read(net_opcode) && acknowledged);
        account
    }

    /// Compares what the packet in flight owes with what was paid.
    fn close(&mut self) -> Result<(), Violation> {
        let Some(account) = self.account.take() else { return Ok(()) };
        let Account { owed, paid, packet, .. } = account;
        let judge = |check, what: &str, owed: u64, paid: u64| {
            if owed == paid {
                return Ok(());
            }
            let message = format!("packet {packet} ended with {paid} {what}, owed {owed}");
            Err(Violation::new(check, message))
        };
        judge(PAYLOAD, "payload bytes requested", owed.payload_bytes, paid.payload_bytes)?;
        judge(REMOTE, "RDMA checks", owed.remote, paid.remote)?;
        judge(RQ_STEP, "RQ steps", owed.rq_steps, paid.rq_steps)?;
        if !(self.repeats_cqes() && paid.cqes > owed.cqes && owed.events > 0) {
            judge(CQE, "CQEs", owed.cqes, paid.cqes)?;
        }
        judge(EVENT, "events", owed.events, paid.events)?;
        judge(ACK, "acknowledges", owed.acks, paid.acks)?;
        let qp = qp(&self.packets[packet]);
        self.placed[qp] = if account.completes { 0 } else { account.cursor };
        Ok(())
    }

    fn request(&mut self, head: &MrHead, data: &MrData) -> Result<(), Violation> {
        let Some(account) = &mut self.account else {
            return Err(Violation::new(UNASKED, "an MR request without a packet"));
        };
        let packet = &self.packets[account.packet];
        let code = data.opcode.get();
        let stage = match code {
            opcode::GEN_CQE => Stage::Cqe,
            opcode::GEN_EVENT => Stage::Event,
            opcode::ACKNOWLEDGE => Stage::Ack,
            code if rows::is_send(code) => Stage::Data,
            _ => Stage::Remote,
        };
        if stage < account.stage {
            let message = format!(
                "packet {}: a request for {stage:?} after one for {:?}",
                account.packet, account.stage
            );
            return Err(Violation::new(ORDER, message));
        }
        account.stage = stage;
        match stage {
            Stage::Data => {
                let bytes = payload(account, packet, head)?;
                self.counts.payload_bytes += bytes;
            }
            Stage::Remote => account.paid.remote += 1,
            Stage::Cqe => {
                account.paid.cqes += 1;
                self.counts.cqes += 1;
                let expected =
                    if account.length_error { status::LOCAL_LENGTH_ERROR } else { status::GOOD };
                if data.status.get() != expected {
                    let message = format!(
                        "packet {}: CQE with status {}, expected {expected}",
                        account.packet,
                        data.status.get()
                    );
                    return Err(Violation::new(CQE, message));
                }
            }
            Stage::Event => {
                account.paid.events += 1;
                self.counts.events += 1;
            }
            Stage::Ack => {
                account.paid.acks += 1;
                self.counts.acks += 1;
            }
        }
        Ok(())
    }

    fn step_queue(&mut self, before: u64, after: u64) -> Result<(), Violation> {
        self.counts.rq_steps += 1;
        let Some(account) = &mut self.account else {
            return Err(Violation::new(UNASKED, "an RQ step without a packet"));
        };
        account.paid.rq_steps += 1;
        let context = &self.packets[account.packet].context;
        let length = context.rq_length.get();
        let log = context.rq_entry_sz_log.get();
        let entry = if (6..=10).contains(&log) { 1 << log } else { 0 };
        let aligned = |offset: u64| entry == 0 || (offset * SLOT_BYTES).is_multiple_of(entry);
        let inside = |offset: u64| offset == 0 || offset * SLOT_BYTES + entry <= length;
        let show = |what| {
            format!(
                "packet {}: RQ offset {before} became {after}, {what} (entries of {entry} bytes in a \
                 ring of {length})",
                account.packet
            )
        };
        if aligned(before) && !aligned(after) {
            return Err(Violation::new(ALIGNED, show("not aligned")));
        }
        if !inside(after) {
            return Err(Violation::new(INSIDE, show("outside the ring")));
        }
        Ok(())
    }
}

/// Checks one request of payload against the unit under the cursor; returns its bytes.
fn payload(account: &mut Account, packet: &Packet, head: &MrHead) -> Result<u64, Violation> {
    let mut unit_start = 0;
    let units = packet.wqe.iter().flat_map(|wqe| &wqe.units).map(|unit| unit.data);
    let unit = units.into_iter().find_map(|unit| {
        let start = unit_start;
        unit_start += unit.byte_cnt.get();
        (account.cursor < unit_start).then_some((start, unit))
    });
    let index = account.packet;
    let Some((start, unit)) = unit else {
        let message = format!("packet {index}: a request beyond the WQE's last unit");
        return Err(Violation::new(PAYLOAD, message));
    };
    let inside = account.cursor - start;
    let expected_address = unit.laddr.get().wrapping_add(inside);
    let expected_length =
        (unit.byte_cnt.get() - inside).min(account.owed.payload_bytes - account.paid.payload_bytes);
    let seen = (head.key, head.address.get(), head.length.get());
    if seen != (unit.lkey, expected_address, expected_length) || expected_length == 0 {
        let message = format!(
            "packet {index}: request of {} bytes at {:#x} with key {:#x}, expected {expected_length} \
             bytes at {expected_address:#x} with key {:#x}",
            head.length.get(),
            head.address.get(),
            head.key.get(),
            unit.lkey.get(),
        );
        return Err(Violation::new(PAYLOAD, message));
    }
    account.cursor += expected_length;
    account.paid.payload_bytes += expected_length;
    Ok(expected_length)
}

fn qp(packet: &Packet) -> usize {
    (packet.header.local_qpn.get() & 0xff) as usize
}

impl<'a> harness::Scoreboard<'a, Thread2> for Scoreboard<'a> {
    fn new(traffic: &'a Traffic, mask: u8) -> Self {
        Self {
            packets: &traffic.packets,
            mask,
            taken: 0,
            account: None,
            placed: vec![0; 256],
            counts: Counts::default(),
        }
    }

    #[inline]
    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let high = |pin: Bits1| pin.get() == 1;
        if high(inputs.rst) {
            self.account = None;
            self.placed.fill(0);
            return Ok(());
        }
        if high(outputs.rq_offset_wen) {
            self.step_queue(inputs.rq_offset_dout.get(), outputs.rq_offset_din.get())?;
        }
        if high(outputs.fetch_mr_ingress_valid) && high(inputs.fetch_mr_ingress_ready) {
            let head = MrHead::decode(&outputs.fetch_mr_ingress_head);
            let data = MrData::decode(&outputs.fetch_mr_ingress_data);
            self.request(&head, &data)?;
        }
        if high(inputs.fetch_cxt_egress_valid) && high(outputs.fetch_cxt_egress_ready) {
            self.close()?;
            if self.taken == self.packets.len() {
                return Err(Violation::new(UNASKED, "a context was taken that was never offered"));
            }
            self.account = Some(self.open(self.taken));
            self.taken += 1;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        self.close()
    }

    fn counters(&self) -> Vec<u64> {
        let Counts { lost, dropped, payload_bytes, cqes, events, acks, rq_steps } = self.counts;
        vec![lost, dropped, payload_bytes, cqes, events, acks, rq_steps]
    }
}

#[cfg(test)]
mod tests;
