//! The lines between the transcript and the composer: the search, running work, queued messages and the waiting question.

use rhumb_session::{Choice, Question, Subject, TurnStatus};

use super::MIN_TRANSCRIPT_LINES;
use crate::tui::prelude::*;

/// The lines about the search, running work and queued messages.
pub(super) fn lines(app: &App, columns: u16) -> Lines {
    let leave = app.keys.first(Action::Escape);
    let mut lines: Lines = search_line(app, columns).into_iter().collect();
    lines.extend(turn_line(app, columns));
    if app.session.is_compacting() {
        lines.push(running_line(app, "summarising the conversation", &format!(" · {leave} cancels"), columns));
    }
    lines.extend(steering_lines(app, columns));
    lines.extend(queue_lines(app, columns));
    if let Some(page) = &app.session.attachments().page {
        lines.push(running_line(app, &page.status(), &format!(" · {leave} stops"), columns));
    }
    lines.extend(command_line(app, columns));
    lines
}

/// The state of the running turn, and the keys that stop it.
fn turn_line(app: &App, columns: u16) -> Option<Line<'static>> {
    let turn = app.session.turn()?;
    let leave = app.keys.first(Action::Escape);
    // The line of a command of the agent says more than that tools run.
    let command = app.session.processes().status().filter(|_| turn.status == TurnStatus::Tools);
    let is_agent_question = |question: &Question| matches!(question.subject, Subject::Agent(_));
    let state = match &command {
        Some(command) => sanitize::visible_line(command).into_owned(),
        None if turn.status == TurnStatus::Tools && app.session.questions().iter().any(is_agent_question) => {
            "waiting for your answer".to_owned()
        }
        None => turn.status.to_string(),
    };
    let (state, keys) = match app.session.agent_status() {
        Some(agent) if agent.is_pausing => {
            (format!("pausing after this step · {state}"), format!(" · {leave} again stops"))
        }
        Some(_) => (state, format!(" · {leave} pauses")),
        None => (state, format!(" · {leave} cancels")),
    };
    let log = command.map_or_else(String::new, |_| log_key(app));
    Some(running_line(app, &state, &format!("{keys}{log}"), columns))
}

/// The command that runs, unless the line of the turn shows it.
fn command_line(app: &App, columns: u16) -> Option<Line<'static>> {
    let turn = app.session.turn();
    let command = app.session.processes().status();
    let command = command.filter(|_| turn.is_none_or(|turn| turn.status != TurnStatus::Tools))?;
    let stops = if turn.is_some() { String::new() } else { format!(" · {} stops it", app.keys.first(Action::Escape)) };
    Some(running_line(app, &sanitize::visible_line(&command), &format!("{stops}{}", log_key(app)), columns))
}

fn log_key(app: &App) -> String {
    format!(" · {} log", app.keys.first(Action::ViewLog))
}

/// The number of matches, and which one is under the cursor.
fn search_status(app: &App) -> String {
    let Some(search) = app.chat.reading.search.as_ref().filter(|_| app.chat.reading.on) else { return String::new() };
    match search.count(app.chat.reading.stop_id.entry) {
        (_, 0) => " · nowhere".to_owned(),
        (Some(at), count) => format!(" · message {at} of {count}"),
        (None, count) => format!(" · in {count} messages"),
    }
}

/// The column of the cursor in the search prompt. `None` if the prompt is not open.
pub(super) fn search_cursor(app: &App, width: u16) -> Option<u16> {
    let typed = app.chat.reading.typing.as_ref().filter(|_| app.focus == Pane::Chat && app.overlays.is_empty())?;
    let available = usize::from(width).saturating_sub(width::columns(&search_status(app)) + 2);
    let hidden = width::columns(&sanitize::visible_line(typed.text())).saturating_sub(available);
    u16::try_from(1 + typed.cursor_column().saturating_sub(hidden)).ok()
}

fn search_line(app: &App, width: u16) -> Option<Line<'static>> {
    let typed = app.chat.reading.typing.as_ref();
    let search = app.chat.reading.search.as_ref().filter(|_| app.chat.reading.on);
    if typed.is_none() && search.is_none() {
        return None;
    }
    let query = typed.map_or_else(|| search.map_or("", |search| &search.query), |typed| typed.text());
    let query = sanitize::visible_line(query).into_owned();
    let found = search_status(app);
    let key = |action| app.keys.first(action);
    let keys = match typed {
        Some(_) => " · ↑↓ others · Enter keeps · Esc ends".to_owned(),
        None if search.is_some_and(|search| search.count(app.chat.reading.stop_id.entry).1 == 0) => {
            format!(" · {} ends", key(Action::Escape))
        }
        None => format!(
            " · {} {} others · {} ends",
            key(Action::NextMatch),
            key(Action::PreviousMatch),
            key(Action::Escape)
        ),
    };
    let columns = usize::from(width);
    let query = width::clip_start(&query, columns.saturating_sub(width::columns(&found) + 2)).into_owned();
    let available = columns.saturating_sub(width::columns(&query) + width::columns(&found) + 2);
    let keys = if width::columns(&keys) <= available { keys } else { String::new() };
    // Space for the cursor of the terminal.
    let cursor = if typed.is_some() { " " } else { "" };
    Some(Line::from(vec![
        Span::styled("/", app.theme().style(Role::Accent)),
        Span::styled(query, app.theme().style(Role::Text)),
        Span::styled(cursor, app.theme().style(Role::Accent)),
        Span::styled(found, app.theme().style(Role::Warning)),
        Span::styled(keys, app.theme().style(Role::Muted)),
    ]))
}

