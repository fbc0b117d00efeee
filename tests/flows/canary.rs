//! A key that must reach the server and nothing else: every byte that is drawn, every file that is written, and the command
//! line of the process are searched for it, through every failure of a turn.

use std::fs;
use std::path::Path;

use rhumb::store::sessions::sessions_folder;

use super::{KEY, REQUEST, confirm, harbour_repo, open, open_set, quit, search_replace, send};
use crate::support::server::{MODEL, ModelServer, Step, pieces};

/// Files below `folder`, whatever their kind, that hold the key.
fn holding(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => holding(&path, found),
            Ok(metadata) if metadata.is_file() => {
                let bytes = fs::read(&path).unwrap_or_default();
                if bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()) {
                    found.push(path.display().to_string());
                }
            }
            _ => {}
        }
    }
}

#[test]
fn an_entered_key_is_stored_for_its_owner_only_and_never_shown() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply("Fair winds.")]);
    let config = tempfile::tempdir().unwrap();
    let folder = config.path().join("rhumb");
    fs::create_dir(&folder).unwrap();
    let settings = format!("[providers.quay]\nbase_url = \"{}\"\nkey_env = \"QUAY_KEY\"\n", server.base_url());
    fs::write(folder.join("rhumb.toml"), settings).unwrap();
    let config_home = config.path().to_string_lossy().into_owned();
    let mut pty = open_set(&repo.path(), None, &[], &[("RHUMB_API_KEY", ""), ("XDG_CONFIG_HOME", &config_home)]);
    send(&pty, "Which winds?");
    pty.wait_for("so the message was not sent.");
    pty.key("Esc");
    pty.wait_until(|screen| !screen.contains("connect a model"), "the screen to close");
    pty.key("Ctrl-c");
    send(&pty, "/connect quay");
    pty.wait_for("a key for quay");
    pty.paste(KEY);
    pty.wait_for("••••");
    pty.key("Enter");
    pty.wait_for("The key for quay is stored in");
    pty.wait_for(MODEL);
    send(&pty, "Which winds?");
    pty.wait_for("Fair winds.");
    quit(&mut pty);
    let stored = folder.join("credentials.toml");
    assert!(fs::read_to_string(&stored).unwrap().contains(KEY));
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&stored).unwrap().permissions()) & 0o777, 0o600);
    assert_eq!(server.requests()[0].headers["authorization"], format!("Bearer {KEY}"));
    let raw = pty.raw();
    assert!(!raw.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "the key was drawn");
    let mut found = Vec::new();
    holding(pty.home(), &mut found);
    holding(&repo.path(), &mut found);
    assert!(found.is_empty(), "the key was written to {found:?}");
}

#[test]
fn the_key_is_in_nothing_that_is_drawn_or_written() {
    let reply = search_replace();
    let (most, _) = reply.split_once("{metres:.1f}").unwrap();
    let echo = |code| Step::error(code, &format!("the key {KEY} (Bearer {KEY}) is not welcome"));
    let redirect = Step::Status {
        code: 307,
        body: format!("see https://example.org/?key={KEY}"),
        headers: vec![("location".into(), format!("http://127.0.0.1:9/?key={KEY}"))],
    };
    let steps = vec![
        echo(401),
        echo(400),
        echo(404),
        echo(402),
        redirect,
        Step::Html,
        Step::Drop { chunks: pieces(most) },
        Step::Cut { chunks: pieces(most), reason: KEY.into() },
        Step::reply(&reply),
    ];
    let count = steps.len();
    let repo = harbour_repo();
    let server = ModelServer::start(steps);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    for turn in 1..=count {
        // A message without an answer returns to the composer and is sent again unchanged.
        pty.key("Ctrl-c");
        send(&pty, REQUEST);
        server.wait_for_requests(turn);
        pty.wait_until(|screen| !screen.contains("Esc cancels"), "the end of the turn");
    }
    pty.wait_for("2 pending");
    for key in ["Enter", "g", "y", "w"] {
        pty.key(key);
    }
    pty.wait_for("Wrote 2 hunks");
    send(&pty, "/cost");
    send(&pty, "/undo");
    confirm(&pty, "undo the last write?");
    pty.wait_for("Undid the last write");
    #[cfg(target_os = "linux")]
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let read = |name: &str| fs::read(process.path().join(name)).unwrap_or_default();
        let line = String::from_utf8_lossy(&read("cmdline")).into_owned();
        assert!(!line.contains("rhumb") || !line.contains(KEY), "{line}");
    }
    quit(&mut pty);
    let raw = pty.raw();
    assert!(!raw.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "the key was drawn");
    // The database of sessions is searched too.
    let database = sessions_folder(&pty.home().join(".local/state/rhumb"), &repo.path()).join("sessions.db");
    assert!(fs::metadata(&database).is_ok_and(|metadata| metadata.len() > 0), "{}", database.display());
    let mut found = Vec::new();
    holding(pty.home(), &mut found);
    holding(&repo.path(), &mut found);
    assert!(found.is_empty(), "the key was written to {found:?}");
    // The server must have received the key, or the test proves nothing.
    let sent = server.requests().iter().all(|request| request.headers["authorization"] == format!("Bearer {KEY}"));
    assert!(sent);
}
