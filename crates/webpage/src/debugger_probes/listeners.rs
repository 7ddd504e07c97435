//! Finds elements with their own click listeners: one request per document, whose answer names
//! elements by backend node id. Each id is translated once.

use super::{DebuggerProbes, GROUP, call_all, call_one, release};
use crate::agent::GLOBAL;
use crate::capture::Columns;
use crate::tab::{Tab, TabError, World};
use hashbrown::HashSet;
use stickpin_devtools::Reply;
use stickpin_devtools::protocol as cdp;
use stickpin_tree::Role;

/// The maximum number of ids translated per document in one capture, in document order; the next
/// captures translate the rest. Each translation takes 0.05 to 0.1 ms.
const MAX_TRANSLATED: usize = 300;

/// The object group for document objects in our world, kept as long as the documents exist.
const DOCUMENT_GROUP: &str = "stickpin-document";

/// The events whose listeners make an element clickable.
const PRESSES: [&str; 3] = ["click", "mousedown", "pointerdown"];

/// The maximum number of rows below an element that listens on its own behalf. An element with more
/// rows listens for its descendants.
const MAX_ROWS_BELOW: usize = 40;

/// The pending request of each document.
pub(crate) type PendingListeners = Vec<(World, Reply<cdp::GetEventListeners>)>;

/// Returns the document as an object of the page's own world. Through an object of another world,
/// the browser would build the list of listeners in that world. If the page's garbage is collected
/// while that happens, the page crashes (Chromium 156).
async fn page_world_object(tab: &Tab, world: &World, object_id: String) -> Result<Option<String>, TabError> {
    let described = call_one(tab, world, cdp::DescribeNode { object_id, depth: 0 }).await?;
    let Some(backend_node_id) = described.map(|d| d.node.backend_node_id) else { return Ok(None) };
    let resolved = call_one(tab, world, cdp::ResolveInPage { backend_node_id }).await?;
    Ok(resolved.and_then(|r| r.object.object_id))
}

impl DebuggerProbes {
    /// Requests the listeners of every document. The browser prepares the answers while the
    /// captures that were requested earlier are being read.
    ///
    /// # Errors
    /// See [`TabError`].
    pub(crate) async fn request_listeners(
        &mut self,
        tab: &Tab,
        worlds: &[World],
    ) -> Result<PendingListeners, TabError> {
        let mut requests = Vec::with_capacity(worlds.len());
        for world in worlds {
            let known = self.documents.entry(world.scope).or_default();
            if known.page_object.is_none() {
                let document = cdp::EvaluateObject {
                    expression: "document".to_owned(),
                    unique_context_id: world.context.clone(),
                    object_group: DOCUMENT_GROUP,
                };
                let object = call_one(tab, world, document).await?.and_then(|e| e.result.object_id);
                let Some(object) = object else { continue };
                known.page_object = page_world_object(tab, world, object.clone()).await?;
                known.object = Some(object);
            }
            if let Some(object_id) = known.page_object.clone() {
                // Only `pierce` reports listeners of all worlds. It also includes frames of the
                // same process.
                let question = cdp::GetEventListeners { object_id, depth: -1, pierce: true };
                requests.push((world.clone(), tab.client.send(Some(&world.session), &question)));
            }
        }
        Ok(requests)
    }

    /// Reads the answers to requests for listeners. Returns the documents that must be walked
    /// again, because the walk left out a drawing in which a shape listens.
    ///
    /// # Errors
    /// See [`TabError`].
    pub(crate) async fn read_listeners(
        &mut self,
        tab: &Tab,
        pending: PendingListeners,
    ) -> Result<Vec<World>, TabError> {
        let mut outdated = Vec::new();
        for (world, nodes) in nodes(tab, pending).await? {
            if self.translate(tab, &world, &nodes).await? {
                outdated.push(world);
            }
        }
        Ok(outdated)
    }

