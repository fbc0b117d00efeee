//! Pipes, devices and sockets where git has its files.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

use super::*;

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if path.symlink_metadata().is_ok() {
        fs::remove_file(path).unwrap();
    }
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Does all that is done with a repository, on a thread that may hang; what went wrong first.
fn used(folder: PathBuf) -> Result<(), String> {
    let (send, receive) = mpsc::channel();
    let use_it = move || -> Result<(), GitError> {
        let _ = (common_folder(&folder), Revisions::open(&folder));
        let repo = Repo::open(&folder)?.unwrap();
        repo.head()?;
        repo.history(&Default::default(), &AtomicBool::new(false))?;
        let paths = vec!["a".to_owned()];
        fs::write(folder.join("a"), "2").unwrap();
        // Each of them would hang by itself.
        let compared =
            [repo.own_changes(&paths).map(drop), repo.dirty_paths().map(drop), repo.uncommitted(&|_| true).map(drop)];
        let also = [repo.untracked().map(drop), repo.changed_tracked().map(drop)];
        compared.into_iter().chain(also).collect::<Result<(), _>>()?;
        repo.commit_paths(&paths, "Change a").map(drop)
    };
    std::thread::spawn(move || send.send(use_it().map_err(|error| error.to_string())));
    receive.recv_timeout(Duration::from_secs(20)).expect("git is still busy")
}

fn own(fixture: &Fixture, path: &str) -> PathBuf {
    fixture.dir.path().join(".git").join(path)
}

fn loose(fixture: &Fixture, what: &str) -> PathBuf {
    let id = fixture.git.revparse_single(what).unwrap().id().to_string();
    own(fixture, &format!("objects/{}/{}", &id[..2], &id[2..]))
}

#[test]
fn a_pipe_in_the_place_of_a_file_of_gits_is_named_and_never_opened() {
    const PLACES: [&str; 20] = [
        "HEAD",
        "config",
        "config.worktree",
        "index",
        "shallow",
        "gitdir",
        "commondir",
        "packed-refs",
        "info/grafts",
        "info/attributes",
        "info/exclude",
        "refs/heads/main",
        "logs/HEAD",
        "logs/refs/heads/main",
        "objects/info/alternates",
        "objects/info/commit-graph",
        "objects/pack/multi-pack-index",
        "objects/pack/pack-1.idx",
        "object HEAD",
        "object HEAD:a",
    ];
    for place in PLACES {
        let fixture = Fixture::with(&[("a", "1"), ("b/c", "1")]);
        let object = place.strip_prefix("object ");
        let path = object.map_or_else(|| own(&fixture, place), |what| loose(&fixture, what));
        pipe(&path);
        let said = used(fixture.dir.path().join("b")).unwrap_err();
        assert_eq!(said, format!("git's {} is a named pipe, so the repository was not opened", path.display()));
        // A link to one is none the better.
        fs::rename(&path, fixture.dir.path().join("pipe")).unwrap();
        symlink(fixture.dir.path().join("pipe"), &path).unwrap();
        let said = used(fixture.dir.path().to_owned()).unwrap_err();
        assert!(said.contains(&*path.to_string_lossy()) && said.contains("is a named pipe"), "{said}");
    }
}

