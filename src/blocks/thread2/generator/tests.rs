//! Generated traffic is legal and reaches what it is generated for.

use super::*;
use cosim_core::harness::{Traffic as _, Weights as _};
use rand::SeedableRng;
use std::collections::BTreeSet;

fn draw(scenario: &str, mask: u8, seed: u64) -> Traffic {
    draw_packets(scenario, mask, 64, seed)
}

fn draw_packets(scenario: &str, mask: u8, packets: u32, seed: u64) -> Traffic {
    let parameters = Parameters::of::<crate::blocks::thread2::Thread2>(mask);
    traffic(&weights(scenario), &parameters, packets, &mut CaseRng::seed_from_u64(seed))
}

fn weights(scenario: &str) -> Weights {
    let mut scenarios = Weights::scenarios().into_iter();
    scenarios.find(|known| known.name == scenario).unwrap().weights
}

fn sizes(wqe: &Wqe) -> Vec<u64> {
    wqe.units.iter().map(|unit| unit.data.byte_cnt.get()).collect()
}

/// Spec, section 9: without F5 the units hold the whole message and a terminator ends them.
#[test]
fn without_f5_a_wqe_holds_its_message_and_ends_with_a_terminator() {
    let mut seen = 0;
    for seed in 0..40 {
        for packet in draw("errors", 0x00, seed).packets {
            if let (Some(wqe), opcode::SEND_ONLY) = (&packet.wqe, packet.header.net_opcode.get()) {
                let sizes = sizes(wqe);
                assert_eq!(sizes.last(), Some(&0));
                assert!(sizes.iter().sum::<u64>() >= packet.header.pkt_length.get());
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn units_end_where_packets_end_and_can_be_far_too_large() {
    let (mut at_edge, mut large) = (0, 0);
    for seed in 0..40 {
        for packet in draw("default", 0xff, seed).packets {
            let Some(wqe) = &packet.wqe else { continue };
            let sizes = sizes(wqe);
            large += u32::from(sizes.iter().any(|size| *size > 1 << 24));
            if packet.header.net_opcode.get() == opcode::SEND_FIRST {
                let length = packet.header.pkt_length.get();
                let ends = sizes.iter().scan(0, |end, size| {
                    *end += size;
                    Some(*end)
                });
                at_edge += u32::from(ends.take(sizes.len() - 1).any(|end| end == length));
            }
        }
    }
    assert!(at_edge > 20, "{at_edge}");
    assert!(large > 20, "{large}");
}

/// The distance of the next WQE may be near any power of two from 2^8 to 2^25 slots, within 16.
#[test]
fn far_successors_are_near_but_for_one_bit_of_the_distance() {
    let (weights, mut rng) = (weights("smoke"), CaseRng::seed_from_u64(1));
    let mut generator = Generator { weights: &weights, mask: 0, count: 1, rng: &mut rng };
    let (mut ahead, mut behind) = (0_u32, 0_u32);
    for _ in 0..4000 {
        let slot = 1 << 25;
        let far = generator.far_from(slot);
        assert!(far <= Uint::<26>::MAX, "{far}");
        let distance = far.abs_diff(slot);
        let (near, high) = (distance + 15, distance.saturating_sub(15));
        let power = 1 << near.ilog2();
        assert!((high..=near).contains(&power), "{distance}: no power of two is that near");
        let seen = if far > slot { &mut ahead } else { &mut behind };
        *seen |= power as u32;
    }
    assert_eq!(ahead | 1 << 25, 0x3ff_ff00, "each distance ahead, {ahead:#x}");
    assert_eq!(behind, 0x3ff_ff00, "each distance behind, {behind:#x}");
}

/// Offsets in slots have 24 bits, so a ring has at most 2^28 bytes. Where it is as long, some WQEs
/// are in the last entry but one, whose successor ends there.
#[test]
fn some_rings_are_as_long_as_offsets_reach_and_wrap() {
    let (mut longest, mut before_the_last, mut with_a_rest) = (0, 0, 0);
    for seed in 0..200 {
        let traffic = draw("ring", 0xff, seed);
        for entry in &traffic.tables.rq_offset {
            let of_pair =
                |packet: &&Packet| packet.header.local_qpn.get() & 0xff == entry.address.get();
            let Some(packet) = traffic.packets.iter().find(of_pair) else { continue };
            let log = packet.context.rq_entry_sz_log.get();
            if !(6..=10).contains(&log) {
                continue;
            }
            let (length, size) = (packet.context.rq_length.get(), 1 << log);
            with_a_rest += u32::from(length % size > 0);
            if length >= 1 << 28 {
                longest += 1;
                assert!(length < (1 << 28) + size, "{length}");
                before_the_last +=
                    u32::from(entry.value.get() * SLOT_BYTES == (1 << 28) - 2 * size);
            }
        }
    }
    assert!(longest > 50, "{longest}");
    assert!(before_the_last > 10, "{before_the_last}");
    assert!(with_a_rest > 100, "{with_a_rest}");
}

#[test]
fn illegal_sizes_are_legal_ones_but_for_a_bit_or_too_small() {
    let (weights, mut rng) = (weights("smoke"), CaseRng::seed_from_u64(1));
    let mut generator = Generator { weights: &weights, mask: 0, count: 1, rng: &mut rng };
    let seen: BTreeSet<u64> = (0..2000).map(|_| generator.illegal_log().get()).collect();
    let legal = 6..=10;
    let expected: BTreeSet<u64> =
        (0..6).chain(legal.clone().flat_map(|log| (4..8).map(move |bit| log ^ 1 << bit))).collect();
    assert!(legal.clone().all(|log| !seen.contains(&log)), "{seen:?}");
    assert_eq!(seen, expected);
}

/// At least half of a crowd of 64 QPs have a message in progress at once. Other scenarios use at
/// most 8 QPs.
#[test]
fn a_crowd_has_messages_of_many_qps_in_progress() {
    for seed in 0..8 {
        let (mut open, mut most) = (BTreeSet::new(), 0);
        for packet in draw_packets("crowd", 0xff, 400, seed).packets {
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
}

/// The longest message of a case in bytes.
fn longest(scenario: &str, packets: u32, seed: u64) -> u64 {
    let (mut sum, mut most) = (0, 0);
    for packet in draw_packets(scenario, 0xff, packets, seed).packets {
        let bytes = packet.header.pkt_length.get() * (1 + packet.again.get());
        match packet.header.net_opcode.get() {
            opcode::SEND_FIRST => sum = bytes,
            opcode::SEND_MIDDLE => sum += bytes,
            _ => sum = 0,
        }
        most = most.max(sum);
    }
    most
}

/// With 64 packets a message exceeds 2^21 bytes; messages of the default mix do not.
#[test]
fn giant_messages_need_many_bits_to_count() {
    let of = |scenario| (0..8).map(|seed| longest(scenario, 64, seed)).max().unwrap();
    assert!(of("giant-messages") > 1 << 21);
    assert!(of("default") < 1 << 21);
    let of_long: Vec<u64> = (0..8).map(|seed| longest("giant-messages", 70_000, seed)).collect();
    assert!(of_long.iter().any(|bytes| *bytes > 1 << 31), "{of_long:?}");
    assert!(of_long.iter().all(|bytes| *bytes <= LONGEST_MESSAGE), "{of_long:?}");
}

#[test]
fn packets_that_come_again_are_counted_and_legal() {
    let mut few = u32::MAX;
    for (mask, seed) in [(0, 1), (0, 2), (0xff, 1), (0xff, 2), (0xff, 3)] {
        let traffic = draw_packets("giant-messages", mask, 70_000, seed);
        traffic.check().unwrap();
        let all: u64 = traffic.packets.iter().map(|packet| 1 + packet.again.get()).sum();
        assert_eq!(all, 70_000);
        few = few.min(traffic.packets.len() as u32);
    }
    assert!(few < 2000, "{few}");
}
