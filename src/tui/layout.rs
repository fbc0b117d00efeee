//! The layout of the panes on a screen of a given size, the borders between them that can be moved, zoom, and the chosen
//! layout.

use crate::config::LayoutChoice;
use crate::store::{ChosenLayout, SavedLayout};
use crate::tui::prelude::*;

/// Smallest screen that can show a pane, in columns and rows.
pub const MIN_WIDTH: u16 = 40;
pub const MIN_HEIGHT: u16 = 10;

/// Minimum size for three columns. The column of the chat is then still wide enough for its lines.
const THREE_COLUMNS_SIZE: (u16, u16) = (240, 35);
const WIDE_SCREEN: (u16, u16) = (120, 35);
/// From this size on, other panes are visible beside the focused pane, and the layouts columns and rows are possible.
const MEDIUM_SCREEN: (u16, u16) = (80, 24);

/// Maximum width of the chat, in columns of the screen. Longer lines are hard to read.
const MAX_CHAT_COLUMNS: u16 = 124;

/// Borders that the user moved: the share of the first part in thousandths.
pub type Borders = BTreeMap<String, u16>;

#[derive(Debug, Clone, Copy)]
pub struct LayoutRequest<'a> {
    pub focus: Pane,
    pub reviewing: bool,
    pub layout: LayoutChoice,
    pub zoomed: bool,
    pub borders: &'a Borders,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    pub panes: Vec<(Pane, Rect)>,
    pub borders: Vec<Border>,
    /// The line of tabs, unless all panes are visible.
    pub tabs: Option<Rect>,
    pub status: Rect,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Border {
    pub name: &'static str,
    /// Whether the parts are side by side; otherwise one is above the other.
    pub beside: bool,
    pub whole: Rect,
    /// The size of the first part.
    pub at: u16,
    pub range: (u16, u16),
}

impl Border {
    fn length(&self) -> u16 {
        if self.beside { self.whole.width } else { self.whole.height }
    }

    /// The position of a cell along the axis of the border.
    pub fn along(&self, column: u16, row: u16) -> u16 {
        if self.beside { column.saturating_sub(self.whole.x) } else { row.saturating_sub(self.whole.y) }
    }

    /// Whether a cell is part of the frames beside the border.
    fn has(&self, column: u16, row: u16) -> bool {
        let along = self.along(column, row);
        self.whole.contains(Position { x: column, y: row }) && (along == self.at || along + 1 == self.at)
    }

    /// The share, in thousandths, that puts the border at `at` or as near as possible.
    pub fn share(&self, at: u16) -> u16 {
        let at = u32::from(at.clamp(self.range.0, self.range.1));
        let length = u32::from(self.length().max(1));
        u16::try_from((at * 1_000 + length / 2) / length).unwrap_or(500)
    }

    /// Whether a part of the screen is on the first side of the border. `None` if it is on neither side.
    pub fn is_before(&self, area: Rect) -> Option<bool> {
        let inside = self.whole.intersection(area) == area;
        inside.then(|| self.along(area.x, area.y) < self.at)
    }
}

impl Places {
    pub fn pane_at(&self, column: u16, row: u16) -> Option<Pane> {
        let here = |area: &Rect| area.contains(Position { x: column, y: row });
        self.panes.iter().find(|(_, area)| here(area)).map(|(pane, _)| *pane)
    }

    pub fn of(&self, pane: Pane) -> Option<Rect> {
        self.panes.iter().find(|(other, _)| *other == pane).map(|(_, area)| *area)
    }

    /// The border at a cell. Where two meet, the inner one.
    pub fn border_at(&self, column: u16, row: u16) -> Option<&Border> {
        self.borders.iter().rev().find(|border| border.has(column, row))
    }
}

