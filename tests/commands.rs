//! Checks the table of commands: every example parses, every wrong argument is reported with the expected one, and every kind of argument
//! is completed. `docs/commands.md` and `docs/keys.md` match the tables of commands and actions; `RHUMB_BLESS=1 cargo test --test commands`
//! rewrites them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhumb::tui::action::{ACTIONS, Pane, Scope};
use rhumb_session::context::Mode;
use rhumb_session::{
    Argument, COMMANDS, CommandInfo, Completer, Connection, Entry, ExtraCommand, Group, LookupResponse, ModelRow,
    Session, completion_target, find_command, parse_command,
};

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)
}

/// The text of `docs/commands.md`.
fn page() -> String {
    let mut page = String::from(
        "# Commands\n\nA message that begins with a slash is a command. An unambiguous prefix of a name is sufficient, and Tab completes names and\n\
         arguments. Arguments with spaces are quoted as in a shell. Arguments in [brackets] are optional.\n",
    );
    for group in Group::ALL {
        let _ = write!(page, "\n## {}\n", title(group.title()));
        for info in COMMANDS.iter().filter(|info| info.group == group) {
            let usage = format!("/{} {}", info.name, info.arguments);
            let _ =
                write!(page, "\n### `{}`\n\n{}.\n\nFor example: `{}`\n", usage.trim(), title(info.help), info.example);
        }
    }
    page
}

