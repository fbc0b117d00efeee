//! Evidence from past commits: files that were changed by commits with similar subjects, and files that change together.

use crate::lexical::{Query, Term};

/// BM25 for commit subjects: saturation and influence of the length. Both are lower than for code, since subjects are short and of
/// similar length.
const K1: f64 = 0.8;
const B: f64 = 0.4;
/// Age in commits at which the variable part of a commit's weight is halved, and the constant part.
const HALF_LIFE: f64 = 300.0;
const CONSTANT_WEIGHT: f64 = 0.3;

/// The commits of a repository, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// The full id of the latest commit; may be empty.
    pub head: String,
    /// The commits without merges.
    pub commits: Vec<PastCommit>,
}

/// A past commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastCommit {
    /// The full id.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
    /// The changed files; empty if there are too many to be informative.
    pub paths: Vec<String>,
    /// Number of tree entries that were compared to find them. It bounds the work for a history, cached or not.
    pub compared: u32,
}

/// The history of the files of an index.
#[derive(Debug, Clone, Default)]
pub struct CommitIndex {
    files: usize,
    changes: Vec<IndexedCommit>,
    /// The terms of the subjects with their commits, sorted.
    postings: Vec<(Term, u32)>,
    /// Mean number of terms in a subject.
    mean_length: f64,
    /// By file: the logarithm of the number of commits that changed it.
    churn: Vec<f64>,
}

/// By file: how much commits with subjects like a request changed it, from 0 to 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SimilarCommits {
    /// By all commits together: BM25 of the subjects, squared to reduce the effect of common words; a commit divides its score among its
    /// files.
    pub similar: Vec<f64>,
    /// By the best commit.
    pub best: Vec<f64>,
}

/// A commit, reduced to files that still exist.
#[derive(Debug, Clone)]
struct IndexedCommit {
    files: Box<[u32]>,
    /// Number of changed paths, including deleted ones.
    touched: f64,
    /// Number of terms in the subject.
    length: f64,
    /// Weight by age.
    weight: f64,
}

impl CommitIndex {
    /// Indexes `history` for `files` files; `file` returns the number of a path.
    pub fn new(history: &History, files: usize, file: impl Fn(&str) -> Option<u32>) -> Self {
        let mut past = Self { files, ..Self::default() };
        for commit in history.commits.iter().filter(|commit| !commit.paths.is_empty()) {
            let number = past.changes.len() as u32;
            let subject = Query::new(&commit.subject);
            past.postings.extend(subject.terms().map(|(term, _)| (term, number)));
            past.changes.push(IndexedCommit {
                files: commit.paths.iter().filter_map(|path| file(path)).filter(|&id| (id as usize) < files).collect(),
                touched: commit.paths.len() as f64,
                length: subject.terms().count() as f64,
                weight: CONSTANT_WEIGHT + 0.5f64.powf(f64::from(number) / HALF_LIFE),
            });
        }
        let mut changes = vec![0u32; files];
        past.changes.iter().flat_map(|change| &change.files).for_each(|&file| changes[file as usize] += 1);
        past.churn = changes.into_iter().map(|count| f64::from(count).ln_1p()).collect();
        past.postings.sort_unstable();
        past.mean_length = past.postings.len() as f64 / past.changes.len().max(1) as f64;
        past
    }

    /// Whether there are no commits.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// By file: the logarithm of one plus the number of commits that changed it.
    pub fn churn(&self) -> &[f64] {
        &self.churn
    }

    /// How much commits with subjects like the request changed each file.
    pub fn resembling(&self, query: &Query) -> SimilarCommits {
        let scores = self.subjects(query);
        let highest = scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let (mut files, mut best) = (vec![0.0; self.files], vec![0.0f64; self.files]);
        for (change, score) in self.changes.iter().zip(&scores).filter(|(_, score)| **score > 0.0) {
            let vote = (score / highest).powi(2) / change.touched.sqrt() * change.weight;
            for &file in &change.files {
                files[file as usize] += vote;
                best[file as usize] = best[file as usize].max(score / change.touched.sqrt());
            }
        }
        let top = best.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        best.iter_mut().for_each(|score| *score /= top);
        SimilarCommits { similar: shares(files), best }
    }

    /// By file, from 0 to 1: how much it was changed together with `leaders`, files with their shares. Commits that changed only the
    /// file itself do not count.
    pub fn changed_with(&self, leaders: &[(u32, f64)]) -> Vec<f64> {
        let mut share = vec![0.0; self.files];
        for &(file, weight) in leaders {
            if let Some(cell) = share.get_mut(file as usize) {
                *cell += weight;
            }
        }
        let mut files = vec![0.0; self.files];
        for change in &self.changes {
            let together: f64 = change.files.iter().map(|&file| share[file as usize]).sum();
            if together > 0.0 {
                let vote = change.weight / (1.0 + change.touched).log2();
                for &file in &change.files {
                    files[file as usize] += (together - share[file as usize]).max(0.0) * vote;
                }
            }
        }
        shares(files)
    }

