//! Which of many names match what is typed, best first, fast enough for every keystroke: a cheap sieve first, then the matcher for
//! those that remain, and of these no more than can be told apart by looking.

use std::cmp::Reverse;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// As many names are scored. A query that more names pass is too short to rank them well anyhow.
const MOST_SCORED: usize = 4_096;

/// Whether the letters of `query` stand in `name` in their order, in whatever case.
pub(super) fn passes(query: &str, name: &str) -> bool {
    if query.is_ascii() {
        let mut wanted = query.bytes().filter(|byte| *byte != b' ').map(|byte| byte.to_ascii_lowercase());
        let mut next = wanted.next();
        for byte in name.bytes() {
            match next {
                Some(want) if byte.to_ascii_lowercase() == want => next = wanted.next(),
                Some(_) => {}
                None => break,
            }
        }
        return next.is_none();
    }
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).filter(|c| *c != ' ').all(|want| letters.any(|letter| letter == want))
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a name, or the last part of a path, begins with what was typed, in whatever case.
pub(super) fn begins(typed: &str, name: &str) -> bool {
    let starts = |text: &str| {
        text.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed)) || text.starts_with(typed)
    };
    starts(name) || starts(file_name(name))
}

/// Of the positions `among` those whose names pass, those first whose last part alone does.
pub(super) fn sift<'n>(query: &str, among: impl Iterator<Item = usize>, name: impl Fn(usize) -> &'n str) -> Vec<usize> {
    let (mut strong, mut weak) = (Vec::new(), Vec::new());
    for at in among {
        let whole = name(at);
        if passes(query, file_name(whole)) {
            strong.push(at);
        } else if passes(query, whole) {
            weak.push(at);
        }
    }
    strong.append(&mut weak);
    strong
}

/// The best `most` of the positions `among`, which have passed; equal ones in their order.
pub(super) fn best<'n>(query: &str, among: &[usize], most: usize, name: impl Fn(usize) -> &'n str) -> Vec<usize> {
    if query.is_empty() {
        return among.iter().take(most).copied().collect();
    }
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let pattern = Pattern::new(query, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy);
    let mut chars = Vec::new();
    let mut score = |text: &str| pattern.score(Utf32Str::new(text, &mut chars), &mut matcher);
    let mut scored = Vec::new();
    for at in among.iter().take(MOST_SCORED).copied() {
        let text = name(at);
        // A file is mostly named by its name: its score counts besides that of the path.
        if let Some(whole) = score(text) {
            let own = score(file_name(text)).unwrap_or(0);
            scored.push((begins(query, text), whole + own, at));
        }
    }
    scored.sort_by_key(|(begins, score, _)| (Reverse(*begins), Reverse(*score)));
    scored.into_iter().take(most).map(|(_, _, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn letters_in_their_order_pass() {
        assert!(passes("clr", "clear") && passes("CLR", "clear") && passes("", "x") && passes("äö", "ÄxÖ"));
        assert!(!passes("rlc", "clear") && !passes("clearx", "clear"));
    }

    #[test]
    fn a_name_that_begins_so_comes_first() {
        let names = ["src/undo_list.rs", "do.rs", "docs/undo.md"];
        let among = sift("do", 0..names.len(), |at| names[at]);
        assert_eq!(best("do", &among, 9, |at| names[at])[0], 1);
    }

    #[test]
    fn a_hundred_thousand_files_leave_a_few() {
        let names: Vec<String> = (0..100_000).map(|at| format!("module_{}/part_{}.rs", at % 300, at)).collect();
        let among = sift("part_99999", 0..names.len(), |at| &names[at]);
        assert_eq!(best("part_99999", &among, 8, |at| &names[at]), [99_999]);
    }

    proptest! {
        #[test]
        fn what_contains_the_query_passes(before in ".{0,10}", query in "[a-zA-Z/._-]{0,8}", after in ".{0,10}") {
            let name = format!("{before}{query}{after}");
            prop_assert!(passes(&query, &name));
        }
    }
}
