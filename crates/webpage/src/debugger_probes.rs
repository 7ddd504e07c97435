//! Asks the browser for what the in-page agent cannot see, and adds it to the agent's columns:
//! closed shadow roots, what custom elements report through `ElementInternals`, and click
//! listeners.
//!
//! Requests about single elements are limited in number and sent all at once. The results are kept
//! per document, so that locating an element uses the same roles and names as the last capture.

mod internals;
mod listeners;
mod roots;

use crate::agent::GLOBAL;
use crate::capture::{Columns, SelfDescription};
use crate::tab::{Tab, TabError, World};
use hashbrown::{HashMap, HashSet};
pub(crate) use listeners::PendingListeners;
use stickpin_devtools::Method;
use stickpin_devtools::protocol as cdp;
use stickpin_tree::Handle;

/// The object group for one request, released with the answer.
const GROUP: &str = "stickpin-question";

/// The results by the scope of their document.
#[derive(Debug, Default)]
pub(crate) struct DebuggerProbes {
    documents: HashMap<u64, DocumentProbe>,
}

/// The results for one document.
#[derive(Debug, Default)]
struct DocumentProbe {
    /// The document as an object of our world, once requested.
    object: Option<String>,
    /// The document as an object of the page's world, for requesting its listeners.
    page_object: Option<String>,
    /// The nodes with listeners at the last request, as sorted backend node ids.
    listener_nodes: Vec<i64>,
    /// The element ids by backend node id; 0 for a node that is gone or belongs to another
    /// document.
    numbers: HashMap<i64, u64>,
    /// The elements with click listeners of their own.
    with_click_listener: HashSet<u64>,
    /// Whether the last capture left requests for later captures.
    more: bool,
    /// The last self-descriptions of custom elements; `None` for an element without one.
    self_descriptions: HashMap<u64, Option<SelfDescription>>,
}

impl DebuggerProbes {
    /// Forgets documents that are gone.
    pub(crate) fn retain_documents(&mut self, worlds: &[World]) {
        self.documents.retain(|scope, _| worlds.iter().any(|w| w.scope == *scope));
    }

    /// Adds closed shadow roots and the reports of custom elements to the columns of a document.
    /// Without `target`, searches for closed roots, walks the document again with `expression` if a
    /// new one is found, and queries all custom elements. With `target`, queries only that element
    /// and new ones, and reuses the other results.
    ///
    /// # Errors
    /// See [`TabError`].
    pub(crate) async fn complete(
        &mut self,
        tab: &Tab,
        world: &World,
        mut columns: Columns,
        expression: &str,
        target: Option<Handle>,
    ) -> Result<Columns, TabError> {
        if target.is_none() {
            let (adopted, more) = roots::find_closed_roots(tab, world, columns, expression).await?;
            columns = adopted;
            self.documents.entry(world.scope).or_default().more = more;
        }
        let known = self.documents.entry(world.scope).or_default();
        internals::query_custom_elements(tab, world, &mut columns, &mut known.self_descriptions, target)
            .await?;
        Ok(columns)
    }

    /// Returns whether the next capture would request more of a document than the last one did,
    /// even without a change.
    pub(crate) fn needs_completion(&self, world: &World) -> bool {
        self.documents.get(&world.scope).is_some_and(|known| known.more)
    }

    /// Marks the rows that listen for clicks.
    pub(crate) fn mark_listeners(&self, world: &World, columns: &mut Columns) {
        if let Some(known) = self.documents.get(&world.scope) {
            listeners::mark(columns, &known.with_click_listener);
        }
    }
}

/// Resolves the elements with these ids to objects of our world, in order; `None` for an element
/// that is gone. Release them with [`release`].
async fn objects(tab: &Tab, world: &World, ids: &[u64]) -> Result<Vec<Option<String>>, TabError> {
    let evaluate = cdp::EvaluateObject {
        expression: format!("{ids:?}.map(id=>{GLOBAL}.nodeOf(id))"),
        unique_context_id: world.context.clone(),
        object_group: GROUP,
    };
    let mut found = vec![None; ids.len()];
    let Some(list) = call_one(tab, world, evaluate).await?.and_then(|e| e.result.object_id) else {
        return Err(TabError::WorldGone);
    };
    let properties = cdp::GetProperties { object_id: list, own_properties: true };
    let Some(properties) = call_one(tab, world, properties).await? else { return Err(TabError::WorldGone) };
    for property in properties.result {
        if let Ok(at) = property.name.parse::<usize>()
            && let Some(slot) = found.get_mut(at)
        {
            *slot = property.value.and_then(|v| v.object_id);
        }
    }
    Ok(found)
}

/// Releases the objects of a request.
fn release(tab: &Tab, world: &World) {
    // Nothing depends on the release: the objects go away with their document.
    drop(tab.client.send(Some(&world.session), &cdp::ReleaseObjectGroup { object_group: GROUP }));
}

/// Sends many commands at once and returns their answers; `None` for a command that the browser
/// refuses because the node is gone.
async fn call_all<M: Method>(
    tab: &Tab,
    world: &World,
    methods: Vec<M>,
) -> Result<Vec<Option<M::Output>>, TabError> {
    let answers = async {
        let replies: Vec<_> = methods.iter().map(|m| tab.client.send(Some(&world.session), m)).collect();
        let mut answers = Vec::with_capacity(replies.len());
        for reply in replies {
            answers.push(tab.answer_if(reply).await?);
        }
        Ok::<_, TabError>(answers)
    };
    tab.unless_dialog(answers).await
}

async fn call_one<M: Method>(tab: &Tab, world: &World, method: M) -> Result<Option<M::Output>, TabError> {
    Ok(call_all(tab, world, vec![method]).await?.pop().flatten())
}
