//! The page of a mutation analysis: the score, the survivors, and the RTL with the mutants of
//! each line.

use super::code::{MOST_TEXT, anchor};
use super::mutant_diff::MutantDiff;
use super::page::{Fact, Head, Section, Tone, render};
use cosim_base::error::Error;
use cosim_base::program;
use cosim_base::run_file::RunFile;
use cosim_block::mutate::KillMethod;
use cosim_block::rtl::command_line;
use cosim_block::shard::Shard;
use cosim_formal::certificate::{BELIEVED, Certificate};
use cosim_formats::mutation::{
    Header, Mutant, MutantStatus, MutationScore, ProfileGrading, Report,
};
use cosim_harness::harness::Blocks;
use cosim_rtl::backend::RtlModels as _;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

const TEMPLATE: &str = include_str!("../../templates/grading.html");

#[derive(Serialize)]
struct Page<'a> {
    run: &'a Header,
    is_whole: bool,
    failures: Vec<String>,
    profiles: Vec<Profile<'a>>,
    /// Mutants that survived, then those that are undecided or believed equivalent.
    left: Vec<SurvivorRow<'a>>,
    files: Vec<File>,
    /// Why the RTL is not shown.
    because: Option<String>,
}

#[derive(Serialize)]
struct Profile<'a> {
    name: &'a str,
    cases: u64,
    score: &'a MutationScore,
    /// Ports and checks that killed mutants, with their numbers.
    by: Vec<(&'a str, u64)>,
}

/// A mutant that survived, is undecided, or is believed equivalent.
#[derive(Serialize)]
struct SurvivorRow<'a> {
    profile: &'a str,
    id: u32,
    at: String,
    /// The anchor of its line, if the page shows the file.
    anchor: Option<String>,
    /// The change of the source, if the page shows the file.
    diff: Option<MutantDiff>,
    nearest: Option<Nearest<'a>>,
    /// The command that runs this mutant alone.
    command: String,
    does: &'a str,
    verdict: &'static str,
    because: String,
    vector: Option<&'a RunFile>,
}

/// The killed mutant nearest to a survivor: its case comes near the survivor's line.
#[derive(Serialize)]
struct Nearest<'a> {
    case: &'a str,
    by: &'a str,
    id: u32,
    does: &'a str,
    at: String,
}

/// A source file with the mutants of its lines.
#[derive(Serialize)]
struct File {
    name: String,
    score: MutationScore,
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    /// The anchor, if the list of mutants refers to the line.
    id: Option<String>,
    head: String,
    text: String,
    /// `hit` if all mutants are killed or equivalent, `part` if one is undecided or believed
    /// equivalent, `miss` if one survived, or empty.
    state: &'static str,
    counts: String,
}

/// The class of a line for its mutants.
fn state(score: &MutationScore) -> &'static str {
    match score {
        MutationScore { mutants: 0, .. } => "",
        MutationScore { survived: 1.., .. } => "miss",
        MutationScore { undecided: 1.., .. } | MutationScore { believed: 1.., .. } => "part",
        _ => "hit",
    }
}

