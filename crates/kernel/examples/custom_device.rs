//! A custom device: a to-do list in memory, driven through the kernel.
//!
//! `cargo run -p stickpin-kernel --example custom_device`. The page `docs/write-a-device.md`
//! explains the parts.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stickpin_device::{
    Action, Aim, AimOptions, Capability, CaptureRequest, CaptureResult, Check, Delivery, Device, DeviceEntry,
    DeviceInfo, Error, FieldSchema, HitResult, InputOutcome, LocatedElement, Notice, OpenRequest, Provider,
    Query, SettleRequest, SettleResult, unsupported,
};
use stickpin_kernel::{Caller, CancellationToken, Host, Render, Request, Response, Result};
use stickpin_tree::{
    Document, Handle, IdentityGrade, NodeSpec, Rect, Role, SurfaceId, Tree, TreeBuilder, TreeError,
};

/// The last of the three ids of a task.
const BUTTON: u64 = 2;

const CAPABILITIES: &[Capability] =
    &[Capability::Capture, Capability::Locate, Capability::Press, Capability::Settle];

/// The app: the tasks that are left, each with an id that is never used again.
#[derive(Debug, Clone, Default)]
struct Tasks(Arc<Mutex<Vec<(u64, String)>>>);

impl Tasks {
    fn all(&self) -> Vec<(u64, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends a task. Returns false if it has already ended.
    fn finish(&self, id: u64) -> bool {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = tasks.len();
        tasks.retain(|(task, _)| *task != id);
        tasks.len() < before
    }
}

/// The arguments of `open` besides the list's name. The doc comments are the help.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Options {
    /// The number of tasks to begin with; 3 by default.
    tasks: Option<u64>,
}

/// The platform, which has one list.
#[derive(Debug, Default)]
struct TodoProvider(Tasks);

#[async_trait]
impl Provider for TodoProvider {
    fn kind(&self) -> &'static str {
        "todo"
    }

    fn claims(&self, what: &str) -> bool {
        what.starts_with("todo:")
    }

    fn open_options(&self) -> &'static FieldSchema {
        static OPTIONS: FieldSchema = FieldSchema::of::<Options>();
        &OPTIONS
    }

    async fn open(&self, request: OpenRequest) -> Result<Box<dyn Device>> {
        let options: Options = request.read_options()?.options;
        let titles = ["Water the plants", "Call Ada", "Pay the rent"].into_iter().cycle();
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) =
            (10..10 + options.tasks.unwrap_or(3)).zip(titles.map(str::to_owned)).collect();
        let info = DeviceInfo::new("todo", "To-do list", IdentityGrade::NeverReused);
        Ok(Box::new(Todo { info, tasks: self.0.clone() }))
    }

    async fn devices(&self) -> Result<Vec<DeviceEntry>> {
        Ok(vec![DeviceEntry::new("todo:home", "A to-do list in memory")])
    }

    fn capabilities(&self) -> &'static [Capability] {
        CAPABILITIES
    }

    async fn doctor(&self) -> Vec<Check> {
        vec![Check::new("todo", true, "needs nothing", "")]
    }

    async fn sweep(&self, _state_dir: &Path) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// An open list.
#[derive(Debug)]
struct Todo {
    info: DeviceInfo,
    tasks: Tasks,
}

/// Describes a node of the tree.
fn node(role: Role, name: &str, id: u64) -> NodeSpec<'_> {
    NodeSpec { role: Some(role), name, id, ..NodeSpec::default() }
}

impl Todo {
    /// Returns the whole UI: a row per task, with its title and the button that ends it. The title
    /// is a text leaf: the kernel tells rows apart by the text in them. Each task has three ids.
    fn tree(&self) -> Result<Tree> {
        let built = || -> std::result::Result<Tree, TreeError> {
            let mut tree = TreeBuilder::new(self.info.grade);
            tree.set_surface(SurfaceId(1));
            let (url, title) = ("todo:home".to_owned(), "To-do".to_owned());
            tree.document(0, Document { scope: 1, frame: String::new(), url, title }, 1)?;
            tree.node(1, node(Role::List, "Tasks", 2))?;
            for (id, title) in self.tasks.all() {
                tree.node(2, node(Role::ListItem, "", 3 * id))?;
                tree.node(3, node(Role::Text, &title, 3 * id + 1))?;
                tree.node(3, node(Role::Button, "Done", 3 * id + BUTTON))?;
            }
            tree.finish()
        };
        built().map_err(|e| Error::internal(e.to_string()))
    }

    /// Returns the bounds of a row and its button. Rows are 20 px high and stacked.
    fn rect(&self, handle: Handle) -> Option<Rect> {
        let row = self.tasks.all().iter().position(|(id, _)| *id == handle.id / 3)?;
        Some(Rect { x: 0.0, y: 20.0 * row as f64, width: 200.0, height: 20.0 })
    }
}

