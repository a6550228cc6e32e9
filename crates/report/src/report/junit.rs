//! `junit.xml`: a suite for each profile and scenario, a test case for each case.
//!
//! It contains no times, so that the same run gives the same bytes.

use super::{Entry, Reproduce, Results};
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_formats::run::{Evidence, Group, Header};
use cosim_harness::harness::{Blame, Signature, Verdict};
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, Writer};
use std::collections::BTreeMap;

/// Maximum number of cases per profile and scenario with a test case each. Further matching cases
/// share one.
const MOST_CASES_NAMED: usize = 1000;

/// The cases of a run, by profile and scenario.
#[derive(Default)]
pub struct Suites {
    columns: Vec<Column>,
    signatures: BTreeMap<u64, Signature>,
}

/// The cases of a profile and scenario.
#[derive(Default)]
struct Column {
    /// Cases with a test case of their own, in the order of the plan.
    named: Vec<Named>,
    /// Number of further matching cases.
    matched: u64,
    /// Number of further failing cases, by the number of their signature.
    failed: BTreeMap<u64, u64>,
}

enum Named {
    Matched(u64),
    Failed(String, Verdict),
}

impl Suites {
    pub fn add(&mut self, run: &Header, entry: Entry) {
        let (profiles, scenarios) = (run.profiles.len() as u64, run.scenarios.len() as u64);
        let columns = (profiles * scenarios).max(1);
        self.columns.resize_with(columns as usize, Column::default);
        match entry {
            Entry::Failed { place, group, name, verdict, .. } => {
                if let Some(signature) = Signature::from_verdict(&verdict) {
                    self.signatures.insert(group, signature);
                }
                let column = &mut self.columns[(place % columns) as usize];
                column.named.push(Named::Failed(name, verdict));
            }
            Entry::Row { from, cycles, groups, .. } => {
                let step = run.step();
                for number in 0..cycles.len() {
                    let place = from + number as u64 * step;
                    let column = &mut self.columns[(place % columns) as usize];
                    match groups.get(number) {
                        Some(group) => *column.failed.entry(*group).or_default() += 1,
                        None if column.named.len() < MOST_CASES_NAMED => {
                            column.named.push(Named::Matched(place / columns));
                        }
                        None => column.matched += 1,
                    }
                }
            }
        }
    }

    /// Renders the file.
    ///
    /// # Errors
    /// [`Error::Environment`] if it cannot be converted to XML.
    pub fn finish(self, results: &Results) -> Result<String, Error> {
        let run = &results.run;
        let mut report = Report::new(format!("cosim {}, seed {}", run.block, run.seed));
        let names = run.profiles.iter().flat_map(|profile| {
            run.scenarios.iter().map(move |scenario| format!("{}/{profile}/{scenario}", run.block))
        });
        let evidence_of: BTreeMap<&str, &Evidence> =
            results.failures.iter().flat_map(evidence).collect();
        let waived = Waivers::from_results(results);
        for (name, column) in names.zip(self.columns) {
            let mut suite = TestSuite::new(name.as_str());
            for (key, value) in properties(run) {
                suite.add_property(Property::new(key, value));
            }
            let class = name.replace('/', ".");
            let mut add = |mut case: TestCase| {
                case.set_classname(class.as_str());
                suite.add_test_case(case);
            };
            for case in column.named {
                add(match case {
                    Named::Matched(index) => {
                        TestCase::new(format!("{name}/{index}"), TestCaseStatus::success())
                    }
                    Named::Failed(case, verdict) => {
                        match Signature::from_verdict(&verdict).and_then(|of| waived.reason(&of)) {
                            Some(reason) => skipped(&case, &reason),
                            None => failed(
                                run,
                                &case,
                                &verdict,
                                evidence_of.get(case.as_str()).copied(),
                            ),
                        }
                    }
                });
            }
            if column.matched > 0 {
                let name = format!("{name}: {} further cases", column.matched);
                add(TestCase::new(name, TestCaseStatus::success()));
            }
            for (number, count) in column.failed {
                let signature = self.signatures.get(&number);
                if let Some(reason) = signature.and_then(|signature| waived.reason(signature)) {
                    add(skipped(&format!("{name}: {count} further cases"), &reason));
                    continue;
                }
                let signature = signature.map(ToString::to_string).unwrap_or_default();
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type("more").set_message(format!("{count} more cases: {signature}"));
                add(TestCase::new(format!("{name}: {count} further cases, {signature}"), status));
            }
            report.add_test_suite(suite);
        }
        if let Some(reason) = results.no_pass() {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_type("run").set_message(reason);
            let mut suite = TestSuite::new(format!("{}/the run", run.block));
            let mut case = TestCase::new("the run", status);
            case.set_classname(format!("{}.run", run.block));
            suite.add_test_case(case);
            report.add_test_suite(suite);
        }
        let text = report
            .to_string()
            .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
        by_the_schema(&text).map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))
    }
}