/// A line about running work, with space for the keys that stop it.
fn running_line(app: &App, status: &str, keys: &str, columns: u16) -> Line<'static> {
    let available = usize::from(columns).saturating_sub(2 + width::columns(keys));
    clipped(&format!("⋯ {}{keys}", width::clip(status, available)), columns, app.theme().style(Role::Muted))
}

/// The messages that the agent gets with the next results.
fn steering_lines(app: &App, columns: u16) -> Lines {
    let steering = app.session.steering();
    let Some(first) = steering.first() else { return Vec::new() };
    let more = match steering.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let goes = format!("{more} · goes with the next result");
    let first = sanitize::visible_line(first.lines().next().unwrap_or_default());
    let available = usize::from(columns).saturating_sub(width::columns(&goes) + 2);
    let first = Span::styled(format!("⧗ {}", width::clip(&first, available)), app.theme().style(Role::Accent));
    vec![Line::from(vec![first, Span::styled(goes, app.theme().style(Role::Muted))])]
}

/// The first queued message and what it waits for.
fn queue_lines(app: &App, columns: u16) -> Lines {
    let queue = app.session.queue();
    let Some(next) = queue.waiting().first() else { return Vec::new() };
    let more = match queue.waiting().len() {
        1 => String::new(),
        waiting => format!(" (and {} more)", waiting - 1),
    };
    let [sends, takes] = [Action::SendQueued, Action::TakeBackQueued].map(|action| app.keys.first(action));
    let keys = if app.session.turn().is_some() {
        format!("waits for the answer · {takes} takes it back")
    } else if app.session.is_compacting() {
        format!("waits for the summary · {takes} takes it back")
    } else if queue.is_held() {
        format!("waits for you · {sends} sends it · {takes} takes it back")
    } else if app.session.questions().first().is_some_and(|question| !question.subject.is_offer()) {
        format!("waits for your answer · {sends} sends it now · {takes} takes it back")
    } else {
        format!("waits for the review · {sends} sends it now · {takes} takes it back")
    };
    let first = sanitize::visible_line(next.text.lines().next().unwrap_or_default()).into_owned();
    let mut lines = vec![clipped(&format!("⧗ {first}{more}"), columns, app.theme().style(Role::Accent))];
    lines.extend(hanging(&keys, "  ", columns.saturating_sub(2), app.theme().style(Role::Muted)));
    lines
}

/// A question and whether it is shown in full: if that leaves enough of `spare` lines for the transcript. Otherwise it is one line.
pub(super) fn question(question: &Question, app: &App, columns: u16, spare: usize) -> (Lines, bool) {
    let lines = question_lines(question, app, columns);
    if lines.len() == 1 || (!app.chat.reading.on && spare >= lines.len() + MIN_TRANSCRIPT_LINES) {
        (lines, true)
    } else {
        (vec![folded_question(question, app, columns)], false)
    }
}

fn question_lines(question: &Question, app: &App, columns: u16) -> Lines {
    // The model writes the answers to its questions.
    let label = |choice: &Choice| format!("Alt-{} {}", choice.key, sanitize::visible_line(&choice.label));
    let choices: Vec<String> = question.choices.iter().map(label).collect();
    let title = format!("? {}", sanitize::visible_line(&question.title));
    let mut lines = hanging(&title, "", columns, app.theme().style(Role::Warning));
    let takes_enter = app.composer.is_empty() && app.question_on_enter().is_some();
    let opens = if takes_enter { format!(" · {} shows more", app.keys.first(Action::Send)) } else { String::new() };
    let choices = format!("{}{opens}", choices.join(" · "));
    lines.extend(hanging(&choices, "  ", columns.saturating_sub(2), app.theme().style(Role::Key)));
    let follow = app.session.following_questions();
    if !follow.is_empty() {
        let line = format!("  {}", sanitize::visible_line(&follow));
        lines.push(clipped(&line, columns, app.theme().style(Role::Muted)));
    }
    lines
}

/// One line that reports a waiting question and the key that opens it. The keys of its answers open it, too, because the
/// question is not shown in full.
fn folded_question(question: &Question, app: &App, columns: u16) -> Line<'static> {
    let takes_enter =
        app.focus == Pane::Chat && !app.chat.reading.on && app.composer.is_empty() && app.question_on_enter().is_some();
    let key = match question.choices.first().filter(|_| !takes_enter) {
        Some(choice) => format!("Alt-{}", choice.key),
        None => app.keys.first(Action::Send).to_owned(),
    };
    let way_in = format!(" · {key} opens it");
    let available = usize::from(columns).saturating_sub(width::columns(&way_in));
    let title = format!("? {}", sanitize::visible_line(&question.title));
    let follow = app.session.following_questions();
    let follow = if follow.is_empty() { follow } else { format!(" · {}", sanitize::visible_line(&follow)) };
    let line = format!("{}{way_in}{follow}", width::clip(&title, available));
    clipped(&line, columns, app.theme().style(Role::Warning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_session::{ProcessSubject, Session};

    #[test]
    fn a_question_names_the_key_in_force_that_opens_it() {
        let (session, effects) = Session::start(Connection::None);
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        app.keys = KeyMap::with(&[("send".to_owned(), vec!["F12".to_owned()])].into()).0;
        let subject = Subject::Process(ProcessSubject::Run("make".into()));
        let choices = vec![Choice::new('y', "yes")];
        let question = Question { subject, title: "Run make?".into(), text: String::new(), choices };
        app.session.questions_mut().push_back(question.clone());
        let text: String = question_lines(&question, &app, 80).iter().map(Line::to_string).collect();
        assert!(text.contains("F12 shows more"), "{text}");
    }
}
