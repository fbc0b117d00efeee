//! Finds the one location that a hunk means, or the reason why there is none.
//!
//! A quote that is in the file verbatim, once, is located there. Otherwise [`align`] finds the cheapest alignment
//! of the quote with the file, and [`check_alignment`] decides whether that is certain enough. [`placement`] turns
//! the alignment into deleted and inserted lines.
//!
//! "Benchmark" in this module is `rhumb-bench edits --cases 3000` on scrapy, helix, vite, gin and gson: 11,998 replies
//! in four edit formats with seed 1, and 35,996 with the seeds 1 to 3 ("three seeds"). A figure states what differs
//! when one value is changed or one check is left out. Most were measured before the constants that changed no reply
//! were removed. When values were changed, replies that took more than 20 ms were left out. A check without which no
//! reply changes has a test instead, which its comment names.

pub(crate) mod align;
pub(crate) mod line_diff;
pub(crate) mod normalize;
pub(crate) mod placement;
pub(crate) mod similarity;
pub(crate) mod suggest;

use std::borrow::Cow;
use std::ops::Range;

use crate::apply::document::View;
use crate::elision::{self, Elision, Replacement};
use crate::outcome::Flag;
use crate::proposal::Matching;
use crate::refusal::{self, Cause, Difference, Instead, Refusal};
use crate::reply::{Hunk, LineKind, QuotedLine};
use align::{Alignment, QuoteKind, QuoteLine};
use normalize::{LineClass, normalize};
use placement::{Located, MatchedLine, build};

/// Minimum number of letters and digits of a line in which a typo does not count as a difference. Benchmark: with 24
/// instead, 3 more replies are refused. A smaller number changes no reply; see
/// `code_of_the_same_kind_is_not_what_was_quoted`.
const MIN_TYPO_LETTERS: usize = 12;
/// An alignment cheaper than this is exact: any difference costs at least [`align::NORMALIZED_COST`]. The value only
/// allows for rounding.
const MAX_EXACT_COST: f32 = 0.04;
/// Minimum number of lines of code between two neighbouring lines of the quote that makes them two locations.
/// Benchmark: with 2 instead, 63 more replies are refused; with 3, none.
const MIN_SPLIT_CODE_LINES: usize = 5;
/// Minimum length in bytes at which a block of punctuation-only lines is assumed to be unique. Benchmark: changes no
/// reply; see `ascii_art_that_is_there_is_not_added_again`.
const MIN_PUNCTUATION_BLOCK_BYTES: usize = 40;
/// Minimum distance in lines between two locations for a line number to choose one of them. The benchmark has no
/// reply that needs its line numbers; see `a_line_number_breaks_a_tie_where_the_others_have_proved_right`.
const MIN_CANDIDATE_DISTANCE: usize = 20;

/// Locates `hunk` among the lines of `view`. `is_diff` is set for the diff formats, in which models forget plus
/// signs and hunk headings; a search block is always one location.
pub(crate) fn locate(view: &View<'_>, hunk: &Hunk, is_diff: bool, matching: Matching) -> Result<Located, Refusal> {
    match locate_anywhere(view, hunk, is_diff, matching) {
        Err(refusal) if refusal.is(Flag::Ambiguous) => in_scope(view, hunk, is_diff, matching).ok_or(refusal),
        result => result,
    }
}

fn locate_anywhere(view: &View<'_>, hunk: &Hunk, is_diff: bool, matching: Matching) -> Result<Located, Refusal> {
    if !hunk.quotes() {
        return Err(Cause::NoQuote.into());
    }
    if view.len() == 0 {
        return Err(Cause::EmptyFile.into());
    }
    let exact = exact_locations(view, hunk);
    match exact.as_slice() {
        [start] => {
            let mut next = *start;
            let lines = hunk.lines.iter().map(|line| {
                let quoted = line.kind != LineKind::Insert;
                let at = quoted.then_some(next);
                next += usize::from(quoted);
                MatchedLine { kind: line.kind, text: &line.text, at }
            });
            let lines: Vec<MatchedLine<'_>> = lines.collect();
            check_elision(view, &lines)?;
            check_repeated_insertion(view, &lines)?;
            build(view, &lines, 0.0, 1.0, is_diff)
        }
        [] if matching == Matching::Verbatim => Err(Cause::NotVerbatim.into()),
        [] => aligned(view, hunk, is_diff),
        several => Err(refusal::ambiguous(several.iter().map(|line| (*line, 1.0)))),
    }
}

