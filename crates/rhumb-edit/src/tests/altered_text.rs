//! Replies with masked keys, and with bytes that were not UTF-8.

use super::*;
use rhumb_text::secrets::masked;

/// A file with a key. The key is built here so that no file of this repository contains one.
fn file() -> String {
    let key = concat!("ghp", "_Kq7Zp2Xw9Rt4Vy6Bn3Hm8Jd5Gf1LsCcTeUgA");
    format!("import tides\n\nTOKEN = \"{key}\"\n\ndef depth():\n    return 1\n")
}

fn mask() -> String {
    masked(&file()).lines().nth(2).unwrap().to_owned()
}

fn after(reply: &str) -> Result<String, String> {
    let proposal = proposed(reply, &[("src/a.py", &file())]);
    let outcome = only(&proposal);
    match proposal.files.first() {
        Some(changed) => Ok(changed.proposed.as_deref().unwrap_or_default().to_owned()),
        None => Err(outcome.reason.clone()),
    }
}

#[test]
fn a_masked_line_that_is_quoted_stays_what_it_is() {
    let quote = format!("{}\n\ndef depth():\n    return 1\n", mask());
    let wanted = file().replace("return 1", "return 2");
    assert_eq!(after(&block("src/a.py", &quote, &quote.replace("return 1", "return 2"))), Ok(wanted.clone()));
    let diff = format!(
        "```diff\n--- a/src/a.py\n+++ b/src/a.py\n@@ @@\n {}\n \n def depth():\n-    return 1\n+    return 2\n```\n",
        mask()
    );
    assert_eq!(after(&diff), Ok(wanted.clone()));
    let whole = format!("src/a.py\n```\n{}```\n", masked(&wanted));
    assert_eq!(after(&whole), Ok(wanted));
}

#[test]
fn a_masked_line_can_be_taken_out() {
    let without = block("src/a.py", &format!("{}\n", mask()), "TOKEN = os.environ[\"TOKEN\"]\n");
    let line = file().lines().nth(2).unwrap().to_owned();
    assert_eq!(after(&without), Ok(file().replace(&line, "TOKEN = os.environ[\"TOKEN\"]")));
}

#[test]
fn a_mask_is_never_written() {
    let line = mask();
    let renamed = line.replace("TOKEN", "KEY");
    let depth = "def depth():\n    return 1\n";
    let added = format!("def depth():\n    key = {}\n    return 1\n", line.split_once(" = ").unwrap().1);
    for reply in [
        block("src/a.py", &format!("{line}\n"), &format!("{renamed}\n")),
        block("src/a.py", depth, &added),
        block("src/new.py", "", &format!("{line}\n")),
        format!("src/a.py\n```\n{renamed}\n\ndef depth():\n    return 1\n```\n"),
        format!("```diff\n--- a/src/a.py\n+++ b/src/a.py\n@@ @@\n-{line}\n+{renamed}\n```\n"),
    ] {
        let reason = after(&reply).unwrap_err();
        assert!(reason.starts_with("masked: "), "{reason}\n{reply}");
    }
}

#[test]
fn keys_with_equal_masks_are_not_confused() {
    let key = |end: &str| format!("    \"{}{end}\",\n", concat!("ghp", "_Kq7Zp2Xw9Rt4Vy6Bn3Hm8Jd5Gf1LsCcTeU"));
    let text = format!("KEYS = [\n{}{}]\nx = 1\n", key("gA"), key("gB"));
    let shown = masked(&text).into_owned();
    let reply = format!("src/a.py\n```\n{}```\n", shown.replace("x = 1", "x = 2"));
    let proposal = proposed(&reply, &[("src/a.py", &text)]);
    assert!(proposal.files.is_empty() && only(&proposal).reason.starts_with("masked: "), "{proposal:?}");
    let beside = block("src/a.py", "x = 1\n", "x = 2\n");
    assert_eq!(proposed(&beside, &[("src/a.py", &text)]).files.len(), 1, "the rest of the file can be changed");
}

fn after_in(reply: &str, text: &str) -> Result<String, String> {
    let proposal = proposed(reply, &[("src/a.py", text)]);
    match proposal.files.first() {
        Some(changed) => Ok(changed.proposed.as_deref().unwrap_or_default().to_owned()),
        None => Err(only(&proposal).reason.clone()),
    }
}

#[test]
fn replacement_characters_are_not_written_in_any_format() {
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
        let reason = after_in(&reply, text).unwrap_err();
        assert!(reason.starts_with("damaged: the edit adds U+FFFD"), "{reason}\n{reply}");
    }
    let name = after_in(&block("src/caf\u{fffd}.py", "", "x = 1\n"), text).unwrap_err();
    assert!(name.contains("U+FFFD"), "{name}");
}

#[test]
fn replacement_characters_of_the_file_may_stay_move_and_go() {
    let text = "MARK = \"\u{fffd}\"\n\n\ndef depth():\n    return 1\n";
    for wanted in [
        text.replace("return 1", "return 2"),
        text.replace("MARK", "LOST"),
        text.replace("MARK = \"\u{fffd}\"", "MARK = \"?\""),
    ] {
        assert_eq!(after_in(&block("src/a.py", text, &wanted), text), Ok(wanted.clone()));
        assert_eq!(after_in(&format!("src/a.py\n```\n{wanted}```\n"), text), Ok(wanted));
    }
}