fn words(score: &MutationScore) -> String {
    let MutationScore { killed, survived, equivalent, believed, undecided, .. } = score;
    let all = [
        (killed, "killed"),
        (survived, "survived"),
        (undecided, "undecided"),
        (believed, BELIEVED),
        (equivalent, "equivalent"),
    ];
    let outcome = all.iter().filter(|(count, _)| **count > 0);
    outcome.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

/// Renders the page.
///
/// # Errors
/// [`Error::Environment`] if the template fails.
pub fn page(report: &Report, blocks: Blocks<'_>) -> Result<String, Error> {
    let run = &report.run;
    let (files, because) = match files(report, blocks) {
        Ok(files) => (files, None),
        Err(because) => (Vec::new(), Some(because)),
    };
    let (mut files, score, failures) = (files, report.score(), report.failures(run.min_score));
    let mut rows: Vec<SurvivorRow<'_>> = report
        .profiles
        .iter()
        .flat_map(|graded| {
            graded.mutants.iter().filter_map(|mutant| survivor_row(run, graded, mutant, &files))
        })
        .collect();
    rows.sort_by_key(|row| row.verdict != "survived");
    for row in &mut rows {
        row.anchor = target(&mut files, &row.at);
    }
    let MutationScore { survived, believed, undecided, killed, .. } = score;
    let open = survived + undecided + if run.accept_believed { 0 } else { believed };
    // A narrow page has room for four facts.
    let uncertain = match (undecided, believed) {
        (_, 0) => "undecided",
        (0, _) => BELIEVED,
        _ => "undecided, believed",
    };
    let head = Head {
        title: format!("Mutation: {}, {} %", run.block, score.percent_without_equivalent),
        verdict: format!("{} %", score.percent_without_equivalent),
        tone: match (failures.is_empty(), open, report.complete) {
            (false, ..) => Tone::Bad,
            (true, 0, true) => Tone::Good,
            _ => Tone::Open,
        },
        heading: format!("{}, mutation analysis", run.block),
        about: blocks.find(&run.block).map_or("", |block| block.title).to_owned(),
        facts: vec![
            Fact::new(survived.to_string(), "survived").tone(Tone::Bad, survived > 0),
            Fact::new((undecided + believed).to_string(), uncertain)
                .tone(Tone::Open, undecided + believed > 0),
            Fact::new(killed.to_string(), "killed"),
            Fact::new(score.equivalent.to_string(), "equivalent"),
        ],
        command: Some(command(run, None)),
        sections: vec![
            Section::new("left", "Not killed", rows.len().to_string()),
            Section::new("profiles", "Profiles", report.profiles.len().to_string()),
            Section::new("code", "Code", ""),
            Section::new("run", "Run", ""),
        ],
    };
    let page = Page {
        run,
        is_whole: report.complete,
        failures,
        profiles: report.profiles.iter().map(profile).collect(),
        left: rows,
        files,
        because,
    };
    render(&head, TEMPLATE, &page)
}

/// The command that repeats the analysis, or that of a mutant of a profile.
fn command(run: &Header, only: Option<(&str, u32)>) -> String {
    let mut words = vec![program::called()];
    words.extend(["mutate", "--block", &run.block].map(str::to_owned));
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    add("--fixes", only.map_or_else(|| run.profiles.join(","), |(profile, _)| profile.to_owned()));
    if let Some((_, id)) = only {
        add("--only", id.to_string());
    }
    add("--mutants", run.mutants.to_string());
    add("--seed", run.seed.to_string());
    add("--run-seed", run.run_seed.to_string());
    add("--cases", run.cases.to_string());
    if let Some(packets) = run.packets {
        add("--packets", packets.to_string());
    }
    for scenario in &run.scenarios {
        add("--scenario", scenario.clone());
    }
    if run.means == KillMethod::Checks && only.is_none() {
        words.push("--checks-only".to_owned());
    }
    if let Some(within) = run.in_diff.as_ref().filter(|_| only.is_none()) {
        words.extend(["--in-diff".to_owned(), within.old.clone()]);
    }
    if run.no_judge && only.is_none() {
        words.push("--no-judge".to_owned());
    }
    if let Some(percent) = run.min_score.filter(|_| only.is_none()) {
        words.extend(["--min-score".to_owned(), percent.to_string()]);
    }
    if run.accept_believed && only.is_none() {
        words.push("--accept-believed".to_owned());
    }
    if run.shard != Shard::WHOLE && only.is_none() {
        words.extend(["--shard".to_owned(), run.shard.to_string()]);
    }
    words.extend(run.given.arguments());
    command_line(&words)
}

/// The anchor of a place in the RTL, as in `file:line`.
fn target(files: &mut [File], at: &str) -> Option<String> {
    let (name, line) = at.rsplit_once(':')?;
    let number: u32 = line.parse().ok()?;
    let place = files.iter().position(|file| file.name == name)?;
    let line = files[place].lines.get_mut(number.checked_sub(1)? as usize)?;
    let id = anchor(place, number);
    line.id = Some(id.clone());
    Some(id)
}

fn profile(graded: &ProfileGrading) -> Profile<'_> {
    let (name, by) = (&graded.profile, graded.killed_by());
    Profile { name, cases: graded.cases_run, score: &graded.score, by }
}

