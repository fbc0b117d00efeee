//! What can go wrong with embeddings, sorted by what the user can do about it.

use std::path::PathBuf;

use crate::LlmError;

/// Texts could not be embedded. No text of these errors holds a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The server failed or refused.
    #[error("{0}")]
    Server(#[from] LlmError),
    /// The server does not make embeddings.
    #[error("{who} serves no embeddings in a format that rhumb knows")]
    NoEmbeddings {
        /// The server.
        who: String,
    },
    /// The server answered with another number of vectors than it was given texts.
    #[error("{who} returned {found} vectors for {texts} texts")]
    Count {
        /// The server.
        who: String,
        /// How many texts it was given.
        texts: usize,
        /// How many vectors it made.
        found: usize,
    },
    /// Vectors of one model differ in their length.
    #[error("{who} returned a vector of {found} numbers; the ones before have {known}")]
    Dims {
        /// The model.
        who: String,
        /// Numbers of the vectors before.
        known: usize,
        /// Numbers of this one.
        found: usize,
    },
    /// A vector holds something that is no number.
    #[error("{who} returned a vector with a value that is not a number")]
    NoNumber {
        /// The model.
        who: String,
    },
    /// There is no model in the folder.
    #[error("there is no embedding model in {}", folder.display())]
    NoModel {
        /// The folder.
        folder: PathBuf,
    },
    /// The model's file is damaged or of another kind.
    #[error("{} cannot be used: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// What was downloaded is not what was published.
    #[error("{file} arrived damaged: its hash or size is not the published one")]
    Damaged {
        /// The file.
        file: String,
    },
    /// The hub has no such model, or one of another form.
    #[error("{name} is not an embedding model that rhumb can use: {reason}")]
    NotAModel {
        /// Its name.
        name: String,
        /// What is missing.
        reason: String,
    },
    /// This program was built without models of its own.
    #[error("this rhumb was built without embedding models on this machine")]
    NotBuilt,
}

impl EmbedError {
    /// What to do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Server(error) => error.hint(),
            Self::NoEmbeddings { .. } => {
                "Name another model with embeddings_model = \"PROVIDER/NAME\", or its server with embeddings_url."
            }
            Self::Count { .. } | Self::NoNumber { .. } => {
                "Check embeddings_url and embeddings_api; the server does not answer as they say."
            }
            Self::Dims { .. } => "Check embeddings_model; rhumb index delete, then rhumb index build begins anew.",
            Self::NoModel { .. } => {
                "rhumb index download fetches one, or name a folder with tokenizer.json, model.safetensors and config.json in \
                 embeddings_model."
            }
            Self::Unusable { .. } | Self::Damaged { .. } => "rhumb index download fetches it again.",
            Self::NotAModel { .. } => "Choose a model in the form of model2vec, such as minishlab/potion-code-16M.",
            Self::NotBuilt => "Build it with the feature static-embeddings, or set embeddings = \"remote\".",
        }
    }
}
