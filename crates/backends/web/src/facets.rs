//! The facets of the device, implemented for the tabs and for the page of the driven tab.

use crate::downloads::Coming;
use crate::driven::Driven;
use crate::{act, fold, gate, navigate, tabs};
use async_trait::async_trait;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stickpin_device::{
    Arrived, CancellationToken, Clipboard, Dialog, DialogAnswer, Dialogs, Download, Evaluated, Events,
    FileInput, Files, Geometry, Leave, Lifecycle, Navigation, Navigator, Pictures, Popups, Result, Script,
    SeenRequest, Shot, ShotRequest, TabEnded, TabEntry, Tabs, Traffic,
};
use stickpin_devtools::protocol as cdp;
use stickpin_tree::{Handle, Rect};
use stickpin_webpage::act::{clipboard, files, screenshot};
use stickpin_webpage::read::{ahead, css, evaluate};
use stickpin_webpage::tab::{Fault, NONE, frames};
use stickpin_webpage::wait::effects;

#[async_trait]
impl Geometry for Driven {
    async fn visible_rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        frames::boxes(&self.page.tab, handles).await
    }

    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        Ok(frames::innermost(&self.page.tab, x, y).await?)
    }

    async fn move_pointer(&mut self, x: f64, y: f64) -> Result<()> {
        self.page.commit(None).await?;
        self.page.tab.move_pointer((x, y)).await?;
        let top = self.page.tab.top().await?;
        match self.page.tab.frame(&top).await {
            // A page may respond to the pointer with a dialog or a navigation.
            Ok(()) | Err(Fault::Dialog(_) | Fault::WorldGone) => Ok(()),
            Err(fault) => Err(fault.into()),
        }
    }

    async fn scroll_offset(&mut self) -> Result<(f64, f64)> {
        let top = self.page.tab.top().await?;
        Ok(self.page.tab.call(&top, "scrolled", NONE).await?)
    }

    async fn resize(&mut self, width: u32, height: u32) -> Result<()> {
        tabs::set_viewport(self, width, height).await
    }
}

#[async_trait]
impl Pictures for Driven {
    async fn screenshot(&mut self, request: ShotRequest) -> Result<Shot> {
        tabs::for_a_picture(self).await?;
        screenshot::picture(&mut self.page, request).await
    }
}

#[async_trait]
impl Dialogs for Driven {
    fn dialog(&self) -> Option<Dialog> {
        self.dialog()
    }

    async fn answer_dialog(&mut self, answer: DialogAnswer) -> Result<()> {
        act::answer_dialog(self, answer).await
    }
}

#[async_trait]
impl Navigator for Driven {
    async fn url(&mut self) -> Result<Option<String>> {
        self.page.tab.url().map(Some)
    }

    async fn navigate(
        &mut self,
        to: &Navigation,
        leave: Leave,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Arrived> {
        navigate::go(self, to, leave, Instant::now() + timeout, cancel).await
    }
}

#[async_trait]
impl Events for Driven {
    async fn wait_event(&mut self, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
        effects::wait_for_news(&mut self.page, wait, cancel).await
    }

    async fn wait_effect(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
        effects::wait_for_effects(&mut self.page, at_most, cancel).await
    }
}

#[async_trait]
impl Popups for Driven {
    async fn close_popup(&mut self, opener: Handle, older: &[Handle]) -> Result<bool> {
        fold::fold_list(self, opener, older).await
    }
}

#[async_trait]
impl Tabs for Driven {
    async fn list_tabs(&mut self) -> Result<Vec<TabEntry>> {
        tabs::all_tabs(self).await
    }

    async fn new_tab(
        &mut self,
        what: Option<&str>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Arrived> {
        tabs::open_tab(self, what, Instant::now() + timeout, cancel).await
    }

    async fn switch_tab(&mut self, id: &str) -> Result<()> {
        let session = tabs::session_of(self, id)?;
        tabs::drive(self, session);
        tabs::arrive(self).await
    }

    async fn close_tab(&mut self, id: &str, leave: Leave, cancel: &CancellationToken) -> Result<()> {
        tabs::end_tab(self, id, leave, cancel).await
    }

    async fn show_tab(&mut self) -> Result<()> {
        self.page.tab.command(&cdp::BringToFront {}).await.map(drop)
    }

    fn ended_tabs(&mut self) -> Vec<TabEnded> {
        tabs::take_ended(self)
    }
}

#[async_trait]
impl Clipboard for Driven {
    async fn read_clipboard(&mut self) -> Result<String> {
        clipboard::clipboard(&mut self.page, None).await
    }

    async fn write_clipboard(&mut self, text: &str) -> Result<()> {
        clipboard::clipboard(&mut self.page, Some(text)).await.map(drop)
    }
}

#[async_trait]
impl Files for Driven {
    async fn file_input(&mut self, handle: Handle) -> Result<Option<FileInput>> {
        files::takes_files(&self.page, handle).await
    }
}

#[async_trait]
impl Traffic for Driven {
    async fn requests(&mut self) -> Result<Vec<SeenRequest>> {
        effects::seen_requests(&self.page)
    }

    async fn downloads(&mut self) -> Result<Vec<Download>> {
        seen_downloads(self)
    }
}

#[async_trait]
impl Script for Driven {
    async fn evaluate(&mut self, expression: &str, wait: Duration) -> Result<Option<Evaluated>> {
        evaluate::value_of(&mut self.page, expression, wait).await
    }

    async fn css(&mut self, selector: &str) -> Result<Vec<Handle>> {
        css::by_css(&self.page.tab, selector).await
    }
}

#[async_trait]
impl Lifecycle for Driven {
    async fn confine(&mut self, file_roots: &[PathBuf]) -> Result<()> {
        gate::close_gate(self, file_roots).await
    }

    async fn idle_for_readahead(&mut self) {
        ahead::rests(&mut self.page).await;
    }

    async fn read_ahead(&mut self, watch: &[Handle]) {
        ahead::reads_ahead(&mut self.page, watch).await;
    }

    fn act_begins(&mut self) {
        self.page.act_begins();
    }
}

fn seen_downloads(web: &Driven) -> Result<Vec<Download>> {
    web.page.tab.read(|_| ())?;
    let known = web.around.known();
    let since = |d: &&Coming| d.began >= web.page.begun || d.ended.is_none_or(|at| at >= web.page.begun);
    Ok(known.downloads.iter().filter(since).map(|d| d.download.clone()).collect())
}
