//! The summary of a run: one screen, or all details with `--details`.

mod code;
mod profiles;

use crate::counted;
use crate::running::conclude::Known;
use crate::terminal::fit::Terminal;
use cosim_base::run_file::RunFile;
use cosim_base::text::line;
use cosim_formats::coverage::ProfileCoverage;
use cosim_formats::run;
use cosim_formats::run::{CASES_SHOWN, Cause, End, Evidence, Group, HTML, Header, Totals, Variant};
use cosim_harness::harness::{Blame, Case, Verdict};
use cosim_harness::value::short;
use cosim_regress::blocks;
use cosim_regress::regression::{FinishedRun, Goal, WriteFailures};
use cosim_report::history::FailureHistory;
use cosim_rtl::models::FileRead;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

/// Number of failure groups shown in full with `--details`. Others get one line.
const GROUPS_SHOWN: usize = 5;

/// Numbers of causes on one screen: shown in full, with verdict, and in one line.
const ON_A_SCREEN: (usize, usize, usize) = (1, 3, 8);
/// Maximum number of lines of a cause, without --details.
const LINES_OF_A_CAUSE: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    Result,
    /// Also the coverage, one line per profile.
    Covered,
    /// All failure groups, and coverage tables of all scenarios and rules.
    Tables,
}

/// An input that is held, as in `flush = 0`.
fn tie((port, value): &(&str, &str)) -> String {
    format!("{} = {value}", port.trim_start_matches("r#"))
}

pub struct Summary<'a> {
    pub run: &'a FinishedRun,
    /// Failures of earlier runs, if a history file is given.
    pub known: Option<&'a Known>,
    pub command: &'a dyn Fn(&Case) -> String,
    pub terminal: &'a Terminal<'a>,
    /// The time in which models were compiled for it.
    pub built: Duration,
}

