//! Determines which sources a design needs, and in which order Verilator reads them.
//!
//! SystemVerilog requires that a package or an interface is declared before its first use.
//! Verilator searches for modules, but not for those. This module scans the texts for declarations
//! and names. It does not evaluate preprocessor directives, so names in all branches count: it
//! finds too many uses rather than too few.

use std::collections::{BTreeMap, BTreeSet};
use verilated_lexer::{Kind, Token, outside_directives, tokens};

/// The declarations in a source, and every name in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declarations {
    /// Packages, interfaces and classes, which must be declared before use, and their lines.
    first: BTreeMap<String, u32>,
    /// Modules, programs and other declarations, and their lines.
    others: BTreeMap<String, u32>,
    /// All names.
    names: BTreeSet<String>,
    /// Macros that it defines, and those that it uses without.
    macros: BTreeSet<String>,
    needs: BTreeSet<String>,
    /// Whether it has more than directives and comments, or includes sources as a list of files.
    has_code: bool,
}

impl Declarations {
    /// Scans a text.
    pub fn scan_text(text: &str) -> Self {
        let mut found = Self::default();
        let mut lists = false;
        for (directive, next) in directives(text) {
            match directive {
                "define" => found.macros.extend(next.map(|name| name.text.to_owned())),
                "include" => lists |= included(next).is_some_and(is_source),
                name => drop(found.needs.insert(name.to_owned())),
            }
        }
        found.needs.retain(|name| !found.macros.contains(name));
        let is_directive =
            |token: &Token<'_>| matches!(token.kind, Kind::Directive | Kind::LineDirective);
        let has_code = outside_directives(text, is_directive).next().is_some();
        found.has_code = has_code || lists && found.macros.is_empty();
        let mut code = tokens(text).filter(Token::is_code).peekable();
        let mut last = "";
        while let Some(token) = code.next() {
            let before = std::mem::replace(&mut last, token.text);
            let (declared, others): (_, &[&str]) = match token.text {
                // `virtual interface` is a type, and an `interface class` is a class.
                "package" | "interface" | "class" if before != "virtual" => {
                    (&mut found.first, &["class", "extends", "port"])
                }
                "module" | "macromodule" | "program" | "primitive" | "checker" => {
                    (&mut found.others, &[])
                }
                name => {
                    if token.kind == Kind::Word {
                        found.names.insert(name.to_owned());
                    }
                    continue;
                }
            };
            while code.next_if(|next| ["automatic", "static"].contains(&next.text)).is_some() {}
            // In a macro, other text may follow, as in class``i``_thresh.
            let is_name =
                |next: &Token<'_>| next.kind == Kind::Word && !others.contains(&next.text);
            if let Some(name) = code.next_if(is_name) {
                declared.entry(name.text.to_owned()).or_insert(name.line);
                found.names.insert(name.text.to_owned());
            }
        }
        found
    }

    /// The line in which it declares a module, package or the like of that name.
    pub fn line_of(&self, name: &str) -> Option<u32> {
        self.first.get(name).or_else(|| self.others.get(name)).copied()
    }

    /// Whether it declares a module, package or the like of that name.
    pub fn declares(&self, name: &str) -> bool {
        self.line_of(name).is_some()
    }

    /// The packages and interfaces it declares that another source uses.
    pub fn used_by(&self, other: &Self) -> Vec<String> {
        self.first.keys().filter(|name| other.names.contains(*name)).cloned().collect()
    }

    /// Whether it declares something that `other` declares, too.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.first.keys().chain(self.others.keys()).any(|name| other.declares(name))
    }

    /// Whether it declares something that Verilator does not search for, such as a package.
    pub fn is_read_first(&self) -> bool {
        !self.first.is_empty()
    }

    /// Whether it declares nothing, for example only macros.
    pub fn is_bare(&self) -> bool {
        self.first.is_empty() && self.others.is_empty()
    }

    /// Whether it is code without a module or package around it. Most such files are there to be
    /// included.
    pub fn is_fragment(&self) -> bool {
        self.is_bare() && self.has_code
    }

    /// The modules, programs and the like.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.others.keys().map(String::as_str)
    }
}

