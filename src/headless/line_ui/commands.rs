//! Entered texts: messages, slash commands, the commands of the line UI, and the help.

use super::LineUi;
use super::editor::EditTarget;
use super::input::{Entered, QUOTES};
use super::questions::Prompt;
use super::review_commands::{REVIEW_COMMANDS, is_answer};
use crate::error::ErrorKind;
use rhumb_session::{
    COMMANDS, Command, Effect, Group, Level, LookupEffect, ParsedLine, as_command, is_command, origin,
};
use rhumb_text::count;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineCommand {
    Hunks,
    Questions,
    Draft,
    Send,
    Discard,
    Files,
    Output,
    ViewPrompt,
    Show,
    Thoughts,
    Verbosity,
}

struct LineCommandInfo {
    command: LineCommand,
    /// The name, without the slash.
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
}

const fn row(command: LineCommand, name: &'static str, arguments: &'static str, help: &'static str) -> LineCommandInfo {
    LineCommandInfo { command, name, arguments, help }
}

#[rustfmt::skip] // a table
const LINE_COMMANDS: &[LineCommandInfo] = &[
    row(LineCommand::Hunks, "hunks", "", "return to the review"),
    row(LineCommand::Questions, "questions", "", "ask deferred questions again"),
    row(LineCommand::Draft, "draft", "", "print the message that was not sent"),
    row(LineCommand::Send, "send", "", "send the draft"),
    row(LineCommand::Discard, "discard", "", "discard the draft"),
    row(LineCommand::Files, "files", "[WORD]", "list the files of the repository, or those with that word in their path"),
    row(LineCommand::Output, "output", "", "print the output of the last command"),
    row(LineCommand::ViewPrompt, "view-prompt", "", "print the next request as it will be sent"),
    row(LineCommand::Show, "show", "N", "print the location with that number, from a search or the citations of an answer"),
    row(LineCommand::Thoughts, "thoughts", "[on|off]", "print the reasoning of the model, or do not"),
    row(LineCommand::Verbosity, "verbosity", "[LINES]", "set how many unchanged lines are printed around a hunk"),
];

const INTRODUCTION: &str = "\
A line is a message to the model. A line that ends with a backslash continues on the next line. After a line that begins with three \
double quotes, \"\"\", everything is one message until a line ends with them. Without them, several pasted lines are several \
messages. A line that begins with a slash is a command.
Each line is processed when the work that the line before it started is done.
What commands copy is printed instead: /copy, /copy-context, /report. /paste takes a reply as the next lines.
Ctrl-C stops the answer or the command that runs; pressed twice, it leaves. Ctrl-D or /quit leaves.";

/// Maximum number of listed files.
const MAX_FILES: usize = 200;

impl LineUi {
    pub(super) fn line(&mut self, line: &str) {
        match self.next_prompt() {
            Prompt::Confirmation => return self.answer_confirmation(line),
            Prompt::Recording => {
                let effects = self.session.stop_recording(true);
                return self.perform(effects);
            }
            Prompt::Choice if self.choose(line) => return,
            Prompt::Question if self.answer(line) => return,
            Prompt::Choice | Prompt::Question | Prompt::Message | Prompt::Review | Prompt::Multiline => {}
        }
        if let Some(entered) = self.input.enter(line) {
            self.text(&entered);
        }
    }

    /// Processes a complete text: a reply from elsewhere, a command, or a message.
    fn text(&mut self, Entered { text, is_quoted, is_reply }: &Entered) {
        if *is_reply {
            return self.take_reply(text);
        }
        let text = text.trim_end();
        // Between quotes, only a slash command is a command; `quit` is a message.
        if let Some(line) = as_command(text).filter(|line| !is_quoted || *line == text) {
            self.session.remember_input(text);
            return self.run_line(line);
        }
        if self.is_reviewing() && !is_quoted {
            return self.review_command(text);
        }
        if !is_quoted && is_answer(text, !self.is_interactive) {
            self.out.line(&format!(
                "error: {text} is an answer, but there is no question and no review, so it was not sent."
            ));
            self.out.line(&format!("hint: {QUOTES}{text}{QUOTES} sends it as a message."));
            self.failed = self.failed.or(Some(ErrorKind::Usage));
            return;
        }
        if !text.trim().is_empty() {
            return self.send(text);
        }
        // Enter alone returns to a question or to the review.
        if !self.session.questions().is_empty() {
            self.ask_deferred_questions();
        } else if !self.session.review().is_empty() {
            self.resume_review();
        }
    }

