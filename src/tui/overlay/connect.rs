//! Connecting a model: where keys and servers were looked for, the list of possible connections, and an input for a
//! key. Text typed over the list goes to the composer, so that the overlay does not block the start.

use rhumb_llm::LocalServer;
use rhumb_llm::models::Api;
use rhumb_session::{ConnectRequest, Connecting, Failure, KeySearch, KeyedProvider, ModelRole, NewKey};

use super::{Overlay, OverlayContext, Reply, centred, inner_area, window};
use crate::tui::prelude::*;
use crate::tui::widget::SecretInput;

/// Maximum width, borders included.
const MAX_WIDTH: u16 = 84;
/// Rows of the list that stay visible on a small screen, before the text above it is cut.
const MIN_ROWS: usize = 4;

#[derive(Debug)]
struct KeyField {
    provider: KeyedProvider,
    input: SecretInput,
}

#[derive(Debug, Default)]
pub struct ConnectBox {
    reason: String,
    /// The requested model. Empty for none.
    model: String,
    /// The provider whose input opens as soon as the provider is known.
    provider: Option<String>,
    keys: Option<KeySearch>,
    servers: Option<Vec<LocalServer>>,
    checking: bool,
    refused: String,
    rows: Vec<ConnectRow>,
    window: ListWindow,
    field: Option<KeyField>,
}

impl ConnectBox {
    /// `connected` names the current model.
    pub fn new(request: &ConnectRequest, connected: Option<&str>) -> Self {
        let reason = match (request.reason.as_str(), connected) {
            ("", Some(model)) => format!("{model} is connected."),
            ("", None) => "No model is connected.".to_owned(),
            (reason, _) => reason.to_owned(),
        };
        let (model, provider) = (request.model.clone(), request.provider.clone());
        let mut opened = Self { reason, model, provider, ..Self::default() };
        opened.list();
        opened
    }

    pub fn update(&mut self, now: &Connecting) {
        if std::mem::replace(&mut self.checking, now.checking) && !now.checking {
            let message = |failure: &Failure| format!("{} {}", failure.message, failure.hint).trim_end().to_owned();
            self.refused = now.refused.as_ref().map_or_else(String::new, message);
        }
        if (&self.keys, &self.servers) != (&now.keys, &now.servers) {
            (self.keys, self.servers) = (now.keys.clone(), now.servers.clone());
            self.list();
        }
        if self.keys.is_none() {
            return;
        }
        if let Some(name) = self.provider.take() {
            let known = |row: &ConnectRow| matches!(row, ConnectRow::Provider(provider) if provider.name == name);
            match self.rows.iter().position(known) {
                Some(at) => {
                    self.window.select(at);
                    self.open_field();
                }
                None => self.reason = format!("There is no provider {name} that takes a key."),
            }
        }
    }

    /// Whether typed text goes to the composer.
    pub fn leaves_typing(&self) -> bool {
        self.field.is_none()
    }

    /// Updates the rows. The cursor stays on its row.
    fn list(&mut self) {
        let before = self.window.selected().and_then(|at| self.rows.get(at)).cloned();
        self.rows = rows(self.keys.as_ref(), self.servers.as_deref());
        self.window.set_len(self.rows.len());
        // While nothing is listed yet, the user has not chosen a row.
        let before = before.filter(|row| !matches!(row, ConnectRow::SearchAgain));
        let at = before.and_then(|row| self.rows.iter().position(|other| *other == row));
        self.window.select(at.unwrap_or(0));
    }

    fn open_field(&mut self) {
        let row = self.window.selected().and_then(|at| self.rows.get(at));
        if let Some(ConnectRow::Provider(provider)) = row {
            self.field = Some(KeyField { provider: provider.clone(), input: SecretInput::default() });
        }
    }

    fn choose(&mut self) -> Reply {
        let Some(row) = self.window.selected().and_then(|at| self.rows.get(at)) else { return Reply::Stay };
        row.reply(&self.model).unwrap_or_else(|| {
            self.open_field();
            Reply::Stay
        })
    }

