//! Reading the clipboard: a text by the system's own means, a picture by the tools that desktops have for it.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::images::new_picture;
use rhumb_llm::models::Model;
use rhumb_session::{Clipboard, Failure};
use rhumb_tokens::image_type;

/// How long a tool may take. The owner of a clipboard may be a program that hangs.
const TOOL_TIMEOUT: Duration = Duration::from_secs(5);
/// How often to look whether it has ended.
const POLL: Duration = Duration::from_millis(10);
/// No larger picture is taken, in bytes.
const MAX_PICTURE_BYTES: u64 = 20 * 1024 * 1024;

/// A tool that prints the picture on the clipboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tool {
    program: &'static str,
    arguments: &'static [&'static str],
    /// What to install to have it.
    package: &'static str,
    /// It prints the bytes in hexadecimal digits, within a word of its own.
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
const MAC_OWN: Tool =
    Tool {
        program: "osascript", arguments: &["-e", "the clipboard as «class PNGf»"], package: "pngpaste", hex: true
    };

/// What is on the clipboard: a text before a picture, as tables have both; with a `name`, a picture alone, called so.
pub(super) fn read(name: Option<&str>, model: &Model) -> Clipboard {
    let text = if name.is_none() { text() } else { None };
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => Clipboard::Text(text),
        None => picture(name, model, &tools(std::env::consts::OS, &|name| std::env::var_os(name).is_some())),
    }
}

/// The tools that fit this desktop, the likeliest first.
fn tools(os: &str, is_set: &dyn Fn(&str) -> bool) -> Vec<Tool> {
    if os == "macos" {
        return vec![MAC, MAC_OWN];
    }
    let wayland = Some(WAYLAND).filter(|_| is_set("WAYLAND_DISPLAY"));
    wayland.into_iter().chain(Some(X11).filter(|_| is_set("DISPLAY"))).collect()
}

fn picture(name: Option<&str>, model: &Model, tools: &[Tool]) -> Clipboard {
    let mut missing = Vec::new();
    for tool in tools {
        match output(tool) {
            Ok(bytes) if bytes.is_empty() => {}
            Ok(bytes) => {
                let bytes = if tool.hex { unhexed(&bytes) } else { bytes };
                if let Some(media_type) = image_type(&bytes) {
                    return Clipboard::Image(new_picture(&called(name), media_type, &bytes, model));
                }
            }
            Err(()) => missing.push(tool),
        }
    }
    let (message, hint) = match (tools, missing.as_slice()) {
        ([], _) => (
            "There is no desktop whose clipboard could hold a picture.".to_owned(),
            "/add takes the path of a picture.".to_owned(),
        ),
        (_, []) => ("There is no picture on the clipboard.".to_owned(), "/add takes the path of a picture.".to_owned()),
        (_, [tool, ..]) => (
            format!("A picture on the clipboard cannot be read: {} is not there.", tool.program),
            format!("Install {}; or save the picture and /add its path.", tool.package),
        ),
    };
    Clipboard::Nothing(Failure { message, hint })
}

fn called(name: Option<&str>) -> String {
    let name = name.map(str::trim).filter(|name| !name.is_empty()).unwrap_or("pasted.png");
    let name = rhumb_text::sanitize::visible_line(name).into_owned();
    if name.contains('.') { name } else { format!("{name}.png") }
}

/// What a tool prints; nothing if it fails or takes too long. An error if it is not installed.
fn output(tool: &Tool) -> Result<Vec<u8>, ()> {
    let started = Command::new(tool.program)
        .args(tool.arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // Not in the repository, where a relative entry of PATH could name a program of its own.
        .current_dir(std::env::home_dir().filter(|home| home.is_dir()).unwrap_or_else(std::env::temp_dir))
        .spawn();
    let Ok(mut child) = started else { return Err(()) };
    let pipe = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.map(|pipe| pipe.take(MAX_PICTURE_BYTES + 1).read_to_end(&mut bytes));
        bytes
    });
    let limit = Instant::now() + TOOL_TIMEOUT;
    while Instant::now() < limit && !reader.is_finished() {
        std::thread::sleep(POLL);
    }
    let done = reader.is_finished();
    // It has printed all that is wanted; whatever else it does is not waited for.
    child.kill().ok();
    let succeeded = child.wait().is_ok();
    let bytes = if done && succeeded { reader.join().unwrap_or_default() } else { Vec::new() };
    Ok(if bytes.len() as u64 > MAX_PICTURE_BYTES { Vec::new() } else { bytes })
}

/// The bytes in `«data PNGf89504E47…»`.
fn unhexed(printed: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(printed);
    let digits = text.split_once("PNGf").map_or("", |(_, digits)| digits);
    let digits: Vec<u8> =
        digits.chars().map_while(|c| c.to_digit(16)).filter_map(|digit| digit.try_into().ok()).collect();
    digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect()
}

/// The text on the system's clipboard, if it can be had.
#[cfg(feature = "clipboard")]
fn text() -> Option<String> {
    arboard::Clipboard::new().ok()?.get_text().ok()
}

/// There is no system clipboard in this build.
#[cfg(not(feature = "clipboard"))]
fn text() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_llm::models::Catalog;

    #[test]
    fn the_desktop_says_which_tool_is_asked() {
        let names = |os: &str, set: &[&str]| {
            tools(os, &|name| set.contains(&name)).iter().map(|tool| tool.program).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("linux", &["WAYLAND_DISPLAY", "DISPLAY"]), "wl-paste xclip");
        assert_eq!(names("linux", &["DISPLAY"]), "xclip");
        assert_eq!(names("linux", &[]), "");
        assert_eq!(names("macos", &[]), "pngpaste osascript");
    }

    #[test]
    fn a_tool_that_is_not_there_is_named() {
        let tool = Tool { program: "rhumb-no-such-tool", arguments: &[], package: "the-package", hex: false };
        let found = picture(None, &Model::unknown("m"), &[tool]);
        let Clipboard::Nothing(failure) = found else { panic!("{found:?}") };
        assert!(failure.message.contains("rhumb-no-such-tool") && failure.hint.contains("the-package"), "{failure:?}");
        let found = picture(None, &Model::unknown("m"), &[]);
        assert!(matches!(found, Clipboard::Nothing(failure) if failure.message.contains("no desktop")));
    }

    #[cfg(unix)]
    #[test]
    fn what_a_tool_prints_is_the_picture() {
        let print =
            r#"printf '\211PNG\r\n\032\n\000\000\000\rIHDR\000\000\004\000\000\000\004\000\010\002\000\000\000'"#;
        let arguments: &'static [&'static str] = Box::leak(vec!["-c", print].into_boxed_slice());
        let tool = Tool { program: "sh", arguments, package: "", hex: false };
        let found = picture(Some("shot"), &Catalog::bundled().find("gpt-4o"), &[tool]);
        let Clipboard::Image(Ok(picture)) = found else { panic!("{found:?}") };
        assert_eq!((picture.image.name.as_str(), picture.tokens), ("shot.png", 765));
        let empty = Tool { arguments: &["-c", "exit 1"], ..tool };
        assert!(matches!(super::picture(None, &Model::unknown("m"), &[empty]), Clipboard::Nothing(_)));
    }

    #[test]
    fn a_picture_in_hexadecimal_digits_is_read() {
        assert_eq!(unhexed("«data PNGf89504E47»\n".as_bytes()), b"\x89PNG");
        assert_eq!(unhexed(b"nothing"), b"");
    }
}
