//! An open page: what the device trait promises, each part in a file of its own.

use crate::around::Around;
use crate::downloads::Coming;
use crate::hang::{Nagging, not_taken};
use crate::launch::Browser;
use async_trait::async_trait;
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{
    Action, Aim, AimOptions, Arrived, CancellationToken, Capability, CaptureRequest, Captured, Clipboard,
    Device, DeviceInfo, Dialog, DialogAnswer, Dispatched, Download, Error, ErrorCode, Evaluated, FileInput,
    Files, Leave, Lifecycle, Located, Navigation, Notice, Page, Performed, Prepared, Query, Result, Script,
    SeenRequest, SettleRequest, Settled, Shot, ShotRequest, TabEnded, TabEntry, Tabs, Ticket, Traffic,
};
use stickpin_devtools::Client;
use stickpin_devtools::protocol as cdp;
use stickpin_tree::{Handle, IdentityGrade, Rect};
use stickpin_webpage::act::{self, aim, clipboard, files, screenshot};
use stickpin_webpage::read::page::{Place, corrupt, gone};
use stickpin_webpage::read::unchanged::Verified;
use stickpin_webpage::read::{self, ahead, css, evaluate};
use stickpin_webpage::state::TabState;
use stickpin_webpage::tab::{Fault, NONE, Tab, dialog_open, frames};
use stickpin_webpage::wait::{effects, settle};
use tokio::time::timeout;

/// How long an input that is to end may take to be where nothing is half done: less than the kernel's own grace.
const RELEASE: Duration = Duration::from_millis(300);

/// How long a page that is not left may take to go on. A browser that is sent elsewhere before it heard from the page
/// that it stays takes the word for the answer to the new question, and goes nowhere.
const STAYS: Duration = Duration::from_secs(1);

/// The net below events: how long `changed` waits before it says that something *may* have changed, because a page
/// can set the value of a field without any event.
const NET: Duration = Duration::from_millis(500);

/// A tab of a browser that was started for it.
#[derive(Debug)]
pub struct WebDevice {
    info: DeviceInfo,
    pub(crate) browser: Browser,
    /// What is known of the browser beyond its pages.
    pub(crate) around: Arc<Around>,
    /// The page of the tab that is driven.
    pub(crate) page: stickpin_webpage::Page,
    /// Sessions of the tabs that were driven before this one, the latest last.
    pub(crate) trail: Vec<String>,
    /// What was asked and dismissed over and over.
    pub(crate) nagging: Nagging,
}

impl WebDevice {
    pub(crate) fn new(browser: Browser, around: Arc<Around>, tab: Tab) -> Self {
        let mut info = DeviceInfo::new("web", &browser.label, IdentityGrade::NeverReused);
        info.pid = Some(browser.pid);
        let (page, trail, nagging) = (stickpin_webpage::Page::new(tab), Vec::new(), Nagging::default());
        Self { info, browser, around, page, trail, nagging }
    }

    /// Follows every "nothing changed" by a walk and compares by value: an `INTERNAL` error says what differs. For
    /// tests; it costs what the check spares.
    #[must_use]
    pub fn verifying(mut self) -> Self {
        self.page.verified = Some(Verified::default());
        self
    }

    /// What was found so far; `None` unless it is [verifying](WebDevice::verifying).
    #[must_use]
    pub fn verified(&self) -> Option<Verified> {
        self.page.verified
    }

    /// The connection to its browser and the session of its page: for tests, which ask the page itself what it
    /// received, and for tools that need what no command offers.
    #[must_use]
    pub fn devtools(&self) -> (&Client, &str) {
        (&self.page.tab.client, &self.page.tab.session)
    }
}

/// Returns when a command that was asked to end has had its time for that.
async fn late(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(RELEASE).await;
}

