//! Our worlds in the documents of a tab: lists them, and installs the agent where it is missing.

use super::{Tab, TabError};
use crate::agent;
use crate::state::TabState;
use serde::de::IgnoredAny;
use std::time::{Duration, Instant};
use stickpin_device::{Error, ErrorCode};
use stickpin_devtools::protocol as cdp;
use tokio::time::timeout;

/// Timeout for a tab to show a document.
const DOCUMENT: Duration = Duration::from_secs(5);

/// Our world in the document of a frame, as of the lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct World {
    /// The scope of the document's handles.
    pub(crate) scope: u64,
    /// The id of the frame.
    pub(crate) frame: String,
    /// The id of the parent frame.
    pub parent: Option<String>,
    /// The position of the frame, stable across loads: empty for the top frame, otherwise indices
    /// such as `0` or `0/2`.
    pub(crate) path: String,
    /// The URL of the document.
    pub url: String,
    /// The session in which to call the world.
    pub session: String,
    pub(crate) context: String,
}

impl Tab {
    /// Returns our world in the top document. Installs the agent if the document has none.
    ///
    /// # Errors
    /// Returns the errors of `Tab::call`, `INTERNAL` when the tab could not be set up, or `TIMEOUT`
    /// when no document appears.
    pub async fn top_world(&self) -> Result<World, TabError> {
        let deadline = Instant::now() + DOCUMENT;
        loop {
            if let Some(why) = self.write(|tab| tab.refused.take())? {
                let message = format!("the tab could not be set up: {why}");
                return Err(Error::new(ErrorCode::Internal, message).hint("run `stickpin doctor`").into());
            }
            let (world, main) = self.read(|tab| (top_world(tab), tab.main.clone()))?;
            if let Some(world) = world {
                return Ok(world);
            }
            if Instant::now() >= deadline {
                let message = format!("the tab showed no document within {} s", DOCUMENT.as_secs());
                return Err(Error::new(ErrorCode::Timeout, message).into());
            }
            self.inject(&self.session, main).await?;
            // Either the world exists now, or the document is being replaced.
            let document = self.until(|tab| top_world(tab).map(|_| ()));
            if let Ok(gone) = timeout(Duration::from_millis(100), document).await {
                gone?;
            }
        }
    }

    /// Returns our worlds in all documents of the tab, parents before their children. Frames that
    /// are still loading and have no document yet are left out.
    ///
    /// # Errors
    /// Returns the same errors as `Tab::call`.
    pub(crate) async fn worlds(&self) -> Result<Vec<World>, TabError> {
        self.top_world().await?;
        let bare: Vec<(String, String)> = self.read(|tab| {
            let frames = tab.frames.values().filter(|f| f.world.is_none() && !f.session.is_empty());
            frames.map(|f| (f.session.clone(), f.id.clone())).collect()
        })?;
        for (session, frame) in bare {
            self.inject(&session, frame).await?;
        }
        Ok(self.read(known_worlds)?)
    }

    /// Returns the world of a scope; `None` if its document is gone. Sends no command.
    pub(crate) fn world(&self, scope: u64) -> Result<Option<World>, Error> {
        self.read(|tab| known_worlds(tab).into_iter().find(|w| w.scope == scope))
    }

    /// Installs the agent in a document that started without it.
    async fn inject(&self, session: &str, frame: String) -> Result<(), TabError> {
        let create = cdp::CreateWorld { frame_id: frame.clone(), world_name: agent::WORLD };
        let created = self.unless_dialog(self.answer_if(self.client.send(Some(session), &create))).await?;
        if created.is_none() {
            // The frame has gone away.
            return Ok(());
        }
        let world = self.read(|tab| known_worlds(tab).into_iter().find(|w| w.frame == frame))?;
        let Some(world) = world else { return Ok(()) };
        match self.evaluate::<IgnoredAny>(&world, agent::AGENT.to_owned()).await {
            Ok(_) | Err(TabError::WorldGone) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Returns the id of a world's execution context in its session.
    ///
    /// # Errors
    /// Returns [`TabError::WorldGone`] when the document is gone.
    pub(crate) fn context_number(&self, world: &World) -> Result<i64, TabError> {
        let known = self.read(|tab| {
            let w = tab.frames.get(&world.frame)?.world.as_ref()?;
            (w.scope == world.scope).then_some(w.context)
        })?;
        known.ok_or(TabError::WorldGone)
    }
}

/// Returns our worlds in the documents that have one, parents before their children.
pub(super) fn known_worlds(tab: &TabState) -> Vec<World> {
    let mut paths: hashbrown::HashMap<&str, (String, usize)> = hashbrown::HashMap::new();
    let mut worlds = Vec::new();
    for frame in tab.frames_in_order() {
        let path = match frame.parent.as_deref().and_then(|p| paths.get_mut(p)) {
            None => String::new(),
            Some((above, children)) => {
                let index = *children;
                *children += 1;
                if above.is_empty() { index.to_string() } else { format!("{above}/{index}") }
            }
        };
        paths.insert(&frame.id, (path.clone(), 0));
        if let Some(world) = &frame.world {
            worlds.push(World {
                scope: world.scope,
                frame: frame.id.clone(),
                parent: frame.parent.clone(),
                path,
                url: frame.url.clone(),
                session: frame.session.clone(),
                context: world.unique.clone(),
            });
        }
    }
    worlds
}

fn top_world(tab: &TabState) -> Option<World> {
    tab.main_frame()?.world.as_ref()?;
    known_worlds(tab).into_iter().next()
}
