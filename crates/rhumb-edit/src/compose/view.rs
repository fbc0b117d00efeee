//! The lines among which a quote is sought, and what they mean.

use std::cell::OnceCell;
use std::rc::Rc;

use super::document::{Document, Item};
use super::form::Forms;
use crate::locate::canon::{self, LineClass};

/// Some lines of a file: as it was, or as the edits so far have left it.
pub(crate) struct View<'a> {
    document: &'a Document,
    /// `None` for all lines of the base.
    lines: Option<Vec<Line<'a>>>,
    meaning: OnceCell<Meaning>,
}

/// A line of the view.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    body: &'a str,
    /// Its place in the base, 0-based; none for an added line.
    base: Option<u32>,
}

/// What the lines mean, computed when an exact search does not do.
#[derive(Debug)]
pub(crate) struct Meaning {
    /// By line.
    forms: Vec<u32>,
    classes: Vec<LineClass>,
    /// Lines by form: where those of each form begin in the list.
    starts: Vec<u32>,
    lines: Vec<usize>,
}

impl<'a> View<'a> {
    /// The file as it was.
    pub(super) fn of_base(document: &'a Document) -> Self {
        Self { document, lines: None, meaning: OnceCell::new() }
    }

    /// The file as the edits so far have left it.
    pub(crate) fn of(document: &'a Document, items: &'a [Item]) -> Self {
        let line = |item: &'a Item| match item {
            Item::Old(line) => Line { body: document.body(*line), base: u32::try_from(*line).ok() },
            Item::New(body) => Line { body, base: None },
        };
        Self { document, lines: Some(items.iter().map(line).collect()), meaning: OnceCell::new() }
    }

    /// The lines `from..to` alone.
    pub(crate) fn part(&self, from: usize, to: usize) -> Option<Self> {
        let lines = (from..to).map(|line| self.line(line)).collect::<Option<Vec<Line<'a>>>>();
        lines.map(|lines| Self { document: self.document, lines: Some(lines), meaning: OnceCell::new() })
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

    /// Whether these lines stand at `at`, byte for byte.
    pub(crate) fn has(&self, at: usize, bodies: &[&str]) -> bool {
        at.checked_add(bodies.len()).is_some_and(|end| end <= self.len())
            && (at..).zip(bodies).all(|(line, body)| self.body(line) == *body)
    }

    /// The lines of this form, ascending.
    pub(crate) fn places(&self, canonical: &str) -> &[usize] {
        let meaning = self.meaning();
        self.forms().find(canonical).map(|form| meaning.places(form)).unwrap_or_default()
    }

    /// The canonical form of a line.
    pub(crate) fn canon(&self, line: usize) -> Rc<str> {
        self.meaning().forms.get(line).map(|form| self.forms().text(*form)).unwrap_or_default()
    }

    /// What a line is.
    pub(crate) fn class(&self, line: usize) -> LineClass {
        self.meaning().classes.get(line).copied().unwrap_or(LineClass::Code)
    }

    /// The lines in ascending `windows` whose forms are at least so much like `wanted`, with their likeness, ascending. Looks
    /// closely at `budget` forms at most.
    pub(crate) fn like(
        &self,
        wanted: &str,
        least: f32,
        windows: &[(usize, usize)],
        budget: &mut usize,
    ) -> Vec<(usize, f32)> {
        let meaning = self.meaning();
        let inside = windows.iter().flat_map(|(from, to)| meaning.forms.get(*from..*to).unwrap_or_default());
        let mut inside: Vec<u32> = inside.copied().collect();
        inside.sort_unstable();
        inside.dedup();
        let forms = self.forms().like(wanted, least, &inside, budget);
        let lines =
            forms.iter().flat_map(|(form, likeness)| meaning.places(*form).iter().map(|line| (*line, *likeness)));
        let in_window = |line: usize| windows.iter().any(|(from, to)| (*from..*to).contains(&line));
        let mut lines: Vec<(usize, f32)> = lines.filter(|(line, _)| in_window(*line)).collect();
        lines.sort_unstable_by_key(|(line, _)| *line);
        lines
    }

    fn forms(&self) -> &'a Forms {
        self.document.forms()
    }

    fn meaning(&self) -> &Meaning {
        let Some(lines) = &self.lines else { return self.document.meaning() };
        self.meaning.get_or_init(|| {
            let known = self.document.form_of();
            let form = |line: &Line<'_>| {
                let base = line.base.and_then(|base| known.get(base as usize)).copied();
                base.unwrap_or_else(|| self.forms().number(line.body))
            };
            Meaning::new(lines.iter().map(form).collect(), self.forms())
        })
    }
}

impl Meaning {
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
                if let Some(place) = lines.get_mut(*slot as usize) {
                    *place = line;
                }
                *slot += 1;
            }
        }
        let traits = known.traits();
        let classes = canon::classes(forms.iter().filter_map(|form| traits.get(*form as usize)));
        Self { forms, classes, starts, lines }
    }

    fn places(&self, form: u32) -> &[usize] {
        let border = |at: usize| self.starts.get(at).map(|start| *start as usize);
        let (from, to) = (border(form as usize), border(form as usize + 1));
        from.zip(to).and_then(|(from, to)| self.lines.get(from..to)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lines_are_found_where_they_stand() {
        let document = Document::new("a\n# b\na\n".into());
        let items = [Item::Old(0), Item::New("  b".into()), Item::New("a ".into()), Item::Old(1)];
        let view = View::of(&document, &items);
        assert_eq!((view.places("a"), view.places("b"), view.places("c")), (&[0, 2][..], &[1][..], &[][..]));
        assert_eq!((&*view.canon(2), view.class(3), view.body(1)), ("a", LineClass::Comment, "  b"));
        assert!(view.has(0, &["a", "  b"]) && !view.has(3, &["# b", ""]));
        assert_eq!(View::of_base(&document).places("a"), [0, 2]);
        assert_eq!(view.part(1, 4).map(|part| part.places("a").to_vec()), Some(vec![1]));
    }
}
