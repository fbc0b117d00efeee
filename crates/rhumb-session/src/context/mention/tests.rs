use super::*;
use proptest::prelude::*;

const PATHS: [&str; 12] = [
    "Makefile",
    "README.md",
    "app/(site)/[id]/page.tsx",
    "build",
    "docs/my notes.md",
    "lib/mod.rs",
    "src/__init__.py",
    "src/mod.rs",
    "src/net/http-client.rs",
    "src/net/url.rs",
    "src/tide.rs",
    "tests/tide_table.rs",
];

fn paths() -> Vec<String> {
    PATHS.iter().map(|path| (*path).to_owned()).collect()
}

fn symbol(name: &str) -> Option<String> {
    match name {
        "high_water" | "Tide" => Some("src/tide.rs".into()),
        "get" | "strict" | "Result" | "TIDE" => Some("src/net/http-client.rs".into()),
        _ => None,
    }
}

fn found_with(text: &str, chat: &[&str]) -> Vec<(String, String)> {
    let (paths, chat) = (paths(), chat.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>());
    let known = KnownFiles { paths: &paths, chat: &chat, symbol: &symbol };
    mentions(text, &known).into_iter().map(|mention| (text[mention.range].to_owned(), mention.path)).collect()
}

fn found(text: &str) -> Vec<String> {
    found_with(text, &[]).into_iter().map(|(_, path)| path).collect()
}

#[test]
fn a_path_is_found_however_it_is_written() {
    for text in [
        "src/tide.rs",
        "look at src/tide.rs.",
        "src/tide.rs:12",
        "src/tide.rs:12-20 and on",
        "src/tide.rs:12:3: error",
        "src/tide.rs#L10",
        "src/tide.rs#L10-L20",
        "src/tide.rs(12,3): error",
        "(src/tide.rs)",
        "[src/tide.rs]",
        "\"src/tide.rs\"",
        "'src/tide.rs'?",
        "“src/tide.rs”",
        "`src/tide.rs`",
        "**src/tide.rs**:",
        "_src/tide.rs_",
        "**`src/tide.rs`** — why",
        "[the tide](src/tide.rs#L3)",
        "[the tide](./src/tide.rs).",
        "./src/tide.rs",
        ".\\src\\tide.rs",
        "src\\tide.rs:4",
        "<src/tide.rs>",
        "- src/tide.rs - the table",
        "file=src/tide.rs",
        "src/tide.rs's table",
        "tide.rs",
        "the file tide.rs, line 4",
        "File: `tide.rs`",
        "src/tide.rs,",
        "| src/tide.rs |",
        "1. src/tide.rs:",
        "@src/tide.rs",
    ] {
        assert_eq!(found(text), ["src/tide.rs"], "{text}");
    }
}

#[test]
fn a_path_with_spaces_is_found_quoted_or_not() {
    for text in [
        "see docs/my notes.md for it",
        "see \"docs/my notes.md\"",
        "`docs/my notes.md`:",
        "[n](docs/my%20notes.md)",
        "see ./docs/my notes.md.",
        "'docs\\my notes.md'",
        "docs\\my notes.md",
        "`my notes.md`",
    ] {
        assert_eq!(found(text), ["docs/my notes.md"], "{text}");
    }
    for text in ["docs/my notes.mdx", "old-docs/my notes.md", "docs/my notes.md.bak"] {
        assert!(!found(text).contains(&"docs/my notes.md".to_owned()), "{text}");
    }
}

#[test]
fn unusual_names_are_found() {
    assert_eq!(found("in app/(site)/[id]/page.tsx:4"), ["app/(site)/[id]/page.tsx"]);
    assert_eq!(found("src/__init__.py and __init__.py"), ["src/__init__.py", "src/__init__.py"]);
    assert_eq!(found("the Makefile builds it"), ["Makefile"]);
    assert_eq!(found("a,b src/tide.rs,README.md"), ["src/tide.rs", "README.md"]);
    assert_eq!(found("net/url.rs"), ["src/net/url.rs"], "the end of one path");
}

#[test]
fn words_and_ambiguous_names_are_no_mentions() {
    for text in [
        "please build it and see",
        "mod.rs",
        "src/other.rs",
        "https://example.org/src/tide.rs",
        "xsrc/tide.rs",
        "tide",
        "",
    ] {
        assert!(found(text).is_empty(), "{text}: {:?}", found(text));
    }
    assert_eq!(found("`build`"), ["build"], "quoted, it is meant as a name");
}

