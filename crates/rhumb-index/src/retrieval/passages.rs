//! The text of passages within a budget: the code that a model gets with a question.
//!
//! Hits are widened to their chunks. Adjacent chunks of a file are joined, and the best are added until the budget is full. They are
//! rendered in path order with line numbers, so that an answer can cite them. Later additions do not change earlier text, so that
//! providers can cache the start of a request.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;

use rhumb_tokens::TokenCounter;

use super::chunk::ranges;
use super::references::{References, Related};
use super::search::Hit;
use super::source::{CodeLocation, SourceFile, SourceFiles};
use crate::repo_map::TagGraph;

/// The related definitions may take one part in this many of the budget.
const RELATED_SHARE: usize = 5;

/// Maximum number of related definitions.
const MAX_RELATED: usize = 16;

/// Heading of the related definitions.
const RELATED_HEADING: &str = "Related by reference, one line each:";

/// A rendered passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Path relative to the root, with `/`.
    pub path: Arc<str>,
    /// The shown lines, 1-based, ascending and disjoint.
    pub lines: Vec<RangeInclusive<u32>>,
    /// The locations that it was built for, best first.
    pub locations: Vec<CodeLocation>,
    /// The best position of these in the list of hits, 0-based.
    pub rank: usize,
    /// Number of lines of its last chunk that did not fit.
    pub omitted: u32,
    /// The text: a heading and numbered lines.
    pub text: String,
    /// Tokens of the text.
    pub tokens: usize,
}

impl Passage {
    /// The first line.
    pub fn line(&self) -> u32 {
        self.lines.first().map_or(0, |range| *range.start())
    }

    /// The last line, inclusive.
    pub fn end_line(&self) -> u32 {
        self.lines.last().map_or(0, |range| *range.end())
    }

    /// The name of the definition that it was built for.
    pub fn symbol(&self) -> Option<&str> {
        self.locations.first().and_then(|location| location.symbol.as_deref())
    }

    /// The container of this definition.
    pub fn container(&self) -> Option<&str> {
        self.locations.first().and_then(|location| location.container.as_deref())
    }
}

/// The passages for a question, as text for a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passages {
    list: Vec<Passage>,
    related: Vec<Related>,
    tokens: usize,
}

impl Passages {
    /// Adds the hits of a question, the definitions that connect the things it names, and definitions that are one reference away. See
    /// [`Passages::extend`].
    pub fn gather(
        &mut self,
        graph: &TagGraph,
        (question, hits): (&str, Vec<Hit>),
        sources: &SourceFiles<'_>,
        budget: usize,
        counter: &dyn TokenCounter,
    ) {
        let references = References::new(graph, sources);
        let most = hits.len();
        let hits = references.connecting(question, hits, most);
        let related = references.related(&hits, MAX_RELATED);
        let locations: Vec<CodeLocation> = hits.iter().map(CodeLocation::from).collect();
        self.extend(&locations, &related, sources, budget, counter);
    }

    /// Adds passages for another question after the existing ones, which do not change. If these take more than half of the budget, the
    /// worst are dropped. Lines that are shown are not repeated. The related definitions are those of the latest question.
    pub fn extend(
        &mut self,
        locations: &[CodeLocation],
        related: &[Related],
        sources: &SourceFiles<'_>,
        budget: usize,
        counter: &dyn TokenCounter,
    ) {
        self.related = fitting(related, &self.list, budget / RELATED_SHARE, counter);
        if !self.list.is_empty() && !locations.is_empty() {
            self.shrink(budget / 2, counter);
        }
        let used = counter.count(&self.render());
        let mut round = BudgetFill::new(sources, counter, budget.saturating_sub(used), &self.list);
        for (rank, location) in locations.iter().enumerate() {
            round.add(rank, location);
        }
        let fresh = round.finish();
        self.list.extend(fresh);
        let shown = |related: &Related| self.list.iter().any(|passage| shows(passage, &related.path, related.line));
        self.related.retain(|related| !shown(related));
        self.shrink(budget, counter);
    }

    fn shrink(&mut self, budget: usize, counter: &dyn TokenCounter) {
        loop {
            self.tokens = counter.count(&self.render());
            if self.tokens <= budget {
                return;
            }
            let least = (0..self.list.len()).max_by_key(|&at| (self.list[at].rank, at));
            match (self.related.pop(), least) {
                (Some(_), _) => {}
                (None, Some(least)) => drop(self.list.remove(least)),
                (None, None) => return,
            }
        }
    }

