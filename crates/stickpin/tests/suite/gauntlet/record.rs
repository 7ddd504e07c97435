//! Records situations as trees, for tests of the rule without a browser: the tree before the
//! change, the tree at the use, and the right node in the latter.
//! `crates/tree/tests/integration/records/capture.rs` reads the format.

use super::data::{Kind, Situation, View};
use super::site::Site;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use stickpin_device::{
    Action, AimOptions, Button, CaptureRequest, CaptureResult, Device, LeavePolicy, Modifiers, Navigation,
    OpenRequest, Provider,
};
use stickpin_kernel::CancellationToken;
use stickpin_tree::{Attr, Handle, NodeRef, Role, States, Tree};

/// The id that the page assigns to the right element, after the trees were captured.
const TRUTH: &str = "gauntlet-truth";

pub struct Recorder {
    device: Box<dyn Device>,
    site: Site,
    runtime: tokio::runtime::Runtime,
    _dir: tempfile::TempDir,
}

impl Recorder {
    pub fn new(provider: &dyn Provider, situations: &[Situation]) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let dir = tempfile::tempdir().expect("a folder");
        let request = OpenRequest::new("about:blank", "record", dir.path());
        let device = runtime.block_on(provider.open(request)).expect("a browser");
        Self { device, site: Site::new(situations), runtime, _dir: dir }
    }

    /// Ends the browser.
    pub fn close(mut self) {
        self.runtime.block_on(self.device.close()).expect("the browser ends");
    }

    fn capture(&mut self, watch: &[Handle]) -> Arc<Tree> {
        let request = CaptureRequest::default().watch(watch);
        match self.runtime.block_on(self.device.capture(request)).expect("a capture") {
            CaptureResult::Tree(tree) => tree,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the recording of one situation.
    pub fn record(&mut self, situation: &Situation) -> Result<Value, String> {
        self.site.prepare_open(false);
        let to = Navigation::To(self.site.url(situation));
        let patience = Duration::from_secs(10);
        let cancel = CancellationToken::new();
        self.runtime
            .block_on(self.device.navigator().unwrap().navigate(&to, LeavePolicy::Discard, patience, &cancel))
            .map_err(|e| e.message)?;
        self.site.wait_ready()?;
        for before in &situation.before {
            let tree = self.capture(&[]);
            let button = match before.run[0].as_str() {
                "press" => Some(Button::Right),
                "hover" => None,
                "screenshot" => continue,
                other => return Err(format!("`{other}` before the reading cannot be recorded")),
            };
            let target = pick(&tree, &before.pick[0], View::Full)?;
            self.point(target, button).map_err(|e| e.message)?;
        }
        let first = self.capture(&[]);
        let picked = situation.pick.iter().map(|p| pick(&first, p, situation.view));
        let picked = picked.collect::<Result<Vec<Handle>, String>>()?;
        if let Some(change) = &situation.change {
            self.site.evaluate(change)?;
        }
        let now = self.capture(&picked);
        let truth = match situation.kind {
            Kind::Refuse => None,
            Kind::Act | Kind::Either => self.truth(situation, &first, picked[0])?,
        };
        if situation.kind == Kind::Act && truth.is_none_or(|t| now.find_handle(t).is_none()) {
            return Err("the element that must be acted on is not in the tree".to_owned());
        }
        let prefix = match situation.kind {
            Kind::Act => "ACT",
            Kind::Refuse => "REF",
            Kind::Either => "EITHER",
        };
        let hard = if situation.hard { " (hard)" } else { "" };
        let queries: Map<String, Value> =
            picked.iter().enumerate().map(|(i, h)| (format!("t{i}"), json!(id(*h)))).collect();
        let mut before = event("first", &first, &self.site.origin());
        before.insert("q".to_owned(), queries.into());
        let mut at_use = event("locate", &now, &self.site.origin());
        at_use.insert("act".to_owned(), json!({ "q": "t0", "truth": truth.map(id) }));
        Ok(json!({
            "name": format!("{prefix} {}{hard}: {}", situation.id, situation.description),
            "ev": [before, at_use],
        }))
    }

    fn point(&mut self, target: Handle, button: Option<Button>) -> stickpin_kernel::Result<()> {
        let options = AimOptions::default().pointer(true).press(button.is_some()).plain(false);
        let aim = self.runtime.block_on(self.device.aim(target, options))?;
        let (point, modifiers) = (aim.point, Modifiers::default());
        if let Some(button) = button {
            let press = Action::Press {
                point,
                target: Some(target),
                button,
                count: 1,
                modifiers,
                hold: Duration::ZERO,
            };
            self.runtime.block_on(self.device.perform(&press, &CancellationToken::new()))?;
        }
        Ok(())
    }

    /// Returns the element that the ref means now: the element that the page marks, or the nearest
    /// one in or around it with the ref's role.
    fn truth(
        &mut self,
        situation: &Situation,
        first: &Tree,
        picked: Handle,
    ) -> Result<Option<Handle>, String> {
        for want in &situation.want {
            let (marked, _) = self.site.evaluate(&format!("markTruth({})", json!(want)))?;
            if marked != Value::Bool(true) {
                continue;
            }
            let role = first.find_handle(picked).expect("it was found there").role();
            let tree = self.capture(&[]);
            let node = tree.nodes().find(|n| n.attr(Attr::Id) == Some(TRUTH));
            let node = node.ok_or("the marked element is not in the tree")?;
            let inside = node.subtree().find(|n| n.role() == role);
            let found = inside.or_else(|| node.ancestors().find(|n| n.role() == role));
            return Ok(found.and_then(NodeRef::handle));
        }
        // A page that calls `did` marks no element: the original one is still right.
        Ok(self.capture(&[]).find_handle(picked).and_then(NodeRef::handle))
    }
}

fn pick(tree: &Tree, pick: &super::data::Pick, view: View) -> Result<Handle, String> {
    let listed = |n: &NodeRef<'_>| match view {
        View::Interactive => n.is(States::ACTIONABLE),
        View::Full => !n.is_text(),
    };
    let mut fitting = tree.nodes().filter(listed).filter(|n| pick.fits(n.role().name(), n.name()));
    // A line without a name is printed with the text in it.
    let mut texts = tree.nodes().filter(|n| n.is_text() && pick.fits("text", n.name()));
    let holding = || {
        let text = texts.nth(pick.nth)?;
        text.ancestors().find(|n| n.role() != Role::Generic)
    };
    let node = fitting.nth(pick.nth).or_else(holding);
    let node = node.ok_or_else(|| format!("no {pick:?} in the tree"))?;
    node.handle().ok_or_else(|| format!("{pick:?} has no handle"))
}