    fn field_key(&mut self, key: KeyEvent) -> Reply {
        let Some(field) = &mut self.field else { return Reply::Stay };
        match key.code {
            KeyCode::Esc => {
                self.field = None;
                self.refused.clear();
            }
            _ if self.checking => {}
            KeyCode::Enter if !field.input.is_empty() => {
                self.refused.clear();
                let (provider, key) = (field.provider.name.clone(), field.input.take());
                return Reply::Key(NewKey { provider, model: self.model.clone(), key });
            }
            KeyCode::Enter => {}
            _ => field.input.key(key),
        }
        Reply::Stay
    }

    fn list_text(&self) -> Vec<(String, Role)> {
        let mut text = vec![(self.reason.clone(), Role::Warning)];
        text.push(("rhumb looked for the variables below, and here:".to_owned(), Role::Text));
        let mut places: Vec<String> = match &self.keys {
            None => vec!["looking for keys …".to_owned()],
            Some(keys) => keys.places.iter().map(|place| format!("{}: {}", place.name, place.state)).collect(),
        };
        let names: Vec<&str> = rhumb_llm::KNOWN_SERVERS.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        places.push(match self.servers.as_deref() {
            None => format!("servers on this machine ({names}): looking …"),
            Some([]) => format!("servers on this machine ({names}): none answers"),
            Some(servers) => {
                let found: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
                format!("servers on this machine: {}", found.join(", "))
            }
        });
        text.extend(places.into_iter().map(|place| (place, Role::Text)));
        text
    }

    fn list_area(&self, screen: Rect, lines: usize) -> (Rect, u16) {
        let lines = lines.min(usize::from(screen.height.saturating_sub(4)).saturating_sub(MIN_ROWS));
        (centred(screen, screen.width.min(MAX_WIDTH), cells(lines + self.rows.len() + 4)), cells(lines))
    }

    /// The areas of text, gap, list and hint, in the space inside the frame.
    fn list_parts(inner: Rect, lines: u16) -> [Rect; 4] {
        let gap = u16::from(inner.height > lines + 2);
        let parts = [Constraint::Length(lines), Constraint::Length(gap), Constraint::Fill(1), Constraint::Length(1)];
        Layout::vertical(parts).areas(inner)
    }

    fn draw_list(&self, frame: &mut Frame<'_>, screen: Rect, mut text: Lines, (hits, theme): (&mut Hits, &Theme)) {
        let (area, lines) = self.list_area(screen, text.len());
        text.truncate(usize::from(lines));
        let [head, _, list, hint] = Self::list_parts(window(frame, area, " connect a model ", theme), lines);
        frame.render_widget(Paragraph::new(text), head);
        let columns = usize::from(list.width);
        let rows = self.window.visible().filter_map(|at| {
            let row = self.rows.get(at)?;
            Some(line(row, self.window.selected() == Some(at), columns, theme))
        });
        frame.render_widget(Paragraph::new(rows.collect::<Vec<_>>()), list);
        for (y, at) in (list.y..list.bottom()).zip(self.window.visible()) {
            hits.add(Rect { y, height: 1, ..list }, Hit::Item(at));
        }
        let keys = " ↑↓ move · Enter choose · Esc close · letters go to the message";
        frame.render_widget(clipped(keys, columns, theme.style(Role::Muted)), hint);
    }

    /// The text above the input of a key.
    fn field_text(&self, field: &KeyField) -> Vec<(String, Role)> {
        let KeyedProvider { name, host, found, variables, .. } = &field.provider;
        let storage = self.keys.as_ref().map_or("", |keys| keys.storage.as_str());
        let mut text = vec![(self.reason.clone(), Role::Warning)];
        if let Some(source) = found {
            text.push((format!("There is a key for {name} already: {source}."), Role::Text));
        } else if let Some(variable) = variables.first() {
            text.push((format!("Instead of entering a key you can set {variable} before rhumb starts."), Role::Text));
        }
        let stored = format!("The key is checked with {host}, is sent to no other host, and is stored in {storage}.");
        text.push((stored, Role::Text));
        if self.checking {
            text.push((format!("Checking the key with {host} …"), Role::Accent));
        } else if !self.refused.is_empty() {
            text.push((self.refused.clone(), Role::Error));
        }
        text
    }

