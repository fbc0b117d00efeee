//! The card of the very first start: what is on the screen, how a model is connected, the keys to begin with. It goes with the
//! first key.

use ratatui::text::{Line, Span};

use crate::session::Connection;
use crate::tui::action::{Action, Pane};
use crate::tui::app::App;
use crate::tui::theme::Role;
use rhumb_text::{sanitize, width, wrap};

/// The columns of what stands at the left.
const LEFT: usize = 10;

/// The card for that many columns.
pub fn card(app: &App, columns: u16) -> Vec<Line<'static>> {
    let columns = usize::from(columns);
    let theme = &app.theme;
    // It must fit beside a composer on a screen of 24 lines.
    let mut lines = vec![Line::styled("Welcome to rhumb. Any key begins.", theme.style(Role::Title))];
    let mut row = |left: &str, text: &str, role: Role| {
        let left = width::clip(left, LEFT).into_owned();
        let pad = (LEFT + 1).saturating_sub(width::columns(&left));
        let room = columns.saturating_sub(LEFT + 1).max(8);
        let mut pieces = wrap::wrap(text, room).into_iter().filter_map(|range| text.get(range));
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
    row("model", &model(app), Role::Accent);
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

/// How a model is connected, or which is.
fn model(app: &App) -> String {
    match &app.session.connection {
        Connection::Remote { model, host } => {
            sanitize::visible_line(&format!("{model} at {host} answers; /model asks another")).into_owned()
        }
        Connection::Demo => "recorded replies answer in this demo".to_owned(),
        Connection::None => {
            "none yet: /connect takes a key or picks a server on this machine; or /copy-context and /paste".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;
    use crate::tui::action::KeyMap;
    use crate::tui::theme::{ColorDepth, Theme};

    #[test]
    fn the_card_names_panes_and_keys_in_force_and_fits_any_width() {
        let (session, effects) = Session::start(Connection::None);
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        let own = [("help".to_owned(), vec!["F12".to_owned()])].into_iter().collect();
        app.keys = KeyMap::with(&own).0;
        let text = |app: &App, columns| card(app, columns).iter().map(|line| format!("{line}\n")).collect::<String>();
        let shown = text(&app, 70);
        for part in ["review", "repo map", "F12", "/connect", "Any key begins."] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert!(text(&app, 38).lines().all(|line| width::columns(line) <= 38));
    }
}
