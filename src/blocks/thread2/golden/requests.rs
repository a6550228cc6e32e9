//! The two ports of an MR request.

use super::*;

/// The varying parts of an MR request (spec, table "request").
#[derive(Debug, Clone, Copy, Default)]
pub struct Request {
    pub bypass: u64,
    pub flags: u64,
    pub pd: u64,
    pub key: u64,
    pub address: u64,
    pub length: u64,
    pub opcode: u64,
    pub tail: u64,
    pub wqe_addr: u64,
    pub net_opcode: u64,
    pub status: u64,
}

impl Request {
    /// Writes the request to its channel.
    #[inline]
    pub fn write_outputs(&self, header: &Header, outputs: &mut Outputs) {
        let on = Bits1::new(1);
        outputs.fetch_mr_ingress_valid = on;
        outputs.fetch_mr_ingress_start = on;
        outputs.fetch_mr_ingress_last = on;
        outputs.fetch_mr_ingress_head = self.head(header).encode(Bits224::ZERO);
        outputs.fetch_mr_ingress_data = self.data(header).encode(Bits256::ZERO);
    }

    #[inline]
    fn head(&self, header: &Header) -> MrHead {
        MrHead {
            local_qpn: Uint::new(header.local_qpn.get()),
            slot_count: Uint::new(1),
            bypass: Uint::new(self.bypass),
            flags: Uint::new(self.flags),
            pd: Uint::new(self.pd),
            key: Uint::new(self.key),
            address: Uint::new(self.address),
            length: Uint::new(self.length),
        }
    }

    #[inline]
    fn data(&self, header: &Header) -> MrData {
        MrData {
            local_qpn: header.local_qpn,
            tail: Uint::new(self.tail),
            remote_qpn: header.remote_qpn,
            opcode: Uint::new(self.opcode),
            service_type: header.service_type,
            immediate: header.immediate,
            pkt_length: header.pkt_length,
            pkt_start_addr: header.pkt_start_addr,
            wqe_addr: Uint::new(self.wqe_addr),
            net_opcode: Uint::new(self.net_opcode),
            status: Uint::new(self.status),
            sip: header.sip,
            dip: header.dip,
        }
    }
}
