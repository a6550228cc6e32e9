//! Tables of the groups in `coverage.json`: a heat map for each cross.

use cosim_base::error::Error;
use cosim_formats::coverage::{
    COVERAGE, Database, Group, GroupAxis, GroupValue, ProfileBins, ProfileCoverage,
};
use serde::Serialize;
use std::path::Path;

/// The coverage of a profile.
#[derive(Debug, Serialize)]
pub struct CoverageMaps {
    profile: String,
    reachable: u32,
    hit: u32,
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
}

/// The tables of a run directory; empty if it has no coverage.
///
/// # Errors
/// If the file cannot be read.
pub fn of(folder: &Path) -> Result<Vec<CoverageMaps>, Error> {
    let path = folder.join(COVERAGE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let database = Database::read(&path)?;
    Ok(database.profiles.iter().map(|(name, profile)| maps(&database, name, profile)).collect())
}

fn maps(database: &Database, name: &str, profile: &ProfileBins) -> CoverageMaps {
    let covered = database.covered(name);
    let mut first = 0;
    let groups = database.groups.iter().map(|group| {
        let map = map(group, profile, &covered, first);
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
            let bin = first + number * width + column;
            let hits = covered.hits.get(bin).copied().unwrap_or(0);
            let reason = profile.unreachable.get(&(bin as u32)).cloned();
            reachable += usize::from(reason.is_none());
            hit += usize::from(reason.is_none() && hits > 0);
            let heat = hits.checked_ilog10().map_or(0, |power| (power + 1).min(5));
            Cell { hits, heat, reason }
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
