//! Tests of the bindings on real models: life cycle, failures, traces, coverage, threads, memory.

#[path = "models/memory.rs"]
mod memory;
#[path = "models/random.rs"]
mod random;

use std::fs;
use std::path::Path;
use std::thread;
use tempfile::TempDir;
use verilated::{
    BatchEnd, BeforeReset, Bits, Error, Library, Model, ModelKind, Pin, Pins, Point, Port,
};
use verilated_build::{Design, Kept, LibraryCache, SourceFile};
use verilated_files::BuiltLibrary;
use verilated_runtime::{Tracing, Verilator};

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct Inputs {
    enable: Bits<1, u8>,
    misbehave: Bits<3, u8>,
    rst: Bits<1, u8>,
    padding: [u8; 5],
}

// SAFETY: the table lists the fields.
unsafe impl Pins for Inputs {
    const PORTS: &'static [Port] = &[
        Port { name: "enable", width: 1, offset: 0 },
        Port { name: "misbehave", width: 3, offset: 1 },
        Port { name: "rst", width: 1, offset: 2 },
    ];
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct Outputs {
    wide: Bits<70, [u32; 3]>,
    count: Bits<8, u8>,
    padding: [u8; 3],
}

// SAFETY: the table lists the fields.
unsafe impl Pins for Outputs {
    const PORTS: &'static [Port] = &[
        Port { name: "wide", width: 70, offset: 0 },
        Port { name: "count", width: 8, offset: 12 },
    ];
}

type Counter = Model<Inputs, Outputs>;
type CounterKind = ModelKind<Inputs, Outputs>;

fn library(file: &str, tracing: Tracing, coverage: bool) -> BuiltLibrary {
    library_driven(file, tracing, coverage, false)
}

fn library_driven(file: &str, tracing: Tracing, coverage: bool, registered: bool) -> BuiltLibrary {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("models");
    library_in(&folder, file, tracing, coverage, registered)
}

fn library_in(
    folder: &Path,
    file: &str,
    tracing: Tracing,
    coverage: bool,
    registered: bool,
) -> BuiltLibrary {
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rtl");
    let files = [file, "ports.vh"].map(|name| SourceFile {
        name: name.into(),
        text: fs::read(rtl.join(name)).unwrap().into(),
    });
    let design = Design {
        top: "counter".to_owned(),
        sources: vec![file.into()],
        prefix: "Vcounter".to_owned(),
        tracing,
        coverage,
        registered,
        ..Design::default()
    };
    let kept = Kept::new(folder, u64::MAX);
    let cache = LibraryCache::new(Verilator::find().unwrap(), env!("TEST_TARGET"), kept);
    cache.library(&design, &files, None).unwrap()
}

fn kind(tracing: Tracing, coverage: bool) -> CounterKind {
    Library::load(&library("counter.v", tracing, coverage)).unwrap().kind().unwrap()
}

fn kind_of(file: &str) -> CounterKind {
    Library::load(&library(file, Tracing::Off, false)).unwrap().kind().unwrap()
}

fn inputs(rst: u64, enable: u64, misbehave: u64) -> Inputs {
    Inputs {
        rst: Bits::new(rst),
        enable: Bits::new(enable),
        misbehave: Bits::new(misbehave),
        ..Inputs::default()
    }
}

fn cycle(model: &mut Counter, inputs: Inputs) -> Result<Outputs, Error> {
    let mut outputs = Outputs::default();
    model.settle(&inputs, &mut outputs)?;
    model.dump()?;
    model.edge()?;
    model.dump()?;
    Ok(outputs)
}

fn count(model: &mut Counter, cycles: u64) -> u64 {
    cycle(model, inputs(1, 0, 0)).unwrap();
    for _ in 0..cycles {
        cycle(model, inputs(0, 1, 0)).unwrap();
    }
    cycle(model, inputs(0, 0, 0)).unwrap().count.get()
}

