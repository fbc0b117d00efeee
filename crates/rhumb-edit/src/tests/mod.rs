//! The crate as a whole: from a reply to a proposal.

mod altered_text;
mod location;
mod names;
mod pending;

use crate::*;
use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, prop_assume, prop_oneof, proptest};
use proptest::strategy::Strategy as Strategy_;
use std::collections::BTreeMap;

struct MemoryFiles(BTreeMap<String, String>);

impl Files for MemoryFiles {
    fn paths(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn read(&self, path: &str) -> Result<Option<String>, ReadError> {
        Ok(self.0.get(path).cloned())
    }

    fn in_chat(&self, path: &str) -> bool {
        path.starts_with("src/")
    }
}

fn memory_files(files: &[(&str, &str)]) -> MemoryFiles {
    MemoryFiles(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
}

fn proposed(reply: &str, files: &[(&str, &str)]) -> Proposal {
    propose(&parse(reply, FormatChoice::Auto), &memory_files(files))
}

fn only(proposal: &Proposal) -> &Outcome {
    assert_eq!(proposal.outcomes.len(), 1, "{:#?}", proposal.outcomes);
    &proposal.outcomes[0]
}

fn block(path: &str, search: &str, replace: &str) -> String {
    format!("{path}\n```\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n```\n")
}

#[test]
fn an_ambiguous_quote_is_refused_with_all_its_places() {
    let text = "start\nsame\nmiddle\nsame\nend\n";
    let proposal = proposed(&block("src/a", "same\n", "other\n").replace("src/a", "src/a.x"), &[("src/a.x", text)]);
    let outcome = only(&proposal);
    assert_eq!(outcome.status, Status::Refused);
    assert_eq!(outcome.candidates.iter().map(|c| c.line).collect::<Vec<_>>(), [2, 4]);
    assert!(outcome.reason.contains("lines 2 and 4"), "{}", outcome.reason);
    assert!(outcome.flags.contains(&Flag::Ambiguous));
    assert!(proposal.files.is_empty());
}

#[test]
fn a_refusal_says_what_differs_and_where() {
    let text = "fn open() {\n    lamp.light(3);\n    door.unlock();\n    horn.sound();\n}\n";
    let quote = "fn open() {\n    lamp.light(3);\n    window.wash();\n    horn.sound();\n}\n";
    let proposal = proposed(&block("src/a.rs", quote, "fn open() {}\n"), &[("src/a.rs", text)]);
    let outcome = only(&proposal);
    assert_eq!(outcome.status, Status::Refused);
    assert!(outcome.reason.contains("`window.wash();`"), "{}", outcome.reason);
    assert!(outcome.reason.contains("`door.unlock();` at line 3"), "{}", outcome.reason);
    assert_eq!(outcome.candidates.first().map(|c| c.line), Some(1));
}

#[test]
fn strategies_tell_how_far_the_match_was_from_exact() {
    let text = "def first():\n    alpha = 1\n    beta = 2\n    return alpha\n";
    for (quote, strategy) in [
        ("    alpha = 1\n    beta = 2\n", Strategy::Exact),
        ("    alpha = 1  \n    beta = 2\n", Strategy::Whitespace),
        ("alpha = 1\nbeta = 2\n", Strategy::Indentation),
        ("def first():\n    # ...\n    beta = 2\n", Strategy::Elision),
        ("def frist():\n    alpha = 1\n    beta = 2\n", Strategy::Fuzzy),
    ] {
        let changed = quote.replace("beta = 2", "beta = 20");
        let proposal = proposed(&block("src/a.py", quote, &changed), &[("src/a.py", text)]);
        let outcome = only(&proposal);
        assert_eq!(outcome.strategy, Some(strategy), "{quote}: {}", outcome.reason);
        let wanted = text.replace("beta = 2", "beta = 20");
        assert_eq!(proposal.files[0].proposed.as_deref(), Some(wanted.as_str()));
    }
}

#[test]
fn a_file_outside_the_chat_is_marked() {
    let proposal = proposed(&block("lib/a.py", "x = 1\n", "x = 2\n"), &[("lib/a.py", "x = 1\n")]);
    assert_eq!(only(&proposal).flags, [Flag::OutsideChat]);
}

#[test]
fn context_may_quote_what_an_earlier_or_later_edit_leaves() {
    let text = "one\ntwo\nthree\nfour\nfive\n";
    let first = block("src/a.x", "two\n", "two\ntwo and a half\n");
    let second = block("src/a.x", "two and a half\nthree\n", "two and a half\ndrei\n");
    let wanted = "one\ntwo\ntwo and a half\ndrei\nfour\nfive\n";
    for reply in [format!("{first}{second}"), format!("{second}{first}")] {
        let proposal = proposed(&reply, &[("src/a.x", text)]);
        assert_eq!(proposal.files[0].proposed.as_deref(), Some(wanted), "{:#?}", proposal.outcomes);
    }
}

#[test]
fn two_edits_that_remove_the_same_lines_do_not_both_land() {
    let text = "alpha\nbeta beta beta\ngamma\n";
    let reply = block("src/a.x", "beta beta beta\n", "delta\n") + &block("src/a.x", "beta beta beta\n", "epsilon\n");
    let proposal = proposed(&reply, &[("src/a.x", text)]);
    assert_eq!(proposal.files[0].proposed.as_deref(), Some("alpha\ndelta\ngamma\n"));
    assert_eq!(proposal.outcomes[1].status, Status::Refused);
}

#[test]
fn a_file_that_is_deleted_and_made_anew_is_replaced() {
    let files = [("src/a.py", "one\r\ntwo\r\n")];
    let patch = |added: &str| {
        format!("*** Begin Patch\n*** Delete File: src/a.py\n*** Add File: src/a.py\n{added}*** End Patch\n")
    };
    let proposal = proposed(&patch("+one\n+2\n"), &files);
    assert!(proposal.outcomes.iter().all(|outcome| outcome.status == Status::Applied), "{:#?}", proposal.outcomes);
    let [file] = proposal.files.as_slice() else { panic!("{:#?}", proposal.files) };
    assert_eq!((&file.change, file.proposed.as_deref()), (&FileChange::Modify, Some("one\r\n2\r\n")));
    let proposal = proposed(&patch("+new\n"), &files);
    assert_eq!(proposal.files[0].proposed.as_deref(), Some("new\r\n"));
}

#[test]
fn shell_fences_become_suggestions() {
    let parsed = parse("Run\n```bash\ncargo test\n```\n", FormatChoice::Auto);
    assert_eq!(parsed.suggested_commands, ["cargo test"]);
    assert!(parsed.edits.is_empty());
}

#[test]
fn events_tell_the_edit_as_it_grows() {
    let mut stream = EditStream::new(FormatChoice::Auto);
    stream.push("Hello\nsrc/a.py\n```\n<<<<<<< SEARCH\nx\n===");
    let events = stream.events();
    assert!(events.contains(&StreamEvent::Prose { number: 1, text: "Hello".into() }));
    let started = StreamEvent::EditStarted { path: Some("src/a.py".into()), format: EditFormat::Diff };
    assert!(events.contains(&started));
    assert!(events.contains(&StreamEvent::EditLine { kind: LineKind::Delete, text: "x".into() }));
    assert_eq!(stream.partial_line(), "===");
    stream.push("====\ny\n>>>>>>> REPLACE\n");
    let events = stream.events();
    assert_eq!(events.last(), Some(&StreamEvent::EditEnded { complete: true, lines: (4, 8) }));
    assert_eq!(stream.finish().edits.len(), 1);
}

#[test]
fn a_trimmed_first_line_gets_its_indentation_back() {
    let text = "def f():\n    alpha = 1\n    beta = 2\n    return alpha\n";
    let reply = block("src/a.py", "alpha = 1\n    beta = 2\n", "gamma = 3\n    beta = 2\n");
    let proposal = proposed(&reply, &[("src/a.py", text)]);
    let wanted = text.replace("alpha = 1", "gamma = 3");
    assert_eq!(proposal.files[0].proposed.as_deref(), Some(wanted.as_str()));
}

#[test]
fn indentation_that_fits_only_in_part_is_refused() {
    let text = "impl A {\n    fn a() {\n        one();\n    }\n}\n";
    let reply = block("src/a.rs", "        one();\n}\n", "        one();\n}\n\nfn b() {}\n");
    let proposal = proposed(&reply, &[("src/a.rs", text)]);
    assert_eq!(only(&proposal).status, Status::Refused);
}

#[test]
fn huge_files_are_searched_round_their_anchors() {
    let mut text: String = (0..50_000).map(|i| format!("    value_{i} = compute({});\n", i * 7 % 1013)).collect();
    let quote = "value_31000 = compute(278);\n    value_31001 = compute(285);\n    value_310O2 = compute(292);\n";
    let quote = quote.replace("compute(278)", &format!("compute({})", 31_000 * 7 % 1013));
    let quote = quote.replace("compute(285)", &format!("compute({})", 31_001 * 7 % 1013));
    let quote = quote.replace("compute(292)", &format!("compute({})", 31_002 * 7 % 1013));
    let changed = quote.replace("value_31001", "renamed");
    let proposal = proposed(&block("src/big.c", &quote, &changed), &[("src/big.c", &text)]);
    assert_eq!(only(&proposal).strategy, Some(Strategy::Fuzzy), "{}", only(&proposal).reason);
    text = text.replace("value_31001", "renamed");
    assert_eq!(proposal.files[0].proposed.as_deref(), Some(text.as_str()));
}

#[test]
fn one_endless_line_is_no_trouble() {
    let line = "x = 1; ".repeat(700_000);
    let proposal = proposed(&block("src/min.js", "x = 1; y = 2;\n", "z\n"), &[("src/min.js", &line)]);
    assert_eq!(only(&proposal).status, Status::Refused);
}

/// The files whose `x = 1` changes when a second block, after one for `one.py`, is below the given lines.
fn second_block_changes(above: &str, names: &[&str]) -> Vec<String> {
    let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, "x = 1\ny = 1\n")).collect();
    let reply = block("one.py", "y = 1\n", "y = 2\n") + "\n" + &block(above, "x = 1\n", "x = 2\n");
    for choice in [FormatChoice::Auto, FormatChoice::Only(EditFormat::Diff)] {
        let proposal = propose(&parse(&reply, choice), &memory_files(&files));
        assert_eq!(proposal.outcomes.len(), 2, "{above}");
        let alone = propose(&parse(&block(above, "x = 1\n", "x = 2\n"), choice), &memory_files(&files));
        assert_eq!(alone.outcomes.len(), 1, "{above}");
    }
    let changed = |file: &FileProposal| file.proposed.as_deref().is_some_and(|text| text.contains("x = 2"));
    let proposal = proposed(&reply, &files);
    proposal.files.iter().filter(|file| changed(file)).map(|file| file.path.clone()).collect()
}

