//! The map that is shown, kept for as long as its refresh mode lets it stand.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rhumb_index::repo_map::{MapRequest, Ranking, Refresh, RepoMap, TagGraph, Weights};
use rhumb_session::RequestSpec;
use rhumb_tokens::TokenCounter;

/// The last map, and what it was made for.
#[derive(Debug, Default)]
pub struct MapCache {
    kept: Mutex<Option<(MapKey, Arc<RepoMap>)>>,
}

/// What a map was made for. Two equal ones have the same map.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MapKey {
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

/// Files that rank first and that a steady map must hold.
const TOP_FILES: usize = 5;

impl MapKey {
    /// Whether nothing but the message is another.
    fn differs_in_words(&self, other: &Self) -> bool {
        let graph = |key: &Self| key.rest.as_ref().map(|(_, graph)| *graph);
        let wordless = |key: &Self| Self { rest: None, ..key.clone() };
        graph(self) == graph(other) && wordless(self) == wordless(other)
    }
}

/// Whether a map names the files that rank first in another one.
fn holds_leads(old: &RepoMap, new: &RepoMap) -> bool {
    let named: HashSet<&str> = old.text.lines().map(|line| line.strip_suffix(':').unwrap_or(line)).collect();
    new.files.iter().take(TOP_FILES).all(|file| named.contains(&*file.path))
}

impl MapCache {
    /// The map for an spec: the last one if nothing happened that moves it, else a new one.
    ///
    /// A `steady` map is one that a server keeps in its cache, with all that follows it: it is not moved by other words alone, as
    /// long as the files that now rank first are in it.
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
            // A survey is another graph; the old one is kept by the map, so that its place is not used again.
            rest: spec.map.refresh.follows_disk().then(|| (request.message.clone(), Arc::as_ptr(graph).addr())),
            provisional,
            exact: counter.exact(),
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, map)) = kept.as_ref().filter(|(known, _)| *known == key) {
            return Arc::clone(map);
        }
        let ranking = Ranking::new(graph, request, &Weights::default());
        let mut map = Arc::new(RepoMap::of_ranking(ranking, request, counter));
        if let Some((known, old)) = kept.as_ref().filter(|_| steady)
            && known.differs_in_words(&key)
            && holds_leads(old, &map)
        {
            map = Arc::clone(old);
        }
        *kept = Some((key, Arc::clone(&map)));
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
    fn a_steady_map_moves_only_for_files_that_it_does_not_hold() {
        let (kept, graph, counter) = (MapCache::default(), graph(), CachedCounter::for_model("m"));
        let spec = RequestSpec::default();
        let map = |message: &str, steady| {
            let request = MapRequest { message: message.into(), budget: 600, ..MapRequest::default() };
            kept.map(&graph, false, &spec, &request, steady, &counter)
        };
        let first = map("why does moor_7 fail", false);
        assert!(first.text.contains("moor_7") && !first.text.contains("moor_239"), "{}", first.text);
        let same = map("and moor_7 again, please", true);
        assert!(Arc::ptr_eq(&first, &same));
        assert!(Arc::ptr_eq(&same, &map("and moor_7 again, please", true)), "it is not made anew for the same words");
        let moved = map("now look at moor_239", true);
        assert!(moved.text.contains("moor_239"), "{}", moved.text);
        assert!(
            !Arc::ptr_eq(&moved, &map("why does moor_7 fail?", false)),
            "a map that is not steady follows the words"
        );
    }
}
