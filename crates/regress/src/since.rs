//! Chooses the cases that may see a change of the RTL.
//!
//! A case sees nothing of a change if an earlier run of the old RTL recorded that it matched and
//! executed no line of the blocks that hold the change: until the first execution, both RTLs do the
//! same. Whatever is unknown counts as seen.

use cosim_base::error::{Error, codes};
use cosim_base::text;
use cosim_block::rtl::{Rtl, Simulator};
use cosim_formats::coverage::executed::{EXECUTED, Executed, ExecutedBy};
use cosim_formats::run::{Plan, RESULTS, Since};
use cosim_harness::harness::BlockInfo;
use cosim_rtl::changed::{Changed, changed};
use cosim_rtl::models::{Examined, RtlModels as _};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// A change of the RTL.
#[derive(Debug, Clone)]
pub struct SinceRequest {
    /// The RTL before the change, as typed.
    pub named: String,
    /// The same.
    pub old: Rtl,
    /// The run directory of the old RTL, or the folder with those of several blocks.
    pub base: Option<PathBuf>,
    /// Whether the other cases are left out. Otherwise they run once the chosen ones have matched.
    pub only: bool,
}

/// The cases that may see a change.
pub struct Selection {
    /// What to record of it.
    pub since: Since,
    /// Their places, unless all may see it.
    pub only: Option<Arc<[u64]>>,
}

impl SinceRequest {
    /// The cases that may see the change.
    ///
    /// # Errors
    /// If the old RTL cannot be read, or the record of the earlier run is damaged.
    pub fn select(
        &self,
        info: &'static BlockInfo,
        (rtl, examined): (&Rtl, &Examined),
        plan: &Plan,
        run: &ExecutedBy,
    ) -> Result<Selection, Error> {
        let old = self.old.examined(info)?;
        let since = |selected, left_out, because| Since {
            old: self.named.clone(),
            rtl: old.identity.clone(),
            selected,
            left_out,
            because,
        };
        let all = plan.len();
        let selected = match self.avoiding(info, rtl, (&old, examined), plan, run)? {
            Ok(selected) => selected,
            Err(because) => {
                return Ok(Selection { since: since(all, 0, Some(because)), only: None });
            }
        };
        let count = selected.len() as u64;
        Ok(Selection { since: since(count, all - count, None), only: Some(selected.into()) })
    }

    /// The places of the cases that may see the change, or why each may.
    fn avoiding(
        &self,
        info: &'static BlockInfo,
        rtl: &Rtl,
        (old, new): (&Examined, &Examined),
        plan: &Plan,
        run: &ExecutedBy,
    ) -> Result<Result<Vec<u64>, String>, Error> {
        let Some(base) = &self.base else {
            return Ok(Err("there is no --base-run".to_owned()));
        };
        let inside = base.join(info.name);
        let base = if base.join(RESULTS).exists() { base } else { &inside };
        if !base.join(EXECUTED).exists() {
            let message = format!(
                "has no {EXECUTED}; make it with `cosim run --coverage --out {0}` on the RTL before the change",
                text::path(base)
            );
            return Err(Error::File { code: codes::NOT_A_RUN, path: base.clone(), message });
        }
        let executed = Executed::read(base)?;
        let wanted = ExecutedBy { rtl: old.identity.clone(), ..run.clone() };
        if let Some(difference) = difference(&executed.run, &wanted) {
            return Ok(Err(difference));
        }
        if rtl.netlist || rtl.simulator != Simulator::Verilator {
            return Ok(Err("--base-run is about the RTL in Verilator".to_owned()));
        }
        let blocks = match changed(old, new)? {
            Changed::Nothing => Vec::new(),
            Changed::Blocks(blocks) => blocks,
            Changed::Anything(place) => {
                let place = new.typed(&place);
                return Ok(Err(format!(
                    "the change at {place} is not inside of an inner `begin` .. `end` of a process"
                )));
            }
        };
        let mut seen = BTreeSet::new();
        let columns = plan.columns();
        for (number, profile) in plan.profiles.iter().enumerate() {
            let avoiding = executed.avoiding(&profile.name, &blocks);
            for (column, scenario) in plan.scenarios.iter().enumerate() {
                let avoiding = avoiding.get(scenario.as_str());
                let column = (number * plan.scenarios.len() + column) as u64;
                // The first one always runs: RTL may also fail by itself.
                let may_see = plan.indices.clone().filter(|index| {
                    *index == plan.indices.start
                        || avoiding.is_none_or(|avoiding| !avoiding.contains(index))
                });
                seen.extend(may_see.map(|index| index * columns + column));
            }
        }
        Ok(Ok(seen.into_iter().collect()))
    }
}

/// Why the cases of an earlier run are other ones.
fn difference(base: &ExecutedBy, wanted: &ExecutedBy) -> Option<String> {
    let ExecutedBy { block, rtl, testbench, seed, packets, weights } = base;
    let what = match () {
        () if *block != wanted.block => format!("is a run of block {block}"),
        () if *rtl != wanted.rtl => {
            format!("is a run of RTL {rtl}, and --since has {}", wanted.rtl)
        }
        () if *testbench != wanted.testbench => {
            "was made with another testbench or version of cosim".to_owned()
        }
        () if *seed != wanted.seed => format!("has seed {seed}"),
        () if *packets != wanted.packets => "has another number of packets".to_owned(),
        () if wanted.weights.iter().any(|(name, hash)| weights.get(name) != Some(hash)) => {
            "has other scenarios".to_owned()
        }
        () => return None,
    };
    Some(format!("--base-run {what}"))
}
