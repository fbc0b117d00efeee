//! Overlays for input: one line, a reply that was copied elsewhere (copy mode), and the level meter of dictation.

use rhumb_session::{Recording, RecordingState};

use super::{Overlay, OverlayContext, Reply, centred, window};
use crate::tui::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineFor {
    RenameSession(i64),
    Setting(String),
    Arguments(String),
}

#[derive(Debug)]
pub struct LineBox {
    title: String,
    text: Vec<String>,
    wrong: String,
    input: LineInput,
    what: LineFor,
    may_be_blank: bool,
}

impl LineBox {
    /// An input with the initial text `start`.
    pub fn new(title: &str, text: impl IntoIterator<Item = String>, start: &str, what: LineFor) -> Self {
        let safe = |text: &str| sanitize::visible_line(text).into_owned();
        Self {
            title: format!(" {} ", safe(title)),
            text: text.into_iter().filter(|line| !line.is_empty()).map(|line| safe(&line)).collect(),
            wrong: String::new(),
            input: LineInput::new(start),
            what,
            may_be_blank: false,
        }
    }

    pub fn may_be_blank(mut self) -> Self {
        self.may_be_blank = true;
        self
    }

    pub fn refuse(&mut self, why: &str) {
        self.wrong = sanitize::visible_line(why).into_owned();
    }
}

impl Overlay for LineBox {
    fn key(&mut self, key: KeyEvent) -> Reply {
        match key.code {
            KeyCode::Esc => return Reply::Close,
            KeyCode::Enter if self.may_be_blank || !self.input.text().trim().is_empty() => {
                return Reply::Line(self.what.clone(), self.input.text().trim().to_owned());
            }
            _ => {
                if self.input.key(key) {
                    self.wrong.clear();
                }
            }
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.input.insert(text);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let wide = screen.width.min(84);
        let columns = usize::from(wide.saturating_sub(4)).max(8);
        let mut text: Vec<Line<'_>> = Vec::new();
        let paragraphs = self.text.iter().map(|text| (text, Role::Text)).chain([(&self.wrong, Role::Error)]);
        for (paragraph, role) in paragraphs.filter(|(paragraph, _)| !paragraph.is_empty()) {
            text.extend(wrapped(paragraph, " ", columns, theme.style(role)));
        }
        let height = cells(text.len() + 5).min(screen.height);
        let inner = window(frame, centred(screen, wide, height), &self.title, theme);
        let [body, line, hint] =
            Layout::vertical([Constraint::Fill(1), Constraint::Length(1), Constraint::Length(1)]).areas(inner);
        // The error is the last line and must be visible.
        let first = if self.wrong.is_empty() { 0 } else { text.len().saturating_sub(usize::from(body.height)) };
        frame.render_widget(Paragraph::new(text.split_off(first)), body);
        self.input.draw(frame, line, "", theme);
        let empty = if self.may_be_blank { ", empty too" } else { "" };
        let keys = format!(" Enter takes it{empty} · Esc goes back");
        frame.render_widget(clipped(&keys, hint.width, theme.style(Role::Muted)), hint);
    }
}

#[derive(Debug, Default)]
pub struct PasteBox {
    text: String,
    /// Whether the text comes from the clipboard and was not edited.
    filled: bool,
}

impl PasteBox {
    /// Sets the text of the clipboard, unless the input has a text. A paste replaces it.
    pub fn fill(&mut self, text: &str) {
        if self.text.is_empty() {
            self.paste(text);
            self.filled = true;
        }
    }

    pub fn is_untouched(&self) -> bool {
        self.text.is_empty() || self.filled
    }

