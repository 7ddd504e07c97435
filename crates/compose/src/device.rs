//! The composed device: an implementation of the device traits that delegates to the members.

use crate::ground::{Composed, Ground};
use crate::handles::{inner, named_part, of_part, outer};
use crate::parts::{Member, Part};
use async_trait::async_trait;
use futures_util::future::{join_all, select_all};
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{
    Action, Aim, AimOptions, Arrived, CancellationToken, Capability, CaptureRequest, Captured, Clipboard,
    Device, DeviceInfo, ErrorCode, Events, FileInput, Files, Geometry, Hit, Leave, Lifecycle, Located,
    Moving, Navigation, Navigator, Notice, Performed, Pictures, Popups, Query, Result, SettleRequest,
    Settled, Shot, ShotRequest, Ticket, own_facets, unsupported,
};
use stickpin_tree::{Handle, Rect};

/// The interval after which a wait for a change reports a possible one, because not every change is
/// signalled.
const NET: Duration = Duration::from_millis(500);

/// Returns the result of the first of several waits; never returns if there are none.
async fn first<T>(waits: Vec<impl Future<Output = T> + Unpin>) -> T {
    if waits.is_empty() { std::future::pending().await } else { select_all(waits).await.0 }
}

#[async_trait]
impl<G: Ground> Device for Composed<G> {
    fn info(&self) -> &DeviceInfo {
        self.ground.info()
    }

    fn capabilities(&self) -> &'static [Capability] {
        self.ground.capabilities()
    }

    async fn capture(&mut self, request: CaptureRequest<'_>) -> Result<Captured> {
        let tree = self.look(request.watch).await?;
        let stored = request.stored.is_some_and(|stored| Arc::ptr_eq(stored, tree));
        Ok(if stored { Captured::Unchanged } else { Captured::Tree(Arc::clone(tree)) })
    }

    async fn locate(&mut self, handle: Handle, context: &[Handle]) -> Result<Option<Located>> {
        self.find(handle, Some(context)).await
    }

    async fn outcome(&mut self, target: Handle, _performed: Ticket) -> Result<Option<Located>> {
        self.find(target, None).await
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        self.places(handles, false).await
    }

    async fn aim(&mut self, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
        let (number, own) = inner(handle);
        if named_part(handle).is_some_and(|number| self.parts.has(number)) {
            // A member has no place of its own.
            let (rect, hit) = (Rect::default(), Hit::OffScreen);
            return Ok(Aim::new(rect, hit));
        }
        let aim = self.parts.device(number, G::NAME)?.aim(own, options).await;
        if options.pointer && !self.parts.acted.contains(&number) {
            // The pointer's arrival alone may change something.
            self.parts.acted.push(number);
        }
        let mut aim = self.judged(number, aim).await?;
        if let Hit::Covered { by: Some(by), .. } | Hit::Held { by: Some(by), .. } = &mut aim.hit {
            *by = outer(number, *by);
        }
        Ok(aim)
    }

    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<Performed> {
        self.send(action, cancel).await
    }

    async fn settle(&mut self, request: SettleRequest, cancel: &CancellationToken) -> Result<Settled> {
        self.ground.alive()?;
        // After an act in one member, changes in another do not delay the command.
        let settling = self.parts.concerned().filter_map(|part| {
            let (number, name) = (part.number, part.name.clone());
            let device = part.answering()?;
            Some(async move { (number, name, device.settle(request, cancel).await) })
        });
        let ended = join_all(settling).await;
        let mut settled = Settled::new(true, Vec::new());
        for (number, name, answer) in ended {
            match self.judged(number, answer).await {
                Ok(part) => {
                    settled.settled &= part.settled;
                    settled.still.extend(
                        part.still.into_iter().map(|still| Moving::Other(format!("{name}: {still}"))),
                    );
                }
                Err(e) if e.code == ErrorCode::ElementNotFound => {}
                Err(e) if e.code == ErrorCode::Timeout => {
                    settled.settled = false;
                    settled.still.push(Moving::Other(format!("{name} does not answer")));
                }
                Err(e) => return Err(e),
            }
        }
        if self.ground.has_news() {
            self.ground.refresh(&mut self.parts).await?;
        }
        Ok(settled)
    }

    async fn changed(&mut self, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
        self.ground.alive()?;
        let devices = self.parts.iter_mut().filter_map(Part::answering);
        let waits = devices.map(|device| device.changed(wait, cancel)).collect();
        tokio::select! {
            () = self.ground.news() => Ok(true),
            // The end of a member changes the whole.
            changed = first(waits) => Ok(changed.unwrap_or(true)),
            () = tokio::time::sleep(wait.min(NET)) => Ok(wait > NET),
            () = cancel.cancelled() => Ok(false),
        }
    }

    async fn query(&mut self, handle: Handle, query: Query) -> Result<serde_json::Value> {
        let (number, own) = inner(handle);
        if let Some(part) = named_part(handle).and_then(|number| self.parts.get(number)) {
            return match query {
                Query::Attrs => {
                    let mut attrs =
                        serde_json::Map::from_iter([("name".to_owned(), part.name.as_str().into())]);
                    attrs.extend(part.member.attrs());
                    Ok(attrs.into())
                }
                Query::Text => Ok(part.name.as_str().into()),
                Query::Html => Err(unsupported(self.ground.info().kind, "show the markup of an element")),
                _ => Err(unsupported(self.ground.info().kind, "answer such a question")),
            };
        }
        let answer = self.parts.device(number, G::NAME)?.query(own, query).await;
        self.judged(number, answer).await
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        self.ground.alive()?;
        if self.ground.has_news() {
            self.ground.refresh(&mut self.parts).await?;
        }
        let mut seen = Vec::new();
        for number in self.parts.iter().map(|part| part.number).collect::<Vec<_>>() {
            let Some(device) = self.parts.get(number).and_then(Part::answering) else { continue };
            let notices = device.notices().await;
            match self.judged(number, notices).await {
                Ok(notices) => {
                    // Changes in another member are no effect of an act in this one.
                    let acted = &self.parts.acted;
                    let own = acted.is_empty() || acted.contains(&number);
                    seen.extend(notices.into_iter().filter(|notice| own || *notice != Notice::Changed));
                }
                Err(e) if e.code == ErrorCode::ElementNotFound => {
                    self.ground.refresh(&mut self.parts).await?;
                }
                Err(e) => return Err(e),
            }
        }
        seen.append(&mut self.parts.notices);
        Ok(seen)
    }

    own_facets! {
        files: Files, geometry: Geometry, pictures: Pictures, navigator: Navigator, events: Events, popups: Popups
    }

    fn clipboard(&mut self) -> Option<&mut dyn Clipboard> {
        self.ground.clipboard()
    }

    fn lifecycle(&mut self) -> Option<&mut dyn Lifecycle> {
        Some(&mut self.parts)
    }

    async fn close(&mut self) -> Result<()> {
        self.parts.all.clear();
        self.ground.close().await
    }
}

