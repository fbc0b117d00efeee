use super::*;
use std::os::unix::fs::PermissionsExt as _;

const CANARY: &str = "sk-canary-0123456789";

/// A configuration folder with files of this `mode`.
struct Home {
    folder: tempfile::TempDir,
    paths: Paths,
}

fn home(files: &[(&str, &str)], mode: u32) -> Home {
    let folder = tempfile::tempdir().unwrap();
    let at = || folder.path().to_owned();
    let paths = Paths { home: at(), config: at(), cache: at(), state: at() };
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    Home { folder, paths }
}

fn keys(vars: &[(&str, &str)], paths: Option<&Paths>) -> Keys {
    let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    Keys::new(&env, paths, None, [].into_iter())
}

/// The key that may be sent to an address.
#[derive(Clone, Copy, Default)]
struct Bound<'a> {
    own: bool,
    variables: &'a [&'a str],
    command: Option<&'a str>,
}

const NOTHING: Bound<'static> = Bound { own: false, variables: &[], command: None };
const OWN_ADDRESS: Bound<'static> = Bound { own: true, ..NOTHING };

fn find(keys: &Keys, url: &str, bound: Bound<'_>) -> Result<Option<String>, ConfigError> {
    let url = Url::parse(url).unwrap();
    let Bound { own: is_own, variables, command } = bound;
    let lookup = KeyLookup { url: &url, is_own, variables: variables.to_vec(), command };
    Ok(keys.find(&lookup)?.map(|(key, _)| key.expose_secret().to_owned()))
}

#[test]
fn a_private_file_gives_the_key_of_the_configured_address() {
    let home = home(&[("api-key", "from-file\n")], 0o600);
    let keys = keys(&[], Some(&home.paths));
    assert_eq!(find(&keys, "https://a.example", OWN_ADDRESS).unwrap().as_deref(), Some("from-file"));
    assert_eq!(find(&keys, "https://a.example", NOTHING).unwrap(), None);
    assert!(home.folder.path().exists());
}

#[test]
fn files_that_others_can_read_are_refused() {
    for name in ["api-key", "credentials.toml"] {
        let home = home(&[(name, "\"a.example\" = \"k\"\n")], 0o640);
        let found = find(&keys(&[], Some(&home.paths)), "https://a.example", OWN_ADDRESS);
        assert!(matches!(found, Err(ConfigError::KeyExposed(_))), "{name}: {found:?}");
    }
}

#[test]
fn the_own_variable_goes_to_the_configured_address_and_others_to_theirs() {
    let keys = keys(&[("RHUMB_API_KEY", CANARY), ("OPENAI_API_KEY", "o"), ("XAI_API_KEY", " ")], None);
    assert_eq!(find(&keys, "http://h:1/v1", OWN_ADDRESS).unwrap().as_deref(), Some(CANARY));
    let theirs = Bound { variables: &["XAI_API_KEY", "OPENAI_API_KEY"], ..NOTHING };
    assert_eq!(find(&keys, "https://a.example", theirs).unwrap().as_deref(), Some("o"));
    assert_eq!(find(&keys, "https://a.example", NOTHING).unwrap(), None);
    assert!(!format!("{keys:?}").contains(CANARY));
}

#[test]
fn a_credential_goes_to_its_host_only() {
    let text = "\"b.example\" = \"bee\"\n[\"a.example\"]\nkey = \"ay\"\n";
    let home = home(&[("credentials.toml", text)], 0o600);
    let keys = keys(&[], Some(&home.paths));
    for (url, key) in [
        ("https://a.example/v1", Some("ay")),
        ("https://b.example", Some("bee")),
        ("http://a.example/v1", None),
        ("https://c.example", None),
    ] {
        assert_eq!(find(&keys, url, OWN_ADDRESS).unwrap().as_deref(), key, "{url}");
    }
}

#[test]
fn a_broken_credentials_file_is_told_by_line_and_never_quoted() {
    for text in [
        format!("\n[\"a.example\"]\nkey = {CANARY}\n"),
        format!("\n\n\"a.example\" = [\"{CANARY}\"]\n"),
        format!("\n\n\"a.example\" = \"{CANARY}\n"),
        format!("\n\n[\"a.example\"]\nkee = \"{CANARY}\"\n"),
        format!("\n\na = {{ key = \"{CANARY}\", key = \"{CANARY}\" }}\n"),
    ] {
        let home = home(&[("credentials.toml", &text)], 0o600);
        let error = find(&keys(&[], Some(&home.paths)), "https://a.example", OWN_ADDRESS).unwrap_err();
        let told = format!("{error} {error:?} {}", error.hint());
        assert!(told.contains("line 3") && !told.contains(CANARY), "{told}");
    }
}

