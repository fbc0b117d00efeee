//! `rhumb --plain`: the conversation in lines, over pipes and on a terminal. No escape is ever printed.

use super::*;

/// Runs `rhumb --plain` with `lines` as input and the harbour in the chat.
fn script(repo: &TestRepo, server: &ModelServer, lines: &[&str], args: &[&str]) -> (i32, String) {
    let mut command = rhumb(&repo.path(), &["--plain", "--base-url", &server.base_url(), "--model", MODEL]);
    command.args(args).write_stdin(lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    let (code, out, err) = run(command);
    assert_eq!(err, "", "{out}");
    (code, out)
}

fn talk(steps: Vec<Step>, lines: &[&str]) -> (TestRepo, ModelServer, String) {
    let (repo, server) = (harbour_repo(), ModelServer::start(steps));
    let (code, out) = script(&repo, &server, lines, &["--file", "harbour.py"]);
    assert_eq!(code, 0, "{out}");
    (repo, server, out)
}

#[track_caller]
fn holds(out: &str, parts: &[&str]) {
    let mut rest = out;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?} in its place in:\n{out}"));
        rest = &rest[at + part.len()..];
    }
}

fn two_files() -> String {
    format!(
        "Two changes.\n\n{}{}Fair winds.\n",
        good(),
        block("charts/compass.py", "        return depth(name)\n", "        return 0\n")
    )
}

