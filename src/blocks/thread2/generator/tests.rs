//! Generated traffic has what no bin and no bug of a run shows to be there.

use super::*;
use crate::blocks::thread2::Thread2;
use cosim_core::harness::{Traffic as _, Weights as _};
use rand::SeedableRng;
use std::collections::BTreeSet;

fn weights(scenario: &str) -> Weights {
    let mut scenarios = Weights::scenarios().into_iter();
    scenarios.find(|known| known.name == scenario).unwrap().weights
}

fn draw(scenario: &str, mask: u8, packets: u32, seed: u64) -> Traffic {
    let parameters = Parameters::with_fixes::<Thread2>(mask);
    traffic(&weights(scenario), &parameters, packets, &mut CaseRng::seed_from_u64(seed))
}

/// Spec, section 9: without F5 the units hold the whole message and a terminator ends them. Units
/// end where packets end, and can be far too large.
#[test]
fn units_hold_their_message_and_end_where_packets_end() {
    let (mut at_edge, mut large) = (0, 0);
    for packet in (0..40).flat_map(|seed| draw("default", 0x00, 64, seed).packets) {
        let Some(wqe) = &packet.wqe else { continue };
        let sizes: Vec<u64> = wqe.units.iter().map(|unit| unit.data.byte_cnt.get()).collect();
        let length = packet.header.pkt_length.get();
        let ends: Vec<u64> = sizes
            .iter()
            .scan(0, |end, size| {
                *end += size;
                Some(*end)
            })
            .collect();
        assert_eq!(sizes.last(), Some(&0));
        assert!(
            *ends.last().unwrap() >= length
                || !rules::is_in(rules::SENDS, packet.header.net_opcode.get())
        );
        large += u32::from(sizes.iter().any(|size| *size > 1 << 24));
        let is_first = packet.header.net_opcode.get() == opcode::SEND_FIRST;
        at_edge += u32::from(is_first && ends[..ends.len() - 2].contains(&length));
    }
    assert!(at_edge > 20 && large > 20, "{at_edge}, {large}");
}

/// The distance of the next WQE may be near any power of two from 2^8 to 2^25 slots, within 16.
/// Illegal sizes are legal ones but for a bit, or too small.
#[test]
fn far_successors_and_illegal_sizes_are_near_but_for_one_bit() {
    let (weights, mut rng) = (weights("smoke"), CaseRng::seed_from_u64(1));
    let mut generator = Generator { weights: &weights, mask: 0, count: 1, rng: &mut rng };
    let (mut ahead, mut behind) = (0_u32, 0_u32);
    for _ in 0..4000 {
        let slot = 1 << 25;
        let far = generator.far_from(slot);
        let distance = far.abs_diff(slot);
        let (near, high) = (distance + 15, distance.saturating_sub(15));
        let power = 1 << near.ilog2();
        assert!((high..=near).contains(&power), "{distance}: no power of two is that near");
        let seen = if far > slot { &mut ahead } else { &mut behind };
        *seen |= power as u32;
    }
    assert_eq!((ahead | 1 << 25, behind), (0x3ff_ff00, 0x3ff_ff00), "each distance");
    let seen: BTreeSet<u64> = (0..2000).map(|_| generator.illegal_log().get()).collect();
    let of_legal = (6..=10).flat_map(|log| (4..8).map(move |bit| log ^ 1 << bit));
    assert_eq!(seen, (0..6).chain(of_legal).collect());
}

/// At least half of a crowd of 64 QPs have a message in progress at once. Other scenarios use at
/// most 8 QPs.
#[test]
fn a_crowd_has_messages_of_many_qps_in_progress() {
    let (mut open, mut most) = (BTreeSet::new(), 0);
    for packet in draw("crowd", 0xff, 400, 0).packets {
        let qpn = packet.header.local_qpn.get();
        match packet.header.net_opcode.get() {
            opcode::SEND_FIRST => drop(open.insert(qpn)),
            opcode::SEND_LAST | opcode::SEND_LAST_WITH_IMM => drop(open.remove(&qpn)),
            _ => {}
        }
        most = most.max(open.len());
    }
    assert!(most >= 32, "{most} at once");
}

/// A long case has messages beyond 2^31 bytes, and all of its packets, of which few differ.
#[test]
fn giant_messages_need_many_bits_to_count() {
    let mut longest = 0;
    for (mask, seed) in (0..8).map(|seed| (if seed % 2 == 0 { 0xff } else { 0 }, seed)) {
        let traffic = draw("giant-messages", mask, 70_000, seed);
        traffic.check().unwrap();
        assert!(traffic.packets.len() < 2000);
        assert_eq!(
            traffic.packets.iter().map(|packet| 1 + packet.again.get()).sum::<u64>(),
            70_000
        );
        let mut sum = 0;
        for packet in &traffic.packets {
            let bytes = packet.header.pkt_length.get() * (1 + packet.again.get());
            sum = if packet.header.net_opcode.get() == opcode::SEND_MIDDLE {
                sum + bytes
            } else {
                bytes
            };
            longest = longest.max(sum);
        }
    }
    assert!((1 << 31..=LONGEST_MESSAGE).contains(&longest), "{longest}");
}
