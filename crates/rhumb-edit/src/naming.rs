//! From the headings of a reply to files. The files come first: a line that is the name of one is that name, however
//! odd it looks. Only then do the looks of the line count.

use std::collections::BTreeMap;

use super::format::EditFormat;
use super::heading::{Heading, Shape};
use super::name;
use super::outcome::Refusal;
use super::reply::{Edit, ParsedReply};
use super::resolve::{self, PathIndex, Resolution};

/// What is known of the file of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// The path of a file that exists.
    File(String),
    /// A name as written, to be resolved.
    Written(String),
    /// A sentence mentions one file, and it stands under the title of another.
    Either {
        /// What the sentence mentions.
        said: String,
        /// What the title says.
        title: String,
        /// Whether no other edit stands under the title.
        is_own: bool,
    },
    /// The line above the edit may be a name, but of no file; or it names several.
    Unclear(String),
    /// The reply does not say.
    Nowhere,
}

/// What the headings of a reply name.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By the line itself.
    own: Vec<Named>,
    /// With the help of the earlier headings.
    carried: Vec<Named>,
    /// The headings that mention another file than the title above them.
    either: BTreeMap<usize, Named>,
}

impl Names {
    /// Looks all headings up. Headings refer to earlier ones only.
    pub(super) fn new(parsed: &ParsedReply, index: &PathIndex<'_>) -> Self {
        let headings = &parsed.headings;
        let mut names = Self::default();
        for (at, heading) in headings.iter().enumerate() {
            let earlier = heading.earlier.and_then(|at| names.carried.get(at)).cloned();
            let earlier = earlier.unwrap_or(Named::Nowhere);
            let own = own(heading, &earlier, index);
            if let (Shape::Prose, Named::Written(said), Some(title)) =
                (heading.shape, &own, title_of(heading, headings))
                && let Named::File(title_name) | Named::Written(title_name) = &earlier
                && title_name != said
            {
                let is_other = |edit: &&Edit| {
                    let own = edit.heading.filter(|own| *own != at);
                    let above = |own: usize| headings.get(own).and_then(|heading| heading.earlier);
                    own.is_some_and(|own| own == title || above(own) == Some(title))
                };
                let is_own = parsed.edits.iter().find(is_other).is_none();
                let (said, title) = (said.clone(), title_name.clone());
                names.either.insert(at, Named::Either { said, title, is_own });
            }
            let carried = if own == Named::Nowhere { earlier } else { own.clone() };
            names.own.push(own);
            names.carried.push(carried);
        }
        names
    }

    /// The file of the edit. A whole file never takes over the name of an earlier one.
    pub(super) fn of(&self, edit: &Edit) -> Named {
        let list = if edit.format == EditFormat::Whole { &self.own } else { &self.carried };
        match edit.heading {
            Some(at) if edit.format != EditFormat::Whole && self.either.contains_key(&at) => {
                self.either.get(&at).cloned().unwrap_or(Named::Nowhere)
            }
            Some(at) => list.get(at).cloned().unwrap_or(Named::Nowhere),
            None => edit.path.clone().map_or(Named::Nowhere, Named::Written),
        }
    }
}

/// The position of the line above a sentence, if that is a path alone on its line.
fn title_of(heading: &Heading, headings: &[Heading]) -> Option<usize> {
    heading.earlier.filter(|at| headings.get(*at).is_some_and(|title| title.shape == Shape::Path))
}

fn own(heading: &Heading, earlier: &Named, index: &PathIndex<'_>) -> Named {
    let exact = |reading: &&str| index.exact(reading);
    let readings = name::readings(&heading.line);
    // As in the header of a diff.
    let sided = |reading: &&str| ["a/", "b/"].iter().find_map(|side| index.exact(reading.strip_prefix(side)?));
    if let Some(path) = readings.iter().find_map(exact).or_else(|| readings.iter().find_map(sided)) {
        return Named::File(path);
    }
    let plain = name::undecorated(&heading.line);
    match heading.shape {
        Shape::Path if is_doubtful_path(&heading.line, plain, index) => Named::Unclear(heading.line.clone()),
        Shape::Path => heading.path.clone().map_or(Named::Nowhere, Named::Written),
        Shape::Prose => mentioned(heading, earlier, index),
        Shape::Doubtful => doubtful(heading, plain, index),
    }
}

