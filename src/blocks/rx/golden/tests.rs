//! The top-level logic, cycle by cycle; all values are worked out by hand from the specification.

use super::*;
use crate::blocks::rx::rtl::{Bits12, Bits16};
use crate::blocks::rx::rules::RULES;

fn golden() -> Golden {
    Golden::new(&Parameters::of::<Rx>(0xff))
}

fn one() -> Bits1 {
    Bits1::new(1)
}

/// A request packet without a WQE: handle, QP, error.
fn request(handle: u64, qpn: u64, error: bool) -> u64 {
    1 | u64::from(error) << 2 | handle << 8 | qpn << 16
}

/// A TLP that arrives at B.
fn arrives(seq: u64, descriptor: u64) -> Inputs {
    Inputs {
        b_link_valid: one(),
        b_link_seq: Bits12::new(seq),
        b_link_data: Bits32::new(descriptor),
        b_link_crc_ok: one(),
        ..Inputs::default()
    }
}

fn command(qpn: u64, next: u64) -> Inputs {
    Inputs {
        qp_cmd_valid: one(),
        qp_cmd_qpn: Bits8::new(qpn),
        qp_cmd_next: Bits3::new(next),
        ..Inputs::default()
    }
}

/// A cycle: its outputs, and the names of the rules that apply.
fn cycle(golden: &mut Golden, inputs: Inputs) -> (Outputs, Vec<&'static str>) {
    let mut outputs = Outputs::default();
    golden.show(&inputs, &mut outputs);
    let rules = golden.edge(&inputs).iter().map(|rule| RULES[rule].name).collect();
    (outputs, rules)
}

/// A model with QP 5 in a state (by its commands), and a number of descriptors for it in the FIFO.
fn with_head(states: &[u64], descriptors: &[u64]) -> Golden {
    let mut golden = golden();
    for next in states {
        cycle(&mut golden, command(5, *next));
    }
    for (seq, descriptor) in descriptors.iter().enumerate() {
        cycle(&mut golden, arrives(seq as u64, *descriptor));
    }
    cycle(&mut golden, Inputs::default());
    golden
}

fn with_context() -> Inputs {
    // The copy in memory is in ERR; an RDMA WRITE for QP 5.
    let mut words = [0; 13];
    words[1] = 6 << 3;
    let mut header = [0; 16];
    (header[0], header[1]) = (10 << 24, 5);
    Inputs {
        cxt_valid: one(),
        cxt_head: Bits416::from_words(words),
        cxt_data: Bits488::from_words(header),
        ..Inputs::default()
    }
}

/// Section 8, timing.
#[test]
fn a_descriptor_is_the_head_four_cycles_after_it_was_taken() {
    let mut golden = golden();
    let descriptor = Bits32::new(request(9, 5, false));
    let offer = Inputs { a_tlp_valid: one(), a_tlp_data: descriptor, ..Inputs::default() };
    let mut on_link = None;
    // A is ready one cycle after reset.
    cycle(&mut golden, Inputs::default());
    for t in 0..=4 {
        let mut inputs = if t == 0 { offer } else { Inputs::default() };
        inputs.a_link_ready = one();
        if t == 2 {
            let mut outputs = Outputs::default();
            golden.show(&inputs, &mut outputs);
            on_link = Some((t, outputs.a_link_data));
            inputs = Inputs { a_link_ready: one(), ..arrives(0, outputs.a_link_data.get()) };
        }
        let (outputs, rules) = cycle(&mut golden, inputs);
        assert_eq!(rules.contains(&"CR1"), t == 0, "{t}");
        assert_eq!(outputs.a_link_valid.is_high(), t == 2, "{t}");
        assert_eq!(outputs.x_b_deliver_valid.is_high(), t == 3, "{t}");
        assert_eq!(outputs.fetch_valid.is_high(), t == 4, "{t}");
        assert_eq!(outputs.x_credits_used.get(), u64::from(t > 0), "{t}");
    }
    assert_eq!(on_link, Some((2, descriptor)));
}

