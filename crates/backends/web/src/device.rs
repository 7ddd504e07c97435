//! An open page: what the device trait promises, each part in a file of its own.

use crate::ahead::Ahead;
use crate::along::{Along, Seen};
use crate::evaluate::Evaluating;
use crate::hang::{Nagging, not_taken};
use crate::launch::Browser;
use crate::mouse::NONE;
use crate::state::TabState;
use crate::tab::{Fault, Tab, World, dialog_open};
use crate::unchanged::{Verified, Walked, Wanted};
use crate::unseen::Unseen;
use async_trait::async_trait;
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{
    Action, Aim, AimOptions, Arrived, CancellationToken, CaptureRequest, Captured, Device, DeviceInfo,
    Dialog, DialogAnswer, Dispatched, Download, Error, ErrorCode, Evaluated, FileInput, Leave, Located,
    Navigation, Notice, Page, Performed, Query, Result, SeenRequest, SettleRequest, Settled, Shot,
    ShotRequest, TabEnded, TabEntry,
};
use stickpin_devtools::Client;
use stickpin_devtools::protocol as cdp;
use stickpin_tree::{Handle, IdentityGrade, Rect};
use tokio::time::timeout;

/// How long an act waits for a navigation under way to be committed.
const COMMIT: Duration = Duration::from_secs(5);

/// How long a document that was committed is given until a capture takes what is there of it.
const ARRIVAL: Duration = Duration::from_millis(500);

/// How long an input that is to end may take to be where nothing is half done: less than the kernel's own grace.
const RELEASE: Duration = Duration::from_millis(300);

/// How long a page that is not left may take to go on. A browser that is sent elsewhere before it heard from the page
/// that it stays takes the word for the answer to the new question, and goes nowhere.
const STAYS: Duration = Duration::from_secs(1);

/// How often a capture is tried again because its document was replaced meanwhile.
const ATTEMPTS: usize = 5;

/// How many of them a frame may ask for.
const PATIENT: usize = 3;

/// The net below events: how long `changed` waits before it says that something *may* have changed, because a page
/// can set the value of a field without any event.
const NET: Duration = Duration::from_millis(500);

/// A tab of a browser that was started for it.
#[derive(Debug)]
pub struct WebDevice {
    info: DeviceInfo,
    pub(crate) browser: Browser,
    pub(crate) tab: Tab,
    /// How often the tab had changed at the last capture.
    pub(crate) seen: u64,
    /// How often it had changed to the eye when notices were last asked for.
    pub(crate) told: u64,
    /// When the last input was sent.
    pub(crate) acted: Option<Instant>,
    /// The last walk, in case that nothing changes.
    pub(crate) walked: Option<Walked>,
    /// What was walked before anybody asked.
    pub(crate) ahead: Ahead,
    /// Set where every "nothing changed" is verified.
    pub(crate) verified: Option<Verified>,
    /// When the last command that acts began.
    pub(crate) begun: Instant,
    /// The last event that a wait was told of.
    pub(crate) heard: u64,
    /// An expression that was asked for and is not known yet.
    pub(crate) evaluating: Option<Evaluating>,
    /// What is known of documents that their scripts cannot see.
    pub(crate) unseen: Unseen,
    /// What came along with the answers of the act that is under way.
    pub(crate) along: Along,
    /// The input whose file chooser a press opened last; it need not be in the document.
    pub(crate) chooser: Option<Handle>,
    /// Sessions of the tabs that were driven before this one, the latest last.
    pub(crate) trail: Vec<String>,
    /// The number of the tab that is driven.
    pub(crate) number: u64,
    /// What was asked and dismissed over and over.
    pub(crate) nagging: Nagging,
}

/// An element in a document that lives.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) world: World,
    pub(crate) id: u64,
}

