//! Comments for the model in watched files: found after saving, sent on request, removed by the edit.

use super::{HARBOUR, harbour_repo, open, quit, send};
use crate::support::server::{ModelServer, Step};

/// The harbour with a comment for the model.
fn wished() -> String {
    HARBOUR.replace("    return TABLE[name]\n", "    # zero for unknown names AI!\n    return TABLE[name]\n")
}

/// A reply that follows the comment and removes it.
const DONE: &str = "\
harbour.py
```python
<<<<<<< SEARCH
    # zero for unknown names AI!
    return TABLE[name]
=======
    return TABLE.get(name, 0.0)
>>>>>>> REPLACE
```
";

#[test]
fn a_comment_in_a_saved_file_is_carried_out_and_gone() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(DONE)]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    send(&pty, "/watch on");
    pty.wait_for("/watch off turns this off");
    pty.wait_until(|screen| !screen.contains("reading"), "the end of the survey");
    repo.file("harbour.py", &wished());
    let request = server.wait_for_requests(1).remove(0);
    assert!(request.last_message().contains(">    5     # zero for unknown names AI!"), "{}", request.last_message());
    pty.wait_for("1 pending");
    pty.key("Alt-4");
    pty.type_text("yw");
    pty.wait_for("Commit your own changes first?");
    pty.key("n");
    pty.wait_for("Wrote 1 hunk");
    assert_eq!(repo.read("harbour.py"), HARBOUR.replace("TABLE[name]", "TABLE.get(name, 0.0)"));
    assert_eq!(server.requests().len(), 1, "what is done is not asked for again");
    quit(&mut pty);
}

#[test]
fn a_file_that_takes_the_place_of_another_counts_as_saved_and_waits_for_the_answer() {
    let repo = harbour_repo();
    let server =
        ModelServer::start(vec![Step::held_after("One moment, please.", "moment"), Step::reply("By the moon.")]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    send(&pty, "/watch on");
    pty.wait_for("/watch off turns this off");
    pty.wait_until(|screen| !screen.contains("reading"), "the end of the survey");
    send(&pty, "first");
    pty.wait_for("One moment");
    let question = HARBOUR.replace("def tide(hour):\n", "def tide(hour):  # how does it rise? AI?\n");
    std::fs::write(repo.path().join("harbour.py.new"), question).unwrap();
    std::fs::rename(repo.path().join("harbour.py.new"), repo.path().join("harbour.py")).unwrap();
    pty.wait_for("⧗ Comments in the files");
    server.go_on();
    pty.wait_for("By the moon.");
    let requests = server.requests();
    assert!(requests[1].last_message().contains("how does it rise?"));
    quit(&mut pty);
}

#[test]
fn what_git_ignores_is_not_read() {
    let repo = harbour_repo();
    repo.file(".gitignore", "build/\n").file("build/keep.py", "x = 1\n").commit("Ignore builds");
    let server = ModelServer::start(vec![Step::reply("Yes.")]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    send(&pty, "/watch on");
    pty.wait_for("/watch off turns this off");
    pty.wait_until(|screen| !screen.contains("reading"), "the end of the survey");
    repo.file("build/keep.py", "x = 1  # two AI!\n");
    repo.file("charts/compass.py", "# which way is north? AI?\n");
    let request = server.wait_for_requests(1).remove(0);
    assert!(request.last_message().contains("north") && !request.last_message().contains("two"));
    pty.wait_for("Yes.");
    quit(&mut pty);
}
