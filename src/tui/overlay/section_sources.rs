//! Sources of section overlays: the request to the model by part, and written changes as a diff by file.

use std::ops::Range;

use super::sections::{LanguageName, Section, SectionView};
use rhumb_session::context::{Prompt, SectionKind};

/// How the part of a file begins in a unified diff of several. No line of a file does: those have a mark before them.
const FILE: &str = "diff --git ";

/// A view of a unified diff.
pub(super) fn diff_view(title: &str, diff: &str) -> SectionView {
    SectionView::new(title, diff_sections(diff), None)
}

fn diff_sections(diff: &str) -> Vec<Section> {
    let mut parts: Vec<String> = Vec::new();
    for line in diff.split_inclusive('\n') {
        match parts.last_mut().filter(|_| !line.starts_with(FILE)) {
            Some(part) => part.push_str(line),
            None => parts.push(line.to_owned()),
        }
    }
    parts.iter().map(|part| diff_section(part)).collect()
}

fn diff_section(diff: &str) -> Section {
    let path = diff_path(diff).unwrap_or("changes").to_owned();
    // What the head says already.
    let is_header = |line: &&str| [FILE, "--- ", "+++ "].iter().any(|header| line.starts_with(header));
    let (header, body) = diff.split_at(diff.find("\n@@").map_or(diff.len(), |at| at + 1));
    let rest: String = header.split_inclusive('\n').filter(|line| !is_header(line)).collect();
    let count = |mark: char| body.lines().filter(|line| line.starts_with(mark)).count();
    let head = vec![String::new(), format!("━━ {path}  +{} −{}", count('+'), count('-'))];
    let text = rest + body;
    let all = 0..text.len();
    Section::new(path, head, text, Some((LanguageName::Named("diff"), all)))
}

/// The path that the first line names twice, as `a/PATH b/PATH`.
fn diff_path(text: &str) -> Option<&str> {
    let names = text.lines().next()?.strip_prefix(FILE)?;
    names.get(..names.len() / 2)?.strip_prefix("a/")
}

/// A view of a request, from the chunk at a place on.
pub(super) fn request_view(prompt: &Prompt, place: Option<usize>) -> SectionView {
    let (sections, begin) = request_sections(prompt, place);
    SectionView::new("the next request", sections, begin)
}

/// The sections of a request, and which of them is the chunk at a place.
fn request_sections(prompt: &Prompt, place: Option<usize>) -> (Vec<Section>, Option<usize>) {
    let (mut sections, mut begin) = (vec![summary(prompt)], None);
    for (at, message) in prompt.messages.iter().enumerate() {
        let mut head = vec![String::new(), format!("── {}", message.role.as_str())];
        let chunks: Vec<(usize, &rhumb_session::context::Section)> =
            prompt.sections.iter().enumerate().filter(|(_, chunk)| chunk.message == at).collect();
        for (number, chunk) in &chunks {
            head.push(format!("━━ {}", chunk.heading()));
            if Some(*number) == place {
                begin = Some(sections.len());
            }
            // A conversation is one chunk of several messages, which follow separately.
            let text = if chunks.len() == 1 { message.content.clone() } else { chunk.text.clone() };
            let language = language(&chunk.kind, &text);
            let title = chunk.title.clone();
            sections.push(Section::new(title, std::mem::take(&mut head), text, language));
        }
        if chunks.is_empty() {
            let (text, title) = (message.content.clone(), message.role.as_str().to_owned());
            sections.push(Section::new(title, head, text, None));
        }
        if let Some(last) = sections.last_mut().filter(|_| !message.images.is_empty()) {
            let image = |image: &rhumb_llm::Image| {
                format!("[{}: {}, {} bytes]\n", image.name, image.media_type, image.bytes.len())
            };
            last.text.extend(message.images.iter().map(image));
        }
    }
    (sections, begin)
}

