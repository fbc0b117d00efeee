//! `rhumb version`: the build of the program.

use super::{VersionArgs, print, print_json};
use crate::error::UserError;
use crate::version::{self, Build, VERSION};
use serde_json::json;

/// Prints all properties of the build; `rhumb --version` prints one line.
///
/// # Errors
/// Standard output cannot be written.
pub fn version(args: &VersionArgs) -> Result<u8, UserError> {
    if !args.json {
        print(&format!("rhumb {}\n", version::long()))?;
        return Ok(0);
    }
    let build = Build::this();
    print_json(&json!({
        "version": VERSION,
        "commit": build.commit,
        "date": build.date,
        "compiler": build.compiler,
        "target": build.target,
        "profile": build.profile,
        "features": build.features.split(", ").filter(|feature| !feature.is_empty()).collect::<Vec<_>>(),
    }))?;
    Ok(0)
}
