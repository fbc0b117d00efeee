//! Screenshots: draws one screen of the app without a terminal, as an SVG image for documentation and bug reports. The output
//! is deterministic.

use std::fmt::Write as _;
use std::io;

use crossterm::event::Event;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use rhumb_session::SurveyState;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::app::{Start, begin};
use super::theme::rgb_of;
use super::view;
use crate::host::{Host, HostMessage};
use crate::tui::prelude::*;

/// The screen is complete when no report has arrived for this long.
const QUIET_PERIOD: Duration = Duration::from_millis(400);

const STEP_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scene {
    Start,
    /// The answer to the first message.
    Chat,
    /// Its review.
    Review,
    Map,
    Context,
    Help,
}

impl Scene {
    pub const ALL: [(&'static str, Self); 6] = [
        ("start", Self::Start),
        ("chat", Self::Chat),
        ("review", Self::Review),
        ("map", Self::Map),
        ("context", Self::Context),
        ("help", Self::Help),
    ];

    /// The keys that lead to the scene. The app settles after each.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Start => &[],
            Self::Chat => &["Enter"],
            Self::Review => &["Enter", "Alt-4"],
            Self::Map => &["Enter", "Alt-2", "Enter"],
            Self::Context => &["Enter", "Alt-3"],
            Self::Help => &["F1"],
        }
    }
}

/// The picture of a scene on a screen of that size.
pub async fn screenshot(
    start: Start,
    scene: Scene,
    (width, height): (u16, u16),
    make_host: impl FnOnce(mpsc::Sender<HostMessage>) -> Host,
) -> io::Result<String> {
    let (reports, mut incoming) = mpsc::channel(256);
    let host = make_host(reports);
    let (app, tasks) = begin(&start);
    let terminal = Terminal::new(TestBackend::new(width, height)).map_err(io::Error::other)?;
    let mut offscreen = OffscreenApp { app, cache: ViewCache::default(), terminal, host };
    offscreen.perform(tasks);
    offscreen.settle(&mut incoming).await?;
    for name in scene.keys() {
        let tasks = key::parse(name).map(|key| offscreen.app.event(Event::Key(key)));
        offscreen.perform(tasks.unwrap_or_default());
        offscreen.settle(&mut incoming).await?;
    }
    let title = format!("rhumb: {}", Scene::ALL.iter().find(|(_, one)| *one == scene).map_or("", |(name, _)| name));
    Ok(svg(offscreen.terminal.backend().buffer(), offscreen.app.theme(), &title))
}

struct OffscreenApp {
    app: App,
    cache: ViewCache,
    terminal: Terminal<TestBackend>,
    host: Host,
}

impl OffscreenApp {
    /// Runs effects. Other tasks need a terminal.
    fn perform(&self, tasks: Vec<Task>) {
        for task in tasks {
            if let Task::Run(effect) = task {
                self.host.execute(effect);
            }
        }
    }

    /// Waits until the app is idle, and draws it.
    async fn settle(&mut self, incoming: &mut mpsc::Receiver<HostMessage>) -> io::Result<()> {
        let still = async {
            loop {
                match timeout(QUIET_PERIOD, incoming.recv()).await {
                    Ok(Some(message)) => {
                        let tasks = message.into_response().map(|response| self.app.handle_response(response));
                        self.perform(tasks.unwrap_or_default());
                    }
                    Ok(None) => return,
                    Err(_) if self.is_at_rest() => return,
                    Err(_) => {}
                }
            }
        };
        // A screen that does not settle is drawn after the timeout.
        let _ = timeout(STEP_TIMEOUT, still).await;
        self.draw()
    }

    fn is_at_rest(&self) -> bool {
        let session = &self.app.session;
        matches!(session.survey(), SurveyState::Done) && session.view().is_some() && session.turn().is_none()
    }

    fn draw(&mut self) -> io::Result<()> {
        loop {
            let (app, cache) = (&mut self.app, &mut self.cache);
            self.terminal.draw(|frame| view::render(app, cache, frame)).map_err(io::Error::other)?;
            let wanted = self.cache.coloring.take_wanted();
            if wanted.is_empty() {
                return Ok(());
            }
            wanted.into_iter().for_each(|job| self.cache.coloring.put(job.run()));
        }
    }
}

/// The size of a cell, in units of the picture.
const CELL: (f64, f64) = (8.4, 18.0);

/// Distance of the baseline from the top of a cell, in units of the picture.
const BASELINE: f64 = 13.5;

const MARGIN: f64 = 12.0;

