//! HTML as Markdown: the title and the main text, with headings, lists, code, tables and links; nothing of what only a
//! browser needs.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use htmd::element_handler::{HandlerResult, Handlers};
use htmd::options::{BulletListMarker, HrStyle, Options};
use htmd::{Element, HtmlToMarkdown};
use url::Url;

use super::depth::nesting;

/// What nobody reads: scripts, ornaments, menus and forms.
const DROPPED: [&str; 24] = [
    "script", "style", "noscript", "template", "nav", "svg", "canvas", "iframe", "object", "embed", "audio", "video",
    "form", "button", "input", "select", "textarea", "footer", "aside", "dialog", "map", "math", "link", "meta",
];

/// The deepest nesting that is walked as a tree. No page that people write comes near it.
const DEEPEST: usize = 1_000;
/// The stack for walking it, in bytes: some 20 kB for each level, which is several times what is needed.
const STACK: usize = 32 * 1024 * 1024;
/// How long making Markdown may take. Pages take milliseconds; what is made to take long takes for ever.
const PATIENCE: Duration = Duration::from_secs(15);

/// A main part that is shorter is taken only if it is a good part of the page, …
const SHORT: usize = 400;
/// … at least one in so many characters.
const SHARE: usize = 4;

/// A page as Markdown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Converted {
    /// Its title; may be empty.
    pub(super) title: String,
    /// Its text.
    pub(super) text: String,
}

/// `html` as Markdown; links are made whole from `base`. An error says why it cannot be.
pub(super) fn to_markdown(html: String, base: &str) -> Result<Converted, String> {
    if nesting(&html) > DEEPEST {
        return Ok(Converted { title: String::new(), text: without_tags(&html) });
    }
    let base = Url::parse(base).ok();
    let (sender, receiver) = sync_channel(1);
    let work = move || drop(sender.send(convert(&html, base)));
    std::thread::Builder::new().stack_size(STACK).spawn(work).map_err(|error| error.to_string())?;
    match receiver.recv_timeout(PATIENCE) {
        Ok(converted) => converted,
        Err(RecvTimeoutError::Timeout) => Err(format!("it is still not done after {} s", PATIENCE.as_secs())),
        Err(RecvTimeoutError::Disconnected) => Err("its HTML is broken beyond help".into()),
    }
}

/// What was met while walking the page.
#[derive(Default)]
struct Met {
    title: String,
    mains: Vec<String>,
    articles: Vec<String>,
}

fn convert(html: &str, base: Option<Url>) -> Result<Converted, String> {
    let met: Arc<Mutex<Met>> = Arc::default();
    let all = converter(&met, base).convert(html).map_err(|error| error.to_string())?;
    let Met { title, mains, articles } = std::mem::take(&mut *met.lock().unwrap_or_else(PoisonError::into_inner));
    let is_main = |part: &&String| part.len() >= SHORT || part.len() * SHARE >= all.len();
    let longest = mains.iter().max_by_key(|part| part.len()).filter(is_main);
    let only = articles.first().filter(|_| articles.len() == 1).filter(is_main);
    let text = longest.or(only).unwrap_or(&all);
    Ok(Converted { title: one_line(&title), text: tidy(text) })
}

fn converter(met: &Arc<Mutex<Met>>, base: Option<Url>) -> HtmlToMarkdown {
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        hr_style: HrStyle::Dashes,
        ..Options::default()
    };
    let keep = |put: fn(&mut Met, String)| {
        let met = Arc::clone(met);
        move |handlers: &dyn Handlers, element: Element<'_>| {
            let inner = handlers.walk_children(element.node).content;
            put(&mut met.lock().unwrap_or_else(PoisonError::into_inner), inner.clone());
            Some(HandlerResult::from(format!("\n\n{inner}\n\n")))
        }
    };
    let title = {
        let met = Arc::clone(met);
        move |handlers: &dyn Handlers, element: Element<'_>| {
            let inner = handlers.walk_children(element.node).content;
            let title = &mut met.lock().unwrap_or_else(PoisonError::into_inner).title;
            if title.is_empty() {
                *title = inner;
            }
            None
        }
    };
    HtmlToMarkdown::builder()
        .options(options)
        // What is for browsers without scripts is mostly a note to get another browser.
        .scripting_enabled(true)
        .skip_tags(DROPPED.to_vec())
        .add_handler(vec!["title"], title)
        .add_handler(vec!["main"], keep(|met, part| met.mains.push(part)))
        .add_handler(vec!["article"], keep(|met, part| met.articles.push(part)))
        .add_handler(vec!["img"], |_: &dyn Handlers, element: Element<'_>| picture(&element))
        .add_handler(vec!["a"], move |handlers: &dyn Handlers, element: Element<'_>| {
            let inner = handlers.walk_children(element.node).content;
            Some(link(&inner, attribute(&element, "href").as_deref(), base.as_ref()).into())
        })
        .build()
}

fn attribute(element: &Element<'_>, name: &str) -> Option<String> {
    element.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| attribute.value.to_string())
}

/// A picture is the words that stand for it.
fn picture(element: &Element<'_>) -> Option<HandlerResult> {
    let alt = attribute(element, "alt").map(|alt| one_line(&alt)).filter(|alt| !alt.is_empty())?;
    Some(format!("[picture: {alt}]").into())
}

