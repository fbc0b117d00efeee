//! Agent mode: the cards of its calls, the plan, output as it arrives, its questions, and the review of what it proposes.

use std::sync::Arc;

use rhumb_edit::{FileChange, FileProposal, Proposal};
use rhumb_llm::{Completion, Finish, ToolCall};
use rhumb_session::{AgentResponse, Response, RunResponse, ToolOutcome};
use rhumb_workspace::process::{End, LiveOutput};

use super::attacks::{self, ATTACKS};
use super::harness::{Harness, Scene};
use super::snapshot;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (160, 50)];

const BERTH: &str = "harbour/berth.py";

fn shown(name: &str, play: impl Fn(u16, u16) -> Harness) {
    for (width, height) in SIZES {
        let harness = play(width, height);
        assert!(harness.control_characters().is_empty());
        snapshot(&format!("agent-{name}@{width}x{height}"), &harness);
    }
}

/// A loop that waits for its first answer. Calls are not performed.
fn begun(width: u16, height: u16) -> Harness {
    let mut harness = Scene::harbour().silent().sealed().open(width, height);
    harness.keys("type \"/agent let ships moor that are as long as the berth\" <Enter>").settle();
    harness
}

fn turn(harness: &Harness) -> u64 {
    harness.app.session.turn().expect("a running turn").number
}

/// Ends the answer of a step with these calls: the tool and its arguments.
fn step(harness: &mut Harness, text: &str, calls: &[(&str, &str)]) {
    let turn = turn(harness);
    if !text.is_empty() {
        harness.stream(text);
    }
    let ids = (0..).map(|at| format!("call-{}-{at}", harness.app.session.transcript().len()));
    let calls: Vec<ToolCall> = calls
        .iter()
        .zip(ids)
        .map(|((name, arguments), id)| ToolCall {
            id,
            name: (*name).into(),
            arguments: (*arguments).into(),
            ..ToolCall::default()
        })
        .collect();
    let finish = if calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
    let completion = Completion { tool_calls: calls, ..Completion::new(finish, None) };
    harness.report(Response::Ended { turn, result: Ok(completion) });
}

fn done(harness: &mut Harness, number: usize, outcome: ToolOutcome) {
    let turn = turn(harness);
    harness.report(Response::Agent(AgentResponse::Done { turn, number, outcome: Box::new(outcome) }));
}

fn found(text: &str, summary: &str, tokens: usize, ms: u64) -> ToolOutcome {
    ToolOutcome { ok: true, text: text.into(), summary: summary.into(), tokens, ms, ..ToolOutcome::default() }
}

const FIX: &str = r#"{"path":"harbour/berth.py","search":"    def fits(self, ship):\n        return ship.length < self.length","replace":"    def fits(self, ship):\n        # Equal lengths fit, too.\n        return ship.length <= self.length"}"#;

fn edited(harness: &Harness) -> ToolOutcome {
    let base = harness.file(BERTH).expect("the file");
    let proposed = base.replace("ship.length < self", "ship.length <= self");
    let file = FileProposal {
        path: BERTH.into(),
        change: FileChange::Modify,
        base: Some(base.into()),
        proposed: Some(proposed.into()),
    };
    let proposal = Proposal { files: vec![file], ..Proposal::default() };
    ToolOutcome { proposal: Some(proposal), ..found("harbour/berth.py: edited at lines 15-15.", "2 lines", 14, 3) }
}

fn ran(passed: bool) -> ToolOutcome {
    let text = "The command failed (exit code 1).\nF test_a_ship_moors\nE ValueError: too long\n1 failed in 0.31s\n";
    let summary = if passed { "succeeded (exit code 0)" } else { "failed (exit code 1)" };
    let run = Some(("python -m pytest -q tests".to_owned(), passed));
    ToolOutcome { ok: passed, run, ..found(text, summary, 412, 2_310) }
}

fn starts(harness: &mut Harness, job: u64, line: &str, output: &str) {
    harness.report(Response::Ran(RunResponse::Started { job, run: job, line: line.into() }));
    let live = LiveOutput { text: output.into(), ..LiveOutput::default() };
    harness.report(Response::Ran(RunResponse::Output { run: job, live, seconds: 2 }));
}

fn ends(harness: &mut Harness, run: u64, code: i32, output: &str) {
    let end = RunResponse::Ended { run, end: Ok(End::Exit(code)), output: Arc::from(output), seconds: 2 };
    harness.report(Response::Ran(end));
}

const TEST: &str = "python -m pytest -q tests";
const TEST_CALL: &str = r#"{"command":"python -m pytest -q tests"}"#;
const OUTPUT: &str = "collected 1 item\n\nF test_a_ship_moors\nE ValueError: too long\n1 failed in 0.31s\n";

const PLAN: &str = r#"{"items":[{"text":"Read how a berth compares lengths","state":"completed"},{"text":"Fix the comparison in `fits`","state":"in_progress"},{"text":"Add a test for equal lengths","state":"pending"},{"text":"Run all tests","state":"pending"}]}"#;