/// Returns a number that is unique across documents, because a recording has ids but no scopes.
fn id(handle: Handle) -> u64 {
    handle.scope * 1_000_000 + handle.id
}

fn event(kind: &str, tree: &Tree, origin: &str) -> Map<String, Value> {
    let nodes: Vec<Value> = tree.nodes().map(|n| node(n, origin)).collect();
    let mut event = Map::new();
    event.insert("kind".to_owned(), json!(kind));
    event.insert("nodes".to_owned(), nodes.into());
    let hidden: Vec<u64> = tree.hidden().iter().copied().map(id).collect();
    if !hidden.is_empty() {
        event.insert("hid".to_owned(), json!(hidden));
    }
    event
}

fn node(node: NodeRef<'_>, origin: &str) -> Value {
    let mut out = Map::new();
    let mut put = |key: &str, value: &str| {
        if !value.is_empty() {
            out.insert(key.to_owned(), json!(value));
        }
    };
    let document = node.document();
    let is_document = node.parent().is_none_or(|p| p.document_index() != node.document_index());
    if is_document {
        put("t", "#doc");
        put("doc", &document.scope.to_string());
        put("fr", &document.frame);
        put("u", &document.url.replace(origin, "http://app.test"));
        put("title", &document.title);
    } else if node.is_text() {
        put("t", "#");
        put("x", node.name());
    } else {
        put("t", node.tag());
        put("r", node.role().name());
        put("n", node.name());
        put("v", node.value());
    }
    let states: Vec<&str> = node.states().iter_names().map(|(name, _)| name).collect();
    put("st", &states.join(" "));
    let attrs: Map<String, Value> = node.attrs().map(|(key, value)| (attr_name(key), json!(value))).collect();
    if !attrs.is_empty() {
        out.insert("at".to_owned(), attrs.into());
    }
    if node.level() > 0 {
        out.insert("l".to_owned(), json!(node.level()));
    }
    if let Some(parent) = node.parent() {
        out.insert("p".to_owned(), json!(parent.id().index()));
    }
    if let Some(address) = node.address() {
        out.insert("i".to_owned(), json!(id(address)));
    }
    out.into()
}

fn attr_name(attr: Attr) -> String {
    match serde_json::to_value(attr) {
        Ok(Value::String(name)) => name,
        other => panic!("{attr:?} has no name: {other:?}"),
    }
}

/// Writes recordings, one per line, to the location that the tests of `tree` read.
pub fn write(cases: &[Value]) {
    use std::io::Write as _;
    let path = stickpin_testkit::workspace_root().join("crates/tree/test_data/gauntlet.json.gz");
    let lines: Vec<String> = cases.iter().map(Value::to_string).collect();
    let file = std::fs::File::create(&path).expect("a file");
    let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::best());
    writeln!(out, "[{}]", lines.join(",\n")).expect("it is written");
    out.finish().expect("it is written");
}