    /// The passages in rendered order.
    pub fn list(&self) -> &[Passage] {
        &self.list
    }

    /// The related definitions.
    pub fn related(&self) -> &[Related] {
        &self.related
    }

    /// Whether there are no passages.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Tokens of the text of [`Passages::render`].
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// The text for a model; empty without passages.
    pub fn render(&self) -> String {
        let mut parts: Vec<String> = self.list.iter().map(|passage| passage.text.clone()).collect();
        if !self.related.is_empty() {
            parts.push(related_text(&self.related));
        }
        parts.join("\n")
    }
}

/// Whether a passage contains a line.
fn shows(passage: &Passage, path: &str, line: u32) -> bool {
    &*passage.path == path && passage.lines.iter().any(|range| range.contains(&line))
}

/// The related definitions, one per line, below a heading.
pub fn related_text(related: &[Related]) -> String {
    let lines: String = related.iter().map(|related| format!("{related}\n")).collect();
    format!("{RELATED_HEADING}\n{lines}")
}

/// The first related definitions within a budget, without those in `shown`.
fn fitting(related: &[Related], shown: &[Passage], budget: usize, counter: &dyn TokenCounter) -> Vec<Related> {
    let is_shown = |related: &Related| shown.iter().any(|passage| shows(passage, &related.path, related.line));
    let mut fitting: Vec<Related> = Vec::new();
    for related in related.iter().filter(|related| !is_shown(related)) {
        fitting.push(related.clone());
        if counter.count(&related_text(&fitting)) > budget {
            fitting.pop();
            break;
        }
    }
    fitting
}

/// Minimum number of lines of a chunk that is cut to fit.
const MIN_CUT_LINES: usize = 4;

/// Fills a budget with passages.
pub(crate) struct BudgetFill<'r> {
    sources: &'r SourceFiles<'r>,
    counter: &'r dyn TokenCounter,
    /// Number of free tokens.
    free: usize,
    /// The existing passages.
    shown: &'r [Passage],
    drafts: Vec<PassageDraft>,
    /// Whether a chunk has been cut to fit, so that nothing more is added.
    full: bool,
}

/// Lines of a file that become one passage.
#[derive(Debug, Clone)]
struct PassageDraft {
    path: Arc<str>,
    file: Rc<SourceFile>,
    lines: BTreeSet<u32>,
    locations: Vec<CodeLocation>,
    rank: usize,
    omitted: u32,
    tokens: usize,
}

impl<'r> BudgetFill<'r> {
    pub(crate) fn new(
        sources: &'r SourceFiles<'r>,
        counter: &'r dyn TokenCounter,
        free: usize,
        shown: &'r [Passage],
    ) -> Self {
        Self { sources, counter, free, shown, drafts: Vec::new(), full: false }
    }

    /// Adds the chunk at a location if it fits, or its start.
    pub(crate) fn add(&mut self, rank: usize, location: &CodeLocation) {
        let Some(file) = self.sources.file(&location.path).filter(|_| !self.full) else { return };
        let Some(chunk) = file.chunk_at(location) else { return };
        let wanted: Vec<u32> =
            chunk.shown.iter().cloned().flatten().filter(|line| !self.is_shown(location, *line)).collect();
        if wanted.iter().all(|line| file.line(*line).trim().is_empty()) {
            return;
        }
        let location = CodeLocation { line: chunk.line, end_line: chunk.end_line, ..location.clone() };
        let draft = |lines: &[u32]| PassageDraft {
            path: Arc::clone(&location.path),
            file: Rc::clone(&file),
            lines: lines.iter().copied().collect(),
            locations: vec![location.clone()],
            rank,
            omitted: (wanted.len() - lines.len()) as u32,
            tokens: 0,
        };
        if self.take(draft(&wanted)) {
            return;
        }
        let (mut most, mut too_many) = (0, wanted.len());
        while too_many - most > 1 {
            let middle = most + (too_many - most) / 2;
            let fits = self.clone_with(draft(&wanted[..middle])).is_some();
            if fits { most = middle } else { too_many = middle }
        }
        let from_zero: Vec<u32> = wanted.iter().map(|line| line.saturating_sub(1)).collect();
        let cut = if most < MIN_CUT_LINES { 0 } else { file.cut_points().best(&from_zero, most / 2 + 1, most, most) };
        if cut >= MIN_CUT_LINES {
            self.full = self.take(draft(&wanted[..cut]));
        }
    }

