//! Cuts the memories out of two netlists under equal names.
//!
//! Memories are paired by name, and those that are left by shape. Any pairing is sound: equal
//! memories with equal initial contents that are written equally return equal data. A wrong
//! pairing only shows differences that do not exist.

use super::{Cell, cut_as, parts};
use crate::rtlil::{Unknown, plain};
use std::collections::{BTreeMap, HashMap};

/// A memory and its ports.
#[derive(Debug, Default)]
struct Memory {
    /// Size and initial contents, and the parameters of the ports in order.
    shape: Vec<String>,
    /// The cells of the ports, each with its kind and its place among those of this kind.
    ports: Vec<(String, String)>,
}

/// The parameters of a port that its place and its memory say already.
const BESIDE: [&str; 3] = ["\\MEMID", "\\PORTID", "\\PRIORITY"];

fn memories(netlist: &str) -> BTreeMap<String, Memory> {
    let mut all: BTreeMap<String, Memory> = BTreeMap::new();
    for line in netlist.lines() {
        if let Some((options, name)) =
            line.trim().strip_prefix("memory ").and_then(|memory| memory.rsplit_once(' '))
        {
            all.entry(name.to_owned()).or_default().shape.push(options.to_owned());
        }
    }
    let cells = parts(netlist).0;
    let rank = |cell: &Cell<'_>| {
        let number = |name| {
            let text = cell.find("parameter", name)?;
            let text = text.split_once('\'').map_or(text, |(_, bits)| bits);
            i64::from_str_radix(text, if text.len() > 9 { 2 } else { 10 }).ok()
        };
        number("\\PORTID").or_else(|| number("\\PRIORITY")).unwrap_or(0)
    };
    let mut ports: Vec<(&Cell<'_>, String)> =
        cells.iter().filter_map(|cell| Some((cell, cell.memory()?))).collect();
    ports.sort_by_key(|(cell, _)| (cell.kind, rank(cell)));
    let mut places: HashMap<(String, &str), usize> = HashMap::new();
    for (cell, memory) in ports {
        let kind = cell.kind.trim_end_matches("_v2").trim_start_matches("$mem");
        let mut facts = vec![cell.kind.to_owned()];
        let parameters =
            cell.inside.iter().filter_map(|line| line.trim().strip_prefix("parameter "));
        facts.extend(
            parameters
                .filter(|text| !BESIDE.iter().any(|name| text.split(' ').any(|word| word == *name)))
                .map(str::to_owned),
        );
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
pub fn cut_pair(netlists: [&str; 2], clock: &str) -> Result<[String; 2], Unknown> {
    let [left, mut right] = netlists.map(memories);
    let mut names: [HashMap<String, String>; 2] = Default::default();
    let mut alone = Vec::new();
    let mut pair = |number: usize, left: Memory, right: Memory| {
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
        cut_as(netlists[side], clock, &|cell, count| {
            names[side].get(plain(cell.name)).cloned().unwrap_or_else(|| count.to_string())
        })
    });
    Ok([left?, right?])
}
