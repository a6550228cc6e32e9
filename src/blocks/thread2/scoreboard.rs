//! The checks at transaction level: the obligations of each packet are met exactly once.
//!
//! The scoreboard walks through the WQE's units with a cursor, keeps its own RQ offsets, counts
//! requests and knows all their fields from the traffic and the mask of fixes. It shares neither
//! arithmetic nor tables with the golden model, and checks both models. It checks obligations of
//! packets before those of pins, since their messages say more.

mod codes;
mod memory;
mod obligations;
mod pins;
mod requests;
mod ring;
mod tables;

use self::codes::Operation;
use self::memory::{belongs, payload, remote};
use self::obligations::{Bill, Obligation, PacketObligations, in_flight};
use self::pins::{Channel, Offer, is_waiting};
use self::requests::{Memory, MrRequest};
use self::ring::Ring;
use super::rtl::{Inputs, Outputs};
use super::rules::layout::{DataUnit, MrData, MrHead};
use super::traffic::{Packet, PacketCursor, Tables, Traffic};
use cosim_core::harness::{self, Counter, Parameters, Violation, check_list, in_reset, require};

cosim_core::check_names! {
    CHECKS;
    /// Without F0 a packet whose WQE request waits is lost, once, and causes no further requests.
    LOST = "lost-once";
    /// One WQE is consumed for each packet that needs one.
    WQE = "wqe-taken-once";
    /// Every byte of a SEND's payload is requested once, in order, inside its units.
    PAYLOAD = "payload-once-in-order";
    /// One MR check for each RDMA operation, for the memory named in its packet.
    REMOTE = "remote-access-once";
    /// One step of the RQ for each consumed WQE.
    RQ_STEP = "rq-step-per-message";
    /// One CQE for each completed message, with the right status, and no others.
    CQE = "cqe-per-message";
    /// One event for each solicited completion, if the profile has events.
    EVENT = "event-per-message";
    /// One acknowledge for each packet of a service that acknowledges, with the right status.
    ACK = "ack-by-service";
    /// Requests for data, RDMA check, CQE, event and acknowledge are in this order.
    ORDER = "request-order";
    /// A request names the QPs, the service and the operation of the current packet.
    OWN = "request-of-its-packet";
    /// The RQ offset stays a multiple of the entry size.
    ALIGNED = "rq-offset-aligned";
    /// The RQ offset stays inside the ring.
    INSIDE = "rq-offset-inside";
    /// The RQ offset of the packet's QP advances to the next entry, or to 0.
    EXACT = "rq-offset-exact";
    /// There are no requests before the first packet.
    UNASKED = "unasked-request";
    /// The block is ready for a packet while it has none.
    READY = "ready-without-a-packet";
    /// Every field of a request is that of the packet or of its contexts; reserved bits are 0.
    FIELDS = "request-fields";
    /// The address for each CQE and each event is requested once.
    QUEUE = "queue-asked-once";
    /// Answers are accepted exactly while they are awaited.
    ANSWERED = "answer-taken-as-asked";
    /// Every beat of a consumed WQE is accepted.
    BEATS = "wqe-taken-whole";
    /// In reset every output is 0.
    RESET = "zero-in-reset";
    /// Payload is 0 while its valid is 0, and write data is 0 while its enable is 0.
    IDLE = "zero-while-idle";
    /// `start` and `last` are 1 exactly while valid is 1.
    FRAMED = "start-and-last-with-valid";
    /// An offer keeps its valid and its payload until it is accepted.
    HELD = "offer-held";
    /// No state uses two channels, except for MR requests that consume a unit of their WQE.
    ALONE = "one-channel-at-a-time";
    /// The address of the tables is 0 while the block is idle, else the QP of the current packet.
    ADDRESS = "table-address";
    /// The cache's tables are written together with the RQ's offset, and tell whether the QP keeps
    /// its cell.
    CACHE = "cache-tables-written";
}

