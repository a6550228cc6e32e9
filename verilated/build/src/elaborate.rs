//! Elaborates a design with Verilator: its files, modules and includes.

use crate::data::{Opened, constant, only_writes};
use crate::tool::{self, ALL, Keep};
use crate::tree::{Element, Tree, with_tree};
use crate::{Design, Error};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use verilated_lexer::line_directive;
use verilated_runtime::Verilator;

/// A module, package or interface of an elaborated design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// The file that declares it, as named by Verilator.
    pub file: PathBuf,
    /// Its parameters without local ones.
    pub parameters: Vec<String>,
    /// Whether it is a package. Newer Verilators report packages that nothing uses.
    pub is_package: bool,
}

/// The structure of a design.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Elaboration {
    /// Every file that Verilator read, as named by Verilator.
    pub files: Vec<PathBuf>,
    /// The top module and all modules below it.
    pub modules: Vec<Module>,
    /// The calls that open files to read them.
    pub opened: Vec<Opened>,
}

/// A file that another one includes, as named by Verilator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Include {
    /// The file with the `include`.
    pub from: PathBuf,
    /// The file that it includes.
    pub file: PathBuf,
}

/// The output of Verilator's preprocessor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preprocessed {
    /// Every include, in reading order.
    pub includes: Vec<Include>,
    /// The preprocessed text of each file, without directives and empty lines.
    pub texts: BTreeMap<PathBuf, String>,
}

impl Preprocessed {
    fn parse(text: &str, sources: &[PathBuf]) -> Self {
        let mut found = Self::default();
        let (mut source, mut here) = (PathBuf::new(), PathBuf::new());
        let mut includes = includes(text).into_iter();
        for line in text.lines() {
            let Some((_, file, level)) = line_directive(line) else {
                if !line.trim().is_empty() {
                    let text = found.texts.entry(source.clone()).or_default();
                    text.push_str(line);
                    text.push('\n');
                }
                continue;
            };
            let file = PathBuf::from(file);
            if level == "1" {
                if includes.next() == Some(false) && sources.contains(&file) {
                    source.clone_from(&file);
                } else {
                    found.includes.push(Include { from: here, file: file.clone() });
                }
            }
            here = file;
        }
        found
    }
}

/// Whether each directive of level 1 begins an included file, and not a source.
fn includes(text: &str) -> Vec<bool> {
    let directives: Vec<_> = text.lines().filter_map(line_directive).collect();
    let returns = directives.windows(2).any(|pair| pair[1].2 == "2" && pair[0].1 != pair[1].1);
    let mut found = Vec::new();
    if returns || !directives.iter().any(|(_, _, level)| *level == "2") {
        // Newer Verilators return to the including file with level 2.
        let mut pending = 0_usize;
        for (_, _, level) in directives.iter().rev() {
            match *level {
                "2" => pending += 1,
                "1" => {
                    found.push(pending > 0);
                    pending = pending.saturating_sub(1);
                }
                _ => {}
            }
        }
        found.reverse();
    } else {
        // Older ones end a file with it. The position in the including file directly precedes the
        // text of an included one.
        let mut last = "";
        for (_, _, level) in &directives {
            if *level == "1" {
                found.push(last == "0");
            }
            last = level;
        }
    }
    found
}

/// A design in Verilator's output.
pub(crate) enum Description {
    /// The format of older versions.
    Xml(String),
    /// The format of newer versions.
    Json {
        /// The design.
        tree: String,
        /// The files.
        meta: String,
    },
}

/// Prefix of the files that Verilator writes here.
const PREFIX: &str = "Vask";

impl Design {
    /// Elaborates the design and returns its files and modules. `out` is a folder for Verilator's
    /// output.
    ///
    /// # Errors
    /// [`Error::Twice`] if two files declare the same module. [`Error::Verilate`] with Verilator's
    /// message.
    pub fn elaborate(&self, verilator: &Verilator, out: &Path) -> Result<Elaboration, Error> {
        let options = ["-Werror-MODDUP".to_owned()];
        let description = self.describe(verilator, out, &options).map_err(duplicate_module)?;
        with_tree(&description, elaboration).ok_or_else(|| self.not_understood())
    }

