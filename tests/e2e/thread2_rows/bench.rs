//! RTL and golden model side by side, cycle by cycle, against the expectations of a test.

use super::beats::{PACKET, Packet};
use super::drive::{Drive, Open};
use super::table;
use cosim::blocks::thread2::rtl::{Inputs, Outputs};
use cosim::blocks::thread2::{Golden, Thread2};
use cosim_core::harness::{Block, Golden as _, Parameters};
use cosim_core::verilated::{BeforeReset, Model, ModelKind, Pins};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::sync::OnceLock;
use std::{env, thread};
use zerocopy::IntoBytes;

/// Mask of profile `spec`.
pub const SPEC: u8 = 0x00;
/// Mask of profile `repaired`.
pub const REPAIRED: u8 = 0xff;

/// Tests run on many threads; each mask is compiled and loaded once.
static KINDS: [OnceLock<ModelKind<Inputs, Outputs>>; 256] = [const { OnceLock::new() }; 256];

/// A fresh model of the RTL.
pub fn rtl(mask: u8) -> Model<Inputs, Outputs> {
    let mut model = KINDS[usize::from(mask)]
        .get_or_init(|| {
            let kind = crate::common::built_in_model::<Thread2>(&Parameters::of::<Thread2>(mask));
            kind.unwrap_or_else(|error| panic!("mask {mask:#04x}: {error}"))
        })
        .create(BeforeReset::Ones)
        .expect("a model starts");
    // Power comes up before reset, as in the harness: a reset is an edge that models can see.
    model.settle(&Inputs::default(), &mut Outputs::default()).expect("the model runs");
    model
}

/// Names a file to which benches add the rows that were taken.
pub const RECORD: &str = "COSIM_TEST_TAKEN_ROWS";

/// Adds a line to the record, if there is one: the test and the row that both models took in it.
fn record(row: &str) {
    let Some(path) = env::var_os(RECORD) else { return };
    let test = thread::current().name().unwrap_or_default().to_owned();
    let mut file = File::options().append(true).open(path).expect("the record is there");
    // One write, since tests run on many threads.
    file.write_all(format!("{test} {row}\n").as_bytes()).expect("a line");
}

/// Both models, twice: the pins a test leaves open are 0 in one lane and 1 in the other.
pub struct Bench {
    name: String,
    cycle: u64,
    lanes: Vec<Lane>,
    /// The row of the cycle before, taken for good once the state after it has shown its outputs.
    taken: Option<String>,
    /// The packet in work; its fields pass through to many outputs.
    pub packet: Packet,
}

struct Lane {
    open: Open,
    rtl: Model<Inputs, Outputs>,
    golden: Golden,
}

/// Runs a script once for each mask.
#[track_caller]
pub fn under(masks: &[u8], script: impl Fn(&mut Bench)) {
    for &mask in masks {
        script(&mut Bench::new(mask));
    }
}

impl Bench {
    /// Both models after one cycle of reset.
    #[track_caller]
    pub fn new(mask: u8) -> Self {
        Self::of_masks(mask, mask, &[Open::Zeros, Open::Ones])
    }

    /// As `new`, with open pins 0 only: for scripts of many cycles.
    #[track_caller]
    pub fn one_lane(mask: u8) -> Self {
        Self::of_masks(mask, mask, &[Open::Zeros])
    }

    /// Models that differ, to see that a difference is found.
    #[track_caller]
    pub fn of_masks(rtl_mask: u8, golden_mask: u8, open: &[Open]) -> Self {
        let golden = Parameters::of::<Thread2>(golden_mask);
        let lanes = open
            .iter()
            .map(|&open| Lane { open, rtl: rtl(rtl_mask), golden: Golden::new(&golden) })
            .collect();
        let name = format!("mask {rtl_mask:#04x}");
        let mut bench = Self { name, cycle: 0, lanes, taken: None, packet: PACKET };
        bench.reset();
        bench
    }

