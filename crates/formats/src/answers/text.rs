//! The text of a record for users, and the words for an answer.

use super::{
    AnswerRecord, AnswerRow, AnswerStatus, Basis, ComparisonStep, Counts, FoundInputs, Legality,
    ProfileAnswers, Proof, ProverCommand, ShownDifference, Subject, SubjectRtl,
};
use cosim_base::text::line;
use cosim_formal::FIRST_CYCLE;
use cosim_formal::answer::Traffic;
use cosim_formal::certificate::{BELIEVED, Certificate};
use cosim_formal::prove::Memories;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

/// Points of one result that are listed.
const SHOWN: usize = 8;
/// What is said of answers for legal traffic alone.
const LEGAL: &str = "for legal traffic";

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { proved, believed, reached, bounded, .. } = self;
        let failed = self.failed();
        write!(
            f,
            "{proved} proved, {believed} {BELIEVED}, {reached} known hangs, {bounded} bounded, \
             {failed} failed"
        )
    }
}

impl Proof {
    fn details(&self) -> Vec<String> {
        let basis = self.basis.map(|basis| match basis {
            Basis::Text => "the preprocessed text is the same",
            Basis::Netlist => "Yosys makes the same netlist of both",
            Basis::Correspondence => "equal signals correspond",
            Basis::Proof => "unbounded proof",
        });
        // What is the same netlist is so for other inputs in the first cycle, too.
        let first = match self.basis {
            Some(Basis::Correspondence | Basis::Proof) => format!(", {FIRST_CYCLE}"),
            _ => String::new(),
        };
        let first = match (basis, self.traffic) {
            (Some(basis), Traffic::Any) => Some(format!("for all inputs{first}: {basis}")),
            (Some(basis), Traffic::Legal) => Some(format!("{LEGAL}{first}: {basis}")),
            (None, Traffic::Any) => None,
            (None, Traffic::Legal) => Some(LEGAL.to_owned()),
        };
        let memories = self.memories.and_then(|memories| match memories {
            Memories::Whole => Some("with memories as registers"),
            Memories::Kept => Some("with memories that are consistent between adjacent cycles"),
            Memories::Word => Some("with one arbitrary word of each memory"),
            Memories::Cut | Memories::None => None,
        });
        let others = match self.others {
            0 => None,
            1 => Some("together with another point".to_owned()),
            others => Some(format!("together with {others} other points")),
        };
        first.into_iter().chain(memories.map(str::to_owned)).chain(others).collect()
    }
}

impl FoundInputs {
    fn details(&self) -> Vec<String> {
        let Self { found_by, verdict, difference, .. } = self;
        let Some(difference) = difference else {
            return vec![format!("found by {found_by}"), verdict.clone()];
        };
        let ShownDifference { cycle, port, values: [old, new], legal, verdicts, .. } =
            &**difference;
        let port = port.as_deref().unwrap_or("the model");
        vec![
            format!("cycle {cycle}, {port}: {old} in OLD, {new} in NEW; found by {found_by}"),
            format!("legal: {}", legal.words()),
            format!("golden model: {verdict}"),
            format!("  OLD: {}", verdicts[0]),
            format!("  NEW: {}", verdicts[1]),
        ]
    }
}

impl Legality {
    fn words(&self) -> String {
        let mut words = match &self.because {
            _ if self.is_legal => "yes".to_owned(),
            Some(because) => format!("no: {because}"),
            None => "no".to_owned(),
        };
        if let Some(otherwise) = &self.otherwise {
            let _ = write!(words, "; with legal traffic: {otherwise}");
        }
        words
    }
}

impl AnswerStatus {
    /// Everything besides certificate and files.
    pub fn details(&self) -> Vec<String> {
        match self {
            Self::Proved(proof) | Self::Believed(proof) => proof.details(),
            Self::Reached(found) | Self::Failing(found) | Self::Unconfirmed(found) => {
                found.details()
            }
            Self::Bounded { cycles, traffic, because } => {
                let holds = format!("not proved; holds for {cycles} cycles from reset");
                let legal = (*traffic == Traffic::Legal).then(|| LEGAL.to_owned());
                std::iter::once(holds).chain(legal).chain(because.clone()).collect()
            }
            Self::Disputed { because } | Self::Waived { reason: because } => vec![because.clone()],
            Self::Open { cycles, because } => {
                let within =
                    cycles.map(|cycles| format!("nothing found within {cycles} cycles from reset"));
                std::iter::once(because.clone()).chain(within).collect()
            }
        }
    }

    /// Details, certificate and files.
    fn lines(&self) -> Vec<String> {
        let mut lines = self.details();
        lines.extend(self.proof().and_then(|proof| match &proof.certificate {
            Certificate::Structure => None,
            Certificate::Nothing { because } => Some(format!("not certified: {because}")),
            certificate => Some(format!("certified by {certificate}")),
        }));
        if let Some(FoundInputs { vector, difference, .. }) = self.found_inputs() {
            lines.push(format!("vector: {vector}"));
            let waves = difference.iter().flat_map(|difference| &difference.waves);
            lines.extend(waves.map(|file| format!("waves: {file}")));
        }
        lines
    }

    /// The answer in one line: the word, and all that is known.
    pub fn words(&self) -> String {
        described(self.word(), &self.lines())
    }
}

