//! `cosim open`: shows the page of a run, or the waves of a failure.

mod viewer;

use crate::failures::failure::{Failures, NumberedRun, is_number};
use crate::print_text;
use crate::terminal::options::{find_block, heading, path};
use clap::Args;
use cosim_base::error::{Error, codes};
use cosim_base::files::find_program;
use cosim_base::program;
use cosim_base::run_file::RunFile;
use cosim_base::text;
use cosim_block::rtl::command_line;
use cosim_formats::run::{self, Cause, Group, HTML};
use cosim_report::paths::{href, word};
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use viewer::{Viewer, WaveView};

/// What to show.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run directory, page, or the number of a failure of the latest run [default: the latest
    /// run].
    #[arg(value_name = "DIR|N", value_parser = path)]
    what: Option<PathBuf>,
    #[command(flatten)]
    run: NumberedRun,
    /// Show the waves of a failure: of the first whose signature or vector contains TEXT, or of
    /// number TEXT [default without TEXT: failure N, or the largest group].
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
    let (folder, number) = match arguments.what.as_deref() {
        None => (arguments.run.folder(), None),
        Some(number) if is_number(number) => (arguments.run.folder(), Some(number)),
        Some(folder) => {
            arguments.run.check_unused(folder)?;
            (folder.to_owned(), None)
        }
    };
    let command = match &arguments.waves {
        Some(text) => waves(arguments, &folder, number, text)?,
        None => page(arguments, &folder, number)?,
    };
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    print_text(&command_line(&words))?;
    if !arguments.print {
        start(command)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The browser on the page of a run, at the failure with a number.
fn page(arguments: &Arguments, folder: &Path, number: Option<&Path>) -> Result<Command, Error> {
    if let Some(number) = number {
        Failures::read(folder)?.group(number)?;
    }
    let page = if folder.is_file() { folder.to_owned() } else { folder.join(HTML) };
    if !page.is_file() {
        let name = program::called();
        let message = match folder.exists() {
            true => format!(
                "there is no page; `{name} report {}` writes it",
                text::line(&command_line(&[word(folder)]))
            ),
            false => format!("there is no run here yet; `{name} run` starts one"),
        };
        return Err(Error::File { code: codes::FILE_UNREADABLE, path: page, message });
    }
    let number = number.map(|number| number.display().to_string());
    let place = number.map(|number| format!("failure-{}", number.trim_start_matches('0')));
    browser(&page, place.as_deref(), arguments.print)
}

/// The browser on a page, at a place of it. It need not be installed if it is only `printed`.
pub fn browser(page: &Path, place: Option<&str>, printed: bool) -> Result<Command, Error> {
    let browser = env::var_os("BROWSER").filter(|name| !name.is_empty());
    let browser = browser.unwrap_or_else(|| "xdg-open".into());
    if !printed && find_program(&browser).is_none() {
        return Err(missing(&format!(
            "`{}` is not installed; install it with `apt-get install xdg-utils`, set BROWSER, or \
             open {} yourself",
            browser.to_string_lossy(),
            text::path(page)
        )));
    }
    // A relative path may begin with `-`, as an option does.
    let page = std::path::absolute(page).map_err(Error::write(page))?;
    let mut command = Command::new(browser);
    match place {
        None => command.arg(page),
        // The address of a file ends at its first `#`.
        Some(place) => command.arg(format!("file://{}#{place}", href(&page))),
    };
    Ok(command)
}

fn waves(
    arguments: &Arguments,
    folder: &Path,
    number: Option<&Path>,
    wanted: &str,
) -> Result<Command, Error> {
    let failures = Failures::read(folder)?;
    let results = &failures.results;
    let wrong = |message: String| Error::File {
        code: codes::NOTHING_SELECTED,
        path: folder.to_owned(),
        message,
    };
    let causes = run::causes(&results.failures);
    let groups: Vec<&Group> = causes.iter().flat_map(Cause::groups).collect();
    let has = |text: &str| text.contains(wanted);
    let is_wanted = |group: &&&Group| {
        has(&group.signature.to_string())
            || group.first.vector.as_ref().is_some_and(|vector| has(vector.as_str()))
    };
    let number_in_text = Some(Path::new(wanted)).filter(|text| is_number(text));
    let group = match (number, number_in_text) {
        (Some(number), _) if wanted.is_empty() => failures.group(number)?,
        (Some(number), _) => {
            let message =
                format!("failure {} has its waves; leave TEXT of --waves out", number.display());
            return Err(Error::Usage(codes::OPTIONS_CONFLICT, message));
        }
        (None, Some(number)) => failures.group(number)?,
        (None, None) => groups.iter().find(is_wanted).copied().ok_or_else(|| {
            wrong(match groups.is_empty() {
                true => "the run has no failures, so there are no waves".to_owned(),
                false => format!("no failure has `{wanted}` in its signature or vector"),
            })
        })?,
    };
    let Some(waves) = &group.waves else {
        let vector = group.first.vector.as_ref().map_or("VECTOR", RunFile::as_str);
        let vector = folder.join(vector).display().to_string();
        let mut words = vec![program::called(), "replay".to_owned(), vector];
        words.extend(results.run.given.arguments());
        words.extend(["--trace".to_owned(), "waves.fst".to_owned()]);
        return Err(wrong(format!(
            "the run has no waves of {}; write them with `{}`",
            group.signature,
            text::line(&command_line(&words))
        )));
    };
    if let Err(error) = waves.open(folder) {
        return Err(Error::unreadable(&waves.path(folder), &error));
    }
    let waves = waves.path(folder);
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
pub fn start(mut command: Command) -> Result<(), Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(_) => Ok(()),
        Err(error) => Err(missing(&format!("`{program}` cannot be started: {error}"))),
    }
}
