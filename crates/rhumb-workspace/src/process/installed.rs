//! Finds programs on the PATH.

use std::path::Path;

/// Whether a program, given by name or path, is installed. Relative folders of PATH are ignored, because they may refer to the
/// repository.
pub fn is_installed(program: &str) -> bool {
    if program.contains(std::path::MAIN_SEPARATOR) {
        return is_executable(Path::new(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .any(|folder| is_executable(&folder.join(program)))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.with_extension("exe").is_file() || path.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_name_or_path() {
        assert!(is_installed("sh") && is_installed("/bin/sh"));
        assert!(!is_installed("a-program-that-does-not-exist"));
        assert!(!is_installed("/etc/passwd"), "it is not executable");
    }
}
