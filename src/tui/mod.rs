//! The full-screen app: turns terminal events and reports into frames.

pub mod action;
mod app;
mod chat_pane;
mod coloring;
mod composer;
mod context_pane;
pub(crate) mod event_loop;
mod handlers;
mod hints;
pub mod key;
mod layout;
mod map_pane;
mod mouse;
mod overlay;
mod previews;
mod review_pane;
mod status_line;
mod svg;
mod terminal;
pub mod theme;
mod update;
pub mod view;
pub mod widget;

use self::action::{ACTIONS, Action, ActionInfo, Binding, KeyMap, KeySequence, Pane, Scope};
use self::app::{Editing, ReviewItem, run};
use self::coloring::{Coloring, Colors, Language, colored};
use self::key::{KeyCode, KeyEvent, KeyModifiers};
use self::mouse::{Hit, Hits};
use self::previews::{Preview, Previews};
use self::theme::{ColorDepth, Role, Theme, Themes};
use self::view::{ViewCache, draw_rows, pane_block, under_cursor};

pub(crate) use self::app::Start;
pub(crate) use self::svg::{Scene, screenshot};
pub(crate) use self::terminal::{color_depth, facts, light_background};

pub use self::app::{App, Task};
pub use self::coloring::ColoringJob;
pub use self::svg::svg;
