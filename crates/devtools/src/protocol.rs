//! The commands and events that stickpin uses, with the fields that it uses. Names follow the
//! protocol's documentation: <https://chromedevtools.github.io/devtools-protocol/>.

use crate::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;

/// An answer whose content is ignored.
pub type Done = serde::de::IgnoredAny;

/// The timeout of commands that wait for a server or a promise. Their callers set shorter timeouts;
/// this timeout is a safety net.
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

/// Whether a parameter is left out of the message. True only for `None`.
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
    /// Returns the product and version of the browser.
    "Browser.getVersion" GetVersion {} -> Version;
    /// Closes the browser.
    "Browser.close" CloseBrowser {} -> Done;
    /// Sets the download directory, and whether downloads are allowed and reported.
    "Browser.setDownloadBehavior" SetDownloadBehavior { behavior: &'static str, download_path: String, events_enabled: bool } -> Done;

    /// Sets a permission for an origin, or for all origins when `origin` is `None`.
    "Browser.setPermission" SetPermission { permission: Value, setting: String, origin: Option<String> } -> Done;

    /// Opens a new tab.
    "Target.createTarget" CreateTarget { url: String, background: Option<bool> } -> Created;
    /// Closes a tab without asking its page.
    "Target.closeTarget" CloseTarget { target_id: String } -> Done;
    /// Brings a tab to the front of its window.
    "Target.activateTarget" ActivateTarget { target_id: String } -> Done;
    /// Lists all targets.
    "Target.getTargets" GetTargets {} -> Targets;
    /// Sets whether to attach to related targets, current and new. New ones can be paused before
    /// their scripts run.
    "Target.setAutoAttach" SetAutoAttach { auto_attach: bool, wait_for_debugger_on_start: bool, flatten: bool, filter: Option<Vec<Value>> } -> Done;
    /// Resumes a target that is waiting for the debugger.
    "Runtime.runIfWaitingForDebugger" Resume {} -> Done;

    /// Pauses requests whose URLs match, until each is continued or failed.
    "Fetch.enable" EnableFetch { patterns: Vec<Value> } -> Done;
    /// Continues a paused request.
    "Fetch.continueRequest" ContinueRequest { request_id: String } -> Done;
    /// Fails a paused request.
    "Fetch.failRequest" FailRequest { request_id: String, error_reason: &'static str } -> Done;

    /// Enables page events.
    "Page.enable" EnablePage {} -> Done;
    /// Sets whether lifecycle events of every frame are reported.
    "Page.setLifecycleEventsEnabled" EnableLifecycle { enabled: bool } -> Done;
    /// Adds a script that runs in every document, in an isolated world.
    "Page.addScriptToEvaluateOnNewDocument" AddScript { source: String, world_name: &'static str, run_immediately: bool } -> Done;
    /// Creates stickpin's isolated world in a frame that has none yet.
    "Page.createIsolatedWorld" CreateWorld { frame_id: String, world_name: &'static str } -> WorldAnswer;
    /// Navigates to a URL.
    "Page.navigate" Navigate { url: String } -> Navigated, within PATIENT;
    /// Reloads the page.
    "Page.reload" Reload {} -> Done;
    /// Stops the navigation and all loads that are in progress.
    "Page.stopLoading" StopLoading {} -> Done;
    /// Returns the navigation history of the tab.
    "Page.getNavigationHistory" GetHistory {} -> History;
    /// Navigates to an entry of the history.
    "Page.navigateToHistoryEntry" GoToEntry { entry_id: i64 } -> Done;
    /// Closes the tab unless its page objects.
    "Page.close" ClosePage {} -> Done;
    /// Kills the renderer process of a page, whatever it is doing.
    "Page.crash" CrashPage {} -> Done;
    /// Brings the tab and its window to the front of the screen.
    "Page.bringToFront" BringToFront {} -> Done;
    /// Answers a JavaScript dialog.
    "Page.handleJavaScriptDialog" HandleDialog { accept: bool, prompt_text: Option<String> } -> Done;
    /// Sets whether file choosers are reported instead of shown. `cancel` also notifies the page
    /// that nothing was chosen.
    "Page.setInterceptFileChooserDialog" InterceptFileChooser { enabled: bool, cancel: bool } -> Done;
    /// Takes a screenshot.
    "Page.captureScreenshot" CaptureScreenshot { format: &'static str, quality: Option<u8>, optimize_for_speed: Option<bool>, clip: Option<Clip>, capture_beyond_viewport: Option<bool> } -> Picture;
    /// Returns the sizes of the viewport and of the page.
    "Page.getLayoutMetrics" GetLayoutMetrics {} -> LayoutMetrics;

    /// Enables events about execution contexts, the console and exceptions.
    "Runtime.enable" EnableRuntime {} -> Done;
    /// Evaluates an expression in a context.
    "Runtime.evaluate" Evaluate { expression: String, unique_context_id: Option<String>, return_by_value: bool, await_promise: bool } -> Evaluated;
    /// Terminates the running script, even one in an endless loop.
    "Runtime.terminateExecution" TerminateExecution {} -> Done;
    /// Calls a function on an object.
    "Runtime.callFunctionOn" CallFunctionOn { function_declaration: String, object_id: String, return_by_value: bool } -> Evaluated;
    /// Calls a function on an object, with objects as arguments.
    "Runtime.callFunctionOn" CallWithObjects { function_declaration: String, object_id: String, arguments: Vec<ObjectArgument>, return_by_value: bool } -> Evaluated;
    /// Evaluates an expression in the page's own world, with a timeout.
    "Runtime.evaluate" EvaluateInPage { expression: String, await_promise: bool, user_gesture: bool, timeout: f64, object_group: &'static str } -> Evaluated, within PATIENT;
    /// Evaluates an expression to an object that is kept until its group is released.
    "Runtime.evaluate" EvaluateObject { expression: String, unique_context_id: String, object_group: &'static str } -> Evaluated;
    /// Returns the properties of an object.
    "Runtime.getProperties" GetProperties { object_id: String, own_properties: bool } -> Properties;
    /// Releases the objects of a group.
    "Runtime.releaseObjectGroup" ReleaseObjectGroup { object_group: &'static str } -> Done;
    /// Adds a function that scripts in one world can call to send stickpin an event.
    "Runtime.addBinding" AddBinding { name: &'static str, execution_context_name: &'static str } -> Done;

    /// Returns the element that owns a frame.
    "DOM.getFrameOwner" GetFrameOwner { frame_id: String } -> FrameOwner;
    /// Returns a node as an object of a context.
    "DOM.resolveNode" ResolveNode { backend_node_id: i64, execution_context_id: i64 } -> Resolved;
    /// Sets the files of a file input.
    "DOM.setFileInputFiles" SetFiles { files: Vec<String>, object_id: String } -> Done;
    /// Releases one object.
    "Runtime.releaseObject" ReleaseObject { object_id: String } -> Done;
    /// Returns a node as an object that is kept until its group is released.
    "DOM.resolveNode" ResolveInGroup { backend_node_id: i64, execution_context_id: i64, object_group: &'static str } -> Resolved;
    /// Returns a node as an object of the page's own world.
    "DOM.resolveNode" ResolveInPage { backend_node_id: i64 } -> Resolved;
    /// Describes a node, including its shadow roots of every kind.
    "DOM.describeNode" DescribeNode { object_id: String, depth: i32 } -> Described;
    /// Returns the event listeners of a node and its descendants.
    "DOMDebugger.getEventListeners" GetEventListeners { object_id: String, depth: i32, pierce: bool } -> Listeners;

    /// Returns the accessibility tree node of a DOM node.
    "Accessibility.getPartialAXTree" GetPartialAxTree { object_id: String, fetch_relatives: bool } -> AxNodes;

    /// Enables network events. With buffer sizes of 0, the browser keeps no bodies.
    "Network.enable" EnableNetwork { max_total_buffer_size: u32, max_resource_buffer_size: u32 } -> Done;
    /// Enables crash events.
    "Inspector.enable" EnableInspector {} -> Done;

    /// Enables the performance counters of a page.
    "Performance.enable" EnablePerformance {} -> Done;
    /// Returns the performance counters. Answered even while a script of the page is running.
    "Performance.getMetrics" GetMetrics {} -> Metrics;

    /// Sets whether the page behaves as if it had the focus.
    "Emulation.setFocusEmulationEnabled" EmulateFocus { enabled: bool } -> Done;
    /// Overrides the size and the pixel ratio of the viewport.
    "Emulation.setDeviceMetricsOverride" SetDeviceMetrics { width: u32, height: u32, device_scale_factor: f64, mobile: bool } -> Done;

    /// Dispatches one mouse event.
    "Input.dispatchMouseEvent" MouseEvent { r#type: &'static str, x: f64, y: f64, modifiers: Option<u32>, button: Option<&'static str>, buttons: Option<u32>, click_count: Option<u32>, delta_x: Option<f64>, delta_y: Option<f64> } -> Done;
    /// Dispatches one key event.
    "Input.dispatchKeyEvent" KeyEvent { r#type: &'static str, modifiers: u32, key: String, code: Option<String>, windows_virtual_key_code: Option<u32>, text: Option<String>, unmodified_text: Option<String>, location: Option<u32>, is_keypad: Option<bool>, commands: Option<Vec<&'static str>> } -> Done;
    /// Inserts text as an input method would.
    "Input.insertText" InsertText { text: String } -> Done;
    /// Sets whether drags are reported instead of started.
    "Input.setInterceptDrags" InterceptDrags { enabled: bool } -> Done;
    /// Dispatches one event of an intercepted drag.
    "Input.dispatchDragEvent" DragEvent { r#type: &'static str, x: f64, y: f64, data: Value } -> Done;
}

/// An object as an argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "fields are named and documented by the protocol")]
pub struct ObjectArgument {
    pub object_id: String,
}

/// The part of a page that a screenshot shows, in CSS pixels, and the scale of the image.
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
    /// The answer to `Browser.getVersion`.
    Version { product: String }
    /// The answer to `Target.getTargets`.
    Targets { target_infos: Vec<TargetInfo> }
    /// `Page.windowOpen`: a page requests a tab or window.
    WindowOpen { url: String }
    /// The answer to `Target.createTarget`.
    Created { target_id: String }
    /// A frame.
    FrameInfo { id: String, parent_id: Option<String>, loader_id: String, url: String, url_fragment: Option<String>, unreachable_url: Option<String> }
    /// The answer to `Page.createIsolatedWorld`.
    WorldAnswer { execution_context_id: i64 }
    /// The answer to `Page.navigate`.
    Navigated { loader_id: Option<String>, error_text: Option<String>, is_download: bool }
    /// The answer to `Page.getNavigationHistory`.
    History { current_index: usize, entries: Vec<HistoryEntry> }
    /// An entry of the navigation history.
    HistoryEntry { id: i64, url: String }
    /// The answer to `Page.captureScreenshot`.
    Picture { data: String }
    /// The answer to `Page.getLayoutMetrics`.
    LayoutMetrics { css_layout_viewport: LayoutViewport, css_content_size: Size }
    /// The layout viewport, in CSS pixels.
    LayoutViewport { page_x: f64, page_y: f64, client_width: f64, client_height: f64 }
    /// The rectangle of the whole page, in CSS pixels.
    Size { x: f64, y: f64, width: f64, height: f64 }
    /// The answer to `Runtime.evaluate` and `Runtime.callFunctionOn`.
    Evaluated { result: RemoteObject, exception_details: Option<ExceptionDetails> }
    /// A JavaScript value from the page.
    RemoteObject { r#type: String, unserializable_value: Option<String>, value: Option<Box<RawValue>>, object_id: Option<String>, description: Option<String> }
    /// A JavaScript exception from the page.
    ExceptionDetails { text: String, exception: Option<RemoteObject> }
    /// The answer to `DOM.getFrameOwner`.
    FrameOwner { backend_node_id: i64 }
    /// The answer to `Runtime.getProperties`.
    Properties { result: Vec<Property> }
    /// A property of an object.
    Property { name: String, value: Option<RemoteObject> }
    /// The answer to `DOM.describeNode`.
    Described { node: NodeInfo }
    /// A DOM node.
    NodeInfo { backend_node_id: i64, shadow_roots: Vec<NodeInfo>, shadow_root_type: Option<String> }
    /// The answer to `DOMDebugger.getEventListeners`.
    Listeners { listeners: Vec<Listener> }
    /// An event listener.
    Listener { r#type: String, backend_node_id: Option<i64> }
    /// The answer to `Accessibility.getPartialAXTree`.
    AxNodes { nodes: Vec<AxNode> }
    /// A node of the accessibility tree.
    AxNode { ignored: bool, role: Option<AxValue>, name: Option<AxValue>, value: Option<AxValue>, properties: Vec<AxProperty> }
    /// A value in the accessibility tree.
    AxValue { value: Option<Value>, sources: Vec<AxSource> }
    /// A possible source of an accessible name.
    AxSource { r#type: String, value: Option<AxPlain>, superseded: bool }
    /// A value without sources.
    AxPlain { value: Option<Value> }
    /// A property of an accessibility tree node.
    AxProperty { name: String, value: AxPlain }
    /// The answer to `DOM.resolveNode`.
    Resolved { object: RemoteObject }

    /// The answer to `Performance.getMetrics`.
    Metrics { metrics: Vec<Metric> }
    /// A counter or a time.
    Metric { name: String, value: f64 }

    /// `Target.attachedToTarget`: a session was created for a target.
    AttachedToTarget { session_id: String, target_info: TargetInfo, waiting_for_debugger: bool }
    /// A target, such as a tab, an out-of-process frame or a worker.
    TargetInfo { target_id: String, r#type: String, title: String, url: String, opener_id: Option<String>, parent_frame_id: Option<String> }
    /// `Target.detachedFromTarget`: the session of a target ended.
    DetachedFromTarget { session_id: String }
    /// `Page.frameAttached`: a frame was added to its parent.
    FrameAttached { frame_id: String, parent_frame_id: String }
    /// `Page.frameDetached`: a frame was removed from its parent, or moved to another process.
    FrameDetached { frame_id: String, reason: String }
    /// `Page.frameNavigated`: a frame has a new document.
    FrameNavigated { frame: FrameInfo }
    /// `Page.navigatedWithinDocument`: a frame has another address, but the same document.
    NavigatedWithinDocument { frame_id: String, url: String }
    /// `Page.frameStartedNavigating`: a navigation of a frame began.
    FrameStartedNavigating { frame_id: String, url: String, loader_id: String, navigation_type: String }
    /// `Page.frameStoppedLoading`: a frame no longer loads anything.
    FrameEvent { frame_id: String }
    /// `Page.lifecycleEvent`: a document reached a stage of loading, such as `DOMContentLoaded`.
    LifecycleEvent { frame_id: String, loader_id: String, name: String }
    /// `Page.javascriptDialogOpening`: a JavaScript dialog is about to open.
    DialogOpening { message: String, r#type: String, default_prompt: Option<String> }
    /// `Page.fileChooserOpened`: a page requested a file chooser. `backend_node_id` is the file
    /// input, or `None` if no file input made the request.
    FileChooserOpened { frame_id: String, backend_node_id: Option<i64> }
    /// `Runtime.executionContextCreated`: an execution context was created.
    ContextCreated { context: ExecutionContext }
    /// An execution context.
    ExecutionContext { id: i64, name: String, unique_id: String, aux_data: Option<ContextAux> }
    /// The frame of an execution context, and whether the context is the default one of that frame.
    ContextAux { frame_id: String, is_default: bool }
    /// `Runtime.executionContextDestroyed`: an execution context no longer exists.
    ContextDestroyed { execution_context_unique_id: String }
    /// `Runtime.consoleAPICalled`: a script called a function of `console`.
    ConsoleCalled { r#type: String, args: Vec<RemoteObject>, execution_context_id: i64 }
    /// `Runtime.exceptionThrown`: a script threw an exception that was not caught.
    ExceptionThrown { exception_details: ExceptionDetails }
    /// `Runtime.bindingCalled`: a script called a function that [`AddBinding`] had added.
    BindingCalled { name: String, payload: String, execution_context_id: i64 }
    /// `Network.requestWillBeSent`: a request begins, or follows a redirect.
    RequestWillBeSent { request_id: String, loader_id: String, frame_id: Option<String>, r#type: Option<String>, request: RequestInfo, redirect_response: Option<ResponseInfo> }
    /// A network request.
    RequestInfo { url: String, method: String }
    /// `Network.responseReceived`: the status and headers of a response arrived.
    ResponseReceived { request_id: String, r#type: Option<String>, response: ResponseInfo }
    /// A network response.
    ResponseInfo { url: String, status: i64, mime_type: String }
    /// `Network.loadingFinished`: the whole response to a request arrived.
    LoadingFinished { request_id: String }
    /// `Network.loadingFailed`: a request failed or was cancelled.
    LoadingFailed { request_id: String, error_text: String, canceled: bool, blocked_reason: Option<String>, cors_error_status: Option<CorsError> }
    /// Why the CORS rules forbid a response.
    CorsError { cors_error: String }
    /// `Input.dragIntercepted`: a drag was reported instead of started.
    DragIntercepted { data: Value }
    /// `Fetch.requestPaused`: a request is waiting until it is continued or failed.
    RequestPaused { request_id: String, request: RequestInfo }
    /// `Browser.downloadWillBegin`: a download is about to begin.
    DownloadWillBegin { guid: String, url: String, suggested_filename: String }
    /// `Browser.downloadProgress`: a download received data, was completed or was cancelled.
    DownloadProgress { guid: String, total_bytes: f64, received_bytes: f64, state: String }
}
