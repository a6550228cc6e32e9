//! Queries to engines and the cache of their replies.

use super::*;
use crate::answer::{Answer, NamedQuery};
use crate::certificate::{Flaw, certify};
use crate::ladder::{Aim, climb};
use crate::portfolio::{FIRST_CYCLES, INDUCTION_STEP, LONG_PROOF, PAIRS_OF_VALUES, SHORT_PROOF};
use cosim_aig::{Aig, EquivalenceQuery, Interface};
use cosim_rtl::answers::Answers;
use cosim_rtl::answers::store::Store;
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The output is 1 in the second cycle after reset if the input is 1 in the first.
const REACHED: (&[u8], &str) = (b"aig 2 1 1 1 0\n2\n4\n", "a");
/// The output is never 1: it is a register that begins with 0 and keeps its value.
const NEVER: (&[u8], &str) = (b"aig 2 1 1 1 0\n4\n4\n", "a");

struct Kept {
    folder: TempDir,
}

impl Kept {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// A new session that shares the cache, with this version of ABC.
    fn session(&self, version: &str) -> YosysSession {
        let answers = Answers::new(Store::new(self.folder.path(), u64::MAX), version.to_owned());
        YosysSession::from_verilog("module top; endmodule").with_answers(answers)
    }
}

fn answer_to(session: &YosysSession, (file, input): (&[u8], &str), engines: Attempt) -> Decision {
    decide(session, "question", file, &[input.to_owned()], engines).unwrap().0
}

#[test]
fn a_kept_answer_is_the_same_and_writes_no_file() {
    let kept = Kept::new();
    for named_query in [REACHED, NEVER] {
        let first = kept.session("1");
        let answer = answer_to(&first, named_query, FIRST_CYCLES);
        assert_eq!(first.answers().counts(), [1, 0]);
        let second = kept.session("1");
        // Without its folder, a session that runs ABC fails: the answer must come from the cache.
        fs::remove_dir_all(second.path("")).unwrap();
        assert_eq!(answer_to(&second, named_query, FIRST_CYCLES), answer);
        assert_eq!(second.answers().counts(), [1, 1]);
        let renamed = answer_to(&second, (named_query.0, "b"), FIRST_CYCLES);
        assert_eq!(format!("{renamed:?}"), format!("{answer:?}").replace("\"a\"", "\"b\""));
    }
    assert!(matches!(answer_to(&kept.session("1"), REACHED, FIRST_CYCLES), Decision::Reached(_)));
}

/// The third reply is of the cache.
#[test]
fn a_decision_names_its_command_and_its_depth() {
    let kept = Kept::new();
    for (named_query, attempt, engine, depth) in [
        (REACHED, FIRST_CYCLES, "ABC bmc3", Some(1)),
        (NEVER, FIRST_CYCLES, "ABC bmc3", None),
        (NEVER, INDUCTION_STEP, "ABC ind", Some(2)),
        (NEVER, LONG_PROOF, "ABC scorr -w; dc2; pdr", None),
    ] {
        for _ in 0..2 {
            let (file, input) = named_query;
            let inputs = [input.to_owned()];
            let (_, by) = decide(&kept.session("1"), "question", file, &inputs, attempt).unwrap();
            assert_eq!(by.engine, engine);
            assert!(depth.is_none() || by.depth == depth, "{by:?}");
        }
    }
}

/// A vector has a cycle, also if the output is already 1 in the reset cycle.
#[test]
fn a_trace_has_a_cycle_after_the_reset_cycle() {
    let at_once: (&[u8], &str) = (b"aig 2 1 1 1 0\n2\n2\n", "a");
    let answer = answer_to(&Kept::new().session("1"), at_once, FIRST_CYCLES);
    assert_eq!(answer, Decision::Reached(vec![Vec::new()]));
}

