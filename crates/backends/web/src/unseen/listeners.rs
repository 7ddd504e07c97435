//! Click listeners of elements' own: one question per document, whose answer names elements by the browser's
//! numbers. Each number is translated once.

use super::{GROUP, Unseen, all, one, release};
use crate::agent::GLOBAL;
use crate::capture::Columns;
use crate::cdp::Reply;
use crate::cdp::protocol as cdp;
use crate::tab::{Fault, Tab, World};
use hashbrown::HashSet;
use stickpin_tree::Role;

/// Numbers that are translated in one capture, in the order of the document; the others come with the next ones. One
/// takes 0.05 to 0.1 ms.
const MOST: usize = 300;

/// The document as an object of our world, kept for as long as the document lives.
const KEPT: &str = "stickpin-document";

/// What a press sets off.
const PRESSES: [&str; 3] = ["click", "mousedown", "pointerdown"];

/// More rows than that below a listener: it listens for others.
const LARGEST: usize = 40;

/// A question under way, for each document.
#[derive(Debug)]
pub(crate) struct Listening {
    asked: Vec<(World, Asked)>,
}

#[derive(Debug)]
enum Asked {
    /// For the document itself, first.
    Object(Reply<cdp::EvaluateObject>),
    Listeners(Reply<cdp::GetEventListeners>),
}

const fn listeners_of(object_id: String) -> cdp::GetEventListeners {
    // Only `pierce` reports listeners of all worlds, and it looks into frames of the same process, too.
    cdp::GetEventListeners { object_id, depth: -1, pierce: true }
}

/// The document as an object of the page's own world. Asked through an object of another world, the browser builds the
/// answer there, and a page whose garbage is collected meanwhile crashes (Chromium 156).
async fn in_page(tab: &Tab, world: &World, object_id: String) -> Result<Option<String>, Fault> {
    let described = one(tab, world, cdp::DescribeNode { object_id, depth: 0 }).await?;
    let Some(backend_node_id) = described.map(|d| d.node.backend_node_id) else { return Ok(None) };
    let resolved = one(tab, world, cdp::ResolveInPage { backend_node_id }).await?;
    Ok(resolved.and_then(|r| r.object.object_id))
}

impl Unseen {
    /// Asks without waiting: the browser answers while the captures before it are read.
    pub(crate) fn listen(&self, tab: &Tab, worlds: &[World]) -> Listening {
        let asked = worlds.iter().map(|world| {
            let object = self.documents.get(&world.scope).and_then(|known| known.asked.clone());
            let session = Some(world.session.as_str());
            let asked = match object {
                Some(object) => Asked::Listeners(tab.client.send(session, &listeners_of(object))),
                None => Asked::Object(tab.client.send(
                    session,
                    &cdp::EvaluateObject {
                        expression: "document".to_owned(),
                        unique_context_id: world.context.clone(),
                        object_group: KEPT,
                    },
                )),
            };
            (world.clone(), asked)
        });
        Listening { asked: asked.collect() }
    }

    /// Reads the answers.
    ///
    /// # Errors
    /// See [`Fault`].
    pub(crate) async fn heard(&mut self, tab: &Tab, listening: Listening) -> Result<(), Fault> {
        for (world, nodes) in self.nodes(tab, listening).await? {
            self.translate(tab, &world, &nodes).await?;
        }
        Ok(())
    }

    /// Whether what listens is what listened. Where none was added since, as the browser counts them, only those that
    /// there were are asked for: one that is taken away is counted until garbage is collected.
    ///
    /// # Errors
    /// See [`Fault`].
    pub(crate) async fn still_listens(
        &mut self,
        tab: &Tab,
        worlds: &[World],
        none_added: bool,
    ) -> Result<bool, Fault> {
        if none_added && self.documents.values().all(|known| known.heard.is_empty()) {
            return Ok(true);
        }
        let listening = self.listen(tab, worlds);
        let now = self.nodes(tab, listening).await?;
        let same = |(world, mut nodes): (World, Vec<i64>)| {
            nodes.sort_unstable();
            self.documents.get(&world.scope).is_some_and(|known| known.heard == nodes)
        };
        Ok(now.len() == worlds.len() && now.into_iter().all(same))
    }