#[test]
fn a_name_that_exists_is_that_file_however_it_looks() {
    for name in [
        "a dir/my file.py", "app/(group)/page.tsx", "[slug].tsx", "+page.svelte", "@x.py", "a=b.py", "it's \"q\".py",
        "\"q\".py", "configure", "Brewfile", "größe.py", "my notes", "Then the second change", "#x.py", "*.py",
        "`tick`.py", "- dash.py", "1. first.py", "File: odd.py", "back\\slash.py", "x.py ", " lead.py", "a (copy)",
        "then", "~tilde/x.py", "$page.tsx", "a;b.py", "a`b.py", "end.", "<x>.py", "ab:c.py",
    ] {
        let heads = ["", "\n", "\n\n\n"].map(|blank| format!("{name}{blank}"));
        for above in heads {
            let names = ["one.py", "first.py", "dash.py", "odd.py", name];
            let wanted: &[String] = if name.starts_with('~') { &[] } else { &[name.to_owned()] };
            assert_eq!(second_block_changes(&above, &names), wanted, "{name}");
        }
    }
}

#[test]
fn a_sentence_without_a_name_continues_with_the_previous_file() {
    for line in [
        "",
        "Then the second change:",
        "Then:",
        "### Second change",
        "**Step 2**",
        "Now set `self.rate` and/or the pump:",
        "Change it in `one.py` and `two.py`:",
        "Done.",
        "1. Raise it",
    ] {
        assert_eq!(second_block_changes(line, &["one.py", "two.py"]), ["one.py"], "{line}");
    }
}

