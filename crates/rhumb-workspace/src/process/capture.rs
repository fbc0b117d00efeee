//! Captures the output of a command: the beginning and the end in memory, everything in a file (up to a limit), and
//! new output for a live display. Known secrets are masked.

use super::terminal::MAX_SEQUENCE_CHARS;
use super::{OpenLogFile, TerminalDecoder, Watch};
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

/// Maximum number of bytes of an output that are written to a file. Of the rest only the end is kept, in memory.
pub const MAX_KEPT_BYTES: u64 = 32 * 1024 * 1024;

/// Maximum number of bytes of the beginning that are kept in memory. A shorter output needs no file.
const MAX_HEAD_BYTES: usize = 256 * 1024;

/// Maximum number of bytes of the end that are kept in memory.
const MAX_TAIL_BYTES: usize = 256 * 1024;

/// Maximum number of bytes of new output per call of the watcher. Earlier new output is skipped.
const MAX_LIVE_BYTES: usize = 16 * 1024;

/// New output of a running command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveOutput {
    /// Completed lines, or the end of them.
    pub text: String,
    /// The incomplete last line.
    pub open_line: String,
    /// Number of bytes of new output before `text` that were skipped.
    pub skipped: usize,
}

/// The output of a command that has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// The whole output, or its beginning and end with a note between them.
    pub text: String,
    /// Number of bytes that the command printed.
    pub bytes: u64,
    /// Number of bytes that are missing from `text`.
    pub omitted: u64,
    /// File with the whole output, or with its first [`MAX_KEPT_BYTES`].
    pub whole: Option<PathBuf>,
    /// Why the file could not be written.
    pub not_kept: Option<String>,
}

pub(crate) struct Capture<'k> {
    plain: TerminalDecoder,
    masks: &'k SecretMask,
    mask: StreamMask<'k>,
    which: Watch,
    keep: OpenLogFile<'k>,
    head: String,
    tail: String,
    /// Number of bytes that were dropped from `tail`.
    gone: u64,
    bytes: u64,
    file: Option<(PathBuf, File)>,
    not_kept: Option<String>,
    /// Undecoded output after the limit, of which only the end is needed.
    raw: Vec<u8>,
    live: LiveOutput,
}