impl Summary<'_> {
    pub fn json(&self) -> Value {
        let commands: BTreeMap<String, String> = self
            .run
            .failures
            .iter()
            .flat_map(|group| &group.first_cases)
            .map(|case| (case.name.clone(), (self.command)(case)))
            .collect();
        json!({
            "run": self.run.header,
            "passed": self.run.passed,
            "ended": self.run.end,
            "totals": self.run.tally.totals,
            "profiles": self.run.tally.profiles,
            "coverage": self.coverage_json(),
            "coverage_goal": self.run.goal,
            "never_compared": self.run.never_compared,
            "code": self.code_json(),
            "failures": self.run.failures,
            "known": self.known,
            "waivers": run::uses(&self.run.header.waivers, &self.run.failures),
            "commands": commands,
            "timing": self.run.timing,
            "results": self.run.results.as_ref().map(|path| path.to_string_lossy()),
            "unwritten": self.run.unwritten,
        })
    }

    /// The text summary: the result, then failures, then coverage.
    pub fn text(&self, detail: Detail) -> String {
        let mut text = String::new();
        self.result(&mut text);
        self.failures(detail, &mut text);
        match detail {
            Detail::Result => return text,
            Detail::Covered => {
                if !self.run.failures.is_empty() {
                    text.push('\n');
                }
                self.profile_lines(&mut text);
            }
            Detail::Tables => {
                for profile in &self.run.tally.profiles {
                    text.push('\n');
                    self.profile_tables(profile, &mut text);
                }
                text.push('\n');
            }
        }
        self.code(detail, &mut text);
        if let Some(results) = &self.run.results {
            let report = self.run.folder.join(HTML);
            let written = if report.exists() { &report } else { results };
            let _ = writeln!(text, "  wrote {}", written.display());
        }
        text
    }

    fn coverage_json(&self) -> Value {
        let profiles = self.run.coverage.profiles.keys().map(|name| {
            let covered = self.run.coverage.covered(name);
            let uncovered = self.run.coverage.uncovered(name, &covered);
            let uncovered: Vec<String> =
                uncovered.into_iter().map(|bin| self.run.coverage.bin_name(bin)).collect();
            let ProfileCoverage { reachable, hit, .. } = covered;
            (name.clone(), json!({ "reachable": reachable, "hit": hit, "uncovered": uncovered }))
        });
        Value::Object(profiles.collect())
    }

    fn result(&self, text: &mut String) {
        let Header { block, seed, build, rtl, verilator, .. } = &self.run.header;
        let Totals { cases, cycles, packets, .. } = self.run.tally.totals;
        let verdict = self.run.verdict();
        let _ = writeln!(
            text,
            "{verdict}  {block}, seed {seed}: {}, {} of them failed; {}, {} cycles compared in {:.1} s \
             ({} cycles/s, {})",
            counted(cases, "case"),
            self.run.tally.totals.failures(),
            counted(packets, "packet"),
            short(cycles as f64),
            self.run.timing.seconds,
            short(self.run.timing.cycles_per_second),
            counted(self.run.timing.threads as u64, "thread"),
        );
        let sandbox = self.run.timing.sandbox.as_ref();
        let sandbox = sandbox.map_or_else(String::new, |sandbox| format!(", sandbox: {sandbox}"));
        let _ = writeln!(text, "      build {build}, RTL {rtl}, Verilator {verilator}{sandbox}");
        if !self.run.header.given.is_built_in() {
            let _ = writeln!(text, "      {}", rtl_files(&self.run.header.rtl_files));
        }
        let Header { two_evaluations, profiles, .. } = &self.run.header;
        if let Some(reasons) = driven(two_evaluations, profiles) {
            let _ = writeln!(text, "      two evaluations per cycle instead of one: {reasons}");
        }
        if !self.run.header.is_cycle_exact() {
            let _ = writeln!(text, "      compared: {}", self.run.header.comparison_text());
        }
        if let Some(bits) = self.run.header.exhaustive
            && self.run.end == End::Complete
            && self.run.header.is_whole()
            && self.run.tally.totals.failures() == 0
        {
            let _ = writeln!(text, "      exhaustive: all 2^{bits} input vectors");
        }
        if self.run.timing.lost_workers.count > 0 {
            let lost = counted(self.run.timing.lost_workers.count, "worker");
            let _ = writeln!(
                text,
                "      {lost} lost for reasons outside of the RTL; their cases ran again (see \
                 timing.json)"
            );
        }
        if self.built >= Duration::from_secs(1) {
            let _ = writeln!(text, "      models compiled in {:.1} s", self.built.as_secs_f64());
        }
        if self.run.timing.failures_seconds >= 0.1 {
            let seconds = self.run.timing.failures_seconds;
            let _ = writeln!(text, "      failures shrunk and traced in {seconds:.1} s");
        }
        if self.run.tally.totals.no_golden_model > 0 {
            let info = blocks::find(&self.run.header.block).map(|block| block.info());
            let next = info.map_or_else(String::new, |info| format!("; {}", info.to_write()));
            let _ = writeln!(
                text,
                "      no golden model: the RTL was driven, but nothing was compared{next}"
            );
        }
        if packets == 0 && cases > 0 && self.run.end == End::Complete {
            text.push_str(
                "      no packet moved: the environment offered none, or the RTL took none \
                 (unconstrained stimulus has none)\n",
            );
        }
        self.idle(text);
        let waived = run::waived(&self.run.failures, self.run.end);
        if waived > 0 {
            let _ = writeln!(text, "      waived: {}", counted(waived, "failed case"));
        } else if self.run.failures.iter().any(Group::is_waived) {
            text.push_str("      some cases did not run, so waived failures count\n");
        }
        if cycles == 0 && self.run.tally.totals.failures() == 0 {
            let _ = writeln!(text, "      failed because no cycle was compared");
        }
        let has_compared = self.run.tally.totals.no_golden_model == 0;
        for (profile, bits) in self.run.never_compared.iter().filter(|_| has_compared) {
            let _ = writeln!(
                text,
                "      profile {profile} never compared these outputs: {}",
                runs_of_bits(bits).join(", ")
            );
        }
        if let Some(Goal { option, percent, short }) = &self.run.goal {
            for (profile, reached) in short {
                let _ = writeln!(
                    text,
                    "      profile {profile} covers {reached}, less than {percent} % ({option})"
                );
            }
        }
        self.contradicted(text);
        match self.run.end {
            End::Complete => {}
            End::Covered => self.ended_when_covered(text),
            End::Time => text.push_str("      stopped by --time\n"),
            End::MaxFailures => text.push_str("      stopped by --max-failures\n"),
            End::MaxHangs => text.push_str("      stopped by --max-hangs\n"),
            End::Interrupted => {
                text.push_str("      interrupted; the results so far are written\n")
            }
        }
        let WriteFailures { count, first, .. } = &self.run.unwritten;
        if *count > 0 {
            let _ = writeln!(text, "      not written: {}", counted(*count, "file"));
            for error in first {
                let _ = writeln!(text, "        {error}");
            }
        }
    }

    /// What stays as it is in the whole run: inputs, and channels that no item moves on.
    fn idle(&self, text: &mut String) {
        let info = blocks::find(&self.run.header.block).map(|block| block.info());
        let tied: Vec<String> = info.iter().flat_map(|info| &info.tied).map(tie).collect();
        if !tied.is_empty() {
            let _ = writeln!(text, "      inputs that never change (`tie`): {}", tied.join(", "));
        }
        let is_whole = self.run.header.is_whole() && self.run.end.is_regular();
        if is_whole && self.run.header.cases != Some(1) && self.run.tally.totals.packets > 0 {
            let idle = self.run.coverage.idle_channels();
            if !idle.is_empty() {
                let _ = writeln!(text, "      no item moved in any case: {}", idle.join(", "));
            }
        }
    }

    /// The number of cases that reached the coverage goal.
    fn ended_when_covered(&self, text: &mut String) {
        let Header { until_coverage, cases, profiles, scenarios, .. } = &self.run.header;
        let Some(percent) = until_coverage else { return };
        let most = cases.map(|cases| cases * (profiles.len() * scenarios.len()) as u64);
        let most = most.map_or_else(String::new, |most| format!(", at most {most} cases"));
        let _ = writeln!(
            text,
            "      stopped when every profile covered {percent} % (--until-coverage{most})"
        );
    }

    fn failures(&self, detail: Detail, text: &mut String) {
        let failures = self.run.tally.totals.failures();
        let Totals { mismatched, unknown, hung, check_failed, crashed, no_golden_model, .. } =
            self.run.tally.totals;
        if failures > no_golden_model {
            let _ = writeln!(
                text,
                "\n{}, {}{}, {}, {}",
                counted(mismatched, "mismatch"),
                if unknown > 0 { format!("{unknown} unknown, ") } else { String::new() },
                counted(hung, "hang"),
                counted(check_failed, "failed check"),
                counted(crashed, "crash"),
            );
        }
        let (whole, brief, lines) = match detail {
            Detail::Tables => (GROUPS_SHOWN, 0, usize::MAX),
            _ => ON_A_SCREEN,
        };
        let causes = run::causes(&self.run.failures);
        let mut numbered = (1..).zip(&causes);
        for (number, cause) in numbered.by_ref().take(whole) {
            let _ = writeln!(text, "\n  {number}. {}", heading(cause));
            let rows = self.group(detail, cause);
            let shown = match detail {
                Detail::Tables => rows.len(),
                _ => self.that_fit(&format!("  {number}. {}", heading(cause)), &rows),
            };
            for row in rows.iter().take(shown) {
                let _ = writeln!(text, "    {row}");
            }
            if shown < rows.len() {
                let more = counted((rows.len() - shown) as u64, "more line");
                let _ = writeln!(text, "    {more}; --details shows them");
            }
        }
        for (number, cause) in numbered.by_ref().take(brief) {
            let _ = writeln!(text, "\n  {number}. {}{}", heading(cause), self.marks(cause));
            let _ = writeln!(text, "    {}", line(&cause.main.first.verdict.to_string()));
        }
        if causes.len() > whole + brief {
            text.push_str("\n  more failures, each with its own vector\n");
        }
        for (number, cause) in numbered.take(lines) {
            let _ = writeln!(text, "  {number}. {}{}", heading(cause), self.marks(cause));
        }
        let left_out =
            causes.len().saturating_sub(whole.saturating_add(brief).saturating_add(lines));
        if left_out > 0 {
            let _ = writeln!(text, "  and {left_out} more; --details lists them");
        }
    }

    /// How many lines of a cause the terminal shows, if the whole has [`LINES_OF_A_CAUSE`] rows.
    fn that_fit(&self, heading: &str, rows: &[String]) -> usize {
        let height = |row: &String| self.terminal.height(&format!("    {row}"));
        let mut left = LINES_OF_A_CAUSE.saturating_sub(self.terminal.height(heading));
        if rows.iter().map(height).sum::<usize>() <= left {
            return rows.len();
        }
        // A row is for the number of those that are left out.
        left = left.saturating_sub(1);
        let fits = |row: &&String| match left.checked_sub(height(row)) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        };
        rows.iter().take_while(fits).count().max(1)
    }

    /// Whether a failure is new, and its waiver.
    fn marks(&self, cause: &Cause<'_>) -> String {
        let Group { signature, waived, .. } = cause.main;
        let known = self.known.and_then(|known| known.get(&signature.to_string()));
        let new = if known.is_some_and(Option::is_none) { ", NEW" } else { "" };
        let waived = waived.as_ref().map_or_else(String::new, |waived| format!(", {waived}"));
        format!("{new}{waived}")
    }

    /// The lines of a cause behind its heading, the important ones first.
    fn group(&self, detail: Detail, cause: &Cause<'_>) -> Vec<String> {
        let group = cause.main;
        let Evidence { verdict, judgement, vector, original, packets, cycles, .. } = &group.first;
        let path = |file: &RunFile| self.run.folder.join(file).display().to_string();
        let mut rows = vec![line(&verdict.to_string()).into_owned()];
        rows.extend(group.waived.as_ref().map(ToString::to_string));
        let known = self.known.and_then(|known| known.get(&group.signature.to_string()));
        rows.extend(known.map(|known| match known {
            None => "NEW: in no earlier run".to_owned(),
            Some(FailureHistory { first: (since, rtl), runs, .. }) => {
                format!("known since {since}, RTL {rtl}, in {}", counted(*runs, "run"))
            }
        }));
        // The check that the verdict names is not repeated.
        let is_named = matches!((verdict, judgement), (Verdict::CheckFailed { violation, .. },
            Some(Blame { rtl: Some(breach), .. })) if breach.violation == *violation);
        let lines = judgement.iter().flat_map(Blame::lines);
        rows.extend(lines.filter(|line| !is_named || !line.starts_with("RTL: ")));
        if let Some(suspect) = cause.suspects().first() {
            rows.push(format!("suspect: {}", line(&suspect.to_string())));
        }
        if let Some(vector) = vector {
            let (packets, cycles) = (counted(*packets, "packet"), counted(*cycles, "cycle"));
            rows.push(format!("vector: {} ({packets}, {cycles})", path(vector)));
        }
        let all = detail == Detail::Tables;
        let cases = group.first_cases.iter().take(if all { CASES_SHOWN } else { 1 });
        rows.extend(cases.map(self.command));
        match all {
            true => also(cause, &path, &mut rows),
            false => rows.extend(also_counted(cause)),
        }
        rows.extend(group.waves.iter().map(|waves| format!("waves: {}", path(waves))));
        rows.extend(original.iter().map(|original| format!("as found: {}", path(original))));
        rows.extend(group.notes().into_iter().map(str::to_owned));
        if all && group.count > CASES_SHOWN as u64 {
            let results = self.run.results.as_ref();
            let place = results.map_or_else(String::new, |path| format!(" in {}", path.display()));
            rows.push(format!("and {} more{place}", group.count - CASES_SHOWN as u64));
        }
        rows
    }
}