    fn draw_field(&self, frame: &mut Frame<'_>, screen: Rect, wide: u16, text: Lines, theme: &Theme) {
        let Some(field) = &self.field else { return };
        let height = cells(text.len() + 5).min(screen.height);
        let title = format!(" a key for {} ", sanitize::visible_line(&field.provider.name));
        let inner = window(frame, centred(screen, wide, height), &title, theme);
        let parts = [Constraint::Fill(1), Constraint::Length(1), Constraint::Length(1), Constraint::Length(1)];
        let [body, line, _, hint] = Layout::vertical(parts).areas(inner);
        // The last lines report the error.
        let first = text.len().saturating_sub(usize::from(body.height));
        frame.render_widget(Paragraph::new(text.into_iter().skip(first).collect::<Vec<_>>()), body);
        field.input.draw(frame, Rect { x: line.x + 1, width: line.width.saturating_sub(1), ..line }, theme);
        let keys = " Type or paste the key · Enter take it · Ctrl-u empty · Esc back";
        frame.render_widget(clipped(keys, hint.width, theme.style(Role::Muted)), hint);
    }
}

impl Overlay for ConnectBox {
    fn key(&mut self, key: KeyEvent) -> Reply {
        if self.field.is_some() {
            return self.field_key(key);
        }
        match (key.modifiers, key.code) {
            (_, KeyCode::Esc) => return Reply::Close,
            (_, KeyCode::Up) => self.window.cycle(false),
            (_, KeyCode::Down) => self.window.cycle(true),
            (KeyModifiers::NONE, KeyCode::PageUp) => self.window.page_up(),
            (KeyModifiers::NONE, KeyCode::PageDown) => self.window.page_down(),
            (KeyModifiers::NONE, KeyCode::Home) => self.window.first(),
            (KeyModifiers::NONE, KeyCode::End) => self.window.last(),
            (KeyModifiers::NONE, KeyCode::Enter) => return self.choose(),
            _ => return Reply::Typed(key),
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        if let Some(field) = self.field.as_mut().filter(|_| !self.checking) {
            field.input.insert(text);
        }
    }

    fn wheel(&mut self, by: isize) {
        self.window.scroll(by);
    }

    fn click(&mut self, row: usize, double: bool) -> Reply {
        let was_there = self.window.selected() == Some(row);
        if self.field.is_some() || row >= self.rows.len() {
            return Reply::Stay;
        }
        self.window.select(row);
        if double || was_there { self.choose() } else { Reply::Stay }
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        let columns = usize::from(screen.width.min(MAX_WIDTH).saturating_sub(4)).max(8);
        let lines = |(text, _): &(String, Role)| wrap::hanging(&sanitize::visible_line(text), columns).len();
        let (area, lines) = self.list_area(screen, self.list_text().iter().map(lines).sum());
        let [_, _, list, _] = Self::list_parts(inner_area(area), lines);
        self.window.set_height(usize::from(list.height));
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        let wide = screen.width.min(MAX_WIDTH);
        let columns = usize::from(wide.saturating_sub(4)).max(8);
        let paragraphs = match &self.field {
            Some(field) => self.field_text(field),
            None => self.list_text(),
        };
        let mut text: Lines = Vec::new();
        for (paragraph, role) in paragraphs {
            text.extend(hanging(&sanitize::visible_line(&paragraph), " ", columns, theme.style(role)));
        }
        match &self.field {
            Some(_) => self.draw_field(frame, screen, wide, text, theme),
            None => self.draw_list(frame, screen, text, (context.hits, theme)),
        }
    }
}

fn line(row: &ConnectRow, selected: bool, columns: usize, theme: &Theme) -> Line<'static> {
    let (label, detail) = row.words();
    // The pointer is before the row, and a column stays free at either edge.
    let available = columns.saturating_sub(4);
    let label = width::clip(&sanitize::visible_line(&label), available).into_owned();
    let left = available.saturating_sub(width::columns(&label) + 2);
    let detail = width::clip(&sanitize::visible_line(&detail), left).into_owned();
    let label = vec![Span::styled(label, theme.style(Role::Overlay))];
    let row = spread(label, vec![Span::styled(detail, theme.style(Role::Muted))], available);
    let mut line = list_row(selected, row, columns.saturating_sub(1), theme);
    line.spans.insert(0, Span::styled(" ", line.spans[0].style));
    line
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConnectRow {
    /// A model of a local server; an empty name if none is loaded.
    Server {
        kind: String,
        api: Api,
        base_url: String,
        model: String,
    },
    Provider(KeyedProvider),
    SearchAgain,
    WithoutModel,
}

impl ConnectRow {
    /// The label, and the detail at the right.
    pub(super) fn words(&self) -> (String, String) {
        match self {
            Self::Server { kind, base_url, model, .. } if model.is_empty() => {
                (format!("use {kind}"), format!("{base_url}, no model loaded"))
            }
            Self::Server { kind, base_url, model, .. } => (format!("use {model}"), format!("{kind} at {base_url}")),
            Self::Provider(KeyedProvider { name, found: Some(source), .. }) => {
                (format!("use {name}"), format!("key from {source}"))
            }
            Self::Provider(KeyedProvider { name, variables, host, .. }) => {
                let looked_for = match variables.as_slice() {
                    [] => format!("no key for {host}"),
                    [one] => format!("{one} is not set"),
                    several => format!("{} are not set", several.join(", ")),
                };
                (format!("enter a key for {name}"), looked_for)
            }
            Self::SearchAgain => ("look again for keys and servers".to_owned(), String::new()),
            Self::WithoutModel => {
                ("go on without a model".to_owned(), "copy mode: /copy-context and /paste".to_owned())
            }
        }
    }

