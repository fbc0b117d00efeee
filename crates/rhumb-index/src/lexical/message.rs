//! Takes a message apart: title, prose, code, error text, and the places in the code that it names.
//!
//! A message can be one line or a whole issue with code blocks, logs and stack traces. The parts say different things about the code
//! to change: the title is the subject, while code blocks are mostly the reporter's own. Templates, version lists and logs say nothing.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Maximum length of a message that is read, in bytes. The rest is ignored, so that a pasted log costs little.
const MAX_MESSAGE_BYTES: usize = 40_000;
/// Maximum length of a title, in bytes. The rest of a longer first line is prose.
const MAX_TITLE_BYTES: usize = 1_000;
/// Minimum number of lines of a message with template headings, version lists and logs.
const MIN_REPORT_LINES: usize = 4;
/// Maximum length of an error line, in bytes. Longer lines are data.
const MAX_ERROR_BYTES: usize = 400;
/// Number of stack frames, innermost first, whose function names count as words of the error.
const FRAMES_AS_WORDS: usize = 3;
/// Maximum length of a name, in bytes. Longer runs are data.
const MAX_NAME_BYTES: usize = 128;
/// Minimum number of words in a line after a version list that ends the list.
const MIN_SENTENCE_WORDS: usize = 14;

/// The weight of an identifier by the place where it is written. The highest counts.
const IN_CODE: f64 = 0.5;
const IN_ERROR: f64 = 0.7;
const IN_PROSE: f64 = 1.0;
const IN_BACKTICKS: f64 = 1.2;
const IN_TITLE: f64 = 2.0;
/// Factor for a name that the message itself defines.
const OWN_NAME: f64 = 0.3;

/// The parts of a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    /// The first line.
    pub title: String,
    /// Sentences.
    pub prose: String,
    /// Code blocks, lines that look like code, and inline code.
    pub code: String,
    /// Error messages, and the names of the innermost functions of stack traces.
    pub error: String,
    /// Words that look like identifiers or are written as code, with their weights.
    pub identifiers: BTreeMap<String, f64>,
    /// Other words, with their weights: a definition may have such a name.
    pub words: BTreeMap<String, f64>,
    /// The frames of stack traces, innermost first.
    pub frames: Vec<StackFrame>,
    /// Links to lines of files in a repository's web interface.
    pub links: Vec<LineRange>,
    /// Other mentioned paths, with lines if they are given: `src/a.rs:12`.
    pub paths: Vec<LineRange>,
    /// Dotted names (`a.b.C`, `a::b::C`), as their parts.
    pub dotted: Vec<Vec<String>>,
}

/// A frame of a stack trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackFrame {
    /// The path, as written; for Java the path of the class.
    pub path: String,
    /// The line, 1-based; 0 if unknown.
    pub line: u32,
    /// The bare name of the function; may be empty.
    pub function: String,
}

/// A path with lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRange {
    /// The path, as written.
    pub path: String,
    /// The first line, 1-based; 0 if no line is given.
    pub line: u32,
    /// The last line, 1-based and inclusive; 0 if no line is given.
    pub end_line: u32,
}

/// Compiles a pattern. The patterns are constants and compile; a test checks all of them.
macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($pattern).ok());
    };
}

