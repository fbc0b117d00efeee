//! Edit location, checked against a simple reference implementation.

use std::fmt::Write as _;
use std::sync::LazyLock;

use proptest::prelude::{Just, any, prop, prop_oneof, proptest};
use proptest::sample::Index;
use proptest::strategy::Strategy;
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};
use rhumb_edit::{EditFormat, Flag, FormatChoice, Outcome, Status, Strategy as How, parse, propose};

use crate::cases;
use crate::damage::{Damage, damage};
use crate::replies::{SAMPLES, Tree, TreeFiles};

const PATH: &str = "src/harbour.py";

/// Similar lines of code, so that files have repetitions.
const CODE: [&str; 20] = [
    "",
    "",
    "import tides",
    "def depth(name):",
    "def height(name):",
    "    return TABLE[name]",
    "    return None",
    "    total = 0",
    "    for mark in marks:",
    "        total += mark.fathoms",
    "        total += mark.metres",
    "    return total",
    "class Harbour:",
    "    def __init__(self, name):",
    "        self.name = name",
    "\tif name is None:",
    "    # the tide turns twice a day",
    "}",
    "    }",
    "pass",
];

/// The files of the corpus with some lines in them.
static FILES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let files = SAMPLES.iter().flat_map(|sample| sample.files.values());
    files.filter(|text| text.lines().count() > 4).cloned().collect()
});

/// A file, its quoted lines, the errors of the quote, and the new lines.
#[derive(Debug, Clone)]
struct Case {
    file: String,
    from: Index,
    count: usize,
    wrong: Vec<Damage>,
    /// Which of the quoted lines are kept.
    kept: Vec<bool>,
    new: usize,
    as_diff: bool,
}

