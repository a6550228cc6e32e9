//! Block `dll`, the five examples of S3: does every step happen, in the RTL and in the golden model?
//!
//! Steps, rules and values are those of the specification, section 11. A check names its step. "A <- x"
//! is a DLLP that arrives at A, "B <- x" a TLP that arrives at B. Outputs are those of both models; the
//! rules beside them are the golden model's alone.
//!
//! Where S3 says that REPLAY_TIMER is reset or restarted, the example is run a second time on a link
//! that loses every DLLP from that step on: the timer expires exactly REPLAY_LIMIT cycles later.

use crate::common::project;
use cosim::blocks::dll::Dll;
use cosim::blocks::dll::rtl::{Inputs, Outputs};
use cosim::blocks::dll::stimulus::{DllpDamage, Fate, Traffic};
use cosim_core::harness::{
    self, Block, Drive, Dut, Golden as _, Moment, Parameters, Profile, RuleSet, Stimulus, Verdict,
    Watch,
};
use cosim_core::value::Uint;
use cosim_core::vector::VectorFile;
use cosim_core::verilated::{BeforeReset, Field, Model, Pins, Port};

/// Cycles from a TLP that starts the timer to the Ack that can be seen.
const ACK_AFTER: usize = 17;
/// Cycles from the start of REPLAY_TIMER to its expiry.
const REPLAY_LIMIT: usize = 64;

#[test]
fn example_1_ack() {
    example("example-1-ack", |story| {
        story.sends("1.1", &[3, 4, 5, 6, 7]);
        let third = story.b_gets("1.2: B <- 3", 3, true);
        story.delivers("1.2", third);
        story.shows("1.2", third + 1, [("b_next_rcv_seq", 4), ("b_dllp_valid", 0)]);
        let fourth = story.b_gets("1.3: B <- 4", 4, true);
        story.delivers("1.3", fourth);
        let fifth = story.b_gets("1.3: B <- 5", 5, true);
        story.delivers("1.3", fifth);
        story.rule("1.3: the timer goes on", fifth, "B13");
        story.shows("1.3", fifth + 1, [("b_next_rcv_seq", 6)]);
        let ack = third + ACK_AFTER;
        story.silent("1.4: before the timer expires", third, ack);
        story.rule("1.4", ack - 1, "B7");
        story.rule("1.4", ack - 1, "B12");
        story.answers("1.4: Ack 5", ack, 0, 5);
        let heard = story.a_gets("1.5: A <- Ack 5", 0, 5, true);
        story.rule("1.5", heard, "A3");
        story.shows("1.5", heard + 1, [("a_ackd_seq", 5), ("a_replay_num", 0)]);
        story.restarts("1.5: REPLAY_TIMER", heard);
        let sixth = story.b_gets("1.6: B <- 6", 6, true);
        story.without("1.4: the timer stands until B <- 6", ack, sixth + 1, "B13");
        story.silent("1.4: the timer stands", ack + 1, sixth + ACK_AFTER);
        story.delivers("1.6", sixth);
        story.rule("1.6: the timer runs", sixth + 1, "B13");
        story.answers("1.6: the next Ack", sixth + ACK_AFTER, 0, 7);
    });
}

#[test]
fn example_2_rollover() {
    example("example-2-rollover", |story| {
        story.sends("2.1", &[4094, 4095, 0, 1, 2]);
        let first = story.b_gets("2.2: B <- 4094", 4094, true);
        story.delivers("2.2", first);
        for seq in [4095, 0, 1] {
            let cycle = story.b_gets(&format!("2.2: B <- {seq}"), seq, true);
            story.delivers("2.2", cycle);
        }
        story.silent("2.2: before the timer expires", first, first + ACK_AFTER);
        story.rule("2.2", first + ACK_AFTER - 1, "B7");
        story.answers("2.2: Ack 1", first + ACK_AFTER, 0, 1);
        let heard = story.a_gets("2.3: A <- Ack 1", 0, 1, true);
        story.rule("2.3", heard, "A3");
        story.shows("2.3", heard + 1, [("a_ackd_seq", 1), ("a_replay_num", 0)]);
        story.restarts("2.3: REPLAY_TIMER", heard);
        story.b_gets("after 2.3: B <- 2", 2, true);
    });
}

