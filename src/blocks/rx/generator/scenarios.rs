//! Scenarios: named weights for the generator. Each inner block has its own weights.

use crate::blocks::dll::generator::scenarios::Weights as Link;
use crate::blocks::qp::generator::scenarios::Weights as Software;
use crate::blocks::recv::generator::scenarios::Weights as Receive;
use crate::blocks::thread2::generator::scenarios::Weights as Requests;
use cosim_core::harness::{Percent, Span};
use cosim_core::value::Uint;
use cosim_core::weights;

weights! {
    /// Weights of the generator.
    pub struct Weights {
        /// Unconstrained random cycles per packet instead of traffic; 0: traffic.
        raw_cycles_per_packet: Uint<8> = 0,
        /// Packets for QPs; the others are for the message layer.
        requests_share: Percent = 50,
        /// Requests, and the environment of thread2.
        requests: Requests = requests(),
        /// Request packets that cannot be executed, where that loses no data.
        errors: Percent = 8,
        /// Messages, and the environment of recv.
        receive: Receive = Receive::default(),
        /// The link. It carries one TLP per packet.
        link: Link = clean(),
        /// Use of QPs after they are opened.
        software: Software = quiet(),
        /// Steps of software per hundred packets.
        steps: Uint<12> = 20,
        /// QPs that are not opened far enough to accept packets.
        closed: Percent = 8,
        /// Chance that requests do not wait until their QPs are open.
        early: Percent = 15,
        /// Steps after which a QP is opened again.
        reopen: Percent = 5,
        /// Heads of the FIFO whose context or lengths are delayed.
        fetch_wait: Percent = 20,
        /// Longest delay in cycles.
        longest_fetch_wait: Uint<12> = 5,
    }
}

/// A link without losses or stalls that carries one TLP per packet.
fn clean() -> Link {
    Link {
        tlps_per_packet: Span::new(1, 1),
        link_stall: Percent::new(0),
        dllp_stall: Percent::new(0),
        tlp_delay: Span::new(0, 4),
        dllp_delay: Span::new(0, 4),
        ..Link::default()
    }
}

/// Varied requests for QPs; qp keeps their states.
fn requests() -> Requests {
    Requests {
        qps: Span::new(1, 4),
        payload: Span::new(1, 256),
        idle_qp: Percent::new(0),
        ..Requests::default()
    }
}

/// Rare events and commands, and no packets.
fn quiet() -> Software {
    Software {
        gap: Percent::new(70),
        longest_gap: Uint::new(40),
        commands: Percent::new(40),
        onward: Percent::new(90),
        events: Percent::new(25),
        fatal: Percent::new(4),
        packets: Percent::new(0),
        query: Percent::new(30),
        ..Software::default()
    }
}