/// The areas for a screen. `None` if it is too small. A pending review takes the largest share.
pub fn places(screen: Rect, request: &LayoutRequest<'_>) -> Option<Places> {
    if screen.width < MIN_WIDTH || screen.height < MIN_HEIGHT {
        return None;
    }
    let (root, whole) = arrangement(screen, request);
    let mut places = Places::default();
    let body = if whole {
        let [body, status] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(screen);
        places.status = status;
        body
    } else {
        let [tabs, body, status] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).areas(screen);
        (places.tabs, places.status) = (Some(tabs), status);
        body
    };
    root.lay(body, request.borders, &mut places);
    Some(places)
}

/// The tree of panes, and whether it contains all of them.
fn arrangement(screen: Rect, request: &LayoutRequest<'_>) -> (Node, bool) {
    let fits = |least: (u16, u16)| screen.width >= least.0 && screen.height >= least.1;
    if request.zoomed {
        return (Node::Pane(request.focus), false);
    }
    match request.layout {
        LayoutChoice::Auto if fits(THREE_COLUMNS_SIZE) => (vast(), true),
        LayoutChoice::Auto if fits(WIDE_SCREEN) => (columns(request.reviewing), true),
        LayoutChoice::Columns if fits(MEDIUM_SCREEN) => (columns(request.reviewing), true),
        LayoutChoice::Rows if fits(MEDIUM_SCREEN) => (in_rows(request.reviewing), true),
        LayoutChoice::Auto if fits(MEDIUM_SCREEN) => (stack(request.focus, request.reviewing), false),
        _ => (Node::Pane(request.focus), false),
    }
}

/// The chat, then map above context, then the review.
fn vast() -> Node {
    let middle = above("vast-map", Share::Of(550), MAP, CONTEXT);
    beside(
        "vast-chat",
        Share::AtMost(400, MAX_CHAT_COLUMNS),
        CHAT,
        beside("vast-review", Share::AtMost(400, 100), middle, REVIEW),
    )
}

fn columns(reviewing: bool) -> Node {
    let others = if reviewing {
        let top = beside("columns-top-map", Share::Of(500), MAP, CONTEXT);
        above("columns-top", Share::Of(220), top, REVIEW)
    } else {
        let upper = above("columns-map", Share::Of(556), MAP, CONTEXT);
        above("columns-review", Share::AllBut(7), upper, REVIEW).at_least(2 * MIN_PANE_COLUMNS)
    };
    beside("columns-chat", Share::AtMost(560, MAX_CHAT_COLUMNS), CHAT, others)
}

/// The chat above a row of the others.
fn in_rows(reviewing: bool) -> Node {
    let (chat, map, context) = if reviewing {
        (("rows-review-chat", 450), ("rows-review-map", 200), ("rows-review-context", 250))
    } else {
        (("rows-chat", 620), ("rows-map", 400), ("rows-context", 500))
    };
    let others = beside(context.0, Share::Of(context.1), CONTEXT, REVIEW);
    above(chat.0, Share::Of(chat.1), CHAT, beside(map.0, Share::Of(map.1), MAP, others))
}

/// The pane with the focus above; below it the chat, a pending review, or map and context.
fn stack(focus: Pane, reviewing: bool) -> Node {
    match focus {
        Pane::Chat if reviewing => above("stack-review", Share::Of(500), CHAT, REVIEW),
        Pane::Chat => above("stack-chat", Share::AllBut(8), CHAT, beside("stack-map", Share::Of(500), MAP, CONTEXT)),
        other => above("stack-pane", Share::AllBut(7), Node::Pane(other), CHAT),
    }
}

const CHAT: Node = Node::Pane(Pane::Chat);
const MAP: Node = Node::Pane(Pane::Map);
const CONTEXT: Node = Node::Pane(Pane::Context);
const REVIEW: Node = Node::Pane(Pane::Review);

/// The size of the first of two parts, until the user moves their border.
#[derive(Debug, Clone, Copy)]
enum Share {
    /// Thousandths of the whole.
    Of(u16),
    /// Thousandths of the whole, and a maximum in cells.
    AtMost(u16, u16),
    /// The whole without this many cells.
    AllBut(u16),
}

