//! The protocol handler that `rmcp` calls.

// The newest revision deprecates roots and logging; clients of older revisions use them.
#![allow(deprecated, reason = "older revisions of the protocol have them")]

use crate::call;
use crate::connection::{Connection, Scopes, lock, random_name};
use crate::files::{Folders, file_of_url};
use crate::hints::HELP_PREFIX;
use crate::profile::INSTRUCTIONS;
use crate::setup::Setup;
use crate::tools::{self, Tool};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListResourcesResult, ListToolsResult,
    LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    RequestMetaObject, Resource, ResourceContents, ServerCapabilities, ServerConfig, SetLevelRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use stickpin_client::{Client, ClientCommands, Progress, SocketClient};
use stickpin_cmdline::help;
use stickpin_kernel::{Error, ErrorCode, Request, Result};
use stickpin_wire::StateDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The interval of progress notifications for a client that requested them.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum length of a text that is kept from a request's metadata, and of its name, in bytes.
const MAX_ID: usize = 256;
/// The maximum number of texts that are kept from a request's metadata.
const MAX_TEXTS: usize = 16;

/// Timeout for a client to list its roots.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(5);

/// State that all clients of a server share.
pub(crate) struct Shared {
    pub(crate) setup: Setup,
    /// The connection for requests that do not identify their client.
    pub(crate) anonymous: Arc<Connection>,
    pub(crate) scopes: Mutex<Scopes>,
    /// The connected clients.
    connections: Mutex<Vec<Weak<Connection>>>,
    /// Clients of daemons, by the state directory that was named; `None` for the server's own.
    clients: Mutex<HashMap<Option<String>, Arc<SocketClient>>>,
}

impl Shared {
    pub(crate) fn new(setup: Setup) -> Arc<Self> {
        let anonymous = Arc::new(Connection::new((setup.caller)("nobody"), "nobody", false));
        let (scopes, connections, clients) = Default::default();
        Arc::new(Self { setup, anonymous, scopes, connections, clients })
    }

    /// Closes the client's own session, which no other client uses. Named sessions stay open.
    pub(crate) async fn leave(&self, connection: &Connection) {
        let state_dirs: Vec<PathBuf> =
            std::mem::take(&mut *lock(&connection.own_session_dirs)).into_iter().collect();
        for dir in state_dirs {
            let request = Request {
                // The command that ends a session.
                command: "close".to_owned(),
                session: Some(connection.caller.own_session.clone()),
                caller: connection.caller.clone(),
                ..Request::default()
            };
            if let Ok(client) = self.client(dir.to_str()) {
                let response = client.call(request, Default::default()).await;
                if let Some(e) = response.error.filter(|e| e.code != ErrorCode::SessionNotFound) {
                    tracing::warn!("the session of a disconnected client could not be closed: {e}");
                }
            }
        }
    }

    /// Closes the own session of every connected client and of every scope.
    pub(crate) async fn leave_all(&self) {
        let all: Vec<_> = std::mem::take(&mut *lock(&self.connections));
        for connection in all.iter().filter_map(Weak::upgrade) {
            self.leave(&connection).await;
        }
        let scopes = lock(&self.scopes).take();
        for connection in scopes {
            self.leave(&connection).await;
        }
    }

    fn connect(self: &Arc<Self>, name: &str) -> Arc<Connection> {
        let connection = Arc::new(Connection::new((self.setup.caller)(name), name, true));
        let mut connections = lock(&self.connections);
        connections.retain(|known| known.strong_count() > 0);
        connections.push(Arc::downgrade(&connection));
        connection
    }

    /// Returns the client of the daemon for a state directory that a call named; `None` means the
    /// server's own. Other directories must be among those that the server was started with.
    ///
    /// # Errors
    /// Returns `POLICY_DENIED` for any other folder, and the errors of [`Shared::client`].
    pub(crate) fn named_client(&self, state_dir: Option<&str>) -> Result<Arc<SocketClient>> {
        let Some(named) = state_dir else { return self.client(None) };
        let canonical = |dir: &Path| dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let dir = canonical(&(self.setup.state_dir)(Some(named))?);
        let mut known = vec![(self.setup.state_dir)(None)?];
        known.extend(self.setup.state_dirs.iter().cloned());
        if known.iter().any(|known| canonical(known) == dir) {
            return self.client(Some(named));
        }
        let message = format!("{} is not a state directory of this server", stickpin_tree::quote(named));
        Err(Error::policy_denied(message).hint(
            "omit `stateDir`, or ask a person to start the server with `stickpin mcp --allow-state-dir DIR`",
        ))
    }

