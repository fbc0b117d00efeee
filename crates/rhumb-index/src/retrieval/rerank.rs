//! The files that a search found as cards for a model to put in order, and the hits in the order that it returned.

use std::fmt::Write as _;

use super::hit::Hit;

/// Most files that are put in order.
const CARDS: usize = 30;
/// Signatures on a card.
const SIGNATURES: usize = 5;
/// Most characters of a signature on a card.
const WIDTH: usize = 160;
/// What the next passage of a file stands behind its first, in files: the best of the files behind come between.
const NEXT_OF_A_FILE: usize = 4;

/// The files of the hits, best first, each once.
fn files(hits: &[Hit]) -> Vec<&str> {
    let mut files: Vec<&str> = Vec::new();
    for hit in hits {
        if files.len() < CARDS && !files.contains(&&*hit.path) {
            files.push(&hit.path);
        }
    }
    files
}

/// The cards: a number, a path, and below it the headers of what was found there. Empty where there is nothing to put in order.
pub fn cards(hits: &[Hit]) -> String {
    let files = files(hits);
    let mut text = String::new();
    for (number, path) in (1..).zip(&files).filter(|_| files.len() > 1) {
        let _ = writeln!(text, "{number}. {path}");
        let signatures = hits.iter().filter(|hit| &*hit.path == *path && !hit.signature.is_empty());
        for hit in signatures.take(SIGNATURES) {
            let signature: String = hit.signature.chars().take(WIDTH).collect();
            let _ = writeln!(text, "   {signature}");
        }
    }
    text
}

/// The hits in the order of a reply: numbers of cards, and nothing else but what separates them. Cards that it leaves out follow as
/// they were. `None` where the reply is anything else, or names a card that there is not.
pub fn reordered(reply: &str, hits: &[Hit]) -> Option<Vec<Hit>> {
    let files = files(hits);
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '[' | ']' | '>' | '.');
    let mut order: Vec<usize> = Vec::new();
    for word in reply.trim().trim_matches('`').split(is_between).filter(|word| !word.is_empty()) {
        let at = word.parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < files.len())?;
        if !order.contains(&at) {
            order.push(at);
        }
    }
    if order.is_empty() {
        return None;
    }
    order.extend((0..files.len()).filter(|at| !order.contains(at)).collect::<Vec<_>>());
    let place = |path: &str| order.iter().position(|at| files.get(*at) == Some(&path)).unwrap_or(files.len());
    let mut keyed: Vec<(usize, Hit)> = Vec::new();
    for hit in hits {
        let earlier = keyed.iter().filter(|(_, other)| other.path == hit.path).count();
        keyed.push((place(&hit.path) + earlier * NEXT_OF_A_FILE, hit.clone()));
    }
    // Those of one key stay as they were.
    keyed.sort_by_key(|(key, _)| *key);
    Some(keyed.into_iter().map(|(_, hit)| hit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hits(paths: &[&str]) -> Vec<Hit> {
        let hit = |(line, path): (u32, &&str)| Hit {
            path: (*path).into(),
            file: 0,
            definition: None,
            line,
            end_line: line,
            symbol: None,
            kind: None,
            container: None,
            signature: format!("def of_{path}()"),
            score: 1.0,
        };
        (1..).zip(paths).map(hit).collect()
    }

    fn paths(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| &*hit.path).collect()
    }

    #[test]
    fn hits_follow_the_order_of_their_files() {
        let found = hits(&["a", "a", "b", "c"]);
        assert!(cards(&found).starts_with("1. a\n   def of_a()\n   def of_a()\n2. b\n"));
        assert_eq!(paths(&reordered("3, 1", &found).unwrap()), ["c", "a", "b", "a"]);
        assert_eq!(paths(&reordered("[2]", &found).unwrap())[0], "b");
        assert!(cards(&hits(&["a", "a"])).is_empty(), "one file is in order");
    }

    #[test]
    fn a_reply_that_is_no_order_is_none() {
        for reply in ["", "b, a", "4, 1", "0", "1 and 2", "-1", "99999999999999999999999"] {
            assert_eq!(reordered(reply, &hits(&["a", "b", "c"])), None, "{reply}");
        }
    }

    proptest! {
        #[test]
        fn no_hit_is_lost_or_added(reply in "([0-9]{1,2}|, |\n|\\PC){0,20}", files in prop::collection::vec(0usize..50, 0..60)) {
            let names: Vec<String> = files.iter().map(|file| format!("f{file}")).collect();
            let found = hits(&names.iter().map(String::as_str).collect::<Vec<_>>());
            let _ = cards(&found);
            if let Some(mut order) = reordered(&reply, &found) {
                order.sort_by_key(|hit| hit.line);
                prop_assert_eq!(order, found);
            }
        }
    }
}
