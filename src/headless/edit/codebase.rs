//! Questions about the whole repository without the app: passages are looked up before the request goes out, and more of them where
//! the model asks for it and nobody need be asked.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::out::Out;
use crate::config::{EmbeddingsSource, More};
use crate::context::{Mode, PassagePlace, codebase_question, extended};
use crate::error::{ErrorKind, UserError};
use crate::headless::event::{PassageEvent, TurnEvent};
use crate::headless::index::blocked;
use crate::headless::{advise, complain};
use crate::session::runner::{
    Assistant, Gathering, Ground, IndexError, Known, Line, Outfit, Survey, embedder, gathered, is_wanted,
    known_meaning, weak_line,
};
use crate::session::{AskEvent, ContextOrder, FoundPassages, Sought, found_message};
use rhumb_index::retrieval::{Related, wants};
use rhumb_llm::models::{Ledger, Model};
use rhumb_llm::{Message, Role};
use rhumb_workspace::Root;

/// The passages of a turn, and how often the model may ask for more.
pub(super) struct Codebase<'a> {
    root: &'a Root,
    outfit: &'a Outfit,
    survey: Arc<Survey>,
    model: &'a Model,
    /// Whom to ask; nobody where nothing is sent.
    pub(crate) line: Option<&'a Line>,
    /// What a flag says of more, if anything.
    pub(crate) more: Option<More>,
    places: RefCell<Vec<PassagePlace>>,
    related: RefCell<Vec<Related>>,
    /// What passages mean, once that was looked for.
    meaning: OnceCell<Option<Known>>,
    /// What the help of models cost.
    pub(super) ledger: RefCell<Ledger>,
    /// Searches so far; 0 where nothing was asked of the repository.
    searches: Cell<usize>,
}

impl<'a> Codebase<'a> {
    pub(crate) fn new(root: &'a Root, outfit: &'a Outfit, survey: &Arc<Survey>, model: &'a Model) -> Self {
        Self {
            root,
            outfit,
            survey: Arc::clone(survey),
            model,
            line: None,
            more: None,
            places: RefCell::default(),
            related: RefCell::default(),
            meaning: OnceCell::new(),
            ledger: RefCell::default(),
            searches: Cell::new(0),
        }
    }

    /// Looks up what a message asks of the whole repository, if it asks anything.
    ///
    /// # Errors
    /// There are no words beside the mark.
    pub(crate) fn look_up(&self, message: &str, mode: Mode, chat: &[String], out: &Out) -> Result<(), UserError> {
        match codebase_question(message).filter(|_| !matches!(mode, Mode::Help | Mode::Editor)) {
            None => Ok(()),
            Some(question) if question.is_empty() => {
                let hint = "say what you want to know: -m \"@codebase where are paths resolved?\"";
                Err(UserError::new(ErrorKind::Usage, "there is no question beside @codebase", hint))
            }
            Some(question) => {
                let found = self.search(&Sought::Question(question), chat, out)?;
                if found.places.is_empty() {
                    complain("no passage of the repository speaks of it");
                }
                Ok(())
            }
        }
    }

    /// The order with the passages, as they are now.
    pub(crate) fn with(&self, order: ContextOrder) -> ContextOrder {
        let codebase = (self.searches.get() > 0).then(|| self.may_search());
        let (passages, related) = (self.places.borrow().clone(), self.related.borrow().clone());
        ContextOrder { passages, related, codebase, ..order }
    }

    /// What the model asks for at the end of a reply is looked up; the message to go on with, or none if it asks for nothing, or may
    /// not.
    ///
    /// # Errors
    /// Standard output is gone.
    pub(crate) fn more(&self, reply: &str, chat: &[String], out: &Out) -> Result<Option<String>, UserError> {
        let wants = wants(reply);
        if wants.is_empty() || self.searches.get() == 0 {
            return Ok(None);
        }
        if !self.may_search() {
            complain("the model asks for more of the repository, and gets no more (--codebase-more, codebase_rounds)");
            return Ok(None);
        }
        let found = self.search(&Sought::Wants(wants), chat, out)?;
        Ok(Some(found_message(&found)))
    }

