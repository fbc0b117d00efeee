//! How somebody names what comes first in the map, or never stands in it: a file by its path, a symbol as `path#name`. All
//! definitions of a name in a file are one symbol.

use std::collections::BTreeSet;

use super::graph::TagGraph;

/// What stands between the path of a file and the name of a symbol of it.
const BETWEEN: char = '#';

/// The name of a symbol of a file for [`super::MapRequest::pinned`] and [`super::MapRequest::banned`].
pub fn symbol_choice(path: &str, name: &str) -> String {
    format!("{path}{BETWEEN}{name}")
}

/// The ways to read a choice as a path and the name of a symbol: either may hold the sign between them.
pub fn symbol_readings(choice: &str) -> impl Iterator<Item = (&str, &str)> {
    let at = |(at, sign): (usize, &str)| Some((choice.get(..at)?, choice.get(at + sign.len()..)?));
    choice.match_indices("#").filter_map(at).filter(|(path, name)| !path.is_empty() && !name.is_empty())
}

/// The symbols that choices name. What names a file is none, and neither is what names nothing.
pub(crate) fn symbols_chosen(graph: &TagGraph, choices: &[String]) -> BTreeSet<u32> {
    let index = graph.index();
    let symbol = |choice: &String| {
        if index.file_at(choice).is_some() {
            return None;
        }
        symbol_readings(choice).find_map(|(path, name)| {
            let (file, name) = (index.file_at(path)?, index.name_number(name)?);
            let is_meant = |symbol: &&u32| graph.symbols().get(**symbol as usize).is_some_and(|own| own.name == name);
            graph.symbols_of(file).iter().find(is_meant).copied()
        })
    };
    choices.iter().filter_map(symbol).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_may_stand_in_paths_and_names() {
        let choice = symbol_choice("a.rs", "moor");
        let read = |choice| symbol_readings(choice).collect::<Vec<_>>();
        assert_eq!(read(choice.as_str()), [("a.rs", "moor")]);
        assert_eq!(read("a.js##count"), [("a.js", "#count"), ("a.js#", "count")]);
        assert_eq!(read("c#/a.cs#Moor"), [("c", "/a.cs#Moor"), ("c#/a.cs", "Moor")]);
        assert!(read("a.rs").is_empty() && read("a.rs#").is_empty() && read("#moor").is_empty());
    }
}
