//! The specification of a block as HTML, with an anchor at the text of each rule.
//!
//! A rule belongs to the table row whose first cell is its name, else to the first place that
//! names it. Markup in the document is shown as text, and links to other files are left out.

use cosim_base::text;
use cosim_harness::harness::BlockInfo;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Serialize)]
pub struct Specification {
    path: &'static str,
    /// HTML from Markdown. It contains no markup of the document's own.
    html: String,
    /// Rules with an anchor, `spec-NAME`.
    #[serde(skip)]
    pub rules: BTreeSet<&'static str>,
}

pub fn read_specification(block: &BlockInfo) -> Option<Specification> {
    let document = block.specification?;
    let names: Vec<&'static str> = block.rules.iter().map(|rule| rule.name).collect();
    let (html, rules) = render(document.text, &names);
    let path = document.path.trim_start_matches("../");
    Some(Specification { path, html, rules })
}

fn render(text: &str, names: &[&'static str]) -> (String, BTreeSet<&'static str>) {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let text = text::lines(text);
    let events: Vec<Event<'_>> = Parser::new_ext(&text, options).collect();
    let mut anchors: BTreeMap<usize, Vec<&'static str>> = BTreeMap::new();
    let places = places(&events, names);
    for (name, place) in &places {
        anchors.entry(*place).or_default().push(name);
    }
    let mut is_empty_cell = false;
    let mut shown = Vec::with_capacity(events.len() + places.len());
    for (place, event) in events.into_iter().enumerate() {
        for name in anchors.get(&place).into_iter().flatten() {
            let anchor = format!("<span class=\"anchor\" id=\"spec-{name}\"></span>");
            shown.push(Event::InlineHtml(anchor.into()));
        }
        let is_empty =
            std::mem::replace(&mut is_empty_cell, matches!(event, Event::Start(Tag::TableCell)));
        match event {
            Event::Html(text) | Event::InlineHtml(text) => shown.push(Event::Text(text)),
            Event::Start(Tag::Link { .. } | Tag::Image { .. })
            | Event::End(TagEnd::Link | TagEnd::Image) => {}
            Event::Start(Tag::Heading { level, .. }) => shown.push(Event::Start(Tag::Heading {
                level: below(level),
                id: None,
                classes: Vec::new(),
                attrs: Vec::new(),
            })),
            Event::End(TagEnd::Heading(level)) => {
                shown.push(Event::End(TagEnd::Heading(below(level))));
            }
            // Wide tables and figures scroll by themselves, also by keyboard.
            Event::Start(Tag::Table(_) | Tag::CodeBlock(_)) => {
                shown.push(Event::InlineHtml(
                    "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"From the specification\">".into(),
                ));
                shown.push(event);
            }
            Event::End(TagEnd::Table | TagEnd::CodeBlock) => {
                shown.push(event);
                shown.push(Event::InlineHtml("</div>".into()));
            }
            // A head without text has no name for a screen reader.
            Event::End(TagEnd::TableCell) if is_empty => {
                shown.push(Event::InlineHtml("<span class=\"hidden\">unnamed</span>".into()));
                shown.push(event);
            }
            event => shown.push(event),
        }
    }
    let mut page = String::new();
    html::push_html(&mut page, shown.into_iter());
    (page, places.into_keys().collect())
}

/// A heading below the section of the page.
fn below(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

/// The event that holds the text of each rule.
fn places(events: &[Event<'_>], names: &[&'static str]) -> BTreeMap<&'static str, usize> {
    let (mut rows, mut others) = (BTreeMap::new(), BTreeMap::new());
    let mut is_first_cell = false;
    for (place, event) in events.iter().enumerate() {
        match event {
            Event::Start(Tag::TableRow) => is_first_cell = true,
            Event::End(TagEnd::TableCell) => is_first_cell = false,
            Event::Text(text) | Event::Code(text) => {
                let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                for word in words {
                    let Some(name) = names.iter().find(|name| **name == word) else { continue };
                    let into = if is_first_cell { &mut rows } else { &mut others };
                    into.entry(*name).or_insert(place);
                }
            }
            _ => {}
        }
    }
    others.extend(rows);
    others
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Block\n\nT1 and T2, see [other](../x.md). <script>alert(1)</script>\n\n\
                        | row | rule |\n|---|---|\n| T2 | stays, not T1 |\n| `T3`, T4 | two |\n";

    #[test]
    fn a_rule_is_anchored_at_its_row_or_where_it_is_first_named() {
        let (page, rules) = render(TEXT, &["T1", "T2", "T3", "T4", "T5"]);
        assert_eq!(rules.into_iter().collect::<Vec<_>>(), ["T1", "T2", "T3", "T4"]);
        let after = |name: &str| {
            let anchor = format!("id=\"spec-{name}\"></span>");
            let (_, rest) = page.split_once(&anchor).unwrap_or_else(|| panic!("{name}: {page}"));
            rest.to_owned()
        };
        assert!(after("T1").starts_with("T1 and T2"));
        assert!(after("T2").starts_with("T2</td>"), "{page}");
        assert!(after("T3").starts_with("<code>T3"), "{page}");
        assert!(after("T4").starts_with(", T4</td>"), "{page}");
        assert_eq!(page.matches("id=\"spec-").count(), 4);
    }

    #[test]
    fn markup_of_the_document_is_text_and_links_are_left_out() {
        let (page, _) = render(TEXT, &[]);
        assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
        assert!(!page.contains("<script") && !page.contains("href"), "{page}");
        assert!(page.contains("<h3>Block</h3>"), "{page}");
    }
}
