//! Tests of offers of mentioned files.

use crate::tests::graph_of;
use crate::*;
use rhumb_llm::{Completion, Finish, StreamEvent};
use std::sync::Arc;

fn session() -> Session {
    let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
    let paths = [".env", "a.py", "lib/c.py", "lib/d.py"].map(str::to_owned);
    session.handle(Response::Listed(Arc::new(paths.to_vec())));
    session.handle(Response::Symbols(Arc::default()));
    session
}

fn is_requested(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Ask(_)))
}

fn chat(session: &Session) -> Vec<(&str, bool)> {
    session.chat_files.files().iter().map(|file| (file.path.as_str(), file.read_only)).collect()
}

/// Reports the tokens of the files that effects ask about, seven each.
fn report_tokens(session: &mut Session, effects: &[Effect]) {
    for effect in effects {
        if let Effect::Mention(MentionEffect::CountTokens { number, paths }) = effect {
            let tokens = paths.iter().map(|path| (path.clone(), Some(7))).collect();
            session.handle(Response::Mention(MentionResponse::TokensCounted { number: *number, tokens }));
        }
    }
}

fn answer(session: &mut Session, text: &str) -> Vec<Effect> {
    let turn = session.turns.current().map(|turn| turn.number).unwrap();
    session.handle(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) });
    let effects = session.handle(Response::Ended { turn, result: Ok(Completion::new(Finish::Stop, None)) });
    report_tokens(session, &effects);
    effects
}

fn send(session: &mut Session, text: &str) -> Vec<Effect> {
    let (sent, effects) = session.send(text);
    assert!(sent);
    report_tokens(session, &effects);
    effects
}

/// Types a draft and waits until it is measured.
fn draft(session: &mut Session, text: &str) {
    let effects = session.draft_changed(text);
    let generation = effects.iter().find_map(|effect| match effect {
        Effect::Measure(spec) => Some(spec.generation),
        _ => None,
    });
    let view = ContextView { map: None, provisional: false, prompt: Arc::default(), unreadable: Vec::new() };
    let effects = session.handle(Response::Measured { generation: generation.unwrap(), view });
    report_tokens(session, &effects);
}

fn titles(session: &Session) -> Vec<&str> {
    session.questions.iter().map(|question| question.title.as_str()).collect()
}

#[test]
fn a_mentioned_file_is_offered_and_the_message_is_sent_at_once() {
    for (key, files) in [('y', vec![("a.py", false)]), ('r', vec![("a.py", true)]), ('n', vec![])] {
        let mut session = session();
        assert!(is_requested(&send(&mut session, "fix a.py please")), "the message does not wait for the answer");
        assert_eq!(titles(&session), ["Your message mentions a.py (7 tokens)."]);
        session.answer(key);
        assert_eq!(chat(&session), files, "{key}");
        assert!(session.questions.is_empty() && session.turns.is_running());
        answer(&mut session, "done");
        session.drop_files(&[]);
        send(&mut session, "fix a.py again");
        assert_eq!(session.questions.is_empty(), key == 'n', "a declined file is not offered again");
    }
}

#[test]
fn files_of_a_draft_can_be_added_before_it_is_sent() {
    let mut session = session();
    draft(&mut session, "fix a.py");
    assert_eq!(titles(&session), ["Your message mentions a.py (7 tokens)."]);
    session.answer('y');
    let effects = send(&mut session, "fix a.py");
    let spec = effects.iter().find_map(|effect| match effect {
        Effect::Ask(spec) => Some(spec),
        _ => None,
    });
    assert_eq!(spec.unwrap().files.len(), 1);
    assert!(session.questions.is_empty());
}

#[test]
fn the_offer_for_a_draft_follows_the_draft_and_stays_when_it_is_sent() {
    let mut session = session();
    draft(&mut session, "fix a.py and lib/c.py");
    assert_eq!(titles(&session), ["Your message mentions a.py and lib/c.py (14 tokens)."]);
    draft(&mut session, "fix it");
    assert!(session.questions.is_empty());
    draft(&mut session, "fix a.py");
    let before = session.questions.clone();
    session.send("fix a.py");
    assert_eq!(session.questions, before, "asked once");
    draft(&mut session, "and lib/c.py");
    assert_eq!(titles(&session), ["Your message mentions a.py and lib/c.py (14 tokens)."]);
    draft(&mut session, "");
    assert_eq!(titles(&session), ["Your message mentions a.py (7 tokens)."]);
    session.command(Command::Clear);
    assert!(session.questions.is_empty());
}

#[test]
fn queued_messages_do_not_wait_for_an_offer() {
    let mut session = session();
    send(&mut session, "fix a.py");
    session.send("and then this");
    answer(&mut session, "lib/c.py needs it as well.");
    session.handle(Response::NotProposed(None));
    assert_eq!(titles(&session).len(), 2);
    assert!(is_requested(&session.next_queued()));
}

/// A session with the symbols of its files.
fn with_symbols(files: &[(&str, &str)]) -> Session {
    let mut session = session();
    let paths = files.iter().map(|(path, _)| (*path).to_owned()).collect();
    session.handle(Response::Listed(Arc::new(paths)));
    session.handle(Response::Symbols(graph_of(files)));
    session
}

