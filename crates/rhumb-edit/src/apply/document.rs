//! The lines of a file under edit. Unchanged lines keep their bytes.
//!
//! A [`Document`] has the lines of the base. An [`Item`] is a line of the edited file, and a [`View`] the lines in
//! which a quote is searched. Normalized lines are interned by [`Forms`], so that equal lines are compared once.

use std::cell::{OnceCell, Ref, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use rhumb_text::lines::{self, LineEnding};

use crate::locate::normalize::{self, LineClass, LineTraits, normalize};
use crate::locate::similarity::Probe;

const BOM: char = '\u{feff}';

/// The base text of a file, split into lines.
#[derive(Debug)]
pub(crate) struct Document {
    base: Arc<str>,
    /// Byte ranges of the lines: start, end of the body, end with terminator. A byte order mark is not part of a
    /// line.
    spans: Vec<(usize, usize, usize)>,
    ending: LineEnding,
    forms: Forms,
    /// For each line, the number of its normalized form. Computed on the first search that is not verbatim.
    form_of: OnceCell<Vec<u32>>,
    line_index: OnceCell<LineIndex>,
}

/// A line of the file under edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    /// A line of the base, 0-based.
    Old(usize),
    /// An added line.
    New {
        body: String,
        /// Its terminator; empty if it depends on the lines around it.
        terminator: String,
    },
}

impl Item {
    /// An added line whose terminator depends on the lines around it.
    pub(crate) fn new(body: String) -> Self {
        Self::New { body, terminator: String::new() }
    }

    /// An added line with this terminator. If it is empty, it depends on the lines around the line.
    pub(crate) fn with_terminator(body: &str, terminator: &str) -> Self {
        Self::New { body: body.to_owned(), terminator: terminator.to_owned() }
    }

    /// The line of the base, if it is one.
    pub(crate) fn old(&self) -> Option<usize> {
        match self {
            Self::Old(line) => Some(*line),
            Self::New { .. } => None,
        }
    }

    /// The terminator of an added line, if it is known.
    pub(crate) fn terminator(&self) -> Option<&str> {
        match self {
            Self::New { terminator, .. } if !terminator.is_empty() => Some(terminator),
            _ => None,
        }
    }
}

impl Document {
    pub(crate) fn new(base: Arc<str>) -> Self {
        let mut at = if base.starts_with(BOM) { BOM.len_utf8() } else { 0 };
        let ending = LineEnding::dominant(&base);
        let mut spans = Vec::new();
        for line in lines::split(base.get(at..).unwrap_or_default()) {
            // A lone carriage return at the end of the file is a character. Several before a newline are part of
            // the terminator: some tools write `\r\r\n`, which no model does.
            let body = line.strip_suffix('\n').map_or(line, |body| body.trim_end_matches('\r'));
            spans.push((at, at + body.len(), at + line.len()));
            at += line.len();
        }
        Self { base, spans, ending, forms: Forms::default(), form_of: OnceCell::new(), line_index: OnceCell::new() }
    }

    pub(crate) fn base(&self) -> &Arc<str> {
        &self.base
    }

    pub(crate) fn items(&self) -> Vec<Item> {
        (0..self.spans.len()).map(Item::Old).collect()
    }

    /// The index of the lines of the base.
    pub(crate) fn line_index(&self) -> &LineIndex {
        self.line_index.get_or_init(|| LineIndex::new(self.form_of().to_vec(), &self.forms))
    }

    /// The number of lines of the base.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The text of a line of the base, without terminator.
    pub(crate) fn body(&self, line: usize) -> &str {
        self.spans.get(line).and_then(|(start, end, _)| self.base.get(*start..*end)).unwrap_or_default()
    }

    /// The normalized forms of the lines of this file and of those that edits add.
    pub(crate) fn forms(&self) -> &Forms {
        &self.forms
    }

    /// For each line of the base, the number of its normalized form.
    pub(crate) fn form_of(&self) -> &[u32] {
        self.form_of.get_or_init(|| (0..self.spans.len()).map(|line| self.forms.number(self.body(line))).collect())
    }