#[test]
fn an_edit_below_an_uncertain_name_is_refused() {
    for line in [
        "configure",
        "**configure**:",
        "`my notes`",
        "File: my notes",
        "my dir/some name",
        "gone.py",
        "a dir/gone.py",
        "Now `gone.py`:",
        "Now `lib/gone`:",
        "Now change gone.py:",
        "Both `two.py` and `three.py` need it:",
        "Edit form.html",
        "brand two.py",
    ] {
        let names = ["one.py", "two.py", "three.py", "x/y.py"];
        assert_eq!(second_block_changes(line, &names), [""; 0], "{line}");
    }
}

#[test]
fn a_title_or_a_sentence_may_name_the_file() {
    for line in [
        "### `two.py`\n\nWe raise it here as well:\n",
        "### Changes in two.py\n\nWe raise it:\n",
        "**two.py**\n\nWe raise it:\n",
        "Now change two.py:",
        "Now, in `two.py`:",
        "two.py (again)",
        "Likewise for the pump in two.py",
    ] {
        assert_eq!(second_block_changes(line, &["one.py", "two.py"]), ["two.py"], "{line}");
    }
    let spaced = "Step 2: a dir/two.py";
    assert_eq!(second_block_changes(spaced, &["one.py", "two.py", "a dir/two.py"]), ["a dir/two.py"]);
}

