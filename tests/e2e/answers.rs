//! Cached answers of Yosys and ABC: results are the same with and without them, and no query runs
//! twice.

use crate::common::{Place, assert_contains, files, script};
use std::env;
use std::fs;

/// A place with a private cache, and an ABC that counts its starts.
struct Bench(Place);

impl Bench {
    fn new(place: Place) -> Self {
        script(&place.path("yosys"), "exec \"$REAL\" \"$@\"");
        let abc = "echo started >>\"$STARTS\"\nexec \"$REAL-abc\" \"$@\"";
        script(&place.path("yosys-abc"), abc);
        Self(place)
    }

    /// A line behind the variables that name cache and programs.
    fn line(&self, line: &str) -> String {
        let real = env::var("YOSYS").unwrap_or_else(|_| "yosys".to_owned());
        let [cache, starts, yosys] =
            ["cache", "starts", "yosys"].map(|name| self.0.path(name).display().to_string());
        format!("COSIM_CACHE={cache} STARTS={starts} YOSYS={yosys} REAL={real} {line}")
    }

    #[track_caller]
    fn exits(&self, code: i32, line: &str) -> String {
        self.0.exits(code, &self.line(line))
    }

    /// The number of starts of ABC since the last call.
    fn starts(&self) -> usize {
        let text = fs::read_to_string(self.0.path("starts")).unwrap_or_default();
        let _ = fs::remove_file(self.0.path("starts"));
        text.lines().count()
    }

    fn cache(&self, action: &str) -> serde_json::Value {
        self.0.json_of(0, &self.line(&format!("cache {action}")))
    }

    /// The files of a result that must be reproducible, without the times of proofs and the
    /// checksum over them.
    fn result(&self, out: &str, name: &str, vectors: &str) -> Vec<Vec<String>> {
        let out = self.0.path(out);
        let vectors = files(&out.join(vectors), "json");
        let lines = |path| -> Vec<String> {
            let text = fs::read_to_string(path).unwrap();
            let is_timed = text.contains("\"seconds\": ");
            let is_kept = |line: &&str| {
                !is_timed || !["\"seconds\": ", "\"checksum\": "].iter().any(|no| line.contains(no))
            };
            text.lines().filter(is_kept).map(str::to_owned).collect()
        };
        [out.join(name)].into_iter().chain(vectors).map(lines).collect()
    }
}

/// The proof has a failing property, whose vector comes from a replay each time.
#[test]
fn a_second_proof_of_the_same_rtl_is_the_same_without_starting_abc() {
    let bench = Bench::new(Place::with_bug("recv/46-kept-dp-released"));
    let prove = "prove --block recv --fixes spec --only 'P21: ' --rtl rtl --out";
    let of = |out: &str| bench.result(out, "answers.json", "failures");

    bench.exits(1, &format!("{prove} first"));
    let proof = bench.0.json("first/answers.json");
    assert_eq!(proof["profiles"][0]["rows"][0]["status"], "failing", "{proof}");
    let starts = bench.starts();
    assert!(starts > 0);

    let second = bench.exits(1, &format!("{prove} second"));
    assert_eq!(bench.starts(), 0, "every answer is kept");
    assert!(of("second") == of("first"), "kept answers give another result");
    // The answers of ABC, and the network of the RTL.
    let requested = starts + 1;
    let reported = format!("{requested} of {requested} answers of Yosys and ABC were in the cache");
    assert_contains(&second, &[&reported]);

    bench.exits(1, &format!("{prove} third --no-cache"));
    assert_eq!(bench.starts(), starts, "all is asked again");
    assert!(of("third") == of("first"));

    // The `cache` command shows and clears them together with the compiled models.
    let number = &bench.cache("show")["answers"];
    assert!(number["number"].as_u64().unwrap() >= 2 && number["bytes"].as_u64().unwrap() > 0);
    let shown = format!("{} answers of Yosys and ABC", number["number"]);
    assert_contains(&bench.exits(0, "cache"), &[&shown]);
    assert_eq!(bench.cache("clear")["answers"], number["number"]);
    assert_eq!(bench.cache("show")["answers"]["number"], 0);
}

#[test]
#[ignore = "slow: four mutation analyses"]
fn a_mutation_analysis_is_the_same_with_cached_answers() {
    let bench = Bench::new(Place::new());
    let mutate = "mutate --block recv --fixes repaired --mutants 24 --cases 1 --scenario default \
                  --seed 5 --out";
    let starts = ["first", "second", "third --no-cache"].map(|words| {
        bench.exits(0, &format!("{mutate} {words}"));
        let of = |out: &str| bench.result(out, "mutate.json", "mutants");
        let out = words.split(' ').next().unwrap();
        assert!(of(out) == of("first"), "{out} is another grading");
        bench.starts()
    });
    // Queries that reached the time limit run again.
    assert!(starts[1] * 4 < starts[0] && starts[1] * 4 < starts[2], "{starts:?}");
}

/// The folder of answers is a file. The proof is the same, and a warning says what to do.
#[test]
fn answers_that_cannot_be_stored_are_a_warning() {
    let bench = Bench::new(Place::new());
    bench.0.write("cache/answers", "");
    let prove = "prove --block recv --fixes spec --only 'release_id is 0' --out out";
    let printed = bench.exits(0, prove);
    assert_eq!(printed.matches("warning: ").count(), 1, "{printed}");
    assert_contains(&printed, &["set COSIM_CACHE"]);
}
