//! The book: the documents of `docs` as one page of HTML.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

const STYLE: &str = "body{font:16px/1.5 sans-serif;max-width:60em;margin:auto;padding:0 1em}\
    pre,table{overflow-x:auto;display:block}pre,code{background:#8882}pre{padding:.5em}\
    td,th{border:1px solid #8888;padding:.2em .5em;text-align:left}table{border-collapse:collapse}\
    article{border-top:1px solid #8888}:root{color-scheme:light dark}";

/// The pages, each with its path below `docs` and its Markdown, as HTML. A link leads to a page or
/// to the web; any other is shown as text.
pub fn html(pages: &[(PathBuf, String)]) -> String {
    let ids: BTreeSet<String> = pages.iter().map(|(path, _)| page_id(path)).collect();
    let mut book = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>cosim</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style>\n"
    );
    for (path, text) in pages {
        let page = page_id(path);
        book += &format!("<article id=\"{page}\">\n");
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        let mut events: Vec<Event<'_>> = Parser::new_ext(text, options).collect();
        let mut links = Vec::new();
        for place in 0..events.len() {
            let heading = title(events.get(place..).unwrap_or_default());
            match &mut events[place] {
                Event::Start(Tag::Heading { id, .. }) => {
                    *id = Some(format!("{page}--{}", anchor(&heading)).into());
                }
                Event::InlineHtml(tag) => {
                    *tag = tag.replace("<a id=\"", &format!("<a id=\"{page}--")).into();
                }
                Event::Start(Tag::Link { dest_url, .. }) => {
                    links.push(target(path, dest_url, &ids));
                    match links.last() {
                        Some(Some(target)) => *dest_url = CowStr::from(target.clone()),
                        _ => events[place] = Event::Text("".into()),
                    }
                }
                Event::End(TagEnd::Link) if links.pop().flatten().is_none() => {
                    events[place] = Event::Text("".into());
                }
                _ => {}
            }
        }
        html::push_html(&mut book, events.into_iter());
        book += "</article>\n";
    }
    book
}

/// The identifier of a page, as in `how-to-ci` for `how-to/ci.md`.
pub fn page_id(path: &Path) -> String {
    path.with_extension("").to_string_lossy().replace('/', "-")
}

/// The text of a heading, which the events begin with.
fn title(events: &[Event<'_>]) -> String {
    let inside = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let texts = inside.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(&**text),
        _ => None,
    });
    texts.collect()
}

/// The anchor of a heading, as forges write it.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|letter| letter.is_alphanumeric() || "-_ ".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Where a link of a page leads, if that is in the book or in the web.
fn target(page: &Path, link: &str, ids: &BTreeSet<String>) -> Option<String> {
    if link.contains("://") {
        return Some(link.to_owned());
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let mut whole = PathBuf::new();
    let other = page.parent()?.join(path);
    for part in if path.is_empty() { page } else { &other }.components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    let id = page_id(&whole);
    let between = if anchor.is_empty() { "" } else { "--" };
    ids.contains(&id).then(|| format!("#{id}{between}{anchor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_of_the_book_or_to_the_web() {
        let a = "# A `b`\n[1](../x/b.md#c-d) [2](#a-b) [3](https://x.org) [4](../../src/main.rs)";
        let pages = [("how/a.md", a), ("x/b.md", "## C, d")];
        let page = html(&pages.map(|(path, text)| (path.into(), text.to_owned())));
        for expected in [
            "<article id=\"how-a\">\n<h1 id=\"how-a--a-b\">A <code>b</code></h1>",
            "<a href=\"#x-b--c-d\">1</a> <a href=\"#how-a--a-b\">2</a>",
            "<a href=\"https://x.org\">3</a> 4</p>",
            "<h2 id=\"x-b--c-d\">",
        ] {
            assert!(page.contains(expected), "{expected} is not in {page}");
        }
    }
}
