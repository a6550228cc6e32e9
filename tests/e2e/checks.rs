//! The generic checks of a block: our blocks pass them, and they report each wrong part of a test
//! block, whose scoreboard also shows what a violation does to batches of cycles.

use crate::common::{self, blocks, checks, json, project, source};
use cosim::blocks::rx::rtl::{self, Bits1, Bits12, Inputs, Outputs};
use cosim_core::checks::{Bugs, Checks, Result as CheckResult};
use cosim_core::harness::{
    self, Axis, Bins, Block, CaseRng, Checked, Covergroup, Dut, Edge, Explain, GoldenDut,
    LinkedRtl, Parameters, Place, Profile, Recording, Rule, RuleSet, Scenario, Stimulus,
    TrafficError, Value, Verdict, Violation, Watch,
};
use cosim_core::verilated::{BatchEnd, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// Checks that no pin fault triggers, by block. Unit tests of the block trigger them. Those of a
/// block inside `rx` fire on that block's own pins; in `rx`, another check sees the fault first, or
/// it is rare.
const SHOWN_BY_HAND: [(&str, &str); 4] = [
    ("thread2", "request-order"),
    ("dll", "progress"),
    ("recv", "complete"),
    (
        "rx",
        "buffer-has-room event-waits-for-room events-of-a-qp-in-order kept-as-chosen lost-once \
         packet-not-left-waiting payload-once-in-order progress request-order resent-in-time \
         ring-full-after-reset rq-offset-inside silent-in-reset zero-in-reset",
    ),
];

#[test]
fn our_scenarios_and_environments_are_right() -> CheckResult {
    blocks().try_for_each(|block| scenarios_and_environment_are_right(&checks(block)))
}

fn scenarios_and_environment_are_right(checks: &Checks) -> CheckResult {
    checks.scenarios_can_be_read_again()?;
    checks.weights_draw_legal_stimulus()?;
    checks.environment_drives_every_pin()?;
    checks.environment_bears_any_outputs()
}

#[test]
fn default_runs_hit_every_rule() -> CheckResult {
    blocks().try_for_each(|block| checks(block).rules_are_hit())
}

#[test]
fn every_check_of_a_scoreboard_fires_on_some_fault() -> CheckResult {
    blocks().try_for_each(|block| {
        let shown = SHOWN_BY_HAND.iter().filter(|(name, _)| *name == block);
        let elsewhere: Vec<&str> = shown.flat_map(|(_, checks)| checks.split(' ')).collect();
        checks(block).scoreboard_fires(&elsewhere)
    })
}

/// A block that counts TLPs, on the pins of `rx`. [`wrong`] selects which part is wrong.
/// Constants and properties that are read once per block are wrong in `Toy<WRONG>`, because the
/// compiler instantiates everything for each value.
#[derive(Debug, Clone, Copy)]
struct Toy<const SAYS_WRONG: bool>;

/// The declared rules, bins and checks are correct.
const RIGHT: bool = false;
/// It declares a check that never fires, and omits the one that does. It declares a bin that is hit
/// as unreachable, and has no reason for a rule and a bin that are not hit.
const WRONG: bool = true;

/// The wrong part of the block. Only one test sets it, because checks use several threads.
static WRONG_PART: AtomicU8 = AtomicU8::new(Part::None as u8);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    None,
    Scenario,
    Stimulus,
    Pin,
    Objects,
    Brittle,
}

fn is_wrong(part: Part) -> bool {
    WRONG_PART.load(Ordering::Relaxed) == part as u8
}

#[derive(Clone)]
struct Counting<const PRINTS: bool> {
    taken: u64,
}

const RULES: [Rule; 3] = [
    Rule { name: "T1", meaning: "a TLP is taken" },
    Rule { name: "T2", meaning: "nothing is offered" },
    Rule { name: "T3", meaning: "the 100th TLP is taken" },
];

