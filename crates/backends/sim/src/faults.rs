//! Faults that any app can be opened with (`?fault=`): what changes between a look and an act, once.

use crate::app::dom::{Dom, Key, Node};
use crate::app::render;
use crate::options::Fault;

/// The fault that is still to come, and the traces of the one that came.
#[derive(Debug)]
pub(crate) struct Patches {
    fault: Option<Fault>,
    done: Vec<Patch>,
}

/// What a fault did to the document. Elements are named by the way from the root, which renderings keep.
#[derive(Debug)]
enum Patch {
    Vanished(Vec<Key>),
    Relabelled(Vec<Key>),
    Shifted,
    Covered,
}

/// How far a shift moves everything.
const SHIFT: i64 = 160;

impl Patches {
    pub(crate) fn new(fault: Option<Fault>) -> Self {
        Self { fault, done: Vec::new() }
    }

    /// Takes the fault if it is this one: it comes once.
    pub(crate) fn take(&mut self, fault: Fault) -> bool {
        let is = self.fault == Some(fault);
        if is {
            self.fault = None;
        }
        is
    }

    /// What happens to the document between the look and the aim. False if nothing does.
    pub(crate) fn strike(&mut self, dom: &Dom, target: usize) -> bool {
        let way = || dom.path(target).map(|i| dom.nodes[i].key.clone()).collect();
        let patch = match self.fault {
            Some(Fault::Vanish) => Patch::Vanished(way()),
            Some(Fault::Relabel) => Patch::Relabelled(way()),
            Some(Fault::Move) => Patch::Shifted,
            Some(Fault::Cover) => Patch::Covered,
            _ => return false,
        };
        self.fault = None;
        self.done.push(patch);
        true
    }

    /// What happens to the document when the pointer arrives.
    pub(crate) fn shift_on_arrival(&mut self) -> bool {
        let is = self.take(Fault::Insert);
        if is {
            self.done.push(Patch::Shifted);
        }
        is
    }

    /// Applies what was done to a new rendering.
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
                        for node in &mut dom.nodes[at..end] {
                            if !node.name.is_empty() {
                                node.name = "Something else".into();
                            }
                        }
                        dom.nodes[at].truth.push_str(" (relabelled)");
                    }
                }
                Patch::Shifted => {
                    let mut spacer = made_up("shift", "inserted");
                    spacer.style.height = Some(SHIFT);
                    dom.insert_first(spacer);
                }
                Patch::Covered => {
                    let mut cover = made_up("cover", "cover");
                    cover.style.fixed = Some((0, 0));
                    (cover.style.width, cover.style.height) = (Some(100_000), Some(100_000));
                    dom.insert_first(cover);
                }
            }
        }
    }
}

fn made_up(part: &str, truth: &str) -> Node {
    let mut node = render::blank(render::MADE_UP, part, crate::roles::kind("div").expect("a kind"));
    node.truth = truth.into();
    node
}

/// The node at the end of a way that begins at the element and ends at the root.
fn find(dom: &Dom, way: &[Key]) -> Option<usize> {
    let (root, below) = way.split_last()?;
    let mut at = 0;
    if &dom.nodes.first()?.key != root {
        return None;
    }
    for key in below.iter().rev() {
        at = dom.children(at).find(|&c| &dom.nodes[c].key == key)?;
    }
    Some(at)
}