#[async_trait]
impl<G: Ground> Geometry for Composed<G> {
    async fn visible_rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        self.places(handles, true).await
    }

    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        self.ground.alive()?;
        let there = self.ground.beneath(&self.parts, (x, y), "look at a point").await?;
        let Some(number) = there.map(|there| there.part) else { return Ok(None) };
        let there = self.parts.device(number, G::NAME)?.element_at(x, y).await;
        Ok(self.judged(number, there).await?.map(|own| outer(number, own)))
    }

    async fn move_pointer(&mut self, x: f64, y: f64) -> Result<()> {
        self.ground.point_at(&self.parts, x, y).await
    }
}

#[async_trait]
impl<G: Ground> Pictures for Composed<G> {
    async fn screenshot(&mut self, request: ShotRequest) -> Result<Shot> {
        let place = match request.of {
            Some(handle) => self.places(&[handle], false).await?.pop().flatten(),
            None => None,
        };
        self.ground.picture(&request, place).await
    }
}

#[async_trait]
impl<G: Ground> Navigator for Composed<G> {
    async fn url(&mut self) -> Result<Option<String>> {
        self.ground.alive()?;
        Ok(Some(self.ground.url().to_owned()))
    }

    async fn navigate(
        &mut self,
        to: &Navigation,
        _leave: Leave,
        ready: Duration,
        cancel: &CancellationToken,
    ) -> Result<Arrived> {
        self.ground.alive()?;
        match to {
            Navigation::To(what) if *what == self.ground.url() => Ok(Arrived::default().settled(true)),
            Navigation::To(what) => {
                let settled = match self.ground.start(&mut self.parts, what, ready, cancel).await? {
                    Some(quiet) => self.settle(SettleRequest::new(quiet, ready), cancel).await?.settled,
                    None => true,
                };
                Ok(Arrived::default().moved(true).settled(settled))
            }
            _ => Err(unsupported(self.ground.info().kind, "go back, forward or home")),
        }
    }
}

#[async_trait]
impl<G: Ground> Events for Composed<G> {
    async fn wait_event(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool> {
        self.changed(timeout, cancel).await
    }

    async fn wait_effect(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
        self.ground.alive()?;
        let devices = self.parts.concerned().filter_map(Part::answering);
        let waits = devices.map(|device| Box::pin(device.wait_effect(at_most, cancel))).collect();
        tokio::select! {
            () = self.ground.news() => {}
            // The end of a member is an effect; the notices name it.
            ended = first(waits) => drop(ended),
            // This outlasts the member's own wait, which may include the delay of an action.
            () = tokio::time::sleep(at_most + NET) => {}
            () = cancel.cancelled() => {}
        }
        Ok(())
    }
}

#[async_trait]
impl<G: Ground> Popups for Composed<G> {
    async fn close_popup(&mut self, opener: Handle, older: &[Handle]) -> Result<bool> {
        let (number, own) = inner(opener);
        let folded = self.parts.device(number, G::NAME)?.close_popup(own, &of_part(older, number)).await;
        self.judged(number, folded).await
    }
}

#[async_trait]
impl<G: Ground> Files for Composed<G> {
    async fn file_input(&mut self, handle: Handle) -> Result<Option<FileInput>> {
        let (number, own) = inner(handle);
        let Some(files) = self.parts.device(number, G::NAME)?.files() else { return Ok(None) };
        let found = files.file_input(own).await;
        let found = self.judged(number, found).await?;
        Ok(found.map(|mut input| {
            input.input = outer(number, input.input);
            input
        }))
    }

    async fn close_chooser(&mut self, chooser: Handle) -> Result<Option<bool>> {
        let (number, own) = inner(chooser);
        let Some(files) = self.parts.device(number, G::NAME)?.files() else { return Ok(None) };
        let closed = files.close_chooser(own).await;
        self.judged(number, closed).await
    }
}
