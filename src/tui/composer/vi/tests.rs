//! Tests of the vi keys, and of properties that hold for all of them.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

fn buffer(text: &str) -> Buffer {
    Buffer::new(text.to_owned(), 0)
}

/// Sends keys in normal mode, as the composer does: typed text is inserted at the cursor.
fn play(vi: &mut Vi, buffer: &mut Buffer, keys: &str) {
    for name in keys.split(' ') {
        let key = key::parse(name).unwrap();
        if vi.key(buffer, key) == ViOutcome::Typed
            && let KeyCode::Char(c) = key.code
        {
            let at = buffer.cursor;
            buffer.replace(at..at, c.encode_utf8(&mut [0; 4]));
            buffer.cursor += 1;
        }
    }
}

fn normal() -> Vi {
    let mut vi = Vi::default();
    vi.enter_normal_mode();
    vi
}

/// The text after the keys, with `|` before the cursor.
fn after(text: &str, keys: &str) -> String {
    let (mut vi, mut buffer) = (normal(), buffer(&text.replace('|', "")));
    buffer.cursor = text.find('|').map_or(0, |at| text[..at].graphemes(true).count());
    play(&mut vi, &mut buffer, keys);
    format!("{}|{}", buffer.slice(0..buffer.cursor), buffer.slice(buffer.cursor..buffer.len()))
}

#[test]
fn motions_lead_where_vi_leads() {
    let text = "|let a = foo(bar, 2);\n\n  return a\nend";
    for (keys, expected) in [
        ("w", "let |a"),
        ("3 w", "= |foo"),
        ("W W W", "= |foo"),
        ("e", "le|t"),
        ("$", "2)|;"),
        ("$ b", "2|);"),
        ("f ( ;", "foo|(bar"),
        ("t ,", "ba|r,"),
        ("$ F f", "|foo"),
        ("$ T (", "(|bar"),
        ("G", "|end"),
        ("G g g", "|let"),
        ("3 G", "  |return"),
        ("j j ^", "  |return"),
        ("}", ");\n|\n"),
        ("f ( %", "2|);"),
        ("l l l l k j", ");\n|\n"),
        ("l l l j j", "\n  r|eturn"),
        ("$ j j", "return |a"),
    ] {
        assert!(after(text, keys).contains(expected), "{keys}: {:?}", after(text, keys));
    }
}

#[test]
fn operators_take_motions_counts_and_objects() {
    for (text, keys, expected) in [
        ("|one two three", "d w", "|two three"),
        ("|one two three", "2 d w", "|three"),
        ("|one two three", "d 2 w", "|three"),
        ("one |two", "d w", "one| "),
        ("|one\ntwo", "d w", "|\ntwo"),
        ("one |two three", "d b", "|two three"),
        ("|one two", "d e", "| two"),
        ("one |two three", "d $", "one| "),
        ("one |two three", "D", "one| "),
        ("one |two", "d 0", "|two"),
        ("a\n|b\nc", "d d", "a\n|c"),
        ("a\n|b", "d d", "|a"),
        ("|a\nb\nc", "2 d d", "|c"),
        ("|a\nb\nc", "d G", "|"),
        ("a\n|b\nc", "d j", "|a"),
        ("|one two", "c w x Esc", "|x two"),
        ("|a two", "c w x Esc", "|x two"),
        ("one t|wo", "C x y Esc", "one tx|y"),
        ("a\n|b\nc", "c c x Esc", "a\n|x\nc"),
        ("say \"he|llo you\" now", "d i \"", "say \"|\" now"),
        ("say \"he|llo\" now", "d a \"", "say | now"),
        ("f(a, |g(b), c)", "d i (", "f(|)"),
        ("f(a, |(b), c)", "d a )", "f(a, |, c)"),
        ("one t|wo three", "d i w", "one | three"),
        ("one t|wo three", "d a w", "one |three"),
        ("one t|wo", "d a w", "on|e"),
        ("|abc", "x", "|bc"),
        ("a|bc", "X", "|bc"),
        ("|abc", "2 x", "|c"),
        ("|abc", "r x", "|xbc"),
        ("|abc", "2 r x", "x|xc"),
        ("|abc", "s x Esc", "|xbc"),
        ("|aBc", "3 ~", "Ab|C"),
        ("|a\n  b", "J", "a| b"),
        ("|abc", "d f c", "|"),
        ("|abc", "d t c", "|c"),
        ("|abc", "d f z", "|abc"),
        ("one\ntwo\n\n|x", "d {", "one\ntwo\n|x"),
    ] {
        assert_eq!(after(text, keys), expected, "{keys} on {text:?}");
    }
}