#[derive(Debug)]
enum Node {
    Pane(Pane),
    Split(Box<Split>),
}

#[derive(Debug)]
struct Split {
    name: &'static str,
    beside: bool,
    share: Share,
    parts: [Node; 2],
    /// The minimum for both parts together, if it is larger than that of each.
    least_columns: u16,
}

fn beside(name: &'static str, share: Share, first: Node, second: Node) -> Node {
    Node::Split(Box::new(Split { name, beside: true, share, parts: [first, second], least_columns: 0 }))
}

fn above(name: &'static str, share: Share, first: Node, second: Node) -> Node {
    Node::Split(Box::new(Split { name, beside: false, share, parts: [first, second], least_columns: 0 }))
}

const MIN_PANE_COLUMNS: u16 = 20;

impl Node {
    fn at_least(self, least_columns: u16) -> Self {
        match self {
            Self::Split(split) => Self::Split(Box::new(Split { least_columns, ..*split })),
            pane @ Self::Pane(_) => pane,
        }
    }

    fn least(&self, columns: bool) -> u16 {
        match self {
            Self::Pane(_) if columns => MIN_PANE_COLUMNS,
            Self::Pane(Pane::Chat) => 6,
            Self::Pane(_) => 4,
            Self::Split(split) => {
                let [first, second] = &split.parts;
                let (first, second) = (first.least(columns), second.least(columns));
                let parts = if split.beside == columns { first + second } else { first.max(second) };
                if columns { parts.max(split.least_columns) } else { parts }
            }
        }
    }

    fn lay(&self, area: Rect, borders: &Borders, places: &mut Places) {
        let split = match self {
            Self::Pane(pane) => return places.panes.push((*pane, area)),
            Self::Split(split) => split,
        };
        let border = split.border(area, borders);
        let [first, second] = &split.parts;
        let (before, after) = if split.beside {
            (Rect { width: border.at, ..area }, Rect { x: area.x + border.at, width: area.width - border.at, ..area })
        } else {
            (
                Rect { height: border.at, ..area },
                Rect { y: area.y + border.at, height: area.height - border.at, ..area },
            )
        };
        places.borders.push(border);
        first.lay(before, borders, places);
        second.lay(after, borders, places);
    }
}

impl Split {
    fn border(&self, whole: Rect, borders: &Borders) -> Border {
        let length = if self.beside { whole.width } else { whole.height };
        let part = |thousandths: u16| {
            let cells = (u32::from(length) * u32::from(thousandths) + 500) / 1_000;
            u16::try_from(cells).unwrap_or(length).min(length)
        };
        let at = match (borders.get(self.name), self.share) {
            (Some(moved), _) => part(*moved),
            (None, Share::Of(thousandths)) => part(thousandths),
            (None, Share::AtMost(thousandths, most)) => part(thousandths).min(most),
            (None, Share::AllBut(rest)) => length.saturating_sub(rest),
        };
        let [first, second] = &self.parts;
        let (least, most) = (first.least(self.beside), length.saturating_sub(second.least(self.beside)));
        // If the space is too small for both, each gets less than its minimum.
        let range = if least <= most { (least, most) } else { (length / 2, length / 2) };
        Border { name: self.name, beside: self.beside, whole, at: at.clamp(range.0, range.1), range }
    }
}

#[derive(Debug, Default)]
pub struct LayoutState {
    /// Empty if the screen is too small.
    pub places: Places,
    pub(super) screen: (u16, u16),
    /// Rows by which a page key scrolls the pane with the focus; 0 before the first frame.
    pub(super) page_rows: usize,
    pub(super) zoomed: bool,
    pub(super) borders: Borders,
    configured: LayoutChoice,
    chosen: Option<LayoutChoice>,
    /// Whether the arrangement changed since the last save.
    changed: bool,
}

