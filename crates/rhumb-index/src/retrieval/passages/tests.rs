//! Passages over small files, and the budget over any.

use proptest::prelude::*;

use super::*;
use crate::retrieval::references::Relation;
use rhumb_tokens::{TokenCounter, counter_for_model};

const GATE: &str = "/// A gate.\nstruct Gate {\n    open: bool,\n}\n\nimpl Gate {\n    fn open(&mut self) {\n        self.open = true;\n    }\n\n    fn shut(&mut self) {\n        self.open = false;\n    }\n}\n\nfn far() {}\n";

fn long() -> String {
    let body: String = (0..50).map(|n| format!("    let value_{n} = first({n}) + second({n});\n")).collect();
    format!("fn long() {{\n{body}}}\n")
}

fn text(path: &str) -> Option<Arc<str>> {
    match path {
        "src/gate.rs" => Some(GATE.into()),
        "src/long.rs" => Some(long().into()),
        "a.md" => Some("# One\n\nHow gates open.\n\n# Two\n\nMore.\n".into()),
        _ => None,
    }
}

fn place(path: &str, symbol: &str, container: Option<&str>, line: u32) -> Place {
    let symbol = (!symbol.is_empty()).then(|| symbol.to_owned());
    Place { path: path.into(), line, end_line: line, symbol, container: container.map(str::to_owned) }
}

fn open() -> Place {
    place("src/gate.rs", "open", Some("Gate"), 7)
}

fn counter() -> Arc<dyn TokenCounter> {
    counter_for_model("gpt-4o")
}

#[test]
fn a_passage_has_a_heading_to_cite_and_numbered_lines() {
    let sources = Sources::new(&text);
    let passages = Passages::fit(&[open()], &[], &sources, 1_000, &*counter());
    let expected = "src/gate.rs:6-9 in Gate\n6  impl Gate {\n7      fn open(&mut self) {\n8          self.open = true;\n9      }\n";
    assert_eq!(passages.render(), expected);
    let passage = &passages.list()[0];
    assert_eq!((passage.line(), passage.end_line(), passage.symbol()), (6, 9, Some("open")));
    assert_eq!(passages.tokens(), counter().count(expected));
}

#[test]
fn what_touches_is_one_passage_and_files_come_in_the_order_of_their_paths() {
    let sources = Sources::new(&text);
    let places = [
        place("src/gate.rs", "shut", Some("Gate"), 11),
        place("src/gate.rs", "far", None, 16),
        open(),
        place("a.md", "One", None, 1),
    ];
    let passages = Passages::fit(&places, &[], &sources, 1_000, &*counter());
    let told: Vec<_> = passages.list().iter().map(|p| (&*p.path, p.line(), p.end_line(), p.rank)).collect();
    assert_eq!(told, [("a.md", 1, 3, 3), ("src/gate.rs", 6, 13, 0), ("src/gate.rs", 16, 16, 1)]);
}

#[test]
fn a_chunk_without_room_is_cut_and_says_so() {
    let sources = Sources::new(&text);
    let passages = Passages::fit(&[place("src/long.rs", "long", None, 1)], &[], &sources, 300, &*counter());
    let passage = &passages.list()[0];
    assert!(passage.omitted > 0 && passages.tokens() <= 300, "{}", passages.render());
    assert!(passages.tokens() > 200, "{}", passages.render());
    assert!(
        passage.text.ends_with(&format!("… cut here: {} more lines of this\n", passage.omitted)),
        "{}",
        passage.text
    );
    assert_eq!(passage.end_line() + passage.omitted, 52);
}

#[test]
fn what_was_there_stays_where_it_is_and_is_not_said_twice() {
    let sources = Sources::new(&text);
    let counter = counter();
    let mut passages = Passages::fit(&[open()], &[], &sources, 1_000, &*counter);
    let before = passages.render();
    passages.extend(&[place("a.md", "Two", None, 5), open()], &[], &sources, 1_000, &*counter);
    assert!(passages.render().starts_with(&before));
    assert_eq!(passages.list().iter().map(|p| &*p.path).collect::<Vec<_>>(), ["src/gate.rs", "a.md"]);
}

