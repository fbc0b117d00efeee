//! What is under way outside: the next line is taken when it is done, so that a script of lines does what it would do if somebody
//! typed it and read each answer first.

use crate::session::{
    ConnectOrder, ConnectReport, Effect, FetchOrder, FetchReport, GitOrder, GitReport, KeepOrder, KeepReport,
    MentionOrder, MentionReport, Report,
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
    open: Vec<Errand>,
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
            Effect::Connecting(ConnectOrder::Search) => self.open.extend([Errand::Keys, Errand::LocalServers]),
            Effect::Reread(paths) => self.open.extend(paths.iter().map(|_| Errand::Reread)),
            effect => self.open.extend(errand(effect)),
        }
    }

    /// Takes note of what came.
    pub(super) fn ended(&mut self, report: &Report) {
        if let Report::Measured { generation, .. } = report {
            self.measured = self.measured.max(*generation);
        }
        if let Some(at) = self.open.iter().position(|errand| ends(*errand, report)) {
            self.open.remove(at);
        }
    }
}

fn errand(effect: &Effect) -> Option<Errand> {
    Some(match effect {
        Effect::Look(_) => Errand::Look,
        Effect::UseModel(_) | Effect::Connect { .. } => Errand::Model,
        Effect::FindServers => Errand::Servers,
        Effect::CopyPrompt(_) => Errand::Prompt,
        Effect::Git(GitOrder::Diff) => Errand::Diff,
        Effect::Keep(KeepOrder::Open(Some(_)) | KeepOrder::Resume { .. }) => Errand::Sessions,
        Effect::Keep(KeepOrder::Open(None)) => Errand::Opening,
        Effect::Keep(KeepOrder::List(_)) => Errand::List,
        Effect::Keep(KeepOrder::Write(_) | KeepOrder::Read(_)) => Errand::Text,
        Effect::Mention(MentionOrder::Weigh { .. }) => Errand::Weigh,
        Effect::Fetch(FetchOrder::Picture { .. }) => Errand::Picture,
        Effect::Fetch(FetchOrder::Clipboard { .. }) => Errand::Clipboard,
        _ => return None,
    })
}

fn ends(errand: Errand, report: &Report) -> bool {
    use KeepReport as Kept;
    match errand {
        Errand::Look => matches!(report, Report::Looked(_) | Report::Failed(_)),
        Errand::Model => {
            let is_missing = matches!(report, Report::Connecting(ConnectReport::KeyMissing { .. }));
            is_missing || matches!(report, Report::Connected { .. } | Report::Failed(_))
        }
        Errand::Servers => matches!(report, Report::Servers(_)),
        Errand::Keys => matches!(report, Report::Connecting(ConnectReport::Keys(_)) | Report::Failed(_)),
        Errand::LocalServers => matches!(report, Report::Connecting(ConnectReport::Servers(_))),
        Errand::Prompt => matches!(report, Report::PromptText(_) | Report::Failed(_)),
        Errand::Diff => matches!(report, Report::Git(GitReport::Diff(_))),
        Errand::Sessions => {
            let ends = |kept: &Kept| {
                matches!(
                    kept,
                    Kept::Resumed { .. } | Kept::Held { .. } | Kept::Failed(_) | Kept::Listed(..) | Kept::Unkept(_)
                )
            };
            matches!(report, Report::Kept(kept) if ends(kept))
        }
        Errand::Opening => matches!(report, Report::Kept(Kept::Opened(_) | Kept::Unkept(_))),
        Errand::List => matches!(report, Report::Kept(Kept::Listed(..) | Kept::Failed(_) | Kept::Unkept(_))),
        Errand::Text => {
            matches!(
                report,
                Report::Kept(Kept::Written { .. } | Kept::Exists(_) | Kept::Commands { .. } | Kept::Failed(_))
            )
        }
        Errand::Weigh => matches!(report, Report::Mention(MentionReport::Weighed { .. }) | Report::Failed(_)),
        Errand::Reread => matches!(report, Report::Reread { .. } | Report::Failed(_)),
        Errand::Picture => {
            matches!(report, Report::Fetched(FetchReport::Picture(_) | FetchReport::NoPicture(_)) | Report::Failed(_))
        }
        Errand::Clipboard => matches!(report, Report::Fetched(FetchReport::Clipboard { .. }) | Report::Failed(_)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Failure;

    #[test]
    fn what_was_asked_for_is_waited_for_until_it_comes_or_fails() {
        let mut errands = Errands::default();
        errands.began(&Effect::FindServers);
        errands.began(&Effect::Git(GitOrder::Diff));
        errands.ended(&Report::Git(GitReport::Diff(Ok(String::new()))));
        assert!(errands.are_open());
        errands.ended(&Report::Servers(Vec::new()));
        assert!(!errands.are_open());
        errands.began(&Effect::UseModel("m".into()));
        errands.ended(&Report::Head("main".into()));
        assert!(errands.are_open());
        errands.ended(&Report::Failed(Failure { message: "no".into(), hint: String::new() }));
        assert!(!errands.are_open());
    }

    #[test]
    fn what_goes_on_by_itself_is_not_waited_for() {
        let mut errands = Errands::default();
        errands.began(&Effect::Survey);
        errands.began(&Effect::Follow(true));
        assert!(!errands.are_open());
    }
}
