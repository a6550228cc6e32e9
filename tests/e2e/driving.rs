//! Compares registered inputs and batches with a plain cycle-by-cycle loop: every scenario of every
//! block has the same outcome, and RTL that reacts between the edges is detected.

use crate::common::{Place, model};
use crate::verdicts::Tampered;
use cosim::blocks::dll::Dll;
use cosim::blocks::thread2::Thread2;
use cosim_block::rtl::Rtl;
use cosim_core::harness::{
    self, Block, CaseRng, Dut, Explain, GoldenDut, Outcome, Profile, Recording, Stimulus, Verdict,
    Watch, case_seed,
};
use cosim_core::verilated::{BeforeReset, Model};
use cosim_rtl::backend::View;
use rand::SeedableRng;

/// Cases of each scenario and profile.
const CASES: u64 = 3;
const PACKETS: u32 = 12;

fn by_cycle<B: Block>(model: Model<B::Inputs, B::Outputs>) -> impl Dut<B> {
    Tampered::<B, _> { model, cycle: 0, tamper: |_, _: &mut B::Outputs| Ok(()) }
}

/// Checks that two outcomes are the same.
#[track_caller]
fn assert_same(outcome: &Outcome, expected: &Outcome, what: &str) {
    assert_eq!(format!("{outcome:?}"), format!("{expected:?}"), "{what}");
}

/// Runs cases of a block on models of one profile against golden models of another, in all ways.
/// Returns the number of cases that do not match.
fn compare<B: Explain>(rtl: &Profile, golden: &Profile) -> usize {
    let kind = model::<B>(&Rtl::default(), &rtl.parameters, View::Bare).unwrap();
    let plain = model::<B>(&Rtl::default(), &rtl.parameters, View::Plain).unwrap();
    let twin = model::<B>(&Rtl::default(), &golden.parameters, View::Bare).unwrap();
    assert_eq!(kind.two_evaluations(), None, "{}", B::NAME);
    assert!(plain.two_evaluations().is_some());
    let (parameters, watch) = (&golden.parameters, Watch::default());
    let mut different = 0;
    for scenario in B::scenarios() {
        for index in 0..CASES {
            let name = format!("{}/{}/{}/{index}", B::NAME, golden.name, scenario.name);
            let mut rng = CaseRng::seed_from_u64(case_seed(7, &name));
            let stimulus = Stimulus::<B>::draw(&scenario.weights, parameters, PACKETS, &mut rng);
            for before in [BeforeReset::Ones, BeforeReset::Zeros] {
                let mut dut = by_cycle::<B>(plain.create(before).unwrap());
                let expected = harness::run::<B>(&stimulus, parameters, &mut dut, &watch);
                let same = |outcome: &Outcome, how: &str| {
                    assert_same(outcome, &expected, &format!("{name}, {how}"));
                };
                // The RTL matches the golden model of its own profile.
                let mut of_golden = GoldenDut::<B>::new(&rtl.parameters);
                let outcome = harness::run::<B>(&stimulus, parameters, &mut of_golden, &watch);
                same(&outcome, "by golden models alone");
                different += usize::from(expected.verdict != Verdict::Match);
                for kind in [kind, plain] {
                    let mut model = kind.create(before).unwrap();
                    let outcome = harness::run::<B>(&stimulus, parameters, &mut model, &watch);
                    same(&outcome, "in batches");
                    let mut model = kind.create(before).unwrap();
                    let outcome = Recording::new(&stimulus, parameters).run(&mut model, &watch);
                    same(&outcome, "recorded");
                    // Two models at once, of which one matches the golden model.
                    let mut models = [kind, twin].map(|kind| kind.create(before).unwrap());
                    let (golden, outcomes) =
                        harness::run_all(&stimulus, parameters, &mut models, &watch);
                    let of = |index: usize| outcomes[index].as_ref().unwrap_or(&golden);
                    same(of(0), "beside another");
                    assert_eq!(of(1).verdict, Verdict::Match, "{name}, that is the other");
                    let mut dut = by_cycle::<B>(kind.create(before).unwrap());
                    let outcome = harness::run::<B>(&stimulus, parameters, &mut dut, &watch);
                    same(&outcome, "cycle by cycle");
                }
            }
        }
    }
    different
}

