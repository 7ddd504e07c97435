//! The facets of the device, implemented for the browser and its driven tab.

use crate::downloads::TrackedDownload;
use crate::driven::DrivenBrowser;
use crate::{act, file_gate, navigate, popup, tabs};
use async_trait::async_trait;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stickpin_device::{
    CancellationToken, Clipboard, Dialog, DialogAnswer, Dialogs, Download, EndedTab, Events, FileInput,
    Files, Geometry, LeavePolicy, Lifecycle, Navigation, NavigationResult, Navigator, NetworkRequest,
    PendingPicture, Popups, Result, ScreenshotImage, ScreenshotRequest, Screenshots, Script, ScriptValue,
    TabEntry, Tabs, Traffic,
};
use stickpin_devtools::protocol as cdp;
use stickpin_tree::{Handle, Rect};
use stickpin_webpage::act::{clipboard, files, screenshot};
use stickpin_webpage::read::{css, evaluate, read_ahead};
use stickpin_webpage::tab::{NONE, TabError, frames};
use stickpin_webpage::wait::effects;

#[async_trait]
impl Geometry for DrivenBrowser {
    async fn visible_rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        frames::bounding_boxes(&self.page.tab, handles).await
    }

    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        Ok(frames::innermost(&self.page.tab, x, y).await?)
    }

    async fn move_pointer(&mut self, x: f64, y: f64) -> Result<()> {
        self.page.commit(None).await?;
        self.page.tab.move_pointer((x, y)).await?;
        let top = self.page.tab.top_world().await?;
        match self.page.tab.wait_frame(&top).await {
            // A page may respond to the pointer with a dialog or a navigation.
            Ok(()) | Err(TabError::Dialog(_) | TabError::WorldGone) => Ok(()),
            Err(fault) => Err(fault.into()),
        }
    }

    async fn scroll_offset(&mut self) -> Result<(f64, f64)> {
        let top = self.page.tab.top_world().await?;
        Ok(self.page.tab.call(&top, "scrolled", NONE).await?)
    }

    async fn resize(&mut self, width: u32, height: u32) -> Result<()> {
        tabs::set_viewport(self, width, height).await
    }
}

#[async_trait]
impl Screenshots for DrivenBrowser {
    async fn screenshot(&mut self, request: ScreenshotRequest) -> Result<ScreenshotImage> {
        tabs::bring_to_front_for_screenshot(self).await?;
        screenshot::take_screenshot(&mut self.page, request).await
    }

    async fn begin_live_picture(&mut self) -> Result<PendingPicture> {
        tabs::bring_to_front_for_screenshot(self).await?;
        screenshot::begin_live_picture(&self.page).await
    }
}

#[async_trait]
impl Dialogs for DrivenBrowser {
    fn dialog(&self) -> Option<Dialog> {
        self.dialog()
    }

    async fn answer_dialog(&mut self, answer: DialogAnswer) -> Result<()> {
        act::answer_dialog(self, answer).await
    }
}

#[async_trait]
impl Navigator for DrivenBrowser {
    async fn url(&mut self) -> Result<Option<String>> {
        self.page.tab.url().map(Some)
    }

    async fn navigate(
        &mut self,
        to: &Navigation,
        leave: LeavePolicy,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<NavigationResult> {
        navigate::navigate(self, to, leave, Instant::now() + timeout, cancel).await
    }
}

#[async_trait]
impl Events for DrivenBrowser {
    async fn wait_event(&mut self, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
        effects::wait_for_event(&mut self.page, wait, cancel).await
    }

    async fn wait_effect(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
        effects::wait_for_effects(&mut self.page, at_most, cancel).await
    }
}

#[async_trait]
impl Popups for DrivenBrowser {
    async fn close_popup(&mut self, opener: Handle, older: &[Handle]) -> Result<bool> {
        popup::close_popup(self, opener, older).await
    }
}

#[async_trait]
impl Tabs for DrivenBrowser {
    async fn list_tabs(&mut self) -> Result<Vec<TabEntry>> {
        tabs::all_tabs(self).await
    }

    async fn new_tab(
        &mut self,
        what: Option<&str>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<NavigationResult> {
        tabs::open_tab(self, what, Instant::now() + timeout, cancel).await
    }

    async fn switch_tab(&mut self, id: &str) -> Result<()> {
        let session = tabs::session_of(self, id)?;
        tabs::set_driven_tab(self, session);
        tabs::wait_until_loaded(self).await
    }

    async fn close_tab(&mut self, id: &str, leave: LeavePolicy, cancel: &CancellationToken) -> Result<()> {
        tabs::end_tab(self, id, leave, cancel).await
    }

    async fn show_tab(&mut self) -> Result<()> {
        self.page.tab.command(&cdp::BringToFront {}).await.map(drop)
    }

    fn ended_tabs(&mut self) -> Vec<EndedTab> {
        tabs::take_ended_tabs(self)
    }
}

#[async_trait]
impl Clipboard for DrivenBrowser {
    async fn read_clipboard(&mut self) -> Result<String> {
        clipboard::clipboard(&mut self.page, None).await
    }

    async fn write_clipboard(&mut self, text: &str) -> Result<()> {
        clipboard::clipboard(&mut self.page, Some(text)).await.map(drop)
    }
}

#[async_trait]
impl Files for DrivenBrowser {
    async fn file_input(&mut self, handle: Handle) -> Result<Option<FileInput>> {
        files::file_input_of(&self.page, handle).await
    }
}

#[async_trait]
impl Traffic for DrivenBrowser {
    async fn requests(&mut self) -> Result<Vec<NetworkRequest>> {
        effects::requests_since_action(&self.page)
    }

    async fn downloads(&mut self) -> Result<Vec<Download>> {
        seen_downloads(self)
    }
}

#[async_trait]
impl Script for DrivenBrowser {
    async fn evaluate(&mut self, expression: &str, wait: Duration) -> Result<Option<ScriptValue>> {
        evaluate::value_of(&mut self.page, expression, wait).await
    }

    async fn css(&mut self, selector: &str) -> Result<Vec<Handle>> {
        css::by_css(&self.page.tab, selector).await
    }
}

#[async_trait]
impl Lifecycle for DrivenBrowser {
    async fn confine(&mut self, file_roots: &[PathBuf]) -> Result<()> {
        file_gate::confine_tabs(self, file_roots).await
    }

    async fn idle_for_readahead(&mut self) {
        read_ahead::wait_until_idle(&mut self.page).await;
    }

    async fn read_ahead(&mut self, watch: &[Handle]) {
        read_ahead::read_ahead(&mut self.page, watch).await;
    }

    fn act_begins(&mut self) {
        self.page.begin_action();
    }
}

fn seen_downloads(web: &DrivenBrowser) -> Result<Vec<Download>> {
    web.page.tab.read(|_| ())?;
    let known = web.state.lock();
    let since = |d: &&TrackedDownload| {
        d.began >= web.page.action_began || d.ended.is_none_or(|at| at >= web.page.action_began)
    };
    Ok(known.downloads.iter().filter(since).map(|d| d.download.clone()).collect())
}
