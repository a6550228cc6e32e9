//! The golden model, cycle by cycle, against the expectations of a test.

use super::beats::{PACKET, Packet};
use super::drive::{Drive, Open};
use super::table;
use crate::blocks::thread2::rtl::{Inputs, Outputs};
use crate::blocks::thread2::{Golden, Thread2};
use cosim_core::harness::{Block, Golden as _, Parameters};
use cosim_core::verilated::Pins;
use std::fmt::Write as _;

/// Mask of profile `spec`.
pub const SPEC: u8 = 0x00;
/// Mask of profile `repaired`.
pub const REPAIRED: u8 = 0xff;

/// Two golden models: pins that a test leaves open are 0 for one and 1 for the other.
pub struct Bench {
    name: String,
    cycle: u64,
    lanes: Vec<Lane>,
    /// The current packet; its fields pass through to many outputs.
    pub packet: Packet,
}

struct Lane {
    open: Open,
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
        Self::of_lanes(mask, &[Open::Zeros, Open::Ones])
    }

    /// As `new`, with open pins at 0 only: for scripts of many cycles.
    #[track_caller]
    pub fn one_lane(mask: u8) -> Self {
        Self::of_lanes(mask, &[Open::Zeros])
    }

    #[track_caller]
    fn of_lanes(mask: u8, open: &[Open]) -> Self {
        let parameters = Parameters::of::<Thread2>(mask);
        let lane = |&open| Lane { open, golden: Golden::new(&parameters) };
        let lanes = open.iter().map(lane).collect();
        let mut bench = Self { name: format!("mask {mask:#04x}"), cycle: 0, lanes, packet: PACKET };
        bench.reset();
        bench
    }

    /// A cycle of reset: every output is 0 for any inputs.
    #[track_caller]
    pub fn reset(&mut self) -> &mut Self {
        self.shows("reset", Drive::new("rst=1"), &Outputs::default());
        for lane in &mut self.lanes {
            let rules = lane.golden.edge(&Drive::new("rst=1").pins(lane.open));
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
        let at = format!("{}, cycle {}, row {row}: the", self.name, self.cycle);
        for lane in &self.lanes {
            assert_eq!(lane.golden.state(), from, "{at}'s state before");
        }
        self.shows(row, drive, expected);
        for lane in &mut self.lanes {
            let rules = lane.golden.edge(&drive.pins(lane.open));
            let names: Vec<&str> =
                rules.iter().map(|rule| <Thread2 as Block>::Golden::RULES[rule].name).collect();
            assert_eq!(names, [row], "{at}'s row, open pins {:?}", lane.open);
            assert_eq!(lane.golden.state(), to, "{at}'s state after, open pins {:?}", lane.open);
        }
        self.cycle += 1;
        self
    }

    /// The outputs before a rising edge that does not come.
    #[track_caller]
    pub fn shows(&mut self, place: &str, drive: Drive, expected: &Outputs) -> &mut Self {
        let mut failures = String::new();
        for lane in &mut self.lanes {
            let pins = drive.pins(lane.open);
            let mut golden = Outputs::default();
            lane.golden.show(&pins, &mut golden);
            for port in differences(&golden, expected) {
                writeln!(failures, "  open pins {:?}: {port}", lane.open).expect("a string grows");
            }
        }
        let Self { name, cycle, .. } = self;
        assert!(failures.is_empty(), "{name}, cycle {cycle}, {place}:\n{failures}");
        self
    }

    /// Many cycles with unchecked outputs, to bring registers to the values that a test needs.
    pub fn repeat(&mut self, times: u64, cycles: &[Drive]) -> &mut Self {
        for lane in &mut self.lanes {
            let pins: Vec<Inputs> = cycles.iter().map(|drive| drive.pins(lane.open)).collect();
            for pins in (0..times).flat_map(|_| &pins) {
                lane.golden.edge(pins);
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
