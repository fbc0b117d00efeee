//! Facts about whole requests.

use rhumb_llm::{Image, Message, Role};
use std::sync::Arc;

use proptest::prelude::*;

use super::assemble::{Cuts, assemble_cut};
use super::*;
use rhumb_edit::EditFormat;
use rhumb_index::retrieval::{Related, Relation};
use rhumb_llm::models::{Caching, Capabilities, Model, Reminder};
use rhumb_tokens::{TokenCounter, counter_for_model};

/// One token a word.
struct Words;

impl TokenCounter for Words {
    fn count(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn exact(&self) -> bool {
        true
    }
}

/// One token a byte: nothing is ever saved or lost at a border.
struct Bytes;

impl TokenCounter for Bytes {
    fn count(&self, text: &str) -> usize {
        text.len()
    }

    fn exact(&self) -> bool {
        true
    }
}

mod secrets;

/// What requests are made from in these tests.
#[derive(Debug)]
struct Setting {
    task: Task,
    model: Model,
    window: Window,
    shares: Shares,
    files: Vec<ContextFile>,
    passages: Vec<ContextPassage>,
    related: Vec<Related>,
    history: Vec<Message>,
    exchange: Vec<Message>,
    images: Vec<Image>,
    draft: String,
    may_forget: bool,
    send_secrets: bool,
    prompts: Prompts,
}

impl Default for Setting {
    fn default() -> Self {
        let model = Model { known: true, ..Model::unknown("m") };
        Self {
            task: Task { mark_cache: true, ..Task::code(EditFormat::Diff) },
            window: Window { tokens: 100_000, known: true },
            shares: Shares::default(),
            model,
            files: Vec::new(),
            passages: Vec::new(),
            related: Vec::new(),
            history: Vec::new(),
            exchange: Vec::new(),
            images: Vec::new(),
            draft: "do it".into(),
            may_forget: false,
            send_secrets: false,
            prompts: Prompts::default(),
        }
    }
}

impl Setting {
    fn with<T>(&self, work: impl FnOnce(&ContextInputs<'_>) -> T) -> T {
        let has_chat_files = self.files.iter().any(|file| !file.read_only);
        work(&ContextInputs {
            task: self.task,
            model: &self.model,
            window: self.window,
            plan: BudgetPlan::of(self.window, has_chat_files, self.shares),
            prompts: &self.prompts,
            surroundings: &Surroundings::default(),
            files: &self.files,
            images: &self.images,
            passages: &self.passages,
            related: &self.related,
            history: &self.history,
            exchange: &self.exchange,
            draft: &self.draft,
            may_forget: self.may_forget,
            send_secrets: self.send_secrets,
        })
    }

    fn assembled(&self, map: &str) -> Prompt {
        self.with(|inputs| assemble(inputs, map, &Words))
    }

    /// Fitted with a map that takes all that it is given, a token a word.
    fn fitted(&self, counter: &dyn TokenCounter) -> Prompt {
        self.with(|inputs| fit(inputs, counter, &mut |budget| map_of(budget, counter)))
    }
}

fn map_of(budget: usize, counter: &dyn TokenCounter) -> String {
    let one = counter.count("a ").max(1);
    "a ".repeat(budget / one)
}

fn file(path: &str, text: &str, read_only: bool) -> ContextFile {
    ContextFile { path: path.into(), text: Arc::from(text), read_only }
}

fn passage(path: &str, line: u32, text: &str) -> ContextPassage {
    let end_line = line + text.lines().count().saturating_sub(1) as u32;
    let place = PassagePlace { path: path.into(), line, end_line, anchor: None, turn: 1, rank: line, hash: 0 };
    ContextPassage { place, text: text.into() }
}

fn turn(question: &str, answer: &str) -> [Message; 2] {
    [Message::new(Role::User, question), Message::new(Role::Assistant, answer)]
}

fn full() -> Setting {
    Setting {
        files: vec![file("a.rs", "fn a() {}", false), file("doc.md", "words", true)],
        passages: vec![passage("b.rs", 7, "fn b() {}")],
        history: turn("hi", "hello").to_vec(),
        exchange: turn("do it", "not quite").to_vec(),
        ..Setting::default()
    }
}

fn titles(prompt: &Prompt) -> Vec<&str> {
    prompt.chunks.iter().map(|chunk| chunk.title.as_str()).collect()
}

#[test]
fn chunks_come_in_the_order_that_caches_best() {
    let prompt = full().assembled("a.rs:\n");
    let expected = [
        "system", "example", "doc.md", "repo map", "passages", "history", "a.rs", "this request so far", "draft",
        "reminder",
    ];
    assert_eq!(titles(&prompt), expected);
}

#[test]
fn roles_alternate_for_every_kind_of_model() {
    for (system_role, known) in [(true, true), (true, false), (false, true)] {
        let mut setting = full();
        setting.model = Model { known, reminder: Reminder::User, ..setting.model };
        setting.model.capabilities.system_role = system_role;
        let messages = setting.assembled("map").messages;
        assert_eq!(messages[0].role == Role::System, system_role);
        for (index, message) in messages.iter().skip(usize::from(system_role)).enumerate() {
            let expected = if index % 2 == 0 { Role::User } else { Role::Assistant };
            assert_eq!(message.role, expected, "message {index}, {system_role} {known}");
        }
    }
}

#[test]
fn the_reminder_stands_where_the_model_takes_it_and_is_counted_once() {
    for (reminder, roles) in [
        (Reminder::None, &[Role::User][..]),
        (Reminder::User, &[Role::User]),
        (Reminder::System, &[Role::User, Role::System]),
    ] {
        let mut setting = Setting::default();
        setting.model.reminder = reminder;
        let prompt = setting.assembled("");
        let last: Vec<Role> = prompt.messages.iter().skip(1).map(|message| message.role).collect();
        assert_eq!(last, roles, "{reminder:?}");
        let reminded = prompt.messages.iter().filter(|message| message.content.contains("(Edits: ")).count();
        assert_eq!(reminded, usize::from(reminder != Reminder::None));
        assert_eq!(titles(&prompt).contains(&"reminder"), reminder != Reminder::None);
    }
}

#[test]
fn the_server_is_told_of_four_places_at_most_and_only_where_it_wants_to_be() {
    let mut setting = full();
    let marks = |prompt: &Prompt| -> Vec<String> {
        prompt.chunks.iter().filter(|chunk| chunk.cached).map(|chunk| chunk.title.clone()).collect()
    };
    for caching in [Caching::None, Caching::ByPrefix] {
        setting.model.capabilities = Capabilities { caching, ..Capabilities::default() };
        assert!(setting.assembled("map").messages.iter().all(|message| !message.cached));
    }
    setting.model.capabilities.caching = Caching::Marked;
    let prompt = setting.assembled("map");
    assert_eq!(marks(&prompt), ["example", "passages", "history", "a.rs"]);
    assert_eq!(prompt.messages.iter().filter(|message| message.cached).count(), 4);
    setting.passages.clear();
    assert_eq!(marks(&setting.assembled("map")), ["example", "repo map", "history", "a.rs"]);
    assert_eq!(marks(&setting.assembled("")), ["example", "doc.md", "history", "a.rs"]);
    setting.task.mark_cache = false;
    assert!(marks(&setting.assembled("map")).is_empty());
}

#[test]
fn pictures_go_with_the_files() {
    let picture = Image { name: "quay.png".into(), media_type: "image/png".into(), bytes: Arc::from(&b"?"[..]) };
    let with = |files: Vec<ContextFile>| {
        let setting = Setting { files, images: vec![picture.clone()], ..Setting::default() };
        setting.assembled("")
    };
    for prompt in [with(Vec::new()), with(vec![file("a", "x", false)])] {
        let chunk = prompt.chunks.iter().find(|chunk| chunk.title == "quay.png").unwrap();
        assert!(chunk.tokens >= 765 && matches!(chunk.kind, ChunkKind::Image(_)));
        assert_eq!(prompt.messages.iter().flat_map(|message| &message.images).count(), 1);
    }
}

#[test]
fn a_mode_without_edits_speaks_of_none() {
    for mode in [Mode::Ask, Mode::Architect, Mode::Context, Mode::Help] {
        let mut setting = full();
        setting.task.mode = mode;
        let prompt = setting.assembled("map");
        assert!(!titles(&prompt).contains(&"example") && !titles(&prompt).contains(&"reminder"));
        assert!(!prompt.as_text().contains("<<<<<<<"), "{mode}");
    }
}

#[test]
fn a_file_with_fences_gets_a_longer_fence_and_so_do_the_rules() {
    let setting = Setting { files: vec![file("a.md", "```\ncode\n```\n", false)], ..Setting::default() };
    let prompt = setting.assembled("");
    assert!(prompt.messages.iter().any(|message| message.content.contains("````\n```\ncode\n```\n````")));
    assert!(prompt.chunks[0].text.contains("The fence is ```` or longer"));
    let reference = Setting { files: vec![file("a.md", "```\ncode\n```\n", true)], ..Setting::default() };
    assert!(reference.assembled("").chunks[0].text.contains("The fence is ``` or longer"));
}

#[test]
fn what_is_told_of_a_request_is_all_of_it() {
    let prompt = full().assembled("harbour.py:\n");
    let (text, rendered) = (prompt.as_text(), prompt.render());
    for part in ["fn a() {}", "words", "harbour.py:", "hello", "not quite", "do it", "SEARCH"] {
        assert!(text.contains(part) && rendered.contains(part), "{part}");
    }
    assert!(!text.contains("Noted.") && rendered.contains("── user\n━━ a.rs (editable) · "), "{rendered}");
    // Nothing of what is sent is missing.
    for message in &prompt.messages {
        assert!(message.content.lines().all(|line| rendered.contains(line)), "{rendered}");
    }
    assert_eq!(rendered.matches("\n── ").count(), prompt.messages.len());
}

#[test]
fn the_map_gives_way_first_then_the_reminder_and_then_somebody_is_asked() {
    let mut setting = Setting { passages: Vec::new(), ..full() };
    setting.history = (0..10).flat_map(|n| turn(&format!("q{n} "), &"w ".repeat(200))).collect();
    let whole = setting.assembled("").tokens;
    let trimmed = |setting: &Setting| setting.fitted(&Words).trimmed;
    // The window whose input is that many tokens.
    let window = |max_input: usize| Window { tokens: max_input * 8 / 7 + 1, known: true };
    setting.window = window(whole + 700);
    assert!(matches!(trimmed(&setting)[..], [Trimmed::RepoMap { given: 640, .. }]), "{:?}", trimmed(&setting));
    setting.window = window(whole - 5);
    assert!(matches!(trimmed(&setting)[..], [Trimmed::RepoMap { given: 0, .. }, Trimmed::Reminder]));
    setting.window = window(whole - 500);
    let overfull = setting.fitted(&Words).overfull.unwrap();
    assert_eq!((overfull.head, overfull.head_suffices), (6, true));
    assert_eq!(overfull.candidates[0].path, "a.rs");
    setting.may_forget = true;
    let prompt = setting.fitted(&Words);
    assert!(matches!(prompt.trimmed[2], Trimmed::History { messages: 6, .. }) && prompt.overfull.is_none());
    assert!(!prompt.as_text().contains("q2 ") && prompt.as_text().contains("q3 "));
    setting.window = window(100);
    assert!(!setting.fitted(&Words).overfull.unwrap().head_suffices);
}

#[test]
fn passages_give_way_before_the_history_and_those_first_that_are_worth_least() {
    let passages = (1..=10).map(|n| passage("b.rs", n * 100, &format!("p{n} {}", "w ".repeat(48)))).collect();
    let shares = Shares { passages: Some(10_000), ..Shares::default() };
    let mut setting = Setting { passages, shares, may_forget: true, ..full() };
    let whole = setting.assembled("").tokens;
    let window = |max_input: usize| Window { tokens: max_input * 8 / 7 + 1, known: true };
    setting.window = window(whole - 300);
    let prompt = setting.fitted(&Words);
    let expected = Trimmed::Passages { left_out: 6, of: 10 };
    assert_eq!(prompt.trimmed.last(), Some(&expected), "{:?}", prompt.trimmed);
    let text = prompt.as_text();
    assert!(text.contains("400  p4 ") && !text.contains("p5 ") && text.contains("hello"), "{text}");
    setting.shares.passages = Some(120);
    setting.window = window(whole + 2_000);
    let prompt = setting.fitted(&Words);
    assert_eq!(prompt.trimmed, [Trimmed::Passages { left_out: 8, of: 10 }], "their share is theirs in any window");
    assert!(prompt.as_text().contains("p2 ") && !prompt.as_text().contains("p3 "));
}

#[test]
fn what_is_related_goes_before_any_passage_does() {
    let related = |of: &str| Related {
        path: "c.rs".into(),
        line: 3,
        signature: format!("fn caller() {}", "w ".repeat(20)),
        relation: Relation::Uses,
        of: of.into(),
    };
    let shares = |most| Shares { passages: Some(most), ..Shares::default() };
    let mut setting = Setting { related: vec![related("b")], shares: shares(10_000), ..full() };
    let text = setting.fitted(&Words).as_text();
    assert!(text.contains("7  fn b() {}") && text.contains("c.rs:3  fn caller()"), "{text}");
    setting.shares = shares(20);
    let text = setting.fitted(&Words).as_text();
    assert!(text.contains("7  fn b() {}") && !text.contains("c.rs:3"), "their share is that of both: {text}");
    setting.shares = shares(10_000);
    let whole = setting.assembled("").tokens;
    let cuts = Cuts { reminder: true, ..Cuts::default() };
    let without_reminder = setting.with(|inputs| assemble_cut(inputs, "", cuts, &Words)).tokens;
    assert!(without_reminder <= whole);
    setting.window = Window { tokens: (without_reminder - 10) * 8 / 7 + 1, known: true };
    let prompt = setting.fitted(&Words);
    let text = prompt.as_text();
    assert!(text.contains("7  fn b() {}") && !text.contains("c.rs:3"), "{text}");
    assert!(!prompt.trimmed.iter().any(|trimmed| matches!(trimmed, Trimmed::Passages { .. })), "{:?}", prompt.trimmed);
}

#[test]
fn a_window_that_is_only_assumed_keeps_every_turn_and_file() {
    let mut setting = full();
    setting.window = Window { tokens: 100, known: false };
    setting.may_forget = true;
    let prompt = setting.fitted(&Words);
    assert!(prompt.excess() > 0 && prompt.overfull.is_none());
    assert!(prompt.as_text().contains("hello") && prompt.as_text().contains("fn a() {}"));
}

/// Words without and with fences, of all lengths, and what else could break them.
fn contents() -> impl Strategy<Value = String> {
    "(\\PC|`{1,6}|~{3}|[a-z \\n\\r\t]|\n`{3,9}\n?|\u{2028}`{3}){0,60}"
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    prop::collection::vec(("[a-z ]{0,80}", "[a-z `\\n]{0,200}"), 0..6)
        .prop_map(|turns| turns.iter().flat_map(|(question, answer)| turn(question, answer)).collect())
}

prop_compose! {
    fn settings()(
        texts in prop::collection::vec((contents(), any::<bool>()), 0..5),
        history in messages(),
        exchange in messages(),
        passages in prop::collection::vec((1u32..2_000, contents()), 0..6),
        share in 0usize..2_000,
        draft in contents(),
        tokens in 1usize..6_000,
        known: bool,
        system_role: bool,
        which in 0usize..3,
        format in 0usize..5,
        may_forget: bool,
    ) -> Setting {
        let files = texts.iter().enumerate().map(|(n, (text, read_only))| file(&format!("f{n}.md"), text, *read_only));
        let mut setting = Setting {
            files: files.collect(),
            passages: passages.iter().map(|(line, text)| passage("p.md", *line, text)).collect(),
            shares: Shares { passages: Some(share), ..Shares::default() },
            history,
            exchange,
            draft,
            may_forget,
            window: Window { tokens, known: true },
            task: Task { mark_cache: true, ..Task::code(EditFormat::ALL[format]) },
            ..Setting::default()
        };
        setting.model.known = known;
        setting.model.reminder = [Reminder::None, Reminder::User, Reminder::System][which];
        setting.model.capabilities = Capabilities { system_role, caching: Caching::Marked, ..Capabilities::default() };
        setting
    }
}

/// The files in a message as a reader finds them: a path, a fence, and the lines up to the same fence.
fn read_back(message: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = message.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let Some(fence) = lines.peek().filter(|next| next.starts_with("```")).map(|next| next.trim_end().to_owned())
        else {
            continue;
        };
        lines.next();
        let inside = lines.by_ref().take_while(|line| line.trim_end_matches('\n') != fence);
        found.push((line.trim_end().to_owned(), inside.collect()));
    }
    found
}

proptest! {
    #[test]
    fn any_contents_are_read_back_from_the_request(setting in settings()) {
        let prompt = setting.assembled("");
        for read_only in [true, false] {
            let files: Vec<_> = setting.files.iter().filter(|file| file.read_only == read_only).collect();
            let Some(first) = files.first() else { continue };
            let shown = prompt.messages.iter().find(|message| message.content.contains(&format!("\n\n{}\n```", first.path)));
            let read = read_back(&shown.unwrap().content);
            prop_assert_eq!(read.len(), files.len());
            for (file, (path, text)) in files.iter().zip(read) {
                prop_assert_eq!(&file.path, &path);
                let newline = if file.text.is_empty() || file.text.ends_with('\n') { "" } else { "\n" };
                prop_assert_eq!(text, format!("{}{newline}", file.text));
            }
        }
    }

    #[test]
    fn a_reply_that_fences_as_told_is_read_as_the_file_it_holds(text in contents()) {
        let text = if text.ends_with('\n') || text.is_empty() { text } else { text + "\n" };
        let fence = fence_for([text.as_str()]);
        let reply = format!("harbour.md\n{fence}\n{text}{fence}\n");
        let parsed = rhumb_edit::parse(&reply, rhumb_edit::FormatChoice::Only(EditFormat::Whole));
        prop_assert_eq!(parsed.edits.len() + parsed.fences.len(), 1, "{:?}", parsed);
    }

    #[test]
    fn the_chunks_add_up_to_what_the_messages_hold(setting in settings(), map in "[a-z:\\n]{0,40}") {
        let prompt = setting.with(|inputs| assemble(inputs, &map, &Bytes));
        let content: usize = prompt.messages.iter().map(|message| message.content.len()).sum();
        prop_assert_eq!(prompt.tokens, content + 4 * prompt.messages.len() + 3);
        prop_assert_eq!(prompt.chunks.iter().map(|chunk| chunk.tokens).sum::<usize>() + 3, prompt.tokens);
        prop_assert!(prompt.messages.iter().filter(|message| message.cached).count() <= 4);
    }

    #[test]
    fn the_order_holds_for_any_contents(setting in settings(), map in "[a-z:\\n]{0,40}") {
        let rank = |chunk: &Chunk| match chunk.kind {
            ChunkKind::System => 0,
            ChunkKind::Examples => 1,
            ChunkKind::ReadOnlyFile(_) => 2,
            ChunkKind::RepoMap => 3,
            ChunkKind::Passages => 4,
            ChunkKind::History => 5,
            ChunkKind::ChatFile(_) => 6,
            ChunkKind::Image(_) => 7,
            ChunkKind::Current => 8,
            ChunkKind::Reminder => 9,
        };
        let prompt = setting.assembled(&map);
        prop_assert!(prompt.chunks.is_sorted_by_key(rank));
        // And so are the messages: what a chunk says is found after what the one before it says.
        let all: String = prompt.messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n");
        let mut from = 0;
        for chunk in prompt.chunks.iter().filter(|chunk| !matches!(chunk.kind, ChunkKind::Examples)) {
            let at = all[from..].find(&chunk.text);
            prop_assert!(at.is_some(), "{}", chunk.title);
            from += at.unwrap_or_default() + chunk.text.len();
        }
    }

    #[test]
    fn a_request_that_goes_out_never_exceeds_the_window(setting in settings()) {
        let prompt = setting.fitted(&Bytes);
        if prompt.overfull.is_none() {
            prop_assert!(prompt.tokens <= setting.window.max_input());
        }
        // Whatever is missing is told.
        let mut told = Cuts::default();
        for trimmed in &prompt.trimmed {
            match trimmed {
                Trimmed::Reminder => told.reminder = true,
                Trimmed::History { messages, .. } => told.head = *messages,
                Trimmed::Passages { left_out, of } => told.passages = Some(of - left_out),
                Trimmed::RepoMap { planned, given } => prop_assert!(given < planned),
            }
        }
        let without_map = setting.with(|inputs| assemble_cut(inputs, "", told, &Bytes));
        let is_map = |chunk: &&Chunk| chunk.kind == ChunkKind::RepoMap;
        prop_assert_eq!(prompt.chunks.len() - prompt.chunks.iter().filter(is_map).count(), without_map.chunks.len());
    }

    #[test]
    fn a_larger_window_never_sends_less(setting in settings(), more in 0usize..3_000) {
        let mut setting = setting;
        let sent = |setting: &Setting| {
            let prompt = setting.fitted(&Bytes);
            let map = prompt.chunks.iter().find(|chunk| chunk.kind == ChunkKind::RepoMap).map_or(0, |chunk| chunk.text.len());
            (prompt.overfull.is_none(), map, titles(&prompt).contains(&"reminder"), prompt.tokens)
        };
        let small = sent(&setting);
        setting.window.tokens += more;
        let large = sent(&setting);
        prop_assert!(!small.0 || large.0);
        if small.0 {
            prop_assert!(large.1 >= small.1 && large.2 >= small.2 && large.3 >= small.3, "{:?} {:?}", small, large);
        }
    }

    #[test]
    fn files_count_for_themselves_without_a_token_lost(texts in prop::collection::vec(contents(), 1..4)) {
        let counter = counter_for_model("gpt-4o");
        let files = texts.iter().enumerate().map(|(n, text)| file(&format!("src/f{n}.rs"), text, false)).collect();
        let setting = Setting { files, ..Setting::default() };
        let prompt = setting.with(|inputs| assemble(inputs, "", &*counter));
        let content: usize = prompt.messages.iter().map(|message| counter.count(&message.content)).sum();
        prop_assert_eq!(prompt.tokens, content + 4 * prompt.messages.len() + 3);
    }
}