/// Whoever writes the cache can store a proof, but no certificate.
#[test]
fn a_false_proof_in_the_cache_is_not_certified() {
    let kept = Kept::new();
    let session = kept.session("1");
    let (file, _) = REACHED;
    for (engines, reply, flaw) in [
        (FIRST_CYCLES, Reply::Never(None), Flaw::Base),
        (SHORT_PROOF, Reply::Never(None), Flaw::Base),
        (SHORT_PROOF, Reply::Never(Some(Invariant::default())), Flaw::Safety),
    ] {
        let key = engines.engine.key(&engines);
        let parts: Vec<&[u8]> = key.iter().map(Vec::as_slice).chain([file]).collect();
        let slot = session.answers().look_up(&parts, |_| None::<()>);
        let CacheLookup::Missing(slot) = slot else { panic!("it is not read") };
        slot.keep(&serde_json::to_vec(&(reply, Decider::structure())).unwrap());
        let Decision::Never(evidence) = answer_to(&session, REACHED, engines) else {
            panic!("{engines:?}")
        };
        assert_eq!(certify(&session, "question", file, &evidence).unwrap(), Err(flaw));
    }
}

#[derive(Debug)]
struct FixedReply(Reply);

impl Engine for FixedReply {
    fn name(&self) -> &'static str {
        "the test"
    }

    fn key(&self, _: &Attempt) -> Vec<Vec<u8>> {
        vec![format!("{self:?}").into_bytes()]
    }

    fn run(&self, _: &YosysSession, _: &str, _: &[u8], _: &Attempt) -> Result<EngineRun, Error> {
        let decider = Decider::structure();
        Ok(EngineRun { reply: self.0.clone(), decider, is_repeatable: true })
    }

    fn evidence(&self, _: Option<Invariant>) -> Evidence {
        Evidence::Induction
    }
}

#[test]
fn a_trace_that_violates_nothing_is_no_counterexample_and_is_not_kept() {
    let kept = Kept::new();
    let seen = |trace: &str| {
        let engine: &'static FixedReply =
            Box::leak(Box::new(FixedReply(Reply::Reached(trace.to_owned()))));
        let attempt = Attempt { engine, ..FIRST_CYCLES };
        answer_to(&kept.session("1"), REACHED, attempt);
        let session = kept.session("1");
        let answer = answer_to(&session, REACHED, attempt);
        (matches!(answer, Decision::Reached(_)), session.answers().counts())
    };
    assert_eq!(seen("0\n1\n0# DONE\n"), (true, [1, 1]));
    for trace in ["0\n0\n0# DONE\n", "0\n0\n1\n", "0\n", "", "0\n11\n00\n"] {
        assert_eq!(seen(trace), (false, [1, 0]), "{trace:?}");
    }
}

/// The next query would be proved by the structure of its network.
#[test]
fn a_proof_that_the_second_solver_contradicts_ends_the_attempts() {
    const LIAR: &FixedReply = &FixedReply(Reply::Never(None));
    let wrong = Attempt { engine: LIAR, ..FIRST_CYCLES };
    let named_queries = |aim: Aim| {
        let query = match aim {
            Aim::Proof => EquivalenceQuery::Open {
                file: REACHED.0.to_vec(),
                inputs: vec![REACHED.1.to_owned()],
                latches: vec![Some(0)],
            },
            _ => EquivalenceQuery::Same,
        };
        Ok::<_, Error>(vec![NamedQuery { name: aim.name(), query }])
    };
    let found = |attempt| {
        let rungs = [(Aim::Proof, attempt), (Aim::Alone, FIRST_CYCLES)];
        climb(&Kept::new().session("1"), &rungs, named_queries).unwrap()
    };
    assert!(matches!(found(wrong), Answer::Disputed { .. }));
    assert!(found(FIRST_CYCLES).is_never());
}

