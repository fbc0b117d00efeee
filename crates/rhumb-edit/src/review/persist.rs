//! Saving a review: its serialized form, and a check of what was read.

use super::Review;
use super::file::FileReview;
use crate::proposal::FileChange;

impl Review {
    /// The review without its undo history.
    pub fn without_history(&self) -> Self {
        Self { files: self.files.clone(), refused: self.refused.clone(), ..Self::default() }
    }

    /// Removes the files whose hunks do not fit their texts. Returns their paths.
    pub fn drop_inconsistent(&mut self) -> Vec<String> {
        let (sound, unsound) = std::mem::take(&mut self.files).into_iter().partition(FileReview::is_consistent);
        self.files = sound;
        unsound.into_iter().map(|file: FileReview| file.path).collect()
    }
}

impl FileReview {
    /// Whether its hunks are in its texts, in order.
    fn is_consistent(&self) -> bool {
        let (old, new) = self.split_texts();
        let mut at = (0, 0);
        let in_order = self.hunks.iter().all(|item| {
            let (base, proposed) = (&item.hunk.base, &item.hunk.proposed);
            let follows = at.0 <= base.start && base.start <= base.end && base.end <= old.len();
            let follows = follows && at.1 <= proposed.start && proposed.start <= proposed.end;
            at = (base.end, proposed.end);
            follows && proposed.end <= new.len() && item.is_consistent()
        });
        let has_texts = match self.change {
            FileChange::Create => self.proposed.is_some(),
            FileChange::Modify | FileChange::Rename { .. } => self.base.is_some() && self.proposed.is_some(),
            FileChange::Delete => self.base.is_some(),
        };
        !self.hunks.is_empty() && in_order && has_texts
    }
}

/// Serializes a shared text.
pub(crate) mod text {
    use std::sync::Arc;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub fn serialize<S: Serializer>(text: &Option<Arc<str>>, to: S) -> Result<S::Ok, S::Error> {
        text.as_deref().serialize(to)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Arc<str>>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Arc::from))
    }
}

/// Serializes a map as pairs, because its keys cannot be field names.
pub(crate) mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(map: &BTreeMap<Option<usize>, String>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<BTreeMap<Option<usize>, String>, D::Error> {
        Ok(Vec::<(Option<usize>, String)>::deserialize(from)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::{CommentTarget, Decision, HunkId, HunkMark};
    use std::sync::Arc;

    fn review() -> Review {
        let file = |path: &str, change, base: Option<&str>, proposed: Option<&str>| {
            let text = |text: Option<&str>| text.map(Arc::from);
            FileReview::new(path.into(), change, text(base), text(proposed), |_| vec![HunkMark::Moved]).unwrap()
        };
        let modified = file("a.rs", FileChange::Modify, Some("1\n2\n3\n4\n5\n"), Some("1\nzwei\n3\n4\nfünf\n"));
        let moved = FileChange::Rename { from: "b.rs".into() };
        let files = vec![
            modified,
            file("new.rs", FileChange::Create, None, Some("x\n")),
            file("old.rs", FileChange::Delete, Some("y\n"), None),
            file("c.rs", moved, Some("z\n"), Some("z\n")),
        ];
        Review { files, ..Review::default() }
    }

    #[test]
    fn a_saved_review_keeps_decisions_and_comments() {
        let mut review = review();
        review.decide_lines(HunkId { file: 0, hunk: 0 }, 1..2, Decision::Accepted);
        review.edit(HunkId { file: 0, hunk: 1 }, "cinq\n");
        review.comment(CommentTarget::Line(HunkId { file: 0, hunk: 0 }, 1), "why?");
        review.decide(HunkId { file: 2, hunk: 0 }, Decision::Rejected);
        let text = serde_json::to_string(&review.without_history()).unwrap();
        let mut read: Review = serde_json::from_str(&text).unwrap();
        assert_eq!(read.drop_inconsistent(), [""; 0]);
        assert_eq!(read.files, review.files);
        assert_eq!(read.files[0].composed(), review.files[0].composed());
        assert!(read.undo().is_none());
    }

    #[test]
    fn inconsistent_files_are_dropped() {
        let text = serde_json::to_string(&review()).unwrap();
        let broken =
            text.replace("1\\n2\\n3\\n4\\n5\\n", "1\\n").replace(r#""change":"delete""#, r#""change":"create""#);
        let mut read: Review = serde_json::from_str(&broken).unwrap();
        assert_eq!(read.drop_inconsistent(), ["a.rs", "old.rs"]);
        assert_eq!(read.files.len(), 2);
    }
}