/// Removes `disabled`, which `quick_junit` adds to each suite but which Jenkins' schema does not
/// have.
fn by_the_schema(text: &str) -> Result<String, quick_xml::Error> {
    let mut reader = Reader::from_str(text);
    let mut writer = Writer::new(Vec::new());
    loop {
        match reader.read_event()? {
            Event::Start(tag) if tag.name().as_ref() == b"testsuite" => {
                let attributes = tag.attributes().flatten();
                let kept = attributes.filter(|attribute| attribute.key.as_ref() != b"disabled");
                let suite = BytesStart::new("testsuite").with_attributes(kept);
                writer.write_event(Event::Start(suite))?;
            }
            Event::Eof => break,
            event => writer.write_event(event)?,
        }
    }
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
}

/// The analysed cases of a group, with their results.
fn evidence(group: &Group) -> impl Iterator<Item = (&str, &Evidence)> {
    let firsts = group.variants.iter().map(|variant| &variant.first);
    std::iter::once(&group.first).chain(firsts).map(|first| (first.case.as_str(), first))
}

struct Waivers<'a> {
    results: &'a Results,
}

impl<'a> Waivers<'a> {
    fn from_results(results: &'a Results) -> Self {
        Self { results }
    }

    /// Why failures with a signature are waived; `None` if they count.
    fn reason(&self, signature: &Signature) -> Option<String> {
        let Results { failures, passed, .. } = self.results;
        let group = failures.iter().find(|group| group.signature == *signature);
        match group {
            Some(group) if group.is_waived() => {
                Some(format!("{signature}: {}", group.waived.as_ref()?))
            }
            // The failure is a combination of several groups, all of which are waived.
            None if *passed => Some(format!("{signature}: all of its cases are waived")),
            _ => None,
        }
    }
}

fn skipped(name: &str, reason: &str) -> TestCase {
    let mut status = TestCaseStatus::skipped();
    status.set_message(reason);
    TestCase::new(name, status)
}

fn failed(run: &Header, name: &str, verdict: &Verdict, known: Option<&Evidence>) -> TestCase {
    // A wrong result is a failure; a hang or a crash is an error.
    let kind = match verdict {
        Verdict::Mismatch(_) | Verdict::Unknown(_) | Verdict::CheckFailed { .. } => {
            NonSuccessKind::Failure
        }
        _ => NonSuccessKind::Error,
    };
    let mut text = vec![verdict.to_string()];
    let judgement = known.and_then(|evidence| evidence.judgement.as_ref());
    text.extend(judgement.into_iter().flat_map(Blame::lines));
    let mut attachments = String::new();
    if let Some(vector) = known.and_then(|evidence| evidence.vector.as_ref()) {
        text.push(format!("vector: {vector}"));
        attachments = format!("[[ATTACHMENT|{vector}]]\n");
    }
    let reproduce = Reproduce { program: program::name(), run };
    text.push(format!("reproduce: {}", reproduce.command(name)));
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(verdict.name()).set_message(verdict.to_string());
    status.set_description(text.join("\n"));
    let mut case = TestCase::new(name, status);
    if !attachments.is_empty() {
        case.set_system_out(attachments);
    }
    case
}

fn properties(run: &Header) -> [(&'static str, String); 6] {
    [
        ("seed", run.seed.to_string()),
        ("shard", run.shard.to_string()),
        ("build", run.build.clone()),
        ("rtl", run.rtl.clone()),
        ("verilator", run.verilator.clone()),
        ("compared", run.comparison_text()),
    ]
}
