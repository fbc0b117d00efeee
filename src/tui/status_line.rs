//! The status line: current work, model, mode, directory, tokens of the next request, cost and pending decisions at the
//! left, keys at the right. Parts with the least weight are shortened or omitted first.

use std::collections::VecDeque;

use rhumb_llm::models::Dollars;
use rhumb_session::context::Mode;
use rhumb_session::{IndexState, SurveyState, find_command, is_command};

use super::widget::meter;
use crate::tui::prelude::*;

const SPINNER: [&str; 4] = ["◴", "◷", "◶", "◵"];
/// The static spinner for reduced motion.
const STILL_SPINNER: &str = "⋯";

/// Milliseconds of one step of the spinner.
pub(super) const TICK: u64 = 250;

/// Elapsed time is shown from this many seconds on.
const MIN_SHOWN_SECONDS: u64 = 2;

/// Maximum width of the model name with its server, and of the place.
const MAX_MODEL_COLUMNS: usize = 44;
const MAX_PLACE_COLUMNS: usize = 40;

const MAX_BRANCH_COLUMNS: usize = 24;

/// With fewer columns than this the left part is empty.
const MIN_LEFT_COLUMNS: usize = 8;

/// Weight of the model name, the most important part.
const MODEL_WEIGHT: u8 = 10;

/// A part at the left; the one with the lowest weight is shortened first.
struct Part {
    weight: u8,
    text: String,
    /// Shorter forms in order, with their weights.
    shorter: VecDeque<(u8, String)>,
    role: Role,
}

pub(super) fn draw(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let theme = app.theme();
    let columns = usize::from(area.width);
    // The keys get the remaining columns, but at least a minimum.
    let limit = (columns * 55 / 100).max(columns.saturating_sub(12).min(40));
    let hint = sanitize::visible_line(app.hint.text());
    // The hint about the last key is more important than the permanent parts.
    let limit = if hint.is_empty() { limit } else { limit.min(columns.saturating_sub(width::columns(&hint) + 2)) };
    let parts = fit(parts(app), limit);
    let left: Vec<Span<'static>> =
        parts.into_iter().map(|part| Span::styled(format!(" {} ", part.text), theme.style(part.role))).collect();
    let used: usize = left.iter().map(Span::width).sum();
    let available = columns.saturating_sub(used + 1);
    let right = if hint.is_empty() {
        keys(app, available)
    } else {
        vec![Span::styled(width::clip(&hint, available).into_owned(), theme.style(Role::Warning))]
    };
    let line = spread(left, right, columns.saturating_sub(1));
    frame.render_widget(Paragraph::new(line).style(theme.style(Role::Status)), area);
}

/// Shortens and omits the parts with the lowest weights until the others fit.
fn fit(mut parts: Vec<Part>, limit: usize) -> Vec<Part> {
    let size = |part: &Part| width::columns(&part.text) + 2;
    while parts.iter().map(size).sum::<usize>() > limit && parts.len() > 1 {
        let least = parts.iter().enumerate().min_by_key(|(_, part)| part.weight).map_or(0, |(at, _)| at);
        match parts.get_mut(least).and_then(|part| Some((part.shorter.pop_front()?, part))) {
            Some((shorter, part)) => (part.weight, part.text) = shorter,
            None => drop(parts.remove(least)),
        }
    }
    if limit < MIN_LEFT_COLUMNS {
        parts.clear();
    }
    if let [last] = parts.as_mut_slice() {
        last.text = width::clip(&last.text, limit.saturating_sub(2)).into_owned();
    }
    parts
}

impl Part {
    fn new(weight: u8, text: String, role: Role) -> Self {
        Self { weight, text, shorter: VecDeque::new(), role }
    }

    fn or(mut self, shorter: impl IntoIterator<Item = (u8, String)>) -> Self {
        self.shorter.extend(shorter);
        self
    }
}

