//! One turn of a benchmark with a model: `rhumb edit --yes` as a process of its own, so that it is the product that is measured,
//! that it can be stopped, and that several can go on at a time.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::error::{ErrorKind, UserError};
use rhumb_llm::models::{Prices, Tokens};
use rhumb_tokens::estimate_of;
use rhumb_workspace::process::{CommandLine, End, Environment, RunRequest, SecretMask, StopHandle, run};

/// A turn.
pub(super) struct TurnOrder<'o> {
    /// The folder that may be changed.
    pub(super) root: &'o Path,
    pub(super) message: &'o str,
    /// A file with what tests said.
    pub(super) output: Option<&'o Path>,
    /// The files of the chat.
    pub(super) files: &'o [String],
    /// Flags that say which model is asked, and how.
    pub(super) flags: &'o [String],
    /// What is answered instead of asking a model.
    pub(super) recite: Option<&'o str>,
    /// Dollars that it may cost.
    pub(super) cap: Option<f64>,
    pub(super) time_limit: Duration,
    /// Where to leave its events.
    pub(super) log: &'o Path,
}

/// What became of a turn.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct TurnReport {
    pub(super) models: BTreeSet<String>,
    /// Answers with an edit that could not be applied, or with none.
    pub(super) malformed: usize,
    /// An edit was refused because a comment stood in it for code.
    pub(super) elided: bool,
    pub(super) exhausted: bool,
    pub(super) timed_out: bool,
    /// The cap was reached.
    pub(super) no_money: bool,
    /// Somebody stopped it.
    pub(super) stopped: bool,
    /// Nobody answered, or not to the end: nothing that the model could be blamed for.
    pub(super) trouble: Option<String>,
    pub(super) input: u64,
    pub(super) output: u64,
    /// Nothing where a price is not known.
    pub(super) cost: Option<f64>,
    pub(super) seconds: f64,
}

/// Performs a turn.
///
/// # Errors
/// The program cannot be started, says that the settings are wrong, or this machine fails it.
pub(super) fn turn(order: &TurnOrder<'_>, stop: &StopHandle) -> Result<TurnReport, UserError> {
    let aside = super::scratch()?;
    let line = CommandLine::Program(words(order, aside.path())?);
    let mut environment = Environment::default();
    environment.with.extend(order.cap.map(|cap| ("RHUMB_SPENDING_CAP".to_owned(), cap.to_string())));
    let what = RunRequest {
        line: &line,
        folder: order.root,
        time_limit: Some(order.time_limit),
        environment: &environment,
        masks: &SecretMask::default(),
    };
    let whole = aside.path().join("events");
    let mut keep = || Ok(Some((whole.clone(), File::create(&whole)?)));
    let ended = run(&what, stop, &mut keep, &mut |_, _| {})
        .map_err(|error| UserError::new(ErrorKind::Machine, &error, error.hint()))?;
    let text = match &ended.output.whole {
        Some(path) => fs::read_to_string(path).unwrap_or(ended.output.text),
        None => ended.output.text,
    };
    if let Some(folder) = order.log.parent() {
        fs::create_dir_all(folder).map_err(|error| refused(folder, &error))?;
    }
    fs::write(order.log, &text).map_err(|error| refused(order.log, &error))?;
    let mut report = read(&text, ended.end)?;
    report.seconds = ended.took.as_secs_f64();
    Ok(report)
}

/// The disk does not take a file of a run.
pub(super) fn refused(path: &Path, error: &std::io::Error) -> UserError {
    UserError::new(
        ErrorKind::Machine,
        format!("cannot write {}: {error}", path.display()),
        "check the space on the disk",
    )
}

fn words(order: &TurnOrder<'_>, aside: &Path) -> Result<Vec<String>, UserError> {
    let machine = |error: &std::io::Error| UserError::new(ErrorKind::Machine, error, "");
    let program = std::env::current_exe().map_err(|error| machine(&error))?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let message = aside.join("message");
    fs::write(&message, order.message).map_err(|error| refused(&message, &error))?;
    let mut words = vec![text(&program), "--root".to_owned(), text(order.root)];
    words.extend(order.flags.iter().cloned());
    words.extend(["edit", "--yes", "--json", "--no-commit", "--no-test", "--keep-nothing"].map(str::to_owned));
    words.extend(["--message-file".to_owned(), text(&message)]);
    for file in order.files {
        // Names count from the current folder, which is the root; one may begin with a dash.
        words.push(format!("--file=./{file}"));
    }
    if let Some(output) = order.output {
        words.extend(["--with-output".to_owned(), text(output)]);
    }
    if let Some(reply) = order.recite {
        let path = aside.join("reply");
        fs::write(&path, reply).map_err(|error| refused(&path, &error))?;
        words.extend(["--recite".to_owned(), text(&path)]);
    }
    Ok(words)
}

