//! `coverage.info`: lines and branches in the format of `lcov` and `genhtml`, which has no toggles.

use super::{CodeHits, Kind, Line, Point, SOURCES};
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub const INFO: &str = "coverage.info";

/// The text for all profiles together. Hits of a line or branch are added.
pub fn text(profiles: &[CodeHits<'_>]) -> String {
    let mut lines: BTreeMap<&str, BTreeMap<u32, u64>> = BTreeMap::new();
    let mut branches: BTreeMap<(&str, u32), BTreeMap<&Point, u64>> = BTreeMap::new();
    for reached in profiles {
        for ((file, line), Line { hits, is_waived }) in reached.lines() {
            // Lines that are waived in every profile are left out.
            if !is_waived {
                *lines.entry(file).or_default().entry(line).or_default() += hits;
            }
        }
        let is_branch = |(point, _, reason): &(&Point, u64, Option<&str>)| {
            point.kind == Kind::Branch && reason.is_none()
        };
        for (point, hits, _) in reached.points().filter(is_branch) {
            let of_line = branches.entry((&point.file, point.line)).or_default();
            *of_line.entry(point).or_default() += hits;
        }
    }
    let mut text = String::new();
    for (file, lines) in &lines {
        let _ = writeln!(text, "TN:\nSF:{SOURCES}/{file}");
        let of_file = branches.range((*file, 0)..=(*file, u32::MAX));
        let (mut found, mut hit) = (0, 0);
        for ((_, line), points) in of_file {
            let is_reached = lines.get(line).is_some_and(|hits| *hits > 0);
            for (number, hits) in points.values().enumerate() {
                found += 1;
                hit += u32::from(*hits > 0);
                let taken = if is_reached { hits.to_string() } else { "-".to_owned() };
                let _ = writeln!(text, "BRDA:{line},0,{number},{taken}");
            }
        }
        let _ = writeln!(text, "BRF:{found}\nBRH:{hit}");
        for (line, hits) in lines {
            let _ = writeln!(text, "DA:{line},{hits}");
        }
        let hit = lines.values().filter(|hits| **hits > 0).count();
        let _ = writeln!(text, "LF:{}\nLH:{hit}\nend_of_record", lines.len());
    }
    text
}
