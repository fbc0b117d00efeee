//! Telling from a file's metadata whether it changed.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use xxhash_rust::xxh3::xxh3_64;

/// A file that changed this shortly before it was listed may change again without another time: the clocks of file
/// systems tick in steps of some milliseconds.
const TICK: Duration = Duration::from_millis(50);
/// The same for a time in whole seconds: such a file system knows no finer ones.
const COARSE_TICK: Duration = Duration::from_secs(2);

/// A number that changes whenever the file does; 0 when it changed so shortly before `since`, or after it, that another
/// change might not show.
pub(super) fn stamp(meta: &Metadata, since: SystemTime) -> u64 {
    let Ok(modified) = meta.modified() else { return 0 };
    let nanos = modified.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
    let tick = if nanos == 0 { COARSE_TICK } else { TICK };
    if modified + tick >= since {
        return 0;
    }
    let seconds = modified.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let mut bytes = Vec::with_capacity(48);
    for number in [meta.len(), seconds, u64::from(nanos)].into_iter().chain(identity(meta)) {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    xxh3_64(&bytes).max(1)
}

/// Seconds and nanoseconds of the last change, since 1970; zero where the system does not tell.
pub(super) fn modified(meta: &Metadata) -> (i64, u32) {
    let since = meta.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.map_or((0, 0), |time| (i64::try_from(time.as_secs()).unwrap_or(i64::MAX), time.subsec_nanos()))
}

/// The file as such, and when anything about it changed last: a copy with an old date is another file.
#[cfg(unix)]
fn identity(meta: &Metadata) -> [u64; 3] {
    use std::os::unix::fs::MetadataExt;
    [meta.ino(), meta.ctime() as u64, meta.ctime_nsec() as u64]
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> [u64; 3] {
    [0; 3]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_stamp_tells_versions_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let later = SystemTime::now() + Duration::from_secs(10);
        fs::write(&path, "one").unwrap();
        let first = stamp(&fs::metadata(&path).unwrap(), later);
        assert_eq!(first, stamp(&fs::metadata(&path).unwrap(), later));
        fs::write(&path, "three").unwrap();
        assert_ne!(first, stamp(&fs::metadata(&path).unwrap(), later));
        assert_ne!(first, 0);
    }

    #[test]
    fn what_changed_just_now_has_no_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "one").unwrap();
        assert_eq!(stamp(&fs::metadata(&path).unwrap(), SystemTime::now()), 0);
    }
}
