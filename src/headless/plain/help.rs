//! The help, made from the tables of commands and words.

use super::commands::OWN;
use super::desk::Desk;
use super::phrases::in_words;
use super::words::WORDS;
use rhumb_session::{COMMANDS, Group, origin};

const MESSAGES: &str = "\
A line is a message to the model. One that ends with a backslash goes on with the next line; after a line that begins with three \
double quotes, \"\"\", everything is one message until a line ends with them. Several lines that are pasted without them are as \
many messages. A line that begins with a slash is a command.
Lines are taken one after the other, each when what the one before it set off is done.
Ctrl-C stops the answer or the command that runs; twice, it leaves. Ctrl-D or /quit leaves.";

impl Desk {
    /// Everything that can be typed.
    pub(super) fn help(&mut self) {
        self.voice.line(MESSAGES);
        let mut lines = vec!["commands of this mode:".to_owned()];
        lines.extend(OWN.iter().map(|own| command_line(own.name, own.arguments, own.help)));
        for group in Group::ALL {
            lines.push(format!("{}:", group.title()));
            let commands = COMMANDS.iter().filter(|info| info.group == group);
            lines.extend(commands.map(|info| command_line(info.name, info.arguments, info.help)));
        }
        let own = self.session.lookups().commands.usable();
        let own = own.map(|own| {
            let what = format!("{} ({}, {})", own.description, origin(own.source), own.path);
            command_line(&own.name, &own.arguments, &what)
        });
        let own: Vec<String> = own.collect();
        if !own.is_empty() {
            lines.push("commands of files:".to_owned());
            lines.extend(own);
        }
        self.voice.lines(lines);
        self.review_help();
    }

    /// What can be said in a review.
    pub(super) fn review_help(&mut self) {
        self.voice.line("words of the review:");
        self.voice.lines(WORDS.iter().map(|info| format!("  {}: {}", info.usage, info.help)));
        self.voice.line("Commands with a slash work there, too.");
    }

    /// There are no keys.
    pub(super) fn keys_help(&mut self) {
        self.voice
            .line("This mode has no keys of its own: lines are typed as in a shell. Ctrl-C stops, Ctrl-D leaves.");
        self.voice.line("hint: /help lists what can be typed.");
    }
}

fn command_line(name: &str, arguments: &str, help: &str) -> String {
    let usage = format!("/{name} {arguments}");
    format!("  {}: {}", usage.trim_end(), in_words(help))
}
