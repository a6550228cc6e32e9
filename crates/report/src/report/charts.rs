//! Charts of many runs: one point for each run, with its date, its value on hover, and a link.

use super::runs::{day, link, minute};
use crate::history::Run;
use cosim_harness::value::short;
use serde::Serialize;
use std::path::Path;

/// Size of a chart in its own units, which are pixels on a phone.
const SIZE: (f64, f64) = (360.0, 170.0);
/// Space left of, above, right of and below the points.
const SPACE: [f64; 4] = [52.0, 12.0, 12.0, 26.0];
const MOST_POINTS: usize = 60;

#[derive(Debug, Serialize)]
pub struct Chart {
    title: String,
    /// The line, and the area below it.
    line: String,
    points: Vec<Point>,
    /// Positions and texts of the marks at the vertical axis.
    values: Vec<Mark>,
    dates: Vec<Mark>,
    /// First, last, smallest and largest value, for those who do not see the chart.
    summary: String,
}

#[derive(Debug, Serialize)]
struct Point {
    x: f64,
    y: f64,
    /// Date, value and run.
    text: String,
    href: Option<String>,
    failed: bool,
    /// Whether the run compares with the last one.
    is_like: bool,
}

#[derive(Debug, Serialize)]
struct Mark {
    at: f64,
    text: String,
}

pub struct Measure {
    pub title: &'static str,
    pub of: fn(&Run) -> f64,
    pub text: fn(f64) -> String,
    /// The largest value of the axis, if it is known.
    pub most: Option<f64>,
}

/// Measures that are drawn for every block.
pub const MEASURES: [Measure; 3] = [
    Measure {
        title: "Coverage",
        of: |run| 100.0 * run.bins_hit as f64 / run.bins_reachable.max(1) as f64,
        text: |value| match value.fract() == 0.0 {
            true => format!("{value} %"),
            false => format!("{:.1} %", (value * 10.0).floor() / 10.0),
        },
        most: Some(100.0),
    },
    Measure {
        title: "Failed cases",
        of: |run| run.failed as f64,
        text: |value| format!("{value:.0}"),
        most: None,
    },
    Measure {
        title: "Cycles per second",
        of: |run| run.cycles_per_second,
        text: short,
        most: None,
    },
];

/// The charts of runs of one block, oldest first; empty for fewer than two runs. Links are
/// relative to `folder`.
pub fn draw_charts(runs: &[Run], folder: &Path) -> Vec<Chart> {
    let runs = &runs[runs.len().saturating_sub(MOST_POINTS)..];
    match runs.len() {
        0 | 1 => Vec::new(),
        _ => MEASURES.iter().map(|measure| chart(runs, measure, folder)).collect(),
    }
}

fn chart(runs: &[Run], measure: &Measure, folder: &Path) -> Chart {
    let values: Vec<f64> = runs.iter().map(measure.of).collect();
    let highest = values.iter().copied().fold(0.0, f64::max);
    let most = round_up(measure.most.unwrap_or(highest));
    let [left, top, right, bottom] = SPACE;
    let (width, height) = (SIZE.0 - left - right, SIZE.1 - top - bottom);
    let x = |place: usize| tenth(left + place as f64 * width / (runs.len() - 1) as f64);
    let y = |value: f64| tenth(top + height - value / most * height);
    let points: Vec<Point> = runs
        .iter()
        .zip(&values)
        .enumerate()
        .map(|(place, (run, value))| Point {
            x: x(place),
            y: y(*value),
            text: format!(
                "{}: {}, {}, seed {}",
                minute(&run.ended),
                (measure.text)(*value),
                run.verdict,
                run.seed
            ),
            href: link(run, folder),
            failed: run.verdict != "PASS",
            is_like: run.is_like(&runs[runs.len() - 1]),
        })
        .collect();
    // The line joins runs that compare.
    let at =
        points.iter().filter(|point| point.is_like).map(|point| format!("{} {}", point.x, point.y));
    let at: Vec<String> = at.collect();
    let line = if at.is_empty() { String::new() } else { format!("M{}", at.join("L")) };
    let mark = |value: f64| Mark { at: y(value), text: (measure.text)(value) };
    let marks = match most > 1.0 || measure.most.is_some() {
        true => vec![mark(0.0), mark(most / 2.0), mark(most)],
        false => vec![mark(0.0), mark(most)],
    };
    let (lowest, last) =
        (values.iter().copied().fold(f64::INFINITY, f64::min), values[values.len() - 1]);
    let text = measure.text;
    Chart {
        title: measure.title.to_owned(),
        line,
        points,
        values: marks,
        dates: dates(runs, x),
        summary: format!(
            "{} of {} runs from {} to {}: last {}, lowest {}, highest {}",
            measure.title,
            runs.len(),
            day(&runs[0].ended),
            day(&runs[runs.len() - 1].ended),
            text(last),
            text(lowest),
            text(highest)
        ),
    }
}

