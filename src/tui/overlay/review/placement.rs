//! Manual placement of an edit: its quoted and proposed lines, and the lines of the file that it would replace. For a
//! hunk that lost its place because the file changed on disk, three texts: base, current and proposed.

use std::ops::Range;
use std::sync::Arc;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use rhumb_edit::{Outcome, duplicate_lines, first_declaration, likely_lines, range_near, similar_line};
use rhumb_session::Session;
use rhumb_text::{lines, sanitize, width};

use super::{PageContent, Reply, ReviewPage, ReviewReply, Styled, choice, feet, wrapped};
use crate::tui::key;
use crate::tui::overlay::{Overlay, OverlayContext, centred, window};
use crate::tui::previews::{Preview, Previews};
use crate::tui::theme::{Role, Theme};

/// Maximum number of candidates: one for each digit key.
const MAX_CANDIDATES: usize = 9;

/// Lines of the file that are shown before and after the place.
const CONTEXT_LINES: usize = 3;

/// With at least this many columns the three texts of a conflict are side by side.
const MIN_COLUMNS_SIDE_BY_SIDE: u16 = 132;

/// The choice for an unplaced edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    pub path: String,
    /// The quoted and the replacement text, which identify the edit.
    pub edit: (String, String),
    pub now: Option<Arc<str>>,
    pub confirmed_action: PlacementAction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlacementAction {
    /// Replace these lines (0-based).
    Put(Range<usize>),
    Edit(Range<usize>),
    /// Dismiss it.
    Dismiss,
    Ask,
}

#[derive(Debug)]
pub struct PlacementBox {
    outcome: Outcome,
    now: Option<Arc<str>>,
    /// Candidate ranges of lines (0-based), the most likely first.
    offered: Vec<Range<usize>>,
    place: Range<usize>,
    page: ReviewPage,
}

impl PlacementBox {
    /// `now` is the text of the file, if it is known.
    pub fn new(outcome: Outcome, now: Option<Arc<str>>) -> Self {
        let mut place = Self { outcome, now: None, offered: Vec::new(), place: 0..0, page: ReviewPage::default() };
        now.into_iter().for_each(|now| place.show(now));
        place
    }

    /// The file whose text is missing.
    fn wants(&self) -> Option<&str> {
        self.now.is_none().then_some(self.outcome.path.as_str())
    }

    fn show(&mut self, now: Arc<str>) {
        let all = lines::split(&now);
        let near = self.outcome.nearest.first().filter(|_| self.outcome.is_conflict());
        let length = near.map_or(self.outcome.quote.lines().count(), |near| lines::split(&near.text).len());
        let mut offered: Vec<usize> = match near {
            Some(near) => vec![near.line],
            None => self.outcome.candidates.iter().map(|candidate| candidate.line).collect(),
        };
        for line in likely_lines(&now, &self.outcome.quote, MAX_CANDIDATES) {
            if offered.iter().all(|known| known.abs_diff(line) > length / 2) {
                offered.push(line);
            }
        }
        if offered.is_empty() {
            offered.extend(similar_line(&now, &self.outcome.quote).map(|line| line + 1));
        }
        offered.truncate(MAX_CANDIDATES);
        let starts = offered.into_iter().map(|line| line.saturating_sub(1).min(all.len()));
        let (quote, replacement) = (&self.outcome.quote, &self.outcome.replacement);
        let place = |start: usize| match near {
            Some(_) => start..(start + length).min(all.len()),
            None => range_near(&now, quote, replacement, start),
        };
        let mut offered: Vec<Range<usize>> = Vec::new();
        for place in starts.map(place) {
            if !offered.contains(&place) {
                offered.push(place);
            }
        }
        self.offered = offered;
        let first = first_declaration(&now);
        self.place = first..first;
        self.now = Some(now);
        self.go_to(0);
    }

    fn go_to(&mut self, number: usize) {
        if let Some(place) = self.offered.get(number) {
            self.place = place.clone();
        }
    }

    fn count(&self) -> usize {
        self.now.as_deref().map_or(0, |now| lines::split(now).len())
    }

    fn reply(&self, confirmed_action: PlacementAction) -> Reply {
        let edit = (self.outcome.quote.clone(), self.outcome.replacement.clone());
        let placement_reply =
            Placement { path: self.outcome.path.clone(), edit, now: self.now.clone(), confirmed_action };
        Reply::Review(ReviewReply::Place(Box::new(placement_reply)))
    }

    fn is_side_by_side(&self, screen: Rect) -> bool {
        self.outcome.is_conflict() && screen.width >= MIN_COLUMNS_SIDE_BY_SIDE
    }