/// The lines (0-based) at which the quote begins verbatim; eight at most.
fn exact_locations(view: &View<'_>, hunk: &Hunk) -> Vec<usize> {
    let quoted = |line: &&QuotedLine| line.kind != LineKind::Insert;
    let quote: Vec<&str> = hunk.lines.iter().filter(quoted).map(|line| line.text.as_str()).collect();
    let Some(anchor) = quote.iter().position(|line| !line.trim().is_empty()) else {
        return Vec::new();
    };
    let first = quote.get(anchor).copied().unwrap_or_default();
    let starts = view.bodies().enumerate().filter(|(_, body)| *body == first);
    let fits = |start: &usize| view.has(*start, &quote);
    starts.filter_map(|(at, _)| at.checked_sub(anchor)).filter(fits).take(8).collect()
}

fn aligned(view: &View<'_>, hunk: &Hunk, is_diff: bool) -> Result<Located, Refusal> {
    let lines = with_gaps(view, &hunk.lines);
    let quote = quote_of(&lines, is_diff);
    let Some(alignment) = align::align(view, &quote, is_diff) else {
        return Err(Cause::NoQuotedLine.into());
    };
    if is_applied(view, &lines, is_diff, &alignment) {
        return Err(Cause::AlreadyApplied.into());
    }
    check_alignment(view, &quote, &alignment, is_diff)?;
    let mut map = alignment.map.iter();
    let lines: Vec<MatchedLine<'_>> = lines
        .iter()
        .map(|(kind, text)| {
            let at = if *kind == LineKind::Insert { None } else { map.next().copied().flatten() };
            MatchedLine { kind: *kind, text, at }
        })
        .collect();
    check_elision(view, &lines)?;
    check_repeated_insertion(view, &lines)?;
    build(view, &lines, alignment.cost, alignment.weight, is_diff)
}

/// The lines of a hunk in which kept placeholders (`...`) are gaps. Gaps at the ends are removed.
fn with_gaps<'a>(view: &View<'_>, lines: &'a [QuotedLine]) -> Vec<(LineKind, &'a str)> {
    let gap = |line: &QuotedLine| {
        let stands_for_more = line.kind == LineKind::Keep && elision::elision(&line.text).is_some();
        stands_for_more && view.occurrences(&normalize(&line.text)).is_empty()
    };
    let kind = |line: &QuotedLine| if gap(line) { LineKind::Gap } else { line.kind };
    let mut lines: Vec<(LineKind, &str)> = lines.iter().map(|line| (kind(line), line.text.as_str())).collect();
    while lines.last().is_some_and(|(kind, _)| *kind == LineKind::Gap) {
        lines.pop();
    }
    let leading = lines.iter().take_while(|(kind, _)| *kind == LineKind::Gap).count();
    lines.drain(..leading);
    lines
}

/// The quoted lines. Between two changes of a diff the location may jump.
fn quote_of<'a>(lines: &[(LineKind, &'a str)], is_diff: bool) -> Vec<QuoteLine<'a>> {
    let edits = |(kind, _): &(LineKind, &str)| matches!(kind, LineKind::Insert | LineKind::Delete);
    let first = lines.iter().position(edits).unwrap_or(lines.len());
    let last = lines.iter().rposition(edits).unwrap_or_default();
    let mut quote = Vec::new();
    for (at, (kind, text)) in lines.iter().enumerate() {
        let kind = match kind {
            LineKind::Keep => QuoteKind::Keep,
            LineKind::Delete => QuoteKind::Delete,
            LineKind::Gap => QuoteKind::Gap,
            LineKind::Insert => continue,
        };
        let jump = is_diff && kind == QuoteKind::Keep && first < at && at < last;
        quote.push(QuoteLine { kind, text, jump });
    }
    quote
}

