//! Combines all bugs of a block into one SystemVerilog text, each enabled by its number.
//!
//! The text is compiled once, and [`ModelKind::with_mutation`](verilated::ModelKind::with_mutation)
//! selects the bug of a model. Only the differing parts are duplicated, so the model is hardly
//! slower than that of the good RTL. The weaver reports bugs that it cannot weave, with the reason.
//!
//! - [`tokens`] splits a text into tokens; [`syntax`] parses modules, items and statements.
//! - [`items`] weaves modules; [`statements`] weaves the bodies of their processes.

mod items;
mod statements;
mod syntax;
#[cfg(test)]
mod tests;
mod tokens;

use crate::mutate::netlist::selector;
use items::Variant;
use std::collections::BTreeMap;
use syntax::Module;
use tokens::Tokens;

/// Why a bug cannot be woven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeaveError(pub String);

impl WeaveError {
    fn new(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

/// The names of the outputs of each module.
type Outputs = BTreeMap<String, Vec<String>>;

/// A woven text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Woven {
    /// The text with the bugs, in SystemVerilog.
    pub text: String,
    /// The bugs that the text lacks, by number, with the reason.
    pub unwoven: BTreeMap<u32, WeaveError>,
}

/// Weaves bugs into a design whose top module is `top`. The texts are preprocessed; each bug has a
/// number.
///
/// # Errors
/// If the good text contains anything but modules.
pub fn weave(good: &str, top: &str, bugs: &[(u32, &str)]) -> Result<Woven, WeaveError> {
    let good = Design::parse(good)?;
    let mut unwoven = BTreeMap::new();
    let mut variants: BTreeMap<&str, Vec<Variant>> = BTreeMap::new();
    for (number, text) in bugs {
        match good.variants(*number, text) {
            Ok(changed) => {
                for (name, variant) in changed {
                    variants.entry(name).or_default().push((*number, variant));
                }
            }
            Err(reason) => drop(unwoven.insert(*number, reason)),
        }
    }
    let mut text = selector();
    for (name, module, tokens) in &good.modules {
        let mut woven = match variants.get(name.as_str()) {
            Some(variants) => items::woven(parsed(module)?, variants, &good.outputs)?.tokens(),
            None => tokens.clone(),
        };
        if name == top {
            woven.pop();
            woven.extend(tokens::words(
                "cosim_mutation_select cosim_mutation_select_cell ( ) ; endmodule",
            ));
        }
        text += &tokens::text(&woven);
    }
    Ok(Woven { text, unwoven })
}

/// A parsed design.
struct Design {
    /// Name, items and tokens of each module, in order. A parse error affects only bugs in that
    /// module.
    modules: Vec<(String, Result<Module, WeaveError>, Tokens)>,
    outputs: Outputs,
}

fn parsed(module: &Result<Module, WeaveError>) -> Result<&Module, WeaveError> {
    module.as_ref().map_err(Clone::clone)
}

impl Design {
    fn parse(text: &str) -> Result<Self, WeaveError> {
        let mut modules = Vec::new();
        let mut outputs = Outputs::new();
        for (name, tokens) in syntax::modules(&tokens::tokens(text)?)? {
            let module = Module::parse(&tokens);
            if let Ok(module) = &module {
                outputs.insert(name.clone(), module.outputs());
            }
            modules.push((name, module, tokens));
        }
        Ok(Self { modules, outputs })
    }

    /// The modules that a bug changes. All of them can be woven.
    fn variants(&self, number: u32, text: &str) -> Result<Vec<(&str, Module)>, WeaveError> {
        let bug = syntax::modules(&tokens::tokens(text)?)?;
        let names = |name: (&str, &str)| name.0 == name.1;
        let good = self.modules.iter().map(|(name, ..)| name.as_str());
        if bug.len() != self.modules.len()
            || !good.zip(bug.iter().map(|(name, _)| name.as_str())).all(names)
        {
            return Err(WeaveError::new("other modules"));
        }
        let mut variants = Vec::new();
        for ((name, good, tokens), (_, changed)) in self.modules.iter().zip(&bug) {
            if changed != tokens {
                let good = parsed(good)?;
                let variant = (number, items::renamed(good, number, changed)?);
                items::woven(good, std::slice::from_ref(&variant), &self.outputs)?;
                variants.push((name.as_str(), variant.1));
            }
        }
        if variants.is_empty() {
            return Err(WeaveError::new("it does not differ from the good RTL"));
        }
        Ok(variants)
    }
}
