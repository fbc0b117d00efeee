//! The table of defects that cases are made with.

mod layout;
mod lines;
mod storage;
mod unanswerable;
mod wrapping;

use fastrand::Rng;
use rhumb_edit::EditFormat::{self, Diff, Patch, Udiff, Whole};

use crate::edits::case::Expect;
use crate::edits::sketch::Sketch;

/// The part of a reply that a defect changes. Two defects of one layer exclude each other; lower layers are applied first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// How the file is stored.
    Storing,
    /// How the change is cut into blocks.
    Pieces,
    /// Which lines are quoted.
    Lines,
    /// How lines are spelt.
    Words,
    /// How lines are indented.
    Margin,
    /// How the file is named.
    Name,
    /// The text around the blocks.
    Wrapping,
    /// The reply must be refused. Not combined with each other.
    Hopeless,
}

/// Adds a defect to a sketch. Returns `false` if it does not fit the sketch, or if the result would be ambiguous.
pub(crate) type Inject = fn(&mut Sketch, &mut Rng) -> bool;

/// The names of all defects, in the order of the report.
pub fn defect_names() -> impl Iterator<Item = &'static str> {
    DEFECTS.iter().map(|defect| defect.name)
}

/// A kind of defect.
pub(crate) struct Defect {
    /// The name in reports and flags.
    pub(crate) name: &'static str,
    pub(crate) layer: Layer,
    /// The formats that can have it.
    pub(crate) formats: &'static [EditFormat],
    /// The expected result, unless the defect changes it for a case.
    pub(crate) expect: Expect,
    pub(crate) put: Inject,
}

const ALL: &[EditFormat] = &[Udiff, Diff, Whole, Patch];
const QUOTING: &[EditFormat] = &[Udiff, Diff, Patch];
const DIFFS: &[EditFormat] = &[Udiff, Patch];
const NAMED_ABOVE: &[EditFormat] = &[Diff, Whole];
const FENCED: &[EditFormat] = &[Udiff, Diff, Whole];

const fn defect(name: &'static str, layer: Layer, formats: &'static [EditFormat], put: Inject) -> Defect {
    let expect = if matches!(layer, Layer::Hopeless) { Expect::Refuse } else { Expect::Apply };
    Defect { name, layer, formats, expect, put }
}

impl Defect {
    /// The same defect, but a refusal is also correct.
    const fn or_refused(self) -> Self {
        Self { expect: Expect::Either, ..self }
    }
}

/// All defects, in the order of the report.
pub(crate) static DEFECTS: &[Defect] = &[
    defect("drop-comments", Layer::Lines, QUOTING, lines::drop_comments),
    defect("drop-blanks", Layer::Lines, QUOTING, lines::drop_blanks),
    defect("skip-code", Layer::Lines, QUOTING, lines::skip_code),
    defect("elide-dots", Layer::Lines, QUOTING, lines::elide_dots),
    defect("extra-blank", Layer::Lines, ALL, lines::extra_blank),
    defect("forget-plus", Layer::Words, DIFFS, lines::forget_plus),
    defect("typo-context", Layer::Words, QUOTING, lines::typo_in_context),
    defect("typo-removed", Layer::Words, QUOTING, lines::typo_in_removed),
    defect("typography", Layer::Words, QUOTING, lines::typography),
    defect("typography-in-file", Layer::Storing, QUOTING, lines::typography_in_file),
    defect("entities", Layer::Words, ALL, lines::entities).or_refused(),
    defect("trailing-space-lost", Layer::Storing, ALL, storage::trailing_space_lost),
    defect("dedent", Layer::Margin, QUOTING, layout::dedent),
    defect("indent", Layer::Margin, QUOTING, layout::indent),
    defect("tabs-as-spaces", Layer::Margin, QUOTING, layout::tabs_as_spaces),
    defect("spaces-as-tabs", Layer::Margin, QUOTING, layout::spaces_as_tabs),
    defect("jump", Layer::Pieces, DIFFS, layout::jump),
    defect("out-of-order", Layer::Pieces, QUOTING, layout::out_of_order),
    defect("sent-twice", Layer::Pieces, QUOTING, layout::sent_twice),
    defect("overlap-before", Layer::Pieces, QUOTING, layout::overlap_before),
    defect("overlap-after", Layer::Pieces, QUOTING, layout::overlap_after),
    defect("crlf", Layer::Storing, ALL, storage::crlf),
    defect("crlf-one-lf", Layer::Storing, ALL, storage::crlf_one_lf),
    defect("no-final-newline", Layer::Storing, ALL, storage::no_final_newline),
    defect("bom", Layer::Storing, ALL, storage::bom),
    defect("odd-character", Layer::Storing, ALL, storage::odd_character),
    defect("not-utf8", Layer::Storing, QUOTING, storage::not_utf8).or_refused(),
    defect("heading-like-divider", Layer::Storing, &[Diff], storage::heading_like_divider),
    defect("name-dot", Layer::Name, ALL, wrapping::name_dot),
    defect("name-ticks", Layer::Name, ALL, wrapping::name_ticks),
    defect("name-bold", Layer::Name, NAMED_ABOVE, wrapping::name_bold),
    defect("name-colon", Layer::Name, NAMED_ABOVE, wrapping::name_colon),
    defect("name-heading", Layer::Name, NAMED_ABOVE, wrapping::name_heading),
    defect("name-extra-dir", Layer::Name, ALL, wrapping::name_extra_dir),
    defect("name-last-part", Layer::Name, ALL, wrapping::name_last_part),
    defect("name-absolute", Layer::Name, ALL, wrapping::name_absolute),
    defect("name-foreign", Layer::Name, ALL, wrapping::name_foreign).or_refused(),
    defect("name-misspelt", Layer::Name, ALL, wrapping::name_misspelt).or_refused(),
    defect("name-of-another", Layer::Name, QUOTING, wrapping::name_of_another).or_refused(),
    defect("name-missing", Layer::Name, &[Udiff, Diff], wrapping::name_missing).or_refused(),
    defect("no-closing-fence", Layer::Wrapping, FENCED, wrapping::no_closing_fence),
    defect("other-language", Layer::Wrapping, FENCED, wrapping::other_language),
    defect("no-fence", Layer::Wrapping, &[Udiff, Diff], wrapping::no_fence),
    defect("other-fences", Layer::Wrapping, ALL, wrapping::other_fences),
    defect("bare-blanks", Layer::Wrapping, DIFFS, wrapping::bare_blanks),
    defect("crlf-reply", Layer::Wrapping, ALL, wrapping::crlf_reply),
    defect("ambiguous", Layer::Hopeless, QUOTING, unanswerable::ambiguous),
    defect("duplicate", Layer::Hopeless, QUOTING, unanswerable::duplicate),
    defect("stale", Layer::Hopeless, QUOTING, unanswerable::stale),
    defect("already-applied", Layer::Hopeless, ALL, unanswerable::already_applied),
    defect("invented-middle", Layer::Hopeless, QUOTING, unanswerable::invented_middle),
    defect("two-places", Layer::Hopeless, QUOTING, unanswerable::two_locations),
    defect("truncated", Layer::Hopeless, ALL, unanswerable::truncated),
    defect("whole-elided", Layer::Hopeless, &[Whole], unanswerable::whole_elided).or_refused(),
    defect("whole-fragment", Layer::Hopeless, &[Whole], unanswerable::whole_fragment).or_refused(),
    defect("outside-root", Layer::Hopeless, ALL, unanswerable::outside_root),
];
