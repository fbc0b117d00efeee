//! Commits that the git program makes: signed ones, and those with hooks.

use super::*;

/// A hook or another program of a test.
fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Whether the git program is there; a test without it says so and proves nothing.
fn has_git() -> bool {
    let found = std::process::Command::new("git").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: there is no git program");
    }
    found
}

fn commit(fixture: &Fixture, paths: &[&str], hooks: bool) -> Result<Commit, GitError> {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    let repo = fixture.repo();
    repo.commit(repo.take(&paths, None)?, &Manner { hooks, ..Manner::plain("Change things") })
}

fn tip_message(fixture: &Fixture) -> String {
    fixture.git.head().unwrap().peel_to_commit().unwrap().message().unwrap().to_owned()
}

#[test]
fn hooks_see_what_is_committed_and_nothing_else_of_the_users() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::with(&[("a", "1"), ("b", "1"), ("c", "1")]);
    let hooks = fixture.git.path().join("hooks");
    let seen = fixture.dir.path().join(".git/seen");
    script(&hooks.join("pre-commit"), &format!("git diff --cached --name-only > {}", seen.display()));
    script(&hooks.join("commit-msg"), "echo 'Checked: yes' >> \"$1\"");
    fixture.put("a", "2");
    fixture.put("b", "staged");
    fixture.stage("b");
    fixture.put("c", "edited");
    commit(&fixture, &["a"], true).unwrap();
    assert_eq!(fs::read_to_string(seen).unwrap(), "a\n");
    assert_eq!(tip_message(&fixture), "Change things\nChecked: yes\n");
    assert_eq!(fixture.committed("a").as_deref(), Some("2"));
    assert_eq!(fixture.committed("b").as_deref(), Some("1"));
    assert_eq!(fixture.staged("b").as_deref(), Some("staged"));
    let status = git_says(fixture.dir.path(), &["status", "--porcelain"]).unwrap();
    assert_eq!(status, "M  b\n M c\n");
}

#[test]
fn a_hook_that_formats_what_is_committed_is_followed() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::with(&[("a", "1")]);
    script(&fixture.git.path().join("hooks/pre-commit"), "echo formatted > a; git add a");
    fixture.put("a", "2");
    commit(&fixture, &["a"], true).unwrap();
    assert_eq!(fixture.committed("a").as_deref(), Some("formatted\n"));
    assert_eq!(git_says(fixture.dir.path(), &["status", "--porcelain"]).unwrap(), "");
}

#[test]
fn a_hook_that_objects_is_quoted_and_nothing_is_committed() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::with(&[("a", "1")]);
    let tip = fixture.tip();
    script(&fixture.git.path().join("hooks/pre-commit"), "echo 'line 3 is too long' >&2; exit 1");
    fixture.put("a", "2");
    let error = commit(&fixture, &["a"], true).unwrap_err();
    assert!(error.to_string().contains("line 3 is too long"), "{error}");
    assert_eq!(fixture.tip(), tip);
    assert_eq!(fs::read_to_string(fixture.dir.path().join("a")).unwrap(), "2");
    assert_eq!(git_says(fixture.dir.path(), &["status", "--porcelain"]).unwrap(), " M a\n");
    commit(&fixture, &["a"], false).unwrap();
}

#[test]
fn a_hook_that_never_ends_is_ended() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::with(&[("a", "1")]);
    script(&fixture.git.path().join("hooks/pre-commit"), "sleep 600");
    fixture.put("a", "2");
    let repo = fixture.repo();
    let manner = Manner { hooks: true, patience: Duration::from_millis(300), ..Manner::plain("Wait") };
    let error = repo.commit(repo.take(&["a".into()], None).unwrap(), &manner).unwrap_err();
    assert!(matches!(error, GitError::Slow { .. }), "{error}");
}

#[test]
fn the_first_commit_and_a_detached_head_are_signed_and_hooked_too() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::unborn();
    fixture.put("a", "1");
    commit(&fixture, &["a"], true).unwrap();
    fixture.git.set_head_detached(fixture.tip().unwrap()).unwrap();
    fixture.put("a", "2");
    let made = commit(&fixture, &["a"], true).unwrap();
    assert_eq!(fixture.repo().head().unwrap(), Head::Detached { short_id: made.short_id });
}

/// A repository whose own settings want signed commits, and name `program` for it.
fn signing(program: &Path) -> Fixture {
    let fixture = Fixture::with(&[("a", "1")]);
    let mut config = fixture.git.config().unwrap();
    config.set_bool("commit.gpgsign", true).unwrap();
    for key in ["gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand"] {
        config.set_str(key, program.to_str().unwrap()).unwrap();
    }
    fixture.put("a", "2");
    fixture
}