/// Whether the file already has the new side. It has not while a line that is to be removed is there, unless that
/// line may be misspelt: then the edit may have made it. Benchmark: without this check, 20 replies are applied
/// wrongly (three seeds).
fn is_applied(view: &View<'_>, lines: &[(LineKind, &str)], is_diff: bool, alignment: &Alignment) -> bool {
    if alignment.cost < MAX_EXACT_COST {
        return false;
    }
    let of = |wanted: LineKind| lines.iter().filter(move |(kind, _)| *kind == wanted).map(|(_, line)| normalize(line));
    let made = |text: &str| of(LineKind::Insert).any(|line| *line == *text);
    let new =
        |line: &Cow<'_, str>| normalize::is_significant(line) && !of(LineKind::Delete).any(|removed| removed == *line);
    let mut added = of(LineKind::Insert).filter(new).peekable();
    let all_there = added.peek().is_some() && added.all(|line| !view.occurrences(&line).is_empty());
    let mut map = alignment.map.iter();
    let (mut removes, mut done) = (false, false);
    for (kind, text) in lines.iter().filter(|(kind, _)| *kind != LineKind::Insert) {
        let at = map.next().copied().flatten();
        if *kind != LineKind::Delete || text.trim().is_empty() {
            continue;
        }
        removes = true;
        let found = at.map(|at| view.normalized(at));
        done |= found.as_ref().is_none_or(|found| **found != *normalize(text) && (all_there || made(found)));
    }
    if removes && !done && !all_there {
        return false;
    }
    let after: Vec<QuoteLine<'_>> = lines
        .iter()
        .filter(|(kind, _)| *kind != LineKind::Delete)
        .map(|(kind, text)| {
            let kind = if *kind == LineKind::Gap { QuoteKind::Gap } else { QuoteKind::Keep };
            QuoteLine { kind, text, jump: false }
        })
        .collect();
    let solid = after.iter().any(QuoteLine::is_solid);
    let after = if solid { align::align(view, &after, is_diff) } else { None };
    let overlaps = |after: &Alignment| {
        span(after).zip(span(alignment)).is_some_and(|((from, to), (first, last))| from <= last && first <= to)
    };
    after.is_some_and(|after| {
        // Every line of the new side may differ in white space.
        let good = after.cost < MAX_EXACT_COST + align::NORMALIZED_COST * after.weight;
        let better = good && after.map.iter().all(Option::is_some) && after.cost < alignment.cost;
        better || (after.cost < MAX_EXACT_COST && overlaps(&after))
    })
}

/// The first and the last file line of an alignment.
fn span(alignment: &Alignment) -> Option<(usize, usize)> {
    let matched = || alignment.map.iter().flatten().copied();
    matched().min().zip(matched().max())
}

fn check_alignment(
    view: &View<'_>,
    quote: &[QuoteLine<'_>],
    alignment: &Alignment,
    is_diff: bool,
) -> Result<(), Refusal> {
    let found = quote.iter().zip(&alignment.map).any(|(line, at)| at.is_some() && line.is_solid());
    if !found || alignment.cost > align::max_cost(alignment.weight) {
        return Err(no_match(view, quote, alignment));
    }
    let lost = |(line, at): (&QuoteLine<'_>, &Option<usize>)| {
        at.is_none() && line.is_solid() && (line.kind == QuoteKind::Delete || !is_diff)
    };
    if quote.iter().zip(&alignment.map).any(lost)
        || contradicts_file(view, quote, alignment)
        || spans_two_locations(view, quote, alignment)
        || mixes_locations(view, quote, alignment)
        || is_mostly_similar(view, quote, alignment)
    {
        return Err(no_match(view, quote, alignment));
    }
    if alignment.margin < align::MIN_MARGIN {
        let near = alignment.candidates.iter().filter(|(_, cost)| *cost < alignment.cost + align::MIN_MARGIN);
        let weight = alignment.weight.max(1.0);
        return Err(refusal::ambiguous(near.map(|(line, cost)| (*line, 1.0 - cost / weight))));
    }
    Ok(())
}

/// The refusal of a quote that is not in the file: where it differs from the closest location.
fn no_match(view: &View<'_>, quote: &[QuoteLine<'_>], alignment: &Alignment) -> Refusal {
    let weight = alignment.weight.max(0.1);
    let close = alignment.candidates.iter().map(|(line, cost)| (*line, 1.0 - cost / weight));
    let close = close.filter(|(_, similarity)| *similarity > MIN_LISTED_SIMILARITY).take(MAX_LISTED_CANDIDATES);
    let candidates = refusal::candidates(close);
    let closest = candidates.iter().map(|candidate| candidate.line).collect();
    Refusal { candidates, ..Cause::NoMatch { difference: first_difference(view, quote, alignment), closest }.into() }
}