impl AnswerRecord {
    /// The text for users. `details`: every point of `close`, and not only those that are open.
    pub fn text(&self, details: bool) -> String {
        let Subject { command, block, rtl, old, only, yosys, solver, .. } = &self.subject;
        let selected = only.as_ref().map_or(String::new(), |only| format!(" with `{only}`"));
        let rtl_of = |SubjectRtl { identity, .. }: &SubjectRtl| format!("RTL {identity}");
        let about = match (command, old) {
            (ProverCommand::Prove, _) => {
                let count = self.rows().count();
                let properties = if count == 1 { "property" } else { "properties" };
                let counts = Counts::count_records([self]);
                format!("{count} {properties}{selected}: {counts}; {}", rtl_of(rtl))
            }
            (_, Some(old)) => {
                let only = if self.subject.legal_only { ", legal traffic only" } else { "" };
                let side = |rtl: &SubjectRtl| format!("{} ({})", rtl.named, rtl_of(rtl));
                format!("OLD {}, NEW {}{only}", side(old), side(rtl))
            }
            (_, None) => format!("points and bins{selected}; {}", rtl_of(rtl)),
        };
        let solver = solver.as_deref().unwrap_or("without a second solver");
        let mut text = format!("{}  {block}: {about}; {yosys}, {solver}\n", self.verdict());
        for profile in &self.profiles {
            match command {
                ProverCommand::Prove => properties(profile, &mut text),
                ProverCommand::Diff => self.comparison(profile, &mut text),
                ProverCommand::Close => coverage(profile, details, &mut text),
            }
        }
        if *command == ProverCommand::Prove && self.rows().next().is_none() {
            text += "\nthe block declares no properties: see Block::properties\n";
        }
        text.push('\n');
        text
    }

    fn comparison(&self, profile: &ProfileAnswers, text: &mut String) {
        let ProfileAnswers { profile: name, rows, steps, cases, .. } = profile;
        let _ = writeln!(text, "\nprofile {name}: {}", self.word(profile.outcome(None)));
        for line in rows.iter().flat_map(|row| row.status.lines()) {
            let _ = writeln!(text, "  {line}");
        }
        if *cases > 0 {
            let number = if *cases == 1 { "case" } else { "cases" };
            let _ = writeln!(text, "  {cases} {number} without a difference in simulation");
        }
        for ComparisonStep { step, result } in steps {
            let _ = writeln!(text, "    {step}: {result}");
        }
    }
}

/// What is said of something, in one line.
fn described(name: &str, lines: &[String]) -> String {
    let colon = if lines.is_empty() { "" } else { ": " };
    format!("{name}{colon}{}", lines.join("; "))
}

fn properties(profile: &ProfileAnswers, text: &mut String) {
    let ProfileAnswers { profile, rows, because, .. } = profile;
    let _ = writeln!(text, "\nprofile {profile}");
    if let Some(because) = because {
        let _ = writeln!(text, "  cannot be checked: {because}");
    }
    for AnswerRow { question, status, .. } in rows {
        let described = described(question, &status.lines());
        let _ = writeln!(text, "  {:<11} {described}", status.word());
    }
}

/// The table of points and bins, and those with the same answer together.
fn coverage(profile: &ProfileAnswers, details: bool, text: &mut String) {
    let _ = writeln!(
        text,
        "\nprofile {:11} {:>6} {:>7} {:>7} {:>9} {:>7} {:>6}",
        profile.profile, "hit", "reached", "proved", BELIEVED, "waived", "open"
    );
    for (kind, counts) in profile.table() {
        let Counts { hit, reached, proved, believed, waived, .. } = counts;
        let failed = counts.failed();
        let _ = writeln!(
            text,
            "  {kind:17} {hit:6} {reached:7} {proved:7} {believed:9} {waived:7} {failed:6}",
        );
    }
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for AnswerRow { question, status, .. } in &profile.rows {
        let is_certain = match status {
            AnswerStatus::Reached(_) | AnswerStatus::Waived { .. } => true,
            status => status.is_proved(),
        };
        if details || !is_certain {
            groups.entry(status.words()).or_default().push(question);
        }
    }
    // Names and reasons may come from another person's file.
    for (words, names) in groups {
        let _ = writeln!(text, "  {}", line(&words));
        let shown = if details { usize::MAX } else { SHOWN };
        for name in names.iter().take(shown) {
            let _ = writeln!(text, "    {}", line(name));
        }
        if names.len() > shown {
            let _ = writeln!(text, "    and {} more; --details lists them", names.len() - shown);
        }
    }
    let reached: Vec<_> = profile
        .rows
        .iter()
        .filter_map(|row| match &row.status {
            AnswerStatus::Reached(found) => Some(&found.vector),
            _ => None,
        })
        .collect();
    if let Some(folder) = reached.first().and_then(|vector| vector.as_str().split('/').next()) {
        let files = reached.iter().collect::<BTreeSet<_>>().len();
        let points = reached.len();
        let _ =
            writeln!(text, "  {points} of the points and bins have vectors, {files} in {folder}/");
    }
    let is_spare = |row: &&AnswerRow| row.waiver.is_some() && row.status.is_proved();
    let spare = profile.rows.iter().filter(is_spare).count();
    if spare > 0 {
        let _ = writeln!(text, "  {spare} of the proofs replace waivers of the block");
    }
}