    /// Runs Verilator with further options and returns its description of the design. `out` is a
    /// folder for Verilator's output.
    pub(crate) fn describe(
        &self,
        verilator: &Verilator,
        out: &Path,
        options: &[String],
    ) -> Result<Description, Error> {
        let ask = |format: &str| {
            let mut command = self.command(verilator);
            command.args([format, "-Wno-lint", "-Wno-style"]).args(options);
            command.args(["--prefix", PREFIX, "--Mdir"]).arg(out);
            self.run(command)
        };
        let read = |name: &str, end: &str| -> Result<String, Error> {
            let text = tool::written_text(&out.join(name))?;
            check_whole(&self.top, &text, end)?;
            Ok(text)
        };
        // Older Verilators have no JSON, newer ones no XML.
        match ask("--xml-only") {
            Ok(_) => Ok(Description::Xml(read("Vask.xml", END_OF_XML)?)),
            Err(Error::Verilate { output, .. })
                if output.contains("Invalid option: --xml-only") =>
            {
                ask("--json-only")?;
                let (tree, meta) = ("Vask.tree.json", "Vask.tree.meta.json");
                Ok(Description::Json { tree: read(tree, "}")?, meta: read(meta, "}")? })
            }
            Err(error) => Err(error),
        }
    }

    /// The error for a description that is not understood: RTL decides what is in it.
    pub(crate) fn not_understood(&self) -> Error {
        let output = "cannot parse Verilator's description of the design".to_owned();
        Error::Verilate { top: self.top.clone(), output }
    }

    /// Preprocesses each source. The text of a source with an error ends at the error.
    ///
    /// # Errors
    /// [`Error::Interrupted`], or Verilator cannot be run.
    pub fn preprocess(&self, verilator: &Verilator) -> Result<Preprocessed, Error> {
        let mut command = self.command(verilator);
        command.arg("-E").args(&self.sources);
        let output = tool::with_large_stack(command, [ALL, Keep::Ends])?;
        Ok(Preprocessed::parse(&tool::text(output.stdout), &self.sources))
    }
}

/// Converts Verilator's error about a duplicate module.
fn duplicate_module(error: Error) -> Error {
    let Error::Verilate { output, .. } = &error else { return error };
    let found = || {
        let (at, module) = output.lines().find_map(|line| {
            let (at, module) =
                line.strip_prefix("%Error-MODDUP: ")?.split_once(": Duplicate declaration of ")?;
            // A module, or an interface, a package or a program.
            let (_, name) = module.split_once(": ")?;
            Some((at, name.trim().trim_matches('\'')))
        })?;
        let original = ": ... Location of original declaration";
        let first = output.lines().find_map(|line| line.trim().strip_suffix(original))?;
        // Omit the column, because a module starts its line.
        let place = |text: &str| text.rsplit_once(':').map(|(place, _)| place.to_owned());
        Some((module.to_owned(), place(first)?, place(at)?))
    };
    match found() {
        Some((module, first, second)) => Error::Twice { module, first, second },
        None => error,
    }
}

/// The file of a location such as `d,2,8,2,11` or `d,2:8,2:11`.
fn file_at(files: &BTreeMap<String, PathBuf>, place: &str) -> Option<PathBuf> {
    files.get(place.split(',').next()?).filter(|file| is_file(&file.to_string_lossy())).cloned()
}

/// Names in angle brackets denote Verilator's built-in files.
fn is_file(name: &str) -> bool {
    !name.starts_with('<')
}

