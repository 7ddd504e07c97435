//! Recorded captures as trees. The format is described next to the recordings.

use std::collections::HashMap;

use serde_json::Value;
use stickpin_tree::{
    Attr, Document, Handle, IdentityGrade, NodeId, NodeSpec, Role, States, Tree, TreeBuilder,
};

/// One recording: a name that states the correct outcome, and the captures in order.
pub struct Case {
    pub name: String,
    /// Clauses without which the outcome differs.
    pub needs: Vec<String>,
    pub events: Vec<Event>,
}

pub struct Event {
    pub kind: Kind,
    pub tree: Tree,
    /// Queries of the recording with the id of the element that each found.
    pub asked: Vec<(String, u64)>,
    pub act: Option<Act>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    First,
    Settle,
    Locate,
}

/// An action: the query whose element it uses, and the id of the element that is meant now, or
/// `None` if it is gone.
pub struct Act {
    pub query: String,
    pub truth: Option<u64>,
}

impl Event {
    /// Returns the node with an id of the recording.
    pub fn node(&self, id: u64) -> Option<NodeId> {
        self.tree.nodes().find(|n| n.address().is_some_and(|a| a.id == id)).map(|n| n.id())
    }
}

pub fn cases(json: &str) -> Vec<Case> {
    let cases: Value = serde_json::from_str(json).expect("a list of recordings");
    cases.as_array().expect("a list").iter().map(case).collect()
}

fn case(case: &Value) -> Case {
    let mut scopes = HashMap::new();
    let events = case["ev"].as_array().expect("events").iter().map(|e| event(e, &mut scopes)).collect();
    let needs = case["needs"].as_array().into_iter().flatten().map(|n| text(n).to_owned()).collect();
    Case { name: text(&case["name"]).to_owned(), needs, events }
}

fn event(event: &Value, scopes: &mut HashMap<String, u64>) -> Event {
    let kind = match text(&event["kind"]) {
        "first" => Kind::First,
        "settle" => Kind::Settle,
        "locate" => Kind::Locate,
        other => panic!("unknown kind of event: {other}"),
    };
    let asked = event["q"].as_object().map_or_else(Vec::new, |q| {
        q.iter().filter_map(|(query, id)| Some((query.clone(), id.as_u64()?))).collect()
    });
    let act = event
        .get("act")
        .filter(|a| a.is_object())
        .map(|act| Act { query: text(&act["q"]).to_owned(), truth: act["truth"].as_u64() });
    Event { kind, tree: tree(event, scopes), asked, act }
}

fn tree(event: &Value, scopes: &mut HashMap<String, u64>) -> Tree {
    let nodes = event["nodes"].as_array().expect("nodes");
    let mut builder = TreeBuilder::new(IdentityGrade::NeverReused);
    let mut depths = Vec::with_capacity(nodes.len());
    let mut top = 0;
    for (at, node) in nodes.iter().enumerate() {
        let depth = node["p"].as_u64().map_or(0, |p| depths[usize::try_from(p).expect("an index")] + 1);
        depths.push(depth);
        let id = node["i"].as_u64().unwrap_or(0);
        let pushed = match text(&node["t"]) {
            "#doc" => {
                let next = scopes.len() as u64 + 1;
                let scope = *scopes.entry(text(&node["doc"]).to_owned()).or_insert(next);
                if at == 0 {
                    top = scope;
                }
                let frame = text(&node["fr"]).trim_start_matches("top").to_owned();
                let url = format!("{}{}", text(&node["u"]), text(&node["hash"]));
                let title = text(&node["title"]).to_owned();
                builder.document(depth, Document { scope, frame, url, title }, id)
            }
            "#" => builder.node(
                depth,
                NodeSpec {
                    role: Some(Role::Text),
                    name: text(&node["x"]),
                    states: named_states(node),
                    id,
                    ..NodeSpec::default()
                },
            ),
            tag => element(&mut builder, depth, node, tag, id),
        };
        pushed.expect("a node that fits");
    }
    let hidden = event["hid"].as_array().into_iter().flatten().filter_map(Value::as_u64);
    builder.add_hidden(hidden.map(|id| Handle { scope: top, id }));
    builder.finish().expect("a tree")
}

fn element(
    builder: &mut TreeBuilder,
    depth: usize,
    node: &Value,
    tag: &str,
    id: u64,
) -> Result<NodeId, stickpin_tree::TreeError> {
    let set = |key: &str| node.get(key).is_some();
    let role = match (text(&node["r"]), tag) {
        ("", "label") => Role::Label,
        ("", "legend") => Role::Legend,
        ("", _) if set("a") => Role::Clickable,
        ("", _) => Role::Generic,
        (role, _) => role.parse().unwrap_or(Role::Generic),
    };
    let mut states = named_states(node);
    for (key, state) in [
        ("a", States::ACTIONABLE),
        ("nc", States::NAME_FROM_CONTENT),
        ("lv", States::LIVE),
        ("ed", States::EDIT_HOST),
        ("tm", States::TIME),
        ("md", States::MODAL),
    ] {
        if set(key) {
            states.insert(state);
        }
    }
    let level = match tag.as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => digit - b'0',
        _ => node["l"].as_u64().and_then(|level| level.try_into().ok()).unwrap_or(0),
    };
    let mut attrs = Vec::new();
    for (key, attr) in [
        ("h", Attr::Href),
        ("ctl", Attr::Controls),
        ("lbb", Attr::LabelledBy),
        ("eid", Attr::Id),
        ("c", Attr::Class),
        ("ri", Attr::RowIndex),
    ] {
        attrs.push((attr, text(&node[key])));
    }
    for (key, value) in node["k"].as_object().into_iter().flatten() {
        let attr = match key.as_str() {
            "data-id" => Attr::DataId,
            "data-key" => Attr::DataKey,
            "data-row-key" => Attr::DataRowKey,
            "data-item-id" => Attr::DataItemId,
            "data-testid" => Attr::TestId,
            "data-test" => Attr::DataTest,
            "data-cy" => Attr::DataCy,
            "data-test-id" => Attr::DataTestId,
            _ => continue,
        };
        attrs.push((attr, text(value)));
    }
    for (key, value) in node["at"].as_object().into_iter().flatten() {
        let attr: Attr = serde_json::from_value(key.as_str().into()).expect("an attribute");
        attrs.push((attr, text(value)));
    }
    let spec = NodeSpec {
        role: Some(role),
        name: text(&node["n"]),
        value: text(&node["v"]),
        tag,
        states,
        level,
        id,
        attrs: &attrs,
    };
    builder.node(depth, spec)
}

/// Returns the states with these names, separated by spaces.
fn named_states(node: &Value) -> States {
    text(&node["st"]).split_whitespace().map(|name| States::from_name(name).expect("a state")).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}
