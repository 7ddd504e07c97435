//! A device that implements only the core: every missing facet has an answer.

use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{
    Action, Aim, AimOptions, CancellationToken, Capability, CaptureRequest, CaptureResult, Device,
    DeviceInfo, ErrorCode, HitResult, InputOutcome, LocatedElement, Notice, Page, Query, Result,
    SettleRequest, SettleResult,
};
use stickpin_tree::{Document, Handle, IdentityGrade, Rect, SurfaceId, Tree, TreeBuilder};

#[derive(Debug)]
struct Core(DeviceInfo, Arc<Tree>);

const AREA: Rect = Rect { x: 1.0, y: 2.0, width: 3.0, height: 4.0 };

impl Core {
    fn new() -> Self {
        let mut builder = TreeBuilder::new(IdentityGrade::NeverReused);
        builder.set_surface(SurfaceId(1));
        let document =
            Document { scope: 1, frame: String::new(), url: "core:/".into(), title: String::new() };
        builder.document(0, document, 1).unwrap();
        let info = DeviceInfo::new("core", "Core", IdentityGrade::NeverReused);
        Self(info, Arc::new(builder.finish().unwrap()))
    }
}

#[async_trait]
impl Device for Core {
    fn info(&self) -> &DeviceInfo {
        &self.0
    }

    fn capabilities(&self) -> &'static [Capability] {
        &[]
    }

    async fn capture(&mut self, _request: CaptureRequest<'_>) -> Result<CaptureResult> {
        Ok(CaptureResult::Tree(Arc::clone(&self.1)))
    }

    async fn page(&mut self) -> Result<Option<Page>> {
        Ok(Some(Page::new("core:/".to_owned(), String::new())))
    }

    async fn locate(&mut self, _handle: Handle, _context: &[Handle]) -> Result<Option<LocatedElement>> {
        Ok(Some(LocatedElement::new(Arc::clone(&self.1), self.1.root().id())))
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        Ok(vec![Some(AREA); handles.len()])
    }

    async fn aim(&mut self, _handle: Handle, _options: AimOptions<'_>) -> Result<Aim> {
        Ok(Aim::new(AREA, HitResult::Target).point(AREA.center()))
    }

    async fn perform(&mut self, _action: &Action, _cancel: &CancellationToken) -> Result<InputOutcome> {
        Ok(InputOutcome::default())
    }

    async fn settle(&mut self, _request: SettleRequest, _cancel: &CancellationToken) -> Result<SettleResult> {
        Ok(SettleResult::default())
    }

    async fn changed(&mut self, _timeout: Duration, _cancel: &CancellationToken) -> Result<bool> {
        Ok(true)
    }

    async fn query(&mut self, _handle: Handle, _query: Query) -> Result<serde_json::Value> {
        Ok(serde_json::Value::Null)
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        Ok(Vec::new())
    }

    async fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn device_without_facets_has_an_answer_to_each() {
    let mut core = Core::new();
    let device: &mut dyn Device = &mut core;
    let (handle, at_most, cancel) = (Handle { scope: 1, id: 1 }, Duration::ZERO, CancellationToken::new());
    assert_eq!(device.visible_rects(&[handle]).await.unwrap(), [Some(AREA)]);
    assert_eq!(device.element_at(0.0, 0.0).await.unwrap_err().code, ErrorCode::Unsupported);
    device.move_pointer(0.0, 0.0).await.unwrap();
    assert_eq!(device.scroll_offset().await.unwrap(), (0.0, 0.0));
    assert_eq!(device.dialog(), None);
    assert_eq!(device.url().await.unwrap().as_deref(), Some("core:/"));
    assert!(device.wait_event(at_most, &cancel).await.unwrap());
    device.wait_effect(at_most, &cancel).await.unwrap();
    assert!(!device.close_popup(handle, &[]).await.unwrap());
    let prepared = device.prepare(handle, &[], AimOptions::default(), Default::default()).await.unwrap();
    assert!(prepared.located.is_some(), "an aim that nothing is in the way of is followed by a look");
}
