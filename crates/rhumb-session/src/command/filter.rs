//! Which of many names match what is typed, best first, fast enough for every keystroke: a cheap test first, then the fuzzy filter for
//! those that pass it.

use rhumb_text::fuzzy::{FuzzyFilter, FuzzyMatch, NameMatch, NamePart, file_name};

/// Most names whose letters are scored. Names that equal the query or begin with it are always found; a query whose letters occur in
/// more names than that is too short to rank the others well.
const MAX_SCORED: usize = 4_096;

/// What sorts a candidate: how it matches, its rank in the map or its list, its position.
pub(super) type Key = (FuzzyMatch, u32, usize);

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

/// The best `most` of the positions `among`, which have passed, best first. `text` and `rank` tell of a position what is compared and
/// what decides between equal matches.
pub(super) fn best<'n>(
    query: &str,
    among: &[usize],
    most: usize,
    name: NamePart,
    (text, rank): (impl Fn(usize) -> &'n str, impl Fn(usize) -> u32),
) -> Vec<Key> {
    let mut filter = FuzzyFilter::literal(query);
    let mut found: Vec<Key> = Vec::new();
    let mut scored = 0;
    for at in among.iter().copied() {
        let is_fuzzy = filter.name_match(text(at), name) == NameMatch::Fuzzy;
        scored += usize::from(is_fuzzy);
        if is_fuzzy && scored > MAX_SCORED {
            continue;
        }
        found.extend(filter.matched(text(at), name).map(|matched| (matched, rank(at), at)));
    }
    found.sort_unstable();
    found.truncate(most);
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn best_of(query: &str, names: &[String]) -> Vec<usize> {
        let among = sift(query, 0..names.len(), |at| names[at].as_str());
        let found = best(query, &among, 8, NamePart::Path, (|at| names[at].as_str(), |at| at as u32));
        found.into_iter().map(|(.., at)| at).collect()
    }

    #[test]
    fn letters_in_their_order_pass() {
        assert!(passes("clr", "clear") && passes("CLR", "clear") && passes("", "x") && passes("äö", "ÄxÖ"));
        assert!(!passes("rlc", "clear") && !passes("clearx", "clear"));
    }

    #[test]
    fn a_name_that_begins_so_comes_first() {
        let names = ["src/undo_list.rs", "do.rs", "docs/undo.md"].map(str::to_owned);
        assert_eq!(best_of("do", &names)[0], 1);
    }

    #[test]
    fn a_hundred_thousand_files_leave_a_few() {
        let names: Vec<String> = (0..100_000).map(|at| format!("module_{}/part_{}.rs", at % 300, at)).collect();
        assert_eq!(best_of("part_99999", &names), [99_999]);
    }

    #[test]
    fn a_name_is_found_behind_any_number_of_others_that_only_have_its_letters() {
        let mut names: Vec<String> = (0..10_000).map(|at| format!("c/o_n_f_i_g_{at}.py")).collect();
        names.push("z/config.py".into());
        assert_eq!(best_of("config", &names)[0], 10_000);
    }

    proptest! {
        #[test]
        fn what_contains_the_query_passes(before in ".{0,10}", query in "[a-zA-Z/._-]{0,8}", after in ".{0,10}") {
            let name = format!("{before}{query}{after}");
            prop_assert!(passes(&query, &name));
        }
    }
}
