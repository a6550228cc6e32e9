//! Generates text from templates.

use crate::Error;
use minijinja::{Environment, UndefinedBehavior, Value};

/// Renders a template. A name that the context lacks is an error.
///
/// # Errors
/// [`Error::Template`], with the place in the template.
pub fn render(name: &str, template: &str, context: &Value) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment
        .render_named_str(name, template, context)
        .map_err(|error| Error::Template(format!("{error:#}")))
}
