//! Exchanges with a model around a search: hypothetical code (HyDE), a search plan, reranking, and requests for more code. All replies are
//! untrusted and limited in size.

use std::fmt::Write as _;

use serde::Deserialize;

use super::search::Hit;

/// Maximum length of a hypothesis, in characters.
const MAX_HYPOTHESIS_CHARS: usize = 2_000;

/// The code in a reply, for HyDE (hypothetical document embeddings; Gao et al., 2022): a model writes code that might be the answer, and
/// its words are searched together with those of the question, since code is more similar to code. Returns the contents of the fences,
/// or the whole reply if there are none; `None` if it has no letters.
pub fn hypothesis(reply: &str) -> Option<String> {
    let mut inside = Vec::new();
    let mut is_open = false;
    let mut has_fence = false;
    for line in reply.lines() {
        if line.trim_start().starts_with("```") {
            (is_open, has_fence) = (!is_open, true);
        } else if is_open {
            inside.push(line);
        }
    }
    let code = if has_fence { inside.join("\n") } else { reply.to_owned() };
    let code: String = code.trim().chars().take(MAX_HYPOTHESIS_CHARS).collect();
    code.contains(char::is_alphabetic).then_some(code)
}

/// Maximum number of names, and of paths.
const MAX_ITEMS: usize = 12;
/// Maximum length of a name or path, in characters.
const MAX_ITEM_CHARS: usize = 120;

/// The search terms that a model proposes in addition to the words of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPlan {
    /// Identifiers, the most likely first.
    pub names: Vec<String>,
    /// Paths of files, or parts of paths.
    pub paths: Vec<String>,
}

#[derive(Deserialize)]
struct PlanReply {
    #[serde(default)]
    identifiers: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    signature: Option<String>,
}

impl SearchPlan {
    /// Parses the JSON object in a reply, with `identifiers`, `paths` and `signature`. `None` if there is none or it has no names.
    pub fn read(reply: &str) -> Option<Self> {
        let object = reply.get(reply.find('{')?..=reply.rfind('}')?)?;
        let written: PlanReply = serde_json::from_str(object).ok()?;
        let mut plan = Self::default();
        let signature = written.signature.unwrap_or_default();
        for text in written.identifiers.iter().chain([&signature]) {
            names_in(text).for_each(|name| add(&mut plan.names, name));
        }
        for path in &written.paths {
            let path = path.trim().trim_start_matches("./");
            if !path.contains(char::is_whitespace) && !path.contains("..") {
                add(&mut plan.paths, path);
            }
        }
        (plan != Self::default()).then_some(plan)
    }

    /// The words for [`Question::hints`](super::Question::hints): the names, and the file stems of the paths.
    pub fn hints(&self) -> Vec<String> {
        let stem = |path: &String| {
            let file = path.rsplit('/').next().unwrap_or_default();
            file.split('.').next().unwrap_or_default().to_owned()
        };
        let mut hints = self.names.clone();
        for stem in self.paths.iter().map(stem).filter(|stem| stem.len() > 1) {
            if !hints.contains(&stem) {
                hints.push(stem);
            }
        }
        hints
    }
}

/// The identifiers in a text.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let names = text.split(move |c| !is_part(c));
    names.filter(|name| name.chars().count() > 1 && !name.starts_with(|c: char| c.is_ascii_digit()))
}

fn add(to: &mut Vec<String>, text: &str) {
    let is_valid = !text.is_empty() && text.chars().count() <= MAX_ITEM_CHARS;
    if is_valid && to.len() < MAX_ITEMS && to.iter().all(|known| known != text) {
        to.push(text.to_owned());
    }
}

/// Maximum number of definitions to rerank.
pub const MAX_RERANKED: usize = 60;
/// Maximum length of a signature, in characters.
const MAX_SIGNATURE_CHARS: usize = 160;

/// What a hit is a part of: a definition, or the lines outside of all definitions.
fn candidate(hit: &Hit) -> (&str, Option<u32>) {
    (&hit.path, hit.definition)
}

/// The first hit of each definition, best first.
fn candidates(hits: &[Hit]) -> Vec<&Hit> {
    let mut first: Vec<&Hit> = Vec::new();
    for hit in hits {
        if first.len() < MAX_RERANKED && first.iter().all(|known| candidate(known) != candidate(hit)) {
            first.push(hit);
        }
    }
    first
}

