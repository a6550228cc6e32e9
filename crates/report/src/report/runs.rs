//! Runs in lists, with links to their pages.

use crate::history::Run;
use crate::paths::{href, relative};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
pub struct RunLink<'a> {
    run: &'a Run,
    ended: String,
    href: Option<String>,
}

/// The list of runs, newest first.
pub fn links<'a>(runs: &'a [Run], folder: &Path) -> Vec<RunLink<'a>> {
    let link = |run: &'a Run| RunLink { run, ended: minute(&run.ended), href: link(run, folder) };
    runs.iter().rev().map(link).collect()
}

/// The day of a time in RFC 3339.
pub fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// A time in RFC 3339, to the minute.
pub fn minute(time: &str) -> String {
    match (time.get(..10), time.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute}"),
        _ => time.to_owned(),
    }
}

/// The link to the page of a run, if the page is still there.
pub fn link(run: &Run, folder: &Path) -> Option<String> {
    let page = run.folder.as_ref()?.join(cosim_formats::run::HTML);
    page.exists().then(|| href(&relative(folder, &page)))
}
