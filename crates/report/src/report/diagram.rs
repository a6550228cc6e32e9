//! The state diagram of a block: states on a circle, transitions colored by hits.

use cosim_harness::harness::BlockInfo;
use cosim_harness::value::short;
use serde::Serialize;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Half the width of the diagram.
const MIDDLE: f64 = 500.0;
/// Distance of the states from the center.
const RADIUS: f64 = 390.0;
/// Horizontal and vertical distance from a state's center to its arrowheads.
const STATE: (f64, f64) = (74.0, 26.0);
/// Distance of a curve to the right of the straight line.
const ASIDE: f64 = 52.0;

/// A state diagram.
#[derive(Debug, Serialize)]
pub struct Diagram {
    states: Vec<State>,
    arrows: Vec<Arrow>,
    size: f64,
}

#[derive(Debug, Serialize)]
struct State {
    name: &'static str,
    x: f64,
    y: f64,
}

/// All transitions from one state to another.
#[derive(Debug, Serialize)]
struct Arrow {
    from: &'static str,
    to: &'static str,
    /// An SVG path.
    path: String,
    /// Position of the label.
    x: f64,
    y: f64,
    /// As in `T19 T20`.
    label: String,
    hits: u64,
    /// The hits, abbreviated to about three digits.
    short: String,
    /// `hot`, `warm`, `cold` or `never`; `cannot` if it is unreachable.
    heat: &'static str,
}

/// The diagram of a block that declares its transitions. `hits` are by rule; unreachable rules are
/// missing.
pub fn of(block: &BlockInfo, hits: &BTreeMap<String, u64>) -> Option<Diagram> {
    let transitions = block.transitions();
    let mut names: Vec<&str> = Vec::new();
    for name in transitions.iter().flat_map(|(from, to, _)| [*from, *to]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return None;
    }
    let at = |name: &str| {
        let place = names.iter().position(|other| *other == name).unwrap_or(0);
        let angle = TAU * place as f64 / names.len() as f64 - TAU / 4.0;
        (MIDDLE + RADIUS * angle.cos(), MIDDLE + RADIUS * angle.sin())
    };
    let mut pairs: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (from, to, rule) in &transitions {
        pairs.entry((from, to)).or_default().push(rule);
    }
    let most = hits.values().copied().max().unwrap_or(0);
    let arrow = |((from, to), rules): ((&'static str, &'static str), Vec<&'static str>)| {
        let counted: Vec<u64> = rules.iter().filter_map(|rule| hits.get(*rule).copied()).collect();
        let sum = counted.iter().sum();
        let heat = match sum {
            _ if counted.is_empty() => "cannot",
            0 => "never",
            // Classes by order of magnitude.
            sum if sum.saturating_mul(20) >= most => "hot",
            sum if sum.saturating_mul(1000) >= most => "warm",
            _ => "cold",
        };
        let (path, x, y) = if from == to { loop_at(at(from)) } else { curve(at(from), at(to)) };
        Arrow {
            from,
            to,
            path,
            x,
            y,
            label: rules.join(" "),
            hits: sum,
            short: short(sum as f64),
            heat,
        }
    };
    Some(Diagram {
        states: names
            .iter()
            .map(|name| (*name, at(name)))
            .map(|(name, (x, y))| State { name, x, y })
            .collect(),
        arrows: pairs.into_iter().map(arrow).collect(),
        size: 2.0 * MIDDLE,
    })
}

/// Distance from a state's center to its edge in the direction of a unit vector.
fn to_edge(dx: f64, dy: f64) -> f64 {
    1.0 / (dx / STATE.0).hypot(dy / STATE.1)
}

/// A curve between two states and the position of its label. It leaves room for the opposite curve.
fn curve((ax, ay): (f64, f64), (bx, by): (f64, f64)) -> (String, f64, f64) {
    let (dx, dy) = (bx - ax, by - ay);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    // Bent towards the center and to the right of its direction.
    let (mx, my) = ((ax + bx) / 2.0, (ay + by) / 2.0);
    let (cx, cy) = (mx + (MIDDLE - mx) * 0.25 - uy * ASIDE, my + (MIDDLE - my) * 0.25 + ux * ASIDE);
    let towards = |x: f64, y: f64| {
        let (dx, dy) = (cx - x, cy - y);
        let length = dx.hypot(dy).max(1.0);
        let (dx, dy) = (dx / length, dy / length);
        (x + dx * to_edge(dx, dy), y + dy * to_edge(dx, dy))
    };
    let ((sx, sy), (ex, ey)) = (towards(ax, ay), towards(bx, by));
    let (lx, ly) = ((sx + 2.0 * cx + ex) / 4.0, (sy + 2.0 * cy + ey) / 4.0);
    (format!("M{sx:.1} {sy:.1}Q{cx:.1} {cy:.1} {ex:.1} {ey:.1}"), lx, ly)
}

/// A loop outside of a state, and the position of its label.
fn loop_at((x, y): (f64, f64)) -> (String, f64, f64) {
    let length = (x - MIDDLE).hypot(y - MIDDLE).max(1.0);
    let (ux, uy) = ((x - MIDDLE) / length, (y - MIDDLE) / length);
    let edge = to_edge(ux, uy);
    let point = |along: f64, across: f64| {
        let along = edge + along;
        (x + ux * along - uy * across, y + uy * along + ux * across)
    };
    let ((ax, ay), (bx, by)) = (point(-4.0, 14.0), point(-2.0, -14.0));
    let ((cx, cy), (dx, dy)) = (point(52.0, 40.0), point(52.0, -40.0));
    let (lx, ly) = point(56.0, 0.0);
    (format!("M{ax:.1} {ay:.1}C{cx:.1} {cy:.1} {dx:.1} {dy:.1} {bx:.1} {by:.1}"), lx, ly)
}
