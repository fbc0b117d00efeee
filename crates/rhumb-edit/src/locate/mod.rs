//! Finding the one place that a hunk means, or saying precisely why there is none.

pub(crate) mod align;
pub(crate) mod line_diff;
pub(crate) mod normalize;
pub(crate) mod placement;
pub(crate) mod similarity;
pub(crate) mod suggest;

use std::borrow::Cow;
use std::ops::Range;

use crate::apply::document::View;
use crate::elision::{self, Elision, Exchange};
use crate::outcome::Flag;
use crate::proposal::Flexibility;
use crate::refusal::{self, Cause, Difference, Instead, Refusal};
use crate::reply::{Hunk, LineKind, QuotedLine};
use align::{Place, QuoteKind, QuoteLine};
use normalize::{LineClass, normalize};
use placement::{Located, Met, build};
use similarity::Probe;

/// Below this no further doubt is raised.
pub(crate) const CHEAP: f32 = 0.3;
/// Without a single true line in the quote, misspelt ones must have so many letters and digits, and be this alike.
const SURE_LENGTH: usize = 12;
const SURE: f32 = 0.9;
/// The new side counts as present when it aligns for less than this.
const PRESENT: f32 = 0.12;
/// What a line costs that differs in white space alone.
const SPACED: f32 = 0.05;
/// A place below this price is as good as exact; one above may be what an earlier edit left.
const NEARLY: f32 = 0.05;
const EXACTLY: f32 = 0.01;
/// So many lines of code between two neighbours of the quote are another place.
const TORN: usize = 5;
/// So many bytes of several lines without words do not stand in a file twice by chance.
const DRAWN: usize = 40;
/// A comment or heading so much like a missing line is another version of it.
const STALE: f32 = 0.75;
/// Of places that are no further than so many lines from each other a line number does not choose one.
const NEAR: usize = 20;

/// Locates `hunk` among the lines of `view`. `forgiving` is for diffs, whose lines may lack their plus sign and which
/// may go on elsewhere without a new heading; a search block is one place.
pub(crate) fn locate(
    view: &View<'_>,
    hunk: &Hunk,
    forgiving: bool,
    flexibility: Flexibility,
) -> Result<Located, Refusal> {
    match locate_anywhere(view, hunk, forgiving, flexibility) {
        Err(refusal) if refusal.is(Flag::Ambiguous) => in_scope(view, hunk, forgiving, flexibility).ok_or(refusal),
        result => result,
    }
}

fn locate_anywhere(
    view: &View<'_>,
    hunk: &Hunk,
    forgiving: bool,
    flexibility: Flexibility,
) -> Result<Located, Refusal> {
    if !hunk.quotes() {
        return Err(Cause::NoQuote.into());
    }
    if view.len() == 0 {
        return Err(Cause::EmptyFile.into());
    }
    let exact = exact_places(view, hunk);
    match exact.as_slice() {
        [start] => {
            let mut next = *start;
            let lines = hunk.lines.iter().map(|line| {
                let quoted = line.kind != LineKind::Insert;
                let at = quoted.then_some(next);
                next += usize::from(quoted);
                Met { kind: line.kind, text: &line.text, at }
            });
            let lines: Vec<Met<'_>> = lines.collect();
            invented_elision(view, &lines)?;
            repeated_insertion(view, &lines)?;
            build(view, &lines, 0.0, 1.0, forgiving)
        }
        [] if flexibility == Flexibility::Off => Err(Cause::NotVerbatim.into()),
        [] => aligned(view, hunk, forgiving),
        several => Err(refusal::ambiguous(several.iter().map(|line| (*line, 1.0)))),
    }
}

