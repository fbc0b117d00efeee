//! The card of a tool call: one line, and unfolded its change, its output or its result.

use std::borrow::Cow;

use rhumb_agent::{Action, PlanItem, PlanState};
use rhumb_session::{CommandRun, RunState, ToolState, ToolUse};
use rhumb_text::diff;

use super::message::marked;
use super::steps::{OutputOf, action_of};
use super::transcript::TranscriptView;
use crate::tui::prelude::*;
use crate::tui::widget::diff_lines::{self, DiffLine, Gutter, Sign};
use crate::tui::widget::meter;

/// Maximum number of lines below an unfolded card. The viewer has all of them.
pub(super) const MAX_CARD_LINES: usize = 200;

/// Maximum length of a line below a card, in bytes.
const MAX_LINE_BYTES: usize = 2_000;

/// Maximum number of lines of the output of a command: while it runs, and after it has failed.
const LIVE_LINES: usize = 6;
const FAILED_LINES: usize = 3;

/// Calls are shown with their time from this many milliseconds on.
const MIN_SHOWN_MS: u64 = 100;

/// The mark before the lines below a card, which has two columns more than the mark of the card.
const BAR: &str = "  │ ";
const BAR_COLUMNS: usize = 2;

/// A tool call as one line: its state, what it does, and what came of it. With `open`, the lines of [`details`] below it.
pub(super) fn tool_lines(tool: &ToolUse, open: bool, columns: usize, scene: &TranscriptView<'_>) -> Lines {
    let theme = scene.theme;
    let action = action_of(&tool.call);
    let change = action.as_ref().and_then(change_of);
    let mut lines = vec![head(tool, change.as_deref(), columns, theme)];
    if open {
        let columns = columns.saturating_sub(BAR_COLUMNS);
        let mut below = Vec::new();
        if let Some(change) = &change {
            for (sign, text) in change.iter().take(MAX_CARD_LINES) {
                below.extend(change_line(*sign, text, columns, theme));
            }
        } else {
            below.extend(barred(&asked(tool, action.as_ref()), Role::Muted, columns, theme));
        }
        if change.is_none() || tool.state == ToolState::Failed {
            below.extend(barred(&tool.result, Role::Text, columns, theme));
        }
        let more = below.len().saturating_sub(MAX_CARD_LINES);
        below.truncate(MAX_CARD_LINES);
        let missing = more.max(tool.result.lines().count().saturating_sub(MAX_CARD_LINES));
        if missing > 0 {
            let key =
                if scene.read_key.is_empty() { String::new() } else { format!(" ({}, then Enter)", scene.read_key) };
            let text = format!("{BAR}… {}{key}", count(missing, "more line"));
            below.push(clipped(&text, columns, theme.style(Role::Muted)));
        }
        lines.extend(below);
    }
    lines
}

/// The title and the text of the viewer: the whole call and the whole result.
pub(super) fn details(tool: &ToolUse) -> (String, String) {
    let (name, summary) = tool.description();
    let action = action_of(&tool.call);
    let mut text = match action.as_ref().and_then(change_of) {
        Some(change) => change.iter().map(|(sign, text)| format!("{} {text}\n", sign_char(*sign))).collect(),
        None => asked(tool, action.as_ref()),
    };
    if !text.is_empty() && !tool.result.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push_str(&tool.result);
    if text.is_empty() {
        text = format!("{name} {summary}\n\nThere is no result yet.");
    }
    let title = format!("result {}: {name} {summary}", tool.number);
    (sanitize::visible_line(&title).into_owned(), text)
}

/// What is searched and copied as the text of a card: the line, and the result as far as an unfolded card shows it.
pub(super) fn searched(tool: &ToolUse) -> String {
    let (name, summary) = tool.description();
    let mut text = format!("{name} {summary}");
    for line in tool.result.lines().take(MAX_CARD_LINES) {
        text.push('\n');
        text.push_str(line);
    }
    text
}

