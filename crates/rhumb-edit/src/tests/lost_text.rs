//! Replies with bytes that were no UTF-8.

use super::*;

fn after(reply: &str, text: &str) -> Result<String, String> {
    let proposal = proposed(reply, &[("src/a.py", text)]);
    match proposal.files.first() {
        Some(changed) => Ok(changed.proposed.as_deref().unwrap_or_default().to_owned()),
        None => Err(only(&proposal).reason.clone()),
    }
}

#[test]
fn text_that_was_lost_is_not_written_in_any_format() {
    let text = "def depth():\n    return \"caf\u{e9}\"\n";
    let (old, lost) = ("    return \"caf\u{e9}\"\n", "    return \"caf\u{fffd}s\"\n");
    for reply in [
        block("src/a.py", old, lost),
        block("src/a.py", old, &format!("{old}{lost}")),
        block("src/new.py", "", lost),
        format!("src/a.py\n```\ndef depth():\n{lost}```\n"),
        format!("src/new.py\n```\n{lost}```\n"),
        format!("```diff\n--- a/src/a.py\n+++ b/src/a.py\n@@ @@\n-{old}+{lost}```\n"),
        format!("*** Begin Patch\n*** Update File: src/a.py\n@@\n-{old}+{lost}*** End Patch\n"),
    ] {
        let reason = after(&reply, text).unwrap_err();
        assert!(reason.starts_with("damaged: the edit adds U+FFFD"), "{reason}\n{reply}");
    }
    let name = after(&block("src/caf\u{fffd}.py", "", "x = 1\n"), text).unwrap_err();
    assert!(name.contains("U+FFFD"), "{name}");
}

#[test]
fn marks_that_the_file_has_may_stay_move_and_go() {
    let text = "MARK = \"\u{fffd}\"\n\n\ndef depth():\n    return 1\n";
    for wanted in [
        text.replace("return 1", "return 2"),
        text.replace("MARK", "LOST"),
        text.replace("MARK = \"\u{fffd}\"", "MARK = \"?\""),
    ] {
        assert_eq!(after(&block("src/a.py", text, &wanted), text), Ok(wanted.clone()));
        assert_eq!(after(&format!("src/a.py\n```\n{wanted}```\n"), text), Ok(wanted));
    }
}