    /// The texts of all lines of the base, without terminators.
    pub(crate) fn bodies(&self) -> Vec<&str> {
        (0..self.spans.len()).map(|line| self.body(line)).collect()
    }

    /// The terminator of a line of the base; empty if it has none.
    pub(crate) fn terminator(&self, line: usize) -> &str {
        self.spans.get(line).and_then(|(_, end, full)| self.base.get(*end..*full)).unwrap_or_default()
    }

    /// The text of the items. Lines of the base keep their terminators. An added line has its own terminator, or gets
    /// that of the line that it replaces, or else of a neighbour. The text ends with a newline if the base did.
    pub(crate) fn compose(&self, items: &[Item]) -> String {
        let closed = self.base.ends_with('\n') || self.spans.is_empty();
        let kept: BTreeSet<usize> = items.iter().filter_map(Item::old).collect();
        let mut text = String::with_capacity(self.base.len() + 64);
        if self.base.starts_with(BOM) {
            text.push(BOM);
        }
        let (mut before, mut next) = ("", 0);
        for (at, item) in items.iter().enumerate() {
            let (body, own) = match item {
                Item::Old(line) => {
                    next = line + 1;
                    (self.body(*line), self.terminator(*line))
                }
                // It replaces the next line of the base, unless that line is kept.
                Item::New { body, .. } if kept.contains(&next) => (body.as_str(), ""),
                Item::New { body, .. } => {
                    next += 1;
                    (body.as_str(), self.terminator(next - 1))
                }
            };
            let own = item.terminator().unwrap_or(own);
            text.push_str(body);
            if at + 1 < items.len() || closed {
                let known = [own, before, self.terminator(next)].into_iter().find(|ending| !ending.is_empty());
                before = known.unwrap_or(self.ending.as_str());
                text.push_str(before);
            }
        }
        text
    }
}

/// Lines in which a quote is searched: those of the base, or those of the edited file.
pub(crate) struct View<'a> {
    document: &'a Document,
    /// `None` for all lines of the base.
    lines: Option<Vec<Line<'a>>>,
    line_index: OnceCell<LineIndex>,
}

/// A line of the view.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    body: &'a str,
    /// The line of the base (0-based); `None` for an added line.
    base: Option<u32>,
}

/// The normalized forms and the classes of lines. Computed on the first search that is not verbatim.
#[derive(Debug)]
pub(crate) struct LineIndex {
    /// For each line, the number of its normalized form.
    forms: Vec<u32>,
    classes: Vec<LineClass>,
    /// For each form, where its lines begin in `lines`.
    starts: Vec<u32>,
    lines: Vec<usize>,
}

impl<'a> View<'a> {
    /// The lines of the base.
    pub(crate) fn of_base(document: &'a Document) -> Self {
        Self { document, lines: None, line_index: OnceCell::new() }
    }

