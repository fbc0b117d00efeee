//! The search of the repository: passages for a question or a name, listed as one types, with a look at the one under the cursor.

mod draw;
mod rows;

use crossterm::event::{KeyCode, KeyEvent};

use super::{Look, Place, Reply};
use crate::session::{Clip, SurveyState};
use crate::tui::key;
use crate::tui::widget::input::LineInput;
use crate::tui::widget::meter::grouped;
use crate::tui::widget::preview::Marked;
use crate::tui::widget::scroll::ListWindow;
use rhumb_index::retrieval::{Hit, Question};
use rhumb_text::sanitize;
use rows::{Row, flat, in_files};

/// Passages that are asked for: more than anybody looks through.
const MOST_HITS: usize = 40;

/// What is known of the passages for what was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Nothing was asked, or nothing has come yet.
    None,
    /// Nothing is known of the repository yet.
    Unread,
    /// The search broke off.
    Failed,
    /// These are they.
    Found,
}

/// The search while it is open.
#[derive(Debug)]
pub struct CodeSearch {
    input: LineInput,
    /// The question that was asked last.
    asked: Option<Question>,
    /// Its answer is on its way. What is typed meanwhile is asked when that has come: each answer is for what was typed last,
    /// and nobody computes what is not looked at.
    waiting: bool,
    /// The repository is known better than when it was asked.
    repeat: bool,
    answer: Answer,
    /// What the passages that are listed were asked for with.
    shown: String,
    hits: Vec<Hit>,
    rows: Vec<Row>,
    window: ListWindow,
    /// Whether passages are listed below the files that they are in; else one by one, the best first.
    in_files: bool,
    /// How far the repository is read; empty when it is.
    reading: String,
    /// What the last key did.
    note: String,
}

impl CodeSearch {
    /// A search that begins with some words, which may be none.
    pub fn new(words: &str) -> Self {
        Self {
            input: LineInput::new(words),
            asked: None,
            waiting: false,
            repeat: false,
            answer: Answer::None,
            shown: String::new(),
            hits: Vec::new(),
            rows: Vec::new(),
            window: ListWindow::default(),
            in_files: false,
            reading: String::new(),
            note: String::new(),
        }
    }

    /// Takes in how far the repository is read.
    pub fn note_survey(&mut self, survey: SurveyState) {
        self.reading = match survey {
            SurveyState::Reading(found, 0) => format!("the repository is being read: {} files so far", grouped(found)),
            SurveyState::Reading(done, all) => {
                format!("the repository is being read: {} of {}", grouped(done), grouped(all))
            }
            SurveyState::Partial(done, all) => format!("only {} of {} files were read", grouped(done), grouped(all)),
            SurveyState::Done => String::new(),
        };
    }

    /// The question to ask now, if what was typed is another one than before.
    pub fn next(&mut self) -> Option<Question> {
        let text = self.input.text().trim();
        if self.waiting || self.asked.as_ref().is_some_and(|asked| asked.text == text) {
            return None;
        }
        if text.is_empty() {
            self.asked = None;
            self.shown.clear();
            self.answer = Answer::None;
            self.list(Vec::new());
            return None;
        }
        let question = Question::new(text, MOST_HITS);
        self.asked = Some(question.clone());
        self.waiting = true;
        Some(question)
    }

    /// Takes in the passages, if they are for the question that was asked last; `None` while nothing is known of the repository.
    pub fn found(&mut self, question: &Question, hits: Option<&[Hit]>) {
        if self.asked.as_ref() != Some(question) {
            return;
        }
        self.waiting = false;
        self.answer = if hits.is_some() { Answer::Found } else { Answer::Unread };
        let held = self.hit().filter(|_| self.shown == question.text).map(|hit| (hit.path.clone(), hit.line));
        self.shown.clone_from(&question.text);
        self.list(hits.unwrap_or_default().to_vec());
        let is_held = |row: &Row| match row {
            Row::Hit(at) => self.hits.get(*at).map(|hit| (hit.path.clone(), hit.line)) == held,
            Row::File { .. } => false,
        };
        if held.is_some()
            && let Some(row) = self.rows.iter().position(is_held)
        {
            self.window.select(row);
        }
        if std::mem::take(&mut self.repeat) {
            self.asked = None;
        }
    }

    /// More is known of the repository: what was asked is asked again.
    pub fn again(&mut self) {
        match self.waiting {
            true => self.repeat = true,
            false => self.asked = None,
        }
    }

    /// Something failed while an answer was on its way.
    pub fn failed(&mut self) {
        if std::mem::take(&mut self.waiting) {
            self.answer = Answer::Failed;
        }
    }

    /// Says what a key did, until the next one.
    pub fn tell(&mut self, note: String) {
        self.note = note;
    }

    fn list(&mut self, hits: Vec<Hit>) {
        self.hits = hits;
        self.rows = if self.in_files { in_files(&self.hits) } else { flat(&self.hits) };
        self.window.set_len(self.rows.len());
        self.window.first();
        self.leave_heading(true);
    }

    /// The passage under the cursor.
    fn hit(&self) -> Option<&Hit> {
        self.hits.get(self.rows.get(self.window.selected()?)?.hit())
    }

