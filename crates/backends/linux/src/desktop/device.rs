//! What the kernel asks of a desktop, handed to its apps.

use super::apps::App;
use super::merge::{Attention, app_of, inner, of_app, outer};
use super::{Desk, NET};
use crate::app::{end_child, gone};
use crate::at_once::{all, first};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{
    Action, Aim, AimOptions, AppFolders, Arrived, CancellationToken, Capability, CaptureRequest, Captured,
    Clipboard, Device, DeviceInfo, Dialog, DialogAnswer, ErrorCode, FileInput, Files, Hit, Leave, Lifecycle,
    Located, Navigation, Notice, Performed, Query, Result, SettleRequest, Settled, Shot, ShotRequest,
    unsupported,
};
use stickpin_tree::{Handle, Rect, quote};

#[async_trait]
impl Device for Desk {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn capabilities(&self) -> &'static [Capability] {
        crate::limits::CAPABILITIES
    }

    async fn url(&mut self) -> Result<Option<String>> {
        self.alive()?;
        Ok(Some(self.url.clone()))
    }

    async fn capture(&mut self, request: CaptureRequest<'_>) -> Result<Captured> {
        let (parts, hidden) = self.read(request.watch).await?;
        let window = self.active().await?;
        let keys = self.keys.filter(|&number| self.has(number)).or(window.map(|(number, _)| number));
        let attention = Attention { window, keys };
        if !self.merged.as_ref().is_some_and(|merged| merged.is_of(&parts, attention, &hidden)) {
            self.merged = Some(self.merge(parts, attention, hidden)?);
        }
        let Some(merged) = &self.merged else { return Err(gone()) };
        let stored = request.stored.is_some_and(|stored| Arc::ptr_eq(stored, &merged.tree));
        Ok(if stored { Captured::Unchanged } else { Captured::Tree(Arc::clone(&merged.tree)) })
    }

    async fn locate(&mut self, handle: Handle, context: &[Handle]) -> Result<Option<Located>> {
        self.alive()?;
        let (number, own) = inner(handle);
        if !self.has(number) {
            return Ok(self.own_node(handle));
        }
        let found = self.device(number)?.locate(own, &of_app(context, number)).await;
        self.looked(number, found).await
    }

    async fn glance(&mut self, handle: Handle) -> Result<Option<Located>> {
        self.alive()?;
        let (number, own) = inner(handle);
        if !self.has(number) {
            return Ok(self.own_node(handle));
        }
        let found = self.device(number)?.glance(own).await;
        self.looked(number, found).await
    }

    fn glances(&self) -> bool {
        true
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        self.rects_of(handles, false).await
    }

    async fn rects_in_picture(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        self.rects_of(handles, true).await
    }

    async fn aim(&mut self, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
        let (number, own) = inner(handle);
        if app_of(handle).is_some_and(|number| self.has(number)) {
            // An app is in no one place.
            let (rect, hit) = (Rect::default(), Hit::OffScreen);
            return Ok(Aim { rect, point: rect.center(), hit, pointed: false });
        }
        let aim = self.device(number)?.aim(own, options).await;
        if options.pointer && !self.acted.contains(&number) {
            // Its arrival alone may show something.
            self.acted.push(number);
        }
        let mut aim = self.judged(number, aim).await?;
        if let Hit::Covered { by: Some(by), .. } | Hit::Held { by: Some(by), .. } = &mut aim.hit {
            *by = outer(number, *by);
        }
        Ok(aim)
    }

    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        self.alive()?;
        let Some((number, _)) = self.app_at((x, y), "look at a point").await? else { return Ok(None) };
        let there = self.device(number)?.element_at(x, y).await;
        Ok(self.judged(number, there).await?.map(|own| outer(number, own)))
    }

    async fn point_at(&mut self, x: f64, y: f64) -> Result<()> {
        let x11 = self.screen.x11("move the pointer").await?;
        let window = self.app_at((x, y), "move the pointer").await?.map(|(_, window)| window.id);
        x11.run(move |d| {
            d.move_to(x, y)?;
            window.map_or(Ok(()), |window| d.delivered(window))
        })
        .await
    }

    async fn fold(&mut self, opener: Handle, older: &[Handle]) -> Result<bool> {
        let (number, own) = inner(opener);
        let folded = self.device(number)?.fold(own, &of_app(older, number)).await;
        self.judged(number, folded).await
    }

    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<Performed> {
        Ok(self.send(action, None, cancel).await?.0)
    }

    async fn perform_and_glance(
        &mut self,
        action: &Action,
        target: Handle,
        cancel: &CancellationToken,
    ) -> Result<(Performed, Option<Located>)> {
        self.send(action, Some(target), cancel).await
    }

    async fn settle(&mut self, request: SettleRequest, cancel: &CancellationToken) -> Result<Settled> {
        self.alive()?;
        // A clock in another app is no reason to wait after an act in this one.
        let acted = self.acted.clone();
        let meant = |app: &App| acted.is_empty() || acted.contains(&app.number);
        let settling = self.apps.iter_mut().filter(|app| meant(app)).filter_map(|app| {
            let (number, name) = (app.number, app.name.clone());
            let device = app.answering()?;
            Some(async move { (number, name, device.settle(request, cancel).await) })
        });
        let ended = all(settling).await;
        let mut settled = Settled { settled: true, still: Vec::new() };
        for (number, name, app) in ended {
            match self.judged(number, app).await {
                Ok(app) => {
                    settled.settled &= app.settled;
                    settled.still.extend(app.still.into_iter().map(|still| format!("{name}: {still}")));
                }
                Err(e) if e.code == ErrorCode::ElementNotFound => {}
                Err(e) if e.code == ErrorCode::Timeout => {
                    settled.settled = false;
                    settled.still.push(format!("{name} does not answer"));
                }
                Err(e) => return Err(e),
            }
        }
        if self.has_news() {
            self.refresh().await?;
        }
        Ok(settled)
    }

    async fn changed(&mut self, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
        self.alive()?;
        let (known, registry) = (self.known, Arc::clone(&self.registry));
        let came = registry.until(|heard| (heard.changes != known).then_some(()));
        let waits = self
            .apps
            .iter_mut()
            .filter_map(App::answering)
            .map(|device| async move { device.until_changed(wait, cancel).await });
        tokio::select! {
            () = came => Ok(true),
            // The end of an app is a change of the desktop.
            changed = first(waits) => Ok(changed.unwrap_or(true)),
            () = tokio::time::sleep(wait.min(NET)) => Ok(wait > NET),
            () = cancel.cancelled() => Ok(false),
        }
    }

    async fn effects(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
        self.alive()?;
        let (known, registry) = (self.known, Arc::clone(&self.registry));
        let came = registry.until(|heard| (heard.changes != known).then_some(()));
        let acted = &self.acted;
        let waits = self
            .apps
            .iter_mut()
            .filter(|app| acted.is_empty() || acted.contains(&app.number))
            .filter_map(App::answering)
            .map(|device| async move { device.until_effect(at_most, cancel).await });
        tokio::select! {
            () = came => {}
            // An app that ends shows an effect; the notices name it.
            ended = first(waits) => drop(ended),
            // Longer than the app itself waits: what GTK 4 was told it does a moment later.
            () = tokio::time::sleep(at_most + NET) => {}
            () = cancel.cancelled() => {}
        }
        Ok(())
    }

    async fn navigate(
        &mut self,
        to: &Navigation,
        _leave: Leave,
        ready: Duration,
        cancel: &CancellationToken,
    ) -> Result<Arrived> {
        self.alive()?;
        match to {
            Navigation::To(what) if *what == self.url => Ok(Arrived { settled: true, ..Arrived::default() }),
            Navigation::To(what) => self.start(what, ready, cancel).await,
            _ => Err(unsupported("linux", "go back, forward or home")),
        }
    }

    async fn screenshot(&mut self, request: ShotRequest) -> Result<Shot> {
        let area = match request.of {
            Some(handle) => {
                self.rects(&[handle]).await?.pop().flatten().ok_or_else(crate::screenshot::nowhere)?
            }
            None => {
                let x11 = self.screen.x11("take pictures").await?;
                let (width, height) = x11.run(|d| Ok(d.size())).await?;
                Rect { x: 0.0, y: 0.0, width: f64::from(width), height: f64::from(height) }
            }
        };
        crate::screenshot::of_area(&mut self.screen, area).await
    }

    async fn query(&mut self, handle: Handle, query: Query) -> Result<serde_json::Value> {
        let (number, own) = inner(handle);
        if let Some(app) = app_of(handle).and_then(|number| self.app(number)) {
            return match query {
                Query::Attrs => Ok(serde_json::json!({ "name": app.name, "pid": app.pid, "bus": app.bus })),
                Query::Text => Ok(serde_json::json!(app.name)),
                Query::Html => Err(unsupported("linux", "show the markup of an element")),
            };
        }
        let answer = self.device(number)?.query(own, query).await;
        self.judged(number, answer).await
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        self.alive()?;
        if self.has_news() {
            self.refresh().await?;
        }
        let mut seen = Vec::new();
        for number in self.apps.iter().map(|app| app.number).collect::<Vec<_>>() {
            let Some(device) = self.app(number).and_then(App::answering) else { continue };
            let notices = device.notices().await;
            match self.judged(number, notices).await {
                Ok(notices) => {
                    // What goes on in another app is no effect of an act in this one.
                    let own = self.acted.is_empty() || self.acted.contains(&number);
                    seen.extend(notices.into_iter().filter(|notice| own || *notice != Notice::Changed));
                }
                Err(e) if e.code == ErrorCode::ElementNotFound => self.refresh().await?,
                Err(e) => return Err(e),
            }
        }
        seen.append(&mut self.notices);
        Ok(seen)
    }

    fn dialog(&self) -> Option<Dialog> {
        // Dialogs of apps are windows of their trees: nothing keeps them from answering.
        None
    }

    async fn answer_dialog(&mut self, _answer: DialogAnswer) -> Result<()> {
        Err(crate::device::no_dialog())
    }

    fn clipboard(&mut self) -> Option<&mut dyn Clipboard> {
        Some(self)
    }

    fn files(&mut self) -> Option<&mut dyn Files> {
        Some(self)
    }

    fn lifecycle(&mut self) -> Option<&mut dyn Lifecycle> {
        Some(self)
    }

    async fn close(&mut self) -> Result<()> {
        // Those of the person stay; so do their windows.
        self.apps.clear();
        // At once: each may take its time to save what it keeps.
        let ends = self.started.drain(..).map(|(child, what)| async move { end_child(child, &what).await });
        let ended: Result<()> = all(ends).await.into_iter().collect();
        let screen = self.screen.end().await;
        ended.and(screen)
    }
}

