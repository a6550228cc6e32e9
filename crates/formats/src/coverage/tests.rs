use super::*;
use cosim_base::checksum;
use cosim_harness::harness::{Case, Hits, Outcome, Verdict};
use proptest::prelude::*;

fn values(names: &[&str]) -> Vec<GroupValue> {
    let value = |name: &&str| GroupValue { name: (*name).to_owned(), meaning: format!("{name}!") };
    names.iter().map(value).collect()
}

fn axis(name: &str, names: &[&str]) -> GroupAxis {
    GroupAxis { name: name.to_owned(), values: values(names) }
}

/// Two rules and a cross of 2 x 3: bins 0 and 1, and 2 to 7. Bin 7 is unreachable.
fn empty() -> Database {
    let group = |name: &str, axes| Group { name: name.to_owned(), about: String::new(), axes };
    let size = axis("size", &["S", "M", "L"]);
    let unreachable = BTreeMap::from([(7, "no large ones are green".to_owned())]);
    let parameters = BTreeMap::new();
    let profile = ProfileBins { fixes: "0x00".to_owned(), parameters, unreachable };
    Database {
        block: "toy".to_owned(),
        groups: vec![
            group("rules", vec![axis("rule", &["T1", "T2"])]),
            group("both", vec![axis("colour", &["red", "green"]), size]),
        ],
        profiles: BTreeMap::from([("spec".to_owned(), profile)]),
        code: BTreeMap::new(),
        parts: BTreeSet::new(),
        finds: BTreeSet::new(),
    }
}

fn run(seed: u64) -> Run {
    Run { build: "b".to_owned(), rtl: "r".to_owned(), seed, packets: None }
}

fn recorder(seed: u64) -> Recorder {
    let scenarios = vec![("one".to_owned(), "w1".to_owned()), ("two".to_owned(), "w2".to_owned())];
    Recorder::new(empty(), run(seed), vec!["spec".to_owned()], scenarios)
}

/// The case at a position of a plan with one profile and two scenarios.
fn case(place: u64) -> Case {
    let scenario = (place % 2) as usize;
    let name = format!("toy/spec/{}/{}", ["one", "two"][scenario], place / 2);
    Case { place, profile: 0, scenario, name, seed: 0 }
}

fn outcome(cycles: u64, hit: &[usize]) -> Outcome {
    let mut hits = [0; 8];
    hit.iter().for_each(|bin| hits[*bin] += 1);
    Outcome { cycles, hits: Hits::from_counts(&hits), ..Outcome::without_cycles(Verdict::Match) }
}

#[test]
fn bins_have_the_names_of_their_values() {
    let database = empty();
    assert_eq!(database.bins(), 8);
    assert_eq!(database.bin_name(1), "rules: T2");
    assert_eq!(database.bin_name(2), "both: red, S");
    assert_eq!(database.bin_name(6), "both: green, M");
    let (group, bin) = database.group_of(6).unwrap();
    assert_eq!(group.bin_meaning(bin), "colour: green!; size: M!");
    assert_eq!(database.group_of(8), None);
}

#[test]
fn hits_of_cases_add_up_and_unreachable_bins_do_not_count() {
    let mut recorder = recorder(1);
    recorder.add(&case(0), &outcome(10, &[0, 2, 2]));
    recorder.add(&case(1), &outcome(20, &[0, 3]));
    recorder.add(&case(2), &outcome(30, &[2, 4]));
    let database = recorder.database();
    let covered = database.covered("spec");
    assert_eq!(covered.hits, [2, 0, 3, 1, 1, 0, 0, 0]);
    // 4 of 7: 571 of 1000, rounded down.
    assert_eq!((covered.hit, covered.reachable, covered.uncovered()), (4, 7, 3));
    assert_eq!(covered.percent(), "57.1 %");
    assert_eq!(database.uncovered("spec", &covered), [1, 5, 6]);
    assert!(covered.reaches(57.1) && !covered.reaches(57.2));
    // Two parts: scenario `one` with cases 0 and 1, `two` with case 0.
    let cases: Vec<_> = database
        .parts
        .iter()
        .map(|part| (&*part.scenario, part.cases.count, part.cycles))
        .collect();
    assert_eq!(cases, [("one", 2, 40), ("two", 1, 20)]);
}