impl<'k> Capture<'k> {
    pub(crate) fn new(masks: &'k SecretMask, which: Watch, keep: OpenLogFile<'k>) -> Self {
        Self {
            plain: TerminalDecoder::default(),
            masks,
            mask: StreamMask::new(masks),
            which,
            keep,
            head: String::new(),
            tail: String::new(),
            gone: 0,
            bytes: 0,
            file: None,
            not_kept: None,
            raw: Vec::new(),
            live: LiveOutput::default(),
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if self.bytes > MAX_KEPT_BYTES && self.which == Watch::Recent {
            self.raw.extend_from_slice(bytes);
            if self.raw.len() > 2 * MAX_TAIL_BYTES {
                let gone = self.raw.len() - MAX_TAIL_BYTES;
                self.raw.drain(..gone);
                self.gone += gone as u64;
            }
            self.live.skipped += bytes.len();
            return;
        }
        let mut text = String::new();
        self.plain.push(bytes, &mut text);
        let text = self.mask.push(&text);
        self.take(&text);
    }

    fn take(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.live.text.push_str(text);
        let most = self.max_live_bytes();
        self.live.skipped += keep_end(&mut self.live.text, most);
        if self.tail.is_empty() && self.head.len() + text.len() <= MAX_HEAD_BYTES {
            self.head.push_str(text);
            return;
        }
        self.spill(text);
        self.tail.push_str(text);
        if self.tail.len() > 2 * MAX_TAIL_BYTES {
            self.gone += keep_end(&mut self.tail, MAX_TAIL_BYTES) as u64;
        }
    }

    fn max_live_bytes(&self) -> usize {
        if self.which == Watch::All { usize::MAX } else { MAX_LIVE_BYTES }
    }

    /// Writes to the file. A new file starts with the text in memory.
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

    /// Returns the output since the last call.
    pub(crate) fn live(&mut self) -> LiveOutput {
        let mut live = std::mem::take(&mut self.live);
        if self.raw.is_empty() {
            live.open_line = self.mask.ahead(self.plain.open_line());
            keep_end(&mut live.open_line, self.max_live_bytes());
        } else {
            let end = self.raw.len().saturating_sub(MAX_LIVE_BYTES);
            live.text = self.late(self.raw.get(end..).unwrap_or_default());
            keep_end(&mut live.text, MAX_LIVE_BYTES / 4);
        }
        live
    }

    /// Decodes bytes that may begin in the middle of a secret or a control sequence. If there are secrets to mask,
    /// omits the first characters, which may be a part of one.
    fn late(&self, bytes: &[u8]) -> String {
        let text = self.masks.masked(&TerminalDecoder::text(bytes)).into_owned();
        match self.masks.longest() {
            0 => text,
            longest => text.chars().skip(MAX_SEQUENCE_CHARS + longest).collect(),
        }
    }

    pub(crate) fn finish(mut self) -> Output {
        let mut rest = String::new();
        self.plain.finish(&mut rest);
        let rest = self.mask.push(&rest);
        self.take(&rest);
        if self.raw.is_empty() {
            let rest = self.mask.finish();
            self.take(&rest);
        } else {
            // Text held back by the mask is dropped: it may be the first half of a secret whose second half was not
            // decoded.
            let late = self.late(&self.raw);
            self.spill(&format!("\n[… the first {} MB of the output are kept …]\n", MAX_KEPT_BYTES >> 20));
            self.tail.push_str(&late);
        }
        self.gone += keep_end(&mut self.tail, MAX_TAIL_BYTES) as u64;
        let mut text = self.head;
        if self.gone > 0 {
            let hint =
                self.file.as_ref().map_or_else(String::new, |(path, _)| format!("; {} has more", path.display()));
            text.push_str(&format!("\n[… {} bytes left out{hint} …]\n", self.gone));
        }
        text.push_str(&self.tail);
        let not_kept = self.not_kept.filter(|why| !why.is_empty());
        Output { text, bytes: self.bytes, omitted: self.gone, whole: self.file.map(|(path, _)| path), not_kept }
    }
}

/// Shortens a text to its last `most` bytes, at a line start if one is near. Returns the number of removed bytes.
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

/// Minimum length in bytes of a secret that is masked. Shorter ones could occur in ordinary words.
const MIN_SECRET_BYTES: usize = 8;

/// Secrets that must not be shown, each with a replacement. `Debug` shows none of them.
#[derive(Clone, Default)]
pub struct SecretMask {
    secrets: Vec<(String, String)>,
}

impl fmt::Debug for SecretMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretMask").field("count", &self.secrets.len()).finish()
    }
}

impl SecretMask {
    /// Creates a mask for these pairs of name and secret.
    pub fn new<'s>(secrets: impl IntoIterator<Item = (&'s str, &'s str)>) -> Self {
        let long = secrets.into_iter().filter(|(_, secret)| secret.len() >= MIN_SECRET_BYTES);
        let mut secrets: Vec<_> = long.map(|(name, secret)| (secret.to_owned(), format!("[{name}]"))).collect();
        // Longer secrets first, since one may be the beginning of another.
        secrets.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// Replaces each secret in `text` with its name in brackets.
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut masked = Cow::Borrowed(text);
        for (secret, name) in &self.secrets {
            if masked.contains(secret.as_str()) {
                masked = Cow::Owned(masked.replace(secret.as_str(), name));
            }
        }
        masked
    }

    /// Length in bytes of the longest secret, 0 if there is none.
    pub(crate) fn longest(&self) -> usize {
        self.secrets.first().map_or(0, |(secret, _)| secret.len())
    }

    /// Returns the offset, at or after `from`, of an incomplete secret at the end of the text.
    fn open_end(&self, text: &str, from: usize) -> Option<usize> {
        let least = text.len().saturating_sub(self.longest().saturating_sub(1)).max(from);
        let tail = text.get(text.ceil_char_boundary(least)..)?;
        let mut positions = tail.char_indices().map(|(at, _)| tail.get(at..).unwrap_or_default());
        let open = positions
            .find(|rest| self.secrets.iter().any(|(secret, _)| secret.len() > rest.len() && secret.starts_with(rest)));
        open.map(|rest| text.len() - rest.len())
    }
}