#[test]
fn a_symbol_is_a_mention_if_it_is_code_and_one_file_defines_it() {
    assert_eq!(found_with("fix `high_water` now", &[]), [("high_water".into(), "src/tide.rs".into())]);
    assert_eq!(found_with("fix high_water() now", &[]), [("high_water".into(), "src/tide.rs".into())]);
    assert_eq!(found("`Tide::high_water(3)`"), ["src/tide.rs"]);
    assert_eq!(found("`Tide`"), ["src/tide.rs"]);
    for text in ["the high_water mark", "`get`", "get()", "`nothing_here`", "Tide and time"] {
        assert!(found(text).is_empty(), "{text}");
    }
}

#[test]
fn a_common_word_is_no_mention_even_if_only_one_file_defines_it() {
    for text in ["what is `strict` for?", "`strict: bool`", "strict()", "it returns a `Result`", "`TIDE`"] {
        assert!(found(text).is_empty(), "{text}");
    }
}

#[test]
fn what_is_in_the_chat_is_not_offered() {
    assert!(found_with("src/tide.rs and `high_water`", &["src/tide.rs"]).is_empty());
    assert!(found_with("mod.rs", &["src/mod.rs"]).is_empty(), "the one in the chat is meant");
}

#[test]
fn edits_and_fences_of_an_answer_are_no_prose() {
    let answer = "Look at README.md.\n\nsrc/tide.rs\n```rust\n<<<<<<< SEARCH\nlib/mod.rs\n=======\nsrc/mod.rs\n>>>>>>> \
                  REPLACE\n```\n\n~~~\nsrc/net/url.rs\n~~~\nAnd tests/tide_table.rs é.\n";
    let prose = prose(answer);
    assert_eq!(prose.len(), answer.len());
    let paths = found(&prose);
    assert!(paths.contains(&"README.md".to_owned()) && paths.contains(&"tests/tide_table.rs".to_owned()), "{paths:?}");
    for path in ["lib/mod.rs", "src/mod.rs", "src/net/url.rs"] {
        assert!(!paths.contains(&path.to_owned()), "{paths:?}");
    }
}

/// A notation of a path, with a text before and after it.
fn written() -> impl Strategy<Value = (&'static str, &'static str, bool)> {
    let forms = [
        ("", "", true),
        ("`", "`", true),
        ("\"", "\"", true),
        ("'", "'", true),
        ("(", ")", true),
        ("[", "]", true),
        ("**", "**", true),
        ("**`", "`**:", true),
        ("[x](", ")", true),
        ("<", ">", true),
        ("./", "", true),
        ("", ":12", true),
        ("", ":12-34", true),
        ("", "#L7", true),
        ("", ",", true),
        ("", ".", true),
        ("“", "”", true),
        ("", "", false),
        ("`", "`", false),
    ];
    prop::sample::select(forms.to_vec())
}

proptest! {
    #[test]
    fn a_path_in_any_form_is_found(
        path in prop::sample::select(PATHS.to_vec()),
        (open, close, slashes) in written(),
        before in "[a-z]{0,6}", after in "[a-z]{0,6}",
    ) {
        prop_assume!(path != "build" || open == "`");
        let name = if slashes { path.to_owned() } else { path.replace('/', "\\") };
        let text = format!("{before} {open}{name}{close} {after}");
        let named = found_with(&text, &[]);
        prop_assert!(named.iter().any(|(_, found)| found == path), "{} in {:?}: {:?}", path, text, named);
    }

    #[test]
    fn any_text_can_be_read(text in "(\\PC|[\\n`@/.:()\\[\\]\"'*<>#L0-9]|src/tide.rs|mod.rs){0,60}") {
        let (paths, chat) = (paths(), Vec::new());
        let known = KnownFiles { paths: &paths, chat: &chat, symbol: &symbol };
        let mut end = 0;
        for mention in mentions(&text, &known) {
            prop_assert!(mention.range.start >= end && text.get(mention.range.clone()).is_some());
            end = mention.range.end;
            prop_assert!(paths.contains(&mention.path));
        }
        for at in at_references(&text) {
            prop_assert!(text.get(at.range.clone()).is_some_and(|shown| shown.starts_with('@')));
            at_target(&at.name, &paths, &|_| false);
        }
        prop_assert_eq!(prose(&text).len(), text.len());
    }
}
