//! `rhumb completions`: what a shell needs to complete commands, flags and their values, made from the very table that is parsed by.

use std::fmt::Write as _;

use clap::{Arg, Command};
use clap_complete::Shell;

use super::{CompletionsArgs, print};
use crate::error::UserError;

/// Prints the completions of `command` for a shell.
///
/// # Errors
/// Standard output cannot be written.
pub fn completions(mut command: Command, args: &CompletionsArgs) -> Result<u8, UserError> {
    let name = command.get_name().to_owned();
    // Into memory first: the generator takes a pipe that closes for a fault.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if args.shell == Shell::Fish {
        script.push_str(&flags_below(&command));
    }
    print(&script)?;
    Ok(0)
}

/// How deep the generator goes for fish: commands, and theirs.
const DEPTH_FOR_FISH: usize = 2;

/// For fish, the flags of the commands that its generator does not reach, such as those of `bench refactor build`.
fn flags_below(program: &Command) -> String {
    fn add(command: &Command, above: &[&str], script: &mut String) {
        for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
            let words = [above, &[command.get_name()]].concat();
            if words.len() > DEPTH_FOR_FISH && !words.contains(&"help") {
                let flags = command.get_arguments().filter(|flag| !flag.is_hide_set());
                flags.for_each(|flag| script.push_str(&flag_for_fish(&words, flag)));
            }
            add(command, &words, script);
        }
    }
    let mut script = String::new();
    add(program, &[], &mut script);
    script
}

fn flag_for_fish(words: &[&str], flag: &Arg) -> String {
    let Some(long) = flag.get_long() else { return String::new() };
    let seen: Vec<String> = words.iter().map(|word| format!("__fish_seen_subcommand_from {word}")).collect();
    let mut line = format!("complete -c rhumb -n \"{}\" -l {long}", seen.join("; and "));
    if let Some(short) = flag.get_short() {
        let _ = write!(line, " -s {short}");
    }
    if let Some(help) = flag.get_help() {
        let _ = write!(line, " -d {}", quoted(help.to_string().lines().next().unwrap_or_default()));
    }
    let values: Vec<String> = flag.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if flag.get_action().takes_values() {
        line.push_str(" -r");
        if !values.is_empty() {
            let _ = write!(line, " -f -a {}", quoted(&values.join(" ")));
        }
    }
    line + "\n"
}

/// As fish reads it: within single quotes only these two mean something.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_deep_below_is_completed_with_its_values() {
        let kind = Arg::new("kind").long("kind").short('k').help("The writer's \\ kind").value_parser(["good", "lazy"]);
        let deep = Command::new("run").arg(kind).arg(Arg::new("yes").long("yes").action(clap::ArgAction::SetTrue));
        let program =
            Command::new("rhumb").subcommand(Command::new("bench").subcommand(Command::new("all").subcommand(deep)));
        let seen = "__fish_seen_subcommand_from";
        let head = format!("complete -c rhumb -n \"{seen} bench; and {seen} all; and {seen} run\"");
        let expected =
            format!("{head} -l kind -s k -d 'The writer\\'s \\\\ kind' -r -f -a 'good lazy'\n{head} -l yes\n");
        assert_eq!(flags_below(&program), expected);
    }
}
