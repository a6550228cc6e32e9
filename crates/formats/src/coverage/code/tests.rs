use super::super::{Database, Indices, Run, ScenarioCoverage};
use super::*;
use cosim_base::error::Error;
use cosim_block::points::Points;
use cosim_harness::harness::Document;
use std::collections::BTreeSet;
use verilated::Point as Counter;
use verilated_build::SourceFile;

fn counter(file: &str, line: u32, column: u32, kind: &str, what: &str, lines: &str) -> Counter {
    Counter {
        file: file.to_owned(),
        line,
        column,
        kind: kind.to_owned(),
        what: what.to_owned(),
        lines: lines.to_owned(),
    }
}

/// Counters of a module with two instances and of the wrapper, as Verilator 5.006 reports them.
fn counters() -> Vec<Counter> {
    vec![
        counter("@rtl/a.v", 10, 3, "v_line", "block", "10-12,15"),
        counter("@rtl/a.v", 13, 9, "v_branch", "if", "13-14"),
        counter("@rtl/a.v", 13, 10, "v_branch", "else", ""),
        counter("@rtl/a.v", 10, 3, "v_line", "block", "10-12,15"),
        counter("@rtl/sub/b.vh", 1, 1, "v_toggle", "q[0]", ""),
        counter("/tmp/cosim_registered.sv", 1, 1, "v_toggle", "q[0]", ""),
        counter("@rtl/a.v", 1, 1, "v_other", "cover", ""),
        counter("@rtl/a.v", 2, 1, "v_toggle", "clk", ""),
        counter("@rtl/a.v", 2, 1, "v_toggle", "clk:1->0", ""),
    ]
}

fn sources(points: &Points) -> Sources {
    let file =
        |name: &str, text: &str| SourceFile { name: name.into(), text: text.as_bytes().into() };
    let lines: String = (1..=16).map(|line| format!("  line {}\n", line / 2)).collect();
    let files = [file("@rtl/a.v", &lines), file("@rtl/sub/b.vh", "wire q;\n"), file("c.v", "")];
    Sources::new(&files, std::slice::from_ref(&points.all))
}

fn code() -> (Code, Sources) {
    let points = Points::new(&counters(), "clk", &[]);
    let sources = sources(&points);
    let mut all = points.all;
    sources.rename(&mut all);
    (Code { points: all, ..Code::default() }, sources)
}

fn run(seed: u64) -> Run {
    Run { build: "b".to_owned(), rtl: "r".to_owned(), seed, packets: None }
}

fn part(seed: u64, cases: Indices, reached: Option<&[(u32, u64)]>) -> ScenarioCoverage {
    ScenarioCoverage {
        run: run(seed),
        profile: "p".to_owned(),
        scenario: "s".to_owned(),
        weights: "w".to_owned(),
        cases,
        cycles: 1,
        hits: Vec::new(),
        reached: reached.map(<[_]>::to_vec),
    }
}

pub fn database(code: Code, parts: impl IntoIterator<Item = ScenarioCoverage>) -> Database {
    Database {
        block: "b".to_owned(),
        groups: Vec::new(),
        profiles: BTreeMap::new(),
        code: BTreeMap::from([(("r".to_owned(), "p".to_owned()), code)]),
        parts: parts.into_iter().collect(),
        finds: BTreeSet::new(),
    }
}

fn first(count: u64) -> Indices {
    Indices { first: 0, step: 1, count }
}

#[test]
fn instances_of_a_module_are_one_point_and_what_stands_around_it_is_none() {
    let points = Points::new(&counters(), "clk", &[]);
    let names: Vec<String> = points.all.iter().map(Point::place).collect();
    assert_eq!(
        names,
        [
            "@rtl/a.v:10, line block",
            "@rtl/a.v:13, branch if",
            "@rtl/a.v:13, branch else",
            "@rtl/sub/b.vh:1, toggle q[0]"
        ]
    );
    let reached = |counts: [u32; 9]| numbers(&points.reached(&counts)).collect::<Vec<_>>();
    assert_eq!(
        reached([0, 0, 7, 1, 0, 9, 9, 9, 9]),
        [0, 2],
        "the second instance went through the block"
    );
    assert_eq!(reached([0; 9]), [0usize; 0]);
    let always = [false, false, true, false, false, false, false, false, false];
    let points = Points::new(&counters(), "clk", &always);
    assert_eq!(numbers(&points.reached(&[0; 9])).collect::<Vec<_>>(), [2], "done once");
}

