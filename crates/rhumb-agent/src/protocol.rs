//! Tool calls as text, for models and servers that have none.
//!
//! A call is a fenced block with the info string `tool`: the name of the tool, then one argument per line. A text of several lines is
//! written between `name <<WORD` and a line `WORD`, because models write code that way more reliably than as a JSON string, and because
//! the code may then contain fences:
//!
//! ````text
//! ```tool
//! edit
//! path: src/lib.rs
//! search <<END
//! fn old() {}
//! END
//! replace <<END
//! fn new() {}
//! END
//! ```
//! ````
//!
//! The text has a line break after each of its lines, also after the last. A value in double quotes that is a JSON string is decoded;
//! [`render_call`] uses that for texts that the other forms cannot express.
//!
//! Models that know another protocol are understood too: a JSON object with `name` and `arguments` in a `tool` block, in a `json` block
//! (if it has no other fields), or in `<tool_call>` tags.

use std::collections::HashSet;

use rhumb_llm::{Tool, ToolCall, ToolResult};
use serde_json::{Map, Value, json};

use crate::arguments::parse_json;
use crate::output::one_line;
use crate::tools::short_schema;

/// Maximum length of a tool's name above a result, in characters.
const MAX_NAME: usize = 60;
/// Maximum length of the word that ends a text, in bytes.
const MAX_WORD: usize = 40;
const OPEN_TAG: &str = "<tool_call>";
const CLOSE_TAG: &str = "</tool_call>";

/// The instructions for a model: how to write calls, and the tools. Under 1,200 tokens for the tools of this crate.
pub fn instructions(tools: &[Tool]) -> String {
    let example = match tools.first() {
        _ if tools.iter().any(|tool| tool.name == "edit") => {
            render_call("edit", &json!({"path": "src/lib.rs", "search": "fn old() {\n", "replace": "fn new() {\n"}))
        }
        Some(tool) => {
            let required = tool.parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            render_call(
                &tool.name,
                &required.map(|name| (name.to_owned(), json!("VALUE"))).collect::<Map<_, _>>().into(),
            )
        }
        None => return String::new(),
    };
    let mut text = format!(
        "To call a tool, write a fenced block with the info string `tool`: the name of the tool, then one line `argument: value` for each \
         argument. Write a text of several lines between `argument <<END` and a line `END`; if the text has such a line, use another \
         word. Write lists as JSON on one line. For example:\n\n{example}\n\nYou may write several blocks. Stop after them: the results \
         are in the next message; never write results yourself. When the task is done, answer without a block. The tools (`?`: \
         optional):\n\n"
    );
    for tool in tools {
        let description = tool.description.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(&format!("- {}({}): {description}\n", tool.name, short_schema(&tool.parameters)));
    }
    text
}

/// A call as the model should have written it, for the history. `arguments` is an object; anything else is written as JSON.
///
/// [`calls`] reads the block back: texts are the same, other values are their JSON text, which [`crate::parse_call`] accepts.
pub fn render_call(name: &str, arguments: &Value) -> String {
    let lines = arguments.as_object().filter(|_| is_word(name)).and_then(|fields| {
        fields
            .iter()
            .map(|(name, value)| is_word(name).then(|| render_argument(name, value)))
            .collect::<Option<String>>()
    });
    let body = match lines {
        Some(lines) => format!("{name}\n{lines}"),
        None => format!("{}\n", json!({"name": name, "arguments": arguments})),
    };
    let fence = fence_around(&body);
    format!("{fence}tool\n{body}{fence}")
}

fn render_argument(name: &str, value: &Value) -> String {
    let Value::String(text) = value else { return format!("{name}: {value}\n") };
    let plain =
        !text.is_empty() && text.trim() == text && !text.starts_with(['"', '<']) && !text.contains(char::is_control);
    if plain {
        return format!("{name}: {text}\n");
    }
    if !text.ends_with('\n') {
        return format!("{name}: {value}\n");
    }
    let taken: HashSet<&str> = text.lines().map(str::trim).filter(|line| line.starts_with("END")).collect();
    let mut word = "END".to_owned();
    for number in 2_usize.. {
        if !taken.contains(word.as_str()) {
            break;
        }
        word = format!("END{number}");
    }
    format!("{name} <<{word}\n{text}{word}\n")
}

