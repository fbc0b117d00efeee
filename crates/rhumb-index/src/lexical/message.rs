//! Takes a message apart: title, prose, code, error text, and the places in the code that it names.
//!
//! A message can be one line or a whole issue with code blocks, logs and stack traces. The parts say different things about the code
//! to change: the title is the subject, while code blocks are mostly the reporter's own. Templates, version lists and logs say nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Maximum length of a message that is read, in bytes. The middle of a longer one is ignored, so that a pasted log costs little.
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
/// The first line of a stack trace of Python. Notebooks write the name of the error before it.
const TRACEBACK: &str = "Traceback (most recent call last)";

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
    /// The name of the type or module that contains the function; empty if the frame does not name it.
    pub container: String,
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
    r"(?ix)^\W*
    (?:os|operating\ system|platform|system|browser|device|arch|architecture|shell|terminal|python|node(?:\.js)?|npm|yarn|rustc?|cargo|go
    |java|jdk|jvm|\.net|ruby|php|swift|xcode|kotlin|gradle|docker|pip|conda|numpy|scipy|django|pytest|pylint|sphinx|matplotlib|jupyter
    |installation|extra\ tools|other\ libraries)\b
    # Other words are those of a sentence: `Docker build fails: …`.
    (?:[^\w.`(:]|\b(?:\d[\w.]*|x|and|or|your|used|versions?|info|information|details|name|type|model|number|method|release
    |distribution|distro|bits|build|lab|deps|dependencies|packages|extensions|engine|compiler|runtime|executable|plugins?|notebook
    |kernel|desktop|server|client|sdk|os|operating|system|platform|arch|architecture|browser|device|shell|terminal|python|node|npm
    |yarn|pip|conda|jdk|jvm)\b)*
    :.{0,80}$"
);
pattern!(LOG, r"^\W{0,2}\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\W{0,2}\d\d:\d\d:\d\d\b|^\W{0,2}(?:INFO|DEBUG|TRACE|WARN)\b");
pattern!(SEVERE, r"(?i)error|exception|fatal|critical|panic");
pattern!(
    ERROR,
    r"^\W{0,6}(?:E +)?(?:[\w.:]*\w(?:Error|Exception|Warning|Interrupt|Failure|DoesNotExist|Panic)\b|(?:[Uu]ncaught |[Uu]nhandled |[Ff]atal )?(?:[Ee]rror|[Pp]anic|[Ee]xception|[Ww]arning|FATAL|ERROR)(?:\[\w+\])?:|thread '[^']*' (?:\(\d+\) )?panicked at|[Cc]aused by:|[\w./\\-]+:\d+(?::\d+)?: (?:fatal )?error:)"
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

/// A form of stack frames: the groups `path`, `line` and `function` of the pattern. Frames of Java name the `class` instead of a folder.
struct FrameForm {
    pattern: &'static LazyLock<Option<Regex>>,
    innermost_last: bool,
}

pattern!(PYTHON_FRAME, r#"File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>\S+))?"#);
pattern!(
    PYTEST_FRAME,
    r"^\s*(?P<path>[\w./\\-]+\.py):(?P<line>\d+)(?:: in (?P<function>\S+)|:? ?\w*(?:Error|Exception)?\s*$)"
);
pattern!(NOTEBOOK_FRAME, r"^(?P<path>(?:[A-Za-z]:)?[\w./\\~-]+\.pyc?) in (?:(?P<function>[\w.]+)\(|<\w+>)");
pattern!(
    IPYTHON_FRAME,
    r"^\s*File (?P<path>[^\s:]*(?::[\\/][^:\n]*)?\.pyc?):(?P<line>\d+)(?:, in (?P<function>[^\s(]+))?"
);
pattern!(
    JAVA_FRAME,
    r"^(?:.*[:\]|])?\s*at (?P<class>[\w.$/@-]+)\.(?P<function>[\w$<>-]+)\((?P<path>[\w.$-]+\.\w+):(?P<line>\d+)\)"
);
pattern!(
    CSHARP_FRAME,
    r"^\s*at (?P<function>[^\s(]+?)(?:\[[^\]]*\])?\(.*\) in (?P<path>[^:\n]*(?::[\\/][^:\n]*)?):line (?P<line>\d+)"
);
pattern!(
    SCRIPT_FRAME,
    r"^\s*at (?:async )?(?:(?P<function>\S.*?) \()?(?:https?://[^/\s]*/|[a-z][\w-]+:/+)?(?P<path>(?:[A-Za-z]:)?[^\s:?]*\.\w+)(?:\?[^\s:]*)?:(?P<line>\d+):\d+\)?"
);
pattern!(RUST_FRAME, r"^\s*(?:at|-->) (?P<path>(?:[A-Za-z]:)?[\w./\\-]+\.\w+):(?P<line>\d+)(?::\d+)?");
pattern!(PANIC_FRAME, r"panicked at (?:'.*', )?(?P<path>(?:[A-Za-z]:)?[\w./\\-]+\.\w+):(?P<line>\d+)");
pattern!(GO_FRAME, r"^\s+(?P<path>(?:[A-Za-z]:)?[\w./\\@-]+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?\s*$");
pattern!(DEBUGGER_FRAME, r"^\s*#\d+ .*?(?P<function>[\w~]+) ?\(.*\) at (?P<path>[\w./\\+-]+):(?P<line>\d+)");
pattern!(
    RUBY_FRAME,
    r"^\s*(?:from )?(?P<path>(?:[A-Za-z]:)?[\w./\\-]+\.rb):(?P<line>\d+):in [`'](?P<function>[^'\n]+)'"
);
pattern!(PHP_FRAME, r"^\s*#\d+ (?P<path>(?:[A-Za-z]:)?[\w./\\-]+\.php)\((?P<line>\d+)\): (?P<function>[^\s(]+)");
// Frames that name no file of a repository.
pattern!(
    NOTEBOOK_CELL,
    r"^(?:(?:Cell|Input) In ?\[\d+\]|<ipython-input-[^>]*>|\S*ipykernel_\d+\S*)(?:,? line \d+|,? in )"
);
pattern!(
    LIBRARY_FRAME,
    r"^(?:.*[:\]|])?\s*at (?:.*\((?:node:.*|native|<anonymous>|index \d+|Native Method|Unknown Source)\)|node:\S+:\d+|<anonymous>|(?:System|Microsoft)\.\S+\(.*\))\s*$"
);

