//! `rhumb --version`, and how the build determines the commit.

use super::*;

#[allow(dead_code)] // its `main` is for cargo
#[path = "../../build.rs"]
mod build;

#[test]
fn the_version_is_one_line_and_the_command_tells_the_rest() {
    let short = run(rhumb(Path::new("/"), &["-V"])).1;
    assert_eq!(run(rhumb(Path::new("/"), &["--version"])), (0, short.clone(), String::new()));
    let version = format!("rhumb {}", env!("CARGO_PKG_VERSION"));
    assert!(short.starts_with(&version) && short.lines().count() == 1, "{short}");
    let (code, long, err) = run(rhumb(Path::new("/"), &["version"]));
    assert!(code == 0 && err.is_empty() && long.starts_with(&version), "{long} {err}");
    for line in ["commit:", "date:", "compiler: rustc ", "target:", "profile:", "features:"] {
        assert!(long.lines().any(|said| said.starts_with(line)), "{line} in {long}");
    }
}

#[test]
fn the_version_as_json_has_what_is_known_and_null_for_the_rest() {
    let (code, out, err) = run(rhumb(Path::new("/"), &["version", "--json"]));
    let value = json(&out);
    assert_eq!(code, 0, "{err}");
    assert_eq!(keys(&value), ["version", "commit", "date", "compiler", "target", "profile", "features"]);
    assert_eq!(value["version"], env!("CARGO_PKG_VERSION"));
    assert!(value["commit"].is_null() || value["commit"].is_string(), "{value}");
    let has = |name: &str| value["features"].as_array().unwrap().iter().any(|feature| feature == name);
    assert_eq!(has("lang-more"), cfg!(feature = "lang-more"), "{value}");
    assert_eq!(has("keyring"), cfg!(feature = "keyring"), "{value}");
}

fn watched(repo: &Path) -> Vec<String> {
    let watched = build::head(repo).unwrap().watched;
    assert!(
        watched.iter().all(|path| path.exists()),
        "cargo builds anew for ever over one that is not there: {watched:?}"
    );
    let name = |path: &std::path::PathBuf| path.strip_prefix(repo.join(".git")).unwrap().display().to_string();
    watched.iter().map(name).collect()
}

#[test]
fn the_commit_of_a_build_is_the_one_that_is_checked_out() {
    let repo = harbour_repo();
    let is_told =
        |folder: &Path| build::head(folder).unwrap().commit.unwrap() == repo.git(&["rev-parse", "HEAD"]).trim();
    assert!(is_told(&repo.path()));
    let branch = repo.git(&["symbolic-ref", "HEAD"]).trim().to_owned();
    assert_eq!(watched(&repo.path()), ["HEAD", &branch]);
    // A branch among packed refs, until the next commit.
    repo.git(&["pack-refs", "--all"]);
    assert!(is_told(&repo.path()));
    assert_eq!(watched(&repo.path()), ["HEAD", "packed-refs", "refs/heads"]);
    repo.file("notes.md", "# More\n").commit("More");
    assert!(is_told(&repo.path()));
    // No branch.
    repo.git(&["checkout", "-q", "--detach"]);
    assert!(is_told(&repo.path()));
    assert_eq!(watched(&repo.path()), ["HEAD"]);
}

#[test]
fn a_linked_worktree_has_the_commit_of_its_own_branch() {
    let repo = harbour_repo();
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    repo.git(&["worktree", "add", "-q", "-b", "other", tree.to_str().unwrap()]);
    let first = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repo.file("notes.md", "# More\n").commit("More");
    assert_eq!(build::head(&tree).unwrap().commit, Some(first));
}

#[test]
fn sources_without_a_git_folder_of_their_own_have_no_commit() {
    let repo = harbour_repo();
    assert_eq!(build::head(&repo.path().join("charts")), None, "that of the repository around them is another's");
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(build::head(empty.path()), None);
    fs::create_dir(empty.path().join(".git")).unwrap();
    fs::write(empty.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(build::head(empty.path()).unwrap().commit, None, "before the first commit");
    fs::write(empty.path().join(".git/HEAD"), "\u{0}nonsense").unwrap();
    assert_eq!(build::head(empty.path()).unwrap().commit, None);
}

#[test]
fn the_day_of_the_sources_is_the_builders_to_say() {
    assert_eq!(build::epoch(None), Ok("unknown".into()));
    assert_eq!(build::epoch(Some(" 1795305600\n".into())), Ok("1795305600".into()));
    assert!(build::epoch(Some("yesterday".into())).is_err());
    assert!(build::epoch(Some("-1".into())).is_err());
}

#[test]
fn features_are_those_that_cargo_names() {
    let names = ["CARGO_FEATURE_LANG_MORE", "PATH", "CARGO_FEATURE_DEFAULT", "CARGO_FEATURE_CLIPBOARD"];
    assert_eq!(build::features(names.into_iter().map(str::to_owned)), "clipboard, lang-more");
}
