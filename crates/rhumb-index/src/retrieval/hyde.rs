//! Code that a model makes up as a possible answer: its words are searched for with those of the question, because code is more
//! like code than a question is.

/// Most characters of it that count.
const MOST: usize = 2_000;

/// The code in a reply: what stands in its fences, or all of it where there are none. `None` where there is nothing to search for.
pub fn hypothesis(reply: &str) -> Option<String> {
    let mut inside = Vec::new();
    let mut is_open = false;
    let mut has_fence = false;
    for line in reply.lines() {
        if line.trim_start().starts_with("```") {
            (is_open, has_fence) = (!is_open, true);
        } else if is_open {
            inside.push(line);
        }
    }
    let code = if has_fence { inside.join("\n") } else { reply.to_owned() };
    let code: String = code.trim().chars().take(MOST).collect();
    code.contains(char::is_alphabetic).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_code_is_what_stands_between_the_fences() {
        let reply = "Perhaps:\n```python\ndef moor(ship):\n```\nor\n```\nclass Berth:\n```\n";
        assert_eq!(hypothesis(reply).as_deref(), Some("def moor(ship):\nclass Berth:"));
        assert_eq!(hypothesis("def moor(ship): ...").as_deref(), Some("def moor(ship): ..."));
        for nothing in ["", "```\n```", "--- 12"] {
            assert_eq!(hypothesis(nothing), None);
        }
    }

    proptest! {
        #[test]
        fn any_reply_gives_bounded_code(reply in "(\\PC|\n|```){0,400}") {
            prop_assert!(hypothesis(&reply).is_none_or(|code| code.chars().count() <= MOST));
        }
    }
}
