//! Sending a message: the checks before it, the steps from the message to the request, and the parts of a request.

use crate::connect::HOW_TO_CONNECT;
use crate::context::{Mode, Prompt, SectionKind};
use crate::proposal::edit_retries::EditRetries;
use crate::{
    Answer, AnswerState, Attachment, ClipboardText, CodebaseQuestion, ConnectRequest, Connection, Effect, Entry, Level,
    MentionEffect, ModelRole, RequestSpec, SearchGoal, Session, Turn, TurnStatus,
};
use rhumb_edit::PendingChanges;
use std::sync::Arc;

impl Session {
    /// Sends a message in the mode of the session, or a plan that was changed in the input. Returns `false` if it cannot be sent now,
    /// with a status message that says why.
    pub fn send(&mut self, message: &str) -> (bool, Vec<Effect>) {
        self.note_addresses(message);
        match self.modes.plan_in_input.clone() {
            Some(plan) => self.send_plan(plan, message),
            None if self.is_agent_running() => (true, self.steer(message)),
            None => self.send_in_mode(message, self.modes.mode()),
        }
    }

    /// Sends a message in a mode, or queues it. Returns `false` if it cannot be sent now.
    pub fn send_in_mode(&mut self, message: &str, mode: Mode) -> (bool, Vec<Effect>) {
        if mode == Mode::Agent && self.is_agent_running() {
            return (true, self.steer(message));
        }
        // A message that is sent while the history is summarised is sent with the summary.
        if self.turns.is_running() || self.is_compacting() {
            self.enqueue(message.to_owned(), mode);
            return (true, Vec::new());
        }
        if self.is_empty_question(message) || !self.may_send(message) {
            return (false, Vec::new());
        }
        self.withdraw_offers();
        let mut effects = self.handle_mentioned(message, mode);
        effects.extend(self.begin_message(message, mode));
        (true, effects)
    }

    /// Whether a message can be sent now. If not, reports why.
    pub(crate) fn may_send(&mut self, message: &str) -> bool {
        if self.turns.current.is_some() {
            self.report(Level::Warning, "The model is still answering.", "Cancel the turn, then send again.");
            return false;
        }
        self.require_model() && !self.may_exceed_window(message)
    }

    /// Whether a model is connected. If not, reports why and offers to connect one.
    pub(crate) fn require_model(&mut self) -> bool {
        match self.model.connection() {
            Connection::None => {
                let why = self.model.missing().unwrap_or("No model is connected");
                let reason = format!("{why}, so the message was not sent.");
                let hint = format!(
                    "{HOW_TO_CONNECT} Without a model, /copy-context copies the whole prompt for a chat window, and /paste takes the \
                     reply into review."
                );
                self.report(Level::Warning, reason.clone(), hint);
                let at_start = self.model.at_start().clone();
                self.ask_to_connect(ConnectRequest { reason, is_for_message: true, ..at_start });
                false
            }
            Connection::Remote { model, .. } if model.is_empty() => {
                self.report(
                    Level::Warning,
                    "No model is named, so the message was not sent.",
                    "Name one: /model NAME.",
                );
                false
            }
            Connection::Remote { .. } | Connection::Demo => true,
        }
    }

    /// Whether the request exceeds an assumed context window and the user has not sent the message again to confirm it.
    fn may_exceed_window(&mut self, message: &str) -> bool {
        let prompt = self.next_request.view().map(|view| Arc::clone(&view.prompt));
        let Some(prompt) = prompt.filter(|prompt| prompt.excess() > 0 && !prompt.window.known) else { return false };
        if !self.next_request.holds_back(message, prompt.tokens) {
            return false;
        }
        let (text, hint) = exceeds_window_message(&prompt);
        self.report(Level::Warning, text, hint);
        true
    }

    /// Starts the turn of a message without further checks.
    pub(crate) fn begin_message(&mut self, message: &str, mode: Mode) -> Vec<Effect> {
        *self.proposals.retries_mut() = EditRetries::about(self.processes.take_shared_check());
        self.codebase.begin();
        self.drafts.set_message("");
        self.modes.begin_search(message, mode);
        self.transcript.push(Entry::User { text: message.to_owned(), mode, answered: false });
        let goal = Self::question_in(message, mode).map(SearchGoal::Question);
        let turn = Turn::new(self.turns.next_number(), message.to_owned()).with_mode(mode).with_search(goal);
        self.begin_turn(turn)
    }

