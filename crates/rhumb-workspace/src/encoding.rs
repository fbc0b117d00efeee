//! Text encodings of files: character encoding, byte order mark and CR line endings.
//!
//! Callers see plain text, and a write restores the encoding of the file. Therefore bytes are decoded only if
//! encoding the result gives back exactly the same bytes.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{EncoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::borrow::Cow;
use std::fmt;

/// The byte order mark as a character.
const MARK: char = '\u{feff}';
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The byte with which escape sequences start. Few files contain it.
const ESCAPE: u8 = b'\x1b';

/// Escape sequences with which ISO-2022-JP switches to Japanese characters.
const JAPANESE: [&[u8]; 2] = [b"\x1b$B", b"\x1b$@"];

/// A NUL within this many bytes from the start marks a file as binary. git and ripgrep check a similar length.
const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// How the text of a file is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEncoding {
    encoding: &'static Encoding,
    has_mark: bool,
    /// Whether CR is the only line ending of the file. The decoded text has LF instead.
    has_cr: bool,
}

/// Why bytes cannot be decoded as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecodeError {
    /// There is a NUL byte.
    Binary,
    /// The bytes are not UTF-8 from this offset on (0-based, in bytes), and no other encoding restores them.
    Unknown(usize),
}

/// A character that the encoding of a file does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnmappableChar {
    pub(crate) character: char,
    /// Line of the character, 1-based.
    pub(crate) line: usize,
}

impl Default for TextEncoding {
    /// UTF-8 without a byte order mark, the encoding of new files.
    fn default() -> Self {
        Self { encoding: UTF_8, has_mark: false, has_cr: false }
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.encoding.name())?;
        f.write_str(if self.has_mark { " with a byte order mark" } else { "" })?;
        f.write_str(if self.has_cr { " with lines that end with CR" } else { "" })
    }
}

impl TextEncoding {
    /// Decodes UTF-8 (with or without a byte order mark), UTF-16 with a byte order mark, or a legacy encoding that is
    /// guessed. If CR is the only line ending, the text has LF instead.
    pub(crate) fn decode(bytes: Vec<u8>) -> Result<(String, Self), DecodeError> {
        let (text, encoding) = Self::decode_characters(bytes)?;
        let has_cr = text.contains('\r') && !text.contains('\n');
        Ok(if has_cr { (text.replace('\r', "\n"), Self { has_cr, ..encoding }) } else { (text, encoding) })
    }

    fn decode_characters(bytes: Vec<u8>) -> Result<(String, Self), DecodeError> {
        for encoding in [UTF_16LE, UTF_16BE] {
            if Encoding::for_bom(&bytes).is_some_and(|(found, _)| found == encoding) {
                return from_utf16(&bytes, encoding);
            }
        }
        if bytes.iter().take(BINARY_PROBE_BYTES).any(|&byte| byte == 0) {
            return Err(DecodeError::Binary);
        }
        // ISO-2022-JP consists of ASCII bytes. New text would be added as UTF-8, which mixes two encodings.
        if bytes.contains(&ESCAPE)
            && let Some(at) = bytes.windows(3).position(|bytes| JAPANESE.contains(&bytes)).filter(|_| bytes.is_ascii())
        {
            return Err(DecodeError::Unknown(at));
        }
        let has_mark = bytes.starts_with(UTF8_MARK);
        match String::from_utf8(bytes) {
            Ok(text) if has_mark => Ok((text[UTF8_MARK.len()..].to_owned(), Self { has_mark, ..Self::default() })),
            Ok(text) => Ok((text, Self::default())),
            Err(error) if has_mark => Err(DecodeError::Unknown(error.utf8_error().valid_up_to())),
            Err(error) => from_legacy(error.as_bytes()).ok_or(DecodeError::Unknown(error.utf8_error().valid_up_to())),
        }
    }

