//! Files that a message or an answer names and that are not in the chat: offered, added or let be, as the settings say. And what a
//! message names with an `@`.

use std::path::PathBuf;

use crate::context::{CODEBASE, KnownFiles, Mode, at_meaning, ats, mentioned_paths, mentions, prose};
use crate::session::effect::{Effect, Failure};
use crate::session::modes::architect::Plan;
use crate::session::question::{Choice, Question, Subject};
use crate::session::state::Session;
use crate::session::transcript::{Entry, Level};
use crate::session::turn::Turn;
use crate::session::turn::asking::is_streaming;
use crate::text::count;
use crate::workspace::is_secret_name;

/// So many files are added without a question at most: more of them are a pasted log and not a wish.
const ADDED_AT_ONCE: usize = 10;

/// Files that a title names; the text of the question names all.
const IN_TITLE: usize = 3;

/// Something to be found out about what was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MentionOrder {
    /// What the names behind an `@` mean.
    LookUp {
        /// The turn that waits for it.
        turn: u64,
        /// The names.
        names: Vec<String>,
        /// Files in the chat.
        chat: Vec<String>,
    },
    /// How many tokens files have.
    Weigh {
        /// The number of the question that waits for it.
        number: u64,
        /// The files.
        paths: Vec<String>,
    },
}

/// What was found out.
#[derive(Debug, Clone)]
pub enum MentionReport {
    /// What the names mean.
    LookedUp(LookedUp),
    /// The tokens of files; `None` for what cannot be read.
    Weighed {
        /// The number of the question.
        number: u64,
        /// The files with their tokens.
        tokens: Vec<(String, Option<usize>)>,
    },
}

/// What the names behind an `@` mean.
#[derive(Debug, Clone, Default)]
pub struct LookedUp {
    /// The turn that waits for it.
    pub turn: u64,
    /// Files for the chat.
    pub files: Vec<String>,
    /// What goes along with the message.
    pub attached: Vec<Attachment>,
    /// What could not be had, or not all of it.
    pub notes: Vec<Failure>,
}

/// A text that goes along with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// What it is, in a line.
    pub title: String,
    /// It, as the model sees it.
    pub text: String,
    /// The file that holds all of it, where the text is cut.
    pub whole: Option<PathBuf>,
}

/// Files that an answer names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The files.
    pub files: Vec<String>,
    /// How the message was meant that it answers.
    pub mode: Mode,
    /// What the developer had asked for.
    pub request: String,
    /// The plan that names them and waits to be carried out.
    pub plan: Option<Plan>,
}

impl Session {
    /// Offers the files that a message names. `None` if the message has to wait for the answer; else what is to be done before it is
    /// sent.
    pub(in crate::session) fn offer_mentioned(&mut self, message: &str, mode: Mode) -> Option<Vec<Effect>> {
        if mode == Mode::Help || self.rules.add_mentions == Some(false) {
            return Some(Vec::new());
        }
        let files = self.files_mentioned(&self.without_ats(message), true);
        if files.is_empty() {
            return Some(Vec::new());
        }
        if self.rules.add_mentions == Some(true) && files.len() <= ADDED_AT_ONCE {
            return Some(self.add_named(&files, false));
        }
        self.question(Question {
            title: format!("{} not in the chat.", sentence("The message names", &files)),
            text: format!("{}\n\nThe message waits:\n{message}", files.join("\n")),
            subject: Subject::Mentioned { files, message: message.to_owned(), mode },
            choices: vec![
                Choice::new('y', "add and send"),
                Choice::new('r', "add read-only"),
                Choice::new('n', "send without"),
                Choice::new('x', "never ask for these"),
                Choice::new('e', "take back"),
            ],
        });
        None
    }

    /// What becomes of a message that waits, and of the files that it names.
    pub(in crate::session) fn answer_mentioned(
        &mut self,
        key: char,
        question: Question,
        files: &[String],
        (message, mode): (&str, Mode),
    ) -> Vec<Effect> {
        if key == 'e' {
            if self.draft_is_empty() {
                self.returned_draft = Some(self.as_typed(message, mode));
                return Vec::new();
            }
            let hint = "Send or clear that first; or answer with another letter.";
            self.tell(Level::Warning, "There is another message in the composer.", hint);
            self.questions.push_front(question);
            return Vec::new();
        }
        if !self.may_send(message) {
            self.questions.push_front(question);
            return Vec::new();
        }
        // What is being typed meanwhile stays.
        let typed = std::mem::take(&mut self.draft);
        let mut effects = match key {
            'y' | 'r' => self.add_named(files, key == 'r'),
            'x' => {
                self.waiting.declined.extend(files.iter().cloned());
                Vec::new()
            }
            _ => Vec::new(),
        };
        effects.extend(self.begin_message(message, mode));
        self.draft = typed;
        effects
    }

