//! Rewrites the targets among the arguments of one command.

use super::command_definition::CommandDefinition;
use super::schema::{Field, Kind, NestedTargets};
use super::target;
use serde_json::{Map, Value};

/// Calls `to` for every target of an input and replaces the target with the result, if any. Ignores
/// nested commands.
pub(crate) fn rewrite_targets(
    form: &CommandDefinition,
    input: &mut Map<String, Value>,
    to: &mut dyn FnMut(&str) -> Option<String>,
) {
    for field in form.fields() {
        if let Some(value) = input.get_mut(&field.name) {
            rewrite_in_field(field, value, to);
        }
    }
}

/// Calls `to` for the targets of one argument and replaces each with the result, if any.
pub(crate) fn rewrite_in_field(field: &Field, value: &mut Value, to: &mut dyn FnMut(&str) -> Option<String>) {
    match field.nested_targets {
        Some(NestedTargets::Assignments) => items(value).for_each(|item| in_assignment(item, to)),
        Some(NestedTargets::Steps | NestedTargets::StepsFile) => {}
        None if field.kind == Kind::Target => in_target(value, to),
        None if field.kind == Kind::List(Box::new(Kind::Target)) => {
            items(value).for_each(|item| in_target(item, to));
        }
        None => {}
    }
}

pub(crate) fn items(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.as_array_mut().into_iter().flatten()
}

fn in_target(value: &mut Value, to: &mut dyn FnMut(&str) -> Option<String>) {
    if let Some(new) = value.as_str().and_then(to) {
        *value = Value::from(new);
    }
}

fn in_assignment(value: &mut Value, to: &mut dyn FnMut(&str) -> Option<String>) {
    let Some(text) = value.as_str() else { return };
    let Ok((_, at)) = target::parse_assignment_target(text) else { return };
    if let Some(new) = to(&text[..at]) {
        *value = Value::from(new + &text[at..]);
    }
}
