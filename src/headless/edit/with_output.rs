//! `rhumb edit --with-output`: what a test run or a log said goes along with the request.

use crate::headless::args::EditArgs;

use crate::context::fence_for;
use crate::error::{ErrorKind, UserError};
use crate::headless::{advise, complain, read_bytes};
use crate::session::runner::{Outfit, facts, shared_output};

/// The share of the window that an output may have, in tokens: an eighth, between these bounds.
const BOUNDS: (usize, usize) = (1_024, 8_192);

/// The message with the output that the flags name, if they name one. Of a long one the beginning and the end, and where the
/// whole is kept.
///
/// # Errors
/// The output cannot be read.
pub(crate) fn with_output(message: &str, args: &EditArgs, outfit: &Outfit) -> Result<String, UserError> {
    let Some(file) = &args.with_output else { return Ok(message.to_owned()) };
    if file.as_os_str() == "-" && args.message_file.as_ref().is_some_and(|message| message == file) {
        let text = "the request and the output cannot both come from standard input";
        return Err(UserError::new(ErrorKind::Usage, text, "give the request with -m"));
    }
    // What programs print need not be UTF-8.
    let text = String::from_utf8_lossy(&read_bytes(file)?).into_owned();
    let model = facts(outfit);
    let budget = (outfit.window(&model).max_input() / 8).clamp(BOUNDS.0, BOUNDS.1);
    let name = if file.as_os_str() == "-" { "output".into() } else { file.display().to_string() };
    let shared = shared_output(outfit, &name, &text, budget, &outfit.counter(&model));
    if let Some(whole) = &shared.whole {
        complain(&format!(
            "{} lines of {name} are left out; the whole output is in {}",
            shared.excerpt.omitted_lines,
            whole.display()
        ));
    }
    if let Some(note) = &shared.note {
        advise(&note.message, &note.hint);
    }
    let said = shared.excerpt.text.trim_end_matches('\n');
    let fence = fence_for([said]);
    Ok(format!("{message}\n\nThe output:\n{fence}\n{said}\n{fence}"))
}