    /// The elements that listen, by the browser's own numbers.
    async fn nodes(&mut self, tab: &Tab, listening: Listening) -> Result<Vec<(World, Vec<i64>)>, Fault> {
        let mut answers = Vec::with_capacity(listening.asked.len());
        for (world, asked) in listening.asked {
            let heard = async {
                let reply = match asked {
                    Asked::Listeners(reply) => reply,
                    Asked::Object(reply) => {
                        let object = tab.answer_if(reply).await?.and_then(|e| e.result.object_id);
                        let Some(object) = object else { return Ok(None) };
                        let Some(asked) = in_page(tab, &world, object.clone()).await? else {
                            return Ok(None);
                        };
                        let known = self.documents.entry(world.scope).or_default();
                        known.object = Some(object);
                        known.asked = Some(asked.clone());
                        tab.client.send(Some(&world.session), &listeners_of(asked))
                    }
                };
                tab.answer_if(reply).await
            };
            if let Some(answer) = tab.unless_dialog(heard).await? {
                answers.push((world, answer.listeners));
            }
        }
        // A document's answer holds those of the frames in it: inner ones first, and each number once.
        let mut claimed = HashSet::new();
        let mut found = Vec::with_capacity(answers.len());
        for (world, listeners) in answers.into_iter().rev() {
            let mut nodes = Vec::new();
            for listener in listeners {
                if let Some(node) = listener.backend_node_id
                    && PRESSES.contains(&listener.r#type.as_str())
                    && claimed.insert((world.session.clone(), node))
                {
                    nodes.push(node);
                }
            }
            found.push((world, nodes));
        }
        Ok(found)
    }

    /// Notes the elements with these numbers of the browser as those that listen.
    async fn translate(&mut self, tab: &Tab, world: &World, nodes: &[i64]) -> Result<(), Fault> {
        let known = self.documents.entry(world.scope).or_default();
        let unknown: Vec<i64> =
            nodes.iter().filter(|n| !known.numbers.contains_key(*n)).take(MOST).copied().collect();
        known.more |= unknown.len() == MOST;
        if let (false, Some(object_id)) = (unknown.is_empty(), known.object.clone()) {
            let execution_context_id = tab.context_number(world)?;
            let resolve = |&backend_node_id: &i64| cdp::ResolveInGroup {
                backend_node_id,
                execution_context_id,
                object_group: GROUP,
            };
            let resolved = all(tab, world, unknown.iter().map(resolve).collect()).await?;
            let mut found = Vec::new();
            let mut arguments = Vec::new();
            for (node, object) in unknown.into_iter().zip(resolved) {
                match object.and_then(|o| o.object.object_id) {
                    Some(object_id) => {
                        found.push(node);
                        arguments.push(cdp::ObjectArgument { object_id });
                    }
                    // Of another document, or gone: it is not asked for again.
                    None => _ = known.numbers.insert(node, 0),
                }
            }
            if !found.is_empty() {
                let function_declaration =
                    format!("function(...all){{return all.map(e=>e instanceof Element?{GLOBAL}.idOf(e):0)}}");
                let call = cdp::CallWithObjects {
                    function_declaration,
                    object_id,
                    arguments,
                    return_by_value: true,
                };
                let answer = all(tab, world, vec![call]).await?.pop().flatten();
                let ids: Vec<u64> = answer
                    .and_then(|a| a.result.value)
                    .and_then(|v| serde_json::from_str(v.get()).ok())
                    .unwrap_or_default();
                known.numbers.extend(found.into_iter().zip(ids));
            }
            release(tab, world);
        }
        known.heard = nodes.to_vec();
        known.heard.sort_unstable();
        known.listening.clear();
        known.listening.extend(nodes.iter().filter_map(|n| known.numbers.get(n)).filter(|id| **id != 0));
        Ok(())
    }
}

/// Roles whose elements are pressed as a whole when they listen. Of other roles it is the inside that is pressed.
const fn pressed_whole(role: Role) -> bool {
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

/// Makes what listens for clicks actionable: the outermost only, and no wrapper that holds things that are pressed
/// themselves or much else, because it listens for them.
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
    let listens: Vec<bool> = (0..rows).map(|row| listening.contains(&columns.id_of(row))).collect();
    let mut holds = vec![false; rows];
    let mut size = vec![0_usize; rows];
    for row in (1..rows).rev() {
        let parent = parents[row];
        holds[parent] |= holds[row] || listens[row] || columns.is_actionable(row);
        size[parent] += size[row] + 1;
    }
    let mut inside = vec![false; rows];
    for row in 1..rows {
        inside[row] = inside[parents[row]] || columns.is_actionable(parents[row]);
        if !listens[row] || inside[row] || columns.is_actionable(row) {
            continue;
        }
        let role = columns.role_of(row);
        if role == Some(Role::Generic) {
            if !holds[row] && size[row] <= LARGEST && !columns.is_body(row) {
                columns.press(row, true);
            }
        } else if role.is_some_and(pressed_whole) {
            columns.press(row, false);
        }
    }
}

#[cfg(test)]
mod tests;