/// The first quoted line that was not found, and what the file has in its place.
fn first_difference(view: &View<'_>, quote: &[QuoteLine<'_>], alignment: &Alignment) -> Option<Difference> {
    let lost = quote.iter().zip(&alignment.map).position(|(line, at)| at.is_none() && line.is_solid())?;
    let text = quote.get(lost)?.text;
    let before = alignment.map.iter().take(lost).rev().find_map(|at| *at).map(|at| at + 1);
    let after = alignment.map.iter().skip(lost).find_map(|at| *at).and_then(|at| at.checked_sub(1));
    let known = view.occurrences(&normalize(text));
    let instead = match (before.or(after).filter(|at| *at < view.len()), known.first()) {
        (_, Some(line)) => Instead::Elsewhere { line: line + 1 },
        (Some(at), None) => Instead::Other { line: at + 1, text: view.body(at).to_owned() },
        (None, None) => Instead::Nothing,
    };
    Some(Difference { number: lost + 1, text: text.to_owned(), instead })
}

/// Minimum similarity (0 to 1) of a location that a refusal lists. Benchmark: with 0 instead, 275 refusals list other
/// locations.
const MIN_LISTED_SIMILARITY: f32 = 0.3;
/// Maximum number of locations that a refusal lists. Benchmark: with 8 instead, 26 refusals list more.
const MAX_LISTED_CANDIDATES: usize = 3;

/// Whether more lines are similar than exact: the location has similar code, but not the quoted code. A typo in a
/// long line does not count; short lines are similar by chance. Benchmark: without this check, 1 reply is applied
/// wrongly.
fn is_mostly_similar(view: &View<'_>, quote: &[QuoteLine<'_>], alignment: &Alignment) -> bool {
    let (mut similar, mut true_ones) = (0usize, 0usize);
    for (line, at) in quote.iter().zip(&alignment.map) {
        let Some(at) = *at else { continue };
        let (wanted, found) = (normalize(line.text), view.normalized(at));
        if *found == *wanted {
            true_ones += usize::from(normalize::is_significant(&wanted));
        } else {
            let is_typo = normalize::letters(&wanted) >= MIN_TYPO_LETTERS && similarity::is_typo(&wanted, &found);
            similar += usize::from(!is_typo);
        }
    }
    similar > true_ones
}

/// Whether neighbouring lines of the quote are far apart in the file: two locations quoted as one. Benchmark: without
/// this check, no reply changes; see `a_quote_of_two_places_is_refused`.
fn spans_two_locations(view: &View<'_>, quote: &[QuoteLine<'_>], alignment: &Alignment) -> bool {
    let mut before: Option<usize> = None;
    for (line, at) in quote.iter().zip(&alignment.map) {
        if let (Some(above), Some(below)) = (before, *at) {
            let code = (above + 1..below).filter(|line| view.class(*line) == LineClass::Code);
            if code.take(MIN_SPLIT_CODE_LINES).count() == MIN_SPLIT_CODE_LINES {
                return true;
            }
        }
        if line.kind == QuoteKind::Gap || line.jump {
            before = None;
        } else if at.is_some() {
            before = *at;
        }
    }
    false
}

/// Whether a missing line is elsewhere in the file, next to the same neighbour as in the quote. Then the quote
/// mixes two locations, and the line did not lose a plus sign. Benchmark: without this check, 1 reply is applied
/// wrongly (three seeds).
fn mixes_locations(view: &View<'_>, quote: &[QuoteLine<'_>], alignment: &Alignment) -> bool {
    let solid = |line: &&QuoteLine<'_>| line.is_solid();
    let above = |line: usize| (0..line).rev().find(|line| view.class(*line) != LineClass::Blank);
    let below = |line: usize| (line + 1..view.len()).find(|line| view.class(*line) != LineClass::Blank);
    let says = |at: Option<usize>, line: Option<&QuoteLine<'_>>| {
        at.zip(line).is_some_and(|(at, line)| *view.normalized(at) == *normalize(line.text))
    };
    let missing = quote.iter().zip(&alignment.map).enumerate().filter(|(_, (line, at))| at.is_none() && solid(line));
    missing.filter(|(_, (line, _))| normalize::is_significant(line.text)).any(|(index, (line, _))| {
        let (before, after) = (quote.iter().take(index).rev().find(solid), quote.iter().skip(index + 1).find(solid));
        let mut occurrences = view.occurrences(&normalize(line.text)).iter().take(8).copied();
        // Next to a gap there may be any line.
        let said = |line: &&QuoteLine<'_>| line.kind == QuoteKind::Gap || !line.text.trim().is_empty();
        let beside = [quote.iter().take(index).rev().find(said), quote.iter().skip(index + 1).find(said)];
        let elided = beside.into_iter().flatten().any(|line| line.kind == QuoteKind::Gap);
        occurrences.any(|at| elided || says(above(at), before) || says(below(at), after))
    })
}

