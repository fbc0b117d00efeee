//! Tests of the themes: definitions, inheritance and legibility.

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

/// The minimum contrast of text, of muted text, and of separating lines.
fn least(name: &str, what: &str) -> f64 {
    let strict = if name.starts_with("high-contrast") { 7.0 / 4.5 } else { 1.0 };
    let least = match what {
        "border" | "meter.empty" => 1.5,
        "muted" | "gutter" | "markdown.quote" | "comment" | "punctuation" => 3.0,
        _ => 4.5,
    };
    least * strict
}

/// The built-in themes that define their colours. The theme of sixteen colours uses those of the terminal.
fn coloured() -> impl Iterator<Item = Theme> {
    let names = Theme::builtin_names().filter(|name| *name != "rhumb-16");
    names.map(|name| Theme::builtin(name, ColorDepth::True).unwrap())
}

fn rgb(color: Option<Color>) -> Option<[u8; 3]> {
    if let Some(Color::Rgb(red, green, blue)) = color { Some([red, green, blue]) } else { None }
}

#[test]
fn text_is_legible_on_its_ground() {
    for theme in coloured() {
        let name = &theme.name;
        let roles = Role::ALL.iter().map(|role| (role.name(), theme.style(*role)));
        for (what, style) in roles.chain(SYNTAX.map(|class| (class, theme.syntax(class)))) {
            let Some(fg) = rgb(style.fg) else { continue };
            let ratio = contrast(fg, rgb(style.bg).unwrap_or(theme.background));
            assert!(ratio >= least(name, what), "{name}: {what} has a contrast of {ratio:.2}");
        }
    }
}

#[test]
fn code_stays_legible_on_the_grounds_of_a_diff() {
    for theme in coloured() {
        let name = &theme.name;
        for background in [Role::Added, Role::Removed, Role::CodeBg, Role::CursorLine] {
            let Some(on) = rgb(theme.style(background).bg) else { panic!("{name} {background:?}") };
            for class in SYNTAX {
                let Some(fg) = rgb(theme.syntax(class).fg) else { continue };
                let least = if ["comment", "punctuation"].contains(&class) { 2.9 } else { 3.9 };
                let ratio = contrast(fg, on);
                assert!(ratio >= least, "{name}: {class} on {background:?} has a contrast of {ratio:.2}");
            }
        }
    }
}

/// A colour of linear light.
fn linear(rgb: [u8; 3]) -> [f64; 3] {
    rgb.map(|byte| {
        let channel = f64::from(byte) / 255.0;
        if channel <= 0.040_45 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
    })
}

fn times(matrix: [[f64; 3]; 3], [x, y, z]: [f64; 3]) -> [f64; 3] {
    matrix.map(|[a, b, c]| a * x + b * y + c * z)
}