/// The list of definitions for a model to rerank: number, location and name, then the signature and the evidence for it. Empty if there are
/// fewer than two.
pub fn rerank_list(hits: &[Hit]) -> String {
    let candidates = candidates(hits);
    let mut text = String::new();
    for (number, hit) in (1..).zip(&candidates).filter(|_| candidates.len() > 1) {
        let name: Vec<&str> = [&hit.container, &hit.symbol].into_iter().filter_map(Option::as_deref).collect();
        let head = format!("{number}. {}:{}-{} {}", hit.path, hit.line, hit.end_line, name.join("."));
        let _ = writeln!(text, "{}", head.trim_end());
        let signature: String = hit.signature.chars().take(MAX_SIGNATURE_CHARS).collect();
        for line in [signature, hit.evidence.join("; ")].iter().filter(|line| !line.is_empty()) {
            let _ = writeln!(text, "   {line}");
        }
    }
    text
}

/// The hits in the order of a reply, which consists of numbers of the list and separators. Definitions that it omits follow in their
/// previous order. `None` if the reply contains anything else or a number out of range.
pub fn reranked(reply: &str, hits: &[Hit]) -> Option<Vec<Hit>> {
    let candidates = candidates(hits);
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '[' | ']' | '>' | '.');
    let mut order: Vec<usize> = Vec::new();
    for word in reply.trim().trim_matches('`').split(is_between).filter(|word| !word.is_empty()) {
        let at = word.parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < candidates.len())?;
        if !order.contains(&at) {
            order.push(at);
        }
    }
    if order.is_empty() {
        return None;
    }
    let rank = |hit: &Hit| {
        let at = candidates.iter().position(|known| candidate(known) == candidate(hit)).unwrap_or(candidates.len());
        order.iter().position(|ordered| *ordered == at).unwrap_or(order.len() + at)
    };
    let mut ordered = hits.to_vec();
    // A stable sort keeps the order of the chunks of a definition.
    ordered.sort_by_cached_key(rank);
    Some(ordered)
}

/// The info string of a block with requests for more code.
pub const CONTEXT_REQUEST_FENCE: &str = "rhumb-search";

/// Maximum number of requests in a block.
const MAX_REQUESTS: usize = 6;
/// Maximum length of a search query, in characters.
const MAX_QUERY_CHARS: usize = 300;
/// Maximum number of lines that a request reads.
const MAX_READ_LINES: u32 = 400;

/// A request of a model for more code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextRequest {
    /// Passages for these words.
    Search(String),
    /// The definitions of this name.
    Symbol(String),
    /// Lines of a file, 1-based and inclusive.
    Read {
        /// Path relative to the root.
        path: String,
        /// First line.
        line: u32,
        /// Last line.
        end_line: u32,
    },
}

/// The requests at the end of a model's answer; empty if it answers. The block must be last, and each line must be a request: a missed
/// request is better than one for a text that only describes the format.
pub fn context_requests(reply: &str) -> Vec<ContextRequest> {
    let Some(block) = last_block(reply) else { return Vec::new() };
    let lines = block.into_iter().map(str::trim).filter(|line| !line.is_empty());
    let Some(mut requests) = lines.map(request).collect::<Option<Vec<ContextRequest>>>() else { return Vec::new() };
    let mut seen: Vec<ContextRequest> = Vec::new();
    requests.retain(|request| {
        !seen.contains(request) && {
            seen.push(request.clone());
            true
        }
    });
    requests.truncate(MAX_REQUESTS);
    requests
}

/// The lines of the block at the end of a reply. An unclosed block ends with the reply.
fn last_block(reply: &str) -> Option<Vec<&str>> {
    let lines: Vec<&str> = reply.lines().map(str::trim_end).collect();
    let is_fence = |line: &str| line.starts_with("```");
    let opens = |line: &&str| is_fence(line) && line.trim_start_matches('`').trim() == CONTEXT_REQUEST_FENCE;
    let inside = lines.get(lines.iter().rposition(opens)? + 1..)?;
    let end = inside.iter().position(|line| is_fence(line)).unwrap_or(inside.len());
    let (block, behind) = inside.split_at(end);
    behind.iter().all(|line| line.trim_matches('`').trim().is_empty()).then(|| block.to_vec())
}