#[test]
fn example_3_nak() {
    example("example-3-nak", |story| {
        story.sends("3.1", &[4094, 4095, 0, 1, 2]);
        let good = story.b_gets("3.2: B <- 4094", 4094, true);
        story.delivers("3.2", good);
        story.shows("3.2", good + 1, [("b_next_rcv_seq", 4095)]);
        let bad = story.b_gets("3.3: B <- 4095, bad CRC", 4095, false);
        story.drops("3.3", bad, "B4");
        story.rule("3.3", bad, "B12");
        story.answers("3.3: Nak 4094 at once", bad + 1, 1, 4094);
        story.shows("3.3", bad + 1, [("b_nak_scheduled", 1)]);
        story.without("3.3: the timer is stopped", bad + 1, bad + 4, "B13");
        for seq in [0, 1, 2] {
            let cycle = story.b_gets(&format!("3.4: B <- {seq}"), seq, true);
            story.drops("3.4", cycle, "B6");
            story.silent("3.4", cycle + 1, cycle + 2);
            story.shows("3.4", cycle + 1, [("b_next_rcv_seq", 4095), ("b_nak_scheduled", 1)]);
        }
        let heard = story.a_gets("3.5: A <- Nak 4094", 1, 4094, true);
        story.rule("3.5", heard, "A4");
        story.shows("3.5, 3.6", heard, [("a_replay_num", 0)]);
        story.shows("3.5, 3.6", heard + 1, [("a_ackd_seq", 4094), ("a_replay_num", 1)]);
        story.restarts("3.5, 3.6: REPLAY_TIMER", heard);
        story.sends("3.6", &[4095, 0, 1, 2]);
        let again = story.b_gets("3.7: B <- 4095, good", 4095, true);
        story.delivers("3.7", again);
        story.shows("3.7", again, [("b_nak_scheduled", 1)]);
        story.shows("3.7", again + 1, [("b_nak_scheduled", 0), ("b_next_rcv_seq", 0)]);
        story.rule("3.7: the timer runs", again + 1, "B13");
        story.silent("3.3: the timer is stopped, 3.7: and restarted", bad + 2, again + ACK_AFTER);
        story.answers("3.7: its Ack", again + ACK_AFTER, 0, 2);
    });
}

#[test]
fn example_4_lost_tlp() {
    example("example-4-lost-tlp", |story| {
        story.sends("4.1", &[4094, 4095, 0, 1, 2]);
        let first = story.b_gets("4.2: B <- 4094", 4094, true);
        story.b_gets("4.2: B <- 4095", 4095, true);
        let last = story.b_gets("4.2: B <- 0", 0, true);
        story.delivers("4.2", last);
        story.shows("4.2", last + 1, [("b_next_rcv_seq", 1)]);
        story.rule("4.2", first + ACK_AFTER - 1, "B7");
        story.answers("4.2: Ack 0", first + ACK_AFTER, 0, 0);
        let heard = story.a_gets("4.3: A <- Ack 0", 0, 0, true);
        story.rule("4.3", heard, "A3");
        story.shows("4.3", heard + 1, [("a_ackd_seq", 0)]);
        let ahead = story.b_gets_next("4.4: 1 is lost, B <- 2", 2);
        story.drops("4.4", ahead, "B5");
        story.rule("4.4", ahead, "B12");
        story.answers("4.4: Nak 0", ahead + 1, 1, 0);
        story.shows("4.4", ahead + 1, [("b_nak_scheduled", 1), ("b_next_rcv_seq", 1)]);
        let heard = story.a_gets("4.5: A <- Nak 0", 1, 0, true);
        story.rule("4.5", heard, "A5");
        story.shows("4.5", heard, [("a_ackd_seq", 0), ("a_replay_num", 0)]);
        story.shows("4.5", heard + 1, [("a_ackd_seq", 0), ("a_replay_num", 1)]);
        story.restarts("4.5: REPLAY_TIMER", heard);
        story.sends("4.5", &[1, 2]);
    });
}

