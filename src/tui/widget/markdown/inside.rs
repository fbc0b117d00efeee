//! What a top-level Markdown block holds, apart from how it looks: its code, its links.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::options;

/// A code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The first word behind its fence; may be empty.
    pub language: String,
    /// Its text, without the line feed at the end.
    pub text: String,
}

/// The code of a block that is nothing but code.
pub fn code_of(block: &str) -> Option<Code> {
    let mut events = Parser::new_ext(block, options());
    let Some(Event::Start(Tag::CodeBlock(kind))) = events.next() else { return None };
    let info = match kind {
        CodeBlockKind::Fenced(info) => info.into_string(),
        CodeBlockKind::Indented => String::new(),
    };
    let language = info.split([' ', ',', '{']).next().unwrap_or("").to_owned();
    let mut text = String::new();
    for event in events {
        match event {
            Event::Text(piece) => text.push_str(&piece),
            Event::End(TagEnd::CodeBlock) => break,
            _ => {}
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    Some(Code { language, text })
}

/// Where the links of a block lead, in order, each once.
pub fn links_of(block: &str) -> Vec<String> {
    let mut links: Vec<String> = Vec::new();
    for event in Parser::new_ext(block, options()) {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
            && !dest_url.is_empty()
            && !links.iter().any(|link| **link == *dest_url)
        {
            links.push(dest_url.into_string());
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_block_gives_its_code_and_prose_none() {
        let code = code_of("```rust,ignore\nfn a() {}\n\n```\n").unwrap();
        assert_eq!((code.language.as_str(), code.text.as_str()), ("rust", "fn a() {}"));
        assert_eq!(code_of("````md\n```\nx\n```\n````").unwrap().text, "```\nx\n```");
        assert_eq!(code_of("some `code` in prose"), None);
        assert_eq!(code_of("- ```\n  x\n  ```"), None, "a list with code in it is a list");
    }

    #[test]
    fn links_are_found_wherever_they_stand() {
        assert_eq!(links_of("- [a](https://a.example) and <https://b.example> and [a](https://a.example)").len(), 2);
        assert!(links_of("no link").is_empty());
    }
}
