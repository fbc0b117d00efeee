//! Commit messages as requests: without issue numbers, links, commit ids, trailers and the headings of templates.

use regex::Regex;

/// Number of paragraphs, with the subject, and number of bytes from which a message is as detailed as an issue.
const LONG_PARAGRAPHS: usize = 3;
const LONG_BYTES: usize = 600;
/// Minimum number of words of a subject.
const MIN_SUBJECT_WORDS: usize = 3;
/// Maximum number of words of a subject that is about the layout of code if it contains such a word.
const MAX_LAYOUT_WORDS: usize = 5;
/// A placeholder for a removed reference, until the words that introduce it are removed too.
const GAP: &str = "\u{0}";

/// Words that introduce a reference to an issue or commit.
const INTRODUCTION: &str = r"(?:\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|references|see|also|as part of|part of|towards|related(?: to)?|relates to|addresse?s?|follow[- ]?up(?: (?:to|of|on|for))?|issues?|bugs?|pull request|pr|commit|revision|ticket|from|by|via|in|to|since|with|and|or|link|links|discussion|introduced|partial(?:ly)?|transplanted)\b[\s:,]*)";

/// The parts of a commit message that a request is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    /// The cleaned first line.
    pub subject: String,
    /// The subject and the first paragraph below it; of a long message, all paragraphs.
    pub query: String,
}

/// The patterns that clean messages.
pub(super) struct MessageCleaner {
    comment: Regex,
    image: Regex,
    link: Regex,
    reference: Regex,
    commit_id: Regex,
    bracketed_gap: Regex,
    gap: Regex,
    trailer: Regex,
    template: Regex,
    end: Regex,
    routine: Regex,
    layout: Regex,
}

impl MessageCleaner {
    /// Compiles the patterns.
    ///
    /// # Errors
    /// A pattern is malformed, which is a mistake in this module.
    pub(super) fn new() -> Result<Self, regex::Error> {
        Ok(Self {
            comment: Regex::new(r"(?s)<!--.*?(?:-->|\z)|</?(?:details|summary|p|br|ul|li|h\d|blockquote)\s*/?>")?,
            image: Regex::new(r"!\[[^\]]*\]\([^)]*\)")?,
            link: Regex::new(r"\[([^\[\]]*)\]\((?:https?:|/|#)[^)]*\)")?,
            reference: Regex::new(
                r#"(?i)<?\bhttps?://[^\s)\]>"'`]+>?|\b[\w.-]+/[\w.-]+#\d+|(?:\bgh-|\B#+|\b(?:fix(?:e[sd])?|close[sd]?|pr|issue)#)\d+\b|\b(?-i:[A-Z]{4,}|[A-Z]+[A-Z0-9]*[A-Z])-\d{2,}\b"#,
            )?,
            commit_id: Regex::new(r"\b[0-9a-f]{7,40}\b")?,
            bracketed_gap: Regex::new(&format!(r"(?i)[(\[]{INTRODUCTION}*(?:\x00[\s,;.&/+]*{INTRODUCTION}*)+[)\]]:?"))?,
            gap: Regex::new(&format!(r"(?i){INTRODUCTION}*\x00(?:[\s,&/+]*{INTRODUCTION}*\x00)*"))?,
            trailer: Regex::new(
                r"(?i)^\W*(?:[a-z]+(?:-[a-z]+)*-by|cc|change-id|git-svn-id|[a-z_]+[-_]revid|reviewers?|differential revision|signed-off.*|assisted.*|generated with.*|thanks(?: to)?)\s*[:=]|^created by moe|^for more information\b|^\W*\(?cherry[- ]picked from|^\W*this reverts commit",
            )?,
            template: Regex::new(
                r"(?i)^\W*(?:summary|description|motivation|motivation and context|modifications?|solution|result|subsystem|client|server|client/server|changes|what|why|how|details|overview|context|background|problem|fix|commits?)\W*$",
            )?,
            end: Regex::new(
                r"(?i)^\W*(?:test plan|testing|how has this been tested|checklist|screenshots?|types? of changes|ecosystem)\W*$",
            )?,
            routine: Regex::new(
                r"(?i)^\W*(?:(?:style|docs?|ci|build|tests?|release|deps|lint|format|revert)(?:\([^)]*\))?!?:|release|prepare|bump|revert|typo|format|reformat|merge|lint|backport|upgrade|back out|roll ?back|version|v?\d+\.\d+)|\b(?:typos?|bump(?:s|ed|ing)?|changelog|dependabot|renovate|backport|cherry[- ]pick|reformat(?:ted)?|gofmt|rustfmt|clippy|clang-format|prettier|eslint|ktlint|swiftlint|checkstyle|rubocop'?s? offen[cs]es?|spelling|misspell\w*|javadocs?|copyright|licen[cs]e headers?|isort|spotless|pre-commit|ci skip|skip ci|compil(?:e|er|ation) (?:errors?|warnings?))\b|\(deps(?:-dev)?\)|\bupdate.*\b(?:dependenc(?:y|ies)|deps)\b|\bto v?\d+\.\d+|\bversion v?\d|\brelease v?\d",
            )?,
            layout: Regex::new(
                r"(?i)\b(?:format(?:ting|ted)?|lint(?:er|ing|s)?|style|whitespaces?|indent(?:ation)?|clean-?up|merge|release|dependenc(?:y|ies)|comments?|docs?|documentation|warnings?|wip|tests?)\b",
            )?,
        })
    }