/// The results as the text of a message of the user. Each is in a fence that is longer than any within it. This text is never parsed.
pub fn results(results: &[ToolResult]) -> String {
    let mut text = String::new();
    for result in results {
        let kind = if result.is_error { "Error from" } else { "Result of" };
        let fence = fence_around(&result.content);
        let line_break = if result.content.is_empty() || result.content.ends_with('\n') { "" } else { "\n" };
        let name = one_line(&result.name, MAX_NAME);
        text.push_str(&format!("{kind} {name}:\n{fence}\n{}{line_break}{fence}\n\n", result.content));
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// Backticks, more than any run of them in a text, and at least three.
fn fence_around(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.saturating_add(1).max(3))
}

/// The calls in an answer, and the answer without them. `first` is the number of the first call, for ids.
///
/// A block that is complete, but cannot be read, is a call with its body as the arguments, so that the model gets an error and can try
/// again. A last block without an end is a call if its arguments are complete; else it remains in the text, and [`is_unfinished`] is
/// true. Blocks inside a longer fence are examples, not calls.
///
/// ```
/// let answer = "I read it first.\n\n```tool\nread_file\npath: src/lib.rs\n```\n";
/// let (text, calls) = rhumb_agent::protocol::calls(answer, 1);
/// assert_eq!(text, "I read it first.");
/// assert_eq!((calls[0].id.as_str(), calls[0].arguments.as_str()), ("text_1", r#"{"path":"src/lib.rs"}"#));
/// ```
pub fn calls(answer: &str, first: usize) -> (String, Vec<ToolCall>) {
    let parsed = Parser::new(answer).parse();
    if parsed.calls.is_empty() {
        return (answer.to_owned(), Vec::new());
    }
    let calls = parsed.calls.into_iter().enumerate().map(|(index, (name, arguments))| ToolCall {
        id: format!("text_{}", first.saturating_add(index)),
        name,
        arguments,
        ..ToolCall::default()
    });
    (parsed.prose.trim().to_owned(), calls.collect())
}

/// Whether an answer ends within a call that [`calls`] does not return.
pub fn is_unfinished(answer: &str) -> bool {
    Parser::new(answer).parse().unfinished
}

/// The name and the arguments of a call.
type Call = (String, String);

/// The line that opens or closes a fenced block.
#[derive(Debug, Clone, Copy)]
struct Fence<'a> {
    mark: char,
    length: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let text = line.trim_start_matches(' ');
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~') && line.len() - text.len() <= 3)?;
        let rest = text.trim_start_matches(mark);
        let info = rest.trim();
        let length = text.len() - rest.len();
        (length >= 3 && !info.contains('`')).then_some(Self { mark, length, info })
    }

    fn closes(&self, open: &Fence<'_>) -> bool {
        self.mark == open.mark && self.length >= open.length && self.info.is_empty()
    }

    /// What follows `tool` in the info string of a call.
    fn tool(&self) -> Option<&'a str> {
        let (word, rest) = self.info.split_once(' ').unwrap_or((self.info, ""));
        (word.eq_ignore_ascii_case("tool") || word.eq_ignore_ascii_case("tool_call")).then_some(rest.trim())
    }
}

/// How far a block was read.
enum Block {
    /// A call, and the line after it.
    Call(Call, usize),
    /// The text ends within the call.
    Unfinished,
}

#[derive(Debug)]
struct Parser<'a> {
    answer: &'a str,
    lines: Vec<&'a str>,
    prose: String,
    calls: Vec<Call>,
    unfinished: bool,
}

impl<'a> Parser<'a> {
    fn new(answer: &'a str) -> Self {
        let lines = answer.split_inclusive('\n').collect();
        Self { answer, lines, prose: String::new(), calls: Vec::new(), unfinished: false }
    }

