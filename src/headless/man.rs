//! `rhumb man` and `rhumb completions`: a man page for the program and one for each command, and shell completions, made from the
//! definition of the command line.

use super::{CompletionsArgs, ManArgs, print, print_message};
use crate::error::{ErrorKind, UserError};
use crate::version::Build;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io;
use std::path::Path;

const EXIT_CODES: [(u8, &str); 6] = [
    (0, "Success."),
    (1, "Something was refused, rejected, not found, or still fails its checks."),
    (2, "The request or a setting is wrong."),
    (3, "This machine failed: files, git, memory."),
    (4, "The provider of the model failed."),
    (5, "The answer was incomplete, and nothing of it was applied."),
];

/// Files that the program reads and writes.
const FILES: [(&str, &str); 4] = [
    ("~/.config/rhumb/rhumb.toml", "Settings. XDG_CONFIG_HOME moves them."),
    ("rhumb.toml", "Settings of a repository, at its root and in its folders."),
    ("~/.local/state/rhumb", "Sessions and the journal of writes. XDG_STATE_HOME moves them."),
    ("~/.cache/rhumb", "Data that can be created again at any time. XDG_CACHE_HOME moves it."),
];

/// Prints the page of `command`, or writes it and the pages of its commands to a folder, which is created if it is missing.
///
/// # Errors
/// A page cannot be written.
pub fn man(command: Command, args: &ManArgs) -> Result<u8, UserError> {
    let pages = pages(command).map_err(|error| UserError::new(ErrorKind::Machine, error, ""))?;
    match &args.dir {
        Some(folder) => write(folder, &pages)?,
        None => pages.first().map_or(Ok(()), |page| print(&page.text))?,
    }
    Ok(0)
}

fn write(folder: &Path, pages: &[ManPage]) -> Result<(), UserError> {
    let failed = |error: io::Error| {
        let message = format!("the pages cannot be written to {}: {error}", folder.display());
        UserError::new(ErrorKind::Machine, message, "choose a folder that can be written to")
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    pages.iter().try_for_each(|page| std::fs::write(folder.join(&page.file), &page.text)).map_err(failed)?;
    print_message(&format!("wrote {} pages to {}", pages.len(), folder.display()));
    Ok(())
}

struct ManPage {
    file: String,
    /// The content in roff.
    text: String,
}

/// The page of the program, then those of its commands and subcommands.
fn pages(command: Command) -> io::Result<Vec<ManPage>> {
    // Pages have the version but not the build, so that all builds of one source have the same pages.
    let mut command = command.long_version(None).disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add(&command, &mut pages)?;
    pages
        .iter_mut()
        .skip(1)
        .for_each(|page| page.text += &section("SEE ALSO", |roff| _ = roff.text([bold("rhumb"), roman("(1)")])));
    if let Some(first) = pages.first_mut() {
        first.text += &section("EXIT STATUS", exit_codes);
        first.text += &section("FILES", files);
    }
    Ok(pages)
}

fn add(command: &Command, pages: &mut Vec<ManPage>) -> io::Result<()> {
    let man = Man::new(command.clone()).manual("rhumb").date(Build::this().date.unwrap_or_default());
    let mut text = Vec::new();
    man.render(&mut text)?;
    pages.push(ManPage { file: man.get_filename(), text: String::from_utf8_lossy(&text).into_owned() });
    command.get_subcommands().filter(|command| !command.is_hide_set()).try_for_each(|command| add(command, pages))
}

/// A section that the definition of the command line does not have.
fn section(title: &str, fill: impl FnOnce(&mut Roff)) -> String {
    let mut roff = Roff::default();
    roff.control("SH", [title]);
    fill(&mut roff);
    roff.render()
}

fn exit_codes(roff: &mut Roff) {
    for (code, meaning) in EXIT_CODES {
        roff.control("TP", []).text([bold(code.to_string())]).text([roman(meaning)]);
    }
    roff.control("TP", []).text([bold("128 + n")]).text([roman("Signal n ended the command; completed writes stay.")]);
}

fn files(roff: &mut Roff) {
    for (file, what) in FILES {
        roff.control("TP", []).text([bold(file)]).text([roman(what)]);
    }
    roff.control("PP", []).text([bold("rhumb config --path"), roman(" prints where they are on this machine.")]);
}

/// Prints the completions of `command` for a shell.
///
/// # Errors
/// Standard output cannot be written.
pub fn completions(mut command: Command, args: &CompletionsArgs) -> Result<u8, UserError> {
    let name = command.get_name().to_owned();
    // Written to memory first, because the generator panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_has_its_meaning() {
        let kinds = [ErrorKind::Usage, ErrorKind::Machine, ErrorKind::Provider, ErrorKind::Incomplete];
        for kind in kinds {
            assert!(EXIT_CODES.iter().any(|(code, _)| *code == kind.exit_code()), "{kind:?}");
        }
    }
}