/// Tests all ways on equal profiles, then on different ones.
#[test]
fn thread2_has_the_same_outcomes_in_batches_and_cycle_by_cycle() {
    for profile in Thread2::PROFILES {
        assert_eq!(compare::<Thread2>(profile, profile), 0, "{}", profile.name);
    }
    let [first, .., last] = Thread2::PROFILES else { panic!("thread2 has two profiles") };
    let different = compare::<Thread2>(first, last) + compare::<Thread2>(last, first);
    assert_ne!(different, 0, "no case distinguishes profiles that differ");
}

const TOP: &str = "PcieAckNak.sv";
const DEVICE_A: &str = "  PcieDllTx #(";

/// Another output changes at the falling edge.
#[test]
fn a_falling_edge_works_as_without_registered_inputs() {
    let late = "  wire early; reg late; assign a_retrain = late;\n  always @(negedge clk or posedge rst) \
                if (rst) late <= 1'b0; else late <= early;\n";
    let place = Place::with_change(TOP, DEVICE_A, &format!("{late}{DEVICE_A}"));
    place.edit(&format!("rtl/{TOP}"), "(a_retrain)", "(early)");
    let printed = place.exits(0, "run --block dll --rtl rtl --cases 2 --quiet --out run");
    let reported = "two evaluations per cycle instead of one: something waits for @(negedge clk";
    assert_eq!(printed.matches(reported).count(), 1, "{printed}");
    let header = &place.results("run")["run"];
    for profile in header["profiles"].as_array().unwrap() {
        let reason = &header["two_evaluations"][profile.as_str().unwrap()];
        assert!(reason.as_str().unwrap().contains("negedge clk"), "{header}");
    }
    place.prints(0, &["negedge clk"], "bench --block dll --fixes spec --rtl rtl");
    // Other RTL needs one evaluation, so no reason is reported.
    place.exits(0, "run --cases 1 --packets 1 --rtl rtl --out one");
    let header = &place.results("one")["run"];
    assert_eq!(header["two_evaluations"], serde_json::json!({}));
}

#[test]
fn a_stop_at_an_edge_belongs_to_the_cycle_that_the_edge_ends() {
    // The age is 0 in the cycle in reset and in the next one, and 2 in cycle 3. Clocked logic sees
    // it at the edge that ends that cycle, other logic at the edge before.
    let age = "  reg [3:0] age; always @(posedge clk or posedge rst)\n    if (rst) age <= 4'd0; else age \
               <= age + {3'b0, age != 4'd15};";
    for (process, cycle) in [
        ("always @(posedge clk) if (age == 4'd2) $fatal(1, \"told to\");", 3),
        ("always @* if (age == 4'd2) $fatal(1, \"told to\");", 2),
    ] {
        let place = Place::with_change(TOP, DEVICE_A, &format!("{age}\n  {process}\n{DEVICE_A}"));
        let given = Rtl { paths: vec![place.path("rtl")], ..Rtl::default() };
        let profile = &Dll::PROFILES[0];
        let stimulus = Stimulus::<Dll>::cycles(vec![Default::default(); 9]);
        let watch = Watch::default();
        let outcomes = [View::Bare, View::Plain].map(|view| {
            let kind = model::<Dll>(&given, &profile.parameters, view).unwrap();
            let mut model = kind.create(BeforeReset::Ones).unwrap();
            harness::run::<Dll>(&stimulus, &profile.parameters, &mut model, &watch)
        });
        let Verdict::Crashed { cycle: Some(found), message } = &outcomes[0].verdict else {
            panic!("{process}: {:?}", outcomes[0].verdict)
        };
        assert!(message.contains("told to") || message.contains(TOP), "{message}");
        assert_eq!(*found, cycle, "{process}");
        assert_same(&outcomes[0], &outcomes[1], process);
    }
}