    fn content(&self, previews: &Previews) -> PageContent {
        let why_not = match self.wants().map(|path| previews.get(path)) {
            Some(Some(Preview::None(reason))) => Some(format!("the file cannot be read: {reason}")),
            Some(_) => Some("reading the file …".to_owned()),
            None => None,
        };
        let path = sanitize::visible_line(&self.outcome.path);
        let (title, text) = match self.outcome.is_conflict() {
            true => (format!("conflict · {path}"), self.stacked()),
            false => (format!("place by hand · {path}"), self.by_hand(why_not.as_deref())),
        };
        PageContent { title, max_width: 100, text, choices: self.choices() }
    }

    fn choices(&self) -> Vec<(String, String)> {
        let mut choices = Vec::new();
        let is_conflict = self.outcome.is_conflict();
        if is_conflict {
            choices.push(choice("d", "keeps the disk"));
        }
        if self.now.is_some() {
            choices.push(choice("Enter", if is_conflict { "takes the proposed here" } else { "puts it here" }));
            choices.push(choice("e", "editor"));
            choices.push(choice("j k", "moves the place"));
            choices.push(choice("+ -", "its lines"));
            if self.offered.len() > 1 {
                choices.push(choice(&format!("1–{}", self.offered.len()), "other places"));
            }
        }
        choices.push(choice("r", "asks the model"));
        if !is_conflict {
            choices.push(choice("d", "puts it away"));
        }
        choices.push(choice("Esc", "back"));
        choices
    }

    fn place_name(&self) -> String {
        match self.place.len() {
            0 => format!("before line {}", self.place.start + 1),
            1 => format!("line {}", self.place.start + 1),
            _ => format!("lines {}–{}", self.place.start + 1, self.place.end),
        }
    }

    fn by_hand(&self, why_not: Option<&str>) -> Vec<Styled> {
        let mut text = vec![(Role::Warning, self.outcome.reason.clone()), blank()];
        text.push((Role::Title, "The edit".to_owned()));
        text.extend(self.outcome.quote.lines().map(|line| (Role::Removed, format!("- {line}"))));
        text.extend(self.outcome.replacement.lines().map(|line| (Role::Added, format!("+ {line}"))));
        text.push(blank());
        if let Some(why_not) = why_not {
            text.push((Role::Warning, why_not.to_owned()));
            return text;
        }
        let number = self.offered.iter().position(|place| *place == self.place);
        let of = number.map_or_else(String::new, |number| format!(" · place {} of {}", number + 1, self.offered.len()));
        if self.offered.is_empty() {
            text.push((
                Role::Warning,
                "No line of the file is like those of the edit: move it to its place.".to_owned(),
            ));
        }
        let verb = if self.place.is_empty() { "It would be added" } else { "It would replace" };
        text.push((Role::Title, format!("{verb} {}{of}", self.place_name())));
        text.extend(self.repeated_lines().map(|told| (Role::Warning, told)));
        text.extend(self.lines_around());
        text
    }

    /// Warnings about lines that would be duplicated at this location.
    fn repeated_lines(&self) -> impl Iterator<Item = String> {
        let now = self.now.as_deref().unwrap_or_default();
        let repeated = duplicate_lines(now, &self.place, &self.outcome.replacement);
        let all = lines::split(now);
        let told = |place: Range<usize>, side: &str| {
            let line = all.get(place.start).filter(|_| !place.is_empty())?;
            let number = place.start + 1;
            Some(format!("Line {number} {side} it would be there twice: {}", lines::body(line).trim()))
        };
        [told(repeated.before, "before"), told(repeated.after, "after")].into_iter().flatten()
    }

    /// The lines of the file around the location.
    fn lines_around(&self) -> Vec<Styled> {
        let all = lines::split(self.now.as_deref().unwrap_or_default());
        let first = self.place.start.saturating_sub(CONTEXT_LINES);
        let digits = all.len().max(1).ilog10() as usize + 1;
        let row = |(at, line): (usize, &&str)| {
            let is_there = self.place.contains(&at);
            let (mark, role) = if is_there { ('▸', Role::Removed) } else { (' ', Role::Gutter) };
            (role, format!("{mark} {:>digits$}  {}", at + 1, lines::body(line)))
        };
        let count = self.place.end + CONTEXT_LINES - first.min(self.place.end + CONTEXT_LINES);
        let mut rows: Vec<Styled> = all.iter().enumerate().skip(first).take(count).map(row).collect();
        if self.place.is_empty() {
            let at = (self.place.start - first).min(rows.len());
            rows.insert(at, (Role::Added, "▸ (here)".to_owned()));
        }
        rows
    }

