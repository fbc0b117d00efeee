//! Fetches web pages that a user names, as Markdown or as an image.
//!
//! A page may be hostile, so access is restricted. Only http and https are used. The crate resolves host names itself and connects to the
//! address that it checked. An address outside of the public internet requires an approval, also after a redirect. No key, cookie or
//! password is sent. Size and time are limited ([`Limits`]).
//!
//! ```
//! assert_eq!(rhumb_web::page_url("docs.rs/tokio")?.as_str(), "https://docs.rs/tokio");
//! assert!(rhumb_web::page_url("ftp://example.com").is_err());
//! # Ok::<(), rhumb_web::WebError>(())
//! ```
//!
//! [`fetch_page`] needs a tokio runtime. Scripts are not run, so a page that a script builds has no text.

mod address;
mod body;
mod error;
mod fetch;
mod markdown;
mod resolve;
mod tree;

#[cfg(test)]
mod tests;

pub use address::{page_url, shown_page_url};
pub use body::{Fetched, Image, Page};
pub use error::WebError;
pub use fetch::{Limits, fetch_page};
pub use resolve::{AddressScope, NonPublicHost, address_scope};
