//! The app as a device: how the world answers the kernel.

use super::Fake;
use super::guard::Guard;
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{Capability, Dispatched, Error, Files, Lifecycle, Result, *};
use stickpin_tree::{Handle, Rect};

#[derive(Debug)]
pub(super) struct FakeDevice {
    pub(super) fake: Fake,
    /// The default device, one that reports only elements, one that is safe to drop, and one with
    /// both properties.
    pub(super) described: [DeviceInfo; 4],
    /// The guards of elements that were aimed at and have not received an input since.
    pub(super) guards: Vec<Guard>,
}

impl FakeDevice {
    fn look(&self) -> Result<()> {
        let mut world = self.fake.world();
        if let Some(mut hook) = world.on_look.take() {
            hook(&mut world);
            world.on_look = Some(hook);
        }
        // Like a page, which does not answer while a dialog is open.
        world.dialog.as_ref().map_or(Ok(()), |dialog| Err(crate::observe::capture::dialog_error(dialog)))
    }
}

#[async_trait]
impl Device for FakeDevice {
    fn info(&self) -> &DeviceInfo {
        let world = self.fake.world();
        &self.described[usize::from(world.partial) + 2 * usize::from(world.drop_safe)]
    }

    fn capabilities(&self) -> &'static [Capability] {
        super::CAPABILITIES
    }

    async fn capture(&mut self, _request: CaptureRequest<'_>) -> Result<CaptureResult> {
        self.fake.call("capture").await?;
        self.fake.world().captures += 1;
        self.look()?;
        Ok(CaptureResult::Tree(Arc::new(self.fake.world().tree())))
    }

    async fn locate(&mut self, handle: Handle, _context: &[Handle]) -> Result<Option<LocatedElement>> {
        self.fake.call("locate").await?;
        self.look()?;
        let world = self.fake.world();
        let tree = world.tree();
        let node = tree.find_handle(handle).map(|n| n.id());
        Ok(node.map(|node| LocatedElement::new(Arc::new(tree), node)))
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        let world = self.fake.world();
        Ok(handles.iter().map(|h| world.has(h.id).then(|| world.rect(h.id))).collect())
    }

    async fn aim(&mut self, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
        self.fake.call("aim").await?;
        let mut world = self.fake.world();
        self.guards.retain(|guard| guard.target != handle);
        if !options.guarded.is_empty() {
            self.guards.push(Guard::new(&world.tree(), handle, options.guarded.iter().copied()));
        }
        if let Some(mut hook) = world.on_aim.take() {
            hook(&mut world);
        }
        // A covering element must not even receive a hover.
        let pointed = options.pointer && world.hit(handle.id).allows_input();
        if pointed && let Some(mut hook) = world.on_pointer.take() {
            hook(&mut world);
        }
        if !world.has(handle.id) {
            return Err(Error::element_not_found(format!("{} is gone", handle.id)));
        }
        let (rect, hit) = (world.rect(handle.id), world.hit(handle.id));
        Ok(Aim::new(rect, hit).pointer_moved(pointed))
    }

    async fn perform(&mut self, action: &Action, cancel: &CancellationToken) -> Result<InputOutcome> {
        self.fake.call("perform").await?;
        let mut down = false;
        let slow = self.fake.world().slow_input;
        if let (Some(slow), Action::Press { target: Some(target), .. }) = (slow, action) {
            down = true;
            self.fake.world().log.push(format!("down {}", target.id));
            tokio::select! {
                () = tokio::time::sleep(slow) => {}
                () = cancel.cancelled() => {}
            }
            self.fake.world().log.push(format!("up {}", target.id));
        }
        let mut world = self.fake.world();
        if let Some(mut hook) = world.on_perform.take() {
            hook(&mut world);
        }
        let mut performed = InputOutcome::done().delivery(Delivery::Confirmed);
        let targets = action.targets();
        let guards: Vec<Guard> = self.guards.extract_if(.., |g| targets.contains(&g.target)).collect();
        // A target that is gone is searched for again, whatever else changed.
        if targets.iter().all(|target| world.has(target.id)) {
            let tree = world.tree();
            if guards.iter().any(|guard| !guard.holds(&tree)) {
                performed.delivery = Delivery::Changed { stopped: !down };
                return Ok(performed);
            }
        }
        if let Some(what) = world.reached.pop() {
            performed.delivery = Delivery::Elsewhere { what, stopped: true };
            return Ok(performed);
        }
        // A file input need not be in the document; scrolling and typing do not fail for a missing
        // target.
        let needed = !matches!(action, Action::Upload { .. } | Action::Type { .. } | Action::Scroll { .. });
        if let Some(target) = targets.iter().find(|target| needed && !world.has(target.id)) {
            return Err(gone(target.id));
        }
        if let Action::Upload { target, .. } = action
            && !world.file_inputs.contains_key(&target.id)
        {
            return Err(gone(target.id));
        }
        match action {
            Action::Press { target, count, .. } => {
                let id = target.map(|h| h.id);
                let times = if *count == 1 { String::new() } else { format!(" x{count}") };
                let id_text = id.map_or("-".to_owned(), |id| id.to_string());
                world.input(id, format!("press {id_text}{times}"));
            }
            Action::Fill { target, text } => {
                let mut value = world.format.map_or_else(|| text.clone(), |format| format(text));
                value.extend(world.completes);
                performed.completed = world.completes.map(str::to_owned);
                world.values.insert(target.id, value.clone());
                world.input(Some(target.id), format!("fill {} {text:?}", target.id));
                performed.value = Some(value);
                performed.unfocused = world.keeps_focus;
            }
            Action::Type { target, text } => {
                world.input(target.map(|h| h.id), format!("type {text:?}"));
            }
            Action::Key { key, .. } => world.input(None, format!("key {key}")),
            Action::Drag { source, target, to, .. } => {
                let top = world.top(to.0, to.1);
                if target.is_some_and(|t| top != Some(t.id)) {
                    performed.delivery = Delivery::Elsewhere { what: format!("{top:?}"), stopped: true };
                    return Ok(performed);
                }
                let id = |h: &Option<Handle>| h.map_or("-".to_owned(), |h| h.id.to_string());
                let line = format!("drag {} {}", id(source), id(target));
                world.input(None, line);
            }
            Action::Select { .. } if !world.native_lists => performed.handled = false,
            Action::Select { options, .. } => world.input(None, format!("select {}", options.join(","))),
            Action::Scroll { dy, .. } => world.input(None, format!("scroll {dy}")),
            Action::Choose { target, .. } => {
                world.input(Some(target.id), format!("choose {}", target.id));
                performed.chooser = world.chooser.map(|id| Handle { scope: 1, id });
            }
            Action::Upload { target, files } => {
                let names = file_names(files);
                world.input(Some(target.id), format!("upload {} {names}", target.id));
                performed.value = Some(names);
            }
            Action::Drop { target, .. } if !world.takes_drops => {
                world.log.push(format!("no drop {}", target.id));
                performed.handled = false;
            }
            Action::Drop { target, files, .. } => {
                let names = file_names(files);
                world.input(Some(target.id), format!("drop {} {names}", target.id));
            }
            _ => performed.handled = false,
        }
        Ok(performed)
    }

    async fn settle(&mut self, request: SettleRequest, _cancel: &CancellationToken) -> Result<SettleResult> {
        self.fake.call("settle").await?;
        tokio::time::sleep(request.quiet.min(request.cap)).await;
        let still = self.fake.world().still.clone();
        Ok(SettleResult::new(still.is_empty(), still))
    }

    async fn changed(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool> {
        self.fake.call("changed").await?;
        tokio::select! {
            () = self.fake.changed.notified() => Ok(true),
            () = cancel.cancelled() => Ok(false),
            () = tokio::time::sleep(timeout) => Ok(false),
        }
    }

    async fn query(&mut self, handle: Handle, query: Query) -> Result<serde_json::Value> {
        self.fake.call("query").await?;
        match query {
            Query::Html => Err(unsupported("fake", "show HTML")),
            query => Ok(serde_json::json!(format!("{query:?} of {}", handle.id))),
        }
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        self.fake.call("notices").await?;
        Ok(std::mem::take(&mut self.fake.world().notices))
    }

    stickpin_device::own_facets! {
        files: Files,
        lifecycle: Lifecycle,
        geometry: Geometry,
        screenshots: Screenshots,
        dialogs: Dialogs,
        navigator: Navigator,
        popups: Popups,
        script: Script,
    }

    async fn close(&mut self) -> Result<()> {
        self.fake.call("close").await?;
        self.fake.world().closed += 1;
        Ok(())
    }
}

