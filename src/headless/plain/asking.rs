//! What the next line answers: a question of the program, a list, a yes or no; else it is a message or a word of the review.

use super::desk::Desk;
use super::phrases::{detail, in_words};
use rhumb_llm::LocalServer;
use rhumb_llm::models::Api;
use rhumb_session::SessionLine;
use rhumb_session::context::Mode;
use rhumb_session::{Effect, ModelRole, ProcessSubject, Question, SHOW_FAULT, Subject};
use rhumb_text::count;

/// What the next line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// A message or a command.
    Message,
    /// A word of the review.
    Review,
    /// The letter of an answer.
    Question,
    /// Yes or no.
    Confirm,
    /// A number of a list.
    Pick,
    /// The end of a recording.
    Recording,
    /// More of a text of several lines.
    More,
}

impl Expect {
    /// The prompt for it.
    pub(super) fn prompt(self, mode: Mode) -> String {
        let prompt = match self {
            // How a message is meant, unless it is meant as most are.
            Self::Message if mode != Mode::Code => return format!("rhumb {mode}> "),
            Self::Message => "rhumb> ",
            Self::Review => "review> ",
            Self::Question => "answer> ",
            Self::Confirm => "yes or no> ",
            Self::Pick => "number> ",
            Self::Recording => "recording, Enter ends it> ",
            Self::More => "more> ",
        };
        prompt.to_owned()
    }
}

/// Something that is done only after a yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Confirm {
    /// Write what is accepted.
    Write,
    /// Give the review up.
    Abandon,
    /// Send this about the proposal.
    SendBack(String),
}

/// A list to choose from by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pick {
    /// What each number means.
    choices: Vec<(String, Picked)>,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Picked {
    Server { api: Api, base_url: String, model: String },
    Model(ModelRole, String),
    Session(i64),
}

/// Lines of a list, and of a question, that are printed.
const MOST: usize = 30;

impl Desk {
    /// What the next line is taken for.
    pub(super) fn expectation(&self) -> Expect {
        if self.gathering.is_open() {
            Expect::More
        } else if self.confirm.is_some() {
            Expect::Confirm
        } else if self.pick.is_some() {
            Expect::Pick
        } else if self.session.attachments().recording.is_some() {
            Expect::Recording
        } else if self.asked().is_some_and(|_| !self.is_reviewing() || self.asks_now) {
            Expect::Question
        } else if self.is_reviewing() {
            Expect::Review
        } else {
            Expect::Message
        }
    }

    /// Whether words of the review are expected.
    pub(super) fn is_reviewing(&self) -> bool {
        !self.later && !self.session.review().is_empty()
    }

    /// The question that waits for an answer.
    pub(super) fn asked(&self) -> Option<&Question> {
        self.session.questions().iter().find(|question| !self.put_off.contains(question))
    }

    /// A question that is settled may be asked anew one day.
    pub(super) fn forget_questions(&mut self) {
        let questions = self.session.questions();
        self.put_off.retain(|question| questions.contains(question));
        self.read_out.take_if(|question| !questions.contains(question));
    }

    /// Reads out what has to be known to answer.
    pub(super) fn read_what_is_asked(&mut self, expects: Expect) {
        if expects == Expect::Review && self.asked().is_some() && !std::mem::replace(&mut self.told_of_question, true) {
            self.voice.line("A question waits until the review is done or left; /questions asks it now.");
        }
        if expects != Expect::Question {
            return;
        }
        let Some(question) = self.asked().filter(|question| self.read_out.as_ref() != Some(*question)).cloned() else {
            return;
        };
        self.voice.line(&format!("question: {}", in_words(&question.title)));
        // The output of a command has just been printed.
        let is_known = matches!(question.subject, Subject::Process(ProcessSubject::Share(..)));
        let lines: Vec<&str> = question.text.lines().filter(|_| !is_known).collect();
        // A command has to be read in full before it is approved.
        let most = if question.must_be_read() { usize::MAX } else { MOST };
        self.voice.lines(lines.iter().take(most).map(|line| in_words(line)));
        if lines.len() > most {
            self.voice.line(&format!("({} more lines; read them with: all)", lines.len() - most));
        }
        for choice in &question.choices {
            self.voice.line(&format!("  {}: {}", choice.key, in_words(&choice.label)));
        }
        self.voice.line(match question.subject.is_offer() {
            true => "Answer with a letter, or type the next message.",
            false => "Answer with a letter. Enter alone puts the question off.",
        });
        let follow = self.session.following_questions();
        if !follow.is_empty() {
            self.voice.line(&in_words(&follow));
        }
        (self.read_out, self.told_of_question) = (Some(question), false);
    }

