//! Markdown: headings are sections, links to files are imports, inline code contains references.

use super::{OutlineBuilder, OutlineEntry, words};
use crate::tags::{FileTags, Reference, SymbolKind};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Maximum number of references and links of a document.
const MAX_REFERENCES: usize = 10_000;

pub(crate) fn markdown(source: &str) -> FileTags {
    let source = source.trim_start_matches('\u{feff}');
    let mut tags = FileTags::default();
    let (mut outline, mut lines) = (OutlineBuilder::default(), LineFinder::new(source));
    let mut title: Option<Title> = None;
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                title = Some(Title { depth: depth(level), line: lines.at(range.start), text: String::new() });
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some(title) = title.take() {
                    title.into(&mut outline);
                }
            }
            Event::Text(text) => {
                if let Some(title) = &mut title {
                    title.text.push_str(&text);
                }
            }
            Event::Code(code) => {
                if let Some(title) = &mut title {
                    title.text.push_str(&code);
                }
                let line = lines.at(range.start);
                let names = words(&code).map(|word| Reference { name: word.to_owned(), line });
                tags.references.extend(names.take(MAX_REFERENCES.saturating_sub(tags.references.len())));
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => import(&mut tags, &dest_url),
            _ => {}
        }
    }
    tags.definitions = outline.finish(lines.count());
    tags
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS | Options::ENABLE_HEADING_ATTRIBUTES
}

/// Adds a link to a file as an import. Links with a scheme are ignored.
fn import(tags: &mut FileTags, address: &str) {
    let path = address.split(['#', '?']).next().unwrap_or_default();
    let is_file = !path.is_empty() && !path.contains(':') && !path.starts_with("//");
    if is_file && tags.imports.len() < MAX_REFERENCES && !tags.imports.iter().any(|known| known == path) {
        tags.imports.push(path.to_owned());
    }
}

fn depth(level: HeadingLevel) -> usize {
    level as usize
}

/// The heading that is being read.
struct Title {
    depth: usize,
    line: u32,
    text: String,
}

impl Title {
    fn into(self, outline: &mut OutlineBuilder) {
        let name = self.text.trim();
        let signature = format!("{} {name}", "#".repeat(self.depth));
        outline.push(&OutlineEntry {
            depth: self.depth,
            kind: SymbolKind::Section,
            name,
            signature: &signature,
            line: self.line,
            doc: "",
        });
    }
}

/// Converts byte offsets, which must ascend, to lines.
struct LineFinder<'source> {
    source: &'source str,
    at: usize,
    line: u32,
}

impl<'source> LineFinder<'source> {
    fn new(source: &'source str) -> Self {
        Self { source, at: 0, line: 1 }
    }

    /// The 1-based line of byte `offset`. An offset before the previous one gives the line of the previous one.
    fn at(&mut self, offset: usize) -> u32 {
        if let Some(between) = self.source.as_bytes().get(self.at..offset) {
            let breaks = between.iter().filter(|byte| **byte == b'\n').count();
            self.line = self.line.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX));
            self.at = offset;
        }
        self.line
    }

    /// The last line with text.
    fn count(&mut self) -> u32 {
        self.at(self.source.trim_end().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(source: &str) -> Vec<String> {
        let show = |definition: crate::Definition| {
            let (line, end_line, container) = (definition.line, definition.end_line, definition.container);
            format!("{} {line}-{end_line} {}", definition.name, container.unwrap_or_default())
        };
        markdown(source).definitions.into_iter().map(show).collect()
    }

    #[test]
    fn a_section_ends_before_the_next_heading_of_its_level() {
        let source = "# A\n\ntext\n\n## B\n\n### C\n\n## D\nx\n\n# E\n";
        assert_eq!(sections(source), ["A 1-11 ", "B 5-8 A", "C 7-8 B", "D 9-11 A", "E 12-12 "]);
    }

    #[test]
    fn headings_in_code_blocks_are_ignored() {
        assert_eq!(sections("Title\n=====\n\n```sh\n# not a heading\n```\n"), ["Title 1-6 "]);
    }

    #[test]
    fn inline_code_contains_references_and_links_to_files_are_imports() {
        let tags = markdown("Call `Tide::next(port)`.\nSee [the map](docs/map.md#top), [all](https://example.org).\n");
        let names: Vec<&str> = tags.references.iter().map(|reference| reference.name.as_str()).collect();
        assert_eq!((names, tags.imports), (vec!["Tide", "next", "port"], vec!["docs/map.md".to_owned()]));
    }
}
