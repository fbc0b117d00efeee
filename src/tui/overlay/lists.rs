//! Lists that the user chooses from: models and themes, sessions, settings, symbols, files, servers, earlier input.

use crate::tui::overlay::{OverlayComponent, OverlayContext};
use crate::tui::previews::Previews;
use rhumb_session::SettingKind;

use crate::tui::overlay::file_peek::{draw_file_peek, draw_session_peek};
use rhumb_llm::LocalServer;
use rhumb_llm::models::Api;
use std::collections::BTreeMap;
use std::sync::Arc;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use rhumb_index::repo_map::{RepoMap, TagGraph};
use rhumb_text::{sanitize, width, wrap};

use super::file_peek::PreviewTarget;
use super::line_prompt::LineFor;
use super::{Confirm, ConfirmedAction, Overlay, Reply};
use crate::tui::key;
use crate::tui::theme::{Role, Theme};
use crate::tui::widget::file_preview::Marked;
use crate::tui::widget::picker::{Items, Outcome, Picker, Symbols};
use rhumb_session::SessionLine;
use rhumb_session::{ModelRole, ModelRow, Persistence, SettingRow, Speaker};

/// What is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// A model for a part of the work.
    Model(ModelRole),
    /// A theme; the one before comes back when nothing is chosen.
    Theme(String),
    /// An action or command to run, by its name with a slash.
    Run,
}

/// A list to choose one thing from.
#[derive(Debug)]
pub struct Menu {
    /// The list on the screen.
    pub picker: Picker,
    values: Vec<String>,
    purpose: Purpose,
    /// Whether the row of a value can be chosen.
    enabled: Vec<bool>,
}

impl Menu {
    /// The models, with `query` typed already.
    pub fn models(rows: &[ModelRow], part: ModelRole, query: &str) -> Self {
        let title = match part {
            ModelRole::Main => "models: which one answers",
            ModelRole::Weak => "models: which one writes summaries and commit messages",
            ModelRole::Editor => "models: which one writes the edits in architect mode",
        };
        let values: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
        let details = columns(rows);
        let mut picker =
            Picker::new(title, values.clone()).details(details).dimmed(rows.iter().map(|row| !row.has_key).collect());
        picker.set_query(query);
        Self { picker, enabled: vec![true; values.len()], values, purpose: Purpose::Model(part) }
    }

    /// The themes, the one in use first under the cursor.
    pub fn themes(names: &[&str], current: &str) -> Self {
        let mut values: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        values.sort_by_key(|name| name != current);
        let picker = Picker::new("colours", values.clone());
        let enabled = vec![true; values.len()];
        Self { picker, values, enabled, purpose: Purpose::Theme(current.to_owned()) }
    }

    /// Everything that can be done: what to run, what is shown of it, what stands at the right, and whether it can be done now.
    pub fn palette(rows: Vec<(String, String, String, bool)>) -> Self {
        Self::choices("what to do", rows)
    }

    /// The same with another title.
    pub fn choices(title: &str, rows: Vec<(String, String, String, bool)>) -> Self {
        let enabled: Vec<bool> = rows.iter().map(|row| row.3).collect();
        let (mut values, mut items, mut details) = (Vec::new(), Vec::new(), Vec::new());
        for (value, item, detail, _) in rows {
            values.push(value);
            items.push(item);
            details.push(detail);
        }
        let dimmed = enabled.iter().map(|enabled| !enabled).collect();
        let picker = Picker::new(title, items).details(details).dimmed(dimmed);
        Self { picker, values, enabled, purpose: Purpose::Run }
    }

    /// The theme that the screen shall show while this is open, if it is about themes.
    pub fn theme_under_cursor(&self) -> Option<&str> {
        let at = self.picker.selected().filter(|_| matches!(self.purpose, Purpose::Theme(_)))?;
        self.values.get(at).map(String::as_str)
    }

    /// The theme from before this was opened, if it is about themes.
    pub fn theme_before(&self) -> Option<&str> {
        match &self.purpose {
            Purpose::Theme(before) => Some(before),
            _ => None,
        }
    }
}

impl OverlayComponent for Menu {
    /// Takes a key.
    fn key(&mut self, key: KeyEvent) -> Reply {
        match self.picker.key(key) {
            Outcome::Open => Reply::Stay,
            Outcome::Cancelled => match &self.purpose {
                Purpose::Theme(before) => Reply::Theme(before.clone()),
                _ => Reply::Close,
            },
            Outcome::Picked(rows) => {
                let row = rows.first().copied().unwrap_or_default();
                if self.enabled.get(row) != Some(&true) {
                    return Reply::Stay;
                }
                let value = self.values.get(row).cloned().unwrap_or_default();
                match &self.purpose {
                    Purpose::Model(part) => Reply::Model(*part, value),
                    Purpose::Theme(_) => Reply::Theme(value),
                    Purpose::Run => Reply::Run(value),
                }
            }
        }
    }

    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        self.picker.fit(screen);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        self.picker.draw(frame, screen, context.hits, theme);
    }
}