/// The trace has the format that ABC writes.
#[test]
fn a_trace_begins_behind_the_cycle_in_reset() {
    let inputs = ["rst", "a[0]", "a[1]"].map(str::to_owned);
    let text = "000000\n100\n010\n011# DONE\n";
    let expected: [&[&str]; 2] = [&["a[0]"], &["a[0]", "a[1]"]];
    assert_eq!(read_trace(text, &inputs).unwrap(), expected);
    assert_eq!(read_trace("0\n1000\n0000\n", &inputs), None);
}

#[test]
fn a_reply_is_kept_without_the_names_of_inputs() {
    let seen = Reply::Reached("0\n10\n01\n".to_owned());
    let kept = serde_json::from_slice::<Reply>(&serde_json::to_vec(&seen).unwrap()).unwrap();
    assert_eq!(kept, seen);
    assert!(serde_json::from_slice::<Reply>(b"{}").is_err());
}

#[test]
fn another_graph_engine_or_version_is_a_new_question() {
    let kept = Kept::new();
    answer_to(&kept.session("1"), REACHED, FIRST_CYCLES);
    for (version, named_query, engines) in
        [("1", NEVER, FIRST_CYCLES), ("1", REACHED, INDUCTION_STEP), ("2", REACHED, FIRST_CYCLES)]
    {
        let session = kept.session(version);
        answer_to(&session, named_query, engines);
        assert_eq!(session.answers().counts(), [1, 0], "{version} {engines:?}");
    }
}

/// One frame decides nothing. Whether the reply is cached depends on the limit that stopped ABC.
#[test]
fn an_answer_that_a_limit_of_time_may_have_ended_is_not_kept() {
    let engines = Attempt { frames: 1, conflicts: None, ..FIRST_CYCLES };
    for (is_kept, left) in [(true, 600), (false, 0)] {
        let kept = Kept::new();
        let answers = [(); 2].map(|()| {
            let session = kept.session("1");
            let session = session.with_deadline(Instant::now() + Duration::from_secs(left));
            let answer = answer_to(&session, REACHED, engines);
            assert!(matches!(answer, Decision::Open { .. }), "{answer:?}");
            session.answers().counts()
        });
        assert_eq!(answers, [[1, 0], [1, u64::from(is_kept)]], "{engines:?}");
    }
}

#[test]
fn a_damaged_answer_is_ignored_and_replaced() {
    let kept = Kept::new();
    let answer = answer_to(&kept.session("1"), REACHED, FIRST_CYCLES);
    for entry in walkdir::WalkDir::new(kept.folder.path()) {
        let path = entry.unwrap().into_path();
        if path.is_file() {
            fs::write(path, "damaged").unwrap();
        }
    }
    for found in [0, 1] {
        let session = kept.session("1");
        assert_eq!(answer_to(&session, REACHED, FIRST_CYCLES), answer);
        assert_eq!(session.answers().counts(), [1, found]);
    }
}

/// A network of Verilog with the registers' initial values and the output `bad`.
fn network_of(session: &YosysSession, body: &str) -> Vec<u8> {
    let text = format!(
        "module top(input clk, input clear, input [15:0] d, output bad);\n{body}\nendmodule\n"
    );
    session.write("network.v", &text).unwrap();
    let script = "read_verilog network.v\nhierarchy -top top\nproc\nopt_clean\ntechmap\naigmap\n\
                  opt_clean\nwrite_aiger -zinit network.aig\n";
    session.script(script).unwrap();
    fs::read(session.path("network.aig")).unwrap()
}

/// A counter, and one whose bit 6 is inverted while bit 4 is 0: each takes 500 cycles.
fn counters(limit: u32) -> String {
    format!(
        "reg [8:0] a = 0, b = 0;
        wire [8:0] r = {{b[8:7], b[6] ^ ~b[4], b[5:0]}};
        wire last = r == {limit};
        always @(posedge clk) begin
          a <= clear || a == 499 ? 0 : a + 1;
          b <= clear || last ? 0 : r + 1;
        end
        assign bad = last != (a == 499);"
    )
}