#[test]
fn a_signing_program_that_the_repository_names_does_not_run() {
    if !has_git() {
        return;
    }
    for format in ["openpgp", "ssh"] {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("evil");
        script(&program, &format!("touch {}/canary", place.path().display()));
        let fixture = signing(&program);
        fixture.git.config().unwrap().set_str("gpg.format", format).unwrap();
        fixture.git.config().unwrap().set_str("core.fsmonitor", program.to_str().unwrap()).unwrap();
        // Without a key of this name the signature fails, whatever the machine has.
        fixture.git.config().unwrap().set_str("user.signingkey", "0000DEAD0000BEEF!").unwrap();
        for hooks in [false, true] {
            let error = commit(&fixture, &["a"], hooks).unwrap_err();
            assert!(matches!(error, GitError::Program { .. }), "{error}");
            assert!(error.hint().contains("are written"), "{}", error.hint());
        }
        assert!(!place.path().join("canary").exists(), "{format}");
        assert_eq!(fs::read_to_string(fixture.dir.path().join("a")).unwrap(), "2");
        assert_eq!(fixture.committed("a").as_deref(), Some("1"));
    }
}

#[test]
fn a_commit_is_signed_where_settings_say_so() {
    let place = tempfile::tempdir().unwrap();
    let key = place.path().join("key");
    let made = std::process::Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", key.to_str().unwrap()])
        .output();
    if !has_git() || !made.is_ok_and(|made| made.status.success()) {
        eprintln!("skipped: there is no ssh-keygen");
        return;
    }
    let fixture = Fixture::with(&[("a", "1")]);
    let mut config = fixture.git.config().unwrap();
    config.set_bool("commit.gpgsign", true).unwrap();
    config.set_str("gpg.format", "ssh").unwrap();
    config.set_str("user.signingkey", key.to_str().unwrap()).unwrap();
    script(&fixture.git.path().join("hooks/pre-commit"), "exit 1");
    fixture.put("a", "2");
    fixture.put("other", "mine");
    let parent = fixture.tip();
    commit(&fixture, &["a"], false).unwrap();
    let tip = fixture.git.head().unwrap().peel_to_commit().unwrap();
    let signature = tip.header_field_bytes("gpgsig").unwrap();
    assert!(signature.starts_with(b"-----BEGIN SSH SIGNATURE-----"));
    assert_eq!(tip.parent_id(0).ok(), parent);
    assert_eq!(tip.author().name().unwrap(), "Ada");
    assert_eq!(tip_message(&fixture), "Change things\n");
    assert_eq!(git_says(fixture.dir.path(), &["status", "--porcelain"]).unwrap(), "?? other\n");
    script(&fixture.git.path().join("hooks/pre-commit"), "exit 0");
    fixture.put("a", "3");
    commit(&fixture, &["a"], true).unwrap();
    assert!(fixture.git.head().unwrap().peel_to_commit().unwrap().header_field_bytes("gpgsig").is_ok());
}

/// How many commits: `RHUMB_SWEEP=all` makes a thousand.
fn rounds() -> usize {
    if std::env::var("RHUMB_SWEEP").is_ok_and(|sweep| sweep == "all") { 1000 } else { 40 }
}

#[test]
fn beside_other_git_processes_a_commit_moves_branch_and_index_or_neither() {
    if !has_git() {
        return;
    }
    let fixture = Fixture::with(&[("a", "0"), ("b", "0"), ("c", "0")]);
    let (stop, folder) = (std::sync::atomic::AtomicBool::new(false), fixture.dir.path());
    let git = |args: &[&str]| {
        // It may find the lock taken.
        drop(std::process::Command::new("git").args(args).current_dir(folder).output());
    };
    let running = || !stop.load(std::sync::atomic::Ordering::SeqCst);
    let adds = |path: &str| {
        let mut round = 0;
        while running() {
            round += 1;
            fs::write(folder.join(path), format!("theirs {round}")).unwrap();
            git(&["add", path]);
        }
    };
    let (mut made, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| adds("b"));
        scope.spawn(|| adds("c"));
        scope.spawn(|| {
            while running() {
                git(&["status"]);
            }
        });
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for round in 1..=rounds() {
                fixture.put("a", &round.to_string());
                let mut repo = fixture.repo();
                repo.lock_patience = Duration::from_secs(2);
                let tip = fixture.tip();
                match repo.commit_paths(&["a".into()], "Ours") {
                    Ok(commit) => {
                        assert_eq!((commit.index_failed, fixture.tip() == tip), (None, false));
                        made += 1;
                    }
                    Err(GitError::Locked { .. }) => {
                        assert_eq!(fixture.tip(), tip);
                        refused += 1;
                    }
                    Err(error) => panic!("{error}"),
                }
                assert_eq!(fixture.staged("a"), fixture.committed("a"), "the reverse of commit {round} is staged");
            }
        }));
        stop.store(true, std::sync::atomic::Ordering::SeqCst);
        outcome.unwrap();
    });
    eprintln!("{made} commits beside git add and git status, none inconsistent; {refused} refused");
    assert!(made > 0);
}
