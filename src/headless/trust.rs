//! `rhumb trust`: shows, approves and revokes single values that settings files of a repository propose.

use super::{TrustArgs, print, print_message};
use crate::config::{Approvals, ConfigError, Paths, Proposed, Settings};
use crate::error::{ErrorKind, UserError};
use rhumb_text::sanitize;
use std::fmt::Write as _;

/// Shows the values that wait for an approval, or does what the flags request. The exit code is 1 if a hash is unknown.
///
/// # Errors
/// Approvals cannot be saved, or standard output cannot be written.
pub fn trust(settings: &Settings, args: &TrustArgs) -> Result<u8, UserError> {
    let paths = Paths::of_user();
    let mut approvals = Approvals::read(paths.as_ref());
    let unsaved = |error: ConfigError| UserError::new(ErrorKind::Machine, &error, error.hint());
    let mut code = 0;
    for hash in &args.approve {
        match named(settings.layers.unapproved.iter().map(|(proposed, _)| proposed), hash) {
            Some(proposed) => {
                approvals.approve(proposed.clone()).map_err(unsaved)?;
                print_message(&format!("approved: {} = {}", proposed.name, proposed.value));
            }
            None => code = unknown(hash, "no value that waits for approval has"),
        }
    }
    for hash in &args.revoke {
        let gone = match named(approvals.all().iter(), hash).cloned() {
            Some(proposed) => approvals.revoke(|other| *other == proposed).map_err(unsaved)?,
            None => Vec::new(),
        };
        if gone.is_empty() {
            code = unknown(hash, "no approved value has");
        }
        print_revoked(&gone);
    }
    if args.revoke_all {
        print_revoked(&approvals.revoke(|_| true).map_err(unsaved)?);
    }
    if args.list {
        print(&approvals.all().iter().map(shown).collect::<String>())?;
    } else if args.approve.is_empty() && args.revoke.is_empty() && !args.revoke_all {
        print(&settings.layers.unapproved.iter().map(|(proposed, _)| shown(proposed)).collect::<String>())?;
        print_message(match settings.layers.unapproved.len() {
            0 => "no value waits for approval here; --list shows the approved values",
            _ => "these values are not used; rhumb trust --approve HASH approves one, exactly as it is shown",
        });
    }
    Ok(code)
}

/// The value with a hash; `None` if the abbreviation is ambiguous.
fn named<'p>(mut among: impl Iterator<Item = &'p Proposed>, hash: &str) -> Option<&'p Proposed> {
    let first = among.find(|proposed| proposed.is_named(hash))?;
    among.all(|other| !other.is_named(hash)).then_some(first)
}

fn unknown(hash: &str, subject: &str) -> u8 {
    print_message(&format!("{subject} the hash {hash}"));
    1
}

fn print_revoked(gone: &[Proposed]) {
    gone.iter().for_each(|proposed| print_message(&format!("revoked: {} = {}", proposed.name, proposed.value)));
}

/// The exact value.
fn shown(proposed: &Proposed) -> String {
    let Proposed { file, name, value, .. } = proposed;
    let file = sanitize::visible_line(file);
    let mut text = String::new();
    let _ = writeln!(text, "{}  {file}\n    {name} = {value}", proposed.short());
    text
}
