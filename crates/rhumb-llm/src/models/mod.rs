//! What is known about language models: limits, prices and capabilities.
//!
//! [`Catalog::find`] returns a [`Model`] for any name. It combines, strongest first: the user's settings, public lists
//! that were fetched, the list that is part of the crate, the defaults of the model's family, and general defaults.
//! [`Model::known`] tells whether the limits are facts or assumptions.
//!
//! A [`Ledger`] records what requests cost. Requests of unknown price are counted separately and never as free.
//!
//! The module is pure: it uses no network and no files.

mod catalog;
mod cost;
mod family;
mod lists;
mod model;
mod name;

pub use catalog::Catalog;
pub use cost::{CapCheck, Dollars, Ledger, LongPrices, Prices, Spend, Tokens, estimate};
pub use lists::{ListError, ListKind, ListedCapabilities, Listing, ModelList, parse as parse_list};
pub use model::{Api, Caching, Capabilities, DEFAULT_WINDOW, Model, ModelOverride, Reminder, Source, ThinkingControl};
