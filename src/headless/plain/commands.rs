//! Lines as they are typed: messages, slash commands, and the few commands that this mode has of its own.

use super::asking::Expect;
use super::desk::{Desk, Editing};
use super::hunks;
use super::input::QUOTES;
use super::words::is_no_message;
use crate::error::ErrorKind;
use rhumb_session::{Command, Effect, Level, LookupEffect, ParsedLine, as_command, is_command};
use rhumb_text::count;

/// A command of this mode.
pub(super) struct OwnCommand {
    /// Its name, without the slash.
    pub(super) name: &'static str,
    /// What it takes.
    pub(super) arguments: &'static str,
    /// What it does.
    pub(super) help: &'static str,
}

const fn row(name: &'static str, arguments: &'static str, help: &'static str) -> OwnCommand {
    OwnCommand { name, arguments, help }
}

/// The commands of this mode, beside those of the program.
#[rustfmt::skip] // a table
pub(super) const OWN: &[OwnCommand] = &[
    row("hunks", "", "go back to the review"),
    row("questions", "", "ask what was put off again"),
    row("draft", "", "read the message that was not sent"),
    row("send", "", "send it"),
    row("discard", "", "drop it"),
    row("files", "[WORD]", "list the files of the repository, or those with that word in their path"),
    row("output", "", "read what the last command printed"),
    row("prompt", "", "print the next request as it will be sent"),
    row("show", "N", "print the place of that number, as a search found it or an answer cites it"),
    row("thoughts", "[on|off]", "print what the model thinks before it answers, or do not"),
    row("verbosity", "[LINES]", "how many unchanged lines are read around a hunk"),
];

/// Files that are listed at most.
const MOST_FILES: usize = 200;

impl Desk {
    /// Takes a line for what it answers.
    pub(super) fn line(&mut self, line: &str) {
        match self.expectation() {
            Expect::Confirm => return self.confirmed(line),
            Expect::Recording => {
                let effects = self.session.end_recording(true);
                return self.perform(effects);
            }
            Expect::Pick if self.picked(line) => return,
            Expect::Question if self.answer(line) => return,
            _ => {}
        }
        let quoted = self.gathering.is_open() || line.starts_with(QUOTES);
        if let Some(text) = self.gathering.take(line) {
            self.text(&text, quoted);
        }
    }

    /// Takes a whole text: a reply from elsewhere, a command, a word of the review, a message.
    fn text(&mut self, text: &str, quoted: bool) {
        if std::mem::take(&mut self.takes_reply) {
            return self.take_reply(text);
        }
        let text = text.trim_end();
        // Quoted, a word that leaves is a message.
        if let Some(line) = as_command(text).filter(|line| !quoted || *line == text) {
            self.session.remember_input(text);
            return self.run_line(line);
        }
        if self.is_reviewing() && !quoted {
            return self.review_word(text);
        }
        if !quoted && is_no_message(text, !self.is_typed) {
            let hint = format!("{QUOTES}{text}{QUOTES} sends it all the same.");
            self.voice.line(&format!(
                "error: {text} is an answer, but nothing is asked or under review, so it was not sent."
            ));
            self.voice.line(&format!("hint: {hint}"));
            self.failed = self.failed.or(Some(ErrorKind::Usage));
            return;
        }
        if !text.trim().is_empty() {
            return self.send(text);
        }
        // As Enter alone does in the app: to what waits.
        if !self.session.questions().is_empty() {
            self.ask_again();
        } else if !self.session.review().is_empty() {
            self.back_to_review();
        }
    }

    /// Sends a message; what cannot be sent is kept.
    pub(super) fn send(&mut self, text: &str) {
        self.told.typed = Some(text.to_owned());
        let (sent, effects) = self.session.send(text);
        if sent {
            self.tell_passages();
            self.session.remember_input(text);
        } else {
            self.told.typed = None;
            self.session.return_draft(text.to_owned());
            self.failed = Some(ErrorKind::Usage);
        }
        self.perform(effects);
    }

    /// Says that passages of an earlier question go along, once for each number of them.
    fn tell_passages(&mut self) {
        let kept = if self.session.keeps_passages() { self.session.codebase().places.len() } else { 0 };
        let before = std::mem::replace(&mut self.told_passages, kept);
        if kept > 0 && kept != before {
            // A line that follows at once comes before the request is measured.
            let tokens =
                self.session.kept_passages().map(|(_, tokens)| format!(" ({tokens} tokens)")).unwrap_or_default();
            let line = format!("Passages of the repository are still sent{tokens}; /passages drop ends that.");
            self.voice.line(&line);
        }
    }

    fn take_reply(&mut self, text: &str) {
        if text.trim().is_empty() {
            self.voice.line("There was no reply.");
            return;
        }
        let effects = self.session.take_reply(text.to_owned());
        self.perform(effects);
    }