#[test]
fn example_5_bad_nak() {
    example("example-5-bad-nak", |story| {
        story.sends("5.1", &[4094, 4095, 0, 1, 2]);
        let sent = story.now;
        let first = story.b_gets("5.2: B <- 4094", 4094, true);
        story.delivers("5.2", first);
        for seq in [4095, 0] {
            let cycle = story.b_gets(&format!("5.2: B <- {seq}"), seq, true);
            story.delivers("5.2", cycle);
        }
        let bad = story.b_gets("5.3: B <- 1, bad CRC", 1, false);
        story.silent("5.2: no DLLP yet", first, bad + 1);
        story.drops("5.3", bad, "B4");
        story.rule("5.3", bad, "B12");
        story.answers("5.3: Nak 0", bad + 1, 1, 0);
        story.shows("5.3", bad + 1, [("b_nak_scheduled", 1)]);
        let heard = story.a_gets_damaged("5.4: A <- Nak 0, damaged");
        story.rule("5.4", heard, "A8");
        let before = [("a_ackd_seq", 4093), ("a_replay_num", 0), ("a_dl_error", 0)];
        story.shows("5.4: nothing before", heard, before);
        story.shows("5.4: nothing after", heard + 1, before);
        let ahead = story.b_gets_next("5.5: B <- 2", 2);
        story.drops("5.5", ahead, "B6");
        let expired = sent + REPLAY_LIMIT;
        story.expires("5.6: REPLAY_TIMER", sent);
        story.shows("5.6", expired + 1, [("a_replay_num", 1), ("a_ackd_seq", 4093)]);
        story.restarts("5.7: REPLAY_TIMER", expired);
        story.now = expired;
        story.sends("5.7", &[4094, 4095, 0, 1, 2]);
        for seq in [4094, 4095, 0] {
            let cycle = story.b_gets(&format!("5.8: B <- {seq}"), seq, true);
            story.drops("5.8", cycle, "B2");
            story.shows("5.8", cycle + 1, [("b_nak_scheduled", 1), ("b_next_rcv_seq", 1)]);
        }
        let again = story.b_gets("5.9: B <- 1, good", 1, true);
        story.silent("5.5, 5.8: silence since the Nak was taken", heard, again + 1);
        story.delivers("5.9", again);
        story.shows("5.9", again, [("b_nak_scheduled", 1)]);
        story.shows("5.9", again + 1, [("b_nak_scheduled", 0), ("b_next_rcv_seq", 2)]);
        story.rule("5.9: the timer runs", again + 1, "B13");
        story.silent("5.9: before it expires", again + 1, again + ACK_AFTER);
        story.answers("5.9: its Ack", again + ACK_AFTER, 0, 2);
    });
}

/// Section 11: "sequence numbers are reached by real traffic". Each number comes from a TLP that went
/// all the way, up to the last one of every example.
#[test]
fn every_tlp_of_the_examples_is_delivered_and_acknowledged() {
    for (name, last) in [
        ("example-1-ack", 7),
        ("example-2-rollover", 2),
        ("example-3-nak", 2),
        ("example-4-lost-tlp", 2),
        ("example-5-bad-nak", 2),
    ] {
        example(name, |story| {
            let end = story.cycles.len() - 1;
            story.shows("the end", end, [("a_ackd_seq", last), ("b_next_rcv_seq", last + 1)]);
            let delivered = (0..=end).filter(|cycle| story.output(*cycle, "b_deliver_valid") == 1);
            let due = if name == "example-1-ack" { 8 } else { 4096 + 3 };
            assert_eq!(delivered.count(), due, "{name}");
        });
    }
}

/// The rules of the specification that a vector must be named after; A17 and B14 are resets.
#[test]
fn every_rule_has_a_vector_named_after_it() {
    let folder = project().join("vectors/dll");
    let names: Vec<String> = std::fs::read_dir(folder)
        .expect("vectors/dll is there")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    for rule in <Dll as Block>::Golden::RULES {
        let start = format!("{}-", rule.name.to_lowercase());
        assert!(names.iter().any(|name| name.starts_with(&start)), "no vector {start}*.json");
    }
}

