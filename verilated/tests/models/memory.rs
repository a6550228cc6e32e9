//! Memory errors: models with overlapping lifetimes, and checks that the memory checkers detect
//! faults.

use super::{Counter, CounterKind, Inputs, Outputs, cycle, inputs, kind, kind_of, library};
use std::cell::RefCell;
use std::env;
use std::process::{Command, Output};
use std::thread;
use verilated::{BeforeReset, Library, Model, Pins, Port};
use verilated_runtime::Tracing;

static_assertions::assert_not_impl_any!(Counter: Sync, Clone);
static_assertions::assert_impl_all!(Counter: Send);
static_assertions::assert_impl_all!(CounterKind: Send, Sync);

/// Models with overlapping lifetimes on one thread. Verilator stores the last context and takes
/// seeds, files and names from it.
#[test]
fn a_model_outlives_the_ones_after_it() {
    let mut first = kind_of("random.v").create(BeforeReset::Random(1)).unwrap();
    for tracing in [Tracing::Off, Tracing::Vcd] {
        let second = kind(tracing, false).create(BeforeReset::Ones).unwrap();
        drop(second);
        cycle(&mut first, inputs(0, 1, 0)).unwrap();
        cycle(&mut first, inputs(0, 1, 6)).unwrap();
    }
    thread::scope(|scope| scope.spawn(move || drop(first)).join().unwrap());
}

#[test]
fn a_model_that_a_thread_keeps_to_its_end_is_dropped_there() {
    thread_local!(static HELD: RefCell<Option<Counter>> = const { RefCell::new(None) });
    thread::spawn(|| {
        // The thread-local variable exists before those of Verilator.
        HELD.set(None);
        let mut model = kind(Tracing::Off, false).create(BeforeReset::Ones).unwrap();
        cycle(&mut model, inputs(1, 0, 0)).unwrap();
        HELD.set(Some(model));
    })
    .join()
    .unwrap();
}

#[test]
fn swapped_models_are_dropped_whole() {
    let kind = kind(Tracing::Off, true);
    let mut models = [BeforeReset::Zeros, BeforeReset::Ones].map(|before| {
        let mut model = kind.create(before).unwrap();
        cycle(&mut model, inputs(1, 0, 0)).unwrap();
        model
    });
    let [first, second] = &mut models;
    std::mem::swap(first, second);
    let [mut first, second] = models;
    drop(second);
    let outputs = cycle(&mut first, inputs(0, 1, 0)).unwrap();
    assert_eq!(outputs.wide.words()[2], 1 << 5, "the one whose registers held ones");
}

#[test]
fn bits_above_a_width_never_reach_the_model() {
    #[derive(Debug, Clone, Copy, Default)]
    #[repr(C)]
    struct Dirty([u8; 8]);
    // SAFETY: intentionally violates the trait's contract, to pass bits outside of ports to the
    // model. The struct has the right size and alignment.
    unsafe impl Pins for Dirty {
        const PORTS: &'static [Port] = Inputs::PORTS;
    }
    let library = Library::load(&library("loop.v", Tracing::Off, false)).unwrap();
    let mut model: Model<Dirty, Outputs> =
        library.kind().unwrap().create(BeforeReset::Zeros).unwrap();
    let mut outputs = Outputs::default();
    for _ in 0..2 {
        model.settle(&Dirty([0, 0xff, 0, 0, 0, 0, 0, 0]), &mut outputs).unwrap();
        model.edge().unwrap();
    }
    assert_eq!(outputs.count.get(), 7, "three bits of the port");
    let pins = Inputs::from_bytes(&[0xff; 8]);
    assert_eq!([pins.enable.get(), pins.misbehave.get(), pins.rst.get()], [1, 7, 1]);
}

/// Runs tests of this program by full name.
fn run(program: &mut Command, tests: &[&str]) -> (Output, String) {
    let output = program
        .args(["--exact", "--include-ignored", "--test-threads=1", "--nocapture"])
        .args(tests)
        .output()
        .expect("scripts/test installs what tests run");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let text = text.into_owned();
    (output, text)
}

fn valgrind() -> Command {
    let mut command = Command::new("valgrind");
    command
        .args(["--quiet", "--error-exitcode=99", "--leak-check=full"])
        .args(["--errors-for-leak-kinds=definite", "--show-leak-kinds=definite"])
        .arg(concat!("--suppressions=", env!("CARGO_MANIFEST_DIR"), "/tests/valgrind.supp"))
        .arg(env::current_exe().unwrap());
    command
}

#[test]
fn life_cycles_are_clean_under_valgrind() {
    let tests = [
        "a_batch_continues_where_the_last_one_ended",
        "a_batch_ends_at_the_first_difference_with_the_actual_outputs",
        "a_batch_names_the_cycle_in_which_a_model_stops",
        "a_model_counts_and_outputs_are_those_before_the_edge",
        "stopping_a_model_is_an_error_and_does_not_end_the_process",
        "traces_are_written_in_both_formats",
        "a_trace_that_cannot_be_written_is_an_error",
        "coverage_belongs_to_one_model",
        "memory::a_model_outlives_the_ones_after_it",
        "memory::a_model_that_a_thread_keeps_to_its_end_is_dropped_there",
        "memory::swapped_models_are_dropped_whole",
        "memory::bits_above_a_width_never_reach_the_model",
        "random::a_model_does_not_see_the_files_of_the_one_before",
    ];
    let (output, text) = run(&mut valgrind(), &tests);
    assert!(output.status.success(), "{text}");
    assert!(text.contains(&format!("{} passed", tests.len())), "{text}");
}

#[test]
fn valgrind_sees_faults() {
    for (fault, expected) in [
        ("read_beyond_the_end", "Invalid read of size 4"),
        ("leak", "400 bytes in 1 blocks are definitely lost"),
    ] {
        let (output, text) = run(&mut valgrind(), &[&format!("memory::faulty::{fault}")]);
        assert_eq!(output.status.code(), Some(99), "{fault}: {text}");
        assert!(text.contains(expected), "{fault}: {text}");
    }
}

#[test]
#[ignore = "run by `scripts/test sanitizers`, which builds it with them"]
fn sanitizers_see_faults() {
    for (fault, expected) in [
        ("read_beyond_the_end", "AddressSanitizer: heap-buffer-overflow"),
        ("overflow", "runtime error: signed integer overflow"),
        ("leak", "LeakSanitizer: detected memory leaks"),
    ] {
        let mut program = Command::new(env::current_exe().unwrap());
        let (output, text) = run(&mut program, &[&format!("memory::faulty::{fault}")]);
        assert!(!output.status.success() && text.contains(expected), "{fault}: {text}");
    }
}

/// Tests that commit the faults of `fault.v`. The tests above expect the checkers to detect them.
mod faulty {
    use super::{cycle, inputs, kind_of};
    use verilated::BeforeReset;

    fn commit(fault: u64) {
        let mut model = kind_of("fault.v").create(BeforeReset::Zeros).unwrap();
        cycle(&mut model, inputs(0, 0, fault)).unwrap();
    }

    #[test]
    #[ignore = "faulty: run by the tests that must see it"]
    fn read_beyond_the_end() {
        commit(1);
    }

    #[test]
    #[ignore = "faulty: run by the tests that must see it"]
    fn overflow() {
        commit(2);
    }

    #[test]
    #[ignore = "faulty: run by the tests that must see it"]
    fn leak() {
        commit(3);
    }
}
