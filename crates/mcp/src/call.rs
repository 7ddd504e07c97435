//! One call of a tool: from its arguments to a request, and from the response to what the client reads.

use crate::connection::{Connection, fresh_name, lock};
use crate::files::{self, Folders};
use crate::said::Said;
use crate::server::Shared;
use crate::tools::{self, Tool};
use rmcp::model::CallToolResult;
use serde_json::{Map, Value};
use std::sync::Arc;
use stickpin_kernel::device::CancellationToken;
use stickpin_kernel::registry::Entry;
use stickpin_kernel::schema::{self, Holds};
use stickpin_kernel::{
    Effect, Error, ErrorCode, Format, Render, Request, Response, Result, registry, targets,
};
use stickpin_lines::{Leaf, Never, Options, Reading, help};
use stickpin_tree::quote;
use stickpin_wire::{Client, SocketClient};

/// Room in an answer for what stands around the text of a command.
const AROUND: usize = 1_000;

/// What is to be run.
struct Work {
    entry: &'static Entry,
    input: Map<String, Value>,
    options: Options,
}

/// What a call asks for.
enum Wanted {
    Run(Box<Work>),
    /// A text of our own.
    Say(String),
}

/// Runs a tool. Failures of commands, and of arguments, are results like others.
pub(crate) async fn call(
    shared: &Shared,
    connection: Option<Arc<Connection>>,
    name: &str,
    args: Map<String, Value>,
    folders: impl Future<Output = Folders>,
    cancel: CancellationToken,
) -> (CallToolResult, Option<Error>) {
    let mut args = args;
    let connection = match connection {
        Some(connection) => Ok((connection, None)),
        None => scoped(shared, &mut args),
    };
    let wanted = connection.and_then(|connection| Ok((connection, read(name, args)?)));
    let (response, pins) = match wanted {
        Err(e) => (failed(name, e), None),
        Ok((_, Wanted::Say(text))) => {
            (Response { ok: true, command: name.to_owned(), text: Some(text), ..Response::default() }, None)
        }
        Ok(((connection, new), Wanted::Run(work))) => {
            let opens = new.filter(|_| work.entry.fields().iter().any(|field| field.opens));
            // Without a scope there is nobody to pin for, unless this call begins one.
            let connection = match &opens {
                Some(scope) => Arc::new(Connection::new((shared.setup.caller)(scope), scope, true)),
                None => connection,
            };
            let mut response = run(shared, &connection, *work, folders, &cancel).await;
            if let Some(scope) = opens.filter(|_| response.0.ok) {
                let text = response.0.text.get_or_insert_default();
                text.push_str(&format!("\nscope {scope} (send it with every later call)"));
                lock(&shared.scopes).add(scope, Arc::clone(&connection));
            }
            (response.0, response.1.map(|dir| (connection, dir)))
        }
    };
    let said = Said::new(&response, shared.setup.max_chars);
    // What the client will not get to see is no reading of its.
    if let Some((connection, state_dir)) = pins
        && !cancel.is_cancelled()
    {
        if response.session.as_deref() == Some(&connection.caller.own_session) {
            lock(&connection.own).insert(response.state_dir.clone().unwrap_or_else(|| state_dir.clone()));
        }
        if let Some(pins) = &connection.pins {
            lock(pins).merge(&state_dir, &response, &said.shown);
        }
    }
    let error = response.error.clone();
    let structured = shared.setup.structured.then(|| structured(response));
    (said.result(structured).await, error)
}

/// Whose call it is, where each call says so itself; and the name of the scope that it may begin.
fn scoped(shared: &Shared, args: &mut Map<String, Value>) -> Result<(Arc<Connection>, Option<String>)> {
    match args.remove("scope") {
        None | Some(Value::Null) => Ok((Arc::clone(&shared.nobody), Some(fresh_name()))),
        Some(Value::String(name)) => match lock(&shared.scopes).get(&name) {
            Some(connection) => Ok((connection, None)),
            None => Err(Error::new(ErrorCode::InvalidArgs, format!("there is no scope {}", quote(&name)))
                .hint("open answers with one; without it refs go unpinned")),
        },
        Some(_) => Err(Error::new(ErrorCode::InvalidArgs, "`scope` is the text that open answered with")),
    }
}

