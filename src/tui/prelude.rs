//! The names that nearly every file of the app uses.

pub(super) use std::collections::{BTreeMap, BTreeSet};
pub(super) use std::ops::Range;
pub(super) use std::sync::Arc;
pub(super) use std::time::Duration;

pub(super) use ratatui::prelude::*;
pub(super) use ratatui::widgets::Paragraph;
pub(super) use rhumb_session::{ClipboardText, Command, Connection, Effect, Entry, Level, Response};
pub(super) use rhumb_text::{count, lines, sanitize, width, wrap};

pub(super) use super::action::{ACTIONS, Action, ActionInfo, Binding, KeyMap, KeySequence, Pane, Scope};
pub(super) use super::app::{App, Editing, ReviewItem, Task, run};
pub(super) use super::coloring::{Coloring, Colors, Language, colored};
pub(super) use super::key::{self, KeyCode, KeyEvent, KeyModifiers};
pub(super) use super::mouse::{Hit, Hits};
pub(super) use super::previews::{Preview, Previews};
pub(super) use super::theme::{ColorDepth, Role, Theme, Themes};
pub(super) use super::view::{ViewCache, draw_rows, pane_block, under_cursor};
pub(super) use super::widget::{
    LineInput, Lines, ListWindow, StyledText, cells, clipped, fill, hanging, list_row, marked, matches, place_cursor,
    spread, wrapped,
};