#[test]
fn a_request_waits_for_its_context_and_is_dropped_for_a_qp_in_reset() {
    let mut golden = with_head(&[], &[request(9, 5, false)]);
    let (outputs, rules) = cycle(&mut golden, Inputs::default());
    assert_eq!(rules, ["RQ1"]);
    assert_eq!((outputs.fetch_handle.get(), outputs.fetch_request.get()), (9, 1));
    let (outputs, rules) = cycle(&mut golden, with_context());
    // A never accepted it: credits stay 0.
    assert_eq!(rules, ["CR4", "FI3", "RQ6"]);
    assert_eq!(
        (outputs.req_fate.get(), outputs.req_qpn.get(), outputs.req_handle.get()),
        (2, 5, 9)
    );
    assert_eq!(cycle(&mut golden, with_context()).0.fetch_valid.get(), 0);
}

#[test]
fn the_first_packet_in_rtr_is_taken_told_and_holds_up_the_next() {
    let two = [request(1, 5, false), request(2, 5, false)];
    let mut golden = with_head(&[1, 2], &two);
    let (outputs, rules) = cycle(&mut golden, with_context());
    assert_eq!(rules, ["CR4", "FI3", "RQ4", "EV1"]);
    // thread2 gets RTR instead of ERR; the rest is as fetched.
    assert_eq!(outputs.x_cxt_head.words()[1], 2 << 3);
    assert_eq!(outputs.x_cxt_data, with_context().cxt_data);
    assert_eq!((outputs.req_ack.get(), outputs.req_take_wqe.get()), (1, 0));
    let (outputs, rules) = cycle(&mut golden, with_context());
    assert_eq!(rules, ["RQ2", "EV3"]);
    assert_eq!((outputs.x_hw_qpn.get(), outputs.x_hw_kind.get()), (5, 0));
    assert_eq!((outputs.x_msg_valid.get(), outputs.qp_hw_ready.get()), (0, 0));
    // Two cycles after the first one the QP is in RTS, and thread2 is still busy.
    let (outputs, rules) = cycle(&mut golden, with_context());
    assert_eq!(rules, ["RQ3"]);
    assert_eq!(outputs.qp_query_state.get(), 3);
    assert_eq!((outputs.qp_evt_valid.get(), outputs.qp_evt_code.get()), (1, 1));
}

#[test]
fn a_packet_with_an_error_is_refused_and_is_a_first_packet_too() {
    let mut golden = with_head(&[1, 2], &[request(1, 5, true)]);
    let (outputs, rules) = cycle(&mut golden, with_context());
    assert_eq!(rules, ["CR4", "FI3", "RQ5", "EV1"]);
    assert_eq!(
        (outputs.req_fate.get(), outputs.x_cxt_valid.get(), outputs.req_ack.get()),
        (1, 0, 0)
    );
}

#[test]
fn an_event_from_outside_waits_for_that_of_the_system() {
    let mut golden = with_head(&[1, 2], &[request(1, 5, false)]);
    let outside = |inputs: Inputs| Inputs {
        qp_hw_valid: one(),
        qp_hw_qpn: Bits8::new(7),
        qp_hw_kind: Bits2::new(1),
        ..inputs
    };
    let (outputs, rules) = cycle(&mut golden, outside(with_context()));
    assert_eq!(rules, ["CR4", "FI3", "RQ4", "EV1", "EV5"]);
    assert_eq!((outputs.x_hw_qpn.get(), outputs.qp_hw_ready.get()), (7, 1));
    let (outputs, rules) = cycle(&mut golden, outside(Inputs::default()));
    assert_eq!(rules, ["EV3", "EV6"]);
    assert_eq!((outputs.x_hw_qpn.get(), outputs.qp_hw_ready.get()), (5, 0));
    let (outputs, rules) = cycle(&mut golden, outside(Inputs::default()));
    assert_eq!(rules, ["EV5"]);
    assert_eq!((outputs.x_hw_qpn.get(), outputs.qp_hw_ready.get()), (7, 1));
}

#[test]
fn a_message_packet_waits_for_its_lengths_and_goes_to_recv() {
    // Kind 1, last, handle 0x2a.
    let mut golden = with_head(&[], &[0x2a << 8 | 1 << 5 | 1 << 3]);
    assert_eq!(cycle(&mut golden, Inputs::default()).1, ["PK1"]);
    let there = Inputs { len_valid: one(), len_pkt: Bits16::new(99), ..Inputs::default() };
    // recv detects it first.
    assert_eq!(cycle(&mut golden, there).1, ["PK2"]);
    let (outputs, rules) = cycle(&mut golden, there);
    assert_eq!(rules, ["CR4", "FI3", "PK3"]);
    let packet = (outputs.x_pkt_kind.get(), outputs.x_pkt_id.get(), outputs.x_pkt_len.get());
    assert_eq!(packet, (1, 0x2a, 99));
    assert_eq!((outputs.x_pkt_last.get(), outputs.rv_release_id.get()), (1, 0x2a));
}