#[test]
fn what_was_taken_can_be_put() {
    for (text, keys, expected) in [
        ("|ab", "x p", "b|a"),
        ("|ab", "x P", "|ab"),
        ("|ab", "y l 3 p", "aaa|ab"),
        ("|a\nb", "d d p", "b\n|a"),
        ("|a\nb", "y y j p", "a\nb\n|a"),
        ("a\n|b", "y y P", "a\n|b\nb"),
        ("|one two", "y w $ p", "one twoone| "),
        ("|one two", "v e y w v e p", "one |one"),
    ] {
        let found = after(text, keys);
        assert_eq!(found.replace('|', ""), expected.replace('|', ""), "{keys} on {text:?}: {found:?}");
    }
}

#[test]
fn selections_are_operated_on() {
    for (text, keys, expected) in [
        ("|one two", "v e d", "| two"),
        ("|one two", "v w c x Esc", "|xwo"),
        ("a\n|b\nc", "V d", "a\n|c"),
        ("|a\nb\nc", "V j d", "|c"),
        ("one |two", "v i w y P", "one twotwo"),
        ("|abc", "v l r x", "|xxc"),
        ("|abc", "v Esc x", "|bc"),
    ] {
        assert_eq!(after(text, keys).replace('|', ""), expected.replace('|', ""), "{keys} on {text:?}");
    }
}

#[test]
fn insert_mode_is_entered_and_left_in_the_usual_places() {
    for (text, keys, expected) in [
        ("a|b", "i x Esc", "a|xb"),
        ("|ab", "a x Esc", "a|xb"),
        ("  a|b", "I x Esc", "  |xab"),
        ("|ab", "A x Esc", "ab|x"),
        ("|a\nb", "o x Esc", "a\n|x\nb"),
        ("a\n|b", "O x Esc", "a\n|x\nb"),
        ("|", "i x Esc", "|x"),
    ] {
        assert_eq!(after(text, keys), expected, "{keys} on {text:?}");
    }
}

#[test]
fn a_change_is_one_step_back_and_can_be_done_again() {
    assert_eq!(after("|one two", "c w x y Esc u"), "|one two");
    assert_eq!(after("|one two", "d w u Ctrl-r"), "|two");
    assert_eq!(after("|one two three", "d w . u"), "|two three");
    assert_eq!(after("|one two", "c w x y Esc w ."), "xy x|y");
    assert_eq!(after("|a\nb", "A ; Esc j ."), "a;\nb|;");
    assert_eq!(after("|a", "i x Esc A y Esc u u"), "|a");
    assert_eq!(after("|", "V y v p u"), "|");
}

#[test]
fn a_letter_of_several_characters_stays_whole() {
    assert_eq!(after("|e\u{301}日x", "x"), "|日x");
    assert_eq!(after("|a e\u{301}b c", "w d w"), "a |c");
}

const KEYS: &str = "h j k l w b e W 0 ^ $ G g { } % f F t ; , d c y x X D C s S r ~ J p P u . v V i a I A o O 2 3 ( \" Esc Esc                     Ctrl-r q Home Delete Up";

proptest! {
    #[test]
    fn the_cursor_stands_in_the_text_and_everything_can_be_taken_back(
        text in "[a-c (\"\n日]{0,20}", picks in prop::collection::vec(0usize..60, 0..40),
    ) {
        let (mut vi, mut buffer) = (normal(), buffer(&text));
        let keys: Vec<&str> = KEYS.split_whitespace().collect();
        for pick in picks {
            let name = keys[pick % keys.len()];
            play(&mut vi, &mut buffer, name);
            prop_assert!(buffer.cursor <= buffer.len());
            if vi.mode == Mode::Normal {
                prop_assert_eq!(buffer.cursor, buffer.on_cell(buffer.cursor), "{}", name);
            }
        }
        play(&mut vi, &mut buffer, "Esc Esc");
        for _ in 0..100 {
            play(&mut vi, &mut buffer, "u");
        }
        prop_assert_eq!(buffer.text(), &text);
    }

    /// Compares with a model: a deletion removes the text that a yank of the same motion copies, and keeps the text around it.
    #[test]
    fn a_deletion_takes_what_a_yank_takes(
        text in "[a-c (\n]{1,24}", at in 0usize..24, motion in prop::sample::select(vec!["w", "b", "e", "$", "0", "h", "l", "f b", "t b", "F a", "W", "}"]),
    ) {
        let start = || {
            let mut buffer = buffer(&text);
            buffer.cursor = buffer.on_cell(at);
            (normal(), buffer)
        };
        let ((mut yanks, mut kept), (mut deletes, mut cut)) = (start(), start());
        play(&mut yanks, &mut kept, &format!("y {motion}"));
        play(&mut deletes, &mut cut, &format!("d {motion}"));
        prop_assert_eq!(kept.text(), &text);
        prop_assert_eq!(&yanks.register, &deletes.register);
        if cut.text() != kept.text() {
            let taken = deletes.register.text.clone();
            prop_assert_eq!(cut.text().len() + taken.len(), text.len());
        }
    }
}
