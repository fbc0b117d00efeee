use proptest::prelude::*;

use super::*;

fn named(text: &str) -> Vec<String> {
    citations(text).iter().map(Citation::name).collect()
}

fn files(paths: &[&str]) -> FileNames {
    FileNames::new(&Arc::new(paths.iter().map(|path| (*path).to_owned()).collect()))
}

#[test]
fn places_are_found_as_models_write_them() {
    let cases = [
        ("See src/a.rs:12.", "src/a.rs:12"),
        ("(`src/a.rs:12-20`)", "src/a.rs:12-20"),
        ("src/a.rs:12–20, and more", "src/a.rs:12-20"),
        ("./src/a.rs:12:5: error", "src/a.rs:12"),
        ("`./src/a.rs:12:5`", "src/a.rs:12"),
        ("src/a.rs#L10-L20", "src/a.rs:10-20"),
        ("[it](src/a.rs#L10)", "src/a.rs:10"),
        ("src/a.rs#L10C4-L12C9", "src/a.rs:10-12"),
        ("src\\tui\\a.rs:7", "src/tui/a.rs:7"),
        ("**Makefile:3**", "Makefile:3"),
        ("`app/[id]/my page.tsx:4`", "app/[id]/my page.tsx:4"),
        ("größe.rs:20-10", "größe.rs:10-20"),
        ("a.rs:99999999999999", "a.rs:4294967295"),
        ("a.rs:L5-L6", "a.rs:5-6"),
        ("`moor` and b.rs:12 or `x`", "b.rs:12"),
        ("`moor` and b.rs:12`x`", "b.rs:12"),
    ];
    for (text, expected) in cases {
        assert_eq!(named(text), [expected], "{text}");
    }
}

#[test]
fn the_bytes_are_those_of_the_place_alone() {
    let text = "so: `src/a.rs:12-20`, b.rs#L3!";
    let found = citations(text);
    let cited: Vec<&str> = found.iter().map(|citation| &text[citation.bytes.clone()]).collect();
    assert_eq!(cited, ["src/a.rs:12-20", "b.rs#L3"]);
}

#[test]
fn addresses_times_and_ports_are_none() {
    for text in [
        "at 12:30 or 12:30-13:00",
        "https://example.org/a.rs:12 and http://localhost:8080/x.rs:3",
        "ssh://git@host.example:22/a.rs#L3",
        "127.0.0.1:8080",
        "a ratio of 3/4:5",
        "a.rs:12abc and a.rs:1.5",
        "..:3 and ../..:4 and :12 and a.rs: 12",
        "std::vec:: and x::y",
    ] {
        assert_eq!(named(text), Vec::<String>::new(), "{text}");
    }
    let known = files(&["src/a.rs", "Makefile"]);
    let is_one = |text: &str| citations(text).iter().all(|citation| known.is_citation(citation));
    for text in ["localhost:8080", "example.com:443", "origin/main:12", "step:3", "docs/Makefil:3"] {
        assert!(!is_one(text), "{text}");
    }
    for text in ["Makefile:2", "b.rs:4", "lib/b.py:4", "a.rs:1"] {
        assert!(is_one(text), "{text}");
    }
}

#[test]
fn a_citation_leads_to_lines_or_nowhere() {
    let known = files(&["src/a.rs", "src/b/mod.rs", "src/c/mod.rs"]);
    let lines = |path: &str| (path != "src/c/mod.rs").then_some(10);
    let aim = |text: &str| known.aim(&citations(text)[0], lines);
    let to = |path: &str| Aim::Lines(vec![path.to_owned()]);
    assert_eq!(aim("src/a.rs:10"), to("src/a.rs"));
    assert_eq!(aim("a.rs:1-10"), to("src/a.rs"), "the end of one path");
    assert_eq!(aim("b/mod.rs:3"), to("src/b/mod.rs"));
    assert_eq!(aim("/home/mira/ship/src/a.rs:3"), to("src/a.rs"));
    assert_eq!(aim("C:\\ship\\src\\a.rs:3"), to("src/a.rs"));
    assert_eq!(aim("a.rs:11"), Aim::Beyond("src/a.rs".into(), 10));
    assert_eq!(aim("a.rs:5-11"), Aim::Beyond("src/a.rs".into(), 10));
    assert_eq!(aim("a.rs:0"), Aim::Beyond("src/a.rs".into(), 10));
    assert_eq!(aim("lib/a.rs:1"), Aim::NoFile, "another folder is another file");
    assert_eq!(aim("sa.rs:1"), Aim::NoFile);
    assert_eq!(aim("c/mod.rs:1"), Aim::Uncounted(vec!["src/c/mod.rs".into()]));
    assert_eq!(aim("mod.rs:1"), Aim::Uncounted(vec!["src/b/mod.rs".into(), "src/c/mod.rs".into()]));
    let all = known.aim(&citations("mod.rs:1")[0], |_| Some(3));
    assert_eq!(all, Aim::Lines(vec!["src/b/mod.rs".into(), "src/c/mod.rs".into()]));
}

fn path() -> impl Strategy<Value = String> {
    proptest::string::string_regex("([a-z_][a-z0-9_-]{0,6}/){0,3}[a-z][a-z0-9_-]{0,6}\\.(rs|py|ts)").unwrap()
}

proptest! {
    #[test]
    fn whatever_the_text_citations_are_in_order_apart_and_inside_it(text in any::<String>()) {
        let found = citations(&text);
        prop_assert!(found.windows(2).all(|pair| pair[0].bytes.end <= pair[1].bytes.start));
        for citation in &found {
            prop_assert!(text.get(citation.bytes.clone()).is_some() && citation.first <= citation.last);
            files(&["a.rs"]).aim(citation, |_| Some(1));
        }
    }

    #[test]
    fn what_is_written_is_found(
        path in path(), first in 1u32..5_000, more in 0u32..50, form in 0usize..6, before in "[ (*\n]", after in "[ ,)*\n]",
    ) {
        let last = first + more;
        let written = match form {
            0 => format!("{path}:{first}-{last}"),
            1 => format!("`{path}:{first}-{last}`"),
            2 => format!("{path}#L{first}-L{last}"),
            3 => format!("./{path}:{first}–{last}"),
            4 => format!("`{}:{first}-{last}`", path.replace('/', "\\")),
            _ => format!("{}#L{first}-{last}", path.replace('/', "\\")),
        };
        let found = citations(&format!("word{before}{written}{after}word 12:30"));
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!((found[0].path.as_str(), found[0].first, found[0].last), (path.as_str(), first, last));
        let names = files(&[&path, "zz/other.md"]);
        prop_assert!(names.aim(&found[0], |_| Some(last - 1)).is_nowhere());
        prop_assert_eq!(names.aim(&found[0], |_| Some(last)), Aim::Lines(vec![path]));
    }
}
