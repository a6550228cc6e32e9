//! Preprocesses sources with Verilator for other tools that read Verilog.
//!
//! Tools define their own macros, such as `SYNTHESIS`, and read some comments as commands, such as
//! `synopsys translate_off`. A tool that reads the output of this module reads what Verilator
//! compiles.

use crate::tool::{self, ALL, Keep};
use crate::{Design, Error};
use std::fs;
use tempfile::TempDir;
use verilated_runtime::Verilator;

/// Marks the end of each source. The `` `line`` directives do not: one source may include another,
/// and versions of Verilator end files differently.
const END: &str = "cosim_end_of_source";

impl Design {
    /// The preprocessed text of each source, with macros expanded, files included, comments
    /// removed, and `` `line`` directives that locate each line.
    ///
    /// # Errors
    /// [`Error::Verilate`] with Verilator's message.
    pub fn expand(&self, verilator: &Verilator) -> Result<Vec<String>, Error> {
        let folder = TempDir::with_prefix("cosim-").map_err(Error::io("a temporary folder"))?;
        let end = folder.path().join("end.v");
        fs::write(&end, format!("{END}\n")).map_err(Error::io(&end))?;
        let sources = self.sources.iter().flat_map(|source| [source.clone(), end.clone()]);
        let design = Self { sources: sources.collect(), ..self.clone() };
        let mut command = design.command(verilator);
        command.arg("-E");
        let text = tool::text(design.output(command, [ALL, Keep::Ends])?.stdout);
        let end = format!("\"{}\"", end.display());
        split(&text, &end, self.sources.len()).ok_or_else(|| Error::Verilate {
            top: self.top.clone(),
            output: "cannot parse the output of its preprocessor".to_owned(),
        })
    }
}

/// Splits a text into its `sources` parts, each followed by [`END`] from the file `end`.
fn split(text: &str, end: &str, sources: usize) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut part = String::new();
    for line in text.lines() {
        if line.trim() == END {
            parts.push(std::mem::take(&mut part));
        } else if !(line.starts_with("`line ") && line.contains(end)) {
            part.push_str(line);
            part.push('\n');
        }
    }
    (parts.len() == sources).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
`include \"w.vh\"
module a; // synopsys translate_off
`ifdef SYNTHESIS
  wire synthesis;
`else
  wire [`W-1:0] simulation; /* of two
  lines */ wire behind;
`endif
endmodule
`include \"b.v\"
";

    /// `a.v` and `b.v`, where `a.v` also includes `b.v`.
    fn expanded() -> Vec<String> {
        let folder = TempDir::new().unwrap();
        for (name, text) in
            [("a.v", SOURCE), ("w.vh", "`define W 4\n"), ("b.v", "module b;\nendmodule")]
        {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let design = Design {
            top: "a".to_owned(),
            sources: vec!["a.v".into(), "b.v".into()],
            folder: Some(folder.path().to_owned()),
            ..Design::default()
        };
        design.expand(&Verilator::find().unwrap()).unwrap()
    }

    /// The line number of `what` according to the `` `line`` directives.
    fn line_of(text: &str, what: &str) -> usize {
        let mut number = 0;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("`line ") {
                number = rest.split(' ').next().unwrap().parse().unwrap();
            } else if line.contains(what) {
                return number;
            } else {
                number += 1;
            }
        }
        panic!("no {what} in {text}")
    }

    #[test]
    fn a_text_is_what_verilator_compiles_and_says_where_its_lines_come_from() {
        let [a, b] = &expanded()[..] else { panic!() };
        assert!(!a.contains("wire synthesis") && !a.contains("`ifdef"), "{a}");
        assert!(a.contains("wire [4-1:0] simulation;"), "{a}");
        assert!(!a.contains("translate_off"), "{a}");
        assert_eq!(line_of(a, "simulation"), 6, "{a}");
        assert_eq!(line_of(a, "wire behind"), 7, "{a}");
        assert_eq!(line_of(b, "module b"), 1, "{b}");
    }

    #[test]
    fn expanded_text_is_split_by_source() {
        let text = "`line 1 \"a.v\" 1\nmodule a;\n`line 1 \"b.v\" 1\nwire b;\nendmodule\n`line 1 \"e\" 1\n\
                    cosim_end_of_source\n`line 2 \"e\" 2\n`line 1 \"b.v\" 1\nwire b;\ncosim_end_of_source\n\n";
        let parts = split(text, "\"e\"", 2).unwrap();
        assert!(parts[0].ends_with("wire b;\nendmodule\n"), "{parts:?}");
        assert_eq!(parts[1], "`line 1 \"b.v\" 1\nwire b;\n");
        assert_eq!(split(text, "\"e\"", 1), None);
        assert_eq!(split(text, "\"e\"", 3), None);
    }
}
