//! Converts HTML to Markdown: the title and the main text, with headings, lists, code, tables and links, without parts that
//! only a browser needs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use htmd::element_handler::{HandlerResult, Handlers};
use htmd::options::{BulletListMarker, HrStyle, Options};
use htmd::{Element, HtmlToMarkdown};
use url::Url;

use super::tree::{has_bounded_size, tree};

/// Elements that are skipped: scripts, ornaments, menus and forms.
const SKIPPED_ELEMENTS: [&str; 24] = [
    "script", "style", "noscript", "template", "nav", "svg", "canvas", "iframe", "object", "embed", "audio", "video",
    "form", "button", "input", "select", "textarea", "footer", "aside", "dialog", "map", "math", "link", "meta",
];

/// Stack size of the thread that walks the tree, in bytes: about 64 kB for each level, much more than needed.
const STACK_BYTES: usize = 32 * 1024 * 1024;
/// Maximum number of nested lists and quotes that indent their lines. Deeper levels add no indentation.
const MAX_INDENT_LEVELS: usize = 8;
/// Time limit of the conversion. Pages take milliseconds; malicious pages may take forever.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Minimum length of a main part in characters, unless it is a large share of the page, …
const MIN_MAIN_CHARS: usize = 400;
/// … at least one part in this number.
const MIN_MAIN_SHARE: usize = 4;

/// A page as Markdown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Converted {
    /// The title; may be empty.
    pub(super) title: String,
    /// The text.
    pub(super) text: String,
}

/// Converts `html` to Markdown. Links are resolved against `base`. The error is the reason.
pub(super) fn to_markdown(html: String, base: &str) -> Result<Converted, String> {
    let base = Url::parse(base).ok();
    let cancelled = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = sync_channel(1);
    let flag = Arc::clone(&cancelled);
    let work = move || drop(sender.send(convert(&html, base, &flag)));
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).map_err(|error| error.to_string())?;
    match receiver.recv_timeout(TIMEOUT) {
        Ok(converted) => Ok(converted),
        Err(RecvTimeoutError::Timeout) => {
            // The thread checks the flag and ends.
            cancelled.store(true, Ordering::Relaxed);
            Err(format!("the conversion took longer than {} s", TIMEOUT.as_secs()))
        }
        Err(RecvTimeoutError::Disconnected) => Err("its HTML cannot be parsed".into()),
    }
}

/// The parts of a page that may be its main text.
#[derive(Default)]
struct PageParts {
    title: String,
    /// The longest main part.
    main: String,
    articles: usize,
    /// The first one.
    article: String,
}

fn convert(html: &str, base: Option<Url>, cancelled: &Arc<AtomicBool>) -> Converted {
    let Some(tree) = tree(html, &|| cancelled.load(Ordering::Relaxed)) else {
        return Converted { title: String::new(), text: without_tags(html) };
    };
    let parts: Arc<Mutex<PageParts>> = Arc::default();
    let all = converter(&parts, base, cancelled).tree_to_markdown(&tree);
    let PageParts { title, main, articles, article } =
        std::mem::take(&mut *parts.lock().unwrap_or_else(PoisonError::into_inner));
    let is_main = |part: &&String| part.len() >= MIN_MAIN_CHARS || part.len() * MIN_MAIN_SHARE >= all.len();
    let longest = Some(&main).filter(is_main).filter(|main| !main.is_empty());
    let only = Some(&article).filter(|_| articles == 1).filter(is_main);
    let text = longest.or(only).unwrap_or(&all);
    Converted { title: one_line(&title), text: tidy(text) }
}

fn converter(parts: &Arc<Mutex<PageParts>>, base: Option<Url>, cancelled: &Arc<AtomicBool>) -> HtmlToMarkdown {
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        hr_style: HrStyle::Dashes,
        ..Options::default()
    };
    let collect = |add: fn(&mut PageParts, &str)| {
        let parts = Arc::clone(parts);
        move |handlers: &dyn Handlers, element: Element<'_>| {
            let inner = handlers.walk_children(element.node).content;
            add(&mut parts.lock().unwrap_or_else(PoisonError::into_inner), &inner);
            Some(HandlerResult::from(format!("\n\n{inner}\n\n")))
        }
    };
    let title = {
        let parts = Arc::clone(parts);
        move |handlers: &dyn Handlers, element: Element<'_>| {
            let inner = handlers.walk_children(element.node).content;
            let title = &mut parts.lock().unwrap_or_else(PoisonError::into_inner).title;
            if title.is_empty() {
                *title = inner;
            }
            None
        }
    };
    HtmlToMarkdown::builder()
        .options(options)
        .skip_tags(SKIPPED_ELEMENTS.to_vec())
        .add_handler(vec!["title"], title)
        .add_handler(vec!["main"], collect(add_main))
        .add_handler(vec!["article"], collect(add_article))
        .add_handler(vec!["img"], |_: &dyn Handlers, element: Element<'_>| alternative_text(&element))
        .add_handler(vec!["table"], |handlers: &dyn Handlers, element: Element<'_>| {
            match has_bounded_size(element.node) {
                true => handlers.fallback(element),
                false => Some(handlers.walk_children(element.node)),
            }
        })
        .add_handler(vec!["a"], move |handlers: &dyn Handlers, element: Element<'_>| {
            let inner = handlers.walk_children(element.node).content;
            Some(link(&inner, attribute(&element, "href").as_deref(), base.as_ref()).into())
        })
        .add_handler(vec!["ol", "ul", "li", "blockquote"], limited_indent(cancelled))
        .build()
}