#[test]
fn a_model_counts_and_outputs_are_those_before_the_edge() {
    let mut model = kind(Tracing::Off, false).create(BeforeReset::Zeros).unwrap();
    assert_eq!(count(&mut model, 0), 0);
    assert_eq!(cycle(&mut model, inputs(0, 1, 0)).unwrap().count.get(), 0);
    assert_eq!(cycle(&mut model, inputs(0, 0, 0)).unwrap().count.get(), 1);
    assert_eq!(count(&mut model, 300), 44, "8 bits wrap");
    let recorded = [inputs(1, 0, 0), inputs(0, 1, 0), inputs(0, 1, 0), inputs(0, 0, 0)];
    assert_eq!(model.run_recorded(&recorded).unwrap().count.get(), 2);
    assert_eq!(model.run_recorded(&[]).unwrap().count.get(), 0, "no cycle, no outputs");
    model.finish().unwrap();
}

/// The counter with registered inputs, and without.
fn both_ways() -> [CounterKind; 2] {
    [true, false].map(|registered| {
        let library = library_driven("counter.v", Tracing::Off, false, registered);
        let kind: CounterKind = Library::load(&library).unwrap().kind().unwrap();
        assert_eq!(kind.two_evaluations().is_none(), registered);
        kind
    })
}

/// A model after power-up, so that the following reset is an edge.
fn powered(kind: CounterKind) -> Counter {
    let mut model = kind.create(BeforeReset::Ones).unwrap();
    model.settle(&Inputs::default(), &mut Outputs::default()).unwrap();
    model
}

/// Reset and two counted cycles.
fn counted() -> ([Inputs; 4], [Outputs; 4]) {
    let outputs = |count: u64| Outputs {
        count: Bits::new(count),
        wide: Bits::from_words([count as u32, 0, 1 << 5]),
        ..Outputs::default()
    };
    let inputs = [inputs(1, 1, 0), inputs(0, 1, 0), inputs(0, 1, 0), inputs(0, 0, 0)];
    (inputs, [outputs(0), outputs(0), outputs(1), outputs(2)])
}

#[test]
fn a_batch_continues_where_the_last_one_ended() {
    let (inputs, expected) = counted();
    for kind in both_ways() {
        for cut in 0..=4 {
            let mut model = powered(kind);
            for range in [0..cut, cut..4] {
                let end = model.run_batch(&inputs[range.clone()], &expected[range], None);
                assert!(matches!(end, BatchEnd::Equal), "{end:?}");
            }
            // The edge of the last cycle, then a single cycle.
            model.edge().unwrap();
            let mut outputs = Outputs::default();
            model.settle(&inputs[1], &mut outputs).unwrap();
            assert_eq!(outputs.count.get(), 2);
            model.edge().unwrap();
            let end = model.run_batch(
                &inputs[3..],
                &[Outputs { count: Bits::new(3), ..expected[3] }],
                None,
            );
            assert!(matches!(end, BatchEnd::Differs { cycle: 0, .. }), "the wide port counts, too");
        }
    }
}

#[test]
fn a_batch_skips_exactly_the_open_bits() {
    let (inputs, expected) = counted();
    let mut other = expected;
    // Bit 7 of count differs in cycle 2, and bit 69 of wide in cycle 3.
    other[2].count = Bits::new(0x80 | other[2].count.get());
    other[3].wide = Bits::from_words([other[3].count.get() as u32, 0, 0]);
    let opens = |count: u64, wide: u32| {
        let open = Outputs {
            count: Bits::new(count),
            wide: Bits::from_words([0, 0, wide]),
            ..Outputs::default()
        };
        [open; 4]
    };
    for kind in both_ways() {
        let run = |open: &[Outputs; 4]| powered(kind).run_batch(&inputs, &other, Some(open));
        assert!(matches!(run(&opens(0x80, 1 << 5)), BatchEnd::Equal));
        assert!(matches!(run(&opens(0x7f, 1 << 5)), BatchEnd::Differs { cycle: 2, .. }));
        assert!(matches!(run(&opens(0x80, 1 << 4)), BatchEnd::Differs { cycle: 3, .. }));
    }
}

