//! Embeddings: texts go in, vectors come out, those of texts with alike meaning near to each other.
//!
//! A model on this machine (`static_model`) reads two files of a folder and never the network. A server (`remote`) is asked as
//! for answers: with its own key, patiently, and nothing is sent to it that its caller was not allowed to send. Models are
//! downloaded (`hub`) when the user asks for one, and never else.

mod error;
mod hub;
mod remote;
#[cfg(feature = "static-embeddings")]
mod safetensors;
#[cfg(feature = "static-embeddings")]
mod static_model;
#[cfg(test)]
pub(crate) mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

pub use error::EmbedError;
pub use hub::{HubFile, HubModel, download, look_up};
pub use remote::RemoteEmbedder;

/// What a text is for. Some models embed a question otherwise than what answers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// It is a question.
    Query,
    /// It is to be found.
    Passage,
}

/// How many texts are sensible in one go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimit {
    /// Most texts.
    pub texts: usize,
    /// Most bytes of all of them together; a single text may be longer.
    pub bytes: usize,
}

/// Told of each pause that a server makes necessary: how long it is, and why.
pub type OnWait<'a> = &'a (dyn Fn(Duration, &str) + Send + Sync);

/// A model that makes vectors of texts.
pub trait Embedder: Send + Sync {
    /// What it is: vectors of two embedders may be compared if this is the same, and never else.
    fn identity(&self) -> &str;

    /// The machine that texts are sent to; `None` where they stay on this one.
    fn host(&self) -> Option<String>;

    /// How many texts are sensible in one go.
    fn batch(&self) -> BatchLimit;

    /// A vector for each of the texts, in their order, all of one length and of finite numbers. One of zeros says nothing. May keep
    /// the calling thread busy for as long as it takes; dropping the future closes its connection.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        kind: TextKind,
        on_wait: OnWait<'a>,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>>;
}

/// The model in `folder`, in the form of model2vec: `tokenizer.json`, `model.safetensors`, `config.json`. `name` is what it
/// is called.
///
/// # Errors
/// There is none, it is damaged, or this program was built without such models.
#[cfg(feature = "static-embeddings")]
pub fn static_embedder(name: &str, folder: &Path) -> Result<Arc<dyn Embedder>, EmbedError> {
    Ok(Arc::new(static_model::StaticModel::open(name, folder)?))
}

/// The model in `folder`: none in this build.
///
/// # Errors
/// Always: this program was built without such models.
#[cfg(not(feature = "static-embeddings"))]
pub fn static_embedder(_: &str, _: &Path) -> Result<Arc<dyn Embedder>, EmbedError> {
    Err(EmbedError::NotBuilt)
}

/// Cuts texts into batches within the limit, each with at least one.
pub fn batches(texts: &[String], limit: BatchLimit) -> Vec<std::ops::Range<usize>> {
    let mut batches: Vec<std::ops::Range<usize>> = Vec::new();
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
