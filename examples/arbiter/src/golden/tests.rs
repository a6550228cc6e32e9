//! The rows of the specification, with expectations worked out by hand.

use super::*;
use harness::Golden as _;

#[test]
fn the_table_has_the_rows_of_the_specification_in_its_order() {
    let specified = include_str!("../../README.md").lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("| **")?.split_once("**")?;
        Some(name)
    });
    let specified: Vec<&str> = specified.collect();
    let rows: Vec<&str> = RULES[..specified.len()].iter().map(|rule| rule.name).collect();
    assert_eq!(rows, specified);
    assert_eq!(TABLE.rule([true, false, true, false, false, false]), R1);
    assert_eq!(TABLE.rule([false, true, true, false, false, false]), L1);
}

/// Runs (valid, last, out_ready) cycle by cycle after reset; the payload of requester n is n + 1.
/// Returns the ready of each cycle, the output as (source, last, cut), and the rules of its edge.
type Cycle = (u64, Option<(u64, u64, u64)>, String);

fn run(max_beats: u64, cycles: &[(u64, u64, u64)]) -> Vec<Cycle> {
    let mut golden = Golden::new(&crate::max_beats(max_beats));
    let mut outputs = Outputs::default();
    let mut cycle = |&(valid, last, ready): &(u64, u64, u64)| {
        let inputs = Inputs {
            req_valid: Bits4::new(valid),
            req_last: Bits4::new(last),
            req_data: crate::rtl::Bits64::new(0x0004_0003_0002_0001),
            out_ready: Bits1::new(ready),
            ..Default::default()
        };
        golden.show(&inputs, &mut outputs);
        let src = outputs.out_src.get();
        let out = (outputs.out_valid.get() == 1).then(|| {
            assert_eq!(outputs.out_data.get(), src + 1, "the payload is its requester's");
            (src, outputs.out_last.get(), outputs.out_cut.get())
        });
        let rules: Vec<&str> = golden.edge(&inputs).iter().map(|rule| RULES[rule].name).collect();
        (outputs.req_ready.get(), out, rules.join(" "))
    };
    cycles.iter().map(&mut cycle).collect()
}

fn seen(ready: u64, out: Option<(u64, u64, u64)>, rules: &str) -> Cycle {
    (ready, out, rules.to_owned())
}

#[test]
fn turns_go_round() {
    assert_eq!(
        run(8, &[(0b1011, 0b1111, 1); 4]),
        [
            seen(0b0001, None, "F2 N0 C1"),
            seen(0b0010, Some((0, 1, 0)), "F2 N1 C1"),
            seen(0b1000, Some((1, 1, 0)), "F2 N3 C1"),
            seen(0b0001, Some((3, 1, 0)), "F2 N0 C1"),
        ]
    );
}

#[test]
fn a_packet_is_not_interrupted_even_where_it_pauses() {
    assert_eq!(
        run(
            8,
            &[(0b0100, 0, 1), (0b0001, 0b0001, 1), (0b0101, 0, 1), (0b0101, 0b0101, 1), (1, 1, 1)]
        ),
        [
            seen(0b0100, None, "F3 N2"),
            seen(0b0100, Some((2, 0, 0)), "L1"),
            seen(0b0100, None, "L3"),
            seen(0b0100, Some((2, 0, 0)), "L2"),
            seen(0b0001, Some((2, 1, 0)), "F2 N0"),
        ]
    );
}

#[test]
fn a_packet_is_cut_at_the_limit_and_goes_to_the_end_of_the_row() {
    assert_eq!(
        run(2, &[(0b0011, 0, 1), (0b0011, 0, 1), (0b0011, 0, 1)]),
        [
            seen(0b0001, None, "F3 N0 C1"),
            seen(0b0001, Some((0, 0, 0)), "L4"),
            seen(0b0010, Some((0, 1, 1)), "F3 N1 C1"),
        ]
    );
    assert_eq!(
        run(1, &[(0b0011, 0, 1), (0b0011, 2, 1)]),
        [seen(0b0001, None, "F4 N0 C1"), seen(0b0010, Some((0, 1, 1)), "F2 N1 C1"),]
    );
}

#[test]
fn a_last_beat_at_the_limit_is_not_cut() {
    let cycles = run(2, &[(1, 0, 1), (1, 1, 1), (0, 0, 1)]);
    assert_eq!(cycles[2], seen(0, Some((0, 1, 0)), "F1"));
}

#[test]
fn nothing_moves_while_the_output_waits() {
    assert_eq!(
        run(8, &[(1, 1, 0), (2, 2, 0), (2, 2, 0), (2, 2, 1)]),
        [
            seen(1, None, "F2 N0"),
            seen(0, Some((0, 1, 0)), "W1"),
            seen(0, Some((0, 1, 0)), "W1"),
            seen(2, Some((0, 1, 0)), "F2 N1"),
        ]
    );
}