#[test]
fn pins_are_found_by_name_and_take_their_bits_only() {
    const COUNT: Pin<Outputs> = Pin::named("co", "unt");
    const WIDE: Pin<Outputs> = Pin::named("", "wide");
    assert!(Pin::<Outputs>::find("", "clk").is_none());
    let mut outputs = Outputs::default();
    COUNT.set(&mut outputs, 0x123);
    assert_eq!((COUNT.get(&outputs), outputs.count.get()), (0x23, 0x23));
    WIDE.set_words(&mut outputs, &[1, 2, u32::MAX]);
    assert_eq!(WIDE.words::<3>(&outputs), [1, 2, u32::MAX >> (96 - WIDE.width())]);
    assert_eq!(WIDE.get(&outputs), 2 << 32 | 1);
}

#[test]
fn a_batch_ends_at_the_first_difference_with_the_actual_outputs() {
    let (inputs, expected) = counted();
    for kind in both_ways() {
        for wrong in 0..4 {
            for port in ["count", "wide"] {
                let mut other = expected;
                match port {
                    "count" => other[wrong].count = Bits::new(0x80 | other[wrong].count.get()),
                    _ => other[wrong].wide = Bits::from_words([wrong as u32, 0, 0]),
                }
                let mut model = powered(kind);
                match model.run_batch(&inputs, &other, None) {
                    BatchEnd::Differs { cycle, actual } => {
                        assert_eq!((cycle, actual.count), (wrong, expected[wrong].count));
                        assert_eq!(actual.wide, expected[wrong].wide);
                    }
                    end => panic!("{port} of cycle {wrong}: {end:?}"),
                }
            }
        }
    }
}

#[test]
fn a_batch_names_the_cycle_in_which_a_model_stops() {
    let (mut inputs, expected) = counted();
    inputs[2] = self::inputs(0, 1, 1);
    for kind in both_ways() {
        let mut model = powered(kind);
        // The edge that ends cycle 2 comes with cycle 3.
        match model.run_batch(&inputs, &expected, None) {
            BatchEnd::Stopped { cycle: 3, error } => {
                assert!(error.to_string().contains("$finish"), "{error}");
            }
            end => panic!("{end:?}"),
        }
        let mut again = model.afresh().unwrap();
        again.settle(&Inputs::default(), &mut Outputs::default()).unwrap();
        assert!(matches!(again.run_batch(&inputs[..3], &expected[..3], None), BatchEnd::Equal));
    }
}

#[test]
fn registers_before_reset_have_the_requested_values() {
    for (before, expected) in [(BeforeReset::Zeros, 0), (BeforeReset::Ones, 1 << 5)] {
        let mut model = kind(Tracing::Off, false).create(before).unwrap();
        assert_eq!(cycle(&mut model, inputs(0, 0, 0)).unwrap().wide.words()[2], expected);
    }
}

#[test]
fn stopping_a_model_is_an_error_and_does_not_end_the_process() {
    for (misbehave, expected) in [
        (1, ["the RTL called $finish", "counter.v:15)"]),
        (2, ["the RTL called $stop", "counter.v:16)"]),
        (3, ["the RTL called $stop", "counter.v:17)"]),
    ] {
        let mut model = kind(Tracing::Off, false).create(BeforeReset::Zeros).unwrap();
        cycle(&mut model, inputs(1, 0, 0)).unwrap();
        let error = cycle(&mut model, inputs(0, 0, misbehave)).unwrap_err().to_string();
        for expected in expected {
            assert!(error.contains(expected), "{expected} in {error}");
        }
        let error = cycle(&mut model, inputs(0, 0, 0)).unwrap_err().to_string();
        assert_eq!(error, "the model has stopped");
    }
}