/// Sorts sources, as indices: a source with a package or an interface, or with macros alone,
/// precedes its users; otherwise the given order stays. Sources that use each other keep their
/// order.
pub fn order(sources: &[Declarations]) -> Vec<usize> {
    let mut declared: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, source) in sources.iter().enumerate() {
        for name in source.first.keys() {
            declared.entry(name).or_default().push(place);
        }
    }
    let mut defined: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let of_macros = |(_, source): &(usize, &Declarations)| source.is_bare() && !source.has_code;
    for (place, source) in sources.iter().enumerate().filter(of_macros) {
        for name in &source.macros {
            defined.entry(name).or_default().push(place);
        }
    }
    let needs = |place: usize| {
        let declared =
            declared.iter().filter(move |(name, _)| sources[place].names.contains(**name));
        let defined = defined.iter().filter(move |(name, _)| sources[place].needs.contains(**name));
        let others = declared.chain(defined).flat_map(|(_, places)| places.iter().copied());
        others.filter(move |other| *other != place)
    };
    let needs: Vec<BTreeSet<usize>> =
        (0..sources.len()).map(|place| needs(place).collect()).collect();
    let mut order = Vec::new();
    let mut left: BTreeSet<usize> = (0..sources.len()).collect();
    while let Some(first) = left.first().copied() {
        let is_free = |place: &&usize| needs[**place].is_disjoint(&left);
        let next = left.iter().find(is_free).copied().unwrap_or(first);
        left.remove(&next);
        order.push(next);
    }
    order
}

/// The indices of the sources that a design needs: those that declare `top` or a name in `others`,
/// and transitively what they use. A source without declarations may define macros, so it is always
/// needed.
pub fn needed(sources: &[Declarations], top: &str, others: &[Declarations]) -> BTreeSet<usize> {
    let mut needed: BTreeSet<usize> = BTreeSet::new();
    let mut pending: BTreeSet<&str> = [top].into();
    pending.extend(others.iter().flat_map(|other| other.names.iter().map(String::as_str)));
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let bare = sources.iter().enumerate().filter(|(_, source)| source.is_bare());
    for (place, source) in bare {
        needed.insert(place);
        pending.extend(source.names.iter().map(String::as_str));
    }
    while let Some(name) = pending.pop_first() {
        if !known.insert(name) {
            continue;
        }
        for (place, source) in sources.iter().enumerate() {
            if source.declares(name) && needed.insert(place) {
                let names = source.names.iter().map(String::as_str);
                pending.extend(names.filter(|name| !known.contains(name)));
            }
        }
    }
    needed
}

/// The directives and macros of a text, and the token behind each.
fn directives(text: &str) -> impl Iterator<Item = (&str, Option<Token<'_>>)> {
    let mut code = tokens(text).filter(Token::is_code).peekable();
    std::iter::from_fn(move || {
        let directive = code.find(|token| token.kind == Kind::Directive)?;
        Some((&directive.text[1..], code.peek().copied()))
    })
}

/// The name of a file behind `` `include ``.
fn included(next: Option<Token<'_>>) -> Option<&str> {
    next?.text.strip_prefix('"')?.strip_suffix('"')
}

fn is_source(name: &str) -> bool {
    [".v", ".sv"].iter().any(|end| name.ends_with(end))
}

