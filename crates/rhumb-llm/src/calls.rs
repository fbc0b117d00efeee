//! Assembles the tool calls of an answer from the parts in which a server sends them.
//!
//! Servers disagree on what identifies a call. Some send one index for all calls, some a new id with each part, some
//! no id at all, and some repeat the name in each part.

use crate::framing::repair_surrogates;
use crate::{Request, ToolCall};
use serde_json::{Map, Value};

/// Maximum number of tool calls of an answer. Further ones are dropped.
pub(crate) const MAX_CALLS: usize = 128;
/// Name of a call for which the server sent none. APIs reject an empty name.
pub(crate) const UNKNOWN_NAME: &str = "unknown";

/// A part of a tool call, or a whole one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CallPart {
    /// The number that the server gave to the call or to its place in the answer.
    pub(crate) index: Option<u64>,
    /// The id of the call. Empty if the part has none.
    pub(crate) id: String,
    /// The id of the item that is the call, for APIs that have both.
    pub(crate) item: String,
    /// The name of the tool. Empty if the part has none.
    pub(crate) name: String,
    /// The next part of the arguments, or all of them.
    pub(crate) arguments: String,
    /// Whether `arguments` is all of them.
    pub(crate) whole: bool,
    pub(crate) built_in: bool,
    pub(crate) signature: Option<String>,
}

impl CallPart {
    pub(crate) fn is_empty(&self) -> bool {
        self.id.is_empty() && self.name.is_empty() && self.arguments.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        let signature = self.signature.as_ref().map_or(0, String::len);
        self.id.len() + self.item.len() + self.name.len() + self.arguments.len() + signature
    }
}

/// Arguments as JSON text. Servers send a string, an object, or nothing.
pub(crate) fn arguments_of(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// What a part adds to the calls, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Added {
    /// Number of the call in the answer, from 0.
    pub(crate) call: usize,
    pub(crate) name: String,
    /// The next part of the arguments.
    pub(crate) arguments: String,
}

/// The tool calls of an answer so far.
#[derive(Debug, Default)]
pub(crate) struct ToolCalls {
    calls: Vec<PartialCall>,
    /// The current call is one of those that are dropped.
    full: bool,
}

#[derive(Debug, Default)]
struct PartialCall {
    call: ToolCall,
    index: Option<u64>,
    item: String,
    end: JsonEnd,
}

impl ToolCalls {
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Returns whether a part belongs to a call that has begun.
    pub(crate) fn knows(&self, part: &CallPart) -> bool {
        self.find(part).is_some()
    }

    /// Adds a part. Returns what is new, or `None` if nothing is.
    pub(crate) fn add(&mut self, part: CallPart) -> Option<Added> {
        let known = self.find(&part);
        let is_new = known.is_none();
        if is_new {
            if part.id.is_empty() && part.name.is_empty() {
                return None;
            }
            self.full = self.calls.len() >= MAX_CALLS;
            if self.full {
                return None;
            }
            // A server that omits the index of the first part counts from 0 afterwards.
            let index = part.index.or(u64::try_from(self.calls.len()).ok());
            self.calls.push(PartialCall { index, ..PartialCall::default() });
        } else if self.full && part.index.is_none() && part.id.is_empty() && part.item.is_empty() {
            return None;
        }
        let number = known.unwrap_or(self.calls.len() - 1);
        let call = self.calls.get_mut(number)?;
        let arguments = call.take(part);
        (is_new || !arguments.is_empty()).then(|| Added { call: number, name: call.call.name.clone(), arguments })
    }

    /// Returns the number of the call to which a part belongs, or `None` if it begins a new one.
    fn find(&self, part: &CallPart) -> Option<usize> {
        let last = |is: &dyn Fn(&PartialCall) -> bool| self.calls.iter().rposition(is);
        let same_id = |call: &PartialCall| !part.id.is_empty() && call.call.id == part.id;
        let same_item = |call: &PartialCall| !part.item.is_empty() && call.item == part.item;
        let moved = |call: &PartialCall| part.index.is_some() && part.index != call.index && call.end.is_complete;
        if let Some(known) = last(&|call| same_item(call) || same_id(call)) {
            // Some servers give all calls the same id.
            let call = self.calls.get(known)?;
            return (same_item(call) || part.name.is_empty() || !moved(call)).then_some(known);
        }
        if part.whole && part.id.is_empty() && !part.name.is_empty() {
            // Some servers send complete calls again with the end of the answer.
            let same = last(&|call| call.call.name == part.name && call.call.arguments == part.arguments);
            if same.is_some() {
                return same;
            }
        }
        let candidate = match part.index {
            Some(_) => last(&|call| call.index == part.index)?,
            None => self.calls.len().checked_sub(1)?,
        };
        let call = self.calls.get(candidate)?;
        let other_id = !part.id.is_empty() && !call.call.id.is_empty();
        let other_name = !call.call.name.is_empty() && call.call.name != part.name;
        // Without a name the part cannot begin a call, whatever its id is.
        let begins =
            !part.name.is_empty() && !call.call.name.is_empty() && (other_id || other_name || call.end.is_complete);
        (!begins).then_some(candidate)
    }

