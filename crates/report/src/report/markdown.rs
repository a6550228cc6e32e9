//! `summary.md`: verdict and failures in Markdown, for CI systems.

use super::{Reproduce, Results};
use cosim_base::text::markdown as code;
use cosim_formats::run;
use cosim_formats::run::Group;
use cosim_harness::harness::Blame;
use std::fmt::Write as _;

/// Maximum number of failure groups.
const GROUPS: usize = 20;
/// Number of further signatures of a failure that are listed.
const VARIANTS: usize = 3;

/// Renders the summary, with commands of `program`. `reproduce` replays all failures.
pub fn page(results: &Results, program: &str, reproduce: Option<&str>) -> String {
    let (run, totals) = (&results.run, &results.totals);
    let verdict = results.verdict();
    let mut page = format!("## {verdict}: {}, seed {}\n\n", code(&run.block), run.seed);
    let _ = writeln!(page, "| cases | failed | packets | cycles compared | RTL | build |");
    let _ = writeln!(page, "|---:|---:|---:|---:|---|---|");
    let _ = writeln!(
        page,
        "| {} | {} | {} | {} | {} | {} |",
        totals.cases,
        totals.failures(),
        totals.packets,
        totals.cycles,
        code(&run.rtl),
        code(&run.build)
    );
    let _ = writeln!(page, "\nCompared: {}.", run.comparison_text());
    if let Some(reason) = results.no_pass() {
        let _ = writeln!(page, "\n{reason}");
    }
    if results.failures.is_empty() {
        return page;
    }
    let _ = writeln!(page, "\n| cases | failure | first seen in |\n|---:|---|---|");
    let causes = run::causes(&results.failures);
    for cause in causes.iter().take(GROUPS) {
        let Group { signature, first, .. } = cause.main;
        let (signature, case) = (code(&signature.to_string()), code(&first.case));
        let _ = writeln!(page, "| {} | {signature} | {case} |", cause.count());
    }
    for (number, cause) in (1..).zip(causes.iter().take(GROUPS)) {
        let Group { signature, first, waived, .. } = cause.main;
        let _ = writeln!(page, "\n### {number}. {}\n", code(&signature.to_string()));
        let _ = writeln!(page, "{}\n", code(&first.verdict.to_string()));
        if let Some(waived) = waived {
            let _ = writeln!(page, "- {}", code(&waived.to_string()));
        }
        for line in first.judgement.iter().flat_map(Blame::lines) {
            let _ = writeln!(page, "- {}", code(&line));
        }
        if let Some(vector) = &first.vector {
            let _ = writeln!(page, "- vector: {}", code(vector.as_str()));
        }
        for Group { signature, count, .. } in cause.variants.iter().take(VARIANTS) {
            let _ = writeln!(
                page,
                "- probably the same cause: {}, cases: {count}",
                code(&signature.to_string())
            );
        }
        if let Some(more) = cause.variants.len().checked_sub(VARIANTS).filter(|more| *more > 0) {
            let _ = writeln!(page, "- and {more} more signatures, probably of the same cause");
        }
        let command = Reproduce { program, run }.command(&first.case);
        let _ = writeln!(page, "- reproduce: {}", code(&command));
    }
    if let Some(command) = reproduce {
        let _ = writeln!(page, "\nAll of them, with the artifact of this run: {}", code(command));
    }
    if let Some(more) = causes.len().checked_sub(GROUPS).filter(|more| *more > 0) {
        let _ = writeln!(page, "\nand {more} more signatures");
    }
    page
}
