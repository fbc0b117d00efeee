//! Starts the line UI: on request, or if the terminal supports nothing else.

use crate::error::{ErrorKind, UserError};
use crate::headless::{LineUiStart, run_line_ui};
use crate::host::{Host, Line, RequestEnv};
use crate::tui::{self, Start};
use rhumb_workspace::{Root, RootKind};

/// Why the line UI is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    /// The user requested it.
    Asked,
    /// The terminal cannot move the cursor.
    Dumb,
}

impl Plain {
    /// Whether the line UI is used, and why.
    pub(super) fn wanted(asked: bool, env: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let is_dumb = || env("TERM").is_some_and(|term| term == "dumb");
        if asked { Some(Self::Asked) } else { is_dumb().then_some(Self::Dumb) }
    }

    /// Runs the line UI.
    pub(super) fn run(self, start: Start, root: Root, outfit: RequestEnv, line: Option<Line>) -> Result<u8, UserError> {
        let machine = |error: std::io::Error| UserError::new(ErrorKind::Machine, error, "");
        let start = LineUiStart {
            session: start.session,
            reason: (self == Self::Dumb).then(|| "The terminal is dumb (TERM=dumb)".to_owned()),
            commits: outfit.settings.auto_commit && root.kind() != RootKind::Directory,
            terminal: tui::facts(|name| std::env::var(name).ok()),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(machine)?;
        let code =
            runtime.block_on(run_line_ui(start, |reports| Host::new(root, outfit, line, reports))).map_err(machine);
        // Background work must not delay the exit.
        runtime.shutdown_background();
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_for_those_who_ask_and_for_dumb_terminals() {
        let of = |asked, term: &str| Plain::wanted(asked, |name| (name == "TERM").then(|| term.to_owned()));
        assert_eq!(of(true, "xterm"), Some(Plain::Asked));
        assert_eq!((of(false, "dumb"), of(false, "xterm")), (Some(Plain::Dumb), None));
        assert_eq!(Plain::wanted(false, |_| None), None);
    }
}