#[test]
fn a_command_prints_a_key_and_is_run_once() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let line = format!("sh -c 'echo x >> {}; echo \" {CANARY} \"; echo user: me'", count.display());
    let keys = keys(&[], None);
    for _ in 0..2 {
        let found = find(&keys, "https://a.example", Bound { command: Some(&line), ..NOTHING });
        assert_eq!(found.unwrap().as_deref(), Some(CANARY));
    }
    assert_eq!(std::fs::read_to_string(count).unwrap(), "x\n");
    assert!(!format!("{keys:?}").contains(CANARY));
}

#[test]
fn an_agent_that_a_command_leaves_behind_is_not_waited_for() {
    let start = std::time::Instant::now();
    let key = command::key_printed_by("sh -c 'echo sk-1; sleep 20 &'", std::time::Duration::from_secs(10)).unwrap();
    assert_eq!(key.expose_secret(), "sk-1");
    assert!(start.elapsed() < std::time::Duration::from_secs(5));
    let endless = command::key_printed_by("yes", std::time::Duration::from_millis(300)).unwrap_err();
    assert!(endless.to_string().contains("took longer"), "{endless}");
}

#[test]
fn a_pipe_is_no_file_with_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("api-key");
    assert!(std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&path).status().unwrap().success());
    assert!(matches!(super::secret_file(&path), Err(ConfigError::Unreadable { .. })));
}

#[test]
fn a_command_that_fails_shows_its_complaint_and_not_its_output() {
    let failing = |line: &str| command::key_printed_by(line, std::time::Duration::from_millis(300)).unwrap_err();
    let told = |line: &str| format!("{0} {0:?}", failing(line));
    let error = told("sh -c 'echo dbobsz | tr b-z a-y; printf \"locked\\033[31m\" >&2; exit 3'");
    assert!(error.contains("locked") && error.contains("status: 3"), "{error}");
    assert!(!error.contains("canary") && !error.contains('\x1b'), "{error}");
    assert!(told("sleep 5").contains("longer than 0.3 s"));
    assert!(told("true").contains("printed no key"));
    assert!(told("printf 'a\\tb'").contains("printed no key"));
    assert!(told("no-such-program-anywhere").contains("cannot start"));
    assert!(told("sh -c 'open").contains("quote"));
    assert!(told(" ").contains("empty"));
}

/// A keyring for tests.
#[derive(Debug)]
struct Mock;

impl Keyring for Mock {
    fn key(&self, host: &str) -> Result<Option<SecretString>, ConfigError> {
        Ok((host == "a.example").then(|| SecretString::from("ring")))
    }

    fn store(&self, _: &str, _: &SecretString) -> Result<bool, ConfigError> {
        Ok(false)
    }
}

#[test]
fn the_keyring_has_an_entry_for_a_host_and_is_asked_after_the_files() {
    let keys = Keys { keyring: Some(Arc::new(Mock)), ..keys(&[], None) };
    assert_eq!(find(&keys, "https://a.example/v1", OWN_ADDRESS).unwrap().as_deref(), Some("ring"));
    assert_eq!(find(&keys, "https://b.example/v1", OWN_ADDRESS).unwrap(), None);
    assert_eq!(find(&keys, "http://a.example/v1", OWN_ADDRESS).unwrap(), None, "in clear");
    let home = home(&[("credentials.toml", "\"a.example\" = \"file\"\n")], 0o600);
    let keys = Keys { credentials: Some(home.paths.credentials_file()), ..keys };
    assert_eq!(find(&keys, "https://a.example/v1", OWN_ADDRESS).unwrap().as_deref(), Some("file"));
}

fn stored(home: &Home, url: &str, key: &str) -> Result<KeySource, ConfigError> {
    keys(&[], Some(&home.paths)).store(&Url::parse(url).unwrap(), &SecretString::from(key))
}

