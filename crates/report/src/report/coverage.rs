//! The groups in `coverage.json`: a heat map for each cross, and the data of the list of all bins.

use super::page::Json;
use super::specification::Specification;
use cosim_base::error::Error;
use cosim_formats::coverage::{
    COVERAGE, Database, Group, GroupAxis, GroupValue, ProfileBins, ProfileCoverage,
};
use cosim_harness::harness::{BlockInfo, RULES};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Debug, Default, Serialize)]
pub struct Coverage {
    pub profiles: Vec<CoverageMaps>,
    /// Reachable bins that no case hit, of all profiles.
    uncovered: u64,
    bins: Json,
    /// The file that declares the groups.
    source: Option<Source>,
}

impl Coverage {
    /// Bins that were hit, and reachable bins, of all profiles.
    pub fn totals(&self) -> (u64, u64) {
        let sum = |of: fn(&CoverageMaps) -> u32| self.profiles.iter().map(of).map(u64::from).sum();
        (sum(|profile| profile.hit), sum(|profile| profile.reachable))
    }
}

/// A file that declares groups, with the lines that bins refer to.
#[derive(Debug, Serialize)]
struct Source {
    path: &'static str,
    lines: Vec<SourceLine>,
}

#[derive(Debug, Serialize)]
struct SourceLine {
    number: usize,
    text: &'static str,
    /// Whether a bin refers to it.
    is_target: bool,
}

#[derive(Debug, Serialize)]
pub struct CoverageMaps {
    pub profile: String,
    pub reachable: u32,
    /// Number of reachable bins that were hit.
    pub hit: u32,
    percent: String,
    groups: Vec<CoverageMap>,
}

/// The table of a group. Rows are combinations of all axes except for the last.
#[derive(Debug, Serialize)]
struct CoverageMap {
    name: String,
    about: String,
    reachable: usize,
    hit: usize,
    corner: String,
    columns: Vec<Head>,
    rows: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Head {
    name: String,
    meaning: String,
}

#[derive(Debug, Serialize)]
struct Line {
    name: String,
    meaning: String,
    cells: Vec<Cell>,
}

#[derive(Debug, Serialize)]
struct Cell {
    hits: u64,
    /// 0 to 5, by order of magnitude.
    heat: u32,
    /// Why the bin is unreachable.
    reason: Option<String>,
    /// The anchor of the text that declares the bin.
    link: Option<String>,
}

/// The anchors of the bins of each group, in the order of the bins.
type Links = Vec<Vec<Option<String>>>;

/// The name of an axis, and the names of its values.
type Axis<'a> = (&'a str, Vec<&'a str>);

/// The data of the list of bins.
#[derive(Serialize)]
struct Bins<'a> {
    groups: Vec<(&'a str, Vec<Axis<'a>>)>,
    profiles: Vec<(&'a str, Vec<u64>, &'a BTreeMap<u32, String>)>,
    /// For each group the anchor of all its bins, or of each bin.
    links: Vec<Vec<Option<String>>>,
}

/// The coverage of a run directory; empty if it has none.
///
/// # Errors
/// If the file cannot be read.
pub fn read_coverage(
    folder: &Path,
    order: &[String],
    block: Option<&BlockInfo>,
    specification: Option<&Specification>,
) -> Result<Coverage, Error> {
    let path = folder.join(COVERAGE);
    if !path.exists() {
        return Ok(Coverage::default());
    }
    let database = Database::read(&path)?;
    let source = block.and_then(|block| block.groups_source);
    let lines: Vec<&'static str> = source.map_or_else(Vec::new, |file| file.text.lines().collect());
    let links: Links =
        database.groups.iter().map(|group| links(group, &lines, specification)).collect();
    let mut profiles: Vec<(&str, &ProfileBins)> =
        database.profiles.iter().map(|(name, profile)| (name.as_str(), profile)).collect();
    profiles.sort_by_key(|(name, _)| order.iter().position(|other| other == name));
    let bins = bins(&database, &profiles, &links);
    let profiles: Vec<CoverageMaps> = profiles
        .into_iter()
        .map(|(name, profile)| maps(&database, name, profile, &links))
        .collect();
    let uncovered = profiles.iter().map(|one| u64::from(one.reachable - one.hit)).sum();
    let targets: Vec<&String> = links.iter().flatten().flatten().collect();
    let line = |(text, number): (&'static str, usize)| {
        let anchor = anchor(number);
        SourceLine { number, text, is_target: targets.contains(&&anchor) }
    };
    let source = source.filter(|_| !targets.is_empty()).map(|file| Source {
        path: file.path,
        lines: lines.into_iter().zip(1..).map(line).collect(),
    });
    Ok(Coverage { profiles, uncovered, bins, source })
}

fn anchor(line: usize) -> String {
    format!("bins-{line}")
}

