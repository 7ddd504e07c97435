//! Faults with which any app can be opened (`?fault=`). Most change the document once, between
//! locating an element and acting on it.

use crate::app::dom::{Dom, Key, Node};
use crate::app::render;
use crate::app::vocabulary::Event;
use crate::options::Fault;

/// The pending fault, and the changes made by the one that occurred.
#[derive(Debug)]
pub(crate) struct Patches {
    fault: Option<Fault>,
    done: Vec<Patch>,
}

/// A change that a fault made to the document. Elements are identified by their path to the root,
/// which stays the same across renderings.
#[derive(Debug)]
enum Patch {
    Vanished(Vec<Key>),
    Relabelled(Vec<Key>),
    /// The content inside the first element and outside the second has changed.
    Rewritten(Vec<Key>, Vec<Key>),
    Shifted,
    Covered,
}

/// The distance by which a shift moves everything, in pixels.
const SHIFT: i64 = 160;

impl Patches {
    pub(crate) fn new(fault: Option<Fault>) -> Self {
        Self { fault, done: Vec::new() }
    }

    /// Takes the pending fault if it is `fault`, so that the fault occurs only once. Returns
    /// whether the fault was taken.
    pub(crate) fn take(&mut self, fault: Fault) -> bool {
        self.fault.take_if(|pending| *pending == fault).is_some()
    }

    /// Changes the document just before an aim or an action. Returns false if nothing changes.
    pub(crate) fn trigger(&mut self, dom: &Dom, target: usize, event: Event) -> bool {
        let path_keys = |at| dom.path(at).map(|i| dom.nodes[i].key.clone()).collect();
        let patch = match (self.fault, event) {
            (Some(Fault::Vanish), _) => Patch::Vanished(path_keys(target)),
            (Some(Fault::Relabel), _) => Patch::Relabelled(path_keys(target)),
            (Some(Fault::Move), _) => Patch::Shifted,
            (Some(Fault::Cover), _) => Patch::Covered,
            (Some(Fault::RelabelAfterAim), Event::Act) => Patch::Relabelled(path_keys(target)),
            (Some(Fault::RewriteAfterAim), Event::Act) => {
                let reads = |i: &usize| !dom.nodes[*i].name.is_empty();
                let insert_beside = |around: usize| {
                    (around + 1..dom.nodes[around].end)
                        .filter(|&i| !dom.contains(target, i) && !dom.contains(i, target))
                        .any(|i| reads(&i))
                };
                let Some(around) = dom.ancestors(target).find(|&i| insert_beside(i)) else { return false };
                Patch::Rewritten(path_keys(around), path_keys(target))
            }
            _ => return false,
        };
        self.fault = None;
        self.done.push(patch);
        true
    }

    /// Changes the document when the pointer arrives, if the pending fault is [`Fault::Insert`].
    /// Returns whether the document changes.
    pub(crate) fn shift_on_arrival(&mut self) -> bool {
        let is = self.take(Fault::Insert);
        if is {
            self.done.push(Patch::Shifted);
        }
        is
    }

    /// Applies the changes to a new rendering.
    pub(crate) fn apply(&self, dom: &mut Dom) {
        for patch in &self.done {
            match patch {
                Patch::Vanished(way) => {
                    if let Some(at) = find(dom, way) {
                        dom.remove(at);
                    }
                }
                Patch::Relabelled(way) => {
                    if let Some(at) = find(dom, way) {
                        let end = dom.nodes[at].end;
                        replace_labels(&mut dom.nodes[at..end]);
                        dom.nodes[at].truth.push_str(" (relabelled)");
                    }
                }
                Patch::Rewritten(around, target) => {
                    if let (Some(around), Some(target)) = (find(dom, around), find(dom, target)) {
                        let (end, after) = (dom.nodes[around].end, dom.nodes[target].end);
                        replace_labels(&mut dom.nodes[around + 1..target]);
                        replace_labels(&mut dom.nodes[after..end]);
                    }
                }
                Patch::Shifted => {
                    let mut spacer = synthetic_node("shift", "inserted");
                    spacer.style.height = Some(SHIFT);
                    dom.insert_first(spacer);
                }
                Patch::Covered => {
                    let mut cover = synthetic_node("cover", "cover");
                    cover.style.fixed = Some((0, 0));
                    (cover.style.width, cover.style.height) = (Some(100_000), Some(100_000));
                    dom.insert_first(cover);
                }
            }
        }
    }
}

fn replace_labels(nodes: &mut [Node]) {
    for node in nodes.iter_mut().filter(|node| !node.name.is_empty()) {
        node.name = "Something else".into();
    }
}

fn synthetic_node(part: &str, truth: &str) -> Node {
    let mut node = render::blank(render::NO_VIEW_LINE, part, crate::roles::kind("div").expect("a kind"));
    node.truth = truth.into();
    node
}

/// Returns the node of a path that goes from the element to the root.
fn find(dom: &Dom, path: &[Key]) -> Option<usize> {
    let (root, below) = path.split_last()?;
    let mut at = 0;
    if &dom.nodes.first()?.key != root {
        return None;
    }
    for key in below.iter().rev() {
        at = dom.children(at).find(|&c| &dom.nodes[c].key == key)?;
    }
    Some(at)
}