    /// Encodes `text`.
    ///
    /// # Errors
    /// The encoding does not have a character, or decodes it to a different one.
    pub(crate) fn encode(self, text: &str) -> Result<Cow<'_, [u8]>, UnmappableChar> {
        if !self.has_cr {
            return self.encode_characters(text);
        }
        // A CR would be decoded as a line ending.
        if let Some(at) = text.find('\r') {
            return Err(unencodable(text, at));
        }
        let bytes = self.encode_characters(&text.replace('\n', "\r"))?.into_owned();
        Ok(bytes.into())
    }

    fn encode_characters(self, text: &str) -> Result<Cow<'_, [u8]>, UnmappableChar> {
        if self.encoding == UTF_8 {
            return Ok(if self.has_mark {
                [UTF8_MARK, text.as_bytes()].concat().into()
            } else {
                text.as_bytes().into()
            });
        }
        let mark = self.has_mark.then_some(MARK);
        if self.encoding == UTF_16LE || self.encoding == UTF_16BE {
            let big = self.encoding == UTF_16BE;
            let units = mark.into_iter().chain(text.chars()).flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec());
            return Ok(units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect());
        }
        let bytes = to_legacy(text, self.encoding)?;
        match self.encoding.decode_without_bom_handling_and_without_replacement(&bytes) {
            Some(back) if back == text => Ok(bytes.into()),
            // Shift_JIS, for example, encodes a yen sign as a byte that it decodes to a backslash.
            back => {
                let back = back.unwrap_or_default();
                let alike = text.chars().zip(back.chars()).take_while(|(one, other)| one == other);
                let at = alike.map(|(c, _)| c.len_utf8()).sum();
                Err(unencodable(text, at))
            }
        }
    }
}

/// Returns the character at byte offset `at` with its line.
fn unencodable(text: &str, at: usize) -> UnmappableChar {
    let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    UnmappableChar { character: rest.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER), line }
}

