//! The outline that defines an app: `button "Save" #4 disabled`.

use super::World;
use stickpin_tree::{Attr, Document, NodeSpec, Role, States, Tree, TreeBuilder};

/// One line of the outline.
pub(super) struct Line {
    role: Role,
    name: String,
    value: String,
    pub(super) id: u64,
    states: States,
    attrs: Vec<(Attr, String)>,
}

impl Line {
    pub(super) fn parse(line: &str) -> Self {
        let (role, rest) = line.split_once(' ').unwrap_or((line, ""));
        let role: Role = role.parse().expect("a role");
        let (name, rest) = match rest.strip_prefix('"') {
            Some(rest) => rest.split_once('"').expect("a closed quote"),
            None => ("", rest),
        };
        let mut node = Self {
            role,
            name: name.to_owned(),
            value: String::new(),
            id: 0,
            attrs: Vec::new(),
            states: if role.is_control() { States::ACTIONABLE } else { States::empty() },
        };
        match role {
            Role::TextBox | Role::SearchBox => node.states |= States::EDITABLE,
            Role::Checkbox | Role::Switch | Role::Radio => node.states |= States::CHECKABLE,
            _ => {}
        }
        for word in rest.split_whitespace() {
            match word {
                "disabled" => node.states |= States::DISABLED,
                "checked" => node.states |= States::CHECKED,
                "pressed" => node.states |= States::PRESSED,
                "readonly" => node.states |= States::READONLY,
                "hidden" => node.states |= States::HIDDEN,
                "focused" => node.states |= States::FOCUSED,
                "mixed" => node.states |= States::MIXED,
                "selected" => node.states |= States::SELECTED,
                "multiple" => node.states |= States::MULTISELECTABLE,
                "popup" => node.states |= States::HAS_POPUP,
                "protected" => node.states |= States::PROTECTED,
                word => match word.split_once('=') {
                    Some(("value", value)) => node.value = value.to_owned(),
                    Some(("id", id)) => node.attrs.push((Attr::Id, id.to_owned())),
                    Some(("controls", id)) => node.attrs.push((Attr::Controls, id.to_owned())),
                    _ => {
                        let id = word.strip_prefix('#').unwrap_or_else(|| panic!("{word:?} in {line:?}"));
                        node.id = id.parse().expect("a number");
                    }
                },
            }
        }
        node
    }
}

impl World {
    /// Returns the tree that the outline describes.
    pub(super) fn tree(&self) -> Tree {
        let mut b = TreeBuilder::new(self.grade);
        let document =
            Document { scope: 1, frame: String::new(), url: self.url.clone(), title: "Fake".to_owned() };
        b.document(0, document, 1).expect("a root fits");
        for line in self.outline.lines().filter(|l| !l.trim().is_empty()) {
            let depth = line.len() - line.trim_start().len();
            let mut node = Line::parse(line.trim());
            if let Some(value) = self.values.get(&node.id) {
                node.value = value.clone();
            }
            let attrs: Vec<(Attr, &str)> = node.attrs.iter().map(|(a, v)| (*a, v.as_str())).collect();
            let spec = NodeSpec {
                attrs: &attrs,
                role: Some(node.role),
                name: &node.name,
                value: &node.value,
                states: node.states,
                id: node.id,
                ..NodeSpec::default()
            };
            b.node(depth / 2 + 1, spec).expect("the outline is well indented");
        }

        b.set_truncated(self.truncated);
        b.finish().expect("the outline is a tree")
    }
}