    /// Sends a message. A message that cannot be sent becomes the draft.
    pub(super) fn send(&mut self, text: &str) {
        self.transcript.set_typed(Some(text.to_owned()));
        let (is_sent, effects) = self.session.send(text);
        if is_sent {
            self.print_kept_passages();
            self.session.remember_input(text);
        } else {
            self.transcript.set_typed(None);
            self.session.return_draft(text.to_owned());
            self.failed = Some(ErrorKind::Usage);
        }
        self.perform(effects);
    }

    /// Prints that passages of an earlier question are sent, too, whenever their number has changed.
    fn print_kept_passages(&mut self) {
        let kept = if self.session.keeps_passages() { self.session.codebase().locations.len() } else { 0 };
        let before = std::mem::replace(&mut self.announced.kept_passages, kept);
        if kept > 0 && kept != before {
            // The request may not have been measured yet.
            let tokens =
                self.session.kept_passages().map(|(_, tokens)| format!(" ({tokens} tokens)")).unwrap_or_default();
            self.out.line(&format!("Passages of the repository are still sent{tokens}; /passages drop ends that."));
        }
    }

    fn take_reply(&mut self, text: &str) {
        if text.trim().is_empty() {
            self.out.line("The reply is empty.");
            return;
        }
        let effects = self.session.take_reply(text.to_owned());
        self.perform(effects);
    }

    /// Runs a line that begins with a slash or `!`. Commands of the line UI take precedence over custom commands.
    fn run_line(&mut self, line: &str) {
        let own: Vec<&'static str> = LINE_COMMANDS.iter().map(|info| info.name).collect();
        match self.session.parse_line(line, &own) {
            Ok(ParsedLine::FrontEnd(name, rest)) => {
                let info = LINE_COMMANDS.iter().find(|info| info.name == name);
                info.into_iter().for_each(|info| self.line_command(info.command, &rest));
            }
            Ok(ParsedLine::Command(command)) if self.must_wait(&command) => self.commands.waiting = Some(command),
            Ok(ParsedLine::Command(command)) => self.command(command),
            Ok(ParsedLine::Compose(message)) => {
                self.print_transcript();
                self.print_text("The message", &message);
                self.session.return_draft(message);
            }
            Ok(ParsedLine::SwitchModel { model, message }) => {
                // Connecting may take a while, so the message becomes the draft.
                let effects = self.session.use_model(model);
                self.perform(effects);
                self.session.return_draft(message);
            }
            Ok(ParsedLine::Send(message)) => self.send(&message),
            Err(error) => {
                self.session.report(Level::Error, error.to_string(), error.hint());
                self.failed = Some(ErrorKind::Usage);
            }
        }
    }

    /// Runs a command. Commands about the screen are answered with text.
    pub(super) fn command(&mut self, command: Command) {
        let effects = match command {
            Command::Help => return self.help(),
            Command::Keys => {
                self.out.line("The line UI has no keys: lines are edited as in a shell. Ctrl-C stops, Ctrl-D leaves.");
                return self.out.line("hint: /help lists the commands.");
            }
            Command::Map => return self.print_map(),
            Command::Search(words) => self.search(&words),
            Command::Theme(_) => return self.out.line("There are no colours in the line UI."),
            Command::Doctor => {
                vec![Effect::Lookup(LookupEffect::Doctor { terminal: self.environment.terminal.clone() })]
            }
            Command::Report(title) => self.session.request_fault_report(title, self.environment.terminal.clone()),
            Command::Quit => return self.leave(0),
            Command::Paste(None) => {
                self.out.line(&format!("Enter the reply, then a line with {QUOTES} alone."));
                return self.input.begin_reply();
            }
            Command::Editor(text) => {
                let text = if text.is_empty() { self.draft.clone().unwrap_or_default() } else { text };
                self.to_edit = Some(EditTarget::Draft(text));
                return;
            }
            Command::Copy => match self.session.last_answer() {
                Some(answer) => return self.print_text(&answer.what, &answer.text),
                None => return self.out.line("There is no answer yet."),
            },
            Command::MapRefresh(_) => {
                let effects = self.session.command(command);
                let mode = self.session.map().refresh.as_str();
                self.out.line(&format!("The map is refreshed; the mode is {mode}."));
                effects
            }
            Command::Mode { ref message, .. } if !message.is_empty() => {
                self.transcript.set_typed(Some(message.clone()));
                self.session.command(command)
            }
            Command::Voice => {
                self.out.line("Speak now. Ctrl-C discards the recording.");
                self.session.command(command)
            }
            other => self.session.command(other),
        };
        self.perform(effects);
    }

