//! Inputs on their way to the page: sent without waiting, waited for together, released whatever happens.

use super::{Fault, Tab};
use std::time::Duration;
use stickpin_device::{Dispatched, Error, Result};
use stickpin_devtools::protocol::MouseEvent;
use stickpin_devtools::{Method, Reply};

/// How long an input may stay unanswered after the page that it was sent to was replaced.
const SWAPPED: Duration = Duration::from_millis(500);

impl Tab {
    /// Writes a command to the page without waiting.
    pub(crate) fn send<M: Method>(&self, method: &M) -> Reply<M> {
        self.client.send(Some(&self.session), method)
    }

    /// Waits until the page has received inputs that were sent.
    ///
    /// # Errors
    /// [`Fault::Dialog`] as soon as one opens, and as [`Tab::answer`].
    pub(crate) async fn deliver<M: Method>(&self, replies: Vec<Reply<M>>) -> Result<(), Fault> {
        let arrivals = self.read(|tab| tab.arrivals)?;
        let dialog = self.until(|tab| tab.dialog.clone());
        let answered = async {
            for reply in replies {
                match reply.await {
                    Ok(_) => {}
                    // An input that its target did not outlive has done what it could. Any other refusal is no delivery.
                    Err(e) if e.is_gone() => {}
                    Err(e) => return Err(Fault::Failed(self.call_error(&e))),
                }
            }
            Ok(())
        };
        let replaced = async {
            self.until(|tab| (tab.arrivals != arrivals).then_some(())).await?;
            tokio::time::sleep(SWAPPED).await;
            Ok::<_, Error>(())
        };
        tokio::select! {
            biased;
            answered = answered => answered,
            dialog = dialog => Err(Fault::Dialog(dialog?)),
            replaced = replaced => Ok(replaced?),
        }
    }

    /// Moves the pointer; the page has seen it when this returns. Where the page may have changed under the resting pointer,
    /// that moves at its old place first, as a person's does: pages wait for it with what opened there, and would take the
    /// way away from it for that.
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

    /// Something that must be released, whatever happens to the one who pressed it.
    pub(crate) fn hold<M: Method>(&self, release: M) -> Held<'_, M> {
        Held { tab: self, release: Some(release) }
    }
}

/// Sends its release when it is dropped.
#[derive(Debug)]
pub(crate) struct Held<'a, M: Method> {
    tab: &'a Tab,
    release: Option<M>,
}

impl<M: Method> Held<'_, M> {
    /// Releases now. None only if that was done before.
    pub(crate) fn release(mut self) -> Option<Reply<M>> {
        self.release.take().map(|release| self.tab.send(&release))
    }

    /// Nothing is held any more.
    pub(crate) fn disarm(mut self) {
        self.release = None;
    }
}

impl<M: Method> Drop for Held<'_, M> {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            // Nobody is left who could wait for the answer.
            drop(self.tab.send(&release));
        }
    }
}