    /// Each line is read a bounded number of times: no search goes beyond the next line that opens a call.
    fn parse(mut self) -> Self {
        let mut outer: Option<Fence<'a>> = None;
        let (mut at, mut offset) = (0, 0);
        while let Some(&line) = self.lines.get(at) {
            let mut next = at + 1;
            let fence = Fence::read(line);
            // A block of the same length cannot be inside another: the outer fence was never closed.
            let opens_call = fence
                .filter(|fence| outer.is_none_or(|outer| outer.mark == fence.mark && outer.length <= fence.length));
            if let Some((fence, info)) = opens_call.and_then(|fence| Some((fence, fence.tool()?))) {
                outer = None;
                match self.block(at, fence, info) {
                    Block::Call(call, end) => {
                        self.calls.push(call);
                        next = end;
                    }
                    Block::Unfinished => {
                        self.unfinished = true;
                        self.prose.push_str(self.answer.get(offset..).unwrap_or_default());
                        return self;
                    }
                }
            } else if let Some(open) = outer {
                outer = outer.filter(|_| !fence.is_some_and(|fence| fence.closes(&open)));
                self.prose.push_str(line);
            } else if let Some(fence) = fence {
                match self.json_block(at, fence) {
                    Some((call, end)) => {
                        self.calls.push(call);
                        next = end;
                    }
                    None => {
                        outer = Some(fence);
                        self.prose.push_str(line);
                    }
                }
            } else if line.trim_start().starts_with(OPEN_TAG) {
                let end = self.tags(offset);
                // The rest of a line after a call is text.
                let mut position = offset;
                next = at;
                while position < end || next == at {
                    position += self.lines.get(next).map_or(1, |line| line.len());
                    next += 1;
                }
                let rest = if end == offset { line } else { self.answer.get(end..position).unwrap_or_default() };
                self.prose.push_str(rest);
            } else {
                self.prose.push_str(line);
            }
            offset += self.lines.get(at..next).into_iter().flatten().map(|line| line.len()).sum::<usize>();
            at = next;
        }
        self
    }

    /// Reads a `tool` block that begins at a line.
    fn block(&self, start: usize, open: Fence<'_>, info: &str) -> Block {
        let body = start + 1;
        let is_blank = |line: &&str| line.trim().is_empty();
        let mut at = body + self.lines.iter().skip(body).take_while(|line| is_blank(line)).count();
        let first = self.lines.get(at).copied().unwrap_or_default().trim();
        if first.starts_with('{') {
            let (end, closed) = self.end_of_block(at, open);
            let text = self.lines[at..end].concat();
            return match json_call(&text, false) {
                Some(call) => Block::Call(call, end + usize::from(closed)),
                None if end < self.lines.len() => {
                    Block::Call((info.to_owned(), text.trim().to_owned()), end + usize::from(closed))
                }
                None => Block::Unfinished,
            };
        }
        let mut name = info;
        if name.is_empty() && !Fence::read(first).is_some_and(|fence| fence.closes(&open)) {
            name = match argument(first) {
                Some(("name" | "tool", value)) => value,
                _ => first.trim_end_matches(':'),
            };
            at += 1;
        }
        let arguments = at;
        let mut fields = Map::new();
        while let Some(&line) = self.lines.get(at) {
            if Fence::read(line).is_some_and(|fence| fence.closes(&open)) {
                return Block::Call((name.to_owned(), Value::Object(fields).to_string()), at + 1);
            }
            if let Some((argument, word)) = text_start(line) {
                let Some(end) = self.end_of_text(at + 1, word, open) else { break };
                fields.insert(argument.to_owned(), Value::String(self.lines[at + 1..end].concat()));
                at = end;
            } else if let Some((argument, value)) = argument(line) {
                fields.insert(argument.to_owned(), Value::String(decoded(value)));
            } else if !line.trim().is_empty() {
                break;
            }
            at += 1;
        }
        let last = self.lines.last().copied().unwrap_or_default();
        let ended =
            last.ends_with('\n') || last.trim_end().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if at >= self.lines.len() {
            // A value on the last line may be cut; the word after a text is not.
            return if !fields.is_empty() && ended {
                Block::Call((name.to_owned(), Value::Object(fields).to_string()), at)
            } else {
                Block::Unfinished
            };
        }
        let (end, closed) = self.end_of_block(at, open);
        if end >= self.lines.len() {
            return Block::Unfinished;
        }
        let raw = self.lines.get(arguments..end).unwrap_or_default().concat();
        Block::Call((name.to_owned(), raw.trim().to_owned()), end + usize::from(closed))
    }

    /// The line that closes a block, or, without one, the next line that opens a call; and whether it is the former.
    fn end_of_block(&self, start: usize, open: Fence<'_>) -> (usize, bool) {
        for (index, line) in self.lines.iter().enumerate().skip(start) {
            match Fence::read(line) {
                Some(fence) if fence.closes(&open) => return (index, true),
                Some(fence) if opens_next(fence, open) => return (index, false),
                _ => {}
            }
        }
        (self.lines.len(), false)
    }

    /// The line with the word that ends a text. `None` if another call opens before, because the word was forgotten.
    fn end_of_text(&self, start: usize, word: &str, open: Fence<'_>) -> Option<usize> {
        for (index, line) in self.lines.iter().enumerate().skip(start) {
            if line.trim_end() == word {
                return Some(index);
            }
            if Fence::read(line).is_some_and(|fence| opens_next(fence, open)) {
                return None;
            }
        }
        None
    }

