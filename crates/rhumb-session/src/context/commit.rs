//! Requests for commit messages, and their answers.

use super::budget::Window;
use super::fence::fence_for;
use super::fill::fill;
use super::prompts::Prompts;
use rhumb_llm::{Message, Role};
use rhumb_tokens::TokenCounter;

/// Maximum length of the first line of a commit message in characters.
pub(super) const MAX_SUBJECT_CHARS: usize = 72;

/// Maximum tokens of the change, however large the window.
const MAX_CHANGE_TOKENS: usize = 16_384;

/// Maximum share of the request in the budget.
const REQUEST_DIVISOR: usize = 4;

/// Tokens for the overhead of messages.
const OVERHEAD_TOKENS: usize = 64;

/// Minimum budget of a change in tokens; with less no request is made.
const MIN_CHANGE_TOKENS: usize = 64;

/// The mark of a part that was left out.
const CUT_MARK: &str = "[… the rest is left out]\n";

/// The inputs of a request for a commit message.
#[derive(Clone, Copy)]
pub struct Committing<'a> {
    /// The request of the user; may be empty.
    pub request: &'a str,
    /// The change: for each file the path and its unified diff, or no diff if it must not be shown.
    pub change: &'a [(String, String)],
    /// The language of the message, if set.
    pub language: Option<&'a str>,
    /// The context window of the model.
    pub window: Window,
    /// The prompts.
    pub prompts: &'a Prompts,
    /// The token counter of the model.
    pub counter: &'a dyn TokenCounter,
}

/// The request for a commit message and its tokens; `None` if nothing of the change fits.
pub fn commit_request(committing: &Committing<'_>) -> Option<(Vec<Message>, usize)> {
    let Committing { counter, prompts, .. } = committing;
    let about = fill(prompts.text("commit"), &[("language", committing.language)]);
    let room =
        committing.window.max_input().checked_sub(counter.count(&about) + OVERHEAD_TOKENS)?.min(MAX_CHANGE_TOKENS);
    if room < MIN_CHANGE_TOKENS {
        return None;
    }
    let request = cut(committing.request.trim(), room / REQUEST_DIVISOR, *counter);
    let names = cut(&names(committing.change), room / REQUEST_DIVISOR, *counter);
    let left = room.saturating_sub(counter.count(&request) + counter.count(&names));
    let diff = shared_out(committing.change, left, *counter);
    let fence = fence_for([diff.as_str()]);
    let mut text = String::new();
    if !request.is_empty() {
        text.push_str(&format!("What was asked for:\n\n{request}\n\n"));
    }
    text.push_str(&format!("The files:\n\n{names}\nThe change:\n\n{fence}diff\n{diff}{fence}\n"));
    let tokens = counter.count(&about) + counter.count(&text) + OVERHEAD_TOKENS / 2;
    Some((vec![Message::new(Role::System, about), Message::new(Role::User, text)], tokens))
}

/// The message in an answer: its first meaningful line, without quotes and labels. `None` if there is none.
pub fn commit_message_in(answer: &str) -> Option<String> {
    let lines = answer.lines().map(plain).filter(|line| !line.is_empty() && !line.starts_with("```"));
    // Some models introduce the message.
    let mut lines = lines.filter(|line| !line.ends_with(':'));
    let line = lines.next()?;
    let line = unlabelled(&line);
    let bare = unquoted(unquoted(line).trim_start_matches(['#', '-', '>']));
    (!bare.is_empty()).then(|| shortened(bare))
}

/// Cuts the first line of a commit message between words if it is too long.
pub fn shortened(line: &str) -> String {
    let mut subject: String = line.chars().take(MAX_SUBJECT_CHARS).collect();
    if line.chars().count() > MAX_SUBJECT_CHARS {
        subject = line.chars().take(MAX_SUBJECT_CHARS - 1).collect();
        let cut = subject.rfind(' ').unwrap_or(subject.len());
        subject.truncate(cut);
        subject.push('…');
    }
    subject
}

/// The line without control characters and characters that hide or reverse text.
pub(super) fn plain(line: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    let spaced = line.replace('\t', " ");
    spaced.chars().filter(|c| !hidden(*c)).collect::<String>().trim().to_owned()
}

/// The line without a label such as `Commit message:`.
fn unlabelled(line: &str) -> &str {
    let label = |label: &str| {
        let head = line.get(..label.len())?;
        head.eq_ignore_ascii_case(label).then(|| line.get(label.len()..)).flatten()
    };
    ["commit message:", "**commit message:**", "message:", "subject:"]
        .iter()
        .find_map(|name| label(name))
        .unwrap_or(line)
}

/// The line without quotes around it.
fn unquoted(line: &str) -> &str {
    const PAIRS: [(char, char); 7] =
        [('"', '"'), ('\'', '\''), ('`', '`'), ('*', '*'), ('“', '”'), ('‘', '’'), ('«', '»')];
    let mut bare = line.trim();
    while let Some(inner) =
        PAIRS.iter().find_map(|(open, close)| bare.strip_prefix(*open)?.strip_suffix(*close)).map(str::trim)
    {
        bare = inner;
    }
    bare
}

/// The files with their numbers of added and removed lines.
fn names(change: &[(String, String)]) -> String {
    let counted = |text: &str, sign: char, header: &str| {
        text.lines().filter(|line| line.starts_with(sign) && !line.starts_with(header)).count()
    };
    let name = |(path, text): &(String, String)| {
        format!("{path} +{} -{}\n", counted(text, '+', "+++ "), counted(text, '-', "--- "))
    };
    change.iter().map(name).collect()
}

