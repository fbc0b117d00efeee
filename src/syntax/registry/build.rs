//! Build files, infrastructure and interface definitions.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[];