/// Where the quote stands byte for byte (at most eight places).
fn exact_places(view: &View<'_>, hunk: &Hunk) -> Vec<usize> {
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

fn aligned(view: &View<'_>, hunk: &Hunk, forgiving: bool) -> Result<Located, Refusal> {
    let lines = with_gaps(view, &hunk.lines);
    let quote = quote_of(&lines, forgiving);
    let Some(place) = align::align(view, &quote, forgiving) else {
        return Err(Cause::NoQuotedLine.into());
    };
    if present(view, &lines, forgiving, &place) {
        return Err(Cause::AlreadyApplied.into());
    }
    accept(view, &quote, &place, forgiving)?;
    let mut map = place.map.iter();
    let lines: Vec<Met<'_>> = lines
        .iter()
        .map(|(kind, text)| {
            let at = if *kind == LineKind::Insert { None } else { map.next().copied().flatten() };
            Met { kind: *kind, text, at }
        })
        .collect();
    invented_elision(view, &lines)?;
    repeated_insertion(view, &lines)?;
    build(view, &lines, place.cost, place.weight, forgiving)
}

/// Kept lines that stand for lines left out become gaps; gaps at the ends mean nothing.
fn with_gaps<'a>(view: &View<'_>, lines: &'a [QuotedLine]) -> Vec<(LineKind, &'a str)> {
    let gap = |line: &QuotedLine| {
        let stands_for_more = line.kind == LineKind::Keep && elision::elision(&line.text).is_some();
        stands_for_more && view.places(&normalize(&line.text)).is_empty()
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

/// The quoted side. Between two edits of a diff the place may change.
fn quote_of<'a>(lines: &[(LineKind, &'a str)], forgiving: bool) -> Vec<QuoteLine<'a>> {
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
        let jump = forgiving && kind == QuoteKind::Keep && first < at && at < last;
        quote.push(QuoteLine { kind, text, jump });
    }
    quote
}

/// Whether the new side is in the file already. Lines to be removed that stand there say that it is not; a misspelt one
/// may be what the edit made of it.
fn present(view: &View<'_>, lines: &[(LineKind, &str)], forgiving: bool, place: &Place) -> bool {
    if place.cost < NEARLY {
        return false;
    }
    let of = |wanted: LineKind| lines.iter().filter(move |(kind, _)| *kind == wanted).map(|(_, line)| normalize(line));
    let made = |text: &str| of(LineKind::Insert).any(|line| *line == *text);
    let new =
        |line: &Cow<'_, str>| normalize::is_telling(line) && !of(LineKind::Delete).any(|removed| removed == *line);
    let mut added = of(LineKind::Insert).filter(new).peekable();
    let all_there = added.peek().is_some() && added.all(|line| !view.places(&line).is_empty());
    let mut map = place.map.iter();
    let (mut removes, mut done) = (false, false);
    for (kind, text) in lines.iter().filter(|(kind, _)| *kind != LineKind::Insert) {
        let at = map.next().copied().flatten();
        if *kind != LineKind::Delete || text.trim().is_empty() {
            continue;
        }
        removes = true;
        let found = at.map(|at| view.canon(at));
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
    let solid = after.iter().any(|line| line.kind != QuoteKind::Gap && !line.text.trim().is_empty());
    let after = if solid { align::align(view, &after, forgiving) } else { None };
    let overlaps = |after: &Place| {
        span(after).zip(span(place)).is_some_and(|((from, to), (first, last))| from <= last && first <= to)
    };
    after.is_some_and(|after| {
        // White space is forgiven to both sides alike.
        let good = after.cost < PRESENT + SPACED * after.weight && after.map.iter().all(Option::is_some);
        let better = good && after.cost < place.cost - 0.2;
        (better && (removes || place.cost > CHEAP)) || (after.cost < EXACTLY && overlaps(&after))
    })
}

/// The first and the last line of a place.
fn span(place: &Place) -> Option<(usize, usize)> {
    let met = || place.map.iter().flatten().copied();
    met().min().zip(met().max())
}

fn accept(view: &View<'_>, quote: &[QuoteLine<'_>], place: &Place, forgiving: bool) -> Result<(), Refusal> {
    let solid = |line: &QuoteLine<'_>| line.kind != QuoteKind::Gap && !line.text.trim().is_empty();
    let found = quote.iter().zip(&place.map).any(|(line, at)| at.is_some() && solid(line));
    let dear = place.cost > align::dearest(place.weight) && place.cost > CHEAP;
    if !found || dear {
        return Err(no_match(view, quote, place));
    }
    let lost = |line: &QuoteLine<'_>, at: &Option<usize>| at.is_none() && solid(line);
    let strict = |line: &QuoteLine<'_>| line.kind == QuoteKind::Delete || !forgiving;
    if quote.iter().zip(&place.map).any(|(line, at)| lost(line, at) && strict(line)) {
        return Err(no_match(view, quote, place));
    }
    if unanchored(view, quote, place)
        || contradicted(view, quote, place)
        || torn(view, quote, place)
        || mixed(view, quote, place)
        || guessed(view, quote, place)
    {
        return Err(no_match(view, quote, place));
    }
    if place.margin < align::MARGIN {
        let near = place.candidates.iter().filter(|(_, cost)| *cost < place.cost + align::MARGIN);
        let weight = place.weight.max(1.0);
        return Err(refusal::ambiguous(near.map(|(line, cost)| (*line, 1.0 - cost / weight))));
    }
    Ok(())
}

