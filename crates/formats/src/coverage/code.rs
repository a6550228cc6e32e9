//! Code coverage of the RTL: lines, branches and toggles.
//!
//! Verilator counts in models that are built with `--coverage`. A *point* is a counted place of
//! the RTL. Like a bin, it counts the cases that reach it, once each.

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

/// The stem of the file that stands around a model, and is not of the RTL.
const AROUND: &str = "cosim_registered";

/// What is counted of a point.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// That its lines were gone through.
    Line,
    /// That it was the branch that was taken.
    Branch,
    /// That a bit changed.
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

    /// By Verilator's word for it; other things that it counts are no code.
    fn of(word: &str) -> Option<Self> {
        match word {
            "v_line" => Some(Self::Line),
            "v_branch" => Some(Self::Branch),
            "v_toggle" => Some(Self::Toggle),
            _ => None,
        }
    }
}

/// A place of the RTL that is counted: one, however many instances its module has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(from = "PointText", into = "PointText")]
#[schemars(with = "PointText")]
pub struct Point {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// What is counted.
    pub kind: Kind,
    /// Which of its kind, in Verilator's words: `block`, `if`, `else`, `case`, or a bit of a signal.
    pub what: String,
    /// The lines that are gone through with it, as in `117-120,122`.
    pub lines: String,
}

/// File, line, column, kind, which of its kind, lines.
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

    /// The lines that it says something about: that of a branch is gone through with either side of it.
    fn all_lines(&self) -> impl Iterator<Item = u32> + '_ {
        let range = |range: &str| {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            Some(from.parse::<u32>().ok()?..=to.parse::<u32>().ok()?)
        };
        std::iter::once(self.line).chain(self.lines.split(',').filter_map(range).flatten())
    }
}

/// The points of a model, and which of them each of its counters counts.
#[derive(Debug, Clone, Default)]
pub struct Points {
    /// In order.
    pub all: Vec<Point>,
    of_counter: Vec<Option<u32>>,
    /// What every model reaches when power comes up, a bit for each point.
    always: Vec<u8>,
}

impl Points {
    /// Those that so many counters count. The top's clock toggles, and its falling edges are not shown to a model that waits for none:
    /// it is no point. Those that are `always` reached when power comes up are what is done once, as `initial` blocks and what follows
    /// from constants alone, and count in every case.
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

    /// Which points were reached, a bit for each, by what the counters say.
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

/// The numbers of the points of [`Points::reached`].
pub(super) fn numbers(reached: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let of_byte = |(place, byte): (usize, &u8)| {
        let byte = *byte;
        (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| place * 8 + bit)
    };
    reached.iter().enumerate().flat_map(of_byte)
}

/// What is counted of the RTL of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Code {
    /// The points, by number.
    pub points: Vec<Point>,
    /// Points that nothing reaches, by number, with the reason.
    pub waived: BTreeMap<u32, String>,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Ratio {
    /// That were reached.
    pub hit: u64,
    /// That can be.
    pub all: u64,
}

impl Ratio {
    fn add(&mut self, is_hit: bool) {
        self.hit += u64::from(is_hit);
        self.all += 1;
    }

    /// As in `99.3 % of 812`, rounded down.
    pub fn text(self) -> String {
        match (self.hit * 1000).checked_div(self.all).unwrap_or(1000) {
            1000 => format!("100 % of {}", self.all),
            share => format!("{}.{} % of {}", share / 10, share % 10, self.all),
        }
    }
}

/// What is reached of the code of one profile, or of several together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CodeRatios {
    /// Lines.
    pub lines: Ratio,
    /// Branches.
    pub branches: Ratio,
    /// Bits that toggled.
    pub toggles: Ratio,
    /// Points that are waived, and not in the shares.
    pub waived: u64,
}

impl CodeRatios {
    /// Both.
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

/// A line of the RTL with something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Cases that went through it.
    pub hits: u64,
    /// None did, and none is expected to.
    pub is_waived: bool,
}

/// What the cases of a profile reached of an RTL.
#[derive(Debug, Clone)]
pub struct CodeHits<'d> {
    /// The RTL.
    pub rtl: &'d str,
    /// The profile.
    pub profile: &'d str,
    /// What is counted.
    pub code: &'d Code,
    /// Cases that reached each point.
    pub hits: Vec<u64>,
}

impl CodeHits<'_> {
    /// The points, each with the cases that reached it, and the reason why none should.
    pub fn points(&self) -> impl Iterator<Item = (&Point, u64, Option<&str>)> {
        let points = self.code.points.iter().zip(&self.hits).enumerate();
        points.map(|(number, (point, hits))| {
            let reason = self.code.waived.get(&(number as u32));
            (point, *hits, reason.map(String::as_str))
        })
    }

    /// The lines of each file. A line is gone through as often as the point that was reached most often says.
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

    /// What it comes to.
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

    /// Lines and branches that were not reached.
    pub fn holes(&self) -> impl Iterator<Item = &Point> {
        let is_hole = |(point, hits, reason): &(&Point, u64, Option<&str>)| {
            point.kind != Kind::Toggle && *hits == 0 && reason.is_none()
        };
        self.points().filter(is_hole).map(|(point, ..)| point)
    }

    /// Points that were said not to be reached and were, with the reason that is none.
    pub fn contradicted(&self) -> impl Iterator<Item = (&Point, &str)> {
        self.points()
            .filter(|(_, hits, _)| *hits > 0)
            .filter_map(|(point, _, reason)| Some((point, reason?)))
    }
}

impl Database {
    /// What was reached of the code of each RTL in each profile; no case counts twice.
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
                // What is known to be reached is, also if the cases of its part are partly those of another one.
                *hits = if counts { hits.saturating_add(*count) } else { (*hits).max(1) };
            }
        }
        CodeHits { rtl, profile, code, hits }
    }

    /// How many points of a profile are counted in runs of an RTL.
    pub(super) fn points(&self, rtl: &str, profile: &str) -> Option<usize> {
        let code = self.code.get(&(rtl.to_owned(), profile.to_owned()));
        code.map(|code| code.points.len())
    }

    /// All profiles together; nothing if no code was counted.
    pub fn shares(&self) -> Option<CodeRatios> {
        let all = self.reached();
        let sum = all.iter().map(CodeHits::shares).fold(CodeRatios::default(), CodeRatios::with);
        (!all.is_empty()).then_some(sum)
    }
}

#[cfg(test)]
pub(super) mod tests;
