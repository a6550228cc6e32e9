//! What follows from all that drives and reads the variables of a design.

use super::Report;
use super::design::{Access, Direction, Kind, Link, Module};
use super::ranges::Ranges;
use std::collections::{BTreeMap, BTreeSet};

/// How deep signals are followed.
const DEEPEST: u32 = 100;

/// The modules of a design by name.
pub(super) type Modules<'a> = BTreeMap<&'a str, Module<'a>>;

/// Examines each variable of a module.
pub(super) fn variables(module: &Module<'_>, report: &mut Report) {
    let mut drivers: BTreeMap<usize, Vec<&Access<'_>>> = BTreeMap::new();
    let mut reads: BTreeMap<usize, Vec<&Access<'_>>> = BTreeMap::new();
    module.drivers.iter().for_each(|one| drivers.entry(one.variable).or_default().push(one));
    module.reads.iter().for_each(|one| reads.entry(one.variable).or_default().push(one));
    for (id, variable) in module.variables.iter().enumerate() {
        if variable.is_local || variable.is_parameter || variable.size == 0 {
            continue;
        }
        let drivers = drivers.get(&id).map(Vec::as_slice).unwrap_or_default();
        let reads = reads.get(&id).map(Vec::as_slice).unwrap_or_default();
        let name = variable.element.name();
        let is_private = module.is_private(id);
        let mut set = Ranges::default();
        if variable.direction == Direction::In {
            if let Some(one) = drivers.first() {
                report.add(one.place, format!("the input `{name}` is set"));
            }
            continue;
        }
        if !is_private {
            several(module, id, drivers, report);
        }
        drivers.iter().for_each(|one| set.add(one.bits));
        for read in reads {
            if !set.contains(read.bits) {
                report.add(read.place, format!("nothing sets `{name}`, or all bits of it"));
            }
        }
        if variable.direction == Direction::Out && !set.contains((0, variable.size)) {
            report.add(
                variable.element,
                format!("nothing sets the output `{name}`, or all bits of it"),
            );
        }
        if !is_private {
            immediate(module, id, drivers, reads, report);
            states(module, id, reads, report);
        }
    }
    for (process, known, edge) in &module.reset_states {
        let mut set: BTreeMap<usize, Ranges> = BTreeMap::new();
        for one in module.drivers.iter().filter(|one| one.process == *process) {
            set.entry(one.variable).or_default().add(one.bits);
        }
        for (id, bits) in set.into_iter().filter(|(id, _)| !module.is_private(*id)) {
            if !known.get(&id).is_some_and(|known| known.contains_all(&bits)) {
                report.add(
                    edge,
                    format!("the asynchronous reset does not set `{}`", module.name(id)),
                );
            }
        }
    }
}

