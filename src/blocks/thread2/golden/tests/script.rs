//! Cycles by name: the inputs of a state and its expected outputs.

use super::beats::{End, NEXT, NextUnit, Packet, Tables, Unit};
use super::bench::Bench;
use super::drive::Drive;
use super::expect::{self, Mr, Written};

impl Bench {
    /// IDLE_s takes a packet (T01).
    #[track_caller]
    pub fn takes(&mut self, packet: &Packet) -> &mut Self {
        self.packet = *packet;
        self.cycle("T01", Drive::packet(packet), &expect::idle())
    }

    /// JUDGE_s drives only the tables' addresses.
    #[track_caller]
    pub fn judges(&mut self, row: &str) -> &mut Self {
        let expected = expect::addresses(self.packet.qp);
        self.cycle(row, Drive::new(""), &expected)
    }

    /// The block waits for a packet, without a rising edge.
    #[track_caller]
    pub fn idles(&mut self) -> &mut Self {
        self.shows("idle", Drive::new(""), &expect::idle())
    }

    #[track_caller]
    pub fn requests_wqe(&mut self, row: &str) -> &mut Self {
        let expected = expect::wqe_request(&self.packet);
        self.cycle(row, Drive::new("wqe_req_ready=1"), &expected)
    }

    #[track_caller]
    pub fn offers_wqe_request(&mut self, row: &str) -> &mut Self {
        let expected = expect::wqe_request(&self.packet);
        self.cycle(row, Drive::new("wqe_req_ready=0"), &expected)
    }

    #[track_caller]
    pub fn takes_next_unit(&mut self, row: &str, next: &NextUnit) -> &mut Self {
        let expected = expect::wqe_resp_ready(self.packet.qp, 1);
        self.cycle(row, Drive::next_unit(next), &expected)
    }

    /// From IDLE_s to DATA_UNIT_s, with the WQE's first beat as in `NEXT`.
    #[track_caller]
    pub fn fetches_wqe(&mut self, packet: &Packet) -> &mut Self {
        self.takes(packet).judges("T03").requests_wqe("T07").takes_next_unit("T09", &NEXT)
    }

    /// DATA_UNIT_s leaves a unit on offer for MR_FOR_SEND_s (T18).
    #[track_caller]
    pub fn keeps(&mut self, unit: &Unit) -> &mut Self {
        let expected = expect::wqe_resp_ready(self.packet.qp, 0);
        let drive = Drive::unit("wqe_resp_valid=1", unit, End::Either);
        self.cycle("T18", drive, &expected)
    }

    /// DATA_UNIT_s consumes a beat.
    #[track_caller]
    pub fn consumes(&mut self, row: &str, unit: &Unit, end: End) -> &mut Self {
        let expected = expect::wqe_resp_ready(self.packet.qp, 1);
        self.cycle(row, Drive::unit("wqe_resp_valid=1", unit, end), &expected)
    }

    /// DATA_UNIT_s waits; its ready still depends on the beat's pins.
    #[track_caller]
    pub fn waits_for_unit(&mut self, row: &str, pins: &Unit, ready: u64) -> &mut Self {
        let expected = expect::wqe_resp_ready(self.packet.qp, ready);
        self.cycle(row, Drive::unit("wqe_resp_valid=0", pins, End::Either), &expected)
    }

    /// MR_FOR_SEND_s's request is accepted and the unit consumed with it.
    #[track_caller]
    pub fn places(&mut self, row: &str, unit: &Unit, end: End, mr: &Mr) -> &mut Self {
        self.mr_for_send(row, Drive::unit("", unit, end), 1, mr)
    }

    /// Neither MR_FOR_SEND_s's request nor the unit is accepted.
    #[track_caller]
    pub fn offers_to_place(&mut self, row: &str, unit: &Unit, mr: &Mr) -> &mut Self {
        self.mr_for_send(row, Drive::unit("", unit, End::Either), 0, mr)
    }

    #[track_caller]
    fn mr_for_send(&mut self, row: &str, drive: Drive, ready: u64, mr: &Mr) -> &mut Self {
        let mut expected = expect::mr(&self.packet, mr);
        expected.wqe_resp_ready = cosim_core::verilated::Bits::new(ready);
        let drive = drive.and(&format!("fetch_mr_ingress_ready={ready}"));
        self.cycle(row, drive, &expected)
    }

    /// Another state's MR request is accepted.
    #[track_caller]
    pub fn requests(&mut self, row: &str, mr: &Mr) -> &mut Self {
        let expected = expect::mr(&self.packet, mr);
        self.cycle(row, Drive::new("fetch_mr_ingress_ready=1"), &expected)
    }

    /// Another state's MR request is not accepted.
    #[track_caller]
    pub fn offers(&mut self, row: &str, mr: &Mr) -> &mut Self {
        let expected = expect::mr(&self.packet, mr);
        self.cycle(row, Drive::new("fetch_mr_ingress_ready=0"), &expected)
    }

    #[track_caller]
    pub fn updates(&mut self, row: &str, tables: &Tables, written: &Written) -> &mut Self {
        let expected = expect::update(self.packet.qp, written);
        self.cycle(row, Drive::tables(tables), &expected)
    }

    #[track_caller]
    pub fn requests_cq(&mut self, row: &str, head: u64) -> &mut Self {
        let expected = expect::cq_request(self.packet.qp, head);
        self.cycle(row, Drive::new("cq_req_ready=1"), &expected)
    }

    #[track_caller]
    pub fn offers_cq_request(&mut self, row: &str, head: u64) -> &mut Self {
        let expected = expect::cq_request(self.packet.qp, head);
        self.cycle(row, Drive::new("cq_req_ready=0"), &expected)
    }

    #[track_caller]
    pub fn takes_cq_address(&mut self, row: &str, laddr: u64) -> &mut Self {
        let expected = expect::cq_resp_ready(self.packet.qp);
        self.cycle(row, Drive::new(&format!("cq_resp_valid cq_resp_head.laddr={laddr}")), &expected)
    }

    #[track_caller]
    pub fn requests_eq(&mut self, row: &str, head: u64) -> &mut Self {
        let expected = expect::eq_request(self.packet.qp, head);
        self.cycle(row, Drive::new("eq_req_ready=1"), &expected)
    }

    #[track_caller]
    pub fn offers_eq_request(&mut self, row: &str, head: u64) -> &mut Self {
        let expected = expect::eq_request(self.packet.qp, head);
        self.cycle(row, Drive::new("eq_req_ready=0"), &expected)
    }

    #[track_caller]
    pub fn takes_eq_address(&mut self, row: &str, laddr: u64) -> &mut Self {
        let expected = expect::eq_resp_ready(self.packet.qp);
        self.cycle(row, Drive::new(&format!("eq_resp_valid eq_resp_head.laddr={laddr}")), &expected)
    }

    /// From CQ_REQ_s to MR_FOR_CQ_s.
    #[track_caller]
    pub fn fetches_cq_address(&mut self) -> &mut Self {
        self.requests_cq("T22", expect::CQ_HEAD).takes_cq_address("T24", expect::CQ_LADDR)
    }

    /// From EQ_REQ_s to MR_FOR_EQ_s.
    #[track_caller]
    pub fn fetches_eq_address(&mut self) -> &mut Self {
        self.requests_eq("T26", expect::EQ_HEAD).takes_eq_address("T28", expect::EQ_LADDR)
    }
}
