//! Defects around the blocks: the name of the file, fences, prose, line endings.

use fastrand::Rng;

use crate::edits::case::Expect;
use crate::edits::defects::lines::misspelt;
use crate::edits::sample::LineIndex;
use crate::edits::sketch::{Fencing, ROOT, Sketch};

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Writes the name of the file in another way.
fn named(sketch: &mut Sketch, name: impl FnOnce(&str) -> String) -> bool {
    sketch.wrap.name = Some(name(&sketch.path));
    sketch.wrap.sided = false;
    true
}

pub(crate) fn name_dot(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    named(sketch, |path| format!("./{path}"))
}

pub(crate) fn name_ticks(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    named(sketch, |path| format!("`{path}`"))
}

pub(crate) fn name_bold(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    named(sketch, |path| format!("**{path}**"))
}

pub(crate) fn name_colon(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    named(sketch, |path| format!("{path}:"))
}

pub(crate) fn name_heading(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let marks = rng.choice(["#", "##", "###", "####"]).unwrap_or_default();
    named(sketch, |path| format!("{marks} {path}"))
}

pub(crate) fn name_extra_dir(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let folder = rng.choice(["harbour", "project", "repo", "workspace/harbour"]).unwrap_or_default();
    // If one path ends like another, either could be intended.
    let ends = |a: &str, b: &str| a.ends_with(&format!("/{b}"));
    let clear = !sketch.around.keys().any(|other| ends(other, &sketch.path) || ends(&sketch.path, other));
    named(sketch, |path| format!("{folder}/{path}")) && clear && !sketch.path.starts_with(folder)
}

/// Only the last part of the path. Other files may have the same name.
pub(crate) fn name_last_part(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let name = base_name(&sketch.path).to_owned();
    if name == sketch.path || sketch.around.contains_key(&name) {
        return false;
    }
    if sketch.around.keys().any(|other| base_name(other) == name) {
        sketch.expect = sketch.expect.max(Expect::Either);
    }
    named(sketch, |_| name) && fits_nowhere_else(sketch)
}

pub(crate) fn name_absolute(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    named(sketch, |path| format!("{ROOT}/{path}"))
}

pub(crate) fn name_foreign(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let folder = rng.choice(["/usr/src/app", "/home/user/code", "/tmp/work", "/repo"]).unwrap_or_default();
    named(sketch, |path| format!("{folder}/{path}"))
}

pub(crate) fn name_misspelt(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let (folder, name) = sketch.path.rsplit_once('/').unwrap_or(("", &sketch.path));
    let folder = if rng.u8(..) < 64 { misspelt(folder, rng) } else { Some(folder.to_owned()) };
    let (Some(folder), Some(name)) = (folder, misspelt(name, rng)) else { return false };
    let name = if folder.is_empty() { name } else { format!("{folder}/{name}") };
    let free = !sketch.around.contains_key(&name);
    named(sketch, |_| name) && free && fits_nowhere_else(sketch)
}

pub(crate) fn name_of_another(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let names: Vec<String> = sketch.around.keys().cloned().collect();
    let Some(other) = rng.choice(names) else { return false };
    named(sketch, |_| other) && fits_nowhere_else(sketch)
}

pub(crate) fn name_missing(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    sketch.wrap.name = None;
    fits_nowhere_else(sketch)
}

/// Whether no other file has more than half of the lines that a block quotes.
fn fits_nowhere_else(sketch: &Sketch) -> bool {
    let files = sketch.around.values().map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    files.into_iter().all(|lines| {
        let lookup = LineIndex::new(&lines);
        sketch.blocks.iter().all(|block| {
            let quoted = || block.lines.iter().filter(|line| line.is_quoted() && line.is_solid());
            let known = quoted().filter(|line| !lookup.lines_of(&line.text).is_empty()).count();
            known * 2 <= quoted().count()
        })
    })
}

pub(crate) fn no_closing_fence(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let Fencing::Closed(info) = &sketch.wrap.fencing else { return false };
    sketch.wrap.fencing = Fencing::Open(info.clone());
    // Text after an open fence would be part of the block.
    sketch.wrap.after.clear();
    true
}

