//! Custom commands: Markdown files of the user and of the repository, found, read and checked. A command is a text for the
//! composer; reading one runs nothing.

use rhumb_session::{CommandFile, CommandSource};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The folder of commands in a repository, relative to the root.
pub const REPOSITORY_COMMANDS: &str = ".rhumb/commands";

const MAX_FILE_BYTES: u64 = 64 * 1024;

const MAX_DEPTH: usize = 4;

/// Maximum number of files of one folder.
const MAX_FILES: usize = 500;

/// The commands of both folders, sorted by name; the user's takes precedence. Also returns problems, each with a hint.
pub fn command_files(user: Option<&Path>, root: &Path) -> (Vec<CommandFile>, Vec<(String, String)>) {
    let (mut commands, mut problems) = (Vec::new(), Vec::new());
    let repository = root.join(REPOSITORY_COMMANDS);
    let folders = [(user.map(Path::to_owned), CommandSource::User), (Some(repository), CommandSource::Repository)];
    for (folder, source) in folders {
        let Some(folder) = folder.filter(|folder| is_plain_folder(folder, root, source)) else { continue };
        for path in files(&folder) {
            let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            match read(&path).and_then(|text| command(&folder, &path, &shown, source, &text)) {
                Ok((command, notes)) => {
                    let known: Option<&CommandFile> =
                        commands.iter().find(|known: &&CommandFile| known.name == command.name);
                    if let Some(known) = known {
                        let what = format!("/{} of {shown} is hidden by {}.", command.name, known.path);
                        problems.push((what, "Rename one of the two.".to_owned()));
                        continue;
                    }
                    problems.extend(notes);
                    commands.push(command);
                }
                Err(problem) => {
                    problems.push((
                        format!("{shown} is not a command: {problem}."),
                        "Correct the file, or move it away.".into(),
                    ));
                }
            }
        }
    }
    commands.sort_by(|a, b| a.name.cmp(&b.name));
    (commands, problems)
}

/// Whether the folder can be used: that of a repository must not be a symbolic link.
fn is_plain_folder(folder: &Path, root: &Path, source: CommandSource) -> bool {
    match source {
        CommandSource::User => folder.is_dir(),
        CommandSource::Repository => {
            let inside = folder.canonicalize().ok().zip(root.canonicalize().ok());
            inside.is_some_and(|(folder, root)| folder.is_dir() && folder.starts_with(root))
        }
    }
}

/// The Markdown files below a folder, in order. Symbolic links are not followed, because those of a repository could lead
/// anywhere.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        for entry in entries.take(MAX_FILES) {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth < MAX_DEPTH {
                open.push((path, depth + 1));
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.truncate(MAX_FILES);
    found
}

fn read(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("it has more than {} KiB", MAX_FILE_BYTES / 1024));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

type ParsedCommand = (CommandFile, Vec<(String, String)>);

fn command(
    folder: &Path,
    path: &Path,
    shown: &str,
    source: CommandSource,
    text: &str,
) -> Result<ParsedCommand, String> {
    let name = name(folder, path)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let (fields, body) = front_matter(&text)?;
    let body = body.trim().to_owned();
    if body.is_empty() {
        return Err("it contains no message".into());
    }
    let first = body.lines().next().unwrap_or_default().trim_start_matches('#').trim().to_owned();
    let (path, arguments, mode, model) = (shown.to_owned(), String::new(), None, None);
    let mut command = CommandFile { name, source, path, description: first, arguments, mode, model, body };
    let mut notes = Vec::new();
    for (key, value) in fields {
        match key.as_str() {
            "description" => command.description = value,
            "arguments" | "argument-hint" => command.arguments = value,
            "mode" => command.mode = Some(value.parse().map_err(|error| format!("mode: {error}"))?),
            // Only the user chooses which model receives code.
            "model" if source == CommandSource::Repository => {
                let what = format!("{shown} names a model, which a repository's command may not.");
                notes.push((what, "The model that you chose is used.".to_owned()));
            }
            "model" => command.model = Some(value),
            other => {
                let what = format!("{shown}: {other} is not a known field.");
                notes.push((what, "The fields are description, arguments, mode and model.".to_owned()));
            }
        }
    }
    Ok((command, notes))
}

/// `git:commit` for `git/commit.md`.
fn name(folder: &Path, path: &Path) -> Result<String, String> {
    let below = path.strip_prefix(folder).unwrap_or(path).with_extension("");
    let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
    let is_word = |part: &str| part.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    match parts.filter(|parts| parts.iter().all(|part| is_word(part) && !part.is_empty())) {
        Some(parts) => Ok(parts.join(":")),
        None => Err("its name has other characters than letters, digits, - and _".into()),
    }
}

type Fields = Vec<(String, String)>;

