//! Two small fake devices combined into one.

use crate::handles::{COMPOSITE_SCOPE, ROOT, to_composite, to_member};
use crate::{CompositeDevice, Environment, Member, Members, WindowAtPoint};
use async_trait::async_trait;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use stickpin_device::{
    Action, Aim, AimOptions, CancellationToken, Capability, CaptureRequest, CaptureResult, Clipboard,
    Delivery, DesktopObject, Device, DeviceInfo, Error, ErrorCode, Geometry, HitResult, InputOutcome,
    LeavePolicy, Lifecycle, LocatedElement, Modifiers, Navigation, Notice, PendingActivity, PreparedInput,
    Query, Result, ScreenshotImage, ScreenshotRequest, SettleRequest, SettleResult, Ticket, unsupported,
};
use stickpin_tree::{Document, Handle, IdentityGrade, NodeSpec, Rect, Role, SurfaceId, Tree, TreeBuilder};

/// A fake's own handle for its button.
const BUTTON: Handle = Handle { scope: 1, id: 3 };

const NO_WAIT: SettleRequest = SettleRequest::new(Duration::ZERO, Duration::ZERO);

/// The inputs that both fakes received, as `NAME: what`.
type Log = Arc<Mutex<Vec<String>>>;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Health {
    #[default]
    Well,
    Silent,
    Left,
}

fn words(ticket: &Ticket) -> String {
    ticket.take::<String>().unwrap_or_else(|| "no ticket".to_owned())
}

fn info() -> DeviceInfo {
    DeviceInfo::new("fake", "fake", IdentityGrade::WhileAlive)
}

/// A window with a button.
#[derive(Debug)]
struct Fake {
    name: &'static str,
    info: DeviceInfo,
    tree: Arc<Tree>,
    health: Health,
    /// Whether the fake reports that its window is active.
    active: bool,
    /// The left edge of its window, which is 100 wide and high.
    x: f64,
    log: Log,
}

impl Fake {
    fn new(name: &'static str, x: f64, log: &Log) -> Self {
        let mut builder = TreeBuilder::new(IdentityGrade::WhileAlive);
        builder.set_surface(SurfaceId(1));
        let document = Document { scope: 1, frame: String::new(), url: "fake:1".into(), title: name.into() };
        builder.document(0, document, 1).unwrap();
        let node = |role, name, id| NodeSpec { role: Some(role), name, id, ..NodeSpec::default() };
        builder.node(1, node(Role::Window, name, 2)).unwrap();
        builder.node(2, node(Role::Button, "OK", BUTTON.id)).unwrap();
        let (tree, log) = (Arc::new(builder.finish().unwrap()), Arc::clone(log));
        Self { name, info: info(), tree, health: Health::Well, active: false, x, log }
    }

    fn well(&self) -> Result<()> {
        match self.health {
            Health::Well => Ok(()),
            Health::Silent => Err(Error::timeout("silent")),
            Health::Left => Err(Error::backend_lost("left")),
        }
    }

    fn area(&self) -> Rect {
        Rect { x: self.x, y: 0.0, width: 100.0, height: 100.0 }
    }

    fn ticket(&self, what: &str) -> Ticket {
        Ticket::new(format!("{}'s {what}", self.name))
    }

    fn note(&self, what: &str) {
        self.log.lock().unwrap().push(format!("{}: {what}", self.name));
    }
}

