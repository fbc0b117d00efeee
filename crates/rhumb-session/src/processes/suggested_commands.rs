//! Commands that the model suggests: each is a question of its own, shown as it is, and runs only when it is answered with yes.

use super::verify::ProcessSubject;
use super::{Origin, Purpose};
use crate::context::Mode;
use crate::effect::Effect;
use crate::question::{Choice, Question, Subject};
use crate::state::Session;
use crate::transcript::{Entry, Level};
use rhumb_edit::FormatChoice;
use rhumb_text::sanitize;
use rhumb_workspace::process::CommandLine;

/// Most commands of one answer that are asked about.
const MOST: usize = 5;

/// What is shown of a command in a line; a longer one has to be read before it can be answered.
const SHORT: usize = 120;

impl Session {
    /// Asks about the commands in an answer to a request for changes.
    pub(crate) fn suggest(&mut self, reply: &str) {
        if !self.processes.suggestions || !self.was_for_changes() {
            return;
        }
        let edits = !rhumb_edit::parse(reply, FormatChoice::Auto).edits.is_empty();
        let found = suggested(reply);
        let more = found.len().saturating_sub(MOST);
        for line in found.into_iter().take(MOST) {
            let visible = sanitize::visible_line(line.lines().next().unwrap_or_default());
            let first: String = visible.chars().take(SHORT).collect();
            let shown = if first == line { first } else { format!("{first} …") };
            // In the title, which is seen where the answer is not: tests of what is not written say nothing of it.
            let early = if edits { " (its edits are not written yet)" } else { "" };
            let title = format!("The model suggests a command{early}. Run it? {shown}");
            let text = line.clone();
            let choices = vec![Choice::new('y', "run it"), Choice::new('n', "no")];
            let subject = Subject::Process(ProcessSubject::Run(line));
            self.question(Question { subject, title, text, choices });
        }
        if more > 0 {
            let text = format!("The model suggests {more} more commands, which are not asked about.");
            self.report(Level::Info, text, "They stand in the answer; !COMMAND runs one.");
        }
    }

    /// Whether the last message asked for changes.
    fn was_for_changes(&self) -> bool {
        let last = self.transcript.iter().rev().find(|entry| entry.is_message());
        matches!(last, Some(Entry::User { mode: Mode::Code, .. } | Entry::FollowUp { .. }))
    }

    /// Runs a command that was approved.
    pub(super) fn run_suggested(&mut self, line: String) -> Vec<Effect> {
        self.begin_command(Purpose::Suggested, CommandLine::Shell(line), Origin::Model)
    }
}

impl Question {
    /// Whether all of its text has to have been on the screen before any choice but the harmless one can be taken. A command that holds
    /// what is not seen is longer than it looks.
    pub fn must_be_read(&self) -> bool {
        match &self.subject {
            Subject::Process(ProcessSubject::Run(line)) => {
                let shown = sanitize::visible_line(line);
                shown.chars().nth(SHORT).is_some() || line.contains('\n') || shown != line.as_str()
            }
            _ => false,
        }
    }
}

/// The commands of an answer, each complete.
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

/// The commands of a block: its lines, where each of them can stand alone, else the block as a whole. Of a session with prompts,
/// what was typed.
fn split(block: &str) -> Vec<String> {
    let prompted: Vec<&str> = block.lines().filter_map(|line| line.trim_start().strip_prefix("$ ")).collect();
    let lines: Vec<&str> = if prompted.is_empty() { block.lines().collect() } else { prompted };
    let is_said = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let lines: Vec<&str> = lines.into_iter().filter(is_said).collect();
    // What stands deeper goes on with what is above it.
    let depth = |line: &&str| line.len() - line.trim_start().len();
    let is_flat = lines.iter().map(depth).max() == lines.first().map(depth);
    if is_flat && lines.iter().all(|line| stands_alone(line)) {
        return lines.into_iter().map(|line| line.trim().to_owned()).collect();
    }
    vec![lines.join("\n")]
}

/// Words that begin or end what takes several lines.
const COMPOUND: [&str; 14] =
    ["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "{", "}"];

/// Whether a line is a complete command.
fn stands_alone(line: &str) -> bool {
    let line = line.trim();
    let goes_on = line.ends_with(['\\', '|', '(', '{']) || line.ends_with("&&") || line.contains("<<");
    let word = |text: Option<&str>| text.is_some_and(|word| COMPOUND.contains(&word));
    let words = || line.split_whitespace();
    // What a line changes for those after it is lost if each runs on its own.
    let is_for_others = ["cd ", "export ", "set ", "source ", ". "].iter().any(|begin| line.starts_with(begin))
        && !line.contains("&&")
        && !line.contains(';');
    !goes_on && !is_for_others && !word(words().next()) && !word(words().last()) && shell_words::split(line).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(block: &str) -> Vec<String> {
        suggested(&format!("Run this:\n\n```sh\n{block}\n```\n"))
    }

    #[test]
    fn each_line_is_a_command_of_its_own_if_it_can_be() {
        assert_eq!(of("pip install tide\n# and then\npytest -q"), ["pip install tide", "pytest -q"]);
        assert_eq!(of("$ ls\na.py  b.py\n$ make"), ["ls", "make"]);
        assert_eq!(of("ls\nls"), ["ls"]);
    }

    #[test]
    fn what_belongs_together_stays_together() {
        for block in [
            "docker run \\\n  -it tide",
            "for f in *; do\n  echo $f\ndone",
            "cat > a <<EOF\nhello\nEOF",
            "cd sub\nmake",
            "echo 'a\nb'",
            "export A=1\nmake",
        ] {
            assert_eq!(of(block), [block], "{block}");
        }
    }

    #[test]
    fn edits_are_no_commands() {
        let edit = "install.sh\n```sh\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n";
        assert!(suggested(edit).is_empty());
        assert!(suggested("```python\nprint(1)\n```\n").is_empty());
    }
}
