use super::*;

fn hit(path: &str, line: u32) -> Hit {
    Hit {
        path: path.into(),
        file: 0,
        definition: None,
        line,
        end_line: line + 4,
        symbol: Some(format!("at_{line}")),
        kind: None,
        container: None,
        signature: String::new(),
        evidence: Vec::new(),
        score: 1.0,
    }
}

fn press(search: &mut CodeSearch, keys: &str) -> Reply {
    let mut reply = Reply::Stay;
    for name in keys.split(' ') {
        reply = search.key(key::parse(name).unwrap());
    }
    reply
}

fn searched(hits: &[Hit]) -> CodeSearch {
    let mut search = CodeSearch::new("tide");
    let question = search.next().unwrap();
    search.found(&question, Some(hits));
    search
}

fn here(search: &CodeSearch) -> (String, u32) {
    search.hit().map(|hit| (hit.path.to_string(), hit.line)).unwrap()
}

#[test]
fn one_question_is_under_way_at_a_time_and_the_last_one_is_asked_in_the_end() {
    let mut search = CodeSearch::new("");
    assert!(search.next().is_none(), "nothing is asked with nothing");
    press(&mut search, "t");
    let first = search.next().unwrap();
    press(&mut search, "i d e");
    assert!(search.next().is_none(), "the first answer has not come yet");
    search.found(&first, Some(&[hit("a", 1)]));
    let second = search.next().unwrap();
    assert_eq!((first.text.as_str(), second.text.as_str()), ("t", "tide"));
    search.found(&first, Some(&[]));
    assert_eq!(search.hits.len(), 1, "an answer to an older question is dropped");
    search.found(&second, Some(&[hit("b", 2)]));
    assert!(here(&search) == ("b".into(), 2) && search.next().is_none());
}

#[test]
fn what_is_not_known_yet_is_asked_again_once_it_is() {
    let mut search = CodeSearch::new("tide");
    let question = search.next().unwrap();
    search.found(&question, None);
    assert!(search.answer == SearchAnswer::Unread && search.next().is_none(), "not over and over");
    search.again();
    let question = search.next().unwrap();
    // Reading ends before the answer arrives.
    search.again();
    search.found(&question, Some(&[hit("a", 1), hit("b", 1)]));
    press(&mut search, "Down");
    let question = search.next().unwrap();
    search.found(&question, Some(&[hit("z", 1), hit("a", 1), hit("b", 1)]));
    assert_eq!(here(&search), ("b".into(), 1), "the cursor stays on its passage");
    assert!(search.next().is_none());
}

#[test]
fn a_search_that_breaks_off_is_told_and_can_be_repeated() {
    let mut search = CodeSearch::new("tide");
    search.next().unwrap();
    search.failed();
    assert_eq!((search.answer, search.next()), (SearchAnswer::Failed, None));
    press(&mut search, "s");
    assert!(search.next().is_some());
    let mut idle = searched(&[hit("a", 1)]);
    idle.failed();
    assert_eq!(idle.answer, SearchAnswer::Found, "what failed was something else");
}

#[test]
fn files_keep_their_passages_together_and_headings_are_passed_over() {
    let mut search = searched(&[hit("b", 9), hit("a", 1), hit("b", 3)]);
    press(&mut search, "Down");
    press(&mut search, "Alt-g");
    assert_eq!(here(&search), ("a".into(), 1), "the cursor stays");
    let mut seen = Vec::new();
    for _ in 0..4 {
        press(&mut search, "Down");
        seen.push(here(&search));
    }
    assert_eq!(seen, [("b".into(), 3), ("b".into(), 9), ("a".into(), 1), ("b".into(), 3)]);
    press(&mut search, "Up");
    assert_eq!(here(&search), ("a".into(), 1), "round the upper end");
    press(&mut search, "Tab");
    assert_eq!(here(&search).0, "b");
    search.click(0, true);
    assert_eq!(here(&search), ("b".into(), 3), "a click on a heading is for its first passage");
}

#[test]
fn a_passage_is_shown_added_asked_about_opened_and_copied() {
    let mut search = searched(&[hit("a\u{1b}[2J", 1), hit("b", 7)]);
    let Reply::Copy(clip) = press(&mut search, "Alt-y") else { panic!("no copy") };
    assert_eq!(clip.text, "a␛[2J:1");
    press(&mut search, "Down");
    assert_eq!(press(&mut search, "Alt-a"), Reply::AddFound("b".into(), false));
    assert_eq!(press(&mut search, "Alt-r"), Reply::AddFound("b".into(), true));
    assert_eq!(press(&mut search, "Alt-e"), Reply::Visit("b".into(), 7));
    assert_eq!(press(&mut search, "Alt-q"), Reply::AskCodebase("tide".into()));
    let Reply::Show(places) = press(&mut search, "Enter") else { panic!("not shown") };
    assert_eq!((places[0].path.as_str(), places[0].end, places.len()), ("b", Some(11), 2));
    let mut empty = searched(&[]);
    for name in ["Enter", "Alt-a", "Alt-y", "Tab", "PageUp", "Alt-g", "Down"] {
        assert_eq!(press(&mut empty, name), Reply::Stay, "{name}");
    }
}