    /// Returns the request of a message. `None` if its subject says too little: fewer than three words, or routine work such as a
    /// release, a new version of a dependency, a merge or a typo.
    pub(super) fn request(&self, message: &str) -> Option<Request> {
        let message = self.comment.replace_all(&message.trim().replace('\r', ""), "").into_owned();
        let (subject, body) = message.split_once('\n').unwrap_or((&message, ""));
        if self.routine.is_match(subject) {
            return None;
        }
        let subject = self.line(subject)?.trim_matches(|c: char| c.is_whitespace() || ",;:-*".contains(c)).to_owned();
        let words = subject.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count();
        if words < MIN_SUBJECT_WORDS || (words <= MAX_LAYOUT_WORDS && self.layout.is_match(&subject)) {
            return None;
        }
        let mut paragraphs = vec![subject.clone()];
        paragraphs.extend(self.paragraphs(body).into_iter().filter(|paragraph| !is_repeated(paragraph, &subject)));
        if paragraphs.len() < LONG_PARAGRAPHS && paragraphs.iter().map(String::len).sum::<usize>() < LONG_BYTES {
            paragraphs.truncate(2);
        }
        Some(Request { subject, query: paragraphs.join("\n\n") })
    }

    /// The cleaned paragraphs of a message without its subject, up to a heading for tests or checklists.
    fn paragraphs(&self, body: &str) -> Vec<String> {
        let mut paragraphs = vec![Vec::new()];
        for line in body.lines().take_while(|line| !self.end.is_match(line)) {
            // A heading with one `#` may be a comment in quoted code.
            let is_heading = line.starts_with("##");
            let is_rule = line.chars().all(|c| c.is_whitespace() || "-=_*~#".contains(c));
            if line.trim().is_empty() {
                paragraphs.push(Vec::new());
            } else if !is_heading && !is_rule && !self.trailer.is_match(line) && !self.template.is_match(line) {
                let cleaned = self.line(line);
                paragraphs.last_mut().into_iter().for_each(|paragraph| paragraph.extend(cleaned.clone()));
            }
        }
        // A squashed commit lists the subjects of its commits, each as a paragraph.
        let is_squashed =
            |lines: &[String]| lines.first().is_some_and(|line| lines.len() == 1 && line.starts_with("* "));
        let several = paragraphs.iter().filter(|lines| is_squashed(lines)).count() > 1;
        let kept = paragraphs.iter().filter(|lines| !lines.is_empty()).filter(|lines| !several || !is_squashed(lines));
        kept.map(|lines| lines.join("\n")).collect()
    }

