//! `cosim merge` of mutation analyses.

use super::{Arguments, apart, place_of_each};
use crate::quality::mutate;
use crate::terminal::options::Format;
use crate::{print_json, print_text, written};
use cosim_analysis::mutate::merge::{GRADING, MutationShards};
use cosim_base::error::{Error, codes};
use cosim_formats::mutation::Report;
use cosim_formats::run::{DirectoryLock, HTML, OutputLocation};
use cosim_harness::harness::Blocks;
use cosim_regress::blocks;
use cosim_regress::merge;
use cosim_report::paths::word;
use cosim_report::report::write_grading;
use std::path::PathBuf;
use std::process::ExitCode;

/// Merges the shards of the mutation analysis of each block. Ends with the exit code of the
/// analysis.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let Arguments { folders, out, earlier, .. } = arguments;
    if let Some(option) = earlier.option() {
        return Err(Error::Usage(
            codes::OPTIONS_CONFLICT,
            format!("{option} applies to runs, and these are mutation analyses; leave it out"),
        ));
    }
    apart(folders, out)?;
    // Open all shards first, so that errors are reported before anything is written.
    let mut all = Vec::new();
    for (name, folders) in merge::runs(folders, &GRADING)? {
        all.push((name, MutationShards::open(&folders)?));
    }
    let name = |(name, parts): &(Option<String>, MutationShards)| {
        name.clone().unwrap_or_else(|| parts.block_name().to_owned())
    };
    let names: Vec<String> = all.iter().map(name).collect();
    let is_below = matches!(all.as_slice(), [(Some(_), _)]);
    let mut reports = Vec::new();
    for ((_, parts), place) in all.iter().zip(place_of_each(arguments, is_below, &names)?) {
        let (report, folder) = merge_block(parts, &place)?;
        if arguments.output.format() == Format::Text {
            let end = written(&folder.join(HTML), &["open", &word(&folder)]);
            print_text(&format!("{}\n{end}", report.text().trim_end()))?;
        }
        reports.push(report);
    }
    if arguments.output.format() == Format::Json {
        match reports.as_slice() {
            [report] => print_json(report)?,
            reports => print_json(&reports)?,
        }
    }
    Ok(ExitCode::from(mutate::concluded(&reports, |report| report.run.min_score)))
}

/// Merges the shards of one block. After an error, the folder is removed.
fn merge_block(parts: &MutationShards, place: &OutputLocation) -> Result<(Report, PathBuf), Error> {
    let claim = DirectoryLock::new(place)?;
    match parts.merge(&claim.folder) {
        Ok(report) => {
            report.write(&claim.folder)?;
            write_grading(&claim.folder, &report, Blocks(&blocks::infos()))?;
            let folder = claim.folder.clone();
            claim.release();
            Ok((report, folder))
        }
        Err(error) => {
            claim.abandon();
            Err(error)
        }
    }
}