/// The diffs in at most `room` tokens. Small diffs leave their unused share to large ones.
fn shared_out(change: &[(String, String)], room: usize, counter: &dyn TokenCounter) -> String {
    let mut sizes: Vec<(usize, usize)> =
        change.iter().enumerate().map(|(at, (_, text))| (counter.count(text), at)).collect();
    sizes.sort_unstable();
    let mut given = vec![0; change.len()];
    let (mut left, mut files) = (room, sizes.len());
    for (size, at) in sizes {
        given[at] = size.min(left / files.max(1));
        left -= given[at];
        files -= 1;
    }
    change.iter().zip(given).map(|((_, text), room)| cut(text, room, counter)).collect()
}

/// The text, or its first lines in at most `room` tokens with a mark.
fn cut(text: &str, room: usize, counter: &dyn TokenCounter) -> String {
    if text.is_empty() || counter.count(text) <= room {
        return text.to_owned();
    }
    let Some(mut left) = room.checked_sub(counter.count(CUT_MARK)) else { return String::new() };
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        let tokens = counter.count(line);
        if tokens > left {
            break;
        }
        left -= tokens;
        kept.push_str(line);
    }
    if !kept.is_empty() && !kept.ends_with('\n') {
        kept.push('\n');
    }
    kept + CUT_MARK
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use rhumb_tokens::counter_for_model;

    #[test]
    fn what_models_put_around_a_message_is_taken_off() {
        for answer in [
            "fix(harbour): treat unknown names as depth zero",
            "\n\"fix(harbour): treat unknown names as depth zero\"\n",
            "```\nfix(harbour): treat unknown names as depth zero\n```",
            "```text\n`fix(harbour): treat unknown names as depth zero`\n```\nThat says it.",
            "Commit message: fix(harbour): treat unknown names as depth zero",
            "Here is the message:\n\n**fix(harbour): treat unknown names as depth zero**",
            "“fix(harbour): treat unknown names\u{202e} as\u{1b} depth zero”",
            "# fix(harbour): treat unknown names as depth zero",
        ] {
            let message = commit_message_in(answer);
            assert_eq!(message.as_deref(), Some("fix(harbour): treat unknown names as depth zero"), "{answer}");
        }
        for answer in ["", " \n\t", "```\n```", "\"\"", "Message:"] {
            assert_eq!(commit_message_in(answer), None, "{answer}");
        }
        assert_eq!(commit_message_in("say \"no\" twice").as_deref(), Some("say \"no\" twice"));
    }

    fn request(change: &[(String, String)], tokens: usize) -> Option<(String, usize)> {
        let counter = counter_for_model("gpt-4o");
        let committing = Committing {
            request: "Make it safe",
            change,
            language: None,
            window: Window { tokens, known: true },
            prompts: &Prompts::default(),
            counter: &*counter,
        };
        let (messages, tokens) = commit_request(&committing)?;
        assert!(messages[0].content.contains("72 characters") && !messages[0].content.contains("{language}"));
        let counted: usize = messages.iter().map(|message| counter.count(&message.content)).sum();
        assert!(counted <= tokens);
        Some((messages[1].content.clone(), tokens))
    }

    fn change(path: &str, lines: usize) -> (String, String) {
        let body: String = (0..lines).map(|n| format!("+let number_{n} = {n};\n")).collect();
        (path.to_owned(), format!("--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{lines} @@\n{body}"))
    }

    #[test]
    fn the_whole_change_goes_along_where_it_fits() {
        let (text, _) = request(&[change("a.rs", 3), change("b.rs", 1)], 8_192).unwrap();
        assert!(text.contains("Make it safe") && text.contains("a.rs +3 -0") && text.contains("+let number_2 = 2;"));
        assert!(!text.contains(CUT_MARK));
    }

    #[test]
    fn a_large_file_does_not_push_a_small_one_out() {
        let (text, tokens) = request(&[change("big.rs", 4_000), change("small.rs", 2)], 2_048).unwrap();
        assert!(tokens <= 2_048 * 7 / 8, "{tokens}");
        assert!(text.contains("b/small.rs\n@@ -0,0 +1,2 @@\n+let number_0 = 0;\n+let number_1 = 1;"), "{text}");
        assert!(text.contains("number_10 ") && text.contains(CUT_MARK) && text.contains("big.rs +4000 -0"));
        assert!(request(&[change("big.rs", 4_000)], 64).is_none());
    }

    proptest! {
        #[test]
        fn a_message_is_one_short_line_whatever_the_answer(answer in "\\PC{0,40}[\n\r\t\"'`#: a-z\u{1b}\u{202e}]{0,200}") {
            if let Some(message) = commit_message_in(&answer) {
                prop_assert!(!message.is_empty() && message.chars().count() <= MAX_SUBJECT_CHARS, "{message:?}");
                prop_assert!(!message.chars().any(char::is_control), "{message:?}");
            }
        }

        #[test]
        fn no_change_is_too_much_for_its_window(files in 1usize..40, lines in 0usize..200, tokens in 600usize..4_000) {
            let change: Vec<_> = (0..files).map(|n| change(&format!("src/file_{n}.rs"), lines)).collect();
            if let Some((_, asked)) = request(&change, tokens) {
                prop_assert!(asked <= Window { tokens, known: true }.max_input(), "{asked}");
            }
        }
    }
}
