//! `--with-output`: the output of a test run or a log as a part of the request.

use crate::error::{ErrorKind, UserError};
use crate::headless::args::EditArgs;
use crate::headless::{advise, complain, read_bytes};
use crate::host::{RequestEnv, facts, output_budget, shared_output};
use rhumb_session::Entry;

/// The output that the flag names, as an entry that is sent with the request; `None` without the flag. Of a long output the beginning
/// and the end are sent, and the whole is kept in a file.
///
/// # Errors
/// The output cannot be read.
pub(super) fn with_output(args: &EditArgs, outfit: &RequestEnv) -> Result<Option<Entry>, UserError> {
    let Some(file) = &args.with_output else { return Ok(None) };
    if file.as_os_str() == "-" && args.message_file.as_ref().is_some_and(|message| message == file) {
        let text = "the request and the output cannot both come from standard input";
        return Err(UserError::new(ErrorKind::Usage, text, "give the request with -m"));
    }
    // What programs print need not be UTF-8.
    let text = String::from_utf8_lossy(&read_bytes(file)?).into_owned();
    let model = facts(outfit);
    let name = if file.as_os_str() == "-" { "output".into() } else { file.display().to_string() };
    let shared = shared_output(outfit, &name, &text, output_budget(outfit, &model), &outfit.counter(&model));
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
    let fence = rhumb_session::context::fence_for([said]);
    let text = format!("The output:\n{fence}\n{said}\n{fence}");
    Ok(Some(Entry::Shared { title: name, text, whole: shared.whole }))
}
