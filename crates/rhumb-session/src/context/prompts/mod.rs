//! The prompts: instructions about the task and the edit format. They are files in `prompts/`, and the user can replace them.

use rhumb_text::nearest;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A built-in prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundledPrompt {
    /// The kebab-case name: the file `NAME.md` in the user's folder replaces the prompt.
    pub name: &'static str,
    /// A description for lists.
    pub description: &'static str,
    /// The text.
    pub text: &'static str,
}

macro_rules! bundled {
    ($name:literal, $description:literal) => {
        BundledPrompt { name: $name, description: $description, text: include_str!(concat!($name, ".md")) }
    };
}

/// All prompts, in the order of lists.
const BUNDLED: [BundledPrompt; 45] = [
    bundled!("code", "the instructions of code mode"),
    bundled!("ask", "the instructions of ask mode"),
    bundled!("architect", "the instructions of architect mode"),
    bundled!("editor", "the instructions of the model that turns the architect's plan into edits"),
    bundled!("context", "the instructions of context mode"),
    bundled!("agent", "the instructions of agent mode"),
    bundled!("agent-task", "the instructions of the model that answers a question of the agent"),
    bundled!("help", "the instructions of help mode"),
    bundled!("edit-diff", "the rules of the edit format `diff`"),
    bundled!("edit-diff-fenced", "the rules of the edit format `diff-fenced`"),
    bundled!("edit-udiff", "the rules of the edit format `udiff`"),
    bundled!("edit-whole", "the rules of the edit format `whole`"),
    bundled!("edit-patch", "the rules of the edit format `patch`"),
    bundled!("example-request", "the request of the example"),
    bundled!("example-diff", "the answer of the example in the edit format `diff`"),
    bundled!("example-diff-fenced", "the answer of the example in the edit format `diff-fenced`"),
    bundled!("example-udiff", "the answer of the example in the edit format `udiff`"),
    bundled!("example-whole", "the answer of the example in the edit format `whole`"),
    bundled!("example-patch", "the answer of the example in the edit format `patch`"),
    bundled!("example-lead", "introduces the example as a part of the instructions"),
    bundled!("example-end", "ends the example as a conversation"),
    bundled!("reminder-diff", "the reminder of the edit format `diff`, after the message"),
    bundled!("reminder-diff-fenced", "the reminder of the edit format `diff-fenced`, after the message"),
    bundled!("reminder-udiff", "the reminder of the edit format `udiff`, after the message"),
    bundled!("reminder-whole", "the reminder of the edit format `whole`, after the message"),
    bundled!("reminder-patch", "the reminder of the edit format `patch`, after the message"),
    bundled!("lazy", "a reminder for models that leave code out"),
    bundled!("overeager", "a reminder for models that do more than was asked"),
    bundled!("shell", "how to suggest commands, if that is enabled"),
    bundled!("surroundings", "the machine and tools of the user"),
    bundled!("map", "introduces the repo map"),
    bundled!("passages", "introduces the passages that `@codebase` found"),
    bundled!("passages-none", "follows a question for which `@codebase` found nothing"),
    bundled!("search-more", "how to request more of the repository, after a question with `@codebase`"),
    bundled!("search-plan", "asks the weak model for search terms"),
    bundled!("search-guess", "asks the weak model for code that may answer the question"),
    bundled!("search-guess-again", "asks for that again, with the first results"),
    bundled!("search-order", "asks the weak model to rank the functions that were found"),
    bundled!("read-only", "introduces the read-only files"),
    bundled!("chat-files", "introduces the files that may be edited"),
    bundled!("shown-files", "introduces the same files in modes without edits"),
    bundled!("noted", "the acknowledgement of the model after files and other material"),
    bundled!("summary", "asks for a summary of the history"),
    bundled!("summary-lead", "introduces the summary in the history"),
    bundled!("commit", "asks for the message of a commit; `{language}` is the language of the message"),
];

/// Placeholders of all prompts, with their meanings.
pub const PLACEHOLDERS: [(&str, &str); 9] = [
    ("fence", "the fence to write code with: longer than any in the files of the chat"),
    ("platform", "the operating system and the processor"),
    ("shell", "the name of the shell"),
    ("language", "the language of answers, if set"),
    ("date", "the date, if enabled"),
    ("test", "the command that runs the tests, if set"),
    ("lint", "the command that runs the linter, if set"),
    ("request", "in `example-lead`: the request of the example"),
    ("words", "in `summary`: the maximum number of words"),
];

/// The effective prompts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    texts: BTreeMap<&'static str, Arc<str>>,
}

impl Default for Prompts {
    fn default() -> Self {
        Self { texts: BUNDLED.iter().map(|prompt| (prompt.name, Arc::from(prompt.text.trim_end()))).collect() }
    }
}

/// A possible mistake in a custom prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptNote {
    /// There is no prompt with that name; the text is not used.
    UnknownName {
        /// The name.
        name: String,
        /// The name that it probably misspells.
        nearest: Option<&'static str>,
    },
    /// A word in braces is not a placeholder and is sent unchanged.
    UnknownPlaceholder {
        /// The prompt.
        prompt: &'static str,
        /// The word, without braces.
        placeholder: String,
    },
}

impl fmt::Display for PromptNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName { name, nearest } => {
                write!(f, "there is no prompt `{name}`, so it is not used")?;
                nearest.map_or(Ok(()), |nearest| write!(f, "; did you mean `{nearest}`?"))
            }
            Self::UnknownPlaceholder { prompt, placeholder } => {
                write!(f, "`{{{placeholder}}}` in the prompt `{prompt}` is not a placeholder and is sent unchanged")
            }
        }
    }
}

