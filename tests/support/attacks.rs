//! A corpus of texts that try to control a terminal, to hide text from the reader, or to break the layout.
#![allow(dead_code, unreachable_pub, missing_docs)]

/// Class and text. The class names the effect on a terminal.
pub const ATTACKS: &[(&str, &str)] = &[
    ("title", "\x1b]0;OWNED\x07 \x1b]2;OWNED\x1b\\"),
    ("colour that stays", "\x1b[38;5;201m\x1b[7;5;8m"),
    ("erase and home", "\x1b[2J\x1b[3J\x1b[H\x1b[1;1HOWNED\x1b[K"),
    ("scroll region", "\x1b[5;6r\x1b[31337S\x1b[31337T"),
    ("reset", "\x1bc\x1b[!p"),
    ("leave the alternate screen", "\x1b[?1049l\x1b[?25l\x1b[?31337h"),
    ("clipboard", "\x1b]52;c;T1dORUQ=\x07\x1b]52;p;?\x1b\\"),
    ("link", "\x1b]8;;https://evil.example/\x1b\\good.example\x1b]8;;\x1b\\"),
    ("palette and ground", "\x1b]4;1;#ffffff\x07\x1b]10;#000000\x07\x1b]11;#000000\x07"),
    ("notification", "\x1b]9;OWNED\x07\x1b]777;notify;OWNED;x\x07\x1b]1337;File=name=x:AA==\x07"),
    ("asks for its answer", "\x1b[6n\x1b[c\x1b[>c\x1b]11;?\x07\x1bZ\x05"),
    ("DECRQSS and DCS", "\x1bP$q\"p\x1b\\\x1bP+q544e\x1b\\\x1bPq#0;2;0;0;0~\x1b\\"),
    ("APC, PM and SOS", "\x1b_Ga=T,f=100;AAAA\x1b\\\x1b^OWNED\x1b\\\x1bXOWNED\x1b\\"),
    ("window operations", "\x1b[21t\x1b[8;31337;31337t\x1b[2t"),
    ("keyboard and mouse", "\x1b[>31u\x1b[?1003h\x1b[?2004h\x1b[=1;1u"),
    ("printer", "\x1b[5i\x1b[4i"),
    ("eight-bit controls", "\u{9b}38;5;201m\u{9d}0;OWNED\u{9c}\u{90}q\u{9c}\u{9f}x\u{9c}\u{84}\u{85}"),
    ("unfinished sequence", "\x1b[38;5\x1b]0;\x1b"),
    ("bell and backspaces", "safe\x08\x08\x08\x08evil\x07\x0b\x0c\x0e\x0f"),
    ("NUL and DEL", "a\0b\x7fc\x1a\x18"),
    ("direction overrides", "user\u{202e}nimda\u{202c} \u{2066}x\u{2069}\u{2067}y\u{2069}\u{200e}\u{200f}\u{61c}"),
    ("no width", "pass\u{200b}word\u{feff}\u{2060}\u{200c}\u{200d}\u{ad}\u{180e}\u{34f}"),
    ("tags", "x\u{e0001}\u{e0041}\u{e0042}\u{e007f}"),
    ("variation selectors", "a\u{fe00}\u{fe0d}\u{e0100}\u{e01ef}b"),
    ("styles of nothing", "chec\u{fe0f}k \u{fe0e}1\u{fe0f}"),
    ("blank that is none", "a\u{2800}b\u{13430}c\u{1345f}d"),
    ("line separators", "one\u{2028}two\u{2029}three\u{85}four"),
    ("fillers", "\u{3164}\u{115f}\u{1160}\u{ffa0}\u{2800}"),
    ("interlinear", "\u{fff9}a\u{fffa}b\u{fffb}\u{fffc}"),
    (
        "flood of marks",
        "z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a}\u{30b}\u{30c}\u{30d}\u{30e}\u{30f}\u{310}\u{311}\u{312}\u{313}",
    ),
    ("emoji of many parts", "👩\u{200d}👩\u{200d}👧\u{200d}👦👍🏽🇩🇪🏴\u{e0067}\u{e0062}\u{e007f}"),
    ("homoglyphs", "раypаl.py"),
    ("ANSI art", "\x1b[0;1;31;40m▄▀\x1b[1A\x1b[31337C\x1b[s\x1b[u█"),
    ("private use and unassigned", "\u{e000}\u{f8ff}\u{10ffff}\u{fdd0}\u{fffe}"),
];

/// An attack with a carriage return. It is separate, because most readers treat it as the end of a line.
pub const OVERWRITE: &str = "rm -rf /\rls -l    ";

/// Whether a character must not be on the screen or in the output.
pub fn is_forbidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0d}' | '\u{2800}' | '\u{13430}'..='\u{1345f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// All attacks, one per line, each after its class.
pub fn all(before: &str) -> String {
    ATTACKS.iter().map(|(class, text)| format!("{before}{class}: {text} :end\n")).collect()
}

/// The text as part of a file name, without characters that names cannot have.
pub fn as_name(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '/' | '\0')).collect()
}

/// Invalid UTF-8: a surrogate, overlong forms, a truncated sequence, 8-bit controls.
pub const BYTES: &[u8] = b"# \xed\xa0\x80 \xc0\xaf \xf0\x28\x8c\x28 \xff\xfe \x9b38;5;201m \x9d0;OWNED\x9c \xe2\x82\n";
