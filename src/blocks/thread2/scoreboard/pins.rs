//! Checks of the pins in every cycle, for any packet (spec, sections 1 and 2).

use super::{ALONE, FRAMED, HELD, IDLE};
use crate::blocks::thread2::rtl::{Bits1, Outputs};
use cosim_core::harness::Violation;
use cosim_core::verilated::Pins as _;

/// The four channels on which the block makes requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    Wqe,
    Mr,
    Cq,
    Eq,
}

impl Channel {
    fn name(self) -> &'static str {
        match self {
            Self::Wqe => "wqe_req",
            Self::Mr => "fetch_mr_ingress",
            Self::Cq => "cq_req",
            Self::Eq => "eq_req",
        }
    }

    #[inline]
    fn is_same(self, one: &Outputs, other: &Outputs) -> bool {
        match self {
            Self::Wqe => {
                one.wqe_req_valid == other.wqe_req_valid && one.wqe_req_head == other.wqe_req_head
            }
            Self::Mr => {
                one.fetch_mr_ingress_valid == other.fetch_mr_ingress_valid
                    && one.fetch_mr_ingress_head == other.fetch_mr_ingress_head
                    && one.fetch_mr_ingress_data == other.fetch_mr_ingress_data
            }
            Self::Cq => {
                one.cq_req_valid == other.cq_req_valid && one.cq_req_head == other.cq_req_head
            }
            Self::Eq => {
                one.eq_req_valid == other.eq_req_valid && one.eq_req_head == other.eq_req_head
            }
        }
    }
}

/// Checks idle payloads, start and last, and the number of channels in use.
#[inline]
pub fn in_cycle(outputs: &Outputs) -> Result<(), Violation> {
    let bit = |pin: Bits1| pin.get() as u32;
    let (wqe, mr) = (bit(outputs.wqe_req_valid), bit(outputs.fetch_mr_ingress_valid));
    let (cq, eq) = (bit(outputs.cq_req_valid), bit(outputs.eq_req_valid));
    let any = |words: &[u32]| u32::from(words.iter().fold(0, |any, word| any | word) != 0);
    let mr_words =
        any(outputs.fetch_mr_ingress_head.words()) | any(outputs.fetch_mr_ingress_data.words());
    let loud = (any(outputs.wqe_req_head.words()) & !wqe)
        | (mr_words & !mr)
        | (u32::from(outputs.cq_req_head.get() != 0) & !cq)
        | (u32::from(outputs.eq_req_head.get() != 0) & !eq)
        | (u32::from(outputs.rq_offset_din.get() != 0) & !bit(outputs.rq_offset_wen))
        | (u32::from(outputs.cache_offset_din.get() != 0) & !bit(outputs.cache_offset_wen))
        | (u32::from(outputs.cache_owned_din.get() != 0) & !bit(outputs.cache_owned_wen));
    let unframed = (bit(outputs.wqe_req_start) ^ wqe)
        | (bit(outputs.wqe_req_last) ^ wqe)
        | (bit(outputs.fetch_mr_ingress_start) ^ mr)
        | (bit(outputs.fetch_mr_ingress_last) ^ mr);
    let channels = bit(outputs.fetch_cxt_egress_ready)
        + wqe
        + (bit(outputs.wqe_resp_ready) | mr)
        + cq
        + bit(outputs.cq_resp_ready)
        + eq
        + bit(outputs.eq_resp_ready)
        + bit(outputs.rq_offset_wen);
    if (loud | unframed) != 0 || channels > 1 {
        return Err(violation(outputs, loud, unframed));
    }
    Ok(())
}

#[cold]
fn violation(outputs: &Outputs, loud: u32, unframed: u32) -> Violation {
    let seen = not_zero(outputs);
    if unframed != 0 {
        return Violation::new(FRAMED, format_args!("start or last differs from valid in {seen}"));
    }
    if loud != 0 {
        return Violation::new(IDLE, format_args!("payload without its valid in {seen}"));
    }
    Violation::new(ALONE, format_args!("two channels at once in {seen}"))
}

#[cold]
fn not_zero(outputs: &Outputs) -> String {
    let bytes = outputs.as_bytes();
    let ports = Outputs::PORTS.iter().filter_map(|port| {
        let value = port.show(bytes);
        (!value.ends_with("'h0")).then(|| format!("{} = {value}", port.name))
    });
    ports.collect::<Vec<_>>().join(", ")
}

/// The offer that was not accepted in the last cycle, if it must stay.
#[derive(Debug, Clone)]
pub struct Offer {
    channel: Option<Channel>,
    /// The channel, if the offer also waited in the cycle before; `outputs` are still valid then.
    as_before: Option<Channel>,
    outputs: Outputs,
}

impl Offer {
    pub fn none() -> Self {
        Self { channel: None, as_before: None, outputs: Outputs::default() }
    }

    /// Checks that a waiting offer is unchanged.
    #[inline]
    pub fn observe(&mut self, outputs: &Outputs) -> Result<(), Violation> {
        self.as_before = self.channel.take();
        match self.as_before {
            Some(channel) if !channel.is_same(&self.outputs, outputs) => {
                let name = channel.name();
                let what = format_args!(
                    "{name} waits, and is not what it was: {} became {}",
                    not_zero(&self.outputs),
                    not_zero(outputs)
                );
                Err(Violation::new(HELD, what))
            }
            _ => Ok(()),
        }
    }

    /// Notes an offer that waits and must stay.
    #[inline]
    pub fn waits(&mut self, channel: Channel, outputs: &Outputs) {
        self.channel = Some(channel);
        if self.as_before != self.channel {
            self.outputs = *outputs;
        }
    }
}

/// Whether there is an offer that is not accepted.
#[inline]
pub fn is_waiting(valid: Bits1, ready: Bits1) -> bool {
    valid.is_high() && !ready.is_high()
}
