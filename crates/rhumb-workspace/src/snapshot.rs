//! Snapshots: the text of a file and the hash of its bytes at one moment.

use crate::encoding::DecodeError;
use crate::resolve::{ResolveError, resolve};
use crate::{ReadError, Root, TextEncoding};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// Maximum size in bytes of a file that is read as text.
pub const MAX_FILE_BYTES: u64 = 10 * 1024 * 1024;

/// 128-bit xxh3 hash of a file's bytes. It identifies versions. It is not cryptographic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub u128);

impl ContentHash {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxh3_128(bytes))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A text file at the moment when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Path relative to the root, with `/`, as requested.
    pub path: String,
    /// The whole text, without a byte order mark. Line endings are unchanged, except that a file with CR line endings
    /// only has LF here.
    pub text: Arc<str>,
    /// Encoding of the text in the file. A write keeps it.
    pub encoding: TextEncoding,
    /// Hash of the bytes of the file.
    pub hash: ContentHash,
    /// Size of the file in bytes.
    pub bytes: u64,
}

/// Reads `path` (relative, with `/`) as text. Symbolic links are followed only inside the root.
///
/// # Errors
/// The file is missing, out of bounds, binary, larger than [`MAX_FILE_BYTES`], or not a regular file. Pipes, sockets
/// and devices are never opened.
pub fn read(root: &Root, path: &str) -> Result<Snapshot, ReadError> {
    decode(path, read_raw(root, path)?)
}

/// Reads the bytes of `path`. The same conditions apply as for [`read`], except that the content may be binary.
pub fn read_raw(root: &Root, path: &str) -> Result<Vec<u8>, ReadError> {
    let name = || path.to_owned();
    let resolved = resolve(root, path).map_err(|refusal| match refusal {
        ResolveError::Outside(reason) => ReadError::Outside { path: name(), reason },
        ResolveError::NotAFolder => ReadError::NotFound(name()),
        ResolveError::Io(source) => ReadError::Unreadable { path: name(), source },
    })?;
    let meta = resolved.found.ok_or_else(|| ReadError::NotFound(name()))?;
    if !meta.is_file() {
        return Err(ReadError::NotAFile(name()));
    }
    if meta.len() > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge { path: name(), bytes: meta.len() });
    }
    let bytes = read_bytes(&resolved.target, MAX_FILE_BYTES + 1).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ReadError::NotFound(name()),
        _ => ReadError::Unreadable { path: name(), source },
    })?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge { path: name(), bytes: bytes.len() as u64 });
    }
    Ok(bytes)
}

fn decode(path: &str, bytes: Vec<u8>) -> Result<Snapshot, ReadError> {
    let path = path.to_owned();
    let hash = ContentHash::of(&bytes);
    let size = bytes.len() as u64;
    match TextEncoding::decode(bytes) {
        Ok((text, encoding)) => Ok(Snapshot { path, text: text.into(), encoding, hash, bytes: size }),
        Err(DecodeError::Binary) => Err(ReadError::Binary(path)),
        Err(DecodeError::Unknown(offset)) => Err(ReadError::UnknownEncoding { path, offset }),
    }
}

/// Reads at most `limit` bytes of a regular file.
pub(crate) fn read_bytes(target: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(target)?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file. A pipe that replaces the file after the check would block the open forever, so the file is
/// opened without blocking and checked again.
fn open_regular(target: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(target)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW);
    }
    let file = options.open(target)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn root_with(name: &str, bytes: &[u8]) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(name), bytes).unwrap();
        let root = Root::at(dir.path()).unwrap();
        (dir, root)
    }

    #[test]
    fn line_endings_are_kept_and_the_byte_order_mark_is_removed() {
        let (_dir, root) = root_with("a.txt", b"\xef\xbb\xbfone\r\ntwo\rthree");
        let snapshot = read(&root, "a.txt").unwrap();
        assert_eq!(&*snapshot.text, "one\r\ntwo\rthree");
        assert_eq!(snapshot.bytes, 17);
        assert_eq!(snapshot.hash, ContentHash::of(b"\xef\xbb\xbfone\r\ntwo\rthree"));
    }

    #[test]
    fn binary_files_and_unknown_encodings_are_rejected() {
        let (_dir, root) = root_with("a", b"\x7fELF\0\0");
        assert!(matches!(read(&root, "a"), Err(ReadError::Binary(_))));
        let (_dir, root) = root_with("a", b"caf\x9d\x01");
        assert!(matches!(read(&root, "a"), Err(ReadError::UnknownEncoding { offset: 3, .. })));
        let (_dir, root) = root_with("a", b"le caf\xe9 est ferm\xe9");
        assert_eq!(&*read(&root, "a").unwrap().text, "le café est fermé");
    }

    #[test]
    fn a_long_line_is_read_and_a_huge_file_is_not() {
        let (_dir, root) = root_with("a", &vec![b'x'; 5 * 1024 * 1024]);
        assert_eq!(read(&root, "a").unwrap().bytes, 5 * 1024 * 1024);
        File::options().write(true).open(root.path().join("a")).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
        assert!(matches!(read(&root, "a"), Err(ReadError::TooLarge { .. })));
    }

    #[test]
    fn folders_sockets_and_missing_files_are_refused_unopened() {
        let (_dir, root) = root_with("a", b"x");
        fs::create_dir(root.path().join("dir")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(root.path().join("socket")).unwrap();
        assert!(matches!(read(&root, "dir"), Err(ReadError::NotAFile(_))));
        assert!(matches!(read(&root, "socket"), Err(ReadError::NotAFile(_))));
        assert!(matches!(read(&root, "b"), Err(ReadError::NotFound(_))));
        assert!(matches!(read(&root, "a/b"), Err(ReadError::NotFound(_))));
        assert!(matches!(read(&root, "../a"), Err(ReadError::Outside { .. })));
    }

    #[test]
    fn a_pipe_is_refused_without_waiting_for_a_writer() {
        let (_dir, root) = root_with("a", b"x");
        let pipe = root.path().join("pipe");
        if std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
            assert!(matches!(read(&root, "pipe"), Err(ReadError::NotAFile(_))));
            assert!(read_bytes(&pipe, 10).is_err());
        }
    }

    proptest! {
        #[test]
        fn files_that_can_be_read_round_trip(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(snapshot) = decode("a", bytes.clone()) {
                prop_assert_eq!(&*snapshot.encoding.encode(&snapshot.text).unwrap(), &bytes[..]);
            }
        }
    }
}
