//! Download of embedding models from the Hugging Face hub, without a key.
//!
//! The hub reports the current revision with the sizes and hashes of its files. Exactly these files are fetched and
//! verified. The target folder appears when all of them are complete.

use super::EmbedError;
use crate::answer::{cause, seconds};
use crate::endpoint::{is_loopback, parse_url, redact};
use crate::error::LlmError;
use crate::sanitize::{KeyMask, sanitize};
use reqwest::redirect::Policy;
use ring::digest::{Context, SHA256};
use serde_json::Value;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

const FILES: [&str; 3] = ["tokenizer.json", "model.safetensors", "config.json"];
/// Maximum size in bytes of a file. The largest of such models has half a gigabyte.
const MAX_FILE_BYTES: u64 = 2 << 30;
/// Maximum size in bytes of the hub's description of a model.
const MAX_METADATA_BYTES: usize = 4 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum time without data.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum number of redirects. The hub stores large files on other hosts.
const MAX_REDIRECTS: usize = 5;

/// A file of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubFile {
    /// File name.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal, if the hub reports it.
    sha256: Option<String>,
}

/// A model on the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubModel {
    /// Name on the hub: `MAKER/MODEL`.
    pub name: String,
    /// Revision.
    pub revision: String,
    /// Licence identifier, if the hub reports one.
    pub licence: Option<String>,
    /// The files.
    pub files: Vec<HubFile>,
    /// URL for display.
    pub source: String,
    hub: Url,
}

impl HubModel {
    /// Returns the total size in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Requests the description of a model from the hub.
///
/// # Errors
/// The hub does not answer, or it has no such model or one that cannot be used.
pub async fn look_up(hub: &str, name: &str) -> Result<HubModel, EmbedError> {
    let hub = parse_url(hub)?;
    let unfit = |reason: &str| EmbedError::NotAModel { name: sanitize(name), reason: reason.to_owned() };
    if !is_name(name) {
        return Err(unfit("its name must be MAKER/MODEL"));
    }
    let mut url = below(&hub, &["api", "models"], name, &["revision", "main"]);
    url.set_query(Some("blobs=true"));
    let mut said = Vec::new();
    fetch(&hub, url.clone(), &mut |bytes| {
        said.extend_from_slice(bytes);
        if said.len() > MAX_METADATA_BYTES {
            Err(EmbedError::Server(LlmError::TooMuch(MAX_METADATA_BYTES)))
        } else {
            Ok(())
        }
    })
    .await?;
    let not_an_api = || LlmError::NotAnApi { url: redact(&url), snippet: sanitize(&String::from_utf8_lossy(&said)) };
    let said: Value = serde_json::from_slice(&said).map_err(|_| not_an_api())?;
    let revision = said.get("sha").and_then(Value::as_str).filter(|sha| sha.chars().all(|c| c.is_ascii_hexdigit()));
    let revision = revision.ok_or_else(not_an_api)?.to_owned();
    let listed = said.get("siblings").and_then(Value::as_array).ok_or_else(not_an_api)?;
    let file = |name: &&str| {
        let named = |entry: &&Value| entry.get("rfilename").and_then(Value::as_str) == Some(name);
        let entry = listed.iter().find(named)?;
        let large = entry.get("lfs");
        let size = large.and_then(|large| large.get("size")).or_else(|| entry.get("size"));
        let sha256 = large.and_then(|large| large.get("sha256")).and_then(Value::as_str).map(str::to_lowercase);
        Some(HubFile { name: (*name).to_owned(), bytes: size.and_then(Value::as_u64)?, sha256 })
    };
    let files: Vec<HubFile> = FILES.iter().filter_map(file).collect();
    if files.len() < FILES.len() {
        return Err(unfit("it lacks tokenizer.json, model.safetensors or config.json"));
    }
    if files.iter().any(|file| file.bytes > MAX_FILE_BYTES) {
        return Err(unfit("it is larger than 2 GB"));
    }
    let licence = said.get("cardData").and_then(|card| card.get("license")).and_then(Value::as_str).map(sanitize);
    let source = redact(&below(&hub, &[], name, &[]));
    Ok(HubModel { name: name.to_owned(), revision, licence, files, source, hub })
}

/// Downloads a model into `folder` and replaces its previous content. `progress` is called with the received and the
/// total number of bytes.
///
/// # Errors
/// A file differs from its published size or hash, or the folder cannot be written.
pub async fn download(
    model: &HubModel,
    folder: &Path,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<(), EmbedError> {
    let unusable =
        |path: &Path, error: &io::Error| EmbedError::Unusable { path: path.to_owned(), reason: error.to_string() };
    let above = folder.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(above).map_err(|error| unusable(above, &error))?;
    // Next to the target, so that it can be renamed. An incomplete download is deleted.
    let part =
        tempfile::Builder::new().prefix(".download-").tempdir_in(above).map_err(|error| unusable(above, &error))?;
    let mut done = 0;
    for file in &model.files {
        let path = part.path().join(&file.name);
        let mut out = fs::File::create(&path).map_err(|error| unusable(&path, &error))?;
        let (mut hash, mut length) = (Context::new(&SHA256), 0);
        let url = below(&model.hub, &[], &model.name, &["resolve", &model.revision, &file.name]);
        let damaged = || EmbedError::Damaged(file.name.clone());
        fetch(&model.hub, url, &mut |bytes| {
            length += bytes.len() as u64;
            if length > file.bytes {
                return Err(damaged());
            }
            hash.update(bytes);
            out.write_all(bytes).map_err(|error| unusable(&path, &error))?;
            progress(done + length, model.bytes());
            Ok(())
        })
        .await?;
        let hex: String = hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        if length != file.bytes || file.sha256.as_ref().is_some_and(|published| *published != hex) {
            return Err(damaged());
        }
        out.sync_all().map_err(|error| unusable(&path, &error))?;
        done += length;
    }
    replace(part.path(), folder).map_err(|error| unusable(folder, &error))
}

/// Renames a folder to its target and deletes the previous one.
fn replace(from: &Path, to: &Path) -> io::Result<()> {
    let mut before = PathBuf::from(from);
    before.set_extension("before");
    match fs::rename(to, &before) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::rename(from, to)?;
    // The new folder is in place. A rest of the old one does no harm.
    drop(fs::remove_dir_all(&before));
    Ok(())
}

/// Returns whether the name has two parts that are valid path components.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_plain = part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        is_plain && part.chars().any(|c| c != '.')
    };
    name.split_once('/').is_some_and(|(maker, model)| is_part(maker) && is_part(model))
}

