//! What all pages for people have in common: style, script and escaping.

use crate::error::Error;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Serialize;

const STYLE: &str = include_str!("../../templates/page.css");
const SCRIPT: &str = include_str!("../../templates/page.js");

/// The page that a template is for what it shows; `style` and `script` are there for every template.
///
/// # Errors
/// [`Error::Environment`] if the template does not take what it is given.
pub fn render(name: &str, template: &str, page: &impl Serialize) -> Result<String, Error> {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_trim_blocks(true);
    templates.set_lstrip_blocks(true);
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    for (name, text) in [("style", STYLE), ("script", SCRIPT)] {
        templates.add_global(name, Value::from_safe_string(text.to_owned()));
    }
    templates
        .render_named_str(name, template, page)
        .map_err(|error| Error::Environment(format!("{name}: {error:#}")))
}
