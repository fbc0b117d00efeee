//! An output as it comes: its beginning and its end in memory, the whole in a file up to a limit, and what is new for who watches.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use super::mask::Sieve;
use super::plain::SEQUENCE;
use super::{Keep, Masks, Plain};

/// Bytes of an output that are kept in a file; of more, the end is kept in memory and the middle not at all.
pub const KEPT_BYTES: u64 = 32 * 1024 * 1024;

/// Bytes of the beginning that are kept in memory. An output of this size needs no file.
const HEAD: usize = 256 * 1024;

/// Bytes of the end that are kept in memory.
const TAIL: usize = 256 * 1024;

/// Bytes that who watches gets at a time; of more, the end.
const LIVE: usize = 16 * 1024;

/// What is new of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Live {
    /// Lines that were completed, or the end of them.
    pub text: String,
    /// The line that is not complete yet.
    pub open_line: String,
    /// Bytes before the text that are not in it.
    pub skipped: usize,
}

/// An output when all of it has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// It, or its beginning and its end with a note between them.
    pub text: String,
    /// Bytes that were printed.
    pub bytes: u64,
    /// The file with the whole of it, or with the first [`KEPT_BYTES`].
    pub whole: Option<PathBuf>,
    /// Why there is none, where there should be one.
    pub not_kept: Option<String>,
}

/// Takes an output in.
pub(super) struct Capture<'k> {
    plain: Plain,
    masks: &'k Masks,
    sieve: Sieve<'k>,
    keep: Keep<'k>,
    head: String,
    tail: String,
    /// Bytes of text that went out of `tail`.
    gone: u64,
    bytes: u64,
    file: Option<(PathBuf, File)>,
    not_kept: Option<String>,
    /// What came after the limit, as it came: reading it closely would only take time.
    raw: Vec<u8>,
    live: Live,
}