#[test]
fn a_hundred_percent_is_all_and_nothing_less() {
    let of = |hit, reachable| ProfileCoverage { hits: Vec::new(), reachable, hit }.percent();
    assert_eq!(of(10_000, 10_000), "100 %");
    assert_eq!(of(9_999, 10_000), "99.9 %");
    assert_eq!(of(0, 3), "0.0 %");
    assert_eq!(of(0, 0), "0.0 %");
    let reaches =
        |hit, reachable| ProfileCoverage { hits: Vec::new(), reachable, hit }.reaches(0.0);
    assert!(reaches(0, 3) && !reaches(0, 0));
}

#[test]
fn cases_that_hit_something_new_are_kept_with_all_that_they_hit() {
    let mut recorder = recorder(1);
    recorder.add(&case(0), &outcome(10, &[0, 2]));
    recorder.add(&case(1), &outcome(20, &[0, 2]));
    recorder.add(&case(2), &outcome(30, &[0, 3]));
    let finds: Vec<_> = recorder.database().finds.into_iter().collect();
    let reported: Vec<_> = finds.iter().map(|find| (&*find.name, find.new, &*find.bins)).collect();
    assert_eq!(reported, [("toy/spec/one/0", 2, &[0, 2][..]), ("toy/spec/one/1", 1, &[0, 3])]);
}

#[test]
fn shards_are_the_whole() {
    let all: Vec<Outcome> = (0..10).map(|at| outcome(at, &[at as usize % 7])).collect();
    let of = |places: &[u64]| {
        let mut recorder = recorder(1);
        for place in places {
            recorder.add(&case(*place), &all[*place as usize]);
        }
        recorder.database()
    };
    let whole = of(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let shards = [of(&[0, 3, 6, 9]), of(&[1, 4, 7]), of(&[2, 5, 8])];
    let [first, second, third] = shards;
    let merged = first.clone().merge(second).unwrap().merge(third).unwrap();
    assert_eq!(merged.covered("spec"), whole.covered("spec"));
    // The whole run contains every case of its shards, so they add nothing.
    let with_first = whole.clone().merge(first).unwrap();
    assert_eq!(with_first.parts, whole.parts);
    assert_eq!(merged.merge(whole.clone()).unwrap().parts, whole.parts);
}

#[test]
fn cases_of_two_seeds_or_weights_are_not_the_same() {
    let of = |seed: u64| {
        let mut recorder = recorder(seed);
        recorder.add(&case(0), &outcome(1, &[4]));
        recorder.database()
    };
    let mut heavy = of(1);
    let with_weights = |part| ScenarioCoverage { weights: "w3".to_owned(), ..part };
    heavy.parts = heavy.parts.into_iter().map(with_weights).collect();
    for other in [of(2), heavy] {
        let merged = of(1).merge(other).unwrap().merge(of(1)).unwrap();
        assert_eq!(merged.covered("spec").hits[4], 2);
    }
}

#[test]
fn cases_in_two_parts_count_once_although_neither_part_has_all_of_the_other() {
    let of = |places: std::ops::Range<u64>| {
        let mut recorder = recorder(1);
        for place in places.map(|index| 2 * index) {
            recorder.add(&case(place), &outcome(1, &[4]));
        }
        recorder.database()
    };
    // Cases 0, 1, 2 and 2, 3: only the larger part counts.
    let merged = of(0..3).merge(of(2..4)).unwrap();
    assert_eq!(merged.parts.len(), 2);
    assert_eq!(merged.covered("spec").hits[4], 3);
}

#[test]
fn what_has_other_bins_is_not_merged() {
    let mut other = empty();
    other.block = "dot".to_owned();
    let wrong = empty().merge(other).unwrap_err();
    assert_eq!(wrong, MergeError::Blocks("toy".to_owned(), "dot".to_owned()));
    let mut other = empty();
    other.groups[1].axes[0].values[0].name = "blue".to_owned();
    assert_eq!(empty().merge(other).unwrap_err(), MergeError::Groups("both".to_owned()));
    let mut other = empty();
    other.profiles.get_mut("spec").unwrap().unreachable.clear();
    assert_eq!(empty().merge(other).unwrap_err(), MergeError::Profile("spec".to_owned()));
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let mut recorder = recorder(3);
    recorder.add(&case(0), &outcome(10, &[0, 2, 2]));
    recorder.add(&case(3), &outcome(20, &[0, 3]));
    let database = recorder.database();
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("c.json");
    database.write(&path).unwrap();
    assert_eq!(Database::read(&path).unwrap(), database);
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, _) = text.rsplit_once("\"checksum\"").unwrap();
    let error = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let error = Database::read(&path).unwrap_err();
        assert_eq!(error.code().exit(), 2);
        error.to_string()
    };
    // Without a checksum it is no record, whatever its version.
    let bare = format!("{}\n}}\n", before.trim_end().trim_end_matches(','));
    assert!(error(&bare).contains("checksum"));
    for version in ["0", "2", "3"] {
        let version = format!("\"version\": {version}");
        for text in [&bare, &text] {
            let message = error(&text.replacen("\"version\": 1", &version, 1));
            assert!(message.contains("version is"), "{message}");
        }
    }
    for (from, to, expected) in [
        ("\"seed\":3", "\"seed\":4", "checksum"),
        ("cosim-coverage", "cosim-cover", "cosim-coverage"),
    ] {
        let message = error(&text.replacen(from, to, 1));
        assert!(message.contains(expected), "{message}");
    }
    // Contents that no run writes, with their checksum.
    for (from, to, expected) in [
        // One hit more than the sum of the parts.
        ("\"hits\":[2,", "\"hits\":[3,", "its hits are not the sum of those of its parts"),
        ("\"hits\":[2,", "\"hits\":[", "does not have the hits of 8 bins"),
        ("\"bins\":[0,2]", "\"bins\":[0,8]", "expected rising numbers below 8"),
        ("\"count\":1}", "\"count\":0}", "expected 1 case or more"),
        ("\"run\":0", "\"run\":1", "there is no run 1"),
    ] {
        let changed = before.replacen(from, to, 1);
        assert_ne!(changed, before, "{from}");
        let message = error(&checksum::sealed(changed).0);
        assert!(message.contains(expected), "{message}");
    }
}

