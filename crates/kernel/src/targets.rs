//! The arguments of an input and of the commands nested in it, and the targets among them: for who looks at them before
//! a command does. Text that only looks like a target is left alone.

use crate::registry::{self, Form};
use crate::schema::{Field, Holds, Kind};
use crate::target;
use serde_json::{Map, Value};

/// Shows every target of an input to `to`, nested ones too, and writes what it answers in its place.
///
/// What is not of the command's form is passed over: the check of the input says so later, in its own words.
pub fn change(form: &Form, input: &mut Map<String, Value>, to: &mut dyn FnMut(&str) -> Option<String>) {
    walk(form, input, &mut |field, value| match field.holds {
        Some(Holds::Assignments) => items(value).for_each(|item| in_assignment(item, to)),
        Some(Holds::Steps | Holds::StepsFile) => {}
        None if field.kind == Kind::Target => in_target(value, to),
        None if field.kind == Kind::List(Box::new(Kind::Target)) => {
            items(value).for_each(|item| in_target(item, to));
        }
        None => {}
    });
}

/// Shows every argument of an input to `visit`, and those of the commands that are nested in it.
pub fn walk(form: &Form, input: &mut Map<String, Value>, visit: &mut dyn FnMut(&Field, &mut Value)) {
    for field in form.fields() {
        let Some(value) = input.get_mut(&field.name) else { continue };
        visit(field, value);
        for step in items(value).filter(|_| field.holds == Some(Holds::Steps)) {
            let entry = step["command"].as_str().and_then(registry::find);
            if let (Some(entry), Some(input)) = (entry, step.get_mut("input").and_then(Value::as_object_mut))
            {
                walk(entry, input, visit);
            }
        }
    }
}

/// Shows a command and every command that is nested in its input, each with its own input.
pub fn each(form: &Form, input: &Map<String, Value>, visit: &mut dyn FnMut(&Form, &Map<String, Value>)) {
    visit(form, input);
    let steps = form.fields().iter().filter(|field| field.holds == Some(Holds::Steps));
    for step in steps.filter_map(|field| input.get(&field.name)?.as_array()).flatten() {
        if let Some(entry) = step["command"].as_str().and_then(registry::find) {
            each(entry, step["input"].as_object().unwrap_or(&Map::new()), visit);
        }
    }
}

fn items(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.as_array_mut().into_iter().flatten()
}

fn in_target(value: &mut Value, to: &mut dyn FnMut(&str) -> Option<String>) {
    if let Some(new) = value.as_str().and_then(to) {
        *value = Value::from(new);
    }
}

fn in_assignment(value: &mut Value, to: &mut dyn FnMut(&str) -> Option<String>) {
    let Some(text) = value.as_str() else { return };
    let Ok((_, at)) = target::assigned(text) else { return };
    if let Some(new) = to(&text[..at]) {
        *value = Value::from(new + &text[at..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn marked(command: &str, input: Value) -> Value {
        let Value::Object(mut input) = input else { panic!("an object") };
        let entry = registry::find(command).expect("a command");
        change(entry, &mut input, &mut |target| target.starts_with('@').then(|| format!("{target}!")));
        Value::Object(input)
    }

    #[test]
    fn targets_are_found_where_the_schema_says_and_nowhere_else() {
        assert_eq!(
            marked("fill", json!({"target": "@e1", "text": "@e2"})),
            json!({"target": "@e1!", "text": "@e2"})
        );
        assert_eq!(
            marked("form", json!({"fields": ["@e1=@e2", "label=\"a=b\"=@e3", "nonsense"], "submit": "@e4"})),
            json!({"fields": ["@e1!=@e2", "label=\"a=b\"=@e3", "nonsense"], "submit": "@e4!"})
        );
        assert_eq!(
            marked(
                "batch",
                json!({"steps": [
                    {"command": "press", "input": {"target": "@e1"}},
                    {"command": "form", "input": {"fields": ["@e2=x"]}},
                    {"command": "key", "input": {"chord": "@e3"}},
                    {"command": "nonsense", "input": {"target": "@e4"}},
                    "nonsense",
                ]})
            ),
            json!({"steps": [
                {"command": "press", "input": {"target": "@e1!"}},
                {"command": "form", "input": {"fields": ["@e2!=x"]}},
                {"command": "key", "input": {"chord": "@e3"}},
                {"command": "nonsense", "input": {"target": "@e4"}},
                "nonsense",
            ]})
        );
        assert_eq!(marked("press", json!({"target": 3})), json!({"target": 3}));
    }
}
