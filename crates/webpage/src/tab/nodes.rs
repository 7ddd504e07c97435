//! Looks up nodes: the elements that show frames, and the ids and objects of nodes.

use super::worlds::known_worlds;
use super::{Tab, TabError, World};
use crate::agent;
use stickpin_devtools::CallError;
use stickpin_devtools::protocol as cdp;

impl Tab {
    /// Returns the element that shows a frame: the world of the parent document and the id in it.
    /// `None` for the top frame.
    ///
    /// # Errors
    /// See [`TabError`].
    pub(crate) async fn owner(&self, world: &World) -> Result<Option<(World, u64)>, TabError> {
        let Some(parent) = &world.parent else { return Ok(None) };
        let known = self.read(|tab| tab.frames.get(&world.frame)?.world.as_ref()?.owner)?;
        let Some(parent) = self.read(|tab| known_worlds(tab).into_iter().find(|w| w.frame == *parent))?
        else {
            return Err(TabError::WorldGone);
        };
        if let Some((scope, id)) = known
            && scope == parent.scope
        {
            return Ok(Some((parent, id)));
        }
        let owner = cdp::GetFrameOwner { frame_id: world.frame.clone() };
        let answer = async {
            let owner = self.client.call(Some(&parent.session), &owner).await;
            owner.map_err(|e| self.refusal_error(&e))
        };
        let node = self.unless_dialog(answer).await?.backend_node_id;
        let id = self.number(&parent, node).await?;
        self.write(|tab| {
            if let Some(w) = tab.frames.get_mut(&world.frame).and_then(|f| f.world.as_mut()) {
                w.owner = Some((parent.scope, id));
            }
        })?;
        Ok(Some((parent, id)))
    }

    /// Returns the id that a node named by the browser has in the document of a world.
    ///
    /// # Errors
    /// See [`TabError`].
    pub(crate) async fn number(&self, world: &World, node: i64) -> Result<u64, TabError> {
        let context = self.context_number(world)?;
        let answer = async {
            let session = Some(world.session.as_str());
            let resolve = cdp::ResolveNode { backend_node_id: node, execution_context_id: context };
            let resolved = self.client.call(session, &resolve).await.map_err(|e| self.refusal_error(&e))?;
            let call = cdp::CallFunctionOn {
                function_declaration: format!("function(){{return {}.idOf(this)}}", agent::GLOBAL),
                object_id: resolved.object.object_id.unwrap_or_default(),
                return_by_value: true,
            };
            self.client.call(session, &call).await.map_err(|e| self.refusal_error(&e))
        };
        let answer = self.unless_dialog(answer).await?;
        answer
            .result
            .value
            .and_then(|v| serde_json::from_str(v.get()).ok())
            .ok_or_else(|| TabError::Threw("it returned no id for a node".to_owned()))
    }

    /// Returns the object id of an expression's value in a document; `None` when the value is not
    /// an object.
    ///
    /// # Errors
    /// See [`TabError`].
    pub(crate) async fn object(&self, world: &World, expression: String) -> Result<Option<String>, TabError> {
        let method = cdp::Evaluate {
            expression,
            unique_context_id: Some(world.context.clone()),
            return_by_value: false,
            await_promise: false,
        };
        let answer = async { self.answer_raw(self.client.send(Some(&world.session), &method)).await };
        Ok(self.unless_dialog(answer).await?.result.object_id)
    }

    /// Converts a refusal by the browser. If its subject is gone, returns [`TabError::WorldGone`].
    pub(super) fn refusal_error(&self, error: &CallError) -> TabError {
        if error.is_gone() { TabError::WorldGone } else { TabError::Failed(self.call_error(error)) }
    }
}