/// The signature of a cause and the number of its cases.
fn heading(cause: &Cause<'_>) -> String {
    format!("{}: {}{}", cause.main.signature, counted(cause.count(), "case"), variants(cause))
}

/// The other rules and signatures of a cause, with their vectors.
fn also(cause: &Cause<'_>, path: &dyn Fn(&RunFile) -> String, rows: &mut Vec<String>) {
    let place = |first: &Evidence| match &first.vector {
        Some(vector) => path(vector),
        None => "no vector".to_owned(),
    };
    for Variant { rule, with, count, first } in cause.main.variants.iter().skip(1) {
        let under = if rule.is_empty() { "several rules" } else { rule };
        let with: Vec<String> = with.iter().flatten().map(ToString::to_string).collect();
        let with =
            if with.is_empty() { String::new() } else { format!(" with {}", with.join(", ")) };
        rows.push(format!(
            "also under {under}{with}, {}: {}",
            counted(*count, "case"),
            place(first)
        ));
    }
    let more = cause.main.further_rules.values().copied().fold(0, u64::saturating_add);
    if more > 0 {
        let rules = counted(cause.main.further_rules.len() as u64, "further rule");
        rows.push(format!("also under {rules}, {}", counted(more, "case")));
    }
    for Group { signature, count, first, .. } in &cause.variants {
        rows.push(format!("also as {signature}, {}: {}", counted(*count, "case"), place(first)));
    }
}