impl<'k> Capture<'k> {
    pub(super) fn new(masks: &'k Masks, keep: Keep<'k>) -> Self {
        Self {
            plain: Plain::default(),
            masks,
            sieve: Sieve::new(masks),
            keep,
            head: String::new(),
            tail: String::new(),
            gone: 0,
            bytes: 0,
            file: None,
            not_kept: None,
            raw: Vec::new(),
            live: Live::default(),
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if self.bytes > KEPT_BYTES {
            self.raw.extend_from_slice(bytes);
            if self.raw.len() > 2 * TAIL {
                let gone = self.raw.len() - TAIL;
                self.raw.drain(..gone);
                self.gone += gone as u64;
            }
            self.live.skipped += bytes.len();
            return;
        }
        let mut text = String::new();
        self.plain.push(bytes, &mut text);
        let text = self.sieve.push(&text);
        self.take(&text);
    }

    fn take(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.live.text.push_str(text);
        self.live.skipped += keep_end(&mut self.live.text, LIVE);
        if self.tail.is_empty() && self.head.len() + text.len() <= HEAD {
            self.head.push_str(text);
            return;
        }
        self.spill(text);
        self.tail.push_str(text);
        if self.tail.len() > 2 * TAIL {
            self.gone += keep_end(&mut self.tail, TAIL) as u64;
        }
    }

    /// Writes to the file, which begins with what is in memory.
    fn spill(&mut self, text: &str) {
        if self.not_kept.is_some() {
            return;
        }
        let written = match &mut self.file {
            Some((_, file)) => file.write_all(text.as_bytes()),
            None => (self.keep)().and_then(|opened| {
                let Some((path, mut file)) = opened else {
                    self.not_kept = Some(String::new());
                    return Ok(());
                };
                file.write_all(self.head.as_bytes()).and_then(|()| file.write_all(text.as_bytes()))?;
                self.file = Some((path, file));
                Ok(())
            }),
        };
        if let Err(error) = written {
            self.not_kept = Some(error.to_string());
        }
    }

    /// What is new since the last time.
    pub(super) fn live(&mut self) -> Live {
        let mut live = std::mem::take(&mut self.live);
        if self.raw.is_empty() {
            live.open_line = self.sieve.ahead(self.plain.open_line());
            keep_end(&mut live.open_line, LIVE);
        } else {
            let end = self.raw.len().saturating_sub(LIVE);
            live.text = self.late(self.raw.get(end..).unwrap_or_default());
            keep_end(&mut live.text, LIVE / 4);
        }
        live
    }

    /// The text of bytes that begin anywhere: in a key as well as in a sequence. So where there are keys, the first of it is not
    /// shown.
    fn late(&self, bytes: &[u8]) -> String {
        let text = self.masks.masked(&Plain::text(bytes)).into_owned();
        match self.masks.longest() {
            0 => text,
            longest => text.chars().skip(SEQUENCE + longest).collect(),
        }
    }

    /// The whole, when nothing more will come.
    pub(super) fn finish(mut self) -> Output {
        let mut rest = String::new();
        self.plain.finish(&mut rest);
        let rest = self.sieve.push(&rest);
        self.take(&rest);
        if self.raw.is_empty() {
            let rest = self.sieve.finish();
            self.take(&rest);
        } else {
            // What waits in the sieve may be the first half of a key; the second is not in what came late.
            let late = self.late(&self.raw);
            self.spill(&format!("\n[… the first {} MB of the output are kept …]\n", KEPT_BYTES >> 20));
            self.tail.push_str(&late);
        }
        self.gone += keep_end(&mut self.tail, TAIL) as u64;
        let mut text = self.head;
        if self.gone > 0 {
            let place =
                self.file.as_ref().map_or_else(String::new, |(path, _)| format!("; {} has more", path.display()));
            text.push_str(&format!("\n[… {} bytes left out{place} …]\n", self.gone));
        }
        text.push_str(&self.tail);
        let not_kept = self.not_kept.filter(|why| !why.is_empty());
        Output { text, bytes: self.bytes, whole: self.file.map(|(path, _)| path), not_kept }
    }
}

/// Cuts a text to its last `most` bytes, at a line where that does not cost much; the bytes that went.
fn keep_end(text: &mut String, most: usize) -> usize {
    if text.len() <= most {
        return 0;
    }
    let at = text.ceil_char_boundary(text.len() - most);
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.find('\n').filter(|end| *end < most / 4).map_or(0, |end| end + 1);
    text.drain(..at + line);
    at + line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "sk-canary-0123456789";

    /// All that is to be seen of an output that comes in these pieces: while it comes, in the end, and in the file.
    fn seen(pieces: &[&[u8]]) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        let mut keep = || std::fs::File::create(&path).map(|file| Some((path.clone(), file)));
        let masks = Masks::new([("THE_KEY", KEY)]);
        let mut capture = Capture::new(&masks, &mut keep);
        let mut live = String::new();
        for piece in pieces {
            capture.push(piece);
            let Live { text, open_line, .. } = capture.live();
            live += &text;
            assert!(!open_line.contains(KEY));
        }
        let output = capture.finish();
        let kept = output.whole.as_ref().map(|path| std::fs::read_to_string(path).unwrap()).unwrap_or_default();
        (live + &kept + &output.text, output.text)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn a_key_anywhere_in_a_long_line_in_any_pieces_never_comes_out(
            before in prop_oneof![64_000usize..67_000, 0usize..200_000],
            after in 0usize..70_000,
            piece in prop_oneof![1usize..200, 1_000usize..66_000],
            styled in any::<bool>(),
        ) {
            let key = if styled { KEY.replace('-', "-\x1b[1m") } else { KEY.to_owned() };
            // The small pieces are around the key alone: all of them would take long.
            let line = format!("{}{key}{}", "x".repeat(before), "y".repeat(after));
            let (start, rest) = line.as_bytes().split_at(before.saturating_sub(100));
            let (middle, end) = rest.split_at(rest.len().min(300));
            let pieces: Vec<&[u8]> = start.chunks(66_000).chain(middle.chunks(piece)).chain(end.chunks(66_000)).collect();
            let (all, output) = seen(&pieces);
            prop_assert!(!all.contains(KEY));
            prop_assert!(output.contains("[THE_KEY]") || before + after > HEAD);
        }
    }

    #[test]
    fn at_the_end_of_what_is_read_closely_no_half_of_a_key_comes_out() {
        let filler = vec![b'x'; KEPT_BYTES as usize - 10];
        let more = vec![b'y'; 2 * TAIL];
        // The one key lies across the limit, the other where the first of the rest is let go.
        let late = format!("{}{}", KEY.get(10..).unwrap(), "y".repeat(TAIL - 30));
        let again = format!("{KEY}{}", "z".repeat(TAIL - 10));
        for pieces in [
            vec![&filler[..], &KEY.as_bytes()[..10], &KEY.as_bytes()[10..], &more],
            vec![&filler[..], &KEY.as_bytes()[..10], late.as_bytes(), again.as_bytes(), b"end"],
        ] {
            let (all, _) = seen(&pieces);
            assert!(!all.contains(&KEY[10..]) && !all.contains(KEY), "a half came out");
            assert!(!all.contains(&KEY[..10]), "the other half came out");
        }
    }
}
