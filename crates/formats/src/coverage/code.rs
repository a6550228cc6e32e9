//! Code coverage of the RTL: lines, branches and toggles.
//!
//! Verilator counts in models that are built with `--coverage`. A *point* is a counted place of the
//! RTL. Like a bin, it counts the cases that reach it, once each.

pub mod lcov;
mod sources;
mod waivers;

pub use sources::{SOURCE_ENDINGS, SOURCES, Sources};
pub use waivers::{Idle, Waivers};

use super::Database;
use super::ScenarioCoverage;
use super::merge::disjoint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use verilated::Point as Counter;

/// The stem of the generated wrapper of a model, which is not part of the RTL.
const AROUND: &str = "cosim_registered";

/// The kind of a point.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A line is executed.
    Line,
    /// A branch is taken.
    Branch,
    /// A bit toggles.
    Toggle,
}

impl Kind {
    /// The name in reports and waivers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Branch => "branch",
            Self::Toggle => "toggle",
        }
    }

    /// Parses Verilator's name of a kind. Verilator also counts things that are not code coverage.
    fn of(word: &str) -> Option<Self> {
        match word {
            "v_line" => Some(Self::Line),
            "v_branch" => Some(Self::Branch),
            "v_toggle" => Some(Self::Toggle),
            _ => None,
        }
    }
}

/// A counted place of the RTL; all instances of a module share it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(from = "PointText", into = "PointText")]
#[schemars(with = "PointText")]
pub struct Point {
    /// The file name.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The kind of point.
    pub kind: Kind,
    /// Details in Verilator's words: `block`, `if`, `else`, `case`, or a bit of a signal.
    pub what: String,
    /// The lines that execute together with the point, as in `117-120,122`.
    pub lines: String,
}

/// File, line, column, kind, details, lines.
type PointText = (String, u32, u32, Kind, String, String);

impl From<PointText> for Point {
    fn from((file, line, column, kind, what, lines): PointText) -> Self {
        Self { file, line, column, kind, what, lines }
    }
}

impl From<Point> for PointText {
    fn from(point: Point) -> Self {
        let Point { file, line, column, kind, what, lines } = point;
        (file, line, column, kind, what, lines)
    }
}

impl Point {
    /// As in `branch else`.
    pub fn name(&self) -> String {
        format!("{} {}", self.kind.name(), self.what)
    }

    /// As in `a.v:13, branch else`.
    pub fn place(&self) -> String {
        format!("{}:{}, {}", self.file, self.line, self.name())
    }

    /// All lines that execute with the point. The line of a branch executes with either side of it.
    fn all_lines(&self) -> impl Iterator<Item = u32> + '_ {
        let range = |range: &str| {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            Some(from.parse::<u32>().ok()?..=to.parse::<u32>().ok()?)
        };
        std::iter::once(self.line).chain(self.lines.split(',').filter_map(range).flatten())
    }
}

/// The points of a model and the mapping from its counters.
#[derive(Debug, Clone, Default)]
pub struct Points {
    /// The points in ascending order.
    pub all: Vec<Point>,
    of_counter: Vec<Option<u32>>,
    /// A bit for each point that every model reaches at power-up.
    always: Vec<u8>,
}

impl Points {
    /// The points of these counters. The clock of the top is not a point: the harness does not show
    /// its falling edges to a model that does not need them. `always` marks counters that every
    /// model reaches at power-up, such as `initial` blocks and logic of constants. They count in
    /// every case.
    pub fn new(counters: &[Counter], clock: &str, always: &[bool]) -> Self {
        let point = |counter: &Counter| {
            let Counter { file, line, column, kind, what, lines } = counter.clone();
            let is_around = Path::new(&file).file_stem().is_some_and(|stem| stem == AROUND);
            let kind = Kind::of(&kind).filter(|_| !is_around)?;
            let bit = what.split(':').next();
            if kind == Kind::Toggle && bit == Some(clock) {
                return None;
            }
            Some(Point { file, line, column, kind, what, lines })
        };
        let of_counter: Vec<Option<Point>> = counters.iter().map(point).collect();
        let mut all: Vec<Point> = of_counter.iter().flatten().cloned().collect();
        all.sort();
        all.dedup();
        let number = |point: &Point| all.binary_search(point).ok().map(|number| number as u32);
        let of_counter = of_counter.iter().map(|point| point.as_ref().and_then(number)).collect();
        let mut points = Self { always: vec![0; all.len().div_ceil(8)], all, of_counter };
        let counts: Vec<u32> = always.iter().map(|always| u32::from(*always)).collect();
        points.always = points.reached(&counts);
        points
    }