    /// Whether a line is in an existing passage.
    fn is_shown(&self, location: &CodeLocation, line: u32) -> bool {
        let of_file = self.shown.iter().filter(|passage| passage.path == location.path);
        of_file.flat_map(|passage| &passage.lines).any(|range| range.contains(&line))
    }

    /// Adds a draft, joined with adjacent ones, if the additional tokens fit.
    fn take(&mut self, draft: PassageDraft) -> bool {
        let Some((joined, touched, cost)) = self.clone_with(draft) else { return false };
        let mut at = 0;
        self.drafts.retain(|_| {
            at += 1;
            !touched.contains(&(at - 1))
        });
        self.drafts.push(joined);
        self.free -= cost;
        true
    }

    /// A draft joined with adjacent ones, their indices, and the additional tokens; `None` if they do not fit.
    fn clone_with(&self, mut draft: PassageDraft) -> Option<(PassageDraft, Vec<usize>, usize)> {
        let (mut touched, mut paid) = (Vec::new(), 0);
        // After joining, the draft may be adjacent to further ones.
        while let Some(at) = (0..self.drafts.len()).find(|at| !touched.contains(at) && draft.touches(&self.drafts[*at]))
        {
            draft.join(&self.drafts[at]);
            paid += self.drafts[at].tokens;
            touched.push(at);
        }
        draft.tokens = self.counter.count(&draft.text()) + 1;
        let cost = draft.tokens.saturating_sub(paid);
        (cost <= self.free).then_some((draft, touched, cost))
    }

    /// The passages, sorted by path and line.
    pub(crate) fn finish(self) -> Vec<Passage> {
        let mut drafts = self.drafts;
        drafts.sort_by(|a, b| a.path.cmp(&b.path).then(a.lines.first().cmp(&b.lines.first())));
        drafts.into_iter().map(|draft| draft.into_passage(self.counter)).collect()
    }
}

impl PassageDraft {
    fn bounds(&self) -> (u32, u32) {
        (self.lines.first().copied().unwrap_or(0), self.lines.last().copied().unwrap_or(0))
    }

    /// Whether two drafts overlap, or only empty lines are between them. Nothing is adjacent to the end of a cut draft.
    fn touches(&self, other: &Self) -> bool {
        let ((a, a_end), (b, b_end)) = (self.bounds(), other.bounds());
        let (end, start, above) = if a <= b { (a_end, b, self) } else { (b_end, a, other) };
        let is_empty = || (end + 1..start).all(|line| self.file.line(line).trim().is_empty());
        self.path == other.path && (start <= end || (above.omitted == 0 && is_empty()))
    }

    /// Adds another draft and the empty lines in between.
    fn join(&mut self, other: &Self) {
        let ((a, a_end), (b, b_end)) = (self.bounds(), other.bounds());
        let (end, start) = if a <= b { (a_end, b) } else { (b_end, a) };
        // Omitted lines inside of the joined draft are shown as a gap.
        self.omitted = if a_end >= b_end { self.omitted } else { other.omitted };
        self.lines.extend(end + 1..start);
        self.lines.extend(&other.lines);
        if other.rank < self.rank {
            self.locations.splice(0..0, other.locations.iter().cloned());
        } else {
            self.locations.extend(other.locations.iter().cloned());
        }
        self.rank = self.rank.min(other.rank);
    }

    /// A heading that can be cited, then numbered lines.
    fn text(&self) -> String {
        let (line, end) = self.bounds();
        let mut text = format!("{}:{line}-{end}", self.path);
        if let Some(container) = self.locations.first().and_then(|location| location.container.as_deref()) {
            let _ = write!(text, " in {container}");
        }
        text.push('\n');
        let width = end.max(1).ilog10() as usize + 1;
        let mut before = line;
        for &number in &self.lines {
            if number > before.saturating_add(1) {
                let _ = writeln!(text, "{:>width$}  …", "");
            }
            before = number;
            text.push_str(&numbered(number, self.file.line(number), end));
        }
        if self.omitted > 0 {
            let lines = if self.omitted == 1 { "line" } else { "lines" };
            let _ = writeln!(text, "{:>width$}  … cut here: {} more {lines} of this", "", self.omitted);
        }
        text
    }