    /// Carries a line out that begins with a slash or `!`. The commands of this mode come before those of files.
    fn run_line(&mut self, line: &str) {
        let own: Vec<&'static str> = OWN.iter().map(|own| own.name).collect();
        match self.session.understand(line, &own) {
            Ok(ParsedLine::Own(name, rest)) => self.own_command(name, &rest),
            Ok(ParsedLine::Command(command)) if self.must_wait(&command) => self.held = Some(command),
            Ok(ParsedLine::Command(command)) => self.command(command),
            Ok(ParsedLine::Show(message)) => {
                self.tell();
                self.read("The message", &message);
                self.session.return_draft(message);
            }
            Ok(ParsedLine::Switch { model, message }) => {
                // The connection may take its time: the message waits for it.
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

    /// Carries a command out. What is about the screen has its answer here.
    pub(super) fn command(&mut self, command: Command) {
        let effects = match command {
            Command::Help => return self.help(),
            Command::Keys => return self.keys_help(),
            Command::Map => return self.read_map(),
            Command::Search(words) => self.search(&words),
            Command::Theme(_) => return self.voice.line("There are no colours in this mode."),
            Command::Doctor => vec![Effect::Lookup(LookupEffect::Doctor { terminal: self.terminal.clone() })],
            Command::Response(title) => self.session.request_fault_report(title, self.terminal.clone()),
            Command::Quit => return self.leave(0),
            Command::Paste(None) => {
                self.voice.line(&format!("Put the reply in now, and after it a line with {QUOTES} alone."));
                self.takes_reply = true;
                return self.gathering.open();
            }
            Command::Editor(text) => {
                let text = if text.is_empty() { self.draft.clone().unwrap_or_default() } else { text };
                self.to_edit = Some(Editing::Draft(text));
                return;
            }
            Command::Copy => match self.session.last_answer() {
                Some(clip) => return self.read(&clip.what, &clip.text),
                None => return self.voice.line("There is no answer yet."),
            },
            Command::MapRefresh(_) => {
                let effects = self.session.command(command);
                let mode = self.session.map().refresh.as_str();
                self.voice.line(&format!("The map is made anew; from now on: {mode}."));
                effects
            }
            Command::Mode { ref message, .. } if !message.is_empty() => {
                self.told.typed = Some(message.clone());
                self.session.command(command)
            }
            Command::Voice => {
                self.voice.line("Speak now. Ctrl-C throws the recording away.");
                self.session.command(command)
            }
            other => self.session.command(other),
        };
        self.perform(effects);
    }

    fn read_map(&mut self) {
        let map = self.session.view().and_then(|view| view.map.clone());
        let Some(map) = map.filter(|map| !map.text.trim().is_empty()) else {
            self.voice.line("The map is empty: it has no tokens, or no file has anything to show.");
            self.voice.line("hint: /map-tokens N gives it tokens.");
            return;
        };
        self.read(&format!("repo map, {} of {} tokens", map.tokens, map.budget), &map.text);
    }
}

/// The commands of this mode.
impl Desk {
    fn own_command(&mut self, name: &str, rest: &str) {
        match name {
            "hunks" => self.back_to_review(),
            "questions" => self.ask_again(),
            "show" => self.show_place(rest),
            "draft" => match self.draft.clone() {
                Some(draft) => self.read("The draft", &draft),
                None => self.voice.line("There is no draft."),
            },
            "send" => match self.draft.take() {
                Some(draft) if is_command(&draft) => self.run_line(&draft),
                Some(draft) => self.send(&draft),
                None => self.voice.line("There is no draft to send."),
            },
            "discard" => {
                let had = self.draft.take().is_some();
                let effects = self.session.draft_changed("");
                self.perform(effects);
                self.voice.line(if had { "The draft was dropped." } else { "There is no draft." });
            }
            "files" => self.list_files(rest),
            "output" => self.read_output(),
            "prompt" => match self.session.view().map(|view| view.prompt.render()) {
                Some(text) => self.read("The next request", &text.replace(['─', '━'], "").replace(" · ", ", ")),
                None => self.voice.line("The next request is not measured yet."),
            },
            "thoughts" => {
                self.told.thoughts = match rest {
                    "on" => true,
                    "off" => false,
                    _ => !self.told.thoughts,
                };
                let told = if self.told.thoughts { "Thoughts are printed." } else { "Thoughts are not printed." };
                self.voice.line(told);
            }
            _ => match rest.parse::<usize>() {
                Ok(lines) => {
                    self.context = lines;
                    self.voice.line(&format!("{} around a hunk.", count(lines, "unchanged line")));
                }
                Err(_) => self.voice.line(&format!(
                    "{} around a hunk. /verbosity 5 makes it 5.",
                    count(self.context, "unchanged line")
                )),
            },
        }
    }

    fn back_to_review(&mut self) {
        self.later = false;
        if self.session.review().is_empty() {
            self.voice.line("Nothing is under review.");
            return;
        }
        let text = format!(
            "{} {} show reads them.",
            hunks::summary(self.session.review()),
            hunks::standing(self.session.review())
        );
        self.voice.line(&text);
    }

    fn ask_again(&mut self) {
        self.put_off.clear();
        self.read_out = None;
        if self.session.questions().is_empty() {
            self.voice.line("There is no question.");
        } else {
            self.asks_now = true;
        }
    }

    fn read_output(&mut self) {
        let Some(log) = self.session.processes().logs.last() else {
            return self.voice.line("No command has run yet.");
        };
        let title = format!("The output of {}", log.line);
        let lines: Vec<&str> = log.lines.iter().map(String::as_str).chain([log.open_line.as_str()]).collect();
        let text = lines.join("\n");
        self.read(&title, &text);
    }

    fn list_files(&mut self, word: &str) {
        let paths = std::sync::Arc::clone(self.session.paths());
        let word = word.to_lowercase();
        let found: Vec<&String> = paths.iter().filter(|path| path.to_lowercase().contains(&word)).collect();
        self.voice.line(&format!("{}:", count(found.len(), "file")));
        self.voice.lines(found.iter().take(MOST_FILES));
        if found.len() > MOST_FILES {
            self.voice.line(&format!("({} more; a word narrows the list)", found.len() - MOST_FILES));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_session::COMMANDS;

    #[test]
    fn the_commands_of_this_mode_hide_none_of_the_program() {
        for own in OWN {
            assert!(COMMANDS.iter().all(|info| info.name != own.name), "{}", own.name);
        }
    }
}
