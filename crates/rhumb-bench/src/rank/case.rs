//! The cases: a request, the commit before its change, and what the change touched. Two forms are read: commits (see the `context`
//! benchmark) and issues.

use serde::Deserialize;

/// An example of an issue case.
pub const RANK_CASE: &str = r#"{"id": "cache-12", "mirror": "owner/name", "base": "0f3c…", "query": "the cache is stale after a rename", "files": ["src/cache.py"], "functions": [["src/cache.py", "Cache.refresh"]], "strict": []}"#;

/// A case.
#[derive(Debug, Clone, PartialEq)]
pub struct RankCase {
    /// The name.
    pub id: String,
    /// The repository as `owner/name`.
    pub repository: String,
    /// The language of a commit case; `issue` for an issue.
    pub group: String,
    /// The commit before the change.
    pub commit: String,
    /// The request.
    pub query: String,
    /// The changed files.
    pub files: Vec<String>,
    /// The changed definitions.
    pub symbols: Vec<GoldName>,
    /// For issues: the definitions with changed lines only.
    pub strict: Vec<GoldName>,
    /// The changed file that is in the chat in the second scenario; may be empty.
    pub chat: String,
}

/// A definition that the change touched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoldName {
    /// The file.
    pub path: String,
    /// The name, with its containers for issues.
    pub name: String,
    /// The first line, 1-based; 0 if unknown.
    pub line: u32,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Issue(IssueLine),
    Commit(CommitLine),
}

#[derive(Deserialize)]
struct IssueLine {
    id: String,
    mirror: String,
    base: String,
    query: String,
    files: Vec<String>,
    functions: Vec<(String, String)>,
    #[serde(default)]
    strict: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct CommitLine {
    id: String,
    repo: String,
    #[serde(default)]
    lang: String,
    parent: String,
    query: String,
    gold: Vec<PathLine>,
    #[serde(default)]
    symbols: Vec<SymbolLine>,
    #[serde(default)]
    chat: String,
}

#[derive(Deserialize)]
struct PathLine {
    path: String,
}

#[derive(Deserialize)]
struct SymbolLine {
    path: String,
    name: String,
    line: u32,
}

/// Reads a line of a case file.
///
/// # Errors
/// The line is in neither form.
pub fn read(line: &str) -> Result<RankCase, serde_json::Error> {
    let names = |names: Vec<(String, String)>| {
        names.into_iter().map(|(path, name)| GoldName { path, name, line: 0 }).collect::<Vec<_>>()
    };
    Ok(match serde_json::from_str(line)? {
        Line::Issue(issue) => RankCase {
            id: issue.id,
            repository: issue.mirror,
            group: "issue".to_owned(),
            commit: issue.base,
            query: issue.query,
            files: issue.files,
            symbols: names(issue.functions),
            strict: names(issue.strict),
            chat: String::new(),
        },
        Line::Commit(commit) => RankCase {
            id: commit.id,
            repository: commit.repo,
            group: commit.lang,
            commit: commit.parent,
            query: commit.query,
            files: commit.gold.into_iter().map(|file| file.path).collect(),
            symbols: commit
                .symbols
                .into_iter()
                .map(|symbol| GoldName { path: symbol.path, name: symbol.name, line: symbol.line })
                .collect(),
            strict: Vec::new(),
            chat: commit.chat,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_docs_show_the_example() {
        assert!(include_str!("../../../../docs/benchmarks.md").contains(RANK_CASE));
    }

    #[test]
    fn both_forms_are_read() {
        let issue = read(RANK_CASE).unwrap();
        assert_eq!((issue.group.as_str(), issue.symbols[0].name.as_str()), ("issue", "Cache.refresh"));
        let commit = r#"{"id": "a", "repo": "o/n", "lang": "rust", "parent": "0f", "query": "q", "gold": [{"path": "a.rs"}], "symbols": [{"path": "a.rs", "name": "f", "line": 3}]}"#;
        assert_eq!(read(commit).unwrap().symbols[0].line, 3);
        assert!(read("{}").is_err());
    }
}
