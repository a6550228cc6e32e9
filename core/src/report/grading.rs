//! The page of a grading: the score, what was not found, and the RTL with the mutants of each line.

use super::code::MOST_TEXT;
use super::page::render;
use crate::error::Error;
use crate::mutate::report::{Fate, Header, Mutant, Report, Score};
use crate::program;
use serde::Serialize;
use std::collections::BTreeMap;

const TEMPLATE: &str = include_str!("../../templates/grading.html");

#[derive(Serialize)]
struct Page<'a> {
    run: &'a Header,
    is_whole: bool,
    title: Option<&'static str>,
    score: Score,
    wanted: Option<f64>,
    is_below: bool,
    profiles: Vec<Profile<'a>>,
    left: Vec<Left<'a>>,
    files: Vec<File>,
    /// Why there is no text of the RTL.
    because: Option<String>,
}

#[derive(Serialize)]
struct Profile<'a> {
    name: &'a str,
    cases: u64,
    score: &'a Score,
    /// Ports and checks that found mutants, with how many.
    by: Vec<(&'a str, u64)>,
}

/// A mutant that nothing has found, and that is not known to be equivalent.
#[derive(Serialize)]
struct Left<'a> {
    profile: &'a str,
    id: u32,
    at: String,
    does: &'a str,
    verdict: &'static str,
    because: &'a str,
    vector: Option<&'a str>,
}

/// A file with the mutants of its lines.
#[derive(Serialize)]
struct File {
    name: String,
    counts: Counts,
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    head: String,
    text: String,
    /// `hit` if all were found or are equivalent, `part` if one is undecided, `miss` if one survived, or nothing.
    state: &'static str,
    /// The numbers in words.
    counts: String,
}

/// What became of the mutants of a line, or of a file.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Counts {
    killed: u64,
    survived: u64,
    equivalent: u64,
    undecided: u64,
}

impl Counts {
    fn add(&mut self, fate: &Fate) {
        *match fate {
            Fate::Killed { .. } => &mut self.killed,
            Fate::Survived { .. } => &mut self.survived,
            Fate::Equivalent { .. } => &mut self.equivalent,
            Fate::Undecided { .. } => &mut self.undecided,
        } += 1;
    }

    fn of_interest(&self) -> u64 {
        self.killed + self.survived + self.undecided
    }

    fn state(&self) -> &'static str {
        match self {
            Self { survived: 1.., .. } => "miss",
            Self { undecided: 1.., .. } => "part",
            _ => "hit",
        }
    }

    fn words(&self) -> String {
        let Self { killed, survived, equivalent, undecided } = self;
        let all = [
            (killed, "killed"),
            (survived, "survived"),
            (undecided, "undecided"),
            (equivalent, "equivalent"),
        ];
        let told = all.iter().filter(|(count, _)| **count > 0);
        told.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
    }
}

/// The page.
///
/// # Errors
/// [`Error::Environment`] if the template does not take what it is given.
pub fn page(report: &Report) -> Result<String, Error> {
    let run = &report.run;
    let (files, because) = match files(report) {
        Ok(files) => (files, None),
        Err(because) => (Vec::new(), Some(because)),
    };
    let page = Page {
        run,
        is_whole: report.complete,
        title: program::find(&run.block).map(|block| block.title()),
        score: report.score(),
        wanted: run.min_score,
        is_below: !report.below(run.min_score).is_empty(),
        profiles: report.profiles.iter().map(profile).collect(),
        left: report
            .profiles
            .iter()
            .flat_map(|graded| {
                graded.mutants.iter().filter_map(|mutant| left(&graded.profile, mutant))
            })
            .collect(),
        files,
        because,
    };
    render("report.html", TEMPLATE, &page)
}

fn profile(graded: &crate::mutate::report::Graded) -> Profile<'_> {
    let mut by: BTreeMap<&str, u64> = BTreeMap::new();
    for mutant in &graded.mutants {
        if let Fate::Killed { by: port, .. } = &mutant.fate {
            *by.entry(port).or_default() += 1;
        }
    }
    let mut by: Vec<(&str, u64)> = by.into_iter().collect();
    by.sort_by_key(|(port, times)| (u64::MAX - times, *port));
    Profile { name: &graded.profile, cases: graded.cases_run, score: &graded.score, by }
}

