//! Damaged, resumed and counted results.

use super::*;
use std::fs::File;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

fn report() -> Report {
    let mutation = |id| Mutation {
        id,
        mode: Mode::Inv,
        module: "top".to_owned(),
        cell: "c".to_owned(),
        port: "Y".to_owned(),
        bit: 0,
        control: None,
        signal: None,
        sources: Vec::new(),
    };
    let mut report = Report::new(Header {
        tool: String::new(),
        build: String::new(),
        yosys: String::new(),
        rtl: String::new(),
        given: Rtl::default(),
        block: "dma".to_owned(),
        profiles: vec!["spec".to_owned()],
        seed: 1,
        means: KillMethod::Compare,
        mutants: 3,
        run_seed: 1,
        cases: 4,
        packets: None,
        scenarios: Vec::new(),
        shard: Shard::WHOLE,
        in_diff: None,
        no_judge: false,
        min_score: None,
        accept_believed: false,
        solver: None,
    });
    report.profiles.push(ProfileGrading::new("spec", &[mutation(1), mutation(2)]));
    report
}

#[test]
fn a_damaged_grading_is_an_error_that_says_what_is_wrong() {
    type Change = fn(&mut Report);
    let folder = TempDir::new().unwrap();
    let read = |report: &Report| {
        report.write(folder.path()).unwrap();
        Report::read(folder.path())
    };
    assert_eq!(read(&report()).unwrap(), report());
    let changes: [Change; 9] = [
        |report| report.run.cases = 0,
        |report| report.run.cases = u64::MAX,
        |report| report.run.mutants = u32::MAX,
        |report| report.run.packets = Some(0),
        |report| report.run.profiles.clear(),
        |report| report.profiles.push(report.profiles[0].clone()),
        |report| report.run.mutants = 1,
        |report| report.profiles[0].score.killed = u64::MAX,
        |report| report.profiles[0].mutants.swap(0, 1),
    ];
    for change in changes {
        let mut report = report();
        change(&mut report);
        let error = read(&report).unwrap_err();
        assert_eq!(error.code(), codes::DAMAGED, "{error}");
    }
}

#[test]
fn edited_results_are_rejected() {
    let folder = TempDir::new().unwrap();
    let mut report = report();
    for name in [PARTIAL, RESULT] {
        report.complete = name == RESULT;
        report.write(folder.path()).unwrap();
        let path = folder.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        let edited = text.replacen("\"run_seed\": 1", "\"run_seed\": 2", 1);
        assert_ne!(edited, text);
        for wrong in [&edited, &text[..text.len() - 1]] {
            fs::write(&path, wrong).unwrap();
            assert_eq!(Report::read(folder.path()).unwrap_err().code().exit(), 2);
        }
        // Without its checksum it is no record, whatever its version.
        let (members, _) = text.rsplit_once(",\n\"checksum\"").unwrap();
        for (version, code) in
            [(0, codes::WRONG_FORMAT), (1, codes::DAMAGED), (2, codes::WRONG_FORMAT)]
        {
            let version = format!("\"version\": {version}");
            let bare = format!("{members}\n}}\n").replacen("\"version\": 1", &version, 1);
            fs::write(&path, bare).unwrap();
            assert_eq!(Report::read(folder.path()).unwrap_err().code(), code, "{version}");
        }
    }
}

#[test]
fn the_later_one_of_a_result_and_what_went_on_with_it_is_read() {
    let folder = TempDir::new().unwrap();
    let mut report = report();
    for (is_complete, seed) in [(true, 7), (false, 8)] {
        report.complete = is_complete;
        report.run.seed = seed;
        report.write(folder.path()).unwrap();
    }
    let later = |name: &str, seconds| {
        let time = SystemTime::now() + Duration::from_secs(seconds);
        File::options()
            .write(true)
            .open(folder.path().join(name))
            .unwrap()
            .set_modified(time)
            .unwrap();
    };
    later(PARTIAL, 10);
    assert_eq!(Report::read(folder.path()).unwrap().run.seed, 8);
    later(RESULT, 20);
    assert_eq!(Report::read(folder.path()).unwrap().run.seed, 7);
}