#[async_trait]
impl Device for Fake {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn capabilities(&self) -> &'static [Capability] {
        &[]
    }

    async fn capture(&mut self, _request: CaptureRequest<'_>) -> Result<CaptureResult> {
        self.well().map(|()| CaptureResult::Tree(Arc::clone(&self.tree)))
    }

    async fn locate(&mut self, handle: Handle, context: &[Handle]) -> Result<Option<LocatedElement>> {
        self.well()?;
        self.note(&format!("locate with {} of its own", context.len()));
        let mut found = LocatedElement::find(Arc::clone(&self.tree), handle);
        found.iter_mut().for_each(|found| found.ticket = self.ticket("location"));
        Ok(found)
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        self.well().map(|()| vec![Some(self.area()); handles.len()])
    }

    async fn aim(&mut self, _handle: Handle, _options: AimOptions<'_>) -> Result<Aim> {
        let rect = self.area();
        self.well().map(|()| Aim::new(rect, HitResult::Target))
    }

    async fn prepare(
        &mut self,
        handle: Handle,
        context: &[Handle],
        options: AimOptions<'_>,
        seen: Ticket,
    ) -> Result<PreparedInput> {
        self.note(&format!("prepare with {}, guarding {}", words(&seen), options.guarded.len()));
        let mut prepared = PreparedInput::new(self.aim(handle, options).await?);
        prepared.located = self.locate(handle, context).await?;
        prepared.ticket = self.ticket("preparation");
        Ok(prepared)
    }

    async fn commit(
        &mut self,
        action: &Action,
        prepared: Ticket,
        cancel: &CancellationToken,
    ) -> Result<InputOutcome> {
        self.note(&format!("commit with {}", words(&prepared)));
        Ok(self.perform(action, cancel).await?.ticket(self.ticket("outcome")))
    }

    async fn outcome(&mut self, target: Handle, performed: Ticket) -> Result<Option<LocatedElement>> {
        self.note(&format!("look back with {}", words(&performed)));
        Ok(LocatedElement::find(Arc::clone(&self.tree), target))
    }

    async fn perform(&mut self, action: &Action, _cancel: &CancellationToken) -> Result<InputOutcome> {
        self.well()?;
        self.note(match action {
            Action::Press { target: Some(BUTTON), .. } => "press OK",
            Action::Press { .. } => "press",
            Action::Type { .. } => "type",
            Action::Drag { target: None, .. } => "drag away",
            _ => "something else",
        });
        Ok(InputOutcome::done().chooser(Some(BUTTON)))
    }

    async fn settle(&mut self, _request: SettleRequest, _cancel: &CancellationToken) -> Result<SettleResult> {
        self.note("settle");
        self.well().map(|()| SettleResult::new(false, vec![PendingActivity::Other("a clock".to_owned())]))
    }

    async fn changed(&mut self, _timeout: Duration, _cancel: &CancellationToken) -> Result<bool> {
        std::future::pending().await
    }

    async fn query(&mut self, _handle: Handle, _query: Query) -> Result<serde_json::Value> {
        Ok("OK".into())
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        self.well().map(|()| vec![Notice::Changed])
    }

    fn lifecycle(&mut self) -> Option<&mut dyn Lifecycle> {
        Some(self)
    }

    fn geometry(&mut self) -> Option<&mut dyn Geometry> {
        Some(self)
    }

    async fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Geometry for Fake {
    async fn visible_rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        self.well().map(|()| vec![Some(self.area()); handles.len()])
    }

    async fn element_at(&mut self, _x: f64, _y: f64) -> Result<Option<Handle>> {
        Ok(Some(BUTTON))
    }
}

#[async_trait]
impl Lifecycle for Fake {
    async fn ended(&mut self) -> Option<String> {
        (self.health == Health::Left).then(|| "it has left".to_owned())
    }
}

#[derive(Debug)]
struct Slot {
    fake: Fake,
    silent: bool,
}

#[async_trait]
impl Member for Slot {
    fn device(&mut self) -> Option<&mut dyn Device> {
        Some(&mut self.fake)
    }

    fn is_silent(&self) -> bool {
        self.silent
    }

    fn mark_silent(&mut self) {
        self.silent = true;
    }

    fn active_window(&mut self) -> Option<(Handle, bool)> {
        Some((Handle { scope: 1, id: 2 }, self.fake.active))
    }

    async fn take_keyboard(&mut self, _element: Handle) -> Result<()> {
        self.fake.note("keyboard");
        Ok(())
    }

    fn attrs(&self) -> serde_json::Map<String, serde_json::Value> {
        [("x".to_owned(), self.fake.x.into())].into_iter().collect()
    }
}

/// A set of fakes.
#[derive(Debug)]
struct Table {
    /// Fakes that appear with the next refresh.
    coming: Vec<Fake>,
    lost: bool,
    ended: bool,
}

