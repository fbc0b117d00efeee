//! Where the map of a root is kept between runs.

use crate::config::Paths;
use crate::git;
use crate::store::MapStore;
use crate::workspace::Root;

/// The store of a root's map; `None` where the user has no home.
pub fn map_store(root: &Root) -> Option<MapStore> {
    let cache = Paths::of_user()?.cache;
    let repository = git::common_folder(root.path());
    Some(MapStore::new(&cache, repository.as_deref().unwrap_or(root.path()), root.path()))
}
