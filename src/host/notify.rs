//! The user's own command that tells them that the app waits for them.

use std::process::{Command, Stdio};

use super::Host;
use rhumb_session::{EffectKind, Failure, Response};

/// The variable that carries the text.
const VARIABLE: &str = "RHUMB_MESSAGE";

impl Host {
    /// Runs the command with the text as its last argument, and in a variable. A command that fails is told.
    pub(super) fn notify(self, text: String) {
        let Some(line) = self.shared.outfit.settings.notify_cmd.clone() else { return };
        tokio::task::spawn_blocking(move || {
            if let Err(reason) = run(&line, &text) {
                let message = format!("notify_cmd could not be run: {reason}.");
                let failure = Failure { message, hint: "Mend it in rhumb.toml.".into() };
                self.report_now(Response::Failed { effect: EffectKind::Notify, failure });
            }
        });
    }
}

fn run(line: &str, text: &str) -> Result<(), String> {
    let words = shell_words::split(line).map_err(|error| error.to_string())?;
    let (program, arguments) = words.split_first().ok_or("it is empty")?;
    let mut command = Command::new(program);
    command.args(arguments).arg(text).env(VARIABLE, text);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().map_err(|error| format!("{program}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{program} ended with {status}")) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_last_argument() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("told");
        let line = format!("sh -c 'printf %s \"$1\" > {}' sh", file.display());
        run(&line, "rhumb is done").unwrap();
        assert_eq!(std::fs::read_to_string(file).unwrap(), "rhumb is done");
    }

    #[test]
    fn a_command_that_fails_is_named() {
        assert!(run("false", "x").unwrap_err().contains("false"));
        assert!(run("/no/such/program", "x").unwrap_err().contains("/no/such/program"));
        assert!(run("'", "x").is_err() && run("", "x").is_err());
    }
}
