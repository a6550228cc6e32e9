//! The traffic of `qp`, as vectors store it.

use super::rtl::Inputs;
use cosim_core::harness::{self, Reset, TrafficError, check_resets};
use cosim_core::value::Uint;

cosim_core::traffic! {
    /// The environment of one case. Gaps and stalls are in cycles.
    pub struct Traffic {
        /// Key of the noise on payload pins whose valid is low; 0 is silence.
        noise: Uint<64>,
        /// The steps, in order.
        steps: Vec<Step>,
        /// Cycles that software lets each event wait; 0 after the end of the list.
        evt_stalls: Vec<Uint<12>> = default,
    }

    /// A step: a command, a hardware event, a request packet, or several of them, in one cycle.
    ///
    /// Commands and events stay on offer until they are accepted; a packet lasts one cycle. The
    /// next step begins in the next cycle or later, when its gap is over and the channels that it
    /// uses are free. So a waiting command delays the next command but no event. A step with
    /// `instead` only waits for its gap.
    pub struct Step {
        /// Cycles before the step begins.
        gap: Uint<12> = default,
        /// 1: when the step begins, it withdraws offers of earlier steps that were not accepted. So
        /// an offer changes or disappears.
        instead: Uint<1> = default,
        /// A Modify QP.
        command: Option<Command> = default,
        /// A hardware event.
        event: Option<Event> = default,
        /// A request packet.
        packet: Option<Packet> = default,
        /// The QP to query from then on, until a command or an event is accepted; then its QP is
        /// queried.
        query: Option<Uint<8>> = default,
        /// A reset after the step began.
        reset: Option<Reset> = default,
    }
}

cosim_core::items! {
    pins Inputs { rst, query_qpn, evt_ready };

    /// A Modify QP.
    pub struct Command on cmd_valid {
        /// The QP.
        qpn: cmd_qpn[8],
        /// Requested state: 0 RESET, 1 INIT, 2 RTR, 3 RTS, 4 SQD, 5 SQE, 6 ERR, 7 Destroy QP.
        next: cmd_next[3] of 1,
        /// Service type.
        service: cmd_service[3] of 1 = default,
        /// 1: with the parameter of Table 12-5.
        notify: cmd_notify[1] of 1 = default,
    }

    /// A hardware event.
    pub struct Event on hw_valid {
        /// The QP.
        qpn: hw_qpn[8],
        /// 0 first request packet, 1 send queue drained, 2 send completion error, 3 fatal error.
        kind: hw_kind[2] of 1,
    }

    /// A request packet.
    pub struct Packet on msg_valid {
        /// The target QP.
        qpn: msg_qpn[8],
        /// 1: it uses the RQ WQE of its message.
        consumes_wqe: msg_consumes_wqe[1] of 1 = default,
        /// 1: it cannot be executed.
        error: msg_error[1] of 1 = default,
    }
}

impl harness::Traffic for Traffic {
    fn check(&self) -> Result<(), TrafficError> {
        check_resets("steps", self.steps.iter().map(|step| step.reset))
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
    fn a_reset_of_no_cycles_is_objected_to() {
        let text = r#"{"noise": "0x0", "steps": [{}, {"reset": {"after": 3, "cycles": 0}}]}"#;
        let traffic: Traffic = serde_json::from_str(text).unwrap();
        assert_eq!(traffic.check().unwrap_err().path, "steps[1].reset.cycles");
    }
}
