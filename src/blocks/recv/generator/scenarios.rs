//! Scenarios: named weights for the generator.

use cosim_core::harness::{Percent, Span};
use cosim_core::value::Uint;
use cosim_core::weights;

weights! {
    /// Weights of the generator. Percentages are per message, unless stated otherwise.
    pub struct Weights {
        /// Unconstrained random cycles per packet instead of traffic; 0: traffic.
        raw_cycles_per_packet: Uint<8> = 0,
        /// Chance of a gap before a packet.
        gap: Percent = 20,
        /// Longest gap in cycles.
        longest_gap: Uint<12> = 5,
        /// Control packets: flow, rndv_rts, rndv_cts, short.
        control: Percent = 15,
        /// Packets with an invalid kind, among the others.
        wrong: Percent = 5,
        /// Messages with rendezvous data, among the others; the rest is eager.
        rendezvous: Percent = 20,
        /// Eager messages whose receive is posted.
        posted: Percent = 40,
        /// Messages of one packet.
        single: Percent = 35,
        /// Number of DPs in the other messages.
        data: Span<12, 1> = 1..=8,
        /// 1: the number of DPs may exceed the length of the case.
        beyond: Uint<1> = 0,
        /// Chance that DPs follow one another without gaps.
        bursts: Percent = 40,
        /// Chance of a stray packet before the DPs of an unexpected message.
        strays: Percent = 5,
        /// Chance that the answer about a posted receive is delayed.
        match_wait: Percent = 30,
        /// Longest delay of that answer in cycles.
        longest_match_wait: Uint<12> = 6,
        /// Requests for temporary buffers that are granted.
        temp_ok: Percent = 70,
        /// Chance that the end of a posted receive is delayed.
        done_wait: Percent = 50,
        /// Longest delay of that end in cycles.
        longest_done_wait: Uint<12> = 6,
        /// Initial number of free buffers.
        pool: Span<8> = 0..=24,
        /// Chance that a credit waits.
        credit_stall: Percent = 30,
        /// Longest wait of a credit in cycles.
        longest_credit_stall: Uint<12> = 12,
        /// Chance that a kept packet is read late.
        read: Percent = 30,
        /// Longest time until it is read, in cycles.
        longest_read: Uint<12> = 20,
        /// Handles and lengths that are 0, 1, a power of two, the largest number, or one less.
        corners: Percent = 10,
        /// Messages followed by a reset.
        reset: Percent = 0,
    }
}
