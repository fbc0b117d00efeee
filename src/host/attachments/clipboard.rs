//! Reads the clipboard: text with a library, images with the tools of the desktop.

use super::images::new_image;
use rhumb_llm::models::Model;
use rhumb_session::{Clipboard, Failure};
use rhumb_tokens::image_type;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Maximum time for a tool. The owner of the clipboard may hang.
const TOOL_TIMEOUT: Duration = Duration::from_secs(5);
/// How often to check whether it has ended.
const POLL: Duration = Duration::from_millis(10);
const MAX_IMAGE_BYTES: u64 = 20 * 1024 * 1024;

/// A tool that prints the image on the clipboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tool {
    program: &'static str,
    arguments: &'static [&'static str],
    package: &'static str,
    /// Whether it prints hexadecimal digits in a literal.
    hex: bool,
}

const WAYLAND: Tool = Tool {
    program: "wl-paste",
    arguments: &["--no-newline", "--type", "image/png"],
    package: "wl-clipboard",
    hex: false,
};
const X11: Tool = Tool {
    program: "xclip",
    arguments: &["-selection", "clipboard", "-target", "image/png", "-out"],
    package: "xclip",
    hex: false,
};
const MAC: Tool = Tool { program: "pngpaste", arguments: &["-"], package: "pngpaste", hex: false };
const MAC_BUILT_IN: Tool =
    Tool {
        program: "osascript", arguments: &["-e", "the clipboard as «class PNGf»"], package: "pngpaste", hex: true
    };

/// Reads the clipboard. Text is preferred, because tables have both. With a `name`, only an image of that name is read.
pub(super) fn read(name: Option<&str>, model: &Model) -> Clipboard {
    let text = if name.is_none() { text() } else { None };
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => Clipboard::Text(text),
        None => image(name, model, &tools(std::env::consts::OS, &|name| std::env::var_os(name).is_some())),
    }
}

/// The tools of this desktop, in order of preference.
fn tools(os: &str, is_set: &dyn Fn(&str) -> bool) -> Vec<Tool> {
    if os == "macos" {
        return vec![MAC, MAC_BUILT_IN];
    }
    let wayland = Some(WAYLAND).filter(|_| is_set("WAYLAND_DISPLAY"));
    wayland.into_iter().chain(Some(X11).filter(|_| is_set("DISPLAY"))).collect()
}

fn image(name: Option<&str>, model: &Model, tools: &[Tool]) -> Clipboard {
    let mut missing = Vec::new();
    for tool in tools {
        match output(tool) {
            Ok(bytes) if bytes.is_empty() => {}
            Ok(bytes) => {
                let bytes = if tool.hex { decode_hex(&bytes) } else { bytes };
                if let Some(media_type) = image_type(&bytes) {
                    return Clipboard::Image(new_image(&image_name(name), media_type, &bytes, model));
                }
            }
            Err(()) => missing.push(tool),
        }
    }
    let (message, hint) = match (tools, missing.as_slice()) {
        ([], _) => (
            "There is no desktop with a clipboard for images.".to_owned(),
            "/add accepts the path of an image.".to_owned(),
        ),
        (_, []) => ("There is no image on the clipboard.".to_owned(), "/add accepts the path of an image.".to_owned()),
        (_, [tool, ..]) => (
            format!("An image on the clipboard cannot be read: {} is not installed.", tool.program),
            format!("Install {}, or save the image and /add its path.", tool.package),
        ),
    };
    Clipboard::Nothing(Failure { message, hint })
}

fn image_name(name: Option<&str>) -> String {
    let name = name.map(str::trim).filter(|name| !name.is_empty()).unwrap_or("pasted.png");
    let name = rhumb_text::sanitize::visible_line(name).into_owned();
    if name.contains('.') { name } else { format!("{name}.png") }
}

