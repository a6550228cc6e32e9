//! The groups of `coverage.json` as tables: a heat map for each cross.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The file; `docs/coverage.md` has its format.
const FILE: &str = "coverage.json";

#[derive(Debug, Deserialize)]
struct Database {
    groups: Vec<Group>,
    profiles: Vec<Profile>,
}

#[derive(Debug, Deserialize)]
struct Group {
    name: String,
    about: String,
    axes: Vec<Axis>,
}

#[derive(Debug, Deserialize)]
struct Axis {
    name: String,
    values: Vec<Value>,
}

#[derive(Debug, Clone, Deserialize)]
struct Value {
    name: String,
    meaning: String,
}

#[derive(Debug, Deserialize)]
struct Profile {
    profile: String,
    reachable: u64,
    hit: u64,
    hits: Vec<u64>,
    #[serde(default)]
    unreachable: BTreeMap<String, String>,
}

/// What a profile covered.
#[derive(Debug, Serialize)]
pub struct Covered {
    profile: String,
    reachable: u64,
    hit: u64,
    percent: String,
    groups: Vec<Map>,
}

/// A group: rows are combinations of all axes but the last.
#[derive(Debug, Serialize)]
struct Map {
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
    /// 0 to 5, by orders of magnitude.
    heat: u32,
    /// Why it cannot be hit.
    reason: Option<String>,
}

/// What a run directory's coverage says; nothing if it has none that can be read.
pub fn of(folder: &Path) -> Vec<Covered> {
    let text = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    let Ok(database) = serde_json::from_str::<Database>(&text) else { return Vec::new() };
    let Database { groups, profiles } = database;
    profiles.iter().map(|profile| covered(&groups, profile)).collect()
}

fn covered(groups: &[Group], profile: &Profile) -> Covered {
    let mut first = 0;
    let groups = groups.iter().map(|group| {
        let map = map(group, profile, first);
        first += group.axes.iter().map(|axis| axis.values.len()).product::<usize>();
        map
    });
    let groups: Vec<Map> = groups.collect();
    let Profile { profile, reachable, hit, .. } = profile;
    let percent = match reachable {
        0 => "100".to_owned(),
        // Never 100 while something is missing.
        reachable => format!("{:.1}", (hit * 1000 / reachable) as f64 / 10.0),
    };
    Covered { profile: profile.clone(), reachable: *reachable, hit: *hit, percent, groups }
}

fn map(group: &Group, profile: &Profile, first: usize) -> Map {
    let Some((last, others)) = group.axes.split_last() else {
        return Map {
            name: group.name.clone(),
            about: group.about.clone(),
            reachable: 0,
            hit: 0,
            corner: String::new(),
            columns: Vec::new(),
            rows: Vec::new(),
        };
    };
    // A group with one axis stands upright: a value a row.
    let (row_axes, column_axis): (Vec<&Axis>, Option<&Axis>) = match others {
        [] => (vec![last], None),
        others => (others.iter().collect(), Some(last)),
    };
    let mut rows = vec![(Vec::<&Value>::new())];
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
            let hits = profile.hits.get(bin).copied().unwrap_or(0);
            let reason = profile.unreachable.get(&bin.to_string()).cloned();
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
    let head = |value: &Value| Head { name: value.name.clone(), meaning: value.meaning.clone() };
    let columns = match column_axis {
        Some(axis) => axis.values.iter().map(head).collect(),
        None => vec![Head { name: "hits".to_owned(), meaning: String::new() }],
    };
    let (name, about) = (group.name.clone(), group.about.clone());
    Map { name, about, reachable, hit, corner, columns, rows }
}
