//! Questions. The next line may answer a question of the session, confirm an action, choose from a list, or end a recording;
//! otherwise it is a message or a command of the review.

use super::LineUi;
use super::transcript_printer::detail;
use rhumb_llm::LocalServer;
use rhumb_llm::models::Api;
use rhumb_session::context::Mode;
use rhumb_session::{Effect, ModelRole, ProcessSubject, Question, SHOW_FAULT, SessionLine, Subject};
use rhumb_text::count;

/// The meaning of the next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prompt {
    Message,
    Review,
    /// The key of a choice.
    Question,
    /// Yes or no.
    Confirmation,
    /// A number in a list.
    Choice,
    Recording,
    /// The next line of a text.
    Multiline,
}

impl Prompt {
    pub(super) fn text(self, mode: Mode) -> String {
        let text = match self {
            Self::Message if mode != Mode::Code => return format!("rhumb {mode}> "),
            Self::Message => "rhumb> ",
            Self::Review => "review> ",
            Self::Question => "answer> ",
            Self::Confirmation => "yes or no> ",
            Self::Choice => "number> ",
            Self::Recording => "recording, Enter ends it> ",
            Self::Multiline => "more> ",
        };
        text.to_owned()
    }
}

/// An action that needs a yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Confirmation {
    Write,
    Abandon,
    SendBack(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ListChoice {
    Server { api: Api, base_url: String, model: String },
    Model(ModelRole, String),
    Session(i64),
}

#[derive(Debug, Default)]
pub(super) struct QuestionState {
    /// The action that waits for a yes.
    confirmation: Option<Confirmation>,
    /// The choices of the printed list, by number.
    choices: Option<Vec<(String, ListChoice)>>,
    /// The question of the session that was printed last.
    shown: Option<Question>,
    deferred: Vec<Question>,
    /// Whether the first question comes before the review.
    asks_now: bool,
    /// Whether it was printed that a question waits behind the review.
    told_of_waiting: bool,
}

impl QuestionState {
    pub(super) fn confirm(&mut self, action: Confirmation) {
        self.confirmation = Some(action);
    }

    /// Lets the first question come before the review.
    pub(super) fn ask_now(&mut self) {
        self.asks_now = true;
    }

    /// Drops a confirmation or a list. Returns whether there was one.
    pub(super) fn cancel(&mut self) -> bool {
        self.confirmation.take().is_some() || self.choices.take().is_some()
    }
}

/// Maximum number of printed lines of a list or a question.
const MAX_LINES: usize = 30;

impl LineUi {
    pub(super) fn next_prompt(&self) -> Prompt {
        if self.input.is_multiline() {
            Prompt::Multiline
        } else if self.questions.confirmation.is_some() {
            Prompt::Confirmation
        } else if self.questions.choices.is_some() {
            Prompt::Choice
        } else if self.session.attachments().recording.is_some() {
            Prompt::Recording
        } else if self.open_question().is_some() && (!self.is_reviewing() || self.questions.asks_now) {
            Prompt::Question
        } else if self.is_reviewing() {
            Prompt::Review
        } else {
            Prompt::Message
        }
    }

    /// The first question that was not deferred.
    fn open_question(&self) -> Option<&Question> {
        self.session.questions().iter().find(|question| !self.questions.deferred.contains(question))
    }

    /// Removes answered questions, so that equal ones are printed again.
    pub(super) fn forget_answered_questions(&mut self) {
        let questions = self.session.questions();
        self.questions.deferred.retain(|question| questions.contains(question));
        self.questions.shown.take_if(|question| !questions.contains(question));
    }

    /// Asks deferred questions again, before the review.
    pub(super) fn ask_deferred_questions(&mut self) {
        self.questions.deferred.clear();
        self.questions.shown = None;
        if self.session.questions().is_empty() {
            self.out.line("There is no question.");
        } else {
            self.questions.asks_now = true;
        }
    }

    /// Prints the text that the user must read to answer a prompt.
    pub(super) fn print_before_prompt(&mut self, prompt: Prompt) {
        if prompt == Prompt::Review
            && self.open_question().is_some()
            && !std::mem::replace(&mut self.questions.told_of_waiting, true)
        {
            self.out.line("A question waits until the review is done or left; /questions asks it now.");
        }
        if prompt != Prompt::Question {
            return;
        }
        let Some(question) = self.open_question().filter(|question| self.questions.shown.as_ref() != Some(*question))
        else {
            return;
        };
        let question = question.clone();
        self.out.line(&format!("question: {}", question.title));
        // The output of the command has just been printed.
        let is_printed = matches!(question.subject, Subject::Process(ProcessSubject::Share(..)));
        let lines: Vec<&str> = question.text.lines().filter(|_| !is_printed).collect();
        // A command must be shown in full before it is approved.
        let max_lines = if question.must_be_read() { usize::MAX } else { MAX_LINES };
        self.out.lines(lines.iter().take(max_lines));
        if lines.len() > max_lines {
            self.out.line(&format!("({} more lines; all prints them)", lines.len() - max_lines));
        }
        self.out.lines(question.choices.iter().map(|choice| format!("  {}: {}", choice.key, choice.label)));
        self.out.line(match question.subject.is_offer() {
            true => "Answer with a letter, or type the next message.",
            false => "Answer with a letter. Enter alone defers the question.",
        });
        let following = self.session.following_questions();
        self.out.lines((!following.is_empty()).then_some(following));
        (self.questions.shown, self.questions.told_of_waiting) = (Some(question), false);
    }

    /// Answers the printed question. Returns `false` if the line is not an answer.
    pub(super) fn answer(&mut self, line: &str) -> bool {
        let word = line.trim();
        let shown = self.questions.shown.clone();
        let Some(question) = shown.filter(|shown| self.open_question() == Some(shown)) else { return false };
        if word.starts_with(['/', '!']) {
            return false;
        }
        if word.is_empty() {
            self.questions.asks_now = false;
            self.questions.deferred.push(question);
            self.out.line("The question is deferred: /questions asks it again.");
            return true;
        }
        if word.eq_ignore_ascii_case("all") {
            self.print_text(&question.title, &question.text);
            return true;
        }
        let mut letters = word.chars();
        let letter = letters.next().filter(|_| letters.next().is_none()).map(|key| key.to_ascii_lowercase());
        let key = match word.to_ascii_lowercase().as_str() {
            "yes" => Some('y'),
            "no" => Some('n'),
            _ => letter,
        };
        self.session.ask_first(&question);
        if let Some(key) = key.filter(|key| self.session.is_choice(*key)) {
            (self.questions.asks_now, self.questions.shown) = (false, None);
            let hunk = self.session.hunk_at_fault().filter(|_| key == SHOW_FAULT);
            let effects = self.session.answer(key);
            self.perform(effects);
            if let Some(id) = hunk {
                self.show_hunks(&[id], usize::MAX);
            }
            return true;
        }
        // Instead of accepting an offer, the user may type a message. A single letter is a mistake.
        if question.subject.is_offer() && letter.is_none() {
            self.questions.deferred.push(question);
            return false;
        }
        let keys: Vec<String> = question.choices.iter().map(|choice| choice.key.to_string()).collect();
        self.out.line(&format!(
            "{word} does not answer the question, so nothing was done. The answers are {}.",
            keys.join(", ")
        ));
        true
    }

    pub(super) fn answer_confirmation(&mut self, line: &str) {
        let Some(action) = self.questions.confirmation.take() else { return };
        let is_yes = matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes");
        match (action, is_yes) {
            (Confirmation::Write, true) => self.write_accepted(),
            (Confirmation::Write, false) => self.out.line("Nothing was written."),
            (Confirmation::Abandon, true) => self.session.abandon_review(),
            (Confirmation::Abandon, false) => self.out.line("The review stays."),
            (Confirmation::SendBack(text), true) => self.send_feedback(&text),
            (Confirmation::SendBack(_), false) => self.out.line("Nothing was sent."),
        }
    }

    /// Chooses from the printed list. Returns `false` if the line is not a number.
    pub(super) fn choose(&mut self, line: &str) -> bool {
        let Some(choices) = self.questions.choices.take() else { return false };
        let word = line.trim();
        if word.is_empty() {
            self.out.line("Nothing was chosen.");
            return true;
        }
        if word.parse::<i64>().is_err() {
            return false;
        }
        let Some((_, choice)) = choices.into_iter().find(|(number, _)| number == word) else {
            self.out.line(&format!("{word} is not on the list, so nothing was chosen."));
            return true;
        };
        let effects = match choice {
            ListChoice::Server { api, base_url, model } => vec![Effect::Connect { api, base_url, model }],
            ListChoice::Model(part, name) => self.session.choose_for(part, name),
            ListChoice::Session(number) => self.session.resume(Some(number.to_string())),
        };
        self.perform(effects);
        true
    }

    pub(super) fn list_servers(&mut self, servers: Vec<LocalServer>) {
        let mut rows = Vec::new();
        for server in servers {
            for model in &server.models {
                let choice =
                    ListChoice::Server { api: server.api, base_url: server.base_url.clone(), model: model.clone() };
                rows.push((format!("{model} at {}, {}", server.name, server.base_url), choice));
            }
            if server.models.is_empty() {
                self.out.line(&format!("{} at {} has no model.", server.name, server.base_url));
            }
        }
        self.list("model servers on this machine", numbered(rows));
    }

    /// Lists the models whose names contain the words of `query`.
    pub(super) fn list_models(&mut self, part: ModelRole, query: &str) {
        let matching = self.session.lookups().models.iter().filter(|row| has_words(&row.name, query));
        let rows: Vec<_> = matching
            .map(|row| {
                let key = if row.has_key { "" } else { ", no key for it" };
                (format!("{}: {}{key}", row.name, detail(&row.detail)), ListChoice::Model(part, row.name.clone()))
            })
            .collect();
        if rows.is_empty() {
            self.out.line("No model has that in its name. /model NAME uses one by its name.");
            return;
        }
        self.list(&format!("models; the one that you choose {}", part.work()), numbered(rows));
    }

    /// Lists the earlier sessions that contain the words of `query`.
    pub(super) fn list_sessions(&mut self, query: &str, lines: Vec<SessionLine>) {
        let matching = lines
            .into_iter()
            .filter(|line| has_words(&format!("{} {} {}", line.title(), line.changed, line.number), query));
        let rows: Vec<_> = matching
            .map(|line| {
                let open = if line.live { ", open in another rhumb" } else { "" };
                let messages = count(line.messages, "message");
                let row = format!("{}, {messages}, last changed {}{open}", line.title(), line.changed);
                (line.number.to_string(), row, ListChoice::Session(line.number))
            })
            .collect();
        if rows.is_empty() {
            self.out.line("No session has that in its name, its first message or its date.");
            return;
        }
        self.list("sessions", rows);
    }

    /// Prints a list of numbers, rows and choices, and asks for a number.
    fn list(&mut self, title: &str, rows: Vec<(String, String, ListChoice)>) {
        self.out.line(&format!("{title}:"));
        self.out.lines(rows.iter().take(MAX_LINES).map(|(number, row, _)| format!("  {number}: {row}")));
        if rows.len() > MAX_LINES {
            self.out.line(&format!("({} more; a word after the command filters the list)", rows.len() - MAX_LINES));
        }
        self.out.line("Choose by number. Enter alone chooses nothing.");
        self.questions.choices = Some(rows.into_iter().map(|(number, _, choice)| (number, choice)).collect());
    }
}

/// Whether `text` contains all words of `query`, in any case.
fn has_words(text: &str, query: &str) -> bool {
    let text = text.to_lowercase();
    query.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
}

fn numbered(rows: Vec<(String, ListChoice)>) -> Vec<(String, String, ListChoice)> {
    rows.into_iter().enumerate().map(|(at, (row, choice))| ((at + 1).to_string(), row, choice)).collect()
}