    /// The three texts of a conflict, with headings.
    fn parts(&self) -> [(String, Vec<Styled>); 3] {
        let plain = |text: &str| text.lines().map(|line| (Role::Gutter, line.to_owned())).collect();
        let now = match &self.now {
            Some(_) => self.lines_around(),
            None => self
                .outcome
                .nearest
                .iter()
                .flat_map(|near| near.text.lines())
                .map(|line| (Role::Removed, line.to_owned()))
                .collect(),
        };
        let proposed = self.outcome.replacement.lines().map(|line| (Role::Added, line.to_owned())).collect();
        [
            ("as it was".to_owned(), plain(&self.outcome.quote)),
            (format!("on disk now, {}", self.place_name()), now),
            ("proposed".to_owned(), proposed),
        ]
    }

    fn stacked(&self) -> Vec<Styled> {
        let mut text = vec![(Role::Warning, self.outcome.reason.clone())];
        for (heading, lines) in self.parts() {
            text.push(blank());
            text.push((Role::Title, format!("── {heading}")));
            text.extend(lines);
        }
        text
    }

    fn side_by_side(
        &self,
        frame: &mut Frame<'_>,
        screen: Rect,
        theme: &Theme,
        title: &str,
        choices: &[(String, String)],
    ) {
        let columns = screen.width.saturating_sub(4).min(180);
        let feet = feet(choices, usize::from(columns.saturating_sub(4)), theme);
        let parts = self.parts();
        let most = parts.iter().map(|(_, lines)| lines.len()).max().unwrap_or_default() + feet.len() + 7;
        // Long lines wrap.
        let height = u16::try_from(most * 3 / 2).unwrap_or(u16::MAX).min(screen.height.saturating_sub(2));
        let inner = window(frame, centred(screen, columns, height), &format!(" {title} "), theme);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        let foot = u16::try_from(feet.len()).unwrap_or(1);
        let [reason, _, body, _, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Fill(1),
            Constraint::Length(1),
            Constraint::Length(foot),
        ])
        .areas(inner);
        let clip = |text: &str, room: u16| width::clip(&sanitize::visible_line(text), usize::from(room)).into_owned();
        frame.render_widget(Line::styled(clip(&self.outcome.reason, reason.width), theme.style(Role::Warning)), reason);
        let areas: [Rect; 3] = Layout::horizontal([Constraint::Fill(1); 3]).spacing(2).areas(body);
        for ((heading, text), area) in parts.into_iter().zip(areas) {
            let rule = format!("── {} ", clip(&heading, area.width.saturating_sub(4)));
            let mut rows = vec![Line::styled(rule, theme.style(Role::Title))];
            rows.extend(text.iter().flat_map(|line| wrapped(line, usize::from(area.width).max(1), theme)));
            frame.render_widget(Paragraph::new(rows), area);
        }
        frame.render_widget(Paragraph::new(feet), keys);
    }
}

impl Overlay for PlacementBox {
    fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        let count = self.count();
        let is_known = self.now.is_some();
        let can_stand = is_known && !(self.outcome.is_conflict() && self.outcome.nearest.is_empty());
        match name.as_str() {
            "Esc" | "q" => return Reply::Close,
            "d" => return self.reply(PlacementAction::Dismiss),
            "r" => return self.reply(PlacementAction::Ask),
            "Enter" | "t" if can_stand => return self.reply(PlacementAction::Put(self.place.clone())),
            "e" if is_known => return self.reply(PlacementAction::Edit(self.place.clone())),
            "j" | "Down" if self.place.end < count => self.place = self.place.start + 1..self.place.end + 1,
            "k" | "Up" if self.place.start > 0 => self.place = self.place.start - 1..self.place.end - 1,
            "+" | "=" if self.place.end < count => self.place.end += 1,
            "-" if !self.place.is_empty() => self.place.end -= 1,
            "Tab" => {
                let next = self.offered.iter().position(|place| *place == self.place).map_or(0, |at| at + 1);
                self.go_to(next % self.offered.len().max(1));
            }
            "j" | "k" | "Down" | "Up" | "Space" => {}
            name => {
                if let Some(number) = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) {
                    self.go_to(number);
                } else {
                    self.page.key(name);
                }
            }
        }
        Reply::Stay
    }

    fn fit(&mut self, screen: Rect, theme: &Theme, previews: &Previews) {
        if !self.is_side_by_side(screen) {
            let content = self.content(previews);
            self.page.fit(screen, theme, &content);
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, context: OverlayContext<'_>) {
        let content = self.content(context.previews);
        if self.is_side_by_side(screen) {
            self.side_by_side(frame, screen, theme, &content.title, &content.choices)
        } else {
            self.page.draw(frame, screen, theme, &content)
        }
    }

    /// Uses the text of the file as soon as it is read.
    fn refresh(&mut self, _: &Session, previews: &Previews) {
        if let Some(Preview::Text(text)) = self.wants().and_then(|path| previews.get(path)) {
            self.show(Arc::clone(text));
        }
    }
}

fn blank() -> Styled {
    (Role::Text, String::new())
}