/// The dates of the first, the middle and the last run. If all are of one day, the first has the
/// date and the others have times of day.
fn dates(runs: &[Run], x: impl Fn(usize) -> f64) -> Vec<Mark> {
    let last = runs.len() - 1;
    let is_one_day = day(&runs[0].ended) == day(&runs[last].ended);
    let text = |place: usize| match (is_one_day, place) {
        (true, 0) => minute(&runs[0].ended),
        (true, _) => runs[place].ended.get(11..16).unwrap_or_default().to_owned(),
        (false, _) => day(&runs[place].ended).to_owned(),
    };
    let mut places = vec![0, last / 2, last];
    places.dedup();
    let mut marks: Vec<Mark> = Vec::new();
    for place in places {
        let text = text(place);
        if marks.last().is_none_or(|mark| mark.text != text) {
            marks.push(Mark { at: x(place), text });
        }
    }
    marks
}

/// The next number with one digit other than zero, or 1.
fn round_up(value: f64) -> f64 {
    if value <= 1.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.into_iter().map(|step| step * power).find(|step| *step >= value).unwrap_or(value)
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(ended: &str, failed: u64) -> Run {
        Run {
            ended: ended.to_owned(),
            block: "b".to_owned(),
            seed: "1".to_owned(),
            rtl: String::new(),
            build: String::new(),
            commit: None,
            verdict: if failed > 0 { "FAIL" } else { "PASS" }.to_owned(),
            cases: 10,
            failed,
            cycles: 1,
            cycles_per_second: 2.5e6,
            bins_hit: 999,
            bins_reachable: 1000,
            plan: "p".to_owned(),
            given: String::new(),
            folder: None,
        }
    }

    #[test]
    fn charts_have_dated_axes_and_a_point_for_each_run() {
        let runs = [
            run("2026-01-01T02:00:00.000Z", 0),
            run("2026-01-02T02:00:00.000Z", 30),
            run("2026-01-03T02:00:00.000Z", 0),
        ];
        let charts = draw_charts(&runs, Path::new("/"));
        let failed = &charts[1];
        let dates: Vec<&str> = failed.dates.iter().map(|mark| mark.text.as_str()).collect();
        assert_eq!(dates, ["2026-01-01", "2026-01-02", "2026-01-03"]);
        let values: Vec<&str> = failed.values.iter().map(|mark| mark.text.as_str()).collect();
        assert_eq!(values, ["0", "20", "40"]);
        assert!(failed.points[1].y < failed.points[0].y && failed.points[1].failed);
        assert!(failed.points[1].text.starts_with("2026-01-02 02:00: 30, FAIL"));
        assert!(charts[0].points[0].text.contains("99.9 %"), "not rounded up to 100");
        assert!(draw_charts(&runs[..1], Path::new("/")).is_empty());
        // Runs of one day have times of day.
        let runs = [run("2026-01-01T02:00:00Z", 0), run("2026-01-01T03:30:00Z", 0)];
        let dates = draw_charts(&runs, Path::new("/")).remove(0).dates;
        assert_eq!(
            dates.iter().map(|mark| mark.text.as_str()).collect::<Vec<_>>(),
            ["2026-01-01 02:00", "03:30"]
        );
    }

    #[test]
    fn axes_end_at_round_numbers() {
        let all = [0.0, 0.4, 1.0, 1.5, 30.0, 41.0, 99.0, 2_500_000.0].map(round_up);
        assert_eq!(all, [1.0, 1.0, 1.0, 2.0, 40.0, 50.0, 100.0, 4_000_000.0]);
    }
}