#[test]
fn lines_and_branches_are_those_of_the_lcov_file() {
    // Points: 0 the block, 1 `if`, 2 `else`, 3 the bit.
    let (code, _) = code();
    let database = database(code, [part(1, first(9), Some(&[(0, 9), (2, 4)]))]);
    let reached = database.reached();
    let lines: Vec<(u32, u64)> =
        reached[0].lines().iter().map(|((_, line), state)| (*line, state.hits)).collect();
    // Either side of its branch executes line 13; one side executes line 14.
    assert_eq!(lines, [(10, 9), (11, 9), (12, 9), (13, 4), (14, 0), (15, 9)]);
    assert_eq!(
        reached[0].shares().text(),
        "lines 83.3 % of 6, branches 50.0 % of 2, toggles 0.0 % of 1"
    );
    assert_eq!(reached[0].uncovered().map(Point::place).collect::<Vec<_>>(), ["a.v:13, branch if"]);
    let expected = "TN:\nSF:sources/a.v\nBRDA:13,0,0,0\nBRDA:13,0,1,4\nBRF:2\nBRH:1\nDA:10,9\nDA:11,9\nDA:12,9\nDA:13,4\n\
                    DA:14,0\nDA:15,9\nLF:6\nLH:5\nend_of_record\n";
    assert_eq!(lcov::text(&reached), expected);
}

#[test]
fn no_case_counts_twice_and_a_run_without_it_takes_nothing_away() {
    let (code, _) = code();
    let counted = |reached| database(code.clone(), [part(1, first(9), reached)]);
    let with = counted(Some(&[(0, 9)]));
    let without = Database { code: BTreeMap::new(), ..counted(None) };
    let more = database(code.clone(), [part(1, first(20), None)]);
    let merge = |one: &Database, other: &Database| one.clone().merge(other.clone()).unwrap();
    let both = merge(&with, &without);
    assert_eq!(both, merge(&without, &with));
    assert_eq!(both, merge(&both, &with));
    assert_eq!(both.reached()[0].hits, [9, 0, 0, 0]);
    // A part without code coverage does not hide hits of a smaller part.
    assert_eq!(merge(&with, &more).reached()[0].hits, [9, 0, 0, 0]);
    assert_eq!(merge(&more, &with), merge(&with, &more));
    // The same cases and additional ones.
    let all = database(code.clone(), [part(1, first(20), Some(&[(0, 20), (1, 1)]))]);
    assert_eq!(merge(&with, &all).reached()[0].hits, [20, 1, 0, 0]);
    // Another version of Verilator counts other points.
    let mut other = code.clone();
    other.points.pop();
    let other = database(other, [part(1, first(9), Some(&[]))]);
    assert!(with.merge(other).unwrap_err().to_string().contains("profile p"));
}

fn waivers(text: &'static str) -> Result<Waivers, Error> {
    Waivers::read(Document { path: "waivers.toml", text })
}

const IF: &str = "[[waiver]]\nfile = 'a.v'\nline = 'line 6'\nnumber = 2\npoint = 'branch if'\nreason = 'never'\n";

#[test]
fn a_waived_point_is_in_no_share_and_one_that_is_reached_is_reported() {
    let (mut code, sources) = code();
    let mut idle = Idle::default();
    waivers(IF).unwrap().apply("p", &mut code, &sources, &mut idle);
    assert_eq!(idle, Idle::default());
    let held = database(code.clone(), [part(1, first(9), Some(&[(0, 9), (2, 4), (3, 1)]))]);
    let text = held.shares().unwrap().text();
    // Only the branch executes line 14.
    assert_eq!(text, "lines 100 % of 5, branches 100 % of 1, toggles 100 % of 1, 1 point waived");
    assert_eq!(held.reached()[0].contradicted().count(), 0);
    assert!(!lcov::text(&held.reached()).contains("DA:14"));
    let broken = database(code, [part(1, first(9), Some(&[(0, 9), (1, 1)]))]);
    let reported: Vec<String> =
        broken.reached()[0].contradicted().map(|(point, why)| point.place() + why).collect();
    assert_eq!(reported, ["a.v:13, branch ifnever"]);
}

