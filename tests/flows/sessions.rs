//! Sessions are stored for every way in which the program ends, and two programs can work in one repository.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rhumb::store::sessions::{SessionStore, sessions_folder};
use rhumb_session::StoredSession;

use super::{
    HARBOUR, KEY, REQUEST, SUBJECT, confirm, harbour_repo, harbour_with_first_hunk, quit, rhumb, search_replace, send,
    wait_for_draft,
};
use crate::support::WAIT_TIMEOUT;
use crate::support::pty::Pty;
use crate::support::repo::TestRepo;
use crate::support::server::{MODEL, ModelServer, Step};

/// A repository and a home folder for several runs of the program.
struct Fixture {
    repo: TestRepo,
    home: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { repo: harbour_repo(), home: tempfile::tempdir().unwrap() }
    }

    fn open(&self, server: &ModelServer, args: &[&str]) -> Pty {
        let (url, home) = (server.base_url(), self.home.path().to_string_lossy().into_owned());
        let env = [("HOME", home.as_str()), ("RHUMB_BASE_URL", &url), ("RHUMB_MODEL", MODEL), ("RHUMB_API_KEY", KEY)];
        let pty = Pty::spawn(&rhumb(), args, &self.repo.path(), &env, 160, 48);
        pty.wait_for("❯");
        pty
    }

    /// The state folder of the user.
    fn state(&self) -> PathBuf {
        self.home.path().join(".local/state")
    }

    fn folder(&self) -> PathBuf {
        sessions_folder(&self.state().join("rhumb"), &self.repo.path())
    }

    /// Waits until a session is stored for which `holds` is true.
    #[track_caller]
    fn wait_kept(&self, number: i64, holds: impl Fn(&StoredSession) -> bool) {
        let limit = Instant::now() + WAIT_TIMEOUT;
        loop {
            let stored = SessionStore::open_existing(&self.folder()).ok().flatten();
            let stored = stored.and_then(|mut store| store.load(number).ok().flatten());
            if stored.as_ref().is_some_and(&holds) {
                return;
            }
            assert!(Instant::now() < limit, "time is up; kept is {stored:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The output of `rhumb sessions`.
    fn sessions(&self, args: &[&str]) -> (String, String) {
        let mut command = Command::new(rhumb());
        command.arg("sessions").args(args).current_dir(self.repo.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home.path()).env("XDG_STATE_HOME", self.state());
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    }
}

fn said(stored: &StoredSession, text: &str) -> bool {
    stored.entries.iter().any(|entry| entry.contains(text))
}

#[test]
fn a_killed_program_loses_no_answer_and_the_answer_can_be_gone_on_with() {
    let fixture = Fixture::new();
    let server = ModelServer::start(vec![
        Step::held_after("Once upon a tide there was a keel.", "Once upon a tide"),
        Step::reply(" there was a keel, and it sailed."),
    ]);
    let mut pty = fixture.open(&server, &["--file", "harbour.py"]);
    send(&pty, "Tell me a story");
    pty.wait_for("Once upon a tide");
    pty.type_text("and the next");
    fixture.wait_kept(1, |kept| said(kept, "Once upon a tide") && kept.parts.contains_key("draft"));
    pty.signal("KILL");
    pty.wait_exit();

    let mut pty = fixture.open(&server, &["--continue"]);
    pty.wait_for("The last answer was incomplete when rhumb was stopped.");
    pty.wait_for("Tell me a story");
    wait_for_draft(&pty, "and the next");
    pty.wait_for("harbour.py");
    pty.key("Ctrl-c");
    send(&pty, "/continue");
    pty.wait_for("and it sailed.");
    let requests = server.wait_for_requests(2);
    assert!(requests[1].body.to_string().contains("Once upon a tide"));
    quit(&mut pty);
    fixture.wait_kept(1, |kept| said(kept, "and it sailed."));
}

#[test]
fn leaving_says_how_to_resume_and_the_next_start_says_what_waits() {
    let fixture = Fixture::new();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = fixture.open(&server, &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("2 pending");
    pty.type_text("and a test");
    wait_for_draft(&pty, "and a test");
    quit(&mut pty);
    for told in ["Session 1 is saved, with 2 pending hunks and an unsent message.", "Resume it with: rhumb --continue"]
    {
        assert!(pty.screen().contains(told), "{}", pty.screen());
    }

    let mut pty = fixture.open(&server, &[]);
    pty.wait_for("The last session (1) has 2 pending hunks and an unsent message.");
    assert!(!pty.screen().contains("2 pending ·"), "it is not taken over: {}", pty.screen());
    pty.signal("KILL");
    pty.wait_exit();
    let mut pty = fixture.open(&server, &[]);
    pty.wait_for("The last session (1) has 2 pending hunks");
    send(&pty, "/resume");
    wait_for_draft(&pty, "and a test");
    pty.wait_for("2 pending");
    pty.wait_until(|screen| !screen.contains("The last session (1)"), "the notice to go");
    quit(&mut pty);
}

#[test]
fn what_is_being_written_survives_leaving_and_a_kill_be_it_a_command() {
    let fixture = Fixture::new();
    let server = ModelServer::start(Vec::new());
    let is_kept = |text: &str| fixture.wait_kept(1, |kept| kept.parts.get("draft").is_some_and(|draft| draft == text));
    let texts = ["Hoist the sails", "/ask why do they fall", "/ask and who hoists them"];
    let mut pty = fixture.open(&server, &[]);
    for (at, text) in texts.iter().enumerate() {
        pty.type_text(text);
        wait_for_draft(&pty, text);
        if at == 1 {
            quit(&mut pty);
        } else {
            is_kept(text);
            pty.signal("KILL");
            pty.wait_exit();
        }
        is_kept(text);
        pty = fixture.open(&server, &["--continue"]);
        wait_for_draft(&pty, text);
        pty.key("Ctrl-c");
        pty.wait_until(|screen| !screen.contains(text), "an empty composer");
    }
    quit(&mut pty);
}

#[test]
fn files_transcript_and_review_are_there_again_and_can_be_written() {
    let fixture = Fixture::new();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = fixture.open(&server, &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("2 pending");
    pty.key("Enter");
    pty.key("y");
    pty.wait_for("1 pending · ✓ 1");
    quit(&mut pty);

    let mut pty = fixture.open(&server, &["--continue"]);
    pty.wait_for("Back in session 1");
    pty.wait_for("1 pending · ✓ 1");
    pty.wait_for("fair winds");
    pty.wait_for("harbour.py");
    pty.key("Enter");
    pty.key("w");
    pty.wait_for("write 1 hunk, keep 1 pending");
    pty.key("y");
    pty.wait_for("Wrote 1 hunk: ");
    assert_eq!(fixture.repo.read("harbour.py"), harbour_with_first_hunk());
    assert_eq!(fixture.repo.subjects()[0], SUBJECT);
    quit(&mut pty);
}

#[test]
fn an_accepted_hunk_does_not_overwrite_changes_made_meanwhile() {
    let fixture = Fixture::new();
    let server = ModelServer::start(vec![Step::reply(&search_replace())]);
    let mut pty = fixture.open(&server, &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("2 pending");
    for key in ["Enter", "g", "y"] {
        pty.key(key);
    }
    pty.wait_for("✓ 2");
    quit(&mut pty);
    let theirs = HARBOUR.replace("return TABLE[name]", "return TABLE.get(name)");
    fixture.repo.file("harbour.py", &theirs);

    let mut pty = fixture.open(&server, &["--continue"]);
    pty.wait_for("harbour.py was read again.");
    pty.wait_for("✓ 1");
    pty.wait_for("review · 1 conflict");
    pty.key("Enter");
    pty.key("w");
    pty.wait_for("Not written, because a conflict in it is open: harbour.py");
    assert_eq!(fixture.repo.read("harbour.py"), theirs);
    quit(&mut pty);
}

#[test]
fn two_programs_keep_their_own_sessions_and_one_that_is_open_can_only_be_forked() {
    let fixture = Fixture::new();
    let server = ModelServer::start(vec![Step::reply("The first answer."), Step::reply("The second answer.")]);
    let mut one = fixture.open(&server, &[]);
    send(&one, "The first question");
    one.wait_for("The first answer.");
    fixture.wait_kept(1, |kept| said(kept, "The first answer."));
    let mut two = fixture.open(&server, &["--continue"]);
    two.wait_for("Session 1 is open in another rhumb.");
    two.key("Alt-n");
    send(&two, "The second question");
    two.wait_for("The second answer.");
    fixture.wait_kept(2, |kept| said(kept, "The second answer."));
    let (list, _) = fixture.sessions(&[]);
    assert_eq!(list.matches("(open)").count(), 2, "{list}");
    let (_, refused) = fixture.sessions(&["delete", "1"]);
    assert!(refused.contains("session 1 is open in another rhumb"), "{refused}");

    send(&two, "/resume 1");
    two.wait_for("Session 1 is open in another rhumb.");
    two.key("Alt-f");
    two.wait_for("This new session is a copy of session 1");
    two.wait_for("The first answer.");
    fixture.wait_kept(3, |kept| kept.parent == Some(1) && said(kept, "The first answer."));
    one.type_text("still mine");
    fixture.wait_kept(1, |kept| kept.parts.get("draft").is_some_and(|draft| draft == "still mine"));
    quit(&mut two);
    quit(&mut one);
    let (list, _) = fixture.sessions(&[]);
    assert_eq!((list.lines().count(), list.contains("(open)")), (3, false), "{list}");
    fixture.wait_kept(2, |kept| said(kept, "The second answer.") && !said(kept, "The first"));
}

#[test]
fn sessions_are_searched_renamed_undone_and_exported() {
    let fixture = Fixture::new();
    let server = ModelServer::start(vec![Step::reply("Ropes hold."), Step::reply("Sails pull.")]);
    let mut pty = fixture.open(&server, &["--file", "harbour.py"]);
    send(&pty, "What do ropes do?");
    pty.wait_for("Ropes hold.");
    send(&pty, "What do sails do?");
    pty.wait_for("Sails pull.");
    send(&pty, "/rename rigging");
    pty.wait_for("is now called rigging");
    send(&pty, "/rewind");
    confirm(&pty, "rewind to turn 2?");
    pty.wait_for("Turn 2 is the draft again");
    wait_for_draft(&pty, "What do sails do?");
    pty.wait_until(|screen| !screen.contains("Sails pull."), "the second answer to go");
    pty.key("Ctrl-c");
    send(&pty, "/export talk.md");
    pty.wait_for("The session was written to talk.md.");
    let text = fixture.repo.read("talk.md");
    assert!(text.contains("## You (code)\n\nWhat do ropes do?") && !text.contains("What do sails do?"), "{text}");
    send(&pty, "/export talk.md");
    pty.wait_for("talk.md already exists. Replace it?");
    pty.key("Alt-k");
    send(&pty, "/save chat.rhumb");
    pty.wait_for("The list of files was written to chat.rhumb.");
    send(&pty, "/reset");
    confirm(&pty, "reset the chat?");
    send(&pty, "/load chat.rhumb");
    pty.wait_for("Running 1 command of chat.rhumb.");
    pty.type_text("/resume rig");
    pty.wait_for("▸ rigging");
    pty.key("Ctrl-c");
    send(&pty, "/sessions sails");
    pty.wait_for("earlier sessions");
    pty.wait_for("0 of 1");
    for _ in "sails".chars() {
        pty.key("Backspace");
    }
    pty.wait_for("rigging — What do ropes do?");
    // The last message is shown next to the list.
    pty.wait_for("Sails pull.");
    pty.key("Enter");
    pty.wait_for("Back in session 1");
    pty.wait_for("Sails pull.");
    quit(&mut pty);

    let (list, _) = fixture.sessions(&["rigging"]);
    assert_eq!(list.lines().count(), 2, "{list}");
    let (json, _) = fixture.sessions(&["--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["sessions"][0]["messages"], &json["sessions"][1]["from"]), (&2.into(), &1.into()), "{json}");
    let (text, _) = fixture.sessions(&["export", "1"]);
    assert!(text.contains("Sails pull."), "{text}");
    let (_, told) = fixture.sessions(&["delete", "1"]);
    assert!(told.contains("deleted session 1"), "{told}");
    assert!(fixture.sessions(&["export", "1"]).1.contains("there is no session 1"));
}

#[test]
fn what_was_typed_is_there_in_the_next_session() {
    let fixture = Fixture::new();
    let server = ModelServer::start(vec![Step::reply("Aye."), Step::reply("Aye aye.")]);
    let mut pty = fixture.open(&server, &[]);
    send(&pty, "Hoist the sails");
    pty.wait_for("Aye.");
    send(&pty, "/ls");
    quit(&mut pty);
    let mut pty = fixture.open(&server, &[]);
    // The database is opened after the first frame is drawn.
    let limit = Instant::now() + WAIT_TIMEOUT;
    while !pty.screen().contains("what was typed before") {
        assert!(Instant::now() < limit, "{}", pty.screen());
        pty.key("Ctrl-r");
        std::thread::sleep(Duration::from_millis(100));
    }
    pty.type_text("hoist");
    pty.wait_for("1 of 2");
    pty.key("Enter");
    wait_for_draft(&pty, "Hoist the sails");
    pty.key("Ctrl-c");
    pty.key("Up");
    wait_for_draft(&pty, "/ls");
    pty.key("Up");
    wait_for_draft(&pty, "Hoist the sails");
    quit(&mut pty);
}

#[test]
fn a_damaged_database_is_moved_aside_and_the_session_continues() {
    let fixture = Fixture::new();
    let server = ModelServer::start(vec![Step::reply("Aye.")]);
    std::fs::create_dir_all(fixture.folder()).unwrap();
    std::fs::write(fixture.folder().join("sessions.db"), "barnacles ".repeat(1_000)).unwrap();
    let mut pty = fixture.open(&server, &["--continue"]);
    pty.wait_for("The session database was damaged and was moved to");
    pty.wait_for("There is no earlier session in this repository.");
    send(&pty, "Hoist the sails");
    pty.wait_for("Aye.");
    quit(&mut pty);
    fixture.wait_kept(1, |kept| said(kept, "Aye."));
    let aside = |path: PathBuf| path.to_string_lossy().contains("sessions.db.damaged-");
    let files: Vec<_> = std::fs::read_dir(fixture.folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let aside = files.into_iter().find(|path| aside(path.clone())).unwrap();
    assert_eq!(std::fs::read_to_string(aside).unwrap(), "barnacles ".repeat(1_000));
}

#[test]
fn the_app_continues_if_sessions_cannot_be_stored() {
    let fixture = Fixture::new();
    let server = ModelServer::start(vec![Step::reply("Aye.")]);
    let state = fixture.state().join("rhumb");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(state.join("sessions"), "in the way").unwrap();
    let mut pty = fixture.open(&server, &[]);
    pty.wait_for("This session is not saved:");
    send(&pty, "Hoist the sails");
    pty.wait_for("Aye.");
    let told = pty.screen().matches("is not saved").count();
    assert_eq!(told, 1, "{}", pty.screen());
    send(&pty, "/sessions");
    pty.wait_for("Sessions are not saved here.");
    quit(&mut pty);
}

#[test]
fn no_session_is_stored_if_the_settings_disable_it() {
    let fixture = Fixture::new();
    let settings = fixture.home.path().join(".config/rhumb");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(settings.join("rhumb.toml"), "sessions = false\n").unwrap();
    let server = ModelServer::start(vec![Step::reply("Aye.")]);
    let mut pty = fixture.open(&server, &[]);
    send(&pty, "Hoist the sails");
    pty.wait_for("Aye.");
    quit(&mut pty);
    assert!(!Path::exists(&fixture.folder()));
}

#[test]
fn a_key_that_was_typed_is_not_in_the_database() {
    let fixture = Fixture::new();
    let server = ModelServer::start(vec![Step::reply("Better not show it.")]);
    let mut pty = fixture.open(&server, &[]);
    send(&pty, &format!("Is {KEY} a good key?"));
    pty.wait_for("Better not show it.");
    pty.type_text(&format!("Or {KEY}!"));
    fixture.wait_kept(1, |kept| kept.parts.get("draft").is_some_and(|draft| draft == "Or [key]!"));
    fixture.wait_kept(1, |kept| said(kept, "Is [key] a good key?"));
    quit(&mut pty);
    for entry in std::fs::read_dir(fixture.folder()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "{}", path.display());
    }
}
