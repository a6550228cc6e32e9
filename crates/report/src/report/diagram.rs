//! The state diagram of a block: a layered layout of its states, with transitions coloured by hits.
//!
//! The layout depends on the names of states and rules alone, so it is the same in each run.
//! `dagre` computes it; this module converts declared transitions to a graph, and its points to SVG
//! paths.

use cosim_harness::harness::BlockInfo;
use cosim_harness::value::short;
use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, GraphLabel, LayoutOptions, NodeLabel, layout};
use serde::Serialize;
use std::collections::BTreeMap;

/// Width of a character of a state's name and of a label, and height of a label's line.
const CHARACTER: [f64; 2] = [8.5, 7.3];
const LINE: f64 = 15.0;
/// Height of a state, and room beside its name.
const STATE: (f64, f64) = (34.0, 28.0);
/// Room for a loop between a state and the label of the loop.
const LOOP: f64 = 30.0;
const MARGIN: f64 = 12.0;
const RULES_PER_LINE: usize = 3;

#[derive(Debug, Serialize)]
pub struct Diagram {
    states: Vec<State>,
    arrows: Vec<Arrow>,
    width: f64,
    height: f64,
    /// Names of the profiles, in the order of the hits of an arrow.
    profiles: Vec<String>,
}

#[derive(Debug, Serialize)]
struct State {
    name: &'static str,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// All transitions from one state to another.
#[derive(Debug, Serialize)]
struct Arrow {
    from: &'static str,
    to: &'static str,
    rules: Vec<&'static str>,
    path: String,
    /// The lines of the label without the hits.
    lines: Vec<Text>,
    /// Position of the hits.
    x: f64,
    y: f64,
    hits: Vec<Hits>,
}

#[derive(Debug, Serialize)]
struct Text {
    y: f64,
    text: String,
}

#[derive(Debug, Serialize)]
struct Hits {
    count: u64,
    /// About three digits; empty if the transition is unreachable.
    short: String,
    /// `hot`, `warm`, `cold` or `never`; `cannot` if it is unreachable.
    heat: &'static str,
}

/// The diagram of a block that declares its transitions. `profiles` are names and hits by rule;
/// unreachable rules are missing.
pub fn draw_diagram(
    block: &BlockInfo,
    profiles: &[(&str, &BTreeMap<String, u64>)],
) -> Option<Diagram> {
    draw(&block.transitions, profiles)
}

fn draw(
    transitions: &[(&'static str, &'static str, &'static str)],
    profiles: &[(&str, &BTreeMap<String, u64>)],
) -> Option<Diagram> {
    let mut names: Vec<&'static str> = Vec::new();
    let mut pairs: Vec<((&'static str, &'static str), Vec<&'static str>)> = Vec::new();
    for (from, to, rule) in transitions {
        for name in [*from, *to] {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match pairs.iter_mut().find(|(pair, _)| *pair == (*from, *to)) {
            Some((_, rules)) => rules.push(rule),
            None => pairs.push(((from, to), vec![rule])),
        }
    }
    if names.is_empty() {
        return None;
    }
    let options = GraphOptions { directed: true, multigraph: true, compound: true };
    let mut graph: Graph<NodeLabel, EdgeLabel> = Graph::with_options(options);
    for name in &names {
        let width = name.chars().count() as f64 * CHARACTER[0] + STATE.1;
        let node = NodeLabel { width, height: STATE.0, ..NodeLabel::default() };
        graph.set_node((*name).to_owned(), Some(node));
    }
    for ((from, to), rules) in &pairs {
        let lines = lines(rules);
        let loop_width = if from == to { LOOP } else { 0.0 };
        let edge = EdgeLabel {
            width: width_of(&lines) + loop_width,
            height: (lines.len() + 1) as f64 * LINE,
            labelpos: LabelPos::Center,
            ..EdgeLabel::default()
        };
        graph.set_edge(*from, *to, Some(edge), None);
    }
    let options = LayoutOptions {
        nodesep: 18.0,
        edgesep: 8.0,
        ranksep: 22.0,
        marginx: MARGIN,
        marginy: MARGIN,
        ..LayoutOptions::default()
    };
    layout(&mut graph, Some(options));

    let state = |name: &&'static str| {
        let node = graph.node(name)?;
        let (x, y, width, height) = (node.x?, node.y?, node.width, node.height);
        Some(State { name, x: rounded(x), y: rounded(y), width, height })
    };
    let states = names.iter().map(state).collect::<Option<Vec<State>>>()?;
    let most: Vec<u64> = totals(profiles, |hits| hits.values().copied().max());
    let arrow = |((from, to), rules): &((&'static str, &'static str), Vec<&'static str>)| {
        let edge = graph.edge(from, to, None)?;
        let points: Vec<(f64, f64)> = edge.points.iter().map(|point| (point.x, point.y)).collect();
        let (is_loop, middle) = (from == to, edge.y?);
        let lines = lines(rules);
        // The label of a loop is beside the loop.
        let right = |node: &NodeLabel| Some(node.x? + node.width / 2.0);
        let x = match is_loop {
            true => right(graph.node(from)?)? + LOOP + width_of(&lines) / 2.0,
            false => edge.x?,
        };
        let x = rounded(x);
        let top = middle - (lines.len() + 1) as f64 * LINE / 2.0 + 11.0;
        let at = |line: usize| rounded(top + line as f64 * LINE);
        let y = at(lines.len());
        let lines = lines.into_iter().enumerate();
        let lines = lines.map(|(number, text)| Text { y: at(number), text }).collect();
        let sums = profiles.iter().map(|(_, hits)| {
            let counted: Vec<u64> =
                rules.iter().filter_map(|rule| hits.get(*rule).copied()).collect();
            (!counted.is_empty()).then(|| counted.iter().sum::<u64>())
        });
        let sums: Vec<Option<u64>> = sums.collect();
        let all = sums.iter().flatten().copied().reduce(|one, other| one + other);
        let hits = std::iter::once(&all).chain(&sums).zip(&most);
        let hits = hits.map(|(sum, most)| Hits::from_sum(*sum, *most)).collect();
        let path = if is_loop { loop_at(graph.node(from)?)? } else { path(&points) };
        Some(Arrow { from, to, rules: rules.clone(), path, lines, x, y, hits })
    };
    let arrows = pairs.iter().map(arrow).collect::<Option<Vec<Arrow>>>()?;
    let size = graph.graph_label::<GraphLabel>()?;
    Some(Diagram {
        states,
        arrows,
        width: rounded(size.width.max(1.0)),
        height: rounded(size.height.max(1.0)),
        profiles: profiles.iter().map(|(name, _)| (*name).to_owned()).collect(),
    })
}

/// The largest count of all profiles together, then of each one.
fn totals(
    profiles: &[(&str, &BTreeMap<String, u64>)],
    of: fn(&BTreeMap<String, u64>) -> Option<u64>,
) -> Vec<u64> {
    let each: Vec<u64> = profiles.iter().map(|(_, hits)| of(hits).unwrap_or(0)).collect();
    std::iter::once(each.iter().sum()).chain(each.iter().copied()).collect()
}

impl Hits {
    fn from_sum(sum: Option<u64>, most: u64) -> Self {
        let heat = match sum {
            None => "cannot",
            Some(0) => "never",
            // Classes by order of magnitude.
            Some(sum) if sum.saturating_mul(20) >= most => "hot",
            Some(sum) if sum.saturating_mul(1000) >= most => "warm",
            Some(_) => "cold",
        };
        let short = sum.map_or_else(String::new, |sum| short(sum as f64));
        Self { count: sum.unwrap_or(0), short, heat }
    }
}

/// The rules of an arrow as lines of a label.
fn lines(rules: &[&str]) -> Vec<String> {
    rules.chunks(RULES_PER_LINE).map(|rules| rules.join(" ")).collect()
}

fn width_of(lines: &[String]) -> f64 {
    let length = lines.iter().map(|line| line.chars().count().max(5)).max().unwrap_or(0);
    length as f64 * CHARACTER[1] + 6.0
}

fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// A smooth path through all points. It is vertical at points between layers, where labels are.
fn path(points: &[(f64, f64)]) -> String {
    let Some(first) = points.first() else { return String::new() };
    let at = |(x, y): (f64, f64)| format!("{} {}", rounded(x), rounded(y));
    let mut path = format!("M{}", at(*first));
    for (place, pair) in points.windows(2).enumerate() {
        let (from, to) = (pair[0], pair[1]);
        let middle = (from.1 + to.1) / 2.0;
        // At a state the path may leave in any direction.
        let leaves = if place == 0 { from } else { (from.0, middle) };
        let arrives = if place + 2 == points.len() { to } else { (to.0, middle) };
        path += &format!("C{} {} {}", at(leaves), at(arrives), at(to));
    }
    path
}

/// A loop at the right side of a state.
fn loop_at(node: &NodeLabel) -> Option<String> {
    let (right, y) = (rounded(node.x? + node.width / 2.0), rounded(node.y?));
    let far = right + LOOP * 1.25;
    Some(format!("M{right} {}C{far} {} {far} {} {right} {}", y - 7.0, y - 22.0, y + 22.0, y + 7.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with a loop, two transitions between the same states, and a way back.
    const MACHINE: [(&str, &str, &str); 6] = [
        ("IDLE", "IDLE", "T1"),
        ("IDLE", "LOCKED", "T2"),
        ("IDLE", "LOCKED", "T3"),
        ("LOCKED", "LOCKED", "T4"),
        ("LOCKED", "DRAIN", "T5"),
        ("DRAIN", "IDLE", "T6"),
    ];

    fn drawn() -> Diagram {
        let count = |all: &[(&str, u64)]| {
            all.iter().map(|(name, hits)| ((*name).to_owned(), *hits)).collect::<BTreeMap<_, _>>()
        };
        let one = count(&[("T1", 100_000), ("T2", 3), ("T3", 4), ("T4", 0), ("T5", 7)]);
        let two = count(&[("T1", 0), ("T2", 0), ("T3", 0), ("T4", 0), ("T5", 0)]);
        draw(&MACHINE, &[("spec", &one), ("repaired", &two)]).unwrap()
    }

    #[test]
    fn states_do_not_overlap_and_layers_follow_transitions() {
        let Diagram { states, width, height, .. } = drawn();
        for state in &states {
            let (right, bottom) = (state.x + state.width / 2.0, state.y + state.height / 2.0);
            assert!(right <= width && bottom <= height, "{state:?} is outside");
            for other in states.iter().filter(|other| other.name != state.name) {
                let apart = (state.x - other.x).abs() >= (state.width + other.width) / 2.0
                    || (state.y - other.y).abs() >= (state.height + other.height) / 2.0;
                assert!(apart, "{state:?} overlaps {other:?}");
            }
        }
        let y = |name: &str| states.iter().find(|state| state.name == name).unwrap().y;
        assert!(y("IDLE") < y("LOCKED") && y("LOCKED") < y("DRAIN"));
    }

    #[test]
    fn no_label_covers_a_state_or_another_label() {
        let Diagram { states, arrows, .. } = drawn();
        let mut boxes: Vec<(String, [f64; 4])> = Vec::new();
        for State { name, x, y, width, height } in &states {
            let (w, h) = (width / 2.0, height / 2.0);
            boxes.push(((*name).to_owned(), [x - w, y - h, x + w, y + h]));
        }
        for arrow in &arrows {
            let (top, bottom) = (arrow.lines[0].y - 10.0, arrow.y + 2.0);
            boxes.push((arrow.rules.join(" "), [arrow.x - 15.0, top, arrow.x + 15.0, bottom]));
        }
        for (place, (name, one)) in boxes.iter().enumerate() {
            for (other_name, other) in &boxes[place + 1..] {
                let apart = one[2] <= other[0]
                    || other[2] <= one[0]
                    || one[3] <= other[1]
                    || other[3] <= one[1];
                assert!(apart, "{name} {one:?} covers {other_name} {other:?}");
            }
        }
    }

    #[test]
    fn an_arrow_has_the_hits_of_each_profile() {
        let Diagram { arrows, profiles, .. } = drawn();
        assert_eq!(profiles, ["spec", "repaired"]);
        let heats = |rule: &str| {
            let arrow = arrows.iter().find(|arrow| arrow.rules.contains(&rule)).unwrap();
            arrow.hits.iter().map(|hits| (hits.count, hits.heat)).collect::<Vec<_>>()
        };
        assert_eq!(heats("T1"), [(100_000, "hot"), (100_000, "hot"), (0, "never")]);
        assert_eq!(heats("T2"), [(7, "cold"), (7, "cold"), (0, "never")]);
        assert_eq!(heats("T4"), [(0, "never"), (0, "never"), (0, "never")]);
        assert_eq!(heats("T6"), [(0, "cannot"), (0, "cannot"), (0, "cannot")]);
    }

    #[test]
    fn the_same_machine_gives_the_same_layout() {
        let text = || serde_json::to_string(&drawn()).unwrap();
        let first = text();
        // Maps with random hashes would order states differently in some of these.
        assert!((0..20).all(|_| text() == first));
    }
}