#[async_trait]
impl Environment for Table {
    type Member = Slot;
    const NAME: &'static str = "table";
    const EMPTY: &'static str = "the table is empty";
    const CAPABILITIES: &'static [Capability] = &[];

    fn check_alive(&self) -> Result<()> {
        if self.lost { Err(Error::backend_lost("the table fell")) } else { Ok(()) }
    }

    async fn refresh(&mut self, parts: &mut Members<Slot>) -> Result<()> {
        parts.remove_gone();
        for fake in self.coming.drain(..) {
            parts.add("form", Slot { fake, silent: false });
        }
        Ok(())
    }

    fn has_membership_changes(&self) -> bool {
        !self.coming.is_empty()
    }

    async fn wait_membership_change(&mut self) {
        if self.coming.is_empty() {
            std::future::pending::<()>().await;
        }
    }

    fn nested_members(&self, _parts: &Members<Slot>) -> Vec<u64> {
        Vec::new()
    }

    async fn active_member(&mut self, _parts: &Members<Slot>) -> Result<Option<u64>> {
        Ok(None)
    }

    async fn perform_outside_members(
        &mut self,
        _parts: &mut Members<Slot>,
        _action: &Action,
        _cancel: &CancellationToken,
    ) -> Result<Option<InputOutcome>> {
        Ok(None)
    }

    fn clipboard(&mut self) -> Option<&mut dyn Clipboard> {
        None
    }

    async fn window_at(
        &mut self,
        parts: &Members<Slot>,
        (x, y): (f64, f64),
        _to: &str,
    ) -> Result<Option<WindowAtPoint>> {
        let there = parts.iter().find(|part| part.member.fake.area().contains(x, y));
        Ok(there.map(|part| WindowAtPoint {
            part: part.number,
            area: part.member.fake.area(),
            description: part.name.clone(),
        }))
    }

    async fn move_pointer_to(&mut self, _parts: &Members<Slot>, _x: f64, _y: f64) -> Result<()> {
        Ok(())
    }

    async fn start_member(
        &mut self,
        parts: &mut Members<Slot>,
        _what: &str,
        _ready: Duration,
        _cancel: &CancellationToken,
    ) -> Result<Option<Duration>> {
        let log = parts.iter().next().map(|part| Arc::clone(&part.member.fake.log)).unwrap_or_default();
        let number = parts.add("new", Slot { fake: Fake::new("c", 400.0, &log), silent: false });
        parts.note_started(number);
        Ok(Some(Duration::ZERO))
    }

    async fn screenshot(
        &mut self,
        _request: &ScreenshotRequest,
        _element: Option<Rect>,
    ) -> Result<ScreenshotImage> {
        Err(unsupported("fake", "take screenshots"))
    }

    async fn close(&mut self) -> Result<()> {
        self.ended = true;
        Ok(())
    }
}

/// Returns two fakes, `a` at 0 and `b` at 200, and the log of their inputs.
async fn two() -> (CompositeDevice<Table>, Log) {
    let log = Log::default();
    let coming = vec![Fake::new("a", 0.0, &log), Fake::new("b", 200.0, &log)];
    let mut whole = CompositeDevice::new(
        info(),
        "fake:table".to_owned(),
        Table { coming, lost: false, ended: false },
        None,
    );
    whole.discover_members(NO_WAIT, &CancellationToken::new()).await.unwrap();
    said(&log);
    (whole, log)
}

async fn tree(whole: &mut CompositeDevice<Table>) -> Arc<Tree> {
    match whole.capture(CaptureRequest::default()).await.unwrap() {
        CaptureResult::Tree(tree) => tree,
        other => panic!("{other:?}"),
    }
}

fn fake<'a>(whole: &'a mut CompositeDevice<Table>, name: &str) -> &'a mut Fake {
    let mut all = whole.parts.iter_mut().map(|part| &mut part.member.fake);
    all.find(|fake| fake.name == name).unwrap()
}

async fn act(whole: &mut CompositeDevice<Table>, action: &Action) -> Result<InputOutcome> {
    whole.perform(action, &CancellationToken::new()).await
}

