//! `cosim doc`: the book, offline.

use crate::blocks::library::files;
use crate::failures::open::{browser, start};
use crate::terminal::options::{heading, path};
use crate::{command, print_text};
use clap::{Args, Command};
use cosim_base::error::{Error, codes};
use cosim_base::text;
use cosim_report::book;
use cosim_rtl::models::library_folder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The pages in the order of their list: see the build script.
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/book.bin"));

/// What to show.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Begin at the first page whose path contains PAGE, as in `agents` or `how-to/ci`.
    #[arg(value_name = "PAGE")]
    page: Option<String>,
    /// Write the book to FILE, and open nothing.
    #[arg(long, value_name = "FILE", value_parser = path, conflicts_with = "page", help_heading = heading::OUTPUT)]
    out: Option<PathBuf>,
}

pub fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let files = files(PACKED).unwrap_or_default();
    let text = |bytes: &[u8]| filled(&String::from_utf8_lossy(bytes));
    let mut pages: Vec<(PathBuf, String)> =
        files.iter().map(|(path, bytes)| (path.clone(), text(bytes))).collect();
    let list = files.get(Path::new("SUMMARY.md")).copied().unwrap_or_default();
    let list = String::from_utf8_lossy(list);
    // The list itself comes first.
    pages.sort_by_key(|(path, _)| list.find(&format!("({})", path.display())));
    let wanted = |page: &str| {
        let path = pages.iter().find(|(path, _)| path.to_string_lossy().contains(page));
        path.map(|(path, _)| book::page_id(path)).ok_or_else(|| {
            let message = format!("no page has `{page}` in its path; `cosim doc` lists all");
            Error::Usage(codes::NOTHING_SELECTED, message)
        })
    };
    let page = arguments.page.as_deref().map(wanted).transpose()?;
    let path = match (&arguments.out, library_folder()?) {
        (Some(out), _) if out.symlink_metadata().is_ok() => {
            let message = "exists; name another file, or delete it".to_owned();
            return Err(Error::File { code: codes::OUTPUT_EXISTS, path: out.clone(), message });
        }
        (Some(out), _) => out.clone(),
        (None, Some(folder)) => {
            fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
            folder.join("book.html")
        }
        (None, None) => {
            let message = "there is no cache to write the book to; name a file with --out";
            return Err(Error::Environment(codes::PROGRAM_FAILED, message.to_owned()));
        }
    };
    fs::write(&path, book::html(&pages)).map_err(Error::write(&path))?;
    print_text(&format!("wrote {}", text::path(&path)))?;
    if arguments.out.is_none() {
        start(browser(&path, page.as_deref(), false)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A page with the parts that this program has itself.
fn filled(page: &str) -> String {
    let part = |page: &str, name: &str, text: &dyn Fn() -> String| {
        let mark = format!("<!-- generated: {name} -->");
        if page.contains(&mark) { page.replace(&mark, &text()) } else { page.to_owned() }
    };
    let page = part(page, "errors", &codes::page);
    part(&page, "commands", &|| {
        let mut all = String::new();
        let mut cli = command();
        cli.build();
        help(&mut cli, &mut all);
        all
    })
}

fn help(command: &mut Command, page: &mut String) {
    let text = command.render_long_help();
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    *page += &format!("### {name}\n\n```text\n{text}\n```\n\n");
    for below in command.get_subcommands_mut().filter(|one| !one.is_hide_set()) {
        if below.get_name() != "help" {
            help(below, page);
        }
    }
}