/// The output of a tool; empty if it fails or takes too long. An error if it is not installed.
fn output(tool: &Tool) -> Result<Vec<u8>, ()> {
    let started = Command::new(tool.program)
        .args(tool.arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // Not in the repository: a relative entry of PATH could refer to a program there.
        .current_dir(std::env::home_dir().filter(|home| home.is_dir()).unwrap_or_else(std::env::temp_dir))
        .spawn();
    let Ok(mut child) = started else { return Err(()) };
    let pipe = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.map(|pipe| pipe.take(MAX_IMAGE_BYTES + 1).read_to_end(&mut bytes));
        bytes
    });
    let limit = Instant::now() + TOOL_TIMEOUT;
    while Instant::now() < limit && !reader.is_finished() {
        std::thread::sleep(POLL);
    }
    let done = reader.is_finished();
    // The output is complete, or the time is over.
    child.kill().ok();
    let succeeded = child.wait().is_ok();
    let bytes = if done && succeeded { reader.join().unwrap_or_default() } else { Vec::new() };
    Ok(if bytes.len() as u64 > MAX_IMAGE_BYTES { Vec::new() } else { bytes })
}

/// The bytes in `«data PNGf89504E47…»`.
fn decode_hex(printed: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(printed);
    let digits = text.split_once("PNGf").map_or("", |(_, digits)| digits);
    let digits: Vec<u8> =
        digits.chars().map_while(|c| c.to_digit(16)).filter_map(|digit| digit.try_into().ok()).collect();
    digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect()
}

#[cfg(feature = "clipboard")]
fn text() -> Option<String> {
    arboard::Clipboard::new().ok()?.get_text().ok()
}

#[cfg(not(feature = "clipboard"))]
fn text() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_llm::models::Catalog;

    #[test]
    fn the_tool_depends_on_the_desktop() {
        let names = |os: &str, set: &[&str]| {
            tools(os, &|name| set.contains(&name)).iter().map(|tool| tool.program).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("linux", &["WAYLAND_DISPLAY", "DISPLAY"]), "wl-paste xclip");
        assert_eq!(names("linux", &["DISPLAY"]), "xclip");
        assert_eq!(names("linux", &[]), "");
        assert_eq!(names("macos", &[]), "pngpaste osascript");
    }

    #[test]
    fn a_missing_tool_is_named() {
        let tool = Tool { program: "rhumb-no-such-tool", arguments: &[], package: "the-package", hex: false };
        let found = image(None, &Model::unknown("m"), &[tool]);
        let Clipboard::Nothing(failure) = found else { panic!("{found:?}") };
        assert!(failure.message.contains("rhumb-no-such-tool") && failure.hint.contains("the-package"), "{failure:?}");
        let found = image(None, &Model::unknown("m"), &[]);
        assert!(matches!(found, Clipboard::Nothing(failure) if failure.message.contains("no desktop")));
    }

    #[cfg(unix)]
    #[test]
    fn the_output_of_a_tool_is_the_image() {
        let print =
            r#"printf '\211PNG\r\n\032\n\000\000\000\rIHDR\000\000\004\000\000\000\004\000\010\002\000\000\000'"#;
        let arguments: &'static [&'static str] = Box::leak(vec!["-c", print].into_boxed_slice());
        let tool = Tool { program: "sh", arguments, package: "", hex: false };
        let found = image(Some("shot"), &Catalog::bundled().find("gpt-4o"), &[tool]);
        let Clipboard::Image(Ok(picture)) = found else { panic!("{found:?}") };
        assert_eq!((picture.image.name.as_str(), picture.tokens), ("shot.png", 765));
        let empty = Tool { arguments: &["-c", "exit 1"], ..tool };
        assert!(matches!(super::image(None, &Model::unknown("m"), &[empty]), Clipboard::Nothing(_)));
    }

    #[test]
    fn an_image_in_hexadecimal_digits_is_decoded() {
        assert_eq!(decode_hex("«data PNGf89504E47»\n".as_bytes()), b"\x89PNG");
        assert_eq!(decode_hex(b"nothing"), b"");
    }
}