    /// The lines of the edited file.
    pub(crate) fn of(document: &'a Document, items: &'a [Item]) -> Self {
        let line = |item: &'a Item| match item {
            Item::Old(line) => Line { body: document.body(*line), base: u32::try_from(*line).ok() },
            Item::New { body, .. } => Line { body, base: None },
        };
        Self { document, lines: Some(items.iter().map(line).collect()), line_index: OnceCell::new() }
    }

    /// The lines `from..to` only.
    pub(crate) fn part(&self, from: usize, to: usize) -> Option<Self> {
        let lines = (from..to).map(|line| self.line(line)).collect::<Option<Vec<Line<'a>>>>();
        lines.map(|lines| Self { document: self.document, lines: Some(lines), line_index: OnceCell::new() })
    }

    fn line(&self, line: usize) -> Option<Line<'a>> {
        match &self.lines {
            Some(lines) => lines.get(line).copied(),
            None if line < self.document.len() => {
                Some(Line { body: self.document.body(line), base: u32::try_from(line).ok() })
            }
            None => None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.as_ref().map_or_else(|| self.document.len(), Vec::len)
    }

    pub(crate) fn bodies(&self) -> impl Iterator<Item = &'a str> + '_ {
        (0..self.len()).map(|line| self.body(line))
    }

    pub(crate) fn body(&self, line: usize) -> &'a str {
        match &self.lines {
            Some(lines) => lines.get(line).map(|line| line.body).unwrap_or_default(),
            None => self.document.body(line),
        }
    }

    /// Whether these lines are at `at`, byte for byte.
    pub(crate) fn has(&self, at: usize, bodies: &[&str]) -> bool {
        at.checked_add(bodies.len()).is_some_and(|end| end <= self.len())
            && (at..).zip(bodies).all(|(line, body)| self.body(line) == *body)
    }

    /// The lines with this normalized text, ascending.
    pub(crate) fn occurrences(&self, canonical: &str) -> &[usize] {
        let line_index = self.line_index();
        self.forms().find(canonical).map(|form| line_index.occurrences(form)).unwrap_or_default()
    }

    /// The normalized text of a line.
    pub(crate) fn normalized(&self, line: usize) -> Rc<str> {
        self.line_index().forms.get(line).map(|form| self.forms().text(*form)).unwrap_or_default()
    }

    /// The class of a line.
    pub(crate) fn class(&self, line: usize) -> LineClass {
        self.line_index().classes.get(line).copied().unwrap_or(LineClass::Code)
    }

    /// The lines in ascending `windows` whose similarity to `wanted` is at least `minimum`, with their similarity,
    /// ascending. Compares at most `budget` different lines.
    pub(crate) fn similar_lines(
        &self,
        wanted: &str,
        minimum: f32,
        windows: &[(usize, usize)],
        budget: &mut usize,
    ) -> Vec<(usize, f32)> {
        let line_index = self.line_index();
        let inside = windows.iter().flat_map(|(from, to)| line_index.forms.get(*from..*to).unwrap_or_default());
        let mut inside: Vec<u32> = inside.copied().collect();
        inside.sort_unstable();
        inside.dedup();
        let forms = self.forms().similar_lines(wanted, minimum, &inside, budget);
        let lines = forms
            .iter()
            .flat_map(|(form, similarity)| line_index.occurrences(*form).iter().map(|line| (*line, *similarity)));
        let in_window = |line: usize| windows.iter().any(|(from, to)| (*from..*to).contains(&line));
        let mut lines: Vec<(usize, f32)> = lines.filter(|(line, _)| in_window(*line)).collect();
        lines.sort_unstable_by_key(|(line, _)| *line);
        lines
    }

    fn forms(&self) -> &'a Forms {
        self.document.forms()
    }

    fn line_index(&self) -> &LineIndex {
        let Some(lines) = &self.lines else { return self.document.line_index() };
        self.line_index.get_or_init(|| {
            let known = self.document.form_of();
            let form = |line: &Line<'_>| {
                let base = line.base.and_then(|base| known.get(base as usize)).copied();
                base.unwrap_or_else(|| self.forms().number(line.body))
            };
            LineIndex::new(lines.iter().map(form).collect(), self.forms())
        })
    }
}

impl LineIndex {
    pub(crate) fn new(forms: Vec<u32>, known: &Forms) -> Self {
        let mut starts = vec![0u32; known.len() + 1];
        for form in &forms {
            if let Some(count) = starts.get_mut(*form as usize + 1) {
                *count += 1;
            }
        }
        let mut before = 0;
        for start in &mut starts {
            before += *start;
            *start = before;
        }
        let mut next = starts.clone();
        let mut lines = vec![0; forms.len()];
        for (line, form) in forms.iter().enumerate() {
            if let Some(slot) = next.get_mut(*form as usize) {
                if let Some(occurrence) = lines.get_mut(*slot as usize) {
                    *occurrence = line;
                }
                *slot += 1;
            }
        }
        let traits = known.traits();
        let classes = normalize::classes(forms.iter().filter_map(|form| traits.get(*form as usize)));
        Self { forms, classes, starts, lines }
    }