fn said(log: &Log) -> Vec<String> {
    std::mem::take(&mut *log.lock().unwrap())
}

#[tokio::test]
async fn action_goes_to_the_member_that_owns_its_element() {
    let (mut whole, log) = two().await;
    let tree = tree(&mut whole).await;
    let names: Vec<&str> = tree.root().children().map(|node| node.name()).collect();
    assert_eq!(names, ["form", "form 2"]);
    let buttons: Vec<Handle> =
        tree.nodes().filter(|n| n.role() == Role::Button).filter_map(|n| n.handle()).collect();
    assert_eq!(
        buttons.iter().map(|&handle| to_member(handle)).collect::<Vec<_>>(),
        [(1, BUTTON), (2, BUTTON)]
    );
    let again = whole.capture(CaptureRequest::default().stored(Some(&tree))).await.unwrap();
    assert!(matches!(again, CaptureResult::Unchanged));

    let found = whole.locate(buttons[1], &buttons).await.unwrap().unwrap();
    assert_eq!(found.tree.node(found.node).handle(), Some(buttons[1]));
    let aim = whole.aim(buttons[1], AimOptions::default()).await.unwrap();
    let performed = act(&mut whole, &Action::press(aim.point, Some(buttons[1]))).await.unwrap();
    assert_eq!(performed.chooser, Some(buttons[1]), "in the handles of the whole");
    assert_eq!(
        said(&log),
        ["b: locate with 1 of its own", "b: keyboard", "b: commit with no ticket", "b: press OK"]
    );
    assert_eq!(whole.geometry().unwrap().element_at(10.0, 10.0).await.unwrap(), Some(buttons[0]));
    assert_eq!(whole.rects(&buttons).await.unwrap().iter().flatten().count(), 2);
}

#[tokio::test]
async fn action_is_one_transaction_of_its_member() {
    let (mut whole, log) = two().await;
    tree(&mut whole).await;
    let [a, b] = [1, 2].map(|number| to_composite(number, BUTTON));
    let (options, cancel) = (AimOptions::PLAIN_PRESS, CancellationToken::new());
    let seen = whole.locate(b, &[a, b]).await.unwrap().unwrap().ticket;
    let prepared = whole.prepare(b, &[a, b], options.guarded(&[a, b, b]), seen).await.unwrap();
    let located = prepared.located.unwrap();
    assert_eq!(located.tree.node(located.node).handle(), Some(b));
    let press = Action::press(prepared.aim.point, Some(b));
    let outcome = whole.commit(&press, prepared.ticket, &cancel).await.unwrap();
    whole.outcome(b, outcome.ticket).await.unwrap();
    let transaction = [
        "b: locate with 1 of its own",
        "b: prepare with b's location, guarding 2",
        "b: locate with 1 of its own",
        "b: keyboard",
        "b: commit with b's preparation",
        "b: press OK",
        "b: look back with b's outcome",
    ];
    assert_eq!(said(&log), transaction);

    // Both buttons have the same handle in their members.
    let prepared = whole.prepare(b, &[], options, located.ticket).await.unwrap();
    whole.commit(&Action::press((10.0, 10.0), Some(a)), prepared.ticket, &cancel).await.unwrap();
    let commits: Vec<String> = said(&log).into_iter().filter(|what| what.contains("commit")).collect();
    assert_eq!(commits, ["a: commit with no ticket"]);
}

#[tokio::test]
async fn keys_follow_the_last_act_and_without_one_the_active_window() {
    let (mut whole, log) = two().await;
    tree(&mut whole).await;
    let typed = Action::Type { target: None, text: "x".to_owned() };
    let error = act(&mut whole, &typed).await.unwrap_err();
    assert_eq!(error.message, "no app on the table has the keyboard focus");
    fake(&mut whole, "a").active = true;
    act(&mut whole, &typed).await.unwrap();
    act(&mut whole, &Action::press((210.0, 10.0), None)).await.unwrap();
    act(&mut whole, &typed).await.unwrap();
    let inputs =
        |log: &Log| said(log).into_iter().filter(|what| !what.contains("commit")).collect::<Vec<_>>();
    assert_eq!(inputs(&log), ["a: type", "b: press", "b: type"]);
    let nowhere = act(&mut whole, &Action::press((900.0, 10.0), None)).await.unwrap_err();
    assert_eq!(nowhere.code, ErrorCode::ElementOffscreen);
    let key = Action::Key { modifiers: Modifiers::default(), key: "a".to_owned() };
    act(&mut whole, &key).await.unwrap();
    assert_eq!(inputs(&log), ["b: something else"]);
}

