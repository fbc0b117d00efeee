//! Commands that the model suggests. Each is a separate question, shows the exact command, and runs it only after a yes.

use super::{Purpose, RunEffect};
use crate::context::Mode;
use crate::{
    AgentQuestion, Choice, Effect, Entry, Level, Origin, ProcessSubject, Question, Session, Subject, TrialCommand,
    TrialRequest,
};
use rhumb_edit::FormatChoice;
use rhumb_text::{count, sanitize};
use rhumb_workspace::process::{CommandLine, matches_pattern};

/// The answer that runs a suggested command in a trial checkout.
pub(super) const RUN_IN_TRIAL: char = 't';

/// Maximum number of commands of one answer that are offered.
const MAX_OFFERED: usize = 5;

/// Maximum length of a command in the title of its question, in characters. A longer one has to be scrolled through first.
const MAX_TITLE_CHARS: usize = 120;

impl Session {
    /// Offers the commands in an answer to a request for changes. Those that the user's settings allow run in a trial checkout.
    /// They wait until the edits of the answer are located, because they are about those.
    pub(crate) fn suggest(&mut self, reply: &str) -> Vec<Effect> {
        if !self.processes.offers_suggestions || !self.last_request_was_for_changes() {
            return Vec::new();
        }
        let edits = !rhumb_edit::parse(reply, FormatChoice::Auto).edits.is_empty();
        let found = suggested(reply);
        let more = found.len().saturating_sub(MAX_OFFERED);
        for line in found.into_iter().take(MAX_OFFERED) {
            if self.processes.allowed.iter().any(|pattern| matches_pattern(&line, pattern)) {
                self.processes.waiting.push(line);
                continue;
            }
            let shown = title_text(&line);
            // The title says it, because the answer may not be visible. Tests that run now do not test the edits.
            let unwritten = if edits { " (its edits are not written yet)" } else { "" };
            let title = format!("The model suggests a command{unwritten}. Run it? {shown}");
            let text = line.clone();
            let choices =
                vec![Choice::new('y', "run it"), Choice::new(RUN_IN_TRIAL, "in a trial"), Choice::new('n', "no")];
            let subject = Subject::Process(ProcessSubject::Run(line));
            self.question(Question { subject, title, text, choices });
        }
        if more > 0 {
            let text = format!("The answer suggests {}.", count(more, "more command"));
            self.report(Level::Info, text, "!COMMAND runs one.");
        }
        if edits { Vec::new() } else { self.try_waiting() }
    }

    /// Runs the suggested commands that wait for the edits of their answer.
    pub(crate) fn try_waiting(&mut self) -> Vec<Effect> {
        let waiting = std::mem::take(&mut self.processes.waiting);
        waiting.into_iter().flat_map(|line| self.try_suggested(line)).collect()
    }

    fn last_request_was_for_changes(&self) -> bool {
        let last = self.transcript.iter().rev().find(|entry| entry.is_message());
        matches!(last, Some(Entry::User { mode: Mode::Code, .. } | Entry::FollowUp { .. }))
    }

    /// Runs a suggested command on the hunks under review, or on the files as they are, in a trial checkout.
    pub(super) fn try_suggested(&mut self, line: String) -> Vec<Effect> {
        let hunks = self.proposals.review().proposed_hunks();
        let trial = TrialRequest::new(TrialCommand::Line(line), self.proposals.review().with_hunks(&hunks));
        let job = self.new_job(Purpose::Suggested);
        vec![Effect::Run(RunEffect::Try { job, trial })]
    }

    pub(super) fn run_suggested(&mut self, line: String) -> Vec<Effect> {
        self.begin_command(Purpose::Suggested, CommandLine::Shell(line), Origin::Model)
    }
}