fn head(tool: &ToolUse, change: Option<&[ChangedLine<'_>]>, columns: usize, theme: &Theme) -> Line<'static> {
    let (mark, role) = match tool.state {
        ToolState::Waiting => ("· ", Role::Muted),
        ToolState::Running => ("⋯ ", Role::Accent),
        ToolState::Done => ("✓ ", Role::Success),
        ToolState::Failed => ("✗ ", Role::Error),
        ToolState::Stopped => ("■ ", Role::Warning),
    };
    let (name, summary) = tool.description();
    let (name, summary) = (sanitize::visible_line(&name), sanitize::visible_line(&summary));
    let lines_of = |wanted: Sign| change.into_iter().flatten().filter(|(sign, _)| *sign == wanted).count();
    let outcome = match change.filter(|_| tool.state == ToolState::Done) {
        Some(_) => format!("+{} −{}", lines_of(Sign::Added), lines_of(Sign::Removed)),
        None => sanitize::visible_line(tool.outcome.lines().next().unwrap_or_default()).into_owned(),
    };
    let mut facts = vec![outcome];
    facts.extend(tool.is_dropped.then(|| "dropped".to_owned()));
    facts.extend(tool.is_pinned.then(|| "pinned".to_owned()));
    if tool.is_over() && tool.tokens > 0 {
        facts.push(format!("{} tokens", meter::tokens(tool.tokens as u64)));
    }
    facts.extend((tool.ms >= MIN_SHOWN_MS).then(|| seconds(tool.ms)));
    facts.retain(|fact| !fact.is_empty());
    // What the call does comes first, and then what came of it. The time and the tokens go where the line is short.
    let available = columns.saturating_sub(width::columns(&name) + 1);
    let wanted = width::columns(&summary).min(available / 2);
    while facts.len() > 1 && width::columns(&facts.join(" · ")) + 3 + wanted > available {
        facts.pop();
    }
    let facts = if facts.is_empty() { String::new() } else { format!(" · {}", facts.join(" · ")) };
    let facts = width::clip(&facts, available.saturating_sub(wanted)).into_owned();
    let summary = width::clip(&summary, available.saturating_sub(width::columns(&facts))).into_owned();
    let outcome = if tool.state == ToolState::Failed { Role::Error } else { Role::Muted };
    let space = if summary.is_empty() { "" } else { " " };
    Line::from(vec![
        Span::styled(mark, theme.style(role)),
        Span::styled(width::clip(&name, columns).into_owned(), theme.style(Role::Title)),
        Span::styled(format!("{space}{summary}"), theme.style(Role::Text)),
        Span::styled(facts, theme.style(outcome)),
    ])
}

fn seconds(ms: u64) -> String {
    match ms / 1_000 {
        0..60 => format!("{:.1} s", ms as f64 / 1_000.0),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

type ChangedLine<'a> = (Sign, Cow<'a, str>);

/// The change that a call proposes, as the model wrote it; `None` for a call that changes nothing.
fn change_of(action: &Action) -> Option<Vec<ChangedLine<'_>>> {
    Some(match action {
        Action::Edit { search, replace, .. } => changed_lines(search, replace),
        Action::WriteFile { content, .. } => changed_lines("", content),
        Action::ApplyPatch { patch } => patch.lines().filter_map(patch_line).collect(),
        _ => return None,
    })
}

fn changed_lines<'a>(old: &'a str, new: &'a str) -> Vec<ChangedLine<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut changed = Vec::new();
    let mut kept = 0;
    let mut push = |sign: Sign, lines: Option<&[&'a str]>| {
        changed.extend(lines.into_iter().flatten().map(|line| (sign, Cow::Borrowed(*line))));
    };
    for hunk in diff::line_hunks(&old, &new) {
        push(Sign::Context, old.get(kept..hunk.base.start));
        push(Sign::Removed, old.get(hunk.base.clone()));
        push(Sign::Added, new.get(hunk.proposed));
        kept = hunk.base.end;
    }
    push(Sign::Context, old.get(kept..));
    changed
}

fn patch_line(line: &str) -> Option<ChangedLine<'_>> {
    if matches!(line.trim(), "*** Begin Patch" | "*** End Patch") {
        return None;
    }
    let sign = match line.chars().next() {
        Some('+') => Sign::Added,
        Some('-') => Sign::Removed,
        _ => return Some((Sign::Context, Cow::Borrowed(line.strip_prefix(' ').unwrap_or(line)))),
    };
    Some((sign, Cow::Borrowed(line.get(1..).unwrap_or_default())))
}

