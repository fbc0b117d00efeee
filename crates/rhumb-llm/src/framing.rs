//! Splits a response body into events, and repairs JSON whose surrogate pairs were split between events.

use sse_core::{SseDecoder, SseEvent};
use std::num::NonZeroUsize;

/// How the events of a stream are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON value per line.
    Lines,
}

/// An event exceeds the size limit in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong {
    pub(crate) limit: usize,
}

/// Splits bytes into the data of events. The result does not depend on how the bytes are cut. Invalid UTF-8 becomes
/// U+FFFD. Names, ids and comments of server-sent events are ignored, since no API needs them.
pub(crate) struct Frames {
    source: Source,
    limit: usize,
}

enum Source {
    // Boxed because it is much larger than the other variant.
    Events(Box<SseDecoder>),
    /// The incomplete line.
    Lines(Vec<u8>),
}

impl Frames {
    /// Accepts events of at most `limit` bytes.
    pub(crate) fn new(framing: Framing, limit: usize) -> Self {
        let source = match framing {
            Framing::Events => {
                Source::Events(Box::new(SseDecoder::with_limit(NonZeroUsize::new(limit).unwrap_or(NonZeroUsize::MIN))))
            }
            Framing::Lines => Source::Lines(Vec::new()),
        };
        Self { source, limit }
    }

    /// Adds bytes and appends the completed events to `pieces`.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], pieces: &mut Vec<String>) -> Result<(), TooLong> {
        let too_long = TooLong { limit: self.limit };
        match &mut self.source {
            Source::Events(decoder) => {
                while let Some(event) = decoder.next(&mut bytes) {
                    if let SseEvent::Message(message) = event.map_err(|_| too_long)? {
                        pieces.push(message.data);
                    }
                }
                Ok(())
            }
            Source::Lines(line) => {
                for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                    if line.len() + part.len() > self.limit {
                        return Err(too_long);
                    }
                    line.extend_from_slice(part);
                    if part.ends_with(b"\n") {
                        pieces.push(String::from_utf8_lossy(&std::mem::take(line)).into_owned());
                    }
                }
                Ok(())
            }
        }
    }

    /// Returns the event that the end of the body completes. The last line may lack its newline; a server-sent event
    /// must end with a blank line.
    pub(crate) fn rest(&mut self) -> Option<String> {
        match &mut self.source {
            Source::Lines(line) if !line.is_empty() => {
                Some(String::from_utf8_lossy(&std::mem::take(line)).into_owned())
            }
            _ => None,
        }
    }
}

/// JSON without unpaired surrogates.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RepairedJson {
    pub(crate) json: String,
    /// The high surrogate of the previous text was joined with the first character of a string.
    pub(crate) joined: bool,
    /// The high surrogate at the end of a string, which was removed. The next text may have its other half.
    pub(crate) open: Option<u16>,
}

/// Joins surrogate pairs that were split between two texts, and replaces unpaired ones with U+FFFD. `before` is the
/// open high surrogate of the previous text.
pub(crate) fn repair_surrogates(json: &str, before: Option<u16>) -> RepairedJson {
    let mut repaired = RepairedJson { json: String::with_capacity(json.len()), joined: false, open: None };
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        repaired.json.push_str(plain);
        rest = repaired.escape(escape, plain.is_empty(), before);
    }
    repaired.json.push_str(rest);
    repaired
}