/// The files that a text includes, as it names them.
pub fn includes(text: &str) -> impl Iterator<Item = &str> {
    directives(text)
        .filter(|(directive, _)| *directive == "include")
        .filter_map(|(_, next)| included(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan_all(texts: &[&str]) -> Vec<Declarations> {
        texts.iter().map(|text| Declarations::scan_text(text)).collect()
    }

    #[test]
    fn declarations_are_found() {
        let text = "// module no\n/* package no; */ package automatic p; endpackage : p\n\
                    interface automatic i(input clk); modport m(input clk); endinterface\n\
                    interface class ic; endclass virtual class c; endclass\n\
                    module static m(i.m a, virtual interface j b); initial $display(\"module n\"); \
                    endmodule\n";
        let found = Declarations::scan_text(text);
        assert!(["p", "i", "ic"].iter().all(|name| found.first.contains_key(*name)), "{found:?}");
        assert!(found.modules().eq(["m"]));
        assert!(found.names.contains("j") && !found.names.contains("no"));
    }

    #[test]
    fn words_of_macros_declare_nothing() {
        let found =
            Declarations::scan_text("`define GET(i) x.class``i``_y(.value(1)), x.module(m)\n");
        assert!(found.is_bare(), "{found:?}");
        assert!(Declarations::scan_text("module /* the top */ m; endmodule").declares("m"));
    }

    #[test]
    fn packages_come_before_their_users_in_any_order() {
        let texts = [
            "module top import b::*; (input clk); sub s(); endmodule",
            "package b; import a::*; localparam C = a::D; endpackage",
            "module sub; bus i(); endmodule",
            "package a; localparam D = 1; endpackage",
            "interface bus; logic [b::C:0] d; endinterface",
        ];
        let before = |order: &[usize], first: usize, second: usize| {
            let at = |place| order.iter().position(|other| *other == place);
            at(first) < at(second)
        };
        let mut places: Vec<usize> = (0..texts.len()).collect();
        for round in 0..texts.len() {
            places.rotate_left(1);
            if round % 2 == 0 {
                places.reverse();
            }
            let given: Vec<&str> = places.iter().map(|place| texts[*place]).collect();
            let order: Vec<usize> =
                order(&scan_all(&given)).into_iter().map(|at| places[at]).collect();
            for (first, second) in [(3, 1), (1, 0), (1, 4), (4, 2)] {
                assert!(before(&order, first, second), "{places:?}: {order:?}");
            }
        }
    }

    #[test]
    fn sources_without_packages_stay_in_their_order() {
        let texts = ["module b; a x(); endmodule", "`define M 1", "module a; endmodule"];
        assert_eq!(order(&scan_all(&texts)), [0, 1, 2]);
        // Macros of a file of its own are defined before they are used, unless they are not from
        // it.
        let texts = [
            "module b; assign x = `M(1); endmodule",
            "`define M(x) x // `N",
            "`define N 2\nmodule c; assign x = `N; endmodule",
            "`define N 1",
        ];
        assert_eq!(order(&scan_all(&texts)), [1, 0, 2, 3]);
        let circle = ["package a; import b::*; endpackage", "package b; import a::*; endpackage"];
        assert_eq!(order(&scan_all(&circle)), [0, 1]);
    }

    #[test]
    fn fragments_are_code_outside_of_modules() {
        for (text, is_fragment) in [
            ("`define A 1\n// x\n/* y\n z */ `include \"a.vh\"\n", false),
            ("`define A(x) \\\n  x + 1 \\\n  + 2\n\n", false),
            ("`define A 1 /* x\n y */\n`A", false),
            ("", false),
            ("`define A 1\nalways @(posedge clk) q <= `A;\n", true),
            ("/* x */ assign a = b;", true),
            // A list of sources is there to be included, too.
            ("// the tests\n`include \"a_test.sv\"\n`include \"b_test.sv\"\n", true),
            ("`include \"a.v\"\n`define X 1\n", false),
            ("module m; endmodule", false),
            ("package p; endpackage typedef logic t;", false),
        ] {
            assert_eq!(Declarations::scan_text(text).is_fragment(), is_fragment, "{text}");
        }
    }

    #[test]
    fn comments_and_strings_declare_and_include_nothing() {
        let found = Declarations::scan_text("/*\nmodule m;\n// module m\n*/ module\nm; endmodule");
        assert_eq!(found.line_of("m"), Some(5));
        let text = "/*\n`include \"a.v\" */ `define S \"`include \\\"b.v\\\"\"\n\
                    `define T \"//\" `U // `include \"c.v\"\n`include /* */ \"d.v\"\n";
        assert_eq!(includes(text).collect::<Vec<_>>(), ["d.v"]);
        let found = Declarations::scan_text(text);
        assert!(!found.has_code && found.needs.contains("U"), "{found:?}");
    }

    #[test]
    fn a_design_needs_what_its_top_reaches() {
        let texts = [
            "module bench; import uvm_pkg::*; top t(); endmodule",
            "module top; import p::*; sub s(); endmodule",
            "`define WIDTH 3",
            "package p; endpackage",
            "module sub; endmodule",
            "module sub; endmodule // a copy",
            "module other; endmodule",
        ];
        let needed = |top: &str, own: &[&str]| {
            needed(&scan_all(&texts), top, &scan_all(own)).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(needed("top", &[]), [1, 2, 3, 4, 5]);
        assert_eq!(needed("mine", &["module mine; other o(); endmodule"]), [2, 6]);
    }
}
