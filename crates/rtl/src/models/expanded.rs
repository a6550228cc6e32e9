//! The preprocessed text of an RTL, from Verilator, for Yosys.
//!
//! Yosys defines macros of its own (`SYNTHESIS`, `YOSYS`). It also obeys comments and attributes
//! that Verilator ignores (`translate_off`, `full_case`). If both tools read the files, they could
//! see two different designs.

use super::{Examined, verilator};
use cosim_base::error::Error;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use verilated_build::Design;
use verilated_files::foreign::lay_out;
use verilated_lexer::{Kind, Token, line_directive, tokens};

const FILES: &str = "files";
/// Replaces blanks in file names, which Yosys cannot quote.
const NO_BREAK: &str = "\u{a0}";

/// What `unique` and `priority` stand before.
const CHOICES: [&str; 4] = ["case", "casex", "casez", "if"];
/// Something that Yosys refuses, with a name that says why.
const MISPLACED: &str = " `cosim_misplaced_directive ";

#[derive(Debug, Clone, Default)]
pub struct PreprocessedRtl {
    /// Texts of library modules, which count only where no source declares the module.
    pub libraries: Vec<String>,
    /// The other texts, in order.
    pub sources: Vec<String>,
    /// All texts as a simulator reads them: those of libraries, and the others.
    pub simulated: [Vec<String>; 2],
}

impl PreprocessedRtl {
    pub(super) fn new(examined: &Examined) -> Result<Self, Error> {
        let temporary =
            TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let files = examined.texts.iter().map(|file| (file.name.as_path(), &*file.text));
        let folder = lay_out(&temporary.path().join(FILES), files)
            .map_err(|error| examined.plain(error.into()))?;
        let verilator = verilator()?;
        let own = &examined.design;
        let design = |sources: Vec<PathBuf>| Design {
            sources,
            libraries: Vec::new(),
            folder: Some(folder.clone()),
            ..own.clone()
        };
        // Verilator reads the sources, then the libraries, then the files of modules that it finds
        // by name.
        let given: Vec<PathBuf> = [&own.sources[..], &own.libraries].concat();
        let is_given = |name: &Path| given.iter().any(|given| given == name);
        let names = examined.texts.iter().map(|file| &file.name);
        let mut found: Vec<PathBuf> =
            names.filter(|name| !is_given(name) && may_be_found(own, name)).cloned().collect();
        if !found.is_empty() {
            let all = design([&given[..], &found].concat());
            let includes = all.preprocess(&verilator).map_err(|error| examined.plain(error))?;
            let included: BTreeSet<PathBuf> =
                includes.includes.into_iter().map(|include| include.file).collect();
            found.retain(|name| !included.contains(name));
        }
        let all = design([given, found].concat());
        let texts = all.expand(&verilator).map_err(|error| examined.plain(error))?;
        let mut simulated: Vec<String> = texts.iter().map(|text| named(text)).collect();
        let mut sources: Vec<String> = simulated.iter().map(|text| as_simulated(text)).collect();
        let libraries = sources.split_off(own.sources.len());
        let simulated = [simulated.split_off(own.sources.len()), simulated];
        Ok(Self { libraries, sources, simulated })
    }

    /// A place in a message of Yosys, with the real file name.
    pub fn place(text: &str) -> String {
        text.replace(NO_BREAK, " ")
    }
}

/// Whether Verilator may have found the file by the name of a module.
fn may_be_found(design: &Design, name: &Path) -> bool {
    let is = |ending: &str| {
        name.extension().and_then(OsStr::to_str) == Some(ending.trim_start_matches('.'))
    };
    name.extension().is_none()
        || ["v", "sv"].into_iter().any(is)
        || design.extensions.iter().any(|ending| is(ending))
}