/// The scoreboard of one case.
#[derive(Debug, Clone)]
pub struct Scoreboard<'a> {
    packets: Vec<&'a Packet>,
    mask: u8,
    /// The packet that is accepted next.
    place: PacketCursor,
    /// The state of its QP, if it differs from that in the context.
    known_state: Option<u64>,
    account: Option<PacketObligations>,
    /// The offer that waits.
    offer: Offer,
    /// By the low byte of the QPN.
    pairs: Vec<Pair>,
    dropped: u64,
    /// Obligations met by all packets, including those that a reset ended.
    total: Bill,
}

/// The state of a QP between packets.
#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    /// Bytes of the current message that earlier packets placed.
    placed: u64,
    /// The RQ's consumer offset in slots.
    rq_offset: u64,
}

impl<'a> Scoreboard<'a> {
    /// A scoreboard for packets in this order, unless [`Scoreboard::expect`] sets the next one.
    pub(crate) fn for_packets(packets: Vec<&'a Packet>, tables: &Tables, mask: u8) -> Self {
        let mut pairs = vec![Pair::default(); 256];
        for entry in &tables.rq_offset {
            pairs[entry.address.get() as usize].rq_offset = entry.value.get();
        }
        Self {
            packets,
            mask,
            place: PacketCursor::default(),
            known_state: None,
            account: None,
            offer: Offer::none(),
            pairs,
            dropped: 0,
            total: Bill::default(),
        }
    }

    /// Sets the next packet and the state of its QP, which may differ from that in its context.
    #[inline]
    pub(crate) fn expect(&mut self, packet: usize, state: u64) {
        self.place = PacketCursor::at(packet);
        self.known_state = Some(state);
    }

    #[inline]
    fn fixed(&self, n: u32) -> bool {
        self.mask >> n & 1 == 1
    }

    /// The obligations of the packet at `index`.
    fn open(&mut self, index: usize) -> PacketObligations {
        let packet = self.packets[index];
        let header = &packet.header;
        let operation = Operation::from_opcode(header.net_opcode.get());
        let placed = self.pairs[qp(packet)].placed;
        let mut account = PacketObligations {
            packet: index,
            owed: Bill::default(),
            paid: Bill::default(),
            completes: false,
            length_error: false,
            cursor: placed,
            wqe_addr: self.pairs[qp(packet)].rq_offset,
            stage: Obligation::Payload,
        };
        let state = self.known_state.unwrap_or(packet.context.qp_state.get());
        let refused = self.fixed(7) && !codes::receives(state);
        if refused || operation == Operation::None {
            self.dropped += 1;
            return account;
        }
        let waits = packet.wqe.as_ref().is_some_and(|wqe| wqe.stall.get() > 0);
        if operation.takes_wqe() && waits && !self.fixed(0) {
            account.owe(1, &[Obligation::Loss]);
            return account;
        }
        if operation.is_send() {
            let length = header.pkt_length.get();
            let room: u64 = units(packet).map(|unit| unit.byte_cnt.get()).sum();
            let payload = length.min(room.saturating_sub(placed));
            account.owe(payload, &[Obligation::Payload]);
            account.length_error = payload < length;
        } else {
            account.owe(1, &[Obligation::Remote]);
        }
        account.completes = account.length_error
            || matches!(operation, Operation::SendEnd | Operation::WriteWithImmediate);
        let has_cqe = account.completes && (operation.is_send() || self.fixed(3));
        let has_event = has_cqe && self.fixed(1) && header.solicited.get() == 1;
        let acknowledged = operation != Operation::Read
            && (codes::is_reliable(header.service_type.get()) || !self.fixed(6));
        if operation.takes_wqe() {
            account.owe(1, &[Obligation::Wqe]);
            // The NextUnit is a beat, too.
            account.owe(1 + units(packet).count() as u64, &[Obligation::Beats]);
        }
        let cqe = [Obligation::CqRequested, Obligation::CqAnswered, Obligation::Cqe];
        let event = [Obligation::EqRequested, Obligation::EqAnswered, Obligation::Event];
        account.owe(u64::from(has_cqe), &cqe);
        account.owe(u64::from(has_event), &event);
        account.owe(u64::from(account.completes), &[Obligation::RqStep]);
        account.owe(u64::from(acknowledged), &[Obligation::Ack]);
        account
    }

