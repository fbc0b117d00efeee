//! The chat pane: the transcript with its citations as links, the state of the running turn, and the composer.

mod actions;
mod activity;
mod message;
mod plan;
mod reading;
mod steps;
mod tool_card;
mod transcript;

use ratatui::widgets::{Block, Borders};
use rhumb_session::context::Mode;

use self::reading::NEW_LINES_ROW;
use self::transcript::TranscriptView;
use super::composer::completion::{self, Popup};
use super::mouse;
use super::widget::diff_lines::state_span;
use super::widget::{file_preview, meter};
use crate::tui::prelude::*;

pub(super) use self::message::run_state_mark;
pub use self::reading::ChatPane;
pub use self::transcript::{ChatCache, VisibleStop};

/// Maximum width of text. Longer lines are hard to read, however wide the pane is.
const MAX_TEXT_COLUMNS: u16 = 120;

/// Lines of the transcript that stay visible beside a question, which usually refers to them. A question that would
/// leave fewer is shown as one line, and is opened to be answered.
const MIN_TRANSCRIPT_LINES: usize = 6;

/// With fewer lines for the transcript and the plan, the plan is not shown.
const MIN_LINES_BELOW_PLAN: usize = 4;

/// Columns of the rule above the composer that the line about passages leaves for the mode and the count of hidden lines.
const MIN_RULE_COLUMNS: usize = 12;

/// Draws the pane. The scroll position is a distance from the end. While the user has scrolled up, new lines are added to the
/// distance, so that the visible text does not move.
pub fn draw(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let inner = pane_block(app, frame, area, Pane::Chat, &note(app));
    if inner.is_empty() {
        return;
    }
    let columns = inner.width;
    let max_rows = (app.layout.screen.1 / 3).min(inner.height / 2).max(1);
    let rows = app.composer.height(columns.saturating_sub(2), max_rows);
    let mut status = activity::lines(app, columns);
    let spare = usize::from(inner.height.saturating_sub(rows + 1)).saturating_sub(status.len());
    let plan_items = cache.chat.plan.items(&app.session);
    let plan = plan::lines(plan_items, columns, max_plan_lines(app, inner.height, spare), app.theme());
    let question = app.session.questions().first();
    let mut has_whole_question = false;
    if let Some(question) = question {
        let (lines, is_whole) = activity::question(question, app, columns, spare.saturating_sub(plan.len()));
        status.extend(lines);
        has_whole_question = is_whole;
    }
    let [pinned, transcript, below, composer] = Layout::vertical([
        Constraint::Length(cells(plan.len())),
        Constraint::Fill(1),
        Constraint::Length(cells(status.len())),
        Constraint::Length(rows + 1),
    ])
    .areas(inner);
    frame.render_widget(Paragraph::new(plan), pinned);
    let readable = Rect { width: transcript.width.min(MAX_TEXT_COLUMNS), ..transcript };
    draw_transcript(app, cache, frame, readable);
    if let Some((from, to)) = app.mouse.selection() {
        let style = app.theme().style(Role::Selection);
        cache.selected = mouse::mark(frame.buffer_mut(), readable, from, to, style);
    }
    if usize::from(below.height) >= status.len() {
        cache.question = question.filter(|_| has_whole_question).cloned();
    }
    frame.render_widget(Paragraph::new(status), below);
    if let Some(column) = activity::search_cursor(app, below.width).filter(|_| !below.is_empty()) {
        frame.set_cursor_position((below.x + column.min(below.width - 1), below.y));
    }
    let news = new_lines_title(app, cache);
    if news.is_some() {
        cache.hits.add(Rect { height: 1, ..composer }, Hit::Row(Pane::Chat, NEW_LINES_ROW));
    }
    cache.hits.add(draw_composer(app, news, frame, composer), Hit::Composer);
    let available = Rect { height: composer.y.saturating_sub(inner.y), ..inner };
    if let Some(popup) = app.completion.popup().filter(|_| app.focus == Pane::Chat && app.overlays.is_empty()) {
        draw_completion(app, popup, cache, frame, available);
    }
}