    /// The BM25 score of each subject.
    fn subjects(&self, query: &Query) -> Vec<f64> {
        let mut scores = vec![0.0; self.changes.len()];
        for (term, count) in query.terms() {
            let from = self.postings.partition_point(|posting| posting.0 < term);
            let with = self.postings.get(from..).unwrap_or_default();
            let with = with.get(..with.partition_point(|posting| posting.0 == term)).unwrap_or_default();
            let idf = (1.0 + (self.changes.len() as f64 - with.len() as f64 + 0.5) / (with.len() as f64 + 0.5)).ln();
            for &(_, change) in with {
                let length = self.changes[change as usize].length / self.mean_length.max(1.0);
                scores[change as usize] += count * idf * (K1 + 1.0) / (1.0 + K1 * (1.0 - B + B * length));
            }
        }
        scores
    }
}

/// Votes relative to the highest, as square roots: they reduce the distance to the highest.
fn shares(mut votes: Vec<f64>) -> Vec<f64> {
    let highest = votes.iter().copied().fold(0.0, f64::max);
    if highest > 0.0 {
        votes.iter_mut().for_each(|vote| *vote = (*vote / highest).sqrt());
    }
    votes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PATHS: [&str; 4] = ["a.rs", "b.rs", "c.rs", "d.rs"];

    fn past(commits: &[(&str, &[&str])]) -> CommitIndex {
        let commit = |(subject, paths): &(&str, &[&str])| PastCommit {
            id: String::new(),
            subject: (*subject).into(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            compared: 0,
        };
        let history = History { commits: commits.iter().map(commit).collect(), ..History::default() };
        CommitIndex::new(&history, PATHS.len(), |path| {
            PATHS.iter().position(|known| *known == path).map(|at| at as u32)
        })
    }

    #[test]
    fn files_of_commits_with_similar_subjects_come_first() {
        let past = past(&[
            ("Draw the cursor in the gutter", &["b.rs"]),
            ("Parse quoted arguments", &["a.rs", "gone.rs"]),
            ("Draw the status line", &["c.rs"]),
        ]);
        let votes = past.resembling(&Query::new("quoted arguments are parsed wrongly")).similar;
        assert_eq!(votes, [1.0, 0.0, 0.0, 0.0]);
        let votes = past.resembling(&Query::new("draw the cursor")).similar;
        assert!(votes[1] > votes[2] && votes[2] > 0.0, "{votes:?}");
    }

    #[test]
    fn a_large_commit_says_less_about_each_of_its_files() {
        let past = past(&[("Quoted arguments", &["a.rs", "b.rs", "c.rs"]), ("Quoted arguments", &["d.rs"])]);
        let votes = past.resembling(&Query::new("quoted arguments")).similar;
        assert!(votes[3] > votes[0], "{votes:?}");
    }

    #[test]
    fn files_that_change_together_are_related() {
        let past = past(&[("one", &["a.rs", "b.rs"]), ("two", &["a.rs"]), ("three", &["c.rs", "d.rs"])]);
        assert_eq!(past.changed_with(&[(0, 1.0)]), [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(past.changed_with(&[(9, 1.0)]), [0.0; 4], "an unknown leader");
    }

    #[test]
    fn without_commits_all_votes_are_zero() {
        let past = past(&[]);
        assert!(past.is_empty());
        assert_eq!(past.resembling(&Query::new("anything")).similar, [0.0; 4]);
    }

    proptest! {
        #[test]
        fn all_votes_are_shares(
            commits in prop::collection::vec(("[a-c ]{0,8}", prop::collection::vec(0usize..4, 0..4)), 0..12),
            query in "[a-c ]{0,8}",
            leaders in prop::collection::vec((0u32..6, 0.0f64..1.0), 0..4),
        ) {
            let history = History {
                commits: commits
                    .iter()
                    .map(|(subject, files)| PastCommit {
                        id: String::new(),
                        subject: subject.clone(),
                        paths: files.iter().map(|&file| PATHS[file].to_owned()).collect(),
                        compared: 0,
                    })
                    .collect(),
                ..History::default()
            };
            let past = CommitIndex::new(&history, 4, |path| PATHS.iter().position(|known| *known == path).map(|at| at as u32));
            let SimilarCommits { similar, best } = past.resembling(&Query::new(&query));
            for votes in [similar, best, past.changed_with(&leaders)] {
                prop_assert_eq!(votes.len(), 4);
                prop_assert!(votes.iter().all(|vote| (0.0..=1.0).contains(vote)), "{:?}", votes);
            }
        }
    }
}
