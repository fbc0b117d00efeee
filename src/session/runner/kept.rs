//! The map that is shown, kept for as long as its refresh mode lets it stand.

use std::sync::{Arc, Mutex, PoisonError};

use crate::repo_map::{MapRequest, Ranking, Refresh, RepoMap, TagGraph, Weights};
use crate::session::ContextOrder;
use crate::tokens::TokenCounter;

/// The last map, and what it was made for.
#[derive(Debug, Default)]
pub struct KeptMap {
    kept: Mutex<Option<(Occasion, Arc<RepoMap>)>>,
}

/// What a map was made for. Two equal ones have the same map.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Occasion {
    budget: usize,
    refreshes: u64,
    chat_files: Option<Vec<String>>,
    /// Pinned and banned files: a choice of the user moves the map in any mode.
    chosen: [Vec<String>; 2],
    /// The draft, and which graph.
    rest: Option<(String, usize)>,
    /// A first guess moves the map once more in any mode, when it is one no longer.
    provisional: bool,
    exact: bool,
}

impl KeptMap {
    /// The map for an order: the last one if nothing happened that moves it, else a new one.
    pub fn map(
        &self,
        graph: &Arc<TagGraph>,
        provisional: bool,
        order: &ContextOrder,
        request: &MapRequest,
        counter: &dyn TokenCounter,
    ) -> Arc<RepoMap> {
        let occasion = Occasion {
            budget: request.budget,
            refreshes: order.map_refreshes,
            chosen: [order.pinned.clone(), order.banned.clone()],
            chat_files: (order.map_refresh != Refresh::Manual).then(|| request.chat_files.clone()),
            // A survey is another graph; the old one is kept by the map, so that its place is not used again.
            rest: order.map_refresh.follows_disk().then(|| (request.message.clone(), Arc::as_ptr(graph).addr())),
            provisional,
            exact: counter.exact(),
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, map)) = kept.as_ref().filter(|(known, _)| *known == occasion) {
            return Arc::clone(map);
        }
        let ranking = Ranking::new(graph, request, &Weights::default());
        let map = Arc::new(RepoMap::of_ranking(ranking, request, counter));
        *kept = Some((occasion, Arc::clone(&map)));
        map
    }
}