fn parts(app: &App) -> Vec<Part> {
    let session = &app.session;
    let mut parts = Vec::new();
    parts.extend(app.is_working().then(|| Part::new(8, work(app), Role::Warning)));
    parts.push(model(app));
    let mode = session.input_mode();
    parts.extend((mode != Mode::Code).then(|| Part::new(8, mode.to_string(), Role::Accent)));
    parts.extend(agent(app));
    parts.push(place(app));
    parts.extend(reading(app));
    parts.extend(indexing(session.index()));
    if let Some(view) = session.view().filter(|_| !matches!(session.survey(), SurveyState::Reading(..))) {
        let prompt = &view.prompt;
        let role = meter::role(prompt.tokens as u64, prompt.window.max_input() as u64);
        let about = if prompt.exact { "" } else { "~" };
        parts.push(Part::new(7, format!("{about}{} tokens", meter::tokens(prompt.tokens as u64)), role));
    }
    let spent = session.ledger().session().known;
    parts.extend((spent > Dollars::ZERO).then(|| Part::new(5, format!("{spent} spent"), Role::Muted)));
    let counts = session.review().counts();
    let decisions = || format!("✓{} ✗{} ·{}", counts.accepted, counts.rejected, counts.pending);
    parts.extend((counts.total() > 0).then(|| Part::new(6, decisions(), Role::Muted)));
    parts
}

/// The step, the tokens and the cost of the agent loop, each with its cap.
fn agent(app: &App) -> Option<Part> {
    let status = app.session.agent_status()?;
    let step = match status.caps.steps {
        Some(most) => format!("step {}/{most}", status.step),
        None => format!("step {}", status.step),
    };
    let mut words = vec![step.clone()];
    let tokens = meter::tokens(status.tokens);
    words.push(match status.caps.tokens {
        Some(most) => format!("{tokens}/{} tokens", meter::tokens(most)),
        None => format!("{tokens} tokens"),
    });
    match status.caps.dollars {
        Some(most) => words.push(format!("${:.2}/${most:.2}", status.dollars)),
        None if status.dollars > 0.0 => words.push(format!("${:.2}", status.dollars)),
        None => {}
    }
    if status.is_pausing {
        let pausing = |what: &str| format!("{what} · pausing");
        let words = pausing(&words.join(" · "));
        return Some(Part::new(7, words, Role::Warning).or([(9, pausing(&step)), (9, "pausing".to_owned())]));
    }
    Some(Part::new(7, words.join(" · "), Role::Accent).or([(9, step)]))
}

/// The root and the branch; in short only the branch.
fn place(app: &App) -> Part {
    let root = sanitize::visible_line(&app.environment.root);
    let head = sanitize::visible_line(app.session.head());
    if head.is_empty() {
        return Part::new(2, width::clip_start(&root, MAX_PLACE_COLUMNS).into_owned(), Role::Muted);
    }
    let branch = width::clip(&format!("⎇ {head}"), MAX_BRANCH_COLUMNS).into_owned();
    Part::new(2, width::clip_start(&format!("{root} ⎇ {head}"), MAX_PLACE_COLUMNS).into_owned(), Role::Muted)
        .or([(2, branch)])
}

/// The progress of reading the repository, or how much was left out.
fn reading(app: &App) -> Option<Part> {
    let warning = |weight: u8, text: String| Part::new(weight, text, Role::Warning);
    Some(match app.session.survey() {
        SurveyState::Done => return None,
        SurveyState::Reading(..) if app.session.is_stopping() => warning(9, "reading stops …".to_owned()),
        SurveyState::Reading(found, 0) => warning(9, format!("listing files: {}", meter::grouped(found))),
        SurveyState::Reading(read, total) => {
            let (read, total) = (meter::grouped(read), meter::grouped(total));
            warning(7, format!("reading {read} of {total} files")).or([(9, format!("{read}/{total} files"))])
        }
        SurveyState::Partial(read, total) => {
            warning(1, format!("{} of {} files read", meter::grouped(read), meter::grouped(total)))
        }
    })
}

fn indexing(index: &IndexState) -> Option<Part> {
    let words = sanitize::visible_line(&index.progress()?).into_owned();
    Some(match index {
        IndexState::Running(_, _, None) => Part::new(8, words, Role::Muted),
        IndexState::Running(..) => Part::new(6, words, Role::Warning).or([(8, "index waits".to_owned())]),
        _ => Part::new(6, words, Role::Warning).or([(8, "index paused".to_owned())]),
    })
}

impl App {
    pub(super) fn is_working(&self) -> bool {
        self.session.is_busy() || matches!(self.session.survey(), SurveyState::Reading(..))
    }

    pub(super) fn shows_spinner(&self) -> bool {
        self.display.animations && self.is_working() && !self.layout.places.panes.is_empty()
    }
}

fn work(app: &App) -> String {
    let step = app.uptime.now.as_millis() / u128::from(TICK);
    let mark = if app.display.animations { SPINNER[usize::try_from(step % 4).unwrap_or(0)] } else { STILL_SPINNER };
    let seconds = app.uptime.busy_time().as_secs();
    match (seconds / 60, seconds % 60) {
        (0, seconds) if seconds < MIN_SHOWN_SECONDS => mark.to_owned(),
        (0, seconds) => format!("{mark} {seconds} s"),
        (minutes, seconds) => format!("{mark} {minutes} min {seconds} s"),
    }
}

