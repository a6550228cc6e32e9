//! What the commands that ask the provers share: options, and how a record is written and printed.

use crate::terminal::options::{
    Caching, Certainty, Format, Formatting, ModelLimits, heading, path,
};
use crate::{print_json, print_text, written};
use clap::Args;
use cosim_base::error::Error;
use cosim_formats::answers::AnswerRecord;
use cosim_formats::run::{DirectoryLock, HTML, OutputLocation};
use cosim_harness::harness::Blocks;
use cosim_regress::blocks;
use cosim_report::paths::word;
use cosim_report::report::write_answers;
use std::path::PathBuf;

/// Options of `prove`, `diff` and `cover close`.
#[derive(Debug, Args)]
pub struct ProverOptions {
    #[command(flatten)]
    pub certainty: Certainty,
    /// Write the result to DIR, a new or empty folder [default: runs/COMMAND-BLOCK-TIME].
    #[arg(long, value_name = "DIR", value_parser = path, help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
    /// Replace an earlier result in --out.
    #[arg(long, requires = "out", help_heading = heading::OUTPUT)]
    force: bool,
    #[command(flatten)]
    pub formatting: Formatting,
    #[command(flatten)]
    pub caching: Caching,
    #[command(flatten)]
    pub limits: ModelLimits,
}

impl ProverOptions {
    /// Where results are written. The name of a new folder begins with `stem`.
    pub fn location(&self, stem: String) -> OutputLocation {
        match &self.out {
            Some(folder) => OutputLocation::Named { folder: folder.clone(), replace: self.force },
            None => OutputLocation::New { stem },
        }
    }

    /// Writes a record and its page, prints its text, and releases the folder. `details`: the text
    /// lists every point of `cover close`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(
        &self,
        claim: DirectoryLock,
        record: &AnswerRecord,
        details: bool,
    ) -> Result<(), Error> {
        record.write(&claim.folder)?;
        write_answers(&claim.folder, record, Blocks(&blocks::infos()))?;
        if self.formatting.format == Format::Text {
            let page = claim.folder.join(HTML);
            let end = written(&page, &["open", &word(&claim.folder)]);
            print_text(&format!("{}{end}", record.text(details)))?;
        }
        claim.release();
        Ok(())
    }

    /// Prints all records, if the format is JSON. Warns if there is no second solver.
    ///
    /// # Errors
    /// They cannot be printed.
    pub fn print(&self, records: &[AnswerRecord]) -> Result<(), Error> {
        if let [first, ..] = records {
            Certainty::warn_without(first.subject.solver.as_deref());
        }
        match (self.formatting.format, records) {
            (Format::Text, _) => Ok(()),
            (Format::Json, [record]) => print_json(record),
            (Format::Json, records) => print_json(&records),
        }
    }
}
