//! Sources of addresses, models and keys, and the messages for invalid ones.

use super::*;

/// A home with a settings file and a key file that `mode` protects.
fn home(settings: &str, mode: u32) -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/rhumb");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), settings).unwrap();
    fs::write(folder.join("api-key"), format!("{KEY}\n")).unwrap();
    fs::set_permissions(folder.join("api-key"), fs::Permissions::from_mode(mode)).unwrap();
    home
}

#[test]
fn the_address_the_model_and_the_key_may_come_from_files() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&good())]);
    let settings = format!("base_url = \"{}\"\nmodel = \"from-file\"\nauto_commit = false\n", server.base_url());
    let home = home(&settings, 0o600);
    let mut command = rhumb(&repo.path(), &["edit", "-m", "Make it safe", "--yes"]);
    command.env("HOME", home.path()).env_remove("RHUMB_API_KEY");
    let (code, _, err) = run(command);
    assert_eq!(code, 0, "{err}");
    let request = &server.requests()[0];
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(request.body["model"], "from-file");
    assert_eq!(repo.subjects(), ["Start the harbour"], "a commit in spite of auto_commit = false");
}

#[test]
fn the_key_of_openai_goes_only_where_it_belongs() {
    let repo = harbour_repo();
    let server = ModelServer::start((0..4).map(|_| Step::reply("Nothing.\n")).collect());
    let url = server.base_url();
    let settings = format!("base_url = \"{url}\"\n");
    let home = home(&settings, 0o600);
    fs::remove_file(home.path().join(".config/rhumb/api-key")).unwrap();
    for (flags, vars, is_sent) in [
        (&["--base-url", &url][..], &[][..], false),
        (&[], &[("RHUMB_BASE_URL", &url)], false),
        (&[], &[("HOME", &home.path().to_str().unwrap().to_owned())], false),
        (&[], &[("OPENAI_BASE_URL", &url)], true),
    ] {
        let mut command = rhumb(&repo.path(), &["edit", "-m", "x", "--model", MODEL]);
        command.args(flags).envs(vars.iter().copied()).env_remove("RHUMB_API_KEY").env("OPENAI_API_KEY", KEY);
        let (code, _, err) = run(command);
        assert_eq!(code, 1, "{err}");
        let requests = server.requests();
        let sent = requests.last().unwrap().headers.get("authorization").map(String::as_str);
        assert_eq!(sent, is_sent.then_some(&*format!("Bearer {KEY}")), "{flags:?} {vars:?}");
        assert_eq!(err.contains("RHUMB_API_KEY"), !is_sent, "{flags:?} {vars:?}: {err}");
    }
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn the_app_tells_of_a_withheld_key_and_takes_names_from_the_current_folder() {
    let repo = harbour_repo();
    let args = ["--base-url", "http://127.0.0.1:9/v1", "--model", MODEL, "--file", "../notes.md"];
    let (bin, charts) = (Path::new(env!("CARGO_BIN_EXE_rhumb")), repo.path().join("charts"));
    let mut pty = Pty::spawn(bin, &args, &charts, &[("OPENAI_API_KEY", KEY)], 160, 48);
    pty.wait_for("No key is sent");
    pty.wait_for("✎ notes.md");
    pty.key("Ctrl-q");
    assert!(pty.wait_exit().success());
    assert!(!String::from_utf8_lossy(&pty.raw()).contains(KEY));
}

#[test]
fn the_demo_does_not_depend_on_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    for settings in ["modle = \"x\"\n", "theme = \"no-such\"\n"] {
        let home = home(settings, 0o644);
        let mut command = rhumb(folder.path(), &["demo"]);
        command.env("HOME", home.path()).env("RHUMB_MAP_TOKENS", "lots").env("RHUMB_THEME", "none");
        command.env_remove("RHUMB_API_KEY");
        let (code, _, err) = run(command);
        // The command fails only because there is no terminal.
        assert!(code == 3 && err.contains("rhumb map"), "{code} {err}");
    }
    for args in [["--theme", "no-such", "demo"], ["demo", "--theme", "no-such"]] {
        let (code, _, err) = run(rhumb(folder.path(), &args));
        assert!(code == 2 && err.contains("rhumb-16"), "{args:?}: {code} {err}");
    }
}

#[test]
fn invalid_settings_are_reported_before_anything_is_sent() {
    let repo = harbour_repo();
    let server = ModelServer::start(Vec::new());
    let url = server.base_url();
    for (settings, mode, told) in [
        ("modle = \"x\"\n", 0o600, "modle"),
        ("model = \"x\n", 0o600, "config.toml"),
        ("edit_format = \"telepathy\"\n", 0o600, "telepathy"),
        ("", 0o644, "chmod 600"),
    ] {
        let home = home(settings, mode);
        let mut command = rhumb(&repo.path(), &["edit", "-m", "x", "--base-url", &url, "--model", MODEL]);
        command.env("HOME", home.path()).env_remove("RHUMB_API_KEY");
        let (code, out, err) = run(command);
        assert!(code == 2 && out.is_empty() && err.contains(told), "{settings:?}: {code} {out} {err}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_redirect_does_not_take_the_key_elsewhere() {
    let repo = harbour_repo();
    let elsewhere = ModelServer::start(vec![Step::reply(&good())]);
    let away = Step::Status {
        code: 307,
        body: String::new(),
        headers: vec![("location".into(), format!("{}/chat/completions", elsewhere.base_url()))],
    };
    let server = ModelServer::start(vec![away]);
    let (code, _, err) = edit(&repo, &server, &["--yes"]);
    assert_eq!(code, 4, "{err}");
    assert!(elsewhere.requests().is_empty());
    untouched(&repo);
}

#[test]
fn a_closed_pipe_ends_the_printing_and_not_in_a_panic() {
    use std::process::Stdio;
    let repo = harbour_repo();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_rhumb"))
        .arg("map")
        .current_dir(repo.path())
        .env("HOME", "/nonexistent")
        .env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{:?} {said}", output.status);
}