fn request(line: &str) -> Option<ContextRequest> {
    let (kind, what) = line.trim_start_matches(['-', '*', ' ']).split_once(':')?;
    let what = what.trim().trim_matches(['`', '"']).trim();
    if what.is_empty() {
        return None;
    }
    match kind.trim() {
        "search" => Some(ContextRequest::Search(what.chars().take(MAX_QUERY_CHARS).collect())),
        "symbol" if !what.contains(char::is_whitespace) => {
            Some(ContextRequest::Symbol(what.trim_end_matches("()").to_owned()))
        }
        "read" => read(what),
        _ => None,
    }
}

/// Parses `path:10-80`, `path:10`, or `path` for the start of the file.
fn read(what: &str) -> Option<ContextRequest> {
    let numbers = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some((first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?))
    };
    let (path, (line, end_line)) = match what.rsplit_once(':') {
        Some((path, lines)) if lines.starts_with(|c: char| c.is_ascii_digit()) => (path, numbers(lines)?),
        _ => (what, (1, MAX_READ_LINES)),
    };
    let path = path.trim().trim_start_matches("./");
    if path.is_empty() || line == 0 || end_line < line {
        return None;
    }
    let end_line = end_line.min(line.saturating_add(MAX_READ_LINES - 1));
    Some(ContextRequest::Read { path: path.to_owned(), line, end_line })
}

