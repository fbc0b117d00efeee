//! What a model says to look for before a search: names, paths, the header of what may answer.

use serde::Deserialize;

/// Most names, and most paths, that count.
const MOST: usize = 12;
/// Most characters of one: what is longer is no name.
const LONGEST: usize = 120;

/// What to look for besides the words of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPlan {
    /// Names of code, the likeliest first.
    pub names: Vec<String>,
    /// Paths of files, or parts of them.
    pub paths: Vec<String>,
}

#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    identifiers: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    signature: Option<String>,
}

impl SearchPlan {
    /// Reads the JSON object in a reply: `identifiers`, `paths`, `signature`. `None` where there is none, or nothing in it is a name.
    pub fn read(reply: &str) -> Option<Self> {
        let object = reply.get(reply.find('{')?..=reply.rfind('}')?)?;
        let written: Written = serde_json::from_str(object).ok()?;
        let mut plan = Self::default();
        let signature = written.signature.unwrap_or_default();
        for text in written.identifiers.iter().chain([&signature]) {
            names_in(text).for_each(|name| add(&mut plan.names, name));
        }
        for path in &written.paths {
            let path = path.trim().trim_start_matches("./");
            if !path.contains(char::is_whitespace) && !path.contains("..") {
                add(&mut plan.paths, path);
            }
        }
        (plan != Self::default()).then_some(plan)
    }

    /// The words for [`super::Question::hints`]: the names, and what the paths call their files.
    pub fn hints(&self) -> Vec<String> {
        let stem = |path: &String| {
            let file = path.rsplit('/').next().unwrap_or_default();
            file.split('.').next().unwrap_or_default().to_owned()
        };
        let mut hints = self.names.clone();
        for stem in self.paths.iter().map(stem).filter(|stem| stem.len() > 1) {
            if !hints.contains(&stem) {
                hints.push(stem);
            }
        }
        hints
    }
}

/// The names that a text of code holds.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let names = text.split(move |c| !is_part(c));
    names.filter(|name| name.chars().count() > 1 && !name.starts_with(|c: char| c.is_ascii_digit()))
}

fn add(to: &mut Vec<String>, text: &str) {
    let is_fit = !text.is_empty() && text.chars().count() <= LONGEST;
    if is_fit && to.len() < MOST && to.iter().all(|known| known != text) {
        to.push(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_plan_is_read_from_whatever_stands_around_it() {
        let reply = "Sure:\n```json\n{\"identifiers\": [\"Berth.moor\", \"fits\"], \"paths\": [\"./harbour/berth.py\"], \
                     \"signature\": \"def moor(self, ship)\"}\n```\n";
        let plan = SearchPlan::read(reply).unwrap();
        assert_eq!(plan.names, ["Berth", "moor", "fits", "def", "self", "ship"]);
        assert_eq!(plan.paths, ["harbour/berth.py"]);
        assert_eq!(plan.hints().last().map(String::as_str), Some("berth"));
    }

    #[test]
    fn what_is_no_plan_is_none() {
        for reply in ["", "I cannot help.", "{}", "{\"identifiers\": 7}", "[1]", "}{", "{\"paths\": [\"../../etc\"]}"] {
            assert_eq!(SearchPlan::read(reply), None, "{reply}");
        }
    }

    proptest! {
        #[test]
        fn a_plan_of_junk_is_bounded(names in prop::collection::vec("\\PC{0,200}", 0..40), junk in "\\PC{0,60}") {
            let _ = SearchPlan::read(&junk);
            let text = serde_json::json!({"identifiers": names, "paths": names, "signature": junk}).to_string();
            if let Some(plan) = SearchPlan::read(&text) {
                prop_assert!(plan.names.len() <= MOST && plan.paths.len() <= MOST && plan.hints().len() <= 2 * MOST);
                prop_assert!(plan.hints().iter().all(|hint| hint.chars().count() <= LONGEST));
            }
        }
    }
}