/// The first form that fits a line counts.
static FRAME_FORMS: [FrameForm; 15] = [
    FrameForm { pattern: &PYTHON_FRAME, innermost_last: true },
    FrameForm { pattern: &PYTEST_FRAME, innermost_last: true },
    FrameForm { pattern: &NOTEBOOK_CELL, innermost_last: true },
    FrameForm { pattern: &NOTEBOOK_FRAME, innermost_last: true },
    FrameForm { pattern: &IPYTHON_FRAME, innermost_last: true },
    FrameForm { pattern: &JAVA_FRAME, innermost_last: false },
    FrameForm { pattern: &CSHARP_FRAME, innermost_last: false },
    FrameForm { pattern: &SCRIPT_FRAME, innermost_last: false },
    FrameForm { pattern: &RUST_FRAME, innermost_last: false },
    FrameForm { pattern: &PANIC_FRAME, innermost_last: false },
    FrameForm { pattern: &GO_FRAME, innermost_last: false },
    FrameForm { pattern: &DEBUGGER_FRAME, innermost_last: false },
    FrameForm { pattern: &RUBY_FRAME, innermost_last: false },
    FrameForm { pattern: &PHP_FRAME, innermost_last: false },
    FrameForm { pattern: &LIBRARY_FRAME, innermost_last: false },
];