/// One cycle of both models.
#[derive(Debug, Clone, Copy)]
struct Cycle {
    inputs: Inputs,
    golden: Outputs,
    rtl: Outputs,
    rules: RuleSet,
}

/// The RTL, and everything that happens.
struct Recorder {
    model: Model<Inputs, Outputs>,
    cycles: Vec<Cycle>,
}

impl Dut<Dll> for Recorder {
    const OBSERVES: bool = true;

    fn settle(
        &mut self,
        inputs: &Inputs,
        outputs: &mut Outputs,
    ) -> Result<(), cosim_core::verilated::Error> {
        self.model.settle(inputs, outputs)
    }

    fn edge(&mut self) -> Result<(), cosim_core::verilated::Error> {
        self.model.edge()
    }

    fn observe(&mut self, moment: &Moment<'_, Dll>, actual: &Outputs) {
        self.cycles.push(Cycle {
            inputs: *moment.inputs,
            golden: *moment.expected,
            rtl: *actual,
            rules: moment.rules,
        });
    }
}

/// What one model did, and how far it has been told.
struct Story<'a> {
    /// Vector, fixes and model, for messages.
    who: String,
    vector: &'a Traffic,
    parameters: Parameters,
    cycles: &'a [Cycle],
    side: Side,
    /// Where the last event was; events are told in order.
    now: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Golden,
    Rtl,
}

impl Side {
    fn of(self, cycle: &Cycle) -> &Outputs {
        match self {
            Self::Golden => &cycle.golden,
            Self::Rtl => &cycle.rtl,
        }
    }
}

