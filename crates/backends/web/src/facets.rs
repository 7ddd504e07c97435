//! What the facets of the device are: of its tabs, and of the page of the one that is driven.

use crate::downloads::Coming;
use crate::driven::Driven;
use crate::{gate, tabs};
use async_trait::async_trait;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stickpin_device::{
    Arrived, CancellationToken, Clipboard, Download, Evaluated, FileInput, Files, Leave, Lifecycle, Result,
    Script, SeenRequest, TabEnded, TabEntry, Tabs, Traffic,
};
use stickpin_devtools::protocol as cdp;
use stickpin_tree::Handle;
use stickpin_webpage::act::{clipboard, files};
use stickpin_webpage::read::{ahead, css, evaluate};
use stickpin_webpage::wait::effects;

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

fn seen_downloads(web: &Driven) -> Result<Vec<Download>> {
    web.page.tab.read(|_| ())?;
    let known = web.around.known();
    let since = |d: &&Coming| d.began >= web.page.begun || d.ended.is_none_or(|at| at >= web.page.begun);
    Ok(known.downloads.iter().filter(since).map(|d| d.download.clone()).collect())
}
