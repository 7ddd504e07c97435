//! A running app as a device.

mod navigate;
mod tabs;

use crate::app::sim::Sim;
use crate::app::vocabulary::Event;
use crate::capture::{self, Addresses, capture};
use crate::guard::{Guard, Guards};
use crate::layout::PAGE;
use crate::options::Fault;
use crate::shared_app::{SharedApp, WaitEnd, millis};
use crate::{aim, draw, query};
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;
use stickpin_device::{
    Action, Aim, AimOptions, CancellationToken, Capability, CaptureRequest, CaptureResult, Device,
    DeviceInfo, Dialog, DialogAnswer, Dialogs, Dispatched, Error, Geometry, InputOutcome, LeavePolicy,
    Lifecycle, LocatedElement, Navigation, NavigationResult, Navigator, Notice, PendingActivity, Query,
    Result, ScreenshotImage, ScreenshotRequest, Screenshots, SettleRequest, SettleResult, own_facets,
};
use stickpin_tree::{Handle, Rect, SurfaceId, Tree};

/// The maximum time that a call waits for a pending document.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The device of a running app.
#[derive(Debug)]
pub(crate) struct SimDevice {
    pub(crate) info: DeviceInfo,
    pub(crate) shared: Arc<SharedApp>,
    pub(crate) addresses: Addresses,
    pub(crate) guards: Guards,
    /// The folders whose files the device may access; `None` if it is not confined.
    file_roots: Option<Vec<PathBuf>>,
    /// The revision and tab of the last capture, and its tree.
    captured: Option<((u64, SurfaceId), Weak<Tree>)>,
}

impl SimDevice {
    pub(crate) fn new(info: DeviceInfo, shared: Arc<SharedApp>, file_roots: Option<Vec<PathBuf>>) -> Self {
        let (addresses, guards) = Default::default();
        Self { info, shared, addresses, guards, file_roots, captured: None }
    }

    /// Waits for a pending document.
    async fn wait_for_commit(&self) -> Result<()> {
        let end = self.shared.running_app()?.state.now_ms + millis(COMMIT_TIMEOUT);
        loop {
            let due = self.shared.running_app()?.commit_time();
            match due {
                Some(due) if due <= end => self.shared.wait_until(due, &CancellationToken::new()).await,
                _ => return Ok(()),
            };
        }
    }
}

/// Returns the internal number of a handle's element.
pub(crate) fn element_id(sim: &Sim, addresses: &Addresses, handle: Handle) -> Result<u64> {
    let at = capture::find(sim, addresses, handle).ok_or_else(element_gone)?;
    Ok(sim.dom().nodes[at].id)
}

pub(crate) fn element_gone() -> Error {
    Error::element_not_found("the element is no longer in the document").hint("run `stickpin snapshot -i`")
}

