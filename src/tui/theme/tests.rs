//! Tests of the themes as a whole: what they define, how they inherit, how legible they are.

use ratatui::style::{Color, Modifier};

use super::*;

fn find_inside(name: &str, level: usize) -> Option<String> {
    let found = BUILTIN.iter().find(|(own, _)| *own == name).map(|(_, toml)| (*toml).to_owned());
    found.filter(|_| level == 0)
}

fn own(toml: &str) -> Result<Theme, ThemeError> {
    Theme::load("mine", ColorDepth::True, &|name| (name == "mine").then(|| toml.to_owned()))
}

#[test]
fn every_theme_inside_defines_every_role() {
    for name in Theme::builtin_names() {
        let spec = Spec::read(name, &find_inside).unwrap();
        for role in Role::ALL {
            assert!(spec.defines(role.name()), "{name} lacks {}", role.name());
        }
        for class in SYNTAX {
            assert!(spec.defines(&format!("syntax.{class}")), "{name} lacks syntax.{class}");
        }
    }
}

#[test]
fn every_theme_inside_loads_at_every_depth() {
    for name in Theme::builtin_names() {
        for depth in [ColorDepth::True, ColorDepth::Ansi256, ColorDepth::Ansi16, ColorDepth::None] {
            let theme = Theme::builtin(name, depth).unwrap();
            let styles = Role::ALL.iter().map(|role| theme.style(*role)).chain(SYNTAX.map(|class| theme.syntax(class)));
            for color in styles.flat_map(|style| [style.fg, style.bg]).flatten() {
                match depth {
                    ColorDepth::True => {}
                    ColorDepth::Ansi256 => assert!(!matches!(color, Color::Rgb(..)), "{name}"),
                    ColorDepth::Ansi16 => assert!(!matches!(color, Color::Rgb(..) | Color::Indexed(_)), "{name}"),
                    ColorDepth::None => panic!("{name} colours a screen without colour"),
                }
            }
        }
    }
}

#[test]
fn what_must_be_told_apart_differs_at_every_depth() {
    let pairs = [
        (Role::Text, Role::Selection),
        (Role::Text, Role::CursorLine),
        (Role::Text, Role::Match),
        (Role::Border, Role::BorderFocused),
        (Role::Added, Role::AddedWord),
        (Role::Removed, Role::RemovedWord),
        (Role::HunkAccepted, Role::HunkRejected),
        (Role::HunkAccepted, Role::HunkPending),
        (Role::HunkPending, Role::HunkRejected),
        (Role::MeterEmpty, Role::MeterHigh),
    ];
    for name in Theme::builtin_names() {
        for depth in [ColorDepth::True, ColorDepth::Ansi256, ColorDepth::Ansi16, ColorDepth::None] {
            let theme = Theme::builtin(name, depth).unwrap();
            for (one, other) in pairs {
                assert_ne!(theme.style(one), theme.style(other), "{name} {depth:?} {one:?} {other:?}");
            }
        }
    }
}