    /// Returns whether the same elements still listen. With `count_unchanged`, the browser counted
    /// no new listener, so the request is needed only if there were listeners before. A removed
    /// listener is counted until it is garbage-collected.
    ///
    /// # Errors
    /// See [`TabError`].
    pub(crate) async fn has_same_listeners(
        &mut self,
        tab: &Tab,
        worlds: &[World],
        count_unchanged: bool,
    ) -> Result<bool, TabError> {
        if count_unchanged && self.documents.values().all(|known| known.listener_nodes.is_empty()) {
            return Ok(true);
        }
        let pending = self.request_listeners(tab, worlds).await?;
        let current = nodes(tab, pending).await?;
        let same = |(world, mut nodes): (World, Vec<i64>)| {
            nodes.sort_unstable();
            self.documents.get(&world.scope).is_some_and(|known| known.listener_nodes == nodes)
        };
        Ok(current.len() == worlds.len() && current.into_iter().all(same))
    }

    /// Records the elements with these backend node ids as listening. Returns whether one of them
    /// is in a drawing that has not been walked yet.
    async fn translate(&mut self, tab: &Tab, world: &World, nodes: &[i64]) -> Result<bool, TabError> {
        let mut is_outdated = false;
        let known = self.documents.entry(world.scope).or_default();
        let unknown: Vec<i64> =
            nodes.iter().filter(|n| !known.numbers.contains_key(*n)).take(MAX_TRANSLATED).copied().collect();
        known.more |= unknown.len() == MAX_TRANSLATED;
        if let (false, Some(object_id)) = (unknown.is_empty(), known.object.clone()) {
            let execution_context_id = tab.context_number(world)?;
            let resolve = |&backend_node_id: &i64| cdp::ResolveInGroup {
                backend_node_id,
                execution_context_id,
                object_group: GROUP,
            };
            let resolved = call_all(tab, world, unknown.iter().map(resolve).collect()).await?;
            let mut found = Vec::new();
            let mut arguments = Vec::new();
            for (node, object) in unknown.into_iter().zip(resolved) {
                match object.and_then(|o| o.object.object_id) {
                    Some(object_id) => {
                        found.push(node);
                        arguments.push(cdp::ObjectArgument { object_id });
                    }
                    // The node is gone or belongs to another document: do not query it again.
                    None => _ = known.numbers.insert(node, 0),
                }
            }
            if !found.is_empty() {
                let function_declaration = format!("function(...all){{return {GLOBAL}.heard(all)}}");
                let call = cdp::CallWithObjects {
                    function_declaration,
                    object_id,
                    arguments,
                    return_by_value: true,
                };
                let answer = call_one(tab, world, call).await?;
                let (ids, anew): (Vec<u64>, bool) = answer
                    .and_then(|a| a.result.value)
                    .and_then(|v| serde_json::from_str(v.get()).ok())
                    .unwrap_or_default();
                is_outdated = anew;
                known.numbers.extend(found.into_iter().zip(ids));
            }
            release(tab, world);
        }
        known.listener_nodes = nodes.to_vec();
        known.listener_nodes.sort_unstable();
        known.with_click_listener.clear();
        known
            .with_click_listener
            .extend(nodes.iter().filter_map(|n| known.numbers.get(n)).filter(|id| **id != 0));
        Ok(is_outdated)
    }
}