#[test]
fn hunks_are_decided_by_number_and_only_the_accepted_are_written_and_committed() {
    let lines = ["Make it safe", "9", "1", "reject 2", "status", "write"];
    let (repo, _, out) = talk(vec![Step::reply(&two_files())], &lines);
    holds(
        &out,
        &[
            "rhumb> Make it safe\n",
            "Two changes.\n",
            "edit: harbour.py, 1 removed, 1 added\n",
            "Fair winds.\n",
            "2 hunks in 2 files.\n",
            "hunk 1 of 2, harbour.py, line 2, replaces 1 line by 1, located exactly, undecided\n",
            "kept 1: def depth(name):\nremoved 2:     return TABLE[name]\nadded 2:     return TABLE.get(name, 0.0)\n",
            "hunk 2 of 2, charts/compass.py, line 6, replaces 1 line by 1, located exactly, the file is not in the chat",
            "review> 9\nThere is no hunk 9. Hunks are numbered from 1 to 2.\n",
            "review> 1\n1 hunk changed: 1 accepted, 0 rejected, 1 undecided.\n",
            "1 accepted, 1 rejected, 0 undecided.\n",
            "changes harbour.py: 1 hunk\n",
            "note: Wrote 1 hunk: harbour.py. Committed as ",
        ],
    );
    assert_eq!(repo.read("harbour.py"), changed());
    assert_eq!(repo.subjects(), ["Change depth in harbour.py", "Start the harbour"]);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn what_is_undecided_is_asked_about_once_and_stays_under_review() {
    for (answer, written) in [("yes", true), ("no", false), ("perhaps", false)] {
        let (repo, _, out) = talk(vec![Step::reply(&two_files())], &["Make it safe", "1", "write", answer]);
        holds(
            &out,
            &["1 hunk is undecided and stays under review. Write and commit the 1 hunk accepted?", "yes or no> "],
        );
        assert_eq!(repo.read("harbour.py") == changed(), written, "{out}");
        holds(&out, &[if written { "Wrote 1 hunk" } else { "Nothing was written." }, "Session 1 is saved, with "]);
    }
}

#[test]
fn what_is_left_undecided_is_there_in_the_next_run() {
    let (repo, server, out) = talk(vec![Step::reply(&good())], &["Make it safe"]);
    holds(&out, &["Session 1 is saved, with 1 pending hunk.", "Resume it with: rhumb --plain --continue"]);
    untouched(&repo);
    let (code, out) = script(&repo, &server, &["all", "write"], &["--continue"]);
    assert_eq!(code, 0, "{out}");
    holds(&out, &["message: Make it safe", "1 hunk in 1 file.", "review> all", "Wrote 1 hunk: "]);
    assert_eq!(repo.read("harbour.py"), changed());
}

#[test]
fn edits_that_cannot_be_located_are_shown_with_the_reason_and_the_nearest_lines() {
    let steps = vec![Step::reply(&without_a_place()), Step::reply("I cannot."), Step::reply(&good())];
    let (repo, server, out) = talk(steps, &["Make it safe", "refused", "send back", "yes", "all", "write"]);
    holds(
        &out,
        &[
            "1 edit: no location (refused shows why).",
            "review> refused\nrefused edit 1 of 1, harbour.py, no location: no match",
            "quoted:     return lookup(ports, name, strict=True)\nwanted:     return None\n",
            "This goes to the model:\nThis is what became of your changes.\n\nThese edits found no location and were left out:",
            "yes or no> yes",
            "1 hunk in 1 file.",
            "Wrote 1 hunk",
        ],
    );
    assert_eq!(repo.read("harbour.py"), changed());
    assert!(server.requests()[2].last_message().contains("found no location"));
}

#[test]
fn a_question_is_answered_by_a_letter_and_a_wrong_one_does_nothing() {
    let steps = vec![Step::reply("It turns."), Step::reply("It still does.")];
    let (_, server, out) = talk(steps, &["What does charts/compass.py do?", "q", "y", "And now?"]);
    holds(
        &out,
        &[
            "It turns.",
            "question: Your message mentions charts/compass.py (",
            "  y: add it",
            "answer> q\nq does not answer the question, so nothing was done.",
            "answer> y",
            "It still does.",
        ],
    );
    let goes_along = |at: usize| server.requests()[at].body.to_string().contains("from harbour import depth");
    assert_eq!((goes_along(0), goes_along(1)), (false, true), "the message waits for no answer");
}

#[test]
fn a_message_instead_of_an_answer_declines_nothing_and_is_sent() {
    let steps = vec![Step::reply("It turns."), Step::reply("It still does.")];
    let (_, server, out) = talk(steps, &["What does charts/compass.py do?", "and the tide?"]);
    holds(
        &out,
        &["question: Your message mentions", "type the next message.", "answer> and the tide?", "It still does."],
    );
    assert!(server.requests()[1].last_message().starts_with("and the tide?"));
}

#[test]
fn nothing_in_an_answer_a_file_or_an_output_drives_the_terminal() {
    let evil = "\x1b[2J\x1b]52;c;aGk=\x07\u{9b}31m\u{202e}\r\x08";
    let reply = format!(
        "{evil}\n```{evil}\n{evil}\n```\n{}",
        block("harbour.py", "    return TABLE[name]\n", &format!("    {evil}\n"))
    );
    let repo = harbour_repo();
    repo.file(&format!("a{}.py", "\x1b[2J"), "x = 1\n").commit("Hostile");
    let server = ModelServer::start(vec![Step::reply(&reply)]);
    let lines = [
        "go",
        "lines 1",
        "comment 1 \x1b[2J",
        "send back",
        "no",
        "later",
        "!printf '\\033[2Jred\\n'",
        "n",
        "/files",
        "/copy",
        "/map",
        "/nope\x1b[2J",
    ];
    let (_, out) = script(&repo, &server, &lines, &["--file", "harbour.py"]);
    holds(&out, &["␛[2J␛]52;c;aGk=␇<U+009B>31m<U+202E>", "added 2:     ␛[2J"]);
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    assert!(!out.contains(is_control) && !out.contains('\u{202e}'), "{out:?}");
}

#[test]
fn a_message_of_several_lines_is_sent_as_one() {
    let steps = vec![Step::reply("One."), Step::reply("Two.")];
    let (_, server, out) = talk(steps, &["\"\"\"first", "", "/second\"\"\"", "third\\", "fourth"]);
    holds(&out, &["more> ", "One.", "Two."]);
    assert!(server.requests()[0].last_message().starts_with("first\n\n/second"));
    assert!(server.requests()[1].last_message().starts_with("third\nfourth"));
}

#[test]
fn hunks_are_edited_commented_split_and_undone() {
    let reply =
        block("harbour.py", "def depth(name):\n    return TABLE[name]\n", "def depth(port):\n    return TABLE[port]\n");
    let (repo, server) = (harbour_repo(), ModelServer::start(vec![Step::reply(&reply), Step::reply("As you wish.")]));
    let mut command = rhumb(&repo.path(), &["--plain", "--base-url", &server.base_url(), "--model", MODEL]);
    let lines = "go\nsplit 1\nundo\naccept 1 lines 1-1\nundo\ncomment 1 line 3 call it harbour\n/verbosity 0\nshow 1\nsend back\nyes\nedit 1\nwrite\n";
    command.args(["--file", "harbour.py"]).env("EDITOR", "sed -i s/port/harbour/").write_stdin(lines);
    let (code, out, _) = run(command);
    assert_eq!(code, 0, "{out}");
    holds(
        &out,
        &[
            "split into 2 hunks",
            "undone: 0 accepted, 0 rejected, 1 undecided.",
            "1 line changed",
            "undone: ",
            "noted; send back sends it",
            "review> show 1\nhunk 1 of 1, harbour.py, lines 1 to 2, replaces 2 lines by 2",
            "removed 1: def depth(name):\nremoved 2:     return TABLE[name]\nadded 1: def depth(port):\n",
            "comment on that line: call it harbour",
            "As you wish.",
            "changed, and accepted with that",
            "changed by you, accepted",
            "Wrote 1 hunk",
        ],
    );
    assert!(
        server.requests()[1]
            .last_message()
            .contains("harbour.py:1 (not decided):\n```diff\n+def depth(port):\n```\ncall it harbour")
    );
    assert!(repo.read("harbour.py").starts_with("def depth(harbour):\n    return TABLE[harbour]\n"));
}

#[test]
fn pages_are_printed() {
    let lines = [
        "/help", "/map", "/tokens", "/cost", "/settings edit_format", "/view-prompt", "/ls", "/theme x", "/keys",
        "/nothing",
    ];
    let (_, _, out) = {
        let (repo, server) = (harbour_repo(), ModelServer::start(Vec::new()));
        let (code, out) = script(&repo, &server, &lines, &["--file", "harbour.py"]);
        assert_eq!(code, 2, "the last command is unknown: {out}");
        (repo, server, out)
    };
    holds(
        &out,
        &[
            "commands of the line UI:",
            "/quit: leave",
            "commands of the review:",
            "rhumb> /map\nrepo map, ",
            "charts/compass.py",
            "note: The next request has ",
            "note: No request was sent yet.",
            "edit_format = ",
            "The next request:",
            "harbour.py",
            "There are no colours in the line UI.",
            "error: There is no command /nothing.",
        ],
    );
    let is_drawn = |c: char| ('\u{2500}'..='\u{259f}').contains(&c) || ('\u{2800}'..='\u{28ff}').contains(&c);
    assert!(!out.contains(is_drawn), "{out}");
}

#[test]
fn a_reply_from_elsewhere_is_put_in_without_a_model() {
    let repo = harbour_repo();
    let mut command = rhumb(&repo.path(), &["--plain", "--file", "harbour.py"]);
    command.write_stdin(format!("/copy-context\n/paste\n{}\n\"\"\"\nall\nwrite\n", good()));
    let (code, out, err) = run(command);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    holds(&out, &["no model is connected", "return TABLE[name]", "end of text", "1 hunk in 1 file.", "Wrote 1 hunk"]);
    assert_eq!(repo.read("harbour.py"), changed());
}

#[test]
fn the_exit_code_of_a_script_tells_what_went_wrong() {
    for (step, wanted) in [(Step::error(401, "no such key"), 4), (Step::Drop { chunks: pieces("Half an ans") }, 5)] {
        let (repo, server) = (harbour_repo(), ModelServer::start(vec![step]));
        let (code, out) = script(&repo, &server, &["go"], &[]);
        assert_eq!(code, wanted, "{out}");
    }
    let repo = harbour_repo();
    let mut command = rhumb(&repo.path(), &["--plain"]);
    command.write_stdin("go\n");
    let (code, out, _) = run(command);
    assert_eq!(code, 2, "nobody is there to ask: {out}");
}

#[test]
fn review_commands_without_a_review_are_never_sent_to_the_model() {
    let steps = vec![Step::reply("Nothing to change."), Step::reply("All of what?")];
    let (_, server, out) = talk(steps, &["Make it safe", "all", "1", "write", "yes", "\"\"\"all\"\"\""]);
    holds(&out, &["error: all is an answer", "error: 1 is", "error: write is", "error: yes is", "All of what?"]);
    assert_eq!(server.requests().len(), 2, "{out}");
}

#[test]
fn a_mode_shows_in_the_prompt_and_a_draft_waits_until_it_is_sent() {
    let (repo, server) = (harbour_repo(), ModelServer::start(vec![Step::error(401, "no"), Step::reply("A table.")]));
    let lines = ["/ask", "what is it?", "/draft", "/send"];
    let (code, out) = script(&repo, &server, &lines, &["--file", "harbour.py"]);
    assert_eq!(code, 0, "{out}");
    holds(&out, &["rhumb ask> what is it?", "kept as the draft", "The draft:\nwhat is it?\nend of text", "A table."]);
}

#[test]
fn outputs_of_commands_are_printed_and_shared_by_a_letter() {
    let (_, server, out) = talk(vec![Step::reply("I see.")], &["!echo high; echo tide", "y", "and?"]);
    holds(
        &out,
        &[
            "running: echo high; echo tide\n",
            "high\ntide\nend of output: exit code 0",
            "question: Share the output",
            "I see.",
        ],
    );
    assert!(server.requests()[0].body.to_string().contains("high\\ntide"));
    assert_eq!(out.matches("high\ntide\n").count(), 1, "{out}");
}

// ------------------------------------------------------------------------------------------------- on a terminal

fn terminal(repo: &TestRepo, server: &ModelServer, args: &[&str], term: &str) -> Pty {
    let url = server.base_url();
    let args = [args, &["--file", "harbour.py", "--base-url", &url, "--model", MODEL]].concat();
    Pty::spawn(Path::new(env!("CARGO_BIN_EXE_rhumb")), &args, &repo.path(), &[("TERM", term)], 100, 40)
}

#[track_caller]
fn leaves(mut pty: Pty) {
    assert!(pty.wait_exit().success(), "{}", pty.screen());
    assert!(!pty.raw().contains(&0x1b), "an escape in {}", String::from_utf8_lossy(&pty.raw()));
}

#[test]
fn ctrl_c_stops_the_answer_and_twice_it_leaves() {
    let repo = harbour_repo();
    let server =
        ModelServer::start(vec![Step::held_after("One line.\nAnother line.\nA third.\n", "Another line.\nA ")]);
    let pty = terminal(&repo, &server, &["--plain"], "xterm");
    pty.wait_for("rhumb>");
    pty.type_text("go\r");
    pty.wait_for("One line.");
    pty.key("Ctrl-c");
    pty.wait_for("The answer ended early: cancelled.");
    server.wait_cancelled();
    pty.type_text("\"\"\"half\r");
    pty.wait_for("more>");
    pty.key("Ctrl-c");
    pty.wait_for("The unfinished text was dropped.");
    pty.key("Ctrl-c");
    pty.wait_for("Ctrl-C again leaves.");
    pty.key("Ctrl-c");
    leaves(pty);
}

#[test]
fn a_dumb_terminal_gets_the_line_mode_and_a_notice() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&good())]);
    let pty = terminal(&repo, &server, &[], "dumb");
    pty.wait_for("The terminal is dumb (TERM=dumb), so this is the line mode");
    pty.type_text("Make it safe\r");
    pty.wait_for("review>");
    pty.type_text("all\r");
    pty.wait_for("write writes what is accepted");
    pty.type_text("write\r");
    pty.wait_for("Wrote 1 hunk");
    assert_eq!(repo.read("harbour.py"), changed());
    pty.key("Ctrl-d");
    leaves(pty);
}