#[async_trait]
impl Geometry for FakeDevice {
    async fn visible_rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        let world = self.fake.world();
        Ok(handles.iter().map(|h| world.has(h.id).then(|| world.rect(h.id))).collect())
    }

    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        let world = self.fake.world();
        let found = world.top(x, y);
        Ok(found.map(|id| Handle { scope: 1, id }))
    }

    async fn move_pointer(&mut self, _x: f64, _y: f64) -> Result<()> {
        self.fake.call("point_at").await?;
        let mut world = self.fake.world();
        if let Some(mut hook) = world.on_pointer.take() {
            hook(&mut world);
        }
        Ok(())
    }

    async fn scroll_offset(&mut self) -> Result<(f64, f64)> {
        Ok((0.0, self.fake.world().scrolled))
    }
}

#[async_trait]
impl Screenshots for FakeDevice {
    async fn screenshot(&mut self, _request: ScreenshotRequest) -> Result<ScreenshotImage> {
        let mut image = crate::picture::image::Image::filled(200, 800, [250, 250, 250]);
        // Two pixels of the screenshot for each pixel of the viewport; the text is drawn in the
        // screenshot.
        image.text(0, 700, &format!("{}", self.fake.world().outline.len()), [0, 0, 0]);
        let area = Rect { x: 0.0, y: 0.0, width: 100.0, height: 400.0 };
        let mut world = self.fake.world();
        world.shots += 1;
        if let Some(mut hook) = world.on_shot.take() {
            hook(&mut world);
        }
        Ok(ScreenshotImage::new(image.encode(crate::picture::image::Format::Png)?, area, 2.0))
    }

