//! Excerpts of long outputs for the model: the beginning and the end. The whole output is saved in a file.

use crate::host::RequestEnv;
use crate::store::save_output;
use rhumb_session::context::{Excerpt, excerpt};
use rhumb_session::{Failure, SharedText};
use rhumb_tokens::TokenCounter;
use rhumb_workspace::process::Output;
use std::path::PathBuf;

/// An output for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedOutput {
    /// The part that the model sees.
    pub excerpt: Excerpt,
    /// The file with the whole output; `None` if nothing was omitted.
    pub whole: Option<PathBuf>,
    /// The error if it could not be saved.
    pub note: Option<Failure>,
}

/// The output of `what` (a command, a page) with at most `budget` tokens. A longer one is saved in a file.
pub fn shared_output(
    env: &RequestEnv,
    what: &str,
    text: &str,
    budget: usize,
    counter: &dyn TokenCounter,
) -> SharedOutput {
    let all = excerpt(text, budget, counter, None);
    let Some(state) = env.settings.state_folder.as_ref().filter(|_| all.omitted_bytes > 0) else {
        return SharedOutput { excerpt: all, whole: None, note: None };
    };
    match save_output(state, what, text) {
        Ok(path) => {
            let location = path.display().to_string();
            SharedOutput { excerpt: excerpt(text, budget, counter, Some(&location)), whole: Some(path), note: None }
        }
        Err(error) => {
            let message = format!("The output of {what} was shortened, and the whole could not be saved: {error}.");
            let note = Failure { message, hint: "Check its free space and permissions.".into() };
            SharedOutput { excerpt: all, whole: None, note: Some(note) }
        }
    }
}

/// The output of a command with at most `budget` tokens, under a title.
pub(super) fn shared_text(
    env: &RequestEnv,
    counter: &dyn TokenCounter,
    budget: usize,
    title: &str,
    output: &Output,
) -> (SharedText, Option<Failure>) {
    // An output that is too long for memory is in a file already.
    let (text, whole, note) = match &output.whole {
        Some(path) => {
            let location = path.display().to_string();
            (excerpt(&output.text, budget, counter, Some(&location)).text, Some(path.clone()), None)
        }
        None => {
            let shared = shared_output(env, title, &output.text, budget, counter);
            (shared.excerpt.text, shared.whole, shared.note)
        }
    };
    let tokens = counter.count(&text);
    (SharedText { title: title.to_owned(), text, tokens, whole }, note)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::host::CachedCounter;

    #[test]
    fn a_long_output_names_the_file_with_the_whole() {
        let state = tempfile::tempdir().unwrap();
        let settings = Settings { state_folder: Some(state.path().to_owned()), ..Settings::default() };
        let (env, counter) = (RequestEnv::new(settings), CachedCounter::for_model("m"));
        let text: String = (0..2_000).map(|number| format!("test {number} ... ok\n")).collect();
        let shared = shared_output(&env, "cargo test", &text, 300, &counter);
        let whole = shared.whole.unwrap();
        assert_eq!(std::fs::read_to_string(&whole).unwrap(), text);
        assert!(shared.excerpt.text.contains(&whole.display().to_string()), "{}", shared.excerpt.text);
        assert!(shared.excerpt.text.starts_with("test 0 ") && shared.excerpt.text.ends_with("test 1999 ... ok\n"));
        assert!(counter.count(&shared.excerpt.text) <= 300);
        let short = shared_output(&env, "cargo test", "ok\n", 300, &counter);
        assert_eq!((short.excerpt.text.as_str(), short.whole), ("ok\n", None));
    }
}
