//! `ElementInternals` (HTML 4.13.7.4): roles, names and states that a custom element has without
//! any attribute. Only the browser's accessibility tree reveals them.

use super::{call_all, objects, release};
use crate::capture::{Columns, SelfDescription};
use crate::tab::{Tab, TabError, World};
use hashbrown::HashMap;
use serde_json::Value;
use stickpin_devtools::protocol as cdp;
use stickpin_tree::{Handle, Role, States};

/// The maximum number of elements queried per document in one capture. Each query takes 0.1 to 0.2
/// ms.
const MAX_ELEMENTS: usize = 250;

/// Queries the custom elements of a document and adds what they report to its columns.
pub(super) async fn query_custom_elements(
    tab: &Tab,
    world: &World,
    columns: &mut Columns,
    descriptions: &mut HashMap<u64, Option<SelfDescription>>,
    target: Option<Handle>,
) -> Result<(), TabError> {
    let custom: Vec<(u32, u64)> = columns.custom_elements().take(MAX_ELEMENTS).collect();
    if custom.is_empty() {
        return Ok(());
    }
    let elements: Vec<u64> = custom
        .iter()
        .map(|&(_, id)| id)
        .filter(|&id| {
            target.is_none_or(|target| {
                target == Handle { scope: world.scope, id } || !descriptions.contains_key(&id)
            })
        })
        .collect();
    if !elements.is_empty() {
        if target.is_none() {
            descriptions.clear();
        }
        let objects = objects(tab, world, &elements).await?;
        let (ids, questions): (Vec<u64>, Vec<_>) = elements
            .into_iter()
            .zip(objects)
            .filter_map(|(id, object)| {
                Some((id, cdp::GetPartialAxTree { object_id: object?, fetch_relatives: false }))
            })
            .unzip();
        let answers = call_all(tab, world, questions).await?;
        for (id, answer) in ids.into_iter().zip(answers) {
            descriptions.insert(id, answer.and_then(|a| a.nodes.into_iter().next()).and_then(read));
        }
        release(tab, world);
    }
    for (row, id) in custom {
        if let Some(Some(said)) = descriptions.get(&id) {
            columns.set_self_description(row, said.clone());
        }
    }
    Ok(())
}

/// Converts a node of the accessibility tree; `None` if it is ignored or has none of our roles.
fn read(node: cdp::AxNode) -> Option<SelfDescription> {
    if node.ignored {
        return None;
    }
    let role = node.role.as_ref().and_then(|r| r.value.as_ref()?.as_str()).and_then(own_role)?;
    let mut said = SelfDescription { role: Some(role), ..SelfDescription::default() };
    if let Some(name) = node.name {
        said.name = text(name.value.as_ref());
        let from = name.sources.iter().find(|s| !s.superseded && s.value.is_some());
        if from.is_some_and(|s| s.r#type == "contents") && !said.name.is_empty() {
            said.states |= States::NAME_FROM_CONTENT;
        }
    }
    said.value = text(node.value.as_ref().and_then(|v| v.value.as_ref()));
    for property in &node.properties {
        let Some(value) = &property.value.value else { continue };
        let (yes, mixed) = (flag_value(value), value.as_str() == Some("mixed"));
        let (has, on) = match property.name.as_str() {
            "checked" => (States::CHECKABLE, States::CHECKED),
            "pressed" => (States::PRESSABLE, States::PRESSED),
            "expanded" => (States::EXPANDABLE, States::EXPANDED),
            "selected" => (States::SELECTABLE, States::SELECTED),
            "disabled" => (States::empty(), States::DISABLED),
            "required" => (States::empty(), States::REQUIRED),
            "readonly" => (States::empty(), States::READONLY),
            "invalid" => (States::empty(), States::INVALID),
            "multiselectable" => (States::empty(), States::MULTISELECTABLE),
            "modal" => (States::empty(), States::MODAL),
            "busy" => (States::empty(), States::BUSY),
            "hasPopup" => (States::empty(), States::HAS_POPUP),
            "level" => {
                said.level = value.as_u64().and_then(|l| u8::try_from(l).ok()).unwrap_or(0);
                continue;
            }
            _ => continue,
        };
        said.states |= has;
        if mixed {
            said.states |= States::MIXED;
        } else if yes {
            said.states |= on;
        }
    }
    Some(said)
}

/// Returns whether a flag is set. The flag is a boolean, a word or a number.
fn flag_value(value: &Value) -> bool {
    match value {
        Value::Bool(yes) => *yes,
        Value::String(word) => !matches!(word.as_str(), "" | "false" | "undefined"),
        Value::Number(n) => n.as_f64() != Some(0.0),
        _ => false,
    }
}

fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(n)) => n.to_string(),
        _ => String::new(),
    }
}

/// Converts a browser's role name to ours; `None` for unknown roles and for roles without meaning.
fn own_role(role: &str) -> Option<Role> {
    match role {
        "generic" | "none" | "presentation" => None,
        "image" => Some(Role::Image),
        role => role.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse_description(node: Value) -> Option<SelfDescription> {
        read(serde_json::from_value(node).unwrap())
    }

    #[test]
    fn roles_names_and_states_are_read() {
        let node = json!({
            "ignored": false, "role": { "value": "switch" },
            "name": { "value": "Dark", "sources": [
                { "type": "attribute", "superseded": true, "value": { "value": "x" } },
                { "type": "contents", "value": { "value": "Dark" } },
            ] },
            "properties": [
                { "name": "checked", "value": { "type": "tristate", "value": "true" } },
                { "name": "invalid", "value": { "type": "token", "value": "false" } },
                { "name": "disabled", "value": { "type": "boolean", "value": true } },
                { "name": "level", "value": { "value": 3 } },
            ],
        });
        let states = States::CHECKABLE | States::CHECKED | States::DISABLED | States::NAME_FROM_CONTENT;
        let expected = SelfDescription {
            role: Some(Role::Switch),
            name: "Dark".into(),
            value: String::new(),
            level: 3,
            states,
        };
        assert_eq!(parse_description(node), Some(expected));
    }

    #[test]
    fn what_says_nothing_is_none() {
        for node in [
            json!({ "ignored": true, "role": { "value": "button" } }),
            json!({ "ignored": false, "role": { "value": "generic" }, "name": { "value": "x" } }),
            json!({ "ignored": false, "role": { "value": "Canvas3D" } }),
            json!({}),
        ] {
            assert_eq!(parse_description(node.clone()), None, "{node}");
        }
    }

    #[test]
    fn mixed_is_neither_on_nor_off() {
        let node = json!({
            "role": { "value": "checkbox" },
            "properties": [{ "name": "checked", "value": { "value": "mixed" } }],
        });
        assert_eq!(parse_description(node).unwrap().states, States::CHECKABLE | States::MIXED);
    }
}
