//! One tool call: from its arguments to a request, and from the response to the client's result.

use crate::arguments;
use crate::connection::{Connection, lock, random_name};
use crate::files::{self, Folders};
use crate::hints;
use crate::policy::{ClientPolicy, permit};
use crate::server::Shared;
use crate::setup::Setup;
use crate::tool_result::ToolResult;
use crate::tools::{self, Tool};
use rmcp::model::CallToolResult;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use stickpin_client::{Call, Client, ClientCommand, ClientCommands, Progress, SocketClient};
use stickpin_cmdline::{Options, ParsedArguments, help};
use stickpin_kernel::registry::{CommandDefinition, Entry};
use stickpin_kernel::schema::{self, NestedTargets};
use stickpin_kernel::{
    Caller, CancellationToken, Error, ErrorCode, Format, Render, Request, Response, Result, registry,
};
use stickpin_tree::quote;
use tokio::sync::mpsc::UnboundedSender;

/// Characters reserved in an answer for the lines around a command's text.
const RESERVED_CHARS: usize = 1_000;

/// A command to run, with its input and options.
struct Invocation {
    command: CommandRef,
    input: Map<String, Value>,
    options: Options,
}

/// The command of a call.
#[derive(Clone, Copy)]
enum CommandRef {
    /// A command of the registry.
    Entry(&'static Entry),
    /// A command that runs in this process.
    ClientCommand(&'static dyn ClientCommand),
}

impl CommandRef {
    fn definition(self) -> &'static CommandDefinition {
        match self {
            Self::Entry(entry) => entry,
            Self::ClientCommand(command) => command.definition(),
        }
    }
}

/// The content of a tool call: a command to run, or a request for a text.
enum ToolCall {
    Run(Box<Invocation>),
    /// Text from the server itself.
    Text(String),
}

/// The context of a call besides its arguments.
pub(crate) struct Incoming {
    /// Receives progress reports.
    pub(crate) progress: UnboundedSender<Progress>,
    /// Cancelled when the client no longer wants the answer.
    pub(crate) cancel: CancellationToken,
    /// Texts in the metadata of the request, which may name the harness session.
    pub(crate) metadata: BTreeMap<String, String>,
}

impl Incoming {
    /// Returns the caller of this call over a connection, confined to the given folders.
    fn caller(&self, connection: &Connection, setup: &Setup, folders: &Folders) -> Caller {
        let mut caller = folders.confine(connection.caller.clone());
        caller.evidence.metadata.clone_from(&self.metadata);
        // Clients without a scope share one connection, which cannot be linked to an agent.
        caller.evidence.connection = connection.pins.is_some().then(|| caller.client.clone()).flatten();
        caller.installed_apps_only = !setup.allow_programs;
        caller
    }
}

/// Runs a tool. Returns a result even for a failed command or invalid arguments, together with the
/// error.
pub(crate) async fn call(
    shared: &Shared,
    connection: Option<Arc<Connection>>,
    name: &str,
    args: Map<String, Value>,
    folders: impl Future<Output = Folders>,
    incoming: Incoming,
) -> (CallToolResult, Option<Error>) {
    let mut args = args;
    let connection = match connection {
        Some(connection) => Ok((connection, None)),
        None => take_scope(shared, &mut args),
    };
    let parsed = connection
        .and_then(|connection| Ok((connection, parse_call(name, args, shared.setup.client_commands)?)));
    let (mut response, pins) = match parsed {
        Err(e) => (failed_response(name, e), None),
        Ok((_, ToolCall::Text(text))) => {
            (Response { ok: true, command: name.to_owned(), text: Some(text), ..Response::default() }, None)
        }
        Ok(((connection, new), ToolCall::Run(work))) => {
            let unscoped = new.is_some();
            let mut evicted = None;
            let opens = new.filter(|_| work.command.definition().begins_session());
            // Without a scope, there is no client for which to pin refs, unless this call begins a
            // scope.
            let connection = match &opens {
                Some(scope) => Arc::new(Connection::new((shared.setup.caller)(scope), scope, true)),
                None => connection,
            };
            let command = work.command.definition().spec.name;
            let ran = run_invocation(shared, &connection, *work, folders, &incoming).await;
            let (mut response, state_dir) = match ran {
                Ok((response, state_dir)) => (response, Some(state_dir)),
                Err(e) => (failed_response(command, e), None),
            };
            if let Some(scope) = opens.filter(|_| response.ok) {
                let text = response.text.get_or_insert_default();
                text.push_str(&format!("\nscope {scope} (send it with every later call)"));
                evicted = lock(&shared.scopes).add(scope, Arc::clone(&connection));
            } else if unscoped {
                hint_at_scope(&mut response);
            }
            if let Some(evicted) = evicted {
                shared.leave(&evicted).await;
            }
            (response, state_dir.map(|dir| (connection, dir)))
        }
    };
    hints::rewrite_hints(&mut response, shared.setup.profile, shared.setup.client_commands);
    let result = ToolResult::new(&response, shared.setup.max_chars);
    // A cancelled response does not reach the client, so it adds no pins.
    if let Some((connection, state_dir)) = pins
        && !incoming.cancel.is_cancelled()
    {
        if response.session.as_deref() == Some(&connection.caller.own_session) {
            lock(&connection.own_session_dirs)
                .insert(response.state_dir.clone().unwrap_or_else(|| state_dir.clone()));
        }
        if let Some(pins) = &connection.pins {
            lock(pins).merge(&state_dir, &response, &result.shown);
        }
    }
    let error = response.error.clone();
    let structured = shared.setup.structured.then(|| structured_content(response));
    (result.result(structured).await, error)
}

/// Returns the connection that the `scope` argument names. Without that argument, returns the
/// anonymous connection, and a name for the scope that this call may begin.
fn take_scope(shared: &Shared, args: &mut Map<String, Value>) -> Result<(Arc<Connection>, Option<String>)> {
    match args.remove("scope") {
        None | Some(Value::Null) => Ok((Arc::clone(&shared.anonymous), Some(random_name()))),
        Some(Value::String(name)) => match lock(&shared.scopes).get(&name) {
            Some(connection) => Ok((connection, None)),
            None => Err(Error::invalid_args(format!("there is no scope {}", quote(&name)))
                .hint("send the scope that `open` returned; without it, refs are not pinned")),
        },
        Some(_) => Err(Error::invalid_args("`scope` must be the text that `open` returned")),
    }
}

/// Adds a hint for a client that sent no scope: without a scope, its session cannot be found and
/// its refs are not pinned.
fn hint_at_scope(response: &mut Response) {
    const SEND: &str = "send the `scope` that `open` returned";
    match &mut response.error {
        Some(e) if e.code == ErrorCode::SessionNotFound => {
            e.hint = format!("{SEND}: it identifies your session; {}", e.hint);
            // The rendered text has the old hint.
            response.text = None;
        }
        None if response.refs.is_some() => {
            let text = response.text.get_or_insert_default();
            text.push_str(&format!("\nnote: refs are not pinned to what you read; {SEND}"));
        }
        _ => {}
    }
}

/// Reads a tool's arguments.
fn parse_call(name: &str, mut args: Map<String, Value>, client_commands: ClientCommands) -> Result<ToolCall> {
    let Some(tool) = Tool::find(name, client_commands) else {
        return Err(unknown_tool(name, client_commands));
    };
    let command = match tool {
        Tool::Slim => return parse_line(&mut args, client_commands),
        Tool::Command { entry, key } => {
            CommandRef::Entry(key.map_or(Ok(entry), |key| arguments::choose_command(entry, key, &mut args))?)
        }
        Tool::ClientCommand(command) => CommandRef::ClientCommand(command),
    };
    let entry = command.definition();
    let mut common = |name: &str| match entry.fields().iter().any(|f| f.name == name) {
        true => Ok(None),
        false => text_argument(&mut args, name),
    };
    let (session, state_dir) = (common("session")?, common("stateDir")?);
    let options = Options { session, state_dir, ..Options::default() };
    arguments::normalize_arguments(entry, &mut args)?;
    if let Some(field) = tools::find_unlistable(entry, &args) {
        return Err(Error::invalid_args(format!("`{}` is not accepted over MCP", field.name))
            .hint("pass the steps directly as `steps`"));
    }
    Ok(ToolCall::Run(Box::new(Invocation { command, input: args, options })))
}

/// Reads the command line of the slim tool.
fn parse_line(args: &mut Map<String, Value>, client_commands: ClientCommands) -> Result<ToolCall> {
    let line = text_argument(args, "line")?.ok_or_else(|| {
        Error::invalid_args("`line` is missing").hint("pass a command line such as `open example.com -i`")
    })?;
    let (session, state_dir) = (text_argument(args, "session")?, text_argument(args, "stateDir")?);
    let mut words = stickpin_cmdline::split(&line)?;
    if words.first().is_some_and(|word| word == "stickpin") {
        words.remove(0);
    }
    // Help describes the registry and is not a command in it.
    if words.first().is_none_or(|word| matches!(word.as_str(), "help" | "-h" | "--help")) {
        return help_text(&words.get(1..).unwrap_or_default().join(" "), client_commands).map(ToolCall::Text);
    }
    let definitions: Vec<&'static CommandDefinition> =
        client_commands.iter().map(|command| command.definition()).collect();
    let Some(picked) = stickpin_cmdline::resolve_command(&words, &definitions)? else {
        return help_text("", client_commands).map(ToolCall::Text);
    };
    let command = match client_commands.iter().find(|command| command.definition().spec.name == picked.name) {
        Some(command) => CommandRef::ClientCommand(*command),
        None => CommandRef::Entry(registry::lookup(picked.name)?),
    };
    let (input, mut options) = match stickpin_cmdline::read(command.definition(), picked.args)? {
        ParsedArguments::Input(input, options) => (input, options),
        ParsedArguments::Help(text) => return Ok(ToolCall::Text(text)),
    };
    stickpin_cmdline::refuse_following(&options)?;
    if matches!(command, CommandRef::ClientCommand(_)) {
        stickpin_cmdline::options::refuse_turn(&options)?;
    }
    options.session = options.session.or(session);
    options.state_dir = options.state_dir.or(state_dir);
    if tools::find_unlistable(command.definition(), &input).is_some() {
        return Err(Error::invalid_args("step files are not accepted over MCP")
            .hint("pass the steps directly, with `--steps JSON`"));
    }
    Ok(ToolCall::Run(Box::new(Invocation { command, input, options })))
}

/// Returns the text of a help topic, or the help for a command; without a topic, the names of all
/// topics and commands.
fn help_text(topic: &str, client_commands: ClientCommands) -> Result<String> {
    if let Some(text) = help::topic(topic) {
        return Ok(text.to_owned());
    }
    if topic.is_empty() {
        let names = client_commands.iter().map(|command| command.definition().spec.name);
        let commands: Vec<&str> = registry::COMMANDS.iter().map(|e| e.spec.name).chain(names).collect();
        return Ok(format!("topics: {}\ncommands: {}", help::names(), commands.join(", ")));
    }
    let client_command = client_commands
        .iter()
        .map(|command| command.definition())
        .find(|definition| definition.spec.name == topic);
    let definition = client_command.map_or_else(|| registry::lookup(topic).map(|entry| &**entry), Ok)?;
    Ok(stickpin_cmdline::command_grammar(definition).render_help().to_string())
}

fn text_argument(args: &mut Map<String, Value>, name: &str) -> Result<Option<String>> {
    match args.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Error::invalid_args(format!("`{name}` must be text"))),
    }
}