/// Requires that each bit has one driver, apart from an initial value of a register.
fn several(module: &Module<'_>, id: usize, drivers: &[&Access<'_>], report: &mut Report) {
    let name = module.name(id);
    // A net that is assigned a constant is in the tree as if the constant were its initial value.
    let is_net = module.variables[id].element.child("const").is_some();
    let is_start = |one: &Access<'_>, other: &Access<'_>| {
        one.kind == Kind::Initial && other.kind == Kind::Clocked && !is_net
    };
    let mut processes: BTreeMap<usize, (Ranges, Vec<&Access<'_>>)> = BTreeMap::new();
    for one in drivers {
        let process = processes.entry(one.process).or_default();
        process.0.add(one.bits);
        process.1.push(one);
    }
    let processes: Vec<_> = processes.values().collect();
    for (at, (bits, of)) in processes.iter().enumerate() {
        for (other_bits, others) in &processes[..at] {
            let Some((one, other)) = of.first().zip(others.first()) else { continue };
            if bits.common(other_bits).is_empty() || is_start(one, other) || is_start(other, one) {
                continue;
            }
            report.add(one.place, format!("two processes or assignments set `{name}`"));
        }
    }
}

/// Requires that no other process reads what a clocked one sets with `=`.
fn immediate(
    module: &Module<'_>,
    id: usize,
    drivers: &[&Access<'_>],
    reads: &[&Access<'_>],
    report: &mut Report,
) {
    let name = module.name(id);
    let Some(set) = drivers.iter().find(|one| one.kind == Kind::Clocked && one.is_immediate) else {
        return;
    };
    let is_other = |one: &&&Access<'_>| one.process != set.process || one.kind == Kind::Function;
    let is_seen = reads.iter().any(|one| is_other(&one));
    if is_seen || module.variables[id].direction == Direction::Out {
        report.add(
            set.place,
            format!("`=` in a clocked process sets `{name}`, which is read elsewhere"),
        );
    }
    if drivers.iter().any(|one| one.kind == Kind::Clocked && !one.is_immediate) {
        report.add(set.place, format!("`=` and `<=` set `{name}`"));
    }
}

/// Requires that no process without edges holds a value.
fn states(module: &Module<'_>, id: usize, reads: &[&Access<'_>], report: &mut Report) {
    let name = module.name(id);
    for (_, process) in module.latches.iter().filter(|latch| latch.0 == id) {
        report.add(process, format!("`{name}` keeps its value on some path: a latch"));
    }
    for read in reads.iter().filter(|one| one.kind == Kind::Combinational && !one.is_immediate) {
        let own = module.combinational.get(&(read.process, id));
        if own
            .is_some_and(|own| !own.common(&Ranges::from_ends(read.bits.0, read.bits.1)).is_empty())
        {
            report.add(read.place, format!("`{name}` is read before the process sets it"));
        }
    }
}

/// Examines ports, clocks and asynchronous resets across the modules.
pub(super) fn signals(modules: &Modules<'_>, report: &mut Report) {
    for module in modules.values() {
        for link in &module.links {
            open(modules, link, report);
        }
    }
    clocks(modules, report);
    for (name, module) in modules {
        for (id, edge) in &module.resets {
            if source(modules, name, *id, DEEPEST) == Source::Mixed {
                let what = format!(
                    "the asynchronous reset `{}` depends on more than inputs, or than one register",
                    module.name(*id)
                );
                report.add(edge, what);
            }
        }
    }
}

/// An input that is read and not connected.
fn open(modules: &Modules<'_>, link: &Link<'_>, report: &mut Report) {
    let port = modules.get(link.module).and_then(|of| Some((of, of.port(link.port)?)));
    let Some((of, port)) = port.filter(|_| link.variables.is_none()) else { return };
    let is_used = of.reads.iter().any(|read| read.variable == port)
        || of.clocks.iter().chain(&of.resets).any(|used| used.0 == port);
    if of.variables[port].direction == Direction::In && is_used {
        let what = format!("the input `{}` is read, and not connected", link.port);
        report.add(link.instance, what);
    }
}

/// Requires that clocks are inputs of the design, and nothing but clocks.
fn clocks(modules: &Modules<'_>, report: &mut Report) {
    let mut clocks: BTreeSet<(&str, usize)> = BTreeSet::new();
    for (name, module) in modules {
        clocks.extend(module.clocks.iter().map(|(id, _)| (*name, *id)));
    }
    // Ports lead to other clocks, up and down.
    loop {
        let before = clocks.len();
        for (name, module) in modules {
            for link in module.links.iter().filter(|link| link.is_whole) {
                let Some((of, port)) = modules
                    .get_key_value(link.module)
                    .and_then(|(name, of)| Some((*name, of.port(link.port)?)))
                else {
                    continue;
                };
                for id in link.variables.iter().flatten() {
                    if clocks.contains(&(of, port)) || clocks.contains(&(*name, *id)) {
                        clocks.extend([(of, port), (*name, *id)]);
                    }
                }
            }
        }
        if clocks.len() == before {
            break;
        }
    }
    for link in modules.values().flat_map(|module| &module.links).filter(|link| !link.is_whole) {
        let found = modules.get_key_value(link.module);
        let port = found.and_then(|(name, of)| Some((*name, of.port(link.port)?)));
        if link.variables.is_some() && port.is_some_and(|port| clocks.contains(&port)) {
            let what = format!("the clock `{}` is connected to what is no input", link.port);
            report.add(link.instance, what);
        }
    }
    for (name, id) in clocks {
        let module = &modules[name];
        let what = module.name(id);
        for read in module.reads.iter().filter(|read| read.variable == id && !read.is_link) {
            report.add(read.place, format!("the clock `{what}` is read as data"));
        }
        let mut drivers = module.drivers.iter().filter(|one| one.variable == id);
        let is_driven = drivers.clone().next().is_some();
        if let Some(one) = drivers.find(|one| !one.is_link) {
            report.add(one.place, format!("the clock `{what}` is no input"));
        } else if module.variables[id].direction != Direction::In && !is_driven {
            report.add(module.variables[id].element, format!("nothing drives the clock `{what}`"));
        }
        for (_, reset) in module.resets.iter().filter(|reset| reset.0 == id) {
            report.add(reset, format!("the clock `{what}` is an asynchronous reset, too"));
        }
    }
}

/// Where a signal comes from: it changes once for each change of inputs and for each edge, or more
/// often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Inputs,
    Register,
    Mixed,
}

fn source(modules: &Modules<'_>, name: &str, id: usize, depth: u32) -> Source {
    let Some((module, depth)) = modules.get(name).zip(depth.checked_sub(1)) else {
        return Source::Mixed;
    };
    if module.variables[id].direction == Direction::In {
        if module.is_top {
            return Source::Inputs;
        }
        let parents = modules
            .iter()
            .flat_map(|(parent, of)| of.links.iter().map(move |link| (*parent, link)));
        let is_port = |link: &Link<'_>| link.module == name && link.port == module.name(id);
        let found = parents.filter(|(_, link)| is_port(link)).map(|(parent, link)| {
            of_all(modules, parent, link.variables.as_deref().unwrap_or_default(), depth)
        });
        let found: Vec<Source> = found.collect();
        return match found[..] {
            [] => Source::Mixed,
            [first, ..] if found.iter().all(|one| *one == first) => first,
            _ if found.contains(&Source::Mixed) => Source::Mixed,
            _ => Source::Register,
        };
    }
    let drivers: Vec<_> = module.drivers.iter().filter(|one| one.variable == id).collect();
    let is_register = |one: &&Access<'_>| {
        one.kind == Kind::Initial || one.kind == Kind::Clocked && !one.is_immediate
    };
    if !drivers.is_empty() && drivers.iter().all(is_register) {
        return Source::Register;
    }
    match (drivers.as_slice(), module.sources.get(&id)) {
        ([_], Some(sources)) => of_all(modules, name, sources, depth),
        // An output of an instance.
        ([one], None) if one.is_link => {
            let is_of = |link: &&Link<'_>| {
                let port = modules.get(link.module).and_then(|of| Some((of, of.port(link.port)?)));
                let is_output = |(of, port): (&Module<'_>, usize)| {
                    of.variables[port].direction == Direction::Out
                };
                link.is_whole
                    && link.variables.as_deref() == Some(&[id])
                    && port.is_some_and(is_output)
            };
            module.links.iter().find(is_of).map_or(Source::Mixed, |link| {
                let port = modules.get(link.module).and_then(|of| of.port(link.port));
                port.map_or(Source::Mixed, |port| source(modules, link.module, port, depth))
            })
        }
        _ => Source::Mixed,
    }
}

/// What depends on several variables of a module.
fn of_all(modules: &Modules<'_>, name: &str, ids: &[usize], depth: u32) -> Source {
    match ids {
        [id] => source(modules, name, *id, depth),
        ids if ids.iter().all(|id| source(modules, name, *id, depth) == Source::Inputs) => {
            Source::Inputs
        }
        _ => Source::Mixed,
    }
}