/// Replays a vector under each of its fixes and tells what each model did.
fn example(name: &str, tell: impl Fn(&mut Story<'_>)) {
    let path = project().join(format!("vectors/dll/{name}.json"));
    let file = VectorFile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let vector = file.parse::<Dll>().unwrap_or_else(|error| panic!("{error}"));
    let Drive::Traffic(traffic) = &vector.stimulus.drive else { panic!("{name} is no traffic") };
    let named = Profile::parse(&vector.fixes, Dll::PROFILES).expect("known fixes");
    let profiles = Profile::with_overrides(&named, &vector.parameters, Dll::PROFILES);
    for profile in profiles.expect("legal parameters") {
        let who = format!("{name}, {}", profile.name);
        let cycles = run(&who, traffic, &profile.parameters);
        for side in [Side::Golden, Side::Rtl] {
            let (who, parameters) = (format!("{who}, {side:?}"), profile.parameters);
            tell(&mut Story { who, vector: traffic, parameters, cycles: &cycles, side, now: 0 });
        }
    }
}

/// Every cycle of a traffic, on which the models must agree.
fn run(who: &str, traffic: &Traffic, parameters: &Parameters) -> Vec<Cycle> {
    let kind = crate::common::built_in_model::<Dll>(parameters).expect("the models are built in");
    let model = kind.create(BeforeReset::Ones).expect("a model starts");
    let mut recorder = Recorder { model, cycles: Vec::new() };
    let stimulus = Stimulus::traffic(traffic.clone());
    let outcome = harness::run(&stimulus, parameters, &mut recorder, &Watch::default());
    assert_eq!(outcome.verdict, Verdict::Match, "{who}");
    recorder.cycles
}

/// The traffic, but for its answers: after the first `passing` DLLPs of a list the next ones are lost.
fn then_lost(fates: &[Fate<DllpDamage>], passing: usize) -> Vec<Fate<DllpDamage>> {
    let single = |fate: &Fate<DllpDamage>| Fate { count: None, ..fate.clone() };
    let listed = fates.iter().flat_map(|fate| vec![single(fate); fate.count() as usize]);
    let lost = Fate { count: Some(Uint::new(20)), lost: Uint::new(1), ..Fate::default() };
    let passing = listed.chain(std::iter::repeat_with(Fate::default)).take(passing);
    passing.chain([lost]).collect()
}

fn value<P: Pins>(pins: &P, name: &str) -> u64 {
    let port: &Port = P::PORTS.iter().find(|port| port.name == name).expect(name);
    port.field(pins.as_bytes(), Field::new(port.width - 1, 0))
}

impl Story<'_> {
    fn input(&self, cycle: usize, name: &str) -> u64 {
        value(&self.cycles[cycle].inputs, name)
    }

    fn output(&self, cycle: usize, name: &str) -> u64 {
        value(self.side.of(&self.cycles[cycle]), name)
    }

    /// The next cycle from the last event on in which something happens.
    #[track_caller]
    fn next(&mut self, step: &str, happens: impl Fn(&Self, usize) -> bool) -> usize {
        let found = (self.now..self.cycles.len()).find(|cycle| happens(self, *cycle));
        let Self { who, now, .. } = self;
        let found = found.unwrap_or_else(|| panic!("{who}, step {step}: not after cycle {now}"));
        self.now = found;
        found
    }

    /// These TLPs are handed to the link, one after another, from some cycle on. Where the first one
    /// is, the story goes on.
    #[track_caller]
    fn sends(&mut self, step: &str, seqs: &[u64]) {
        let sent = |story: &Self, cycle: usize| {
            let taken = story.output(cycle, "a_link_valid") & story.input(cycle, "a_link_ready");
            (taken == 1).then(|| story.output(cycle, "a_link_seq"))
        };
        let first = self.next(step, |story, cycle| sent(story, cycle) == Some(seqs[0]));
        let cycles = first..self.cycles.len();
        let all: Vec<(usize, u64)> =
            cycles.filter_map(|cycle| Some((cycle, sent(self, cycle)?))).take(seqs.len()).collect();
        let seen: Vec<u64> = all.iter().map(|(_, seq)| *seq).collect();
        assert_eq!(seen, seqs, "{}, step {step}: on the link from cycle {first} on", self.who);
        for (cycle, seq) in all {
            self.rule(&format!("{step}: {seq} is sent"), cycle, "A2");
        }
    }

    /// The next arrival of this TLP at B.
    #[track_caller]
    fn b_gets(&mut self, step: &str, seq: u64, good: bool) -> usize {
        self.next(step, |story, cycle| {
            story.input(cycle, "b_link_valid") == 1
                && story.input(cycle, "b_link_seq") == seq
                && story.input(cycle, "b_link_crc_ok") == u64::from(good)
        })
    }

    /// The arrival at B that comes next after the last event; it must be this TLP, whole.
    #[track_caller]
    fn b_gets_next(&mut self, step: &str, seq: u64) -> usize {
        self.now += 1;
        let cycle = self.next(step, |story, cycle| story.input(cycle, "b_link_valid") == 1);
        let seen = (self.input(cycle, "b_link_seq"), self.input(cycle, "b_link_crc_ok"));
        assert_eq!(seen, (seq, 1), "{}, step {step}: in cycle {cycle}", self.who);
        cycle
    }

    /// The next arrival of this DLLP at A.
    #[track_caller]
    fn a_gets(&mut self, step: &str, nak: u64, seq: u64, good: bool) -> usize {
        self.next(step, |story, cycle| {
            story.input(cycle, "a_dllp_valid") == 1
                && story.input(cycle, "a_dllp_nak") == nak
                && story.input(cycle, "a_dllp_seq") == seq
                && story.input(cycle, "a_dllp_crc_ok") == u64::from(good)
        })
    }

    /// The next arrival of a damaged DLLP at A.
    #[track_caller]
    fn a_gets_damaged(&mut self, step: &str) -> usize {
        self.next(step, |story, cycle| {
            story.input(cycle, "a_dllp_valid") == 1 && story.input(cycle, "a_dllp_crc_ok") == 0
        })
    }

    fn fired(&self, cycle: usize) -> Vec<&'static str> {
        self.cycles[cycle]
            .rules
            .iter()
            .map(|rule| <Dll as Block>::Golden::RULES[rule].name)
            .collect()
    }

    /// A rule fires at an edge, in the golden model.
    #[track_caller]
    fn rule(&self, step: &str, cycle: usize, rule: &str) {
        let fired = self.fired(cycle);
        let who = &self.who;
        let fires = fired.contains(&rule) || self.side == Side::Rtl;
        assert!(fires, "{who}, step {step}: {fired:?}, not {rule}, in {cycle}");
    }

    /// A rule does not fire from one edge to before another, in the golden model.
    #[track_caller]
    fn without(&self, step: &str, from: usize, to: usize, rule: &str) {
        for cycle in from..to {
            let fires = self.fired(cycle).contains(&rule) && self.side == Side::Golden;
            assert!(!fires, "{}, step {step}: {rule} in cycle {cycle}", self.who);
        }
    }

    /// The TLP that arrives in a cycle is delivered.
    #[track_caller]
    fn delivers(&self, step: &str, cycle: usize) {
        self.rule(step, cycle, "B1");
        let data = self.input(cycle, "b_link_data");
        let next = (self.input(cycle, "b_link_seq") + 1) % 4096;
        let delivered =
            [("b_deliver_valid", 1), ("b_deliver_data", data), ("b_next_rcv_seq", next)];
        self.shows(step, cycle + 1, delivered);
    }

    /// The TLP that arrives in a cycle is dropped by a rule.
    #[track_caller]
    fn drops(&self, step: &str, cycle: usize, rule: &str) {
        self.rule(step, cycle, rule);
        let wanted = self.output(cycle, "b_next_rcv_seq");
        self.shows(step, cycle + 1, [("b_deliver_valid", 0), ("b_next_rcv_seq", wanted)]);
    }

    /// REPLAY_TIMER, started at an edge, expires exactly REPLAY_LIMIT edges later.
    #[track_caller]
    fn expires(&self, step: &str, start: usize) {
        let before = self.output(start + 1, "a_replay_num");
        for cycle in start + 1..=start + REPLAY_LIMIT {
            self.shows(step, cycle, [("a_replay_num", before)]);
        }
        let expired = start + REPLAY_LIMIT;
        self.rule(step, expired, "A9");
        self.shows(step, expired + 1, [("a_replay_num", (before + 1) % 4)]);
        // What is on offer stays, then the oldest TLP follows.
        let oldest = (self.output(expired, "a_ackd_seq") + 1) % 4096;
        self.shows(step, expired + 2, [("a_link_valid", 1), ("a_link_seq", oldest)]);
    }

    /// REPLAY_TIMER starts again at an edge: it expires REPLAY_LIMIT edges later if every DLLP that B
    /// hands over from there on is lost.
    #[track_caller]
    fn restarts(&self, step: &str, edge: usize) {
        let handed_over = |nak: u64| {
            let taken = |cycle: &usize| {
                self.output(*cycle, "b_dllp_valid") & self.input(*cycle, "b_dllp_ready") == 1
                    && self.output(*cycle, "b_dllp_nak") == nak
            };
            (0..edge).filter(taken).count()
        };
        let traffic = Traffic {
            ack_link: then_lost(&self.vector.ack_link, handed_over(0)),
            nak_link: then_lost(&self.vector.nak_link, handed_over(1)),
            ..self.vector.clone()
        };
        let who = format!("{}, step {step}, unheard", self.who);
        let cycles = run(&who, &traffic, &self.parameters);
        let unheard = Story {
            who,
            vector: &traffic,
            cycles: &cycles,
            parameters: self.parameters,
            side: self.side,
            now: edge,
        };
        unheard.expires(step, edge);
    }

    /// Outputs in a cycle.
    #[track_caller]
    fn shows<const N: usize>(&self, step: &str, cycle: usize, expected: [(&str, u64); N]) {
        for (name, expected) in expected {
            let seen = self.output(cycle, name);
            assert_eq!(seen, expected, "{}, step {step}: {name} in cycle {cycle}", self.who);
        }
    }

    /// B offers this DLLP in a cycle.
    #[track_caller]
    fn answers(&self, step: &str, cycle: usize, nak: u64, seq: u64) {
        self.shows(step, cycle, [("b_dllp_valid", 1), ("b_dllp_nak", nak), ("b_dllp_seq", seq)]);
    }

    /// B offers no DLLP from one cycle to before another.
    #[track_caller]
    fn silent(&self, step: &str, from: usize, to: usize) {
        for cycle in from..to {
            self.shows(step, cycle, [("b_dllp_valid", 0)]);
        }
    }
}
