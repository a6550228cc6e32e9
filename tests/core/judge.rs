//! Tests which side is blamed for violating the specification.

use cosim::blocks::thread2::Thread2;
use cosim::blocks::thread2::rtl::{Bits1, Inputs, Outputs};
use cosim_core::harness::{
    Blame, Block, CaseRng, Culprit, Drive, Dut, GoldenDut, Parameters, SideFailure, Stimulus,
    Verdict, Violation, Watch, follow, judge, reset_inputs, run,
};
use cosim_core::vector::parse;
use cosim_core::verilated::Error;
use rand::SeedableRng;
use std::path::Path;

const REPAIRED: Parameters = Parameters::with_fixes::<Thread2>(0xff);

/// A correct model with changed outputs.
struct Tampered<F> {
    alone: GoldenDut<Thread2>,
    cycle: u64,
    tamper: F,
}

impl<F: FnMut(u64, &mut Outputs) -> Result<(), Error>> Dut<Thread2> for Tampered<F> {
    fn settle(&mut self, inputs: &Inputs, outputs: &mut Outputs) -> Result<(), Error> {
        self.alone.settle(inputs, outputs)?;
        (self.tamper)(self.cycle, outputs)
    }

    fn edge(&mut self) -> Result<(), Error> {
        self.cycle += 1;
        self.alone.edge()
    }
}

fn golden() -> GoldenDut<Thread2> {
    GoldenDut::new(&REPAIRED)
}

fn tampered<F>(tamper: F) -> Tampered<F> {
    Tampered { alone: golden(), cycle: 0, tamper }
}

fn stimulus() -> Stimulus<Thread2> {
    let weights = &Thread2::scenarios()[0].weights;
    Stimulus::<Thread2>::draw(weights, &REPAIRED, 8, &mut CaseRng::seed_from_u64(3))
}

fn judged(tamper: impl FnMut(u64, &mut Outputs) -> Result<(), Error>) -> Blame {
    judge::<Thread2>(&stimulus(), &REPAIRED, &mut tampered(tamper), &Watch::default())
}

#[test]
fn no_side_is_blamed_if_both_are_right() {
    let judgement = judged(|_, _| Ok(()));
    assert_eq!(judgement, Blame::from_failures(None, None));
    assert_eq!(judgement.broken_by, Culprit::Undecided);
    assert!(judgement.lines()[0].starts_with("no check"), "{judgement:?}");
}

#[test]
fn a_dut_that_fails_a_check_is_named_with_it() {
    type Tamper = fn(u64, &mut Outputs) -> Result<(), Error>;
    // A context is never taken, so the first request comes without a packet.
    let no_packet: Tamper = |_, outputs| {
        outputs.fetch_cxt_egress_ready = Bits1::new(0);
        outputs.fetch_mr_ingress_valid = Bits1::new(1);
        Ok(())
    };
    // Most cases have only one cycle in reset, which the harness adds.
    let wrong_in_reset: Tamper = |cycle, outputs| {
        if cycle == 0 {
            outputs.fetch_cxt_egress_ready = Bits1::new(1);
        }
        Ok(())
    };
    let stops_by_itself: Tamper = |cycle, _| match cycle {
        5 => Err(Error::Stopped("$finish".to_owned())),
        _ => Ok(()),
    };
    for (tamper, at, check) in [
        (no_packet, None, ""),
        (wrong_in_reset, Some(0), "zero-in-reset"),
        (stops_by_itself, Some(5), "runs"),
    ] {
        let judgement = judged(tamper);
        assert_eq!((judgement.broken_by, &judgement.golden), (Culprit::Rtl, &None));
        assert_eq!(judgement.lines().len(), 2, "{judgement:?}");
        let SideFailure { cycle, violation } = judgement.rtl.unwrap();
        assert!(at.is_none_or(|at| at == cycle && violation.check == check), "{violation:?}");
    }
}

#[test]
fn a_dut_that_never_answers_violates_progress() {
    // It takes a packet and then freezes its outputs at the cycle in which it judges the packet.
    let mut silence = None;
    let silent = |cycle, outputs: &mut Outputs| {
        if cycle > 0 && outputs.fetch_cxt_egress_ready.get() == 0 {
            silence.get_or_insert(*outputs);
        }
        *outputs = silence.unwrap_or(*outputs);
        Ok(())
    };
    let Some(breach) = judged(silent).rtl else { panic!("no breach") };
    assert_eq!(breach.violation.check, "goes-on");
}

/// As specified, the model hangs after the last unit of this message.
#[test]
fn both_sides_are_blamed_if_neither_makes_progress() {
    const SPEC: Parameters = Parameters::with_fixes::<Thread2>(0x00);
    let text = include_str!("../../vectors/thread2/f5b-off-last-unit-of-a-send-hangs.json");
    let stimulus = parse::<Thread2>(text, Path::new("f5b")).unwrap().stimulus;
    let mut dut = GoldenDut::new(&SPEC);
    let judgement = judge::<Thread2>(&stimulus, &SPEC, &mut dut, &Watch::default());
    assert_eq!(judgement.broken_by, Culprit::Both);
    assert_eq!(judgement.rtl, judgement.golden);
    assert_eq!(judgement.golden.unwrap().violation.check, "goes-on");
}

#[test]
fn a_side_that_never_ends_is_stopped() {
    let Drive::Traffic(traffic) = stimulus().drive else { panic!("raw pins") };
    let watch = Watch::default();
    let follow = |most| follow::<Thread2>(&traffic, &REPAIRED, &mut golden(), most, &watch);
    let (breach, _) = follow(5).unwrap();
    assert_eq!(breach.unwrap().violation.check, "ends");
    let (breach, cycles) = follow(1 << 20).unwrap();
    assert_eq!(breach, None);
    let whole = run::<Thread2>(&stimulus(), &REPAIRED, &mut golden(), &watch);
    assert_eq!((whole.verdict, whole.cycles), (Verdict::Match, cycles));
}

#[test]
fn raw_pins_are_not_judged_and_a_cancelled_judgement_says_so() {
    let raw = Stimulus::cycles(vec![reset_inputs::<Thread2>()]);
    let watch = Watch::default();
    let judgement = judge::<Thread2>(&raw, &REPAIRED, &mut golden(), &watch);
    assert_eq!(judgement.broken_by, Culprit::RawPins);
    watch.cancel();
    let weights = &Thread2::scenarios()[0].weights;
    let long = Stimulus::<Thread2>::draw(weights, &REPAIRED, 2000, &mut CaseRng::seed_from_u64(3));
    let judgement = judge::<Thread2>(&long, &REPAIRED, &mut golden(), &watch);
    assert_eq!(judgement.broken_by, Culprit::Cancelled);
}

#[test]
fn a_judgement_survives_json() {
    let breach = |check| SideFailure { cycle: 7, violation: Violation::new(check, "why") };
    assert_eq!(Blame::from_failures(None, Some(breach("b"))).broken_by, Culprit::GoldenModel);
    let judgement = Blame::from_failures(Some(breach("a")), Some(breach("b")));
    assert_eq!(judgement.broken_by, Culprit::Both);
    let text = serde_json::to_string(&judgement).unwrap();
    assert_eq!(
        text,
        r#"{"broken_by":"both","rtl":{"cycle":7,"check":"a","subject":"a","message":"why"},"golden":{"cycle":7,"check":"b","subject":"b","message":"why"}}"#
    );
    assert_eq!(serde_json::from_str::<Blame>(&text).unwrap(), judgement);
}