/// Reads what the turn told: events, and messages between them.
fn read(text: &str, end: End) -> Result<TurnReport, UserError> {
    let mut report = TurnReport { cost: Some(0.0), ..TurnReport::default() };
    let (mut hunks, mut refused, mut checked) = (0, 0, false);
    let (mut why, mut said) = (String::new(), Vec::new());
    let mut open: Option<OpenRequest> = None;
    for line in text.lines() {
        let Some(event) = event_of(line) else {
            said.push(line);
            continue;
        };
        let kind = event["event"].as_str().unwrap_or_default();
        match kind {
            "request" => {
                report.models.extend(event["model"].as_str().map(str::to_owned));
                open = Some(OpenRequest::of(&event));
            }
            "text" | "reasoning" => open.iter_mut().for_each(|request| request.came(&event)),
            "spent" => {
                open = None;
                spent(&mut report, &event);
            }
            // After checks the model is asked about what they found, else about edits that found no place.
            "again" if !checked => report.malformed += 1,
            "hunk" => {
                hunks += 1;
                let flagged =
                    |name: &str| event["flags"].as_array().is_some_and(|flags| flags.iter().any(|it| it == name));
                let is_refused = event["status"] == "refused";
                // What the file says already is refused too, and nothing is wrong with it.
                refused += usize::from(is_refused && !flagged("already-applied"));
                report.elided |= is_refused && flagged("elision");
            }
            "shrunk" => report.exhausted = true,
            // Whatever came of an answer that was cut off, it is not what the model can do.
            "cut_by_cap" | "past_the_cap" => report.no_money = true,
            "failed" => event["why"].as_str().unwrap_or_default().clone_into(&mut why),
            _ => {}
        }
        checked = kind == "checked" || (checked && kind != "again");
    }
    report.malformed += usize::from(refused > 0);
    report.exhausted |= matches!(why.as_str(), "window" | "output");
    report.no_money |= why == "money";
    // A program that came to its end has told what every request cost; one that was ended has not told of the last.
    if let Some(request) = open.filter(|_| !matches!(end, End::Exit(_))) {
        request.charge(&mut report);
    }
    match end {
        End::Exit(0) => {}
        End::Exit(1) => report.malformed += usize::from(hunks == 0),
        End::TimeLimit => report.timed_out = true,
        End::Stopped => report.stopped = true,
        // What was cut off was cut off by a limit.
        End::Exit(4 | 5) if report.exhausted || report.no_money => {}
        End::Exit(5) if why.is_empty() => report.exhausted = true,
        End::Exit(code @ (2 | 3)) => {
            let kind = if code == 2 { ErrorKind::Usage } else { ErrorKind::Machine };
            return Err(UserError::new(kind, message(&said), ""));
        }
        _ => report.trouble = Some(message(&said)),
    }
    Ok(report)
}

fn event_of(line: &str) -> Option<Value> {
    serde_json::from_str::<Value>(line).ok().filter(|value| value["event"].is_string())
}

/// A request whose price nobody has told yet.
struct OpenRequest {
    tokens: u64,
    prices: Option<Prices>,
    /// Of text and thinking that came.
    bytes: usize,
}

impl OpenRequest {
    fn of(event: &Value) -> Self {
        let prices = serde_json::from_value(event["prices"].clone()).ok().flatten();
        Self { tokens: event["tokens"].as_u64().unwrap_or_default(), prices, bytes: 0 }
    }

    fn came(&mut self, event: &Value) {
        self.bytes += event["text"].as_str().map_or(0, str::len);
    }

    /// Adds what it costs by our own count: the request, and what came of the answer.
    fn charge(&self, report: &mut TurnReport) {
        let output = estimate_of(self.bytes) as u64;
        let tokens = Tokens { fresh: self.tokens, output, ..Tokens::default() };
        report.input += tokens.fresh;
        report.output += output;
        report.cost = report.cost.zip(self.prices).map(|(sum, prices)| sum + prices.cost(tokens).as_f64());
    }
}

fn spent(report: &mut TurnReport, event: &Value) {
    let count = |name: &str| event["tokens"][name].as_u64().unwrap_or_default();
    report.input += count("fresh") + count("cache_read") + count("cache_write");
    report.output += count("output");
    report.cost = report.cost.zip(event["cost"].as_f64()).map(|(sum, cost)| sum + cost);
}

