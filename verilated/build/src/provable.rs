//! Decides whether a design may be proved: whether Yosys reads it as Verilator simulates it.
//!
//! The decision is made on Verilator's own tree of the elaborated design, and by a list of what
//! both tools read alike. What is not listed, such as a kind of node of a newer Verilator, is not
//! provable. Attributes and pragmas are not in the tree: they are decided on the text.
//!
//! `walk.rs` finds the items of each module, and `statements.rs` runs each process once, with what
//! is known of the values: loops have known ends, and indices are in range. `nets.rs` compares what
//! drives and reads each variable.

mod constant;
mod design;
mod expressions;
mod nets;
mod processes;
mod ranges;
mod statements;
mod texts;
mod values;
mod walk;

#[cfg(test)]
mod tests;

use crate::tool::{self, ALL, Keep};
use crate::tree::{Element, Tree, with_tree};
use crate::{Design, Error};
use design::Types;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use texts::Texts;
use verilated_runtime::Verilator;
use walk::{Common, Walk};

/// The most reasons that are reported.
const MOST: usize = 12;

/// The most reasons that are collected.
const MOST_FOUND: usize = 1000;

/// How Verilator reports a constant index that is out of range. In the tree, it is cut.
const OUT_OF_RANGE: &str = "SELRANGE";

/// A reason why a design may not be proved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unprovable {
    /// File, line and column, as named by Verilator.
    pub place: Option<(PathBuf, u32, u32)>,
    /// What is not on the list.
    pub what: String,
}

impl fmt::Display for Unprovable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line, column)) = &self.place {
            write!(f, "{}:{line}:{column}: ", file.display())?;
        }
        f.write_str(&self.what)
    }
}

impl Design {
    /// The reasons why the design may not be proved, in the order of their places; empty if all of
    /// it is on the list of what Verilator and Yosys read alike. The design is that of the prover:
    /// the plain top with its parameters, without assertions. `out` is a folder for Verilator's
    /// output.
    ///
    /// # Errors
    /// As [`Design::elaborate`].
    pub fn unprovable(&self, verilator: &Verilator, out: &Path) -> Result<Vec<Unprovable>, Error> {
        let plain = Self { assertions: false, registered: false, ..self.clone() };
        let mut options = plain.semantics();
        // With `--no-timing`, the tree has no delays.
        options.extend(["-fno-dfg".to_owned(), "--timing".to_owned()]);
        options.push(format!("-Werror-{OUT_OF_RANGE}"));
        let description = match plain.describe(verilator, out, &options) {
            Err(Error::Verilate { top, output }) => {
                let found = out_of_range(&output);
                if found.is_empty() {
                    return Err(Error::Verilate { top, output });
                }
                return Ok(found);
            }
            other => other?,
        };
        let found = with_tree(&description, |tree| {
            Some(plain.texts(verilator, tree).map(|texts| in_tree(tree, &texts)))
        });
        found.ok_or_else(|| self.not_understood())??.ok_or_else(|| self.not_understood())
    }

    /// The preprocessed text of all files of modules.
    fn texts(&self, verilator: &Verilator, tree: &Tree) -> Result<Texts, Error> {
        let mut command = self.command(verilator);
        command.arg("-E").args(&self.sources);
        let files: BTreeSet<&String> = tree
            .modules
            .iter()
            .filter_map(|module| tree.files.get(constant::place(module)?.0))
            .filter(|name| !name.starts_with('<') && !self.sources.contains(&PathBuf::from(name)))
            .collect();
        command.args(files);
        let output = tool::with_large_stack(command, [ALL, Keep::Ends])?;
        Ok(Texts::from_preprocessed(&tool::text(output.stdout), &tree.files))
    }
}

/// The constant indices that Verilator refused, from its messages.
fn out_of_range(messages: &str) -> Vec<Unprovable> {
    let before = format!("%Error-{OUT_OF_RANGE}: ");
    let found = messages.lines().filter_map(|line| {
        let mut parts = line.strip_prefix(&before)?.split(':');
        let file = PathBuf::from(parts.next()?);
        let mut number = || parts.next().and_then(|number| number.parse().ok());
        let place = Some((file, number()?, number()?));
        Some(Unprovable { what: "an index that is out of range".to_owned(), place })
    });
    found.take(MOST).collect()
}

/// What was found so far, by place.
struct Report {
    files: BTreeMap<String, String>,
    found: BTreeSet<Unprovable>,
}

impl Report {
    fn add(&mut self, element: &Element, what: String) {
        let place = constant::place(element).and_then(|(file, [line, column, ..])| {
            Some((PathBuf::from(self.files.get(file)?), line, column))
        });
        if self.found.len() < MOST_FOUND {
            self.found.insert(Unprovable { place, what });
        }
    }

    /// A kind of element that is not on the list.
    fn kind(&mut self, element: &Element) {
        let name = match element.name() {
            "" => String::new(),
            name => format!(" `{name}`"),
        };
        self.add(element, format!("`{}`{name} is not on the list", element.kind));
    }
}

fn in_tree(tree: &Tree, texts: &Texts) -> Option<Vec<Unprovable>> {
    let mut report = Report { files: tree.files.clone(), found: BTreeSet::new() };
    tree.rest.iter().for_each(|element| report.kind(element));
    // Verilator's own packages are not in the netlist.
    let is_own = |element: &&Element| {
        let file = constant::place(element).and_then(|(file, _)| tree.files.get(file));
        file.is_none_or(|file| !file.starts_with('<'))
    };
    let types = Types::from_tree(tree)?;
    let (mut modules, mut functions) = (BTreeMap::new(), BTreeMap::<&str, Vec<&Element>>::new());
    for element in tree.modules.iter().filter(is_own) {
        match &*element.kind {
            "module" => drop(modules.insert(element.name(), element)),
            "package" => {}
            _ => report.kind(element),
        }
        element.each(&mut |one| {
            if matches!(&*one.kind, "func" | "task") {
                functions.entry(one.name()).or_default().push(one);
            }
        });
    }
    let called = called(tree, &functions);
    let common =
        Common { types: &types, texts, modules: &modules, functions: &functions, called: &called };
    let mut walked = nets::Modules::new();
    for element in tree.modules.iter().filter(is_own) {
        if !matches!(&*element.kind, "module" | "package") {
            continue;
        }
        let module = Walk::through(element, &common, &mut report);
        if element.kind == "package" {
            for read in &module.reads {
                let what = format!("the variable `{}` of a package", module.name(read.variable));
                report.add(read.place, what);
            }
        } else {
            nets::variables(&module, &mut report);
            walked.insert(element.name(), module);
        }
    }
    nets::signals(&walked, &mut report);

    Some(report.found.into_iter().take(MOST).collect())
}

/// The names of the functions and tasks that processes and assignments call.
fn called<'a>(tree: &'a Tree, functions: &BTreeMap<&str, Vec<&'a Element>>) -> BTreeSet<&'a str> {
    fn calls<'a>(element: &'a Element, found: &mut Vec<&'a str>) {
        for child in &element.children {
            if matches!(&*child.kind, "funcref" | "taskref") {
                found.push(child.name());
            }
            if !matches!(&*child.kind, "func" | "task") {
                calls(child, found);
            }
        }
    }
    let mut next = Vec::new();
    tree.modules.iter().for_each(|module| calls(module, &mut next));
    let mut called = BTreeSet::new();
    while let Some(name) = next.pop() {
        if called.insert(name) {
            functions.get(name).into_iter().flatten().for_each(|one| calls(one, &mut next));
        }
    }
    called
}
