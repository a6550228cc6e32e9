//! `cosim export`.

use crate::failures::replay::{CheckedVector, expand, load};
use crate::terminal::options::{ModelLimits, VectorRtl, VectorTarget, heading, only, path};
use crate::{counted, interruption, print_text};
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_base::files::{check_free, folder_of};
use cosim_base::text;
use cosim_harness::harness::Profile;
use cosim_regress::worker::OneShotWorker;
use cosim_regress::worker::one_shot::VectorJob;
use cosim_rtl::export::{Language, Testbench};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tempfile::Builder;
use verilated_files::foreign::lay_out;

/// What becomes a testbench.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Vector files, folders with .json files, or patterns.
    #[arg(value_name = "VECTOR", value_parser = path, required = true)]
    vectors: Vec<PathBuf>,
    /// Write to DIR, a new or empty folder; several vectors or profiles get a folder each.
    #[arg(short, long, value_name = "DIR", value_parser = path, help_heading = heading::OUTPUT)]
    out: PathBuf,
    /// Write a cocotb test instead of a testbench in Verilog.
    #[arg(long, help_heading = heading::OUTPUT)]
    cocotb: bool,
    #[command(flatten)]
    target: VectorTarget,
    #[command(flatten)]
    rtl: VectorRtl,
    #[command(flatten)]
    limits: ModelLimits,
}

impl Arguments {
    pub fn inputs(&self) -> &[PathBuf] {
        &self.vectors
    }
}

/// A vector under a profile, and the folder of its testbench below the output folder.
struct Job<'a> {
    vector: &'a CheckedVector,
    path: &'a Path,
    profile: Profile,
    below: PathBuf,
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let interrupted = interruption()?;
    let out = &arguments.out;
    check_free(out)?;
    let mut vectors = Vec::new();
    for path in expand(&arguments.vectors)? {
        let vector = load(&path, arguments.target.block.as_deref())?;
        vectors.push((path, vector));
    }
    let jobs = arguments.jobs(&vectors)?;
    let around = folder_of(out);
    fs::create_dir_all(around).map_err(Error::write(around))?;
    let temporary =
        Builder::new().prefix(".cosim-").tempdir_in(around).map_err(Error::write(around))?;
    let made = temporary.path().join("made");
    let mut first = None;
    let language = if arguments.cocotb { Language::Cocotb } else { Language::Verilog };
    for job in &jobs {
        let rtl = arguments.rtl.of_vector(job.path, &job.vector.loaded)?;
        job.vector.loaded.check_profiles(&rtl, std::slice::from_ref(&job.profile))?;
        let recorded = match job.vector.block.info().transaction_outputs {
            [] => None,
            _ => {
                let (block, vector) = (job.vector.block, &job.vector.file);
                let subject = VectorJob { block, vector, profile: &job.profile, rtl: &rtl };
                let worker =
                    OneShotWorker::new(arguments.limits.program()?, Arc::clone(&interrupted));
                Some(worker.record(&subject)?.done()?)
            }
        };
        let recorded = recorded.as_ref();
        let testbench = job.vector.loaded.testbench(&job.profile, &rtl, language, recorded)?;
        if !job.below.as_os_str().is_empty() {
            fs::create_dir_all(&made).map_err(Error::write(&made))?;
        }
        let files = testbench.files.iter().map(|(name, text)| (name.as_path(), text.as_slice()));
        lay_out(&made.join(&job.below), files)?;
        first.get_or_insert(testbench);
    }
    // Renaming replaces an empty folder, but fails if the folder was filled meanwhile.
    fs::rename(&made, out).map_err(Error::write(out))?;
    if let (Some(first), Some(job)) = (first, jobs.first()) {
        print_text(&message(out, &jobs, job, &first, language))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What was written, and how to use it.
fn message(
    out: &Path,
    jobs: &[Job<'_>],
    job: &Job<'_>,
    testbench: &Testbench,
    language: Language,
) -> String {
    let folder = out.join(&job.below);
    let what = match jobs {
        [_] => format!(
            "{} of module {}, compared with the golden model of profile {}",
            counted(testbench.cycles, "cycle"),
            testbench.top,
            job.profile.name
        ),
        jobs => format!("{} testbenches, each in its own folder", jobs.len()),
    };
    if language == Language::Cocotb {
        let (out, folder) = (text::path(out), text::path(&folder));
        return format!(
            "wrote {out}: {what}\nnext: cd {folder} && python run.py, with cocotb installed"
        );
    }
    format!(
        "wrote {}: {what}\nnext: cd {} && iverilog -g2012 -s cosim_tb -o cosim_tb.vvp -c files.f && vvp -n cosim_tb.vvp; \
         README.md has other simulators",
        text::path(out),
        text::path(&folder),
    )
}

impl Arguments {
    fn jobs<'a>(&self, vectors: &'a [(PathBuf, CheckedVector)]) -> Result<Vec<Job<'a>>, Error> {
        let overrides = self.target.choice.overrides()?;
        let profiles_of = |vector: &CheckedVector| {
            vector.loaded.profiles(self.target.choice.fixes.as_deref(), &overrides)
        };
        if let [(path, vector)] = vectors {
            let profile = only(&profiles_of(vector)?)?.clone();
            return Ok(vec![Job { vector, path, profile, below: PathBuf::new() }]);
        }
        let mut jobs = Vec::new();
        let mut taken: BTreeMap<PathBuf, &Path> = BTreeMap::new();
        for (path, vector) in vectors {
            let profiles = profiles_of(vector)?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let are_several = profiles.len() > 1;
            for profile in profiles {
                let below = match are_several {
                    true => PathBuf::from(format!("{stem}-{}", profile.name)),
                    false => PathBuf::from(&*stem),
                };
                if let Some(other) = taken.insert(below.clone(), path) {
                    let (other, below) = (other.display(), below.display());
                    let message = format!(
                        "would be exported to `{below}`, as would {other}; export them \
                             with separate commands"
                    );
                    return Err(Error::File {
                        code: codes::CANNOT_COPY,
                        path: path.clone(),
                        message,
                    });
                }
                jobs.push(Job { vector, path, profile, below });
            }
        }
        if jobs.is_empty() {
            let message = "none of the vectors is of the selected profiles; choose other profiles \
                 with --fixes";
            return Err(Error::Usage(codes::NOTHING_SELECTED, message.to_owned()));
        }
        Ok(jobs)
    }
}