    /// Without the app nobody is there to be asked: `ask` is a no.
    fn may_search(&self) -> bool {
        let settings = &self.outfit.settings.codebase;
        self.more.unwrap_or(settings.more) == More::Always && self.searches.get() <= settings.rounds
    }

    fn search(&self, sought: &Sought, chat: &[String], out: &Out) -> Result<FoundPassages, UserError> {
        self.searches.set(self.searches.get() + 1);
        let ground = Ground {
            root: self.root.clone(),
            survey: Arc::clone(&self.survey),
            counter: Arc::new(self.outfit.counter(self.model)),
            meaning: self.meaning()?,
            chat: chat.to_vec(),
            kept: self.places.borrow().clone(),
            turn: self.searches.get() as u64,
            budget: self.outfit.passage_budget(self.model),
        };
        let helps = self.line.filter(|_| is_wanted(&self.outfit.settings.codebase));
        let weak = helps.map(|line| weak_line(self.outfit, None, line));
        let found = blocked(self.gather(ground, sought, weak.as_ref(), out))??;
        found.told.iter().for_each(|told| complain(told));
        found.notes.iter().for_each(|note| advise(&note.message, &note.hint));
        out.event(&TurnEvent::Passages { passages: found.places.iter().map(passage_event).collect() })?;
        if matches!(sought, Sought::Question(_)) {
            self.related.replace(found.related.clone());
        }
        self.places.replace_with(|places| extended(std::mem::take(places), found.places.clone()));
        Ok(found)
    }

    /// What is known of the meaning of passages, where the settings name a model for it and it may be asked.
    fn meaning(&self) -> Result<Option<Known>, UserError> {
        let settings = &self.outfit.settings;
        // Where nothing is sent, no server of embeddings is asked either.
        let may = match settings.embeddings.source {
            EmbeddingsSource::Off => false,
            EmbeddingsSource::Local => true,
            EmbeddingsSource::Remote => self.line.is_some(),
        };
        if let Some(known) = self.meaning.get().or(if may { None } else { Some(&None) }) {
            return Ok(known.clone());
        }
        let known = blocked(async {
            let embedder = embedder(settings)?.ok_or(IndexError::Off)?;
            let meaning = known_meaning(self.root, &self.survey, settings, embedder.as_ref()).await?;
            Ok::<Known, IndexError>((embedder, Arc::new(meaning)))
        })?;
        let known = known.map_err(|error| advise(&format!("searched by words alone: {error}"), &error.hint())).ok();
        Ok(self.meaning.get_or_init(|| known).clone())
    }
}

impl Codebase<'_> {
    async fn gather(
        &self,
        ground: Ground,
        sought: &Sought,
        weak: Option<&Line>,
        out: &Out,
    ) -> Result<FoundPassages, UserError> {
        let allowance = self.outfit.settings.spending_cap;
        let assistant = weak.map(|line| Assistant { line, outfit: self.outfit, allowance });
        let (events, mut arriving) = mpsc::channel(16);
        let cancel = CancellationToken::new();
        let tell = async {
            while let Some(event) = arriving.recv().await {
                match event {
                    Gathering::Status(status) => out.event(&TurnEvent::Status { text: status })?,
                    Gathering::Spent(spent) => {
                        let model = spent.model.name.clone();
                        self.ledger.borrow_mut().enter(1, &spent.model, spent.tokens);
                        out.asked(&model, AskEvent::Spent(spent))?;
                    }
                }
            }
            Ok::<(), UserError>(())
        };
        let gather = async {
            let found = gathered(Arc::new(ground), sought, assistant, &cancel, &events).await;
            drop(events);
            found
        };
        let (found, told) = tokio::join!(gather, tell);
        told.map(|()| found)
    }
}

fn passage_event(place: &PassagePlace) -> PassageEvent {
    let symbol = place.anchor.as_ref().map(|anchor| anchor.symbol.clone());
    PassageEvent { path: place.path.clone(), start_line: place.line, end_line: place.end_line, symbol }
}

/// A message and its answer, as what was said before the next.
pub(super) fn exchange(message: &str, reply: &str) -> [Message; 2] {
    [Message::new(Role::User, message), Message::new(Role::Assistant, reply)]
}