impl Prompts {
    /// All built-in prompts with name and description.
    pub fn bundled() -> &'static [BundledPrompt] {
        &BUNDLED
    }

    /// The prompts with replacements of the user, by name, and possible mistakes in these.
    pub fn with_overrides(overrides: &BTreeMap<String, String>) -> (Self, Vec<PromptNote>) {
        let mut prompts = Self::default();
        let mut notes = Vec::new();
        for (name, text) in overrides {
            let Some(bundled) = BUNDLED.iter().find(|prompt| prompt.name == name) else {
                notes.push(PromptNote::UnknownName {
                    name: name.clone(),
                    nearest: nearest(name, BUNDLED.iter().map(|prompt| prompt.name)),
                });
                continue;
            };
            for word in unknown_placeholders(text) {
                notes.push(PromptNote::UnknownPlaceholder { prompt: bundled.name, placeholder: word.to_owned() });
            }
            prompts.texts.insert(bundled.name, Arc::from(text.trim_end()));
        }
        (prompts, notes)
    }

    /// The text of a prompt without trailing white space; empty if the user emptied it, or if there is none with that name.
    pub fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", |text| text)
    }

    /// The placeholders in a prompt without repetitions, in order.
    pub fn placeholders(&self, name: &str) -> Vec<&str> {
        let mut found = Vec::new();
        for word in placeholders(self.text(name)).filter(|word| is_known(word)) {
            if !found.contains(&word) {
                found.push(word);
            }
        }
        found
    }
}

fn is_known(word: &str) -> bool {
    PLACEHOLDERS.iter().any(|(name, _)| *name == word)
}

/// Words in braces that are not placeholders, without repetitions.
fn unknown_placeholders(text: &str) -> Vec<&str> {
    let mut unknown: Vec<&str> = placeholders(text).filter(|word| !is_known(word)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    unknown
}

/// The values of placeholders: a name, and the value if known.
pub(super) type Values<'v> = [(&'static str, Option<&'v str>)];

/// The text with its placeholders replaced.
///
/// A line with a placeholder without a value is left out. Other words in braces are kept, and values are not searched for
/// placeholders.
pub(super) fn fill(text: &str, values: &Values<'_>) -> String {
    let mut filled = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if let Some(line) = fill_line(line, values) {
            filled.push_str(&line);
        }
    }
    filled
}

fn fill_line(line: &str, values: &Values<'_>) -> Option<String> {
    let mut filled = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, name, after)) = next(rest) {
        filled.push_str(before);
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => filled.push_str((*value)?),
            None => filled.push_str(&rest[before.len()..rest.len() - after.len()]),
        }
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

/// The names in braces in order, with repetitions.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, name, after) = next(rest)?;
        rest = after;
        Some(name)
    })
}

/// The next name in braces: the text before it, the name, and the text after it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(open) = text[from..].find('{').map(|at| from + at) {
        let inner = &text[open + 1..];
        let end = inner.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
        if let Some(end) = end.filter(|&end| end > 0 && inner[end..].starts_with('}')) {
            return Some((&text[..open], &inner[..end], &inner[end + 1..]));
        }
        from = open + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn overriding(name: &str, text: &str) -> (Prompts, Vec<PromptNote>) {
        Prompts::with_overrides(&BTreeMap::from([(name.to_owned(), text.to_owned())]))
    }

    #[test]
    fn a_prompt_of_the_user_replaces_the_bundled_one() {
        let (prompts, notes) = overriding("lazy", "Be thorough.\n");
        assert_eq!((prompts.text("lazy"), notes), ("Be thorough.", vec![]));
        assert_eq!(prompts.text("code"), Prompts::default().text("code"));
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_nearest() {
        let (prompts, notes) = overriding("edit-dif", "x");
        assert_eq!(prompts, Prompts::default());
        assert_eq!(notes, [PromptNote::UnknownName { name: "edit-dif".into(), nearest: Some("edit-diff") }]);
    }

    #[test]
    fn an_unknown_placeholder_is_reported_and_kept() {
        let (prompts, notes) = overriding("ask", "{fence} {planet} {planet}");
        assert_eq!(prompts.text("ask"), "{fence} {planet} {planet}");
        assert_eq!(notes, [PromptNote::UnknownPlaceholder { prompt: "ask", placeholder: "planet".into() }]);
    }

    #[test]
    fn bundled_prompts_use_every_placeholder_and_no_unknown_one() {
        let prompts = Prompts::default();
        for bundled in Prompts::bundled() {
            assert_eq!(unknown_placeholders(bundled.text), Vec::<&str>::new(), "{}", bundled.name);
            assert!(!prompts.text(bundled.name).is_empty(), "{}", bundled.name);
        }
        for (name, _) in PLACEHOLDERS {
            assert!(BUNDLED.iter().any(|prompt| prompts.placeholders(prompt.name).contains(&name)), "{name}");
        }
    }

    #[test]
    fn placeholders_are_replaced_and_other_text_is_kept() {
        let values = [("fence", Some("````")), ("shell", None), ("test", Some("{fence}"))];
        assert_eq!(
            fill("{fence}rs\nfn a() {}\n- {shell}\n{test} {what}{", &values),
            "````rs\nfn a() {}\n{fence} {what}{"
        );
        assert_eq!(placeholders("{a}{b_c} { d } {E} {} {a}").collect::<Vec<_>>(), ["a", "b_c", "a"]);
    }

    proptest! {
        #[test]
        fn text_without_known_placeholders_is_unchanged(text in "[{}a-c_ \\né]{0,60}") {
            prop_assert_eq!(fill(&text, &[("fence", None)]), text);
        }
    }
}