pub(crate) fn other_language(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let Fencing::Closed(info) = &mut sketch.wrap.fencing else { return false };
    let others = ["", "text", "python", "javascript", "udiff", "code"];
    let others: Vec<&str> = others.into_iter().filter(|other| other != info).collect();
    let Some(other) = rng.choice(others) else { return false };
    other.clone_into(info);
    true
}

pub(crate) fn no_fence(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    sketch.wrap.fencing = Fencing::None;
    if !sketch.wrap.after.is_empty() {
        sketch.wrap.after.insert(0, '\n');
    }
    true
}

/// Fences without edits before and after the blocks.
pub(crate) fn other_fences(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    const BEFORE: [&str; 3] = [
        "The error was this:\n\n```text\nharbour: no water left\n  at low tide\n```\n\nSo the fix is small.\n\n",
        "It was called like this:\n\n```python\nraise_anchor(ship, slowly=True)\n```\n\n",
        "You will see:\n\n```\nready\n```\n\n",
    ];
    const AFTER: [&str; 3] = [
        "\nRun the tests with:\n\n```bash\nmake test\n```\n",
        "\nThe output is then:\n\n```text\nall is well\n```\n\nThat is all.\n",
        "\nIn short:\n\n- nothing else changes\n- `anchor` stays as it is\n",
    ];
    sketch.wrap.before.push_str(rng.choice(BEFORE).unwrap_or_default());
    sketch.wrap.after = rng.choice(AFTER).unwrap_or_default().to_owned();
    true
}

pub(crate) fn bare_blanks(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    sketch.wrap.bare_blanks = true;
    let mut lines = sketch.blocks.iter().filter(|block| !block.blockwise).flat_map(|block| &block.lines);
    lines.any(|line| line.is_quoted() && line.text.is_empty())
}

pub(crate) fn crlf_reply(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    sketch.wrap.crlf = true;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::defects::Inject;
    use crate::edits::sketch::render;
    use crate::edits::tests::{put, sketch};
    use rhumb_edit::EditFormat;

    fn first_line(put_in: Inject) -> String {
        render(&put(EditFormat::Diff, put_in)).lines().next().unwrap().to_owned()
    }

    #[test]
    fn names_are_written_in_each_way() {
        assert_eq!(first_line(name_dot), "./src/tide.py");
        assert_eq!(first_line(name_ticks), "`src/tide.py`");
        assert_eq!(first_line(name_bold), "**src/tide.py**");
        assert_eq!(first_line(name_colon), "src/tide.py:");
        assert!(first_line(name_heading).starts_with('#') && first_line(name_heading).ends_with(" src/tide.py"));
        assert!(first_line(name_extra_dir).ends_with("/src/tide.py"));
        assert_eq!(first_line(name_last_part), "tide.py");
        assert_eq!(first_line(name_absolute), "/home/me/harbour/src/tide.py");
        assert!(first_line(name_foreign).starts_with('/') && first_line(name_foreign).ends_with("/src/tide.py"));
        assert_eq!(first_line(name_of_another), "src/port.py");
        assert_eq!(first_line(name_missing), "```python");
        let mut long = sketch(EditFormat::Diff);
        long.path = "src/harbours.py".to_owned();
        assert!(
            name_misspelt(&mut long, &mut Rng::with_seed(1)) && long.wrap.name.as_deref() != Some("src/harbours.py")
        );
    }

    #[test]
    fn fences_are_left_out_and_relabelled() {
        let text = |put_in: Inject| render(&put(EditFormat::Udiff, put_in));
        assert!(text(no_closing_fence).ends_with("level += hour\n"));
        assert!(!text(other_language).starts_with("```diff"));
        assert!(text(no_fence).starts_with("--- src/tide.py\n"));
        assert_eq!(text(bare_blanks).matches("\n\n").count(), 1);
        assert!(text(crlf_reply).contains("level = 0\r\n"));
        assert!(text(other_fences).matches("```").count() >= 4);
    }
}
