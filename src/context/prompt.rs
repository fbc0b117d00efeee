//! Our prompts: what we tell the model about its task and about the edit format that it must write.

use crate::edit::EditFormat;

/// The standing instructions of the code mode for an edit format. `fence` is the fence to write code with.
pub fn system(format: EditFormat, fence: &str) -> String {
    format!("{ROLE}\n\n# How to propose edits\n\n{}", edit_rules(format, fence))
}

const ROLE: &str = "\
You are pairing with a developer inside their repository. You see some files in full, and of the rest a repo map: an \
outline of the definitions that matter most for this request.

- Do what was asked, all of it, and nothing else. Keep to the style and the libraries that the code already uses.
- Write complete code. Never leave a placeholder, a \"rest unchanged\" comment, or a piece for the developer to fill in.
- Edit only text that you can see. If the change needs a file that you know only from the map, name the file, say why, \
and stop: the developer will add it.
- Nothing is written by your answer itself. The developer reads every hunk and accepts or rejects it, so keep hunks small \
and let each make sense on its own.
- First say in a few sentences what you will change and why; then the edits. A question gets an answer without edits.";

/// How to write edits in `format`.
fn edit_rules(format: EditFormat, fence: &str) -> String {
    match format {
        EditFormat::Diff => search_replace(fence, false),
        EditFormat::DiffFenced => search_replace(fence, true),
        EditFormat::Udiff => udiff(fence),
        EditFormat::Whole => whole(fence),
        EditFormat::Patch => PATCH.to_owned(),
    }
}

fn search_replace(fence: &str, path_inside: bool) -> String {
    let head = if path_inside {
        format!("{fence}python\nharbour/tides.py\n<<<<<<< SEARCH")
    } else {
        format!("harbour/tides.py\n{fence}python\n<<<<<<< SEARCH")
    };
    let place = if path_inside { "as the first line inside the fence" } else { "alone on the line above the fence" };
    format!(
        "\
Write each edit as a SEARCH/REPLACE block:

{head}
def depth(station):
    return station.mean
=======
def depth(station, hours=0):
    return station.mean + station.tide(hours)
>>>>>>> REPLACE
{fence}

- The path of the file, relative to the root, stands {place}.
- SEARCH quotes lines of the file exactly as they are, indentation and comments included, enough of them that they occur \
only once. It is replaced by the lines after =======.
- One block for each place. Quote only the lines that change and one or two around them, not the whole function.
- A new file has an empty SEARCH. To delete lines, leave them out of the replacement. To move code, delete it in one \
block and insert it in another."
    )
}

fn udiff(fence: &str) -> String {
    format!(
        "\
Write your edits as unified diffs, one fenced block for each file:

{fence}diff
--- harbour/tides.py
+++ harbour/tides.py
@@ ... @@
-def depth(station):
-    return station.mean
+def depth(station, hours=0):
+    return station.mean + station.tide(hours)
{fence}

- Paths are relative to the root. No line numbers: each hunk starts with @@ ... @@ and is found by its lines.
- Lines with a space or a minus quote the file exactly as it is, indentation and comments included, enough of them that \
the place is unique.
- Think in whole functions and blocks: where much of one changes, remove the old one with minus lines and write the new \
one with plus lines, rather than weaving single lines.
- Start a new hunk for every other place of the file. A new file comes from /dev/null. To move code, delete it in one \
hunk and insert it in another."
    )
}

fn whole(fence: &str) -> String {
    format!(
        "\
Write every file that changes in full, its path relative to the root alone on the line above the fence:

harbour/tides.py
{fence}python
def depth(station, hours=0):
    return station.mean + station.tide(hours)
{fence}

- The whole file, from the first line to the last: what you leave out is deleted.
- A new file is written the same way."
    )
}

const PATCH: &str = "\
Write your edits as one patch:

*** Begin Patch
*** Update File: harbour/tides.py
@@ class Station
-def depth(station):
-    return station.mean
+def depth(station, hours=0):
+    return station.mean + station.tide(hours)
*** End Patch

- Paths are relative to the root. *** Add File: and *** Delete File: do what they say; *** Move to: after an update \
renames.
- Lines with a space or a minus quote the file exactly as it is, enough of them that the place is unique. After @@ you may \
name the class or function around the place.
- Lines of a new file all begin with a plus.";

/// Stands before the repo map.
pub const MAP: &str = "\
This is an outline of the repository: the definitions that matter most for the request, by file. It is not the whole \
code. Treat these files as read-only; ask for one by its path if you need to see or change it.";

/// Stands before the read-only files.
pub const READ_ONLY: &str = "These files are for reference. Do not edit them.";

/// Stands before the chat files.
pub const CHAT_FILES: &str = "\
These are the files you may edit, as they are on disk now. They supersede every earlier copy in this conversation.";

/// What the model is taken to have answered to the parts that we put before its eyes.
pub const NOTED: &str = "Noted.";