fn survivor_row<'a>(
    run: &Header,
    graded: &'a ProfileGrading,
    mutant: &'a Mutant,
    files: &[File],
) -> Option<SurvivorRow<'a>> {
    let profile = &graded.profile;
    let (verdict, because, vector) = match &mutant.status {
        MutantStatus::Killed { .. } => return None,
        MutantStatus::Equivalent { certificate } | MutantStatus::Believed { certificate } => {
            match certificate {
                Certificate::Nothing { because } => {
                    (BELIEVED, format!("equivalent, not certified: {because}"), None)
                }
                _ => return None,
            }
        }
        MutantStatus::Survived { vector } => ("survived", String::new(), vector.as_ref()),
        MutantStatus::Undecided { because } => ("undecided", because.clone(), None),
    };
    let id = mutant.mutation.id;
    let line = |name: &str, number: u32| {
        let file = files.iter().find(|file| file.name == name)?;
        Some(file.lines.get(number.checked_sub(1)? as usize)?.text.clone())
    };
    let diff = MutantDiff::from_mutation(&mutant.mutation, &line);
    Some(SurvivorRow {
        profile,
        id,
        at: diff.as_ref().map_or_else(|| mutant.mutation.first_place(), |diff| diff.at.clone()),
        anchor: None,
        diff,
        nearest: nearest(graded, mutant),
        command: command(run, Some((profile, id))),
        does: &mutant.does,
        verdict,
        because,
        vector,
    })
}

/// Number of lines between a survivor and a killed mutant that still counts as near.
const NEAR: u32 = 5;

/// The nearest killed mutant: one of the same cell, or else of the nearest line.
fn nearest<'a>(graded: &'a ProfileGrading, survivor: &Mutant) -> Option<Nearest<'a>> {
    let own = &survivor.mutation;
    let killed = graded.mutants.iter().filter_map(|mutant| {
        let MutantStatus::Killed { case, by, .. } = &mutant.status else { return None };
        let other = &mutant.mutation;
        let distances = own.sources.iter().flat_map(|one| {
            let same = other.sources.iter().filter(|two| two.file == one.file);
            same.map(|two| one.line.abs_diff(two.line))
        });
        let lines = distances.min().filter(|lines| *lines <= NEAR)?;
        let is_other_cell = (&own.module, &own.cell) != (&other.module, &other.cell);
        Some(((is_other_cell, lines, other.id), mutant, case, by))
    });
    let (_, mutant, case, by) = killed.min_by_key(|(distance, ..)| *distance)?;
    let (id, at) = (mutant.mutation.id, mutant.mutation.first_place());
    Some(Nearest { case, by, id, does: &mutant.does, at })
}

/// The RTL with the mutants of all profiles by line, or why it cannot be shown.
fn files(report: &Report, blocks: Blocks<'_>) -> Result<Vec<File>, String> {
    let run = &report.run;
    let block = blocks.find(&run.block).ok_or("this program does not contain the block")?;
    let examined = run.given.examined(block).map_err(|error| error.to_string())?;
    if examined.identity != run.rtl {
        return Err(format!("the RTL was {} and is {} now", run.rtl, examined.identity));
    }
    let mutants: Vec<&Mutant> = report.profiles.iter().flat_map(|graded| &graded.mutants).collect();
    let (mut files, mut size) = (Vec::new(), 0);
    for source in &examined.texts {
        let name = examined.typed(&source.name.to_string_lossy());
        let file =
            file(name, &String::from_utf8_lossy(&source.text), &mutants, run.accept_believed);
        if file.score.mutants == 0 {
            continue;
        }
        size += source.text.len();
        if size > MOST_TEXT {
            return Err("it is too large to show".to_owned());
        }
        files.push(file);
    }
    Ok(files)
}

