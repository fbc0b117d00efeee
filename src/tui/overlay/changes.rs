//! What was written, as a diff: a section for each file.

use super::sections::{LanguageName, Section, SectionView};

/// How the part of a file begins in a unified diff of several. No line of a file does: those have a mark before them.
const FILE: &str = "diff --git ";

/// A view of a unified diff.
pub(super) fn view(title: &str, diff: &str) -> SectionView {
    SectionView::new(title, sections(diff), None)
}

fn sections(diff: &str) -> Vec<Section> {
    let mut parts: Vec<String> = Vec::new();
    for line in diff.split_inclusive('\n') {
        match parts.last_mut().filter(|_| !line.starts_with(FILE)) {
            Some(part) => part.push_str(line),
            None => parts.push(line.to_owned()),
        }
    }
    parts.iter().map(|part| section(part)).collect()
}

fn section(diff: &str) -> Section {
    let path = path(diff).unwrap_or("changes").to_owned();
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
fn path(text: &str) -> Option<&str> {
    let names = text.lines().next()?.strip_prefix(FILE)?;
    names.get(..names.len() / 2)?.strip_prefix("a/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_text::diff;

    #[test]
    fn each_file_is_a_section_with_its_counts() {
        let first = diff::unified("a b/c d.py", Some("one\ntwo\n"), Some("one\n2\n-- 3\n"));
        let second = diff::unified("new", None, Some("diff --git a/x b/x\n"));
        let found = sections(&format!("{first}\n{second}"));
        let heads: Vec<&str> = found.iter().map(|section| section.head[1].as_str()).collect();
        assert_eq!(heads, ["━━ a b/c d.py  +2 −1", "━━ new  +1 −0"]);
        assert!(found[0].text.starts_with("@@ -1,2 +1,3 @@\n one\n-two\n+2\n+-- 3\n"), "{}", found[0].text);
        assert_eq!(found[1].text, "new file mode 100644\n@@ -0,0 +1,1 @@\n+diff --git a/x b/x\n");
        assert!(sections("").is_empty());
    }
}