#[async_trait]
impl Device for SimDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn capabilities(&self) -> &'static [Capability] {
        crate::provider::CAPABILITIES
    }

    async fn capture(&mut self, request: CaptureRequest<'_>) -> Result<CaptureResult> {
        let sim = self.shared.unblocked_app()?;
        let now = (sim.revision, sim.tab().surface);
        // The caller's tree may be older than the last capture, which not every reader stores.
        let is_stored = |last: &Weak<Tree>| {
            request.stored.is_some_and(|stored| std::ptr::eq(last.as_ptr(), Arc::as_ptr(stored)))
        };
        if self.captured.as_ref().is_some_and(|(at, last)| *at == now && is_stored(last)) {
            return Ok(CaptureResult::Unchanged);
        }
        self.addresses.forget();
        let taken = capture(&sim, &mut self.addresses, request.watch, None)?;
        let tree = Arc::new(taken.tree);
        self.captured = Some((now, Arc::downgrade(&tree)));
        Ok(CaptureResult::Tree(tree))
    }

    async fn locate(&mut self, handle: Handle, _context: &[Handle]) -> Result<Option<LocatedElement>> {
        if self.shared.running_app()?.patches.take(Fault::Navigate) {
            self.shared.running_app()?.navigator().reload_slowly();
        }
        self.wait_for_commit().await?;
        let mut sim = self.shared.unblocked_app()?;
        let Some(at) = capture::find(&sim, &self.addresses, handle) else { return Ok(None) };
        let id = sim.dom().nodes[at].id;
        sim.run_handler_once(id, Event::Look);
        let Some(at) = sim.dom().find(id) else { return Ok(None) };
        let taken = capture(&sim, &mut self.addresses, &[], Some(at))?;
        Ok(taken.nodes[at].map(|node| LocatedElement::new(Arc::new(taken.tree), node)))
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        let sim = self.shared.unblocked_app()?;
        let layout = sim.layout();
        let rect = |h: &Handle| layout.rects[capture::find(&sim, &self.addresses, *h)?];
        Ok(handles.iter().map(rect).collect())
    }

    async fn aim(&mut self, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
        self.wait_for_commit().await?;
        let mut sim = self.shared.unblocked_app()?;
        let at = capture::find(&sim, &self.addresses, handle).ok_or_else(element_gone)?;
        let id = sim.dom().nodes[at].id;
        // Copy the content before anything happens, so that effects of the aim count as changes
        // too.
        let guard = Guard::new(&sim, &self.addresses, at, options.guarded);
        self.guards.end(id);
        if !options.guarded.is_empty() {
            self.guards.add_guard(&sim, guard);
        }
        sim.run_interim_handlers(id, Event::Aim);
        let at = sim.dom().find(id).ok_or_else(element_gone)?;
        aim::aim(&mut sim, &mut self.addresses, at, options)
    }

    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<InputOutcome> {
        self.wait_for_commit().await?;
        let (hang, lost, panics) = {
            let mut sim = self.shared.unblocked_app()?;
            let mut take = |fault| sim.patches.take(fault);
            (take(Fault::Hang), take(Fault::Lost), take(Fault::Panic))
        };
        assert!(!panics, "opened with `fault=panic`");
        if hang {
            cancel.cancelled().await;
            return Err(Error::timeout("the app does not respond").dispatched(Dispatched::Unknown));
        }
        if lost {
            let why = format!("{} died", self.info.label);
            self.shared.lock().end_reason = Some(why.clone());
            return Err(Error::backend_lost(why).dispatched(Dispatched::Unknown));
        }
        if let Action::Press { hold, .. } = action
            && !hold.is_zero()
        {
            let until = self.shared.running_app()?.state.now_ms + millis(*hold);
            // A cancelled press is released, which makes it a shorter press.
            while self.shared.wait_until(until, cancel).await == WaitEnd::Poked {}
        }
        let mut sim = self.shared.unblocked_app()?;
        let mut watch = self.guards.take(&sim, &self.addresses, action);
        let done = self.deliver(&mut sim, action, &mut watch);
        if let Some(why) = &sim.end_reason {
            let lost = Error::backend_lost(why.clone()).hint("run `stickpin open sim:APP` to open it again");
            return Err(lost.dispatched(Dispatched::Unknown));
        }
        done
    }

    async fn settle(&mut self, request: SettleRequest, cancel: &CancellationToken) -> Result<SettleResult> {
        let (quiet, start) = (millis(request.quiet), self.shared.running_app()?.state.now_ms);
        let (end, mut last_change) = (start + millis(request.cap), start);
        let mut revision = self.shared.running_app()?.revision;
        loop {
            let due = {
                let sim = self.shared.running_app()?;
                let now = sim.state.now_ms;
                if let Some(asked) = &sim.dialog {
                    return Ok(SettleResult::new(
                        false,
                        vec![PendingActivity::Other(format!("{} dialog", asked.dialog.kind))],
                    ));
                }
                if sim.revision != revision {
                    (revision, last_change) = (sim.revision, now);
                }
                let loading = sim.loading_until().is_some();
                let quiet_at = last_change + quiet;
                match sim.next_due() {
                    // No timer is due before the app would count as quiet, so there is nothing to
                    // wait for.
                    None => return Ok(SettleResult::quiet()),
                    Some(due) if !loading && due > quiet_at => {
                        return Ok(SettleResult::quiet());
                    }
                    Some(due) if due > end || now >= end || cancel.is_cancelled() => {
                        return Ok(SettleResult::new(false, sim.pending_activities(due.max(end))));
                    }
                    Some(due) => due,
                }
            };
            self.shared.wait_until(due, cancel).await;
        }
    }

    async fn changed(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool> {
        let end = self.shared.running_app()?.state.now_ms + millis(timeout);
        loop {
            let until = {
                let sim = self.shared.running_app()?;
                let now = (sim.revision, sim.tab().surface);
                if sim.dialog.is_some() || self.captured.as_ref().is_none_or(|(at, _)| *at != now) {
                    return Ok(true);
                }
                if sim.state.now_ms >= end || cancel.is_cancelled() {
                    return Ok(false);
                }
                sim.next_due().map_or(end, |due| due.min(end))
            };
            self.shared.wait_until(until, cancel).await;
        }
    }

    async fn query(&mut self, handle: Handle, query: Query) -> Result<serde_json::Value> {
        let sim = self.shared.unblocked_app()?;
        let at = capture::find(&sim, &self.addresses, handle).ok_or_else(element_gone)?;
        query::answer_query(sim.dom(), at, &query)
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        Ok(std::mem::take(&mut self.shared.running_app()?.notices))
    }

    own_facets! {
        tabs: Tabs,
        lifecycle: Lifecycle,
        geometry: Geometry,
        screenshots: Screenshots,
        dialogs: Dialogs,
        navigator: Navigator,
    }

    async fn close(&mut self) -> Result<()> {
        let mut sim = self.shared.lock();
        sim.end_reason.get_or_insert_with(|| format!("{} was closed", self.info.label));
        match sim.input_log.failed.take() {
            None => Ok(()),
            Some(e) => Err(Error::io(format!("the log of {} is incomplete: {e}", self.info.label))),
        }
    }
}