/// Window, prices and the availability of a key, each in a column.
fn columns(rows: &[ModelRow]) -> Vec<String> {
    let parts: Vec<Option<[&str; 3]>> = rows.iter().map(|row| parts(&row.detail)).collect();
    let wide = |at: usize| parts.iter().flatten().map(|parts| width::columns(parts[at])).max().unwrap_or(0);
    let wides = [wide(0), wide(1), wide(2)];
    let row = |(row, parts): (&ModelRow, &Option<[&str; 3]>)| {
        let key = if row.has_key { "      " } else { "no key" };
        let told = match parts {
            Some([window, input, output]) => {
                let [wide, wide_in, wide_out] = wides;
                format!("{window:>wide$}  {input:>wide_in$} {output:>wide_out$}")
            }
            None => row.detail.clone(),
        };
        format!("{told}  {key}")
    };
    rows.iter().zip(&parts).map(row).collect()
}

/// The columns of a detail such as `200k · $3 in, $15 out`; `None` for another.
fn parts(detail: &str) -> Option<[&str; 3]> {
    let (window, prices) = detail.split_once(" · ")?;
    let (input, output) = prices.split_once(", ")?;
    Some([window, input, output])
}

/// Earlier sessions to go on with, to look at, to name and to throw away.
#[derive(Debug)]
pub struct SessionList {
    /// The list on the screen.
    pub picker: Picker,
    lines: Vec<SessionLine>,
    /// What was said last in those that were looked at.
    said: BTreeMap<i64, Vec<(Speaker, String)>>,
}

impl SessionList {
    fn new(query: &str, lines: &[SessionLine]) -> Self {
        // Dates are searched too, so they stand in the item and not beside it.
        let items = lines.iter().map(|line| format!("{}  {}", line.changed, title(line))).collect();
        let details = lines.iter().map(detail).collect();
        let keys = [("Alt-r", "rename"), ("Alt-d", "delete"), ("Alt-f", "fork")];
        let mut picker = Picker::new("earlier sessions", items).details(details).with_preview().extra_keys(&keys);
        picker.set_query(query);
        Self { picker, lines: lines.to_vec(), said: BTreeMap::new() }
    }

    fn here(&self) -> Option<&SessionLine> {
        self.lines.get(self.picker.selected()?)
    }

    /// What was said last in the session under the cursor, as far as it is known.
    pub(super) fn said(&self) -> Option<&[(Speaker, String)]> {
        self.said.get(&self.here()?.number).map(Vec::as_slice)
    }

    /// Takes in what was said last in a session.
    pub fn note(&mut self, number: i64, said: Vec<(Speaker, String)>) {
        self.said.insert(number, said);
    }

    /// Takes in the sessions that there are now; what was typed stays, and the cursor where it was.
    pub fn refresh(&mut self, lines: &[SessionLine]) {
        let at = self.picker.row();
        let said = std::mem::take(&mut self.said);
        *self = Self { said, ..Self::new(self.picker.query(), lines) };
        self.picker.point(at.min(self.picker.match_count().saturating_sub(1)));
    }
}

impl OverlayComponent for SessionList {
    /// Takes a key: Enter goes on with a session, others name it, delete it, or begin a new one with it.
    fn key(&mut self, key: KeyEvent) -> Reply {
        if let Some(line) = self.here() {
            match key::name(key).as_str() {
                "Alt-r" => return Reply::AskLine(LineFor::RenameSession(line.number), line.name.clone()),
                "Alt-d" => return Reply::AskFirst(Box::new(deleting(line))),
                "Alt-f" => return Reply::Fork(line.number),
                _ => {}
            }
        }
        match self.picker.key(key) {
            Outcome::Open => Reply::Stay,
            Outcome::Cancelled => Reply::Close,
            Outcome::Picked(rows) => {
                let line = rows.first().and_then(|row| self.lines.get(*row));
                line.map_or(Reply::Close, |line| Reply::Resume(line.number))
            }
        }
    }

    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        self.picker.fit(screen);
    }

    fn preview(&self) -> Option<PreviewTarget> {
        self.here().filter(|line| !self.said.contains_key(&line.number)).map(|line| PreviewTarget::Session(line.number))
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        if let Some(area) = self.picker.draw(frame, screen, context.hits, theme) {
            draw_session_peek(frame, area, self.said(), theme);
        }
    }
}

