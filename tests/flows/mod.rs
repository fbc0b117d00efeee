//! The fixture of the flow tests: a repository, a model server and the program in a terminal.

mod agent;
mod attachments;
mod background;
mod canary;
mod citing;
mod commits;
mod context_limits;
mod copy_mode;
mod demo;
mod edit_rounds;
mod failures;
mod faults;
mod hostile;
mod hunk_questions;
mod map;
mod modes;
mod repositories;
mod resize;
mod review;
mod runtime_settings;
mod sessions;
mod stale;
mod terminal;
mod terminal_protocol;
mod turn;
mod undo;
mod verify;
mod watch;

use std::path::{Path, PathBuf};

use crate::support::pty::Pty;
use crate::support::repo::TestRepo;
use crate::support::server::{MODEL, ModelServer};

/// The API key of the program. Only the server may receive it.
pub const KEY: &str = "sk-canary-0123456789";

/// The request of most flows: its first line becomes the commit message.
pub const REQUEST: &str = "Make the harbour safe for unknown names";

/// The subject of the commit of its first hunk.
pub const SUBJECT: &str = "Change depth in harbour.py";

/// A file of several functions, far enough apart for a hunk each.
pub const HARBOUR: &str = "\
TABLE = {'north': 4.5, 'south': 3.0}


def depth(name):
    return TABLE[name]


def tide(hour):
    half = hour % 12
    rising = half < 6
    return half if rising else 12 - half


def report(name):
    metres = depth(name)
    return f'{name}: {metres} m'
";

/// The harbour after the first hunk of [`search_replace`] alone.
pub fn harbour_with_first_hunk() -> String {
    HARBOUR.replace("TABLE[name]", "TABLE.get(name, 0.0)")
}

/// The harbour after the second hunk of [`search_replace`] alone.
pub fn harbour_with_second_hunk() -> String {
    HARBOUR.replace("{metres} m'", "{metres:.1f} metres'")
}

/// A reply with prose around two search/replace blocks.
pub fn search_replace() -> String {
    "\
Unknown names get a depth of zero.

harbour.py
```python
<<<<<<< SEARCH
def depth(name):
    return TABLE[name]
=======
def depth(name):
    return TABLE.get(name, 0.0)
>>>>>>> REPLACE
```

The report rounds what it shows.

harbour.py
```python
<<<<<<< SEARCH
    return f'{name}: {metres} m'
=======
    return f'{name}: {metres:.1f} metres'
>>>>>>> REPLACE
```

That is all, fair winds.
"
    .to_owned()
}

/// The same two changes as a unified diff.
pub fn unified_diff() -> String {
    "\
Unknown names get a depth of zero.

```diff
--- a/harbour.py
+++ b/harbour.py
@@ -3,5 +3,5 @@
 
 def depth(name):
-    return TABLE[name]
+    return TABLE.get(name, 0.0)
 
 
@@ -14,3 +14,3 @@
 def report(name):
     metres = depth(name)
-    return f'{name}: {metres} m'
+    return f'{name}: {metres:.1f} metres'
```

That is all, fair winds.
"
    .to_owned()
}

/// A repository with one commit: the harbour, and another file for the map.
pub fn harbour_repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.file("harbour.py", HARBOUR)
        .file("charts/compass.py", "from harbour import depth\n\n\ndef bearing_to(name):\n    return depth(name)\n")
        .commit("Start the harbour");
    repo
}

/// The program under test.
pub fn rhumb() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_rhumb"))
}

/// Opens the app in `folder` on a screen large enough for all panes. `server` is the model, if given.
#[track_caller]
pub fn open(folder: &Path, server: Option<&ModelServer>, args: &[&str]) -> Pty {
    open_sized(folder, server, args, 160, 48)
}

/// [`open`] on a screen of `cols` × `rows`.
#[track_caller]
pub fn open_sized(folder: &Path, server: Option<&ModelServer>, args: &[&str], cols: u16, rows: u16) -> Pty {
    spawn(folder, server, args, &[], (cols, rows))
}

/// [`open`] with settings of the environment, such as `("RHUMB_HISTORY_TOKENS", "1000")`.
#[track_caller]
pub fn open_set(folder: &Path, server: Option<&ModelServer>, args: &[&str], settings: &[(&str, &str)]) -> Pty {
    spawn(folder, server, args, settings, (160, 48))
}

#[track_caller]
fn spawn(
    folder: &Path,
    server: Option<&ModelServer>,
    args: &[&str],
    settings: &[(&str, &str)],
    (cols, rows): (u16, u16),
) -> Pty {
    let url = server.map(ModelServer::base_url).unwrap_or_default();
    let mut env = vec![("RHUMB_API_KEY", KEY)];
    if server.is_some() {
        env.extend([("RHUMB_BASE_URL", url.as_str()), ("RHUMB_MODEL", MODEL)]);
    }
    env.extend(settings);
    let pty = Pty::spawn(&rhumb(), args, folder, &env, cols, rows);
    pty.wait_for("❯");
    let is_elsewhere = args.iter().any(|arg| ["demo", "--plain", "--resume", "--continue"].contains(arg));
    if server.is_none() && !is_elsewhere && settings.iter().all(|(name, _)| *name != "RHUMB_BASE_URL") {
        // Most tests start after the screen that connects a model.
        pty.wait_for("connect a model");
        pty.key("Esc");
        pty.wait_until(|screen| !screen.contains("connect a model"), "the screen to close");
    }
    pty
}

/// Types a message and sends it.
pub fn send(pty: &Pty, message: &str) {
    pty.type_text(message);
    pty.key("Enter");
}

/// Quits with Ctrl-Q: the app must end with exit code 0 and restore the terminal.
#[track_caller]
pub fn quit(pty: &mut Pty) {
    pty.key("Ctrl-q");
    // The app asks about undecided hunks.
    let status = pty.wait_exit_answering("Esc stays", "y");
    assert_eq!(status.exit_code(), 0, "{}", pty.screen());
    assert_eq!(pty.modes_restored(), Ok(()));
    assert_eq!(pty.line_mode_restored(), Ok(()));
}

/// Answers the question with this title with yes.
#[track_caller]
pub fn confirm(pty: &Pty, title: &str) {
    pty.wait_for(title);
    pty.key("y");
}

/// Checks that the app reacts to keys: help opens and closes.
#[track_caller]
pub fn answers_keys(pty: &Pty) {
    pty.key("F1");
    pty.wait_for("Esc closes");
    pty.key("Esc");
    pty.wait_until(|screen| !screen.contains("Esc closes"), "the help to close");
}

/// The line of the composer, if all panes are shown and the message has one line.
pub fn composer(screen: &str) -> &str {
    let lines: Vec<&str> = screen.lines().collect();
    let line = lines.get(lines.len().saturating_sub(3)).copied().unwrap_or_default();
    let text = line.split_once('❯').map_or("", |(_, text)| text);
    text.split(['│', '┃']).next().unwrap_or_default().trim()
}

/// Waits until the composer holds `text`.
#[track_caller]
pub fn wait_for_draft(pty: &Pty, text: &str) {
    pty.wait_until(|screen| composer(screen) == text, &format!("{text:?} in the composer"));
}

/// Checks that nothing was written: the work tree is clean and the log has exactly `commits`.
#[track_caller]
pub fn untouched(repo: &TestRepo, commits: &[&str]) {
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(repo.subjects(), commits);
}
