//! The device trait, implemented for an open page. Most of the work is done in other modules, such
//! as `act` and `navigate`.

use crate::act;
use crate::browser_state::SharedBrowserState;
use crate::downloads::TrackedDownload;
use crate::driven::DrivenBrowser;
use crate::launch::Browser;
use crate::navigate;
use async_trait::async_trait;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{
    Action, Aim, AimOptions, CancellationToken, Capability, CaptureRequest, CaptureResult, Device,
    DeviceInfo, InputOutcome, LocatedElement, Notice, Page, PreparedInput, Query, Result, SettleRequest,
    SettleResult, Ticket, own_facets, unsupported,
};
use stickpin_devtools::Client;
use stickpin_tree::{Handle, IdentityGrade, Rect};
use stickpin_webpage::act::aim;
use stickpin_webpage::read;
use stickpin_webpage::read::page::{DocumentElement, corrupt, element_gone};
use stickpin_webpage::tab::{Tab, frames};
use stickpin_webpage::wait::{effects, settle};
use tokio::time::timeout;

/// The time after which `changed` reports a *possible* change. A page can set the value of a field
/// without sending an event.
const RECHECK_INTERVAL: Duration = Duration::from_millis(500);

/// A browser that was started for this device, and the tab that the device drives.
#[derive(Debug)]
pub struct WebDevice {
    pub(crate) info: DeviceInfo,
    pub(crate) web: DrivenBrowser,
}

impl WebDevice {
    pub(crate) fn new(browser: Browser, browser_state: Arc<SharedBrowserState>, tab: Tab) -> Self {
        let mut info = DeviceInfo::new("web", &browser.label, IdentityGrade::NeverReused);
        info.pid = Some(browser.pid);
        Self { info, web: DrivenBrowser::new(browser, browser_state, tab) }
    }

    /// Returns the driven page. For tests, which capture the page again after it is reported
    /// unchanged.
    #[must_use]
    pub fn driven(&self) -> &stickpin_webpage::Page {
        &self.web.page
    }

    /// Returns the connection to the browser and the session of the driven page. For tests, which
    /// ask the page itself what it received, and for tools that need something that no command
    /// offers.
    #[must_use]
    pub fn devtools(&self) -> (&Client, &str) {
        (&self.web.page.tab.client, &self.web.page.tab.session)
    }
}

#[async_trait]
impl Device for WebDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn capabilities(&self) -> &'static [Capability] {
        crate::provider::CAPABILITIES
    }

    async fn page(&mut self) -> Result<Option<Page>> {
        navigate::current_page(&self.web).await.map(Some)
    }

    async fn capture(&mut self, request: CaptureRequest<'_>) -> Result<CaptureResult> {
        read::capture(&mut self.web.page, request).await
    }

    async fn locate(&mut self, handle: Handle, context: &[Handle]) -> Result<Option<LocatedElement>> {
        read::locate(&mut self.web.page, handle, context).await
    }

    async fn outcome(&mut self, target: Handle, performed: Ticket) -> Result<Option<LocatedElement>> {
        read::outcome(&mut self.web.page, target, &performed).await
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        frames::bounding_boxes(&self.web.page.tab, handles).await
    }

    async fn aim(&mut self, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
        act::aim(&mut self.web, handle, options).await
    }

    async fn prepare(
        &mut self,
        handle: Handle,
        context: &[Handle],
        options: AimOptions<'_>,
        seen: Ticket,
    ) -> Result<PreparedInput> {
        crate::tabs::keep_in_front(&self.web);
        self.web.page.commit(Some(handle)).await?;
        aim::prepare(&mut self.web.page, handle, context, options, &seen).await
    }

    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<InputOutcome> {
        act::commit(&mut self.web, action, &Ticket::default(), cancel).await
    }

    async fn commit(
        &mut self,
        action: &Action,
        prepared: Ticket,
        cancel: &CancellationToken,
    ) -> Result<InputOutcome> {
        act::commit(&mut self.web, action, &prepared, cancel).await
    }

    async fn settle(&mut self, request: SettleRequest, cancel: &CancellationToken) -> Result<SettleResult> {
        let deadline = Instant::now() + request.cap;
        settle::settle_until(&mut self.web.page, request.quiet, deadline, request.cap, cancel).await
    }

    async fn changed(&mut self, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
        // A caller that polls in a loop must not keep events from being read.
        tokio::task::yield_now().await;
        let seen = self.web.page.seen;
        let changed = self.web.page.tab.until(|tab| (tab.activity != seen).then_some(()));
        tokio::select! {
            changed = timeout(wait.min(RECHECK_INTERVAL), changed) => match changed {
                Ok(changed) => changed.map(|()| true),
                // After a full interval, something may have changed without an event.
                Err(_) => Ok(wait > RECHECK_INTERVAL),
            },
            () = cancel.cancelled() => Ok(false),
        }
    }

    async fn query(&mut self, handle: Handle, query: Query) -> Result<serde_json::Value> {
        let DocumentElement { world, id } = self.web.page.located_element(handle)?;
        let function = match query {
            Query::Attrs => "attrs",
            Query::Html => "html",
            Query::Text => "text",
            _ => return Err(unsupported("web", "answer this query")),
        };
        let answer: Box<RawValue> = self.web.page.tab.call(&world, function, (id,)).await?;
        match serde_json::from_str(answer.get()).map_err(corrupt)? {
            serde_json::Value::Null => Err(element_gone()),
            answer => Ok(answer),
        }
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        let (mut notices, changes, drawn) = self
            .web
            .page
            .tab
            .write(|tab| (tab.notices.drain(..).collect::<Vec<_>>(), tab.changes, tab.drawn.take()))?;
        notices.extend(drawn.map(|what| Notice::UnobservableInput { what }));
        // The notices that other tabs have collected so far do not belong to any later command.
        self.web.page.tab.shared.state().tabs.values_mut().for_each(|tab| tab.notices.clear());
        if std::mem::replace(&mut self.web.page.changes_reported, changes) != changes {
            notices.insert(0, Notice::Changed);
        }
        notices.extend(effects::unreported_effects(&self.web.page)?);
        notices
            .extend(self.web.state.lock().downloads.iter_mut().filter_map(TrackedDownload::progress_notice));
        Ok(notices)
    }

    own_facets! {
        in web:
        tabs: Tabs, clipboard: Clipboard, files: Files, traffic: Traffic, script: Script, lifecycle: Lifecycle,
        geometry: Geometry, screenshots: Screenshots, dialogs: Dialogs, navigator: Navigator, events: Events,
        popups: Popups
    }

    async fn close(&mut self) -> Result<()> {
        self.web.browser.end().await
    }
}