/// The note in the title of the pane.
fn note(app: &App) -> String {
    if app.chat.reading.on {
        format!("reading; {} returns to the composer", app.keys.first(Action::Escape))
    } else if app.chat.from_bottom > 0 {
        format!("scrolled; {} goes to the end", app.keys.first(Action::ScrollToEnd))
    } else if app.session.is_watching() {
        "watching AI! comments".to_owned()
    } else {
        String::new()
    }
}

/// Maximum number of lines of the plan, if it shares `spare` lines of the pane with the transcript.
fn max_plan_lines(app: &App, height: u16, spare: usize) -> usize {
    let most = if app.session.questions().is_empty() { usize::from(height) / 3 } else { 1 };
    most.min(spare.saturating_sub(MIN_TRANSCRIPT_LINES)).max(usize::from(spare >= MIN_LINES_BELOW_PLAN))
}

/// Draws the completion list and, if there is space, a preview of the selected candidate.
fn draw_completion(app: &App, popup: &Popup, cache: &mut ViewCache, frame: &mut Frame<'_>, available: Rect) {
    let rows: Vec<(&str, &str)> =
        popup.candidates.iter().map(|candidate| (candidate.label.as_str(), candidate.help.as_str())).collect();
    let longest = rows.iter().map(|(name, _)| width::columns(name)).max().unwrap_or(0);
    let (left, right) = completion::part(available, longest);
    let file = popup.file(app.session.paths());
    let words = popup.words();
    let Some(right) = right.filter(|_| file.is_some() || words.is_some()) else {
        return completion::draw(frame, available, &rows, popup.selected, app.theme());
    };
    completion::draw(frame, left, &rows, popup.selected, app.theme());
    let text =
        |text: &str, columns: u16| hanging(&sanitize::visible_line(text), "", columns, app.theme().style(Role::Text));
    if let Some((path, line)) = file {
        // The preview of a short file covers only as much of the transcript as it needs.
        let lines = match app.previews.get(path) {
            Some(Preview::Text(source)) => source.lines().take(usize::from(right.height)).count(),
            _ => 1,
        };
        let inside = completion::frame_of_preview(frame, right, lines, path, app.theme());
        match app.previews.get(path) {
            Some(Preview::Text(source)) => {
                let marked = line.map(file_preview::Marked::line);
                file_preview::draw(frame, inside, (path, source), marked, &mut cache.coloring, app.theme());
            }
            preview => {
                let reason = if let Some(Preview::None(reason)) = preview { reason } else { "reading …" };
                frame.render_widget(Paragraph::new(text(reason, inside.width)), inside);
            }
        }
    } else if let Some((name, says)) = words {
        let lines = text(says, right.width.saturating_sub(2));
        let inside = completion::frame_of_preview(frame, right, lines.len(), name, app.theme());
        frame.render_widget(Paragraph::new(lines), inside);
    }
}

/// Draws the composer. Returns the area of its text.
fn draw_composer(app: &App, news: Option<Line<'_>>, frame: &mut Frame<'_>, area: Rect) -> Rect {
    let focused = app.focus == Pane::Chat && app.overlays.is_empty() && !app.chat.reading.on;
    let role = if focused { Role::BorderFocused } else { Role::Border };
    let mut rule = Block::new().borders(Borders::TOP).border_style(app.theme().style(role));
    let title = match app.session.input_mode() {
        _ if app.chat.reading.rerun.is_some() => format!(" {} ", app.rerun_title().unwrap_or_default()),
        Mode::Code => String::new(),
        Mode::Editor => " the plan, for the editor model ".to_owned(),
        mode => format!(" {mode} "),
    };
    if !title.is_empty() {
        rule = rule.title(Line::styled(title, app.theme().style(Role::Accent)));
    }
    if let Some(mode) = app.composer_mode() {
        rule = rule.title(Line::styled(format!(" {mode} "), app.theme().style(Role::Muted)));
    }
    if let Some(news) = news {
        rule = rule.title(news.right_aligned());
    } else if let Some(passages) = passages_line(app, area.width) {
        rule = rule.title(passages.right_aligned());
    }
    let inner = rule.inner(area);
    let [mark, text] = Layout::horizontal([Constraint::Length(2), Constraint::Fill(1)]).areas(inner);
    frame.render_widget(Line::styled("❯", app.theme().style(Role::Accent)), mark);
    let above = app.composer.draw(frame, text, focused);
    if above > 0 {
        rule = rule.title(Line::styled(format!(" ↑{above} "), app.theme().style(Role::Accent)));
    }
    frame.render_widget(rule, area);
    text
}

