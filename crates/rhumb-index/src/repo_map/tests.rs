use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::lexical::Depth;
use rhumb_syntax::{Definition, FileTags, Reference, SymbolKind};
use rhumb_tokens::TokenCounter;

/// Counts characters, so that every indent and omission matters.
struct Characters;

impl TokenCounter for Characters {
    fn count(&self, text: &str) -> usize {
        text.chars().count()
    }

    fn exact(&self) -> bool {
        true
    }
}

/// A counter that is not additive: each text costs a constant more.
struct Overhead;

impl TokenCounter for Overhead {
    fn count(&self, text: &str) -> usize {
        if text.is_empty() { 0 } else { text.len() / 4 + text.len() * text.len() / 4_000 + 7 }
    }

    fn exact(&self) -> bool {
        false
    }
}

fn definition(name: &str, kind: SymbolKind, lines: (u32, u32), container: Option<&str>) -> Definition {
    Definition {
        name: name.to_owned(),
        kind,
        line: lines.0,
        end_line: lines.1,
        signature: format!("{} {name}()", kind.as_str()),
        container: container.map(str::to_owned),
        doc: String::new(),
    }
}

fn file(path: &str, definitions: Vec<Definition>, references: &[&str]) -> MapFile {
    let references = references.iter().map(|name| Reference { name: (*name).to_owned(), line: 1 }).collect();
    let tags = FileTags { definitions, references, ..FileTags::default() };
    MapFile {
        path: path.to_owned(),
        digest: Arc::new(Digest::new(&source(&tags), &tags, Depth::Whole)),
        tags: Arc::new(tags),
    }
}

/// A text with each definition on its line, followed by the references.
fn source(tags: &FileTags) -> String {
    let last = tags.definitions.iter().map(|definition| definition.line.min(100)).max().unwrap_or(0);
    let mut lines = vec![String::new(); last as usize];
    for definition in &tags.definitions {
        if let Some(line) = (definition.line as usize).checked_sub(1).and_then(|line| lines.get_mut(line)) {
            line.push_str(&definition.signature);
        }
    }
    lines.extend(tags.references.iter().map(|reference| reference.name.clone()));
    lines.join("\n")
}

fn function(name: &str, line: u32) -> Definition {
    definition(name, SymbolKind::Function, (line, line + 1), None)
}

/// A small geometry program.
fn sample() -> Vec<MapFile> {
    use SymbolKind::{Class, Method};
    vec![
        file(
            "src/shape.py",
            vec![
                definition("Circle", Class, (1, 20), None),
                definition("area", Method, (2, 5), Some("Circle")),
                definition("grow", Method, (6, 9), Some("Circle")),
                definition("scale", Method, (10, 20), Some("Circle")),
                function("make_circle", 30),
            ],
            &["area"],
        ),
        file("src/draw.py", vec![function("draw_all", 1)], &["Circle", "Circle", "area", "scale", "make_circle"]),
        file("src/main.py", vec![function("main", 3)], &["draw_all", "make_circle"]),
        file("tests/test_shape.py", vec![function("test_area", 1)], &["Circle", "area"]),
        file("README.md", Vec::new(), &[]),
    ]
}

fn rank(files: &[MapFile], request: &MapRequest, weights: &Weights) -> Ranking {
    Ranking::new(
        &Arc::new(TagGraph::new(Arc::new(MapIndex::of(files)), &History::default(), weights)),
        request,
        weights,
    )
}

/// The references that raise a file, or a symbol in it.
fn references_to(map: &RepoMap, path: &str, symbol: Option<&str>) -> Vec<RankReference> {
    let Some(place) = map.position(path) else { return Vec::new() };
    let explanation = map.top_references(&[place]).remove(0);
    let Some(name) = symbol else { return explanation.file };
    let at = map.symbols(place).iter().position(|symbol| symbol.name == name).unwrap();
    explanation.symbols[at].clone()
}

fn build(files: &[MapFile], request: &MapRequest) -> RepoMap {
    RepoMap::build(files, request, &Characters)
}

fn with_budget(budget: usize) -> MapRequest {
    MapRequest { budget, ..MapRequest::default() }
}