pattern!(COMMENT, r"(?s)<!--.*?-->");
pattern!(URL, r"[a-z]{3,5}://[^\s)>\]]+");
pattern!(
    LINK,
    r"(?:github|gitlab|bitbucket|codeberg)\.[a-z]+/[\w.-]+/[\w.-]+/(?:-/)?(?:blob|tree|src)/[\w.-]+/([\w./-]+)(?:#L(\d+)(?:-L?(\d+))?)?"
);
pattern!(ANCHOR, r"[^A-Za-z]+");
pattern!(HEADING, r"^\s*(?:#{1,6} .{0,60}|\*\*[^*`]{0,60}\*\*:?|-{3,}|={3,})\s*$");
pattern!(
    VERSIONS,
    r"(?i)^\W*(?:versions?|system(?: info)?:?|environment(?: data)?|output of .*version.*|(?:installed|package|software) versions?|(?:python|npm) dependencies:?|(?:pip|npm) (?:list|freeze|ls)\b.*|platform:?|operating system.*|os and .*version.*)\W*$"
);
pattern!(
    SETTING,
    r"(?i)^\W*(?:os|operating system|platform|system|browser|device|arch|architecture|shell|terminal|python|node(?:\.js)?|npm|yarn|rustc?|cargo|go|java|jdk|jvm|\.net|ruby|php|swift|xcode|kotlin|gradle|docker|pip|conda|numpy|scipy|django|pytest|pylint|sphinx|matplotlib|jupyter|installation|extra tools|other libraries)\b[^.`(]{0,30}:.{0,80}$"
);
pattern!(LOG, r"^\W{0,2}\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\W{0,2}\d\d:\d\d:\d\d\b|^\W{0,2}(?:INFO|DEBUG|TRACE|WARN)\b");
pattern!(
    ERROR,
    r"^\W{0,6}(?:[\w.:]*\w(?:Error|Exception|Warning|Interrupt|Failure|DoesNotExist|Panic)\b|(?:[Uu]ncaught |[Uu]nhandled |[Ff]atal )?(?:[Ee]rror|[Pp]anic|[Ee]xception|[Ww]arning|FATAL|ERROR)(?:\[\w+\])?:|thread '[^']*' (?:\(\d+\) )?panicked at|[Cc]aused by:|[\w./\\-]+:\d+(?::\d+)?: (?:fatal )?error:)"
);
pattern!(
    CODE_LINE,
    r#"^\s*(?:>>>|\.\.\. |In ?\[\d*\]:|Out ?\[\d*\]:|\$ |~?/[\w/.]+|@\w|[)\]}]+[,;]?\s*$|[\w.\[\]'"]+ ?[+*/-]?:?= ?\S|[\w.]+\(.*\)?[,:;]?\s*$|.*[;{]\s*$|(?:from [\w.]+ import|import \w|use [\w:]+|#include|package \w|class \w+.*[:{]|(?:pub |export |public |private |static |async )*(?:def|fn|func|function|void|int) \w+ ?\(|return\b|(?:let|const|var|val) \w+|(?:if|for|while|with|elif|except)\b.*:\s*$|(?:else|try|finally):)|print ?\()"#
);
pattern!(WORD, r"[\p{L}_][\p{L}\p{N}_]*");
pattern!(DOTTED, r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+");
pattern!(FROM_IMPORT, r"from ([\w.]+) import \(?([\w, ]+)");
pattern!(INLINE_CODE, r"`{1,2}([^`\n]{2,120})`{1,2}");
pattern!(CALL, r"([A-Za-z_]\w+)\(");
pattern!(PATH, r"(?:[\w.@~+-]*[/\\])*[\w.@+-]*\w\.(\w{1,10})\b(?::(\d+))?");
pattern!(
    OWN,
    r"(?m)^\s*(?:>>> )?(?:(?:(?:pub |export |public |static |async )*(?:class|def|fn|func|function|struct|interface) (\w+))|(?:(?:let |const |var |val )?(\w+) :?= ))"
);

/// A form of stack frames: the groups `path`, `line` and `function` of the pattern; `java` frames name the class instead of a folder.
struct FrameForm {
    pattern: &'static LazyLock<Option<Regex>>,
    innermost_last: bool,
}

pattern!(PYTHON_FRAME, r#"File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>\S+))?"#);
pattern!(
    PYTEST_FRAME,
    r"^(?P<path>[\w./\\-]+\.py):(?P<line>\d+)(?:: in (?P<function>\w+)|:? ?\w*(?:Error|Exception)?\s*$)"
);
pattern!(NOTEBOOK_FRAME, r"^(?P<path>[\w./\\~-]+\.pyc?) in (?P<function>\w+)\(");
pattern!(JAVA_FRAME, r"^\s*at (?P<class>[\w.$/@]+)\.(?P<function>[\w$<>]+)\((?P<path>[\w.-]+\.\w+):(?P<line>\d+)\)");
pattern!(
    CSHARP_FRAME,
    r"^\s*at (?:[\w.`<>\[\]+]+\.)?(?P<function>[\w`<>]+)(?:\[[^\]]*\])?\(.*\) in (?P<path>[^:\n]*(?::[\\/][^:\n]*)?):line (?P<line>\d+)"
);
pattern!(
    SCRIPT_FRAME,
    r"^\s*at (?:async )?(?:(?:[\w.$<>\[\] ]+\.)?(?P<function>[\w$<>]+)(?: \[as [^\]]+\])? \()?(?:file://|webpack:/+)?(?P<path>[^\s():]*(?:[A-Za-z]:\\)?[^\s():]*\.\w+):(?P<line>\d+):\d+\)?"
);
pattern!(RUST_FRAME, r"^\s*(?:at|-->) (?P<path>[\w./\\-]+\.\w+):(?P<line>\d+)(?::\d+)?");
pattern!(PANIC_FRAME, r"panicked at (?:'.*', )?(?P<path>[\w./\\-]+\.\w+):(?P<line>\d+)");
pattern!(GO_FRAME, r"^\s+(?P<path>[\w./\\@-]+\.go):(?P<line>\d+) \+0x[0-9a-f]+");
pattern!(DEBUGGER_FRAME, r"^\s*#\d+ .*?(?P<function>[\w~]+) ?\(.*\) at (?P<path>[\w./\\+-]+):(?P<line>\d+)");
pattern!(
    RUBY_FRAME,
    r"^\s*(?:from )?(?P<path>[\w./\\-]+\.rb):(?P<line>\d+):in [`'](?:[\w:]+[#.])?(?P<function>[\w?!]+)'"
);
pattern!(PHP_FRAME, r"^\s*#\d+ (?P<path>[\w./\\-]+\.php)\((?P<line>\d+)\): (?:[\w\\]+(?:->|::))?(?P<function>\w+)");

static FRAME_FORMS: [FrameForm; 12] = [
    FrameForm { pattern: &PYTHON_FRAME, innermost_last: true },
    FrameForm { pattern: &PYTEST_FRAME, innermost_last: true },
    FrameForm { pattern: &NOTEBOOK_FRAME, innermost_last: true },
    FrameForm { pattern: &JAVA_FRAME, innermost_last: false },
    FrameForm { pattern: &CSHARP_FRAME, innermost_last: false },
    FrameForm { pattern: &SCRIPT_FRAME, innermost_last: false },
    FrameForm { pattern: &RUST_FRAME, innermost_last: false },
    FrameForm { pattern: &PANIC_FRAME, innermost_last: false },
    FrameForm { pattern: &GO_FRAME, innermost_last: false },
    FrameForm { pattern: &DEBUGGER_FRAME, innermost_last: false },
    FrameForm { pattern: &RUBY_FRAME, innermost_last: false },
    FrameForm { pattern: &PHP_FRAME, innermost_last: false },
];

fn is_match(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// The groups of each match. A group that did not take part is empty.
fn groups<'t, const N: usize>(
    pattern: &'static LazyLock<Option<Regex>>,
    text: &'t str,
) -> impl Iterator<Item = [&'t str; N]> {
    let matches = pattern.as_ref().into_iter().flat_map(move |pattern| pattern.captures_iter(text));
    matches.map(|groups| std::array::from_fn(|at| groups.get(at).map_or("", |group| group.as_str())))
}

/// The frame that a line is, and whether the innermost frame of its trace comes last.
fn frame(line: &str) -> Option<(StackFrame, bool)> {
    let group = |groups: &Captures<'_>, name: &str| groups.name(name).map_or("", |group| group.as_str()).to_owned();
    FRAME_FORMS.iter().find_map(|form| {
        let groups = form.pattern.as_ref()?.captures(line)?;
        let path = group(&groups, "path");
        let class = group(&groups, "class");
        // Java names the class, whose package is the folder.
        let path = match class.rsplit_once('.') {
            Some((package, _)) => format!("{}/{path}", package.rsplit('/').next().unwrap_or(package).replace('.', "/")),
            None => path,
        };
        let function = group(&groups, "function").trim_matches(['<', '>', '`']).to_owned();
        Some((StackFrame { path, line: number(&group(&groups, "line")), function }, form.innermost_last))
    })
}

fn number(digits: &str) -> u32 {
    digits.parse().unwrap_or(0)
}

impl Message {
    /// Takes a message apart.
    pub fn new(text: &str) -> Self {
        // Without this, a map without a request would spend most of its time on compiling the patterns.
        if text.trim().is_empty() {
            return Self::default();
        }
        let text = text[..text.floor_char_boundary(MAX_MESSAGE_BYTES)].replace('\r', "");
        let text = match COMMENT.as_ref() {
            Some(comment) => comment.replace_all(&text, " "),
            None => text.as_str().into(),
        };
        let link = |[_, path, line, end]: [&str; 4]| LineRange {
            path: path.to_owned(),
            line: number(line),
            end_line: number(if end.is_empty() { line } else { end }),
        };
        let mut message = Self { links: groups::<4>(&LINK, &text).map(link).collect(), ..Self::default() };
        // The anchor of a page of documentation is often the name of the documented symbol.
        let words_of_url = |url: &Captures<'_>| {
            let anchor = url[0].split_once(".html#").map_or("", |(_, anchor)| anchor);
            ANCHOR.as_ref().map_or(String::new(), |other| format!(" {} ", other.replace_all(anchor, " ")))
        };
        let text = match URL.as_ref() {
            Some(url) => url.replace_all(&text, words_of_url),
            None => text,
        };
        let inline = message.read_lines(text.trim_start());
        message.read_names(&inline);
        message
    }

    /// Whether no part has text.
    pub fn is_empty(&self) -> bool {
        [&self.title, &self.prose, &self.code, &self.error].into_iter().all(|part| part.trim().is_empty())
    }

    /// Assigns each line to a part. Returns the inline code.
    fn read_lines(&mut self, text: &str) -> Vec<String> {
        let (first, body) = text.split_once('\n').unwrap_or((text, ""));
        let has_title = !first.trim_start().starts_with("```") && frame(first).is_none();
        let (title, body) = if has_title { (first, body) } else { ("", text) };
        let (title, rest) = title.split_at(title.floor_char_boundary(MAX_TITLE_BYTES));
        self.title = title.trim_start_matches(['#', ' ']).to_owned();
        if !rest.is_empty() {
            self.prose = format!("{rest}\n");
        }
        let is_report = body.lines().count() >= MIN_REPORT_LINES;
        let mut reader =
            LineReader { message: self, fenced: false, versions: false, in_trace: false, outer: Vec::new() };
        for line in body.lines() {
            reader.read(line, is_report);
        }
        reader.end_trace();
        let sentences = format!("{}\n{}", self.title, self.prose);
        let inline: Vec<String> = groups::<2>(&INLINE_CODE, &sentences).map(|[_, code]| code.to_owned()).collect();
        for code in &inline {
            self.code.push_str(code);
            self.code.push('\n');
        }
        for frame in self.frames.iter().take(FRAMES_AS_WORDS) {
            self.error.push_str(&frame.function);
            self.error.push('\n');
        }
        inline
    }

    /// Collects the names that the parts mention.
    fn read_names(&mut self, inline: &[String]) {
        let sentences = format!("{}\n{}", self.title, self.prose);
        let everything = format!("{sentences}\n{}\n{}", self.code, self.error);
        let dotted = groups::<1>(&DOTTED, &everything)
            .map(|[name]| name.split(['.', ':']).filter(|part| !part.is_empty()).map(str::to_owned).collect());
        self.dotted = dotted.collect();
        for [_, module, names] in groups::<3>(&FROM_IMPORT, &everything) {
            for name in names.split(',').filter_map(|name| name.split_whitespace().next()) {
                self.dotted
                    .push(module.split('.').chain([name]).filter(|part| !part.is_empty()).map(str::to_owned).collect());
            }
        }
        self.dotted.sort();
        self.dotted.dedup();
        for [path, extension, line] in groups::<3>(&PATH, &everything) {
            let path = path.strip_suffix(&format!(":{line}")).unwrap_or(path);
            let is_path = path.contains(['/', '\\']) || extension.chars().any(char::is_alphabetic);
            let entry = LineRange { path: path.replace('\\', "/"), line: number(line), end_line: number(line) };
            if is_path && path.len() <= MAX_NAME_BYTES * 4 && !self.paths.contains(&entry) {
                self.paths.push(entry);
            }
        }
        let (title, prose, code, error) =
            (self.title.clone(), self.prose.clone(), self.code.clone(), self.error.clone());
        self.add_words(&code, |_| Some(IN_CODE));
        self.add_words(&error, |_| Some(IN_ERROR));
        self.add_words(&prose, |word| has_identifier_form(word).then_some(IN_PROSE));
        for [_, name] in groups::<2>(&CALL, &sentences) {
            raise(&mut self.identifiers, name, IN_PROSE);
        }
        for [name] in groups::<1>(&DOTTED, &sentences) {
            name.split(['.', ':'])
                .filter(|part| !part.is_empty())
                .for_each(|part| raise(&mut self.identifiers, part, IN_PROSE));
        }
        let in_backticks = |text: &str| -> Vec<String> {
            inline
                .iter()
                .filter(|code| text.contains(*code))
                .flat_map(|code| groups::<1>(&WORD, code).map(|[word]| word.to_owned()))
                .collect()
        };
        for name in in_backticks(&sentences) {
            raise(&mut self.identifiers, &name, IN_BACKTICKS);
        }
        let in_title = in_backticks(&title);
        self.add_words(&title, |word| {
            let is_call = title.contains(&format!("{word}("));
            (has_identifier_form(word) || is_call || in_title.iter().any(|name| name == word)).then_some(IN_TITLE)
        });
        for [_, definition, variable] in groups::<3>(&OWN, &code) {
            for names in [&mut self.identifiers, &mut self.words] {
                for own in [definition, variable] {
                    names.entry(own.to_owned()).and_modify(|weight| *weight *= OWN_NAME);
                }
            }
        }
        self.identifiers.retain(|name, _| !name.is_empty());
    }

    /// Adds the words of a part: as identifiers with the weight that `identifier` returns, otherwise as words.
    fn add_words(&mut self, text: &str, identifier: impl Fn(&str) -> Option<f64>) {
        for [word] in groups::<1>(&WORD, text) {
            match identifier(word) {
                Some(weight) => raise(&mut self.identifiers, word, weight),
                None => raise(&mut self.words, word, if text == self.title { IN_PROSE } else { IN_CODE }),
            }
        }
    }
}

/// Sets the weight of a name, unless it has a higher one.
fn raise(names: &mut BTreeMap<String, f64>, name: &str, weight: f64) {
    if name.len() > 2 && name.len() <= MAX_NAME_BYTES {
        let held = names.entry(name.to_owned()).or_insert(weight);
        *held = held.max(weight);
    }
}

/// Whether a word has a form that prose lacks: an underscore, or a capital after a small letter.
fn has_identifier_form(word: &str) -> bool {
    let camel_case = word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    camel_case || word.trim_matches('_').contains('_') || word.starts_with("__")
}

/// Reads the lines after the title.
struct LineReader<'m> {
    message: &'m mut Message,
    /// Whether the line is in a code block.
    fenced: bool,
    /// Whether the line is in a version list.
    versions: bool,
    /// Whether the line is in a stack trace whose source lines are shown.
    in_trace: bool,
    /// The frames of the current trace, outermost first.
    outer: Vec<StackFrame>,
}