/// Decodes UTF-16 with a byte order mark. Rejects NUL, half a code unit and lone surrogates, which could not be
/// restored.
fn from_utf16(bytes: &[u8], encoding: &'static Encoding) -> Result<(String, TextEncoding), DecodeError> {
    let (units, rest) = bytes.as_chunks::<2>();
    let unit =
        |pair: &[u8; 2]| if encoding == UTF_16BE { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
    if !rest.is_empty() || units.contains(&[0, 0]) {
        return Err(DecodeError::Binary);
    }
    let mut text = String::with_capacity(bytes.len() / 2);
    for (at, character) in char::decode_utf16(units.iter().skip(1).map(unit)).enumerate() {
        text.push(character.map_err(|_| DecodeError::Unknown(2 + at * 2))?);
    }
    Ok((text, TextEncoding { encoding, has_mark: true, has_cr: false }))
}

/// Decodes a legacy encoding, guessed from the letters. Returns `None` if the guess does not restore the bytes, or if
/// the text has control characters, which indicate binary data.
fn from_legacy(bytes: &[u8]) -> Option<(String, TextEncoding)> {
    let is_control = |byte: &u8| matches!(byte, 0..=8 | 14..=25 | 28..=31 | 127);
    if bytes.iter().any(is_control) || is_damaged_utf8(bytes) {
        return None;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    let is_data = text.chars().any(|c| matches!(c, '\u{80}'..='\u{9f}'));
    let comes_back = || to_legacy(&text, encoding).is_ok_and(|back| back == bytes);
    (!is_data && comes_back()).then(|| (text.into_owned(), TextEncoding { encoding, has_mark: false, has_cr: false }))
}

/// Returns whether the bytes are mostly UTF-8 with some invalid bytes. Text that is added to such a file must not be
/// encoded as legacy text. Valid multi-byte sequences are rare in legacy encodings.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good >= bad
}

fn to_legacy(text: &str, encoding: &'static Encoding) -> Result<Vec<u8>, UnmappableChar> {
    let mut encoder = encoding.new_encoder();
    let mut bytes = Vec::new();
    let mut read = 0;
    loop {
        let rest = text.get(read..).unwrap_or_default();
        let max_bytes =
            encoder.max_buffer_length_from_utf8_without_replacement(rest.len()).unwrap_or(rest.len() * 4 + 16);
        bytes.reserve(max_bytes);
        let (result, taken) = encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        read += taken;
        match result {
            EncoderResult::InputEmpty => return Ok(bytes),
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(character) => return Err(unencodable(text, read - character.len_utf8())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(bytes: &[u8]) -> (String, TextEncoding) {
        TextEncoding::decode(bytes.to_vec()).unwrap()
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_text() {
        let (text, encoding) = decoded(b"\xef\xbb\xbfone\r\ntwo");
        assert_eq!((&*text, encoding.to_string()), ("one\r\ntwo", "UTF-8 with a byte order mark".to_owned()));
        assert_eq!(&*encoding.encode("1").unwrap(), b"\xef\xbb\xbf1");
        // Only the first mark is removed; a second one is part of the text.
        assert_eq!(decoded(b"\xef\xbb\xbf\xef\xbb\xbfx").0, "\u{feff}x");
    }

    #[test]
    fn lines_that_end_with_cr_alone_are_lines() {
        let (text, encoding) = decoded(b"one\rtwo\r\rthree");
        assert_eq!(
            (&*text, encoding.to_string()),
            ("one\ntwo\n\nthree", "UTF-8 with lines that end with CR".to_owned())
        );
        assert_eq!(&*encoding.encode("one\n2\n").unwrap(), b"one\r2\r");
        // It would be decoded as two line endings.
        assert_eq!(
            encoding.encode("one\ntwo\r\n").map(Cow::into_owned),
            Err(UnmappableChar { character: '\r', line: 2 })
        );
        let (text, encoding) = decoded(b"\xff\xfea\0\r\0b\0");
        assert_eq!((&*text, &*encoding.encode(&text).unwrap()), ("a\nb", &b"\xff\xfea\0\r\0b\0"[..]));
        let (text, encoding) = decoded(b"caf\xe9\rferm\xe9\r");
        assert_eq!((&*text, &*encoding.encode(&text).unwrap()), ("café\nfermé\n", &b"caf\xe9\rferm\xe9\r"[..]));
        // Together with LF, a CR is an ordinary character.
        assert_eq!(decoded(b"one\rtwo\n"), ("one\rtwo\n".to_owned(), TextEncoding::default()));
    }

    #[test]
    fn escape_sequences_of_another_encoding_are_rejected() {
        assert_eq!(TextEncoding::decode(b"a\n\x1b$B$3$l\x1b(B\n".to_vec()), Err(DecodeError::Unknown(2)));
        // Terminal escape sequences are not Japanese text.
        assert_eq!(decoded(b"\x1b(B\x1b[m$B").1, TextEncoding::default());
        for utf_32 in [&b"\xff\xfe\0\0a\0\0\0"[..], b"\0\0\xfe\xff\0\0\0a", b"a\0\0\0"] {
            assert_eq!(TextEncoding::decode(utf_32.to_vec()), Err(DecodeError::Binary));
        }
    }

    #[test]
    fn utf_16_is_text_when_it_has_a_mark() {
        let (text, encoding) = decoded(b"\xff\xfea\0\x3d\xd8\x80\xde\n\0");
        assert_eq!((&*text, encoding.to_string()), ("a🚀\n", "UTF-16LE with a byte order mark".to_owned()));
        let (text, encoding) = decoded(b"\xfe\xff\0a\0\n");
        assert_eq!(text, "a\n");
        assert_eq!(&*encoding.encode("é\n").unwrap(), b"\xfe\xff\0\xe9\0\n");
        assert_eq!(TextEncoding::decode(b"a\0b\0".to_vec()), Err(DecodeError::Binary));
        // Half a code unit, a NUL, UTF-32, a lone surrogate.
        assert_eq!(TextEncoding::decode(b"\xff\xfea\0b".to_vec()), Err(DecodeError::Binary));
        assert_eq!(TextEncoding::decode(b"\xff\xfea\0\0\0".to_vec()), Err(DecodeError::Binary));
        assert_eq!(TextEncoding::decode(b"\xff\xfe\0\0a\0\0\0".to_vec()), Err(DecodeError::Binary));
        assert_eq!(TextEncoding::decode(b"\xff\xfea\0\x3d\xd8".to_vec()), Err(DecodeError::Unknown(4)));
    }

    #[test]
    fn legacy_encodings_are_recognized_by_their_letters() {
        let cases: [(&str, &'static Encoding); 6] = [
            ("# Größe der Straße für Müller\nname = 'Jörg'\n", encoding_rs::WINDOWS_1252),
            ("# Это обычный комментарий на русском языке\n", encoding_rs::WINDOWS_1251),
            ("// 設定ファイルを読み込む関数です。ひらがなとカタカナ\n", encoding_rs::SHIFT_JIS),
            ("// この関数は設定ファイルを読み込みます\n", encoding_rs::EUC_JP),
            ("// 이 함수는 설정 파일을 읽습니다\n", encoding_rs::EUC_KR),
            ("// 這個函數讀取設定檔案並返回結果\n", encoding_rs::BIG5),
        ];
        for (text, encoding) in cases {
            let (bytes, _, _) = encoding.encode(text);
            let (read, decoded) = decoded(&bytes);
            assert_eq!((&*read, decoded.to_string()), (text, encoding.name().to_owned()));
        }
    }

    #[test]
    fn an_unmappable_character_is_reported_with_its_line() {
        let (_, encoding) = decoded("Größe\n".chars().map(|c| c as u8).collect::<Vec<_>>().as_slice());
        let refused = encoding.encode("Größe\na → b\n").unwrap_err();
        assert_eq!(refused, UnmappableChar { character: '→', line: 2 });
        let shift_jis = TextEncoding { encoding: encoding_rs::SHIFT_JIS, has_mark: false, has_cr: false };
        assert_eq!(shift_jis.encode("設\n\n5¥").unwrap_err(), UnmappableChar { character: '¥', line: 3 });
    }

    #[test]
    fn data_without_a_nul_is_no_legacy_text() {
        assert_eq!(TextEncoding::decode(b"\x89PNG\r\n\x1a\n\x01\x02".to_vec()), Err(DecodeError::Unknown(0)));
        assert_eq!(TextEncoding::decode(b"caf\xe9 \x01".to_vec()), Err(DecodeError::Unknown(3)));
        // UTF-8 with an invalid byte.
        assert_eq!(TextEncoding::decode(b"caf\xc3\xa9 \xe9".to_vec()), Err(DecodeError::Unknown(6)));
        assert_eq!(TextEncoding::decode(b"\xef\xbb\xbfcaf\xe9".to_vec()), Err(DecodeError::Unknown(6)));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok((text, encoding)) = TextEncoding::decode(bytes.clone()) {
                prop_assert_eq!(&*encoding.encode(&text).unwrap(), &bytes[..]);
            }
        }

        #[test]
        fn text_like_bytes_round_trip(
            mark in "(|\u{feff})",
            bytes in proptest::collection::vec(prop_oneof![8 => 32u8..127, 1 => Just(b'\n'), 1 => Just(b'\r'), 2 => 128u8..=255], 0..200),
        ) {
            let bytes = [mark.as_bytes(), &bytes].concat();
            if let Ok((text, encoding)) = TextEncoding::decode(bytes.clone()) {
                prop_assert_eq!(&*encoding.encode(&text).unwrap(), &bytes[..]);
            }
        }

        #[test]
        fn encoded_text_is_decoded_with_the_same_encoding(text in "(\\PC|\n|\r\n|é|¥|ж|設){0,40}", big in any::<bool>()) {
            let utf16 = TextEncoding { encoding: if big { UTF_16BE } else { UTF_16LE }, has_mark: true, has_cr: false };
            let utf8 = TextEncoding { has_mark: true, ..TextEncoding::default() };
            for encoding in [utf16, utf8] {
                let bytes = encoding.encode(&text).unwrap().into_owned();
                prop_assert_eq!(TextEncoding::decode(bytes), Ok((text.clone(), encoding)));
            }
            for encoding in [encoding_rs::WINDOWS_1252, encoding_rs::SHIFT_JIS, encoding_rs::GBK, encoding_rs::EUC_JP] {
                let text_encoding = TextEncoding { encoding, has_mark: false, has_cr: false };
                if let Ok(bytes) = text_encoding.encode(&text) {
                    let back = encoding.decode_without_bom_handling_and_without_replacement(&bytes);
                    prop_assert_eq!(back.as_deref(), Some(&*text));
                }
            }
        }
    }
}