fn sign_char(sign: Sign) -> char {
    match sign {
        Sign::Added => '+',
        Sign::Removed => '-',
        Sign::Context => ' ',
    }
}

fn change_line(sign: Sign, text: &str, columns: usize, theme: &Theme) -> Lines {
    let text = cut(text).to_owned();
    let (syntax, words, found) = (Vec::new(), Vec::new(), Vec::new());
    let line = DiffLine { sign, base: None, proposed: None, text, syntax, words, found };
    let mut rows = diff_lines::rows(&line, Gutter::default(), cells(columns), theme);
    rows.iter_mut().for_each(|row| row.spans.insert(0, Span::styled(BAR, theme.style(Role::Muted))));
    rows
}

/// The arguments that the line of the card does not show in full.
fn asked(tool: &ToolUse, action: Option<&Action>) -> String {
    match action {
        None => format!("{} {}", tool.call.name, tool.call.arguments),
        Some(Action::Run { command, .. }) if command.lines().count() > 1 => command.clone(),
        Some(Action::Task { prompt }) => prompt.clone(),
        Some(Action::AskUser { question, options }) => {
            let options = options.iter().zip(1..).map(|(option, number)| format!("\n{number} {option}"));
            question.clone() + &options.collect::<String>()
        }
        Some(Action::Plan { items }) => {
            items.iter().map(|item| format!("{} {}\n", plan_mark(item), item.text)).collect::<String>()
        }
        Some(_) => String::new(),
    }
}

pub(super) fn plan_mark(item: &PlanItem) -> &'static str {
    match item.state {
        PlanState::Pending => "☐",
        PlanState::InProgress => "◐",
        PlanState::Completed => "☑",
    }
}

/// A text below a card, wrapped.
fn barred(text: &str, role: Role, columns: usize, theme: &Theme) -> Lines {
    let mut lines = Vec::new();
    for line in text.lines().take(MAX_CARD_LINES) {
        let line = sanitize::visible_line(cut(line)).into_owned();
        for range in wrap::wrap(&line, columns) {
            lines.push(Line::from(vec![
                Span::styled(BAR, theme.style(Role::Muted)),
                Span::styled(line.get(range).unwrap_or_default().to_owned(), theme.style(role)),
            ]));
        }
    }
    lines
}

fn cut(line: &str) -> &str {
    line.get(..line.floor_char_boundary(MAX_LINE_BYTES)).unwrap_or(line)
}

/// The output of a command of the agent, below its card: its last lines while it runs, and after it has failed.
pub(super) fn output_lines(ran: &CommandRun, output: OutputOf, columns: usize, theme: &Theme) -> Lines {
    let columns = columns.saturating_sub(BAR_COLUMNS);
    let most = if ran.state == RunState::Running { LIVE_LINES } else { FAILED_LINES };
    let tail: Vec<&str> = ran.tail.lines().rev().take(most).collect();
    let mut lines = Vec::new();
    if output == OutputOf::EarlierCard && !tail.is_empty() {
        let line = ran.line.lines().next().unwrap_or_default();
        lines.extend(barred(&format!("$ {line}"), Role::Accent, columns, theme));
    }
    for line in tail.into_iter().rev() {
        let line = sanitize::visible_line(line);
        lines.push(Line::styled(format!("{BAR}{}", width::clip(&line, columns)), theme.style(Role::Muted)));
    }
    lines
}