fn model(app: &App) -> Part {
    let (text, shorter) = match app.session.connection() {
        Connection::None => ("no model: copy mode".to_owned(), vec![(MODEL_WEIGHT, "no model".to_owned())]),
        Connection::Demo => ("demo: recorded replies".to_owned(), vec![(MODEL_WEIGHT, "demo".to_owned())]),
        Connection::Remote { model, host } => {
            let model = if model.is_empty() { "no model named" } else { model };
            let model = sanitize::visible_line(model).into_owned();
            let own = model.rsplit('/').next().unwrap_or(&model).to_owned();
            let long = format!("{model} @ {}", sanitize::visible_line(host));
            (width::clip(&long, MAX_MODEL_COLUMNS).into_owned(), vec![(6, model), (MODEL_WEIGHT, own)])
        }
    };
    Part::new(3, text, Role::Accent).or(shorter)
}

fn keys(app: &App, available: usize) -> Vec<Span<'static>> {
    if !app.overlays.is_empty() {
        // The overlay shows its keys itself.
        return Vec::new();
    }
    if let Some(typing) = typing(app) {
        return vec![Span::styled(width::clip(typing, available).into_owned(), app.theme().style(Role::Key))];
    }
    if let Some(commands) = commands(app, available) {
        return vec![Span::styled(commands, app.theme().style(Role::Key))];
    }
    let help = if app.focus == Pane::Chat { Action::Help } else { Action::HelpHere };
    let entry = |info: &ActionInfo| (app.keys.first(info.action), info.title);
    let help = Some(entry(help.info())).filter(|(key, _)| !key.is_empty());
    let size = |(key, title): &(&str, &'static str)| width::columns(key) + width::columns(title) + 3;
    let mut left = available.saturating_sub(help.as_ref().map_or(0, size));
    let first = first_keys(app).into_iter().filter(|(key, _)| !key.is_empty());
    let wanted = first.into_iter().chain(table_keys(app).map(entry));
    let fitting = wanted.take_while(|entry| {
        let fits = size(entry) <= left;
        left = left.saturating_sub(size(entry));
        fits
    });
    let shown: Vec<(&str, &'static str)> = fitting.collect();
    let help = help.filter(|help| size(help) <= available);
    let spans = |(key, title): (&str, &'static str)| {
        [
            Span::styled(key.to_owned(), app.theme().style(Role::Key)),
            Span::styled(format!(" {title}  "), app.theme().style(Role::Muted)),
        ]
    };
    shown.into_iter().chain(help).flat_map(spans).collect()
}

/// Whether Esc would stop reading the repository at the end of the chat.
fn is_reading(app: &App) -> bool {
    matches!(app.session.survey(), SurveyState::Reading(..)) && !app.session.is_stopping() && !app.session.is_busy()
}

fn typing(app: &App) -> Option<&'static str> {
    match app.focus {
        Pane::Review if app.review.is_typing() => Some("Enter stays · ↑↓ other matches · Esc goes back"),
        Pane::Map if app.map.is_typing() => Some("Enter keeps it · ↑↓ move · Esc shows all again"),
        _ => None,
    }
}

/// The most likely actions, which come first.
fn first_keys(app: &App) -> Vec<(&str, &'static str)> {
    let key = |action| app.keys.first(action);
    if app.focus == Pane::Review
        && let Some(index) = app.refused_here()
    {
        let conflict = app.session.review().refused.get(index).is_some_and(rhumb_edit::Outcome::is_conflict);
        let open = (key(Action::OpenHere), if conflict { "resolve" } else { "place by hand" });
        let other = [Action::Reask, Action::Dismiss].into_iter().map(Action::info);
        let other = other.filter(|info| app.why_not(info).is_none());
        let write = app.enabled(Action::Write).then(|| (key(Action::Write), "write"));
        let other = other.map(|info| (key(info.action), info.title));
        return std::iter::once(open).chain(other).chain(write).collect();
    }
    let stop = stops_work(app).then(|| (key(Action::Escape), stop_title(app)));
    stop.into_iter().chain(first_key(app)).collect()
}

/// What Esc does to running work.
fn stop_title(app: &App) -> &'static str {
    match app.session.agent_status() {
        Some(agent) if agent.is_pausing => "stop",
        Some(_) => "pause",
        None => Action::Escape.info().title,
    }
}

