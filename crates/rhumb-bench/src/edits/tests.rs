//! Small samples and sketches for the tests of all modules.

use std::collections::BTreeMap;

use fastrand::Rng;
use rhumb_edit::EditFormat;

use crate::edits::sample::{Sample, blocks};
use crate::edits::sketch::{Fencing, Sketch, Wrap};

pub(crate) const BEFORE: &str = r#"import math

class Tide:
    def low(self, day: int) -> float:
        """Height of the low tide."""
        return math.floor("low" * day)

    # The sea is flat at first.
    level = 0
    for hour in range(day):
        level += hour

    name = 'spring'
    print("height: %d" % level, name)
"#;

pub(crate) const AFTER: &str = r#"import math

class Tide:
    def low(self, day: int) -> float:
        """Height of the low tide."""
        return math.floor("low" * day)

    # The sea is flat at first.
    level = 1
    for hour in range(day):
        level += hour

    name = 'spring'
    print("height: %d" % level, name)
"#;

fn sample(before: &str, after: &str) -> Sample {
    let lines = |text: &str| text.lines().map(str::to_owned).collect();
    let around = BTreeMap::from([("src/port.py".to_owned(), "def moor():\n    pass\n".to_owned())]);
    Sample { origin: "test".into(), path: "src/tide.py".into(), before: lines(before), after: lines(after), around }
}

fn sketched(sample: &Sample, format: EditFormat, context: usize) -> Sketch {
    let info = if format == EditFormat::Udiff { "diff" } else { "python" };
    let wrap = Wrap {
        name: Some(sample.path.clone()),
        sided: false,
        fencing: Fencing::Closed(info.into()),
        before: String::new(),
        after: String::new(),
        one_fence: false,
        bare_blanks: false,
        crlf: false,
        cut: None,
    };
    let mut sketch = sample.sketch(format, wrap);
    sketch.blocks = blocks(sample, context, true).unwrap();
    sketch
}

/// One change, with two lines of context.
pub(crate) fn sketch(format: EditFormat) -> Sketch {
    sketched(&sample(BEFORE, AFTER), format, 2)
}

/// The same sketch with a defect.
pub(crate) fn put(format: EditFormat, put: impl Fn(&mut Sketch, &mut Rng) -> bool) -> Sketch {
    let seeded = |seed| {
        let mut sketch = sketch(format);
        put(&mut sketch, &mut Rng::with_seed(seed)).then_some(sketch)
    };
    (0..40).find_map(seeded).expect("the sketch has a place for the defect")
}

fn numbered(changed: &[usize]) -> Sample {
    let text = |new: bool| -> String {
        let line = |at: usize| {
            let word = if new && changed.contains(&at) { "newly" } else { "once" };
            format!("{}set_{at}({word}, buoy_{})\n", if at.is_multiple_of(9) { "" } else { "    " }, at * 7)
        };
        (0..90).map(line).collect()
    };
    sample(&text(false), &text(true))
}

/// Two changes far from each other.
pub(crate) fn far_sketch(format: EditFormat) -> Sketch {
    sketched(&numbered(&[20, 60]), format, 2)
}

/// One change in a long file.
pub(crate) fn long_sketch(format: EditFormat) -> Sketch {
    sketched(&numbered(&[12]), format, 2)
}

/// Two changes with one line between them.
pub(crate) fn near_sketch(format: EditFormat) -> Sketch {
    sketched(&sample("a\nb\nc\nd\ne\n", "a\nB\nc\nD\ne\n"), format, 1)
}

/// Changes for making cases.
pub(crate) fn samples() -> Vec<Sample> {
    vec![
        sample(BEFORE, AFTER),
        sample(BEFORE, &BEFORE.replace("        level += hour\n", "        level += hour\n        self.log(level)\n")),
        sample(BEFORE, &BEFORE.replace("    name = 'spring'\n", "")),
        numbered(&[20, 60]),
        numbered(&[12, 14, 40]),
        numbered(&[70]),
    ]
}

/// A change of a file whose lines are single letters, with a line of context.
pub(crate) fn letters(before: &str, after: &str) -> Sketch {
    let lines = |text: &str| -> String { text.chars().map(|c| format!("{c}\n")).collect() };
    sketched(&sample(&lines(before), &lines(after)), EditFormat::Diff, 1)
}
