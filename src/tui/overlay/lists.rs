//! Lists that the user chooses from: models and themes, sessions, settings, symbols, files, servers, earlier inputs.

use std::any::Any;
use std::fmt::Debug;

use rhumb_index::repo_map::{RepoMap, TagGraph};
use rhumb_llm::LocalServer;
use rhumb_session::{ModelRole, ModelRow, Session, SessionLine, SettingRow, Speaker};

use super::file_peek::{draw_file_peek, draw_session_peek};
use super::{Confirm, ConfirmedAction, LineFor, Overlay, OverlayContext, PreviewTarget, Reply};
use crate::tui::prelude::*;
use crate::tui::widget::Marked;
use crate::tui::widget::picker::{Items, Picker, PickerOutcome, Symbols};

/// A list that is filtered while the user types. `rows` handles its keys.
#[derive(Debug)]
pub struct List<T> {
    pub picker: Picker,
    rows: T,
}

/// The rows of a [`List`], numbered in the order in which the picker got them.
pub trait Rows: Any + Debug + Sized {
    fn chosen(&self, rows: &[usize]) -> Reply;

    fn cancelled(&self) -> Reply {
        Reply::Close
    }

    /// The reply to another key on a row. `None` if the key goes to the picker.
    fn row_key(&self, _row: usize, _key: &str) -> Option<Reply> {
        None
    }

    fn preview(&self, _row: usize) -> Option<PreviewTarget> {
        None
    }

    fn draw_preview(&self, row: usize, frame: &mut Frame<'_>, area: Rect, theme: &Theme, context: OverlayContext<'_>) {
        if let Some(PreviewTarget::File(path, marked)) = self.preview(row) {
            draw_file_peek(frame, area, (&path, marked), context, theme);
        }
    }

    /// The list after a change of the session. `None` if it is the same.
    fn refreshed(&self, _session: &Session) -> Option<List<Self>> {
        None
    }
}

impl<T> List<T> {
    /// Replaces the rows. The query, the cursor and the marks stay.
    fn replace(&mut self, mut new: Self) {
        new.picker.carry_over(&self.picker);
        *self = new;
    }
}

impl<T: Rows> Overlay for List<T> {
    fn key(&mut self, key: KeyEvent) -> Reply {
        let row = self.picker.selected();
        if let Some(reply) = row.and_then(|row| self.rows.row_key(row, &key::name(key))) {
            return reply;
        }
        match self.picker.key(key) {
            PickerOutcome::Open => Reply::Stay,
            PickerOutcome::Cancelled => self.rows.cancelled(),
            PickerOutcome::Picked(rows) => self.rows.chosen(&rows),
        }
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        self.picker.fit(screen);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        if let Some(area) = self.picker.draw(frame, screen, context.hits, theme)
            && let Some(row) = self.picker.selected()
        {
            self.rows.draw_preview(row, frame, area, theme, context);
        }
    }

    fn picker(&mut self) -> Option<&mut Picker> {
        Some(&mut self.picker)
    }

    fn paste(&mut self, text: &str) {
        self.picker.paste(text);
    }

    fn wheel(&mut self, by: isize) {
        self.picker.wheel(by);
    }

    /// A click moves the cursor to the row. A double click, or a click on the row under the cursor, chooses it.
    fn click(&mut self, row: usize, double: bool) -> Reply {
        let was_there = self.picker.row() == row;
        if self.picker.point(row) && (double || was_there) {
            return self.key(KeyCode::Enter.into());
        }
        Reply::Stay
    }

    fn preview(&self) -> Option<PreviewTarget> {
        self.rows.preview(self.picker.selected()?)
    }

    fn refresh(&mut self, session: &Session, _: &Previews) {
        if let Some(new) = self.rows.refreshed(session) {
            self.replace(new);
        }
    }
}

/// A list to choose one row from.
pub type Menu = List<Choices>;

/// The reply of each row of a menu, and the reply to Esc.
#[derive(Debug)]
pub struct Choices {
    /// [`Reply::Stay`] for a row that cannot be chosen.
    replies: Vec<Reply>,
    cancelled: Reply,
}

pub struct MenuRow {
    /// The action, or the command with its slash.
    pub command: String,
    pub label: String,
    /// Shown at the right.
    pub detail: String,
    pub enabled: bool,
}

impl Rows for Choices {
    fn chosen(&self, rows: &[usize]) -> Reply {
        rows.first().and_then(|row| self.replies.get(*row)).cloned().unwrap_or(Reply::Close)
    }

    fn cancelled(&self) -> Reply {
        self.cancelled.clone()
    }
}

impl Menu {
    fn new(picker: Picker, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { picker, rows: Choices { replies: replies.into_iter().collect(), cancelled: Reply::Close } }
    }