impl RepairedJson {
    /// Processes the escape at the beginning of `text`. Returns the rest.
    fn escape<'t>(&mut self, text: &'t str, follows_escape: bool, before: Option<u16>) -> &'t str {
        let Some((unit, after)) = unit_of(text) else {
            // The character after the backslash may be another backslash.
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

/// Parses a `\u` escape. Returns its code unit and the rest.
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
    use proptest::prelude::*;

    fn pieces(framing: Framing, portions: &[&[u8]]) -> Vec<String> {
        let mut frames = Frames::new(framing, 1 << 20);
        let mut pieces = Vec::new();
        for portion in portions {
            frames.feed(portion, &mut pieces).unwrap();
        }
        pieces.extend(frames.rest());
        pieces
    }

    fn events(bytes: &[u8]) -> Vec<String> {
        pieces(Framing::Events, &[bytes])
    }

    #[test]
    fn the_three_line_ends_mean_the_same() {
        for end in ["\n", "\r", "\r\n"] {
            let text = ["data: a", "data:b", "", "data: c", "", ""].join(end);
            assert_eq!(events(text.as_bytes()), ["a\nb", "c"], "{end:?}");
        }
    }

    #[test]
    fn marks_comments_names_and_unknown_fields_are_passed_over() {
        let stream = b"\xef\xbb\xbf: PROCESSING\n\ndata: x\nid: 1\nfoo\nretry: 5\n: more\n\nevent: ping\n\nevent: a\ndata: y\n\n";
        assert_eq!(events(stream), ["x", "y"]);
    }

    #[test]
    fn an_event_without_its_blank_line_is_not_given_out_and_a_last_line_is() {
        assert!(events(b"data: half\n").is_empty());
        assert_eq!(pieces(Framing::Lines, &[b"{\"a\":1}\r\n{\"b\":", b"2}"]), ["{\"a\":1}\r\n", "{\"b\":2}"]);
    }

    #[test]
    fn bytes_that_are_not_utf8_do_not_stop_the_stream() {
        assert_eq!(events(b"data: a\xffb\n\ndata: c\n\n"), ["a\u{fffd}b", "c"]);
        assert_eq!(pieces(Framing::Lines, &[b"a\xffb\nc\n"]), ["a\u{fffd}b\n", "c\n"]);
    }

    #[test]
    fn a_long_piece_fits_and_an_endless_one_does_not() {
        let mut line = vec![b'x'; 1 << 19];
        line.splice(..0, *b"data: ");
        line.extend(b"\n\n");
        assert_eq!(events(&line)[0].len(), 1 << 19);
        for (framing, start, more) in [
            (Framing::Events, "data:", "x"),
            (Framing::Events, "", "data: xxxx\n"),
            (Framing::Events, "event:", "x"),
            (Framing::Events, "id:", "x"),
            (Framing::Lines, "", "x"),
        ] {
            let mut frames = Frames::new(framing, 20);
            let mut found = Vec::new();
            frames.feed(start.as_bytes(), &mut found).unwrap();
            let fed = (0..30).try_for_each(|_| frames.feed(more.as_bytes(), &mut found));
            assert_eq!(fed, Err(TooLong { limit: 20 }), "{start:?} {more:?}");
        }
    }

    proptest! {
        #[test]
        fn the_result_does_not_depend_on_how_the_input_is_cut(
            text in "(data|event|:|: |\n|\r|\r\n|\u{feff}|é|🚀|x){0,40}",
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
            lines in any::<bool>(),
        ) {
            let framing = if lines { Framing::Lines } else { Framing::Events };
            let bytes = text.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let portions: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(pieces(framing, &portions), pieces(framing, &[bytes]));
        }
    }

    #[test]
    fn surrogates_are_joined_or_replaced() {
        let one = |json: &str| repair_surrogates(json, None);
        let whole = |json: &str| RepairedJson { json: json.into(), joined: false, open: None };
        assert_eq!(one(r#"{"a":"\n\\ud83d \u00e9\"\/"}"#), whole(r#"{"a":"\n\\ud83d \u00e9\"\/"}"#));
        assert_eq!(one(r#"["\ud83d\ude00"]"#), whole("[\"😀\"]"));
        assert_eq!(one(r#"["x\ude00","\ud83dx","\ud83d\n"]"#), whole("[\"x\u{fffd}\",\"\u{fffd}x\",\"\u{fffd}\\n\"]"));
        assert_eq!(one(r#"["a\ud83d"]"#), RepairedJson { open: Some(0xd83d), ..whole(r#"["a"]"#) });
        let second = repair_surrogates(r#"["\ude00b"]"#, Some(0xd83d));
        assert_eq!(second, RepairedJson { joined: true, ..whole("[\"😀b\"]") });
        assert_eq!(repair_surrogates(r#"["b\ude00"]"#, Some(0xd83d)), whole("[\"b\u{fffd}\"]"));
        assert_eq!(repair_surrogates(r#"["\n\ude00"]"#, Some(0xd83d)), whole("[\"\\n\u{fffd}\"]"));
        for odd in ["\\", "\\u", "\\ud83", "\\u+123", "\\é", "\"\\ud83d"] {
            one(odd);
        }
    }
}