/// Whether the file has other code where quoted lines are missing. Lines that lost their plus sign are new, so that
/// nothing is in their place. Benchmark: without this check, 14 replies are applied wrongly (three seeds).
fn contradicts_file(view: &View<'_>, quote: &[QuoteLine<'_>], alignment: &Alignment) -> bool {
    let missing = |at: usize| {
        quote.get(at).is_some_and(|line| line.kind != QuoteKind::Gap) && alignment.map.get(at) == Some(&None)
    };
    let mut at = 0;
    while at < quote.len() {
        if !missing(at) || !quote.get(at).is_some_and(QuoteLine::is_solid) {
            at += 1;
            continue;
        }
        let from = at;
        while missing(at) {
            at += 1;
        }
        let before = alignment.map.iter().take(from).flatten().max();
        let after = alignment.map.iter().skip(at).flatten().min();
        let (Some(before), Some(after)) = (before, after) else {
            return true;
        };
        if (before + 1..*after).any(|line| view.class(line) == LineClass::Code) {
            return true;
        }
    }
    false
}

/// Refuses a placeholder among the added lines that would replace code. The benchmark has such replies only as whole
/// files; without this check, 7 replies of one commit are no longer refused (three seeds), but the tests
/// `words_that_stand_for_lost_code_are_refused` and `tests/edit_formats` fail.
fn check_elision(view: &View<'_>, lines: &[MatchedLine<'_>]) -> Result<(), Refusal> {
    let removes = lines.iter().any(|line| line.kind == LineKind::Delete && !line.text.trim().is_empty());
    let placeholder = |line: &&MatchedLine<'_>| {
        line.kind == LineKind::Insert && elision::elision(line.text) == Some(Elision::Placeholder)
    };
    let new = |line: &&MatchedLine<'_>| view.occurrences(&normalize(line.text)).is_empty();
    if let Some(line) = lines.iter().filter(placeholder).find(new).filter(|_| removes) {
        return Err(Cause::Elision((line.text).to_string()).into());
    }
    let after: Vec<&str> = lines.iter().filter(|line| line.kind != LineKind::Delete).map(|line| line.text).collect();
    let known = |line: &str| !view.occurrences(&normalize(line)).is_empty();
    match elision::placeholder_for_code(&after, &replacements(lines), known) {
        Some(line) => Err(Cause::Elision((line).to_string()).into()),
        None => Ok(()),
    }
}

/// The removed and the added lines of each change.
fn replacements<'a>(lines: &[MatchedLine<'a>]) -> Vec<Replacement<'a>> {
    let mut at = 0;
    let mut replacements = Vec::new();
    let changes = |line: &MatchedLine<'_>| matches!(line.kind, LineKind::Delete | LineKind::Insert);
    for run in lines.chunk_by(|one, other| changes(one) == changes(other)) {
        let mut exchange = Replacement { removed: Vec::new(), added: Vec::new() };
        for line in run {
            match line.kind {
                LineKind::Delete => exchange.removed.push(line.text),
                LineKind::Insert => exchange.added.push(at),
                LineKind::Keep | LineKind::Gap => {}
            }
            at += usize::from(line.kind != LineKind::Delete);
        }
        replacements.push(exchange);
    }
    replacements
}

