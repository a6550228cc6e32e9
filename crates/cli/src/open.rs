//! `cosim open`: shows the page of a run, or the waves of a failure.

mod viewer;

use super::options::{find_block, heading, path};
use super::print_text;
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_base::files::find_program;
use cosim_base::program;
use cosim_base::run_file::RunFile;
use cosim_base::text;
use cosim_block::rtl::command_line;
use cosim_formats::run;
use cosim_formats::run::{Cause, Group, HTML};
use cosim_harness::harness::Verdict;
use cosim_report::report::Results;
use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use viewer::{Viewer, WaveView};

/// What to show.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run directory.
    #[arg(value_name = "DIR", value_parser = path, default_value = "runs/latest")]
    folder: PathBuf,
    /// Show the waves of a failure: of the first whose signature or vector contains TEXT [default
    /// without TEXT: the largest group].
    #[arg(long, value_name = "TEXT", num_args = 0..=1, default_missing_value = "", help_heading = heading::WHAT)]
    waves: Option<String>,
    /// Viewer of waves [default: surfer if installed, otherwise gtkwave].
    #[arg(long, value_enum, requires = "waves", help_heading = heading::WHAT)]
    viewer: Option<Viewer>,
    /// Print the command that would be started. Start nothing.
    #[arg(long, help_heading = heading::OUTPUT)]
    print: bool,
}

/// Starts a browser or a viewer and does not wait for its end.
pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let command = match &arguments.waves {
        Some(text) => waves(arguments, text)?,
        None => page(arguments)?,
    };
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    print_text(&command_line(&words))?;
    if !arguments.print {
        start(command)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The browser on the page of a run.
fn page(arguments: &Arguments) -> Result<Command, Error> {
    let page = arguments.folder.join(HTML);
    if !page.is_file() {
        let message = format!(
            "there is no page; `{} report {}` writes it",
            program::name(),
            text::path(&arguments.folder)
        );
        return Err(Error::File { code: codes::FILE_UNREADABLE, path: page, message });
    }
    let browser = env::var_os("BROWSER").filter(|name| !name.is_empty());
    let browser = browser.unwrap_or_else(|| "xdg-open".into());
    if !arguments.print && find_program(&browser).is_none() {
        return Err(missing(&format!(
            "`{}` is not installed; install it with `apt-get install xdg-utils`, set BROWSER, or \
             open {} yourself",
            browser.to_string_lossy(),
            text::path(&page)
        )));
    }
    // A relative path may begin with `-`, as an option does.
    let page = std::path::absolute(&page).map_err(Error::write(&page))?;
    let mut command = Command::new(browser);
    command.arg(page);
    Ok(command)
}

/// The viewer on the waves of a failure.
fn waves(arguments: &Arguments, wanted: &str) -> Result<Command, Error> {
    let results = Results::read(&arguments.folder, |_, _| ())?;
    let wrong = |message: String| Error::File {
        code: codes::NOTHING_SELECTED,
        path: arguments.folder.clone(),
        message,
    };
    let causes = run::causes(&results.failures);
    let groups: Vec<&Group> = causes.iter().flat_map(Cause::groups).collect();
    let has = |text: &str| text.contains(wanted);
    let is_wanted = |group: &&&Group| {
        has(&group.signature.to_string())
            || group.first.vector.as_ref().is_some_and(|vector| has(vector.as_str()))
    };
    let Some(group) = groups.iter().find(is_wanted) else {
        return Err(wrong(match groups.is_empty() {
            true => "the run has no failures, so there are no waves".to_owned(),
            false => format!("no failure has `{wanted}` in its signature or vector"),
        }));
    };
    let Some(waves) = &group.waves else {
        let vector = group.first.vector.as_ref().map_or("VECTOR", RunFile::as_str);
        let vector = arguments.folder.join(vector).display().to_string();
        let mut words = vec![program::name().to_owned(), "replay".to_owned(), vector];
        words.extend(results.run.given.arguments());
        words.extend(["--trace".to_owned(), "waves.fst".to_owned()]);
        return Err(wrong(format!(
            "the run has no waves of {}; write them with `{}`",
            group.signature,
            text::line(&command_line(&words))
        )));
    };
    if let Err(error) = waves.open(&arguments.folder) {
        return Err(Error::unreadable(&waves.path(&arguments.folder), &error));
    }
    let waves = waves.path(&arguments.folder);
    let waves = std::path::absolute(&waves).map_err(Error::write(&waves))?;
    let block = find_block(&results.run.block)?.info();
    let viewer = match arguments.viewer {
        Some(viewer) => viewer,
        None => Viewer::ALL
            .into_iter()
            .find(|one| find_program(one.program()).is_some())
            .unwrap_or(Viewer::Gtkwave),
    };
    if !arguments.print && find_program(viewer.program()).is_none() {
        return Err(missing(viewer.install()));
    }
    let view = WaveView { block, waves: &waves, verdict: &group.first.verdict };
    viewer.command(&view)
}

fn missing(message: &str) -> Error {
    Error::Environment(codes::PROGRAM_FAILED, message.to_owned())
}

/// Starts a program that outlives this one.
fn start(mut command: Command) -> Result<(), Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(_) => Ok(()),
        Err(error) => Err(missing(&format!("`{program}` cannot be started: {error}"))),
    }
}

/// The cycle of a failure, if it is known.
fn cycle(verdict: &Verdict) -> Option<u64> {
    match verdict {
        Verdict::Mismatch(found) | Verdict::Unknown(found) => Some(found.cycle),
        Verdict::CheckFailed { cycle, .. } => Some(*cycle),
        Verdict::Hang { cycle, .. } | Verdict::Crashed { cycle, .. } => *cycle,
        Verdict::Match | Verdict::NoGoldenModel | Verdict::Cancelled => None,
    }
}
