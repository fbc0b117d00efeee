//! Where the map of a root is kept between runs.

use crate::config::Settings;
use crate::store::MapStore;
use rhumb_workspace::Root;
use rhumb_workspace::git;

/// The store of a root's map; `None` where nothing is kept, as without a home.
pub fn map_store(settings: &Settings, root: &Root) -> Option<MapStore> {
    let cache = settings.cache_folder.as_deref()?;
    let repository = git::common_folder(root.path());
    Some(MapStore::new(cache, repository.as_deref().unwrap_or(root.path()), root.path()))
}
