//! Shell completions and man pages: they cover every command and flag, and shells and groff accept them. Every command that prints
//! accepts a closed pipe.

use super::*;
use clap::CommandFactory as _;
use rhumb::cli::Args;
use std::process::{Command as Program, Stdio};

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// Every command that is not hidden, with its full path: `["rhumb", "sessions", "export"]`.
fn commands() -> Vec<(Vec<String>, clap::Command)> {
    fn add(command: &clap::Command, above: &[String], all: &mut Vec<(Vec<String>, clap::Command)>) {
        let words = [above, &[command.get_name().to_owned()]].concat();
        command.get_subcommands().filter(|command| !command.is_hide_set()).for_each(|below| add(below, &words, all));
        all.push((words, command.clone()));
    }
    let mut all = Vec::new();
    add(&Args::command(), &[], &mut all);
    all
}

fn flags(command: &clap::Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter(|flag| !flag.is_hide_set()).filter_map(|flag| flag.get_long())
}

fn script(shell: &str) -> String {
    let (code, out, err) = run(rhumb(Path::new("/"), &["completions", shell]));
    assert!(code == 0 && err.is_empty(), "{shell}: {code} {err}");
    out
}

/// Whether a program is installed. Prints a message if it is not.
#[allow(clippy::print_stderr)] // reports what is skipped
fn has(program: &str) -> bool {
    let found = Program::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

#[track_caller]
fn output_of(program: &mut Program) -> (bool, String, String) {
    let output = program.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn completions_of_every_shell_name_every_command_and_flag() {
    for shell in SHELLS {
        let script = script(shell);
        for (words, command) in commands() {
            let name = words.last().unwrap();
            assert!(script.contains(name.as_str()), "{name} is not completed in {shell}");
            for flag in flags(&command) {
                let flag = if shell == "fish" { format!("-l {flag} ") } else { format!("--{flag}") };
                assert!(script.contains(&flag), "{flag} of {name} is not completed in {shell}");
            }
        }
    }
}

#[test]
fn shells_complete_commands_and_flags() {
    let folder = tempfile::tempdir().unwrap();
    let file = |shell: &str| {
        let path = folder.path().join(shell);
        fs::write(&path, script(shell)).unwrap();
        path
    };
    if has("bash") {
        let line = "source \"$1\"; COMP_WORDS=(rhumb ma); COMP_CWORD=1; _rhumb rhumb ma rhumb; echo ${COMPREPLY[@]}";
        let (well, out, err) =
            output_of(Program::new("bash").args(["--norc", "--noprofile", "-c", line, "-"]).arg(file("bash")));
        assert!(well && err.is_empty(), "{err}");
        assert_eq!(out.split_whitespace().collect::<Vec<_>>(), ["map", "man"]);
    }
    if has("fish") {
        let (well, out, err) = output_of(
            Program::new("fish")
                .args(["--no-config", "-c", "source $argv[1]; complete -C 'rhumb ma'"])
                .arg(file("fish")),
        );
        assert!(well && err.is_empty(), "{err}");
        let words: Vec<&str> = out.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(words, ["man", "map"]);
        let line = "source $argv[1]; complete -C 'rhumb sessions export --js'";
        let (well, out, err) = output_of(Program::new("fish").args(["--no-config", "-c", line]).arg(file("fish")));
        assert!(well && err.is_empty() && out.starts_with("--json\t"), "{out}{err}");
    }
    if has("zsh") {
        // zsh completes only on a terminal, so the test checks that it loads the script without errors.
        let line = "autoload -U compinit && compinit -D -u && source $1 && (( $+functions[_rhumb] ))";
        let (well, _, err) = output_of(Program::new("zsh").args(["-f", "-c", line, "-"]).arg(file("zsh")));
        assert!(well && err.is_empty(), "{err}");
    }
}

#[test]
fn an_unknown_shell_is_refused_with_a_list_of_the_supported_ones() {
    let (code, out, err) = run(rhumb(Path::new("/"), &["completions", "csh"]));
    assert!(code == 2 && out.is_empty(), "{code} {out}");
    assert!(SHELLS.iter().all(|shell| err.contains(shell)), "{err}");
}

#[test]
fn each_command_has_a_man_page_with_its_flags() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man1");
    let (code, out, err) = run(rhumb(folder.path(), &["man", "--dir", "share/man1"]));
    assert!(code == 0 && out.is_empty(), "{code} {err}");
    let mut expected: Vec<String> = commands().iter().map(|(words, _)| format!("{}.1", words.join("-"))).collect();
    expected.sort();
    let mut found: Vec<String> =
        fs::read_dir(&pages).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    assert_eq!(found, expected);
    for (words, command) in commands() {
        let page = fs::read_to_string(pages.join(format!("{}.1", words.join("-")))).unwrap();
        for flag in flags(&command) {
            let flag = format!("\\-\\-{}", flag.replace('-', "\\-"));
            assert!(page.contains(&flag), "{flag} is not in the page of {}", words.join(" "));
        }
    }
    let first = fs::read_to_string(pages.join("rhumb.1")).unwrap();
    assert_eq!(first, run(rhumb(folder.path(), &["man"])).1);
    assert!(first.contains("EXIT STATUS") && first.contains("128 + n") && first.contains("rhumb.toml"), "{first}");
}

#[test]
fn groff_accepts_every_man_page() {
    if !has("groff") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    run(rhumb(folder.path(), &["man", "--dir", "."]));
    for page in fs::read_dir(folder.path()).unwrap() {
        let page = page.unwrap().path();
        let (well, text, err) = output_of(Program::new("groff").args(["-man", "-ww", "-Tutf8"]).arg(&page));
        assert!(well && err.is_empty(), "{}: {err}", page.display());
        assert!(text.contains("NAME"), "{}: {text}", page.display());
    }
}

#[test]
fn a_folder_that_cannot_be_created_is_reported() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let below = file.path().join("man1");
    let (code, _, err) = run(rhumb(Path::new("/"), &["man", "--dir", below.to_str().unwrap()]));
    assert!(code == 3 && err.contains("man1") && err.contains("→"), "{code} {err}");
}

#[test]
fn a_closed_pipe_ends_a_command_silently() {
    let repo = harbour_repo();
    for line in [
        "--help",
        "--version",
        "version --json",
        "completions bash",
        "completions zsh",
        "man",
        "map",
        "search --query depth",
        "config",
        "config --default",
        "models",
        "trust --list",
        "demo --svg - --scene help",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        // The read end is closed before the command prints anything, as with `| head -0`.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut program = Program::new(env!("CARGO_BIN_EXE_rhumb"));
        program.args(&args).current_dir(repo.path()).env("HOME", "/nonexistent").env_remove("RHUMB_MODEL");
        program.env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state")).stdin(Stdio::null());
        program.env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"));
        let output = program.stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(0), "{line}: {:?} {err}", output.status);
        assert!(!err.contains("panicked") && !err.to_lowercase().contains("pipe"), "{line}: {err}");
    }
}
