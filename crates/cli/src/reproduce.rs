//! `cosim reproduce`: replays the failures of a run on the RTL that its run directory holds.

use super::failure::{Failures, explain_command};
use super::options::{
    Format, Formatting, ModelLimits, Quietness, TraceOptions, VectorRtl, VectorTarget, find_block,
    heading, path,
};
use super::{print_text, replay};
use crate::failure::NumberedRun;
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_base::files::{check_free, folder_of};
use cosim_base::program;
use cosim_base::text;
use cosim_formats::run::{Evidence, RTL_COPY, RtlCopy, commit};
use cosim_rtl::models::RtlModels as _;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// The run.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run directory whose failures to replay. Its RTL is compiled and executed, as with --rtl.
    #[arg(value_name = "DIR", value_parser = path)]
    folder: PathBuf,
    /// Keep the RTL of the run in DIR, a new folder, to work on it.
    #[arg(short, long, value_name = "DIR", value_parser = path, help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
    #[command(flatten)]
    formatting: Formatting,
    #[command(flatten)]
    quietness: Quietness,
    #[command(flatten)]
    limits: ModelLimits,
}

impl Arguments {
    /// What the command reads.
    pub fn inputs(&self) -> &[PathBuf] {
        std::slice::from_ref(&self.folder)
    }
}

/// Replays the failures. Succeeds if each vector does what the run recorded.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let failures = Failures::read(&arguments.folder)?;
    let header = &failures.results.run;
    let wrong =
        |code, message: String| Error::File { code, path: arguments.folder.clone(), message };
    let vectors = vectors(&failures)?;
    if vectors.is_empty() {
        let message = "no failure of the run has a vector, so there is nothing to reproduce";
        return Err(wrong(codes::NOTHING_FAILS, message.to_owned()));
    }
    let Some(copy) = RtlCopy::read(&arguments.folder)? else {
        let message = format!(
            "has no {RTL_COPY}: the run left its RTL out; name the RTL, as in `{} rerun {} --rtl PATH`",
            program::called(),
            text::path(&arguments.folder),
        );
        return Err(wrong(codes::INCOMPLETE, message));
    };
    if let Some(out) = &arguments.out {
        check_free(out)?;
        // An empty folder is as good as none.
        let _ = fs::remove_dir(out);
        let around = folder_of(out);
        fs::create_dir_all(around).map_err(Error::write(around))?;
    }
    let temporary = tempfile::tempdir().map_err(Error::write("a temporary folder"))?;
    let root = match &arguments.out {
        Some(out) => out.clone(),
        None => temporary.path().join("rtl"),
    };
    let rtl = copy.lay_out(&root, &header.given)?;
    let here = commit();
    if let (Some(then), true) = (&copy.commit, copy.commit != here) {
        let here = here.map_or_else(String::new, |here| format!("; here it is {here}"));
        program::print_note(format_args!("commit of the run: {}{here}", text::line(then)));
    }
    let block =
        find_block(&header.block).map_err(|error| wrong(codes::OTHER_BLOCK, error.to_string()))?;
    let now = &rtl.examined(block.info())?.identity;
    if *now != header.rtl {
        let then = text::line(&header.rtl).into_owned();
        program::warn(format_args!("the RTL of the run was {then}, and its copy is {now}"));
    }
    let next = explain_command(&program::called(), 1, &arguments.folder, &rtl);
    let code = replay::execute(&replay::Arguments {
        vectors,
        run: NumberedRun::default(),
        target: VectorTarget::default(),
        rtl: VectorRtl::from(rtl),
        tracing: TraceOptions { trace: None, trace_all: false },
        expect_recorded: true,
        formatting: arguments.formatting,
        quietness: arguments.quietness,
        limits: arguments.limits,
    })?;
    if arguments.out.is_some() && arguments.formatting.format == Format::Text {
        print_text(&format!("next: {}", text::line(&next)))?;
    }
    Ok(code)
}

/// The vectors of all failures, the most important first.
fn vectors(failures: &Failures) -> Result<Vec<PathBuf>, Error> {
    let (mut found, mut known) = (Vec::new(), BTreeSet::new());
    let all = failures.results.failures.iter().flat_map(|group| {
        let variants = group.variants.iter().map(|variant| &variant.first);
        std::iter::once(&group.first).chain(variants)
    });
    for vector in all.filter_map(|first: &Evidence| first.vector.as_ref()) {
        if known.insert(vector) {
            let path = vector.path(&failures.folder);
            // Nothing below a run directory may lead out of it.
            vector.open(&failures.folder).map_err(|error| Error::unreadable(&path, &error))?;
            found.push(path);
        }
    }
    Ok(found)
}