    /// Headings are passed over, in the direction that the cursor goes.
    fn leave_heading(&mut self, down: bool) {
        if matches!(self.window.selected().and_then(|at| self.rows.get(at)), Some(Row::File { .. })) {
            let at = self.window.selected().unwrap_or(0);
            self.window.select(if down || at == 0 { at + 1 } else { at - 1 });
        }
    }

    fn step(&mut self, down: bool) {
        self.window.cycle(down);
        // Above the first heading is the end of the list.
        let is_first = matches!(self.rows.first(), Some(Row::File { .. })) && self.window.selected() == Some(0);
        if !down && is_first { self.window.last() } else { self.leave_heading(down) }
    }

    /// To the next passage in another file, or the one before.
    fn step_file(&mut self, down: bool) {
        let from = self.hit().map(|hit| hit.path.clone());
        for _ in 0..self.rows.len() {
            self.step(down);
            if self.hit().map(|hit| &hit.path) != from.as_ref() {
                return;
            }
        }
    }

    fn regroup(&mut self) {
        let held = self.rows.get(self.window.selected().unwrap_or(0)).map(|row| row.hit());
        self.in_files = !self.in_files;
        let hits = std::mem::take(&mut self.hits);
        self.list(hits);
        let is_held = |row: &Row| matches!(row, Row::Hit(at) if Some(*at) == held);
        if let Some(row) = self.rows.iter().position(is_held) {
            self.window.select(row);
        }
    }

    /// Takes a key. Letters are typed; Enter shows the passage, others add its file, ask about it, open or copy where it is.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        self.note.clear();
        match (key::name(key).as_str(), key.code) {
            ("Esc", _) => return Reply::Close,
            ("Down" | "Ctrl-n", _) => self.step(true),
            ("Up" | "Ctrl-p", _) => self.step(false),
            ("Tab", _) => self.step_file(true),
            ("Shift-Tab", _) => self.step_file(false),
            (_, KeyCode::PageDown) => {
                self.window.page_down();
                self.leave_heading(true);
            }
            (_, KeyCode::PageUp) => {
                self.window.page_up();
                self.leave_heading(false);
            }
            ("Alt-g", _) => self.regroup(),
            ("Alt-q", _) => return Reply::AskCodebase(self.input.text().trim().to_owned()),
            ("Enter" | "Alt-a" | "Alt-r" | "Alt-e" | "Alt-y", _) => return self.use_hit(&key::name(key)),
            _ => drop(self.input.key(key)),
        }
        Reply::Stay
    }

    /// Does what a key does with the passage under the cursor.
    fn use_hit(&mut self, name: &str) -> Reply {
        let Some(hit) = self.hit().cloned() else {
            self.note = "there is nothing under the cursor yet".into();
            return Reply::Stay;
        };
        let path = hit.path.to_string();
        match name {
            "Alt-a" => Reply::AddFound(path, false),
            "Alt-r" => Reply::AddFound(path, true),
            "Alt-e" => Reply::Visit(path, hit.line as usize),
            "Alt-y" => {
                // What is pasted into a shell must not act there by what a file is called.
                let text = sanitize::visible_line(&format!("{path}:{}", hit.line)).into_owned();
                self.note = format!("copied: {text}");
                Reply::Copy(Clip { what: "The place".into(), text, hint: String::new() })
            }
            _ => Reply::Show(self.places()),
        }
    }

    /// All passages as places to look at, the one under the cursor first.
    fn places(&self) -> Vec<Place> {
        let order = self.rows.iter().filter(|row| matches!(row, Row::Hit(_))).map(|row| row.hit());
        let place = |hit: &Hit| Place {
            path: hit.path.to_string(),
            line: Some(hit.line),
            end: Some(hit.end_line),
            name: hit.symbol.clone().unwrap_or_default(),
        };
        let listed: Vec<&Hit> = order.filter_map(|at| self.hits.get(at)).collect();
        let here = self.hit().and_then(|hit| listed.iter().position(|other| std::ptr::eq(*other, hit))).unwrap_or(0);
        let mut places: Vec<Place> = listed.into_iter().map(place).collect();
        places.rotate_left(here);
        places
    }

    /// Takes a paste.
    pub fn paste(&mut self, text: &str) {
        self.input.insert(text.trim_end_matches(['\r', '\n']));
    }

    /// Takes a click on a row: it comes under the cursor; twice, or where that was already, it is shown.
    pub fn click(&mut self, row: usize, double: bool) -> Reply {
        let was_there = self.window.selected() == Some(row);
        self.window.select(row);
        let is_hit = matches!(self.rows.get(row), Some(Row::Hit(_)));
        self.leave_heading(true);
        if is_hit && (double || was_there) { self.use_hit("Enter") } else { Reply::Stay }
    }

    /// Moves the list by so many rows.
    pub fn wheel(&mut self, by: isize) {
        self.window.scroll(by);
        self.leave_heading(by > 0);
    }

    /// The passage under the cursor.
    pub fn look(&self) -> Option<Look> {
        let hit = self.hit()?;
        Some(Look::File(hit.path.to_string(), Some(Marked { first: hit.line as usize, last: hit.end_line as usize })))
    }
}

#[cfg(test)]
mod tests;
