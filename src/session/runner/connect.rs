//! Whom to ask, as the settings say.

use std::sync::Arc;

use crate::config::Settings;
use crate::llm::{LlmError, OpenAi, Provider};

/// A provider and the model to ask it for.
#[derive(Clone)]
pub struct Line {
    /// The provider.
    pub provider: Arc<dyn Provider>,
    /// The model; empty until one is named.
    pub model: String,
    /// Something to know before the first message.
    pub warning: Option<&'static str>,
}

impl Line {
    /// A line to `provider` without a warning.
    pub fn new(provider: Arc<dyn Provider>, model: String) -> Self {
        Self { provider, model, warning: None }
    }
}

/// The provider of the settings; `None` where none is configured. Nothing is contacted yet.
///
/// # Errors
/// The address is none, or the key cannot be sent.
pub fn connect(settings: &Settings) -> Result<Option<Line>, LlmError> {
    let Some(base_url) = &settings.base_url else {
        return Ok(None);
    };
    let provider = OpenAi::new(base_url, settings.api_key.clone())?;
    let warning = provider
        .sends_key_in_clear()
        .then_some("The key travels unencrypted: the address is http and not on this machine.");
    let model = settings.model.clone().unwrap_or_default();
    Ok(Some(Line { provider: Arc::new(provider), model, warning }))
}
