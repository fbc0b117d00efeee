//! Images: reads them from files, and checks whether the model accepts them.

use rhumb_llm::Image;
use rhumb_llm::models::{Catalog, Model};
use rhumb_session::{Failure, NewImage};
use rhumb_tokens::{ImageCost, image_size, image_type};
use std::path::{Path, PathBuf};

const MAX_FILE_BYTES: u64 = 20 * 1024 * 1024;
/// Aliases of models that accept images, as examples in messages.
const EXAMPLE_MODELS: [&str; 3] = ["sonnet", "gpt", "pro"];

/// Why a file was not added as an image.
#[derive(Debug)]
pub(super) enum NotAnImage {
    /// It is not an image, or does not exist.
    OtherFile(Failure),
    /// It is an image that the model does not accept.
    Refused(Failure),
}

/// Why the model does not accept an image; `None` if it does.
pub(crate) fn image_refusal(bytes: &[u8], model: &Model) -> Option<String> {
    if !model.capabilities.images {
        return Some(match model.name.as_str() {
            "" => "no model is connected".to_owned(),
            name => format!("{name} accepts no images; {} do", example_models()),
        });
    }
    let limit = ImageCost::for_model(&model.name).limit();
    if bytes.len() > limit.bytes {
        let size = |bytes: usize| format!("{:.1} MB", bytes as f64 / 1e6);
        return Some(format!("it has {}, and {} accepts at most {}", size(bytes.len()), model.name, size(limit.bytes)));
    }
    let (width, height) = image_size(bytes)?;
    let side = limit.side.filter(|side| width.max(height) > *side)?;
    Some(format!("it has {width}×{height} pixels, and {} accepts at most {side} per side", model.name))
}

fn example_models() -> String {
    let catalog = Catalog::bundled();
    let names: Vec<&str> = EXAMPLE_MODELS.into_iter().filter(|name| catalog.find(name).capabilities.images).collect();
    names.join(", ")
}

pub(super) fn new_image(name: &str, media_type: &str, bytes: &[u8], model: &Model) -> Result<NewImage, Failure> {
    if let Some(reason) = image_refusal(bytes, model) {
        return Err(Failure { message: format!("{name} is not added: {reason}."), hint: hint(model) });
    }
    let tokens = ImageCost::for_model(&model.name).tokens(bytes);
    let image = Image { name: name.to_owned(), media_type: media_type.to_owned(), bytes: bytes.into() };
    Ok(NewImage { tokens, size: image_size(bytes), image })
}

fn hint(model: &Model) -> String {
    match (model.capabilities.images, model.name.as_str()) {
        (true, _) => "Reduce its size, or crop it.".to_owned(),
        (false, "") => "Connect a model: /servers finds local servers, or start with --model.".to_owned(),
        (false, name) => {
            format!(
                "Choose another with /model. If {name} accepts images, set images = true in [models.\"{name}\"] in rhumb.toml."
            )
        }
    }
}

/// The image at a path that was typed, or dragged into the terminal.
pub(super) fn image_from_file(typed: &str, model: &Model) -> Result<NewImage, NotAnImage> {
    let path = path_of(typed);
    let shown = path.display().to_string();
    let other =
        |message: String| NotAnImage::OtherFile(Failure::new(message, "Pictures are PNG, JPEG, GIF or WebP files."));
    let bytes = read(&path).map_err(|reason| other(format!("{shown} is not added: {reason}.")))?;
    let Some(media_type) = image_type(&bytes) else {
        return Err(other(format!("{shown} is not added: it is not an image in a supported format.")));
    };
    let name = path.file_name().map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
    let name = rhumb_text::sanitize::visible_line(&name).into_owned();
    new_image(&name, media_type, &bytes, model).map_err(NotAnImage::Refused)
}

/// Reads a regular file within the size limit. Reading other files could block.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".into());
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(format!("it is larger than {} MB", MAX_FILE_BYTES / 1_000_000));
    }
    std::fs::read(path).map_err(|error| error.to_string())
}

/// The path from a `file:` URL, or with quotes, backslashes before spaces, or `~`.
fn path_of(typed: &str) -> PathBuf {
    let typed = typed.trim();
    let address = url::Url::parse(typed).ok().filter(|url| url.scheme() == "file");
    if let Some(path) = address.and_then(|url| url.to_file_path().ok()) {
        return path;
    }
    let plain = PathBuf::from(typed);
    let words = if cfg!(windows) || plain.exists() { None } else { shell_words::split(typed).ok() };
    let word = words.filter(|words| words.len() == 1).and_then(|mut words| words.pop());
    let path = word.unwrap_or_else(|| typed.trim_matches(['\'', '"']).to_owned());
    match path.strip_prefix("~/").zip(std::env::home_dir()) {
        Some((below, home)) => home.join(below),
        None => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning of a PNG of that size.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend(b"\x08\x02\0\0\0");
        bytes
    }

    #[test]
    fn a_model_without_images_is_named_with_some_that_accept_them() {
        let model = Catalog::bundled().find("deepseek-chat");
        let failure = new_image("a.png", "image/png", &png(10, 10), &model).unwrap_err();
        assert!(failure.message.contains("deepseek-chat accepts no images; sonnet, gpt, pro do"), "{failure:?}");
        assert!(failure.hint.contains("images = true"), "{failure:?}");
        let failure = new_image("a.png", "image/png", &png(10, 10), &Model::unknown("")).unwrap_err();
        assert!(failure.message.contains("no model is connected"), "{failure:?}");
    }

    #[test]
    fn an_image_above_the_limit_is_refused_with_both_sizes() {
        let model = Catalog::bundled().find("sonnet");
        assert_eq!(image_refusal(&png(8_000, 10), &model), None);
        assert!(image_refusal(&png(8_001, 10), &model).unwrap().contains("8001×10 pixels"));
        let mut heavy = png(10, 10);
        heavy.resize(4_000_000, 0);
        assert!(image_refusal(&heavy, &model).unwrap().contains("4.0 MB"));
        assert_eq!(image_refusal(&heavy, &Catalog::bundled().find("gpt-4o")), None);
    }

    #[test]
    fn a_file_is_an_image_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let model = Catalog::bundled().find("gpt-4o");
        let put = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.path().join(name), bytes).unwrap();
            folder.path().join(name).display().to_string()
        };
        let path = put("a b.jpg", &png(1_024, 1_024));
        for typed in [
            path.clone(),
            format!("'{path}'"),
            path.replace(' ', "\\ "),
            format!("file://{}", path.replace(' ', "%20")),
        ] {
            let picture = image_from_file(&typed, &model).unwrap();
            assert_eq!((picture.image.media_type.as_str(), picture.tokens), ("image/png", 765), "{typed}");
            assert_eq!(picture.image.name, "a b.jpg");
        }
        for typed in [put("a.png", b"text"), "/nowhere/a.png".into(), folder.path().display().to_string()] {
            assert!(matches!(image_from_file(&typed, &model), Err(NotAnImage::OtherFile(_))), "{typed}");
        }
    }
}