/// Replaces blanks in the file names of `line` directives.
fn named(text: &str) -> String {
    let line = |line: &str| match line_directive(line) {
        Some((number, file, level)) => {
            format!("`line {number} \"{}\" {level}\n", file.replace(' ', NO_BREAK))
        }
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// The text without what Yosys obeys and a simulator ignores, on the same lines: attributes,
/// `(* name = value *)`; `unique`, `unique0` and `priority` before a `case` or an `if`, whose
/// violations a simulator reports at most; and `` `default_nettype `` and `` `resetall ``, which
/// Yosys keeps for the files that follow. Verilator has accepted the text with them.
fn as_simulated(text: &str) -> String {
    let tokens: Vec<Token<'_>> = tokens(text).collect();
    let is_end = |token: &Token<'_>| token.text == "*)";
    let last = tokens.iter().rposition(is_end).map_or(0, |place| tokens[place].start);
    let mut kept = String::with_capacity(text.len());
    let mut rest = &tokens[..];
    while let Some(token) = rest.first() {
        let next = || {
            let is_next = |token: &Token<'_>| token.is_code() && token.kind != Kind::LineDirective;
            rest.iter().skip(1).position(is_next).map(|place| (place + 1, &rest[place + 1]))
        };
        // Verilator also ends an attribute inside a string, and a directive may hide its end.
        let is_odd = |token: &Token<'_>| is_directive(token) || token.text.contains("*)");
        // How many tokens are left out, and whether Verilator may read them in another way.
        let (removed, is_unclear) = match (token.kind, token.text) {
            (Kind::Sign, "(*") if token.start < last => match rest.iter().position(is_end) {
                Some(end) => (Some(end + 1), rest[..end].iter().any(is_odd)),
                None => (None, false),
            },
            (Kind::Word, "unique" | "unique0" | "priority") => match next() {
                Some((_, next)) if CHOICES.contains(&next.text) => (Some(1), false),
                Some((_, next)) if is_directive(next) || next.text == "(*" => (Some(1), true),
                _ => (None, false),
            },
            (Kind::Directive, "`resetall") => (Some(1), false),
            (Kind::Directive, "`default_nettype") => (next().map(|(place, _)| place + 1), false),
            _ => (None, false),
        };
        let (tokens, behind) = rest.split_at(removed.unwrap_or(1));
        match removed {
            Some(_) => kept.push_str(&blank(tokens)),
            None => kept.push_str(token.text),
        }
        if is_unclear {
            kept.push_str(MISPLACED);
        }
        rest = behind;
    }
    kept
}

fn is_directive(token: &Token<'_>) -> bool {
    token.kind == Kind::Directive
}

/// A blank with as many lines as these tokens.
fn blank(tokens: &[Token<'_>]) -> String {
    let lines = tokens.iter().map(|token| token.text.matches('\n').count()).sum();
    format!(" {}", "\n".repeat(lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yosys::{self, YosysSession};
    use std::fs;
    use verilated_build::{DataFile, SourceFile};

    /// A file outside of the temporary folder, and a name that leads to it from anywhere.
    fn victim(folder: &TempDir) -> (PathBuf, String) {
        let victim = folder.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        let far = format!("{}{}", "../".repeat(40), &victim.to_str().unwrap()[1..]);
        (victim, far)
    }

    #[test]
    fn names_of_the_rtl_write_no_file_of_others() {
        let folder = TempDir::new().unwrap();
        let (victim, far) = victim(&folder);
        let mut examined = yosys::verilog(&format!("`include \"{far}\"\nmodule top; endmodule\n"));
        let (name, text) = (Path::new(&far).to_owned(), b"wire of_the_include;\n");
        examined.texts.push(SourceFile { name, text: text[..].into() });
        let data = |name: &str| DataFile { name: name.to_owned(), text: Some(b"1"[..].into()) };
        examined.design.data = vec![data(&far), data("../a.hex"), data("sub/../b.hex")];
        YosysSession::new(&examined).unwrap();
        let texts = examined.expanded().unwrap();
        assert!(texts.sources[0].contains("of_the_include"), "{texts:?}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    }

    #[test]
    fn a_file_with_an_absolute_name_is_never_written() {
        let folder = TempDir::new().unwrap();
        let (victim, _) = victim(&folder);
        let text = "// synopsys full_case\n";
        fs::write(&victim, text).unwrap();
        let include = format!("`include \"{}\"\nmodule top; endmodule\n", victim.display());
        let mut examined = yosys::verilog(&include);
        examined.texts.push(SourceFile { name: victim.clone(), text: text.as_bytes().into() });
        examined.expanded().unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), text);
    }

    #[test]
    fn what_only_yosys_obeys_is_left_out_and_nothing_else() {
        for (text, expected) in [
            ("(* full_case, parallel_case *) case (a)", "  case (a)"),
            ("(* a = \"x\" *)wire b;", " wire b;"),
            ("(* a,\n b *)\nwire c;", " \n\nwire c;"),
            ("always @(*) a = b * (c);", "always @(*) a = b * (c);"),
            ("always @( * ) a = (b *c) * d;", "always @( * ) a = (b *c) * d;"),
            ("always @(* ) a = b; // (* keep *)", "always @(* ) a = b; // (* keep *)"),
            ("$display(\"(* x *)\\\"(* y *)\");", "$display(\"(* x *)\\\"(* y *)\");"),
            ("a = \"(* x \\\n *)\"; (* y *) b", "a = \"(* x \\\n *)\";   b"),
            ("wire \\a(*b ; (* c *) wire d;", "wire \\a(*b ;   wire d;"),
            ("/* (* */ wire a; /* *) */", "/* (* */ wire a; /* *) */"),
            ("(* never ended", "(* never ended"),
            ("unique case (a)", "  case (a)"),
            ("unique0  casez (a)", "   casez (a)"),
            ("priority/* b\n */casex (a)", " /* b\n */casex (a)"),
            ("else unique\nif (a)", "else  \nif (a)"),
            ("(* x *) unique if (a)", "    if (a)"),
            ("unique\n`line 3 \"a\" 1\ncase (a)", " \n`line 3 \"a\" 1\ncase (a)"),
            ("@(*\n`line 3 \"a\" 1\n) a; (* b *)", "@(*\n`line 3 \"a\" 1\n) a;  "),
            ("wire priority; a = unique + b.unique;", "wire priority; a = unique + b.unique;"),
            ("// unique case\n\\unique case", "// unique case\n\\unique case"),
            ("`default_nettype none\nmodule m;", " \nmodule m;"),
            ("`resetall\nmodule m;", " \nmodule m;"),
            ("`timescale 1ns/1ps\n`default_nettype\twire // a", "`timescale 1ns/1ps\n  // a"),
        ] {
            assert_eq!(as_simulated(text), expected);
        }
        for text in [
            "unique `celldefine\ncase (a)",
            "unique (* x *) case (a)",
            "(* a = \"*) assign b = c; (* d = \" *) wire e;",
            "(* `celldefine\n) a; (* b *)",
        ] {
            assert!(as_simulated(text).contains(MISPLACED), "{text}");
        }
        let many = "(* ".repeat(300_000);
        assert_eq!(as_simulated(&many), many, "in linear time");
    }

    /// Whether Yosys reads the same from both bodies of a module.
    fn is_read_alike(bodies: [&str; 2]) -> bool {
        let netlist = |body: &str| {
            let text = format!(
                "module top(input [7:0] a, b, output logic [7:0] y);\n\
                 wire h0 = a == 8'h13 && b[7:4] == 4'h5, h1 = a == 8'h13 && b[3:0] == 4'h7;\n\
                 always_comb begin {body} end\nendmodule\n"
            );
            let mut examined = yosys::verilog("");
            examined.design.sources = vec!["top.sv".into()];
            examined.texts =
                vec![SourceFile { name: "top.sv".into(), text: text.as_bytes().into() }];
            let session = YosysSession::new(&examined).unwrap();
            let path = session.path("netlist.il");
            let commands = format!("proc\nopt_clean\nwrite_rtlil \"{}\"", path.display());
            session.read(&[], &commands).unwrap();
            session.text("netlist.il").unwrap()
        };
        let session = YosysSession::from_verilog("module top; endmodule");
        for (name, body) in ["old", "new"].into_iter().zip(bodies) {
            let text = netlist(body).replace("\\top", &format!("\\{name}"));
            session.write(&format!("{name}.il"), &text).unwrap();
        }
        let netlists = "read_rtlil old.il\nread_rtlil new.il\n";
        let miter = "miter -equiv -flatten old new miter\n";
        session.script(&format!("{netlists}{miter}")).unwrap();
        session.script(&format!("{netlists}{miter}sat -verify -prove trigger 0 miter\n")).is_ok()
    }

    /// A simulator takes the first item that matches, and without one no item.
    #[test]
    fn violations_of_unique_and_priority_mean_what_a_simulator_does() {
        let items = "case (1'b1) h0: y = 1; h1: y = 2; default: y = a; endcase";
        let swapped = "case (1'b1) h1: y = 2; h0: y = 1; default: y = a; endcase";
        let few = "case (a[1:0]) 2'd0: y = 1; 2'd1: y = 2; 2'd2: y = 4; endcase";
        let chain = "if (a != 8'h13) y = 1; else if (b != 8'h57) y = 2;";
        let latest = "case (1'b1) (a != 8'h13): y = 1; (b != 8'h57): y = 2; endcase";
        for word in ["unique", "unique0", "priority"] {
            let is_alike = |old: &str, new: &str| is_read_alike([old, &format!("{word} {new}")]);
            assert!(is_alike(items, items), "{word}");
            assert!(!is_alike(swapped, items), "{word}");
            let kept = |text: &str| format!("y = b; {text}");
            let with = |text: &str| format!("y = b; {word} {text}");
            assert!(is_read_alike([&kept(few), &with(few)]), "{word}");
            assert!(is_read_alike([&kept(chain), &with(chain)]), "{word}");
            assert!(is_read_alike([&kept(chain), &with(latest)]), "{word}");
            let zero = format!("{chain} else y = 0;");
            assert!(!is_read_alike([&zero, &with(latest)]), "{word}");
        }
    }

    /// Verilator expands macros and removes comments, so Yosys sees the code that is simulated.
    #[test]
    fn code_between_pragmas_and_macros_of_yosys_is_read_as_it_is_simulated() {
        for one in ["// synopsys translate_off", "/* synthesis translate_off */"] {
            let text = format!("y = a;\n{one}\ny = b;\n// synopsys translate_on\n");
            assert!(is_read_alike(["y = b;", &text]), "{one}");
            assert!(!is_read_alike(["y = a;", &text]), "{one}");
        }
        for name in ["YOSYS", "SYNTHESIS"] {
            let text = format!("y = a;\n`ifdef {name}\ny = b;\n`endif\n");
            assert!(is_read_alike(["y = a;", &text]), "{name}");
            assert!(!is_read_alike(["y = b;", &text]), "{name}");
        }
    }

    #[test]
    fn a_name_with_a_blank_is_one_word() {
        let text = "`line 3 \"@rtl/a b.v\" 1\nwire a b;\n";
        let named = named(text);
        assert_eq!(named, "`line 3 \"@rtl/a\u{a0}b.v\" 1\nwire a b;\n");
        assert_eq!(PreprocessedRtl::place(&named), text);
    }
}
