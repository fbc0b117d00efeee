//! The cache of the last map, which is reused as its refresh mode allows.

use rhumb_index::repo_map::{MapRequest, Ranking, Refresh, RepoMap, TagGraph, Weights};
use rhumb_session::RequestSpec;
use rhumb_tokens::TokenCounter;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of top-ranked files that a reused steady map must contain.
const TOP_FILES: usize = 5;

/// The last map with its key.
#[derive(Debug, Default)]
pub struct MapCache {
    last: Mutex<Option<(MapKey, Arc<RepoMap>)>>,
}

/// Everything that a map depends on: equal keys have the same map. Fields that the refresh mode ignores are `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MapKey {
    budget: usize,
    refreshes: u64,
    chat_files: Option<Vec<String>>,
    /// Pinned and banned files, in every mode.
    chosen: [Vec<String>; 2],
    /// The message, and the address of the graph. The cached map keeps its graph alive, so that the address is not reused.
    message_and_graph: Option<(String, usize)>,
    provisional: bool,
    exact: bool,
}

impl MapKey {
    /// Whether the keys are equal except for the message.
    fn differs_only_in_message(&self, other: &Self) -> bool {
        let graph = |key: &Self| key.message_and_graph.as_ref().map(|(_, graph)| *graph);
        let rest = |key: &Self| Self { message_and_graph: None, ..key.clone() };
        graph(self) == graph(other) && rest(self) == rest(other)
    }
}

fn contains_top_files(old: &RepoMap, new: &RepoMap) -> bool {
    let shown: HashSet<&str> = old.files.iter().filter(|file| file.shown).map(|file| &*file.path).collect();
    new.files.iter().take(TOP_FILES).all(|file| shown.contains(&*file.path))
}

impl MapCache {
    /// The map for a request: the last one if its key is the same, else a new one.
    ///
    /// A `steady` map is part of a prompt prefix in a server's cache. It is also reused if only the message differs and it contains
    /// the files that rank first now.
    pub fn map(
        &self,
        graph: &Arc<TagGraph>,
        provisional: bool,
        spec: &RequestSpec,
        request: &MapRequest,
        steady: bool,
        counter: &dyn TokenCounter,
    ) -> Arc<RepoMap> {
        let key = MapKey {
            budget: request.budget,
            refreshes: spec.map.refreshes,
            chosen: [spec.map.pinned.iter().cloned().collect(), spec.map.banned.iter().cloned().collect()],
            chat_files: (spec.map.refresh != Refresh::Manual).then(|| request.chat_files.clone()),
            message_and_graph: spec
                .map
                .refresh
                .follows_disk()
                .then(|| (request.message.clone(), Arc::as_ptr(graph).addr())),
            provisional,
            exact: counter.exact(),
        };
        // The lock is not held while a map is ranked and rendered: a request must not wait for a measurement.
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, map)) = last.as_ref().filter(|(last, _)| *last == key) {
            return Arc::clone(map);
        }
        let ranking = Ranking::new(graph, request, &Weights::default());
        let mut map = Arc::new(RepoMap::of_ranking(ranking, request, counter));
        if let Some((last, old)) = last.filter(|_| steady)
            && last.differs_only_in_message(&key)
            && contains_top_files(&old, &map)
        {
            map = old;
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((key, Arc::clone(&map)));
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::CachedCounter;
    use rhumb_index::repo_map::{History, MapFile, MapIndex};
    use rhumb_syntax::{Definition, FileTags, SymbolKind};

    fn file(path: &str, name: &str) -> MapFile {
        let definition = Definition {
            name: name.into(),
            kind: SymbolKind::Function,
            line: 1,
            end_line: 2,
            signature: format!("fn {name}()"),
            container: None,
            doc: String::new(),
        };
        let tags = FileTags { definitions: vec![definition], ..FileTags::default() };
        MapFile { path: path.into(), tags: Arc::new(tags), digest: Arc::default() }
    }

    fn graph() -> Arc<TagGraph> {
        let files: Vec<MapFile> =
            (0..300).map(|number| file(&format!("src/harbour_{number}.rs"), &format!("moor_{number}"))).collect();
        Arc::new(TagGraph::new(Arc::new(MapIndex::of(&files)), &History::default(), &Weights::default()))
    }

    #[test]
    fn a_steady_map_changes_only_for_files_that_it_does_not_contain() {
        let (cache, graph, counter) = (MapCache::default(), graph(), CachedCounter::for_model("m"));
        let spec = RequestSpec::default();
        let map = |message: &str, steady| {
            let request = MapRequest { message: message.into(), budget: 600, ..MapRequest::default() };
            cache.map(&graph, false, &spec, &request, steady, &counter)
        };
        let first = map("why does moor_7 fail", false);
        assert!(first.text.contains("moor_7") && !first.text.contains("moor_239"), "{}", first.text);
        let same = map("and moor_7 again, please", true);
        assert!(Arc::ptr_eq(&first, &same));
        assert!(Arc::ptr_eq(&same, &map("and moor_7 again, please", true)), "it is cached for the same message");
        let moved = map("now look at moor_239", true);
        assert!(moved.text.contains("moor_239"), "{}", moved.text);
        assert!(
            !Arc::ptr_eq(&moved, &map("why does moor_7 fail?", false)),
            "a map that is not steady follows the message"
        );
    }
}
