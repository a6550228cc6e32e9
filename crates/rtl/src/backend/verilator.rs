//! Verilator: two values, in models that are linked into the program or compiled at run time.

use super::{Backend, Feature, ModelRequest, RtlModels as _, View};
use crate::models::{OBSERVING_TOP, TARGET, observing_top, ports, verilator};
use cosim_base::error::Error;
use cosim_block::built::Built;
use std::path::PathBuf;
use verilated_build::{Design, LibraryCache, SourceFile};

pub struct Verilator;

impl Backend for Verilator {
    fn build(&self, model: &ModelRequest<'_>) -> Result<Built, Error> {
        match model.view {
            View::Bare | View::Quick if is_linked(model) => Ok(Built::Linked),
            View::Bare | View::Quick | View::Plain | View::Covered => compile(model),
            View::Observed(_) => {
                // Build without the surrounding top first: this reports wrong ports more clearly.
                self.build(&ModelRequest { view: View::Quick, ..model.clone() })?;
                compile(model)
            }
        }
    }

    fn conflict(&self, _: Feature) -> Option<&'static str> {
        None
    }
}

fn is_linked(model: &ModelRequest<'_>) -> bool {
    model.rtl.is_usual() && model.info.rtl.linked(model.parameters).is_some()
}

/// Compiles a model, or finds it in the cache.
fn compile(model: &ModelRequest<'_>) -> Result<Built, Error> {
    let kept = (model.kept)()?;
    let ModelRequest { info, parameters, view, .. } = *model;
    let examined = model.rtl.examined(info)?;
    let mut texts = examined.texts.clone();
    let mut design = Design {
        clock: info.rtl.clock.into(),
        prefix: "Vmodel".to_owned(),
        ..examined.design.clone()
    };
    design.parameters = parameters.verilog(info.rtl.mask_parameter);
    design.parameters.retain(|(name, _)| examined.parameters.contains(name));
    if let View::Observed(tracing) = view {
        let name = PathBuf::from(format!("{OBSERVING_TOP}.sv"));
        let text = observing_top(info, &examined.parameters).into_bytes().into();
        texts.push(SourceFile { name: name.clone(), text });
        design.sources.insert(0, name);
        design.top = OBSERVING_TOP.to_owned();
        design.tracing = tracing;
    }
    design.registered = matches!(view, View::Bare | View::Quick | View::Covered);
    design.coverage = view == View::Covered;
    // Counting or writing waves dominates the run time, so that optimising the rest is not worth
    // the compile time.
    design.quick = matches!(view, View::Covered | View::Observed(_));
    let ports = ports(info);
    let expected = (!matches!(view, View::Observed(_))).then_some(&ports);
    let cache = LibraryCache::new(verilator()?, TARGET, kept);
    let library = match view {
        View::Quick => cache.any_library(&design, &texts, expected),
        _ => cache.library(&design, &texts, expected),
    };
    library.map(|library| Built::library(&library)).map_err(|error| examined.plain(error))
}