fn unknown_tool(name: &str, client_commands: ClientCommands) -> Error {
    let names: Vec<String> = tools::names(client_commands).collect();
    let hint = match schema::nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "list the tools with `tools/list`".to_owned(),
    };
    Error::invalid_args(format!("there is no tool {}", quote(name))).hint(hint)
}

/// Runs a command on the daemon or in this process. Returns the response and the state directory.
///
/// # Errors
/// Returns the error of a command that was not run.
async fn run_invocation(
    shared: &Shared,
    connection: &Connection,
    mut invocation: Invocation,
    folders: impl Future<Output = Folders>,
    incoming: &Incoming,
) -> Result<(Response, std::path::PathBuf)> {
    let definition = invocation.command.definition();
    // Calls are sent in the order of arrival. A call that names no file does not wait for the
    // client's roots.
    let mut known = None;
    if files::names_files(definition, &mut invocation.input) {
        known.insert(folders.await).check(definition, &mut invocation.input, &connection.caller)?;
    }
    // Such a call is confined to the roots known so far or, if there are none, to the folders of a
    // client without roots.
    let folders = known.unwrap_or_else(|| {
        let (named, setup) = (lock(&connection.roots).clone().unwrap_or_default(), &shared.setup);
        Folders::new(&named, &connection.caller, &setup.allow, setup.project_dir.as_ref())
    });
    let caller = incoming.caller(connection, &shared.setup, &folders);
    let entry = match invocation.command {
        CommandRef::Entry(entry) => entry,
        CommandRef::ClientCommand(command) => {
            let (client, input, call) =
                prepare_client_command(shared, invocation, folders, caller, incoming)?;
            if call.session.is_none() {
                client.bind(&connection.caller.own_session).await;
            }
            return Ok((command.run(input, call).await, client.state_dir().to_owned()));
        }
    };
    let (client, request) = prepare_command(shared, connection, entry, invocation, caller)?;
    if request.session.is_none() {
        // The session ends with this process, even if the process is killed.
        client.bind(&connection.caller.own_session).await;
    }
    let session = request.session.clone().unwrap_or_else(|| connection.caller.own_session.clone());
    let response = client.call(request, incoming.cancel.clone()).await;
    connection.remember_turns(client.state_dir(), &session, &response);
    Ok((response, client.state_dir().to_owned()))
}

