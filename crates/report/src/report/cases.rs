//! The cases of a run as compact data for the page's list.
//!
//! The page has the columns of `results.json`. Its script computes names from them, so
//! that a case takes a few bytes.

use super::Reproduce;
use super::page::Json;
use cosim_formats::run::{Entry, Header};
use cosim_harness::harness::Signature;
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum number of matching cases on a page; failed ones are listed up to as many more.
pub const MOST_CASES: usize = 100_000;

/// Collects the cases while `results.json` is read.
#[derive(Debug, Default)]
pub struct Cases {
    rows: Vec<Row>,
    listed: [usize; 2],
    /// The signatures by their numbers. The first failure of each has an entry with its verdict.
    signatures: BTreeMap<u64, String>,
    left_out: u64,
}

/// Consecutive cases: position of the first, cycles, packets and signatures of failed ones.
#[derive(Debug, Serialize)]
struct Row(u64, Vec<u64>, Vec<u64>, #[serde(skip_serializing_if = "Vec::is_empty")] Vec<u64>);

#[derive(Serialize)]
struct List<'a> {
    block: &'a str,
    profiles: &'a [String],
    scenarios: &'a [String],
    /// The distance of positions in a row.
    step: u64,
    /// The verdict of each signature, and the number of its failure on the page.
    signatures: Vec<(String, Option<usize>)>,
    /// For each scenario a name that stands for that of a case, and the command that reproduces it.
    commands: Vec<(String, String)>,
    rows: &'a [Row],
}

impl Cases {
    pub fn add(&mut self, entry: &Entry) {
        let (row, failed) = match entry {
            Entry::Failed { place, group, verdict, cycles, packets, .. } => {
                let signature = || Signature::from_verdict(verdict).map(|one| one.to_string());
                self.signatures.entry(*group).or_insert_with(|| signature().unwrap_or_default());
                (Row(*place, vec![*cycles], vec![*packets], vec![*group]), true)
            }
            Entry::Row { from, cycles, packets, groups } => {
                let row = Row(*from, cycles.clone(), packets.clone(), groups.clone());
                (row, !groups.is_empty())
            }
        };
        let count = row.1.len();
        let listed = &mut self.listed[usize::from(failed)];
        if *listed + count > MOST_CASES {
            self.left_out += count as u64;
            return;
        }
        *listed += count;
        self.rows.push(row);
    }

    /// Number of cases that are not on the page.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The data of the list, as JSON for a script element. `failure` is the number of the failure
    /// on the page that shows a signature.
    pub fn json(
        &self,
        run: &Header,
        failure: impl Fn(&str) -> Option<usize>,
        reproduce: Reproduce<'_>,
    ) -> Json {
        let count = self.signatures.keys().next_back().map_or(0, |last| last + 1);
        let signature = |number: u64| {
            let signature = self.signatures.get(&number).cloned().unwrap_or_default();
            let failure = failure(&signature);
            (signature, failure)
        };
        let command = |scenario: &String| {
            let name = format!("CASE/CASE/{scenario}/CASE");
            let command = reproduce.command(&name);
            (name, command)
        };
        Json::serialize(&List {
            block: &run.block,
            profiles: &run.profiles,
            scenarios: &run.scenarios,
            step: run.step(),
            signatures: (0..count).map(signature).collect(),
            commands: run.scenarios.iter().map(command).collect(),
            rows: &self.rows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(from: u64, count: usize, groups: Vec<u64>) -> Entry {
        Entry::Row { from, cycles: vec![7; count], packets: vec![1; count], groups }
    }

    #[test]
    fn a_page_has_a_limited_number_of_cases_and_counts_the_others() {
        let mut cases = Cases::default();
        for from in 0..1000 {
            cases.add(&row(from * 256, 256, Vec::new()));
        }
        assert_eq!(cases.left_out(), 256_000 - (MOST_CASES as u64 / 256) * 256);
        let before = cases.left_out();
        // Failed cases are listed nevertheless.
        cases.add(&row(256_000, 2, vec![0, 1]));
        assert_eq!(cases.left_out(), before);
        assert_eq!(
            serde_json::to_string(cases.rows.last().unwrap()).unwrap(),
            "[256000,[7,7],[1,1],[0,1]]"
        );
        assert_eq!(
            serde_json::to_string(&Row(1, vec![7], vec![1], Vec::new())).unwrap(),
            "[1,[7],[1]]"
        );
    }
}
