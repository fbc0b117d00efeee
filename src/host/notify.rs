//! `notify_cmd`: a command of the user that runs when the app needs their attention.

use super::Host;
use rhumb_session::{EffectKind, Failure, Response};
use std::process::{Command, Stdio};

/// The variable that carries the text.
const VARIABLE: &str = "RHUMB_MESSAGE";

impl Host {
    /// Runs the command with the text as its last argument and in a variable. An error is reported.
    pub(super) fn notify(self, text: String) {
        let Some(line) = self.shared.env.settings.notify_cmd.clone() else { return };
        tokio::task::spawn_blocking(move || {
            if let Err(reason) = run(&line, &text) {
                let message = format!("notify_cmd failed: {reason}.");
                self.respond_now(Response::Failed {
                    effect: EffectKind::Notify,
                    failure: Failure { message, hint: "Correct it in rhumb.toml.".into() },
                });
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_last_argument() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
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
