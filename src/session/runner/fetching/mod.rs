//! Getting what comes from outside: pages, pictures, the clipboard, speech.

mod clipboard;
mod page;
mod pictures;
mod voice;

use std::sync::Mutex;

use tokio_util::sync::CancellationToken;

use super::{Runner, caught, lock};
use crate::session::{Clipboard, FetchOrder, FetchReport, Report};

pub(super) use pictures::picture_refusal;

/// What is on its way.
#[derive(Default)]
pub(super) struct Fetching {
    /// Stops the page.
    page: Mutex<CancellationToken>,
    /// Ends or stops what is being spoken.
    voice: Mutex<voice::Control>,
}

impl Runner {
    /// Starts getting something and returns at once.
    pub(super) fn fetch(self, order: FetchOrder) {
        match order {
            FetchOrder::Page { number, url, allowed } => {
                let cancel = CancellationToken::new();
                std::mem::replace(&mut *lock(&self.shared.fetching.page), cancel.clone()).cancel();
                tokio::spawn(async move {
                    tokio::select! {
                        biased;
                        () = cancel.cancelled() => {}
                        report = self.page(number, &url, &allowed) => self.report(Report::Fetched(report)).await,
                    }
                });
            }
            FetchOrder::StopPage => lock(&self.shared.fetching.page).cancel(),
            FetchOrder::Clipboard { name } => self.read_aside(move |runner| {
                let found = clipboard::read(name.as_deref(), &runner.model());
                FetchReport::Clipboard { name, found }
            }),
            FetchOrder::Picture { path, pasted } => {
                self.read_aside(move |runner| match pictures::picture_of_file(&path, &runner.model()) {
                    Err(pictures::NoPicture::OtherFile(_)) if pasted => FetchReport::NoPicture(path),
                    Err(pictures::NoPicture::OtherFile(failure) | pictures::NoPicture::Refused(failure)) => {
                        FetchReport::Picture(Err(failure))
                    }
                    Ok(picture) => FetchReport::Picture(Ok(picture)),
                })
            }
            FetchOrder::Record { number } => self.record(number),
            FetchOrder::EndRecording { keep } => lock(&self.shared.fetching.voice).end(keep),
        }
    }

    /// Reads on a thread that is not one of the runtime's: what hangs there (a clipboard whose owner is gone, a file of a network)
    /// must not hold up leaving.
    fn read_aside(self, read: impl FnOnce(&Self) -> FetchReport + Send + 'static) {
        let unstarted = self.clone();
        let work = move || {
            let report = caught(|| read(&self))
                .unwrap_or_else(|failure| FetchReport::Clipboard { name: None, found: Clipboard::Nothing(failure) });
            self.report_now(Report::Fetched(report));
        };
        if std::thread::Builder::new().spawn(work).is_err() {
            tokio::spawn(async move {
                let message = "The system starts no more threads.".into();
                let hint = "Close what you do not need.".into();
                unstarted.report(Report::Failed(crate::session::Failure { message, hint })).await;
            });
        }
    }
}
