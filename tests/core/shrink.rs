//! Tests cancelling a shrink.

use cosim::blocks::thread2::Thread2;
use cosim_block::built::Built;
use cosim_core::engine::{BlockEngine, RunBlock, ShrinkProgress};
use cosim_core::harness::{Drive, Stimulus, Watch};
use cosim_core::vector::{Vector, VectorFile, parse};
use std::path::Path;

/// Cancels the search after the first kept candidate.
struct Impatient<'a>(&'a Watch, u64);

impl ShrinkProgress for Impatient<'_> {
    fn candidate(&mut self, candidates: u64, kept: u64) {
        assert!(!self.0.is_cancelled(), "candidate {candidates} came after the end");
        if kept == 1 {
            self.0.cancel();
            self.1 = candidates;
        }
    }
}

#[test]
fn a_cancelled_search_ends_at_once_with_its_best_result() {
    let text = include_str!("../../vectors/thread2/f5b-off-last-unit-of-a-send-hangs.json");
    let vector = parse::<Thread2>(text, Path::new("f5b")).unwrap();
    let Drive::Traffic(mut traffic) = vector.stimulus.drive else { panic!("raw pins") };
    let packet = traffic.packets[0].clone();
    traffic.packets = vec![packet; 100];
    let long: Vector<Thread2> = Vector {
        stimulus: Stimulus::traffic(traffic),
        ..parse::<Thread2>(text, Path::new("f5b")).unwrap()
    };
    let file = VectorFile::from_text(long.to_text().unwrap(), Path::new("long")).unwrap();
    let loaded = BlockEngine::<Thread2>::NEW.typed(&file).unwrap();
    let watch = Watch::default();
    let mut impatient = Impatient(&watch, 0);
    let shrunk = loaded.shrink("spec", &Built::Linked, 1 << 24, &watch, &mut impatient).unwrap();
    let small = parse::<Thread2>(&shrunk.text, Path::new("small")).unwrap();
    let Drive::Traffic(traffic) = small.stimulus.drive else { panic!("raw pins") };
    assert!(traffic.packets.len() < 100, "{} packets", traffic.packets.len());
    assert_eq!((shrunk.candidates, shrunk.out_of_budget), (impatient.1, true));
    assert_eq!(shrunk.outcome.verdict.name(), "hang");
}