/// Prepares a command that runs in this process.
fn prepare_client_command(
    shared: &Shared,
    invocation: Invocation,
    folders: Folders,
    caller: Caller,
    incoming: &Incoming,
) -> Result<(Arc<SocketClient>, Map<String, Value>, Call)> {
    let setup = &shared.setup;
    let definition = invocation.command.definition();
    permit(setup, definition, definition.spec.effect, &invocation.input)?;
    let client = shared.named_client(invocation.options.state_dir.as_deref())?;
    let call = Call {
        client: Arc::clone(&client) as Arc<dyn Client>,
        caller: caller.clone(),
        session: invocation.options.session.clone().or_else(|| setup.session.clone()),
        render: render(shared, &invocation.options, false),
        variables: setup.variables.clone(),
        progress: incoming.progress.clone(),
        policy: Arc::new(ClientPolicy { folders, caller, setup: setup.clone() }),
        // Commands that set up the machine are not served.
        installation: Arc::default(),
        cancel: incoming.cancel.clone(),
    };
    Ok((client, invocation.input, call))
}

/// Returns how to render answers for this client.
fn render(shared: &Shared, options: &Options, nested: bool) -> Render {
    let setup = &shared.setup;
    let max_chars = setup.max_chars.saturating_sub(RESERVED_CHARS);
    Render {
        // The output contains the envelopes of the steps.
        format: if setup.structured || nested { Format::Both } else { Format::Text },
        header: false,
        cursor: true,
        fence: Some(format!("{:016x}", rand::random::<u64>())),
        max_bytes: options.max_bytes.or((max_chars < stickpin_tree::DEFAULT_MAX_BYTES).then_some(max_chars)),
        ..options.render()
    }
}

