//! Fetches content from outside of the repository: pages, images, the clipboard, speech.

mod clipboard;
mod dictation;
mod images;
mod page;

use super::{Host, caught, lock};
use rhumb_session::{Clipboard, EffectKind, Failure, FetchEffect, FetchResponse, Response};
use std::sync::Mutex;
use tokio_util::sync::CancellationToken;

pub(super) use images::image_refusal;

#[derive(Default)]
pub(super) struct FetchControl {
    page: Mutex<CancellationToken>,
    recording: Mutex<dictation::RecordingControl>,
}

impl Host {
    pub(super) fn fetch(self, effect: FetchEffect) {
        match effect {
            FetchEffect::Page { number, url, allowed } => {
                let cancel = CancellationToken::new();
                std::mem::replace(&mut *lock(&self.shared.fetch_control.page), cancel.clone()).cancel();
                tokio::spawn(async move {
                    tokio::select! {
                        biased;
                        () = cancel.cancelled() => {}
                        response = self.page(number, &url, &allowed) => self.respond(Response::Fetched(response)).await,
                    }
                });
            }
            FetchEffect::StopPage => lock(&self.shared.fetch_control.page).cancel(),
            FetchEffect::Clipboard { name } => self.read_on_new_thread(move |host| {
                let found = clipboard::read(name.as_deref(), &host.model());
                FetchResponse::Clipboard { name, found }
            }),
            FetchEffect::Image { path, pasted } => {
                self.read_on_new_thread(move |host| match images::image_from_file(&path, &host.model()) {
                    Err(images::NotAnImage::OtherFile(_)) if pasted => FetchResponse::NotAnImage(path),
                    Err(images::NotAnImage::OtherFile(failure) | images::NotAnImage::Refused(failure)) => {
                        FetchResponse::Image(Err(failure))
                    }
                    Ok(picture) => FetchResponse::Image(Ok(picture)),
                })
            }
            FetchEffect::StartRecording { number } => self.record(number),
            FetchEffect::StopRecording { transcribe } => lock(&self.shared.fetch_control.recording).end(transcribe),
        }
    }

    /// Reads on a thread outside of the runtime, because a read that hangs (a clipboard whose owner does not respond, a network file)
    /// must not delay the end of the program.
    fn read_on_new_thread(self, read: impl FnOnce(&Self) -> FetchResponse + Send + 'static) {
        let host = self.clone();
        let work = move || {
            let response = caught(|| read(&self))
                .unwrap_or_else(|failure| FetchResponse::Clipboard { name: None, found: Clipboard::Nothing(failure) });
            self.respond_now(Response::Fetched(response));
        };
        if std::thread::Builder::new().spawn(work).is_err() {
            tokio::spawn(async move {
                let message = "The system cannot start another thread.".into();
                let hint = "Close other programs, then try again.".into();
                host.respond(EffectKind::Fetch.failed()(Failure { message, hint })).await;
            });
        }
    }
}
