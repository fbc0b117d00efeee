//! Which lines of the transcript are on the screen.
//!
//! A frame renders the visible messages, a screen above and below them, and the last screen. The heights of all other
//! messages are those of an earlier frame or estimates from their length, so that each costs only an addition. A wrong
//! estimate does not move the text, because the position of the view is its first line and not a number of lines. Each
//! frame replaces some of the estimates below the view by exact heights.

use rhumb_session::Transcript;

use super::message::Message;
use super::plan::PlanCache;
use super::reading::{Focus, StopId};
use super::steps::{card_of_output, entry_views, is_open};
use crate::tui::prelude::*;

/// Bytes of messages out of view that a frame renders to learn their heights. The last message may exceed it.
const MAX_MEASURED_BYTES: usize = 32 * 1024;

/// Bytes that a short message counts as, because each takes some time.
const MIN_MEASURED_BYTES: usize = 256;

/// The input of a frame of the transcript.
pub(super) struct TranscriptView<'a> {
    pub(super) entries: &'a Transcript,
    pub(super) theme: &'a Theme,
    pub(super) width: u16,
    pub(super) height: u16,
    /// Whether reasoning and earlier steps are shown in full, except in the `toggled` entries.
    pub(super) thoughts: bool,
    pub(super) toggled: &'a BTreeSet<usize>,
    /// The keys that show reasoning, open logs, and start reading.
    pub(super) thoughts_key: &'a str,
    pub(super) log_key: &'a str,
    pub(super) read_key: &'a str,
    pub(super) remarks: &'a BTreeMap<usize, String>,
    /// The stop that must be visible.
    pub(super) focus: Option<Focus<'a>>,
}

