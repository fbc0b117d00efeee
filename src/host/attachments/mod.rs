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
pub(super) struct FetchControl {
    /// Stops the page.
    page: Mutex<CancellationToken>,
    /// Ends or stops what is being spoken.
    voice: Mutex<dictation::Control>,
}

impl Host {
    /// Starts getting something and returns at once.
    pub(super) fn fetch(self, effect: FetchEffect) {
        match effect {
            FetchEffect::Page { number, url, allowed } => {
                let cancel = CancellationToken::new();
                std::mem::replace(&mut *lock(&self.shared.fetch_control.page), cancel.clone()).cancel();
                tokio::spawn(async move {
                    tokio::select! {
                        biased;
                        () = cancel.cancelled() => {}
                        report = self.page(number, &url, &allowed) => self.respond(Response::Fetched(report)).await,
                    }
                });
            }
            FetchEffect::StopPage => lock(&self.shared.fetch_control.page).cancel(),
            FetchEffect::Clipboard { name } => self.read_aside(move |host| {
                let found = clipboard::read(name.as_deref(), &host.model());
                FetchResponse::Clipboard { name, found }
            }),
            FetchEffect::Image { path, pasted } => {
                self.read_aside(move |host| match images::picture_of_file(&path, &host.model()) {
                    Err(images::NotAnImage::OtherFile(_)) if pasted => FetchResponse::NotAnImage(path),
                    Err(images::NotAnImage::OtherFile(failure) | images::NotAnImage::Refused(failure)) => {
                        FetchResponse::Image(Err(failure))
                    }
                    Ok(picture) => FetchResponse::Image(Ok(picture)),
                })
            }
            FetchEffect::StartRecording { number } => self.record(number),
            FetchEffect::StopRecording { transcribe } => lock(&self.shared.fetch_control.voice).end(transcribe),
        }
    }

    /// Reads on a thread that is not one of the runtime's: what hangs there (a clipboard whose owner is gone, a file of a network)
    /// must not hold up leaving.
    fn read_aside(self, read: impl FnOnce(&Self) -> FetchResponse + Send + 'static) {
        let unstarted = self.clone();
        let work = move || {
            let report = caught(|| read(&self))
                .unwrap_or_else(|failure| FetchResponse::Clipboard { name: None, found: Clipboard::Nothing(failure) });
            self.respond_now(Response::Fetched(report));
        };
        if std::thread::Builder::new().spawn(work).is_err() {
            tokio::spawn(async move {
                let message = "The system starts no more threads.".into();
                let hint = "Close what you do not need.".into();
                unstarted.respond(EffectKind::Fetch.failed()(Failure { message, hint })).await;
            });
        }
    }
}
