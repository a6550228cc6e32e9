//! Cuts the memories out of two netlists under equal names.
//!
//! Memories are paired by name, and those that are left by shape. Any pairing is sound: equal
//! memories with equal initial contents that are written equally return equal data. A wrong
//! pairing only shows differences that do not exist.

use super::{Cut, Kind as _, Latches, cut_as, rank};
use cosim_rtl::rtlil::{self, Cell, Memory, Unknown, cells_and_connections, plain};
use std::collections::{BTreeMap, HashMap};

/// A memory and its ports.
#[derive(Debug, Default)]
struct Shape {
    /// Size and initial contents, and the parameters of the ports in order.
    shape: Vec<String>,
    /// The cells of the ports, each with its kind and its place among those of this kind.
    ports: Vec<(String, String)>,
}

/// The parameters of a port that its place and its memory say already.
const BESIDE: [&str; 3] = ["\\MEMID", "\\PORTID", "\\PRIORITY"];

fn memories(netlist: &str) -> BTreeMap<String, Shape> {
    let mut all: BTreeMap<String, Shape> = BTreeMap::new();
    for Memory { name, width, size, offset } in rtlil::memories(netlist) {
        let shape = format!("{size} words of {width} bits from {offset}");
        all.entry(name.to_owned()).or_default().shape.push(shape);
    }
    let cells = cells_and_connections(netlist).0;
    let mut ports: Vec<(&Cell<'_>, String)> =
        cells.iter().filter_map(|cell| Some((cell, cell.memory()?))).collect();
    ports.sort_by_key(|(cell, _)| (cell.kind, rank(cell)));
    let mut places: HashMap<(String, &str), usize> = HashMap::new();
    for (cell, memory) in ports {
        let kind = cell.kind.trim_end_matches("_v2").trim_start_matches("$mem");
        let mut facts = vec![cell.kind.to_owned()];
        let parameters = cell.parameters().filter(|(name, _)| !BESIDE.contains(name));
        facts.extend(parameters.map(|(name, value)| format!("{name} {value}")));
        if kind == "init" {
            facts.extend(cell.ports().map(|(port, value)| format!("{port} {value}")));
        }
        let place = places.entry((memory.clone(), kind)).or_default();
        let memory = all.entry(memory).or_default();
        memory.shape.push(facts.join(" "));
        memory.ports.push((cell.name.to_owned(), format!("{kind}{place}")));
        *place += 1;
    }
    all
}

/// Cuts the memories out of both netlists like [`cut`](super::cut). Ports of paired memories get
/// equal names.
///
/// # Errors
/// [`Unknown`] as [`cut`](super::cut), or if a memory has no partner.
pub fn cut_pair(netlists: [&str; 2], clock: &str) -> Result<[Cut; 2], Unknown> {
    let [left, mut right] = netlists.map(memories);
    let mut names: [HashMap<String, String>; 2] = Default::default();
    let mut alone = Vec::new();
    let mut pair = |number: usize, left: Shape, right: Shape| {
        for (names, memory) in names.iter_mut().zip([left, right]) {
            let named = |(cell, port)| (cell, format!("{number}_{port}"));
            names.extend(memory.ports.into_iter().map(named));
        }
    };
    for (number, (name, memory)) in left.into_iter().enumerate() {
        match right.get(&name).is_some_and(|other| other.shape == memory.shape) {
            true => {
                let other = right.remove(&name).unwrap_or_default();
                pair(number, memory, other);
            }
            false => alone.push((number, name, memory)),
        }
    }
    for (number, name, memory) in alone {
        let other = right.iter().find(|(_, other)| other.shape == memory.shape);
        let Some(other) = other.map(|(other, _)| other.clone()) else {
            return Err(Unknown(format!("only the old RTL has a memory like {}", plain(&name))));
        };
        let other = right.remove(&other).unwrap_or_default();
        pair(number, memory, other);
    }
    if let Some(name) = right.keys().next() {
        return Err(Unknown(format!("only the new RTL has a memory like {}", plain(name))));
    }
    let [left, right] = [0, 1].map(|side: usize| {
        cut_as(netlists[side], clock, Latches::Refused, &|cell, count| {
            names[side].get(plain(cell.name)).cloned().unwrap_or_else(|| count.to_string())
        })
    });
    Ok([left?, right?])
}
