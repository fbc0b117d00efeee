//! Files that somebody names: offered, added, or let be.

use std::sync::Arc;

use crate::context::Mode;
use crate::llm::{Completion, Finish, StreamEvent};
use crate::session::*;

fn session() -> Session {
    let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
    let paths = [".env", "a.py", "lib/c.py", "lib/d.py"].map(str::to_owned);
    session.handle(Report::Listed(Arc::new(paths.to_vec())));
    session.handle(Report::Symbols(Arc::default()));
    session
}

fn is_asked(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Ask(_)))
}

fn chat(session: &Session) -> Vec<(&str, bool)> {
    session.files.iter().map(|file| (file.path.as_str(), file.read_only)).collect()
}

fn answer(session: &mut Session, text: &str) -> Vec<Effect> {
    let turn = session.turn.as_ref().map(|turn| turn.number).unwrap();
    session.handle(Report::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) });
    let effects = session.handle(Report::Ended { turn, result: Ok(Completion { finish: Finish::Stop, usage: None }) });
    let order = effects.iter().find_map(|effect| match effect {
        Effect::Mention(MentionOrder::Weigh { number, paths }) => Some((*number, paths.clone())),
        _ => None,
    });
    if let Some((number, paths)) = order {
        let tokens = paths.into_iter().map(|path| (path, Some(7))).collect();
        session.handle(Report::Mention(MentionReport::Weighed { number, tokens }));
    }
    effects
}

#[test]
fn a_message_that_names_a_file_waits_for_one_key() {
    for (key, files) in [('y', vec![("a.py", false)]), ('r', vec![("a.py", true)]), ('n', vec![]), ('x', vec![])] {
        let mut session = session();
        let (sent, effects) = session.send("mend a.py please");
        assert!(sent && !is_asked(&effects) && session.turn.is_none());
        assert_eq!(session.questions.len(), 1);
        assert!(is_asked(&session.answer(key)), "{key}");
        assert_eq!(chat(&session), files, "{key}");
        answer(&mut session, "done");
        session.drop_files(&[]);
        let (_, effects) = session.send("mend a.py again");
        assert_eq!(is_asked(&effects), key == 'x', "x asks for it no more");
    }
}

#[test]
fn a_message_that_waits_can_be_taken_back() {
    let mut session = session();
    session.mode_command(Mode::Ask, "what is a.py?");
    session.answer('e');
    assert_eq!(session.returned_draft.as_deref(), Some("/ask what is a.py?"));
    assert!(session.questions.is_empty() && session.turn.is_none());
}

#[test]
fn what_is_typed_meanwhile_stays() {
    let mut session = session();
    session.send("mend a.py");
    session.draft_changed("and the");
    session.answer('e');
    assert_eq!((session.questions.len(), session.returned_draft.as_deref()), (1, None), "there is no room for it");
    assert!(is_asked(&session.answer('n')));
    session.cancel();
    assert_eq!(session.draft, "and the");
}

#[test]
fn the_settings_add_or_let_be_without_a_word() {
    let mut adds = session();
    adds.rules.add_mentions = Some(true);
    assert!(is_asked(&adds.send("mend a.py").1));
    assert_eq!(chat(&adds), [("a.py", false)]);
    answer(&mut adds, "See lib/c.py.");
    assert_eq!(chat(&adds), [("a.py", false), ("lib/c.py", false)]);
    let mut ignores = session();
    ignores.rules.add_mentions = Some(false);
    assert!(is_asked(&ignores.send("mend a.py").1));
    answer(&mut ignores, "See lib/c.py.");
    assert!(chat(&ignores).is_empty() && ignores.questions.is_empty());
}

#[test]
fn files_with_secrets_are_never_offered() {
    let mut session = session();
    assert!(is_asked(&session.send("read .env").1));
    answer(&mut session, "I need .env for that.");
    assert!(session.questions.is_empty());
}

