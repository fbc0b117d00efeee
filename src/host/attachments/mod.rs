//! Getting what comes from outside: pages, pictures, the clipboard, speech.

mod clipboard;
mod dictation;
mod images;
mod page;

use std::sync::Mutex;

use tokio_util::sync::CancellationToken;

use super::{Host, caught, lock};
use rhumb_session::{Clipboard, EffectKind, Failure, FetchEffect, FetchResponse, Response};

pub(super) use images::picture_refusal;

/// What is on its way.
#[derive(Default)]
pub(super) struct Fetching {
    /// Stops the page.
    page: Mutex<CancellationToken>,
    /// Ends or stops what is being spoken.
    voice: Mutex<dictation::Control>,
}

impl Host {
    /// Starts getting something and returns at once.
    pub(super) fn fetch(self, order: FetchEffect) {
        match order {
            FetchEffect::Page { number, url, allowed } => {
                let cancel = CancellationToken::new();
                std::mem::replace(&mut *lock(&self.shared.fetching.page), cancel.clone()).cancel();
                tokio::spawn(async move {
                    tokio::select! {
                        biased;
                        () = cancel.cancelled() => {}
                        report = self.page(number, &url, &allowed) => self.report(Response::Fetched(report)).await,
                    }
                });
            }
            FetchEffect::StopPage => lock(&self.shared.fetching.page).cancel(),
            FetchEffect::Clipboard { name } => self.read_aside(move |runner| {
                let found = clipboard::read(name.as_deref(), &runner.model());
                FetchResponse::Clipboard { name, found }
            }),
            FetchEffect::Picture { path, pasted } => {
                self.read_aside(move |runner| match images::picture_of_file(&path, &runner.model()) {
                    Err(images::NotAnImage::OtherFile(_)) if pasted => FetchResponse::NotAnImage(path),
                    Err(images::NotAnImage::OtherFile(failure) | images::NotAnImage::Refused(failure)) => {
                        FetchResponse::Picture(Err(failure))
                    }
                    Ok(picture) => FetchResponse::Picture(Ok(picture)),
                })
            }
            FetchEffect::Record { number } => self.record(number),
            FetchEffect::EndRecording { keep } => lock(&self.shared.fetching.voice).end(keep),
        }
    }

    /// Reads on a thread that is not one of the runtime's: what hangs there (a clipboard whose owner is gone, a file of a network)
    /// must not hold up leaving.
    fn read_aside(self, read: impl FnOnce(&Self) -> FetchResponse + Send + 'static) {
        let unstarted = self.clone();
        let work = move || {
            let report = caught(|| read(&self))
                .unwrap_or_else(|failure| FetchResponse::Clipboard { name: None, found: Clipboard::Nothing(failure) });
            self.report_now(Response::Fetched(report));
        };
        if std::thread::Builder::new().spawn(work).is_err() {
            tokio::spawn(async move {
                let message = "The system starts no more threads.".into();
                let hint = "Close what you do not need.".into();
                let failure = Failure { message, hint };
                unstarted.report(Response::Failed { effect: EffectKind::Fetch, failure }).await;
            });
        }
    }
}