#[test]
fn a_line_above_is_quoted_where_it_names_no_file() {
    let proposal = proposed(&block("confgure", "x = 1\n", "x = 2\n"), &[("configure", "x = 1\n")]);
    let reason = &only(&proposal).reason;
    assert!(reason.contains("`confgure`") && reason.contains("there is `configure`"), "{reason}");
}

#[test]
fn examples_among_whole_files_are_told_from_files() {
    let file = "one.py\n```\nx = 2\n```\n";
    let outcomes = |reply: &str, choice: EditFormat| {
        let files = memory_files(&[("one.py", "x = 1\n"), ("src/two.py", "x = 1\n"), ("three", "x = 1\n")]);
        let proposal = propose(&parse(&format!("{file}{reply}"), FormatChoice::Only(choice)), &files);
        let applied = proposal.outcomes.iter().filter(|outcome| outcome.status == Status::Applied).count();
        (applied, proposal.outcomes.len() - applied)
    };
    for (reply, wanted) in [
        ("\nUsage:\n```\nx\n```\n", (1, 0)),
        ("\nIt prints this:\n```\nx\n```\n", (1, 0)),
        ("\nRun\n```sh\nx\n```\n", (1, 0)),
        ("\n```output\nx\n```\n", (1, 0)),
        ("\nThe other file:\n```\nx\n```\n", (1, 1)),
        ("\n```\nx\n```\n", (1, 1)),
        ("\nfour\n```\nx\n```\n", (1, 1)),
        ("\nthree\n```sh\nx\n```\n", (2, 0)),
    ] {
        assert_eq!(outcomes(reply, EditFormat::Whole), wanted, "{reply}");
    }
}

/// Lines that are interesting to a parser.
fn reply_line() -> impl Strategy_<Value = String> {
    let fixed = [
        "",
        "```",
        "```diff",
        "```python",
        "````",
        "```bash",
        "<<<<<<< SEARCH",
        "=======",
        ">>>>>>> REPLACE",
        "--- a/src/a.py",
        "+++ b/src/a.py",
        "--- /dev/null",
        "+++ /dev/null",
        "@@ -1 +1 @@",
        "@@ class A",
        "*** Begin Patch",
        "*** Update File: src/a.py",
        "*** Add File: new.py",
        "*** Delete File: src/b.py",
        "*** Move to: c.py",
        "*** End Patch",
        "src/a.py",
        "Then the second change:",
        "Now `src/b.py`:",
        "configure",
        "a dir/my file.py",
        "`b.py`:",
        "../x",
        "alpha",
        "-alpha",
        "+beta",
        " alpha",
        "    beta",
        " ...",
        "# ...",
        "\\ No newline",
        "\u{feff}é\u{2026}\r",
        "~~~",
        "+\t\u{c}",
        "-",
        "+",
        " ",
    ];
    prop_oneof![8 => prop::sample::select(fixed.to_vec()).prop_map(str::to_owned), 1 => ".{0,12}"]
}