/// Rendered messages and the position of the view.
#[derive(Debug, Default)]
pub struct ChatCache {
    /// The head above the transcript, and then its entries.
    messages: Vec<Message>,
    width: u16,
    theme: String,
    thoughts: bool,
    /// The number of entries between the output of a command and the card of the agent that it belongs to, by the id of the output;
    /// `None` for other commands.
    outputs: BTreeMap<u64, Option<usize>>,
    pub(super) plan: PlanCache,
    pub(super) first: LineLocation,
    /// The end of the transcript when it was last visible.
    known_end: LineLocation,
    /// Lines that were added below the view since.
    pub news: usize,
    /// Lines below the view; 0 at the end of the transcript.
    pub from_bottom: usize,
    /// Rows of the transcript.
    pub height: usize,
    pub total: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LineLocation {
    pub(super) message: usize,
    pub(super) line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleStop {
    pub stop_id: StopId,
    pub rows: std::ops::Range<usize>,
    /// Its lines above and below the view.
    pub hidden: (usize, usize),
}

impl ChatCache {
    /// The visible lines. `wanted` is the number of lines that the user wants below them, relative to the last frame: 0
    /// follows the end, any other number moves the view by its difference to [`Self::from_bottom`].
    pub(super) fn arrange(
        &mut self,
        head: Lines,
        scene: &TranscriptView<'_>,
        coloring: &mut Coloring,
        wanted: usize,
    ) -> Lines {
        let old_height = self.messages.get(self.first.message).map_or(0, |message| message.height);
        let rewrapped = self.compare(head, scene);
        let mut layout = TranscriptLayout { cache: self, scene, coloring };
        let end = layout.end();
        let mut first = end;
        if wanted > 0 {
            let mut held = layout.cache.first;
            let height = layout.height(held.message);
            if rewrapped {
                // The same share of the message as before.
                held.line = held.line * height / old_height.max(1);
            }
            held.line = held.line.min(height.saturating_sub(1));
            let last = layout.cache.from_bottom;
            let moved = if wanted >= last { layout.up(held, wanted - last) } else { layout.down(held, last - wanted) };
            first = moved.min(end);
        }
        if let Some(focus) = scene.focus.as_ref().filter(|focus| focus.follow) {
            first = layout.bring(first, focus).min(end);
        } else if let Some(focus) = scene.focus.as_ref().filter(|_| wanted == 0 && layout.cache.from_bottom == 0) {
            // Streamed text moves the view up, but keeps the block under the reading cursor visible.
            first = first.min(layout.holding(focus, rewrapped));
        }
        if rewrapped {
            let height = layout.height(layout.cache.known_end.message);
            let old = std::mem::take(&mut layout.cache.known_end.line);
            layout.cache.known_end.line = old.min(height);
        }
        layout.render_around(first);
        layout.render_share(first);
        self.settle(first, end, usize::from(scene.height))
    }

    /// Compares the entries with those of the last frame without reading their texts. Returns whether all lines must be
    /// wrapped again.
    fn compare(&mut self, head: Lines, scene: &TranscriptView<'_>) -> bool {
        let look = (scene.width, scene.theme.name.as_str(), scene.thoughts);
        let rewrapped = (self.width, self.theme.as_str(), self.thoughts) != look;
        if rewrapped {
            self.messages.iter_mut().for_each(Message::forget);
            (self.width, self.thoughts) = (scene.width, scene.thoughts);
            scene.theme.name.clone_into(&mut self.theme);
        }
        self.messages.resize_with(scene.entries.len() + 1, Message::default);
        if let Some((first, messages)) = self.messages.split_first_mut() {
            *first = Message::of_lines(head);
            let (entries, versions) = (scene.entries, scene.entries.versions());
            let is_open =
                |at: usize| entries.get(at).is_some_and(|entry| is_open(entry, at, scene.thoughts, scene.toggled));
            let card_of = |at: usize| {
                let distance = || card_of_output(entries, at).map(|card| at - card);
                let distance = self.outputs.entry(versions.get(at)?.id).or_insert_with(distance);
                distance.and_then(|distance| at.checked_sub(distance))
            };
            let views = entry_views(entries, is_open, card_of);
            let entries = entries.iter().zip(versions).zip(views);
            for (at, (message, ((entry, version), view))) in messages.iter_mut().zip(entries).enumerate() {
                let remark = scene.remarks.get(&at).map_or("", String::as_str);
                message.compare(entry, *version, scene.width, (is_open(at), view), remark);
            }
        }
        self.first.message = self.first.message.min(scene.entries.len());
        rewrapped
    }

    /// Stores the position of the view, and returns its lines.
    fn settle(&mut self, first: LineLocation, end: LineLocation, height: usize) -> Lines {
        let sum = |messages: &[Message]| messages.iter().map(|message| message.height).sum::<usize>();
        let below = self.messages.get(first.message..).map_or(0, sum).saturating_sub(first.line);
        self.from_bottom = if first < end { below.saturating_sub(height) } else { 0 };
        (self.total, self.first, self.height) = (sum(&self.messages), first, height);
        if self.from_bottom == 0 {
            let message = self.messages.len().saturating_sub(1);
            self.known_end = LineLocation { message, line: self.messages.last().map_or(0, |message| message.height) };
        }
        let since = self.messages.get(self.known_end.message..).map_or(0, sum);
        self.news = since.saturating_sub(self.known_end.line).min(self.from_bottom);
        let lines = self.messages.iter().skip(first.message).flat_map(|message| &message.lines);
        lines.skip(first.line).take(height).cloned().collect()
    }

    pub fn seen(&self) -> Vec<VisibleStop> {
        let mut seen = Vec::new();
        let mut row = 0;
        let mut skip = self.first.line;
        for (at, message) in self.messages.iter().enumerate().skip(self.first.message) {
            if row >= self.height {
                break;
            }
            let entry = at.checked_sub(1);
            for stop in 0..message.stops.len().max(1) {
                let lines = message.stop_lines(stop);
                let (from, to) = (lines.start.max(skip), lines.end.min(skip + self.height - row));
                if let Some(entry) = entry.filter(|_| from < to) {
                    let rows = row + from - skip..row + to - skip;
                    let hidden = (from - lines.start, lines.end - to);
                    seen.push(VisibleStop { stop_id: StopId { entry, stop }, rows, hidden });
                }
            }
            row += message.height.saturating_sub(std::mem::take(&mut skip));
        }
        seen
    }

    /// The visible messages, each with the row of its first line.
    pub(super) fn in_view(&self) -> impl Iterator<Item = (isize, usize, &Message)> {
        let mut row = -isize::try_from(self.first.line).unwrap_or(0);
        let height = isize::try_from(self.height).unwrap_or(0);
        let messages = self.messages.iter().enumerate().skip(self.first.message);
        messages.map_while(move |(at, message)| {
            let start = row;
            row += isize::try_from(message.height).unwrap_or(0);
            (start < height).then_some((start, at, message))
        })
    }
}

struct TranscriptLayout<'a> {
    cache: &'a mut ChatCache,
    scene: &'a TranscriptView<'a>,
    coloring: &'a mut Coloring,
}

impl TranscriptLayout<'_> {
    fn height(&mut self, at: usize) -> usize {
        self.render(at, false);
        self.cache.messages.get(at).map_or(0, |message| message.height)
    }