/// The refusal of a quote that is not in the file: where it differs from the closest place.
fn no_match(view: &View<'_>, quote: &[QuoteLine<'_>], place: &Place) -> Refusal {
    let weight = place.weight.max(0.1);
    let close = place.candidates.iter().map(|(line, cost)| (*line, 1.0 - cost / weight));
    let close = close.filter(|(_, similarity)| *similarity > MIN_LISTED_SIMILARITY).take(MAX_LISTED_PLACES);
    let candidates = refusal::candidates(close);
    let closest = candidates.iter().map(|candidate| candidate.line).collect();
    Refusal { candidates, ..Cause::NoMatch { difference: first_difference(view, quote, place), closest }.into() }
}

/// The first quoted line that was not found, and what the file has in its place.
fn first_difference(view: &View<'_>, quote: &[QuoteLine<'_>], place: &Place) -> Option<Difference> {
    let lost = quote
        .iter()
        .zip(&place.map)
        .position(|(line, at)| at.is_none() && line.kind != QuoteKind::Gap && !line.text.trim().is_empty())?;
    let text = quote.get(lost)?.text;
    let before = place.map.iter().take(lost).rev().find_map(|at| *at).map(|at| at + 1);
    let after = place.map.iter().skip(lost).find_map(|at| *at).and_then(|at| at.checked_sub(1));
    let known = view.places(&normalize(text));
    let instead = match (before.or(after).filter(|at| *at < view.len()), known.first()) {
        (_, Some(line)) => Instead::Elsewhere { line: line + 1 },
        (Some(at), None) => Instead::Other { line: at + 1, text: view.body(at).to_owned() },
        (None, None) => Instead::Nothing,
    };
    Some(Difference { number: lost + 1, text: text.to_owned(), instead })
}

/// A place is listed in a refusal if it is at least this similar to the quote, 0 to 1.
const MIN_LISTED_SIMILARITY: f32 = 0.3;
/// Maximum number of places that a refusal lists.
const MAX_LISTED_PLACES: usize = 3;

/// Whether every line that was found is misspelt, and not just by a letter in a long line: short lines are alike by
/// chance.
fn unanchored(view: &View<'_>, quote: &[QuoteLine<'_>], place: &Place) -> bool {
    let met = quote.iter().zip(&place.map).filter(|(line, _)| !line.text.trim().is_empty());
    let mut all_sure = true;
    for (line, at) in met.filter_map(|(line, at)| Some((line, (*at)?))) {
        let wanted = normalize(line.text);
        if *view.canon(at) == *wanted {
            if normalize::is_telling(&wanted) {
                return false;
            }
            continue;
        }
        let long = normalize::letters(&wanted) >= SURE_LENGTH;
        let found = view.canon(at);
        let alike = Probe::new(&wanted).likeness(&found, SURE).is_some();
        all_sure &= long && alike && similarity::is_slip(&wanted, &found);
    }
    !all_sure
}

