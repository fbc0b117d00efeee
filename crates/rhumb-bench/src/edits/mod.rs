//! How well edits are applied: replies made from real changes, clean and with the defects that models produce, and the results of
//! applying them.
//!
//! | module | contents |
//! |---|---|
//! | `sample` | changes of single files from the history of a repository; how much of a file a reply has to quote to be unambiguous |
//! | `sketch` | a reply under construction, and its text in each edit format |
//! | `defects` | the table of everything that can be wrong with a reply |
//! | `make` | cases from samples and defects |
//! | `case` | a case, and cases as folders |
//! | `score` | runs, verdicts and figures |

mod case;
mod defects;
mod make;
mod sample;
mod score;
mod sketch;
#[cfg(test)]
mod tests;

use std::path::Path;

use case::{Case, CorpusError, read as read_corpus, write as write_case};
pub(crate) use defects::defect_names;
use fastrand::Rng;
use make::{FORMATS, cases};
use rhumb::error::{ErrorKind, UserError};
use rhumb::headless::{print, print_json, print_message};
use rhumb_edit::{EditFormat, FormatChoice, Matching};
use rhumb_workspace::git::{GitError, Revisions};
use sample::{Sample, samples};
use score::{Figures, Group, Tally, run};
use serde_json::{Value, json};

use crate::args::EditsBenchArgs;

/// Number of samples for each ten cases of an edit format.
const SAMPLES_PER_TEN: usize = 4;
/// Minimum number of samples, so that every defect fits one of them.
const MIN_SAMPLES: usize = 240;
const GROUPS: [Group; 5] = [Group::Clean, Group::One, Group::Several, Group::Hopeless, Group::All];

/// Runs the cases. The exit code is 1 when one was applied wrongly.
///
/// # Errors
/// An edit format or defect does not exist, a repository or corpus cannot be read, there is no case, or a failed case cannot be
/// written.
pub(crate) fn command(args: &EditsBenchArgs) -> Result<u8, UserError> {
    let unknown =
        |known: &dyn Fn(&str) -> bool| args.defects.iter().find(|name| !known(name)).map(|name| no_defect(name));
    let is_ours = |name: &str| defect_names().any(|known| known == name);
    if let Some(error) = unknown(&is_ours).filter(|_| args.corpus.is_none()) {
        return Err(error);
    }
    let mut cases = all_cases(args)?;
    // A corpus may name other defects.
    let is_theirs = |name: &str| cases.iter().any(|case| case.defects.iter().any(|defect| defect == name));
    if let Some(error) = unknown(&|name| is_ours(name) || is_theirs(name)) {
        return Err(error);
    }
    cases.retain(|case| args.defects.is_empty() || args.defects.iter().any(|name| case.defects.contains(name)));
    if cases.is_empty() {
        return Err(usage("there is no case", "Take another repository, or more --cases."));
    }
    if args.auto {
        cases.iter_mut().for_each(|case| case.format = FormatChoice::Auto);
    }
    let figures = figures(&cases, Matching::Lenient, args.failures.as_deref())?;
    let rigid = if args.inflexible { Some(self::figures(&cases, Matching::Verbatim, None)?) } else { None };
    if args.json {
        print_json(&as_json(&figures, rigid.as_ref()))?;
    } else {
        print(&tables(&figures, rigid.as_ref()))?;
    }
    let wrong = figures.groups.values().any(|tally| tally.wrong > 0);
    Ok(u8::from(wrong))
}

fn usage(message: impl std::fmt::Display, hint: &str) -> UserError {
    UserError::new(ErrorKind::Usage, message, hint)
}

fn no_defect(name: &str) -> UserError {
    let known = defect_names().collect::<Vec<_>>().join(", ");
    usage(format!("there is no defect {name:?}"), &format!("defects: {known}"))
}

fn all_cases(args: &EditsBenchArgs) -> Result<Vec<Case>, UserError> {
    if let Some(folder) = &args.corpus {
        return read_corpus(folder).map_err(|error| match &error {
            CorpusError::Read { .. } => UserError::new(ErrorKind::Machine, &error, ""),
            _ => usage(&error, "Each case is a folder with case.json, before, reply.md and after."),
        });
    }
    let formats = formats(&args.formats)?;
    let samples = drawn(args)?;
    Ok(formats.into_iter().flat_map(|format| cases(&samples, format, args.cases, args.seed)).collect())
}

fn formats(names: &[String]) -> Result<Vec<EditFormat>, UserError> {
    if names.iter().any(|name| name == "all") {
        return Ok(FORMATS.to_vec());
    }
    let format = |name: &String| FORMATS.into_iter().find(|format| format.name() == name);
    let unknown =
        |name: &String| usage(format!("there is no format {name:?}"), "formats: udiff, diff, whole, patch, all");
    names.iter().map(|name| format(name).ok_or_else(|| unknown(name))).collect()
}

