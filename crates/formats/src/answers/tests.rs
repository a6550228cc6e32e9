use super::*;
use crate::coverage::code::Code;
use crate::coverage::{Database, ProfileBins};
use ProverCommand::{Close, Diff, Prove};
use cosim_base::run_file::RunFolder;
use cosim_formal::FIRST_CYCLE;
use std::fs;
use tempfile::TempDir;

fn proved_by(certificate: Certificate) -> AnswerStatus {
    AnswerStatus::from_proof(Proof::new(Traffic::Any, certificate))
}

fn proved() -> AnswerStatus {
    proved_by(Certificate::Induction { cycles: 2 })
}

fn believed() -> AnswerStatus {
    proved_by(Certificate::Nothing { because: "no solver".to_owned() })
}

fn bounded() -> AnswerStatus {
    AnswerStatus::Bounded { cycles: 30, traffic: Traffic::Any, because: None }
}

fn open() -> AnswerStatus {
    AnswerStatus::open("a limit")
}

fn disputed() -> AnswerStatus {
    AnswerStatus::Disputed { because: String::new() }
}

fn waived() -> AnswerStatus {
    AnswerStatus::Waived { reason: "never".to_owned() }
}

fn sample_inputs() -> FoundInputs {
    FoundInputs {
        found_by: "case c".to_owned(),
        verdict: "match".to_owned(),
        vector: RunFile::new(RunFolder::Saved, "v", "json"),
        difference: None,
    }
}

fn reached() -> AnswerStatus {
    AnswerStatus::Reached(sample_inputs())
}

fn failing() -> AnswerStatus {
    AnswerStatus::Failing(sample_inputs())
}

fn point(line: u32) -> Point {
    let (file, what, lines) = ("a.v".to_owned(), "if".to_owned(), String::new());
    Point { file, line, column: 1, kind: points::Kind::Branch, what, lines }
}

/// Answers about block `b`. Questions of `close` are about the branches of lines 1, 2 and so on.
fn record(command: ProverCommand, all: &[AnswerStatus]) -> AnswerRecord {
    let row = |(line, status): (u32, &AnswerStatus)| {
        let kind = QuestionKind::Point(points::Kind::Branch);
        let row = AnswerRow::new(kind, "something".to_owned(), status.clone());
        AnswerRow { point: (command == Close).then(|| point(line)), ..row }
    };
    let profile = ProfileAnswers {
        profile: "p".to_owned(),
        fixes: "0x00".to_owned(),
        parameters: BTreeMap::from([("N".to_owned(), 1)]),
        hit: BTreeMap::from([("branch".to_owned(), 7)]),
        excluded_bins: 2,
        rows: (1..).zip(all).map(row).collect(),
        ..ProfileAnswers::default()
    };
    let rtl = SubjectRtl { identity: "r".to_owned(), ..SubjectRtl::default() };
    let subject = Subject { command, block: "b".to_owned(), rtl, ..Subject::default() };
    AnswerRecord::new(subject, vec![profile])
}

#[test]
fn a_record_is_read_again_and_an_edited_one_is_not() {
    let folder = TempDir::new().unwrap();
    let written = record(Prove, &[proved(), open(), bounded(), failing(), waived()]);
    written.write(folder.path()).unwrap();
    let read = AnswerRecord::read(folder.path()).unwrap();
    assert_eq!(read.profiles, written.profiles);
    assert!(AnswerRecord::read_of(Close, folder.path()).is_err(), "it is of `prove`");
    let path = folder.path().join(ANSWERS);
    let text = fs::read_to_string(&path).unwrap();
    let edited = text.replace("\"open\"", "\"none\"");
    assert_ne!(edited, text);
    let (members, _) = text.rsplit_once(",\n\"checksum\"").unwrap();
    for (text, code) in [
        (edited, codes::DAMAGED),
        (format!("{members}\n}}\n"), codes::DAMAGED),
        (text.replace("\"version\": 1", "\"version\": 2"), codes::WRONG_FORMAT),
    ] {
        fs::write(&path, text).unwrap();
        assert_eq!(AnswerRecord::read(folder.path()).unwrap_err().code(), code);
    }
}

