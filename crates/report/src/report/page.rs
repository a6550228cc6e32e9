//! The frame of all HTML pages: header, style, script and escaping.

use cosim_base::error::{Error, codes};
use cosim_base::text;
use minijinja::{
    AutoEscape, Environment, HtmlEscape, UndefinedBehavior, Value, context, escape_formatter,
};
use serde::Serialize;

const FRAME: &str = include_str!("../../templates/page.html");
const PARTS: &str = include_str!("../../templates/parts.html");
const STYLE: &str = include_str!("../../templates/page.css");
const SCRIPT: &str =
    concat!(include_str!("../../templates/page.js"), include_str!("../../templates/inspector.js"));

/// The header of a page, which stays visible.
#[derive(Debug, Default, Serialize)]
pub struct Head {
    pub title: String,
    /// The verdict in one to three words.
    pub verdict: String,
    pub tone: Tone,
    pub heading: String,
    pub about: String,
    /// The most important numbers.
    pub facts: Vec<Fact>,
    pub command: Option<String>,
    pub sections: Vec<Section>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// Everything holds.
    Good,
    /// Something needs attention.
    #[default]
    Open,
    /// Something fails.
    Bad,
}

impl Tone {
    pub fn from_verdict(verdict: &str) -> Self {
        match verdict {
            "PASS" => Self::Good,
            "FAIL" => Self::Bad,
            _ => Self::Open,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct Fact {
    pub value: String,
    pub label: String,
    pub tone: Option<Tone>,
}

impl Fact {
    /// A number without a colour.
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self { value: value.into(), label: label.into(), tone: None }
    }

    /// The same number in a colour, if `is` holds.
    #[must_use]
    pub fn tone(self, tone: Tone, is: bool) -> Self {
        Self { tone: is.then_some(tone), ..self }
    }
}

#[derive(Debug, Serialize)]
pub struct Section {
    pub id: &'static str,
    pub title: &'static str,
    /// A number beside it in the header.
    pub note: String,
}

impl Section {
    pub fn new(id: &'static str, title: &'static str, note: impl Into<String>) -> Self {
        Self { id, title, note: note.into() }
    }
}

/// JSON that may stand in a script element: no character in it can end the element.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Json(#[serde(serialize_with = "unescaped")] String);

impl Json {
    pub fn serialize(value: &impl Serialize) -> Self {
        let json = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        // In JSON these characters occur in strings only.
        let json = text::json(&json).replace('<', "\\u003c").replace('&', "\\u0026");
        Self(json.replace('>', "\\u003e"))
    }
}

fn unescaped<S: serde::Serializer>(json: &str, serializer: S) -> Result<S::Ok, S::Error> {
    Value::from_safe_string(json.to_owned()).serialize(serializer)
}

/// Renders a template with `shown` as its context, as a page with this header.
///
/// # Errors
/// [`Error::Environment`] if the template fails.
pub fn render(head: &Head, template: &str, shown: &impl Serialize) -> Result<String, Error> {
    let wrong = |error| Error::Environment(codes::INTERNAL, format!("report.html: {error:#}"));
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
    templates.add_filter("grouped", |number: u64| grouped(number));
    templates.add_filter("ticks", |text: String| Value::from_safe_string(ticks(&text)));
    templates.add_template("parts", PARTS).map_err(wrong)?;
    let body = templates.render_str(template, shown).map_err(wrong)?;
    let [body, style, script] =
        [body, STYLE.to_owned(), SCRIPT.to_owned()].map(Value::from_safe_string);
    templates.render_str(FRAME, context! { head, style, body, script }).map_err(wrong)
}

/// Text as HTML in which what stands between two backticks is code.
fn ticks(text: &str) -> String {
    let text = text::lines(text);
    let parts: Vec<&str> = text.split('`').collect();
    let mut html = String::new();
    for (place, part) in parts.iter().enumerate() {
        let escaped = HtmlEscape(part).to_string();
        html += &match (place % 2 == 1, place + 1 < parts.len()) {
            (true, true) => format!("<code>{escaped}</code>"),
            (true, false) => format!("`{escaped}"),
            (false, _) => escaped,
        };
    }
    html
}

/// A share in per cent, rounded down: 100 % means all.
pub fn percent(part: u64, all: u64) -> String {
    let thousandths = part.saturating_mul(1000) / all.max(1);
    match thousandths {
        1000 => "100 %".to_owned(),
        _ => format!("{}.{} %", thousandths / 10, thousandths % 10),
    }
}

/// A number with its digits in groups of three, as in `8 800`, by thin spaces that do not break.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && digits.len() > 4 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_cannot_end_its_script_element() {
        let Json(json) = Json::serialize(&["</script><!--", "a & b", "\u{202e}"]);
        assert_eq!(
            json, r#"["\u003c/script\u003e\u003c!--","a \u0026 b","\u202e"]"#,
            "it is escaped"
        );
        let back: Vec<String> = serde_json::from_str(&json).unwrap();
        assert_eq!(back, ["</script><!--", "a & b", "\u{202e}"]);
    }

    #[test]
    fn backticks_mark_code_and_markup_stays_text() {
        assert_eq!(ticks("a `b<c` & `d"), "a <code>b&lt;c</code> &amp; `d");
    }

    #[test]
    fn long_numbers_have_groups() {
        let spaced = |number| grouped(number).replace('\u{202f}', " ");
        assert_eq!([8, 8800, 13_250, 1_234_567].map(spaced), ["8", "8800", "13 250", "1 234 567"]);
    }

    #[test]
    fn a_share_is_100_per_cent_only_if_it_is_all() {
        assert_eq!([percent(2999, 3000), percent(3000, 3000)], ["99.9 %", "100 %"]);
    }
}
