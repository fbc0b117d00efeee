//! What of a long output goes to the model: its beginning and its end, with a note that says where the whole is kept.

use std::path::PathBuf;

use crate::host::RequestEnv;
use crate::store::keep_output;
use rhumb_session::Failure;
use rhumb_session::context::{Excerpt, excerpt};
use rhumb_tokens::TokenCounter;

/// An output as it is shared, and where the whole of it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedOutput {
    /// What the model sees.
    pub excerpt: Excerpt,
    /// The file with all of it; none where nothing was left out.
    pub whole: Option<PathBuf>,
    /// Why it could not be kept, if so.
    pub note: Option<Failure>,
}

/// The output of `what` (a command, a page) with at most `budget` tokens. What is longer is kept whole in a file first.
pub fn shared_output(
    outfit: &RequestEnv,
    what: &str,
    text: &str,
    budget: usize,
    counter: &dyn TokenCounter,
) -> SharedOutput {
    let all = excerpt(text, budget, counter, None);
    if all.omitted_bytes == 0 {
        return SharedOutput { excerpt: all, whole: None, note: None };
    }
    let Some(state) = &outfit.settings.state_folder else {
        return SharedOutput { excerpt: all, whole: None, note: None };
    };
    match keep_output(state, what, text) {
        Ok(path) => {
            let place = path.display().to_string();
            SharedOutput { excerpt: excerpt(text, budget, counter, Some(&place)), whole: Some(path), note: None }
        }
        Err(error) => {
            let message = format!("The output of {what} is cut, and the whole of it could not be kept: {error}.");
            let note = Failure { message, hint: "Check the space and the permissions there.".into() };
            SharedOutput { excerpt: all, whole: None, note: Some(note) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::host::CachedCounter;

    #[test]
    fn a_long_output_names_the_file_that_holds_all_of_it() {
        let state = tempfile::tempdir().unwrap();
        let settings = Settings { state_folder: Some(state.path().to_owned()), ..Settings::default() };
        let (outfit, counter) = (RequestEnv::new(settings), CachedCounter::for_model("m"));
        let text: String = (0..2_000).map(|number| format!("test {number} ... ok\n")).collect();
        let shared = shared_output(&outfit, "cargo test", &text, 300, &counter);
        let whole = shared.whole.unwrap();
        assert_eq!(std::fs::read_to_string(&whole).unwrap(), text);
        assert!(shared.excerpt.text.contains(&whole.display().to_string()), "{}", shared.excerpt.text);
        assert!(shared.excerpt.text.starts_with("test 0 ") && shared.excerpt.text.ends_with("test 1999 ... ok\n"));
        assert!(counter.count(&shared.excerpt.text) <= 300);
        let short = shared_output(&outfit, "cargo test", "ok\n", 300, &counter);
        assert_eq!((short.excerpt.text.as_str(), short.whole), ("ok\n", None));
    }
}
