//! What is under way outside: the next line is taken when it is done, so that a script of lines does what it would do if somebody
//! typed it and read each answer first.

use rhumb_session::{
    ConnectEffect, ConnectResponse, Effect, FetchEffect, FetchResponse, GitEffect, GitResponse, MentionEffect,
    MentionResponse, PersistenceEffect, PersistenceResponse, Response,
};

/// Something that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PendingRequest {
    Look,
    Model,
    Servers,
    Keys,
    LocalServers,
    Prompt,
    Diff,
    Sessions,
    Opening,
    List,
    Text,
    Weigh,
    Reread,
    Picture,
    Clipboard,
}

/// What was asked for and has not come yet.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    open: Vec<PendingRequest>,
    /// The newest measurement that was ordered, and the newest that came.
    ordered: u64,
    measured: u64,
}

impl PendingRequests {
    /// Whether something is still to come.
    pub(super) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether what the next request is made of is known as it is now.
    pub(super) fn has_measured(&self) -> bool {
        self.measured >= self.ordered
    }

    /// Waits for none of it any more.
    pub(super) fn forget(&mut self) {
        self.open.clear();
    }

    /// Takes note of what is asked for.
    pub(super) fn began(&mut self, effect: &Effect) {
        match effect {
            Effect::Measure(order) => self.ordered = order.generation,
            Effect::Connecting(ConnectEffect::Search) => {
                self.open.extend([PendingRequest::Keys, PendingRequest::LocalServers])
            }
            Effect::Reread(paths) => self.open.extend(paths.iter().map(|_| PendingRequest::Reread)),
            effect => self.open.extend(pending_request(effect)),
        }
    }

    /// Takes note of what came.
    pub(super) fn ended(&mut self, report: &Response) {
        if let Response::Measured { generation, .. } = report {
            self.measured = self.measured.max(*generation);
        }
        if let Some(at) = self.open.iter().position(|request| ends(*request, report)) {
            self.open.remove(at);
        }
    }
}

fn pending_request(effect: &Effect) -> Option<PendingRequest> {
    Some(match effect {
        Effect::Lookup(_) => PendingRequest::Look,
        Effect::UseModel(_) | Effect::Connect { .. } => PendingRequest::Model,
        Effect::FindServers => PendingRequest::Servers,
        Effect::CopyPrompt(_) => PendingRequest::Prompt,
        Effect::Git(GitEffect::Diff) => PendingRequest::Diff,
        Effect::Persist(PersistenceEffect::Open(Some(_)) | PersistenceEffect::Resume { .. }) => {
            PendingRequest::Sessions
        }
        Effect::Persist(PersistenceEffect::Open(None)) => PendingRequest::Opening,
        Effect::Persist(PersistenceEffect::List(_)) => PendingRequest::List,
        Effect::Persist(PersistenceEffect::Write(_) | PersistenceEffect::Read(_)) => PendingRequest::Text,
        Effect::Mention(MentionEffect::Weigh { .. }) => PendingRequest::Weigh,
        Effect::Fetch(FetchEffect::Image { .. }) => PendingRequest::Picture,
        Effect::Fetch(FetchEffect::Clipboard { .. }) => PendingRequest::Clipboard,
        _ => return None,
    })
}

fn ends(request: PendingRequest, report: &Response) -> bool {
    use PersistenceResponse as Kept;
    match request {
        PendingRequest::Look => matches!(report, Response::LookedUp(_) | Response::Failed(_)),
        PendingRequest::Model => {
            let is_missing = matches!(report, Response::Connecting(ConnectResponse::KeyMissing { .. }));
            is_missing || matches!(report, Response::Connected { .. } | Response::Failed(_))
        }
        PendingRequest::Servers => matches!(report, Response::Servers(_)),
        PendingRequest::Keys => matches!(report, Response::Connecting(ConnectResponse::Keys(_)) | Response::Failed(_)),
        PendingRequest::LocalServers => matches!(report, Response::Connecting(ConnectResponse::Servers(_))),
        PendingRequest::Prompt => matches!(report, Response::PromptText(_) | Response::Failed(_)),
        PendingRequest::Diff => matches!(report, Response::Git(GitResponse::Diff(_))),
        PendingRequest::Sessions => {
            let ends = |kept: &Kept| {
                matches!(
                    kept,
                    Kept::Resumed { .. }
                        | Kept::OpenElsewhere { .. }
                        | Kept::Failed(_)
                        | Kept::Listed(..)
                        | Kept::Off(_)
                )
            };
            matches!(report, Response::Persisted(kept) if ends(kept))
        }
        PendingRequest::Opening => matches!(report, Response::Persisted(Kept::Opened(_) | Kept::Off(_))),
        PendingRequest::List => {
            matches!(report, Response::Persisted(Kept::Listed(..) | Kept::Failed(_) | Kept::Off(_)))
        }
        PendingRequest::Text => {
            matches!(
                report,
                Response::Persisted(Kept::Written { .. } | Kept::Exists(_) | Kept::Commands { .. } | Kept::Failed(_))
            )
        }
        PendingRequest::Weigh => {
            matches!(report, Response::Mention(MentionResponse::Weighed { .. }) | Response::Failed(_))
        }
        PendingRequest::Reread => matches!(report, Response::Reread { .. } | Response::Failed(_)),
        PendingRequest::Picture => {
            matches!(
                report,
                Response::Fetched(FetchResponse::Image(_) | FetchResponse::NotAnImage(_)) | Response::Failed(_)
            )
        }
        PendingRequest::Clipboard => {
            matches!(report, Response::Fetched(FetchResponse::Clipboard { .. }) | Response::Failed(_))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_session::Failure;

    #[test]
    fn what_was_asked_for_is_waited_for_until_it_comes_or_fails() {
        let mut pending = PendingRequests::default();
        pending.began(&Effect::FindServers);
        pending.began(&Effect::Git(GitEffect::Diff));
        pending.ended(&Response::Git(GitResponse::Diff(Ok(String::new()))));
        assert!(pending.are_open());
        pending.ended(&Response::Servers(Vec::new()));
        assert!(!pending.are_open());
        pending.began(&Effect::UseModel("m".into()));
        pending.ended(&Response::Head("main".into()));
        assert!(pending.are_open());
        pending.ended(&Response::Failed(Failure { message: "no".into(), hint: String::new() }));
        assert!(!pending.are_open());
    }

    #[test]
    fn what_goes_on_by_itself_is_not_waited_for() {
        let mut pending = PendingRequests::default();
        pending.began(&Effect::Survey);
        pending.began(&Effect::Follow(true));
        assert!(!pending.are_open());
    }
}
