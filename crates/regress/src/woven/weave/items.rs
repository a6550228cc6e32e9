//! Weaves the modules of several bugs into one module.
//!
//! A declaration that a bug changes or adds gets a new name, in the declaration and wherever the
//! bug's module uses it. So two declarations of one name are always equal. Only items that use a
//! renamed declaration differ, and each kind of item has a construct that selects the bug's
//! version.

use super::statements::{self, is_selected, only, without};
use super::syntax::{Assign, Declaration, Instance, Module, Process, Statement};
use super::tokens::{Tokens, is_identifier, words};
use super::{Outputs, WeaveError};
use std::collections::{BTreeMap, BTreeSet};

/// A bug's number, and its version of a module.
pub type Variant = (u32, Module);

/// Parses a bug's module, and renames each declaration that differs from the good module's.
pub fn renamed(good: &Module, number: u32, tokens: &[String]) -> Result<Module, WeaveError> {
    let mut names = BTreeSet::new();
    loop {
        let mut renamed = Tokens::new();
        for (index, token) in tokens.iter().enumerate() {
            // After a dot follows the port of another module.
            let is_own = names.contains(token) && (index == 0 || tokens[index - 1] != ".");
            renamed.push(if is_own { own_name(token, number) } else { token.clone() });
        }
        let module = Module::parse(&renamed)?;
        let before = names.len();
        let is_changed = |declaration: &&Declaration| {
            good.declaration(&declaration.name).is_none_or(|good| good != *declaration)
        };
        let changed = module.declarations.iter().filter(is_changed);
        let suffix = own_name("", number);
        names.extend(changed.map(|one| one.name.clone()).filter(|name| !name.ends_with(&suffix)));
        if names.len() == before {
            return Ok(module);
        }
    }
}

/// Weaves variants into the good module.
pub fn woven(good: &Module, variants: &[Variant], outputs: &Outputs) -> Result<Module, WeaveError> {
    for (_, variant) in variants {
        if variant.header != good.header {
            return Err(WeaveError::new("the ports or parameters of a module differ"));
        }
        if variant.others != good.others {
            return Err(WeaveError::new("an unsupported kind of item"));
        }
    }
    let mut woven = Module { assigns: Vec::new(), instances: Vec::new(), ..good.clone() };
    for (_, variant) in variants {
        let own = variant.declarations.iter().filter(|own| good.declaration(&own.name).is_none());
        woven.declarations.extend(own.cloned());
    }
    assigns(good, variants, &mut woven)?;
    woven.processes = processes(good, variants)?;
    instances(good, variants, outputs, &mut woven)?;
    Ok(woven)
}

fn own_name(name: &str, number: u32) -> String {
    format!("{name}__bug_{number}")
}

/// A net for the value with which one side drives `signal`.
fn net(signal: &[String], name: &str) -> Declaration {
    let mut text = words("wire [ $bits (");
    text.extend_from_slice(signal);
    text.extend(words(&format!(") - 1 : 0 ] {name} ;")));
    Declaration { name: name.to_owned(), text }
}

/// An expression that selects among the nets of the bugs and the good one.
fn choice(bugs: &[(u32, String)], good: &str) -> Tokens {
    let mut value = Tokens::new();
    for (number, name) in bugs {
        value.extend(is_selected(*number));
        value.extend(words(&format!("? {name} :")));
    }
    value.extend(words(good));
    value
}

