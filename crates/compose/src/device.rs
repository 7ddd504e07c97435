//! The composite device: an implementation of the device traits that delegates to the members.

use crate::environment::{CompositeDevice, Environment};
use crate::handles::{handles_of_member, member_named_by, to_composite, to_member};
use crate::members::{Member, MemberEntry};
use async_trait::async_trait;
use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{
    Action, Aim, AimOptions, CancellationToken, Capability, CaptureRequest, CaptureResult, Clipboard, Device,
    DeviceInfo, ErrorCode, Events, FileInput, Files, Geometry, InputOutcome, LeavePolicy, Lifecycle,
    LocatedElement, Navigation, NavigationResult, Navigator, Notice, PendingActivity, Popups, PreparedInput,
    Query, Result, ScreenshotImage, ScreenshotRequest, Screenshots, SettleRequest, SettleResult, Ticket,
    own_facets, unsupported,
};
use stickpin_tree::{Handle, Rect};

/// The interval after which a wait for a change reports a possible change, because not every change
/// is signaled.
const RECHECK_INTERVAL: Duration = Duration::from_millis(500);

impl<G: Environment> CompositeDevice<G> {
    /// Adds the members that exist, without notices, and waits until they are quiet. The result of
    /// the wait becomes the [`DeviceInfo::arrival`].
    ///
    /// # Errors
    /// Returns the errors of [`Environment::refresh`] and [`Device::settle`].
    pub async fn discover_members(
        &mut self,
        arrival: SettleRequest,
        cancel: &CancellationToken,
    ) -> Result<()> {
        self.ground.refresh(&mut self.parts).await?;
        self.info.arrival = self.settle(arrival, cancel).await?;
        self.parts.notices.clear();
        self.parts.device_notices.clear();
        Ok(())
    }
}

#[async_trait]
impl<G: Environment> Device for CompositeDevice<G> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn capabilities(&self) -> &'static [Capability] {
        G::CAPABILITIES
    }

    async fn capture(&mut self, request: CaptureRequest<'_>) -> Result<CaptureResult> {
        let tree = self.capture_members(request.watch).await?;
        Ok(CaptureResult::of(Arc::clone(tree), request.stored))
    }

    async fn locate(&mut self, handle: Handle, context: &[Handle]) -> Result<Option<LocatedElement>> {
        self.locate_in_member(handle, context, None).await
    }

    async fn outcome(&mut self, target: Handle, performed: Ticket) -> Result<Option<LocatedElement>> {
        self.locate_in_member(target, &[], Some(performed)).await
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        self.rects_of(handles, false).await
    }

    async fn aim(&mut self, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
        Ok(self.aim_in_member(handle, options, None).await?.aim)
    }

    async fn prepare(
        &mut self,
        handle: Handle,
        context: &[Handle],
        options: AimOptions<'_>,
        seen: Ticket,
    ) -> Result<PreparedInput> {
        self.aim_in_member(handle, options, Some((context, seen))).await
    }

    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<InputOutcome> {
        self.send(action, &Ticket::default(), cancel).await
    }

    async fn commit(
        &mut self,
        action: &Action,
        prepared: Ticket,
        cancel: &CancellationToken,
    ) -> Result<InputOutcome> {
        self.send(action, &prepared, cancel).await
    }

    async fn settle(&mut self, request: SettleRequest, cancel: &CancellationToken) -> Result<SettleResult> {
        self.ground.check_alive()?;
        // After an action in one member, changes in another do not delay the command.
        let settling = self.parts.members_acted_on().filter_map(|part| {
            let (number, name) = (part.number, part.name.clone());
            let device = part.responsive_device()?;
            Some(async move { (number, name, device.settle(request, cancel).await) })
        });
        let ended = join_all(settling).await;
        let mut settled = SettleResult::quiet();
        for (number, name, answer) in ended {
            match self.check_member(number, answer).await {
                Ok(part) => {
                    settled.is_quiet &= part.is_quiet;
                    let named = |still| PendingActivity::Other(format!("{name}: {still}"));
                    settled.pending.extend(part.pending.into_iter().map(named));
                }
                Err(e) if e.code == ErrorCode::ElementNotFound => {}
                Err(e) if e.code == ErrorCode::Timeout => {
                    settled.is_quiet = false;
                    settled.pending.push(PendingActivity::Other(format!("{name} does not respond")));
                }
                Err(e) => return Err(e),
            }
        }
        if self.ground.has_membership_changes() {
            self.ground.refresh(&mut self.parts).await?;
        }
        Ok(settled)
    }

    async fn changed(&mut self, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
        self.ground.check_alive()?;
        let devices = self.parts.iter_mut().filter_map(MemberEntry::responsive_device);
        let mut waits: FuturesUnordered<_> = devices.map(|device| device.changed(wait, cancel)).collect();
        tokio::select! {
            () = self.ground.wait_membership_change() => Ok(true),
            // The end of a member is a change of the composite device.
            Some(changed) = waits.next() => Ok(changed.unwrap_or(true)),
            () = tokio::time::sleep(wait.min(RECHECK_INTERVAL)) => Ok(wait > RECHECK_INTERVAL),
            () = cancel.cancelled() => Ok(false),
        }
    }

    async fn query(&mut self, handle: Handle, query: Query) -> Result<serde_json::Value> {
        let (number, own) = to_member(handle);
        if let Some(part) = member_named_by(handle).and_then(|number| self.parts.get(number)) {
            return match query {
                Query::Attrs => {
                    let name = ("name".to_owned(), part.name.as_str().into());
                    Ok(std::iter::once(name).chain(part.member.attrs()).collect())
                }
                Query::Text => Ok(part.name.as_str().into()),
                Query::Html => Err(unsupported(self.info.kind, "show the markup of an element")),
                _ => Err(unsupported(self.info.kind, "answer this query")),
            };
        }
        let answer = self.parts.device(number, G::NAME)?.query(own, query).await;
        self.check_member(number, answer).await
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        self.ground.check_alive()?;
        if self.ground.has_membership_changes() {
            self.ground.refresh(&mut self.parts).await?;
        }
        let mut seen = Vec::new();
        for number in self.parts.numbers() {
            let device = self.parts.get(number).and_then(MemberEntry::responsive_device);
            let Some(device) = device else { continue };
            let notices = device.notices().await;
            match self.check_member(number, notices).await {
                Ok(notices) => {
                    // Changes in members that were not acted on are not effects of the action.
                    let acted = &self.parts.acted_on;
                    let own = acted.is_empty() || acted.contains(&number);
                    seen.extend(notices.into_iter().filter(|notice| own || *notice != Notice::Changed));
                }
                Err(e) if e.code == ErrorCode::ElementNotFound => {
                    self.ground.refresh(&mut self.parts).await?;
                }
                Err(e) => return Err(e),
            }
        }
        seen.extend(self.parts.notices.drain(..));
        Ok(seen)
    }

    own_facets! {
        files: Files, geometry: Geometry, screenshots: Screenshots, navigator: Navigator, events: Events, popups: Popups
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
impl<G: Environment> Geometry for CompositeDevice<G> {
    async fn visible_rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        self.rects_of(handles, true).await
    }

    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        self.ground.check_alive()?;
        let there = self.ground.window_at(&self.parts, (x, y), "determine what is at a point").await?;
        let Some(number) = there.map(|there| there.part) else { return Ok(None) };
        let there = self.parts.device(number, G::NAME)?.element_at(x, y).await;
        Ok(self.check_member(number, there).await?.map(|own| to_composite(number, own)))
    }

    async fn move_pointer(&mut self, x: f64, y: f64) -> Result<()> {
        self.ground.move_pointer_to(&self.parts, x, y).await
    }
}

