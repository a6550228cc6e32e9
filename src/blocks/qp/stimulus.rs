//! The traffic of `qp`, as vectors store it.

use cosim_core::harness::{self, Reset, TrafficError};
use cosim_core::value::Uint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The environment of one case. Gaps and stalls are in cycles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Key of the noise on payload pins whose valid is low; 0 is silence.
    pub noise: Uint<64>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Cycles that software lets each event wait; 0 after the end of the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evt_stalls: Vec<Uint<12>>,
}

/// A step: a command, a hardware event, a request packet, or several of them, in one cycle.
///
/// Commands and events stay on offer until they are accepted; a packet lasts one cycle. The next
/// step begins in the next cycle or later, when its gap is over and the channels that it uses are
/// free. So a waiting command delays the next command but no event. A step with `instead` only
/// waits for its gap.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Cycles before the step begins.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gap: Uint<12>,
    /// 1: when the step begins, it withdraws offers of earlier steps that were not accepted. So an
    /// offer changes or disappears.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub instead: Uint<1>,
    /// A Modify QP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
    /// A hardware event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
    /// A request packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Packet>,
    /// The QP to query from then on, until a command or an event is accepted; then its QP is
    /// queried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<Uint<8>>,
    /// A reset after the step began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

/// A Modify QP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The QP.
    pub qpn: Uint<8>,
    /// Requested state: 0 RESET, 1 INIT, 2 RTR, 3 RTS, 4 SQD, 5 SQE, 6 ERR, 7 Destroy QP.
    pub next: Uint<3>,
    /// Service type.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub service: Uint<3>,
    /// 1: with the parameter of Table 12-5.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub notify: Uint<1>,
}

/// A hardware event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// The QP.
    pub qpn: Uint<8>,
    /// 0 first request packet, 1 send queue drained, 2 send completion error, 3 fatal error.
    pub kind: Uint<2>,
}

/// A request packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Packet {
    /// The target QP.
    pub qpn: Uint<8>,
    /// 1: it uses the RQ WQE of its message.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub consumes_wqe: Uint<1>,
    /// 1: it cannot be executed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub error: Uint<1>,
}

fn is_zero<const WIDTH: u32>(number: &Uint<WIDTH>) -> bool {
    number.get() == 0
}

impl harness::Traffic for Traffic {
    fn check(&self) -> Result<(), TrafficError> {
        let empty = |step: &Step| step.reset.is_some_and(|reset| reset.cycles.get() == 0);
        match self.steps.iter().position(empty) {
            None => Ok(()),
            Some(index) => Err(TrafficError {
                path: format!("steps[{index}].reset.cycles"),
                message: "0; a reset lasts at least one cycle".to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness::Traffic as _;

    #[test]
    fn what_is_left_out_of_a_step_is_not_there() {
        let text = r#"{"noise":"0x0","steps":[{"gap":3},{"command":{"qpn":255,"next":7}},{}]}"#;
        let traffic: Traffic = serde_json::from_str(text).unwrap();
        assert_eq!(traffic.check(), Ok(()));
        assert_eq!(traffic.steps[2], Step::default());
        assert_eq!(serde_json::to_string(&traffic).unwrap(), text);
    }

    #[test]
    fn numbers_that_are_too_large_are_refused() {
        for wrong in [r#"{"qpn": 256, "next": 0}"#, r#"{"qpn": 0, "next": 8}"#, r#"{"qpn": 0}"#] {
            assert!(serde_json::from_str::<Command>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_reset_of_no_cycles_is_objected_to() {
        let text = r#"{"noise": "0x0", "steps": [{}, {"reset": {"after": 3, "cycles": 0}}]}"#;
        let traffic: Traffic = serde_json::from_str(text).unwrap();
        assert_eq!(traffic.check().unwrap_err().path, "steps[1].reset.cycles");
    }
}