fn file() -> impl Strategy<Value = String> {
    let made = prop::collection::vec(prop::sample::select(CODE.to_vec()), 1..40).prop_map(|lines| lines.join("\n"));
    let ends = prop_oneof![5 => Just("\n"), 1 => Just(""), 1 => Just("\n\n")];
    prop_oneof![
        3 => (made, ends).prop_map(|(text, end)| text + end),
        1 => any::<Index>().prop_map(|at| FILES[at.index(FILES.len())].replace('\r', "")),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let wrong = prop_oneof![2 => Just(Vec::new()), 3 => prop::collection::vec(damage(), 1..3)];
    let kept = prop::collection::vec(any::<bool>(), 8);
    let parts = (file(), any::<Index>(), 1..8usize, wrong, kept, 0..3usize, any::<bool>());
    parts.prop_map(|(file, from, count, wrong, kept, new, as_diff)| Case {
        file,
        from,
        count,
        wrong,
        kept,
        new,
        as_diff,
    })
}

impl Case {
    /// The quoted lines as the model wrote them, and their replacement. New lines are in no file.
    fn sides(&self) -> (Vec<String>, Vec<String>) {
        let lines: Vec<&str> = self.file.lines().collect();
        let from = self.from.index(lines.len().max(1));
        let quote = lines.iter().skip(from).take(self.count).copied().collect::<Vec<_>>().join("\n");
        let quote = self.wrong.iter().fold(quote, |quote, damage| damage.done_to(&quote, &[], &[]));
        let quote: Vec<String> = quote.lines().map(str::to_owned).collect();
        let mut new: Vec<String> = Vec::new();
        for (at, line) in quote.iter().enumerate() {
            if self.kept[at % self.kept.len()] {
                new.push(line.clone());
            }
            if at == quote.len() / 2 {
                new.extend((0..self.new).map(|line| format!("    brand_new_{line} = {line}")));
            }
        }
        (quote, new)
    }

    fn reply(&self) -> Option<(String, FormatChoice)> {
        let (quote, new) = self.sides();
        // Lines that are part of the format are tested by the other target.
        let odd = |line: &String| {
            line.starts_with(['<', '>', '=', '*', '@', '`', '-', '+', '\\'])
                || line.contains(['\u{feff}', '…'])
                || line.contains("...")
        };
        if quote.iter().any(odd) || quote.iter().all(|line| line.trim().is_empty()) || quote == new {
            return None;
        }
        let mut reply = String::new();
        if self.as_diff {
            write!(reply, "```diff\n--- a/{PATH}\n+++ b/{PATH}\n@@ @@\n").unwrap();
            let half = quote.len() / 2;
            for (at, line) in quote.iter().enumerate() {
                let mark = if self.kept[at % self.kept.len()] { ' ' } else { '-' };
                writeln!(reply, "{mark}{line}").unwrap();
                if at == half {
                    (0..self.new).for_each(|line| writeln!(reply, "+    brand_new_{line} = {line}").unwrap());
                }
            }
            reply.push_str("```\n");
            return Some((reply, FormatChoice::Only(EditFormat::Udiff)));
        }
        let text = |lines: &[String]| lines.iter().fold(String::new(), |text, line| text + line + "\n");
        let (quote, new) = (text(&quote), text(&new));
        let block = format!("{PATH}\n```python\n<<<<<<< SEARCH\n{quote}=======\n{new}>>>>>>> REPLACE\n```\n");
        Some((block, FormatChoice::Only(EditFormat::Diff)))
    }
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn an_edit_lands_where_its_strategy_says_or_nowhere(case in case()) {
        let Some((reply, format)) = case.reply() else { return Ok(()) };
        let files: Tree = [(PATH.to_owned(), case.file.clone())].into();
        let parsed = parse(&reply, format);
        let proposal = propose(&parsed, &TreeFiles(&files));
        let told = |why: TestCaseError| TestCaseError::fail(format!("{why}\n{reply}\n{}\n{proposal:#?}", case.file));
        for outcome in &proposal.outcomes {
            outcome_holds(&case, outcome).map_err(told)?;
        }
        if let ([outcome], [file]) = (proposal.outcomes.as_slice(), proposal.files.as_slice()) {
            let (base, proposed) = (file.base.as_deref().unwrap_or(""), file.proposed.as_deref().unwrap_or(""));
            outside_is_kept(base, proposed, outcome.lines).map_err(told)?;
        }
    }
}

/// The location of an applied edit agrees with its strategy.
fn outcome_holds(case: &Case, outcome: &Outcome) -> Result<(), TestCaseError> {
    if outcome.status == Status::Refused {
        prop_assert!(outcome.strategy.is_none() && outcome.confidence == 0.0 && !outcome.reason.is_empty());
        return Ok(());
    }
    let lines: Vec<&str> = case.file.lines().collect();
    let quote: Vec<&str> = outcome.quote.lines().collect();
    let places = lines.windows(quote.len().max(1)).filter(|window| *window == quote).count();
    prop_assert!(places < 2 || outcome.flags.contains(&Flag::AlreadyApplied), "one of {places} places was taken");
    let Some((first, last)) = outcome.lines else { return Ok(()) };
    prop_assert!(1 <= first && first <= last && last <= lines.len(), "{first}..{last} of {} lines", lines.len());
    let found = &lines[first - 1..last];
    let same = |by: &dyn Fn(&str) -> String| {
        let told =
            |lines: &[&str]| lines.iter().map(|line| by(line)).filter(|line| !line.is_empty()).collect::<Vec<_>>();
        told(found) == told(&quote)
    };
    match outcome.strategy {
        Some(How::Exact) => prop_assert_eq!(found, quote.as_slice(), "exact"),
        Some(How::Whitespace | How::Indentation) => prop_assert!(same(&canonical), "{found:?} is not {quote:?}"),
        Some(How::Fuzzy) => {
            let alike = quote.iter().filter(|line| found.iter().any(|found| canonical(found) == canonical(line)));
            let long = quote.iter().any(|line| line.trim().len() >= 12);
            prop_assert!(alike.count() > 0 || long, "nothing of {quote:?} is in {found:?}");
        }
        _ => {}
    }
    Ok(())
}

/// The line without white space, and with ASCII punctuation.
fn canonical(line: &str) -> String {
    let plain = |c: char| match c {
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        c => c,
    };
    line.replace('…', "...").chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}').map(plain).collect()
}

/// The lines above and below the location keep their bytes, except for the end of the last line.
fn outside_is_kept(base: &str, proposed: &str, lines: Option<(usize, usize)>) -> Result<(), TestCaseError> {
    let Some((first, last)) = lines else { return Ok(()) };
    let base: Vec<&str> = base.split_inclusive('\n').collect();
    let (above, below) = (base[..first - 1].concat(), base[last..].concat());
    let above = above.strip_suffix('\n').filter(|_| below.is_empty()).unwrap_or(&above);
    let (below, proposed) = (below.trim_end_matches('\n'), proposed.trim_end_matches('\n'));
    let above = if above.len() > proposed.len() { above.trim_end_matches('\n') } else { above };
    prop_assert!(proposed.starts_with(above), "what stands above line {first} changed");
    prop_assert!(proposed.ends_with(below), "what stands below line {last} changed");
    Ok(())
}