/// What the arguments of a tool ask for.
fn read(name: &str, mut args: Map<String, Value>) -> Result<Wanted> {
    let Some(tool) = Tool::find(name) else { return Err(no_tool(name)) };
    let (entry, options) = match tool {
        Tool::Slim => return line(&mut args),
        Tool::Command { entry, key } => {
            let entry = key.map_or(entry, |key| tools::chosen(entry, key, &mut args));
            let mut common = |name: &str| match entry.fields().iter().any(|f| f.name == name) {
                true => Ok(None),
                false => text(&mut args, name),
            };
            let (session, state_dir) = (common("session")?, common("stateDir")?);
            (entry, Options { session, state_dir, ..Options::default() })
        }
    };
    if let Some(field) = entry.fields().iter().find(|f| !tools::listable(f) && args.contains_key(&f.name)) {
        return Err(Error::new(ErrorCode::InvalidArgs, format!("`{}` is not taken here", field.name))
            .hint("give the steps themselves: steps"));
    }
    schema::check(entry.spec.name, entry.fields(), &args).map_err(|e| with_arguments(e, entry))?;
    Ok(Wanted::Run(Box::new(Work { entry, input: args, options })))
}

/// A command line.
fn line(args: &mut Map<String, Value>) -> Result<Wanted> {
    let line = text(args, "line")?.ok_or_else(|| {
        Error::new(ErrorCode::InvalidArgs, "`line` is missing")
            .hint("a command line, like: open example.com -i")
    })?;
    let (session, state_dir) = (text(args, "session")?, text(args, "stateDir")?);
    let mut words = stickpin_lines::split(&line)?;
    if words.first().is_some_and(|word| word == "stickpin") {
        words.remove(0);
    }
    // Not a command of the registry: it is about the registry.
    if words.first().is_none_or(|word| matches!(word.as_str(), "help" | "-h" | "--help")) {
        return about(&words.get(1..).unwrap_or_default().join(" ")).map(Wanted::Say);
    }
    let Some(picked) = stickpin_lines::pick::<Never>(&words, &[])? else {
        return about("").map(Wanted::Say);
    };
    let Leaf::Registry(entry) = picked.leaf else { return about("").map(Wanted::Say) };
    let mut read = match stickpin_lines::read(entry, picked.args)? {
        Reading::Line(line) => line,
        Reading::Help(text) => return Ok(Wanted::Say(text)),
    };
    read.check()?;
    read.options.session = read.options.session.or(session);
    read.options.state_dir = read.options.state_dir.or(state_dir);
    let held = entry.fields().iter().any(|f| !tools::listable(f) && read.input.contains_key(&f.name));
    if held {
        return Err(Error::new(ErrorCode::InvalidArgs, "files of steps are not taken here")
            .hint("give the steps themselves: batch --steps JSON"));
    }
    Ok(Wanted::Run(Box::new(Work { entry, input: read.input, options: read.options })))
}

/// A topic or a command, explained.
fn about(topic: &str) -> Result<String> {
    if let Some((_, text)) = help::TOPICS.iter().find(|(name, _)| *name == topic) {
        return Ok((*text).to_owned());
    }
    if topic.is_empty() {
        let topics: Vec<&str> = help::TOPICS.iter().map(|(name, _)| *name).collect();
        let commands: Vec<&str> = registry::COMMANDS.iter().map(|e| e.spec.name).collect();
        return Ok(format!("topics: {}\ncommands: {}", topics.join(", "), commands.join(", ")));
    }
    let entry = registry::lookup(topic)?;
    Ok(stickpin_lines::leaf(entry).render_help().to_string())
}

