//! Documents, data and style: what has sections and keys more than functions.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[];
