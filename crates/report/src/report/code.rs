//! The source view: the RTL's text with its code coverage.

use cosim_base::error::Error;
use cosim_block::points::{Kind, Point};
use cosim_formats::coverage::code::{CodeHits, Line, SOURCES, Sources};
use cosim_formats::coverage::{COVERAGE, Database};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum bytes of source text on a page, so that it opens quickly. The folder `sources` has all
/// files.
pub const MOST_TEXT: usize = 400 << 10;

#[derive(Debug, Serialize)]
pub struct Code {
    shares: String,
    #[serde(skip)]
    lines: String,
    profiles: Vec<CodeRatios>,
    files: Vec<File>,
    /// Files that are too large for the page.
    left_out: Vec<String>,
}

impl Code {
    /// The share of lines that were reached, as in `99.3 %`.
    pub fn percent(&self) -> String {
        self.lines.split(" of ").next().unwrap_or_default().to_owned()
    }
}

#[derive(Debug, Serialize)]
struct CodeRatios {
    profile: String,
    shares: String,
    uncovered: Vec<UncoveredLine>,
    /// The RTL's `cover` statements, with their number of cases.
    covers: Vec<(String, u64)>,
    waived: Vec<(String, String)>,
}

/// A point that was not reached.
#[derive(Debug, Serialize)]
struct UncoveredLine {
    place: String,
    /// The anchor of its line, if the page shows the file.
    link: Option<String>,
}

pub fn anchor(file: usize, line: u32) -> String {
    format!("code-{file}-{line}")
}

#[derive(Debug, Serialize)]
struct File {
    name: String,
    hit: usize,
    all: usize,
    lines: Vec<Text>,
}

/// A line of a source file.
#[derive(Debug, Serialize)]
struct Text {
    /// The anchor, if a list refers to the line.
    id: Option<String>,
    /// The line number and, if counted, the number of cases that executed the line.
    head: String,
    text: String,
    /// `hit`, `part` if a branch was not taken, `miss`, `waived`, or empty.
    state: &'static str,
    /// Hits of branches, as in `if 12, else 0`.
    branches: String,
}

/// The coverage of a line in all profiles together.
#[derive(Default)]
struct Place {
    hits: Option<u64>,
    is_waived: bool,
    branches: BTreeMap<(u32, String), (u64, bool)>,
}

/// The code coverage of a run directory; `None` if it was not counted.
///
/// # Errors
/// If its files cannot be read.
pub fn read_code(folder: &Path) -> Result<Option<Code>, Error> {
    if !folder.join(COVERAGE).exists() {
        return Ok(None);
    }
    let database = Database::read(folder)?;
    let (Some(shares), reached) = (database.shares(), database.reached()) else { return Ok(None) };
    let sources = match folder.join(SOURCES).exists() {
        true => Sources::read(folder)?,
        false => Sources::default(),
    };
    let places = places(&reached);
    let uncovered = reached.iter().flat_map(CodeHits::uncovered);
    let targets: BTreeSet<(&str, u32)> =
        uncovered.map(|point| (point.file.as_str(), point.line)).collect();
    let (mut files, mut left_out, mut size) = (Vec::new(), Vec::new(), 0);
    for name in sources.names() {
        let lines = sources.lines(name);
        size += lines.iter().map(String::len).sum::<usize>();
        match size <= MOST_TEXT {
            true => files.push(file(files.len(), name, lines, &places, &targets)),
            false => left_out.push(name.to_owned()),
        }
    }
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let profiles = reached.iter().map(|reached| of_profile(reached, &names)).collect();
    let lines = shares.lines.text();
    Ok(Some(Code { shares: shares.text(), lines, profiles, files, left_out }))
}

fn of_profile(reached: &CodeHits<'_>, files: &[&str]) -> CodeRatios {
    let uncovered = |point: &Point| UncoveredLine {
        place: point.place(),
        link: files
            .iter()
            .position(|name| *name == point.file)
            .map(|file| anchor(file, point.line)),
    };
    let waived =
        reached.points().filter_map(|(point, _, reason)| Some((point.place(), reason?.to_owned())));
    CodeRatios {
        profile: reached.profile.to_owned(),
        shares: reached.shares().text(),
        uncovered: reached.uncovered().map(uncovered).collect(),
        covers: reached.covers().map(|(point, hits)| (point.place(), hits)).collect(),
        waived: waived.collect(),
    }
}

fn places(profiles: &[CodeHits<'_>]) -> BTreeMap<(String, u32), Place> {
    let mut places: BTreeMap<(String, u32), Place> = BTreeMap::new();
    for reached in profiles {
        for ((file, line), Line { hits, is_waived }) in reached.lines() {
            let place = places.entry((file.to_owned(), line)).or_default();
            // A line is waived if every profile that has it waives it.
            place.is_waived = is_waived && (place.hits.is_none() || place.is_waived);
            *place.hits.get_or_insert(0) += hits;
        }
        for (point, hits, reason) in reached.points() {
            if point.kind == Kind::Branch {
                let place = places.entry((point.file.clone(), point.line)).or_default();
                let branch = place.branches.entry((point.column, point.what.clone()));
                let (sum, is_uncovered) = branch.or_default();
                *sum += hits;
                *is_uncovered |= hits == 0 && reason.is_none();
            }
        }
    }
    places
}

fn file(
    index: usize,
    name: &str,
    lines: Vec<String>,
    places: &BTreeMap<(String, u32), Place>,
    targets: &BTreeSet<(&str, u32)>,
) -> File {
    let line = |(text, number): (String, u32)| {
        let place = places.get(&(name.to_owned(), number));
        let state = match place {
            None => "",
            Some(Place { is_waived: true, .. }) => "waived",
            Some(Place { hits: Some(0), .. }) => "miss",
            Some(place) if place.branches.values().any(|(_, is_uncovered)| *is_uncovered) => "part",
            Some(Place { hits, .. }) => hits.map_or("", |_| "hit"),
        };
        let branches = place.iter().flat_map(|place| &place.branches);
        let branches = branches.map(|((_, what), (hits, _))| format!("{what} {hits}"));
        let branches = branches.collect::<Vec<_>>().join(", ");
        let hits = place.and_then(|place| place.hits).map(|hits| hits.to_string());
        let head = format!("{number:5} {:>8}", hits.unwrap_or_default());
        let id = targets.contains(&(name, number)).then(|| anchor(index, number));
        Text { id, head, text, state, branches }
    };
    let lines: Vec<Text> = lines.into_iter().zip(1..).map(line).collect();
    let counted = lines.iter().filter(|line| !["", "waived"].contains(&line.state));
    let hit = counted.clone().filter(|line| line.state != "miss").count();
    File { name: name.to_owned(), hit, all: counted.count(), lines }
}