fn left<'a>(profile: &'a str, mutant: &'a Mutant) -> Option<Left<'a>> {
    let (verdict, because, vector) = match &mutant.fate {
        Fate::Killed { .. } | Fate::Equivalent { .. } => return None,
        Fate::Survived { vector } => ("survived", "", vector.as_deref()),
        Fate::Undecided { because } => ("undecided", because.as_str(), None),
    };
    let (id, at) = (mutant.mutation.id, mutant.mutation.at());
    Some(Left { profile, id, at, does: &mutant.does, verdict, because, vector })
}

/// The RTL with the mutants of each line, of all profiles together; else why there is none.
fn files(report: &Report) -> Result<Vec<File>, String> {
    let run = &report.run;
    let block = program::find(&run.block).ok_or("this program has no such block")?;
    let examined = block.examine(&run.given).map_err(|error| error.to_string())?;
    if examined.identity != run.rtl {
        return Err(format!("the RTL was {} and is {} now", run.rtl, examined.identity));
    }
    let mut places: BTreeMap<(&str, u32), Counts> = BTreeMap::new();
    for mutant in report.profiles.iter().flat_map(|graded| &graded.mutants) {
        for source in &mutant.mutation.sources {
            places.entry((&source.file, source.line)).or_default().add(&mutant.fate);
        }
    }
    let (mut files, mut size) = (Vec::new(), 0);
    for source in &examined.texts {
        let name = examined.typed(&source.name.to_string_lossy());
        if !places.keys().any(|(file, _)| *file == name) {
            continue;
        }
        size += source.text.len();
        if size > MOST_TEXT {
            return Err("it is too large to be shown".to_owned());
        }
        files.push(file(name, &String::from_utf8_lossy(&source.text), &places));
    }
    Ok(files)
}

fn file(name: String, text: &str, places: &BTreeMap<(&str, u32), Counts>) -> File {
    let mut all = Counts::default();
    let line = |(text, number): (&str, u32)| {
        let counts = places.get(&(name.as_str(), number));
        let told =
            counts.filter(|counts| counts.of_interest() > 0).map_or_else(String::new, |counts| {
                format!("{}/{}", counts.killed, counts.of_interest())
            });
        if let Some(counts) = counts {
            all.killed += counts.killed;
            all.survived += counts.survived;
            all.equivalent += counts.equivalent;
            all.undecided += counts.undecided;
        }
        Line {
            head: format!("{number:5} {told:>8}"),
            text: text.to_owned(),
            state: counts.map_or("", Counts::state),
            counts: counts.map_or_else(String::new, Counts::words),
        }
    };
    let lines = text.lines().zip(1..).map(line).collect();
    File { name, counts: all, lines }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::report::Proof;

    #[test]
    fn a_line_is_as_bad_as_its_worst_mutant() {
        let killed = Fate::Killed {
            case: String::new(),
            scenario: String::new(),
            by: String::new(),
            cycle: None,
        };
        let equivalent = Fate::Equivalent { proof: Proof::Structure };
        let undecided = Fate::Undecided { because: String::new() };
        let survived = Fate::Survived { vector: None };
        let mut counts = Counts::default();
        for (fate, state, words) in [
            (&killed, "hit", "1 killed"),
            (&equivalent, "hit", "1 killed, 1 equivalent"),
            (&undecided, "part", "1 killed, 1 undecided, 1 equivalent"),
            (&survived, "miss", "1 killed, 1 survived, 1 undecided, 1 equivalent"),
        ] {
            counts.add(fate);
            assert_eq!((counts.state(), counts.words().as_str()), (state, words));
        }
        assert_eq!(counts.of_interest(), 3);
    }

    #[test]
    fn each_line_has_its_mutants_in_front() {
        let counts = Counts { killed: 2, survived: 1, ..Counts::default() };
        let places = BTreeMap::from([(("a.v", 2), counts), (("b.v", 1), Counts::default())]);
        let File { lines, counts, .. } = file("a.v".to_owned(), "x\n<y>\n", &places);
        let heads: Vec<&str> = lines.iter().map(|line| line.head.trim()).collect();
        assert_eq!(heads, ["1", "2      2/3"]);
        assert_eq!([lines[0].state, lines[1].state], ["", "miss"]);
        assert_eq!((counts.killed, counts.survived), (2, 1));
    }
}