#[test]
fn a_waiver_about_nothing_says_so() {
    let idle = |from: &str, to: &str| {
        let (mut code, sources) = code();
        let text = Box::leak(IF.replace(from, to).into_boxed_str());
        let mut idle = Idle::default();
        waivers(text).unwrap().apply("p", &mut code, &sources, &mut idle);
        assert!(code.waived.is_empty());
        idle
    };
    let stale = |from: &str, to: &str| idle(from, to).stale.join("");
    let expected = "waivers.toml:1: profile p: ";
    assert_eq!(stale("line 6", "line 99"), format!("{expected}a.v has no line `line 99`"));
    assert_eq!(
        stale("number = 2\n", ""),
        format!("{expected}a.v has 2 lines `line 6`; choose one with `number`")
    );
    assert_eq!(
        stale("number = 2", "number = 3"),
        format!("{expected}a.v has only 2 lines `line 6`")
    );
    assert_eq!(stale("line 6", "line 5"), format!("{expected}a.v:11 has no point `branch if`"));
    assert_eq!(stale("a.v", "c.v"), format!("{expected}c.v has no line `line 6`"));
    // A waiver for another profile, and one for a point that this Verilator does not count.
    assert_eq!(idle("reason", "profiles = ['q']\nreason"), Idle::default());
    let uncounted = "a.v: `line 6` has no point `branch cond_then`".to_owned();
    let uncounted = vec![expected.to_owned() + &uncounted];
    let expected = Idle { stale: Vec::new(), uncounted };
    assert_eq!(idle("branch if", "branch cond_then"), expected);
}

#[test]
fn a_waiver_has_a_reason_and_no_other_key() {
    for (from, to, line, message) in [
        ("'never'", "' '", 1, "has no reason"),
        ("reason = 'never'\n", "", 1, "reason"),
        ("reason", "because", 6, "because"),
        ("'a.v'", "'a.v", 2, ""),
    ] {
        let text = Box::leak(IF.replace(from, to).into_boxed_str());
        let error = waivers(text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("waivers.toml:{line}:")), "{error}");
        assert!(error.contains(message), "{error}");
    }
}

/// Kinds that newer versions of Verilator count, as 5.048 reports them, and `cover` statements.
#[test]
fn expressions_states_arcs_and_cover_statements_are_groups_of_their_own() {
    let counters = [
        counter("@rtl/a.v", 8, 1, "v_line", "block", "8"),
        counter("@rtl/a.v", 8, 19, "v_expr", "(a==1 && b==1) => 1", ""),
        counter("@rtl/a.v", 8, 19, "v_expr", "(a==0) => 0", ""),
        counter("@rtl/a.v", 7, 10, "v_fsm_state", "cosim_registered.dut.st::IDLE", ""),
        counter("@rtl/a.v", 7, 10, "v_fsm_arc", "t.st::IDLE->RUN", ""),
        counter("@rtl/a.v", 15, 9, "v_user", "both", "15"),
        counter("@rtl/a.v", 16, 9, "v_user", "never", "16"),
    ];
    let points = Points::new(&counters, "clk", &[]);
    let place = |what: &str| {
        points.all.iter().position(|point| point.what == what).map(|place| place as u32).unwrap()
    };
    let hits = ["block", "(a==0) => 0", "st::IDLE", "both"].map(|what| (place(what), 3));
    let mut hits = hits.to_vec();
    hits.sort_unstable();
    let code = Code { points: points.all.clone(), ..Code::default() };
    let database = database(code, [part(1, first(3), Some(&hits))]);
    let reached = database.reached();
    assert_eq!(
        reached[0].shares().text(),
        "lines 100 % of 1, branches 100 % of 0, toggles 100 % of 0, expressions 50.0 % of 2, \
         states 100 % of 1, arcs 0.0 % of 1, cover statements 50.0 % of 2"
    );
    // A point of a line is none of its executions.
    let lines: Vec<u32> = reached[0].lines().keys().map(|(_, line)| *line).collect();
    assert_eq!(lines, [8]);
    let covers = reached[0].covers().map(|(point, hits)| (point.place(), hits));
    let expected = ["@rtl/a.v:15, cover both", "@rtl/a.v:16, cover never"].map(str::to_owned);
    assert!(covers.eq(expected.into_iter().zip([3, 0])));
    let uncovered: Vec<String> = reached[0].uncovered().map(Point::name).collect();
    let expected = ["arc st::IDLE->RUN", "expression (a==1 && b==1) => 1", "cover never"];
    assert_eq!(uncovered, expected);
    assert!(!lcov::text(&reached).contains("DA:15"));
}