fn draw_transcript(app: &App, cache: &mut ViewCache, frame: &mut Frame<'_>, area: Rect) {
    let ViewCache { chat, coloring, .. } = cache;
    let talked = app.session.transcript().iter().any(|entry| !matches!(entry, Entry::Status(_)));
    let mut head = Vec::new();
    if !talked {
        // Notices of the start must not displace the introduction.
        head = if app.chat.welcome { first_start_card(app, area.width) } else { welcome(app, area.width) };
        head.push(Line::default());
    }
    let theme = app.theme();
    let scene = TranscriptView {
        entries: app.session.transcript(),
        theme,
        width: area.width,
        height: area.height,
        thoughts: app.chat.thoughts,
        toggled: &app.chat.reading.toggled,
        remarks: app.chat.citing.remarks(),
        thoughts_key: app.keys.first(Action::ToggleThoughts),
        log_key: app.keys.first(Action::ViewLog),
        read_key: app.keys.first(Action::ReadTranscript),
        focus: app.chat.reading.focus(),
    };
    let mut lines = chat.arrange(head, &scene, coloring, app.chat.from_bottom);
    lay_reading_marks(&mut lines, app, chat, area.width);
    let links = lay_citations(&mut lines, app, chat, usize::from(area.width));
    frame.render_widget(Paragraph::new(lines), area);
    for seen in chat.seen() {
        let rows = cells(seen.rows.start)..cells(seen.rows.end);
        let place = Rect { y: area.y + rows.start, height: rows.end - rows.start, ..area };
        cache.hits.add(place, Hit::Row(Pane::Chat, seen.stop_id.row()));
        if app.chat.reading.on && seen.stop_id == app.chat.reading.stop_id {
            // Drawn on the frame of the pane, which has no text to cover. The cursor must be visible without colours, too.
            for y in place.y..place.bottom() {
                let mark = if y == place.y { "▸" } else { "▌" };
                if let Some(cell) = frame.buffer_mut().cell_mut((area.x.saturating_sub(1), y)) {
                    cell.set_symbol(mark).set_style(theme.style(Role::Accent));
                }
            }
        }
    }
    for link in links {
        let y = area.y.saturating_add(cells(link.row));
        let width = cells(link.columns.end - link.columns.start);
        let place = Rect { x: area.x.saturating_add(cells(link.columns.start)), y, width, height: 1 };
        cache.hits.add(place.intersection(area), Hit::Citation(link.entry, link.citation));
        if link.unsigned
            && let Some(cell) = frame.buffer_mut().cell_mut((area.x.saturating_sub(1), y))
        {
            cell.set_symbol("⚠").set_style(theme.style(Role::Warning));
        }
    }
}

/// The passages of an earlier `@codebase` question that are still sent, and the key that drops them.
fn passages_line(app: &App, width: u16) -> Option<Line<'static>> {
    let (passages, tokens) = app.session.kept_passages()?;
    let (passages, tokens) = (count(passages, "passage"), meter::tokens(tokens as u64));
    let drop = match app.keys.first(Action::DropPassages) {
        "" => "/passages drop".to_owned(),
        key => format!("{key} drops"),
    };
    let lines = [
        format!(" still sending {passages} ({tokens}) · {drop} "),
        format!(" {passages} ({tokens}) · {drop} "),
        format!(" {tokens} passages "),
    ];
    // The other titles of the rule need some space as well.
    let available = usize::from(width).saturating_sub(MIN_RULE_COLUMNS);
    let line = lines.into_iter().find(|line| width::columns(line) <= available)?;
    Some(Line::styled(line, app.theme().style(Role::Warning)))
}

/// The number of new lines below the view. It is part of the composer's border, so that no text moves.
fn new_lines_title(app: &App, cache: &ViewCache) -> Option<Line<'static>> {
    let news = cache.chat.news;
    if cache.chat.from_bottom == 0 || news == 0 {
        return None;
    }
    let noun = if news == 1 { "line" } else { "lines" };
    Some(Line::styled(format!(" ↓ {news} new {noun} "), app.theme().style(Role::Badge)))
}

