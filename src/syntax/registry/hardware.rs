//! Languages of hardware, graphics cards and microcontrollers.

use super::super::language::Language;

pub(super) static LANGUAGES: &[Language] = &[];
