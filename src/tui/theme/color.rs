//! Colours as theme files write them.

use ratatui::style::Color;

/// The sixteen ANSI colours by the names that theme files use, in the order of their codes.
const ANSI: [(&str, Color); 16] = [
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("bright-black", Color::DarkGray),
    ("bright-red", Color::LightRed),
    ("bright-green", Color::LightGreen),
    ("bright-yellow", Color::LightYellow),
    ("bright-blue", Color::LightBlue),
    ("bright-magenta", Color::LightMagenta),
    ("bright-cyan", Color::LightCyan),
    ("bright-white", Color::White),
];

/// The colour that `text` writes: `#rrggbb`, `#rgb`, a number from 0 to 255 of the terminal's palette, the name of an
/// ANSI colour (`red`, `bright-red`), or `default` for the terminal's own.
pub(super) fn parse(text: &str) -> Option<Color> {
    if let Some(hex) = text.strip_prefix('#') {
        return parse_hex(hex);
    }
    if text == "default" {
        return Some(Color::Reset);
    }
    let named = ANSI.iter().find(|(name, _)| *name == text).map(|(_, color)| *color);
    named.or_else(|| text.parse().ok().map(Color::Indexed))
}

fn parse_hex(hex: &str) -> Option<Color> {
    if !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(hex, 16).ok()?;
    match hex.len() {
        6 => {
            let [_, red, green, blue] = value.to_be_bytes();
            Some(Color::Rgb(red, green, blue))
        }
        3 => {
            let digit = |shift: u32| ((value >> shift & 0xF) * 0x11).to_be_bytes()[3];
            Some(Color::Rgb(digit(8), digit(4), digit(0)))
        }
        _ => None,
    }
}

/// The ANSI colour with that code, 0 to 15.
pub(super) fn ansi(code: usize) -> Option<Color> {
    ANSI.get(code).map(|(_, color)| *color)
}

/// The code of a named ANSI colour.
pub(super) fn code(color: Color) -> Option<usize> {
    ANSI.iter().position(|(_, named)| *named == color)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_has_several_spellings() {
        assert_eq!(parse("#1a2B3c"), Some(Color::Rgb(0x1a, 0x2b, 0x3c)));
        assert_eq!(parse("#fa0"), Some(Color::Rgb(0xff, 0xaa, 0)));
        assert_eq!(parse("bright-cyan"), Some(Color::LightCyan));
        assert_eq!(parse("208"), Some(Color::Indexed(208)));
        assert_eq!(parse("default"), Some(Color::Reset));
    }

    #[test]
    fn a_bad_colour_is_none() {
        for text in ["", "#", "#12", "#12345g", "#+12345", "256", "-1", "brass", "#€"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
