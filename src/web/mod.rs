//! Fetches web pages that the user requested.
//!
//! Web pages are untrusted, so access is restricted: only http and https; names are resolved here, and a target outside of the
//! public internet needs an approval, also at every redirect; the connection is made to the checked address; no key, cookie or
//! password is sent; size and time are limited. The result is a text, Markdown for HTML, or an image.

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
