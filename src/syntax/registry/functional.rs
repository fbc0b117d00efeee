//! Functional languages and Lisps.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[];