impl Question {
    /// Whether the whole text must have been on the screen before any choice except the harmless one is accepted. Applies to commands
    /// and addresses that are long, have several lines, or contain invisible characters.
    pub fn must_be_read(&self) -> bool {
        let (Subject::Process(ProcessSubject::Run(line))
        | Subject::Agent(AgentQuestion::Run(_, line) | AgentQuestion::Fetch(_, line))) = &self.subject
        else {
            return false;
        };
        let shown = sanitize::visible_line(line);
        shown.chars().nth(MAX_TITLE_CHARS).is_some() || line.contains('\n') || shown != line.as_str()
    }
}

/// The start of a command or an address for a title, with `…` if the title does not have all of it.
pub(crate) fn title_text(line: &str) -> String {
    let visible = sanitize::visible_line(line.lines().next().unwrap_or_default());
    let first: String = visible.chars().take(MAX_TITLE_CHARS).collect();
    if first == line { first } else { format!("{first} …") }
}

/// The commands in an answer, each one complete.
pub fn suggested(reply: &str) -> Vec<String> {
    let blocks = rhumb_edit::parse(reply, FormatChoice::Auto).suggested_commands;
    let mut commands: Vec<String> = Vec::new();
    for command in blocks.iter().flat_map(|block| split(block)) {
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands
}

/// The commands of a block: its lines if each is a complete command, or else the whole block. In a transcript with `$ ` prompts only
/// the prompted lines count.
fn split(block: &str) -> Vec<String> {
    let prompted: Vec<&str> = block.lines().filter_map(|line| line.trim_start().strip_prefix("$ ")).collect();
    let lines: Vec<&str> = if prompted.is_empty() { block.lines().collect() } else { prompted };
    let is_command = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let lines: Vec<&str> = lines.into_iter().filter(is_command).collect();
    // An indented line belongs to the line above.
    let depth = |line: &&str| line.len() - line.trim_start().len();
    let is_flat = lines.iter().map(depth).max() == lines.first().map(depth);
    if is_flat && lines.iter().all(|line| is_complete_command(line)) {
        return lines.into_iter().map(|line| line.trim().to_owned()).collect();
    }
    vec![lines.join("\n")]
}

/// Words that start or end a compound command.
const COMPOUND_WORDS: [&str; 14] =
    ["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "{", "}"];

fn is_complete_command(line: &str) -> bool {
    let line = line.trim();
    let is_continued = line.ends_with(['\\', '|', '(', '{']) || line.ends_with("&&") || line.contains("<<");
    let is_compound = |word: Option<&str>| word.is_some_and(|word| COMPOUND_WORDS.contains(&word));
    let words = || line.split_whitespace();
    // Its effect on the following lines would be lost in a separate shell.
    let affects_shell = ["cd ", "export ", "set ", "source ", ". "].iter().any(|begin| line.starts_with(begin))
        && !line.contains("&&")
        && !line.contains(';');
    !is_continued
        && !affects_shell
        && !is_compound(words().next())
        && !is_compound(words().last())
        && shell_words::split(line).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands_of(block: &str) -> Vec<String> {
        suggested(&format!("Run this:\n\n```sh\n{block}\n```\n"))
    }

    #[test]
    fn each_line_is_a_command_if_all_are_complete() {
        assert_eq!(commands_of("pip install tide\n# and then\npytest -q"), ["pip install tide", "pytest -q"]);
        assert_eq!(commands_of("$ ls\na.py  b.py\n$ make"), ["ls", "make"]);
        assert_eq!(commands_of("ls\nls"), ["ls"]);
    }

    #[test]
    fn lines_that_depend_on_each_other_are_one_command() {
        for block in [
            "docker run \\\n  -it tide",
            "for f in *; do\n  echo $f\ndone",
            "cat > a <<EOF\nhello\nEOF",
            "cd sub\nmake",
            "echo 'a\nb'",
            "export A=1\nmake",
        ] {
            assert_eq!(commands_of(block), [block], "{block}");
        }
    }

    #[test]
    fn edits_are_not_commands() {
        let edit = "install.sh\n```sh\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n";
        assert!(suggested(edit).is_empty());
        assert!(suggested("```python\nprint(1)\n```\n").is_empty());
    }
}