/// What the request is as a whole.
fn summary(prompt: &Prompt) -> Section {
    let about = if prompt.exact && prompt.error == 0 { "" } else { "about " };
    let (tokens, window) = (prompt.tokens, prompt.window.max_input());
    let mut text = format!("{} messages, {about}{tokens} of {window} tokens\n", prompt.messages.len());
    for omission in &prompt.omitted {
        text.push_str(&format!("left out: {omission}\n"));
    }
    Section::new("all of it".into(), Vec::new(), text, None)
}

/// The language of a chunk, and which of its bytes are in it: of a file what stands between its fences.
fn language(kind: &SectionKind, text: &str) -> Option<(LanguageName, Range<usize>)> {
    match kind {
        SectionKind::ChatFile(path) | SectionKind::ReadOnlyFile(path) => {
            let start = text.find(&format!("{path}\n"))? + path.len() + 1;
            let fence = text.get(start..)?.lines().next()?;
            let code = start + fence.len() + 1;
            let length = text.get(code..)?.rfind(&format!("{fence}\n")).filter(|_| !fence.is_empty())?;
            Some((LanguageName::Path(path.clone()), code..code + length))
        }
        SectionKind::System
        | SectionKind::Examples
        | SectionKind::History
        | SectionKind::Current
        | SectionKind::Reminder
        | SectionKind::Passages => Some((LanguageName::Named("markdown"), 0..text.len())),
        SectionKind::RepoMap | SectionKind::Image(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_text::diff;

    #[test]
    fn each_file_is_a_section_with_its_counts() {
        let first = diff::unified("a b/c d.py", Some("one\ntwo\n"), Some("one\n2\n-- 3\n"));
        let second = diff::unified("new", None, Some("diff --git a/x b/x\n"));
        let found = diff_sections(&format!("{first}\n{second}"));
        let heads: Vec<&str> = found.iter().map(|section| section.head[1].as_str()).collect();
        assert_eq!(heads, ["━━ a b/c d.py  +2 −1", "━━ new  +1 −0"]);
        assert!(found[0].text.starts_with("@@ -1,2 +1,3 @@\n one\n-two\n+2\n+-- 3\n"), "{}", found[0].text);
        assert_eq!(found[1].text, "new file mode 100644\n@@ -0,0 +1,1 @@\n+diff --git a/x b/x\n");
        assert!(diff_sections("").is_empty());
    }
}

#[cfg(test)]
mod prompt_tests {
    use super::*;
    use rhumb_llm::{Message, Role as Speaker};
    use rhumb_session::context::Section;

    fn prompt() -> Prompt {
        let file = "harbour/berth.py\n```\ndef moor():\n    return ship\n```\n\n";
        let chunk = |kind: SectionKind, title: &str, message: usize, text: &str| Section {
            kind,
            title: title.into(),
            role: Speaker::User,
            message,
            tokens: 7,
            text: text.into(),
            cached: false,
        };
        Prompt {
            sections: vec![
                chunk(SectionKind::System, "system", 0, "You are pairing.\n"),
                chunk(SectionKind::ChatFile("harbour/berth.py".into()), "harbour/berth.py", 1, file),
                chunk(SectionKind::Current, "draft", 2, "Moor the SHIP, and moor it well"),
            ],
            messages: vec![
                Message::new(Speaker::System, "You are pairing.\n"),
                Message::new(Speaker::User, file),
                Message::new(Speaker::User, "Moor the SHIP, and moor it well"),
            ],
            ..Prompt::default()
        }
    }

    #[test]
    fn only_the_code_of_a_file_is_in_its_language() {
        let (sections, begin) = request_sections(&prompt(), Some(1));
        let file = &sections[2];
        assert_eq!((begin, file.title.as_str()), (Some(2), "harbour/berth.py"));
        let (language, bytes) = file.language.as_ref().unwrap();
        assert_eq!(*language, LanguageName::Path("harbour/berth.py".into()));
        assert_eq!(&file.text[bytes.clone()], "def moor():\n    return ship\n");
    }
}