    /// Compares the obligations of the current packet with those that were met.
    fn close(&mut self) -> Result<(), Violation> {
        let Some(account) = &self.account else { return Ok(()) };
        account.close()?;
        let pair = &mut self.pairs[qp(self.packets[account.packet])];
        pair.placed = if account.completes { 0 } else { account.cursor };
        self.account = None;
        Ok(())
    }

    /// Checks a WQE request. Without F0 one that is not accepted at once loses the packet (T08).
    #[inline]
    fn wqe_request(&mut self, taken: bool, outputs: &Outputs) -> Result<(), Violation> {
        if !taken && self.fixed(0) {
            return Ok(());
        }
        let due = if taken { Obligation::Wqe } else { Obligation::Loss };
        let account = in_flight(&mut self.account, "a WQE request")?;
        account.pay(due, 1)?;
        self.total[due as usize] += 1;
        let expected = requests::wqe_head(self.packets[account.packet]);
        account.compare("wqe_req_head", &outputs.wqe_req_head, expected)
    }

    /// Checks requests to the CQ and the EQ, and the answers.
    #[inline]
    fn queues(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let cq = outputs.cq_req_valid.is_high() && inputs.cq_req_ready.is_high();
        let eq = outputs.eq_req_valid.is_high() && inputs.eq_req_ready.is_high();
        if !cq && !eq {
            return Ok(());
        }
        let account = in_flight(&mut self.account, "a request to a queue")?;
        let context = &self.packets[account.packet].context;
        if cq {
            let expected = requests::queue_head(context.rcv_cqn.get(), context.cq_log_size);
            account.request_queue(Obligation::CqRequested, outputs.cq_req_head, expected)?;
        }
        if eq {
            let expected = requests::queue_head(context.cq_comp_eqn.get(), context.eq_log_size);
            account.request_queue(Obligation::EqRequested, outputs.eq_req_head, expected)?;
        }
        Ok(())
    }

    /// Checks accepted answers of queues and WQE, before the requests of this cycle.
    #[inline]
    fn answers(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let (wqe, cq, eq) = (
            outputs.wqe_resp_ready.is_high(),
            outputs.cq_resp_ready.is_high(),
            outputs.eq_resp_ready.is_high(),
        );
        let Some(account) = &mut self.account else {
            return require!(!(wqe | cq | eq), UNASKED, "an answer is taken without a packet");
        };
        let awaited = (
            account.awaits(Obligation::CqRequested, Obligation::CqAnswered),
            account.awaits(Obligation::EqRequested, Obligation::EqAnswered),
        );
        let is_awaited = (cq, eq) == awaited;
        require!(is_awaited, ANSWERED, "(CQ, EQ) {:?}, expected {awaited:?}", (cq, eq))?;
        if cq && inputs.cq_resp_valid.is_high() {
            account.pay(Obligation::CqAnswered, 1)?;
        }
        if eq && inputs.eq_resp_valid.is_high() {
            account.pay(Obligation::EqAnswered, 1)?;
        }
        let beats = account.paid[Obligation::Beats as usize];
        let requested = account.paid[Obligation::Wqe as usize] > 0;
        let is_wrong = wqe & !requested | !wqe & requested & (beats == 0);
        require!(!is_wrong, ANSWERED, "wqe_resp_ready {wqe}, a WQE was taken: {requested}")?;
        if wqe && inputs.wqe_resp_valid.is_high() {
            account.pay(Obligation::Beats, 1)?;
        }
        Ok(())
    }

