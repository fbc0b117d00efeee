//! What is done about files that a text names: they are offered, or added without a question.
//!
//! An offer holds nothing up. The files that a draft names are offered while it is typed, so that they can be added before it is sent.
//! After that the offer stays, and a file that is added goes along with the next request.

use super::{MAX_ADDED, NamedFile, RequestedFiles, listed};
use crate::context::{Mode, prose};
use crate::effect::Effect;
use crate::modes::MentionPolicy;
use crate::modes::architect::Plan;
use crate::question::{Choice, Question, Subject};
use crate::state::Session;
use crate::transcript::Entry;
use crate::turn::Turn;
use rhumb_text::{count, rounded};

/// Files that a title names; the text of the question names all.
const MAX_IN_TITLE: usize = 2;

impl Session {
    /// The draft was measured: the files that it names are offered.
    pub(crate) fn offer_drafted(&mut self) -> Vec<Effect> {
        let asks =
            self.modes.rules().mentions == MentionPolicy::Ask && !matches!(self.composing(), Mode::Help | Mode::Editor);
        let files =
            if asks { self.files_mentioned(&self.without_ats(self.drafts.message()), true) } else { Vec::new() };
        self.modes.waiting_mut().drafted = files;
        self.offer_mentioned()
    }

    /// A message goes out: the files that it names are added or offered, as the settings say.
    pub(crate) fn take_mentioned(&mut self, message: &str, mode: Mode) -> Vec<Effect> {
        self.modes.waiting_mut().drafted.clear();
        self.modes.waiting_mut().mentioned.clear();
        let mut effects = Vec::new();
        if mode != Mode::Help && self.modes.rules().mentions != MentionPolicy::Ignore {
            let files = self.files_mentioned(&self.without_ats(message), true);
            if self.modes.rules().mentions == MentionPolicy::Add && files.len() <= MAX_ADDED {
                effects = self.add_named_files(&files, false);
            } else {
                self.modes.waiting_mut().mentioned = files;
            }
        }
        effects.extend(self.offer_mentioned());
        effects
    }

    /// Brings the offer up to date: the files of the last message, and of the draft, that are not in the chat.
    fn offer_mentioned(&mut self) -> Vec<Effect> {
        let mut files: Vec<NamedFile> = Vec::new();
        for file in self.modes.waiting().mentioned.iter().chain(&self.modes.waiting().drafted) {
            let is_open = !self.is_in_chat(&file.path) && !self.modes.waiting().declined.contains(&file.path);
            if is_open && files.iter().all(|known| known.path != file.path) {
                files.push(file.clone());
            }
        }
        let subject = Subject::Mentioned { files };
        let is_asked = self.questions.iter().any(|question| question.subject == subject)
            || self.modes.waiting().weighing.iter().any(|(_, waiting)| *waiting == subject);
        if is_asked {
            return Vec::new();
        }
        self.questions.withdraw(|subject| matches!(subject, Subject::Mentioned { .. }));
        self.modes.waiting_mut().weighing.retain(|(_, waiting)| !matches!(waiting, Subject::Mentioned { .. }));
        if subject == (Subject::Mentioned { files: Vec::new() }) { Vec::new() } else { self.weigh(subject) }
    }

    /// The files that the conversation before named are not offered any more.
    pub(crate) fn forget_mentioned(&mut self) {
        self.modes.waiting_mut().mentioned.clear();
        self.questions.withdraw(|subject| matches!(subject, Subject::Mentioned { .. }));
        self.modes.waiting_mut().weighing.retain(|(_, waiting)| !matches!(waiting, Subject::Mentioned { .. }));
    }

    pub(super) fn ask_about_mentioned(&mut self, files: Vec<NamedFile>, tokens: &[(String, Option<usize>)]) {
        let text = format!(
            "{}\n\nOf a file that is not in the chat the model sees only what the repo map shows. A file that you add goes along with \
             the next message that you send.",
            described(&files, tokens)
        );
        self.question(Question {
            title: title("Your message", &files, tokens),
            text,
            choices: vec![
                Choice::new('y', if files.len() == 1 { "add it" } else { "add them" }),
                Choice::new('r', "add read-only"),
                Choice::new('n', "no"),
            ],
            subject: Subject::Mentioned { files },
        });
    }

    /// Takes the answer to the offer of the files that a message names.
    pub(crate) fn answer_mentioned(&mut self, key: char, files: &[NamedFile]) -> Vec<Effect> {
        if matches!(key, 'y' | 'r') {
            return self.add_named_files(files, key == 'r');
        }
        self.decline(files);
        Vec::new()
    }

    /// Files are not offered any more in this session.
    fn decline(&mut self, files: &[NamedFile]) {
        self.modes.waiting_mut().declined.extend(files.iter().map(|file| file.path.clone()));
    }

    fn add_named_files(&mut self, files: &[NamedFile], read_only: bool) -> Vec<Effect> {
        let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
        if paths.is_empty() { Vec::new() } else { self.add_named(&paths, read_only) }
    }

