//! The edit formats that models write.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A format name that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is no format of that name.
    #[error("unknown edit format `{name}`: use auto, diff, diff-fenced, udiff, whole or patch")]
    UnknownFormat {
        /// The name as given.
        name: String,
    },
}

/// One edit format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EditFormat {
    /// Search/replace blocks with the path above the fence.
    Diff,
    /// Search/replace blocks with the path as the first line inside the fence.
    DiffFenced,
    /// Unified diffs. Their line numbers are not trusted.
    Udiff,
    /// The complete new file in a fence with the path above it.
    Whole,
    /// `*** Begin Patch` … `*** End Patch` (V4A).
    Patch,
}

impl EditFormat {
    /// All formats, in the order of the help text.
    pub const ALL: [Self; 5] = [Self::Diff, Self::DiffFenced, Self::Udiff, Self::Whole, Self::Patch];

    /// The stable kebab-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diff => "diff",
            Self::DiffFenced => "diff-fenced",
            Self::Udiff => "udiff",
            Self::Whole => "whole",
            Self::Patch => "patch",
        }
    }
}

impl fmt::Display for EditFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for EditFormat {
    type Err = EditError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|format| format.name() == name);
        known.ok_or_else(|| EditError::UnknownFormat { name: name.to_owned() })
    }
}

/// The formats that a reply is parsed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormatChoice {
    /// Detect the formats. A reply may mix them.
    #[default]
    Auto,
    /// Only this format. The two search/replace formats are parsed alike; they differ only in the place of the
    /// path.
    Only(EditFormat),
}

impl FormatChoice {
    /// Whether search/replace blocks are parsed.
    pub(crate) fn reads_search(self) -> bool {
        matches!(self, Self::Auto | Self::Only(EditFormat::Diff | EditFormat::DiffFenced))
    }

    /// Whether edits of `format` are parsed.
    pub(crate) fn reads(self, format: EditFormat) -> bool {
        self == Self::Auto || self == Self::Only(format)
    }
}

impl fmt::Display for FormatChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Only(format) => format.fmt(f),
        }
    }
}

impl FromStr for FormatChoice {
    type Err = EditError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if name == "auto" { Ok(Self::Auto) } else { name.parse().map(Self::Only) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for format in EditFormat::ALL {
            assert_eq!(format.to_string().parse::<EditFormat>().unwrap(), format);
        }
        assert_eq!("auto".parse::<FormatChoice>().unwrap(), FormatChoice::Auto);
        assert!("xml".parse::<FormatChoice>().is_err());
    }
}