/// Whether more lines are found that are only alike than lines that are true: this is code of the same kind.
fn guessed(view: &View<'_>, quote: &[QuoteLine<'_>], place: &Place) -> bool {
    let (mut alike, mut true_ones) = (0usize, 0usize);
    for (line, at) in quote.iter().zip(&place.map) {
        let Some(at) = *at else { continue };
        let (wanted, found) = (normalize(line.text), view.canon(at));
        if *found == *wanted {
            true_ones += usize::from(normalize::is_telling(&wanted));
        } else if !similarity::is_slip(&wanted, &found) {
            alike += 1;
        }
    }
    alike > true_ones
}

/// Whether neighbours in the quote stand far apart in the file, which is two places quoted as one.
fn torn(view: &View<'_>, quote: &[QuoteLine<'_>], place: &Place) -> bool {
    let mut before: Option<usize> = None;
    for (line, at) in quote.iter().zip(&place.map) {
        if let (Some(above), Some(below)) = (before, *at) {
            let code = (above + 1..below).filter(|line| view.class(*line) == LineClass::Code);
            if code.take(TORN).count() == TORN {
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

/// Whether a missing line stands elsewhere in the file beside the line that the quote has beside it: then the quote mixes
/// two places, and the line is no forgotten addition.
fn mixed(view: &View<'_>, quote: &[QuoteLine<'_>], place: &Place) -> bool {
    let solid = |line: &&QuoteLine<'_>| line.kind != QuoteKind::Gap && !line.text.trim().is_empty();
    let above = |line: usize| (0..line).rev().find(|line| view.class(*line) != LineClass::Blank);
    let below = |line: usize| (line + 1..view.len()).find(|line| view.class(*line) != LineClass::Blank);
    let says = |at: Option<usize>, line: Option<&QuoteLine<'_>>| {
        at.zip(line).is_some_and(|(at, line)| *view.canon(at) == *normalize(line.text))
    };
    let missing = quote.iter().zip(&place.map).enumerate().filter(|(_, (line, at))| at.is_none() && solid(line));
    missing.filter(|(_, (line, _))| normalize::is_telling(line.text)).any(|(index, (line, _))| {
        let (before, after) = (quote.iter().take(index).rev().find(solid), quote.iter().skip(index + 1).find(solid));
        let mut places = view.places(&normalize(line.text)).iter().take(8).copied();
        // Beside lines that are left out anything could stand.
        let said = |line: &&QuoteLine<'_>| line.kind == QuoteKind::Gap || !line.text.trim().is_empty();
        let beside = [quote.iter().take(index).rev().find(said), quote.iter().skip(index + 1).find(said)];
        let elided = beside.into_iter().flatten().any(|line| line.kind == QuoteKind::Gap);
        places.any(|at| elided || says(above(at), before) || says(below(at), after))
    })
}

/// Quoted lines that are missing are forgotten additions only where nothing stands in their place.
fn contradicted(view: &View<'_>, quote: &[QuoteLine<'_>], place: &Place) -> bool {
    let missing = |at: usize| {
        let line = quote.get(at).filter(|line| line.kind != QuoteKind::Gap);
        line.is_some() && place.map.get(at).copied().flatten().is_none()
    };
    let gap = |at: usize| quote.get(at).is_some_and(|line| line.kind == QuoteKind::Gap);
    let mut at = 0;
    while at < quote.len() {
        let solid = quote.get(at).is_some_and(|line| !line.text.trim().is_empty());
        if !missing(at) || !solid {
            at += 1;
            continue;
        }
        let from = at;
        while missing(at) {
            at += 1;
        }
        let before = place.map.iter().take(from).flatten().max();
        let after = place.map.iter().skip(at).flatten().min();
        let (Some(before), Some(after)) = (before, after) else {
            if replaces(quote, from, at) {
                continue;
            }
            return true;
        };
        let stale = |line: usize| {
            let alike = |quoted: &QuoteLine<'_>| {
                Probe::new(&normalize(quoted.text)).likeness(&view.canon(line), STALE).is_some()
            };
            view.class(line) == LineClass::Comment && quote.get(from..at).unwrap_or_default().iter().any(alike)
        };
        let code = (before + 1..*after).any(|line| view.class(line) == LineClass::Code || stale(line));
        let elided = from.checked_sub(1).is_some_and(gap) || gap(at);
        if code && !elided {
            return true;
        }
    }
    false
}