/// A link with its whole address; its text alone where it leads nowhere that could be read.
fn link(inner: &str, href: Option<&str>, base: Option<&Url>) -> String {
    let text = inner.trim();
    let target = href.filter(|href| !href.trim_start().starts_with('#')).and_then(|href| match base {
        Some(base) => base.join(href.trim()).ok(),
        None => Url::parse(href.trim()).ok(),
    });
    let target = target.filter(|url| matches!(url.scheme(), "http" | "https" | "mailto"));
    match target {
        // The sign beside a heading, and links around whole blocks, are no use as links.
        Some(_) if text.is_empty() || matches!(text, "¶" | "#" | "§" | "🔗") => String::new(),
        Some(url) if !text.contains("\n\n") => {
            let (before, after) = (leading_space(inner), trailing_space(inner));
            format!("{before}[{}]({}){after}", one_line(text), url.as_str().replace('(', "%28").replace(')', "%29"))
        }
        _ => inner.to_owned(),
    }
}

fn leading_space(text: &str) -> &'static str {
    if text.starts_with(char::is_whitespace) { " " } else { "" }
}

fn trailing_space(text: &str) -> &'static str {
    if text.ends_with(char::is_whitespace) { " " } else { "" }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Without spaces at the ends of lines, and with one blank line at a time.
fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut blank = true;
    for line in text.lines().map(str::trim_end) {
        if !(line.is_empty() && blank) {
            tidy.push_str(line);
            tidy.push('\n');
        }
        blank = line.is_empty();
    }
    tidy.truncate(tidy.trim_end().len());
    tidy
}

/// The text between the tags, for pages whose tree is too deep to be walked.
fn without_tags(html: &str) -> String {
    let mut text = String::new();
    for piece in html.split('<') {
        let after = piece.split_once('>').map_or(piece, |(_, after)| after);
        let after = after.trim();
        if !after.is_empty() {
            text.push_str(after);
            text.push('\n');
        }
    }
    tidy(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn markdown(html: &str) -> Converted {
        to_markdown(html.to_owned(), "https://example.com/docs/page.html").unwrap()
    }

    #[test]
    fn a_page_is_its_title_and_its_main_text() {
        let page = markdown(
            "<!doctype html><html><head><title> Tides &amp;\n harbours </title><style>p{}</style></head><body>\
             <nav><a href=/>Home</a></nav><header>Site</header><main><h1>Tides</h1>\
             <p>They <b>rise</b> and fall, see <a href='../api/tide.html#x'>the API</a>.</p>\
             <script>alert('no')</script><ul><li>north<li>south</ul>\
             <pre><code class='language-python'>def tide():\n    return 4\n</code></pre>\
             <img src=a.png alt='a chart'><svg><text>no</text></svg></main><footer>© nobody</footer></body></html>",
        );
        assert_eq!(page.title, "Tides & harbours");
        assert_eq!(
            page.text,
            "# Tides\n\nThey **rise** and fall, see [the API](https://example.com/api/tide.html#x).\n\n- north\n- south\n\n\
             ```python\ndef tide():\n    return 4\n```\n\n[picture: a chart]"
        );
    }

    #[test]
    fn a_page_without_a_main_part_is_read_whole() {
        let page = markdown("<h1>A</h1><p>one</p><article><p>x</p></article><article><p>y</p></article>");
        assert_eq!(page.text, "# A\n\none\n\nx\n\ny");
        let page = markdown("<p>before</p><main></main><p>after</p>");
        assert_eq!(page.text, "before\n\nafter");
    }

    #[test]
    fn links_that_lead_nowhere_are_their_text() {
        for (html, wanted) in [
            ("<p><a href='javascript:x()'>run</a></p>", "run"),
            ("<p><a href='#top'>up</a></p>", "up"),
            ("<p><a href='data:text/html,x'>data</a></p>", "data"),
            ("<p>a <a href=/x>\n b </a>c</p>", "a [b](https://example.com/x) c"),
            ("<h2>Head<a href=/docs/page.html#head>¶</a></h2>", "## Head"),
            ("<p><a>bare</a></p>", "bare"),
        ] {
            assert_eq!(markdown(html).text, wanted, "{html}");
        }
    }

    #[test]
    fn a_table_stays_a_table() {
        let page = markdown("<table><tr><th>port<th>metres</tr><tr><td>north<td>4.5</tr></table>");
        assert!(page.text.contains("| north") && page.text.contains("---"), "{}", page.text);
    }

    #[test]
    fn a_page_made_to_break_readers_breaks_nothing() {
        let deep = format!("{}deep water{}", "<div>".repeat(200_000), "</div>".repeat(200_000));
        assert_eq!(markdown(&deep).text, "deep water");
        let stray = format!("{}deep water", "<b></i>".repeat(100_000));
        assert_eq!(markdown(&stray).text, "deep water");
        let allowed = format!("{}deep water", "<div><i>".repeat(DEEPEST / 2));
        assert!(markdown(&allowed).text.contains("deep water"));
        let quotes = format!("{}deep water", "<blockquote>".repeat(DEEPEST));
        assert!(markdown(&quotes).text.contains("deep water"));
        let lists = format!("{}deep water", "<ul><li>".repeat(DEEPEST));
        assert!(markdown(&lists).text.contains("deep water"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_html_becomes_some_text(html in "(<(/?)(p|div|a href=x|ul|li|pre|code|table|tr|td|main|title|b|h1)>|[a-z&;<\"' \n]{0,6}){0,40}") {
            to_markdown(html, "https://example.com/").unwrap();
        }
    }
}