#[tokio::test]
async fn opening_reports_members_that_are_not_quiet() {
    let (whole, _) = two().await;
    let arrival = &whole.info().arrival;
    let clock = |of: &str| PendingActivity::Other(format!("{of}: a clock"));
    assert_eq!(*arrival, SettleResult::new(false, vec![clock("form"), clock("form 2")]));
}

#[tokio::test]
async fn only_what_was_acted_on_is_waited_for_and_listened_to() {
    let (mut whole, log) = two().await;
    tree(&mut whole).await;
    let cancel = CancellationToken::new();
    let settled = whole.settle(NO_WAIT, &cancel).await.unwrap();
    let clock = |of: &str| PendingActivity::Other(format!("{of}: a clock"));
    assert_eq!(settled.pending, [clock("form"), clock("form 2")]);
    assert_eq!(whole.notices().await.unwrap(), [Notice::Changed, Notice::Changed]);
    said(&log);
    act(&mut whole, &Action::press((210.0, 10.0), None)).await.unwrap();
    assert_eq!(whole.settle(NO_WAIT, &cancel).await.unwrap().pending, [clock("form 2")]);
    assert_eq!(whole.notices().await.unwrap(), [Notice::Changed]);
    assert_eq!(said(&log), ["b: commit with no ticket", "b: press", "b: settle"]);
    whole.parts.act_begins();
    assert_eq!(whole.notices().await.unwrap().len(), 2, "the next command has acted on nothing yet");
}

#[tokio::test]
async fn departed_member_removes_only_its_own_elements() {
    let (mut whole, _) = two().await;
    let before = tree(&mut whole).await;
    fake(&mut whole, "a").health = Health::Left;
    let (gone, there) = (to_composite(1, BUTTON), to_composite(2, BUTTON));
    assert!(whole.locate(gone, &[]).await.unwrap().is_none());
    let error = act(&mut whole, &Action::press((0.0, 0.0), Some(gone))).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::ElementNotFound);
    act(&mut whole, &Action::press((210.0, 10.0), Some(there))).await.unwrap();
    let after = tree(&mut whole).await;
    assert!(before.find_handle(gone).is_some() && after.find_handle(gone).is_none());
    assert_eq!(whole.parts.gone_with(gone).unwrap(), r#"app "form", which has closed"#);
    assert_eq!(
        whole.parts.gone_with(Handle { scope: COMPOSITE_SCOPE, id: ROOT + 1 }),
        whole.parts.gone_with(gone)
    );
    assert_eq!(
        whole.parts.device_notices(),
        [Notice::Disappeared { what: DesktopObject::App, name: "form".to_owned() }]
    );
    // The name can be reused, the number cannot.
    let log = Log::default();
    whole.ground.coming.push(Fake::new("again", 0.0, &log));
    let again = tree(&mut whole).await;
    let names: Vec<&str> = again.root().children().map(|node| node.name()).collect();
    assert_eq!(names, ["form 2", "form"]);
    assert!(again.find_handle(gone).is_none() && again.find_handle(to_composite(3, BUTTON)).is_some());
}

