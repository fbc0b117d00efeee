//! ModelRole makes embeddings, as the settings say, and whether texts may be sent there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::IndexError;
use crate::config::{Consent, Embeddings, EmbeddingsSource, Settings};
use crate::store::vectors::VectorStore;
use rhumb_llm::embed::{Embedder, RemoteEmbedder, static_embedder};

/// The embedder of the settings; `None` where embeddings are off. A model on this machine is read, which takes a moment; a server
/// is not contacted yet, but the user's own key command is run where there is one.
///
/// # Errors
/// There is no such model, or nobody who could be asked for it.
pub fn embedder(settings: &Settings) -> Result<Option<Arc<dyn Embedder>>, IndexError> {
    let wanted = &settings.embeddings;
    match wanted.source {
        EmbeddingsSource::Off => Ok(None),
        EmbeddingsSource::Local => {
            let name = wanted.local_model();
            Ok(Some(static_embedder(name, &model_folder(settings, name)?)?))
        }
        EmbeddingsSource::Remote => {
            let endpoint = settings.embeddings_endpoint()?.ok_or(IndexError::NoServer)?;
            Ok(Some(Arc::new(RemoteEmbedder::new(&endpoint, wanted.api, wanted.dims)?)))
        }
    }
}

/// The folder of a model on this machine, whether it is there or not.
///
/// # Errors
/// It is no path, and the user has no home.
pub fn model_folder(settings: &Settings, name: &str) -> Result<PathBuf, IndexError> {
    Embeddings::folder_of(name, settings.cache_folder.as_deref()).ok_or(IndexError::NoHome)
}

/// Whether texts of the repository whose vectors are in `folder` may go to the embedder.
///
/// # Errors
/// The user has not agreed yet, or the settings say that nothing is sent.
pub fn may_send(settings: &Settings, embedder: &dyn Embedder, folder: &Path) -> Result<(), IndexError> {
    let Some(host) = embedder.host() else { return Ok(()) };
    match settings.embeddings.consent {
        Consent::Always => Ok(()),
        Consent::Never => Err(IndexError::Never { host }),
        Consent::Ask => {
            let store = VectorStore::open_existing(folder)?;
            let agreed = store.map(|store| store.has_agreed(&host)).transpose()?.unwrap_or(false);
            if agreed { Ok(()) } else { Err(IndexError::NotAgreed { host }) }
        }
    }
}