#[test]
fn a_verdict_is_that_of_the_worst_answer() {
    let interrupted = || AnswerStatus::open(INTERRUPTED);
    for (command, all, verdict, [exit, accepted]) in [
        (Prove, vec![], "FAIL", [1, 1]),
        (Prove, vec![proved()], "PASS", [0, 0]),
        (Prove, vec![proved(), reached()], "PASS", [0, 0]),
        (Prove, vec![proved(), believed()], "BELIEVED", [UNDECIDED, 0]),
        (Prove, vec![believed(), bounded()], "FAIL", [1, 1]),
        (Prove, vec![believed(), open()], "FAIL", [1, 1]),
        (Prove, vec![proved(), disputed()], "FAIL", [1, 1]),
        (Prove, vec![AnswerStatus::Unconfirmed(sample_inputs())], "FAIL", [1, 1]),
        (Prove, vec![proved(), interrupted()], "INTERRUPTED", [1, 1]),
        (Close, vec![], "closed", [0, 0]),
        (Close, vec![reached(), waived(), proved()], "closed", [0, 0]),
        (Close, vec![reached(), waived(), proved(), believed()], "believed", [UNDECIDED, 0]),
        (Close, vec![believed(), open()], "open", [UNDECIDED, UNDECIDED]),
        (Close, vec![proved(), open(), failing()], "FAILING", [1, 1]),
        (Diff, vec![proved()], "equivalent", [0, 0]),
        (Diff, vec![believed()], "believed", [UNDECIDED, 0]),
        (Diff, vec![open()], "undecided", [UNDECIDED, UNDECIDED]),
        (Diff, vec![failing()], "DIFFERENT", [1, 1]),
    ] {
        let mut record = record(command, &all);
        assert_eq!((record.verdict(), record.exit()), (verdict, exit), "{}", record.text(true));
        record.subject.accept_believed = true;
        assert_eq!(record.exit(), accepted, "{all:?}");
        // A believed answer stays one.
        let lists_believed = record.text(true).contains("not certified: no solver");
        assert_eq!(lists_believed, all.contains(&believed()));
    }
    let nothing = AnswerRecord { profiles: Vec::new(), ..record(Close, &[]) };
    assert_eq!((nothing.verdict(), nothing.exit()), ("open", UNDECIDED));
}

#[test]
fn a_property_that_is_not_proved_fails_unless_its_depth_is_accepted() {
    for (all, accept_bounded, exit) in [
        (vec![], Some(1), 1),
        (vec![bounded()], None, 1),
        (vec![bounded()], Some(31), 1),
        (vec![bounded()], Some(30), 0),
        (vec![proved(), bounded()], Some(1), 0),
        (vec![proved(), open()], Some(1), 1),
        (vec![proved(), disputed()], Some(1), 1),
    ] {
        let mut record = record(Prove, &all);
        record.subject.accept_bounded = accept_bounded;
        assert_eq!(record.exit(), exit, "{all:?}, {accept_bounded:?}");
    }
}

#[test]
fn an_answer_is_certain_only_with_a_certificate() {
    for (status, word) in [
        (proved(), "proved"),
        (proved_by(Certificate::Structure), "proved"),
        (believed(), "believed"),
    ] {
        let record = serde_json::to_value(&status).unwrap();
        assert_eq!((record["status"].as_str(), status.word()), (Some(word), word));
        assert_eq!(serde_json::from_value::<AnswerStatus>(record).unwrap(), status);
    }
    // A record that calls an answer without a certificate proved is not believed more.
    let text = serde_json::to_string(&believed()).unwrap().replace("believed", "proved");
    let read: AnswerStatus = serde_json::from_str(&text).unwrap();
    assert_eq!((read.word(), read.outcome(Some(1))), ("believed", Outcome::Believed));
    let counts = Counts::count_records([&record(Close, &[read])]);
    assert_eq!(counts, Counts { believed: 1, ..Counts::default() });
}