impl WebDevice {
    pub(crate) fn new(browser: Browser, tab: Tab) -> Self {
        let number = tab.read(|tab| tab.number).unwrap_or(1);
        let info = DeviceInfo {
            kind: "web",
            label: browser.label.clone(),
            grade: IdentityGrade::NeverReused,
            pid: Some(browser.pid),
        };
        Self {
            info,
            browser,
            tab,
            seen: 0,
            told: 0,
            acted: None,
            walked: None,
            ahead: Ahead::default(),
            verified: None,
            begun: Instant::now(),
            heard: 0,
            evaluating: None,
            unseen: Unseen::default(),
            along: Along::default(),
            chooser: None,
            trail: Vec::new(),
            number,
            nagging: Nagging::default(),
        }
    }

    /// The connection to its browser and the session of its page: for tests, which ask the page itself what it
    /// received, and for tools that need what no command offers.
    #[must_use]
    pub fn devtools(&self) -> (&Client, &str) {
        (&self.tab.client, &self.tab.session)
    }

    /// Where an element is numbered; none when its document is gone.
    pub(crate) fn place(&self, handle: Handle) -> Result<Option<Place>> {
        Ok(self.tab.world(handle.scope)?.map(|world| Place { world, id: handle.id }))
    }

    /// As [`WebDevice::place`], for what was located a moment ago.
    pub(crate) fn placed(&self, handle: Handle) -> Result<Place> {
        self.place(handle)?.ok_or_else(gone)
    }

    /// Waits until documents that came a moment ago are read to their end: half of one looks like another page.
    async fn arrived(&self) -> Result<()> {
        let Some(until) = self.tab.read(|tab| tab.arriving(ARRIVAL))? else { return Ok(()) };
        let done =
            self.tab.until(|tab| (tab.dialog.is_some() || tab.arriving(ARRIVAL).is_none()).then_some(()));
        // One that goes on for longer is looked at as it is.
        tokio::time::timeout_at(until.into(), done).await.unwrap_or(Ok(()))
    }

    /// Sends one input.
    async fn carry_out(&mut self, action: &Action, cancel: &CancellationToken) -> Result<Performed> {
        match action {
            Action::Press { .. } => self.press(action, cancel).await,
            Action::Drag { from, source, to, target } => self.drag(*from, *source, *to, *target).await,
            Action::Fill { target, text } => self.fill(*target, text).await,
            Action::Type { target, text } => self.type_text(*target, text, cancel).await,
            Action::Key { modifiers, key } => self.chord(*modifiers, key).await,
            Action::Select { target, options } => self.select(*target, options).await,
            Action::Scroll { target, dx, dy } => self.scroll(*target, *dx, *dy).await,
            Action::Choose { point, target } => self.choose_files(*point, *target, cancel).await,
            Action::Upload { target, files } => self.upload(*target, files).await,
            Action::Drop { point, target, files } => self.drop_files(*point, *target, files).await,
        }
    }

    /// Waits until a navigation under way is committed, of the page or of the frames around an element: what is there
    /// now will be gone in a moment.
    pub(crate) async fn commit(&self, around: Option<Handle>) -> Result<()> {
        let leaving = |tab: &TabState| tab.leaves(around.map(|h| h.scope));
        if !self.tab.read(leaving)? {
            return Ok(());
        }
        let done = self.tab.until(|tab| (!leaving(tab) || tab.dialog.is_some()).then_some(()));
        // A server that takes longer than that does not keep anybody from using the page that is there.
        timeout(COMMIT, done).await.unwrap_or(Ok(()))
    }
}

/// The error of an element that vanished between being located and being acted on.
pub(crate) fn gone() -> Error {
    Error::new(ErrorCode::ElementNotFound, "the element is no longer on the page")
        .hint("stickpin snapshot -i")
}