/// The front matter between two `---` lines, and the rest.
fn front_matter(text: &str) -> Result<(Fields, &str), String> {
    let Some(rest) = text.strip_prefix("---\n") else { return Ok((Vec::new(), text)) };
    let mut fields = Vec::new();
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        at += line.len();
        let line = line.trim();
        match line.split_once(':') {
            _ if line == "---" => return Ok((fields, rest.get(at..).unwrap_or_default())),
            _ if line.is_empty() || line.starts_with('#') => {}
            Some((key, value)) => fields.push((key.trim().to_lowercase(), unquoted(value.trim()).to_owned())),
            None => return Err(format!("the line `{}` between the --- is not `name: value`", clipped(line))),
        }
    }
    Err("the --- at its beginning is not closed".into())
}

fn unquoted(value: &str) -> &str {
    let inside = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

/// The beginning of a line, for messages.
fn clipped(line: &str) -> String {
    line.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_session::context::Mode;

    fn put(folder: &Path, path: &str, text: &[u8]) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_file_is_a_command_named_by_its_path() {
        let root = tempfile::tempdir().unwrap();
        let text = b"---\ndescription: \"Say it short\"\nargument-hint: TOPIC\nmode: ask\n---\nWhat is $1?\n";
        put(root.path(), ".rhumb/commands/git/commit.md", b"# Commit\n\nWrite it.");
        put(root.path(), ".rhumb/commands/short.md", text);
        let (commands, problems) = command_files(None, root.path());
        assert!(problems.is_empty(), "{problems:?}");
        let names: Vec<&str> = commands.iter().map(|command| command.name.as_str()).collect();
        assert_eq!(names, ["git:commit", "short"]);
        assert_eq!(commands[0].description, "Commit");
        let short = &commands[1];
        assert_eq!((short.description.as_str(), short.arguments.as_str()), ("Say it short", "TOPIC"));
        assert_eq!((short.mode, short.body.as_str()), (Some(Mode::Ask), "What is $1?"));
    }

    #[test]
    fn bad_files_are_reported_and_do_not_affect_others() {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("latin.md", b"caf\xe9".to_vec()),
            ("huge.md", vec![b'x'; 70 * 1024]),
            ("open.md", b"---\ndescription: x\n".to_vec()),
            ("line.md", b"---\nno colon\n---\nx".to_vec()),
            ("mode.md", b"---\nmode: loud\n---\nx".to_vec()),
            ("empty.md", b"---\nmode: ask\n---\n".to_vec()),
            ("a b.md", b"x".to_vec()),
            ("good.md", b"x".to_vec()),
            ("notes.txt", b"x".to_vec()),
        ] {
            put(root.path(), &format!(".rhumb/commands/{name}"), &text);
        }
        let (commands, problems) = command_files(None, root.path());
        assert_eq!(commands.len(), 1, "{commands:?}");
        assert_eq!(problems.len(), 7, "{problems:#?}");
        assert!(problems.iter().all(|(what, hint)| what.contains(".md") && !hint.is_empty()), "{problems:#?}");
    }

    #[test]
    fn of_two_commands_with_one_name_that_of_the_user_is_used() {
        let (home, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(home.path(), "fix.md", b"mine");
        put(root.path(), ".rhumb/commands/fix.md", b"theirs");
        let (commands, problems) = command_files(Some(home.path()), root.path());
        assert_eq!((commands.len(), commands[0].body.as_str()), (1, "mine"));
        assert!(problems[0].0.contains("is hidden by"), "{problems:?}");
    }

    #[test]
    fn a_repositorys_command_chooses_no_model() {
        let (home, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(home.path(), "mine.md", b"---\nmodel: haiku\n---\nx");
        put(root.path(), ".rhumb/commands/theirs.md", b"---\nmodel: haiku\n---\nx");
        let (commands, problems) = command_files(Some(home.path()), root.path());
        let models: Vec<Option<&str>> = commands.iter().map(|command| command.model.as_deref()).collect();
        assert_eq!((models, problems.len()), (vec![Some("haiku"), None], 1));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_repository_is_not_followed() {
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(elsewhere.path(), "secret.md", b"a secret");
        put(root.path(), ".rhumb/commands/good.md", b"x");
        let link = root.path().join(".rhumb/commands/secret.md");
        std::os::unix::fs::symlink(elsewhere.path().join("secret.md"), link).unwrap();
        assert_eq!(command_files(None, root.path()).0.len(), 1);
        fs::remove_dir_all(root.path().join(".rhumb")).unwrap();
        fs::create_dir(root.path().join(".rhumb")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), root.path().join(REPOSITORY_COMMANDS)).unwrap();
        assert_eq!(command_files(None, root.path()).0.len(), 0);
    }
}