fn stops_work(app: &App) -> bool {
    app.focus == Pane::Chat && !app.chat.reading.on && !is_reading(app) && app.enabled(Action::Escape)
}

fn first_key(app: &App) -> Option<(&str, &'static str)> {
    let key = |action| app.keys.first(action);
    match app.focus {
        Pane::Chat if app.chat.reading.on => None,
        Pane::Chat if app.question_on_enter().is_some() && app.composer.is_empty() => {
            Some((key(Action::Send), "question"))
        }
        // Esc first goes to the end of the chat.
        Pane::Chat if is_reading(app) && app.chat.from_bottom > 0 => {
            Some((key(Action::Escape), Action::ScrollToEnd.info().title))
        }
        Pane::Chat if is_reading(app) => Some((key(Action::Escape), "stop reading")),
        Pane::Chat if app.reviewing() && app.composer.is_empty() => Some((key(Action::Send), "review")),
        Pane::Chat if app.reviewing() => Some((key(Action::FocusReview), "review")),
        Pane::Review if app.enabled(Action::Write) => Some((key(Action::Write), "write")),
        _ => None,
    }
}

/// The keys of the pane, then the global ones, in the order of the table.
fn table_keys(app: &App) -> impl Iterator<Item = &'static ActionInfo> + '_ {
    let own = if app.chat.reading.on { Scope::Reading } else { Scope::Pane(app.focus) };
    let scopes = [own, Scope::Global];
    let in_order = scopes.into_iter().flat_map(|scope| ACTIONS.iter().filter(move |info| info.scope == scope));
    // The keys for scrolling and for the ends of a list are easy to guess.
    let shown_elsewhere =
        [Action::Write, Action::Help, Action::FocusReview, Action::ScrollUp, Action::ScrollDown, Action::Newline];
    let is_told = move |action: Action| {
        shown_elsewhere.contains(&action) || (action == Action::Escape && (is_reading(app) || stops_work(app)))
    };
    let has_key = |action: Action| !app.keys.first(action).is_empty();
    let refused = app.focus == Pane::Review && app.refused_here().is_some();
    let is_first =
        move |action: Action| refused && matches!(action, Action::OpenHere | Action::Reask | Action::Dismiss);
    // Keys without an effect on the row under the cursor are omitted.
    let does = move |info: &ActionInfo| info.scope == Scope::Global || app.why_not(info).is_none();
    let is_told = move |action: Action| is_told(action) || is_first(action);
    in_order.filter(move |info| has_key(info.action) && app.enabled(info.action) && !is_told(info.action) && does(info))
}