    fn into_passage(self, counter: &dyn TokenCounter) -> Passage {
        let text = self.text();
        let lines = ranges(self.lines.iter().copied());
        Passage {
            tokens: counter.count(&text),
            path: self.path,
            lines,
            locations: self.locations,
            rank: self.rank,
            omitted: self.omitted,
            text,
        }
    }
}

/// A line with its number, right-aligned to the width of `last`, the last number of its passage.
pub fn numbered(number: u32, line: &str, last: u32) -> String {
    let width = last.max(1).ilog10() as usize + 1;
    let text = format!("{number:>width$}  {line}");
    format!("{}\n", text.trim_end())
}

#[cfg(test)]
mod tests {

    // Passages of small files, and the budget for any locations.

    use proptest::prelude::*;

    use super::*;
    use crate::retrieval::references::Relation;
    use rhumb_tokens::{TokenCounter, counter_for_model};

    const GATE: &str = "/// A gate.\nstruct Gate {\n    open: bool,\n}\n\nimpl Gate {\n    fn open(&mut self) {\n        self.open = true;\n    }\n\n    fn shut(&mut self) {\n        self.open = false;\n    }\n}\n\nfn far() {}\n";

    fn long() -> String {
        let body: String = (0..50).map(|n| format!("    let value_{n} = first({n}) + second({n});\n")).collect();
        format!("fn long() {{\n{body}}}\n")
    }

    fn text(path: &str) -> Option<Arc<str>> {
        match path {
            "src/gate.rs" => Some(GATE.into()),
            "src/long.rs" => Some(long().into()),
            "a.md" => Some("# One\n\nHow gates open.\n\n# Two\n\nMore.\n".into()),
            _ => None,
        }
    }

    fn location(path: &str, symbol: &str, container: Option<&str>, line: u32) -> CodeLocation {
        let symbol = (!symbol.is_empty()).then(|| symbol.to_owned());
        CodeLocation { path: path.into(), line, end_line: line, symbol, container: container.map(str::to_owned) }
    }

    fn open() -> CodeLocation {
        location("src/gate.rs", "open", Some("Gate"), 7)
    }

    fn counter() -> Arc<dyn TokenCounter> {
        counter_for_model("gpt-4o")
    }

    #[test]
    fn a_passage_has_a_heading_to_cite_and_numbered_lines() {
        let sources = SourceFiles::new(&text);
        let passages = fit(&[open()], &[], &sources, 1_000, &*counter());
        let expected = "src/gate.rs:6-9 in Gate\n6  impl Gate {\n7      fn open(&mut self) {\n8          self.open = true;\n9      }\n";
        assert_eq!(passages.render(), expected);
        let passage = &passages.list()[0];
        assert_eq!((passage.line(), passage.end_line(), passage.symbol()), (6, 9, Some("open")));
        assert_eq!(passages.tokens(), counter().count(expected));
    }

    #[test]
    fn adjacent_chunks_are_one_passage_and_files_are_in_path_order() {
        let sources = SourceFiles::new(&text);
        let locations = [
            location("src/gate.rs", "shut", Some("Gate"), 11),
            location("src/gate.rs", "far", None, 16),
            open(),
            location("a.md", "One", None, 1),
        ];
        let passages = fit(&locations, &[], &sources, 1_000, &*counter());
        let shown: Vec<_> = passages.list().iter().map(|p| (&*p.path, p.line(), p.end_line(), p.rank)).collect();
        assert_eq!(shown, [("a.md", 1, 3, 3), ("src/gate.rs", 6, 13, 0), ("src/gate.rs", 16, 16, 1)]);
    }

    #[test]
    fn a_chunk_that_does_not_fit_is_cut_and_marked() {
        let sources = SourceFiles::new(&text);
        let passages = fit(&[location("src/long.rs", "long", None, 1)], &[], &sources, 300, &*counter());
        let passage = &passages.list()[0];
        assert!(passage.omitted > 0 && passages.tokens() <= 300, "{}", passages.render());
        assert!(passages.tokens() > 200, "{}", passages.render());
        assert!(
            passage.text.ends_with(&format!("… cut here: {} more lines of this\n", passage.omitted)),
            "{}",
            passage.text
        );
        assert_eq!(passage.end_line() + passage.omitted, 52);
    }