/// The last message with its hint, without the name of the program before it.
fn message(said: &[&str]) -> String {
    let last = said.iter().rposition(|line| line.starts_with("rhumb: ")).unwrap_or(0);
    let lines: Vec<&str> = said.get(last..).unwrap_or_default().iter().map(|line| line.trim()).collect();
    let text = lines.join(" ");
    let text = text.strip_prefix("rhumb: ").unwrap_or(&text);
    if text.is_empty() { "it ended without a word".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPENT: &str = r#"{"event":"spent","tokens":{"fresh":10,"cache_read":5,"cache_write":0,"output":7},"estimated":false,"cost":0.5}"#;

    #[test]
    fn answers_that_could_not_be_applied_are_told_from_faults_that_checks_find() {
        let again = r#"{"event":"again","round":1,"of":3,"text":"x"}"#;
        let checked = r#"{"event":"checked","failed":true}"#;
        let hunk = |status: &str| format!(r#"{{"event":"hunk","status":"{status}","flags":["elision"]}}"#);
        let text = [r#"{"event":"request","model":"m"}"#, SPENT, again, SPENT, &hunk("applied"), checked, again, SPENT];
        let report = read(&text.join("\n"), End::Exit(0)).unwrap();
        assert_eq!((report.malformed, report.input, report.output, report.cost), (1, 45, 21, Some(1.5)));
        assert!(report.models.contains("m") && !report.exhausted);
        let report = read(&format!("{}\n{}", hunk("applied"), hunk("refused")), End::Exit(1)).unwrap();
        assert_eq!((report.malformed, report.elided), (1, true));
        let report = read(&hunk("refused").replace("elision", "already-applied"), End::Exit(1)).unwrap();
        assert_eq!((report.malformed, report.elided), (0, false));
        assert_eq!(read(SPENT, End::Exit(1)).unwrap().malformed, 1, "no edit at all");
    }

    #[test]
    fn a_turn_that_is_cut_short_is_not_free() {
        let prices = r#"{"input":1000.0,"output":10000.0,"cache_read":0.0,"cache_write":0.0,"long":null}"#;
        let request = |prices: &str| format!(r#"{{"event":"request","model":"m","tokens":500,"prices":{prices}}}"#);
        let text = format!(r#"{{"event":"text","text":"{}"}}"#, "word ".repeat(80));
        let first = format!("{}\n{SPENT}\n", request(prices));
        for end in [End::TimeLimit, End::Stopped, End::Signal(9)] {
            let report = read(&format!("{first}{}\n{text}\n{text}", request(prices)), end).unwrap();
            let answer = estimate_of(800);
            let cost = 0.5 + 0.5 + answer as f64 / 100.0;
            assert!(report.cost.is_some_and(|it| (it - cost).abs() < 1e-9), "{report:?}");
            assert_eq!((report.input, report.output), (515, 7 + answer as u64));
            assert_eq!(read(&first, end).unwrap().cost, Some(0.5), "all was told");
            assert_eq!(read(&request("null"), end).unwrap().cost, None);
        }
        // A request that a server refused is free.
        assert_eq!(read(&request(prices), End::Exit(4)).unwrap().cost, Some(0.0));
    }

    #[test]
    fn whoever_failed_is_told() {
        let failed = |why: &str, code: i32| {
            read(
                &format!("rhumb: note\n{{\"event\":\"failed\",\"why\":\"{why}\"}}\nrhumb: no luck\n  → wait"),
                End::Exit(code),
            )
        };
        assert!(failed("window", 4).unwrap().exhausted && failed("output", 5).unwrap().exhausted);
        assert!(failed("money", 4).unwrap().no_money);
        for event in ["cut_by_cap", "past_the_cap"] {
            let text = format!("{{\"event\":\"{event}\"}}\n{SPENT}");
            assert!(read(&text, End::Exit(1)).unwrap().no_money, "{event}");
        }
        assert_eq!(failed("provider", 4).unwrap().trouble.as_deref(), Some("no luck → wait"));
        assert!(failed("provider", 4).unwrap().cost.is_some());
        assert!(failed("", 2).unwrap_err().message.contains("no luck"));
        assert!(read("", End::TimeLimit).unwrap().timed_out);
        assert_eq!(read(&SPENT.replace("0.5", "null"), End::Exit(0)).unwrap().cost, None);
    }
}