#[test]
fn what_a_search_finds_and_an_answer_cites_is_opened_by_number() {
    let answer = "It is looked up in `harbour.py:2`, see harbour.py:1-2 and gone/x.py:3 or harbour.py:99.";
    let lines = ["/search depth of a chart", "/show 1", "/show 77", "Where is it?", "/show 1"];
    let (_, _, out) = talk(vec![Step::reply(answer)], &lines);
    holds(
        &out,
        &[
            "1. ",
            "/show and a number prints the lines.",
            "/show 1\n",
            "end of text",
            "There is no location 77.",
            "The answer cites:\n1. harbour.py:2\n2. harbour.py:1-2\n",
            "warning: 2 of 4 citations point nowhere: gone/x.py:3 (no such file), harbour.py:99 (the file has ",
            "harbour.py:2:\n2     return TABLE[name]\nend of text",
        ],
    );
}

/// An edit after which the file does not parse.
fn breaking() -> String {
    block("harbour.py", "    return TABLE[name]\n", "    return TABLE.get(name, 0.0\n")
}

#[test]
fn a_hunk_that_breaks_the_syntax_is_asked_about_shown_and_written_by_a_yes() {
    let lines = ["Break it", "all", "write", "g", "write", "n", "write", "y"];
    let (repo, _, out) = talk(vec![Step::reply(&breaking()), Step::reply("Nothing to do.")], &lines);
    let question = "question: An accepted hunk breaks the syntax of its file. Write it anyway?";
    let place = "harbour.py does not parse at line 2 (hunk 1): return TABLE.get(name, 0.0";
    let shown = "hunk 1 of 1, harbour.py, line 2";
    holds(
        &out,
        &[question, place, "g: go to the hunk", "answer> g", shown, question, "answer> n", question, "Wrote 1 hunk: "],
    );
    assert_eq!(repo.subjects()[0], "Change depth in harbour.py");
}

#[test]
fn the_output_of_the_last_command_is_read_again() {
    let (_, _, out) = talk(vec![], &["/output", "!echo one; echo two", "n", "/output"]);
    holds(
        &out,
        &["No command has run yet.", "end of output", "The output of echo one; echo two:\none\ntwo\nend of text"],
    );
}