#[async_trait]
impl<G: Environment> Screenshots for CompositeDevice<G> {
    async fn screenshot(&mut self, request: ScreenshotRequest) -> Result<ScreenshotImage> {
        let place = match request.of {
            Some(handle) => self.rects_of(&[handle], false).await?.pop().flatten(),
            None => None,
        };
        self.ground.screenshot(&request, place).await
    }
}

#[async_trait]
impl<G: Environment> Navigator for CompositeDevice<G> {
    async fn url(&mut self) -> Result<Option<String>> {
        self.ground.check_alive()?;
        Ok(Some(self.url.clone()))
    }

    async fn navigate(
        &mut self,
        to: &Navigation,
        _leave: LeavePolicy,
        ready: Duration,
        cancel: &CancellationToken,
    ) -> Result<NavigationResult> {
        self.ground.check_alive()?;
        let Navigation::To(what) = to else {
            return Err(unsupported(self.info.kind, "go back, forward or home, or reload"));
        };
        let moved = *what != self.url;
        let mut arrival = SettleResult::quiet();
        if moved && let Some(quiet) = self.ground.start_member(&mut self.parts, what, ready, cancel).await? {
            arrival = self.settle(SettleRequest::new(quiet, ready), cancel).await?;
        }
        Ok(NavigationResult::default().moved(moved).quiet(arrival))
    }
}

#[async_trait]
impl<G: Environment> Events for CompositeDevice<G> {
    async fn wait_event(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool> {
        self.changed(timeout, cancel).await
    }

    async fn wait_effect(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
        self.ground.check_alive()?;
        let devices = self.parts.members_acted_on().filter_map(MemberEntry::responsive_device);
        let mut waits: FuturesUnordered<_> =
            devices.map(|device| device.wait_effect(at_most, cancel)).collect();
        tokio::select! {
            () = self.ground.wait_membership_change() => {}
            // The end of a member is an effect; the notices name the member.
            Some(_) = waits.next() => {}
            // This outlasts the member's own wait, which may include the delay of an action.
            () = tokio::time::sleep(at_most + RECHECK_INTERVAL) => {}
            () = cancel.cancelled() => {}
        }
        Ok(())
    }
}

#[async_trait]
impl<G: Environment> Popups for CompositeDevice<G> {
    async fn close_popup(&mut self, opener: Handle, older: &[Handle]) -> Result<bool> {
        let (number, own) = to_member(opener);
        let folded =
            self.parts.device(number, G::NAME)?.close_popup(own, &handles_of_member(older, number)).await;
        self.check_member(number, folded).await
    }
}

#[async_trait]
impl<G: Environment> Files for CompositeDevice<G> {
    async fn file_input(&mut self, handle: Handle) -> Result<Option<FileInput>> {
        let (number, own) = to_member(handle);
        let Some(files) = self.parts.device(number, G::NAME)?.files() else { return Ok(None) };
        let found = files.file_input(own).await;
        let found = self.check_member(number, found).await?;
        Ok(found.map(|mut input| {
            input.input = to_composite(number, input.input);
            input
        }))
    }

    async fn close_chooser(&mut self, chooser: Handle) -> Result<Option<bool>> {
        let (number, own) = to_member(chooser);
        let Some(files) = self.parts.device(number, G::NAME)?.files() else { return Ok(None) };
        let closed = files.close_chooser(own).await;
        self.check_member(number, closed).await
    }
}
