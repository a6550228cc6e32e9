//! Waivers of unreachable code coverage points: one file for each block, with a reason for each
//! point.
//!
//! A waiver names a line by its text, so that it stays valid when other lines move.

use super::{Code, Kind, Point, Sources};
use cosim_base::error::{Error, codes};
use cosim_harness::harness::Document;
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;

#[derive(Debug, Clone, Default)]
pub struct Waivers {
    path: &'static str,
    /// Each waiver with its line number in the file.
    all: Vec<(usize, Waiver)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    #[serde(default)]
    waiver: Vec<Spanned<Waiver>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Waiver {
    /// The file, as named in `coverage.info`.
    file: String,
    line: String,
    /// Which of the lines with this text, from 1; needed if there are several.
    #[serde(default)]
    number: Option<usize>,
    /// The point, as in `branch else`, `line case` or `toggle count[3]`; `toggle count` for all
    /// bits.
    point: String,
    /// Profiles in which it applies; empty: all.
    #[serde(default)]
    profiles: Vec<String>,
    reason: String,
}

/// Messages about waivers that waive nothing in a profile.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Idle {
    /// Waivers of lines that do not exist.
    pub stale: Vec<String>,
    /// Waivers of points that this version of Verilator does not count.
    pub uncounted: Vec<String>,
}

impl Waivers {
    /// Parses a waiver file.
    ///
    /// # Errors
    /// [`Error::Input`] if it is malformed.
    pub fn read(file: Document) -> Result<Self, Error> {
        let Document { path, text } = file;
        let parsed: Text = toml::from_str(text)
            .map_err(|error| Error::toml(Path::new(path), text, None, &error))?;
        let mut all = Vec::new();
        for waiver in parsed.waiver {
            let start = waiver.span().start;
            let waiver = waiver.into_inner();
            if waiver.reason.trim().is_empty() {
                let message =
                    "the waiver has no reason; state why the code is unreachable".to_owned();
                return Err(Error::at_offset(
                    codes::BAD_WAIVER,
                    Path::new(path),
                    text,
                    start,
                    message,
                ));
            }
            all.push((text[..start].matches('\n').count() + 1, waiver));
        }
        Ok(Self { path, all })
    }

    /// Waives points of a profile. Waivers without effect are added to `idle`.
    pub fn apply(&self, profile: &str, code: &mut Code, sources: &Sources, idle: &mut Idle) {
        let at_place = |place: usize, what: String| {
            format!("{}:{place}: profile {profile}: {what}", self.path)
        };
        for (place, waiver) in &self.all {
            if !waiver.profiles.is_empty() && !waiver.profiles.iter().any(|name| name == profile) {
                continue;
            }
            match waiver.points(&code.points, sources) {
                Ok(points) if points.is_empty() => {
                    let Waiver { file, line, point, .. } = waiver;
                    let what = format!("{file}: `{}` has no point `{point}`", line.trim());
                    idle.uncounted.push(at_place(*place, what));
                }
                Ok(points) => {
                    let reason = |point| (point, waiver.reason.clone());
                    code.waived.extend(points.into_iter().map(reason));
                }
                Err(message) => idle.stale.push(at_place(*place, message)),
            }
        }
    }
}

impl Waiver {
    /// The indices of the waived points. `Err` describes a line that does not exist; an empty list
    /// means that this version of Verilator counts other points there.
    fn points(&self, points: &[Point], sources: &Sources) -> Result<Vec<u32>, String> {
        let Self { file, line: text, number, point: name, .. } = self;
        let with_text = sources.lines(file).into_iter().zip(1u32..);
        let with_text = with_text.filter(|(line, _)| line.trim() == text.trim());
        let mut lines: Vec<u32> = with_text.map(|(_, number)| number).collect();
        match (lines.len(), number) {
            (0, _) => return Err(format!("{file} has no line `{}`", text.trim())),
            (1, None) => {}
            (many, None) => {
                return Err(format!(
                    "{file} has {many} lines `{}`; choose one with `number`",
                    text.trim()
                ));
            }
            (many, Some(number)) => match lines.get(number.wrapping_sub(1)) {
                Some(line) => lines = vec![*line],
                None => return Err(format!("{file} has only {many} lines `{}`", text.trim())),
            },
        }
        let is_meant = |(point, _): &(&Point, u32)| {
            point.file == *file && lines.contains(&point.line) && is_called(point, name)
        };
        let found = points.iter().zip(0..).filter(is_meant);
        let found: Vec<u32> = found.map(|(_, number)| number).collect();
        // Versions of Verilator differ in the points of a line and in their names.
        let is_of_line = |point: &Point| point.file == *file && lines.contains(&point.line);
        if found.is_empty() && !points.iter().any(is_of_line) {
            return Err(format!("{file}:{} has no point `{name}`", lines[0]));
        }
        Ok(found)
    }
}

/// Whether a waiver's name matches a point. Newer versions of Verilator count each toggle
/// direction.
fn is_called(point: &Point, name: &str) -> bool {
    let own = point.name();
    let bit = own.split(':').next().unwrap_or_default();
    let signal = bit.split('[').next().unwrap_or_default();
    own == name || point.kind == Kind::Toggle && (bit == name || signal == name)
}