/// Does the engine find every state, however rare what leads to it is, and no proof where there is
/// none?
#[test]
fn states_of_small_networks_are_a_certified_invariant() {
    let session = YosysSession::from_verilog("module top; endmodule");
    // Only a certain word leads on.
    let steps = |bad: u32| {
        format!(
            "reg [1:0] s = 0; always @(posedge clk) if (s == 0 && d == 16'hbeef) s <= 1;
            else if (s == 1 && d == 16'hcafe) s <= 2; else if (clear) s <= 0;
            assign bad = s == {bad};"
        )
    };
    let large = "reg [15:0] n = 0; always @(posedge clk) n <= n + d; assign bad = &n && !n[0];";
    let wide = "reg [48:0] n = 0; always @(posedge clk) n <= {n[47:0], clear}; assign bad = &n;";
    for (body, expected) in [
        (counters(499), ""),
        (counters(498), "violates the property"),
        (steps(3), ""),
        (steps(2), "violates the property"),
        (large.to_owned(), "too many states"),
        (wide.to_owned(), "too many registers"),
    ] {
        let file = network_of(&session, &body);
        let inputs = vec![String::new(); 17];
        match decide(&session, "states", &file, &inputs, PAIRS_OF_VALUES).unwrap().0 {
            Decision::Never(evidence) => {
                assert_eq!(expected, "", "{body}");
                let checked = certify(&session, "states", &file, &evidence).unwrap().unwrap();
                assert!(checked.is_there(), "{body}: {checked}");
            }
            Decision::Open { because, .. } => {
                assert!(!expected.is_empty() && because.contains(expected), "{body}: {because}");
            }
            Decision::Reached(_) => panic!("{body}"),
        }
    }
}

/// No assumption about mutants is false at once: an output that a mutation inverts differs in each
/// query, and one that it never changes does not.
#[test]
fn an_output_that_always_differs_is_reached_by_every_question() {
    // Inputs: rst, read, select, a; a register of `a`; y is the register, or its inverse while
    // select is 1, and `a`; the followed memory is written with the register.
    let text = "aag 9 4 1 6 4\n2\n4\n6\n8\n10 8\nY\n4\n10\n8\n10\n0\n\
                12 10 7\n14 11 6\n16 13 15\n18 17 8\n\
                i0 rst\ni1 read_1_of_1\ni2 select\ni3 a\n\
                o0 y\no1 z\no2 where_1_of_1\no3 enable_2_of_1\no4 data_2_of_1\no5 address_2_of_1\nc\n";
    let kept = Kept::new();
    let session = kept.session("1");
    let is_reached = |query: EquivalenceQuery| match query {
        EquivalenceQuery::Same => false,
        EquivalenceQuery::Open { file, inputs, .. } => {
            let found = decide(&session, "question", &file, &inputs, FIRST_CYCLES).unwrap();
            matches!(found, (Decision::Reached(_), _))
        }
    };
    let interface = Interface {
        reset: Some(("rst", true)),
        select: "select",
        read: "read_",
        read_at: ["where_", "when_"],
        read_reset: ["cleared_", "reset_"],
        write: ["enable_", "data_", "address_"],
        ..Interface::OURS
    };
    let words = BTreeMap::new();
    for (y, expected) in [("18", true), ("10", false)] {
        let aig = Aig::parse(&text.replace('Y', y)).unwrap();
        for interface in [interface, Interface { filled: true, ..interface }] {
            assert_eq!(is_reached(aig.query(&interface, 1)), expected);
            for hops in 0..2 {
                assert_eq!(is_reached(aig.nearby(&interface, 1, hops)), expected);
                let by_word = aig.by_word(&interface, 1, &words, Some(hops)).unwrap();
                assert_eq!(is_reached(by_word), expected);
            }
            assert_eq!(is_reached(aig.by_word(&interface, 1, &words, None).unwrap()), expected);
        }
    }
}