    /// A line without references. `None` if no words remain.
    fn line(&self, line: &str) -> Option<String> {
        let line = self.image.replace_all(line.trim_end(), "");
        let line = self.link.replace_all(&line, "$1");
        let line = self.reference.replace_all(&line, |found: &regex::Captures<'_>| {
            let standard = ["UTF", "ISO", "SHA", "RFC", "CVE", "AES", "ASCII", "HMAC", "PKCS", "IEEE"];
            let found = found.get(0).map_or("", |found| found.as_str());
            if standard.iter().any(|name| found.starts_with(name)) { found.to_owned() } else { GAP.to_owned() }
        });
        let line = self.commit_id.replace_all(&line, |found: &regex::Captures<'_>| {
            let found = found.get(0).map_or("", |found| found.as_str());
            let is_id =
                found.contains(|c: char| c.is_ascii_digit()) && found.contains(|c: char| c.is_ascii_alphabetic());
            if is_id { GAP.to_owned() } else { found.to_owned() }
        });
        let line = self.bracketed_gap.replace_all(&line, "");
        let cleaned = self.gap.replace_all(&line, "");
        let indentation = cleaned.len() - cleaned.trim_start().len();
        let (indentation, text) = cleaned.split_at_checked(indentation)?;
        let mut text = text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        if line.contains(GAP) {
            text = text.trim_matches([' ', ',', ':', ';', '.']).to_owned();
        }
        let has_words = !line.contains(GAP) || text.contains(char::is_alphanumeric);
        (has_words && !text.is_empty()).then(|| format!("{indentation}{text}"))
    }
}

/// Whether a paragraph only repeats the subject, as the first entry of a squashed commit does.
fn is_repeated(paragraph: &str, subject: &str) -> bool {
    let plain = |text: &str| text.trim_start_matches(['*', '-', ' ']).trim_end_matches('.').to_lowercase();
    plain(paragraph) == plain(subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(message: &str) -> Option<Request> {
        MessageCleaner::new().unwrap().request(message)
    }

    fn query(message: &str) -> String {
        request(message).map(|request| request.query).unwrap_or_default()
    }

    #[test]
    fn references_and_trailers_are_removed() {
        for (message, expected) in [
            ("Fix the tide table (#123)\n\nFixes #1, #2 and #3.\n", "Fix the tide table"),
            ("[Fix #12] Fix false alarms of `Buoy`", "Fix false alarms of `Buoy`"),
            ("PORT-12 moor() keeps the UTF-8 name", "moor() keeps the UTF-8 name"),
            (
                "Light the buoy again\n\nIt was dark since 0a1b2c3d4e.\nCloses: https://a.b/c\n",
                "Light the buoy again\n\nIt was dark",
            ),
            ("Light the buoy again\n\nSigned-off-by: Ada <ada@example.com>\n", "Light the buoy again"),
            (
                "Light the buoy again\n\nSee [the docs](https://a.b/c) first\nsecond line",
                "Light the buoy again\n\nSee the docs first\nsecond line",
            ),
        ] {
            assert_eq!(query(message), expected, "{message}");
        }
    }

    #[test]
    fn templates_and_squashed_subjects_are_removed() {
        let template = "Light the buoy again (#7)\n\n## Summary\n\nThe lamp was off.\n\n## Test Plan\n\nLooked at it.";
        assert_eq!(query(template), "Light the buoy again\n\nThe lamp was off.");
        let squashed = "Light the buoy again (#7)\n\n* Light the buoy again\n\n* oops\n\n* more\n\n---------\n";
        assert_eq!(query(squashed), "Light the buoy again");
    }

    #[test]
    fn a_long_message_is_kept_whole() {
        assert_eq!(
            query("Light the buoy again\n\nFirst.\n\nSecond.\n\nThird."),
            "Light the buoy again\n\nFirst.\n\nSecond.\n\nThird."
        );
        let long = "word ".repeat(130);
        assert_eq!(
            query(&format!("Light the buoy again\n\n{long}")).len(),
            "Light the buoy again\n\n".len() + long.len() - 1
        );
    }

    #[test]
    fn routine_commits_are_no_requests() {
        for subject in [
            "Two words",
            "Release the new version",
            "Bump serde from 1.0 to 1.1",
            "Revert \"Light the buoy\"",
            "Fix a typo in the docs",
            "Merge branch 'main' into tide",
            "chore(deps): update dependency a to v2",
            "Fix lint warnings",
            "Reformat all the files",
            "docs: describe the tide table",
            "Update all the dependencies",
        ] {
            assert_eq!(request(subject), None, "{subject}");
        }
        for subject in ["feat(tide): show the next tide", "Read formatted dates of the harbour table"] {
            assert!(request(subject).is_some(), "{subject}");
        }
    }
}
