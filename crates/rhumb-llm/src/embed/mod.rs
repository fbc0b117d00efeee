//! Embeddings: vectors for texts, such that texts of similar meaning have similar vectors.
//!
//! [`static_embedder`] uses a local model without a network. [`RemoteEmbedder`] uses a server. [`download()`] fetches
//! a local model, and nothing else does.

mod hub;
mod remote;
#[cfg(feature = "static-embeddings")]
mod static_model;
#[cfg(test)]
pub(crate) mod tests;

use futures::future::BoxFuture;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use hub::{HubFile, HubModel, download, look_up};
pub use remote::RemoteEmbedder;

use crate::LlmError;

/// Purpose of a text. Some models embed queries differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// A query.
    Query,
    /// A text to be found.
    Passage,
}

/// Suggested size of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimit {
    /// Maximum number of texts.
    pub texts: usize,
    /// Maximum total size in bytes. A single text may be larger.
    pub bytes: usize,
}

/// Called before each pause that a server makes necessary, with its duration and the reason.
pub type OnWait<'a> = &'a (dyn Fn(Duration, &str) + Send + Sync);

/// A model that computes vectors of texts.
pub trait Embedder: Send + Sync {
    /// Identifies the model. Vectors may only be compared if their identities are equal.
    fn identity(&self) -> &str;

    /// Host that the texts are sent to, or `None` for a local model.
    fn host(&self) -> Option<String>;

    /// Suggested size of a batch.
    fn batch(&self) -> BatchLimit;

    /// Returns one vector for each text, in order, all of the same length and with finite numbers. A zero vector
    /// carries no information.
    ///
    /// May block the calling thread. Dropping the future closes its connection.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        kind: TextKind,
        on_wait: OnWait<'a>,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>>;
}

/// Opens the model2vec model in `folder`, which has the files `tokenizer.json`, `model.safetensors` and
/// `config.json`. `name` is its name for display.
///
/// # Errors
/// There is no model, it is damaged, or the crate was built without the feature `static-embeddings`.
#[cfg(feature = "static-embeddings")]
pub fn static_embedder(name: &str, folder: &Path) -> Result<Arc<dyn Embedder>, EmbedError> {
    Ok(Arc::new(static_model::StaticModel::open(name, folder)?))
}

/// Opens the model in `folder`. Not available in this build.
///
/// # Errors
/// Always: the crate was built without the feature `static-embeddings`.
#[cfg(not(feature = "static-embeddings"))]
pub fn static_embedder(_: &str, _: &Path) -> Result<Arc<dyn Embedder>, EmbedError> {
    Err(EmbedError::NotBuilt)
}

/// Splits texts into batches within the limit, each with at least one text.
pub fn batches(texts: &[String], limit: BatchLimit) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (at, text) in texts.iter().enumerate() {
        match batches.last_mut() {
            Some(last) if last.len() < limit.texts && bytes + text.len() <= limit.bytes => {
                last.end = at + 1;
                bytes += text.len();
            }
            _ => {
                batches.push(at..at + 1);
                bytes = text.len();
            }
        }
    }
    batches
}

/// Texts could not be embedded. No message contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The request to the server failed.
    #[error("{0}")]
    Server(#[from] LlmError),
    /// This server does not provide embeddings.
    #[error("{0} provides no embeddings in a format that rhumb supports")]
    NoEmbeddings(String),
    /// The number of vectors differs from the number of texts.
    #[error("{who} returned {found} vectors for {texts} texts")]
    Count {
        /// The server.
        who: String,
        /// Number of texts.
        texts: usize,
        /// Number of vectors.
        found: usize,
    },
    /// Vectors of one model have different lengths.
    #[error("{who} returned a vector of {found} numbers; the ones before have {known}")]
    Dims {
        /// The model.
        who: String,
        /// Length of the earlier vectors.
        known: usize,
        /// Length of this vector.
        found: usize,
    },
    /// A vector of this model has a value that is not a finite number.
    #[error("{0} returned a vector with a value that is not a number")]
    NotFinite(String),
    /// There is no model in the folder.
    #[error("there is no embedding model in {}", .0.display())]
    NoModel(PathBuf),
    /// A file of the model is damaged or has an unsupported format.
    #[error("{} cannot be used: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A downloaded file differs from the published one.
    #[error("{0} is damaged: its hash or size differs from the published one")]
    Damaged(String),
    /// The hub has no such model, or one that cannot be used.
    #[error("{name} is not an embedding model that rhumb can use: {reason}")]
    NotAModel {
        /// Name of the model.
        name: String,
        /// What is missing.
        reason: String,
    },
    /// The crate was built without local models.
    #[error("this rhumb was built without local embedding models")]
    NotBuilt,
}

impl EmbedError {
    /// What the user can do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Server(error) => error.hint(),
            Self::NoEmbeddings(_) => {
                "Name another model with embeddings_model = \"PROVIDER/NAME\", or its server with embeddings_url."
            }
            Self::Count { .. } | Self::NotFinite(_) => {
                "Check embeddings_url and embeddings_api; the server does not answer in that format."
            }
            Self::Dims { .. } => "Check embeddings_model, then run rhumb index delete and rhumb index build.",
            Self::NoModel(_) => {
                "rhumb index download fetches one, or name a folder with tokenizer.json, model.safetensors and config.json in \
                 embeddings_model."
            }
            Self::Unusable { .. } | Self::Damaged(_) => "rhumb index download fetches it again.",
            Self::NotAModel { .. } => "Choose a model in the form of model2vec, such as minishlab/potion-code-16M.",
            Self::NotBuilt => "Build it with the feature static-embeddings, or set embeddings = \"remote\".",
        }
    }
}