/// `Pump class src/a.py`: no file, but its last word is one. It may be a sentence as well as a new name.
fn is_doubtful_path(line: &str, plain: &str, index: &PathIndex<'_>) -> bool {
    let last = plain.rsplit_once(char::is_whitespace).filter(|(head, _)| !head.contains('/'));
    !name::is_marked(line) && last.is_some_and(|(_, word)| index.exact(word).is_some())
}

/// The mentions that are files, or that could be nothing else.
fn meant<'a>(heading: &'a Heading, index: &PathIndex<'_>) -> Vec<&'a String> {
    let sure = |mention: &&String| index.exact(mention).is_some() || heading.is_file(mention);
    heading.mentions.iter().filter(sure).collect()
}

fn mentioned(heading: &Heading, earlier: &Named, index: &PathIndex<'_>) -> Named {
    // A word of a name with spaces may well be a name too.
    match index.spaced_in(&heading.line).as_slice() {
        [] => {}
        [only] => return Named::File(only.clone()),
        _ => return Named::Unclear(heading.line.clone()),
    }
    let meant = meant(heading, index);
    match meant.as_slice() {
        [] => Named::Nowhere,
        [only] => Named::Written((*only).clone()),
        several => {
            let same = |mention: &&String| match earlier {
                Named::File(path) | Named::Written(path) => {
                    path == *mention || index.exact(mention).as_ref() == Some(path)
                }
                Named::Unclear(_) | Named::Nowhere | Named::Either { .. } => true,
            };
            if several.iter().any(same) { Named::Nowhere } else { Named::Unclear(heading.line.clone()) }
        }
    }
}

fn doubtful(heading: &Heading, plain: &str, index: &PathIndex<'_>) -> Named {
    if !plain.contains(char::is_whitespace)
        && matches!(index.resolve(plain), Ok(Resolution::Guessed(_) | Resolution::Several(_)))
    {
        return Named::Written(plain.to_owned());
    }
    if let [only] = index.spaced_in(&heading.line).as_slice() {
        return Named::File(only.clone());
    }
    let mut files = heading.mentions.iter().filter_map(|mention| index.exact(mention));
    match (files.next(), files.next()) {
        (Some(only), None) if meant(heading, index).len() == 1 => Named::File(only),
        _ => Named::Unclear(heading.line.clone()),
    }
}

/// The refusal of an edit under a line that names no file.
pub(super) fn unclear(line: &str, index: &PathIndex<'_>) -> Refusal {
    if line.trim().is_empty() {
        return Refusal::new("no file name: put the path on the line above the edit");
    }
    let plain = name::undecorated(line);
    let shown: String = line.trim().chars().take(120).collect();
    let mut reason = format!(
        "which file? `{shown}` stands where the file name should, and there is no such file; put the path alone on the \
         line above the edit"
    );
    if !plain.contains(char::is_whitespace) && !plain.contains('/') {
        reason.push_str(&format!(", a new file as `./{plain}`"));
    }
    resolve::refusal(&reason, &index.near(plain))
}

/// Decides on the fences that are whole files only if what stands above them names one: all the edits that count, in
/// the order of the reply, with their names.
pub(super) fn edits_of<'a>(
    edits: &'a [Edit],
    fences: &'a [Edit],
    names: &Names,
    index: &PathIndex<'_>,
) -> Vec<(&'a Edit, Named)> {
    let mut all: Vec<(&Edit, Named)> = edits.iter().map(|edit| (edit, names.of(edit))).collect();
    let other = |edit: &&Edit| edit.format != EditFormat::Whole;
    let located: Vec<String> = edits.iter().filter(other).filter_map(|edit| path_of(&names.of(edit), index)).collect();
    let only_whole = !edits.is_empty() && !edits.iter().any(|edit| other(&edit));
    for fence in fences {
        let name = names.of(fence);
        let counts = match &name {
            // A fence under the name of a file that is edited otherwise only illustrates.
            Named::File(path) => !located.contains(path),
            Named::Unclear(_) => only_whole,
            // A sentence may mention a file; the fence below it is usually an example.
            Named::Written(_) | Named::Either { .. } | Named::Nowhere => false,
        };
        if counts {
            all.push((fence, name));
        }
    }
    all.sort_by_key(|(edit, _)| edit.reply_lines.0);
    all
}

fn path_of(name: &Named, index: &PathIndex<'_>) -> Option<String> {
    match name {
        Named::File(path) => Some(path.clone()),
        Named::Written(written) => match index.resolve(written) {
            Ok(Resolution::Exact(path) | Resolution::Guessed(path)) => Some(path),
            _ => None,
        },
        Named::Unclear(_) | Named::Either { .. } | Named::Nowhere => None,
    }
}
