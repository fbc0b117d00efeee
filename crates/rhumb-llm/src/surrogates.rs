//! Halves of a character in JSON texts. JSON writes a character beyond the first 65,536 as two escapes, and servers that cut
//! an answer between them send two texts that each are none.

/// A JSON text whose escapes are all characters, and what became of the halves in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mended {
    pub(super) json: String,
    /// The half from before was joined with the one that begins a string here.
    pub(super) joined: bool,
    /// The first half that a string here ended with, which is left out of it: the second may come with the next text.
    pub(super) open: Option<u16>,
}

/// Joins halves across the border of two strings and puts U+FFFD in the place of the others. `before` is what the text before
/// left open.
pub(super) fn mended(json: &str, before: Option<u16>) -> Mended {
    let mut mended = Mended { json: String::with_capacity(json.len()), joined: false, open: None };
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        mended.json.push_str(plain);
        rest = mended.escape(escape, plain.is_empty(), before);
    }
    mended.json.push_str(rest);
    mended
}

impl Mended {
    /// Takes the escape at the beginning of `text`; what follows it.
    fn escape<'t>(&mut self, text: &'t str, follows_escape: bool, before: Option<u16>) -> &'t str {
        let Some((unit, after)) = unit_of(text) else {
            // The character after the backslash belongs to it, be it another backslash.
            let length = text.chars().take(2).map(char::len_utf8).sum();
            let (other, after) = text.split_at(length);
            self.json.push_str(other);
            return after;
        };
        let starts = !follows_escape && self.json.ends_with('"');
        match (unit, unit_of(after)) {
            (0xd800..=0xdbff, Some((low @ 0xdc00..=0xdfff, after))) => {
                self.pair(unit, low);
                after
            }
            (0xd800..=0xdbff, _) if after.starts_with('"') => {
                self.open = Some(unit);
                after
            }
            (0xdc00..=0xdfff, _) if starts && let Some(high) = before.filter(|_| !self.joined) => {
                self.joined = true;
                self.pair(high, unit);
                after
            }
            (0xd800..=0xdfff, _) => {
                self.json.push('\u{fffd}');
                after
            }
            _ => {
                self.json.push_str(text.get(..text.len() - after.len()).unwrap_or_default());
                after
            }
        }
    }

    fn pair(&mut self, high: u16, low: u16) {
        self.json.extend(char::decode_utf16([high, low]).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
    }
}

/// The escaped unit that a text begins with, and what follows it.
fn unit_of(text: &str) -> Option<(u16, &str)> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    Some((u16::from_str_radix(digits, 16).ok()?, text.get(6..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_joined_or_become_a_visible_mark() {
        let one = |json: &str| mended(json, None);
        let whole = |json: &str| Mended { json: json.into(), joined: false, open: None };
        assert_eq!(one(r#"{"a":"\n\\ud83d \u00e9\"\/"}"#), whole(r#"{"a":"\n\\ud83d \u00e9\"\/"}"#));
        assert_eq!(one(r#"["\ud83d\ude00"]"#), whole("[\"😀\"]"));
        assert_eq!(one(r#"["x\ude00","\ud83dx","\ud83d\n"]"#), whole("[\"x\u{fffd}\",\"\u{fffd}x\",\"\u{fffd}\\n\"]"));
        assert_eq!(one(r#"["a\ud83d"]"#), Mended { open: Some(0xd83d), ..whole(r#"["a"]"#) });
        let second = mended(r#"["\ude00b"]"#, Some(0xd83d));
        assert_eq!(second, Mended { joined: true, ..whole("[\"😀b\"]") });
        assert_eq!(mended(r#"["b\ude00"]"#, Some(0xd83d)), whole("[\"b\u{fffd}\"]"));
        assert_eq!(mended(r#"["\n\ude00"]"#, Some(0xd83d)), whole("[\"\\n\u{fffd}\"]"));
        for odd in ["\\", "\\u", "\\ud83", "\\u+123", "\\é", "\"\\ud83d"] {
            one(odd);
        }
    }
}