    pub fn models(rows: &[ModelRow], part: ModelRole, query: &str) -> Self {
        let title = match part {
            ModelRole::Main => "models: which one answers",
            ModelRole::Weak => "models: which one writes summaries and commit messages",
            ModelRole::Editor => "models: which one writes the edits in architect mode",
        };
        let names = rows.iter().map(|row| row.name.clone());
        let dimmed = rows.iter().map(|row| !row.has_key).collect();
        let mut picker = Picker::new(title, names.clone().collect()).details(columns(rows)).dimmed(dimmed);
        picker.set_query(query);
        Self::new(picker, names.map(|name| Reply::Model(part, name)))
    }

    /// The themes, the current one first. It is restored if no theme is chosen.
    pub fn themes(names: &[&str], current: &str) -> Self {
        let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        names.sort_by_key(|name| name != current);
        let mut menu = Self::new(Picker::new("colours", names.clone()), names.into_iter().map(Reply::Theme));
        menu.rows.cancelled = Reply::Theme(current.to_owned());
        menu
    }

    pub fn commands(title: &str, rows: Vec<MenuRow>) -> Self {
        let (mut replies, mut labels, mut details, mut dimmed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            replies.push(if row.enabled { Reply::Run(row.command) } else { Reply::Stay });
            labels.push(row.label);
            details.push(row.detail);
            dimmed.push(!row.enabled);
        }
        Self::new(Picker::new(title, labels).details(details).dimmed(dimmed), replies)
    }

    /// The model servers on this machine: one row for each model of each server.
    pub fn servers(servers: &[LocalServer]) -> Self {
        let (mut rows, mut replies) = (Vec::new(), Vec::new());
        for LocalServer { name, api, base_url, models } in servers {
            let no_model = models.is_empty().then(String::new);
            for model in models.iter().chain(&no_model) {
                let label = if model.is_empty() { "(no model loaded)" } else { model };
                rows.push(format!("{label}  —  {name} at {base_url}"));
                replies.push(Reply::Connect { api: *api, base_url: base_url.clone(), model: model.clone() });
            }
        }
        Self::new(Picker::new("model servers on this machine", rows), replies)
    }

    pub fn inputs(inputs: &[String]) -> Self {
        let items = inputs.iter().rev().map(|text| text.replace('\n', " ⏎ ")).collect();
        Self::new(Picker::new("what was typed before", items), inputs.iter().rev().cloned().map(Reply::Recall))
    }

    pub fn theme_under_cursor(&self) -> Option<&str> {
        theme_of(self.rows.replies.get(self.picker.selected()?)?)
    }

    /// The theme from before the list of themes was opened.
    pub fn theme_before(&self) -> Option<&str> {
        theme_of(&self.rows.cancelled)
    }
}

fn theme_of(reply: &Reply) -> Option<&str> {
    if let Reply::Theme(name) = reply { Some(name) } else { None }
}

/// Window, prices and the availability of a key, each in a column.
fn columns(rows: &[ModelRow]) -> Vec<String> {
    let parts: Vec<Option<[&str; 3]>> = rows.iter().map(|row| parts(&row.detail)).collect();
    let wide = |at: usize| parts.iter().flatten().map(|parts| width::columns(parts[at])).max().unwrap_or(0);
    let wides = [wide(0), wide(1), wide(2)];
    let row = |(row, parts): (&ModelRow, &Option<[&str; 3]>)| {
        let key = if row.has_key { "      " } else { "no key" };
        let detail = match parts {
            Some([window, input, output]) => {
                let [wide, wide_in, wide_out] = wides;
                format!("{window:>wide$}  {input:>wide_in$} {output:>wide_out$}")
            }
            None => row.detail.clone(),
        };
        format!("{detail}  {key}")
    };
    rows.iter().zip(&parts).map(row).collect()
}

/// The columns of a detail such as `200k · $3 in, $15 out`. `None` for any other detail.
fn parts(detail: &str) -> Option<[&str; 3]> {
    let (window, prices) = detail.split_once(" · ")?;
    let (input, output) = prices.split_once(", ")?;
    Some([window, input, output])
}

/// Earlier sessions to resume, rename, delete or fork.
pub type SessionList = List<Sessions>;

#[derive(Debug)]
pub struct Sessions {
    lines: Vec<SessionLine>,
    /// The last messages of the sessions that were previewed, by number.
    said: BTreeMap<i64, Vec<(Speaker, String)>>,
}

