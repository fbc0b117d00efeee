//! Fetches a web page into the conversation.

use crate::{Choice, Effect, Entry, Failure, FetchEffect, Level, Question, Session, Subject};
use rhumb_web::{NonPublicHost, page_url, shown_page_url};
use std::path::PathBuf;

/// A page that is being fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFetch {
    /// The number of the effect.
    pub number: u64,
    /// The URL, as typed.
    pub url: String,
    /// Bytes so far.
    pub bytes: usize,
    /// The hosts in private networks that the user has allowed.
    allowed: Vec<NonPublicHost>,
}

impl PageFetch {
    /// The progress, for display.
    pub fn status(&self) -> String {
        let so_far = if self.bytes == 0 { String::new() } else { format!(", {} kB", self.bytes.div_ceil(1_000)) };
        format!("reading {}{so_far}", shown_page_url(&self.url))
    }
}

/// A page that is shared with the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPage {
    /// The title and URL.
    pub title: String,
    /// The text for the model.
    pub text: String,
    /// The file with the whole text, if the text was cut.
    pub whole: Option<PathBuf>,
    /// The tokens of the text.
    pub tokens: usize,
    /// Why the whole text could not be saved, if so.
    pub note: Option<Failure>,
}

impl Session {
    /// Fetches a page into the conversation.
    pub fn fetch_page(&mut self, url: &str) -> Vec<Effect> {
        if let Some(page) = &self.attachments.page {
            let text = format!("Still {}.", page.status());
            self.report(Level::Warning, text, "Stop that first, then try again.");
            return Vec::new();
        }
        match page_url(url) {
            Ok(url) => self.start_page(url.as_str(), Vec::new()),
            Err(error) => {
                self.report(Level::Error, format!("{error}."), error.hint());
                Vec::new()
            }
        }
    }

    fn start_page(&mut self, url: &str, allowed: Vec<NonPublicHost>) -> Vec<Effect> {
        let number = self.attachments.next_number();
        self.attachments.page = Some(PageFetch { number, url: url.to_owned(), bytes: 0, allowed: allowed.clone() });
        vec![Effect::Fetch(FetchEffect::Page { number, url: url.to_owned(), allowed })]
    }

    /// Stops fetching the page; `None` if no page is being fetched.
    pub fn stop_page(&mut self) -> Option<Vec<Effect>> {
        let page = self.attachments.page.take()?;
        self.report(Level::Info, format!("Stopped reading {}.", shown_page_url(&page.url)), "");
        Some(vec![Effect::Fetch(FetchEffect::StopPage)])
    }

    pub(super) fn page_progress(&mut self, number: u64, bytes: usize) {
        if let Some(page) = self.attachments.page.as_mut().filter(|page| page.number == number) {
            page.bytes = bytes;
        }
    }

    /// Ends the fetch with this number. Returns `false` if it was stopped.
    pub(super) fn end_page_fetch(&mut self, number: u64) -> bool {
        self.attachments.page.take_if(|page| page.number == number).is_some()
    }

    pub(super) fn page_fetched(&mut self, number: u64, result: Result<SharedPage, Failure>) -> Vec<Effect> {
        if !self.end_page_fetch(number) {
            return Vec::new();
        }
        let SharedPage { title, text, whole, tokens, note } = match result {
            Ok(page) => page,
            Err(failure) => {
                self.report_failure(Level::Error, failure);
                return Vec::new();
            }
        };
        let cut = if whole.is_some() { ", cut to what fits" } else { "" };
        self.transcript.push(Entry::Shared { title: format!("{title} (~{tokens} tokens{cut})"), text, whole });
        if let Some(note) = note {
            self.report_failure(Level::Warning, note);
        }
        self.measure()
    }

    pub(super) fn ask_about_non_public_page(&mut self, number: u64, url: &str, host: NonPublicHost) {
        let Some(page) = self.attachments.page.take_if(|page| page.number == number) else { return };
        let place = host.description();
        let is_first = page.url == url;
        let title = if is_first {
            format!("Read {url}? It is at {place}.")
        } else {
            format!("Follow {} to {place}?", page.url)
        };
        let lead = if is_first { String::new() } else { format!("{} leads on to {url}.\n", page.url) };
        let text = format!(
            "{lead}That is not on the open internet. What is there may be meant for you alone, and the page becomes part of \
             what is sent to the model. Nothing was asked there yet; no key goes along."
        );
        let allowed = [page.allowed, vec![host]].concat();
        self.question(Question {
            subject: Subject::NonPublicPage { url: page.url, allowed },
            title,
            text,
            choices: vec![Choice::new('y', "read it"), Choice::new('n', "leave it")],
        });
    }