/// Weaves continuous assignments. Each version drives a net of the target's width, because the
/// width of an expression depends on its context.
fn assigns(good: &Module, variants: &[Variant], woven: &mut Module) -> Result<(), WeaveError> {
    let mut others: BTreeMap<&Tokens, Vec<(u32, &Tokens)>> = BTreeMap::new();
    for (number, variant) in variants {
        let mut left: BTreeMap<&Tokens, &Tokens> =
            variant.assigns.iter().map(|Assign { target, value }| (target, value)).collect();
        if left.len() < variant.assigns.len() {
            return Err(WeaveError::new("two assignments to one net"));
        }
        for Assign { target, value } in &good.assigns {
            match left.remove(target) {
                Some(other) if other == value => {}
                Some(other) => others.entry(target).or_default().push((*number, other)),
                None if names(target).iter().any(|name| variant.declares(name)) => {
                    return Err(WeaveError(format!("`{}` is not assigned", target.join(" "))));
                }
                None => {}
            }
        }
        for (target, value) in left {
            if names(target).iter().any(|name| good.declares(name)) {
                return Err(WeaveError(format!("`{}` is assigned", target.join(" "))));
            }
            woven.assigns.push(Assign { target: target.clone(), value: value.clone() });
        }
    }
    for (index, Assign { target, value }) in good.assigns.iter().enumerate() {
        let Some(others) = others.get(target) else {
            woven.assigns.push(Assign { target: target.clone(), value: value.clone() });
            continue;
        };
        let mut side = |name: &str, value: &Tokens| {
            woven.declarations.push(net(target, name));
            woven.assigns.push(Assign { target: words(name), value: value.clone() });
        };
        let good = format!("cosim_good_{index}");
        side(&good, value);
        let mut bugs = Vec::new();
        for (number, value) in others {
            let name = own_name(&format!("cosim_{index}"), *number);
            side(&name, value);
            bugs.push((*number, name));
        }
        let value = choice(&bugs, &good);
        woven.assigns.push(Assign { target: target.clone(), value });
    }
    Ok(())
}

/// The assigned names in a target, without those in indices.
fn names(target: &[String]) -> Vec<&str> {
    let mut depth = 0_u32;
    let mut names = Vec::new();
    for token in target {
        match token.as_str() {
            "[" => depth += 1,
            "]" => depth = depth.saturating_sub(1),
            name if depth == 0 && is_identifier(name) => names.push(name),
            _ => {}
        }
    }
    names
}

/// How the variants differ in a process of the good module.
#[derive(Default)]
struct Woven<'a> {
    /// The variants with another body.
    bodies: Vec<statements::Variant<'a>>,
    /// The variants without the process.
    without: Vec<u32>,
}

fn processes(good: &Module, variants: &[Variant]) -> Result<Vec<Process>, WeaveError> {
    let mut all: Vec<Woven<'_>> = Vec::new();
    all.resize_with(good.processes.len(), Woven::default);
    let mut added = Vec::new();
    for (number, variant) in variants {
        let mut left: Vec<usize> = (0..good.processes.len()).collect();
        let mut others = Vec::new();
        for process in &variant.processes {
            match left.iter().position(|index| good.processes[*index] == *process) {
                Some(place) => drop(left.remove(place)),
                None => others.push(process),
            }
        }
        for process in others {
            let is_same =
                |index: &usize| is_changed_from(&good.processes[*index], process, *number);
            match left.iter().position(is_same) {
                Some(place) => all[left.remove(place)].bodies.push((*number, &process.body)),
                None => added.push(guarded(good, *number, process)?),
            }
        }
        for index in left {
            // A process whose targets the variant does not declare may keep running.
            if targets(&good.processes[index]).iter().any(|target| variant.declares(target)) {
                check_guard(&good.processes[index])?;
                all[index].without.push(*number);
            }
        }
    }
    let whole = |(process, Woven { bodies, without: missing }): (&Process, Woven<'_>)| Process {
        head: process.head.clone(),
        body: of_process(process, without(&missing, statements::woven(&process.body, &bodies))),
    };
    Ok(good.processes.iter().zip(all).map(whole).chain(added).collect())
}

/// The names that a process assigns.
fn targets(process: &Process) -> Vec<String> {
    let mut targets = Vec::new();
    process.body.targets(&mut targets);
    targets
}

/// Whether `process` is a changed version of `good`: both have the same events and assign a common
/// name.
fn is_changed_from(good: &Process, process: &Process, number: u32) -> bool {
    let suffix = own_name("", number);
    let assigned = targets(process);
    let assigned: Vec<&str> =
        assigned.iter().map(|name| name.trim_end_matches(suffix.as_str())).collect();
    good.head == process.head
        && process.head != ["initial"]
        && targets(good).iter().any(|target| assigned.contains(&target.as_str()))
}

