//! Why passages cannot be searched by meaning.

use crate::config::ConfigError;
use crate::store::vectors::VectorsError;
use rhumb_llm::embed::EmbedError;
use rhumb_session::Failure;

/// Vectors cannot be made or found.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The settings are ambiguous, or a key cannot be had.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The model or its server fails.
    #[error("{0}")]
    Embed(#[from] EmbedError),
    /// The database fails.
    #[error("{0}")]
    Store(#[from] VectorsError),
    /// No embeddings are set.
    #[error("no model makes embeddings here")]
    Off,
    /// A server is set, and no model.
    #[error("embeddings = \"remote\" needs a model and a server to ask")]
    NoServer,
    /// The user has no home.
    #[error("there is no home folder, so no vectors can be kept")]
    NoHome,
    /// The user has not agreed to send texts there.
    #[error("texts of this repository may not be sent to {host} yet")]
    NotAgreed {
        /// The machine.
        host: String,
    },
    /// The settings say that nothing is sent.
    #[error("embeddings_consent = \"never\" keeps all texts from {host}")]
    Never {
        /// The machine.
        host: String,
    },
    /// Nothing is embedded yet.
    #[error("nothing of this repository is embedded yet")]
    NotBuilt,
    /// The user stopped it.
    #[error("stopped")]
    Cancelled,
}

impl IndexError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Config(error) => error.hint(),
            Self::Embed(error) => error.hint().to_owned(),
            Self::Store(error) => error.hint().to_owned(),
            Self::Off => "Set embeddings = \"local\" and run rhumb index download, or set embeddings = \"remote\" with \
                          embeddings_model."
                .into(),
            Self::NoServer => {
                "Set embeddings_model = \"PROVIDER/NAME\", such as openai/text-embedding-3-small or ollama/nomic-embed-text.".into()
            }
            Self::NoHome => "Set HOME.".into(),
            Self::NotAgreed { .. } | Self::NotBuilt => {
                "rhumb index build says what it would send, and asks; so does /index build in the app.".into()
            }
            Self::Never { .. } => "Set it to \"ask\", or set embeddings = \"local\".".into(),
            Self::Cancelled => "What was embedded is kept; it goes on from there.".into(),
        }
    }

    /// The same for the eye.
    pub(crate) fn failure(&self) -> Failure {
        Failure { message: format!("{}.", self.to_string().trim_end_matches('.')), hint: self.hint() }
    }
}
