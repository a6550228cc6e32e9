//! The traffic of `qp`, as vectors store it.

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

    /// A Modify QP.
    #[derive(Copy)]
    pub struct Command {
        /// The QP.
        qpn: Uint<8>,
        /// Requested state: 0 RESET, 1 INIT, 2 RTR, 3 RTS, 4 SQD, 5 SQE, 6 ERR, 7 Destroy QP.
        next: Uint<3>,
        /// Service type.
        service: Uint<3> = default,
        /// 1: with the parameter of Table 12-5.
        notify: Uint<1> = default,
    }

    /// A hardware event.
    #[derive(Copy)]
    pub struct Event {
        /// The QP.
        qpn: Uint<8>,
        /// 0 first request packet, 1 send queue drained, 2 send completion error, 3 fatal error.
        kind: Uint<2>,
    }

    /// A request packet.
    #[derive(Copy)]
    pub struct Packet {
        /// The target QP.
        qpn: Uint<8>,
        /// 1: it uses the RQ WQE of its message.
        consumes_wqe: Uint<1> = default,
        /// 1: it cannot be executed.
        error: Uint<1> = default,
    }
}

impl harness::Traffic for Traffic {
    fn check(&self) -> Result<(), TrafficError> {
        check_resets("steps", self.steps.iter().map(|step| step.reset))
    }
}
