//! Why a page did not come, in words.

use super::resolve::NearHost;

/// A page could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// The address is none of a page.
    #[error("{url:?} is not fetched: {reason}")]
    NotAnAddress {
        /// The address, without a password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The way leads to a machine that is not on the open internet, which nobody has allowed yet.
    #[error("{url} leads to {}", .host.place())]
    Near {
        /// The address of this step.
        url: String,
        /// The machine.
        host: NearHost,
    },
    /// The name has no address.
    #[error("{host} was not found: {cause}")]
    Unresolved {
        /// The name.
        host: String,
        /// What the system says.
        cause: String,
    },
    /// Nobody answers there.
    #[error("cannot connect to {url}: {cause}")]
    Connect {
        /// The address.
        url: String,
        /// The innermost cause.
        cause: String,
    },
    /// The server says no.
    #[error("{url} answers with status {status}")]
    Status {
        /// The address.
        url: String,
        /// HTTP status.
        status: u16,
    },
    /// One page sends to the next for too long.
    #[error("{url} leads on and on: more than {limit} redirects")]
    Redirects {
        /// The address at the beginning.
        url: String,
        /// How many are followed.
        limit: usize,
    },
    /// A redirect leads nowhere.
    #[error("{url} leads on to something that is not fetched: {reason}")]
    BadRedirect {
        /// The address that sends on.
        url: String,
        /// What is wrong with where it sends.
        reason: String,
    },
    /// A redirect gives the encryption up.
    #[error("{url} leads from https to {to}, unencrypted")]
    Downgrade {
        /// The address that sends on.
        url: String,
        /// Where it sends.
        to: String,
    },
    /// The connection broke in the middle.
    #[error("the connection to {url} broke: {cause}")]
    Broken {
        /// The address.
        url: String,
        /// The innermost cause.
        cause: String,
    },
    /// It is larger than is read.
    #[error("{url} is larger than {} MB", .limit / 1_000_000)]
    TooLarge {
        /// The address.
        url: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// It took too long.
    #[error("{url} {}", if *.silent { format!("sent nothing for {seconds} s") } else { format!("took longer than {seconds} s") })]
    Late {
        /// The address.
        url: String,
        /// Seconds that were waited.
        seconds: u64,
        /// Nothing came at all in that time.
        silent: bool,
    },
    /// It is neither a text nor a picture.
    #[error("{url} is no text: {kind}")]
    NotText {
        /// The address.
        url: String,
        /// What it is.
        kind: String,
    },
    /// It holds no text.
    #[error("there is no text at {url}")]
    Empty {
        /// The address.
        url: String,
    },
    /// It could not be turned into Markdown.
    #[error("the page at {url} cannot be read: {reason}")]
    Unreadable {
        /// The address.
        url: String,
        /// Why.
        reason: String,
    },
}

impl WebError {
    /// What to do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotAnAddress { .. } => "Give an address like https://example.com/page.",
            Self::Near { .. } => "/web asks before it reads from there.",
            Self::Unresolved { .. } => "Check the name and the network.",
            Self::Connect { .. } | Self::Broken { .. } => "Check the address and the network, then try again.",
            Self::Status { status: 401 | 403, .. } => {
                "It wants a login, or no visits by programs: open it in a browser and paste the text."
            }
            Self::Status { .. } => "Check the address, or try again later.",
            Self::Redirects { .. } | Self::BadRedirect { .. } => {
                "Open it in a browser and take the address from there."
            }
            Self::Downgrade { .. } => "If that is all right, ask for that address yourself.",
            Self::TooLarge { .. } => "Save it as a file of the repository and add that, or name a smaller page.",
            Self::Late { .. } => "Try again later.",
            Self::NotText { .. } => "Turn it into text and add that as a file.",
            Self::Empty { .. } => "Pages that are made by a script have none: open it in a browser and paste the text.",
            Self::Unreadable { .. } => "Open it in a browser and paste the text.",
        }
    }
}