/// A loop with a plan and cards in every state, whose command prints something.
fn working(width: u16, height: u16) -> Harness {
    let mut harness = begun(width, height);
    let reads = [
        ("read_file", r#"{"path":"harbour/berth.py"}"#),
        ("grep", r#"{"pattern":"length","path":"harbour"}"#),
        ("plan", PLAN),
    ];
    step(&mut harness, "I look at the berth and at what uses it.", &reads);
    done(&mut harness, 1, found("1 class Berth:\n2     pass", "24 lines", 1_210, 4));
    done(&mut harness, 2, found("harbour/ship.py:7: self.length", "5 matches", 96, 12));
    let calls = [
        ("edit", r#"{"path":"harbour/berth.py","search":"nowhere","replace":"else"}"#),
        ("edit", FIX),
        ("run", TEST_CALL),
        ("read_file", r#"{"path":"harbour/ship.py","start_line":1,"end_line":40}"#),
    ];
    step(&mut harness, "The comparison in `fits` excludes equal lengths. I change it and run the tests.", &calls);
    done(
        &mut harness,
        4,
        ToolOutcome { ok: false, ..found("harbour/berth.py: refused: no such lines.", "refused", 61, 2) },
    );
    let fixed = edited(&harness);
    done(&mut harness, 5, fixed);
    starts(&mut harness, 1, TEST, OUTPUT);
    harness
}

#[test]
fn a_loop_shows_its_plan_its_cards_and_what_its_command_prints() {
    shown("working", |width, height| {
        let mut harness = working(width, height);
        harness.keys("type \"keep the old name\" <Enter>");
        harness
    });
}

#[test]
fn a_card_unfolds_to_its_change_or_its_result() {
    shown("unfolded", |width, height| {
        let mut harness = working(width, height);
        harness.keys("<Alt-r> <Up> <Up> <Up> <Alt-t>");
        harness
    });
    let mut harness = working(120, 40);
    let card = harness.find("edit harbour/berth.py · +").expect("the card");
    harness.click(card);
    assert!(harness.screen().contains("  │ + "), "{}", harness.screen());
    harness.click(card);
    assert!(!harness.screen().contains("  │ + "), "{}", harness.screen());
    harness.keys("<Alt-r> <Up> <Up> <Up> <Enter>");
    assert!(harness.screen().contains("result 5: edit harbour/berth.py"), "{}", harness.screen());
}

/// The loop of [`working`], ended.
fn ended(width: u16, height: u16) -> Harness {
    let mut harness = working(width, height);
    ends(&mut harness, 1, 1, OUTPUT);
    done(&mut harness, 6, ran(false));
    done(&mut harness, 7, found("class Ship: ...", "9 lines", 80, 1));
    step(&mut harness, "", &[("run", TEST_CALL)]);
    starts(&mut harness, 2, TEST, "1 passed\n");
    ends(&mut harness, 2, 0, "1 passed\n");
    done(&mut harness, 8, ran(true));
    step(&mut harness, "Ships that are as long as the berth may moor now. The tests pass.", &[]);
    harness
}

#[test]
fn the_end_of_a_loop_is_a_review_with_steps_and_outcomes() {
    shown("ended", |width, height| {
        let mut harness = ended(width, height);
        harness.keys("<Alt-4>");
        harness
    });
    let harness = ended(160, 50);
    assert!(harness.screen().contains("[step 2] [✓ python -m pytest -q tests]"), "{}", harness.screen());
}

#[test]
fn a_command_that_needs_consent_is_a_question() {
    shown("consent", |width, height| {
        let mut harness = begun(width, height);
        step(
            &mut harness,
            "I install what the tests need.",
            &[("run", r#"{"command":"pip install pytest","network":true}"#)],
        );
        let turn = turn(&harness);
        let (command, reason) = ("pip install pytest".to_owned(), "It asks for the network.".to_owned());
        harness.report(Response::Agent(AgentResponse::NeedsApproval { turn, number: 1, command, reason }));
        harness
    });
}

#[test]
fn a_question_of_the_model_has_its_answers() {
    shown("question", |width, height| {
        let mut harness = begun(width, height);
        let question = r#"{"question":"May a ship overhang the berth by a metre?","options":["Yes, by a metre","No"]}"#;
        step(&mut harness, "One thing is not clear.", &[("plan", PLAN), ("ask_user", question)]);
        harness
    });
}

#[test]
fn the_first_escape_pauses_and_says_so() {
    shown("pausing", |width, height| {
        let mut harness = working(width, height);
        assert!(harness.screen().contains("Esc pauses"), "{}", harness.screen());
        harness.keys("<Esc>");
        assert!(harness.screen().contains("pausing after this step"), "{}", harness.screen());
        assert!(harness.screen().contains("Esc again stops"), "{}", harness.screen());
        harness
    });
    let mut harness = working(100, 30);
    harness.keys("<Esc> <Esc>");
    assert!(harness.app.session.turn().is_none(), "{}", harness.screen());
}

#[test]
fn results_are_dropped_and_pinned_in_the_context() {
    shown("context", |width, height| {
        let mut harness = begun(width, height);
        step(&mut harness, "", &[("read_file", r#"{"path":"harbour/berth.py"}"#), ("grep", r#"{"pattern":"length"}"#)]);
        done(&mut harness, 1, found(&"a line of the file\n".repeat(60), "60 lines", 300, 4));
        done(&mut harness, 2, found(&"harbour/ship.py:7: self.length\n".repeat(40), "40 matches", 400, 4));
        step(&mut harness, "That is all.", &[]);
        harness.settle().keys("type \"/agent\" <Enter>").settle().keys("<Alt-3> <Alt-z> G");
        for _ in 0..9 {
            if !harness.app.session.transcript().iter().any(is_pinned) {
                harness.keys("k p").settle();
            }
        }
        harness.keys("k d").settle();
        harness
    });
}

fn is_pinned(entry: &rhumb_session::Entry) -> bool {
    matches!(entry, rhumb_session::Entry::Tool(tool) if tool.is_pinned)
}

#[test]
fn the_key_hands_a_turn_to_the_agent() {
    let mut harness = Scene::harbour().replying("It is in `fits`.").sealed().open(100, 30);
    harness.keys("<Alt-g>");
    assert!(harness.screen().contains("there is no turn to go on with"), "{}", harness.screen());
    harness.keys("type \"mend it\" <Enter>").settle().keys("<Alt-g>");
    assert!(harness.app.session.is_agent_running(), "{}", harness.screen());
}

#[test]
fn earlier_loops_are_folded_when_the_next_message_is_sent() {
    let mut harness = begun(100, 40);
    for number in 1..=9 {
        step(&mut harness, "", &[("grep", &format!(r#"{{"pattern":"word {number}"}}"#))]);
        done(&mut harness, number, found("nothing", "0 matches", 4, 1));
    }
    step(&mut harness, "There is none.", &[]);
    assert!(harness.screen().contains("grep word 1"), "{}", harness.screen());
    harness.settle().keys("type \"look again\" <Enter>").settle();
    let screen = harness.screen();
    assert!(screen.contains("▸ 6 earlier steps · Alt-t shows them"), "{screen}");
    assert!(!screen.contains("grep word 6") && screen.contains("grep word 7"), "{screen}");
    let line = harness.find("6 earlier steps").expect("the line");
    harness.click(line);
    assert!(harness.screen().contains("grep word 1"), "{}", harness.screen());
    // The cursor of the reader visits each visible line, and no hidden one.
    harness.click(line).keys("<Alt-r> g g");
    for _ in 0..20 {
        harness.keys("j");
    }
    assert!(!harness.screen().contains("grep word 6"), "{}", harness.screen());
    harness.keys("/ type \"word 2\" <Enter>");
    assert!(harness.screen().contains("grep word 2"), "{}", harness.screen());
}

#[test]
fn nothing_in_calls_and_results_reaches_a_cell() {
    let long = "x".repeat(30_000);
    for (width, height) in [(150, 44), (60, 18), (30, 10)] {
        let mut harness = begun(width, height);
        let check = |harness: &Harness, what: &str| {
            let bad = harness.buffer().content().iter().find(|cell| cell.symbol().chars().any(attacks::is_forbidden));
            assert!(bad.is_none(), "{what}: {bad:?}\n{}", harness.screen());
        };
        let mut number = 0;
        for (class, text) in ATTACKS.iter().chain(&[("long", long.as_str()), ("overwrite", attacks::OVERWRITE)]) {
            let json = serde_json::json!({
                "path": text, "pattern": text, "command": text, "question": text, "options": [text],
                "search": text, "replace": text,
            });
            let json = json.to_string();
            let plan =
                serde_json::json!({"items": [{"text": text, "state": "in_progress"}, {"text": text}]}).to_string();
            let calls = [
                ("plan", plan.as_str()),
                ("grep", &json),
                ("edit", &json),
                ("run", &json),
                (*text, *text),
                ("ask_user", &json),
            ];
            step(&mut harness, text, &calls);
            assert!(harness.app.session.turn().is_some(), "{class}\n{}", harness.screen());
            let outcome = found(&format!("{text}\n{text}"), text, 10, 5);
            done(&mut harness, number + 2, outcome.clone());
            done(&mut harness, number + 3, ToolOutcome { ok: false, ..outcome.clone() });
            starts(&mut harness, (number / 6 + 1) as u64, text, &format!("{text}\n{text}"));
            check(&harness, class);
            done(&mut harness, number + 4, outcome.clone());
            check(&harness, class);
            harness.keys("<Alt-r> k k <Alt-t> k <Alt-t> k <Enter>");
            check(&harness, class);
            if !harness.app.overlays.is_empty() {
                harness.keys("q");
            }
            if harness.app.chat.reading.on {
                harness.keys("<Alt-r>");
            }
            harness.keys("<Enter>");
            check(&harness, class);
            harness.app.overlays.clear();
            if harness.app.session.is_choice('n') {
                harness.app.session.answer('n');
            }
            harness.draw();
            check(&harness, class);
            number += 6;
        }
    }
}