    /// Renders a message if necessary. Visible (`seen`) messages get their colours.
    fn render(&mut self, at: usize, seen: bool) {
        let Some(message) = self.cache.messages.get_mut(at) else { return };
        let entry = at.checked_sub(1).and_then(|at| self.scene.entries.get(at));
        let stale = !message.exact || (seen && message.lacks_colors(self.coloring));
        if let Some(entry) = entry.filter(|_| stale) {
            message.render(entry, self.scene, self.coloring, seen);
        }
        if seen {
            message.touch(self.coloring);
        }
    }

    /// Moves the view as little as possible so that `focus` is visible.
    fn bring(&mut self, first: LineLocation, focus: &Focus<'_>) -> LineLocation {
        let at = focus.stop_id.entry + 1;
        self.render(at, true);
        let Some(message) = self.cache.messages.get(at) else { return first };
        let lines = focus.narrowed(&message.lines, message.stop_lines(focus.stop_id.stop));
        let start = LineLocation { message: at, line: lines.start };
        let end = LineLocation { message: at, line: lines.end };
        let height = usize::from(self.scene.height);
        let margin = usize::from(height > 6);
        if focus.top || start < first {
            return self.up(start, margin);
        }
        let bottom = self.down(first, height.saturating_sub(margin));
        if end <= bottom {
            return first;
        }
        self.up(end, height.saturating_sub(margin)).min(self.up(start, margin))
    }

    /// The furthest down that streamed text may move the view while the user reads, so that the block under the cursor
    /// stays visible. A block that began above the view does not move it.
    fn holding(&mut self, focus: &Focus<'_>, rewrapped: bool) -> LineLocation {
        let at = focus.stop_id.entry + 1;
        let drawn = self.cache.first;
        self.render(at, true);
        let Some(message) = self.cache.messages.get(at) else { return drawn };
        let start = LineLocation { message: at, line: message.stop_lines(focus.stop_id.stop).start };
        let margin = usize::from(self.scene.height > 6);
        let topmost = self.up(start, margin);
        if rewrapped { topmost } else { topmost.max(drawn) }
    }

    /// The position of the view that shows the end.
    fn end(&mut self) -> LineLocation {
        let beyond = LineLocation { message: self.cache.messages.len(), line: 0 };
        self.up(beyond, usize::from(self.scene.height))
    }

    fn up(&mut self, mut place: LineLocation, mut lines: usize) -> LineLocation {
        while lines > place.line && place.message > 0 {
            lines -= place.line;
            place.message -= 1;
            place.line = self.height(place.message);
        }
        place.line = place.line.saturating_sub(lines);
        place
    }