pub(crate) fn corrupt(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::Internal, error.to_string())
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

    async fn confine(&mut self, file_roots: &[PathBuf]) -> Result<()> {
        self.close_gate(file_roots).await
    }

    async fn page(&mut self) -> Result<Option<Page>> {
        self.whereabouts().await.map(Some)
    }

    async fn rest(&mut self) {
        self.rests().await;
    }

    async fn read_ahead(&mut self, watch: &[Handle]) {
        self.reads_ahead(Wanted { watch, only: None, patient: true }).await;
    }

    async fn url(&mut self) -> Result<Option<String>> {
        self.tab.url().map(Some)
    }

    async fn capture(&mut self, request: CaptureRequest<'_>) -> Result<Captured> {
        self.ahead.asked();
        self.no_press();
        let mut attempt = 1;
        loop {
            self.arrived().await?;
            // The counter first: what changes during the walk shows as a change since.
            let activity = self.tab.read(|tab| tab.activity)?;
            // A frame that is replaced in the middle is looked at again, but one that never rests keeps nobody waiting.
            let patient = attempt < PATIENT;
            let tree = match self.current(Wanted { watch: request.watch, only: None, patient }, None).await {
                Ok(walked) => walked.map(|walked| Arc::clone(walked.tree())),
                Err(Fault::WorldGone) if attempt < ATTEMPTS => None,
                Err(fault) => return Err(fault.into()),
            };
            if let Some(tree) = tree {
                self.seen = activity;
                let stored = request.stored.is_some_and(|stored| Arc::ptr_eq(stored, &tree));
                return Ok(if stored { Captured::Unchanged } else { Captured::Tree(tree) });
            }
            attempt += 1;
        }
    }

    async fn locate(&mut self, handle: Handle, context: &[Handle]) -> Result<Option<Located>> {
        self.ahead.asked();
        self.commit(Some(handle)).await?;
        let checked = match self.take_look(handle, context)? {
            Some(Seen::Tree(walked)) if walked.answers(context) => return Ok(walked.located(handle)),
            Some(Seen::Check(checked)) => Some(checked),
            _ => None,
        };
        if self.place(handle)?.is_none() {
            return Ok(None);
        }
        if checked.is_none() {
            self.no_press();
            match self.find_in_small(handle, context).await {
                Err(Fault::WorldGone) => return Ok(None),
                found => {
                    if let Some(found) = found? {
                        return Ok(found);
                    }
                }
            }
        }
        let wanted = Wanted { watch: context, only: Some(handle), patient: false };
        let walked = match self.current(wanted, checked).await {
            Err(Fault::WorldGone) => return Ok(None),
            walked => walked?,
        };
        Ok(walked.and_then(|walked| walked.located(handle)))
    }

    async fn glance(&mut self, handle: Handle) -> Result<Option<Located>> {
        match self.seen_after(handle).await {
            Ok(Some(seen)) => Ok(Some(seen)),
            // What became of it shows when it is asked for by itself.
            Ok(None) | Err(Fault::WorldGone) => self.locate(handle, &[]).await,
            Err(fault) => Err(fault.into()),
        }
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        self.boxes(handles).await
    }

    async fn aim(&mut self, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
        self.commit(Some(handle)).await?;
        self.aim_at(handle, options).await
    }

    async fn point_at(&mut self, x: f64, y: f64) -> Result<()> {
        self.commit(None).await?;
        self.move_pointer((x, y)).await?;
        let top = self.tab.top().await?;
        match self.tab.frame(&top).await {
            // A page may answer the pointer with a dialog, or by going somewhere else.
            Ok(()) | Err(Fault::Dialog(_) | Fault::WorldGone) => Ok(()),
            Err(fault) => Err(fault.into()),
        }
    }

    async fn scrolled(&mut self) -> Result<(f64, f64)> {
        let top = self.tab.top().await?;
        Ok(self.tab.call(&top, "scrolled", NONE).await?)
    }

    async fn read_clipboard(&mut self) -> Result<String> {
        self.clipboard(None).await
    }

    async fn write_clipboard(&mut self, text: &str) -> Result<()> {
        self.clipboard(Some(text)).await.map(drop)
    }

    async fn file_input(&mut self, handle: Handle) -> Result<Option<FileInput>> {
        self.takes_files(handle).await
    }

    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        Ok(self.innermost(x, y).await?)
    }

    async fn fold(&mut self, opener: Handle, older: &[Handle]) -> Result<bool> {
        self.fold_list(opener, older).await
    }

    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<Performed> {
        self.commit(None).await?;
        if let Some(dialog) = self.dialog() {
            return Err(dialog_open(&dialog));
        }
        self.input_follows();
        self.nagging = Nagging::default();
        if !matches!(action, Action::Press { .. }) {
            self.no_press();
        }
        let performed = tokio::select! {
            biased;
            performed = self.carry_out(action, cancel) => performed,
            // What is held is released with it.
            () = late(cancel) => Err(unknown(not_taken().into())),
        };
        self.acted = Some(Instant::now());
        self.along.guards.clear();
        self.performed(action, performed).await
    }

    async fn settle(&mut self, request: SettleRequest, cancel: &CancellationToken) -> Result<Settled> {
        self.settle_until(request.quiet, Instant::now() + request.cap, cancel).await
    }

    async fn changed(&mut self, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
        self.no_press();
        // Whoever asks again and again must not keep events from being read.
        tokio::task::yield_now().await;
        let seen = self.seen;
        let changed = self.tab.until(|tab| (tab.activity != seen).then_some(()));
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
        self.wait_for_news(wait, cancel).await
    }

    async fn effects(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
        self.wait_for_effects(at_most, cancel).await
    }

    fn act_begins(&mut self) {
        self.along.guards.clear();
        self.begun = Instant::now();
    }

    async fn requests(&mut self) -> Result<Vec<SeenRequest>> {
        self.seen_requests()
    }

    async fn downloads(&mut self) -> Result<Vec<Download>> {
        self.seen_downloads()
    }

    async fn evaluate(&mut self, expression: &str, wait: Duration) -> Result<Option<Evaluated>> {
        self.value_of(expression, wait).await
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

    async fn tabs(&mut self) -> Result<Vec<TabEntry>> {
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
        self.tab.command(&cdp::BringToFront {}).await.map(drop)
    }

    fn ended_tabs(&mut self) -> Vec<TabEnded> {
        self.take_ended()
    }

    async fn resize(&mut self, width: u32, height: u32) -> Result<()> {
        self.set_viewport(width, height).await
    }

    async fn screenshot(&mut self, request: ShotRequest) -> Result<Shot> {
        self.picture(request).await
    }

    async fn css(&mut self, selector: &str) -> Result<Vec<Handle>> {
        self.by_css(selector).await
    }

    async fn query(&mut self, handle: Handle, query: Query) -> Result<serde_json::Value> {
        let Place { world, id } = self.placed(handle)?;
        let function = match query {
            Query::Attrs => "attrs",
            Query::Html => "html",
            Query::Text => "text",
        };
        let answer: Box<RawValue> = self.tab.call(&world, function, (id,)).await?;
        match serde_json::from_str(answer.get()).map_err(corrupt)? {
            serde_json::Value::Null => Err(gone()),
            answer => Ok(answer),
        }
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        let (mut notices, changes, drawn) = self
            .tab
            .write(|tab| (tab.notices.drain(..).collect::<Vec<_>>(), tab.changes, tab.drawn.take()))?;
        notices.extend(drawn.map(|what| Notice::Unwatched { what }));
        // What other tabs saw until now belongs to nothing that is asked about later.
        self.tab.shared.state().tabs.values_mut().for_each(|tab| tab.notices.clear());
        if std::mem::replace(&mut self.told, changes) != changes {
            notices.insert(0, Notice::Changed);
        }
        notices.extend(self.set_off()?);
        Ok(notices)
    }

    fn dialog(&self) -> Option<Dialog> {
        self.tab.read(|tab| tab.dialog.clone()).ok().flatten()
    }

    async fn answer_dialog(&mut self, answer: DialogAnswer) -> Result<()> {
        let Some(dialog) = self.tab.read(|tab| tab.dialog.clone())? else {
            return Err(Error::new(ErrorCode::ElementNotFound, "no dialog is open"));
        };
        let tab = match &dialog.tab {
            Some(id) => Tab { session: self.session_of(id)?, ..self.tab.clone() },
            None => self.tab.clone(),
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
        self.acted = Some(Instant::now());
        match done {
            // The answer was to close it.
            Err(_) if tab.closed() => Ok(()),
            done => done.map(drop).map_err(unknown),
        }
    }

    async fn close(&mut self) -> Result<()> {
        self.browser.end().await
    }
}

pub(crate) fn rect([x, y, width, height]: [f64; 4]) -> Rect {
    Rect { x, y, width, height }
}
