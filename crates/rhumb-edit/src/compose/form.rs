//! Canonical forms of lines, each with a number: lines of one form are compared once, however often they occur.

use std::cell::{Ref, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::locate::canon::{self, Probe, Traits};

/// Lengths of characters by class, to tell strangers without comparing them.
const CLASSES: usize = 32;

/// The forms that occur in a file under edit. Numbers only grow, so that they stay good while edits add lines.
#[derive(Debug, Default)]
pub(crate) struct Forms(RefCell<Known>);

#[derive(Debug, Default)]
struct Known {
    numbers: HashMap<Rc<str>, u32>,
    texts: Vec<Rc<str>>,
    traits: Vec<Traits>,
    bags: Vec<Bag>,
}

/// How many characters of each class a text has, and how many in all.
#[derive(Debug, Clone, Copy)]
struct Bag {
    counts: [u8; CLASSES],
    chars: u32,
}

impl Forms {
    /// The number of the form of a line, a new one if need be.
    pub(crate) fn number(&self, line: &str) -> u32 {
        let text = canon::canon(line);
        let mut known = self.0.borrow_mut();
        if let Some(number) = known.numbers.get(&*text) {
            return *number;
        }
        let number = u32::try_from(known.texts.len()).unwrap_or(u32::MAX);
        let text: Rc<str> = Rc::from(&*text);
        known.traits.push(Traits::of(&text));
        known.bags.push(Bag::of(&text));
        known.texts.push(Rc::clone(&text));
        known.numbers.insert(text, number);
        number
    }

    /// The number of a form that is known.
    pub(crate) fn find(&self, canonical: &str) -> Option<u32> {
        self.0.borrow().numbers.get(canonical).copied()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().texts.len()
    }

    /// The text of a form.
    pub(crate) fn text(&self, number: u32) -> Rc<str> {
        self.0.borrow().texts.get(number as usize).cloned().unwrap_or_default()
    }

    /// What the forms are, by number.
    pub(crate) fn traits(&self) -> Ref<'_, [Traits]> {
        Ref::map(self.0.borrow(), |known| known.traits.as_slice())
    }

    /// Those of `numbers` whose forms are at least so much like `wanted`, with their likeness. Looks closely at `budget` of them
    /// at most.
    pub(crate) fn like(&self, wanted: &str, least: f32, numbers: &[u32], budget: &mut usize) -> Vec<(u32, f32)> {
        let (probe, bag) = (Probe::new(wanted), Bag::of(wanted));
        let known = self.0.borrow();
        let near = |number: &&u32| known.bags.get(**number as usize).is_some_and(|other| bag.may_be_like(other, least));
        let mut found = Vec::new();
        for &number in numbers.iter().filter(near) {
            if *budget == 0 {
                break;
            }
            *budget -= 1;
            let text = known.texts.get(number as usize).map_or("", |text| text);
            found.extend(probe.likeness(text, least).map(|likeness| (number, likeness)));
        }
        found
    }
}

impl Bag {
    fn of(text: &str) -> Self {
        let mut bag = Self { counts: [0; CLASSES], chars: 0 };
        for c in text.chars() {
            bag.chars = bag.chars.saturating_add(1);
            if let Some(count) = bag.counts.get_mut(c as usize & (CLASSES - 1)) {
                *count = count.saturating_add(1);
            }
        }
        bag
    }

    /// Whether texts of these bags can be so alike: what they have in common is at most what is in both bags.
    fn may_be_like(&self, other: &Self, least: f32) -> bool {
        let total = (self.chars + other.chars) as f32;
        let allowed = (1.0 - least) * total;
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
        let found = forms.like("return self.reading.values()", 0.75, &[0, 1, 2], &mut 100);
        assert_eq!(found.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0]);
    }

    proptest! {
        #[test]
        fn a_bag_never_hides_what_is_alike(a in "[a-f ]{1,12}", b in "[a-f ]{1,12}", least in 0.5f32..0.95) {
            let alike = Probe::new(&a).likeness(&b, least).is_some();
            prop_assert!(!alike || Bag::of(&a).may_be_like(&Bag::of(&b), least));
        }
    }
}
