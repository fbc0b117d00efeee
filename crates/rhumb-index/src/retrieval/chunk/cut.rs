//! Where a piece of a file that is too long is cut: at the statements that are least deep, in parts of about one size.

use crate::lexical::is_remark;
use rhumb_syntax::{Language, statements};

/// What a line counts that begins nothing, on top of its indent: any statement is a better place for a cut.
const WITHIN: u32 = 1 << 16;

/// How good each line of a file is to begin a part with: the lower the better.
#[derive(Debug, Clone, Default)]
pub(crate) struct Borders {
    /// By line from 0.
    depth: Vec<u32>,
    /// By line from 0: whether it is a comment or an attribute.
    remark: Vec<bool>,
}

impl Borders {
    /// Asks the grammar, or the indents where there is none.
    pub(crate) fn new(text: &str, lines: &[&str], language: Option<&'static Language>) -> Self {
        let statements = language.and_then(|language| statements(language, text));
        let depth = |(at, line): (usize, &&str)| match &statements {
            Some(statements) => {
                statements.get(at).copied().flatten().map_or_else(|| indent(line).saturating_add(WITHIN), u32::from)
            }
            None => indent(line),
        };
        Self {
            depth: lines.iter().enumerate().map(depth).collect(),
            remark: lines.iter().map(|line| is_remark(line)).collect(),
        }
    }

    /// How many parts of at most `limit` lines those `lines` (from 0, ascending) take, and where the next part begins in each of
    /// them: cut points within `lines`, ascending, without 0 and the end.
    pub(super) fn cuts(&self, lines: &[u32], limit: usize) -> Vec<usize> {
        let (mut cuts, mut start) = (Vec::new(), 0);
        while lines.len() - start > limit {
            let left = lines.len() - start;
            let even = left.div_ceil(left.div_ceil(limit));
            start = self.best(lines, start + even.min(limit) / 2 + 1, start + limit, start + even);
            cuts.push(start);
        }
        cuts
    }

    /// The best cut from `from` to `to`: the least deep, then the nearest to `aim`; above the comments of what follows.
    pub(crate) fn best(&self, lines: &[u32], from: usize, to: usize, aim: usize) -> usize {
        let depth = |at: usize| lines.get(at).and_then(|line| self.depth.get(*line as usize)).copied();
        let key = |at: &usize| (depth(*at).unwrap_or(u32::MAX), at.abs_diff(aim), *at);
        let mut cut = (from..=to).min_by_key(key).unwrap_or(to);
        let is_remark = |at: usize| lines.get(at).and_then(|line| self.remark.get(*line as usize)).copied();
        while cut > from && is_remark(cut - 1) == Some(true) && depth(cut - 1) == depth(cut) {
            cut -= 1;
        }
        cut
    }
}

/// The columns before the first sign; a line without one is no border.
fn indent(line: &str) -> u32 {
    let columns = |c: char| if c == '\t' { 4 } else { 1 };
    match line.find(|c: char| !c.is_whitespace()) {
        None => u32::MAX,
        Some(at) => line[..at].chars().take(WITHIN as usize / 8).map(columns).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cuts(text: &str, language: Option<&str>, limit: usize) -> Vec<usize> {
        let lines: Vec<&str> = text.lines().collect();
        let all: Vec<u32> = (0..lines.len() as u32).collect();
        Borders::new(text, &lines, language.and_then(Language::by_name)).cuts(&all, limit)
    }

    #[test]
    fn a_cut_is_made_between_statements_not_within_one() {
        let step = |name: &str| format!("    {name}(\n        1,\n        2,\n    );\n");
        let text = format!("fn f() {{\n{}{}{}{}}}\n", step("a"), step("b"), step("c"), step("d"));
        assert_eq!(cuts(&text, Some("rust"), 10), [9]);
    }

    #[test]
    fn comments_stay_with_what_they_are_about() {
        let text = "fn f() {\n    a();\n    b();\n    c();\n    // About d.\n    d();\n    e();\n    g();\n}\n";
        assert_eq!(cuts(text, Some("rust"), 5), [4]);
    }

    #[test]
    fn without_a_grammar_the_least_indent_decides() {
        let text = "one\n  a\n  b\n  c\ntwo\n  d\n  e\n  f\n";
        assert_eq!(cuts(text, None, 5), [4]);
    }

    proptest! {
        #[test]
        fn parts_are_within_the_limit_and_lose_nothing(
            text in "([ \t]{0,3}[a-z{};/]{0,6}\n){0,80}", limit in 1usize..20, language in 0usize..3,
        ) {
            let language = [None, Some("rust"), Some("python")][language];
            let (cuts, all) = (cuts(&text, language, limit), text.lines().count());
            let ends = cuts.iter().copied().chain([all]);
            let starts = [0].into_iter().chain(cuts.iter().copied());
            for (start, end) in starts.zip(ends) {
                prop_assert!(end - start <= limit && (start < end || all == 0), "{cuts:?}");
            }
        }
    }
}