    /// A bit for each point that the counters reached.
    pub fn reached(&self, counts: &[u32]) -> Vec<u8> {
        let mut bits = self.always.clone();
        for (count, point) in counts.iter().zip(&self.of_counter) {
            if let Some(point) = point.filter(|_| *count > 0) {
                bits[point as usize / 8] |= 1 << (point % 8);
            }
        }
        bits
    }
}

/// The indices of the set bits of [`Points::reached`].
pub(super) fn numbers(reached: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let of_byte = |(place, byte): (usize, &u8)| {
        let byte = *byte;
        (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| place * 8 + bit)
    };
    reached.iter().enumerate().flat_map(of_byte)
}

/// The code coverage points of an RTL in a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Code {
    /// The points, by index.
    pub points: Vec<Point>,
    /// Waived points, by index, with the reason.
    pub waived: BTreeMap<u32, String>,
}

/// A ratio of counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Ratio {
    /// Number of reached items.
    pub hit: u64,
    /// Number of reachable items.
    pub all: u64,
}

impl Ratio {
    fn add(&mut self, is_hit: bool) {
        self.hit += u64::from(is_hit);
        self.all += 1;
    }

    /// The ratio as in `99.3 % of 812`, rounded down.
    pub fn text(self) -> String {
        match (self.hit * 1000).checked_div(self.all).unwrap_or(1000) {
            1000 => format!("100 % of {}", self.all),
            share => format!("{}.{} % of {}", share / 10, share % 10, self.all),
        }
    }
}

/// The code coverage of one profile, or of several together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CodeRatios {
    /// Lines.
    pub lines: Ratio,
    /// Branches.
    pub branches: Ratio,
    /// Bits that toggled.
    pub toggles: Ratio,
    /// Number of waived points, which are not in the ratios.
    pub waived: u64,
}

impl CodeRatios {
    /// The sum of both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let sum =
            |one: Ratio, other: Ratio| Ratio { hit: one.hit + other.hit, all: one.all + other.all };
        Self {
            lines: sum(self.lines, other.lines),
            branches: sum(self.branches, other.branches),
            toggles: sum(self.toggles, other.toggles),
            waived: self.waived + other.waived,
        }
    }

    /// As in `lines 100 % of 321, branches 99.1 % of 120, toggles 93.0 % of 2424, 3 points waived`.
    pub fn text(&self) -> String {
        let Self { lines, branches, toggles, waived } = self;
        let shares = [("lines", lines), ("branches", branches), ("toggles", toggles)];
        let shares = shares.map(|(name, share)| format!("{name} {}", share.text())).join(", ");
        let plural = if *waived == 1 { "point" } else { "points" };
        if *waived > 0 { format!("{shares}, {waived} {plural} waived") } else { shares }
    }
}

/// A line of the RTL that has points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Number of cases that executed it.
    pub hits: u64,
    /// No case executed it, and a waiver covers it.
    pub is_waived: bool,
}

/// The code coverage of the cases of a profile for an RTL.
#[derive(Debug, Clone)]
pub struct CodeHits<'d> {
    /// The hash of the RTL.
    pub rtl: &'d str,
    /// The profile.
    pub profile: &'d str,
    /// The points.
    pub code: &'d Code,
    /// Number of cases that reached each point.
    pub hits: Vec<u64>,
}