/// The introduction of an empty chat, with the current keys.
fn lead(app: &App) -> String {
    let key = |action: Action| match app.keys.first(action) {
        "" => format!("/{}", action.info().name),
        key => key.to_owned(),
    };
    let rows = |rows: &[(String, String)]| {
        let left = rows.iter().map(|(key, _)| width::columns(key)).max().unwrap_or(0);
        let row = |(key, text): &(String, String)| format!("{key}{}  {text}", " ".repeat(left - width::columns(key)));
        rows.iter().map(row).collect::<Vec<_>>().join("\n")
    };
    match app.session.connection() {
        Connection::None => {
            let connect = ("/connect".to_owned(), "enter a key, or pick a model server on this machine".to_owned());
            let copy = (key(Action::CopyPrompt), "copy the whole prompt, to paste into any chat".to_owned());
            let paste = (key(Action::PasteReply), "paste the reply here and review it hunk by hunk".to_owned());
            let lacking = app.session.missing_model().map(sanitize::visible_line);
            let why = lacking
                .map_or_else(|| "No model is connected".into(), |lacking| format!("{lacking}: no model is connected"));
            format!(
                "{why}. Map, context and review work without one:\n\n{}\n\n\
                 Or start with --base-url URL --model NAME, and the key in RHUMB_API_KEY.",
                rows(&[connect, copy, paste])
            )
        }
        Connection::Demo => {
            let (yes, no) = (key(Action::Accept), key(Action::Reject));
            let steps = [
                (key(Action::Send), "sends the message below; watch the reply stream in".to_owned()),
                (key(Action::Send), format!("again goes to the review: {yes} accepts a hunk, {no} rejects it")),
                (key(Action::Write), "writes what you accepted, and nothing else".to_owned()),
            ];
            let place = "This is the demo: a sample repository in a temporary folder and recorded replies.";
            format!("{place}\n\n{}", rows(&steps))
        }
        Connection::Remote { .. } => format!(
            "Say what to change. {} adds files to the chat; of the rest the model sees the repo map.\n\
             Nothing is written before you have accepted it in the review.",
            key(Action::PickFile)
        ),
    }
}

fn welcome(app: &App, width: u16) -> Lines {
    let theme = app.theme();
    let lead = lead(app);
    let mut lines = vec![Line::styled("rhumb", theme.style(Role::Title)), Line::default()];
    let columns = width.saturating_sub(2).max(8);
    lines.extend(lead.lines().flat_map(|line| hanging(line, "  ", columns, theme.style(Role::Muted))));
    lines
}

/// Columns of the labels at the left.
const LEFT: usize = 10;

pub fn first_start_card(app: &App, columns: u16) -> Lines {
    let columns = usize::from(columns);
    let theme = app.theme();
    // The card and the composer must fit on a screen of 24 lines.
    let mut lines = vec![Line::styled("Welcome to rhumb. Any key begins.", theme.style(Role::Title))];
    let mut row = |left: &str, text: &str, role: Role| {
        let left = width::clip(left, LEFT).into_owned();
        let pad = (LEFT + 1).saturating_sub(width::columns(&left));
        let available = columns.saturating_sub(LEFT + 1).max(8);
        let mut pieces = wrap::wrap(text, available).into_iter().filter_map(|range| text.get(range));
        let first = pieces.next().unwrap_or_default().to_owned();
        let head = Span::styled(left + &" ".repeat(pad), theme.style(role));
        lines.push(Line::from(vec![head, Span::styled(first, theme.style(Role::Text))]));
        let below = |piece: &str| Line::styled(" ".repeat(LEFT + 1) + piece, theme.style(Role::Text));
        lines.extend(pieces.map(below));
    };
    for (pane, text) in [
        (Pane::Chat, "your messages, and the answers and edits"),
        (Pane::Map, "the files that matter for your message, best first"),
        (Pane::Context, "the parts of the next request, and their tokens"),
        (Pane::Review, "each change, to accept or reject before it is written"),
    ] {
        row(pane.title(), text, Role::Accent);
    }
    row("model", &model_line(app), Role::Accent);
    let keys = [
        (Action::Send, "sends"),
        (Action::FocusNext, "next pane"),
        (Action::NextMode, "mode"),
        (Action::PickFile, "adds files"),
        (Action::Palette, "all actions and commands"),
        (Action::Help, "help"),
    ];
    let named = keys.iter().map(|(action, text)| (app.keys.first(*action), text)).filter(|(key, _)| !key.is_empty());
    let named: Vec<String> = named.map(|(key, text)| format!("{key} {text}")).collect();
    row("keys", &named.join(" · "), Role::Accent);
    lines
}

