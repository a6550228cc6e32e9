//! The coverage of each profile: one line, or tables.

use super::Summary;
use crate::counted;
use cosim_formats::run::{End, ProfileTally, Totals};
use cosim_harness::value::short;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const RULES_PER_LINE: usize = 8;

/// Number of uncovered bins to list over all profiles, with at least one per profile.
const BINS_SHOWN: usize = 4;

impl Summary<'_> {
    /// A line for each profile, and the first uncovered bins.
    pub(super) fn profile_lines(&self, text: &mut String) {
        let shown = (BINS_SHOWN / self.run.tally.profiles.len().max(1)).max(1);
        for profile in &self.run.tally.profiles {
            let sum = |of: fn(&Totals) -> u64| {
                let numbers = profile.scenarios.iter().map(|(_, totals)| of(totals));
                numbers.fold(0, u64::saturating_add)
            };
            let (cases, cycles) = (sum(|totals| totals.cases), sum(|totals| totals.cycles));
            let _ = write!(
                text,
                "  profile {}: {}, {} cycles, ",
                profile.profile,
                counted(cases, "case"),
                short(cycles as f64)
            );
            self.uncovered(&profile.profile, shown, text);
        }
    }

    pub(super) fn profile_tables(&self, profile: &ProfileTally, text: &mut String) {
        let parameters = profile.parameters.iter().map(|(name, value)| format!(", {name}={value}"));
        let parameters = parameters.collect::<String>();
        let _ = writeln!(text, "profile {} (fixes {}{parameters})", profile.profile, profile.fixes);
        scenario_table(profile, text);
        let missed: Vec<&str> = profile.missed().collect();
        let (hit, all) = (profile.rules.len() - missed.len(), profile.rules.len());
        let _ = writeln!(text, "  rules hit: {hit} of {all} reachable");
        rule_table(profile, text);
        reasons(profile, text);
        if !missed.is_empty() {
            let _ = writeln!(text, "  rules not hit: {}", missed.join(" "));
        }
        text.push_str("  ");
        self.uncovered(&profile.profile, usize::MAX, text);
        let counts: Vec<String> =
            profile.counters.iter().map(|(name, count)| format!("{name} {count}")).collect();
        if !counts.is_empty() {
            let _ = writeln!(text, "  counted: {}", counts.join(", "));
        }
    }

    /// The coverage of a profile in one line, and up to `shown` uncovered bins, one per line.
    fn uncovered(&self, profile: &str, shown: usize, text: &mut String) {
        let covered = self.run.coverage.covered(profile);
        let (share, of) = (covered.percent(), covered.reachable);
        let _ = write!(text, "coverage: {share} of {of} reachable bins");
        let uncovered = self.run.coverage.uncovered(profile, &covered);
        if uncovered.is_empty() {
            text.push('\n');
            return;
        }
        let _ = write!(text, ", {}", counted(uncovered.len() as u64, "uncovered bin"));
        if let Some(why) = self.is_brief() {
            let _ = writeln!(text, ", not listed because {why}");
            return;
        }
        text.push('\n');
        for bin in uncovered.iter().take(shown) {
            let _ = writeln!(text, "    not hit: {}", self.run.coverage.bin_name(*bin));
        }
        if uncovered.len() > shown {
            let _ =
                writeln!(text, "    and {} more; --details lists them", uncovered.len() - shown);
        }
    }
}

impl Summary<'_> {
    /// Why uncovered bins of this run say nothing of its scenarios, if so.
    fn is_brief(&self) -> Option<&'static str> {
        match self.run.end {
            End::Complete | End::Covered if self.run.tally.totals.cases > 1 => None,
            End::Complete | End::Covered => Some("the run has one case"),
            End::Time | End::MaxFailures | End::MaxHangs | End::Interrupted => {
                Some("the run ended early")
            }
        }
    }
}

fn scenario_table(profile: &ProfileTally, text: &mut String) {
    let _ = writeln!(
        text,
        "  {:16} {:>8} {:>8} {:>10} {:>10}",
        "scenario", "cases", "failed", "packets", "cycles"
    );
    for (scenario, totals) in &profile.scenarios {
        let Totals { cases, packets, cycles, .. } = totals;
        let failed = totals.failures();
        let _ = writeln!(
            text,
            "  {scenario:16} {cases:8} {failed:8} {packets:10} {:>10}",
            short(*cycles as f64)
        );
    }
}

fn rule_table(profile: &ProfileTally, text: &mut String) {
    let cells: Vec<String> = profile
        .rules
        .iter()
        .map(|(name, hits)| format!("{name:>4} {:>7}", short(*hits as f64)))
        .collect();
    for line in cells.chunks(RULES_PER_LINE) {
        let _ = writeln!(text, "   {}", line.join(" "));
    }
}

fn reasons(profile: &ProfileTally, text: &mut String) {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (rule, reason) in &profile.unreachable {
        reasons.entry(reason).or_default().push(rule);
    }
    for (reason, rules) in reasons {
        let _ = writeln!(text, "  unreachable: {} ({reason})", rules.join(" "));
    }
}