    fn fit(
        locations: &[CodeLocation],
        related: &[Related],
        sources: &SourceFiles<'_>,
        budget: usize,
        counter: &dyn TokenCounter,
    ) -> Passages {
        let mut passages = Passages::default();
        passages.extend(locations, related, sources, budget, counter);
        passages
    }

    #[test]
    fn existing_passages_do_not_change_and_are_not_repeated() {
        let sources = SourceFiles::new(&text);
        let counter = counter();
        let mut passages = fit(&[open()], &[], &sources, 1_000, &*counter);
        let before = passages.render();
        passages.extend(&[location("a.md", "Two", None, 5), open()], &[], &sources, 1_000, &*counter);
        assert!(passages.render().starts_with(&before));
        assert_eq!(passages.list().iter().map(|p| &*p.path).collect::<Vec<_>>(), ["src/gate.rs", "a.md"]);
    }

    #[test]
    fn a_full_budget_is_halved_for_another_question() {
        let sources = SourceFiles::new(&text);
        let counter = counter();
        let mut passages = fit(&[open(), location("src/long.rs", "long", None, 1)], &[], &sources, 400, &*counter);
        assert_eq!(passages.list().len(), 2);
        passages.extend(&[location("a.md", "Two", None, 5)], &[], &sources, 400, &*counter);
        assert_eq!(passages.list().iter().map(|p| &*p.path).collect::<Vec<_>>(), ["src/gate.rs", "a.md"]);
        assert!(passages.tokens() <= 400);
    }

    #[test]
    fn related_definitions_are_listed_unless_they_are_shown() {
        let sources = SourceFiles::new(&text);
        let related = |line: u32| Related {
            path: "src/gate.rs".into(),
            line,
            signature: "fn far()".to_owned(),
            relation: Relation::Uses,
            of: "open".to_owned(),
        };
        let passages = fit(&[open()], &[related(16), related(7)], &sources, 1_000, &*counter());
        assert_eq!(passages.related(), [related(16)]);
        assert!(
            passages
                .render()
                .ends_with("Related by reference, one line each:\nsrc/gate.rs:16  fn far()  (uses open)\n")
        );
    }

    #[test]
    fn without_readable_files_there_are_no_passages() {
        let sources = SourceFiles::new(&text);
        let passages = fit(&[location("gone.rs", "a", None, 1)], &[], &sources, 1_000, &*counter());
        assert!(passages.is_empty() && passages.render().is_empty());
        assert_eq!(passages.tokens(), 0);
    }

    proptest! {
        #[test]
        fn no_budget_is_exceeded_and_every_line_equals_that_of_its_file(
            budget in 0usize..700,
            asked in prop::collection::vec((0usize..3, 0u32..60), 0..8),
            more in prop::collection::vec((0usize..3, 0u32..60), 0..4),
        ) {
            let location = |&(file, line): &(usize, u32)| location(["src/gate.rs", "src/long.rs", "a.md"][file], "", None, line);
            let (sources, counter) = (SourceFiles::new(&text), counter());
            let first: Vec<CodeLocation> = asked.iter().map(location).collect();
            let mut passages = fit(&first, &[], &sources, budget, &*counter);
            prop_assert!(passages.tokens() <= budget);
            passages.extend(&more.iter().map(location).collect::<Vec<_>>(), &[], &sources, budget, &*counter);
            prop_assert!(counter.count(&passages.render()) <= budget);
            let mut seen = std::collections::BTreeSet::new();
            for passage in passages.list() {
                let file = text(&passage.path).unwrap();
                let lines: Vec<&str> = file.lines().collect();
                for number in passage.lines.iter().cloned().flatten() {
                    prop_assert!(seen.insert((passage.path.clone(), number)), "line {number} twice");
                    let written = format!("{number}  {}", lines[number as usize - 1]);
                    prop_assert!(passage.text.lines().any(|line| line.trim_start() == written.trim_end()), "{written}");
                }
            }
        }
    }
}