#[test]
fn files_that_an_answer_names_are_offered_and_its_edits_are_kept() {
    let edit = "a.py\n```python\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n";
    let mut session = session();
    session.add_files(&["a.py".into()], false);
    session.send("do it");
    let effects = answer(&mut session, &format!("lib/c.py calls it, and so does lib/d.py.\n\n{edit}"));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Propose { .. })));
    let question = session.questions.front().unwrap();
    assert!(question.title.contains("lib/c.py, lib/d.py") && question.text.contains("lib/c.py  7 tokens"));
    let proposals = session.proposals;
    let effects = session.answer('s');
    assert!(is_asked(&effects));
    assert_eq!(session.proposals, proposals);
    assert_eq!(chat(&session).len(), 3);
    let typed = session.transcript.iter().rev().find_map(|entry| match entry {
        Entry::User { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(typed.as_deref(), Some("These files are in the chat now: lib/c.py, lib/d.py. Go on."));
}

#[test]
fn an_offer_ends_with_the_next_message() {
    let mut session = session();
    session.send("do it");
    answer(&mut session, "I need lib/c.py.");
    assert_eq!(session.questions.len(), 1);
    session.send("never mind");
    assert!(session.questions.is_empty());
}

#[test]
fn names_behind_an_at_are_looked_up_before_the_message_goes() {
    let mut session = session();
    let (sent, effects) = session.send("compare @a.py with @diff, says mira@lib.org @nobody");
    assert!(sent && session.questions.is_empty(), "what is named with @ is not offered");
    let [Effect::Mention(MentionOrder::LookUp { turn, names, .. })] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(names, &["a.py", "diff"]);
    let attachment = Attachment { title: "diff".into(), text: "-old\n+new".into(), whole: None };
    let found = LookedUp { turn: *turn, files: vec!["a.py".into()], attached: vec![attachment], notes: Vec::new() };
    let effects = session.handle(Report::Mention(MentionReport::LookedUp(found.clone())));
    let order = effects.iter().find_map(|effect| match effect {
        Effect::Ask(order) => Some(order),
        _ => None,
    });
    let order = order.unwrap();
    assert!(order.draft.ends_with("@nobody\n\n-old\n+new") && order.files.len() == 1, "{order:?}");
    assert!(order.history.is_empty());
    let said = session.transcript.iter().filter(|entry| !matches!(entry, Entry::Notice(_)));
    let kinds: Vec<bool> = said.map(|entry| matches!(entry, Entry::Shared { .. })).collect();
    assert_eq!(kinds, [false, true, false], "below the message, above its answer");
    answer(&mut session, "yes");

    session.send("once more @diff");
    let turn = session.turn.as_ref().unwrap().number;
    let effects = session.handle(Report::Mention(MentionReport::LookedUp(LookedUp { turn, ..found })));
    let again = effects.iter().any(|effect| matches!(effect, Effect::Ask(order) if order.draft.contains("+new")));
    assert!(!again, "the conversation holds it already");
}

#[test]
fn a_turn_cancelled_while_names_are_looked_up_stays_so() {
    let mut session = session();
    session.send("see @diff");
    let turn = session.turn.as_ref().unwrap().number;
    session.cancel();
    let report = MentionReport::LookedUp(LookedUp { turn, ..LookedUp::default() });
    assert!(session.handle(Report::Mention(report)).is_empty());
    assert_eq!(session.returned_draft.as_deref(), Some("see @diff"));
}

#[test]
fn what_an_answer_names_is_not_offered_once_the_conversation_is_cleared() {
    for command in [Command::Clear, Command::Reset, Command::Rewind(None)] {
        let mut session = session();
        session.send("go on");
        answer(&mut session, "I would have to see a.py.");
        session.handle(Report::NotProposed(None));
        assert_eq!(session.questions.len(), 1);
        session.command(command.clone());
        assert!(session.questions.is_empty(), "{command:?}");
    }
}