#[test]
fn a_full_budget_makes_room_for_another_question() {
    let sources = Sources::new(&text);
    let counter = counter();
    let mut passages = Passages::fit(&[open(), place("src/long.rs", "long", None, 1)], &[], &sources, 400, &*counter);
    assert_eq!(passages.list().len(), 2);
    passages.extend(&[place("a.md", "Two", None, 5)], &[], &sources, 400, &*counter);
    assert_eq!(passages.list().iter().map(|p| &*p.path).collect::<Vec<_>>(), ["src/gate.rs", "a.md"]);
    assert!(passages.tokens() <= 400);
}

#[test]
fn a_passage_whose_file_changed_is_cut_again_where_it_has_moved_to() {
    let counter = counter();
    let mut passages =
        Passages::fit(&[open(), place("a.md", "One", None, 1)], &[], &Sources::new(&text), 1_000, &*counter);
    assert!(!passages.refresh(&Sources::new(&text), &*counter));
    let changed = |path: &str| match path {
        "src/gate.rs" => Some(format!("// One more.\n\n{}", GATE.replace("= true", "= !false")).into()),
        _ => None,
    };
    assert!(passages.refresh(&Sources::new(&changed), &*counter));
    let told: Vec<_> = passages.list().iter().map(|p| (&*p.path, p.line(), p.end_line())).collect();
    assert_eq!(told, [("src/gate.rs", 8, 11)]);
    assert!(passages.render().contains("!false"));
}

#[test]
fn what_is_related_is_told_by_its_header_and_not_where_it_is_shown() {
    let sources = Sources::new(&text);
    let related = |line: u32| Related {
        path: "src/gate.rs".into(),
        line,
        signature: "fn far()".to_owned(),
        relation: Relation::Uses,
        of: "open".to_owned(),
    };
    let passages = Passages::fit(&[open()], &[related(16), related(7)], &sources, 1_000, &*counter());
    assert_eq!(passages.related(), [related(16)]);
    assert!(
        passages.render().ends_with("Related by reference, one line each:\nsrc/gate.rs:16  fn far()  (uses open)\n")
    );
}

#[test]
fn nothing_to_read_is_nothing_to_say() {
    let sources = Sources::new(&text);
    let passages = Passages::fit(&[place("gone.rs", "a", None, 1)], &[], &sources, 1_000, &*counter());
    assert!(passages.is_empty() && passages.render().is_empty());
    assert_eq!(passages.tokens(), 0);
}

proptest! {
    #[test]
    fn no_budget_is_exceeded_and_every_line_is_that_of_its_file(
        budget in 0usize..700,
        asked in prop::collection::vec((0usize..3, 0u32..60), 0..8),
        more in prop::collection::vec((0usize..3, 0u32..60), 0..4),
    ) {
        let place = |&(file, line): &(usize, u32)| place(["src/gate.rs", "src/long.rs", "a.md"][file], "", None, line);
        let (sources, counter) = (Sources::new(&text), counter());
        let first: Vec<Place> = asked.iter().map(place).collect();
        let mut passages = Passages::fit(&first, &[], &sources, budget, &*counter);
        prop_assert!(passages.tokens() <= budget);
        passages.extend(&more.iter().map(place).collect::<Vec<_>>(), &[], &sources, budget, &*counter);
        prop_assert!(counter.count(&passages.render()) <= budget);
        let mut seen = std::collections::BTreeSet::new();
        for passage in passages.list() {
            let file = text(&passage.path).unwrap();
            let lines: Vec<&str> = file.lines().collect();
            for number in passage.lines.iter().cloned().flatten() {
                prop_assert!(seen.insert((passage.path.clone(), number)), "line {number} twice");
                let written = format!("{number}  {}", lines[number as usize - 1]);
                prop_assert!(passage.text.lines().any(|line| line.trim_start() == written.trim_end()), "{written}");
            }
        }
    }
}