#[test]
fn what_the_judge_left_is_alive() {
    let mut report = report();
    assert_eq!(report.profiles[0].alive(), [1, 2]);
    report.set(0, [(1, MutantStatus::from_proof(Certificate::Structure))]);
    assert_eq!(report.profiles[0].alive(), [2]);
    assert_eq!(report.profiles[0].score.equivalent, 1);
}

#[test]
fn a_score_is_never_rounded_up() {
    for (part, whole, expected) in
        [(0, 0, 0.0), (0, 3, 0.0), (1, 3, 33.33), (1999, 2000, 99.95), (29_999, 30_000, 99.99)]
    {
        assert_eq!(percent(part, whole), expected, "{part} of {whole}");
    }
}

/// 0 of 0 is not a score.
#[test]
fn a_grading_in_which_there_is_nothing_to_find_fails() {
    let with = |shard: &str, mutants: usize, number: usize| {
        let mut report = report();
        report.run.shard = shard.parse().unwrap();
        report.profiles[0].mutants.truncate(mutants);
        let equivalent = MutantStatus::from_proof(Certificate::Structure);
        report.set(0, (1..=number as u32).map(|id| (id, equivalent.clone())));
        report
    };
    for (shard, mutants, equivalent, fails) in [
        ("1/1", 2, 1, false),
        ("1/1", 2, 2, true),
        ("1/1", 0, 0, true),
        ("2/2", 0, 0, true),
        // Other shards may have mutants that can be killed.
        ("2/2", 2, 2, false),
    ] {
        let report = with(shard, mutants, equivalent);
        for wanted in [None, Some(0.0)] {
            let failures = report.failures(wanted);
            assert_eq!(
                !failures.is_empty(),
                fails,
                "{shard}, {mutants}, {equivalent}: {failures:?}"
            );
        }
    }
}

#[test]
fn a_mutant_without_a_certificate_is_only_believed_equivalent() {
    let nothing = Certificate::Nothing { because: "no solver".to_owned() };
    let believed = MutantStatus::from_proof(nothing);
    let record = serde_json::to_string(&believed).unwrap();
    assert!(record.contains(r#""verdict":"believed""#), "{record}");
    let mut report = report();
    let killed = MutantStatus::Killed {
        case: String::new(),
        scenario: String::new(),
        by: String::new(),
        cycle: None,
    };
    report.set(0, [(1, killed), (2, believed.clone())]);
    let score = report.score();
    assert_eq!((score.equivalent, score.believed), (0, 1));
    assert_eq!(score.percent_without_equivalent, 50.0, "it is not excluded");
    assert_eq!([None, Some(100.0)].map(|wanted| report.exit(wanted)), [UNDECIDED, 1]);
    assert!(report.text().contains("; believed equivalent, not certified: no solver"));
    // The flag gives the score and the exit code of an equivalent mutant, and not its word.
    report.run.accept_believed = true;
    report.set(0, []);
    let score = report.score();
    assert_eq!((score.equivalent, score.believed), (0, 1));
    assert_eq!(score.percent_without_equivalent, 100.0);
    assert_eq!([None, Some(100.0)].map(|wanted| report.exit(wanted)), [0, 0]);
    assert!(report.text().contains("; believed equivalent, not certified: no solver"));
    // A record that calls it equivalent is not believed more.
    let read = serde_json::from_str(&record.replace("believed", "equivalent")).unwrap();
    report.set(0, [(2, read)]);
    assert_eq!((report.score().equivalent, report.score().believed), (0, 1));
    report.run.accept_believed = false;
    report.set(0, [(2, MutantStatus::from_proof(Certificate::Structure))]);
    assert_eq!((report.score().percent_without_equivalent, report.exit(Some(100.0))), (100.0, 0));
}