    /// Offers the files that an answer names, or adds them. `None` where there is nothing to decide.
    pub(in crate::session) fn offer_wanted(
        &mut self,
        reply: &str,
        turn: &Turn,
        plan: Option<Plan>,
    ) -> Option<Vec<Effect>> {
        if self.rules.add_mentions == Some(false) {
            return None;
        }
        // A model that wants something it does not see names it and stops; one that edits only tells of what it knows.
        let with_symbols = turn.edits.is_empty() && turn.mode != Mode::Ask;
        let edited: Vec<&str> = turn.edits.iter().filter_map(|edit| edit.path.as_deref()).collect();
        let mut files = self.files_mentioned(&prose(reply), with_symbols);
        files.retain(|path| !edited.contains(&path.as_str()));
        if files.is_empty() {
            return None;
        }
        if self.rules.add_mentions == Some(true) && files.len() <= ADDED_AT_ONCE {
            let effects = self.add_named(&files, false);
            return match plan {
                Some(plan) => Some([effects, self.offer_plan(plan)].concat()),
                None => Some(effects),
            };
        }
        let wanted = Wanted { files, mode: turn.mode, request: turn.request.clone(), plan };
        Some(self.weigh(Subject::Wanted(wanted)))
    }

    fn ask_about_wanted(&mut self, wanted: Wanted, tokens: &[(String, Option<usize>)]) {
        let mut choices = vec![Choice::new('y', if wanted.files.len() == 1 { "add it" } else { "add all" })];
        if wanted.plan.is_none() {
            choices.push(Choice::new('s', "add and go on"));
        }
        choices.extend([Choice::new('n', "none"), Choice::new('x', "never ask for these")]);
        let what = if wanted.plan.is_some() { "The plan names" } else { "The answer names" };
        self.question(Question {
            title: format!("{} not in the chat.", sentence(what, &wanted.files)),
            text: listed(tokens, |_| ""),
            subject: Subject::Wanted(wanted),
            choices,
        });
    }