fn also_counted(cause: &Cause<'_>) -> Option<String> {
    let rules = cause.groups().flat_map(|group| {
        let variants = group.variants.iter().map(|variant| &variant.rule);
        variants.chain(group.further_rules.keys())
    });
    let rules: BTreeSet<&str> = rules.map(String::as_str).filter(|rule| !rule.is_empty()).collect();
    let first = cause.main.variants.first().map_or("", |variant| &*variant.rule);
    let others: Vec<&str> = rules.into_iter().filter(|rule| *rule != first).collect();
    match others.len() {
        0 => None,
        1..=4 => Some(format!("also under {}", others.join(", "))),
        more => Some(format!("also under {more} other rules; --details lists them")),
    }
}

/// The number of further signatures of a cause.
fn variants(cause: &Cause<'_>) -> String {
    match cause.variants.len() {
        0 => String::new(),
        more => format!(" in {} signatures, probably one cause", more + 1),
    }
}

/// The files that Verilator read, and which of them are built in.
pub fn rtl_files(files: &[FileRead]) -> String {
    let list = |built_in: bool| {
        let chosen = files.iter().filter(|file| file.built_in == built_in);
        chosen.map(|file| file.path.as_str()).collect::<Vec<_>>().join(", ")
    };
    let own = match list(true) {
        own if own.is_empty() => "none".to_owned(),
        own => own,
    };
    format!("RTL files: {}; built-in: {own}", list(false))
}