    /// Returns the client of a state directory's daemon. The client's first call starts the daemon
    /// if necessary.
    pub(crate) fn client(&self, state_dir: Option<&str>) -> Result<Arc<SocketClient>> {
        let key = state_dir.map(str::to_owned);
        let mut clients = lock(&self.clients);
        if let Some(client) = clients.get(&key) {
            return Ok(Arc::clone(client));
        }
        let state_dir = StateDir::open(&(self.setup.state_dir)(state_dir)?)?;
        let client = Arc::new(SocketClient::new(state_dir, self.setup.start.clone()));
        clients.insert(key, Arc::clone(&client));
        Ok(client)
    }
}

/// The server of one client.
#[derive(Clone)]
pub(crate) struct Server {
    shared: Arc<Shared>,
    connection: Arc<Connection>,
    /// Whether the process serves only this client, as over standard input and output.
    connected: bool,
    /// Cleans up when the last clone is dropped.
    _presence: Arc<Presence>,
}

/// A connected client. Dropping this value closes the client's own session.
struct Presence {
    shared: Arc<Shared>,
    connection: Arc<Connection>,
}

impl Drop for Presence {
    fn drop(&mut self) {
        let has_session = !lock(&self.connection.own_session_dirs).is_empty();
        // When the whole server ends, no runtime is left, and all sessions have already been
        // closed.
        if let Some(runtime) = tokio::runtime::Handle::try_current().ok().filter(|_| has_session) {
            let (shared, connection) = (Arc::clone(&self.shared), Arc::clone(&self.connection));
            runtime.spawn(async move { shared.leave(&connection).await });
        }
    }
}

impl Server {
    /// Creates the server of a connection or an HTTP session.
    pub(crate) fn new(shared: &Arc<Shared>, connected: bool) -> Self {
        let connection = shared.connect(&random_name());
        let presence = Presence { shared: Arc::clone(shared), connection: Arc::clone(&connection) };
        Self { shared: Arc::clone(shared), connection, connected, _presence: Arc::new(presence) }
    }