    /// Reads a `json` block that is a call. Returns the line after it.
    fn json_block(&self, start: usize, open: Fence<'_>) -> Option<(Call, usize)> {
        if !open.info.eq_ignore_ascii_case("json") {
            return None;
        }
        let (end, closed) = self.end_of_block(start + 1, open);
        let call = json_call(&self.lines.get(start + 1..end)?.concat(), true)?;
        Some((call, end + usize::from(closed)))
    }

    /// Reads calls in tags from a position, and returns where they end.
    fn tags(&mut self, start: usize) -> usize {
        let mut end = start;
        loop {
            let rest = self.answer.get(end..).unwrap_or_default();
            let Some(body) = rest.trim_start().strip_prefix(OPEN_TAG) else { return end };
            let from = self.answer.len() - body.len();
            let body = body.find(OPEN_TAG).map_or(body, |next| &body[..next]);
            let (text, length) = match body.find(CLOSE_TAG) {
                Some(close) => (&body[..close], close + CLOSE_TAG.len()),
                None => (body, body.len()),
            };
            let Some(call) = json_call(text, false) else {
                self.unfinished |= length == self.answer.len() - from && !body.ends_with(CLOSE_TAG);
                return end;
            };
            self.calls.push(call);
            end = from + length;
        }
    }
}

fn opens_next(fence: Fence<'_>, open: Fence<'_>) -> bool {
    fence.tool().is_some() && fence.length >= open.length
}

/// `name: value`
fn argument(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    is_word(name.trim()).then(|| (name.trim(), value.trim()))
}

/// `name <<WORD`, perhaps with a colon or quotes.
fn text_start(line: &str) -> Option<(&str, &str)> {
    let (name, word) = line.split_once("<<")?;
    let name = name.trim().trim_end_matches(':').trim_end();
    let word = word.trim().trim_matches(['\'', '"']);
    (is_word(name) && is_word(word)).then_some((name, word))
}

