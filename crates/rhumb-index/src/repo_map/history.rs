//! What past commits say of the files: which were changed for reasons that sound like the request, and which change
//! together.

use crate::lexical::{Query, Term};

/// How soon repetition stops to count in a subject, and how much its length counts: subjects are short, and alike in
/// length, so less of both than in code.
const K1: f64 = 0.8;
const B: f64 = 0.4;
/// Commits after which a commit counts half, and what stays of it however old it is: old reasons fade, but where a matter
/// lives seldom changes.
const HALF_LIFE: f64 = 300.0;
const LASTING: f64 = 0.3;

/// The past of a repository, newest commit first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// The commit that it leads to, in full; empty where there is none.
    pub head: String,
    /// Merges left out.
    pub commits: Vec<PastCommit>,
}

/// A commit that was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastCommit {
    /// Its id, in full.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
    /// The files that it changed; empty where they are too many to say anything.
    pub paths: Vec<String>,
    /// Entries of folders that were compared to find them, so that a history is as long whether it was known or not.
    pub compared: u32,
}

/// A history laid over the files of a tree, ready to be asked.
#[derive(Debug, Clone, Default)]
pub struct Past {
    files: usize,
    changes: Vec<Change>,
    /// The words of the subjects with the changes that have them, sorted.
    postings: Vec<(Term, u32)>,
    /// Mean number of words in a subject.
    mean_length: f64,
}

/// A commit as far as its files are still there.
#[derive(Debug, Clone)]
struct Change {
    files: Box<[u32]>,
    /// Paths that it changed, those that are gone included.
    touched: f64,
    /// Words of its subject.
    length: f64,
    /// What it counts for its age.
    freshness: f64,
}

impl Past {
    /// Lays `history` over `files` files; `file` tells the number of a path that is among them.
    pub fn new(history: &History, files: usize, file: impl Fn(&str) -> Option<u32>) -> Self {
        let mut past = Self { files, ..Self::default() };
        for commit in history.commits.iter().filter(|commit| !commit.paths.is_empty()) {
            let number = past.changes.len() as u32;
            let subject = Query::new(&commit.subject);
            past.postings.extend(subject.terms().map(|(term, _)| (term, number)));
            past.changes.push(Change {
                files: commit.paths.iter().filter_map(|path| file(path)).filter(|&id| (id as usize) < files).collect(),
                touched: commit.paths.len() as f64,
                length: subject.terms().count() as f64,
                freshness: LASTING + 0.5f64.powf(f64::from(number) / HALF_LIFE),
            });
        }
        past.postings.sort_unstable();
        past.mean_length = past.postings.len() as f64 / past.changes.len().max(1) as f64;
        past
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// By file, from 0 to 1: how much it was changed by commits whose subjects resemble the request. BM25 over the
    /// subjects, squared, so that a few common words hardly count; a commit shares its score among its files.
    pub fn resembling(&self, query: &Query) -> Vec<f64> {
        let scores = self.subjects(query);
        let highest = scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut files = vec![0.0; self.files];
        for (change, score) in self.changes.iter().zip(&scores).filter(|(_, score)| **score > 0.0) {
            let vote = (score / highest).powi(2) / change.touched.sqrt() * change.freshness;
            change.files.iter().for_each(|&file| files[file as usize] += vote);
        }
        shares(files)
    }

    /// By file, from 0 to 1: how much it was changed together with `leaders`, files with their shares. What a leader does
    /// alone says nothing of it.
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
                let vote = change.freshness / (1.0 + change.touched).log2();
                for &file in &change.files {
                    files[file as usize] += (together - share[file as usize]).max(0.0) * vote;
                }
            }
        }
        shares(files)
    }

    /// BM25 of each subject.
    fn subjects(&self, query: &Query) -> Vec<f64> {
        let mut scores = vec![0.0; self.changes.len()];
        for (term, asked) in query.terms() {
            let from = self.postings.partition_point(|posting| posting.0 < term);
            let with = self.postings.get(from..).unwrap_or_default();
            let with = with.get(..with.partition_point(|posting| posting.0 == term)).unwrap_or_default();
            let rarity = (1.0 + (self.changes.len() as f64 - with.len() as f64 + 0.5) / (with.len() as f64 + 0.5)).ln();
            for &(_, change) in with {
                let length = self.changes[change as usize].length / self.mean_length.max(1.0);
                scores[change as usize] += asked * rarity * (K1 + 1.0) / (1.0 + K1 * (1.0 - B + B * length));
            }
        }
        scores
    }
}

/// Votes as parts of the highest, by their square roots: the second best is seldom half as good.
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

    fn past(commits: &[(&str, &[&str])]) -> Past {
        let commit = |(subject, paths): &(&str, &[&str])| PastCommit {
            id: String::new(),
            subject: (*subject).into(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            compared: 0,
        };
        let history = History { commits: commits.iter().map(commit).collect(), ..History::default() };
        Past::new(&history, PATHS.len(), |path| PATHS.iter().position(|known| *known == path).map(|at| at as u32))
    }

    #[test]
    fn files_of_a_commit_that_sounds_like_the_request_come_first() {
        let past = past(&[
            ("Draw the cursor in the gutter", &["b.rs"]),
            ("Parse quoted arguments", &["a.rs", "gone.rs"]),
            ("Draw the status line", &["c.rs"]),
        ]);
        let votes = past.resembling(&Query::new("quoted arguments are parsed wrongly"));
        assert_eq!(votes, [1.0, 0.0, 0.0, 0.0]);
        let votes = past.resembling(&Query::new("draw the cursor"));
        assert!(votes[1] > votes[2] && votes[2] > 0.0, "{votes:?}");
    }

    #[test]
    fn a_sweeping_commit_says_less_of_each_of_its_files() {
        let past = past(&[("Quoted arguments", &["a.rs", "b.rs", "c.rs"]), ("Quoted arguments", &["d.rs"])]);
        let votes = past.resembling(&Query::new("quoted arguments"));
        assert!(votes[3] > votes[0], "{votes:?}");
    }

    #[test]
    fn what_changes_together_leads_to_each_other() {
        let past = past(&[("one", &["a.rs", "b.rs"]), ("two", &["a.rs"]), ("three", &["c.rs", "d.rs"])]);
        assert_eq!(past.changed_with(&[(0, 1.0)]), [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(past.changed_with(&[(9, 1.0)]), [0.0; 4], "a leader that is no file");
    }

    #[test]
    fn without_a_past_nothing_is_said() {
        let past = past(&[]);
        assert!(past.is_empty());
        assert_eq!(past.resembling(&Query::new("anything")), [0.0; 4]);
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
            let past = Past::new(&history, 4, |path| PATHS.iter().position(|known| *known == path).map(|at| at as u32));
            for votes in [past.resembling(&Query::new(&query)), past.changed_with(&leaders)] {
                prop_assert_eq!(votes.len(), 4);
                prop_assert!(votes.iter().all(|vote| (0.0..=1.0).contains(vote)), "{:?}", votes);
            }
        }
    }
}
