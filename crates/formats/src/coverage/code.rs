//! Code coverage of the RTL: lines, branches and toggles; expressions and states of state machines
//! where Verilator counts them; and the RTL's own `cover` statements.
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
use cosim_block::points::{Kind, Point};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The indices of the set bits of [`Points::reached`](cosim_block::points::Points::reached).
pub fn numbers(reached: &[u8]) -> impl Iterator<Item = usize> + '_ {
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
    /// Points that do not count, by index, with the reason.
    pub waived: BTreeMap<u32, String>,
    /// Those of them that a proof shows to be unreachable.
    pub proved: BTreeSet<u32>,
}

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
    pub lines: Ratio,
    pub branches: Ratio,
    pub toggles: Ratio,
    pub expressions: Ratio,
    pub states: Ratio,
    /// Arcs between states.
    pub arcs: Ratio,
    /// `cover` statements of the RTL.
    pub covers: Ratio,
    /// Number of waived points, which are not in the ratios.
    pub waived: u64,
    /// Number of points that are proved unreachable, which are not in the ratios.
    pub proved: u64,
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
            expressions: sum(self.expressions, other.expressions),
            states: sum(self.states, other.states),
            arcs: sum(self.arcs, other.arcs),
            covers: sum(self.covers, other.covers),
            waived: self.waived + other.waived,
            proved: self.proved + other.proved,
        }
    }

    /// As in `lines 100 % of 321, branches 99.1 % of 120, toggles 93.0 % of 2424, 3 points waived`.
    /// Kinds that not every RTL or Verilator has appear only if there are points.
    pub fn text(&self) -> String {
        let Self { lines, branches, toggles, expressions, states, arcs, covers, waived, proved } =
            self;
        let shares = [("lines", lines), ("branches", branches), ("toggles", toggles)];
        let others = [
            ("expressions", expressions),
            ("states", states),
            ("arcs", arcs),
            ("cover statements", covers),
        ];
        let others = others.into_iter().filter(|(_, share)| share.all > 0);
        let shares: Vec<String> = shares
            .into_iter()
            .chain(others)
            .map(|(name, share)| format!("{name} {}", share.text()))
            .collect();
        let shares = shares.join(", ");
        let counted = |count: u64, what: &str| match count {
            0 => String::new(),
            1 => format!(", 1 point {what}"),
            count => format!(", {count} points {what}"),
        };
        format!("{shares}{}{}", counted(*waived, "waived"), counted(*proved, "proved unreachable"))
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
    pub rtl: &'d str,
    pub profile: &'d str,
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
        for (point, hits, reason) in self.points().filter(|(point, ..)| point.kind.is_code()) {
            for line in point.all_lines() {
                let place = (point.file.as_str(), line);
                let line = lines.entry(place).or_insert(Line { hits: 0, is_waived: true });
                line.hits = line.hits.max(hits);
                line.is_waived &= hits == 0 && reason.is_some();
            }
        }
        lines
    }

    pub fn shares(&self) -> CodeRatios {
        let mut shares = CodeRatios::default();
        for line in self.lines().values().filter(|line| !line.is_waived) {
            shares.lines.add(line.hits > 0);
        }
        for (number, (point, hits, reason)) in self.points().enumerate() {
            if reason.is_some() {
                let is_proved = self.code.proved.contains(&(number as u32));
                *(if is_proved { &mut shares.proved } else { &mut shares.waived }) += 1;
                continue;
            }
            match point.kind {
                Kind::Line => {}
                Kind::Branch => shares.branches.add(hits > 0),
                Kind::Toggle => shares.toggles.add(hits > 0),
                Kind::Expression => shares.expressions.add(hits > 0),
                Kind::State => shares.states.add(hits > 0),
                Kind::Arc => shares.arcs.add(hits > 0),
                Kind::Cover => shares.covers.add(hits > 0),
            }
        }
        shares
    }

    /// `cover` statements of the RTL, with their number of cases.
    pub fn covers(&self) -> impl Iterator<Item = (&Point, u64)> {
        let covers = self.points().filter(|(point, ..)| point.kind == Kind::Cover);
        covers.map(|(point, hits, _)| (point, hits))
    }

    /// Uncovered points other than toggles.
    pub fn uncovered(&self) -> impl Iterator<Item = &Point> {
        let is_uncovered = |(point, hits, reason): &(&Point, u64, Option<&str>)| {
            point.kind != Kind::Toggle && *hits == 0 && reason.is_none()
        };
        self.points().filter(is_uncovered).map(|(point, ..)| point)
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