fn title(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[test]
fn commands_page_matches_the_table() {
    if std::env::var_os("RHUMB_BLESS").is_some() {
        std::fs::write(docs("commands.md"), page()).expect("docs/commands.md");
    }
    let written = std::fs::read_to_string(docs("commands.md")).expect("docs/commands.md");
    assert!(written == page(), "docs/commands.md is stale: RHUMB_BLESS=1 cargo test --test commands");
}

/// The text of `docs/keys.md`.
fn keys_page() -> String {
    let mut page = String::from(
        "# Keys\n\nThe tables list every action with its name, its default keys and its effect. Two keys separated by a space are pressed one after the\n\
         other. In the app, `/keys` shows the current keys. An action without a key can be run from the palette, or with a slash and its name.\n\n\
         To change the keys of an action, add its name to `[keys]` in your `rhumb.toml`. Your keys replace the default ones:\n\n\
         ```toml\n[keys]\naccept = [\"a\", \"F9\"]\nquit = []  # no key\n```\n\n\
         `Ctrl-c` and `Esc` cannot be changed. In the chat a key without Ctrl or Alt types text, so the keys of actions for the chat or for\n\
         every pane need Ctrl, Alt or a function key. Keys that conflict with another action, hide one, or are invalid are reported at the\n\
         start, by `rhumb config` and by `rhumb doctor`.\n\
         \nIf the mouse is enabled (`mouse`), a click focuses a pane and selects the row under the pointer, and a second click opens the row.\n\
         In the composer a click moves the cursor. In the chat a click opens an edit, a citation or reasoning when the button is released,\n\
         and a drag selects text and copies it. The wheel scrolls the pane under the pointer. The position of a dragged border is saved;\n\
         `reset-borders` resets all borders. With Shift held, the terminal selects text.\n\
         \n\
         Shift-Enter and Ctrl-Enter need a terminal with the kitty keyboard protocol (kitty, foot, ghostty, WezTerm, Alacritty, iTerm2 …).\n\
         Alt-Enter and Ctrl-j work in every terminal. If Alt types special characters, configure the terminal to send Escape for Alt (\"Option\n\
         as Meta\").\n",
    );
    let scopes = [Scope::Global, Scope::Lists].into_iter().chain(Pane::ALL.into_iter().map(Scope::Pane));
    let scopes = scopes.chain([Scope::Reading]);
    for scope in scopes {
        let heading = match scope {
            Scope::Global => "Everywhere",
            Scope::Lists => "In map, context and review",
            Scope::Reading => "While reading the chat",
            Scope::Pane(pane) => &title(pane.title()),
        };
        let _ = write!(page, "\n## {heading}\n\n| action | keys | what |\n|---|---|---|\n");
        for info in ACTIONS.iter().filter(|info| info.scope == scope) {
            let keys: Vec<String> = info.keys.iter().map(|keys| format!("`{}`", keys.replace('|', "\\|"))).collect();
            let _ = writeln!(page, "| `{}` | {} | {} |", info.name, keys.join(" "), info.help.trim());
        }
    }
    page
}

#[test]
fn keys_page_matches_the_table() {
    if std::env::var_os("RHUMB_BLESS").is_some() {
        std::fs::write(docs("keys.md"), keys_page()).expect("docs/keys.md");
    }
    let written = std::fs::read_to_string(docs("keys.md")).unwrap_or_default();
    assert!(written == keys_page(), "docs/keys.md is stale: RHUMB_BLESS=1 cargo test --test commands");
}

#[test]
fn the_manual_names_every_command() {
    let manual = std::fs::read_to_string(docs("manual.md")).expect("docs/manual.md");
    for info in COMMANDS {
        let named = [format!("`/{}`", info.name), format!("`/{} ", info.name)];
        assert!(named.iter().any(|name| manual.contains(name)), "/{} is not in docs/manual.md", info.name);
    }
    for word in manual.split('`').skip(1).step_by(2).filter_map(|code| code.strip_prefix('/')) {
        let name = word.split(' ').next().unwrap_or_default();
        let is_known = find_command(name).is_ok() || ACTIONS.iter().any(|info| info.name == name);
        let is_in_line_mode = ["hunks", "questions", "show", "thoughts", "verbosity"].contains(&name); // only in `rhumb --plain`
        assert!(
            is_known || is_in_line_mode || name.contains(['/', ':']),
            "docs/manual.md names /{name}, which does not exist"
        );
    }
}

/// Whether a command requires an argument.
fn needs_argument(info: &CommandInfo) -> bool {
    !info.arguments.is_empty() && !info.arguments.starts_with('[')
}

#[test]
fn every_example_parses_and_matches_the_usage() {
    for info in COMMANDS {
        parse_command(info.example).unwrap_or_else(|error| panic!("{}: {error}", info.example));
        let has_argument = info.example.contains(' ');
        assert!(!has_argument || info.takes != Argument::None, "{}", info.example);
        assert!(has_argument || !needs_argument(info), "{}", info.example);
    }
}

#[test]
fn every_wrong_argument_is_reported_with_the_expected_one_and_an_example() {
    for info in COMMANDS {
        let wrong = match info.takes {
            Argument::None => format!("/{} what", info.name),
            Argument::Tokens | Argument::Turn => format!("/{} what", info.name),
            Argument::Effort | Argument::EditFormat | Argument::Refresh => format!("/{} what", info.name),
            Argument::Files | Argument::ChatFiles | Argument::Git => format!("/{} 'open", info.name),
            _ if needs_argument(info) => format!("/{}", info.name),
            _ => continue,
        };
        let error = parse_command(&wrong).expect_err(&wrong);
        assert!(error.to_string().starts_with(&format!("/{} expects ", info.name)), "{error}");
        assert!(error.hint().contains(&format!("/{}", info.name)), "{}", error.hint());
    }
}

#[test]
fn a_misspelt_name_has_a_suggestion() {
    // /model is as similar to a misspelt /models.
    for info in COMMANDS.iter().filter(|info| info.name.len() > 4 && info.name != "models") {
        // The last two letters are swapped, so that the word is not a prefix of another command.
        let mut letters: Vec<char> = info.name.chars().collect();
        let last = letters.len() - 1;
        if letters[last] == letters[last - 1] {
            continue;
        }
        letters.swap(last, last - 1);
        let typed: String = letters.into_iter().collect();
        let error = parse_command(&format!("/{typed}")).expect_err(&typed).to_string();
        assert!(error.contains(&format!("Did you mean /{}?", info.name)), "{typed}: {error}");
    }
}

/// A session with files, models, themes and a message.
fn session() -> Session {
    let mut session = Session::start(Connection::None).0;
    session.handle(rhumb_session::Response::Listed(Arc::new(
        ["docs/my notes.md", "src/cache.rs", "src/main.rs"].map(str::to_owned).to_vec(),
    )));
    session.add_files(&["src/cache.rs".into()], false);
    session.extend_transcript([Entry::User { text: "make it safe".into(), mode: Mode::Code, answered: true }]);
    let model = ModelRow { name: "tide-7b".into(), detail: "32k".into(), has_key: true };
    let looked_up = |response| rhumb_session::Response::LookedUp(response);
    session.handle(looked_up(LookupResponse::Models { rows: vec![model], choose: None }));
    session.set_theme_names(vec!["rhumb-dark".into(), "rhumb-light".into()]);
    let settings = rhumb::config::SETTINGS.iter().map(|setting| (setting.name.to_owned(), setting.help.to_owned()));
    session.set_setting_names(settings.collect());
    let names = vec!["notes.md".into(), "talks/".into()];
    session.handle(looked_up(LookupResponse::Folder { folder: String::new(), names }));
    session
}

#[test]
fn every_kind_of_argument_is_completed() {
    let session = session();
    let first = |line: &str| {
        let found = completion_target(line).map(|target| Completer::default().completions(&target, &session, &[]));
        found.and_then(|found| found.first().map(|candidate| candidate.insert.clone())).unwrap_or_default()
    };
    for info in COMMANDS {
        let line = |argument: &str| format!("/{} {argument}", info.name);
        let (typed, expected) = match info.takes {
            Argument::Files => ("not", "'docs/my notes.md'"),
            Argument::ChatFiles => ("cac", "src/cache.rs"),
            Argument::Paths => ("tal", "talks/"),
            Argument::Message => ("see @mai", "@src/main.rs"),
            Argument::Model => ("tide", "tide-7b"),
            Argument::EditFormat => ("who", "whole"),
            Argument::Effort => ("med", "medium"),
            Argument::Tokens => ("8", "8k"),
            Argument::Refresh => ("alw", "always"),
            Argument::Shell => ("cat no", "notes.md"),
            Argument::Git => ("sta", "status"),
            Argument::Theme => ("light", "rhumb-light"),
            Argument::Turn => ("", "1"),
            Argument::Text if info.name == "watch" => ("o", "on"),
            Argument::Text if info.name == "settings" => ("spend", "spending_cap"),
            // There are no candidates, or the test session does not have them.
            Argument::None | Argument::Url | Argument::Session | Argument::Text => continue,
        };
        assert_eq!(first(&line(typed)), expected, "{}", line(typed));
    }
}

#[test]
fn the_name_of_every_command_and_action_is_completed() {
    let session = session();
    let extra: Vec<ExtraCommand<'_>> =
        ACTIONS.iter().map(|info| ExtraCommand { name: info.name, help: info.help }).collect();
    let names = COMMANDS.iter().map(|info| info.name).chain(extra.iter().map(|command| command.name));
    for name in names {
        let target = completion_target(&format!("/{name}")).expect("a target");
        let found = Completer::default().completions(&target, &session, &extra);
        let inserted = found.iter().any(|candidate| candidate.insert == format!("/{name}") && candidate.is_complete);
        assert!(inserted, "/{name}: {found:?}");
    }
}
