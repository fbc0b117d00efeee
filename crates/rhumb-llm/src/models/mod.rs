//! Language models as facts: what each takes, costs and can do. No network here: a table goes in, a [`Model`] comes out.
//!
//! A [`Catalog`] lays what the user says over lists that were fetched, over the one that comes with the program, over what
//! models of such a name are mostly like. It always has an answer, and [`Model::known`] tells a fact from an assumption.
//! A [`Ledger`] enters what was spent; a price that is unknown stays visible there and is never counted as nothing.

mod alias;
mod catalog;
mod family;
mod ledger;
mod listing;
mod lists;
mod model;
mod name;
mod overrides;
mod price;
mod provider;
mod search;

pub use catalog::Catalog;
pub use ledger::{CapCheck, Ledger, Spend, estimate};
pub use listing::{Abilities, ListKind, Listing, ModelList};
pub use lists::{ListError, parse as parse_list};
pub use model::{Api, Caching, Capabilities, DEFAULT_WINDOW, Model, Reminder, Source, ThinkingControl};
pub use overrides::ModelOverride;
pub use price::{Dollars, LongPrices, Prices, Tokens};