fn text(args: &mut Map<String, Value>, name: &str) -> Result<Option<String>> {
    match args.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Error::new(ErrorCode::InvalidArgs, format!("`{name}` is not text"))),
    }
}

fn no_tool(name: &str) -> Error {
    let names: Vec<String> = tools::names().collect();
    let hint = match schema::nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "tools/list has their names".to_owned(),
    };
    Error::new(ErrorCode::InvalidArgs, format!("there is no tool {}", quote(name))).hint(hint)
}

/// A reader of tools has no command line to ask for help.
fn with_arguments(e: Error, entry: &Entry) -> Error {
    let all = entry.fields().iter().filter(|f| tools::listable(f));
    let all = all.map(|f| if f.required { format!("{} (required)", f.name) } else { f.name.clone() });
    let hint = format!("{}; arguments: {}", e.hint, all.collect::<Vec<_>>().join(", "));
    e.hint(hint)
}

/// Sends it. The state dir comes back where the command got that far.
async fn run(
    shared: &Shared,
    connection: &Connection,
    mut work: Work,
    folders: impl Future<Output = Folders>,
    cancel: &CancellationToken,
) -> (Response, Option<std::path::PathBuf>) {
    let name = work.entry.spec.name;
    // Calls go out in the order in which they came: what has no business with files waits for nobody's roots.
    let checked = match files::named(work.entry, &mut work.input) {
        true => folders.await.check(work.entry, &mut work.input, &connection.caller),
        false => Ok(()),
    };
    let prepared = checked.and_then(|()| prepare(shared, connection, work));
    let (client, request) = match prepared {
        Ok(prepared) => prepared,
        Err(e) => return (failed(name, e), None),
    };
    let response = client.call(request, cancel.clone()).await;
    (response, Some(client.state_dir().to_owned()))
}

fn prepare(shared: &Shared, connection: &Connection, work: Work) -> Result<(Arc<SocketClient>, Request)> {
    let Work { entry, mut input, options } = work;
    let setup = &shared.setup;
    if let Some(ladder) = &setup.stale_refs
        && entry.fields().iter().any(|f| f.name == "staleRefs")
    {
        input.entry("staleRefs").or_insert_with(|| Value::from(ladder.as_str()));
    }
    if setup.read_only && entry.effect(input.clone())? != Effect::Reads {
        let message = format!("`{}` may change the app, and this server only reads", entry.spec.name);
        return Err(
            Error::new(ErrorCode::PolicyDenied, message).hint("a person can start it without --read-only")
        );
    }
    let client = shared.client(options.state_dir.as_deref())?;
    let session = options.session.clone().or_else(|| setup.session.clone());
    let scope = session.as_deref().unwrap_or(&connection.caller.own_session);
    targets::change(entry, &mut input, &mut |target| connection.pin(client.state_dir(), scope, target));
    let since = connection.pins.as_ref().and_then(|pins| lock(pins).since(client.state_dir(), scope));
    let nested = entry.fields().iter().any(|f| f.holds == Some(Holds::Steps));
    let most = setup.max_chars.saturating_sub(AROUND);
    let render = Render {
        // The envelopes of steps stand in the output.
        format: if setup.structured || nested { Format::Both } else { Format::Text },
        header: false,
        fence: Some(format!("{:04x}", rand::random::<u16>())),
        max_bytes: options.max_bytes.or((most < stickpin_tree::DEFAULT_MAX_BYTES).then_some(most)),
        ..options.render()
    };
    let request = Request {
        command: entry.spec.name.to_owned(),
        input,
        session,
        caller: connection.caller.clone(),
        render,
        timeout_ms: options.timeout_ms,
        since,
        expect: Vec::new(),
    };
    Ok((client, request))
}

fn failed(name: &str, error: Error) -> Response {
    stickpin_wire::failed(name, None, error)
}

/// The envelope and the output; the text stands in the content.
fn structured(mut response: Response) -> Value {
    response.text = None;
    // Only text and JSON of our own are in it.
    serde_json::to_value(response).unwrap_or_default()
}
