//! What the page script cannot see from its world, asked of the browser and put into its columns: closed shadow
//! roots, what custom elements say of themselves through `ElementInternals`, and which elements listen for clicks.
//!
//! Each question is about few elements, sent for all of them at once, and bounded. What was learnt is kept per
//! document, so that locating an element judges with the same roles and names as the capture that named it.

mod internals;
mod listeners;
mod roots;

use crate::agent::GLOBAL;
use crate::capture::{Columns, Said};
use crate::tab::{Fault, Tab, World};
use hashbrown::{HashMap, HashSet};
pub(crate) use listeners::Listening;
use stickpin_devtools::Method;
use stickpin_devtools::protocol as cdp;
use stickpin_tree::Handle;

/// The objects of one question; released with its answer.
const GROUP: &str = "stickpin-question";

/// What is known beyond the columns, by the scope of documents.
#[derive(Debug, Default)]
pub(crate) struct Unseen {
    documents: HashMap<u64, Known>,
}

/// What is known of one document.
#[derive(Debug, Default)]
struct Known {
    /// The document as an object of our world, once it was asked for.
    object: Option<String>,
    /// The document as an object of the page's world, to ask for listeners.
    asked: Option<String>,
    /// What listened when it was last asked: the browser's own numbers, sorted.
    heard: Vec<i64>,
    /// Numbers of elements by the browser's own.
    numbers: HashMap<i64, u64>,
    /// Elements with a click listener of their own.
    listening: HashSet<u64>,
    /// Whether the last capture left questions to the next ones.
    more: bool,
    /// What custom elements said last.
    said: HashMap<u64, Option<Said>>,
}

impl Unseen {
    /// Forgets documents that are gone.
    pub(crate) fn keep(&mut self, worlds: &[World]) {
        self.documents.retain(|scope, _| worlds.iter().any(|w| w.scope == *scope));
    }

    /// Completes the columns of a document with its closed shadow roots, for which it is walked again with
    /// `question`, and with what its custom elements say. For a capture everything is asked anew; where `only` one element
    /// is judged, that one is, and the others are as they were.
    ///
    /// # Errors
    /// See [`Fault`].
    pub(crate) async fn complete(
        &mut self,
        tab: &Tab,
        world: &World,
        mut columns: Columns,
        question: &str,
        only: Option<Handle>,
    ) -> Result<Columns, Fault> {
        if only.is_none() {
            let (adopted, more) = roots::adopt(tab, world, columns, question).await?;
            columns = adopted;
            self.documents.entry(world.scope).or_default().more = more;
        }
        let known = self.documents.entry(world.scope).or_default();
        internals::ask(tab, world, &mut columns, &mut known.said, only).await?;
        Ok(columns)
    }

    /// Whether the next capture would ask more of a document than the last one did, although nothing changes.
    pub(crate) fn wants_more(&self, world: &World) -> bool {
        self.documents.get(&world.scope).is_some_and(|known| known.more)
    }

    /// Marks what listens for clicks.
    pub(crate) fn mark(&self, world: &World, columns: &mut Columns) {
        if let Some(known) = self.documents.get(&world.scope) {
            listeners::mark(columns, &known.listening);
        }
    }
}

/// The elements with these numbers as objects of our world, in order; none for one that is gone. They are released
/// with [`release`].
async fn objects(tab: &Tab, world: &World, ids: &[u64]) -> Result<Vec<Option<String>>, Fault> {
    let evaluate = cdp::EvaluateObject {
        expression: format!("{ids:?}.map(id=>{GLOBAL}.nodeOf(id))"),
        unique_context_id: world.context.clone(),
        object_group: GROUP,
    };
    let mut found = vec![None; ids.len()];
    let Some(list) = one(tab, world, evaluate).await?.and_then(|e| e.result.object_id) else {
        return Err(Fault::WorldGone);
    };
    let properties = cdp::GetProperties { object_id: list, own_properties: true };
    let Some(properties) = one(tab, world, properties).await? else { return Err(Fault::WorldGone) };
    for property in properties.result {
        if let Ok(at) = property.name.parse::<usize>()
            && let Some(slot) = found.get_mut(at)
        {
            *slot = property.value.and_then(|v| v.object_id);
        }
    }
    Ok(found)
}

/// Lets the objects of a question go.
fn release(tab: &Tab, world: &World) {
    // Nothing depends on it: they go with their document at the latest.
    drop(tab.client.send(Some(&world.session), &cdp::ReleaseObjectGroup { object_group: GROUP }));
}

/// The answers to many commands that are sent at once; none where the browser refuses, because the node is gone.
async fn all<M: Method>(tab: &Tab, world: &World, methods: Vec<M>) -> Result<Vec<Option<M::Output>>, Fault> {
    let asked = async {
        let replies: Vec<_> = methods.iter().map(|m| tab.client.send(Some(&world.session), m)).collect();
        let mut answers = Vec::with_capacity(replies.len());
        for reply in replies {
            answers.push(tab.answer_if(reply).await?);
        }
        Ok::<_, Fault>(answers)
    };
    tab.unless_dialog(asked).await
}

async fn one<M: Method>(tab: &Tab, world: &World, method: M) -> Result<Option<M::Output>, Fault> {
    Ok(all(tab, world, vec![method]).await?.pop().flatten())
}