fn model_line(app: &App) -> String {
    match app.session.connection() {
        Connection::Remote { model, host } => {
            sanitize::visible_line(&format!("{model} at {host} answers; /model asks another")).into_owned()
        }
        Connection::Demo => "recorded replies answer in this demo".to_owned(),
        Connection::None => {
            "none yet: /connect takes a key or picks a server on this machine; or /copy-context and /paste".to_owned()
        }
    }
}

/// The sign after a citation without a target.
const SIGN: &str = "⚠";

struct Link {
    row: usize,
    columns: Range<usize>,
    entry: usize,
    citation: usize,
    /// The target does not exist, and there was no space for the sign.
    unsigned: bool,
}

struct Mark<'a> {
    written: &'a str,
    citation: usize,
    style: Style,
    is_nowhere: bool,
}

fn lay_citations(lines: &mut [Line<'static>], app: &App, cache: &ChatCache, columns: usize) -> Vec<Link> {
    let mut links = Vec::new();
    for (start, at, message) in cache.in_view() {
        let Some(entry) = at.checked_sub(1) else { continue };
        let marks = marks(app, entry);
        if marks.is_empty() {
            continue;
        }
        let end = start.saturating_add_unsigned(message.said);
        let row = |row: isize| usize::try_from(row).unwrap_or(0);
        for (number, line) in lines.iter_mut().enumerate().take(row(end)).skip(row(start)) {
            lay_line(line, number, entry, &marks, columns, &mut links);
        }
    }
    links
}

/// The citations of an answer, the longest first, since one may be a prefix of another.
fn marks(app: &App, entry: usize) -> Vec<Mark<'_>> {
    let Some(Entry::Answer(answer)) = app.session.transcript().get(entry) else { return Vec::new() };
    let link = app.theme().style(Role::MarkdownLink).add_modifier(Modifier::UNDERLINED);
    let broken = app.theme().style(Role::Warning).add_modifier(Modifier::CROSSED_OUT);
    let current = app.chat.reading.link_in(entry);
    let all = app.chat.citing.of(entry).iter().enumerate();
    let mut marks: Vec<Mark<'_>> = all
        .filter_map(|(at, citation)| {
            let is_nowhere = app.chat.citing.target(entry, citation).is_broken();
            let style = if is_nowhere { broken } else { link };
            let is_here = current.is_some_and(|current| current.is_same(citation));
            let style = if is_here { style.patch(app.theme().style(Role::Selection)) } else { style };
            Some(Mark { written: answer.text.get(citation.bytes.clone())?, citation: at, style, is_nowhere })
        })
        .collect();
    marks.sort_by_key(|mark| std::cmp::Reverse(mark.written.len()));
    marks.dedup_by_key(|mark| mark.written);
    marks
}