    /// Returns whether only the `scope` argument of a call can identify the client.
    fn requires_scope(&self, version: Option<&ProtocolVersion>) -> bool {
        !self.connected && version.is_some_and(|v| v.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
    }

    /// Returns the folders that this client may use. If `request_roots` is set, the roots are
    /// requested once, and again after the client reports a change.
    async fn client_folders(&self, peer: &Peer<RoleServer>, request_roots: bool) -> Folders {
        let setup = &self.shared.setup;
        let known = lock(&self.connection.roots).clone();
        let roots = match known {
            Some(roots) => roots,
            None => {
                let supports_roots = peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
                let roots_result = match request_roots && supports_roots {
                    true => {
                        tokio::time::timeout(ROOTS_TIMEOUT, peer.list_roots()).await.ok().and_then(Result::ok)
                    }
                    false => None,
                };
                let roots = roots_result.map(|named| named.roots).unwrap_or_default();
                let roots: Vec<PathBuf> = roots.iter().filter_map(|root| file_of_url(&root.uri)).collect();
                *lock(&self.connection.roots) = Some(roots.clone());
                roots
            }
        };
        Folders::new(&roots, &self.connection.caller, &setup.allow, setup.project_dir.as_ref())
    }

    pub(crate) async fn log(&self, peer: &Peer<RoleServer>, level: LoggingLevel, data: Value) {
        let rank = |level: LoggingLevel| level as u8;
        if lock(&self.connection.log_level).is_some_and(|least| rank(least) <= rank(level)) {
            let message = LoggingMessageNotificationParam::new(level, data).with_logger("stickpin");
            // A client that has disconnected reads no log.
            let _ = peer.notify_logging_message(message).await;
        }
    }
}

/// Returns the name of a tool with a summary of the call's arguments.
fn summarize(name: &str, args: &Map<String, Value>, client_commands: ClientCommands) -> String {
    let definition = match Tool::find(name, client_commands) {
        Some(Tool::Command { entry, .. }) => &**entry,
        Some(Tool::ClientCommand(command)) => command.definition(),
        Some(Tool::Slim) | None => return name.to_owned(),
    };
    match definition.summarize(args) {
        arguments if arguments.is_empty() => name.to_owned(),
        arguments => format!("{name} {arguments}"),
    }
}

/// Sends a progress notification once a second while a call is running, with the call's own
/// progress if the call reports any. Sends nothing if the client did not request progress.
pub(crate) async fn progress(
    peer: &Peer<RoleServer>,
    token: Option<ProgressToken>,
    called: &str,
    mut heard: UnboundedReceiver<Progress>,
) -> Infallible {
    let Some(token) = token else { return std::future::pending().await };
    let (mut seconds, mut newest) = (0_u32, None::<Progress>);
    let mut tick = tokio::time::interval(PROGRESS_INTERVAL);
    tick.tick().await;
    loop {
        tokio::select! {
            Some(progress) = heard.recv() => {
                newest = Some(progress);
                continue;
            }
            _ = tick.tick() => seconds += 1,
        }
        // Progress must increase, so it counts seconds whatever the call reports.
        let param = ProgressNotificationParam::new(token.clone(), f64::from(seconds));
        let param = param.with_message(match &newest {
            Some(Progress { done, total, line, .. }) => format!("{called}: {done} of {total}: {line}"),
            None => format!("{called}: {seconds} s"),
        });
        // A client that has disconnected needs no progress.
        let _ = peer.notify_progress(param).await;
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_logging().build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("stickpin", stickpin_wire::rpc::VERSION).with_title("Stickpin"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let setup = &self.shared.setup;
        let scoped = self.requires_scope(context.protocol_version().as_ref());
        let served = tools::ServedCommands { read_only: setup.read_only, script: setup.allow_script };
        Ok(ListToolsResult::with_all_items(tools::list(setup.profile, served, scoped, setup.client_commands)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let scoped = self.requires_scope(context.protocol_version().as_ref());
        let args = request.arguments.unwrap_or_default();
        let peer = &context.peer;
        let folders = self.client_folders(peer, !scoped);
        let connection = (!scoped).then(|| Arc::clone(&self.connection));
        let started = std::time::Instant::now();
        let (tell, heard) = unbounded_channel();
        let incoming =
            call::Incoming { progress: tell, cancel: context.ct.clone(), metadata: texts(&context.meta) };
        // Only progress needs the summary, and only some clients ask for progress.
        let token = context.meta.get_progress_token();
        let called = match &token {
            Some(_) => summarize(&request.name, &args, self.shared.setup.client_commands),
            None => String::new(),
        };
        let work = call::call(&self.shared, connection, &request.name, args, folders, incoming);
        let (result, error) = tokio::select! {
            done = work => done,
            never = progress(peer, token, &called, heard) => match never {},
        };
        let level = match error.as_ref().map(|e| e.code) {
            None => LoggingLevel::Debug,
            Some(ErrorCode::DaemonUnreachable | ErrorCode::BackendLost | ErrorCode::Internal) => {
                LoggingLevel::Error
            }
            Some(_) => LoggingLevel::Info,
        };
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let error = error.map(|e: Error| e.to_string());
        self.log(peer, level, json!({ "tool": request.name, "ms": ms, "error": error })).await;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let topics = help::TOPICS.iter().map(|(name, text)| {
            let about = text.lines().next().unwrap_or_default();
            Resource::new(format!("{HELP_PREFIX}{name}"), *name)
                .with_description(about)
                .with_mime_type("text/plain")
        });
        Ok(ListResourcesResult::with_all_items(topics.collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let name = request.uri.strip_prefix(HELP_PREFIX).unwrap_or_default();
        match help::topic(name) {
            Some(text) => {
                Ok(ReadResourceResult::new(vec![ResourceContents::text(text, &*request.uri)]).into())
            }
            None => Err(ErrorData::resource_not_found(
                format!("there is no resource {}", stickpin_tree::quote(&request.uri)),
                Some(json!({ "uri": request.uri })),
            )),
        }
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        *lock(&self.connection.log_level) = Some(request.level);
        Ok(())
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        *lock(&self.connection.roots) = None;
    }
}

/// Returns the entries of a request's metadata that are short texts, such as the id of a harness
/// session; at most [`MAX_TEXTS`].
fn texts(meta: &RequestMetaObject) -> BTreeMap<String, String> {
    let bounded_text = |(name, value): (&String, &Value)| {
        let text = value.as_str().filter(|text| text.len() <= MAX_ID)?;
        (name.len() <= MAX_ID).then(|| (name.clone(), text.to_owned()))
    };
    meta.iter().filter_map(bounded_text).take(MAX_TEXTS).collect()
}
