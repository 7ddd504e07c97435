//! The targets and other arguments of an input, including those of nested commands, for front ends
//! that inspect them before a command runs. Text that only looks like a target is left alone.

use crate::api::command_definition::CommandDefinition;
use crate::api::schema::{Field, NestedTargets};
use crate::api::target_rewrite::{items, rewrite_in_field};
use crate::registry;
use serde_json::{Map, Value};

impl CommandDefinition {
    /// Calls `to` for every target of an input, including nested ones, and replaces the target with
    /// the result, if any.
    ///
    /// Arguments that do not fit the command's definition are ignored: input validation reports
    /// them later.
    pub fn rewrite_targets(
        &self,
        input: &mut Map<String, Value>,
        to: &mut dyn FnMut(&str) -> Option<String>,
    ) {
        self.visit_arguments(input, &mut |field, value| rewrite_in_field(field, value, to));
    }

    /// Calls `visit` for every argument of an input, and for those of nested commands.
    pub fn visit_arguments(&self, input: &mut Map<String, Value>, visit: &mut dyn FnMut(&Field, &mut Value)) {
        for field in self.fields() {
            let Some(value) = input.get_mut(&field.name) else { continue };
            visit(field, value);
            for step in items(value).filter(|_| field.nested_targets == Some(NestedTargets::Steps)) {
                let entry = step["command"].as_str().and_then(registry::find);
                let input = step.get_mut("input").and_then(Value::as_object_mut);
                if let (Some(entry), Some(input)) = (entry, input) {
                    entry.visit_arguments(input, visit);
                }
            }
        }
    }

    /// Calls `visit` for this command and every nested command, each with its own input.
    pub fn visit_commands(
        &self,
        input: &Map<String, Value>,
        visit: &mut dyn FnMut(&Self, &Map<String, Value>),
    ) {
        visit(self, input);
        let steps = self.fields().iter().filter(|field| field.nested_targets == Some(NestedTargets::Steps));
        for step in steps.filter_map(|field| input.get(&field.name)?.as_array()).flatten() {
            if let Some(entry) = step["command"].as_str().and_then(registry::find) {
                entry.visit_commands(step["input"].as_object().unwrap_or(&Map::new()), visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn marked(command: &str, input: Value) -> Value {
        let Value::Object(mut input) = input else { panic!("an object") };
        let entry = registry::find(command).expect("a command");
        entry
            .rewrite_targets(&mut input, &mut |target| target.starts_with('@').then(|| format!("{target}!")));
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