fn below(hub: &Url, before: &[&str], name: &str, after: &[&str]) -> Url {
    let mut url = hub.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(before).extend(name.split('/')).extend(after);
    }
    url
}

/// Fetches a URL and passes on its bytes as they arrive.
async fn fetch(
    hub: &Url,
    url: Url,
    take: &mut (dyn FnMut(&[u8]) -> Result<(), EmbedError> + Send),
) -> Result<(), EmbedError> {
    let cannot =
        |error: reqwest::Error| LlmError::Connect { url: redact(&url), cause: cause(&error, &KeyMask::default()) };
    let broken = |error: reqwest::Error| LlmError::Interrupted(cause(&error, &KeyMask::default()));
    let late = |_| LlmError::Idle(seconds(IDLE_TIMEOUT));
    let request = client(hub).map_err(cannot)?.get(url.clone());
    let mut response = timeout(IDLE_TIMEOUT, request.send()).await.map_err(late)?.map_err(cannot)?;
    match response.status().as_u16() {
        200 => {}
        // The hub answers 401 for unknown models, to hide private ones.
        401 | 403 | 404 => {
            let message = "the hub has no such model or file that everybody may read".to_owned();
            return Err(LlmError::NotFound { url: redact(&url), message }.into());
        }
        status => {
            let message = format!("no answer from {}", redact(&url));
            return Err(LlmError::Server { status, message, retry_after: None }.into());
        }
    }
    while let Some(bytes) = timeout(IDLE_TIMEOUT, response.chunk()).await.map_err(late)?.map_err(broken)? {
        take(&bytes)?;
    }
    Ok(())
}

/// Creates a client that follows a few redirects, but never from HTTPS to HTTP.
fn client(hub: &Url) -> Result<reqwest::Client, reqwest::Error> {
    // Fails if a provider is installed already.
    rustls::crypto::ring::default_provider().install_default().ok();
    let here = is_loopback(hub);
    let follow = move |attempt: reqwest::redirect::Attempt<'_>| {
        let is_safe = attempt.url().scheme() == "https" || (here && is_loopback(attempt.url()));
        if attempt.previous().len() > MAX_REDIRECTS || !is_safe { attempt.stop() } else { attempt.follow() }
    };
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("rhumb/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::custom(follow))
        .connect_timeout(CONNECT_TIMEOUT);
    if here {
        builder = builder.no_proxy();
        if hub.scheme() == "http" {
            // Does not read the system's certificates, which is slow and fails where there are none.
            builder = builder.tls_certs_only([]);
        }
    }
    builder.build()
}