/// Help for a command that is being typed: how to accept a candidate, its usage, or that the command is unknown.
fn commands(app: &App, available: usize) -> Option<String> {
    if app.focus != Pane::Chat {
        return None;
    }
    if let Some(text) = app.typed_command() {
        return Some(width::clip(&text, available).into_owned());
    }
    if app.completion.popup().is_some() {
        return Some(width::clip("Tab takes it · ↑↓ choose · Esc closes", available).into_owned());
    }
    let typed = app.composer.text();
    let is_name = app.completion.is_empty()
        && is_command(&typed)
        && typed.strip_prefix('/').is_some_and(|name| find_command(name).is_err())
        && !typed.contains(char::is_whitespace);
    is_name.then(|| width::clip("unknown command; /help lists all commands", available).into_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::tui::theme::{ColorDepth, Theme};
    use crate::tui::view::{self, ViewCache};
    use rhumb_session::{Response, Session};

    fn app() -> App {
        let (model, host) = ("anthropic/claude-sonnet-9.1".to_owned(), "openrouter.ai".to_owned());
        let (mut session, effects) = Session::start(Connection::Remote { model, host });
        session.handle(rhumb_session::Response::Head("feature/moorings".into()));
        App::start(session, effects, Theme::plain(ColorDepth::None), "~/src/harbour".into()).0
    }

    fn line(app: &mut App, columns: u16) -> String {
        let mut screen = Terminal::new(TestBackend::new(columns, 24)).unwrap();
        screen.draw(|frame| view::render(app, &mut ViewCache::default(), frame)).unwrap();
        let buffer = screen.backend().buffer();
        (0..columns).map(|x| buffer[(x, 23)].symbol()).collect()
    }

    #[test]
    fn what_matters_least_goes_first_and_the_help_stays() {
        let mut app = app();
        app.session.handle(rhumb_session::Response::Surveyed { note: None });
        let wide = line(&mut app, 200);
        for part in ["anthropic/claude-sonnet-9.1 @ openrouter.ai", "~/src/harbour ⎇ feature", "F1 help"] {
            assert!(wide.contains(part), "{part} in {wide}");
        }
        let middle = line(&mut app, 80);
        assert!(middle.contains("anthropic/claude-sonnet-9.1") && !middle.contains('⎇'), "{middle}");
        for columns in 40..200 {
            let line = line(&mut app, columns);
            assert!(line.contains("claude-sonnet") && line.contains("F1 help"), "{columns}: {line}");
        }
    }

    #[test]
    fn a_warning_that_goes_into_a_chat_nobody_sees_is_told_here() {
        let mut app = app();
        app.focus = crate::tui::action::Pane::Map;
        app.layout.zoomed = true;
        line(&mut app, 100);
        app.session.report(rhumb_session::Level::Warning, "Nothing was written.", "");
        app.handle_response(Response::Head("main".into()));
        assert!(line(&mut app, 100).contains("Nothing was written."));
        app.hint.clear();
        app.handle_response(Response::Head("main".into()));
        assert!(!line(&mut app, 100).contains("Nothing was written."), "once");
    }

    #[test]
    fn while_a_line_is_typed_in_a_list_its_own_keys_are_told() {
        let mut app = app();
        app.focus = crate::tui::action::Pane::Map;
        assert!(!line(&mut app, 120).contains("Esc shows all again"));
        app.map.open_filter();
        let told = line(&mut app, 120);
        assert!(told.contains("Esc shows all again") && !told.contains("close"), "{told}");
    }

    #[test]
    fn reading_says_how_far_it_is_and_what_was_left_out() {
        let mut app = app();
        app.handle_response(Response::SurveyProgress { done: 1_234, total: 10_000 });
        for (columns, text) in [(80, "1,234/10,000 files"), (120, "reading 1,234 of 10,000 files")] {
            let line = line(&mut app, columns);
            assert!(line.contains(text) && line.contains("Esc stop reading"), "{line}");
        }
        app.chat.from_bottom = 5;
        let scrolled = line(&mut app, 120);
        assert!(scrolled.contains("Esc to the end") && !scrolled.contains("stop reading"), "{scrolled}");
        app.handle_response(Response::Unread { unread: 8_000, total: 10_000 });
        app.handle_response(Response::Surveyed { note: None });
        assert!(line(&mut app, 200).contains("2,000 of 10,000 files read"));
    }

    #[test]
    fn the_spinner_turns_with_time_while_there_is_work_and_stands_where_nothing_may_move() {
        let mut app = app();
        app.session.handle(rhumb_session::Response::Surveyed { note: None });
        line(&mut app, 120);
        assert!(!app.shows_spinner() && !line(&mut app, 120).contains(SPINNER[0]));
        app.session.send("go");
        app.news();
        assert!(app.shows_spinner() && line(&mut app, 120).contains(SPINNER[0]));
        app.uptime.now = Duration::from_millis(TICK);
        assert!(line(&mut app, 120).contains(SPINNER[1]));
        app.uptime.now = Duration::from_secs(61);
        assert!(line(&mut app, 120).contains("1 min 1 s"));
        app.display.animations = false;
        assert!(!app.shows_spinner() && line(&mut app, 120).contains(STILL_SPINNER));
        app.display.animations = true;
        line(&mut app, 39);
        assert!(!app.shows_spinner(), "not where nobody sees it");
    }

    #[test]
    fn what_stops_work_comes_before_all_other_keys() {
        let mut app = app();
        app.session.handle(rhumb_session::Response::Surveyed { note: None });
        app.session.send("go");
        app.news();
        for columns in [60, 80, 120] {
            let line = line(&mut app, columns);
            let first = line.find("Esc cancel").unwrap_or_else(|| panic!("{columns}: {line}"));
            assert!(["Alt-r", "Tab", "F1"].iter().all(|key| line.find(key).is_none_or(|at| first < at)), "{line}");
        }
        assert_eq!(line(&mut app, 160).matches("Esc").count(), 1, "once");
    }

    #[test]
    fn a_word_about_the_last_key_has_the_line_where_it_is_short() {
        let mut app = app();
        app.hint.set("this is a hint of thirty-eight columns");
        assert!(line(&mut app, 40).contains(app.hint.text()));
        app.hint.set("x\u{1b}[2J".repeat(100));
        assert!(line(&mut app, 40).contains('…'));
    }
}
