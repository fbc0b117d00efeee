//! The instructions: the task, the rules of the edit format with an example, and the reminder after the message.
//!
//! The example is part of the instructions, or sent as a conversation, depending on the model ([`example_as_turns`]): a capable model
//! understands the example in the instructions, while an invented conversation can mislead it; a small model best imitates a text
//! that appears to be its earlier answer. As a conversation the example costs about 30 tokens more.

use super::mode::{Mode, Task, UserEnvironment};
use super::prompts::{Prompts, Values, fill};
use rhumb_llm::models::{Model, Reminder};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Example {
    pub(super) request: String,
    pub(super) answer: String,
}

/// The instructions of a request, without files, map and conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Instructions {
    pub(super) system: String,
    pub(super) example: Option<Example>,
    pub(super) example_lead: String,
    pub(super) example_end: String,
    pub(super) reminder: Option<String>,
}

/// The instructions for `task`. `fence` is the fence for code.
pub(super) fn instructions(
    task: &Task,
    model: &Model,
    prompts: &Prompts,
    environment: &UserEnvironment,
    fence: &str,
) -> Instructions {
    let mut values = values(environment, fence);
    let part = |name: &str| fill(prompts.text(name), &values);
    let format = task.edit_format.name();
    let weaknesses = weaknesses(task, model).map(part);
    let has_reminder = task.mode.edits() && model.reminder != Reminder::None;
    let mut sections = vec![part(task.mode.name())];
    if task.mode.edits() {
        sections.push(part(&format!("edit-{format}")));
    }
    if task.mode == Mode::Code && task.shell_commands {
        sections.push(part("shell"));
    }
    sections.push(surroundings_section(prompts, &values));
    if !has_reminder {
        sections.extend(weaknesses.clone());
    }
    let reminder = has_reminder.then(|| {
        let mut lines = vec![part(&format!("reminder-{format}"))];
        lines.extend(weaknesses);
        joined(lines, "\n")
    });
    let example = task.mode.edits().then(|| example(task, prompts, &values));
    let example_end = part("example-end");
    values.push(("request", example.as_ref().map(|example| example.request.as_str())));
    let example_lead = fill(prompts.text("example-lead"), &values);
    Instructions {
        system: joined(sections, "\n\n"),
        example_lead,
        example_end,
        example: example.filter(|example| !example.answer.is_empty()),
        reminder: reminder.filter(|text| !text.is_empty()),
    }
}

/// Whether the example is sent as a conversation to this model: if the model is unknown or has no system role.
pub(super) fn example_as_turns(model: &Model) -> bool {
    !model.known || !model.capabilities.system_role
}

fn values<'v>(environment: &'v UserEnvironment, fence: &'v str) -> Vec<(&'static str, Option<&'v str>)> {
    let UserEnvironment { platform, shell, language, date, test, lint } = environment;
    vec![
        ("fence", Some(fence)),
        ("platform", platform.as_deref()),
        ("shell", shell.as_deref()),
        ("language", language.as_deref()),
        ("date", date.as_deref()),
        ("test", test.as_deref()),
        ("lint", lint.as_deref()),
    ]
}

/// The prompts for known weaknesses of the model, by name.
fn weaknesses(task: &Task, model: &Model) -> impl Iterator<Item = &'static str> + Clone {
    let edits = task.mode.edits();
    [("lazy", edits && model.lazy), ("overeager", edits && model.overeager)]
        .into_iter()
        .filter_map(|(name, applies)| applies.then_some(name))
}

/// The environment of the user; may be empty.
fn surroundings_section(prompts: &Prompts, values: &Values<'_>) -> String {
    let known = prompts.placeholders("surroundings");
    let any = values.iter().any(|(name, value)| value.is_some() && known.contains(name));
    // A custom text without placeholders is sent unchanged.
    if any || known.is_empty() {
        fill(prompts.text("surroundings"), values).trim_end().to_owned()
    } else {
        String::new()
    }
}

fn example(task: &Task, prompts: &Prompts, values: &Values<'_>) -> Example {
    let answer = fill(prompts.text(&format!("example-{}", task.edit_format.name())), values);
    let answer = match answer.split_once("\n\n") {
        // The editor model writes only edits.
        Some((_, edits)) if task.mode == Mode::Editor => edits.to_owned(),
        _ => answer,
    };
    Example { request: fill(prompts.text("example-request"), values), answer }
}

fn joined(sections: impl IntoIterator<Item = String>, between: &str) -> String {
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_edit::{EditFormat, FormatChoice, parse};

    fn instructions_for(task: &Task, model: &Model) -> Instructions {
        let environment = UserEnvironment { platform: Some("linux".into()), ..UserEnvironment::default() };
        instructions(task, model, &Prompts::default(), &environment, "````")
    }

    fn known() -> Model {
        Model { known: true, ..Model::unknown("m") }
    }

    #[test]
    fn every_mode_and_format_has_instructions_without_an_open_placeholder() {
        for mode in Mode::CHOICES.into_iter().chain([Mode::Editor]) {
            for format in EditFormat::ALL {
                let built = instructions_for(&Task { mode, shell_commands: true, ..Task::code(format) }, &known());
                let all = format!("{built:?}");
                assert!(!built.system.is_empty() && !all.contains("{fence}") && !all.contains("{request}"), "{all}");
                assert_eq!((built.example.is_some(), built.reminder.is_some()), (mode.edits(), mode.edits()));
                assert_eq!(built.system.contains("# Commands"), mode == Mode::Code);
            }
        }
    }

    #[test]
    fn every_example_is_read_as_its_two_edits() {
        for format in EditFormat::ALL {
            for mode in [Mode::Code, Mode::Editor] {
                let example = instructions_for(&Task { mode, ..Task::code(format) }, &known()).example.unwrap();
                for choice in [FormatChoice::Auto, FormatChoice::Only(format)] {
                    let reply = parse(&example.answer, choice);
                    assert_eq!(reply.edits.len() + reply.fences.len(), 2, "{format} {choice}: {reply:?}");
                }
                assert_eq!(example.answer.starts_with("depth gets"), mode == Mode::Code);
            }
        }
    }

    #[test]
    fn only_known_values_of_the_environment_are_sent() {
        let built = instructions_for(&Task::code(EditFormat::Diff), &known());
        assert!(built.system.ends_with("# Surroundings\n\n- The developer's machine: linux"), "{}", built.system);
        let nothing = UserEnvironment::default();
        let bare = instructions(&Task::code(EditFormat::Diff), &known(), &Prompts::default(), &nothing, "```");
        assert!(!bare.system.contains("# Surroundings"));
    }

    #[test]
    fn a_weakness_is_addressed_once_and_last() {
        let model = Model { lazy: true, overeager: true, ..known() };
        let with = instructions_for(&Task::code(EditFormat::Diff), &model);
        let reminder = with.reminder.unwrap();
        assert!(reminder.contains("Be thorough") && reminder.contains("exactly the change"), "{reminder}");
        assert!(!with.system.contains("Be thorough"));
        let without = instructions_for(&Task::code(EditFormat::Diff), &Model { reminder: Reminder::None, ..model });
        assert!(without.reminder.is_none() && without.system.contains("Be thorough"));
    }
}
