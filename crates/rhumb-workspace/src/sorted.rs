//! Lookups of a series of keys in a sorted list.

use std::cmp::Ordering;

/// Searches a sorted list for an item that `order` calls equal, and returns its index. `next` is where the search begins; it starts at 0,
/// and ends after the item. A series of ascending keys of which most are in the list takes one comparison per key.
pub fn find_sorted<T>(items: &[T], next: &mut usize, order: impl Fn(&T) -> Ordering) -> Option<usize> {
    let found = match items.get(*next).map(&order) {
        Some(Ordering::Equal) => Ok(*next),
        _ => items.binary_search_by(order),
    };
    *next = found.map_or_else(|at| at, |at| at + 1);
    found.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_what_a_binary_search_finds(mut items in prop::collection::vec(0u8..40, 0..30), keys in prop::collection::vec(0u8..40, 0..30)) {
            items.sort_unstable();
            items.dedup();
            let mut next = 0;
            for key in keys {
                prop_assert_eq!(find_sorted(&items, &mut next, |item| item.cmp(&key)), items.binary_search(&key).ok());
            }
        }
    }
}
