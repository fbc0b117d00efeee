//! The survey of a command, with the map store.

use super::print_message;
use crate::host::{Survey, SurveyStart, survey, unread_rules};
use crate::store::{MapStore, StoreError};
use rhumb_workspace::Root;
use std::sync::atomic::AtomicBool;

/// Surveys the root with the stored results of earlier runs, and updates them. Problems with the store are reported and only
/// make the survey slower.
pub(super) fn surveyed(root: &Root, with_terms: bool, store: Option<&MapStore>) -> Survey {
    let survey = read(root, with_terms, store);
    report(store.map(|store| survey.save(store)));
    survey
}

/// Like [`surveyed`], and updates the stored results while `work` uses the survey.
pub(super) fn with_survey<T: Send>(
    root: &Root,
    with_terms: bool,
    store: Option<&MapStore>,
    work: impl FnOnce(&Survey) -> T + Send,
) -> T {
    let survey = read(root, with_terms, store);
    let (saved, result) = rayon::join(|| store.map(|store| survey.save(store)), || work(&survey));
    report(saved);
    // If this fails, the next run computes them again.
    if let Some(store) = store {
        drop(survey.save_ranks(store));
    }
    result
}

fn read(root: &Root, with_terms: bool, store: Option<&MapStore>) -> Survey {
    let start = SurveyStart { store, with_terms, ..SurveyStart::default() };
    let survey = survey(root, start, &AtomicBool::new(false), &|_| {}).unwrap_or_default();
    if survey.rebuilt {
        print_message(
            "the stored index of this repository is damaged or from another version, so everything was read again",
        );
    }
    survey.save_error().into_iter().for_each(report_unsaved);
    if let Some(refused) = &survey.git_refused {
        print_message(&format!("{} {}", refused.message, refused.hint));
    }
    if !survey.unread_rules.is_empty() {
        print_message(&unread_rules(&survey.unread_rules).message);
    }
    survey
}

fn report(saved: Option<Result<(), StoreError>>) {
    if let Some(Err(error)) = saved {
        report_unsaved(&error);
    }
}

fn report_unsaved(error: &StoreError) {
    print_message(&format!("{error}; the next run will read everything again"));
}