fn lay_line(
    line: &mut Line<'static>,
    row: usize,
    entry: usize,
    marks: &[Mark<'_>],
    available: usize,
    links: &mut Vec<Link>,
) {
    let text = line.to_string();
    let mut found: Vec<(Range<usize>, &Mark<'_>)> = Vec::new();
    for mark in marks {
        for (at, _) in text.match_indices(mark.written) {
            let range = at..at + mark.written.len();
            let is_free = found.iter().all(|(other, _)| other.end <= range.start || range.end <= other.start);
            if is_free && stands_alone(&text, &range) {
                found.push((range, mark));
            }
        }
    }
    if found.is_empty() {
        return;
    }
    found.sort_by_key(|(range, _)| range.start);
    let broken = found.iter().filter(|(_, mark)| mark.is_nowhere).count();
    let fits = line.width() + broken * width::columns(SIGN) <= available;
    let mut shift = 0;
    for (range, mark) in &found {
        let from = width::columns(&text[..range.start]) + shift;
        let signed = mark.is_nowhere && fits;
        let columns = from..from + width::columns(&text[range.clone()]) + usize::from(signed) * width::columns(SIGN);
        shift += usize::from(signed) * width::columns(SIGN);
        let unsigned = mark.is_nowhere && !fits;
        links.push(Link { row, columns, entry, citation: mark.citation, unsigned });
    }
    let styled = |(range, mark): (Range<usize>, &Mark<'_>)| {
        let sign = Style { add_modifier: Modifier::empty(), ..mark.style };
        (range, mark.style, (mark.is_nowhere && fits).then(|| Span::styled(SIGN, sign)))
    };
    *line = marked(line, &found.into_iter().map(styled).collect::<Vec<_>>());
}

/// Whether a range of a text is delimited: `a.rs:1` is not part of `a.rs:12`.
fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let before = text.get(..range.start).and_then(|before| before.chars().next_back());
    let behind = text.get(range.end..).and_then(|behind| behind.chars().next());
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !before.is_some_and(|c| is_part(c) || matches!(c, '/' | '-' | '.')) && !behind.is_some_and(is_part)
}

fn lay_reading_marks(lines: &mut [Line<'static>], app: &App, cache: &ChatCache, columns: u16) {
    lay_states(lines, app, cache, usize::from(columns));
    if let Some(search) = app.chat.reading.search.as_ref().filter(|_| app.chat.reading.on) {
        let style = app.theme().style(Role::Search);
        for line in lines.iter_mut() {
            let text = line.to_string();
            let ranges: Vec<_> = search.needle.find_iter(&text).map(|found| found.range()).collect();
            if !ranges.is_empty() {
                *line = marked(line, &ranges.into_iter().map(|range| (range, style, None)).collect::<Vec<_>>());
            }
        }
    }
    if !app.chat.reading.on {
        return;
    }
    for seen in cache.seen().into_iter().filter(|seen| seen.stop_id == app.chat.reading.stop_id) {
        for line in lines.iter_mut().take(seen.rows.end).skip(seen.rows.start) {
            *line = under_cursor(std::mem::take(line), columns, app.theme());
        }
    }
}

/// Appends the state of each edit to its card.
fn lay_states(lines: &mut [Line<'static>], app: &App, cache: &ChatCache, columns: usize) {
    for (row, at, message) in cache.in_view() {
        let Some(Entry::Answer(answer)) = at.checked_sub(1).and_then(|at| app.session.transcript().get(at)) else {
            continue;
        };
        for card in &message.cards {
            let at = row.checked_add_unsigned(card.line).and_then(|at| usize::try_from(at).ok());
            let record = answer.edits.iter().find(|record| record.id == card.edit);
            if let Some(line) = at.and_then(|at| lines.get_mut(at))
                && let Some(record) = record
            {
                let space = columns.saturating_sub(line.width());
                line.spans.extend(state_span(app.session.edit_state(record), space, app.theme()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::action::KeyMap;
    use super::super::theme::ColorDepth;
    use super::super::theme::Theme;
    use super::*;
    use rhumb_session::Session;

    #[test]
    fn the_card_names_panes_and_keys_in_force_and_fits_any_width() {
        let (session, effects) = Session::start(Connection::None);
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        let own = [("help".to_owned(), vec!["F12".to_owned()])].into_iter().collect();
        app.keys = KeyMap::with(&own).0;
        let text = |app: &App, columns| {
            first_start_card(app, columns).iter().map(|line| format!("{line}\n")).collect::<String>()
        };
        let shown = text(&app, 70);
        for part in ["review", "repo map", "F12", "/connect", "Any key begins."] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert!(text(&app, 38).lines().all(|line| width::columns(line) <= 38));
    }
}

#[cfg(test)]
mod marks_tests {
    use super::*;

    #[test]
    fn a_place_within_a_longer_one_is_none() {
        let text = "a.rs:1 a.rs:12 b/a.rs:1 (a.rs:1)";
        let alone: Vec<usize> = text
            .match_indices("a.rs:1")
            .filter(|(at, found)| stands_alone(text, &(*at..at + found.len())))
            .map(|(at, _)| at)
            .collect();
        assert_eq!(alone, [0, 25]);
    }
}