impl CodeHits<'_> {
    /// The points, each with its number of cases and the reason of its waiver.
    pub fn points(&self) -> impl Iterator<Item = (&Point, u64, Option<&str>)> {
        let points = self.code.points.iter().zip(&self.hits).enumerate();
        points.map(|(number, (point, hits))| {
            let reason = self.code.waived.get(&(number as u32));
            (point, *hits, reason.map(String::as_str))
        })
    }

    /// The lines by file and number. The most often reached point determines the hits of a line.
    pub fn lines(&self) -> BTreeMap<(&str, u32), Line> {
        let mut lines: BTreeMap<(&str, u32), Line> = BTreeMap::new();
        for (point, hits, reason) in self.points().filter(|(point, ..)| point.kind != Kind::Toggle)
        {
            for line in point.all_lines() {
                let place = (point.file.as_str(), line);
                let line = lines.entry(place).or_insert(Line { hits: 0, is_waived: true });
                line.hits = line.hits.max(hits);
                line.is_waived &= hits == 0 && reason.is_some();
            }
        }
        lines
    }

    /// The ratios of lines, branches and toggles.
    pub fn shares(&self) -> CodeRatios {
        let mut shares = CodeRatios::default();
        for line in self.lines().values().filter(|line| !line.is_waived) {
            shares.lines.add(line.hits > 0);
        }
        for (point, hits, reason) in self.points() {
            if reason.is_some() {
                shares.waived += 1;
                continue;
            }
            match point.kind {
                Kind::Line => {}
                Kind::Branch => shares.branches.add(hits > 0),
                Kind::Toggle => shares.toggles.add(hits > 0),
            }
        }
        shares
    }

    /// Uncovered lines and branches.
    pub fn holes(&self) -> impl Iterator<Item = &Point> {
        let is_hole = |(point, hits, reason): &(&Point, u64, Option<&str>)| {
            point.kind != Kind::Toggle && *hits == 0 && reason.is_none()
        };
        self.points().filter(is_hole).map(|(point, ..)| point)
    }

    /// Waived points that were reached nevertheless, with the reason of the waiver.
    pub fn contradicted(&self) -> impl Iterator<Item = (&Point, &str)> {
        self.points()
            .filter(|(_, hits, _)| *hits > 0)
            .filter_map(|(point, _, reason)| Some((point, reason?)))
    }
}

impl Database {
    /// The code coverage of each RTL and profile. No case counts twice.
    pub fn reached(&self) -> Vec<CodeHits<'_>> {
        let all = self.code.iter();
        all.map(|((rtl, profile), code)| self.reached_of(rtl, profile, code)).collect()
    }

    fn reached_of<'d>(&'d self, rtl: &'d str, profile: &'d str, code: &'d Code) -> CodeHits<'d> {
        let is_of = |part: &&ScenarioCoverage| {
            part.run.rtl == *rtl && part.profile == *profile && part.reached.is_some()
        };
        let parts: Vec<&ScenarioCoverage> = self.parts.iter().filter(is_of).collect();
        let mut hits = vec![0u64; code.points.len()];
        for (part, counts) in parts.iter().zip(disjoint(&parts)) {
            for (point, count) in part.reached.iter().flatten() {
                let hits = &mut hits[*point as usize];
                // A point of a part that is not counted, because its cases overlap another part, is
                // still reached.
                *hits = if counts { hits.saturating_add(*count) } else { (*hits).max(1) };
            }
        }
        CodeHits { rtl, profile, code, hits }
    }

    /// Number of points of an RTL and profile; `None` if not counted.
    pub(super) fn points(&self, rtl: &str, profile: &str) -> Option<usize> {
        let code = self.code.get(&(rtl.to_owned(), profile.to_owned()));
        code.map(|code| code.points.len())
    }

    /// The ratios of all profiles together; `None` if no code was counted.
    pub fn shares(&self) -> Option<CodeRatios> {
        let all = self.reached();
        let sum = all.iter().map(CodeHits::shares).fold(CodeRatios::default(), CodeRatios::with);
        (!all.is_empty()).then_some(sum)
    }
}

#[cfg(test)]
pub(super) mod tests;
