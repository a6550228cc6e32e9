//! The traffic of `dll`, as vectors store it.

use cosim_core::harness::{self, Reset, TrafficError, check_resets};
use cosim_core::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

cosim_core::traffic! {
    /// The environment of one case. Gaps, stalls and delays are in cycles.
    ///
    /// Each transmission on the link uses the next effect of its list, in the order in which the
    /// block hands them over. After the end of a list all transmissions pass. TLPs, Acks and Naks
    /// have separate lists.
    pub struct Traffic {
        /// Key of the noise on payload pins whose valid is low; 0 is silence.
        noise: Uint<64>,
        /// TLPs in the order they are offered to A.
        tlps: Vec<Tlps>,
        /// Link delay of TLPs, in addition to one cycle.
        #[serde(default)]
        tlp_delay: Uint<8>,
        /// Effects on TLPs.
        tlp_link: Vec<LinkEffect<TlpDamage>> = default,
        /// Link delay of DLLPs, in addition to one cycle.
        #[serde(default)]
        dllp_delay: Uint<8>,
        /// Effects on Acks.
        ack_link: Vec<LinkEffect<DllpDamage>> = default,
        /// Effects on Naks.
        nak_link: Vec<LinkEffect<DllpDamage>> = default,
        /// Cycles that the link lets each TLP wait; 0 after the end of the list.
        link_stalls: Vec<Uint<12>> = default,
        /// Cycles that the link lets each DLLP wait; 0 after the end of the list.
        dllp_stalls: Vec<Uint<12>> = default,
    }

    /// TLPs that are offered without gaps.
    pub struct Tlps {
        /// Cycles before the first TLP is offered.
        #[serde(default)]
        gap: Uint<12>,
        /// Payload of the first TLP; it increases by 1 for each further one.
        data: Uint<32>,
        /// Number of TLPs, at least 1; 1 if omitted.
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<Uint<16>>,
        /// A reset after A accepted the last TLP.
        reset: Option<Reset> = default,
    }
}

/// An effect of the link on transmissions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkEffect<Damage> {
    /// Number of consecutive transmissions with this effect, at least 1; 1 if omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Uint<16>>,
    /// Individual delay in cycles. The link keeps the order, so later transmissions wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Uint<8>>,
    /// 1: lost.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lost: Uint<1>,
    /// Damaged: delivered with a bad CRC and these bits flipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<Damage>,
    /// Delivered a second time, this number of cycles later or soon after; others may come in
    /// between.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<Uint<8>>,
}

/// Bits to flip in a TLP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TlpDamage {
    /// Bits of the sequence number.
    pub seq: Uint<12>,
    /// Bits of the payload.
    pub data: Uint<32>,
}

/// Bits to flip in a DLLP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DllpDamage {
    /// Turns an Ack into a Nak and vice versa.
    pub nak: Uint<1>,
    /// Bits of the sequence number.
    pub seq: Uint<12>,
}

impl Tlps {
    /// Number of TLPs.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count.map_or(1, Uint::get)
    }
}

impl<Damage> LinkEffect<Damage> {
    /// Number of consecutive transmissions with this effect.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count.map_or(1, Uint::get)
    }

    /// Whether the transmission is lost or damaged.
    pub fn spoils(&self) -> bool {
        self.lost.get() == 1 || self.damage.is_some()
    }
}

impl Traffic {
    /// Number of TLPs in the case.
    pub fn total(&self) -> u64 {
        self.tlps.iter().map(Tlps::count).sum()
    }
}

impl harness::Traffic for Traffic {
    /// Rejects what the types allow: a count of 0, or other effects on a lost transmission.
    fn check(&self) -> Result<(), TrafficError> {
        if let Some(index) = self.tlps.iter().position(|tlps| tlps.count() == 0) {
            let path = format!("tlps[{index}].count");
            let message = "0; an entry stands for at least one TLP".to_owned();
            return Err(TrafficError { path, message });
        }
        check_resets("tlps", self.tlps.iter().map(|tlps| tlps.reset))?;
        check_effects("tlp_link", &self.tlp_link)?;
        check_effects("ack_link", &self.ack_link)?;
        check_effects("nak_link", &self.nak_link)
    }
}

fn check_effects<Damage>(list: &str, effects: &[LinkEffect<Damage>]) -> Result<(), TrafficError> {
    for (index, effect) in effects.iter().enumerate() {
        let object = |field: &str, message: &str| {
            let path = format!("{list}[{index}].{field}");
            Err(TrafficError { path, message: message.to_owned() })
        };
        if effect.count() == 0 {
            return object("count", "0; an entry stands for at least one transmission");
        }
        if effect.lost.get() == 1 {
            if effect.damage.is_some() {
                return object("damage", "a lost transmission cannot be damaged as well");
            }
            if effect.again.is_some() {
                return object("again", "a lost transmission cannot have a second copy");
            }
        }
    }
    Ok(())
}

/// Describes the TLP that A accepted last and the next one.
pub fn in_flight(tlps: &[Tlps], taken: u64) -> Vec<String> {
    let describe = |number: u64, role: &str| {
        let mut first = 0;
        let (entry, tlps) = tlps.iter().enumerate().find(|(_, tlps)| {
            first += tlps.count();
            number < first
        })?;
        let inside = number + tlps.count() - first;
        let data = tlps.data.get().wrapping_add(inside) as u32;
        Some(format!("TLP {number} {role}: payload {data:#x}, from tlps[{entry}]"))
    };
    let last = taken.checked_sub(1).and_then(|number| describe(number, "taken last"));
    last.into_iter().chain(describe(taken, "next")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness::Traffic as _;

    fn read(json: &str) -> Traffic {
        serde_json::from_str(json).unwrap()
    }

    fn objection(json: &str) -> String {
        let TrafficError { path, message } = read(json).check().unwrap_err();
        format!("{path}: {message}")
    }

    #[test]
    fn an_entry_has_many_tlps() {
        let traffic =
            read(r#"{"noise": "0x0", "tlps": [{"data": 7, "count": 4094}, {"data": 1}]}"#);
        assert_eq!(traffic.total(), 4095);
        assert_eq!(
            in_flight(&traffic.tlps, 4094),
            [
                "TLP 4093 taken last: payload 0x1004, from tlps[0]",
                "TLP 4094 next: payload 0x1, from tlps[1]",
            ]
        );
    }

    #[test]
    fn what_the_types_cannot_say_is_objected_to() {
        let head = r#""noise": "0x0", "tlps": [{"data": 1}]"#;
        let of = |rest: &str| objection(&format!("{{{head}, {rest}}}"));
        assert!(of(r#""ack_link": [{}, {"count": 0}]"#).starts_with("ack_link[1].count: 0;"));
        assert!(
            of(r#""tlp_link": [{"lost": 1, "damage": {}}]"#).starts_with("tlp_link[0].damage:")
        );
        assert!(of(r#""nak_link": [{"lost": 1, "again": 3}]"#).starts_with("nak_link[0].again:"));
        let tlps = |entry: &str| objection(&format!(r#"{{"noise": "0x0", "tlps": [{entry}]}}"#));
        assert!(tlps(r#"{"data": 1, "count": 0}"#).starts_with("tlps[0].count:"));
        let reset = r#"{"data": 1, "reset": {"after": 3, "cycles": 0}}"#;
        assert!(tlps(reset).starts_with("tlps[0].reset.cycles:"));
    }
}