/// The picture of a frame, in the colours of the theme that it was drawn with; `title` describes it.
pub fn svg(buffer: &Buffer, theme: &Theme, title: &str) -> String {
    let (columns, rows) = (f64::from(buffer.area.width), f64::from(buffer.area.height));
    let (width, height) = (columns * CELL.0 + 2.0 * MARGIN, rows * CELL.1 + 2.0 * MARGIN);
    let defaults = DefaultColors::of(theme);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n\
         <g transform=\"translate({MARGIN} {MARGIN})\" xml:space=\"preserve\" font-size=\"14\" \
         font-family=\"ui-monospace, 'JetBrains Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace\">\n",
        number(width),
        number(height),
        number(width),
        number(height),
        escape(title),
        hex(defaults.background),
    );
    for row in 0..buffer.area.height {
        backgrounds(buffer, row, &defaults, &mut out);
    }
    for row in 0..buffer.area.height {
        texts(buffer, row, &defaults, &mut out);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

struct DefaultColors {
    foreground: [u8; 3],
    background: [u8; 3],
}

impl DefaultColors {
    fn of(theme: &Theme) -> Self {
        let other = if theme.is_light() { [0x24, 0x29, 0x2f] } else { [0xd6, 0xdc, 0xe2] };
        let foreground = theme.style(Role::Text).fg.and_then(rgb_of).unwrap_or(other);
        Self { foreground, background: theme.background }
    }

    fn look(&self, cell: &Cell) -> CellStyle {
        let mut foreground = rgb_of(cell.fg).unwrap_or(self.foreground);
        let mut background = rgb_of(cell.bg).unwrap_or(self.background);
        if cell.modifier.contains(Modifier::REVERSED) {
            std::mem::swap(&mut foreground, &mut background);
        }
        if cell.modifier.contains(Modifier::DIM) {
            foreground = blend(foreground, background);
        }
        let shown = Modifier::BOLD | Modifier::ITALIC | Modifier::UNDERLINED | Modifier::CROSSED_OUT;
        CellStyle { foreground, background, modifier: cell.modifier & shown }
    }
}

fn blend(foreground: [u8; 3], background: [u8; 3]) -> [u8; 3] {
    let ([red, green, blue], [a, b, c]) = (foreground, background);
    [(red, a), (green, b), (blue, c)].map(|(foreground, background)| {
        let mixed = (u16::from(foreground) * 13 + u16::from(background) * 7) / 20;
        u8::try_from(mixed).unwrap_or(u8::MAX)
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CellStyle {
    foreground: [u8; 3],
    background: [u8; 3],
    modifier: Modifier,
}

/// Draws the backgrounds of a row, adjacent equal ones in one piece.
fn backgrounds(buffer: &Buffer, row: u16, defaults: &DefaultColors, out: &mut String) {
    let cell = |column| buffer.cell((buffer.area.x + column, buffer.area.y + row));
    let background = |column| Some((column, defaults.look(cell(column)?).background));
    let cells: Vec<(u16, [u8; 3])> = (0..buffer.area.width).filter_map(background).collect();
    for run in cells.chunk_by(|(_, one), (_, other)| one == other) {
        if let [(from, color), ..] = *run
            && let [.., (to, _)] = *run
            && color != defaults.background
        {
            rect(out, (left(from), top(row), left(to + 1), top(row) + CELL.1), color);
        }
    }
}

/// Cells of one style that are drawn in one piece.
struct Run {
    from: u16,
    columns: u16,
    text: String,
    look: CellStyle,
}

fn texts(buffer: &Buffer, row: u16, defaults: &DefaultColors, out: &mut String) {
    let mut run: Option<Run> = None;
    let mut column = 0;
    while column < buffer.area.width {
        let Some(cell) = buffer.cell((buffer.area.x + column, buffer.area.y + row)) else { break };
        let (symbol, look) = (cell.symbol(), defaults.look(cell));
        let columns = u16::try_from(width::columns(symbol)).unwrap_or(1).max(1);
        let lined = look.modifier.intersects(Modifier::UNDERLINED | Modifier::CROSSED_OUT);
        let lone = symbol.chars().next().filter(|_| symbol.chars().count() == 1);
        if lone.is_some_and(|c| draw(c, (column, row), look.foreground, out)) || (symbol.trim().is_empty() && !lined) {
            write_run(run.take(), row, out);
        } else {
            // Characters that a fallback font may draw wider or narrower are separate runs, so that they do not shift other text.
            let joins = symbol.is_ascii() && run.as_ref().is_some_and(|run| run.look == look && run.text.is_ascii());
            match &mut run {
                Some(run) if joins => {
                    run.text.push_str(symbol);
                    run.columns += columns;
                }
                _ => {
                    write_run(run.take(), row, out);
                    run = Some(Run { from: column, columns, text: symbol.to_owned(), look });
                }
            }
        }
        column += columns;
    }
    write_run(run, row, out);
}

fn write_run(run: Option<Run>, row: u16, out: &mut String) {
    let Some(Run { from, columns, text, look }) = run else { return };
    let _ = write!(
        out,
        "<text x=\"{}\" y=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{}\"",
        number(left(from)),
        number(top(row) + BASELINE),
        number(f64::from(columns) * CELL.0),
        hex(look.foreground),
    );
    if look.modifier.contains(Modifier::BOLD) {
        out.push_str(" font-weight=\"bold\"");
    }
    if look.modifier.contains(Modifier::ITALIC) {
        out.push_str(" font-style=\"italic\"");
    }
    let lines = [(Modifier::UNDERLINED, "underline"), (Modifier::CROSSED_OUT, "line-through")];
    let lines: Vec<&str> =
        lines.into_iter().filter(|(on, _)| look.modifier.contains(*on)).map(|(_, name)| name).collect();
    if !lines.is_empty() {
        let _ = write!(out, " text-decoration=\"{}\"", lines.join(" "));
    }
    let _ = writeln!(out, ">{}</text>", escape(&text));
}

/// Draws a character that must touch its neighbours: box and block characters. Returns false for any other.
fn draw(c: char, at: (u16, u16), foreground: [u8; 3], out: &mut String) -> bool {
    if let Some([up, right, down, left]) = arms(c) {
        box_lines(c, at, [up, right, down, left], foreground, out);
        return true;
    }
    let (x, y) = (left(at.0), top(at.1));
    let (x1, y1) = (left(at.0 + 1), y + CELL.1);
    let eighth = |count: u32, size: f64| size * f64::from(count) / 8.0;
    let code = u32::from(c);
    let area = match code {
        0x2580 => (x, y, x1, y + CELL.1 / 2.0),
        0x2581..=0x2588 => (x, y1 - eighth(code - 0x2580, CELL.1), x1, y1),
        0x2589..=0x258F => (x, y, x + eighth(0x2590 - code, CELL.0), y1),
        0x2590 => (x + CELL.0 / 2.0, y, x1, y1),
        _ => return false,
    };
    rect(out, area, foreground);
    true
}

/// The weights of the arms of a box character: up, right, down and left.
fn arms(c: char) -> Option<[u8; 4]> {
    Some(match c {
        '─' => [0, 1, 0, 1],
        '━' => [0, 2, 0, 2],
        '│' => [1, 0, 1, 0],
        '┃' => [2, 0, 2, 0],
        '┌' | '╭' => [0, 1, 1, 0],
        '┐' | '╮' => [0, 0, 1, 1],
        '└' | '╰' => [1, 1, 0, 0],
        '┘' | '╯' => [1, 0, 0, 1],
        '┏' => [0, 2, 2, 0],
        '┓' => [0, 0, 2, 2],
        '┗' => [2, 2, 0, 0],
        '┛' => [2, 0, 0, 2],
        '├' => [1, 1, 1, 0],
        '┤' => [1, 0, 1, 1],
        '┬' => [0, 1, 1, 1],
        '┴' => [1, 1, 0, 1],
        '┼' => [1, 1, 1, 1],
        '┣' => [2, 2, 2, 0],
        '┫' => [2, 0, 2, 2],
        '╶' => [0, 1, 0, 0],
        '╴' => [0, 0, 0, 1],
        '╷' => [0, 0, 1, 0],
        '╵' => [1, 0, 0, 0],
        _ => return None,
    })
}

fn box_lines(c: char, at: (u16, u16), arms: [u8; 4], foreground: [u8; 3], out: &mut String) {
    let (x, y) = (left(at.0), top(at.1));
    let (middle_x, middle_y) = (x + CELL.0 / 2.0, y + CELL.1 / 2.0);
    let [up, right, down, left] = arms;
    let round = matches!(c, '╭' | '╮' | '╰' | '╯');
    if round {
        let end_y = if up > 0 { y } else { y + CELL.1 };
        let end_x = if left > 0 { x } else { x + CELL.0 };
        let _ = writeln!(
            out,
            "<path d=\"M{x} {}Q{x} {y} {} {y}\" fill=\"none\" stroke=\"{}\"/>",
            number(end_y),
            number(end_x),
            hex(foreground),
            x = number(middle_x),
            y = number(middle_y),
        );
        return;
    }
    let half = |weight: u8| f64::from(weight) * 0.55;
    let thick = half(arms.into_iter().max().unwrap_or(1));
    // The ends of a line from one border of the cell to the other, or to the middle.
    let ends = |first: u8, second: u8, start: f64, middle: f64, size: f64| {
        let from = if first > 0 { start } else { middle - thick };
        (from, if second > 0 { start + size } else { middle + thick })
    };
    if up > 0 || down > 0 {
        let (weight, (from, to)) = (half(up.max(down)), ends(up, down, y, middle_y, CELL.1));
        rect(out, (middle_x - weight, from, middle_x + weight, to), foreground);
    }
    if left > 0 || right > 0 {
        let (weight, (from, to)) = (half(left.max(right)), ends(left, right, x, middle_x, CELL.0));
        rect(out, (from, middle_y - weight, to, middle_y + weight), foreground);
    }
}

fn rect(out: &mut String, (x, y, x1, y1): (f64, f64, f64, f64), foreground: [u8; 3]) {
    let _ = writeln!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" shape-rendering=\"crispEdges\"/>",
        number(x),
        number(y),
        number(x1 - x),
        number(y1 - y),
        hex(foreground)
    );
}

fn left(column: u16) -> f64 {
    f64::from(column) * CELL.0
}

fn top(row: u16) -> f64 {
    f64::from(row) * CELL.1
}

/// A number with at most two decimals, so that the output is the same on every machine.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escape(text: &str) -> String {
    let text = sanitize::visible_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // XML must not contain the last two.
    text.replace('"', "&quot;").replace(['\u{FFFE}', '\u{FFFF}'], "\u{FFFD}")
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;
    use ratatui::style::Style;

    use super::super::theme::ColorDepth;
    use super::*;

    fn theme() -> Theme {
        Theme::builtin("rhumb-dark", ColorDepth::True).unwrap()
    }

    fn picture(draw: impl FnOnce(&mut Buffer)) -> String {
        let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 12, 2));
        draw(&mut buffer);
        svg(&buffer, &theme(), "a test")
    }

    #[test]
    fn text_is_escaped_and_keeps_its_columns() {
        let shown = picture(|buffer| {
            buffer.set_string(0, 0, "a<b>&\"c", Style::default());
            buffer.set_string(0, 1, "日本x", Style::default());
        });
        assert!(shown.contains(">a&lt;b&gt;&amp;&quot;c</text>"), "{shown}");
        assert!(
            shown.contains("<text x=\"0\" y=\"31.5\" textLength=\"16.8\"") && shown.contains(">日</text>"),
            "{shown}"
        );
        assert!(shown.contains("<text x=\"33.6\" y=\"31.5\" textLength=\"8.4\""), "{shown}");
        assert_eq!(shown.matches("<text ").count(), 4, "{shown}");
    }

    #[test]
    fn attributes_and_grounds_are_drawn() {
        let red = Style::default().fg(Color::Rgb(255, 0, 0)).bg(Color::Rgb(0, 0, 255));
        let shown = picture(|buffer| {
            buffer.set_string(0, 0, "ab", red.add_modifier(Modifier::BOLD | Modifier::ITALIC | Modifier::UNDERLINED));
            buffer.set_string(4, 0, "cd", red.add_modifier(Modifier::REVERSED | Modifier::CROSSED_OUT));
        });
        let bold =
            "fill=\"#ff0000\" font-weight=\"bold\" font-style=\"italic\" text-decoration=\"underline\">ab</text>";
        assert!(shown.contains(bold), "{shown}");
        assert!(shown.contains("fill=\"#0000ff\" text-decoration=\"line-through\">cd</text>"), "{shown}");
        assert!(shown.contains("<rect x=\"0\" y=\"0\" width=\"16.8\" height=\"18\" fill=\"#0000ff\""), "{shown}");
        assert!(shown.contains("<rect x=\"33.6\" y=\"0\" width=\"16.8\" height=\"18\" fill=\"#ff0000\""), "{shown}");
    }

    #[test]
    fn boxes_and_gauges_are_shapes_not_letters() {
        let shown = picture(|buffer| {
            buffer.set_string(0, 0, "╭─┃▌█▁", Style::default());
        });
        assert!(!shown.contains("<text"), "{shown}");
        assert_eq!((shown.matches("<path").count(), shown.matches("crispEdges").count()), (1, 5), "{shown}");
    }

    #[test]
    fn a_picture_names_nothing_outside_itself() {
        let shown = picture(|buffer| {
            buffer.set_string(0, 0, "\u{202e}<script>", Style::default());
        });
        assert!(!shown.contains("<script") && !shown.contains("href") && !shown.contains('\u{202e}'), "{shown}");
    }
}