    /// Checks an accepted MR request.
    fn mr_request(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        let head = &MrHead::decode(&outputs.fetch_mr_ingress_head);
        let data = &MrData::decode(&outputs.fetch_mr_ingress_data);
        let account = in_flight(&mut self.account, "an MR request")?;
        let packet = self.packets[account.packet];
        let due = belongs(packet, head, data)?;
        require!(due >= account.stage, ORDER, "{due:?} requested after {:?}", account.stage)?;
        account.stage = due;
        let judged = account.length_error && matches!(due, Obligation::Cqe | Obligation::Ack);
        let status = if judged { codes::LOCAL_LENGTH_ERROR } else { codes::GOOD };
        let seen = data.status.get();
        require!(seen == status, due.check().0, "{due:?} status {seen}, expected {status}")?;
        let (amount, request) = match due {
            Obligation::Payload => payload(account, packet, head)?,
            Obligation::Remote => (1, remote(packet, head, self.mask >> 4 & 1 == 1)?),
            Obligation::Cqe => (1, MrRequest::cqe(packet, account.wqe_addr)),
            Obligation::Event => (1, MrRequest::event(packet)),
            _ => (1, MrRequest::ack()),
        };
        account.pay(due, amount)?;
        self.total[due as usize] += amount;
        let (expected, head) = (request.head(&packet.header), &outputs.fetch_mr_ingress_head);
        account.compare("fetch_mr_ingress_head", head, expected)?;
        let expected = request.data(&packet.header, data.opcode.get(), status);
        account.compare("fetch_mr_ingress_data", &outputs.fetch_mr_ingress_data, expected)
    }

    /// Handles an MR request that waits. With F1 and without F2 an event repeats its CQE (T43), and
    /// the EQ is asked again. Returns whether the request must stay on offer.
    #[inline]
    fn mr_wait(&mut self, outputs: &Outputs) -> bool {
        if self.fixed(1)
            && !self.fixed(2)
            && let Some(account) = &mut self.account
            && account.owed[Obligation::Event as usize] > 0
            && MrData::decode(&outputs.fetch_mr_ingress_data).opcode.get() == codes::GEN_EVENT
        {
            for due in [Obligation::Cqe, Obligation::EqRequested, Obligation::EqAnswered] {
                account.owed[due as usize] += 1;
            }
            return false;
        }
        true
    }

    /// Notes the waiting offers that must stay.
    #[inline]
    fn note_offers(&mut self, inputs: &Inputs, outputs: &Outputs) {
        // Without F0 a WQE request that waits is withdrawn, and the packet with it (T08).
        if is_waiting(outputs.wqe_req_valid, inputs.wqe_req_ready) && self.fixed(0) {
            self.offer.waits(Channel::Wqe, outputs);
        }
        if is_waiting(outputs.fetch_mr_ingress_valid, inputs.fetch_mr_ingress_ready)
            && self.mr_wait(outputs)
        {
            self.offer.waits(Channel::Mr, outputs);
        }
        if is_waiting(outputs.cq_req_valid, inputs.cq_req_ready) {
            self.offer.waits(Channel::Cq, outputs);
        }
        if is_waiting(outputs.eq_req_valid, inputs.eq_req_ready) {
            self.offer.waits(Channel::Eq, outputs);
        }
    }

    /// Checks addresses and writes of the tables. The RQ step has its own checks.
    #[inline]
    fn tables(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let account = self.account.as_ref();
        let is_ready = outputs.fetch_cxt_egress_ready.is_high();
        let is_free = account.is_none();
        require!(is_ready || !is_free, READY, "fetch_cxt_egress_ready is 0 without a packet")?;
        let packet = account.filter(|_| !is_ready).map(|account| self.packets[account.packet]);
        tables::addresses(packet, outputs)?;
        match (outputs.rq_offset_wen.is_high(), account, packet) {
            (true, Some(account), Some(packet)) => {
                tables::written(packet, account.wqe_addr, inputs, outputs)
            }
            _ => tables::untouched(outputs),
        }
    }

    /// Checks an RQ step from `before` to `after` at `address`.
    fn step_queue(&mut self, address: u64, before: u64, after: u64) -> Result<(), Violation> {
        let account = in_flight(&mut self.account, "an RQ step")?;
        account.pay(Obligation::RqStep, 1)?;
        self.total[Obligation::RqStep as usize] += 1;
        let packet = self.packets[account.packet];
        let ring = Ring::from_context(&packet.context);
        let qp = qp(packet);
        let own = self.pairs[qp].rq_offset;
        let slots = packet.wqe.as_ref().map_or(0, |wqe| wqe.next.cur_wqe_size.get());
        let next = ring.step(own, slots);
        let wrong = if ring.is_aligned(own) && !ring.is_aligned(after) {
            ALIGNED
        } else if !ring.is_inside(after) {
            INSIDE
        } else if (address, before, after) != (qp as u64, own, next) {
            EXACT
        } else {
            self.pairs[qp].rq_offset = next;
            return Ok(());
        };
        let what = format_args!(
            "RQ offset of QP {address:#x} became {after} from {before}, expected {next} from {own} of \
             QP {qp:#x} (a WQE of {slots} slots, {ring:?})"
        );
        Err(Violation::in_words(wrong, what))
    }

