//! Keeps sessions, on a thread of their own: the disk may be slow, and nothing that is drawn waits for it. Orders are carried out one
//! after the other, so that what was kept first is there when something is read.

mod session_writer;
pub(super) mod store;
mod texts;

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use super::{Host, caught, lock};
use rhumb_session::{Failure, PersistenceEffect, PersistenceResponse, Response};
use session_writer::Desk;

/// The way to the thread that keeps sessions; it begins with the first order.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    jobs: Mutex<Option<Sender<Job>>>,
}

/// Something for that thread.
#[derive(Debug)]
enum Job {
    Order(PersistenceEffect),
    /// Say when all before this is done and the database is closed.
    Finish(oneshot::Sender<()>),
}

impl Host {
    pub(super) fn keep(&self, order: PersistenceEffect) {
        match order {
            PersistenceEffect::Write(order) => self.clone().blocking(failed, move |runner| runner.write_text(order)),
            PersistenceEffect::Read(path) => self.clone().blocking(failed, move |runner| runner.read_commands(path)),
            order => self.hand_over(Job::Order(order)),
        }
    }

    /// Waits until everything is kept that was ordered so far. Nothing is kept after it.
    pub async fn finish_keeping(&self) {
        if lock(&self.shared.keeper.jobs).is_none() {
            return;
        }
        let (done, finished) = oneshot::channel();
        self.hand_over(Job::Finish(done));
        // The thread is gone where this fails, and there is nothing to wait for.
        let _ = finished.await;
    }

    fn hand_over(&self, job: Job) {
        let mut jobs = lock(&self.shared.keeper.jobs);
        let sender = jobs.get_or_insert_with(|| self.start_keeper());
        if sender.send(job).is_err() {
            *jobs = None;
        }
    }

    fn start_keeper(&self) -> Sender<Job> {
        let (sender, jobs) = mpsc::channel();
        let settings = &self.shared.outfit.settings;
        let state = settings.state_folder.clone().filter(|_| settings.sessions);
        // The runner holds the other end of the channel: held by the thread in turn, neither would ever end.
        let desk = Desk::new(self.shared.root.clone(), state, Arc::downgrade(&self.shared), self.reports.clone());
        let started = std::thread::Builder::new().name("sessions".into()).spawn(move || work(desk, &jobs));
        if let Err(error) = started {
            let message = format!("Sessions are not kept: {error}.");
            // This may be the thread that takes reports in, which must not wait for itself.
            let _ =
                self.reports.try_send(kept(PersistenceResponse::Off(Some(Failure { message, hint: String::new() }))));
        }
        sender
    }
}

fn work(mut desk: Desk, jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        match job {
            Job::Order(order) => {
                if let Err(failure) = caught(|| desk.carry_out(order)) {
                    desk.give_up(Some(failure));
                }
            }
            Job::Finish(done) => {
                desk.close();
                let _ = done.send(());
            }
        }
    }
}

fn kept(report: PersistenceResponse) -> Response {
    Response::Persisted(report)
}

fn failed(failure: Failure) -> Response {
    kept(PersistenceResponse::Failed(failure))
}
