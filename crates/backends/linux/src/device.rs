//! The device traits for an open app. Facets other than `Navigator` are implemented in the files
//! that do their work: `act/{keyboard,screenshot,upload}.rs`, `aim.rs`, `app/{readahead,settle}.rs`
//! and `screen.rs`.

use crate::act;
use crate::act::upload::foreign_chooser;
use crate::aim::{self, position, press};
use crate::app::{self, ActionPrefetch, LinuxDevice, capture, lifecycle, query, settle};
use crate::verify;
use async_trait::async_trait;
use std::time::Duration;
use stickpin_device::{
    Action, Aim, AimOptions, CancellationToken, Capability, CaptureRequest, CaptureResult, Clipboard, Device,
    DeviceInfo, Error, InputOutcome, LeavePolicy, LocatedElement, Navigation, NavigationResult, Navigator,
    Notice, Page, PreparedInput, Query, Result, SettleRequest, SettleResult, Ticket, own_facets, unsupported,
};
use stickpin_tree::{Handle, Rect};

#[async_trait]
impl Device for LinuxDevice {
    fn info(&self) -> &DeviceInfo {
        &self.app.info
    }

    fn capabilities(&self) -> &'static [Capability] {
        crate::limits::CAPABILITIES
    }

    async fn page(&mut self) -> Result<Option<Page>> {
        lifecycle::alive(&self.app).await?;
        let title = query::title(&self.app).await?;
        Ok(title.map(|title| Page::new(self.app.url.clone(), title)))
    }

    async fn capture(&mut self, request: CaptureRequest<'_>) -> Result<CaptureResult> {
        lifecycle::alive(&self.app).await?;
        self.readahead.unused = 0;
        let tree = capture::capture_app(self, request.watch).await?;
        Ok(CaptureResult::of(tree, request.stored))
    }

    async fn locate(&mut self, handle: Handle, context: &[Handle]) -> Result<Option<LocatedElement>> {
        lifecycle::alive(&self.app).await?;
        self.readahead.unused = 0;
        if self.app.ids.path(handle.id).is_none() {
            return Ok(None);
        }
        let (tree, ticket) = match verify::reuse_last_tree(self.view(), handle, context).await? {
            Some(still) => still,
            None => {
                let tree = capture::capture_app(self, &[]).await?;
                // The answers that a press through an action needs are prefetched when only the
                // element is read.
                let again = match press::is_by_action(self.view(), handle) {
                    true => verify::reuse_last_tree(self.view(), handle, context).await?,
                    false => None,
                };
                again.unwrap_or((tree, Ticket::default()))
            }
        };
        let mut located = LocatedElement::find(tree, handle);
        located.iter_mut().for_each(|located| located.ticket = ticket.clone());
        Ok(located)
    }

    async fn prepare(
        &mut self,
        handle: Handle,
        context: &[Handle],
        options: AimOptions<'_>,
        seen: Ticket,
    ) -> Result<PreparedInput> {
        let is_valid = |ahead: &ActionPrefetch| ahead.is_fresh(&self.app, handle) && ahead.context == context;
        let mut ahead = seen.take().filter(is_valid);
        let mut prepared = PreparedInput::new(aim::aim_at(self, handle, options, &mut ahead).await?);
        if !prepared.aim.hit.allows_input() {
            return Ok(prepared);
        }
        // If nothing has moved or been signaled since the element was read, the answers are still
        // valid.
        let fresh = ahead.filter(|ahead| ahead.is_fresh(&self.app, handle));
        if let Some((ahead, tree)) = fresh.zip(self.last.tree.clone()) {
            self.listed = ahead.stack.as_ref().map(|stack| (ahead.at, stack.windows.clone()));
            prepared.located = LocatedElement::find(tree, handle);
            prepared.ticket = Ticket::new(ahead);
            return Ok(prepared);
        }
        prepared.located = self.locate(handle, context).await?;
        prepared.ticket = prepared.located.as_ref().map_or_else(Ticket::default, |l| l.ticket.clone());
        Ok(prepared)
    }

    async fn outcome(&mut self, target: Handle, _performed: Ticket) -> Result<Option<LocatedElement>> {
        lifecycle::alive(&self.app).await?;
        // A press in GTK 4 takes effect after a delay. Until then, nothing has changed that was not
        // signaled.
        let later =
            !app::pending(self).is_zero() && self.app.events.state().changes == self.last.changes_when_read;
        let tree = if later { self.last.tree.clone() } else { verify::recheck_element(self, target).await? };
        Ok(tree.and_then(|tree| LocatedElement::find(tree, target)))
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        position::boxes(self.view(), handles, false).await
    }

    async fn aim(&mut self, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
        aim::aim_at(self, handle, options, &mut None).await
    }

    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<InputOutcome> {
        self.commit(action, Ticket::default(), cancel).await
    }

    async fn commit(
        &mut self,
        action: &Action,
        prepared: Ticket,
        cancel: &CancellationToken,
    ) -> Result<InputOutcome> {
        lifecycle::alive(&self.app).await?;
        self.listed = None;
        act::perform(self, action, prepared.take(), cancel).await
    }

    async fn settle(&mut self, request: SettleRequest, cancel: &CancellationToken) -> Result<SettleResult> {
        settle::until_quiet(self, request, cancel).await
    }

    async fn changed(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool> {
        settle::until_changed(self.view(), timeout, cancel).await
    }

    async fn query(&mut self, handle: Handle, query: Query) -> Result<serde_json::Value> {
        lifecycle::alive(&self.app).await?;
        query::answer(self, handle, query).await
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        lifecycle::alive(&self.app).await?;
        let (mut notices, changes) = {
            let mut heard = self.app.events.state();
            (heard.notices.drain(..).collect::<Vec<_>>(), heard.changes)
        };
        if std::mem::replace(&mut self.changes_reported, changes) != changes {
            notices.insert(0, Notice::Changed);
        }
        notices.extend(foreign_chooser::foreign_window_notices(self).await);
        Ok(notices)
    }

    fn clipboard(&mut self) -> Option<&mut dyn Clipboard> {
        Some(&mut self.app.screen)
    }

    own_facets! {
        files: Files, lifecycle: Lifecycle, geometry: Geometry, screenshots: Screenshots, navigator: Navigator,
        events: Events, popups: Popups
    }

    async fn close(&mut self) -> Result<()> {
        let ended = match self.app.child.get_mut().take() {
            Some(child) => app::end_child(child, &self.app.info.label).await,
            None => Ok(()),
        };
        let screen = self.app.screen.end().await;
        ended.and(screen)
    }
}

#[async_trait]
impl Navigator for LinuxDevice {
    async fn url(&mut self) -> Result<Option<String>> {
        lifecycle::alive(&self.app).await?;
        // The address that was opened, whatever the app shows now.
        Ok(Some(self.app.url.clone()))
    }

    async fn navigate(
        &mut self,
        to: &Navigation,
        _leave: LeavePolicy,
        _timeout: Duration,
        _cancel: &CancellationToken,
    ) -> Result<NavigationResult> {
        let Navigation::To(what) = to else {
            return Err(unsupported("linux", "go back, forward or home, or reload"));
        };
        let quoted = shlex::try_quote(what).unwrap_or(what.as_str().into());
        Err(Error::unsupported(format!(
            "this session belongs to {}; {what} is another app or another instance of the same app",
            self.app.app_name()
        ))
        .hint(format!(
            "run `stickpin open {quoted} --relaunch` to replace the app, or use `--session NAME` to keep both"
        )))
    }
}