    /// Takes the answer to the question that was read out. Returns false if the line is not an answer.
    pub(super) fn answer(&mut self, line: &str) -> bool {
        let word = line.trim();
        let Some(question) = self.read_out.clone().filter(|read| self.asked() == Some(read)) else { return false };
        if word.starts_with(['/', '!']) {
            return false;
        }
        if word.is_empty() {
            self.asks_now = false;
            self.put_off.push(question);
            self.voice.line("The question waits: /questions asks it again.");
            return true;
        }
        if word.eq_ignore_ascii_case("all") {
            self.read(&in_words(&question.title), &question.text);
            return true;
        }
        let mut letters = word.chars();
        let key = letters.next().filter(|_| letters.next().is_none()).map(|key| key.to_ascii_lowercase());
        let said = match word.to_ascii_lowercase().as_str() {
            "yes" => Some('y'),
            "no" => Some('n'),
            _ => key,
        };
        self.session.ask_first(&question);
        match said.filter(|key| self.session.is_choice(*key)) {
            Some(key) => {
                (self.asks_now, self.read_out) = (false, None);
                let hunk = self.session.hunk_at_fault().filter(|_| key == SHOW_FAULT);
                let effects = self.session.answer(key);
                self.perform(effects);
                if let Some(id) = hunk {
                    self.show(&[id], usize::MAX);
                }
            }
            // Only an offer: what is typed instead is a message, unless it is a letter that means no choice.
            None if question.subject.is_offer() && key.is_none() => {
                self.put_off.push(question);
                return false;
            }
            None => {
                let keys: Vec<String> = question.choices.iter().map(|choice| choice.key.to_string()).collect();
                let text = format!(
                    "{word} does not answer the question, so nothing was done. The answers are {}.",
                    keys.join(", ")
                );
                self.voice.line(&text);
            }
        }
        true
    }

    /// Takes a yes or a no.
    pub(super) fn confirmed(&mut self, line: &str) {
        let Some(what) = self.confirm.take() else { return };
        let is_yes = matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes");
        if !is_yes {
            self.voice.line(match what {
                Confirm::Write => "Nothing was written.",
                Confirm::Abandon => "The review stays.",
                Confirm::SendBack(_) => "Nothing was sent.",
            });
            return;
        }
        match what {
            Confirm::Write => self.write_now(),
            Confirm::Abandon => self.session.abandon_review(),
            Confirm::SendBack(text) => self.send_feedback(&text),
        }
    }

    /// Takes the number of a choice. False if the line is none, and then it is taken otherwise.
    pub(super) fn picked(&mut self, line: &str) -> bool {
        let Some(Pick { choices }) = self.pick.take() else { return false };
        let word = line.trim();
        if word.is_empty() {
            self.voice.line("Nothing was chosen.");
            return true;
        }
        if word.parse::<i64>().is_err() {
            return false;
        }
        let Some((_, picked)) = choices.into_iter().find(|(number, _)| number == word) else {
            self.voice.line(&format!("{word} is not on the list, so nothing was chosen."));
            return true;
        };
        let effects = match picked {
            Picked::Server { api, base_url, model } => vec![Effect::Connect { api, base_url, model }],
            Picked::Model(part, name) => self.session.choose_for(part, name),
            Picked::Session(number) => self.session.resume(Some(number.to_string())),
        };
        self.perform(effects);
        true
    }

    /// Lists the model servers that were found.
    pub(super) fn offer_servers(&mut self, servers: Vec<LocalServer>) {
        let mut rows = Vec::new();
        for server in servers {
            for model in &server.models {
                let what = Picked::Server { api: server.api, base_url: server.base_url.clone(), model: model.clone() };
                rows.push((format!("{model} at {}, {}", server.name, server.base_url), what));
            }
            if server.models.is_empty() {
                self.voice.line(&format!("{} at {} has no model.", server.name, server.base_url));
            }
        }
        self.offer("model servers on this machine", numbered(rows));
    }

    /// Lists the models whose names contain the words of `query`.
    pub(super) fn offer_models(&mut self, part: ModelRole, query: &str) {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let rows = self.session.lookups().models.iter().filter(|row| {
            let name = row.name.to_lowercase();
            words.iter().all(|word| name.contains(word.as_str()))
        });
        let row = |row: &rhumb_session::ModelRow| {
            let key = if row.has_key { "" } else { ", no key for it" };
            (format!("{}: {}{key}", row.name, detail(&row.detail)), Picked::Model(part, row.name.clone()))
        };
        let rows: Vec<_> = rows.map(row).collect();
        if rows.is_empty() {
            self.voice.line("No model has that in its name. /model NAME asks one by its name.");
            return;
        }
        self.offer(&format!("models; the one that you choose {}", part.work()), numbered(rows));
    }

    /// Lists the earlier sessions that contain the words of `query`.
    pub(super) fn offer_sessions(&mut self, query: &str, lines: Vec<SessionLine>) {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let mut rows = Vec::new();
        for line in lines {
            let text = format!("{} {} {}", line.title(), line.changed, line.number).to_lowercase();
            if words.iter().all(|word| text.contains(word.as_str())) {
                let open = if line.live { ", open in another rhumb" } else { "" };
                let messages = count(line.messages, "message");
                let row = format!("{}, {messages}, last changed {}{open}", line.title(), line.changed);
                rows.push((line.number.to_string(), row, Picked::Session(line.number)));
            }
        }
        if rows.is_empty() {
            self.voice.line("No session has that in its name, its first message or its date.");
            return;
        }
        self.offer("sessions", rows);
    }

    fn offer(&mut self, title: &str, rows: Vec<(String, String, Picked)>) {
        self.voice.line(&format!("{title}:"));
        for (number, row, _) in rows.iter().take(MOST) {
            self.voice.line(&format!("  {number}: {row}"));
        }
        if rows.len() > MOST {
            let text = format!("({} more; a word behind the command narrows the list)", rows.len() - MOST);
            self.voice.line(&text);
        }
        self.voice.line("Choose by number. Enter alone chooses nothing.");
        let choices = rows.into_iter().map(|(number, _, picked)| (number, picked)).collect();
        self.pick = Some(Pick { choices });
    }
}

fn numbered(rows: Vec<(String, Picked)>) -> Vec<(String, String, Picked)> {
    rows.into_iter().enumerate().map(|(at, (row, picked))| ((at + 1).to_string(), row, picked)).collect()
}
