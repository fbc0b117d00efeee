//! Languages of science, data and statistics.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[];