#[async_trait]
impl Clipboard for Desk {
    async fn read_clipboard(&mut self) -> Result<String> {
        self.screen.read_clipboard().await
    }

    async fn write_clipboard(&mut self, text: &str) -> Result<()> {
        self.screen.write_clipboard(text).await
    }
}

#[async_trait]
impl Files for Desk {
    async fn file_input(&mut self, handle: Handle) -> Result<Option<FileInput>> {
        let (number, own) = inner(handle);
        let found = self.device(number)?.file_input(own).await;
        let found = self.judged(number, found).await?;
        Ok(found.map(|input| FileInput { input: outer(number, input.input), ..input }))
    }

    async fn dismiss(&mut self, chooser: Handle) -> Result<Option<bool>> {
        let (number, own) = inner(chooser);
        let closed = self.device(number)?.dismiss(own).await;
        self.judged(number, closed).await
    }
}

#[async_trait]
impl Lifecycle for Desk {
    fn app_folders(&self) -> Option<AppFolders> {
        self.provider.dirs(&self.request).ok()?.folders()
    }

    fn act_begins(&mut self) {
        self.acted.clear();
        self.apps.iter_mut().filter_map(|app| app.device.as_mut()).for_each(|device| device.act_begins());
    }

    fn asides(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.asides)
    }

    fn left_with(&self, handle: Handle) -> Option<String> {
        let number = app_of(handle).unwrap_or_else(|| inner(handle).0);
        let (_, name) = self.left.iter().find(|(left, _)| *left == number)?;
        Some(format!("app {}, which has closed", quote(name)))
    }
}