/// The anchor of the declaration of each bin: the text of a rule, the line of a value, or for a
/// cross the line of its group.
fn links(
    group: &Group,
    lines: &[&str],
    specification: Option<&Specification>,
) -> Vec<Option<String>> {
    let [axis] = &group.axes[..] else {
        let line = line_of(lines, 0, &group.name, &[": \"", ":"]).map(anchor);
        return vec![line; group.bins()];
    };
    if group.name == RULES {
        let is_there = |value: &GroupValue| {
            specification.is_some_and(|text| text.rules.contains(value.name.as_str()))
        };
        let link = |value: &GroupValue| is_there(value).then(|| format!("spec-{}", value.name));
        return axis.values.iter().map(link).collect();
    }
    let of_group = line_of(lines, 0, &group.name, &[": \"", ":"]);
    let of_axis = line_of(lines, 0, &axis.name, &[" {"]);
    let link = |value: &GroupValue| {
        let first = of_axis.map(|line| line - 1);
        first.and_then(|first| line_of(lines, first, &value.name, &[":"])).or(of_group).map(anchor)
    };
    axis.values.iter().map(link).collect()
}

/// The number of the first line from `first` on with this string literal and what follows it.
fn line_of(lines: &[&str], first: usize, literal: &str, then: &[&str]) -> Option<usize> {
    let is_it = |line: &&str| {
        let (name, text) = (format!("\"{literal}\""), *line);
        then.iter().any(|then| text.contains(&format!("{name}{then}")))
    };
    lines.iter().skip(first).position(is_it).map(|place| first + place + 1)
}

fn bins(database: &Database, profiles: &[(&str, &ProfileBins)], links: &Links) -> Json {
    let profiles = profiles.iter().map(|(name, profile)| {
        let mut hits = database.covered(name).hits.clone();
        hits.resize(database.groups.iter().map(Group::bins).sum(), 0);
        (*name, hits, &profile.unreachable)
    });
    fn names(axis: &GroupAxis) -> (&str, Vec<&str>) {
        (&axis.name, axis.values.iter().map(|value| value.name.as_str()).collect())
    }
    // The bins of a cross share one anchor.
    let short = |links: &Vec<Option<String>>| match links.first() {
        Some(first) if links.iter().all(|link| link == first) => vec![first.clone()],
        _ => links.clone(),
    };
    Json::serialize(&Bins {
        groups: database
            .groups
            .iter()
            .map(|group| (group.name.as_str(), group.axes.iter().map(names).collect()))
            .collect(),
        profiles: profiles.collect(),
        links: links.iter().map(short).collect(),
    })
}

fn maps(database: &Database, name: &str, profile: &ProfileBins, links: &Links) -> CoverageMaps {
    let covered = database.covered(name);
    let mut first = 0;
    let groups = database.groups.iter().zip(links).map(|(group, links)| {
        let map = map(group, profile, &covered, first, links);
        first += group.bins();
        map
    });
    let groups: Vec<CoverageMap> = groups.collect();
    let (percent, ProfileCoverage { reachable, hit, .. }) = (covered.percent(), covered);
    CoverageMaps { profile: name.to_owned(), reachable, hit, percent, groups }
}

fn map(
    group: &Group,
    profile: &ProfileBins,
    covered: &ProfileCoverage,
    first: usize,
    links: &[Option<String>],
) -> CoverageMap {
    let Some((last, others)) = group.axes.split_last() else {
        return CoverageMap {
            name: group.name.clone(),
            about: group.about.clone(),
            reachable: 0,
            hit: 0,
            corner: String::new(),
            columns: Vec::new(),
            rows: Vec::new(),
        };
    };
    // A group with one axis has one value per row.
    let (row_axes, column_axis): (Vec<&GroupAxis>, Option<&GroupAxis>) = match others {
        [] => (vec![last], None),
        others => (others.iter().collect(), Some(last)),
    };
    let mut rows = vec![(Vec::<&GroupValue>::new())];
    for axis in &row_axes {
        rows = rows
            .into_iter()
            .flat_map(|row| {
                axis.values.iter().map(move |value| [row.clone(), vec![value]].concat())
            })
            .collect();
    }
    let width = column_axis.map_or(1, |axis| axis.values.len());
    let (mut reachable, mut hit) = (0, 0);
    let rows = rows.into_iter().enumerate().map(|(number, values)| {
        let cells = (0..width).map(|column| {
            let index = number * width + column;
            let bin = first + index;
            let hits = covered.hits.get(bin).copied().unwrap_or(0);
            let reason = profile.unreachable.get(&(bin as u32)).cloned();
            reachable += usize::from(reason.is_none());
            hit += usize::from(reason.is_none() && hits > 0);
            let heat = hits.checked_ilog10().map_or(0, |power| (power + 1).min(5));
            let link = links.get(index).cloned().flatten();
            Cell { hits, heat, reason, link }
        });
        let names: Vec<&str> = values.iter().map(|value| value.name.as_str()).collect();
        let meanings: Vec<&str> = values.iter().map(|value| value.meaning.as_str()).collect();
        Line { name: names.join(", "), meaning: meanings.join("; "), cells: cells.collect() }
    });
    let rows: Vec<Line> = rows.collect();
    let names: Vec<&str> = row_axes.iter().map(|axis| axis.name.as_str()).collect();
    let corner = match column_axis {
        Some(axis) => format!("{} \\ {}", names.join(", "), axis.name),
        None => names.join(", "),
    };
    let head =
        |value: &GroupValue| Head { name: value.name.clone(), meaning: value.meaning.clone() };
    let columns = match column_axis {
        Some(axis) => axis.values.iter().map(head).collect(),
        None => vec![Head { name: "hits".to_owned(), meaning: String::new() }],
    };
    let (name, about) = (group.name.clone(), group.about.clone());
    CoverageMap { name, about, reachable, hit, corner, columns, rows }
}
