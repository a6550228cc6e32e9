//! The code coverage lines of the summary.

use super::{Detail, Summary};
use crate::counted;
use cosim_block::points::Point;
use cosim_formats::answers::reuse::UsedProofs;
use cosim_formats::coverage::code::CodeHits;
use serde_json::{Value, json};
use std::fmt::Write as _;

const POINTS_SHOWN: usize = 4;

impl Summary<'_> {
    /// A line for the block and the first uncovered points. With details, a line per profile and
    /// all points.
    pub(super) fn code(&self, detail: Detail, text: &mut String) {
        let Some(shares) = self.run.coverage.shares() else { return };
        let all = self.run.coverage.reached();
        let uncovered: usize = all.iter().map(|reached| reached.uncovered().count()).sum();
        let suffix = match uncovered {
            0 => String::new(),
            uncovered => {
                format!("; {} besides toggles", counted(uncovered as u64, "uncovered point"))
            }
        };
        let _ = writeln!(text, "  RTL: {}{suffix}", shares.text());
        let shown = if detail == Detail::Tables { usize::MAX } else { POINTS_SHOWN };
        for line in self.run.header.closed.iter().flat_map(UsedProofs::lines) {
            let _ = writeln!(text, "    {line}");
        }
        for (profile, point) in self.uncovered_code().into_iter().take(shown) {
            let _ = writeln!(text, "    not reached: {}, profile {profile}", point.place());
        }
        if uncovered > shown {
            let _ = writeln!(text, "    and {} more; --details lists them", uncovered - shown);
        }
        if detail == Detail::Tables {
            for reached in &all {
                let _ =
                    writeln!(text, "    profile {}: {}", reached.profile, reached.shares().text());
                for (point, _, reason) in reached.points() {
                    if let Some(reason) = reason {
                        let _ = writeln!(text, "      waived: {} ({reason})", point.place());
                    }
                }
            }
        }
    }

    fn uncovered_code(&self) -> Vec<(String, Point)> {
        let of = |reached: &CodeHits<'_>| {
            let profile = reached.profile.to_owned();
            let uncovered: Vec<Point> = reached.uncovered().cloned().collect();
            uncovered.into_iter().map(move |point| (profile.clone(), point))
        };
        self.run.coverage.reached().iter().flat_map(of).collect()
    }

    /// Waived points that were reached, which fail the run.
    pub(super) fn contradicted(&self, text: &mut String) {
        for reached in self.run.coverage.reached() {
            for (point, reason) in reached.contradicted() {
                let _ = writeln!(
                    text,
                    "      profile {} reached {}, which is waived: {reason}; remove the waiver",
                    reached.profile,
                    point.place()
                );
            }
        }
    }

    /// The same as JSON, or null without code coverage.
    pub(super) fn code_json(&self) -> Value {
        let one = |reached: &CodeHits<'_>| {
            let uncovered: Vec<String> = reached.uncovered().map(Point::place).collect();
            let contradicted: Vec<String> =
                reached.contradicted().map(|(point, _)| point.place()).collect();
            let value = json!({ "shares": reached.shares(), "uncovered": uncovered, "waived_and_reached": contradicted });
            (reached.profile.to_owned(), value)
        };
        match self.run.coverage.reached() {
            all if all.is_empty() => Value::Null,
            all => Value::Object(all.iter().map(one).collect()),
        }
    }
}