#[async_trait]
impl Device for Todo {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn capabilities(&self) -> &'static [Capability] {
        CAPABILITIES
    }

    async fn capture(&mut self, _request: CaptureRequest<'_>) -> Result<CaptureResult> {
        Ok(CaptureResult::Tree(Arc::new(self.tree()?)))
    }

    async fn locate(&mut self, handle: Handle, _context: &[Handle]) -> Result<Option<LocatedElement>> {
        Ok(LocatedElement::find(Arc::new(self.tree()?), handle))
    }

    async fn rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        Ok(handles.iter().map(|handle| self.rect(*handle)).collect())
    }

    async fn aim(&mut self, handle: Handle, _options: AimOptions<'_>) -> Result<Aim> {
        // Nothing ever covers a row, so the hit test has only two answers.
        Ok(match self.rect(handle) {
            Some(rect) => Aim::new(rect, HitResult::Target),
            None => Aim::new(Rect::default(), HitResult::OffScreen),
        })
    }

    async fn perform(&mut self, action: &Action, _cancel: &CancellationToken) -> Result<InputOutcome> {
        let Action::Press { target: Some(target), .. } = action else {
            return Err(unsupported("todo", "do that"));
        };
        // The input goes to the task by its id: it cannot reach another one.
        if target.id % 3 == BUTTON && !self.tasks.finish(target.id / 3) {
            return Err(Error::element_not_found("the task has ended"));
        }
        Ok(InputOutcome::done().delivery(Delivery::Confirmed))
    }

    async fn settle(&mut self, _request: SettleRequest, _cancel: &CancellationToken) -> Result<SettleResult> {
        Ok(SettleResult::quiet())
    }

    async fn changed(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool> {
        // The app does not report when it changes.
        tokio::select! {
            () = tokio::time::sleep(timeout) => Ok(false),
            () = cancel.cancelled() => Ok(false),
        }
    }

    async fn query(&mut self, _handle: Handle, _query: Query) -> Result<Value> {
        Err(unsupported("todo", "answer that"))
    }

    async fn notices(&mut self) -> Result<Vec<Notice>> {
        Ok(Vec::new())
    }

    async fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Runs a command in the caller's own session.
async fn call(host: &Host, command: &str, input: Value) -> Response {
    let caller = Caller { key: "example".into(), own_session: "example".into(), ..Caller::default() };
    let input = input.as_object().cloned().unwrap_or_default();
    let (command, render) = (command.to_owned(), Render::default());
    host.call(Request { command, input, caller, render, ..Request::default() }, CancellationToken::new())
        .await
}

/// Opens the list and presses a button whose task another user has just ended.
async fn run(state_dir: &Path) -> Result<Vec<Response>> {
    let tasks = Tasks::default();
    let host = Host::builder(state_dir).provider(TodoProvider(tasks.clone())).build()?;
    let mut responses = vec![
        call(&host, "open", json!({ "what": "todo:home", "option": ["tasks=many"] })).await,
        call(&host, "open", json!({ "what": "todo:home", "interactive": true })).await,
        call(&host, "press", json!({ "target": "@e1" })).await,
    ];
    tasks.finish(11);
    responses.push(call(&host, "press", json!({ "target": "@e2" })).await);
    responses.push(call(&host, "close", json!({})).await);
    Ok(responses)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let state_dir = std::env::temp_dir().join(format!("stickpin-todo-{}", std::process::id()));
    for response in run(&state_dir).await? {
        println!("{}\n", response.text.unwrap_or_default());
    }
    std::fs::remove_dir_all(state_dir)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_kernel::ErrorCode::{self, StaleRef};

    #[tokio::test]
    async fn option_of_another_type_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let responses = run(dir.path()).await.unwrap();
        let ok: Vec<bool> = responses.iter().map(|response| response.ok).collect();
        assert_eq!(ok, [false, true, true, false, true], "{responses:#?}");
        let refused = responses[0].error.clone().unwrap();
        assert!(refused.message.starts_with("`tasks` of a todo device: \"many\""), "{refused}");
    }

    /// Shows the list, lets somebody else change it, and presses "Done" in the row "Call Ada".
    /// Returns the error, and the ids of the tasks that are left.
    async fn press_after(change: impl FnOnce(&mut Vec<(u64, String)>)) -> (Option<ErrorCode>, Vec<u64>) {
        let (dir, tasks) = (tempfile::tempdir().unwrap(), Tasks::default());
        let host = Host::builder(dir.path()).provider(TodoProvider(tasks.clone())).build().unwrap();
        assert!(call(&host, "open", json!({ "what": "todo:home", "interactive": true })).await.ok);
        change(&mut tasks.0.lock().unwrap());
        let pressed = call(&host, "press", json!({ "target": "@e2" })).await;
        assert!(call(&host, "close", json!({})).await.ok);
        (pressed.error.map(|e| e.code), tasks.all().into_iter().map(|(id, _)| id).collect())
    }

    #[tokio::test]
    async fn unchanged_task_is_ended() {
        assert_eq!(press_after(|_| ()).await, (None, vec![10, 12]));
    }

    #[tokio::test]
    async fn ended_task_is_refused() {
        assert_eq!(press_after(|tasks| drop(tasks.remove(1))).await, (Some(StaleRef), vec![10, 12]));
    }

    #[tokio::test]
    async fn other_task_at_the_same_place_is_refused() {
        let swap = |tasks: &mut Vec<_>| tasks[1] = (13, "Call Bob".to_owned());
        assert_eq!(press_after(swap).await, (Some(StaleRef), vec![10, 13, 12]));
    }

    #[tokio::test]
    async fn moved_task_is_ended_at_its_new_place() {
        assert_eq!(press_after(|tasks| tasks.swap(0, 1)).await, (None, vec![10, 12]));
    }

    #[tokio::test]
    async fn task_with_another_title_is_refused() {
        // The app reused the id, contrary to its promise.
        let rename = |tasks: &mut Vec<(u64, String)>| tasks[1].1 = "Fire Ada".to_owned();
        assert_eq!(press_after(rename).await, (Some(StaleRef), vec![10, 11, 12]));
    }
}