    async fn begin_live_picture(&mut self) -> Result<PendingPicture> {
        let image = self.screenshot(ScreenshotRequest::default()).await?;
        let held = self.fake.world().held_picture.take();
        Ok(Box::pin(async move {
            if let Some(held) = held {
                held.await.map_err(|e| Error::internal(e.to_string()))?;
            }
            LivePicture::try_from(image)
        }))
    }
}

#[async_trait]
impl Dialogs for FakeDevice {
    fn dialog(&self) -> Option<Dialog> {
        self.fake.world().dialog.clone()
    }

    async fn answer_dialog(&mut self, answer: DialogAnswer) -> Result<()> {
        let mut world = self.fake.world();
        world.dialog = None;
        world.log.push(format!("answer {answer:?}"));
        Ok(())
    }
}

#[async_trait]
impl Navigator for FakeDevice {
    async fn navigate(
        &mut self,
        to: &Navigation,
        _leave: LeavePolicy,
        _timeout: Duration,
        _cancel: &CancellationToken,
    ) -> Result<NavigationResult> {
        self.fake.call("navigate").await?;
        let mut world = self.fake.world();
        if let Navigation::To(url) = to {
            world.url = url.clone();
        }
        world.log.push(format!("navigate {to:?}"));
        Ok(NavigationResult::default()
            .moved(true)
            .url(world.url.clone())
            .title("Fake".to_owned())
            .quiet(SettleResult::quiet()))
    }
}

#[async_trait]
impl Script for FakeDevice {
    async fn evaluate(&mut self, _expression: &str, _timeout: Duration) -> Result<Option<ScriptValue>> {
        Err(unsupported("fake", "evaluate scripts"))
    }

    /// A selector is the name of a role.
    async fn css(&mut self, selector: &str) -> Result<Vec<Handle>> {
        let mut world = self.fake.world();
        if let Some(mut hook) = world.on_css.take() {
            hook(&mut world);
        }
        let tree = world.tree();
        let matches = tree.nodes().filter(|node| node.role().name() == selector);
        Ok(matches.filter_map(|node| node.address()).collect())
    }
}

#[async_trait]
impl Popups for FakeDevice {
    async fn close_popup(&mut self, _opener: Handle, _older: &[Handle]) -> Result<bool> {
        self.fake.call("fold").await?;
        self.fake.world().log.push("fold".to_owned());
        Ok(true)
    }
}

#[async_trait]
impl Files for FakeDevice {
    async fn file_input(&mut self, handle: Handle) -> Result<Option<FileInput>> {
        Ok(self.fake.world().file_inputs.get(&handle.id).cloned())
    }

    async fn close_chooser(&mut self, chooser: Handle) -> Result<Option<bool>> {
        self.fake.world().log.push(format!("dismiss {}", chooser.id));
        Ok(self.fake.world().closes)
    }
}

#[async_trait]
impl Lifecycle for FakeDevice {
    async fn idle_for_readahead(&mut self) {
        while !self.fake.world().rests {
            self.fake.changed.notified().await;
        }
    }

    async fn read_ahead(&mut self, watch: &[Handle]) {
        {
            let mut world = self.fake.world();
            world.rests = false;
            world.log.push(format!("read ahead, watching {}", watch.len()));
        }
        // The next command reports any error.
        let _ = self.fake.call("read_ahead").await;
    }

    async fn ended(&mut self) -> Option<String> {
        self.fake.world().ended.clone()
    }
}

fn gone(id: u64) -> Error {
    Error::element_not_found(format!("{id} is gone")).dispatched(Dispatched::No)
}

fn file_names(files: &[std::path::PathBuf]) -> String {
    let names = files.iter().filter_map(|f| f.file_name()).map(|n| n.to_string_lossy());
    names.collect::<Vec<_>>().join(", ")
}