    /// Offers the files that an answer names, or adds them. `None` where there is nothing to decide.
    pub(crate) fn offer_wanted(&mut self, reply: &str, turn: &Turn, plan: Option<Plan>) -> Option<Vec<Effect>> {
        if self.modes.rules().mentions == MentionPolicy::Ignore {
            return None;
        }
        // A model that wants something it does not see names it and stops; one that edits only tells of what it knows.
        let with_symbols = turn.edits.is_empty() && turn.mode != Mode::Ask;
        let edited: Vec<&str> = turn.edits.iter().filter_map(|edit| edit.path.as_deref()).collect();
        let mut files = self.files_mentioned(&prose(reply), with_symbols);
        files.retain(|file| !edited.contains(&file.path.as_str()));
        if files.is_empty() {
            return None;
        }
        if self.modes.rules().mentions == MentionPolicy::Add && files.len() <= MAX_ADDED {
            let effects = self.add_named_files(&files, false);
            return match plan {
                Some(plan) => Some([effects, self.offer_plan(plan)].concat()),
                None => Some(effects),
            };
        }
        // What the message named as well is offered once.
        self.modes.waiting_mut().mentioned.retain(|known| files.iter().all(|file| file.path != known.path));
        let mut effects = self.offer_mentioned();
        let wanted = RequestedFiles { files, mode: turn.mode, request: turn.request.clone(), plan };
        effects.extend(self.weigh(Subject::RequestedFiles(wanted)));
        Some(effects)
    }

    pub(super) fn ask_about_wanted(&mut self, wanted: RequestedFiles, tokens: &[(String, Option<usize>)]) {
        let mut choices = vec![Choice::new('y', if wanted.files.len() == 1 { "add it" } else { "add them" })];
        if wanted.plan.is_none() {
            choices.push(Choice::new('s', "add and go on"));
        }
        choices.push(Choice::new('n', "no"));
        let what = if wanted.plan.is_some() { "The plan" } else { "The answer" };
        self.question(Question {
            title: title(what, &wanted.files, tokens),
            text: described(&wanted.files, tokens),
            subject: Subject::RequestedFiles(wanted),
            choices,
        });
    }

    /// Takes the answer to the offer of the files that an answer names. A review of the same answer stays as it is.
    pub(crate) fn answer_wanted(&mut self, key: char, question: Question, wanted: RequestedFiles) -> Vec<Effect> {
        if key == 's' && self.is_answering() {
            self.questions.push_front(question);
            return Vec::new();
        }
        let RequestedFiles { files, mode, request, plan } = wanted;
        let mut effects = Vec::new();
        match key {
            'y' | 's' => effects.extend(self.add_named_files(&files, false)),
            _ => self.decline(&files),
        }
        if key == 's' {
            effects.extend(self.go_on_with(&files, mode, request));
        }
        if let Some(plan) = plan {
            effects.extend(self.offer_plan(plan));
        }
        effects
    }

    /// Tells the model that the files it named are there.
    fn go_on_with(&mut self, files: &[NamedFile], mode: Mode, request: String) -> Vec<Effect> {
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let text = match paths.as_slice() {
            [file] => format!("{file} is in the chat now. Go on."),
            files => format!("These files are in the chat now: {}. Go on.", files.join(", ")),
        };
        *self.proposals.retries_mut() = crate::proposal::edit_retries::EditRetries::default();
        self.transcript.push(Entry::User { text: text.clone(), mode, answered: false });
        let turn = Turn::again(self.turns.next_number(), text, request).in_mode(mode);
        self.begin_turn(turn)
    }
}

/// ``Your message mentions `Gate`, defined in src/gate.py (1.9k tokens).``
fn title(what: &str, files: &[NamedFile], tokens: &[(String, Option<usize>)]) -> String {
    let sum: usize = tokens.iter().filter_map(|(_, tokens)| *tokens).sum();
    let names: Vec<String> = files.iter().map(name).collect();
    let named = match names.as_slice() {
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [first @ .., last] if first.len() <= MAX_IN_TITLE => format!("{} and {last}", first.join(", ")),
        all => {
            let shown: Vec<&str> = all.iter().take(MAX_IN_TITLE).map(String::as_str).collect();
            format!("{} and {}", shown.join(", "), count(all.len().saturating_sub(MAX_IN_TITLE), "more file"))
        }
    };
    format!("{what} mentions {named} ({} tokens).", rounded(sum as u64))
}

/// ``  `Gate`, defined in src/gate.py``, or the path alone.
fn name(file: &NamedFile) -> String {
    match &file.symbol {
        Some(symbol) => format!("`{symbol}`, defined in {}", file.path),
        None => file.path.clone(),
    }
}

/// The files with their tokens, one on a line.
fn described(files: &[NamedFile], tokens: &[(String, Option<usize>)]) -> String {
    let note = |path: &str| {
        let symbol = files.iter().find(|file| file.path == path).and_then(|file| file.symbol.as_ref());
        symbol.map_or_else(String::new, |symbol| format!(", defines `{symbol}`"))
    };
    listed(tokens, note)
}