#[test]
fn a_pipe_is_found_where_settings_links_and_other_stores_lead_to_it() {
    let refused = |fixture: &Fixture| {
        let said = used(fixture.dir.path().to_owned()).unwrap_err();
        assert!(said.contains("/pipe is a named pipe"), "{said}");
    };
    for settings in [
        "[include]\n\tpath = ../pipe\n",
        "[Include] PATH=\"../pipe\" ; why\n",
        "[includeIf \"gitdir:/nowhere\"]\n  path = ../pipe # why\n",
        "[core]\n\tpath = ../b\n[include]\n\tpath = more\n",
    ] {
        let fixture = Fixture::with(&[("a", "1")]);
        pipe(&fixture.dir.path().join("pipe"));
        fs::write(own(&fixture, "more"), "[include]\npath = ../pipe\n").unwrap();
        fs::write(own(&fixture, "config"), settings).unwrap();
        refused(&fixture);
    }
    let (fixture, other) = (Fixture::with(&[("a", "1")]), Fixture::with(&[("a", "1")]));
    pipe(&own(&other, "objects/pack/pipe"));
    let stores = format!("# why\n{}\n", own(&other, "objects").display());
    fs::write(own(&fixture, "objects/info/alternates"), stores).unwrap();
    refused(&fixture);
    // Circles end.
    fs::remove_file(own(&other, "objects/pack/pipe")).unwrap();
    fs::write(own(&other, "objects/info/alternates"), "../objects\n").unwrap();
    symlink("../..", own(&fixture, "info/up")).unwrap();
    assert_eq!(used(fixture.dir.path().to_owned()), Ok(()));
}

#[test]
fn a_linked_work_tree_is_looked_at_with_the_folder_that_it_shares() {
    for path in [
        ".git/worktrees/linked/gitdir",
        ".git/worktrees/linked/commondir",
        ".git/worktrees/linked/index",
        ".git/config",
    ] {
        let fixture = Fixture::with(&[("a", "1")]);
        let other = tempfile::tempdir().unwrap();
        let place = other.path().join("linked");
        fixture.git.worktree("linked", &place, None).unwrap();
        pipe(&fixture.dir.path().join(path));
        let said = used(place).unwrap_err();
        assert!(said.contains(path.trim_start_matches(".git/")) && said.contains("named pipe"), "{said}");
    }
}

#[test]
fn devices_are_refused_and_sockets_and_the_null_device_are_not() {
    let fixture = Fixture::with(&[("a", "1")]);
    let _monitor = std::os::unix::net::UnixListener::bind(own(&fixture, "fsmonitor--daemon.ipc")).unwrap();
    symlink("/dev/null", own(&fixture, "info/attributes")).unwrap();
    symlink("nowhere", own(&fixture, "dangling")).unwrap();
    pipe(&own(&fixture, "lfs/tmp/pipe"));
    assert_eq!(used(fixture.dir.path().to_owned()), Ok(()));
    symlink("/dev/zero", own(&fixture, "shallow")).unwrap();
    let said = used(fixture.dir.path().to_owned()).unwrap_err();
    assert!(said.ends_with("shallow is a device, so the repository was not opened"), "{said}");
}

#[test]
fn a_pipe_in_the_place_of_rules_is_named_before_the_work_tree_is_compared() {
    for path in [".gitattributes", ".gitignore", "b/.gitignore", "b/.gitattributes"] {
        let fixture = Fixture::with(&[("a", "1"), ("b/c", "1")]);
        pipe(&fixture.dir.path().join(path));
        let said = used(fixture.dir.path().to_owned()).unwrap_err();
        assert!(said.contains(&format!("/{path} is a named pipe")), "{said}");
    }
    for setting in ["core.attributesfile", "core.excludesfile"] {
        let fixture = Fixture::with(&[("a", "1")]);
        let path = fixture.dir.path().join("pipe");
        pipe(&path);
        fixture.git.config().unwrap().set_str(setting, &path.to_string_lossy()).unwrap();
        assert!(used(fixture.dir.path().to_owned()).unwrap_err().contains("/pipe is a named pipe"));
    }
}

#[test]
fn pipes_that_git_does_not_read_hold_nothing_up() {
    let fixture = Fixture::with(&[("a", "1"), (".gitignore", "build/\n")]);
    for path in [".gitmodules", "n/.git", "HEAD", "build/.gitignore", "pipe"] {
        pipe(&fixture.dir.path().join(path));
    }
    drop(Repository::init(fixture.dir.path().join("m")).unwrap());
    pipe(&fixture.dir.path().join("m/.git/config"));
    assert_eq!(used(fixture.dir.path().to_owned()), Ok(()));
}