    fn print_map(&mut self) {
        let map = self.session.view().and_then(|view| view.map.clone());
        let Some(map) = map.filter(|map| !map.text.trim().is_empty()) else {
            self.out.line("The map is empty: its budget is 0 tokens, or no file has symbols.");
            self.out.line("hint: /map-tokens N sets its budget.");
            return;
        };
        self.print_text(&format!("repo map, {} of {} tokens", map.tokens, map.budget), &map.text);
    }

    fn line_command(&mut self, command: LineCommand, rest: &str) {
        match command {
            LineCommand::Hunks => self.resume_review(),
            LineCommand::Questions => self.ask_deferred_questions(),
            LineCommand::Show => self.show_location(rest),
            LineCommand::Draft => match self.draft.clone() {
                Some(draft) => self.print_text("The draft", &draft),
                None => self.out.line("There is no draft."),
            },
            LineCommand::Send => match self.draft.take() {
                Some(draft) if is_command(&draft) => self.run_line(&draft),
                Some(draft) => self.send(&draft),
                None => self.out.line("There is no draft to send."),
            },
            LineCommand::Discard => {
                let had_draft = self.draft.take().is_some();
                let effects = self.session.draft_changed("");
                self.perform(effects);
                self.out.line(if had_draft { "The draft is discarded." } else { "There is no draft." });
            }
            LineCommand::Files => self.list_files(rest),
            LineCommand::Output => self.print_last_output(),
            LineCommand::ViewPrompt => match self.session.view().map(|view| view.prompt.render()) {
                Some(text) => self.print_text("The next request", &text.replace(['─', '━'], "").replace(" · ", ", ")),
                None => self.out.line("The next request is not measured yet."),
            },
            LineCommand::Thoughts => {
                let shows = match rest {
                    "on" => Some(true),
                    "off" => Some(false),
                    _ => None,
                };
                let shows = self.transcript.show_reasoning(shows);
                self.out.line(if shows { "Reasoning is printed." } else { "Reasoning is not printed." });
            }
            LineCommand::Verbosity => self.set_context(rest),
        }
    }

    fn print_last_output(&mut self) {
        let Some(log) = self.session.processes().logs().last() else { return self.out.line("No command has run yet.") };
        let title = format!("The output of {}", log.line);
        let lines: Vec<&str> = log.lines.iter().map(String::as_str).chain([log.open_line.as_str()]).collect();
        let text = lines.join("\n");
        self.print_text(&title, &text);
    }

    fn list_files(&mut self, word: &str) {
        let word = word.to_lowercase();
        let found: Vec<&String> =
            self.session.paths().iter().filter(|path| path.to_lowercase().contains(&word)).collect();
        self.out.line(&format!("{}:", count(found.len(), "file")));
        self.out.lines(found.iter().take(MAX_FILES));
        if found.len() > MAX_FILES {
            self.out.line(&format!("({} more; a word after /files filters the list)", found.len() - MAX_FILES));
        }
    }

    fn help(&mut self) {
        self.out.line(INTRODUCTION);
        self.out.line("commands of the line UI:");
        self.out.lines(LINE_COMMANDS.iter().map(|info| command_line(info.name, info.arguments, info.help)));
        for group in Group::ALL {
            self.out.line(&format!("{}:", group.title()));
            let commands = COMMANDS.iter().filter(|info| info.group == group);
            self.out.lines(commands.map(|info| command_line(info.name, info.arguments, info.help)));
        }
        let custom = self.session.lookups().commands.usable().map(|command| {
            let help = format!("{} ({}, {})", command.description, origin(command.source), command.path);
            command_line(&command.name, &command.arguments, &help)
        });
        let custom: Vec<String> = custom.collect();
        if !custom.is_empty() {
            self.out.line("custom commands:");
            self.out.lines(custom);
        }
        self.out.lines(review_help());
    }
}

pub(super) fn review_help() -> impl Iterator<Item = String> {
    let commands = REVIEW_COMMANDS.iter().map(|info| format!("  {}: {}", info.usage, info.help));
    std::iter::once("commands of the review:".to_owned())
        .chain(commands)
        .chain(["Slash commands work there, too.".to_owned()])
}

fn command_line(name: &str, arguments: &str, help: &str) -> String {
    format!("  {}: {help}", format!("/{name} {arguments}").trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_the_line_ui_hide_none_of_the_program() {
        for own in LINE_COMMANDS {
            assert!(COMMANDS.iter().all(|info| info.name != own.name), "{}", own.name);
        }
    }
}