#[test]
fn a_key_is_stored_for_its_host_and_nothing_else_of_the_file_changes() {
    let text = "# mine\n\"b.example\" = \"bee\" # old\n\n[\"a.example\"]\nkey = 'ay' # the first\n";
    let home = home(&[("credentials.toml", text)], 0o600);
    stored(&home, "https://a.example/v1", CANARY).unwrap();
    stored(&home, "https://b.example/v1", "new\"bee").unwrap();
    let source = stored(&home, "https://c.example:8443/v1", "sea").unwrap();
    assert!(matches!(source, KeySource::Credentials { host, .. } if host == "c.example:8443"));
    let now = std::fs::read_to_string(home.paths.credentials_file()).unwrap();
    let expected = format!(
        "# mine\n\"b.example\" = 'new\"bee' # old\n\n[\"a.example\"]\nkey = \"{CANARY}\" # the first\n\n[\"c.example:8443\"]\nkey = \"sea\"\n"
    );
    assert_eq!(now, expected);
    let keys = keys(&[], Some(&home.paths));
    for (url, key) in
        [("https://a.example", CANARY), ("https://b.example", "new\"bee"), ("https://c.example:8443", "sea")]
    {
        assert_eq!(find(&keys, url, NOTHING).unwrap().as_deref(), Some(key), "{url}");
    }
}

#[test]
fn a_new_file_with_keys_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = || folder.path().join("config/rhumb");
    let paths = Paths { home: at(), config: at(), cache: at(), state: at() };
    let home = Home { folder, paths };
    stored(&home, "https://a.example/v1", CANARY).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&home.paths.credentials_file()), mode(&home.paths.config)), (0o600, 0o700));
    std::fs::set_permissions(&home.paths.config, std::fs::Permissions::from_mode(0o777)).unwrap();
    stored(&home, "https://a.example/v1", "other").unwrap();
    assert_eq!(mode(&home.paths.config), 0o700, "nobody else may replace the file");
    assert_eq!(std::fs::read_dir(&home.paths.config).unwrap().count(), 1, "no draft is left");
}

#[test]
fn a_key_is_stored_through_no_link_and_in_no_file_that_is_damaged_or_exposed() {
    let refused = |home: &Home, why: &str| {
        let error = stored(home, "https://a.example/v1", CANARY).unwrap_err();
        let told = format!("{error} {error:?} {}", error.hint());
        assert!(told.contains(why) && !told.contains(CANARY), "{told}");
    };
    let linked = home(&[("real.toml", "")], 0o600);
    std::os::unix::fs::symlink("real.toml", linked.paths.credentials_file()).unwrap();
    refused(&linked, "symbolic link");
    assert_eq!(std::fs::read_to_string(linked.paths.config.join("real.toml")).unwrap(), "");
    refused(&home(&[("credentials.toml", "")], 0o640), "can be read by others");
    refused(&home(&[("credentials.toml", "\n= broken\n")], 0o600), "line 2");
    for text in ["", "two words", "a\u{1b}[31mb", &"x".repeat(5000)] {
        let error = stored(&home(&[], 0o600), "https://a.example/v1", text).unwrap_err();
        assert!(matches!(error, ConfigError::KeyNotStored(_)), "{error}");
    }
}

/// A keyring that can be written.
#[derive(Debug, Default)]
struct Ring(std::sync::Mutex<Vec<String>>);

impl Keyring for Ring {
    fn key(&self, _: &str) -> Result<Option<SecretString>, ConfigError> {
        Ok(None)
    }

    fn store(&self, host: &str, _: &SecretString) -> Result<bool, ConfigError> {
        self.0.lock().unwrap().push(host.to_owned());
        Ok(true)
    }
}

#[test]
fn a_keyring_is_preferred_unless_the_file_has_a_key_that_would_hide_it() {
    let home = home(&[("credentials.toml", "\"a.example\" = \"old\"\n")], 0o600);
    let ring = Arc::new(Ring::default());
    let keys = Keys { keyring: Some(ring.clone()), ..keys(&[], Some(&home.paths)) };
    let store = |url: &str| keys.store(&Url::parse(url).unwrap(), &SecretString::from("new")).unwrap();
    assert!(matches!(store("https://a.example"), KeySource::Credentials { .. }));
    assert_eq!(store("https://b.example"), KeySource::Keyring("b.example".into()));
    assert!(matches!(store("http://10.0.0.7:1"), KeySource::Credentials { .. }), "in clear");
    assert_eq!(*ring.0.lock().unwrap(), ["b.example"]);
}
