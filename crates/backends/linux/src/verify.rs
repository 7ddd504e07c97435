//! Looking at one element again without reading the whole app: the last reading still holds where nothing was signalled
//! since, and where what counts for the element answers as it did.
//!
//! Silence alone proves nothing, because toolkits do not signal everything. So the element, all that is above it, its row,
//! and what its record is told by are asked again; any difference means that the app is read anew.

mod asked;
mod compared;

use crate::app::LinuxDevice;
use crate::capture::tree;
use std::sync::Arc;
use stickpin_device::Result;
use stickpin_tree::{Handle, Tree};

pub(crate) use asked::Again;
pub(crate) use compared::Now;

impl LinuxDevice {
    /// The last tree, if it still holds for this element.
    ///
    /// # Errors
    /// `BACKEND_LOST`, `TIMEOUT`.
    pub(crate) async fn still(&mut self, handle: Handle, context: &[Handle]) -> Result<Option<Arc<Tree>>> {
        let seen = self.seen;
        let again = self.last.as_ref().filter(|_| self.heard.state().changes == seen).and_then(|last| {
            let path = |h: Handle| self.ids.path(h.id);
            Some((Again::of(&last.picture, path, handle, context)?, last))
        });
        if let Some((again, last)) = again {
            match again.ask(&self.link, &last.picture).await {
                Ok(now) if self.heard.state().changes == seen && now.same => {
                    return Ok(Some(Arc::clone(&last.tree)));
                }
                Ok(_) => {}
                Err(fault) => return Err(self.failed(fault).await),
            }
        }
        // What was signalled until now belongs to what is read next.
        self.hear().await.map(|()| None)
    }

    /// What was signalled until now has been heard when this comes back.
    async fn hear(&mut self) -> Result<()> {
        match self.link.barrier().await {
            Ok(()) => Ok(()),
            Err(fault) => Err(self.failed(fault).await),
        }
    }

    /// The last tree with the element as it answers now, whatever else has changed since; none where nothing but a new
    /// reading can tell.
    ///
    /// # Errors
    /// `BACKEND_LOST`, `TIMEOUT`.
    pub(crate) async fn itself_now(&mut self, handle: Handle) -> Result<Option<Arc<Tree>>> {
        let again = self.itself(handle);
        let Some((again, last)) = again.as_ref().zip(self.last.as_ref()) else {
            return self.hear().await.map(|()| None);
        };
        match again.ask(&self.link, &last.picture).await {
            Ok(now) => self.with(again, now),
            Err(fault) => Err(self.failed(fault).await),
        }
    }

    /// What is to be asked of an element by itself.
    fn itself(&self, handle: Handle) -> Option<Again> {
        let path = |h: Handle| self.ids.path(h.id);
        self.last.as_ref().and_then(|last| Again::itself(&last.picture, path, handle))
    }

    /// The last tree with what was answered in its place.
    fn with(&mut self, again: &Again, mut now: Now) -> Result<Option<Arc<Tree>>> {
        let Some(last) = &mut self.last else { return Ok(None) };
        if now.same {
            return Ok(Some(Arc::clone(&last.tree)));
        }
        if !again.fits(&now, &last.picture) {
            return Ok(None);
        }
        // For as long as the tree takes: a copy of all that was read would cost as much as that.
        again.exchange(&mut now, &mut last.picture);
        let tree = tree::build(&last.picture, &self.ids, &self.at, &[]);
        again.exchange(&mut now, &mut last.picture);
        tree.map(|tree| Some(Arc::new(tree))).map_err(|e| self.treeless(&e))
    }
}
