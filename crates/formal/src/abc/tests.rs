//! Questions to ABC, with answers that are kept.

use super::*;
use crate::portfolio::{Attempt, INDUCTION_BASE, INDUCTION_STEP};
use cosim_rtl::answers::Answers;
use cosim_rtl::answers::store::Store;
use tempfile::TempDir;

/// The output is 1 in the second cycle behind reset if the input is 1 in the first.
const SEEN: (&[u8], &str) = (b"aig 2 1 1 1 0\n2\n4\n", "a");
/// The output is never 1: it is a register that begins with 0 and keeps its value.
const NEVER: (&[u8], &str) = (b"aig 2 1 1 1 0\n4\n4\n", "a");

struct Kept {
    folder: TempDir,
}

impl Kept {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// A session, as of a new process, with ABC of some version.
    fn workshop(&self, version: &str) -> YosysSession {
        let answers = Answers::new(Store::new(self.folder.path(), u64::MAX), version.to_owned());
        YosysSession::of_verilog("module top; endmodule").with_answers(answers)
    }
}

fn asked(workshop: &YosysSession, (file, input): (&[u8], &str), engines: Attempt) -> Answer {
    ask(workshop, "question", file, &[input.to_owned()], engines).unwrap()
}

#[test]
fn a_kept_answer_is_the_same_and_writes_no_file() {
    let kept = Kept::new();
    for question in [SEEN, NEVER] {
        let first = kept.workshop("1");
        let answer = asked(&first, question, INDUCTION_BASE);
        assert_eq!(first.answers().counts(), [1, 0]);
        let second = kept.workshop("1");
        // Without its folder a file would be an error.
        fs::remove_dir_all(second.path("")).unwrap();
        assert_eq!(asked(&second, question, INDUCTION_BASE), answer);
        assert_eq!(second.answers().counts(), [1, 1]);
        let renamed = asked(&second, (question.0, "b"), INDUCTION_BASE);
        assert_eq!(format!("{renamed:?}"), format!("{answer:?}").replace("\"a\"", "\"b\""));
    }
    assert!(matches!(asked(&kept.workshop("1"), SEEN, INDUCTION_BASE), Answer::Seen(_)));
}

#[test]
fn another_graph_engine_or_version_is_asked() {
    let kept = Kept::new();
    asked(&kept.workshop("1"), SEEN, INDUCTION_BASE);
    for (version, question, engines) in
        [("1", NEVER, INDUCTION_BASE), ("1", SEEN, INDUCTION_STEP), ("2", SEEN, INDUCTION_BASE)]
    {
        let workshop = kept.workshop(version);
        asked(&workshop, question, engines);
        assert_eq!(workshop.answers().counts(), [1, 0], "{version} {engines}");
    }
}

/// Nothing is shown in one frame, and whether that is kept depends on what ended ABC.
#[test]
fn an_answer_that_a_limit_of_time_may_have_ended_is_asked_again() {
    for (engines, is_kept) in [
        (Attempt { frames: 1, conflicts: None, ..INDUCTION_BASE }, true),
        (Attempt { frames: 1, conflicts: None, seconds: 0.000_001, ..INDUCTION_BASE }, false),
    ] {
        let kept = Kept::new();
        let answers = [(); 2].map(|()| {
            let workshop = kept.workshop("1");
            let answer = asked(&workshop, SEEN, engines);
            assert!(matches!(answer, Answer::Open { .. }), "{answer:?}");
            workshop.answers().counts()
        });
        assert_eq!(answers, [[1, 0], [1, u64::from(is_kept)]], "{engines}");
    }
}

#[test]
fn a_damaged_answer_is_ignored_and_replaced() {
    let kept = Kept::new();
    let answer = asked(&kept.workshop("1"), SEEN, INDUCTION_BASE);
    for entry in walkdir::WalkDir::new(kept.folder.path()) {
        let path = entry.unwrap().into_path();
        if path.is_file() {
            fs::write(path, "damaged").unwrap();
        }
    }
    for found in [0, 1] {
        let workshop = kept.workshop("1");
        assert_eq!(asked(&workshop, SEEN, INDUCTION_BASE), answer);
        assert_eq!(workshop.answers().counts(), [1, found]);
    }
}

#[test]
fn a_graph_is_made_once_of_a_netlist() {
    let kept = Kept::new();
    let graph_of = |width: u32, is_whole| {
        let workshop = kept.workshop("1");
        let text = format!(
            "module top(input clk, input [{width}:0] d, output reg [{width}:0] q);
             always @(posedge clk) q <= d;
             endmodule"
        );
        workshop.write("top.v", &text).unwrap();
        workshop.script("read_verilog top.v\nproc\nwrite_ilang top.il\n").unwrap();
        let make = if is_whole { whole_graph } else { graph };
        let made = make(&workshop, "top.il").unwrap();
        let [_, found] = workshop.answers().counts();
        (made, found == 1)
    };
    let (first, is_kept) = graph_of(1, false);
    assert!(!is_kept && first.text.starts_with("aag ") && !first.words.is_empty());
    assert_eq!(graph_of(1, false), (first.clone(), true));
    assert!(!graph_of(1, true).1, "made in another way");
    let (wider, is_kept) = graph_of(2, false);
    assert!(!is_kept && wider != first);
}