/// CIE L*a*b* of a colour of linear light, white being that of the screen.
fn lab(linear: [f64; 3]) -> [f64; 3] {
    const TO_XYZ: [[f64; 3]; 3] = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
    const WHITE: [f64; 3] = [0.9505, 1.0, 1.089];
    let root = |value: f64| if value > 0.008_856 { value.cbrt() } else { 7.787 * value + 16.0 / 116.0 };
    let xyz = times(TO_XYZ, linear.map(|channel| channel.clamp(0.0, 1.0)));
    let [x, y, z] = [0, 1, 2].map(|at| root(xyz[at] / WHITE[at]));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Red-green colour blindness (Machado, Oliveira and Fernandes 2009, severity 1.0).
const EYES: [(&str, [[f64; 3]; 3]); 3] = [
    ("all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
    ),
    (
        "deuteranopia",
        [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
    ),
];

/// The perceived distance of two colours with such colour blindness.
fn apart(eyes: [[f64; 3]; 3], one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (lab(times(eyes, linear(one))), lab(times(eyes, linear(other))));
    (0..3).map(|at| (one[at] - other[at]).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn what_is_added_and_what_is_removed_look_different() {
    for theme in coloured() {
        let background = |role| rgb(theme.style(role).bg).unwrap();
        for (kept, gone) in [(Role::Added, Role::Removed), (Role::AddedWord, Role::RemovedWord)] {
            let all = EYES[0].1;
            let away = apart(all, background(kept), background(gone));
            assert!(away > 9.0, "{}: {kept:?} and {gone:?} are {away:.1} apart", theme.name);
            for role in [kept, gone] {
                let away = apart(all, background(role), theme.background);
                assert!(away > 5.0, "{}: {role:?} is {away:.1} from the ground", theme.name);
            }
        }
    }
}

#[test]
fn eyes_that_lack_a_cone_tell_good_from_bad() {
    let words = [
        (Role::Success, Role::Error),
        (Role::Success, Role::Warning),
        (Role::Warning, Role::Error),
        (Role::HunkAccepted, Role::HunkRejected),
        (Role::HunkAccepted, Role::HunkPending),
        (Role::HunkPending, Role::HunkRejected),
        (Role::MeterLow, Role::MeterHigh),
        (Role::Added, Role::Removed),
    ];
    for name in ["colour-blind-dark", "colour-blind-light"] {
        let theme = Theme::builtin(name, ColorDepth::True).unwrap();
        for (eyes, seen) in EYES {
            for (one, other) in words {
                let fg = |role| rgb(theme.style(role).fg).unwrap();
                let away = apart(seen, fg(one), fg(other));
                assert!(away > 18.0, "{name}, {eyes}: {one:?} and {other:?} are {away:.1} apart");
            }
            for (one, other) in [(Role::Added, Role::Removed), (Role::AddedWord, Role::RemovedWord)] {
                let bg = |role| rgb(theme.style(role).bg).unwrap();
                let away = apart(seen, bg(one), bg(other));
                assert!(away > 15.0, "{name}, {eyes}: the grounds of {one:?} and {other:?} are {away:.1} apart");
            }
        }
    }
}

#[test]
fn of_sixteen_colours_none_is_lost_on_its_ground() {
    for name in Theme::builtin_names() {
        let theme = Theme::builtin(name, ColorDepth::Ansi16).unwrap();
        let background: &[Color] = if theme.is_light() { &[Color::White, Color::Gray] } else { &[Color::Black] };
        let roles = Role::ALL.iter().map(|role| (role.name(), theme.style(*role)));
        for (what, style) in roles.chain(SYNTAX.map(|class| (class, theme.syntax(class)))) {
            let (Some(fg), None) = (style.fg, style.bg) else { continue };
            assert!(!background.contains(&fg), "{name}: {what}");
        }
        let text = theme.style(Role::Text);
        assert!(text.bg.is_none() || text.bg != text.fg, "{name}");
    }
}

#[test]
fn the_theme_of_the_terminals_palette_can_be_read_on_black_and_in_its_status_line() {
    let theme = Theme::builtin("rhumb-16", ColorDepth::Ansi16).unwrap();
    let roles = Role::ALL.iter().map(|role| (role.name(), theme.style(*role)));
    for (what, style) in roles.chain(SYNTAX.map(|class| (class, theme.syntax(class)))) {
        assert!(style.fg != Some(Color::Blue), "{what}: blue on black is hardly seen");
    }
    // Parts of the line have foreground colours, which a reversed line would turn into backgrounds.
    assert!(!theme.style(Role::Status).add_modifier.contains(Modifier::REVERSED));
}

#[test]
fn every_palette_entry_is_used() {
    // A misspelt name would leave the inherited colour in place.
    let known: Vec<String> = entries("rhumb-dark").collect();
    for name in Theme::builtin_names() {
        for entry in entries(name) {
            assert!(known.contains(&entry), "{name}: nothing is drawn in {entry:?}");
        }
    }
}

fn entries(name: &str) -> impl Iterator<Item = String> {
    let file: toml::Table = find_inside(name, 0).unwrap().parse().unwrap();
    let palette = file.get("palette").and_then(|palette| palette.as_table()).cloned().unwrap_or_default();
    palette.into_iter().map(|(entry, _)| entry)
}

#[test]
fn themes_for_a_light_ground_say_so() {
    let light: Vec<&str> =
        Theme::builtin_names().filter(|name| Theme::builtin(name, ColorDepth::True).unwrap().is_light()).collect();
    let expected = [
        "rhumb-light", "high-contrast-light", "colour-blind-light", "catppuccin-latte", "gruvbox-light",
        "rose-pine-dawn", "solarized-light",
    ];
    assert_eq!(light, expected);
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