#[tokio::test]
async fn a_member_that_does_not_answer_keeps_nobody_waiting() {
    let (mut whole, log) = two().await;
    tree(&mut whole).await;
    fake(&mut whole, "a").health = Health::Silent;
    let error = whole.locate(to_composite(1, BUTTON), &[]).await.unwrap_err();
    assert_eq!(
        (error.code, error.hint.contains("apps on the table are not affected")),
        (ErrorCode::Timeout, true)
    );
    let read = tree(&mut whole).await;
    let silent = read.root().children().next().unwrap().children().next().unwrap();
    assert!(silent.name().contains("did not respond"));
    act(&mut whole, &Action::press((210.0, 10.0), Some(to_composite(2, BUTTON)))).await.unwrap();
    assert_eq!(said(&log), ["b: keyboard", "b: commit with no ticket", "b: press OK"]);
    let error = act(&mut whole, &Action::press((0.0, 0.0), Some(to_composite(1, BUTTON)))).await.unwrap_err();
    assert!(error.message.contains("may be hung"), "{error}");
    fake(&mut whole, "a").health = Health::Well;
    whole.parts.iter_mut().for_each(|part| part.member.silent = false);
    assert!(tree(&mut whole).await.find_handle(to_composite(1, BUTTON)).is_some());
}

#[tokio::test]
async fn drag_to_a_covered_point_of_a_member_is_stopped() {
    let (mut whole, log) = two().await;
    tree(&mut whole).await;
    let drag = |to| Action::Drag {
        from: (10.0, 10.0),
        source: Some(to_composite(1, BUTTON)),
        to,
        target: Some(to_composite(2, BUTTON)),
    };
    let performed = act(&mut whole, &drag((20.0, 20.0))).await.unwrap();
    assert_eq!(performed.delivery, Delivery::Elsewhere { what: "form".to_owned(), stopped: true });
    act(&mut whole, &drag((250.0, 50.0))).await.unwrap();
    assert_eq!(said(&log).last().unwrap(), "a: drag away");
}

#[tokio::test]
async fn member_node_is_queried_and_open_starts_members() {
    let (mut whole, _) = two().await;
    tree(&mut whole).await;
    let node = Handle { scope: COMPOSITE_SCOPE, id: ROOT + 2 };
    assert!(whole.locate(node, &[]).await.unwrap().is_some());
    assert_eq!(whole.aim(node, AimOptions::default()).await.unwrap().hit, HitResult::OffScreen);
    let attrs = whole.query(node, Query::Attrs).await.unwrap();
    assert_eq!(attrs, serde_json::json!({ "name": "form 2", "x": 200.0 }));
    let (ready, cancel) = (Duration::ZERO, CancellationToken::new());
    let to = |what: &str| Navigation::To(what.to_owned());
    let arrived =
        whole.navigator().unwrap().navigate(&to("fake:c"), LeavePolicy::Ask, ready, &cancel).await.unwrap();
    assert!(arrived.moved && !arrived.quiet.is_quiet);
    assert!(
        !whole
            .navigator()
            .unwrap()
            .navigate(&to("fake:table"), LeavePolicy::Ask, ready, &cancel)
            .await
            .unwrap()
            .moved
    );
    assert_eq!(tree(&mut whole).await.root().children().last().unwrap().name(), "new");
    assert!(
        whole
            .navigator()
            .unwrap()
            .navigate(&Navigation::Back, LeavePolicy::Ask, ready, &cancel)
            .await
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_whole_ends_a_wait_and_its_loss_is_an_error() {
    let (mut whole, log) = two().await;
    let (wait, cancel) = (Duration::from_secs(1), CancellationToken::new());
    assert!(whole.changed(wait, &cancel).await.unwrap(), "not every change is signaled");
    assert!(!whole.changed(Duration::from_millis(100), &cancel).await.unwrap());
    whole.ground.coming.push(Fake::new("c", 0.0, &log));
    assert!(whole.changed(Duration::from_millis(100), &cancel).await.unwrap());
    whole.events().unwrap().wait_effect(wait, &cancel).await.unwrap();
    assert_eq!(whole.notices().await.unwrap().last().unwrap(), &came("form 3"));
    whole.ground.lost = true;
    assert_eq!(whole.navigator().unwrap().url().await.unwrap_err().code, ErrorCode::BackendLost);
    whole.close().await.unwrap();
    assert!(whole.ground.ended);
}

fn came(name: &str) -> Notice {
    Notice::Appeared { what: DesktopObject::App, name: name.to_owned() }
}