#[test]
fn answers_are_counted() {
    let mut all = record(Prove, &[proved(), believed(), bounded(), open(), disputed()]);
    let because = Some("two clocks".to_owned());
    all.profiles.push(ProfileAnswers { because, ..ProfileAnswers::default() });
    assert_eq!((all.verdict(), all.outcome()), ("FAIL", Outcome::Failing));
    let expected = "1 proved, 1 believed, 0 known hangs, 1 bounded, 3 failed";
    assert_eq!(Counts::count_records([&all]).to_string(), expected);

    let mut closed = record(Close, &[reached(), waived(), proved()]);
    let [_, (kind, counts), _, (_, bins)] = closed.profiles[0].table();
    let expected = Counts { hit: 7, reached: 1, proved: 1, waived: 1, ..Counts::default() };
    assert_eq!((kind, counts), ("branch", expected));
    assert_eq!(bins.waived, 2);
    assert!(!closed.text(true).contains("waivers of the block"));
    closed.profiles[0].rows[2].waiver = Some("why".to_owned());
    assert!(closed.text(true).contains("1 of the proofs replace waivers of the block"));
}

/// A proof says what it leaves out; the same netlist leaves out nothing.
#[test]
fn a_proof_names_the_first_cycle() {
    for (basis, has_first_cycle) in [
        (Basis::Text, false),
        (Basis::Netlist, false),
        (Basis::Correspondence, true),
        (Basis::Proof, true),
    ] {
        for traffic in [Traffic::Any, Traffic::Legal] {
            let proof = Proof::new(traffic, Certificate::Structure);
            let proof = Proof { basis: Some(basis), ..proof };
            let words = AnswerStatus::from_proof(proof).words();
            assert_eq!(words.contains(FIRST_CYCLE), has_first_cycle, "{words}");
        }
    }
}

fn database(block: &str, rtl: &str, fixes: &str, n: u64) -> Database {
    let bins = ProfileBins {
        fixes: fixes.to_owned(),
        parameters: BTreeMap::from([("N".to_owned(), n)]),
        unreachable: BTreeMap::new(),
    };
    let code = Code { points: (1..=4).map(point).collect(), ..Code::default() };
    Database {
        block: block.to_owned(),
        groups: Vec::new(),
        profiles: BTreeMap::from([("p".to_owned(), bins)]),
        code: BTreeMap::from([((rtl.to_owned(), "p".to_owned()), code)]),
        parts: Default::default(),
        finds: Default::default(),
    }
}

#[test]
fn a_proof_counts_for_the_same_rtl_and_parameters_with_a_certificate() {
    // Lines 1 and 2 are proved, line 3 without a certificate, and line 5 does not exist.
    let closed = record(Close, &[proved(), proved(), believed(), open(), proved()]);
    for (block, rtl, fixes, n, used, dropped) in [
        ("b", "r", "0x00", 1, 2, 2),
        ("b", "other", "0x00", 1, 0, 4),
        ("b", "r", "0x01", 1, 0, 4),
        ("b", "r", "0x00", 2, 0, 4),
        ("other", "r", "0x00", 1, 0, 4),
    ] {
        let mut database = database(block, rtl, fixes, n);
        let found = closed.apply_to("f", &mut database);
        assert_eq!(found.used, used, "{block} {rtl} {fixes} {n}");
        assert_eq!(found.dropped.values().sum::<u64>(), dropped, "{found:?}");
        let code = database.code.values().next().unwrap();
        assert_eq!((code.proved.len() as u64, code.waived.len() as u64), (used, used));
        assert!(found.lines().iter().all(|line| line.contains("f ")), "{found:?}");
    }
}