    /// Returns the complete calls. Each gets an id that is unique in the conversation.
    pub(crate) fn finish(self, taken: &mut TakenIds) -> Vec<ToolCall> {
        let mut calls: Vec<ToolCall> = self.calls.into_iter().map(|partial| partial.call).collect();
        calls.retain(|call| !(call.name.is_empty() && call.arguments.trim().is_empty()));
        // Only the name, repeated after the end of a call.
        calls.dedup_by(|call, before| {
            call.id.is_empty() && call.arguments.is_empty() && call.name == before.name && !before.arguments.is_empty()
        });
        let complete = |mut call: ToolCall| {
            call.arguments = mended(call.arguments);
            call.id = taken.unique(call.id);
            if call.name.trim().is_empty() {
                UNKNOWN_NAME.clone_into(&mut call.name);
            }
            call
        };
        calls.into_iter().map(complete).collect()
    }
}

impl PartialCall {
    /// Adds a part to the call. Returns the new arguments.
    fn take(&mut self, part: CallPart) -> String {
        let adopt = |old: &mut String, new: String| {
            if old.is_empty() {
                *old = new;
            }
        };
        adopt(&mut self.call.id, part.id);
        adopt(&mut self.call.name, part.name);
        adopt(&mut self.item, part.item);
        self.call.built_in |= part.built_in;
        self.call.signature = self.call.signature.take().or(part.signature);
        if !part.whole {
            self.end.feed(&part.arguments);
            self.call.arguments.push_str(&part.arguments);
            return part.arguments;
        }
        self.end.is_complete = true;
        let new = part.arguments.strip_prefix(self.call.arguments.as_str()).unwrap_or_default().to_owned();
        self.call.arguments = part.arguments;
        new
    }
}

/// Finds the end of a JSON object or array that arrives in parts.
#[derive(Debug, Default)]
struct JsonEnd {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The value that began first is complete.
    is_complete: bool,
}