    /// What becomes of the files that an answer names. A review of the same answer stays as it is.
    pub(in crate::session) fn answer_wanted(&mut self, key: char, question: Question, wanted: Wanted) -> Vec<Effect> {
        let Wanted { files, mode, request, plan } = wanted;
        if key == 's' && self.is_answering() {
            self.questions.push_front(question);
            return Vec::new();
        }
        let mut effects = Vec::new();
        match key {
            'y' | 's' => effects.extend(self.add_named(&files, false)),
            'x' => self.waiting.declined.extend(files.iter().cloned()),
            _ => {}
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
    fn go_on_with(&mut self, files: &[String], mode: Mode, request: String) -> Vec<Effect> {
        let text = match files {
            [file] => format!("{file} is in the chat now. Go on."),
            files => format!("These files are in the chat now: {}. Go on.", files.join(", ")),
        };
        self.rounds = crate::session::proposal::rounds::Rounds::default();
        self.transcript.push(Entry::User { text: text.clone(), mode, answered: false });
        let turn = Turn::again(self.next_turn(), text, request).in_mode(mode);
        self.begin_turn(turn)
    }

    /// Adds files that were named.
    pub(in crate::session) fn add_named(&mut self, files: &[String], read_only: bool) -> Vec<Effect> {
        let effects = self.add_files(files, read_only);
        // Before the list of files is known they only wait; what was refused afterwards has been told.
        let is_in = |path: &&String| !self.listed || self.files.iter().any(|file| file.path == **path);
        let names: Vec<&str> = files.iter().filter(is_in).map(String::as_str).collect();
        let how = if read_only { " for reference" } else { "" };
        let named = match names.as_slice() {
            [] => return effects,
            [first, .., last] if names.len() > ADDED_AT_ONCE => format!("{} files, {first} to {last}", names.len()),
            names => names.join(", "),
        };
        self.tell(Level::Info, format!("In the chat now{how}: {named}."), "");
        effects
    }

    /// Asks for the tokens of files, and then the developer about them.
    pub(in crate::session) fn weigh(&mut self, subject: Subject) -> Vec<Effect> {
        let paths = match &subject {
            Subject::Wanted(wanted) => wanted.files.clone(),
            Subject::Needed { files, .. } => files.clone(),
            _ => Vec::new(),
        };
        self.waiting.weighings += 1;
        let number = self.waiting.weighings;
        self.waiting.weighing = Some((number, subject));
        vec![Effect::Mention(MentionOrder::Weigh { number, paths })]
    }

    /// Something was found out about what was named.
    pub(in crate::session) fn mention_found(&mut self, report: MentionReport) -> Vec<Effect> {
        match report {
            MentionReport::LookedUp(found) => self.looked_up(found),
            MentionReport::Weighed { number, tokens } => {
                match self.waiting.weighing.take_if(|(waiting, _)| *waiting == number) {
                    Some((_, Subject::Wanted(wanted))) => self.ask_about_wanted(wanted, &tokens),
                    Some((_, Subject::Needed { files, message })) => self.ask_about_needed(files, message, &tokens),
                    _ => {}
                }
                Vec::new()
            }
        }
    }

    /// The names behind an `@` are looked up: the turn that waits for them goes out.
    fn looked_up(&mut self, mut found: LookedUp) -> Vec<Effect> {
        if self.turn.as_ref().is_none_or(|turn| turn.number != found.turn) {
            return Vec::new();
        }
        for note in found.notes {
            self.tell_failure(Level::Warning, note);
        }
        // What is there for reference stays so.
        found.files.retain(|path| !self.is_in_chat(path));
        let mut effects = if found.files.is_empty() { Vec::new() } else { self.add_named(&found.files, false) };
        // What the conversation holds already is not sent twice.
        let said = self.history();
        let is_new = |attachment: &Attachment| said.iter().all(|message| message.content != attachment.text);
        let fresh: Vec<Attachment> = found.attached.into_iter().filter(is_new).collect();
        effects.extend(self.ask_turn(&fresh));
        let at = self.transcript.iter().rposition(is_streaming).unwrap_or(self.transcript.len());
        let shared = fresh.into_iter().map(|Attachment { title, text, whole }| Entry::Shared { title, text, whole });
        self.transcript.splice(at..at, shared);
        if let Some(turn) = &mut self.turn {
            turn.status = "waiting for the first word".into();
        }
        effects
    }

    /// The names behind an `@` in the running turn's message that may mean something.
    pub(in crate::session) fn names_to_look_up(&self) -> Vec<String> {
        let Some(turn) = self.turn.as_ref().filter(|turn| !matches!(turn.mode, Mode::Editor | Mode::Help)) else {
            return Vec::new();
        };
        // What is to be searched for is known by now.
        let names = ats(&turn.message).into_iter().map(|at| at.name).filter(|name| name != CODEBASE);
        names.filter(|name| self.may_mean_something(name)).collect()
    }

    /// Whether a name behind an `@` may mean something. While the repository is being read, nobody knows.
    fn may_mean_something(&self, name: &str) -> bool {
        !self.listed || at_meaning(name, &self.paths, &|symbol| self.may_be_symbol(symbol)).is_some()
    }

    fn may_be_symbol(&self, name: &str) -> bool {
        self.symbols.as_ref().is_none_or(|graph| {
            graph.index().name_number(name).is_some_and(|number| !graph.defining_files(number).is_empty())
        })
    }

    /// The message with blanks in the place of what is named with an `@`.
    fn without_ats(&self, message: &str) -> String {
        let mut shown = message.to_owned();
        for at in ats(message).into_iter().filter(|at| self.may_mean_something(&at.name)) {
            let blank = " ".repeat(at.range.len());
            shown.replace_range(at.range, &blank);
        }
        shown
    }

    /// The files that a text names and that may be offered. Files that look like they hold secrets never are: whoever wants to
    /// send one has to say so with /add.
    fn files_mentioned(&self, text: &str, with_symbols: bool) -> Vec<String> {
        let chat: Vec<String> = self.files.iter().map(|file| file.path.clone()).collect();
        let symbol = |name: &str| if with_symbols { self.only_definer(name) } else { None };
        let known = KnownFiles { paths: &self.paths, chat: &chat, symbol: &symbol };
        let mut files = mentioned_paths(&mentions(text, &known));
        files.retain(|path| !is_secret_name(path) && !self.waiting.declined.contains(path));
        files
    }

    /// The files that a text names, those of the chat included.
    pub(in crate::session) fn files_named(&self, text: &str) -> Vec<String> {
        let known = KnownFiles { paths: &self.paths, chat: &[], symbol: &|_| None };
        let mut files = mentioned_paths(&mentions(text, &known));
        files.retain(|path| !is_secret_name(path));
        files
    }

    /// The only file that defines a symbol of that name.
    fn only_definer(&self, name: &str) -> Option<String> {
        let graph = self.symbols.as_ref()?;
        match graph.defining_files(graph.index().name_number(name)?) {
            [only] => Some(graph.index().path(*only).to_owned()),
            _ => None,
        }
    }

    pub(in crate::session) fn is_in_chat(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.path == path)
    }

    /// Whether a turn runs, which is told.
    pub(in crate::session) fn is_answering(&mut self) -> bool {
        if self.turn.is_some() {
            self.tell(Level::Warning, "The model is still answering.", "Esc cancels the turn; then answer again.");
        }
        self.turn.is_some()
    }
}

/// `The answer names a.rs, which is`, and the like for more.
fn sentence(what: &str, files: &[String]) -> String {
    match files {
        [file] => format!("{what} {file}, which is"),
        files if files.len() <= IN_TITLE => format!("{what} {}, which are", files.join(", ")),
        files => format!("{what} {}, {} and more, which are", count(files.len(), "file"), files[..2].join(", ")),
    }
}

/// Files with their tokens, one a line.
pub(in crate::session) fn listed(tokens: &[(String, Option<usize>)], note: impl Fn(&str) -> &'static str) -> String {
    let line = |(path, tokens): &(String, Option<usize>)| match tokens {
        Some(tokens) => format!("{path}  {tokens} tokens{}", note(path)),
        None => format!("{path}  cannot be read{}", note(path)),
    };
    tokens.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
