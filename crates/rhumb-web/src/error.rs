//! Errors of fetching pages.

use super::resolve::NonPublicHost;

/// Errors of fetching a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// The text is not the URL of a page.
    #[error("{url:?} is not fetched: {reason}")]
    InvalidUrl {
        /// The address, without password.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The URL or a redirect leads to a host that is not on the public internet and is not allowed.
    #[error("{url} leads to {}", .host.description())]
    NonPublic {
        /// The address of this request.
        url: String,
        /// The host.
        host: NonPublicHost,
    },
    /// The host name cannot be resolved.
    #[error("{host} was not found: {cause}")]
    Unresolved {
        /// The host name.
        host: String,
        /// The error of the system.
        cause: String,
    },
    /// The connection failed.
    #[error("cannot connect to {url}: {cause}")]
    Connect {
        /// The address.
        url: String,
        /// The innermost cause.
        cause: String,
    },
    /// The server answered with an error status.
    #[error("{url} answers with status {status}")]
    Status {
        /// The address.
        url: String,
        /// HTTP status.
        status: u16,
    },
    /// There are too many redirects.
    #[error("{url} has more than {limit} redirects")]
    Redirects {
        /// The first address.
        url: String,
        /// The maximum number of redirects.
        limit: usize,
    },
    /// A redirect has an invalid target.
    #[error("{url} redirects to something that is not fetched: {reason}")]
    BadRedirect {
        /// The address with the redirect.
        url: String,
        /// The reason.
        reason: String,
    },
    /// A redirect leads from https to http.
    #[error("{url} redirects from https to {to}, which is unencrypted")]
    Downgrade {
        /// The address with the redirect.
        url: String,
        /// The target.
        to: String,
    },
    /// The connection was lost.
    #[error("the connection to {url} broke: {cause}")]
    Broken {
        /// The address.
        url: String,
        /// The innermost cause.
        cause: String,
    },
    /// The page is too large.
    #[error("{url} is larger than {} MB", .limit / 1_000_000)]
    TooLarge {
        /// The address.
        url: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// The request timed out.
    #[error("{url} {}", if *.silent { format!("sent nothing for {seconds} s") } else { format!("took longer than {seconds} s") })]
    Timeout {
        /// The address.
        url: String,
        /// The time limit in seconds.
        seconds: u64,
        /// Whether no data arrived in that time.
        silent: bool,
    },
    /// The page is neither a text nor an image.
    #[error("{url} is not a text: {kind}")]
    NotText {
        /// The address.
        url: String,
        /// The content type.
        kind: String,
    },
    /// The page has no text.
    #[error("there is no text at {url}")]
    Empty {
        /// The address.
        url: String,
    },
    /// The page could not be converted to Markdown.
    #[error("the page at {url} cannot be read: {reason}")]
    Unreadable {
        /// The address.
        url: String,
        /// The reason.
        reason: String,
    },
}

impl WebError {
    /// What to do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::InvalidUrl { .. } => "Give an address like https://example.com/page.",
            Self::NonPublic { .. } => "/web asks before it reads from there.",
            Self::Unresolved { .. } => "Check the name and the network.",
            Self::Connect { .. } | Self::Broken { .. } => "Check the address and the network, then try again.",
            Self::Status { status: 401 | 403, .. } => {
                "It needs a login or refuses programs: open it in a browser and paste the text."
            }
            Self::Status { .. } => "Check the address, or try again later.",
            Self::Redirects { .. } | Self::BadRedirect { .. } => {
                "Open it in a browser and copy the address from there."
            }
            Self::Downgrade { .. } => "To fetch it anyway, name that address yourself.",
            Self::TooLarge { .. } => "Save it as a file of the repository and add that, or name a smaller page.",
            Self::Timeout { .. } => "Try again later.",
            Self::NotText { .. } => "Turn it into text and add that as a file.",
            Self::Empty { .. } => "A page that a script builds has none: open it in a browser and paste the text.",
            Self::Unreadable { .. } => "Open it in a browser and paste the text.",
        }
    }
}
