//! From the bytes of a body to its pieces, wherever the network cuts them.

use std::num::NonZeroUsize;

use sse_core::{SseDecoder, SseEvent};

/// How the pieces of a stream are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events; a piece is the data of one.
    Events,
    /// JSON texts, one to a line.
    Lines,
}

/// A piece grew beyond the limit, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong {
    pub(super) limit: usize,
}

/// Turns bytes into pieces. Feeding the same bytes in other portions gives the same pieces; bytes that are not UTF-8
/// become U+FFFD. Names, ids and comments of events are passed over: no format here needs them, since each piece says
/// itself what it is.
pub(super) struct Frames {
    source: Source,
    limit: usize,
}

enum Source {
    // Boxed because it is many times the size of the other.
    Events(Box<SseDecoder>),
    /// The line so far.
    Lines(Vec<u8>),
}

impl Frames {
    /// Accepts pieces of at most `limit` bytes.
    pub(super) fn new(framing: Framing, limit: usize) -> Self {
        let source = match framing {
            Framing::Events => {
                Source::Events(Box::new(SseDecoder::with_limit(NonZeroUsize::new(limit).unwrap_or(NonZeroUsize::MIN))))
            }
            Framing::Lines => Source::Lines(Vec::new()),
        };
        Self { source, limit }
    }

    /// Takes the next bytes and appends the pieces that they complete to `pieces`.
    pub(super) fn feed(&mut self, mut bytes: &[u8], pieces: &mut Vec<String>) -> Result<(), TooLong> {
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

    /// What the end of the body completes: a last line may lack its line end, an event may not lack its blank line.
    pub(super) fn rest(&mut self) -> Option<String> {
        match &mut self.source {
            Source::Lines(line) if !line.is_empty() => {
                Some(String::from_utf8_lossy(&std::mem::take(line)).into_owned())
            }
            _ => None,
        }
    }
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
        fn the_cuts_of_the_network_do_not_matter(
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
}