/// Refuses an insertion of lines that are already there. Benchmark: without this check, 11 replies are applied
/// wrongly (three seeds).
fn check_repeated_insertion(view: &View<'_>, lines: &[MatchedLine<'_>]) -> Result<(), Refusal> {
    let removes = lines.iter().any(|line| line.kind == LineKind::Delete);
    let inserted = |line: &MatchedLine<'_>| line.kind == LineKind::Insert;
    let Some(first) = lines.iter().position(inserted).filter(|_| !removes) else {
        return Ok(());
    };
    let last = lines.iter().rposition(inserted).unwrap_or(first);
    let run = lines.get(first..=last).unwrap_or_default();
    let telling = |line: &MatchedLine<'_>| normalize::is_significant(line.text);
    // A block of punctuation-only lines, such as ASCII art, is recognised by its length.
    let drawn: usize = run.iter().map(|line| line.text.split_whitespace().map(str::len).sum::<usize>()).sum();
    let drawn = run.len() > 2 && drawn >= MIN_PUNCTUATION_BLOCK_BYTES;
    if !run.iter().all(inserted) || !(drawn || run.iter().any(telling)) {
        return Ok(());
    }
    let stands_at = |from: usize| {
        let same = |(at, line): (usize, &MatchedLine<'_>)| normalize(view.body(at)) == normalize(line.text);
        from + run.len() <= view.len() && (from..).zip(run).all(same)
    };
    let before = lines.get(..first).unwrap_or_default().iter().rev().find_map(|line| line.at);
    let after = lines.get(last + 1..).unwrap_or_default().iter().find_map(|line| line.at);
    let above = |line: usize| line.checked_sub(run.len()).is_some_and(stands_at);
    let there = match (before, after) {
        (Some(before), None) => stands_at(before + 1),
        (None, Some(after)) => above(after),
        (Some(before), Some(after)) if after > before + 1 => stands_at(before + 1) || above(after),
        // Between two quoted lines a single line may be repeated on purpose; a block is not.
        (Some(_), Some(after)) => run.len() > 1 && above(after),
        _ => false,
    };
    if there { Err(Cause::AlreadyApplied.into()) } else { Ok(()) }
}

/// Locates an ambiguous hunk within the scope that its heading names. No reply of the benchmark is ambiguous without
/// its heading; see `tests/edit_formats`.
fn in_scope(view: &View<'_>, hunk: &Hunk, is_diff: bool, matching: Matching) -> Option<Located> {
    let (mut from, mut to) = (0, view.len());
    for scope in &hunk.scopes {
        (from, to) = scope_lines(view, scope, from, to)?;
    }
    if hunk.scopes.is_empty() {
        return None;
    }
    located_within(view, from..to, hunk, is_diff, matching)
}

/// Locates an ambiguous hunk at `line` (0-based) if it fits no other location nearby.
pub(crate) fn locate_at(
    view: &View<'_>,
    line: usize,
    hunk: &Hunk,
    is_diff: bool,
    matching: Matching,
) -> Option<Located> {
    let quoted = hunk.lines.iter().filter(|line| line.kind != LineKind::Insert).count();
    let near = line.saturating_sub(MIN_CANDIDATE_DISTANCE)
        ..line.saturating_add(quoted + MIN_CANDIDATE_DISTANCE).min(view.len());
    let located = located_within(view, near, hunk, is_diff, matching)?;
    Some(located).filter(|located| located.matched.first() == Some(&line))
}

/// Locates a hunk within `range` only.
fn located_within(
    view: &View<'_>,
    range: Range<usize>,
    hunk: &Hunk,
    is_diff: bool,
    matching: Matching,
) -> Option<Located> {
    let from = range.start;
    let inner = view.part(from, range.end)?;
    let mut located = locate_anywhere(&inner, hunk, is_diff, matching).ok()?;
    located.deletes = located.deletes.iter().map(|line| line + from).collect();
    located.inserts = located.inserts.into_iter().map(|(line, text)| (line + from, text)).collect();
    located.matched.iter_mut().for_each(|line| *line += from);
    Some(located)
}

/// The lines of the block that `scope` opens (half open), if exactly one line within the range reads so.
fn scope_lines(view: &View<'_>, scope: &str, from: usize, to: usize) -> Option<(usize, usize)> {
    let wanted = normalize(scope);
    let width = |line: usize| view.body(line).len() - view.body(line).trim_start().len();
    let mut heads = (from..to).filter(|line| *view.normalized(*line) == *wanted);
    let head = heads.next().filter(|_| heads.next().is_none())?;
    let ends = |line: &usize| {
        let text = view.body(*line).trim();
        !text.is_empty() && width(*line) <= width(head) && !text.starts_with('{')
    };
    Some((head, (head + 1..to).find(ends).unwrap_or(to)))
}
