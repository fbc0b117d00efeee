//! Files that tools run or obey automatically. To accept a change of such a file is to accept that it runs.

/// Names of files that build tools, test runners, shells, editors, package managers, services and assistants run or
/// obey.
const NAMES: &[&str] = &[
    // build
    "makefile",
    "gnumakefile",
    "cmakelists.txt",
    "meson.build",
    "justfile",
    "taskfile.yml",
    "taskfile.yaml",
    "rakefile",
    "gemfile",
    "dockerfile",
    "containerfile",
    "docker-compose.yml",
    "docker-compose.yaml",
    "compose.yml",
    "compose.yaml",
    "vagrantfile",
    "build.rs",
    "build.zig",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradlew",
    "mvnw",
    "pom.xml",
    "build.xml",
    "build.sbt",
    "mix.exs",
    "package.swift",
    "build",
    "build.bazel",
    "workspace",
    "module.bazel",
    "configure",
    "configure.ac",
    "flake.nix",
    "default.nix",
    "shell.nix",
    // install
    "package.json",
    ".npmrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "sitecustomize.py",
    "usercustomize.py",
    "composer.json",
    // test
    "conftest.py",
    "noxfile.py",
    "tox.ini",
    "pytest.ini",
    "gruntfile.js",
    "gulpfile.js",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    // shells and editors that enter the folder
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".inputrc",
    ".vimrc",
    ".exrc",
    ".nvim.lua",
    ".nvimrc",
    ".dir-locals.el",
    ".gdbinit",
    ".lldbinit",
    ".gitattributes",
    ".gitmodules",
    ".gitconfig",
    // deploy
    ".gitlab-ci.yml",
    ".travis.yml",
    "azure-pipelines.yml",
    "jenkinsfile",
    "procfile",
    "crontab",
    "action.yml",
    "action.yaml",
    // assistants
    ".mcp.json",
    "rhumb.toml",
    ".aider.conf.yml",
];

/// Suffixes of such files: `vite.config.ts` is a program that runs with every build.
const ENDINGS: &[&str] = &[
    ".config.js", ".config.cjs", ".config.mjs", ".config.ts", ".config.mts", ".mk", ".cmake", ".gemspec", ".csproj",
    ".vbproj", ".fsproj", ".targets", ".props", ".service", ".pth",
];

/// Folders with such files.
const FOLDERS: &[&str] = &[
    ".github", ".gitlab", ".circleci", ".buildkite", ".woodpecker", ".ci", ".husky", ".githooks", ".git-hooks",
    ".vscode", ".idea", ".devcontainer", ".cargo", ".rhumb", ".claude", ".cursor", ".gemini",
];

/// Whether tools run or obey the file at `path` (with `/`) automatically, by its name alone: with a build, a test
/// run, an install or a push, or when its folder is entered. Code that runs because other code calls it does not
/// count.
pub fn runs_later(path: &str) -> bool {
    let path = path.to_lowercase();
    let mut folders: Vec<&str> = path.split('/').collect();
    let name = folders.pop().unwrap_or_default();
    let is_named = NAMES.contains(&name) || name.starts_with("dockerfile.") || name.starts_with("makefile.");
    is_named
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || folders.iter().any(|folder| FOLDERS.contains(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_tools_run_are_known_wherever_they_lie() {
        for path in [
            "Makefile",
            "sub/GNUmakefile",
            "crates/a/build.rs",
            ".github/workflows/ci.yml",
            "package.json",
            "web/package.json",
            ".envrc",
            ".vscode/tasks.json",
            "setup.py",
            "tests/conftest.py",
            ".bashrc",
            "web/vite.config.ts",
            "Dockerfile.dev",
            ".husky/pre-commit",
            ".cargo/config.toml",
            "rhumb.toml",
            "a/.rhumb/commands/x.md",
        ] {
            assert!(runs_later(path), "{path}");
        }
    }

    #[test]
    fn ordinary_files_are_not() {
        for path in
            ["src/main.rs", "src/build.py", "README.md", "Cargo.toml", "makefiles/notes.md", "config.ts", "ci.yml", ""]
        {
            assert!(!runs_later(path), "{path}");
        }
    }
}