fn is_word(text: &str) -> bool {
    (1..=MAX_WORD).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// A value, decoded if it is a JSON string.
fn decoded(value: &str) -> String {
    let json = value.starts_with('"').then(|| serde_json::from_str(value).ok()).flatten();
    json.unwrap_or_else(|| value.to_owned())
}

/// The call that a JSON object is. If `strict`, it has the name and the arguments and nothing else.
fn json_call(text: &str, strict: bool) -> Option<Call> {
    let Ok(Value::Object(mut fields)) = parse_json(text) else { return None };
    if strict
        && !(fields.len() == 2
            && fields.get("name").is_some_and(Value::is_string)
            && fields.get("arguments")?.is_object())
    {
        return None;
    }
    let mut take = |names: [&str; 4]| names.into_iter().find_map(|name| fields.remove(name));
    let Some(Value::String(name)) = take(["name", "tool", "function", "tool_name"]) else { return None };
    let arguments = match take(["arguments", "parameters", "args", "input"]) {
        Some(Value::String(text)) => text,
        Some(value) => value.to_string(),
        None => "{}".to_owned(),
    };
    Some((name, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, ToolSet, definitions, parse_call};
    use proptest::prelude::*;

    const ALL: ToolSet = ToolSet::ALL;

    fn parsed(answer: &str) -> Vec<Result<Action, String>> {
        let (_, calls) = calls(answer, 0);
        calls.iter().map(|call| parse_call(call, &ALL).map_err(|error| error.to_string())).collect()
    }

    fn read(path: &str) -> Action {
        Action::ReadFile { path: path.to_owned(), start_line: None, end_line: None }
    }

    fn write(content: &str) -> Action {
        Action::WriteFile { path: "a".to_owned(), content: content.to_owned() }
    }

    #[test]
    fn the_instructions_are_short_and_their_example_is_a_call() {
        for set in [ALL, ToolSet { edits: false, ..ALL }] {
            let text = instructions(&definitions(&set));
            assert!(text.len() < 4_500, "{} bytes", text.len());
            let (prose, calls) = calls(&text, 0);
            assert_eq!(calls.len(), 1);
            assert!(parse_call(&calls[0], &set).is_ok());
            assert!(prose.contains("- grep(pattern: string, path?: string, ignore_case?: boolean): Search file"));
        }
        assert_eq!(instructions(&[]), "");
    }

    #[test]
    fn an_answer_may_have_several_calls_and_prose() {
        let answer = "First.\n\n```tool\nread_file\npath: a\nstart_line: 3\n```\nThen.\n~~~tool\ngrep\n\npattern: \"^fn \"\n~~~\nDone.\n";
        let (prose, found) = calls(answer, 7);
        assert_eq!(prose, "First.\n\nThen.\nDone.");
        assert_eq!(found.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["text_7", "text_8"]);
        let grep = Action::Grep { pattern: "^fn ".to_owned(), path: None, ignore_case: false };
        let first = Action::ReadFile { path: "a".to_owned(), start_line: Some(3), end_line: None };
        assert_eq!(parsed(answer), [Ok(first), Ok(grep)]);
    }

    #[test]
    fn code_with_fences_is_one_argument() {
        let answer = "```tool\nwrite_file\npath: a\ncontent <<END\n# T\n```\nEND \n  END\n```sh\nls\n```\nEND\n```\n";
        assert_eq!(parsed(&answer.replace("END \n", "")), [Ok(write("# T\n```\n  END\n```sh\nls\n```\n"))]);
        let quoted = "```tool\nwrite_file\npath: a\ncontent: <<'EOF'\nx\r\nEOF\r\n```";
        assert_eq!(parsed(quoted), [Ok(write("x\r\n"))]);
    }

    #[test]
    fn json_calls_are_understood() {
        let call = r#"{"name": "read_file", "arguments": {"path": "a"}}"#;
        for answer in [
            format!("```tool\n{call}\n```"),
            format!("```tool\n{call}"),
            format!("```json\n{call}\n```\n"),
            format!("<tool_call>\n{call}\n</tool_call>"),
            format!("<tool_call>{call}"),
            format!("~~~ tool\n{}\n~~~", call.replace("{\"path\": \"a\"}", r#""{\"path\": \"a\"}""#)),
        ] {
            assert_eq!(parsed(&answer), [Ok(read("a"))], "{answer}");
        }
        let two = format!("x\n<tool_call>{call}</tool_call> <tool_call>{call}</tool_call> y\nz");
        assert_eq!(parsed(&two), [Ok(read("a")), Ok(read("a"))]);
        assert_eq!(calls(&two, 0).0, "x\n y\nz");
        for answer in [
            r#"{"name": "read_file", "arguments": {"path": "a"}, "id": 1}"#,
            r#"{"name": "read_file", "arguments": "a"}"#,
            r#"{"name": "package", "version": "1"}"#,
        ] {
            assert_eq!(parsed(&format!("```json\n{answer}\n```\n")), [], "{answer}");
        }
    }

    #[test]
    fn an_example_in_a_longer_fence_is_no_call() {
        let example = "````markdown\n```tool\nread_file\npath: a\n```\n````\n";
        assert_eq!(calls(example, 0), (example.to_owned(), Vec::new()));
        let after_stray = "```rust\nfn f() {}\n\n```tool\nread_file\npath: a\n```\n";
        assert_eq!(parsed(after_stray), [Ok(read("a"))]);
    }

    #[test]
    fn an_unterminated_block_is_a_call_only_if_its_arguments_are_complete() {
        assert_eq!(parsed("```tool\nread_file\npath: a\n"), [Ok(read("a"))]);
        assert_eq!(parsed("```tool\nwrite_file\npath: a\ncontent <<END\nx\nEND"), [Ok(write("x\n"))]);
        for cut in [
            "x\n```tool",
            "```tool\nread_file",
            "```tool\nread_file\n",
            "```tool\nread_file\npath: src/ma",
            "```tool\nwrite_file\npath: a\ncontent <<END\nx\n",
            "```tool\nwrite_file\npath: a\ncontent <<END\nx\nEN",
            "```tool\n{\"name\": \"read_file\", \"argum",
            "<tool_call>{\"name\": \"re",
        ] {
            assert_eq!(calls(cut, 0), (cut.to_owned(), Vec::new()), "{cut}");
            assert!(is_unfinished(cut), "{cut}");
        }
        assert!(!is_unfinished("```tool\nread_file\npath: a\n```\n```rust\n"));
    }

    #[test]
    fn a_block_that_cannot_be_read_is_answered_with_an_error() {
        let answer = "```tool\nrun\ncommand: cat <<EOF\nhello\nEOF\n```\n```tool\nwrite_file\npath: a\ncontent <<END\nx\n```\nThen\n\
                      ```tool\nwrite_file\npath: a\ncontent <<END\ny\nEND\n```\n```tool\n{\"name\": }\n```\n```tool\n```\n";
        let actions = parsed(answer);
        assert_eq!(actions.len(), 5);
        assert!(actions[0].as_ref().is_err_and(|error| error.contains("command: string")), "{actions:?}");
        assert!(actions[1].as_ref().is_err_and(|error| error.contains("content: string")), "{actions:?}");
        assert_eq!(actions[2], Ok(write("y\n")));
        assert!(actions[3].is_err() && actions[4].is_err());
        assert_eq!(calls(answer, 0).0, "Then");
    }

    #[test]
    fn results_are_fenced_and_named() {
        let result = |content: &str, is_error| ToolResult {
            name: "read_file\n```tool".to_owned(),
            content: content.to_owned(),
            is_error,
            ..ToolResult::default()
        };
        let text = results(&[result("a\n````tool\nrun\ncommand: x\n````", false), result("", true)]);
        assert_eq!(
            text,
            "Result of read_file ```tool:\n`````\na\n````tool\nrun\ncommand: x\n````\n`````\n\nError from read_file ```tool:\n```\n```"
        );
    }

    #[test]
    fn large_and_hostile_answers_are_read_in_linear_time() {
        for part in [
            "```tool\na\nb <<X\n",
            "```tool\na\nb <<X\n```\n",
            "<tool_call>\n",
            "```json\n",
            "~~~a\n",
            "```tool\n",
            "```tool\n{\n",
            "```json\n```tool\n",
            "<tool_call>{}</tool_call>",
            "<tool_call>{\"name\":\"a\"}",
            "```tool\na\nb <<X\n~~~~\n",
        ] {
            let _ = calls(&part.repeat(100_000), 0);
        }
        let shrinking: String =
            (3..1_000).rev().map(|length| format!("{}tool\na\nb <<X\n", "`".repeat(length))).collect();
        let _ = calls(&shrinking, 0);
    }

    /// Text as code is: with fences, marks of the protocol, and words that end texts.
    fn code() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            4 => "[ -~é\t]{0,12}",
            1 => proptest::sample::select(vec![
                "```tool", "```", "~~~", "````", "END", " END", "END2", "path: x", "x <<END", "\"", "<tool_call>", "</tool_call>", "{",
                "\r", "*** End Patch", "\u{0}",
            ]).prop_map(str::to_owned),
        ];
        let lines = proptest::collection::vec(part, 0..12);
        (lines, any::<bool>()).prop_map(|(lines, end)| lines.join("\n") + if end { "\n" } else { "" })
    }

    proptest! {
        #[test]
        fn code_survives_rendering_and_parsing(search in code(), replace in code(), content in code()) {
            let edit = render_call("edit", &json!({"path": "a b", "search": search, "replace": replace}));
            let file = render_call("write_file", &json!({"path": "a", "content": content}));
            let expected = [Ok(Action::Edit { path: "a b".to_owned(), search, replace }), Ok(write(&content))];
            prop_assert_eq!(parsed(&format!("Text.\n\n{edit}\n\n{file}\nMore.")), expected);
        }

        #[test]
        fn any_arguments_can_be_rendered(name in any::<String>(), key in any::<String>(), text in any::<String>()) {
            let (_, found) = calls(&render_call(&name, &json!({ (key.clone()): text })), 0);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].name, &name);
            let arguments: Value = serde_json::from_str(&found[0].arguments).unwrap();
            prop_assert_eq!(arguments, json!({ (key): text }));
        }

        #[test]
        fn values_of_all_types_survive(network in any::<bool>(), timeout in 1_u64..1_000_000, command in "[a-z\"<\n]{1,9}[a-z]") {
            let call = render_call("run", &json!({"command": command, "network": network, "timeout": timeout}));
            let command = command.trim().to_owned();
            prop_assert_eq!(parsed(&call), [Ok(Action::Run { command, network, timeout: Some(timeout) })]);
        }

        #[test]
        fn no_text_panics_or_is_lost_without_a_call(answer in code()) {
            let (prose, found) = calls(&answer, usize::MAX);
            prop_assert!(!found.is_empty() || prose == answer);
        }

        #[test]
        fn results_do_not_end_early(content in code()) {
            let text = results(&[ToolResult { name: "run".to_owned(), content: content.clone(), ..ToolResult::default() }]);
            let fence = text.lines().nth(1).unwrap();
            prop_assert!(!content.contains(fence));
        }
    }
}