fn elaboration(tree: &Tree) -> Option<Elaboration> {
    let files: BTreeMap<String, PathBuf> =
        tree.files.iter().map(|(id, name)| (id.clone(), PathBuf::from(name))).collect();
    let (mut modules, mut calls) = (Vec::new(), Vec::new());
    for module in &tree.modules {
        module.each(&mut |node| calls.extend(opened_in(node, &files)));
        // A named node with a location is a declaration.
        let Some(file) = module.get("loc").and_then(|place| file_at(&files, place)) else {
            continue;
        };
        let parameters = module.of_kind("var").filter(|var| var.get("param") == Some("true"));
        modules.push(Module {
            name: module.get("origName").or(module.get("name"))?.to_owned(),
            file,
            parameters: parameters.map(|var| var.name().to_owned()).collect(),
            is_package: module.kind == "package",
        });
    }
    Some(Elaboration { files: real(files), modules, opened: sorted(calls) })
}

/// The call in a node, if it opens a file for reading. The name is the first argument of `readmem`;
/// for `fopen`, the mode follows it.
fn opened_in(node: &Element, files: &BTreeMap<String, PathBuf>) -> Option<Opened> {
    let text = |argument: &Element| match (&*argument.kind, argument.children.first()) {
        ("const", _) => constant(argument.name()),
        ("cvtpackstring", Some(inner)) => constant(inner.name()),
        _ => None,
    };
    let (name, mode) = match (&*node.kind, node.children.as_slice()) {
        ("readmem", [name, ..]) => (name, None),
        ("fopen", [.., name, mode]) => (name, Some(text(mode))),
        _ => return None,
    };
    opened(text(name), mode, node.get("loc")?, files)
}

/// A call with this file name and, for `$fopen`, this mode, unless it only writes.
fn opened(
    name: Option<String>,
    mode: Option<Option<String>>,
    place: &str,
    files: &BTreeMap<String, PathBuf>,
) -> Option<Opened> {
    if mode.as_ref().and_then(Option::as_deref).is_some_and(only_writes) {
        return None;
    }
    // Formats: `d,2,8,2,11` or `d,2:8,2:11`.
    let line = place.split([',', ':']).nth(1)?.parse().ok()?;
    Some(Opened { name, is_required: mode.is_none(), file: file_at(files, place)?, line })
}

fn sorted(mut calls: Vec<Opened>) -> Vec<Opened> {
    calls.sort();
    calls.dedup();
    calls
}

fn real(files: BTreeMap<String, PathBuf>) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        files.into_values().filter(|file| is_file(&file.to_string_lossy())).collect();
    files.sort();
    files.dedup();
    files
}

/// The end of Verilator's XML.
const END_OF_XML: &str = "</verilator_xml>";

