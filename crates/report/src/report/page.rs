//! The frame of all HTML pages: style, script and escaping.

use cosim_base::error::{Error, codes};
use cosim_base::text;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context, escape_formatter};
use serde::Serialize;

const FRAME: &str = include_str!("../../templates/page.html");
const STYLE: &str = include_str!("../../templates/page.css");
const SCRIPT: &str = include_str!("../../templates/page.js");

/// Renders a template with `shown` as its context, as a page with this title.
///
/// # Errors
/// [`Error::Environment`] if the template fails.
pub fn render(title: &str, template: &str, shown: &impl Serialize) -> Result<String, Error> {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_trim_blocks(true);
    templates.set_lstrip_blocks(true);
    templates.set_keep_trailing_newline(true);
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            escape_formatter(out, state, &Value::from(text::lines(text).into_owned()))
        }
        _ => escape_formatter(out, state, value),
    });
    let wrong = |error| Error::Environment(codes::INTERNAL, format!("report.html: {error:#}"));
    let body = templates.render_str(template, shown).map_err(wrong)?;
    let [body, style, script] =
        [body, STYLE.to_owned(), SCRIPT.to_owned()].map(Value::from_safe_string);
    templates.render_str(FRAME, context! { title, style, body, script }).map_err(wrong)
}
