//! The table of commands, held to its word: every example is understood, every mistake is told with what was expected, every kind of
//! argument is completed, and the list in `docs/commands.md` is the table. So is `docs/keys.md` that of actions. `RHUMB_BLESS=1 cargo test --test commands`
//! writes both anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhumb::tui::action::{ACTIONS, Pane, Scope};
use rhumb_session::context::Mode;
use rhumb_session::{
    Argument, COMMANDS, Candidates, CommandInfo, Connection, Entry, Group, LookupResponse, ModelRow, Session, Word,
    find_command, parse_command, place,
};

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)
}

/// The list of commands as a page of the manual.
fn page() -> String {
    let mut page = String::from(
        "# Commands\n\nA line that begins with a slash is a command. The beginning of a name is enough where no other command begins so;\n\
         Tab completes names and arguments. Names with spaces are quoted as in a shell. Arguments in [brackets] may be left out.\n",
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
fn the_list_of_commands_says_what_there_is() {
    if std::env::var_os("RHUMB_BLESS").is_some() {
        std::fs::write(docs("commands.md"), page()).expect("docs/commands.md");
    }
    let written = std::fs::read_to_string(docs("commands.md")).expect("docs/commands.md");
    assert!(written == page(), "docs/commands.md is stale: RHUMB_BLESS=1 cargo test --test commands");
}

/// The table of actions as a page of the manual.
fn keys_page() -> String {
    let mut page = String::from(
        "# Keys\n\nEvery action with its name, the keys that it has unless the settings say otherwise, and what it does. Two keys with a space\n\
         between are pressed one after the other. In the program, `/keys` shows the keys in force, and the palette and a slash with the name\n\
         run an action that has none.\n\n\
         Keys of your own stand in your `rhumb.toml` under the name of the action and replace its keys:\n\n\
         ```toml\n[keys]\naccept = [\"a\", \"F9\"]\nquit = []  # no key at all\n```\n\n\
         `Ctrl-c` and `Esc` always lead out. In the chat a key without Ctrl or Alt is text, so what counts there or everywhere needs one of\n\
         them, or a function key. What a key of yours takes away from another action, hides, or cannot mean, is told at the start, by\n\
         `rhumb config` and by `rhumb doctor`.\n\
         \nThe mouse, while it is on (`mouse`): a click gives a pane the focus and selects the row under it, a second click opens the row;\n\
         in the composer it moves the cursor. In the chat a click opens an edit, a citation or reasoning when the button is released, and a\n\
         drag selects text and copies it. The wheel scrolls the pane under the pointer. A border that is dragged keeps its place, also after\n\
         a restart; `reset-borders` restores all of them. With Shift held, the terminal selects text.\n\
         \n\
         Shift-Enter and Ctrl-Enter need a terminal that speaks the kitty keyboard protocol (kitty, foot, ghostty, WezTerm, Alacritty,\n\
         iTerm2 …); Alt-Enter and Ctrl-j do everywhere. If Alt types letters instead, have the terminal send Escape for it (Option as Meta).\n",
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
fn the_list_of_keys_says_what_there_is() {
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
        let is_of_lines = ["hunks", "questions", "show", "thoughts", "verbosity"].contains(&name); // of `rhumb --plain` alone
        assert!(
            is_known || is_of_lines || name.contains(['/', ':']),
            "docs/manual.md tells of /{name}, which there is not"
        );
    }
}

/// Whether a command cannot do without an argument.
fn needs(info: &CommandInfo) -> bool {
    !info.arguments.is_empty() && !info.arguments.starts_with('[')
}

#[test]
fn every_example_is_understood_and_says_no_more_than_the_usage() {
    for info in COMMANDS {
        parse_command(info.example).unwrap_or_else(|error| panic!("{}: {error}", info.example));
        let has_argument = info.example.contains(' ');
        assert!(!has_argument || info.takes != Argument::None, "{}", info.example);
        assert!(has_argument || !needs(info), "{}", info.example);
    }
}

#[test]
fn every_mistake_is_told_with_what_was_expected_and_an_example() {
    for info in COMMANDS {
        let wrong = match info.takes {
            Argument::None => format!("/{} what", info.name),
            Argument::Tokens | Argument::Turn => format!("/{} what", info.name),
            Argument::Effort | Argument::EditFormat | Argument::Refresh => format!("/{} what", info.name),
            Argument::Files | Argument::ChatFiles | Argument::Git => format!("/{} 'open", info.name),
            _ if needs(info) => format!("/{}", info.name),
            _ => continue,
        };
        let error = parse_command(&wrong).expect_err(&wrong);
        assert!(error.to_string().starts_with(&format!("/{} expects ", info.name)), "{error}");
        assert!(error.hint().contains(&format!("/{}", info.name)), "{}", error.hint());
    }
}

#[test]
fn a_misspelt_name_is_set_right() {
    // Of /models, /model is as near.
    for info in COMMANDS.iter().filter(|info| info.name.len() > 4 && info.name != "models") {
        // Two letters in the wrong order, at the end: no beginning of another.
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

/// A session in the middle of its work.
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
    let names = vec!["notes.md".into(), "talks/".into()];
    session.handle(looked_up(LookupResponse::Folder { folder: String::new(), names }));
    session
}

#[test]
fn every_kind_of_argument_is_completed() {
    let session = session();
    let first = |line: &str| {
        let found = place(line).map(|place| Candidates::default().at(&place, &session, &[]));
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
            // There is nothing to choose from, or it is another's to know.
            Argument::None | Argument::Url | Argument::Session | Argument::Text => continue,
        };
        assert_eq!(first(&line(typed)), expected, "{}", line(typed));
    }
}

#[test]
fn the_name_of_every_command_and_action_is_completed() {
    let session = session();
    let words: Vec<Word<'_>> = ACTIONS.iter().map(|info| Word { name: info.name, help: info.help }).collect();
    let names = COMMANDS.iter().map(|info| info.name).chain(words.iter().map(|word| word.name));
    for name in names {
        let place = place(&format!("/{name}")).expect("a place");
        let found = Candidates::default().at(&place, &session, &words);
        let inserted = found.iter().any(|candidate| candidate.insert == format!("/{name}") && candidate.is_whole);
        assert!(inserted, "/{name}: {found:?}");
    }
}