impl LayoutState {
    /// Ten before the first frame.
    pub(super) fn page_rows(&self) -> usize {
        if self.page_rows == 0 { 10 } else { self.page_rows }
    }

    /// Restores the saved arrangement. Returns the layout to begin with; `configured` is that of the settings.
    pub(super) fn restore(&mut self, saved: SavedLayout, configured: LayoutChoice) -> LayoutChoice {
        let own = saved.layout.filter(|layout| LayoutChoice::named(&layout.instead_of) == Some(configured));
        (self.borders, self.configured) = (saved.borders, configured);
        self.chosen = own.and_then(|layout| LayoutChoice::named(&layout.chosen));
        self.chosen.unwrap_or(configured)
    }

    fn choose(&mut self, layout: LayoutChoice) {
        self.chosen = Some(layout).filter(|layout| *layout != self.configured);
        (self.changed, self.zoomed) = (true, false);
    }

    /// Returns the arrangement if it changed since the last call.
    pub(super) fn take_changes(&mut self) -> Option<SavedLayout> {
        let name = |layout: LayoutChoice| layout.name().to_owned();
        let layout = self.chosen.map(|chosen| ChosenLayout { chosen: name(chosen), instead_of: name(self.configured) });
        std::mem::take(&mut self.changed).then(|| SavedLayout { borders: self.borders.clone(), layout })
    }

    /// Moves a border; `share` is in thousandths of the space of both parts.
    pub(super) fn move_border(&mut self, name: &str, share: u16) {
        if self.borders.insert(name.to_owned(), share) != Some(share) {
            self.changed = true;
        }
    }

    pub(super) fn reset_border(&mut self, border: &Border) {
        self.changed |= self.borders.remove(border.name).is_some();
    }
}

impl App {
    pub(super) fn layout_request(&self) -> LayoutRequest<'_> {
        LayoutRequest {
            focus: self.focus,
            reviewing: self.reviewing(),
            layout: self.display.layout,
            zoomed: self.layout.zoomed,
            borders: &self.layout.borders,
        }
    }

    /// Whether the pane fills the screen without being zoomed.
    pub(crate) fn is_alone(&self) -> bool {
        !self.layout.zoomed && self.layout.places.panes.len() == 1
    }

    /// Zooms the pane with the focus, or shows all panes again.
    pub(crate) fn zoom(&mut self) {
        if self.is_alone() {
            return self.hint.set("the pane already has the whole screen");
        }
        self.layout.zoomed = !self.layout.zoomed;
        if self.layout.zoomed {
            self.hint.set(format!(
                "{} fills the screen; {} shows all panes again",
                self.focus.title(),
                self.zoom_key()
            ));
        }
    }

    pub(crate) fn zoom_key(&self) -> &str {
        self.keys.first(Action::Zoom)
    }

    pub(crate) fn next_layout(&mut self) {
        let mut round = LayoutChoice::ALL.into_iter().cycle().skip_while(|layout| *layout != self.display.layout);
        let next = round.nth(1).unwrap_or_default();
        self.display.layout = next;
        self.layout.choose(next);
        let (columns, rows) = self.layout.screen;
        let small = matches!(next, LayoutChoice::Columns | LayoutChoice::Rows) && (columns < 80 || rows < 24);
        let why = if small { ": one pane at a time, the screen is small" } else { "" };
        self.hint.set(format!("layout: {}{why}", next.name()));
    }

    /// Moves the nearest border that can still be moved, so that the pane grows or shrinks.
    pub(crate) fn grow(&mut self, by: i32) {
        let Some(area) = self.layout.places.of(self.focus) else { return };
        if self.layout.places.borders.is_empty() {
            return self.hint.set("the pane already has the whole screen");
        }
        let moved = self.layout.places.borders.iter().rev().find_map(|border| {
            let step = if border.beside { RESIZE_STEP.0 } else { RESIZE_STEP.1 };
            let forward = if border.is_before(area)? { by } else { -by };
            let (least, most) = border.range;
            let at = (i32::from(border.at) + forward * step).clamp(i32::from(least), i32::from(most));
            let at = u16::try_from(at).ok()?;
            (at != border.at).then(|| (border.name, border.share(at)))
        });
        match moved {
            Some((name, share)) => self.layout.move_border(name, share),
            None => {
                self.hint.set(format!("{} cannot be {}", self.focus.title(), if by > 0 { "larger" } else { "smaller" }))
            }
        }
    }

    pub(crate) fn reset_borders(&mut self) {
        self.layout.changed |= !self.layout.borders.is_empty();
        self.layout.borders.clear();
        self.hint.set("all borders are at their default places");
    }

    pub(crate) fn toggle_mouse(&mut self) {
        self.display.mouse = !self.display.mouse;
        self.mouse.held = None;
        let key = self.keys.first(Action::Mouse);
        self.hint.set(if self.display.mouse {
            format!(
                "mouse on: a drag in the chat selects text, Shift-drag lets the terminal select; {key} turns it off"
            )
        } else {
            format!("mouse off: the terminal selects text; {key} turns it on")
        });
    }
}

