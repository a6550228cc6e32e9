//! What is counted of the RTL's code in a run, if it is.

use crate::coverage::code::{Code, Point, Sources, Waivers};
use crate::engine::{Action, AnyBlock, Opening, Task};
use crate::error::Error;
use crate::models::Examined;
use crate::worker::Desk;
use std::collections::BTreeMap;

/// What is counted of the RTL's code.
pub(super) struct Counted {
    /// By RTL and profile.
    pub code: BTreeMap<(String, String), Code>,
    /// The RTL's text.
    pub sources: Sources,
}

impl Counted {
    /// What the models of a run count. Waivers of a block are about its own RTL; of another one they waive what is alike.
    ///
    /// # Errors
    /// What is wrong with the block's waivers, or with a model.
    pub fn new(
        block: &dyn AnyBlock,
        desk: &Desk,
        opening: &Opening,
        examined: &Examined,
        is_own: bool,
    ) -> Result<Self, Error> {
        let waivers = block.waivers().map(Waivers::read).transpose()?.unwrap_or_default();
        let mut all = Vec::new();
        for (profile, model) in &opening.models {
            let (block, profile) = (opening.block.clone(), profile.clone());
            let task = Task { block, profile, model: model.clone(), action: Action::Points };
            all.push(desk.have::<Vec<Point>>(task)?.done()?);
        }
        let sources = Sources::new(&examined.texts, &all);
        let (mut code, mut stale) = (BTreeMap::new(), Vec::new());
        for ((profile, _), mut points) in opening.models.iter().zip(all) {
            sources.rename(&mut points);
            let mut of_profile = Code { points, waived: BTreeMap::new() };
            stale.extend(waivers.apply(profile, &mut of_profile, &sources));
            code.insert((examined.identity.clone(), profile.clone()), of_profile);
        }
        if is_own && !stale.is_empty() {
            let stale = stale.join("\n  ");
            return Err(Error::Usage(format!(
                "what block {} says that nothing of its RTL reaches is not there; take it out, or say where it is now:\n  {stale}",
                block.name()
            )));
        }
        Ok(Self { code, sources })
    }
}