impl JsonEnd {
    fn feed(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_complete |= self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

/// Repairs arguments that a server, not the model, has damaged. Other invalid arguments stay as they are.
fn mended(arguments: String) -> String {
    if arguments.trim().is_empty() || arguments.trim() == "null" {
        return "{}".to_owned();
    }
    let is_object = |text: &str| serde_json::from_str::<Map<String, Value>>(text).is_ok();
    if is_object(&arguments) {
        return arguments;
    }
    // The JSON text in a JSON string.
    if let Ok(inner) = serde_json::from_str::<String>(&arguments)
        && is_object(&inner)
    {
        return inner;
    }
    // An empty object before the arguments, or the arguments twice.
    let objects: Result<Vec<Map<String, Value>>, _> =
        serde_json::Deserializer::from_str(&arguments).into_iter().collect();
    if let Ok(mut objects) = objects
        && let Some(last) = objects.pop()
        && objects.iter().all(|object| object.is_empty() || *object == last)
    {
        return Value::Object(last).to_string();
    }
    let repaired = repair_surrogates(&arguments, None).json;
    if is_object(&repaired) { repaired } else { arguments }
}

/// The ids of the calls in a conversation.
#[derive(Debug, Default)]
pub(crate) struct TakenIds {
    ids: Vec<String>,
}

impl TakenIds {
    pub(crate) fn of(request: &Request) -> Self {
        let calls = request.messages.iter().flat_map(|message| &message.tool_calls);
        Self { ids: calls.map(|call| call.id.clone()).collect() }
    }

    /// Returns `id`, or a new one if it is empty or taken.
    fn unique(&mut self, id: String) -> String {
        let is_free = |id: &String| !id.is_empty() && !self.ids.contains(id);
        let numbered = (self.ids.len() + 1..).map(made_id);
        let id = [id].into_iter().chain(numbered).find(is_free).unwrap_or_default();
        self.ids.push(id.clone());
        id
    }
}

/// Prefix of the ids that this crate makes.
const MADE_ID: &str = "call_";

fn made_id(number: usize) -> String {
    format!("{MADE_ID}{number}")
}

/// Returns whether an id may be one that this crate has made, and that the server does not know.
pub(crate) fn is_made_id(id: &str) -> bool {
    let number = id.strip_prefix(MADE_ID).unwrap_or_default();
    (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Message, Role};
    use proptest::prelude::*;

    fn part(index: impl Into<Option<u64>>, id: &str, name: &str, arguments: &str) -> CallPart {
        let [id, name, arguments] = [id, name, arguments].map(str::to_owned);
        CallPart { index: index.into(), id, name, arguments, ..CallPart::default() }
    }

    fn whole(index: impl Into<Option<u64>>, id: &str, name: &str, arguments: &str) -> CallPart {
        CallPart { whole: true, ..part(index, id, name, arguments) }
    }

    /// The calls as id, name and arguments.
    fn assembled(parts: impl IntoIterator<Item = CallPart>) -> Vec<[String; 3]> {
        let mut calls = ToolCalls::default();
        for part in parts {
            calls.add(part);
        }
        let calls = calls.finish(&mut TakenIds::default());
        calls.into_iter().map(|call| [call.id, call.name, call.arguments]).collect()
    }

    #[test]
    fn calls_are_told_apart_whatever_the_server_omits() {
        let expected = [["a", "read", r#"{"x":1}"#], ["b", "read", r#"{"x":2}"#]];
        let without_ids = [["call_1", "read", r#"{"x":1}"#], ["call_2", "read", r#"{"x":2}"#]];
        let table = vec![
            (
                "interleaved",
                vec![
                    part(0, "a", "read", ""),
                    part(1, "b", "read", r#"{"x""#),
                    part(0, "", "", r#"{"x":1"#),
                    part(1, "", "", ":2}"),
                    part(0, "", "", "}"),
                ],
                expected,
            ),
            (
                "one index",
                vec![
                    part(0, "a", "read", r#"{"x""#),
                    part(0, "", "", ":1}"),
                    part(0, "b", "read", r#"{"x""#),
                    part(0, "", "", ":2}"),
                ],
                expected,
            ),
            (
                "one index, and ids repeated",
                vec![
                    part(0, "a", "read", r#"{"x""#),
                    part(0, "b", "read", r#"{"x""#),
                    part(0, "a", "", ":1}"),
                    part(0, "b", "", ":2}"),
                ],
                expected,
            ),
            (
                "no index",
                vec![
                    part(None, "a", "read", ""),
                    part(None, "", "", r#"{"x":1}"#),
                    part(None, "b", "read", ""),
                    part(None, "", "", r#"{"x":2}"#),
                ],
                expected,
            ),
            (
                "name repeated, no ids, one index",
                vec![
                    part(0, "", "read", r#"{"x""#),
                    part(0, "", "read", ":1}"),
                    part(0, "", "read", r#"{"x""#),
                    part(0, "", "read", ":2}"),
                    part(0, "", "read", ""),
                ],
                without_ids,
            ),
            (
                "a new id with each part",
                vec![
                    part(0, "a", "read", ""),
                    part(0, "r1", "", r#"{"x""#),
                    part(0, "r2", "", ":1}"),
                    part(1, "b", "read", ""),
                    part(1, "r3", "", r#"{"x":2}"#),
                ],
                expected,
            ),
            (
                "whole, no ids",
                vec![whole(None, "", "read", r#"{"x":1}"#), whole(None, "", "read", r#"{"x":2}"#)],
                without_ids,
            ),
            (
                "whole, and sent again",
                vec![
                    whole(0, "", "read", r#"{"x":1}"#),
                    whole(0, "", "read", r#"{"x":2}"#),
                    whole(0, "", "read", r#"{"x":1}"#),
                    whole(0, "", "read", r#"{"x":2}"#),
                ],
                without_ids,
            ),
            (
                "items, and whole at the end",
                vec![
                    CallPart { item: "i1".into(), ..part(None, "a", "read", "") },
                    CallPart { item: "i2".into(), ..part(None, "b", "read", "") },
                    CallPart { item: "i1".into(), ..part(None, "", "", r#"{"x":"#) },
                    CallPart { item: "i2".into(), ..whole(None, "", "", r#"{"x":2}"#) },
                    CallPart { item: "i1".into(), ..whole(None, "a", "read", r#"{"x":1}"#) },
                ],
                expected,
            ),
            (
                "one id for all",
                vec![part(0, "a", "read", r#"{"x":1}"#), part(1, "a", "read", r#"{"x":2}"#), part(1, "", "", "")],
                [expected[0], ["call_2", "read", r#"{"x":2}"#]],
            ),
        ];
        for (what, parts, expected) in table {
            assert_eq!(assembled(parts), expected, "{what}");
        }
    }

    #[test]
    fn damage_by_servers_is_repaired_and_mistakes_of_models_are_kept() {
        let table = [
            ("", "{}"),
            (" \n", "{}"),
            ("null", "{}"),
            (r#"{}{"x":1}"#, r#"{"x":1}"#),
            (r#"{"x":1}{"x":1}"#, r#"{"x":1}"#),
            (r#""{\"x\":1}""#, r#"{"x":1}"#),
            (r#"{"x":"\ud83d\ude00\ud83d"}"#, "{\"x\":\"😀\"}"),
            (r#"{"x":1"#, r#"{"x":1"#),
            (r#"{"x":1}{"x":2}"#, r#"{"x":1}{"x":2}"#),
            ("[1]", "[1]"),
            (r#" {"b":1, "a":2} "#, r#" {"b":1, "a":2} "#),
        ];
        for (sent, kept) in table {
            assert_eq!(mended(sent.into()), kept, "{sent}");
        }
    }

    #[test]
    fn an_id_is_unique_in_the_conversation() {
        let mut request = Request::default();
        let mut message = Message::new(Role::Assistant, "");
        for id in ["call_3", "x"] {
            message.tool_calls.push(ToolCall { id: id.into(), ..ToolCall::default() });
        }
        request.messages.push(message);
        let mut taken = TakenIds::of(&request);
        let ids = ["", "x", "y", "y", ""].map(|id| taken.unique(id.into()));
        assert_eq!(ids, ["call_4", "call_5", "y", "call_6", "call_7"]);
        assert!(is_made_id(&ids[0]) && !["call_", "call_x", "x", "call_0123456789"].into_iter().any(is_made_id));
    }

    #[test]
    fn surplus_and_empty_calls_are_dropped() {
        let many = (0..5000).flat_map(|n| [part(n, "", "f", ""), part(n, "", "", r#"{"x":1}"#)]);
        let calls = assembled(many);
        assert_eq!(calls.len(), MAX_CALLS);
        assert!(calls.iter().all(|call| call[2] == r#"{"x":1}"#));
        let unnumbered = (0..200).flat_map(|n| [part(None, &n.to_string(), "f", ""), part(None, "", "", "[]")]);
        assert!(assembled(unnumbered).iter().all(|call| call[2] == "[]"));
        assert_eq!(assembled([part(0, "a", "", ""), part(3, "", "", "x"), part(1, "b", "", "{}")]).len(), 1);
        assert_eq!(assembled([part(0, "b", "", "{}")]), [["b", "unknown", "{}"]]);
    }

    proptest! {
        #[test]
        fn a_call_is_the_same_however_its_arguments_are_cut(
            texts in proptest::collection::vec("(\\PC|🚀|[{}\"\\\\])*", 1..4),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
            repeat in any::<bool>(),
            numbered in any::<bool>(),
        ) {
            let arguments: Vec<String> = texts.iter().map(|text| serde_json::json!({ "text": text }).to_string()).collect();
            let mut parts = Vec::new();
            for (number, arguments) in arguments.iter().enumerate() {
                let mut at: Vec<usize> = cuts.iter().map(|cut| arguments.floor_char_boundary(cut.index(arguments.len()))).collect();
                at.extend([0, arguments.len()]);
                at.sort_unstable();
                for (n, pair) in at.windows(2).enumerate() {
                    let name = if n == 0 || repeat { "edit" } else { "" };
                    let index = numbered.then_some(number as u64);
                    parts.push(part(index, "", name, &arguments[pair[0]..pair[1]]));
                }
            }
            let found: Vec<String> = assembled(parts).into_iter().map(|[_, _, arguments]| arguments).collect();
            prop_assert_eq!(found, arguments);
        }

        #[test]
        fn any_parts_give_calls_with_ids_and_names(
            parts in proptest::collection::vec((prop::option::of(0u64..3), "[ab]?", "[xy]?", "(\\{|\\}|\"|\\\\|1){0,4}", any::<bool>()), 0..30),
        ) {
            let parts = parts.into_iter().map(|(index, id, name, arguments, whole)| CallPart { whole, ..part(index, &id, &name, &arguments) });
            let calls = assembled(parts);
            let mut ids: Vec<&String> = calls.iter().map(|[id, ..]| id).collect();
            ids.sort();
            ids.dedup();
            prop_assert_eq!(ids.len(), calls.len());
            prop_assert!(calls.iter().flatten().all(|text| !text.is_empty()));
        }
    }
}
