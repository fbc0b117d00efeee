//! A message that is being spoken: how loud, how long, and how to end it.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{Reply, centred, window};
use crate::session::{Recording, Stage};
use crate::tui::theme::{Role, Theme};
use rhumb_text::width;

/// A column of the meter, from silent to loud.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Below this level nothing is being said: about 48 decibels below full scale.
const QUIET: f32 = 0.2;
/// From this level on the recording may be distorted.
const LOUD: f32 = 0.97;
/// As many levels have to be quiet before that is told; some two seconds.
const QUIET_LEVELS: usize = 16;

/// The recording as it was last heard.
#[derive(Debug)]
pub struct VoiceMeter {
    recording: Recording,
}

impl VoiceMeter {
    /// The meter of a recording.
    pub fn new(recording: &Recording) -> Self {
        Self { recording: recording.clone() }
    }

    /// Takes a key: Enter has it written down, Esc throws it away.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        match key.code {
            KeyCode::Enter => Reply::Spoken(true),
            KeyCode::Esc => Reply::Spoken(false),
            _ => Reply::Stay,
        }
    }

    /// Draws it over `screen`.
    pub fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme) {
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

    /// What happens, and which keys there are.
    fn words(&self) -> (String, &'static str) {
        let seconds = self.recording.seconds;
        match self.recording.stage {
            Stage::Starting => ("the recorder starts …".to_owned(), "Esc leaves it"),
            Stage::Recording => (format!("● recording · {seconds:.1} s"), "Enter writes it down · Esc throws it away"),
            Stage::Writing => (format!("{seconds:.1} s are being written down …"), "Esc throws it away"),
        }
    }

    /// The newest levels, one column each.
    fn meter(&self, columns: usize, theme: &Theme) -> Line<'static> {
        let levels = &self.recording.levels;
        let newest = levels.iter().skip(levels.len().saturating_sub(columns));
        let bar = |level: &f32| {
            let role = if *level >= LOUD { Role::MeterHigh } else { Role::MeterLow };
            Span::styled(column(*level).to_string(), theme.style(role))
        };
        Line::from_iter(std::iter::once(Span::raw(" ")).chain(newest.map(bar)))
    }

    /// What the level says of the recording.
    fn remark(&self) -> &'static str {
        let levels = &self.recording.levels;
        let newest = || levels.iter().rev().take(QUIET_LEVELS);
        let is_recording = self.recording.stage == Stage::Recording;
        if is_recording && levels.len() >= QUIET_LEVELS && newest().all(|level| *level < QUIET) {
            "no sound: is the microphone on?"
        } else if is_recording && newest().any(|level| *level >= LOUD) {
            "too loud: a little further from the microphone"
        } else {
            ""
        }
    }
}

/// The bar of a level from 0 to 1.
fn column(level: f32) -> char {
    // From 0 to 7 by what it is clamped to.
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
            VoiceMeter { recording: Recording { number: 1, stage: Stage::Recording, levels, seconds: 3.0 } }
        };
        assert_eq!(meter(0.0, 4).remark(), "", "a moment of silence is nothing");
        assert!(meter(0.05, 20).remark().contains("no sound"));
        assert!(meter(1.0, 1).remark().contains("too loud"));
        assert_eq!(meter(0.6, 20).remark(), "");
        assert_eq!((column(0.0), column(0.5), column(1.0), column(f32::NAN)), ('▁', '▅', '█', '▁'));
    }
}