    fn occurrences(&self, form: u32) -> &[usize] {
        let border = |at: usize| self.starts.get(at).map(|start| *start as usize);
        let (from, to) = (border(form as usize), border(form as usize + 1));
        from.zip(to).and_then(|(from, to)| self.lines.get(from..to)).unwrap_or_default()
    }
}

/// Number of classes of characters in a [`Bag`].
const CHAR_CLASSES: usize = 32;

/// Interned normalized lines. Numbers are only added, so that they stay valid while edits add lines.
#[derive(Debug, Default)]
pub(crate) struct Forms(RefCell<Known>);

#[derive(Debug, Default)]
struct Known {
    numbers: HashMap<Rc<str>, u32>,
    texts: Vec<Rc<str>>,
    traits: Vec<LineTraits>,
    bags: Vec<Bag>,
}

/// The number of characters of each class, for a fast upper bound of the similarity.
#[derive(Debug, Clone, Copy)]
struct Bag {
    counts: [u8; CHAR_CLASSES],
    chars: u32,
}

impl Forms {
    /// The number of the normalized form of a line. Adds the form if it is new.
    pub(crate) fn number(&self, line: &str) -> u32 {
        let text = normalize(line);
        let mut known = self.0.borrow_mut();
        if let Some(number) = known.numbers.get(&*text) {
            return *number;
        }
        let number = u32::try_from(known.texts.len()).unwrap_or(u32::MAX);
        let text: Rc<str> = Rc::from(&*text);
        known.traits.push(LineTraits::of(&text));
        known.bags.push(Bag::of(&text));
        known.texts.push(Rc::clone(&text));
        known.numbers.insert(text, number);
        number
    }

    /// The number of a known form.
    pub(crate) fn find(&self, canonical: &str) -> Option<u32> {
        self.0.borrow().numbers.get(canonical).copied()
    }

    /// The number of forms.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().texts.len()
    }

    /// The text of a form.
    pub(crate) fn text(&self, number: u32) -> Rc<str> {
        self.0.borrow().texts.get(number as usize).cloned().unwrap_or_default()
    }

    /// The properties of the forms, by number.
    pub(crate) fn traits(&self) -> Ref<'_, [LineTraits]> {
        Ref::map(self.0.borrow(), |known| known.traits.as_slice())
    }

    /// Those of `numbers` whose similarity to `wanted` is at least `minimum`, with their similarity. Compares at
    /// most `budget` of them.
    pub(crate) fn similar_lines(
        &self,
        wanted: &str,
        minimum: f32,
        numbers: &[u32],
        budget: &mut usize,
    ) -> Vec<(u32, f32)> {
        let (probe, bag) = (Probe::new(wanted), Bag::of(wanted));
        let known = self.0.borrow();
        let near =
            |number: &&u32| known.bags.get(**number as usize).is_some_and(|other| bag.may_be_like(other, minimum));
        let mut found = Vec::new();
        for &number in numbers.iter().filter(near) {
            if *budget == 0 {
                break;
            }
            *budget -= 1;
            let text = known.texts.get(number as usize).map_or("", |text| text);
            found.extend(probe.similarity(text, minimum).map(|similarity| (number, similarity)));
        }
        found
    }
}

impl Bag {
    fn of(text: &str) -> Self {
        let mut bag = Self { counts: [0; CHAR_CLASSES], chars: 0 };
        for c in text.chars() {
            bag.chars = bag.chars.saturating_add(1);
            if let Some(count) = bag.counts.get_mut(c as usize & (CHAR_CLASSES - 1)) {
                *count = count.saturating_add(1);
            }
        }
        bag
    }