fn reply_text() -> impl Strategy_<Value = String> {
    (prop::collection::vec(reply_line(), 0..40), any::<bool>()).prop_map(|(lines, closed)| {
        let mut text = lines.join("\n");
        if closed {
            text.push('\n');
        }
        text
    })
}

fn choices() -> impl Iterator<Item = FormatChoice> {
    EditFormat::ALL.into_iter().map(FormatChoice::Only).chain([FormatChoice::Auto])
}

/// A file of distinct lines, an edited range of it, and the context around it.
#[derive(Debug, Clone)]
struct CleanEdit {
    lines: Vec<String>,
    from: usize,
    to: usize,
    new: Vec<String>,
    context: usize,
    crlf: bool,
    closed: bool,
}

fn clean_edit() -> impl Strategy_<Value = CleanEdit> {
    let word = prop::sample::select(vec!["lamp", "horn", "tide", "buoy", "rope", "mast", "keel", "chart"]);
    let indent = 0..3usize;
    let line = (indent, word.clone(), word);
    let lines = prop::collection::vec(line.clone(), 3..40);
    let new = prop::collection::vec(line, 0..6);
    (lines, new, any::<[prop::sample::Index; 2]>(), 1..4usize, any::<[bool; 3]>()).prop_map(
        |(lines, new, [a, b], context, [crlf, closed, tabs])| {
            let unit = if tabs { "\t" } else { "    " };
            let number = |tag: &str, lines: Vec<(usize, &str, &str)>| -> Vec<String> {
                let numbered = |(i, (indent, x, y))| format!("{}{x}_{tag}{i:03} = {y}({})", unit.repeat(indent), i * i);
                lines.into_iter().enumerate().map(numbered).collect()
            };
            let lines = number("", lines);
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            // At least one line of context or removal is quoted.
            let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 5));
            let new = number("new", new);
            CleanEdit { lines, from, to, new, context, crlf, closed }
        },
    )
}

impl CleanEdit {
    fn text(&self, lines: &[String]) -> String {
        let ending = if self.crlf { "\r\n" } else { "\n" };
        let text = lines.join(ending);
        if self.closed { text + ending } else { text }
    }

    fn after(&self) -> Vec<String> {
        let mut lines = self.lines.clone();
        lines.splice(self.from..self.to, self.new.clone());
        lines
    }

    fn changes(&self) -> bool {
        self.from < self.to || !self.new.is_empty()
    }

    fn context(&self) -> (&[String], &[String]) {
        let start = self.from.saturating_sub(self.context);
        let end = (self.to + self.context).min(self.lines.len());
        (&self.lines[start..self.from], &self.lines[self.to..end])
    }

    fn marked(&self) -> String {
        let (before, after) = self.context();
        let mark =
            |mark: &'static str, lines: &[String]| lines.iter().map(|l| format!("{mark}{l}\n")).collect::<String>();
        mark(" ", before) + &mark("-", &self.lines[self.from..self.to]) + &mark("+", &self.new) + &mark(" ", after)
    }