#[test]
fn the_seventeenth_delivery_is_lost_even_if_the_head_leaves() {
    let descriptors: Vec<u64> = (0..16).map(|handle| request(handle, 5, false)).collect();
    let mut golden = with_head(&[], &descriptors);
    cycle(&mut golden, arrives(16, request(16, 5, false)));
    let (outputs, rules) = cycle(&mut golden, with_context());
    assert_eq!(rules, ["CR4", "FI2", "FI3", "RQ6"]);
    assert_eq!((outputs.x_fifo_overflow.get(), outputs.x_fifo_level.get()), (1, 16));
    let (outputs, _) = cycle(&mut golden, Inputs::default());
    assert_eq!((outputs.x_fifo_overflow.get(), outputs.x_fifo_level.get()), (0, 15));
    assert_eq!(outputs.fetch_handle.get(), 1);
}

#[test]
fn after_sixteen_descriptors_there_is_no_credit() {
    let mut golden = golden();
    cycle(&mut golden, Inputs::default());
    let offer = Inputs {
        a_tlp_valid: one(),
        a_tlp_data: Bits32::new(request(1, 5, false)),
        a_link_ready: one(),
        ..Inputs::default()
    };
    // A replay buffer of 16 would be full, too: two are acknowledged.
    let mut taken = 0;
    for t in 0..40 {
        let ack = Inputs {
            a_dllp_valid: one(),
            a_dllp_seq: Bits12::new(1),
            a_dllp_crc_ok: one(),
            ..offer
        };
        let (outputs, rules) = cycle(&mut golden, if t == 12 { ack } else { offer });
        taken += u64::from(rules.contains(&"CR1"));
        assert_eq!(outputs.a_tlp_ready.get() == 1, rules.contains(&"CR1"), "{t}");
        assert_eq!(rules.contains(&"CR5"), taken == 16 && !rules.contains(&"CR1"), "{t}");
        assert_eq!(outputs.x_a_tlp_ready.get(), 1, "{t}");
    }
    assert_eq!(taken, 16);
}

#[test]
fn in_reset_every_output_is_0_but_the_newest_number_acknowledged() {
    let mut golden = with_head(&[1, 2], &[request(1, 5, false)]);
    let everything = Inputs {
        rst: one(),
        a_tlp_valid: one(),
        qp_hw_valid: one(),
        qp_query_qpn: Bits8::new(5),
        ..with_context()
    };
    let (outputs, rules) = cycle(&mut golden, everything);
    assert_eq!(outputs, Outputs { a_ackd_seq: Bits12::new(4095), ..Outputs::default() });
    assert_eq!(rules, ["R1"]);
    let (outputs, rules) = cycle(&mut golden, with_context());
    assert_eq!(rules, [""; 0]);
    assert_eq!((outputs.fetch_valid.get(), outputs.x_credits_used.get()), (0, 0));
}

/// The second length error of the vector comes at the edge at which qp accepts the first one (EV2,
/// EV4): the event stays pending.
#[test]
fn the_corpus_has_a_length_error_at_the_edge_that_tells_the_one_before() {
    use crate::blocks::rx::{Environment, stimulus::Traffic};
    use cosim_core::harness::Environment as _;
    let text = include_str!("../../../../vectors/rx/ev2-as-the-first-is-told.json");
    let mut vector: serde_json::Value = serde_json::from_str(text).unwrap();
    let traffic: Traffic = serde_json::from_value(vector["stimulus"]["traffic"].take()).unwrap();
    let parameters = Parameters::of::<Rx>(0xfb);
    let mut environment = Environment::new(&traffic, &parameters);
    let mut golden = Golden::new(&parameters);
    let mut inputs = Inputs::default();
    // Cycles in which the fatal error of QP 5 is sent and accepted, and whether a new one comes at
    // that edge.
    let mut told = Vec::new();
    for _ in 0..1000 {
        environment.drive(&mut inputs);
        let (outputs, rules) = cycle(&mut golden, inputs);
        if rules.contains(&"EV4") && outputs.x_hw_ready == one() && outputs.x_hw_qpn.get() == 5 {
            told.push(rules.contains(&"EV2"));
        }
        environment.clock(&inputs, &outputs);
    }
    assert_eq!(told[..2], [true, false]);
}
