//! Random numbers and register values before reset depend on the model alone.

use super::{Counter, CounterKind, Outputs, cycle, inputs, kind_of};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use verilated::{BeforeReset, Pins};

fn random() -> CounterKind {
    kind_of("random.v")
}

/// The outputs of cycles that draw random numbers.
fn drawn(model: &mut Counter, cycles: usize) -> Vec<u8> {
    let draw = |_| cycle(model, inputs(0, 1, 0)).unwrap();
    (0..cycles).map(draw).flat_map(|outputs| outputs.as_bytes().to_vec()).collect()
}

fn run_model(before_reset: BeforeReset) -> Vec<u8> {
    drawn(&mut random().create(before_reset).unwrap(), 40)
}

#[test]
fn a_seed_determines_the_random_numbers_of_a_model() {
    let [one, two] = [1, 2].map(|seed| run_model(BeforeReset::Random(seed)));
    assert_ne!(one, two);
    assert_eq!(one, run_model(BeforeReset::Random(1)), "whatever ran before");
    assert_ne!(run_model(BeforeReset::Random(0)), one, "0 is a seed like any other");
    assert_eq!(run_model(BeforeReset::Random(0)), run_model(BeforeReset::Random(0)));
    assert_eq!(run_model(BeforeReset::Ones), run_model(BeforeReset::Ones));
}

#[test]
fn registers_before_reset_are_random_by_the_seed() {
    let before = |seed| {
        let mut model = random().create(BeforeReset::Random(seed)).unwrap();
        let outputs: Outputs = cycle(&mut model, inputs(1, 0, 0)).unwrap();
        outputs.wide.words().to_vec()
    };
    let distinct: std::collections::HashSet<_> = (0..16).map(before).collect();
    assert_eq!(distinct.len(), 16, "two of 16 seeds agree in 70 bits: {distinct:?}");
    assert_eq!(before(3), before(3));
}

#[test]
fn models_of_one_thread_do_not_draw_from_each_other() {
    let expected = [5, 6].map(|seed| run_model(BeforeReset::Random(seed)));
    let mut models = [5, 6].map(|seed| random().create(BeforeReset::Random(seed)).unwrap());
    let mut found = [Vec::new(), Vec::new()];
    for _ in 0..40 {
        for (model, found) in models.iter_mut().zip(&mut found) {
            found.extend(drawn(model, 1));
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn a_model_draws_the_same_beside_other_threads_and_when_it_moves() {
    let expected = run_model(BeforeReset::Random(9));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // Other threads keep creating and seeding models.
        for seed in 0..3 {
            let done = &done;
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    drawn(&mut random().create(BeforeReset::Random(seed)).unwrap(), 2);
                }
            });
        }
        let mut found = Vec::new();
        let mut model = random().create(BeforeReset::Random(9)).unwrap();
        for _ in 0..8 {
            let (moved, part) = scope
                .spawn(move || {
                    let part = drawn(&mut model, 5);
                    (model, part)
                })
                .join()
                .unwrap();
            model = moved;
            found.extend(part);
        }
        done.store(true, Ordering::Relaxed);
        assert_eq!(found, expected);
    });
}

#[test]
fn a_seed_in_the_rtl_begins_its_numbers_anew() {
    let mut model = random().create(BeforeReset::Zeros).unwrap();
    let mut seeded = || {
        cycle(&mut model, inputs(1, 0, 0)).unwrap();
        cycle(&mut model, inputs(0, 0, 5)).unwrap();
        drawn(&mut model, 3)
    };
    assert_eq!(seeded(), seeded());
}

#[test]
fn a_model_does_not_see_the_files_of_the_one_before() {
    let descriptor = || {
        let mut model = random().create(BeforeReset::Zeros).unwrap();
        cycle(&mut model, inputs(0, 0, 6)).unwrap();
        cycle(&mut model, inputs(0, 0, 0)).unwrap().count.get()
    };
    let first = descriptor();
    assert_ne!(first, 0, "the file is open");
    assert_eq!(descriptor(), first, "descriptors are given anew");
}