impl std::fmt::Display for ContextRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Search(words) => write!(f, "search: {words}"),
            Self::Symbol(name) => write!(f, "symbol: {name}"),
            Self::Read { path, line, end_line } => write!(f, "read: {path}:{line}-{end_line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_code_is_inside_of_the_fences() {
        let reply = "Perhaps:\n```python\ndef moor(ship):\n```\nor\n```\nclass Berth:\n```\n";
        assert_eq!(hypothesis(reply).as_deref(), Some("def moor(ship):\nclass Berth:"));
        assert_eq!(hypothesis("def moor(ship): ...").as_deref(), Some("def moor(ship): ..."));
        for nothing in ["", "```\n```", "--- 12"] {
            assert_eq!(hypothesis(nothing), None);
        }
    }

    proptest! {
        #[test]
        fn any_reply_gives_bounded_code(reply in "(\\PC|\n|```){0,400}") {
            prop_assert!(hypothesis(&reply).is_none_or(|code| code.chars().count() <= MAX_HYPOTHESIS_CHARS));
        }
    }

    #[test]
    fn a_plan_is_parsed_from_a_reply_with_other_text() {
        let reply = "Sure:\n```json\n{\"identifiers\": [\"Berth.moor\", \"fits\"], \"paths\": [\"./harbour/berth.py\"], \
                     \"signature\": \"def moor(self, ship)\"}\n```\n";
        let plan = SearchPlan::read(reply).unwrap();
        assert_eq!(plan.names, ["Berth", "moor", "fits", "def", "self", "ship"]);
        assert_eq!(plan.paths, ["harbour/berth.py"]);
        assert_eq!(plan.hints().last().map(String::as_str), Some("berth"));
    }

    #[test]
    fn replies_without_a_plan_are_rejected() {
        for reply in ["", "I cannot help.", "{}", "{\"identifiers\": 7}", "[1]", "}{", "{\"paths\": [\"../../etc\"]}"] {
            assert_eq!(SearchPlan::read(reply), None, "{reply}");
        }
    }

    proptest! {
        #[test]
        fn any_plan_is_limited(names in prop::collection::vec("\\PC{0,200}", 0..40), junk in "\\PC{0,60}") {
            let _ = SearchPlan::read(&junk);
            let text = serde_json::json!({"identifiers": names, "paths": names, "signature": junk}).to_string();
            if let Some(plan) = SearchPlan::read(&text) {
                prop_assert!(plan.names.len() <= MAX_ITEMS && plan.paths.len() <= MAX_ITEMS && plan.hints().len() <= 2 * MAX_ITEMS);
                prop_assert!(plan.hints().iter().all(|hint| hint.chars().count() <= MAX_ITEM_CHARS));
            }
        }
    }

    fn hits(paths: &[&str]) -> Vec<Hit> {
        let hit = |(line, path): (u32, &&str)| Hit {
            path: (*path).into(),
            file: 0,
            definition: None,
            line,
            end_line: line,
            symbol: Some(format!("of_{path}")),
            kind: None,
            container: None,
            signature: format!("def of_{path}()"),
            evidence: Vec::new(),
            score: 1.0,
        };
        (1..).zip(paths).map(hit).collect()
    }

    fn paths(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| &*hit.path).collect()
    }

    #[test]
    fn hits_follow_the_order_of_their_definitions() {
        let mut found = hits(&["a", "a", "b", "c"]);
        found[0].evidence = vec!["named in the message", "its size"];
        found[0].container = Some("Outer".into());
        assert_eq!(
            rerank_list(&found[..3]),
            "1. a:1-1 Outer.of_a\n   def of_a()\n   named in the message; its size\n2. b:3-3 of_b\n   def of_b()\n"
        );
        assert_eq!(paths(&reranked("3, 1", &found).unwrap()), ["c", "a", "a", "b"]);
        assert_eq!(paths(&reranked("[2]", &found).unwrap()), ["b", "a", "a", "c"]);
        assert!(rerank_list(&hits(&["a", "a"])).is_empty(), "one definition needs no order");
    }

    #[test]
    fn a_reply_that_is_not_an_order_is_rejected() {
        for reply in ["", "b, a", "4, 1", "0", "1 and 2", "-1", "99999999999999999999999"] {
            assert_eq!(reranked(reply, &hits(&["a", "b", "c"])), None, "{reply}");
        }
    }

    proptest! {
        #[test]
        fn reranking_keeps_all_hits(reply in "([0-9]{1,2}|, |\n|\\PC){0,20}", files in prop::collection::vec(0usize..50, 0..60)) {
            let names: Vec<String> = files.iter().map(|file| format!("f{file}")).collect();
            let found = hits(&names.iter().map(String::as_str).collect::<Vec<_>>());
            let _ = rerank_list(&found);
            if let Some(mut order) = reranked(&reply, &found) {
                order.sort_by_key(|hit| hit.line);
                prop_assert_eq!(order, found);
            }
        }
    }

    #[test]
    fn the_block_at_the_end_of_an_answer_is_parsed() {
        let reply = "I need more.\n\n```rhumb-search\nsearch: how ships moor\nsymbol: Berth.moor()\nread: ./a.py:10-80\n\
                     read: a.py:7\n```\n";
        let expected = [
            ContextRequest::Search("how ships moor".into()),
            ContextRequest::Symbol("Berth.moor".into()),
            ContextRequest::Read { path: "a.py".into(), line: 10, end_line: 80 },
            ContextRequest::Read { path: "a.py".into(), line: 7, end_line: 7 },
        ];
        assert_eq!(context_requests(reply), expected);
        assert_eq!(context_requests("```rhumb-search\nsearch: x"), [ContextRequest::Search("x".into())], "not closed");
        assert_eq!(
            context_requests("````rhumb-search\n- symbol: `x`\n- symbol: x\n````"),
            [ContextRequest::Symbol("x".into())],
            "once"
        );
    }

    #[test]
    fn other_blocks_are_ignored() {
        for reply in [
            "",
            "No block.",
            "```rhumb-search\n```",
            "```rhumb-search\nsearch:\n```",
            "```rhumb-search\nsearch: x\nrun: rm -rf /\n```",
            "```rhumb-search\nsearch: x\n```\nAnd so the answer is 7.",
            "```text\nsearch: x\n```",
            "Say ```rhumb-search in a line.\nsearch: x",
            "```rhumb-search\nread: a.py:0-3\n```",
            "```rhumb-search\nread: a.py:9-3\n```",
            "```rhumb-search\nread: a.py:99999999999\n```",
            "```rhumb-search\nsymbol: two words\n```",
        ] {
            assert_eq!(context_requests(reply), [], "{reply}");
        }
    }

    #[test]
    fn requests_are_limited() {
        let many: String = (0..40).map(|n| format!("search: {n} {}\n", "x".repeat(2_000))).collect();
        let requests = context_requests(&format!("```rhumb-search\n{many}```"));
        assert_eq!(requests.len(), MAX_REQUESTS);
        assert!(requests.iter().all(|request| request.to_string().len() <= MAX_QUERY_CHARS + 8));
        let all = context_requests("```rhumb-search\nread: a.py:1-4000000000\n```");
        assert_eq!(all, [ContextRequest::Read { path: "a.py".into(), line: 1, end_line: MAX_READ_LINES }]);
    }

    proptest! {
        #[test]
        fn any_reply_is_parsed_and_requests_round_trip(junk in "(\\PC|\n|`{3,4}|rhumb-search|search: |read: |symbol: |:[0-9]{1,3}-?){0,30}") {
            for request in context_requests(&junk) {
                prop_assert_eq!(context_requests(&format!("```rhumb-search\n{request}\n```")), [request]);
            }
        }
    }
}