impl SessionList {
    pub fn new(query: &str, lines: &[SessionLine]) -> Self {
        // Dates are searched too, so they are part of the item.
        let items = lines.iter().map(|line| format!("{}  {}", line.changed, title(line))).collect();
        let details = lines.iter().map(detail).collect();
        let keys = [("Alt-r", "rename"), ("Alt-d", "delete"), ("Alt-f", "fork")];
        let mut picker = Picker::new("earlier sessions", items).details(details).with_preview().extra_keys(&keys);
        picker.set_query(query);
        Self { picker, rows: Sessions { lines: lines.to_vec(), said: BTreeMap::new() } }
    }

    pub fn note(&mut self, number: i64, said: Vec<(Speaker, String)>) {
        self.rows.said.insert(number, said);
    }

    /// Replaces the sessions by the current ones. The query and the cursor stay.
    pub fn set_lines(&mut self, lines: &[SessionLine]) {
        let said = std::mem::take(&mut self.rows.said);
        self.replace(Self::new("", lines));
        self.rows.said = said;
    }
}

impl Rows for Sessions {
    fn chosen(&self, rows: &[usize]) -> Reply {
        let line = rows.first().and_then(|row| self.lines.get(*row));
        line.map_or(Reply::Close, |line| Reply::Resume(line.number))
    }

    fn row_key(&self, row: usize, key: &str) -> Option<Reply> {
        let line = self.lines.get(row)?;
        Some(match key {
            "Alt-r" => Reply::AskLine(LineFor::RenameSession(line.number), line.name.clone()),
            "Alt-d" => Reply::AskFirst(Box::new(deleting(line))),
            "Alt-f" => Reply::Fork(line.number),
            _ => return None,
        })
    }

    fn preview(&self, row: usize) -> Option<PreviewTarget> {
        let line = self.lines.get(row).filter(|line| !self.said.contains_key(&line.number))?;
        Some(PreviewTarget::Session(line.number))
    }

    fn draw_preview(&self, row: usize, frame: &mut Frame<'_>, area: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let said = self.lines.get(row).and_then(|line| self.said.get(&line.number));
        draw_session_peek(frame, area, said.map(Vec::as_slice), theme);
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

fn title(line: &SessionLine) -> String {
    if line.name.is_empty() || line.opening.is_empty() {
        return line.title().to_owned();
    }
    format!("{} — {}", line.name, line.opening)
}

fn detail(line: &SessionLine) -> String {
    // Only the number and the state are shown, to leave space for the title.
    let live = if line.live { ", open elsewhere" } else { "" };
    format!("#{}{live}", line.number)
}

const NAME_COLUMNS: usize = 20;

/// The settings, to be changed for this session or in the user's file.
pub type SettingsList = List<Settings>;

#[derive(Debug)]
pub struct Settings(Vec<SettingRow>);

impl SettingsList {
    pub fn new(rows: Vec<SettingRow>, query: &str) -> Self {
        let shown = |row: &SettingRow| {
            let value = if row.value.is_empty() { "(unset)" } else { &row.value };
            format!("{:<NAME_COLUMNS$} {}", row.name, width::clip(value, 60))
        };
        // Default values are dimmed.
        let dimmed = rows.iter().map(|row| row.origin == "default").collect();
        // Only the file name and the line of a path are shown.
        let origins = rows.iter().map(|row| row.origin.rsplit('/').next().unwrap_or_default().to_owned()).collect();
        let keys = [("Ctrl-s", "keep in the file"), ("Alt-d", "default")];
        let picker = Picker::new("settings", rows.iter().map(shown).collect()).details(origins).dimmed(dimmed);
        let mut picker = picker.with_preview().extra_keys(&keys);
        picker.set_query(query);
        Self { picker, rows: Settings(rows) }
    }

    pub fn change(&mut self, name: &str, value: &str, origin: &str) {
        let Some(row) = self.rows.0.iter_mut().find(|row| row.name == name) else { return };
        (row.value, row.origin) = (value.to_owned(), origin.to_owned());
        let rows = std::mem::take(&mut self.rows.0);
        self.replace(Self::new(rows, ""));
    }

    pub fn row(&self, name: &str) -> Option<&SettingRow> {
        self.rows.0.iter().find(|row| row.name == name)
    }
}

impl Rows for Settings {
    fn chosen(&self, rows: &[usize]) -> Reply {
        let row = rows.first().and_then(|row| self.0.get(*row));
        row.map_or(Reply::Stay, |row| Reply::ChangeSetting(Box::new(row.clone())))
    }

    fn row_key(&self, row: usize, key: &str) -> Option<Reply> {
        let row = self.0.get(row)?;
        match key {
            "Ctrl-s" => Some(Reply::KeepSetting(Box::new(row.clone()))),
            "Alt-d" => Some(Reply::ForgetSetting(Box::new(row.clone()))),
            _ => None,
        }
    }

    fn draw_preview(&self, row: usize, frame: &mut Frame<'_>, area: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let Some(row) = self.0.get(row) else { return };
        let or = |text: &str, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text.to_owned() };
        let mut facts = vec![
            (Role::Title, row.name.clone()),
            (Role::Text, row.help.clone()),
            (Role::Text, format!("now      {}", or(&row.value, "unset"))),
            (Role::Text, format!("from     {}", row.origin)),
            (Role::Muted, format!("default  {}", or(&row.default, "none"))),
            (Role::Muted, format!("takes    {}", row.kind.expected())),
        ];
        if !row.location.is_empty() {
            facts.push((Role::Muted, format!("kept in  {}", row.location)));
        }
        let lines = facts.iter().flat_map(|(role, text)| {
            wrapped(&sanitize::visible_line(text), " ", area.width.saturating_sub(2), theme.style(*role))
        });
        frame.render_widget(Paragraph::new(lines.take(usize::from(area.height)).collect::<Vec<_>>()), area);
    }
}

pub type SymbolList = List<Arc<Symbols>>;

impl SymbolList {
    /// The definitions in the order of the map, if there is one.
    pub fn new(graph: &Arc<TagGraph>, map: Option<&RepoMap>) -> Self {
        let rows = Arc::new(Symbols::new(Arc::clone(graph), map));
        let keys = [("Alt-a", "add the file"), ("Alt-e", "editor")];
        let picker = Picker::of("symbols: @ it in the message", Items::Symbols(Arc::clone(&rows)));
        Self { picker: picker.with_preview().extra_keys(&keys), rows }
    }
}

impl Rows for Arc<Symbols> {
    fn chosen(&self, rows: &[usize]) -> Reply {
        let symbol = rows.first().and_then(|row| self.get(*row));
        symbol.map_or(Reply::Close, |symbol| Reply::Mention(symbol.name.to_owned()))
    }

