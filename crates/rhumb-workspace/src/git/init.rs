//! A new repository around a folder: the demo's sample becomes one, so that its writes are commits too.

use std::path::Path;

use super::error::GitError;

/// Makes `workdir` a git repository with one commit of everything in it, by an identity that only this repository knows.
///
/// # Errors
/// Whatever libgit2 reports; nothing outside of `workdir` is touched.
pub fn init(workdir: &Path, name: &str, email: &str, message: &str) -> Result<(), GitError> {
    init_with(workdir, name, email, message).map_err(|source| GitError::Git { doing: "make a repository", source })
}

fn init_with(workdir: &Path, name: &str, email: &str, message: &str) -> Result<(), git2::Error> {
    let mut options = git2::RepositoryInitOptions::new();
    let repo = git2::Repository::init_opts(workdir, options.initial_head("main").external_template(false))?;
    let mut config = repo.config()?.open_level(git2::ConfigLevel::Local)?;
    config.set_str("user.name", name)?;
    config.set_str("user.email", email)?;
    // Nobody is to be asked for a passphrase here.
    config.set_bool("commit.gpgsign", false)?;
    let mut index = repo.index()?;
    index.add_all(["*"], git2::IndexAddOption::DEFAULT, None)?;
    index.write()?;
    let tree = repo.find_tree(index.write_tree()?)?;
    let author = git2::Signature::now(name, email)?;
    repo.commit(Some("HEAD"), &author, &author, message, &tree, &[])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Repo;

    #[test]
    fn a_folder_becomes_a_clean_repository_with_one_commit() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.txt"), "a\n").unwrap();
        init(dir.path(), "Demo", "demo@example.com", "Start").unwrap();
        let repo = Repo::open(dir.path()).unwrap().unwrap();
        assert!(repo.dirty_paths().unwrap().is_empty());
        assert_eq!(repo.head().unwrap().to_string(), "main");
    }
}