fn deleting(line: &SessionLine) -> Confirm {
    let noun = if line.messages == 1 { "message" } else { "messages" };
    let text = [
        format!("Session {}, {}: {}", line.number, line.changed, line.title()),
        format!(
            "Its {} {noun}, their answers and what is under review in it are lost for good. Files of the repository stay as they are.",
            line.messages
        ),
    ];
    Confirm::new("delete the session?", text)
        .way('y', &format!("delete session {}", line.number), ConfirmedAction::DeleteSession(line.number))
        .stay("keeps it")
}

impl Overlay {
    /// Earlier sessions to go on with; a query narrows them down.
    pub fn sessions(query: &str, lines: &[SessionLine]) -> Self {
        Self::Sessions(SessionList::new(query, lines))
    }

    /// What was typed before, the newest first.
    pub fn inputs(keeping: &Persistence) -> Self {
        let inputs: Vec<String> = keeping.inputs.iter().rev().cloned().collect();
        let items = inputs.iter().map(|text| text.replace('\n', " ⏎ ")).collect();
        Self::Inputs(InputList { picker: Picker::new("what was typed before", items), inputs })
    }
}

fn title(line: &SessionLine) -> String {
    if line.name.is_empty() || line.opening.is_empty() {
        return line.title().to_owned();
    }
    format!("{} — {}", line.name, line.opening)
}

fn detail(line: &SessionLine) -> String {
    // What was said in it is the better use of the room.
    let live = if line.live { ", open elsewhere" } else { "" };
    format!("#{}{live}", line.number)
}

/// What a choice among `targets` leads to.
pub(super) fn chosen<T>(outcome: Outcome, targets: &[T], reply: impl Fn(&T) -> Reply) -> Reply {
    match outcome {
        Outcome::Open => Reply::Stay,
        Outcome::Cancelled => Reply::Close,
        Outcome::Picked(rows) => rows.first().and_then(|row| targets.get(*row)).map_or(Reply::Close, reply),
    }
}

/// Columns of the names.
const NAME_COLUMNS: usize = 20;

/// The list while it is open.
#[derive(Debug)]
pub struct SettingsList {
    /// The list on the screen.
    pub picker: Picker,
    rows: Vec<SettingRow>,
}

impl Overlay {
    /// The settings; a query narrows them down.
    pub fn settings(rows: Vec<SettingRow>, query: &str) -> Self {
        Self::Settings(SettingsList::new(rows, query))
    }
}

impl SettingsList {
    fn new(rows: Vec<SettingRow>, query: &str) -> Self {
        let shown = |row: &SettingRow| {
            let value = if row.value.is_empty() { "(unset)" } else { &row.value };
            format!("{:<NAME_COLUMNS$} {}", row.name, width::clip(value, 60))
        };
        // Default values are dimmed.
        let dimmed = rows.iter().map(|row| row.origin == "default").collect();
        let origins = rows.iter().map(|row| short(&row.origin)).collect();
        let keys = [("Ctrl-s", "keep in the file"), ("Alt-d", "default")];
        let mut picker = Picker::new("settings", rows.iter().map(shown).collect()).details(origins).dimmed(dimmed);
        picker = picker.with_preview().extra_keys(&keys);
        picker.set_query(query);
        Self { picker, rows }
    }

    fn here(&self) -> Option<&SettingRow> {
        self.rows.get(self.picker.selected()?)
    }

    /// The setting of a name has another value, from there.
    pub fn change(&mut self, name: &str, value: &str, origin: &str) {
        let Some(row) = self.rows.iter_mut().find(|row| row.name == name) else { return };
        (row.value, row.origin) = (value.to_owned(), origin.to_owned());
        let (at, query) = (self.picker.row(), self.picker.query().to_owned());
        *self = Self::new(std::mem::take(&mut self.rows), &query);
        self.picker.point(at);
    }