    /// Starts a turn and sends its request, after the list of files has arrived if files were named before.
    pub(crate) fn begin_turn(&mut self, turn: Turn) -> Vec<Effect> {
        self.open_turn(turn);
        let mut effects = self.start_timer();
        self.turns.waits_for_files = self.chat_files.are_waiting();
        if !self.turns.waits_for_files {
            effects.extend(self.advance_turn());
        }
        effects
    }

    /// Makes `turn` the running turn and adds its empty answer to the transcript.
    pub(crate) fn open_turn(&mut self, turn: Turn) {
        self.open_answer();
        self.open_loop(&turn);
        self.turns.current = Some(turn);
    }

    /// Adds an empty answer to the transcript.
    pub(crate) fn open_answer(&mut self) {
        let (text, reasoning, state) = (String::new(), String::new(), AnswerState::Streaming);
        self.transcript.push(Entry::Answer(Answer { text, reasoning, state, edits: Vec::new(), thinking: Vec::new() }));
    }

    /// Takes the next step of the running turn: searches the repository, looks up names after an `@`, or sends the request.
    pub(crate) fn advance_turn(&mut self) -> Vec<Effect> {
        if let Some(search) = self.start_search() {
            return vec![search];
        }
        let names = self.names_to_look_up();
        if names.is_empty() {
            return self.request_answer(&[]);
        }
        let Some(turn) = self.turns.current.as_mut() else { return Vec::new() };
        turn.status = TurnStatus::LookingUpNames;
        let chat = self.chat_files.files().iter().map(|file| file.path.clone()).collect();
        let reads_pages = self.modes.rules().reads_pages;
        vec![Effect::Mention(MentionEffect::LookUp { turn: turn.number, names, chat, reads_pages })]
    }

    /// Sends the request of the running turn, with the texts that are attached to its message.
    pub(crate) fn request_answer(&mut self, attached: &[Attachment]) -> Vec<Effect> {
        let Some(turn) = self.turns.current() else { return Vec::new() };
        let mut draft = turn.message.clone();
        for attachment in attached {
            draft.push_str("\n\n");
            draft.push_str(&attachment.text);
        }
        let spec = RequestSpec { draft, ..self.request_spec(turn.number) };
        let spec = self.with_codebase(spec, turn);
        let spec = self.apply_mode(spec, turn.mode);
        if spec.mode == Mode::Agent {
            self.agent_message_sent(&spec.draft);
        }
        vec![Effect::Ask(Box::new(spec))]
    }

    /// The next request in its current state, with this number.
    pub(crate) fn request_spec(&self, generation: u64) -> RequestSpec {
        let (history, exchange) = self.history_and_shared();
        RequestSpec {
            generation,
            files: self.chat_files.shared(),
            images: self.attachments.images.clone(),
            mode: self.modes.mode(),
            suggest: self.processes.offers_suggestions(),
            role: ModelRole::Main,
            history,
            exchange,
            passages: Arc::clone(&self.codebase.locations),
            related: Vec::new(),
            codebase: CodebaseQuestion::No,
            draft: self.drafts.message().to_owned(),
            partial: String::new(),
            allowance: self.allowance(),
            may_drop_history: false,
            map: self.next_request.map().clone(),
            overrides: self.next_request.overrides().clone(),
            topic: String::new(),
            tools: None,
            text_protocol: false,
        }
    }

    /// The request of the next turn. Takes the number of that turn.
    pub(crate) fn next_request_spec(&mut self) -> RequestSpec {
        let number = self.turns.next_number();
        self.request_spec(number)
    }

    /// Measures the next request.
    pub fn measure(&mut self) -> Vec<Effect> {
        let generation = self.next_request.next_generation();
        vec![Effect::Measure(Box::new(self.shown_request(generation)))]
    }

    /// The request that the panes show: the next one of the running agent loop, or that of the draft.
    pub(crate) fn shown_request(&self, generation: u64) -> RequestSpec {
        let spec = self.request_spec(generation);
        if self.is_agent_running() {
            return self.agent_spec(spec);
        }
        if self.modes.mode() == Mode::Agent { self.apply_mode(spec, Mode::Agent) } else { spec }
    }
}