    fn row_key(&self, row: usize, key: &str) -> Option<Reply> {
        let symbol = self.get(row)?;
        match key {
            "Alt-a" => Some(Reply::Add(vec![symbol.path.to_owned()])),
            "Alt-e" => Some(Reply::Edit(symbol.path.to_owned(), symbol.line)),
            _ => None,
        }
    }

    fn preview(&self, row: usize) -> Option<PreviewTarget> {
        let symbol = self.get(row)?;
        Some(PreviewTarget::File(symbol.path.to_owned(), Some(Marked::line(symbol.line))))
    }
}

/// The files of the repository, to add some to the chat.
pub type FileList = List<Files>;

#[derive(Debug)]
pub struct Files {
    /// The files in the order of the picker.
    listed: Arc<Vec<String>>,
    /// The files that the list was made from, by path.
    known: Arc<Vec<String>>,
}

impl FileList {
    /// The files in the order of the map, if there is one.
    pub fn new(paths: &Arc<Vec<String>>, map: Option<&RepoMap>) -> Self {
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
        Self { picker: picker.paths().multiple().with_preview(), rows: Files { listed, known: Arc::clone(paths) } }
    }
}

impl Rows for Files {
    fn chosen(&self, rows: &[usize]) -> Reply {
        Reply::Add(rows.iter().filter_map(|row| self.listed.get(*row).cloned()).collect())
    }

    fn preview(&self, row: usize) -> Option<PreviewTarget> {
        Some(PreviewTarget::File(self.listed.get(row)?.clone(), None))
    }

    fn refreshed(&self, session: &Session) -> Option<List<Self>> {
        let map = session.view().and_then(|view| view.map.as_deref());
        (self.known != *session.paths()).then(|| FileList::new(session.paths(), map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_session::Connection;

    #[test]
    fn the_marks_and_the_cursor_stay_on_their_files_when_the_listing_changes() {
        let list =
            |names: &[&str]| FileList::new(&Arc::new(names.iter().map(|name| (*name).to_owned()).collect()), None);
        let mut files = list(&["a.rs", "c.rs", "d.rs"]);
        files.key(KeyCode::Down.into());
        files.key(KeyCode::Tab.into());
        files.replace(list(&["a.rs", "b.rs", "c.rs", "d.rs"]));
        assert!(matches!(files.preview(), Some(PreviewTarget::File(path, _)) if path == "d.rs"));
        assert_eq!(files.key(KeyCode::Enter.into()), Reply::Add(vec!["c.rs".into()]));
    }

    #[test]
    fn an_equal_listing_does_not_replace_the_files() {
        let (session, _) = Session::start(Connection::None);
        assert!(FileList::new(&Arc::default(), None).rows.refreshed(&session).is_none());
    }

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