/// Refuses a truncated description. Verilator does not report a full disk.
fn check_whole(top: &str, text: &str, end: &str) -> Result<(), Error> {
    if text.trim_end().ends_with(end) {
        return Ok(());
    }
    let output =
        "its description of the design is truncated; check that the disk is not full".to_owned();
    Err(Error::VerilatorFailed { top: top.to_owned(), output })
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = r#"<?xml version="1.0" ?>
<!-- DESCRIPTION: Verilator output: XML representation of netlist -->
<verilator_xml>
  <files>
    <file id="a" filename="&lt;built-in&gt;" language="1800-2017"/>
    <file id="d" filename="rtl/t.v" language="1800-2017"/>
    <file id="e" filename="rtl/h.vh" language="1800-2017"/>
  </files>
  <netlist>
    <module loc="d,2,8,2,11" name="t__D10" origName="t">
      <var loc="d,2,30,2,35" name="FIXES" vartype="logic" origName="FIXES" param="true"/>
      <var loc="d,3,14,3,15" name="X" vartype="logic" origName="X" localparam="true"/>
      <initial loc="d,4,2,4,9">
        <readmem loc="d,4,10,4,19">
          <const loc="d,4,20,4,27" name="40&apos;h612e686578"/>
          <varref loc="d,4,29,4,30" name="m"/>
        </readmem>
        <fopen loc="d,5,10,5,16">
          <varref loc="d,5,5,5,7" name="fd"/>
          <varref loc="d,5,17,5,18" name="s"/>
          <const loc="d,5,20,5,23" name="8&apos;h72"/>
        </fopen>
        <fopen loc="d,6,10,6,16">
          <varref loc="d,6,5,6,7" name="fd"/>
          <const loc="d,6,17,6,18" name="&quot;log&quot;"/>
          <const loc="d,6,20,6,23" name="8&apos;h77"/>
        </fopen>
      </initial>
    </module>
  </netlist>
</verilator_xml>"#;

    const TREE: &str = r#"{"type":"NETLIST","modulesp":[
  {"type":"PACKAGE","name":"std","loc":"c,1:8,1:9"},
  {"type":"MODULE","name":"t__D10","origName":"t","loc":"d,2:8,2:11","stmtsp":[
    {"type":"VAR","name":"FIXES","isGParam":true,"isParam":true},
    {"type":"VAR","name":"X","isParam":true},
    {"type":"INITIAL","loc":"d,4:2,4:9","stmtsp":[
      {"type":"READMEM","loc":"d,4:10,4:19","filenamep":[{"type":"CONST","name":"40'h612e686578"}]},
      {"type":"FOPEN","loc":"d,5:10,5:16","filenamep":[{"type":"VARREF","name":"s"}],
        "modep":[{"type":"CONST","name":"8'h72"}]},
      {"type":"FOPEN","loc":"d,6:10,6:16","filenamep":[{"type":"CONST","name":"\"log\""}],
        "modep":[{"type":"CONST","name":"8'h77"}]}]}]}],"miscsp":[]}"#;

    const META: &str = r#"{"files":{
  "a":{"filename":"<built-in>"}, "c":{"filename":"<verilated_std>"},
  "d":{"filename":"rtl/t.v"}, "e":{"filename":"rtl/h.vh"}}}"#;

    #[test]
    fn a_truncated_description_is_an_error() {
        assert!(check_whole("t", XML, END_OF_XML).is_ok());
        let half = &XML[..XML.len() / 2];
        let error = check_whole("t", half, END_OF_XML).unwrap_err().to_string();
        assert!(error.contains("is truncated"), "{error}");
    }

    /// Verilator writes strings of the RTL as they are.
    #[test]
    fn characters_and_references_that_xml_forbids_are_read() {
        for text in ["&#27;[31m\u{2}", "&#0;", "&#xD800;", "&nothing;", "&#99999999;"] {
            let xml = XML.replace("&quot;log&quot;", text);
            assert_ne!(xml, XML);
            let found = with_tree(&Description::Xml(xml), elaboration);
            assert_eq!(found.map(|found| found.modules.len()), Some(1), "{text:?}");
        }
    }

    #[test]
    fn xml_and_json_give_the_same_result() {
        let expected = Elaboration {
            files: vec!["rtl/h.vh".into(), "rtl/t.v".into()],
            modules: vec![Module {
                name: "t".to_owned(),
                file: "rtl/t.v".into(),
                parameters: vec!["FIXES".to_owned()],
                is_package: false,
            }],
            opened: vec![
                Opened { name: None, is_required: false, file: "rtl/t.v".into(), line: 5 },
                Opened {
                    name: Some("a.hex".to_owned()),
                    is_required: true,
                    file: "rtl/t.v".into(),
                    line: 4,
                },
            ],
        };
        let json = Description::Json { tree: TREE.to_owned(), meta: META.to_owned() };
        for description in [Description::Xml(XML.to_owned()), json] {
            assert_eq!(with_tree(&description, elaboration), Some(expected.clone()));
        }
    }

    #[test]
    fn deeply_nested_json_is_read() {
        let depth = 50_000;
        let (begin, end) = (r#"{"type":"X","a":["#.repeat(depth), "]}".repeat(depth));
        let read = |begin: &str| {
            let modules = format!(r#"{{"modulesp":[{begin}{end}],"miscsp":[]}}"#);
            let json = Description::Json { tree: modules, meta: META.to_owned() };
            with_tree(&json, |tree| Some(tree.modules.len()))
        };
        assert_eq!(read(&begin), Some(1));
        assert_eq!(read(&begin[1..]), None);
    }

    #[test]
    fn includes_are_found_with_their_includer() {
        let text = "`line 1 \"t.v\" 1\nmodule t;\n\n`line 3 \"t.v\" 2\n`line 1 \"a/x.v\" 1\n`line 1 \"a/x.v\" \
                    0\n`line 1 \"a/h.vh\" 1\n \n`line 3 \"a/h.vh\" 2\n`line 1 \"a/x.v\" 0\nmodule x;\n";
        let found = Preprocessed::parse(text, &["t.v".into(), "a/x.v".into()]);
        assert_eq!(found.includes, [Include { from: "a/x.v".into(), file: "a/h.vh".into() }]);
        let texts = [("t.v", "module t;\n"), ("a/x.v", "module x;\n")];
        let texts = texts.map(|(file, text)| (PathBuf::from(file), text.to_owned()));
        assert_eq!(found.texts, BTreeMap::from(texts));
    }

    #[test]
    fn a_source_that_is_also_included_stays_a_source() {
        let text = "`line 1 \"t.v\" 1\n \n`line 1 \"t.v\" 0\n`line 1 \"x.v\" 1\nmodule x;\n`line 3 \"x.v\" 2\n\
                    `line 1 \"t.v\" 0\nmodule t;\n`line 5 \"t.v\" 2\n`line 1 \"x.v\" 1\nmodule x;\n`line 3 \
                    \"x.v\" 2\n";
        let found = Preprocessed::parse(text, &["t.v".into(), "x.v".into()]);
        assert_eq!(found.includes, [Include { from: "t.v".into(), file: "x.v".into() }]);
        assert_eq!(found.texts[Path::new("t.v")], "module x;\nmodule t;\n");
        assert_eq!(found.texts[Path::new("x.v")], "module x;\n");
        // The same from a newer Verilator, with the other order of the sources.
        let text = "`line 1 \"x.v\" 1\nmodule x;\n`line 3 \"x.v\" 0\n`line 1 \"t.v\" 1\n \n`line 1 \"t.v\" 0\n\
                    `line 1 \"x.v\" 1\nmodule x;\n`line 3 \"x.v\" 0\n`line 1 \"t.v\" 2\nmodule t;\n\
                    `line 5 \"t.v\" 0\n";
        let found = Preprocessed::parse(text, &["x.v".into(), "t.v".into()]);
        assert_eq!(found.includes, [Include { from: "t.v".into(), file: "x.v".into() }]);
        assert_eq!(found.texts[Path::new("t.v")], "module x;\nmodule t;\n");
        assert_eq!(found.texts[Path::new("x.v")], "module x;\n");
    }

    #[test]
    fn a_duplicate_module_is_an_error_with_both_places() {
        let output = "%Error-MODDUP: b.v:2:8: Duplicate declaration of module: 'x'\n    2 | module x;\n      \
                      |        ^\n               a b.v:7:8: ... Location of original declaration\n";
        let error =
            duplicate_module(Error::Verilate { top: "t".to_owned(), output: output.to_owned() });
        let Error::Twice { module, first, second } = error else { panic!("{error}") };
        assert_eq!([&*module, &*first, &*second], ["x", "a b.v:7", "b.v:2"]);
        let output = output.replace("module: 'x'", "interface: 'x'");
        let error = duplicate_module(Error::Verilate { top: "t".to_owned(), output });
        assert!(matches!(error, Error::Twice { module, .. } if module == "x"));
    }
}
