//! Downloading a model for this machine. Only when the user asks for it, without a key, and after its size was told.
//!
//! The hub says which revision it has and what the files of it are; exactly those are fetched, their sizes and hashes are held against
//! what was said, and the folder appears when all of them are there.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::redirect::Policy;
use ring::digest::{Context, SHA256};
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use super::EmbedError;
use crate::address::{self, is_loopback, shown};
use crate::answer::{cause, seconds};
use crate::clean::{Mask, clean};
use crate::error::LlmError;

/// What a model is made of. The first two are needed, and the third says how it was made.
const FILES: [&str; 3] = ["tokenizer.json", "model.safetensors", "config.json"];
/// No larger file is fetched, in bytes: the largest of such models has half a gigabyte.
const MOST_BYTES: u64 = 2 << 30;
/// What the hub says of a model is shorter, in bytes.
const MOST_SAID: usize = 4 << 20;
/// How long to wait for the connection.
const CONNECT: Duration = Duration::from_secs(10);
/// How long to wait for the next bytes.
const IDLE: Duration = Duration::from_secs(60);
/// The hub keeps large files elsewhere, a redirect or two away.
const MOST_REDIRECTS: usize = 5;

/// A file of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubFile {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256 in hexadecimal, where the hub tells.
    sha256: Option<String>,
}

/// A model that can be downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubModel {
    /// Its name there: MAKER/MODEL.
    pub name: String,
    /// The revision.
    pub revision: String,
    /// Its licence in a word, where the hub tells.
    pub licence: Option<String>,
    /// Its files.
    pub files: Vec<HubFile>,
    /// Where they come from, for the eye.
    pub source: String,
    hub: Url,
}

impl HubModel {
    /// Bytes of all of it.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// What the hub says of a model.
///
/// # Errors
/// It does not answer, has no such model, or one of another form.
pub async fn look_up(hub: &str, name: &str) -> Result<HubModel, EmbedError> {
    let hub = address::parse(hub)?;
    let unfit = |reason: &str| EmbedError::NotAModel { name: clean(name), reason: reason.to_owned() };
    if !is_name(name) {
        return Err(unfit("its name must be MAKER/MODEL"));
    }
    let mut url = below(&hub, &["api", "models"], name, &["revision", "main"]);
    url.set_query(Some("blobs=true"));
    let mut said = Vec::new();
    fetch(&hub, url.clone(), &mut |bytes| {
        said.extend_from_slice(bytes);
        if said.len() > MOST_SAID { Err(EmbedError::Server(LlmError::TooMuch { limit: MOST_SAID })) } else { Ok(()) }
    })
    .await?;
    let not_an_api = || LlmError::NotAnApi { url: shown(&url), snippet: clean(&String::from_utf8_lossy(&said)) };
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
    if files.iter().any(|file| file.bytes > MOST_BYTES) {
        return Err(unfit("it is larger than 2 GB"));
    }
    let licence = said.get("cardData").and_then(|card| card.get("license")).and_then(Value::as_str).map(clean);
    let source = shown(&below(&hub, &[], name, &[]));
    Ok(HubModel { name: name.to_owned(), revision, licence, files, source, hub })
}

/// Fetches a model into `folder`, which appears when all of it is there; what was there before makes room. `progress` is told the
/// bytes that have come, of all.
///
/// # Errors
/// A file does not come as it was said, or the folder cannot be written.
pub async fn download(
    model: &HubModel,
    folder: &Path,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<(), EmbedError> {
    let unusable =
        |path: &Path, error: &io::Error| EmbedError::Unusable { path: path.to_owned(), reason: error.to_string() };
    let above = folder.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(above).map_err(|error| unusable(above, &error))?;
    // Beside its place, so that it can be moved there; whoever gives up half-way leaves nothing.
    let part =
        tempfile::Builder::new().prefix(".download-").tempdir_in(above).map_err(|error| unusable(above, &error))?;
    let mut done = 0;
    for file in &model.files {
        let path = part.path().join(&file.name);
        let mut out = fs::File::create(&path).map_err(|error| unusable(&path, &error))?;
        let (mut hash, mut length) = (Context::new(&SHA256), 0);
        let url = below(&model.hub, &[], &model.name, &["resolve", &model.revision, &file.name]);
        let damaged = || EmbedError::Damaged { file: file.name.clone() };
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

/// Moves a folder to its place, and deletes what was there.
fn replace(from: &Path, to: &Path) -> io::Result<()> {
    let mut before = PathBuf::from(from);
    before.set_extension("before");
    match fs::rename(to, &before) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::rename(from, to)?;
    // The new one is in its place; what remains of the old one does no harm.
    drop(fs::remove_dir_all(&before));
    Ok(())
}

/// Whether a name is one that the hub can have: two parts that are no paths.
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

/// Fetches an address and passes on its bytes as they come.
async fn fetch(
    hub: &Url,
    url: Url,
    take: &mut (dyn FnMut(&[u8]) -> Result<(), EmbedError> + Send),
) -> Result<(), EmbedError> {
    let cannot = |error: reqwest::Error| LlmError::Connect { url: shown(&url), cause: cause(&error, &Mask::default()) };
    let broken = |error: reqwest::Error| LlmError::Interrupted { cause: cause(&error, &Mask::default()) };
    let late = |_| LlmError::Idle { seconds: seconds(IDLE) };
    let request = client(hub).map_err(cannot)?.get(url.clone());
    let mut response = timeout(IDLE, request.send()).await.map_err(late)?.map_err(cannot)?;
    match response.status().as_u16() {
        200 => {}
        // The hub says 401 of what it does not have, so as not to tell what is private.
        401 | 403 | 404 => {
            let message = "the hub has no such model or file that everybody may read".to_owned();
            return Err(LlmError::NotFound { url: shown(&url), message }.into());
        }
        status => {
            let message = format!("no answer from {}", shown(&url));
            return Err(LlmError::Server { status, message, retry_after: None }.into());
        }
    }
    while let Some(bytes) = timeout(IDLE, response.chunk()).await.map_err(late)?.map_err(broken)? {
        take(&bytes)?;
    }
    Ok(())
}

/// A client that follows a few redirects, and never from an encrypted connection to one that is not.
fn client(hub: &Url) -> Result<reqwest::Client, reqwest::Error> {
    // Fails if a provider is installed already, which is as good.
    rustls::crypto::ring::default_provider().install_default().ok();
    let here = is_loopback(hub);
    let follow = move |attempt: reqwest::redirect::Attempt<'_>| {
        let is_safe = attempt.url().scheme() == "https" || (here && is_loopback(attempt.url()));
        if attempt.previous().len() > MOST_REDIRECTS || !is_safe { attempt.stop() } else { attempt.follow() }
    };
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("rhumb/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::custom(follow))
        .connect_timeout(CONNECT);
    if here {
        builder = builder.no_proxy();
        if hub.scheme() == "http" {
            // Saves reading the system's certificates, which takes a while and fails where there are none.
            builder = builder.tls_certs_only([]);
        }
    }
    builder.build()
}
