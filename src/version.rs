//! The build of the program, as determined by `build.rs`.

use std::sync::LazyLock;

use rhumb_text::iso_date;

/// The version in Cargo.toml.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A build of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// The commit hash of its sources, without uncommitted changes. Unknown in debug builds.
    pub commit: Option<&'static str>,
    /// The day of the sources, such as 2026-11-22, if the build set `SOURCE_DATE_EPOCH`.
    pub date: Option<String>,
    /// The name and version of the compiler.
    pub compiler: &'static str,
    /// The target triple.
    pub target: &'static str,
    /// `release` or `debug`.
    pub profile: &'static str,
    /// The enabled features of Cargo.toml, separated by commas.
    pub features: &'static str,
}

/// The value of properties that `build.rs` could not determine.
const UNKNOWN: &str = "unknown";

/// Length of an abbreviated hash in characters.
const SHORT_HASH: usize = 10;

const SECONDS_OF_A_DAY: u64 = 86_400;

impl Build {
    /// The current build.
    pub fn this() -> Self {
        let known = |text: &'static str| (text != UNKNOWN).then_some(text);
        Self {
            commit: known(env!("RHUMB_BUILD_COMMIT")),
            date: env!("RHUMB_BUILD_EPOCH").parse::<u64>().ok().map(|seconds| iso_date(seconds / SECONDS_OF_A_DAY)),
            compiler: env!("RHUMB_BUILD_COMPILER"),
            target: env!("RHUMB_BUILD_TARGET"),
            profile: env!("RHUMB_BUILD_PROFILE"),
            features: env!("RHUMB_BUILD_FEATURES"),
        }
    }

    /// Short form: `0.1.0 (0123456789, release)`.
    pub fn short(&self) -> String {
        let about: Vec<&str> = self.short_commit().into_iter().chain([self.profile]).collect();
        format!("{VERSION} ({})", about.join(", "))
    }

    /// One line: `0.1.0 (0123456789 2026-11-22)`, as far as known.
    fn line(&self) -> String {
        let about: Vec<&str> = self.short_commit().into_iter().chain(self.date.as_deref()).collect();
        if about.is_empty() { VERSION.to_owned() } else { format!("{VERSION} ({})", about.join(" ")) }
    }

    fn short_commit(&self) -> Option<&'static str> {
        self.commit.map(|commit| commit.get(..SHORT_HASH).unwrap_or(commit))
    }

    /// The version, and a line for each property of the build.
    fn lines(&self) -> String {
        let date = self.date.as_deref().unwrap_or(UNKNOWN);
        format!(
            "{VERSION}\ncommit:   {}\ndate:     {date}\ncompiler: {}\ntarget:   {}\nprofile:  {}\nfeatures: {}",
            self.commit.unwrap_or(UNKNOWN),
            self.compiler,
            self.target,
            self.profile,
            self.features
        )
    }
}

/// The output of `rhumb --version` after the name.
pub fn line() -> &'static str {
    static LINE: LazyLock<String> = LazyLock::new(|| Build::this().line());
    &LINE
}

/// The output of `rhumb version` after the name.
pub fn long() -> &'static str {
    static LINES: LazyLock<String> = LazyLock::new(|| Build::this().lines());
    &LINES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build() -> Build {
        let commit = Some("0123456789abcdef0123456789abcdef01234567");
        Build { profile: "release", commit, date: Some(iso_date(20_779)), ..Build::this() }
    }

    #[test]
    fn a_build_is_named_by_a_short_hash_where_its_commit_is_known() {
        assert_eq!(build().short(), format!("{VERSION} (0123456789, release)"));
        assert_eq!(Build { commit: None, ..build() }.short(), format!("{VERSION} (release)"));
        assert_eq!(Build { commit: Some("v1"), ..build() }.short(), format!("{VERSION} (v1, release)"));
    }

    #[test]
    fn one_line_has_the_commit_and_the_day_as_far_as_they_are_known() {
        assert_eq!(build().line(), format!("{VERSION} (0123456789 2026-11-22)"));
        assert_eq!(Build { date: None, ..build() }.line(), format!("{VERSION} (0123456789)"));
        assert_eq!(Build { commit: None, ..build() }.line(), format!("{VERSION} (2026-11-22)"));
        assert_eq!(Build { commit: None, date: None, ..build() }.line(), VERSION);
    }

    #[test]
    fn what_is_not_known_of_a_build_is_said_to_be_unknown() {
        let lines = build().lines();
        assert!(
            lines.contains("\ncommit:   0123456789abcdef") && lines.contains("\ndate:     2026-11-22\n"),
            "{lines}"
        );
        let lines = Build { commit: None, date: None, ..build() }.lines();
        assert!(lines.contains("\ncommit:   unknown\ndate:     unknown\n"), "{lines}");
    }
}