/// A process that the good module lacks, restricted to its bug.
fn guarded(good: &Module, number: u32, process: &Process) -> Result<Process, WeaveError> {
    if targets(process).iter().any(|target| good.declares(target)) {
        check_guard(process)?;
    }
    let body = of_process(process, only(number, &process.body));
    Ok(Process { head: process.head.clone(), body })
}

/// Two clocked processes may drive one register if only one of them is enabled. Two combinational
/// processes must not drive one signal.
fn check_guard(process: &Process) -> Result<(), WeaveError> {
    let is_guarded = |token: &String| ["posedge", "negedge", "initial"].contains(&token.as_str());
    match process.head.iter().any(is_guarded) {
        true => Ok(()),
        false => Err(WeaveError::new("a combinational process is added or removed")),
    }
}

/// `initial` processes run in undefined order, so each reads the selected number itself.
fn of_process(process: &Process, body: Statement) -> Statement {
    if process.head == ["initial"] {
        let requires = |token: &String| match token.as_str() {
            "cosim_mutation::selected" => "cosim_mutation::number()".to_owned(),
            _ => token.clone(),
        };
        let mut tokens = Tokens::new();
        body.write(&mut tokens);
        return Statement::Plain(tokens.iter().map(requires).collect());
    }
    body
}

/// Weaves instances. A bug that changes the parameters or inputs of an instance gets a separate
/// instance, and the parent selects between the outputs of both.
fn instances(
    good: &Module,
    variants: &[Variant],
    outputs: &Outputs,
    woven: &mut Module,
) -> Result<(), WeaveError> {
    let names = |module: &Module| -> Vec<String> {
        module.instances.iter().map(|instance| instance.name.clone()).collect()
    };
    for (_, variant) in variants {
        if names(variant) != names(good) {
            return Err(WeaveError::new("other instances"));
        }
    }
    for (index, instance) in good.instances.iter().enumerate() {
        let others: Vec<(u32, &Instance)> = variants
            .iter()
            .map(|(number, variant)| (*number, &variant.instances[index]))
            .filter(|(_, other)| *other != instance)
            .collect();
        if others.is_empty() {
            woven.instances.push(instance.clone());
            continue;
        }
        let own = instance.of.first().and_then(|module| outputs.get(module));
        let own = own.ok_or_else(|| WeaveError::new("an instance of an unknown module"))?;
        let driven = |instance: &Instance| -> BTreeMap<String, Tokens> {
            let connections = instance.connections.iter();
            connections.filter(|(port, _)| own.contains(port)).cloned().collect()
        };
        let signals = driven(instance);
        // Adds an instance whose outputs drive separate nets.
        let mut side = |instance: &Instance, name: &str, prefix: &str| {
            let mut instance = Instance { name: name.to_owned(), ..instance.clone() };
            for (port, signal) in &mut instance.connections {
                if let Some(driven) = signals.get(port) {
                    let name = format!("{prefix}_{port}");
                    woven.declarations.push(net(driven, &name));
                    *signal = words(&name);
                }
            }
            woven.instances.push(instance);
        };
        let prefix = format!("cosim_{}", instance.name);
        side(instance, &instance.name, &prefix);
        for (number, other) in &others {
            if other.of.first() != instance.of.first() {
                return Err(WeaveError::new("an instance of another module"));
            }
            if driven(other) != signals {
                return Err(WeaveError::new("an instance drives other signals"));
            }
            let name = own_name(&instance.name, *number);
            side(other, &name, &own_name(&prefix, *number));
        }
        for (port, signal) in &signals {
            let bugs = others
                .iter()
                .map(|(number, _)| (*number, format!("{}_{port}", own_name(&prefix, *number))));
            let value = choice(&bugs.collect::<Vec<_>>(), &format!("{prefix}_{port}"));
            woven.assigns.push(Assign { target: signal.clone(), value });
        }
    }
    Ok(())
}