/// Whether the only missing line is the last one and much like the removed line above it: the new version of it.
fn replaces(quote: &[QuoteLine<'_>], from: usize, to: usize) -> bool {
    let above = from.checked_sub(1).and_then(|above| quote.get(above)).filter(|line| line.kind == QuoteKind::Delete);
    let alike = |(old, new): (&QuoteLine<'_>, &QuoteLine<'_>)| {
        Probe::new(&normalize(old.text)).likeness(&normalize(new.text), 0.6).is_some()
    };
    from + 1 == to && to == quote.len() && above.zip(quote.get(from)).is_some_and(alike)
}

/// A placeholder among the added lines of a replacement would take the place of code that it does not show.
fn invented_elision(view: &View<'_>, lines: &[Met<'_>]) -> Result<(), Refusal> {
    let removes = lines.iter().any(|line| line.kind == LineKind::Delete && !line.text.trim().is_empty());
    let placeholder =
        |line: &&Met<'_>| line.kind == LineKind::Insert && elision::elision(line.text) == Some(Elision::Placeholder);
    let new = |line: &&Met<'_>| view.places(&normalize(line.text)).is_empty();
    if let Some(line) = lines.iter().filter(placeholder).find(new).filter(|_| removes) {
        return Err(Cause::Elision((line.text).to_string()).into());
    }
    let after: Vec<&str> = lines.iter().filter(|line| line.kind != LineKind::Delete).map(|line| line.text).collect();
    let known = |line: &str| !view.places(&normalize(line)).is_empty();
    match elision::stand_in(&after, &exchanges(lines), known) {
        Some(line) => Err(Cause::Elision((line).to_string()).into()),
        None => Ok(()),
    }
}

/// The lines that go and come, place by place.
fn exchanges<'a>(lines: &[Met<'a>]) -> Vec<Exchange<'a>> {
    let mut at = 0;
    let mut exchanges = Vec::new();
    let changes = |line: &Met<'_>| matches!(line.kind, LineKind::Delete | LineKind::Insert);
    for run in lines.chunk_by(|one, other| changes(one) == changes(other)) {
        let mut exchange = Exchange { removed: Vec::new(), added: Vec::new() };
        for line in run {
            match line.kind {
                LineKind::Delete => exchange.removed.push(line.text),
                LineKind::Insert => exchange.added.push(at),
                LineKind::Keep | LineKind::Gap => {}
            }
            at += usize::from(line.kind != LineKind::Delete);
        }
        exchanges.push(exchange);
    }
    exchanges
}

