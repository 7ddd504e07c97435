//! The commands and events that are used, each with the fields that are used. Field by field as in the
//! protocol's own documentation: <https://chromedevtools.github.io/devtools-protocol/>.

use crate::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;

/// An answer of which nothing is read.
pub type Done = serde::de::IgnoredAny;

/// The limit of commands that wait for a server or for a promise: their callers set the time, and this is the net below.
const PATIENT: Duration = Duration::from_secs(600);

macro_rules! methods {
    ($($(#[$doc:meta])* $wire:literal $name:ident { $($field:ident : $type:ty),* $(,)? } -> $output:ty $(, within $limit:ident)?;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Default, Serialize)]
        #[serde(rename_all = "camelCase")]
        #[allow(missing_docs, reason = "fields are named and documented by the protocol")]
        pub struct $name { $(#[serde(skip_serializing_if = "absent")] pub $field: $type,)* }
        impl Method for $name {
            const NAME: &'static str = $wire;
            type Output = $output;
            $(const LIMIT: Duration = $limit;)?
        }
    )*};
}

macro_rules! values {
    ($($(#[$doc:meta])* $name:ident { $($field:ident : $type:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        #[allow(missing_docs, reason = "fields are named and documented by the protocol")]
        pub struct $name { $(pub $field: $type,)* }
    )*};
}

/// Whether a parameter is left out: only an absent option is.
trait Absent {
    fn absent(&self) -> bool {
        false
    }
}
impl<T> Absent for Option<T> {
    fn absent(&self) -> bool {
        self.is_none()
    }
}
impl<T> Absent for Vec<T> {}
macro_rules! present {
    ($($type:ty),*) => {$(impl Absent for $type {})*};
}
present!(String, bool, f64, u32, u64, i32, i64, &'static str, Value);

fn absent<T: Absent>(value: &T) -> bool {
    value.absent()
}

methods! {
    /// Product and version.
    "Browser.getVersion" GetVersion {} -> Version;
    /// Ends the browser.
    "Browser.close" CloseBrowser {} -> Done;
    /// Where downloads go.
    "Browser.setDownloadBehavior" SetDownloadBehavior { behavior: &'static str, download_path: String, events_enabled: bool } -> Done;

    /// What pages of an origin may do without asking; of all origins if none is named.
    "Browser.setPermission" SetPermission { permission: Value, setting: String, origin: Option<String> } -> Done;

    /// A new tab.
    "Target.createTarget" CreateTarget { url: String, background: Option<bool> } -> Created;
    /// Closes a tab, whatever its page says to that.
    "Target.closeTarget" CloseTarget { target_id: String } -> Done;
    /// Makes a tab the front one of its window.
    "Target.activateTarget" ActivateTarget { target_id: String } -> Done;
    /// All targets.
    "Target.getTargets" GetTargets {} -> Targets;
    /// Attach to every new target before its scripts run.
    "Target.setAutoAttach" SetAutoAttach { auto_attach: bool, wait_for_debugger_on_start: bool, flatten: bool, filter: Option<Vec<Value>> } -> Done;
    /// Lets a target run that waited for us.
    "Runtime.runIfWaitingForDebugger" Resume {} -> Done;

    /// Pauses requests whose addresses fit, until they are answered one by one.
    "Fetch.enable" EnableFetch { patterns: Vec<Value> } -> Done;
    /// Lets a paused request go on.
    "Fetch.continueRequest" ContinueRequest { request_id: String } -> Done;
    /// Fails a paused request.
    "Fetch.failRequest" FailRequest { request_id: String, error_reason: &'static str } -> Done;

    /// Page events.
    "Page.enable" EnablePage {} -> Done;
    /// Lifecycle events of every frame.
    "Page.setLifecycleEventsEnabled" EnableLifecycle { enabled: bool } -> Done;
    /// A script for every document, in a world of its own.
    "Page.addScriptToEvaluateOnNewDocument" AddScript { source: String, world_name: &'static str, run_immediately: bool } -> Done;
    /// Our world in a frame that has none yet.
    "Page.createIsolatedWorld" CreateWorld { frame_id: String, world_name: &'static str } -> WorldAnswer;
    /// Goes to an address.
    "Page.navigate" Navigate { url: String } -> Navigated, within PATIENT;
    /// Loads the page again.
    "Page.reload" Reload {} -> Done;
    /// Gives up a navigation under way.
    "Page.stopLoading" StopLoading {} -> Done;
    /// Where the tab was.
    "Page.getNavigationHistory" GetHistory {} -> History;
    /// Goes to a place where the tab was.
    "Page.navigateToHistoryEntry" GoToEntry { entry_id: i64 } -> Done;
    /// Closes the tab, unless its page asks first.
    "Page.close" ClosePage {} -> Done;
    /// Ends the process of a page, whatever it is doing.
    "Page.crash" CrashPage {} -> Done;
    /// Brings the tab and its window before whoever sits at the machine.
    "Page.bringToFront" BringToFront {} -> Done;
    /// Answers a dialog.
    "Page.handleJavaScriptDialog" HandleDialog { accept: bool, prompt_text: Option<String> } -> Done;
    /// Report file choosers instead of showing them; `cancel` also tells the page that nothing was chosen.
    "Page.setInterceptFileChooserDialog" InterceptFileChooser { enabled: bool, cancel: bool } -> Done;
    /// A picture.
    "Page.captureScreenshot" CaptureScreenshot { format: &'static str, clip: Option<Clip>, capture_beyond_viewport: Option<bool> } -> Picture;
    /// Sizes of viewport and page.
    "Page.getLayoutMetrics" GetLayoutMetrics {} -> LayoutMetrics;

    /// Execution contexts, console, exceptions.
    "Runtime.enable" EnableRuntime {} -> Done;
    /// Runs an expression in a context.
    "Runtime.evaluate" Evaluate { expression: String, unique_context_id: Option<String>, return_by_value: bool, await_promise: bool } -> Evaluated;
    /// Ends the script that runs, also one that would run for ever.
    "Runtime.terminateExecution" TerminateExecution {} -> Done;
    /// Calls a function on an object.
    "Runtime.callFunctionOn" CallFunctionOn { function_declaration: String, object_id: String, return_by_value: bool } -> Evaluated;
    /// The same, with objects as arguments.
    "Runtime.callFunctionOn" CallWithObjects { function_declaration: String, object_id: String, arguments: Vec<ObjectArgument>, return_by_value: bool } -> Evaluated;
    /// Evaluates an expression in the world of the page itself, with a bound on its time.
    "Runtime.evaluate" EvaluateInPage { expression: String, await_promise: bool, user_gesture: bool, timeout: f64, object_group: &'static str } -> Evaluated, within PATIENT;
    /// Evaluates to an object that is kept until its group is released.
    "Runtime.evaluate" EvaluateObject { expression: String, unique_context_id: String, object_group: &'static str } -> Evaluated;
    /// The properties of an object.
    "Runtime.getProperties" GetProperties { object_id: String, own_properties: bool } -> Properties;
    /// Forgets the objects of a group.
    "Runtime.releaseObjectGroup" ReleaseObjectGroup { object_group: &'static str } -> Done;
    /// A function that page scripts of one world can call to send us an event.
    "Runtime.addBinding" AddBinding { name: &'static str, execution_context_name: &'static str } -> Done;

    /// The element that shows a frame.
    "DOM.getFrameOwner" GetFrameOwner { frame_id: String } -> FrameOwner;
    /// A node as an object of a context.
    "DOM.resolveNode" ResolveNode { backend_node_id: i64, execution_context_id: i64 } -> Resolved;
    /// The files of an input.
    "DOM.setFileInputFiles" SetFiles { files: Vec<String>, object_id: String } -> Done;
    /// Lets go of an object of a page.
    "Runtime.releaseObject" ReleaseObject { object_id: String } -> Done;
    /// The same, for an object that is kept until its group is released.
    "DOM.resolveNode" ResolveInGroup { backend_node_id: i64, execution_context_id: i64, object_group: &'static str } -> Resolved;
    /// A node as an object of the page's own world.
    "DOM.resolveNode" ResolveInPage { backend_node_id: i64 } -> Resolved;
    /// What a node is, its shadow roots of every kind included.
    "DOM.describeNode" DescribeNode { object_id: String, depth: i32 } -> Described;
    /// The listeners of a node and everything below it.
    "DOMDebugger.getEventListeners" GetEventListeners { object_id: String, depth: i32, pierce: bool } -> Listeners;

    /// What the accessibility tree says of a node.
    "Accessibility.getPartialAXTree" GetPartialAxTree { object_id: String, fetch_relatives: bool } -> AxNodes;

    /// Network events; bodies are not kept.
    "Network.enable" EnableNetwork { max_total_buffer_size: u32, max_resource_buffer_size: u32 } -> Done;
    /// Crash events.
    "Inspector.enable" EnableInspector {} -> Done;

    /// Counts of what the browser does for a page.
    "Performance.enable" EnablePerformance {} -> Done;
    /// Them, now; answered also while a script of the page runs.
    "Performance.getMetrics" GetMetrics {} -> Metrics;

    /// The page believes to have the focus.
    "Emulation.setFocusEmulationEnabled" EmulateFocus { enabled: bool } -> Done;
    /// The size of the viewport.
    "Emulation.setDeviceMetricsOverride" SetDeviceMetrics { width: u32, height: u32, device_scale_factor: f64, mobile: bool } -> Done;

    /// One mouse event.
    "Input.dispatchMouseEvent" MouseEvent { r#type: &'static str, x: f64, y: f64, modifiers: Option<u32>, button: Option<&'static str>, buttons: Option<u32>, click_count: Option<u32>, delta_x: Option<f64>, delta_y: Option<f64> } -> Done;
    /// One key event.
    "Input.dispatchKeyEvent" KeyEvent { r#type: &'static str, modifiers: u32, key: String, code: Option<String>, windows_virtual_key_code: Option<u32>, text: Option<String>, unmodified_text: Option<String>, location: Option<u32>, is_keypad: Option<bool>, commands: Option<Vec<&'static str>> } -> Done;
    /// Text as an input method inserts it.
    "Input.insertText" InsertText { text: String } -> Done;
    /// Report drags instead of starting them.
    "Input.setInterceptDrags" InterceptDrags { enabled: bool } -> Done;
    /// One event of an intercepted drag.
    "Input.dispatchDragEvent" DragEvent { r#type: &'static str, x: f64, y: f64, data: Value } -> Done;
}

/// An object as an argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "fields are named and documented by the protocol")]
pub struct ObjectArgument {
    pub object_id: String,
}

/// Part of a page, for pictures.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[allow(missing_docs, reason = "fields are named and documented by the protocol")]
pub struct Clip {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub scale: f64,
}

values! {
    /// Answer of `Browser.getVersion`.
    Version { product: String }
    /// Answer of `Target.getTargets`.
    Targets { target_infos: Vec<TargetInfo> }
    /// `Page.windowOpen`: a page asks for a tab or window.
    WindowOpen { url: String }
    /// Answer of `Target.createTarget`.
    Created { target_id: String }
    /// A frame.
    FrameInfo { id: String, parent_id: Option<String>, loader_id: String, url: String, url_fragment: Option<String>, unreachable_url: Option<String> }
    /// Answer of `Page.createIsolatedWorld`.
    WorldAnswer { execution_context_id: i64 }
    /// Answer of `Page.navigate`.
    Navigated { loader_id: Option<String>, error_text: Option<String>, is_download: bool }
    /// Answer of `Page.getNavigationHistory`.
    History { current_index: usize, entries: Vec<HistoryEntry> }
    /// A place where the tab was.
    HistoryEntry { id: i64, url: String }
    /// Answer of `Page.captureScreenshot`.
    Picture { data: String }
    /// Answer of `Page.getLayoutMetrics`.
    LayoutMetrics { css_layout_viewport: LayoutViewport, css_content_size: Size }
    /// The viewport.
    LayoutViewport { page_x: f64, page_y: f64, client_width: f64, client_height: f64 }
    /// The whole page.
    Size { x: f64, y: f64, width: f64, height: f64 }
    /// Answer of `Runtime.evaluate` and `Runtime.callFunctionOn`.
    Evaluated { result: RemoteObject, exception_details: Option<ExceptionDetails> }
    /// A value of the page.
    RemoteObject { r#type: String, unserializable_value: Option<String>, value: Option<Box<RawValue>>, object_id: Option<String>, description: Option<String> }
    /// An exception of the page.
    ExceptionDetails { text: String, exception: Option<RemoteObject> }
    /// Answer of `DOM.getFrameOwner`.
    FrameOwner { backend_node_id: i64 }
    /// Answer of `Runtime.getProperties`.
    Properties { result: Vec<Property> }
    /// A property of an object.
    Property { name: String, value: Option<RemoteObject> }
    /// Answer of `DOM.describeNode`.
    Described { node: NodeInfo }
    /// A node.
    NodeInfo { backend_node_id: i64, shadow_roots: Vec<NodeInfo>, shadow_root_type: Option<String> }
    /// Answer of `DOMDebugger.getEventListeners`.
    Listeners { listeners: Vec<Listener> }
    /// A listener.
    Listener { r#type: String, backend_node_id: Option<i64> }
    /// Answer of `Accessibility.getPartialAXTree`.
    AxNodes { nodes: Vec<AxNode> }
    /// A node of the accessibility tree.
    AxNode { ignored: bool, role: Option<AxValue>, name: Option<AxValue>, value: Option<AxValue>, properties: Vec<AxProperty> }
    /// A value in it.
    AxValue { value: Option<Value>, sources: Vec<AxSource> }
    /// Where a name may come from.
    AxSource { r#type: String, value: Option<AxPlain>, superseded: bool }
    /// A value without sources.
    AxPlain { value: Option<Value> }
    /// A property of it.
    AxProperty { name: String, value: AxPlain }
    /// Answer of `DOM.resolveNode`.
    Resolved { object: RemoteObject }

    /// Answer of `Performance.getMetrics`.
    Metrics { metrics: Vec<Metric> }
    /// A count, or a time.
    Metric { name: String, value: f64 }

    /// `Target.attachedToTarget`.
    AttachedToTarget { session_id: String, target_info: TargetInfo, waiting_for_debugger: bool }
    /// A tab or an out-of-process frame.
    TargetInfo { target_id: String, r#type: String, title: String, url: String, opener_id: Option<String>, parent_frame_id: Option<String> }
    /// `Target.detachedFromTarget`.
    DetachedFromTarget { session_id: String }
    /// `Page.frameAttached`.
    FrameAttached { frame_id: String, parent_frame_id: String }
    /// `Page.frameDetached`.
    FrameDetached { frame_id: String, reason: String }
    /// `Page.frameNavigated`.
    FrameNavigated { frame: FrameInfo }
    /// `Page.navigatedWithinDocument`.
    NavigatedWithinDocument { frame_id: String, url: String }
    /// `Page.frameStartedNavigating`.
    FrameStartedNavigating { frame_id: String, url: String, loader_id: String, navigation_type: String }
    /// `Page.frameStoppedLoading` and its like.
    FrameEvent { frame_id: String }
    /// `Page.lifecycleEvent`.
    LifecycleEvent { frame_id: String, loader_id: String, name: String }
    /// `Page.javascriptDialogOpening`.
    DialogOpening { message: String, r#type: String, default_prompt: Option<String> }
    /// `Page.fileChooserOpened`; without a node it was not an input that opened it.
    FileChooserOpened { frame_id: String, backend_node_id: Option<i64> }
    /// `Runtime.executionContextCreated`.
    ContextCreated { context: ExecutionContext }
    /// A context.
    ExecutionContext { id: i64, name: String, unique_id: String, aux_data: Option<ContextAux> }
    /// Where a context is.
    ContextAux { frame_id: String, is_default: bool }
    /// `Runtime.executionContextDestroyed`.
    ContextDestroyed { execution_context_unique_id: String }
    /// `Runtime.consoleAPICalled`.
    ConsoleCalled { r#type: String, args: Vec<RemoteObject>, execution_context_id: i64 }
    /// `Runtime.exceptionThrown`.
    ExceptionThrown { exception_details: ExceptionDetails }
    /// `Runtime.bindingCalled`.
    BindingCalled { name: String, payload: String, execution_context_id: i64 }
    /// `Network.requestWillBeSent`.
    RequestWillBeSent { request_id: String, loader_id: String, frame_id: Option<String>, r#type: Option<String>, request: RequestInfo, redirect_response: Option<ResponseInfo> }
    /// What is asked for.
    RequestInfo { url: String, method: String }
    /// `Network.responseReceived`.
    ResponseReceived { request_id: String, r#type: Option<String>, response: ResponseInfo }
    /// What is answered.
    ResponseInfo { url: String, status: i64, mime_type: String }
    /// `Network.loadingFinished`.
    LoadingFinished { request_id: String }
    /// `Network.loadingFailed`.
    LoadingFailed { request_id: String, error_text: String, canceled: bool, blocked_reason: Option<String>, cors_error_status: Option<CorsError> }
    /// Why the rules of origins forbid an answer.
    CorsError { cors_error: String }
    /// `Input.dragIntercepted`.
    DragIntercepted { data: Value }
    /// `Fetch.requestPaused`.
    RequestPaused { request_id: String, request: RequestInfo }
    /// `Browser.downloadWillBegin`.
    DownloadWillBegin { guid: String, url: String, suggested_filename: String }
    /// `Browser.downloadProgress`.
    DownloadProgress { guid: String, total_bytes: f64, received_bytes: f64, state: String }
}