#[test]
fn a_loop_that_does_not_settle_is_an_error() {
    let mut model = kind_of("loop.v").create(BeforeReset::Zeros).unwrap();
    cycle(&mut model, inputs(1, 0, 0)).unwrap();
    let error = cycle(&mut model, inputs(0, 1, 0)).unwrap_err().to_string();
    assert!(error.contains("converge"), "{error}");
}

#[test]
fn other_ports_are_refused_by_name() {
    #[derive(Debug, Clone, Copy, Default)]
    #[repr(C)]
    struct Other {
        wide: Bits<71, [u32; 3]>,
        gone: Bits<8, u8>,
        padding: [u8; 3],
    }
    // SAFETY: the table lists the fields.
    unsafe impl Pins for Other {
        const PORTS: &'static [Port] = &[
            Port { name: "wide", width: 71, offset: 0 },
            Port { name: "gone", width: 8, offset: 12 },
        ];
    }
    let library = Library::load(&library("counter.v", Tracing::Off, false)).unwrap();
    let error = library.kind::<Inputs, Other>().unwrap_err().to_string();
    for expected in ["wide: 70 bits, expected 71", "gone: missing", "count: not expected"] {
        assert!(error.contains(expected), "{expected} in {error}");
    }
}

#[test]
fn traces_are_written_in_both_formats() {
    let folder = TempDir::new().unwrap();
    for (tracing, name) in [(Tracing::Vcd, "t.vcd"), (Tracing::Fst, "t.fst")] {
        let path = folder.path().join(name);
        let mut model = kind(tracing, false).create(BeforeReset::Zeros).unwrap();
        model.open_trace(&path).unwrap();
        count(&mut model, 3);
        model.close_trace().unwrap();
        // Each cycle takes two ticks. The edge that ends the first counting cycle is at 3.
        let (changes, end) = traced(&path, "counter.count");
        assert_eq!(changes, [(0, 0), (3, 1), (5, 2), (7, 3)], "{name}");
        let is_text = fs::read(&path).unwrap().starts_with(b"$");
        assert_eq!(is_text, name == "t.vcd", "{name}");
        assert_eq!(end, 9, "{name}: the cycle in reset, three that count, one that does not");
    }
}

/// The changes of a signal in a trace with their times, and the last time, read by another program.
fn traced(path: &Path, name: &str) -> (Vec<(u64, u64)>, u64) {
    let mut wave = wellen::simple::read(path).unwrap();
    let hierarchy = wave.hierarchy();
    let signal = hierarchy.all_vars().find_map(|variable| {
        let variable = &hierarchy[variable];
        variable.full_name(hierarchy).ends_with(name).then(|| variable.signal_ref())
    });
    let signal = signal.unwrap_or_else(|| panic!("{path:?} has no {name}"));
    wave.load_signals(&[signal]);
    let times = wave.time_table();
    let changes = wave.get_signal(signal).unwrap().iter_changes().map(|(time, value)| {
        (times[time as usize], u64::from_str_radix(&value.to_string(), 2).unwrap())
    });
    (changes.collect(), *times.last().unwrap())
}