impl LineReader<'_> {
    fn read(&mut self, line: &str, is_report: bool) {
        let text = line.trim();
        if text.starts_with("```") || text.starts_with("~~~") {
            self.fenced = !self.fenced;
            self.in_trace = false;
            self.versions &= self.fenced;
            return;
        }
        if is_report && self.is_boilerplate(text) {
            return;
        }
        if text.contains("Traceback (most recent call last)") {
            self.in_trace = true;
            return;
        }
        if let Some((frame, innermost_last)) = frame(line) {
            if innermost_last {
                self.outer.push(frame);
                self.in_trace = true;
            } else {
                self.message.frames.push(frame);
            }
            if is_match(&ERROR, text) {
                self.add(text, |message| &mut message.error);
            }
            return;
        }
        if text.len() < MAX_ERROR_BYTES && is_match(&ERROR, text) {
            self.end_trace();
            return self.add(text, |message| &mut message.error);
        }
        if self.in_trace {
            // Source lines between frames are indented or marked.
            if line.starts_with([' ', '\t', '>', '~', '-', '|']) || (text.is_empty() && self.fenced) {
                return;
            }
            self.end_trace();
        }
        if self.fenced || is_match(&CODE_LINE, line) {
            self.add(line, |message| &mut message.code);
        } else {
            self.add(line, |message| &mut message.prose);
        }
    }

    /// Whether a line belongs to a template, a version list or a log.
    fn is_boilerplate(&mut self, text: &str) -> bool {
        let names_code = text.contains(['`', '_', '(']);
        let is_version_heading = is_match(&VERSIONS, text.trim_start_matches(['#', '*', ' ']));
        if !self.fenced && is_match(&HEADING, text) && !names_code {
            self.versions = is_version_heading;
            return true;
        }
        if is_version_heading {
            self.versions = true;
            return true;
        }
        if self.versions {
            if text.split_whitespace().count() < MIN_SENTENCE_WORDS {
                return true;
            }
            self.versions = false;
        }
        let is_setting = !self.fenced && !text.contains("::") && is_match(&SETTING, text);
        is_setting || (is_match(&LOG, text) && !text.contains("rror"))
    }

    /// Ends a trace whose innermost frame comes last.
    fn end_trace(&mut self) {
        self.in_trace = false;
        // A later trace is the one that was not handled: it comes before the earlier ones.
        let inner = self.outer.drain(..).rev();
        self.message.frames.splice(0..0, inner);
    }

    fn add(&mut self, line: &str, part: impl FnOnce(&mut Message) -> &mut String) {
        let part = part(self.message);
        part.push_str(line);
        part.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_patterns_compile() {
        let patterns = [
            &COMMENT, &URL, &LINK, &ANCHOR, &HEADING, &VERSIONS, &SETTING, &LOG, &ERROR, &CODE_LINE, &WORD, &DOTTED,
            &FROM_IMPORT, &INLINE_CODE, &CALL, &PATH, &OWN,
        ];
        assert!(patterns.iter().all(|pattern| pattern.is_some()));
        assert!(FRAME_FORMS.iter().all(|form| form.pattern.is_some()));
    }

    fn frames(text: &str) -> Vec<(String, u32, String)> {
        let frame = |frame: StackFrame| (frame.path, frame.line, frame.function);
        Message::new(&format!("It fails\n\n{text}")).frames.into_iter().map(frame).collect()
    }

    #[test]
    fn a_short_message_is_its_title() {
        let message = Message::new("Fix the `walk` of hidden folders");
        assert_eq!((message.title.as_str(), message.prose.as_str()), ("Fix the `walk` of hidden folders", ""));
        assert_eq!(message.identifiers.get("walk"), Some(&IN_TITLE));
        assert!(message.words.contains_key("hidden") && !message.identifiers.contains_key("hidden"));
    }

    #[test]
    fn an_issue_is_taken_apart() {
        let message = Message::new(
            "Wrong depth of nested_boats\n\n**Describe the bug**\n<!-- hidden -->\nThe depth is off by one.\n\n```python\nclass Mine:\n    pass\nfleet.nest(Mine())\n```\n\n\
             ValueError: bad depth\n\n**Versions**\n- harbour 1.2\n- python 3.9\n\n### Expected\nSee https://example.org/x.html#harbour.depth and more text here.\n",
        );
        assert_eq!(message.title, "Wrong depth of nested_boats");
        assert_eq!(message.prose.split_whitespace().take(6).collect::<Vec<_>>().join(" "), "The depth is off by one.");
        assert!(message.prose.contains("harbour depth") && !message.prose.contains("1.2"));
        assert!(message.code.contains("fleet.nest") && message.error.starts_with("ValueError: bad depth"));
        assert!(message.identifiers["Mine"] < IN_CODE && message.identifiers["nested_boats"] == IN_TITLE);
        assert!(message.dotted.contains(&vec!["fleet".to_owned(), "nest".to_owned()]));
    }

    #[test]
    fn frames_of_python_are_read_innermost_first() {
        let trace = "Traceback (most recent call last):\n  File \"/srv/app/run.py\", line 3, in main\n    sail()\n  File \"boats/sail.py\", line 40, in sail\n    raise ValueError\nValueError: no wind\n";
        assert_eq!(
            frames(trace),
            [("boats/sail.py".into(), 40, "sail".into()), ("/srv/app/run.py".into(), 3, "main".into())]
        );
        let message = Message::new(&format!("It fails\n\n{trace}"));
        assert!(message.error.contains("no wind") && !message.code.contains("sail()"), "{message:?}");
    }

    #[test]
    fn frames_of_other_languages_are_read() {
        let one = |text: &str| frames(text).into_iter().next().unwrap();
        let expected = |path: &str, line: u32, function: &str| (path.to_owned(), line, function.to_owned());
        assert_eq!(one("    at org.tide.Port.open(Port.java:12)"), expected("org/tide/Port.java", 12, "open"));
        assert_eq!(one("   at Tide.Port.Open(String s) in /src/Port.cs:line 7"), expected("/src/Port.cs", 7, "Open"));
        assert_eq!(one("    at Port.open (lib/port.js:3:14)"), expected("lib/port.js", 3, "open"));
        assert_eq!(one("    at lib/port.js:3:14"), expected("lib/port.js", 3, ""));
        assert_eq!(one("             at ./src/port.rs:9:5"), expected("./src/port.rs", 9, ""));
        assert_eq!(one("thread 'main' panicked at src/port.rs:9:5:"), expected("src/port.rs", 9, ""));
        assert_eq!(one("\t/go/src/port.go:44 +0x1d"), expected("/go/src/port.go", 44, ""));
        assert_eq!(one("#1  0x00 in port_open (p=0x0) at src/port.c:20"), expected("src/port.c", 20, "port_open"));
        assert_eq!(one("lib/port.rb:5:in `open'"), expected("lib/port.rb", 5, "open"));
        assert_eq!(one("#0 /srv/Port.php(8): Port->open()"), expected("/srv/Port.php", 8, "open"));
        assert_eq!(one("boats/sail.py:40: in sail"), expected("boats/sail.py", 40, "sail"));
    }

    #[test]
    fn links_and_paths_have_lines() {
        let message = Message::new(
            "See https://github.com/o/r/blob/main/src/a.rs#L10-L12\n\nand src/b.rs:7, or `c.toml`, in version 1.2.3.",
        );
        let range = |path: &str, line, end_line| LineRange { path: path.into(), line, end_line };
        assert_eq!(message.links, [range("src/a.rs", 10, 12)]);
        assert!(message.paths.contains(&range("src/b.rs", 7, 7)) && message.paths.contains(&range("c.toml", 0, 0)));
        assert!(message.paths.iter().all(|path| path.path != "1.2.3"));
    }

    #[test]
    fn the_end_of_a_long_first_line_is_prose() {
        let message = Message::new(&"boat ".repeat(20_000));
        assert!(message.title.len() <= MAX_TITLE_BYTES && message.prose.contains("boat"));
        assert!(message.title.len() + message.prose.len() <= MAX_MESSAGE_BYTES + 1);
    }

    #[test]
    fn a_commit_message_keeps_its_body() {
        let message = Message::new("Read the tide once\n\nPython: it was read twice.");
        assert!(message.prose.contains("read twice"));
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "(\\PC|[\\n`#:.()/ ]|Traceback|File \"a.py\", line 3|    at a.b\\(C.java:1\\)){0,80}") {
            let message = Message::new(&text);
            prop_assert!(message.identifiers.values().chain(message.words.values()).all(|weight| *weight > 0.0));
        }
    }
}