/// The line below a message of the user for the steps that are folded.
pub(super) fn earlier_steps(steps: usize, open: bool, columns: usize, scene: &TranscriptView<'_>) -> Lines {
    let (mark, does) = if open { ("▾ ", "hides") } else { ("▸ ", "shows") };
    let key =
        if scene.thoughts_key.is_empty() { String::new() } else { format!(" · {} {does} them", scene.thoughts_key) };
    let text = format!("{}{key}", count(steps, "earlier step"));
    let mut lines = vec![Line::default()];
    lines.extend(marked(&text, mark, Role::Muted, columns, scene.theme));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::ColorDepth;
    use proptest::prelude::*;
    use rhumb_llm::ToolCall;
    use rhumb_session::Transcript;

    fn tool(name: &str, arguments: &str, state: ToolState) -> ToolUse {
        ToolUse {
            number: 7,
            step: 1,
            call: ToolCall { name: name.into(), arguments: arguments.into(), ..ToolCall::default() },
            state,
            result: "said".into(),
            outcome: "1 line".into(),
            tokens: 1_234,
            ms: 61_000,
            is_dropped: false,
            is_pinned: false,
        }
    }

    fn shown(tool: &ToolUse, open: bool, columns: usize) -> Vec<String> {
        let (theme, toggled, remarks) = (Theme::plain(ColorDepth::None), BTreeSet::new(), BTreeMap::new());
        let scene = TranscriptView {
            entries: &Transcript::default(),
            theme: &theme,
            width: cells(columns + 2),
            height: 20,
            thoughts: false,
            toggled: &toggled,
            thoughts_key: "Alt-t",
            log_key: "F6",
            read_key: "Alt-r",
            remarks: &remarks,
            focus: None,
        };
        let text = |line: &Line<'_>| line.to_string().trim_end().to_owned();
        tool_lines(tool, open, columns, &scene).iter().map(text).collect()
    }

    #[test]
    fn the_time_and_the_tokens_go_first_where_the_line_is_short() {
        let tool = tool("read_file", r#"{"path":"src/a.rs"}"#, ToolState::Done);
        assert_eq!(shown(&tool, false, 60), ["✓ read_file src/a.rs · 1 line · 1.2k tokens · 1 min 1 s"]);
        assert_eq!(shown(&tool, false, 45), ["✓ read_file src/a.rs · 1 line · 1.2k tokens"]);
        assert_eq!(shown(&tool, false, 30), ["✓ read_file src/a.rs · 1 line"]);
    }

    #[test]
    fn an_open_card_shows_the_change_and_a_refused_one_also_the_reason() {
        let edit = r#"{"path":"a.rs","search":"one\ntwo","replace":"one\n2"}"#;
        let done = shown(&tool("edit", edit, ToolState::Done), true, 60);
        assert_eq!(done[0], "✓ edit a.rs · +1 −1 · 1.2k tokens · 1 min 1 s");
        assert_eq!(done[1..], ["  │   one", "  │ - two", "  │ + 2"]);
        let failed = shown(&tool("edit", edit, ToolState::Failed), true, 60);
        assert!(failed[0].contains("1 line") && failed[4] == "  │ said", "{failed:?}");
        let patch = r#"{"input":"*** Begin Patch\n*** Update File: a.rs\n@@\n kept\n-old\n+new\n*** End Patch"}"#;
        let patch = shown(&tool("apply_patch", patch, ToolState::Done), true, 60);
        assert!(patch.ends_with(&["  │   kept".into(), "  │ - old".into(), "  │ + new".into()]), "{patch:?}");
    }

    #[test]
    fn a_long_result_says_how_much_is_missing() {
        let mut tool = tool("grep", r#"{"pattern":"x"}"#, ToolState::Done);
        tool.result = "line\n".repeat(500);
        let shown = shown(&tool, true, 60);
        assert_eq!(shown.len(), MAX_CARD_LINES + 2);
        assert_eq!(shown[MAX_CARD_LINES + 1], "  │ … 300 more lines (Alt-r, then Enter)");
        assert_eq!(details(&tool).1.lines().count(), 500);
    }

    proptest! {
        #[test]
        fn no_line_of_a_card_is_wider_than_the_pane(
            name in prop::sample::select(vec!["run", "edit", "ask_user", "\u{1b}[2J", "大文字"]),
            text in any::<String>(),
            (outcome, result) in any::<(String, String)>(),
            columns in 8usize..90,
        ) {
            let arguments = format!(
                r#"{{"command":{0:?},"path":{0:?},"search":{0:?},"replace":"","question":{0:?}}}"#, text
            );
            let mut tool = tool(name, &arguments, ToolState::Done);
            (tool.outcome, tool.result) = (outcome, result);
            for line in shown(&tool, true, columns) {
                prop_assert!(width::columns(&line) <= columns + 2, "{line:?}");
            }
        }
    }
}