#[test]
fn only_distinctive_symbols_of_code_mention_their_file() {
    let files = [
        ("README.md", "# MooringPlan\n"),
        ("gate.py", "class Gate:\n    pass\n\ndef open_gate():\n    pass\n\ndef moor():\n    pass\n"),
        ("pyproject.toml", "[tool.mypy]\nstrict = true\nwarn_unused = true\n"),
        ("settings.yaml", "openGates: 3\n"),
    ];
    for text in
        ["what is `strict` for?", "`warn_unused`", "`openGates: 3`", "`MooringPlan`", "`moor()`", "open_gate is slow"]
    {
        let mut session = with_symbols(&files);
        assert!(is_requested(&send(&mut session, text)), "{text}");
        assert!(session.questions.is_empty(), "{text}: {:?}", titles(&session));
    }
    let mut session = with_symbols(&files);
    send(&mut session, "why is `open_gate` slow, and `Gate`?");
    assert_eq!(titles(&session), ["Your message mentions `open_gate`, defined in gate.py (7 tokens)."]);
    let mut session = with_symbols(&files);
    send(&mut session, "go on");
    answer(&mut session, "1. Add `strict: bool` to `Gate`.\n");
    assert_eq!(titles(&session), ["The answer mentions `Gate`, defined in gate.py (7 tokens)."]);
}

#[test]
fn the_settings_can_add_or_ignore_mentioned_files() {
    let mut adds = session();
    adds.modes.rules_mut().mentions = MentionPolicy::Add;
    assert!(is_requested(&adds.send("fix a.py").1));
    assert_eq!(chat(&adds), [("a.py", false)]);
    answer(&mut adds, "See lib/c.py.");
    assert_eq!(chat(&adds), [("a.py", false), ("lib/c.py", false)]);
    let mut ignores = session();
    ignores.modes.rules_mut().mentions = MentionPolicy::Ignore;
    assert!(is_requested(&ignores.send("fix a.py").1));
    answer(&mut ignores, "See lib/c.py.");
    assert!(chat(&ignores).is_empty() && ignores.questions.is_empty());
}

#[test]
fn files_with_secrets_are_never_offered() {
    let mut session = session();
    assert!(is_requested(&session.send("read .env").1));
    answer(&mut session, "I need .env for that.");
    assert!(session.questions.is_empty());
}

#[test]
fn files_of_an_answer_are_offered_and_its_edits_are_proposed() {
    let edit = "a.py\n```python\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n";
    let mut session = session();
    session.add_files(&["a.py".into()], false);
    session.send("do it");
    let effects = answer(&mut session, &format!("lib/c.py calls it, and so does lib/d.py.\n\n{edit}"));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Propose { .. })));
    let question = session.questions.first().unwrap();
    assert!(question.title.contains("lib/c.py and lib/d.py") && question.text.contains("lib/c.py  7 tokens"));
    let proposals = session.proposals.count();
    let effects = session.answer('s');
    assert!(is_requested(&effects));
    assert_eq!(session.proposals.count(), proposals);
    assert_eq!(chat(&session).len(), 3);
    let typed = session.transcript.iter().rev().find_map(|entry| match entry {
        Entry::User { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(typed.as_deref(), Some("These files are in the chat now: lib/c.py, lib/d.py. Go on."));
}

#[test]
fn the_next_message_withdraws_the_offer_of_an_answer() {
    let mut session = session();
    session.send("do it");
    answer(&mut session, "I need lib/c.py.");
    assert_eq!(session.questions.len(), 1);
    session.send("never mind");
    assert!(session.questions.is_empty());
}

#[test]
fn names_after_an_at_are_looked_up_before_the_message_is_sent() {
    let mut session = session();
    let (sent, effects) = session.send("compare @a.py with @diff, says mira@lib.org @nobody");
    assert!(sent && session.questions.is_empty(), "names after an @ are not offered");
    let [Effect::Mention(MentionEffect::LookUp { turn, names, .. })] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!(names, &["a.py", "diff"]);
    let attachment = Attachment { title: "diff".into(), text: "-old\n+new".into(), whole: None };
    let found = LookedUp { turn: *turn, files: vec!["a.py".into()], attached: vec![attachment], notes: Vec::new() };
    let effects = session.handle(Response::Mention(MentionResponse::LookedUp(found.clone())));
    let spec = effects.iter().find_map(|effect| match effect {
        Effect::Ask(spec) => Some(spec),
        _ => None,
    });
    let spec = spec.unwrap();
    assert!(spec.draft.ends_with("@nobody\n\n-old\n+new") && spec.files.len() == 1, "{spec:?}");
    assert!(spec.history.is_empty());
    let entries = session.transcript.iter().filter(|entry| !matches!(entry, Entry::Status(_)));
    let kinds: Vec<bool> = entries.map(|entry| matches!(entry, Entry::Shared { .. })).collect();
    assert_eq!(kinds, [false, true, false], "below the message, above its answer");
    answer(&mut session, "yes");

    session.send("once more @diff");
    let turn = session.turns.current().unwrap().number;
    let effects = session.handle(Response::Mention(MentionResponse::LookedUp(LookedUp { turn, ..found })));
    let again = effects.iter().any(|effect| matches!(effect, Effect::Ask(spec) if spec.draft.contains("+new")));
    assert!(!again, "the history contains it already");
}

#[test]
fn a_turn_that_is_cancelled_during_the_look_up_is_not_sent() {
    let mut session = session();
    session.send("see @diff");
    let turn = session.turns.current().unwrap().number;
    session.cancel();
    let report = MentionResponse::LookedUp(LookedUp { turn, ..LookedUp::default() });
    assert!(session.handle(Response::Mention(report)).is_empty());
    assert_eq!(session.returned_draft(), Some("see @diff"));
}

#[test]
fn clearing_the_conversation_withdraws_the_offer_of_an_answer() {
    for command in [Command::Clear, Command::Reset, Command::Rewind(None)] {
        let mut session = session();
        session.send("go on");
        answer(&mut session, "I would have to see a.py.");
        session.handle(Response::NotProposed(None));
        assert_eq!(session.questions.len(), 1);
        session.command(command.clone());
        assert!(session.questions.is_empty(), "{command:?}");
    }
}
