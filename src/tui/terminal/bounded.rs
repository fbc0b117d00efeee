//! A terminal of which only so much is drawn.

use std::io::{self, Stdout};

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};

/// The columns and rows that are drawn at most; the rest of a larger terminal stays empty. A size is only a number that some program
/// set: 65,535 columns and rows would take hundreds of gigabytes for the cells. A screen of 8K with the smallest font fits.
const MAX_SIZE: Size = Size { width: 2_000, height: 1_000 };

/// The terminal on standard output, as large as is drawn of it.
pub struct Bounded(CrosstermBackend<Stdout>);

impl Bounded {
    /// The terminal on standard output.
    pub(super) fn new(out: Stdout) -> Self {
        Self(CrosstermBackend::new(out))
    }
}

fn bounded(size: Size) -> Size {
    Size { width: size.width.min(MAX_SIZE.width), height: size.height.min(MAX_SIZE.height) }
}

impl Backend for Bounded {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        self.0.draw(content)
    }

    fn append_lines(&mut self, count: u16) -> io::Result<()> {
        self.0.append_lines(count)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.0.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.0.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.0.clear_region(region)
    }

    fn size(&self) -> io::Result<Size> {
        self.0.size().map(bounded)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        let size = self.0.window_size()?;
        Ok(WindowSize { columns_rows: bounded(size.columns_rows), ..size })
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.0)
    }
}
