//! Delivers inputs to the page: sends them without waiting, awaits them together, and releases held
//! keys and buttons in every case.

use super::{Tab, TabError};
use std::time::Duration;
use stickpin_device::{Dispatched, Error, Result};
use stickpin_devtools::protocol::MouseEvent;
use stickpin_devtools::{Method, Reply};

/// Timeout for an input whose page was replaced before the input was answered.
const REPLACED_TIMEOUT: Duration = Duration::from_millis(500);

impl Tab {
    /// Sends a command to the page without waiting.
    pub(crate) fn send<M: Method>(&self, method: &M) -> Reply<M> {
        self.client.send(Some(&self.session), method)
    }

    /// Waits until the page has received the inputs that were sent, or has been replaced.
    ///
    /// # Errors
    /// Returns [`TabError::Dialog`] as soon as a dialog opens, and otherwise the errors of
    /// [`Tab::answer`].
    pub(crate) async fn deliver<M: Method>(&self, replies: Vec<Reply<M>>) -> Result<(), TabError> {
        let arrivals = self.read(|tab| tab.arrivals)?;
        let dialog = self.until(|tab| tab.dialog.clone());
        let answered = async {
            for reply in replies {
                match reply.await {
                    Ok(_) => {}
                    // An input whose target went away has done what it could. Any other refusal
                    // means that nothing was delivered.
                    Err(e) if e.is_gone() => {}
                    Err(e) => return Err(TabError::Failed(self.call_error(&e))),
                }
            }
            Ok(())
        };
        let replaced = async {
            self.until(|tab| (tab.arrivals != arrivals).then_some(())).await?;
            tokio::time::sleep(REPLACED_TIMEOUT).await;
            Ok::<_, Error>(())
        };
        tokio::select! {
            biased;
            answered = answered => answered,
            dialog = dialog => Err(TabError::Dialog(dialog?)),
            replaced = replaced => Ok(replaced?),
        }
    }

    /// Moves the pointer and returns when the page has seen the move. If the page may have changed
    /// under the resting pointer, the pointer first moves at its old position, as a person's
    /// pointer would. Pages wait for such a move after opening something under the pointer, and
    /// would otherwise mistake the path to the new position for that move.
    pub async fn move_pointer(&self, to: (f64, f64)) -> Result<()> {
        let rested = self.read(|tab| match tab.pointer {
            Some((at, activity)) if at != to && activity != tab.activity => Some(at),
            _ => None,
        })?;
        for (x, y) in rested.into_iter().chain([to]) {
            let moved = MouseEvent { r#type: "mouseMoved", x, y, ..MouseEvent::default() };
            self.deliver(vec![self.send(&moved)]).await.map_err(|fault| {
                // A page may react to the pointer alone.
                Error::from(fault).dispatched(Dispatched::Unknown)
            })?;
        }
        self.write(|tab| tab.pointer = Some((to, tab.activity)))?;
        Ok(())
    }

    /// Ensures that a pressed key or button is released even if the caller is cancelled.
    pub(crate) fn hold<M: Method>(&self, release: M) -> HeldKey<'_, M> {
        HeldKey { tab: self, release: Some(release) }
    }
}

/// A pressed key or button whose release command is sent on drop.
#[derive(Debug)]
pub(crate) struct HeldKey<'a, M: Method> {
    tab: &'a Tab,
    release: Option<M>,
}

impl<M: Method> HeldKey<'_, M> {
    /// Releases the key or button now. Returns the reply to await.
    pub(crate) fn release(mut self) -> Option<Reply<M>> {
        self.release.take().map(|release| self.tab.send(&release))
    }

    /// Marks the key or button as no longer held.
    pub(crate) fn disarm(mut self) {
        self.release = None;
    }
}

impl<M: Method> Drop for HeldKey<'_, M> {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            // Nobody is left to await the answer.
            drop(self.tab.send(&release));
        }
    }
}