fn unknown(error: Error) -> Error {
    error.dispatched(Dispatched::Unknown)
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
        self.whereabouts().await.map(Some)
    }

    async fn url(&mut self) -> Result<Option<String>> {
        self.page.tab.url().map(Some)
    }

    async fn capture(&mut self, request: CaptureRequest<'_>) -> Result<Captured> {
        read::capture(&mut self.page, request).await
    }

    async fn locate(&mut self, handle: Handle, context: &[Handle]) -> Result<Option<Located>> {
        read::locate(&mut self.page, handle, context).await
    }

    async fn outcome(&mut self, target: Handle, performed: Ticket) -> Result<Option<Located>> {
        read::outcome(&mut self.page, target, &performed).await
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        frames::boxes(&self.page.tab, handles).await
    }

    async fn aim(&mut self, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
        self.page.commit(Some(handle)).await?;
        aim::aim_at(&mut self.page, handle, options).await
    }

    async fn prepare(
        &mut self,
        handle: Handle,
        context: &[Handle],
        options: AimOptions<'_>,
        seen: Ticket,
    ) -> Result<Prepared> {
        self.page.commit(Some(handle)).await?;
        aim::prepare(&mut self.page, handle, context, options, &seen).await
    }

    async fn point_at(&mut self, x: f64, y: f64) -> Result<()> {
        self.page.commit(None).await?;
        self.page.tab.move_pointer((x, y)).await?;
        let top = self.page.tab.top().await?;
        match self.page.tab.frame(&top).await {
            // A page may answer the pointer with a dialog, or by going somewhere else.
            Ok(()) | Err(Fault::Dialog(_) | Fault::WorldGone) => Ok(()),
            Err(fault) => Err(fault.into()),
        }
    }

    async fn scrolled(&mut self) -> Result<(f64, f64)> {
        let top = self.page.tab.top().await?;
        Ok(self.page.tab.call(&top, "scrolled", NONE).await?)
    }

    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        Ok(frames::innermost(&self.page.tab, x, y).await?)
    }

    async fn fold(&mut self, opener: Handle, older: &[Handle]) -> Result<bool> {
        self.fold_list(opener, older).await
    }

    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<Performed> {
        self.commit(action, Ticket::default(), cancel).await
    }

    async fn commit(
        &mut self,
        action: &Action,
        prepared: Ticket,
        cancel: &CancellationToken,
    ) -> Result<Performed> {
        self.page.commit(None).await?;
        if let Some(dialog) = self.dialog() {
            return Err(dialog_open(&dialog));
        }
        self.nagging = Nagging::default();
        let performed = tokio::select! {
            biased;
            performed = act::carry_out(&mut self.page, action, &prepared, cancel) => performed,
            // What is held is released with it.
            () = late(cancel) => Err(unknown(not_taken().into())),
        };
        self.page.input_sent();
        self.performed(action, performed).await
    }

    async fn settle(&mut self, request: SettleRequest, cancel: &CancellationToken) -> Result<Settled> {
        settle::settle_until(&mut self.page, request.quiet, Instant::now() + request.cap, cancel).await
    }

    async fn changed(&mut self, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
        // Whoever asks again and again must not keep events from being read.
        tokio::task::yield_now().await;
        let seen = self.page.seen;
        let changed = self.page.tab.until(|tab| (tab.activity != seen).then_some(()));
        tokio::select! {
            changed = timeout(wait.min(NET), changed) => match changed {
                Ok(changed) => changed.map(|()| true),
                // The net is shorter than the wait: something may have changed without a word.
                Err(_) => Ok(wait > NET),
            },
            () = cancel.cancelled() => Ok(false),
        }
    }

    async fn news(&mut self, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
        effects::wait_for_news(&mut self.page, wait, cancel).await
    }

    async fn effects(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
        effects::wait_for_effects(&mut self.page, at_most, cancel).await
    }

    async fn navigate(
        &mut self,
        to: &Navigation,
        leave: Leave,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Arrived> {
        self.go(to, leave, Instant::now() + timeout, cancel).await
    }

    async fn resize(&mut self, width: u32, height: u32) -> Result<()> {
        self.set_viewport(width, height).await
    }

    async fn screenshot(&mut self, request: ShotRequest) -> Result<Shot> {
        self.for_a_picture().await?;
        screenshot::picture(&mut self.page, request).await
    }

    async fn query(&mut self, handle: Handle, query: Query) -> Result<serde_json::Value> {
        let Place { world, id } = self.page.placed(handle)?;
        let function = match query {
            Query::Attrs => "attrs",
            Query::Html => "html",
            Query::Text => "text",
        };
        let answer: Box<RawValue> = self.page.tab.call(&world, function, (id,)).await?;
        match serde_json::from_str(answer.get()).map_err(corrupt)? {
            serde_json::Value::Null => Err(gone()),
            answer => Ok(answer),
        }
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        let (mut notices, changes, drawn) = self
            .page
            .tab
            .write(|tab| (tab.notices.drain(..).collect::<Vec<_>>(), tab.changes, tab.drawn.take()))?;
        notices.extend(drawn.map(|what| Notice::Unwatched { what }));
        // What other tabs saw until now belongs to nothing that is asked about later.
        self.page.tab.shared.state().tabs.values_mut().for_each(|tab| tab.notices.clear());
        if std::mem::replace(&mut self.page.told, changes) != changes {
            notices.insert(0, Notice::Changed);
        }
        notices.extend(effects::set_off(&self.page)?);
        notices.extend(self.around.known().downloads.iter_mut().filter_map(Coming::under_way));
        Ok(notices)
    }

    fn dialog(&self) -> Option<Dialog> {
        self.page.tab.read(|tab| tab.dialog.clone()).ok().flatten()
    }

    async fn answer_dialog(&mut self, answer: DialogAnswer) -> Result<()> {
        let Some(dialog) = self.page.tab.read(|tab| tab.dialog.clone())? else {
            return Err(Error::new(ErrorCode::ElementNotFound, "no dialog is open"));
        };
        let tab = match &dialog.tab {
            Some(id) => Tab { session: self.session_of(id)?, ..self.page.tab.clone() },
            None => self.page.tab.clone(),
        };
        let stays = dialog.kind == "beforeunload" && answer == DialogAnswer::Dismiss;
        let dismissed = answer == DialogAnswer::Dismiss;
        let silenced = dismissed && self.dismissing(&tab, &dialog)?;
        let method = match answer {
            DialogAnswer::Accept(prompt_text) => cdp::HandleDialog { accept: true, prompt_text },
            DialogAnswer::Dismiss => cdp::HandleDialog { accept: false, prompt_text: None },
        };
        let done = async {
            let before = tab.read(|tab| tab.answers)?;
            tab.command(&method).await?;
            // The next question may read like this one.
            let over = |tab: &TabState| tab.answers != before || tab.dialog.as_ref() != Some(&dialog);
            tab.until(|tab| over(tab).then_some(())).await?;
            if stays {
                // What stays undone here is the wait alone: a dialog or an end that came up is told by what comes next.
                drop(timeout(STAYS, tab.turn()).await);
            }
            if silenced {
                self.goes_on().await?;
            }
            // A page that does something else than ask may ask again later.
            Ok(dismissed && !silenced && !stays && dialog.tab.is_none() && self.answers_now().await?)
        };
        let done = done.await;
        if let Ok(true) = done {
            self.nagging = Nagging::default();
        }
        self.page.acted = Some(Instant::now());
        match done {
            // The answer was to close it.
            Err(_) if tab.closed() => Ok(()),
            done => done.map(drop).map_err(unknown),
        }
    }

    fn tabs(&mut self) -> Option<&mut dyn Tabs> {
        Some(self)
    }

    fn clipboard(&mut self) -> Option<&mut dyn Clipboard> {
        Some(self)
    }

    fn files(&mut self) -> Option<&mut dyn Files> {
        Some(self)
    }

    fn traffic(&mut self) -> Option<&mut dyn Traffic> {
        Some(self)
    }

    fn script(&mut self) -> Option<&mut dyn Script> {
        Some(self)
    }

    fn lifecycle(&mut self) -> Option<&mut dyn Lifecycle> {
        Some(self)
    }

    async fn close(&mut self) -> Result<()> {
        self.browser.end().await
    }
}