    /// The setting of that name as the list has it.
    pub fn row(&self, name: &str) -> Option<&SettingRow> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Draws what there is to know about the setting under the cursor.
    pub(super) fn draw_look(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        let Some(row) = self.here() else { return };
        let columns = usize::from(area.width.saturating_sub(2)).max(1);
        let mut lines: Vec<Line<'_>> = Vec::new();
        let mut tell = |text: &str, role: Role| {
            let text = sanitize::visible_line(text);
            let pieces = wrap::wrap(&text, columns).into_iter();
            lines.extend(pieces.map(|range| Line::styled(format!(" {}", &text[range]), theme.style(role))));
        };
        tell(&row.name, Role::Title);
        tell(&row.help, Role::Text);
        let value = if row.value.is_empty() { "unset" } else { &row.value };
        tell(&format!("now      {value}"), Role::Text);
        tell(&format!("from     {}", row.origin), Role::Text);
        tell(&format!("default  {}", if row.default.is_empty() { "none" } else { &row.default }), Role::Muted);
        tell(&format!("takes    {}", takes(row.kind)), Role::Muted);
        if !row.location.is_empty() {
            tell(&format!("kept in  {}", row.location), Role::Muted);
        }
        lines.truncate(usize::from(area.height));
        frame.render_widget(Paragraph::new(lines), area);
    }
}

impl OverlayComponent for SettingsList {
    /// Handles a key. Enter changes a setting for this session; other keys save it to the user's file or remove it from
    /// there.
    fn key(&mut self, key: KeyEvent) -> Reply {
        if let Some(row) = self.here() {
            match key::name(key).as_str() {
                "Ctrl-s" => return Reply::KeepSetting(Box::new(row.clone())),
                "Alt-d" => return Reply::ForgetSetting(Box::new(row.clone())),
                _ => {}
            }
        }
        match self.picker.key(key) {
            Outcome::Open => Reply::Stay,
            Outcome::Cancelled => Reply::Close,
            Outcome::Picked(rows) => {
                let row = rows.first().and_then(|row| self.rows.get(*row));
                row.map_or(Reply::Stay, |row| Reply::ChangeSetting(Box::new(row.clone())))
            }
        }
    }

    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        self.picker.fit(screen);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        if let Some(area) = self.picker.draw(frame, screen, context.hits, theme) {
            self.draw_look(frame, area, theme);
        }
    }
}

/// What a setting takes, in words.
pub fn takes(kind: SettingKind) -> String {
    kind.expected()
}

/// The end of a path with its line: the list has little room.
fn short(origin: &str) -> String {
    origin.rsplit('/').next().unwrap_or(origin).to_owned()
}

/// The list while it is open.
#[derive(Debug)]
pub struct SymbolList {
    /// The list on the screen.
    pub picker: Picker,
    symbols: Arc<Symbols>,
}

impl Overlay {
    /// The definitions of the repository, in the order of the map where there is one.
    pub fn symbols(graph: &Arc<TagGraph>, map: Option<&RepoMap>) -> Self {
        Self::Symbols(SymbolList::new(graph, map))
    }
}

impl SymbolList {
    fn new(graph: &Arc<TagGraph>, map: Option<&RepoMap>) -> Self {
        let symbols = Arc::new(Symbols::new(Arc::clone(graph), map));
        let keys = [("Alt-a", "add the file"), ("Alt-e", "editor")];
        let picker = Picker::of("symbols: @ it in the message", Items::Symbols(Arc::clone(&symbols)));
        Self { picker: picker.with_preview().extra_keys(&keys), symbols }
    }
}

impl OverlayComponent for SymbolList {
    /// Takes a key: Enter names the symbol in the message; others add its file or open it in the editor.
    fn key(&mut self, key: KeyEvent) -> Reply {
        let here = self.picker.selected().and_then(|at| self.symbols.get(at));
        match (key::name(key).as_str(), here) {
            ("Alt-a", Some(symbol)) => return Reply::Add(vec![symbol.path.to_owned()]),
            ("Alt-e", Some(symbol)) => return Reply::Edit(symbol.path.to_owned(), symbol.line),
            _ => {}
        }
        match self.picker.key(key) {
            Outcome::Open => Reply::Stay,
            Outcome::Cancelled => Reply::Close,
            Outcome::Picked(rows) => {
                let chosen = rows.first().and_then(|row| self.symbols.get(*row));
                chosen.map_or(Reply::Close, |symbol| Reply::Mention(symbol.name.to_owned()))
            }
        }
    }

    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        self.picker.fit(screen);
    }

    fn preview(&self) -> Option<PreviewTarget> {
        let symbol = self.symbols.get(self.picker.selected()?)?;
        Some(PreviewTarget::File(symbol.path.to_owned(), Some(Marked::line(symbol.line))))
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, mut context: OverlayContext<'_>) {
        if let Some(area) = self.picker.draw(frame, screen, context.hits, theme)
            && let Some(PreviewTarget::File(path, marked)) = self.preview()
        {
            draw_file_peek(frame, area, (&path, marked), &mut context, theme);
        }
    }
}