/// How far one press moves a border, in columns and in rows.
const RESIZE_STEP: (i32, i32) = (5, 2);

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUTS: [LayoutChoice; 4] =
        [LayoutChoice::Auto, LayoutChoice::Columns, LayoutChoice::Rows, LayoutChoice::Single];

    fn request(borders: &Borders) -> LayoutRequest<'_> {
        LayoutRequest { focus: Pane::Chat, reviewing: false, layout: LayoutChoice::Auto, zoomed: false, borders }
    }

    fn screen(width: u16, height: u16) -> Rect {
        Rect::new(0, 0, width, height)
    }

    #[test]
    fn every_pane_is_on_a_wide_screen() {
        for (width, height) in [(120, 35), (400, 120)] {
            let places = places(screen(width, height), &request(&Borders::new())).unwrap();
            assert!(Pane::ALL.into_iter().all(|pane| places.of(pane).is_some()));
        }
    }

    #[test]
    fn the_pane_with_the_focus_is_always_on_the_screen_and_nothing_overlaps() {
        let moved: Vec<Borders> = [0, 1, 500, 1_000]
            .into_iter()
            .map(|share| {
                let mut borders = Borders::new();
                for name in names() {
                    borders.insert(name.to_owned(), share);
                }
                borders
            })
            .chain([Borders::new()])
            .collect();
        for (width, height) in [(40, 10), (79, 24), (80, 24), (119, 60), (120, 35), (240, 35), (400, 120)] {
            for focus in Pane::ALL {
                for (reviewing, zoomed) in [(false, false), (true, false), (true, true)] {
                    for layout in LAYOUTS {
                        for borders in &moved {
                            let request = LayoutRequest { focus, reviewing, layout, zoomed, borders };
                            whole(&places(screen(width, height), &request).unwrap(), &request, width, height);
                        }
                    }
                }
            }
        }
    }

    /// The panes fill the screen without a gap or an overlap, and each is large enough.
    fn whole(places: &Places, request: &LayoutRequest<'_>, width: u16, height: u16) {
        assert!(places.of(request.focus).is_some());
        let mut cells = usize::from(width) * (1 + usize::from(places.tabs.is_some()));
        for (index, (_, rect)) in places.panes.iter().enumerate() {
            cells += usize::from(rect.width) * usize::from(rect.height);
            assert!(rect.width >= 20 && rect.height >= 4, "{width}x{height} {request:?} {rect:?}");
            assert!(places.panes[..index].iter().all(|(_, other)| !other.intersects(*rect)));
        }
        assert_eq!(cells, usize::from(width) * usize::from(height), "{request:?}");
    }

    /// The names of all borders.
    fn names() -> Vec<&'static str> {
        fn within(node: &Node, names: &mut Vec<&'static str>) {
            let Node::Split(split) = node else { return };
            names.push(split.name);
            split.parts.iter().for_each(|part| within(part, names));
        }
        let mut names = Vec::new();
        let stacks = [(Pane::Chat, false), (Pane::Chat, true), (Pane::Map, false)];
        let nodes = [vast(), columns(false), columns(true), in_rows(false), in_rows(true)];
        for node in nodes.into_iter().chain(stacks.map(|(focus, reviewing)| stack(focus, reviewing))) {
            within(&node, &mut names);
        }
        names
    }

    #[test]
    fn no_two_borders_have_one_name() {
        let mut names = names();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        // The border of the chat has the same name with and without a review.
        assert_eq!(names.len(), count - 1);
    }

    #[test]
    fn a_proposal_that_arrives_leaves_the_chat_as_wide_as_it_is() {
        let at = |share: u16| Borders::from([("columns-chat".to_owned(), share), ("vast-chat".to_owned(), share)]);
        let moved: Vec<Borders> = [0, 300, 430, 700, 1_000].map(at).into_iter().chain([Borders::new()]).collect();
        for (width, height) in [(80, 24), (100, 30), (120, 35), (160, 45), (200, 50), (240, 35), (400, 120)] {
            for layout in LAYOUTS {
                for borders in &moved {
                    let chat = |reviewing| {
                        let request = LayoutRequest { reviewing, layout, ..request(borders) };
                        places(screen(width, height), &request).unwrap().of(Pane::Chat).unwrap()
                    };
                    assert_eq!(chat(true).width, chat(false).width, "{width}x{height} {layout:?}");
                }
            }
        }
    }

    #[test]
    fn a_border_stays_where_it_was_put_and_within_its_range() {
        for (width, height) in [(120, 35), (133, 47), (400, 120)] {
            let none = Borders::new();
            let before = places(screen(width, height), &request(&none)).unwrap();
            for border in &before.borders {
                for at in 0..=border.length() {
                    let borders = Borders::from([(border.name.to_owned(), border.share(at))]);
                    let after = places(screen(width, height), &request(&borders)).unwrap();
                    let moved = after.borders.iter().find(|other| other.name == border.name).unwrap();
                    assert_eq!(moved.at, at.clamp(border.range.0, border.range.1), "{} of {width}", border.name);
                }
            }
        }
    }

    #[test]
    fn a_border_is_found_on_the_frames_of_both_its_sides() {
        let places = places(screen(120, 35), &request(&Borders::new())).unwrap();
        let chat = places.of(Pane::Chat).unwrap();
        for column in [chat.right() - 1, chat.right()] {
            assert_eq!(places.border_at(column, 20).map(|border| border.name), Some("columns-chat"));
        }
        assert_eq!(places.border_at(chat.right() - 2, 20), None);
        let map = places.of(Pane::Map).unwrap();
        assert_eq!(places.border_at(map.x + 5, map.bottom()).map(|border| border.name), Some("columns-map"));
    }

    #[test]
    fn a_zoomed_pane_has_the_screen_and_the_others_are_tabs() {
        let borders = Borders::new();
        let places = places(screen(200, 60), &LayoutRequest { zoomed: true, ..request(&borders) }).unwrap();
        assert_eq!((places.panes.len(), places.tabs.is_some()), (1, true));
    }

    #[test]
    fn the_chat_of_a_vast_screen_stays_readable() {
        for reviewing in [false, true] {
            let borders = Borders::new();
            let places = places(screen(400, 120), &LayoutRequest { reviewing, ..request(&borders) }).unwrap();
            assert!(places.of(Pane::Chat).unwrap().width <= MAX_CHAT_COLUMNS);
            assert!(places.of(Pane::Review).unwrap().width >= 140, "wide enough for side by side");
        }
    }

    #[test]
    fn a_tiny_screen_has_no_places() {
        assert_eq!(places(screen(39, 30), &request(&Borders::new())), None);
    }
}