    /// The reply to a choice. `None` if a key must be entered first.
    pub(super) fn reply(&self, model: &str) -> Option<Reply> {
        Some(match self {
            Self::Server { api, base_url, model, .. } => {
                Reply::Connect { api: *api, base_url: base_url.clone(), model: model.clone() }
            }
            Self::Provider(provider) if provider.found.is_none() => return None,
            Self::Provider(KeyedProvider { name, default_model, .. }) => {
                let default = format!("{name}/{default_model}");
                Reply::Model(ModelRole::Main, if model.is_empty() { default } else { model.to_owned() })
            }
            Self::SearchAgain => Reply::SearchConnections,
            Self::WithoutModel => Reply::Close,
        })
    }
}

pub(super) fn rows(keys: Option<&KeySearch>, servers: Option<&[LocalServer]>) -> Vec<ConnectRow> {
    let of_server = |server: &LocalServer| {
        let models = if server.models.is_empty() { vec![String::new()] } else { server.models.clone() };
        let LocalServer { name, api, base_url, .. } = server.clone();
        let row = move |model| ConnectRow::Server { kind: name.clone(), api, base_url: base_url.clone(), model };
        models.into_iter().map(row).collect::<Vec<ConnectRow>>()
    };
    let mut rows: Vec<ConnectRow> = servers.unwrap_or_default().iter().flat_map(of_server).collect();
    let providers = || keys.into_iter().flat_map(|keys| &keys.providers);
    let (found, missing): (Vec<_>, Vec<_>) = providers().cloned().partition(|provider| provider.found.is_some());
    rows.extend(found.into_iter().chain(missing).map(ConnectRow::Provider));
    rows.extend([ConnectRow::SearchAgain, ConnectRow::WithoutModel]);
    rows
}