#[test]
fn a_trace_needs_a_model_built_for_it_and_a_place() {
    let mut model = kind(Tracing::Off, false).create(BeforeReset::Zeros).unwrap();
    let error = model.open_trace(Path::new("unused.vcd")).unwrap_err();
    assert!(error.to_string().contains("without trace"), "{error}");
    let mut model = kind(Tracing::Vcd, false).create(BeforeReset::Zeros).unwrap();
    let error = model.open_trace(Path::new("/nowhere/t.vcd")).unwrap_err();
    assert!(error.to_string().contains("/nowhere/t.vcd"), "{error}");
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error() {
    let mut model = kind(Tracing::Vcd, false).create(BeforeReset::Zeros).unwrap();
    model.open_trace(Path::new("/dev/full")).unwrap();
    assert_eq!(count(&mut model, 3), 3, "the file is written later");
    let error = model.close_trace().unwrap_err().to_string();
    assert!(error.contains("No space left"), "{error}");
    assert_eq!(count(&mut model, 3), 3, "the model goes on");
    // Dropping a model cannot report the error, and must not end the process.
    model.open_trace(Path::new("/dev/full")).unwrap();
    count(&mut model, 3);
}

#[test]
fn coverage_belongs_to_one_model() {
    let mut kind = kind(Tracing::Off, true);
    assert!(kind.covers());
    let points = kind.points().unwrap();
    let covered = |cycles: u64| {
        let mut model = kind.create(BeforeReset::Zeros).unwrap();
        count(&mut model, cycles);
        model.counts()
    };
    let (one, many) = (covered(1), covered(50));
    assert_eq!(points.len(), one.len());
    // The counting branch is taken in this number of cycles.
    let is_branch = |place: &usize| {
        let Point { kind, file, .. } = &points[*place];
        kind == "v_branch" && file.ends_with("counter.v") && (one[*place], many[*place]) == (1, 50)
    };
    assert!((0..points.len()).any(|place| is_branch(&place)), "{points:?}\n{one:?}\n{many:?}");
    assert!(points.iter().any(|point| point.kind == "v_toggle" && !point.what.is_empty()));
    assert!(points.iter().any(|point| point.kind == "v_line" && !point.lines.is_empty()));
    assert_eq!(one, covered(1), "counters start at zero in every model");
}

#[test]
fn a_model_without_coverage_counts_nothing() {
    let mut kind = kind(Tracing::Off, false);
    assert!(!kind.covers() && kind.points().unwrap().is_empty());
    assert!(kind.create(BeforeReset::Zeros).unwrap().counts().is_empty());
}

#[test]
fn a_model_starts_afresh_after_another_one() {
    let kind = kind(Tracing::Off, false);
    for _ in 0..3 {
        let mut model = kind.create(BeforeReset::Zeros).unwrap();
        assert_eq!(model.time(), 0);
        count(&mut model, 7);
        assert_eq!(model.time(), 18, "seven cycles and two around them, two ticks each");
        // $finish stops this model, without effect on the next.
        let _ = cycle(&mut model, inputs(0, 0, 1)).unwrap_err();
    }
}

#[test]
fn many_models_run_on_many_threads() {
    let kind = kind(Tracing::Off, false);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|index| {
                scope.spawn(move || {
                    (0..20)
                        .map(|round| {
                            let mut model = kind.create(BeforeReset::Ones).unwrap();
                            let counted = count(&mut model, index * 7 + round);
                            assert_eq!(model.time(), 2 * (index * 7 + round + 2));
                            counted
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        for (index, thread) in threads.into_iter().enumerate() {
            let expected: Vec<u64> = (0..20).map(|round| index as u64 * 7 + round).collect();
            assert_eq!(thread.join().unwrap(), expected);
        }
    });
}

/// Another file may replace a library between its check and its use.
#[test]
fn the_verified_library_is_loaded() {
    let folder = TempDir::new().unwrap();
    let first = library_in(folder.path(), "counter.v", Tracing::Off, false, false);
    let path = first.path().to_owned();
    let again = BuiltLibrary::reopen(path.clone(), first.blake3()).unwrap();
    fs::rename(&path, folder.path().join("moved")).unwrap();
    fs::write(&path, "no library").unwrap();
    for library in [&first, &again] {
        let kind: CounterKind = Library::load(library).unwrap().kind().unwrap();
        assert_eq!(kind.top(), "counter");
    }
    // The new file is refused because of its content.
    assert!(BuiltLibrary::reopen(path, first.blake3()).is_err());
}

#[test]
fn a_foreign_library_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("x.so");
    fs::write(&path, "no library").unwrap();
    // SAFETY: it is refused before its code runs.
    let error = unsafe { Library::load_from(&path) }.unwrap_err().to_string();
    assert!(error.contains("x.so"), "{error}");
}
