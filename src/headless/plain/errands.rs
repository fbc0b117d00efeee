//! What is under way outside: the next line is taken when it is done, so that a script of lines does what it would do if somebody
//! typed it and read each answer first.

use rhumb_session::{
    ConnectEffect, ConnectResponse, Effect, EffectKind, FetchEffect, FetchResponse, GitEffect, GitResponse,
    MentionEffect, MentionResponse, PersistenceEffect, PersistenceResponse, Response,
};

/// Something that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Errand {
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
pub(super) struct Errands {
    open: Vec<(Errand, EffectKind)>,
    /// The newest measurement that was ordered, and the newest that came.
    ordered: u64,
    measured: u64,
}

impl Errands {
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
                self.open.extend([Errand::Keys, Errand::LocalServers].map(|errand| (errand, effect.kind())));
            }
            Effect::Reread(paths) => self.open.extend(paths.iter().map(|_| (Errand::Reread, effect.kind()))),
            effect => self.open.extend(errand(effect).map(|errand| (errand, effect.kind()))),
        }
    }

    /// Takes note of what came.
    pub(super) fn ended(&mut self, report: &Response) {
        if let Response::Measured { generation, .. } = report {
            self.measured = self.measured.max(*generation);
        }
        let is_end = |(errand, kind): &(Errand, EffectKind)| match report {
            Response::Failed { effect, .. } => effect == kind,
            _ => ends(*errand, report),
        };
        if let Some(at) = self.open.iter().position(is_end) {
            self.open.remove(at);
        }
    }
}

fn errand(effect: &Effect) -> Option<Errand> {
    Some(match effect {
        Effect::Lookup(_) => Errand::Look,
        Effect::UseModel(_) | Effect::Connect { .. } => Errand::Model,
        Effect::FindServers => Errand::Servers,
        Effect::CopyPrompt(_) => Errand::Prompt,
        Effect::Git(GitEffect::Diff) => Errand::Diff,
        Effect::Persist(PersistenceEffect::Open(Some(_)) | PersistenceEffect::Resume { .. }) => Errand::Sessions,
        Effect::Persist(PersistenceEffect::Open(None)) => Errand::Opening,
        Effect::Persist(PersistenceEffect::List(_)) => Errand::List,
        Effect::Persist(PersistenceEffect::Write(_) | PersistenceEffect::Read(_)) => Errand::Text,
        Effect::Mention(MentionEffect::CountTokens { .. }) => Errand::Weigh,
        Effect::Fetch(FetchEffect::Picture { .. }) => Errand::Picture,
        Effect::Fetch(FetchEffect::Clipboard { .. }) => Errand::Clipboard,
        _ => return None,
    })
}

fn ends(errand: Errand, report: &Response) -> bool {
    use PersistenceResponse as Kept;
    match errand {
        Errand::Look => matches!(report, Response::LookedUp(_)),
        Errand::Model => {
            matches!(report, Response::Connected { .. } | Response::Connecting(ConnectResponse::KeyMissing { .. }))
        }
        Errand::Servers => matches!(report, Response::Servers(_)),
        Errand::Keys => matches!(report, Response::Connecting(ConnectResponse::Keys(_))),
        Errand::LocalServers => matches!(report, Response::Connecting(ConnectResponse::Servers(_))),
        Errand::Prompt => matches!(report, Response::PromptText(_)),
        Errand::Diff => matches!(report, Response::Git(GitResponse::Diff(_))),
        Errand::Sessions => {
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
        Errand::Opening => matches!(report, Response::Persisted(Kept::Opened(_) | Kept::Off(_))),
        Errand::List => matches!(report, Response::Persisted(Kept::Listed(..) | Kept::Failed(_) | Kept::Off(_))),
        Errand::Text => {
            matches!(
                report,
                Response::Persisted(Kept::Written { .. } | Kept::Exists(_) | Kept::Commands { .. } | Kept::Failed(_))
            )
        }
        Errand::Weigh => matches!(report, Response::Mention(MentionResponse::TokensCounted { .. })),
        Errand::Reread => matches!(report, Response::Reread { .. }),
        Errand::Picture => {
            matches!(report, Response::Fetched(FetchResponse::Picture(_) | FetchResponse::NotAnImage(_)))
        }
        Errand::Clipboard => matches!(report, Response::Fetched(FetchResponse::Clipboard { .. })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_session::Failure;

    #[test]
    fn what_was_asked_for_is_waited_for_until_it_comes_or_fails() {
        let mut errands = Errands::default();
        errands.began(&Effect::FindServers);
        errands.began(&Effect::Git(GitEffect::Diff));
        errands.ended(&Response::Git(GitResponse::Diff(Ok(String::new()))));
        assert!(errands.are_open());
        errands.ended(&Response::Servers(Vec::new()));
        assert!(!errands.are_open());
        errands.began(&Effect::UseModel("m".into()));
        errands.ended(&Response::Head("main".into()));
        assert!(errands.are_open());
        let failure = Failure { message: "no".into(), hint: String::new() };
        errands.ended(&Response::Failed { effect: EffectKind::UseModel, failure });
        assert!(!errands.are_open());
    }

    #[test]
    fn what_goes_on_by_itself_is_not_waited_for() {
        let mut errands = Errands::default();
        errands.began(&Effect::Survey);
        errands.began(&Effect::WatchFiles(true));
        assert!(!errands.are_open());
    }
}