/// Why models need two evaluations per cycle, if any do. `reasons` is by profile.
fn driven(reasons: &BTreeMap<String, String>, profiles: &[String]) -> Option<String> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for profile in profiles {
        if let Some(reason) = reasons.get(profile) {
            by_reason.entry(reason).or_default().push(profile);
        }
    }
    let reported = by_reason.iter().map(|(reason, of)| match of.len() {
        all if all == profiles.len() => (*reason).to_owned(),
        _ => format!("{reason} (profile {})", of.join(", ")),
    });
    Some(reported.collect::<Vec<_>>().join("; ")).filter(|reported| !reported.is_empty())
}

/// Names of bits in which consecutive bits of a port are one range, as in `data[7:0]`.
fn runs_of_bits(bits: &[String]) -> Vec<String> {
    let parts = |bit: &str| {
        let (port, index) = bit.strip_suffix(']')?.split_once('[')?;
        Some((port.to_owned(), index.parse::<u32>().ok()?))
    };
    let mut runs: Vec<(String, Option<(u32, u32)>)> = Vec::new();
    for bit in bits {
        match (parts(bit), runs.last_mut()) {
            (Some((port, index)), Some((last, Some((_, high)))))
                if *last == port && *high + 1 == index =>
            {
                *high = index;
            }
            (Some((port, index)), _) => runs.push((port, Some((index, index)))),
            (None, _) => runs.push((bit.clone(), None)),
        }
    }
    let name = |(port, range): (String, Option<(u32, u32)>)| match range {
        None => port,
        Some((low, high)) if low == high => format!("{port}[{low}]"),
        Some((low, high)) => format!("{port}[{high}:{low}]"),
    };
    runs.into_iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::{driven, runs_of_bits, short};

    #[test]
    fn consecutive_bits_are_one_range() {
        let bits = ["full", "data[0]", "data[1]", "data[3]", "tag[4]", "tag[5]"];
        let bits = bits.map(str::to_owned);
        assert_eq!(runs_of_bits(&bits), ["full", "data[1:0]", "data[3]", "tag[5:4]"]);
    }

    #[test]
    fn a_reason_for_two_evaluations_appears_once() {
        let profiles = ["spec", "repaired", "0x01"].map(str::to_owned);
        let reported = |reasons: &[(&str, &str)]| {
            let reasons = reasons.iter().map(|(name, why)| ((*name).to_owned(), (*why).to_owned()));
            driven(&reasons.collect(), &profiles)
        };
        assert_eq!(reported(&[]), None);
        let all = [("spec", "a latch"), ("repaired", "a latch"), ("0x01", "a latch")];
        assert_eq!(reported(&all).as_deref(), Some("a latch"));
        assert_eq!(reported(&all[..2]).as_deref(), Some("a latch (profile spec, repaired)"));
        let two = [("spec", "a latch"), ("repaired", "a clock"), ("0x01", "a latch")];
        let expected = "a clock (profile repaired); a latch (profile spec, 0x01)";
        assert_eq!(reported(&two).as_deref(), Some(expected));
    }

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.0, "0"), (9_999.0, "9999"), (12_345.0, "12.3k"), (2.5e6, "2.50M"), (3e9, "3.00G")];
        for (value, expected) in cases {
            assert_eq!(short(value), expected);
        }
    }
}
