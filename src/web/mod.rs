//! Pages of the web, fetched because the developer asked for them.
//!
//! A page is the one thing that rhumb reads from a place that nobody vouches for. So the way there is narrow: http and https
//! alone; names are looked up here, and whatever does not lead to the open internet is asked about first, at every redirect
//! anew; the connection goes to the very address that was looked at; no key, no cookie and no password goes along; and size
//! and time are limited. What comes back is text, Markdown for HTML, or a picture.

mod address;
mod body;
mod charset;
mod error;
mod fetch;
mod markdown;
mod reach;
mod resolve;
mod tables;
mod tree;

#[cfg(test)]
mod tests;

pub use address::{page_url, shown_page_url};
pub use body::{Fetched, Page, Picture};
pub use error::WebError;
pub use fetch::{Limits, fetch_page};
pub use reach::{Reach, reach};
pub use resolve::NearHost;