#[async_trait]
impl Tabs for WebDevice {
    async fn list_tabs(&mut self) -> Result<Vec<TabEntry>> {
        self.all_tabs().await
    }

    async fn new_tab(
        &mut self,
        what: Option<&str>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Arrived> {
        self.open_tab(what, Instant::now() + timeout, cancel).await
    }

    async fn switch_tab(&mut self, id: &str) -> Result<()> {
        let session = self.session_of(id)?;
        self.drive(session);
        self.arrive().await
    }

    async fn close_tab(&mut self, id: &str, leave: Leave, cancel: &CancellationToken) -> Result<()> {
        self.end_tab(id, leave, cancel).await
    }

    async fn show_tab(&mut self) -> Result<()> {
        self.page.tab.command(&cdp::BringToFront {}).await.map(drop)
    }

    fn ended_tabs(&mut self) -> Vec<TabEnded> {
        self.take_ended()
    }
}

#[async_trait]
impl Clipboard for WebDevice {
    async fn read_clipboard(&mut self) -> Result<String> {
        clipboard::clipboard(&mut self.page, None).await
    }

    async fn write_clipboard(&mut self, text: &str) -> Result<()> {
        clipboard::clipboard(&mut self.page, Some(text)).await.map(drop)
    }
}

#[async_trait]
impl Files for WebDevice {
    async fn file_input(&mut self, handle: Handle) -> Result<Option<FileInput>> {
        files::takes_files(&self.page, handle).await
    }
}

#[async_trait]
impl Traffic for WebDevice {
    async fn requests(&mut self) -> Result<Vec<SeenRequest>> {
        effects::seen_requests(&self.page)
    }

    async fn downloads(&mut self) -> Result<Vec<Download>> {
        self.seen_downloads()
    }
}

#[async_trait]
impl Script for WebDevice {
    async fn evaluate(&mut self, expression: &str, wait: Duration) -> Result<Option<Evaluated>> {
        evaluate::value_of(&mut self.page, expression, wait).await
    }

    async fn css(&mut self, selector: &str) -> Result<Vec<Handle>> {
        css::by_css(&self.page.tab, selector).await
    }
}

#[async_trait]
impl Lifecycle for WebDevice {
    async fn confine(&mut self, file_roots: &[PathBuf]) -> Result<()> {
        self.close_gate(file_roots).await
    }

    async fn rest(&mut self) {
        ahead::rests(&mut self.page).await;
    }

    async fn read_ahead(&mut self, watch: &[Handle]) {
        ahead::reads_ahead(&mut self.page, watch).await;
    }

    fn act_begins(&mut self) {
        self.page.act_begins();
    }
}