fn file(name: String, text: &str, mutants: &[&Mutant], accept_believed: bool) -> File {
    let lines_of = |mutant: &Mutant| -> BTreeSet<u32> {
        let sources = mutant.mutation.sources.iter();
        sources.filter(|source| source.file == name).map(|source| source.line).collect()
    };
    let mut of_lines: BTreeMap<u32, Vec<&Mutant>> = BTreeMap::new();
    let mut of_file = Vec::new();
    for mutant in mutants {
        let lines = lines_of(mutant);
        of_file.extend((!lines.is_empty()).then_some(*mutant));
        lines.into_iter().for_each(|line| of_lines.entry(line).or_default().push(mutant));
    }
    let line = |(text, number): (&str, u32)| {
        let mutants = of_lines.get(&number).into_iter().flatten();
        let score = MutationScore::score_mutants(mutants.copied(), accept_believed);
        let outcome = match score.counted(accept_believed) {
            0 => String::new(),
            all => format!("{}/{all}", score.killed),
        };
        Line {
            id: None,
            head: format!("{number:5} {outcome:>8}"),
            text: text.to_owned(),
            state: state(&score),
            counts: words(&score),
        }
    };
    let lines = text.lines().zip(1..).map(line).collect();
    let score = MutationScore::score_mutants(of_file.into_iter(), accept_believed);
    File { score, name, lines }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosim_formats::mutation::MutantStatus;
    use cosim_formats::mutation::Mutation;

    fn mutant(status: MutantStatus, lines: &[u32]) -> Mutant {
        let mut command = "mutate -mode inv -module top -cell c -port Y -portbit 0".to_owned();
        command.extend(lines.iter().map(|line| format!(" -src a.v:{line}.1-{line}.2")));
        let mutation = Mutation::parse(1, &command, &str::to_owned).unwrap();
        Mutant { mutation, does: String::new(), status }
    }

    #[test]
    fn the_nearest_kill_is_of_the_same_cell_or_of_the_nearest_line() {
        let kill = |case: &str| {
            let (case, scenario, by) = (case.to_owned(), String::new(), "x".to_owned());
            MutantStatus::Killed { case, scenario, by, cycle: None }
        };
        let survived = MutantStatus::Survived { vector: None };
        let numbered = |id: u32, cell: &str, status: MutantStatus, line: u32| {
            let mut mutant = mutant(status, &[line]);
            (mutant.mutation.id, mutant.mutation.cell) = (id, cell.to_owned());
            mutant
        };
        let nearest = |others: &[Mutant]| {
            let survivor = numbered(9, "$eq$1", survived.clone(), 10);
            let mutants = [others, std::slice::from_ref(&survivor)].concat();
            let graded = ProfileGrading { mutants, ..ProfileGrading::new("spec", &[]) };
            nearest(&graded, &survivor).map(|nearest| nearest.case.to_owned())
        };
        let far = numbered(1, "$eq$1", kill("far"), 10 + NEAR + 1);
        let near = numbered(2, "$add$2", kill("near"), 9);
        let own = numbered(3, "$eq$1", kill("own"), 12);
        assert_eq!(nearest(&[far.clone(), numbered(4, "$eq$1", survived.clone(), 10)]), None);
        assert_eq!(nearest(&[far.clone(), near.clone()]).as_deref(), Some("near"));
        assert_eq!(nearest(&[far, near, own]).as_deref(), Some("own"));
    }

    #[test]
    fn each_line_has_its_mutants_in_front_and_looks_as_its_worst() {
        let (case, scenario, by) = (String::new(), String::new(), String::new());
        let killed = MutantStatus::Killed { case, scenario, by, cycle: None };
        let undecided = MutantStatus::Undecided { because: String::new() };
        let nothing = Certificate::Nothing { because: String::new() };
        let mutants = [
            mutant(killed.clone(), &[2, 3, 3]),
            mutant(killed, &[4]),
            mutant(MutantStatus::Survived { vector: None }, &[4]),
            mutant(undecided.clone(), &[4, 3]),
            mutant(MutantStatus::from_proof(Certificate::Structure), &[2, 5]),
            mutant(MutantStatus::from_proof(nothing), &[5]),
        ];
        let text = "x\n<y>\nz\nw\nv\n";
        let all = mutants.each_ref();
        let File { lines, score, .. } = file("a.v".to_owned(), text, &all, false);
        let outcome = lines.iter().map(|line| (line.head.trim(), line.state, line.counts.as_str()));
        assert_eq!(
            outcome.collect::<Vec<_>>(),
            [
                ("1", "", ""),
                ("2      1/1", "hit", "1 killed, 1 equivalent"),
                ("3      1/2", "part", "1 killed, 1 undecided"),
                ("4      1/3", "miss", "1 killed, 1 survived, 1 undecided"),
                ("5      0/1", "part", "1 believed, 1 equivalent"),
            ]
        );
        // A mutant counts once per file, even if it comes from several lines.
        assert_eq!((score.mutants, score.killed), (6, 2));
        assert_eq!(file("b.v".to_owned(), text, &all, false).score.mutants, 0);
        let File { lines, .. } = file("a.v".to_owned(), text, &all, true);
        assert_eq!(lines[4].head.trim(), "5", "those that are accepted do not count");
    }
}