/// Relative luminance and contrast as WCAG 2 defines them.
fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let luminance = |rgb: [u8; 3]| {
        let [red, green, blue] = rgb.map(|byte| {
            let channel = f64::from(byte) / 255.0;
            if channel <= 0.03928 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    };
    let (a, b) = (luminance(one), luminance(other));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn text_is_legible_on_its_ground() {
    let cases = [
        ("rhumb-dark", [0x12, 0x1a, 0x21], 4.5),
        ("rhumb-light", [0xfb, 0xfa, 0xf7], 4.5),
        ("high-contrast", [0; 3], 7.0),
    ];
    for (name, ground, least) in cases {
        let theme = Theme::builtin(name, ColorDepth::True).unwrap();
        let roles = Role::ALL.iter().map(|role| (role.name(), theme.style(*role)));
        for (what, style) in roles.chain(SYNTAX.map(|class| (class, theme.syntax(class)))) {
            let least = if ["border", "meter.empty", "gutter"].contains(&what) { least / 2.6 } else { least };
            let Some(Color::Rgb(r, g, b)) = style.fg else { continue };
            let on = if let Some(Color::Rgb(r, g, b)) = style.bg { [r, g, b] } else { ground };
            let ratio = contrast([r, g, b], on);
            assert!(ratio >= least, "{name}: {what} has a contrast of {ratio:.2}");
        }
    }
}

#[test]
fn code_stays_legible_on_the_grounds_of_a_diff() {
    for name in ["rhumb-dark", "rhumb-light", "high-contrast"] {
        let theme = Theme::builtin(name, ColorDepth::True).unwrap();
        for ground in [Role::Added, Role::Removed, Role::CodeBg, Role::CursorLine] {
            let Some(Color::Rgb(r, g, b)) = theme.style(ground).bg else { panic!("{name} {ground:?}") };
            for class in SYNTAX {
                let Some(Color::Rgb(fr, fg, fb)) = theme.syntax(class).fg else {
                    continue;
                };
                let ratio = contrast([fr, fg, fb], [r, g, b]);
                assert!(ratio >= 3.9, "{name}: {class} on {ground:?} has a contrast of {ratio:.2}");
            }
        }
    }
}

#[test]
fn a_theme_inherits_and_overrides() {
    let theme =
        own("inherits = \"rhumb-dark\"\n[palette]\nbrass = \"#010203\"\n[styles]\ntitle = \"bright-red\"").unwrap();
    assert_eq!(theme.style(Role::Title).fg, Some(Color::LightRed));
    assert_eq!(theme.style(Role::Key).fg, Some(Color::Rgb(1, 2, 3)), "an inherited role uses the new palette");
    assert!(theme.style(Role::Key).add_modifier.contains(Modifier::BOLD));
}

#[test]
fn a_role_left_out_takes_the_style_of_its_parent() {
    let theme = own("[styles]\nborder = { fg = \"red\", bold = true }").unwrap();
    assert_eq!(theme.style(Role::BorderFocused), theme.style(Role::Border));
    assert_eq!(theme.style(Role::Title), Style::default());
}

#[test]
fn a_theme_may_refine_one_of_its_own_name() {
    let find = |_: &str| Some("inherits = \"rhumb-dark\"\n[styles]\ntitle = \"red\"".to_owned());
    let theme = Theme::load("rhumb-dark", ColorDepth::True, &find).unwrap();
    assert_eq!(theme.style(Role::Title).fg, Some(Color::Red));
    assert!(theme.style(Role::Key).fg.is_some());
}

#[test]
fn errors_name_what_is_wrong() {
    let error = own("[styles]\ntittle = \"red\"").unwrap_err();
    assert_eq!(error.to_string(), "theme \"mine\" styles \"tittle\", which is not a role");
    let error = own("[styles]\ntitle = \"brass\"").unwrap_err();
    assert!(
        matches!(&error, ThemeError::BadColor { role, color, .. } if role == "title" && color == "brass"),
        "{error}"
    );
    assert!(matches!(own("[palette]\nsea = \"#12\"").unwrap_err(), ThemeError::BadColor { role, .. } if role == "sea"));
    assert!(matches!(own("[styles").unwrap_err(), ThemeError::Syntax { .. }));
    assert!(matches!(own("[styles]\ntitle = { fgg = \"red\" }").unwrap_err(), ThemeError::Syntax { .. }));
    assert!(matches!(own("inherits = \"mine\"").unwrap_err(), ThemeError::Circle { theme } if theme == "mine"));
    assert!(matches!(own("inherits = \"nope\"").unwrap_err(), ThemeError::UnknownTheme { name } if name == "nope"));
    assert!(matches!(Theme::builtin("nope", ColorDepth::True), Err(ThemeError::UnknownTheme { .. })));
}