/// Returns the listening elements of each document, as backend node ids.
async fn nodes(tab: &Tab, pending: PendingListeners) -> Result<Vec<(World, Vec<i64>)>, TabError> {
    // A document's answer includes the frames in it. Handle inner documents first and each id once.
    let (mut claimed, mut found) = (HashSet::new(), Vec::with_capacity(pending.len()));
    for (world, reply) in pending.into_iter().rev() {
        let Some(answer) = tab.unless_dialog(tab.answer_if(reply)).await? else { continue };
        let presses = answer.listeners.into_iter().filter(|l| PRESSES.contains(&l.r#type.as_str()));
        let nodes = presses.filter_map(|listener| listener.backend_node_id);
        let nodes = nodes.filter(|node| claimed.insert((world.session.clone(), *node))).collect();
        found.push((world, nodes));
    }
    Ok(found)
}

/// Returns whether elements with a given role are pressed as a whole when they listen. With other
/// roles, the content is pressed.
const fn is_pressed_as_whole(role: Role) -> bool {
    matches!(
        role,
        Role::Image
            | Role::ListItem
            | Role::Row
            | Role::Cell
            | Role::GridCell
            | Role::ColumnHeader
            | Role::RowHeader
            | Role::Heading
            | Role::Paragraph
            | Role::Term
            | Role::Definition
            | Role::Article
            | Role::Figure
            | Role::Canvas
            | Role::Video
            | Role::Audio
    )
}

/// Makes rows that listen for clicks actionable.
///
/// Marks the outermost listening row if elements of its role are pressed as a whole. If the row has
/// no role, it is marked unless it contains pressable elements or much other content, because it
/// then listens on their behalf. Listening pictures and rows without a role are treated in the same
/// way inside a pressable row that is not a control and has other content or only a hand cursor.
/// Examples are an icon in a row and the two halves of a bar with a hand cursor.
pub(super) fn mark(columns: &mut Columns, listening: &HashSet<u64>) {
    if listening.is_empty() {
        return;
    }
    let rows = columns.len();
    let mut parents = vec![0_usize; rows];
    let mut open: Vec<usize> = Vec::new();
    for (row, parent) in parents.iter_mut().enumerate() {
        open.truncate(columns.depth_of(row));
        *parent = open.last().copied().unwrap_or(0);
        open.push(row);
    }
    let has_listener: Vec<bool> = (0..rows).map(|row| listening.contains(&columns.id_of(row))).collect();
    let contents: Vec<bool> = (0..rows).map(|row| has_listener[row] || !columns.is_wrapper(row)).collect();
    let mut has_listener_inside = vec![false; rows];
    let mut size = vec![0_usize; rows];
    let mut content = vec![0_usize; rows];
    for row in (1..rows).rev() {
        let parent = parents[row];
        content[row] += usize::from(contents[row]);
        content[parent] += content[row];
        has_listener_inside[parent] |=
            has_listener_inside[row] || has_listener[row] || columns.is_actionable(row);
        size[parent] += size[row] + 1;
    }
    // The content of a row without the row itself.
    let rest: Vec<usize> =
        (0..rows).map(|row| content[row].saturating_sub(usize::from(contents[row]))).collect();
    let mut outer: Vec<PressableAncestor> = vec![PressableAncestor::None; rows];
    for row in 1..rows {
        let parent = parents[row];
        outer[row] = outer[parent].inside_row(columns, parent);
        if !has_listener[row] || columns.is_actionable(row) {
            continue;
        }
        let role = columns.role_of(row);
        let may_be_pressable = match outer[row] {
            PressableAncestor::None => true,
            // The outer row has other content, so a press on this row differs from a press on the
            // outer one. An outer row that only has a hand cursor may have it only while the
            // pointer is there.
            PressableAncestor::Whole(whole) => {
                matches!(role, Some(Role::Generic | Role::Image))
                    && (!has_listener[whole] || rest[whole] > content[row])
            }
            PressableAncestor::Control => false,
        };
        if !may_be_pressable {
            continue;
        }
        if role == Some(Role::Generic) {
            if !has_listener_inside[row] && size[row] <= MAX_ROWS_BELOW && !columns.is_body(row) {
                columns.press(row, true);
            }
        } else if role.is_some_and(is_pressed_as_whole) {
            columns.press(row, false);
        }
    }
}

/// The pressable row around a row.
#[derive(Debug, Clone, Copy)]
enum PressableAncestor {
    /// No pressable row.
    None,
    /// This row, which is pressable and not a control.
    Whole(usize),
    /// A control, which includes everything inside.
    Control,
}

impl PressableAncestor {
    /// Returns the pressable row around the children of `row`, given the one around `row`.
    fn inside_row(self, columns: &Columns, row: usize) -> Self {
        let is_control = |role: Role| role.is_control() && role != Role::Clickable;
        match self {
            Self::Control => self,
            _ if !columns.is_actionable(row) => self,
            _ if columns.role_of(row).is_some_and(is_control) => Self::Control,
            _ => Self::Whole(row),
        }
    }
}

#[cfg(test)]
mod tests;