    /// Whether texts with these bags can be that similar: they share at most the characters that are in both bags.
    fn may_be_like(&self, other: &Self, minimum: f32) -> bool {
        let total = (self.chars + other.chars) as f32;
        let allowed = (1.0 - minimum) * total;
        if self.chars.abs_diff(other.chars) as f32 > allowed {
            return false;
        }
        let differing = self.counts.iter().zip(&other.counts);
        let differing: u32 = differing.map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
        differing as f32 <= allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn untouched_items_compose_to_the_same_bytes() {
        for text in
            ["", "a", "a\r\nb\nc", "\u{feff}x\r\n", "\u{c}\n\r\n", "\r", "a\n\r", "\u{feff}", "a\r\r\n\r\r\r\nb\r"]
        {
            let document = Document::new(text.into());
            assert_eq!(document.compose(&document.items()), text);
        }
    }

    #[test]
    fn new_lines_take_the_ending_of_the_file() {
        let document = Document::new("a\r\nb".into());
        let items = [Item::new("0".into()), Item::Old(0), Item::Old(1), Item::new("c".into())];
        assert_eq!(document.compose(&items), "0\r\na\r\nb\r\nc");
    }

    #[test]
    fn new_lines_end_like_the_line_that_they_replace_or_its_neighbours() {
        let document = Document::new("a\r\nb\r\r\nc\nd\ne\n".into());
        let new = |body: &str| Item::new(body.into());
        let composed = |items: &[Item]| document.compose(items);
        let replaced = [Item::Old(0), new("B"), new("C"), new("more"), Item::Old(3), Item::Old(4)];
        assert_eq!(composed(&replaced), "a\r\nB\r\r\nC\nmore\nd\ne\n");
        let inserted = [new("first"), Item::Old(0), new("second"), Item::Old(1), Item::Old(2), new("x"), Item::Old(3)];
        assert_eq!(composed(&inserted), "first\r\na\r\nsecond\r\nb\r\r\nc\nx\nd\n");
        // The base has no line whose terminator could be used.
        assert_eq!(Document::new("".into()).compose(&[new("a"), new("b")]), "a\nb\n");
        assert_eq!(Document::new("a\r\nb".into()).compose(&[new("c"), new("d"), new("e")]), "c\r\nd\r\ne");
    }

    #[test]
    fn added_lines_are_found_where_they_stand() {
        let document = Document::new("a\n# b\na\n".into());
        let items = [Item::Old(0), Item::new("  b".into()), Item::new("a ".into()), Item::Old(1)];
        let view = View::of(&document, &items);
        assert_eq!(
            (view.occurrences("a"), view.occurrences("b"), view.occurrences("c")),
            (&[0, 2][..], &[1][..], &[][..])
        );
        assert_eq!((&*view.normalized(2), view.class(3), view.body(1)), ("a", LineClass::Comment, "  b"));
        assert!(view.has(0, &["a", "  b"]) && !view.has(3, &["# b", ""]));
        assert_eq!(View::of_base(&document).occurrences("a"), [0, 2]);
        assert_eq!(view.part(1, 4).map(|part| part.occurrences("a").to_vec()), Some(vec![1]));
    }

    #[test]
    fn lines_that_mean_the_same_have_one_form() {
        let forms = Forms::default();
        assert_eq!(forms.number("  a = 1"), forms.number("a  =  1 "));
        assert_ne!(forms.number("a = 1"), forms.number("a = 2"));
        assert_eq!((forms.len(), &*forms.text(1), forms.find("a = 2")), (2, "a = 2", Some(1)));
        assert_eq!(forms.find("b"), None);
    }

    #[test]
    fn forms_that_are_alike_are_found() {
        let forms = Forms::default();
        for line in ["return self.readings.values()", "for mark of marks {", "x"] {
            forms.number(line);
        }
        let found = forms.similar_lines("return self.reading.values()", 0.75, &[0, 1, 2], &mut 100);
        assert_eq!(found.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0]);
    }

    proptest! {
        #[test]
        fn a_bag_never_excludes_similar_texts(a in "[a-f ]{1,12}", b in "[a-f ]{1,12}", minimum in 0.5f32..0.95) {
            let similar = Probe::new(&a).similarity(&b, minimum).is_some();
            prop_assert!(!similar || Bag::of(&a).may_be_like(&Bag::of(&b), minimum));
        }
    }
}
