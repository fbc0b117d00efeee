//! Server-sent events from bytes, wherever the network cuts them.
//!
//! Follows "Parsing an event stream" of the HTML standard: lines end with LF, CR or CRLF, a byte order mark at the
//! start is dropped, lines that begin with a colon are comments, and a blank line ends an event. Bytes are decoded a
//! line at a time, so that a character cut in two by the network stays whole; bytes that are not UTF-8 become U+FFFD.
//! Two fields are not kept because no API here uses them: `id` and `retry`.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// The `event` field; empty if there was none.
    pub name: String,
    /// The `data` lines, joined with LF.
    pub data: String,
}

/// An event grew beyond the limit of the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {limit} bytes")]
pub struct TooLong {
    /// The limit in bytes.
    pub limit: usize,
}

/// Turns bytes into events. Feeding the same bytes in other pieces gives the same events.
#[derive(Debug)]
pub struct SseDecoder {
    /// The line so far.
    line: Vec<u8>,
    name: String,
    data: String,
    has_data: bool,
    /// The last byte was CR, so that an LF now belongs to the same line end.
    after_cr: bool,
    at_start: bool,
    limit: usize,
}

impl SseDecoder {
    /// A decoder that accepts events (and lines) of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            name: String::new(),
            data: String::new(),
            has_data: false,
            after_cr: false,
            at_start: true,
            limit,
        }
    }

    /// Takes the next bytes and appends the events that they complete to `events`. An event that the stream breaks off
    /// in is never completed, as the standard wants it.
    pub fn feed(&mut self, mut bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.line.len() + self.data.len() + piece.len() > self.limit {
                return Err(TooLong { limit: self.limit });
            }
            self.line.extend_from_slice(piece);
            if let Some((terminator, rest)) = rest.split_first() {
                self.after_cr = *terminator == b'\r';
                self.end_line(events);
                bytes = rest;
            } else {
                bytes = rest;
            }
        }
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<SseEvent>) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line =
            if std::mem::take(&mut self.at_start) { line.strip_prefix('\u{feff}').unwrap_or(&line) } else { &line };
        if line.is_empty() {
            self.end_event(events);
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            "event" => value.clone_into(&mut self.name),
            _ => {}
        }
    }

    fn end_event(&mut self, events: &mut Vec<SseEvent>) {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            events.push(SseEvent { name, data });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(pieces: &[&[u8]]) -> Vec<SseEvent> {
        let mut decoder = SseDecoder::new(1 << 20);
        let mut events = Vec::new();
        for piece in pieces {
            decoder.feed(piece, &mut events).unwrap();
        }
        events
    }

    fn data(bytes: &[u8]) -> Vec<String> {
        decoded(&[bytes]).into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn the_three_line_ends_mean_the_same() {
        for end in ["\n", "\r", "\r\n"] {
            let text = ["data: a", "data:b", "", "data: c", "", ""].join(end);
            assert_eq!(data(text.as_bytes()), ["a\nb", "c"], "{end:?}");
        }
    }

    #[test]
    fn marks_comments_and_unknown_fields_are_passed_over() {
        let stream = b"\xef\xbb\xbf: PROCESSING\n\ndata: x\nid: 1\nfoo\nretry: 5\n: more\n\nevent: ping\n\ndata\n\n";
        assert_eq!(data(stream), ["x", ""]);
    }

    #[test]
    fn the_name_belongs_to_its_own_event() {
        let events = decoded(&[b"event: a\ndata: 1\n\ndata: 2\n\n"]);
        assert_eq!(events.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), ["a", ""]);
    }

    #[test]
    fn an_event_without_its_blank_line_is_not_given_out() {
        assert!(data(b"data: half\n").is_empty());
    }

    #[test]
    fn bytes_that_are_not_utf8_do_not_stop_the_stream() {
        assert_eq!(data(b"data: a\xffb\n\ndata: c\n\n"), ["a\u{fffd}b", "c"]);
    }

    #[test]
    fn a_long_line_fits_and_an_endless_one_does_not() {
        let mut line = vec![b'x'; 1 << 19];
        line.splice(..0, *b"data: ");
        line.extend(b"\n\n");
        assert_eq!(data(&line)[0].len(), 1 << 19);
        let mut decoder = SseDecoder::new(10);
        let mut events = Vec::new();
        let fed = (0..20).try_for_each(|_| decoder.feed(b"x", &mut events));
        assert_eq!(fed, Err(TooLong { limit: 10 }));
        let mut decoder = SseDecoder::new(20);
        assert!((0..20).try_for_each(|_| decoder.feed(b"data: xxxx\n", &mut events)).is_err());
    }

    proptest! {
        #[test]
        fn the_cuts_of_the_network_do_not_matter(
            text in "(data|event|:|: |\n|\r|\r\n|\u{feff}|é|🚀|x){0,40}",
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        ) {
            let bytes = text.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(decoded(&pieces), decoded(&[bytes]));
        }
    }
}
