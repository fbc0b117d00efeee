//! What Python refuses and its grammar for tree-sitter takes: it reads Python 2 as well, any indentation, and any order of
//! parameters and arguments.

use tree_sitter::Node;

use super::super::tree::{has_child, named, steps};

/// Whether a tree that has no error is sound for Python 3 too, as far as this looks.
pub(super) fn is_sound(root: Node<'_>) -> bool {
    steps(root).all(|step| match step.node.kind() {
        "module" | "block" => is_laid_out(step.node, step.parent),
        // `print >>file, x` is an expression still.
        "print_statement" => has_child(step.node, &["chevron"]),
        "exec_statement" => false,
        "raise_statement" => !has_child(step.node, &["expression_list"]),
        "try_statement" => has_child(step.node, &["except_clause", "except_group_clause", "finally_clause"]),
        "comparison_operator" => !has_child(step.node, &["<>"]),
        "parameters" | "lambda_parameters" => are_parameters(step.node),
        "argument_list" => are_arguments(step.node),
        _ => true,
    })
}

/// Whether the statements of a block begin in one column, further in than what they belong to.
fn is_laid_out(block: Node<'_>, parent: Option<Node<'_>>) -> bool {
    let statements = named(block).into_iter().filter(|node| !node.is_extra());
    let starts: Vec<_> = statements.map(|node| (node.start_position(), node.end_position())).collect();
    let Some(((first, _), rest)) = starts.split_first() else { return block.kind() == "module" };
    let above = parent.map_or(0, |parent| parent.start_position().column + 1);
    let header = parent.map(|parent| parent.start_position().row);
    let inside = first.column >= above || header == Some(first.row);
    let mut row = starts.first().map_or(0, |(_, end)| end.row);
    let aligned = rest.iter().all(|(start, end)| {
        let same_line = start.row == row;
        row = end.row;
        same_line || start.column == first.column
    });
    inside && aligned
}

/// What a parameter is, as far as it says which may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parameter {
    Plain,
    WithDefault,
    /// `/`
    Positional,
    /// `*`
    Star,
    /// `*args`
    Rest,
    /// `**kwargs`
    Keywords,
}

impl Parameter {
    fn of(node: Node<'_>) -> Self {
        let inner = if node.kind() == "typed_parameter" { node.named_child(0).unwrap_or(node) } else { node };
        match inner.kind() {
            "default_parameter" | "typed_default_parameter" => Self::WithDefault,
            "positional_separator" => Self::Positional,
            "keyword_separator" => Self::Star,
            "list_splat_pattern" => Self::Rest,
            "dictionary_splat_pattern" => Self::Keywords,
            _ => Self::Plain,
        }
    }
}

/// Whether parameters stand in an order that they may stand in.
fn are_parameters(node: Node<'_>) -> bool {
    let all: Vec<Parameter> = named(node).into_iter().filter(|node| !node.is_extra()).map(Parameter::of).collect();
    let (mut default, mut slash, mut star) = (false, false, false);
    all.iter().enumerate().all(|(at, parameter)| {
        let next = all.get(at + 1);
        match parameter {
            Parameter::Plain => star || !default,
            Parameter::WithDefault => {
                default = true;
                true
            }
            Parameter::Positional => at > 0 && !star && !std::mem::replace(&mut slash, true),
            Parameter::Star => {
                let named = matches!(next, Some(Parameter::Plain | Parameter::WithDefault));
                named && !std::mem::replace(&mut star, true)
            }
            Parameter::Rest => !std::mem::replace(&mut star, true),
            Parameter::Keywords => next.is_none(),
        }
    })
}

/// Whether arguments stand in an order that they may stand in.
fn are_arguments(node: Node<'_>) -> bool {
    let (mut keyword, mut splat) = (false, false);
    named(node).into_iter().filter(|node| !node.is_extra()).all(|argument| match argument.kind() {
        "keyword_argument" => {
            keyword = true;
            true
        }
        "dictionary_splat" => {
            splat = true;
            true
        }
        "list_splat" => !splat,
        _ => !keyword && !splat,
    })
}