impl<const PRINTS: bool> harness::Golden<Inputs, Outputs> for Counting<PRINTS> {
    const RULES: &'static [Rule] = &RULES;
    type Cycle = ();

    fn unreachable(rule: usize, _: &Parameters) -> Option<String> {
        let is_never_hit = RULES[rule].name == "T3" && PRINTS == RIGHT;
        is_never_hit.then(|| "no traffic does it".to_owned())
    }

    fn new(_: &Parameters) -> Self {
        Self { taken: 0 }
    }

    fn cycle(&self, _: &Inputs) {}

    fn outputs(&self, _: &Inputs, (): &(), outputs: &mut Outputs) {
        *outputs = Outputs {
            a_tlp_ready: Bits1::new(1),
            a_next_seq: Bits12::new(self.taken),
            ..Outputs::default()
        };
    }

    fn clock(&mut self, inputs: &Inputs, (): &()) -> RuleSet {
        let taken = inputs.a_tlp_valid.get() == 1;
        self.taken += u64::from(taken);
        RuleSet::from_rule(usize::from(!taken))
            .with(RuleSet::from_rule(2).only_if(self.taken == 100))
    }

    fn state(&self) -> &'static str {
        "COUNTING"
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Tlps {
    count: u64,
    /// The cycle that the scoreboard rejects, or [`END`].
    rejected: Option<u64>,
}

/// The scoreboard rejects the end of the case.
const END: u64 = u64::MAX;

impl harness::Traffic for Tlps {
    fn check(&self) -> Result<(), TrafficError> {
        let object = || TrafficError { path: "count".to_owned(), message: "too many".to_owned() };
        if self.count > 40 { Err(object()) } else { Ok(()) }
    }
}

struct Around {
    left: u64,
    taken: u64,
    idle: u64,
}

impl harness::Environment<'_, Inputs, Outputs, Tlps> for Around {
    fn new(traffic: &Tlps, _: &Parameters) -> Self {
        Self { left: traffic.count, taken: 0, idle: 0 }
    }

    fn drive(&mut self, inputs: &mut Inputs) {
        let data = inputs.a_tlp_data;
        *inputs = Inputs { a_tlp_valid: Bits1::from(self.left > 0), ..Inputs::default() };
        if is_wrong(Part::Pin) && self.taken == 2 {
            inputs.a_tlp_data = data;
        }
    }

    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let taken = inputs.a_tlp_valid.get() & outputs.a_tlp_ready.get();
        assert!(
            !is_wrong(Part::Brittle) || outputs.a_link_data.get() == 0,
            "this block sends nothing"
        );
        self.left -= taken;
        self.taken += taken;
        self.idle += 1 - taken;
    }

    fn finished(&self) -> bool {
        self.left == 0 && self.idle > 2
    }

    fn handshakes(&self) -> u64 {
        self.taken
    }

    fn progress_timeout(&self) -> u64 {
        10
    }

    fn packets(&self) -> u64 {
        self.taken
    }
}

struct Judge<const PRINTS: bool> {
    taken: u64,
    due: u64,
    cycle: u64,
    rejected: Option<u64>,
}

impl<const PRINTS: bool> harness::Scoreboard<'_, Inputs, Outputs, Tlps> for Judge<PRINTS> {
    fn checks() -> Vec<String> {
        ["counted", if PRINTS == WRONG { "of-two-minds" } else { "complete" }]
            .map(str::to_owned)
            .to_vec()
    }

    fn new(traffic: &Tlps, _: &Parameters) -> Self {
        Self { taken: 0, due: traffic.count, cycle: 0, rejected: traffic.rejected }
    }

    fn observe(&mut self, inputs: &Inputs, outputs: &Outputs) -> Result<(), Violation> {
        let is_rejected = self.rejected == Some(self.cycle);
        let wrong_from_the_start = is_wrong(Part::Objects) && self.taken == 1;
        if outputs.a_next_seq.get() != self.taken || wrong_from_the_start || is_rejected {
            return Err(Violation::new("counted", "wrong"));
        }
        self.cycle += 1;
        self.taken += inputs.a_tlp_valid.get() & outputs.a_tlp_ready.get();
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Violation> {
        let complete = self.taken == self.due && self.rejected != Some(END);
        if complete { Ok(()) } else { Err(Violation::new("complete", "not all")) }
    }
}