#[test]
fn a_tree_nests_members_in_line_order() {
    let map = build(&sample(), &with_budget(10_000));
    insta::assert_snapshot!(map.text, @"
    README.md
    src/draw.py:
      function draw_all()
    src/main.py:
      function main()
    src/shape.py:
      class Circle()
        method area()
        method grow()
        method scale()
      function make_circle()
    tests/test_shape.py:
      function test_area()
    ");
    assert_eq!(map.tokens, map.text.chars().count());
    assert_eq!(map.stats, MapStats { files: 5, definitions: 8, references: 10 });
}

#[test]
fn members_keep_their_container_and_names_follow_the_lines() {
    let files = [file(
        "src/shape.py",
        vec![
            definition("Circle", SymbolKind::Class, (1, 20), None),
            definition("area", SymbolKind::Method, (2, 5), Some("Circle")),
            definition("grow", SymbolKind::Method, (6, 9), Some("Circle")),
            definition("scale", SymbolKind::Method, (10, 20), Some("Circle")),
            definition("stray", SymbolKind::Method, (40, 41), Some("Square")),
        ],
        &[],
    )];
    let line = |index: u32| (index, render::SymbolDetail::Line);
    let named = |index: u32| (index, render::SymbolDetail::Name);
    let index = MapIndex::of(&files);
    let mut writer = render::MapWriter::new(&index, MapStyle::Tree);
    let mut page = |chosen: &[(u32, render::SymbolDetail)]| writer.page(&[(0, chosen.to_vec())].into());
    insta::assert_snapshot!(page(&[line(3), line(1)]), @"
    src/shape.py:
      class Circle()
        method area()
        method scale()
    ");
    assert_eq!(page(&[named(2), named(0)]), "src/shape.py: Circle grow\n");
    insta::assert_snapshot!(page(&[line(1), named(2), named(1), named(0)]), @"
    src/shape.py:
      class Circle()
        method area()
      ⋮ grow
    ");
    insta::assert_snapshot!(page(&[line(4), line(0)]), @"
    src/shape.py:
      class Circle()
      Square
        method stray()
    ");
}

#[test]
fn an_outline_groups_by_kind() {
    let map = build(&sample(), &MapRequest { style: MapStyle::Outline, ..with_budget(10_000) });
    insta::assert_snapshot!(map.text, @"
    README.md
    src/draw.py:
      function
        function draw_all()
    src/main.py:
      function
        function main()
    src/shape.py:
      function
        function make_circle()
      method
        Circle: method area()
        Circle: method grow()
        Circle: method scale()
      class
        class Circle()
    tests/test_shape.py:
      function
        function test_area()
    ");
}

#[test]
fn entries_that_do_not_fit_are_dropped_by_rank() {
    let map = build(&sample(), &with_budget(80));
    insta::assert_snapshot!(map.text, @"
    README.md
    src/draw.py
    src/shape.py:
      class Circle()
        method area()
      ⋮ grow
    ");
    let shown: Vec<&str> = (0..map.files.len())
        .flat_map(|place| map.symbols(place))
        .filter(|symbol| symbol.shown)
        .map(|s| s.name.as_str())
        .collect();
    assert!(shown.iter().all(|name| map.text.contains(name)), "{shown:?}");
}

#[test]
fn lines_are_cut_and_cleaned() {
    let mut long = function("long", 1);
    long.signature = format!("fn long(\u{1b}[31m{})", "é".repeat(300));
    let map = build(&[file("a\nb.rs", vec![long], &[])], &with_budget(1_000));
    assert!(map.text.lines().all(|line| line.chars().count() <= 80));
    assert!(!map.text.contains('\u{1b}') && map.text.lines().count() == 2 && map.text.ends_with("…\n"));
}

#[test]
fn chat_files_influence_the_map_and_are_left_out() {
    let chat_files = vec!["src/draw.py".to_owned()];
    let map = build(&sample(), &MapRequest { chat_files, ..with_budget(10_000) });
    assert!(!map.text.contains("draw.py") && map.position("src/draw.py").is_none());
    assert_eq!(&*map.files[0].path, "src/shape.py");
}

#[test]
fn a_document_in_the_chat_does_not_influence_the_map() {
    let scores = |chat: &str, banned: &str| {
        let (chat_files, banned) = (vec![chat.to_owned()], vec![banned.to_owned()]);
        let request = MapRequest { chat_files, banned, message: "Let area be exact".to_owned(), ..with_budget(10_000) };
        rank(&sample(), &request, &Weights::default()).scores.files
    };
    assert_eq!(scores("README.md", ""), scores("", "README.md"), "both leave it out");
    assert_ne!(scores("src/draw.py", ""), scores("", "src/draw.py"));
}

#[test]
fn files_that_the_message_names_come_first() {
    let first = |message: &str| {
        let request = MapRequest { message: message.to_owned(), ..with_budget(10_000) };
        build(&sample(), &request).files[0].path.to_string()
    };
    assert_eq!(first("Let `draw_all` skip what is hidden"), "src/draw.py");
    assert_eq!(first("look into src/main.py:3"), "src/main.py");
    assert_eq!(first("drawing is slow"), "src/draw.py");
    assert_eq!(first("why does test_area fail"), "tests/test_shape.py");
    assert_eq!(first("what is in the readme"), "README.md");
}

#[test]
fn a_link_or_a_frame_alone_is_a_request() {
    for message in ["https://github.com/o/r/blob/main/src/main.py", "   at src/main.py:99:1"] {
        let request = MapRequest { message: message.to_owned(), ..with_budget(10_000) };
        let ranking = rank(&sample(), &request, &Weights::default());
        assert!(ranking.is_requested(), "{message}");
        assert_eq!(ranking.index().path(ranking.ranked_files()[0]), "src/main.py", "{message}");
    }
}

#[test]
fn definitions_of_examples_are_compared_with_each_other_if_no_other_file_has_the_words() {
    let files = [
        file("examples/berth.rs", vec![function("moor_ship", 1), function("row", 9)], &[]),
        file("src/lib.rs", vec![function("other", 1)], &[]),
    ];
    let request = MapRequest { message: "moor the ship twice".into(), ..MapRequest::default() };
    let ranking = rank(&files, &request, &Weights::default());
    let value = |row: &SymbolRow, feature: SymbolFeature| row.values[feature as usize];
    let rows = ranking.symbol_features();
    assert_eq!(value(&rows[0], SymbolFeature::TitleWords), 1.0);
    assert!(rows.iter().all(|row| value(row, SymbolFeature::TypeWords) == 0.0));
}

#[test]
fn mentioned_files_and_names_come_first() {
    let mut request = with_budget(10_000);
    request.mentioned_files = vec!["src/main.py".to_owned()];
    assert_eq!(&*build(&sample(), &request).files[0].path, "src/main.py");
    request = with_budget(10_000);
    request.mentioned_idents = vec!["draw_all".to_owned()];
    assert_eq!(&*build(&sample(), &request).files[0].path, "src/draw.py");
}

#[test]
fn pinned_files_come_first_and_banned_ones_never() {
    for message in ["", "drawing is slow"] {
        let request = MapRequest { message: message.to_owned(), ..with_budget(10_000) };
        let pinned = MapRequest { pinned: vec!["README.md".to_owned()], ..request.clone() };
        assert_eq!(&*build(&sample(), &pinned).files[0].path, "README.md");
        let banned = MapRequest { banned: vec!["src/shape.py".to_owned()], ..request };
        let map = build(&sample(), &banned);
        assert!(map.position("src/shape.py").is_none() && !map.text.contains("src/shape.py"));
    }
}

#[test]
fn edited_files_rank_higher() {
    let place = |edited: &[&str], message: &str| {
        let edited = edited.iter().map(|path| (*path).to_owned()).collect();
        let request = MapRequest { edited, message: message.to_owned(), ..with_budget(10_000) };
        build(&sample(), &request).position("src/main.py").unwrap()
    };
    for message in ["", "readme"] {
        assert!(place(&["src/main.py"], message) < place(&[], message), "{message}");
    }
}

#[test]
fn past_commits_raise_files_without_the_words() {
    let commit = |subject: &str, paths: &[&str]| PastCommit {
        subject: subject.to_owned(),
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..PastCommit::default()
    };
    let commits = vec![commit("Zoom into the drawing", &["src/main.py"]), commit("Other", &["src/shape.py"])];
    let history = History { commits, ..History::default() };
    // The second word is in the path of all files, so that the message is about some file.
    let request = MapRequest { message: "zoom src".to_owned(), ..with_budget(999) };
    let first = |weights: &Weights| {
        let graph = Arc::new(TagGraph::new(Arc::new(MapIndex::of(&sample())), &history, weights));
        RepoMap::of_ranking(Ranking::new(&graph, &request, weights), &request, &Characters).files[0].path.to_string()
    };
    assert_eq!(first(&Weights::default()), "src/main.py");
    assert_ne!(first(&Weights::default().without("history")), "src/main.py");
}

#[test]
fn an_import_raises_a_file() {
    let mut importing = file("app/menu.rs", vec![function("open_menu", 1)], &["paint"]);
    let imports = |tags: &FileTags| FileTags { imports: vec!["crate::colors".to_owned()], ..tags.clone() };
    importing.tags = Arc::new(imports(&importing.tags));
    let other = |path: &str| file(path, vec![function("paint", 1)], &[]);
    let files = [importing, other("app/colors.rs"), other("app/brush.rs")];
    let request = MapRequest { message: "open the menu".to_owned(), ..with_budget(999) };
    let second =
        |weights: &Weights| RepoMap::build_with(&files, &request, &Characters, weights).files[1].path.to_string();
    assert_eq!(second(&Weights::default()), "app/colors.rs");
    assert_eq!(second(&Weights::default().without("imports")), "app/brush.rs", "by path alone");
}

#[test]
fn a_name_with_a_local_definition_does_not_vote_elsewhere() {
    let files = vec![
        file("a.rs", vec![function("run", 1)], &["run", "run"]),
        file("b.rs", vec![function("run", 1)], &[]),
        file("c.rs", Vec::new(), &["run"]),
    ];
    let rank_of = |weights: &Weights, path: &str| {
        let ranking = rank(&files, &MapRequest::default(), weights);
        ranking.symbols_by_references().into_iter().find(|entry| entry.0 == path).map(|entry| entry.2).unwrap()
    };
    let everywhere = rank_of(&Weights::plain(), "b.rs");
    let at_home = rank_of(&Weights { prefer_local: true, ..Weights::plain() }, "b.rs");
    assert!(at_home < everywhere, "{at_home} {everywhere}");
}

#[test]
fn references_within_a_file_do_not_raise_it() {
    let files = vec![
        file("inward.rs", vec![function("turn", 1), function("spin", 5)], &["turn", "turn"]),
        file("caller.rs", Vec::new(), &["spin"]),
    ];
    let rank_of = |weights: &Weights| {
        let ranking = rank(&files, &MapRequest::default(), weights);
        ranking.files_by_references().into_iter().find(|entry| entry.0 == "inward.rs").map(|entry| entry.1).unwrap()
    };
    assert!(rank_of(&Weights::default()) < rank_of(&Weights { home: 1.0, ..Weights::default() }));
}

#[test]
fn explanations_are_the_references_that_raise_the_rank() {
    let map = build(&sample(), &with_budget(10_000));
    let references = references_to(&map, "src/shape.py", Some("make_circle"));
    let from: Vec<&str> = references.iter().map(|reference| reference.from.as_str()).collect();
    assert_eq!(from, ["src/draw.py", "src/main.py"]);
    assert!(references.iter().all(|reference| reference.ident == "make_circle" && reference.weight > 0.0));
    let file = references_to(&map, "src/shape.py", None);
    assert!(file.len() <= 5 && file.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
    assert!(references_to(&map, "src/main.py", Some("main")).is_empty(), "it has no callers");
    assert_eq!(map.top_references(&[99]), [TopReferences::default()]);
}

#[test]
fn references_within_a_file_explain_its_symbols_but_not_the_file() {
    let files = vec![
        file("inward.rs", vec![function("turn", 1), function("spin", 5)], &["turn", "turn"]),
        file("caller.rs", Vec::new(), &["spin"]),
    ];
    let map = build(&files, &with_budget(10_000));
    let from = |symbol| {
        references_to(&map, "inward.rs", symbol).into_iter().map(|reference| reference.from).collect::<Vec<_>>()
    };
    assert_eq!(from(None), ["caller.rs"]);
    assert_eq!(from(Some("turn")), ["inward.rs"]);
}

#[test]
fn words_in_a_body_count_and_the_map_has_paths_names_and_lines() {
    let mut files = many();
    let source =
        "/// Swaps the two halves.\npub fn compute(a: u8) -> u8 {\n    a.rotate_halves(4)\n}\n\nfn other() {}\n";
    let tags = rhumb_syntax::tags(rhumb_syntax::Language::by_name("rust").unwrap(), source);
    files.push(MapFile {
        path: "src/nibble.rs".to_owned(),
        digest: Arc::new(Digest::new(source, &tags, Depth::Whole)),
        tags: Arc::new(tags),
    });
    for message in ["rotating a half goes wrong", "why are halves swapped?", "see `rotateHalves`"] {
        let request = MapRequest { message: message.to_owned(), ..with_budget(600) };
        let map = build(&files, &request);
        assert_eq!(&*map.files[0].path, "src/nibble.rs", "{message}");
        assert_eq!(map.symbols(0)[0].name, "compute");
        assert!(map.text.contains("  pub fn compute(a: u8) -> u8 {\n"), "{}", map.text);
        assert!(map.text.lines().any(|line| line.ends_with(".rs")), "a path alone: {}", map.text);
    }
}

#[test]
fn a_definition_with_the_words_of_the_message_is_likelier_than_the_others_of_its_file() {
    let definitions = [("moor_ship", 9), ("row", 9), ("short", 2), ("test_row", 9)];
    let of_name = |(at, (name, lines)): (usize, (&str, u32))| {
        let line = 1 + 10 * at as u32;
        definition(name, SymbolKind::Function, (line, line + lines - 1), None)
    };
    let files = [file("src/berth.rs", definitions.into_iter().enumerate().map(of_name).collect(), &[])];
    let request = MapRequest { message: "moor the ship twice".into(), ..MapRequest::default() };
    let ranking = rank(&files, &request, &Weights::default());
    let scores = ranking.symbol_scores(0);
    assert!(scores.iter().all(|probability| (0.0..1.0).contains(probability)), "{scores:?}");
    assert!(scores[0] > scores[1] && scores[1] > scores[2] && scores[2] > scores[3], "{scores:?}");
}

#[test]
fn a_request_without_relevant_words_changes_nothing() {
    let request = MapRequest { message: "please fix it, thanks!".to_owned(), ..with_budget(200) };
    assert_eq!(build(&sample(), &request), build(&sample(), &with_budget(200)));
}

#[test]
fn a_repeated_name_is_shown_once_and_its_lines_each() {
    let definitions = vec![function("new", 1), function("new", 5), function("old", 9)];
    let files = [file("a.rs", definitions, &[])];
    let map = build(&files, &with_budget(10_000));
    assert_eq!(map.text.matches("new").count(), 2, "{}", map.text);
    let names = build(&files, &with_budget("a.rs: new old\n".len()));
    assert!(names.text.matches("new").count() <= 1, "{}", names.text);
}

#[test]
fn without_files_or_budget_the_map_is_empty() {
    assert_eq!(build(&[], &with_budget(100)).text, "");
    assert_eq!(build(&sample(), &with_budget(0)).text, "");
}

/// Forty files with long and short names that use each other.
fn many() -> Vec<MapFile> {
    let one = |index: usize| {
        let names: Vec<String> = (0..20).map(|n| format!("compute_part_{}", index * 20 + n)).collect();
        let definitions = (0u32..).zip(&names).map(|(line, name)| function(name, line * 5 + 1)).collect();
        let used: Vec<String> = (0..30).map(|n| format!("compute_part_{}", (index * 37 + n * 11) % 800)).collect();
        let used: Vec<&str> = used.iter().map(String::as_str).collect();
        file(&format!("src/part_{index:02}.rs"), definitions, &used)
    };
    (0..40).map(one).collect()
}

#[test]
fn the_budget_is_mostly_used_if_there_are_enough_files() {
    let counter = rhumb_tokens::counter_for_model("gpt-4o");
    let files = many();
    for budget in [256, 512, 1_024, 4_096] {
        let map = RepoMap::build(&files, &with_budget(budget), counter.as_ref());
        assert_eq!(counter.count(&map.text), map.tokens);
        assert!(map.tokens <= budget && map.tokens * 100 >= budget * 95, "{} of {budget}", map.tokens);
    }
}

/// The position of each file.
fn places(map: &RepoMap) -> std::collections::BTreeMap<String, usize> {
    map.files.iter().enumerate().map(|(place, file)| (file.path.to_string(), place)).collect()
}

#[test]
fn a_single_file_has_a_map() {
    let map = build(&[file("a.rs", vec![function("only", 1)], &["only"])], &with_budget(100));
    assert_eq!(map.text, "a.rs:\n  function only()\n");
    let in_chat = MapRequest { chat_files: vec!["a.rs".to_owned()], ..with_budget(100) };
    assert_eq!(build(&[file("a.rs", vec![function("only", 1)], &[])], &in_chat).text, "");
}

fn any_kind() -> impl Strategy<Value = SymbolKind> {
    prop::sample::select(vec![SymbolKind::Function, SymbolKind::Class, SymbolKind::Method, SymbolKind::Field])
}

prop_compose! {
    fn any_definition()(name in "[a-c_]{0,2}", kind in any_kind(), line in 0u32..40, end_line in prop_oneof![0u32..60, Just(u32::MAX)],
                        signature in "\\PC{0,30}", container in prop::option::of("[a-c]")) -> Definition {
        Definition { name, kind, line, end_line, signature, container, doc: String::new() }
    }
}

prop_compose! {
    fn any_file()(path in "[a-d/.\n]{0,6}", definitions in prop::collection::vec(any_definition(), 0..8),
                  references in prop::collection::vec("[a-c_]{0,2}", 0..12)) -> MapFile {
        let references = references.into_iter().map(|name| Reference { name, line: 1 }).collect();
        let tags = FileTags { definitions, references, ..FileTags::default() };
        MapFile { path, digest: Arc::new(Digest::new(&source(&tags), &tags, Depth::Whole)), tags: Arc::new(tags) }
    }
}

fn any_request() -> impl Strategy<Value = MapRequest> {
    let list = || prop::collection::vec("[a-d/.]{0,4}", 0..3);
    let style = prop::sample::select(vec![MapStyle::Tree, MapStyle::Outline]);
    let lists = (list(), list(), list(), list(), list(), list());
    (lists, "[a-d_ ./`(]{0,20}", prop_oneof![0usize..4, 0usize..600], style).prop_map(
        |(lists, message, budget, style)| {
            let (chat_files, mentioned_files, mentioned_idents, pinned, banned, edited) = lists;
            MapRequest { chat_files, mentioned_files, mentioned_idents, message, pinned, banned, edited, budget, style }
        },
    )
}

proptest! {
    #[test]
    fn the_budget_is_never_exceeded(files in prop::collection::vec(any_file(), 0..10), request in any_request()) {
        for counter in [&Characters as &dyn TokenCounter, &Overhead] {
            let map = RepoMap::build(&files, &request, counter);
            prop_assert_eq!(map.tokens, counter.count(&map.text));
            prop_assert!(map.tokens <= request.budget);
            let symbols = (0..map.files.len()).flat_map(|place| map.symbols(place));
            let ranks = map.files.iter().map(|file| file.rank).chain(symbols.map(|symbol| symbol.rank));
            prop_assert!(ranks.into_iter().all(|rank| rank.is_finite() && rank >= 0.0));
        }
    }

    #[test]
    fn the_order_of_the_files_does_not_matter(files in prop::collection::vec(any_file(), 0..10), request in any_request()) {
        let mut unique = files;
        unique.sort_by(|a, b| a.path.cmp(&b.path));
        unique.dedup_by(|a, b| a.path == b.path);
        let forward = RepoMap::build(&unique, &request, &Characters);
        unique.reverse();
        prop_assert_eq!(forward, RepoMap::build(&unique, &request, &Characters));
    }

    #[test]
    fn an_unrelated_file_hardly_moves_the_others(
        path in "(src|zoo)/[x-z]{3,9}\\.rs", names in prop::collection::vec("[x-z]{6,12}", 0..9), asked in any::<bool>()
    ) {
        let message = if asked { "compute part 77 and part 190 again" } else { "" };
        let request = MapRequest { message: message.to_owned(), ..with_budget(1_024) };
        let mut files = many();
        let before = places(&build(&files, &request));
        let definitions = (1u32..).zip(&names).map(|(line, name)| function(name, line * 3)).collect();
        files.push(file(&path, definitions, &[]));
        let after = places(&build(&files, &request));
        for (file, place) in &before {
            // One position for the new file itself, and some for files with nearly equal scores.
            prop_assert!(after[file].abs_diff(*place) <= 4, "{} from {} to {}", file, place, after[file]);
        }
    }

    #[test]
    fn the_ranks_of_all_files_sum_to_one(files in prop::collection::vec(any_file(), 1..10), request in any_request()) {
        let ranking = rank(&files, &request, &Weights::default());
        let sum: f64 = ranking.files_by_references().iter().map(|(_, rank)| rank).sum();
        prop_assert!((sum - 1.0).abs() < 1e-9, "{}", sum);
    }
}