/// An insertion whose lines stand there already, word for word, has been made before.
fn repeated_insertion(view: &View<'_>, lines: &[Met<'_>]) -> Result<(), Refusal> {
    let removes = lines.iter().any(|line| line.kind == LineKind::Delete);
    let inserted = |line: &Met<'_>| line.kind == LineKind::Insert;
    let Some(first) = lines.iter().position(inserted).filter(|_| !removes) else {
        return Ok(());
    };
    let last = lines.iter().rposition(inserted).unwrap_or(first);
    let run = lines.get(first..=last).unwrap_or_default();
    let telling = |line: &Met<'_>| normalize::letters(line.text) >= 8;
    // A picture made of dashes tells enough by its size.
    let drawn: usize = run.iter().map(|line| line.text.split_whitespace().map(str::len).sum::<usize>()).sum();
    let drawn = run.len() > 2 && drawn >= DRAWN;
    if !run.iter().all(inserted) || !(drawn || run.iter().any(telling)) {
        return Ok(());
    }
    let stands_at = |from: usize| {
        let same = |(at, line): (usize, &Met<'_>)| normalize(view.body(at)) == normalize(line.text);
        from + run.len() <= view.len() && (from..).zip(run).all(same)
    };
    let before = lines.get(..first).unwrap_or_default().iter().rev().find_map(|line| line.at);
    let after = lines.get(last + 1..).unwrap_or_default().iter().find_map(|line| line.at);
    let above = |line: usize| line.checked_sub(run.len()).is_some_and(stands_at);
    let there = match (before, after) {
        (Some(before), None) => stands_at(before + 1),
        (None, Some(after)) => above(after),
        (Some(before), Some(after)) if after > before + 1 => stands_at(before + 1) || above(after),
        // Between neighbours only a whole block can be told from a line that happens to be repeated.
        (Some(_), Some(after)) => run.len() > 1 && above(after),
        _ => false,
    };
    if there { Err(Cause::AlreadyApplied.into()) } else { Ok(()) }
}

/// A second look at an ambiguous hunk, within the scope that its heading names.
fn in_scope(view: &View<'_>, hunk: &Hunk, forgiving: bool, flexibility: Flexibility) -> Option<Located> {
    let (mut from, mut to) = (0, view.len());
    for scope in &hunk.scopes {
        (from, to) = scope_lines(view, scope, from, to)?;
    }
    if hunk.scopes.is_empty() {
        return None;
    }
    located_within(view, from..to, hunk, forgiving, flexibility)
}

/// The place of an ambiguous hunk that begins at the line `line` (0-based), if it fits no other near by.
pub(crate) fn locate_at(
    view: &View<'_>,
    line: usize,
    hunk: &Hunk,
    forgiving: bool,
    flexibility: Flexibility,
) -> Option<Located> {
    let quoted = hunk.lines.iter().filter(|line| line.kind != LineKind::Insert).count();
    let near = line.saturating_sub(NEAR)..line.saturating_add(quoted + NEAR).min(view.len());
    let located = located_within(view, near, hunk, forgiving, flexibility)?;
    Some(located).filter(|located| located.met.first() == Some(&line))
}

/// Locates a hunk as if there were no other lines than `range`.
fn located_within(
    view: &View<'_>,
    range: Range<usize>,
    hunk: &Hunk,
    forgiving: bool,
    flexibility: Flexibility,
) -> Option<Located> {
    let from = range.start;
    let inner = view.part(from, range.end)?;
    let mut located = locate_anywhere(&inner, hunk, forgiving, flexibility).ok()?;
    located.deletes = located.deletes.iter().map(|line| line + from).collect();
    located.inserts = located.inserts.into_iter().map(|(line, text)| (line + from, text)).collect();
    located.met.iter_mut().for_each(|line| *line += from);
    Some(located)
}

/// The lines of the block that `scope` heads, if exactly one line within the range reads so: half open.
fn scope_lines(view: &View<'_>, scope: &str, from: usize, to: usize) -> Option<(usize, usize)> {
    let wanted = normalize(scope);
    let width = |line: usize| view.body(line).len() - view.body(line).trim_start().len();
    let mut heads = (from..to).filter(|line| *view.canon(*line) == *wanted);
    let head = heads.next().filter(|_| heads.next().is_none())?;
    let ends = |line: &usize| {
        let text = view.body(*line).trim();
        !text.is_empty() && width(*line) <= width(head) && !text.starts_with('{')
    };
    Some((head, (head + 1..to).find(ends).unwrap_or(to)))
}