    pub(crate) fn answer_non_public_page(&mut self, url: &str, allowed: Vec<NonPublicHost>, key: char) -> Vec<Effect> {
        if key != 'y' {
            self.report(Level::Info, format!("Not read: {}.", shown_page_url(url)), "");
            return Vec::new();
        }
        if self.attachments.page.is_some() {
            // Another page was requested meanwhile.
            return self.fetch_page(url);
        }
        self.start_page(url, allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Connection, FetchResponse, Response};

    fn session() -> Session {
        Session::start(Connection::None).0
    }

    fn page_effect(effects: &[Effect]) -> (u64, Vec<NonPublicHost>) {
        match effects {
            [Effect::Fetch(FetchEffect::Page { number, allowed, .. })] => (*number, allowed.clone()),
            other => panic!("{other:?}"),
        }
    }

    fn host(address: &str) -> NonPublicHost {
        NonPublicHost { host: "box".into(), port: 80, addresses: vec![address.parse().unwrap()] }
    }

    fn page() -> SharedPage {
        SharedPage { title: "Tides — https://x/".into(), text: "high".into(), whole: None, tokens: 1, note: None }
    }

    #[test]
    fn a_page_becomes_part_of_the_conversation() {
        let mut session = session();
        let (number, allowed) = page_effect(&session.fetch_page("example.com"));
        assert!(allowed.is_empty() && session.attachments.page.is_some());
        session.handle(Response::Fetched(FetchResponse::Page { number, result: Ok(page()) }));
        assert!(session.attachments.page.is_none());
        assert!(matches!(session.transcript.last(), Some(Entry::Shared { text, .. }) if text == "high"));
    }

    #[test]
    fn the_user_is_asked_once_about_each_private_host() {
        let mut session = session();
        let (number, _) = page_effect(&session.fetch_page("http://a.example/"));
        let near = |number, ip: &str| {
            Response::Fetched(FetchResponse::NonPublic { number, url: "http://box/".into(), host: host(ip) })
        };
        session.handle(near(number, "10.0.0.1"));
        assert!(session.questions.first().unwrap().title.contains("10.0.0.1") && session.attachments.page.is_none());
        let (number, allowed) = page_effect(&session.answer('y'));
        assert_eq!(allowed, [host("10.0.0.1")]);
        session.handle(near(number, "10.0.0.2"));
        let (_, allowed) = page_effect(&session.answer('y'));
        assert_eq!(allowed, [host("10.0.0.1"), host("10.0.0.2")]);
    }

    #[test]
    fn refusing_and_stopping_fetch_nothing() {
        let mut session = session();
        let (number, _) = page_effect(&session.fetch_page("http://box/"));
        let near = FetchResponse::NonPublic { number, url: "http://box/".into(), host: host("10.0.0.1") };
        session.handle(Response::Fetched(near));
        assert!(session.answer('n').is_empty() && session.questions.is_empty());
        let (number, _) = page_effect(&session.fetch_page("http://box/"));
        assert!(session.fetch_page("http://other/").is_empty(), "one at a time");
        assert_eq!(session.stop_page(), Some(vec![Effect::Fetch(FetchEffect::StopPage)]));
        session.handle(Response::Fetched(FetchResponse::Page { number, result: Ok(page()) }));
        assert!(!session.transcript.iter().any(|entry| matches!(entry, Entry::Shared { .. })), "it came too late");
        assert_eq!(session.stop_page(), None);
    }

    #[test]
    fn an_invalid_url_is_reported_without_its_password() {
        let mut session = session();
        assert!(session.fetch_page("https://u:canary@example.com/").is_empty());
        let told = format!("{:?}", session.transcript);
        assert!(told.contains("password") && !told.contains("canary"), "{told}");
    }
}