/// Masks a text that arrives in pieces. An incomplete secret at the end is held back until the next piece.
#[derive(Debug)]
pub(crate) struct StreamMask<'m> {
    masks: &'m SecretMask,
    held: String,
}

impl<'m> StreamMask<'m> {
    pub(crate) fn new(masks: &'m SecretMask) -> Self {
        Self { masks, held: String::new() }
    }

    /// Adds a piece. Returns the text that is complete, masked.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        if self.masks.secrets.is_empty() {
            return piece.to_owned();
        }
        let mut text = std::mem::take(&mut self.held);
        text.push_str(piece);
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        // Next position of each secret. Searched again only after it was passed.
        let position =
            |secret: &str, from: usize| text.get(from..).and_then(|rest| rest.find(secret)).map(|found| from + found);
        let mut positions: Vec<Option<usize>> =
            self.masks.secrets.iter().map(|(secret, _)| position(secret, 0)).collect();
        let mut open = self.masks.open_end(&text, 0);
        loop {
            // At equal positions, the longer secret is masked.
            let next = positions
                .iter()
                .enumerate()
                .filter_map(|(which, position)| position.map(|position| (position, which)))
                .min();
            let Some((found, which)) = next.filter(|(found, _)| open.is_none_or(|open| *found < open)) else { break };
            let Some((secret, name)) = self.masks.secrets.get(which) else { break };
            out.push_str(text.get(at..found).unwrap_or_default());
            out.push_str(name);
            at = found + secret.len();
            for (next, (secret, _)) in positions.iter_mut().zip(&self.masks.secrets) {
                if next.is_some_and(|next| next < at) {
                    *next = position(secret, at);
                }
            }
            if open.is_some_and(|open| open < at) {
                open = self.masks.open_end(&text, at);
            }
        }
        out.push_str(text.get(at..open.unwrap_or(text.len())).unwrap_or_default());
        self.held = text.split_off(open.unwrap_or(text.len()));
        out
    }

    /// Returns the held back text followed by `more`, masked.
    pub(crate) fn ahead(&self, more: &str) -> String {
        self.masks.masked(&format!("{}{more}", self.held)).into_owned()
    }

    /// Returns the held back text at the end.
    pub(crate) fn finish(&mut self) -> String {
        let rest = self.ahead("");
        self.held.clear();
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = "sk-canary-0123456789";

    /// The visible forms of an output: the live text and the final text, and the text in the file.
    fn seen(pieces: &[&[u8]]) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        let mut keep = || std::fs::File::create(&path).map(|file| Some((path.clone(), file)));
        let masks = SecretMask::new([("THE_KEY", KEY)]);
        let mut capture = Capture::new(&masks, Watch::Recent, &mut keep);
        let mut live = String::new();
        for piece in pieces {
            capture.push(piece);
            let LiveOutput { text, open_line, .. } = capture.live();
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
        fn a_key_in_a_long_line_is_masked_however_it_is_cut(
            before in prop_oneof![64_000usize..67_000, 0usize..200_000],
            after in 0usize..70_000,
            piece in prop_oneof![1usize..200, 1_000usize..66_000],
            styled in any::<bool>(),
        ) {
            let key = if styled { KEY.replace('-', "-\x1b[1m") } else { KEY.to_owned() };
            // Only the part around the key is cut into small pieces, to keep the test fast.
            let line = format!("{}{key}{}", "x".repeat(before), "y".repeat(after));
            let (start, rest) = line.as_bytes().split_at(before.saturating_sub(100));
            let (middle, end) = rest.split_at(rest.len().min(300));
            let pieces: Vec<&[u8]> = start.chunks(66_000).chain(middle.chunks(piece)).chain(end.chunks(66_000)).collect();
            let (all, output) = seen(&pieces);
            prop_assert!(!all.contains(KEY));
            prop_assert!(output.contains("[THE_KEY]") || before + after > MAX_HEAD_BYTES);
        }
    }

    #[test]
    fn half_a_key_at_the_decoding_limit_is_not_shown() {
        let filler = vec![b'x'; MAX_KEPT_BYTES as usize - 10];
        let more = vec![b'y'; 2 * MAX_TAIL_BYTES];
        // The first key spans the limit, the second one the point where output is dropped.
        let late = format!("{}{}", KEY.get(10..).unwrap(), "y".repeat(MAX_TAIL_BYTES - 30));
        let again = format!("{KEY}{}", "z".repeat(MAX_TAIL_BYTES - 10));
        for pieces in [
            vec![&filler[..], &KEY.as_bytes()[..10], &KEY.as_bytes()[10..], &more],
            vec![&filler[..], &KEY.as_bytes()[..10], late.as_bytes(), again.as_bytes(), b"end"],
        ] {
            let (all, _) = seen(&pieces);
            assert!(!all.contains(&KEY[10..]) && !all.contains(KEY), "a half came out");
            assert!(!all.contains(&KEY[..10]), "the other half came out");
        }
    }

    #[test]
    fn a_key_is_replaced_by_its_name_and_short_words_stay() {
        let masks = SecretMask::new([("A_KEY", "sk-12345678"), ("B_KEY", "sk-12345678-long"), ("C_KEY", "cat")]);
        assert_eq!(masks.masked("a sk-12345678 b sk-12345678-long cat"), "a [A_KEY] b [B_KEY] cat");
        assert!(matches!(masks.masked("nothing"), Cow::Borrowed(_)));
        assert!(!format!("{masks:?}").contains("1234"));
    }

    #[test]
    fn an_incomplete_key_is_held_back() {
        let masks = SecretMask::new([("A_KEY", "sk-12345678"), ("B_KEY", "sk-12345678-long")]);
        let mut mask = StreamMask::new(&masks);
        assert_eq!(mask.push("a sk-1234"), "a ");
        assert_eq!((mask.push("5678"), mask.push("-lo")), (String::new(), String::new()));
        assert_eq!(mask.push("st sk-12345678-long s"), "[A_KEY]-lost [B_KEY] ");
        assert_eq!(
            (mask.push("o"), mask.push(" sk-12345678"), mask.finish()),
            ("so".into(), " ".into(), "[A_KEY]".into())
        );
    }

    proptest! {
        #[test]
        fn keys_are_masked_however_the_text_is_cut(
            words in prop::collection::vec("sk-abcabc|sk-abcabcabc|ab|sk-|c\n|ü|abcabcab|x", 0..40),
            cuts in prop::collection::vec(0usize..400, 0..20),
        ) {
            let masks = SecretMask::new([("A", "sk-abcabc"), ("B", "sk-abcabcabc"), ("C", "abcabcab")]);
            let text = words.concat();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut.min(text.len()))).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let (mut mask, mut whole) = (StreamMask::new(&masks), StreamMask::new(&masks));
            let mut out: String = cuts.windows(2).map(|pair| mask.push(&text[pair[0]..pair[1]])).collect();
            out += &mask.finish();
            for key in ["sk-abcabc", "abcabcab"] {
                prop_assert!(!out.contains(key), "{} in {}", key, out);
            }
            let all = whole.push(&text) + &whole.finish();
            prop_assert_eq!(out, all);
        }
    }
}
