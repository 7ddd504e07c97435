//! Support shared by the device tests.

use std::sync::Arc;
use std::time::Duration;
use stickpin_backend_sim::{Probe, SimProvider};
use stickpin_device::{
    Action, AimOptions, CancellationToken, CaptureRequest, CaptureResult, Device, HitResult, InputOutcome,
    Modifiers, OpenRequest, Provider, Result, SettleRequest, SettleResult,
};
use stickpin_tree::{Handle, Role, Tree};

/// An open app, driven below the kernel.
pub(crate) struct Bench {
    pub(crate) device: Box<dyn Device>,
    pub(crate) probe: Probe,
}

impl Bench {
    /// Opens an app, with a virtual clock unless another clock is requested.
    pub(crate) async fn open(what: &str) -> Self {
        Self::try_open(what).await.unwrap_or_else(|e| panic!("{what}: {e}"))
    }

    pub(crate) async fn try_open(what: &str) -> Result<Self> {
        let what = match what {
            w if w.contains("clock=") => w.to_owned(),
            w if w.contains('?') => format!("{w}&clock=virtual"),
            w => format!("{w}?clock=virtual"),
        };
        let provider = Arc::new(SimProvider::new());
        let request = OpenRequest::new(what, "s", std::env::temp_dir());
        let device = provider.open(request).await?;
        let probe = provider.probe("s").expect("what was opened can be looked into");
        Ok(Self { device, probe })
    }

    /// Opens an app from source: one screen with this view at `/`, and `head` before it.
    pub(crate) async fn app(head: &str, view: &str) -> Self {
        Self::app_with(head, view, "clock=virtual").await
    }

    /// Opens such an app with options of the device.
    pub(crate) async fn app_with(head: &str, view: &str, options: &str) -> Self {
        let source = format!("title = 'T'\n{head}\n[screens.a]\nurl = '/'\nview = '''\n{view}\n'''\n");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.toml");
        std::fs::write(&path, source).unwrap();
        Self::open(&format!("sim:{}?{options}", path.display())).await
    }

    pub(crate) async fn tree(&mut self) -> Tree {
        match self.device.capture(CaptureRequest::default()).await.unwrap() {
            CaptureResult::Tree(tree) => Arc::unwrap_or_clone(tree),
            other => panic!("{other:?}"),
        }
    }

    /// Returns the handle of the only element with a role and a name.
    pub(crate) async fn find(&mut self, role: Role, name: &str) -> Handle {
        let tree = self.tree().await;
        let found: Vec<_> = tree.nodes().filter(|n| n.role() == role && n.name() == name).collect();
        assert_eq!(found.len(), 1, "{role} {name:?} in\n{}", text(&tree));
        found[0].address().unwrap()
    }

    /// Returns the handles of all elements with a role and a name.
    pub(crate) async fn all(&mut self, role: Role, name: &str) -> Vec<Handle> {
        let tree = self.tree().await;
        tree.nodes().filter(|n| n.role() == role && n.name() == name).filter_map(|n| n.address()).collect()
    }

    /// Aims at an element and presses it if nothing covers it.
    pub(crate) async fn press(&mut self, target: Handle) -> InputOutcome {
        let aim = self.device.aim(target, AimOptions::PLAIN_PRESS).await.unwrap();
        assert_eq!(aim.hit, HitResult::Target);
        self.press_at(aim.point, Some(target)).await.unwrap()
    }

    pub(crate) async fn press_at(
        &mut self,
        point: (f64, f64),
        target: Option<Handle>,
    ) -> Result<InputOutcome> {
        self.device.perform(&Action::press(point, target), &CancellationToken::new()).await
    }

    pub(crate) async fn press_named(&mut self, role: Role, name: &str) -> InputOutcome {
        let target = self.find(role, name).await;
        self.press(target).await
    }

    pub(crate) async fn fill(&mut self, target: Handle, text: &str) -> InputOutcome {
        let action = Action::Fill { target, text: text.into() };
        self.device.perform(&action, &CancellationToken::new()).await.unwrap()
    }

    pub(crate) async fn key(&mut self, key: &str) -> InputOutcome {
        let action = Action::Key { modifiers: Modifiers::default(), key: key.into() };
        self.device.perform(&action, &CancellationToken::new()).await.unwrap()
    }

    pub(crate) async fn settle(&mut self) -> SettleResult {
        let request = SettleRequest::new(Duration::from_millis(150), Duration::from_secs(10));
        self.device.settle(request, &CancellationToken::new()).await.unwrap()
    }

    pub(crate) async fn text(&mut self) -> String {
        text(&self.tree().await)
    }

    /// Returns the inputs that the app received, as `event element`.
    pub(crate) fn received(&self) -> Vec<String> {
        self.probe.received().iter().map(|r| format!("{} {}", r.event, r.element)).collect()
    }
}

/// Formats a tree as lines, including wrappers and text leaves.
pub(crate) fn text(tree: &Tree) -> String {
    let mut out = String::new();
    for node in tree.nodes() {
        let depth = node.ancestors().count();
        out.push_str(&"  ".repeat(depth));
        out.push_str(node.role().name());
        if !node.name().is_empty() {
            out.push_str(&format!(" {:?}", node.name()));
        }
        if !node.value().is_empty() {
            out.push_str(&format!(" = {:?}", node.value()));
        }
        out.push('\n');
    }
    out
}