pattern!(
    FUNCTION,
    r"(?x)
      ^(?:lambda|\$anonfun)\$(\w+)\$      # lambda$open$0 (Java), $anonfun$open$1 (Scala)
    | <.*>g__(\w+)\|                      # <Open>g__Inner|5_0 (C#)
    | <(\w+)>(?:[bd]__|\$)                # <OpenAsync>d__5.MoveNext, <Main>$ (C#)
    | (\w+)(?:`\d+)?\.\.c?ctor$           # Port..ctor (C#)
    | (?:^|[^\w<])([\p{L}_$~][\w$]*?[?!]?)(?:\$default|-\w+)?(?:\ \[as\ .*\])?$
                                          # Port.open, Port->open, block in open, open$default, draw-FJfuzF0, run [as open]
    "
);

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

/// The frame that a line is, and whether the innermost frame of its trace comes last. The path is empty if the frame names no file of a
/// repository.
fn frame(line: &str) -> Option<(StackFrame, bool)> {
    FRAME_FORMS.iter().find_map(|form| {
        let groups = form.pattern.as_ref()?.captures(line)?;
        let group = |name: &str| groups.name(name).map_or("", |group| group.as_str());
        // Java names the class, whose package is the folder. The name of a module can come before it.
        let class = group("class").rsplit('/').next().unwrap_or_default();
        let (package, class) = class.rsplit_once('.').unwrap_or(("", class));
        let folder = if package.is_empty() { String::new() } else { package.replace('.', "/") + "/" };
        // A class without a name has a number.
        let class = class.rsplit('$').find(|name| !name.starts_with(|c: char| c.is_ascii_digit())).unwrap_or_default();
        let (container, function) = match (group("function"), class) {
            ("<init>", class) => ("", class),
            (function, "") => function_name(function),
            (function, class) => (class, function_name(function).1),
        };
        let (container, function) = (container.to_owned(), function.to_owned());
        let frame = StackFrame { path: folder + group("path"), line: number(group("line")), function, container };
        Some((frame, form.innermost_last))
    })
}

/// The bare name of the function of a frame, after that of its container. Both are empty if no definition has the name: `<lambda>`,
/// `Object.<anonymous>`.
fn function_name(function: &str) -> (&str, &str) {
    let groups = FUNCTION.as_ref().and_then(|pattern| pattern.captures(function));
    let Some(name) = groups.and_then(|groups| groups.iter().skip(1).flatten().next()) else { return ("", "") };
    let before = function[..name.start()].trim_end_matches(['.', ':', '#', '-', '>']);
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    (before.rsplit(|c| !is_of_name(c)).next().unwrap_or_default(), name.as_str())
}

fn is_fence(text: &str) -> bool {
    text.starts_with("```") || text.starts_with("~~~")
}

/// The first and the last lines of a long message.
fn excerpt(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_MESSAGE_BYTES {
        return text.into();
    }
    let half = MAX_MESSAGE_BYTES / 2;
    let head = &text[..text.floor_char_boundary(half)];
    // The end of a very long line is dropped, not its start.
    let head = head.rsplit_once('\n').map(|(lines, _)| lines).filter(|lines| lines.len() > half / 2).unwrap_or(head);
    let tail = text[text.ceil_char_boundary(text.len() - half)..].split_once('\n').map_or("", |(_, lines)| lines);
    let fences = head.lines().chain(tail.lines()).filter(|line| is_fence(line.trim())).count();
    // The middle begins or ends a code block if the number of fences is odd.
    let between = if fences % 2 == 0 { "\n" } else { "\n```\n" };
    format!("{head}{between}{tail}").into()
}

/// A line without its URLs, except for their anchors: that of a page of documentation is often the name of the documented symbol.
fn without_urls(line: &str) -> Cow<'_, str> {
    let words = |url: &Captures<'_>| {
        let anchor = url[0].split_once(".html#").map_or("", |(_, anchor)| anchor);
        ANCHOR.as_ref().map_or(String::new(), |other| format!(" {} ", other.replace_all(anchor, " ")))
    };
    URL.as_ref().map_or(Cow::from(line), |url| url.replace_all(line, words))
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
        let text = excerpt(text).replace('\r', "");
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
        // The location of a frame can be a URL.
        let has_url = |line: &str| line.contains("://") && frame(line).is_none();
        let lines = text.lines().map(|line| if has_url(line) { without_urls(line) } else { line.into() });
        let text = lines.collect::<Vec<_>>().join("\n");
        let inline = message.read_lines(text.trim_start());
        message.read_names(&inline);
        message
    }

    /// Whether the message has no text and names no file.
    pub fn is_empty(&self) -> bool {
        let has_text = [&self.title, &self.prose, &self.code, &self.error].iter().any(|part| !part.trim().is_empty());
        !has_text && self.links.is_empty() && self.frames.is_empty()
    }

    /// Assigns each line to a part. Returns the inline code.
    fn read_lines(&mut self, text: &str) -> Vec<String> {
        let (first, body) = text.split_once('\n').unwrap_or((text, ""));
        let is_traceback = first.starts_with(TRACEBACK);
        let has_title = !is_traceback && !is_fence(first) && frame(first).is_none();
        let (title, body) = if has_title { (first, body) } else { ("", text) };
        let (title, rest) = title.split_at(title.floor_char_boundary(MAX_TITLE_BYTES));
        self.title = title.trim_start_matches(['#', ' ']).to_owned();
        if !rest.is_empty() {
            self.prose = format!("{rest}\n");
        }
        let is_report = body.lines().count() >= MIN_REPORT_LINES;
        let mut reader = LineReader {
            message: self,
            fenced: false,
            versions: false,
            in_trace: false,
            outer: Vec::new(),
            raised: String::new(),
        };
        for line in body.lines() {
            reader.read(line, is_report);
        }
        reader.end_trace();
        let raised = reader.raised;
        if is_traceback {
            self.title = raised;
        }
        let sentences = format!("{}\n{}", self.title, self.prose);
        let inline: Vec<String> = groups::<2>(&INLINE_CODE, &sentences).map(|[_, code]| code.to_owned()).collect();
        for code in &inline {
            self.code.push_str(code);
            self.code.push('\n');
        }
        for frame in self.frames.iter().take(FRAMES_AS_WORDS) {
            let dot = if frame.container.is_empty() { "" } else { "." };
            let _ = writeln!(self.error, "{}{dot}{}", frame.container, frame.function);
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
        let own: BTreeSet<&str> =
            groups::<3>(&OWN, &code).flat_map(|[_, definition, variable]| [definition, variable]).collect();
        for (name, weight) in self.identifiers.iter_mut().chain(&mut self.words) {
            *weight *= if own.contains(name.as_str()) { OWN_NAME } else { 1.0 };
        }
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
    /// The error line of the latest trace whose source lines are shown.
    raised: String,
}

impl LineReader<'_> {
    fn read(&mut self, line: &str, is_report: bool) {
        let text = line.trim();
        if is_fence(text) {
            self.fenced = !self.fenced;
            self.in_trace = false;
            self.versions &= self.fenced;
            return;
        }
        let frame = frame(line);
        let begins_trace = text.contains(TRACEBACK);
        if frame.is_some() || begins_trace {
            self.versions = false;
        } else if is_report && self.is_boilerplate(text) {
            return;
        }
        if begins_trace {
            self.in_trace = true;
            return;
        }
        if let Some((frame, innermost_last)) = frame {
            if frame.path.is_empty() {
                // The source lines of a notebook's cell are the reporter's.
                self.in_trace = false;
            } else {
                self.in_trace |= innermost_last;
                if innermost_last { &mut self.outer } else { &mut self.message.frames }.push(frame);
            }
            if is_match(&ERROR, text) {
                self.add(text, |message| &mut message.error);
            }
            return;
        }
        if text.len() < MAX_ERROR_BYTES && (is_match(&ERROR, text) || is_match(&LOG, text) && is_match(&SEVERE, text)) {
            if self.in_trace {
                self.raised = text.to_owned();
            }
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
        is_setting || (is_match(&LOG, text) && !is_match(&SEVERE, text))
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
            &COMMENT, &URL, &LINK, &ANCHOR, &HEADING, &VERSIONS, &SETTING, &LOG, &SEVERE, &ERROR, &CODE_LINE, &WORD,
            &DOTTED, &FROM_IMPORT, &INLINE_CODE, &CALL, &PATH, &OWN, &FUNCTION,
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
    fn frames_of_all_languages_are_read() {
        let forms = [
            ("boats/sail.py:40: in sail", "boats/sail.py", 40, "sail"),
            ("    src/a.py:12: in f", "src/a.py", 12, "f"),
            ("  File \"a.py\", line 3, in <module>", "a.py", 3, ""),
            ("  File \"a.py\", line 3, in <listcomp>", "a.py", 3, ""),
            ("~/x/core/common.py in resample(self, dim)", "~/x/core/common.py", 0, "resample"),
            ("~/x/core/common.py in <lambda>(x)", "~/x/core/common.py", 0, ""),
            ("File ~/x/core/common.py:1815, in DataWithCoords.resample(self)", "~/x/core/common.py", 1815, "resample"),
            (r"File c:\x\common.py:15, in <genexpr>(.0)", r"c:\x\common.py", 15, ""),
            ("    at org.tide.Port.open(Port.java:12)", "org/tide/Port.java", 12, "open"),
            ("    at Port.open(Port.java:12)", "Port.java", 12, "open"),
            ("    at org.tide.Port.<init>(Port.java:12)", "org/tide/Port.java", 12, "Port"),
            ("    at org.tide.Port$Gate.<init>(Port.java:12)", "org/tide/Port.java", 12, "Gate"),
            ("    at org.tide.Port.lambda$open$0(Port.java:12)", "org/tide/Port.java", 12, "open"),
            ("E/AndroidRuntime(12):     at com.foo.Bar.baz(Bar.java:3)", "com/foo/Bar.java", 3, "baz"),
            ("[ERROR]     at com.foo.Bar.baz(Bar.java:3)", "com/foo/Bar.java", 3, "baz"),
            ("\tat com.foo.Bar.draw-FJfuzF0(Bar.kt:3)", "com/foo/Bar.kt", 3, "draw"),
            ("\tat com.foo.Bar.draw$default(Bar.kt:3)", "com/foo/Bar.kt", 3, "draw"),
            ("\tat deployment.my-app.war//com.foo.Bar.baz(Bar.java:3)", "com/foo/Bar.java", 3, "baz"),
            ("\tat java.base/java.lang.Thread.run(Thread.java:833)", "java/lang/Thread.java", 833, "run"),
            ("   at Tide.Port.Open(String s) in /src/Port.cs:line 7", "/src/Port.cs", 7, "Open"),
            ("   at Tide.Port.Open[T](T it) in C:\\src\\Port.cs:line 7", "C:\\src\\Port.cs", 7, "Open"),
            ("   at Tide.Port..ctor(String s) in /src/Port.cs:line 7", "/src/Port.cs", 7, "Port"),
            ("   at Tide.Port.<OpenAsync>d__5.MoveNext() in /src/Port.cs:line 7", "/src/Port.cs", 7, "OpenAsync"),
            ("   at Tide.Port.<>c.<Open>b__5_0(Int32 n) in /src/Port.cs:line 7", "/src/Port.cs", 7, "Open"),
            ("   at Tide.Port.<Open>g__Inner|5_0(Int32 n) in /src/Port.cs:line 7", "/src/Port.cs", 7, "Inner"),
            ("   at Program.<Main>$(String[] args) in /src/Program.cs:line 5", "/src/Program.cs", 5, "Main"),
            ("   at Program.<<Main>$>g__Inner|0_0() in /src/Program.cs:line 5", "/src/Program.cs", 5, "Inner"),
            ("    at Port.open (lib/port.js:3:14)", "lib/port.js", 3, "open"),
            ("    at Port.open [as run] (lib/port.js:3:14)", "lib/port.js", 3, "open"),
            ("    at new Port (lib/port.js:3:14)", "lib/port.js", 3, "Port"),
            ("    at Foo.#open (lib/foo.js:1:2)", "lib/foo.js", 1, "open"),
            ("    at Object.<anonymous> (lib/port.js:3:14)", "lib/port.js", 3, ""),
            ("    at lib/port.js:3:14", "lib/port.js", 3, ""),
            ("    at async lib/port.js:3:14", "lib/port.js", 3, ""),
            ("    at async Page (app/(shop)/page.tsx:3:14)", "app/(shop)/page.tsx", 3, "Page"),
            ("    at foo (file:///app/src/foo.mjs:10:5)", "app/src/foo.mjs", 10, "foo"),
            ("    at file:///C:/app/src/foo.mjs:10:5", "C:/app/src/foo.mjs", 10, ""),
            ("    at foo (webpack:///./src/a.js:10:5)", "./src/a.js", 10, "foo"),
            ("    at foo (webpack-internal:///(rsc)/./src/a.js:10:5)", "(rsc)/./src/a.js", 10, "foo"),
            ("    at App (http://localhost:5173/src/App.tsx:12:3)", "src/App.tsx", 12, "App"),
            ("    at App (http://localhost:5173/src/App.tsx?t=17:12:3)", "src/App.tsx", 12, "App"),
            ("             at ./src/port.rs:9:5", "./src/port.rs", 9, ""),
            ("  --> src/port.rs:9:5", "src/port.rs", 9, ""),
            ("thread 'main' panicked at src/port.rs:9:5:", "src/port.rs", 9, ""),
            (r"thread 'main' panicked at C:\src\port.rs:9:5:", r"C:\src\port.rs", 9, ""),
            ("\t/go/src/port.go:44 +0x1d", "/go/src/port.go", 44, ""),
            ("\tC:/Users/me/port.go:44 +0x1d", "C:/Users/me/port.go", 44, ""),
            ("\t/go/src/port.go:44", "/go/src/port.go", 44, ""),
            ("#1  0x00 in port_open (p=0x0) at src/port.c:20", "src/port.c", 20, "port_open"),
            ("lib/port.rb:5:in `open'", "lib/port.rb", 5, "open"),
            ("port.rb:5:in `block in open'", "port.rb", 5, "open"),
            ("\tfrom /a/b.rb:7:in 'Foo#bar'", "/a/b.rb", 7, "bar"),
            ("\tfrom /a/b.rb:7:in `<top (required)>'", "/a/b.rb", 7, ""),
            ("#0 /srv/Port.php(8): Port->open()", "/srv/Port.php", 8, "open"),
            ("#0 /srv/Port.php(8): Tide\\Port->{closure}()", "/srv/Port.php", 8, ""),
        ];
        for (line, path, number, function) in forms {
            let message = Message::new(&format!("It fails\n\n{line}"));
            let [frame] = &message.frames[..] else { panic!("{line}: {message:?}") };
            assert_eq!((frame.path.as_str(), frame.line, frame.function.as_str()), (path, number, function), "{line}");
            assert_eq!((message.prose.trim(), message.code.trim()), ("", ""), "{line}");
            let only = Message::new(line.trim());
            assert!(!only.is_empty() && only.title.is_empty() || line.starts_with('\t'), "{line}");
        }
    }

    #[test]
    fn the_container_of_a_function_is_read() {
        for (line, container) in [
            ("  File \"a.py\", line 3, in f", ""),
            ("File ~/x/common.py:15, in DataWithCoords.resample(self)", "DataWithCoords"),
            ("    at org.tide.Port$Gate.open(Port.java:12)", "Gate"),
            ("    at org.tide.Port$1.open(Port.java:12)", "Port"),
            ("    at org.tide.Port.<init>(Port.java:12)", ""),
            ("   at Tide.Port.Open(String s) in /src/Port.cs:line 7", "Port"),
            ("    at Port.open [as run] (lib/port.js:3:14)", "Port"),
            ("    at new Port (lib/port.js:3:14)", ""),
            ("    at Foo.#open (lib/foo.js:1:2)", "Foo"),
            ("port.rb:5:in `block in open'", ""),
            ("\tfrom /a/b.rb:7:in 'Tide::Foo#bar'", "Foo"),
            ("#0 /srv/Port.php(8): Tide\\Port->open()", "Port"),
        ] {
            let message = Message::new(&format!("It fails\n\n{line}"));
            assert_eq!(message.frames[0].container, container, "{line}");
            assert_eq!(message.error.contains('.'), !container.is_empty(), "{line}");
        }
    }

    #[test]
    fn frames_without_a_file_are_no_text() {
        for line in [
            "    at Module._compile (node:internal/modules/cjs/loader:1554:14)",
            "    at node:internal/main/run_main_module:28:49",
            "    at Array.map (<anonymous>)",
            "    at async Promise.all (index 0)",
            "    at java.base/jdk.internal.reflect.DirectMethod.invoke(Native Method)",
            "   at System.Threading.Tasks.Task.Execute(Object state)",
            "Cell In[3], line 5",
            "<ipython-input-3-1ab2c> in <module>",
            "/tmp/ipykernel_7392/107.py in <module>",
        ] {
            let message = Message::new(&format!("It fails\n\n{line}"));
            let parts = format!("{}{}{}", message.prose, message.code, message.error);
            assert!(parts.trim().is_empty() && message.frames.is_empty(), "{line}: {message:?}");
        }
        let message = Message::new("It fails\n\nlook at the port (index 0) and\nat least Port.open(gate)");
        assert!(message.prose.contains("index") && message.prose.contains("least"));
    }

    #[test]
    fn a_function_without_a_name_adds_no_words() {
        let trace = "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    b()\n  File \"b.py\", line 4, in <lambda>\n    c()\nValueError: no wind\n";
        let message = Message::new(&format!("It fails\n\n```\n{trace}```\n    at Object.<anonymous> (a.js:1:2)\n"));
        for word in ["module", "lambda", "anonymous", "Object"] {
            assert!(!message.identifiers.contains_key(word) && !message.words.contains_key(word), "{word}");
        }
    }

    #[test]
    fn the_title_of_a_trace_is_its_error() {
        let trace = |error: &str| {
            format!("Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\n{error}\n")
        };
        let both = format!(
            "{}\nDuring handling of it:\n\n{}\nAnd then Error: no.\n",
            trace("KeyError: 'a'"),
            trace("ValueError: no wind")
        );
        assert_eq!(Message::new(&both).title, "ValueError: no wind");
        assert_eq!(Message::new(&trace("it was cut")).title, "");
    }

    #[test]
    fn a_message_that_names_a_file_is_not_empty() {
        for text in ["https://github.com/o/r/blob/main/src/a.rs#L10", "   at lib/port.js:3:14"] {
            assert!(!Message::new(text).is_empty(), "{text}");
        }
        assert!(Message::new(" \n").is_empty() && Message::new("https://example.org/").is_empty());
        assert_eq!(Message::new("https://example.org/\nIt fails").title, "It fails");
    }

    #[test]
    fn errors_in_logs_are_read() {
        let message = Message::new(
            "It fails\n\nwhen the gate opens\n\n```\n2026-01-05 10:00:00 INFO tide.port - all is well\n2026-01-05 10:00:00 ERROR tide.port - gate depth is negative\n\
             10:00:01 [main] tide - java.lang.NullPointerException\n```\n",
        );
        assert!(message.error.contains("negative") && message.error.contains("NullPointer"), "{message:?}");
        assert!(!format!("{message:?}").contains("well"));
    }

    #[test]
    fn a_trace_ends_a_version_list() {
        let message = Message::new(
            "It fails\n\n**Environment**\n\n- tide 1.2\n- python 3.9\n\n```\nTraceback (most recent call last):\n  File \"a.py\", line 3, in moor\nValueError: no wind\n```\n",
        );
        assert_eq!((message.frames.len(), message.error.as_str()), (1, "ValueError: no wind\nmoor\n"));
        assert!(!message.prose.contains("tide"));
    }

    #[test]
    fn settings_are_no_sentences() {
        let message = |line: &str| Message::new(&format!("It fails\n\nwhen the gate\nopens twice\n\n{line}\n"));
        for line in [
            "OS: Linux",
            "- **Operating system and version**: Ubuntu 20.04",
            "Python version: 3.9",
            "* Node.js / npm version: 18.1 / 9",
            "Docker Engine version: 20.10",
            "Python 3.9.7: yes",
            "numpy: 1.20",
            "Sphinx extensions: none",
        ] {
            assert!(!message(line).prose.contains(':'), "{line}");
        }
        for line in [
            "System tray icon vanishes: only a restart helps",
            "Docker build fails: no such file",
            "Go to the page: it is empty",
        ] {
            assert!(message(line).prose.contains(line), "{line}");
        }
    }

    #[test]
    fn the_start_and_the_end_of_a_long_message_are_read() {
        let log = "the tide rises and falls\n".repeat(4_000);
        let text = format!("It fails\n\n```\nfirst()\n{log}```\nThe last sentence\n");
        let message = Message::new(&text);
        assert_eq!(message.title, "It fails");
        assert!(
            message.code.contains("first()") && message.code.lines().all(|line| line.len() == 24 || line == "first()")
        );
        assert_eq!(message.prose.trim(), "The last sentence");
        assert!(message.code.len() > MAX_MESSAGE_BYTES * 9 / 10);
        let inside = Message::new(&format!("It fails\n\n{log}```\ntide\n```\n"));
        assert_eq!(inside.code, "tide\n");
    }

    #[test]
    fn a_name_that_the_code_defines_counts_less_once() {
        let weight = |times: usize| {
            Message::new(&format!("It fails\n\n```\n{}use(frame)\n```", "frame = 1\n".repeat(times))).identifiers["frame"]
        };
        assert_eq!((weight(0), weight(1)), (IN_CODE, IN_CODE * OWN_NAME));
        assert_eq!(weight(3), weight(1));
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
        fn any_text_can_be_read(text in "(\\PC|[\\n`#:.()/ ]|Traceback|://|File \"a.py\", line 3|    at a.b\\(C.java:1\\)){0,80}") {
            let message = Message::new(&text);
            prop_assert!(message.identifiers.values().chain(message.words.values()).all(|weight| *weight > 0.0));
        }
    }
}