    fn down(&mut self, mut place: LineLocation, lines: usize) -> LineLocation {
        place.line = place.line.saturating_add(lines);
        while place.message < self.cache.messages.len() {
            let height = self.height(place.message);
            if place.line < height {
                break;
            }
            place.line -= height;
            place.message += 1;
        }
        place
    }

    /// Renders, with colours, the visible messages and those a screen above and below.
    fn render_around(&mut self, first: LineLocation) {
        let screen = usize::from(self.scene.height);
        let from = self.up(first, screen);
        let to = self.down(first, screen * 2);
        for at in from.message..=to.message {
            self.render(at, true);
        }
    }

    /// Renders some of the entries below the view that have not been rendered, so that the distance to the end becomes
    /// exact.
    fn render_share(&mut self, first: LineLocation) {
        let mut bytes = 0;
        for at in first.message..self.cache.messages.len() {
            if bytes >= MAX_MEASURED_BYTES {
                return;
            }
            if let Some(message) = self.cache.messages.get(at).filter(|message| !message.exact) {
                bytes += message.bytes().max(MIN_MEASURED_BYTES);
                self.render(at, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::tui::app::App;
    use crate::tui::theme::ColorDepth;
    use crate::tui::view::{self, ViewCache};
    use rhumb_session::{Answer, AnswerState, Connection, Entry, Level, Session};

    struct TestScreen {
        app: App,
        cache: ViewCache,
        screen: Terminal<TestBackend>,
    }

    impl TestScreen {
        fn new(entries: impl IntoIterator<Item = Entry>) -> Self {
            let (mut session, effects) = Session::start(Connection::Demo);
            session.extend_transcript(entries);
            let app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
            let screen = Terminal::new(TestBackend::new(80, 24)).unwrap();
            Self { app, cache: ViewCache::default(), screen }
        }

        /// Draws a frame and colours the texts that it requested. Returns their number.
        fn frame(&mut self) -> usize {
            let (app, cache) = (&mut self.app, &mut self.cache);
            self.screen.draw(|frame| view::render(app, cache, frame)).unwrap();
            let wanted = self.cache.coloring.take_wanted();
            let count = wanted.len();
            wanted.into_iter().for_each(|job| self.cache.coloring.put(job.run()));
            count
        }

        fn scroll(&mut self, by: isize) {
            self.app.chat.from_bottom = self.app.chat.from_bottom.saturating_add_signed(by);
            self.frame();
        }

        /// The transcript as it looks.
        fn seen(&self) -> String {
            let chat = &self.cache.chat;
            let lines = chat.messages.iter().skip(chat.first.message).flat_map(|message| &message.lines);
            let lines: Vec<String> = lines
                .skip(chat.first.line)
                .take(chat.height)
                .map(|line| line.to_string().trim_end().to_owned())
                .collect();
            lines.join("\n")
        }

        fn rendered(&self) -> usize {
            self.cache.chat.messages.iter().filter(|message| message.exact).count()
        }
    }

    fn user(text: impl Into<String>) -> Entry {
        Entry::User { text: text.into(), mode: rhumb_session::context::Mode::Code, answered: true }
    }

    fn answer(text: String) -> Entry {
        Entry::Answer(Answer {
            text,
            reasoning: String::new(),
            state: AnswerState::Complete,
            edits: Vec::new(),
            thinking: Vec::new(),
        })
    }

    /// Answers with a code block each, of which no two are the same.
    fn answers(count: usize) -> impl Iterator<Item = Entry> {
        (0..count)
            .map(|number| answer(format!("Number {number}.\n\n```rust\nfn number() -> u32 {{ {number} }}\n```\n")))
    }

    #[test]
    fn a_frame_renders_what_is_near_the_view_and_no_more() {
        let mut test = TestScreen::new(answers(5_000));
        test.frame();
        assert!(test.rendered() < 30, "{} of 5000", test.rendered());
        assert!(test.seen().contains("{ 4999 }"));
        let jobs = test.frame();
        test.scroll(15);
        assert_eq!(jobs, 0);
        assert!(test.rendered() < 40, "{} of 5000", test.rendered());
    }

    #[test]
    fn colours_are_asked_for_near_the_view_only_and_then_never_again() {
        let mut test = TestScreen::new(answers(700));
        let asked = test.frame();
        assert!((1..30).contains(&asked), "{asked} of 700");
        for _ in 0..5 {
            assert_eq!(test.frame(), 0);
        }
    }

    #[test]
    fn an_answer_with_more_blocks_than_are_kept_settles() {
        let blocks = (0..700).map(|number| format!("```rust\nlet a = {number};\n```\n\ntext\n\n"));
        let mut test = TestScreen::new([answer(blocks.collect())]);
        assert_eq!(test.frame(), 700);
        for _ in 0..5 {
            assert_eq!(test.frame(), 0);
        }
        assert!(test.cache.chat.messages[1].missing.is_empty());
    }

    #[test]
    fn new_lines_do_not_move_the_text_that_is_read() {
        let mut test = TestScreen::new((0..100).map(|number| user(format!("message {number}"))));
        test.frame();
        test.scroll(40);
        let (seen, from_bottom) = (test.seen(), test.app.chat.from_bottom);
        assert!(seen.contains("message") && !seen.contains("message 99"), "{seen}");
        for line in 0..30 {
            test.app.session.report(Level::Info, format!("notice {line}"), "");
            test.frame();
            assert_eq!(test.seen(), seen);
        }
        assert_eq!(test.app.chat.from_bottom, from_bottom + 60);
        test.scroll(-15);
        assert!(!test.seen().contains("notice"), "one page down is one page:\n{}", test.seen());
        test.app.chat.from_bottom = 0;
        test.frame();
        assert!(test.seen().contains("notice 29"));
    }

    #[test]
    fn a_long_message_of_the_program_shows_its_first_lines_and_how_to_read_the_rest() {
        let text: String = (1..=20).map(|line| format!("detail {line}\n")).collect();
        let mut test = TestScreen::new([Entry::FollowUp { text, round: 1, of: 3, answered: true }]);
        test.frame();
        let seen = test.seen();
        assert!(seen.contains("detail 1\n") && seen.contains("detail 8\n"), "{seen}");
        assert!(seen.contains("… 12 more lines (Alt-r, then Enter)") && !seen.contains("detail 9"), "{seen}");
    }

    #[test]
    fn an_answer_that_grows_does_not_move_what_is_read_of_it() {
        let text: String = (0..60).map(|line| format!("line {line}\n\n")).collect();
        let streaming = Answer {
            text,
            reasoning: String::new(),
            state: AnswerState::Streaming,
            edits: Vec::new(),
            thinking: Vec::new(),
        };
        let mut test = TestScreen::new([user("go"), Entry::Answer(streaming)]);
        test.frame();
        test.scroll(50);
        let seen = test.seen();
        for line in 60..90 {
            if let Some(Entry::Answer(answer)) = test.app.session.transcript_mut().rfind_mut(|_| true) {
                answer.text.push_str(&format!("line {line}\n\n"));
            }
            test.frame();
            assert_eq!(test.seen(), seen);
        }
    }

    #[test]
    fn the_cursor_of_a_reader_is_in_view_wherever_it_goes() {
        let mut test = TestScreen::new(answers(3_000));
        test.frame();
        test.app.chat.reading.on = true;
        for (entry, stop) in [(0, 0), (2_999, 1), (1_500, 0), (1_501, 1), (1_490, 0), (20, 1)] {
            let stop_id = StopId { entry, stop };
            (test.app.chat.reading.stop_id, test.app.chat.reading.follow) = (stop_id, true);
            test.frame();
            let seen = test.app.chat.reading.seen.iter().find(|seen| seen.stop_id == stop_id);
            assert!(seen.is_some_and(|seen| seen.hidden == (0, 0)), "{stop_id:?}: {seen:?}");
        }
        assert!(test.rendered() < 3_000, "{} of 3000", test.rendered());
        test.scroll(100);
        let stop_id = test.app.chat.reading.stop_id;
        assert!(
            test.app.chat.reading.seen.iter().any(|seen| seen.stop_id == stop_id),
            "a cursor that is scrolled away comes along"
        );
    }

    #[test]
    fn what_is_read_stays_in_view_while_an_answer_streams() {
        let streaming = |lines: usize| {
            let text = (0..lines).map(|number| format!("Paragraph {number}.\n\n")).collect();
            Entry::Answer(Answer {
                text,
                reasoning: String::new(),
                state: AnswerState::Streaming,
                edits: Vec::new(),
                thinking: Vec::new(),
            })
        };
        let mut test = TestScreen::new([user("what now?"), streaming(3)]);
        test.frame();
        let stop_id = StopId { entry: 1, stop: 1 };
        (test.app.chat.reading.on, test.app.chat.reading.stop_id, test.app.chat.reading.follow) = (true, stop_id, true);
        for lines in 4..60 {
            *test.app.session.transcript_mut().rfind_mut(|_| true).unwrap() = streaming(lines);
            test.frame();
            assert_eq!(test.app.chat.reading.stop_id, stop_id, "nobody moved it");
            assert!(test.seen().contains("Paragraph 1."), "{lines}: {}", test.seen());
        }
        assert!(test.cache.chat.news > 0 && !test.seen().contains("Paragraph 58."));
        test.app.chat.from_bottom = 0;
        test.frame();
        assert!(test.seen().contains("Paragraph 58."), "who goes to the end gets there");
    }

    #[test]
    fn what_came_below_is_counted_until_one_goes_there() {
        let mut test = TestScreen::new((0..60).map(|number| user(format!("message {number}"))));
        test.frame();
        test.scroll(20);
        assert_eq!(test.cache.chat.news, 0);
        test.app.session.report(Level::Info, "one", "");
        test.app.session.report(Level::Info, "two", "");
        test.frame();
        assert_eq!(test.cache.chat.news, 4);
        test.screen.backend_mut().resize(60, 24);
        test.frame();
        assert_eq!(test.cache.chat.news, 4);
        test.app.chat.from_bottom = 0;
        test.frame();
        test.scroll(10);
        assert_eq!(test.cache.chat.news, 0);
    }

    #[test]
    fn scrolling_ends_at_the_start_and_comes_back_to_the_end() {
        let mut test = TestScreen::new((0..100).map(|number| user(format!("message {number}"))));
        test.frame();
        let end = test.seen();
        for _ in 0..50 {
            test.scroll(15);
        }
        assert!(test.seen().starts_with("❯ message 0\n"), "{}", test.seen());
        let chat = &test.cache.chat;
        assert_eq!(test.app.chat.from_bottom, chat.total - chat.height);
        while test.app.chat.from_bottom > 0 {
            test.scroll(-15);
        }
        assert_eq!(test.seen(), end);
    }

    #[test]
    fn another_width_keeps_the_message_that_is_read() {
        let mut test = TestScreen::new((0..400).map(|number| user(format!("message {number} ").repeat(12))));
        test.frame();
        (0..10).for_each(|_| test.scroll(15));
        let first = test.cache.chat.first.message;
        for width in [50, 140, 61, 80] {
            test.screen.backend_mut().resize(width, 24);
            test.frame();
            assert_eq!(test.cache.chat.first.message, first, "at {width}");
        }
        assert!(test.rendered() < 400, "a share of them: {}", test.rendered());
    }

    #[test]
    fn a_message_that_goes_takes_its_lines_with_it() {
        let mut test = TestScreen::new([user("one"), user("two"), user("six")]);
        test.frame();
        test.app.session.transcript_mut().remove(1);
        test.frame();
        assert_eq!(test.seen().trim_end(), "❯ one\n\n❯ six");
    }
}