#[async_trait]
impl Geometry for SimDevice {
    async fn visible_rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        self.rects(handles).await
    }

    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        let sim = self.shared.unblocked_app()?;
        let hit = sim.layout().hit_test(sim.dom(), x, y);
        Ok(hit.map(|at| capture::handle(&sim, &mut self.addresses, at)))
    }

    async fn move_pointer(&mut self, x: f64, y: f64) -> Result<()> {
        self.wait_for_commit().await?;
        self.shared.unblocked_app()?.input().move_pointer_to(x, y);
        Ok(())
    }

    async fn scroll_offset(&mut self) -> Result<(f64, f64)> {
        Ok((0.0, self.shared.running_app()?.scroll_offset(PAGE)))
    }
}

#[async_trait]
impl Screenshots for SimDevice {
    async fn screenshot(&mut self, request: ScreenshotRequest) -> Result<ScreenshotImage> {
        let mut sim = self.shared.unblocked_app()?;
        let area = match request.of {
            Some(handle) => {
                let id = element_id(&sim, &self.addresses, handle)?;
                aim::bring_into_view(&mut sim, id);
                let at = sim.dom().find(id).ok_or_else(element_gone)?;
                sim.layout().visible_rect(at).ok_or_else(|| {
                    Error::element_offscreen(format!("{} is not visible", capture::describe(sim.dom(), at)))
                })?
            }
            None if request.full => {
                let layout = sim.layout();
                let offset = sim.scroll_offset(PAGE);
                let height = layout.scrollers.get(PAGE).map_or(0.0, |(content, _)| *content);
                Rect { y: -offset, height: height.max(layout.viewport.height), ..layout.viewport }
            }
            None => sim.layout().viewport,
        };
        let png = draw::draw(sim.dom(), &sim.layout(), area)?;
        Ok(ScreenshotImage::new(png, area, 1.0))
    }
}

#[async_trait]
impl Dialogs for SimDevice {
    fn dialog(&self) -> Option<Dialog> {
        self.shared.lock().dialog.as_ref().map(|asked| asked.dialog.clone())
    }

    async fn answer_dialog(&mut self, answer: DialogAnswer) -> Result<()> {
        if self.shared.running_app()?.answer(answer) {
            return Ok(());
        }
        Err(Error::element_not_found("no dialog is open"))
    }
}

#[async_trait]
impl Navigator for SimDevice {
    async fn navigate(
        &mut self,
        to: &Navigation,
        leave: LeavePolicy,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<NavigationResult> {
        drop(self.shared.unblocked_app()?);
        let start = self.shared.running_app()?.state.now_ms;
        self.shared.running_app()?.discards = leave == LeavePolicy::Discard;
        let navigated = navigate::navigate_to(self, to);
        self.shared.running_app()?.discards = false;
        let moved = navigated?;
        let cap =
            timeout.saturating_sub(Duration::from_millis(self.shared.running_app()?.state.now_ms - start));
        navigate::wait_until_loaded(self, moved, cap, cancel).await
    }
}

#[async_trait]
impl Lifecycle for SimDevice {
    async fn confine(&mut self, file_roots: &[PathBuf]) -> Result<()> {
        self.file_roots = Some(file_roots.to_vec());
        Ok(())
    }
}