fn add_main(parts: &mut PageParts, part: &str) {
    if part.len() > parts.main.len() {
        parts.main = part.to_owned();
    }
}

fn add_article(parts: &mut PageParts, part: &str) {
    parts.articles += 1;
    if parts.articles == 1 {
        parts.article = part.to_owned();
    }
}

/// Indents lines up to [`MAX_INDENT_LEVELS`] levels. Gives no text after the conversion was cancelled.
fn limited_indent(cancelled: &Arc<AtomicBool>) -> impl Fn(&dyn Handlers, Element<'_>) -> Option<HandlerResult> + use<> {
    let (cancelled, level) = (Arc::clone(cancelled), AtomicUsize::new(0));
    move |handlers: &dyn Handlers, element: Element<'_>| {
        if cancelled.load(Ordering::Relaxed) {
            return None;
        }
        // A list and its items indent once.
        let step = usize::from(matches!(element.tag, "li" | "blockquote"));
        let above = level.fetch_add(step, Ordering::Relaxed);
        let result = match above < MAX_INDENT_LEVELS {
            true => handlers.fallback(element),
            false => Some(HandlerResult::from(format!("\n{}\n", handlers.walk_children(element.node).content.trim()))),
        };
        level.fetch_sub(step, Ordering::Relaxed);
        result
    }
}

fn attribute(element: &Element<'_>, name: &str) -> Option<String> {
    element.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| attribute.value.to_string())
}

/// An image is replaced by its alternative text.
fn alternative_text(element: &Element<'_>) -> Option<HandlerResult> {
    let alt = attribute(element, "alt").map(|alt| one_line(&alt)).filter(|alt| !alt.is_empty())?;
    Some(format!("[picture: {alt}]").into())
}

/// A link with its absolute address; only its text if it has no usable target.
fn link(inner: &str, href: Option<&str>, base: Option<&Url>) -> String {
    let text = inner.trim();
    let target = href.filter(|href| !href.trim_start().starts_with('#')).and_then(|href| match base {
        Some(base) => base.join(href.trim()).ok(),
        None => Url::parse(href.trim()).ok(),
    });
    let target = target.filter(|url| matches!(url.scheme(), "http" | "https" | "mailto"));
    match target {
        // Anchors of headings and links around whole blocks are not useful as links.
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

/// Removes trailing spaces and repeated blank lines.
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

/// The text between the tags, for pages whose tree is too deep.
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
    use super::super::tree::MAX_DEPTH;
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
        let holds = |page: String| {
            let start = page.get(..60).unwrap_or_default().to_owned();
            let text = to_markdown(page, "https://example.com/").unwrap().text;
            assert!(text.contains("deep water"), "{start}: {} bytes", text.len());
        };
        for tag in ["div", "ul", "blockquote", "em", "a", "font", "rt", "rp", "optgroup", "table"] {
            holds(format!("{}deep water{}", format!("<{tag}>").repeat(100_000), format!("</{tag}>").repeat(100_000)));
            holds(format!("{}deep water", format!("<{tag}></i>").repeat(20_000)));
        }
        for tag in ["em", "rt", "div"] {
            let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
            // End tags without start tags.
            for hidden in [
                format!("{open}<!--{close}-->"),
                format!("{open}<i title='{close}'></i>"),
                format!("{open}<textarea>{close}</textarea>"),
                format!("{open}<title>{close}</title>"),
                format!("{open}<script>{close}</script>"),
            ] {
                holds(format!("{}deep water", hidden.repeat(40_000)));
            }
        }
        for dropped in ["svg", "math", "template", "select"] {
            let page = format!("<p>deep water{}", format!("<{dropped}>").repeat(100_000));
            holds(page);
        }
    }

    #[test]
    fn what_indents_and_pads_makes_no_page_of_gigabytes() {
        for open in ["<blockquote>", "<ul><li>", "<ol start=2147483647><li>", "<main>", "<article>"] {
            let page = format!("{}{}deep water", open.repeat(MAX_DEPTH / 4), "a<br>".repeat(20_000));
            let text = markdown(&page).text;
            assert!(text.contains("deep water") && text.len() < 25 * page.len(), "{open}: {}", text.len());
        }
        let row = "<tr><td>a";
        for wide in ["<td>".repeat(2_000), "w".repeat(100_000), format!("<a href='/{}'>x</a>", "w".repeat(100_000))] {
            let page = format!("<table><tr><th>h<td>{wide}{}</table>", row.repeat(5_000));
            assert!(markdown(&page).text.len() < 20 * page.len(), "{}", page.len());
        }
    }

    #[test]
    fn a_long_page_keeps_its_structure() {
        let part = "<section><h2>Tide <code>four</code></h2><p>It is <b>high</b>.</p><ul><li>north<ul><li>pier</ul></ul>\
                    <table><tr><th>port<th>metres<tr><td>north<td>4.5</table></section>";
        let page = markdown(&format!("<main>{}</main>", part.repeat(3_000)));
        assert_eq!(page.text.matches("## Tide `four`").count(), 3_000);
        assert_eq!(page.text.matches("  - pier").count(), 3_000);
        assert_eq!(page.text.matches("| north").count(), 3_000);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_html_becomes_some_text(html in "(<(/?)(p|div|a href=x|ul|li|pre|code|table|tr|td|main|title|b|h1)>|[a-z&;<\"' \n]{0,6}){0,40}") {
            to_markdown(html, "https://example.com/").unwrap();
        }
    }
}
