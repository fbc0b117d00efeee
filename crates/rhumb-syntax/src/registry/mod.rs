//! The table of languages, by family.

mod build;
mod functional;
mod hardware;
mod managed;
mod markup;
mod science;
mod scripting;
mod systems;
mod web;

use super::language::Language;

/// Every language, family by family.
static FAMILIES: [&[Language]; 9] = [
    build::LANGUAGES,
    functional::LANGUAGES,
    hardware::LANGUAGES,
    managed::LANGUAGES,
    markup::LANGUAGES,
    science::LANGUAGES,
    scripting::LANGUAGES,
    systems::LANGUAGES,
    web::LANGUAGES,
];

/// Every language of the table.
pub(super) fn languages() -> impl Iterator<Item = &'static Language> + Clone {
    FAMILIES.into_iter().flatten()
}
