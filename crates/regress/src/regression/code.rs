//! The code coverage of a run, if it is enabled.

use super::{Event, Events};
use crate::blocks::BlockHandle;
use crate::worker::OneShotWorker;
use cosim_base::error::{Error, codes};
use cosim_block::engine::SessionSetup;
use cosim_block::points::Point;
use cosim_block::worker::task::{Action, Task};
use cosim_formats::answers::AnswerRecord;
use cosim_formats::answers::reuse::UsedProofs;
use cosim_formats::coverage::Database;
use cosim_formats::coverage::code::{Code, Idle, Sources, Waivers};
use cosim_harness::harness::{BlockInfo, Profile};
use cosim_rtl::models::Examined;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) struct CodeCoverage {
    /// By RTL and profile.
    pub code: BTreeMap<(String, String), Code>,
    pub sources: Sources,
    /// What is not counted because of proofs.
    pub closed: Vec<UsedProofs>,
}

impl CodeCoverage {
    /// Reads the points of the models of a run. Waivers of a block apply to its built-in RTL, and
    /// on user RTL to code that is the same.
    ///
    /// # Errors
    /// An error in the block's waivers, or a model that fails.
    pub fn new(
        block: &BlockHandle,
        worker: &OneShotWorker,
        opening: &SessionSetup,
        examined: &Examined,
        is_own: bool,
        events: &mut Events<'_>,
    ) -> Result<Self, Error> {
        let waivers = block.info().waivers.map(Waivers::read).transpose()?.unwrap_or_default();
        let mut all = Vec::new();
        for (profile, model) in &opening.models {
            let (block, profile) = (opening.block.clone(), profile.clone());
            let task = Task { block, profile, model: model.clone(), action: Action::Points };
            all.push(worker.run_task::<Vec<Point>>(task)?.done()?);
        }
        let sources = Sources::new(&examined.texts, &all);
        let (mut code, mut idle) = (BTreeMap::new(), Idle::default());
        for ((profile, _), mut points) in opening.models.iter().zip(all) {
            sources.rename(&mut points);
            let mut of_profile = Code { points, ..Code::default() };
            waivers.apply(profile, &mut of_profile, &sources, &mut idle);
            code.insert((examined.identity.clone(), profile.clone()), of_profile);
        }
        if is_own && !idle.stale.is_empty() {
            let stale = idle.stale.join("\n  ");
            return Err(Error::Usage(
                codes::BAD_WAIVER,
                format!(
                    "code coverage waivers of block {} match no code of its RTL; update or remove \
                     them:\n  {stale}",
                    block.info().name
                ),
            ));
        }
        if is_own && !idle.uncounted.is_empty() {
            events(Event::Warning(format!(
                "this version of Verilator counts other coverage points, so these waivers have no effect:\n  {}",
                idle.uncounted.join("\n  ")
            )));
        }
        Ok(Self { code, sources, closed: Vec::new() })
    }

    /// Takes out the points that proofs show to be unreachable.
    ///
    /// # Errors
    /// The block does not describe a profile.
    pub fn close(
        &mut self,
        info: &'static BlockInfo,
        profiles: &[Profile],
        files: &[(String, Arc<AnswerRecord>)],
    ) -> Result<(), Error> {
        if files.is_empty() {
            return Ok(());
        }
        let mut database = Database::new(info, profiles)?;
        database.code = std::mem::take(&mut self.code);
        let used = files.iter().map(|(name, file)| file.apply_to(name, &mut database));
        self.closed = used.collect();
        self.code = database.code;
        Ok(())
    }
}
