//! Defects of indentation: the whole reply further in or out, tabs for spaces, spaces for tabs.

use std::collections::BTreeMap;

use fastrand::Rng;

use super::sketch::Sketch;

fn margin(line: &str) -> &str {
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
}

/// What all lines of a block begin with, blank ones aside.
fn common_margin<'a>(lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let margins = lines.filter(|line| !line.trim().is_empty()).map(margin);
    margins.reduce(|a, b| {
        let shared = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        a.get(..shared).unwrap_or_default()
    })
}

/// Each block loses the indentation that its lines have in common.
pub(super) fn dedent(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let mut any = false;
    for block in &mut sketch.blocks {
        let width = common_margin(block.lines.iter().map(|line| line.text.as_str())).map_or(0, str::len);
        any |= width > 0;
        for line in block.lines.iter_mut().filter(|line| line.is_solid()) {
            line.text.drain(..width);
        }
    }
    any
}

/// All lines stand further in.
pub(super) fn indent(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let tabs = sketch.base.iter().filter(|line| line.starts_with('\t')).count();
    let step = if tabs * 2 > sketch.base.iter().filter(|line| line.starts_with([' ', '\t'])).count() {
        "\t"
    } else {
        rng.choice(["  ", "    ", "        "]).unwrap_or_default()
    };
    sketch.lines_mut().filter(|line| line.is_solid()).for_each(|line| line.text.insert_str(0, step));
    true
}

/// Applies a change of margins to all lines of the reply. Each block in which a new line is touched must show it in a
/// quoted one, and no two margins may come to look the same, or nobody could tell what the new lines should begin with.
fn rewrite(sketch: &mut Sketch, change: impl Fn(&str) -> String) -> bool {
    let mut any = false;
    let mut origins: BTreeMap<String, String> = BTreeMap::new();
    for block in &mut sketch.blocks {
        let (mut shown, mut needed) = (false, false);
        for line in block.lines.iter_mut().filter(|line| line.is_solid()) {
            let own = margin(&line.text).to_owned();
            let new = change(&own);
            shown |= new != own && line.is_quoted();
            needed |= new != own && !line.is_quoted();
            line.text.replace_range(..own.len(), &new);
            if origins.entry(new).or_insert_with(|| own.clone()) != &own {
                return false;
            }
        }
        if needed && !shown {
            return false;
        }
        any |= shown;
    }
    any
}

pub(super) fn tabs_as_spaces(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let step = " ".repeat(rng.choice([4, 4, 2, 8]).unwrap_or(4));
    rewrite(sketch, |margin| margin.replace('\t', &step))
}

pub(super) fn spaces_as_tabs(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let widths = || sketch.base.iter().map(|line| margin(line)).filter(|margin| !margin.contains('\t')).map(str::len);
    let lines = || sketch.blocks.iter().flat_map(|block| &block.lines).map(|line| margin(&line.text));
    // What is no multiple of the unit hangs by some rule of its own.
    let unit = [4, 2].into_iter().find(|unit| widths().all(|width| width % unit == 0));
    let Some(unit) = unit.filter(|unit| lines().all(|margin| !margin.contains('\t') && margin.len() % unit == 0))
    else {
        return false;
    };
    rewrite(sketch, |margin| "\t".repeat(margin.len() / unit))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{put, sketch};
    use super::*;
    use rhumb_edit::EditFormat;

    fn texts(sketch: &Sketch) -> Vec<&str> {
        sketch.blocks[0].lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn margins_change_in_the_reply_and_not_in_what_is_meant() {
        let plain = sketch(EditFormat::Udiff);
        assert_eq!(texts(&plain)[2], "    level = 0");
        let tabs = |sketch: &mut Sketch, rng: &mut Rng| {
            assert!(spaces_as_tabs(sketch, rng));
            assert_eq!(texts(sketch)[2], "\tlevel = 0");
            tabs_as_spaces(sketch, rng)
        };
        for changed in [put(EditFormat::Udiff, dedent), put(EditFormat::Udiff, indent), put(EditFormat::Udiff, tabs)] {
            assert!(changed.wanted() == plain.wanted() && changed.tree() == plain.tree());
        }
        assert_eq!(
            texts(&put(EditFormat::Udiff, dedent))[2..],
            ["level = 0", "level = 1", "for hour in range(day):", "    level += hour"]
        );
        let further = put(EditFormat::Udiff, indent);
        assert!(texts(&further)[2].len() > 13 && texts(&further)[2].ends_with("    level = 0"));
    }
}
