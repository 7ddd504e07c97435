//! Answers queries about one element for which the tree is not enough.

use crate::app::dom::Dom;
use crate::app::vocabulary::{attr_name, markup_states};
use serde_json::{Map, Value};
use stickpin_device::{Query, Result, unsupported};
use stickpin_tree::{Role, States, quote_first};

/// Answers a query about the element at a position.
pub(crate) fn answer_query(dom: &Dom, at: usize, query: &Query) -> Result<Value> {
    Ok(match query {
        Query::Attrs => {
            attributes(dom, at).into_iter().map(|(k, v)| (k, Value::String(v))).collect::<Map<_, _>>().into()
        }
        Query::Text => dom.text(at).into(),
        Query::Html => {
            let mut out = String::new();
            markup(dom, at, &mut out);
            out.into()
        }
        _ => return Err(unsupported("sim", "answer this query")),
    })
}

fn attributes(dom: &Dom, at: usize) -> Vec<(String, String)> {
    let node = &dom.nodes[at];
    let mut out: Vec<(String, String)> =
        node.attrs.iter().map(|(a, v)| (attr_name(*a).to_owned(), v.clone())).collect();
    let natural = crate::roles::kind(node.kind.word).map(|k| k.role);
    if matches!(node.kind.tag, "div" | "span" | "ul" | "li" | "button") && natural != Some(Role::Generic) {
        out.push(("role".into(), node.role.name().into()));
    }
    if !node.name.is_empty() && !node.states.contains(States::NAME_FROM_CONTENT) {
        out.push(("aria-label".into(), node.name.clone()));
    }
    if node.states.contains(States::PROTECTED) {
        out.push(("type".into(), "password".into()));
    } else if !node.value.is_empty() {
        out.push(("value".into(), node.value.clone()));
    }
    out.extend(markup_states(node.states).map(|name| (name.to_owned(), "true".into())));
    out
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn markup(dom: &Dom, at: usize, out: &mut String) {
    let node = &dom.nodes[at];
    if node.is_text() {
        out.push_str(&escape_html(&node.name));
        return;
    }
    let tag = if node.document.is_some() { "html" } else { node.kind.tag };
    out.push('<');
    out.push_str(tag);
    for (name, value) in attributes(dom, at) {
        out.push_str(&format!(" {name}=\"{}\"", escape_html(&value)));
    }
    out.push('>');
    for child in dom.children(at) {
        markup(dom, child, out);
    }
    if !matches!(tag, "input" | "img" | "hr") {
        out.push_str(&format!("</{tag}>"));
    }
}

/// Returns the hint that names the first options of a list.
pub(crate) fn options(dom: &Dom, at: usize) -> String {
    let options = dom.nodes[at..dom.nodes[at].end].iter().filter(|n| n.role == Role::Option);
    format!("choose one of: {}", quote_first(options.map(|n| &*n.name), 12))
}