/// The files of the repository, to add some to the chat.
#[derive(Debug)]
pub struct FileList {
    picker: Picker,
    /// The files in the order of the picker.
    listed: Arc<Vec<String>>,
    /// The files that the list was made from, by path.
    known: Arc<Vec<String>>,
}

impl FileList {
    /// The files, in the order of the map if there is one.
    pub(super) fn new(paths: &Arc<Vec<String>>, map: Option<&RepoMap>) -> Self {
        let listed = match map {
            Some(map) => {
                let ranks = map.ranks(paths, |path| path);
                let mut ranked: Vec<(u32, &String)> = ranks.into_iter().zip(paths.iter()).collect();
                ranked.sort_unstable();
                Arc::new(ranked.into_iter().map(|(_, path)| path.clone()).collect())
            }
            None => Arc::clone(paths),
        };
        let picker = Picker::of("add files to the chat", Items::Texts(Arc::clone(&listed)));
        Self { picker: picker.paths().multiple().with_preview(), listed, known: Arc::clone(paths) }
    }

    /// Takes in a new list of files. The query stays.
    pub(super) fn refresh(&mut self, paths: &Arc<Vec<String>>, map: Option<&RepoMap>) {
        if !Arc::ptr_eq(&self.known, paths) {
            let query = self.picker.query().to_owned();
            *self = Self::new(paths, map);
            self.picker.paste(&query);
        }
    }
}

impl OverlayComponent for FileList {
    fn key(&mut self, key: KeyEvent) -> Reply {
        match self.picker.key(key) {
            Outcome::Open => Reply::Stay,
            Outcome::Cancelled => Reply::Close,
            Outcome::Picked(rows) => Reply::Add(rows.iter().filter_map(|row| self.listed.get(*row).cloned()).collect()),
        }
    }

    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        self.picker.fit(screen);
    }

    fn preview(&self) -> Option<PreviewTarget> {
        Some(PreviewTarget::File(self.listed.get(self.picker.selected()?)?.clone(), None))
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, mut context: OverlayContext<'_>) {
        if let Some(area) = self.picker.draw(frame, screen, context.hits, theme)
            && let Some(PreviewTarget::File(path, marked)) = self.preview()
        {
            draw_file_peek(frame, area, (&path, marked), &mut context, theme);
        }
    }
}

/// The model servers on this machine, to connect to one.
#[derive(Debug)]
pub struct ServerList {
    picker: Picker,
    /// API, base URL and model of each row.
    targets: Vec<(Api, String, String)>,
}

impl ServerList {
    /// One row for each model of each server.
    pub(super) fn new(servers: Vec<LocalServer>) -> Self {
        let mut rows = Vec::new();
        let mut targets = Vec::new();
        for server in servers {
            for model in &server.models {
                rows.push(format!("{model}  —  {} at {}", server.name, server.base_url));
                targets.push((server.api, server.base_url.clone(), model.clone()));
            }
            if server.models.is_empty() {
                rows.push(format!("(no model loaded)  —  {} at {}", server.name, server.base_url));
                targets.push((server.api, server.base_url, String::new()));
            }
        }
        Self { picker: Picker::new("model servers on this machine", rows), targets }
    }
}

impl OverlayComponent for ServerList {
    fn key(&mut self, key: KeyEvent) -> Reply {
        chosen(self.picker.key(key), &self.targets, |(api, base_url, model)| Reply::Connect {
            api: *api,
            base_url: base_url.clone(),
            model: model.clone(),
        })
    }

    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        self.picker.fit(screen);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        self.picker.draw(frame, screen, context.hits, theme);
    }
}

/// Earlier inputs, to recall one.
#[derive(Debug)]
pub struct InputList {
    picker: Picker,
    /// The newest first.
    inputs: Vec<String>,
}

impl OverlayComponent for InputList {
    fn key(&mut self, key: KeyEvent) -> Reply {
        chosen(self.picker.key(key), &self.inputs, |text| Reply::Recall(text.clone()))
    }

    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        self.picker.fit(screen);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        self.picker.draw(frame, screen, context.hits, theme);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_and_prices_stand_below_each_other() {
        let row = |detail: &str, has_key| ModelRow { name: "m".into(), detail: detail.into(), has_key };
        let rows = [row("200k · $3 in, $15 out", true), row("1.0M · $0.25 in, $2 out", false), row("→ claude", true)];
        assert_eq!(
            columns(&rows),
            ["200k     $3 in $15 out        ", "1.0M  $0.25 in  $2 out  no key", "→ claude        "]
        );
    }
}
