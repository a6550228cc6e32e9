//! Scenarios: named weights for the generator.

use cosim_core::harness::{Percent, Span};
use cosim_core::value::Uint;
use cosim_core::weights;

weights! {
    /// Weights of the generator. Percentages are per step, unless stated otherwise.
    pub struct Weights {
        /// Unconstrained random cycles per packet instead of traffic; 0: traffic.
        raw_cycles_per_packet: Uint<8> = 0,
        /// Number of QPs in a case.
        qps: Span<8, 1> = 1..=4,
        /// QPs whose number is 0, 1, a power of two, 255, or one less.
        corners: Percent = 25,
        /// Cases with all 256 QPs, which are brought into states before the first step.
        crowd: Percent = 0,
        /// Chance of a gap before a step.
        gap: Percent = 10,
        /// Longest gap in cycles.
        longest_gap: Uint<12> = 4,
        /// Steps that withdraw or change waiting offers.
        instead: Percent = 0,
        /// Chance of a command.
        commands: Percent = 60,
        /// Commands for the usual next state of a QP; the others request any state.
        onward: Percent = 85,
        /// Commands from RTS to SQD with notification.
        notify: Percent = 50,
        /// Other commands with notification.
        stray_notify: Percent = 3,
        /// Chance of a hardware event.
        events: Percent = 30,
        /// Events that are fatal errors.
        fatal: Percent = 4,
        /// Other events that are possible in the state of their QP.
        fitting: Percent = 80,
        /// Chance of a request packet.
        packets: Percent = 50,
        /// Packets that cannot be executed.
        packet_error: Percent = 30,
        /// Events and packets for the QP of the step's command.
        same_qp: Percent = 50,
        /// Chance that the query changes to another QP.
        query: Percent = 15,
        /// Events that software lets wait.
        evt_stall: Percent = 20,
        /// Longest wait of an event in cycles.
        longest_evt_stall: Uint<12> = 6,
        /// Steps followed by a reset.
        reset: Percent = 0,
    }
}