fn prepare_command(
    shared: &Shared,
    connection: &Connection,
    entry: &'static Entry,
    work: Invocation,
    caller: Caller,
) -> Result<(Arc<SocketClient>, Request)> {
    let Invocation { mut input, options, .. } = work;
    let setup = &shared.setup;
    if let Some(ladder) = &setup.stale_refs
        && entry.fields().iter().any(|f| f.name == "staleRefs")
    {
        input.entry("staleRefs").or_insert_with(|| Value::from(ladder.as_str()));
    }
    permit(setup, entry, entry.effect(&input, registry::commands()), &input)?;
    let client = shared.named_client(options.state_dir.as_deref())?;
    let session = options.session.clone().or_else(|| setup.session.clone());
    let scope = session.as_deref().unwrap_or(&connection.caller.own_session);
    entry.rewrite_targets(&mut input, &mut |target| connection.pin(client.state_dir(), scope, target));
    let since = connection.pins.as_ref().and_then(|pins| lock(pins).since(client.state_dir(), scope));
    let nested = entry.fields().iter().any(|f| f.nested_targets == Some(NestedTargets::Steps));
    let turn = options.turn.or_else(|| connection.expected_turn(client.state_dir(), scope));
    let render = render(shared, &options, nested);
    let request = Request {
        command: entry.spec.name.to_owned(),
        input,
        session,
        caller,
        render,
        timeout_ms: options.timeout_ms,
        since,
        turn,
        ..Request::default()
    };
    Ok((client, request))
}

fn failed_response(name: &str, error: Error) -> Response {
    stickpin_client::failed_response(name, None, error)
}

/// Returns the envelope and the output as JSON. The text is part of the content instead.
fn structured_content(mut response: Response) -> Value {
    response.text = None;
    // Cannot fail: a response contains only text and JSON.
    serde_json::to_value(response).unwrap_or_default()
}