/// The bins that a case hits.
fn of_case(seed: u64, index: u64) -> [usize; 2] {
    [(index * 3 + seed) as usize % 7, index as usize % 7]
}

/// Hit counts of all cases in a database, each counted once.
fn of_all_cases(database: &Database) -> Vec<u64> {
    let indices = |part: &ScenarioCoverage| {
        let Indices { first, step, count } = part.cases;
        let seed = part.run.seed;
        (0..count).map(move |place| (seed, first + place * step)).collect::<Vec<_>>()
    };
    let cases: BTreeSet<(u64, u64)> = database.parts.iter().flat_map(indices).collect();
    let mut hits = vec![0; database.bins()];
    cases.into_iter().flat_map(|(seed, index)| of_case(seed, index)).for_each(|bin| hits[bin] += 1);
    hits
}

/// A database of cases of two runs. The number of a case determines its hits.
fn some() -> impl Strategy<Value = Database> {
    let part = (0..2u64, 0..6u64, 1..4u64, 1..5u64);
    prop::collection::vec(part, 0..4).prop_map(|parts| {
        let mut database = empty();
        for (seed, first, step, count) in parts {
            let mut recorder = recorder(seed);
            for place in 0..count {
                let index = first + place * step;
                recorder.add(&case(2 * index), &outcome(1 + index % 3, &of_case(seed, index)));
            }
            database = database.merge(recorder.database()).unwrap();
        }
        database
    })
}

proptest! {
    #[test]
    fn merging_is_commutative_associative_and_idempotent(a in some(), b in some(), c in some()) {
        let merge = |a: &Database, b: &Database| a.clone().merge(b.clone()).unwrap();
        prop_assert_eq!(merge(&a, &b), merge(&b, &a));
        prop_assert_eq!(merge(&merge(&a, &b), &c), merge(&a, &merge(&b, &c)));
        prop_assert_eq!(merge(&a, &a), a.clone());
        // A bin is hit exactly if some case hits it, and no case counts twice.
        let both = merge(&a, &b);
        for (reported, hits) in both.covered("spec").hits.into_iter().zip(of_all_cases(&both)) {
            prop_assert_eq!(reported > 0, hits > 0);
            prop_assert!(reported <= hits);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(from in 0usize..2000, to in any::<u8>()) {
        let mut recorder = recorder(3);
        recorder.add(&case(0), &outcome(10, &[0, 2, 2]));
        let mut bytes = recorder.database().to_text().unwrap().into_bytes();
        let at = from % bytes.len();
        bytes[at] = to;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, bytes).unwrap();
        let _ = Database::read(file.path());
    }
}