    /// A cycle of reset: every output is 0 whatever the other pins are.
    #[track_caller]
    pub fn reset(&mut self) -> &mut Self {
        // Outputs of a reset are those of no state.
        self.taken = None;
        self.shows("reset", Drive::reset(), &Outputs::default());
        for lane in &mut self.lanes {
            lane.rtl.edge().expect("the model runs");
            let rules = lane.golden.clock(&Drive::reset().pins(lane.open));
            assert_eq!(rules.iter().count(), 0, "reset takes no row");
            assert_eq!(lane.golden.state(), "IDLE_s", "after reset");
        }
        self.cycle += 1;
        self
    }

    /// A cycle in which `row` is taken.
    #[track_caller]
    pub fn cycle(&mut self, row: &str, drive: Drive, expected: &Outputs) -> &mut Self {
        let (from, to) = table::states(row);
        let at = format!("{}, cycle {}, row {row}: golden", self.name, self.cycle);
        for lane in &self.lanes {
            assert_eq!(lane.golden.state(), from, "{at}'s state before");
        }
        self.shows(row, drive, expected);
        for lane in &mut self.lanes {
            lane.rtl.edge().expect("the model runs");
            let rules = lane.golden.clock(&drive.pins(lane.open));
            let names: Vec<&str> =
                rules.iter().map(|rule| <Thread2 as Block>::Golden::RULES[rule].name).collect();
            assert_eq!(names, [row], "{at}'s row, open pins {:?}", lane.open);
            assert_eq!(lane.golden.state(), to, "{at}'s state after, open pins {:?}", lane.open);
        }
        self.taken = Some(row.to_owned());
        self.cycle += 1;
        self
    }

    /// The outputs before a rising edge that is not given.
    #[track_caller]
    pub fn shows(&mut self, place: &str, drive: Drive, expected: &Outputs) -> &mut Self {
        let mut failures = String::new();
        for lane in &mut self.lanes {
            let pins = drive.pins(lane.open);
            let (mut rtl, mut golden) = (Outputs::default(), Outputs::default());
            lane.rtl.settle(&pins, &mut rtl).expect("the model runs");
            lane.golden.outputs(&pins, &mut golden);
            for (side, found) in [("RTL", &rtl), ("golden", &golden)] {
                for port in differences(found, expected) {
                    writeln!(failures, "  {side}, open pins {:?}: {port}", lane.open)
                        .expect("a string grows");
                }
            }
        }
        let Self { name, cycle, .. } = self;
        assert!(failures.is_empty(), "{name}, cycle {cycle}, {place}:\n{failures}");
        if let Some(row) = self.taken.take() {
            record(&row);
        }
        self
    }

    /// Many cycles whose outputs nobody looks at, to bring registers where a test needs them.
    pub fn repeat(&mut self, times: u64, cycles: &[Drive]) -> &mut Self {
        self.taken = None;
        for lane in &mut self.lanes {
            let pins: Vec<Inputs> = cycles.iter().map(|drive| drive.pins(lane.open)).collect();
            let mut unseen = Outputs::default();
            for pins in (0..times).flat_map(|_| &pins) {
                lane.rtl.settle(pins, &mut unseen).expect("the model runs");
                lane.rtl.edge().expect("the model runs");
                lane.golden.clock(pins);
            }
        }
        self.cycle += times * cycles.len() as u64;
        self
    }
}

/// Every port that differs, as `name: value, expected value`.
fn differences(found: &Outputs, expected: &Outputs) -> Vec<String> {
    let (found, expected) = (found.as_bytes(), expected.as_bytes());
    let shown = |port: &cosim_core::verilated::Port| (port.show(found), port.show(expected));
    Outputs::PORTS
        .iter()
        .map(|port| (port.name, shown(port)))
        .filter(|(_, (found, expected))| found != expected)
        .map(|(name, (found, expected))| format!("{name}: {found}, expected {expected}"))
        .collect()
}