#[cfg(test)]
mod layout_state_tests {
    use crossterm::event::Event;
    use ratatui::layout::Rect;

    use super::super::action::Pane;
    use super::super::key;
    use super::super::theme::ColorDepth;
    use super::super::theme::Theme;
    use super::*;
    use rhumb_session::Connection;
    use rhumb_session::Session;

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        arrange(&mut app, 140, 40);
        app
    }

    fn arrange(app: &mut App, width: u16, height: u16) {
        app.lay_out(Rect::new(0, 0, width, height));
    }

    fn press(app: &mut App, keys: &str) {
        let (width, height) = app.layout.screen;
        for key in keys.split(' ').filter_map(key::parse) {
            app.event(Event::Key(key));
            arrange(app, width, height);
        }
    }

    #[test]
    fn zoom_gives_the_focus_the_screen_and_back_and_lists_have_a_key_of_their_own() {
        let mut app = app();
        press(&mut app, "Alt-z");
        assert_eq!(app.layout.places.panes.len(), 1);
        press(&mut app, "Alt-2");
        assert_eq!(app.layout.places.panes[0].0, Pane::Map, "the focus goes on, and takes the screen with it");
        press(&mut app, "z");
        assert_eq!(app.layout.places.panes.len(), 4);
        arrange(&mut app, 60, 18);
        press(&mut app, "z");
        assert!(!app.layout.zoomed && app.hint.text().contains("already"), "{}", app.hint.text());
    }

    #[test]
    fn layouts_go_round() {
        let mut app = app();
        let mut seen = Vec::new();
        for _ in 0..4 {
            press(&mut app, "Alt-l");
            seen.push((app.display.layout, app.layout.places.panes.len()));
        }
        let expected = [LayoutChoice::Columns, LayoutChoice::Rows, LayoutChoice::Single, LayoutChoice::Auto];
        assert_eq!(seen, expected.into_iter().zip([4, 4, 1, 4]).collect::<Vec<_>>());
        arrange(&mut app, 60, 18);
        press(&mut app, "Alt-l");
        assert!(app.hint.text().contains("small"), "{}", app.hint.text());
    }

    #[test]
    fn a_layout_that_was_chosen_is_kept_until_the_settings_say_something_else() {
        let mut app = app();
        press(&mut app, "Alt-l Alt-l");
        let kept = app.layout.take_changes().expect("it is to be kept");
        let starts_with = |set| {
            let mut layout = LayoutState::default();
            layout.restore(kept.clone(), set)
        };
        assert_eq!(starts_with(LayoutChoice::Auto), LayoutChoice::Rows);
        assert_eq!(starts_with(LayoutChoice::Columns), LayoutChoice::Columns);
        press(&mut app, "Alt-l Alt-l");
        assert_eq!(
            app.layout.take_changes().map(|kept| kept.layout),
            Some(None),
            "what the settings say need not be kept"
        );
    }

    #[test]
    fn every_pane_can_grow_and_shrink_by_keys_up_to_an_end_that_is_told() {
        for pane in Pane::ALL {
            let mut app = app();
            app.focus = pane;
            let size =
                |app: &App| app.layout.places.of(pane).map(|area| u32::from(area.width) * u32::from(area.height));
            let first = size(&app);
            press(&mut app, "Alt-+");
            assert!(size(&app) > first, "{pane:?}");
            press(&mut app, "Alt-- Alt--");
            assert!(size(&app) < first, "{pane:?}");
            for _ in 0..100 {
                press(&mut app, "Alt--");
            }
            assert!(app.hint.text().contains("cannot be smaller"), "{pane:?} {}", app.hint.text());
            press(&mut app, "Alt-0");
            assert_eq!(size(&app), first);
            let kept = app.layout.take_changes().map(|arrangement| arrangement.borders);
            assert_eq!(kept, Some(crate::tui::layout::Borders::new()));
        }
    }
}
