//! Proofs of `cosim cover close` that a later run takes.

use super::{AnswerRecord, AnswerStatus, Proof};
use crate::coverage::Database;
use crate::coverage::code::Code;
use cosim_base::text::line;
use cosim_block::points::Point;
use cosim_formal::answer::Traffic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The proofs that a run takes from a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsedProofs {
    /// The file, as typed.
    pub file: String,
    /// Number of points that are not counted because of its proofs.
    pub used: u64,
    /// Number of points for which it has vectors. They are counted.
    pub vectors: u64,
    /// Number of proofs that do not count, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped: BTreeMap<String, u64>,
}

impl UsedProofs {
    fn add(&mut self, other: Self) {
        self.used += other.used;
        self.vectors += other.vectors;
        for (because, count) in other.dropped {
            *self.dropped.entry(because).or_default() += count;
        }
    }

    /// In words: what is not counted, and each reason why proofs do not count.
    pub fn lines(&self) -> Vec<String> {
        let Self { file, used, vectors, dropped } = self;
        let points = |count: u64, one: &str, many: &str| match count {
            1 => format!("1 point {one}"),
            count => format!("{count} points {many}"),
        };
        let first = format!(
            "{} not counted: {file} has the proofs, and cosim cover close --check proves them again",
            points(*used, "is", "are")
        );
        let refused = dropped.iter().map(|(because, count)| {
            let counted = points(*count, "is", "are");
            format!("{counted} counted although {file} has proofs: {}", line(because))
        });
        let vectors = (*vectors > 0).then(|| {
            format!(
                "{} hit by vectors of {file}, which cosim replay checks",
                points(*vectors, "is", "are")
            )
        });
        std::iter::once(first).chain(vectors).chain(refused).collect()
    }
}

impl AnswerRecord {
    /// Takes proved points out of the code coverage of a profile. A proof counts only for the same
    /// text of the RTL and the same parameters, and only with a certificate.
    fn apply(
        &self,
        rtl: &str,
        profile: &str,
        fixes: &str,
        parameters: &BTreeMap<String, u64>,
        code: &mut Code,
    ) -> UsedProofs {
        let mut found = UsedProofs::default();
        let mut refuse = |because: &str| {
            *found.dropped.entry(because.to_owned()).or_default() += 1;
        };
        let number: BTreeMap<Point, u32> = code.points.iter().cloned().zip(0..).collect();
        let is_same = self.subject.rtl.identity == rtl;
        let ours = self.profiles.iter().filter(|one| one.profile == profile);
        for one in ours {
            for row in &one.rows {
                let Some(point) = &row.point else { continue };
                let is_reached = matches!(row.status, AnswerStatus::Reached(_));
                found.vectors += u64::from(is_same && is_reached);
                let Some(Proof { traffic, certificate, .. }) = row.status.proof() else { continue };
                if !is_same {
                    refuse("the text of the RTL has changed; close the coverage again");
                } else if one.fixes != fixes || one.parameters != *parameters {
                    refuse("the parameters of the profile have changed; close the coverage again");
                } else if !certificate.is_there() {
                    refuse("the proof is only believed: it has no certificate");
                } else if let Some(number) = number.get(point) {
                    let legal = if *traffic == Traffic::Legal { ", legal traffic" } else { "" };
                    let reason = format!("proved unreachable{legal}: {certificate}");
                    code.waived.insert(*number, reason);
                    if code.proved.insert(*number) {
                        found.used += 1;
                    }
                } else {
                    refuse("this version of Verilator has no such point");
                }
            }
        }
        found
    }

    /// Takes proved points out of the code coverage of a database, as [`Self::apply`]. `file` is
    /// the name of this file.
    pub fn apply_to(&self, file: &str, database: &mut Database) -> UsedProofs {
        let mut found = UsedProofs { file: file.to_owned(), ..UsedProofs::default() };
        let Database { block, profiles, code, .. } = database;
        if *block != self.subject.block {
            let proofs = self.rows().filter(|row| row.status.proof().is_some()).count();
            found.dropped.insert(format!("it is of block {}", self.subject.block), proofs as u64);
            return found;
        }
        for ((rtl, profile), code) in code {
            let Some(bins) = profiles.get(profile) else { continue };
            found.add(self.apply(rtl, profile, &bins.fixes, &bins.parameters, code));
        }
        found
    }
}
