//! One case: a tree, a reply, and the tree that should come of it.

use std::collections::BTreeMap;

use rhumb_edit::{Files, FormatChoice};

/// Files by path.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// What is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expect {
    /// To apply all of it.
    Apply,
    /// To apply all of it or to refuse what is doubtful.
    Either,
    /// To refuse; the true hunks of the reply may be applied.
    Refuse,
    /// To do and say nothing: the reply has no edit.
    Nothing,
}

impl Expect {
    /// The stable name, as in `case.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Either => "either",
            Self::Refuse => "refuse",
            Self::Nothing => "nothing",
        }
    }

    /// The one of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Apply, Self::Either, Self::Refuse, Self::Nothing].into_iter().find(|expect| expect.name() == name)
    }
}

impl Case {
    /// The name of its format, `auto` where that is to be found out.
    pub fn format_name(&self) -> &'static str {
        match self.format {
            FormatChoice::Auto => "auto",
            FormatChoice::Only(format) => format.name(),
        }
    }
}

/// A reply and what should become of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Names it among the cases of a run.
    pub name: String,
    /// Where its text is from, for people.
    pub origin: String,
    /// The format that the reply is read in.
    pub format: FormatChoice,
    /// The names of its defects.
    pub defects: Vec<String>,
    /// What is right.
    pub expect: Expect,
    /// The files as they are.
    pub before: Tree,
    /// The files as they should be. Where refusing is right: with all that may be applied.
    pub after: Tree,
    /// The reply.
    pub reply: String,
}

/// The files of a case, as the edits see them.
pub(super) struct Shelf<'c> {
    pub(super) tree: &'c Tree,
    pub(super) root: &'c str,
}

impl Files for Shelf<'_> {
    fn paths(&self) -> Vec<String> {
        self.tree.keys().cloned().collect()
    }

    fn read(&self, path: &str) -> Result<Option<String>, String> {
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).map_err(|_| "it is not UTF-8".to_owned());
        self.tree.get(path).map(text).transpose()
    }

    fn in_chat(&self, _path: &str) -> bool {
        true
    }

    fn root(&self) -> Option<String> {
        Some(self.root.to_owned())
    }
}
