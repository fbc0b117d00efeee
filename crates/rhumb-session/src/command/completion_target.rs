//! The text at the cursor that can be completed: the name of a command, an argument, or a reference with `@`.

use super::{Argument, CommandInfo, find_command};

/// The kind of text at the cursor.
#[derive(Debug, Clone, Copy)]
pub enum CompletionKind {
    /// The name of a command.
    Command,
    /// An argument of this command, after this number of arguments.
    Argument(&'static CommandInfo, usize),
    /// A reference in a message, after `@`.
    Mention,
    /// An argument of a command that is not in the table.
    CustomArgument,
}

impl PartialEq for CompletionKind {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Argument(one, first), Self::Argument(two, second)) => one.name == two.name && first == second,
            (one, two) => std::mem::discriminant(one) == std::mem::discriminant(two),
        }
    }
}

/// A text at the cursor that can be completed.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionTarget {
    /// The kind.
    pub kind: CompletionKind,
    /// The typed text, without its slash, `@` or opening quote.
    pub typed: String,
    /// The number of characters before the cursor that a completion replaces: the typed text with its prefix.
    pub length: usize,
    /// The name of the command for [`CompletionKind::CustomArgument`], else empty.
    pub command: String,
}

/// The completion target at the end of `before`, the text before the cursor; `None` if nothing can be completed.
pub fn completion_target(before: &str) -> Option<CompletionTarget> {
    let is_line = !before.contains('\n');
    if is_line && before.starts_with('!') && !before.starts_with("![") {
        let run = find_command("run").ok()?;
        return argument(run, before.get(1..)?);
    }
    let is_command = is_line && before.starts_with('/') && !before.starts_with("//") && !before.starts_with("/*");
    if !is_command {
        return mention(before);
    }
    let typed = before.get(1..)?;
    match typed.split_once(char::is_whitespace) {
        None => {
            let (typed, length) = (typed.to_owned(), before.chars().count());
            Some(CompletionTarget { kind: CompletionKind::Command, typed, length, command: String::new() })
        }
        Some((name, rest)) => match find_command(name) {
            Ok(info) if info.takes == Argument::Message => mention(before),
            Ok(info) => argument(info, rest),
            // A custom command is a message with arguments.
            Err(_) => mention(before).or_else(|| {
                let (typed, length) = word(rest)?;
                Some(CompletionTarget { kind: CompletionKind::CustomArgument, typed, length, command: name.to_owned() })
            }),
        },
    }
}

/// The argument at the end of `rest`, the text after the name.
fn argument(info: &'static CommandInfo, rest: &str) -> Option<CompletionTarget> {
    let (typed, length) = word(rest)?;
    let at = rest.chars().count() - length;
    let before: String = rest.chars().take(at).collect();
    let number = shell_words::split(&before).map_or(0, |words| words.len());
    Some(CompletionTarget { kind: CompletionKind::Argument(info, number), typed, length, command: String::new() })
}

/// The last word of the arguments without its opening quote, and its length in characters with the quote; `None` if a quote closes it.
fn word(rest: &str) -> Option<(String, usize)> {
    let (mut start, mut quote) = (None, None);
    for (index, c) in rest.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, c) if c.is_whitespace() => start = None,
            (None, c) => {
                start = start.or(Some(index));
                quote = matches!(c, '\'' | '"').then_some(c);
            }
        }
    }
    let word = start.map_or("", |start| rest.get(start..).unwrap_or_default());
    // A closed quote is a whole argument.
    let is_closed = quote.is_none() && word.starts_with(['\'', '"']);
    let typed = word.trim_start_matches(['\'', '"']).to_owned();
    (!is_closed).then(|| (typed, word.chars().count()))
}

/// The reference at the end of the text. Its `@` begins a word, so that an e-mail address is not a reference.
fn mention(before: &str) -> Option<CompletionTarget> {
    let at = before.rfind('@')?;
    let starts_word = before.get(..at)?.chars().next_back().is_none_or(|c| c.is_whitespace() || "([{'\"`".contains(c));
    let word = before.get(at + 1..)?;
    let quoted = word.strip_prefix('"');
    let is_open = match quoted {
        Some(inside) => !inside.contains(['"', '\n']),
        None => !word.contains(char::is_whitespace),
    };
    let typed = quoted.unwrap_or(word).to_owned();
    let length = word.chars().count() + 1;
    (starts_word && is_open).then(|| CompletionTarget {
        kind: CompletionKind::Mention,
        typed,
        length,
        command: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(before: &str) -> Option<(String, String, usize)> {
        let target = completion_target(before)?;
        let kind = match target.kind {
            CompletionKind::Command => "command".to_owned(),
            CompletionKind::Argument(info, number) => format!("{} {number}", info.name),
            CompletionKind::Mention => "@".to_owned(),
            CompletionKind::CustomArgument => target.command.clone(),
        };
        Some((kind, target.typed, target.length))
    }

    fn is(kind: &str, typed: &str, length: usize) -> Option<(String, String, usize)> {
        Some((kind.into(), typed.into(), length))
    }

    #[test]
    fn a_slash_begins_a_command_and_a_space_its_arguments() {
        assert_eq!(at("/"), is("command", "", 1));
        assert_eq!(at("/ad"), is("command", "ad", 3));
        assert_eq!(at("/add "), is("add 0", "", 0));
        assert_eq!(at("/add a.rs sr"), is("add 1", "sr", 2));
        assert_eq!(at("/add 'my fi"), is("add 0", "my fi", 6));
        assert_eq!(at("/add 'my file' x"), is("add 1", "x", 1));
        assert_eq!(at("/add 'my file'"), None);
        assert_eq!(at("!cat src/li"), is("run 1", "src/li", 6));
    }

    #[test]
    fn comments_and_longer_texts_are_no_commands() {
        for text in ["// why", "/* why", "a /add", "/add x\nand /", "![picture](x"] {
            assert_eq!(at(text), None, "{text}");
        }
    }

    #[test]
    fn an_at_sign_at_the_beginning_of_a_word_names_something() {
        assert_eq!(at("see @sr"), is("@", "sr", 3));
        assert_eq!(at("(@\"my fi"), is("@", "my fi", 7));
        assert_eq!(at("/ask why @cache"), is("@", "cache", 6));
        assert_eq!(at("/of-a-file @x"), is("@", "x", 2));
        assert_eq!(at("/of-a-file x y"), is("of-a-file", "y", 1));
        for text in ["mira@example.org", "see @a b", "see @\"a b\"", "plain"] {
            assert_eq!(at(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_completion_replaces_no_more_than_there_is(before in "[/!@'\"a-z é\n]{0,30}") {
            if let Some(target) = completion_target(&before) {
                prop_assert!(target.length <= before.chars().count());
                prop_assert!(before.ends_with(&target.typed) || target.typed.is_empty());
            }
        }
    }
}