impl Desk {
    /// Where elements are; `on_top`: those that lie behind another window are nowhere.
    async fn rects_of(&mut self, handles: &[Handle], on_top: bool) -> Result<Vec<Option<Rect>>> {
        let mut rects = vec![None; handles.len()];
        let own: Vec<(u64, Handle)> = handles.iter().map(|&handle| inner(handle)).collect();
        let asked = self.apps.iter_mut().map(|app| {
            let number = app.number;
            let places: Vec<usize> = (0..own.len()).filter(|&at| own[at].0 == number).collect();
            let handles: Vec<Handle> = places.iter().map(|&at| own[at].1).collect();
            let device = app.answering().filter(|_| !handles.is_empty());
            async move {
                let boxes = match device {
                    Some(device) if on_top => device.boxes_on_top(&handles).await,
                    Some(device) => device.boxes(&handles).await,
                    None => Ok(Vec::new()),
                };
                (number, places, boxes)
            }
        });
        for (number, places, boxes) in all(asked).await {
            match self.judged(number, boxes).await {
                Ok(boxes) => places.into_iter().zip(boxes).for_each(|(at, rect)| rects[at] = rect),
                // What it has is nowhere for now; a capture says so.
                Err(e) if matches!(e.code, ErrorCode::ElementNotFound | ErrorCode::Timeout) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(rects)
    }
}