    /// Puts the cursor after the end of the text, of which `shown` lines are visible.
    fn put_cursor(&self, frame: &mut Frame<'_>, inner: Rect, shown: usize) {
        if inner.is_empty() {
            return;
        }
        let last = self.text.rsplit('\n').next().unwrap_or_default();
        let row = if self.text.is_empty() || self.text.ends_with('\n') { shown } else { shown.saturating_sub(1) };
        let column = width::columns(&sanitize::visible_line(last));
        place_cursor(frame, Rect { y: inner.y + cells(row).min(inner.height - 1), ..inner }, column);
    }
}

impl Overlay for PasteBox {
    /// Handles a key. Terminals without bracketed paste send the pasted text as keys, so keys are text here. Ctrl-D is never
    /// part of a paste.
    fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        match name.as_str() {
            "Ctrl-d" => return Reply::Pasted(std::mem::take(&mut self.text)),
            "Esc" => return Reply::Close,
            "Backspace" => {
                self.filled = false;
                self.text.pop();
            }
            "Enter" | "Ctrl-j" => self.paste("\n"),
            "Tab" => self.paste("\t"),
            _ => {
                if let KeyCode::Char(c) = key.code
                    && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
                {
                    self.paste(c.encode_utf8(&mut [0; 4]));
                }
            }
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        if std::mem::take(&mut self.filled) {
            self.text.clear();
        }
        self.text.push_str(&text.replace("\r\n", "\n").replace('\r', "\n"));
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let area = centred(screen, screen.width.saturating_sub(6).min(100), screen.height.saturating_sub(4).min(24));
        let inner = window(frame, area, " paste the model's reply ", theme);
        let rows = usize::from(inner.height.saturating_sub(2));
        let count = self.text.lines().count();
        let shown = self.text.lines().skip(count.saturating_sub(rows));
        let mut lines: Vec<Line<'_>> = shown.map(|line| Line::raw(sanitize::visible_line(line).into_owned())).collect();
        if self.text.is_empty() {
            let hint = "Copy the whole reply in the other chat, then paste it here.";
            lines.extend(wrapped(hint, "", inner.width, theme.style(Role::Muted)));
        }
        lines.resize_with(rows + 1, Line::default);
        let from = if self.filled { " of the clipboard; or paste" } else { "" };
        let hint = format!("Ctrl-d review · Esc discard · {count} lines{from}");
        lines.push(Line::styled(hint, theme.style(Role::Muted)));
        frame.render_widget(Paragraph::new(lines), inner);
        self.put_cursor(frame, inner, count.min(rows));
    }
}

/// A column of the meter, from silent to loud.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Level of the meter below which the recording is silent: about 48 decibels below full scale.
const MIN_SPEECH_LEVEL: f32 = 0.2;
/// Level of the meter from which the recording may be clipped.
const CLIPPING_LEVEL: f32 = 0.97;
/// Number of quiet levels before the silence is reported: about two seconds.
const MIN_QUIET_LEVELS: usize = 16;

#[derive(Debug)]
pub struct VoiceMeter {
    recording: Recording,
}

impl VoiceMeter {
    pub fn new(recording: &Recording) -> Self {
        Self { recording: recording.clone() }
    }

    fn words(&self) -> (String, &'static str) {
        let seconds = self.recording.seconds;
        match self.recording.state {
            RecordingState::Starting => ("the recorder starts …".to_owned(), "Esc leaves it"),
            RecordingState::Recording => {
                (format!("● recording · {seconds:.1} s"), "Enter writes it down · Esc throws it away")
            }
            RecordingState::Transcribing => (format!("{seconds:.1} s are being written down …"), "Esc throws it away"),
        }
    }

    fn meter(&self, columns: usize, theme: &Theme) -> Line<'static> {
        let levels = &self.recording.levels;
        let newest = levels.iter().skip(levels.len().saturating_sub(columns));
        let bar = |level: &f32| {
            let role = if *level >= CLIPPING_LEVEL { Role::MeterHigh } else { Role::MeterLow };
            Span::styled(column(*level).to_string(), theme.style(role))
        };
        Line::from_iter(std::iter::once(Span::raw(" ")).chain(newest.map(bar)))
    }

    fn remark(&self) -> &'static str {
        let levels = &self.recording.levels;
        let newest = || levels.iter().rev().take(MIN_QUIET_LEVELS);
        let is_recording = self.recording.state == RecordingState::Recording;
        if is_recording && levels.len() >= MIN_QUIET_LEVELS && newest().all(|level| *level < MIN_SPEECH_LEVEL) {
            "no sound: is the microphone on?"
        } else if is_recording && newest().any(|level| *level >= CLIPPING_LEVEL) {
            "too loud: a little further from the microphone"
        } else {
            ""
        }
    }
}

impl Overlay for VoiceMeter {
    fn key(&mut self, key: KeyEvent) -> Reply {
        match key.code {
            KeyCode::Enter => Reply::Spoken(true),
            KeyCode::Esc => Reply::Spoken(false),
            _ => Reply::Stay,
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let inner = window(frame, centred(screen, 64, 7), " speak the message ", theme);
        let columns = usize::from(inner.width.saturating_sub(2));
        let line = |text: &str, role: Role| Line::styled(format!(" {}", width::clip(text, columns)), theme.style(role));
        let (state, keys) = self.words();
        let lines = vec![
            line(&state, Role::Text),
            Line::default(),
            self.meter(columns, theme),
            line(self.remark(), Role::Warning),
            line(keys, Role::Key),
        ];
        frame.render_widget(Paragraph::new(lines), inner);
    }
}

/// The bar of a level from 0 to 1.
fn column(level: f32) -> char {
    // From 0 to 7, since the level is clamped.
    let at = (level.clamp(0.0, 1.0) * (BARS.len() - 1) as f32).round() as usize;
    BARS.get(at).copied().unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_and_noise_are_told() {
        let meter = |level: f32, count: usize| {
            let levels = std::iter::repeat_n(level, count).collect();
            VoiceMeter { recording: Recording { number: 1, state: RecordingState::Recording, levels, seconds: 3.0 } }
        };
        assert_eq!(meter(0.0, 4).remark(), "", "a moment of silence is nothing");
        assert!(meter(0.05, 20).remark().contains("no sound"));
        assert!(meter(1.0, 1).remark().contains("too loud"));
        assert_eq!(meter(0.6, 20).remark(), "");
        assert_eq!((column(0.0), column(0.5), column(1.0), column(f32::NAN)), ('▁', '▅', '█', '▁'));
    }
}