    fn reply(&self, format: EditFormat) -> String {
        let (before, after) = self.context();
        let join = |middle: &[String]| -> String {
            before.iter().chain(middle).chain(after).flat_map(|line| [line.as_str(), "\n"]).collect()
        };
        match format {
            EditFormat::Diff => block("src/a.py", &join(&self.lines[self.from..self.to]), &join(&self.new)),
            EditFormat::DiffFenced => {
                let text = block("", &join(&self.lines[self.from..self.to]), &join(&self.new));
                text.replacen("\n```\n", "```\nsrc/a.py\n", 1)
            }
            EditFormat::Udiff => format!("```diff\n--- src/a.py\n+++ src/a.py\n@@ ... @@\n{}```\n", self.marked()),
            EditFormat::Whole => format!("src/a.py\n```python\n{}\n```\n", self.after().join("\n")),
            EditFormat::Patch => {
                format!("*** Begin Patch\n*** Update File: src/a.py\n@@\n{}*** End Patch\n", self.marked())
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_cuts_of_the_stream_change_nothing(reply in reply_text(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        for choice in choices() {
            let mut whole = EditStream::new(choice);
            whole.push(&reply);
            let mut pieces = EditStream::new(choice);
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(reply.len() + 1)).filter(|at| reply.is_char_boundary(*at)).collect();
            at.extend([0, reply.len()]);
            at.sort_unstable();
            for pair in at.windows(2) {
                pieces.push(&reply[pair[0]..pair[1]]);
            }
            prop_assert_eq!(whole.events(), pieces.events());
            prop_assert_eq!(whole.finish(), pieces.finish());
        }
    }

    #[test]
    fn every_reply_has_an_outcome_for_each_edit(reply in reply_text(), text in prop::collection::vec(reply_line(), 0..12)) {
        let text = text.join("\n");
        let files = memory_files(&[("src/a.py", text.as_str()), ("src/b.py", "alpha\n    beta\n")]);
        for choice in choices() {
            let parsed = parse(&reply, choice);
            let proposal = propose(&parsed, &files);
            // Each edit has an outcome, and so has each fence that turned out to be a whole file.
            let (edits, fences) = (parsed.edits.len(), parsed.fences.len());
            prop_assert!((edits..=edits + fences).contains(&proposal.outcomes.len()));
            for outcome in &proposal.outcomes {
                prop_assert!(outcome.status == crate::Status::Applied || !outcome.reason.is_empty());
            }
            let refused = proposal.outcomes.iter().all(|outcome| outcome.status == crate::Status::Refused);
            prop_assert!(!refused || proposal.files.is_empty());
        }
    }

    #[test]
    fn a_clean_edit_lands_exactly_in_every_format(edit in clean_edit()) {
        prop_assume!(edit.changes());
        let wanted = edit.text(&edit.after());
        let base = edit.text(&edit.lines);
        for format in EditFormat::ALL {
            let files = memory_files(&[("src/a.py", base.as_str()), ("src/b.py", "unrelated = 1\n")]);
            let reply = edit.reply(format);
            for choice in [FormatChoice::Only(format), FormatChoice::Auto] {
                let proposal = propose(&parse(&reply, choice), &files);
                // Text that drops most of a file may be an excerpt unless whole files were requested.
                let few = wanted.lines().count() * 10 < base.lines().count() * 7;
                if few && format == EditFormat::Whole && choice == FormatChoice::Auto && proposal.files.is_empty() {
                    prop_assert!(proposal.outcomes.iter().all(|outcome| outcome.reason.starts_with("fragment")));
                    continue;
                }
                let found = proposal.files.first().and_then(|file| file.proposed.as_deref());
                prop_assert_eq!(found, Some(wanted.as_str()), "{}: {}\n{:#?}", format, reply, proposal.outcomes);
                prop_assert_eq!(proposal.files.len(), 1);
            }
        }
    }

    #[test]
    fn bytes_outside_the_hunk_stay(
        edit in clean_edit(),
        endings in prop::collection::vec(prop::sample::select(vec!["\n", "\r\n", "\r\r\n"]), 40),
        format in prop::sample::select(EditFormat::ALL.to_vec()),
        crlf_reply in any::<bool>(),
    ) {
        prop_assume!(edit.changes() && edit.from < edit.to);
        // Each line has its own ending and trailing spaces; the quote loses indentation and trailing spaces.
        let blanks = |i| if i % 3 == 0 && format != EditFormat::Whole { "  " } else { "" };
        let line = |(i, line): (usize, &String)| format!("{line}{}{}", blanks(i), endings[i]);
        let full: Vec<String> = edit.lines.iter().enumerate().map(line).collect();
        let base = full.concat();
        let reply = edit.reply(format);
        let reply = if crlf_reply { reply.replace('\n', "\r\n") } else { reply };
        let files = memory_files(&[("src/a.py", base.as_str())]);
        let proposal = propose(&parse(&reply, FormatChoice::Auto), &files);
        if let Some(text) = proposal.files.first().and_then(|file| file.proposed.as_deref()) {
            let head: String = full[..edit.from].concat();
            let tail: String = full[edit.to..].concat();
            prop_assert!(text.starts_with(&head), "{text:?}");
            prop_assert!(text.ends_with(&tail), "{text:?}");
            // New lines end like those that they replace; further ones like the last of these.
            let new = edit.new.iter().enumerate().map(|(i, line)| {
                format!("{line}{}", endings[(edit.from + i).min(edit.to - 1)])
            });
            prop_assert_eq!(&text[head.len()..text.len() - tail.len()], new.collect::<String>());
        } else {
            prop_assert!(proposal.outcomes.iter().all(|outcome| outcome.status == crate::Status::Refused));
        }
    }
}

/// The flags of each hunk after a reply that changes `before` to `after` in `src/<name>`.
fn flags_after(name: &str, before: &str, after: &str) -> Vec<Vec<Flag>> {
    let path = format!("src/{name}");
    let base = Some(std::sync::Arc::from(before));
    let change = FileChange::Modify;
    let file = FileProposal { path: path.clone(), change, base, proposed: Some(std::sync::Arc::from(after)) };
    let mut proposal = Proposal { files: vec![file], ..Proposal::default() };
    add_flags(&mut proposal, &memory_files(&[(&path, before)]));
    let hunks = rhumb_text::diff::hunks(before, after);
    let of = |hunk: &rhumb_text::diff::Hunk| proposal.flags.iter().find(|flagged| flagged.hunk == *hunk);
    hunks.iter().map(|hunk| of(hunk).map_or_else(Vec::new, |flagged| flagged.flags.clone())).collect()
}

#[test]
fn only_the_hunk_that_breaks_the_syntax_is_flagged() {
    let before = "def a():\n    return 1\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 3\n";
    let after =
        before.replace("return 1", "return 10").replace("return 2", "return (2").replace("return 3", "return 30");
    assert_eq!(flags_after("a.py", before, &after), [vec![], vec![Flag::SyntaxError], vec![]]);
    assert_eq!(flags_after("a.txt", before, &after), [vec![], vec![], vec![]]);
}

#[test]
fn existing_syntax_errors_flag_no_hunk() {
    let before = "fn a( {\n}\n\nfn b() -> u8 {\n    1\n}\n";
    assert_eq!(flags_after("a.rs", before, &before.replace("    1", "    2")), [vec![]]);
    assert_eq!(flags_after("a.rs", before, &before.replace("fn a( {", "fn a() {")), [vec![]]);
    assert_eq!(flags_after("a.rs", before, &before.replace("    1", "    1 +")), [vec![]], "who knows?");
    assert_eq!(flags_after("a.rs", before, &before.replace("    1", "    (1")), [vec![Flag::SyntaxError]]);
    let sound = before.replace("fn a( {", "fn a() {");
    assert_eq!(flags_after("a.rs", &sound, &sound.replace("    1", "    1 +")), [vec![Flag::SyntaxError]]);
}

#[test]
fn lines_added_below_the_last_quoted_line_belong_to_the_edit() {
    let reply = block("lib/a.py", "import sea\n", "import sea\ndef broken(:\n");
    let files = memory_files(&[("lib/a.py", "import sea\n\nx = 1\n")]);
    let mut proposal = propose(&parse(&reply, FormatChoice::Auto), &files);
    add_flags(&mut proposal, &files);
    assert_eq!(only(&proposal).flags, [Flag::OutsideChat, Flag::SyntaxError]);
    assert!(only(&proposal).may_have_made(&proposal.flags[0].hunk));
}

#[test]
fn a_missing_brace_flags_a_hunk() {
    let before = "fn a() {\n    if x {\n        y();\n    }\n}\n\nfn b() {}\n\nfn c() {}\n";
    let after = before.replace("        y();\n    }\n", "        y();\n");
    assert_eq!(flags_after("a.rs", before, &after), [vec![Flag::SyntaxError]]);
}

#[test]
fn files_that_tools_run_and_new_hosts_are_flagged() {
    let (before, after) = ("# https://docs.sea\na: 1\nb: 2\n", "# https://docs.sea/x\na: 1\nb: https://evil.sea\n");
    assert_eq!(
        flags_after("Makefile", before, after),
        [vec![Flag::RunsLater], vec![Flag::RunsLater, Flag::NewAddress]]
    );
    assert_eq!(flags_after("a.txt", before, after), [vec![], vec![Flag::NewAddress]]);
}

#[test]
fn refused_edits_have_the_flags_that_need_no_location() {
    let files = memory_files(&[("Makefile", "all:\n\techo\n"), ("a.txt", "a\n")]);
    let of = |path: &str, replacement: &str| {
        let mut proposal = propose(&parse(&block(path, "not there\n", replacement), FormatChoice::Auto), &files);
        add_flags(&mut proposal, &files);
        assert_eq!(only(&proposal).status, crate::Status::Refused);
        only(&proposal).flags.clone()
    };
    assert!(of("Makefile", "x\n").contains(&Flag::RunsLater));
    assert!(of("a.txt", "see https://evil.sea\n").contains(&Flag::NewAddress));
    assert!(!of("a.txt", "x\n").iter().any(|flag| matches!(flag, Flag::RunsLater | Flag::NewAddress)));
}

#[test]
fn hunks_that_omit_code_and_hunks_of_generated_files_are_flagged() {
    let before = "// Code generated by x. DO NOT EDIT.\nfunc a() {\n\tone()\n\ttwo()\n\tthree()\n}\n\nvar b = 1\n";
    let change =
        |text: &str| text.replace("\tone()\n\ttwo()\n\tthree()\n", "\t// as before\n").replace("b = 1", "b = 2");
    assert_eq!(flags_after("a.go", before, &change(before)), [vec![Flag::Generated], vec![Flag::Generated]]);
    let written = before.replace("Code generated by x. DO NOT EDIT.", "By hand.");
    assert_eq!(flags_after("a.go", &written, &change(&written)), [vec![Flag::Elision], vec![]]);
}

#[test]
fn edits_carry_the_flags_of_their_hunks_alone() {
    let text = "def a():\n    return 1\n\n\ndef b():\n    return 2\n";
    let reply =
        block("src/a.py", "    return 1\n", "    return (1\n") + &block("src/a.py", "    return 2\n", "    return 3\n");
    let files = memory_files(&[("src/a.py", text)]);
    let mut proposal = propose(&parse(&reply, FormatChoice::Auto), &files);
    add_flags(&mut proposal, &files);
    let flags: Vec<_> = proposal.outcomes.iter().map(|outcome| outcome.flags.clone()).collect();
    assert_eq!(flags, [vec![Flag::SyntaxError], vec![]]);
}

#[test]
fn a_later_reply_corrects_refused_edits_and_keeps_the_rest() {
    let text = "one\ntwo\nthree\nfour\nfive\n";
    let files = memory_files(&[("src/a.x", text)]);
    let first = block("src/a.x", "two\n", "zwei\n") + &block("src/a.x", "nowhere to be found\nfour\n", "vier\n");
    // The model may build on edits that were kept, and may repeat them.
    let second = block("src/a.x", "zwei\nthree\nfour\n", "zwei\nthree\nvier\n") + &block("src/a.x", "two\n", "zwei\n");
    let replies = [first, second].map(|reply| parse(&reply, FormatChoice::Auto));
    let alone = propose(&replies[0], &files);
    assert_eq!(alone.outcomes.iter().filter(|outcome| outcome.is_open()).count(), 1);
    let both = propose_all(&PendingChanges::default(), &replies, &files);
    assert_eq!(both.files[0].proposed.as_deref(), Some("one\nzwei\nthree\nvier\nfive\n"));
    let status: Vec<_> = both.outcomes.iter().map(|outcome| outcome.status).collect();
    assert_eq!(status, [Status::Applied, Status::Applied], "{:#?}", both.outcomes);
}

#[test]
fn edits_that_no_later_reply_corrects_stay_refused() {
    let files = memory_files(&[("src/a.x", "one\ntwo\nthree\n")]);
    let first = block("src/a.x", "no such alpha\n", "alpha\n") + &block("src/b.x", "no such beta\n", "beta\n");
    let second = block("src/a.x", "three\n", "alpha\n");
    let replies = [first.as_str(), &second, "I cannot do more."].map(|reply| parse(reply, FormatChoice::Auto));
    let proposal = propose_all(&PendingChanges::default(), &replies, &files);
    let open: Vec<_> =
        proposal.outcomes.iter().filter(|outcome| outcome.is_open()).map(|outcome| &*outcome.path).collect();
    assert_eq!(open, ["src/b.x"]);
}