/// Samples from all repositories, the same number from each as far as possible.
fn drawn(args: &EditsBenchArgs) -> Result<Vec<Sample>, UserError> {
    let wanted = (args.cases * SAMPLES_PER_TEN / 10).max(MIN_SAMPLES);
    let each = wanted.div_ceil(args.git_dirs.len().max(1));
    let mut all = Vec::new();
    for folder in &args.git_dirs {
        let revisions = Revisions::open(folder).map_err(|error| {
            let kind =
                if matches!(error, GitError::NoRepository { .. }) { ErrorKind::Usage } else { ErrorKind::Machine };
            UserError::new(kind, &error, error.hint())
        })?;
        let found = samples(&folder.display().to_string(), &revisions, each, &mut Rng::with_seed(args.seed));
        if found.len() < each {
            let plural = if found.len() == 1 { "" } else { "s" };
            print_message(&format!("{}: {} suitable change{plural} instead of {each}", folder.display(), found.len()));
        }
        all.extend(found);
    }
    Ok(all)
}

fn figures(cases: &[Case], flexibility: Matching, failures: Option<&Path>) -> Result<Figures, UserError> {
    let mut figures = Figures::default();
    for case in cases {
        let run = run(case, flexibility);
        figures.add(case, &run);
        if let Some(folder) = failures.filter(|_| !run.verdict.is_right(case.expect)) {
            write_case(folder, case, &run).map_err(|error| {
                UserError::new(ErrorKind::Machine, format!("cannot write {}: {error}", folder.display()), "")
            })?;
        }
    }
    Ok(figures)
}

fn tables(figures: &Figures, rigid: Option<&Figures>) -> String {
    let mut text = table(figures);
    if let Some(rigid) = rigid {
        text.push_str(&format!("\nExact matching only:\n\n{}\n", table(rigid)));
        text.push_str(&compared(figures, rigid));
    }
    text
}

/// The figures by edit format and kind, the figures by defect, and the time.
fn table(figures: &Figures) -> String {
    let head = |title: &str| {
        format!("{title:<32}{:>7}{:>8}{:>8}{:>9}{:>7}{:>8}\n", "cases", "right", "equiv", "refused", "lost", "WRONG")
    };
    let mut text = head("%");
    for format in figures.formats().into_iter().chain(["all"]) {
        for group in GROUPS {
            if let Some(tally) = figures.groups.get(&(format, group)) {
                text.push_str(&row(&format!("{format:<12}{}", group.name()), tally));
            }
        }
    }
    text.push('\n');
    text.push_str(&head("one defect alone"));
    for name in figures.class_names() {
        let of = |format: &'static str| figures.classes.get(&(name.to_owned(), format));
        for (format, tally) in figures.formats().into_iter().filter_map(|format| Some((format, of(format)?))) {
            text.push_str(&row(&format!("{name:<22}{format}"), tally));
        }
    }
    let (middle, slow) = (figures.micros(0.5), figures.micros(0.99));
    text.push_str(&format!("\nmedian {middle:.0} µs, 99th percentile {slow:.0} µs of processor time for each reply\n"));
    text
}

fn row(title: &str, tally: &Tally) -> String {
    let [right, equiv, refused, lost, wrong] =
        [tally.right, tally.equiv, tally.refused, tally.lost, tally.wrong].map(|count| tally.percent(count));
    format!("{title:<32}{:>7}{right:>8.1}{equiv:>8.1}{refused:>9.1}{lost:>7.1}{wrong:>8.2}\n", tally.cases)
}

fn compared(figures: &Figures, rigid: &Figures) -> String {
    let (on, off) = (figures.failed(), rigid.failed());
    let wrong = rigid.groups.get(&("all", Group::All)).map_or(0, |tally| tally.wrong);
    let times = if on == 0 { String::new() } else { format!(" ({:.1} times as many)", off as f64 / on as f64) };
    format!(
        "exact matching: {off} replies that should be applied are not, against {on}{times}; {wrong} are applied wrongly, \
         against {}\n",
        figures.groups.get(&("all", Group::All)).map_or(0, |tally| tally.wrong)
    )
}

fn as_json(figures: &Figures, rigid: Option<&Figures>) -> Value {
    let mut value = figures_json(figures);
    value["failed_to_the_letter"] = json!(rigid.map(Figures::failed));
    value["to_the_letter"] = json!(rigid.map(figures_json));
    value
}

fn figures_json(figures: &Figures) -> Value {
    let tally = |tally: &Tally| {
        json!({
            "cases": tally.cases, "right": tally.right, "equiv": tally.equiv, "refused": tally.refused,
            "lost": tally.lost, "wrong": tally.wrong,
        })
    };
    let with = |mut value: Value, names: [(&str, &str); 2]| {
        for (key, name) in names {
            value[key] = name.into();
        }
        value
    };
    let groups = figures.groups.iter();
    let groups: Vec<Value> = groups
        .map(|((format, group), counts)| with(tally(counts), [("format", format), ("kind", group.name())]))
        .collect();
    let classes = figures.classes.iter();
    let classes: Vec<Value> = classes
        .map(|((defect, format), counts)| with(tally(counts), [("format", format), ("defect", defect)]))
        .collect();
    json!({
        "groups": groups, "defects": classes,
        "micros": {"median": figures.micros(0.5), "p99": figures.micros(0.99)},
        "failed": figures.failed(),
    })
}