    #[inline]
    fn observe_pins(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        self.answers(inputs, outputs)?;
        self.queues(inputs, outputs)?;
        if outputs.wqe_req_valid.is_high() {
            self.wqe_request(inputs.wqe_req_ready.is_high(), outputs)?;
        }
        if outputs.rq_offset_wen.is_high() {
            let address = outputs.rq_offset_addr.get();
            self.step_queue(address, inputs.rq_offset_dout.get(), outputs.rq_offset_din.get())?;
        }
        if outputs.fetch_mr_ingress_valid.is_high() && inputs.fetch_mr_ingress_ready.is_high() {
            self.mr_request(outputs)?;
        }
        self.tables(inputs, outputs)?;
        self.offer.observe(outputs)?;
        self.note_offers(inputs, outputs);
        pins::in_cycle(outputs)?;
        if inputs.fetch_cxt_egress_valid.is_high() && outputs.fetch_cxt_egress_ready.is_high() {
            self.close()?;
            let Some(packet) = self.packets.get(self.place.index).copied() else {
                return Err(Violation::new(UNASKED, "a context was taken that was never offered"));
            };
            self.account = Some(self.open(self.place.index));
            self.place.step(packet);
        }
        Ok(())
    }

    /// Names the packet in a violation.
    fn in_packet(&self, result: Result<(), Violation>) -> Result<(), Violation> {
        result.map_err(|violation| match &self.account {
            Some(account) => violation.inside(format_args!("packet {}", account.packet)),
            None => violation,
        })
    }
}

fn units(packet: &Packet) -> impl Iterator<Item = &DataUnit> {
    packet.wqe.iter().flat_map(|wqe| &wqe.units).map(|unit| &unit.data)
}

fn qp(packet: &Packet) -> usize {
    (packet.header.local_qpn.get() & 0xff) as usize
}

impl<'a> harness::Scoreboard<'a, Inputs, Outputs, Traffic> for Scoreboard<'a> {
    fn checks() -> Vec<String> {
        check_list(CHECKS)
    }

    fn new(traffic: &'a Traffic, parameters: &Parameters) -> Self {
        Self::for_packets(traffic.packets.iter().collect(), &traffic.tables, parameters.fixes())
    }

    #[inline]
    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        if inputs.rst.is_high() {
            // The current packet is dropped. The RQ offsets are outside of the block and survive.
            self.account = None;
            self.offer = Offer::none();
            self.pairs.iter_mut().for_each(|pair| pair.placed = 0);
            return in_reset(RESET, outputs, &Outputs::default());
        }
        let result = self.observe_pins(inputs, outputs);
        self.in_packet(result)
    }

    fn finish(&mut self) -> Result<(), Violation> {
        let result = self.close();
        self.in_packet(result)
    }

    fn counters() -> Vec<Counter<Self>> {
        vec![
            Counter::sum("packets lost to T08", |board| board.total[Obligation::Loss as usize]),
            Counter::sum("packets dropped", |board| board.dropped),
            Counter::sum("payload bytes", |board| board.total[Obligation::Payload as usize]),
            Counter::sum("CQEs", |board| board.total[Obligation::Cqe as usize]),
            Counter::sum("events", |board| board.total[Obligation::Event as usize]),
            Counter::sum("acknowledges", |board| board.total[Obligation::Ack as usize]),
            Counter::sum("RQ steps", |board| board.total[Obligation::RqStep as usize]),
        ]
    }
}

#[cfg(test)]
mod tests;