struct Watching<const PRINTS: bool>;

const fn tlps<const PRINTS: bool>() -> [Covergroup; 1] {
    const VALUES: [Value; 2] = [
        Value { name: "taken", meaning: "A takes a TLP" },
        Value { name: "never", meaning: "what does not happen" },
    ];
    const AXES: [Axis; 1] = [Axis::new("what", &VALUES)];
    [Covergroup::new("tlps", "TLPs", &AXES).unless(|at, _| match at {
        [0] if PRINTS == WRONG => Some("none is ever taken"),
        [1] if PRINTS == RIGHT => Some("it is told so"),
        _ => None,
    })]
}

impl<const PRINTS: bool> harness::Coverage<Toy<PRINTS>> for Watching<PRINTS> {
    const GROUPS: &'static [Covergroup] = &tlps::<PRINTS>();

    fn new(_: &Parameters) -> Self {
        Self
    }

    fn after(&mut self, edge: &Edge<'_, Toy<PRINTS>>, bins: &mut Bins<'_>) {
        let place = const { Place::<1>::find_group(&tlps::<PRINTS>(), "tlps") };
        if edge.inputs.a_tlp_valid.get() == 1 {
            bins.record(place.bin([0]));
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Weights {
    most: u8,
}

impl Checked for Weights {
    fn objection(&self) -> Option<String> {
        (is_wrong(Part::Scenario) && self.most == 30).then(|| "30 is too much".to_owned())
    }
}

impl<const PRINTS: bool> harness::Weights<Toy<PRINTS>> for Weights {
    fn scenarios() -> Vec<Scenario<Self>> {
        let weights = Self { most: 30 };
        vec![Scenario::new("default", "TLPs", weights)]
    }

    fn traffic(&self, _: &Parameters, packets: u32, _: &mut CaseRng) -> Tlps {
        let count = u64::from(packets).min(self.most.into());
        // This omits the limit of the traffic itself.
        let count = if is_wrong(Part::Stimulus) { u64::from(self.most) } else { count.min(40) };
        Tlps { count, rejected: None }
    }
}

impl<const PRINTS: bool> Block for Toy<PRINTS> {
    const NAME: &'static str = "toy";
    const TITLE: &'static str = "counts TLPs";
    const RTL: LinkedRtl<Inputs, Outputs> = rtl::RTL;
    const PROFILES: &'static [Profile] = &[Profile::new("spec", Parameters::NONE)];
    const CASES: u64 = 20;

    type Inputs = Inputs;
    type Outputs = Outputs;
    type Golden = Counting<PRINTS>;
    type Traffic = Tlps;
    type Environment<'a> = Around;
    type Scoreboard<'a> = Judge<PRINTS>;
    type Weights = Weights;
    type Coverage = Watching<PRINTS>;
}

impl<const PRINTS: bool> Explain for Toy<PRINTS> {}

fn toy(part: Part) -> Checks {
    WRONG_PART.store(part as u8, Ordering::Relaxed);
    Checks::for_block::<Toy<RIGHT>>("no program")
}

#[track_caller]
fn finds(checked: CheckResult, what: &[&str]) {
    let found = checked.expect_err("nothing is found").to_string();
    assert!(what.iter().all(|what| found.contains(what)), "{found}");
}

/// One test, because [`WRONG_PART`] is the same for all.
#[test]
fn errors_of_a_block_are_found_and_named_and_one_that_is_right_passes() -> CheckResult {
    let right = toy(Part::None);
    scenarios_and_environment_are_right(&right)?;
    right.rules_are_hit()?;
    right.scoreboard_fires(&[])?;
    finds(right.scoreboard_fires(&["countd"]), &["countd: listed as shown elsewhere"]);
    let scenario = toy(Part::Scenario).scenarios_can_be_read_again();
    finds(scenario, &["scenario default", "30 is too much"]);
    finds(toy(Part::Stimulus).weights_draw_legal_stimulus(), &["count: too many", "profile spec"]);
    finds(toy(Part::Pin).environment_drives_every_pin(), &["a_tlp_data", "scenario default"]);
    let brittle = toy(Part::Brittle).environment_bears_any_outputs();
    finds(brittle, &["scenario default", "panics in cycle"]);
    finds(toy(Part::Objects).rules_are_hit(), &["toy/spec/default/0", "counted"]);
    finds(toy(Part::Objects).scoreboard_fires(&[]), &["no fault", "counted"]);
    toy(Part::None);
    let wrong = Checks::for_block::<Toy<WRONG>>("no program");
    finds(wrong.rules_are_hit(), &["`rules: T3`", "`tlps: never`", "unreachable: `tlps: taken`"]);
    let fires = ["of-two-minds: fires on none", "complete: fires, but is not in"];
    finds(wrong.scoreboard_fires(&[]), &fires);
    // A check that is shown elsewhere need not fire.
    let found = wrong.scoreboard_fires(&["of-two-minds"]);
    let found = found.expect_err("another check is not declared").to_string();
    assert!(!found.contains("of-two-minds"), "{found}");
    Ok(())
}

/// The golden model as a DUT whose batches match.
struct Matching(GoldenDut<Toy<RIGHT>>);

impl Dut<Toy<RIGHT>> for Matching {
    const BATCHES: bool = true;

    fn settle(&mut self, inputs: &Inputs, outputs: &mut Outputs) -> Result<(), Error> {
        self.0.settle(inputs, outputs)
    }

    fn edge(&mut self) -> Result<(), Error> {
        self.0.edge()
    }

    fn run_batch(
        &mut self,
        _: &[Inputs],
        _: &[Outputs],
        _: Option<&[Outputs]>,
        _: &AtomicUsize,
    ) -> BatchEnd<Outputs> {
        BatchEnd::Equal
    }

    fn afresh(&self) -> Result<Self, Error> {
        Ok(Self(GoldenDut::new(&Parameters::NONE)))
    }
}

/// Rows of rx are so wide that the scoreboard checks finished batches.
#[test]
fn a_violation_in_a_judged_batch_has_the_outcome_of_the_cycle_by_cycle_loop() {
    const { assert!(size_of::<Inputs>() + size_of::<Outputs>() >= 512) };
    let (parameters, watch) = (&Parameters::NONE, Watch::default());
    // The harness's own cycle, the next one, both sides of the end of a batch, and of the case.
    for cycle in [0, 1, 126, 127, 128, 129, END] {
        // The 100th TLP is declared unreachable, which alone would fail a case that ends well.
        let count = if cycle == END { 99 } else { 200 };
        let tlps = Tlps { count, rejected: Some(cycle) };
        let stimulus = Stimulus::<Toy<RIGHT>>::traffic(tlps);
        let mut by_cycle = GoldenDut::<Toy<RIGHT>>::new(parameters);
        let expected = harness::run(&stimulus, parameters, &mut by_cycle, &watch);
        let Verdict::CheckFailed { cycle: failed, .. } = expected.verdict else {
            panic!("cycle {cycle}: {:?} in {}", expected.verdict, expected.cycles)
        };
        assert!(failed == cycle || cycle == END);
        let mut matching = Matching(GoldenDut::new(parameters));
        let in_batches = harness::run(&stimulus, parameters, &mut matching, &watch);
        assert_eq!(in_batches, expected, "in batches");
        let golden = harness::run_golden(&stimulus, parameters, &watch);
        assert_eq!(golden, expected, "golden side alone");
        let recorded = Recording::new(&stimulus, parameters).run(&mut matching, &watch);
        assert_eq!(recorded, expected, "recorded");
    }
}

#[test]
fn errors_of_a_corpus_are_found() {
    let (thread2, place) = (checks("thread2"), common::Place::new());
    let folder = place.path("");
    finds(thread2.corpus(&folder), &["no .json in it"]);
    finds(thread2.corpus("no such folder"), &["no such folder"]);
    let corpus = fs::read_dir(project().join("vectors/thread2")).unwrap();
    let mut names = corpus.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let name = names.find(|name| name.starts_with("t01-")).unwrap();
    let vector = json(format!("vectors/thread2/{name}"));
    let mut changed = vector.clone();
    changed["origin"]["about"] = "why".into();
    place.write(&name, &changed.to_string());
    let about = "`about` does not state the purpose of the vector: `why`";
    finds(thread2.corpus(&folder), &[&name, about]);
    finds(thread2.rules_have_vectors(&folder), &["T02: no vector"]);
    // The vector records a mismatch, but nothing differs.
    let mut changed = vector;
    changed["recorded"] = serde_json::json!({ "verdict": "hang", "cycle": 3, "state": "IDLE_s" });
    place.write(&name, &changed.to_string());
    finds(thread2.corpus(&folder), &[&name, "not as recorded"]);
    // The name refers to another rule.
    fs::rename(place.path(&name), place.path("t18-wrong.json")).unwrap();
    finds(thread2.rules_have_vectors(&folder), &["t18-wrong.json misses T18"]);
}

/// A patch that replaces one line of a file of `qp`, the block with the fastest cases.
fn patch_of_qp(file: &str, line: usize, from: &str, to: &str) -> String {
    let name = format!("rtl/qp/{file}");
    format!("--- a/{name}\n+++ b/{name}\n@@ -{line} +{line} @@\n-{from}\n+{to}\n")
}

#[test]
fn errors_of_a_folder_of_bugs_are_found() {
    let (qp, place) = (checks("qp"), common::Place::new());
    finds(qp.bugs_are_found(place.path(""), &Bugs::with_count(0)), &["no .patch in it"]);
    let file = "QpStateCtrl.sv";
    let rtl = source(format!("rtl/qp/{file}"));
    let first = rtl.lines().next().unwrap();
    let mut lines = (1..).zip(rtl.lines());
    let ready = lines.find(|(_, line)| line.starts_with("  assign cmd_ready =")).unwrap();
    let bug = patch_of_qp(file, ready.0, ready.1, "  assign cmd_ready = !evt_full;");
    for (name, patch) in [
        ("1-no-bug", patch_of_qp(file, 1, first, "// Another comment.")),
        ("2-does-not-apply", patch_of_qp(file, 1, "no such line", "x")),
        ("3-of-nothing", patch_of_qp("Nothing.v", 1, "x", "y")),
        ("4-found-elsewhere", bug.clone()),
        ("5-of-the-rtl", bug),
    ] {
        place.write(&format!("{name}.patch"), &patch);
    }
    let bugs = Bugs {
        open: Some(&[("5-of-the-rtl", "undecided"), ("6-gone", "raw_pins")]),
        reported_at: |name| if name.starts_with('4') { &["evt_"] } else { &[] },
        ..Bugs::with_count(4)
    };
    finds(
        qp.bugs_are_found(place.path(""), &bugs),
        &[
            "5 bugs, expected 4",
            "6-gone: no such bug",
            "1-no-bug: seed 11 does not find the bug",
            "2-does-not-apply: does not apply",
            "3-of-nothing: the patch changes none of",
            "4-found-elsewhere: reported at cmd_ready, expected one of evt_*",
            "5-of-the-rtl: the blame is rtl, expected undecided",
        ],
    );
}