/// Text and hint for a request that may exceed the context window.
fn exceeds_window_message(prompt: &Prompt) -> (String, String) {
    let (tokens, window) = (prompt.tokens, prompt.window.max_input());
    let text = format!("Not sent yet: the request has {tokens} tokens, and this model is assumed to take {window}.");
    let tokens_of = |is_counted: fn(&SectionKind) -> bool| -> usize {
        prompt.sections.iter().filter(|chunk| is_counted(&chunk.kind)).map(|chunk| chunk.tokens).sum()
    };
    let message = tokens_of(|kind| matches!(kind, SectionKind::Current));
    let files = tokens_of(|kind| matches!(kind, SectionKind::ChatFile(_) | SectionKind::ReadOnlyFile(_)));
    let advice = if message > files {
        format!("your message has {message} of them: shorten it")
    } else {
        format!("the files in the chat have {files} of them: /drop removes them")
    };
    let hint = format!(
        "Enter sends it all the same; {advice}. If the model takes more, set the size at the top of rhumb.toml: context_window = …"
    );
    (text, hint)
}

impl Session {
    /// Adds a pasted reply to the transcript and locates its edits. The reply answers the draft.
    pub fn take_reply(&mut self, reply: String) -> Vec<Effect> {
        if self.turns.current.is_some() {
            self.report(Level::Warning, "The model is still answering.", "Cancel the turn, then /paste again.");
            return Vec::new();
        }
        let request = self.drafts.message().to_owned();
        let text =
            if request.trim().is_empty() { "(a reply pasted from elsewhere)".to_owned() } else { request.clone() };
        self.transcript.push(Entry::User { text, mode: self.modes.mode(), answered: true });
        self.transcript.push(Entry::Answer(Answer {
            text: reply.clone(),
            reasoning: String::new(),
            state: AnswerState::Complete,
            edits: Vec::new(),
            thinking: Vec::new(),
        }));
        let mut effects = self.suggest(&reply);
        let number = self.last_answer_number();
        effects.extend(self.propose_alone(reply, Some(number), request));
        effects
    }

    /// Locates the edits of the last answer again, even if it is incomplete.
    pub fn review_last_answer(&mut self) -> Vec<Effect> {
        let is_answer =
            |entry: &Entry| matches!(entry, Entry::Answer(answer) if answer.state != AnswerState::Streaming);
        let Some(at) = self.transcript.iter().rposition(is_answer) else {
            self.report(Level::Warning, "There is no answer to review yet.", "");
            return Vec::new();
        };
        let Entry::Answer(answer) = &self.transcript[at] else { return Vec::new() };
        let reply = answer.text.clone();
        let number = self.answer_number(at);
        self.propose_alone(reply, Some(number), self.request_at(at))
    }

    /// Locates the edits of a reply that does not belong to the last turn. `answer` is its number among the answers of the session, if
    /// it is one.
    pub(crate) fn propose_alone(&mut self, reply: String, answer: Option<usize>, request: String) -> Vec<Effect> {
        *self.proposals.retries_mut() = EditRetries::default();
        self.proposals.begin_locating();
        let pending = PendingChanges { files: self.proposals.review().pending_changes(), refused: Vec::new() };
        let (answers, files) = (vec![answer], self.chat_files.files().to_vec());
        vec![Effect::Propose { request, pending, earlier: Vec::new(), reply, answers, files }]
    }

    /// The text of the last answer, for the clipboard.
    pub fn last_answer(&self) -> Option<ClipboardText> {
        let last = self.transcript.iter().rev().find_map(|entry| match entry {
            Entry::Answer(answer) if !answer.text.is_empty() => Some(answer.text.clone()),
            _ => None,
        });
        last.map(|text| ClipboardText { what: "The last answer".into(), text, hint: String::new() })
    }

    /// Assembles the next request as one text.
    pub fn copy_prompt(&self) -> Vec<Effect> {
        vec![Effect::CopyPrompt(Box::new(self.shown_request(self.next_request.generation())))]
    }

    pub(crate) fn prompt_clip(&self, text: String) -> ClipboardText {
        let tokens = self.next_request.view().map_or(0, |view| view.prompt.tokens);
        let what = format!("The prompt (about {tokens} tokens)");
        ClipboardText { what, text, hint: "Paste it into any chat, copy the whole reply, then /paste here.".into() }
    }
}
