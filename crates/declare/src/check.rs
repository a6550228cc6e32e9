//! Checks of a declaration that need no ports.

use crate::parse::{Block, Declaration, Kind, known_words};
use std::collections::BTreeSet;
use syn::{Error, Ident};

/// Names that a generated struct has beside those of channels and agents.
const OWN: [&str; 5] = ["noise", "clocks", "settings", "raw_cycles_per_packet", "reset"];

/// Checks a declaration. Adds the errors to it.
pub fn check(declaration: &mut Declaration) {
    let mut errors = Vec::new();
    clocks(declaration, &mut errors);
    names(declaration, &mut errors);
    blocks(declaration, &mut errors);
    if declaration.pins.is_none() {
        let message = "the declaration has no RTL: begin with `rtl \"BLOCK\";`";
        errors.push(Error::new(proc_macro2::Span::call_site(), message));
    }
    declaration.errors.append(&mut errors);
}

fn clocks(declaration: &Declaration, errors: &mut Vec<Error>) {
    let known_clocks: Vec<String> = declaration.clocks.iter().map(Ident::to_string).collect();
    for member in &declaration.members {
        let name = member.name();
        match &member.options.clock {
            None if known_clocks.is_empty() => {}
            None => {
                let message = format!("`{name}` has no clock: add `at CLOCK`, one of `clocks`");
                return errors.push(Error::new(name.span(), message));
            }
            Some(clock) if !declaration.clocks.contains(clock) => {
                let hint = known_words(&clock.to_string(), known_clocks.iter().map(String::as_str));
                let message = format!("`clocks` has no `{clock}`; {hint}");
                errors.push(Error::new(clock.span(), message));
            }
            Some(_) => {}
        }
    }
}

/// An error for each of some names that stands before it, too.
fn report_twice<'a>(all: impl Iterator<Item = &'a Ident>, what: &str, errors: &mut Vec<Error>) {
    let mut seen = Vec::new();
    for name in all {
        if seen.contains(&name) {
            errors.push(Error::new(name.span(), format!("a {what} has the name `{name}` already")));
        }
        seen.push(name);
    }
}

fn names(declaration: &Declaration, errors: &mut Vec<Error>) {
    report_twice(
        declaration.members.iter().map(|member| member.name()),
        "channel or agent",
        errors,
    );
    for name in declaration.members.iter().map(|member| member.name()) {
        if OWN.iter().any(|own| name == own) {
            let message = format!("`{name}` is a name of the generated traffic; choose another");
            errors.push(Error::new(name.span(), message));
        }
    }
    let channels = || {
        declaration.members.iter().filter_map(|member| match &member.kind {
            Kind::Channel(channel) => Some(channel),
            Kind::Agent(_) => None,
        })
    };
    report_twice(channels().map(|channel| &channel.item), "channel's item", errors);
    for channel in channels() {
        report_twice(channel.fields.iter().map(|field| &field.name), "field", errors);
        let weights = declaration.weights.as_ref().map(ToString::to_string).unwrap_or_default();
        if let Some(among) = &channel.among
            && !weights.contains(&format!("{among} :"))
        {
            let message = format!("`weights {{ .. }}` has no weight `{among}`");
            errors.push(Error::new(among.span(), message));
        }
    }
    for member in &declaration.members {
        for (group, reason) in &member.options.reasons {
            match (&member.kind, group) {
                (Kind::Channel(_), Some(group)) => {
                    let message = "a channel has one group; leave out its name";
                    errors.push(Error::new(group.span(), message));
                }
                (Kind::Agent(_), None) => {
                    let message =
                        "the reason of an agent names its group, as in `unless \"reads\" ..`";
                    errors.push(Error::new_spanned(reason, message));
                }
                _ => {}
            }
        }
    }
}

fn blocks(declaration: &Declaration, errors: &mut Vec<Error>) {
    report_twice(
        declaration.parameters.iter().map(|parameter| &parameter.name),
        "parameter",
        errors,
    );
    let parameters: Vec<String> =
        declaration.parameters.iter().map(|parameter| parameter.name.to_string()).collect();
    let mut names = BTreeSet::new();
    for profile in &declaration.profiles {
        if !names.insert(profile.name.value()) {
            let message = format!("a profile has the name \"{}\" already", profile.name.value());
            errors.push(Error::new(profile.name.span(), message));
        }
        for (name, _) in &profile.values {
            if !parameters.iter().any(|parameter| name == parameter) {
                let hint = known_words(&name.to_string(), parameters.iter().map(String::as_str));
                let message = format!("there is no parameter `{name}`; {hint}");
                errors.push(Error::new(name.span(), message));
            }
        }
    }
    for Block { name, clauses, .. } in &declaration.blocks {
        let clause = |word: &str| clauses.get(word).or_else(|| declaration.clauses.get(word));
        if clause("scoreboard").is_none() {
            let message = format!("`{name}` has no scoreboard: add `scoreboard TYPE;`");
            errors.push(Error::new(name.span(), message));
        }
        // Without a golden model, the scoreboard compares all outputs.
        if clause("golden").is_none() && clause("transactions").is_none_or(|all| !all.is_empty()) {
            let message =
                format!("`{name}` has no golden model: add `golden TYPE;`, or `transactions;`");
            errors.push(Error::new(name.span(), message));
        }
    }
    let unused = declaration.blocks.is_empty() && !declaration.clauses.is_empty();
    if let (true, Some(tokens)) = (unused, declaration.clauses.values().next()) {
        let message = "this clause is of a block: add `block NAME = \"NAME\": \"TITLE\";`";
        errors.push(Error::new_spanned(tokens, message));
    }
}
