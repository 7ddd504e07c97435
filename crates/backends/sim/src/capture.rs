//! Captures the document of an app as a tree.

use crate::app::dom::Dom;
use crate::app::sim::Sim;
use std::collections::{HashMap, HashSet};
use stickpin_device::{Error, Result};
use stickpin_tree::{Attr, Handle, IdentityGrade, NodeSpec, States, Tree, TreeBuilder, quote};

/// The public numbers of nodes on a device without identity, which change with every capture.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    by_address: HashMap<u64, u64>,
    next: u64,
}

impl Addresses {
    /// Forgets all addresses, which a new capture invalidates.
    pub(crate) fn forget(&mut self) {
        self.by_address.clear();
    }

    fn address_for(&mut self, id: u64) -> u64 {
        self.next += 1;
        self.by_address.insert(self.next, id);
        self.next
    }
}

/// A captured tree, and the node for each position of the document.
pub(crate) struct Capture {
    pub(crate) tree: Tree,
    /// The node for each position of the document, if it was captured.
    pub(crate) nodes: Vec<Option<stickpin_tree::NodeId>>,
}

/// Captures the document of the front tab, without hidden and inert nodes. A node that is searched
/// for (`extra_node`) is captured with its ancestors and its subtree even if it is hidden.
pub(crate) fn capture(
    sim: &Sim,
    addresses: &mut Addresses,
    watch: &[Handle],
    extra_node: Option<usize>,
) -> Result<Capture> {
    let dom = sim.dom();
    let grade = sim.options.grade;
    let mut builder = TreeBuilder::new(grade);
    builder.set_surface(sim.tab().surface);
    let mut nodes = vec![None; dom.nodes.len()];
    let mut depths = vec![0; dom.nodes.len()];
    let mut at = 0;
    let internal = |e| Error::internal(format!("sim:{} did not produce a valid tree: {e}", sim.app.name));
    while at < dom.nodes.len() {
        let node = &dom.nodes[at];
        let hidden = node.style.hidden || node.style.inert;
        if hidden && !extra_node.is_some_and(|a| dom.contains(at, a) || dom.contains(a, at)) {
            at = node.end;
            continue;
        }
        if at > 0 {
            depths[at] = depths[node.parent] + 1;
        }
        let id = if grade == IdentityGrade::None { addresses.address_for(node.id) } else { node.id };
        let node_id = if let Some(document) = &node.document {
            builder.document(depths[at], (**document).clone(), id).map_err(internal)?
        } else {
            let attrs: Vec<(Attr, &str)> = node.attrs.iter().map(|(a, v)| (*a, v.as_str())).collect();
            let secret = node.states.contains(States::PROTECTED);
            let spec = NodeSpec {
                role: Some(node.role),
                name: &node.name,
                value: if secret { "" } else { &node.value },
                tag: node.kind.tag,
                states: if hidden { node.states | States::HIDDEN } else { node.states },
                level: node.level,
                id,
                attrs: &attrs,
            };
            builder.node(depths[at], spec).map_err(internal)?
        };
        nodes[at] = Some(node_id);
        at += 1;
    }
    if grade != IdentityGrade::None {
        let connected: HashSet<Handle> = hidden(dom, &nodes).collect();
        builder.add_hidden(watch.iter().copied().filter(|h| connected.contains(h)));
    }
    Ok(Capture { tree: builder.finish().map_err(internal)?, nodes })
}

/// Returns the handles of nodes that are in the document but not in the tree.
fn hidden<'a>(dom: &'a Dom, nodes: &'a [Option<stickpin_tree::NodeId>]) -> impl Iterator<Item = Handle> + 'a {
    let uncaptured = (0..dom.nodes.len()).filter(|&at| nodes[at].is_none());
    uncaptured.map(|at| Handle { scope: dom.document(at).scope, id: dom.nodes[at].id })
}

/// Returns the position of a handle's element in the document of the front tab; `None` when the
/// element is not in it, or the handle has expired.
pub(crate) fn find(sim: &Sim, addresses: &Addresses, handle: Handle) -> Option<usize> {
    let dom = sim.dom();
    let id = match sim.options.grade {
        IdentityGrade::None => *addresses.by_address.get(&handle.id)?,
        _ => handle.id,
    };
    dom.find(id).filter(|&at| dom.document(at).scope == handle.scope)
}

/// Returns the current public handle of the element at a position.
pub(crate) fn handle(sim: &Sim, addresses: &mut Addresses, at: usize) -> Handle {
    let (dom, id) = (sim.dom(), sim.dom().nodes[at].id);
    let id = match sim.options.grade {
        IdentityGrade::None => match addresses.by_address.iter().find(|(_, known)| **known == id) {
            Some((address, _)) => *address,
            None => addresses.address_for(id),
        },
        _ => id,
    };
    Handle { scope: dom.document(at).scope, id }
}

/// Describes an element: `button "Buy"`.
pub(crate) fn describe(dom: &Dom, at: usize) -> String {
    let node = &dom.nodes[at];
    let name = if node.name.is_empty() { dom.text(at) } else { node.name.clone() };
    if name.is_empty() {
        node.role.name().to_owned()
    } else {
        format!("{} {}", node.role.name(), quote(&name))
    }
}
