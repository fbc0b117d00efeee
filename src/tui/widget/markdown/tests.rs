//! Tests of rendering, streaming, and limits for arbitrary input.

use insta::assert_snapshot;
use proptest::prelude::*;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

use super::*;
use crate::tui::theme::{ColorDepth, Role};
use rhumb_text::width;

const TOUR: &str = "\
# Weigh anchor before the tide turns and the harbour empties

The harbour master moved the *slow* check out of the **loop**, so `depth()` runs once. See [the log](https://sea.example/log).

- sound the depth of the channel, twice if the water is murky
  - by lead line
  - by eye
    1. from the bow
- [x] weigh
- [ ] set sail

> Calm seas never made
> a skilled sailor.

```rust
fn depth(line: &Line) -> f64 {\n\tline.marks.iter().map(|mark| mark.fathoms).sum::<f64>()
}
```

| vessel | tonnage | notes |
|:-------|--------:|:-----:|
| Brigantine | 180 | two masts, square on the fore |
| Sloop | 65 | one |

---

3. three

4. four
";

fn theme() -> Theme {
    Theme::builtin("rhumb-dark", ColorDepth::True).unwrap()
}

fn plain(lines: &[Line<'_>]) -> String {
    lines.iter().map(|line| line.spans.iter().map(|span| span.content.as_ref()).collect::<String>() + "\n").collect()
}

fn rendered(source: &str, width: u16) -> String {
    let text = plain(&render(source, width, &theme(), &no_highlight));
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[test]
fn every_kind_of_block_at_40_columns() {
    assert_snapshot!(rendered(TOUR, 40), @r"
    # Weigh anchor before the tide turns and
      the harbour empties

    The harbour master moved the slow check
    out of the loop, so depth() runs once.
    See the log (https://sea.example/log).

    • sound the depth of the channel, twice
      if the water is murky
      ◦ by lead line
      ◦ by eye
        1. from the bow
    ☑ weigh
    ☐ set sail

    ▌ Calm seas never made a skilled sailor.

    ╭ rust
    │ fn depth(line: &Line) -> f64 {
    │     line.marks.iter().map(|mark| mark.
    │↪fathoms).sum::<f64>()
    │ }

    vessel     │ tonnage │       notes
    ───────────┼─────────┼──────────────────
    Brigantine │     180 │ two masts, square
               │         │    on the fore
    ───────────┼─────────┼──────────────────
    Sloop      │      65 │        one

    ────────────────────────────────────────

    3. three

    4. four
    ");
}

#[test]
fn every_kind_of_block_at_80_columns() {
    assert_snapshot!(rendered(TOUR, 80), @r"
    # Weigh anchor before the tide turns and the harbour empties

    The harbour master moved the slow check out of the loop, so depth() runs once.
    See the log (https://sea.example/log).

    • sound the depth of the channel, twice if the water is murky
      ◦ by lead line
      ◦ by eye
        1. from the bow
    ☑ weigh
    ☐ set sail

    ▌ Calm seas never made a skilled sailor.

    ╭ rust
    │ fn depth(line: &Line) -> f64 {
    │     line.marks.iter().map(|mark| mark.fathoms).sum::<f64>()
    │ }

    vessel     │ tonnage │             notes
    ───────────┼─────────┼──────────────────────────────
    Brigantine │     180 │ two masts, square on the fore
    Sloop      │      65 │              one

    ────────────────────────────────────────────────────────────────────────────────

    3. three

    4. four
    ");
}

#[test]
fn blocks_nest_in_quotes_and_lists() {
    let source = "> # top\n> a\n> ## next\n>\n> - b\n>\n>   c\n> - d\n>\n> ```\n> x\n> ```\n\n> [!WARNING]\n> shoal\n\n1. do\n   ```sh\n   ls\n   ```\n   then\n2. go\n";
    assert_snapshot!(rendered(source, 40), @r"
    ▌ # top
    ▌
    ▌ a
    ▌
    ▌ ## next
    ▌
    ▌ • b
    ▌
    ▌   c
    ▌
    ▌ • d
    ▌
    ▌ │ x

    ▌ Warning
    ▌ shoal

    1. do
       ╭ sh
       │ ls

       then
    2. go
    ");
}

#[test]
fn a_table_without_room_for_columns_becomes_fields() {
    let source = "| vessel | crew | port of call |\n|-|-|-|\n| Sloop | 4 | *Bergen* |\n| Brigantine | 16 | Lisbon |";
    assert_snapshot!(rendered(source, 20), @r"
    vessel: Sloop
    crew: 4
    port of call: Bergen

    vessel: Brigantine
    crew: 16
    port of call: Lisbon
    ");
}

#[test]
fn what_is_no_block_is_shown_as_written() {
    let source =
        "see [chart]\n\n[chart]: https://sea.example\n\n<div>\nx\n</div>\n\na <b>c</b> <https://x.y> ![map](c.png)\n";
    assert_snapshot!(rendered(source, 60), @r"
    see [chart]

    [chart]: https://sea.example

    <div>
    x
    </div>

    a <b>c</b> https://x.y map (c.png)
    ");
}

#[test]
fn a_link_definition_inside_of_something_is_shown_too() {
    let source = "> see [a]\n>\n> [a]: https://sea.example\n\n- b\n\n  [c]: /d\n- e\n";
    assert_snapshot!(rendered(source, 60), @r"
    ▌ see a (https://sea.example)
    ▌
    ▌ [a]: https://sea.example

    • b

      [c]: /d

    • e
    ");
}

#[test]
fn nothing_from_outside_drives_the_terminal() {
    let source =
        "a\x1b[31m &#27;[2J &#x202e;\n\n```sh\x07\n\x1b]0;t\x07\u{9b}\n```\n\n[\x1b](http://\x1b)\n\n|\x1b|\n|-|\n";
    let text = rendered(source, 60);
    assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
    assert!(text.contains("␛[31m ␛[2J <U+202E>"), "{text}");
}

#[test]
fn crlf_reads_as_lf() {
    assert_eq!(rendered(&TOUR.replace('\n', "\r\n"), 60), rendered(TOUR, 60));
}

#[test]
fn code_takes_the_colours_of_its_highlighter() {
    let red = Style::default().fg(Color::Red);
    let code = |language: &str, code: &str| {
        assert_eq!((language, code), ("rust", "let x;\nlet y;"));
        vec![vec![("let".to_owned(), red), (" x;".to_owned(), Style::default())], vec![("lie".to_owned(), red)]]
    };
    let lines = render("```rust,ignore\nlet x;\nlet y;\n```", 40, &theme(), &code);
    let shown: Vec<String> = lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect();
    assert_eq!(shown, ["╭ rust,ignore", "│ let x;", "│ let y;"]);
    assert_eq!((lines[1].spans[1].content.as_ref(), lines[1].spans[1].style.fg), ("let", Some(Color::Red)));
    assert!(
        lines[2].spans.iter().all(|span| span.style.fg != Some(Color::Red)),
        "pieces that do not join are not used"
    );
    let background = theme().style(Role::CodeBg).bg;
    assert!(lines.iter().all(|line| line.width() == 40), "the ground reaches the edge");
    assert!(lines.iter().flat_map(|line| &line.spans).all(|span| span.style.bg == background));
}

#[test]
fn inline_styles_nest() {
    let lines = render("**bold *both*** ~~gone~~", 40, &theme(), &no_highlight);
    let find = |word: &str| lines[0].spans.iter().find(|span| span.content == word).unwrap().style.add_modifier;
    assert_eq!(find("both"), Modifier::BOLD | Modifier::ITALIC);
    assert_eq!(find("gone"), Modifier::CROSSED_OUT);
}

#[test]
fn a_finished_block_is_rendered_once() {
    let calls = std::cell::Cell::new(0);
    let code = |_: &str, _: &str| {
        calls.set(calls.get() + 1);
        Vec::new()
    };
    let mut stream = StreamingMarkdown::new();
    stream.push("```\nx\n```\n\nthen\n");
    stream.lines(40, &theme(), &code);
    let before = calls.get();
    for word in ["and\n", "now ", "more\n\n", "# end"] {
        stream.push(word);
        stream.lines(40, &theme(), &code);
    }
    assert_eq!(calls.get(), before);
    stream.lines(41, &theme(), &code);
    assert!(calls.get() > before, "another width renders again");
}

/// Pieces at whose joints a parser may interpret the text before differently.
fn fragment() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\n", "\n", "\n\n", " ", "  ", "    ", "\t", "a", "word ", "long-word", "日本", "#", "# ", "-", "- ", "* ",
        "1. ", "2) ", "> ", "```", "```rs\n", "~~~", "`", "**", "_", "|", "a|b\n", "-|-\n", "|:-:|", "---", "===",
        "[a]", "[a]: /b\n", "(u)", "![", "]", "<div>", "</div>", "<!--", "-->", "<", "&#27;", "\\", "[x] ", "- [ ] ",
        "\r\n", "\r", "\x1b", "\0", "[!NOTE]", "\u{feff}",
    ]);
    prop_oneof![9 => pieces.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn streaming_gives_the_same_lines_as_rendering_the_whole(parts in prop::collection::vec(fragment(), 0..40), width in 10u16..50) {
        let theme = Theme::plain(ColorDepth::None);
        let mut stream = StreamingMarkdown::new();
        for count in 1..=parts.len() {
            stream.push(&parts[count - 1]);
            let whole = render(&parts[..count].concat(), width, &theme, &no_highlight);
            prop_assert_eq!(plain(stream.lines(width, &theme, &no_highlight)), plain(&whole), "{:?}", stream.source());
        }
    }

    #[test]
    fn every_line_fits_and_is_safe(parts in prop::collection::vec(fragment(), 0..60), width in 10u16..50) {
        let theme = Theme::plain(ColorDepth::None);
        for line in render(&parts.concat(), width, &theme, &no_highlight) {
            let text = plain(&[line]);
            let text = text.trim_end_matches('\n');
            prop_assert!(width::columns(text) <= usize::from(width), "{:?} in {:?}", text, parts.concat());
            prop_assert!(!text.chars().any(char::is_control));
        }
    }

    #[test]
    fn any_text_renders(source in any::<String>(), width in 0u16..30) {
        render(&source, width, &Theme::plain(ColorDepth::None), &no_highlight);
    }
}

#[test]
fn a_block_beyond_all_measure_is_not_rendered_anew_for_every_line() {
    let renderings = std::cell::Cell::new(0);
    let counting = |_: &str, code: &str| {
        renderings.set(renderings.get() + usize::from(code.len() > 100_000));
        Vec::new()
    };
    let theme = Theme::plain(ColorDepth::None);
    for (start, end) in [("```text\n", "```\n"), ("", "")] {
        let mut stream = StreamingMarkdown::new();
        stream.push(start);
        for number in 0..150 {
            stream.push(&"a block that has no end in sight\n".repeat(60));
            stream.push(&format!("line {number}\n"));
            let lines = stream.lines_with(" ", 60, &theme, &counting);
            let shown: String = lines.iter().skip(lines.len().saturating_sub(4)).map(ToString::to_string).collect();
            assert!(shown.replace(' ', "").contains(&format!("line{number}")), "{shown}");
        }
        stream.push(end);
        stream.forget();
        let whole = render(stream.source(), 60, &theme, &no_highlight);
        assert_eq!(stream.lines(60, &theme, &no_highlight), whole);
    }
    // Without the limit, each piece would cause a rendering.
    assert!((1..40).contains(&renderings.get()), "{}", renderings.get());
}
